"""One attempt to prove properties: the order of the methods, and their time.

Depths near the beginning are checked first, as no proof exists for a property that fails there. Then each property is
tried by induction, by k-induction and with supporting invariants. What is still open is checked as deep as requested.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from math import inf

from attrs import define, evolve, field, frozen

from kwalk.model.language import DomainError, Kind, Model, PropertyInstance, Vector
from kwalk.model.language.lift import Lifted, LiftedProperty
from kwalk.search.base.options import DEFAULT_INDUCTION, StopReason
from kwalk.search.base.progress import Progress, Report
from kwalk.search.kernel.compared import Compared
from kwalk.search.kernel.stepping import KernelStepper
from kwalk.search.proof.bounded import BoundedCheck, BoundedCounterexample
from kwalk.search.proof.certificate import NO_STEP
from kwalk.search.proof.context import ProofContext, Supported, Unsupported
from kwalk.search.proof.cubes import Cube, fact_text
from kwalk.search.proof.effort import SPENT, OutOfEffort, SolverEffort
from kwalk.search.proof.induction import DomainViolation, domain_violations, least_k
from kwalk.search.proof.proof_graph import GoalReached, ProofGoal, domain_goals, state_goal
from kwalk.search.proof.python_comparison import ProofComparison, ProvedProperty
from kwalk.search.proof.recheck import certificate_of
from kwalk.search.results.trace import ReplayError, run
from kwalk.search.results.verdict import ProofOutcome, ProofResult
from kwalk.search.solver.terms import bad_state

DEFAULT_DEPTH = 20
"""Depth of bounded checking."""
NEAR_DEPTH = 6
"""Depth of bounded checking before any proof, and for an action that leaves its domain if nothing else is open."""
CANNOT_FAIL = "inductive, and was never put to the test: no state of the domains violates it, reachable or not"
IMPLIED_BY_GUARDS = "inductive: no quiescent state of the domains violates it, reachable or not"
PROGRESS_SECONDS = 0.5
"""Seconds between two reports of progress during queries."""
INDUCTION_CPU_SECONDS = 10.0
"""CPU time for induction, and for k-induction, of one property."""
CTI_QUESTIONS = 2_000
"""Queries to Z3 for whether a counterexample to induction is reachable."""


@frozen
class ProofOptions:
    """The options of an attempt.

    Args:
        properties: The property instances to prove.
        depth: The depth of bounded checking.
        induction: The largest k of k-induction; 0 for no induction.
        support: Whether supporting invariants are searched for.
        seconds: The time budget; None for no limit.
    """

    properties: tuple[PropertyInstance, ...]
    depth: int = DEFAULT_DEPTH
    induction: int = DEFAULT_INDUCTION
    support: bool = True
    seconds: float | None = None


@define(eq=False)
class ProofAttempt:
    """An attempt: `run` once, then read what is known."""

    model: Model
    lifted: Lifted
    options: ProofOptions
    report: Report
    began: float = field(factory=time.monotonic)
    domain_violations: list[DomainViolation] | None = None
    """The actions that could leave their domain, as far as Z3 can decide; None if it cannot."""
    cleared: dict[str, tuple[str, ...]] = field(factory=dict)
    """The actions that cannot leave their domain where supporting invariants hold, and these."""
    proofs: dict[int, ProofResult] = field(factory=dict)
    """By the number of the property."""
    refuted: int = 0
    """Depths 0 to `refuted` - 1 have no violation of an open property, and no action that leaves its domain."""
    stopped: StopReason | None = None
    limit: str = ""
    """What stopped the attempt, as a phrase."""
    counterexample: BoundedCounterexample | None = None
    counterexample_refuted: int = 0
    """Depths 0 to `counterexample_refuted` - 1 have no violation of the property that was found violated."""
    ended: bool = False
    """Every behaviour ends within the depths that were checked."""
    walked: str = ""
    """How a violation was found from states that walks have reached; empty if it was not."""
    _context: ProofContext = field(init=False)
    _check: BoundedCheck | None = None
    facts: dict[int, tuple[Cube, ...]] = field(factory=dict)
    """The supporting invariants of proved properties, by the number of the property."""
    compared: Compared | None = None
    """How much was compared with plain Python."""
    error: DomainError | None = None
    """An error of the model that was met as well as a violation."""
    _reported: float = 0.0
    _note: str = ""

    def __attrs_post_init__(self) -> None:
        self._context = ProofContext(self.model, self.lifted, self.deadline, self._report_queries)

    @property
    def deadline(self) -> float | None:
        """When the time budget ends."""
        return None if self.options.seconds is None else self.began + self.options.seconds

    @property
    def properties(self) -> list[LiftedProperty]:
        """The properties to prove, in the model's order."""
        return [prop for prop in self.lifted.properties if prop.prop in self.options.properties]

    @property
    def open(self) -> list[LiftedProperty]:
        """The properties of which nothing is known yet."""
        known = {index for index, proof in self.proofs.items() if proof.outcome is not ProofOutcome.UNKNOWN}
        return [prop for prop in self.properties if prop.prop.index not in known]

    def run(self) -> None:
        """Check the first depths, prove what can be proved, then check the rest as deep as requested.

        Raises:
            DomainError: An action leaves its domain, and no violation is as short as that.
        """
        self._report(0, "properties", "domains")
        with suppress(TimeoutError):
            self.domain_violations = list(domain_violations(self.lifted))
        if self.options.support and self.domain_violations:
            self._clear(self.domain_violations)
        if self.options.depth > NEAR_DEPTH and self._context.is_large:
            self._bounded(1)
            self._search_sample()
        self._bounded(min(NEAR_DEPTH, self.options.depth))
        proves = self.options.induction or self.options.support
        pending = self.open if proves and self.counterexample is None else []
        while pending and not self._is_spent() and not self.ended and self.counterexample is None:
            self._context.deadline = self._share(len(pending))
            self._prove(pending.pop(0))
        if self.counterexample is None and self.open:
            self._bounded(self.options.depth)

    def _clear(self, violations: list[DomainViolation]) -> None:
        """Search for facts that exclude the states from which actions leave their domain."""
        self._context.deadline = self._share(len(self.properties) + 1)
        actions, effort = {violation.action for violation in violations}, self._context.graph_effort()
        for goal in domain_goals(self.lifted):
            if goal.action in actions:
                self._report(len(self.cleared), "actions", f"domains: {goal.action}: supporting invariants")
                outcome = self._context.graph_facts(goal, effort)
                if isinstance(outcome, GoalReached):
                    self._end_with_error(self._start_of(outcome.start), outcome.instances)
                    return
                if isinstance(outcome, Supported):
                    self.cleared[goal.action] = tuple(fact_text(self.model, cube) for cube in outcome.facts)
        self.domain_violations = [v for v in violations if v.action not in self.cleared]

    def _start_of(self, state: Vector) -> int:
        """Return the number of an initial state."""
        return self.model.initial.index(state)

    # Bounded checking.

    def _bounded(self, limit: int) -> None:
        """Check open properties, and domains that may not be closed, up to a depth."""
        if self._check is None:
            self._check = BoundedCheck(self.model, self.lifted, self.open, domains=bool(self.domain_violations))
        check, self._check.properties = self._check, self.open
        while self.counterexample is None and not self.stopped and not self.ended and self.refuted <= limit:
            if not (self.open or (self.domain_violations and self.refuted <= NEAR_DEPTH)):
                return
            self._report(self.refuted, "depths", f"bounded checking of {len(self.open)} properties")
            check.progress.counterexample = None
            check.advance(self.deadline)
            self._record_depth(check)
            if self._is_spent():
                self.stopped, self.limit = StopReason.TIME, SPENT

    # Walks.

    def _search_sample(self) -> None:
        """Search for a violation in states that walks have reached: a large model's depths may take too long."""
        sample, stepper = self._context.sample, self._context.stepper
        for prop in self.open if self.counterexample is None and self.error is None else ():
            judge = KernelStepper(self.model, (prop.prop,), stepper.kernel)
            for state, before in sample.states() if prop.prop.kind is not Kind.REACHABLE else ():
                if judge.shows(state, before):
                    self._walked_to(state, prop)
                    return

    def _walked_to(self, state: bytes, prop: LiftedProperty) -> None:
        """Record a violation in a sampled state."""
        start, instances = self._context.sample.path_to(state)
        (vector,) = self._context.stepper.unpack([start]).tolist()
        self.counterexample = BoundedCounterexample(self._start_of(tuple(vector)), tuple(instances), prop)
        self.counterexample_refuted = self.refuted
        self._refuse_error(self.counterexample)
        self.walked = f"from states reached by walks: {len(instances)} steps; confirmed in plain Python"

    def _record_depth(self, check: BoundedCheck) -> None:
        """Record what a depth shows. A witness settles its `reachable` property; a violation ends the attempt."""
        progress = check.progress
        if progress.domain_error is not None:
            self._end_with_error(*progress.domain_error)
            return
        self.refuted, self.limit, self.ended = progress.refuted, progress.stopped, progress.ended
        self.stopped = StopReason.EFFORT if progress.stopped else None
        if progress.counterexample is None:
            return
        prop, steps = progress.counterexample.prop.prop, len(progress.counterexample.instances)
        self._refuse_error(progress.counterexample)
        if self.error is not None:
            return
        if prop.kind is Kind.REACHABLE:
            witnessed = ProofResult(prop.key, ProofOutcome.WITNESSED, f"after {steps} steps", refuted=steps)
            self.proofs[prop.index] = witnessed
            check.properties = self.open
        else:
            self.counterexample, self.counterexample_refuted = progress.counterexample, self.refuted

    def _end_with_error(self, start: int, instances: tuple[int, ...]) -> None:
        """End with a violation that is as short as a step that leaves its domain after `instances`."""
        self._end_with(self._domain_error(start, instances), len(instances) + 1, self.open)

    def _refuse_error(self, counterexample: BoundedCounterexample) -> None:
        """If the property raises an error where it seems violated or witnessed, end with a violation as short."""
        prop = counterexample.prop.prop
        try:
            path = tuple(self.model.instances[number].key for number in counterexample.instances)
            states = run(self.model, self.model.initial[counterexample.start], path)
        except (IndexError, ReplayError):  # no path in plain Python, which is found out when the trace is confirmed
            return
        try:
            self.model.truth(prop, *states[: -3 if prop.kind is Kind.STEP else -2 : -1])
        except DomainError as error:
            self.proofs.pop(prop.index, None)
            self._end_with(
                _with_path(error, path), len(path), [each for each in self.open if each is not counterexample.prop]
            )

    def _end_with(self, error: DomainError, steps: int, properties: list[LiftedProperty]) -> None:
        """End with a violation of at most so many steps of one of the properties; raise the error without one."""
        self.error, self.counterexample = error, None
        safety = [prop for prop in properties if prop.prop.kind is not Kind.REACHABLE]
        check = self._check or BoundedCheck(self.model, self.lifted, safety)
        check.domains, check.properties, progress = False, safety, check.progress
        progress.counterexample = progress.domain_error = None
        while progress.counterexample is None and progress.refuted <= steps and not self._is_spent():
            if progress.stopped or progress.ended or not safety:
                break
            check.advance(self.deadline)
        if progress.counterexample is None:
            raise self.error
        self.counterexample, self.counterexample_refuted = progress.counterexample, progress.refuted

    def _domain_error(self, start: int, instances: tuple[int, ...]) -> DomainError:
        """Return the error that plain Python raises at the end of a path that Z3 found."""
        actions = tuple(self.model.instances[number].key for number in instances)
        state = run(self.model, self.model.initial[start], actions)[-1]
        for instance in self.model.instances:
            try:
                self.model.attempt(instance, state)
            except DomainError as error:
                return _with_path(error, actions)
        raise AssertionError(f"Z3 finds an action that leaves its domain where plain Python finds none: {actions}.")

    # Proofs.

    def _prove(self, prop: LiftedProperty) -> None:
        """Try one property by k-induction, then with supporting invariants; trace a counterexample back."""
        key, part = prop.prop.key, self._context.part([prop])
        known = ProofResult(key, ProofOutcome.UNKNOWN, slice=part.description(), refuted=self.refuted)
        self._report(len(self.proofs), "properties", f"{key}: induction")
        known = self._by_induction(prop, known)
        if known.outcome is ProofOutcome.UNKNOWN and self.options.support:
            self._report(len(self.proofs), "properties", f"{key}: supporting invariants")
            known = self._by_support(prop, known)
        if known.outcome is ProofOutcome.UNKNOWN and prop.prop.kind is not Kind.REACHABLE:
            self._report(len(self.proofs), "properties", f"{key}: a counterexample to induction")
            known = self._with_counterexample(prop, known)
        self.proofs[prop.prop.index] = known

    def _by_induction(self, prop: LiftedProperty, result: ProofResult) -> ProofResult:
        """Try induction and k-induction."""
        max_k = min(self.options.induction, self.refuted)
        if prop.prop.kind is Kind.REACHABLE or not max_k:
            return result
        try:
            effort = self._induction_effort()
            if self._context.queries.cti(self._context.goal(prop), effort) is None:
                method = self._inductive(prop, effort)
                return evolve(result, outcome=ProofOutcome.PROVED, k=1, method=method, certificate=())
            k = least_k(self._context.part([prop]), prop, max_k, self._induction_effort())
        except OutOfEffort as end:
            return evolve(result, method=f"induction: {end}")
        if k is None:
            return evolve(result, method=f"not inductive, looking back up to {max_k} steps")
        return evolve(result, outcome=ProofOutcome.PROVED, k=k, method=f"{k}-inductive")

    def _inductive(self, prop: LiftedProperty, effort: SolverEffort) -> str:
        """Return what is said of a property that is inductive by itself."""
        if prop.prop.kind is Kind.WHEN_QUIESCENT:
            return IMPLIED_BY_GUARDS
        if prop.prop.kind is Kind.STEP:
            return "inductive"
        never = ProofGoal("", {NO_STEP: bad_state(self.lifted, prop)})
        return "inductive" if self._context.queries.cti(never, effort) is not None else CANNOT_FAIL

    def _induction_effort(self) -> SolverEffort:
        limit = time.process_time() + INDUCTION_CPU_SECONDS
        return SolverEffort(deadline=self._context.deadline, cpu_deadline=limit)

    def _by_support(self, prop: LiftedProperty, result: ProofResult) -> ProofResult:
        """Try supporting invariants; a violation that is found on the way ends the attempt."""
        outcome = self._context.support(prop)
        if isinstance(outcome, GoalReached):
            path = BoundedCounterexample(self._start_of(outcome.start), outcome.instances, prop)
            return self._reached(prop, path, result)
        if isinstance(outcome, Supported):
            texts = tuple(fact_text(self.model, cube) for cube in outcome.facts)
            self.facts[prop.prop.index] = outcome.facts
            result = evolve(result, k=1, support=texts, certificate=certificate_of(self.model, outcome.facts))
            if prop.prop.kind is Kind.REACHABLE:
                return evolve(result, outcome=ProofOutcome.VIOLATED, method="proved to be unreachable")
            return evolve(result, outcome=ProofOutcome.PROVED, method="inductive with supporting invariants")
        return evolve(result, method=outcome.reason)

    def _reached(self, prop: LiftedProperty, path: BoundedCounterexample, result: ProofResult) -> ProofResult:
        """Record a behaviour to a violation or witness that was found going backwards, which may not be shortest."""
        steps = len(path.instances)
        if steps < result.refuted:
            raise AssertionError(f"Z3 refutes {prop.prop.key} within {result.refuted - 1} steps: {steps} lead there.")
        if prop.prop.kind is Kind.REACHABLE:
            return evolve(result, outcome=ProofOutcome.WITNESSED, method=f"after {steps} steps")
        self.counterexample, self.counterexample_refuted = path, result.refuted
        self._shorten(prop, steps)
        self._refuse_error(self.counterexample)
        if self.error is not None:
            return result
        return evolve(result, outcome=ProofOutcome.VIOLATED, method=f"after {len(self.counterexample.instances)} steps")

    def _shorten(self, prop: LiftedProperty, steps: int) -> None:
        """Search for a shorter violation of a property than the one of `steps` steps."""
        part = self._context.part([prop])
        check = BoundedCheck(self.model, part.lifted, [prop], stuttering=part.stuttering)
        limit = min(steps, self.options.depth + 1)
        while check.progress.counterexample is None and check.progress.refuted < limit and not check.progress.stopped:
            self._report(check.progress.refuted, "depths", f"is there a shorter one than {steps} steps?")
            check.advance(self.deadline)
        self.counterexample_refuted = max(self.counterexample_refuted, check.progress.refuted)
        self.counterexample = check.progress.counterexample or self.counterexample
        self._look_at_others(prop)

    def _look_at_others(self, prop: LiftedProperty) -> None:
        """Search for a shorter violation of another property; only then is the one found the shortest of all."""
        others = [each for each in self.open if each is not prop and each.prop.kind is not Kind.REACHABLE]
        if self._check is None or not others or self.counterexample is None:
            return
        check, progress, steps = self._check, self._check.progress, len(self.counterexample.instances)
        check.properties, check.domains, progress.counterexample = others, False, None
        while (
            progress.counterexample is None
            and progress.refuted < min(steps, self.options.depth + 1)
            and not progress.stopped
        ):
            if progress.ended or self._is_spent():
                break
            self._report(progress.refuted, "depths", f"does another property fail within {steps} steps?")
            check.advance(self.deadline)
        self.counterexample = progress.counterexample or self.counterexample
        known = steps if progress.ended else progress.refuted
        self.counterexample_refuted = min(self.counterexample_refuted, known)
        for each in others:
            result = self.proofs.get(each.prop.index, ProofResult(each.prop.key, ProofOutcome.UNKNOWN))
            self.proofs[each.prop.index] = evolve(result, refuted=max(result.refuted, progress.refuted))

    def _with_counterexample(self, prop: LiftedProperty, result: ProofResult) -> ProofResult:
        """Add a counterexample to induction and whether it is reachable; a reachable one is a violation."""
        context = self._context
        with suppress(OutOfEffort):
            effort = SolverEffort(CTI_QUESTIONS, context.deadline, on_query=context.on_query)
            cti = context.queries.cti(context.goal(prop), effort)
            if cti is not None:
                outcome = context.graph_facts(state_goal(self.lifted, cti.cube), effort)
                result = evolve(result, counterexample=f"{cti.text(self.model)}: {_where_it_is(outcome)}")
                if isinstance(outcome, GoalReached):
                    instances = outcome.instances + (() if cti.instance == NO_STEP else (cti.instance,))
                    path = BoundedCounterexample(self._start_of(outcome.start), instances, prop)
                    return self._reached(prop, path, result)
        return result

    # Plain Python.

    def compare_with_python(self) -> None:
        """Compare what Z3 was given, and what was concluded, with plain Python in some states.

        Raises:
            EngineDisagreement: Plain Python has another result.
        """
        proved, refuted = [], dict[int, float]()
        for prop in self.properties:
            result = self.proofs.get(prop.prop.index, ProofResult(prop.prop.key, ProofOutcome.UNKNOWN))
            if result.k and result.outcome in (ProofOutcome.PROVED, ProofOutcome.VIOLATED):
                facts = self.facts.get(prop.prop.index, ())
                leaves = self._context.part([prop]).leaves
                proved.append(ProvedProperty(prop, facts, result.k, leaves))
                refuted[prop.prop.index] = inf
            elif self.counterexample is not None and self.counterexample.prop is prop:
                refuted[prop.prop.index] = self.counterexample_refuted
            elif result.outcome is ProofOutcome.UNKNOWN:
                refuted[prop.prop.index] = max(self.refuted, result.refuted)
        longest = self.refuted - 1 if self.ended else None
        comparison = ProofComparison(self._context.queries, proved, refuted, longest)
        comparison.run(time.monotonic() - self.began)
        self.compared = comparison.compared

    # Time and progress.

    def _share(self, properties: int) -> float | None:
        """Return when the share of the next of `properties` properties ends; one more share is for what follows."""
        now = time.monotonic()
        return None if self.deadline is None else now + (self.deadline - now) / (properties + 1)

    def _is_spent(self) -> bool:
        return self.deadline is not None and time.monotonic() > self.deadline

    def _report_queries(self, questions: int) -> None:
        """Report how many queries there were for the current property, twice a second."""
        if time.monotonic() - self._reported > PROGRESS_SECONDS:
            self._report(questions, "questions", self._note)

    def _report(self, count: int, unit: str, note: str) -> None:
        self._reported, self._note = time.monotonic(), note
        elapsed = self._reported - self.began
        left = None if self.options.seconds is None else max(0.0, self.options.seconds - elapsed)
        self.report(Progress("prove", count, unit, elapsed, left=left, note=note))


def _where_it_is(outcome: Supported | GoalReached | Unsupported) -> str:
    """Return whether a counterexample to induction is reachable, as a phrase."""
    if isinstance(outcome, GoalReached):
        return f"a behaviour of {len(outcome.instances)} steps leads there"
    if isinstance(outcome, Supported):
        return f"no behaviour leads there ({len(outcome.facts)} invariants exclude it)"
    return f"whether a behaviour leads there is not known ({outcome.reason})"


def _with_path(error: DomainError, actions: Sequence[str]) -> DomainError:
    """Return an error with the steps that lead to it."""
    after = f"after {len(actions)} steps: {', '.join(actions)}" if actions else "in an initial state"
    return DomainError(f"{error} This happens {after}.")
