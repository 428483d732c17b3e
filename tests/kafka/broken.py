"""Behaviours that violate a property, described for tests."""

from __future__ import annotations

import re
from collections.abc import Mapping

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


def judged(behaviour: Broken, story: Scenario, variant: str, flags: Mapping[str, bool | str]) -> list[bool]:
    """Whether each state, or step, of a behaviour violates the property; it ends where a step cannot be taken."""
    model = Model(story, variant, behaviour.bounds, flags)
    (prop,) = model.properties_of(behaviour.prop)
    states, found = [model.initial[behaviour.start]], []
    for key in behaviour.actions:
        after = model.attempt(model.instance(key), states[-1]).after
        if after is None:
            break
        found.append(model.violates(prop, after, states[-1] if prop.kind is Kind.STEP else None))
        states.append(after)
    return found
