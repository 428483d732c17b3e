"""The interface between compiled models and searches.

Words: a *packed* state is a row of 64-bit words. Action instances and property instances are numbered as in the Model.
A *bit row* for n things has ceil(n / 64) words; thing i is bit i % 64 of word i // 64.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
from attrs import field, frozen

SLICE_FUNCTIONS = ("guards", "check", "save", "check_step", "apply", "transpose", "count")
"""The functions of a sliced kernel, in the order of `SliceView`."""
TAKEN, FAILED, CHANGED, FIRST_BOUND = range(4)
"""The planes that `apply` of a sliced kernel writes; those of the bounds come last."""


class SliceView(NamedTuple):
    """A sliced kernel as loops see it: sizes, and addresses of functions and tables; see `SlicedKernel`."""

    lanes: int
    plane: int
    """The bytes of a plane."""
    guards: int
    check: int
    save: int
    check_step: int
    apply: int
    transpose: int
    count_bits: int
    """`count` of the kernel."""
    loads: int
    stores: int
    code: int


class LaneFunctions(NamedTuple):
    """The addresses of the functions for walks that stay in their lanes (see `lane_functions`)."""

    draw: int
    candidates: int
    prefer: int
    choose: int
    step: int
    note: int
    hash_rows: int
    hash_states: int
    total: int
    blend: int
    keep: int
    count_down: int
    is_zero: int


@frozen(eq=False)
class SlicedKernel:
    """Addresses of the bit-sliced machine code of one model, which evaluates it in `lanes` states at once.

    See `kwalk.search.kernel.compile.planes` and `transpose` for its functions and for *lanes*, *planes* and *columns*.

    Args:
        lanes: The lanes of a plane, a multiple of 64.
        loads: int64[instances, words + 1]: for each instance the number of words of a state that its step and the step
            properties need, then their numbers.
        stores: int64[instances, words + 1]: the same for the words that its step can change.
        code: int64[instances, 2]: the address of the code of its step, and about how many bytes that has.
        lane_functions: The functions for walks that stay in their lanes; None if the model has too many instances.
        is_resident: Whether walks stay in their lanes: the steps of all instances take less time than queues of walks.
        least_states: How many states of a level a search expands with these functions, at least: fewer would leave most
            lanes empty.
        terms: The digest of the terms that it was compiled from; "" if they are not those of a model as it is.
        keep_alive: Owns the machine code.
    """

    lanes: int
    guards: int
    check: int
    save: int
    check_step: int
    apply: int
    transpose: int
    count: int
    loads: np.ndarray
    stores: np.ndarray
    code: np.ndarray
    lane_functions: LaneFunctions | None
    is_resident: bool = False
    least_states: int = 512
    keep_alive: object = field(default=None, repr=False)

    @property
    def view(self) -> SliceView:
        """The kernel as loops see it; valid as long as it lives."""
        functions = (getattr(self, name) for name in SLICE_FUNCTIONS)
        tables = (array.ctypes.data for array in (self.loads, self.stores, self.code))
        return SliceView(self.lanes, self.lanes // 8, *functions, *tables)


@frozen(eq=False)
class Kernel:
    """Addresses of the machine code of one model, and what a search must know to call it.

    All addresses are C functions. `u64*` arguments point to packed states or bit rows.

    * `guards(state, row)` writes the row of the instances whose guard is true.
    * `apply(instance: i64, before, after) -> i64` returns 0 when `after` was written; k > 0 when bound k - 1 is reached
      and the instance is disabled; k < 0 when an effect would leave its domain (error -k - 1).
    * `advance(instance: i64, before, after, row) -> i64` is `apply` which, when `after` was written, also updates `row`
      from the guards of the state before to those of the state after. It evaluates only guards whose inputs the
      instance can change.
    * `expand(state, row, successors, instances: u32*, hits: i64*) -> i64` writes the row of guards, and every successor
      (`words` words each) with its instance, in the order of the instances. It adds 1 to `hits[bound]` for each
      instance that a bound disables, and returns the number of successors, or k < 0 as `apply`.
    * `check(state, quiescent: i64, false_row, premise_row)` writes the row of the state properties that are false, and
      the row of those whose premise is true. `when_quiescent` properties count only if `quiescent` is not 0 (otherwise
      both bits are 0). For `reachable` properties the false row means "satisfied here". A property that raises an error
      is false and has no true premise; no other property is so. Of liveness properties only errors count. Bits of
      `step` properties are 0.
    * `check_step(before, after, false_row, premise_row)` does the same for `step` properties only.
    * `check_awaited(state, false_row, premise_row)` writes, for liveness properties only, the row of those of which
      what is awaited is false here, and the row of those whose premise is true. The two are independent of each other.
      The bits of a property that raises an error here mean nothing.

    Args:
        words: Words of a packed state.
        instances: The number of action instances.
        properties: The number of property instances.
        bounds: The names of the bounds by their numbers.
        errors: The texts of the domain errors by their numbers.
        system_row: Bit row of the instances of system actors; a state is quiescent if none of them is enabled.
        reachable_row: Bit row of the properties of kind `reachable`.
        step_row: Bit row of the properties of kind `step`.
        offsets: int64[leaves], the bit offset of each leaf in the packed state; no leaf straddles two words.
        widths: int64[leaves], the width of each leaf in bits, 0 to 63; a leaf of width 0 always has the value `lows`.
        lows: int64[leaves], the least value of each leaf; a packed field holds the value minus this.
        touched: For each instance a bit mask, in hexadecimal digits, of the leaves that `apply` reads or writes; empty
            if they are not known.
        terms: The digest of the terms that it was compiled from; "" if they are not those of a model as it is.
        keep_alive: Owns the machine code.
        pending: Exceptions that functions written in Python could not raise through compiled loops.
        faster: Compiles a faster kernel of the same model; None if there is none.
        replaced_after: Seconds after which a search that takes as long again gains by a faster kernel.
        can_be_sliced: Whether it is the machine code of its model as it is (not of a mutant), in the usual layout:
            bit-sliced functions that are compiled from the model can then be used with it.
        sliced: The bit-sliced functions of the same model, for the same layout; None if they were not compiled.
    """

    words: int
    instances: int
    properties: int
    bounds: tuple[str, ...]
    errors: tuple[str, ...]
    guards: int
    apply: int
    advance: int
    expand: int
    check: int
    check_step: int
    check_awaited: int
    system_row: np.ndarray
    reachable_row: np.ndarray
    step_row: np.ndarray
    offsets: np.ndarray
    widths: np.ndarray
    lows: np.ndarray
    touched: tuple[str, ...] = field(default=(), repr=False)
    terms: str = ""
    keep_alive: object = field(default=None, repr=False)
    pending: list[BaseException] = field(factory=list, repr=False)
    faster: Callable[[], Kernel] | None = field(default=None, repr=False)
    replaced_after: float = 0.0
    can_be_sliced: bool = False
    sliced: SlicedKernel | None = field(default=None, repr=False)

    @property
    def bits(self) -> int:
        """Return the number of bits of a packed state."""
        return max((int(offset + width) for offset, width in zip(self.offsets, self.widths, strict=True)), default=0)

    @property
    def instance_words(self) -> int:
        """Return the words of a bit row of instances."""
        return -(-self.instances // 64)

    @property
    def property_words(self) -> int:
        """Return the words of a bit row of properties, at least 1."""
        return max(1, -(-self.properties // 64))

    @property
    def sizes(self) -> dict[str, int]:
        """The sizes of structures (see `kwalk.search.native.structures`); `plane` is the words of a plane."""
        sizes = {"words": self.words, "row_words": self.instance_words, "property_words": self.property_words}
        sizes |= {"instances": self.instances, "properties": self.properties, "bounds": len(self.bounds)}
        lanes = 0 if self.sliced is None else self.sliced.lanes
        return sizes | {"lanes": lanes, "plane": lanes // 64}

    def pack(self, vectors: np.ndarray) -> np.ndarray:
        """Return the packed states, uint64[n, words], of vectors, int64[n, leaves]."""
        packed = np.zeros((len(vectors), self.words), np.uint64)
        numbers = (vectors - self.lows).astype(np.uint64) << (self.offsets % 64).astype(np.uint64)
        np.bitwise_or.at(packed.T, self.offsets // 64, numbers.T)
        return packed

    def unpack(self, packed: np.ndarray) -> np.ndarray:
        """Return the vectors, int64[n, leaves], of packed states, uint64[n, words]."""
        words, shifts = self.offsets // 64, (self.offsets % 64).astype(np.uint64)
        masks = (np.uint64(1) << self.widths.astype(np.uint64)) - np.uint64(1)
        values: np.ndarray = (packed[:, words] >> shifts & masks).astype(np.int64) + self.lows
        return values

    def raise_pending(self) -> None:
        """Raise the exception that a function could not raise, once; Ctrl-C is one."""
        if self.pending:
            error = self.pending[0]
            self.pending.clear()
            raise error

    def is_worth_replacing(self, spent: float, budget: float | None) -> bool:
        """Return whether a search gains by a faster kernel after `spent` seconds of a `budget` (None: no limit)."""
        least = self.replaced_after
        return self.faster is not None and spent >= least and (budget is None or budget - spent >= least)


def bit_row(numbers: Iterable[int], words: int) -> np.ndarray:
    """Return a bit row, uint64[words], with these bits set."""
    row = np.zeros(words, np.uint64)
    for number in numbers:
        row[number // 64] |= np.uint64(1 << (number % 64))
    return row


def bit_numbers(row: np.ndarray) -> list[int]:
    """Return the numbers of the set bits of a bit row."""
    return [number for number in range(64 * len(row)) if int(row[number // 64]) >> (number % 64) & 1]
