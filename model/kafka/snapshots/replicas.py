"""What each broker's process remembers of a replica: nobody can capture it, so it is derived as for a settled cluster.

Words: a cluster is *settled* when no request is on its way and no file waits to be flushed. A replica that *refuses*
holds another topic id in memory than ZooKeeper has; since it refused, it is *stuck* at an older leader epoch.
"""
from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from attrs import frozen

from model.kafka.snapshots.capture import Capture
from model.kafka.snapshots.focus import Focus
from model.kafka.snapshots.symptoms import remembered_ids

UNKNOWN_ID = "?"
"""Stands for an id that only running brokers remember: their files were removed."""


class Memory(Enum):
    """What a running broker may hold in memory for a replica whose partition.metadata does not exist."""

    NO_ID = 0
    """It never had an id, or restarted after its file was removed."""
    KEPT_ID = 1
    """Its file was removed while it ran."""


@frozen
class Held:
    """A replica: the id on disk and in memory, and the Partition object, whose leader epoch is the model's."""

    file: str | None = None
    memory: str | None = None
    log_open: bool = False
    leader_epoch: int | None = None
    is_leader: bool = False


@frozen
class Belief:
    """What is read from a capture, or taken for true where it cannot tell.

    `context_id` is the id that the active controller sends; `checked_at_first` whether a restarted broker already
    checks the first LeaderAndIsr (Kafka 3.0 and later).
    """

    capture: Capture
    focus: Focus
    context_id: str | None
    checked_at_first: bool

    def leader_epoch(self, partition: int) -> int | None:
        """The model's number of the partition's leader epoch: 1 if some replica is stuck before it, else 0."""
        if partition not in self.focus.topic.states:
            return None
        return int(partition in self.focus.symptoms.broken)

    def held(self, broker: int, partition: int, memory: Memory) -> Held:
        """What a broker holds of a partition."""
        directory = self.capture.directory(broker, self.focus.topic.name, partition)
        if directory is None:
            return Held()
        if not self.capture.brokers[broker].alive:
            return Held(file=directory.topic_id)
        identity = directory.topic_id or self._without_file(broker, partition, memory)
        return self._hosted(broker, partition, Held(directory.topic_id, identity))

    def _without_file(self, broker: int, partition: int, memory: Memory) -> str | None:
        """Removed files explain a partition without a working leader: ISR members cannot have restarted since.

        Before 3.0 a partition at its first leader epoch has no file because no LeaderAndIsr but the first was sent.
        """
        state = self.focus.topic.states.get(partition)
        if state is not None and partition in self.focus.symptoms.broken:
            return UNKNOWN_ID if broker in state.isr or memory is Memory.KEPT_ID else None
        seen_again = self.checked_at_first or (state is not None and state.leader_epoch > 0)
        return self.context_id if memory is Memory.KEPT_ID and seen_again else None

    def _hosted(self, broker: int, partition: int, ids: Held) -> Held:
        epoch, state = self.leader_epoch(partition), self.focus.topic.states.get(partition)
        if epoch is None or state is None:
            return ids
        if epoch == 0:
            return Held(ids.file, ids.memory, True, epoch, state.leader == broker)
        return self._in_broken_partition(broker, partition, ids)

    def _in_broken_partition(self, broker: int, partition: int, ids: Held) -> Held:
        """ISR members were there before the epoch rose; those outside of the ISR restarted, or were put out."""
        state, led = self.focus.topic.states[partition], self.focus.symptoms.led[partition]
        refuses = ids.memory is not None and self.focus.topic.topic_id not in (None, ids.memory)
        if state.leader == broker:
            return Held(ids.file, ids.memory, True, int(led is True), led is True)
        if state.leader is None or (refuses and (led is True or broker in state.isr)):
            return Held(ids.file, ids.memory, True, 0)
        if refuses and self.checked_at_first:
            return ids
        return Held(ids.file, ids.memory, True, 1)


def believe(capture: Capture, focus: Focus) -> Belief:
    """The rules of the capture's version, and the id that its controller sends."""
    checked = tuple(int(part) for part in capture.version.split(".")[:2]) >= (3, 0)
    return Belief(capture, focus, context_id(capture, focus), checked)


def context_id(capture: Capture, focus: Focus) -> str | None:
    """The id in the active controller's context: its broker's metadata cache shows it, as those of others do.

    Without any such cache it is ZooKeeper's, or the only one on disks.
    """
    caches = sorted(
        (b for b in capture.brokers.values() if b.cache and b.alive), key=lambda b: b.id != capture.controller
    )
    for broker in caches:
        known = broker.cache.topic_ids.get(focus.topic.name) if broker.cache else None
        if known:
            return known
    on_disk = remembered_ids(capture, focus.topic)
    return focus.topic.topic_id or (on_disk[0] if len(on_disk) == 1 else None)


def memory_is_uncertain(belief: Belief) -> bool:
    """Whether it matters which of the two a running broker without partition.metadata holds."""
    return len({_all_held(belief, memory) for memory in Memory}) > 1


def _all_held(belief: Belief, memory: Memory) -> tuple[Held, ...]:
    focus = belief.focus
    return tuple(belief.held(broker, p, memory) for broker in focus.brokers for p in focus.partitions)


def ids_in(belief: Belief) -> tuple[str, ...]:
    """Every id that occurs: those of replicas first, then the controller's, then ZooKeeper's."""
    found: Mapping[str | None, None] = dict.fromkeys(
        identity for memory in Memory for held in _all_held(belief, memory) for identity in (held.file, held.memory)
    )
    topic_id = belief.focus.topic.topic_id
    ordered = [i for i in (*found, belief.context_id) if i not in (None, topic_id)]
    return tuple(dict.fromkeys([*ordered, *([topic_id] if topic_id else [])]))  # type: ignore[list-item]
