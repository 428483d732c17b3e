"""Random histories: what is drawn, how they are classified, and that a run continues where it was interrupted."""

from __future__ import annotations

import json
import shutil
from types import SimpleNamespace

import pytest

from kwalk.clusters.lab import fuzz, histories
from kwalk.clusters.lab.fuzz import (
    FuzzOptions,
    HistoryClass,
    HistoryVerdict,
    explained_by_command,
    fuzz_lab,
    fuzz_lines,
    fuzz_object,
)
from kwalk.clusters.lab.histories import KINDS, FuzzHands, draw_history
from kwalk.clusters.lab.probes import ProbeClass, ProbeTime
from kwalk.model.kafka.snapshots.logs import read_logs
from kwalk.model.language import UsageError
from kwalk.model.language.series import LogSource
from tests.snapshots.captured import FILES, document

OPTIONS = FuzzOptions("2.8.2", rounds=3, seed=5, operations=4, seconds=5)


class NoCluster:
    """Stands for a cluster: operations are noted, and nothing runs."""

    def __init__(self):
        self.done = []

    def perform(self, operations, case, topic):
        self.done.append([operation.name for operation in operations])
        shutil.rmtree(case, ignore_errors=True)
        case.mkdir(parents=True)
        for number in range(1, len(operations) + 1):
            (case / f"{number:02}.json").write_text("{}")
        noted = [
            {"operation": operation.name, "broker": operation.broker, "answer": "", "snapshot": f"{number:02}.json"}
            for number, operation in enumerate(operations, start=1)
        ]
        (case / fuzz.OPERATIONS).write_text(json.dumps({"operations": noted}))


@pytest.fixture
def cluster(monkeypatch):
    found = NoCluster()
    monkeypatch.setattr(fuzz.Fuzz, "_perform", lambda _, *arguments: found.perform(*arguments))
    return found


def judging(*kinds):
    verdicts = iter(kinds)
    return lambda snapshots, seconds: HistoryVerdict(next(verdicts), "because", 1.0)


def test_the_same_seed_gives_the_same_operations_and_another_seed_others():
    assert draw_history("a", 12) == draw_history("a", 12)
    assert draw_history("a", 12) != draw_history("b", 12)


def test_a_history_begins_with_the_creation_of_its_topic_and_draws_every_kind():
    drawn = [draw_history(str(number), 12) for number in range(200)]
    assert {len(history) for history in drawn} == {12}
    assert all(KINDS[history[0].name].needs_topic is False for history in drawn)
    assert {operation.name for history in drawn for operation in history} == KINDS.keys()
    assert {operation.rests for history in drawn for operation in history} == {True, False}
    assert {max(operation.topic for operation in history) for history in drawn} == {0, 1}


@pytest.mark.parametrize(
    ("kinds", "code"),
    [
        ((HistoryClass.EXPLAINED,) * 3, 0),
        ((HistoryClass.EXPLAINED, HistoryClass.OUT_OF_TIME, HistoryClass.EXPLAINED), 3),
        ((HistoryClass.EXPLAINED, HistoryClass.OUT_OF_TIME, HistoryClass.MISFIT), 12),
        ((HistoryClass.EXPLAINED, HistoryClass.REFUSED, HistoryClass.EXPLAINED), 12),
    ],
)
def test_the_exit_code_is_that_of_the_worst_class(tmp_path, cluster, kinds, code):
    result = fuzz_lab(OPTIONS, tmp_path / "cases", judge=judging(*kinds))
    assert result.exit_code == code
    assert sum(result.counts.values()) == len(cluster.done) == 3
    assert [each.verdict.kind for each in result.histories] == list(kinds)
    assert sum("misfit: " in line for line in fuzz_lines(result)) == len(result.misfits)
    assert fuzz_object(result)["counts"] == result.counts
    assert any("--logs" in line and str(tmp_path / "cases") in line for line in fuzz_lines(result))


def test_a_run_that_was_interrupted_does_only_what_is_missing(tmp_path, cluster):
    def interrupted(snapshots, seconds):
        if "0001" in str(snapshots[0]):
            raise KeyboardInterrupt
        return HistoryVerdict(HistoryClass.EXPLAINED, "", 1.0)

    with pytest.raises(KeyboardInterrupt):
        fuzz_lab(OPTIONS, tmp_path / "cases", judge=interrupted)
    ran = len(cluster.done)
    judged = []

    def noting(snapshots, seconds):
        judged.append(snapshots[0].parent.name)
        return HistoryVerdict(HistoryClass.EXPLAINED, "", 1.0)

    result = fuzz_lab(OPTIONS, tmp_path / "cases", judge=noting)
    assert "history-0000" not in judged
    assert "history-0001" in judged
    assert len(cluster.done) == 3
    assert result.ran == 3 - ran
    assert result.exit_code == 0


def test_the_logs_of_a_history_begin_with_it_and_are_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(histories, "LOG_BYTES", 60)
    line = "[2024-05-01 12:00:0{},000] INFO [Controller id=1] Resigned (kafka.controller.KafkaController)\n"
    broker = SimpleNamespace(id=1, log=lambda name: tmp_path / "broker-1" / f"{name}.log")
    (tmp_path / "broker-1").mkdir()
    broker.log("controller").write_text("of the history before\n" + "[2024-05-01 12:00:00,000] INFO short\n" + line)
    marks = {broker.log("controller"): len("of the history before\n")}
    histories._keep_logs(FuzzHands(SimpleNamespace(brokers={1: broker}), "t", marks), tmp_path / "case" / "logs")
    logs = read_logs(LogSource(str(tmp_path / "case" / "logs")))
    assert logs.files == ("broker-1/controller.log.gz",)
    assert [found.message for found in logs.lines] == ["short"]


@pytest.mark.parametrize(
    ("leader", "down", "is_full"), [(1, set(), True), (-1, {1}, False), (1, {1}, False), (2, {1}, True)]
)
def test_a_cluster_in_which_a_partition_or_a_registration_is_waited_for_is_not_at_rest(leader, down, is_full):
    live = {1, 2} - down
    lab = SimpleNamespace(
        topic=lambda name: {"partitions": {"0": [1, 2]}},
        states=lambda name: {0: {"leader": leader, "isr": sorted(live)}},
        directories=lambda name: {broker: ["t-0"] for broker in live},
        brokers=dict.fromkeys((1, 2)),
        zk=SimpleNamespace(children=lambda path: [str(broker) for broker in live]),
        are_informed=lambda topic: True,
    )
    assert histories._is_full(FuzzHands(lab, "t", down=down)) == is_full
    lab.are_informed = lambda topic: False
    assert not histories._is_full(FuzzHands(lab, "t", down=down)), "UpdateMetadata is under way"
    lab.zk.children = lambda path: []
    assert not histories._is_full(FuzzHands(lab, "t", down=down)), "a broker runs, and is not registered"


def test_a_misfit_is_minimized_to_the_operations_that_it_needs(tmp_path, cluster):
    (first,) = {draw_history("2.8.2/5/0", 4)[0].name}

    def judge(snapshots, seconds):
        has_all = "operations.json" in {path.name for path in snapshots[0].parent.iterdir()}
        is_misfit = first in cluster.done[-1] if has_all else "02.json" in {path.name for path in snapshots}
        return HistoryVerdict(HistoryClass.MISFIT if is_misfit else HistoryClass.EXPLAINED, "", 1.0)

    options = FuzzOptions("2.8.2", rounds=1, seed=5, operations=4, minimize=True)
    result = fuzz_lab(options, tmp_path / "cases", judge=judge)
    assert result.histories[0].kept == 1
    assert [len(operations) for operations in cluster.done][:2] == [4, 2]
    assert not (result.histories[0].folder / "trial").exists()
    fewest = result.histories[0].folder / "fewest-snapshots"
    assert [path.name for path in sorted(fewest.glob("0*.json"))] == ["02.json"]
    again = len(cluster.done)
    assert fuzz_lab(options, tmp_path / "cases", judge=judge).histories[0].kept == 1
    assert len(cluster.done) == again


def test_a_misfit_that_does_not_come_again_keeps_its_operations_and_its_fewest_snapshots(tmp_path, cluster):
    def judge(snapshots, seconds):
        is_misfit = len(cluster.done) == 1
        return HistoryVerdict(HistoryClass.MISFIT if is_misfit else HistoryClass.EXPLAINED, "", 1.0)

    options = FuzzOptions("2.8.2", rounds=1, seed=5, operations=4, minimize=True)
    (history,) = fuzz_lab(options, tmp_path / "cases", judge=judge).histories
    assert history.kept == 4
    assert [path.name for path in sorted((history.folder / "fewest-snapshots").glob("0*.json"))] == ["01.json"]


def test_the_histories_of_another_seed_are_not_overwritten(tmp_path, cluster):
    fuzz_lab(OPTIONS, tmp_path / "cases", judge=judging(*(HistoryClass.EXPLAINED,) * 3))
    with pytest.raises(UsageError, match="has histories of another seed, version or length"):
        fuzz_lab(FuzzOptions("2.8.2", rounds=3, seed=6, operations=4), tmp_path / "cases")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "precious").write_text("data")
    with pytest.raises(UsageError, match="is not empty, and has no histories"):
        fuzz_lab(OPTIONS, tmp_path / "other")


def test_a_refusal_is_classified_with_its_message(tmp_path):
    found = json.loads(FILES["scenario-06-01-old-create"].read_text("utf-8"))
    found["version"] = "9.9.9"
    (tmp_path / "01.json").write_text(json.dumps(found))
    verdict = explained_by_command([tmp_path / "01.json"], 5.0)
    assert verdict.kind is HistoryClass.REFUSED
    assert "9.9.9" in verdict.headline


def test_snapshots_without_a_topic_are_no_misfit(tmp_path):
    (tmp_path / "01.json").write_text(json.dumps({"topics": {}}))
    verdict = explained_by_command([tmp_path / "01.json"], 5.0)
    assert verdict.kind is HistoryClass.EMPTY and not verdict.kind.is_misfit


def test_histories_of_brokers_of_two_versions_are_refused(kwalk):
    ran = kwalk("lab", "fuzz", "--release", "2=2.8.2")
    assert ran.code == 2
    assert "Random histories have brokers of one version" in ran.err


def test_a_log_directory_that_is_deleted_while_it_is_looked_at_has_no_file(tmp_path):
    (tmp_path / "t-0").mkdir()
    (tmp_path / "t-0" / "partition.metadata").write_text("version: 0")
    (tmp_path / "t-1").mkdir()
    assert histories.with_metadata({tmp_path: ["t-0", "t-1", "t-2"]}) == [str(tmp_path / "t-0")]


def test_a_wrong_diagnosis_is_listed_also_when_the_run_is_continued(tmp_path, cluster):
    served = {"produce": {"ok": True, "error": "NONE"}, "consume": {"ok": True, "error": "NONE", "n": 1}}
    failed = {"produce": {"ok": False, "error": "REQUEST_TIMED_OUT"}, "consume": {"ok": True, "error": "NONE", "n": 0}}
    snapshot = {**document(), "extra": {"probe": {"t": {"0": served, "1": failed}}}}
    perform = cluster.perform

    def probed(operations, case, topic):
        perform(operations, case, topic)
        if case.name == "history-0001":
            (case / "02.json").write_text(json.dumps(document()))
            (case / "03.json").write_text(json.dumps(snapshot))

    cluster.perform = probed
    for judge in (judging(*(HistoryClass.EXPLAINED,) * 3), judging()):
        result = fuzz_lab(OPTIONS, tmp_path / "cases", judge=judge)
        assert result.exit_code == 12
        at_once = [each.kind for each in result.probes if each.time is ProbeTime.AT_ONCE]
        assert at_once == [ProbeClass.RIGHT, ProbeClass.WRONG]
        lines = list(fuzz_lines(result))
        assert "    at once: 1 right, 1 wrong, 0 undecided; 1 served" in lines
        assert f"  wrong: {tmp_path / 'cases/history-0001/03.json'}  t-1, at once" in lines
        assert fuzz_object(result)["probes"]["counts"]["at once"] == {"right": 1, "wrong": 1, "undecided": 0}
    assert len(cluster.done) == 3
