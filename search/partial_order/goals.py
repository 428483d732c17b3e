"""Goals: what a reduced search must not lose, as conditions on single states.

Words: a *goal* is a set of states, given by conditions that are all true there. An `always` property has the states
that violate it, a `reachable` one its witnesses. A `step` property has, for each transition group that can violate it,
the states from which the group does: there the goal *takes* that group. An error has the states in which an instance
or a property meets it; it is a goal of its own, as a search ends at an error also where the property was violated, or
witnessed, before. Goals that Z3 refutes are left out. `when_quiescent` properties have no goals: all quiescent states
are found (see `kwalk.search.partial_order.stubborn_sets`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attrs import frozen

from kwalk.model.language import Kind, PropertyInstance
from kwalk.model.language.lift import ConditionKind, Lifted, LiftedProperty, Term
from kwalk.model.language.lift.terms import substitute
from kwalk.search.partial_order.state_queries import Possible, StateQueries
from kwalk.search.partial_order.transition_groups import TransitionGroup, conjuncts
from kwalk.search.solver.terms import bad_state, step_violation


@frozen(eq=False)
class ReductionGoal:
    """Conditions on a state; the property that needs it (None: an error of an action), and the group to take there."""

    conditions: tuple[Term, ...]
    prop: PropertyInstance | None = None
    takes: int | None = None
    is_error: bool = False
    """Whether it is an error."""


def goals_of(
    lifted: Lifted, groups: Sequence[TransitionGroup], leaves: Sequence[Term], queries: StateQueries
) -> list[ReductionGoal]:
    """Return the goals of all errors and properties that Z3 does not refute."""
    goals = list(_errors(lifted))
    for prop in lifted.stated_properties:  # the others are always true, and without errors
        if prop.prop.kind in (Kind.ALWAYS, Kind.REACHABLE):
            goals.append(ReductionGoal(conjuncts(bad_state(lifted, prop)), prop.prop))
            goals.append(ReductionGoal(conjuncts(_error(lifted, prop.roots)), prop.prop, is_error=True))
        elif prop.prop.kind is Kind.STEP:
            goals += _steps(lifted, groups, leaves, prop)
    return [goal for goal in goals if queries.possible(goal.conditions) is not Possible.NO]


def _errors(lifted: Lifted) -> Iterator[ReductionGoal]:
    for action in lifted.actions:
        met = lifted.terms.disjunction(o.condition for o in action.side_conditions if o.kind is ConditionKind.ERROR)
        yield ReductionGoal((*conjuncts(action.guard), met), is_error=True)


def _error(lifted: Lifted, roots: Sequence[Term]) -> Term:
    """Return the condition that a property raises an error, from its roots."""
    premise, _, *errors = roots
    return lifted.terms.conjunction((premise, lifted.terms.disjunction(errors)))


def _steps(
    lifted: Lifted, groups: Sequence[TransitionGroup], leaves: Sequence[Term], prop: LiftedProperty
) -> Iterator[ReductionGoal]:
    for group in groups:
        after = [group.updates.get(leaf, term) for leaf, term in enumerate(leaves)]
        violated = step_violation(lifted, prop, leaves, after)
        yield ReductionGoal((*group.atoms, *conjuncts(violated)), prop.prop, group.index)
        failed = _error(lifted, substitute(lifted.terms, prop.roots, [*leaves, *after]))
        yield ReductionGoal((*group.atoms, *conjuncts(failed)), prop.prop, group.index, is_error=True)
