"""Which enabled instances a reduced search takes in a state: those of a stubborn set, worked out anew in every state.

Words: *cases*, *atoms* and what they have to do with each other are explained in `search.reduction`. A set of cases is
*closed* if it has, with each enabled case, all that *clash* with it, and with each disabled one, all that *cause* one
of its false atoms. A *goal* is a kind of state that must be found; it has atoms too, and a closed set must have all
that cause one false atom of each open goal. A state is *final* if no instance of a certain row has its guard true;
elsewhere a closed set must also have all that *stop* one of these.
"""
from __future__ import annotations

from typing import NamedTuple

import numpy as np

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

ENABLED_COSTS = 8
"""How much dearer a case that is enabled is, when the cheapest false atom is looked for."""


class Stubborn(NamedTuple):
    """The relations between cases as bit rows, by address; no cases: nothing is reduced."""

    cases: int
    case_words: int
    atom_words: int
    row_words: int
    """Words in a row of instances."""
    guards: int
    apply: int
    atoms: int
    """The function `atoms(state, row)`: writes the row of true atoms, and behind it the row of enabled cases."""
    instances: int
    """int64 per case: its instance."""
    needs: int
    """Per case: the row of its atoms."""
    clashes: int
    """Per case: the row of cases that clash with it."""
    sometimes: int
    """Per case: the row of those of them that clash with it in some states only."""
    pair_numbers: int
    """int64 per case and case: the number of a pair that clashes sometimes, else -1."""
    pair_needs: int
    """Per such pair: the row of atoms of which one is true wherever the two clash."""
    pair_causes: int
    """Per such pair: the row of cases that can make one of these true."""
    causes: int
    """Per atom: the row of cases that can make it true."""
    stoppers: int
    """Per instance: the row of cases that can make its guard false."""
    goals: int
    """How many goals there are."""
    goal_needs: int
    """Per goal: the row of its atoms."""
    goal_takes: int
    """Per goal: the row of cases to take where all of its atoms are true."""
    goal_open: int
    """int64 per goal: whether it still counts."""
    final_row: int
    """The row of instances that are all disabled in a final state; 0 if final states need not be found."""


NOTHING = Stubborn(*[0] * len(Stubborn._fields))
"""Nothing is reduced."""


def room_words(case_words: int, atom_words: int, row_words: int) -> int:
    """How many words of room `choose` needs."""
    return atom_words + 5 * case_words + row_words


class _Room(NamedTuple):
    """Where a choice is worked out: addresses of rows."""

    atoms: int
    enabled: int
    base: int
    chosen: int
    waiting: int
    best: int
    taken: int
    """Row of instances."""


@part
def _room(s: Stubborn, at: int) -> _Room:
    enabled, step = at + 8 * s.atom_words, 8 * s.case_words
    return _Room(
        at, enabled, enabled + step, enabled + 2 * step, enabled + 3 * step, enabled + 4 * step, enabled + 5 * step
    )  # fmt: skip


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
    taken = _room(s, at).taken
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
    room = _room(s, at)
    if _is_final(s, guards):
        return False
    call_void(s.atoms, (state, room.atoms))
    everything = _count(room.enabled, s.case_words)
    for word in range(s.case_words):
        poke(room.chosen, word, ZERO)
    for goal in range(s.goals):
        if peek(s.goal_open, goal) != ZERO:
            _seek(s, room, goal)
    _copy(room.waiting, room.chosen, s.case_words)
    count = _close(s, room, everything)
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
def _count(row: int, words: int) -> int:
    total = integer(0)
    for word in range(words):
        total += bit_count(peek(row, word))
    return total


@part
def _copy(target: int, source: int, words: int) -> None:
    for word in range(words):
        poke(target, word, peek(source, word))


@part
def _has(row: int, number: int) -> bool:
    return (peek(row, number // 64) >> np.uint64(number % 64)) & ONE != ZERO


@part
def _seek(s: Stubborn, room: _Room, goal: int) -> None:
    """Add what a goal asks for."""
    more, _ = _cheapest(s, room, s.goal_needs + 8 * s.atom_words * goal)
    if more == 0:
        more = s.goal_takes + 8 * s.case_words * goal
    for word in range(s.case_words):
        poke(room.chosen, word, peek(room.chosen, word) | peek(more, word))


@part
def _cheapest(s: Stubborn, room: _Room, needs: int) -> tuple[int, int]:
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
def _cost(s: Stubborn, room: _Room, row: int) -> int:
    cost = integer(0)
    for word in range(s.case_words):
        more = peek(row, word) & ~peek(room.chosen, word)
        if more != ZERO:
            cost += bit_count(more) + ENABLED_COSTS * bit_count(more & peek(room.enabled, word))
    return cost


@loop
def _close(s: Stubborn, room: _Room, limit: int) -> int:
    """Close the chosen cases, of which some wait; how many of these were enabled. It gives up where that is `limit`."""
    count = integer(0)
    while count < limit:
        case = _next(s, room)
        if case < 0:
            break
        if _has(room.enabled, case):
            count += 1
            _add_clashing(s, room, case)
        else:
            more, _ = _cheapest(s, room, s.needs + 8 * s.atom_words * case)
            _add(s, room, more)
    return count


@part
def _add(s: Stubborn, room: _Room, more: int) -> None:
    """Choose a row of cases."""
    for word in range(s.case_words):
        fresh = peek(more, word) & ~peek(room.chosen, word)
        if fresh != ZERO:
            poke(room.chosen, word, peek(room.chosen, word) | fresh)
            poke(room.waiting, word, peek(room.waiting, word) | fresh)


@part
def _add_clashing(s: Stubborn, room: _Room, case: int) -> None:
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
def _add_or_keep_apart(s: Stubborn, room: _Room, case: int, other: int) -> None:
    """Choose the other of two cases that clash sometimes; or, if they do not now, what could change that."""
    pair = integer(peek(s.pair_numbers, case * s.cases + other))
    needs, bit = s.pair_needs + 8 * s.atom_words * pair, ONE << np.uint64(other % 64)
    clashes = False
    for word in range(s.atom_words):
        clashes |= peek(needs, word) & peek(room.atoms, word) != ZERO
    if not clashes:
        causes = s.pair_causes + 8 * s.case_words * pair
        least = integer(1 + ENABLED_COSTS)
        if not _has(room.enabled, other):
            _, least = _cheapest(s, room, s.needs + 8 * s.atom_words * other)
        clashes = least < _cost(s, room, causes)
        if not clashes:
            _add(s, room, causes)
    if clashes and not _has(room.chosen, other):
        poke(room.chosen, other // 64, peek(room.chosen, other // 64) | bit)
        poke(room.waiting, other // 64, peek(room.waiting, other // 64) | bit)


@part
def _next(s: Stubborn, room: _Room) -> int:
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
def _seek_final(s: Stubborn, room: _Room, guards: int, base: int) -> int:
    """Add what stops one of the instances that keep this state from being final: the one that costs least."""
    words, best = s.case_words, integer(1) << 60
    _copy(room.base, room.chosen, words)
    for place in range(s.row_words):
        bits = peek(guards, place) & peek(s.final_row, place)
        while bits != ZERO and best > base:
            stoppers = s.stoppers + 8 * words * (64 * place + lowest_bit(bits))
            bits &= bits - ONE
            for word in range(words):
                poke(room.waiting, word, peek(stoppers, word) & ~peek(room.base, word))
                poke(room.chosen, word, peek(stoppers, word) | peek(room.base, word))
            count = base + _close(s, room, best - base)
            if count < best:
                best = count
                _copy(room.best, room.chosen, words)
    _copy(room.chosen, room.best, words)
    return best


@part
def _take(s: Stubborn, room: _Room, guards: int) -> None:
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

