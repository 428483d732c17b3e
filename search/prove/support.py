"""Supporting facts, found by themselves: what no known state contradicts, as far as it is inductive (Houdini).

Words: a *candidate* is a clause of one or two leaves that no sampled state contradicts: "this leaf never has that
value", "these two never have these values together". Two-leaf candidates say all that can be said of two leaves:
equality, order, implications, bounds of one while the other is set. The *fixpoint* (Flanagan and Leino's Houdini, FME
2001) drops what a step can break while all others hold, until nothing is left to drop; the rest is inductive together.
"""
from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import z3

from search.prove.cubes import Cube, Rows
from search.prove.sampling import Stepping
from search.prove.step import Session, Step

MOST = 4_000
"""Candidates of two leaves; where there are more, those about leaves that are far from each other are left out."""
ASKED = 500
"""So many candidates are asked for in one question to Z3."""
WALKS, WANDER = 3, 30
"""Walks from a counterexample to induction, and their steps: what they pass drops candidates without Z3."""


def never_seen(step: Step, rows: Rows) -> list[Cube]:
    """The candidates of one leaf: the values that no row has."""
    found: list[Cube] = []
    for n in step.part.varying:
        leaf, seen = step.model.leaves[n], rows.values(n)
        found += [Cube({n: (value, value)}) for value in range(leaf.low, leaf.high + 1) if value not in seen]
    return found


def never_together(step: Step, rows: Rows, most: int = MOST) -> list[Cube]:
    """The candidates of two leaves: the values that some rows have, and none has both of."""
    atoms = [(n, value) for n in step.part.varying for value in rows.values(n) if len(rows.values(n)) > 1]
    if not atoms:
        return []
    held = np.stack([rows.rows[:, rows.column[n]] == value for n, value in atoms], axis=1).astype(np.float32)
    apart = np.argwhere(np.triu(held.T @ held == 0, 1)).tolist()
    pairs = [(atoms[a], atoms[b]) for a, b in apart if atoms[a][0] != atoms[b][0]]
    place = {leaf: index for index, leaf in enumerate(step.part.varying)}
    if len(pairs) > most:
        pairs.sort(key=lambda pair: abs(place[pair[0][0]] - place[pair[1][0]]))
    return [Cube({a: (x, x), b: (y, y)}) for (a, x), (b, y) in pairs[:most]]


class Fixpoint:
    """The inductive part of some candidates that hold initially. `run`, then read `facts`.

    `background` are facts that are known to be inductive by themselves.
    """

    def __init__(self, step: Step, facts: Sequence[Cube], stepping: Stepping, background: Sequence[Cube] = ()) -> None:
        self.step, self.stepping = step, stepping
        self._cubes, self._table = list(facts), Table(facts)
        self._live = np.ones(len(facts), bool)
        self._background = [step.clause(cube) for cube in background]
        self._clauses = [step.clause(cube) for cube in facts]
        self._broken = [z3.And(step.literals(cube, after=True)) for cube in facts]
        self._chance = random.Random(0)

    @property
    def facts(self) -> list[Cube]:
        """The candidates that are left."""
        return [self._cubes[index] for index in np.nonzero(self._live)[0]]

    def run(self) -> list[Cube]:
        """Drop until nothing can be dropped; the facts that are left. OutOfEffort leaves `facts` too strong."""
        while self._round():
            pass
        return self.facts

    def _round(self) -> bool:
        """One round: all facts are assumed before the step, also those dropped meanwhile; whether any was dropped."""
        session, began = self.step.session(), np.nonzero(self._live)[0].tolist()
        session.add(*self._background, *(self._clauses[index] for index in began))
        for first in range(0, len(began), ASKED):
            while self._ask(session, began[first : first + ASKED]):
                pass
        return int(self._live.sum()) < len(began)

    def _ask(self, session: Session, asked: Sequence[int]) -> bool:
        """Drop what one step that Z3 finds breaks; False if none breaks any of those asked for."""
        broken = [self._broken[index] for index in asked if self._live[index]]
        switch = self.step.switch()
        session.add(z3.Or(z3.Not(switch), *broken))
        if not broken or not session.possible([self.step.taken, switch]):
            return False
        move = session.move()
        self._drop(np.array([move.after]))
        for _ in range(WALKS):
            self._wander(self.stepping.pack(move.before))
        return True

    def _wander(self, state: bytes) -> None:
        """Walk on from a state in which all facts hold, and drop what fails after one step from where the walk is."""
        for _ in range(WANDER):
            following = self.stepping.successors(state)
            if not following:
                return
            self._drop(self.stepping.unpack(following))
            state = self._chance.choice(following)

    def _drop(self, vectors: np.ndarray) -> None:
        live = np.nonzero(self._live)[0]
        self._live[live[self._table.inside(vectors, live)]] = False


class Table:
    """Cubes of one or two leaves as an array, to be compared with many states at once."""

    def __init__(self, cubes: Sequence[Cube]) -> None:
        self._parts = np.array([_flat(cube) for cube in cubes], np.int64).reshape(len(cubes), 6)

    def inside(self, vectors: np.ndarray, which: np.ndarray) -> np.ndarray:
        """For each of some of the cubes, whether one of the states is in it."""
        parts = self._parts[which]
        held: np.ndarray = np.ones((len(vectors), len(which)), bool)
        for n, low, high in (parts[:, :3].T, parts[:, 3:].T):
            values = vectors[:, n]
            held = held & (values >= low) & (values <= high)
        return np.asarray(held.any(axis=0))


def _flat(cube: Cube) -> tuple[int, ...]:
    one, *other = ((n, *interval) for n, interval in cube.items())
    return (*one, *(other[0] if other else one))
