"""Replays by machine code take the very same steps as plain ones, and what they shrink is never longer."""

from __future__ import annotations

import random
from itertools import islice

import pytest
from attrs import evolve

from kwalk.model.examples.blocking_queue import BLOCKING_QUEUE
from kwalk.model.examples.reference import REFERENCE
from kwalk.model.language import Model
from kwalk.search.kernel.compile.compiler import kernel_for
from kwalk.search.minimize.replay import Behaviour
from kwalk.search.minimize.shrink import MinimizationTarget, Minimizer, shrink
from kwalk.search.results.trace import ReplayError
from tests.minimize.mail import MAIL
from tests.minimize.walks import violating_walks

SHOWN = [
    (REFERENCE, "disk_matches_znode()"),
    (REFERENCE, "leaders_when_settled()"),
    (MAIL, "nothing_is_lost(1)"),
    (MAIL, "dogs_eat_nothing(2)"),
    (BLOCKING_QUEUE, None),
]


def walks_of(scenario, prop, count):
    model = Model(scenario)
    wanted = None if prop is None else model.properties_of(prop)[0]
    return model, () if wanted is None else (wanted,), list(islice(violating_walks(model, wanted, seed=11), count))


@pytest.mark.parametrize(("scenario", "prop"), SHOWN)
def test_a_kernel_replays_edited_lists_of_steps_as_plain_python_does(scenario, prop):
    model, properties, walks = walks_of(scenario, prop, 4)
    plain, compiled = (
        Minimizer(model, kernel).shrinker(MinimizationTarget(properties)) for kernel in (None, kernel_for(model))
    )
    rng, shown = random.Random(5), 0
    for trace in walks:
        steps = [model.instance(key).index for key in trace.actions]
        for _ in range(40):
            edited = [step for step in steps if rng.random() < 0.9]
            edited[: rng.randrange(4)] = rng.sample(edited[:3], len(edited[:3]))
            ways = [s.replay(Behaviour((), (s.stepper.start(trace.states[0]),)), edited, 80) for s in (plain, compiled)]
            taken = [None if way is None else way.steps for way in ways]
            assert taken[0] == taken[1]
            if ways[0] is not None:
                shown += 1
                assert tuple(map(compiled.stepper.start, ways[0].states)) == ways[1].states
    assert shown > 10


@pytest.mark.parametrize(("scenario", "prop"), SHOWN)
def test_with_a_kernel_no_trace_stays_longer_than_without(scenario, prop):
    model, _, walks = walks_of(scenario, prop, 5)
    minimizer = Minimizer(model, kernel_for(model))
    for trace in walks:
        assert minimizer.minimize(trace).length <= shrink(model, trace).length


def test_a_minimizer_gives_each_trace_what_it_would_get_alone():
    """What is kept from one trace to the next is room only."""
    model, _, walks = walks_of(REFERENCE, "leaders_when_settled()", 6)
    kernel = kernel_for(model)
    minimizer = Minimizer(model, kernel)
    assert [minimizer.minimize(trace) for trace in walks] == [shrink(model, trace, kernel=kernel) for trace in walks]


def test_a_search_that_left_nothing_out_proves_that_the_trace_is_the_shortest():
    model, _, walks = walks_of(REFERENCE, "disk_matches_znode()", 1)
    assert shrink(model, walks[0], kernel=kernel_for(model)).shortest == "exhaustive to depth 2"
    long = next(violating_walks(model, model.properties_of("leaders_when_settled")[0], seed=11))
    assert shrink(model, long, kernel=kernel_for(model)).shortest is None


def test_a_kernel_that_disagrees_with_plain_python_is_caught():
    """A kernel of another model: its properties are violated elsewhere, and plain Python decides."""
    model = Model(REFERENCE)
    mistaken = kernel_for(Model(evolve(REFERENCE, properties=REFERENCE.properties[::-1])))
    trace = next(violating_walks(model, model.properties_of("leaders_when_settled")[0], seed=11, longest=60))
    mine = evolve(trace, actions=("expand()", "controller_fails()", "elect(0)"), states=trace.states[:4])
    with pytest.raises(ReplayError, match="disagree"):
        shrink(model, mine, kernel=mistaken)
