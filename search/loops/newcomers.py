"""How several workers enter keys into one table at once, and yet number them as one worker would.

Words: a *newcomer* is a key that is not stored yet. It gets a *position*, its rank in the order of discovery, and
*claims* a slot: the entry there has the index `size` + position, until the newcomer is *settled* under its final index.
Of equal newcomers the one with the least position must have the claim: it takes over the claim of a later one, which is
*ousted*.
"""
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from search.loops.keys import Space, copy_words, is_key, key_at, put_key, same_words
from search.loops.native import ONE, ZERO, Word, integer, part, peek, poke, poke32, prefetch
from search.loops.sharing import add_shared, peek32_shared, peek_shared, replace, replace32
from search.loops.table import entry_in, has_tag, index_in, next_slot, region_of, tag_of

CLAIMED, TAKEN_OVER, PRECEDED = -2, -3, -4
"""What became of a key that is not stored: it claimed a slot, or took over a claim, or an equal one was before it."""
OUSTED = np.uint64(0xFFFFFFFFFFFFFFFF)
"""Instead of the slot of a newcomer."""
SHEAF = 16
"""So many claims a worker makes in a region before it says so to the others."""


class Newcomers(NamedTuple):
    """The newcomers of all workers: sizes, and the addresses of arrays."""

    size: int
    """How many keys are stored."""
    widest: int
    """Positions of a chunk of successors."""
    keys: int
    """The keys, by position."""
    slots: int
    """int64 per position: the slot that was claimed, or OUSTED."""
    ousted: int
    """int64 per chunk: how many of its newcomers were ousted."""


@part
def likely_claim(space: Space, newcomers: Newcomers, hashed: Word, slot: int) -> int:
    """Where probing from a slot on first finds the tag of a hash, or nothing. The key that is there is asked for."""
    tag, entry = tag_of(space, hashed), _entry(space, slot)
    while entry != ZERO and not has_tag(space, entry, tag):
        slot = next_slot(space, hashed, slot)
        entry = _entry(space, slot)
    index = index_in(space, entry)
    if index >= newcomers.size:
        prefetch(newcomers.keys + 8 * space.words * (index - newcomers.size))
    elif entry != ZERO:
        prefetch(key_at(space, index))
    return slot


@part
def find_or_claim(space: Space, newcomers: Newcomers, place: tuple[int, int], start: tuple[Word, int]) -> int:
    """The index of an equal stored key, or else what became of this one.

    `place` is the key's address, and its position should it be new; `start` its hash, and a slot to probe from.
    """
    (key, position), (hashed, slot) = place, start
    tag = tag_of(space, hashed)
    claim = tag | np.uint64(newcomers.size + position + 1)
    while True:
        entry = _entry(space, slot)
        index = index_in(space, entry)
        if entry == ZERO:
            _write_down(space, newcomers, place, slot)
            if _replace(space, slot, ZERO, claim):
                return CLAIMED
        elif not has_tag(space, entry, tag) or not _is_equal(space, newcomers, index, key):
            slot = next_slot(space, hashed, slot)
        elif index < newcomers.size:
            return index
        elif index <= newcomers.size + position:
            return PRECEDED
        else:
            _write_down(space, newcomers, place, slot)
            if _replace(space, slot, entry, claim):
                _oust(newcomers, index - newcomers.size)
                return TAKEN_OVER


@part
def _is_equal(space: Space, newcomers: Newcomers, index: int, key: int) -> bool:
    """Whether a key is that of an index: of a stored one, or of a newcomer."""
    if index < newcomers.size:
        return is_key(space, index, key)
    return same_words(newcomers.keys + 8 * space.words * (index - newcomers.size), key, space.words)


@part
def _write_down(space: Space, newcomers: Newcomers, place: tuple[int, int], slot: int) -> None:
    """Write a newcomer to its position, before its claim lets others see it."""
    copy_words(newcomers.keys + 8 * space.words * place[1], place[0], space.words)
    poke(newcomers.slots, place[1], np.uint64(slot))


@part
def _oust(newcomers: Newcomers, position: int) -> None:
    poke(newcomers.slots, position, OUSTED)
    add_shared(newcomers.ousted, position // newcomers.widest, integer(1))


@part
def _entry(space: Space, slot: int) -> Word:
    """The entry in a slot that others may be about to write, and what they wrote before it."""
    return peek32_shared(space.table, slot) if space.entry_bytes == 4 else peek_shared(space.table, slot)


@part
def _replace(space: Space, slot: int, before: Word, after: Word) -> bool:
    """Write an entry if the slot still has the one from before; whether it had."""
    if space.entry_bytes == 4:
        return replace32(space.table, slot, before, after)
    return replace(space.table, slot, before, after)


@part
def count_claim(space: Space, hashed: Word, mine: int, workers: int) -> bool:
    """Count a claim in its region; False if the region may be full by now.

    `mine` is the address of the worker's own counts, int64 per region. Only whole sheaves go to the common count, since
    words that all change are slow.
    """
    region = region_of(hashed)
    count = integer(peek(mine, region)) + 1
    if count < SHEAF:
        poke(mine, region, np.uint64(count))
        return True
    poke(mine, region, ZERO)
    return add_shared(space.filled, region, count) + SHEAF * (workers + 1) <= space.region_limit


@part
def has_room_in_all(space: Space, regions: int, workers: int) -> bool:
    """Whether each region has room for what workers can claim before one of them notices that it is full."""
    fullest = integer(0)
    for region in range(regions):
        fullest = max(fullest, integer(peek(space.filled, region)))
    return fullest + SHEAF * (workers + 1) <= space.region_limit


@part
def prefetch_claim(space: Space, slot: Word) -> None:
    """Ask for the entry in the slot of a newcomer."""
    if slot != OUSTED:
        prefetch(space.table + integer(slot) * space.entry_bytes)


@part
def settle(space: Space, slot: int, index: int, key: int) -> None:
    """Store a claimed key under its final index."""
    mask = (ONE << np.uint64(space.index_bits)) - ONE
    _write(space, slot, (entry_in(space, slot) & ~mask) | np.uint64(index + 1))
    put_key(space, index, key)


@part
def withdraw(space: Space, slot: int) -> None:
    """Take back a claim. When all claims are withdrawn, the table is as it was before them."""
    _write(space, slot, ZERO)


@part
def _write(space: Space, slot: int, entry: Word) -> None:
    if space.entry_bytes == 4:
        poke32(space.table, slot, entry)
    else:
        poke(space.table, slot, entry)
