"""Choosing the next step of a walk: a random enabled instance among those that the walk is allowed or prefers to take.

Words: see `tastes` for *levels*.
"""
from __future__ import annotations

import numpy as np

from search.loops.keys import copy_words
from search.loops.native import ONE, ZERO, Word, bit_count, integer, part, peek, poke, scale, select_bit
from search.loops.tastes import level_of
from search.loops.walker import Walker


@part
def choose(walker: Walker, row: int, levels: int, random: Word) -> int:
    """A random instance of a row that a random level prefers, or a lower one; -1 if none is allowed."""
    words = walker.row_words
    if levels == 0:
        return _choose_within(row, walker.masks, words, random)
    level = level_of(levels, random)
    while True:
        instance = _choose_within(row, walker.masks + 8 * words * level, words, random)
        if instance >= 0 or level == 0:
            return instance
        level -= 1


@part
def _choose_within(row: int, mask: int, words: int, random: Word) -> int:
    """The number of a random set bit of a row within a mask; -1 if there is none."""
    if words == 1:
        bits = peek(row, 0) & peek(mask, 0)
        if bits == ZERO:
            return -1
        return select_bit(bits, integer(scale(random, np.uint64(bit_count(bits)))))
    total = integer(0)
    for word in range(words):
        total += bit_count(peek(row, word) & peek(mask, word))
    rank = integer(scale(random, np.uint64(total)))
    for word in range(words):
        bits = peek(row, word) & peek(mask, word)
        if rank < bit_count(bits):
            return 64 * word + select_bit(bits, rank)
        rank -= bit_count(bits)
    return -1


@part
def without(walker: Walker, row: int, instance: int) -> int:
    """A row without an instance that a bound disables; the walker's own row stays as it is."""
    other = walker.row + 8 * walker.row_words
    if row != other:
        copy_words(other, row, walker.row_words)
    bits = peek(other, instance // 64)
    poke(other, instance // 64, bits & ~(ONE << np.uint64(instance % 64)))
    return other
