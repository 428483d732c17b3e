"""Two rare damages at once: what is said of one does not undo what the other has left, in plans and searches, too."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from kwalk.invariants.reading.outlook import read_snapshot, recovery_problem
from kwalk.search.analyses.recovery import plan_recovery
from tests.snapshots.test_combined_damages import IDS, OTHER, cluster, log, stop, ways_out
from tests.snapshots.test_lost_topics_and_logs import THREE, aside, created_again, empty, isr, without

Snapshot = dict[str, Any]


def payments(snapshot: Snapshot, **changes: Any) -> None:
    """Change the state of payments-0."""
    snapshot["topics"]["payments"]["partition_state"]["0"].update(changes)


def stopped(snapshot: Snapshot, *brokers: int) -> None:
    """Stop brokers that stay in the ISRs."""
    for number in brokers:
        snapshot["brokers"][str(number)]["alive"] = False
        snapshot["broker_ids"].remove(number)


def disk_failed(snapshot: Snapshot, number: int) -> None:
    """A broker has lost the disk with orders-0."""
    roots = [{"path": "/kafka", "broker_id": number, "cluster_id": "c"}, {"path": "/b", "offline": True}]
    snapshot["brokers"][str(number)]["log_dirs"] = roots
    del snapshot["brokers"][str(number)]["dirs"]["orders-0"]


def erased_id(found: Snapshot) -> None:
    empty(found, 2)
    del found["topics"]["orders"]["znode"]["topic_id"]


def no_controller(found: Snapshot) -> None:
    empty(found, 1)
    found["controller"] = None


def restored_and_without_isr(found: Snapshot) -> None:
    isr(found, 1, [1, 2, 3])
    found["topics"]["orders"]["partition_state"]["0"]["leader_epoch"] = 2
    payments(found, leader=-1, isr=[])


def lost_partition_and_deletion(found: Snapshot) -> None:
    found["topics"]["orders"]["znode"]["partitions"] = {}
    found["delete_topics"] = ["payments"]


def no_replicas_and_no_controller(found: Snapshot) -> None:
    stop(found, 3)
    found["topics"]["orders"]["znode"]["partitions"] = {"0": []}
    found["controller"] = None
    payments(found, leader=-1, isr=[3])


def failed_disk_and_empty_member(found: Snapshot) -> None:
    disk_failed(found, 1)
    isr(found, -1, [1])
    copy = found["brokers"]["2"]["dirs"]
    copy["payments-0"] = {**copy["payments-0"], "files": {f"{0:020}.log": 0}, "leader_epoch_checkpoint": ""}
    copy["payments-0"] |= {"first_batch": None, "high_watermark": 0}


def another_log_and_empty_member(found: Snapshot) -> None:
    stopped(found, 1, 2)
    found["controller"] = 3
    payments(found, leader=3, isr=[3])
    isr(found, -1, [1, 2])
    empty(found, 1)
    found["brokers"]["2"]["dirs"]["orders-0"] = log(OTHER, ((0, 0),), crc=9)


def last_copy_and_reassignment(found: Snapshot) -> None:
    stop(found, 3)
    empty(found, 1, 2)
    del found["brokers"]["3"]["dirs"]["orders-0"]
    aside(found, 3, "delete")
    found["topics"]["orders"]["znode"]["adding_replicas"] = {"0": [3]}


def last_copy_and_failed_disk(found: Snapshot) -> None:
    disk_failed(found, 1)
    isr(found, -1, [1])
    found["topics"]["orders"]["znode"]["partitions"] = {"0": [1]}
    for number in "23":
        del found["brokers"][number]["dirs"]["orders-0"]
    aside(found, 1, "future")


def two_directories(found: Snapshot) -> None:
    empty(found, 2)
    found["brokers"]["1"]["twice"] = {"orders-0": ["/a", "/b"]}


def leader_outside(found: Snapshot) -> None:
    stopped(found, 1)
    found["controller"] = 2
    payments(found, leader=2, isr=[2, 3])
    isr(found, 1, [2, 3])
    empty(found, 3)


def older_controller_epoch(found: Snapshot) -> None:
    empty(found, 1)
    found["controller_epoch"] = 2


def shared_id(found: Snapshot) -> None:
    empty(found, 1)
    found["topics"]["payments"]["znode"]["topic_id"] = IDS["orders"]


def dead_and_empty(found: Snapshot) -> None:
    stopped(found, 3)
    isr(found, 1, [1, 2])
    found["delete_topics"] = ["payments"]
    isr(found, 1, [1, 2, 3])
    empty(found, 3)


def unregistered_leader(found: Snapshot) -> None:
    found["broker_ids"], found["controller"] = [2, 3], 2
    payments(found, leader=2, isr=[2, 3])
    isr(found, 1, [1, 2])
    empty(found, 2)


def empty_isr_and_log(found: Snapshot) -> None:
    isr(found, -1, [])
    empty(found, 1)


def state_behind(found: Snapshot) -> None:
    empty(found, 1)
    found["topics"]["orders"]["partition_state"]["0"]["leader_epoch"] = 2


def lost_and_down(found: Snapshot) -> None:
    created_again(without(found, "payments"), "orders")
    stopped(found, 1)
    found["controller"] = 2
    isr(found, -1, [1])


SEE_TO = "but first see to orders-0, of which an ISR member lacks records"
SAID: dict[Callable[[Snapshot], None], dict[str, str]] = {
    erased_id: {"isr-member-lacks-records": "but first write the topic id of orders: a failover mints others"},
    no_controller: {"leader-lacks-records": "leads, once there is a controller", "no-controller": SEE_TO},
    restored_and_without_isr: {
        "empty-isr": "but first find out whether ZooKeeper's earlier data is left",
        "zookeeper-has-lost-topics": "but first write the state of orders-0, which is older than the logs",
    },
    lost_partition_and_deletion: {"deletion-hangs": "but first put orders-0 back into the znode of the topic"},
    no_replicas_and_no_controller: {"no-controller": "but first write the replicas of orders-0"},
    failed_disk_and_empty_member: {
        "offline-log-directory": SEE_TO.replace("orders", "payments"),
        "isr-member-lacks-records": "let broker 1 lead payments-0",
    },
    another_log_and_empty_member: {
        "no-live-isr": "do not start broker 1: its log of orders-0 is empty",
        "broker-down": "but first choose which records to keep of orders-0, whose logs differ",
    },
    last_copy_and_reassignment: {
        "broker-down": "do not give broker 3 up: it may have the last copy of records of orders-0",
        "reassignment-waits": "but first copy the directory of orders-0 on broker 3 that it would delete",
    },
    last_copy_and_failed_disk: {"offline-log-directory": "may be on the copy that was moved or is to be deleted"},
    two_directories: {"partition-in-two-log-directories": SEE_TO},
    leader_outside: {"leader-not-elected": SEE_TO, "isr-member-lacks-records": "so that broker 2 leads"},
    older_controller_epoch: {"leader-lacks-records": "but first set /controller_epoch"},
    shared_id: {"leader-lacks-records": "but first give the topics of one id"},
    dead_and_empty: {
        "isr-names-a-dead-broker": "delete /controller, and start the broker when it is out of the ISR",
        "isr-member-lacks-records": "broker 3: start it when it is out of the ISR",
    },
    unregistered_leader: {
        "isr-member-lacks-records": "stop broker 2; have broker 1 up before broker 2",
        "broker-not-registered": SEE_TO,
    },
    empty_isr_and_log: {"empty-isr": "an unclean election of brokers 2 or 3, while broker 1 is stopped"},
    state_behind: {"state-is-behind-the-logs": "and broker 2 as leader and only ISR member"},
    lost_and_down: {"log-of-an-earlier-topic": "but first find out whether ZooKeeper's earlier data is left"},
}
"""What is said of kinds of findings, by the damage."""
NOT_SAID = {leader_outside: "isr-outside-replicas", state_behind: "log-of-an-earlier-topic"}


def damaged(damage: Callable[[Snapshot], None]) -> Snapshot:
    lost = damage in (restored_and_without_isr, lost_and_down)
    found = without(cluster(ids=THREE), "users") if lost else cluster()
    damage(found)
    return found


@pytest.mark.parametrize("damage", SAID, ids=lambda damage: damage.__name__)
def test_what_one_damage_needs_is_said_of_the_other(damage: Callable[[Snapshot], None]) -> None:
    ways = ways_out(damaged(damage))
    assert [kind for kind, text in SAID[damage].items() if text not in ways.get(kind, "")] == []
    assert NOT_SAID.get(damage) not in ways and all(ways.values())


@pytest.mark.parametrize("damage", [one for one in SAID if one is not shared_id], ids=lambda damage: damage.__name__)
def test_neither_a_plan_nor_a_search_has_a_partition_whose_member_lacks_records(
    damage: Callable[[Snapshot], None],
) -> None:
    """While such a member runs; each step that stops a broker, or elects, is withheld."""
    content = json.dumps(damaged(damage)).encode()
    problem, ways = recovery_problem(content), ways_out(damaged(damage))
    if {
        "isr-member-lacks-records",
        "leader-lacks-records",
    } & ways.keys() and damage is not another_log_and_empty_member:
        assert problem.left_out and not [one for one in names(problem.procedures) if "restart" in one or "fail" in one]
        assert any("was not looked at" in fact or "Not searched" in fact for fact in read_snapshot(content).facts)


def names(procedures: Iterable[Any]) -> list[str]:
    return [one.name for one in procedures]


@pytest.mark.thorough
def test_a_state_that_is_behind_is_repaired_beside_an_empty_log() -> None:
    found = plan_recovery(recovery_problem(json.dumps(damaged(state_behind)).encode()), seconds=120)
    assert found.plan is not None
    first, *others = names(found.plan.procedures)
    assert first == "write-states" and {name.split()[0] for name in others} == {"restart"}  # versions may be lower
