"""Plans of clusters in which a partition is being reassigned, made of a healthy cluster that is edited."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kwalk.search.analyses.recovery import Recovery, plan_recovery
from tests.snapshots.test_combined_damages import EPOCHS, IDS, OTHER, cluster, log, names, problem, root

Snapshot = dict[str, Any]


def stop(snapshot: Snapshot, number: int) -> None:
    """Take a broker out of the cluster, and out of the ISRs that have it."""
    snapshot["brokers"][str(number)]["alive"] = False
    snapshot["broker_ids"].remove(number)
    for topic in snapshot["topics"].values():
        state = topic["partition_state"]["0"]
        state["isr"] = [broker for broker in state["isr"] if broker != number]


def reassigned(release: str = "3.9.0") -> Snapshot:
    """Partition payments-0 goes from brokers 1, 2 and 3 to 1, 2 and 4, and broker 4 is down without a log."""
    snapshot = cluster(release, brokers=4)
    snapshot["topics"]["payments"]["znode"].update(
        partitions={"0": [4, 1, 2, 3]}, adding_replicas={"0": [4]}, removing_replicas={"0": [3]}
    )
    stop(snapshot, 4)
    return snapshot


def minted(snapshot: Snapshot) -> Snapshot:
    """A controller has minted another id for orders."""
    snapshot["topics"]["orders"]["znode"]["topic_id"] = OTHER
    return snapshot


def steps(found: Recovery) -> list[str]:
    """The steps of the plan."""
    assert found.plan is not None and found.plan.at_any_moment
    return [one.name for one in found.plan.procedures]


@pytest.mark.parametrize("release", ["2.8.2", "3.9.0"])
def test_the_broker_starts_that_a_reassignment_waits_for_or_an_empty_one(release: str) -> None:
    found = plan_recovery(problem(reassigned(release)), seconds=120)
    assert steps(found) == ["start-broker 4"]
    assert found.problem.uncovered == ()
    (gone,) = (steps(one) for one in found.alternatives if "4 is gone for good" in one.problem.premise)
    assert gone == ["start-empty-broker 4"]


def test_a_reassignment_withholds_no_failover_from_other_topics() -> None:
    found = plan_recovery(problem(minted(reassigned())), seconds=120)
    assert found.problem.withheld == () and found.problem.left_out == ()
    assert steps(found) == [f"write-topic-id orders {IDS['orders']}", "start-broker 4", "fail-over"]
    assert any(note.startswith("payments-0 is being reassigned") for note in found.problem.notes)


def test_no_step_writes_into_the_znode_of_a_topic_that_is_being_reassigned() -> None:
    """Another partition of the topic has another id: the content that is written would end the reassignment."""
    snapshot = reassigned()
    payments = snapshot["topics"]["payments"]
    payments["znode"]["partitions"]["1"] = [1, 2, 3]
    payments["partition_state"]["1"] = dict(payments["partition_state"]["0"])
    for number in "123":
        snapshot["brokers"][number]["dirs"]["payments-1"] = log(OTHER)
    found = problem(snapshot)
    assert [world.name for world in found.worlds] == ["payments-0", "payments-1"]
    assert names(found) and not any(name.startswith(("write", "put-back")) for name in names(found))


def another_id(snapshot: Snapshot) -> None:
    """A follower refuses the topic's id."""
    snapshot["brokers"]["2"]["dirs"]["payments-0"] = log(OTHER)


def another_log(snapshot: Snapshot) -> None:
    """The broker that is waited for has the log of an earlier topic."""
    snapshot["brokers"]["4"]["dirs"]["payments-0"] = log(IDS["payments"], EPOCHS[:1], crc=8)


def log_of_no_replica(snapshot: Snapshot) -> None:
    """The log is a stray one, and the only one with the last records."""
    snapshot["topics"]["payments"]["znode"]["partitions"]["0"] = [4, 1, 2]
    snapshot["topics"]["payments"]["znode"]["removing_replicas"] = {}


def to_one_replica(snapshot: Snapshot) -> None:
    """What one crash takes away then is the partition."""
    snapshot["topics"]["payments"]["znode"]["removing_replicas"] = {"0": [1, 2, 3]}


def marked(snapshot: Snapshot) -> None:
    """The topic is being deleted."""
    snapshot["delete_topics"] = ["payments"]


def without_its_log(snapshot: Snapshot) -> None:
    """The only ISR member is down, and has no log: it would lead with nothing, and the others be removed."""
    without_isr(snapshot)
    del snapshot["brokers"]["3"]["dirs"]["payments-0"]


def failed_disk(snapshot: Snapshot) -> None:
    """What a replica has on it, nobody has read."""
    snapshot["brokers"]["2"]["log_dirs"] = [root("/kafka", offline=True)]
    snapshot["brokers"]["2"]["dirs"] = {}
    snapshot["topics"]["payments"]["partition_state"]["0"]["isr"] = [1, 3]


def led_by_nobody(snapshot: Snapshot) -> None:
    """The controller has not elected a live ISR member."""
    snapshot["topics"]["payments"]["partition_state"]["0"].update(leader=-1)


def in_the_isr(snapshot: Snapshot) -> None:
    """All replicas that the partition is to have are in the ISR: the controller has not ended it."""
    snapshot["topics"]["payments"]["znode"]["partitions"]["0"] = [1, 2, 3]
    snapshot["topics"]["payments"]["znode"].update(adding_replicas={"0": [2]}, removing_replicas={"0": [3]})


@pytest.mark.parametrize(
    "change",
    [
        another_id,
        another_log,
        log_of_no_replica,
        to_one_replica,
        marked,
        without_its_log,
        led_by_nobody,
        failed_disk,
        in_the_isr,
    ],
)
def test_a_reassignment_is_left_alone_where_its_end_may_matter(change: Callable[[Snapshot], None]) -> None:
    snapshot = minted(reassigned())
    change(snapshot)
    found = problem(snapshot)
    assert found.left_out == ("payments-0",)
    assert "fail-over" in found.withheld or change in (marked,)


def without_isr(snapshot: Snapshot) -> Snapshot:
    """The replica that is removed is the only ISR member, and down, as is another one; broker 4 has no log yet."""
    for number in (2, 3):
        stop(snapshot, number)
    snapshot["brokers"]["4"]["alive"] = True
    snapshot["broker_ids"].append(4)
    snapshot["topics"]["payments"]["partition_state"]["0"].update(leader=-1, isr=[3])
    return snapshot


@pytest.mark.parametrize("release", ["2.8.2", "3.9.0"])
def test_the_isr_starts_that_a_reassignment_copies_from(release: str) -> None:
    """The others follow, and what the reassignment removes then has nothing that they lack."""
    snapshot = without_isr(reassigned(release))
    found = plan_recovery(problem(snapshot), seconds=120)
    assert steps(found) == ["start-broker 2", "start-broker 3"]
    assert any("leaves the log of a replica that it removes" in n for n in found.problem.notes)
    premises = {one.problem.premise: one.plan for one in found.alternatives if "3 is gone" in one.problem.premise}
    assert [plan is None for premise, plan in premises.items() if "may be lost" not in premise] == [True]
    (lossy,) = (plan for premise, plan in premises.items() if "may be lost" in premise)
    assert lossy is not None and any(one.name.startswith("elect-unclean") for one in lossy.procedures)


def test_nothing_waits_for_a_broker_that_is_down_and_removed() -> None:
    snapshot = reassigned()
    stop(snapshot, 3)
    assert steps(plan_recovery(problem(snapshot), seconds=120)) == ["start-broker 4"]


def test_a_log_that_is_behind_is_that_of_a_replica_which_copies() -> None:
    snapshot = reassigned()
    snapshot["brokers"]["4"]["dirs"]["payments-0"] = log(IDS["payments"], EPOCHS[:2])
    assert steps(plan_recovery(problem(snapshot), seconds=120)) == ["start-broker 4"]
