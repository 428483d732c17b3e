"""Breadth-first search over packed states, in batches that hide the memory's latency. Words: see `frontier`."""
from __future__ import annotations

import numpy as np

from search.loops.folding import fold_successors, found_keys, hash_successors, take_state
from search.loops.frontier import (
    ASLEEP,
    BATCH,
    DEADLOCKS,
    DEPTH,
    DONE,
    FAILED,
    FAILURE,
    FIRST_DEADLOCK,
    FOUND,
    FULL,
    GENERATED,
    GOING,
    LEVEL_END,
    LIMIT,
    NEXT,
    QUIET,
    SIZE,
    STRIDE,
    Batch,
    Search,
    Tally,
)
from search.loops.keys import Space, copy_words, hash_of, same_words
from search.loops.native import (
    ONE,
    ZERO,
    Word,
    bit_count,
    call,
    call_void,
    count_up,
    integer,
    loop,
    lowest_bit,
    part,
    peek,
    peek16,
    poke,
)
from search.loops.orbits import Orbits, represent
from search.loops.stubborn import expand_chosen
from search.loops.table import ABSENT, find_or_add_from, first_slot, likely_slot, room
from search.loops.tally import add_rows, bump
from search.loops.tree import room_for_values


@loop
def explore(search: Search, cursor: np.ndarray) -> int:
    """Expand stored states until about cursor[LIMIT] of them are expanded; returns why it came back."""
    while cursor[NEXT] < cursor[LIMIT]:
        if cursor[NEXT] == cursor[LEVEL_END]:
            if cursor[SIZE] == cursor[LEVEL_END]:
                return DONE
            cursor[LEVEL_END] = cursor[SIZE]
            cursor[DEPTH] += 1
        count = _batch_size(search, cursor)
        if count <= 0:
            return FULL
        first = cursor[NEXT]
        if first % STRIDE == 0:
            poke(search.tally.marks, first // STRIDE, np.uint64(cursor[SIZE]))
        status = expand_states(search, cursor, count)
        count_rows(search, cursor[NEXT] - first)
        fold_successors(search, cursor[NEXT] - first)  # there is room: _batch_size has seen to it
        look_ahead(search, cursor[NEXT] - first)
        cursor[SIZE] = look_up(search, (first, cursor[NEXT] - first), cursor[SIZE])
        if status != GOING:
            return status
    return GOING


@part
def _batch_size(search: Search, cursor: np.ndarray) -> int:
    """How many states to expand at once: of one level, of one block, and with room for all successors."""
    first = cursor[NEXT]
    count = min(BATCH, STRIDE - first % STRIDE, cursor[LEVEL_END] - first)
    tree, instances = search.tree, search.machine.instances
    if tree.words != 0:
        count = min(count, room_for_values(tree) // instances)
    return min(count, room(search.space, cursor[SIZE]) // instances)


@part
def expand_states(search: Search, cursor: np.ndarray, count: int) -> int:
    """Write the successors of the next `count` states into the batch, and check those states."""
    machine, batch, total = search.machine, search.batch, integer(0)
    for k in range(count):
        state, row = take_state(search, cursor[NEXT], k), batch.enabled + 8 * machine.row_words * k
        successors, instances = batch.rows + 8 * machine.words * total, batch.instances + 2 * total
        places = (state, row, successors, instances, search.tally.hits)
        if machine.stubborn.cases == 0:
            made = call(machine.expand, places)
        else:
            made, slept = expand_chosen(machine.stubborn, machine.expand, places, batch.choice)
            cursor[ASLEEP] += slept
        if made < 0:
            cursor[FAILURE] = made
            return FAILED
        poke(batch.ends, k, np.uint64(total + made))
        found = _judge(search, cursor, k, total)
        if machine.orbits != 0:
            represent(Orbits(machine.orbits, machine.words), successors, made)
        hash_successors(search, total, total + made)
        total += made
        cursor[NEXT] += 1
        cursor[GENERATED] += made
        if machine.stop and found:
            return FOUND
    return GOING


@part
def _judge(search: Search, cursor: np.ndarray, k: int, begin: int) -> bool:
    """Count and check the state just expanded, whose successors start at `begin`; whether it violates something."""
    machine, end = search.machine, integer(peek(search.batch.ends, k))
    enabled, quiet = _enabled(search, k)
    cursor[QUIET] += quiet
    if enabled != end - begin:
        _count_blocked(search, k, begin, end)
    found = False
    if enabled == 0:
        cursor[FIRST_DEADLOCK] = cursor[NEXT] if cursor[DEADLOCKS] == 0 else cursor[FIRST_DEADLOCK]
        cursor[DEADLOCKS] += 1
        found = machine.deadlock != 0
    if machine.checks_states:
        found |= _check(search, cursor[NEXT], k, quiet)
    if machine.checks_steps:
        for j in range(begin, end):
            found |= _check_step(search, cursor[NEXT], j)
    return found


@part
def _enabled(search: Search, k: int) -> tuple[int, Word]:
    """How many instances are enabled, and 1 if no system instance is."""
    machine, enabled, system = search.machine, integer(0), ZERO
    row = search.batch.enabled + 8 * machine.row_words * k
    for word in range(machine.row_words):
        enabled += bit_count(peek(row, word))
        system |= peek(row, word) & peek(machine.system_row, word)
    return enabled, integer(system == ZERO)


@part
def _count_blocked(search: Search, k: int, begin: int, end: int) -> None:
    """Count the enabled instances that a bound disabled: those without a successor."""
    row = search.batch.enabled + 8 * search.machine.row_words * k
    for word in range(search.machine.row_words):
        blocked = peek(row, word)
        for j in range(begin, end):
            instance = integer(peek16(search.batch.instances, j))
            if instance // 64 == word:
                blocked &= ~(ONE << np.uint64(instance % 64))
        bump(search.tally.blocked, word, blocked)


@part
def _check(search: Search, index: int, k: int, quiet: int) -> bool:
    """Evaluate the state claims; whether one of those that must hold is false."""
    machine, false, bad = search.machine, search.batch.false, ZERO
    premise = search.batch.premises + 8 * machine.claim_words * k
    call_void(machine.check, (search.batch.state, quiet, false, premise))
    for word in range(machine.claim_words):
        row = peek(false, word) & peek(machine.state_row, word)
        if row != ZERO:
            _note(search.tally, word, row, (index, integer(0)))
            bad |= row & ~peek(machine.reachable_row, word)
    return bad != ZERO


@part
def _check_step(search: Search, index: int, j: int) -> bool:
    """Evaluate the step claims on the step to successor j of the batch; whether one is false."""
    machine, false, bad = search.machine, search.batch.false, ZERO
    premise = search.batch.step_premises + 8 * machine.claim_words * j
    after = search.batch.rows + 8 * machine.words * j
    call_void(machine.check_step, (search.batch.state, after, false, premise))
    for word in range(machine.claim_words):
        row = peek(false, word) & peek(machine.step_row, word)
        if row != ZERO:
            _note(search.tally, word, row, (index, integer(peek16(search.batch.instances, j))))
            bad |= row
    return bad != ZERO


@part
def _note(tally: Tally, word: int, false: Word, where: tuple[int, int]) -> None:
    """Count the claims that are false, and remember where (state and instance) each was so first."""
    bump(tally.seen, word, false)
    while false != ZERO:
        claim = 64 * word + lowest_bit(false)
        if peek(tally.first_state, claim) == ZERO:
            poke(tally.first_state, claim, np.uint64(where[0] + 1))
            poke(tally.first_instance, claim, np.uint64(where[1]))
        false &= false - ONE


@part
def count_rows(search: Search, parents: int) -> None:
    """Add the bit rows of so many states in the batch to the vertical counters."""
    machine, batch, tally = search.machine, search.batch, search.tally
    add_rows(tally.enabled, batch.enabled, parents, machine.row_words)
    if machine.checks_states:
        add_rows(tally.premises, batch.premises, parents, machine.claim_words)
    if machine.checks_steps and parents > 0:
        add_rows(tally.premises, batch.step_premises, integer(peek(batch.ends, parents - 1)), machine.claim_words)


@part
def look_ahead(search: Search, parents: int) -> None:
    """Find where the successors of so many states in the batch are likely to be, and ask for that memory."""
    space, batch = search.space, search.batch
    total = integer(peek(batch.ends, parents - 1)) if parents > 0 else integer(0)
    _hash_keys(space, batch, found_keys(search), total)
    for j in range(total):
        slot = likely_slot(space, peek(batch.hashes, j), integer(peek(batch.slots, j)))
        poke(batch.slots, j, np.uint64(slot))


@part
def _hash_keys(space: Space, batch: Batch, keys: int, total: int) -> None:
    """Hash all successors in the batch, and ask for the places where their probing begins."""
    for j in range(total):
        hashed = hash_of(keys + 8 * space.words * j, space.words)
        poke(batch.hashes, j, hashed)
        poke(batch.slots, j, np.uint64(first_slot(space, hashed)))


@part
def look_up(search: Search, states: tuple[int, int], size: int) -> int:
    """Store those successors in the batch that are new, after `size` states; how many are stored then.

    They are the successors of states[1] states from states[0] on, and have been looked ahead for.
    """
    space, batch, keys, j = search.space, search.batch, found_keys(search), integer(0)
    for k in range(states[1]):
        end = integer(peek(batch.ends, k))
        while j < end:
            start = peek(batch.hashes, j), integer(peek(batch.slots, j))
            index = find_or_add_from(space, keys + 8 * space.words * j, start, size)
            if index == ABSENT:
                size += 1
            elif index == states[0] + k:
                count_up(search.tally.idle, integer(peek16(batch.instances, j)), 1)
            j += 1
    return size


@loop
def find_step(search: Search, block: np.ndarray) -> int:
    """The first of the states block[0] … block[1] - 1 that has state block[2] as a successor; ABSENT if none has.

    block[3] becomes the instance of the step.
    """
    batch, words = search.batch, search.machine.words
    target = batch.state + 8 * words
    copy_words(target, take_state(search, block[2], 0), words)
    for index in range(block[0], block[1]):
        arguments = (take_state(search, index, 0), batch.enabled, batch.rows, batch.instances, search.tally.hits)
        made = call(search.machine.expand, arguments)
        if search.machine.orbits != 0:
            represent(Orbits(search.machine.orbits, words), batch.rows, made)
        for j in range(made):
            if same_words(batch.rows + 8 * words * j, target, words):
                block[3] = integer(peek16(batch.instances, j))
                return index
    return ABSENT
