"""Ways out that wait for one another: whatever is damaged together, some way out comes first."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from random import Random
from typing import Any

import pytest

from kwalk.invariants.reading.advice.advice import FIRST, Advice
from kwalk.invariants.reading.findings import Findings
from kwalk.model.kafka.snapshots.capture import read_any_capture
from kwalk.model.language import UsageError
from tests.snapshots.captured import changed
from tests.snapshots.random_clusters import random_cluster
from tests.snapshots.test_combined_damages import ways_out
from tests.snapshots.test_inspect import DAMAGES, settled

SEEDS = 120
PAIRS = 400
RELEASES = ("2.5.1", "2.8.2", "3.9.0")


def advice_of(source: bytes) -> Advice:
    """What is said of a snapshot."""
    found = Findings(read_any_capture(source))
    seen = list(found.observations())
    return Advice(found.capture, found.logs(seen), seen)


def in_a_circle(first: Mapping[str, set[str]]) -> set[str]:
    """Return what is left when what waits for nothing that is left is taken away again and again."""
    left = {name: set(others) for name, others in first.items()}
    while free := {name for name, others in left.items() if others.isdisjoint(left)}:
        left = {name: others for name, others in left.items() if name not in free}
    return {*left}


def check(source: bytes) -> bool:
    """Check that no ways out wait for one another; return whether some belong to others."""
    advice = advice_of(source)
    kinds = list(dict.fromkeys(one.kind for one in advice.observations))
    parted = {kind.name: advice.before(kind) for kind in kinds}
    first = {name: {of for one in before for of in one.of} for name, (before, _) in parted.items()}
    assert not in_a_circle(first), first
    for kind in kinds:
        assert advice.kind_of(kind).way_out.count(FIRST) >= len(parted[kind.name][0])
    return any(beside for _, beside in parted.values())


@pytest.mark.parametrize("release", RELEASES)
def test_no_ways_out_of_a_random_cluster_wait_for_one_another(release: str) -> None:
    found = [check(json.dumps(random_cluster(release, seed)).encode()) for seed in range(SEEDS)]
    assert any(found) and not all(found)


@pytest.mark.thorough
@pytest.mark.parametrize("release", RELEASES)
def test_no_ways_out_of_many_random_clusters_wait_for_one_another(release: str) -> None:
    found = [check(json.dumps(random_cluster(release, seed)).encode()) for seed in range(SEEDS, 3000)]
    assert any(found) and not all(found)


def combined(pairs: int | None) -> int:
    """Check pairs of damages, of which some do not fit together; return how many were looked at."""

    def change(capture: dict[str, Any], pair: Iterable[Callable[[dict[str, Any]], None]]) -> None:
        for damage in pair:
            damage(capture)
        settled(capture)

    known, seen = list(DAMAGES), 0
    every = [(one, other) for one in known for other in known if one is not other]
    for pair in every if pairs is None else Random(0).sample(every, pairs):
        try:
            source = changed(partial(change, pair=pair))
            read_any_capture(source)
        except (AttributeError, LookupError, ValueError, TypeError, StopIteration, UsageError):
            continue  # the second takes away, or needs, what the first has taken
        check(source)
        seen += 1
    return seen


def test_no_ways_out_of_two_damages_wait_for_one_another() -> None:
    assert combined(PAIRS) > PAIRS // 2


@pytest.mark.thorough
def test_no_ways_out_of_any_two_damages_wait_for_one_another() -> None:
    assert combined(None) > len(DAMAGES) ** 2 // 2


def test_what_is_safe_in_no_order_is_said_to_belong_together() -> None:
    """ISR members diverged, of which one lacks records: whoever is elected, the others take what it has."""
    ways = ways_out(random_cluster("2.8.2", 139))
    belongs = "but not alone, as neither is safe first: see to orders-0, of which an ISR member lacks records"
    assert belongs in ways["replicas-diverged"]
    assert "but first see to orders-0, of which ISR members have different records" in ways["isr-member-lacks-records"]
    assert "but not alone" not in ways["isr-member-lacks-records"]
