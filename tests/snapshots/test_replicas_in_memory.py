"""What brokers say that they have in memory of replicas: inspection, searches and plans begin there."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kwalk.invariants.reading.inspection import inspect_snapshot
from tests.snapshots.test_combined_damages import IDS, cluster, log, names, problem, stop, ways_out
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
