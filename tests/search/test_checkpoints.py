"""Checkpoints: a search that is killed at any time resumes and has the counts of one that was not."""

from __future__ import annotations

import resource
import subprocess
import sys

import pytest

from kwalk.model.examples.die_hard import DIE_HARD
from kwalk.model.language import Model, UsageError
from kwalk.search.base import pacing
from kwalk.search.base.options import CheckpointOptions, StopReason
from kwalk.search.exhaustive.checkpoint import CheckpointFolder
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.kernel.compile.compiler import fast_kernel_for
from kwalk.search.results.verdict import Answer
from tests.search.killed import BUDGET, KILLS, MODELS, outcome


@pytest.fixture(scope="module", params=MODELS)
def subject(request):
    """A model, of short states or of long ones, and its kernel."""
    model = Model(MODELS[request.param])
    return request.param, model, fast_kernel_for(model)


@pytest.fixture(scope="module")
def undisturbed(subject):
    _, model, kernel = subject
    return outcome(exhaust(model, kernel=kernel, keep_going=True, memory_bytes=BUDGET))


def searched(subject, place, **more):
    _, model, kernel = subject
    return exhaust(model, kernel=kernel, checkpoint=place, **{"keep_going": True, "memory_bytes": BUDGET, **more})


def begun(subject, folder, **more):
    """A checkpoint of a search whose time was over soon."""
    verdict = searched(subject, CheckpointOptions(folder), **{"seconds": 0.02, **more})
    assert (folder / "manifest.json").exists()
    return verdict


def test_a_search_that_is_killed_at_ten_random_moments_ends_as_if_it_were_not(subject, undisturbed, tmp_path):
    name, *_ = subject
    folder, workers = tmp_path / "saved", "2" if name == "reference" else "1"
    arguments = [sys.executable, "-m", "tests.search.killed", name, workers, str(folder)]
    *sizes, met, last = subprocess.run(arguments, capture_output=True, text=True, check=True).stdout.splitlines()
    assert int(met) == KILLS
    assert list(map(int, sizes)) == sorted(map(int, sizes)) and len(set(sizes)) > 3
    assert last == undisturbed
    assert not folder.exists()


@pytest.mark.parametrize("workers", [1, 2])
def test_a_spent_budget_saves_a_checkpoint_and_names_the_command_to_resume(subject, undisturbed, workers, tmp_path):
    saved = begun(subject, tmp_path / "a place", workers=3 - workers, command="kwalk exhaust X")
    again = f"kwalk exhaust X --checkpoint '{tmp_path}/a place' --resume"
    note = f"Checkpoint saved: {tmp_path}/a place, with {saved.distinct_states:,} states; resume with: {again}"
    assert note in saved.notes
    verdict = searched(subject, CheckpointOptions(tmp_path / "a place", resume=True), workers=workers)
    assert outcome(verdict) == undisturbed
    assert verdict.seconds > saved.seconds
    told_of = f"Resumed from the checkpoint in {tmp_path}/a place, which had {saved.distinct_states:,} states."
    assert told_of in verdict.notes
    assert list(tmp_path.iterdir()) == []


def test_a_search_that_ran_out_of_memory_continues_with_more(subject, undisturbed, tmp_path):
    first = searched(subject, CheckpointOptions(tmp_path / "saved"), memory_bytes=3_000_000)
    assert first.qualifier == "memory budget of 0.00279 GiB"
    start = f"Ran out of the memory budget of 0.00279 GiB at {first.distinct_states:,} states, depth {first.depth}: "
    assert first.notes[0].startswith(start)
    resumed = CheckpointOptions(tmp_path / "saved", resume=True)
    with pytest.raises(UsageError, match=r"budget of 0.0014 GiB is too small to resume from [\d,]+ states. Give more"):
        searched(subject, resumed, memory_bytes=1_500_000)
    second = searched(subject, resumed, memory_bytes=7_000_000)
    assert second.distinct_states > first.distinct_states and second.qualifier == "memory budget of 0.00652 GiB"
    assert outcome(searched(subject, resumed)) == undisturbed


def test_ctrl_c_saves_a_checkpoint(subject, undisturbed, monkeypatch, tmp_path):
    def press(progress):
        if progress.done > 20_000 and "saved" not in progress.note:
            raise KeyboardInterrupt

    with monkeypatch.context() as often:
        often.setattr(pacing, "SLICE", 0.0)  # it reports as often as it can
        stopped = searched(subject, CheckpointOptions(tmp_path / "saved"), report=press, workers=2)
    assert stopped.stopped is StopReason.INTERRUPT and any("Checkpoint saved" in note for note in stopped.notes)
    assert outcome(searched(subject, CheckpointOptions(tmp_path / "saved", resume=True))) == undisturbed


def test_a_search_that_stops_at_a_violation_stops_at_the_same_one(tmp_path):
    model = Model(MODELS["reference"])
    properties = model.properties_of("leaders_when_settled")
    asked = {"properties": properties, "kernel": fast_kernel_for(model), "memory_bytes": BUDGET}
    exhaust(model, seconds=0.001, checkpoint=CheckpointOptions(tmp_path / "saved"), **asked)
    resumed = exhaust(model, checkpoint=CheckpointOptions(tmp_path / "saved", resume=True), **asked)
    assert outcome(resumed) == outcome(exhaust(model, **asked)) and resumed.counterexample.length == 9
    assert not (tmp_path / "saved").exists()


# Refusals.


@pytest.mark.parametrize("name", ["keys", "marks", "manifest.json"])
@pytest.mark.parametrize("harm", ["cut", "changed", "gone"])
def test_a_damaged_checkpoint_is_refused_with_the_file_that_is_damaged(subject, name, harm, tmp_path):
    folder = tmp_path / "saved"
    begun(subject, folder)
    content = bytearray((folder / name).read_bytes())
    if harm == "gone":
        (folder / name).unlink()
    else:
        content[len(content) // 2] ^= 1
        (folder / name).write_bytes(content if harm == "changed" else content[: len(content) // 2])
    missing = harm == "gone" and name == "manifest.json"
    what = "There is no checkpoint in .* to resume" if missing else rf"saved' is damaged: {name} .*; start again"
    with pytest.raises(UsageError, match=what):
        searched(subject, CheckpointOptions(folder, resume=True))


def test_the_checkpoint_of_another_search_is_refused_with_what_differs(subject, tmp_path):
    _, model, kernel = subject
    folder = tmp_path / "saved"
    begun(subject, folder)
    name, size = next((name, size) for name, size in model.binding.bounds.items() if size > 1)
    other = Model(model.scenario, bounds={name: size + 1})
    resumed = CheckpointOptions(folder, resume=True)
    with pytest.raises(UsageError, match=f"of another search: bounds: {name} was {size}, and is {size + 1}"):
        exhaust(other, keep_going=True, memory_bytes=BUDGET, checkpoint=resumed)
    with pytest.raises(UsageError, match=r"properties was .*, and is none; keep-going was True, and is False"):
        exhaust(model, properties=(), kernel=kernel, memory_bytes=BUDGET, checkpoint=resumed)
    with pytest.raises(UsageError, match=rf"scenario was {model.scenario.name}, and is die-hard"):
        exhaust(Model(DIE_HARD), memory_bytes=BUDGET, checkpoint=resumed)


def test_a_checkpoint_of_an_older_kwalk_is_refused(subject, tmp_path, monkeypatch):
    with monkeypatch.context() as older:
        older.setattr("kwalk.search.exhaustive.checkpoint.FORMAT", 3)
        begun(subject, tmp_path)
    with pytest.raises(UsageError, match=r"of an older kwalk \(format 3, not 8\)\. Resume it with that version"):
        searched(subject, CheckpointOptions(tmp_path, resume=True))


def test_another_source_of_the_model_is_refused(subject, tmp_path, monkeypatch):
    begun(subject, tmp_path / "saved")
    monkeypatch.setattr("kwalk.search.kernel.model_digest.cache_key", lambda model: "another")
    with pytest.raises(UsageError, match="the model, a value that it reads, or the modelling language has changed"):
        searched(subject, CheckpointOptions(tmp_path / "saved", resume=True))


def test_a_checkpoint_is_not_overwritten_unless_it_is_gone_on_from(subject, tmp_path):
    saved = begun(subject, tmp_path)
    with pytest.raises(UsageError, match=f"already a .*, of .* with {saved.distinct_states:,} states. Resume it"):
        searched(subject, CheckpointOptions(tmp_path))


def test_two_searches_do_not_share_a_folder(subject, tmp_path):
    begun(subject, tmp_path)
    folder = CheckpointFolder(tmp_path)
    with pytest.raises(UsageError, match="Another search writes its checkpoints to"):
        searched(subject, CheckpointOptions(tmp_path, resume=True))
    folder.close()


def test_a_folder_that_cannot_be_made_is_refused(subject, tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(UsageError, match=r"Checkpoints cannot be written to .*file/saved'"):
        searched(subject, CheckpointOptions(tmp_path / "file" / "saved"))


# A full disk.


@pytest.fixture
def small_disk():
    """A function that lets files have no more than so many bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    yield lambda size: resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk_leaves_the_checkpoint_before_and_the_search_continues(subject, undisturbed, small_disk, tmp_path):
    first = begun(subject, tmp_path / "saved", seconds=None, memory_bytes=3_000_000)
    small_disk((tmp_path / "saved" / "keys").stat().st_size)
    second = searched(subject, CheckpointOptions(tmp_path / "saved", every=0.0, resume=True), memory_bytes=6_000_000)
    small_disk(resource.RLIM_INFINITY)
    assert second.distinct_states > first.distinct_states and second.qualifier == "memory budget of 0.00559 GiB"
    trouble = f"could not be written (file too large); the previous one, in {tmp_path}/saved, is intact."
    assert f"The last checkpoint {trouble}" in second.notes
    assert outcome(searched(subject, CheckpointOptions(tmp_path / "saved", resume=True))) == undisturbed


def test_a_disk_that_is_full_from_the_beginning_is_reported(subject, small_disk, tmp_path):
    small_disk(1000)
    verdict = searched(subject, CheckpointOptions(tmp_path / "saved", every=0.0), seconds=0.02)
    small_disk(resource.RLIM_INFINITY)
    assert verdict.distinct_states > 1 and verdict.qualifier == "time budget of 0.02 s"
    assert f"No checkpoint could be written to {tmp_path}/saved (file too large)." in verdict.notes
    assert verdict.answer is not Answer.HOLDS
