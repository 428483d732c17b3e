"""Clusters that migrate: where they are, what would stop them, what a rollback would lose, what was set aside."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from kwalk.clusters.handlers.recover import exit_code, recovery_object
from kwalk.invariants.reading.inspection import inspect_snapshot
from kwalk.invariants.reading.migrating import MigrationPhase, phase_of
from kwalk.invariants.reading.migrating_recovery import OF_EPOCHS
from kwalk.invariants.reading.outlook import read_snapshot, recovery_problem
from kwalk.model.kafka.snapshots.capture import read_capture
from kwalk.model.language import UsageError
from kwalk.model.language.inspection import Consequence, Prognosis, Prospect
from kwalk.model.language.recovery import Move, Problem
from kwalk.reports.command_line import main
from kwalk.search.analyses.recovery import Recovery, plan_recovery
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
    assert not found.by_kind()
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
        ({"leader_epoch": 9}, "t0-0: has leader epoch 9 in KRaft, and 4 in ZooKeeper"),
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
    cluster["brokers"]["3"]["mode"] = "kraft"  # it may have been edited or attached since
    assert consequence(cluster, "log-goes-at-kraft-start").places == found.places


def test_leaders_and_reassignments_that_only_zookeeper_has_are_differences() -> None:
    cluster = dual_write()
    cluster["topics"]["t0"]["partition_state"]["0"]["leader"] = 3
    cluster["topics"]["t0"]["znode"]["removing_replicas"] = {"0": [3]}
    assert consequence(cluster, "rollback-loses").places == (
        "t0-0: is being reassigned in ZooKeeper only",
        "t0-0: has the leader 1 in KRaft, and 3 in ZooKeeper",
    )
    cluster = dual_write()
    cluster["topics"]["t0"]["partition_state"]["1"] = cluster["topics"]["t0"]["partition_state"]["0"]
    assert consequence(cluster, "rollback-loses").places[0].startswith("t0-1: is in ZooKeeper only")


def test_a_broker_that_does_not_run_is_waited_for_before_it_is_fenced() -> None:
    cluster = dual_write()
    cluster["brokers"]["3"]["alive"] = False
    cluster["broker_ids"].remove(3)
    assert consequence(cluster, "broker-is-fenced").places == ("broker 3",)


def test_a_partition_that_only_zookeeper_has_does_not_exist_for_brokers() -> None:
    cluster = dual_write()
    cluster["topics"]["t0"]["znode"]["partitions"]["1"] = [1, 3]
    cluster["topics"]["t0"]["partition_state"]["1"] = cluster["topics"]["t0"]["partition_state"]["0"]
    place = "t0-1: is in ZooKeeper only, and does not exist for brokers"
    assert consequence(cluster, "rollback-loses").places == (place,)
    log = cluster["brokers"]["3"]["dirs"]["t0-0"]
    cluster["brokers"]["3"]["dirs"]["t0-1"] = {**log, "leader_epoch_checkpoint": "0\n1\n4 0\n"}
    (left,) = consequence(cluster, "log-goes-at-kraft-start").places
    assert "KRaft does not have the partition" in left


def test_logs_that_were_set_aside_are_listed_with_the_way_back() -> None:
    cluster = dual_write()
    aside = dict(cluster["brokers"]["1"]["dirs"]["t0-0"], partition_metadata=f"version: 0\ntopic_id: {OTHER}")
    cluster["brokers"]["1"]["set_aside"] = {STRAY: aside}
    found = consequence(cluster, "log-was-set-aside")
    assert found.places == (f"t0-0 on broker 1: has the id {OTHER}, KRaft has {ID}",)
    assert "kwalk diagnose --plan" in found.way_out
    aside["files"] = {"00000000000000000000.log": 0}
    assert "log-was-set-aside" not in names(cluster)


def test_a_fenced_broker_with_replicas_is_waited_for() -> None:
    cluster = dual_write()
    cluster["image"]["brokers"]["3"]["fenced"] = True
    cluster["broker_ids"].remove(3)
    cluster["brokers"]["3"]["alive"] = False
    assert consequence(cluster, "broker-is-fenced").places == ("broker 3",)


def test_without_the_image_or_log_directories_it_is_not_ready(tmp_path) -> None:
    cluster = {**dual_write(), "image": None}
    assert consequence(cluster, "image-is-not-shown").prognosis is UNKNOWN
    path = tmp_path / "without-image.json"
    path.write_text(json.dumps(cluster))
    assert main(["diagnose", str(path)]) == 13 and main(["diagnose", str(path), "--migration"]) == 3
    assert {kind.name for kind in inspect_snapshot(path).by_kind()} == {"migration-is-not-shown"}
    cluster = dual_write()
    cluster["brokers"]["2"] |= {"dirs": None, "log_dirs": None}
    (place,) = consequence(cluster, "not-judged").places
    assert place.startswith("No log directories of broker 2 are in the snapshot")


@pytest.mark.parametrize("known", [None, {**image(), "state": "PRE_MIGRATION", "topics": {}}])
def test_a_copy_that_has_not_ended_is_not_ready(known: dict[str, Any] | None) -> None:
    cluster = {**dual_write(), "migration": state_of(-1), "image": known}
    assert (prospect_of(cluster).prognosis, names(cluster)) == (UNKNOWN, {"copy-has-not-ended"})


def test_a_topic_without_partitions_and_id_stops_kraft_like_any_other() -> None:
    """KRaft's controller reads the id of each topic before its partitions."""
    cluster = dual_write()
    znode = {**cluster["topics"]["t0"]["znode"], "partitions": {}, "topic_id": None}
    cluster["topics"]["empty"] = {**cluster["topics"]["t0"], "znode": znode, "partition_state": {}}
    assert consequence(cluster, "topic-without-id-stops-kraft").prognosis is STUCK


def test_requests_in_zookeeper_come_back_in_a_rollback() -> None:
    cluster = {**dual_write(), "reassign_partitions": {"t0": [0]}, "preferred_replica_election": {"t0": [0]}}
    found = consequence(cluster, "requests-are-not-copied")
    assert found.places == ("/admin/preferred_replica_election names t0-0", "/admin/reassign_partitions names t0-0")
    assert prospect_of(cluster).prognosis is READY and len(found.commands) == 2
    cluster["topics"]["t0"]["partition_state"] = {}
    for number in (1, 3):
        cluster["brokers"][str(number)]["alive"] = False
    assert consequence(cluster, "rollback-has-no-controller").places == ("t0-0 never had a leader",)


@pytest.mark.parametrize(
    ("epochs", "isr", "place"),
    [
        ("0\n2\n0 0\n3 1\n", [1, 3], "t0-0: brokers 1 and 3: the records at offset 1 have different leader epochs"),
        ("0\n2\n0 0\n4 1\n", [1], "t0-0: the leader lacks what broker 3 has committed from offset 1 on"),
    ],
)
def test_logs_with_different_records_lose_some_in_dual_write(epochs: str, isr: list[int], place: str) -> None:
    """As in ZooKeeper mode, where inspections have kinds for it: KRaft elects any member of the ISR, too."""
    cluster = dual_write()
    for holder in (
        cluster["image"]["topics"]["t0"]["partitions"]["0"],
        cluster["topics"]["t0"]["partition_state"]["0"],
    ):
        holder["isr"] = isr
    for number, lines in ((1, "0\n2\n0 0\n2 1\n"), (3, epochs)):
        log = cluster["brokers"][str(number)]["dirs"]["t0-0"]
        log |= {"leader_epoch_checkpoint": lines, "high_watermark": 3, "files": {f"{0:020}.log": 300}}
    assert place in consequence(cluster, "replicas-have-different-records").places


def test_logs_with_later_leader_epochs_than_kraft_are_not_ready() -> None:
    cluster = dual_write()
    cluster["brokers"]["3"]["dirs"]["t0-0"]["leader_epoch_checkpoint"] = "0\n1\n7 0\n"
    place = "t0-0: the log of broker 3 has leader epoch 7, and KRaft 4"
    assert place in consequence(cluster, "not-judged").places


@pytest.mark.parametrize(
    ("identity", "name"), [(OTHER, "copy-takes-the-log-along"), (None, "full-request-fails"), (ID, None)]
)
def test_a_copy_to_another_log_directory_is_a_log_for_kraft(identity: str | None, name: str | None) -> None:
    for cluster in (dual_write(), healthy()):
        copy = dict(cluster["brokers"]["1"]["dirs"]["t0-0"])
        copy["partition_metadata"] = identity and f"version: 0\ntopic_id: {identity}"
        cluster["brokers"]["1"]["set_aside"] = {f"t0-0.{'a' * 32}-future": copy}
        assert (name is None or name in names(cluster)) and ("copy-takes-the-log-along" in names(cluster)) is (
            identity == OTHER
        )


def test_a_left_migration_makes_the_next_one_skip_the_copy() -> None:
    cluster = {**healthy(), "migration": state_of(120)}
    found = consequence(cluster, "copy-is-skipped")
    assert (found.prognosis, found.commands[-1]) == (LOSES, "bin/zookeeper-shell.sh ZK delete /migration")
    assert names({**healthy(), "migration": state_of(-1)}) == {"settings-are-not-shown"}


def test_what_is_no_mode_is_refused() -> None:
    cluster = dual_write()
    cluster["brokers"]["1"]["mode"] = "hybrid"
    with pytest.raises(UsageError, match="is no mode of a broker"):
        read_capture(json.dumps(cluster).encode())


def test_the_command_on_a_migrating_cluster(tmp_path, capsys) -> None:
    path = tmp_path / "migrating.json"
    path.write_text(json.dumps({**dual_write(), "controller_epoch": 1}))
    assert main(["diagnose", str(path), "--migration"]) == 12
    shown = capsys.readouterr().out
    assert "The migration to KRaft is in dual write: STUCK" in shown and "(rollback-stops-elections)" in shown


# Snapshots of real migrations, which the lab has taken in each phase.

MIGRATING = Path(__file__).parent / "migrating"
SEEN: dict[str, tuple[set[str], str, tuple[str, ...]]] = {
    "answer-lost-00-dual-write-3.9.0": (set(), "nothing to do", ()),
    "answer-lost-01-an-answer-was-lost-3.9.0": ({"rollback-loses"}, "plan", ("restart-controller",)),
    "answer-lost-03-after-the-way-out-3.9.0": (set(), "nothing to do", ()),
    "careless-rollback-of-kraft-brokers-00-kraft-mode-3.9.0": (set(), "nothing to do", ()),
    "controller-restarts-01-deleted-3.4.1": ({"rollback-loses", "controller-copies-again"}, "not covered", ()),
    "erased-id-00-dual-write-3.9.0": (
        {"log-was-set-aside", "log-goes-at-kraft-start"},
        "plan",
        ("bring-logs-back t0 1 2",),
    ),
    "erased-id-01-end-3.9.0": ({"log-was-set-aside"}, "plan", ("bring-logs-back t0 1 2",)),
    "erased-id-02-after-the-way-out-3.9.0": (set(), "nothing to do", ()),
    "finalized-too-early-02-finalized-3.9.0": ({"finalized-too-early"}, "not covered", ()),
    "finalized-too-early-04-after-the-way-out-3.9.0": (set(), "nothing to do", ()),
    "killed-after-copy-00-waiting-3.9.0": (set(), "nothing to do", ()),
    "killed-after-copy-01-copied-3.4.1": (set(), "nothing to do", ()),
    "killed-after-copy-02-the-controller-has-restarted-3.9.0": (
        {"copy-was-not-recorded"},
        "plan",
        ("write-migration", "restart-controller"),
    ),
    "killed-after-copy-03-after-the-way-out-3.9.0": (set(), "nothing to do", ()),
    "partition-not-written-00-dual-write-3.6.2": (set(), "nothing to do", ()),
    "partition-not-written-01-the-controller-has-restarted-3.6.2": (
        {"rollback-loses", "comparison-leaves-zookeeper-behind"},
        "plan",
        ("create-state-znodes t0", "restart-controller"),
    ),
    "partition-not-written-02-a-leader-has-crashed-3.6.2": (
        {"rollback-loses", "comparison-fails"},
        "plan",
        ("create-state-znodes t0", "restart-controller"),
    ),
    "partition-not-written-01-the-controller-has-restarted-3.9.0": (
        {"rollback-loses", "comparison-fails"},
        "plan",
        ("create-state-znodes t0", "restart-controller"),
    ),
    "partition-not-written-03-after-the-way-out-3.9.0": (set(), "nothing to do", ()),
    "recreation-not-written-01-the-controller-has-restarted-3.9.0": (
        {"rollback-loses"},
        "plan",
        ("restart-controller",),
    ),
    "recreation-not-written-03-after-the-way-out-3.9.0": (set(), "nothing to do", ()),
    "rollback-with-higher-epoch-00-dual-write-3.9.0": ({"rollback-stops-elections"}, "nothing to do", ()),
}
"""By snapshot: what harms the cluster, the answer of `kwalk diagnose --plan`, and its plan."""


def harms(found: Prospect) -> set[str]:
    return {one.name for one in found.consequences if one.prognosis in (LOSES, STUCK)}


def test_every_snapshot_of_a_real_migration_has_an_expected_answer() -> None:
    assert {path.stem for path in MIGRATING.glob("*.json")} == SEEN.keys()


@pytest.mark.parametrize("name", sorted(SEEN))
def test_real_migrations_are_diagnosed_and_get_the_plan_that_worked(name: str) -> None:
    """The steps are those that the lab carried out: the migration went on, and every record was kept."""
    path = MIGRATING / f"{name}.json"
    expected, answer, steps = SEEN[name]
    inspection = inspect_snapshot(path)
    assert harms(inspection.prospects[0]) == expected
    assert (inspection.exit_code == 0) == (not expected)
    recovery = plan_recovery(recovery_problem(path), seconds=60)
    planned = () if recovery.plan is None else tuple(one.name for one in recovery.plan.procedures)
    assert planned == steps
    shown = recovery_object(recovery, str(path))["carried_out"]
    assert bool(shown) == (bool(steps) and steps[0].startswith("bring-logs-back"))
    assert recovery_object(recovery, str(path))["answer"] == answer


def test_an_erased_id_in_dual_write_gets_a_plan_that_writes_the_content_back() -> None:
    """The next controller would fail to compare; the driver may have failed already."""
    cluster = json.loads((MIGRATING / "partition-not-written-00-dual-write-3.6.2.json").read_text())
    znode = cluster["topics"]["t0"]["znode"]
    del znode["topic_id"]
    znode["partitions"] = {**znode["partitions"], "1": [2, 1]}
    problem = recovery_problem(json.dumps(cluster).encode())
    plan = plan_recovery(problem, seconds=60).plan
    assert plan is not None
    names = [one.name for one in plan.procedures]
    assert names[0] == "write-content t0"
    known = cluster["image"]["topics"]["t0"]
    assert json.dumps(known["topic_id"]) in " ".join(plan.procedures[0].commands) and known["topic_id"]


def test_a_plan_is_not_made_of_what_the_snapshot_does_not_show() -> None:
    cluster = json.loads((MIGRATING / "answer-lost-01-an-answer-was-lost-3.9.0.json").read_text())
    del cluster["image"]
    problem = recovery_problem(json.dumps(cluster).encode())
    assert problem.worlds == () and "no image of KRaft" in problem.notes[0]


# Logs that were set aside, brought back.


def taken_logs(name: str = "erased-id-01-end-3.9.0") -> dict[str, Any]:
    """A topic whose id was erased: both brokers have set its logs aside, and its new ones have a record."""
    return json.loads((MIGRATING / f"{name}.json").read_text())


def stray(cluster: dict[str, Any], broker: str, partition: str) -> dict[str, Any]:
    aside = cluster["brokers"][broker]["set_aside"]
    return next(log for name, log in aside.items() if name.startswith(f"{partition}."))


def answer_to(cluster: dict[str, Any]) -> Recovery:
    return plan_recovery(recovery_problem(json.dumps(cluster).encode()), seconds=60)


def planned(found: Recovery) -> tuple[str, ...] | None:
    return None if found.plan is None else tuple(one.name for one in found.plan.procedures)


def lengthen(log: dict[str, Any]) -> None:
    log["files"] = {"00000000000000000000.log": 999}


def test_the_plan_says_that_records_since_are_given_up_and_the_operator_has_the_choice() -> None:
    found = answer_to(taken_logs())
    assert found.plan is not None and not found.problem.keeps.startswith("safe")
    assert "in BACKUP only" in found.problem.keeps and found.problem.premise.startswith("to bring back the records")
    (other,) = found.alternatives
    assert other.healthy and other.problem.premise.startswith("to leave topic t0 the records that it has now")


def test_with_empty_new_logs_the_plan_is_safe() -> None:
    cluster = taken_logs()
    for broker in ("1", "2"):
        for name, log in cluster["brokers"][broker]["dirs"].items():
            if name.startswith("t0-"):
                log |= {"files": {"00000000000000000000.log": 0}, "first_batch": None, "recovery_point": 0}
                log |= {"leader_epoch_checkpoint": None, "high_watermark": 0}
    found = answer_to(cluster)
    assert planned(found) == ("bring-logs-back t0 1 2",) and found.problem.keeps.startswith("safe")


@pytest.mark.parametrize(("longer", "first"), [("1", "1 2"), ("2", "2 1")])
def test_the_broker_with_the_longest_former_log_starts_first(longer: str, first: str) -> None:
    cluster = taken_logs()
    for partition in ("t0-0", "t0-1", "t0-2"):
        lengthen(stray(cluster, longer, partition))
    assert planned(answer_to(cluster)) == (f"bring-logs-back t0 {first}",)


def test_a_replica_with_a_longer_former_log_gets_into_the_isr_first() -> None:
    """Broker 2 is the only ISR member, and broker 1 has more: a full request lets it begin anew, and join the ISR."""
    cluster = taken_logs("erased-id-00-dual-write-3.9.0")
    for partition in ("t0-0", "t0-1", "t0-2"):
        lengthen(cluster["brokers"]["1"]["dirs"][partition])
    steps = planned(answer_to(cluster))
    assert steps is not None and set(steps[:-1]) == {"restart-controller"} and steps[-1] == "bring-logs-back t0 1 2"


def test_where_each_broker_has_the_longest_log_of_a_partition_no_plan_is_safe() -> None:
    """One of the logs would be truncated, whichever broker starts first."""
    cluster = taken_logs()
    lengthen(stray(cluster, "1", "t0-0"))
    lengthen(stray(cluster, "2", "t0-1"))
    found = answer_to(cluster)
    assert found.plan is None and found.complete
    assert any("acknowledged_record_survives_migration" in one.violated for one in found.defeats)


def test_where_no_size_shows_which_former_log_is_the_longest_no_plan_is_safe() -> None:
    cluster = taken_logs()
    stray(cluster, "1", "t0-0")["files"] = None
    assert planned(answer_to(cluster)) is None


def test_before_any_log_is_set_aside_the_plan_is_safe_and_nothing_else_is_offered() -> None:
    """As 3.5.2 leaves it until brokers start in KRaft mode, which deletes the logs."""
    cluster = taken_logs("erased-id-00-dual-write-3.9.0") | {"version": "3.5.2"}
    broker = cluster["brokers"]["2"]
    for name, log in broker.pop("set_aside").items():
        broker["dirs"][name.split(".")[0]] |= log
    found = answer_to(cluster)
    assert planned(found) == ("bring-logs-back t0 1 2",)
    assert found.problem.keeps.startswith("safe") and not found.alternatives


def test_who_leaves_the_former_logs_is_told_that_some_still_go() -> None:
    (other,) = recovery_problem(MIGRATING / "erased-id-00-dual-write-3.9.0.json").alternatives
    assert any("before 3.7 deleted" in note for note in other.notes)


def test_a_log_in_its_place_without_krafts_id_is_no_replica() -> None:
    """The step without its writes: broker 1 refuses what KRaft's controller asks for."""
    problem = recovery_problem(json.dumps(taken_logs("erased-id-00-dual-write-3.9.0")).encode())
    (step,) = [one for one in problem.procedures if one.name == "bring-logs-back t0 1 2"]
    moves = tuple(tuple(Move(()) if "write_log_id" in str(m.choices) else m for m in known) for known in step.moves)
    found = plan_recovery(evolve(problem, procedures=(evolve(step, moves=moves),), alternatives=()), seconds=60)
    assert found.plan is None and any("replicas_have_the_images_id" in one.violated for one in found.defeats)


@pytest.mark.parametrize(
    ("change", "fact"),
    [
        ({"partition": {"leader_epoch": 1}}, "it has the leader epoch 2, and the partition only 1"),
        ({"first": 0}, "it has the leader epoch 2, and the log on broker 1 begins with 0"),
        ({"version": 1}, "the topic never had another id than"),
    ],
)
def test_logs_of_an_earlier_topic_of_the_name_are_not_brought_back(change: dict[str, Any], fact: str) -> None:
    cluster = taken_logs()
    stray(cluster, "2", "t0-0")["leader_epoch_checkpoint"] = "0\n2\n0 0\n2 3\n"
    cluster["image"]["topics"]["t0"]["partitions"]["0"] |= change.get("partition", {})
    cluster["topics"]["t0"]["partition_state"]["0"] |= change.get("partition", {})
    cluster["topics"]["t0"]["version"] = change.get("version", 4)
    if "first" in change:
        for broker in ("1", "2"):
            cluster["brokers"][broker]["dirs"]["t0-0"]["first_batch"]["leader_epoch"] = 0
    assert "log-was-set-aside" not in names(cluster)
    found = answer_to(cluster)
    assert found.healthy and any(fact in note for note in found.problem.notes)


def test_a_stray_that_the_leader_has_copied_is_not_lost() -> None:
    cluster = taken_logs()
    for partition in ("t0-0", "t0-1", "t0-2"):
        for broker in ("1", "2"):
            log = stray(cluster, broker, partition)
            cluster["brokers"][broker]["dirs"][partition] |= {
                key: log[key] for key in ("files", "first_batch", "leader_epoch_checkpoint")
            }
    assert "log-was-set-aside" not in names(cluster) and answer_to(cluster).healthy


@pytest.mark.parametrize(
    "damage",
    [
        lambda cluster: stray(cluster, "1", "t0-0").update(first_batch=stray(cluster, "1", "t0-1")["first_batch"]),
        lambda cluster: stray(cluster, "1", "t0-0").update(partition_metadata=f"version: 0\ntopic_id: {OTHER}"),
        lambda cluster: cluster["brokers"]["1"].update(alive=False, metadata_cache=None),
        lambda cluster: cluster["brokers"]["1"]["dirs"]["t0-0"].update(log_start=1),
    ],
    ids=["diverged", "another id", "down", "begins later"],
)
def test_what_is_not_understood_is_not_planned(damage: Callable[[dict[str, Any]], None]) -> None:
    cluster = taken_logs()
    damage(cluster)
    found = answer_to(cluster)
    assert not planned(found) and any(
        "Not planned is how to bring back the logs of t0" in n for n in found.problem.notes
    )


def test_logs_are_brought_back_after_the_migration_has_ended() -> None:
    cluster = taken_logs()
    cluster["image"]["state"] = "POST_MIGRATION"
    assert planned(answer_to(cluster)) == ("bring-logs-back t0 1 2",)


# One field of a cluster in dual write is another one.


def restarted_in_kraft_mode(cluster: dict[str, Any], *numbers: int) -> dict[str, Any]:
    for number in numbers:
        cluster["image"]["brokers"][str(number)]["migrating"] = False
        cluster["brokers"][str(number)]["mode"] = "kraft"
        cluster["broker_ids"].remove(number)
    return cluster


TAKEN = {"controller": 1, "kraft_controller_epoch": -1}
"""A broker has /controller."""


def log_of(cluster: dict[str, Any], broker: str) -> dict[str, Any]:
    log: dict[str, Any] = cluster["brokers"][broker]["dirs"]["t0-0"]
    return log


@pytest.mark.parametrize(
    ("change", "name", "place"),
    [
        (lambda c: c.update(migration=None), "copy-was-not-recorded", "there is no /migration"),
        (
            lambda c: c.update(kraft_controller_epoch=30),
            "rollback-stops-elections",
            "/controller_epoch is 9; KRaft's controller has 30, and writes it into each state znode that changes",
        ),
        (
            lambda c: c.update(delete_topics=["t0"]),
            "rollback-loses",
            "t0: is in /admin/delete_topics: ZooKeeper's controller would delete it",
        ),
        (
            lambda c: c["image"].update(state="PRE_MIGRATION", topics={}),
            "controllers-have-no-copy",
            "KRaft's log says PRE_MIGRATION, and has 0 topics",
        ),
        (
            lambda c: c["brokers"]["1"]["dirs"].clear(),
            "isr-member-lacks-records",
            "t0-0: broker 1 leads, and has no log; broker 3 has records",
        ),
        (
            lambda c: (
                log_of(c, "3").update(files={f"{0:020}.log": 0}),
                log_of(c, "1").update(high_watermark=1),
            ),
            "isr-member-lacks-records",
            "t0-0: broker 3 has an empty log; broker 1 has records",
        ),
        (
            lambda c: c.update(controller=1),
            "node-id-is-used-twice",
            "/controller names node 1 of KRaft, and a broker has the id",
        ),
        (
            lambda c: restarted_in_kraft_mode(c, 3).update(TAKEN),
            "controller-was-taken",
            "/controller names broker 1; broker 3 in KRaft mode, by KRaft's log",
        ),
    ],
)
def test_a_field_that_makes_dual_write_unsafe(change: Callable[[dict[str, Any]], Any], name: str, place: str) -> None:
    cluster = dual_write()
    change(cluster)
    found = inspect_snapshot(json.dumps(cluster).encode())
    assert found.exit_code == 13 and found.prospects[0].prognosis.exit_code == 12
    assert consequence(cluster, name).places == (place,)
    assert not any(one.healthy or one.plan for one in answer_to(cluster).alternatives) or name == OF_EPOCHS


@pytest.mark.parametrize("kraft", [(3,), (1, 2, 3)])
def test_brokers_in_kraft_mode_are_led_by_kraft_whatever_is_in_controller(kraft: tuple[int, ...]) -> None:
    cluster = restarted_in_kraft_mode(dual_write(), *kraft) | {"controller": None, "kraft_controller_epoch": None}
    found = inspect_snapshot(json.dumps(cluster).encode())
    assert "no-live-isr" not in {kind.name for kind in found.by_kind()}
    assert names(cluster) & {"controller-was-taken", "controller-is-missing"} and "copy-is-skipped" not in names(
        cluster
    )
    assert found.prospects[0].prognosis is (UNKNOWN if len(kraft) == 3 else STUCK)


def test_a_log_from_before_a_rollback_does_not_show_who_leads() -> None:
    """By it broker 1, which is back in ZooKeeper, is in KRaft mode."""
    cluster = restarted_in_kraft_mode(dual_write(), 1, 3) | TAKEN
    cluster["broker_ids"].append(1)
    assert phase_of(read_capture(json.dumps(cluster).encode())) is MigrationPhase.LEFT


@pytest.mark.parametrize("first", ["log-goes-at-kraft-start", "rollback-loses"])
def test_brokers_restart_in_kraft_mode_when_no_log_goes_by_that(first: str) -> None:
    cluster = dual_write()
    assert consequence(cluster, "brokers-in-zookeeper-mode").way_out.startswith("restart them one at a time")
    if first == "rollback-loses":
        cluster["delete_topics"] = ["t0"]
    else:
        log_of(cluster, "3")["partition_metadata"] = f"version: 0\ntopic_id: {OTHER}"
    assert first in names(cluster)
    way_out = consequence(cluster, "brokers-in-zookeeper-mode").way_out
    assert way_out.startswith(f"first see to {first}; then") == (first != "rollback-loses")
    cluster["image"]["state"] = "POST_MIGRATION"
    way_out = consequence(cluster, "finalized-too-early").way_out
    assert way_out.startswith("first see to") == (first != "rollback-loses")


def test_after_the_end_a_broker_without_the_migration_restarts_in_kraft_mode_when_no_log_goes_by_that() -> None:
    """KRaft's controllers take no broker in ZooKeeper mode any more (ClusterControlManager.registerBroker)."""
    cluster = dual_write()
    cluster["image"]["brokers"]["3"]["fenced"] = True
    name = "broker-runs-without-migration"
    assert "zookeeper.metadata.migration.enable" in consequence(cluster, name).way_out
    cluster["image"]["state"] = "POST_MIGRATION"
    assert consequence(cluster, name).way_out.startswith("take another snapshot")
    assert "zookeeper.metadata.migration.enable" not in consequence(cluster, name).way_out
    log_of(cluster, "3")["partition_metadata"] = f"version: 0\ntopic_id: {OTHER}"
    assert consequence(cluster, name).way_out.startswith("first see to log-goes-at-kraft-start; then")


@pytest.mark.parametrize(
    ("release", "found"),
    [
        ("3.6.1", set()),
        ("3.6.2", {"full-request-fails"}),
        ("3.7.0", {"full-request-fails", "kraft-start-fails", "log-goes-at-kraft-start"}),
        ("3.9.0", {"full-request-fails", "log-goes-at-kraft-start"}),
    ],
)
def test_a_log_without_topic_id_gets_krafts_before_its_broker_restarts(release: str, found: set[str]) -> None:
    cluster = {**dual_write(), "version": release}
    log_of(cluster, "1")["partition_metadata"] = None
    assert names(cluster) == found | {"brokers-in-zookeeper-mode"}
    for name in found:
        assert "write KRaft's" in consequence(cluster, name).way_out


def test_an_image_with_earlier_leader_epochs_than_zookeeper_is_left_out_and_no_plan_is_made_of_it() -> None:
    """KRaft's controllers may have lost the end of their log: they would write over ZooKeeper what they have."""
    cluster = dual_write()
    cluster["topics"]["t0"]["partition_state"]["0"]["leader_epoch"] = 40
    found = prospect_of(cluster)
    assert found.prognosis is UNKNOWN
    place = consequence_of_problems(found)
    assert "ZooKeeper has a later leader epoch of t0-0" in place and place.endswith("restart neither them nor brokers.")
    shown = recovery_object(answer_to(cluster), "x.json")
    assert shown["answer"] == "not judged" and planned(answer_to(cluster)) == ()
    assert exit_code(answer_to(cluster)) == 3


def consequence_of_problems(found: Prospect) -> str:
    return next(place for one in found.consequences for place in one.places if place.startswith("When the snapshot"))


def test_without_migration_the_plan_creates_it_as_krafts_controller_reads_it() -> None:
    found = answer_to({**dual_write(), "migration": None})
    assert planned(found) == ("write-migration", "restart-controller") and not found.alternatives
    assert found.plan is not None
    content = json.loads(found.plan.procedures[0].commands[1].partition("'")[2].rstrip("'"))
    assert content["kraft_metadata_offset"] > 0 and content.keys() == {"version", *state_of(1)}


def test_no_search_through_zookeeper_mode_begins_with_a_cluster_that_kraft_leads() -> None:
    for cluster in (dual_write(), restarted_in_kraft_mode(dual_write(), 3) | TAKEN):
        with pytest.raises(UsageError, match="KRaft's controller leads the cluster"):
            read_snapshot(json.dumps(cluster).encode())
    assert read_snapshot(json.dumps(before("PRE_MIGRATION")).encode()).facts


def test_what_a_snapshot_does_not_show_of_migration_is_not_judged() -> None:
    cluster = dual_write()
    del cluster["migration"]
    assert prospect_of(cluster).prognosis is UNKNOWN


# KRaft's log before a migration begins.


def before(state: str, **changes: Any) -> dict[str, Any]:
    cluster = {**dual_write(), **TAKEN, "migration": state_of(-1)}
    cluster["image"] |= {"state": state} | changes
    return cluster


@pytest.mark.parametrize("state", ["MIGRATION", "POST_MIGRATION"])
@pytest.mark.parametrize("node", [None, state_of(-1)])
def test_controllers_with_the_log_of_an_earlier_attempt_begin_no_other(state: str, node: Any) -> None:
    cluster = before(state) | {"migration": node}
    assert (prospect_of(cluster).prognosis, names(cluster)) == (WAITS, {"controllers-have-an-earlier-attempt"})
    assert "controllers-have-an-earlier-attempt" not in names({**cluster, "version": "3.4.1"})


@pytest.mark.parametrize(("version", "prognosis"), [("3.9.0", STUCK), ("3.6.0", STUCK), ("3.5.2", LOSES)])
def test_a_part_of_a_copy_is_in_the_way_of_the_next_one(version: str, prognosis: Prognosis) -> None:
    """Since 3.6.0 a controller refuses a topic that it has; before, a topic that was deleted meanwhile stays."""
    cluster = before("PRE_MIGRATION") | {"version": version}
    cluster["image"]["topics"]["gone"] = cluster["image"]["topics"]["t0"]
    assert consequence(cluster, "part-of-a-copy-is-left").prognosis is prognosis
    del cluster["image"]["topics"]["gone"]
    assert ("part-of-a-copy-is-left" in names(cluster)) == (prognosis is STUCK)
    cluster["image"]["topics"] = {}
    assert prospect_of(cluster).prognosis is READY


def test_a_broker_that_kraft_knows_in_kraft_mode_is_waited_for() -> None:
    cluster = before("PRE_MIGRATION", topics={})
    cluster["image"]["brokers"]["1"]["migrating"] = False
    assert consequence(cluster, "broker-is-not-registered").title.startswith("broker 1 is not registered")


def test_a_quorum_with_topics_is_not_emptied_unasked() -> None:
    """Its topics may be those of another cluster."""
    assert "nobody needs the records" in consequence(before("NONE"), "controllers-do-not-migrate").way_out
    assert "nobody needs" not in consequence(before("NONE", topics={}), "controllers-do-not-migrate").way_out


@pytest.mark.parametrize(("level", "prognosis"), [(16, WAITS), (17, READY)])
def test_several_log_directories_need_a_quorum_that_knows_them(level: int, prognosis: Prognosis) -> None:
    cluster = before("PRE_MIGRATION", topics={}, metadata_version=level)
    cluster["brokers"]["1"]["log_dirs"] = [{"path": path, "broker_id": 1} for path in ("/a", "/b")]
    assert consequence(cluster, "several-log-directories").prognosis is prognosis


# A rollback.

ROLLBACK = "rollback-with-higher-epoch-00-dual-write-3.9.0"
"""Brokers in ZooKeeper mode; the state znodes have the controller epoch 11, and /controller_epoch is 3."""
KRAFT_MODE = "careless-rollback-of-kraft-brokers-00-kraft-mode-3.9.0"


def rollback_of(name: str) -> tuple[Problem, Recovery]:
    found = plan_recovery(recovery_problem(MIGRATING / f"{name}.json"), seconds=60)
    (rollback,) = found.alternatives
    return rollback.problem, rollback


def without(problem: Problem, step: str) -> Recovery:
    """Plan without a step."""
    left = tuple(one for one in problem.procedures if not one.name.startswith(step))
    assert len(left) < len(problem.procedures)
    return plan_recovery(evolve(problem, procedures=left), seconds=60)


def test_a_rollback_raises_the_epoch_before_any_broker_restarts() -> None:
    problem, found = rollback_of(ROLLBACK)
    assert problem.premise == "to roll the migration back" and found.plan is not None and found.plan.at_any_moment
    assert planned(found) == (
        "restart-controller",
        "roll-back",
        "raise-controller-epoch",
        "restart-without-migration",
    )
    assert not any(found.plan.early[:-1])
    assert without(problem, "raise-controller-epoch").plan is None


def test_brokers_in_kraft_mode_return_first_and_the_controller_compares_everything_afterwards() -> None:
    """An answer of ZooKeeper that is lost while they return leaves the driver unable to write."""
    problem, found = rollback_of(KRAFT_MODE)
    steps = planned(found)
    assert steps is not None
    assert steps[-4:] == (
        "return-to-zookeeper-mode 1 2 3",
        "restart-controller",
        "roll-back",
        "restart-without-migration",
    )
    assert without(problem, "return-to-zookeeper-mode").plan is None


def test_a_rollback_is_not_planned_where_zookeeper_lacks_something_or_a_broker_is_down() -> None:
    lacks = recovery_problem(MIGRATING / "answer-lost-01-an-answer-was-lost-3.9.0.json")
    assert lacks.alternatives == () and any("A rollback is not planned: first ZooKeeper" in one for one in lacks.notes)
    cluster = taken_logs(ROLLBACK)
    cluster["brokers"]["2"] |= {"alive": False, "metadata_cache": None}
    down = recovery_problem(json.dumps(cluster).encode())
    assert down.alternatives == () and any("a broker is down" in note for note in down.notes)


def test_a_broker_without_replicas_that_is_down_starts_without_the_migration_later() -> None:
    cluster = taken_logs(ROLLBACK)
    roots = [{**root, "broker_id": 4} for root in cluster["brokers"]["2"]["log_dirs"]]
    cluster["brokers"]["4"] = {**cluster["brokers"]["2"], "alive": False, "dirs": {}, "log_dirs": roots}
    cluster["brokers"]["4"]["metadata_cache"] = None
    (rollback,) = recovery_problem(json.dumps(cluster).encode()).alternatives
    assert rollback.procedures[-1].name == "restart-without-migration"
    assert rollback.procedures[-1].commands[-1].startswith("# broker 4, down in the snapshot: with these settings")


def test_no_step_does_anything_to_a_topic_that_no_model_has() -> None:
    """Six partitions of topic wide differ: what the restart of KRaft's controller writes of them is not looked at."""
    cluster = dual_write()
    del cluster["topics"]["t0"]["partition_state"]["0"]
    partition = cluster["image"]["topics"]["t0"]["partitions"]["0"]
    cluster["image"]["topics"]["wide"] = {"topic_id": OTHER, "partitions": {str(n): partition for n in range(6)}}
    found = recovery_problem(json.dumps(cluster).encode())
    assert found.left_out == ("wide",) and found.withheld == ("restart-controller",)
    assert [one.name for one in found.procedures] == ["write-content t0", "create-state-znodes t0"]
    assert any("No model has topic wide" in note for note in found.notes)


def test_a_plan_in_a_migration_says_what_the_snapshot_lacks() -> None:
    cluster = dual_write()
    del cluster["topics"]["t0"]["partition_state"]["0"]
    cluster["brokers"]["2"] |= {"dirs": None, "log_dirs": None}
    notes = recovery_problem(json.dumps(cluster).encode()).notes
    assert any(note.startswith("No log directories of broker 2 are in the snapshot") for note in notes)
    cluster["taken"]["topics"] = ["t*"]
    found = recovery_problem(json.dumps(cluster).encode())
    assert not found.procedures and "take one without --topic" in found.notes[0]


def test_several_log_directories_are_named_in_dual_write_where_nothing_has_checked_them() -> None:
    """KRaft knows no directory that fails, up to 3.6: a leader on one stays leader."""
    cluster = dual_write() | {"version": "3.4.1"}
    for number in cluster["brokers"]:
        roots = [
            {"path": path, "broker_id": int(number), "cluster_id": None, "offline": False} for path in ("/a", "/b")
        ]
        cluster["brokers"][number]["log_dirs"] = roots
    assert consequence(cluster, "several-log-directories").prognosis is Prognosis.UNKNOWN
    assert "several-log-directories" not in names(cluster | {"version": "3.9.0"})
