"""Clusters that migrate: where they are, what would stop them, what a rollback would lose, what was set aside."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kwalk.invariants.reading.inspection import inspect_snapshot
from kwalk.invariants.reading.migrating import MigrationPhase, phase_of
from kwalk.model.kafka.snapshots.capture import read_capture
from kwalk.model.language import UsageError
from kwalk.model.language.inspection import Consequence, Prognosis, Prospect
from kwalk.reports.command_line import main
from tests.snapshots.test_migration import healthy

LOSES, STUCK, WAITS, UNKNOWN, READY = Prognosis
ID = "Yo-ugbuTTvCSC_ZyqKVEaw"
OTHER = "hbcto079Q-K_O7AoNlw-Ig"
STRAY = f"t0-0.{'a' * 32}-stray"


def state_of(offset: int) -> dict[str, int]:
    return {
        "kraft_metadata_offset": offset,
        "kraft_metadata_epoch": 4,
        "kraft_controller_id": 3000,
        "kraft_controller_epoch": 4,
    }


def image() -> dict[str, Any]:
    """An image that agrees with ZooKeeper and the logs; brokers are in ZooKeeper mode."""
    partition = {
        "replicas": [1, 3],
        "isr": [1, 3],
        "leader": 1,
        "leader_epoch": 4,
        "adding_replicas": [],
        "removing_replicas": [],
    }
    return {
        "end_offset": 99,
        "state": "MIGRATION",
        "metadata_version": 21,
        "open_transaction": False,
        "brokers": {str(b): {"migrating": True, "fenced": False} for b in (1, 2, 3)},
        "topics": {"t0": {"topic_id": ID, "partitions": {"0": partition}}},
    }


def dual_write() -> dict[str, Any]:
    cluster = healthy()
    for broker in cluster["brokers"].values():
        broker["mode"] = "migrating"
    leads = {"controller": 3000, "kraft_controller_epoch": 4, "controller_epoch": 9}
    return {**cluster, **leads, "migration": state_of(98), "image": image()}


def prospect_of(cluster: dict[str, Any]) -> Prospect:
    (found,) = inspect_snapshot(json.dumps(cluster).encode()).prospects
    return found


def consequence(cluster: dict[str, Any], name: str) -> Consequence:
    (found,) = (one for one in prospect_of(cluster).consequences if one.name == name)
    return found


def names(cluster: dict[str, Any]) -> set[str]:
    return {one.name for one in prospect_of(cluster).consequences}


@pytest.mark.parametrize(
    ("changes", "phase"),
    [
        ({"controller": 1, "kraft_controller_epoch": -1, "migration": None, "image": None}, MigrationPhase.NOT_BEGUN),
        ({"controller": 1, "kraft_controller_epoch": -1, "migration": state_of(-1)}, MigrationPhase.WAITING),
        ({"controller": 1, "kraft_controller_epoch": -1}, MigrationPhase.LEFT),
        ({"migration": state_of(-1)}, MigrationPhase.COPYING),
        ({}, MigrationPhase.DUAL_WRITE),
        ({"image": {**image(), "state": "POST_MIGRATION"}}, MigrationPhase.FINALIZED),
    ],
)
def test_the_phase_of_a_migration(changes: dict[str, Any], phase: MigrationPhase) -> None:
    assert phase_of(read_capture(json.dumps({**dual_write(), **changes}).encode())) is phase


def test_in_dual_write_only_the_migration_is_judged() -> None:
    found = inspect_snapshot(json.dumps(dual_write()).encode())
    assert {kind.name for kind in found.by_kind()} == {"controller-is-no-broker"}
    (prospect,) = found.prospects
    assert prospect.title == "The migration to KRaft is in dual write"
    assert (prospect.prognosis, names(dual_write())) == (READY, {"brokers-in-zookeeper-mode"})
    assert prospect.notes[0] == "/migration: ZooKeeper has what KRaft's log has up to offset 98."


def test_an_id_that_an_old_client_erased_stops_the_next_controller_and_the_znode_is_named() -> None:
    cluster = dual_write()
    znode = cluster["topics"]["t0"]["znode"]
    del znode["topic_id"]
    znode["partitions"]["1"] = [1, 3]
    found = consequence(cluster, "topic-without-id-stops-kraft")
    assert found.prognosis is STUCK
    assert found.places == (f"t0: KRaft has the id {ID}; partitions 1 are in ZooKeeper only, and never exist",)
    (command,) = found.commands
    assert command == (
        "bin/zookeeper-shell.sh ZK set /brokers/topics/t0 '"
        f'{{"version":3,"topic_id":"{ID}","partitions":{{"0":[1,3]}},"adding_replicas":{{}},"removing_replicas":{{}}}}\''
    )
    copying = {**cluster, "migration": state_of(-1), "image": None}
    assert "the cluster has no controller" in consequence(copying, "topic-without-id-stops-kraft").text
    assert ID in consequence(copying, "topic-without-id-stops-kraft").commands[0]


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"replicas": [1, 2]}, "t0-0: has the replicas 1 and 2 in KRaft, and 1 and 3 in ZooKeeper"),
        ({"leader_epoch": 9}, "t0-0: leader epoch 9 in KRaft, and 4 in ZooKeeper"),
    ],
)
def test_what_zookeeper_lacks_would_be_lost_in_a_rollback(change: dict[str, Any], place: str) -> None:
    cluster = dual_write()
    cluster["image"]["topics"]["t0"]["partitions"]["0"] |= change
    assert consequence(cluster, "rollback-loses").places == (place,)


def test_topics_that_only_one_of_both_has() -> None:
    cluster = dual_write()
    topics = cluster["image"]["topics"]
    topics["new"] = {"topic_id": OTHER, "partitions": topics["t0"]["partitions"]}
    assert consequence(cluster, "rollback-loses").places == ("new: is not in ZooKeeper",)
    cluster["image"]["topics"] = {}
    places = consequence(cluster, "rollback-loses").places
    assert places == ("t0: is in ZooKeeper only, and does not exist for brokers",)


def test_after_the_end_there_is_no_rollback() -> None:
    cluster = dual_write()
    cluster["image"] |= {"state": "POST_MIGRATION", "topics": {}}
    assert consequence(cluster, "rollback-loses").way_out == "do not roll back"
    assert consequence(cluster, "finalized-too-early").prognosis is STUCK


def test_state_znodes_with_an_epoch_above_zookeepers_stop_elections_after_a_rollback() -> None:
    cluster = {**dual_write(), "controller_epoch": 1}
    found = consequence(cluster, "rollback-stops-elections")
    assert found.places == ("/controller_epoch is 1; state znodes have a higher one: t0-0",)


def test_a_log_with_another_id_goes_when_its_broker_starts_in_kraft_mode() -> None:
    cluster = dual_write()
    log = cluster["brokers"]["3"]["dirs"]["t0-0"]
    log["partition_metadata"] = f"version: 0\ntopic_id: {OTHER}"
    found = consequence(cluster, "log-goes-at-kraft-start")
    assert found.places == (
        f"t0-0 on broker 3: has the id {OTHER}; KRaft has {ID}; it is set aside when the broker starts in KRaft mode",
    )
    cluster["brokers"]["3"]["mode"] = "kraft"
    assert "log-goes-at-kraft-start" not in names(cluster)


def test_logs_that_were_set_aside_are_listed_with_the_way_back() -> None:
    cluster = dual_write()
    aside = dict(cluster["brokers"]["1"]["dirs"]["t0-0"], partition_metadata=f"version: 0\ntopic_id: {OTHER}")
    cluster["brokers"]["1"]["set_aside"] = {STRAY: aside}
    found = consequence(cluster, "log-was-set-aside")
    assert found.places == (f"t0-0 on broker 1: has the id {OTHER}, KRaft has {ID}",)
    assert found.commands[1:-1] == (
        f"mv t0-0 BACKUP; mv {STRAY} t0-0   # in LOG_DIR of broker 1",
        f"printf 'version: 0\\ntopic_id: {ID}' > t0-0/partition.metadata",
    )
    aside["files"] = {"00000000000000000000.log": 0}
    assert "log-was-set-aside" not in names(cluster)


def test_a_fenced_broker_with_replicas_is_waited_for() -> None:
    cluster = dual_write()
    cluster["image"]["brokers"]["3"]["fenced"] = True
    assert consequence(cluster, "broker-is-fenced").places == ("broker 3",)


def test_without_the_image_or_log_directories_it_is_not_ready() -> None:
    cluster = {**dual_write(), "image": None}
    assert prospect_of(cluster).prognosis is UNKNOWN
    cluster = dual_write()
    cluster["brokers"]["2"] |= {"dirs": None, "log_dirs": None}
    assert consequence(cluster, "not-judged").places == ("the snapshot has no log directories of broker 2",)


def test_a_left_migration_makes_the_next_one_skip_the_copy() -> None:
    cluster = {**healthy(), "migration": state_of(120)}
    found = consequence(cluster, "copy-is-skipped")
    assert (found.prognosis, found.commands[-1]) == (LOSES, "bin/zookeeper-shell.sh ZK delete /migration")
    assert names({**healthy(), "migration": state_of(-1)}) == set()


def test_what_is_no_mode_is_refused() -> None:
    cluster = dual_write()
    cluster["brokers"]["1"]["mode"] = "hybrid"
    with pytest.raises(UsageError, match="is no mode of a broker"):
        read_capture(json.dumps(cluster).encode())


def test_the_command_on_a_migrating_cluster(tmp_path, capsys) -> None:
    path = tmp_path / "migrating.json"
    path.write_text(json.dumps({**dual_write(), "controller_epoch": 1}))
    assert main(["inspect", str(path), "--migration"]) == 12
    shown = capsys.readouterr().out
    assert "The migration to KRaft is in dual write: STUCK" in shown and "(rollback-stops-elections)" in shown
