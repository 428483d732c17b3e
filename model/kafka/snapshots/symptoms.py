"""What a capture shows: which replicas refuse the controller, which partitions nobody leads; and how bad that is.

Words: an id is *foreign* to a replica when its partition.metadata names another topic id than ZooKeeper does; such a
replica refuses every LeaderAndIsr (INCONSISTENT_TOPIC_ID), and the controller takes no notice. A partition is *led* if
its leader took up the leader epoch that ZooKeeper has: then the leader's own leader-epoch checkpoint lists it.
*Latent* damage shows only when a controller fails over or a leader epoch rises, as when a broker restarts.
"""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum

from attrs import field, frozen

from model.kafka.snapshots.capture import Capture, Topic


class Condition(Enum):
    """How a topic, or a whole cluster, fares; ordered from good to bad."""

    CONSISTENT = "consistent"
    LATENT = "latent"
    BROKEN = "broken"

    @property
    def rank(self) -> int:
        """0 for the best."""
        return list(Condition).index(self)


Replicas = Mapping[int, frozenset[int]]
"""Brokers by partition."""


@frozen
class Symptoms:
    """What is conspicuous about a topic in a capture."""

    foreign: Replicas = field(factory=dict)
    """Replicas whose partition.metadata differs from ZooKeeper's id."""
    outside: Replicas = field(factory=dict)
    """Live replicas that are not in the ISR."""
    led: Mapping[int, bool | None] = field(factory=dict)
    """Whether the leader took up the present leader epoch; None if the capture cannot tell."""
    lost: frozenset[int] = frozenset()
    """Partitions that have a state in ZooKeeper but are no longer in the topic's znode."""
    without_file: Replicas = field(factory=dict)
    """Replicas that have a directory without partition.metadata."""
    remembered: tuple[str, ...] = ()
    """The topic ids on disks and in brokers' metadata caches; the latter show what the controller sends."""
    sent: str | None = None
    """The id that the controller sends, as its own broker's metadata cache shows it."""

    @property
    def broken(self) -> tuple[int, ...]:
        """Partitions that nobody leads, or that keep a live replica out for good.

        A live replica outside of the ISR may just be catching up. It is a symptom if its id is foreign, or if nothing
        shows that the leader leads.
        """
        return tuple(p for p, led in self.led.items() if led is False or self._keeps_out(p))

    def _keeps_out(self, partition: int) -> bool:
        outside = self.outside.get(partition, frozenset())
        stuck = outside if self.led[partition] is None else outside & self.foreign.get(partition, frozenset())
        return bool(stuck)


def symptoms(capture: Capture, topic: Topic) -> Symptoms:
    """Compare what ZooKeeper says of a topic with disks and checkpoints."""
    files = {p: files_of(capture, topic, p) for p in topic.partitions}
    return Symptoms(
        foreign=_some({p: _differing(by, topic.topic_id) for p, by in files.items()}),
        outside=_some({p: _outside(capture, topic, p) for p in topic.partitions}),
        led={p: _led(capture, topic, p) for p in topic.states if p in topic.partitions},
        lost=frozenset(p for p in topic.states if p not in topic.partitions),
        without_file=_some({p: {b for b, identity in by.items() if identity is None} for p, by in files.items()}),
        remembered=remembered_ids(capture, topic),
        sent=_sent(capture, topic),
    )


def files_of(capture: Capture, topic: Topic, partition: int) -> dict[int, str | None]:
    """The topic id on disk by replica, for those that have a directory; None where there is no partition.metadata."""
    found = {b: capture.directory(b, topic.name, partition) for b in topic.partitions[partition]}
    return {b: directory.topic_id for b, directory in found.items() if directory}


def remembered_ids(capture: Capture, topic: Topic) -> tuple[str, ...]:
    """The topic ids on disks and in brokers' metadata caches; the latter show what the controller sends."""
    on_disk = {identity for p in topic.partitions for identity in files_of(capture, topic, p).values()}
    cached = {b.cache.topic_ids.get(topic.name) for b in capture.brokers.values() if b.cache}
    return tuple(sorted(identity for identity in on_disk | cached if identity))


def condition_of(topic: Topic, found: Symptoms) -> Condition:
    """How a topic fares. One that has no id anywhere is new, or older than topic ids: whatever is minted suits all."""
    if found.broken or found.lost:
        return Condition.BROKEN
    if topic.topic_id is None:
        return Condition.LATENT if found.remembered else Condition.CONSISTENT
    return Condition.LATENT if found.foreign or found.sent not in (None, topic.topic_id) else Condition.CONSISTENT


def harm_of_stopping(capture: Capture, topic: Topic, broker: int, refusing: Replicas) -> frozenset[int]:
    """The partitions that stopping a broker leaves without a working leader, if those replicas refuse LeaderAndIsr.

    Stopping any member of the ISR raises the leader epoch; the leader stays, or the next live ISR member in the order
    of assignment follows. One that refuses the new epoch does not lead in it.
    """
    return frozenset(p for p in refusing if _leader_after(capture, topic, p, broker) in refusing[p])


def _leader_after(capture: Capture, topic: Topic, partition: int, broker: int) -> int | None:
    state = topic.states.get(partition)
    if state is None or broker not in state.isr:
        return None
    able = [b for b in topic.partitions[partition] if b != broker and b in state.isr and capture.brokers[b].alive]
    return state.leader if state.leader in able else next(iter(able), None)


def _led(capture: Capture, topic: Topic, partition: int) -> bool | None:
    state = topic.states[partition]
    if state.leader is None or not capture.brokers[state.leader].alive:
        return False
    directory = capture.directory(state.leader, topic.name, partition)
    return directory.has_epoch(state.leader_epoch) if directory else None


def _sent(capture: Capture, topic: Topic) -> str | None:
    cache = None if capture.controller is None else capture.brokers[capture.controller].cache
    return cache.topic_ids.get(topic.name) if cache else None


def _outside(capture: Capture, topic: Topic, partition: int) -> set[int]:
    if partition not in topic.states:
        return set()
    live = {b for b in topic.partitions[partition] if capture.brokers[b].alive}
    return live - set(topic.states[partition].isr)


def _differing(files: Mapping[int, str | None], wanted: str | None) -> set[int]:
    """Without an id in ZooKeeper nothing differs: the next controller will decide."""
    return {broker for broker, identity in files.items() if wanted and identity not in (None, wanted)}


def _some(found: Mapping[int, set[int]]) -> Replicas:
    return {partition: frozenset(members) for partition, members in found.items() if members}


def everyone(replicas: Replicas, partitions: Iterable[int] | None = None) -> frozenset[int]:
    """The brokers of some partitions, or of all."""
    wanted = replicas if partitions is None else [p for p in partitions if p in replicas]
    return frozenset().union(*(replicas[p] for p in wanted))
