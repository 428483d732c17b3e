"""A breadth-first search in plain Python: the oracle that published counts are compared with.

Words: *generated* counts the initial states and every step taken from a distinct state, also those that lead back to a
known one, as TLC's "states generated" does. *Depth* is the longest shortest path from an initial state, which itself
has depth 0; TLC and Stateright call an initial state's depth 1, so their figure is ours plus one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache

from attrs import field, frozen

from kwalk.model.language import ActionInstance, Kind, Model, Scenario, StepResult, Vector


@frozen(eq=False)
class Space:
    """All reachable states of a model, in breadth-first order, each with its predecessor and the step between."""

    model: Model
    reached: dict[Vector, tuple[Vector, str] | None] = field(factory=dict)
    depths: dict[Vector, int] = field(factory=dict)
    steps: Counter[Vector] = field(factory=Counter)
    enabled: dict[Vector, list[ActionInstance]] = field(factory=dict)
    """By state, what can be taken there, or would hit a bound."""
    bounds_hit: Counter[str] = field(factory=Counter)

    @property
    def distinct(self) -> int:
        """How many states are reachable."""
        return len(self.reached)

    @property
    def generated(self) -> int:
        """How many states were generated, initial ones and repetitions included."""
        return len(self.model.initial) + self.steps.total()

    @property
    def depth(self) -> int:
        """Steps from an initial state to the farthest state."""
        return max(self.depths.values())

    @property
    def deadlocks(self) -> list[Vector]:
        """The states that no step leaves, nearest first."""
        return [vector for vector in self.reached if self.steps[vector] == 0]

    def way_to(self, vector: Vector) -> list[str]:
        """The action instances of a shortest path to a state."""
        actions = []
        while (origin := self.reached[vector]) is not None:
            vector, key = origin
            actions.append(key)
        return actions[::-1]

    def violation(self, name: str) -> list[str] | None:
        """A shortest path to a violation of an invariant; None if it holds everywhere."""
        properties = self.model.properties_of(name)
        if properties[0].kind is Kind.STEP:
            return self._bad_step(name)
        for vector in self.reached:
            if any(self.model.violates(prop, vector) for prop in properties):
                return self.way_to(vector)
        return None

    def witness(self, name: str) -> list[str] | None:
        """A shortest path to a state where a `reachable` invariant is true; None if there is none."""
        properties = self.model.properties_of(name)
        for vector in self.reached:
            if any(self.model.truth(prop, vector) for prop in properties):
                return self.way_to(vector)
        return None

    def _bad_step(self, name: str) -> list[str] | None:
        properties = self.model.properties_of(name)
        for before, key, after in self._all_steps():
            if any(self.model.violates(prop, after, before) for prop in properties):
                return [*self.way_to(before), key]
        return None

    def _all_steps(self) -> Iterator[tuple[Vector, str, Vector]]:
        for before in self.reached:
            for instance, after in self.model.successors(before):
                yield before, instance.key, after


def explore(model: Model) -> Space:
    """Visit every reachable state of a model."""
    space = Space(model)
    for vector in model.initial:
        space.reached[vector], space.depths[vector] = None, 0
    queue = list(model.initial)
    for vector in queue:
        for instance in model.instances:
            outcome = model.attempt(instance, vector)
            if outcome.result is not StepResult.DISABLED:
                space.enabled.setdefault(vector, []).append(instance)
            if outcome.result is StepResult.BOUND:
                space.bounds_hit[str(outcome.bound)] += 1
            if outcome.after is None:
                continue
            space.steps[vector] += 1
            if outcome.after not in space.reached:
                space.reached[outcome.after] = vector, instance.key
                space.depths[outcome.after] = space.depths[vector] + 1
                queue.append(outcome.after)
    return space


@cache
def _space(scenario: Scenario, variant: str | None, bounds: tuple[tuple[str, int], ...]) -> Space:
    return explore(Model(scenario, variant, dict(bounds)))


def space_of(scenario: Scenario, variant: str | None = None, **bounds: int) -> Space:
    """The states of a scenario, explored once for all tests that ask."""
    return _space(scenario, variant, tuple(sorted({**scenario.bounds, **bounds}.items())))
