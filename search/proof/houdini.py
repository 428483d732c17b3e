"""Houdini: the largest inductive set of candidates that no sampled state contradicts.

Words: a *candidate* is a clause of one or two leaves that no sampled state contradicts: "this leaf never has that
value", "these two never have these values together". Candidates of two leaves express equality, order, implications,
and bounds of one leaf that depend on the other.

Source: C. Flanagan and K. R. M. Leino, "Houdini, an Annotation Assistant for ESC/Java" (FME 2001). It drops the
candidates that a step can break while all others hold, until a step can break none.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import z3

from kwalk.search.proof.cubes import Cube, KnownStates
from kwalk.search.proof.sampling import PackedStepper
from kwalk.search.proof.transition_relation import SolverSession, TransitionRelation

MAX_PAIRS = 4_000
"""Candidates of two leaves; if there are more, those with the nearest leaves are taken."""
BATCH = 500
"""Candidates in one query."""
WALKS, WALK_LENGTH = 3, 30
"""Walks from a counterexample to induction, and their steps: the states on them drop candidates without Z3."""


def single_leaf_candidates(relation: TransitionRelation, rows: KnownStates) -> list[Cube]:
    """Return the values of one leaf that no row has."""
    found: list[Cube] = []
    for n in relation.part.varying:
        leaf, seen = relation.model.leaves[n], rows.values(n)
        found += [Cube({n: (value, value)}) for value in range(leaf.low, leaf.high + 1) if value not in seen]
    return found


def two_leaf_candidates(relation: TransitionRelation, rows: KnownStates, limit: int = MAX_PAIRS) -> list[Cube]:
    """Return the pairs of values of two leaves that each occur in some row, and in none together."""
    varying = relation.part.varying
    atoms = [(n, value) for n in varying for value in rows.values(n) if len(rows.values(n)) > 1]
    if not atoms:
        return []
    held = np.stack([rows.rows[:, rows.column[n]] == value for n, value in atoms], axis=1).astype(np.float32)
    apart = np.argwhere(np.triu(held.T @ held == 0, 1)).tolist()
    pairs = [(atoms[a], atoms[b]) for a, b in apart if atoms[a][0] != atoms[b][0]]
    position = {leaf: index for index, leaf in enumerate(varying)}
    if len(pairs) > limit:
        pairs.sort(key=lambda pair: abs(position[pair[0][0]] - position[pair[1][0]]))
    return [Cube({a: (x, x), b: (y, y)}) for (a, x), (b, y) in pairs[:limit]]


class Houdini:
    """One run of Houdini.

    Args:
        relation: The transition relation; its effort limits the run.
        candidates: Clauses of one or two leaves that hold initially.
        stepper: Takes the steps of walks.
        background: Facts that are inductive by themselves.
    """

    def __init__(
        self,
        relation: TransitionRelation,
        candidates: Sequence[Cube],
        stepper: PackedStepper,
        background: Sequence[Cube] = (),
    ) -> None:
        self.relation, self.stepper = relation, stepper
        self._cubes, self._table = list(candidates), _CubeTable(candidates)
        self._alive = np.ones(len(candidates), bool)
        self._background = [relation.clause(cube) for cube in background]
        self._clauses = [relation.clause(cube) for cube in candidates]
        self._broken = [z3.And(relation.literals(cube, after=True)) for cube in candidates]
        self._chance = random.Random(0)

    def run(self) -> list[Cube]:
        """Drop candidates until no step breaks one, and return the others, which are inductive together.

        Raises:
            OutOfEffort: The effort is spent.
        """
        while self._round():
            pass
        return [self._cubes[index] for index in np.nonzero(self._alive)[0]]

    def _round(self) -> bool:
        """Drop what a step breaks from a state where all candidates of the round hold; return whether any was."""
        session, candidates = self.relation.session(), np.nonzero(self._alive)[0].tolist()
        session.add(*self._background, *(self._clauses[index] for index in candidates))
        for first in range(0, len(candidates), BATCH):
            while self._drop_broken(session, candidates[first : first + BATCH]):
                pass
        return int(self._alive.sum()) < len(candidates)

    def _drop_broken(self, session: SolverSession, batch: Sequence[int]) -> bool:
        """Drop what one step that Z3 finds breaks; return False if no step breaks any of the batch."""
        broken = [self._broken[index] for index in batch if self._alive[index]]
        switch = self.relation.switch()
        session.add(z3.Or(z3.Not(switch), *broken))
        if not broken or not session.possible([self.relation.taken, switch]):
            return False
        step = session.step()
        self._drop(np.array([step.after]))
        for _ in range(WALKS):
            self._walk(self.stepper.pack(step.before))
        return True

    def _walk(self, state: bytes) -> None:
        """Walk from a state in which all candidates hold, and drop those that fail in a successor of the walk."""
        for _ in range(WALK_LENGTH):
            following = [after for _, after in self.stepper.steps(state)]
            if not following:
                return
            self._drop(self.stepper.unpack(following))
            state = self._chance.choice(following)

    def _drop(self, vectors: np.ndarray) -> None:
        alive = np.nonzero(self._alive)[0]
        self._alive[alive[self._table.contain(vectors, alive)]] = False


class _CubeTable:
    """Cubes of one or two leaves as an array, to compare many of them with many states at once."""

    def __init__(self, cubes: Sequence[Cube]) -> None:
        self._intervals = np.array([_flat(cube) for cube in cubes], np.int64).reshape(len(cubes), 6)

    def contain(self, vectors: np.ndarray, which: np.ndarray) -> np.ndarray:
        """Return for each cube in `which` whether one of the vectors (int64[n, leaves]) is in it."""
        intervals = self._intervals[which]
        held: np.ndarray = np.ones((len(vectors), len(which)), bool)
        for n, low, high in (intervals[:, :3].T, intervals[:, 3:].T):
            values = vectors[:, n]
            held = held & (values >= low) & (values <= high)
        return np.asarray(held.any(axis=0))


def _flat(cube: Cube) -> tuple[int, ...]:
    one, *other = ((n, *interval) for n, interval in cube.items())
    return (*one, *(other[0] if other else one))
