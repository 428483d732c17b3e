"""The loops of a search level by level, with states in buckets: expand the frontier of a bucket, insert candidates.

Words: the *place* of a state is its hash, rotated so that its leading bits are others than those that hash tables use.
States of a level are ordered by place; a *bucket* is a range of places, given by its leading bits. A *record* is the
words of a state and its *link*: the place of its parent, except for the last 18 bits, which are the instance of that
step. Of several links to one state the least is used, so that the result does not depend on the order of records.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kwalk.search.exhaustive.expansion import count_rows, expand_states
from kwalk.search.exhaustive.layout import BATCH, Cursor, SearchLayout, Status
from kwalk.search.native.intrinsics import count_up, integer, peek, peek32, poke, poke8
from kwalk.search.native.loops import Int64Array, Word, loop, part
from kwalk.search.visited.hash_table import ABSENT, find, find_or_add_from, first_slot, likely_slot, room_for_keys
from kwalk.search.visited.keys import KeySpace, copy_words, hash_of, load_key, same_words

INSTANCE_BITS = 18
PREFETCH_BATCH = 64
"""Keys that are hashed, and whose entries are prefetched, before the first of them is looked up."""

_HALF = np.uint64(32)
_INSTANCES = np.uint64((1 << INSTANCE_BITS) - 1)
_WORD = np.uint64(64)


class SuccessorRecords(NamedTuple):
    """The target for records of successors: the addresses of the records and of their places, and the capacity."""

    records: int
    places: int
    most: int


class BucketedRecords(NamedTuple):
    """The target for records by bucket: the addresses of the records, and of the end of each bucket."""

    records: int
    ends: int
    bits: int
    """The number of leading bits of a place that are its bucket."""


class CandidateRecords(NamedTuple):
    """The candidates: the addresses of their links, and of one byte each, 1 if it is known."""

    links: int
    visited: int
    scratch: int
    """Scratch memory of 2 * PREFETCH_BATCH words."""


@part
def place_of(key: int, words: int) -> Word:
    """Return the place of the state at an address."""
    hashed = hash_of(key, words)
    return (hashed << _HALF) | (hashed >> _HALF)


@loop
def places(rows: int, count: int, words: int, target: int) -> None:
    """Write the places of `count` consecutive states."""
    for number in range(count):
        poke(target, number, place_of(rows + 8 * words * number, words))


@loop
def expand_rows(search: SearchLayout, cursor: Int64Array, successors: SuccessorRecords) -> int:
    """Expand states up to number cursor[Cursor.LIMIT]; cursor[Cursor.STORED] becomes the number of records.

    Returns DONE when all are expanded, FULL when there may be no room for more records, FAILED at a state that cannot
    be expanded.
    """
    kernel = search.kernel
    cursor[Cursor.STORED] = 0
    while cursor[Cursor.NEXT] < cursor[Cursor.LIMIT]:
        first = cursor[Cursor.NEXT]
        count = min(BATCH, cursor[Cursor.LIMIT] - first, (successors.most - cursor[Cursor.STORED]) // kernel.instances)
        if count <= 0:
            return Status.FULL
        status = expand_states(search, cursor, count)
        count_rows(search, cursor[Cursor.NEXT] - first)
        cursor[Cursor.STORED] = _write_records(search, first, cursor[Cursor.NEXT], (successors, cursor[Cursor.STORED]))
        if status != Status.RUNNING:
            return status
    return Status.DONE


@part
def _write_records(search: SearchLayout, first: int, last: int, where: tuple[SuccessorRecords, int]) -> int:
    """Write records of the successors of some states, which are in the batch; return the number of records.

    A step that leads to the same state has no record, and is counted.
    """
    words, batch, (found, made), j = search.kernel.words, search.batch, where, integer(0)
    for index in range(first, last):
        load_key(search.space, index, batch.state)
        link, end = place_of(batch.state, words) & ~_INSTANCES, integer(peek(batch.ends, index - first))
        while j < end:
            row, instance = batch.rows + 8 * words * j, peek32(batch.instances, j)
            if same_words(row, batch.state, words):
                count_up(search.counters.idle, integer(instance), 1)
            else:
                record = found.records + 8 * (words + 1) * made
                copy_words(record, row, words)
                poke(record, words, link | instance)
                poke(found.places, made, place_of(record, words))
                made += 1
            j += 1
    return made


@loop
def sort_by_bucket(successors: SuccessorRecords, records: int, words: int, target: BucketedRecords) -> None:
    """Write the first `records` records bucket by bucket."""
    buckets, size = 1 << target.bits, 8 * (words + 1)
    for bucket in range(buckets):
        poke(target.ends, bucket, np.uint64(0))
    for number in range(records):
        count_up(target.ends, bucket_of(peek(successors.places, number), target.bits), 1)
    begin = integer(0)
    for bucket in range(buckets):
        count = integer(peek(target.ends, bucket))
        poke(target.ends, bucket, np.uint64(begin))
        begin += count
    for number in range(records):
        bucket = bucket_of(peek(successors.places, number), target.bits)
        copy_words(
            target.records + size * integer(peek(target.ends, bucket)), successors.records + size * number, words + 1
        )
        count_up(target.ends, bucket, 1)


@part
def bucket_of(place: Word, bits: int) -> int:
    """Return the bucket of a place."""
    return integer(0) if bits == 0 else integer(place >> (_WORD - np.uint64(bits)))


@loop
def insert_candidates(space: KeySpace, records: int, span: Int64Array, new: CandidateRecords) -> None:
    """Insert records span[0] … span[1] - 1 as candidates, and raise span[0] with each; span[2] is their number.

    It returns when all are inserted, or when there is no room.
    """
    words, size = space.words, 8 * (space.words + 1)
    while span[0] < span[1]:
        count = min(PREFETCH_BATCH, span[1] - span[0], room_for_keys(space, span[2]))
        if count <= 0:
            return
        first = records + size * span[0]
        _prefetch_keys(space, (first, size), count, new.scratch)
        for k in range(count):
            record = first + size * k
            start, link = _probe_start(new.scratch, k), peek(record, words)
            index = find_or_add_from(space, record, start, span[2])
            if index == ABSENT:
                poke(new.links, span[2], link)
                span[2] += 1
            elif link < peek(new.links, index):
                poke(new.links, index, link)
        span[0] += count


@loop
def mark_known(space: KeySpace, rows: int, count: int, new: CandidateRecords) -> None:
    """Mark the candidates that are among `count` consecutive states."""
    words = space.words
    for begin in range(0, count, PREFETCH_BATCH):
        size = min(PREFETCH_BATCH, count - begin)
        first = rows + 8 * words * begin
        _prefetch_keys(space, (first, 8 * words), size, new.scratch)
        for k in range(size):
            index = find(space, first + 8 * words * k, peek(new.scratch, 2 * k))
            if index != ABSENT:
                poke8(new.visited, index, np.uint64(1))


@part
def _prefetch_keys(space: KeySpace, keys: tuple[int, int], count: int, scratch: int) -> None:
    """Hash keys, given by the address of the first and the distance in bytes, and prefetch their entries."""
    for k in range(count):
        hashed = hash_of(keys[0] + keys[1] * k, space.words)
        poke(scratch, 2 * k, hashed)
        poke(scratch, 2 * k + 1, np.uint64(first_slot(space, hashed)))
    for k in range(count):
        slot = likely_slot(space, peek(scratch, 2 * k), integer(peek(scratch, 2 * k + 1)))
        poke(scratch, 2 * k + 1, np.uint64(slot))


@part
def _probe_start(scratch: int, k: int) -> tuple[Word, int]:
    """Return the hash of a prefetched key, and the slot to probe from."""
    return peek(scratch, 2 * k), integer(peek(scratch, 2 * k + 1))
