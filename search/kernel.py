"""The seam between compiled models and search loops: what a kernel offers, whoever made it.

Words: a *packed* state is a row of 64-bit words. An *instance* is an action with its parameters chosen; a *claim* an
invariant with its parameters chosen (both numbered as in the Model). A bit row for n things has ceil(n / 64) words,
thing i being bit i % 64 of word i // 64.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from attrs import field, frozen

PATIENCE = 6.0
"""Seconds after which a search that goes on makes its kernel faster: about as long as that takes."""


@frozen(eq=False)
class Kernel:
    """Addresses of machine code for one model, and what a search must know to call it.

    All addresses are C functions; `u64*` point to packed states or bit rows:

    * `guards(state, row)`: writes the row of instances whose guard holds.
    * `apply(instance: i64, before, after) -> i64`: 0 when `after` was written; k > 0 when bound k - 1 was reached and
      the step is disabled; k < 0 when an effect would leave its domain (error -k - 1).
    * `advance(instance: i64, before, after, row) -> i64`: as `apply`; when `after` was written, brings the row of
      guards, given for the state before, up to date for the state after. It looks only at guards whose inputs the
      instance can change.
    * `expand(state, row, successors, instances: u16*, hits: i64*) -> i64`: writes the row of guards, then every
      successor (`words` words each) with its instance, in instance order, adds 1 to `hits[bound]` for each step that
      a bound disables, and returns how many successors there are, or k < 0 as `apply`.
    * `check(state, quiet: i64, false_row, premise_row)`: writes the row of state claims that are false here, and the
      row of those whose premise holds. `when quiet` claims count only if `quiet` is not 0 (else false and premise 0).
      For `reachable` claims the false row says "witnessed here"; for `eventually` claims it says "what is awaited is
      not there", also where the premise does not hold, which the premise row says. Bits of `step` claims are 0.
    * `check_step(before, after, false_row, premise_row)`: the same for `step` claims only.
    """

    words: int
    instances: int
    claims: int
    bounds: tuple[str, ...]
    errors: tuple[str, ...]
    guards: int
    apply: int
    advance: int
    expand: int
    check: int
    check_step: int
    system_row: np.ndarray
    """Bit row of the instances whose actor is a system one: a state is quiet when none of them is enabled."""
    reachable_row: np.ndarray
    """Bit row of the claims of kind `reachable`."""
    step_row: np.ndarray
    """Bit row of the claims of kind `step`."""
    offsets: np.ndarray
    """Per leaf: bit offset in the packed state (no leaf straddles two words)."""
    widths: np.ndarray
    """Per leaf: its width in bits, 0 to 63; a leaf of width 0 has one possible value, `lows`."""
    lows: np.ndarray
    """Per leaf: its least number; a packed field holds number - low."""
    keep_alive: object = field(default=None, repr=False)
    faster: Callable[[], Kernel] | None = field(default=None, repr=False)
    """Makes a faster kernel of the same model, which takes seconds; None if this one is as fast as it gets."""

    @property
    def bits(self) -> int:
        """Bits of a packed state up to its last one."""
        return max((int(offset + width) for offset, width in zip(self.offsets, self.widths, strict=True)), default=0)

    @property
    def instance_words(self) -> int:
        """Words in a bit row of instances."""
        return -(-self.instances // 64)

    @property
    def claim_words(self) -> int:
        """Words in a bit row of claims; at least 1."""
        return max(1, -(-self.claims // 64))

    def pack(self, vectors: np.ndarray) -> np.ndarray:
        """Packed states, uint64[n, words], of vectors, int64[n, leaves]."""
        packed = np.zeros((len(vectors), self.words), np.uint64)
        for leaf, (offset, low) in enumerate(zip(self.offsets, self.lows, strict=True)):
            number = (vectors[:, leaf] - low).astype(np.uint64)
            packed[:, offset // 64] |= number << np.uint64(offset % 64)
        return packed

    def unpack(self, packed: np.ndarray) -> np.ndarray:
        """Vectors, int64[n, leaves], of packed states, uint64[n, words]."""
        vectors = np.empty((len(packed), len(self.offsets)), np.int64)
        for leaf, (offset, width, low) in enumerate(zip(self.offsets, self.widths, self.lows, strict=True)):
            mask = np.uint64((1 << int(width)) - 1)
            field_bits = (packed[:, offset // 64] >> np.uint64(offset % 64)) & mask
            vectors[:, leaf] = field_bits.astype(np.int64) + low
        return vectors

    def is_worth_replacing(self, spent: float, budget: float | None) -> bool:
        """Whether a search that has taken so many seconds, of a budget or without end, gains by a faster kernel."""
        left = None if budget is None else budget - spent
        return self.faster is not None and spent >= PATIENCE and (left is None or left >= PATIENCE)


def bit_row(numbers: Iterable[int], words: int) -> np.ndarray:
    """A bit row of `words` words with these bits set."""
    row = np.zeros(words, np.uint64)
    for number in numbers:
        row[number // 64] |= np.uint64(1 << (number % 64))
    return row


def bit_numbers(row: np.ndarray) -> list[int]:
    """The numbers of the set bits of a bit row."""
    return [number for number in range(64 * len(row)) if int(row[number // 64]) >> (number % 64) & 1]
