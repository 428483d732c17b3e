"""What an attempt to prove claims amounts to: a verdict, its notes, and a word on each claim."""
from __future__ import annotations

import time
from collections.abc import Iterator

from attrs import evolve, frozen

from model.language import Kind
from search.hunt import shrunk
from search.prove.attempt import Attempt
from search.prove.bounded import Path
from search.prove.induction import Escape
from search.trace import Trace, reference_of, run
from search.verdict import Answer, Finding, Proof, Verdict


@frozen
class Conclusion:
    """The verdict of an attempt that has ended."""

    attempt: Attempt
    command: str

    def verdict(self) -> Verdict:
        """The verdict; traces are confirmed by plain Python."""
        done, model = self.attempt, self.attempt.model
        answer, how = self._answer()
        return Verdict(
            answer=answer, how=how, engine="prove", scenario=model.scenario.name, variant=model.variant,
            bounds=model.binding.bounds, invariants=tuple(dict.fromkeys(c.invariant.name for c in done.wish.claims)),
            depth=max(0, done.refuted - 1) if done.found is None else len(done.found.instances),
            seconds=time.monotonic() - done.began, notes=tuple(self._notes()), proofs=self._proofs(),
            findings=tuple(self._findings()), command=self.command, flags=model.asked_flags,
        )  # fmt: skip

    # What it means.

    def _answer(self) -> tuple[Answer, str]:
        done, proofs = self.attempt, self._proofs()
        if done.found is not None:
            quiet = done.found.claim.claim.kind is Kind.WHEN_QUIET
            return (Answer.BAD_STABLE_STATE if quiet else Answer.VIOLATED), "proved"
        if any(proof.outcome == "violated" for proof in proofs):
            return Answer.VIOLATED, "proved"
        unknown = [proof for proof in proofs if proof.outcome == "unknown"]
        if not unknown:
            return Answer.HOLDS, "proved"
        return Answer.UNDECIDED, done.stopped or f"no violation within {done.refuted - 1} steps"

    def _proofs(self) -> tuple[Proof, ...]:
        """A word on each claim. Where every behaviour ends, bounded checking has settled what was open."""
        done, told = self.attempt, []
        for claim in done.chosen:
            proof = done.proofs.get(claim.claim.index, Proof(claim.claim.key, "unknown"))
            if proof.outcome == "unknown":
                proof = evolve(proof, refuted=max(proof.refuted, done.refuted))
            if done.found is not None and done.found.claim is claim:
                proof = evolve(proof, outcome="violated", method=f"after {len(done.found.instances)} steps")
            elif proof.outcome == "unknown" and done.ended and not done.stopped:
                unreachable = claim.claim.kind is Kind.REACHABLE
                method = f"every behaviour ends within {done.refuted - 1} steps"
                proof = evolve(proof, outcome="violated" if unreachable else "proved", method=method)
            elif proof.outcome == "unknown" and not proof.method:
                proof = evolve(proof, method=done.stopped or "not tried")
            told.append(proof)
        return tuple(told)

    def _findings(self) -> Iterator[Finding]:
        if self.attempt.found is not None:
            yield self._finding(self.attempt.found)
        else:
            yield from (Finding(proof.claim, 0) for proof in self._proofs() if proof.outcome == "violated")

    def _finding(self, path: Path) -> Finding:
        model, shortest = self.attempt.model, self.attempt.found_refuted >= len(path.instances)
        actions = tuple(model.instances[number].key for number in path.instances)
        states = run(model, model.initial[path.start], actions)
        trace = Trace(
            scenario=reference_of(model), variant=model.variant, bounds=model.binding.bounds,
            states=states, actions=actions, claim=path.claim.claim.key, labels=model.binding.labels,
            found_by="prove", shortest="prove" if shortest else None, command=self.command, flags=model.asked_flags,
        )  # fmt: skip
        return shrunk(model, Finding(path.claim.claim.key, 1, trace))

    # Notes.

    def _notes(self) -> Iterator[str]:
        done = self.attempt
        yield from self._domains()
        if done.model.scenario.deadlock_is_error:
            yield "deadlocks, which this scenario calls an error, are not looked at by proofs"
        yield from self._of_claims()
        if done.found is not None:
            yield self._how_short(done.found)
        elif done.ended:
            yield f"every behaviour ends within {done.refuted - 1} steps"
        elif any(proof.outcome == "unknown" for proof in self._proofs()) and done.refuted:
            yield f"no violation of the others within {done.refuted - 1} steps"
        if any(proof.outcome == "proved" for proof in self._proofs()):
            yield "proved for behaviours of any length, within the bounds: nothing is proved of larger sizes or budgets"

    def _how_short(self, found: Path) -> str:
        depths = self.attempt.found_refuted
        if depths >= len(found.instances):
            return f"no shorter violation exists: depths 0 to {depths - 1} are refuted" if depths else "none is shorter"
        return f"a shorter violation may exist: only depths 0 to {depths - 1} are refuted"

    def _of_claims(self) -> Iterator[str]:
        """A sentence on each claim, with the invariants that support it and the part of the model that matters."""
        told: dict[tuple[str, ...], str] = {}
        printed = set(self._of_domains())
        for proof in self._proofs():
            if proof.outcome in ("witnessed", "violated"):
                yield f"{proof.claim} is {'witnessed' if proof.outcome == 'witnessed' else 'violated'} ({proof.method})"
            elif proof.outcome == "unknown":
                yield f"{proof.claim} is unknown: {proof.method}; no violation within {proof.refuted - 1} steps"
            elif proof.support and proof.support in told:
                yield f"{proof.claim} is inductive with the invariants of {told[proof.support]}"
            else:
                told[proof.support] = proof.claim
                new = [sentence for sentence in proof.support if sentence not in printed]
                printed.update(new)
                yield f"{proof.claim} is {_proved(proof, len(new))}"
                yield from (f"    {sentence}" for sentence in new)
            if proof.counterexample:
                yield f"    a counterexample to its induction is {proof.counterexample}"
            if proof.slice and proof.outcome != "witnessed":
                yield f"    it depends on {proof.slice}"

    def _domains(self) -> Iterator[str]:
        """Whether the domains are closed under every action, or which actions Z3 could not clear."""
        done = self.attempt
        if done.cleared:
            sentences = self._of_domains()
            count = f"{len(done.cleared)} of {len(done.lifted.actions)} action instances"
            yield f"{count} cannot leave their domain where these {len(sentences)} supporting invariants hold:"
            yield from (f"    {sentence}" for sentence in sentences)
        if done.escapes is None:
            yield "whether the domains are closed under every action is not known"
        elif not done.escapes:
            others = " other" if done.cleared else ""
            yield f"the domains are closed under every{others} action"
        else:
            first = done.escapes[0]
            state = ", ".join(f"{path} {value}" for path, value in self._unusual(first))
            where = f"({first.error}) where {state}"
            near = f"; none does within {done.refuted - 1} steps" if done.refuted else ""
            yield (
                f"{len(done.escapes)} of {len(done.lifted.actions)} action instances could leave their domain from an "
                f"in-domain state that need not be reachable, such as {first.action} {where}{near}"
            )

    def _of_domains(self) -> list[str]:
        """The supporting invariants that keep actions in their domains."""
        return list(dict.fromkeys(sentence for support in self.attempt.cleared.values() for sentence in support))

    def _unusual(self, escape: Escape) -> list[tuple[str, str]]:
        """What sets the state of an escape apart from a new one."""
        model = self.attempt.model
        with model.active():
            usual = model.show(model.vector(model.scenario.state()))
        return [(path, value) for path, value in model.show(escape.state).items() if value != usual[path]][:6]


def _proved(proof: Proof, new: int) -> str:
    if not proof.support:
        return proof.method if proof.k else f"proved: {proof.method}"
    count = len(proof.support)
    text = f"inductive with {count} supporting invariant{'s' * (count != 1)}"
    return f"{text}:" if new == count else f"{text}, {count - new} of them among those above; the others:"
