"""Clusters of strangers: what the commands about one snapshot say, which contradicted one another once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kwalk.invariants.reading.inspection import inspect_snapshot
from kwalk.invariants.reading.outlook import read_snapshot
from kwalk.invariants.stories.expansion import OLD_CLIENT_EXPANSION
from kwalk.model.language import Model
from kwalk.reports.command_line import main
from kwalk.search.analyses.recovery import plan_recovery
from tests.snapshots.test_combined_damages import OTHER, cluster, problem
from tests.snapshots.test_strangers import answers, state
from tests.snapshots.test_strangers_foreseen import alone, down, found


def test_a_forecast_has_the_plan_that_is_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Unclean elections are on: a plan begins with forbidding them, and events are foreseen with them."""
    snapshot = alone("3.4.1")
    snapshot["topics"]["orders"]["settings"] = {"unclean.leader.election.enable": True}
    state(snapshot).update(leader=-1, isr=[3], leader_epoch=6)
    down(snapshot, 3)
    path = tmp_path / "now.json"
    path.write_text(json.dumps(snapshot), encoding="utf-8")
    for asked in (["--plan"], ["--forecast", "--seconds", "1", "--out", str(tmp_path / "out")]):
        main(["diagnose", str(path), *asked])
        said = " ".join(capsys.readouterr().out.split())
        assert " PLAN If unclean.leader.election.enable of orders was set to false before: 1 step; safe" in f" {said}"
    assert "but leaves orders-0 with acknowledged records that are lost" in said


@pytest.mark.parametrize("identity", [None, OTHER])
def test_topic_ids_that_brokers_before_2_8_do_not_read_are_not_in_a_search(identity: str | None) -> None:
    """Brokers of 2.8 ran, and those of 2.7 came back: a failover leaves the context without the znode's id."""
    snapshot = alone("2.7.2")
    snapshot["topics"]["orders"]["znode"]["topic_id"] = identity
    reading = read_snapshot(json.dumps(snapshot).encode())
    model = Model(OLD_CLIENT_EXPANSION.starting_from(reading), reading.variant, flags=reading.flags)
    (start,) = map(model.state, model.initial)
    replica = start.replica_of(0, 0, 0)
    assert (start.zookeeper.topics[0].topic_id, replica.topic_id, replica.file_topic_id) == (None, None, None)


def test_a_plan_starts_the_isr_that_a_reassignment_copies_from() -> None:
    """Machines with the whole ISR are off, while its partitions move to another one."""
    snapshot = alone("3.6.2")
    snapshot["topics"]["orders"]["znode"].update(adding_replicas={"0": [3]}, removing_replicas={"0": [1]})
    state(snapshot).update(leader=-1, isr=[1, 2], leader_epoch=6)
    down(snapshot, 1, 2)
    plan = plan_recovery(problem(snapshot), seconds=60).plan
    assert plan is not None and [one.name for one in plan.procedures] == ["start-broker 1", "start-broker 2"]
    for number in "12":
        snapshot["brokers"][number]["dirs"] = {}
    assert any("start one first" in note for note in problem(snapshot).notes)


@pytest.mark.parametrize("removing", [{"0": []}, {"7": [3]}])
def test_what_is_left_of_a_reassignment_by_hand_is_none(removing: dict[str, list[int]]) -> None:
    """An operator has emptied a list of removing_replicas, or named a partition that does not exist."""
    snapshot = alone("3.9.0")
    snapshot["topics"]["orders"]["znode"]["removing_replicas"] = removing
    inspection = inspect_snapshot(json.dumps(snapshot).encode())
    assert not inspection.by_kind()
    (prospect,) = inspection.prospects
    assert "reassignment-is-copied" not in {one.name for one in prospect.consequences}


def test_no_controller_fails_over_while_a_lost_id_was_not_read() -> None:
    """The next controller would mint an id for payments, whose logs were not read; orders needs a failover."""
    snapshot = cluster("3.6.2", brokers=6)
    snapshot["topics"]["orders"]["znode"]["topic_id"] = OTHER
    payments = snapshot["topics"]["payments"]
    payments["znode"]["partitions"]["0"] = [4, 5, 6]
    payments["partition_state"]["0"].update(leader=4, isr=[4, 5, 6])
    for number in ("1", "2", "3"):
        del snapshot["brokers"][number]["dirs"]["payments-0"]
    for number in ("4", "5", "6"):
        snapshot["brokers"][number].update(dirs=None, log_dirs=None)
    assert "fail-over" in {one.name for one in problem(snapshot).procedures}
    del payments["znode"]["topic_id"]
    missing = found(snapshot)["topic-id-missing"]
    assert (missing.fields["topic"], missing.certain) == ("payments", False)
    asked = problem(snapshot)
    assert "fail-over" in asked.withheld and "fail-over" not in {one.name for one in asked.procedures}
    assert any("partition.metadata was not read: the next controller mints one" in note for note in asked.notes)


def test_no_plan_is_made_for_a_topic_whose_id_nothing_shows() -> None:
    """The best that was left moved the logs away that have the id; protocols below 2.8 need the logs to be read."""
    snapshot = alone("3.6.2")
    del snapshot["topics"]["orders"]["znode"]["topic_id"]
    state(snapshot).update(leader=-1, isr=[3], leader_epoch=6)
    down(snapshot, 3)
    assert [part.name for part in problem(snapshot).worlds] == ["orders-0"]
    for broker in snapshot["brokers"].values():
        broker.update(dirs=None, log_dirs=None)
    asked = problem(snapshot)
    assert (asked.worlds, asked.left_out) == ((), ("orders-0",))
    assert "topic-id-missing" not in found(snapshot)
    assert "any topic of the snapshot" in read_snapshot(json.dumps(snapshot).encode()).lacks


@pytest.mark.parametrize(("release", "is_read"), [("2.7.2", False), ("2.8.2", True)])
def test_a_garbled_file_that_brokers_do_not_read_is_no_damage(release: str, is_read: bool) -> None:
    """Brokers of 2.8 ran, and those of 2.7 came back."""
    snapshot = alone(release)
    snapshot["brokers"]["2"]["dirs"]["orders-0"]["partition_metadata"] = "vers"
    assert ("partition-metadata-is-garbled" in found(snapshot)) is is_read


@pytest.mark.parametrize(("topic", "is_gone"), [("payments", True), ("orders", False)])
def test_a_request_that_names_topics_that_are_gone_moves_nothing(topic: str, is_gone: bool) -> None:
    """Kafka: KafkaController.processZkPartitionReassignment removes what fails."""
    snapshot = {**alone("3.6.2"), "reassign_partitions": {topic: [0]}}
    assert ("only removes the request" in found(snapshot)["request-waits"].detail) is is_gone


@pytest.mark.parametrize("unread", [None, "2", "3"])
def test_nobody_is_told_to_wait_for_what_was_not_read(
    unread: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The controller takes a broker out of the ISR by itself; what is on a disk that was not read may need more."""
    snapshot = alone()
    down(snapshot, 3)
    answers(snapshot)
    if unread is not None:
        snapshot["brokers"][unread].update(dirs=None, log_dirs=[])
    path = tmp_path / "now.json"
    path.write_text(json.dumps(snapshot), encoding="utf-8")
    assert main(["diagnose", str(path), "--plan"]) == (0 if unread is None else 3)
    said = " ".join(capsys.readouterr().out.split())
    named = f"NOT JUDGED If the log directories of broker {unread}, which the snapshot lacks,"
    assert said.startswith("WAIT " if unread is None else named)
    assert ("What was read repairs itself, and what was not may not" in said) is (unread is not None)
    main(["diagnose", str(path), "--plan", "--json"])
    assert json.loads(capsys.readouterr().out)["answer"] == ("wait" if unread is None else "not judged")
