"""Proofs by Z3: induction first, then bounded checking for what is not inductive."""
from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress

from attrs import define, field

from model.language import Claim, DomainError, Kind, Model
from model.language.lift import Lifted, LiftedClaim, lift
from search.fairness import safety, without_liveness
from search.progress import Progress, Report, silent
from search.prove.bounded import BoundedCheck, Path
from search.prove.induction import Escape, escapes, is_inductive
from search.trace import Trace, reference_of, run
from search.verdict import Answer, Finding, Verdict

DEPTH = 20
"""How deep bounded checking goes unless asked otherwise."""
NEAR = 6
"""How deep it looks for an action that leaves its domain where all claims are settled."""


def prove(
    model: Model,
    *,
    claims: tuple[Claim, ...] | None = None,
    depth: int | None = None,
    seconds: float | None = None,
    report: Report = silent,
    command: str = "",
) -> Verdict:
    """Prove the claims by induction, or find the shortest violation of any of them within `depth` steps.

    DomainError if an action leaves its domain in a state within the depths that were looked at.
    HOLDS only if every claim is proved (a `reachable` one: if a witness is found). A violation is a shortest one: all
    smaller depths were refuted. Otherwise UNDECIDED says how deep there is none, and why it ended there.
    """
    wanted = model.claims if claims is None else claims
    attempt = _Attempt(model, lift(model), safety(wanted), depth, seconds, report, command)
    try:
        attempt.run()
    except KeyboardInterrupt:
        attempt.stopped = "interrupted"
    return without_liveness(attempt.verdict(), wanted, "a proof")


@define(eq=False)
class _Attempt:
    model: Model
    lifted: Lifted
    wanted: tuple[Claim, ...]
    depth: int | None
    seconds: float | None
    report: Report
    command: str
    began: float = field(factory=time.monotonic)
    escapes: list[Escape] | None = None
    proved: list[LiftedClaim] = field(factory=list)
    witnessed: list[tuple[LiftedClaim, Path]] = field(factory=list)
    refuted: int = 0
    stopped: str = ""
    found: Path | None = None
    ended: bool = False

    def run(self) -> None:
        """Closed domains, induction, then bounded checking of the rest."""
        self._tell(0, "claims", "domains")
        with suppress(TimeoutError):
            self.escapes = list(escapes(self.lifted))
        for claim in self._chosen():
            if self._spent():
                break
            self._tell(len(self.proved), "claims", f"induction: {claim.claim.key}")
            if is_inductive(self.model, self.lifted, claim):
                self.proved.append(claim)
        rest = [c for c in self._chosen() if c not in self.proved]
        if rest or self.escapes:
            self._bounded(rest)

    def _chosen(self) -> Sequence[LiftedClaim]:
        return [c for c in self.lifted.claims if c.claim in self.wanted]

    def _bounded(self, rest: list[LiftedClaim]) -> None:
        deadline = None if self.seconds is None else self.began + self.seconds
        limit = DEPTH if self.depth is None else self.depth
        check = BoundedCheck(self.model, self.lifted, rest, domains=bool(self.escapes))
        while self.found is None and not self.stopped and (rest or (self.escapes and self.refuted <= min(NEAR, limit))):
            self._tell(check.progress.refuted, "depths", f"bounded checking of {len(rest)} claims")
            check.progress.found = None
            check.advance(deadline)
            self._note(check, rest)
            if self.ended or self.refuted > limit:
                break
            if self._spent():
                self.stopped = "the time budget is spent"

    def _note(self, check: BoundedCheck, rest: list[LiftedClaim]) -> None:
        """A witness of a `reachable` claim ends the search for it only; a violation ends everything."""
        progress = check.progress
        if progress.escape is not None:
            raise self._domain_error(*progress.escape)
        self.refuted, self.stopped, self.ended = progress.refuted, progress.stopped, progress.ended
        if progress.found is not None and progress.found.claim.claim.kind is Kind.REACHABLE:
            self.witnessed.append((progress.found.claim, progress.found))
            rest.remove(progress.found.claim)
        else:
            self.found = progress.found

    def _domain_error(self, start: int, instances: tuple[int, ...]) -> DomainError:
        """The error that plain Python raises at the end of a path that Z3 found."""
        actions = tuple(self.model.instances[number].key for number in instances)
        state = run(self.model, self.model.initial[start], actions)[-1]
        after = f"after {len(actions)} steps: {', '.join(actions)}" if actions else "in an initial state"
        for instance in self.model.instances:
            try:
                self.model.attempt(instance, state)
            except DomainError as error:
                return DomainError(f"{error} This happens {after}.")
        raise AssertionError(f"Z3 sees an action leave its domain where plain Python sees none, {after}.")

    def _spent(self) -> bool:
        return self.seconds is not None and time.monotonic() - self.began > self.seconds

    def _tell(self, done: int, unit: str, note: str) -> None:
        gone = time.monotonic() - self.began
        left = None if self.seconds is None else max(0.0, self.seconds - gone)
        self.report(Progress("prove", done, unit, gone, left=left, note=note))

    # The verdict.

    def verdict(self) -> Verdict:
        """What the attempt amounts to."""
        findings = [self._finding(self.found)] if self.found is not None else []
        answer, how = self._answer()
        return Verdict(
            answer=answer, how=how, engine="prove", scenario=self.model.scenario.name, variant=self.model.variant,
            bounds=self.model.binding.bounds, invariants=tuple(dict.fromkeys(c.invariant.name for c in self.wanted)),
            depth=max(0, self.refuted - 1) if self.found is None else len(self.found.instances),
            seconds=time.monotonic() - self.began, notes=tuple(self._notes()), findings=tuple(findings),
            command=self.command, flags=self.model.asked_flags,
        )  # fmt: skip

    def _answer(self) -> tuple[Answer, str]:
        if self.found is not None:
            quiet = self.found.claim.claim.kind is Kind.WHEN_QUIET
            return (Answer.BAD_STABLE_STATE if quiet else Answer.VIOLATED), "proved"
        settled = [*self.proved, *(claim for claim, _ in self.witnessed)]
        missing = [c for c in self._chosen() if c not in settled]
        if not missing:
            return Answer.HOLDS, "proved"
        if self.ended and not self.stopped:
            unreachable = any(c.claim.kind is Kind.REACHABLE for c in missing)
            return (Answer.VIOLATED if unreachable else Answer.HOLDS), "proved"
        return Answer.UNDECIDED, self.stopped or f"no violation within {self.refuted - 1} steps"

    def _notes(self) -> list[str]:
        notes = [*self._domains(), *(f"{claim.claim.key} is inductive" for claim in self.proved)]
        notes += [f"{claim.claim.key} is witnessed after {len(path.instances)} steps" for claim, path in self.witnessed]
        if self.found is not None:
            notes.append(f"no shorter violation exists: depths 0 to {self.refuted - 1} are refuted")
        elif self.ended:
            notes.append(f"every behaviour ends within {self.refuted - 1} steps")
        elif self.refuted and len(self.proved) + len(self.witnessed) < len(self._chosen()):
            notes.append(f"no violation of the others within {self.refuted - 1} steps")
        return notes

    def _domains(self) -> list[str]:
        """Whether the domains are closed under every action, or which actions Z3 could not clear."""
        if self.escapes is None:
            return ["whether the domains are closed under every action is not known"]
        if not self.escapes:
            return ["the domains are closed under every action"]
        first = self.escapes[0]
        state = ", ".join(f"{path} {value}" for path, value in self._unusual(first))
        near = f"; none does within {self.refuted - 1} steps" if self.refuted else ""
        return [
            f"{len(self.escapes)} of {len(self.lifted.actions)} action instances could leave their domain from an "
            f"in-domain state that need not be reachable, such as {first.action} ({first.error}) where {state}{near}"
        ]

    def _unusual(self, escape: Escape) -> list[tuple[str, str]]:
        """What sets the state of an escape apart from a new one."""
        with self.model.active():
            usual = self.model.show(self.model.vector(self.model.scenario.state()))
        return [(path, value) for path, value in self.model.show(escape.state).items() if value != usual[path]][:6]

    def _finding(self, path: Path) -> Finding:
        actions = tuple(self.model.instances[number].key for number in path.instances)
        states = run(self.model, self.model.initial[path.start], actions)
        trace = Trace(
            scenario=reference_of(self.model), variant=self.model.variant, bounds=self.model.binding.bounds,
            states=states, actions=actions, claim=path.claim.claim.key, labels=self.model.binding.labels,
            found_by="prove", shortest="prove", command=self.command, flags=self.model.asked_flags,
        )  # fmt: skip
        return Finding(path.claim.claim.key, 1, trace)


__all__ = ["Escape", "escapes", "is_inductive", "prove"]
