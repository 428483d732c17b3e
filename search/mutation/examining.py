"""How one mutant is looked at: on each ground that comes to its function, until one of them kills it.

What changes nothing is seen by its terms, which costs milliseconds. Else the mutant is searched exhaustively, and by
random walks if that does not finish. Of what is alive after that, the states of the model are asked whether they tell
the two apart, then Z3 whether any state could.
"""
from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from model.language import DomainError, KwalkError, LiftError
from model.language.lift import Lifted, LiftedAction
from search.confirm import StepLeavesDomain, vectors
from search.exhaust import exhaust
from search.kernel import Kernel
from search.mutation.differences import Difference, is_same
from search.mutation.fates import Evidence, Fate, Outcome
from search.mutation.grounds import MEMORY, Ground, MutatedModel
from search.mutation.mutants import Mutant
from search.trace import Trace
from search.verdict import Finding, Verdict
from search.walks import walk

SECONDS = 10.0
"""Seconds that each exhaustive search of a mutant gets if nobody says how many."""
WALKS, WALK_DEPTH = 20_000, 200
"""How many walks a mutant gets whose search did not finish, of how many steps."""
LEAST_WALKING = 1.0
"""Seconds that these walks get at least."""
MILLISECONDS = 1_000
"""How long Z3 may think about one action instance."""


@frozen
class Budget:
    """What a mutant may take: seconds of each exhaustive search."""

    seconds: float = SECONDS


@frozen(eq=False)
class Trying:
    """A mutant on one ground: the instances that it changes, and whether its search was complete."""

    ground: Ground
    changed: dict[int, LiftedAction]
    is_complete: bool = True

    def differences(self) -> list[Difference]:
        """What tells each changed instance from the model's."""
        ground = self.ground
        return [
            Difference(ground.model, ground.lifted.terms, ground.lifted.actions[number], action)
            for number, action in self.changed.items()
        ]


def examined(mutant: Mutant, grounds: Sequence[Ground], budget: Budget) -> Outcome:
    """The mutant's fate on these grounds."""
    alive: list[Trying] = []
    noticed: list[Outcome] = []
    came_to = [ground for ground in grounds if ground.comes_to(mutant)]
    try:
        for ground in came_to:
            changed = _changed(mutant, ground)
            if not changed:
                continue
            outcome, is_complete = _searched(mutant, ground, changed, budget)
            if outcome is not None and outcome.fate is not Fate.NOTICED:
                return outcome
            noticed += [outcome] if outcome is not None else []
            alive.append(Trying(ground, changed, is_complete))
    except LiftError as error:
        return Outcome(Fate.REFUSED, Evidence.LIFTING, claim=str(error))
    return noticed[0] if noticed else _of_the_living(mutant, came_to, alive, budget)


def _changed(mutant: Mutant, ground: Ground) -> dict[int, LiftedAction]:
    """The instances that the mistake changes; LiftError if they cannot be lifted with it."""
    affected = ground.affected(mutant)
    with mutant.planted():
        anew = ground.lifted_anew(affected)
    return {number: action for number, action in anew.items() if not is_same(ground.lifted.actions[number], action)}


def kernel_with(ground: Ground, changed: dict[int, LiftedAction]) -> Kernel:
    """The kernel of the ground's model with other instances in place of its own."""
    actions = tuple(changed.get(number, action) for number, action in enumerate(ground.lifted.actions))
    lifted = Lifted(ground.model, ground.lifted.terms, actions, ground.lifted.claims)
    return ground.foundry.kernel(lifted, changed)


def _searched(
    mutant: Mutant, ground: Ground, changed: dict[int, LiftedAction], budget: Budget
) -> tuple[Outcome | None, bool]:
    """What kills the mutant here, if anything; and whether all of its states were looked at."""
    model, kernel = MutatedModel(ground.model, mutant), kernel_with(ground, changed)
    evidence = Evidence.EXHAUSTIVE
    try:
        verdict = exhaust(
            model, claims=ground.claims, kernel=kernel, seconds=budget.seconds, memory_bytes=MEMORY
        )
        is_complete = verdict.how == "exhaustive"
        if not verdict.findings and not is_complete:
            evidence = Evidence.WALK
            time = max(LEAST_WALKING, budget.seconds)
            verdict = walk(model, claims=ground.claims, kernel=kernel, walks=WALKS, depth=WALK_DEPTH, seconds=time)
    except StepLeavesDomain as error:
        way = _way_along(error.trace, ground)
        return Outcome(Fate.CRASHED, evidence, ground.name, _reason(error), *way), False
    except DomainError as error:
        return Outcome(Fate.CRASHED, evidence, ground.name, _reason(error)), False
    if verdict.how == "interrupted":
        raise KeyboardInterrupt
    finding = _first(verdict, ground)
    if finding is None:
        return _noticed(verdict, ground) if is_complete else None, is_complete
    if finding.trace is None:
        return Outcome(Fate.KILLED, evidence, ground.name, finding.claim), is_complete
    return Outcome(Fate.KILLED, evidence, ground.name, finding.claim, *_way_along(finding.trace, ground)), is_complete


def _way_along(trace: Trace, ground: Ground) -> tuple[tuple[str, ...], int, int | None]:
    """The steps of a trace, the number of the initial state that it begins in, and where its loop begins."""
    return trace.actions, ground.model.initial.index(trace.states[0]), trace.loop


def _first(verdict: Verdict, ground: Ground) -> Finding | None:
    """The first violation; a deadlock only if there is none without the mistake. One without a trace comes last."""
    known = {finding.claim for finding in ground.verdict.findings}
    found = [finding for finding in verdict.findings if finding.claim not in known]
    return next((f for f in found if f.trace is not None), next(iter(found), None))


def _noticed(verdict: Verdict, ground: Ground) -> Outcome | None:
    """What a complete search shows of the mutant that the model's own does not."""
    was = ground.verdict
    for name in verdict.bounds_hit.keys() - was.bounds_hit.keys():
        return _sign(ground, f"the bound {name} is reached")
    for key, rule in verdict.rules.items():
        if was.rules[key].taken and not rule.taken:
            return _sign(ground, f"{key} never fires")
        if was.rules[key].changed and not rule.changed:
            return _sign(ground, f"{key} never changes anything")
    for key, times in verdict.premises.items():
        if was.premises[key] and not times:
            return _sign(ground, f"{key} is never put to the test")
    return None


def _sign(ground: Ground, words: str) -> Outcome:
    return Outcome(Fate.NOTICED, Evidence.EXHAUSTIVE, ground.name, words)


def _reason(error: KwalkError) -> str:
    """The first sentence of an error, without the way there."""
    return str(error).partition(" This happens ")[0]


def _of_the_living(
    mutant: Mutant, came_to: Sequence[Ground], alive: Sequence[Trying], budget: Budget
) -> Outcome:
    """The fate of a mutant that nothing has killed."""
    for trying in alive:
        found = _first_difference(trying)
        if found is not None:
            way = _way_to(trying.ground, found)
            if all(each.is_complete for each in alive):
                goes_beyond = any(_first_difference(each, beyond=True) is not None for each in alive)
                fate = Fate.SURVIVED if goes_beyond else Fate.RESTRICTED
                return Outcome(fate, Evidence.EXHAUSTIVE, trying.ground.name, "", *way)
            return Outcome(Fate.UNDECIDED, Evidence.TIME, trying.ground.name, "", *way, seconds=budget.seconds)
    if not any(_comes_by(mutant, ground) for ground in came_to):
        return Outcome(Fate.NOT_EXERCISED, Evidence.REACHABLE)
    if not alive:
        return Outcome(Fate.EQUIVALENT, Evidence.TERMS)
    proved = all(d.is_ruled_out(MILLISECONDS) for trying in alive for d in trying.differences())
    return Outcome(Fate.EQUIVALENT, Evidence.PROOF if proved else Evidence.REACHABLE)


def _first_difference(trying: Trying, *, beyond: bool = False) -> int | None:
    """The number of the first reachable state of the model that tells the mutant apart, or where it goes beyond."""
    ground = trying.ground
    found = [each.first_in(ground.states, ground.layout, beyond=beyond) for each in trying.differences()]
    return min((number for number in found if number is not None), default=None)


def _way_to(ground: Ground, state: int) -> tuple[tuple[str, ...], int]:
    """The steps to a reachable state, and the number of the initial state that they begin in."""
    path = ground.exploration.path_to(state)
    start = vectors(ground.kernel, path.states[:1])[0]
    return tuple(ground.model.instances[n].key for n in path.instances), ground.model.initial.index(start)


def _comes_by(mutant: Mutant, ground: Ground) -> bool:
    """Whether a step from a reachable state comes to the changed line."""
    with mutant.watched():
        watched = ground.lifted_anew(ground.affected(mutant))
    changed = {n: action for n, action in watched.items() if not is_same(ground.lifted.actions[n], action)}
    return bool(changed) and _first_difference(Trying(ground, changed)) is not None
