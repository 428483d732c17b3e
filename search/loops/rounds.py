"""Breadth-first search by several workers, in rounds that give the very numbering that one worker gives.

Words: a *round* takes states of one level, cut into *chunks*. First, chunks are expanded, and their successors sorted
into *shares* by the region of the table that they belong to: each gets a *position*. Then each share is looked up, by
one worker, in the order of discovery: a new successor *claims* a slot. Last, the new ones are numbered and stored,
chunk by chunk. Workers take chunks and shares by *ticket*; which worker does what makes no difference.
"""
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from search.loops.breadth import count_rows, expand_states
from search.loops.folding import fold_successors, found_keys
from search.loops.frontier import FULL, GOING, NEXT, STRIDE, Batch, Search
from search.loops.keys import Space, copy_words, hash_of, is_key
from search.loops.native import (
    ZERO,
    count_up,
    integer,
    loop,
    part,
    peek,
    peek16,
    peek32,
    poke,
    poke32,
    take_ticket,
)
from search.loops.table import (
    ABSENT,
    REGIONS,
    find_or_claim,
    first_slot,
    likely_slot,
    prefetch_entry,
    region_of,
    settle,
)

SHARES = 16
CHUNK = 1024
"""States in a chunk."""
AHEAD = 128
"""How many successors are prefetched at a time."""


class Round(NamedTuple):
    """A round: its states, and the addresses of room for their successors. Chunk c has positions from c * widest on."""

    first: int
    states: int
    size: int
    """How many states were stored when the round began."""
    widest: int
    """The most successors that a chunk can have."""
    keys: int
    hashes: int
    slots: int
    """int64 per position: the slot that a new successor claimed, ABSENT for the others."""
    positions: int
    """uint32 per successor, in the order of discovery; those of chunk c from c * widest on."""
    share_ends: int
    """int64 per chunk and share: the position where the share ends, counted from the chunk's first."""
    ends: int
    """int64 per state: how many successors there are in its chunk up to and with its own."""
    regions: int
    """int64 per chunk and region: how many successors belong there."""
    fresh: int
    """int64 per share and chunk: how many new states there are."""
    ticket: int


@loop
def expand_chunks(search: Search, current: Round, cursor: np.ndarray) -> int:
    """Expand chunks of the round; FULL if parts lack room, and anything else but GOING spoils the round."""
    chunks = -(-current.states // CHUNK)
    while True:
        chunk = take_ticket(current.ticket)
        if chunk >= chunks:
            return GOING
        begin = CHUNK * chunk
        count = min(CHUNK, current.states - begin)
        cursor[NEXT] = current.first + begin
        inner = Search(search.machine, search.space, search.tree, _batch(search, current, chunk), search.tally)
        status = expand_states(inner, cursor, count)
        if status != GOING:
            return status
        count_rows(inner, count)
        if not fold_successors(inner, count):
            return FULL
        _hash(inner, current, chunk, count)
        _sort(inner, current, chunk, integer(peek(inner.batch.ends, count - 1)))


@part
def _batch(search: Search, current: Round, chunk: int) -> Batch:
    """The worker's batch, with the ends where the last phase finds them."""
    own, ends = search.batch, current.ends + 8 * CHUNK * chunk
    return Batch(
        own.state, own.rows, own.roots, own.leaves, own.numbers, own.in_work, own.instances, own.hashes, own.slots,
        ends, own.enabled, own.false, own.premises, own.step_premises, own.choice,
    )  # fmt: skip


@part
def _hash(inner: Search, current: Round, chunk: int, count: int) -> None:
    """Hash the successors of a chunk, count them by region, and count those that are where they came from."""
    space, batch, keys, j = inner.space, inner.batch, found_keys(inner), integer(0)
    regions = current.regions + 8 * REGIONS * chunk
    for region in range(REGIONS):
        poke(regions, region, ZERO)
    for k in range(count):
        state, end = current.first + CHUNK * chunk + k, integer(peek(batch.ends, k))
        while j < end:
            key = keys + 8 * space.words * j
            hashed = hash_of(key, space.words)
            poke(batch.hashes, j, hashed)
            count_up(regions, region_of(hashed), 1)
            if is_key(space, state, key):
                count_up(inner.tally.idle, integer(peek16(batch.instances, j)), 1)
            j += 1


@part
def _sort(inner: Search, current: Round, chunk: int, total: int) -> None:
    """Copy the successors of a chunk to their positions: by share, and within a share in the order of discovery."""
    ends, regions = current.share_ends + 8 * SHARES * chunk, current.regions + 8 * REGIONS * chunk
    so_far = integer(0)
    for share in range(SHARES):
        poke(ends, share, np.uint64(so_far))
        for region in range(REGIONS // SHARES * share, REGIONS // SHARES * (share + 1)):
            so_far += integer(peek(regions, region))
    base, words, keys = chunk * current.widest, inner.space.words, found_keys(inner)
    for j in range(total):
        hashed = peek(inner.batch.hashes, j)
        share = region_of(hashed) // (REGIONS // SHARES)
        position = integer(peek(ends, share))
        poke(ends, share, np.uint64(position + 1))
        position += base
        copy_words(current.keys + 8 * words * position, keys + 8 * words * j, words)
        poke(current.hashes, position, hashed)
        poke32(current.positions, base + j, np.uint64(position))


@loop
def look_up_shares(space: Space, current: Round) -> None:
    """Look up shares of the round's successors, and claim slots for the new ones."""
    chunks = -(-current.states // CHUNK)
    while True:
        share = take_ticket(current.ticket)
        if share >= SHARES:
            return
        for chunk in range(chunks):
            row = current.share_ends + 8 * SHARES * chunk
            begin = integer(peek(row, share - 1)) if share > 0 else integer(0)
            fresh, end = integer(0), integer(peek(row, share))
            while begin < end:
                until = min(begin + AHEAD, end)
                fresh += _look_up(space, current, chunk * current.widest + begin, chunk * current.widest + until)
                begin = until
            poke(current.fresh, chunk * SHARES + share, np.uint64(fresh))


@part
def _look_up(space: Space, current: Round, begin: int, end: int) -> int:
    """Look up the successors at some positions; how many of them are new."""
    for position in range(begin, end):
        poke(current.slots, position, np.uint64(first_slot(space, peek(current.hashes, position))))
    for position in range(begin, end):
        slot = likely_slot(space, peek(current.hashes, position), integer(peek(current.slots, position)))
        poke(current.slots, position, np.uint64(slot))
    fresh = integer(0)
    for position in range(begin, end):
        start = peek(current.hashes, position), integer(peek(current.slots, position))
        slot = find_or_claim(space, (current.keys, position), start, current.size)
        poke(current.slots, position, np.uint64(slot))
        fresh += integer(slot != ABSENT)
    return fresh


@loop
def store_chunks(space: Space, marks: int, current: Round) -> None:
    """Number and store the new states of chunks of the round, and set the marks of their blocks."""
    chunks = -(-current.states // CHUNK)
    while True:
        chunk = take_ticket(current.ticket)
        if chunk >= chunks:
            return
        index = current.size + _fresh_before(current, chunk)
        _store(space, marks, current, (chunk, index))


@part
def _fresh_before(current: Round, chunk: int) -> int:
    """How many new states the chunks before this one have."""
    before = integer(0)
    for cell in range(chunk * SHARES):
        before += integer(peek(current.fresh, cell))
    return before


@part
def _store(space: Space, marks: int, current: Round, where: tuple[int, int]) -> None:
    chunk, index = where
    base, j = chunk * current.widest, integer(0)
    count = min(CHUNK, current.states - CHUNK * chunk)
    for position in range(base, base + integer(peek(current.ends, CHUNK * chunk + count - 1))):
        prefetch_entry(space, integer(peek(current.slots, position)))
    for k in range(CHUNK * chunk, min(CHUNK * (chunk + 1), current.states)):
        if (current.first + k) % STRIDE == 0:
            poke(marks, (current.first + k) // STRIDE, np.uint64(index))
        end = integer(peek(current.ends, k))
        while j < end:
            position = integer(peek32(current.positions, base + j))
            slot = integer(peek(current.slots, position))
            if slot != ABSENT:
                settle(space, slot, index, current.keys + 8 * space.words * position)
                index += 1
            j += 1


@loop
def fresh_in_all(current: Round) -> int:
    """How many new states the round has found."""
    return _fresh_before(current, -(-current.states // CHUNK))


@loop
def fits(space: Space, current: Round) -> bool:
    """Whether all successors of the round could be entered, were they all new."""
    chunks, total = -(-current.states // CHUNK), integer(0)
    for region in range(REGIONS):
        wanted = integer(peek(space.filled, region))
        for chunk in range(chunks):
            wanted += integer(peek(current.regions, chunk * REGIONS + region))
        if wanted > space.region_limit:
            return False
        total += wanted
    return total <= space.capacity and current.size + chunks * current.widest < (1 << space.index_bits)
