"""Keys of states, in memory and in the store.

Words: a *key* is a packed state, or what stands for one (see `tree_compression`). A key to look up is a row of words.
In the store it has a *stride* of bytes: the bits of one or two words may fill fewer bytes, and only those are stored.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kwalk.search.native.intrinsics import (
    HASH_FACTORS,
    ONE,
    ZERO,
    folded_multiply,
    peek,
    peek_anywhere,
    poke,
    poke_anywhere,
)
from kwalk.search.native.loops import Word, part

_FIRST, _SECOND, _LAST = HASH_FACTORS


class KeySpace(NamedTuple):
    """A set of keys: sizes, and the addresses of its arrays, which the owner keeps alive."""

    words: int
    stride: int
    """Bytes of a stored key: at most 8 for one word, 9 to 16 for two, 8 for each word if there are more."""
    store: int
    capacity: int
    """The number of keys that the store can hold."""
    table: int
    entry_bytes: int
    """4 or 8."""
    region_size: int
    region_limit: int
    """The number of entries in a region at which the table must grow."""
    index_bits: int
    """Bits of the index in an entry."""
    filled: int
    """int64 for each region: its entries."""


@part
def hash_of(key: int, words: int) -> Word:
    """Return the hash of the key at an address."""
    if words == 1:
        return finalize_hash(folded_multiply(peek(key, 0) ^ _SECOND, _FIRST))
    if words == 2:
        return _hash_of_two(peek(key, 0), peek(key, 1))
    compress = _SECOND
    for place in range(0, words - 1, 2):
        compress = folded_multiply(peek(key, place) ^ compress, peek(key, place + 1) ^ _FIRST)
    if words % 2:
        compress = folded_multiply(peek(key, words - 1) ^ compress, _FIRST)
    return finalize_hash(compress)


@part
def _hash_of_two(one: Word, two: Word) -> Word:
    return finalize_hash(folded_multiply(one ^ _FIRST, two ^ _SECOND))


@part
def finalize_hash(compress: Word) -> Word:
    """Return a hash of a folded product: every bit depends on all bits of the product."""
    return (compress ^ (compress >> np.uint64(32))) * _LAST


@part
def hash_of_stored(space: KeySpace, index: int) -> Word:
    """Return the hash of a stored key."""
    if space.words == 1:
        return finalize_hash(folded_multiply(last_word(space, index) ^ _SECOND, _FIRST))
    if space.words == 2:
        return _hash_of_two(peek_anywhere(key_at(space, index), 0), last_word(space, index))
    return hash_of(key_at(space, index), space.words)


@part
def same_words(one: int, other: int, words: int) -> bool:
    """Whether `words` words at two addresses are equal. The first four need no loop, which is faster."""
    different = peek(one, 0) ^ peek(other, 0)
    if words > 1:
        different |= peek(one, 1) ^ peek(other, 1)
    if words > 2:
        different |= peek(one, 2) ^ peek(other, 2)
    if words > 3:
        different |= peek(one, 3) ^ peek(other, 3)
    if words > 4:
        different |= _difference(one, other, words)
    return bool(different == ZERO)


@part
def _difference(one: int, other: int, words: int) -> Word:
    different = ZERO
    for place in range(4, words):
        different |= peek(one, place) ^ peek(other, place)
    return different


@part
def key_equals(space: KeySpace, index: int, key: int) -> bool:
    """Whether a stored key equals the key at an address."""
    if space.words == 1:
        return bool(last_word(space, index) == peek(key, 0))
    if space.words == 2:
        low = peek_anywhere(key_at(space, index), 0) ^ peek(key, 0)
        return bool((low | (last_word(space, index) ^ peek(key, 1))) == ZERO)
    return same_words(key_at(space, index), key, space.words)


@part
def copy_words(target: int, source: int, words: int) -> None:
    """Copy `words` words from one address to another; the first three without a loop."""
    poke(target, 0, peek(source, 0))
    if words > 1:
        poke(target, 1, peek(source, 1))
    if words > 2:
        poke(target, 2, peek(source, 2))
    if words > 3:
        for place in range(3, words):
            poke(target, place, peek(source, place))


@part
def key_at(space: KeySpace, index: int) -> int:
    """Return the address of a stored key."""
    return space.store + space.stride * index


@part
def last_word(space: KeySpace, index: int) -> Word:
    """Return the last word of a stored key of one or two words; of one word, it is the key."""
    missing = np.uint64(8 * (8 * space.words - space.stride))
    return peek_anywhere(key_at(space, index) + space.stride - 8, 0) >> missing


@part
def put_last_word(space: KeySpace, index: int, word: Word) -> None:
    """Replace the only word of a stored key, and nothing else."""
    missing = np.uint64(8 * (8 - space.stride))
    place = key_at(space, index) + space.stride - 8
    before = peek_anywhere(place, 0) & ((ONE << missing) - ONE)
    poke_anywhere(place, 0, word << missing | before)


@part
def load_key(space: KeySpace, index: int, target: int) -> None:
    """Copy a stored key to the words at an address."""
    if space.words > 2:
        copy_words(target, key_at(space, index), space.words)
        return
    if space.words == 2:
        poke(target, 0, peek_anywhere(key_at(space, index), 0))
    poke(target, space.words - 1, last_word(space, index))


@part
def store_key(space: KeySpace, index: int, key: int) -> None:
    """Store the key at an address. Keys are stored in order: some of the unused bytes behind it are overwritten."""
    for place in range(space.words):
        poke_anywhere(key_at(space, index), place, peek(key, place))
