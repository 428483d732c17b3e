"""What of a capture the model looks at: one topic, a few partitions that stand for the others, and their brokers.

Words: partitions are in the same *situation* when their replicas fare alike, whoever they are: leader or follower, in
the ISR or not, with which id on disk. One partition of a situation *stands for* the others.
"""
from __future__ import annotations

from collections.abc import Iterable, Iterator

from attrs import frozen

from model.kafka.snapshots.capture import Capture, Topic, topic_label
from model.kafka.snapshots.symptoms import Symptoms, condition_of, symptoms
from model.kafka.snapshots.words import brokers, each, partitions

MOST_PARTITIONS = 2
"""More can hardly be explored: four partitions have several hundred times the states of two."""
MOST_BROKERS = 3


@frozen
class Focus:
    """The part of a capture that becomes a state of the model.

    `partitions` and `brokers` are the real numbers, in the order in which the model counts them from 0.
    """

    topic: Topic
    symptoms: Symptoms
    partitions: tuple[int, ...]
    brokers: tuple[int, ...]
    facts: tuple[str, ...] = ()

    def index(self, broker: int | None) -> int | None:
        """The model's number of a broker; None for none and for one that is left out."""
        return self.brokers.index(broker) if broker in self.brokers else None


def focus_on(capture: Capture) -> Focus | None:
    """The part that matters most; None if the capture has no topic with partitions."""
    topic = worst_topic(capture)
    if topic is None:
        return None
    found = symptoms(capture, topic)
    groups = situations(capture, topic, found)
    first = groups[0][0]
    alike = [group for group in groups if (set(topic.partitions[group[0]]) == set(topic.partitions[first]))]
    chosen = sorted((group[0] for group in alike[:MOST_PARTITIONS]), key=lambda p: (p not in topic.states, p))
    members = _brokers(topic, first)
    facts = (*_topics(capture, topic), *_partitions(topic, groups, chosen), *_left_out(capture, topic, first, members))
    return Focus(topic, found, tuple(chosen), tuple(sorted(members)), facts)


def worst_topic(capture: Capture) -> Topic | None:
    """The topic that fares worst; among equals users' topics before Kafka's own, then by name."""
    topics = [topic for topic in capture.topics.values() if topic.partitions]
    return min(
        topics,
        key=lambda t: (-condition_of(t, symptoms(capture, t)).rank, t.name.startswith("__"), t.name),
        default=None,
    )


def situations(capture: Capture, topic: Topic, found: Symptoms) -> list[list[int]]:
    """The partitions grouped by situation, the worst situation first."""
    groups: dict[tuple[object, ...], list[int]] = {}
    for partition in topic.partitions:
        groups.setdefault(_situation(capture, topic, found, partition), []).append(partition)
    return sorted(groups.values(), key=lambda group: (-_harm(found, group[0]), group[0]))


def _situation(capture: Capture, topic: Topic, found: Symptoms, partition: int) -> tuple[object, ...]:
    roles = sorted(_role(capture, topic, partition, broker) for broker in topic.partitions[partition])
    return (found.led.get(partition), *roles)


def _role(capture: Capture, topic: Topic, partition: int, broker: int) -> tuple[bool, bool, bool, str, bool]:
    state, directory = topic.states.get(partition), capture.directory(broker, topic.name, partition)
    return (
        capture.brokers[broker].alive,
        state is not None and state.leader == broker,
        state is not None and broker in state.isr,
        directory.topic_id or "" if directory else "",
        directory is not None,
    )


def _harm(found: Symptoms, partition: int) -> int:
    return 2 * (partition in found.broken) + (partition in found.foreign)


def _brokers(topic: Topic, partition: int) -> tuple[int, ...]:
    """The partition's replicas: all of them, or the leader and ISR first where there are too many."""
    replicas, state = topic.partitions[partition], topic.states.get(partition)
    if state is None:
        return replicas[:MOST_BROKERS]
    return tuple(sorted(replicas, key=lambda b: (b != state.leader, b not in state.isr)))[:MOST_BROKERS]


# Facts.


def _topics(capture: Capture, topic: Topic) -> Iterator[str]:
    others = len(capture.topics) - 1
    if others:
        yield (
            f"Looked at: topic {topic_label(topic.name)}, as it fares worst or is the first; "
            f"{others} other {each(range(others), 'topic is', 'topics are')} left out."
        )


def _partitions(topic: Topic, groups: list[list[int]], chosen: Iterable[int]) -> Iterator[str]:
    name, chosen = topic_label(topic.name), tuple(chosen)
    for group in groups:
        if group[0] in chosen and len(group) > 1:
            fare = each(group[1:], "fares", "fare")
            yield f"{name}-{group[0]} stands for {partitions(name, group[1:])}, which {fare} alike."
    rest = [p for group in groups if group[0] not in chosen for p in group]
    if rest:
        yield f"Left out, to keep the search small: {partitions(name, rest)}."


def _left_out(capture: Capture, topic: Topic, partition: int, members: tuple[int, ...]) -> Iterator[str]:
    name = f"{topic_label(topic.name)}-{partition}"
    rest = [b for b in topic.partitions[partition] if b not in members]
    if rest:
        yield f"Left out, to keep the search small: the replicas of {name} on {brokers(rest)}."
    strangers = [b for b in capture.brokers if b not in topic.partitions[partition]]
    if strangers:
        yield f"Left out: {brokers(strangers)}, without a replica of {name}."
