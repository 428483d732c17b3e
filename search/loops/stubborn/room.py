"""Where a stubborn set is worked out: bit rows in room of a worker's own. Words: see `search.loops.stubborn`."""
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from search.loops.native import ONE, ZERO, bit_count, integer, part, peek, poke
from search.loops.stubborn.relations import Stubborn


def room_words(relations: tuple[int, int, int], instances: int, words: int) -> int:
    """How many words of room a worker needs.

    The relations: words in a row of cases, of atoms, and of instances. A state has so many words.
    """
    case_words, atom_words, row_words = relations
    return atom_words + 6 * case_words + (3 + instances) * row_words + 2 * words


class Room(NamedTuple):
    """Where a choice is worked out: addresses of rows."""

    atoms: int
    enabled: int
    awake: int
    """Enabled cases whose instances are not asleep."""
    base: int
    chosen: int
    waiting: int
    best: int
    taken: int
    """Row of instances; so are the next two."""
    asleep: int
    dozing: int
    """Those that will be asleep in a successor."""
    spare: int
    """Two states."""
    guards: int
    """Per successor, the row of instances whose guard is true there."""


@part
def room_at(s: Stubborn, at: int) -> Room:
    """The rows in a worker's room, which begins at an address."""
    enabled, step, row = at + 8 * s.atom_words, 8 * s.case_words, 8 * s.row_words
    taken = enabled + 6 * step
    return Room(
        at, enabled, enabled + step, enabled + 2 * step, enabled + 3 * step, enabled + 4 * step, enabled + 5 * step,
        taken, taken + row, taken + 2 * row, taken + 3 * row, taken + 3 * row + 16 * s.words,
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


@part
def drop(row: int, number: int) -> None:
    """Clear a bit of a row."""
    poke(row, number // 64, peek(row, number // 64) & ~(ONE << np.uint64(number % 64)))


@part
def add(row: int, number: int) -> None:
    """Set a bit of a row."""
    poke(row, number // 64, peek(row, number // 64) | ONE << np.uint64(number % 64))
