"""A kernel whose machine code is plain Python: slow, and right by definition. Engines are tested against it.

`lies` replace single answers, to see what engines do when a kernel is wrong.
"""
from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

from kwalk.model.language import DomainError, Kind, Model, StepResult, Vector
from kwalk.search.kernel.interface import Kernel

POINTER = ctypes.POINTER(ctypes.c_uint64)
SHORTS = ctypes.POINTER(ctypes.c_uint16)
NUMBERS = ctypes.POINTER(ctypes.c_int64)
INT = ctypes.c_int64
LIE = Callable[[str, Vector, Vector], Vector]


def plain_kernel(model: Model, *, word_bits: int = 63, lie: LIE | None = None) -> Kernel:
    """The kernel of a model, with at most `word_bits` bits in a word; `lie(action, before, after)` may change steps."""
    return _Plain(model, word_bits, lie).kernel()


class _Plain:
    def __init__(self, model: Model, word_bits: int, lie: LIE | None) -> None:
        self.model, self.lie = model, lie
        self.bounds = tuple(model.binding.bounds)
        self.lows = np.array([leaf.low for leaf in model.leaves], np.int64)
        self.widths = np.array([(leaf.high - leaf.low).bit_length() for leaf in model.leaves], np.int64)
        self.offsets = np.zeros(len(model.leaves), np.int64)
        word = used = 0
        for place, width in enumerate(self.widths):
            if used + width > word_bits:
                word, used = word + 1, 0
            self.offsets[place] = 64 * word + used
            used += width
        self.words = word + 1
        self.vectors: dict[tuple[int, ...], Vector] = {}
        self.known: dict[tuple[Vector, int], tuple[int, Vector | None]] = {}

    def kernel(self) -> Kernel:
        model = self.model
        kinds = {
            "guards": (None, (POINTER, POINTER), self.guards),
            "apply": (INT, (INT, POINTER, POINTER), self.apply),
            "advance": (INT, (INT, POINTER, POINTER, POINTER), self.advance),
            "expand": (INT, (POINTER, POINTER, POINTER, SHORTS, NUMBERS), self.expand),
            "check": (None, (POINTER, INT, POINTER, POINTER), self.check),
            "check_step": (None, (POINTER, POINTER, POINTER, POINTER), self.check_step),
        }
        functions = {name: ctypes.CFUNCTYPE(result, *takes)(f) for name, (result, takes, f) in kinds.items()}
        addresses: dict[str, Any] = {n: ctypes.cast(f, ctypes.c_void_p).value for n, f in functions.items()}
        property_words = max(1, -(-len(model.properties) // 64))
        self.view = Kernel(
            words=self.words, instances=len(model.instances), properties=len(model.properties), bounds=self.bounds,
            errors=("out of domain",), **addresses, offsets=self.offsets, widths=self.widths, lows=self.lows,
            system_row=_row((i.index for i in model.instances if i.action.by.system), -(-len(model.instances) // 64)),
            reachable_row=_row((c.index for c in model.properties if c.kind is Kind.REACHABLE), property_words),
            step_row=_row((c.index for c in model.properties if c.kind is Kind.STEP), property_words),
            keep_alive=functions,
        )  # fmt: skip
        return self.view

    def vector(self, state: Any) -> Vector:
        packed = tuple(state[word] for word in range(self.words))
        if packed not in self.vectors:
            self.vectors[packed] = tuple(self.view.unpack(np.array([packed], np.uint64))[0].tolist())
        return self.vectors[packed]

    def outcome(self, vector: Vector, instance: int) -> tuple[int | None, Vector | None]:
        """What `apply` would return, None if the guard is false, and the state after."""
        if (vector, instance) not in self.known:
            self.known[vector, instance] = self._outcome(vector, instance)
        return self.known[vector, instance]

    def _outcome(self, vector: Vector, instance: int) -> Any:
        try:
            outcome = self.model.attempt(self.model.instances[instance], vector)
        except DomainError:
            return -1, None
        if outcome.result is StepResult.DISABLED:
            return None, None
        if outcome.after is None:
            return self.bounds.index(outcome.bound) + 1, None
        key = self.model.instances[instance].key
        return 0, outcome.after if self.lie is None else self.lie(key, vector, outcome.after)

    def guards(self, state: Any, row: Any) -> None:
        vector = self.vector(state)
        enabled = (i for i in range(self.view.instances) if self.outcome(vector, i)[0] is not None)
        _write(row, _row(enabled, self.view.instance_words))

    def advance(self, instance: int, before: Any, after: Any, row: Any) -> int:
        """`apply`, and then the row of guards."""
        code = self.apply(instance, before, after)
        if code == 0:
            self.guards(after, row)
        return code

    def apply(self, instance: int, before: Any, after: Any) -> int:
        code, vector = self.outcome(self.vector(before), instance)
        if vector is not None:
            _write(after, self.view.pack(np.array([vector]))[0])
        return code

    def expand(self, state: Any, row: Any, successors: Any, instances: Any, hits: Any) -> int:
        self.guards(state, row)
        vector, made = self.vector(state), 0
        for instance in range(self.view.instances):
            code, after = self.outcome(vector, instance)
            if code is not None and code < 0:
                return code
            if code:
                hits[code - 1] += 1
            if after is not None:
                for word, content in enumerate(self.view.pack(np.array([after]))[0]):
                    successors[made * self.words + word] = int(content)
                instances[made] = instance
                made += 1
        return made

    def check(self, state: Any, quiescent: int, false: Any, premise: Any) -> None:
        vector = self.vector(state)
        kinds = (Kind.ALWAYS, Kind.REACHABLE, *((Kind.WHEN_QUIESCENT,) if quiescent else ()))
        waits = {c: self.model.awaited(c, vector) for c in self.model.properties if c.kind is Kind.EVENTUALLY}
        truths = {c: self.model.truth(c, vector) for c in self.model.properties if c.kind in kinds}
        self._judge(truths, false, premise, waits)

    def check_step(self, before: Any, after: Any, false: Any, premise: Any) -> None:
        then, now = self.vector(before), self.vector(after)
        steps = [prop for prop in self.model.properties if prop.kind is Kind.STEP]
        self._judge({c: self.model.truth(c, now, then) for c in steps}, false, premise)

    def _judge(self, truths: dict[Any, bool | None], false: Any, premise: Any, waits: Any = None) -> None:
        words, waits = self.view.property_words, waits or {}
        bad = [c.index for c, truth in truths.items() if truth is (c.kind is Kind.REACHABLE)]
        speaking = [c.index for c, truth in truths.items() if truth is not None]
        _write(false, _row(bad + [c.index for c, (_, there) in waits.items() if not there], words))
        _write(premise, _row(speaking + [c.index for c, (asked, _) in waits.items() if asked], words))


def _row(numbers: Any, words: int) -> np.ndarray:
    row = np.zeros(max(1, words), np.uint64)
    for number in numbers:
        row[number // 64] |= np.uint64(1 << (number % 64))
    return row


def _write(target: Any, row: np.ndarray) -> None:
    for word, content in enumerate(row):
        target[word] = int(content)
