"""A mistake in constraints or in refinement, in plain Python or in the lifter, is found by a few random models."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from attrs import evolve

from kwalk.model.language import Model, StepResult
from kwalk.model.language.lift import lifting
from kwalk.model.language.refinement import MappedAction, RefinedSteps, Refinement
from tests.fuzz.comparison import Engines, difference_in
from tests.fuzz.models import random_model

MOST = 60
"""The number of models with a construct within which each mistake in it must be found."""
CUTS, LEADS, HOLDS, EXECUTE = lifting._cuts, lifting._leads, Model._holds, Model.execute
STEPS, IMAGES = RefinedSteps.truth, lifting._images


def _execute(self: Model, *args: Any) -> Any:
    result, bound = EXECUTE(self, *args)
    return (StepResult.DISABLED, None) if (bound or "").startswith("constraint ") else (result, bound)


def _swapped(*args: Any) -> Any:
    before, after, errors = IMAGES(*args)
    return after, before, errors


CONSTRAINTS: dict[str, tuple[object, str, object]] = {
    "lifting drops constraints": (lifting, "_cuts", lambda *args: iter(())),
    "lifting drops action constraints": (
        lifting,
        "_cuts",
        lambda model, terms, *states: CUTS(model, terms, *states) if len(states) == 1 else iter(()),
    ),
    "an action constraint reads the state before twice": (
        lifting,
        "_cuts",
        lambda model, terms, *states: CUTS(model, terms, *(states[:1] * len(states))),
    ),
    "plain Python negates constraints": (Model, "_holds", staticmethod(lambda one, *states: not HOLDS(one, *states))),
    "a constraint disables": (Model, "execute", _execute),
}
REFINEMENTS: dict[str, tuple[object, str, object]] = {
    "an abstract step ignores its guard": (
        lifting,
        "_leads",
        lambda terms, action, before, after: LEADS(terms, evolve(action, guard=terms.true), before, after),
    ),
    "an abstract step ignores bounds and errors": (
        lifting,
        "_leads",
        lambda terms, action, before, after: LEADS(terms, evolve(action, side_conditions=()), before, after),
    ),
    "an abstract step changes nothing": (
        lifting,
        "_leads",
        lambda terms, action, before, after: LEADS(terms, evolve(action, updates={}), before, after),
    ),
    "steps are taken backwards": (lifting, "_images", _swapped),
    "a step that stutters is tested": (RefinedSteps, "truth", lambda self, *states: STEPS(self, *states) is not False),
    "every action is mapped to": (MappedAction, "truth", lambda self, *states: True),
    "every image of an initial state is initial": (Refinement, "wrong_starts", lambda self: frozenset()),
}


def _models(what: str) -> Iterator[tuple[int, str]]:
    found = 0
    for seed in range(1_000):
        text = random_model(seed)
        if what in text and found < MOST:
            found += 1
            yield seed, text


def _is_found(what: str) -> bool:
    differences = (difference_in(text, seed, Engines.NONE) for seed, text in _models(what))
    return any(one is not None and not one.kind.startswith("crash") for one in differences)


@pytest.mark.parametrize("wrong", CONSTRAINTS)
def test_a_mistake_in_constraints_is_found(wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(*CONSTRAINTS[wrong])  # type: ignore[call-overload]
    assert _is_found("constraint()\n")


@pytest.mark.parametrize("wrong", REFINEMENTS)
def test_a_mistake_in_refinement_is_found(wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(*REFINEMENTS[wrong])  # type: ignore[call-overload]
    assert _is_found("refines(ABSTRACT")
