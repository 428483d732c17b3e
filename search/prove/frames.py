"""Facts found on demand: property-directed reachability.

It is Bradley's IC3 (VMCAI 2011), as Eén, Mishchenko and Brayton tell it (FMCAD 2011).

Words: *frame* k is a set of clauses that hold in every state that can be reached in up to k steps; frame 0 is the
initial states. An *obligation* is a cube of states that lead to a violation, and a frame from which it must be kept
out: either a clause is found that does so, or a step into the cube is found, which is an obligation for the frame
before. One that reaches frame 0 is a behaviour that violates the claim. When two frames become equal, their clauses are
inductive and exclude every violation.

Clauses are made as general as Z3 allows, but never so general that they would exclude a state of the sample.
"""
from __future__ import annotations

import heapq
from collections.abc import Sequence
from itertools import count

import z3
from attrs import define, frozen

from search.prove.cubes import Cube, Rows
from search.prove.initial import Initial
from search.prove.step import Move, Session, Step

RENEWED = 3_000
"""After so many clauses that were only of use once, the solver is made anew."""


@frozen
class Proved:
    """The claim holds: these facts are inductive together, and no state in which they hold violates it."""

    facts: tuple[Cube, ...]


@frozen
class Reached:
    """The claim is violated: by the steps of these instances from an initial state in the cube."""

    start: Cube
    instances: tuple[int, ...]

    def then(self, instance: int) -> Reached:
        """The same, and one step more."""
        return Reached(self.start, (*self.instances, instance))


@define(eq=False)
class Obligation:
    """A cube whose states violate the claim, at once (`then` is None) or by a step of `instance` to `then`."""

    cube: Cube
    instance: int = -1
    then: Obligation | None = None


@frozen
class Aim:
    """What is to be excluded: states with all of some literals, or (`in_step`) steps with them."""

    wanted: tuple[z3.BoolRef, ...]
    in_step: bool = False

    @classmethod
    def of_claim(cls, step: Step, claim: int) -> Aim:
        """The violations of a claim."""
        if claim in step.bad_now:
            return cls((step.bad_now[claim],))
        return cls((step.taken, step.bad_after[claim]), in_step=True)

    @classmethod
    def of_cube(cls, step: Step, cube: Cube) -> Aim:
        """The states in a cube."""
        return cls(tuple(step.literals(cube, after=False)))


class Frames:
    """The frames for one aim, of which `refuted` depths (0, 1, …) are known to be free.

    `background` are facts that are inductive by themselves; they hold in all frames.
    """

    def __init__(self, step: Step, aim: Aim, rows: Rows, background: Sequence[Cube] = ()) -> None:
        self.step, self.aim, self.rows, self.background = step, aim, rows, list(background)
        self.initial = Initial(step)
        self.refuted = 0
        self.frames: list[dict[Cube, None]] = [{}, {}]
        self._switches = [step.switch(), step.switch()]
        self._order = count()
        self._wasted = 0
        self._begin()

    def _begin(self) -> None:
        """New solvers: one that knows frames, and one for what follows from the step alone."""
        self._session, self._alone, self._wasted = self.step.session(), self.step.session(), 0
        self._session.add(*(self.step.clause(cube) for cube in self.background))
        self._session.add(z3.Or(z3.Not(self._switches[0]), self.initial.expression))
        for level, frame in enumerate(self.frames):
            for cube in frame:
                self._assert(cube, level)

    def _assert(self, cube: Cube, level: int) -> None:
        self._session.add(z3.Or(z3.Not(self._switches[level]), self.step.clause(cube)))

    @property
    def level(self) -> int:
        """The last frame."""
        return len(self.frames) - 1

    @property
    def clauses(self) -> int:
        """How many clauses there are in all frames."""
        return sum(map(len, self.frames))

    def run(self) -> Proved | Reached:
        """Extend frames until they prove the claim or a violation is reached. OutOfEffort if that is spent."""
        while True:
            reached = self._strengthen()
            if reached is not None:
                return reached
            self.refuted = self.level + (not self.aim.in_step)
            self.frames.append({})
            self._switches.append(self.step.switch())
            proof = self._propagate()
            if proof is not None:
                return proof

    # A violation in the last frame, or none.

    def _strengthen(self) -> Reached | None:
        """Exclude all violations from the last frame; the behaviour if one is real."""
        while (obligation := self._violation()) is not None:
            reached = self._discharge(obligation)
            if reached is not None:
                return reached
        return None

    def _violation(self) -> Obligation | None:
        """A cube of states in the last frame that violate the claim (or take a step that does)."""
        wanted = list(self.aim.wanted)
        if not self._session.possible([*self._from(self.level), *wanted]):
            return None
        move = self._session.move(with_step=self.aim.in_step)
        return Obligation(lifted(self.step, self._alone, move, wanted), move.instance)

    def _from(self, level: int) -> list[z3.BoolRef]:
        """The assumptions that a state is in a frame."""
        return self._switches[level:]

    # Obligations.

    def _discharge(self, first: Obligation) -> Reached | None:
        """Keep a cube out of the last frame, and for that its predecessors out of the frames before."""
        waiting: list[tuple[int, int, Obligation]] = [(self.level, next(self._order), first)]
        while waiting:
            level, _, obligation = heapq.heappop(waiting)
            if self.initial.meets(obligation.cube):
                return self._reached(obligation)
            if self._is_blocked(obligation.cube, level):
                continue
            predecessor = self._predecessor(obligation.cube, level)
            if predecessor is not None:
                heapq.heappush(waiting, (level - 1, next(self._order), Obligation(*predecessor, obligation)))
            elif level < self.level:
                level += 1
            else:
                continue
            heapq.heappush(waiting, (level, next(self._order), obligation))
        return None

    @staticmethod
    def _reached(obligation: Obligation) -> Reached:
        start, instances = obligation.cube, []
        current: Obligation | None = obligation
        while current is not None and current.instance >= 0:
            instances.append(current.instance)
            current = current.then
        return Reached(start, tuple(instances))

    def _is_blocked(self, cube: Cube, level: int) -> bool:
        return any(blocked.has(cube) for frame in self.frames[level:] for blocked in frame)

    def _predecessor(self, cube: Cube, level: int) -> tuple[Cube, int] | None:
        """A cube in the frame before with a step into this one; if there is none, a clause is learnt."""
        if self._can_enter(cube, level - 1):
            move = self._session.move()
            wanted = [self.step.taken, *self.step.literals(cube, after=True)]
            return lifted(self.step, self._alone, move, wanted), move.instance
        self._learn(self._generalized(self._smaller(cube), level), level)
        return None

    def _can_enter(self, cube: Cube, level: int) -> bool:
        """Whether a step leads from a state of the frame, outside of the cube, into the cube."""
        switch = self.step.switch()
        self._session.add(z3.Or(z3.Not(switch), self.step.clause(cube)))
        self._wasted += 1
        into = self.step.literals(cube, after=True)
        return self._session.possible([*self._from(level), switch, self.step.taken, *into])

    def _smaller(self, cube: Cube) -> Cube:
        """What the last question needed of a cube, without initial states."""
        core = self._session.cube(cube)
        return core if not self.initial.meets(core) and len(core) else self.initial.apart(core, cube)

    def _generalized(self, cube: Cube, level: int) -> Cube:
        """A larger cube that is still kept out by the frame before; leaves are dropped one by one."""
        for n in list(cube):
            if n not in cube or len(cube) == 1:
                continue
            larger = cube.without(n)
            if self.initial.meets(larger) or self.rows.meet(larger):
                continue
            if not self._can_enter(larger, level - 1):
                cube = self._smaller(larger)
        return cube

    def _learn(self, cube: Cube, level: int) -> None:
        """Exclude a cube up to a frame, and as far beyond as it is kept out."""
        while level < self.level and not self._can_enter(cube, level):
            level += 1
        for frame in self.frames[1 : level + 1]:
            for weaker in [known for known in frame if cube.has(known)]:
                del frame[weaker]
        self.frames[level][cube] = None
        self._assert(cube, level)
        if self._wasted > RENEWED:
            self._begin()

    # Convergence.

    def _propagate(self) -> Proved | None:
        """Move clauses to later frames where they still hold; a proof if a frame loses all of its own."""
        for level in range(1, self.level):
            for cube in list(self.frames[level]):
                if cube in self.frames[level] and not self._can_step_into(cube, level):
                    del self.frames[level][cube]
                    self.frames[level + 1][cube] = None
                    self._assert(cube, level + 1)
            if not self.frames[level]:
                facts = dict.fromkeys(cube for frame in self.frames[level + 1 :] for cube in frame)
                return Proved((*self.background, *facts))
        return None

    def _can_step_into(self, cube: Cube, level: int) -> bool:
        into = self.step.literals(cube, after=True)
        return self._session.possible([*self._from(level), self.step.taken, *into])


def lifted(step: Step, alone: Session, move: Move, wanted: Sequence[z3.BoolRef]) -> Cube:
    """A cube around the state before a move, all of whose states have what is wanted (by the same instance).

    `alone` knows nothing but the step.
    """
    full = Cube({n: (move.before[n], move.before[n]) for n in step.part.varying})
    switch = step.switch()
    alone.add(z3.Or([z3.Not(switch), *map(z3.Not, wanted)]))
    choice = [] if move.instance < 0 else [step.chosen(move.instance)]
    if alone.possible([switch, *choice, *step.literals(full, after=False)]):
        raise AssertionError("Z3 finds that a step does not lead where it has just led; its answers contradict.")
    cube = alone.cube(full)
    alone.add(z3.Not(switch))
    return cube
