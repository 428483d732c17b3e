"""Clusters of strangers: what forecasts, series and parts of snapshots said wrong once, and what had no way out."""

from __future__ import annotations

import json
from typing import Any

import pytest
from attrs import evolve

from kwalk.invariants.reading.inspection import inspect_snapshot
from kwalk.invariants.reading.migration_search import read_migration
from kwalk.invariants.reading.outlook import read_snapshot
from kwalk.model.kafka.snapshots.series import read_series
from kwalk.model.language import UsageError
from kwalk.model.language.inspection import Observation
from kwalk.reports.pages.outlook import diagnosis_of
from kwalk.search.analyses.recovery import foresee, plan_recovery
from tests.snapshots.test_combined_damages import EPOCHS, IDS, OTHER, cluster, log, problem, stop, ways_out
from tests.snapshots.test_migrating import consequence, dual_write
from tests.snapshots.test_strangers import answers, state


def alone(release: str = "3.9.0", brokers: int = 3) -> dict[str, Any]:
    """A healthy cluster with topic orders only."""
    return cluster(release, brokers=brokers, ids={"orders": IDS["orders"]})


def found(snapshot: dict[str, Any]) -> dict[str, Observation]:
    """The first finding of each kind."""
    seen = inspect_snapshot(json.dumps(snapshot).encode()).observations
    return {one.kind.name: one for one in reversed(seen)}


def down(snapshot: dict[str, Any], *numbers: int) -> None:
    """Take brokers away, and leave the ISRs as they are."""
    for number in numbers:
        snapshot["brokers"][str(number)]["alive"] = False
        snapshot["broker_ids"].remove(number)
    if snapshot["controller"] not in snapshot["broker_ids"]:
        snapshot["controller"] = next(iter(snapshot["broker_ids"]), None)


def foreseen(snapshot: dict[str, Any]) -> str:
    known = problem(snapshot)
    return " ".join(diagnosis_of(known.inspection, [foresee(known)], []))


def without_log(snapshot: dict[str, Any], *numbers: int) -> None:
    for number in numbers:
        snapshot["brokers"][str(number)]["dirs"].pop("orders-0")


# Forecasts.


def test_a_forecast_says_what_happens_before_any_event() -> None:
    """Broker 2 leads, and 1 is preferred: it is elected by itself, and refuses the id that a controller has minted."""
    snapshot = alone("3.4.1")
    snapshot["topics"]["orders"]["znode"]["topic_id"] = OTHER
    state(snapshot)["leader"] = 2
    text = foreseen(snapshot)
    assert "By itself the system leaves orders-0 with no working leader, unless another snapshot shows the same" in text
    assert "rids" not in text and "gets" not in text


def test_a_forecast_says_what_is_over_by_itself() -> None:
    """The disk of the leader has failed, and the controller has not noticed it."""
    snapshot = alone()
    snapshot["brokers"]["1"]["log_dirs"] = [{"path": "/b", "broker_id": None, "cluster_id": None, "offline": True}]
    without_log(snapshot, 1)
    assert "By itself the system gets orders-0 rid of this: no working leader" in foreseen(snapshot)


def test_a_deletion_that_ends_is_not_called_a_repair() -> None:
    snapshot = alone()
    snapshot["delete_topics"] = ["orders"]
    text = foreseen(snapshot)
    assert "the deletion ends, and leaves nothing of orders-0" in text and "repairs" not in text


def test_no_event_is_foreseen_that_cannot_happen() -> None:
    """All brokers are down: no controller fails over, and none restarts."""
    snapshot = alone()
    down(snapshot, 1, 2, 3)
    text = foreseen(snapshot)
    assert "fails over" not in text and "restart" not in text and "If broker 1 starts" in text
    snapshot = alone()
    stop(snapshot, 3)
    state(snapshot).update(leader=-1, isr=[3], leader_epoch=6)
    assert "all brokers that run restart in turn" in foreseen(snapshot)


def test_a_search_says_that_it_is_not_about_a_replica_that_it_leaves_out() -> None:
    """Broker 4 is added, and refuses the topic's id: three replicas are searched, of which one is down."""
    snapshot = moving_to_another_log()
    snapshot["topics"]["orders"]["znode"]["partitions"]["0"] = [1, 2, 3, 4]
    stop(snapshot, 3)
    (said,) = read_snapshot(json.dumps(snapshot).encode()).diagnose(None)
    assert said.startswith("The search is not about replica-refuses and topic-ids-mixed;")


def test_a_search_of_a_migration_says_what_else_is_not_safe() -> None:
    snapshot = alone("3.8.0")
    snapshot["brokers"]["2"]["dirs"]["gone-0"] = log(OTHER)
    (said,) = read_migration(json.dumps(snapshot).encode()).diagnose(None)
    assert said.endswith("says why (left-over-log-goes).")


# Reassignments.


def moving_to_another_log() -> dict[str, Any]:
    snapshot = alone(brokers=4)
    znode = snapshot["topics"]["orders"]["znode"]
    znode.update(partitions={"0": [4, 1, 2, 3]}, adding_replicas={"0": [4]}, removing_replicas={"0": [3]})
    snapshot["brokers"]["4"]["dirs"]["orders-0"] = log(OTHER, crc=8)
    return snapshot


def test_a_reassignment_waits_for_a_replica_that_refuses() -> None:
    snapshot = moving_to_another_log()
    assert "orders-0 waits for a replica that refuses the topic id" in ways_out(snapshot)["reassignment"]
    assert found(snapshot)["replica-refuses"].kind.cause.endswith("other replicas have ZooKeeper's")


def test_nothing_is_copied_while_no_isr_member_leads() -> None:
    snapshot = alone()
    znode = snapshot["topics"]["orders"]["znode"]
    znode.update(partitions={"0": [3, 2]}, adding_replicas={"0": [3]}, removing_replicas={"0": [2]})
    state(snapshot).update(leader=-1, isr=[2], leader_epoch=6)
    down(snapshot, 2)
    assert "nothing of orders-0 is copied before a broker of the ISR leads" in ways_out(snapshot)["reassignment"]


# Deletions.


@pytest.mark.parametrize("is_down", [False, True])
def test_a_mark_that_no_controller_has_noticed_can_be_taken_back(is_down: bool) -> None:
    """TopicDeletionManager.onTopicDeletion lets brokers forget a topic before it waits for anything but a move."""
    snapshot = alone()
    snapshot["delete_topics"] = ["orders"]
    if is_down:
        stop(snapshot, 3)
    answers(snapshot)
    one = found(snapshot)["deletion-has-not-begun" if is_down else "deletion-hangs"]
    assert one.kind.now.startswith("clients use the topic as before")
    assert one.kind.way_out.startswith("if the topic is wanted, delete its mark in /admin/delete_topics, and then")
    assert "copy orders of brokers 1, 2 and 3" in one.kind.way_out
    assert problem(snapshot).left_out == (("orders-0",) if is_down else ())


# Who starts, leads and becomes controller.


def test_an_only_isr_member_that_must_not_start_is_not_asked_to_start() -> None:
    """Broker 1 has lost the end of its log, and broker 2 has it; both are down."""
    snapshot = alone()
    snapshot["topics"]["orders"]["znode"]["partitions"]["0"] = [1, 2]
    without_log(snapshot, 3)
    state(snapshot).update(leader=-1, isr=[1], leader_epoch=6)
    snapshot["brokers"]["1"]["dirs"]["orders-0"] = log(IDS["orders"], EPOCHS[:2])
    down(snapshot, 1, 2)
    ways = ways_out(snapshot)
    assert "do not start broker 1" in ways["no-live-isr"] and "start a broker of the ISR" not in ways["no-live-isr"]
    assert "; start broker 2;" in ways["broker-down"]
    (lossy,) = (
        one
        for one in plan_recovery(problem(snapshot), seconds=120).alternatives
        if one.problem.premise == "if acknowledged records may be lost"
    )
    steps = [] if lossy.plan is None else [one.name for one in lossy.plan.procedures]
    assert steps == ["start-broker 2", "elect-unclean orders"]


def test_an_isr_member_with_another_topic_id_does_not_start_before_that_is_repaired() -> None:
    snapshot = alone("3.6.2")
    snapshot["topics"]["orders"]["znode"]["topic_id"] = OTHER
    state(snapshot).update(leader=-1, isr=[3], leader_epoch=6)
    down(snapshot, 3)
    assert "but first see to the log of orders-0 with another topic id" in ways_out(snapshot)["no-live-isr"]
    assert found(snapshot)["topic-id-differs"].kind.now == "nothing else than that no leader serves it"


def test_replicas_with_copies_are_named_beside_a_broker_that_is_none() -> None:
    snapshot = alone(brokers=4)
    snapshot["brokers"]["4"]["dirs"]["orders-0"] = log(IDS["orders"])
    state(snapshot).update(leader=-1, isr=[3], leader_epoch=6)
    down(snapshot, 3)
    way_out = ways_out(snapshot)["no-live-isr"]
    assert "may be on broker 4, which is no replica: keep what is there; otherwise it is lost with" in way_out


def test_an_empty_broker_that_is_no_replica_leads_nothing() -> None:
    snapshot = alone()
    state(snapshot).update(leader=-1, isr=[42], leader_epoch=6)
    assert "as it would lead" not in ways_out(snapshot)["no-live-isr"]


def test_a_leader_that_has_got_nothing_from_a_controller_does_not_lead() -> None:
    snapshot = alone()
    answers(snapshot)
    snapshot["brokers"]["1"]["metadata_cache"] = {"brokers": [], "controller": None, "topics": {}}
    snapshot["controller"] = 2
    one = found(snapshot)["leader-does-not-lead"]
    assert one.kind.cause == "broker 1 has got nothing from a controller since the start"
    assert one.kind.way_out.endswith("delete /controller")


def test_a_controller_that_does_not_answer_may_elect_no_leader() -> None:
    snapshot = alone()
    answers(snapshot)
    snapshot["brokers"]["1"]["metadata_cache"] = None
    assert found(snapshot)["broker-does-not-answer"].kind.now.endswith("if it hangs, no leader is elected anywhere")


def test_a_broker_that_is_down_becomes_controller_rather_than_the_only_isr_member() -> None:
    snapshot = alone()
    state(snapshot).update(isr=[1])
    down(snapshot, 2, 3)
    snapshot["controller"] = None
    assert "start a broker that is down" in ways_out(snapshot)["no-controller"]


def test_without_a_controller_none_fails_over() -> None:
    snapshot = alone() | {"controller": None, "controller_epoch": 3}
    way_out = ways_out(snapshot)["controller-epoch-is-behind"]
    assert "then restart broker 1, so that it becomes the controller" in way_out


# Logs that are not there, or were not read.


@pytest.mark.parametrize("isr", [[1, 2, 3], [1]])
def test_an_isr_member_without_a_directory_is_named_though_meta_properties_were_not_read(isr: list[int]) -> None:
    snapshot = alone()
    state(snapshot)["isr"] = isr
    without_log(snapshot, 1)
    ways = ways_out(snapshot)
    assert "isr-member-has-no-log" in ways and "leader-does-not-lead" not in ways


def test_a_plan_that_starts_a_broker_without_its_log_gives_the_records_up() -> None:
    snapshot = alone()
    snapshot["topics"]["orders"]["znode"]["partitions"]["0"] = [2]
    state(snapshot).update(leader=-1, isr=[2], leader_epoch=6)
    without_log(snapshot, 1, 2, 3)
    down(snapshot, 2)
    known = problem(snapshot)
    assert known.premise == "if the records of orders-0 are given up" and known.keeps.startswith("it gives up")


def test_an_id_that_a_log_of_the_partition_may_have_is_read_first() -> None:
    """Partition 1 has ZooKeeper's id; broker 3, whose disk was not read, may have that of the leader of partition 0."""
    snapshot = alone("3.6.2")
    orders = snapshot["topics"]["orders"]
    orders["znode"] |= {"partitions": {"0": [1, 3], "1": [2, 3]}, "topic_id": OTHER}
    orders["partition_state"]["1"] = state(snapshot) | {"leader": 2, "isr": [2, 3]}
    state(snapshot)["isr"] = [1, 3]
    without_log(snapshot, 2)
    snapshot["brokers"]["2"]["dirs"]["orders-1"] = log(OTHER, crc=8)
    snapshot["brokers"]["3"].update(dirs=None, log_dirs=[])
    one = found(snapshot)["fetch-by-id-refused-mixed-topic-ids"]
    assert one.kind.way_out.startswith("see first which id partition.metadata of orders has on broker 3")
    assert one.detail.endswith(f"partition.metadata {IDS['orders']}; that of broker 3 was not read")


def test_an_id_that_nothing_shows_is_not_passed_over() -> None:
    snapshot = alone("3.6.2")
    del snapshot["topics"]["orders"]["znode"]["topic_id"]
    for broker in snapshot["brokers"].values():
        broker.update(dirs=None, log_dirs=[])
    notes = inspect_snapshot(json.dumps(snapshot).encode()).notes
    assert any(
        note.startswith("Without topic id in ZooKeeper: orders. The next controller mints one") for note in notes
    )


def test_records_that_are_not_shown_to_be_committed_are_not_said_to_be() -> None:
    snapshot = alone()
    snapshot["brokers"]["1"]["dirs"]["orders-0"] = log(IDS["orders"], EPOCHS[:2])
    one = found(snapshot)["replica-has-lost-records"]
    assert one.kind.title.startswith("a replica has records, perhaps committed ones, that") and not one.certain


def test_a_log_that_leads_does_not_only_take_disk_space() -> None:
    snapshot = alone()
    snapshot["topics"]["orders"]["znode"]["partitions"]["0"] = [2, 3]
    state(snapshot).update(leader=1, isr=[1])
    assert found(snapshot)["stray-log"].kind.now == "orders-0: the broker leads the partition, or is in its ISR"


# Topic ids.


def test_no_controller_has_read_an_id_that_two_topics_have() -> None:
    """ControllerContext.addTopicId refuses it: brokers hand out the id that the logs have."""
    snapshot = cluster()
    snapshot["topics"]["payments"]["znode"]["topic_id"] = IDS["orders"]
    one = found(snapshot)["topic-id-differs"]
    assert "fetch-by-id-refused" not in found(snapshot)
    assert one.kind.cause == "the znode of payments has the id of topic orders: a hand wrote it"


def test_an_id_that_the_logs_of_another_topic_have_was_written_by_hand() -> None:
    snapshot = cluster("3.6.2")
    snapshot["topics"]["orders"]["znode"]["topic_id"] = IDS["payments"]
    del snapshot["topics"]["payments"]["znode"]["topic_id"]
    cause = found(snapshot)["fetch-by-id-refused"].kind.cause
    assert cause == "the znode of orders has the id of topic payments: a hand wrote it"


# Migrations.


def test_in_dual_write_a_broker_that_is_down_is_named() -> None:
    snapshot = dual_write()
    snapshot["broker_ids"].remove(3)
    snapshot["brokers"]["3"]["alive"] = False
    snapshot["image"]["brokers"]["3"]["fenced"] = True
    assert ways_out(snapshot)["broker-down"].startswith("start it; if broker 3 is gone for good")


def test_no_id_saves_a_log_of_a_partition_that_kraft_lacks() -> None:
    snapshot = dual_write()
    topic = snapshot["topics"]["t0"]
    topic["znode"]["partitions"]["1"] = [1, 3]
    topic["partition_state"]["1"] = topic["partition_state"]["0"]
    for number in ("1", "3"):
        snapshot["brokers"][number]["dirs"]["t0-1"] = log(topic["znode"]["topic_id"])
    assert "no id helps: move the directory away" in consequence(snapshot, "log-goes-at-kraft-start").way_out
    assert consequence(snapshot, "rollback-loses").title.endswith("a rollback would bring it back")


# Series.


def test_a_series_says_that_it_goes_back() -> None:
    later = alone("3.6.2") | {"controller": 2, "controller_epoch": 7}
    (series,) = read_series([json.dumps(one).encode() for one in (later, alone("3.6.2"))])
    assert any("not in the order in which they were taken" in one for one in series.facts)


def test_a_series_says_that_an_id_is_gone_without_a_new_partition() -> None:
    erased = alone("3.6.2")
    del erased["topics"]["orders"]["znode"]["topic_id"]
    (series,) = read_series([json.dumps(one).encode() for one in (alone("3.6.2"), erased)])
    assert any("has no id of orders, and no partition more" in one for one in series.facts)


def test_snapshots_of_two_releases_are_those_before_and_after_an_upgrade() -> None:
    with pytest.raises(UsageError, match="of one cluster and one release: those before an upgrade, or after"):
        read_series([json.dumps(alone(release)).encode() for release in ("3.5.2", "3.6.2")])


def test_no_controller_gives_topics_ids_below_protocol_2_8() -> None:
    """Brokers of 3.6.2 with inter.broker.protocol.version 2.7 have no topic id anywhere (seen on brokers)."""
    snapshot = alone("3.6.2")
    topic = snapshot["topics"]["orders"]
    topic["znode"]["partitions"]["0"] = [2, 3]
    del topic["znode"]["topic_id"]
    topic["partition_state"]["0"].update(leader=-1, isr=[2], leader_epoch=7)
    for broker in snapshot["brokers"].values():
        broker["dirs"] = {name: {**one, "partition_metadata": None} for name, one in broker["dirs"].items()}
    without_log(snapshot, 1)
    down(snapshot, 2)
    recovery = plan_recovery(evolve(problem(snapshot), alternatives=()), seconds=60)
    assert recovery.plan is not None and [one.name for one in recovery.plan.procedures] == ["start-broker 2"]
    assert "leaves orders-0 with replicas with another topic id than ZooKeeper" not in foreseen(snapshot)
    read = read_snapshot(json.dumps(snapshot).encode())
    assert read.bounds["old_protocol_brokers"] == read.bounds["brokers"]
    snapshot["brokers"]["3"]["dirs"]["payments-0"] = log(IDS["payments"])  # an id: the protocol has them
    assert read_snapshot(json.dumps(snapshot).encode()).bounds["old_protocol_brokers"] == 0


def test_a_broker_that_is_down_has_a_stray_log_too() -> None:
    """It was called consistent, and no longer when the broker had started (seen on 3.9.0)."""
    snapshot = alone("3.9.0")
    snapshot["topics"]["orders"]["znode"]["partitions"]["0"] = [1, 2]
    state(snapshot)["isr"] = [1, 2]
    down(snapshot, 3)
    stray = found(snapshot)["stray-log"]
    assert stray.detail.startswith("broker 3 has its directory") and "stray-log" in problem(snapshot).uncovered
    assert "move orders-0 on broker 3 away" in ways_out(snapshot)["stray-log"]
    without_log(snapshot, 3)
    assert found(snapshot).keys() == {"broker-down"}
