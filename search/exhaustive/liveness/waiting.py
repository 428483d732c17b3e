"""The stored states in which an `eventually` property waits, and their state graph, which is expanded on demand.

Words: a *waiting* state is one where the awaited condition of the property is false; a *start* is a waiting state where
the premise holds. Waiting states are *numbered* in the order of discovery. An *edge* is a step out of a waiting state,
with its instance; one to a state that does not wait has the target OUTSIDE.
"""
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kwalk.model.language import PropertyInstance
from kwalk.search.exhaustive.expansion import compress_successors, hash_successors, load_state, successor_keys
from kwalk.search.exhaustive.explorer import Explorer
from kwalk.search.exhaustive.layout import SearchLayout
from kwalk.search.native.bits import has_bit
from kwalk.search.native.intrinsics import (
    ONE,
    ZERO,
    bit_count,
    call,
    call_void,
    integer,
    loop,
    part,
    peek,
    peek16,
    peek32,
    poke,
    poke16,
    poke32,
)
from kwalk.search.native.memory import reserve
from kwalk.search.visited.hash_table import find
from kwalk.search.visited.keys import hash_of

OUTSIDE = 0xFFFFFFFF
"""The target of an edge to a state that does not wait."""
COMPONENT_DONE = 1 << 31
"""Marks from here on belong to states whose component is known (see `components`)."""


class WaitingRows(NamedTuple):
    """The addresses of bit rows over all stored states, and of the numbering of waiting ones."""

    states: int
    """Bit row: the waiting states."""
    starts: int
    """Bit row: the starts."""
    before: int
    """uint32 for each word of those rows: the number of waiting states in the words before."""
    stored: int
    """uint32 for each waiting state: its index among the stored states."""


class Graph(NamedTuple):
    """The addresses of the known edges; the edges of a state are consecutive, after their number."""

    guards: int
    """The `guards` function of the kernel."""
    edges: int
    """int64 for each waiting state: the position of its edges, plus 1; 0 if they are not known."""
    targets: int
    """uint32 for each edge."""
    instances: int
    """uint16 for each edge."""
    room: int
    """The capacity in edges."""


class Region(NamedTuple):
    """The argument of the loops: the waiting states of one property."""

    search: SearchLayout
    waiting: WaitingRows
    graph: Graph


class SearchStacks(NamedTuple):
    """The addresses of arrays of uint32 with one item for each waiting state, and of four rows of instances."""

    marks: int
    path: int
    """The states on the path, from the start of the search to the present state."""
    places: int
    """For each state on the path: how many of its edges were followed."""
    visits: int
    """For each state on the path: its visit number."""
    stack: int
    """The states whose component is not complete."""
    rows: int
    """Disabled, blocked by a bound, taken, and scratch memory."""


@loop
def classify_states(search: SearchLayout, waiting: WaitingRows, span: np.ndarray, counts: np.ndarray) -> None:
    """Find the states span[0] … span[1] - 1 in which property span[2] waits; span[0] is a multiple of 64.

    counts[0] grows by the states where the premise holds, counts[1] by the waiting states.
    """
    word, shift = span[2] // 64, np.uint64(span[2] % 64)
    false, premise = search.batch.false, search.batch.premises
    for first in range(span[0], span[1], 64):
        waiting_row, premises = ZERO, ZERO
        for index in range(first, min(first + 64, span[1])):
            call_void(search.kernel.check, (load_state(search, index, 0), integer(0), false, premise))
            at = np.uint64(index % 64)
            waiting_row |= ((peek(false, word) >> shift) & ONE) << at
            premises |= ((peek(premise, word) >> shift) & ONE) << at
        poke(waiting.states, first // 64, waiting_row)
        poke(waiting.starts, first // 64, waiting_row & premises)
        counts[0] += bit_count(premises)
        counts[1] += bit_count(waiting_row)


@loop
def number_waiting_states(waiting: WaitingRows, states: int) -> None:
    """Number the waiting states among the first `states` states."""
    count = integer(0)
    for place in range((states + 63) // 64):
        poke32(waiting.before, place, np.uint64(count))
        row = peek(waiting.states, place)
        while row != ZERO:
            low = row & (~row + ONE)
            poke32(waiting.stored, count, np.uint64(64 * place) + np.uint64(bit_count(low - ONE)))
            count += 1
            row ^= low


@part
def number_of(waiting: WaitingRows, index: int) -> int:
    """Return the number of a waiting state."""
    below = (ONE << np.uint64(index % 64)) - ONE
    place = index // 64
    return integer(peek32(waiting.before, place)) + bit_count(peek(waiting.states, place) & below)


@part
def load_waiting_state(region: Region, state: int) -> int:
    """Load a waiting state; return its address."""
    return load_state(region.search, integer(peek32(region.waiting.stored, state)), 0)


@part
def expand_waiting_state(region: Region, state: int, used: int) -> int:
    """Write the edges of a waiting state behind the `used` ones; return how many are used then. There must be room."""
    space, batch, graph = region.search.space, region.search.batch, region.graph
    poke(graph.edges, state, np.uint64(used + 1))
    arguments = (
        load_waiting_state(region, state),
        batch.enabled,
        batch.rows,
        batch.instances,
        region.search.counters.hits,
    )
    made = call(region.search.kernel.expand, arguments)
    poke32(graph.targets, used, np.uint64(made))
    _compute_keys(region.search, made)
    for j in range(made):
        key = successor_keys(region.search) + 8 * space.words * j
        index = find(space, key, hash_of(key, space.words))
        waiting_row = has_bit(region.waiting.states, index)
        target = number_of(region.waiting, index) if waiting_row else integer(OUTSIDE)
        poke32(graph.targets, used + 1 + j, np.uint64(target))
        poke16(graph.instances, used + 1 + j, peek16(batch.instances, j))
    return used + 1 + made


@part
def _compute_keys(search: SearchLayout, made: int) -> None:
    """Compute the keys of the successors of the loaded state, which are all stored: no part of them is new."""
    hash_successors(search, 0, made)
    poke(search.batch.ends, 0, np.uint64(made))
    compress_successors(search, 1)


@part
def edges_of(graph: Graph, state: int) -> tuple[int, int]:
    """Return the first and the end position of the known edges of a state."""
    head = integer(peek(graph.edges, state)) - 1
    return head + 1, head + 1 + integer(peek32(graph.targets, head))


@part
def guards_of(region: Region, state: int) -> int:
    """Return the address of the row of instances whose guard holds in a waiting state; valid until the next call."""
    row = region.search.batch.enabled
    call_void(region.graph.guards, (load_waiting_state(region, state), row))
    return row


ROW_BYTES = 8 + 8 + 4
"""Bytes for each 64 stored states: two words, and a number."""
STATE_BYTES = 8 + 4 + 5 * 4
"""Bytes for each waiting state: the position of its edges, its index, and the items of `SearchStacks`."""
EDGE_BYTES = 4 + 2
MIN_EDGES = 1 << 16


class OutOfMemory(Exception):
    """The memory budget is too small for the waiting states of a property."""


class WaitingStates:
    """The waiting states of one property: the arrays of a `Region` and of `SearchStacks`.

    OutOfMemory if the rest of the memory budget has no room for them.
    """

    def __init__(self, exploration: Explorer, prop: PropertyInstance) -> None:
        self.exploration, self.prop, self.stored = exploration, prop, exploration.stored
        words, self.left = (
            -(-self.stored // 64),
            exploration.options.memory - exploration.states.used_bytes(self.stored),
        )
        self._reserve_bytes(words * ROW_BYTES)
        if self.stored >= COMPONENT_DONE:
            raise OutOfMemory
        self.states, self.starts = reserve(words), reserve(words)
        self.before, self.numbers = reserve(words, np.uint32), reserve(0, np.uint32)
        self.premises = self.count = self.next = 0
        self._hits = exploration.counts.hits.copy()

    def _reserve_bytes(self, size: int) -> None:
        self.left -= size
        if self.left < 0:
            raise OutOfMemory

    def classify(self, pace: int) -> bool:
        """Classify up to `pace` more states; whether all are classified."""
        span = np.array([self.next, min(self.stored, self.next + 64 * -(-pace // 64)), self.prop.index], np.int64)
        counts = np.zeros(2, np.int64)
        classify_states(self._search, self._waiting, span, counts)
        self.premises, self.count = self.premises + int(counts[0]), self.count + int(counts[1])
        self.next = int(span[1])
        return self.next == self.stored

    def number_states(self) -> None:
        """Number the waiting states and reserve their graph; all states must be classified."""
        self._reserve_bytes(self.count * STATE_BYTES)
        self.edge_room = max(MIN_EDGES, self.left // EDGE_BYTES)
        self.numbers = reserve(self.count, np.uint32)
        self.edges = reserve(self.count, np.int64)
        self.targets, self.instances = reserve(self.edge_room, np.uint32), reserve(self.edge_room, np.uint16)
        self._stacks = {name: reserve(self.count, np.uint32) for name in SearchStacks._fields if name != "rows"}
        self._rows = np.zeros(4 * self.exploration.kernel.instance_words, np.uint64)
        number_waiting_states(self._waiting, self.stored)

    @property
    def _search(self) -> SearchLayout:
        """The argument of the exploration's loops, with bound hits counted in a copy that is discarded."""
        search = self.exploration.search
        return search._replace(counters=search.counters._replace(hits=self._hits.ctypes.data))

    @property
    def _waiting(self) -> WaitingRows:
        arrays = self.states, self.starts, self.before, self.numbers
        states, starts, before, stored = (array.ctypes.data for array in arrays)
        return WaitingRows(states=states, starts=starts, before=before, stored=stored)

    @property
    def region(self) -> Region:
        """The argument of the loops."""
        edges, targets, instances = (a.ctypes.data for a in (self.edges, self.targets, self.instances))
        guards = self.exploration.kernel.guards
        graph = Graph(guards=guards, edges=edges, targets=targets, instances=instances, room=self.edge_room)
        return Region(self._search, self._waiting, graph)

    @property
    def stacks(self) -> SearchStacks:
        """The argument of the loops."""
        addresses = {name: array.ctypes.data for name, array in self._stacks.items()}
        return SearchStacks(**addresses, rows=self._rows.ctypes.data)

    def number_of(self, index: int) -> int:
        """Return the number of a waiting state among the waiting ones."""
        return int(np.searchsorted(self.numbers[: self.count], index))

    def clear_visits(self) -> np.ndarray:
        """Set all visit numbers to zero, as path queries need it; return the array in which they write their path."""
        self._stacks["visits"][:] = 0
        return self._stacks["path"]
