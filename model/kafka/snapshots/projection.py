"""What a capture shows, in the terms of the model: the facts of a waypoint.

Words: a *numbering* gives the brokers, topic ids and epochs of a series their numbers in the model: brokers by their
place among those of the series, ids in the order in which the series shows them, controller epochs from the first
capture on. All captures of a series have one numbering.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations

from attrs import evolve, frozen

from kwalk.model.kafka.assignment import first_among, order_of, pair
from kwalk.model.kafka.controller.controller_context import EventProgress
from kwalk.model.kafka.migration.state import WrittenPartitionState
from kwalk.model.kafka.snapshots.capture import Capture, CapturedPartitionState, Topic, topic_label
from kwalk.model.kafka.snapshots.scope import Scope
from kwalk.model.kafka.state import Cluster, SessionState
from kwalk.model.kafka.zookeeper.znodes import PartitionStateZnode
from kwalk.model.language.series import Clause, Fact, where

NONE = -1
"""How vectors write None."""


NONE_LABEL = "none"


TOPIC = "zookeeper.topics[0]"


@frozen
class Numbering:
    """The numbers that the model gives to what a series of captures names."""

    topic: str
    brokers: tuple[int, ...]
    partitions: int
    ids: tuple[str, ...]
    earlier_epochs: int
    """How many controller epochs there were before the model's first."""
    most: int
    """The highest leader epoch of the series."""
    scope: Scope

    @property
    def name(self) -> str:
        """The topic's name for people."""
        return topic_label(self.topic)

    def broker(self, real: int | None) -> int:
        """A broker's number in vectors."""
        return NONE if real is None else self.brokers.index(real)

    def identity(self, real: str | None) -> int:
        """A topic id's number in vectors."""
        return NONE if real is None else self.ids.index(real)

    def broker_label(self, number: int | None) -> str:
        """The real id of a broker."""
        return NONE_LABEL if number is None else str(self.brokers[number])

    def id_label(self, number: int | None, absent: str = NONE_LABEL) -> str:
        """The real topic id, or `absent` for None; one that the series does not show is named by its number."""
        if number is None:
            return absent
        return self.ids[number] if number < len(self.ids) else f"a new id (the model's number {number + 1})"


ZOOKEEPER = 50
"""The weight of a difference in ZooKeeper, relative to one in a file."""


# Snapshots of a cluster at work.


@frozen
class Unsettled:
    """What a capture lacks because it may have been taken while the cluster was at work.

    `is_new` is whether no partition of the topic has a state yet; `leaderless` are the partitions without a leader
    although a broker of their ISR is live, as between the two writes of a failover that replaces a dead leader;
    `outdated` are those of which the leader is not registered, although another broker of the ISR is live, and those
    with such a leader of another partition in the ISR: the controller has not written yet what follows from the end of
    that broker; `without_log` are the brokers that lack a log, with its partition, although they are in its ISR.
    """

    is_new: bool = False
    leaderless: frozenset[int] = frozenset()
    outdated: frozenset[int] = frozenset()
    without_log: frozenset[tuple[int, int]] = frozenset()
    ahead: frozenset[tuple[int, int, int]] = frozenset()
    states_removed: bool = False

    def before(self, later: Unsettled) -> Unsettled:
        """Return what is lacking and is there in the next capture; what lacks there, too, comes no moment later."""
        if self.is_new and later.is_new:
            return Unsettled(states_removed=self.states_removed)
        return Unsettled(
            self.is_new,
            self.leaderless - later.leaderless,
            self.outdated - later.outdated,
            self.without_log - later.without_log,
            self.ahead - later.ahead,
            self.states_removed,
        )

    @property
    def is_settled(self) -> bool:
        """Whether nothing of what the capture shows is left open."""
        return evolve(self, states_removed=False) == SETTLED

    @property
    def waiting(self) -> frozenset[int]:
        """The partitions whose state is about to be written."""
        return self.leaderless | self.outdated


SETTLED = Unsettled()


def unsettled_of(capture: Capture, topic_name: str) -> Unsettled:
    """Return what a capture lacks of a topic."""
    topic = capture.topics.get(topic_name)
    if topic is None or topic_name in capture.deleting:
        return Unsettled()
    live = set(capture.live) & set(capture.registered)
    led = {p: s for p, s in topic.states.items() if capture.controller in live and live & set(s.isr)}
    waits = frozenset(partition for partition, state in led.items() if state.leader is None)
    dead = {state.leader for state in led.values()} - {None, *capture.registered}
    gone = frozenset(partition for partition, state in led.items() if dead & {state.leader, *state.isr})
    lacking = frozenset(
        (broker, partition)
        for partition, state in topic.states.items()
        for broker in live & set(state.isr)
        if state.leader is not None and capture.directory(broker, topic_name, partition) is None
    )
    ahead = frozenset(
        (broker, partition, epoch)
        for broker, partition, epoch in epochs_in_memory(capture, topic_name)
        if broker in live and partition in topic.states and epoch > topic.states[partition].leader_epoch
    )
    return Unsettled(not topic.states, waits, gone - waits, lacking, ahead)


def epochs_in_memory(capture: Capture, topic_name: str) -> Iterator[tuple[int, int, int]]:
    """Yield the brokers that have a topic's replica in memory, with its partition and leader epoch there."""
    for number, broker in capture.brokers.items():
        for (name, partition), replica in broker.replicas.items():
            if name == topic_name and replica is not None:
                yield number, partition, replica.leader_epoch


def written_later(state: CapturedPartitionState) -> int:
    """Return how many writes of an unsettled state may come: a failover parts a dead leader's end from the election."""
    return 1 if state.leader is None else 2


# Facts.


def facts_of(
    capture: Capture,
    numbering: Numbering,
    life: int,
    open_: Unsettled = SETTLED,
    *,
    strays: bool = False,
) -> tuple[Fact, ...]:
    """Return what a capture shows of the topic, in the life of that number, and of its cluster.

    What it may lack as it was taken while the cluster was at work is left open. If there are `strays`, logs that a life
    before has left, what they have of leader epochs is of that life, and metadata caches may be, too.
    """
    partitions = range(numbering.partitions)
    in_zookeeper = (
        *cluster_facts(capture, numbering),
        *topic_facts(capture, numbering, life),
        *(_sent(capture, numbering) if life == 0 and not strays and not open_.is_new else ()),
        *(fact for p in partitions if not open_.is_new for fact in _settled_facts(capture, numbering, p, open_)),
    )
    return (
        *(evolve(fact, weight=ZOOKEEPER) for fact in in_zookeeper),
        *(fact for p in partitions for fact in replica_facts(capture, numbering, p, life + strays, open_)),
    )


def _settled_facts(capture: Capture, numbering: Numbering, partition: int, open_: Unsettled) -> Iterator[Fact]:
    """Yield what ZooKeeper has of a partition; without a leader, what it has before an election, or after it."""
    if partition not in open_.waiting:
        yield from partition_facts(capture, numbering, partition)
        return
    state, path = capture.topics[numbering.topic].states[partition], f"{TOPIC}.states[{partition}]"
    name, last = f"{numbering.name}-{partition}", state.leader_epoch + written_later(state)
    epochs = range(state.leader_epoch, min(last, numbering.most) + 1)
    yield Fact(
        f"leader epoch of {name}",
        f"{state.leader_epoch}, or the next one" + (", or the one after it" if state.leader is not None else ""),
        (where(f"{path}.leader_epoch", *epochs),),
        lambda cluster: _number(cluster.zookeeper.state_of(0, partition).leader_epoch),
    )
    others = [n for n, real in enumerate(numbering.brokers) if real not in state.isr]
    yield Fact(
        f"ISR of {name}",
        f"none but {_list(state.isr)}",
        tuple(where(f"{path}.isr{{{n}}}", 0) for n in others),
        lambda cluster: _list(
            real for n, real in enumerate(numbering.brokers) if n in cluster.zookeeper.state_of(0, partition).isr
        ),
    )


# The cluster.


def cluster_facts(capture: Capture, numbering: Numbering) -> Iterator[Fact]:
    """Yield the controller, the controller epoch, and which brokers are up."""
    controller = numbering.broker(capture.controller)
    yield Fact(
        "controller",
        numbering.broker_label(None if capture.controller is None else controller),
        (where("zookeeper.controller", controller),),
        lambda cluster: numbering.broker_label(cluster.zookeeper.controller),
    )
    epoch = capture.controller_epoch - numbering.earlier_epochs
    yield Fact(
        "controller epoch",
        str(capture.controller_epoch),
        (where("zookeeper.controller_epoch", epoch),),
        lambda cluster: str(cluster.zookeeper.controller_epoch + numbering.earlier_epochs),
    )
    for number, real in enumerate(numbering.brokers):
        yield _broker(capture, numbering, number, real)


SESSIONS = {
    SessionState.LIVE: "down",
    SessionState.EXPIRED: "its session expired",
    SessionState.RENEWED: "its session expired",
}


def _broker(capture: Capture, numbering: Numbering, number: int, real: int) -> Fact:
    """A broker is up while it is registered: until its session expires, a crash cannot be seen."""
    up, runs = real in capture.registered, capture.brokers[real].alive
    clauses: tuple[Clause, ...] = (where(f"zookeeper.broker_ids{{{number}}}", int(up)),)
    if numbering.scope.expires and not up:
        sessions = [n for n, session in enumerate(SessionState) if (session is not SessionState.LIVE) == runs]
        clauses = (*clauses, where(f"brokers[{number}].session", *sessions))

    def look(cluster: Cluster) -> str:
        return "up" if cluster.is_registered(number) else SESSIONS[cluster.brokers[number].session]

    shown = "up" if up else SESSIONS[SessionState.EXPIRED] if runs and numbering.scope.expires else "down"
    return Fact(f"broker {real}", shown, clauses, look)


# The topic.


def topic_facts(capture: Capture, numbering: Numbering, life: int) -> Iterator[Fact]:
    """Yield what the topic's znode has beside replicas."""
    topic = capture.topics.get(numbering.topic)
    count = len(topic.partitions) if topic else 0
    yield Fact(
        f"partitions of {numbering.name}",
        str(count),
        (where(f"{TOPIC}.partition_count", count),),
        lambda cluster: str(cluster.zookeeper.topics[0].partition_count),
    )
    identity = numbering.identity(topic.topic_id if topic else None)
    yield Fact(
        f"topic_id in ZooKeeper of {numbering.name}",
        numbering.id_label(None if identity == NONE else identity),
        (where(f"{TOPIC}.topic_id", identity),),
        lambda cluster: numbering.id_label(cluster.zookeeper.topics[0].topic_id),
    )
    if numbering.scope.deletion:
        yield from _life(capture, numbering, life)


def _life(capture: Capture, numbering: Numbering, life: int) -> Iterator[Fact]:
    words, marked = ("not there", "there"), numbering.topic in capture.deleting
    yield Fact(
        f"marker of {numbering.name}",
        words[marked],
        (where("zookeeper.delete_topics{0}", int(marked)),),
        lambda cluster: words[0 in cluster.zookeeper.delete_topics],
    )
    yield Fact(
        f"times that {numbering.name} was created again",
        str(life),
        (where(f"{TOPIC}.incarnation", life),),
        lambda cluster: str(cluster.zookeeper.topics[0].incarnation),
    )


def _sent(capture: Capture, numbering: Numbering) -> Iterator[Fact]:
    """The metadata cache of the controller's own broker has the id that the controller sends.

    A controller that has sent nothing about the topic since it was created again leaves that of the life before there.
    """
    if capture.controller is None or numbering.topic not in capture.topics:
        return
    cache = capture.brokers[capture.controller].cache
    if cache is None or cache.controller != capture.controller or not cache.topic_ids.get(numbering.topic):
        return
    number, identity = numbering.broker(capture.controller), numbering.identity(cache.topic_ids[numbering.topic])
    controller = f"brokers[{number}].controller"
    idle = list(EventProgress).index(EventProgress.IDLE)
    busy = (f"{controller}.step", frozenset(range(len(EventProgress))) - {idle})
    yield Fact(
        f"topic id of {numbering.name} that controller {capture.controller} sends",
        numbering.ids[identity],
        ((busy, (f"{controller}.topics[0].topic_id", frozenset({identity}))),),
        lambda cluster: numbering.id_label(cluster.controller_of(number).topics[0].topic_id),
    )


def partition_facts(capture: Capture, numbering: Numbering, partition: int) -> Iterator[Fact]:
    """Yield what ZooKeeper has of a partition."""
    name, path = f"{numbering.name}-{partition}", f"{TOPIC}.states[{partition}]"
    topic = capture.topics.get(numbering.topic)
    state = topic.states.get(partition) if topic else None
    yield from state_facts(numbering, state, name, path, lambda cluster: cluster.zookeeper.state_of(0, partition))
    if numbering.scope.reassignment and topic is not None and partition in topic.partitions:
        yield _broker_set(
            numbering,
            f"replicas of {name}",
            f"{TOPIC}.assignments[{partition}].replicas",
            topic.partitions[partition],
            lambda cluster: cluster.zookeeper.topics[0].assignments[partition].replicas,
        )
        if numbering.scope.lists:
            yield _order(numbering, partition, topic, name)


def _order(numbering: Numbering, partition: int, topic: Topic, name: str) -> Fact:
    """The order of the replicas."""

    def look(cluster: Cluster) -> str:
        znode = cluster.zookeeper.topics[0]
        members = set(znode.assignments[partition].replicas)
        found = []
        while (first := first_among(znode.orders[partition], members)) is not None:
            members.remove(first)
            found.append(str(numbering.brokers[first]))
        return ", ".join(found) or NONE_LABEL

    replicas = topic.partitions[partition]
    clauses = tuple(order_clauses(numbering, partition, replicas))
    return Fact(f"order of the replicas of {name}", ", ".join(map(str, replicas)), clauses, look)


def order_clauses(numbering: Numbering, partition: int, replicas: tuple[int, ...]) -> Iterator[Clause]:
    """Yield what the order of a partition's replicas is, pair by pair, if it has these in this order."""
    numbers = [numbering.broker(real) for real in replicas]
    order = order_of(numbers)
    for one, other in combinations(sorted(numbers), 2):
        number = pair(one, other)
        yield where(f"{TOPIC}.orders[{partition}]{{{number}}}", int(number in order))


def state_facts(
    numbering: Numbering,
    state: CapturedPartitionState | None,
    name: str,
    path: str,
    held: Callable[[Cluster], PartitionStateZnode | WrittenPartitionState],
) -> Iterator[Fact]:
    """Yield the leader epoch, the leader and the ISR of a partition, which the model holds at a path."""
    epoch = NONE if state is None else state.leader_epoch
    yield Fact(
        f"leader epoch of {name}",
        str(epoch) if state else "no state",
        (where(f"{path}.leader_epoch", epoch),),
        lambda cluster: _number(held(cluster).leader_epoch),
    )
    if state is not None:
        yield Fact(
            f"leader of {name}",
            NONE_LABEL if state.leader is None else str(state.leader),
            (where(f"{path}.leader", numbering.broker(state.leader)),),
            lambda cluster: numbering.broker_label(held(cluster).leader),
        )
        yield _broker_set(numbering, f"ISR of {name}", f"{path}.isr", state.isr, lambda cluster: held(cluster).isr)


def _broker_set(
    numbering: Numbering, name: str, path: str, real_ids: tuple[int, ...], held: Callable[[Cluster], frozenset[int]]
) -> Fact:
    """A set of brokers: the ones that a capture shows, and those that a state of the model holds at the path."""
    clauses = tuple(where(f"{path}{{{n}}}", int(real in real_ids)) for n, real in enumerate(numbering.brokers))

    def look(cluster: Cluster) -> str:
        members = held(cluster)
        return _list(real for n, real in enumerate(numbering.brokers) if n in members)

    return Fact(name, _list(real_ids), clauses, look)


# Replicas.


def replica_facts(
    capture: Capture, numbering: Numbering, partition: int, life: int, open_: Unsettled
) -> Iterator[Fact]:
    """Yield what the log directories of a partition show, in the life of that number."""
    for number, real in enumerate(numbering.brokers):
        if not may_lack(capture, numbering, open_, real, partition):
            yield from _directory(capture, numbering, partition, number, real)
        is_open = partition in open_.waiting or any((b, p) == (real, partition) for b, p, _ in open_.ahead)
        if not is_open and not open_.is_new and life == 0:
            yield from _in_memory(capture, numbering, partition, number, real)
    if partition not in open_.waiting:
        yield from _led(capture, numbering, partition, life + open_.states_removed)


def may_lack(capture: Capture, numbering: Numbering, open_: Unsettled, broker: int, partition: int) -> bool:
    """Whether a log, or its partition.metadata, may have come a moment after the capture."""
    directory = capture.directory(broker, numbering.topic, partition)
    if open_.is_new:
        return directory is None
    return (broker, partition) in open_.without_log


def _directory(capture: Capture, numbering: Numbering, partition: int, number: int, real: int) -> Iterator[Fact]:
    directory = capture.directory(real, numbering.topic, partition)
    name, path = f"{numbering.name}-{partition} on broker {real}", f"brokers[{number}].replicas[0][{partition}]"
    identity = numbering.identity(directory.topic_id if directory else None)
    yield Fact(
        f"partition.metadata of {name}",
        "no file" if identity == NONE else numbering.ids[identity],
        (where(f"{path}.file_topic_id", identity),),
        lambda cluster: numbering.id_label(cluster.replica_of(number, 0, partition).file_topic_id, "no file"),
    )
    if numbering.scope.removes_logs:
        words, there = ("not there", "there"), directory is not None
        yield Fact(
            f"log directory of {name}",
            words[there],
            (where(f"{path}.on_disk", int(there)),),
            lambda cluster: words[cluster.replica_of(number, 0, partition).on_disk],
        )


def _in_memory(capture: Capture, numbering: Numbering, partition: int, number: int, real: int) -> Iterator[Fact]:
    """What a broker says of a replica: its leader epoch in memory, and whether it leads."""
    place, shown = (numbering.topic, partition), capture.brokers[real].replicas
    if place not in shown:
        return
    replica, path = shown[place], f"brokers[{number}].replicas[0][{partition}]"
    epoch = NONE if replica is None else replica.leader_epoch
    leads = replica is not None and replica.leads

    def look(cluster: Cluster) -> str:
        found = cluster.replica_of(number, 0, partition)
        return _role(NONE if found.leader_epoch is None else found.leader_epoch, leads=found.is_leader)

    clauses = where(f"{path}.leader_epoch", epoch), where(f"{path}.is_leader", int(leads))
    yield Fact(f"{numbering.name}-{partition} in memory of broker {real}", _role(epoch, leads=leads), clauses, look)


def _role(epoch: int, *, leads: bool) -> str:
    return "no leader epoch" if epoch == NONE else f"{'leads' if leads else 'follows'} at leader epoch {epoch}"


def _led(capture: Capture, numbering: Numbering, partition: int, life: int) -> Iterator[Fact]:
    """A leader that took up its leader epoch has it in its leader-epoch checkpoint, if there is a checkpoint.

    The log must not be a stray one of an earlier topic of the name.
    """
    topic = capture.topics.get(numbering.topic)
    state = topic.states.get(partition) if topic else None
    if state is None or state.leader is None or not capture.brokers[state.leader].alive:
        return
    directory = capture.directory(state.leader, numbering.topic, partition)
    has = directory.has_epoch(state.leader_epoch) if directory else None
    if has is False or (has and life == 0):
        yield _leads(numbering, partition, state, has=has)


def _leads(numbering: Numbering, partition: int, state: CapturedPartitionState, *, has: bool) -> Fact:
    """A leader that took up the epoch leads; or it has restarted since, and does not host its loaded log."""
    number, epoch = numbering.broker(state.leader), state.leader_epoch
    path = f"brokers[{number}].replicas[0][{partition}]"
    loaded = frozenset(range(len(numbering.ids)))
    took: tuple[Clause, ...] = (
        ((f"{path}.is_leader", frozenset({1})), (f"{path}.leader_epoch", frozenset({NONE}))),
        where(f"{path}.leader_epoch", epoch, NONE),
        ((f"{path}.leader_epoch", frozenset({epoch})), (f"{path}.file_topic_id", loaded)),
    )
    other = frozenset({NONE, *range(numbering.most + 1)}) - {epoch}
    does_not: tuple[Clause, ...] = (((f"{path}.is_leader", frozenset({0})), (f"{path}.leader_epoch", other)),)

    def look(cluster: Cluster) -> str:
        replica = cluster.replica_of(number, 0, partition)
        return _taken(replica.is_leader and replica.leader_epoch == epoch, epoch)

    name = f"leader-epoch-checkpoint of {numbering.name}-{partition} on its leader {state.leader}"
    return Fact(name, _taken(has, epoch), took if has else does_not, look)


def _taken(has: bool, epoch: int) -> str:
    return f"has leader epoch {epoch}" if has else f"lacks leader epoch {epoch}"


def _number(number: int | None) -> str:
    return "no state" if number is None else str(number)


def _list(brokers: Iterator[int] | tuple[int, ...]) -> str:
    return ", ".join(str(broker) for broker in sorted(brokers)) or NONE_LABEL
