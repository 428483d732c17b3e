"""The set of states seen: a dense store of keys in the order of discovery, and a hash table into it.

Words (see also `keys`): the *store* holds every key in full, so membership is exact. The *table* has REGIONS regions of
equal size; a key's hash chooses the region and the place in it, and probing stays in the region. An *entry* is an index
plus 1 (0: empty) with a *tag* above it: the low bits of the hash, as many as the entry's width leaves, which spare most
looks into the store. Entries do not change, and are written after their keys: others may look keys up meanwhile.
"""
from __future__ import annotations

import numpy as np

from search.loops.keys import Space, hash_of, hash_of_stored, is_key, key_at, put_key
from search.loops.native import ONE, ZERO, Word, count_up, integer, loop, part, peek, poke, prefetch, scale
from search.loops.sharing import (
    add_shared,
    peek32_shared,
    peek_shared,
    poke32_shared,
    poke_shared,
    replace,
    replace32,
)

REGIONS = 64
REGION_BITS = np.uint64(6)
ABSENT = -1
PAGE = 4096
REFILL = 256
"""How many keys wait for their prefetched entries when a table is filled again."""
REFILL_WORDS = 2 * REFILL + REGIONS
"""Words of room that this takes."""

_TOP = np.uint64(64) - REGION_BITS


@part
def room(space: Space, size: int) -> int:
    """How many keys can be added for sure."""
    fullest = integer(0)
    for region in range(REGIONS):
        fullest = max(fullest, integer(peek(space.filled, region)))
    return min(space.region_limit - fullest, space.capacity - size)


@part
def _region(hashed: Word) -> int:
    return integer(hashed >> _TOP)


@part
def _slot(space: Space, hashed: Word) -> int:
    """Where a hash begins its probing, as an index into the table."""
    place = scale(hashed << REGION_BITS, np.uint64(space.region_size))
    return _region(hashed) * space.region_size + integer(place)


@part
def next_slot(space: Space, hashed: Word, slot: int) -> int:
    """Where probing goes on after a slot."""
    end = (_region(hashed) + 1) * space.region_size
    return slot + 1 if slot + 1 < end else end - space.region_size


@part
def entry_in(space: Space, slot: int) -> Word:
    """The entry in a slot."""
    return peek32_shared(space.table, slot) if space.entry_bytes == 4 else peek_shared(space.table, slot)


@part
def tag_of(space: Space, hashed: Word) -> Word:
    """The tag of a hash, in its place in an entry."""
    low = hashed << np.uint64(space.index_bits)
    return low & np.uint64(0xFFFFFFFF) if space.entry_bytes == 4 else low


@part
def has_tag(space: Space, entry: Word, tag: Word) -> bool:
    """Whether an entry has a tag."""
    return ((entry ^ tag) >> np.uint64(space.index_bits)) == ZERO


@part
def _index_in(space: Space, entry: Word) -> int:
    """The index in an entry."""
    return integer(entry & ((ONE << np.uint64(space.index_bits)) - ONE)) - 1


@part
def first_slot(space: Space, hashed: Word) -> int:
    """Where a hash begins its probing. The place in the table is asked for: it will be needed soon."""
    slot = _slot(space, hashed)
    prefetch(space.table + slot * space.entry_bytes)
    return slot


@part
def likely_slot(space: Space, hashed: Word, slot: int) -> int:
    """Where probing from a slot on first finds the tag of a hash, or nothing. The key that is there is asked for."""
    tag, entry = tag_of(space, hashed), entry_in(space, slot)
    while entry != ZERO and not has_tag(space, entry, tag):
        slot = next_slot(space, hashed, slot)
        entry = entry_in(space, slot)
    if entry != ZERO:
        prefetch(key_at(space, _index_in(space, entry)))
    return slot


@part
def find(space: Space, key: int, hashed: Word) -> int:
    """The index of an equal stored key, or ABSENT."""
    return find_from(space, key, (hashed, _slot(space, hashed)))[0]


@part
def find_from(space: Space, key: int, start: tuple[Word, int]) -> tuple[int, int]:
    """The same for a key with a hash, probing from a slot on; and the slot at which probing came to an end."""
    hashed, slot = start
    tag, entry = tag_of(space, hashed), entry_in(space, slot)
    while entry != ZERO:
        if has_tag(space, entry, tag):
            index = _index_in(space, entry)
            if is_key(space, index, key):
                return index, slot
        slot = next_slot(space, hashed, slot)
        entry = entry_in(space, slot)
    return ABSENT, slot


@part
def find_or_add(space: Space, key: int, hashed: Word, size: int) -> int:
    """The index of an equal stored key; else add this one as number `size` and return ABSENT."""
    return find_or_add_from(space, key, (hashed, _slot(space, hashed)), size)


@part
def find_or_add_from(space: Space, key: int, start: tuple[Word, int], size: int) -> int:
    """The same for a key with a hash, probing from a slot on."""
    index, slot = find_from(space, key, start)
    if index == ABSENT:
        put_key(space, size, key)
        _write(space, slot, tag_of(space, start[0]) | np.uint64(size + 1), 1)
        count_up(space.filled, _region(start[0]), 1)
    return index


@loop
def add_keys(space: Space, keys: int, count: int, size: int) -> int:
    """Add those of `count` keys at an address that are not there yet; the number of stored keys after that."""
    for number in range(count):
        key = keys + 8 * number * space.words
        if find_or_add(space, key, hash_of(key, space.words), size) == ABSENT:
            size += 1
    return size


@loop
def clear(space: Space, first: int, last: int) -> None:
    """Write to each page of the regions first … last - 1 of a new table. To read it before costs more:

    the system takes two faults for a page that is read first, and stops all threads for the second one.
    """
    region = space.region_size * space.entry_bytes
    for word in range(first * region // 8, last * region // 8, PAGE // 8):
        poke(space.table, word, ZERO)


@loop
def refill(space: Space, scratch: int, share: tuple[int, int], workers: int) -> None:
    """Enter the stored keys share[0] … share[1] - 1 into a new table, which so many workers fill at once.

    `scratch` has REFILL_WORDS words.
    """
    counts, waiting = scratch + 16 * REFILL, integer(0)
    for region in range(REGIONS):
        poke(counts, region, ZERO)
    for index in range(share[0], share[1]):
        hashed = hash_of_stored(space, index)
        poke(scratch, 2 * waiting, hashed)
        poke(scratch, 2 * waiting + 1, np.uint64(index))
        first_slot(space, hashed)
        count_up(counts, _region(hashed), 1)
        waiting += 1
        if waiting == REFILL or index + 1 == share[1]:
            for k in range(waiting):
                _enter(space, peek(scratch, 2 * k), integer(peek(scratch, 2 * k + 1)), workers)
            waiting = integer(0)
    for region in range(REGIONS):
        add_shared(space.filled, region, integer(peek(counts, region)))


@part
def _enter(space: Space, hashed: Word, index: int, workers: int) -> None:
    slot, entry = _slot(space, hashed), tag_of(space, hashed) | np.uint64(index + 1)
    while entry_in(space, slot) != ZERO or not _write(space, slot, entry, workers):
        slot = next_slot(space, hashed, slot)


@part
def _write(space: Space, slot: int, entry: Word, workers: int) -> bool:
    """Write an entry to a slot that was empty when last seen; False if another of so many workers was faster."""
    if workers > 1:
        if space.entry_bytes == 4:
            return replace32(space.table, slot, ZERO, entry)
        return replace(space.table, slot, ZERO, entry)
    if space.entry_bytes == 4:
        poke32_shared(space.table, slot, entry)
    else:
        poke_shared(space.table, slot, entry)
    return True
