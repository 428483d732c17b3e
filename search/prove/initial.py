"""The initial states of a slice: as rows to compare with, and as a constraint."""
from __future__ import annotations

import numpy as np

from search.prove.cubes import Cube, Rows
from search.prove.step import Step
from search.prove.terms import among


class Initial:
    """The initial states as far as a slice goes."""

    def __init__(self, step: Step) -> None:
        self.step = step
        leaves = step.part.varying
        columns = np.array(step.model.initial, np.int64)[:, list(leaves)]
        self._rows = Rows(np.unique(columns, axis=0) if leaves else columns[:1], leaves)
        states = [tuple(row) for row in self._rows.rows.tolist()]
        self.expression = step.named(step.solver.expression(among(step.part.lifted, states, leaves)))

    def meets(self, cube: Cube) -> bool:
        """Whether an initial state is in a cube."""
        return self._rows.meet(cube)

    def apart(self, part: Cube, whole: Cube) -> Cube:
        """A cube between the two, with as little of the whole as keeps all initial states out, which the whole does."""
        left = self._rows.inside(part)
        parts = dict(part)
        while len(left):
            n = max((n for n in whole if parts.get(n) != whole[n]), key=lambda n: self._excluded(left, n, whole))
            parts[n] = whole[n]
            left = Rows(left, self.step.part.varying).inside(Cube({n: whole[n]}))
        return Cube(parts)

    def _excluded(self, rows: np.ndarray, n: int, cube: Cube) -> int:
        values, (low, high) = rows[:, self._rows.column[n]], cube[n]
        return int(((values < low) | (values > high)).sum())
