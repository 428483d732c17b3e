"""A capture as an initial state of the model: which part of it is modelled, and what its brokers hold in memory.

Words: the *focus* is one topic, a few partitions that represent the others, and their brokers. Partitions are in the
same *situation* when the same can be said of their replicas: leader or follower, in the ISR or not, with which id on
disk. One partition of a situation *represents* the others.

What a process holds in memory cannot be captured: it is inferred, as for a settled cluster. A cluster is *settled* when
no request is on its way and no file waits to be flushed. A replica that *refuses* holds another topic id in memory than
ZooKeeper has; since it refused, it is *stuck* at an older leader epoch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import Enum

from attrs import frozen

from kwalk.model.kafka.assignment import code_of
from kwalk.model.kafka.controller.controller_context import BrokerRegistration, ControllerEvent, EventKind
from kwalk.model.kafka.snapshots.capture import Capture, CapturedReplica, Topic, topic_label
from kwalk.model.kafka.snapshots.diagnosis import (
    Symptoms,
    assigns_ids_at_once,
    brokers,
    each,
    has_old_protocol,
    holds_another_id,
    may_hold_another_id,
    partitions,
    remembered_ids,
    symptoms,
)
from kwalk.model.kafka.state import Cluster

MOST_PARTITIONS = 2
"""Four partitions have several hundred times the states of two."""


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
        """Return the model's number of a broker; None for None and for a broker that is left out."""
        return self.brokers.index(broker) if broker in self.brokers else None


def focus_on(capture: Capture, topic: Topic) -> Focus:
    """Return the worst part of a topic that has partitions."""
    found = symptoms(capture, topic)
    groups = situations(capture, topic, found)
    first = groups[0][0]
    alike = [group for group in groups if (set(topic.partitions[group[0]]) == set(topic.partitions[first]))]
    chosen = sorted((group[0] for group in alike[:MOST_PARTITIONS]), key=lambda p: (p not in topic.states, p))
    members = _brokers(capture, topic, first)
    facts = (*_topics(capture, topic), *_partitions(topic, groups, chosen), *_left_out(capture, topic, first, members))
    return Focus(topic, found, tuple(chosen), tuple(sorted(members)), facts)


def situations(capture: Capture, topic: Topic, symptoms: Symptoms) -> list[list[int]]:
    """Return the partitions grouped by situation, the worst situation first."""
    groups: dict[tuple[object, ...], list[int]] = {}
    for partition in topic.partitions:
        groups.setdefault(_situation(capture, topic, symptoms, partition), []).append(partition)
    return sorted(groups.values(), key=lambda group: (-_harm(symptoms, group[0]), group[0]))


def _situation(capture: Capture, topic: Topic, symptoms: Symptoms, partition: int) -> tuple[object, ...]:
    roles = sorted(_role(capture, topic, partition, broker) for broker in topic.partitions[partition])
    return (symptoms.led.get(partition), *roles)


def _role(capture: Capture, topic: Topic, partition: int, broker: int) -> tuple[bool, bool, bool, str, bool]:
    state, directory = topic.states.get(partition), capture.directory(broker, topic.name, partition)
    return (
        capture.brokers[broker].alive,
        state is not None and state.leader == broker,
        state is not None and broker in state.isr,
        directory.topic_id or "" if directory else "",
        directory is not None,
    )


def _harm(symptoms: Symptoms, partition: int) -> int:
    return 2 * (partition in symptoms.broken) + (partition in symptoms.foreign)


def _brokers(capture: Capture, topic: Topic, partition: int) -> tuple[int, ...]:
    """Return the partition's replicas, leader and ISR first, no more than the model takes: first one of each kind."""
    replicas, state = topic.partitions[partition], topic.states.get(partition)
    if state is not None:
        replicas = tuple(sorted(replicas, key=lambda b: (b != state.leader, b not in state.isr)))
    roles = [_role(capture, topic, partition, broker) for broker in replicas]
    repeats = {broker for number, broker in enumerate(replicas) if roles[number] in roles[:number]}
    return tuple(sorted(replicas, key=lambda b: b in repeats))[:MOST_BROKERS]


# Facts.


def _topics(capture: Capture, topic: Topic) -> Iterator[str]:
    others = len(capture.topics) - 1
    if others:
        yield (
            f"The search is about topic {topic_label(topic.name)}, the worst or the first; "
            f"{others} other {each(range(others), 'topic is', 'topics are')} left out."
        )


def _partitions(topic: Topic, groups: list[list[int]], chosen: Iterable[int]) -> Iterator[str]:
    name, chosen = topic_label(topic.name), tuple(chosen)
    for group in groups:
        if group[0] in chosen and len(group) > 1:
            fare = each(group[1:], "is", "are")
            yield f"{name}-{group[0]} represents {partitions(name, group[1:])}, which {fare} in the same situation."
    rest = [p for group in groups if group[0] not in chosen for p in group]
    if rest:
        yield f"Left out, to keep the search small: {partitions(name, rest)}."


def _left_out(capture: Capture, topic: Topic, partition: int, members: tuple[int, ...]) -> Iterator[str]:
    name = f"{topic_label(topic.name)}-{partition}"
    rest = [b for b in topic.partitions[partition] if b not in members]
    if rest:
        yield f"Left out, to keep the search small: the replicas of {name} on {brokers(rest)}."
    others = [b for b in capture.brokers if b not in topic.partitions[partition]]
    if others:
        yield f"Left out: {brokers(others)}, without a replica of {name}."


UNKNOWN_ID = "?"
"""Stands for an id that only running brokers remember: their files were removed or edited."""


class InferredMemory(Enum):
    """What a running broker may hold in memory for a replica whose partition.metadata does not exist."""

    NO_ID = 0
    """It never had an id, or restarted after its file was removed."""
    KEPT_ID = 1
    """Its file was removed while it ran; where it may be another id than the topic has, it is."""


@frozen
class InferredReplica:
    """A replica: the id on disk and in memory, and the Partition object, whose leader epoch is the model's."""

    file: str | None = None
    memory: str | None = None
    log_open: bool = False
    leader_epoch: int | None = None
    is_leader: bool = False


@frozen
class InferredState:
    """What is read from a capture, or assumed where the capture does not show it.

    `context_id` is the id that the active controller sends; `checked_at_first` whether a restarted broker already
    checks the first LeaderAndIsr (Kafka 3.0 and later). The ids that are `numbered` are the model's first ones.
    """

    capture: Capture
    focus: Focus
    context_id: str | None
    checked_at_first: bool
    numbered: tuple[str, ...] = ()

    def leader_epoch(self, partition: int) -> int | None:
        """Return the model's leader epoch of the partition: 1 if some replica is stuck before it, else 0."""
        if partition not in self.focus.topic.states:
            return None
        epoch, place = self.focus.topic.states[partition].leader_epoch, (self.focus.topic.name, partition)
        shown = (self.capture.brokers[broker].replicas.get(place) for broker in self.focus.brokers)
        is_behind = any(one is not None and one.leader_epoch < epoch for one in shown)
        return int(is_behind or partition in self.focus.symptoms.broken)

    def known_leadership(self, partition: int) -> tuple[int | None, int] | None:
        """Return the leader and the model's leader epoch that the controller has in memory; None if it has neither."""
        state, epoch = self.focus.topic.states.get(partition), self.leader_epoch(partition)
        return None if state is None or epoch is None else (self.focus.index(state.leader), epoch)

    def replica(self, broker: int, partition: int, memory: InferredMemory) -> InferredReplica:
        """Return a broker's replica of a partition."""
        directory = self.capture.directory(broker, self.focus.topic.name, partition)
        if directory is None:
            return InferredReplica()
        if not self.capture.brokers[broker].alive:
            return InferredReplica(file=directory.topic_id)
        identity = directory.topic_id or self._without_file(broker, partition, memory)
        identity = UNKNOWN_ID if self.holds_another_id(broker, partition) else identity
        ids = InferredReplica(directory.topic_id, identity)
        shown, place = self.capture.brokers[broker].replicas, (self.focus.topic.name, partition)
        if place in shown:
            return self._shown(broker, partition, ids, shown[place])
        return self._hosted(broker, partition, ids)

    def _shown(
        self, broker: int, partition: int, ids: InferredReplica, replica: CapturedReplica | None
    ) -> InferredReplica:
        """Return a replica as its process has it in memory, which a start that is refused leaves without one."""
        if replica is None or replica.leader_epoch < 0:
            return ids
        state = self.focus.topic.states.get(partition)
        above = self._distance(replica.leader_epoch - (0 if state is None else state.leader_epoch))
        epoch = max((self.leader_epoch(partition) or 0) + above, 0)
        return InferredReplica(ids.file, ids.memory, True, epoch, replica.leads)

    def _distance(self, above: int) -> int:
        """Return how far a leader epoch is above ZooKeeper's in the model, where it is earlier, the same, or later."""
        return max(-1, min(1, above))

    def _without_file(self, broker: int, partition: int, memory: InferredMemory) -> str | None:
        """Removed files explain a partition without a working leader: ISR members cannot have restarted since.

        Before 3.0 a partition at its first leader epoch has no file because no LeaderAndIsr but the first was sent.
        """
        state = self.focus.topic.states.get(partition)
        if self.has_old_protocol:
            return None
        if state is not None and partition in self.focus.symptoms.broken:
            return UNKNOWN_ID if broker in state.isr or memory is InferredMemory.KEPT_ID else None
        if memory is InferredMemory.KEPT_ID and self.may_hold_another_id(broker, partition):
            return UNKNOWN_ID
        seen_again = self.checked_at_first or (state is not None and state.leader_epoch > 0)
        return self.context_id if memory is InferredMemory.KEPT_ID and seen_again else None

    @property
    def has_old_protocol(self) -> bool:
        """Whether the brokers' inter-broker protocol has no topic ids."""
        return has_old_protocol(self.capture)

    def holds_another_id(self, broker: int, partition: int) -> bool:
        """Whether a running broker holds another id than the topic has, though no file of it shows that."""
        return holds_another_id(self.capture, self.focus.topic, partition, broker)

    def may_hold_another_id(self, broker: int, partition: int) -> bool:
        """Whether a running broker without partition.metadata may hold another id than the topic has."""
        return may_hold_another_id(self.capture, self.focus.topic, partition, broker)

    def _hosted(self, broker: int, partition: int, ids: InferredReplica) -> InferredReplica:
        epoch, state = self.leader_epoch(partition), self.focus.topic.states.get(partition)
        if epoch is None or state is None:
            return ids
        if epoch == 0:
            refuses = ids.memory is not None and self.focus.topic.topic_id not in (None, ids.memory)
            if refuses and self.checked_at_first and state.leader != broker:
                return ids  # it has refused the first request
            return InferredReplica(ids.file, ids.memory, True, epoch, state.leader == broker)
        return self._in_broken_partition(broker, partition, ids)

    def _in_broken_partition(self, broker: int, partition: int, ids: InferredReplica) -> InferredReplica:
        """ISR members joined before the epoch rose; those outside of the ISR restarted, or were removed."""
        state, led = self.focus.topic.states[partition], self.focus.symptoms.led[partition]
        refuses = ids.memory is not None and self.focus.topic.topic_id not in (None, ids.memory)
        if state.leader == broker:
            return InferredReplica(ids.file, ids.memory, True, int(led is True), led is True)
        if state.leader is None or (refuses and (led is True or broker in state.isr)):
            return InferredReplica(ids.file, ids.memory, True, 0)
        if refuses and self.checked_at_first:
            return ids
        return InferredReplica(ids.file, ids.memory, True, 1)


def infer(capture: Capture, focus: Focus) -> InferredState:
    """Infer the flags of the capture's version, and the id that its controller sends."""
    return InferredState(capture, focus, context_id(capture, focus), assigns_ids_at_once(capture.version))


def context_id(capture: Capture, focus: Focus) -> str | None:
    """Return the id in the active controller's context, as its broker's metadata cache or another one shows it.

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


def memory_is_uncertain(inferred: InferredState) -> bool:
    """Whether it matters which of the two a running broker without partition.metadata holds."""
    return len({_all_replicas(inferred, memory) for memory in InferredMemory}) > 1


def _all_replicas(inferred: InferredState, memory: InferredMemory) -> tuple[InferredReplica, ...]:
    focus = inferred.focus
    return tuple(inferred.replica(broker, p, memory) for broker in focus.brokers for p in focus.partitions)


def ids_in(inferred: InferredState) -> tuple[str, ...]:
    """Return every id that occurs: those that are numbered, of replicas, the controller's, and ZooKeeper's."""
    found: Mapping[str | None, None] = dict.fromkeys(
        identity
        for memory in InferredMemory
        for held in _all_replicas(inferred, memory)
        for identity in (held.file, held.memory)
    )
    topic_id = inferred.focus.topic.topic_id
    ordered = [i for i in (*found, inferred.context_id) if i not in (None, topic_id)]
    return tuple(dict.fromkeys([*inferred.numbered, *ordered, *([topic_id] if topic_id else [])]))


def controller_in(focus: Focus, capture: Capture) -> int | None:
    """Return the model's number of the controller; a live replica stands in for one without a replica here."""
    if capture.controller is None or not capture.brokers[capture.controller].alive:
        return None
    if capture.controller in focus.brokers:
        return focus.index(capture.controller)
    return next((focus.index(b) for b in focus.brokers if capture.brokers[b].alive), None)


def accepted_partitions(focus: Focus) -> int:
    """Return the number of partitions promised to clients: those in focus, and one for those the znode has lost."""
    return len(focus.partitions) + bool(focus.symptoms.lost)


def known_partitions(inferred: InferredState) -> int:
    """Return how many partitions the controller has handled, which come first."""
    return sum(inferred.known_leadership(partition) is not None for partition in inferred.focus.partitions)


def replica_orders(focus: Focus) -> int:
    """Return the bound that gives every partition its replicas in their real order."""
    orders = [[b for b in focus.topic.partitions[p] if b in focus.brokers] for p in focus.partitions]
    return code_of([[focus.brokers.index(b) for b in order] for order in orders])


def arrange(cluster: Cluster, inferred: InferredState, memory: InferredMemory) -> None:
    """Turn a fresh state into what the capture shows."""
    focus, ids = inferred.focus, ids_in(inferred)
    for _ in ids:
        cluster.topic_ids.take()
    cluster.zookeeper.broker_ids = frozenset(
        n for n, broker in enumerate(focus.brokers) if inferred.capture.brokers[broker].alive
    )
    _topic(cluster, inferred, ids)
    _replicas(cluster, inferred, memory, ids)
    _controllers(cluster, inferred, ids)


def arrange_without_topics(cluster: Cluster, capture: Capture, brokers: tuple[int, ...]) -> None:
    """Turn a fresh state into a settled cluster without topics."""
    live = frozenset(n for n, broker in enumerate(brokers) if capture.brokers[broker].alive)
    cluster.zookeeper.broker_ids = live
    elected = capture.controller in brokers and brokers.index(capture.controller) in live
    _elect(cluster, brokers.index(capture.controller) if elected else min(live, default=None))


def number_of(identity: str | None, ids: tuple[str, ...]) -> int | None:
    """Return the model's number of a topic id."""
    return None if identity is None else ids.index(identity)


def _topic(cluster: Cluster, inferred: InferredState, ids: tuple[str, ...]) -> None:
    """The topic's earlier ids are ignored: the first id is the one that it has now."""
    focus, znode = inferred.focus, cluster.zookeeper.topics[0]
    znode.partition_count, znode.accepted_partitions = len(focus.partitions), accepted_partitions(focus)
    znode.topic_id = number_of(focus.topic.topic_id, ids)
    znode.first_topic_id = number_of(focus.topic.topic_id or inferred.context_id, ids)
    for n, partition in enumerate(focus.partitions):
        state = focus.topic.states.get(partition)
        if state is not None:
            znode.states[n].leader = focus.index(state.leader)
            znode.states[n].isr = frozenset(focus.brokers.index(b) for b in state.isr if b in focus.brokers)
            znode.states[n].leader_epoch = inferred.leader_epoch(partition)


def _replicas(cluster: Cluster, inferred: InferredState, memory: InferredMemory, ids: tuple[str, ...]) -> None:
    for b, broker in enumerate(inferred.focus.brokers):
        for p, partition in enumerate(inferred.focus.partitions):
            held, replica = inferred.replica(broker, partition, memory), cluster.replica_of(b, 0, p)
            replica.file_topic_id = number_of(held.file, ids)
            replica.topic_id = number_of(held.memory, ids)
            replica.log_open, replica.is_leader = held.log_open, held.is_leader
            replica.leader_epoch = held.leader_epoch


def _controllers(cluster: Cluster, inferred: InferredState, ids: tuple[str, ...]) -> None:
    active = controller_in(inferred.focus, inferred.capture)
    _elect(cluster, active)
    if active is not None:
        _context(cluster, active, inferred, ids)
        _pending(cluster, active, inferred)


def _elect(cluster: Cluster, active: int | None) -> None:
    """Without a controller every live broker has handled the deletion of /controller, and will try to be the next."""
    zookeeper = cluster.zookeeper
    zookeeper.controller = active
    zookeeper.controller_epoch = 1
    for broker in zookeeper.broker_ids:
        cluster.brokers[broker].controller_epoch = 1
        zookeeper.watches[broker].controller = active is not None
        if active is None:
            cluster.controller_of(broker).events.push(ControllerEvent(EventKind.REELECT, 0))
    if active is not None:
        controller, watches = cluster.controller_of(active), zookeeper.watches[active]
        controller.epoch = 1
        watches.broker_ids = watches.topics = True
        for broker in zookeeper.broker_ids:
            controller.registrations[broker] = BrokerRegistration.CURRENT


def _context(cluster: Cluster, active: int, inferred: InferredState, ids: tuple[str, ...]) -> None:
    """Fill the context with what ZooKeeper had when the controller last read it, and the topic id that it sends."""
    context, known = cluster.controller_of(active).topics[0], known_partitions(inferred)
    if known:
        context.partition_count = known
        context.topic_id = number_of(inferred.context_id, ids)
        for n, partition in enumerate(inferred.focus.partitions[:known]):
            if (leadership := inferred.known_leadership(partition)) is not None:
                context.leadership[n].leader, context.leadership[n].leader_epoch = leadership


def _pending(cluster: Cluster, active: int, inferred: InferredState) -> None:
    """Arm watches, and queue the events of those that have fired."""
    watches, controller = cluster.zookeeper.watches[active], cluster.controller_of(active)
    lost = _unnoticed(cluster, inferred)
    known, count = known_partitions(inferred), len(inferred.focus.partitions)
    watches.broker_ids, watches.topics, watches.topic[0] = not lost, known > 0, known == count
    for broker in lost:
        controller.registrations[broker] = BrokerRegistration.STALE
    if lost:
        controller.events.push(ControllerEvent(EventKind.BROKER_CHANGE, 0))
    if not known:
        controller.events.push(ControllerEvent(EventKind.TOPIC_CHANGE, 0))
    elif known < count:
        controller.events.push(ControllerEvent(EventKind.PARTITION_MODIFICATIONS, 0))


def _unnoticed(cluster: Cluster, inferred: InferredState) -> frozenset[int]:
    """Return brokers that are down but lead, or are in an ISR with others: the controller has yet to react."""
    up = cluster.zookeeper.broker_ids
    found: set[int] = set()
    for n in range(known_partitions(inferred)):
        state = cluster.zookeeper.state_of(0, n)
        beside = state.isr if len(state.isr) > 1 else frozenset()
        found |= (beside | ({state.leader} if state.leader is not None else set())) - up
    return frozenset(found)
