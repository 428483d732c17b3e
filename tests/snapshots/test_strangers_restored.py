"""Clusters of strangers: epochs given twice, disks in other brokers, and upgrades, which were read wrong once."""

from __future__ import annotations

from typing import Any

import pytest

from kwalk.model.kafka.snapshots.procedures import WITHOUT_FILES
from kwalk.search.analyses.recovery import plan_recovery
from tests.snapshots.test_combined_damages import EPOCHS, IDS, OTHER, cluster, log, problem, ways_out
from tests.snapshots.test_strangers import answers, state
from tests.snapshots.test_strangers_foreseen import alone, down, found, without_log

TWICE = (*EPOCHS, (6, 44))
"""The leader epochs of a broker that led in epoch 6, which began again at offset 48 on another one."""


def given_twice(epochs: tuple[tuple[int, int], ...] = TWICE) -> dict[str, Any]:
    """Broker 3 is out of the ISR, with its own records of leader epoch 6."""
    snapshot = alone("3.4.1")
    for number in ("1", "2"):
        snapshot["brokers"][number]["dirs"]["orders-0"] = log(IDS["orders"], (*EPOCHS, (6, 48)))
    snapshot["brokers"]["3"]["dirs"]["orders-0"] = {**log(IDS["orders"], epochs), "high_watermark": 52}
    state(snapshot).update(leader_epoch=6, isr=[1, 2])
    return snapshot


def test_a_replica_does_not_truncate_what_two_leaders_of_one_epoch_wrote() -> None:
    """AbstractFetcherThread.getOffsetTruncationState compares ends of epochs: seen on 2.5.0, 2.8.2 and 3.9.0."""
    kinds = found(given_twice())
    assert kinds.keys() == {"replica-has-another-log"}
    assert "the records at offset 44 have different leader epochs" in kinds["replica-has-another-log"].detail
    known = problem(given_twice())
    assert known.keeps.startswith("it gives up the records that only broker 3 has of orders-0")
    plan = plan_recovery(known, seconds=120).plan
    assert plan is not None and [one.name for one in plan.procedures] == ["move-directories orders 3"]


def test_a_broker_that_is_down_is_neither_started_nor_given_up_with_an_epoch_that_was_given_twice() -> None:
    snapshot = given_twice()
    down(snapshot, 3)
    ways = ways_out(snapshot)
    assert ways["down-broker-has-another-log"] == "before broker 3 starts, move orders-0 away there"
    assert "do not give broker 3 up: it may have the last copy of records of orders-0" in ways["broker-down"]


def test_isr_members_that_differ_are_a_choice_while_they_are_down() -> None:
    snapshot = given_twice()
    state(snapshot)["isr"] = [1, 2, 3]
    down(snapshot, 1, 2, 3)
    assert found(snapshot).keys() == {"no-live-isr", "replicas-diverged", "broker-down"}


def test_an_epoch_was_given_twice_though_the_end_of_the_leaders_log_is_not_shown() -> None:
    """The checkpoints of a leader that has just been elected are of before."""
    snapshot = given_twice((*EPOCHS, (6, 48), (7, 60)))
    for number in ("1", "2"):
        epochs = (*EPOCHS, (6, 48), (7, 52))
        snapshot["brokers"][number]["dirs"]["orders-0"] = {**log(IDS["orders"], epochs), "high_watermark": 50}
    state(snapshot)["leader_epoch"] = 7
    detail = found(snapshot)["replica-has-another-log"].detail
    assert "leader epoch 7 begins at offset 52 and 60; what it has of another leader may have been" in detail


def test_an_epoch_that_one_leader_had_is_truncated_and_its_records_are_lost() -> None:
    snapshot = given_twice()
    for number in ("1", "2"):
        snapshot["brokers"][number]["dirs"]["orders-0"] = log(IDS["orders"], (*EPOCHS, (7, 44), (8, 60)))
    state(snapshot)["leader_epoch"] = 8
    assert found(snapshot).keys() == {"replica-has-lost-records"}


def test_a_deletion_of_records_moves_the_start_of_the_first_epoch() -> None:
    """LeaderEpochFileCache.truncateFromStart, before log-start-offset-checkpoint is written."""
    snapshot = given_twice(((6, 40),))
    for number in ("1", "2"):
        snapshot["brokers"][number]["dirs"]["orders-0"] = log(IDS["orders"], ((6, 48), (7, 60)))
    state(snapshot)["leader_epoch"] = 7
    assert found(snapshot).keys() == {"catching-up"}


def of_others() -> dict[str, Any]:
    """The disks of three brokers were attached to one another in a ring; no broker starts."""
    snapshot = alone("3.4.1")
    logs = {number: broker["dirs"] for number, broker in snapshot["brokers"].items()}
    snapshot["topics"]["orders"]["znode"]["partitions"]["0"] = [1, 2]
    logs["3"] = {}
    for owner, number in (("2", 1), ("3", 2), ("1", 3)):
        roots = [{"path": "/kafka", "broker_id": number, "cluster_id": None, "offline": False}]
        snapshot["brokers"][owner].update(dirs=logs[str(number)], log_dirs=roots)
    state(snapshot)["isr"] = [1, 2]
    down(snapshot, 1, 2, 3)
    return snapshot


def test_a_log_on_the_disk_of_another_broker_is_not_that_of_the_broker_that_has_the_disk() -> None:
    way_out = ways_out(of_others())["no-live-isr"]
    assert "write the state" not in way_out and "shorter" not in way_out and "are lost" not in way_out
    assert "may be on a disk of broker 1 that broker 2 has and a disk of broker 2 that broker 3 has" in way_out
    assert "see to the log directory of broker 1, broker 2 and broker 3 that is another's" in way_out


@pytest.mark.parametrize(("point", "is_first"), [(47, True), (50, False)])
def test_a_log_that_was_closed_before_what_was_committed_starts_last(point: int, is_first: bool) -> None:
    """Partition.maybeIncrementLeaderHW: its end was above the high watermark once."""
    snapshot = alone("3.4.1")
    snapshot["topics"]["orders"]["znode"]["partitions"]["0"] = [1, 2]
    snapshot["brokers"]["1"]["dirs"]["orders-0"] |= {"recovery_point": 52, "high_watermark": 50}
    shorter = {"recovery_point": point, "high_watermark": 47, "files": {f"{0:020}.log": 4700}}
    snapshot["brokers"]["2"]["dirs"]["orders-0"] |= shorter
    without_log(snapshot, 3)
    state(snapshot)["isr"] = [1, 2]
    down(snapshot, 1, 2)
    assert ("start broker 1 before broker 2" in ways_out(snapshot)["no-live-isr"]) is is_first


def test_a_broker_whose_protocol_is_not_raised_yet_keeps_no_topic_id() -> None:
    """KafkaConfig.usesTopicId: each broker has the older protocol until it restarts with the later one."""
    snapshot = alone("3.0.1")
    snapshot["topics"]["orders"]["version"] = 7
    snapshot["topics"]["payments"] = {
        **snapshot["topics"]["orders"],
        "znode": {**snapshot["topics"]["orders"]["znode"], "topic_id": IDS["payments"]},
    }
    for number, broker in snapshot["brokers"].items():
        broker["dirs"]["payments-0"] = log(IDS["payments"])
        if number == "3":
            broker["dirs"]["orders-0"]["partition_metadata"] = None
    assert "topic-id-differs-in-memory" in found(snapshot)
    snapshot["brokers"]["3"]["dirs"]["payments-0"]["partition_metadata"] = None
    assert found(snapshot).keys() == {"log-without-topic-id"}


def test_zookeeper_is_behind_a_log_of_later_epochs_whatever_the_replicas_have_that_were_not_read() -> None:
    snapshot = cluster("3.4.1", brokers=5)
    snapshot["topics"]["orders"]["znode"]["partitions"]["0"] = [4, 5]
    for number in ("4", "5"):
        snapshot["brokers"][number].update(dirs=None, log_dirs=None)
    state(snapshot).update(leader=4, isr=[4], leader_epoch=4)
    down(snapshot, 4, 5)
    assert found(snapshot)["records-on-no-replica"].detail.startswith("broker 1: its log has leader epoch 5")
    assert "but first see to orders-0, whose records are on brokers" in ways_out(snapshot)["no-live-isr"]
    state(snapshot)["leader_epoch"] = 5
    assert "records-on-no-replica" not in found(snapshot)


@pytest.mark.parametrize("writes", [0, 2])
def test_a_restored_topic_without_its_id_gets_the_id_and_the_state_before_a_failover(writes: int) -> None:
    """ZooKeeper's backup is of before the upgrade to 2.8; the brokers run on."""
    snapshot = alone("3.4.1")
    answers(snapshot)
    orders = snapshot["topics"]["orders"]
    orders["version"] = writes
    del orders["znode"]["topic_id"]
    state(snapshot)["leader_epoch"] = 2
    ways = ways_out(snapshot)
    assert ways.keys() == {"state-is-behind-the-logs-unnoticed", "topic-id-missing"}
    assert "but first write the topic id of orders" in ways["state-is-behind-the-logs-unnoticed"]


def test_a_plan_says_what_a_disk_had_that_was_replaced_by_an_empty_one() -> None:
    snapshot = alone("3.6.2")
    snapshot["topics"]["orders"]["znode"]["partitions"]["0"] = [3, 1]
    without_log(snapshot, 2, 3)
    state(snapshot).update(leader=-1, isr=[3], leader_epoch=8)
    down(snapshot, 3)
    assert problem(snapshot).keeps.startswith("it gives up the records that only broker 3 had of orders-0")


def test_a_broker_that_is_down_does_not_start_with_the_directory_of_another_partition() -> None:
    """A script has renamed directories: the topic id is the same, and brokers compare nothing else."""
    snapshot = alone("3.4.1")
    snapshot["brokers"]["3"]["dirs"]["orders-0"] = log(IDS["orders"], crc=8)
    state(snapshot)["isr"] = [1, 2]
    down(snapshot, 3)
    assert ways_out(snapshot)["down-broker-has-another-log"] == "before broker 3 starts, move orders-0 away there"


def joined_by_others() -> dict[str, Any]:
    """Broker 4 is of another cluster, with logs of its own: its zookeeper.connect has lost the chroot."""
    snapshot = alone("3.4.1", brokers=4)
    snapshot["topics"]["__consumer_offsets"] = {
        **snapshot["topics"]["orders"],
        "cleanup_policy": "compact",
        "znode": {**snapshot["topics"]["orders"]["znode"], "topic_id": IDS["payments"]},
    }
    for number in ("1", "2", "3"):
        snapshot["brokers"][number]["dirs"]["__consumer_offsets-0"] = log(IDS["payments"])
    others = {"__consumer_offsets-0": log(OTHER, crc=8), "metrics-0": log(OTHER[::-1], crc=9)}
    snapshot["brokers"]["4"]["dirs"] = others
    return snapshot


def test_brokers_of_another_cluster_do_not_show_that_zookeeper_has_lost_topics() -> None:
    ways = ways_out(joined_by_others())
    assert ways.keys() == {"stray-log", "orphaned-log"}
    assert all("broker 4 is a replica of nothing here, and may be of another cluster" in text for text in ways.values())
    assert problem(joined_by_others()).premise.endswith("if broker 4 is not of another cluster")


def test_logs_that_replicas_have_under_other_ids_are_of_topics_that_were_created_again() -> None:
    snapshot = joined_by_others()
    snapshot["topics"]["orders"]["version"] = 0
    for number in ("1", "2"):
        snapshot["brokers"][number]["dirs"]["orders-0"] = log(OTHER, crc=8)
    assert not any("of another cluster" in text for text in ways_out(snapshot).values())
    assert "of another cluster" not in problem(snapshot).premise


def test_a_log_that_was_not_looked_at_is_not_said_to_have_no_id() -> None:
    """Broker 3 has joined the cluster of a mistyped chroot."""
    snapshot = alone("3.4.1")
    snapshot["cluster_id"] = "A" * 22
    for number, broker in snapshot["brokers"].items():
        owner = {"broker_id": int(number), "cluster_id": ("B" if number == "3" else "A") * 22}
        broker["log_dirs"] = [{"path": "/kafka", "offline": False, **owner}]
    snapshot["broker_ids"].remove(3)
    state(snapshot)["isr"] = [1, 2]
    assert found(snapshot).keys() == {"log-directory-of-another-broker", "catching-up"}


def test_records_that_may_be_of_another_partition_are_not_put_into_an_empty_one() -> None:
    """Partition 0 is empty, and the directory of partition 1 was copied into it on a broker that is down."""
    snapshot = alone("3.4.1")
    topic = snapshot["topics"]["orders"]
    topic["znode"]["partitions"]["1"] = [2, 1, 3]
    topic["partition_state"]["1"] = {**state(snapshot), "leader": 1, "isr": [1, 3]}
    state(snapshot).update(leader=1, isr=[1, 3])
    for number, broker in snapshot["brokers"].items():
        broker["dirs"]["orders-1"] = log(IDS["orders"], crc=8)
        if number == "2":
            broker["dirs"]["orders-0"] = log(IDS["orders"], crc=8)
        else:
            broker["dirs"]["orders-0"] = {**log(IDS["orders"], ((5, 0),)), "first_batch": None, "high_watermark": 0}
            broker["dirs"]["orders-0"]["files"] = {"00000000000000000000.log": 0}
    down(snapshot, 2)
    copied = "unless orders-0 of broker 2 was copied from orders-1, whose first batch it has"
    assert copied in ways_out(snapshot)["leader-lacks-records"]
    for broker in snapshot["brokers"].values():
        broker["dirs"]["orders-1"] = log(IDS["orders"], crc=9)
    assert copied not in ways_out(snapshot)["leader-lacks-records"]


def retained(number: int, begin: int, size: int) -> dict[str, Any]:
    """A log of which retention has left two segments; sizes of the last one differ where power was lost."""
    kept = log(IDS["orders"], ((5, begin), (6, 1200)), crc=number)
    kept["first_batch"] = {**kept["first_batch"], "base_offset": begin}
    return kept | {"files": {f"{begin:020}.log": 5000, f"{1200:020}.log": size}, "high_watermark": 1250}


def retained_differently(*isr: int) -> dict[str, Any]:
    """Broker 1, the leader, has lost its end; retention has deleted less on broker 2 than on it."""
    snapshot = alone("3.6.2")
    for number, begin, size in ((1, 1000, 9000), (2, 900, 9100), (3, 900, 9000)):
        snapshot["brokers"][str(number)]["dirs"]["orders-0"] = retained(number, begin, size)
    down(snapshot, *isr)
    state(snapshot).update(leader=-1 if isr == (1,) else 1, isr=list(isr), leader_epoch=7)
    return snapshot


def test_the_ends_of_logs_are_compared_though_retention_has_deleted_more_of_one() -> None:
    """Segments that begin at one offset have the same bytes, as followers append the leader's batches."""
    assert ways_out(retained_differently(1, 2, 3))["no-live-isr"].startswith(
        "start broker 2 before broker 1, whose log"
    )
    assert ways_out(retained_differently(1))["no-live-isr"].startswith("do not start broker 1")


def test_the_ends_of_logs_are_not_compared_if_nothing_shows_that_they_are_copies() -> None:
    without_ids, shorter = retained_differently(1), retained_differently(1)
    for number in "123":
        without_ids["brokers"][number]["dirs"]["orders-0"]["partition_metadata"] = None
    shorter["brokers"]["2"]["dirs"]["orders-0"] = retained(2, 900, 8900)
    for snapshot in (without_ids, shorter):
        assert not ways_out(snapshot)["no-live-isr"].startswith("do not start broker 1")


def test_of_compacted_logs_the_last_segments_are_compared() -> None:
    """LogCleanerManager.cleanableOffsets: the active segment is not cleaned."""
    compacted = retained_differently(1)
    compacted["topics"]["orders"]["cleanup_policy"] = "compact"
    assert ways_out(compacted)["no-live-isr"].startswith("do not start broker 1")
    compacted["brokers"]["2"]["dirs"]["orders-0"]["files"][f"{1240:020}.log"] = 100  # the one before may be cleaned
    assert not ways_out(compacted)["no-live-isr"].startswith("do not start broker 1")


def of_a_later_topic() -> dict[str, Any]:
    """ZooKeeper is of before orders was created again, with broker 2 as ISR; its log ends before the others."""
    snapshot = alone("3.6.2", brokers=4)
    snapshot["topics"]["payments"] = cluster("3.6.2")["topics"]["payments"]
    snapshot["topics"]["payments"]["znode"]["partitions"]["0"] = [4]
    snapshot["topics"]["payments"]["partition_state"]["0"].update(leader=4, isr=[4])
    snapshot["brokers"]["4"]["dirs"] = {"payments-0": log(IDS["payments"])}
    snapshot["topics"]["orders"].update(version=0, mzxid=60)
    for number in (1, 2, 3):
        snapshot["brokers"][str(number)]["dirs"] = {"orders-0": log(OTHER)}
    snapshot["brokers"]["2"]["dirs"]["orders-0"]["files"] = {f"{0:020}.log": 3000}
    down(snapshot, 1, 2, 3, 4)
    state(snapshot).update(leader=-1, isr=[2], leader_epoch=9)
    return snapshot


def test_logs_under_another_id_than_zookeepers_may_have_the_records_of_who_is_gone() -> None:
    said = ways_out(of_a_later_topic())["no-live-isr"]
    assert "of orders-0 may be on brokers 1 and 3, under another topic id than ZooKeeper's: keep what is there" in said
    assert "the records of payments-0 are lost" in said and "orders-0 are lost" not in said


def test_a_shorter_log_starts_without_its_file_no_sooner_than_with_it() -> None:
    """Who gives records up lets the longest log lead: not that of the ISR of an earlier topic."""
    given = problem(of_a_later_topic())
    losing = [one for one in given.alternatives if one.is_last_resort and "broker 2" not in one.premise]
    starts = {
        b for one in losing for step in one.procedures if step.name.startswith(WITHOUT_FILES) for b in step.starts
    }
    assert "1" in starts and "2" not in starts


def test_who_begins_with_empty_logs_gives_up_what_all_replicas_have() -> None:
    (empty,) = (one for one in problem(of_a_later_topic()).alternatives if one.premise.startswith("to begin"))
    assert "gives up the records that topic orders has now" in empty.keeps
