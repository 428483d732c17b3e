"""Loops of a search that goes level by level, its states in buckets: expand a bucket's frontier, absorb what is new.

Words: the *place* of a state is its hash, turned so that other bits lead than those that tables go by. States of a
level are ordered by place; a *bucket* is a range of places, its leading bits. A *record* is a state's words and then
its *link*: the place of the state that led there, but for its last 16 bits, which number the instance of that step.
Of several links to one state the least counts, whoever finds it.
"""
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from search.loops.breadth import count_rows, expand_states
from search.loops.frontier import BATCH, DONE, FULL, GOING, LIMIT, NEXT, SIZE, Search
from search.loops.keys import Space, copy_words, hash_of, same_words, take_key
from search.loops.native import Word, count_up, integer, loop, part, peek, peek16, poke, poke8
from search.loops.table import ABSENT, find, find_or_add_from, first_slot, likely_slot, room

INSTANCE_BITS = 16
AHEAD = 64
"""So many keys are hashed, and their entries asked for, before the first of them is looked up."""

_HALF = np.uint64(32)
_INSTANCES = np.uint64((1 << INSTANCE_BITS) - 1)
_WORD = np.uint64(64)


class Found(NamedTuple):
    """Where records of successors go: the addresses of the records and of their places, and how many there may be."""

    records: int
    places: int
    most: int


class Sorted(NamedTuple):
    """Room for records by bucket: the addresses of the records, and of their number up to and with each bucket."""

    records: int
    ends: int
    bits: int
    """A bucket is so many leading bits of a place."""


class New(NamedTuple):
    """Candidates for new states, one record each: the address of their links, and of a byte each, 1 if it is known."""

    links: int
    known: int
    scratch: int
    """Room for 2 * AHEAD words."""


@part
def place_of(key: int, words: int) -> Word:
    """The place of the state at an address."""
    hashed = hash_of(key, words)
    return (hashed << _HALF) | (hashed >> _HALF)


@loop
def places(rows: int, count: int, words: int, target: int) -> None:
    """Write the places of so many states, which follow each other."""
    for number in range(count):
        poke(target, number, place_of(rows + 8 * words * number, words))


@loop
def expand_rows(search: Search, cursor: np.ndarray, found: Found) -> int:
    """Expand states up to number cursor[LIMIT]; returns why it came back. cursor[SIZE] becomes the number of records.

    DONE when all are expanded, FULL when there may be no room for more records, FAILED at a state that cannot be
    expanded.
    """
    machine = search.machine
    cursor[SIZE] = 0
    while cursor[NEXT] < cursor[LIMIT]:
        first = cursor[NEXT]
        count = min(BATCH, cursor[LIMIT] - first, (found.most - cursor[SIZE]) // machine.instances)
        if count <= 0:
            return FULL
        status = expand_states(search, cursor, count)
        count_rows(search, cursor[NEXT] - first)
        cursor[SIZE] = _note_successors(search, first, cursor[NEXT], (found, cursor[SIZE]))
        if status != GOING:
            return status
    return DONE


@part
def _note_successors(search: Search, first: int, last: int, where: tuple[Found, int]) -> int:
    """Make records of the successors of some states, which are in the batch; how many records there are then.

    A step that leads to the same state leaves no record, and is counted.
    """
    words, batch, (found, made), j = search.machine.words, search.batch, where, integer(0)
    for index in range(first, last):
        take_key(search.space, index, batch.state)
        link, end = place_of(batch.state, words) & ~_INSTANCES, integer(peek(batch.ends, index - first))
        while j < end:
            row, instance = batch.rows + 8 * words * j, peek16(batch.instances, j)
            if same_words(row, batch.state, words):
                count_up(search.tally.idle, integer(instance), 1)
            else:
                record = found.records + 8 * (words + 1) * made
                copy_words(record, row, words)
                poke(record, words, link | instance)
                poke(found.places, made, place_of(record, words))
                made += 1
            j += 1
    return made


@loop
def sort_by_bucket(found: Found, made: int, words: int, target: Sorted) -> None:
    """Write the first `made` records bucket by bucket."""
    buckets, size = 1 << target.bits, 8 * (words + 1)
    for bucket in range(buckets):
        poke(target.ends, bucket, np.uint64(0))
    for number in range(made):
        count_up(target.ends, bucket_of(peek(found.places, number), target.bits), 1)
    begin = integer(0)
    for bucket in range(buckets):
        count = integer(peek(target.ends, bucket))
        poke(target.ends, bucket, np.uint64(begin))
        begin += count
    for number in range(made):
        bucket = bucket_of(peek(found.places, number), target.bits)
        copy_words(target.records + size * integer(peek(target.ends, bucket)), found.records + size * number, words + 1)
        count_up(target.ends, bucket, 1)


@part
def bucket_of(place: Word, bits: int) -> int:
    """The bucket of a place."""
    return integer(0) if bits == 0 else integer(place >> (_WORD - np.uint64(bits)))


@loop
def admit(space: Space, records: int, span: np.ndarray, new: New) -> None:
    """Make candidates of records span[0] … span[1] - 1, and raise span[0] with each; there are span[2] candidates.

    It comes back when all are done, or when there is no room.
    """
    words, size = space.words, 8 * (space.words + 1)
    while span[0] < span[1]:
        count = min(AHEAD, span[1] - span[0], room(space, span[2]))
        if count <= 0:
            return
        first = records + size * span[0]
        _ask(space, (first, size), count, new.scratch)
        for k in range(count):
            record = first + size * k
            start, link = _start(new.scratch, k), peek(record, words)
            index = find_or_add_from(space, record, start, span[2])
            if index == ABSENT:
                poke(new.links, span[2], link)
                span[2] += 1
            elif link < peek(new.links, index):
                poke(new.links, index, link)
        span[0] += count


@loop
def strike(space: Space, rows: int, count: int, new: New) -> None:
    """Mark those candidates that are among so many states, which follow each other."""
    words = space.words
    for begin in range(0, count, AHEAD):
        size = min(AHEAD, count - begin)
        first = rows + 8 * words * begin
        _ask(space, (first, 8 * words), size, new.scratch)
        for k in range(size):
            index = find(space, first + 8 * words * k, peek(new.scratch, 2 * k))
            if index != ABSENT:
                poke8(new.known, index, np.uint64(1))


@part
def _ask(space: Space, keys: tuple[int, int], count: int, scratch: int) -> None:
    """Hash keys, given by the address of the first and the bytes from one to the next, and ask for their entries."""
    for k in range(count):
        hashed = hash_of(keys[0] + keys[1] * k, space.words)
        poke(scratch, 2 * k, hashed)
        poke(scratch, 2 * k + 1, np.uint64(first_slot(space, hashed)))
    for k in range(count):
        slot = likely_slot(space, peek(scratch, 2 * k), integer(peek(scratch, 2 * k + 1)))
        poke(scratch, 2 * k + 1, np.uint64(slot))


@part
def _start(scratch: int, k: int) -> tuple[Word, int]:
    """The hash of a key that was asked for, and where its probing goes on."""
    return peek(scratch, 2 * k), integer(peek(scratch, 2 * k + 1))
