"""Signs of damage that a series of captures shows: what Kafka does not write by itself.

A single capture need not show them: an epoch that is too high, or a leader that is lost without an election, is seen
beside another capture, or beside what the logs have.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from attrs import frozen

from kwalk.model.kafka.snapshots.capture import Capture, Topic, topic_label
from kwalk.model.kafka.snapshots.migrating_series import image_states
from kwalk.model.kafka.snapshots.scope import logs_of
from kwalk.model.kafka.snapshots.untrusted_json import printable


@frozen
class Noticed:
    """A sign of damage: the place of its capture in the series, and a sentence."""

    place: int
    text: str


def noticed(names: Sequence[str], captures: Sequence[Capture], lives: Sequence[int], topic: str) -> tuple[Noticed, ...]:
    """Return the signs of damage that captures show of a topic, each where it is seen first.

    Args:
        names: The display names of the captures.
        captures: The captures, in their order.
        lives: The number of the topic's life in each.
        topic: Its name.
    """
    found: dict[tuple[str, int], Noticed] = {}
    was_led = False
    for place, capture in enumerate(captures):
        signs = _epochs_in_kraft(capture, topic) if capture.is_kraft else _epochs(capture, topic, was_led=was_led)
        was_led = was_led or bool(capture.is_kraft)
        for kind, partition, text in signs:
            found.setdefault((kind, partition), Noticed(place, f"{printable(names[place], 200)} {text}"))
    for place, ((before, life), (after, same)) in enumerate(pairwise(zip(captures, lives, strict=True)), start=1):
        was, now = before.topics.get(topic), after.topics.get(topic)
        shown, earlier = (printable(names[number], 200) for number in (place, place - 1))
        if not (before.is_kraft or after.is_kraft) and after.controller_epoch < before.controller_epoch:
            text = (
                f"{shown} has the controller epoch {after.controller_epoch}, and {earlier} before it "
                f"{before.controller_epoch}: the snapshots are not in the order in which they were taken, or ZooKeeper "
                "has lost writes."
            )
            found.setdefault(("order", 0), Noticed(place, text))
        if None not in (before.cluster_id, after.cluster_id) and before.cluster_id != after.cluster_id:
            text = (
                f"{shown} has the cluster id {printable(after.cluster_id, 60)}, and {earlier} before it "
                f"{printable(before.cluster_id, 60)}: two clusters, or ZooKeeper's data was lost or replaced."
            )
            found.setdefault(("cluster", 0), Noticed(place, text))
        if was and now and life == same:
            if was.topic_id and not now.topic_id and was.partitions.keys() == now.partitions.keys():
                text = f"{shown} has no id of {topic_label(topic)}, and no partition more than {earlier}: {BY_HAND}"
                found.setdefault(("id", 0), Noticed(place, text))
            for partition, text in _lost_leaders(was, now):
                sign = Noticed(place, f"{shown} {text} as in {earlier}: Kafka raises it.")
                found.setdefault(("leader", partition), sign)
            for partition, version, text in _unwritten(was, now):
                sign = Noticed(
                    place, f"{shown} has {text} than {earlier}, at version {version} of its znode: {REPLACED}"
                )
                found.setdefault(("version", partition), sign)
    return tuple(sorted(found.values(), key=lambda one: one.place))


BY_HAND = (
    "a client older than 2.8 that adds partitions drops the id; here a controller older than 2.8 wrote the znode, or a "
    "hand."
)
REPLACED = (
    "each write raises it, so that somebody deleted and created the znode, ZooKeeper lost writes, or a snapshot is of "
    "another cluster."
)
QUORUM_WROTE = (
    "a KRaft controller wrote it, with the epoch of its quorum, and ZooKeeper's controller elects no other leader "
    "before its epoch is as high."
)


def _epochs_in_kraft(capture: Capture, name: str) -> Iterator[tuple[str, int, str]]:
    """Yield the leader epochs that are above those of the image; ZooKeeper's may be behind."""
    states, label = image_states(capture, name), topic_label(name)
    for broker, partition, log in logs_of(capture, name):
        last = log.leader_epochs[-1][0] if log.leader_epochs else 0
        if partition in states and last > states[partition].leader_epoch:
            yield (
                "leader epoch",
                partition,
                f"has leader epoch {last} in the leader-epoch checkpoint of {label}-{partition} on broker {broker}; "
                f"KRaft's image is at {states[partition].leader_epoch}: the log is of an earlier topic.",
            )


def _epochs(capture: Capture, name: str, *, was_led: bool) -> Iterator[tuple[str, int, str]]:
    """Yield the epochs that are above what ZooKeeper has: what shows them, the partition, and a sentence about it.

    `was_led` is whether KRaft's controller led in an earlier capture.
    """
    topic, label = capture.topics.get(name), topic_label(name)
    if topic is None:
        return
    for partition, state in topic.states.items():
        if state.controller_epoch > capture.controller_epoch:
            yield (
                "controller epoch",
                partition,
                f"has the controller epoch {state.controller_epoch} in the state of {label}-{partition}, and "
                f"/controller_epoch is {capture.controller_epoch}: "
                + (QUORUM_WROTE if was_led else "ZooKeeper has lost writes, or somebody wrote one."),
            )
    for broker, partition, log in logs_of(capture, name):
        present = topic.states.get(partition)
        last = log.leader_epochs[-1][0] if log.leader_epochs else 0
        is_of_another = None not in (log.topic_id, topic.topic_id) and log.topic_id != topic.topic_id
        if present is not None and last > present.leader_epoch and not is_of_another:
            yield (
                "leader epoch",
                partition,
                f"has leader epoch {last} in the leader-epoch checkpoint of {label}-{partition} on broker {broker}; "
                f"ZooKeeper is at {present.leader_epoch}: the log is of an earlier topic, or ZooKeeper lost writes.",
            )


def _lost_leaders(was: Topic, now: Topic) -> Iterator[tuple[int, str]]:
    """Yield the partitions that have lost their leader under the same leader epoch."""
    for partition, state in now.states.items():
        before = was.states.get(partition)
        was_led = before is not None and before.leader is not None and before.leader_epoch == state.leader_epoch
        if was_led and state.leader is None:
            name = f"{topic_label(now.name)}-{partition}"
            yield partition, f"has no leader of {name} at leader epoch {state.leader_epoch},"


def _unwritten(was: Topic, now: Topic) -> Iterator[tuple[int, int, str]]:
    """Yield the znodes that differ without a later version: the partition, -1 for the topic's, the version, and what.

    A topic that was created again has other states.
    """
    label = topic_label(now.name)
    if None not in (was.created, now.created) and was.created != now.created:
        return
    is_other = (was.partitions, was.topic_id, was.moving) != (now.partitions, now.topic_id, now.moving)
    if now.version < was.version + is_other:
        yield -1, now.version, f"another znode of topic {label}"
    for partition, state in now.states.items():
        before = was.states.get(partition, state)
        earlier, later = before.version, state.version
        if earlier is not None and later is not None and later < earlier + (state != before):
            yield partition, later, f"another state of {label}-{partition}"
