"""Walks on a bit-sliced kernel are the same walks, and everything that they count and find is the same."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from attrs import evolve

from kwalk.model.examples.reference import REFERENCE
from kwalk.model.language import Model
from kwalk.model.language.lift import lift
from kwalk.model.language.registry import announced
from kwalk.search.kernel.compile import slices
from kwalk.search.kernel.compile.compiler import compile_model, kernel_for, kernel_of
from kwalk.search.kernel.compile.slices import compile_slices, sliced_kernel_of
from kwalk.search.kernel.python_comparison import EngineDisagreement
from kwalk.search.simulation import chunks, sliced_walks
from kwalk.search.simulation import walk as walking
from kwalk.search.simulation.chunks import compare_sliced, next_generation, run_chunk
from kwalk.search.simulation.options import SimulationOptions
from kwalk.search.simulation.walk import walk
from tests.agreement.sliced_execution import sliced_disagreements
from tests.announced import with_own_parts
from tests.search.plain_kernel import plain_kernel
from tests.search.post_office import BROKEN, POST_OFFICE, STUCK
from tests.states import random_states

MANY = {"streets": 35, "letters": 1, "bag": 1}
"""Bounds with which the post office has more than 64 action instances; with twice as many streets, more than 128."""


def sliced(model: Model, lanes: int | None = None):
    lifted = lift(model)
    code = compile_slices(model, lifted, lanes=lanes)
    return evolve(kernel_for(model, lifted), sliced=sliced_kernel_of(model, code))


@pytest.fixture(scope="module")
def reference():
    model = Model(REFERENCE)
    return model, sliced(model)


@pytest.fixture(scope="module")
def post_office():
    model = Model(POST_OFFICE)
    return model, sliced(model, lanes=128)


@pytest.fixture(autouse=True)
def few_records(monkeypatch):
    """Walks outnumber the records, and short chunks use the sliced kernel."""
    monkeypatch.setattr(sliced_walks, "MOST_RECORDS", 700)
    monkeypatch.setattr(chunks, "SLICED_WALKS", 1)


def in_both_ways(kernel):
    """The kernel whose walks wait in queues, and, if it has few instances, the one whose walks stay in their lanes."""
    ways = (False, True) if kernel.sliced.lane_functions else (False,)
    return [evolve(kernel, sliced=evolve(kernel.sliced, is_resident=way)) for way in ways]


def counted(kernel, plan, numbers, *, collect=True):
    """The counts of walks one by one, in queues and in their lanes, which are equal."""
    expected = run_chunk(evolve(kernel, sliced=None), plan, numbers, collect=collect)
    for way in in_both_ways(kernel):
        assert run_chunk(way, plan, numbers, collect=collect).differences(expected) == [], way.sliced.is_resident
    return expected


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"seed": 7, "depth": 7},
        {"depth": 0},
        {"count_states": True},
        {"swarm": True, "count_states": True},
        {"without": ("controller",)},
    ],
    ids=str,
)
def test_counts_and_findings_are_those_of_walks_one_by_one(reference, options):
    model, kernel = reference
    plan = SimulationOptions(**{"keep_going": True, **options}).plan(model, kernel)
    walks = counted(kernel, plan, range(1900))
    assert walks.walks == 1900 and (walks.steps > 0 or plan.depth == 0)
    counted(kernel, plan, range(1900), collect=False)


def test_bounds_step_properties_and_properties_of_every_kind_are_counted_the_same(post_office):
    model, kernel = post_office
    walks = counted(kernel, SimulationOptions(keep_going=True, depth=25).plan(model, kernel), range(2000))
    assert walks.bound_hits.min() > 0 and walks.premises.min() > 0 and len(walks.findings) > 1000
    some = evolve(SimulationOptions(keep_going=True, depth=25), properties=model.properties[:1])
    counted(kernel, some.plan(model, kernel), range(2000))


def test_walks_of_a_later_generation_begin_at_the_same_restarts(reference):
    model, kernel = reference
    plan = SimulationOptions(keep_going=True, swarm=True, count_states=True, depth=30).plan(model, kernel)
    plan = next_generation(kernel, plan, counted(kernel, plan, range(2000)))
    assert plan.swarm.generations[-1].restarts
    counted(kernel, plan, range(2000, 5000))


def test_more_findings_than_the_loop_keeps_at_a_time_are_found_in_their_order(reference):
    model, kernel = reference
    plan = SimulationOptions(keep_going=True, depth=60).plan(model, kernel)
    walks = counted(kernel, plan, range(6000))
    assert len(walks.findings) > 2 * kernel.sliced.lanes * (kernel.properties + 1)


@pytest.mark.parametrize(("streets", "words"), [(35, 2), (70, 3)])
def test_more_than_64_instances_and_states_of_several_words_are_walked_the_same(streets, words):
    model = Model(POST_OFFICE, bounds={**MANY, "streets": streets})
    kernel = sliced(model)
    assert kernel.instance_words == words
    for options in ({}, {"swarm": True}):
        plan = SimulationOptions(keep_going=True, depth=30, **options).plan(model, kernel)
        assert counted(kernel, plan, range(1500)).steps > 10_000


@pytest.mark.parametrize("scenario", [REFERENCE, POST_OFFICE, STUCK, BROKEN], ids=lambda scenario: scenario.name)
def test_the_same_walk_ends_the_run(scenario):
    model = Model(scenario)
    kernel = sliced(model)
    plan = SimulationOptions(keep_going=scenario is BROKEN).plan(model, kernel)
    ends = set()
    for first in (0, 50, 777):
        walks = counted(kernel, plan, range(first, first + 900))
        ends.add(walks.failed is not None if scenario is BROKEN else walks.stopped)
    assert ends == {True}


@pytest.mark.parametrize("lanes", [128, 256, 512])
def test_walks_are_the_same_in_planes_of_any_width(lanes):
    model = Model(POST_OFFICE)
    plan = SimulationOptions(keep_going=True, depth=25, swarm=True, count_states=True).plan(model, kernel_for(model))
    walks = counted(sliced(model, lanes), plan, range(3 * lanes + 1))
    assert walks.bound_hits.min() > 0 and len(walks.findings) > 100


def test_walks_stay_in_their_lanes_if_the_model_is_small(reference, monkeypatch):
    model, kernel = reference
    assert kernel.sliced.is_resident
    monkeypatch.setattr(slices, "RESIDENT_TABLES", (100, 100))
    assert not sliced(model).sliced.is_resident
    monkeypatch.setattr(slices, "MOST_INSTANCES", len(model.instances) - 1)
    without = sliced(model)
    assert without.sliced.lane_functions is None and not without.sliced.is_resident
    plan = SimulationOptions(keep_going=True).plan(model, kernel)
    assert run_chunk(without, plan, range(600)).differences(run_chunk(kernel, plan, range(600))) == []


def test_a_kernel_that_takes_other_steps_is_found_out(post_office, monkeypatch):
    model, kernel = post_office[0], in_both_ways(post_office[1])[0]
    plan = SimulationOptions(keep_going=True, depth=25).plan(model, kernel)
    compare_sliced(kernel, plan, range(300))
    swapped = kernel.sliced.stores.copy()
    swapped[:, 0] = 0  # nothing is written back
    with pytest.raises(EngineDisagreement, match=r"do not count the same in walks 0 to 299: .*taken"):
        compare_sliced(evolve(kernel, sliced=evolve(kernel.sliced, stores=swapped)), plan, range(300))


@pytest.mark.parametrize("workers", [1, 2])
def test_walks_that_take_long_continue_on_a_sliced_kernel(reference, workers, monkeypatch):
    model, notes = reference[0], set()
    expected = walk(model, kernel=kernel_of(model, compile_model(model)), walks=20_000, keep_going=True)
    monkeypatch.setattr(walking, "LEAST_SLICED_SECONDS", 0.0)
    monkeypatch.setattr(walking, "slicing_seconds", lambda kernel: 0.0)
    monkeypatch.setattr(slices, "TERMS_PER_SECOND", float("inf"))
    compared = []
    monkeypatch.setattr(chunks, "compare_sliced", lambda *given: compared.append(given) or 1)
    verdict = walk(
        model, walks=20_000, keep_going=True, workers=workers, report=lambda progress: notes.add(progress.note)
    )
    assert "bit-sliced code is compiled" in notes and compared
    assert 0 < verdict.sliced_walks < 20_000 and expected.sliced_walks == 0
    assert verdict.code_notes == (f"Bit-sliced code did {verdict.sliced_walks:,} of 20,000 walks.",)
    assert evolve(verdict, seconds=0.0, compared=None) == evolve(expected, seconds=0.0, compared=None)


@pytest.mark.parametrize(("steps", "walks"), [(20, 512), (200, 512), (1024, 128), (8192, 32), (10**6, 32)])
def test_fewer_walks_are_compared_where_walks_are_long(reference, monkeypatch, steps, walks):
    compared = []

    def recorded(kernel, plan, numbers):
        compared.extend(numbers)
        return steps * len(numbers)

    monkeypatch.setattr(chunks, "compare_sliced", recorded)
    monkeypatch.setattr(chunks, "SLICED_WALKS", 512)
    kernel = evolve(reference[1], sliced=SimpleNamespace())
    chunks.SlicedComparison().compare(kernel, None, range(1000, 9000))
    assert compared == list(range(1000, 1000 + walks))


def test_a_kernel_of_something_else_than_the_model_stays_as_it_is(post_office, monkeypatch):
    model = post_office[0]
    monkeypatch.setattr(walking, "LEAST_SLICED_SECONDS", 0.0)
    monkeypatch.setattr(walking, "slicing_seconds", lambda kernel: 0.0)
    monkeypatch.setattr(walking, "with_slices", lambda *given: pytest.fail("its steps can be others"))
    for kernel in (plain_kernel(model, word_bits=5), kernel_of(model, compile_model(model))):
        walk(model, kernel=kernel, walks=200, keep_going=True)
    with pytest.raises(pytest.fail.Exception, match="can be others"):
        walk(model, kernel=kernel_for(model), walks=200, keep_going=True)


def test_a_model_that_is_too_large_keeps_its_kernel(reference, monkeypatch):
    model, kernel = reference
    monkeypatch.setattr(slices, "MOST_TERMS", 10)
    monkeypatch.setattr(slices, "cached_slices", lambda *given: None)
    plain = evolve(kernel, sliced=None)
    assert slices.with_slices(model, plain) is plain
    monkeypatch.setattr(slices, "MOST_TERMS", 10**6)
    assert slices.with_slices(model, plain, seconds=0.01) is plain


def test_sliced_code_is_read_from_the_cache(reference, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    model, kernel = reference
    assert not slices.has_cached_slices(kernel)
    first = slices.compiled_slices(model, kernel.terms)
    monkeypatch.setattr(slices, "compile_slices", lambda *given, **more: pytest.fail("it is in the cache"))
    assert slices.has_cached_slices(kernel) and slices.compiled_slices(model, kernel.terms) == first
    (file,) = (tmp_path / "kwalk" / "kernels").glob("*-slices.zip")
    file.write_bytes(b"broken")
    assert not slices.has_cached_slices(kernel)


@pytest.mark.thorough
@pytest.mark.parametrize("name", with_own_parts())
def test_every_announced_scenario_is_evaluated_and_walked_the_same(name):
    model = Model(announced()[name])
    lifted = lift(model)
    kernel = evolve(kernel_for(model, lifted), sliced=sliced_kernel_of(model, compile_slices(model, lifted)))
    states = [*model.initial[:3], *random_states(model, max(2, 3000 // len(model.instances)), seed=5)]
    assert next(sliced_disagreements(model, states, kernel=kernel, lifted=lifted), None) is None
    for options in ({}, {"swarm": True, "count_states": True}):
        plan = SimulationOptions(keep_going=True, **options).plan(model, kernel)
        counted(kernel, plan, range(1500))
