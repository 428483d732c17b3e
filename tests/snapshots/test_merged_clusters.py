"""Two clusters on the same brokers, with different topics: what is said of both together is what is said of each.

And brokers may have any ids: another numbering changes nothing but the numbers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from copy import deepcopy
from random import Random
from typing import Any

import pytest

from kwalk.clusters.handlers.recover import exit_code
from kwalk.invariants.reading.inspection import inspect_snapshot
from kwalk.invariants.reading.outlook import recovery_problem
from kwalk.model.language.inspection import Observation
from kwalk.search.analyses.recovery import Recovery, plan_recovery
from tests.snapshots.random_clusters import random_cluster

RELEASES = ("2.5.1", "2.8.2", "3.9.0")
PAIRS, MANY = 60, 400
"""How many pairs of clusters of a release are looked at."""
PLANNED, MANY_PLANNED = 4, 24
"""Of how many of them plans are made."""
SECONDS = 20
OTHER_LETTERS = str.maketrans("ABC", "XYZ")
"""Makes the topic ids of the second cluster those of no other topic."""
Snapshot = dict[str, Any]


def renamed(snapshot: Snapshot) -> Snapshot:
    """A cluster with other topic names, and other topic ids."""
    text = json.dumps(snapshot)
    for name in ("orders", "payments"):
        text = text.replace(f'"{name}', f'"other-{name}')
    text = text.replace('"timestamp": 1', '"timestamp": 2')  # the first batches of other topics
    for letter in "ABC":
        text = text.replace(letter * 21, letter.translate(OTHER_LETTERS) * 21)
    return json.loads(text)


def pair(release: str, seed: int) -> tuple[Snapshot, Snapshot]:
    """Two random clusters with the same brokers, of which the same are down; their topics have nothing in common."""
    first = random_cluster(release, seed, share=0.7)
    second = renamed(next(c for n in range(99) if alike(c := random_cluster(release, 10_000 + 100 * seed + n), first)))
    for number, broker in second["brokers"].items():
        own = first["brokers"][number]
        is_read = own["dirs"] is not None and not any(root["offline"] for root in own["log_dirs"])
        dirs = (broker["dirs"] or {}) if is_read else own["dirs"]
        second["brokers"][number] = {**deepcopy(own), "dirs": dirs and deepcopy(dirs)}
    facts = ("version", "broker_ids", "controller", "controller_epoch")
    return first, {**second, **{name: first[name] for name in facts}}


def alike(one: Snapshot, other: Snapshot) -> bool:
    """Whether two clusters have as many brokers."""
    return one["brokers"].keys() == other["brokers"].keys()


def merged(one: Snapshot, other: Snapshot) -> Snapshot:
    """Both clusters as one."""
    found = deepcopy(one)
    found["topics"].update(deepcopy(other["topics"]))
    found["delete_topics"] += other["delete_topics"]
    for number, broker in found["brokers"].items():
        if broker["dirs"] is not None:
            broker["dirs"].update(deepcopy(other["brokers"][number]["dirs"]))
    return found


def findings(snapshot: Snapshot) -> tuple[Observation, ...]:
    return inspect_snapshot(json.dumps(snapshot).encode()).observations


def named(observations: tuple[Observation, ...]) -> set[tuple[str, str, str, bool]]:
    return {(one.kind.name, one.subject, one.detail, one.certain) for one in observations}


def plan_of(snapshot: Snapshot) -> Recovery:
    return plan_recovery(recovery_problem(json.dumps(snapshot).encode()), seconds=SECONDS)


def shares_an_id(snapshot: Snapshot) -> bool:
    """Whether two topics have one id in ZooKeeper."""
    known = [topic["znode"].get("topic_id") for topic in snapshot["topics"].values()]
    ids = [one for one in known if one is not None]
    return len({*ids}) < len(ids)


def check_union(release: str, seed: int) -> None:
    one, other = pair(release, seed)
    both = named(findings(merged(one, other)))
    parts = named(findings(one)) | named(findings(other))
    assert both == parts, (seed, both - parts, parts - both)


@pytest.mark.parametrize("release", RELEASES)
def test_two_clusters_together_have_the_findings_of_each(release: str) -> None:
    for seed in range(PAIRS):
        check_union(release, seed)


@pytest.mark.thorough
@pytest.mark.parametrize("release", RELEASES)
def test_many_clusters_together_have_the_findings_of_each(release: str) -> None:
    for seed in range(PAIRS, MANY):
        check_union(release, seed)


def check_plans(release: str, seed: int) -> None:
    one, other = pair(release, seed)
    if shares_an_id(one) or shares_an_id(other):
        return  # no controller starts with it: there is no plan
    both = plan_of(merged(one, other))
    for part in map(plan_of, (one, other)):
        if exit_code(both) == 0:
            assert exit_code(part) != 12 or both.problem.left_out or both.problem.uncovered, seed
        if both.plan is not None and part.plan is not None and not both.problem.left_out:
            assert bool(both.problem.premise) >= bool(part.problem.premise), seed
            assert both.problem.keeps.startswith("it gives up") >= part.problem.keeps.startswith("it gives up"), seed


@pytest.mark.parametrize("release", RELEASES)
def test_a_plan_for_two_clusters_is_no_safer_than_those_for_each(release: str) -> None:
    for seed in range(PLANNED):
        check_plans(release, seed)


@pytest.mark.thorough
@pytest.mark.parametrize("release", RELEASES)
def test_a_plan_for_many_pairs_of_clusters_is_no_safer_than_those_for_each(release: str) -> None:
    for seed in range(PLANNED, MANY_PLANNED):
        check_plans(release, seed)


# Other numbers of brokers.


def renumbered(snapshot: Snapshot, numbers: Mapping[int, int]) -> Snapshot:
    """A cluster whose brokers have other ids."""

    def many(ids: list[int]) -> list[int]:
        return [numbers[b] for b in ids]

    found = deepcopy(snapshot)
    found["broker_ids"] = sorted(many(snapshot["broker_ids"]))
    found["controller"] = numbers.get(snapshot["controller"])
    found["brokers"] = {str(numbers[int(b)]): broker for b, broker in found["brokers"].items()}
    found["brokers"] = dict(sorted(found["brokers"].items()))
    for number, broker in found["brokers"].items():
        for root in broker["log_dirs"]:
            root["broker_id"] = root["broker_id"] and int(number)
    for topic in found["topics"].values():
        znode = topic["znode"]
        for field in ("partitions", "adding_replicas", "removing_replicas"):
            znode[field] = {p: many(ids) for p, ids in znode[field].items()}
        for one in topic["partition_state"].values():
            one.update(leader=numbers.get(one["leader"], -1), isr=many(one["isr"]))
    return found


def seen_as(
    observations: tuple[Observation, ...], numbers: Mapping[int, int]
) -> list[tuple[str, str, bool, tuple[int, ...]]]:
    """The findings with the brokers that their fields name, in other numbers."""
    found = []
    for one in observations:
        fields = " ".join(str(one.fields.get(name, "")) for name in ("broker", "brokers", "having"))
        subject = f"broker {numbers[int(one.subject.split()[1])]}" if one.subject.startswith("broker ") else one.subject
        found.append((one.kind.name, subject, one.certain, tuple(sorted(numbers[int(b)] for b in fields.split()))))
    return sorted(found)


def check_numbers(release: str, seed: int) -> None:
    snapshot = random_cluster(release, seed, share=0.7)
    ids = [int(number) for number in snapshot["brokers"]]
    numbers = dict(zip(ids, Random(seed).sample(ids, len(ids)), strict=True))
    same = {b: b for b in ids}
    assert seen_as(findings(snapshot), numbers) == seen_as(findings(renumbered(snapshot, numbers)), same), seed


@pytest.mark.parametrize("release", RELEASES)
def test_other_ids_of_brokers_change_nothing_but_the_ids(release: str) -> None:
    for seed in range(PAIRS):
        check_numbers(release, seed)


@pytest.mark.thorough
@pytest.mark.parametrize("release", RELEASES)
def test_other_ids_of_brokers_of_many_clusters_change_nothing_but_the_ids(release: str) -> None:
    for seed in range(PAIRS, MANY):
        check_numbers(release, seed)
