"""Experiments: each names a story, rates have intervals, and evidence replaces only evidence."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from docs.generate.experiments import SEEN_RESULTS
from kwalk.clusters.lab.cluster import Lab
from kwalk.clusters.lab.experiments import EXPERIMENTS, directories, moves, stops
from kwalk.clusters.lab.experiments.experiment import (
    Experiment,
    ExperimentResult,
    RoundOutcome,
    _prepare,
    result_object,
    wilson,
)
from kwalk.clusters.lab.experiments.random_damages import ACTS, HARMFUL, RandomDamages
from kwalk.clusters.lab.lock import RELEASES
from kwalk.clusters.lab.zookeeper import set_data
from kwalk.model.language import UsageError
from tests.structure.rooms import ROOT


@pytest.mark.parametrize("experiment", EXPERIMENTS.values(), ids=lambda experiment: experiment.name)
def test_an_experiment_is_about_a_story_and_runs_on_locked_releases(experiment):
    assert (ROOT / "docs" / "stories" / experiment.story).exists()
    assert set(experiment.releases) <= set(RELEASES)
    assert experiment.about.endswith(".") and experiment.expected.endswith(".")


def test_what_was_seen_is_what_an_experiment_expects_of_each_of_its_releases():
    seen = {(row["name"], row["release"]): row for row in SEEN_RESULTS}
    tried = {name: EXPERIMENTS[name] for name, _ in seen}
    assert list(seen) == [(name, release) for name, one in tried.items() for release in one.releases]
    assert {one.name for one in (*directories.EXPERIMENTS, *moves.EXPERIMENTS, *stops.EXPERIMENTS)} <= tried.keys()
    for (name, release), row in seen.items():
        assert 0 <= row["seen"] <= row["rounds"] and row["rounds"] >= tried[name].rounds
        assert (row["seen"] > 0) == tried[name].predicted(release), (name, release)


def test_the_interval_of_a_rate_is_wilsons():
    assert wilson(4, 31) == pytest.approx((0.0513, 0.2885), abs=1e-3)
    assert wilson(0, 10) == pytest.approx((0.0, 0.2775), abs=1e-3)
    assert wilson(0, 0) == (0.0, 1.0)


def experiment(*, predicted):
    return Experiment("name", "About.", "Expected.", "page.md", lambda lab, this: None, lambda release: predicted)


@pytest.mark.parametrize(
    ("predicted", "seen", "fits"), [(True, 1, True), (True, 0, False), (False, 0, True), (False, 1, False)]
)
def test_a_result_is_as_predicted_if_the_effect_is_seen_where_it_is_expected(predicted, seen, fits):
    observations = tuple(RoundOutcome("lost" if n < seen else "kept", n < seen) for n in range(3))
    result = ExperimentResult(experiment(predicted=predicted), "3.9.0", observations, 1.0, Path())
    assert result.as_predicted is fits
    assert result_object(result)["seen"] == seen
    assert sum(result.outcomes.values()) == 3


def test_evidence_replaces_evidence_and_nothing_else(tmp_path):
    folder = tmp_path / "evidence"
    _prepare(folder, experiment(predicted=True), "3.9.0")
    (folder / "round-7").mkdir()
    _prepare(folder, experiment(predicted=True), "3.9.0")
    assert [path.name for path in folder.iterdir()] == ["experiment.json"]
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "precious").write_text("data")
    with pytest.raises(UsageError, match="is not empty, and holds no evidence"):
        _prepare(tmp_path / "mine", experiment(predicted=True), "3.9.0")
    assert (tmp_path / "mine" / "precious").exists()


def test_a_topic_id_is_written_into_the_znode_and_nothing_else_changes():
    znode = {"version": 1, "partitions": {"0": [1, 2]}, "adding_replicas": {"0": [2]}}
    write = Lab.topic_id_write(SimpleNamespace(topic={"t": znode}.get), "t", "the first id")
    content = json.dumps({**znode, "topic_id": "the first id"}).encode()
    assert write == set_data("/brokers/topics/t", content)


def test_each_random_damage_can_be_drawn_and_is_done_by_a_method():
    assert set(ACTS) > HARMFUL
    assert [name for name in ACTS if not callable(getattr(RandomDamages, name))] == []


def test_the_entry_of_a_partition_is_its_line_in_the_checkpoint_of_the_cleaner(tmp_path):
    (tmp_path / moves.CHECKPOINT).write_text("0\n2\na-b 1 7\na-b 11 8\n")
    assert [moves._entry(tmp_path, name) for name in ("a-b-1", "a-1")] == ["a-b 1 7", None]
    assert moves._entry(tmp_path / "nowhere", "a-b-1") is None
