"""Whatever ends a run, it can be resumed, and finds what an undisturbed one finds."""

from __future__ import annotations

import errno
import multiprocessing
import os
import random
import signal

import pytest

from kwalk.model.language import UsageError
from kwalk.reports.nightly.result import exit_code
from kwalk.search.base import atomic_files as files
from kwalk.search.base.atomic_files import CannotSave
from kwalk.search.kernel.compile import slices
from kwalk.search.night import driver, folder, plan
from kwalk.search.night.folder import RunFolder
from kwalk.search.results.verdict import Answer
from kwalk.search.simulation import chunks
from tests.agreement.planted_kernels import PLANTED, without_cache
from tests.nightly.local import Hearing, begin_run, facts, resume_run, table_of, without_spark

__all__ = ["without_cache"]


def test_what_an_undisturbed_run_finds(undisturbed):
    names = [(row["name"], row["answer"], row["walks"]) for row in undisturbed["runs"]]
    assert names == [
        ("lost-update no-lock (uniform)", "violated", 1200),
        ("die-hard default (uniform)", "violated", 1200),
        ("topic-id-core default (uniform)", "violated", 1200),
        ("lost-update no-lock (threads 3)", "violated", 2000),
    ]
    found = {key: (count, first) for key, (count, first, _) in undisturbed["groups"].items() if key[0] < 3}
    assert found == {
        (0, "4d855aa29230"): (7, 0),
        (0, "9da965b0b2f7"): (7, 0),
        (1, "39d7a5f169e6"): (5, 86),
        (2, "7eaa4bf0081b"): (4, 0),
        (2, "867f27bdcb10"): (3, 128),
    }
    assert len(undisturbed["traces"]) == len(undisturbed["groups"]) > 6
    assert [round(undisturbed["distinct"][task]) for task in range(3)] == [13, 16, 11557]


@pytest.mark.parametrize("partitions", [1, 3])
def test_who_does_the_rounds_does_not_matter(tmp_path, monkeypatch, undisturbed, partitions):
    with without_spark(monkeypatch, partitions):
        begin_run(tmp_path / "run")
    assert facts(tmp_path / "run") == undisturbed


def test_a_night_on_bit_sliced_code_finds_the_same_and_says_so(tmp_path, monkeypatch, undisturbed):
    monkeypatch.setattr(driver.SlicingChoice, "is_worth", lambda choice, left: True)
    monkeypatch.setattr(slices, "TERMS_PER_SECOND", float("inf"))
    monkeypatch.setattr(chunks, "SLICED_WALKS", 1)
    given, take = set(), driver.AheadCompiler.slices

    def awaited(ahead, task):
        if task.number not in given:
            while task.number not in ahead._slices:
                assert ahead._ahead.answers.poll(60)
                ahead._take(ahead._ahead)
            given.add(task.number)
        return take(ahead, task)

    monkeypatch.setattr(driver.AheadCompiler, "slices", awaited)
    out = tmp_path / "run"
    with without_spark(monkeypatch):
        begin_run(out)
    assert facts(out) == undisturbed and len(given) == 4
    for row in table_of(out, "outcome"):
        assert f"Bit-sliced code did {row['walks']:,} of {row['walks']:,} walks." in row["notes"]


def in_a_process(work, *arguments):
    """A process that leads a group of its own, at work."""
    process = multiprocessing.get_context("fork").Process(target=_leading, args=(work, *arguments))
    process.start()
    return process


def _leading(work, *arguments):
    os.setsid()
    work(*arguments)


def kill_after(process, seconds):
    process.join(seconds)
    if process.is_alive():
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:  # it leads no group yet, so that it has no processes of its own
            process.kill()
    process.join()


def test_a_run_that_is_killed_again_and_again_finds_the_same(tmp_path, monkeypatch, undisturbed):
    out, chance, kills = tmp_path / "run", random.Random(7), 0
    with without_spark(monkeypatch):
        process = in_a_process(begin_run, out)
        while kills < 40:
            kill_after(process, chance.uniform(0.05, 0.6))
            if process.exitcode == 0:
                break
            kills += 1
            process = in_a_process(resume_run if (out / "manifest.json").exists() else begin_run, out)
        else:
            process.join()
    assert kills >= 3
    assert facts(out) == undisturbed


@pytest.fixture
def cut_short(tmp_path, monkeypatch):
    """A run that was interrupted after fourteen rounds, which is resumed in the test."""
    out = tmp_path / "run"
    with without_spark(monkeypatch):
        result = begin_run(out, watch=interrupting(after=14))
        assert (result.state, result.answer) == ("interrupted", Answer.VIOLATED)
        assert [row.why for row in result.rows] == ["interrupted"] * 4
        yield out


def interrupting(after, number=signal.SIGINT):
    """A watch that presses Ctrl-C after some rounds, or sends another signal."""
    hearing = Hearing(lambda event: os.kill(os.getpid(), number) if len(hearing.events) == after else None)
    return hearing


def test_a_scheduler_that_ends_a_run_is_an_interrupt(tmp_path, monkeypatch):
    before = signal.getsignal(signal.SIGTERM)
    with without_spark(monkeypatch):
        result = begin_run(tmp_path / "run", watch=interrupting(3, signal.SIGTERM))
    assert (result.state, len(result.rows), signal.getsignal(signal.SIGTERM)) == ("interrupted", 1, before)


def test_an_interrupted_run_is_whole_and_is_resumed(cut_short, undisturbed):
    before = RunFolder(cut_short).manifest()
    assert (before["state"], {task["state"] for task in before["tasks"]}) == ("interrupted", {"cut"})
    assert resume_run(cut_short).state == "complete"
    assert facts(cut_short) == undisturbed
    after = RunFolder(cut_short).manifest()
    assert (after["state"], len(after["resumed"])) == ("complete", 1)


@pytest.mark.parametrize(
    ("task", "round", "harm"), [(1, 0, "cut"), (3, 0, "changed"), (3, 0, "missing"), (2, 1, "empty")]
)
def test_rounds_that_are_harmed_are_done_again_and_the_run_says_so(cut_short, undisturbed, task, round, harm):
    path, hearing = cut_short / "tasks" / f"{task:04}.jsonl", Hearing()
    lines = path.read_bytes().split(b"\n")
    line = lines[round]
    harmed = {"cut": [line[:-40]], "changed": [line[:200] + b"???" + line[203:]], "empty": [b""], "missing": []}
    path.write_bytes(b"\n".join([*lines[:round], *harmed[harm], *lines[round + 1 :]]))
    resume_run(cut_short, hearing)
    assert facts(cut_short) == undisturbed
    (said,) = hearing.remarks
    which = f"round {round} of task {task} is" if harm == "missing" else f"line {round + 1} of tasks/{task:04}.jsonl is"
    assert which in said and f"; it continues from round {round}." in said


def test_a_complete_task_with_a_harmed_record_is_done_again(tmp_path, monkeypatch, undisturbed):
    out, hearing = tmp_path / "run", Hearing()
    with without_spark(monkeypatch):
        begin_run(out)
        first, second = (out / "tasks" / f"{task:04}.jsonl" for task in (0, 1))
        first.write_bytes(first.read_bytes().replace(b'"walks"', b'"walk"', 1))
        second.write_bytes(b"\n".join(second.read_bytes().split(b"\n")[:-2]))
        result = resume_run(out, hearing)
    assert [row.task for row in hearing.rows] == [1, 0] and len(result.rows) == 4
    assert facts(out) == undisturbed


def test_nothing_is_left_to_do_in_a_complete_run(tmp_path, monkeypatch, undisturbed):
    out, hearing = tmp_path / "run", Hearing()
    with without_spark(monkeypatch):
        begin_run(out)
        result = resume_run(out, hearing)
    assert (result.state, result.answer, hearing.rows) == ("complete", Answer.VIOLATED, [])
    assert facts(out) == undisturbed


@pytest.mark.parametrize("full_at", [9, 50])
def test_a_full_disk_ends_a_run_which_is_resumed_when_there_is_space(tmp_path, monkeypatch, undisturbed, full_at):
    out, synced, fsync = tmp_path / "run", [], os.fsync

    def full(handle):
        synced.append(handle)
        if len(synced) >= full_at:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        fsync(handle)

    with without_spark(monkeypatch):
        with monkeypatch.context() as patched:
            patched.setattr(files.os, "fsync", full)
            with pytest.raises(CannotSave, match=r"no space left on device\. Everything .* before is intact"):
                begin_run(out)
        assert not list(out.rglob("*.partial"))
        resume_run(out)
    assert facts(out) == undisturbed


def test_a_run_is_not_gone_on_with_by_another_model_or_version(cut_short, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(plan, "cache_key", lambda model: "another")
        with pytest.raises(UsageError, match=r"has changed \(the source of its model or of its language\)"):
            resume_run(cut_short)
    with monkeypatch.context() as patched:
        patched.setattr(folder, "kwalk_version", lambda: "9.9")
        with pytest.raises(UsageError, match=r"was begun with kwalk .*, and this is 9.9"):
            resume_run(cut_short)


def test_two_do_not_write_to_one_run(cut_short):
    with RunFolder(cut_short).locked(), pytest.raises(UsageError, match="Another kwalk process writes to"):
        resume_run(cut_short)
    with pytest.raises(UsageError, match=r"already has a run\. Resume it with --resume"):
        begin_run(cut_short)


def test_a_task_that_fails_does_not_stop_the_others(tmp_path, monkeypatch):
    broken = {"scenarios": ["tests.nightly.broken:LEAKY", "die-hard"], "walks": 300, "depth": 10}
    with without_spark(monkeypatch):
        result = begin_run(tmp_path / "run", {"tasks": [broken]})
    leaky, other = result.rows
    assert (leaky.answer, leaky.how, other.answer) == ("undecided", "failed", "holds")
    assert "leaves its domain" in leaky.why and result.answer is Answer.UNDECIDED
    states = [task["state"] for task in RunFolder(tmp_path / "run").manifest()["tasks"]]
    assert states == ["failed", "complete"]


def test_a_kernel_that_differs_from_plain_python_ends_its_task_with_a_bundle(tmp_path, monkeypatch, without_cache):
    PLANTED["one action leads elsewhere"](monkeypatch)
    desk = {"scenarios": ["tests.agreement.lending_desk:DESK"], "walks": 2500, "depth": 30}
    with without_spark(monkeypatch):
        result = begin_run(tmp_path / "run", config={"seed": 3, "tasks": [desk]})
    (text,), (row,) = result.internal, result.rows
    assert "lend(0) leads to different states" in text and row.answer == "undecided"
    (bundle,) = (tmp_path / "run" / "bundles").iterdir()
    assert text.endswith(f"Bundle: {bundle}") and (bundle / "reproduce.py").exists()
    assert exit_code(result) == 70
