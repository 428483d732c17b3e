"""Sleep sets: instances that need not be taken in a state, since what they lead to is found another way as soon.

Words: when a state is expanded, its instances are taken in their order. One that was taken, or was asleep, is *asleep*
after a later one if both orders of the two are possible there and lead to the same state. The *sleep set* of a state is
what is asleep after each of the steps by which it was discovered from the depth before; all others are *awake*.

Sleep sets are kept in two tables, for the present depth and the next one. An *entry* is the hash of a state and the bit
row of who is awake; it is free if the hash is 0. A state without an entry has nobody asleep. Workers only ever set
bits, so it makes no difference who comes first.

Source: P. Godefroid, "Partial-order methods for the verification of concurrent systems", LNCS 1032 (1996), which takes
them from a depth-first search; docs/explanation/reduction.md says why this is right breadth first.
"""
from __future__ import annotations

import numpy as np

from search.loops.keys import hash_of, same_words
from search.loops.native import (
    ONE,
    ZERO,
    Word,
    call,
    call_void,
    get,
    integer,
    lowest_bit,
    part,
    peek,
    peek16,
    poke,
    poke16,
    scale,
)
from search.loops.sharing import add_shared, or_shared, peek_shared, replace
from search.loops.stubborn.relations import Stubborn
from search.loops.stubborn.room import Room, add, has

NOW, NOW_SIZE, NEXT, NEXT_SIZE, COUNT, LIMIT = range(6)
"""The words of the board: the address and the entries of either table, how many of the next one's are used, and how
many may be. Beyond that no more are written, and the table is void."""
BOARD_SIZE = 6


@part
def wake(s: Stubborn, room: Room, state: int) -> None:
    """Write the row of instances that are asleep in a state."""
    hashed = _hash(s, state)
    entry = _entry(s, (get(s.board, NOW), get(s.board, NOW_SIZE)), hashed)
    known = peek(entry, 0) == hashed
    for word in range(s.row_words):
        poke(room.asleep, word, ~peek(entry, word + 1) if known else ZERO)


@part
def lay_down(s: Stubborn, room: Room, places: tuple[int, int, int], made: int) -> None:
    """Write who is awake in the successors of a state, of which there are so many.

    The places: the state, its successors, their instances (uint16), with room behind them for those asleep.
    """
    _, successors, instances = places
    everybody = _add_sleepers(s, room, places, made)
    if everybody > 1:
        for i in range(everybody):
            call_void(s.guards, (successors + 8 * s.words * i, _guards(s, room, i)))
    for j in range(made):
        for word in range(s.row_words):
            poke(room.dozing, word, ZERO)
        for i in range(everybody):
            if i < j or i >= made:
                _doze(s, room, (successors, instances), (i, j))
        _write(s, room, successors + 8 * s.words * j)


@part
def _add_sleepers(s: Stubborn, room: Room, places: tuple[int, int, int], count: int) -> int:
    """Write the successors by instances that are asleep, behind the others; how many there are of both."""
    state, successors, instances = places
    for word in range(s.row_words):
        bits = peek(room.asleep, word)
        while bits != ZERO:
            instance = 64 * word + lowest_bit(bits)
            bits &= bits - ONE
            if call(s.apply, (instance, state, successors + 8 * s.words * count)) == 0:
                poke16(instances, count, np.uint64(instance))
                count += 1
    return count


@part
def _guards(s: Stubborn, room: Room, number: int) -> int:
    """The row of guards in one of the successors."""
    return room.guards + 8 * s.row_words * number


@part
def _doze(s: Stubborn, room: Room, places: tuple[int, int], pair: tuple[int, int]) -> None:
    """Let instance i be asleep after instance j if both orders are possible, and lead to the same state."""
    (successors, instances), (i, j) = places, pair
    first, second = integer(peek16(instances, i)), integer(peek16(instances, j))
    if has(_guards(s, room, j), first) and has(_guards(s, room, i), second):
        here, there = room.spare, room.spare + 8 * s.words
        blocked = call(s.apply, (first, successors + 8 * s.words * j, here))
        blocked |= call(s.apply, (second, successors + 8 * s.words * i, there))
        if blocked == 0 and same_words(here, there, s.words):
            add(room.dozing, first)


@part
def _write(s: Stubborn, room: Room, state: int) -> None:
    """Let all be awake in a state of the next depth who do not doze now."""
    if get(s.board, COUNT) > get(s.board, LIMIT):
        return
    hashed, table = _hash(s, state), (get(s.board, NEXT), get(s.board, NEXT_SIZE))
    entry = _entry(s, table, hashed)
    while not _is_mine(s, entry, hashed):
        entry = _entry(s, table, hashed)
    for word in range(s.row_words):
        or_shared(entry, word + 1, ~peek(room.dozing, word))


@part
def _hash(s: Stubborn, state: int) -> Word:
    """The hash of a state; never 0."""
    return max(ONE, hash_of(state, s.words))


@part
def _entry(s: Stubborn, table: tuple[int, int], hashed: Word) -> int:
    """The address of the entry of a hash, or else of the free one that could be it."""
    begin, size = table
    step, place = 8 * (s.row_words + 1), integer(scale(hashed, np.uint64(size)))
    found = peek_shared(begin + step * place, 0)  # read once: others write
    while found != hashed and found != ZERO:
        place = place + 1 if place + 1 < size else integer(0)
        found = peek_shared(begin + step * place, 0)
    return begin + step * place


@part
def _is_mine(s: Stubborn, entry: int, hashed: Word) -> bool:
    """Whether an entry is that of a hash, or becomes it by this."""
    if peek_shared(entry, 0) == ZERO and replace(entry, 0, ZERO, hashed):
        add_shared(s.board, COUNT, integer(1))
    return peek_shared(entry, 0) == hashed
