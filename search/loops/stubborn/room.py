"""Where a stubborn set is worked out: bit rows in room of a worker's own. Words: see `search.loops.stubborn`."""
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from search.loops.native import ONE, ZERO, bit_count, integer, part, peek
from search.loops.stubborn.relations import Stubborn


def room_words(case_words: int, atom_words: int, row_words: int) -> int:
    """How many words of room `choose` needs."""
    return atom_words + 5 * case_words + row_words


class Room(NamedTuple):
    """Where a choice is worked out: addresses of rows."""

    atoms: int
    enabled: int
    base: int
    chosen: int
    waiting: int
    best: int
    taken: int
    """Row of instances."""


@part
def room_at(s: Stubborn, at: int) -> Room:
    """The rows in a worker's room, which begins at an address."""
    enabled, step = at + 8 * s.atom_words, 8 * s.case_words
    return Room(
        at, enabled, enabled + step, enabled + 2 * step, enabled + 3 * step, enabled + 4 * step, enabled + 5 * step
    )  # fmt: skip


@part
def count_bits(row: int, words: int) -> int:
    """How many bits of a row are set."""
    total = integer(0)
    for word in range(words):
        total += bit_count(peek(row, word))
    return total


@part
def has(row: int, number: int) -> bool:
    """Whether a bit of a row is set."""
    return (peek(row, number // 64) >> np.uint64(number % 64)) & ONE != ZERO
