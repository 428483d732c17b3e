"""Cached traces: a finding that an earlier one explains is not minimized again.

Words: *outside* steps are those of actors that are not the system: clients, operators, faults. A search for a shorter
trace takes no outside steps that the finding does not take, but any step of the system. A cached trace *explains* a
finding of the same target if the finding takes all outside steps of the trace and has the same *endpoints*: the first
state, and the properties violated in the last one. It has the endpoints of the trace itself, and of each finding that
was minimized to it. A cached trace is *trusted* after some searches from findings with the same endpoints have found
nothing shorter.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Sequence
from typing import Any

from attrs import define, evolve, field, frozen

from kwalk.search.minimize.ddmin import Shrinker, ShrinkResult
from kwalk.search.minimize.replay import Behaviour

SEARCHES_TO_TRUST = 3
"""After this many searches that find nothing shorter, a cached trace is trusted."""
MAX_TRACES = 1000
"""Cached traces of one target; a finding that none of them explains is always minimized."""


@frozen
class Endpoints:
    """The first state of a behaviour, and the names of the properties violated in its last state."""

    start: Any
    violated: frozenset[str]


@define(eq=False)
class CachedTrace:
    """A minimized behaviour, its outside steps, and for each of its endpoints how many searches confirmed it."""

    result: ShrinkResult
    outside: frozenset[int]
    searches: dict[Endpoints, int] = field(factory=dict)

    @property
    def length(self) -> int:
        """The number of steps."""
        return len(self.result.behaviour)

    def explains(self, endpoints: Endpoints, outside: frozenset[int]) -> bool:
        """Return whether the trace explains a finding with these endpoints and outside steps."""
        return endpoints in self.searches and self.outside <= outside

    def is_trusted(self, endpoints: Endpoints) -> bool:
        """Return whether a finding with these endpoints that the trace explains need not be minimized."""
        return self.result.is_proved or self.searches[endpoints] >= SEARCHES_TO_TRUST


class TraceCache:
    """Shrinks behaviours with one shrinker, and caches the results."""

    def __init__(self, shrinker: Shrinker, system: frozenset[int]) -> None:
        self.shrinker, self._system = shrinker, system
        self.new: list[Behaviour] = []
        """Behaviours that were added since the caller last took them from this list."""
        self._traces: list[CachedTrace] = []

    def shrink(self, start: Any, steps: Sequence[int], seconds: float | None = None) -> ShrinkResult | None:
        """Return the shortest behaviour found or cached; None if a replay does not show the target."""
        given = self.shrinker.replay(Behaviour((), (start,)), steps, len(steps) + 1)
        if given is None:
            return None
        endpoints, outside = self._endpoints(given), frozenset(given.steps) - self._system
        cached = next((t for t in self._traces if t.length <= len(given) and t.explains(endpoints, outside)), None)
        if cached is not None and cached.is_trusted(endpoints):
            return cached.result
        result = self.shrinker.shrink(start, given.steps, seconds, allowed=self._system | outside)
        if result is None or result.timed_out:
            return result
        if cached is not None and len(result.behaviour) >= cached.length:
            cached.searches[endpoints] += 1
            return cached.result
        self._add(endpoints, result)
        return result

    def _endpoints(self, behaviour: Behaviour) -> Endpoints:
        return Endpoints(behaviour.states[0], self.shrinker.stepper.symptoms(behaviour.states[-1]))

    def _add(self, endpoints: Endpoints, result: ShrinkResult) -> None:
        """Cache the result for a finding with these endpoints."""
        cached = self._trace_of(result)
        if not cached.searches:
            cached.searches[self._endpoints(result.behaviour)] = 0
            self.new.append(result.behaviour)
        cached.searches[endpoints] = cached.searches.get(endpoints, 0) + 1

    def offer(self, start: Any, steps: Sequence[int]) -> None:
        """Cache steps if they show the target in their last state only; one search makes the trace trusted."""
        found = self.shrinker.replay(Behaviour((), (start,)), steps, len(steps) + 1)
        if found is not None and found.steps == tuple(steps):
            cached = self._trace_of(ShrinkResult(found, replays=1, is_proved=False, timed_out=False))
            cached.searches.setdefault(self._endpoints(found), SEARCHES_TO_TRUST - 1)

    def _trace_of(self, result: ShrinkResult) -> CachedTrace:
        """Return the cached trace of a behaviour; a new one if there is none."""
        best = result.behaviour
        cached = next((trace for trace in self._traces if trace.result.behaviour == best), None)
        if cached is None:
            cached = CachedTrace(evolve(result, is_cached=True), frozenset(best.steps) - self._system)
            if len(self._traces) < MAX_TRACES:
                insort(self._traces, cached, key=lambda trace: trace.length)
        return cached
