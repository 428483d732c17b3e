"""Behaviours that violate a property, described for tests."""

from __future__ import annotations

import re
from collections.abc import Mapping

from attrs import field, frozen

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
