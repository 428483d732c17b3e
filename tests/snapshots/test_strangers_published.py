"""Clusters of strangers: what public reports show of states and replicas that were written by hand, read wrong once."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.snapshots.test_combined_damages import EPOCHS, IDS, OTHER, cluster, log, problem, ways_out
from tests.snapshots.test_reported_clusters import FOLDER
from tests.snapshots.test_strangers import state
from tests.snapshots.test_strangers_foreseen import alone, down, found

MISNAMED = "directory-has-another-partitions-log"


def replaced(stray: dict[str, Any]) -> dict[str, Any]:
    """The replicas were written by hand, and the state removed: broker 1 leads a new log; broker 3 has a log, too."""
    snapshot = alone("3.9.0")
    snapshot["topics"]["orders"]["znode"]["partitions"]["0"] = [1]
    state(snapshot).update(leader_epoch=0, isr=[1])
    snapshot["brokers"]["1"]["dirs"]["orders-0"] = log(IDS["orders"], ((0, 0),), crc=9)
    snapshot["brokers"]["2"]["dirs"].pop("orders-0")
    snapshot["brokers"]["3"]["dirs"]["orders-0"] = stray
    return snapshot


@pytest.mark.parametrize("watermark", [4, None])
def test_a_log_of_the_topic_that_began_apart_has_records_that_no_replica_has(watermark: int | None) -> None:
    """Seen on 3.9.0: in the same leader epoch, which the controller gave twice."""
    stray = {**log(IDS["orders"], ((0, 0),)), "high_watermark": watermark, "recovery_point": 4}
    snapshot = replaced(stray)
    one = found(snapshot)["records-on-no-replica"]
    assert "committed records from offset 0 on" in one.detail
    assert "or the replicas were written by hand, write this state" in ways_out(snapshot)["records-on-no-replica"]
    assert not problem(snapshot).procedures


def test_a_stray_copy_of_the_leaders_log_is_only_left_over() -> None:
    stray = {**log(IDS["orders"], ((0, 0),), crc=9), "high_watermark": 4}
    assert found(replaced(stray)).keys() == {"stray-log"}


@pytest.mark.parametrize(
    ("of", "failed", "is_offline"), [("3.4.1", False, True), ("3.0.2", True, True), ("3.0.2", False, False)]
)
def test_a_replica_is_on_a_failed_disk_if_its_live_broker_was_not_read(of: str, failed: bool, is_offline: bool) -> None:
    """Metadata says so; on 3.0 it says the same of a replica that has refused its first request."""
    snapshot = json.loads((FOLDER / "offline-dir-only-replica.json").read_text()) | {"version": of}
    roots = [{"path": "/kafka", "broker_id": None, "cluster_id": None, "offline": True}]
    snapshot["brokers"]["2"] |= {"dirs": None, "log_dirs": roots if failed else []}
    kinds = found(snapshot).keys()
    assert ("offline-log-directory" in kinds) is is_offline
    assert not is_offline or "leader-not-elected" not in kinds
    if is_offline:  # a restart takes up what the broker has on its other disks
        assert "the log directories of broker 2, which the snapshot lacks, have the logs" in problem(snapshot).premise


@pytest.mark.parametrize("is_down", [True, False])
def test_a_replica_that_began_apart_under_the_topic_s_id_has_records_that_are_given_up(is_down: bool) -> None:
    """The state was removed by hand while the replica was down, and another one began the topic again."""
    snapshot = replaced(log(IDS["orders"], ((0, 0),)))
    snapshot["topics"]["orders"]["znode"]["partitions"]["0"] = [1, 3]
    if is_down:
        down(snapshot, 3)
    kind = "down-broker-has-another-log" if is_down else "replica-has-another-log"
    assert "what it has of another leader may have been acknowledged" in found(snapshot)[kind].detail
    known = problem(snapshot)
    assert [one.name for one in known.procedures if one.name.startswith("move-")] == ["move-directories orders 3"]
    assert known.keeps.startswith("it gives up the records that only broker 3 has of orders-0")


def test_the_longest_log_leads_for_who_gives_up_the_isr_where_all_checkpoints_were_removed() -> None:
    snapshot = alone("3.4.1")
    down(snapshot, 1, 2, 3)
    state(snapshot).update(leader=-1, isr=[3], leader_epoch=6)
    for number, size in (("1", 3000), ("2", 4000), ("3", 5000)):
        directory = snapshot["brokers"][number]["dirs"]["orders-0"]
        directory |= {"leader_epoch_checkpoint": None, "files": {f"{0:020}.log": size}}
    lossy = next(one for one in problem(snapshot).alternatives if one.is_last_resort)
    starts = {one.name for one in lossy.procedures if one.name.startswith("start-broker")}
    assert lossy.premise.startswith("if broker 3 is gone for good") and starts == {"start-broker 2"}


def test_what_is_moved_away_of_two_directories_is_compared_with_the_leader_s_log() -> None:
    """An empty disk was in the place of another one, which came back: the broker had led, and others truncated."""
    snapshot = alone("3.9.0")
    snapshot["brokers"]["1"]["twice"] = {"orders-0": ["/kafka", "/old"]}
    way_out = ways_out(snapshot)["partition-in-two-log-directories"]
    assert "Compare the one that was moved with the leader's log before it is removed" in way_out
    down(snapshot, 1)
    state(snapshot)["isr"] = [2, 3]
    assert (
        "do not give broker 1 up: it may have the last copy of records of orders-0" in ways_out(snapshot)["broker-down"]
    )


def test_a_removed_state_hides_no_records_that_a_broker_has_which_is_no_replica() -> None:
    """Seen on 2.8.2: the next controller elected the first live replica, and the other one lost its log."""
    snapshot = replaced({**log(IDS["orders"]), "high_watermark": 50})
    snapshot["topics"]["orders"]["znode"]["partitions"]["0"] = [1, 2]
    snapshot["topics"]["orders"]["partition_state"] = {}
    snapshot["brokers"]["1"]["dirs"].pop("orders-0")
    snapshot["brokers"]["2"]["dirs"]["orders-0"] = {**log(IDS["orders"], EPOCHS[:2]), "high_watermark": 30}
    ways = ways_out(snapshot)
    assert "a leader_epoch of 15 or more, and broker 3 as leader" in ways["records-on-no-replica"]
    assert "first see to orders-0, whose records are on brokers" in ways["partition-without-state"]
    assert "first see to" not in ways["records-on-no-replica"]
    assert "stray-log" not in ways and not problem(snapshot).procedures


@pytest.mark.parametrize(("identity", "is_its"), [(IDS["orders"], True), (None, False)])
def test_a_log_is_that_of_a_topic_without_states_and_logs_if_it_has_its_id(identity: str | None, is_its: bool) -> None:
    """Without an id it may be of an earlier topic of the name: this one may have been created just now."""
    snapshot = replaced({**log(identity), "high_watermark": 50}) | {"version": "2.8.2"}
    snapshot["topics"]["orders"]["partition_state"] = {}
    snapshot["brokers"]["1"]["dirs"].pop("orders-0")
    assert ("records-on-no-replica" in found(snapshot)) is is_its


def test_a_log_of_another_topic_in_the_place_of_the_only_isr_members_own_is_a_loss() -> None:
    """A directory was copied over it: seen on 2.8.2, where the plan was called safe without the last records."""
    snapshot = alone("2.8.2")
    snapshot["topics"]["orders"].update(version=0, mzxid=60)  # the id is its first one
    snapshot["topics"]["orders"]["znode"]["partitions"]["0"] = [1, 2]
    snapshot["brokers"]["3"]["dirs"].pop("orders-0")
    snapshot["brokers"]["1"]["dirs"]["orders-0"] = log(OTHER, ((0, 0),), crc=9)
    down(snapshot, 1)
    state(snapshot).update(leader=-1, isr=[1], leader_epoch=7)
    known = problem(snapshot)
    assert known.premise == "if the log that broker 1 had of orders-0 is on no other disk"
    assert known.keeps.startswith("it gives up the records that only broker 1 had of orders-0")
    gone = next(one for one in known.alternatives if one.premise == "if broker 1 is gone for good")
    assert gone.keeps == known.keeps


def test_a_mark_is_taken_back_while_no_broker_runs() -> None:
    """It was written by a tool while all were down: nothing has been deleted."""
    snapshot = alone("3.4.1")
    snapshot["delete_topics"] = ["orders"]
    down(snapshot, 1, 2, 3)
    way_out = ways_out(snapshot)["deletion-pending"]
    assert way_out.startswith("if orders is wanted, delete its mark in /admin/delete_topics before a broker starts")
    snapshot["brokers"]["3"]["dirs"].pop("orders-0")
    assert "delete its mark" not in ways_out(snapshot)["deletion-pending"]


def exchanged(snapshot: dict[str, Any]) -> dict[str, Any]:
    """Broker 1, the only ISR member of two topics, is down; each log has the other's name."""
    for name, crc in zip(IDS, (7, 8), strict=True):
        topic = snapshot["topics"][name]
        topic.update(version=0, mzxid=60)
        topic["partition_state"]["0"].update(leader=-1, isr=[1], leader_epoch=6)
        for number, broker in snapshot["brokers"].items():
            identity = topic["znode"].get("topic_id")
            broker["dirs"][f"{name}-0"] = log(identity, EPOCHS if number == "1" else EPOCHS[:2], crc=crc)
    logs = snapshot["brokers"]["1"]["dirs"]
    logs["orders-0"], logs["payments-0"] = logs["payments-0"], logs["orders-0"]
    down(snapshot, 1)
    return snapshot


def test_directories_of_two_topics_that_were_exchanged_are_no_loss() -> None:
    snapshot = exchanged(cluster("3.4.1"))
    known = problem(snapshot)
    assert known.left_out == ("orders-0", "payments-0") and not known.procedures
    assert any("the directory payments-0 of broker 1 has its topic id, and may be the log" in n for n in known.notes)
    assert f"{IDS['payments']} of topic payments" in found(snapshot)["down-broker-has-another-log"].detail


def test_directories_of_two_topics_that_were_exchanged_are_seen_without_topic_ids() -> None:
    """The plan started the broker, which would have served each topic with the records of the other one."""
    snapshot = exchanged(cluster("2.7.2", ids=dict.fromkeys(IDS)))
    assert "orders-0 of broker 1 begins as payments-0 does" in found(snapshot)[MISNAMED].detail
    assert "orders-0 there is the log of payments-0" in ways_out(snapshot)[MISNAMED]
    known = problem(snapshot)
    assert not known.procedures and any("broker 1 may have the log of payments-0" in note for note in known.notes)


def test_a_replica_with_the_log_of_another_topic_has_no_record_of_its_own() -> None:
    """The topic's own log is on a broker that is no replica, and is not merely left over."""
    snapshot = replaced({**log(IDS["orders"]), "high_watermark": 50})
    snapshot["topics"]["orders"].update(version=0, mzxid=60)
    snapshot["brokers"]["1"]["dirs"]["orders-0"] = log(OTHER, ((0, 0),), crc=9)
    assert "no replica has a record" in found(snapshot)["records-on-no-replica"].detail


def test_a_log_that_nobody_has_read_is_not_moved_away_for_that_of_an_earlier_topic() -> None:
    """The plan wrote the earlier topic's id into ZooKeeper, and moved the log of the live replica away."""
    snapshot = alone("3.4.1")
    snapshot["topics"]["orders"].update(version=0, mzxid=60)
    snapshot["topics"]["orders"]["znode"]["partitions"]["0"] = [1, 2]
    snapshot["brokers"]["3"]["dirs"].pop("orders-0")
    snapshot["brokers"]["2"]["dirs"]["orders-0"] = log(OTHER, ((0, 0),), crc=9)
    snapshot["brokers"]["1"].update(dirs=None, log_dirs=None)
    down(snapshot, 2)
    state(snapshot).update(leader=-1, isr=[2], leader_epoch=6)
    known = problem(snapshot)
    assert not known.procedures
    assert any("log directories of broker 1 were not read: collect them" in note for note in known.notes)


@pytest.mark.parametrize("was_sent_to_both", [False, True])
def test_an_exchanged_directory_is_seen_beside_the_other_one(was_sent_to_both: bool) -> None:
    """No other log of orders was read: it may begin as payments does, if both got one batch, and then both have it."""
    snapshot = exchanged(cluster("2.7.2", ids=dict.fromkeys(IDS)))
    for name, replica, other in (("orders", 2, "3"), ("payments", 3, "2")):
        snapshot["topics"][name]["znode"]["partitions"]["0"] = [1, replica]
        snapshot["brokers"][other]["dirs"].pop(f"{name}-0")
    snapshot["brokers"]["2"].update(dirs=None, log_dirs=None)
    if was_sent_to_both:
        snapshot["brokers"]["1"]["dirs"]["payments-0"] = log(None, crc=8)
    assert (MISNAMED in found(snapshot)) is not was_sent_to_both
    assert was_sent_to_both or "start-broker 1" not in [one.name for one in problem(snapshot).procedures]


def test_a_stray_log_is_left_over_only_if_the_isr_has_what_it_has() -> None:
    """Nobody has read the disk of the leader, which may have begun anew."""
    snapshot = replaced(log(IDS["orders"], ((0, 0),), crc=9))
    assert "of broker 1 has what it has on broker 3" not in problem(snapshot).premise
    snapshot["brokers"]["1"].update(dirs=None, log_dirs=None)
    known = problem(snapshot)
    assert "move-directories orders 3" in [one.name for one in known.procedures]
    assert known.premise.endswith("if orders-0 of broker 1 has what it has on broker 3")
