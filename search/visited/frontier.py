"""The successors of consecutive states: looked up many at a time, and stored in the order of one state after another.

Words: successors are numbered, those of a state after those of the state before it. Some are *unknown*: they were not
stored when they were looked up. Another worker may have stored them when it is their turn. A *mark* is the number of
states that were stored before the successors of a block of STRIDE states.
"""

from __future__ import annotations

from typing import NamedTuple

from kwalk.search.native.intrinsics import count_up, get, integer, peek, peek32, poke, prefetch, put
from kwalk.search.native.loops import part
from kwalk.search.native.structures import int64s, uint32s, uint64s
from kwalk.search.visited.hash_table import (
    ABSENT,
    REGIONS,
    find_likely,
    find_or_add_from,
    first_slot,
    likely_slot,
    region_of,
)
from kwalk.search.visited.key_store import STRIDE
from kwalk.search.visited.keys import KeySpace, copy_words, hash_of

WINDOW = 32
"""How many states have their successors looked up at once."""
SLOTS_AHEAD = 8
"""How many successors ahead a slot is prefetched when it is the turn of unknown ones."""


class Successors(NamedTuple):
    """The successors of some states. Those of 2 · WINDOW states have places of their own in `hashes` and `slots`."""

    ring: int
    """A power of two, minus 1: successor n has place n & `ring` in `hashes` and `slots`."""
    keys: int = uint64s("widest * key_words")
    begins: int = int64s("states")
    """Where the successors of each state begin, and in `ends`, where they end."""
    ends: int = int64s("states")
    instances: int = uint32s("widest")
    """The instances that lead to them, so that steps that change nothing are counted; 0 where none of them is here."""
    hashes: int = uint64s("ring + 1")
    slots: int = int64s("ring + 1")


class UnknownKeys(NamedTuple):
    """The unknown successors of some states."""

    keys: int = uint64s("unknown * key_words")
    hashes: int = uint64s("unknown")
    slots: int = int64s("unknown")
    """The slots that are free for them."""
    begins: int = int64s("states")
    """As in `Successors`."""
    ends: int = int64s("states")
    regions: int = int64s("regions")
    """How many belong to each region of the hash table."""


def ring_of(instances: int, states: int = 2 * WINDOW) -> int:
    """Return the ring for the successors of so many states at a time."""
    return (1 << (states * instances - 1).bit_length()) - 1


@part
def _look_up(space: KeySpace, successors: Successors, window: int, count: int) -> int:
    """Probe for the successors of the states from `window` on, hash those of the next window; return its begin."""
    end = min(window + WINDOW, count)
    if window == 0:
        _hash_keys(space, successors, 0, end)
    _hash_keys(space, successors, end, min(end + WINDOW, count))
    for k in range(window, end):
        for j in range(get(successors.begins, k), get(successors.ends, k)):
            place = j & successors.ring
            slot = likely_slot(space, peek(successors.hashes, place), get(successors.slots, place))
            put(successors.slots, place, slot)
    return end


@part
def _hash_keys(space: KeySpace, successors: Successors, begin: int, end: int) -> None:
    """Hash the keys of the successors of some states, and prefetch their slots to the nearest cache."""
    for k in range(begin, end):
        for j in range(get(successors.begins, k), get(successors.ends, k)):
            hashed = hash_of(successors.keys + 8 * space.words * j, space.words)
            poke(successors.hashes, j & successors.ring, hashed)
            put(successors.slots, j & successors.ring, first_slot(space, hashed))


@part
def store_successors(
    space: KeySpace, successors: Successors, counts: tuple[int, int], states: tuple[int, int], size: int
) -> int:
    """Store the new successors of states[1] states from states[0] on; return the number of stored states.

    Args:
        space: The set of keys.
        successors: The successors.
        counts: The addresses of the steps of each instance that change nothing, which are counted, and of the marks.
        states: The states.
        size: The number of stored states.
    """
    for begin in range(0, states[1], WINDOW):
        end = _look_up(space, successors, begin, states[1])
        for k in range(begin, end):
            if (states[0] + k) % STRIDE == 0:
                put(counts[1], (states[0] + k) // STRIDE, size)
            for j in range(get(successors.begins, k), get(successors.ends, k)):
                start = peek(successors.hashes, j & successors.ring), get(successors.slots, j & successors.ring)
                index = find_or_add_from(space, successors.keys + 8 * space.words * j, start, size)
                if index == ABSENT:
                    size += 1
                elif index == states[0] + k and successors.instances != 0:
                    count_up(counts[0], integer(peek32(successors.instances, j)), 1)
    return size


@part
def clear_regions(unknown: UnknownKeys) -> None:
    """Forget how many keys belong to each region."""
    for region in range(REGIONS):
        put(unknown.regions, region, 0)


@part
def find_unknown(
    space: KeySpace, successors: Successors, unknown: UnknownKeys, idle: int, states: tuple[int, int, int]
) -> None:
    """Write the unknown successors of states[1] states from states[0] on behind those of states[2] states.

    They may be written where the successors are. Steps that change nothing are counted at the address `idle`.
    """
    words, found = space.words, integer(0)
    if states[2] > 0:
        found = get(unknown.ends, states[2] - 1)
    for begin in range(0, states[1], WINDOW):
        end = _look_up(space, successors, begin, states[1])
        for k in range(begin, end):
            first = found
            for j in range(get(successors.begins, k), get(successors.ends, k)):
                hashed, key = peek(successors.hashes, j & successors.ring), successors.keys + 8 * words * j
                index, slot = find_likely(space, key, (hashed, get(successors.slots, j & successors.ring)))
                if index == ABSENT:
                    copy_words(unknown.keys + 8 * words * found, key, words)
                    poke(unknown.hashes, found, hashed)
                    put(unknown.slots, found, slot)
                    count_up(unknown.regions, region_of(hashed), 1)
                    found += 1
                elif index == states[0] + k and successors.instances != 0:
                    count_up(idle, integer(peek32(successors.instances, j)), 1)
            put(unknown.begins, states[2] + k, first)
            put(unknown.ends, states[2] + k, found)


@part
def has_room(space: KeySpace, regions: int, size: int) -> bool:
    """Return whether keys that are counted by region fit into the store and the table, besides `size` stored ones."""
    total, most = integer(0), integer(0)
    for region in range(REGIONS):
        total += get(regions, region)
        most = max(most, get(regions, region) + get(space.filled, region))
    return most <= space.region_limit and total <= space.capacity - size


@part
def store_unknown(space: KeySpace, unknown: UnknownKeys, marks: int, states: tuple[int, int], size: int) -> int:
    """Store what `find_unknown` wrote of states[1] states from states[0] on, unless it is stored now.

    Returns:
        The number of stored states; `size` were stored before.
    """
    last = get(unknown.ends, states[1] - 1) - 1
    for k in range(states[1]):
        if (states[0] + k) % STRIDE == 0:
            put(marks, (states[0] + k) // STRIDE, size)
        for j in range(get(unknown.begins, k), get(unknown.ends, k)):
            prefetch(space.table + space.entry_bytes * get(unknown.slots, min(j + SLOTS_AHEAD, last)))
            start = peek(unknown.hashes, j), get(unknown.slots, j)
            if find_or_add_from(space, unknown.keys + 8 * space.words * j, start, size) == ABSENT:
                size += 1
    return size
