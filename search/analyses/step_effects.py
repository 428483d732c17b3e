"""What instances do to the bits of a state that they read or write, each computed once.

Words: an instance *touches* the leaves that its guard, its bounds and errors read, and those that its updates read or
write. Which bits it flips depends on these leaves only, so that one call of the kernel serves all states that agree in
them. Explorations of a system that does most of its steps in many orders then call the kernel for few of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kwalk.search.kernel.interface import Kernel, bit_numbers
from kwalk.search.native.intrinsics import call, peek, poke
from kwalk.search.native.loops import Int64Array, part
from kwalk.search.native.memory import reserve
from kwalk.search.visited.hash_table import ABSENT, find_from, find_or_add_from, first_slot
from kwalk.search.visited.key_store import KeyStore
from kwalk.search.visited.keys import KeySpace, hash_of

MEMORY = 1 << 30
"""The bytes for the effects of one model."""


class EffectsLayout(NamedTuple):
    """The kernel's function, and the arrays of `StepEffects`, by address."""

    words: int
    apply: int
    touched: int
    space: KeySpace
    """A key is the touched bits of a state, and the number of the instance."""
    flips: int
    """uint64[effects, words]: the bits that change."""
    key: int
    place: int
    """Where the cursor of the loop has the number of effects."""


@part
def step_once(effects: EffectsLayout, cursor: Int64Array, instance: int, before: int, after: int) -> int:
    """Do as `apply` of the kernel; `effects` must have room for one more."""
    words = effects.words
    for place in range(words):
        poke(effects.key, place, peek(before, place) & peek(effects.touched, instance * words + place))
    poke(effects.key, words, np.uint64(instance))
    hashed = hash_of(effects.key, words + 1)
    start = hashed, first_slot(effects.space, hashed)
    index, _ = find_from(effects.space, effects.key, start)
    if index != ABSENT:
        for place in range(words):
            poke(after, place, peek(before, place) ^ peek(effects.flips, index * words + place))
        return 0
    result = call(effects.apply, (instance, before, after))
    if result == 0:
        count = cursor[effects.place]
        find_or_add_from(effects.space, effects.key, start, count)
        for place in range(words):
            poke(effects.flips, count * words + place, peek(before, place) ^ peek(after, place))
        cursor[effects.place] = count + 1
    return result


class StepEffects:
    """The effects of the instances of one kernel that were computed so far.

    Args:
        kernel: the kernel.
    """

    def __init__(self, kernel: Kernel) -> None:
        self.kernel, self.count = kernel, 0
        self.touched = _touched_bits(kernel)
        self._begin()

    def _begin(self) -> None:
        words = self.kernel.words
        self.store = KeyStore(words + 1, MEMORY // 2, widest_step=self.kernel.instances)
        self.flips = reserve(self.store.most * words, np.uint64)
        self.key = np.zeros(words + 1, np.uint64)

    def make_room(self) -> None:
        """Have room for the effects of all instances; if there is no memory for more, forget the known ones."""
        while not self.store.has_room(self.kernel.instances):
            if not self.store.grow(self.count):
                self._begin()
                self.count = 0

    def layout(self, place: int) -> EffectsLayout:
        """Return what a loop needs, valid until `make_room`; `place` is where its cursor has their number."""
        return EffectsLayout(
            words=self.kernel.words,
            apply=self.kernel.apply,
            touched=self.touched.ctypes.data,
            space=self.store.space,
            flips=self.flips.ctypes.data,
            key=self.key.ctypes.data,
            place=place,
        )


def _touched_bits(kernel: Kernel) -> np.ndarray:
    """Return the bits of a state that each instance touches, uint64[instances, words]; all if that is unknown."""
    rows = np.zeros((kernel.instances, kernel.words), np.uint64)
    if not kernel.touched:
        rows[:] = np.iinfo(np.uint64).max
    fields = (np.uint64(1) << kernel.widths.astype(np.uint64)) - np.uint64(1)
    fields <<= (kernel.offsets % 64).astype(np.uint64)
    for row, mask in zip(rows, kernel.touched, strict=False):
        leaves = bit_numbers(np.frombuffer(bytes.fromhex(mask.zfill(16 * (-(-len(mask) // 16))))[::-1], np.uint64))
        np.bitwise_or.at(row, kernel.offsets[leaves] // 64, fields[leaves])
    return rows
