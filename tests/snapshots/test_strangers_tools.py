"""Clusters of strangers after tools and hands: renamed directories, lost configurations, logs that were not read."""

from __future__ import annotations

from typing import Any

import pytest

from kwalk.search.analyses.recovery import plan_recovery
from tests.snapshots.test_combined_damages import EPOCHS, IDS, OTHER, cluster, log, names, problem, ways_out
from tests.snapshots.test_strangers import answers, state
from tests.snapshots.test_strangers_foreseen import alone, down, found

LATER = (*EPOCHS, (6, 48))


def of_two_partitions(*, isr: list[int]) -> dict[str, Any]:
    """Topic orders with two partitions; broker 3 has the log of each in the directory of the other."""
    snapshot = alone("3.4.1")
    topic = snapshot["topics"]["orders"]
    topic["znode"]["partitions"]["1"] = [2, 1, 3]
    state(snapshot).update(isr=isr, leader=isr[0], leader_epoch=6)
    topic["partition_state"]["1"] = dict(state(snapshot))
    for number, broker in snapshot["brokers"].items():
        epochs, crcs = (EPOCHS, (8, 7)) if number == "3" else (LATER, (7, 8))
        broker["dirs"] = {f"orders-{p}": log(IDS["orders"], epochs, crc=crc) for p, crc in enumerate(crcs)}
    return snapshot


def unread(snapshot: dict[str, Any], *numbers: int) -> None:
    for number in numbers:
        snapshot["brokers"][str(number)].update(dirs=None, log_dirs=None)


# Directories that were renamed.


def test_a_log_in_the_directory_of_another_partition_is_named() -> None:
    """Brokers compare topic ids, which partitions share: UnifiedLog.initializeTopicId."""
    snapshot = of_two_partitions(isr=[1, 2])
    down(snapshot, 3)
    detail = found(snapshot)["down-broker-has-another-log"].detail
    assert detail.endswith("orders-0 of broker 3 begins as orders-1 does: its directory was renamed or copied")
    ways = ways_out(snapshot)
    assert ways["down-broker-has-another-log"] == "before broker 3 starts, move orders-0 and orders-1 away there"
    assert "do not give broker 3 up" not in ways["broker-down"]


def test_the_last_log_in_the_directory_of_another_partition_gets_its_own_name_again() -> None:
    snapshot = of_two_partitions(isr=[3])
    down(snapshot, 1, 2, 3)
    kinds = found(snapshot)
    assert kinds.keys() == {"no-live-isr", "directory-has-another-partitions-log", "broker-down"}
    ways = ways_out(snapshot)
    assert "orders-0 there is the log of orders-1 and orders-1 there is" in ways["directory-has-another-partitions-log"]
    for kind in ("no-live-isr", "broker-down"):
        assert "but first see to the directory of orders-0 and orders-1 on broker 3, which may have" in ways[kind]
    assert not names(problem(snapshot)) and any(
        "give it its own name again first" in n for n in problem(snapshot).notes
    )


def test_of_two_logs_under_each_others_names_nothing_shows_which_was_renamed() -> None:
    """On 2.5.0 and 3.9.0 a broker with renamed directories served each partition with the records of the other one."""
    snapshot = of_two_partitions(isr=[3])
    for number in ("0", "1"):
        snapshot["topics"]["orders"]["znode"]["partitions"][number] = [2, 3]
    snapshot["brokers"]["1"]["dirs"] = {}
    down(snapshot, 2, 3)
    assert "begins as orders-1 of broker 3 does" in found(snapshot)["directory-has-another-partitions-log"].detail
    ways = ways_out(snapshot)
    assert "down-broker-has-another-log" not in ways
    text = ways["directory-has-another-partitions-log"]
    assert text.startswith("look at the records of orders on brokers 2 and 3") and "nothing shows which" in text
    assert not names(problem(snapshot))


def test_a_broker_that_runs_with_logs_of_other_partitions_gives_them_up() -> None:
    """It has joined the ISR, and what it has copied is behind the records of the other partition."""
    snapshot = of_two_partitions(isr=[1, 2, 3])
    assert ways_out(snapshot)["replicas-diverged"] == "stop broker 3, move orders-0 and orders-1 away, and start it"


def test_one_batch_that_was_sent_to_two_partitions_is_no_sign_of_a_renamed_directory() -> None:
    snapshot = of_two_partitions(isr=[1, 2, 3])
    for broker in snapshot["brokers"].values():
        for directory in broker["dirs"].values():
            directory["first_batch"]["crc"] = 7
    assert not ways_out(snapshot)


# Configurations.


def without_policy(policy: str | None) -> dict[str, Any]:
    snapshot = cluster(ids={"__consumer_offsets": IDS["orders"], "users": IDS["payments"]})
    snapshot["topics"]["__consumer_offsets"]["cleanup_policy"] = policy
    for number, broker in snapshot["brokers"].items():
        for directory in broker["dirs"].values():
            directory["first_batch"]["crc"] = int(number)
    return snapshot


@pytest.mark.parametrize(("policy", "certain"), [("default", False), ("delete", True)])
def test_a_topic_of_kafkas_own_that_is_not_compacted_loses_what_retention_deletes(policy: str, certain: bool) -> None:
    """GroupCoordinator.offsetsTopicConfigs is used as the topic is created, and never again; other policies are lost.

    The first batches of both topics differ as a cleaner has rewritten them: no sign of logs that diverged.
    """
    kinds = found(without_policy(policy))
    assert kinds.keys() == {"internal-topic-is-not-compacted"}
    assert kinds["internal-topic-is-not-compacted"].certain is certain
    text = ways_out(without_policy(policy))["internal-topic-is-not-compacted"]
    assert "--entity-name __consumer_offsets --add-config cleanup.policy=compact," in text
    assert ("unless log.cleanup.policy of all brokers is compact" in text) is not certain


@pytest.mark.parametrize("policy", ["compact", "compact,delete", None])
def test_a_policy_that_compacts_or_was_not_read_is_no_finding(policy: str | None) -> None:
    assert found(without_policy(policy)).keys() == {"replicas-diverged"}  # of users, whose policy is not lost
    assert found(without_policy(policy))["replicas-diverged"].fields["topic"] == "users"


# Logs that were not read, and choices.


def test_what_followers_have_whose_logs_were_not_read_is_a_condition() -> None:
    """Each may have the log of an earlier topic, which it would take for the partition's; none is moved away unread."""
    snapshot = alone("3.4.1")
    state(snapshot).update(leader=-1, isr=[3], leader_epoch=7)
    unread(snapshot, 1, 2, 3)
    down(snapshot, 3)
    given = problem(snapshot)
    assert given.premise.endswith(
        "if those of brokers 1 and 2 are not of an earlier topic of the name (partition.metadata has the id)"
    )
    plan = plan_recovery(given, seconds=120).plan
    assert plan is not None
    assert [one.name for one in plan.procedures] == ["start-broker 3"]


def test_a_log_is_not_moved_away_before_it_is_compared() -> None:
    """The finding says to keep it, and so does the way to start its broker."""
    snapshot = alone("3.4.1")
    state(snapshot)["isr"] = [1, 2]
    snapshot["brokers"]["3"]["dirs"]["orders-0"] = log(OTHER, crc=8)
    unread(snapshot, 1, 2)
    down(snapshot, 3)
    ways = ways_out(snapshot)
    assert ways["down-broker-has-another-log"].startswith("keep all logs of orders-0")
    assert "but first collect the logs that orders-0 of broker 3 is compared with, and keep all" in ways["broker-down"]
    assert "move orders-0 away" not in ways["broker-down"]


def test_where_there_is_a_choice_between_logs_none_is_moved_away_before() -> None:
    snapshot = alone("3.4.1")
    state(snapshot).update(leader=3, isr=[3])
    snapshot["brokers"]["3"]["dirs"]["orders-0"] = log(IDS["orders"], crc=8)
    down(snapshot, 1, 2, 3)
    ways = ways_out(snapshot)
    assert ways["down-broker-has-another-log"].startswith("choose which records orders-0 is to have")
    for kind in ("no-live-isr", "broker-down"):
        assert "but first choose which records to keep of orders-0, whose logs differ" in ways[kind]
        assert "move orders-0 away" not in ways[kind]


def test_records_on_a_disk_in_another_broker_are_not_given_up() -> None:
    """The only replica of orders is broker 4, whose disk is in broker 3: neither starts."""
    snapshot = alone("3.4.1", brokers=4)
    snapshot["topics"]["orders"]["znode"]["partitions"]["0"] = [4]
    state(snapshot).update(leader=-1, isr=[4])
    disks = {
        number: [{"path": "/a", "broker_id": int(number), "cluster_id": None, "offline": False}] for number in "34"
    }
    disks["3"].append({"path": "/kafka", "broker_id": 4, "cluster_id": None, "offline": False})
    for number in ("1", "2", "4"):
        snapshot["brokers"][number]["dirs"] = {}
    for number, known in disks.items():
        snapshot["brokers"][number]["log_dirs"] = known
    down(snapshot, 3, 4)
    assert "may be on a disk of broker 4 that broker 3 has: keep what is there" in ways_out(snapshot)["no-live-isr"]
    known = problem(snapshot)
    assert not names(known)
    assert any("broker 3 has a disk of broker 4, which may have its log: put it back first" in n for n in known.notes)


# Who leads.


def test_the_isr_member_with_the_longest_log_starts_first() -> None:
    """What it has more was not committed: producers with acks=1 count on it."""
    snapshot = alone("3.4.1")
    state(snapshot).update(leader=-1, isr=[2, 3])
    for number, end in {"1": 40, "2": 50, "3": 55}.items():
        log_of = {**log(IDS["orders"]), "recovery_point": end, "high_watermark": min(end, 50)}
        snapshot["brokers"][number]["dirs"]["orders-0"] = log_of | {"files": {f"{0:020}.log": 70 * end}}
    down(snapshot, 1, 2, 3)
    text = ways_out(snapshot)["no-live-isr"]
    assert text.startswith("start broker 3 before broker 2: it has records of orders-0 that others lack")
    plan = plan_recovery(problem(snapshot), seconds=120).plan
    assert plan is not None and [one.name for one in plan.procedures] == ["start-broker 3"]


def test_a_leader_outside_the_isr_is_written_into_its_state_and_not_stopped() -> None:
    snapshot = alone("3.4.1")
    state(snapshot)["isr"] = [2]
    snapshot["brokers"]["2"]["dirs"]["orders-0"] = log(IDS["orders"], EPOCHS[:2])
    text = ways_out(snapshot)["leader-outside-isr"]
    assert text.startswith("do not stop broker 1; write the state znode of orders-0")
    assert text.endswith("and broker 1 as leader and only ISR member; then fail the controller over")
    assert "write-states-of-leaders" in names(problem(snapshot))


def test_a_leader_outside_the_isr_is_not_written_where_a_member_may_have_more() -> None:
    """The member would truncate what it has more: the logs are compared first."""
    snapshot = alone("3.4.1")
    state(snapshot)["isr"] = [2]
    for number, size in {"1": 7000, "2": 9000}.items():
        snapshot["brokers"][number]["dirs"]["orders-0"] = log(IDS["orders"]) | {"files": {f"{0:020}.log": size}}
    assert ways_out(snapshot)["leader-outside-isr"].startswith("compare the ends of the logs")


def test_an_id_is_written_before_the_state_of_a_leader_outside_the_isr() -> None:
    """With the state the leader epoch rises, and the replicas refuse the other id then; neither waits for the other."""
    snapshot = alone("3.4.1")
    snapshot["topics"]["orders"]["znode"]["topic_id"] = OTHER
    state(snapshot)["isr"] = [2, 3]
    ways = ways_out(snapshot)
    assert ways["fetch-by-id-refused"].endswith("into the znode of orders, then fail the controller over")
    assert "but first see to the topic id of orders-0: with the state the leader" in ways["leader-outside-isr"]
    assert "isr-member-refuses" not in ways


def test_a_leader_outside_an_isr_that_is_down_serves() -> None:
    """Seen on 3.4.1: acks=all is answered, and with its state written and a failover the leader keeps all records."""
    snapshot = alone("3.4.1")
    state(snapshot)["isr"] = [2]
    down(snapshot, 2)
    answers(snapshot)
    kinds = found(snapshot)
    assert "leader-outside-isr" in kinds and "no-live-isr" not in kinds
    assert "unclean election" not in ways_out(snapshot)["broker-down"]
    snapshot["brokers"]["1"]["metadata_cache"] = None
    snapshot["brokers"]["3"]["metadata_cache"] = None
    assert "no-live-isr" in found(snapshot)


def test_the_first_records_of_a_topic_are_not_missed_by_who_is_about_to_copy_them() -> None:
    """Nothing is committed yet: ReplicaManager.checkpointHighWatermarks has written 0."""
    snapshot = alone("3.4.1")
    state(snapshot)["leader_epoch"] = 2
    for broker in snapshot["brokers"].values():
        first = {**log(IDS["orders"], ((2, 0),)), "high_watermark": 0, "recovery_point": 0}
        broker["dirs"]["orders-0"] = first
    empty = {"files": {f"{0:020}.log": 0}, "first_batch": None, "leader_epoch_checkpoint": "0\n0\n"}
    snapshot["brokers"]["3"]["dirs"]["orders-0"] |= empty
    assert not ways_out(snapshot)
    snapshot["brokers"]["1"]["dirs"]["orders-0"]["high_watermark"] = 3
    assert ways_out(snapshot).keys() == {"isr-member-lacks-records"}


def test_a_partition_that_a_broker_does_not_answer_with_is_named() -> None:
    snapshot = of_two_partitions(isr=[1, 2, 3])
    snapshot["brokers"]["3"]["dirs"] = snapshot["brokers"]["2"]["dirs"]
    answers(snapshot, epoch=6)
    known = snapshot["brokers"]["1"]["metadata_cache"]["topics"]["orders"]["partitions"]["0"]
    topic = {"error": 0, "topic_id": IDS["orders"], "partitions": {"0": known, "1": known}}
    for number in ("1", "2"):
        cache = snapshot["brokers"][number]["metadata_cache"]
        snapshot["brokers"][number]["metadata_cache"] = {**cache, "topics": {"orders": topic}}
    assert found(snapshot)["stale-metadata"].detail == "answers without orders-1"
