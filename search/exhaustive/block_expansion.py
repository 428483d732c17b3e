"""Breadth-first search on a bit-sliced kernel: thousands of states at a time, numbered and counted as one by one.

Words: a *block* is consecutive states of one level. Guards and properties are evaluated in groups of as many states as
a plane has *lanes*. Then instance by instance takes its steps in the states where it is enabled, in groups too; since
instances come in order, the successors of each state do. Steps that change nothing lead to the state itself, and are
only counted. Last, the successors are stored, state by state, as in `expansion`. What a block counts is added to the
counters when its successors are stored. Before that it may be *refused*: at a violation that ends the search, an error,
or too little room. Then nothing of it counts, and the kernel expands these states one by one. Several workers may
expand blocks at once and store their successors in turns (see `parallel_expansion`); what is stored already is then
found before the turn.

See `kwalk.search.kernel.compile.planes` and `transpose` for *lanes*, *planes* and *columns*.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kwalk.search.exhaustive.expansion import (
    compress_successors,
    count_rows,
    expand_states,
    explore,
    successor_keys,
)
from kwalk.search.exhaustive.layout import (
    BATCH,
    BLOCK,
    CounterBuffers,
    Cursor,
    SearchLayout,
    Status,
    batch_of,
    level_end,
)
from kwalk.search.kernel.interface import CHANGED, FAILED, FIRST_BOUND, TAKEN, Kernel, SliceView
from kwalk.search.kernel.python_comparison import EngineDisagreement
from kwalk.search.native.bits import count_common_lanes, set_first_lanes
from kwalk.search.native.intrinsics import (
    ONE,
    ZERO,
    bit_count,
    call_void,
    count_up,
    get,
    integer,
    lowest_bit,
    peek,
    peek32,
    poke,
    poke32,
    prefetch_far,
    put,
)
from kwalk.search.native.loops import Int64Array, loop, part
from kwalk.search.native.structures import Structure, empty, int64s, uint32s, uint64s
from kwalk.search.visited.frontier import (
    Successors,
    UnknownKeys,
    clear_regions,
    has_room,
    ring_of,
    store_successors,
)
from kwalk.search.visited.hash_table import ABSENT, REGIONS, first_slot, region_of
from kwalk.search.visited.keys import copy_words, hash_of, last_word, load_key, same_words
from kwalk.search.visited.tree_compression import (
    decompress_state,
    hash_of_changed,
    leaf_words,
    most_leaves_of,
    number_values,
    pair_of,
    prefetch_parts,
    root_of,
)
from kwalk.search.visited.visited_set import key_words

SHORT, REFUSED = 16, 17
"""What `explore_blocks` returns besides a `Status`: too few states are left, or a block was refused."""
PREFETCH_DISTANCE = 8
"""How many states ahead the parts of a compressed state are prefetched."""
CACHE_LINE = 64
NOTHING = 2**62
"""A state above all."""


class Sums(NamedTuple):
    """What a block counts."""

    begin: int
    """The address of all of these words, and their number."""
    length: int
    enabled: int = int64s("instances + 1")
    """The last one is for quiescence."""
    premises: int = int64s("properties")
    blocked: int = int64s("instances")
    idle: int = int64s("instances")
    hits: int = int64s("bounds")
    seen: int = int64s("properties")
    first_state: int = int64s("properties")
    """For each property the first state of the block where it is false, or NOTHING."""
    first_instance: int = int64s("properties")
    deadlocks: int = int64s("2")
    """Their number, then the first state of the block that is one."""
    generated: int = int64s("1")


class BlockView(NamedTuple):
    """The argument of the loop, besides the search and the cursor."""

    size: int
    """The states of a block, at most: a multiple of the lanes."""
    least: int
    """The states of a block, at least."""
    properties: int
    bounds: int
    """The number of bounds."""
    enabled_bytes: int
    """The bytes of the planes in `enabled` of one group."""
    slices: SliceView
    sums: Sums
    successors: Successors
    unknown: UnknownKeys
    """They are where the successors are. `regions` counts all successors before they are looked up."""
    states: int = uint64s("size * words")
    """The packed states of the block."""
    numbers: int = uint64s("size * 2 * leaves")
    """The numbers of the parts of each state: two words for each leaf."""
    in_work: int = uint64s("1")
    columns: int = uint64s("words * lanes")
    planes: int = uint64s("words * lanes")
    saved: int = uint64s("words * lanes")
    enabled: int = uint64s("size // lanes * (enabled_bytes // 8)")
    """For each group of states, the planes that `slice.guards` writes."""
    rows: int = uint64s("row_words * lanes")
    """Columns of bit rows of instances."""
    property_planes: int = uint64s("2 * 64 * property_words * plane")
    results: int = uint64s("(FIRST_BOUND + bounds) * plane")
    """The planes that `slice.apply` writes."""
    valid: int = uint64s("plane")
    """A plane: the lanes in use."""
    ids: int = uint32s("size")
    """The states of the block where an instance is enabled."""
    live: int = uint32s("lanes")
    """The lanes of a group whose step leads to another state."""
    parents: int = uint32s("lanes")
    """The states of the block in these lanes."""
    values: int = uint64s("lanes * words")
    """For each of them the value of one part of the successor."""
    probes: int = uint64s("2 * lanes")
    """The hash of this value, and the slot to probe from."""
    parts: int = uint64s("lanes * 2 * leaves")
    """The numbers of the parts of the successor, as in `numbers`."""
    enabled_totals: int = int64s("instances")
    """In how many states of stored blocks each instance was enabled."""
    premise_totals: int = int64s("properties")


NO_BLOCKS = empty(BlockView)
"""The view of a worker that expands states one by one."""


@loop
def explore_blocks(search: SearchLayout, view: BlockView, cursor: int) -> int:
    """Expand stored states in blocks until about cursor[Cursor.LIMIT] are expanded.

    Returns:
        A status: RUNNING, DONE, SHORT or REFUSED.
    """
    space, counts = search.space, (search.counters.idle, search.counters.marks)
    while get(cursor, Cursor.NEXT) < get(cursor, Cursor.LIMIT):
        first = get(cursor, Cursor.NEXT)
        if first == get(cursor, Cursor.LEVEL_END):
            if get(cursor, Cursor.STORED) == first:
                return Status.DONE
            put(cursor, Cursor.LEVEL_END, get(cursor, Cursor.STORED))
            put(cursor, Cursor.DEPTH, get(cursor, Cursor.DEPTH) + 1)
        count = min(view.size, get(cursor, Cursor.LIMIT) - first, get(cursor, Cursor.LEVEL_END) - first)
        if count < view.least:
            return SHORT
        stored = get(cursor, Cursor.STORED)
        if not expand_block(search, view, first, count) or not has_room(space, view.unknown.regions, stored):
            return REFUSED
        put(cursor, Cursor.STORED, store_successors(space, view.successors, counts, (first, count), stored))
        put(cursor, Cursor.NEXT, first + count)
        add_counts(search, view, cursor, first)
    return Status.RUNNING


@part
def expand_block(search: SearchLayout, view: BlockView, first: int, count: int) -> bool:
    """Write the keys of the successors of `count` states; return False if the block is refused."""
    kernel, sums = search.kernel, view.sums
    for place in range(sums.length):
        put(sums.begin, place, 0)
    for prop in range(view.properties):
        put(sums.first_state, prop, NOTHING)
    put(sums.deadlocks, 1, NOTHING)
    _load_states(search, view, first, count)
    begin = integer(0)
    for group in range(0, count, view.slices.lanes):
        if not _judge_states(search, view, group, min(view.slices.lanes, count - group)):
            return False
        begin = _begin_successors(search, view, group, min(view.slices.lanes, count - group), begin)
    if kernel.stop and kernel.deadlock and get(sums.deadlocks, 0) > 0:
        return False
    clear_regions(view.unknown)
    for instance in range(kernel.instances):
        if get(sums.enabled, instance) == 0:
            continue
        _read_ahead(view, _next_enabled(sums, instance + 1, kernel.instances))
        enabled = _find_enabled(view, instance, count)
        for done in range(0, enabled, view.slices.lanes):
            if not _step_some(search, view, instance, view.ids + 4 * done, min(view.slices.lanes, enabled - done)):
                return False
    return True


# States.


@part
def _load_states(search: SearchLayout, view: BlockView, first: int, count: int) -> None:
    """Write the states of the block, and the numbers of their parts."""
    space, tree, words = search.space, search.tree, search.kernel.words
    if tree.words == 0:
        for k in range(count):
            load_key(space, first + k, view.states + 8 * words * k)
        return
    for k in range(count):
        prefetch_parts(tree, last_word(space, first + min(k + PREFETCH_DISTANCE, count - 1)))
        root, numbers = last_word(space, first + k), view.numbers + 16 * tree.leaves * k
        decompress_state(tree, root, view.states + 8 * words * k, numbers)


@part
def _judge_states(search: SearchLayout, view: BlockView, group: int, count: int) -> bool:
    """Evaluate guards and properties in a group of states, and count them; return False if the block is refused."""
    kernel, words, sums = search.kernel, view.slices.plane // 8, view.sums
    states = view.states + 8 * kernel.words * group
    for word in range(kernel.words):
        column = view.columns + 8 * view.slices.lanes * word
        for lane in range(count):
            poke(column, lane, peek(states, kernel.words * lane + word))
    enabled = view.enabled + view.enabled_bytes * (group // view.slices.lanes)
    quiescent = enabled + view.slices.plane * kernel.instances
    call_void(view.slices.transpose, (view.columns, view.planes, kernel.words))
    set_first_lanes(view.valid, count, words)
    call_void(view.slices.guards, (view.planes, enabled))
    if count < view.slices.lanes:
        for instance in range(kernel.instances):
            for word in range(words):
                place = words * instance + word
                poke(enabled, place, peek(enabled, place) & peek(view.valid, word))
    call_void(view.slices.count_bits, (enabled, kernel.instances + 1, view.valid, sums.enabled))
    if kernel.checks_states:
        call_void(view.slices.check, (view.planes, quiescent, view.property_planes))
        if not _count_properties(search, view, kernel.state_row, view.valid, (group, integer(-1))):
            return False
    for word in range(words):
        poke(quiescent, word, ZERO)  # it is behind the last instance, where the rows must be empty
    return True


@part
def _count_properties(search: SearchLayout, view: BlockView, checked: int, mask: int, where: tuple[int, int]) -> bool:
    """Count properties in the lanes of a mask; return False if the block is refused.

    `where` is the first state of the group, or -1 and the instance of a step.
    """
    kernel, words, sums = search.kernel, view.slices.plane // 8, view.sums
    premises = view.property_planes + 64 * view.slices.plane * kernel.property_words
    call_void(view.slices.count_bits, (premises, view.properties, mask, sums.premises))
    for prop in range(view.properties):
        if (peek(checked, prop // 64) >> np.uint64(prop % 64)) & ONE == ZERO:
            continue
        false, premise, any_false, failed = (
            view.property_planes + view.slices.plane * prop,
            premises + view.slices.plane * prop,
            integer(0),
            ZERO,
        )
        for word in range(words):
            bits = peek(false, word) & peek(mask, word)
            any_false += bit_count(bits)
            failed |= bits & ~peek(premise, word)
        if any_false == 0:
            continue
        reachable = (peek(kernel.reachable_row, prop // 64) >> np.uint64(prop % 64)) & ONE != ZERO
        if failed != ZERO or (kernel.stop and not reachable):
            return False
        count_up(sums.seen, prop, any_false)
        if get(search.counters.first_state, prop) == 0:
            _note_first(view, sums, prop, mask, where)
    return True


@part
def _note_first(view: BlockView, sums: Sums, prop: int, mask: int, where: tuple[int, int]) -> None:
    """Note the first state where a property is false, and the instance."""
    words, least, false = view.slices.plane // 8, integer(NOTHING), view.property_planes + view.slices.plane * prop
    for word in range(words):
        bits = peek(false, word) & peek(mask, word)
        while bits != ZERO:
            lane = words * lowest_bit(bits) + word
            state = where[0] + lane if where[1] < 0 else integer(peek32(where[0], lane))
            least = min(least, state)
            bits &= bits - ONE
    if least < get(sums.first_state, prop):
        put(sums.first_state, prop, least)
        put(sums.first_instance, prop, max(where[1], integer(0)))


@part
def _begin_successors(search: SearchLayout, view: BlockView, group: int, count: int, begin: int) -> int:
    """Give each state of a group the place of its successors, and count deadlocks; return the end of the places."""
    kernel, sums = search.kernel, view.sums
    enabled = view.enabled + view.enabled_bytes * (group // view.slices.lanes)
    call_void(view.slices.transpose, (enabled, view.rows, kernel.row_words))
    for lane in range(count):
        successors = integer(0)
        for word in range(kernel.row_words):
            successors += bit_count(peek(view.rows, view.slices.lanes * word + lane))
        put(view.successors.begins, group + lane, begin)
        put(view.successors.ends, group + lane, begin)
        if successors == 0:
            count_up(sums.deadlocks, 0, 1)
            put(sums.deadlocks, 1, min(get(sums.deadlocks, 1), group + lane))
        begin += successors
    return begin


# Steps.


@part
def _next_enabled(sums: Sums, instance: int, instances: int) -> int:
    """Return the first instance from `instance` on that is enabled somewhere; the last one if there is none."""
    while instance < instances - 1 and get(sums.enabled, instance) == 0:
        instance += 1
    return min(instance, instances - 1)


@part
def _read_ahead(view: BlockView, instance: int) -> None:
    """Prefetch the code of a step: all steps together are too large for the caches near a core."""
    code = get(view.slices.code, 2 * instance)
    for line in range(0, get(view.slices.code, 2 * instance + 1), CACHE_LINE):
        prefetch_far(code + line)


@part
def _find_enabled(view: BlockView, instance: int, count: int) -> int:
    """Write the states where an instance is enabled; return how many there are."""
    words, found = view.slices.plane // 8, integer(0)
    for group in range(0, count, view.slices.lanes):
        plane = view.enabled + view.enabled_bytes * (group // view.slices.lanes) + view.slices.plane * instance
        for word in range(words):
            bits = peek(plane, word)
            while bits != ZERO:
                poke32(view.ids, found, np.uint64(group + words * lowest_bit(bits) + word))
                found += 1
                bits &= bits - ONE
    return found


@part
def _step_some(search: SearchLayout, view: BlockView, instance: int, ids: int, count: int) -> bool:
    """Take the steps of an instance in some states; return False if the block is refused."""
    kernel, words, taken = search.kernel, view.slices.plane // 8, view.results
    loads = view.slices.loads + 8 * (kernel.words + 1) * instance
    for place in range(get(loads, 0)):
        word = get(loads, place + 1)
        column = view.columns + 8 * view.slices.lanes * word
        for lane in range(count):
            poke(column, lane, peek(view.states, kernel.words * integer(peek32(ids, lane)) + word))
        call_void(view.slices.transpose, (column, view.planes + 64 * view.slices.plane * word, 1))
    set_first_lanes(view.valid, count, words)
    if kernel.checks_steps:
        call_void(view.slices.save, (view.planes, view.saved))
    call_void(view.slices.apply, (instance, view.planes, view.valid, view.results))
    if count_common_lanes(view.results + view.slices.plane * FAILED, view.valid, words) > 0:
        return False
    sums, steps = view.sums, count_common_lanes(taken, view.valid, words)
    changed = count_common_lanes(taken, view.results + view.slices.plane * CHANGED, words)
    count_up(sums.generated, 0, steps)
    count_up(sums.blocked, instance, count - steps)
    count_up(sums.idle, instance, steps - changed)
    call_void(
        view.slices.count_bits, (view.results + view.slices.plane * FIRST_BOUND, view.bounds, view.valid, sums.hits)
    )
    if kernel.checks_steps:
        call_void(view.slices.check_step, (view.saved, view.planes, view.property_planes))
        if not _count_properties(search, view, kernel.step_row, taken, (ids, instance)):
            return False
    if changed == 0:
        return True
    stores = view.slices.stores + 8 * (kernel.words + 1) * instance
    for place in range(get(stores, 0)):
        word = get(stores, place + 1)
        column = view.columns + 8 * view.slices.lanes * word
        call_void(view.slices.transpose, (view.planes + 64 * view.slices.plane * word, column, 1))
    return _write_keys(search, view, stores, _find_changed(view, ids))


@part
def _find_changed(view: BlockView, ids: int) -> int:
    """Write the lanes whose step leads to another state, and the states there; return how many there are."""
    found, words = integer(0), view.slices.plane // 8
    for word in range(words):
        bits = peek(view.results, words * TAKEN + word) & peek(view.results, words * CHANGED + word)
        while bits != ZERO:
            lane = words * lowest_bit(bits) + word
            poke32(view.live, found, np.uint64(lane))
            poke32(view.parents, found, peek32(ids, lane))
            found += 1
            bits &= bits - ONE
    return found


@part
def _write_keys(search: SearchLayout, view: BlockView, stores: int, count: int) -> bool:
    """Write the keys of the successors in `count` lanes; return False if there is no room for their parts."""
    tree, words = search.tree, search.kernel.words
    if tree.words == 0:
        _merge(view, stores, count, (integer(0), words, words))
        for j in range(count):
            place = _next_place(view, integer(peek32(view.parents, j)))
            copy_words(view.successors.keys + 8 * words * place, view.values + 8 * words * j, words)
            _announce_key(search, view, place)
        return True
    for place in range(2 * tree.leaves - 2):
        changes = True
        if place < tree.leaves:
            changes = _change_leaf(search, view, stores, place, count)
        else:
            _change_pair(search, view, place, count)
        if changes and not number_values(tree, place, count, (view.values, view.probes, view.parts)):
            return False
    for j in range(count):
        place, parts = _next_place(view, integer(peek32(view.parents, j))), view.parts + 16 * tree.leaves * j
        poke(view.successors.keys, place, root_of(tree, parts))
        _announce_key(search, view, place)
    return True


@part
def _change_leaf(search: SearchLayout, view: BlockView, stores: int, place: int, count: int) -> bool:
    """Write the numbers that a leaf of the successors takes over, and the values where it is another one.

    Return whether there can be any.
    """
    tree, words, size = search.tree, search.kernel.words, 2 * search.tree.leaves
    first, length = leaf_words(tree, place)
    changes = _merge(view, stores, count, (first, first + length, words))
    for j in range(count):
        state = integer(peek32(view.parents, j))
        poke(view.parts, size * j + place, peek(view.numbers, size * state + place))
        if changes:
            value, before = view.values + 8 * length * j, view.states + 8 * (words * state + first)
            poke(view.probes, 2 * j, hash_of_changed(value, before, length))
    return changes


@part
def _change_pair(search: SearchLayout, view: BlockView, place: int, count: int) -> None:
    """Do the same as `_change_leaf` for a pair."""
    size = 2 * search.tree.leaves
    left = 2 * (place - search.tree.leaves)
    for j in range(count):
        known, parts = view.numbers + 8 * size * integer(peek32(view.parents, j)), view.parts + 8 * size * j
        poke(parts, place, peek(known, place))
        poke(view.in_work, 0, pair_of(known, left))
        poke(view.values, j, pair_of(parts, left))
        poke(view.probes, 2 * j, hash_of_changed(view.values + 8 * j, view.in_work, 1))


@part
def _merge(view: BlockView, stores: int, count: int, which: tuple[int, int, int]) -> bool:
    """Write words which[0] … which[1] - 1 of the successors in `count` lanes; False, and nothing, if none can change.

    which[2] is the number of words of a state.
    """
    changes, (first, end, words), length = False, which, which[1] - which[0]
    for place in range(get(stores, 0)):
        changes = changes or first <= get(stores, place + 1) < end
    if not changes:
        return False
    for j in range(count):
        source = view.states + 8 * (words * integer(peek32(view.parents, j)) + first)
        copy_words(view.values + 8 * length * j, source, length)
    for place in range(get(stores, 0)):
        word = get(stores, place + 1)
        if first <= word < end:
            column, target = view.columns + 8 * view.slices.lanes * word, view.values + 8 * (word - first)
            for j in range(count):
                poke(target, length * j, peek(column, integer(peek32(view.live, j))))
    return True


@part
def _announce_key(search: SearchLayout, view: BlockView, place: int) -> None:
    """Prefetch the slot of a key, and count it for its region."""
    space = search.space
    hashed = hash_of(view.successors.keys + 8 * space.words * place, space.words)
    first_slot(space, hashed)
    count_up(view.unknown.regions, region_of(hashed), 1)


@part
def _next_place(view: BlockView, state: int) -> int:
    """Return the place of the next successor of a state."""
    place = get(view.successors.ends, state)
    put(view.successors.ends, state, place + 1)
    return place


# Storing.


@part
def add_counts(search: SearchLayout, view: BlockView, cursor: int, first: int) -> None:
    """Add what the block has counted to the counters and the cursor."""
    counters, sums, instances = search.counters, view.sums, search.kernel.instances
    _add_all(view.enabled_totals, sums.enabled, instances)
    _add_all(view.premise_totals, sums.premises, view.properties)
    _add_all(counters.blocked, sums.blocked, instances)
    _add_all(counters.idle, sums.idle, instances)
    _add_all(counters.hits, sums.hits, view.bounds)
    _add_all(counters.seen, sums.seen, view.properties)
    for prop in range(view.properties):
        if get(sums.first_state, prop) < NOTHING:
            put(counters.first_state, prop, first + get(sums.first_state, prop) + 1)
            put(counters.first_instance, prop, get(sums.first_instance, prop))
    count_up(cursor, Cursor.QUIESCENT, get(sums.enabled, instances))
    count_up(cursor, Cursor.GENERATED, get(sums.generated, 0))
    if get(sums.deadlocks, 0) > 0:
        if get(cursor, Cursor.DEADLOCKS) == 0:
            put(cursor, Cursor.FIRST_DEADLOCK, first + get(sums.deadlocks, 1))
        count_up(cursor, Cursor.DEADLOCKS, get(sums.deadlocks, 0))


@part
def _add_all(target: int, source: int, count: int) -> None:
    for place in range(count):
        count_up(target, place, get(source, place))


# Comparison.


@loop
def expand_again(search: SearchLayout, view: BlockView, block: Int64Array, cursor: Int64Array) -> int:
    """Expand the states of the block, block[0] … block[0] + block[1] - 1, on the kernel, and count into `search`.

    Returns:
        The first state whose successors differ; block[0] + block[1] if there is none; ABSENT if there is no room.
    """
    batch, tree, words = search.batch, search.tree, search.space.words
    for begin in range(0, block[1], BATCH):
        count = min(BATCH, block[1] - begin)
        cursor[Cursor.NEXT] = block[0] + begin
        if expand_states(search, cursor, count) != Status.RUNNING:
            return integer(cursor[Cursor.NEXT])
        count_rows(search, count)
        if not compress_successors(search, count):
            return ABSENT
        keys, j = successor_keys(search), integer(0)
        for k in range(count):
            at, end = get(view.successors.begins, begin + k), get(view.successors.ends, begin + k)
            own = view.states + 8 * words * (begin + k)
            if tree.words != 0:
                own = view.in_work
                load_key(search.space, block[0] + begin + k, own)
            while j < integer(peek(batch.ends, k)):
                key, instance = keys + 8 * words * j, integer(peek32(batch.instances, j))
                j += 1
                if same_words(key, own, words):
                    count_up(search.counters.idle, instance, 1)
                    continue
                if at == end or not same_words(key, view.successors.keys + 8 * words * at, words):
                    return integer(block[0]) + begin + k
                at += 1
            if at != end:
                return integer(block[0]) + begin + k
    return integer(block[0] + block[1])


class BlockExpansion:
    """The buffers of a `BlockView`, and some blocks that are expanded by the kernel as well.

    Args:
        kernel: A kernel with bit-sliced functions.
        compare: Whether blocks are compared with the kernel: the first one, the second, the fourth, and so on.
        shared: Whether this is one of several workers.
    """

    def __init__(self, kernel: Kernel, *, compare: bool = True, shared: bool = False) -> None:
        sliced, size, widest = kernel.sliced, BLOCK, BLOCK * kernel.instances
        assert sliced is not None and size % sliced.lanes == 0
        self.kernel, self.compares, self.expanded, self._calls = kernel, compare, 0, 0
        self.sums = Structure(Sums, kernel.sizes, begin=0, length=0)
        sums = self.sums.layout._replace(begin=self.sums.block.ctypes.data, length=len(self.sums.block))
        sizes = {
            "size": size,
            "least": sliced.least_states,
            "ring": ring_of(kernel.instances),
            "enabled_bytes": (64 * kernel.instance_words + 1) * sliced.lanes // 8,
            "leaves": most_leaves_of(kernel.words),
            "widest": widest,
            "unknown": widest if shared else 1,
            "key_words": key_words(kernel.words),
            "FIRST_BOUND": FIRST_BOUND,
            "states": size,
            "regions": REGIONS,
        }
        self.successors = Structure(Successors, sizes, instances=0)
        _, keys, begins, ends, *_ = self.successors.layout
        self.unknown = Structure(UnknownKeys, sizes, keys=keys, begins=begins, ends=ends)
        parts = {"successors": self.successors.layout, "unknown": self.unknown.layout}
        self.arrays = Structure(BlockView, kernel.sizes | sizes, slices=sliced.view, sums=sums, **parts)
        self.view = self.arrays.layout

    @property
    def compares_next(self) -> bool:
        """Whether the next block is to be compared with the kernel."""
        return self.compares and (self._calls + 1).bit_count() == 1

    def move_totals(self, counts: CounterBuffers) -> None:
        """Add what stored blocks have counted apart to the counters."""
        counts.add_totals(self.arrays.enabled_totals, self.arrays.premise_totals)
        self.arrays.enabled_totals[:] = self.arrays.premise_totals[:] = 0

    def warm_up(self, search: SearchLayout, cursor: np.ndarray) -> None:
        """Load the loop, or compile it: the limit of the cursor is reached already."""
        cursor[Cursor.LIMIT] = cursor[Cursor.NEXT]
        explore_blocks(search, self.view, cursor.ctypes.data)

    def explore(self, search: SearchLayout, counts: CounterBuffers, cursor: np.ndarray) -> int:
        """Expand states until the limit of the cursor, as `explore` does, with the kernel where that is needed.

        Args:
            search: The argument of the loops.
            counts: Its counters.
            cursor: The cursor of the search.

        Returns:
            A status as of `explore`.

        Raises:
            EngineDisagreement: The kernel and its bit-sliced functions differ in a block.
        """
        limit = int(cursor[Cursor.LIMIT])
        while cursor[Cursor.NEXT] < limit:
            status = self._expand_blocks(search, counts, cursor, limit)
            if status in (SHORT, REFUSED):
                left = level_end(cursor) - int(cursor[Cursor.NEXT]) if status == SHORT else BLOCK
                cursor[Cursor.LIMIT] = min(limit, cursor[Cursor.NEXT] + max(left, 1))
                status = explore(search, cursor)
            if status != Status.RUNNING:
                return status
        return Status.RUNNING

    def _expand_blocks(self, search: SearchLayout, counts: CounterBuffers, cursor: np.ndarray, limit: int) -> int:
        """Expand blocks; the next one alone if it is to be compared."""
        compares = self.compares_next
        first = int(cursor[Cursor.NEXT])
        alone = max(1, min(BLOCK, level_end(cursor) - first))
        cursor[Cursor.LIMIT] = min(limit, first + alone) if compares else limit
        status = int(explore_blocks(search, self.view, cursor.ctypes.data))
        count = int(cursor[Cursor.NEXT]) - first
        self.expanded += count
        self._calls += count > 0
        self.move_totals(counts)
        if compares and count > 0:
            self._compare(search, counts, first, count)
        return status

    def _compare(self, search: SearchLayout, counts: CounterBuffers, first: int, count: int) -> None:
        """Expand the last block on the kernel as well; EngineDisagreement if anything differs."""
        again, room, sums = CounterBuffers(self.kernel, 0), batch_of(self.kernel), self.sums
        scalar, cursor = search._replace(batch=room.layout, counters=again.layout), again.cursor
        end = expand_again(scalar, self.view, np.array([first, count], np.int64), cursor)
        if end == ABSENT:
            return
        if end != first + count:
            raise EngineDisagreement(
                f"The sliced kernel and the kernel do not find the same successors of state {end} of the search."
            )
        properties = self.kernel.properties
        pairs = {
            "quiescent": (sums.enabled[-1], cursor[Cursor.QUIESCENT]),
            "generated": (sums.generated[0], cursor[Cursor.GENERATED]),
            "deadlocks": (sums.deadlocks[0], cursor[Cursor.DEADLOCKS]),
            "enabled": (sums.enabled[:-1], again.enabled_totals[: self.kernel.instances]),
            "premises": (sums.premises[:properties], again.premise_totals[:properties]),
        }
        for name in ("blocked", "idle", "hits", "seen"):
            mine, other = getattr(sums, name), getattr(again, name)
            pairs[name] = mine, other[: len(mine)]
        different = [name for name, (one, other) in pairs.items() if np.any(one != other)]
        new = again.first_state[:properties] > 0
        for name in ("first_state", "first_instance"):
            known = getattr(counts, name)[:properties]
            mine = new & (counts.first_state[:properties] > first)
            if np.any(known[mine] != getattr(again, name)[:properties][mine]) or np.any(new & (known < 0)):
                different.append(name)
        if different:
            raise EngineDisagreement(
                f"The sliced kernel and the kernel do not count the same in states {first} to {first + count - 1} of "
                f"the search: {', '.join(different)} differ."
            )
