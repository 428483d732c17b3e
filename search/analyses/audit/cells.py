"""The cells of an audit: one trial of a fix, with the fix off or on, and the search of it.

Words: an outcome is *decided* if it is a counterexample, a proof, or all states within the bounds; a sampled one is
not. A *judgement* compares the two cells of a row.

Exhaustive search comes first. If it does not finish in its time, a proof is attempted if that is requested, and then
random walks, whose first finding is minimized.
"""

from __future__ import annotations

import hashlib
from enum import Enum
from functools import cached_property
from pathlib import Path
from typing import Any

from attrs import evolve, field, frozen

from kwalk.model.language import Fix, Kind, Model, PropertyInstance, Scenario, Trial, UsageError
from kwalk.model.language.lift import lift
from kwalk.model.language.settings import Setting, setting_text
from kwalk.search.analyses.saved_run import SavedRunOptions
from kwalk.search.base.components import entry
from kwalk.search.base.journal import Journal
from kwalk.search.base.option_table import ProveKeywords
from kwalk.search.base.options import DEFAULT_INDUCTION
from kwalk.search.base.query import Query
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.kernel.compared import Compared
from kwalk.search.kernel.compile.compiler import kernel_for
from kwalk.search.kernel.model_digest import cache_key
from kwalk.search.minimize.shrink import minimize_findings
from kwalk.search.native.memory import DEFAULT_SHARE, available_memory
from kwalk.search.results.cross_check import check_agreement
from kwalk.search.results.fairness import is_counterexample, liveness_properties
from kwalk.search.results.trace import ReplayError, Trace, run
from kwalk.search.results.verdict import DEADLOCK, Answer, Finding, Strength, Verdict, total_compared
from kwalk.search.simulation.walk import walk


class CellStatus(Enum):
    """How the search of a cell ended; the value is what `--json` prints."""

    PROVED = "proved"
    EXHAUSTIVE = "exhaustive"
    SAMPLED = "sampled"
    VIOLATED = "violated"
    UNDECIDED = "undecided"


@frozen
class CellOutcome:
    """The outcome of a cell. Counts that it does not have are None.

    Attributes:
        status: How the search ended.
        states: The number of distinct states.
        depth: The depth of the search.
        steps: The number of steps of random walks.
        prop: The key of the violated property instance; "" for a deadlock.
        trace: A trace of the violation; None for a `reachable` property that is not reached.
        bounds_hit: The names of the bounds that disabled a step.
        why: What stopped an undecided search.
        seconds: The time budget that was too small; None for a decided outcome.
        fairness: The fairness under which properties about behaviours were checked; "" if none was.
        compared: How much of the search was compared with plain Python; it differs from run to run.
        key: The key of the cell, where the outcome is saved.
    """

    status: CellStatus
    states: int | None = None
    depth: int | None = None
    steps: int | None = None
    prop: str | None = None
    trace: Trace | None = None
    bounds_hit: tuple[str, ...] = ()
    why: str = ""
    seconds: float | None = None
    fairness: str = ""
    compared: Compared | None = field(default=None, eq=False, repr=False)
    key: str = field(default="", eq=False, repr=False)

    @property
    def is_decided(self) -> bool:
        """Whether more time could not change it."""
        return self.status in (CellStatus.PROVED, CellStatus.EXHAUSTIVE, CellStatus.VIOLATED)

    @property
    def holds(self) -> bool:
        """Whether no property is violated in any state within the bounds."""
        return self.status in (CellStatus.PROVED, CellStatus.EXHAUSTIVE)

    @property
    def text(self) -> str:
        """The outcome in a few words; nothing in it differs from run to run."""
        if self.status is CellStatus.VIOLATED:
            return self._violation()
        if self.status is CellStatus.EXHAUSTIVE:
            return f"exhaustive ({self.states:,} states, depth {self.depth})"
        if self.status is CellStatus.SAMPLED:
            return f"sampled ({self.steps:,} steps)"
        return f"undecided ({self.why})" if self.status is CellStatus.UNDECIDED else "proved"

    def _violation(self) -> str:
        prop = (self.prop or "a deadlock").removesuffix("()")
        if self.trace is None:
            return f"{prop} is never reached ({self.states:,} states, depth {self.depth})"
        steps = f"{self.trace.length} step" + "s" * (self.trace.length != 1)
        return f"{'shortest trace' if self.trace.shortest else 'trace'} of {steps} to {prop}"


class Judgement(Enum):
    """The result of a row."""

    CLOSES = "closes"
    CLOSES_AS_SAMPLED = "closes, as far as sampled"
    HOLE = "has a hole"
    WORSE = "makes worse"
    NO_DIFFERENCE = "no difference"
    UNDECIDED = "undecided"

    @property
    def meaning(self) -> str:
        """The judgement in a sentence."""
        return JUDGEMENT_MEANINGS[self]


JUDGEMENT_MEANINGS = {
    Judgement.CLOSES: "violated without the fix; holds with it, in every state within the bounds",
    Judgement.CLOSES_AS_SAMPLED: "violated without the fix; random walks with it met no violation, which is no proof",
    Judgement.HOLE: "violated without the fix, and still violated with it",
    Judgement.WORSE: "holds without the fix, violated with it",
    Judgement.NO_DIFFERENCE: "holds without the fix and with it: this trial does not need it",
    Judgement.UNDECIDED: "the searches did not finish",
}


def judge(off: CellOutcome, on: CellOutcome) -> Judgement:
    """Compare the outcomes without and with a fix."""
    if on.status is CellStatus.VIOLATED and off.is_decided:
        return Judgement.HOLE if off.status is CellStatus.VIOLATED else Judgement.WORSE
    if off.status is CellStatus.VIOLATED and on.holds:
        return Judgement.CLOSES
    if off.status is CellStatus.VIOLATED and on.status is CellStatus.SAMPLED:
        return Judgement.CLOSES_AS_SAMPLED
    return Judgement.NO_DIFFERENCE if off.holds and on.holds else Judgement.UNDECIDED


WALKS, WALK_DEPTH = 50_000, 200
"""Number and depth of the random walks of a cell; fixed, so that the findings do not depend on the machine."""
PROVING = 10.0
"""The least time budget of a proof, in seconds."""
SECONDS = 60.0
"""The default time budget of each search of a cell."""


def audit_journal(folder: Path) -> Journal[CellOutcome]:
    """Return the journal of audits in a folder."""
    return Journal(folder / "audit.jsonl", CellOutcome, "kwalk audit 4")


@frozen(kw_only=True)
class AuditOptions(SavedRunOptions[CellOutcome]):
    """The options of `audit`.

    Args:
        seconds: The time budget of each search of a cell.
        share: The share of the available memory that a search may use.
        prove: Whether to attempt a proof where exhaustive search does not finish.
    """

    seconds: float = SECONDS
    share: float = DEFAULT_SHARE
    prove: bool = False


@frozen(eq=False)
class AuditCell:
    """A trial of a fix, with its flag at one of the two settings."""

    fix: Fix
    trial: Trial
    scenario: Scenario
    setting: Setting

    @property
    def name(self) -> str:
        """The flag, its setting and the scenario; for progress and errors."""
        return f"{self.fix.flag.name} {setting_text(self.setting)} in {self.scenario.name}"

    @cached_property
    def model(self) -> Model:
        """The scenario in the base variant with the flag set; flags that the variant has anyway are not listed."""
        trial, wanted = self.trial, {**self.trial.flags, self.fix.flag.name: self.setting}
        own = self.scenario.binding(trial.variant, trial.bounds).flags
        changed = {name: setting for name, setting in wanted.items() if name not in own or own[name] != setting}
        return Model(self.scenario, trial.variant, trial.bounds, changed)

    @cached_property
    def properties(self) -> tuple[PropertyInstance, ...]:
        """The property instances to check, in the order of the model."""
        return self.model.properties_named(self.trial.properties)

    def key(self, options: AuditOptions) -> str:
        """Return a digest of everything that the outcome depends on, except the budgets of time and memory."""
        model, checked = self.model, [prop.key for prop in self.properties]
        binding = (sorted(model.binding.bounds.items()), sorted(model.binding.flags.items()))
        what = (cache_key(model), sorted(model.flag_overrides.items()), binding, checked, options.prove)
        return hashlib.blake2b(repr(what).encode(), digest_size=16).hexdigest()

    def confirms(self, outcome: CellOutcome) -> bool:
        """Return whether plain Python confirms the trace of a saved outcome; true for one without a trace."""
        trace = outcome.trace
        if trace is None:
            return outcome.prop is None or any(prop.key == outcome.prop for prop in self.properties)
        model, about = self.model, (trace.variant, dict(trace.bounds), dict(trace.flags), trace.prop)
        if about != (model.variant, dict(model.binding.bounds), model.flag_overrides, outcome.prop or None):
            return False
        if not trace.states or trace.states[0] not in model.initial:
            return False
        try:
            return run(self.model, trace.states[0], trace.actions) == trace.states and self._shows(trace)
        except (ReplayError, UsageError):
            return False

    def _shows(self, trace: Trace) -> bool:
        if trace.prop is None:
            return next(self.model.successors(trace.states[-1]), None) is None
        return any(is_counterexample(self.model, prop, trace) for prop in self.properties if prop.key == trace.prop)


def examine(cell: AuditCell, options: AuditOptions) -> CellOutcome:
    """Search a cell.

    Raises:
        KeyboardInterrupt: Ctrl-C was pressed.
        DomainError: An action leaves its domain.
    """
    kernel = kernel_for(cell.model)
    common: dict[str, Any] = {
        "properties": cell.properties,
        "seconds": options.seconds,
        "kernel": kernel,
        "report": options.report,
    }
    memory = int(options.share * available_memory())
    verdict = _uninterrupted(exhaust(cell.model, memory_bytes=memory, **common))
    outcome, others = _outcome(cell, options, verdict, common)
    return evolve(outcome, fairness=verdict.fairness, compared=total_compared((verdict, *others)))


def _outcome(
    cell: AuditCell, options: AuditOptions, verdict: Verdict, common: dict[str, Any]
) -> tuple[CellOutcome, tuple[Verdict, ...]]:
    """Return the outcome of a cell after its exhaustive search, and the verdicts of other engines that it asked."""
    found = _first(verdict)
    if found is not None:
        return _violated(verdict, found), ()
    finished = verdict.strength is Strength.EXHAUSTIVE
    bounds_hit = tuple(verdict.bounds_hit)
    proof = _proof(cell, options, finished=finished) if options.prove else None
    proofs = () if proof is None else (proof,)
    if proof is not None and proof.answer is Answer.HOLDS:
        return CellOutcome(CellStatus.PROVED, bounds_hit=bounds_hit), proofs
    if finished:
        exhausted = CellOutcome(CellStatus.EXHAUSTIVE, verdict.distinct_states, verdict.depth, bounds_hit=bounds_hit)
        return exhausted, proofs
    walks = _uninterrupted(walk(cell.model, walks=WALKS, depth=WALK_DEPTH, **common))
    hits = {**verdict.bounds_hit, **walks.bounds_hit}
    return _sampled(cell, walks, evolve(verdict, bounds_hit=hits), options.seconds), (*proofs, walks)


def _uninterrupted(verdict: Verdict) -> Verdict:
    if verdict.is_interrupted:
        raise KeyboardInterrupt
    return verdict


def _first(verdict: Verdict) -> Finding | None:
    """Return the first violation, if possible one with a trace."""
    return next((f for f in verdict.findings if f.trace is not None), next(iter(verdict.findings), None))


def _violated(verdict: Verdict, finding: Finding) -> CellOutcome:
    return CellOutcome(
        CellStatus.VIOLATED,
        verdict.distinct_states if finding.trace is None else None,
        verdict.depth if finding.trace is None else None,
        prop="" if finding.prop == DEADLOCK else finding.prop,
        trace=finding.trace,
        bounds_hit=tuple(verdict.bounds_hit),
    )


def _sampled(cell: AuditCell, walks: Verdict, exhausted: Verdict, seconds: float) -> CellOutcome:
    """Return the outcome of walks after an exhaustive search that did not finish."""
    found, bounds_hit = _first(walks), tuple(exhausted.bounds_hit)
    if found is not None:
        walks = minimize_findings(cell.model, evolve(walks, findings=(found,)))
        check_agreement(cell.model, exhausted, walks)
        return evolve(_violated(walks, walks.findings[0]), bounds_hit=bounds_hit)
    if not walks.steps or liveness_properties(cell.properties):
        return CellOutcome(CellStatus.UNDECIDED, why=exhausted.qualifier, bounds_hit=bounds_hit, seconds=seconds)
    return CellOutcome(CellStatus.SAMPLED, steps=walks.steps, bounds_hit=bounds_hit, seconds=seconds)


def _proof(cell: AuditCell, options: AuditOptions, *, finished: bool) -> Verdict | None:
    """Return the verdict of an attempt to prove all properties; None if there is none, or an action leaves its domain.

    A finished search has already reached what must be reachable.
    """
    properties = tuple(c for c in cell.properties if not finished or c.kind is not Kind.REACHABLE)
    if cell.scenario.deadlock_is_error or any(prop.kind.is_liveness for prop in properties):
        return None
    try:
        if not finished and next(entry("domain_violations")(lift(cell.model)), None) is not None:
            return None
    except TimeoutError:
        return None
    limits = {"depth": DEFAULT_INDUCTION, "seconds": max(options.seconds, PROVING)}
    verdict: Verdict = entry("prove")(Query.of(cell.model, ProveKeywords, limits, properties), options.report)
    return _uninterrupted(verdict)
