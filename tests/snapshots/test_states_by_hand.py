"""States of partitions that a hand wrote or removed, while brokers serve by what they have in memory.

All were seen on brokers of 3.4.1: random histories whose probes differed from the diagnosis.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from attrs import evolve

from kwalk.invariants.reading.finding_kinds import NOT_AVAILABLE
from kwalk.invariants.reading.inspection import inspect_snapshot
from kwalk.invariants.reading.outlook import read_snapshot
from kwalk.search.analyses.recovery import plan_recovery
from tests.snapshots.test_combined_damages import IDS, OTHER, cluster, log, names, problem, ways_out
from tests.snapshots.test_reported_plans import procedure
from tests.snapshots.test_strangers import answers, state


def leaderless(isr: list[int], raised: int = 1) -> dict[str, Any]:
    """A cluster that serves orders by leader 1 of epoch 5, and whose state names no leader."""
    snapshot = cluster("3.4.1")
    answers(snapshot)
    state(snapshot).update(leader=-1, isr=isr, leader_epoch=5 + raised)
    return snapshot


@pytest.mark.parametrize("isr", [[], [2]])
@pytest.mark.parametrize("raised", [0, 1])
def test_a_leader_that_all_brokers_know_serves_without_one_in_the_state(isr: list[int], raised: int) -> None:
    snapshot = leaderless(isr, raised)
    (kind,) = ways_out(snapshot)
    assert kind == "leaderless-state-is-served"
    assert "broker 1 as leader and only ISR member; then fail the controller over" in ways_out(snapshot)[kind]
    assert not names(problem(snapshot))  # a failover elects broker 2, or no broker


def dead_leader(raised: int = 1) -> dict[str, Any]:
    """A hand has made broker 3 the leader and the ISR, which is down and lacks records; leader 1 serves."""
    snapshot = cluster("3.4.1", ids={"orders": IDS["orders"]})
    state(snapshot).update(leader=3, isr=[3], leader_epoch=6 + raised)
    snapshot["brokers"]["3"]["alive"], snapshot["broker_ids"] = False, [1, 2]
    for number in "12":
        snapshot["brokers"][number]["dirs"]["orders-0"] = log(IDS["orders"], ((0, 0), (3, 10), (5, 40), (6, 50)))
    answers(snapshot, epoch=6)
    for number in "12":
        snapshot["brokers"][number]["metadata_cache"]["topics"]["orders"]["partitions"]["0"]["isr"] = [1, 2]
    return snapshot


@pytest.mark.parametrize("raised", [1, 3])
def test_a_hand_may_have_written_a_leader_that_is_down(raised: int) -> None:
    """The plan was to start it: after a failover it would have led, and the others have truncated (seen on 3.4.1)."""
    snapshot = dead_leader(raised)
    assert ways_out(snapshot).keys() == {"leaderless-state-is-served", "broker-down"}
    assert "broker 1 as leader and only ISR member; then" in ways_out(snapshot)["leaderless-state-is-served"]
    assert not names(problem(snapshot))
    snapshot["brokers"]["1"]["metadata_cache"]["topics"]["orders"]["partitions"]["0"]["isr"] = [1, 2, 3]
    snapshot["brokers"]["2"]["metadata_cache"]["topics"]["orders"]["partitions"]["0"]["isr"] = [1, 2, 3]
    assert "no-live-isr" in ways_out(snapshot)  # elected from the ISR that brokers know, it may just have crashed


def test_a_dead_leader_without_its_own_epoch_has_not_led() -> None:
    """What others have of later leader epochs it lacks, though no broker was asked."""
    snapshot = dead_leader()
    for broker in snapshot["brokers"].values():
        broker["metadata_cache"] = None
    assert (
        "do not start broker 3: its log of orders-0 lacks the last leader epochs" in ways_out(snapshot)["no-live-isr"]
    )
    found = problem(snapshot)
    assert plan_recovery(evolve(found, alternatives=()), seconds=60).plan is None
    snapshot["brokers"]["3"]["dirs"]["orders-0"] = log(IDS["orders"], ((0, 0), (3, 10), (5, 40), (6, 50), (7, 60)))
    plan = plan_recovery(evolve(problem(snapshot), alternatives=()), seconds=60).plan
    assert plan is not None and [one.name for one in plan.procedures] == ["start-broker 3"]


def test_a_leader_that_does_not_say_its_epoch_does_not_lead() -> None:
    """On brokers of 3.0.2 clients got KAFKA_STORAGE_ERROR: since its start the leader had refused its log."""
    snapshot = leaderless([2])
    snapshot["brokers"]["1"]["replicas"] = {"orders": {"1": {"leader_epoch": 5, "leads": True}}}
    assert "leader-not-elected" in ways_out(snapshot)
    snapshot["brokers"]["1"]["replicas"]["orders"]["0"] = {"leader_epoch": 5, "leads": True}
    assert ways_out(snapshot).keys() == {"leaderless-state-is-served"}


@pytest.mark.parametrize("release", ["3.0.2", "3.9.0"])
def test_no_election_helps_where_the_isr_refuses_the_topic_id(release: str) -> None:
    """On brokers of 3.0.2 a failover elected nobody: the member of the ISR had a log of an earlier topic."""
    snapshot = cluster(release)
    state(snapshot).update(leader=-1, isr=[1])
    answers(snapshot)
    for broker in snapshot["brokers"].values():
        broker["dirs"]["orders-0"] = log(OTHER)
        known = broker["metadata_cache"]["topics"]["orders"]["partitions"]["0"]
        known.update(leader=-1, isr=[1])
    found = ways_out(snapshot)
    assert found["leader-not-elected"] == "see to the topic ids of orders-0: until then no election helps"
    assert found["topic-id-differs"].startswith(f"write the id {OTHER}, which the logs have")
    snapshot["brokers"]["1"]["dirs"]["orders-0"] = log(IDS["orders"])
    assert ways_out(snapshot)["leader-not-elected"].startswith("take another snapshot")


def test_no_search_begins_where_brokers_know_another_leader_than_the_state() -> None:
    """The controller of the model would know the leader of the state: after a failover that one would lead."""
    leaderless_facts, other = read_snapshot(json.dumps(leaderless([2])).encode()).facts, cluster("3.4.1")
    answers(other)
    state(other)["leader"] = 2
    for facts in (leaderless_facts, read_snapshot(json.dumps(other).encode()).facts):
        assert "Not searched: topic orders: its state names another leader than its brokers do, or none." in facts


def test_members_of_the_isr_that_brokers_know_are_needed_for_acks_of_all() -> None:
    """The leader cannot take them out of the ISR: its changes fail at the version of the state."""
    snapshot = leaderless([])
    snapshot["brokers"]["2"]["dirs"]["orders-0"] = log(OTHER)
    snapshot["brokers"]["3"]["alive"] = False
    snapshot["broker_ids"].remove(3)
    state(snapshot, "payments")["isr"] = [1, 2]
    found = ways_out(snapshot).keys()
    assert {"leaderless-state-is-served", "isr-member-refuses", "isr-names-a-dead-broker"} <= found


def test_a_leader_that_has_restarted_since_does_not_serve() -> None:
    """Its metadata cache lacks the partition until a controller sends it, whatever the others answer."""
    snapshot = leaderless([])
    cache = snapshot["brokers"]["1"]["metadata_cache"]
    snapshot["brokers"]["1"]["metadata_cache"] = {**cache, "topics": {}}
    assert "empty-isr" in ways_out(snapshot)


@pytest.mark.parametrize(
    ("told", "memory", "serves"),
    [
        (None, None, "no"),
        (4, None, ""),
        (4, {"leader_epoch": 4, "leads": True}, "yes"),
        (4, {"leader_epoch": 5, "leads": True}, "no"),
        (4, {"leader_epoch": 4, "leads": False}, "no"),
    ],
)
def test_a_state_behind_the_logs_says_whether_its_leader_serves(
    told: int | None, memory: dict[str, Any] | None, serves: str
) -> None:
    """Seen on 3.0.2: a state without a leader, behind the logs, and clients got LEADER_NOT_AVAILABLE."""
    snapshot = cluster("3.4.1")
    state(snapshot).update(leader_epoch=4, **({} if told else {"leader": -1, "isr": []}))
    answers(snapshot)
    for broker in snapshot["brokers"].values():
        known = broker["metadata_cache"]["topics"]["orders"]["partitions"]["0"]
        known.update(leader=1 if told else -1, leader_epoch=4)
        broker["replicas"] = {"orders": {"0": memory}} if memory else None
    (one,) = (
        each
        for each in inspect_snapshot(json.dumps(snapshot).encode()).observations
        if each.kind.name == "state-is-behind-the-logs"
    )
    assert one.fields["served"] == serves
    assert (one.kind.now == NOT_AVAILABLE) is (told is None)


@pytest.mark.parametrize("isr", [[], [2]])
def test_no_broker_serves_where_the_one_that_they_know_is_down(isr: list[int]) -> None:
    snapshot = leaderless(isr)
    snapshot["brokers"]["1"]["alive"] = False
    snapshot["broker_ids"].remove(1)
    snapshot["controller"] = 2
    state(snapshot, "payments").update(leader=2, isr=[2, 3], leader_epoch=6)
    assert ("leader-not-elected" if isr else "empty-isr") in ways_out(snapshot)


def without_state(asked: bool) -> dict[str, Any]:
    """A topic that was removed and created again by hand: brokers serve the logs of the earlier one."""
    snapshot = cluster("3.4.1", ids={"orders": IDS["orders"]})
    answers(snapshot)
    del snapshot["topics"]["orders"]["partition_state"]["0"]
    snapshot["topics"]["orders"].update(version=1)
    for broker in snapshot["brokers"].values():
        broker["dirs"]["orders-0"] = log(OTHER)
        broker["fetch_errors"] = {"103": {"orders": [0]}} if asked else {}
    return snapshot


@pytest.mark.parametrize("asked", [True, False])
def test_a_leader_that_no_state_names_refuses_consumers_who_ask_by_another_id(asked: bool) -> None:
    assert ways_out(without_state(asked)).keys() == {"fetch-by-id-refused", "partition-without-state-is-served"}


def test_no_id_in_the_znode_keeps_logs_where_another_partition_has_the_id_of_the_znode() -> None:
    snapshot = without_state(asked=True)
    topic = snapshot["topics"]["orders"]
    topic["znode"]["partitions"]["1"] = [1, 2, 3]
    topic["partition_state"]["1"] = {"leader": 1, "leader_epoch": 0, "isr": [1, 2, 3], "controller_epoch": 6}
    for broker in snapshot["brokers"].values():
        broker["dirs"]["orders-1"] = log(IDS["orders"], [(0, 0)])
        known = broker["metadata_cache"]["topics"]["orders"]["partitions"]
        known["1"] = {"error": 0, "leader": 1, "leader_epoch": 0, "isr": [1, 2, 3], "offline": []}
    way_out = ways_out(snapshot)["fetch-by-id-refused-mixed-topic-ids"]
    assert "to keep the records of brokers 1, 2 and 3, on each of brokers 1, 2 and 3" in way_out
    assert "into its znode" not in way_out


def test_a_log_with_the_id_that_the_controller_sends_is_not_of_an_earlier_topic() -> None:
    """The znode's first change was a hand that wrote another id, not a controller that minted one: seen on 3.9.0."""
    snapshot = cluster()
    answers(snapshot)
    snapshot["topics"]["orders"].update(version=1)
    snapshot["topics"]["orders"]["znode"]["topic_id"] = OTHER
    assert ways_out(snapshot).keys() == {"topic-id-differs", "controller-sends-another-id"}
    for broker in snapshot["brokers"].values():
        broker["metadata_cache"]["topics"]["orders"]["topic_id"] = OTHER
    assert "leader-refuses-topic-id" in ways_out(snapshot)


@pytest.mark.parametrize("is_down", [True, False])
def test_a_reassignment_to_replicas_that_a_hand_wrote_begins_with_a_failover_while_one_is_down(is_down: bool) -> None:
    """They are new to the controller, which refuses new replicas that are down, until the next one has read them."""
    snapshot = cluster(brokers=4)
    snapshot["topics"]["orders"]["znode"]["partitions"]["0"] = [3, 4]
    state(snapshot).update(leader=2, isr=[2, 3])
    state(snapshot, "payments")["isr"] = [1, 2, 3]
    if is_down:
        snapshot["brokers"]["4"]["alive"] = False
        snapshot["broker_ids"].remove(4)
    assert ("which reads the replicas" in ways_out(snapshot)["isr-outside-replicas"]) is is_down
    commands = procedure(problem(snapshot), "put-back orders 2").commands
    assert (commands[0] == "zkCli.sh -server ZK delete /controller") is is_down
    assert any("still" in line or "stays in progress" in line for line in commands) is is_down


def test_a_leader_that_no_broker_knows_leaves_the_earlier_one_serving() -> None:
    """A hand wrote leader 2 with a later epoch: clients got no error from leader 1 (seen on 2.8.2)."""
    snapshot = cluster("2.8.2", ids={"orders": IDS["orders"]})
    answers(snapshot)
    for number in "123":
        snapshot["brokers"][number]["replicas"] = {"orders": {"0": {"leader_epoch": 5, "leads": number == "1"}}}
    state(snapshot).update(leader=2, leader_epoch=6)
    found = inspect_snapshot(json.dumps(snapshot).encode())
    (one,) = found.observations
    assert one.kind.name == "leader-is-known-to-no-broker" and "broker 1 leads at leader epoch 5" in one.detail
    assert "unless a hand wrote the state, delete /controller" in ways_out(snapshot)[one.kind.name]
    snapshot["brokers"]["3"]["replicas"]["orders"]["0"]["leader_epoch"] = 6  # it has been told of leader 2
    assert "leader-does-not-lead" in ways_out(snapshot)
