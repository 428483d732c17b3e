"""Where a series of captures begins: before its topic, or as the first capture shows it.

Words: a topic is *young* in a capture when the present controller may have created it, with every leader its first, and
nobody has written it since: then a behaviour begins without it. Otherwise it begins settled, as the capture shows it,
and what nobody can see is left open: which brokers have *bounced* (stopped and started) since their replicas' ids came
to differ from the controller's, and what they remember where there is no file.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from itertools import chain, combinations
from typing import Any

from attrs import evolve, frozen

from model.kafka.controller_context import Controller, ControllerEvent, EventKind
from model.kafka.snapshots.capture import Capture, Topic
from model.kafka.snapshots.focus import Focus
from model.kafka.snapshots.initial_state import arrange, arrange_without_topics
from model.kafka.snapshots.replicas import Belief, Held, Memory, believe
from model.kafka.snapshots.scope import Scope
from model.kafka.snapshots.symptoms import symptoms
from model.kafka.state import Cluster
from model.kafka.state_machines import PartitionStatus, ReplicaStatus
from model.kafka.znodes import Assignment


@frozen
class Recollection(Belief):
    """What is believed of a cluster whose leader epochs are the real ones, if these brokers have bounced.

    The others that are `kept` have been running since their files were removed.
    """

    bounced: frozenset[int] = frozenset()
    kept: frozenset[int] = frozenset()

    def held(self, broker: int, partition: int, memory: Memory) -> Held:
        """What a broker holds of a partition; what it remembers without a file is its own matter."""
        return super().held(broker, partition, Memory.KEPT_ID if broker in self.kept else Memory.NO_ID)

    def leader_epoch(self, partition: int) -> int | None:
        """The partition's leader epoch in ZooKeeper."""
        state = self.focus.topic.states.get(partition)
        return None if state is None else state.leader_epoch

    def _hosted(self, broker: int, partition: int, ids: Held) -> Held:
        state = self.focus.topic.states.get(partition)
        if state is None:
            return ids
        leads = state.leader == broker
        if not self.refuses(ids):
            return self._stuck(ids, state.leader_epoch) if state.leader is None else _at(ids, state.leader_epoch, leads)
        led = self.focus.symptoms.led[partition] is not False
        if leads:
            return _at(ids, state.leader_epoch, leads) if led else self._stuck(ids, state.leader_epoch)
        if broker in self.bounced:
            return ids if self.checked_at_first else _at(ids, state.leader_epoch, leads)
        takes_part = led and state.leader is not None and broker in state.isr
        return _at(ids, state.leader_epoch, leads) if takes_part else self._stuck(ids, state.leader_epoch)

    def refuses(self, ids: Held) -> bool:
        """Whether a log with these ids refuses what the controller sends."""
        return None not in (ids.memory, self.context_id) and ids.memory != self.context_id

    def _stuck(self, ids: Held, epoch: int) -> Held:
        """At an older leader epoch; which one makes no difference to what can happen."""
        return _at(ids, epoch - 1, leads=False) if epoch > 0 else _at(ids, epoch, leads=False)


def _at(ids: Held, epoch: int, leads: bool) -> Held:
    return Held(ids.file, ids.memory, True, epoch, leads)


def is_young(capture: Capture, topic: Topic) -> bool:
    """Whether the topic may have been created under the present controller, with every leader its first.

    Its znode has then been written once more at most, by the controller that minted its id.
    """
    states = topic.states.values()
    created = all(s.leader_epoch == 0 and s.controller_epoch == capture.controller_epoch for s in states)
    return created and is_as_created(topic) and topic.name not in capture.deleting


def is_as_created(topic: Topic) -> bool:
    """Whether nobody has written the topic's znode since its creation but the controller that minted its id."""
    return topic.version <= (topic.topic_id is not None)


def created_partitions(topic: Topic) -> int:
    """How many partitions a topic was created with: those that one controller brought online, or some if that is all.

    A capture cannot tell how many partitions a client has added while the first controller went on.
    """
    count = len(topic.partitions)
    if is_as_created(topic) or count == 1:
        return count
    first = topic.states[0].controller_epoch if 0 in topic.states else None
    oldest = sum(state.controller_epoch == first for state in topic.states.values())
    return oldest if 0 < oldest < count else count // 2


def recollection(capture: Capture, topic: Topic, brokers: tuple[int, ...]) -> Recollection:
    """What is believed of the whole topic, nobody having bounced."""
    focus = Focus(topic, symptoms(capture, topic), tuple(sorted(topic.partitions)), brokers)
    belief = believe(capture, focus)
    return Recollection(belief.capture, focus, belief.context_id, belief.checked_at_first)


def as_shown(belief: Recollection, scope: Scope) -> Callable[..., None]:
    """The initial function of a behaviour that begins as the capture shows; one state for each possible history."""
    histories = list(_histories(belief))
    choice = Enum("History", {f"history_{number}": number for number in range(len(histories))})  # type: ignore[misc]

    def snapshot(cluster: Cluster, history: Any) -> None:
        believed = histories[history.value]
        arrange(cluster, believed, Memory.NO_ID)
        _arrange_directories(cluster, believed, scope)
        _arrange_assignments(cluster, believed, scope)
        _arrange_deletion(cluster, believed, scope)

    snapshot.__annotations__ = {"cluster": Cluster, "history": choice, "return": None}
    return snapshot


def _histories(belief: Recollection) -> Iterator[Recollection]:
    for kept in _subsets(_without_files(belief)):
        remembering = evolve(belief, kept=kept)
        for bounced in _subsets(_refusing(remembering)):
            yield evolve(remembering, bounced=bounced)


def _subsets(brokers: Iterable[int]) -> Iterator[frozenset[int]]:
    known = sorted(brokers)
    sizes = (combinations(known, size) for size in range(len(known) + 1))
    return (frozenset(chosen) for chosen in chain.from_iterable(sizes))


def _without_files(belief: Recollection) -> set[int]:
    """The brokers of which it matters what they remember of replicas without partition.metadata."""
    partitions = belief.focus.partitions
    return {
        b
        for b in belief.focus.brokers
        for p in partitions
        if belief.held(b, p, Memory.NO_ID) != evolve(belief, kept=frozenset({b})).held(b, p, Memory.NO_ID)
    }


def _refusing(belief: Recollection) -> set[int]:
    """The brokers that run and have a replica which refuses."""
    focus = belief.focus
    held = {(b, p): belief.held(b, p, Memory.NO_ID) for b in focus.brokers for p in focus.partitions}
    return {b for (b, _), ids in held.items() if belief.capture.brokers[b].alive and belief.refuses(ids)}


def _arrange_directories(cluster: Cluster, belief: Recollection, scope: Scope) -> None:
    if scope.flags["stop_replica"]:
        for number, broker in enumerate(scope.brokers):
            for partition, replica in enumerate(cluster.brokers[number].replicas[0]):
                replica.on_disk = belief.capture.directory(broker, scope.topic, partition) is not None


def _arrange_assignments(cluster: Cluster, belief: Recollection, scope: Scope) -> None:
    """Nothing is being reassigned when a behaviour begins."""
    if scope.reassignment:
        known = [c.topics[0] for c in (b.controller for b in cluster.brokers) if c.is_active]
        for partition, replicas in belief.focus.topic.partitions.items():
            wanted = Assignment(frozenset(scope.brokers.index(broker) for broker in replicas))
            cluster.zookeeper.topics[0].assignments[partition] = wanted
            for context in known:
                context.assignments[partition] = wanted


def _arrange_deletion(cluster: Cluster, belief: Recollection, scope: Scope) -> None:
    """The statuses are those of a topic that lives; a marker has not been seen yet."""
    if not scope.deletion:
        return
    znode, marked = cluster.zookeeper.topics[0], scope.topic in belief.capture.deleting
    znode.was_created = znode.has_config = True
    znode.deletion_asked = marked
    cluster.zookeeper.delete_topics = frozenset({0} if marked else ())
    for number, broker in enumerate(cluster.brokers):
        if broker.controller.is_active:
            cluster.zookeeper.watches[number].delete_topics = not marked
            _arrange_machines(broker.controller)
            if marked:
                broker.controller.events.push(ControllerEvent(EventKind.TOPIC_DELETION, 0))


def _arrange_machines(controller: Controller) -> None:
    context = controller.topics[0]
    for partition in range(context.partition_count):
        leads = context.leadership[partition].leader in controller.live_brokers
        context.machines.partitions[partition] = PartitionStatus.ONLINE if leads else PartitionStatus.OFFLINE
        for broker in context.assignments[partition].replicas:
            status = ReplicaStatus.ONLINE if broker in controller.live_brokers else ReplicaStatus.OFFLINE
            context.machines.replicas[partition][broker] = status


def before_the_topic(capture: Capture, scope: Scope) -> Callable[[Cluster], None]:
    """The initial function of a behaviour that begins in a settled cluster without the topic."""

    def snapshot(cluster: Cluster) -> None:
        arrange_without_topics(cluster, capture, scope.brokers)
        for number, broker in enumerate(cluster.brokers):
            if scope.deletion and broker.controller.is_active:
                cluster.zookeeper.watches[number].delete_topics = True

    return snapshot
