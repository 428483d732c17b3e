"""Detours: small searches around each state of a behaviour, for where there is no kernel."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import frozen

from search.shrink.behaviour import Behaviour
from search.shrink.shrinker import Shrinker


def by_detour(shrinker: Shrinker, best: Behaviour) -> Behaviour | None:
    """Search around each state for a shorter way to a later one, or to what is looked for; the first ends it."""
    tries = (_detour(shrinker, best, at) for at in range(len(best)) if not shrinker.is_late)
    return next((shorter for shorter in tries if shorter is not None), None)


def _detour(shrinker: Shrinker, best: Behaviour, at: int) -> Behaviour | None:
    """Breadth-first from a state of a behaviour, through as many states as the stepper is patient for."""
    later = {state: place for place, state in enumerate(best.states) if place > at + 1}
    search = Detour(shrinker, best.states[at], later)
    for depth in range(1, len(best) - at):
        met = search.deeper(at + depth)
        if met is not None:
            return shrinker.edited(best, at, [*met.steps, *(() if met.place is None else best.steps[met.place :])])
    return None


@frozen
class Met:
    """What a detour met: by which steps, and at which place of the behaviour to go on (None: this is the end)."""

    steps: tuple[int, ...]
    place: int | None


class Detour:
    """A breadth-first search, level by level, for what is looked for or for a state further on in a behaviour."""

    def __init__(self, shrinker: Shrinker, start: Any, later: Mapping[Any, int]) -> None:
        self.shrinker, self.later, self.left = shrinker, later, shrinker.stepper.patience
        self.level = [start]
        self.origins: dict[Any, tuple[Any, int] | None] = {start: None}

    def deeper(self, length: int) -> Met | None:
        """Search the next level, whose states would be `length` steps from the beginning of the behaviour."""
        stepper, level, self.level = self.shrinker.stepper, self.level, []
        for state in level:
            self.left -= 1
            for step, after in self.shrinker.successors(state) if self.left > 0 else ():
                if (after not in self.origins or stepper.in_steps) and stepper.shows(after, state):
                    return Met((*self._way(state), step), None)
                if after not in self.origins:
                    self.origins[after] = state, step
                    self.level.append(after)
                    if self.later.get(after, 0) > length:
                        return Met(self._way(after), self.later[after])
        return None

    def _way(self, state: Any) -> tuple[int, ...]:
        steps: list[int] = []
        while (origin := self.origins[state]) is not None:
            state, step = origin
            steps.append(step)
        return tuple(reversed(steps))
