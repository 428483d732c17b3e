"""Snapshots that `kwalk collect` took of damaged real clusters, which `kwalk lab reproduce recover-…` had made.

What an inspection must find is stated with the experiments; the lab probed the partitions after each snapshot.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from kwalk.clusters.lab.experiments import EXPERIMENTS
from kwalk.invariants.reading.inspection import inspect_snapshot
from kwalk.invariants.reading.outlook import recovery_problem
from kwalk.model.language.inspection import Severity

FILES = sorted((Path(__file__).parent / "damaged").glob("*.json"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_damage_is_named_and_no_other(path: Path) -> None:
    name, _, release = path.stem.rpartition("-")
    case = EXPERIMENTS[f"recover-{name}"].run.keywords["case"]
    found = inspect_snapshot(path).by_kind()
    damage = {kind.name for kind in found if kind.severity is not Severity.NOTE}
    assert damage == set(case.kinds[release])


def test_a_topic_whose_znodes_are_gone_is_served_still_and_a_plan_warns() -> None:
    """The lab produced to it; a topic that is created again gets the records by writing the earlier id."""
    (path,) = (path for path in FILES if path.stem == "deleted-by-hand-3.9.0")
    (note,) = recovery_problem(path).notes
    assert note.startswith("Brokers still serve topic t0, of which ZooKeeper has nothing.")


def test_every_damage_of_the_lab_has_a_snapshot() -> None:
    made = {path.stem.rpartition("-")[0] for path in FILES}
    wanted = {name.removeprefix("recover-") for name in EXPERIMENTS if name.startswith("recover-")}
    unseen = {
        "crash",
        "another-broker-id-in-use",
    }  # one is registered still, one is inspected otherwise
    assert wanted - made == unseen
