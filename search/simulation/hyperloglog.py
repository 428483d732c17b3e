"""HyperLogLog: the number of distinct states that walks visit, estimated in 16 KiB of memory.

Words: a *sketch* is int8[REGISTERS]. Each register holds the largest number of trailing zeros, plus 1, of the hashes
that fall into it (Flajolet, Fusy, Gandouet, Meunier 2007). Sketches are merged by the maximum of each register.
"""

from __future__ import annotations

import math

import numpy as np

from kwalk.search.native.intrinsics import ONE, lowest_bit, peek8, poke8
from kwalk.search.native.loops import Word, part
from kwalk.search.visited.keys import hash_of

REGISTER_BITS = 14
REGISTERS = 1 << REGISTER_BITS
STANDARD_ERROR = 1.04 / math.sqrt(REGISTERS)
"""The relative standard error of an estimate: 0.8 %."""
MAX_REGISTER = 64 - REGISTER_BITS + 1
"""The largest value of a register."""


@part
def add_to_sketch(sketch: int, state: int, words: int) -> None:
    """Add the packed state at an address, of `words` words, to the sketch at an address."""
    add_hash_to_sketch(sketch, hash_of(state, words))


@part
def add_hash_to_sketch(sketch: int, word: Word) -> None:
    """Add a state to the sketch at an address, by the hash of the state."""
    register = sketch + np.int64(word >> np.uint64(64 - REGISTER_BITS))
    zeros = np.uint64(lowest_bit(word | (ONE << np.uint64(63 - REGISTER_BITS))) + 1)
    if zeros > peek8(register, 0):
        poke8(register, 0, zeros)


def merged(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return the sketch of all states that are in either sketch; an array of length 0 is an empty sketch."""
    if not len(one) or not len(other):
        return one if len(one) else other
    joined: np.ndarray = np.maximum(one, other)
    return joined


def distinct(sketch: np.ndarray) -> float:
    """Estimate the number of distinct states by Ertl's improved raw estimator (arXiv:1702.01284), for any number."""
    counts = np.bincount(sketch, minlength=MAX_REGISTER + 1).astype(float)
    z = REGISTERS * _tau(1.0 - counts[MAX_REGISTER] / REGISTERS)
    for content in range(MAX_REGISTER - 1, 0, -1):
        z = 0.5 * (z + counts[content])
    z += REGISTERS * _sigma(counts[0] / REGISTERS)
    return REGISTERS**2 / (2.0 * math.log(2.0)) / z if math.isfinite(z) else 0.0


def _sigma(x: float) -> float:
    """Return the correction for registers that are empty, a fraction x of all."""
    if x == 1.0:
        return math.inf
    y, z = 1.0, x
    while True:
        x *= x
        before = z
        z += x * y
        y += y
        if z == before:
            return z


def _tau(x: float) -> float:
    """Return the correction for registers that are full, a fraction 1 - x of all."""
    if x in (0.0, 1.0):
        return 0.0
    y, z = 1.0, 1.0 - x
    while True:
        x = math.sqrt(x)
        before = z
        y *= 0.5
        z -= (1.0 - x) ** 2 * y
        if z == before:
            return z / 3.0
