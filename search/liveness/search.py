"""Liveness after exhaustive search: whether a fair behaviour violates a property about behaviours.

Words: see `kwalk.search.results.fairness`, `waiting` and `components`. A property is *settled* when all of its waits
were examined, or one that never ends was found and that is enough.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator

import numpy as np
from attrs import define

from kwalk.model.language import PropertyInstance
from kwalk.search.base import pacing
from kwalk.search.base.options import StopReason
from kwalk.search.base.pacing import next_pace
from kwalk.search.base.progress import Progress
from kwalk.search.exhaustive.explorer import MAX_PACE, MIN_PACE, ExplorationResult, Explorer
from kwalk.search.liveness.components import SCC_DONE, SCC_FULL, SccCursor, find_components
from kwalk.search.liveness.lassos import Lasso, LassoSearch
from kwalk.search.liveness.waiting import OutOfMemory, WaitingStates
from kwalk.search.results.confirmation import PackedPath, blocking_bounds, extended_path
from kwalk.search.results.fairness import liveness_properties


@define(eq=False)
class LivenessResult:
    """The result for one property."""

    prop: PropertyInstance
    premises: int = 0
    """The number of states where its premise holds."""
    starts: int = 0
    """The number of states where a wait starts that need not end; 1 if the search stopped at the first."""
    first: int | None = None
    """The first of those states."""
    lasso: Lasso | None = None
    stuck: int = 0
    """The number of components that a behaviour cannot leave only because of a bound."""
    bounds: tuple[str, ...] = ()
    """The bounds that block the first of them."""
    stop_reason: StopReason | None = None
    """Why the property is not settled; None if it is."""

    def path(self, exploration: ExplorationResult) -> tuple[PackedPath, int]:
        """Return the path to the wait and around its loop, and the number of steps before the loop."""
        assert self.first is not None and self.lasso is not None
        stem = exploration.path_to(self.first)
        path = extended_path(exploration.kernel, stem, self.lasso.stem + self.lasso.loop)
        return path, len(stem.instances) + len(self.lasso.stem)


def check_liveness(exploration: Explorer) -> tuple[LivenessResult, ...]:
    """Check each property about behaviours after the exploration has ended.

    Only a complete exploration is checked; Ctrl-C and spent budgets leave properties that are not settled. Without
    `keep_going` the search stops at the first wait that never ends.
    """
    results = tuple(
        LivenessResult(prop, stop_reason=exploration.stop_reason)
        for prop in liveness_properties(exploration.options.properties)
    )
    stop_reason: StopReason | None = None if exploration.stop_reason is StopReason.COMPLETE else exploration.stop_reason
    for result in results:
        result.stop_reason = stop_reason or _LivenessSearch(exploration, result).run()
        found_enough = result.lasso is not None and not exploration.options.keep_going
        stop_reason = result.stop_reason or (StopReason.VIOLATION if found_enough else None)
    exploration.seconds = time.monotonic() - exploration.started if results else exploration.seconds
    return results


class _LivenessSearch:
    """The search for waits of one property, in slices between which budgets and signals are checked."""

    def __init__(self, exploration: Explorer, result: LivenessResult) -> None:
        self.exploration, self.result = exploration, result
        self.cursor = np.zeros(len(SccCursor), np.int64)
        self.cursor[[SccCursor.STOP, SccCursor.STORED]] = not exploration.options.keep_going, exploration.stored

    def run(self) -> StopReason | None:
        """Fill in the result; return why the search stopped early, None if it did not."""
        try:
            states = WaitingStates(self.exploration, self.result.prop)
            reason = self._run_in_slices(states.classify, "classifying states") or self._search_components(states)
            self._record(states)
            return reason
        except OutOfMemory:
            return StopReason.MEMORY
        except KeyboardInterrupt:
            return StopReason.INTERRUPT

    def _search_components(self, states: WaitingStates) -> StopReason | None:
        self.result.premises = states.premises
        states.number_states()

        def advance(pace: int) -> bool:
            self.cursor[SccCursor.LIMIT] = self.cursor[SccCursor.WORK] + pace
            status = find_components(states.region, states.stacks, self.cursor)
            if status == SCC_FULL:
                raise OutOfMemory
            return bool(status == SCC_DONE)

        return self._run_in_slices(advance, f"{states.count:,} waiting states")

    def _run_in_slices(self, advance: Callable[[int], bool], note: str) -> StopReason | None:
        """Call `advance` with a pace of about one slice until all is done (None) or the time budget is spent."""
        search, pace, done = self.exploration, MIN_PACE, 0
        search.seconds = time.monotonic() - search.started
        while not advance(pace):
            done += pace
            spent = time.monotonic() - search.started - search.seconds
            search.seconds += spent
            pace = next_pace(pace, spent, least=MIN_PACE, most=MAX_PACE)
            if search.options.seconds is not None and search.seconds >= search.options.seconds:
                return StopReason.TIME
            if spent >= pacing.SLICE / 4:
                search.options.report(self._progress(done, note))
        return None

    def _progress(self, count: int, note: str) -> Progress:
        seconds, budget = self.exploration.seconds, self.exploration.options.seconds
        left = None if budget is None else max(0.0, budget - seconds)
        return Progress("liveness", count, "states", seconds, left=left, note=f"{self.result.prop.key}: {note}")

    def _record(self, states: WaitingStates) -> None:
        cursor, result = self.cursor, self.result
        result.starts, result.stuck = int(cursor[SccCursor.STARVING]), int(cursor[SccCursor.STUCK])
        if result.stuck:
            at = self.exploration.states.rows([int(cursor[SccCursor.FIRST_STUCK]) - 1])[0]
            result.bounds = blocking_bounds(self.exploration.kernel, at, states.fairness.constrained)
        if result.starts:
            result.first = int(cursor[SccCursor.FIRST_STARVING]) - 1
            result.lasso = LassoSearch(states).lasso_from(result.first)


def liveness_notes(results: Iterable[LivenessResult]) -> Iterator[str]:
    """Yield notes on waits for the verdict."""
    for result in results:
        key = result.prop.key
        if result.lasso is not None:
            yield f"{key}: no shorter path leads to the start of such a wait; its loop may not be the shortest."
        if result.stuck:
            bounds = ", ".join(result.bounds)
            yield (
                f"{key}: {result.stuck:,} loops or ends wait forever only because of a bound ({bounds}); "
                "they are no counterexamples. Raise the bound and search again."
            )
        if result.stop_reason is not None:
            yield f"{key} is not settled: its waits were not searched ({result.stop_reason.value})."


__all__ = ["LivenessResult", "check_liveness", "liveness_notes"]
