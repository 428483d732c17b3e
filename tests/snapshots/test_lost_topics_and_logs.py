"""ZooKeeper has lost topics, and brokers have lost logs: what is named as the cause, and which advice would do harm."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from kwalk.invariants.reading.inspection import inspect_snapshot
from kwalk.invariants.reading.outlook import recovery_problem
from kwalk.search.analyses.recovery import plan_recovery
from tests.snapshots.test_combined_damages import EPOCHS, IDS, OTHER, cluster, log, stop, ways_out

THREE = {**IDS, "users": OTHER}
MINTED = "CCCCCCCCCCCCCCCCCCCCCQ"


def details(snapshot: dict[str, Any]) -> dict[str, str]:
    """What an inspection says of each kind's first place."""
    found = inspect_snapshot(json.dumps(snapshot).encode()).by_kind()
    return {kind.name: observations[0].detail for kind, observations in found.items()}


# Topics.


def created_again(snapshot: dict[str, Any], name: str) -> None:
    """A client has created a topic again, which ZooKeeper had lost."""
    topic = snapshot["topics"][name]
    topic.update(version=0, czxid=900)
    topic["znode"]["topic_id"] = MINTED
    topic["partition_state"]["0"].update(leader_epoch=0, controller_epoch=1)
    snapshot["controller_epoch"] = 1


def without(snapshot: dict[str, Any], *names: str) -> dict[str, Any]:
    for name in names:
        del snapshot["topics"][name]
    return snapshot


def test_topics_that_were_created_again_show_that_zookeeper_has_lost_the_others() -> None:
    found = without(cluster(ids=THREE), "payments", "users")
    created_again(found, "orders")
    detail = details(found)["zookeeper-has-lost-topics"]
    assert "payments and users" in detail and detail.endswith("created again over earlier logs: orders")
    ways = ways_out(found)
    assert ways["orphaned-log"].startswith("leave payments-0 and users-0 on brokers 1, 2 and 3 as they are")
    assert ways["leader-refuses-topic-id"].endswith("but first find out whether ZooKeeper's earlier data is left")
    assert recovery_problem(json.dumps(found).encode()).premise.startswith("if payments and users were deleted on")


@pytest.mark.parametrize("name", ["__consumer_offsets", "__transaction_state", "orders"])
def test_brokers_create_their_own_topics_again(name: str) -> None:
    """A topic of groups, or of transactions, without znodes: a client that looks for its coordinator is enough."""
    found = without(cluster(ids={name: IDS["orders"], "payments": IDS["payments"]}), name)
    is_own = name.startswith("__")
    assert ("brokers create the topic again" in details(found)["orphaned-log"]) == is_own


def test_a_state_that_is_behind_the_logs_shows_an_older_backup_without_the_newer_topics() -> None:
    found = without(cluster(ids=THREE), "users")
    found["topics"]["orders"]["partition_state"]["0"].update(leader_epoch=2)
    assert "zookeeper-has-lost-topics" in ways_out(found)


def test_a_log_that_one_broker_kept_shows_a_deletion_that_it_missed() -> None:
    """Neither a topic that is gone, nor one that was created again, is shown by one broker of several."""
    found = without(cluster(ids=THREE), "users")
    for number in "12":
        del found["brokers"][number]["dirs"]["users-0"]
    created_again(found, "orders")
    assert "zookeeper-has-lost-topics" not in ways_out(found)
    found = without(cluster(ids=THREE), "users")
    created_again(found, "orders")
    for number in "12":
        found["brokers"][number]["dirs"]["orders-0"] = log(MINTED, EPOCHS[:1])
    assert "zookeeper-has-lost-topics" not in ways_out(found)


@pytest.mark.parametrize("release", ["2.8.2", "3.9.0"])
def test_one_topic_without_a_znode_beside_others_has_no_such_cause(release: str) -> None:
    ways = ways_out(without(cluster(release, ids=THREE), "users"))
    assert list(ways) == ["orphaned-log"] and ways["orphaned-log"].startswith("if the topic was not deleted on purpose")


@pytest.mark.parametrize("release", ["2.6.2", "2.8.2", "3.9.0"])
def test_a_topic_that_a_restored_zookeeper_lacks_is_written_before_a_broker_starts(release: str) -> None:
    """All brokers are down. One that starts loads a log of a topic without a znode with the broker's own retention."""
    found = without(cluster(release, ids=dict.fromkeys(THREE) if release < "2.8" else THREE), "users")
    for broker in found["brokers"].values():
        broker["alive"] = False
    found["broker_ids"], found["controller"] = [], None
    ways = ways_out(found)
    assert ways["orphaned-log"].startswith(
        "keep users-0 on brokers 1, 2 and 3. If the topic was not deleted on purpose"
    )
    assert "its znode, with the replicas and the topic_id of the logs" in ways["orphaned-log"]
    for kind in ("broker-down", "no-live-isr"):
        assert "but first see to users-0, whose topic ZooKeeper has not" in ways[kind]
    problem = recovery_problem(json.dumps(found).encode())
    assert problem.premise.startswith("if users was deleted on purpose")
    assert not [one.name for one in problem.procedures if "users" in one.name]
    found["brokers"]["1"]["alive"], found["broker_ids"], found["controller"] = True, [1], 1
    assert details(found)["orphaned-log"] == "brokers 1, 2 and 3 have its directory"


# Logs.


def empty(snapshot: dict[str, Any], *brokers: int) -> None:
    """The disk of brokers was replaced: they have an empty log of orders-0."""
    for number in brokers:
        snapshot["brokers"][str(number)]["dirs"]["orders-0"].update(
            files={f"{0:020}.log": 0}, first_batch=None, leader_epoch_checkpoint="", high_watermark=0
        )


def isr(snapshot: dict[str, Any], leader: int, members: Sequence[int]) -> None:
    snapshot["topics"]["orders"]["partition_state"]["0"].update(leader=leader, isr=list(members))


def test_a_follower_with_an_empty_log_is_not_to_lead() -> None:
    found = cluster()
    empty(found, 2)
    way_out = ways_out(found)["isr-member-lacks-records"]
    assert way_out.startswith("let broker 1 lead orders-0: do not stop it, and elect no preferred leader")
    assert "stop broker 2 with a controlled shutdown" in way_out


@pytest.mark.parametrize(("policy", "crc"), [("delete", 7), ("compact", 8)])
def test_a_follower_with_an_old_copy_of_the_log_is_not_to_lead(policy: str, crc: int) -> None:
    """Its broker was stopped for less than a session; the log lacks leader epochs whose records are committed.

    In a compacted log the cleaner may have rewritten the first batch.
    """
    found = cluster()
    found["topics"]["orders"]["cleanup_policy"] = policy
    found["brokers"]["2"]["dirs"]["orders-0"] = log(IDS["orders"], EPOCHS[:1], crc)
    assert details(found)["isr-member-lacks-records"].startswith(
        "the log of broker 2 lacks leader epochs, and brokers 1 and 3 have committed records beyond"
    )
    way_out = ways_out(found)["isr-member-lacks-records"]
    assert way_out.startswith("let broker 1 lead orders-0: do not stop it") and "stop broker 2 with a" in way_out
    isr(found, 2, [1, 2, 3])
    assert "replica-has-lost-records" in ways_out(found) and "isr-member-lacks-records" not in ways_out(found)


def test_the_followers_of_an_empty_leader_are_copied_before_it_stops() -> None:
    found = cluster()
    empty(found, 1)
    way_out = ways_out(found)["leader-lacks-records"]
    first, last = way_out.index("copy orders-0 of brokers 2 and 3"), way_out.index("stop broker 1 with a controlled")
    assert first < last and "delete /controller" not in way_out
    isr(found, 1, [1])
    way_out = ways_out(found)["leader-lacks-records"]
    assert way_out.startswith("copy orders-0") and "brokers 2 and 3 whose log ends last as leader" in way_out


def test_an_empty_log_is_not_said_to_start_first_or_at_all() -> None:
    found = cluster()
    found["controller"] = 3
    for number in (1, 2):
        stop(found, number)
    empty(found, 1)
    isr(found, -1, [1, 2])
    first = "start broker 2 before broker 1, whose log of orders-0 lacks records"
    ways = ways_out(found)
    assert ways["no-live-isr"].startswith(first) and ways["broker-down"].startswith(first)
    recovery = plan_recovery(recovery_problem(json.dumps(found).encode()), seconds=60)
    assert recovery.plan is not None
    steps = [one.name for one in recovery.plan.procedures]
    assert steps == ["write-states-of-latest", "start-broker 2"], "the controller may leave broker 1 in the ISR"
    isr(found, -1, [1])
    for kind in ("no-live-isr", "broker-down"):
        assert ways_out(found)[kind].startswith("do not start broker 1: its log of orders-0 is empty")


def test_no_election_and_no_stop_before_the_empty_log_is_seen_to() -> None:
    found = cluster()
    empty(found, 3)
    isr(found, -1, [1, 2, 3])
    before = "but first see to orders-0, of which an ISR member lacks records: it may be elected"
    assert before in ways_out(found)["leader-not-elected"]
    found = cluster()
    empty(found, 3)
    found["brokers"]["1"]["dirs"]["users-0"] = log(OTHER)
    assert before in ways_out(found)["orphaned-log"]


def test_no_step_of_a_plan_touches_a_partition_with_a_live_member_that_lacks_records() -> None:
    found = cluster()
    empty(found, 2)
    found["topics"]["payments"]["znode"]["topic_id"] = OTHER
    problem = recovery_problem(json.dumps(found).encode())
    assert problem.left_out == ("orders-0",) and "restart 1" in problem.withheld
    assert any("in the ISR has a log that lacks records of others" in note for note in problem.notes)


@pytest.mark.parametrize("base", [0, 90])
def test_what_retention_has_removed_is_not_lacking(base: int) -> None:
    """All logs end at 90; that of broker 3 was cleaned already, and those of the others were not, or at 90."""
    found = cluster()
    for number, broker in found["brokers"].items():
        start = 90 if number == "3" else base
        broker["dirs"]["orders-0"].update(
            files={f"{start:020}.log": 0 if start else 900}, high_watermark=90, recovery_point=90, first_batch=None
        )
    assert not ways_out(found)


# Directories with a suffix.

UNIQUE = "0123456789abcdef" * 2


def aside(snapshot: dict[str, Any], broker: int, suffix: str, name: str = "orders-0") -> None:
    """A broker has a copy of a log beside the log that it has, or instead of it."""
    copy = log(IDS[name.rpartition("-")[0]])
    snapshot["brokers"][str(broker)]["set_aside"] = {f"{name}.{UNIQUE}-{suffix}": {**copy, "root": "/b"}}


@pytest.mark.parametrize(("suffix", "kinds"), [("future", ["moves-between-log-directories"]), ("delete", [])])
def test_a_copy_of_a_log_in_use_is_no_damage(suffix: str, kinds: list[str]) -> None:
    found = cluster()
    aside(found, 2, suffix)
    assert list(ways_out(found)) == kinds
    stop(found, 2)
    assert set(ways_out(found)) == {*kinds, "broker-down"}


def test_the_last_copy_is_kept_whatever_its_directory_is_called() -> None:
    """All replicas have lost their records but one, which moves, or is deleted when its broker starts."""
    found = cluster()
    empty(found, 1, 2, 3)
    aside(found, 2, "future")
    way_out = ways_out(found)["moving-log-is-the-last-copy"]
    assert way_out.startswith("before anything is moved or deleted, copy the directory of orders-0 on broker 2")
    stop(found, 2)
    aside(found, 2, "delete")
    ways = ways_out(found)
    kind = "log-is-deleted-of-which-no-replica-has-a-copy"
    assert ways[kind].startswith("before broker 2 starts, copy the directory of orders-0 on broker 2")
    assert "but first copy the directory of orders-0 on broker 2 that it would delete" in ways["broker-down"]
    found["topics"]["payments"]["znode"]["topic_id"] = OTHER
    problem = recovery_problem(json.dumps(found).encode())
    assert problem.left_out == ("orders-0",) and "start-broker 2" in problem.withheld
    found["topics"]["orders"]["znode"]["topic_id"] = OTHER
    assert kind not in ways_out(found)


def test_a_moving_copy_of_a_topic_that_zookeeper_has_not_is_kept() -> None:
    found = without(cluster(), "orders")
    for broker in found["brokers"].values():
        del broker["dirs"]["orders-0"]
    aside(found, 2, "future")
    assert ways_out(found)["moving-log-is-the-last-copy"].startswith("if the topic was not deleted on purpose, before")


# Brokers that are gone for good.


@pytest.mark.parametrize(("brokers", "to"), [(3, "other brokers, or to fewer"), (4, "other brokers (kafka-reassign")])
def test_a_broker_whose_replicas_others_have_may_be_given_up(brokers: int, to: str) -> None:
    found = cluster(brokers=brokers)
    stop(found, 3)
    way_out = ways_out(found)["broker-down"]
    assert way_out.startswith(f"start it; if broker 3 is gone for good, reassign its replicas to {to}")


def test_what_is_lost_with_the_only_isr_member_is_said_beside_its_start() -> None:
    found = cluster()
    found["controller"] = 2
    stop(found, 1)
    isr(found, -1, [1])
    found["topics"]["payments"]["partition_state"]["0"]["leader"] = 2
    election = (
        "if broker 1 is gone for good, what only broker 1 had of orders-0 is lost with an unclean election, of brok"
    )
    for kind in ("no-live-isr", "broker-down"):
        assert election in ways_out(found)[kind] and "reassign" not in ways_out(found)[kind]
    found["topics"]["orders"]["znode"]["partitions"]["0"] = [1]
    assert "may be on brokers 2 and 3, which are no replica: keep" in ways_out(found)["broker-down"]
    for number in "23":
        del found["brokers"][number]["dirs"]["orders-0"]
    assert "the records of orders-0 are lost, as no other replica has a log" in ways_out(found)["broker-down"]


def test_records_on_a_failed_disk_are_not_given_up() -> None:
    found = cluster()
    found["controller"] = 2
    stop(found, 1)
    isr(found, -1, [1])
    found["topics"]["orders"]["znode"]["partitions"]["0"] = [1, 2]
    for number in "23":
        del found["brokers"][number]["dirs"]["orders-0"]
    roots = [{"path": "/kafka", "broker_id": 2, "cluster_id": "c"}, {"path": "/b", "offline": True}]
    found["brokers"]["2"]["log_dirs"] = roots
    assert "may be on a failed disk of broker 2: keep what is there" in ways_out(found)["no-live-isr"]


def test_a_member_that_is_down_and_lacks_records_starts_when_another_one_leads() -> None:
    found = cluster()
    found["controller"] = 2
    stop(found, 1)
    found["topics"]["payments"]["partition_state"]["0"]["leader"] = 2
    empty(found, 1)
    isr(found, -1, [1, 2, 3])
    way_out = ways_out(found)["isr-member-lacks-records"]
    assert way_out == "do not start broker 1 before one of brokers 2 and 3 leads, and it is out of the ISR"


# Assignments and deletions.


def test_a_partition_without_replicas_is_named_before_the_failover_that_ends_all_controllers() -> None:
    found = cluster()
    found["topics"]["orders"]["znode"]["partitions"] = {"0": [], "1": []}
    found["topics"]["payments"]["znode"]["topic_id"] = OTHER
    ways = ways_out(found)
    assert (
        "with the data version that was read: brokers 1, 2 and 3, which its ISR and logs"
        in ways["partition-without-replicas"]
    )
    assert (
        "write the replicas of orders-0 and orders-1 into the znode of the topic: no controller starts"
        in ways["fetch-by-id-refused"]
    )
    found["brokers"]["3"]["dirs"]["orders-0"]["partition_metadata"] = f"version: 0\ntopic_id: {OTHER}"
    found["topics"]["orders"]["partition_state"]["0"].update(leader=1, isr=[1, 2])
    assert "read: brokers 1 and 2, which its ISR and logs" in ways_out(found)["partition-without-replicas"]
    assert "partition-lost" not in ways
    assert not [name for name in names(found) if name == "fail-over" or name.startswith("restart")]


def test_a_topic_without_partitions_exists() -> None:
    """Its logs are of partitions that the znode has lost. It is to be deleted only if no broker has a log of it."""
    found = cluster()
    found["topics"]["orders"]["znode"]["partitions"] = {}
    found["topics"]["orders"]["partition_state"] = {}
    assert {kind for kind in ways_out(found) if "partition" in kind} == {"partition-is-in-logs-only"}
    for broker in found["brokers"].values():
        broker["dirs"] = {name: one for name, one in broker["dirs"].items() if not name.startswith("orders-")}
    assert "create the znode /admin/delete_topics/orders:" in ways_out(found)["topic-without-partitions"]
    found["brokers"]["3"]["dirs"]["orders-0"] = log(OTHER)
    assert "delete_topics" not in ways_out(found)["topic-without-partitions"]


def test_fields_of_znodes_that_kafka_does_not_write_are_named() -> None:
    """Confluent Server has observers, which no client makes members of the ISR."""
    found = cluster("3.9.0")
    for topic in found["topics"].values():
        topic["znode"]["observers"] = {"0": [3]}
    facts = inspect_snapshot(json.dumps(found).encode()).notes
    assert sum("has the field observers, which Apache Kafka does not write" in fact for fact in facts) == 1


def test_only_the_log_with_another_id_is_to_lose_it() -> None:
    found = cluster()
    found["brokers"]["3"]["dirs"]["payments-0"]["partition_metadata"] = f"version: 0\ntopic_id: {OTHER}"
    kinds = {one.name: one for one in inspect_snapshot(json.dumps(found).encode()).by_kind()}
    mixed = kinds["topic-ids-mixed"]
    assert "stop broker 3, remove partition.metadata of payments there, and start it" in mixed.way_out
    assert mixed.later.endswith("leave the ISR; while one of them is elected, the partition has no working leader")


def names(snapshot: dict[str, Any]) -> list[str]:
    """The steps that plans may have."""
    return [one.name for one in recovery_problem(json.dumps(snapshot).encode()).procedures]


@pytest.mark.parametrize("partitions", [{}, {"1": [1, 2, 3]}])
def test_a_partition_that_its_topic_does_not_list_is_put_back_before_a_failover(partitions: dict[str, Any]) -> None:
    """Also if it is the only one, or the first."""
    found = cluster()
    orders = found["topics"]["orders"]
    orders["znode"]["partitions"] = partitions
    orders["partition_state"] |= {number: dict(orders["partition_state"]["0"]) for number in partitions}
    for broker in found["brokers"].values():
        broker["dirs"] |= {f"orders-{number}": log(IDS["orders"]) for number in partitions}
    found["topics"]["payments"]["znode"]["topic_id"] = OTHER
    ways = ways_out(found)
    assert set(ways) == {"partition-lost", "fetch-by-id-refused"}
    assert "but first put orders-0 back into the znode of the topic" in ways["fetch-by-id-refused"]
    assert "fail-over" not in names(found)


def test_no_empty_broker_ends_a_deletion_while_another_topic_needs_its_logs() -> None:
    found = cluster()
    stop(found, 3)
    found["delete_topics"] = ["orders"]
    assert "start one with its id and empty log directories" in ways_out(found)["deletion-pending"]
    found["topics"]["payments"]["partition_state"]["0"].update(leader=-1, isr=[3])
    way_out = ways_out(found)["deletion-pending"]
    assert "Do not start broker 3 with empty log directories" in way_out and "payments-0 lives" in way_out
    assert "Do not remove znodes by hand" in way_out
