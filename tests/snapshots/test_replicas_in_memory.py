"""What brokers say that they have in memory of replicas: inspection, searches and plans begin there."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kwalk.invariants.reading.finding_kinds import UNDER_ANOTHER_ID
from kwalk.invariants.reading.inspection import inspect_snapshot
from kwalk.invariants.reading.outlook import read_snapshot
from kwalk.invariants.stories.expansion import OLD_CLIENT_EXPANSION
from kwalk.model.kafka.snapshots.capture import read_capture
from kwalk.model.kafka.snapshots.lineage import LaterState, later_states
from kwalk.model.language import Model
from kwalk.search.analyses.recovery import plan_recovery
from tests.snapshots.test_combined_damages import IDS, OTHER, cluster, log, names, problem, stop, ways_out
from tests.snapshots.test_strangers import answers, state


def memory(snapshot: dict[str, Any], topic: str = "orders", **replicas: tuple[int, bool] | None) -> None:
    """Say what brokers, such as b2, have in memory of a topic's partition: leader epoch and role; None for nothing."""
    for broker, one in replicas.items():
        found = None if one is None else {"leader_epoch": one[0], "leads": one[1]}
        snapshot["brokers"][broker[1:]].setdefault("replicas", {}).setdefault(topic, {})["0"] = found


def begun_anew(release: str = "2.8.2") -> dict[str, Any]:
    """A hand removed the state of orders, its leader crashed, and the next controller wrote one at leader epoch 0."""
    snapshot = cluster(release)
    for broker in snapshot["brokers"].values():
        broker["dirs"]["orders-0"] = log(IDS["orders"], [(0, 0)])
    stop(snapshot, 1)
    snapshot.update(controller=2, controller_epoch=8)
    state(snapshot, "payments").update(leader=2, leader_epoch=5)
    state(snapshot).update(leader=2, isr=[2, 3], leader_epoch=0, controller_epoch=8)
    answers(snapshot, leader=2, epoch=0)
    return snapshot


@pytest.mark.parametrize("release", ["2.8.2", "3.4.1", "3.9.0"])
def test_a_state_at_a_leader_epoch_that_brokers_have_already_is_ignored(release: str) -> None:
    """Its checkpoint has that epoch, of the time before, so that nothing else shows it."""
    snapshot = begun_anew(release)
    assert ways_out(snapshot).keys() == {"broker-down"}
    memory(snapshot, b2=(0, False), b3=(0, False))
    assert ways_out(snapshot).keys() == {"broker-down", "leader-ignores-its-state"}
    found = [o for o in inspect_snapshot(json.dumps(snapshot).encode()).observations if o.fields.get("topic")]
    assert [o.detail for o in found] == [
        "leader 2, ISR 2 and 3, replicas 1, 2 and 3; in memory it follows at leader epoch 0, ZooKeeper has 0"
    ]
    assert found[0].certain
    assert names(problem(snapshot))


def test_a_leader_that_says_that_it_leads_does_whatever_its_checkpoint_has() -> None:
    snapshot = begun_anew()
    for broker in snapshot["brokers"].values():
        broker["dirs"]["orders-0"] = log(IDS["orders"], [(4, 0)])
    state(snapshot)["leader_epoch"] = 5
    answers(snapshot, leader=2, epoch=5)
    assert "leader-does-not-lead" in ways_out(snapshot)
    memory(snapshot, b2=(5, True), b3=(5, False))
    assert ways_out(snapshot).keys() == {"broker-down"}


@pytest.mark.parametrize(
    ("replica", "said"), [(None, "no leader epoch since it started"), ((4, True), "it leads at leader epoch 4")]
)
def test_a_leader_that_has_not_taken_up_its_epoch_does_not_lead(replica: tuple[int, bool] | None, said: str) -> None:
    snapshot = cluster("2.8.2")
    assert not ways_out(snapshot)
    memory(snapshot, b1=replica)
    (one,) = inspect_snapshot(json.dumps(snapshot).encode()).observations
    assert one.kind.name == "leader-does-not-lead" and said in one.detail


def without_state(release: str) -> dict[str, Any]:
    """A cluster that serves orders by leader 1 of epoch 5, whose state a hand has removed."""
    snapshot = cluster(release)
    answers(snapshot)
    del snapshot["topics"]["orders"]["partition_state"]["0"]
    return snapshot


@pytest.mark.parametrize("release", ["2.8.2", "3.4.1"])
@pytest.mark.parametrize("replica", [None, (4, False)])
def test_a_follower_that_no_controller_has_told_of_the_partition_is_waited_for(
    release: str, replica: tuple[int, bool] | None
) -> None:
    """It has restarted, the ISR that the leader knows has it, and no state is there in which the leader changes it."""
    snapshot = without_state(release)
    memory(snapshot, b1=(5, True), b2=(5, False), b3=(5, False))
    assert ways_out(snapshot).keys() == {"partition-state-is-lost"}
    memory(snapshot, b3=replica)
    assert ways_out(snapshot).keys() == {"isr-member-does-not-follow", "partition-state-is-lost"}


def test_a_partition_without_state_is_not_served_by_whom_others_take_for_its_leader() -> None:
    snapshot = without_state("2.8.2")
    memory(snapshot, b1=None, b2=(5, False), b3=(5, False))
    assert ways_out(snapshot).keys() == {"partition-without-state"}


@pytest.mark.parametrize(
    ("release", "kind"), [("2.7.2", "log-of-an-earlier-topic"), ("2.8.2", "isr-member-is-ahead-of-its-leader")]
)
def test_a_leader_refuses_members_of_the_isr_with_later_leader_epochs_since_2_8(release: str, kind: str) -> None:
    """The topic was created again over logs of an earlier one; as 2 began to lead, its log lost the later epochs."""
    snapshot = cluster(release)
    for number in ("1", "3"):
        snapshot["brokers"][number]["dirs"]["orders-0"] = log(OTHER, [(0, 0), (9, 10)])
    state(snapshot).update(leader=2, leader_epoch=5)
    answers(snapshot, leader=2)
    assert kind in ways_out(snapshot)


@pytest.mark.parametrize("replica", [(6, False), (4, False), None])
def test_a_member_at_another_leader_epoch_than_its_leader_copies_nothing(replica: tuple[int, bool] | None) -> None:
    """The leader answers its fetches with UNKNOWN_LEADER_EPOCH or FENCED_LEADER_EPOCH."""
    snapshot = cluster("2.8.2")
    memory(snapshot, b1=(5, True), b2=(5, False), b3=(5, False))
    assert not ways_out(snapshot)
    memory(snapshot, b3=replica)
    assert ways_out(snapshot).keys() == {"isr-member-does-not-follow"}


def test_a_follower_that_has_caught_up_since_the_state_was_removed_may_be_waited_for() -> None:
    """The leader wants it in the ISR, cannot write that, and waits for it (Partition: maximalIsr): seen on 2.8.2."""
    snapshot = without_state("2.8.2")
    memory(snapshot, b1=(5, True), b2=(5, False))
    for broker in ("1", "2"):
        known = snapshot["brokers"][broker]["metadata_cache"]["topics"]["orders"]["partitions"]["0"]
        known["isr"] = [1, 2]
    snapshot["brokers"]["3"].update(alive=False, metadata_cache=None)
    snapshot["broker_ids"].remove(3)
    state(snapshot, "payments")["isr"] = [1, 2]
    found = inspect_snapshot(json.dumps(snapshot).encode()).observations
    assert [o.certain for o in found if o.kind.name == "isr-names-a-dead-broker"] == [False]
    snapshot["brokers"]["3"]["dirs"]["orders-0"] = log(IDS["orders"], [(0, 0), (3, 10)])
    assert "isr-names-a-dead-broker" not in ways_out(snapshot)


def test_who_has_taken_up_a_restored_state_is_not_guessed_where_brokers_say_it() -> None:
    """Without their answers any of them may lead, and any but the leader in ZooKeeper may have restarted since."""
    snapshot = cluster("2.8.2")
    state(snapshot)["leader_epoch"] = 3
    guessed = later_states_of(snapshot)
    assert len(guessed) == 11
    memory(snapshot, b1=(5, False), b2=(5, True), b3=(3, False))
    assert later_states_of(snapshot) == [one for one in guessed if (one.leader, one.restarted) == (2, {3})]


def later_states_of(snapshot: dict[str, Any]) -> list[LaterState]:
    capture = read_capture(json.dumps(snapshot).encode())
    return list(later_states(capture, capture.topics["orders"], 0, (1, 2, 3)))


def test_records_of_later_epochs_that_a_leader_has_lost_stop_those_who_copy_them() -> None:
    """As 2 began to lead at epoch 5, its checkpoint lost what its earlier topic had above: seen on 2.8.2."""
    snapshot = cluster("2.8.2")
    for number in ("1", "2", "3"):
        snapshot["brokers"][number]["dirs"]["orders-0"] = log(OTHER, [(0, 0)])
        snapshot["brokers"][number]["dirs"]["orders-0"]["high_watermark"] = 2
    snapshot["brokers"]["2"]["dirs"]["orders-0"] = log(OTHER, [(5, 9)])
    snapshot["brokers"]["2"]["dirs"]["orders-0"]["first_batch"]["leader_epoch"] = 0
    state(snapshot).update(leader=2, leader_epoch=5)
    answers(snapshot, leader=2)
    found = inspect_snapshot(json.dumps(snapshot).encode()).observations
    (one,) = (o for o in found if o.kind.name == "isr-member-is-ahead-of-its-leader")
    assert not one.certain and one.fields["brokers"] == "1 3"
    snapshot["version"] = "2.7.2"
    assert "isr-member-is-ahead-of-its-leader" not in ways_out(snapshot)


@pytest.mark.parametrize("epoch", [0, 57, 2_000_000])
@pytest.mark.parametrize("has_state", [True, False])
def test_a_search_from_a_snapshot_has_any_leader_epoch(epoch: int, has_state: bool) -> None:
    """In the model an epoch is earlier than ZooKeeper's, the same, or later."""
    snapshot = cluster("2.8.2")
    if not has_state:
        del snapshot["topics"]["orders"]["partition_state"]["0"]
    memory(snapshot, b1=(epoch, True), b2=(epoch, False), b3=(epoch, False))
    reading = read_snapshot(json.dumps(snapshot).encode())
    assert Model(OLD_CLIENT_EXPANSION.starting_from(reading), reading.variant, flags=reading.flags).initial


def test_a_leader_that_serves_beside_one_that_a_hand_wrote_is_not_said_to_be_idle() -> None:
    """All brokers answer with 1, which leads: clients are served until a controller reads the state."""
    snapshot = cluster("3.4.1")
    answers(snapshot, leader=1)
    state(snapshot).update(leader=2)
    memory(snapshot, b1=(5, True), b2=(5, False), b3=(5, False))
    assert ways_out(snapshot).keys() == {"leader-written-by-hand"}


def with_a_log_of_an_earlier_topic(release: str) -> dict[str, Any]:
    """Broker 3 has an earlier topic's log of partition 1; partition 0 is sound."""
    snapshot = cluster(release)
    orders = snapshot["topics"]["orders"]
    orders["znode"]["partitions"]["1"] = [1, 2, 3]
    orders["partition_state"]["1"] = dict(state(snapshot))
    for number, broker in snapshot["brokers"].items():
        broker["dirs"]["orders-1"] = log(OTHER if number == "3" else IDS["orders"], [(0, 0)])
    return snapshot


def fetched_with_others(snapshot: dict[str, Any]) -> list[str]:
    inspection = inspect_snapshot(json.dumps(snapshot).encode())
    found = [one for one in inspection.observations if one.kind.name == UNDER_ANOTHER_ID.name]
    assert not any(one.certain for one in found)
    return [f"{one.subject}: {one.detail}" for one in found]


@pytest.mark.parametrize(("release", "count"), [("2.8.2", 0), ("3.0.2", 0), ("3.1.2", 1), ("3.6.2", 1), ("3.9.0", 1)])
def test_a_fetch_has_one_id_for_partitions_in_a_row(release: str, count: int) -> None:
    """Seen on brokers of 3.6.2: acks=all of sound partitions timed out (FetchRequest.Builder)."""
    snapshot = with_a_log_of_an_earlier_topic(release)
    assert fetched_with_others(snapshot) == ["orders-0: broker 3, by its log of orders-1"] * count


def test_a_fetch_has_the_id_of_sound_partitions_where_the_others_are_not_fetched_by_their_broker() -> None:
    snapshot = with_a_log_of_an_earlier_topic("3.6.2")
    snapshot["brokers"]["3"].setdefault("replicas", {})["orders"] = {"1": {"leader_epoch": 4, "leads": True}}
    assert not fetched_with_others(snapshot)  # it leads the other one
    snapshot["brokers"]["3"]["replicas"] = {"orders": {"1": None}}
    assert not fetched_with_others(snapshot)  # it has refused the other one since its start
    snapshot["brokers"]["3"]["replicas"] = {"orders": {"1": {"leader_epoch": 4, "leads": False}}}
    assert fetched_with_others(snapshot)
    snapshot = with_a_log_of_an_earlier_topic("3.6.2")
    snapshot["topics"]["orders"]["znode"]["partitions"]["1"] = [2, 3]
    assert not fetched_with_others(snapshot)  # the leader of partition 0 has no replica of the other one
    snapshot = with_a_log_of_an_earlier_topic("3.6.2")
    stop(snapshot, 3)
    assert not fetched_with_others(snapshot) and not fetched_with_others(cluster("3.6.2"))


def test_partitions_whose_brokers_may_have_seen_later_states_are_beside_others() -> None:
    """Their models differ in a flag: the kernel of one cannot be that of the other (histories of 3.6.2)."""
    snapshot = cluster("3.6.2")
    memory(snapshot, b1=(5, False))
    snapshot["topics"]["payments"]["znode"]["topic_id"] = OTHER
    found = problem(snapshot)
    assert len({world.model.binding.flags["state_versions"] for world in found.worlds}) == 2
    assert plan_recovery(found, seconds=60).plan is not None
