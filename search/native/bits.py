"""Bit rows: bit i of a row is bit i % 64 of word i // 64 at the row's address."""
from __future__ import annotations

import numpy as np

from kwalk.search.native.intrinsics import ONE, ZERO, bit_count, integer, peek, poke
from kwalk.search.native.loops import Word, part


@part
def has_bit(row: int, index: int) -> bool:
    """Whether a bit of a row is set."""
    return (peek(row, index // 64) >> np.uint64(index % 64)) & ONE != ZERO


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
