"""What a capture shows, in the terms of the model: facts of a waypoint, and limits on the way to it.

Words: a *numbering* gives the brokers, topic ids and epochs of a series their numbers in the model: brokers by their
place among the topic's replicas, ids in the order in which the series shows them, controller epochs from the first
capture's on. All captures of a series have one numbering.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator

from attrs import evolve, frozen

from model.kafka.capture import Capture, PartitionState, topic_label
from model.kafka.state import Cluster, Step
from model.language.series import Clause, Fact, where

NONE = -1
"""How vectors write None."""
NOBODY = "none"
TOPIC = "zookeeper.topics[0]"
ZOOKEEPER = 50
"""How much more it says to differ in ZooKeeper than in a file."""
Look = Callable[[Cluster], str]


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
        return NOBODY if number is None else str(self.brokers[number])

    def id_label(self, number: int | None) -> str:
        """The real topic id; one that the series does not show is named by its number."""
        if number is None:
            return NOBODY
        return self.ids[number] if number < len(self.ids) else f"a new id (the model's number {number + 1})"


def facts_of(capture: Capture, numbering: Numbering) -> tuple[Fact, ...]:
    """All that a capture shows of the topic and its cluster."""
    in_zookeeper = (
        *_cluster(capture, numbering),
        *_topic(capture, numbering),
        *(fact for p in range(numbering.partitions) for fact in _partition(capture, numbering, p)),
    )
    return (
        *(evolve(fact, weight=ZOOKEEPER) for fact in in_zookeeper),
        *(fact for p in range(numbering.partitions) for fact in _replicas(capture, numbering, p)),
    )


# The cluster.


def _cluster(capture: Capture, numbering: Numbering) -> Iterator[Fact]:
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
        yield _broker(number, f"broker {real}", capture.brokers[real].alive)


def _broker(number: int, name: str, alive: bool) -> Fact:
    words = {True: "up", False: "down"}
    path = f"zookeeper.broker_ids{{{number}}}"
    return Fact(name, words[alive], (where(path, int(alive)),), lambda cluster: words[cluster.is_up(number)])


# The topic.


def _topic(capture: Capture, numbering: Numbering) -> Iterator[Fact]:
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
    yield from _sent(capture, numbering)


def _sent(capture: Capture, numbering: Numbering) -> Iterator[Fact]:
    """The controller's own broker tells clients the id that the controller sends."""
    if capture.controller is None:
        return
    cache = capture.brokers[capture.controller].cache
    if cache is None or cache.controller != capture.controller or not cache.topic_ids.get(numbering.topic):
        return
    number, identity = numbering.broker(capture.controller), numbering.identity(cache.topic_ids[numbering.topic])
    controller = f"brokers[{number}].controller"
    idle = list(Step).index(Step.IDLE)
    busy = (f"{controller}.step", frozenset(range(len(Step))) - {idle})
    yield Fact(
        f"topic id of {numbering.name} that controller {capture.controller} sends",
        numbering.ids[identity],
        ((busy, (f"{controller}.topics[0].topic_id", frozenset({identity}))),),
        lambda cluster: numbering.id_label(cluster.brokers[number].controller.topics[0].topic_id),
    )


# Partitions.


def _partition(capture: Capture, numbering: Numbering, partition: int) -> Iterator[Fact]:
    name, path = f"{numbering.name}-{partition}", f"{TOPIC}.states[{partition}]"
    topic = capture.topics.get(numbering.topic)
    state = topic.states.get(partition) if topic else None
    epoch = NONE if state is None else state.leader_epoch
    yield Fact(
        f"leader epoch of {name}",
        str(epoch) if state else "no state",
        (where(f"{path}.leader_epoch", epoch),),
        lambda cluster: _number(cluster.zookeeper.topics[0].states[partition].leader_epoch),
    )
    if state is not None:
        yield _leader(numbering, partition, state, name)
        yield _isr(numbering, partition, state, name)


def _leader(numbering: Numbering, partition: int, state: PartitionState, name: str) -> Fact:
    return Fact(
        f"leader of {name}",
        NOBODY if state.leader is None else str(state.leader),
        (where(f"{TOPIC}.states[{partition}].leader", numbering.broker(state.leader)),),
        lambda cluster: numbering.broker_label(cluster.zookeeper.topics[0].states[partition].leader),
    )


def _isr(numbering: Numbering, partition: int, state: PartitionState, name: str) -> Fact:
    path = f"{TOPIC}.states[{partition}].isr"
    clauses = tuple(where(f"{path}{{{n}}}", int(real in state.isr)) for n, real in enumerate(numbering.brokers))
    return Fact(f"ISR of {name}", _list(state.isr), clauses, lambda cluster: _isr_label(cluster, numbering, partition))


def _isr_label(cluster: Cluster, numbering: Numbering, partition: int) -> str:
    isr = cluster.zookeeper.topics[0].states[partition].isr
    return _list(real for number, real in enumerate(numbering.brokers) if number in isr)


# Replicas.


def _replicas(capture: Capture, numbering: Numbering, partition: int) -> Iterator[Fact]:
    for number, real in enumerate(numbering.brokers):
        directory = capture.directory(real, numbering.topic, partition)
        identity = numbering.identity(directory.topic_id if directory else None)
        yield Fact(
            f"partition.metadata of {numbering.name}-{partition} on broker {real}",
            "no file" if identity == NONE else numbering.ids[identity],
            (where(f"brokers[{number}].replicas[0][{partition}].file_topic_id", identity),),
            _file(numbering, number, partition),
        )
    yield from _led(capture, numbering, partition)


def _file(numbering: Numbering, broker: int, partition: int) -> Look:
    def look(cluster: Cluster) -> str:
        found = cluster.brokers[broker].replicas[0][partition].file_topic_id
        return "no file" if found is None else numbering.id_label(found)

    return look


def _led(capture: Capture, numbering: Numbering, partition: int) -> Iterator[Fact]:
    """A leader that took up its leader epoch has it in its leader-epoch checkpoint; one without any cannot be asked."""
    topic = capture.topics.get(numbering.topic)
    state = topic.states.get(partition) if topic else None
    if state is None or state.leader is None or not capture.brokers[state.leader].alive:
        return
    directory = capture.directory(state.leader, numbering.topic, partition)
    has = directory.has_epoch(state.leader_epoch) if directory else None
    if has is not None:
        yield _leads(numbering, partition, state, has=has)


def _leads(numbering: Numbering, partition: int, state: PartitionState, *, has: bool) -> Fact:
    number, epoch = numbering.broker(state.leader), state.leader_epoch
    path = f"brokers[{number}].replicas[0][{partition}]"
    leads: tuple[Clause, ...] = (where(f"{path}.is_leader", 1), where(f"{path}.leader_epoch", epoch))
    other = frozenset({NONE, *range(numbering.most + 1)}) - {epoch}
    does_not: tuple[Clause, ...] = (((f"{path}.is_leader", frozenset({0})), (f"{path}.leader_epoch", other)),)

    def look(cluster: Cluster) -> str:
        replica = cluster.brokers[number].replicas[0][partition]
        return _taken(replica.is_leader and replica.leader_epoch == epoch, epoch)

    name = f"leader-epoch-checkpoint of {numbering.name}-{partition} on its leader {state.leader}"
    return Fact(name, _taken(has, epoch), leads if has else does_not, look)


def _taken(has: bool, epoch: int) -> str:
    return f"has leader epoch {epoch}" if has else f"lacks leader epoch {epoch}"


def _number(number: int | None) -> str:
    return "no state" if number is None else str(number)


def _list(brokers: Iterator[int] | tuple[int, ...]) -> str:
    return ", ".join(str(broker) for broker in sorted(brokers)) or NOBODY
