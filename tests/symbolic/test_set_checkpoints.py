"""Checkpoints of searches by sets of states: one that is killed resumes, and has the counts of one that was not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from kwalk.model.examples.readers_writers import READERS_WRITERS
from kwalk.model.language import Model, UsageError
from kwalk.search.base.options import CheckpointOptions, StopReason
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.results.verdict import Verdict
from kwalk.search.symbolic.engine import SymbolicEngine
from kwalk.search.symbolic.search import exhaust_symbolically
from tests.search.killed import BUDGET, KILLS, outcome


def searched(folder: Path | None, *, resume: bool = True, memory: int = BUDGET) -> Verdict:
    place = None if folder is None else CheckpointOptions(folder, every=60.0, resume=resume)
    return exhaust_symbolically(Model(READERS_WRITERS), keep_going=True, memory_bytes=memory, checkpoint=place)


def test_a_search_that_is_killed_at_ten_random_moments_ends_as_if_it_were_not(tmp_path: Path):
    folder = tmp_path / "saved"
    arguments = [sys.executable, "-m", "tests.search.killed", "symbolic", "1", str(folder)]
    *sizes, met, last = subprocess.run(arguments, capture_output=True, text=True, check=True).stdout.splitlines()
    assert int(met) == KILLS
    assert list(map(int, sizes)) == sorted(map(int, sizes)) and len(set(sizes)) > 3
    assert last == outcome(searched(None))
    assert not folder.exists()


@pytest.fixture
def without_memory_for_counts(monkeypatch):
    """Search into a folder, and stop when all states are known, for want of memory."""

    def stopped(folder: Path) -> Verdict:
        with monkeypatch.context() as tight:
            tight.setattr(
                SymbolicEngine, "make_room_for_counts", lambda self: setattr(self, "_memory", self.used + 1000)
            )
            return searched(folder, resume=False)

    return stopped


def test_counts_that_ran_out_of_memory_are_made_by_a_search_that_resumes(
    tmp_path: Path, monkeypatch, without_memory_for_counts
):
    folder = tmp_path / "saved"
    stopped = without_memory_for_counts(folder)
    assert stopped.stopped is StopReason.MEMORY and stopped.notes[-1].startswith(f"Checkpoint saved: {folder}, with ")
    with pytest.raises(UsageError, match="too small to resume from"), monkeypatch.context() as tight:
        tight.setattr("kwalk.search.symbolic.engine.LEAST_BYTES", 1 << 20)
        searched(folder, memory=1 << 20)
    resumed = searched(folder)
    assert outcome(resumed) == outcome(searched(None))
    assert resumed.notes[-1].startswith(f"Resumed from the checkpoint in {folder}, which had ")
    assert not folder.exists()


def test_a_checkpoint_of_single_states_is_refused_and_the_other_way_round(tmp_path: Path, without_memory_for_counts):
    model, place = Model(READERS_WRITERS), CheckpointOptions(tmp_path / "of-states")
    exhaust(model, keep_going=True, memory_bytes=BUDGET, seconds=0.0, checkpoint=place)
    with pytest.raises(UsageError, match="one of the two searches is of single states"):
        searched(place.folder)
    assert without_memory_for_counts(tmp_path / "of-sets").stopped is StopReason.MEMORY
    with pytest.raises(UsageError, match="one of the two searches is of single states"):
        place = CheckpointOptions(tmp_path / "of-sets", resume=True)
        exhaust(model, keep_going=True, memory_bytes=BUDGET, checkpoint=place)
