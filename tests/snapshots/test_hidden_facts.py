"""Whoever hides a fact is told nothing safer than whoever shows it: what is not shown becomes a condition."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from kwalk.invariants.reading.inspection import PARTLY_SEEN, inspect_snapshot
from kwalk.invariants.reading.outlook import recovery_problem
from kwalk.model.language.inspection import Condition
from kwalk.model.language.recovery import Problem
from tests.snapshots.test_combined_damages import cluster

HERE = Path(__file__).parent
UNMEASURED = "if of the logs whose sizes or leader epochs the snapshot lacks, those of broker"


def shown(name: str) -> dict[str, Any]:
    """A snapshot that shows all."""
    return json.loads((HERE / "damaged" / f"{name}.json").read_text())


def hidden(snapshot: dict[str, Any], fact: str, *of: int) -> dict[str, Any]:
    """The same without a fact of the logs of brokers."""
    found = deepcopy(snapshot)
    for broker in of:
        for log in found["brokers"][str(broker)]["dirs"].values():
            log[fact] = None
    return found


def problems(snapshot: dict[str, Any]) -> Iterator[Problem]:
    """The problems of its ways out."""
    first = recovery_problem(json.dumps(snapshot).encode())
    yield from (first, *first.alternatives)


@pytest.mark.parametrize("name", ["power-was-lost-2.8.2", "restored-leader-3.9.0"])
@pytest.mark.parametrize("fact", ["files", "leader_epoch_checkpoint", "first_batch"])
@pytest.mark.parametrize("broker", [1, 2])
def test_logs_whose_facts_are_not_shown_are_named_by_each_plan(name: str, fact: str, broker: int) -> None:
    """Without the sizes or epochs of one log, a start of it was safe: it may have lost its end, or be an old one."""
    assert not any(UNMEASURED in one.premise for one in problems(shown(name)))
    for one in problems(hidden(shown(name), fact, broker)):
        assert "gone for good" in one.premise or not one.worlds or f"{UNMEASURED} {broker}" in one.premise


def test_who_loses_a_log_whose_end_was_not_shown_has_perhaps_lost_records() -> None:
    snapshot = hidden(shown("power-was-lost-2.8.2"), "files", 3)
    gone = next(one for one in problems(snapshot) if one.instead_of == {"start-broker 3"})
    assert "if the logs of brokers 1 and 2 have lost no end with the power" in gone.premise


def test_a_state_is_written_for_brokers_that_were_not_asked_if_they_do_not_serve_the_partition() -> None:
    """Else they have a later version of it in memory, and take up nothing: they were to be restarted."""
    snapshot = shown("states-removed-after-elections-3.9.0")
    assert not any("has no answer of" in one.premise for one in problems(snapshot))
    for broker in snapshot["brokers"].values():
        broker["metadata_cache"] = None
    for one in problems(snapshot):
        assert "if brokers 1, 2 and 3, which the snapshot has no answer of, do not serve t0-0 and t0-1" in one.premise


@pytest.mark.parametrize("fact", ["files", "first_batch"])
def test_agreement_without_a_fact_is_said_to_be_as_far_as_it_is_shown(fact: str) -> None:
    snapshot = cluster()
    for broker in snapshot["brokers"].values():
        topics = {name: {"error": 0, "topic_id": one["znode"]["topic_id"]} for name, one in snapshot["topics"].items()}
        for one in topics.values():
            part = {"error": 0, "leader": 1, "leader_epoch": 5, "isr": [1, 2, 3], "offline": []}
            one["partitions"] = {"0": part}
        broker["metadata_cache"] = {"brokers": [1, 2, 3], "controller": 1, "topics": topics}
    assert not inspect_snapshot(json.dumps(snapshot).encode()).consistent.startswith(PARTLY_SEEN)
    less = inspect_snapshot(json.dumps(hidden(snapshot, fact, 2)).encode())
    assert less.consistent.startswith(PARTLY_SEEN)
    assert less.condition is Condition.CONSISTENT
