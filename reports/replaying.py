"""From a saved trace back to a model, and step by step through it in plain Python.

Words: a trace *fits* a model if its states are states of the model and each action leads from one to the next. It is
*confirmed* if it fits and its claim is violated (or witnessed) in the end.
"""
from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from attrs import evolve, frozen

from model.language import Model, Scenario, UsageError, Vector
from model.language.errors import one_of
from model.language.registry import find_scenario
from model.language.settings import setting_from
from reports.escaping import visible
from reports.meaning import meaning
from search.fairness import never_ends
from search.trace import ReplayError, Trace, run
from search.verdict import Answer

MOST_STARTS = 100
"""So many initial states are tried for a trace whose own first state is no state of the model any more."""


@frozen
class Opened:
    """A trace with the model that it names, or with the one asked for instead. `warnings` say what may not fit."""

    model: Model
    trace: Trace
    warnings: tuple[str, ...] = ()
    is_other: bool = False
    """Whether the model is of another variant, or with other flags, than the trace was found in."""


@frozen
class Replayed:
    """What became of a replay: how many steps fit, why the next does not, and what the end shows."""

    steps: int
    misfit: str | None
    answer: Answer | None
    """The answer that the end confirms, or None if the trace does not fit."""


def open_trace(trace: Trace, variant: str | None = None, flags: Mapping[str, str] | None = None) -> Opened:
    """The model that a trace names, in the given variant or its own, with flags set otherwise than it has them.

    Settings are written as `setting_from` reads them. UsageError if there is no such model.
    """
    scenario = labelled(find_scenario(trace.scenario), trace)
    wanted = variant or trace.variant
    changed = {name: setting_from(scenario, name, text) for name, text in (flags or {}).items()}
    model = Model(scenario, wanted, trace.bounds, {**trace.flags, **changed})
    now = meaning(model)
    other = wanted != trace.variant or model.asked_flags != dict(trace.flags)
    if not trace.fingerprint or now == trace.fingerprint or other:
        return Opened(model, trace, is_other=other)
    was = visible(trace.fingerprint, 40)
    changed_model = f"The model has changed since this trace was saved (fingerprint {was}, now {now})"
    has_other_fields = any(len(vector) != len(model.leaves) for vector in trace.states)
    renewed = _taken_anew(model, trace) if has_other_fields else None
    if renewed is None:
        return Opened(model, trace, (f"{changed_model}.",))
    return Opened(model, renewed, (f"{changed_model}; its steps are taken anew from the model's initial state.",))


def _taken_anew(model: Model, trace: Trace) -> Trace | None:
    """The same steps from an initial state of the model, whose states have other fields by now, if it allows them."""
    for start in model.initial[:MOST_STARTS]:
        with suppress(ReplayError, UsageError):  # a step that is not enabled, or that the model does not have
            states = run(model, start, trace.actions)
            return evolve(trace, states=states, loop=_still_closed(trace.loop, states))
    return None


def _still_closed(loop: int | None, states: tuple[Vector, ...]) -> int | None:
    """Where a loop begins, if the last state still is that one again."""
    return loop if loop is not None and states[loop] == states[-1] else None


def labelled(scenario: Scenario, trace: Trace) -> Scenario:
    """The scenario with the names that a snapshot gave to brokers and the like, as the trace keeps them."""
    return evolve(scenario, labels={**scenario.labels, **trace.labels}) if trace.labels else scenario


def replay(model: Model, trace: Trace) -> Replayed:
    """Take the trace's steps from its first state; the model's own rules decide, not the saved states."""
    misfit = _no_state(model, trace)
    if misfit:
        return Replayed(0, misfit, None)
    instances = {instance.key: instance for instance in model.instances}
    state = trace.states[0]
    before = None
    for number, key in enumerate(trace.actions, start=1):
        if key not in instances:
            return Replayed(number - 1, f"step {number}, {visible(key, 80)}, is no step of this model", None)
        outcome = model.attempt(instances[key], state)
        if outcome.after is None:
            why = f"the bound {outcome.bound} is reached" if outcome.bound else "it is not enabled there"
            return Replayed(number - 1, f"step {number}, {visible(key, 80)}, cannot be taken: {why}", None)
        if outcome.after != trace.states[number]:
            return Replayed(number - 1, f"step {number}, {visible(key, 80)}, leads to another state than saved", None)
        before, state = state, outcome.after
    return Replayed(trace.length, None, _ending(model, trace, (before, state)))


def _no_state(model: Model, trace: Trace) -> str | None:
    """Why a saved vector is no state of the model, or None."""
    for number, vector in enumerate(trace.states):
        if len(vector) != len(model.leaves):
            return f"state {number} has {len(vector):,} numbers, and a state of this model has {len(model.leaves):,}"
        for value, leaf in zip(vector, model.leaves, strict=True):
            if not leaf.low <= value <= leaf.high:
                return f"state {number} has {leaf.path} = {value}, and the model allows {leaf.low} … {leaf.high}"
        if model.canonical(vector) != vector:
            return f"state {number} is not written as the model writes states"
    return None


def _ending(model: Model, trace: Trace, end: tuple[tuple[int, ...] | None, tuple[int, ...]]) -> Answer:
    before, state = end
    if trace.claim is None:
        stuck = next(iter(model.successors(state)), None) is None
        return Answer.DEADLOCK if stuck else Answer.HOLDS
    claim = next((c for c in model.claims if c.key == trace.claim), None)
    if claim is None:
        known = one_of(invariant.name for invariant in model.scenario.invariants)
        about = visible(trace.claim, 80)
        raise UsageError(f"The trace is about {about!r}, and the model has no such invariant. {known}")
    over_step = before if claim.invariant.states == 2 else None
    violated = never_ends(model, claim, trace) if trace.loop is not None else model.violates(claim, state, over_step)
    if not violated:
        return Answer.HOLDS
    return Answer.BAD_STABLE_STATE if claim.kind.value == "when quiet" else Answer.VIOLATED


def stamped(trace: Trace, model: Model, reference: str) -> Trace:
    """The trace with what a saved one needs: by which name its scenario is found, labels, and the fingerprint."""
    return evolve(
        trace,
        scenario=reference,
        labels=dict(model.binding.labels),
        flags=dict(model.asked_flags),
        bounds=dict(model.binding.bounds),
        fingerprint=meaning(model),
    )
