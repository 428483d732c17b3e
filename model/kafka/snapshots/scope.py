"""How much of the model a series of captures needs: what it shows beside failovers, restarts and one expansion.

Words: a topic has a new *life* each time that it is created under its name. What a series does not show is switched
off, so that it costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from attrs import frozen

from kwalk.model.kafka.assignment import code_of
from kwalk.model.kafka.snapshots.capture import Capture, Topic, topic_label
from kwalk.model.kafka.snapshots.diagnosis import brokers as brokers_in_words
from kwalk.model.language import UsageError


@frozen
class Scope:
    """What a series about one topic needs. `lives` has the number of the topic's life for each capture, from 0 on."""

    topic: str
    brokers: tuple[int, ...]
    lives: tuple[int, ...]
    deletion: bool
    reassignment: bool
    moves: bool
    """Whether replicas are reassigned, as far as captures show."""
    lists: bool
    """Whether clients choose lists of replicas: up to two, or the first of those that there are."""
    sessions: bool
    stepwise: bool
    """Whether clients do not always create, or add, all partitions that are ever there."""
    orders: tuple[tuple[int, ...], ...]
    """For each partition all brokers, its own replicas first."""
    factor: int
    """How many replicas a new partition has."""
    removals: bool = False
    """Whether operators may have removed partition.metadata though no capture shows it gone."""

    @property
    def flags(self) -> dict[str, Any]:
        """The flags of the model."""
        return {
            "deletion": self.deletion,
            "stop_replica": self.deletion or self.reassignment,
            "reassignment": self.reassignment,
            "replica_lists": self.lists,
            "sessions": self.sessions,
            "two_step_admin": self.stepwise,
        }

    @property
    def bounds(self) -> dict[str, int]:
        """The bounds of the model."""
        orders = [[self.brokers.index(broker) for broker in order] for order in self.orders]
        return {
            "brokers": len(self.brokers),
            "partitions": len(self.orders),
            "replica_orders": code_of(orders),
            "replication_factor": self.factor if self.reassignment else 0,
            "reassignments": 15 * self.reassignment,
            "cancellations": 3 * self.reassignment,
            "incarnations": max(self.lives) if self.deletion else 0,
            "deletions": 3 * self.deletion,
            "hand_removals": 7 * self.deletion,
            "expirations": 7 * self.sessions,
            "admins": 1 + self.stepwise,
            "old_admins": int(self.stepwise),
            "events": 6,
            "requests": 4,
        }


def scope_of(captures: Sequence[Capture], names: Sequence[str], topic: str) -> Scope:
    """Return what the captures show of the topic; UsageError, with the file's name, for what is not modelled."""
    lives = _lives(captures, topic)
    shown = [(name, c.topics[topic]) for name, c in zip(names, captures, strict=True) if topic in c.topics]
    for name, one in shown:
        _count_from_zero(name, one)
    numbers = _numbers(shown)
    brokers = _brokers(captures, [one for _, one in shown])
    full = all(set(replicas) == set(brokers) for _, one in shown for replicas in one.partitions.values())
    moving, rewritten = any(one.moving for _, one in shown), _rewritten(captures, lives, topic)
    changes = _changes(shown) or rewritten
    counts = {len(one.partitions) for _, one in shown}
    backwards = zip(reversed(lives), reversed(captures), strict=True)
    created = {life: len(capture.topics[topic].partitions) for life, capture in backwards if topic in capture.topics}
    gone = any(topic in one.topics and topic not in other.topics for one, other in pairwise(captures))
    return Scope(
        topic=topic,
        brokers=brokers,
        lives=lives,
        deletion=gone or max(lives) > 0 or any(topic in capture.deleting for capture in captures),
        reassignment=not full or moving or changes,
        moves=moving or changes,
        lists=(moving or changes) and (max(numbers) <= MOST_LISTED or _reorders(shown) or rewritten),
        sessions=any(set(capture.live) - set(capture.registered) for capture in captures),
        stepwise=len(counts) > 2 or len(set(created.values())) > 1,
        orders=_orders([one for _, one in shown], brokers),
        factor=min(len(replicas) for _, one in shown[:1] for replicas in one.partitions.values()),
    )


def _lives(captures: Sequence[Capture], name: str) -> tuple[int, ...]:
    """Return the topic's life in each capture, or the one before it if the capture does not show the topic."""
    life, found, before = -1, [], None
    for capture in captures:
        topic = capture.topics.get(name)
        if topic is not None and (before is None or is_another(before, topic)):
            life += 1
        found.append(max(0, life))
        before = topic
    return tuple(found)


def is_another(before: Topic, topic: Topic) -> bool:
    """Whether a topic cannot be the same as the one of its name in the capture before."""
    if None not in (before.created, topic.created):
        return before.created != topic.created
    return len(topic.partitions) < len(before.partitions) or topic.version < before.version


def _brokers(captures: Sequence[Capture], topics: Sequence[Topic]) -> tuple[int, ...]:
    """Return the brokers that ever have a replica of the topic, or are controller."""
    replicas = {broker for topic in topics for replicas in topic.partitions.values() for broker in replicas}
    return tuple(sorted(replicas | {c.controller for c in captures if c.controller is not None}))


def _orders(topics: Sequence[Topic], brokers: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    first: dict[int, tuple[int, ...]] = {}
    for topic in topics:
        for partition, replicas in topic.partitions.items():
            first.setdefault(partition, replicas)
    return tuple((*first[p], *(b for b in brokers if b not in first[p])) for p in sorted(first))


# What is not modelled.


def _count_from_zero(name: str, topic: Topic) -> None:
    if not topic.partitions:
        raise UsageError(f"{name} has {topic_label(topic.name)} without partitions; a topic has at least partition 0.")
    if sorted(topic.partitions) != list(range(len(topic.partitions))):
        raise UsageError(f"{name} has {topic_label(topic.name)} without some partition; they must count from 0.")


MOST_LISTED = 2
"""How many replicas a list may have that a client chooses."""


def _numbers(topics: Sequence[tuple[str, Topic]]) -> set[int]:
    """Return how many replicas clients give partitions; UsageError if that differs and a list would be too long."""
    given = list(_given(topics))
    numbers = {len(replicas) for _, _, replicas in given} or {1}
    if len(numbers) > 1 and max(numbers) > MOST_LISTED:
        first = len(topics[0][1].partitions[0])
        name, partition, replicas = next(each for each in given if len(each[2]) != first)
        raise UsageError(
            f"{name} has partition {partition} of {topic_label(topics[0][1].name)} on {brokers_in_words(replicas)}, "
            f"and other partitions on {first} broker{'s' * (first != 1)}. Allowed: the same number of replicas for "
            "all partitions, all the time, or up to two; to change a larger number is not modelled."
        )
    return numbers


def _given(topics: Sequence[tuple[str, Topic]]) -> Iterator[tuple[str, int, tuple[int, ...]]]:
    """Yield the lists of partitions in rest that clients have given them.

    An old client drops a reassignment from the znode, so that all its replicas stay; what it adds has as many.
    """
    moving, dropped = dict[int, tuple[int, ...]](), dict[int, tuple[int, ...]]()
    for name, topic in topics:
        for partition, replicas in sorted(topic.partitions.items()):
            known = moving.pop(partition, dropped.get(partition))
            if partition in topic.moving:
                moving[partition] = replicas
            elif known == replicas or (known is None and partition > 0 and len(dropped.get(0, ())) == len(replicas)):
                dropped[partition] = replicas
            else:
                yield name, partition, replicas


def _lists(topics: Sequence[tuple[str, Topic]]) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Return for each partition in rest its list in the first capture that has it, and the present one."""
    first: dict[int, tuple[int, ...]] = {}
    return [(first.setdefault(partition, replicas), replicas) for _, partition, replicas in _resting(topics)]


def _changes(topics: Sequence[tuple[str, Topic]]) -> bool:
    return any(first != now for first, now in _lists(topics))


def _rewritten(captures: Sequence[Capture], lives: Sequence[int], name: str) -> bool:
    """Whether the topic's znode was written without a change that shows, as by a reassignment to the same replicas."""
    return any(
        one.version < other.version and one.partitions == other.partitions and one.topic_id == other.topic_id
        for (before, life), (after, same) in pairwise(zip(captures, lives, strict=True))
        if life == same and (one := before.topics.get(name)) and (other := after.topics.get(name))
    )


def _reorders(topics: Sequence[tuple[str, Topic]]) -> bool:
    return any(set(first) == set(now) and first[0] != now[0] for first, now in _lists(topics))


def _resting(topics: Sequence[tuple[str, Topic]]) -> Iterator[tuple[str, int, tuple[int, ...]]]:
    for name, topic in topics:
        for partition, replicas in topic.partitions.items():
            if partition not in topic.moving:
                yield name, partition, replicas
