"""The arrays of breadth-first loops, their addresses, and the cursor.

Words: a state is *expanded* when its properties are checked and its successors are inserted. The *frontier* is the
states that are stored and not yet expanded. States are numbered in the order of discovery, so the successors of a state
follow those of its predecessors. A *mark* is the number of states that were stored before a block of STRIDE states was
expanded; marks are all that is stored to find the parent of a state.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from kwalk.search.kernel.interface import Kernel, bit_row
from kwalk.search.native.bit_sliced_counters import PLANES, totals
from kwalk.search.native.loops import BLOCK_ARGUMENTS
from kwalk.search.native.structures import Structure, int64s, uint32s, uint64s
from kwalk.search.visited.frontier import ring_of
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
    """The arrays for a batch of states, their successors (`widest` at most), and their bit rows."""

    ring: int
    """As in `Successors`; so are `instances`, `hashes`, `slots`, `begins` and `ends`."""
    state: int = uint64s("4 * words")
    """The state that is expanded, space for another one, and for two more while successors are made canonical."""
    rows: int = uint64s("widest * words")
    """Packed successors."""
    roots: int = uint64s("widest")
    """The roots of successors, if states are compressed; so are the following arrays."""
    leaves: int = uint64s("2 * widest * leaves")
    """Two words for each leaf of each successor: its hash, and the slot to probe from."""
    numbers: int = uint64s("2 * states * leaves")
    """For each state, the numbers of its parts: two words for each leaf."""
    in_work: int = uint64s("2 * leaves")
    """The same for one successor."""
    instances: int = uint32s("widest")
    hashes: int = uint64s("ring + 1")
    slots: int = int64s("ring + 1")
    begins: int = int64s("states")
    ends: int = int64s("states")
    enabled: int = uint64s("states * row_words")
    false: int = uint64s("property_words")
    premises: int = uint64s("states * property_words")
    step_premises: int = uint64s("widest * property_words")
    entered: int = uint64s("entered")
    """The block of the loop that is entered (see `SuccessorFunctions`), then the workspace of `choose`."""


class Counters(NamedTuple):
    """The counters of a search or of one of its workers."""

    enabled: int = int64s("row_words * PLANES")
    """Bit-sliced counters."""
    premises: int = int64s("property_words * PLANES")
    """Bit-sliced counters."""
    blocked: int = int64s("64 * row_words")
    """How often a bound disabled an instance."""
    idle: int = int64s("64 * row_words")
    """How often an instance led to the same state."""
    hits: int = int64s("bounds")
    seen: int = int64s("64 * property_words")
    """How often a property was false (`reachable` properties: true)."""
    first_state: int = int64s("64 * property_words")
    """The first state where that was so (step properties: the state before the step), plus 1; 0: none."""
    first_instance: int = int64s("64 * property_words")
    """For each step property: the instance of that step."""
    cursor: int = int64s("cursor")
    """A cursor."""
    marks: int = int64s("marks")
    """For each block of STRIDE states: the number of states that were stored before it was expanded."""


class SearchLayout(NamedTuple):
    """The argument of the loops, besides the cursor."""

    kernel: KernelView
    space: KeySpace
    tree: Tree
    batch: BatchLayout
    counters: Counters


_FIRST_VIOLATION = ("first_state", "first_instance")


class CounterBuffers(Structure[Counters]):
    """The counters of a search, with marks for at most `most` states."""

    def __init__(self, kernel: Kernel, most: int) -> None:
        sizes = kernel.sizes | {"PLANES": PLANES, "cursor": len(Cursor), "marks": most // STRIDE + 2}
        super().__init__(Counters, sizes)
        self._enabled_before = np.zeros(len(self.blocked), np.int64)
        self._premises_before = np.zeros(len(self.seen), np.int64)

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


def batch_of(kernel: Kernel, workspace_words: int = 0) -> Structure[BatchLayout]:
    """Return the arrays for a batch of BATCH states."""
    sizes = {"states": BATCH, "widest": BATCH * kernel.instances, "leaves": most_leaves_of(kernel.words)}
    sizes |= {"ring": ring_of(kernel.instances, BATCH), "entered": ENTERED_WORDS + workspace_words}
    return Structure(BatchLayout, kernel.sizes | sizes)


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
