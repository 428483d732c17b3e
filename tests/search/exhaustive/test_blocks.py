"""A search that expands blocks of states on bit-sliced code stores, counts and finds the same as one state by state."""

from __future__ import annotations

import numpy as np
import pytest
from attrs import evolve

from kwalk.model.examples.reference import REFERENCE
from kwalk.model.language import DomainError, Model
from kwalk.model.language.lift import lift
from kwalk.model.language.registry import announced
from kwalk.search.base.options import CheckpointOptions, SearchOptions, StopReason
from kwalk.search.exhaustive import block_expansion, explorer
from kwalk.search.exhaustive.explorer import Explorer
from kwalk.search.exhaustive.layout import Cursor
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.kernel.compile import planes, slices
from kwalk.search.kernel.compile.compiler import compile_model, kernel_for, kernel_of
from kwalk.search.kernel.compile.gates import GateNetwork
from kwalk.search.kernel.compile.slices import compile_slices, sliced_kernel_of
from kwalk.search.kernel.python_comparison import EngineDisagreement
from tests.announced import with_own_parts
from tests.search.post_office import BROKEN, POST_OFFICE, STUCK

MANY = {"streets": 35, "letters": 1, "bag": 105}
"""Bounds with which the post office has more than 64 action instances, and states that are trees of four leaves."""
FEW = {"streets": 5, "letters": 4, "bag": 43}
"""Bounds with which they are trees of two leaves."""


def sliced(model: Model, lanes: int | None = None, least: int = 1):
    lifted = lift(model)
    functions = sliced_kernel_of(model, compile_slices(model, lifted, lanes=lanes))
    return evolve(kernel_for(model, lifted), sliced=evolve(functions, least_states=least))


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(block_expansion, "BLOCK", 1024)


@pytest.fixture(scope="module")
def post_office():
    model = Model(POST_OFFICE)
    return model, sliced(model, lanes=128)


@pytest.fixture(scope="module")
def few():
    model = Model(POST_OFFICE, bounds=FEW)
    return model, sliced(model, lanes=256)


@pytest.fixture(scope="module")
def many():
    model = Model(POST_OFFICE, bounds=MANY)
    return model, sliced(model)


def explored(model, kernel, most=None, **options):
    """A search at the end of the level in which it has `most` states, or at its end."""
    search = Explorer(model, kernel, SearchOptions(model.properties, memory=1 << 28, **options))
    while True:
        left = int(search.cursor[Cursor.LEVEL_END] - search.cursor[Cursor.NEXT])
        if most is not None and search.expanded >= most and left == 0:
            break
        if search._advance(700 if most is None else max(1, min(1 << 14, left))) is not None:
            break
    search.cursor[Cursor.LIMIT] = 0
    return search


def compared(model, kernel, most=None, workers=1, **options):
    """Searches in blocks and state by state, by one worker, with equal states, marks and counts."""
    one = explored(model, kernel, most, workers=workers, **options)
    other = explored(model, evolve(kernel, sliced=None), most, **options)
    (cursor, counts), (other_cursor, other_counts) = one.snapshot(), other.snapshot()
    cursor[Cursor.LIMIT] = other_cursor[Cursor.LIMIT] = 0
    assert cursor.tolist() == other_cursor.tolist()
    assert counts == other_counts
    marks = -(-one.expanded // 64)
    assert one.counts.marks[:marks].tolist() == other.counts.marks[:marks].tolist()
    numbers = list(range(one.stored))
    assert np.array_equal(one.states.rows(numbers), other.states.rows(numbers))
    return one


def verdict_of(verdict):
    return evolve(verdict, seconds=0.0)


@pytest.mark.parametrize(
    ("bounds", "leaves", "words"),
    [("post_office", 0, 1), ("few", 2, 1), pytest.param("many", 4, 2, marks=pytest.mark.thorough)],
)
def test_states_marks_and_counts_are_those_of_a_search_state_by_state(bounds, leaves, words, request):
    model, kernel = request.getfixturevalue(bounds)
    search = compared(model, kernel, keep_going=True)
    assert search.sliced_states == search.expanded == search.stored
    assert (search.states.tree.leaves, search.kernel.instance_words) == (leaves, words)
    assert search.counts.hits.max() > 0 and search.counts.idle.sum() > 0 and search.counts.seen.sum() > 0


@pytest.mark.parametrize("workers", [2, 3])
def test_workers_that_share_blocks_number_and_count_the_same(workers, few):
    short = Model(REFERENCE, bounds={"failovers": 1, "restarts": 1})
    for model, kernel in (few, (short, sliced(short, lanes=128))):
        search = compared(model, kernel, workers=workers, keep_going=True)
        assert search.pool.sliced_states > 5000
        assert sum(worker.counts.enabled_totals.sum() for worker in search.pool.workers) > 0


@pytest.mark.thorough
def test_short_levels_are_expanded_state_by_state(many):
    model, kernel = many
    search = compared(model, evolve(kernel, sliced=evolve(kernel.sliced, least_states=200)), keep_going=True)
    assert 0 < search.sliced_states < search.expanded


@pytest.mark.parametrize("scenario", [REFERENCE, POST_OFFICE, STUCK], ids=lambda scenario: scenario.name)
@pytest.mark.parametrize("keep_going", [False, True])
def test_verdicts_and_traces_are_equal(scenario, keep_going):
    model = Model(scenario)
    kernel = sliced(model, lanes=128)
    one, two, other = (
        exhaust(model, kernel=each, keep_going=keep_going, workers=workers)
        for each, workers in ((kernel, 1), (kernel, 2), (evolve(kernel, sliced=None), 1))
    )
    assert verdict_of(one) == verdict_of(two) == verdict_of(other)
    assert one.findings and one.sliced_states and not other.sliced_states


def test_workers_that_share_blocks_stop_at_the_same_violation(few):
    model, kernel = few
    wanted = [prop for prop in model.properties if prop.declaration.name == "never_three_delivered"]
    one, two = (exhaust(model, properties=wanted, kernel=kernel, workers=workers) for workers in (1, 2))
    assert verdict_of(one) == verdict_of(two)
    assert one.counterexample.length == 6 and two.sliced_states > 2000


def test_some_properties_are_checked_the_same(post_office):
    model, kernel = post_office
    for prop in model.properties:
        one, other = (
            exhaust(model, properties=(prop,), kernel=each, keep_going=True)
            for each in (kernel, evolve(kernel, sliced=None))
        )
        assert verdict_of(one) == verdict_of(other)


def test_the_same_step_leaves_its_domain():
    model = Model(BROKEN)
    texts = []
    for kernel in (sliced(model), kernel_for(model)):
        with pytest.raises(DomainError) as caught:
            exhaust(model, kernel=kernel, keep_going=True, properties=())
        texts.append(str(caught.value))
    assert texts[0] == texts[1]


def test_a_search_that_runs_out_of_memory_continues_from_its_checkpoint(tmp_path):
    model = Model(POST_OFFICE, bounds={**FEW, "streets": 8})
    kernel = sliced(model, lanes=256)
    complete = evolve(exhaust(model, kernel=kernel, keep_going=True), seconds=0.0, notes=())
    for before, after in ((kernel, evolve(kernel, sliced=None)), (evolve(kernel, sliced=None), kernel)):
        where = tmp_path / f"from-{before.sliced is not None}"
        stopped = exhaust(
            model, kernel=before, keep_going=True, memory_bytes=1 << 19, checkpoint=CheckpointOptions(where)
        )
        assert stopped.stopped is StopReason.MEMORY and 0 < stopped.distinct_states < complete.distinct_states
        resumed = exhaust(model, kernel=after, keep_going=True, checkpoint=CheckpointOptions(where, resume=True))
        assert evolve(resumed, seconds=0.0, notes=()) == complete


# Planted mistakes.

DATA_MISTAKES = {
    "steps are not written back": lambda s: evolve(s, stores=np.zeros_like(s.stores)),
    "steps write other words": lambda s: evolve(s, stores=s.stores[::-1].copy()),
    "state properties are those before a step": lambda s: evolve(s, check=s.check_step),
}
CODE_MISTAKES = {
    "< is >": (GateNetwork, "less", lambda net, a, b, real=GateNetwork.less: real(net, b, a)),
    "quiescent properties count in every state": (
        planes,
        "Kind",
        type("No", (), {"STEP": planes.Kind.STEP, "WHEN_QUIESCENT": None}),
    ),
}


def finds_a_difference(model, kernel):
    with pytest.raises(EngineDisagreement, match=r"The sliced kernel and the kernel do not"):
        exhaust(model, kernel=kernel, keep_going=True)


@pytest.mark.parametrize("name", DATA_MISTAKES)
def test_steps_or_properties_of_something_else_are_found_by_the_comparison_with_the_kernel(name, few):
    model, kernel = few
    finds_a_difference(model, evolve(kernel, sliced=DATA_MISTAKES[name](kernel.sliced)))


@pytest.mark.parametrize("name", CODE_MISTAKES)
def test_a_mistake_in_sliced_code_is_found_by_the_comparison_with_the_kernel(name, monkeypatch):
    model = Model(POST_OFFICE)
    monkeypatch.setattr(*CODE_MISTAKES[name])
    finds_a_difference(model, sliced(model))


def test_a_mistake_is_found_in_a_later_block_too(post_office, monkeypatch):
    model, kernel = post_office
    expand, calls = block_expansion.explore_blocks, []

    def explore_blocks(search, view, cursor):
        calls.append(1)
        return expand(search, view._replace(properties=1) if len(calls) > 3 else view, cursor)

    monkeypatch.setattr(block_expansion, "explore_blocks", explore_blocks)
    finds_a_difference(model, kernel)


# When a search uses blocks.


@pytest.fixture
def in_a_hurry(monkeypatch):
    monkeypatch.setattr(explorer, "LEAST_SLICED_SECONDS", 0.0)
    monkeypatch.setattr(slices, "slicing_seconds", lambda kernel: 0.0)
    monkeypatch.setattr(explorer, "BLOCK", 1)
    monkeypatch.setattr(explorer, "MAX_PACE", 64)
    monkeypatch.setattr(slices, "TERMS_PER_SECOND", float("inf"))
    monkeypatch.setattr(slices, "sliced_kernel_of", lambda *given: evolve(sliced_kernel_of(*given), least_states=1))


def test_a_search_that_takes_long_continues_in_blocks(few, in_a_hurry):
    model, notes = few[0], set()
    expected = exhaust(model, kernel=evolve(few[1], sliced=None, can_be_sliced=False), keep_going=True)
    verdict = exhaust(model, keep_going=True, report=lambda progress: notes.add(progress.note))
    assert "bit-sliced code is compiled" in notes
    assert 0 < verdict.sliced_states < verdict.distinct_states
    assert verdict_of(verdict) == verdict_of(expected)


def test_other_searches_keep_the_kernel(few, post_office, in_a_hurry, monkeypatch):
    monkeypatch.setattr(slices, "with_slices", lambda *given: pytest.fail("the search cannot use them"))
    model, kernel = few
    plain = evolve(kernel, sliced=None, faster=None)
    for options in ({"reduce": True}, {"reduce": True, "workers": 2}):
        assert not exhaust(model, kernel=plain, keep_going=True, **options).sliced_states
        assert not exhaust(model, kernel=kernel, keep_going=True, **options).sliced_states
    assert not exhaust(model, kernel=kernel_of(model, compile_model(model)), keep_going=True).sliced_states
    assert not exhaust(post_office[0], keep_going=True).sliced_states  # its states are short
    with pytest.raises(pytest.fail.Exception, match="cannot use them"):
        exhaust(model, kernel=plain, keep_going=True)


@pytest.mark.thorough
@pytest.mark.parametrize("name", with_own_parts())
def test_every_announced_scenario_is_searched_the_same(name, monkeypatch):
    monkeypatch.setattr(block_expansion, "BLOCK", 4096)
    model = Model(announced()[name])
    search = compared(model, sliced(model, least=64), 60_000, keep_going=True)
    assert search.sliced_states or max(search.states_by_depth, default=0) < 64
