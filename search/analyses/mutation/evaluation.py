"""Evaluation of one mutant: on each baseline that reaches its function, until a baseline kills it.

Words: a mutant is *killed* if a property that holds in the model is violated in the mutant. It *crashes* if a step
leaves its domain or raises an error. It is *noticed* if a complete search of it shows a sign of a weak verdict that the
search of the model does not show. It is *equivalent* if no state distinguishes it from the model, *restricted* if it
only takes steps of the model but not all of them, and it *survives* if it behaves differently in some reachable state
and nothing notices. *Not exercised* means that no step from a reachable state of the baselines executes the changed
line. A mutant that cannot be lifted is *refused*.

The instances that may execute the changed line in a reachable state of the model are lifted again. If no reachable
state distinguishes the two liftings, the mutant has the same reachable states and steps and is not searched. Otherwise
it is searched exhaustively, and by random walks if that does not finish. The mutant can reach states that the model
does not reach; for these, the *unreached instances* are lifted too. If no reachable state distinguishes the mutant, Z3
decides whether any state in the domain does.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from functools import cached_property

from attrs import define, evolve, field, frozen

from kwalk.model.language import DomainError, KwalkError, LiftError
from kwalk.model.language.lift import Lifted, LiftedAction
from kwalk.search.analyses.mutation.baseline import MEMORY, Baseline, MutatedModel
from kwalk.search.analyses.mutation.differences import LiftedDifference, is_same
from kwalk.search.analyses.mutation.mutants import Mutant
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.kernel.interface import Kernel
from kwalk.search.results.confirmation import StepLeavesDomain, unpacked
from kwalk.search.results.trace import Trace
from kwalk.search.results.verdict import Finding, Strength, Verdict
from kwalk.search.simulation.walk import walk

SECONDS = 10.0
"""The default time budget of the exhaustive search of a mutant."""
WALKS, WALK_DEPTH = 20_000, 200
"""Number and depth of the random walks of a mutant whose search did not finish."""
LEAST_WALKING = 1.0
"""The least time budget of these walks, in seconds."""
Z3_MILLISECONDS = 1_000
"""The time limit of Z3 for one action instance."""


class MutantStatus(Enum):
    """How a mutant ended; the value is what `--json` prints."""

    KILLED = "killed"
    CRASHED = "crashed"
    NOTICED = "noticed"
    EQUIVALENT = "equivalent"
    NOT_EXERCISED = "not exercised"
    RESTRICTED = "restricted"
    SURVIVED = "survived"
    UNDECIDED = "undecided"
    REFUSED = "refused"

    @property
    def meaning(self) -> str:
        """The status in a sentence."""
        return STATUS_MEANINGS[self]


STATUS_MEANINGS = {
    MutantStatus.KILLED: "a property that holds in the model is violated, or a `reachable` property is not reached "
    "any more",
    MutantStatus.CRASHED: "a step leaves its domain, or raises an error",
    MutantStatus.NOTICED: "every property holds, but the verdict shows what that of the model does not: an action "
    "instance that never fires or never changes anything, a property that is never tested, or a bound that is reached",
    MutantStatus.EQUIVALENT: "no state distinguishes it from the model",
    MutantStatus.NOT_EXERCISED: "no step from a reachable state of the baselines executes the changed line",
    MutantStatus.RESTRICTED: "it forbids steps in some reachable states and takes none that the model does not take, "
    "so that what holds in every state and over every step of the model holds in it as well; nothing else notices",
    MutantStatus.SURVIVED: "it behaves differently in some reachable state, and every property holds in all of its "
    "states",
    MutantStatus.UNDECIDED: "its search did not finish in its time, and found no violation",
    MutantStatus.REFUSED: "it is not a model: it cannot be lifted, or can write before a `require`",
}


class Evidence(Enum):
    """What the status of a mutant is based on; the value is what reports show."""

    EXHAUSTIVE = "exhaustive search"
    WALK = "random walks"
    TERMS = "the same terms"
    PROOF = "proof by Z3, for all states in the domain"
    REACHABLE = "all reachable states within the bounds"
    LIFTING = "lifting"
    TIME = "time budget"


@frozen
class MutantOutcome:
    """The status of a mutant and its evidence.

    Attributes:
        status: How the mutant ended.
        evidence: What the status is based on.
        baseline: The name of the baseline that decided; "" if all did.
        prop: The key of the violated property instance; for a crash or a notice, the reason as text.
        actions: The keys of the action instances that lead to the violation, or to the first state that distinguishes
            a survivor; None where no behaviour shows the status.
        start: The index of the initial state in which `actions` begin.
        loop: The index of the state that the last step leads back to, for a lasso.
        seconds: The time budget that was too small; None if more time could not change the outcome.
        mutant: The id of the mutant, in saved outcomes.
        key: The key of the mutant on its baselines, in saved outcomes.
    """

    status: MutantStatus
    evidence: Evidence
    baseline: str = ""
    prop: str = ""
    actions: tuple[str, ...] | None = None
    start: int = 0
    loop: int | None = None
    seconds: float | None = None
    mutant: str = field(default="", eq=False)
    key: str = field(default="", eq=False)

    @property
    def text(self) -> str:
        """The outcome in a few words."""
        if self.status is MutantStatus.KILLED:
            steps = "never reached" if self.actions is None else f"after {_counted(len(self.actions), 'step')}"
            return f"killed by {self.prop.removesuffix('()')}, {steps} ({self.evidence.value} of {self.baseline})"
        if self.status is MutantStatus.CRASHED:
            steps = "" if self.actions is None else f" after {_counted(len(self.actions), 'step')}"
            return f"crashed{steps} in {self.baseline}: {self.prop}"
        if self.status is MutantStatus.NOTICED:
            return f"noticed: {self.prop} ({self.evidence.value} of {self.baseline})"
        if self.status in (MutantStatus.SURVIVED, MutantStatus.RESTRICTED):
            steps = _counted(len(self.actions or ()), "step")
            return f"{self.status.value}; it differs first after {steps} of {self.baseline}"
        return f"{self.status.value} ({self.evidence.value})"


def _counted(number: int, unit: str) -> str:
    return f"{number} {unit}{'s' * (number != 1)}"


@define(eq=False)
class MutantEvaluation:
    """A mutant on one baseline.

    Attributes:
        baseline: The searched model.
        changed: The liftings that the mutant changes, by the index of the action instance.
        is_alive: Whether a reachable state of the model distinguishes the mutant and nothing has killed it.
        is_complete: Whether all states of the mutant were visited.
    """

    baseline: Baseline
    changed: dict[int, LiftedAction]
    is_alive: bool = False
    is_complete: bool = True

    @cached_property
    def differences(self) -> list[LiftedDifference]:
        """The difference of each changed instance."""
        baseline = self.baseline
        return [
            LiftedDifference(baseline.model, baseline.lifted.terms, baseline.lifted.actions[index], action)
            for index, action in self.changed.items()
        ]

    @property
    def differs(self) -> bool:
        """Whether a reachable state of the model distinguishes the mutant."""
        return any(each.first_in(self.baseline.states, self.baseline.layout) is not None for each in self.differences)

    def first_difference(self, *, beyond: bool = False) -> int | None:
        """Return the index of the first reachable state that distinguishes the mutant; None if there is none.

        With `beyond`, of the first state in which the mutant takes a step that the model does not take.
        """
        states, layout = self.baseline.states, self.baseline.layout
        found = [each.first_in(states, layout, beyond=beyond) for each in self.differences]
        return min((index for index in found if index is not None), default=None)


def evaluate(mutant: Mutant, baselines: Sequence[Baseline], seconds: float = SECONDS) -> MutantOutcome:
    """Return the outcome of a mutant on these baselines; `seconds` is the time budget of each search.

    Raises:
        KeyboardInterrupt: Ctrl-C was pressed.
    """
    evaluations: list[MutantEvaluation] = []
    noticed: list[MutantOutcome] = []
    try:
        for baseline in baselines:
            if not baseline.reaches(mutant):
                continue
            one = MutantEvaluation(baseline, _changed_instances(mutant, baseline, baseline.reached_instances(mutant)))
            evaluations.append(one)
            if one.differs:
                one.is_alive = True
                unreached = _changed_instances(mutant, baseline, baseline.unreached_instances(mutant))
                outcome, one.is_complete = _search(mutant, baseline, one.changed | unreached, seconds)
                if outcome is not None and outcome.status is not MutantStatus.NOTICED:
                    return outcome
                noticed += [outcome] if outcome is not None else []
        return noticed[0] if noticed else _outcome_of_survivor(mutant, evaluations, seconds)
    except LiftError as error:
        return MutantOutcome(MutantStatus.REFUSED, Evidence.LIFTING, prop=str(error))


def _changed_instances(
    mutant: Mutant, baseline: Baseline, actions: tuple[LiftedAction, ...]
) -> dict[int, LiftedAction]:
    """Lift instances of the mutant; return those that differ from the model's. LiftError if one cannot be lifted."""
    if not actions:
        return {}
    with mutant.active():
        lifted = baseline.relift(actions)
    return {index: action for index, action in lifted.items() if not is_same(baseline.lifted.actions[index], action)}


def kernel_with(baseline: Baseline, changed: dict[int, LiftedAction]) -> Kernel:
    """Return the kernel of the baseline's model with some instances replaced."""
    actions = tuple(changed.get(index, action) for index, action in enumerate(baseline.lifted.actions))
    lifted = Lifted(baseline.model, baseline.lifted.terms, actions, baseline.lifted.properties)
    return baseline.compiler.kernel(lifted, changed)


def _search(
    mutant: Mutant, baseline: Baseline, changed: dict[int, LiftedAction], seconds: float
) -> tuple[MutantOutcome | None, bool]:
    """Search a mutant; return its outcome if something kills or notices it, and whether the search was complete.

    Only the search of the baseline is compared with plain Python: all but a few functions of the kernel are its own,
    the comparison takes longer than most of these searches, and a mutant that survives is no verdict on the model.
    """
    model, kernel = MutatedModel(baseline.model, mutant), kernel_with(baseline, changed)
    properties, evidence = baseline.properties, Evidence.EXHAUSTIVE
    try:
        verdict = exhaust(
            model, properties=properties, kernel=kernel, seconds=seconds, memory_bytes=MEMORY, compare=False
        )
        is_complete = verdict.strength is Strength.EXHAUSTIVE
        if not verdict.findings and not is_complete and not verdict.is_interrupted:
            evidence, limit = Evidence.WALK, max(LEAST_WALKING, seconds)
            verdict = walk(
                model,
                properties=properties,
                kernel=kernel,
                walks=WALKS,
                depth=WALK_DEPTH,
                seconds=limit,
                compare=False,
            )
    except StepLeavesDomain as error:
        steps = _steps_of(error.trace, baseline)
        return MutantOutcome(MutantStatus.CRASHED, evidence, baseline.name, _reason(error), *steps), False
    except DomainError as error:
        return MutantOutcome(MutantStatus.CRASHED, evidence, baseline.name, _reason(error)), False
    if verdict.is_interrupted:
        raise KeyboardInterrupt
    finding = _first(verdict, baseline)
    if finding is None:
        return _notice(verdict, baseline) if is_complete else None, is_complete
    killed = MutantOutcome(MutantStatus.KILLED, evidence, baseline.name, finding.prop)
    if finding.trace is not None:
        actions, start, loop = _steps_of(finding.trace, baseline)
        killed = evolve(killed, actions=actions, start=start, loop=loop)
    return killed, is_complete


def _steps_of(trace: Trace, baseline: Baseline) -> tuple[tuple[str, ...], int, int | None]:
    """Return the steps of a trace, the index of its initial state, and where its loop begins."""
    return trace.actions, baseline.model.initial.index(trace.states[0]), trace.loop


def _first(verdict: Verdict, baseline: Baseline) -> Finding | None:
    """Return the first violation that the model does not have, if possible one with a trace."""
    known = {finding.prop for finding in baseline.verdict.findings}
    found = [finding for finding in verdict.findings if finding.prop not in known]
    return next((f for f in found if f.trace is not None), next(iter(found), None))


def _notice(verdict: Verdict, baseline: Baseline) -> MutantOutcome | None:
    """Return the first sign of a weak verdict that the search of the model does not show."""
    original = baseline.verdict
    for name in verdict.bounds_hit.keys() - original.bounds_hit.keys():
        return _noticed_outcome(baseline, f"the bound {name} is reached")
    for key, counts in verdict.action_counts.items():
        if original.action_counts[key].taken and not counts.taken:
            return _noticed_outcome(baseline, f"{key} never fires")
        if original.action_counts[key].changed and not counts.changed:
            return _noticed_outcome(baseline, f"{key} never changes anything")
    stated = {prop.key for prop in baseline.model.stated_properties}
    for key, times in verdict.premises.items():
        if original.premises.get(key) and not times and key in stated:
            return _noticed_outcome(baseline, f"{key} is never tested")
    return None


def _noticed_outcome(baseline: Baseline, reason: str) -> MutantOutcome:
    return MutantOutcome(MutantStatus.NOTICED, Evidence.EXHAUSTIVE, baseline.name, reason)


def _reason(error: KwalkError) -> str:
    """Return the first sentence of an error, without the steps that lead to it."""
    return str(error).partition(" This happens ")[0]


def _outcome_of_survivor(mutant: Mutant, evaluations: Sequence[MutantEvaluation], seconds: float) -> MutantOutcome:
    """Return the outcome of a mutant that nothing has killed or noticed."""
    alive = [one for one in evaluations if one.is_alive]
    if not alive:
        return _outcome_of_equivalent(mutant, evaluations)
    baseline, found = alive[0].baseline, alive[0].first_difference()
    assert found is not None
    steps = _steps_to(baseline, found)
    if not all(one.is_complete for one in alive):
        return MutantOutcome(MutantStatus.UNDECIDED, Evidence.TIME, baseline.name, "", *steps, seconds=seconds)
    goes_beyond = any(one.first_difference(beyond=True) is not None for one in alive)
    status = MutantStatus.SURVIVED if goes_beyond else MutantStatus.RESTRICTED
    return MutantOutcome(status, Evidence.EXHAUSTIVE, baseline.name, "", *steps)


def _outcome_of_equivalent(mutant: Mutant, evaluations: Sequence[MutantEvaluation]) -> MutantOutcome:
    """Return the outcome of a mutant that no reachable state distinguishes; LiftError if it cannot be lifted."""
    if not any(_is_exercised(mutant, one.baseline) for one in evaluations):
        for one in evaluations:
            _changed_instances(mutant, one.baseline, one.baseline.unreached_instances(mutant)[:1])
        return MutantOutcome(MutantStatus.NOT_EXERCISED, Evidence.REACHABLE)
    unreached = [_changed_instances(mutant, o.baseline, o.baseline.unreached_instances(mutant)) for o in evaluations]
    whole = [MutantEvaluation(o.baseline, o.changed | more) for o, more in zip(evaluations, unreached, strict=True)]
    if not any(one.changed for one in whole):
        return MutantOutcome(MutantStatus.EQUIVALENT, Evidence.TERMS)
    proved = all(difference.is_refuted(Z3_MILLISECONDS) for one in whole for difference in one.differences)
    return MutantOutcome(MutantStatus.EQUIVALENT, Evidence.PROOF if proved else Evidence.REACHABLE)


def _steps_to(baseline: Baseline, state: int) -> tuple[tuple[str, ...], int]:
    """Return the steps to a reachable state, and the index of the initial state in which they begin."""
    path = baseline.explorer.path_to(state)
    start = unpacked(baseline.kernel, path.states[:1])[0]
    return tuple(baseline.model.instances[n].key for n in path.instances), baseline.model.initial.index(start)


def _is_exercised(mutant: Mutant, baseline: Baseline) -> bool:
    """Return whether a step from a reachable state executes the changed line."""
    line = mutant.edit.statement
    if line not in baseline.exercised_lines:
        with mutant.failing_at_line():
            failing = baseline.relift(baseline.reached_instances(mutant))
        changed = {n: action for n, action in failing.items() if not is_same(baseline.lifted.actions[n], action)}
        baseline.exercised_lines[line] = MutantEvaluation(baseline, changed).differs
    return baseline.exercised_lines[line]
