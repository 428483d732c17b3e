"""Local search: small breadth-first searches around each state of a behaviour, used where there is no kernel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kwalk.search.kernel.calls import way_to
from kwalk.search.minimize.ddmin import Shrinker
from kwalk.search.minimize.replay import Behaviour


def local_search(shrinker: Shrinker, best: Behaviour) -> Behaviour | None:
    """Search around each state for a shorter path to a later one, or to the target; stop at the first success."""
    tries = (_search_from(shrinker, best, at) for at in range(len(best)) if not shrinker.is_late)
    return next((shorter for shorter in tries if shorter is not None), None)


def _search_from(shrinker: Shrinker, best: Behaviour, at: int) -> Behaviour | None:
    """Search breadth-first from state `at` of a behaviour, through as many states as the stepper allows."""
    later = {state: place for place, state in enumerate(best.states) if place > at + 1}
    levels = _Levels(shrinker, best.states[at], later)
    for depth in range(1, len(best) - at):
        hit = levels.expand(at + depth)
        if hit is not None:
            steps, place = hit
            return shrinker.edit(best, at, [*steps, *(() if place is None else best.steps[place:])])
    return None


class _Levels:
    """A breadth-first search, level by level, for the target or for a later state of a behaviour."""

    def __init__(self, shrinker: Shrinker, start: Any, later: Mapping[Any, int]) -> None:
        self.shrinker, self.later, self.left = shrinker, later, shrinker.stepper.search_limit
        self.level = [start]
        self.origins: dict[Any, tuple[Any, int] | None] = {start: None}

    def expand(self, length: int) -> tuple[tuple[int, ...], int | None] | None:
        """Search the next level, whose states are `length` steps from the first state of the behaviour.

        Return the steps to a hit, and the number of the behaviour's state that it is (None: it shows the target).
        """
        stepper, level, self.level = self.shrinker.stepper, self.level, []
        for state in level:
            self.left -= 1
            for step, after in self.shrinker.successors(state) if self.left > 0 else ():
                if (after not in self.origins or stepper.in_steps) and stepper.shows(after, state):
                    return (*way_to(state, self.origins)[1], step), None
                if after not in self.origins:
                    self.origins[after] = state, step
                    self.level.append(after)
                    if self.later.get(after, 0) > length:
                        return way_to(after, self.origins)[1], self.later[after]
        return None
