"""A snapshot as the beginning of a search through a migration to KRaft: the shortest way to a loss."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial

from attrs import evolve

from kwalk.invariants.reading.inspection import inspect_capture
from kwalk.invariants.reading.outlook import damaged_topics, first_modelled
from kwalk.model.kafka.broker.log import Commit, Record
from kwalk.model.kafka.domains import BROKERS, PARTITIONS
from kwalk.model.kafka.snapshots.capture import read_capture
from kwalk.model.kafka.snapshots.diagnosis import listed
from kwalk.model.kafka.snapshots.initial_state import InferredMemory, InferredState, arrange, focus_on, infer
from kwalk.model.kafka.snapshots.migration import migrating_release
from kwalk.model.kafka.snapshots.snapshot import reading_of
from kwalk.model.kafka.state import Cluster
from kwalk.model.language import Reading, UsageError
from kwalk.model.language.inspection import Prognosis, Severity
from kwalk.model.language.scenario import Steps

BOUNDS = {"failovers": 0, "records": 1, "strays": 1, "requests": 6, "events": 6, "leader_epochs": 9}
"""The roll fails the controller over by itself."""
FACTS = (
    "Assumed: each log of an ISR member has one record, which was acknowledged.",
    "The operator restarts one broker after the other, and waits each time until no replica is about to join the ISR; "
    "--flag patient_operator=off is one who does not wait.",
)
HARMS = (Prognosis.LOSES, Prognosis.STUCK)
"""What says without a search that a migration is not safe."""
CLAIMS = (
    "acknowledged_record_survives_migration",
    "live_log_is_not_set_aside",
    "migrating_cluster_has_a_controller",
)


def read_migration(source: str | os.PathLike[str] | bytes) -> Reading:
    """Read a capture (a JSON file, or its bytes) as the state in which a migration begins: the ISR has a record.

    Raises:
        UsageError: It cannot be read or modelled, or the cluster migrates already.
    """
    capture = read_capture(source)
    if capture.serves_in_kraft or capture.migration is not None:
        raise UsageError(
            "The cluster migrates already, or an attempt has left /migration, and a search begins before that. Leave "
            "out --forecast."
        )
    inspection = inspect_capture(capture)
    damaged = damaged_topics(capture, inspection)
    harms = [one.name for each in inspection.prospects for one in each.consequences if one.prognosis in HARMS]
    capture = evolve(capture, version=migrating_release(capture.version))
    names = [name for name in (*damaged, *sorted(capture.topics)) if name in capture.topics]
    topic, left = first_modelled(capture, names)
    if topic is None and left:
        raise UsageError(f"No topic of the snapshot can be searched. {left[0]}")
    if topic is None:
        raise UsageError("The cluster of the snapshot has no topic with partitions: nothing can be lost.")
    inferred = infer(capture, focus_on(capture, topic))
    reading = reading_of(capture, topic, Severity.NOTE)
    brokers = len(inferred.focus.brokers)
    return evolve(
        reading,
        bounds={**reading.bounds, **BOUNDS, "restarts": 2 * brokers, "controller_epochs": brokers + 3},
        initial=_initial(inferred),
        flags={"patient_operator": True},
        facts=(*left, *reading.facts, *FACTS),
        properties=CLAIMS,
        diagnose=partial(conclude, harms=tuple(harms)),
    )


def _initial(inferred: InferredState) -> Callable[..., None]:
    def snapshot(cluster: Cluster) -> None:
        _arrange(cluster, inferred)

    return snapshot


def _arrange(cluster: Cluster, inferred: InferredState) -> None:
    """Arrange what the capture shows, with a record in each log of the ISR."""
    arrange(cluster, inferred, InferredMemory.NO_ID)
    focus, znode = inferred.focus, cluster.zookeeper.topics[0]
    for number, partition in enumerate(focus.partitions):
        state, record = znode.states[number], Record(0, 0, 0)
        for broker, real in enumerate(focus.brokers):
            replica = cluster.replica_of(broker, 0, number)
            replica.on_disk = inferred.capture.directory(real, focus.topic.name, partition) is not None
            if replica.on_disk and broker in state.isr:
                replica.log.records.push(record)
                replica.log.checkpoint = 1
                replica.log.high_watermark = 1 if replica.log_open else 0
            if replica.is_leader:
                replica.replication.isr = state.isr
                for other in state.isr - {broker}:
                    replica.replication.remote_ends[other] = 1
            elif replica.log_open:
                replica.replication.leader = state.leader
        if any(not cluster.replica_of(broker, 0, number).log.records.is_empty for broker in BROKERS):
            cluster.commits[0][number].push(Commit(record, 0))
    for broker in BROKERS:
        context = cluster.controller_of(broker).topics[0]
        for number in PARTITIONS:
            if number < context.partition_count:
                context.leadership[number].isr = znode.states[number].isr


def conclude(steps: Steps | None, harms: Sequence[str] = ()) -> tuple[str, ...]:
    """Return what the search adds: whether a migration as it is documented loses something.

    Args:
        steps: The search's steps to a violation, or None if it found none.
        harms: The names of what a migration loses, or stops at, without a search.
    """
    if steps is not None:
        return ("A migration loses records: `kwalk diagnose --migration` says which, and what to do before it.",)
    others = f" A migration is not safe: `kwalk diagnose --migration` says why ({listed(harms)})." if harms else ""
    return (f"The search found no way in which a migration loses records of this topic within its bounds.{others}",)
