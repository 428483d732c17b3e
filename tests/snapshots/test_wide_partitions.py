"""Partitions with more replicas than a situation has room for: followers that are alike stand for each other."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kwalk.invariants.reading import outlook
from kwalk.invariants.reading.inspection import inspect_capture
from kwalk.invariants.reading.migration import migration_prospect
from kwalk.model.kafka.snapshots import at_rest
from kwalk.model.kafka.snapshots.capture import read_capture
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
    for module in (at_rest, outlook):
        monkeypatch.setattr(module, "MOST_BROKERS", 6)
    folded = inspect_capture(capture)
    assert [one.kind.name for one in folded.observations if one.kind.name == "not-inspected"] == []
    assert folded.observations == whole.observations
    assert migration_prospect(capture, folded) == prospect
