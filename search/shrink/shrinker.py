"""The shrinker: it shortens one behaviour by edits that are replayed, and by searches along it.

Delta debugging, after Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input" (TSE 2002).
"""
from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

from attrs import frozen

from search.shrink.behaviour import Behaviour
from search.shrink.replays import Replays
from search.stepping import Stepper

PAIRS = 40
"""Leaving out pairs costs the square of the length: longer behaviours than this are spared it."""
STARTS = 32
"""How many other initial states are tried."""

Search = Callable[["Shrinker", Behaviour], Behaviour | None]
"""A search along a behaviour for a shorter one; None if there is none to be found."""


@frozen
class Shrunk:
    """What shrinking came to, by how many replays, and how sure it is."""

    behaviour: Behaviour
    replays: int
    is_proved: bool
    """Whether a search has shown that nothing is shorter."""
    is_late: bool
    """Whether the time was over before it was locally minimal."""
    is_recalled: bool = False
    """Whether it was known from another finding."""

    @property
    def how(self) -> str:
        """How minimal it is, in words."""
        if self.is_late:
            return f"not yet minimal: out of time, {self.replays} replays"
        return "locally minimal, as known" if self.is_recalled else f"locally minimal, {self.replays} replays"


class Shrinker:
    """Shortens one behaviour. `searches` are asked for a shorter one, from cheap to costly, when edits find none."""

    def __init__(
        self,
        stepper: Stepper,
        replays: Replays,
        starts: Sequence[Any],
        searches: Sequence[Search] = (),
    ) -> None:
        self.stepper, self.starts = stepper, starts
        self.end: float | None = None
        self.replays, self.searches = 0, searches
        self.is_proved = False
        """Whether a search has shown that nothing is shorter: set by the search."""
        self._replays = replays
        self._allowed: Collection[int] | None = None

    @property
    def is_late(self) -> bool:
        """Whether the time for the present behaviour is over."""
        return self.end is not None and time.monotonic() >= self.end

    def shrink(
        self,
        start: Any,
        steps: Sequence[int],
        seconds: float | None = None,
        *,
        allowed: Collection[int] | None = None,
    ) -> Shrunk | None:
        """The shortest behaviour found; None if replaying the given one shows nothing.

        `allowed` are the steps that may be taken though the given behaviour does not; None for all.
        """
        self._allowed = allowed
        self.end = None if seconds is None else time.monotonic() + seconds
        self.replays, self.is_proved = 0, False
        best = self.replay(Behaviour((), (start,)), steps, len(steps) + 1)
        while best is not None:
            shorter = next((b for b in self._passes(best) if len(b) < len(best)), None)
            if shorter is None:
                return Shrunk(best, self.replays, self.is_proved, self.is_late)
            best = shorter
        return None

    def _passes(self, best: Behaviour) -> Iterator[Behaviour]:
        """From cheap to costly; a later one is asked only when the earlier ones are at their end."""
        yield self.without_loops(best)
        yield self.without_chunks(best)
        yield from self._searched(best, self.searches[:1])
        if not self.is_proved:
            yield self.from_other_starts(best)
            yield self.without_pairs(best)
            yield self.with_another_step(best)
            yield from self._searched(best, self.searches[1:])

    def _searched(self, best: Behaviour, searches: Sequence[Search]) -> Iterator[Behaviour]:
        for search in searches:
            if not self.is_late and not self.is_proved:
                yield search(self, best) or best

    def allows(self, step: int) -> bool:
        """Whether a step may be taken that the given behaviour has not."""
        return self._allowed is None or step in self._allowed

    def successors(self, state: Any) -> Iterator[tuple[int, Any]]:
        """The allowed steps that can be taken in a state, and where they lead."""
        return ((step, after) for step, after in self.stepper.successors(state) if self.allows(step))

    def replay(self, behaviour: Behaviour, rest: Sequence[int], limit: int) -> Behaviour | None:
        """Go on from a behaviour; None unless that shows what is looked for in fewer than `limit` steps."""
        self.replays += 1
        if not behaviour.steps and self.stepper.shows(behaviour.states[0], None):
            return behaviour
        return self._replays.go_on(behaviour, rest, limit)

    def edited(self, best: Behaviour, at: int, rest: Sequence[int], limit: int | None = None) -> Behaviour | None:
        """The first `at` steps of a behaviour, then `rest`; None if that shows nothing before the limit, its length."""
        if self.is_late:
            return None
        return self.replay(Behaviour(best.steps[:at], best.states[: at + 1]), rest, limit or len(best))

    def without_loops(self, best: Behaviour) -> Behaviour:
        """Leave out what leads from a state back to itself; the last step stays, as a step claim may be about it."""
        last = {state: at for at, state in enumerate(best.states[:-1])}
        steps, at = [], 0
        while at < len(best):
            at = last[best.states[at]]
            steps.append(best.steps[at])
            at += 1
        return self.edited(best, 0, steps) or best if len(steps) < len(best) else best

    def without_chunks(self, best: Behaviour) -> Behaviour:
        """Delta debugging: leave out halves, quarters, … single steps, from the end to the front."""
        size = max(1, len(best) // 2)
        while size:
            at = len(best)
            while at > 0:
                at = max(0, min(at, len(best)) - size)
                best = self.edited(best, at, best.steps[at + size :]) or best
            size //= 2
        return best

    def from_other_starts(self, best: Behaviour) -> Behaviour:
        """Replay from other initial states, all steps or all but one; the first success ends it."""
        others = (start for start in self.starts[:STARTS] if start != best.states[0])
        lists = [best.steps, *(best.steps[:at] + best.steps[at + 1 :] for at in range(len(best)))]
        tries = (self.edited(Behaviour((), (start,)), 0, steps, len(best)) for start in others for steps in lists)
        return next((shorter for shorter in tries if shorter is not None), best)

    def without_pairs(self, best: Behaviour) -> Behaviour:
        """Leave out two steps that are no use without each other; the first success ends it."""
        if len(best) > PAIRS:
            return best
        pairs = ((i, j) for i in range(len(best)) for j in range(i + 1, len(best)))
        tries = (self.edited(best, i, best.steps[i + 1 : j] + best.steps[j + 1 :]) for i, j in pairs)
        return next((shorter for shorter in tries if shorter is not None), best)

    def with_another_step(self, best: Behaviour) -> Behaviour:
        """Put another step in the place of one, and see what that makes superfluous; the first success ends it."""
        others = ((at, other) for at in range(len(best)) for other, _ in self.successors(best.states[at]))
        tries = (self.edited(best, at, (other, *best.steps[at + 1 :])) for at, other in others)
        return next((shorter for shorter in tries if shorter is not None), best)
