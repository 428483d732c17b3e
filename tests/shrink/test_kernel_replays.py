"""Replays by machine code shrink a trace to the very same result as plain ones."""
from __future__ import annotations

from itertools import islice

import pytest
from attrs import evolve

from model.examples.blocking_queue import BLOCKING_QUEUE
from model.examples.reference import REFERENCE
from model.language import Model
from search.compile import kernel_for
from search.shrink import shrink
from search.trace import ReplayError
from tests.shrink.mail import MAIL
from tests.shrink.walks import violating_walks


@pytest.mark.parametrize(
    ("scenario", "claim"),
    [
        (REFERENCE, "disk_matches_znode()"),
        (REFERENCE, "leaders_when_settled()"),
        (MAIL, "nothing_is_lost(1)"),
        (MAIL, "dogs_eat_nothing(2)"),
        (BLOCKING_QUEUE, None),
    ],
)
def test_a_kernel_and_plain_python_shrink_to_the_same_trace(scenario, claim):
    model = Model(scenario)
    kernel = kernel_for(model)
    wanted = None if claim is None else model.claims_of(claim)[0]
    for trace in islice(violating_walks(model, wanted, seed=11), 5):
        assert shrink(model, trace, kernel=kernel) == shrink(model, trace)


def test_a_kernel_that_disagrees_with_plain_python_is_caught():
    """A kernel of another model: its claims are violated elsewhere, and plain Python has the last word."""
    model = Model(REFERENCE)
    mistaken = kernel_for(Model(evolve(REFERENCE, invariants=REFERENCE.invariants[::-1])))
    trace = next(violating_walks(model, model.claims_of("leaders_when_settled")[0], seed=11, longest=60))
    mine = evolve(trace, actions=("expand()", "controller_fails()", "elect(0)"), states=trace.states[:4])
    with pytest.raises(ReplayError, match="disagree"):
        shrink(model, mine, kernel=mistaken)
