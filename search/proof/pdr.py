"""Property-directed reachability: facts that exclude every violation, found on demand.

Source: A. Bradley, "SAT-Based Model Checking without Unrolling" (IC3, VMCAI 2011), as presented by N. Eén,
A. Mishchenko and R. Brayton, "Efficient Implementation of Property Directed Reachability" (FMCAD 2011).

Words: *frame* k is a set of clauses that hold in every state that is reachable in up to k steps; frame 0 is the initial
states. A *proof obligation* is a cube of states that lead to a violation, and a frame that must exclude it: either a
clause is learnt that does so, or a step into the cube is found, whose start is an obligation for the frame before. An
obligation that reaches frame 0 is a counterexample. When two frames become equal, their clauses are inductive and
exclude every violation.

Clauses are generalized as far as Z3 allows, but no clause excludes a state of the sample.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from itertools import count

import numpy as np
import z3
from attrs import define, frozen

from kwalk.search.proof.cubes import Cube, KnownStates
from kwalk.search.proof.transition_relation import ConcreteStep, SolverSession, TransitionRelation
from kwalk.search.solver.terms import one_of_states

MAX_RETIRED = 3_000
"""After this many clauses that served one query only, the solver is replaced by a new one."""


@frozen
class Proved:
    """These facts are inductive together, and exclude every violation."""

    facts: tuple[Cube, ...]


@frozen
class Counterexample:
    """The instances lead from an initial state in the cube to a violation."""

    start: Cube
    instances: tuple[int, ...]

    def then(self, instance: int) -> Counterexample:
        """Return the same with one more step."""
        return Counterexample(self.start, (*self.instances, instance))


@define(eq=False)
class ProofObligation:
    """A cube whose states are bad themselves (`then` is None), or lead to `then` by a step of `instance`."""

    cube: Cube
    instance: int = -1
    then: ProofObligation | None = None


@frozen
class BadStates:
    """What to exclude: the states that satisfy all of some literals, or (`in_step`) the steps that do."""

    literals: tuple[z3.BoolRef, ...]
    in_step: bool = False

    @classmethod
    def of_property(cls, relation: TransitionRelation, prop: int) -> BadStates:
        """Return the violations of the property with a number."""
        if prop in relation.bad_now:
            return cls((relation.bad_now[prop],))
        return cls((relation.taken, relation.bad_after[prop]), in_step=True)

    @classmethod
    def of_cube(cls, relation: TransitionRelation, cube: Cube) -> BadStates:
        """Return the states in a cube."""
        return cls(tuple(relation.literals(cube, after=False)))


class InitialStates:
    """The initial states, projected to the leaves of a slice: as rows, and as a constraint."""

    def __init__(self, relation: TransitionRelation) -> None:
        part = relation.part
        leaves = part.varying
        columns = np.array(relation.model.initial, np.int64)[:, list(leaves)]
        self._rows = KnownStates(np.unique(columns, axis=0) if leaves else columns[:1], leaves)
        states = [tuple(row) for row in self._rows.rows.tolist()]
        self.expression = relation.named(relation.solver.expression(one_of_states(part.lifted, states, leaves)))

    def intersect(self, cube: Cube) -> bool:
        """Whether an initial state is in a cube."""
        return self._rows.intersects(cube)

    def exclude(self, part: Cube, whole: Cube) -> Cube:
        """Return a cube between `whole`, which has no initial state, and the larger `part`, without initial states."""
        left = self._rows.inside(part)
        parts = dict(part)
        while len(left):
            n = max((n for n in whole if parts.get(n) != whole[n]), key=lambda n: self._excluded(left, n, whole))
            parts[n] = whole[n]
            left = KnownStates(left, tuple(self._rows.column)).inside(Cube({n: whole[n]}))
        return Cube(parts)

    def _excluded(self, rows: np.ndarray, n: int, cube: Cube) -> int:
        values, (low, high) = rows[:, self._rows.column[n]], cube[n]
        return int(((values < low) | (values > high)).sum())


class Pdr:
    """One run of property-directed reachability.

    Args:
        relation: The transition relation of a slice; its effort limits the run.
        bad: What to exclude.
        rows: Reachable states, which no clause may exclude.
        background: Facts that are inductive by themselves; they hold in all frames.

    `refuted` depths (0, 1, …) are known to have no violation.
    """

    def __init__(
        self, relation: TransitionRelation, bad: BadStates, rows: KnownStates, background: Sequence[Cube] = ()
    ) -> None:
        self.relation, self.bad, self.rows, self.background = relation, bad, rows, list(background)
        self.initial = InitialStates(relation)
        self.refuted = 0
        self.frames: list[dict[Cube, None]] = [{}, {}]
        self._switches = [relation.switch(), relation.switch()]
        self._order = count()
        self._retired = 0
        self._begin()

    def _begin(self) -> None:
        """Make new solvers: one with the frames, and one with the transition relation only."""
        self._session, self._relation_only, self._retired = self.relation.session(), self.relation.session(), 0
        self._session.add(*(self.relation.clause(cube) for cube in self.background))
        self._session.add(z3.Or(z3.Not(self._switches[0]), self.initial.expression))
        for level, frame in enumerate(self.frames):
            for cube in frame:
                self._assert(cube, level)

    def _assert(self, cube: Cube, level: int) -> None:
        self._session.add(z3.Or(z3.Not(self._switches[level]), self.relation.clause(cube)))

    @property
    def level(self) -> int:
        """The number of the last frame."""
        return len(self.frames) - 1

    def run(self) -> Proved | Counterexample:
        """Extend the frames until they prove the property or a violation is reached.

        Raises:
            OutOfEffort: The effort of the transition relation is spent.
        """
        while True:
            reached = self._strengthen()
            if reached is not None:
                return reached
            self.refuted = self.level + (not self.bad.in_step)
            self.frames.append({})
            self._switches.append(self.relation.switch())
            proof = self._propagate()
            if proof is not None:
                return proof

    # The last frame.

    def _strengthen(self) -> Counterexample | None:
        """Exclude all violations from the last frame; return a counterexample if one is real."""
        while (obligation := self._violation()) is not None:
            reached = self._discharge(obligation)
            if reached is not None:
                return reached
        return None

    def _violation(self) -> ProofObligation | None:
        """Return a cube of states in the last frame that are bad (or take a bad step)."""
        bad = list(self.bad.literals)
        if not self._session.possible([*self._in_frame(self.level), *bad]):
            return None
        step = self._session.step(with_step=self.bad.in_step)
        return ProofObligation(generalized_start(self.relation, self._relation_only, step, bad), step.instance)

    def _in_frame(self, level: int) -> list[z3.BoolRef]:
        """Return the assumptions that the state is in a frame."""
        return self._switches[level:]

    # Obligations.

    def _discharge(self, first: ProofObligation) -> Counterexample | None:
        """Exclude a cube from the last frame, and for that its predecessors from the frames before."""
        queue: list[tuple[int, int, ProofObligation]] = [(self.level, next(self._order), first)]
        while queue:
            level, _, obligation = heapq.heappop(queue)
            if self.initial.intersect(obligation.cube):
                return _counterexample(obligation)
            if self._is_blocked(obligation.cube, level):
                continue
            predecessor = self._predecessor(obligation.cube, level)
            if predecessor is not None:
                heapq.heappush(queue, (level - 1, next(self._order), ProofObligation(*predecessor, obligation)))
            elif level < self.level:
                level += 1
            else:
                continue
            heapq.heappush(queue, (level, next(self._order), obligation))
        return None

    def _is_blocked(self, cube: Cube, level: int) -> bool:
        return any(blocked.contains(cube) for frame in self.frames[level:] for blocked in frame)

    def _predecessor(self, cube: Cube, level: int) -> tuple[Cube, int] | None:
        """Return a cube in the frame before with a step into this one; if there is none, learn a clause."""
        if self._has_step_into(cube, level - 1, from_outside=True):
            step = self._session.step()
            wanted = [self.relation.taken, *self.relation.literals(cube, after=True)]
            return generalized_start(self.relation, self._relation_only, step, wanted), step.instance
        self._learn(self._generalized(self._core_cube(cube), level), level)
        return None

    def _has_step_into(self, cube: Cube, level: int, *, from_outside: bool = False) -> bool:
        """Whether a step leads from a state of the frame into the cube; the state may have to be outside of it."""
        switches = []
        if from_outside:
            switches = [self.relation.switch()]
            self._session.add(z3.Or(z3.Not(switches[0]), self.relation.clause(cube)))
            self._retired += 1
        into = self.relation.literals(cube, after=True)
        return self._session.possible([*self._in_frame(level), *switches, self.relation.taken, *into])

    def _core_cube(self, cube: Cube) -> Cube:
        """Return what the last query needed of a cube, without initial states."""
        core = self._session.cube(cube)
        return core if not self.initial.intersect(core) and len(core) else self.initial.exclude(core, cube)

    def _generalized(self, cube: Cube, level: int) -> Cube:
        """Return a larger cube that the frame before still excludes; leaves are dropped one by one."""
        for n in list(cube):
            if n not in cube or len(cube) == 1:
                continue
            larger = cube.without(n)
            if self.initial.intersect(larger) or self.rows.intersects(larger):
                continue
            if not self._has_step_into(larger, level - 1, from_outside=True):
                cube = self._core_cube(larger)
        return cube

    def _learn(self, cube: Cube, level: int) -> None:
        """Exclude a cube from a frame, and from the later frames that exclude it too."""
        while level < self.level and not self._has_step_into(cube, level, from_outside=True):
            level += 1
        for frame in self.frames[1 : level + 1]:
            for weaker in [known for known in frame if cube.contains(known)]:
                del frame[weaker]
        self.frames[level][cube] = None
        self._assert(cube, level)
        if self._retired > MAX_RETIRED:
            self._begin()

    # Convergence.

    def _propagate(self) -> Proved | None:
        """Move clauses to later frames where they still hold; return a proof if a frame has no own clause left."""
        for level in range(1, self.level):
            for cube in list(self.frames[level]):
                if cube in self.frames[level] and not self._has_step_into(cube, level):
                    del self.frames[level][cube]
                    self.frames[level + 1][cube] = None
                    self._assert(cube, level + 1)
            if not self.frames[level]:
                facts = dict.fromkeys(cube for frame in self.frames[level + 1 :] for cube in frame)
                return Proved((*self.background, *facts))
        return None


def _counterexample(obligation: ProofObligation) -> Counterexample:
    start, instances = obligation.cube, []
    current: ProofObligation | None = obligation
    while current is not None and current.instance >= 0:
        instances.append(current.instance)
        current = current.then
    return Counterexample(start, tuple(instances))


def generalized_start(
    relation: TransitionRelation, session: SolverSession, step: ConcreteStep, literals: Sequence[z3.BoolRef]
) -> Cube:
    """Return a cube around the state before a step, all of whose states satisfy `literals` by the same instance.

    Args:
        relation: The transition relation.
        session: A session that has the transition relation only.
        step: The step; instance -1 for a state without a step.
        literals: Literals that the step satisfies.
    """
    full = Cube({n: (step.before[n], step.before[n]) for n in relation.part.varying})
    switch = relation.switch()
    session.add(z3.Or([z3.Not(switch), *map(z3.Not, literals)]))
    choice = [] if step.instance < 0 else [relation.chosen(step.instance)]
    if session.possible([switch, *choice, *relation.literals(full, after=False)]):
        raise AssertionError("Z3 contradicts itself: a step that it found does not lead where it led before.")
    cube = session.cube(full)
    session.add(z3.Not(switch))
    return cube
