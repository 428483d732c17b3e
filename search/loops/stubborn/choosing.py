"""Choosing the instances that are taken in a state. Words: see `search.loops.stubborn`."""
from __future__ import annotations

import numpy as np

from search.loops.keys import copy_words
from search.loops.native import (
    ONE,
    ZERO,
    bit_count,
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
from search.loops.stubborn.room import Room, count_bits, drop, has, room_at
from search.loops.stubborn.sleeping import lay_down, wake


@part
def expand_chosen(s: Stubborn, expand: int, places: tuple[int, int, int, int, int], at: int) -> tuple[int, int]:
    """As a kernel's `expand` (whose arguments are the places), with those successors only that are to be taken.

    And how many were chosen, and are asleep. `at` is the address of room for the work.
    """
    (state, row, successors, instances, _), room = places, room_at(s, at)
    call_void(s.guards, (state, row))
    wake(s, room, state)
    if choose(s, state, row, at):
        made = _expand_taken(s, room.taken, places)
    else:
        made = call(expand, places)
    if made > 0:
        lay_down(s, room, (state, successors, instances), made)
    return made, _count_asleep(s, room)


@part
def _expand_taken(s: Stubborn, taken: int, places: tuple[int, int, int, int, int]) -> int:
    """As `expand`, with the successors by a row of instances."""
    (state, _, successors, instances, hits), made = places, integer(0)
    for word in range(s.row_words):
        bits = peek(taken, word)
        while bits != ZERO:
            instance = 64 * word + lowest_bit(bits)
            bits &= bits - ONE
            result = call(s.apply, (instance, state, successors + 8 * s.words * made))
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
    """Write the row of instances to take, given those of guards and of sleepers; False if all that are enabled are."""
    room = room_at(s, at)
    call_void(s.atoms, (state, room.atoms))
    everything = _find_awake(s, room)
    if _is_final(s, guards) or _close_all(s, room, guards, everything) >= everything:
        copy_words(room.chosen, room.enabled, s.case_words)
    return _take(s, room, guards)


@part
def _find_awake(s: Stubborn, room: Room) -> int:
    """Write the row of enabled cases that are awake; how many there are."""
    sleepers = ZERO
    for word in range(s.row_words):
        sleepers |= peek(room.asleep, word)
    copy_words(room.awake, room.enabled, s.case_words)
    if sleepers != ZERO:
        _wake_for_goals(s, room)
        for word in range(s.case_words):
            left = peek(room.enabled, word)
            while left != ZERO:
                case = 64 * word + lowest_bit(left)
                left &= left - ONE
                if has(room.asleep, integer(peek(s.instances, case))):
                    drop(room.awake, case)
    return count_bits(room.awake, s.case_words)


@part
def _wake_for_goals(s: Stubborn, room: Room) -> None:
    """Let nobody be asleep whose step an open goal asks for in this state: another order makes it another step."""
    for goal in range(s.goals):
        if peek(s.goal_open, goal) != ZERO and _is_met(s, room, goal):
            takes = s.goal_takes + 8 * s.case_words * goal
            for word in range(s.case_words):
                left = peek(takes, word)
                while left != ZERO:
                    drop(room.asleep, integer(peek(s.instances, 64 * word + lowest_bit(left))))
                    left &= left - ONE


@part
def _is_met(s: Stubborn, room: Room, goal: int) -> bool:
    """Whether a state has all that a goal asks for."""
    false = ZERO
    for word in range(s.atom_words):
        false |= peek(s.goal_needs + 8 * s.atom_words * goal, word) & ~peek(room.atoms, word)
    return false == ZERO


@part
def _close_all(s: Stubborn, room: Room, guards: int, everything: int) -> int:
    """Choose a closed set for all goals; how many of its cases are awake."""
    for word in range(s.case_words):
        poke(room.chosen, word, ZERO)
    for goal in range(s.goals):
        if peek(s.goal_open, goal) != ZERO:
            _seek(s, room, goal)
    copy_words(room.waiting, room.chosen, s.case_words)
    count = close(s, room, everything)
    return count if s.final_row == 0 else _seek_final(s, room, guards, count)


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
def _take(s: Stubborn, room: Room, guards: int) -> bool:
    """Write the row of instances to take: those of chosen cases that are awake, and those that a bound or error blocks.

    False if these are all.
    """
    copy_words(room.taken, guards, s.row_words)
    less = False
    for word in range(s.case_words):
        left = peek(room.enabled, word) & ~(peek(room.chosen, word) & peek(room.awake, word))
        less |= left != ZERO
        while left != ZERO:
            drop(room.taken, integer(peek(s.instances, 64 * word + lowest_bit(left))))
            left &= left - ONE
    return less


@part
def _count_asleep(s: Stubborn, room: Room) -> int:
    """How many of the chosen cases are asleep."""
    count = integer(0)
    for word in range(s.case_words):
        count += bit_count(peek(room.chosen, word) & peek(room.enabled, word) & ~peek(room.awake, word))
    return count
