"""Exhaustive searches with several workers, of many initial states, or of long ones."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import pytest
from attrs import evolve

from kwalk.model.examples.lamport_mutex import LAMPORT_MUTEX
from kwalk.model.language import Domain, Model, require
from kwalk.search.base.options import CheckpointOptions
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.kernel.compile.compiler import kernel_for
from kwalk.search.results.verdict import Answer
from kwalk.search.visited.tree_compression import LEAST_WORDS, TreeTables
from kwalk.search.visited.visited_set import VisitedSet
from tests.search.exhaustive.verdicts import properties_of, without_time
from tests.search.post_office import POST_OFFICE, Post, Street, Weather, post_office

COUNTS = Domain("counts")
Count = Annotated[int, COUNTS]


@pytest.mark.parametrize("workers", [1, 2])
def test_many_initial_states_are_all_stored_once(workers):
    bounds = {"streets": 60, "letters": 0, "bag": 1, "counts": 10}
    model = Model(evolve(POST_OFFICE, initial=any_street, bounds=bounds))
    verdict = exhaust(model, properties=(), workers=workers, memory_bytes=10_000_000)
    assert len(model.initial) == 60 * 61 * 10
    assert (verdict.distinct_states, verdict.depth) == (len(model.initial), 0)
    assert verdict.generated_states == 2 * len(model.initial)  # the sun comes out where it shines


def any_street(post: Post, at: Street, last: Street, delivered: Count, is_empty: bool) -> None:
    require(not is_empty or last == 0)
    post.at, post.delivered = at, delivered
    post.last = None if is_empty else last
    post.weather = Weather.SUN


def test_the_reference_model_has_its_published_counts(reference):
    verdict = exhaust(reference, keep_going=True)
    assert (verdict.distinct_states, verdict.generated_states, verdict.depth) == (805_904, 4_390_996, 20)
    assert {f.prop: (f.count, f.trace.length) for f in verdict.findings} == {
        "disk_matches_znode()": (782_248, 3),
        "leaders_when_settled()": (1_578, 9),
    }


@pytest.mark.parametrize("workers", [2, 3])
def test_any_number_of_workers_gives_the_same_verdict_to_the_last_count(reference, workers):
    asked = {"keep_going": True, "memory_bytes": 100_000_000}
    assert without_time(exhaust(reference, workers=workers, **asked)) == without_time(exhaust(reference, **asked))


def test_several_workers_fold_long_states_alike():
    model = Model(LAMPORT_MUTEX)
    kernel = kernel_for(model)
    assert kernel.words >= LEAST_WORDS
    asked = {"kernel": kernel, "keep_going": True, "memory_bytes": 100_000_000}
    alone = exhaust(model, **asked)
    assert alone.distinct_states == 724_274
    assert without_time(exhaust(model, workers=3, **asked)) == without_time(alone)


def test_a_search_of_long_states_stays_within_its_memory_and_says_so():
    model = Model(LAMPORT_MUTEX)
    for budget in (1_500_000, 4_000_000):
        verdict = exhaust(model, memory_bytes=budget)
        assert verdict.answer is Answer.UNDECIDED and verdict.qualifier == f"memory budget of {budget / 2**30:.3g} GiB"
        assert budget / 40 < verdict.distinct_states < budget / 12


@pytest.mark.parametrize("workers", [1, 2])
def test_a_search_whose_roots_are_widened_counts_the_same(workers, monkeypatch, tmp_path):
    model, asked = Model(LAMPORT_MUTEX), {"keep_going": True, "memory_bytes": 100_000_000}
    expected = without_time(exhaust(model, **asked))
    monkeypatch.setattr("kwalk.search.visited.visited_set.TreeTables", partial(TreeTables, root_bits=14))
    widened, widen = [], VisitedSet._widen_roots

    def counted(self, *given):
        widened.append(self.root_bits)
        return widen(self, *given)

    monkeypatch.setattr(VisitedSet, "_widen_roots", counted)
    assert without_time(exhaust(model, workers=workers, **asked)) == expected
    assert widened == [14]
    checkpoint = CheckpointOptions(tmp_path / "a")
    begun = exhaust(model, workers=workers, checkpoint=checkpoint, **{**asked, "memory_bytes": 2_000_000})
    assert begun.distinct_states < expected.distinct_states
    resumed = CheckpointOptions(tmp_path / "a", resume=True)
    ended = exhaust(model, workers=workers, checkpoint=resumed, **asked)
    assert ended.notes[0].startswith("Resumed from")
    assert without_time(evolve(ended, notes=ended.notes[1:])) == expected
    assert widened in ([14, 14], [14, 14, 14])


@pytest.mark.parametrize("workers", [1, 2])
def test_a_search_whose_leaves_are_split_counts_the_same(workers, monkeypatch, tmp_path):
    model, asked = Model(LAMPORT_MUTEX), {"keep_going": True, "memory_bytes": 16_000_000}
    expected = without_time(exhaust(model, **{**asked, "memory_bytes": 100_000_000}))
    split, split_leaves = [], TreeTables.split_leaves

    def counted(self, room):
        split.append(split_leaves(self, room))
        return split[-1]

    monkeypatch.setattr(TreeTables, "split_leaves", counted)
    assert without_time(exhaust(model, workers=workers, **asked)) == expected
    assert split == [True]
    checkpoint = CheckpointOptions(tmp_path / "a")
    begun = exhaust(model, workers=workers, checkpoint=checkpoint, **{**asked, "memory_bytes": 6_000_000})
    assert begun.distinct_states < expected.distinct_states and split == [True, True]
    resumed = CheckpointOptions(tmp_path / "a", resume=True)
    ended = exhaust(model, workers=workers, checkpoint=resumed, **{**asked, "memory_bytes": 100_000_000})
    assert without_time(evolve(ended, notes=ended.notes[1:])) == expected
    assert split == [True, True, True]


@pytest.mark.parametrize("workers", [1, 2])
def test_a_search_without_memory_for_wider_roots_says_so(workers, monkeypatch):
    monkeypatch.setattr("kwalk.search.visited.visited_set.TreeTables", partial(TreeTables, root_bits=14))
    answers = []
    for budget in range(1_500_000, 3_500_000, 250_000):
        verdict = exhaust(Model(LAMPORT_MUTEX), memory_bytes=budget, workers=workers)
        assert verdict.qualifier == f"memory budget of {budget / 2**30:.3g} GiB"
        answers.append(verdict.distinct_states)
    assert answers == sorted(answers) and answers[0] > 30_000


@pytest.mark.parametrize("workers", [1, 2])
def test_a_search_whose_parts_of_states_run_out_of_numbers_says_so(workers, monkeypatch):
    monkeypatch.setattr("kwalk.search.visited.visited_set.TreeTables", partial(TreeTables, most=20_000))
    verdict = exhaust(Model(LAMPORT_MUTEX), memory_bytes=100_000_000, workers=workers)
    assert verdict.answer is Answer.UNDECIDED and verdict.qualifier == "32-bit numbers for parts of states"
    assert 20_000 < verdict.distinct_states < 724_274
    assert verdict.notes[0].startswith("Ran out of the 32-bit numbers for parts of states at ")


def test_several_workers_stop_at_the_same_violation_with_the_same_counts(reference):
    asked = {"properties": properties_of(reference, "leaders_when_settled"), "memory_bytes": 100_000_000}
    alone = exhaust(reference, **asked)
    assert alone.distinct_states > 50_000
    assert without_time(exhaust(reference, workers=2, **asked)) == without_time(alone)


def test_several_workers_run_out_of_memory_at_the_same_state(reference):
    asked = {"properties": (), "memory_bytes": 5_000_000}
    assert without_time(exhaust(reference, workers=2, **asked)) == without_time(exhaust(reference, **asked))


def test_several_workers_count_bounds_steps_and_idle_steps_alike():
    model = post_office(streets=4, letters=7, bag=4)
    kernel = kernel_for(model)
    assert exhaust(model, kernel=kernel, properties=()).distinct_states > 20_000
    alone = exhaust(model, kernel=kernel, keep_going=True, memory_bytes=50_000_000)
    together = exhaust(model, kernel=kernel, keep_going=True, workers=2, memory_bytes=50_000_000)
    assert without_time(together) == without_time(alone)
    assert alone.bounds_hit and any(count.changed < count.taken for count in alone.action_counts.values())
