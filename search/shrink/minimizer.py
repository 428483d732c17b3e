"""The minimizer: from traces to traces, by shrinkers of what each of them shows, confirmed by plain execution.

Words: an *aim* is what shows at the end of a trace: violated claims, and perhaps the action that leads there.
"""
from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np
from attrs import evolve, frozen

from model.language import Action, Claim, Kind, Model, UsageError, Vector
from search.kernel import Kernel, bit_numbers
from search.shrink.beam import BeamSearch
from search.shrink.behaviour import Behaviour
from search.shrink.cast import Cast
from search.shrink.detour import by_detour
from search.shrink.known import Known
from search.shrink.renaming import Renamings
from search.shrink.replays import KernelReplays, SteppedReplays
from search.shrink.shrinker import Shrinker, Shrunk
from search.stepping import KernelStepper, PlainStepper
from search.trace import ReplayError, Trace, run

WIDTHS = (100, 1000, 3000)
"""How many states the beam searches keep of a level, from the quickest to the one that finds most."""
CONFIRMED = 200
"""Confirmed behaviours that are remembered."""


@frozen
class Aim:
    """What a trace shows: a violation of any of some claims (none: a deadlock), led to by this action, or by any."""

    claims: tuple[Claim, ...]
    end: Action | None = None


class Minimizer:
    """Minimizes traces of one model; what it needs room for is kept from one to the next.

    A kernel makes replays fast, and searches along the trace possible, one of each of the widths. One that `remembers`
    does not search again for what it has found already, and keeps to what the outside does in a trace: see
    `search.shrink.known`. With a kernel a cast does in place of the model, for all but `minimized`.
    """

    def __init__(
        self,
        model: Model | Cast,
        kernel: Kernel | None = None,
        widths: Sequence[int] = WIDTHS,
        *,
        remembers: bool = False,
    ) -> None:
        self.model: Any = model  # a cast has all that is needed here but functions, which only kernels do without
        self.kernel, self._remembers = kernel, remembers
        self._beams = [] if kernel is None else [BeamSearch(kernel, width) for width in widths]
        self._starts = dict(zip(model.initial, _stepped(model.initial, kernel), strict=True))
        self._vectors = {start: vector for vector, start in self._starts.items()}
        self._shrinkers: dict[Aim, Shrinker] = {}
        self._known: dict[Aim, Known] = {}
        self._confirmed: dict[tuple[Aim, Behaviour], tuple[tuple[Vector, ...], str | None]] = {}

    def minimized(self, trace: Trace, *, same: str = "claim", seconds: float | None = None) -> Trace:
        """A locally minimal trace that violates the same claim (`same="invariant"`: any instance of its invariant).

        With `same="end"` an instance of the same action must lead to the violation of the claim, as a shorter trace to
        another bug would be no use to who wants to tell bugs from each other.
        It is verified by plain execution. A trace without a claim must end in a deadlock. When `seconds` run out the
        shortest so far comes back, and says that it may not be minimal. If a search has shown that none is shorter,
        it says so. UsageError if the trace does not show what it claims.
        """
        given = [self.model.instance(key).index for key in trace.actions]
        aim = self._aim(trace, given, same)
        shrunk = self.shrunk(aim, self._start(trace), given, seconds)
        if shrunk is None:
            raise UsageError(
                f"Replaying the trace of {trace.length} steps does not show {trace.claim or 'a deadlock'} in this "
                "model; shrink it with the scenario, variant and bounds that it was found with."
            )
        return self._verified(trace, aim, shrunk)

    def aim(self, claim: Claim | None, steps: Sequence[int]) -> Aim:
        """The aim that keeps a claim (None: a deadlock) and the action that makes it fail at the end of some steps.

        There is no such action in an initial state, nor in quiet and dead ones, where any step may be the last.
        """
        if not steps or claim is None or claim.kind is Kind.WHEN_QUIET:
            return Aim(() if claim is None else (claim,))
        return Aim((claim,), self.model.instances[steps[-1]].action)

    def shrunk(self, aim: Aim, start: Any, steps: Sequence[int], seconds: float | None = None) -> Shrunk | None:
        """What a behaviour shrinks to, not yet verified by plain execution; None if replaying it shows nothing.

        `start` is a vector, packed where there is a kernel.
        """
        if not self._remembers:
            return self.shrinker(aim).shrink(start, steps, seconds)
        known = self._known_of(aim)
        shrunk = known.shrink(start, steps, seconds)
        while known.learned:
            self._offer(aim, known.learned.pop())
        return shrunk

    def _known_of(self, aim: Aim) -> Known:
        if aim not in self._known:
            self._known[aim] = Known(self.shrinker(aim), self._system)
        return self._known[aim]

    def _offer(self, aim: Aim, behaviour: Behaviour) -> None:
        """Let it be known what was learned, with other members of the domains too."""
        for claims, steps in self._renamings.of([claim.index for claim in aim.claims], behaviour.steps):
            other = Aim(tuple(self.model.claims[number] for number in claims), aim.end)
            self._known_of(other).offer(behaviour.states[0], steps)

    @cached_property
    def _renamings(self) -> Renamings:
        return Renamings(self.model)

    def forget(self) -> None:
        """Search for everything anew, as one does who has minimized nothing yet."""
        self._known.clear()

    @cached_property
    def _system(self) -> frozenset[int]:
        """The instances whose actors are the system."""
        if self.kernel is not None:
            return frozenset(bit_numbers(self.kernel.system_row))
        return frozenset(instance.index for instance in self.model.instances if instance.action.by.system)

    def shrinker(self, aim: Aim) -> Shrinker:
        """The shrinker of behaviours with this aim."""
        if aim not in self._shrinkers:
            self._shrinkers[aim] = self._made(aim)
        return self._shrinkers[aim]

    def _aim(self, trace: Trace, steps: Sequence[int], same: str) -> Aim:
        if same not in ("claim", "invariant", "end"):
            raise UsageError(f"A shrunk trace keeps the same 'claim' or 'invariant', or also its 'end' (got {same!r}).")
        claims = () if trace.claim is None else self.model.claims_of(trace.claim)
        if any(claim.kind is Kind.EVENTUALLY for claim in claims):
            raise UsageError("A trace that never ends is not shrunk: its loop must stay as fair as it is.")
        if same == "invariant" and claims:
            claims = self.model.claims_of(claims[0].invariant.name)
        return self.aim(claims[0], steps) if same == "end" and claims else Aim(claims)

    def _made(self, aim: Aim) -> Shrinker:
        ends, starts = [i.index for i in self.model.instances if aim.end in (None, i.action)], list(self._vectors)
        if self.kernel is None:
            plain = PlainStepper(self.model, aim.claims)
            return Shrinker(plain, SteppedReplays(plain, frozenset(ends)), starts, (by_detour,))
        stepper = KernelStepper(self.model, aim.claims, self.kernel)
        replays = KernelReplays(self.kernel, aim.claims, ends)
        return Shrinker(stepper, replays, starts, [partial(beam.search, replays.quest) for beam in self._beams])

    def _start(self, trace: Trace) -> Any:
        vector = trace.states[0]
        return self._starts[vector] if vector in self._starts else _stepped([vector], self.kernel)[0]

    def _verified(self, trace: Trace, aim: Aim, shrunk: Shrunk) -> Trace:
        """The trace of a behaviour, by plain execution; ReplayError if that does not agree with the stepper."""
        best = shrunk.behaviour
        actions = tuple(self.model.instances[step].key for step in best.steps)
        if (aim, best) not in self._confirmed:
            states = run(self.model, self._vectors.get(best.states[0], trace.states[0]), actions)
            if len(self._confirmed) >= CONFIRMED:
                self._confirmed.clear()
            self._confirmed[aim, best] = states, self._shown(aim, trace, states)
        states, claim = self._confirmed[aim, best]
        proved = f"exhaustive to depth {max(0, len(best) - 1)}" if shrunk.is_proved else None
        return evolve(
            trace, states=states, actions=actions, claim=claim,
            shortest=(trace.shortest if len(best) == trace.length else None) or proved,
            found_by=f"{trace.found_by or 'given'} in {trace.length} steps; {shrunk.how}",
        )  # fmt: skip

    def _shown(self, aim: Aim, trace: Trace, states: tuple[Vector, ...]) -> str | None:
        """The key of the first claim that is violated at the end of a behaviour; None for a deadlock."""
        before = states[-2] if len(states) > 1 else None
        looked_for: list[tuple[Claim, ...]] = [(claim,) for claim in aim.claims] or [()]
        for claims in looked_for:
            if PlainStepper(self.model, claims).shows(states[-1], before):
                return claims[0].key if claims else None
        raise ReplayError(
            f"The shrunk trace of {len(states) - 1} steps does not show {trace.claim or 'a deadlock'} in plain "
            "execution: the kernel and the model disagree. Delete the kernel cache; report this if it happens again."
        )


def _stepped(vectors: Sequence[Vector], kernel: Kernel | None) -> list[Any]:
    """States as a stepper has them, of some vectors."""
    if kernel is None:
        return list(vectors)
    return [row.tobytes() for row in kernel.pack(np.array(vectors, np.int64).reshape(len(vectors), -1))]
