"""A night on processes of this machine finds what one process finds, whatever happens to one of them."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import sys

import pytest

from kwalk.search.night import driver, simulation_task
from kwalk.search.results.verdict import Answer
from tests.nightly.local import CONFIG, Hearing, begin_run, facts, resume_run, table_of


@pytest.fixture
def small(monkeypatch):
    """Blocks that are as small as those of the undisturbed run."""
    monkeypatch.setattr(simulation_task, "BLOCK_STEPS", 1 << 11)
    monkeypatch.setattr(driver, "PAUSE", 0.0)


def walkers():
    """The processes that walk: the compiler of kernels was started before them."""
    return sorted(multiprocessing.active_children(), key=lambda child: child.pid)[1:]


@pytest.mark.parametrize("workers", [1, 3])
def test_any_number_of_processes_finds_the_same(small, tmp_path, undisturbed, workers):
    begin_run(tmp_path / "run", workers=workers)
    assert facts(tmp_path / "run") == undisturbed
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    assert (manifest["master"], manifest["cores"], manifest["spark"]) == ("this machine", workers, None)


def test_a_process_that_is_killed_is_replaced_and_its_round_done_again(small, tmp_path, undisturbed):
    killed = []

    def kill(event):
        if not killed:
            killed.append(walkers()[-1].pid)
            os.kill(killed[0], signal.SIGKILL)

    watch = Hearing(kill)
    begin_run(tmp_path / "run", watch=watch, workers=2)
    assert facts(tmp_path / "run") == undisturbed
    assert any("it ended with signal 9" in remark and "tried again" in remark for remark in watch.remarks)


def test_a_round_that_always_fails_ends_its_task_and_not_the_others(small, tmp_path, monkeypatch):
    def failing(packed, work, share):
        raise MemoryError("none left")

    monkeypatch.setattr("kwalk.search.executors.processes.do_chunks", failing)
    config = {**CONFIG, "tasks": [*CONFIG["tasks"][:1], {"scenarios": ["die-hard"], "engine": "exhaust"}]}
    result = begin_run(tmp_path / "run", config, workers=2)
    assert [row.why.partition(": ")[2] for row in result.rows[:2]] == ["MemoryError: none left"] * 2
    assert result.rows[2].answer == "violated"


def test_an_interrupt_ends_the_processes_and_the_run_is_resumed(small, tmp_path, undisturbed):
    watch = Hearing(lambda event: event.task == 2 and os.kill(os.getpid(), signal.SIGTERM))
    assert begin_run(tmp_path / "run", watch=watch, workers=2).state == "interrupted"
    assert multiprocessing.active_children() == []
    assert resume_run(tmp_path / "run").state == "complete"
    assert facts(tmp_path / "run") == undisturbed


SEARCH = {"tasks": [{"scenarios": ["die-hard", "ticket-lock"], "engine": "exhaust"}]}


def test_an_exhaustive_search_needs_no_spark(tmp_path):
    before = set(sys.modules)
    result = begin_run(tmp_path / "run", SEARCH, workers=2)
    assert not any(name.startswith("pyspark") for name in {*sys.modules} - before)
    assert [(row.answer, row.how) for row in result.rows] == [("violated", "exhaustive"), ("holds", "exhaustive")]
    states = [row.distinct_exact for row in result.rows]
    levels = table_of(tmp_path / "run", "levels")
    assert [row["states"] for row in levels] == states == [row["total"] for row in levels]
    assert not (tmp_path / "run" / "states" / "0000").exists()
    assert result.answer is Answer.VIOLATED


def test_a_search_that_sigterm_ends_is_resumed_from_its_checkpoint(tmp_path):
    events = []

    def stop(event):
        events.append(event)
        if len(events) == 1:
            os.kill(os.getpid(), signal.SIGTERM)

    config = {"tasks": [{"scenarios": ["two-phase-commit"], "bounds": {"rms": 8}, "engine": "exhaust"}]}
    whole = begin_run(tmp_path / "whole", config).rows[0]
    assert begin_run(tmp_path / "run", config, Hearing(stop)).state == "interrupted"
    resumed = resume_run(tmp_path / "run").rows[0]
    assert (resumed.answer, resumed.distinct_exact) == (whole.answer, whole.distinct_exact)
