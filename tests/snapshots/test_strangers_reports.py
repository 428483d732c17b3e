"""Clusters of strangers: two damages of one topic, and what public reports combine, that were read wrong once."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kwalk.model.kafka.snapshots.series import read_series
from kwalk.reports.pages.outlook import diagnosis_of
from kwalk.search.analyses.recovery import foresee, plan_recovery
from tests.snapshots.test_combined_damages import OTHER, cluster, log, problem, stop, ways_out
from tests.snapshots.test_combined_damages import names as names_of
from tests.snapshots.test_migrating import names
from tests.snapshots.test_reported_plans import procedure
from tests.snapshots.test_strangers import answers, erased, state
from tests.snapshots.test_strangers_foreseen import alone, down, foreseen, found


def stateless(identity: str | None) -> dict[str, Any]:
    """Brokers serve orders at leader epoch 5; its state znode is gone, and its znode has another id, or none."""
    snapshot = alone("3.6.2")
    answers(snapshot)
    orders = snapshot["topics"]["orders"]
    orders["partition_state"] = {}
    orders["znode"].pop("topic_id")
    orders["znode"] |= {"topic_id": identity} if identity else {}
    return snapshot


@pytest.mark.parametrize(("identity", "kind"), [(None, "partition-state-is-lost"), (OTHER, "topic-id-differs")])
def test_no_controller_begins_at_epoch_0_beside_logs_of_later_epochs_whatever_id_the_znode_has(identity, kind) -> None:
    snapshot = stateless(identity)
    assert "orders-0" in ways_out(snapshot)[kind] and "a leader_epoch of 15 or more" in ways_out(snapshot)[kind]
    assert "no leader serves it" not in found(snapshot)[kind].kind.now
    plan = plan_recovery(problem(snapshot), seconds=120).plan
    assert plan is not None and plan.procedures[1].name == "write-states-of-first-leaders"


def test_no_plan_takes_back_a_deletion_that_was_on_purpose() -> None:
    """An empty broker 3 would end the deletion of orders, and lead payments, of which others have logs."""
    snapshot = cluster()
    down(snapshot, 3)
    state(snapshot)["isr"] = [1, 2]
    state(snapshot, "payments").update(leader=-1, isr=[3], leader_epoch=6)
    snapshot["delete_topics"] = ["orders"]
    for number in ("1", "2"):
        snapshot["brokers"][number]["dirs"].pop("orders-0")
    lossy = plan_recovery(problem(snapshot), seconds=120).alternatives[-1]
    assert "if broker 3 is gone for good, and acknowledged" in lossy.problem.premise and lossy.plan is not None
    assert [one.name for one in lossy.plan.procedures] == ["elect-unclean payments"]
    assert lossy.problem.uncovered == ("deletion-pending",)


def test_a_forecast_says_which_outage_is_over_when_another_damage_begins() -> None:
    snapshot = erased()
    state(snapshot)["leader_epoch"] = 6
    texts = foreseen(snapshot).split("If ")
    (restart,) = (one for one in texts if one.startswith("broker 1 restarts"))
    assert "gets orders-0 rid of this: no working leader; but leaves orders-0 with a leader that refuses" in restart
    (failover,) = (one for one in texts if one.startswith("the controller fails over"))
    assert "rid of" not in failover


def test_a_forecast_says_once_what_two_searches_begin_with() -> None:
    snapshot = alone("3.4.1")
    snapshot["topics"]["orders"]["znode"]["topic_id"] = OTHER
    state(snapshot)["leader"] = 2
    inspected = problem(snapshot)
    outlook = foresee(inspected)
    assert " ".join(diagnosis_of(inspected.inspection, [outlook, outlook], [])).count("By itself") == 1


def test_a_deletion_that_waits_for_a_reassignment_is_not_copied_and_cannot_be_helped_by_a_cancellation() -> None:
    snapshot = alone(brokers=4)
    down(snapshot, 4)
    orders = snapshot["topics"]["orders"]["znode"]
    orders.update(partitions={"0": [4, 1, 2, 3]}, adding_replicas={"0": [4]}, removing_replicas={"0": [3]})
    snapshot["delete_topics"] = ["orders"]
    assert {"deletion-is-left"} <= names(snapshot) and "reassignment-is-copied" not in names(snapshot)
    assert any("let that end" in note and "cancel" not in note for note in problem(snapshot).notes)


def test_a_replica_does_not_join_an_isr_whose_leader_refuses_fetches_by_the_id() -> None:
    snapshot = alone("3.6.2")
    snapshot["topics"]["orders"]["znode"]["topic_id"] = OTHER
    state(snapshot)["isr"] = [1, 2]
    assert {"fetch-by-id-refused"} <= set(ways_out(snapshot)) and "catching-up" not in ways_out(snapshot)


def test_no_replica_is_elected_while_a_step_stops_the_only_isr_member() -> None:
    """Broker 3 leads with the id that a controller has minted, which it took as its file was removed."""
    snapshot = alone("3.6.2")
    snapshot["topics"]["orders"]["settings"] = None
    snapshot["topics"]["orders"]["znode"]["topic_id"] = OTHER
    state(snapshot)["isr"] = [3]
    state(snapshot)["leader"] = 3
    snapshot["brokers"]["3"]["dirs"]["orders-0"] = log(OTHER)
    stops = procedure(problem(snapshot), "restart-without-metadata-files orders 3").before
    assert callable(stops) and stops(frozenset()).endswith("unclean.leader.election.enable is false for orders-0")
    leaves = procedure(problem(snapshot), "restart-without-metadata-files orders 1").before
    assert callable(leaves) and "unclean" not in leaves(frozenset())


def test_events_are_not_foreseen_with_a_state_that_no_controller_has_read() -> None:
    """The leader that brokers know works until the next failover, which a model would have behind it."""
    snapshot = alone("3.6.2")
    answers(snapshot)
    state(snapshot)["leader_epoch"] = 2
    assert "state-is-behind-the-logs-unnoticed" in ways_out(snapshot)
    assert not problem(snapshot).what_ifs


def test_a_log_that_was_set_aside_of_a_topic_that_does_not_exist_is_kept() -> None:
    snapshot = alone()
    snapshot["brokers"]["3"]["set_aside"] = {f"gone-0.{'a' * 32}-stray": log(OTHER)}
    assert ways_out(snapshot)["log-set-aside"].startswith("keep the directory")


def test_a_series_says_that_its_snapshots_have_different_cluster_ids() -> None:
    sources = [json.dumps(alone("3.6.2") | {"cluster_id": identity}).encode() for identity in ("one", "two")]
    (series,) = read_series(sources)
    assert any("two clusters, or ZooKeeper's data was lost or replaced" in one for one in series.facts)


SHORT = {"files": {f"{0:020}.log": 1000, f"{45:020}.log": 0}, "recovery_point": 45, "high_watermark": 45}


def test_a_broker_is_not_given_up_while_the_live_isr_member_lacks_records() -> None:
    snapshot = alone("3.6.2")
    state(snapshot)["isr"] = [1, 2]
    snapshot["brokers"]["2"]["dirs"]["orders-0"] |= SHORT
    snapshot["brokers"]["1"]["dirs"]["orders-0"] |= {"recovery_point": 70, "high_watermark": 60}
    down(snapshot, 1)
    assert "live ISR members have what was acknowledged" not in ways_out(snapshot)["broker-down"]


def test_an_unclean_election_waits_for_a_broker_that_has_more_than_the_isr() -> None:
    """Brokers 1 and 2 are down; 2 has records that 1, the only ISR member, lacks, and broker 3 lives."""
    snapshot = alone("3.6.2")
    state(snapshot).update(leader=-1, isr=[1], leader_epoch=6)
    snapshot["brokers"]["1"]["dirs"]["orders-0"] |= SHORT
    snapshot["brokers"]["2"]["dirs"]["orders-0"] |= {"recovery_point": 70, "high_watermark": 60}
    down(snapshot, 1, 2)
    lossy = [one for one in problem(snapshot).alternatives if one.premise.endswith("acknowledged records may be lost")]
    elections = [{name for name in names_of(one) if name.startswith("elect-unclean")} for one in lossy]
    assert {"elect-unclean-after-start orders 2"} in elections
    gone = [one for one in lossy if "gone for good" in one.premise and "2" in one.premise]
    assert not any("elect-unclean-after-start orders 2" in names_of(one) for one in gone)


def test_a_plan_for_a_restored_zookeeper_says_that_producer_ids_rise() -> None:
    snapshot = alone("3.6.2")
    state(snapshot)["leader_epoch"] = 2
    before = procedure(problem(snapshot), "write-states").before
    assert isinstance(before, str) and "/latest_producer_id_block" in before


def test_a_topic_that_is_deleted_needs_no_id() -> None:
    snapshot = alone("3.6.2")
    snapshot["delete_topics"] = ["orders"]
    snapshot["topics"]["orders"]["znode"].pop("topic_id")
    stop(snapshot, 3)
    assert (
        "another topic id than" not in foreseen(snapshot).split("If the controller fails over")[1].split("leaves")[-1]
    )


def test_a_broker_that_registers_again_is_foreseen_in_words() -> None:
    snapshot = erased() | {"broker_ids": [2, 3], "controller": 2}
    assert "running_broker_is_registered" not in foreseen(snapshot)


def test_a_leader_that_leads_on_beside_an_empty_isr_is_no_outage() -> None:
    snapshot = alone("3.6.2")
    state(snapshot)["isr"] = []
    answers(snapshot)
    one = found(snapshot)["empty-isr"]
    assert (
        one.kind.title == "the ISR is empty, and the leader leads on"
        and "producers and consumers go on" in one.kind.now
    )
    answers(snapshot, leader=2)
    assert found(snapshot)["empty-isr"].kind.title.startswith("no leader")
