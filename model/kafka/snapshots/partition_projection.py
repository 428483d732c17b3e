"""What a capture shows of a topic's partitions and replicas, in the terms of the model: facts of a waypoint."""
from __future__ import annotations

from collections.abc import Iterator

from model.kafka.snapshots.capture import Capture, PartitionState
from model.kafka.snapshots.numbering import NOBODY, NONE, TOPIC, Look, Numbering
from model.kafka.state import Cluster
from model.language.series import Clause, Fact, where


def partition_facts(capture: Capture, numbering: Numbering, partition: int) -> Iterator[Fact]:
    """What ZooKeeper says of a partition."""
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
    if numbering.scope.reassignment and topic is not None and partition in topic.partitions:
        yield _replica_set(numbering, partition, topic.partitions[partition], name)


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


def _replica_set(numbering: Numbering, partition: int, replicas: tuple[int, ...], name: str) -> Fact:
    path = f"{TOPIC}.assignments[{partition}].replicas"
    clauses = tuple(where(f"{path}{{{n}}}", int(real in replicas)) for n, real in enumerate(numbering.brokers))

    def look(cluster: Cluster) -> str:
        assigned = cluster.zookeeper.topics[0].assignments[partition].replicas
        return _list(real for number, real in enumerate(numbering.brokers) if number in assigned)

    return Fact(f"replicas of {name}", _list(replicas), clauses, look)


def _isr_label(cluster: Cluster, numbering: Numbering, partition: int) -> str:
    isr = cluster.zookeeper.topics[0].states[partition].isr
    return _list(real for number, real in enumerate(numbering.brokers) if number in isr)


# Replicas.


def replica_facts(capture: Capture, numbering: Numbering, partition: int, life: int) -> Iterator[Fact]:
    """What the log directories of a partition say, in the life of that number."""
    for number, real in enumerate(numbering.brokers):
        directory = capture.directory(real, numbering.topic, partition)
        identity = numbering.identity(directory.topic_id if directory else None)
        yield Fact(
            f"partition.metadata of {numbering.name}-{partition} on broker {real}",
            "no file" if identity == NONE else numbering.ids[identity],
            (where(f"brokers[{number}].replicas[0][{partition}].file_topic_id", identity),),
            _file(numbering, number, partition),
        )
        if numbering.scope.flags["stop_replica"]:
            yield _directory(numbering, (number, real), partition, there=directory is not None)
    yield from _led(capture, numbering, partition, life)


def _directory(numbering: Numbering, broker: tuple[int, int], partition: int, *, there: bool) -> Fact:
    words, (number, real) = ("not there", "there"), broker
    return Fact(
        f"log directory of {numbering.name}-{partition} on broker {real}",
        words[there],
        (where(f"brokers[{number}].replicas[0][{partition}].on_disk", int(there)),),
        lambda cluster: words[cluster.brokers[number].replicas[0][partition].on_disk],
    )


def _file(numbering: Numbering, broker: int, partition: int) -> Look:
    def look(cluster: Cluster) -> str:
        found = cluster.brokers[broker].replicas[0][partition].file_topic_id
        return "no file" if found is None else numbering.id_label(found)

    return look


def _led(capture: Capture, numbering: Numbering, partition: int, life: int) -> Iterator[Fact]:
    """A leader that took up its leader epoch has it in its leader-epoch checkpoint; one without any cannot be asked.

    Nor can one whose log may be left over from an earlier topic of the name.
    """
    topic = capture.topics.get(numbering.topic)
    state = topic.states.get(partition) if topic else None
    if state is None or state.leader is None or not capture.brokers[state.leader].alive:
        return
    directory = capture.directory(state.leader, numbering.topic, partition)
    has = directory.has_epoch(state.leader_epoch) if directory else None
    if has is False or (has and life == 0):
        yield _leads(numbering, partition, state, has=has)


def _leads(numbering: Numbering, partition: int, state: PartitionState, *, has: bool) -> Fact:
    """One that took up the epoch leads; or it has started anew since, and does not host what it has loaded."""
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
        replica = cluster.brokers[number].replicas[0][partition]
        return _taken(replica.is_leader and replica.leader_epoch == epoch, epoch)

    name = f"leader-epoch-checkpoint of {numbering.name}-{partition} on its leader {state.leader}"
    return Fact(name, _taken(has, epoch), took if has else does_not, look)


def _taken(has: bool, epoch: int) -> str:
    return f"has leader epoch {epoch}" if has else f"lacks leader epoch {epoch}"


def _number(number: int | None) -> str:
    return "no state" if number is None else str(number)


def _list(brokers: Iterator[int] | tuple[int, ...]) -> str:
    return ", ".join(str(broker) for broker in sorted(brokers)) or NOBODY
