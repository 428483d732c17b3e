"""How one mutant is looked at: on each ground that comes to its function, until one of them kills it.

Action instances are lifted again that may come to the changed line in a reachable state of the model. These states are
then asked whether any tells the two apart: if none does, the mutant reaches the same states by the same steps, and need
not be searched. Where one does, it is searched exhaustively, and by random walks if that does not finish; as it reaches
states that the model does not, *strangers*, which come to the line in none of the model's, are then lifted too. Of what
differs in no reachable state, Z3 is asked whether any state could tell.
"""
from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from attrs import define, frozen

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


@define(eq=False)
class Trying:
    """A mutant on one ground: the instances that it changes, bar strangers, and whether its search was complete."""

    ground: Ground
    changed: dict[int, LiftedAction]
    is_alive: bool = False
    """Whether some reachable state of the model tells it apart, and nothing has killed it."""
    is_complete: bool = True

    @cached_property
    def differences(self) -> list[Difference]:
        """What tells each changed instance from the model's."""
        ground = self.ground
        return [
            Difference(ground.model, ground.lifted.terms, ground.lifted.actions[number], action)
            for number, action in self.changed.items()
        ]

    @property
    def differs(self) -> bool:
        """Whether a reachable state of the model tells the mutant apart."""
        return any(each.first_in(self.ground.states, self.ground.layout) is not None for each in self.differences)

    def first_difference(self, *, beyond: bool = False) -> int | None:
        """The number of the first reachable state that tells the mutant apart, or where it goes beyond the model."""
        states, layout = self.ground.states, self.ground.layout
        found = [each.first_in(states, layout, beyond=beyond) for each in self.differences]
        return min((number for number in found if number is not None), default=None)


def examined(mutant: Mutant, grounds: Sequence[Ground], budget: Budget) -> Outcome:
    """The mutant's fate on these grounds."""
    tryings: list[Trying] = []
    noticed: list[Outcome] = []
    came_to = [ground for ground in grounds if ground.comes_to(mutant)]
    try:
        for ground in came_to:
            trying = Trying(ground, _changed(mutant, ground, ground.visitors(mutant)))
            tryings.append(trying)
            if trying.differs:
                trying.is_alive = True
                changed = trying.changed | _changed(mutant, ground, ground.strangers(mutant))
                outcome, trying.is_complete = _searched(mutant, ground, changed, budget)
                if outcome is not None and outcome.fate is not Fate.NOTICED:
                    return outcome
                noticed += [outcome] if outcome is not None else []
        return noticed[0] if noticed else _of_the_living(mutant, tryings, budget)
    except LiftError as error:
        return Outcome(Fate.REFUSED, Evidence.LIFTING, claim=str(error))


def _changed(mutant: Mutant, ground: Ground, actions: tuple[LiftedAction, ...]) -> dict[int, LiftedAction]:
    """Those of some instances that the mistake changes; LiftError if they cannot be lifted with it."""
    if not actions:
        return {}
    with mutant.planted():
        anew = ground.lifted_anew(actions)
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


def _of_the_living(mutant: Mutant, tryings: Sequence[Trying], budget: Budget) -> Outcome:
    """The fate of a mutant that nothing has killed."""
    alive = [trying for trying in tryings if trying.is_alive]
    if not alive:
        return _of_the_alike(mutant, tryings)
    ground, found = alive[0].ground, alive[0].first_difference()
    assert found is not None
    way = _way_to(ground, found)
    if not all(each.is_complete for each in alive):
        return Outcome(Fate.UNDECIDED, Evidence.TIME, ground.name, "", *way, seconds=budget.seconds)
    goes_beyond = any(each.first_difference(beyond=True) is not None for each in alive)
    fate = Fate.SURVIVED if goes_beyond else Fate.RESTRICTED
    return Outcome(fate, Evidence.EXHAUSTIVE, ground.name, "", *way)


def _of_the_alike(mutant: Mutant, tryings: Sequence[Trying]) -> Outcome:
    """The fate of a mutant that no reachable state tells apart; LiftError if it cannot be lifted."""
    if not any(_comes_by(mutant, trying.ground) for trying in tryings):
        for trying in tryings:
            _changed(mutant, trying.ground, trying.ground.strangers(mutant)[:1])
        return Outcome(Fate.NOT_EXERCISED, Evidence.REACHABLE)
    strangers = [_changed(mutant, trying.ground, trying.ground.strangers(mutant)) for trying in tryings]
    changed = [Trying(t.ground, t.changed | more) for t, more in zip(tryings, strangers, strict=True)]
    if not any(trying.changed for trying in changed):
        return Outcome(Fate.EQUIVALENT, Evidence.TERMS)
    proved = all(d.is_ruled_out(MILLISECONDS) for trying in changed for d in trying.differences)
    return Outcome(Fate.EQUIVALENT, Evidence.PROOF if proved else Evidence.REACHABLE)


def _way_to(ground: Ground, state: int) -> tuple[tuple[str, ...], int]:
    """The steps to a reachable state, and the number of the initial state that they begin in."""
    path = ground.exploration.path_to(state)
    start = vectors(ground.kernel, path.states[:1])[0]
    return tuple(ground.model.instances[n].key for n in path.instances), ground.model.initial.index(start)


def _comes_by(mutant: Mutant, ground: Ground) -> bool:
    """Whether a step from a reachable state comes to the changed line."""
    line = mutant.edit.statement
    if line not in ground.passed:
        with mutant.watched():
            watched = ground.lifted_anew(ground.visitors(mutant))
        changed = {n: action for n, action in watched.items() if not is_same(ground.lifted.actions[n], action)}
        ground.passed[line] = Trying(ground, changed).differs
    return ground.passed[line]
