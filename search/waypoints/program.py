"""Clauses over leaves as programs over packed states, for the loops in `search.loops.gap`."""
from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from model.language import Model, UsageError
from model.language.errors import unknown
from model.language.series import Clause
from search.kernel import Kernel
from search.loops.gap import Program, holding

WIDEST = 16
"""Bits of the widest leaf that a clause may name: its numbers are looked up in a table."""


def program_of(model: Model, kernel: Kernel, clauses: Iterable[Clause]) -> Program:
    """The program that holds where all the clauses do; UsageError for a leaf that the model does not have."""
    leaves = {leaf.path: index for index, leaf in enumerate(model.leaves)}
    rows: list[tuple[int, int, int, int]] = []
    ends: list[int] = []
    allowed: list[np.ndarray] = []
    for clause in dict.fromkeys(clauses):
        for path, numbers in clause:
            if path not in leaves:
                raise unknown("leaf", path, leaves)
            leaf = leaves[path]
            offset, width, low = int(kernel.offsets[leaf]), int(kernel.widths[leaf]), int(kernel.lows[leaf])
            rows.append((offset // 64, offset % 64, (1 << width) - 1, sum(map(len, allowed))))
            allowed.append(_table(path, width, low, numbers))
        ends.append(len(rows))
    columns = np.array(rows, np.int64).reshape(-1, 4).T
    return Program(
        words=columns[0].copy(), shifts=columns[1].astype(np.uint64), masks=columns[2].astype(np.uint64),
        bases=columns[3].copy(), ends=np.array(ends, np.int64),
        allowed=np.concatenate([*allowed, np.zeros(1, np.uint8)]),
    )  # fmt: skip


def _table(path: str, width: int, low: int, numbers: Iterable[int]) -> np.ndarray:
    if width > WIDEST:
        raise UsageError(f"The leaf {path!r} has {width} bits, too many for a clause. Allowed: {WIDEST}.")
    table = np.zeros(1 << width, np.uint8)
    for number in numbers:
        if 0 <= number - low < len(table):
            table[number - low] = 1
    return table


def truth(program: Program, packed: np.ndarray) -> np.ndarray:
    """For each packed state, uint64[n, words], whether the program holds there."""
    found, keys = np.zeros(len(packed), np.bool_), np.ascontiguousarray(packed, np.uint64)
    holding(program, keys.ctypes.data, keys.shape[1], found)
    return found
