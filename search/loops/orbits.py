"""The least of all states that differ from one only by names of interchangeable members.

Words: a *permutation* renames members of a domain. Applied to a packed state it moves some leaves (elements of an array
over the domain, flags of a subset of it) and renames the members that leaves hold. The *orbit* of a state is what all
permutations make of it; its *representative* is the least of them, compared word by word. A leaf is *dead* where nobody
can see it (a free slot of a queue): it is moved, and not renamed. A *move* is an item of the table: see `Orbits`.
"""
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from search.loops.native import ONE, ZERO, Word, integer, loop, part, peek, poke

PERMUTATIONS, MOVES, FIRST_MOVE = range(3)
"""The head of a table, in words: how many permutations and moves of each; then the mask of what stays, per word; then
each permutation's moves."""
SOURCE, TARGET, WIDTH, RENAMED, ALIVE, ALIVE_WIDTH, LEAST, NAMES = range(8)
"""A move, in words: the bit offsets of a leaf before and after, its width in bits; 1 if it is renamed, and then the
leaf that tells whether it is alive (its offset, its width; 0 if it always is) and the number that this must reach; then
the address of the new names, by the leaf's bits."""
MOVE_WORDS = 8


class Orbits(NamedTuple):
    """A table, by address; 0 for none. `words` is the length of a packed state."""

    table: int
    words: int


@part
def represent(orbits: Orbits, rows: int, count: int) -> None:
    """Replace packed states that follow each other by the representatives of their orbits."""
    words = orbits.words
    room = np.empty(2 * words, np.uint64)
    best, made = integer(room.ctypes.data), integer(room.ctypes.data) + 8 * words
    for j in range(count):
        row = rows + 8 * words * j
        _copy(best, row, words)
        for number in range(1, integer(peek(orbits.table, PERMUTATIONS))):
            permute(orbits, number, row, made)
            if _is_less(made, best, words):
                _copy(best, made, words)
        _copy(row, best, words)
    room[0] = ZERO  # the array must live until here, as only its address is used


@part
def permute(orbits: Orbits, number: int, row: int, made: int) -> None:
    """Write what a permutation makes of a packed state."""
    head, moves = orbits.table, integer(peek(orbits.table, MOVES))
    for word in range(orbits.words):
        poke(made, word, peek(row, word) & peek(head, FIRST_MOVE + word))
    first = head + 8 * (FIRST_MOVE + orbits.words + MOVE_WORDS * moves * number)
    for k in range(moves):
        move = first + 8 * MOVE_WORDS * k
        bits = _bits(row, peek(move, SOURCE), peek(move, WIDTH))
        if peek(move, RENAMED) != ZERO and _bits(row, peek(move, ALIVE), peek(move, ALIVE_WIDTH)) >= peek(move, LEAST):
            bits = peek(integer(peek(move, NAMES)), integer(bits))
        target = peek(move, TARGET)
        word = integer(target >> np.uint64(6))
        poke(made, word, peek(made, word) | (bits << (target & np.uint64(63))))


@part
def _bits(row: int, offset: Word, width: Word) -> Word:
    word = peek(row, integer(offset >> np.uint64(6))) >> (offset & np.uint64(63))
    return word & ((ONE << width) - ONE)


@part
def _copy(target: int, source: int, words: int) -> None:
    for word in range(words):
        poke(target, word, peek(source, word))


@part
def _is_less(one: int, other: int, words: int) -> bool:
    for word in range(words):
        if peek(one, word) != peek(other, word):
            return peek(one, word) < peek(other, word)
    return False


@loop
def states_behind(orbits: Orbits, rows: np.ndarray) -> int:
    """How many states the orbits of packed states have: for each, permutations by those that change nothing in it."""
    made, states = np.empty(orbits.words, np.uint64), integer(0)
    permutations = integer(peek(orbits.table, PERMUTATIONS))
    for j in range(len(rows)):
        idle = integer(0)
        for number in range(permutations):
            permute(orbits, number, integer(rows[j].ctypes.data), integer(made.ctypes.data))
            idle += integer((made == rows[j]).all())
        states += permutations // idle
    return states


@loop
def represent_rows(orbits: Orbits, rows: np.ndarray) -> None:
    """Replace packed states, uint64[n, words], by the representatives of their orbits."""
    represent(orbits, integer(rows.ctypes.data), len(rows))


@loop
def permuted_rows(orbits: Orbits, row: np.ndarray, made: np.ndarray) -> None:
    """Write what each permutation makes of a packed state into the rows of `made`."""
    for number in range(len(made)):
        permute(orbits, number, integer(row.ctypes.data), integer(made[number].ctypes.data))
