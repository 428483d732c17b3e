"""Breadth-first search over packed states, in batches that hide the latency of memory. Words: see `layout`."""

from __future__ import annotations

import numpy as np

from kwalk.search.exhaustive.layout import BATCH, ENTERED_WORDS, Counters, Cursor, SearchLayout, Status
from kwalk.search.native.bit_sliced_counters import add_rows, bump
from kwalk.search.native.intrinsics import (
    ONE,
    ZERO,
    bit_count,
    call,
    call_void,
    enter,
    get,
    integer,
    lowest_bit,
    peek,
    peek32,
    poke,
    put,
)
from kwalk.search.native.loops import BLOCK_ARGUMENTS, BLOCK_RESULT, Int64Array, Word, loop, part
from kwalk.search.visited.frontier import Successors, store_successors
from kwalk.search.visited.hash_table import ABSENT, room_for_keys
from kwalk.search.visited.key_store import STRIDE
from kwalk.search.visited.keys import copy_words, last_word, load_key, same_words
from kwalk.search.visited.tree_compression import (
    NO_NUMBER,
    compress_state,
    decompress_state,
    find_likely_slots,
    find_slots,
    hash_leaves,
    prefetch_parts,
    room_for_values,
)

PREFETCH_DISTANCE = 2
"""How many states ahead the parts of a compressed state are prefetched."""


@part
def load_state(search: SearchLayout, index: int, k: int) -> int:
    """Load a stored state and return its address; write the numbers of its parts as those of state k of the batch."""
    space, tree, batch = search.space, search.tree, search.batch
    if tree.words == 0:
        load_key(space, index, batch.state)
    else:
        decompress_state(tree, last_word(space, index), batch.state, batch.numbers + 16 * tree.leaves * k)
        prefetch_parts(tree, last_word(space, index + PREFETCH_DISTANCE))
    return batch.state


@part
def successor_keys(search: SearchLayout) -> int:
    """Return the address of the keys of the successors in the batch."""
    return search.batch.rows if search.tree.words == 0 else search.batch.roots


@part
def successors_of(search: SearchLayout) -> Successors:
    """Return the successors in the batch."""
    batch = search.batch
    keys = successor_keys(search)
    return Successors(batch.ring, keys, batch.begins, batch.ends, batch.instances, batch.hashes, batch.slots)


@part
def hash_successors(search: SearchLayout, begin: int, end: int) -> None:
    """If states are compressed, hash the changed leaves of some successors of the loaded state."""
    tree, batch = search.tree, search.batch
    if tree.words != 0:
        for j in range(begin, end):
            hash_leaves(tree, batch.rows + 8 * tree.words * j, batch.state, batch.leaves + 16 * tree.leaves * j)


@part
def compress_successors(search: SearchLayout, parents: int) -> bool:
    """If states are compressed, write the roots of the successors of `parents` states; False without room."""
    tree, batch, j = search.tree, search.batch, integer(0)
    if tree.words == 0:
        return True
    for first in range(0, parents, BATCH):
        last = min(first + BATCH, parents)
        _find_leaves(search, j, integer(peek(batch.ends, last - 1)))
        for k in range(first, last):
            known, end = batch.numbers + 16 * tree.leaves * k, integer(peek(batch.ends, k))
            while j < end:
                row, looks = batch.rows + 8 * tree.words * j, batch.leaves + 16 * tree.leaves * j
                root = compress_state(tree, row, known, batch.in_work, looks)
                if root == NO_NUMBER:
                    return False
                poke(batch.roots, j, root)
                j += 1
    return True


@part
def _find_leaves(search: SearchLayout, begin: int, end: int) -> None:
    """Probe for the leaves of some successors in the batch, and prefetch their values."""
    tree, leaves = search.tree, search.batch.leaves
    for j in range(begin, end):
        find_slots(tree, leaves + 16 * tree.leaves * j)
    for j in range(begin, end):
        find_likely_slots(tree, leaves + 16 * tree.leaves * j)


@loop
def explore(search: SearchLayout, cursor: Int64Array) -> int:
    """Expand stored states until about cursor[Cursor.LIMIT] are expanded; return the status."""
    while cursor[Cursor.NEXT] < cursor[Cursor.LIMIT]:
        if cursor[Cursor.NEXT] == cursor[Cursor.LEVEL_END]:
            if cursor[Cursor.STORED] == cursor[Cursor.LEVEL_END]:
                return Status.DONE
            cursor[Cursor.LEVEL_END] = cursor[Cursor.STORED]
            cursor[Cursor.DEPTH] += 1
        count = _batch_size(search, cursor)
        if count <= 0:
            return Status.FULL
        first, counts = cursor[Cursor.NEXT], (search.counters.idle, search.counters.marks)
        status = expand_states(search, cursor, count)
        states = integer(first), integer(cursor[Cursor.NEXT] - first)
        count_rows(search, states[1])
        compress_successors(search, states[1])  # there is room: _batch_size has seen to it
        stored = store_successors(search.space, successors_of(search), counts, states, integer(cursor[Cursor.STORED]))
        cursor[Cursor.STORED] = stored
        if status != Status.RUNNING:
            return status
    return Status.RUNNING


@part
def _batch_size(search: SearchLayout, cursor: Int64Array) -> int:
    """Return how many states to expand at once: within one level and one block, with room for all successors."""
    first = integer(cursor[Cursor.NEXT])
    count = min(BATCH, STRIDE - first % STRIDE, integer(cursor[Cursor.LEVEL_END]) - first)
    tree, instances = search.tree, search.kernel.instances
    if tree.words != 0:
        count = min(count, room_for_values(tree) // instances)
    return min(count, room_for_keys(search.space, integer(cursor[Cursor.STORED])) // instances)


@part
def expand_states(search: SearchLayout, cursor: Int64Array, count: int) -> int:
    """Write the successors of the next `count` states into the batch, and check these states."""
    kernel, batch, total = search.kernel, search.batch, integer(0)
    for k in range(count):
        state, row = load_state(search, cursor[Cursor.NEXT], k), batch.enabled + 8 * kernel.row_words * k
        successors, instances = batch.rows + 8 * kernel.words * total, batch.instances + 4 * total
        places = (state, row, successors, instances, search.counters.hits)
        if kernel.reduction.choose == 0:
            made = call(kernel.expand, places)
        else:
            made, left_out = _choose_successors(search, places)
            cursor[Cursor.IN_SLEEP_SET] += left_out
        if made < 0:
            cursor[Cursor.FAILURE] = made
            return Status.FAILED
        put(batch.begins, k, total)
        put(batch.ends, k, total + made)
        found = _check_expanded(search, cursor, k, total)
        if found == FOUND_ERROR:
            cursor[Cursor.FAILURE] = -1
            return Status.FAILED
        if kernel.reduction.replace != 0:
            _replace_successors(search, successors, made)
        hash_successors(search, total, total + made)
        total += made
        cursor[Cursor.NEXT] += 1
        cursor[Cursor.GENERATED] += made
        if kernel.stop and found == FOUND_VIOLATION:
            return Status.VIOLATION
    return Status.RUNNING


@part
def _choose_successors(search: SearchLayout, places: tuple[int, int, int, int, int]) -> tuple[int, int]:
    """Write the successors of a state that a reduction chooses; return what `expand` does, and how many it left out."""
    reduction, block = search.kernel.reduction, search.batch.entered
    workspace = block + 8 * ENTERED_WORDS
    put(block, BLOCK_ARGUMENTS, reduction.relations)
    put(block, BLOCK_ARGUMENTS + 1, search.kernel.expand)
    for k in range(5):
        put(block, BLOCK_ARGUMENTS + 2 + k, places[k])
    put(block, BLOCK_ARGUMENTS + 7, workspace)
    enter(reduction.choose, block)
    return get(block, BLOCK_RESULT), get(workspace, 0)


@part
def _replace_successors(search: SearchLayout, successors: int, count: int) -> None:
    """Replace successors by the states that stand for them."""
    kernel, block = search.kernel, search.batch.entered
    put(block, BLOCK_ARGUMENTS, kernel.reduction.permutations)
    put(block, BLOCK_ARGUMENTS + 1, kernel.words)
    put(block, BLOCK_ARGUMENTS + 2, successors)
    put(block, BLOCK_ARGUMENTS + 3, count)
    put(block, BLOCK_ARGUMENTS + 4, search.batch.state + 16 * kernel.words)
    enter(kernel.reduction.replace, block)


FOUND_NOTHING, FOUND_VIOLATION, FOUND_ERROR = range(3)
"""The result of checking a state: the gravest result of its properties. An error of a property ends the search."""


@part
def _check_expanded(search: SearchLayout, cursor: Int64Array, k: int, begin: int) -> int:
    """Count and check the state just expanded, whose successors start at `begin`; return what was found."""
    kernel, end = search.kernel, integer(peek(search.batch.ends, k))
    enabled, quiescent = _count_enabled(search, k)
    cursor[Cursor.QUIESCENT] += quiescent
    if enabled != end - begin:
        _count_blocked(search, k, begin, end)
    found = integer(FOUND_NOTHING)
    if enabled == 0:
        cursor[Cursor.FIRST_DEADLOCK] = (
            cursor[Cursor.NEXT] if cursor[Cursor.DEADLOCKS] == 0 else cursor[Cursor.FIRST_DEADLOCK]
        )
        cursor[Cursor.DEADLOCKS] += 1
        found = integer(kernel.deadlock != 0)
    if kernel.checks_states:
        premise = search.batch.premises + 8 * kernel.property_words * k
        place = cursor[Cursor.NEXT], integer(0)
        found = max(found, check_state(search, search.batch.state, place, (premise, quiescent)))
    if kernel.checks_steps:
        for j in range(begin, end):
            where = cursor[Cursor.NEXT], integer(peek32(search.batch.instances, j))
            after = search.batch.rows + 8 * kernel.words * j
            premise = search.batch.step_premises + 8 * kernel.property_words * j
            found = max(found, check_step(search, where, after, premise))
    return found


@part
def _count_enabled(search: SearchLayout, k: int) -> tuple[int, Word]:
    """Return how many instances are enabled, and 1 if no system instance is."""
    kernel, enabled, system = search.kernel, integer(0), ZERO
    row = search.batch.enabled + 8 * kernel.row_words * k
    for word in range(kernel.row_words):
        enabled += bit_count(peek(row, word))
        system |= peek(row, word) & peek(kernel.system_row, word)
    return enabled, integer(system == ZERO)


@part
def _count_blocked(search: SearchLayout, k: int, begin: int, end: int) -> None:
    """Count the enabled instances that a bound disabled: those without a successor."""
    row = search.batch.enabled + 8 * search.kernel.row_words * k
    for word in range(search.kernel.row_words):
        blocked = peek(row, word)
        for j in range(begin, end):
            instance = integer(peek32(search.batch.instances, j))
            if instance // 64 == word:
                blocked &= ~(ONE << np.uint64(instance % 64))
        bump(search.counters.blocked, word, blocked)


@part
def check_state(search: SearchLayout, state: int, where: tuple[int, int], premise: tuple[int, int]) -> int:
    """Evaluate the state properties in the state at an address; return what was found.

    `where` is what is recorded with a first violation: a stored state and an instance. `premise` is the address of the
    row to write, and whether the state is quiescent.
    """
    kernel, false, bad, failed = search.kernel, search.batch.false, ZERO, ZERO
    call_void(kernel.check, (state, premise[1], false, premise[0]))
    for word in range(kernel.property_words):
        row = peek(false, word) & peek(kernel.state_row, word)
        if row != ZERO:
            failed |= row & ~peek(premise[0], word)
            row &= peek(premise[0], word)
            _record_violations(search.counters, word, row, where)
            bad |= row & ~peek(kernel.reachable_row, word)
    return _gravest(bad, failed)


@part
def _gravest(violated: Word, failed: Word) -> int:
    """Return what was found, from properties that are violated and that raise an error."""
    if failed != ZERO:
        return integer(FOUND_ERROR)
    return integer(FOUND_NOTHING) if violated == ZERO else integer(FOUND_VIOLATION)


@part
def check_step(search: SearchLayout, where: tuple[int, int], after: int, premise: int) -> int:
    """Evaluate the step properties on a step from the loaded state; return what was found.

    `where` is the number of the state and the instance of the step, `after` and `premise` are addresses: of the state
    after it, and of the row to write.
    """
    kernel, false, bad, failed = search.kernel, search.batch.false, ZERO, ZERO
    call_void(kernel.check_step, (search.batch.state, after, false, premise))
    for word in range(kernel.property_words):
        row = peek(false, word) & peek(kernel.step_row, word)
        if row != ZERO:
            failed |= row & ~peek(premise, word)
            row &= peek(premise, word)
            _record_violations(search.counters, word, row, where)
            bad |= row
    return _gravest(bad, failed)


@part
def _record_violations(counters: Counters, word: int, false: Word, where: tuple[int, int]) -> None:
    """Count the properties that are false, and record the state and instance of each first violation."""
    bump(counters.seen, word, false)
    while false != ZERO:
        prop = 64 * word + lowest_bit(false)
        if peek(counters.first_state, prop) == ZERO:
            poke(counters.first_state, prop, np.uint64(where[0] + 1))
            poke(counters.first_instance, prop, np.uint64(where[1]))
        false &= false - ONE


@part
def count_rows(search: SearchLayout, parents: int) -> None:
    """Add the bit rows of the first `parents` states in the batch to the bit-sliced counters."""
    kernel, batch, counters = search.kernel, search.batch, search.counters
    add_rows(counters.enabled, batch.enabled, parents, kernel.row_words)
    if kernel.checks_states:
        add_rows(counters.premises, batch.premises, parents, kernel.property_words)
    if kernel.checks_steps and parents > 0:
        add_rows(counters.premises, batch.step_premises, integer(peek(batch.ends, parents - 1)), kernel.property_words)


@loop
def find_parent(search: SearchLayout, block: Int64Array) -> int:
    """Return the first of states block[0] … block[1] - 1 that has state block[2] as a successor, or ABSENT.

    block[3] becomes the instance of the step.
    """
    batch, words = search.batch, search.kernel.words
    target = batch.state + 8 * words
    copy_words(target, load_state(search, block[2], 0), words)
    for index in range(block[0], block[1]):
        arguments = (load_state(search, index, 0), batch.enabled, batch.rows, batch.instances, search.counters.hits)
        made = call(search.kernel.expand, arguments)
        if search.kernel.reduction.replace != 0:
            _replace_successors(search, batch.rows, made)
        for j in range(made):
            if same_words(batch.rows + 8 * words * j, target, words):
                block[3] = integer(peek32(batch.instances, j))
                return index
    return ABSENT
