"""Counterexamples to induction, and what becomes of them.

Words: a *counterexample to induction* is a step from a state where a claim (and its supporting facts) holds to one
where the claim fails. That says nothing until it is known whether such a state is reachable. To *chase* it is to look
for its predecessors, and theirs: until an initial state is among them, or no step leads into them, or the effort ends.
"""
from __future__ import annotations

from collections.abc import Sequence

import z3
from attrs import frozen

from model.language import Model
from search.prove.cubes import Cube, Rows, cube_text
from search.prove.frames import Aim, Frames, Proved, Reached, lifted
from search.prove.step import Move, OutOfEffort, Step


@frozen
class Counterexample:
    """A step from any state in the cube, in which the claim holds or fails already, leads to where it fails."""

    cube: Cube
    move: Move

    def text(self, model: Model) -> str:
        """What the state is like, and the step."""
        where = cube_text(model, self.cube) or "any state"
        return f"{model.instances[self.move.instance].key} where {where}"


@frozen
class Chased:
    """Whether a counterexample is reachable: True with the behaviour, False with the facts that exclude it, or unknown.

    `within`: no behaviour of up to so many steps leads there.
    """

    is_reachable: bool | None
    behaviour: Reached | None = None
    facts: tuple[Cube, ...] = ()
    within: int = -1
    reason: str = ""

    def text(self) -> str:
        """What became of it, for people."""
        if self.behaviour is not None:
            return f"a behaviour of {len(self.behaviour.instances)} steps leads there"
        if self.is_reachable is False:
            return f"no behaviour leads there ({len(self.facts)} invariants exclude it)"
        return f"no behaviour of up to {self.within} steps leads there; beyond that it is not known ({self.reason})"


def counterexample(step: Step, claim: int, facts: Sequence[Cube] = ()) -> Counterexample | None:
    """A counterexample to the induction of a claim with inductive facts; None if it is inductive with them."""
    session = step.session()
    session.add(*(step.clause(cube) for cube in facts))
    if claim in step.bad_now:
        session.add(z3.Not(step.bad_now[claim]))
    wanted = [step.taken, step.bad_after[claim]]
    if not session.possible(wanted):
        return None
    move = session.move()
    return Counterexample(lifted(step, step.session(), move, wanted), move)


def cannot_fail(step: Step, claim: int) -> bool:
    """Whether no in-domain state at all violates a claim; of a claim about steps this is not asked."""
    return claim in step.bad_now and not step.session().possible([step.bad_now[claim]])


def chase(step: Step, found: Counterexample, rows: Rows, facts: Sequence[Cube] = ()) -> Chased:
    """Whether a state of the counterexample is reachable, within the step's effort."""
    frames = Frames(step, Aim.of_cube(step, found.cube), rows, facts)
    try:
        outcome = frames.run()
    except OutOfEffort as end:
        return Chased(is_reachable=None, within=frames.refuted - 1, reason=str(end))
    if isinstance(outcome, Proved):
        return Chased(is_reachable=False, facts=outcome.facts)
    return Chased(is_reachable=True, behaviour=outcome)
