"""Damages of real brokers by `recover-random-damages` that a diagnosis or a plan got wrong, as edits of a snapshot."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kwalk.invariants.reading.inspection import inspect_snapshot
from tests.snapshots.test_combined_damages import IDS, OTHER, cluster, log, names, planned, problem, steps, ways_out
from tests.snapshots.test_replicas_in_memory import begun_anew, memory
from tests.snapshots.test_strangers import answers, state
from tests.snapshots.test_strangers_foreseen import alone, down

DELETED = "if gone was deleted on purpose, and ZooKeeper's earlier data does not come back"


def test_the_log_of_an_only_isr_member_that_is_no_replica_stays_while_all_replicas_are_down() -> None:
    """Round 201 on 3.4.1: taken out of the replicas again, broker 1 lost the log, and stayed the whole ISR."""
    snapshot = alone("3.4.1")
    down(snapshot, 2, 3)
    snapshot["topics"]["orders"]["znode"]["partitions"]["0"] = [3]
    state(snapshot).update(leader=2, isr=[2, 1])
    (put_back,) = [one for one in problem(snapshot).procedures if one.name == "put-back orders 1"]
    assert put_back.title.startswith("Start broker 3, make broker 1 a replica of orders-0,") and put_back.starts == {
        "3"
    }
    assert not any("go on" in command for command in put_back.commands)


def test_a_reassignment_that_a_step_takes_back_before_it_has_ended_is_cancelled_in_the_model() -> None:
    """Replica 4 is down, and 3 lives: the log of broker 2 goes, and the ISR is to have broker 3 by then."""
    snapshot = cluster("3.4.1", brokers=4)
    snapshot["topics"]["orders"]["znode"]["partitions"]["0"] = [3, 4]
    state(snapshot).update(leader=2, isr=[2, 3])
    down(snapshot, 4)
    (put_back,) = [one for one in problem(snapshot).procedures if one.name == "put-back orders 2"]
    last = put_back.moves[0][-1]
    assert "cancel_partition_reassignment" in last.choices[1][0]


@pytest.mark.parametrize("is_aside", [False, True])
def test_logs_of_a_topic_that_was_deleted_move_away_though_brokers_serve_it_at_a_later_epoch(is_aside: bool) -> None:
    """Round 1 on 3.9.0: its znodes were removed by hand; one broker after the other, and all topics are served."""
    snapshot = alone()
    for broker in snapshot["brokers"].values():
        broker["dirs"]["gone-0"] = log(OTHER)
    answers(snapshot)
    known: dict[str, Any] = {"error": 0, "leader": 1, "leader_epoch": 5, "isr": [1, 2, 3], "offline": []}
    for broker in snapshot["brokers"].values():
        topics = broker["metadata_cache"]["topics"]
        broker["metadata_cache"]["topics"] = {
            **topics,
            "gone": {"error": 0, "topic_id": OTHER, "partitions": {"0": known}},
        }
    if is_aside:
        snapshot["brokers"]["2"]["set_aside"] = {
            f"gone-0.{'0' * 32}-delete": snapshot["brokers"]["2"]["dirs"].pop("gone-0")
        }
    numbers = [1, 3] if is_aside else [1, 2, 3]
    found = steps(planned(snapshot))
    assert {key: sorted(value or []) for key, value in found.items()} == {
        DELETED: [f"move-directories gone {number}" for number in numbers]
    }


def test_logs_of_a_topic_that_was_deleted_stay_on_brokers_that_are_down_and_the_plan_says_so() -> None:
    """Round 602 on 3.4.1: broker 1 was to be consistent after the plan, and broker 3 had a log still."""
    snapshot = alone("3.4.1")
    for number in "13":
        snapshot["brokers"][number]["dirs"]["gone-0"] = log(OTHER)
    down(snapshot, 3)
    state(snapshot)["isr"] = [1, 2]
    assert problem(snapshot).uncovered == ("orphaned-log",)
    assert steps(planned(snapshot)) == {DELETED: ["move-directories gone 1"]}


def test_the_leader_becomes_the_isr_where_a_hand_took_a_member_out_and_is_left_where_one_was_added() -> None:
    """The leader changes the ISR at the version of the znode that it knows, until its leader epoch rises."""
    snapshot = alone()
    answers(snapshot)
    state(snapshot)["isr"] = [1, 2]
    assert steps(planned(snapshot)) == {"": ["write-states-of-leaders", "fail-over"]}
    assert problem(snapshot).uncovered == ()
    state(snapshot)["isr"] = [1, 2, 3]
    snapshot["brokers"]["1"]["metadata_cache"]["topics"]["orders"]["partitions"]["0"]["isr"] = [1, 2]
    assert problem(snapshot).uncovered == ("isr-written-by-hand",)


@pytest.mark.parametrize(("isr", "is_found"), [([1, 2], True), ([1, 3, 2], False)])
def test_an_isr_that_a_hand_wrote_is_found_by_what_brokers_answer(isr: list[int], is_found: bool) -> None:
    """Round 400 on 3.9.0: the leader had broker 3 in its ISR, so that it never asked for it to be added again."""
    snapshot = alone()
    state(snapshot)["isr"] = isr
    answers(snapshot)
    ways = ways_out(snapshot)
    assert ("isr-written-by-hand" in ways) is is_found and "catching-up" not in ways
    wanted = "that of orders-0 with a leader_epoch of 15 or more, and broker 1 as leader and only ISR member"
    assert not is_found or wanted in ways["isr-written-by-hand"]
    again = (
        "take another snapshot after a minute"  # with inter.broker.protocol.version below 2.7 brokers learn it later
    )
    assert not is_found or ways["isr-written-by-hand"].startswith(again)


def test_an_isr_of_which_brokers_hear_later_is_not_one_that_a_hand_wrote() -> None:
    """Up to 2.6 leaders write the ISR, and the controller informs brokers of several changes at once."""
    snapshot = cluster("2.6.3", ids=dict.fromkeys(IDS))
    state(snapshot)["isr"] = [1, 2]
    answers(snapshot)
    assert "isr-written-by-hand" not in ways_out(snapshot)


def test_parts_that_may_have_lower_versions_and_parts_that_may_not_are_planned_for_together() -> None:
    """Round 1300 on 3.6.2: the second world was explored with the machine code of the first, which has other flags."""
    snapshot = begun_anew("3.6.2")
    memory(snapshot, b2=(0, False), b3=(0, False))
    state(snapshot, "payments")["isr"] = [2]
    payments = {"error": 0, "topic_id": IDS["payments"], "partitions": {"0": {**served(2, 5), "isr": [2, 3]}}}
    for number in "23":
        snapshot["brokers"][number]["metadata_cache"]["topics"]["payments"] = payments
    assert len(problem(snapshot).worlds) == 2
    assert steps(planned(snapshot))[""]


def test_a_broker_that_is_down_with_another_id_is_foreseen_where_the_id_is_written() -> None:
    """Round 1203 on 3.4.1: the plan said so, and the finding counted as one that it does not foresee."""
    snapshot = cluster("3.4.1")
    del snapshot["topics"]["orders"]["znode"]["topic_id"]
    down(snapshot, 3)
    state(snapshot)["isr"] = state(snapshot, "payments")["isr"] = [1, 2]
    snapshot["brokers"]["3"]["dirs"]["orders-0"] = log(OTHER)
    plan = planned(snapshot)[""].plan
    assert plan is not None and plan.procedures[0].name == f"write-topic-id orders {IDS['orders']}"
    snapshot["topics"]["orders"]["znode"]["topic_id"] = IDS["orders"]
    (kind,) = [one for one in inspect_snapshot(json.dumps(snapshot).encode()).by_kind() if "another" in one.name]
    assert kind.name == "down-broker-has-another-id" and plan.shows[0] >= {*kind.properties}


def test_a_log_directory_that_is_offline_stays_so_with_a_garbled_checkpoint() -> None:
    """Round 1007 on 3.9.0: the plan was to repair the disk."""
    snapshot = alone()
    state(snapshot).update(isr=[1, 2])
    third = snapshot["brokers"]["3"]
    third["log_dirs"] = [{**third["log_dirs"][0], "offline": True, "garbled": ["log-start-offset-checkpoint"]}]
    third["dirs"] = {}
    assert {"checkpoint-is-garbled", "offline-replica"} <= ways_out(snapshot).keys()
    moved = "if log-start-offset-checkpoint of broker 3 was moved away before"
    assert steps(planned(snapshot))[moved] == ["repair-disk 3"]


@pytest.mark.parametrize("is_down", [True, False])
def test_a_broker_with_a_garbled_checkpoint_does_not_start_before_it_is_moved_away(is_down: bool) -> None:
    """Round 1100 on 2.8.2: the plan started broker 1, whose log directory went offline; one that runs writes it."""
    snapshot = alone("2.8.2")
    if is_down:
        down(snapshot, 3)
        state(snapshot).update(leader=-1, isr=[3])
    third = snapshot["brokers"]["3"]
    third["log_dirs"] = [{**third["log_dirs"][0], "garbled": ["replication-offset-checkpoint"]}]
    ways = ways_out(snapshot)
    assert ("checkpoint-is-garbled" in ways) is is_down
    if is_down:
        assert "but first move the garbled checkpoint of broker 3 away" in ways["no-live-isr"]
        moved = "if replication-offset-checkpoint of broker 3 was moved away before"
        assert steps(planned(snapshot))[moved] == ["start-broker 3"]
        third["log_dirs"][0]["garbled"] = ["orders-0/leader-epoch-checkpoint"]
        assert problem(snapshot).left_out == ("orders-0",) and not names(problem(snapshot))


def served(leader: int, epoch: int) -> dict[str, Any]:
    """What a broker answers about a partition that is led."""
    return {"error": 0, "leader": leader, "leader_epoch": epoch, "isr": [1, 2, 3], "offline": []}
