"""Cross-checks of engines: the verdicts of several engines about one model must not contradict each other.

Words: a verdict *refutes* violations of a property up to a number of steps if it follows that no trace of that length
or a shorter one violates it; up to infinity, if the property holds. Two verdicts are a *contradiction* if one refutes
what the other has a trace of: a walk finds a trace that does not exist according to an exhaustive search or a proof, or
a trace is shorter than one that is marked as the shortest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations
from math import inf

from attrs import frozen

from kwalk.model.language import Kind, Model
from kwalk.model.language.errors import InternalError
from kwalk.search.results.trace import Trace
from kwalk.search.results.verdict import DEADLOCK, Answer, ProofOutcome, Strength, Verdict


class Contradiction(InternalError):
    """Engines contradict each other about a model. It holds their verdicts, and a sentence for each contradiction."""

    def __init__(self, model: Model, verdicts: Sequence[Verdict], sentences: Sequence[str]) -> None:
        super().__init__(f"Engines contradict each other about {model.scenario.name}: {' '.join(sentences)}")
        self.model, self.verdicts, self.sentences = model, tuple(verdicts), tuple(sentences)


@frozen
class PropertyConclusion:
    """What follows from a verdict for one property instance.

    Args:
        refuted: No trace of at most this many steps violates it; -1 if nothing is known.
        trace: A trace that violates it.
        reached: For a `reachable` property, whether some state satisfies it; None if that is not known.
    """

    refuted: float = -1
    trace: Trace | None = None
    reached: bool | None = None


def check_agreement(model: Model, *verdicts: Verdict) -> None:
    """Raise Contradiction if verdicts on this model contradict each other. Liveness is not compared."""
    sentences = list(contradictions(model, verdicts))
    if sentences:
        raise Contradiction(model, verdicts, sentences)


def contradictions(model: Model, verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Yield a sentence for each property and pair of verdicts that contradict each other about it."""
    by_engine = [(verdict.engine, conclusions(model, verdict)) for verdict in verdicts]
    for (engine, one), (other_engine, other) in permutations(by_engine, 2):
        for prop in one:
            if prop in other:
                yield from _contradictions_of(prop, (engine, one[prop]), (other_engine, other[prop]))


def _contradictions_of(
    prop: str, one: tuple[str, PropertyConclusion], other: tuple[str, PropertyConclusion]
) -> Iterator[str]:
    (engine, refuting), (other_engine, other_conclusion) = one, other
    if other_conclusion.trace is not None and other_conclusion.trace.length <= refuting.refuted:
        steps = "of any length" if refuting.refuted == inf else f"of up to {refuting.refuted:.0f} steps"
        yield (
            f"According to {engine}, no trace {steps} violates {prop}, and {other_engine} has one of "
            f"{other_conclusion.trace.length} steps."
        )
    if refuting.reached is False and other_conclusion.reached is True:
        yield f"According to {engine}, {prop} is not reachable, and {other_engine} has reached it."


def conclusions(model: Model, verdict: Verdict) -> dict[str, PropertyConclusion]:
    """Return what follows from a verdict for each property that it checked, by key; liveness is left out."""
    found = {finding.prop or DEADLOCK: finding for finding in verdict.findings}
    result: dict[str, PropertyConclusion] = {}
    for prop, kind in _checked(model, verdict):
        trace = found[prop].trace if prop in found else None
        if kind is Kind.REACHABLE:
            result[prop] = PropertyConclusion(
                reached=_is_reached(verdict, prop, is_missing=prop in found and trace is None)
            )
        elif kind is None or not kind.is_liveness:
            result[prop] = PropertyConclusion(_refuted(verdict, prop, trace), trace)
    return result


def _checked(model: Model, verdict: Verdict) -> Iterator[tuple[str, Kind | None]]:
    """Yield the keys of the properties that a verdict is about, with their kinds; None for a deadlock."""
    keys = {*verdict.premises, *(proof.prop for proof in verdict.proofs), *(f.prop for f in verdict.findings)}
    yield from ((prop.key, prop.kind) for prop in model.properties if prop.key in keys)
    if model.scenario.deadlock_is_error and not verdict.proofs:
        yield DEADLOCK, None


def _refuted(verdict: Verdict, prop: str, trace: Trace | None) -> float:
    """Return up to how many steps nothing violates the property according to the verdict."""
    if trace is not None:
        return trace.length - 1 if trace.shortest else -1
    proof = next((proof for proof in verdict.proofs if proof.prop == prop), None)
    if proof is not None:
        return inf if proof.outcome is ProofOutcome.PROVED else proof.refuted - 1
    return _complete_depth(verdict) if verdict.engine == "exhaust" else -1


def _complete_depth(verdict: Verdict) -> float:
    """Return up to how many steps an exhaustive search has visited every state."""
    if verdict.answer in (Answer.HOLDS, Answer.NOT_REACHABLE) and verdict.strength is Strength.EXHAUSTIVE:
        return inf
    traces = [finding.trace for finding in verdict.findings if finding.trace is not None]
    if traces:
        return min(trace.length for trace in traces) - 1 if all(trace.shortest for trace in traces) else -1
    return -1 if verdict.depth is None else verdict.depth - 1


def _is_reached(verdict: Verdict, prop: str, *, is_missing: bool) -> bool | None:
    """Return whether a `reachable` property is reached according to the verdict; None if that is not known."""
    if is_missing:
        return False
    witnessed = any(proof.prop == prop and proof.outcome is ProofOutcome.WITNESSED for proof in verdict.proofs)
    holds = verdict.answer is Answer.HOLDS and verdict.strength.is_conclusive
    holds = holds or (verdict.answer is Answer.NOT_REACHABLE and verdict.strength is Strength.EXHAUSTIVE)
    return True if witnessed or holds else None
