"""Shrinking: from any trace that violates a claim to a locally minimal one.

Words: a *behaviour* is the steps taken and the states they led through. A *replay* takes a list of steps from a state,
skips those that are disabled there, and ends at the first state that shows what is looked for. *Locally minimal* means
that replays find no shorter behaviour by leaving out any one step or pair of steps, nor by putting another step in the
place of one, nor a small search around its states by a *detour*. Only an exhaustive search can say *shortest*.

Delta debugging, after Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input" (TSE 2002).
"""
from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from attrs import evolve, frozen

from model.language import Claim, Kind, Model, UsageError, Vector
from search.kernel import Kernel
from search.stepping import KernelStepper, PlainStepper, Stepper
from search.trace import ReplayError, Trace, run

PAIRS = 40
"""Leaving out pairs costs the square of the length: longer behaviours than this are spared it."""
STARTS = 32
"""How many other initial states are tried."""


def shrink(
    model: Model, trace: Trace, *, kernel: Kernel | None = None, same: str = "claim", seconds: float | None = None
) -> Trace:
    """A locally minimal trace that violates the same claim (`same="invariant"`: any instance of its invariant).

    A kernel makes the replays fast; the result is always verified by plain execution. A trace without a claim must
    end in a deadlock. When `seconds` run out the shortest so far comes back, and says that it may not be minimal.
    UsageError if the trace does not show what it claims.
    """
    claims = _claims(model, trace, same)
    if any(claim.kind is Kind.EVENTUALLY for claim in claims):
        raise UsageError("A trace that never ends is not shrunk: its loop must stay as fair as it is.")
    stepper: Stepper = PlainStepper(model, claims) if kernel is None else KernelStepper(model, claims, kernel)
    shrinker = Shrinker(stepper, [stepper.start(vector) for vector in model.initial], _until(seconds))
    given = [model.instance(key).index for key in trace.actions]
    best = shrinker.shrink(stepper.start(trace.states[0]), given)
    if best is None:
        raise UsageError(
            f"Replaying the trace of {trace.length} steps does not show {trace.claim or 'a deadlock'} in this model; "
            "shrink it with the scenario, variant and bounds that it was found with."
        )
    return _verified(model, trace, claims, shrinker, best)


@frozen
class Behaviour:
    """Steps, and the states they lead through: one more than steps."""

    steps: tuple[int, ...]
    states: tuple[Any, ...]

    def __len__(self) -> int:
        return len(self.steps)


class Shrinker:
    """Shortens one behaviour by replays of edited lists of its steps."""

    def __init__(self, stepper: Stepper, starts: Sequence[Any], until: Callable[[], bool]) -> None:
        self.stepper, self.starts, self.is_late = stepper, starts, until
        self.replays = 0

    def shrink(self, start: Any, steps: Sequence[int]) -> Behaviour | None:
        """The shortest behaviour found; None if replaying the given one shows nothing."""
        best = self.replay(Behaviour((), (start,)), steps, len(steps) + 1)
        while best is not None:
            shorter = next((b for b in self._passes(best) if len(b) < len(best)), None)
            if shorter is None:
                return best
            best = shorter
        return None

    def _passes(self, best: Behaviour) -> Iterator[Behaviour]:
        """From cheap to costly; a later one is asked only when the earlier ones are at their end."""
        yield self.without_loops(best)
        yield self.without_chunks(best)
        yield self.from_other_starts(best)
        yield self.without_pairs(best)
        yield self.with_another_step(best)
        yield self.by_detour(best)

    def replay(self, behaviour: Behaviour, rest: Sequence[int], limit: int) -> Behaviour | None:
        """Go on from a behaviour; None unless that shows what is looked for in fewer than `limit` steps."""
        self.replays += 1
        steps, states = list(behaviour.steps), list(behaviour.states)
        if not steps and self.stepper.shows(states[0], None):
            return behaviour
        for instance in rest:
            if len(steps) + 1 >= limit:
                return None
            if self._take(instance, steps, states):
                return Behaviour(tuple(steps), tuple(states))
        return self._settle(steps, states, limit) if self.stepper.needs_quiet else None

    def _take(self, instance: int, steps: list[int], states: list[Any]) -> bool:
        """Take a step if it is enabled; whether that shows what is looked for."""
        after = self.stepper.step(instance, states[-1])
        if after is None:
            return False
        steps.append(instance)
        states.append(after)
        return self.stepper.shows(after, states[-2])

    def _settle(self, steps: list[int], states: list[Any], limit: int) -> Behaviour | None:
        """Let the system act, the first enabled instance each time, until that shows what is looked for."""
        while len(steps) + 1 < limit:
            step = next(self.stepper.successors(states[-1], system=True), None)
            if step is None:
                return None
            if self._take(step[0], steps, states):
                return Behaviour(tuple(steps), tuple(states))
        return None

    def edited(self, best: Behaviour, at: int, rest: Sequence[int], limit: int | None = None) -> Behaviour | None:
        """The first `at` steps of a behaviour, then `rest`; None if that shows nothing before the limit, its length."""
        if self.is_late():
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
        others = ((at, other) for at in range(len(best)) for other, _ in self.stepper.successors(best.states[at]))
        tries = (self.edited(best, at, (other, *best.steps[at + 1 :])) for at, other in others)
        return next((shorter for shorter in tries if shorter is not None), best)

    def by_detour(self, best: Behaviour) -> Behaviour:
        """Search around each state for a shorter way to a later one, or to what is looked for; the first ends it."""
        tries = (self._detour(best, at) for at in range(len(best)) if not self.is_late())
        return next((shorter for shorter in tries if shorter is not None), best)

    def _detour(self, best: Behaviour, at: int) -> Behaviour | None:
        """Breadth-first from a state of a behaviour, through as many states as the stepper is patient for."""
        later = {state: place for place, state in enumerate(best.states) if place > at + 1}
        search = Detour(self.stepper, best.states[at], later)
        for depth in range(1, len(best) - at):
            met = search.deeper(at + depth)
            if met is not None:
                return self.edited(best, at, [*met.steps, *(() if met.place is None else best.steps[met.place :])])
        return None


@frozen
class Met:
    """What a detour met: by which steps, and at which place of the behaviour to go on (None: this is the end)."""

    steps: tuple[int, ...]
    place: int | None


class Detour:
    """A breadth-first search, level by level, for what is looked for or for a state further on in a behaviour."""

    def __init__(self, stepper: Stepper, start: Any, later: Mapping[Any, int]) -> None:
        self.stepper, self.later, self.left = stepper, later, stepper.patience
        self.level = [start]
        self.origins: dict[Any, tuple[Any, int] | None] = {start: None}

    def deeper(self, length: int) -> Met | None:
        """Search the next level, whose states would be `length` steps from the beginning of the behaviour."""
        level, self.level = self.level, []
        for state in level:
            self.left -= 1
            for step, after in self.stepper.successors(state) if self.left > 0 else ():
                if (after not in self.origins or self.stepper.in_steps) and self.stepper.shows(after, state):
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


def _until(seconds: float | None) -> Callable[[], bool]:
    end = None if seconds is None else time.monotonic() + seconds
    return lambda: end is not None and time.monotonic() >= end


def _claims(model: Model, trace: Trace, same: str) -> tuple[Claim, ...]:
    """What is looked for; nothing for a deadlock."""
    if same not in ("claim", "invariant"):
        raise UsageError(f"A shrunk trace keeps the same 'claim' or 'invariant' (got {same!r}).")
    if trace.claim is None:
        return ()
    name = trace.claim if same == "claim" else model.claims_of(trace.claim)[0].invariant.name
    return model.claims_of(name)


def _verified(model: Model, trace: Trace, claims: Sequence[Claim], shrinker: Shrinker, best: Behaviour) -> Trace:
    """The trace of a behaviour, by plain execution; ReplayError if that does not agree with the stepper."""
    starts = dict(zip(shrinker.starts, model.initial, strict=True))
    actions = tuple(model.instances[step].key for step in best.steps)
    states = run(model, starts.get(best.states[0], trace.states[0]), actions)
    shown = _shown(model, claims, states)
    if shown is None:
        raise ReplayError(
            f"The shrunk trace of {len(actions)} steps does not show {trace.claim or 'a deadlock'} in plain execution: "
            "the kernel and the model disagree. Delete the kernel cache; report this if it happens again."
        )
    return evolve(
        trace,
        states=states,
        actions=actions,
        claim=shown or None,
        shortest=trace.shortest if len(actions) == trace.length else None,
        found_by=_how(trace, shrinker),
    )


def _shown(model: Model, claims: Sequence[Claim], states: tuple[Vector, ...]) -> str | None:
    """The key of the first claim that a behaviour shows at its end ("" for a deadlock); None if it shows nothing."""
    before = states[-2] if len(states) > 1 else None
    if not claims:
        return "" if PlainStepper(model, claims).shows(states[-1], before) else None
    return next((claim.key for claim in claims if PlainStepper(model, [claim]).shows(states[-1], before)), None)


def _how(trace: Trace, shrinker: Shrinker) -> str:
    minimal = "not yet minimal: out of time" if shrinker.is_late() else "locally minimal"
    return f"{trace.found_by or 'given'} in {trace.length} steps; {minimal}, {shrinker.replays} replays"
