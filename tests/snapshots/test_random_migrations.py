"""What `kwalk diagnose --migration` says of random clusters, beside what the model makes of them, and an oracle."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from kwalk.invariants.reading.claims import OF_RECORDS
from kwalk.invariants.reading.inspection import inspect_capture
from kwalk.invariants.reading.partition_groups import groups_of, parts_of
from kwalk.model.kafka.migration.log_manager import Fate
from kwalk.model.kafka.migration.zk_topic_migration_client import partition_registration
from kwalk.model.kafka.snapshots.capture import Capture, read_capture
from kwalk.model.kafka.snapshots.migration import Migrated, NotAtRest, documented_migration, roll, settle
from kwalk.model.kafka.snapshots.worlds import ClusterPart, world_of
from kwalk.model.kafka.state import Cluster
from kwalk.model.language import Model, UsageError
from kwalk.model.language.inspection import Prognosis
from tests.snapshots.random_migrations import DUAL_WRITE, harms, phase_of, random_migration

RELEASES = ("3.4.1", "3.6.2", "3.9.0")
SEEDS, OUTDATED = 20, 13


def harms_in_the_model(capture: Capture) -> list[str]:
    """Return which partitions may lose records, or get foreign ones, when the model migrates the cluster."""
    groups, _ = groups_of(capture, sorted(capture.topics))
    return [f"{part.name}: {text}" for part in parts_of(groups) for text in dict.fromkeys(_of_part(capture, part))]


def _of_part(capture: Capture, part: ClusterPart) -> Iterator[str]:
    world = world_of(part, OF_RECORDS, ())
    for vector in world.initial:
        yield from harms_of(world.model, world.model.state(vector), capture.version, is_rolled=bool(capture.migration))


def harms_of(model: Model, cluster: Cluster, release: str, *, is_rolled: bool = False) -> Iterator[str]:
    """Yield what a migration does to the records of the first partition in a state of a model."""
    with model.active():
        try:
            settle(model, cluster)
            if not is_rolled:
                roll(model, cluster, starts=True)
        except NotAtRest:
            return
        registered = partition_registration(cluster, 0, 0)
        if registered is None:
            yield "it has no id"
            return
        lacking = [b for b in registered.isr if _lacks(cluster, b)]
        foreign = [b for b in registered.isr if _has_foreign_records(cluster, b)]
        hosts = frozenset(b for b in registered.isr if cluster.replica_of(b, 0, 0).on_disk)
        ids = tuple(cluster.replica_of(b, 0, 0).file_topic_id for b in range(len(cluster.brokers)))
    migrated = Migrated(registered.topic_id, False, registered, ids, hosts)
    fates = documented_migration(release).fates(migrated, (True,) * len(ids))
    yield from ["a member of the ISR lacks records"] * bool(lacking)
    yield from ["a member of the ISR has foreign records"] * bool(foreign)
    yield from ["a log is removed"] * any(fate is not Fate.KEPT for fate in fates.values())


def _has_foreign_records(cluster: Cluster, broker: int) -> bool:
    own = cluster.zookeeper.topics[0].incarnation
    return any(record.incarnation != own for record in _records(cluster, broker))


def _records(cluster: Cluster, broker: int) -> list[Any]:
    return list(cluster.replica_of(broker, 0, 0).log.records)


def _lacks(cluster: Cluster, broker: int) -> bool:
    return any(commit.record not in _records(cluster, broker) for commit in cluster.commits[0][0])


def judged(release: str, seed: int) -> tuple[Prognosis, list[str]]:
    """Return the prognosis of a random cluster, and what harms it."""
    snapshot = random_migration(release, seed)
    found, capture = harms(snapshot), read_capture(json.dumps(snapshot).encode())
    (prospect,) = inspect_capture(capture).prospects
    if prospect.prognosis is Prognosis.READY and phase_of(snapshot) != DUAL_WRITE:
        try:
            found += harms_in_the_model(capture)
        except UsageError as error:
            found.append(str(error))
    return prospect.prognosis, found


@pytest.mark.parametrize("release", RELEASES)
def test_what_is_ready_loses_nothing_in_a_migration(release: str) -> None:
    answers = {seed: judged(release, seed) for seed in range(SEEDS)}
    wrong = {seed: found for seed, (prognosis, found) in answers.items() if prognosis is Prognosis.READY and found}
    assert not wrong
    assert any(not found for _, found in answers.values()), "each of these clusters is harmed"
    assert sum(bool(found) for _, found in answers.values()) >= SEEDS // 2, "few of these clusters are harmed"


def test_without_a_look_at_leader_epochs_a_cluster_is_ready_that_loses_records(monkeypatch) -> None:
    """A member of the ISR has an old copy of the log, and leads when the leader restarts."""
    prognosis, found = judged("3.9.0", OUTDATED)
    assert prognosis is Prognosis.UNKNOWN and found
    monkeypatch.setattr("kwalk.model.kafka.snapshots.lineage._outdated_members", lambda *_: {})
    assert judged("3.9.0", OUTDATED)[0] is Prognosis.READY
