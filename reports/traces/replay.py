"""Replay: find the model of a saved trace, and execute its steps in plain Python.

Words: a trace *fits* a model if its states are states of the model and each action leads from one to the next. A trace
is *confirmed* if it fits and its property is violated (or witnessed) in the last state.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from attrs import evolve, frozen

from kwalk.model.language import Model, Scenario, UsageError, Vector
from kwalk.model.language.errors import one_of
from kwalk.model.language.registry import find_scenario
from kwalk.model.language.settings import setting_from
from kwalk.reports.escaping import visible
from kwalk.search.kernel.model_digest import trace_digest
from kwalk.search.results.fairness import is_counterexample
from kwalk.search.results.trace import ReplayError, Trace, ends_in_deadlock, run
from kwalk.search.results.verdict import Answer
from kwalk.search.results.verdict_builder import answer_to

MOST_STARTS = 100
"""The number of initial states that are tried for a trace whose first state is no longer a state of the model."""


@frozen
class OpenedTrace:
    """A trace with its model, or with the model of another variant or flags; `warnings` explain what may not fit."""

    model: Model
    trace: Trace
    warnings: tuple[str, ...] = ()
    is_other: bool = False
    """Whether the variant or the flags of the model differ from those of the trace."""


@frozen
class ReplayResult:
    """The number of steps that fit, why the next one does not, and what the last state shows."""

    steps: int
    mismatch: str | None
    answer: Answer | None
    """The answer that the last state confirms; None if the trace does not fit."""


def open_trace(trace: Trace, variant: str | None = None, flags: Mapping[str, str] | None = None) -> OpenedTrace:
    """Return a trace with its model, in the given variant (or its own) and with the given flags.

    Args:
        trace: A saved trace.
        variant: The name of a variant, None for that of the trace.
        flags: Settings by the names of flags, as `setting_from` reads them.

    Raises:
        UsageError: There is no such scenario, variant, flag or setting.
    """
    scenario = labelled(find_scenario(trace.scenario), trace)
    wanted = variant or trace.variant
    changed = {name: setting_from(scenario, name, text) for name, text in (flags or {}).items()}
    model = Model(scenario, wanted, trace.bounds, {**trace.flags, **changed})
    now = trace_digest(model, trace.prop) if trace.fingerprint else ""
    other = wanted != trace.variant or model.flag_overrides != dict(trace.flags)
    if not trace.fingerprint or not now or now == trace.fingerprint or other:
        return OpenedTrace(model, trace, is_other=other)
    was = visible(trace.fingerprint, 40)
    changed_model = f"The model has changed since this trace was saved (fingerprint {was}, now {now})"
    has_other_fields = any(len(vector) != len(model.leaves) for vector in trace.states)
    renewed = _executed_again(model, trace) if has_other_fields else None
    if renewed is None:
        return OpenedTrace(model, trace, (f"{changed_model}.",))
    return OpenedTrace(
        model, renewed, (f"{changed_model}; its steps are executed again from an initial state of the model.",)
    )


def _executed_again(model: Model, trace: Trace) -> Trace | None:
    """Return the same steps from an initial state of the model (whose fields have changed); None if none fits."""
    for start in model.initial[:MOST_STARTS]:
        with suppress(ReplayError, UsageError):  # a step that is not enabled, or that the model does not have
            states = run(model, start, trace.actions)
            return evolve(trace, states=states, loop=_still_closed(trace.loop, states))
    return None


def _still_closed(loop: int | None, states: tuple[Vector, ...]) -> int | None:
    """Return the start of a loop if the last state still equals it."""
    return loop if loop is not None and states[loop] == states[-1] else None


def labelled(scenario: Scenario, trace: Trace) -> Scenario:
    """Return the scenario with the labels of the trace (names of brokers and topics from a snapshot)."""
    return evolve(scenario, labels={**scenario.labels, **trace.labels}) if trace.labels else scenario


def replay(model: Model, trace: Trace) -> ReplayResult:
    """Execute the trace's steps from its first state, and compare each state with the saved one."""
    mismatch = _no_state(model, trace)
    if mismatch:
        return ReplayResult(0, mismatch, None)
    instances = {instance.key: instance for instance in model.instances}
    state = trace.states[0]
    for number, key in enumerate(trace.actions, start=1):
        instance = instances.get(key)
        outcome = None if instance is None else model.attempt(instance, state)
        if outcome is None:
            why = "is not an action instance of this model"
        elif outcome.after is None:
            reason = f"the bound {outcome.bound} is reached" if outcome.bound else "it is not enabled"
            why = f"cannot be executed: {reason}"
        elif outcome.after != trace.states[number]:
            why = "leads to another state than the saved one"
        else:
            state = outcome.after
            continue
        return ReplayResult(number - 1, f"step {number}, {visible(key, 80)}, {why}", None)
    return ReplayResult(trace.length, None, _ending(model, trace))


def _no_state(model: Model, trace: Trace) -> str | None:
    """Return why a saved vector is not a state of the model, or None."""
    for number, vector in enumerate(trace.states):
        if len(vector) != len(model.leaves):
            return f"state {number} has {len(vector):,} numbers, and a state of this model has {len(model.leaves):,}"
        for value, leaf in zip(vector, model.leaves, strict=True):
            if not leaf.low <= value <= leaf.high:
                return f"state {number} has {leaf.path} = {value}, and the model allows {leaf.low} … {leaf.high}"
        if model.canonical(vector) != vector:
            return f"state {number} is not in the canonical form of the model"
    return None


def _ending(model: Model, trace: Trace) -> Answer:
    if trace.prop is None:
        return Answer.DEADLOCK if ends_in_deadlock(model, trace) else Answer.HOLDS
    prop = next((c for c in model.properties if c.key == trace.prop), None)
    if prop is None:
        known = one_of(declaration.name for declaration in model.scenario.declared_properties)
        about = visible(trace.prop, 80)
        raise UsageError(f"The trace is about {about!r}, and the model has no such property. {known}")
    if not is_counterexample(model, prop, trace):
        return Answer.HOLDS
    return answer_to(prop)


def stamped(trace: Trace, model: Model, reference: str, *, lifts: bool = True) -> Trace:
    """Return the trace with the scenario's reference, labels, flags, bounds and fingerprint, to be saved.

    Unless it lifts the model, which takes long for a large one, a fingerprint that is not in the cache is left out.
    """
    return evolve(
        trace,
        scenario=reference,
        labels=dict(model.binding.labels),
        flags=dict(model.flag_overrides),
        bounds=dict(model.binding.bounds),
        fingerprint=trace_digest(model, trace.prop, lifts=lifts),
    )
