"""Keys, in hand and in the store.

Words: a *key* is a packed state, or what stands for one (see `tree`). In hand it is a row of words. In the store it has
a *stride* of bytes: the bits of one or two words may fill less than all of their bytes, and only those are stored.
"""
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from search.loops.native import ZERO, Word, fold, part, peek, peek_anywhere, poke, poke_anywhere

_FIRST, _SECOND, _LAST = (np.uint64(n) for n in (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0xD6E8FEB86659FD93))


class Space(NamedTuple):
    """A set of states: sizes, and the addresses of its arrays (which somebody else keeps alive)."""

    words: int
    stride: int
    """Bytes of a stored key: at most 8 for a word, 9 to 16 for two, 8 each for more."""
    store: int
    capacity: int
    """How many keys the store can hold."""
    table: int
    entry_bytes: int
    """4 or 8."""
    region_size: int
    region_limit: int
    """How many entries a region may have before the table must grow."""
    index_bits: int
    """The width of the index in an entry."""
    filled: int
    """Per region, int64: how many entries it has."""


@part
def hash_of(key: int, words: int) -> Word:
    """The hash of the key at an address."""
    if words == 1:
        return mixed(fold(peek(key, 0) ^ _SECOND, _FIRST))
    if words == 2:
        return _hash_of_two(peek(key, 0), peek(key, 1))
    folded = _SECOND
    for place in range(0, words - 1, 2):
        folded = fold(peek(key, place) ^ folded, peek(key, place + 1) ^ _FIRST)
    if words % 2:
        folded = fold(peek(key, words - 1) ^ folded, _FIRST)
    return mixed(folded)


@part
def _hash_of_two(one: Word, two: Word) -> Word:
    return mixed(fold(one ^ _FIRST, two ^ _SECOND))


@part
def mixed(folded: Word) -> Word:
    """A hash of what `fold` made of words: all of its bits depend on all of theirs."""
    return (folded ^ (folded >> np.uint64(32))) * _LAST


@part
def hash_of_stored(space: Space, index: int) -> Word:
    """The hash of a stored key."""
    if space.words == 1:
        return mixed(fold(_last_word(space, index) ^ _SECOND, _FIRST))
    if space.words == 2:
        return _hash_of_two(peek_anywhere(key_at(space, index), 0), _last_word(space, index))
    return hash_of(key_at(space, index), space.words)


@part
def same_words(one: int, other: int, words: int) -> bool:
    """Whether so many words at two addresses are equal. A few are compared without a loop: its overhead is greater."""
    different = peek(one, 0) ^ peek(other, 0)
    if words > 1:
        different |= peek(one, 1) ^ peek(other, 1)
    if words > 2:
        different |= peek(one, 2) ^ peek(other, 2)
    if words > 3:
        different |= peek(one, 3) ^ peek(other, 3)
    if words > 4:
        different |= _difference(one, other, words)
    return different == ZERO


@part
def _difference(one: int, other: int, words: int) -> Word:
    different = ZERO
    for place in range(4, words):
        different |= peek(one, place) ^ peek(other, place)
    return different


@part
def is_key(space: Space, index: int, key: int) -> bool:
    """Whether a stored key is the one in hand at an address."""
    if space.words == 1:
        return _last_word(space, index) == peek(key, 0)
    if space.words == 2:
        low = peek_anywhere(key_at(space, index), 0) ^ peek(key, 0)
        return (low | (_last_word(space, index) ^ peek(key, 1))) == ZERO
    return same_words(key_at(space, index), key, space.words)


@part
def copy_words(target: int, source: int, words: int) -> None:
    """Copy so many words from one address to another; a few without a loop."""
    poke(target, 0, peek(source, 0))
    if words > 1:
        poke(target, 1, peek(source, 1))
    if words > 2:
        poke(target, 2, peek(source, 2))
    if words > 3:
        for place in range(3, words):
            poke(target, place, peek(source, place))


@part
def key_at(space: Space, index: int) -> int:
    """The address of a stored key; of its words, where the stride is 8 bytes for each."""
    return space.store + space.stride * index


@part
def _last_word(space: Space, index: int) -> Word:
    """The last word of a stored key of one or two words."""
    missing = np.uint64(8 * (8 * space.words - space.stride))
    return peek_anywhere(key_at(space, index) + space.stride - 8, 0) >> missing


@part
def take_key(space: Space, index: int, target: int) -> None:
    """Copy a stored key to the words at an address."""
    if space.words > 2:
        copy_words(target, key_at(space, index), space.words)
        return
    if space.words == 2:
        poke(target, 0, peek_anywhere(key_at(space, index), 0))
    poke(target, space.words - 1, _last_word(space, index))


@part
def put_key(space: Space, index: int, key: int) -> None:
    """Store the key at an address. Keys are stored in order: bytes after it are no key's yet, and some are written."""
    for place in range(space.words):
        poke_anywhere(key_at(space, index), place, peek(key, place))
