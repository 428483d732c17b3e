"""Calls of the functions of a kernel from Python, one state at a time, and ways through states that they found."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np

from kwalk.search.kernel.interface import Kernel

_POINTER, _NUMBER = ctypes.c_void_p, ctypes.c_int64
SIGNATURES: dict[str, Any] = {
    "guards": ctypes.CFUNCTYPE(None, _POINTER, _POINTER),
    "apply": ctypes.CFUNCTYPE(_NUMBER, _NUMBER, _POINTER, _POINTER),
    "advance": ctypes.CFUNCTYPE(_NUMBER, _NUMBER, _POINTER, _POINTER, _POINTER),
    "expand": ctypes.CFUNCTYPE(_NUMBER, _POINTER, _POINTER, _POINTER, _POINTER, _POINTER),
    "check": ctypes.CFUNCTYPE(None, _POINTER, _NUMBER, _POINTER, _POINTER),
    "check_step": ctypes.CFUNCTYPE(None, _POINTER, _POINTER, _POINTER, _POINTER),
    "check_awaited": ctypes.CFUNCTYPE(None, _POINTER, _POINTER, _POINTER),
}
"""The C types of the functions of a kernel (see `interface`). A pointer is an address, or the bytes of a packed row."""

State = TypeVar("State")


def function_of(kernel: Kernel, name: str) -> Any:
    """Return a function of a kernel that Python can call."""
    return SIGNATURES[name](getattr(kernel, name))


class KernelCalls:
    """The functions of a kernel on arrays: packed states, uint64[words], are contiguous."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.functions = {name: function_of(kernel, name) for name in SIGNATURES}

    def guards(self, state: np.ndarray) -> np.ndarray:
        """Return the bit row, uint64[instance_words], of the instances whose guard is true in a state."""
        row = np.zeros(self.kernel.instance_words, np.uint64)
        self.functions["guards"](state.ctypes.data, row.ctypes.data)
        return row

    def apply(self, instance: int, state: np.ndarray, after: np.ndarray) -> int:
        """Return the code of an instance in a state; `after` is written if it is 0."""
        return int(self.functions["apply"](instance, state.ctypes.data, after.ctypes.data))

    def advance(self, instance: int, state: np.ndarray, after: np.ndarray, row: np.ndarray) -> int:
        """Do as `apply`, and update the row of guards of the state to that of the state after it."""
        return int(self.functions["advance"](instance, state.ctypes.data, after.ctypes.data, row.ctypes.data))

    def check(self, state: np.ndarray, *, quiescent: bool) -> np.ndarray:
        """Return the false row and the premise row of the properties of states, uint64[2, property_words]."""
        rows = np.zeros((2, self.kernel.property_words), np.uint64)
        self.functions["check"](state.ctypes.data, int(quiescent), rows[0].ctypes.data, rows[1].ctypes.data)
        return rows

    def check_step(self, before: np.ndarray, after: np.ndarray) -> np.ndarray:
        """Return the same rows of the `step` properties on the step from one state to another."""
        rows = np.zeros((2, self.kernel.property_words), np.uint64)
        states = before.ctypes.data, after.ctypes.data
        self.functions["check_step"](*states, rows[0].ctypes.data, rows[1].ctypes.data)
        return rows

    def check_awaited(self, state: np.ndarray) -> np.ndarray:
        """Return the row of the liveness properties of which what is awaited is false, and that of their premises."""
        rows = np.zeros((2, self.kernel.property_words), np.uint64)
        self.functions["check_awaited"](state.ctypes.data, rows[0].ctypes.data, rows[1].ctypes.data)
        return rows


def way_to(state: State, origins: Mapping[State, tuple[State, int] | None]) -> tuple[State, tuple[int, ...]]:
    """Return where a search began that has found a state, and the steps from there.

    Args:
        state: The state.
        origins: For each state that the search has found the state before it and the step; None where it began.
    """
    steps: list[int] = []
    while (origin := origins[state]) is not None:
        state, step = origin
        steps.append(step)
    return state, tuple(reversed(steps))
