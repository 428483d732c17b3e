"""Certificates: the supporting facts that a proof needs, and an independent check that they are enough.

Words: facts *support* a property if they hold initially and no step leads from a state in which they and the property
hold to one in which any of them fails. The check has its own queries, one action instance at a time, and answers them
in plain Python, without Z3 (`gate_queries`): neither the search for the facts nor Z3 has to be trusted.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from attrs import frozen

from kwalk.model.language import Kind, Vector
from kwalk.model.language.lift import LiftedAction, LiftedProperty, Term, substitute
from kwalk.search.proof.cubes import Cube
from kwalk.search.proof.gate_queries import StateGates
from kwalk.search.proof.slicing import Slice
from kwalk.search.solver.terms import (
    bad_state,
    can_be_taken,
    state_after,
    state_variables,
    step_violation,
)

NO_STEP = -1
"""In place of an instance's number: the state itself, without a step."""


@frozen
class Gap:
    """Where facts do not support what they should: a state in which they hold, and what is wrong then.

    Attributes:
        state: The state; an initial one if a fact fails there.
        instance: The number of the instance that leads from the state to one in which something fails; `NO_STEP` if it
            fails in the state itself.
        fact: The fact that fails; None for what the facts should exclude.
    """

    state: Vector
    instance: int
    fact: Cube | None


def property_gap(part: Slice, prop: LiftedProperty, facts: Sequence[Cube]) -> Gap | None:
    """Return where facts do not support a property; None if they do.

    Raises:
        TimeoutError: There is no answer to one of the queries within its effort.
    """
    lifted, t, now = part.lifted, part.lifted.terms, state_variables(part.lifted)
    assumed, bad = [], dict[int, Term]()
    if prop.prop.kind is not Kind.STEP:
        assumed = [t.negation(bad_state(lifted, prop))]
    for action in lifted.actions if part.stuttering else part.writers:
        after = state_after(action, now)
        if prop.prop.kind is Kind.STEP:
            bad[action.instance.index] = step_violation(lifted, prop, now, after)
        else:
            (bad[action.instance.index],) = substitute(t, [bad_state(lifted, prop)], after)
    return first_gap(part, facts, bad, assumed)


def is_certificate(part: Slice, facts: Collection[Cube], bad: Mapping[int, Term]) -> bool:
    """Return whether facts hold initially, no step breaks any, and they exclude what is bad; see `first_gap`."""
    return first_gap(part, facts, bad) is None


def first_gap(
    part: Slice, facts: Collection[Cube], bad: Mapping[int, Term], assumed: Sequence[Term] = ()
) -> Gap | None:
    """Return where facts fail initially, where a step breaks one, or where something bad is possible; None if nowhere.

    Args:
        part: The slice, or the whole model.
        facts: Cubes that no reachable state is in.
        bad: By the number of an instance, what must not be true before it is taken; for `NO_STEP`, in any state.
        assumed: What holds besides the facts before each step.

    Raises:
        TimeoutError: There is no answer to one of the queries within its effort.
    """
    for cube in facts:
        for start in part.model.initial:
            if cube.contains_state(start):
                return Gap(start, NO_STEP, cube)
    t, now = part.lifted.terms, state_variables(part.lifted)
    states = StateGates(part, [*(t.negation(cube_term(part, cube, now)) for cube in facts), *assumed])

    def gap(number: int, choice: Term, broken: Iterable[tuple[Cube | None, Term]]) -> Gap | None:
        query = states.query(choice)
        found = ((query.state_with(condition), fact) for fact, condition in broken)
        return next((Gap(state, number, fact) for state, fact in found if state is not None), None)

    def step_gap(action: LiftedAction) -> Gap | None:
        after, index = state_after(action, now), action.instance.index
        broken = [(cube, cube_term(part, cube, after)) for cube in facts if action.writes & cube.keys()]
        goal = [(None, bad[index])] if index in bad else []
        return gap(index, can_be_taken(t, action), [*goal, *broken])

    possible = [action for action in part.lifted.actions if action.guard is not t.false]
    found = gap(NO_STEP, t.true, [(None, bad[NO_STEP])]) if NO_STEP in bad else None
    return found or next(filter(None, map(step_gap, possible)), None)


def cube_term(part: Slice, cube: Cube, state: Sequence[Term]) -> Term:
    """Return the condition that a state, given as one term per leaf, is in a cube."""
    t, limits = part.lifted.terms, []
    for n, is_least, number in cube.limits(part.model):
        leaf = state[n]
        if leaf.is_bool:
            limits.append(leaf if is_least else t.negation(leaf))
        else:
            least = t.less(leaf, t.integer(number))
            limits.append(t.negation(least) if is_least else t.negation(t.less(t.integer(number), leaf)))
    return t.conjunction(limits)
