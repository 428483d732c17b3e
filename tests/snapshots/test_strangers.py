"""Clusters of strangers: edits of a healthy cluster, after public reports, whose ways out were wrong once."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kwalk.invariants.reading.inspection import inspect_snapshot
from kwalk.model.language import UsageError
from kwalk.reports.pages.outlook import diagnosis_of
from kwalk.search.analyses.recovery import foresee, plan_recovery
from tests.snapshots.test_combined_damages import EPOCHS, IDS, OTHER, cluster, log, names, problem, stop, ways_out
from tests.snapshots.test_migrating import ID as DUAL
from tests.snapshots.test_migrating import dual_write
from tests.snapshots.test_reported_plans import procedure


def state(snapshot: dict[str, Any], topic: str = "orders") -> dict[str, Any]:
    return snapshot["topics"][topic]["partition_state"]["0"]


def answers(snapshot: dict[str, Any], leader: int = 1, epoch: int = 5) -> None:
    """Let all brokers answer that a broker leads orders-0."""
    known = {"error": 0, "leader": leader, "leader_epoch": epoch, "isr": [1, 2, 3], "offline": []}
    topics = {"orders": {"error": 0, "topic_id": IDS["orders"], "partitions": {"0": known}}}
    for broker in snapshot["brokers"].values():
        cache = {"brokers": snapshot["broker_ids"], "controller": snapshot["controller"], "topics": topics}
        broker["metadata_cache"] = cache if broker["alive"] else None


def test_nothing_is_planned_or_foreseen_while_the_controller_can_elect_nobody() -> None:
    """PartitionStateMachine aborts an election where a state has a later controller epoch: a start elects no leader."""
    snapshot = cluster()
    state(snapshot, "payments")["isr"] = [3]
    stop_of_last = [number for number in snapshot["broker_ids"] if number != 3]
    snapshot["broker_ids"], snapshot["brokers"]["3"]["alive"] = stop_of_last, False
    assert "start-broker 3" in names(problem(snapshot))
    state(snapshot)["controller_epoch"] = 40
    found = problem(snapshot)
    assert not names(found) and not found.worlds
    assert any("/controller_epoch is below that of a state" in note for note in found.notes)
    assert "but first set /controller_epoch" in ways_out(snapshot)["no-live-isr"]


def test_the_controller_epoch_rises_where_zookeeper_has_gone_back_while_brokers_ran() -> None:
    """They refuse a controller whose epoch is below one that they know."""
    snapshot = cluster()
    state(snapshot)["leader_epoch"] = 3
    assert "set /controller_epoch to 16 or more" in ways_out(snapshot)["state-is-behind-the-logs"]
    raised = [line for line in procedure(problem(snapshot), "fail-over").commands if "/controller_epoch 16" in line]
    assert raised and raised[0].startswith("zkCli.sh -server ZK set -v DATA_VERSION")
    assert not any("/controller_epoch" in line for line in procedure(problem(erased()), "fail-over").commands)


def erased() -> dict[str, Any]:
    """A cluster in which an old client has erased the id of orders."""
    snapshot = cluster("3.6.2")
    del snapshot["topics"]["orders"]["znode"]["topic_id"]
    return snapshot


@pytest.mark.parametrize("release", ["2.6.2", "3.9.0"])
def test_a_state_that_is_lost_is_created_again_with_the_leader_that_serves(release: str) -> None:
    """The next controller would begin at leader epoch 0, below that of the logs, with the first live replica."""
    snapshot = cluster(release, ids=IDS if release > "2.8" else dict.fromkeys(IDS))
    snapshot["topics"]["orders"]["partition_state"] = {}
    answers(snapshot, leader=2)
    way_out = ways_out(snapshot)["partition-state-is-lost"]
    assert "orders-0 with a leader_epoch of 15 or more, and broker 2 as leader" in way_out
    plan = plan_recovery(problem(snapshot), seconds=120).plan
    assert plan is not None and plan.procedures[0].name == "write-states-of-first-leaders"
    assert '"leader":2' in "".join(plan.procedures[0].commands)
    snapshot["brokers"]["3"]["dirs"] = None  # it may have the newest log
    assert problem(snapshot).left_out == ("orders-0",) and "fail-over" not in names(problem(snapshot))


def test_no_failover_succeeds_while_a_half_deleted_topic_is_moved() -> None:
    """No leader of a topic that is marked is elected, and its reassignment then finds no state."""
    snapshot = cluster(brokers=4)
    orders = snapshot["topics"]["orders"]
    orders["znode"].update(partitions={"0": [4, 1, 2, 3]}, adding_replicas={"0": [4]}, removing_replicas={"0": [3]})
    orders["partition_state"] = {}
    assert "failover-fails" not in ways_out(snapshot)
    snapshot["delete_topics"] = ["orders"]
    ways = ways_out(snapshot)
    assert ways["failover-fails"].startswith("write the znode of orders with empty adding_replicas")
    assert "until then no broker stays controller" in ways["deletion-pending"]


def test_the_controller_elects_a_replica_in_the_place_of_a_leader_that_is_none() -> None:
    """No replica can be placed on a broker that does not exist."""
    snapshot = cluster()
    state(snapshot).update(leader=7, isr=[7, 1])
    ways = ways_out(snapshot)
    assert ways["isr-outside-replicas"].startswith("delete /controller: the next controller elects a live ISR member")
    assert "but first" not in ways["leader-not-elected"]


def test_logs_that_more_replicas_have_than_lead_are_not_simply_moved_away() -> None:
    """A broker of another cluster with the id of a replica, before there were topic ids."""
    snapshot = cluster("2.7.2", ids=dict.fromkeys(IDS))
    state(snapshot).update(leader=3, isr=[3], leader_epoch=6)
    snapshot["brokers"]["3"]["dirs"]["orders-0"] = log(None, ((0, 0), (2, 30), (6, 100)), crc=8)
    way_out = ways_out(snapshot)["replica-has-another-log"]
    assert way_out.startswith("choose which records orders-0 is to have (kwalk diagnose --plan has each way)")
    assert way_out.endswith(
        "to keep those of brokers 1 and 2, move nothing away before one of them leads: broker 3 "
        "would, with an empty log"
    )


def test_a_failed_disk_that_a_deletion_waits_for_is_not_replaced_while_it_has_the_last_log() -> None:
    """Its broker runs, and would lead with an empty log."""
    snapshot = cluster()
    snapshot["delete_topics"] = ["payments"]
    failed = snapshot["brokers"]["2"]
    failed["log_dirs"] = [{"path": "/kafka", "broker_id": None, "cluster_id": None, "offline": True}]
    failed["dirs"] = {}
    state(snapshot).update(leader=1, isr=[1])
    assert "repair or replace failed disks" in ways_out(snapshot)["deletion-pending"]
    state(snapshot).update(leader=-1, isr=[2])
    way_out = ways_out(snapshot)["deletion-pending"]
    assert "replace" not in way_out and "Do not start broker 2 with empty log directories" in way_out


def test_disks_that_are_all_of_one_other_cluster_show_that_zookeeper_is_not_theirs() -> None:
    """The topics were created again under other ids: no plan is possible before /cluster/id is that of the disks."""
    snapshot = cluster() | {"cluster_id": "new", "broker_ids": [], "controller": None}
    for number, broker in snapshot["brokers"].items():
        broker["alive"] = False
        broker["log_dirs"] = [{"path": "/kafka", "broker_id": int(number), "cluster_id": "old", "offline": False}]
    way_out = ways_out(snapshot)["log-directory-of-another-broker"]
    assert "write that id into /cluster/id" in way_out and "of cluster old" in way_out
    snapshot["brokers"]["3"]["log_dirs"][0]["cluster_id"] = "new"
    assert "/cluster/id" not in ways_out(snapshot)["log-directory-of-another-broker"]


def test_a_log_with_records_and_without_leader_epochs_is_said_to_hide_what_it_lacks() -> None:
    """Logs of message formats before 2 have none; the leader's is shorter than the others."""
    snapshot = cluster("2.5.1", ids=dict.fromkeys(IDS))
    for broker in snapshot["brokers"].values():
        broker["dirs"]["orders-0"]["leader_epoch_checkpoint"] = None
    found = inspect_snapshot(json.dumps(snapshot).encode())
    assert any(note.startswith("No leader epochs of orders-0 are shown") for note in found.notes)


def test_a_directory_that_no_broker_has_set_aside_is_refused() -> None:
    snapshot = cluster()
    snapshot["brokers"]["3"]["set_aside"] = {"orders-0": log(IDS["orders"])}
    with pytest.raises(UsageError, match="named like no directory that a broker has set aside"):
        inspect_snapshot(json.dumps(snapshot).encode())


@pytest.mark.parametrize("release", ["2.6.2", "3.9.0"])
def test_an_older_replica_is_not_started_for_good_while_the_records_are_on_former_ones(release: str) -> None:
    """A hand has left the partition on broker 3 alone, whose disk is that of a backup."""
    snapshot = cluster(release, ids=IDS if release > "2.8" else dict.fromkeys(IDS))
    stop(snapshot, 3)
    snapshot["topics"]["orders"]["znode"]["partitions"]["0"] = [3]
    state(snapshot).update(leader=-1, isr=[3], leader_epoch=7)
    older = log(IDS["orders"] if release > "2.8" else None, ((0, 0), (3, 10)))
    for number, (found, committed) in {"1": ({}, 60), "2": ({}, 60), "3": (older, 30)}.items():
        snapshot["brokers"][number]["dirs"]["orders-0"] |= {**found, "high_watermark": committed}
    ways = ways_out(snapshot)
    assert ways["records-on-no-replica"].startswith("keep orders-0 on brokers 1 and 2")
    assert "but first see to orders-0" in ways["no-live-isr"] and problem(snapshot).left_out == ("orders-0",)


def test_a_forecast_says_of_what_nothing_changes_where_parts_were_left_out() -> None:
    """A state is lost, and the other partition is in order: the failover that harms the first does nothing there."""
    snapshot = cluster()
    orders = snapshot["topics"]["orders"]
    orders["znode"]["partitions"]["1"] = [1, 2, 3]
    orders["partition_state"] = {"1": orders["partition_state"]["0"]}
    for broker in snapshot["brokers"].values():
        broker["dirs"]["orders-1"] = log(IDS["orders"])
    snapshot["brokers"]["3"]["dirs"] = None  # it may have the newest log
    answers(snapshot)
    found = problem(snapshot)
    text = " ".join(diagnosis_of(found.inspection, [foresee(found)], []))
    assert found.left_out == ("orders-0",) and "nothing changes for orders-1" in text


@pytest.mark.parametrize("policy", ["compact", None])
@pytest.mark.parametrize(("leader", "isr"), [(1, [1, 2, 3]), (1, [1, 2]), (2, [2, 1, 3])])
def test_a_replica_that_was_made_after_a_cleaning_lacks_leader_epochs(policy, leader: int, isr: list[int]) -> None:
    """It has them from the batches that are left: as __consumer_offsets wherever a broker was replaced."""
    ids = {"__consumer_offsets": IDS["orders"]}
    snapshot = cluster(ids=ids)
    snapshot["topics"]["__consumer_offsets"]["cleanup_policy"] = policy
    state(snapshot, "__consumer_offsets").update(leader=leader, isr=isr)
    for number, broker in snapshot["brokers"].items():
        epochs = ((0, 4), (5, 44)) if number == "1" else ((0, 0), (3, 10), (5, 40))
        broker["dirs"]["__consumer_offsets-0"] |= {**log(IDS["orders"], epochs, crc=int(number)), "high_watermark": 60}
    assert not {*ways_out(snapshot)} - {"catching-up"}
    diverged = log(IDS["orders"], ((0, 0), (4, 30), (5, 35)))
    snapshot["brokers"]["1"]["dirs"]["__consumer_offsets-0"] = diverged | {"high_watermark": 60}
    earlier = log(IDS["orders"], ((0, 0), (3, 34), (5, 40)))
    snapshot["brokers"]["2"]["dirs"]["__consumer_offsets-0"] = earlier | {"high_watermark": 60}
    assert "replicas-diverged" in ways_out(snapshot)


def test_without_high_watermarks_what_a_leader_lacks_may_be_committed() -> None:
    """The leader began epoch 7 at offset 30, where the others have records of earlier epochs."""
    snapshot = cluster()
    state(snapshot).update(isr=[1], leader_epoch=7)
    snapshot["brokers"]["1"]["dirs"]["orders-0"] = log(IDS["orders"], ((0, 0), (3, 10), (7, 30)))
    for broker in snapshot["brokers"].values():
        broker["dirs"]["orders-0"]["high_watermark"] = None
    assert "at once, while broker 2 still has them, copy orders-0" in ways_out(snapshot)["replica-has-lost-records"]


def test_a_plan_takes_a_cleaned_log_for_a_copy() -> None:
    """Broker 1 has copied after a cleaning, and truncates nothing when broker 3 leads."""
    snapshot = cluster(ids={"__consumer_offsets": IDS["orders"]})
    stop(snapshot, 3)
    snapshot["topics"]["__consumer_offsets"]["cleanup_policy"] = "compact"
    state(snapshot, "__consumer_offsets").update(leader=-1, isr=[3], leader_epoch=6)
    cleaned = log(IDS["orders"], ((0, 4), (5, 44)), crc=8)
    for number, found in {"1": cleaned, "2": {}, "3": {}}.items():
        snapshot["brokers"][number]["dirs"]["__consumer_offsets-0"] |= {**found, "high_watermark": 60}
    planned = plan_recovery(problem(snapshot), seconds=120)
    assert planned.plan is not None and [one.name for one in planned.plan.procedures] == ["start-broker 3"]


def on_broker_2(release: str, own: dict[str, Any], stale: str | None) -> dict[str, Any]:
    """Topic orders was created again on broker 2 only, with an own log or an earlier one, which 1 and 3 have."""
    snapshot = cluster(release, ids=IDS if release > "2.8" else dict.fromkeys(IDS))
    snapshot["topics"]["orders"].update(version=0, czxid=900, mzxid=900)
    snapshot["topics"]["orders"]["znode"]["partitions"] = {"0": [2]}
    state(snapshot).update(leader=2, isr=[2], leader_epoch=0)
    for number, broker in snapshot["brokers"].items():
        broker["dirs"]["orders-0"] = own if number == "2" else log(stale)
    return snapshot


@pytest.mark.parametrize("release", ["2.6.2", "2.8.2", "3.9.0"])
def test_the_log_of_an_earlier_topic_harms_nobody_on_a_broker_that_is_no_replica(release: str) -> None:
    identity, stale = (IDS["orders"], OTHER) if release > "2.8" else (None, None)
    ways = ways_out(on_broker_2(release, log(identity, ((0, 0),), crc=9), stale))
    assert ways.keys() == {"stray-log"} and ways["stray-log"].startswith("move orders-0 on brokers 1 and 3 away")


def test_who_is_to_lead_by_a_state_is_a_replica() -> None:
    """ZooKeeper was lost, and a client created the topic with one replica: the earlier logs are on three brokers."""
    ways = ways_out(on_broker_2("3.9.0", log(OTHER), OTHER))
    assert "and the replicas 1, 2 and 3 in the topic's znode" in ways["leader-refuses-topic-id"]
    assert ways["stray-log"].startswith("leave orders-0 on brokers 1 and 3 as it is, until you have chosen")


@pytest.mark.parametrize("release", ["2.8.2", "3.9.0"])
def test_a_stray_log_that_a_new_partition_meets_is_not_taken_for_the_topics(release: str) -> None:
    """Topic orders got partition 1, of which broker 2, its first replica, has an earlier topic's log."""
    snapshot = cluster(release)
    snapshot["topics"]["orders"]["znode"]["partitions"]["1"] = [2, 3, 1]
    snapshot["topics"]["orders"]["partition_state"]["1"] = state(snapshot) | {"leader": 2, "leader_epoch": 0}
    for number, broker in snapshot["brokers"].items():
        empty = {"leader_epoch_checkpoint": "0\n0\n", "files": {f"{0:020}.log": 0}, "first_batch": None}
        broker["dirs"]["orders-1"] = log(OTHER, crc=8) if number == "2" else log(IDS["orders"]) | empty
    way_out = ways_out(snapshot)["log-of-an-earlier-topic"]
    assert "to keep those of brokers 1 and 3, stop broker 2, move orders-1 away, and start it" in way_out
    assert "remove partition.metadata of orders-1 on broker 2" in way_out
    assert problem(snapshot).premise == "to keep the records that topic orders has on broker 1 and 3"


@pytest.mark.parametrize(("release", "tool"), [("2.5.1", " of the tool of 2.6 or later)"), ("3.9.0", ")")])
def test_a_reassignment_that_is_in_progress_lets_no_other_begin_without_an_option(release: str, tool: str) -> None:
    """ReassignPartitionsCommand.executeAssignment; that of 2.5 changes a throttle then, and nothing else."""
    snapshot = cluster(release, brokers=4, ids=IDS if release > "2.8" else dict.fromkeys(IDS))
    stop(snapshot, 3)
    snapshot["brokers"]["3"]["dirs"].pop("orders-0")
    orders = snapshot["topics"]["orders"]
    orders["znode"]["partitions"] = {"0": [1, 2]}
    assert "(kafka-reassign-partitions.sh --execute)" in ways_out(snapshot)["broker-down"]
    orders["znode"].update(partitions={"0": [4, 1, 2]}, adding_replicas={"0": [4]})
    assert f"--execute --additional{tool}" in ways_out(snapshot)["broker-down"]


def test_no_other_replica_is_said_to_lose_records_where_there_is_none() -> None:
    snapshot = cluster()
    stop(snapshot, 3)
    snapshot["topics"]["orders"]["znode"]["partitions"] = {"0": [3]}
    state(snapshot).update(leader=-1, isr=[3])
    for broker in snapshot["brokers"].values():
        broker["dirs"].pop("orders-0")
    aside = "orders-0.0123456789abcdef0123456789abcdef-delete"
    snapshot["brokers"]["3"]["set_aside"] = {aside: log(IDS["orders"])}
    way_out = ways_out(snapshot)["no-live-isr"]
    assert "do not start broker 3: its log of orders-0 is gone; find the disk with its log" in way_out
    assert "--plan" not in way_out and problem(snapshot).left_out == ("orders-0",)


def test_no_failover_is_advised_while_a_znode_has_no_id() -> None:
    """The next controller would mint another id: that of the logs is written first, even if brokers got one."""
    snapshot = cluster("3.4.1")
    del snapshot["topics"]["orders"]["znode"]["topic_id"]
    answers(snapshot)
    stop(snapshot, 3)
    snapshot["brokers"]["3"]["dirs"]["orders-0"] = log(OTHER, crc=8)
    ways = ways_out(snapshot)
    assert ways["down-broker-has-another-log"] == "before broker 3 starts, move orders-0 away there"
    assert ways["topic-id-missing"].endswith(f"{IDS['orders']} into that of orders")
    snapshot = cluster("3.4.1")
    del snapshot["topics"]["orders"]["znode"]["topic_id"]
    answers(snapshot)
    for broker in snapshot["brokers"].values():
        broker["metadata_cache"]["topics"]["orders"]["topic_id"] = OTHER
    way_out = ways_out(snapshot)["fetch-by-id-refused"]
    assert way_out.startswith(f"write the id {IDS['orders']}, which the logs have, into the znode of orders, then fail")


def test_replicas_take_an_id_that_a_hand_wrote_after_the_next_failover() -> None:
    snapshot = cluster()
    answers(snapshot)
    snapshot["topics"]["orders"]["znode"]["topic_id"] = OTHER
    (kind,) = (
        one for one in inspect_snapshot(json.dumps(snapshot).encode()).by_kind() if one.name == "topic-id-differs"
    )
    assert kind.later.startswith("after the next failover of the controller, when a leader epoch rises")


def test_a_replica_that_is_removed_is_not_moved_elsewhere() -> None:
    snapshot = cluster(brokers=4)
    stop(snapshot, 3)
    snapshot["topics"].pop("payments")
    orders = snapshot["topics"]["orders"]["znode"]
    orders.update(partitions={"0": [4, 1, 2, 3]}, adding_replicas={"0": [4]}, removing_replicas={"0": [3]})
    assert ways_out(snapshot)["broker-down"] == "start it"


def test_no_empty_broker_leads_while_a_live_replica_has_a_log() -> None:
    """The follower would lose what it has, though only the last records are gone with the broker."""
    snapshot = cluster(brokers=2)
    for name in IDS:
        snapshot["topics"][name]["znode"]["partitions"] = {"0": [1, 2]}
        state(snapshot, name).update(leader=-1, isr=[1], leader_epoch=8)
    snapshot["broker_ids"], snapshot["controller"] = [2], 2
    snapshot["brokers"]["1"]["alive"] = False
    for name in IDS:
        snapshot["brokers"]["1"]["dirs"][f"{name}-0"] = log(IDS[name], ((0, 0), (3, 10), (5, 40), (7, 60)))
    (found,) = (
        one
        for one in plan_recovery(problem(snapshot), seconds=120).alternatives
        if one.problem.premise == "if broker 1 is gone for good, and acknowledged records may be lost"
    )
    steps = [] if found.plan is None else [one.name for one in found.plan.procedures]
    assert steps == ["elect-unclean orders", "elect-unclean payments"]


def test_in_dual_write_nobody_takes_over_from_a_leader_on_a_failed_disk() -> None:
    snapshot = dual_write()
    snapshot["brokers"]["1"]["dirs"].pop("t0-0")
    failed = {"path": "/b", "broker_id": None, "cluster_id": None, "offline": True}
    snapshot["brokers"]["1"]["log_dirs"] = [failed]
    assert ways_out(snapshot)["offline-log-directory"].endswith("and restart the broker")
    snapshot["image"]["topics"]["t0"]["partitions"]["0"]["leader"] = 3
    snapshot["topics"]["t0"]["partition_state"]["0"]["leader"] = 3
    assert "offline-replica" in ways_out(snapshot)


def test_a_replica_that_is_added_loses_its_copy_in_a_migration_as_well() -> None:
    """It copies before the next controller mints an id: no log is left in KRaft mode."""
    snapshot = erased()
    orders = snapshot["topics"]["orders"]["znode"]
    orders.update(partitions={"0": [4, 1, 2, 3]}, adding_replicas={"0": [4]})
    snapshot["broker_ids"].append(4)
    snapshot["brokers"]["4"] = {**snapshot["brokers"]["1"], "dirs": {}}
    (prospect,) = inspect_snapshot(json.dumps(snapshot).encode()).prospects
    assert "topic-is-emptied" in {one.name for one in prospect.consequences}


def test_no_broker_restarts_to_lead_without_the_records_that_others_have() -> None:
    """ZooKeeper was restored from a backup of before a reassignment: brokers 4, 5 and 6 serve clients still."""
    snapshot = cluster(brokers=6)
    answers(snapshot, leader=4)
    state(snapshot)["leader_epoch"] = 3
    for number, broker in snapshot["brokers"].items():
        broker["dirs"].pop("orders-0", None)
        if number > "3":
            broker["dirs"]["orders-0"] = log(IDS["orders"])
    assert "but first see to orders-0, whose records are on" in ways_out(snapshot)["leader-does-not-lead"]


def test_logs_without_an_id_that_may_be_of_an_earlier_topic_have_another_way_out() -> None:
    snapshot = cluster("2.6.2", ids=dict.fromkeys(IDS))
    state(snapshot)["leader_epoch"] = 0
    assert "if they are of an earlier topic of the name, move" in ways_out(snapshot)["state-is-behind-the-logs"]


def test_brokers_answer_nothing_outdated_about_a_state_that_is_lost() -> None:
    snapshot = cluster(brokers=4)
    orders = snapshot["topics"]["orders"]
    orders["znode"].update(partitions={"0": [4, 1, 2, 3]}, adding_replicas={"0": [4]})
    answers(snapshot)
    orders["partition_state"] = {}
    assert "stale-metadata" not in ways_out(snapshot)


def test_where_no_broker_runs_no_controller_is_failed_over() -> None:
    """All machines have lost their power, and the only ISR member the end of its log."""
    snapshot = cluster()
    state(snapshot)["isr"] = [1]
    short = {"files": {f"{0:020}.log": 1000, f"{45:020}.log": 0}, "recovery_point": 45, "high_watermark": 45}
    snapshot["brokers"]["1"]["dirs"]["orders-0"] |= short
    snapshot["brokers"]["2"]["dirs"]["orders-0"] |= {"recovery_point": 70, "high_watermark": 60}
    snapshot["broker_ids"], snapshot["controller"] = [], None
    for broker in snapshot["brokers"].values():
        broker["alive"] = False
    ways = ways_out(snapshot)
    assert "broker 2 as leader and only ISR member; then start brokers" in ways["isr-member-lacks-records"]
    assert "or see how others get its place" in ways["no-live-isr"]


def test_a_plan_waits_for_a_controller_where_there_is_none_to_delete() -> None:
    snapshot = erased() | {"controller": None}
    before = procedure(problem(snapshot), "fail-over").before
    assert callable(before) and "there is a /controller again" in before(frozenset())


def test_no_broker_starts_while_it_would_be_sent_another_id_or_a_leader_by_hand() -> None:
    """The znode has the id of the logs again, and the controller not read it; and a hand wrote who leads."""
    snapshot = cluster("3.6.2")
    answers(snapshot)
    for broker in snapshot["brokers"].values():
        broker["metadata_cache"]["topics"]["orders"]["topic_id"] = OTHER
    state(snapshot)["leader_epoch"] = 6
    assert "but first see to orders-0, of which the controller sends" in ways_out(snapshot)["leader-does-not-lead"]
    snapshot = cluster()
    stop(snapshot, 3)
    answers(snapshot)
    state(snapshot).update(leader=3, isr=[3])
    assert "but first write the state of orders-0, whose leader was" in ways_out(snapshot)["no-live-isr"]


@pytest.mark.parametrize("running", [(1, 2, 3), (1, 2), ()])
def test_an_erased_id_is_named_while_no_controller_works(running: tuple[int, ...]) -> None:
    """Whoever becomes the next one mints another id."""
    snapshot = erased() | {"broker_ids": [*running], "controller": None if 3 in running or not running else 3}
    for number, broker in snapshot["brokers"].items():
        broker["alive"] = int(number) in running
    ways = ways_out(snapshot)
    assert "topic-id-missing" in ways
    first = ways["no-controller" if running else "no-live-isr"]
    assert "but first write the topic id of orders: a failover mints others" in first


def test_no_plan_starts_a_broker_with_the_disk_that_is_gone_for_good() -> None:
    snapshot = erased() | {"broker_ids": [], "controller": None}
    for broker in snapshot["brokers"].values():
        broker["alive"] = False
    gone = [one for one in problem(snapshot).alternatives if "gone for good" in one.premise]
    assert gone
    for one in gone:
        missed = {name.removeprefix("start-broker ") for name in one.instead_of}
        starting = {step.name for step in one.procedures if step.starts & missed}
        assert not any(name.startswith("restart-without-metadata") for name in starting)


def test_an_isr_member_that_is_no_replica_is_made_one_before_its_records_are_given_up() -> None:
    """PartitionLeaderElectionAlgorithms.offlinePartitionLeaderElection elects live ISR members of the assignment."""
    snapshot = cluster(brokers=4)
    state(snapshot).update(leader=4, isr=[4])
    snapshot["brokers"]["4"].update(alive=False, dirs={"orders-0": log(IDS["orders"])})
    snapshot["broker_ids"].remove(4)
    way_out = ways_out(snapshot)["isr-outside-replicas"]
    assert "If one can start with its log, write it into the replicas in the topic's znode" in way_out
    snapshot["topics"]["orders"]["partition_state"] = {}
    snapshot["broker_ids"], snapshot["controller"] = [], None
    for broker in snapshot["brokers"].values():
        broker["alive"] = False
    starts = "start a broker, as the way out of those that are down says, which becomes the controller"
    assert f"whatever that answers, {starts}" in ways_out(snapshot)["no-live-replica"]


def test_a_dead_broker_is_not_given_up_whose_log_is_later_than_the_state() -> None:
    snapshot = cluster()
    stop(snapshot, 3)
    snapshot["brokers"]["3"]["dirs"]["orders-0"] = log(IDS["orders"], ((0, 0), (3, 10), (5, 40), (8, 70)))
    assert "do not give broker 3 up" in ways_out(snapshot)["broker-down"]


def test_a_log_without_an_id_does_not_take_one_that_is_not_the_topics() -> None:
    """A controller has minted the znode's id, and a hand removed partition.metadata of a replica out of the ISR."""
    snapshot = cluster("3.4.1")
    snapshot["topics"]["orders"]["znode"]["topic_id"] = OTHER
    state(snapshot).update(leader=2, isr=[2, 3])
    snapshot["brokers"]["1"]["dirs"]["orders-0"] = log(None)
    assert "but first see to the topic id of orders" in ways_out(snapshot)["log-without-topic-id"]


def test_in_dual_write_the_last_copies_are_saved_before_a_leader_moves() -> None:
    snapshot = dual_write()
    for number, broker in snapshot["brokers"].items():
        broker["dirs"]["t0-0"] = log(DUAL, ((0, 0), (4, 40))) | {"recovery_point": 60, "high_watermark": 55}
        if number == "1":
            short = {"files": {f"{0:020}.log": 1000, f"{40:020}.log": 0}, "recovery_point": 40, "high_watermark": 40}
            broker["dirs"]["t0-0"] |= short
    (prospect,) = inspect_snapshot(json.dumps(snapshot).encode()).prospects
    (found,) = (one for one in prospect.consequences if one.name == "isr-member-lacks-records")
    assert found.way_out.startswith("copy the other logs to another place, at once")


def test_a_leader_whose_disk_was_not_read_is_taken_to_lead() -> None:
    """A log that is not in the snapshot is taken to agree with ZooKeeper, its leader epochs included."""
    snapshot = cluster()
    snapshot["brokers"]["1"].update(dirs=None, log_dirs=[])
    state(snapshot)["isr"] = [1]
    assert set(ways_out(snapshot)) == {"catching-up"}


def test_a_lost_partition_has_the_id_that_the_other_logs_of_its_topic_have() -> None:
    """The znode has lost its id and a partition."""
    snapshot = erased()
    for broker in snapshot["brokers"].values():
        broker["dirs"]["orders-1"] = log(IDS["orders"])
    ways = ways_out(snapshot)
    assert "partition-is-in-logs-only" in ways and "stray-log" not in ways


def test_logs_of_a_broker_of_another_cluster_are_not_left_over_in_this_one() -> None:
    snapshot = cluster(brokers=4) | {"cluster_id": "own"}
    for number, broker in snapshot["brokers"].items():
        whose = "other" if number == "4" else "own"
        broker["log_dirs"] = [{"path": "/kafka", "broker_id": int(number), "cluster_id": whose, "offline": False}]
    snapshot["brokers"]["4"]["dirs"] = {"clicks-0": log(OTHER), "orders-0": log(OTHER)}
    assert set(ways_out(snapshot)) == {"log-directory-of-another-broker"}
    snapshot["broker_ids"].remove(4)
    assert set(ways_out(snapshot)) == {"log-directory-of-another-broker"}


@pytest.mark.parametrize("name", ["orders-0", "clicks-0"])
def test_a_disk_of_another_cluster_shows_nothing_of_the_replicas_of_its_broker(name: str) -> None:
    """The broker read meta.properties as it started: the disk, or the host that was read, is another one."""
    snapshot = cluster() | {"cluster_id": "own"}
    for number, broker in snapshot["brokers"].items():
        whose = "other" if number == "3" else "own"
        broker["log_dirs"] = [{"path": "/kafka", "broker_id": int(number), "cluster_id": whose, "offline": False}]
    snapshot["brokers"]["3"]["dirs"] = {name: log(OTHER, crc=8)}
    assert set(ways_out(snapshot)) == {"log-directory-of-another-broker"}


def test_a_cluster_id_that_was_changed_under_running_brokers_is_written_back() -> None:
    snapshot = cluster() | {"cluster_id": "new"}
    for number, broker in snapshot["brokers"].items():
        broker["log_dirs"] = [{"path": "/kafka", "broker_id": int(number), "cluster_id": "old", "offline": False}]
    way_out = ways_out(snapshot)["log-directory-of-another-broker"]
    assert way_out.startswith("all log directories are of cluster old") and "write that id back into it" in way_out
    snapshot["broker_ids"] = []
    assert "write that id" not in ways_out(snapshot)["log-directory-of-another-broker"]


def test_a_leader_whose_own_epoch_only_followers_have_has_led_and_lost_its_records() -> None:
    """Its disk was replaced by an older copy: a follower has an epoch since it has copied a record of it."""
    snapshot = cluster()
    snapshot["brokers"]["1"]["dirs"]["orders-0"] = log(IDS["orders"], EPOCHS[:2])
    assert set(ways_out(snapshot)) == {"replica-has-lost-records"}
    snapshot["brokers"]["2"]["dirs"]["orders-0"] = log(IDS["orders"], EPOCHS[:2])
    assert set(ways_out(snapshot)) == {"replica-has-lost-records"}
    one = next(iter(inspect_snapshot(json.dumps(snapshot).encode()).observations))
    assert not one.certain and "40, does not show that they were committed" in one.detail


def test_an_only_isr_member_does_not_start_without_records_of_the_epoch_that_it_led() -> None:
    snapshot = cluster()
    snapshot["broker_ids"], snapshot["controller"] = [], None
    for broker in snapshot["brokers"].values():
        broker["alive"] = False
    state(snapshot).update(leader=2, isr=[2])
    snapshot["brokers"]["2"]["dirs"]["orders-0"] = log(IDS["orders"], EPOCHS[:2])
    way_out = ways_out(snapshot)["no-live-isr"]
    assert way_out.startswith("do not start broker 2: its log of orders-0 has lost its end")
    assert "; find the disk with its log, or follow kwalk diagnose --plan" in way_out


def test_a_lost_partition_has_the_id_of_the_other_logs_though_a_controller_has_minted_one() -> None:
    snapshot = cluster()
    snapshot["topics"]["orders"]["znode"]["topic_id"] = OTHER
    for broker in snapshot["brokers"].values():
        broker["dirs"]["orders-1"] = log(IDS["orders"])
    found = inspect_snapshot(json.dumps(snapshot).encode()).observations
    (lost,) = [one for one in found if one.kind.name == "partition-is-in-logs-only"]
    assert not lost.certain and "stray-log" not in ways_out(snapshot)


def test_no_file_is_removed_for_an_id_that_only_a_log_which_was_not_read_may_have() -> None:
    """The leader's disk was not read: whether it has ZooKeeper's id, or that of the others, is not shown."""
    snapshot = cluster()
    snapshot["brokers"]["1"].update(dirs=None, log_dirs=[])
    snapshot["topics"]["orders"]["znode"]["topic_id"] = OTHER
    assert ways_out(snapshot)["topic-ids-mixed"].startswith("see first which id partition.metadata of orders has on")


def test_an_id_that_was_erased_from_a_topic_of_mixed_logs_is_to_be_chosen() -> None:
    snapshot = erased()
    snapshot["brokers"]["3"]["dirs"]["orders-0"] = log(OTHER)
    way_out = ways_out(snapshot)["topic-id-missing"]
    assert f"{IDS['orders']} of brokers 1 and 2 or {OTHER} of broker 3 into that of orders" in way_out
