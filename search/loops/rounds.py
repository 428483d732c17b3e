"""Breadth-first search by several workers, which gives the very numbering that one worker gives.

Words: a *round* is what is left of a level, cut into *blocks* of STRIDE states. Workers take blocks by *ticket*, expand
them, and find where their successors are likely to be. These are looked up and stored in the block's *turn*, when those
of all blocks before it have been; so they are numbered as one worker would, who does the same without waiting. A block
that must wait is laid by, and its worker takes another one; what was counted before each is kept. All workers meet
before a round and after it. They come back together: when the limit is reached, or when a block cannot have its turn
because of its *fault*: there is no room, or it has a violation or an error. Nothing of it counts, nor of later ones.
"""
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from search.loops.breadth import count_rows, expand_states, look_ahead, look_up
from search.loops.folding import fold_successors
from search.loops.frontier import BATCH, DEPTH, DONE, FULL, GOING, LEVEL_END, LIMIT, NEXT, SIZE, STRIDE, Batch, Search
from search.loops.keys import Space, copy_words
from search.loops.native import call, get, integer, loop, part, peek, put
from search.loops.sharing import add_shared, meet, peek_shared, poke_shared, replace, take_ticket
from search.loops.table import room

LEAST_ROUND = 1024
"""States in a round that is worth sharing."""
LAID_BY = 4
"""Blocks of a worker that may wait for their turn. Each has a *place*."""

PAGE = 1 << 21
"""Bytes of a large page, which the system clears when it is first written."""

ORDER, FIRST, END, TOUCHED, TICKET, TURN, FAULT = 0, 1, 2, 3, 8, 16, 17
"""The words of the board: whether to do a round (GOING or DONE), its first state and the end of its states, up to which
page the store has been touched ahead, the next block that nobody has taken, the block whose turn it is, and its fault
(else GOING). What changes often lies apart."""
BOARD_SIZE = 24

BLOCK, STATUS = range(2)
"""What a worker knows of a block in a place: its number, and GOING or its fault."""
PLACE_WORDS = 2


class Rounds(NamedTuple):
    """What workers share: sizes, and the addresses of arrays."""

    workers: int
    give_way: int
    """The address of what lets other threads run."""
    cursor: int
    """The cursor of the search, which moves whenever a block has entered."""
    board: int
    barrier: int
    marks: int
    """The marks of the search (see `frontier`)."""


class Hand(NamedTuple):
    """What one worker has for itself: its number, and the addresses of arrays."""

    number: int
    counts: int
    """Its counts, so many words of which are what expanding changes."""
    words: int
    kept: int
    """For each place: what these words were before its block."""
    places: int
    """For each place: PLACE_WORDS of int64."""


@loop
def take_part(search: Search, rounds: Rounds, hand: Hand, cursor: np.ndarray) -> int:
    """Do rounds with the other workers; DONE, or the fault for which all of them come back."""
    while True:
        if hand.number == 0:
            _begin(rounds)
        if not meet(rounds.barrier, rounds.workers, rounds.give_way):
            return DONE
        if get(rounds.board, ORDER) != GOING:
            return DONE
        _do_blocks(search, rounds, hand, cursor)
        meet(rounds.barrier, rounds.workers, rounds.give_way)
        fault = get(rounds.board, FAULT)
        if fault != GOING:
            return fault


@part
def _begin(rounds: Rounds) -> None:
    """Begin the next round, or say on the board that there is none."""
    cursor, board, first = rounds.cursor, rounds.board, get(rounds.cursor, NEXT)
    over = first == get(cursor, LEVEL_END)
    end = get(cursor, SIZE) if over else get(cursor, LEVEL_END)
    if end - first < LEAST_ROUND or first >= get(cursor, LIMIT):
        put(board, ORDER, DONE)
        return
    if over:
        put(cursor, LEVEL_END, end)
        put(cursor, DEPTH, get(cursor, DEPTH) + 1)
    if end - get(cursor, LIMIT) >= LEAST_ROUND:
        end = get(cursor, LIMIT)
    put(board, FIRST, first)
    put(board, END, end)
    put(board, TICKET, first // STRIDE)
    put(board, TURN, first // STRIDE)
    put(board, ORDER, GOING)


@part
def _do_blocks(search: Search, rounds: Rounds, hand: Hand, cursor: np.ndarray) -> None:
    """Expand blocks, and give them their turns, until there are no more or one has a fault."""
    oldest, newest, blocks = integer(0), integer(0), (get(rounds.board, END) - 1) // STRIDE + 1
    going = True
    while going or oldest < newest:
        if peek_shared(rounds.board, FAULT) != np.uint64(GOING):
            _forget(hand, oldest, newest)
            return
        if oldest < newest and peek_shared(rounds.board, TURN) == peek(_place(hand, oldest), BLOCK):
            oldest += _take_turn(search, rounds, hand, oldest)
        elif going and newest - oldest < LAID_BY:
            if oldest == newest:
                _touch_ahead(search.space, rounds)
            block = take_ticket(rounds.board + 8 * TICKET)
            going = block < blocks and _expand_block(search, rounds, hand, (cursor, block, newest))
            newest += integer(block < blocks)
        else:
            call(rounds.give_way, ())


@part
def _touch_ahead(space: Space, rounds: Rounds) -> None:
    """Let the system clear the next page of the store, once: nobody waits for this worker, as all do in its turn."""
    touched, page = peek_shared(rounds.board, TOUCHED), get(rounds.cursor, SIZE) * space.stride // PAGE + 1
    wanted = integer(touched) < page and PAGE * page < space.capacity * space.stride
    if wanted and replace(rounds.board, TOUCHED, touched, np.uint64(page)):
        add_shared(space.store + PAGE * page, integer(0), integer(0))


@part
def _forget(hand: Hand, oldest: int, newest: int) -> None:
    """Go back to what was counted before the blocks that are laid by."""
    if oldest < newest:
        copy_words(hand.counts, _kept(hand, oldest), hand.words)


@part
def _place(hand: Hand, number: int) -> int:
    """The address of what is known of a worker's block in its place; `number` counts its blocks."""
    return hand.places + 8 * PLACE_WORDS * (number % LAID_BY)


@part
def _kept(hand: Hand, number: int) -> int:
    """The address of what was counted before a worker's block."""
    return hand.kept + 8 * hand.words * (number % LAID_BY)


@part
def _with_batch(search: Search, number: int, done: int) -> Search:
    """The search with the room that a worker's block has for a batch, when so many of its states are done."""
    batch, at = search.batch, STRIDE * (number % LAID_BY) + done
    found = at * search.machine.instances
    rows, roots, ends = batch.rows + 8 * search.machine.words * found, batch.roots + 8 * found, batch.ends + 8 * at
    instances, hashes, slots = batch.instances + 2 * found, batch.hashes + 8 * found, batch.slots + 8 * found
    batch = Batch(
        batch.state, rows, roots, batch.leaves, batch.numbers, batch.in_work, instances, hashes, slots, ends,
        batch.enabled, batch.false, batch.premises, batch.step_premises, batch.choice,
    )  # fmt: skip
    return Search(search.machine, search.space, search.tree, batch, search.tally)


@part
def _states_of(rounds: Rounds, block: int) -> tuple[int, int]:
    """The first state of a block in the round, and the end of its states."""
    return max(get(rounds.board, FIRST), STRIDE * block), min(get(rounds.board, END), STRIDE * (block + 1))


@part
def _expand_block(search: Search, rounds: Rounds, hand: Hand, what: tuple[np.ndarray, int, int]) -> bool:
    """Expand the states of a block, and look ahead for their successors; whether all went well."""
    cursor, block, number = what
    copy_words(_kept(hand, number), hand.counts, hand.words)
    begin, end = _states_of(rounds, block)
    status = integer(GOING)
    for first in range(begin, end, BATCH):
        cursor[NEXT] = first
        status = _expand_batch(_with_batch(search, number, first - begin), cursor, min(BATCH, end - first))
        if status != GOING:
            break
    put(_place(hand, number), BLOCK, block)
    put(_place(hand, number), STATUS, status)
    return status == GOING


@part
def _expand_batch(search: Search, cursor: np.ndarray, states: int) -> int:
    status = expand_states(search, cursor, states)
    if status != GOING:
        return status
    count_rows(search, states)
    if not fold_successors(search, states):
        return FULL
    look_ahead(search, states)
    return GOING


@part
def _take_turn(search: Search, rounds: Rounds, hand: Hand, number: int) -> int:
    """Look up and store the successors of a block, whose turn it is, and return 1; or 0, and its fault is told."""
    cursor, block, status = rounds.cursor, get(_place(hand, number), BLOCK), get(_place(hand, number), STATUS)
    size, (begin, end) = get(cursor, SIZE), _states_of(rounds, block)
    if status == GOING and room(search.space, size) < _successors(search, number, end - begin):
        status = integer(FULL)
    if status != GOING:
        poke_shared(rounds.board, FAULT, np.uint64(status))
        return 0
    if begin % STRIDE == 0:
        put(rounds.marks, block, size)
    for first in range(begin, end, BATCH):
        size = look_up(_with_batch(search, number, first - begin), (first, min(BATCH, end - first)), size)
    put(cursor, SIZE, size)
    put(cursor, NEXT, end)
    poke_shared(rounds.board, TURN, np.uint64(block + 1))
    return 1


@part
def _successors(search: Search, number: int, states: int) -> int:
    """How many successors so many states of a worker's block have."""
    count = integer(0)
    for first in range(0, states, BATCH):
        count += get(_with_batch(search, number, first).batch.ends, min(BATCH, states - first) - 1)
    return count
