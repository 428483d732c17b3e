"""Sleep sets: instances that are not taken in a state, as another order of the same steps leads to the same states.

Words: the instances that are taken in a state are taken in order. After one of them, the *sleep set* of the successor
has every instance that was in the state's sleep set or was taken before it, if both orders of the two are possible in
the state and lead to the same state. A state that is discovered by several steps from the depth before has the
intersection of these sets.

Two tables hold the sleep sets of the current depth and of the next one. An *entry* is the hash of a state and the row
of instances that are *not* in its sleep set; it is free if the hash is 0. A state without an entry has an empty sleep
set. Workers only set bits, so the result does not depend on their order.

Source: P. Godefroid, "Partial-Order Methods for the Verification of Concurrent Systems" (LNCS 1032, 1996), for a
depth-first search. docs/explanation/reduction.md has the proof for a breadth-first search.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kwalk.search.native.atomics import atomic_add, atomic_load, atomic_or, compare_and_swap
from kwalk.search.native.bits import has_bit, set_bit
from kwalk.search.native.intrinsics import (
    ONE,
    ZERO,
    call,
    call_void,
    get,
    integer,
    lowest_bit,
    peek,
    peek32,
    poke,
    poke32,
    scale,
)
from kwalk.search.native.loops import Word, part
from kwalk.search.native.memory import reserve
from kwalk.search.partial_order.tables import ReductionTables, Workspace
from kwalk.search.visited.keys import hash_of, same_words

SLEEP_NOW, SLEEP_NOW_SIZE, SLEEP_NEXT, SLEEP_NEXT_SIZE, SLEEP_COUNT, SLEEP_LIMIT = range(6)
"""The words of `ReductionTables.sleep_tables`: address and entries of the table of the current depth, the same of the
next depth's, how many entries of that are used, and how many may be. Beyond that none is written, and it is void."""
SLEEP_WORDS = 6
ENTRIES_PER_STATE = 3
"""Entries of the next depth's table for each state of the current depth."""
MIN_ENTRIES = 1 << 14
MAX_LOAD = 0.75
"""The load at which a table is void. The number of states decides, so it is the same for any number of workers."""


class SleepSets:
    """Both tables. Initial states have empty sleep sets.

    Args:
        row_words: Words in a row of instances.
    """

    def __init__(self, row_words: int) -> None:
        self.entry_words = 1 + row_words
        self.tables = np.zeros(SLEEP_WORDS, np.int64)
        self.first = -1
        """The number of the first state of the current depth; -1 before any."""
        self.depths_without = 0
        """How many depths had no sleep sets, as there was no memory for them."""
        self._use(self._table(1), self._table(1))

    def begin_depth(self, first: int, states: int, memory: int) -> None:
        """Prepare for a depth; nothing to do if that is done, or if it has no states.

        Args:
            first: The number of its first state.
            states: How many states it has.
            memory: Bytes for the table of the next depth; if they do not suffice, that depth has no sleep sets.
        """
        if first == self.first or states == 0:
            return
        self.first = first
        is_void = self.tables[SLEEP_COUNT] > self.tables[SLEEP_LIMIT]
        now, entries = self._table(1) if is_void else self.next, max(MIN_ENTRIES, ENTRIES_PER_STATE * states)
        if 8 * entries * self.entry_words <= memory:
            self._use(now, self._table(entries))
        else:
            self.depths_without += 1
            self._use(now, self._table(1), count=1)  # above its limit, so nothing is written

    def _table(self, entries: int) -> np.ndarray:
        return reserve(entries * self.entry_words)

    def _use(self, now: np.ndarray, after: np.ndarray, count: int = 0) -> None:
        """Use two tables; `count` entries of the second are in use."""
        self.now, self.next = now, after
        sizes = [len(table) // self.entry_words for table in (now, after)]
        self.tables[:] = now.ctypes.data, sizes[0], after.ctypes.data, sizes[1], count, int(MAX_LOAD * sizes[1])

    @property
    def nbytes(self) -> int:
        """The bytes of both tables."""
        return self.now.nbytes + self.next.nbytes

    def saved(self) -> tuple[dict[str, np.ndarray], list[int]]:
        """Return the bytes of the tables by name, and the numbers that `resume` needs besides."""
        tables = {"sleep-now": self.now.view(np.uint8), "sleep-next": self.next.view(np.uint8)}
        return tables, [self.first, len(self.now), len(self.next), int(self.tables[SLEEP_COUNT]), self.depths_without]

    def resume(self, numbers: list[int], read: Callable[[str, np.ndarray], None]) -> None:
        """Continue from what `saved` returned; `read` fills the bytes of a table, by name."""
        self.first, now, after, count, self.depths_without = numbers
        self._use(reserve(now), reserve(after), count)
        for name, target in self.saved()[0].items():
            read(name, target)


@part
def load_sleep_set(t: ReductionTables, w: Workspace, state: int) -> None:
    """Write the row of instances in the sleep set of a state."""
    hashed = _hash(t, state)
    entry = _entry(t, (get(t.sleep_tables, SLEEP_NOW), get(t.sleep_tables, SLEEP_NOW_SIZE)), hashed)
    known = peek(entry, 0) == hashed
    for word in range(t.row_words):
        poke(w.sleep_set, word, ~peek(entry, word + 1) if known else ZERO)


@part
def store_sleep_sets(t: ReductionTables, w: Workspace, places: tuple[int, int, int], count: int) -> None:
    """Store the sleep sets of the successors of a state.

    Args:
        t: The tables.
        w: The workspace.
        places: The state, its successors, and their instances (uint32), with room for those in the sleep set.
        count: How many successors there are.
    """
    _, successors, instances = places
    total = _apply_sleep_set(t, w, places, count)
    if total > 1:
        for i in range(total):
            call_void(t.guards, (successors + 8 * t.words * i, _guards(t, w, i)))
    for j in range(count):
        for word in range(t.row_words):
            poke(w.next_sleep_set, word, ZERO)
        for i in range(total):
            if i < j or i >= count:
                _add_if_orders_agree(t, w, (successors, instances), (i, j))
        _store(t, w, successors + 8 * t.words * j)


@part
def _apply_sleep_set(t: ReductionTables, w: Workspace, places: tuple[int, int, int], count: int) -> int:
    """Write the successors by instances in the sleep set behind the `count` others; return how many there are now."""
    state, successors, instances = places
    for word in range(t.row_words):
        bits = peek(w.sleep_set, word)
        while bits != ZERO:
            instance = 64 * word + lowest_bit(bits)
            bits &= bits - ONE
            if call(t.apply, (instance, state, successors + 8 * t.words * count)) == 0:
                poke32(instances, count, np.uint64(instance))
                count += 1
    return count


@part
def _guards(t: ReductionTables, w: Workspace, number: int) -> int:
    """Return the row of guards in a successor."""
    return w.successor_guards + 8 * t.row_words * number


@part
def _add_if_orders_agree(t: ReductionTables, w: Workspace, places: tuple[int, int], pair: tuple[int, int]) -> None:
    """Add instance i to the sleep set after instance j if both orders are possible, and lead to the same state."""
    (successors, instances), (i, j) = places, pair
    first, second = integer(peek32(instances, i)), integer(peek32(instances, j))
    if has_bit(_guards(t, w, j), first) and has_bit(_guards(t, w, i), second):
        here, there = w.spare, w.spare + 8 * t.words
        blocked = call(t.apply, (first, successors + 8 * t.words * j, here))
        blocked |= call(t.apply, (second, successors + 8 * t.words * i, there))
        if blocked == 0 and same_words(here, there, t.words):
            set_bit(w.next_sleep_set, first)


@part
def _store(t: ReductionTables, w: Workspace, state: int) -> None:
    """Intersect the sleep set of a state of the next depth with the one in the workspace."""
    if get(t.sleep_tables, SLEEP_COUNT) > get(t.sleep_tables, SLEEP_LIMIT):
        return
    hashed, table = _hash(t, state), (get(t.sleep_tables, SLEEP_NEXT), get(t.sleep_tables, SLEEP_NEXT_SIZE))
    entry = _entry(t, table, hashed)
    while not _claim(t, entry, hashed):
        entry = _entry(t, table, hashed)
    for word in range(t.row_words):
        atomic_or(entry, word + 1, ~peek(w.next_sleep_set, word))


@part
def _hash(t: ReductionTables, state: int) -> Word:
    """Return the hash of a state; never 0."""
    return max(ONE, hash_of(state, t.words))


@part
def _entry(t: ReductionTables, table: tuple[int, int], hashed: Word) -> int:
    """Return the address of the entry of a hash, or else of the free one where it would be."""
    begin, size = table
    step, place = 8 * (t.row_words + 1), integer(scale(hashed, np.uint64(size)))
    found = atomic_load(begin + step * place, 0)  # read once: others write
    while found != hashed and found != ZERO:
        place = place + 1 if place + 1 < size else integer(0)
        found = atomic_load(begin + step * place, 0)
    return begin + step * place


@part
def _claim(t: ReductionTables, entry: int, hashed: Word) -> bool:
    """Give a free entry to a hash; return whether the entry is that of the hash now."""
    if atomic_load(entry, 0) == ZERO and compare_and_swap(entry, 0, ZERO, hashed):
        atomic_add(t.sleep_tables, SLEEP_COUNT, integer(1))
    return bool(atomic_load(entry, 0) == hashed)
