"""Long states as trees of parts that they share, so that a state costs hardly more than its root.

Words: a *part* of a state is a run of its words, a *leaf*, or a *pair*: the numbers of two parts, 32 bits each. A state
has 2, 4, 8 … leaves; pair k joins parts 2k and 2k + 1 (leaves come first), until two parts are left. A *shelf*
keeps all values of a part, each once, under its *number*; its table finds the number of a value. A state is *folded*
into its *root*, the pair of the last two parts, which is no part but the key that is stored, and it is *unfolded* from
there. Equal states have equal roots, and different ones different roots. Which number a value gets depends on who came
first where several workers look up values at once, but nothing that is counted depends on it. A successor takes the
numbers of its parent for the leaves that the step has not changed.

Source: Laarman, van de Pol, Weber, "Parallel recursive state compression for free" (SPIN 2011).
"""
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from search.loops.keys import copy_words, hash_of, same_words
from search.loops.native import (
    ONE,
    ZERO,
    Word,
    integer,
    loop,
    part,
    peek,
    peek32,
    poke,
    poke32,
    prefetch,
    scale,
)
from search.loops.sharing import peek32_shared, poke32_shared, replace32, take_ticket

NOTHING = np.uint64(0xFFFFFFFFFFFFFFFF)
"""Where there is no room for another value: no number, and no root."""
BUSY = np.uint64(0xFFFFFFFF)
"""The entry of a value that some worker is about to write."""

COUNT, LIMIT, WORDS, FIRST, VALUES, TABLE, SLOTS, NUMBER_BITS = range(8)
"""What a shelf is (a row of int64): how many values there are, how many there may be (some more by workers that come
at once), the words of a value, the first of them in a state, the addresses of the values and of the table (uint32 per
slot: 0 if it is free, else the number plus 1 below a tag), its slots, and the width of the number in an entry."""
SHELF_SIZE = 8

_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)


class Tree(NamedTuple):
    """How states are folded: sizes, and the address of the shelves, one for each part."""

    words: int
    """Words of a state; 0 if states are not folded."""
    leaves: int
    shelves: int


@part
def _shelf(tree: Tree, place: int) -> int:
    """The address of the shelf of a part."""
    return tree.shelves + 8 * SHELF_SIZE * place


@part
def room_for_values(tree: Tree) -> int:
    """How many values can be added for sure, of each part."""
    least = integer(peek(tree.shelves, LIMIT)) - integer(peek(tree.shelves, COUNT))
    for place in range(1, 2 * tree.leaves - 2):
        shelf = _shelf(tree, place)
        least = min(least, integer(peek(shelf, LIMIT)) - integer(peek(shelf, COUNT)))
    return least


@part
def _value_at(shelf: int, number: int) -> int:
    """The address of a value."""
    return integer(peek(shelf, VALUES)) + 8 * integer(peek(shelf, WORDS)) * number


@part
def _hash_of_value(value: int, words: int) -> Word:
    """The hash of a value; never 0."""
    return hash_of(value, words) | ONE


@part
def _slot(shelf: int, hashed: Word) -> int:
    """Where a hash begins its probing."""
    return integer(scale(hashed, peek(shelf, SLOTS)))


@part
def _tag(shelf: int, hashed: Word) -> Word:
    """The tag of a hash, in its place in an entry."""
    return (hashed << peek(shelf, NUMBER_BITS)) & _LOW


@part
def _number_of(shelf: int, value: int, start: tuple[Word, int]) -> Word:
    """The number of the value at an address, which gets one if it has none; NOTHING if there is no room.

    `start` is its hash, and a slot to probe from. Any number of workers may ask at once.
    """
    table, bits, words = integer(peek(shelf, TABLE)), peek(shelf, NUMBER_BITS), integer(peek(shelf, WORDS))
    hashed, slot = start
    tag = _tag(shelf, hashed)
    while True:
        entry = peek32_shared(table, slot)
        if entry == ZERO:
            if peek(shelf, COUNT) >= peek(shelf, LIMIT):
                return NOTHING
            if replace32(table, slot, ZERO, BUSY):
                number = take_ticket(shelf + 8 * COUNT)
                copy_words(_value_at(shelf, number), value, words)
                poke32_shared(table, slot, tag | np.uint64(number + 1))
                return np.uint64(number)
        elif entry != BUSY:
            if (entry ^ tag) >> bits == ZERO:
                number = integer(entry ^ tag) - 1
                if same_words(_value_at(shelf, number), value, words):
                    return np.uint64(number)
            slot = _after(shelf, slot)


@part
def _after(shelf: int, slot: int) -> int:
    """Where probing goes on after a slot."""
    return slot + 1 if slot + 1 < integer(peek(shelf, SLOTS)) else integer(0)


@part
def hash_leaves(tree: Tree, key: int, before: int, looks: int) -> None:
    """Write the hashes of those leaves of the state at an address that differ from `before`; 0 for the others.

    `looks` has two words for each leaf: its hash, and where it is looked for.
    """
    for place in range(tree.leaves):
        shelf, hashed = _shelf(tree, place), ZERO
        first, words = 8 * integer(peek(shelf, FIRST)), integer(peek(shelf, WORDS))
        if not same_words(key + first, before + first, words):
            hashed = _hash_of_value(key + first, words)
        poke(looks, 2 * place, hashed)


@part
def find_slots(tree: Tree, looks: int) -> None:
    """Write where leaves begin their probing. The places in the tables are asked for: they will be needed soon."""
    for place in range(tree.leaves):
        hashed, shelf = peek(looks, 2 * place), _shelf(tree, place)
        if hashed != ZERO:
            slot = _slot(shelf, hashed)
            poke(looks, 2 * place + 1, np.uint64(slot))
            prefetch(integer(peek(shelf, TABLE)) + 4 * slot)


@part
def find_likely_slots(tree: Tree, looks: int) -> None:
    """Go on to where probing first finds the tags of leaves, or nothing. The values that are there are asked for."""
    for place in range(tree.leaves):
        hashed, shelf = peek(looks, 2 * place), _shelf(tree, place)
        if hashed != ZERO:
            table, bits, tag = integer(peek(shelf, TABLE)), peek(shelf, NUMBER_BITS), _tag(shelf, hashed)
            slot = integer(peek(looks, 2 * place + 1))
            entry = peek32_shared(table, slot)
            while entry != ZERO and entry != BUSY and (entry ^ tag) >> bits != ZERO:
                slot = _after(shelf, slot)
                entry = peek32_shared(table, slot)
            if entry != ZERO and entry != BUSY:
                prefetch(_value_at(shelf, integer(entry ^ tag) - 1))
            poke(looks, 2 * place + 1, np.uint64(slot))


@part
def fold_key(tree: Tree, key: int, known: int, numbers: int, looks: int) -> Word:
    """The root of the state at an address, with its leaves' looks; NOTHING if there is no room for its parts.

    `known` is the address of the numbers of another state's parts: parts that are equal have equal numbers. Those of
    this state are written to `numbers`, where a word more is for work.
    """
    leaves, parts = tree.leaves, 2 * tree.leaves - 2
    for place in range(leaves):
        number, hashed = peek(known, place), peek(looks, 2 * place)
        if hashed != ZERO:
            shelf, start = _shelf(tree, place), (hashed, integer(peek(looks, 2 * place + 1)))
            number = _number_of(shelf, key + 8 * integer(peek(shelf, FIRST)), start)
            if number == NOTHING:
                return NOTHING
        poke(numbers, place, number)
    for place in range(leaves, parts):
        number, left, shelf = peek(known, place), 2 * (place - leaves), _shelf(tree, place)
        if not same_words(numbers + 8 * left, known + 8 * left, 2):
            value = numbers + 8 * parts
            poke(value, 0, peek(numbers, left) << _HALF | peek(numbers, left + 1))
            hashed = _hash_of_value(value, 1)
            number = _number_of(shelf, value, (hashed, _slot(shelf, hashed)))
            if number == NOTHING:
                return NOTHING
        poke(numbers, place, number)
    return peek(numbers, parts - 2) << _HALF | peek(numbers, parts - 1)


@part
def unfold(tree: Tree, root: Word, target: int, numbers: int) -> None:
    """Write the state of a root to an address, and the numbers of its parts to another."""
    leaves, parts = tree.leaves, 2 * tree.leaves - 2
    poke(numbers, parts - 2, root >> _HALF)
    poke(numbers, parts - 1, root & _LOW)
    for place in range(parts - 1, leaves - 1, -1):
        value, left = peek(_value_at(_shelf(tree, place), integer(peek(numbers, place))), 0), 2 * (place - leaves)
        poke(numbers, left, value >> _HALF)
        poke(numbers, left + 1, value & _LOW)
    for place in range(leaves):
        shelf = _shelf(tree, place)
        value = _value_at(shelf, integer(peek(numbers, place)))
        copy_words(target + 8 * integer(peek(shelf, FIRST)), value, integer(peek(shelf, WORDS)))


@part
def prefetch_parts(tree: Tree, root: Word) -> None:
    """Ask for what a root will be unfolded to first."""
    parts = 2 * tree.leaves - 2
    prefetch(_value_at(_shelf(tree, parts - 2), integer(root >> _HALF)))
    prefetch(_value_at(_shelf(tree, parts - 1), integer(root & _LOW)))


@loop
def fold_rows(tree: Tree, rows: int, count: int, room: tuple[int, int]) -> int:
    """Fold states that follow each other at an address; how many, which is fewer than `count` if there is no room.

    The roots are written to room[0]; room[1] has a state of words and 6 more for each leaf.
    """
    roots, before = room
    known = before + 8 * tree.words
    numbers, looks = known + 16 * tree.leaves, known + 32 * tree.leaves
    for number in range(count):
        row = rows + 8 * tree.words * number
        for word in range(tree.words):
            poke(before, word, ~peek(row, word))
        for place in range(2 * tree.leaves - 2):
            poke(known, place, NOTHING)
        hash_leaves(tree, row, before, looks)
        find_slots(tree, looks)
        root = fold_key(tree, row, known, numbers, looks)
        if root == NOTHING:
            return number
        poke(roots, number, root)
    return count


@loop
def unfold_roots(tree: Tree, roots: int, count: int, room: tuple[int, int]) -> None:
    """Unfold roots that follow each other at an address to states at room[0]; room[1] has 2 words for each leaf."""
    for number in range(count):
        unfold(tree, peek(roots, number), room[0] + 8 * tree.words * number, room[1])


@loop
def refill_shelf(shelf: int) -> None:
    """Enter all values of a shelf into its table, which is empty."""
    table = integer(peek(shelf, TABLE))
    for number in range(integer(peek(shelf, COUNT))):
        hashed = _hash_of_value(_value_at(shelf, number), integer(peek(shelf, WORDS)))
        slot = _slot(shelf, hashed)
        while peek32(table, slot) != ZERO:
            slot = _after(shelf, slot)
        poke32(table, slot, _tag(shelf, hashed) | np.uint64(number + 1))
