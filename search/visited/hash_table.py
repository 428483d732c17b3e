"""The set of stored keys: a dense store in the order of insertion, and a hash table of indices into it.

Words (see also `keys`): the *store* holds every key in full, so membership is exact. The *table* has REGIONS regions of
equal size; the hash of a key selects the region and the first slot in it, and probing (see `table_lines`) stays in the
region. An *entry* is an index plus 1 (0: empty) with a *tag* above it: the low bits of the hash, as many as the width
of the entry leaves, which avoids most reads of the store. Entries never change and are written after their keys, so
other threads may look keys up at the same time.
"""

from __future__ import annotations

import numpy as np

from kwalk.search.native.atomics import (
    atomic_add,
    atomic_load,
    atomic_load32,
    atomic_store,
    atomic_store32,
    compare_and_swap,
    compare_and_swap32,
)
from kwalk.search.native.intrinsics import ONE, ZERO, count_up, integer, lowest_bit, peek, poke, prefetch, scale
from kwalk.search.native.loops import Word, loop, part
from kwalk.search.visited.keys import KeySpace, hash_of, hash_of_stored, key_at, key_equals, store_key
from kwalk.search.visited.table_lines import line_of, next_line, stops_in_line

REGIONS = 64
REGION_BITS = np.uint64(6)
ABSENT = -1
PAGE = 4096
REFILL_BATCH = 256
"""Keys that wait for their prefetched entries while a table is refilled."""
REFILL_WORDS = 2 * REFILL_BATCH + REGIONS
"""Words of scratch memory for a refill."""

_TOP = np.uint64(64) - REGION_BITS


@part
def room_for_keys(space: KeySpace, size: int) -> int:
    """Return how many keys can be added for sure."""
    fullest = integer(0)
    for region in range(REGIONS):
        fullest = max(fullest, integer(peek(space.filled, region)))
    return min(space.region_limit - fullest, space.capacity - size)


@part
def region_of(hashed: Word) -> int:
    """Return the region of a hash."""
    return integer(hashed >> _TOP)


@part
def _slot(space: KeySpace, hashed: Word) -> int:
    """Return the first slot of a hash, which is the first one of a line."""
    place = scale(hashed << REGION_BITS, np.uint64(space.region_size))
    return line_of(space.entry_bytes, region_of(hashed) * space.region_size + integer(place))


@part
def entry_in(space: KeySpace, slot: int) -> Word:
    """Return the entry in a slot."""
    return atomic_load32(space.table, slot) if space.entry_bytes == 4 else atomic_load(space.table, slot)


@part
def tag_of(space: KeySpace, hashed: Word) -> Word:
    """Return the tag of a hash, in its place in an entry."""
    low = hashed << np.uint64(space.index_bits)
    return low & np.uint64(0xFFFFFFFF) if space.entry_bytes == 4 else low


@part
def _index_in(space: KeySpace, entry: Word) -> int:
    """Return the index in an entry."""
    return integer(entry & ((ONE << np.uint64(space.index_bits)) - ONE)) - 1


@part
def first_slot(space: KeySpace, hashed: Word) -> int:
    """Return the first slot of a hash, and prefetch it."""
    slot = _slot(space, hashed)
    prefetch(space.table + slot * space.entry_bytes)
    return slot


@part
def _stops(space: KeySpace, hashed: Word, line: int) -> tuple[Word, Word]:
    """Return where probing stops in a line, and where the line is free."""
    likely = tag_of(space, hashed), (ONE << np.uint64(space.index_bits)) - ONE
    return stops_in_line(space.table, space.entry_bytes, line, likely)


@part
def _next_line(space: KeySpace, hashed: Word, line: int) -> int:
    """Return the line where probing continues after a full line."""
    begin = region_of(hashed) * space.region_size
    return next_line(space.entry_bytes, line, begin, begin + space.region_size)


@part
def likely_slot(space: KeySpace, hashed: Word, slot: int) -> int:
    """Probe from the first slot of a hash to the first entry with its tag, or a free slot; prefetch the key there."""
    line = slot
    stops, _ = _stops(space, hashed, line)
    while stops == ZERO:
        line = _next_line(space, hashed, line)
        stops, _ = _stops(space, hashed, line)
    slot = line + lowest_bit(stops)
    prefetch(key_at(space, _index_in(space, entry_in(space, slot))))  # of key -1 if it is free, which does no harm
    return slot


@part
def find(space: KeySpace, key: int, hashed: Word) -> int:
    """Return the index of an equal stored key, or ABSENT."""
    return find_from(space, key, (hashed, _slot(space, hashed)))[0]


@part
def find_from(space: KeySpace, key: int, start: tuple[Word, int]) -> tuple[int, int]:
    """Find a key with a hash, probing from the line of a slot; return its index or ABSENT, and the last slot.

    The slot is the first one of the hash, or what `likely_slot` or this function returned. A slot where the key was
    not found stays the place for it as long as it is free.
    """
    hashed, slot = start
    line = line_of(space.entry_bytes, slot)
    while True:
        stops, free = _stops(space, hashed, line)
        while stops != ZERO:
            place = line + lowest_bit(stops)
            entry = entry_in(space, place)
            if entry == ZERO:
                return ABSENT, place
            index = _index_in(space, entry)
            if key_equals(space, index, key):
                return index, place
            stops &= stops - ONE
        if free == ZERO:
            line = _next_line(space, hashed, line)


@part
def find_likely(space: KeySpace, key: int, start: tuple[Word, int]) -> tuple[int, int]:
    """Do the same as `find_from`, and look at the slot first: at the entry there, or whether it is still free."""
    entry = entry_in(space, start[1])
    if entry == ZERO:
        return integer(ABSENT), start[1]
    index = _index_in(space, entry)
    if key_equals(space, index, key):
        return index, start[1]
    return find_from(space, key, start)


@part
def find_or_add(space: KeySpace, key: int, hashed: Word, size: int) -> int:
    """Return the index of an equal stored key; if there is none, add the key as number `size`, return ABSENT."""
    return find_or_add_from(space, key, (hashed, _slot(space, hashed)), size)


@part
def find_or_add_from(space: KeySpace, key: int, start: tuple[Word, int], size: int) -> int:
    """Do the same as `find_or_add` for a key with a hash, probing from the line of a slot on: see `find_from`."""
    index, slot = find_likely(space, key, start)
    if index != ABSENT:
        return index
    store_key(space, size, key)
    _write(space, slot, tag_of(space, start[0]) | np.uint64(size + 1), 1)
    count_up(space.filled, region_of(start[0]), 1)
    return integer(ABSENT)


@loop
def add_keys(space: KeySpace, keys: int, count: int, size: int) -> int:
    """Add the new ones of `count` keys at an address; return the number of stored keys."""
    for number in range(count):
        key = keys + 8 * number * space.words
        if find_or_add(space, key, hash_of(key, space.words), size) == ABSENT:
            size += 1
    return size


@loop
def clear_table(space: KeySpace, first: int, last: int) -> None:
    """Write to each page of regions first … last - 1 of a new table.

    A page whose first access is a read costs two page faults, of which the second stops all threads.
    """
    region = space.region_size * space.entry_bytes
    for word in range(first * region // 8, last * region // 8, PAGE // 8):
        poke(space.table, word, ZERO)


@loop
def refill_table(space: KeySpace, scratch: int, share: tuple[int, int], workers: int) -> None:
    """Insert the stored keys share[0] … share[1] - 1 into a new table that `workers` workers fill together.

    `scratch` has REFILL_WORDS words.
    """
    counts, waiting = scratch + 16 * REFILL_BATCH, integer(0)
    for region in range(REGIONS):
        poke(counts, region, ZERO)
    for index in range(share[0], share[1]):
        hashed = hash_of_stored(space, index)
        poke(scratch, 2 * waiting, hashed)
        poke(scratch, 2 * waiting + 1, np.uint64(index))
        first_slot(space, hashed)
        count_up(counts, region_of(hashed), 1)
        waiting += 1
        if waiting == REFILL_BATCH or index + 1 == share[1]:
            for k in range(waiting):
                _insert(space, peek(scratch, 2 * k), integer(peek(scratch, 2 * k + 1)), workers)
            waiting = integer(0)
    for region in range(REGIONS):
        atomic_add(space.filled, region, integer(peek(counts, region)))


@part
def _insert(space: KeySpace, hashed: Word, index: int, workers: int) -> None:
    line, entry = _slot(space, hashed), tag_of(space, hashed) | np.uint64(index + 1)
    while True:
        _, free = _stops(space, hashed, line)
        if free == ZERO:
            line = _next_line(space, hashed, line)
        elif _write(space, line + lowest_bit(free), entry, workers):
            return


@part
def _write(space: KeySpace, slot: int, entry: Word, workers: int) -> bool:
    """Write an entry to a slot that was empty; False if another worker was faster."""
    if workers > 1:
        if space.entry_bytes == 4:
            return bool(compare_and_swap32(space.table, slot, ZERO, entry))
        return bool(compare_and_swap(space.table, slot, ZERO, entry))
    if space.entry_bytes == 4:
        atomic_store32(space.table, slot, entry)
    else:
        atomic_store(space.table, slot, entry)
    return True
