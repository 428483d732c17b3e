"""Forecasts compared with probes: what captures of real clusters foresee, and what is changed about the probes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kwalk.clusters.lab.forecasts import EVENTS, forecast_verdicts, titles_of
from kwalk.clusters.lab.histories import KINDS
from kwalk.clusters.lab.probes import ProbeClass, ProbeVerdict
from tests.lab.test_probes import HEALTHY, REFUSED, SERVED, probed


def history(folder: Path, before: dict[str, Any], operation: str, probe: dict[str, Any]) -> list[ProbeVerdict]:
    """Compare a snapshot with one after an operation, after which each partition got a probe."""
    after = probed(HEALTHY)
    after["extra"]["probe"]["t"] = dict.fromkeys(after["topics"]["t"]["znode"]["partitions"], probe)
    for name, snapshot in (("01", before), ("02", after)):
        (folder / f"{name}.json").write_text(json.dumps(snapshot))
    done = [
        {"operation": name, "broker": 1, "answer": "", "snapshot": f"{number}.json"}
        for number, name in (("01", "create"), ("02", operation))
    ]
    (folder / "operations.json").write_text(json.dumps({"operations": done}))
    return list(forecast_verdicts(folder))


def with_id_that_differs() -> dict[str, Any]:
    found = probed(HEALTHY)
    found["version"] = "2.8.2"
    znode = found["topics"]["t"]
    znode["znode"]["topic_id"] = znode["topic_id"] = "AbCdEfGhIjKlMnOpQrStUg"
    for broker in found["brokers"].values():
        if broker["metadata_cache"]:
            broker["metadata_cache"]["topics"]["t"]["topic_id"] = "AbCdEfGhIjKlMnOpQrStUg"
    return found


def classes(found: list[ProbeVerdict]) -> set[ProbeClass]:
    return {each.kind for each in found}


@pytest.mark.parametrize("operation", ["delete /controller", "restart a broker", "restart all brokers"])
def test_where_nothing_is_found_a_partition_serves_after_events(operation: str, tmp_path: Path) -> None:
    assert classes(history(tmp_path, probed(HEALTHY), operation, SERVED)) == {ProbeClass.RIGHT}
    assert classes(history(tmp_path, probed(HEALTHY), operation, REFUSED)) == {ProbeClass.WRONG}


def test_a_history_without_operations_is_compared_with_nothing(tmp_path: Path) -> None:
    """Seed 943 on 3.3.2: the cluster failed before the first of them, and the table of the others was lost."""
    assert list(forecast_verdicts(tmp_path)) == []


def test_what_is_foreseen_of_an_event_is_compared_with_it(tmp_path: Path) -> None:
    failed = history(tmp_path, with_id_that_differs(), "restart all brokers", REFUSED)
    assert classes(failed) == {ProbeClass.RIGHT}
    assert {each.findings for each in failed} == {("topic-id-differs",)}
    assert failed[0].partition == "t-0, all brokers restart in turn"
    assert classes(history(tmp_path, with_id_that_differs(), "restart all brokers", SERVED)) == {ProbeClass.WRONG}
    assert classes(history(tmp_path, with_id_that_differs(), "delete /controller", SERVED)) == {ProbeClass.RIGHT}


def test_damage_that_no_model_has_decides_nothing(tmp_path: Path) -> None:
    before = probed(HEALTHY)
    before["controller"] = None
    found = history(tmp_path, before, "delete /controller", REFUSED)
    assert classes(found) == {ProbeClass.UNDECIDED}
    assert {each.why for each in found} == {"nothing is foreseen for sure"}


@pytest.mark.parametrize(
    ("operation", "answer", "titles"),
    [
        ("start a broker", "started broker 2", ("broker 2 starts with the logs that it has",)),
        ("restart a broker", "started broker 1", ("broker 1 starts with the logs that it has",)),
        ("restart a broker", "restarted", ("broker 1 restarts",)),
        ("restart a broker", "not possible", ()),
        ("delete /controller", "controller 3", ("the controller fails over",)),
    ],
)
def test_an_event_is_that_of_the_broker_that_was_started(operation: str, answer: str, titles: tuple[str, ...]) -> None:
    assert titles_of({"operation": operation, "broker": 1, "answer": answer}) == titles


def test_other_operations_are_no_events(tmp_path: Path) -> None:
    assert not history(tmp_path, probed(HEALTHY), "create", SERVED)
    assert EVENTS.keys() <= KINDS.keys()
