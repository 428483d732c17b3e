"""The random numbers of loops: splitmix64, whose state is a word that grows by GOLDEN."""
from __future__ import annotations

import numpy as np

from kwalk.search.native.loops import Word, part

GOLDEN, _MIX, _MIX_AGAIN = (np.uint64(n) for n in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))


@part
def mix(word: Word) -> Word:
    """Return the finalizer of splitmix64 for a word."""
    word = (word ^ (word >> np.uint64(30))) * _MIX
    word = (word ^ (word >> np.uint64(27))) * _MIX_AGAIN
    return word ^ (word >> np.uint64(31))
