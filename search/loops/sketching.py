"""What walks remember of the states they visited, in little room that can be merged.

Words: the *sketch* is a HyperLogLog of distinct states: each register keeps the most zeros that a hash had below its
lowest set bit, plus 1. The *rare* table counts visits by the set of enabled instances, hashed to a place; with each
count it keeps the latest such visit.
"""
from __future__ import annotations

import numpy as np

from search.loops.keys import hash_of, mixed
from search.loops.native import ONE, Word, count_up, fold, lowest_bit, part, peek, peek8, poke, poke8
from search.loops.walker import Walker

REGISTER_BITS = 14
REGISTERS = 1 << REGISTER_BITS
PLACE_BITS = 14
PLACES = 1 << PLACE_BITS
COUNT, LAST_WALK, LAST_STEP = range(3)
"""What a place of the rare table holds: visits, and the walk (plus 1) and the step of the latest one."""
PLACE_SIZE = 3

_ONE_ROW, _ANOTHER = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)


@part
def note_state(walker: Walker, state: int) -> None:
    """Add the packed state at an address to the sketch."""
    word = hash_of(state, walker.words)
    register = walker.sketch + np.int64(word >> np.uint64(64 - REGISTER_BITS))
    zeros = np.uint64(lowest_bit(word | (ONE << np.uint64(63 - REGISTER_BITS))) + 1)
    if zeros > peek8(register, 0):
        poke8(register, 0, zeros)


@part
def note_row(walker: Walker, walk: int, step: int) -> None:
    """Count a visit in the rare table, by the walker's row of enabled instances."""
    place = walker.rare + 8 * PLACE_SIZE * np.int64(_row_hash(walker) >> np.uint64(64 - PLACE_BITS))
    count_up(place, COUNT, 1)
    poke(place, LAST_WALK, np.uint64(walk + 1))
    poke(place, LAST_STEP, np.uint64(step))


@part
def _row_hash(walker: Walker) -> Word:
    word = _ONE_ROW
    for number in range(walker.row_words):
        word = fold(peek(walker.row, number) ^ word, _ANOTHER)
    return mixed(word)
