"""The random numbers of loops: splitmix64, whose state is a word that grows by GOLDEN."""

from __future__ import annotations

import numpy as np

from kwalk.search.native.loops import Word, part

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
SHIFTS = (np.uint64(30), np.uint64(27), np.uint64(31))
FACTORS = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


@part
def mix(word: Word) -> Word:
    """Return the finalizer of splitmix64 for a word."""
    word = (word ^ (word >> SHIFTS[0])) * FACTORS[0]
    word = (word ^ (word >> SHIFTS[1])) * FACTORS[1]
    return word ^ (word >> SHIFTS[2])
