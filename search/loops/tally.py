"""Counting set bits of many bit rows without looking at each bit: vertical counters.

Words: each word of a row has PLANES *planes*; bit b of plane k is bit k of the counter of the row's bit b. Adding a row
is a ripple-carry add of a whole word.
"""
from __future__ import annotations

import numpy as np

from search.loops.native import ONE, ZERO, count_up, loop, lowest_bit, peek, poke

PLANES = 48


@loop
def add_rows(planes: int, rows: int, count: int, words: int) -> None:
    """Add at most 63 rows that follow each other, without branching on their bits."""
    for word in range(words):
        one = two = four = eight = sixteen = thirtytwo = ZERO
        for number in range(count):
            row = peek(rows, number * words + word)
            one, row = one ^ row, one & row
            two, row = two ^ row, two & row
            four, row = four ^ row, four & row
            eight, row = eight ^ row, eight & row
            sixteen, row = sixteen ^ row, sixteen & row
            thirtytwo ^= row
        for level, plane in enumerate((one, two, four, eight, sixteen, thirtytwo)):
            _ripple(planes, PLANES * word + level, plane)


@loop
def _ripple(planes: int, level: int, carry: int) -> None:
    while carry != ZERO:
        kept = peek(planes, level)
        poke(planes, level, kept ^ carry)
        carry &= kept
        level += 1


@loop
def bump(counts: int, word: int, row: int) -> None:
    """Add 1 to counts[i] for each set bit i of one word of a row; for rows with few bits."""
    while row != ZERO:
        count_up(counts, 64 * word + lowest_bit(row), 1)
        row &= row - ONE


def totals(planes: np.ndarray, count: int) -> np.ndarray:
    """The first `count` counters of `planes`, uint64[words, PLANES], as int64."""
    bits = np.unpackbits(planes.view(np.uint8).reshape(*planes.shape, 8), axis=-1, bitorder="little")
    weights = np.int64(1) << np.arange(PLANES, dtype=np.int64)
    return np.einsum("wpb,p->wb", bits.astype(np.int64), weights).reshape(-1)[:count]
