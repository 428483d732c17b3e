"""The search for waits that never end says what all walks through small random graphs say."""

from __future__ import annotations

import pytest

from kwalk.model.language import Model
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.kernel.compile.compiler import kernel_for
from kwalk.search.results.fairness import is_fair_counterexample, neglected_conditions, violation_start
from kwalk.search.results.trace import run
from kwalk.search.results.verdict import Answer
from tests.liveness.random_graphs import TRAVEL, Brute


@pytest.fixture(scope="module", params=[1, 2])
def world(request):
    model = Model(TRAVEL, bounds={"seed": request.param})
    return model, {c.key: Brute(model, start) for c, start in zip(model.properties, model.initial, strict=True)}


@pytest.fixture(scope="module")
def verdict(world):
    return exhaust(world[0], keep_going=True)


def test_a_property_is_violated_where_some_walk_waits_infinitely(world, verdict):
    found = {finding.prop: finding.count for finding in verdict.findings}
    expected = {key: len(brute.endless_from()) for key, brute in world[1].items()}
    assert found == {key: count for key, count in expected.items() if count}
    assert 30 < len(found) < 70
    assert verdict.answer is Answer.VIOLATED


def test_waits_that_only_a_bound_makes_infinite_are_distinguished(world, verdict):
    stuck = {note.partition(":")[0] for note in verdict.notes if "only because of a bound (height)" in note}
    assert stuck == {key for key, brute in world[1].items() if brute.is_stuck()}
    assert len(stuck) >= 3


def test_every_lasso_is_fair_and_waits_and_its_stem_is_shortest(world, verdict):
    model, brutes = world
    for finding in verdict.findings:
        trace, (prop,) = finding.trace, model.properties_of(finding.prop)
        assert run(model, trace.states[0], trace.actions) == trace.states
        assert trace.states[trace.loop] == trace.states[-1]
        assert not neglected_conditions(model, trace)
        assert is_fair_counterexample(model, prop, trace)
        assert trace.shortest is None
        brute = brutes[finding.prop]
        assert violation_start(model, prop, trace) <= brute.depth_of(brute.endless_from())


def test_chances_to_fail_are_counted(world, verdict):
    for key, brute in world[1].items():
        assert verdict.premises[key] == len(brute.reached({brute.at}, set(range(100))) & brute.starts)


def test_stopping_at_the_first_finds_the_same_first(world, verdict):
    first = exhaust(world[0]).findings
    assert [f.prop for f in first] == [verdict.findings[0].prop]
    assert first[0].trace == verdict.findings[0].trace


def test_two_workers_find_the_same(world, verdict):
    again = exhaust(world[0], keep_going=True, workers=2)
    assert again.findings == verdict.findings
    assert again.notes == verdict.notes


def test_kernels_and_plain_python_agree_on_what_is_awaited(world):
    from kwalk.search.kernel.differential import disagreements

    model, _ = world
    states = [after for start in model.initial[:8] for _, after in model.successors(start)]
    small = Model(TRAVEL, bounds={"worlds": 8})
    assert {model.awaited(prop, state) for prop in model.properties[:8] for state in states} == {
        (False, False),
        (False, True),
        (True, False),
        (True, True),
    }
    states = [after for start in small.initial for _, after in small.successors(start)]
    assert list(disagreements(small, states, kernel=kernel_for(small), with_z3=False)) == []
