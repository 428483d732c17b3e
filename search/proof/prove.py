"""Proofs by Z3: bounded checking, k-induction, and supporting invariants; and the verdict of an attempt."""

from __future__ import annotations

import time
from collections.abc import Iterator

from attrs import evolve, frozen

from kwalk.model.language import Kind
from kwalk.model.language.lift import LiftedProperty
from kwalk.search.base.option_table import present
from kwalk.search.base.options import StopReason
from kwalk.search.base.progress import Report, silent
from kwalk.search.base.query import Query
from kwalk.search.kernel.model_digest import announced_lift
from kwalk.search.kernel.python_comparison import EngineDisagreement
from kwalk.search.proof.attempt import ProofAttempt, ProofOptions
from kwalk.search.proof.bounded import BoundedCounterexample
from kwalk.search.proof.induction import DomainViolation
from kwalk.search.results.fairness import safety_properties, without_liveness
from kwalk.search.results.trace import ReplayError, Trace, reference_of, run
from kwalk.search.results.vacuity import whole_names
from kwalk.search.results.verdict import Answer, Finding, ProofOutcome, ProofResult, Strength, Verdict
from kwalk.search.results.verdict_builder import VerdictBuilder, answer_to, error_notes

UNUSUAL_LEAVES = 6
"""Leaves of a state that a note shows."""


def prove(query: Query, report: Report = silent) -> Verdict:
    """Prove properties for behaviours of any length, or find the shortest violation of one of them.

    Args:
        query: The model and the properties, with the options `Prove`.
        report: Receives progress about twice a second.

    Returns:
        HOLDS only if every property is proved (a `reachable` one: if a witness is found). A violation is a shortest one
        if its trace says so: all smaller depths are refuted; other traces are not minimized. UNDECIDED has the reason
        for each property.

    Raises:
        DomainError: An action leaves its domain within the depths that were checked.
        EngineDisagreement: Z3 or the terms that it is given differ from plain Python in some state.
    """
    model, limits = query.model, ("depth", "induction", "support", "seconds")
    tried = tuple(prop for prop in safety_properties(query.properties) if not prop.declaration.only_counts)
    options = ProofOptions(tried, **present(query.options, *limits))
    attempt = ProofAttempt(model, announced_lift(model), options, report)
    try:
        verdict = _verdict(attempt, query.command)
    except (AssertionError, ReplayError, ValueError) as error:
        attempt.compare_with_python()  # raises an error that names a state, if it finds one
        raise EngineDisagreement(f"What Z3 finds does not fit the model: {error}", model) from error
    if verdict.answer is Answer.HOLDS and model.scenario.deadlock_is_error:
        answer, stopped = Answer.UNDECIDED, StopReason.DEADLOCKS
        detail = "deadlocks were not checked"
        verdict = evolve(verdict, answer=answer, strength=Strength.PARTIAL, stopped=stopped, detail=detail)
    return without_liveness(verdict, query.properties, "a proof")


def _verdict(attempt: ProofAttempt, command: str) -> Verdict:
    try:
        attempt.run()
        attempt.compare_with_python()
    except KeyboardInterrupt:
        attempt.stopped, attempt.limit = StopReason.INTERRUPT, StopReason.INTERRUPT.value
    return _ProofVerdict(attempt, command).verdict()


@frozen
class _ProofVerdict:
    """The verdict of an attempt that has ended."""

    attempt: ProofAttempt
    command: str

    def verdict(self) -> Verdict:
        """Return the verdict; plain Python confirms the trace."""
        attempt, model = self.attempt, self.attempt.model
        answer = self._answer()
        stopped = (attempt.stopped or StopReason.DEPTH) if answer is Answer.UNDECIDED else None
        return VerdictBuilder(model, attempt.options.properties, "prove", self.command).verdict(
            answer,
            Strength.PROVED if stopped is None else Strength.PARTIAL,
            stopped=stopped,
            detail="" if stopped is None else attempt.limit or f"no violation within {attempt.refuted - 1} steps",
            depth=max(0, attempt.refuted - 1)
            if attempt.counterexample is None
            else len(attempt.counterexample.instances),
            seconds=time.monotonic() - attempt.began,
            notes=tuple(self._notes()),
            proofs=self._proofs(),
            findings=tuple(self._findings()),
            compared=attempt.compared,
        )

    def _answer(self) -> Answer:
        found, outcomes = self.attempt.counterexample, {proof.outcome for proof in self._proofs()}
        if found is not None:
            return answer_to(found.prop.prop)
        if ProofOutcome.VIOLATED in outcomes:
            return Answer.NOT_REACHABLE  # only a `reachable` property is violated without a trace
        return Answer.UNDECIDED if ProofOutcome.UNKNOWN in outcomes else Answer.HOLDS

    def _proofs(self) -> tuple[ProofResult, ...]:
        """Return the result for each property. If every behaviour ends, bounded checking has settled what was open."""
        return tuple(map(self._proof, self.attempt.properties))

    def _proof(self, lifted: LiftedProperty) -> ProofResult:
        attempt, prop = self.attempt, lifted.prop
        proof = attempt.proofs.get(prop.index, ProofResult(prop.key, ProofOutcome.UNKNOWN))
        is_unknown = proof.outcome is ProofOutcome.UNKNOWN
        if is_unknown:
            proof = evolve(proof, refuted=max(proof.refuted, attempt.refuted))
        if attempt.counterexample is not None and attempt.counterexample.prop is lifted:
            method = f"after {len(attempt.counterexample.instances)} steps"
            return evolve(proof, outcome=ProofOutcome.VIOLATED, method=method)
        if is_unknown and attempt.ended and not attempt.stopped:
            outcome = ProofOutcome.VIOLATED if prop.kind is Kind.REACHABLE else ProofOutcome.PROVED
            return evolve(proof, outcome=outcome, method=f"every behaviour ends within {attempt.refuted - 1} steps")
        if is_unknown and not proof.method:
            return evolve(proof, method=attempt.limit or "not tried")
        return proof

    def _findings(self) -> Iterator[Finding]:
        if self.attempt.counterexample is not None:
            yield self._finding(self.attempt.counterexample)
        else:
            yield from (Finding(proof.prop, 0) for proof in self._proofs() if proof.outcome is ProofOutcome.VIOLATED)

    def _finding(self, path: BoundedCounterexample) -> Finding:
        model, is_shortest = self.attempt.model, self.attempt.counterexample_refuted >= len(path.instances)
        actions = tuple(model.instances[number].key for number in path.instances)
        states = run(model, model.initial[path.start], actions)
        trace = Trace(
            scenario=reference_of(model),
            variant=model.variant,
            bounds=model.binding.bounds,
            states=states,
            actions=actions,
            prop=path.prop.prop.key,
            labels=model.binding.labels,
            found_by="prove",
            shortest="prove" if is_shortest else None,
            command=self.command,
            flags=model.flag_overrides,
        )
        return Finding(path.prop.prop.key, 1, trace)

    # Notes.

    def _notes(self) -> Iterator[str]:
        attempt, outcomes = self.attempt, {proof.outcome for proof in self._proofs()}
        yield from error_notes(attempt.error)
        if attempt.error is None:
            yield from self._domain_notes()
        if attempt.model.scenario.deadlock_is_error:
            yield "deadlocks, which are an error in this scenario, are not checked by proofs"
        yield from self._property_notes()
        if attempt.counterexample is not None:
            yield self._length_note(attempt.counterexample)
            if attempt.walked:
                yield attempt.walked
        elif attempt.ended:
            yield f"every behaviour ends within {attempt.refuted - 1} steps"
        elif ProofOutcome.UNKNOWN in outcomes and attempt.refuted:
            yield f"no violation of the others within {attempt.refuted - 1} steps"
        if ProofOutcome.PROVED in outcomes and attempt.model.constraints:
            names = ", ".join(each.name for each in attempt.model.constraints)
            yield f"proved within the constraints ({names}): behaviours that leave them are not covered"
        if conditional := list(self._conditional()):
            names = ", ".join(whole_names(conditional, [lifted.prop for lifted in attempt.properties]))
            yield f"not known whether a state or step tests {names}: a proof does not find premises that are never true"
        if ProofOutcome.PROVED in outcomes:
            yield "proved for behaviours of any length, within the bounds: nothing is proved of larger sizes or budgets"

    def _conditional(self) -> Iterator[str]:
        """Yield the keys of the proved properties that are about some states or steps only."""
        for lifted, proof in zip(self.attempt.properties, self._proofs(), strict=True):
            always = lifted.premise is self.attempt.lifted.terms.true and lifted.prop.kind is not Kind.WHEN_QUIESCENT
            if proof.outcome is ProofOutcome.PROVED and not always and not lifted.prop.declaration.only_counts:
                yield proof.prop

    def _length_note(self, counterexample: BoundedCounterexample) -> str:
        depths = self.attempt.counterexample_refuted
        if depths >= len(counterexample.instances):
            return f"no shorter violation exists: depths 0 to {depths - 1} are refuted" if depths else "none is shorter"
        return f"a shorter violation may exist: only depths 0 to {depths - 1} are refuted"

    def _property_notes(self) -> Iterator[str]:
        """Return lines on each property, with its supporting invariants and its slice."""
        first_with: dict[tuple[str, ...], str] = {}
        printed = set(self._domain_facts())
        for lifted, proof in zip(self.attempt.properties, self._proofs(), strict=True):
            if proof.outcome in (ProofOutcome.WITNESSED, ProofOutcome.VIOLATED):
                yield f"{proof.prop} is {proof.outcome.value} ({proof.method})"
            elif proof.outcome is ProofOutcome.UNKNOWN:
                what = "not reached" if lifted.prop.kind is Kind.REACHABLE else "no violation"
                within = f"; {what} within {proof.refuted - 1} steps" * (proof.refuted > 0)
                yield f"{proof.prop} is unknown: {proof.method}{within}"
            elif proof.support and proof.support in first_with:
                yield f"{proof.prop} is inductive with the invariants of {first_with[proof.support]}"
            else:
                first_with[proof.support] = proof.prop
                new = [fact for fact in proof.support if fact not in printed]
                printed.update(new)
                yield f"{proof.prop} is {_proved(proof, len(new))}"
                yield from (f"    {fact}" for fact in new)
            if proof.counterexample:
                yield f"    a counterexample to its induction is {proof.counterexample}"
            if proof.slice and proof.outcome is not ProofOutcome.WITNESSED:
                yield f"    it depends on {proof.slice}"

    def _domain_notes(self) -> Iterator[str]:
        """Return whether the domains are closed under every action, or which actions Z3 could not clear."""
        attempt = self.attempt
        total = len(attempt.lifted.actions)
        if attempt.cleared:
            facts = self._domain_facts()
            count = f"{len(attempt.cleared)} of {total} action instances"
            yield f"{count} cannot leave their domain where these {len(facts)} supporting invariants hold:"
            yield from (f"    {fact}" for fact in facts)
        if attempt.domain_violations is None:
            yield "whether the domains are closed under every action is not known"
        elif not attempt.domain_violations:
            others = " other" if attempt.cleared else ""
            yield f"the domains are closed under every{others} action"
        else:
            first = attempt.domain_violations[0]
            state = ", ".join(f"{path} {value}" for path, value in self._unusual(first))
            near = f"; none does within {attempt.refuted - 1} steps" if attempt.refuted else ""
            yield (
                f"{len(attempt.domain_violations)} of {total} action instances could leave their domain from a state "
                f"that need not be reachable, such as {first.action} ({first.error}) where {state}{near}"
            )

    def _domain_facts(self) -> list[str]:
        """Return the supporting invariants that keep actions in their domains."""
        return list(dict.fromkeys(fact for support in self.attempt.cleared.values() for fact in support))

    def _unusual(self, violation: DomainViolation) -> list[tuple[str, str]]:
        """Return where the state of a violation differs from a new state."""
        model = self.attempt.model
        with model.active():
            usual = model.show(model.vector(model.scenario.state()))
        shown = model.show(violation.state).items()
        return [(path, value) for path, value in shown if value != usual[path]][:UNUSUAL_LEAVES]


def _proved(proof: ProofResult, new: int) -> str:
    if not proof.support:
        return proof.method if proof.k else f"proved: {proof.method}"
    count = len(proof.support)
    text = f"inductive with {count} supporting invariant{'s' * (count != 1)}"
    return f"{text}:" if new == count else f"{text}, {count - new} of them among those above; the others:"


__all__ = ["ProofOptions", "prove"]
