"""Shrinking: from any trace that violates a property to a locally minimal one, confirmed by plain execution.

Words: a *replay* takes a list of steps from a state, skips those that are disabled there, and ends at the first state
that shows the target. A behaviour is *locally minimal* if replays find no shorter one by removing any one step or pair
of steps, nor by replacing one step by another, nor do searches along the behaviour. Only an exhaustive search can prove
that a trace is the *shortest*.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property, partial
from typing import Any

import numpy as np
from attrs import evolve, frozen

from kwalk.model.language import Action, Kind, Model, PropertyInstance, UsageError, Vector
from kwalk.search.kernel.compile.compiler import kernel_for
from kwalk.search.kernel.interface import Kernel, bit_numbers
from kwalk.search.kernel.stepping import KernelStepper, PlainStepper
from kwalk.search.minimize.beam import BeamSearch
from kwalk.search.minimize.ddmin import Shrinker, ShrinkResult
from kwalk.search.minimize.local_search import local_search
from kwalk.search.minimize.model_signature import ModelSignature, Renamings
from kwalk.search.minimize.replay import Behaviour, KernelReplayer, StepwiseReplayer
from kwalk.search.minimize.trace_cache import TraceCache
from kwalk.search.results.trace import ReplayError, Trace, run
from kwalk.search.results.verdict import Verdict

SHRINK_SECONDS = 10.0
"""The time budget for shrinking one finding of a verdict."""
SECONDS_AFTER_INTERRUPT = 2.0
"""The time budget for minimizing all findings of a run that Ctrl-C has ended."""
BEAM_WIDTHS = (100, 1000, 3000)
"""The widths of the beam searches, from the quickest to the one that finds most."""
MAX_CONFIRMED = 200
"""Confirmed behaviours that are cached."""
SAME = ("instance", "property", "action")
"""What a shrunk trace can keep; see `shrink`."""


def shrink(
    model: Model, trace: Trace, *, kernel: Kernel | None = None, same: str = "instance", seconds: float | None = None
) -> Trace:
    """Return a locally minimal trace for what a trace shows. A `Minimizer` is quicker for many traces of one model.

    Args:
        model: the model of the trace.
        trace: ends where a property is violated or witnessed, or, without a property, in a deadlock.
        kernel: makes replays fast, and searches along the trace possible.
        same: "instance" keeps the property instance; "property" accepts any instance of the property; "action" keeps
            the property instance and the action that leads to it.
        seconds: the time budget; None for no limit.

    Returns:
        The shortest trace found, confirmed by plain execution. `found_by` states whether it is locally minimal, and
        `shortest` what proves that none is shorter, if anything does.

    Raises:
        UsageError: the trace does not show its property in this model, or is a lasso.
    """
    return Minimizer(model, kernel).minimize(trace, same=same, seconds=seconds)


def minimize_findings(
    model: Model, verdict: Verdict, *, seconds: float = SHRINK_SECONDS, most: int | None = None
) -> Verdict:
    """Return the verdict with a locally minimal trace for each finding, or for the first `most` of them.

    Each trace gets `seconds`, and all of them together SECONDS_AFTER_INTERRUPT if Ctrl-C has ended the run. Traces that
    are proved to be the shortest stay as they are; so do the remaining ones on Ctrl-C, and when the time runs out.
    """
    findings = list(verdict.findings)
    minimizer: Minimizer | None = None
    deadline = time.monotonic() + SECONDS_AFTER_INTERRUPT if verdict.is_interrupted else float("inf")
    with suppress(KeyboardInterrupt):
        for number, finding in enumerate(findings[:most]):
            left = min(seconds, deadline - time.monotonic())
            if left > 0 and finding.trace is not None and not finding.trace.shortest:
                minimizer = minimizer or Minimizer(model, kernel_for(model))
                findings[number] = evolve(finding, trace=minimizer.minimize(finding.trace, seconds=left))
    return evolve(verdict, findings=tuple(findings))


@frozen
class MinimizationTarget:
    """What a trace shows: a violation of any of some property instances (none: a deadlock).

    With `final_action`, an instance of that action must lead to it.
    """

    properties: tuple[PropertyInstance, ...]
    final_action: Action | None = None


class Minimizer:
    """Minimizes traces of one model; buffers are kept from one trace to the next.

    Args:
        model: the model; its signature suffices with a kernel, for everything but `minimize`.
        kernel: makes replays fast, and beam searches along the trace possible.
        widths: the widths of these beam searches.
        cached: look up what was found before, and take no outside steps that the given trace does not take; see
            `kwalk.search.minimize.trace_cache`.
    """

    def __init__(
        self,
        model: Model | ModelSignature,
        kernel: Kernel | None = None,
        widths: Sequence[int] = BEAM_WIDTHS,
        *,
        cached: bool = False,
    ) -> None:
        self.model: Any = model  # a signature has all that is needed here but functions
        self.kernel, self._is_cached = kernel, cached
        self._beams = [] if kernel is None else [BeamSearch(kernel, width) for width in widths]
        self._starts = dict(zip(model.initial, _stepper_states(model.initial, kernel), strict=True))
        self._vectors = {start: vector for vector, start in self._starts.items()}
        self._shrinkers: dict[MinimizationTarget, Shrinker] = {}
        self._caches: dict[MinimizationTarget, TraceCache] = {}
        self._confirmed: dict[tuple[MinimizationTarget, Behaviour], tuple[tuple[Vector, ...], str | None]] = {}

    def minimize(self, trace: Trace, *, same: str = "instance", seconds: float | None = None) -> Trace:
        """Return a locally minimal trace; see `shrink` for arguments, result and errors."""
        given = [self.model.instance(key).index for key in trace.actions]
        target = self._target_of(trace, given, same)
        result = self.minimize_steps(target, self._start_of(trace), given, seconds)
        if result is None:
            raise UsageError(
                f"Replaying the trace of {trace.length} steps does not show {trace.prop or 'a deadlock'} in this "
                "model; shrink it with the scenario, variant and bounds that it was found with."
            )
        return self._confirm(trace, target, result)

    def target(self, prop: PropertyInstance | None, steps: Sequence[int]) -> MinimizationTarget:
        """Return the target that keeps a property (None: a deadlock) and the action that violates it after some steps.

        There is no such action in an initial state, nor in a quiescent or dead state, where any step may be the last.
        """
        if not steps or prop is None or prop.kind is Kind.WHEN_QUIESCENT:
            return MinimizationTarget(() if prop is None else (prop,))
        return MinimizationTarget((prop,), self.model.instances[steps[-1]].action)

    def minimize_steps(
        self, target: MinimizationTarget, start: Any, steps: Sequence[int], seconds: float | None = None
    ) -> ShrinkResult | None:
        """Minimize a behaviour, not yet confirmed by plain execution; None if a replay does not show the target.

        `start` is a vector, or the bytes of a packed row if there is a kernel.
        """
        if not self._is_cached:
            return self.shrinker(target).shrink(start, steps, seconds)
        cache = self._cache_of(target)
        result = cache.shrink(start, steps, seconds)
        while cache.new:
            self._offer_renamings(target, cache.new.pop())
        return result

    def _cache_of(self, target: MinimizationTarget) -> TraceCache:
        if target not in self._caches:
            self._caches[target] = TraceCache(self.shrinker(target), self._system)
        return self._caches[target]

    def _offer_renamings(self, target: MinimizationTarget, behaviour: Behaviour) -> None:
        """Offer the caches a behaviour with other members of the domains in the places of its own."""
        for properties, steps in self._renamings.of([prop.index for prop in target.properties], behaviour.steps):
            renamed = tuple(self.model.properties[number] for number in properties)
            other = MinimizationTarget(renamed, target.final_action)
            self._cache_of(other).offer(behaviour.states[0], steps)

    @cached_property
    def _renamings(self) -> Renamings:
        return Renamings(self.model)

    def clear_cache(self) -> None:
        """Forget what was found before: the next results do not depend on it."""
        self._caches.clear()

    @cached_property
    def _system(self) -> frozenset[int]:
        """The instances whose actors are the system."""
        if self.kernel is not None:
            return frozenset(bit_numbers(self.kernel.system_row))
        return frozenset(instance.index for instance in self.model.instances if instance.action.by.system)

    def shrinker(self, target: MinimizationTarget) -> Shrinker:
        """Return the shrinker of behaviours with this target."""
        if target not in self._shrinkers:
            self._shrinkers[target] = self._make_shrinker(target)
        return self._shrinkers[target]

    def _make_shrinker(self, target: MinimizationTarget) -> Shrinker:
        action, starts = target.final_action, list(self._vectors)
        final_steps = [i.index for i in self.model.instances if action in (None, i.action)]
        if self.kernel is None:
            plain = PlainStepper(self.model, target.properties)
            return Shrinker(plain, StepwiseReplayer(plain, frozenset(final_steps)), starts, (local_search,))
        stepper = KernelStepper(self.model, target.properties, self.kernel)
        replayer = KernelReplayer(self.kernel, target.properties, final_steps)
        if not self._shrinkers:  # the first one: its time budget is not for compiling
            replayer.compile_loop(starts[0])
            for beam in self._beams[:1]:
                beam.compile_loop(replayer.target, starts[0])
        return Shrinker(stepper, replayer, starts, [partial(beam.search, replayer.target) for beam in self._beams])

    def _target_of(self, trace: Trace, steps: Sequence[int], same: str) -> MinimizationTarget:
        if same not in SAME:
            raise UsageError(f"A shrunk trace keeps the same 'instance', 'property' or 'action' (got {same!r}).")
        properties = () if trace.prop is None else self.model.properties_of(trace.prop)
        if any(prop.kind.is_liveness for prop in properties):
            raise UsageError("A lasso is not shrunk: its loop must stay as fair as it is.")
        if same == "property" and properties:
            properties = self.model.properties_of(properties[0].declaration.name)
        if same == "action" and properties:
            return self.target(properties[0], steps)
        return MinimizationTarget(properties)

    def _start_of(self, trace: Trace) -> Any:
        vector = trace.states[0]
        return self._starts[vector] if vector in self._starts else _stepper_states([vector], self.kernel)[0]

    def _confirm(self, trace: Trace, target: MinimizationTarget, result: ShrinkResult) -> Trace:
        """Return the trace of a behaviour by plain execution; ReplayError if that disagrees with the stepper."""
        best = result.behaviour
        actions = tuple(self.model.instances[step].key for step in best.steps)
        if (target, best) not in self._confirmed:
            states = run(self.model, self._vectors.get(best.states[0], trace.states[0]), actions)
            if len(self._confirmed) >= MAX_CONFIRMED:
                self._confirmed.clear()
            self._confirmed[target, best] = states, self._shown(target, trace, states)
        states, prop = self._confirmed[target, best]
        shortest = (trace.shortest if len(best) == trace.length else None) or result.proof
        how = "already the shortest" if shortest and result.timed_out else result.description
        origin, _, earlier = trace.found_by.partition("; ")  # of a trace that was minimized before: how it was found
        found_by = f"{origin}; {how}" if earlier else f"{origin or 'given'} in {trace.length} steps; {how}"
        return evolve(trace, states=states, actions=actions, prop=prop, shortest=shortest, found_by=found_by)

    def _shown(self, target: MinimizationTarget, trace: Trace, states: tuple[Vector, ...]) -> str | None:
        """Return the key of the first property that the last state violates; None for a deadlock."""
        before = states[-2] if len(states) > 1 else None
        candidates: list[tuple[PropertyInstance, ...]] = [(prop,) for prop in target.properties] or [()]
        for properties in candidates:
            if PlainStepper(self.model, properties).shows(states[-1], before):
                return properties[0].key if properties else None
        raise ReplayError(
            f"The shrunk trace of {len(states) - 1} steps does not show {trace.prop or 'a deadlock'} in plain "
            "execution: the kernel and the model disagree. Delete the kernel cache; report this if it happens again."
        )


def _stepper_states(vectors: Sequence[Vector], kernel: Kernel | None) -> list[Any]:
    """Return states as the stepper has them: vectors, or the bytes of packed rows if there is a kernel."""
    if kernel is None:
        return list(vectors)
    return [row.tobytes() for row in kernel.pack(np.array(vectors, np.int64).reshape(len(vectors), -1))]
