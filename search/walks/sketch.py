"""How many distinct states a sketch has seen.

Words: a *sketch* is the registers of a HyperLogLog (Flajolet, Fusy, Gandouet, Meunier 2007), filled by
`search.loops.sketching`. Sketches are merged by the greater of each two registers.
"""
from __future__ import annotations

import math

import numpy as np

from search.loops.sketching import REGISTER_BITS, REGISTERS

STANDARD_ERROR = 1.04 / math.sqrt(REGISTERS)
"""The relative standard error of an estimate: 0.8 %."""
MOST = 64 - REGISTER_BITS + 1
"""The greatest content of a register."""


def merged(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The sketch of what either has seen; an empty one has seen nothing."""
    if not len(one) or not len(other):
        return one if len(one) else other
    return np.maximum(one, other)


def distinct(sketch: np.ndarray) -> float:
    """The estimate of distinct states: Ertl's improved raw estimator (arXiv:1702.01284), good at any number."""
    counts = np.bincount(sketch, minlength=MOST + 1).astype(float)
    z = REGISTERS * _tau(1.0 - counts[MOST] / REGISTERS)
    for content in range(MOST - 1, 0, -1):
        z = 0.5 * (z + counts[content])
    z += REGISTERS * _sigma(counts[0] / REGISTERS)
    return REGISTERS**2 / (2.0 * math.log(2.0)) / z if math.isfinite(z) else 0.0


def _sigma(x: float) -> float:
    """The correction for registers that are still empty."""
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
    """The correction for registers that are full."""
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
