"""Calls of a sliced kernel from Python, which compare it with the other executions of a model."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from kwalk.model.language import Model, Vector
from kwalk.model.language.lift import LiftedAction, LiftedProperty
from kwalk.search.kernel.differential import EngineResult, KernelExecution, disagreements
from kwalk.search.kernel.interface import CHANGED, FAILED, FIRST_BOUND, TAKEN, Kernel
from kwalk.search.kernel.python_comparison import compiled_truth, has_bit

WORD = 64


class SlicedStates:
    """Packed states in the lanes of blocks, and what a sliced kernel says about them.

    Args:
        kernel: A kernel with bit-sliced functions.
        packed: uint64[n, words].
    """

    def __init__(self, kernel: Kernel, packed: np.ndarray) -> None:
        assert kernel.sliced is not None
        self.kernel, self.sliced, self.packed = kernel, kernel.sliced, packed
        lanes, count = self.sliced.lanes, len(packed)
        self.blocks = max(1, -(-count // lanes))
        filled = np.zeros((self.blocks * lanes, kernel.words), np.uint64)
        filled[:count] = packed
        columns = np.ascontiguousarray(filled.reshape(self.blocks, lanes, kernel.words).transpose(0, 2, 1))
        self.planes = self._transposed(columns).reshape(self.blocks, kernel.words * WORD, -1)

    @property
    def _plane_words(self) -> int:
        return self.sliced.lanes // WORD

    def _transposed(self, array: np.ndarray) -> np.ndarray:
        """Return columns as planes, or planes as columns."""
        result = np.zeros(array.size, np.uint64)
        size = ctypes.c_int64(array.size // self.sliced.lanes)
        _call(self.sliced.transpose, np.ascontiguousarray(array), result, size)
        return result

    def _zeros(self, planes: int) -> np.ndarray:
        return np.zeros((planes, self._plane_words), np.uint64)

    def _rows(self, planes: np.ndarray) -> np.ndarray:
        """Return uint64[n, words of a row] of planes, uint64[blocks, planes, plane words]."""
        words = max(1, -(-planes.shape[1] // WORD))
        filled = np.zeros((self.blocks, words * WORD, self._plane_words), np.uint64)
        filled[:, : planes.shape[1]] = planes
        columns = self._transposed(filled).reshape(self.blocks, words, self.sliced.lanes)
        return columns.transpose(0, 2, 1).reshape(-1, words)[: len(self.packed)]

    @cached_property
    def _guards(self) -> np.ndarray:
        found = np.array([self._zeros(self.kernel.instances + 1) for _ in range(self.blocks)])
        for planes, out in zip(self.planes, found, strict=True):
            _call(self.sliced.guards, planes, out)
        return found

    @cached_property
    def guards(self) -> np.ndarray:
        """The bit row of the enabled instances of each state."""
        return self._rows(self._guards[:, :-1])

    @cached_property
    def quiescent(self) -> np.ndarray:
        """Whether each state is quiescent."""
        return self._rows(self._guards[:, -1:])[:, 0].astype(bool)

    def check(self, quiescent: bool | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return the false rows and the premise rows; None: `when_quiescent` properties count where states are so."""
        words = WORD * self.kernel.property_words
        found = np.array([self._zeros(2 * words) for _ in range(self.blocks)])
        for planes, guards, out in zip(self.planes, self._guards, found, strict=True):
            given = np.full(self._plane_words, 2**64 - 1 if quiescent else 0, np.uint64)
            _call(self.sliced.check, planes, guards[-1] if quiescent is None else given, out)
        return self._rows(found[:, :words]), self._rows(found[:, words:])

    def check_step(self, before: SlicedStates) -> tuple[np.ndarray, np.ndarray]:
        """Return the false rows and the premise rows of steps from the states of `before` to these."""
        words = WORD * self.kernel.property_words
        found = np.array([self._zeros(2 * words) for _ in range(self.blocks)])
        for earlier, planes, out in zip(before.planes, self.planes, found, strict=True):
            saved = np.zeros_like(planes)
            _call(self.sliced.save, earlier, saved)
            _call(self.sliced.check_step, saved, planes, out)
        return self._rows(found[:, :words]), self._rows(found[:, words:])

    def apply(self, instance: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Take a step where the instance is enabled.

        Returns:
            int64[n]: what `apply` of a kernel returns (errors: -1), or 0 where the instance is disabled; bool[n]:
            whether the state was changed; uint64[n, words]: the states.
        """
        results, states = [], []
        for planes, guards in zip(self.planes, self._guards, strict=True):
            after, out = planes.copy(), self._zeros(FIRST_BOUND + len(self.kernel.bounds))
            _call(self.sliced.apply, ctypes.c_int64(instance), after, np.ascontiguousarray(guards[instance]), out)
            results.append(out)
            states.append(self._transposed(after).reshape(self.kernel.words, -1).T)
        rows = self._rows(np.array(results))[:, 0]
        bits = [(rows >> np.uint64(place) & np.uint64(1)).astype(np.int64) for place in range(len(results[0]))]
        codes = -bits[FAILED]
        for number, hit in enumerate(bits[FIRST_BOUND:]):
            codes += (number + 1) * hit
        enabled = (self.guards[:, instance // WORD] >> np.uint64(instance % WORD) & np.uint64(1)).astype(np.int64)
        assert (bits[TAKEN] == enabled * (codes == 0)).all(), "lanes where a step was taken, failed or met a bound"
        return codes, bits[CHANGED].astype(bool), np.concatenate(states)[: len(self.packed)]


def _call(address: int, *arguments: np.ndarray | ctypes.c_int64) -> None:
    """Call a function with addresses of arrays and numbers."""
    kinds = [type(one) if isinstance(one, ctypes.c_int64) else ctypes.c_void_p for one in arguments]
    values = [one if isinstance(one, ctypes.c_int64) else one.ctypes.data for one in arguments]
    assert all(one.flags.c_contiguous for one in arguments if isinstance(one, np.ndarray))
    ctypes.CFUNCTYPE(None, *kinds)(address)(*values)


class SlicedExecution:
    """Bit-sliced machine code, on all states at once.

    Bits of liveness properties are those of `check`: whether they raise an error; nothing more is bit-sliced.
    """

    name = "sliced kernel"

    def __init__(self, kernel: Kernel, states: Sequence[Vector]) -> None:
        self.kernel, self._unsliced = kernel, KernelExecution(kernel)
        self._packed = kernel.pack(np.array(states, np.int64).reshape(len(states), -1))
        self._states = SlicedStates(kernel, self._packed)
        self._lanes = {state: number for number, state in enumerate(states)}
        first = SlicedStates(kernel, np.repeat(self._packed[:1], len(states), axis=0))
        self._checks = self._states.check(quiescent=True)
        self._step_checks = self._states.check_step(first)
        self._steps: dict[int, tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]] = {}

    def action(self, action: LiftedAction, state: Vector) -> EngineResult:
        index, lane = action.instance.index, self._lanes[state]
        if index not in self._steps:
            codes, changed, after = self._states.apply(index)
            self._steps[index] = codes, changed, after, self.kernel.unpack(after)
        codes, changed, after, vectors = self._steps[index]
        is_changed = (after[lane] != self._packed[lane]).any()
        if changed[lane] != is_changed:
            return "whether the state has changed is wrong"
        if not has_bit(self._states.guards[lane], index) or codes[lane]:
            if is_changed:
                return "a state was changed where no step was taken"
            return self._stopped(int(codes[lane]))
        return tuple(int(n) for n in vectors[lane])

    def _stopped(self, code: int) -> EngineResult:
        if code == 0:
            return "disabled"
        return f"bound {self.kernel.bounds[code - 1]}" if code > 0 else "error"

    def prop(self, prop: LiftedProperty, state: Vector, before: Vector | None) -> EngineResult:
        index, lane = prop.prop.index, self._lanes[state]
        false, premise = self._checks if before is None else self._step_checks
        result = compiled_truth(prop.prop, has_bit(false[lane], index), has_bit(premise[lane], index))
        if prop.prop.kind.is_liveness and result is None:
            other = self._unsliced.prop(prop, state, before)
            return "no error" if other == "error" else other
        return result


def sliced_disagreements(model: Model, states: Sequence[Vector], *, kernel: Kernel | None, **options: Any):
    """Yield the disagreements, also of the bit-sliced functions of a kernel that has them; see `disagreements`."""
    others = [] if kernel is None or kernel.sliced is None else [SlicedExecution(kernel, states)]
    yield from disagreements(model, states, kernel=kernel, others=others, **options)
