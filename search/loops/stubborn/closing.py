"""Closing a set of cases, at the least cost. Words: see `search.loops.stubborn`."""
from __future__ import annotations

import numpy as np

from search.loops.native import ONE, ZERO, bit_count, integer, loop, lowest_bit, part, peek, poke
from search.loops.stubborn.relations import Stubborn
from search.loops.stubborn.room import Room, has

ENABLED_COSTS = 8
"""How much dearer a case that is awake is, when the cheapest false atom is looked for."""


@loop
def close(s: Stubborn, room: Room, limit: int) -> int:
    """Close the chosen cases, of which some wait; how many of these are awake. It gives up where that is `limit`."""
    count = integer(0)
    while count < limit:
        case = _next(s, room)
        if case < 0:
            break
        if has(room.enabled, case):
            count += integer(has(room.awake, case))
            _add_clashing(s, room, case)
        else:
            more, _ = cheapest(s, room, s.needs + 8 * s.atom_words * case)
            _add(s, room, more)
    return count


@part
def _add(s: Stubborn, room: Room, more: int) -> None:
    """Choose a row of cases."""
    for word in range(s.case_words):
        fresh = peek(more, word) & ~peek(room.chosen, word)
        if fresh != ZERO:
            poke(room.chosen, word, peek(room.chosen, word) | fresh)
            poke(room.waiting, word, peek(room.waiting, word) | fresh)


@part
def _add_clashing(s: Stubborn, room: Room, case: int) -> None:
    """Choose what clashes with an enabled case, or what could make it clash."""
    clashes, sometimes = s.clashes + 8 * s.case_words * case, s.sometimes + 8 * s.case_words * case
    for word in range(s.case_words):
        fresh = peek(clashes, word) & ~peek(sometimes, word) & ~peek(room.chosen, word)
        poke(room.chosen, word, peek(room.chosen, word) | fresh)
        poke(room.waiting, word, peek(room.waiting, word) | fresh)
    for word in range(s.case_words):
        fresh = peek(sometimes, word) & ~peek(room.chosen, word)
        while fresh != ZERO:
            other = 64 * word + lowest_bit(fresh)
            fresh &= fresh - ONE
            _add_or_keep_apart(s, room, case, other)


@part
def _add_or_keep_apart(s: Stubborn, room: Room, case: int, other: int) -> None:
    """Choose the other of two cases that clash sometimes; or, if they do not now, what could change that."""
    pair = integer(peek(s.pair_numbers, case * s.cases + other))
    needs, bit = s.pair_needs + 8 * s.atom_words * pair, ONE << np.uint64(other % 64)
    clashes = False
    for word in range(s.atom_words):
        clashes |= peek(needs, word) & peek(room.atoms, word) != ZERO
    if not clashes:
        causes = s.pair_causes + 8 * s.case_words * pair
        least = integer(1 + ENABLED_COSTS)
        if not has(room.enabled, other):
            _, least = cheapest(s, room, s.needs + 8 * s.atom_words * other)
        clashes = least < _cost(s, room, causes)
        if not clashes:
            _add(s, room, causes)
    if clashes and not has(room.chosen, other):
        poke(room.chosen, other // 64, peek(room.chosen, other // 64) | bit)
        poke(room.waiting, other // 64, peek(room.waiting, other // 64) | bit)


@part
def _next(s: Stubborn, room: Room) -> int:
    """Take a waiting case, an enabled one if there is one; -1 if none waits."""
    found = integer(-1)
    for word in range(s.case_words):
        bits = peek(room.waiting, word)
        if bits != ZERO and bits & peek(room.enabled, word) != ZERO:
            bits &= peek(room.enabled, word)
            found = 64 * word + lowest_bit(bits)
            break
        if bits != ZERO and found < 0:
            found = 64 * word + lowest_bit(bits)
    if found >= 0:
        gone = ONE << np.uint64(found % 64)
        poke(room.waiting, found // 64, peek(room.waiting, found // 64) & ~gone)
    return found


@part
def cheapest(s: Stubborn, room: Room, needs: int) -> tuple[int, int]:
    """The row of what causes that false atom among some which adds least to the chosen cases; 0 if none is false.

    And what it costs.
    """
    found, least = integer(0), integer(1) << 60
    for word in range(s.atom_words):
        false = peek(needs, word) & ~peek(room.atoms, word)
        while false != ZERO and least > 0:
            atom = 64 * word + lowest_bit(false)
            false &= false - ONE
            row = s.causes + 8 * s.case_words * atom
            cost = _cost(s, room, row)
            if cost < least:
                found, least = row, cost
    return found, least


@part
def _cost(s: Stubborn, room: Room, row: int) -> int:
    cost = integer(0)
    for word in range(s.case_words):
        more = peek(row, word) & ~peek(room.chosen, word)
        if more != ZERO:
            cost += bit_count(more) + ENABLED_COSTS * bit_count(more & peek(room.awake, word))
    return cost
