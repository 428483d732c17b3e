"""Counterexamples to liveness: fair lassos, checked by plain execution.

Words: a *safety* property is violated by a state or a step, a *liveness* property (of kind `eventually`) only by an
infinite behaviour. Such a behaviour is a *lasso*: a path to a state, and a loop from there back to it. A loop without
steps is a state that stays as it is. A loop is *fair* if it neglects no system instance: it takes every system instance
that is enabled in all of its states (weak fairness). An instance that only a bound disables counts as enabled.
"""
from __future__ import annotations

from collections.abc import Iterable

from attrs import evolve

from kwalk.model.language import Kind, Model, PropertyInstance, StepResult, Vector
from kwalk.search.base.options import StopReason
from kwalk.search.results.trace import Trace, is_violated_at_end
from kwalk.search.results.verdict import Answer, Strength, Verdict


def safety_properties(properties: Iterable[PropertyInstance]) -> tuple[PropertyInstance, ...]:
    """Return the properties that a state or a step can violate or witness."""
    return tuple(prop for prop in properties if prop.kind is not Kind.EVENTUALLY)


def liveness_properties(properties: Iterable[PropertyInstance]) -> tuple[PropertyInstance, ...]:
    """Return the properties that only an infinite behaviour can violate."""
    return tuple(prop for prop in properties if prop.kind is Kind.EVENTUALLY)


def neglected_instances(model: Model, trace: Trace) -> tuple[str, ...]:
    """Return the system instances that the loop of a lasso neglects; none if it is fair."""
    assert trace.loop is not None
    taken, states = set(trace.actions[trace.loop :]), dict.fromkeys(trace.states[trace.loop :])
    return tuple(
        instance.key
        for instance in model.instances
        if instance.action.by.system
        and instance.key not in taken
        and all(model.attempt(instance, state).result is not StepResult.DISABLED for state in states)
    )


def first_open_wait(model: Model, prop: PropertyInstance, states: tuple[Vector, ...]) -> int | None:
    """Return the number of the first state whose wait has not ended by the last state; None if there is none."""
    first = None
    for number in range(len(states) - 1, -1, -1):
        premise, is_satisfied = model.awaited(prop, states[number])
        if is_satisfied:
            break
        if premise:
            first = number
    return first


def is_fair_counterexample(model: Model, prop: PropertyInstance, trace: Trace) -> bool:
    """Return whether a trace violates an `eventually` property: a fair lasso with a wait that never ends."""
    if trace.loop is None or trace.states[trace.loop] != trace.states[-1]:
        return False
    if any(model.awaited(prop, state)[1] for state in trace.states[trace.loop :]):
        return False
    return first_open_wait(model, prop, trace.states) is not None and not neglected_instances(model, trace)


def is_counterexample(model: Model, prop: PropertyInstance, trace: Trace) -> bool:
    """Return whether a trace violates the property: by its last state or step, or as a fair lasso."""
    if prop.kind is Kind.EVENTUALLY:
        return is_fair_counterexample(model, prop, trace)
    return is_violated_at_end(model, prop, trace.states)


def with_loop(model: Model, prop: PropertyInstance, trace: Trace) -> Trace:
    """Return the trace with the first loop that makes it a counterexample, if it has no loop and there is one."""
    if prop.kind is Kind.EVENTUALLY and trace.loop is None:
        lassos = (evolve(trace, loop=k) for k, state in enumerate(trace.states) if state == trace.states[-1])
        return next((lasso for lasso in lassos if is_fair_counterexample(model, prop, lasso)), trace)
    return trace


def without_liveness(verdict: Verdict, requested: Iterable[PropertyInstance], engine: str) -> Verdict:
    """Return the verdict of an engine that checks safety properties only, with a note that names the others.

    If some of the `requested` properties are liveness properties, a "holds" that is proved or exhaustive becomes
    undecided; one that is sampled, if there are no safety properties.
    """
    properties = tuple(requested)
    left = tuple(dict.fromkeys(prop.declaration.name for prop in liveness_properties(properties)))
    if not left:
        return verdict
    note = f"{', '.join(left)}: {engine} does not check `eventually` properties; `kwalk exhaust` does."
    verdict = evolve(verdict, notes=(*verdict.notes, note))
    if verdict.answer is Answer.HOLDS and (verdict.strength.is_conclusive or not safety_properties(properties)):
        detail = "`eventually` properties were not checked"
        return evolve(
            verdict, answer=Answer.UNDECIDED, strength=Strength.PARTIAL, stopped=StopReason.LIVENESS, detail=detail
        )
    return verdict
