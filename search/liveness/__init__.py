"""Liveness after exhaustive search: whether every wait of an `eventually` claim ends under weak fairness.

Words: see `search.fairness`, `search.loops.waiting` and `search.loops.components`. A claim is *settled* when all of its
waits were looked through, or one was found that never ends and that is enough.
"""
from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator

import numpy as np
from attrs import define

from model.language import Claim
from search.confirm import Path, blocking_bounds, path_along
from search.exploration import LEAST_PACE, SLICE, Ending, Exploration, next_pace
from search.explored import Explored
from search.fairness import liveness
from search.liveness.lassos import Lasso, LassoSearch
from search.liveness.region import OutOfMemory, WaitingStates
from search.loops.components import (
    BAD,
    CURSOR_SIZE,
    DONE,
    FIRST_BAD,
    FULL,
    LIMIT,
    STOP,
    STORED,
    STUCK,
    STUCK_AT,
    VISITS,
    find_components,
)
from search.progress import Progress


@define(eq=False)
class Waits:
    """What is known of the waits of one claim."""

    claim: Claim
    premises: int = 0
    """In how many states its premise holds."""
    beginnings: int = 0
    """In how many states a wait begins that need not end; 1 if the search stopped at the first."""
    first: int | None = None
    """The first of those states."""
    lasso: Lasso | None = None
    stuck: int = 0
    """How many components a behaviour cannot leave only because a bound prevents it."""
    bounds: tuple[str, ...] = ()
    """The bounds in the way in the first of them."""
    ending: Ending | None = None
    """Why it is not settled; None if it is."""

    def path(self, exploration: Explored) -> tuple[Path, int]:
        """The way to the wait and around its loop, and the step after which the loop begins."""
        assert self.first is not None and self.lasso is not None
        stem = exploration.path_to(self.first)
        onward = path_along(exploration.kernel, stem.states[-1], self.lasso.once + self.lasso.loop)
        path = Path(np.vstack([stem.states, onward.states[1:]]), stem.instances + onward.instances)
        return path, len(stem.instances) + len(self.lasso.once)


def look_through_waits(exploration: Exploration) -> tuple[Waits, ...]:
    """What is known of the waits of each `eventually` claim that was asked for, after the exploration has ended.

    Only a complete exploration is looked at; Ctrl-C and spent budgets leave claims that are not settled. Without
    `keep_going` the search stops at the first wait that never ends.
    """
    known = tuple(Waits(claim, ending=exploration.ending) for claim in liveness(exploration.wish.claims))
    ending: Ending | None = None if exploration.ending is Ending.COMPLETE else exploration.ending
    for waits in known:
        waits.ending = ending or _Look(exploration, waits).run()
        found_enough = waits.lasso is not None and not exploration.wish.keep_going
        ending = waits.ending or (Ending.VIOLATION if found_enough else None)
    exploration.seconds = time.monotonic() - exploration.started if known else exploration.seconds
    return known


class _Look:
    """The look through the waits of one claim, in slices between which budgets and signals are looked at."""

    def __init__(self, exploration: Exploration, waits: Waits) -> None:
        self.exploration, self.waits = exploration, waits
        self.cursor = np.zeros(CURSOR_SIZE, np.int64)
        self.cursor[[STOP, STORED]] = not exploration.wish.keep_going, exploration.stored

    def run(self) -> Ending | None:
        """Fill in what is known; why the look ended early, if it did."""
        try:
            states = WaitingStates(self.exploration, self.waits.claim)
            ending = self._go(states.judge, "where does it wait") or self._through(states)
            self._note(states)
            return ending
        except OutOfMemory:
            return Ending.MEMORY
        except KeyboardInterrupt:
            return Ending.INTERRUPT

    def _through(self, states: WaitingStates) -> Ending | None:
        self.waits.premises = states.premises
        states.settle()

        def advance(pace: int) -> bool:
            self.cursor[LIMIT] = self.cursor[VISITS] + pace
            status = find_components(states.region, states.stacks, self.cursor)
            if status == FULL:
                raise OutOfMemory
            return bool(status == DONE)

        return self._go(advance, f"{states.count:,} states wait")

    def _go(self, advance: Callable[[int], bool], note: str) -> Ending | None:
        """Advance, ever at a pace that leaves time to look up, until all is done (None) or the time is spent."""
        search, pace, done = self.exploration, LEAST_PACE, 0
        search.seconds = time.monotonic() - search.started
        while not advance(pace):
            done += pace
            spent = time.monotonic() - search.started - search.seconds
            search.seconds += spent
            pace = next_pace(pace, spent)
            if search.wish.seconds is not None and search.seconds >= search.wish.seconds:
                return Ending.TIME
            if spent >= SLICE / 4:
                search.wish.report(self._progress(done, note))
        return None

    def _progress(self, done: int, note: str) -> Progress:
        seconds, budget = self.exploration.seconds, self.exploration.wish.seconds
        left = None if budget is None else max(0.0, budget - seconds)
        return Progress("liveness", done, "states", seconds, left=left, note=f"{self.waits.claim.key}: {note}")

    def _note(self, states: WaitingStates) -> None:
        cursor, waits = self.cursor, self.waits
        waits.beginnings, waits.stuck = int(cursor[BAD]), int(cursor[STUCK])
        if waits.stuck:
            at = self.exploration.states.rows([int(cursor[STUCK_AT]) - 1])[0]
            waits.bounds = blocking_bounds(self.exploration.kernel, at)
        if waits.beginnings:
            waits.first = int(cursor[FIRST_BAD]) - 1
            waits.lasso = LassoSearch(states).lasso_from(waits.first)


def told(known: Iterable[Waits]) -> Iterator[str]:
    """Sentences for people on what was seen of waits."""
    for waits in known:
        key = waits.claim.key
        if waits.lasso is not None:
            yield f"{key}: no fewer steps lead to where such a wait begins; the loop may not be the shortest."
        if waits.stuck:
            bounds = ", ".join(waits.bounds)
            yield (
                f"{key}: {waits.stuck:,} loops or ends wait for ever only because a bound is in the way ({bounds}); "
                "they are no counterexamples. Raise it and look again."
            )
        if waits.ending is not None:
            yield f"{key} is not settled: its waits were not looked through ({waits.ending.value})."


__all__ = ["Waits", "look_through_waits", "told"]
