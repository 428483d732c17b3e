"""The stored states that a violation of a property about behaviours passes, and their graph, expanded on demand.

Words: a state is *unsatisfied* where the awaited condition of the property is false. A *waiting* state is one that a
violating behaviour may pass after its start: an unsatisfied state if the property awaits one satisfied state, any state
if it is about what is true infinitely often or from some state on. A *start* is a waiting state where the premise holds
(of an inevitable property: an initial one). Waiting states are *numbered* in the order of discovery. An *edge* is a
step out of a waiting state, with its instance; one to a state that does not wait has the target OUTSIDE. A condition of
fairness is *enabled* in a state if one of its instances leads from there to another state, or is blocked by a bound.
"""

from __future__ import annotations

from enum import IntEnum
from itertools import chain
from typing import NamedTuple

import numpy as np

from kwalk.model.language import FairnessConditions, FairnessKind, Kind, PropertyInstance
from kwalk.search.exhaustive.expansion import compress_successors, hash_successors, load_state, successor_keys
from kwalk.search.exhaustive.explorer import Explorer
from kwalk.search.exhaustive.layout import SearchLayout
from kwalk.search.kernel.interface import bit_row
from kwalk.search.native.bits import add_bits, has_bit, set_bit
from kwalk.search.native.intrinsics import (
    ONE,
    ZERO,
    bit_count,
    call,
    call_void,
    integer,
    peek,
    peek32,
    poke,
    poke32,
)
from kwalk.search.native.loops import Int64Array, loop, part
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
    unsatisfied: int
    """Bit row: the unsatisfied states."""
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
    """uint32 for each edge."""
    room: int
    """The capacity in edges."""


class FairnessTable(NamedTuple):
    """The addresses of the fairness conditions; a row of conditions has `words` words."""

    words: int
    first: int
    """int64 for each instance, and one more: the position of its first condition in `conditions`."""
    conditions: int
    """int64: the conditions of all instances, in the order of the instances."""
    constrained: int
    """Bit row: the instances with a condition."""
    weak: int
    """Row of conditions."""
    strong: int
    """Row of conditions."""


class Loop(IntEnum):
    """What the loop of a violating behaviour has besides being fair."""

    ANYWHERE = 0
    """Nothing."""
    INSIDE = 1
    """All of its states are unsatisfied."""
    THROUGH = 2
    """One of its states is unsatisfied."""


class Region(NamedTuple):
    """The argument of the loops: the waiting states of one property."""

    search: SearchLayout
    waiting: WaitingRows
    graph: Graph
    fairness: FairnessTable
    loop: int
    """A `Loop`."""


class SearchStacks(NamedTuple):
    """The addresses of arrays of uint32 with one item for each waiting state, and of scratch rows."""

    marks: int
    path: int
    """The states on the path, from the start of the search to the present state."""
    places: int
    """For each state on the path: how many of its edges were followed."""
    visits: int
    """For each state on the path: its visit number."""
    stack: int
    """The states whose component is not complete."""
    nested: int
    """The same of the search within a component."""
    rows: int
    """Rows of conditions (see `components`), and a row of instances at `instance_row`."""
    instance_row: int


@loop
def classify_states(
    search: SearchLayout, check_awaited: int, waiting: WaitingRows, span: Int64Array, counts: Int64Array
) -> None:
    """Write which of the states span[0] … span[1] - 1 are unsatisfied, and where the premise of property span[2] holds.

    `check_awaited` is that function of the kernel. span[0] is a multiple of 64. counts[0] grows by the states where the
    premise holds, counts[1] by the unsatisfied ones.
    """
    word, shift = span[2] // 64, np.uint64(span[2] % 64)
    false, premise = search.batch.false, search.batch.premises
    for first in range(span[0], span[1], 64):
        unsatisfied, premises = ZERO, ZERO
        for index in range(first, min(first + 64, span[1])):
            call_void(check_awaited, (load_state(search, index, 0), false, premise))
            at = np.uint64(index % 64)
            unsatisfied |= ((peek(false, word) >> shift) & ONE) << at
            premises |= ((peek(premise, word) >> shift) & ONE) << at
        poke(waiting.unsatisfied, first // 64, unsatisfied)
        poke(waiting.starts, first // 64, premises)
        counts[0] += bit_count(premises)
        counts[1] += bit_count(unsatisfied)


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
        poke32(graph.instances, used + 1 + j, peek32(batch.instances, j))
    return used + 1 + made


@part
def _compute_keys(search: SearchLayout, count: int) -> None:
    """Compute the keys of the successors of the loaded state, which are all stored: no part of them is new."""
    hash_successors(search, 0, count)
    poke(search.batch.ends, 0, np.uint64(count))
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


@part
def is_unsatisfied(region: Region, state: int) -> bool:
    """Whether the awaited condition is false in a waiting state."""
    return has_bit(region.waiting.unsatisfied, integer(peek32(region.waiting.stored, state)))


@part
def find_enabled_conditions(region: Region, state: int, rows: tuple[int, int], blocked_counts: int) -> bool:
    """Write the row of the conditions that are enabled in a waiting state; return whether a bound blocks one of them.

    Args:
        region: The region.
        state: The waiting state.
        rows: The address of the row of conditions, and of a scratch row of instances.
        blocked_counts: Whether an instance that a bound blocks is enabled.
    """
    fairness, (enabled, moving) = region.fairness, rows
    guards = guards_of(region, state)
    for word in range(fairness.words):
        poke(enabled, word, ZERO)
    for word in range(region.search.kernel.row_words):
        poke(moving, word, ZERO)
    begin, end = edges_of(region.graph, state)
    for at in range(begin, end):
        instance = integer(peek32(region.graph.instances, at))
        set_bit(moving, instance)
        if integer(peek32(region.graph.targets, at)) != state:
            _add_conditions(fairness, instance, enabled)
    is_blocked = False
    for word in range(region.search.kernel.row_words):
        blocked = peek(guards, word) & ~peek(moving, word) & peek(fairness.constrained, word)
        is_blocked = is_blocked or blocked != ZERO
        while blocked_counts != 0 and blocked != ZERO:
            low = blocked & (~blocked + ONE)
            _add_conditions(fairness, 64 * word + bit_count(low - ONE), enabled)
            blocked ^= low
    return is_blocked


@part
def _add_conditions(fairness: FairnessTable, instance: int, row: int) -> None:
    """Add the conditions of an instance to a row."""
    for at in range(integer(peek(fairness.first, instance)), integer(peek(fairness.first, instance + 1))):
        condition = integer(peek(fairness.conditions, at))
        add_bits(row, condition // 64, ONE << np.uint64(condition % 64))


@part
def has_condition_in(fairness: FairnessTable, instance: int, row: int) -> bool:
    """Whether one of the conditions of an instance is in a row."""
    for at in range(integer(peek(fairness.first, instance)), integer(peek(fairness.first, instance + 1))):
        if has_bit(row, integer(peek(fairness.conditions, at))):
            return True
    return False


@part
def add_taken_conditions(region: Region, state: int, at: int, row: int) -> None:
    """Add the conditions that an edge of a state takes to a row; a step that changes nothing takes none."""
    if integer(peek32(region.graph.targets, at)) != state:
        _add_conditions(region.fairness, integer(peek32(region.graph.instances, at)), row)


ROW_BYTES = 4 * 8 + 4
"""Bytes for each 64 stored states: four words, and a number."""
STATE_BYTES = 8 + 4 + 6 * 4
"""Bytes for each waiting state: the position of its edges, its index, and the items of `SearchStacks`."""
EDGE_BYTES = 4 + 4
MIN_EDGES = 1 << 16


class OutOfMemory(Exception):
    """The memory budget is too small for the waiting states of a property."""


class FairnessArrays:
    """The arrays of a `FairnessTable`.

    Args:
        conditions: The fairness conditions of a model.
        instance_words: The words of a bit row of instances.
    """

    def __init__(self, conditions: FairnessConditions, instance_words: int) -> None:
        of_instance = conditions.of_instance
        self.words = max(1, -(-len(conditions.conditions) // 64))
        self._first = np.cumsum([0, *map(len, of_instance)], dtype=np.int64)
        self._conditions = np.array([*chain.from_iterable(of_instance), 0], np.int64)
        self.constrained = bit_row((i for i, members in enumerate(of_instance) if members), instance_words)
        self.weak, self.strong = (
            bit_row((n for n, one in enumerate(conditions.conditions) if one.kind is kind), self.words)
            for kind in (FairnessKind.WEAK, FairnessKind.STRONG)
        )

    @property
    def table(self) -> FairnessTable:
        """The argument of the loops."""
        arrays = (self._first, self._conditions, self.constrained, self.weak, self.strong)
        return FairnessTable(self.words, *(array.ctypes.data for array in arrays))


CONDITION_ROWS = 5
"""The rows of conditions in `SearchStacks.rows`."""


class WaitingStates:
    """The waiting states of one property: the arrays of a `Region` and of `SearchStacks`.

    OutOfMemory if the rest of the memory budget has no room for them.
    """

    def __init__(self, exploration: Explorer, prop: PropertyInstance) -> None:
        self.exploration, self.prop, self.stored = exploration, prop, exploration.stored
        self.fairness = FairnessArrays(exploration.model.fairness, exploration.kernel.instance_words)
        self.loop = Loop.ANYWHERE
        words, self.left = (
            -(-self.stored // 64),
            exploration.options.memory - exploration.states.used_bytes(self.stored),
        )
        self._reserve_bytes(words * ROW_BYTES)
        if self.stored >= COMPONENT_DONE:
            raise OutOfMemory
        self.unsatisfied, self.starts = reserve(words), reserve(words)
        self.states = self.unsatisfied
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
        classify_states(self._search, self.exploration.kernel.check_awaited, self._waiting, span, counts)
        self.premises, self.count = self.premises + int(counts[0]), self.count + int(counts[1])
        self.next = int(span[1])
        return self.next == self.stored

    def number_states(self) -> None:
        """Find the waiting states and the starts, number them, and reserve their graph; all must be classified."""
        self._select()
        self._reserve_bytes(self.count * STATE_BYTES)
        self.edge_room = max(MIN_EDGES, self.left // EDGE_BYTES)
        self.numbers = reserve(self.count, np.uint32)
        self.edges = reserve(self.count, np.int64)
        self.targets, self.instances = reserve(self.edge_room, np.uint32), reserve(self.edge_room, np.uint32)
        names = ("marks", "path", "places", "visits", "stack", "nested")
        self._stacks = {name: reserve(self.count, np.uint32) for name in names}
        self._rows = np.zeros(CONDITION_ROWS * self.fairness.words, np.uint64)
        self._instance_row = np.zeros(self.exploration.kernel.instance_words, np.uint64)
        number_waiting_states(self._waiting, self.stored)

    def _select(self) -> None:
        """Choose the waiting states and the starts by the kind of the property.

        `[]<>Q` without a premise is TRUE ~> Q, so it is searched as that, among fewer states.
        """
        kind, unsatisfied = self.prop.kind, self.count
        if kind is Kind.INEVITABLE:
            initial = np.zeros_like(self.starts)
            whole, rest = divmod(self.exploration.initial, 64)
            initial[:whole] = ~np.uint64(0)
            if rest:
                initial[whole] = np.uint64((1 << rest) - 1)
            self.starts &= initial
            self.premises = int(np.bitwise_count(self.starts).sum())
        is_recurrent = kind is Kind.EVENTUALLY_ALWAYS or (
            kind is Kind.ALWAYS_EVENTUALLY and self.premises < self.stored
        )
        if is_recurrent and unsatisfied:
            self.loop = Loop.THROUGH if kind is Kind.EVENTUALLY_ALWAYS else Loop.INSIDE
            self.states = reserve(len(self.starts))
            self.states[: self.stored // 64] = ~np.uint64(0)
            if self.stored % 64:
                self.states[self.stored // 64] = np.uint64((1 << (self.stored % 64)) - 1)
            self.count = self.stored
        else:
            self.starts &= self.unsatisfied

    @property
    def _search(self) -> SearchLayout:
        """The argument of the exploration's loops, with bound hits counted in a copy that is discarded."""
        search = self.exploration.search
        return search._replace(counters=search.counters._replace(hits=self._hits.ctypes.data))

    @property
    def _waiting(self) -> WaitingRows:
        arrays = self.states, self.starts, self.unsatisfied, self.before, self.numbers
        states, starts, unsatisfied, before, stored = (array.ctypes.data for array in arrays)
        return WaitingRows(states=states, starts=starts, unsatisfied=unsatisfied, before=before, stored=stored)

    @property
    def region(self) -> Region:
        """The argument of the loops."""
        edges, targets, instances = (a.ctypes.data for a in (self.edges, self.targets, self.instances))
        guards = self.exploration.kernel.guards
        graph = Graph(guards=guards, edges=edges, targets=targets, instances=instances, room=self.edge_room)
        return Region(self._search, self._waiting, graph, self.fairness.table, int(self.loop))

    @property
    def stacks(self) -> SearchStacks:
        """The argument of the loops."""
        addresses = {name: array.ctypes.data for name, array in self._stacks.items()}
        rows = {"rows": self._rows.ctypes.data, "instance_row": self._instance_row.ctypes.data}
        return SearchStacks(**addresses, **rows)

    def number_of(self, index: int) -> int:
        """Return the number of a waiting state among the waiting ones."""
        return int(np.searchsorted(self.numbers[: self.count], index))

    def clear_visits(self) -> np.ndarray:
        """Set all visit numbers to zero, as path queries need it; return the array in which they write their path."""
        self._stacks["visits"][:] = 0
        return self._stacks["path"]
