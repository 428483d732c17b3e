"""Partitions with more replicas than a situation has room for: followers that are alike stand for each other."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from attrs import evolve

from kwalk.invariants.reading import outlook, partition_groups
from kwalk.invariants.reading.inspection import inspect_capture
from kwalk.invariants.reading.migration import migration_prospect
from kwalk.model.kafka.snapshots import at_rest
from kwalk.model.kafka.snapshots.capture import read_capture
from kwalk.model.kafka.snapshots.initial_state import focus_on
from kwalk.search.analyses.recovery import plan_recovery
from tests.snapshots.test_combined_damages import IDS, OTHER, cluster, log, stop


def widely_replicated() -> dict[str, Any]:
    """A cluster whose topics have seven replicas."""
    found = cluster(brokers=7)
    for topic in found["topics"].values():
        topic["znode"]["partitions"]["0"] = [*range(1, 8)]
        topic["partition_state"]["0"]["isr"] = [*range(1, 8)]
    for broker in found["brokers"].values():
        broker["dirs"] = {f"{name}-0": log(identity) for name, identity in IDS.items()}
    return found


@pytest.mark.parametrize("release", ["3.9.0", "2.8.2"])
@pytest.mark.parametrize("stopped", [0, 1, 7])
@pytest.mark.parametrize("foreign", [[3, 4, 5, 6, 7], [], [*range(1, 8)], [1], [6]])
def test_brokers_that_are_alike_are_all_named(
    foreign: list[int], stopped: int, release: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The situation without them, and that with all, give the same findings and the same forecast of a migration."""
    found = widely_replicated()
    found["version"] = release
    for number in foreign:
        found["brokers"][str(number)]["dirs"]["orders-0"]["partition_metadata"] = f"version: 0\ntopic_id: {OTHER}"
    if stopped:
        stop(found, stopped)
    capture = read_capture(json.dumps(found).encode())
    whole = inspect_capture(capture)
    prospect = migration_prospect(capture, whole)
    for module in (at_rest, partition_groups):
        monkeypatch.setattr(module, "MOST_BROKERS", 6)
    folded = inspect_capture(capture)
    assert [one.kind.name for one in folded.observations if one.kind.name == "not-inspected"] == []
    assert folded.observations == whole.observations
    assert migration_prospect(capture, folded) == prospect


def test_a_search_has_a_replica_of_each_kind() -> None:
    """It has three of seven: the leader, a follower, and one that is down, or has another id, wherever it is."""
    found = widely_replicated()
    stop(found, 7)
    found["brokers"]["5"]["dirs"]["orders-0"]["partition_metadata"] = f"version: 0\ntopic_id: {OTHER}"
    capture = read_capture(json.dumps(found).encode())
    assert focus_on(capture, capture.topics["orders"]).brokers == (1, 2, 5)
    assert focus_on(capture, capture.topics["payments"]).brokers == (1, 2, 7)


def served_by_four(replicas: int, release: str = "3.9.0") -> dict[str, Any]:
    """A cluster of four brokers, of which the first ones have all replicas; the first one leads and is controller."""
    found = cluster(release, brokers=4)
    for topic in found["topics"].values():
        topic["znode"]["partitions"]["0"] = [*range(1, replicas + 1)]
        topic["partition_state"]["0"]["isr"] = [*range(1, replicas + 1)]
    for number, broker in found["brokers"].items():
        has = int(number) <= replicas
        broker["dirs"] = {f"{name}-0": log(identity) for name, identity in IDS.items()} if has else {}
    return found


def minted(found: dict[str, Any]) -> None:
    """Give the topic another id in ZooKeeper."""
    found["topics"]["orders"]["znode"]["topic_id"] = OTHER


def foreign(found: dict[str, Any]) -> None:
    """Write another id into partition.metadata of the leader."""
    found["brokers"]["1"]["dirs"]["orders-0"]["partition_metadata"] = f"version: 0\ntopic_id: {OTHER}"


def stale(found: dict[str, Any]) -> None:
    """Give a follower the log of an earlier topic."""
    found["brokers"]["2"]["dirs"]["orders-0"] = log(OTHER, ((0, 0), (1, 5)), crc=9)
    found["topics"]["orders"]["partition_state"]["0"]["isr"] = [1, 3, 4]


def stray(found: dict[str, Any]) -> None:
    """Leave a log on a broker that is no replica."""
    found["brokers"]["4"]["dirs"]["orders-0"] = log(IDS["orders"])


PLANS = (
    (minted, 4, ["write-topic-id orders " + IDS["orders"], "fail-over"]),
    (foreign, 4, ["restart-without-metadata-files orders 1"]),
    (stale, 4, ["move-directories orders 2"]),
    (stray, 3, ["move-directories orders 4"]),
)


def plan_with(most: int, found: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> tuple[list[str] | None, bool]:
    """Return the steps of the plan if a world has so many brokers at most, and whether one is without some."""
    monkeypatch.setattr(partition_groups, "FEW_BROKERS", most)
    problem = outlook.recovery_problem(json.dumps(found).encode())
    plan = plan_recovery(evolve(problem, alternatives=()), seconds=120).plan
    is_without = any("The search has orders-0 without" in note for note in problem.notes)
    return plan and [one.name for one in plan.procedures], is_without


@pytest.mark.parametrize("most", [3, 4, 2])
@pytest.mark.parametrize("release", ["3.9.0", "2.8.2"])
@pytest.mark.parametrize(("damage", "replicas", "steps"), PLANS)
def test_a_search_without_followers_that_are_alike_has_the_plan_of_all(
    most: int,
    damage: Callable[[dict[str, Any]], None],
    replicas: int,
    steps: list[str],
    release: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whether a world is of all four brokers, or has room for fewer, and two or one of those that are alike is left."""
    found = served_by_four(replicas, release)
    damage(found)
    assert plan_with(most, found, monkeypatch) == (steps, most < 4)


def test_no_step_is_for_one_of_brokers_that_are_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """What helps one of them must be done to all; a broker that another topic needs is none of them."""
    found = served_by_four(4)
    for name in ("FEW_BROKERS", "MOST_BROKERS"):
        monkeypatch.setattr(partition_groups, name, 3)
    minted(found)
    found["brokers"]["4"]["dirs"]["payments-0"] = log(OTHER, ((0, 0), (1, 5)), crc=9)
    found["topics"]["payments"]["partition_state"]["0"]["isr"] = [1, 2, 3]
    problem = outlook.recovery_problem(json.dumps(found).encode())
    assert {note for note in problem.notes if "The search has" in note} == {
        f"The search has {name}-0 without broker 3, there like broker 2." for name in IDS
    }
    names = [one.name for one in problem.procedures]
    assert "move-directories payments 4" in names
    assert [name for name in names if name.startswith("restart ")] == ["restart 1", "restart 4", "restart 1 2 3 4"]
    assert not [name for name in names if name.endswith((" 2", " 3")) and not name.endswith(" 1 2 3")]


def test_all_brokers_are_looked_at_where_the_newest_log_matters(monkeypatch: pytest.MonkeyPatch) -> None:
    """None is left out where ZooKeeper's state is older than the logs: one of them has the newest log."""
    found = served_by_four(4)
    found["topics"]["orders"]["partition_state"]["0"].update(leader_epoch=2, zk_version=2)
    for name in ("FEW_BROKERS", "MOST_BROKERS"):
        monkeypatch.setattr(partition_groups, name, 3)
    problem = outlook.recovery_problem(json.dumps(found).encode())
    assert any("4 brokers take part, more than the 3 of a model" in note for note in problem.notes)


def test_a_follower_with_another_log_is_not_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Followers in the ISR whose log is of another lineage than the leader's need something done."""
    found = served_by_four(4)
    minted(found)
    for number in ("3", "4"):
        found["brokers"][number]["dirs"]["orders-0"] = log(IDS["orders"], ((0, 0), (1, 5)), crc=9)
    for name in ("FEW_BROKERS", "MOST_BROKERS"):
        monkeypatch.setattr(partition_groups, name, 3)
    problem = outlook.recovery_problem(json.dumps(found).encode())
    assert not any("The search has" in note for note in problem.notes)
    assert any("4 brokers take part, more than the 3 of a model" in note for note in problem.notes)


def led_by_none_of_four() -> dict[str, Any]:
    """A cluster with four replicas of which the only ISR member is down, and the controller is another broker."""
    found = widely_replicated()
    del found["topics"]["payments"]
    for number, broker in found["brokers"].items():
        broker["dirs"] = {"orders-0": log(IDS["orders"])} if int(number) <= 4 else {}
    found["controller"] = 5
    found["topics"]["orders"]["znode"]["partitions"]["0"] = [1, 2, 3, 4]
    stop(found, 1)
    found["topics"]["orders"]["partition_state"]["0"].update(isr=[1], leader=-1, leader_epoch=6)
    return found


def test_five_brokers_may_take_part() -> None:
    """None can be left out, as those that run are no ISR members."""
    problem = outlook.recovery_problem(json.dumps(led_by_none_of_four()).encode())
    assert [world.name for world in problem.worlds] == ["orders-0"] and not problem.left_out
    found = led_by_none_of_four()
    found["brokers"]["6"]["dirs"]["orders-0"] = log(IDS["orders"])
    assert outlook.recovery_problem(json.dumps(found).encode()).left_out == ("orders-0",)


def test_a_plan_in_which_five_brokers_take_part() -> None:
    problem = outlook.recovery_problem(json.dumps(led_by_none_of_four()).encode())
    first = plan_recovery(evolve(problem, alternatives=()), seconds=120)
    assert first.plan is not None
    assert [one.name for one in first.plan.procedures] == ["start-broker 1"]


def test_brokers_that_are_alike_are_not_left_out_where_a_choice_does_not_keep_their_logs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With another member of the ISR, whose log is another one, records are to be chosen: all brokers take part."""
    monkeypatch.setattr(partition_groups, "FEW_BROKERS", 3)
    found = served_by_four(4)
    stale(found)

    def group() -> partition_groups.PartitionGroup:
        (only,), _ = partition_groups.groups_of(read_capture(json.dumps(found).encode()), ["orders"])
        return only

    assert (group().observed.brokers, [one.keeps for one in group().choices]) == ((1, 2, 3), [(1, 3)])
    found["topics"]["orders"]["partition_state"]["0"]["isr"] = [1, 2, 3, 4]
    found["topics"]["orders"]["znode"]["topic_id"] = "CCCCCCCCQAGCCCCCCCCCCC"
    assert (group().observed.brokers, [one.keeps for one in group().choices]) == ((1, 2, 3, 4), [(1, 3, 4), (2,)])
