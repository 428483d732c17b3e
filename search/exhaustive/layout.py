"""The arrays of breadth-first loops, their addresses, and the cursor.

Words: a state is *expanded* when its properties are checked and its successors are inserted. The *frontier* is the
states that are stored and not yet expanded. States are numbered in the order of discovery, so the successors of a state
follow those of its predecessors. A *mark* is the number of states that were stored before a block of STRIDE states was
expanded; marks are all that is stored to find the parent of a state.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from kwalk.search.kernel.interface import Kernel, bit_row
from kwalk.search.native.bit_sliced_counters import PLANES, totals
from kwalk.search.native.loops import BLOCK_ARGUMENTS
from kwalk.search.native.memory import reserve
from kwalk.search.visited.key_store import STRIDE
from kwalk.search.visited.keys import KeySpace
from kwalk.search.visited.tree_compression import Tree, most_leaves_of

BLOCK = 4096
"""The states that bit-sliced functions expand at once, at most."""
BATCH = 32
ENTERED_WORDS = BLOCK_ARGUMENTS + 8
"""The words of a block for a loop of `SuccessorFunctions`: eight arguments at most."""


class Cursor(IntEnum):
    """The fields of a cursor, int64[len(Cursor)]."""

    NEXT = 0
    """The next state to expand."""
    STORED = 1
    """The number of stored states."""
    LEVEL_END = 2
    """The end of the present level."""
    DEPTH = 3
    """The depth of the present level."""
    GENERATED = 4
    """The number of generated successors."""
    QUIESCENT = 5
    """The number of quiescent states."""
    DEADLOCKS = 6
    """The number of deadlocks."""
    FIRST_DEADLOCK = 7
    """The first of them."""
    FAILURE = 8
    """What `expand` returned when it failed."""
    LIMIT = 9
    """The number of expanded states at which to return."""
    IN_SLEEP_SET = 10
    """How often a chosen instance was in the sleep set."""


class Status(IntEnum):
    """Why a loop returned."""

    RUNNING = 0
    """Its limit is reached."""
    DONE = 1
    """All states are expanded."""
    FULL = 2
    """There is no room."""
    VIOLATION = 3
    FAILED = 4
    """An action left its domain."""


class SuccessorFunctions(NamedTuple):
    """What a reduction does with the successors of a state: the entries of loops and what they read, by address."""

    choose: int = 0
    """A loop that writes the successors of a state by some of its instances; 0: all are written, by `expand`.

    Its arguments are int: `relations`, the kernel's function `expand`, the five arguments of that, and the address of a
    workspace. It returns what `expand` does, and writes how many instances it left out to the first word there.
    """
    relations: int = 0
    replace: int = 0
    """A loop that replaces successors by the states that stand for them; 0: each stands for itself.

    Its arguments are int: `permutations`, the words of a state, the address and the number of the successors, and that
    of a workspace of two states. It returns nothing.
    """
    permutations: int = 0


NO_REDUCTION = SuccessorFunctions()
"""All successors are written, as they are."""


class KernelView(NamedTuple):
    """A kernel as the loops see it, and the properties to check: sizes, addresses of functions and bit rows, flags."""

    words: int
    row_words: int
    property_words: int
    instances: int
    expand: int
    check: int
    check_step: int
    system_row: int
    state_row: int
    """The properties to check on states."""
    step_row: int
    """The properties to check on steps."""
    reachable_row: int
    checks_states: int
    checks_steps: int
    stop: int
    """Whether to return at the first violation."""
    deadlock: int
    """Whether a state without enabled instances is a violation."""
    reduction: SuccessorFunctions


class BatchLayout(NamedTuple):
    """The addresses of the arrays for a batch of BATCH states: their successors and their bit rows."""

    state: int
    """The state that is expanded, space for another one, and for two more while successors are made canonical."""
    rows: int
    """Packed successors."""
    roots: int
    """The roots of successors, if states are compressed; so are the following arrays."""
    leaves: int
    """Two words for each leaf of each successor: its hash, and the slot to probe from."""
    numbers: int
    """For each state, the numbers of its parts: two words for each leaf."""
    in_work: int
    """The same for one successor."""
    instances: int
    """uint32 for each successor."""
    hashes: int
    slots: int
    """int64 for each successor: the slot to probe from."""
    unknown: int
    """int64: how many successors are not stored as far as is known, then their numbers; see `find_unknown`."""
    ends: int
    """int64 for each state: the number of successors up to and including its own."""
    enabled: int
    """A bit row for each state."""
    false: int
    """One bit row."""
    premises: int
    """A bit row for each state."""
    step_premises: int
    """A bit row for each successor."""
    entered: int
    """The block of the loop that is entered (see `SuccessorFunctions`), then the workspace of `choose`."""


class Counters(NamedTuple):
    """The addresses of counters, int64 where nothing else is stated."""

    enabled: int
    """Bit-sliced counters."""
    premises: int
    """Bit-sliced counters."""
    blocked: int
    """For each instance: how often a bound disabled it."""
    idle: int
    """For each instance: how often it led to the same state."""
    hits: int
    """For each bound."""
    seen: int
    """For each property: how often it was false (`reachable` properties: true)."""
    first_state: int
    """For each property: the first state where that was so (step properties: the state before the step), plus 1; 0:
    none."""
    first_instance: int
    """For each step property: the instance of that step."""
    marks: int
    """For each block of STRIDE states: the number of states that were stored before it was expanded."""


class SearchLayout(NamedTuple):
    """The argument of the loops, besides the cursor."""

    kernel: KernelView
    space: KeySpace
    tree: Tree
    batch: BatchLayout
    counters: Counters


LINE = 64
"""Bytes of a cache line, or more. Cores that write to one line slow each other down."""

_FIRST_VIOLATION = ("first_state", "first_instance")


def isolated_zeros(count: int, dtype: Any = np.uint64) -> np.ndarray:
    """Return an array of zeros that begins at a cache line, and shares none with anything else."""
    item = np.dtype(dtype).itemsize
    block = np.zeros(count + 2 * LINE // item, dtype)
    return block[-block.ctypes.data % LINE // item :][:count]


class CounterBuffers:
    """The counters of a search, in one block with `more` int64 for other counts.

    There are `marks` for at most `most` states.
    """

    def __init__(self, kernel: Kernel, most: int, *, more: int = 0) -> None:
        rows, properties = 64 * kernel.instance_words, 64 * kernel.property_words
        sizes = {
            "enabled": kernel.instance_words * PLANES,
            "premises": kernel.property_words * PLANES,
            "blocked": rows,
            "hits": max(1, len(kernel.bounds)),
            "seen": properties,
            "first_state": properties,
            "first_instance": properties,
            "more": more,
            "idle": rows,
        }
        self.block = isolated_zeros(sum(sizes.values()), np.int64)
        self._parts = dict(zip(sizes, np.split(self.block, np.cumsum(list(sizes.values()))[:-1]), strict=True))
        self.marks = reserve(most // STRIDE + 2, np.int64)
        self._enabled_before = np.zeros(rows, np.int64)
        self._premises_before = np.zeros(properties, np.int64)

    def __getattr__(self, name: str) -> np.ndarray:
        try:
            part: np.ndarray = self.__dict__["_parts"][name]
            return part
        except KeyError:
            raise AttributeError(name) from None

    @cached_property
    def layout(self) -> Counters:
        """The addresses of the arrays."""
        return Counters(**{name: getattr(self, name).ctypes.data for name in Counters._fields})

    @property
    def enabled_totals(self) -> np.ndarray:
        """How often each instance was enabled."""
        enabled: np.ndarray = self._enabled_before + totals(self.enabled)
        return enabled

    @property
    def premise_totals(self) -> np.ndarray:
        """How often the premise of each property held."""
        premises: np.ndarray = self._premises_before + totals(self.premises)
        return premises

    def add_totals(self, enabled: np.ndarray, premises: np.ndarray) -> None:
        """Add what was counted elsewhere: int64[instances] and int64[properties]."""
        self._enabled_before[: len(enabled)] += enabled
        self._premises_before[: len(premises)] += premises

    def saved(self) -> dict[str, list[int]]:
        """Return all counts by name, for `restore`."""
        both = {"enabled": self.enabled_totals, "premises": self.premise_totals}
        both |= {name: getattr(self, name) for name in ("blocked", "idle", "hits", "seen", *_FIRST_VIOLATION)}
        return {name: numbers.tolist() for name, numbers in both.items()}

    def restore(self, saved: dict[str, list[int]]) -> None:
        """Set the counts to saved ones; nothing has been counted yet."""
        self._enabled_before[:], self._premises_before[:] = saved["enabled"], saved["premises"]
        for name in ("blocked", "idle", "hits", "seen", *_FIRST_VIOLATION):
            getattr(self, name)[:] = saved[name]

    def include(self, other: CounterBuffers) -> None:
        """Add the counts of another worker; a first violation in an earlier state replaces a later one."""
        self._enabled_before += other.enabled_totals
        self._premises_before += other.premise_totals
        earlier = (other.first_state > 0) & ((self.first_state == 0) | (other.first_state < self.first_state))
        for name in _FIRST_VIOLATION:
            getattr(self, name)[earlier] = getattr(other, name)[earlier]
        for name in ("blocked", "idle", "hits", "seen"):
            getattr(self, name)[:] += getattr(other, name)


def add_cursor(cursor: np.ndarray, other: np.ndarray) -> None:
    """Add the counts in another cursor; the first deadlock is the earlier one."""
    if other[Cursor.DEADLOCKS]:
        known = cursor[Cursor.FIRST_DEADLOCK] if cursor[Cursor.DEADLOCKS] else other[Cursor.FIRST_DEADLOCK]
        cursor[Cursor.FIRST_DEADLOCK] = min(known, other[Cursor.FIRST_DEADLOCK])
    for item in (Cursor.GENERATED, Cursor.QUIESCENT, Cursor.DEADLOCKS, Cursor.IN_SLEEP_SET):
        cursor[item] += other[item]


class BatchBuffers:
    """The arrays of a `BatchLayout` for `states` states."""

    def __init__(self, kernel: Kernel, states: int = BATCH, workspace_words: int = 0) -> None:
        widest = states * kernel.instances
        leaves = most_leaves_of(kernel.words)
        self.state = isolated_zeros(4 * kernel.words)
        self.rows = reserve(widest * kernel.words)
        self.roots, self.leaves = reserve(widest), reserve(2 * widest * leaves)
        self.numbers, self.in_work = reserve(states * 2 * leaves), isolated_zeros(2 * leaves)
        self.instances = reserve(widest, np.uint32)
        self.hashes, self.slots = reserve(widest), reserve(widest, np.int64)
        self.unknown = reserve(widest + states, np.int64)
        self.ends = isolated_zeros(states, np.int64)
        self.enabled = isolated_zeros(states * kernel.instance_words)
        self.false = isolated_zeros(kernel.property_words)
        self.premises = isolated_zeros(states * kernel.property_words)
        self.step_premises = reserve(widest * kernel.property_words)
        self.entered = isolated_zeros(ENTERED_WORDS + workspace_words)

    @cached_property
    def layout(self) -> BatchLayout:
        """The addresses of the arrays."""
        return BatchLayout(**{name: getattr(self, name).ctypes.data for name in BatchLayout._fields})


class RowBuffers:
    """The bit rows of a `KernelView`: system instances, and the properties to check, by kind."""

    def __init__(self, kernel: Kernel, checked: Iterable[int]) -> None:
        row = bit_row(checked, kernel.property_words)
        self.system_row = _padded(kernel.system_row, kernel.instance_words)
        self.step_row = row & _padded(kernel.step_row, kernel.property_words)
        self.state_row = row & ~self.step_row
        self.reachable_row = _padded(kernel.reachable_row, kernel.property_words)

    def kernel_view(
        self, kernel: Kernel, *, stop: bool, deadlock: bool, reduction: SuccessorFunctions = NO_REDUCTION
    ) -> KernelView:
        """Return the kernel as the loops see it."""
        return KernelView(
            words=kernel.words,
            row_words=kernel.instance_words,
            property_words=kernel.property_words,
            instances=kernel.instances,
            expand=kernel.expand,
            check=kernel.check,
            check_step=kernel.check_step,
            system_row=self.system_row.ctypes.data,
            state_row=self.state_row.ctypes.data,
            step_row=self.step_row.ctypes.data,
            reachable_row=self.reachable_row.ctypes.data,
            checks_states=int(self.state_row.any()),
            checks_steps=int(self.step_row.any()),
            stop=int(stop),
            deadlock=int(deadlock),
            reduction=reduction,
        )


def level_end(cursor: np.ndarray) -> int:
    """Return the end of the present level, or of the next one if the present one is finished."""
    return int(cursor[Cursor.LEVEL_END] if cursor[Cursor.NEXT] < cursor[Cursor.LEVEL_END] else cursor[Cursor.STORED])


def _padded(row: np.ndarray, words: int) -> np.ndarray:
    """Return a row of `words` words; the row of a kernel without properties is empty."""
    padded = np.zeros(words, np.uint64)
    padded[: len(row)] = row
    return padded
