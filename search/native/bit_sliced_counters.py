"""Count the set bits of many bit rows without a branch per bit: bit-sliced (vertical) counters.

Words: each word of a row has PLANES *planes*; bit b of plane k is bit k of the counter for bit b of the word. Adding a
row is a ripple-carry addition of a whole word.
"""

from __future__ import annotations

import numpy as np

from kwalk.search.native.intrinsics import ONE, ZERO, count_up, integer, lowest_bit, peek, poke
from kwalk.search.native.loops import Word, part

PLANES = 48
MOST_ROWS = 252

Sums = tuple[Word, Word, Word, Word, Word, Word, Word, Word]


@part
def add_rows(planes: int, rows: int, count: int, words: int) -> None:
    """Add `count` consecutive rows of `words` words."""
    for first in range(0, count, MOST_ROWS):
        _add_some(planes, rows + 8 * words * first, min(MOST_ROWS, count - first), words)


@part
def _add_some(planes: int, rows: int, count: int, words: int) -> None:
    """Add at most MOST_ROWS rows, without branches on their bits."""
    for word in range(words):
        sums = (ZERO, ZERO, ZERO, ZERO, ZERO, ZERO, ZERO, ZERO)
        number = integer(0)
        while number + 7 <= count:
            sums = _add_seven(sums, rows + 8 * word, number, words)
            number += 7
        while number < count:
            sums = _add(sums, peek(rows, number * words + word), ZERO, ZERO)
            number += 1
        for level in range(8):
            _ripple(planes, PLANES * word + level, sums[level])


@part
def _add_seven(sums: Sums, rows: int, number: int, words: int) -> Sums:
    """Add seven rows: first to each other, then to the sums."""
    first = number * words
    one, two = _full(peek(rows, first), peek(rows, first + words), peek(rows, first + 2 * words))
    also, more = _full(peek(rows, first + 3 * words), peek(rows, first + 4 * words), peek(rows, first + 5 * words))
    one, most = _full(one, also, peek(rows, first + 6 * words))
    two, four = _full(two, more, most)
    return _add(sums, one, two, four)


@part
def _add(sums: Sums, one: Word, two: Word, four: Word) -> Sums:
    """Add a number of three bits (one word for each bit) to the sums."""
    a, b, c, d, e, f, g, h = sums
    a, carry = a ^ one, a & one
    b, carry = _full(b, two, carry)
    c, carry = _full(c, four, carry)
    d, carry = d ^ carry, d & carry
    e, carry = e ^ carry, e & carry
    f, carry = f ^ carry, f & carry
    g, carry = g ^ carry, g & carry
    return a, b, c, d, e, f, g, h ^ carry


@part
def _full(a: Word, b: Word, c: Word) -> tuple[Word, Word]:
    """Full adders: return the sum bits and the carry bits of three words."""
    half = a ^ b
    return half ^ c, (a & b) | (half & c)


@part
def _ripple(planes: int, level: int, carry: Word) -> None:
    while carry != ZERO:
        plane = peek(planes, level)
        poke(planes, level, plane ^ carry)
        carry &= plane
        level += 1


@part
def bump(counts: int, word: int, row: Word) -> None:
    """Add 1 to counts[i] for each set bit i of one word of a row. For rows with few set bits."""
    while row != ZERO:
        count_up(counts, 64 * word + lowest_bit(row), 1)
        row &= row - ONE


def totals(planes: np.ndarray) -> np.ndarray:
    """Return the counters of `planes` as int64[64 * words]; `planes` has PLANES words for each word of the rows."""
    octets = np.ascontiguousarray(planes).view(np.uint8).reshape(-1, PLANES, 8)
    bits = np.unpackbits(octets, axis=-1, bitorder="little")
    weights = np.int64(1) << np.arange(PLANES, dtype=np.int64)
    counts: np.ndarray = np.einsum("wpb,p->wb", bits.astype(np.int64), weights)
    return counts.reshape(-1)
