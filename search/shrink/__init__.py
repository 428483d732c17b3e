"""Shrinking: from any trace that violates a claim to a locally minimal one.

Words: a *behaviour* is the steps taken and the states they led through. A *replay* takes a list of steps from a state,
skips those that are disabled there, and ends at the first state that shows what is looked for. *Locally minimal* means
that replays find no shorter behaviour by leaving out any one step or pair of steps, nor by putting another step in the
place of one, nor searches along the behaviour. Only an exhaustive search can say *shortest*.
"""
from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from attrs import evolve

from model.language import Action, Claim, Kind, Model, UsageError, Vector
from search.kernel import Kernel
from search.shrink.beam import BeamSearch
from search.shrink.behaviour import Behaviour
from search.shrink.cast import Cast
from search.shrink.detour import by_detour
from search.shrink.replays import KernelReplays, SteppedReplays
from search.shrink.shrinker import Shrinker
from search.stepping import KernelStepper, PlainStepper
from search.trace import ReplayError, Trace, run

WIDTHS = (100, 1000, 3000)
"""How many states the beam searches keep of a level, from the quickest to the one that finds most."""


def shrink(
    model: Model, trace: Trace, *, kernel: Kernel | None = None, same: str = "claim", seconds: float | None = None
) -> Trace:
    """A locally minimal trace that violates the same claim (`same="invariant"`: any instance of its invariant).

    See `Minimizer`, which is the quicker one for many traces of one model.
    """
    return Minimizer(model, kernel).minimized(trace, same=same, seconds=seconds)


class Minimizer:
    """Minimizes traces of one model; what it needs room for is kept from one to the next.

    A kernel makes replays fast, and searches along the trace possible, one of each of the widths. With it a cast does
    in place of the model, for all but `minimized`.
    """

    def __init__(self, model: Model | Cast, kernel: Kernel | None = None, widths: Sequence[int] = WIDTHS) -> None:
        self.model: Any = model  # a cast has all that is needed here but functions, which only kernels do without
        self.kernel = kernel
        self._beams = [] if kernel is None else [BeamSearch(kernel, width) for width in widths]
        self._shrinkers: dict[tuple[Action | None, tuple[int, ...]], Shrinker] = {}

    def minimized(self, trace: Trace, *, same: str = "claim", seconds: float | None = None) -> Trace:
        """A locally minimal trace that violates the same claim (`same="invariant"`: any instance of its invariant).

        With `same="end"` an instance of the same action must lead to the violation of the claim, as a shorter trace to
        another bug would be no use to who wants to tell bugs from each other.
        It is verified by plain execution. A trace without a claim must end in a deadlock. When `seconds` run out the
        shortest so far comes back, and says that it may not be minimal. If a search has shown that none is shorter,
        it says so. UsageError if the trace does not show what it claims.
        """
        claims = _claims(self.model, trace, same)
        if any(claim.kind is Kind.EVENTUALLY for claim in claims):
            raise UsageError("A trace that never ends is not shrunk: its loop must stay as fair as it is.")
        given = [self.model.instance(key).index for key in trace.actions]
        shrinker = self.shrinker(claims, self.end_of(claims[0], given) if same == "end" and claims else None)
        best = shrinker.shrink(shrinker.stepper.start(trace.states[0]), given, seconds)
        if best is None:
            raise UsageError(
                f"Replaying the trace of {trace.length} steps does not show {trace.claim or 'a deadlock'} in this "
                "model; shrink it with the scenario, variant and bounds that it was found with."
            )
        return _verified(self.model, trace, claims, shrinker, best)

    def end_of(self, claim: Claim | None, steps: Sequence[int]) -> Action | None:
        """The action that makes a claim fail at the end of some steps.

        None where there is none: in an initial state, and in quiet and dead ones, where any step may be the last.
        """
        if not steps or claim is None or claim.kind is Kind.WHEN_QUIET:
            return None
        return self.model.instances[steps[-1]].action

    def shrinker(self, claims: Sequence[Claim], end: Action | None = None) -> Shrinker:
        """The shrinker of what violates any of some claims, by any action or one; without claims, of deadlocks."""
        key = (end, tuple(claim.index for claim in claims))
        if key not in self._shrinkers:
            ends = [i.index for i in self.model.instances if end is None or i.action is end]
            self._shrinkers[key] = self._made(claims, ends)
        return self._shrinkers[key]

    def _made(self, claims: Sequence[Claim], ends: Sequence[int]) -> Shrinker:
        if self.kernel is None:
            plain = PlainStepper(self.model, claims)
            starts = [plain.start(vector) for vector in self.model.initial]
            return Shrinker(plain, SteppedReplays(plain, frozenset(ends)), starts, (by_detour,))
        stepper, replays = KernelStepper(self.model, claims, self.kernel), KernelReplays(self.kernel, claims, ends)
        packed = [stepper.start(vector) for vector in self.model.initial]
        return Shrinker(stepper, replays, packed, [partial(beam.search, replays.quest) for beam in self._beams])


def _claims(model: Model, trace: Trace, same: str) -> tuple[Claim, ...]:
    """What is looked for; nothing for a deadlock."""
    if same not in ("claim", "invariant", "end"):
        raise UsageError(f"A shrunk trace keeps the same 'claim' or 'invariant', or also its 'end' (got {same!r}).")
    if trace.claim is None:
        return ()
    name = trace.claim if same != "invariant" else model.claims_of(trace.claim)[0].invariant.name
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
        shortest=_shortest(trace, shrinker, len(actions)),
        found_by=_how(trace, shrinker),
    )


def _shown(model: Model, claims: Sequence[Claim], states: tuple[Vector, ...]) -> str | None:
    """The key of the first claim that a behaviour shows at its end ("" for a deadlock); None if it shows nothing."""
    before = states[-2] if len(states) > 1 else None
    if not claims:
        return "" if PlainStepper(model, claims).shows(states[-1], before) else None
    return next((claim.key for claim in claims if PlainStepper(model, [claim]).shows(states[-1], before)), None)


def _shortest(trace: Trace, shrinker: Shrinker, length: int) -> str | None:
    """How it is known that nothing is shorter, if it is."""
    if trace.shortest and length == trace.length:
        return trace.shortest
    return f"exhaustive to depth {max(0, length - 1)}" if shrinker.is_proved else None


def _how(trace: Trace, shrinker: Shrinker) -> str:
    minimal = "not yet minimal: out of time" if shrinker.is_late else "locally minimal"
    return f"{trace.found_by or 'given'} in {trace.length} steps; {minimal}, {shrinker.replays} replays"
