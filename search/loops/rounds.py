"""Breadth-first search by several workers, in rounds that give the very numbering that one worker gives.

Words: a *round* takes states of one level, cut into *chunks*. First, chunks are expanded, and their successors looked
up: those that are not stored are *newcomers* (see `newcomers`). When all are, the newcomers of each chunk are numbered
and stored. Workers take chunks by *ticket*; which worker does what makes no difference. Between the two parts of a
round, and between rounds, workers meet. They come back together: when the limit is reached, or a round cannot be done.
"""
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from search.loops.breadth import count_rows, expand_states, hash_keys
from search.loops.folding import fold_successors, found_keys
from search.loops.frontier import BATCH, DEPTH, DONE, FULL, GOING, LEVEL_END, LIMIT, NEXT, SIZE, STRIDE, Batch, Search
from search.loops.keys import Space, copy_words
from search.loops.native import ZERO, count_up, get, integer, loop, part, peek, peek16, poke, put
from search.loops.newcomers import (
    CLAIMED,
    OUSTED,
    TAKEN_OVER,
    Newcomers,
    count_claim,
    find_or_claim,
    has_room_in_all,
    likely_claim,
    prefetch_claim,
    settle,
    withdraw,
)
from search.loops.sharing import add_shared, meet, peek_shared, poke_shared, take_ticket
from search.loops.table import REGIONS

CHUNK = 256
"""States in a chunk."""
LEAST_ROUND = 2048
"""States in a round that is worth sharing."""
TIGHT = 5
"""Why workers came back, beside the reasons in `frontier`: the table should grow before the next round."""

STATES, ORDER, FAULT, BEFORE_STATES, BEFORE_FRESH, CRAMPED, EXPANDING, STORING = 0, 1, 2, 3, 4, 5, 8, 16
"""The words of the board: the states of the present round, whether to do it (GOING, DONE or TIGHT), why it must be
undone (else GOING), the states and the new ones of the round before, whether the table cannot grow, and the tickets of
the two parts, away from what is read all the time. An order is changed only when nobody may be about to read it."""
BOARD_SIZE = 24


class Rounds(NamedTuple):
    """What workers share: sizes, and the addresses of arrays. Chunk c has the positions from c * widest on."""

    workers: int
    give_way: int
    """The address of what lets other threads run."""
    most: int
    """The most states that a round can have."""
    widest: int
    """The most successors that a chunk can have."""
    cursor: int
    """The cursor of the search, which worker 0 moves."""
    board: int
    barrier: int
    keys: int
    slots: int
    """Those of newcomers, by position."""
    ends: int
    """int64 per state: how many newcomers there are in its chunk up to and with its own."""
    found: int
    """int64 per chunk: how many newcomers it has."""
    ousted: int
    """int64 per chunk: how many of these were ousted."""
    filled: int
    """int64 per region: how many entries it had before the round."""
    marks: int
    """The marks of the search (see `frontier`)."""


class Hand(NamedTuple):
    """What one worker has for itself: its number, and the addresses of arrays."""

    number: int
    claims: int
    """int64 per region: claims that the others have not been told of."""
    counts: int
    """Its counts, so many words, and room for a copy of what they were before the round."""
    words: int
    kept: int


@part
def chunks_of(rounds: Rounds) -> int:
    """How many chunks the present round has."""
    return -(-get(rounds.board, STATES) // CHUNK)


@loop
def take_part(search: Search, rounds: Rounds, hand: Hand, cursor: np.ndarray) -> int:
    """Do rounds with the other workers; the order or the fault for which all of them come back."""
    while True:
        if hand.number == 0:
            _begin(search.space, rounds)
        if not meet(rounds.barrier, rounds.workers, rounds.give_way):
            return DONE
        order = get(rounds.board, ORDER)
        if order != GOING:
            return order
        copy_words(hand.kept, hand.counts, hand.words)
        _expand_chunks(search, rounds, hand, cursor)
        meet(rounds.barrier, rounds.workers, rounds.give_way)
        fault = _fault(search.space, rounds)
        if fault != GOING:
            return fault
        _tell_claims(search.space, hand)
        _store_chunks(search.space, rounds)
        meet(rounds.barrier, rounds.workers, rounds.give_way)
        if hand.number == 0:
            _end(rounds)


@part
def _begin(space: Space, rounds: Rounds) -> None:
    """Begin the next round, or say on the board why there is none."""
    cursor, board = rounds.cursor, rounds.board
    over = get(cursor, NEXT) == get(cursor, LEVEL_END)
    end = get(cursor, SIZE) if over else get(cursor, LEVEL_END)
    left = end - get(cursor, NEXT)
    if left < LEAST_ROUND or get(cursor, NEXT) >= get(cursor, LIMIT):
        put(board, ORDER, DONE)
        return
    states = -(-left // -(-left // rounds.most))
    if _is_tight(space, rounds, states):
        put(board, ORDER, TIGHT)
        return
    if over:
        put(cursor, LEVEL_END, end)
        put(cursor, DEPTH, get(cursor, DEPTH) + 1)
    put(board, STATES, states)
    put(board, ORDER, GOING)
    put(board, FAULT, GOING)
    put(board, EXPANDING, 0)
    put(board, STORING, 0)
    for chunk in range(-(-states // CHUNK)):
        poke(rounds.found, chunk, ZERO)
        poke(rounds.ousted, chunk, ZERO)
    copy_words(rounds.filled, space.filled, REGIONS)


@part
def _is_tight(space: Space, rounds: Rounds, states: int) -> bool:
    """Whether the table is likely to be too small for a round: a round in vain costs more than one that waits."""
    board = rounds.board
    fresh = states * get(board, BEFORE_FRESH) // max(1, get(board, BEFORE_STATES))
    wanted = get(rounds.cursor, SIZE) + fresh + fresh // 8
    likely = get(board, CRAMPED) == 0 and wanted > space.region_limit * REGIONS // 64 * 62
    return likely or not has_room_in_all(space, REGIONS, rounds.workers)


@part
def _expand_chunks(search: Search, rounds: Rounds, hand: Hand, cursor: np.ndarray) -> None:
    """Expand chunks of the round, until there are no more or one of them spoils the round."""
    chunks = chunks_of(rounds)
    while peek_shared(rounds.board, FAULT) == ZERO:
        chunk = take_ticket(rounds.board + 8 * EXPANDING)
        if chunk >= chunks:
            return
        status = _expand_chunk(search, rounds, hand, (cursor, chunk))
        if status != GOING:
            poke_shared(rounds.board, FAULT, np.uint64(status))


@part
def _expand_chunk(search: Search, rounds: Rounds, hand: Hand, place: tuple[np.ndarray, int]) -> int:
    """Expand the states of a chunk and look up their successors; GOING if all went well."""
    cursor, chunk = place
    last = min(CHUNK * (chunk + 1), get(rounds.board, STATES))
    for state in range(CHUNK * chunk, last, BATCH):
        count = min(BATCH, last - state)
        cursor[NEXT] = get(rounds.cursor, NEXT) + state
        status = expand_states(search, cursor, count)
        if status != GOING:
            return status
        count_rows(search, count)
        if not fold_successors(search, count) or not _look_up(search, rounds, hand, (chunk, state, count)):
            return FULL
    return GOING


@part
def _look_up(search: Search, rounds: Rounds, hand: Hand, batch_place: tuple[int, int, int]) -> bool:
    """Look up the successors of some states of a chunk; False if the table may be full."""
    space, batch, keys, j = search.space, search.batch, found_keys(search), integer(0)
    chunk, state, count = batch_place
    first, found, good = get(rounds.cursor, NEXT) + state, get(rounds.found, chunk), True
    newcomers = _newcomers(rounds)
    _prefetch(space, newcomers, batch, keys, integer(peek(batch.ends, count - 1)))
    for k in range(count):
        end = integer(peek(batch.ends, k))
        while j < end:
            hashed = peek(batch.hashes, j)
            place = keys + 8 * space.words * j, chunk * rounds.widest + found
            index = find_or_claim(space, newcomers, place, (hashed, integer(peek(batch.slots, j))))
            if index == first + k:
                count_up(search.tally.idle, integer(peek16(batch.instances, j)), 1)
            elif index == CLAIMED:
                found += 1
                good &= count_claim(space, hashed, hand.claims, rounds.workers)
            elif index == TAKEN_OVER:
                found += 1
            j += 1
        put(rounds.ends, state + k, found)
    put(rounds.found, chunk, found)
    return good


@part
def _prefetch(space: Space, newcomers: Newcomers, batch: Batch, keys: int, total: int) -> None:
    """Ask for the memory that the look-up of so many successors will need."""
    hash_keys(space, batch, keys, total)
    for j in range(total):
        slot = likely_claim(space, newcomers, peek(batch.hashes, j), integer(peek(batch.slots, j)))
        poke(batch.slots, j, np.uint64(slot))


@part
def _newcomers(rounds: Rounds) -> Newcomers:
    return Newcomers(get(rounds.cursor, SIZE), rounds.widest, rounds.keys, rounds.slots, rounds.ousted)


@part
def _fault(space: Space, rounds: Rounds) -> int:
    """Why the round must be undone, GOING if it need not. All workers find the same."""
    fresh = _fresh_before(rounds, chunks_of(rounds))
    if get(rounds.board, FAULT) == GOING and get(rounds.cursor, SIZE) + fresh > space.capacity:
        put(rounds.board, FAULT, FULL)
    return get(rounds.board, FAULT)


@part
def _fresh_before(rounds: Rounds, chunk: int) -> int:
    """How many new states the chunks before this one have."""
    before = integer(0)
    for earlier in range(chunk):
        before += get(rounds.found, earlier) - get(rounds.ousted, earlier)
    return before


@part
def _tell_claims(space: Space, hand: Hand) -> None:
    """Add a worker's last claims to the common counts."""
    for region in range(REGIONS):
        count = get(hand.claims, region)
        if count != 0:
            add_shared(space.filled, region, count)
            poke(hand.claims, region, ZERO)


@part
def _store_chunks(space: Space, rounds: Rounds) -> None:
    """Number and store the newcomers of chunks of the round, and set the marks of their blocks."""
    chunks = chunks_of(rounds)
    while True:
        chunk = take_ticket(rounds.board + 8 * STORING)
        if chunk >= chunks:
            return
        _store(space, rounds, chunk, get(rounds.cursor, SIZE) + _fresh_before(rounds, chunk))


@part
def _store(space: Space, rounds: Rounds, chunk: int, index: int) -> None:
    position, base, first = chunk * rounds.widest, chunk * rounds.widest, get(rounds.cursor, NEXT)
    for ahead in range(base, base + get(rounds.found, chunk)):
        prefetch_claim(space, peek(rounds.slots, ahead))
    for state in range(CHUNK * chunk, min(CHUNK * (chunk + 1), get(rounds.board, STATES))):
        if (first + state) % STRIDE == 0:
            put(rounds.marks, (first + state) // STRIDE, index)
        end = base + get(rounds.ends, state)
        while position < end:
            slot = peek(rounds.slots, position)
            if slot != OUSTED:
                settle(space, integer(slot), index, rounds.keys + 8 * space.words * position)
                index += 1
            position += 1


@part
def _end(rounds: Rounds) -> None:
    """Move the cursor past the round."""
    cursor, board = rounds.cursor, rounds.board
    states, fresh = get(board, STATES), _fresh_before(rounds, chunks_of(rounds))
    put(cursor, NEXT, get(cursor, NEXT) + states)
    put(cursor, SIZE, get(cursor, SIZE) + fresh)
    put(board, BEFORE_STATES, states)
    put(board, BEFORE_FRESH, fresh)


@loop
def undo(space: Space, rounds: Rounds) -> None:
    """Withdraw all claims of the present round."""
    for chunk in range(chunks_of(rounds)):
        for position in range(chunk * rounds.widest, chunk * rounds.widest + get(rounds.found, chunk)):
            slot = peek(rounds.slots, position)
            if slot != OUSTED:
                withdraw(space, integer(slot))
    copy_words(space.filled, rounds.filled, REGIONS)
