"""Three engines, one verdict: what engines say of the same model must fit together.

Words: a verdict *refutes* violations of a claim up to a number of steps if it says that no trace of so many steps or
fewer violates it; without end, if it says that the claim holds. It *meets* a violation if it has a trace. Verdicts
contradict each other where one refutes what another meets: a walk finds what an exhaustive search says does not exist,
a trace is shorter than one that is called the shortest, a proof speaks against a trace.
"""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations
from math import inf

from attrs import frozen

from model.language import Kind, Model
from model.language.errors import InternalError
from search.trace import Trace
from search.verdict import DEADLOCK, Answer, Verdict


class Contradiction(InternalError):
    """Engines contradict each other about a model; with all that they said."""

    def __init__(self, model: Model, verdicts: Sequence[Verdict], sentences: Sequence[str]) -> None:
        super().__init__(f"Engines contradict each other about {model.scenario.name}: {' '.join(sentences)}")
        self.model, self.verdicts, self.sentences = model, tuple(verdicts), tuple(sentences)


@frozen
class Position:
    """What a verdict says of one claim: up to how many steps there is no violation (-1: it does not say), and a trace.

    Of a `reachable` claim: whether it can be reached, if it says so.
    """

    refuted: float = -1
    trace: Trace | None = None
    reached: bool | None = None


def agreed(model: Model, *verdicts: Verdict) -> None:
    """Nothing, if the verdicts on this model fit together; else Contradiction. Of liveness nothing is compared."""
    sentences = list(contradictions(model, verdicts))
    if sentences:
        raise Contradiction(model, verdicts, sentences)


def contradictions(model: Model, verdicts: Sequence[Verdict]) -> Iterator[str]:
    """A sentence for each claim and pair of verdicts that contradict each other about it."""
    said = [(verdict.engine, positions(model, verdict)) for verdict in verdicts]
    for (engine, one), (other_engine, other) in permutations(said, 2):
        for claim in one:
            if claim in other:
                yield from _clash(claim, (engine, one[claim]), (other_engine, other[claim]))


def _clash(claim: str, one: tuple[str, Position], other: tuple[str, Position]) -> Iterator[str]:
    (engine, refuting), (other_engine, meeting) = one, other
    if meeting.trace is not None and meeting.trace.length <= refuting.refuted:
        steps = "of any length" if refuting.refuted == inf else f"of up to {refuting.refuted:.0f} steps"
        yield (
            f"{engine} says that no trace {steps} violates {claim}, and {other_engine} has one of "
            f"{meeting.trace.length} steps."
        )
    if refuting.reached is False and meeting.reached is True:
        yield f"{engine} says that {claim} cannot be reached, and {other_engine} has reached it."


def positions(model: Model, verdict: Verdict) -> dict[str, Position]:
    """What a verdict says of each claim that it looked at, by key; liveness is left out."""
    found = {finding.claim or DEADLOCK: finding for finding in verdict.findings}
    told: dict[str, Position] = {}
    for claim, kind in _looked_at(model, verdict):
        trace = found[claim].trace if claim in found else None
        if kind is Kind.REACHABLE:
            told[claim] = Position(reached=_is_reached(verdict, claim, is_missing=claim in found and trace is None))
        elif kind is not Kind.EVENTUALLY:
            told[claim] = Position(_refuted(verdict, claim, trace), trace)
    return told


def _looked_at(model: Model, verdict: Verdict) -> Iterator[tuple[str, Kind | None]]:
    """The claims that a verdict is about, with their kinds; a deadlock has none."""
    keys = {*verdict.premises, *(proof.claim for proof in verdict.proofs), *(f.claim for f in verdict.findings)}
    yield from ((claim.key, claim.kind) for claim in model.claims if claim.key in keys)
    if model.scenario.deadlock_is_error and not verdict.proofs:
        yield DEADLOCK, None


def _refuted(verdict: Verdict, claim: str, trace: Trace | None) -> float:
    """Up to how many steps the verdict says that nothing violates the claim."""
    if trace is not None:
        return trace.length - 1 if trace.shortest else -1
    proof = next((proof for proof in verdict.proofs if proof.claim == claim), None)
    if proof is not None:
        return inf if proof.outcome == "proved" else proof.refuted - 1
    return _searched(verdict) if verdict.engine == "exhaust" else -1


def _searched(verdict: Verdict) -> float:
    """Up to how many steps an exhaustive search has seen every state."""
    if verdict.answer is Answer.HOLDS and verdict.how == "exhaustive":
        return inf
    traces = [finding.trace for finding in verdict.findings if finding.trace is not None]
    if traces:
        return min(trace.length for trace in traces) - 1 if all(trace.shortest for trace in traces) else -1
    return -1 if verdict.depth is None else verdict.depth - 1


def _is_reached(verdict: Verdict, claim: str, *, is_missing: bool) -> bool | None:
    """Whether the verdict says that a `reachable` claim is reached (or cannot be); None if it does not say."""
    if is_missing:
        return False
    witnessed = any(proof.claim == claim and proof.outcome == "witnessed" for proof in verdict.proofs)
    holds = verdict.answer is Answer.HOLDS and verdict.how in ("exhaustive", "proved")
    return True if witnessed or holds else None
