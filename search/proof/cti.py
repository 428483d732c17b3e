"""Counterexamples to induction, and whether the system can reach them.

Words: a *counterexample to induction* (CTI) is a step from a state in which a property (and its supporting facts) holds
to one in which the property fails. It shows a violation only if that state is reachable. Property-directed reachability
decides that: it follows predecessors backwards until an initial state is among them, until no step leads into them, or
until the effort ends.
"""

from __future__ import annotations

from collections.abc import Sequence

import z3
from attrs import frozen

from kwalk.model.language import Model
from kwalk.search.proof.cubes import Cube, KnownStates, cube_text
from kwalk.search.proof.pdr import BadStates, Counterexample, Pdr, Proved, generalized_start
from kwalk.search.proof.transition_relation import ConcreteStep, OutOfEffort, TransitionRelation


@frozen
class Cti:
    """A step from any state in the cube leads to a violation."""

    cube: Cube
    step: ConcreteStep

    def text(self, model: Model) -> str:
        """Return the action instance, and what holds in the states of the cube."""
        where = cube_text(model, self.cube) or "any state"
        return f"{model.instances[self.step.instance].key} where {where}"


@frozen
class CtiOutcome:
    """Whether a CTI is reachable."""

    is_reachable: bool | None
    """None: not known."""
    path: Counterexample | None = None
    """The steps to it, if it is reachable."""
    facts: tuple[Cube, ...] = ()
    """The facts that exclude it, if it is not reachable."""
    within: int = -1
    """No behaviour of up to this many steps leads there."""
    reason: str = ""
    """Why it is not known."""

    def text(self) -> str:
        """Return the outcome as a phrase."""
        if self.path is not None:
            return f"a behaviour of {len(self.path.instances)} steps leads there"
        if self.is_reachable is False:
            return f"no behaviour leads there ({len(self.facts)} invariants exclude it)"
        return f"no behaviour of up to {self.within} steps leads there; beyond that it is not known ({self.reason})"


def find_cti(relation: TransitionRelation, prop: int, facts: Sequence[Cube] = ()) -> Cti | None:
    """Return a counterexample to the induction of a property with inductive facts; None if it is inductive with them.

    Raises:
        OutOfEffort: The effort of the transition relation is spent.
    """
    session = relation.session()
    session.add(*(relation.clause(cube) for cube in facts))
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


def trace_back(relation: TransitionRelation, cti: Cti, rows: KnownStates, facts: Sequence[Cube] = ()) -> CtiOutcome:
    """Return whether a state of the CTI is reachable, within the effort of the transition relation."""
    pdr = Pdr(relation, BadStates.of_cube(relation, cti.cube), rows, facts)
    try:
        outcome = pdr.run()
    except OutOfEffort as end:
        return CtiOutcome(is_reachable=None, within=pdr.refuted - 1, reason=str(end))
    if isinstance(outcome, Proved):
        return CtiOutcome(is_reachable=False, facts=outcome.facts)
    return CtiOutcome(is_reachable=True, path=outcome)
