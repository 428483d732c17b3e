"""One attempt to prove claims: what is tried in which order, and what it amounts to.

Depths near the beginning are checked first, as no proof exists for what fails there. Then each claim is tried by
induction, by k-induction and with supporting invariants. What is still open is checked as deep as asked.
"""
from __future__ import annotations

import time
from contextlib import suppress

from attrs import define, evolve, field

from model.language import Claim, DomainError, Kind, Model, Vector
from model.language.lift import Lifted, LiftedClaim
from search.progress import Progress, Report
from search.prove.bounded import BoundedCheck, Path
from search.prove.chase import cannot_fail, chase, counterexample
from search.prove.cubes import fact_text
from search.prove.frames import Reached
from search.prove.induction import Escape, escapes
from search.prove.kinduction import least_k
from search.prove.lemmas import Met, of_domains
from search.prove.step import Effort, OutOfEffort
from search.prove.workshop import Supported, Workshop
from search.trace import run
from search.verdict import Proof

DEPTH = 20
"""How deep bounded checking goes unless asked otherwise."""
NEAR = 6
"""How deep it looks before any proof is tried, and for an action that leaves its domain where claims are settled."""
CANNOT_FAIL = "inductive, and was never put to the test: no state of the domains violates it, reachable or not"
PAUSE = 0.5
"""Seconds between two reports of progress while questions are asked."""
QUESTION = 10.0
"""Seconds of CPU time that k-induction of one claim may take."""
CHASE_QUESTIONS = 2_000
"""So many questions to Z3 a counterexample to induction is chased for."""


@define
class Wish:
    """What an attempt is asked for: how far k-induction looks back, whether supporting invariants are looked for."""

    claims: tuple[Claim, ...]
    depth: int = DEPTH
    induction: int = 3
    support: bool = True
    seconds: float | None = None


@define(eq=False)
class Attempt:
    """An attempt under way. `run` once; then read what is known."""

    model: Model
    lifted: Lifted
    wish: Wish
    report: Report
    began: float = field(factory=time.monotonic)
    escapes: list[Escape] | None = None
    cleared: dict[str, tuple[str, ...]] = field(factory=dict)
    """The actions of escapes that are excluded by supporting invariants, and these."""
    proofs: dict[int, Proof] = field(factory=dict)
    refuted: int = 0
    stopped: str = ""
    found: Path | None = None
    found_refuted: int = 0
    ended: bool = False
    _workshop: Workshop = field(init=False)
    _check: BoundedCheck | None = None
    _told: float = 0.0
    _note_told: str = ""

    def __attrs_post_init__(self) -> None:
        self._workshop = Workshop(self.model, self.lifted, self.deadline, self._asked)

    @property
    def deadline(self) -> float | None:
        """When the time budget ends."""
        return None if self.wish.seconds is None else self.began + self.wish.seconds

    @property
    def chosen(self) -> list[LiftedClaim]:
        """The claims that are asked for."""
        return [claim for claim in self.lifted.claims if claim.claim in self.wish.claims]

    @property
    def open(self) -> list[LiftedClaim]:
        """Those of which nothing is known yet."""
        return [claim for claim in self.chosen if self.proofs.get(claim.claim.index, _UNKNOWN).outcome == "unknown"]

    def run(self) -> None:
        """Look near the beginning, prove what can be proved, then check the rest as deep as asked."""
        self._tell(0, "claims", "domains")
        with suppress(TimeoutError):
            self.escapes = list(escapes(self.lifted))
        if self.wish.support and self.escapes:
            self._clear(self.escapes)
        self._bounded(min(NEAR, self.wish.depth))
        asked = self.wish.induction or self.wish.support
        waiting = self.open if asked and self.found is None else []
        while waiting and not self._spent() and not self.ended and self.found is None:
            self._workshop.deadline = self._share(len(waiting))
            self._prove(waiting.pop(0))
        if self.found is None and self.open:
            self._bounded(self.wish.depth)

    def _clear(self, escapes: list[Escape]) -> None:
        """Look for facts that exclude what could leave a domain."""
        self._workshop.deadline = self._share(len(self.chosen) + 1)
        wanted, effort = {escape.action for escape in escapes}, self._workshop.lemma_effort()
        for goal in of_domains(self.lifted):
            if goal.action in wanted:
                self._tell(len(self.cleared), "actions", f"domains: {goal.action}: supporting invariants")
                outcome = self._workshop.facts_for(goal, effort)
                if isinstance(outcome, Met):
                    raise self._domain_error(self._start_of(outcome.start), outcome.instances)
                if isinstance(outcome, Supported):
                    self.cleared[goal.action] = tuple(fact_text(self.model, cube) for cube in outcome.facts)
        self.escapes = [escape for escape in escapes if escape.action not in self.cleared]

    def _start_of(self, state: Vector) -> int:
        """The number of an initial state."""
        return self.model.initial.index(state)

    # Bounded checking.

    def _bounded(self, limit: int) -> None:
        """Check open claims, and domains that need not be closed, up to a depth."""
        if self._check is None:
            self._check = BoundedCheck(self.model, self.lifted, self.open, domains=bool(self.escapes))
        check, self._check.claims = self._check, self.open
        while self.found is None and not self.stopped and not self.ended and self.refuted <= limit:
            if not (self.open or (self.escapes and self.refuted <= NEAR)):
                return
            self._tell(self.refuted, "depths", f"bounded checking of {len(self.open)} claims")
            check.progress.found = None
            check.advance(self.deadline)
            self._note(check)
            if self._spent():
                self.stopped = "the time budget is spent"

    def _note(self, check: BoundedCheck) -> None:
        """A witness of a `reachable` claim ends the search for it only; a violation ends everything."""
        progress = check.progress
        if progress.escape is not None:
            raise self._domain_error(*progress.escape)
        self.refuted, self.stopped, self.ended = progress.refuted, progress.stopped, progress.ended
        if progress.found is None:
            return
        claim, steps = progress.found.claim.claim, len(progress.found.instances)
        if claim.kind is Kind.REACHABLE:
            self.proofs[claim.index] = Proof(claim.key, "witnessed", f"after {steps} steps", refuted=steps)
            check.claims = self.open
        else:
            self.found, self.found_refuted = progress.found, self.refuted

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

    # Proofs.

    def _prove(self, claim: LiftedClaim) -> None:
        """Try one claim by k-induction, then with supporting invariants; chase what stands against an induction."""
        key = claim.claim.key
        known = Proof(key, "unknown", slice=self._workshop.part([claim]).description(), refuted=self.refuted)
        self._tell(len(self.proofs), "claims", f"{key}: induction")
        known = self._inductive(claim, known)
        if known.outcome == "unknown" and self.wish.support:
            self._tell(len(self.proofs), "claims", f"{key}: supporting invariants")
            known = self._supported(claim, known)
        if known.outcome == "unknown" and claim.claim.kind is not Kind.REACHABLE:
            self._tell(len(self.proofs), "claims", f"{key}: a counterexample to induction")
            known = self._with_counterexample(claim, known)
        self.proofs[claim.claim.index] = known

    def _inductive(self, claim: LiftedClaim, known: Proof) -> Proof:
        """k-induction alone."""
        most = min(self.wish.induction, self.refuted)
        if claim.claim.kind is Kind.REACHABLE or not most:
            return known
        try:
            bench = self._workshop.bench(claim)
            bench.step.effort = self._soon()
            if counterexample(bench.step, claim.claim.index) is None:
                idle = cannot_fail(bench.step, claim.claim.index)
                return evolve(known, outcome="proved", k=1, method=CANNOT_FAIL if idle else "inductive")
            k = least_k(bench.part, claim, most, self._soon())
        except OutOfEffort as end:
            return evolve(known, method=f"induction: {end}")
        if k is None:
            return evolve(known, method=f"not inductive, looking back up to {most} steps")
        return evolve(known, outcome="proved", k=k, method=f"{k}-inductive")

    def _share(self, claims: int) -> float | None:
        """When the next of so many claims has had its share of the time; as much is left for what comes after them."""
        now = time.monotonic()
        return None if self.deadline is None else now + (self.deadline - now) / (claims + 1)

    def _soon(self) -> Effort:
        return Effort(deadline=self._workshop.deadline, cpu_deadline=time.process_time() + QUESTION)

    def _supported(self, claim: LiftedClaim, known: Proof) -> Proof:
        """With supporting invariants; a violation that is met ends everything."""
        outcome = self._workshop.support(claim)
        if isinstance(outcome, Met):
            return self._met(claim, Path(self._start_of(outcome.start), outcome.instances, claim), known)
        if isinstance(outcome, Reached):
            return self._met(claim, self._path_of(outcome, claim), known)
        if isinstance(outcome, Supported):
            texts = tuple(fact_text(self.model, cube) for cube in outcome.facts)
            known = evolve(known, k=1, support=texts)
            if claim.claim.kind is Kind.REACHABLE:
                return evolve(known, outcome="violated", method="proved to be unreachable")
            return evolve(known, outcome="proved", method="inductive with supporting invariants")
        return evolve(known, method=outcome.reason, refuted=max(known.refuted, outcome.refuted))

    def _path_of(self, outcome: Reached, claim: LiftedClaim) -> Path:
        start = next(n for n, state in enumerate(self.model.initial) if outcome.start.has_state(state))
        return Path(start, outcome.instances, claim)

    def _met(self, claim: LiftedClaim, path: Path, known: Proof) -> Proof:
        """What a behaviour that was met on the way back from a violation amounts to."""
        steps = len(path.instances)
        if claim.claim.kind is Kind.REACHABLE:
            return evolve(known, outcome="witnessed", method=f"after {steps} steps")
        self.found, self.found_refuted = path, known.refuted
        self._shorten(claim, steps)
        return evolve(known, outcome="violated", method=f"after {len(self.found.instances)} steps")

    def _shorten(self, claim: LiftedClaim, steps: int) -> None:
        """Look for a shorter violation of a claim than the one that was met."""
        part = self._workshop.part([claim])
        check = BoundedCheck(self.model, part.lifted, [claim], idle=part.idle)
        limit = min(steps, self.wish.depth + 1)
        while check.progress.found is None and check.progress.refuted < limit and not check.progress.stopped:
            self._tell(check.progress.refuted, "depths", f"is there a shorter one than {steps} steps?")
            check.advance(self.deadline)
        self.found_refuted = max(self.found_refuted, check.progress.refuted)
        self.found = check.progress.found or self.found

    def _with_counterexample(self, claim: LiftedClaim, known: Proof) -> Proof:
        """What is known, with a counterexample to induction and what becomes of it; a reachable one is a violation."""
        bench = self._workshop.bench(claim)
        self._workshop.effort(bench, CHASE_QUESTIONS)
        with suppress(OutOfEffort):
            found = counterexample(bench.step, claim.claim.index, bench.facts or [])
            if found is not None:
                fate = chase(bench.step, found, bench.rows, bench.facts or [])
                told = evolve(known, counterexample=f"{found.text(self.model)}: {fate.text()}")
                if fate.behaviour is not None:
                    reached = fate.behaviour.then(found.move.instance)
                    return self._met(claim, self._path_of(reached, claim), told)
                return told
        return known

    # Time.

    def _spent(self) -> bool:
        return self.deadline is not None and time.monotonic() > self.deadline

    def _asked(self, questions: int) -> None:
        """Tell how many questions were asked about the present claim, twice a second."""
        if time.monotonic() - self._told > PAUSE:
            self._tell(questions, "questions", self._note_told)

    def _tell(self, done: int, unit: str, note: str) -> None:
        self._told, self._note_told = time.monotonic(), note
        gone = self._told - self.began
        left = None if self.wish.seconds is None else max(0.0, self.wish.seconds - gone)
        self.report(Progress("prove", done, unit, gone, left=left, note=note))


_UNKNOWN = Proof("", "unknown")
