"""Experiments: each names a story, rates have intervals, and evidence replaces only evidence."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from kwalk.clusters.lab.cluster import Lab
from kwalk.clusters.lab.experiments import EXPERIMENTS, recoveries
from kwalk.clusters.lab.experiments.experiment import (
    Experiment,
    ExperimentResult,
    RoundOutcome,
    _prepare,
    result_object,
    wilson,
)
from kwalk.clusters.lab.lock import RELEASES
from kwalk.clusters.lab.zookeeper import set_data
from kwalk.invariants.reading.outlook import recovery_problem
from kwalk.model.language import UsageError
from kwalk.model.language.recovery import Procedure
from tests.snapshots.captured import FILES
from tests.structure.rooms import ROOT


@pytest.mark.parametrize("experiment", EXPERIMENTS.values(), ids=lambda experiment: experiment.name)
def test_an_experiment_is_about_a_story_and_runs_on_locked_releases(experiment):
    assert (ROOT / "docs" / "stories" / experiment.story).exists()
    assert set(experiment.releases) <= set(RELEASES)
    assert experiment.about.endswith(".") and experiment.expected.endswith(".")


def test_every_experiment_is_on_the_page_of_the_lab():
    page = (ROOT / "docs" / "how-to" / "run-a-lab.md").read_text(encoding="utf-8")
    assert [name for name in EXPERIMENTS if f"`{name}`" not in page] == []


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


class FakeLab:
    """Keeps what is done to a cluster."""

    def __init__(self, folder):
        self.done, self.zk = [], self
        broker = SimpleNamespace(runs=True, data=folder, folder=folder)
        self.brokers = dict.fromkeys(range(1, 6), broker)

    def get(self, path):
        return b"", SimpleNamespace(version=7)

    def do(self, write):
        self.done.append((write.op.name, write.path))

    def stop(self, number):
        self.done.append(("stop", number))

    def start(self, number):
        self.done.append(("start", number))

    def note(self, text):
        pass


@pytest.mark.parametrize("name", list(FILES)[::5])
def test_the_lab_has_a_hand_for_every_step_that_plans_may_have(name, tmp_path, monkeypatch):
    monkeypatch.setattr(recoveries, "rest", lambda lab: None)
    for procedure in recovery_problem(FILES[name]).procedures:
        lab = FakeLab(tmp_path)
        recoveries.carry_out(lab, procedure)
        numbers = [int(word) for word in procedure.name.split()[1:] if word.isdecimal()]
        bounced = [(what, number) for number in numbers for what in ("stop", "start")]
        assert lab.done == bounced or [op for op, _ in lab.done] in (["SET_DATA"], ["DELETE"])


def test_files_are_removed_while_the_broker_is_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr(recoveries, "rest", lambda lab: None)
    for folder in ("t-0", "t-1"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "partition.metadata").write_text("x")
    commands = ("rm -f t-0/partition.metadata t-2/partition.metadata   # in LOG_DIR", "mv t-1 BACKUP   # in LOG_DIR")
    lab = FakeLab(tmp_path)
    recoveries.carry_out(lab, Procedure("move-directories t 3", "Title.", (), 1, commands=commands))
    assert lab.done == [("stop", 3), ("start", 3)]
    assert sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*")) == [
        "backup",
        "backup/t-1",
        "backup/t-1/partition.metadata",
        "t-0",
    ]
