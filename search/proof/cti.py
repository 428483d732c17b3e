"""Counterexamples to induction.

Words: a *counterexample to induction* (CTI) is a step from a state in which a property holds to one in which the
property fails. It shows a violation only if that state is reachable.
"""

from __future__ import annotations

from collections.abc import Sequence

import z3
from attrs import frozen

from kwalk.model.language import Model
from kwalk.search.proof.cubes import Cube, cube_text
from kwalk.search.proof.transition_relation import ConcreteStep, SolverSession, TransitionRelation


@frozen
class Cti:
    """A step from any state in the cube leads to a violation."""

    cube: Cube
    step: ConcreteStep

    def text(self, model: Model) -> str:
        """Return the action instance, and what holds in the states of the cube."""
        where = cube_text(model, self.cube) or "any state"
        return f"{model.instances[self.step.instance].key} where {where}"


def find_cti(relation: TransitionRelation, prop: int) -> Cti | None:
    """Return a counterexample to the induction of a property; None if it is inductive.

    Raises:
        OutOfEffort: The effort of the transition relation is spent.
    """
    session = relation.session()
    if prop in relation.bad_now:
        session.add(z3.Not(relation.bad_now[prop]))
    wanted = [relation.taken, relation.bad_after[prop]]
    if not session.possible(wanted):
        return None
    step = session.step()
    return Cti(generalized_start(relation, relation.session(), step, wanted), step)


def cannot_fail(relation: TransitionRelation, prop: int) -> bool:
    """Return whether no state of the domains violates a property; False for a `step` property, which is not checked."""
    return prop in relation.bad_now and not relation.session().possible([relation.bad_now[prop]])


def generalized_start(
    relation: TransitionRelation, session: SolverSession, step: ConcreteStep, literals: Sequence[z3.BoolRef]
) -> Cube:
    """Return a cube around the state before a step, all of whose states satisfy `literals` by the same instance.

    Args:
        relation: The transition relation.
        session: A session that has the transition relation only.
        step: The step.
        literals: Literals that the step satisfies.
    """
    full = Cube({n: (step.before[n], step.before[n]) for n in relation.part.varying})
    switch = relation.switch()
    session.add(z3.Or([z3.Not(switch), *map(z3.Not, literals)]))
    if session.possible([switch, relation.chosen(step.instance), *relation.literals(full)]):
        raise AssertionError("Z3 contradicts itself: a step that it found does not lead where it led before.")
    cube = session.cube(full)
    session.add(z3.Not(switch))
    return cube
