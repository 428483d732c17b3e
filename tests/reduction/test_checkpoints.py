"""Checkpoints of reduced searches: one that is stopped at any time ends with the counts of one that is not."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from kwalk.model.language import Model, UsageError
from kwalk.search.base import pacing
from kwalk.search.base.options import CheckpointOptions, StopReason
from kwalk.search.exhaustive.search import exhaust
from tests.search.killed import BUDGET, KILLS, REDUCED, outcome

NAME = "reduced"
MODEL = Model(REDUCED[NAME])


def searched(place=None, **more):
    return exhaust(MODEL, checkpoint=place, **{"keep_going": True, "memory_bytes": BUDGET, "reduce": True, **more})


@pytest.fixture(scope="module")
def undisturbed():
    return outcome(searched())


def test_a_reduced_search_that_is_killed_at_ten_random_moments_ends_as_if_it_were_not(undisturbed, tmp_path):
    folder = tmp_path / "saved"
    arguments = [sys.executable, "-m", "tests.search.killed", NAME, "1", str(folder)]
    *sizes, met, last = subprocess.run(arguments, capture_output=True, text=True, check=True).stdout.splitlines()
    assert int(met) == KILLS
    assert list(map(int, sizes)) == sorted(map(int, sizes)) and len(set(sizes)) > 3
    assert last == undisturbed


@pytest.mark.parametrize("at", [2_000, 20_000])
def test_stopped_in_the_middle_of_a_depth_it_resumes_with_the_same_open_goals(undisturbed, at, monkeypatch, tmp_path):
    """Goals stay open to the end of the depth in which they are found, before and after the stop."""

    def press(progress):
        if progress.done >= at and "saved" not in progress.note:
            raise KeyboardInterrupt

    with monkeypatch.context() as often:
        often.setattr(pacing, "SLICE", 0.0)  # it reports as often as it can
        stopped = searched(CheckpointOptions(tmp_path / "saved"), report=press)
    assert stopped.stopped is StopReason.INTERRUPT
    content = json.loads((tmp_path / "saved" / "manifest.json").read_text())["content"]
    assert set(content["goals"]) <= {0, 1} and len(content["goals"]) > 0
    assert outcome(searched(CheckpointOptions(tmp_path / "saved", resume=True), workers=2)) == undisturbed


def test_a_reduced_search_does_not_resume_as_a_full_one_nor_with_other_relations(monkeypatch, tmp_path):
    searched(CheckpointOptions(tmp_path), seconds=0.0)
    place = CheckpointOptions(tmp_path, resume=True)
    with pytest.raises(UsageError, match="reduce was True, and is False"):
        searched(place, reduce=False)
    from kwalk.search.partial_order.plan import ReductionPlan

    monkeypatch.setattr(ReductionPlan, "digest", "other")
    with pytest.raises(UsageError, match="the dependencies of its actions differ"):
        searched(place)
