"""The cells of an audit: one trial of a fix, with the fix off or on, and how it is looked at.

Exhaustive search comes first; where it does not finish in its time, an attempt at a proof if that is asked for, then
random walks whose first finding is shrunk.
"""
from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cached_property
from typing import Any

from attrs import evolve, frozen

from model.language import Claim, Fix, Kind, Model, Scenario, Trial, UsageError
from model.language.lift import lift
from model.language.settings import Setting, setting_text
from search.audit.outcomes import Known, Outcome
from search.compile import kernel_for
from search.contradiction import agreed
from search.exhaust import exhaust
from search.fairness import liveness, shows_in_the_end
from search.hunt import shrunk
from search.loops.memory import SHARE, available_memory
from search.progress import Report, silent
from search.prove import INDUCTION, escapes, prove
from search.trace import ReplayError, Trace, run
from search.verdict import DEADLOCK, Answer, Finding, Verdict
from search.walks import walk

WALKS, WALK_DEPTH = 50_000, 200
"""How many walks a cell gets, of how many steps: a number, so that what they find does not depend on the machine."""
PROVING = 10.0
"""Seconds that an attempt at a proof gets, at least."""
Fingerprint = Callable[[Model], str]
"""What tells the texts of two models apart."""
SECONDS = 60.0
"""Seconds that each search of a cell gets if nobody says how many."""


@frozen
class Budget:
    """What each search of a cell may take, seconds and a share of the memory; and whether to try a proof."""

    seconds: float = SECONDS
    share: float = SHARE
    prove: bool = False


@frozen(eq=False)
class Cell:
    """A trial of a fix with its flag at one of its two settings."""

    fix: Fix
    trial: Trial
    scenario: Scenario
    setting: Setting

    @property
    def name(self) -> str:
        """What progress and errors call it."""
        return f"{self.fix.flag.name} {setting_text(self.setting)} in {self.scenario.name}"

    @cached_property
    def model(self) -> Model:
        """The scenario in the base variant with the flag set; what the variant has anyway is not asked for."""
        trial, wanted = self.trial, {**self.trial.flags, self.fix.flag.name: self.setting}
        own = self.scenario.binding(trial.variant, trial.bounds).flags
        changed = {name: setting for name, setting in wanted.items() if name not in own or own[name] != setting}
        return Model(self.scenario, trial.variant, trial.bounds, changed)

    @cached_property
    def claims(self) -> tuple[Claim, ...]:
        """The claims to look at, in the model's order."""
        named = {claim.index for name in self.trial.invariants for claim in self.model.claims_of(name)}
        return tuple(c for c in self.model.claims if c.index in named) if named else self.model.claims

    def key(self, budget: Budget, text: Fingerprint) -> str:
        """A digest that differs whenever the outcome may; budgets of time and memory are not in it."""
        model, asked = self.model, [claim.key for claim in self.claims]
        about = (self.scenario.name, model.variant, sorted(model.asked_flags.items()))
        binding = (sorted(model.binding.bounds.items()), sorted(model.binding.flags.items()))
        what = (text(model), about, binding, model.initial, asked, self.scenario.deadlock_is_error, budget.prove)
        return hashlib.blake2b(repr(what).encode(), digest_size=16).hexdigest()

    def still_fits(self, outcome: Outcome) -> bool:
        """Whether plain Python confirms the trace of an outcome that was kept; one without a trace is believed."""
        trace = outcome.trace
        if trace is None:
            return outcome.claim is None or any(claim.key == outcome.claim for claim in self.claims)
        model, about = self.model, (trace.variant, dict(trace.bounds), dict(trace.flags), trace.claim)
        if about != (model.variant, dict(model.binding.bounds), model.asked_flags, outcome.claim or None):
            return False
        if not trace.states or trace.states[0] not in model.initial:
            return False
        try:
            return run(self.model, trace.states[0], trace.actions) == trace.states and self._shows(trace)
        except (ReplayError, UsageError):
            return False

    def _shows(self, trace: Trace) -> bool:
        if trace.claim is None:
            return next(self.model.successors(trace.states[-1]), None) is None
        return any(shows_in_the_end(self.model, claim, trace) for claim in self.claims if claim.key == trace.claim)


def examine(cell: Cell, budget: Budget, report: Report = silent) -> Outcome:
    """What the cell comes to; KeyboardInterrupt on Ctrl-C, DomainError if an action leaves its domain."""
    kernel = kernel_for(cell.model)
    common: dict[str, Any] = {"claims": cell.claims, "seconds": budget.seconds, "kernel": kernel, "report": report}
    memory = int(budget.share * available_memory())
    verdict = _uninterrupted(exhaust(cell.model, memory_bytes=memory, **common))
    found = _first(verdict)
    if found is not None:
        return _violated(verdict, found)
    finished = verdict.how == Known.EXHAUSTIVE.value
    bounds_hit = tuple(verdict.bounds_hit)
    if budget.prove and _is_proved(cell, max(budget.seconds, PROVING), report, finished=finished):
        return Outcome(Known.PROVED, bounds_hit=bounds_hit)
    if finished:
        return Outcome(Known.EXHAUSTIVE, verdict.distinct_states, verdict.depth, bounds_hit=bounds_hit)
    walks = _uninterrupted(walk(cell.model, walks=WALKS, depth=WALK_DEPTH, **common))
    return _sampled(cell, walks, evolve(verdict, bounds_hit={**verdict.bounds_hit, **walks.bounds_hit}), budget)


def _uninterrupted(verdict: Verdict) -> Verdict:
    if "interrupt" in verdict.how:
        raise KeyboardInterrupt
    return verdict


def _first(verdict: Verdict) -> Finding | None:
    """The first violation. A `reachable` claim that was never reached comes after those with a trace."""
    return next((f for f in verdict.findings if f.trace is not None), next(iter(verdict.findings), None))


def _violated(verdict: Verdict, found: Finding) -> Outcome:
    return Outcome(
        Known.VIOLATED, verdict.distinct_states if found.trace is None else None,
        verdict.depth if found.trace is None else None, claim="" if found.claim == DEADLOCK else found.claim,
        trace=found.trace, bounds_hit=tuple(verdict.bounds_hit),
    )  # fmt: skip


def _sampled(cell: Cell, walks: Verdict, exhausted: Verdict, budget: Budget) -> Outcome:
    """The outcome of walks where exhaustive search did not finish."""
    found, bounds_hit = _first(walks), tuple(exhausted.bounds_hit)
    if found is not None:
        short = shrunk(cell.model, found)
        agreed(cell.model, exhausted, evolve(walks, findings=(short,)))
        return evolve(_violated(walks, short), bounds_hit=bounds_hit)
    if not walks.steps or liveness(cell.claims):
        return Outcome(Known.UNDECIDED, why=exhausted.how, bounds_hit=bounds_hit, seconds=budget.seconds)
    return Outcome(Known.SAMPLED, steps=walks.steps, bounds_hit=bounds_hit, seconds=budget.seconds)


def _is_proved(cell: Cell, seconds: float, report: Report, *, finished: bool) -> bool:
    """Whether Z3 proves all claims; domains that no finished search has shown to be closed are proved as well.

    A finished search has already found what must be reachable.
    """
    claims = tuple(c for c in cell.claims if not finished or c.kind is not Kind.REACHABLE)
    if cell.scenario.deadlock_is_error or any(claim.kind is Kind.EVENTUALLY for claim in claims):
        return False
    try:
        if not finished and next(escapes(lift(cell.model)), None) is not None:
            return False
    except TimeoutError:
        return False
    verdict = prove(cell.model, claims=claims, depth=INDUCTION, seconds=seconds, report=report)
    return _uninterrupted(verdict).answer is Answer.HOLDS
