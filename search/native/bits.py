"""Bits in memory, as compiled loops use them: rows and planes.

Bit i of a *row* is bit i % 64 of word i // 64 at the row's address.
"""

from __future__ import annotations

import numpy as np

from kwalk.search.native.intrinsics import ONE, ZERO, bit_count, integer, peek, poke
from kwalk.search.native.loops import Word, part


@part
def has_bit(row: int, index: int) -> bool:
    """Whether a bit of a row is set."""
    return bool((peek(row, index // 64) >> np.uint64(index % 64)) & ONE != ZERO)


@part
def set_bit(row: int, index: int) -> None:
    """Set a bit of a row."""
    poke(row, index // 64, peek(row, index // 64) | ONE << np.uint64(index % 64))


@part
def clear_bit(row: int, index: int) -> None:
    """Clear a bit of a row."""
    poke(row, index // 64, peek(row, index // 64) & ~(ONE << np.uint64(index % 64)))


@part
def add_bits(row: int, word: int, bits: Word) -> None:
    """Set bits in one word of a row."""
    poke(row, word, peek(row, word) | bits)


@part
def count_bits(row: int, words: int) -> int:
    """Count the set bits of a row of `words` words."""
    count = integer(0)
    for word in range(words):
        count += bit_count(peek(row, word))
    return count


# Planes: one bit of each of 64 * `words` lanes; lane i is bit i // words of word i % words.


@part
def set_first_lanes(plane: int, count: int, words: int) -> None:
    """Write the plane of the first lanes."""
    for word in range(words):
        bits = (count - word + words - 1) // words
        mask = ZERO
        if bits >= 64:
            mask = ~ZERO
        elif bits > 0:
            mask = (ONE << np.uint64(bits)) - ONE
        poke(plane, word, mask)


@part
def clear_lane(plane: int, lane: int, words: int) -> None:
    """Clear a lane of a plane."""
    word = lane % words
    poke(plane, word, peek(plane, word) & ~(ONE << np.uint64(lane // words)))


@part
def has_lane(plane: int, lane: int, words: int) -> bool:
    """Whether a lane of a plane is set."""
    return bool((peek(plane, lane % words) >> np.uint64(lane // words)) & ONE != ZERO)


@part
def count_common_lanes(one: int, other: int, words: int) -> int:
    """Return how many lanes two planes have in common."""
    total = integer(0)
    for word in range(words):
        total += bit_count(peek(one, word) & peek(other, word))
    return total
