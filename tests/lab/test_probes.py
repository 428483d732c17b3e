"""Diagnoses compared with probes: captures of real clusters, and what is changed about them."""

from __future__ import annotations

import copy
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from kwalk.clusters.lab.cluster import serves
from kwalk.clusters.lab.probes import (
    STOPPING,
    WAITING,
    ProbeClass,
    ProbeVerdict,
    probe_lines,
    probe_object,
    probe_verdicts,
)
from kwalk.invariants.reading.finding_kinds import KINDS
from kwalk.invariants.reading.findings import PROPERTIES
from kwalk.model.language.inspection import Severity
from tests.snapshots.captured import FILES, document
from tests.snapshots.test_replicas_in_memory import with_a_log_of_an_earlier_topic

PROBED = [name for name in FILES if (document(name).get("extra") or {}).get("rw")]
SERVED = {"produce": {"ok": True, "error": "NONE"}, "consume": {"ok": True, "error": "NONE", "n": 1}}
REFUSED = {"produce": {"ok": False, "error": "REQUEST_TIMED_OUT"}, "consume": {"ok": True, "error": "NONE", "n": 0}}
HEALTHY = next(n for n in PROBED if all(serves(probe) for probe in document(n)["extra"]["rw"].values()))


def probed(name: str) -> dict[str, Any]:
    """A capture of topic t, with its probes as `lab fuzz` keeps them; those of the captures are of older tools."""
    found = copy.deepcopy(document(name))
    probes = {
        number: {what: {"error": "NONE" if seen["ok"] else "FAILED", **seen} for what, seen in probe.items()}
        for number, probe in found["extra"]["rw"].items()
    }
    found["extra"] = {"probe": {"t": probes}, "at_rest": True, "changed": False}
    return found


def verdicts(folder: Path, *snapshots: dict[str, Any]) -> list[ProbeVerdict]:
    paths = [folder / f"{number:02}.json" for number in range(1, len(snapshots) + 1)]
    for path, snapshot in zip(paths, snapshots, strict=True):
        path.write_text(json.dumps(snapshot))
    return list(probe_verdicts(paths))


def classes(found: list[ProbeVerdict]) -> set[ProbeClass]:
    return {each.kind for each in found}


def test_the_diagnoses_of_the_captures_are_right(tmp_path: Path) -> None:
    found = verdicts(tmp_path, *map(probed, PROBED))
    assert not [each for each in found if each.kind is ProbeClass.WRONG]
    assert Counter(each.serves for each in found) == {True: 62, False: 36}


@pytest.mark.parametrize("name", PROBED)
def test_a_diagnosis_is_wrong_if_the_probe_is_the_other_way_round(name: str, tmp_path: Path) -> None:
    snapshot = probed(name)
    before = verdicts(tmp_path, snapshot)
    probes = snapshot["extra"]["probe"]["t"]
    snapshot["extra"]["probe"]["t"] = {n: REFUSED if serves(probe) else SERVED for n, probe in probes.items()}
    after = verdicts(tmp_path, snapshot)
    turned = {ProbeClass.RIGHT: ProbeClass.WRONG, ProbeClass.UNDECIDED: ProbeClass.UNDECIDED}
    assert [each.kind for each in after] == [turned[each.kind] for each in before]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"unsettled": ["t"]}, "the topic changed while the snapshot was taken"),
        ({"at_rest": False}, "the cluster was not at rest"),
        ({"changed": True}, "the cluster changed before the probes were done"),
    ],
)
def test_a_probe_of_a_cluster_that_changes_decides_nothing(change: dict[str, Any], why: str, tmp_path: Path) -> None:
    snapshot = probed(HEALTHY)
    (snapshot if "unsettled" in change else snapshot["extra"]).update(change)
    found = verdicts(tmp_path, snapshot)
    assert classes(found) == {ProbeClass.UNDECIDED}
    assert {each.why for each in found} == {why}


@pytest.mark.parametrize(("probe", "kind"), [(SERVED, ProbeClass.RIGHT), (REFUSED, ProbeClass.UNDECIDED)])
def test_what_is_said_to_be_rare_decides_nothing_where_it_happens(
    probe: dict[str, Any], kind: ProbeClass, tmp_path: Path
) -> None:
    snapshot = with_a_log_of_an_earlier_topic("3.6.2")
    snapshot["extra"] = {"probe": {"orders": {"0": probe}}, "at_rest": True, "changed": False}
    found = {each.partition: each for each in verdicts(tmp_path, snapshot)}
    assert found["orders-0"].kind is kind


def test_a_partition_without_metadata_does_not_serve(tmp_path: Path) -> None:
    snapshot = probed(HEALTHY)
    snapshot["extra"]["probe"]["t"] = {}
    found = verdicts(tmp_path, snapshot)
    assert classes(found) == {ProbeClass.WRONG}
    assert {each.got for each in found} == {"produce no metadata, consume no metadata"}


def test_topics_that_are_deleted_are_not_compared(tmp_path: Path) -> None:
    assert not verdicts(tmp_path, {**probed(HEALTHY), "delete_topics": ["t"]})


def test_snapshots_without_probes_are_left_out(tmp_path: Path) -> None:
    assert not verdicts(tmp_path, {**probed(HEALTHY), "extra": {}})


def test_the_table_counts_every_comparison_and_lists_the_wrong_ones(tmp_path: Path) -> None:
    snapshot = probed(HEALTHY)
    snapshot["extra"]["probe"]["t"]["0"] = REFUSED
    found = verdicts(tmp_path, snapshot)
    lines = list(probe_lines(found))
    assert f"at once: {len(found) - 1} right, 1 wrong, 0 undecided" in lines[1]
    assert lines[-2] == f"  wrong: {tmp_path / '01.json'}  t-0, at once"
    assert lines[-1] == "         found: nothing; got: produce REQUEST_TIMED_OUT, consume NONE, 0 records"
    shown = probe_object(found)
    assert shown["counts"]["at once"] == {"right": len(found) - 1, "wrong": 1, "undecided": 0}
    assert len(shown["verdicts"]) == len(found)
    assert not list(probe_lines([]))


def test_what_the_comparison_names_exists() -> None:
    names = {kind.name: kind for kind in KINDS}
    assert {prop.name for prop in PROPERTIES} >= STOPPING
    assert names.keys() >= WAITING
    assert all(names[name].severity is Severity.BROKEN for name in WAITING)
