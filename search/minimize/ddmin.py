"""The shrinker: shortens one behaviour by edits that are replayed, and by searches along it.

The edits are delta debugging, after Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input"
(TSE 2002), and more: loops and pairs of steps are removed, other initial states and other steps are tried.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

from attrs import frozen

from kwalk.search.kernel.stepping import Stepper
from kwalk.search.minimize.replay import Behaviour, Replayer

MAX_LENGTH_FOR_PAIRS = 40
"""Removing pairs takes time quadratic in the length: longer behaviours are not edited that way."""
MAX_STARTS = 32
"""How many other initial states are tried."""

Search = Callable[["Shrinker", Behaviour], Behaviour | None]
"""A search along a behaviour for a shorter one; None if it finds none."""


@frozen
class ShrinkResult:
    """The shortest behaviour found, and what is known of its minimality."""

    behaviour: Behaviour
    replays: int
    is_proved: bool
    """Whether a search has shown that no shorter behaviour exists."""
    timed_out: bool
    """Whether the time ran out before the behaviour was locally minimal. Never true of a proved result."""
    is_cached: bool = False
    """Whether the behaviour was known from an earlier finding."""

    @property
    def description(self) -> str:
        """How minimal the behaviour is, in words."""
        if self.timed_out:
            return f"not yet minimal: out of time, {self.replays} replays"
        return "locally minimal, as known" if self.is_cached else f"locally minimal, {self.replays} replays"

    @property
    def proof(self) -> str | None:
        """What proves that no shorter behaviour exists, for `Trace.shortest`; None if nothing does."""
        return f"exhaustive to depth {max(0, len(self.behaviour) - 1)}" if self.is_proved else None


class Shrinker:
    """Shortens one behaviour at a time.

    Args:
        stepper: takes single steps, and knows the target.
        replayer: replays lists of steps.
        starts: all initial states, as the stepper has them.
        searches: run in this order, from cheap to costly, when edits find nothing shorter.
    """

    def __init__(
        self, stepper: Stepper, replayer: Replayer, starts: Sequence[Any], searches: Sequence[Search] = ()
    ) -> None:
        self.stepper, self.starts = stepper, starts
        self.deadline: float | None = None
        self.replays, self.searches = 0, searches
        self.is_proved = False
        """Whether a search has shown that nothing is shorter: set by the search."""
        self._replayer = replayer
        self._allowed: Collection[int] | None = None

    @property
    def is_late(self) -> bool:
        """Whether the time for the present behaviour has run out."""
        return self.deadline is not None and time.monotonic() >= self.deadline

    def shrink(
        self,
        start: Any,
        steps: Sequence[int],
        seconds: float | None = None,
        *,
        allowed: Collection[int] | None = None,
    ) -> ShrinkResult | None:
        """Return the shortest behaviour found; None if a replay of the given one does not show the target.

        Args:
            start: the first state, as the stepper has it.
            steps: the numbers of the action instances.
            seconds: the time budget; None for no limit.
            allowed: steps that may be taken although the given behaviour does not take them; None for all.
        """
        self._allowed = allowed
        self.deadline = None if seconds is None else time.monotonic() + seconds
        self.replays, self.is_proved = 0, False
        best = self.replay(Behaviour((), (start,)), steps, len(steps) + 1)
        while best is not None:
            shorter = next((b for b in self._passes(best) if len(b) < len(best)), None)
            if shorter is None:
                return ShrinkResult(best, self.replays, self.is_proved, self.is_late and not self.is_proved)
            best = shorter
        return None

    def _passes(self, best: Behaviour) -> Iterator[Behaviour]:
        """Yield the results of the passes, from cheap to costly; a later one runs only when the earlier ones fail."""
        yield self.remove_loops(best)
        yield self.remove_chunks(best)
        yield from self._search_results(best, self.searches[:1])
        if not self.is_proved:
            yield self.change_start(best)
            yield self.remove_pairs(best)
            yield self.replace_steps(best)
            yield from self._search_results(best, self.searches[1:])

    def _search_results(self, best: Behaviour, searches: Sequence[Search]) -> Iterator[Behaviour]:
        for search in searches:
            if not self.is_late and not self.is_proved:
                yield search(self, best) or best

    def allows(self, step: int) -> bool:
        """Return whether a step may be taken that the given behaviour does not take."""
        return self._allowed is None or step in self._allowed

    def successors(self, state: Any) -> Iterator[tuple[int, Any]]:
        """Yield the allowed steps that are enabled in a state, and where they lead."""
        return ((step, after) for step, after in self.stepper.successors(state) if self.allows(step))

    def replay(self, behaviour: Behaviour, rest: Sequence[int], limit: int) -> Behaviour | None:
        """Extend a behaviour; return None unless it shows the target in fewer than `limit` steps."""
        self.replays += 1
        if not behaviour.steps and self.stepper.shows(behaviour.states[0], None):
            return behaviour
        return self._replayer.extend(behaviour, rest, limit)

    def edit(self, best: Behaviour, at: int, rest: Sequence[int], limit: int | None = None) -> Behaviour | None:
        """Replay the first `at` steps of a behaviour, then `rest`.

        Return None if that does not show the target in fewer than `limit` steps (by default, those of the behaviour),
        or if the time has run out.
        """
        if self.is_late:
            return None
        return self.replay(Behaviour(best.steps[:at], best.states[: at + 1]), rest, limit or len(best))

    def remove_loops(self, best: Behaviour) -> Behaviour:
        """Remove what leads from a state back to itself, but never the last step: a step property may be about it."""
        last = {state: at for at, state in enumerate(best.states[:-1])}
        steps, at = [], 0
        while at < len(best):
            at = last[best.states[at]]
            steps.append(best.steps[at])
            at += 1
        return self.edit(best, 0, steps) or best if len(steps) < len(best) else best

    def remove_chunks(self, best: Behaviour) -> Behaviour:
        """Remove halves, quarters, … single steps, from the end to the front (ddmin)."""
        size = max(1, len(best) // 2)
        while size:
            at = len(best)
            while at > 0:
                at = max(0, min(at, len(best)) - size)
                best = self.edit(best, at, best.steps[at + size :]) or best
            size //= 2
        return best

    def change_start(self, best: Behaviour) -> Behaviour:
        """Replay from other initial states, with all steps or all but one; stop at the first success."""
        others = (start for start in self.starts[:MAX_STARTS] if start != best.states[0])
        lists = [best.steps, *(best.steps[:at] + best.steps[at + 1 :] for at in range(len(best)))]
        tries = (self.edit(Behaviour((), (start,)), 0, steps, len(best)) for start in others for steps in lists)
        return next((shorter for shorter in tries if shorter is not None), best)

    def remove_pairs(self, best: Behaviour) -> Behaviour:
        """Remove two steps that are needed only together; stop at the first success."""
        if len(best) > MAX_LENGTH_FOR_PAIRS:
            return best
        pairs = ((i, j) for i in range(len(best)) for j in range(i + 1, len(best)))
        tries = (self.edit(best, i, best.steps[i + 1 : j] + best.steps[j + 1 :]) for i, j in pairs)
        return next((shorter for shorter in tries if shorter is not None), best)

    def replace_steps(self, best: Behaviour) -> Behaviour:
        """Replace one step by another, which may make later ones superfluous; stop at the first success."""
        others = ((at, other) for at in range(len(best)) for other, _ in self.successors(best.states[at]))
        tries = (self.edit(best, at, (other, *best.steps[at + 1 :])) for at, other in others)
        return next((shorter for shorter in tries if shorter is not None), best)
