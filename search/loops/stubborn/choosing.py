"""Choosing the instances that are taken in a state. Words: see `search.loops.stubborn`."""
from __future__ import annotations

import numpy as np

from search.loops.keys import copy_words
from search.loops.native import (
    ONE,
    ZERO,
    call,
    call_void,
    count_up,
    integer,
    loop,
    lowest_bit,
    part,
    peek,
    poke,
    poke16,
)
from search.loops.stubborn.closing import cheapest, close
from search.loops.stubborn.relations import Stubborn
from search.loops.stubborn.room import Room, count_bits, room_at


@part
def expand_chosen(s: Stubborn, expand: int, places: tuple[int, int, int, int, int], work: tuple[int, int]) -> int:
    """As a kernel's `expand` (whose arguments are the places), with the successors of a stubborn set only.

    The work: the address of room for it, and the words of a state.
    """
    (state, row, successors, instances, hits), (at, words) = places, work
    call_void(s.guards, (state, row))
    if not choose(s, state, row, at):
        return call(expand, places)
    made = integer(0)
    taken = room_at(s, at).taken
    for word in range(s.row_words):
        bits = peek(taken, word)
        while bits != ZERO:
            instance = 64 * word + lowest_bit(bits)
            bits &= bits - ONE
            result = call(s.apply, (instance, state, successors + 8 * words * made))
            if result < 0:
                return result
            if result > 0:
                count_up(hits, result - 1, 1)
            else:
                poke16(instances, made, np.uint64(instance))
                made += 1
    return made


@loop
def choose(s: Stubborn, state: int, guards: int, at: int) -> bool:
    """Write the row of instances to take, given the row of guards; False if all of them must be."""
    room = room_at(s, at)
    if _is_final(s, guards):
        return False
    call_void(s.atoms, (state, room.atoms))
    everything = count_bits(room.enabled, s.case_words)
    for word in range(s.case_words):
        poke(room.chosen, word, ZERO)
    for goal in range(s.goals):
        if peek(s.goal_open, goal) != ZERO:
            _seek(s, room, goal)
    copy_words(room.waiting, room.chosen, s.case_words)
    count = close(s, room, everything)
    if s.final_row != 0:
        count = _seek_final(s, room, guards, count)
    if count >= everything:
        return False
    _take(s, room, guards)
    return True


@part
def _is_final(s: Stubborn, guards: int) -> bool:
    if s.final_row == 0:
        return False
    on = ZERO
    for word in range(s.row_words):
        on |= peek(guards, word) & peek(s.final_row, word)
    return on == ZERO


@part
def _seek(s: Stubborn, room: Room, goal: int) -> None:
    """Add what a goal asks for."""
    more, _ = cheapest(s, room, s.goal_needs + 8 * s.atom_words * goal)
    if more == 0:
        more = s.goal_takes + 8 * s.case_words * goal
    for word in range(s.case_words):
        poke(room.chosen, word, peek(room.chosen, word) | peek(more, word))


@part
def _seek_final(s: Stubborn, room: Room, guards: int, base: int) -> int:
    """Add what stops one of the instances that keep this state from being final: the one that costs least."""
    words, best = s.case_words, integer(1) << 60
    copy_words(room.base, room.chosen, words)
    for place in range(s.row_words):
        bits = peek(guards, place) & peek(s.final_row, place)
        while bits != ZERO and best > base:
            stoppers = s.stoppers + 8 * words * (64 * place + lowest_bit(bits))
            bits &= bits - ONE
            for word in range(words):
                poke(room.waiting, word, peek(stoppers, word) & ~peek(room.base, word))
                poke(room.chosen, word, peek(stoppers, word) | peek(room.base, word))
            count = base + close(s, room, best - base)
            if count < best:
                best = count
                copy_words(room.best, room.chosen, words)
    copy_words(room.chosen, room.best, words)
    return best


@part
def _take(s: Stubborn, room: Room, guards: int) -> None:
    """Write the row of instances to take: those of chosen cases, and those that a bound or an error blocks."""
    for word in range(s.row_words):
        poke(room.taken, word, peek(guards, word))
    for word in range(s.case_words):
        left = peek(room.enabled, word) & ~peek(room.chosen, word)
        while left != ZERO:
            instance = integer(peek(s.instances, 64 * word + lowest_bit(left)))
            left &= left - ONE
            gone = ONE << np.uint64(instance % 64)
            poke(room.taken, instance // 64, peek(room.taken, instance // 64) & ~gone)
