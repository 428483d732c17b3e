"""What exhaustive search does with time and memory: loops are ready, code gets faster, nothing stays."""

from __future__ import annotations

import gc
import subprocess
import sys
import weakref

import pytest
from attrs import evolve

from kwalk.model.examples.reference import REFERENCE
from kwalk.model.language import Model
from kwalk.search.exhaustive.explorer import Explorer
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.kernel.compile.compiler import kernel_for
from tests.search.exhaustive.verdicts import without_time
from tests.search.post_office import POST_OFFICE, post_office

FIRST_CALLS = """
import sys
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.exhaustive.explorer import Explorer
from kwalk.search.native.loops import CompiledLoop
from tests.search.post_office import post_office
from tests.search.exhaustive.test_time_and_memory import large

run, load, kept = Explorer.run, CompiledLoop.load, []

def watched(exploration):
    before = len(kept)
    run(exploration)
    print(len(kept) - before, end=" ")

Explorer.run, CompiledLoop.load = watched, lambda loop: kept.append(load(loop))
exhaust(post_office(), properties=(), memory_bytes=10_000_000)
exhaust(large(), workers=2, keep_going=True)
print(len(kept) > 5 and all(kept), "numba" in sys.modules)
"""
"""How many loops were loaded or compiled in the time of each search, and whether none at all was compiled."""


def large():
    """A model with levels that are worth sharing."""
    return Model(REFERENCE, bounds={"restarts": 1})


def test_a_second_process_compiles_no_loop_and_reads_none_in_the_time_of_the_search():
    exhaust(post_office(), properties=(), memory_bytes=10_000_000)
    assert exhaust(large(), workers=2, keep_going=True).distinct_states == 258_865
    ran = subprocess.run([sys.executable, "-c", FIRST_CALLS], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "0 0 True False"


def test_a_search_that_takes_long_continues_with_a_faster_kernel(monkeypatch):
    model, reports = post_office(), []
    swift = kernel_for(model)
    slow = evolve(swift, faster=lambda: swift, replaced_after=0.0)
    expected = exhaust(model, kernel=swift, keep_going=True, memory_bytes=10_000_000)
    monkeypatch.setattr("kwalk.search.exhaustive.explorer.MIN_PACE", 8)
    verdict = exhaust(model, kernel=slow, keep_going=True, memory_bytes=10_000_000, report=reports.append)
    assert any(progress.note == "faster code is compiled" for progress in reports)
    assert without_time(verdict) == without_time(expected)


def test_a_search_that_is_nearly_over_keeps_its_kernel():
    kernel = evolve(kernel_for(post_office()), faster=lambda: pytest.fail("nothing is gained"), replaced_after=6.0)
    assert not kernel.is_worth_replacing(1, budget=None)
    assert not kernel.is_worth_replacing(15, budget=20)
    assert kernel.is_worth_replacing(15, budget=None) and kernel.is_worth_replacing(15, budget=60)
    assert not evolve(kernel, faster=None).is_worth_replacing(15, budget=None)


@pytest.mark.parametrize("wanted", [{}, {"workers": 2}, {"keep_going": True}], ids=str)
def test_a_search_gives_its_memory_back_when_it_ends(monkeypatch, wanted):
    known, begin = [], Explorer.__init__

    def noted(self, *given):
        known.append(weakref.ref(self))
        begin(self, *given)

    monkeypatch.setattr(Explorer, "__init__", noted)
    exhaust(Model(POST_OFFICE), **wanted)  # the first call may compile loops, and what compiles them remembers it
    gc.disable()
    try:
        exhaust(Model(POST_OFFICE), **wanted)
        assert known[-1]() is None
    finally:
        gc.enable()
