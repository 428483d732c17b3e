"""Known traces: a finding that an earlier one tells is not searched again.

Words: *outside* steps are those of actors that are not the system: clients, operators, faults. A search for a shorter
trace takes no outside steps that the finding does not take, but whatever the system can do. A known trace *tells* a
finding of the same claim by the same action if the finding takes all of the trace's outside steps, and has the same
*ends*: it begins in a state, and violates invariants in the end, as the trace does, or as another finding did whose
search came to the trace. A known trace is *trusted* when some searches of findings with the same ends found nothing
shorter.
"""
from __future__ import annotations

from bisect import insort
from collections.abc import Sequence
from typing import Any

from attrs import define, evolve, field, frozen

from search.shrink.behaviour import Behaviour
from search.shrink.shrinker import Shrinker, Shrunk

TRIES = 3
"""So many searches that find nothing shorter make a known trace trusted."""
MOST = 1000
"""Known traces that are kept of one claim; what none of them tells is always searched."""


@frozen
class Ends:
    """The state in which a behaviour begins, and the names of the invariants violated where it ends."""

    start: Any
    violated: frozenset[str]


@define(eq=False)
class KnownTrace:
    """A minimized behaviour, its outside steps, and for each ends that it tells how many searches it has withstood."""

    shrunk: Shrunk
    outside: frozenset[int]
    tries: dict[Ends, int] = field(factory=dict)

    @property
    def length(self) -> int:
        """The number of steps."""
        return len(self.shrunk.behaviour)

    def tells(self, ends: Ends, outside: frozenset[int]) -> bool:
        """Whether it tells a finding with these ends and outside steps."""
        return ends in self.tries and self.outside <= outside

    def is_trusted(self, ends: Ends) -> bool:
        """Whether a finding with these ends that it tells need not be searched."""
        return self.shrunk.is_proved or self.tries[ends] >= TRIES


class Known:
    """Shrinks behaviours by one shrinker, and remembers what became of them."""

    def __init__(self, shrinker: Shrinker, system: frozenset[int]) -> None:
        self.shrinker, self._system = shrinker, system
        self.learned: list[Behaviour] = []
        """What was learned since somebody has taken it from here."""
        self._traces: list[KnownTrace] = []

    def shrink(self, start: Any, steps: Sequence[int], seconds: float | None = None) -> Shrunk | None:
        """The shortest behaviour found or known; None if replaying the given one shows nothing."""
        given = self.shrinker.replay(Behaviour((), (start,)), steps, len(steps) + 1)
        if given is None:
            return None
        ends, outside = self._ends(given), frozenset(given.steps) - self._system
        told = next((t for t in self._traces if t.length <= len(given) and t.tells(ends, outside)), None)
        if told is not None and told.is_trusted(ends):
            return told.shrunk
        shrunk = self.shrinker.shrink(start, given.steps, seconds, allowed=self._system | outside)
        if shrunk is None or shrunk.is_late:
            return shrunk
        if told is not None and len(shrunk.behaviour) >= told.length:
            told.tries[ends] += 1
            return told.shrunk
        self._learn(ends, shrunk)
        return shrunk

    def _ends(self, behaviour: Behaviour) -> Ends:
        return Ends(behaviour.states[0], self.shrinker.stepper.symptoms(behaviour.states[-1]))

    def _learn(self, ends: Ends, shrunk: Shrunk) -> None:
        """Remember what the search for a finding with these ends came to."""
        known = self._known_as(shrunk)
        if not known.tries:
            known.tries[self._ends(shrunk.behaviour)] = 0
            self.learned.append(shrunk.behaviour)
        known.tries[ends] = known.tries.get(ends, 0) + 1

    def offer(self, start: Any, steps: Sequence[int]) -> None:
        """Let it be known, if the steps show what is looked for, and only in the end; one search makes it trusted."""
        found = self.shrinker.replay(Behaviour((), (start,)), steps, len(steps) + 1)
        if found is not None and found.steps == tuple(steps):
            known = self._known_as(Shrunk(found, replays=1, is_proved=False, is_late=False))
            known.tries.setdefault(self._ends(found), TRIES - 1)

    def _known_as(self, shrunk: Shrunk) -> KnownTrace:
        """The known trace of a behaviour, which may be new."""
        best = shrunk.behaviour
        known = next((trace for trace in self._traces if trace.shrunk.behaviour == best), None)
        if known is None:
            known = KnownTrace(evolve(shrunk, is_recalled=True), frozenset(best.steps) - self._system)
            if len(self._traces) < MOST:
                insort(self._traces, known, key=lambda trace: trace.length)
        return known
