"""A full and a reduced search agree: on what is violated and witnessed, at which depth, and on all quiescent states."""

from __future__ import annotations

import pytest

from kwalk.model.language import Kind, Model
from kwalk.model.language.registry import announced
from kwalk.search.kernel.compile.compiler import kernel_for
from tests.reduction.full_and_reduced import compare, explored, lengths
from tests.reduction.resignation import TOWN

LARGE = (
    "lamport-mutex",
    "topic-id-core",
    "ewd426",
    "paxos",
    "voting",
    "synod",
    "tower-of-hanoi",
    "tic-tac-toe",
)
SMALL = [
    s for s in announced().values() if s.state.__module__.startswith("kwalk.model.examples") and s.name not in LARGE
]
CASES = [(s, v) for s in (TOWN, *SMALL) for v in (list(s.variants) or [s.default_variant])]


LONG = (
    "b-tree-default",
    "buffered-file-default",
    "checkpoint-lease-hasty",
    "checkpoint-lease-published",
    "elevator-default",
    "ewd998-default",
    "scheduling-allocator-default",
)
"""Cases that take many seconds; `make test` leaves them out."""


def case(scenario, variant):
    name = f"{scenario.name}-{variant}"
    return pytest.param(scenario, variant, id=name, marks=pytest.mark.thorough if name in LONG else ())


@pytest.mark.parametrize(("scenario", "variant"), [case(*pair) for pair in CASES])
def test_full_and_reduced_search_agree_on_all_properties_together_and_on_each_alone(scenario, variant):
    model = Model(scenario, variant)
    kernel = kernel_for(model)
    properties = tuple(prop for prop in model.properties if prop.kind is not Kind.EVENTUALLY)
    compare(model, kernel, properties)
    for prop in properties:
        compare(model, kernel, (prop,))


@pytest.mark.thorough
def test_any_number_of_workers_finds_the_same():
    model = Model(announced()["readers-writers"])
    kernel = kernel_for(model)
    one = explored(model, kernel, model.properties, reduce=True)
    two = explored(model, kernel, model.properties, reduce=True, workers=2)
    assert one.stored == two.stored == 2_174
    assert one.cursor.tolist() == two.cursor.tolist()
    assert lengths(one) == lengths(two)
