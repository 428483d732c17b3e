"""What a capture shows, in the terms of the model: facts of a waypoint about the cluster and the topic as a whole."""
from __future__ import annotations

from collections.abc import Iterator

from attrs import evolve

from model.kafka.controller_context import Step
from model.kafka.snapshots.capture import Capture
from model.kafka.snapshots.numbering import NONE, TOPIC, Numbering
from model.kafka.snapshots.partition_projection import partition_facts, replica_facts
from model.kafka.state import Cluster, Session
from model.language.series import Clause, Fact, where

ZOOKEEPER = 50
"""How much more it says to differ in ZooKeeper than in a file."""


def facts_of(capture: Capture, numbering: Numbering, life: int) -> tuple[Fact, ...]:
    """All that a capture shows of the topic, in the life of that number, and of its cluster."""
    in_zookeeper = (
        *_cluster(capture, numbering),
        *_topic(capture, numbering, life),
        *(fact for p in range(numbering.partitions) for fact in partition_facts(capture, numbering, p)),
    )
    return (
        *(evolve(fact, weight=ZOOKEEPER) for fact in in_zookeeper),
        *(fact for p in range(numbering.partitions) for fact in replica_facts(capture, numbering, p, life)),
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
        yield _broker(capture, numbering, number, real)


SESSIONS = {Session.LIVE: "down", Session.EXPIRED: "its session expired", Session.RENEWED: "its session expired"}


def _broker(capture: Capture, numbering: Numbering, number: int, real: int) -> Fact:
    """A broker is up as long as it is registered: before its session expires nobody knows that it is not."""
    up, runs = real in capture.registered, capture.brokers[real].alive
    clauses: tuple[Clause, ...] = (where(f"zookeeper.broker_ids{{{number}}}", int(up)),)
    if numbering.scope.sessions and not up:
        sessions = [n for n, session in enumerate(Session) if (session is not Session.LIVE) == runs]
        clauses = (*clauses, where(f"brokers[{number}].session", *sessions))

    def look(cluster: Cluster) -> str:
        return "up" if cluster.is_registered(number) else SESSIONS[cluster.brokers[number].session]

    shown = "up" if up else SESSIONS[Session.EXPIRED] if runs and numbering.scope.sessions else "down"
    return Fact(f"broker {real}", shown, clauses, look)


# The topic.


def _topic(capture: Capture, numbering: Numbering, life: int) -> Iterator[Fact]:
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
    if life == 0 and topic is not None:
        yield from _sent(capture, numbering)


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
