"""Behaviours that violate a property, described for tests."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

from attrs import field, frozen

from kwalk.model.language import Kind, Model, Scenario

BETWEEN_ARGUMENTS = re.compile(r",(?=[^()]*(\([^()]*\)[^()]*)*\)$)")
"""A comma of an action instance that is not within the value of an argument, such as ReplicaList(1,2)."""


@frozen
class Broken:
    """A behaviour whose last step or state violates a property."""

    prop: str
    story: str
    variant: str
    steps: str
    bounds: Mapping[str, int] = field(factory=dict)
    flags: Mapping[str, bool | str] = field(factory=dict)
    planted: str = ""
    start: int = 0
    """Which of the model's initial states it begins in."""

    @property
    def invariant(self) -> str:
        """The name of the invariant that is violated."""
        return self.prop.partition("(")[0]

    @property
    def actions(self) -> tuple[str, ...]:
        """The keys of the action instances, as models name them."""
        return tuple(BETWEEN_ARGUMENTS.sub(", ", step) for step in self.steps.split())


def read_behaviours(name: str) -> tuple[tuple[tuple[Broken, str], ...], tuple[Broken, ...]]:
    """Return the behaviours of a file here: those with a release in which they break nothing, and the others."""
    rows = tomllib.loads((Path(__file__).parent / name).read_text())["behaviour"]
    found = [(row.pop("absent_in", ""), Broken(**row)) for row in rows]
    repaired = tuple((one, release) for release, one in found if release)
    return repaired, tuple(one for release, one in found if not release)


def judged(
    behaviour: Broken, story: Scenario, variant: str, flags: Mapping[str, bool | str] | None = None
) -> list[bool | None]:
    """Whether each state of a behaviour, or the step to it, violates the property; it ends where no step can be taken.

    The flags are those of the behaviour, unless others are given.
    """
    model = Model(story, variant, behaviour.bounds, behaviour.flags if flags is None else flags)
    (prop,) = model.properties_of(behaviour.prop)
    states = [model.initial[behaviour.start]]
    for key in behaviour.actions:
        after = model.attempt(model.instance(key), states[-1]).after
        if after is None:
            break
        states.append(after)
    earlier = (None, *states[:-1]) if prop.kind is Kind.STEP else [None] * len(states)
    return [model.violates(prop, state, before) for before, state in zip(earlier, states, strict=True)]


def is_broken_at_the_end(behaviour: Broken, story: Scenario, variant: str) -> bool:
    """Whether all steps of a behaviour can be taken in a release, and only the last one breaks the property."""
    return judged(behaviour, story, variant) == [False] * len(behaviour.actions) + [True]
