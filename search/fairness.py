"""What makes a behaviour that never ends a counterexample, by plain execution; and which engines look for such ones.

Words: a *safety* claim is violated by a state or a step, a *liveness* claim (of kind `eventually`) only by a behaviour
that never ends. Such a behaviour is a *lasso*: a way to a state, and a loop from there back to it, taken for ever. A
loop without steps is a state where everything stays as it is. A loop is *fair* if it neglects no system instance: none
that is enabled in every state of the loop is left out by it (weak fairness). One that only a bound prevents counts as
enabled.
"""
from __future__ import annotations

from collections.abc import Iterable

from attrs import evolve

from model.language import Claim, Kind, Model, Result, Vector
from search.trace import Trace, shows
from search.verdict import Answer, Verdict


def safety(claims: Iterable[Claim]) -> tuple[Claim, ...]:
    """The claims that a state or a step can violate (or show to be reachable)."""
    return tuple(claim for claim in claims if claim.kind is not Kind.EVENTUALLY)


def liveness(claims: Iterable[Claim]) -> tuple[Claim, ...]:
    """The claims that only a behaviour without end can violate."""
    return tuple(claim for claim in claims if claim.kind is Kind.EVENTUALLY)


def neglected(model: Model, trace: Trace) -> tuple[str, ...]:
    """The system instances that the loop of a lasso neglects; none if it is fair."""
    assert trace.loop is not None
    taken, states = set(trace.actions[trace.loop :]), dict.fromkeys(trace.states[trace.loop :])
    return tuple(
        instance.key
        for instance in model.instances
        if instance.action.by.system
        and instance.key not in taken
        and all(model.attempt(instance, state).result is not Result.DISABLED for state in states)
    )


def waits_from(model: Model, claim: Claim, states: tuple[Vector, ...]) -> int | None:
    """Where, in a behaviour, the first wait begins that has not ended by its last state; None if there is none."""
    first = None
    for number in range(len(states) - 1, -1, -1):
        asked, there = model.awaited(claim, states[number])
        if there:
            break
        if asked:
            first = number
    return first


def never_ends(model: Model, claim: Claim, trace: Trace) -> bool:
    """Whether a trace is a counterexample to an `eventually` claim: a fair lasso with a wait that never ends."""
    if trace.loop is None or trace.states[trace.loop] != trace.states[-1]:
        return False
    if any(model.awaited(claim, state)[1] for state in trace.states[trace.loop :]):
        return False
    return waits_from(model, claim, trace.states) is not None and not neglected(model, trace)


def shows_in_the_end(model: Model, claim: Claim, trace: Trace) -> bool:
    """Whether a trace is a counterexample to the claim: by its last state or step, or by never ending."""
    if claim.kind is Kind.EVENTUALLY:
        return never_ends(model, claim, trace)
    return shows(model, claim, trace.states)


def closed(model: Model, claim: Claim, trace: Trace) -> Trace:
    """A trace whose loop was not written down, with the first loop that makes it a counterexample, if there is one."""
    if claim.kind is Kind.EVENTUALLY and trace.loop is None:
        lassos = (evolve(trace, loop=k) for k, state in enumerate(trace.states) if state == trace.states[-1])
        return next((lasso for lasso in lassos if never_ends(model, claim, lasso)), trace)
    return trace


def without_liveness(verdict: Verdict, asked: Iterable[Claim], engine: str) -> Verdict:
    """The verdict of an engine that looks at safety claims only: it names the others, and answers nothing for them.

    What was proved or exhaustive is undecided if there are any; what is only sampled, if there are no safety claims.
    """
    claims = tuple(asked)
    left = tuple(dict.fromkeys(claim.invariant.name for claim in liveness(claims)))
    if not left:
        return verdict
    note = f"{', '.join(left)}: {engine} cannot tell what comes eventually; `kwalk exhaust` can."
    answer, how = verdict.answer, verdict.how
    if answer is Answer.HOLDS and (how in ("proved", "exhaustive") or not safety(claims)):
        answer, how = Answer.UNDECIDED, "what comes eventually was not looked at"
    return evolve(verdict, answer=answer, how=how, notes=(*verdict.notes, note))
