"""Counterexamples to liveness: fair lassos, checked by plain execution.

Words: a *safety* property is violated by a state or a step, a *liveness* property (about behaviours,
`Kind.is_liveness`) only by an infinite behaviour. Such a behaviour is a *lasso*: a path to a state, and a loop from
there back to it. A loop without steps is a state that stays as it is. A loop *neglects* a condition of fairness if none
of its steps takes it, and, for weak fairness, all of its states enable it; for strong fairness, some state does. The
loop is *fair* if it neglects no condition (see `kwalk.model.language.fairness`).
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from attrs import evolve

from kwalk.model.language import FairnessKind, Kind, Model, PropertyInstance, StepResult, Vector
from kwalk.search.base.options import StopReason
from kwalk.search.results.trace import Trace, is_violated_at_end
from kwalk.search.results.verdict import Answer, Strength, Verdict


def safety_properties(properties: Iterable[PropertyInstance]) -> tuple[PropertyInstance, ...]:
    """Return the properties that a state or a step can violate or witness."""
    return tuple(prop for prop in properties if not prop.kind.is_liveness)


def liveness_properties(properties: Iterable[PropertyInstance]) -> tuple[PropertyInstance, ...]:
    """Return the properties that only an infinite behaviour can violate."""
    return tuple(prop for prop in properties if prop.kind.is_liveness)


def neglected_conditions(model: Model, trace: Trace) -> tuple[str, ...]:
    """Return the fairness conditions that the loop of a lasso neglects, as text; none if it is fair."""
    assert trace.loop is not None
    states, actions = trace.states[trace.loop :], trace.actions[trace.loop :]
    moves = {key for key, (before, after) in zip(actions, pairwise(states), strict=True) if before != after}
    enabled = [_movable_instances(model, state) for state in dict.fromkeys(states)]
    found = []
    for condition in model.fairness.conditions:
        holds = any if condition.kind is FairnessKind.STRONG else all
        members = set(condition.instances)
        is_taken = any(model.instances[number].key in moves for number in members)
        if not is_taken and holds(bool(members & there) for there in enabled):
            found.append(condition.text)
    return tuple(found)


def _movable_instances(model: Model, state: Vector) -> set[int]:
    """Return the numbers of the instances that lead from a state to another one, or that only a bound disables."""
    found = set()
    for instance in model.instances:
        outcome = model.attempt(instance, state)
        if outcome.result is StepResult.BOUND or (outcome.after is not None and outcome.after != state):
            found.add(instance.index)
    return found


def violation_start(model: Model, prop: PropertyInstance, trace: Trace) -> int | None:
    """Return the number of the first state from which a lasso violates a liveness property; None if it does not.

    Whether the loop is fair does not matter here.
    """
    assert trace.loop is not None
    parts = [model.awaited(prop, state) for state in trace.states]
    starts = [number for number, (premise, _) in enumerate(parts) if premise]
    last = max((number for number, (_, is_satisfied) in enumerate(parts) if is_satisfied), default=-1)
    if prop.kind is Kind.EVENTUALLY_ALWAYS:
        return starts[0] if starts and not all(satisfied for _, satisfied in parts[trace.loop :]) else None
    if last >= trace.loop:
        return None
    if prop.kind is Kind.INEVITABLE:
        return 0 if starts[:1] == [0] and last < 0 else None
    if prop.kind is Kind.ALWAYS_EVENTUALLY:
        return starts[0] if starts else None
    return next((number for number in starts if number > last), None)


def is_fair_counterexample(model: Model, prop: PropertyInstance, trace: Trace) -> bool:
    """Return whether a trace violates a liveness property: a fair lasso of which no continuation is needed."""
    if trace.loop is None or trace.states[trace.loop] != trace.states[-1]:
        return False
    return violation_start(model, prop, trace) is not None and not neglected_conditions(model, trace)


def is_counterexample(model: Model, prop: PropertyInstance, trace: Trace) -> bool:
    """Return whether a trace violates the property: by its last state or step, or as a fair lasso."""
    if prop.kind.is_liveness:
        return is_fair_counterexample(model, prop, trace)
    return is_violated_at_end(model, prop, trace.states)


def with_loop(model: Model, prop: PropertyInstance, trace: Trace) -> Trace:
    """Return the trace with the first loop that makes it a counterexample, if it has no loop and there is one."""
    if prop.kind.is_liveness and trace.loop is None:
        lassos = (evolve(trace, loop=k) for k, state in enumerate(trace.states) if state == trace.states[-1])
        return next((lasso for lasso in lassos if is_fair_counterexample(model, prop, lasso)), trace)
    return trace


class UncheckedProperties(UserWarning):
    """A test may pass although its engine does not check some of the properties that the test is about."""


def unchecked_note(properties: Iterable[PropertyInstance], engine: str) -> str:
    """Return the sentence that names the properties about behaviours among some properties; "" if there are none."""
    left = tuple(dict.fromkeys(prop.declaration.name for prop in liveness_properties(properties)))
    note = f"{', '.join(left)}: {engine} does not check properties about behaviours; `kwalk exhaust` does."
    return note if left else ""


def without_liveness(verdict: Verdict, requested: Iterable[PropertyInstance], engine: str) -> Verdict:
    """Return the verdict of an engine that checks safety properties only, with a note that names the others.

    If some of the `requested` properties are liveness properties, a "holds" that is proved or exhaustive becomes
    undecided; one that is sampled, if there are no safety properties.
    """
    properties = tuple(requested)
    note = unchecked_note(properties, engine)
    if not note:
        return verdict
    verdict = evolve(verdict, notes=(*verdict.notes, note))
    is_checked = any(not prop.declaration.only_counts for prop in safety_properties(properties))
    if verdict.answer is Answer.HOLDS and (verdict.strength.is_conclusive or not is_checked):
        detail = "properties about behaviours were not checked"
        return evolve(
            verdict, answer=Answer.UNDECIDED, strength=Strength.PARTIAL, stopped=StopReason.LIVENESS, detail=detail
        )
    return verdict
