"""Canonical states: the least of all states that differ only by the names of interchangeable members.

Words: a *permutation* renames the members of a domain. Applied to a packed state it moves some leaves (elements of an
array over the domain, flags of a subset of it) and renames the members that leaves hold. The *orbit* of a state is the
set of its images under all permutations; its *canonical* state is the least of them, compared word by word. A leaf is
*dead* where its value cannot be observed (a free slot of a queue): it is moved, and not renamed. A *move* is an item of
the table: see `SymmetryLayout`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kwalk.search.kernel.interface import Kernel
from kwalk.search.native.intrinsics import ONE, ZERO, integer, peek, poke
from kwalk.search.native.loops import Word, WordArray, WordMatrix, loop, part
from kwalk.search.visited.keys import same_words

if TYPE_CHECKING:
    from kwalk.search.symmetry.permutations import Permutation, RenamedLeaf, Renaming

TABLE_PERMUTATIONS, TABLE_MOVES, TABLE_MASKS = range(3)
"""The head of a table, in words: the number of permutations, the moves of each, and a mask of the bits that stay for
each
word of a state; then the moves of each permutation."""
MOVE_SOURCE, MOVE_TARGET, MOVE_WIDTH, MOVE_RENAMED, MOVE_WITNESS, MOVE_WITNESS_WIDTH, MOVE_WITNESS_LEAST, MOVE_NAMES = (
    range(8)
)
"""A move, in words: the bit offset of a leaf before and after, its width in bits; 1 if it is renamed; the witness that
states whether it is alive (its offset, its width, 0 if it always is, and its least value for that); the address of the
new names, indexed by the bits of the leaf."""
MOVE_LENGTH = 8


class SymmetryLayout(NamedTuple):
    """The address of a table (0: none), and the words of a packed state."""

    table: int
    words: int


@part
def canonicalize(symmetry: SymmetryLayout, rows: int, count: int, best: int) -> None:
    """Replace `count` consecutive packed states by the canonical states of their orbits.

    `best` is the address of scratch memory for two states.
    """
    words = symmetry.words
    made = best + 8 * words
    for j in range(count):
        row = rows + 8 * words * j
        _copy(best, row, words)
        for number in range(1, integer(peek(symmetry.table, TABLE_PERMUTATIONS))):
            permute(symmetry, number, row, made)
            if _is_less(made, best, words):
                _copy(best, made, words)
        _copy(row, best, words)


@part
def permute(symmetry: SymmetryLayout, number: int, row: int, image: int) -> None:
    """Write the image of a packed state under a permutation."""
    head, moves = symmetry.table, integer(peek(symmetry.table, TABLE_MOVES))
    for word in range(symmetry.words):
        poke(image, word, peek(row, word) & peek(head, TABLE_MASKS + word))
    first = head + 8 * (TABLE_MASKS + symmetry.words + MOVE_LENGTH * moves * number)
    for k in range(moves):
        move = first + 8 * MOVE_LENGTH * k
        bits = _bits(row, peek(move, MOVE_SOURCE), peek(move, MOVE_WIDTH))
        if peek(move, MOVE_RENAMED) != ZERO and _bits(
            row, peek(move, MOVE_WITNESS), peek(move, MOVE_WITNESS_WIDTH)
        ) >= peek(move, MOVE_WITNESS_LEAST):
            bits = peek(integer(peek(move, MOVE_NAMES)), integer(bits))
        target = peek(move, MOVE_TARGET)
        word = integer(target >> np.uint64(6))
        poke(image, word, peek(image, word) | (bits << (target & np.uint64(63))))


@part
def _bits(row: int, offset: Word, width: Word) -> Word:
    word = peek(row, integer(offset >> np.uint64(6))) >> (offset & np.uint64(63))
    return word & ((ONE << width) - ONE)


@part
def _copy(target: int, source: int, words: int) -> None:
    for word in range(words):
        poke(target, word, peek(source, word))


@part
def _is_less(one: int, other: int, words: int) -> bool:
    for word in range(words):
        if peek(one, word) != peek(other, word):
            return bool(peek(one, word) < peek(other, word))
    return False


@loop
def count_orbit_states(symmetry: SymmetryLayout, rows: WordMatrix, scratch: WordArray) -> int:
    """Return the number of states in the orbits of packed states, uint64[n, words].

    An orbit has as many states as there are permutations, divided by those that leave the state unchanged. `scratch` is
    scratch memory for one state.
    """
    states = integer(0)
    permutations = integer(peek(symmetry.table, TABLE_PERMUTATIONS))
    for j in range(len(rows)):
        idle = integer(0)
        for number in range(permutations):
            permute(symmetry, number, integer(rows[j].ctypes.data), integer(scratch.ctypes.data))
            idle += integer(same_words(integer(scratch.ctypes.data), integer(rows[j].ctypes.data), symmetry.words))
        states += permutations // idle
    return states


@loop
def replace_successors(table: int, words: int, rows: int, count: int, best: int) -> None:
    """See `kwalk.search.exhaustive.layout.SuccessorFunctions.replace`."""
    canonicalize(SymmetryLayout(table, words), rows, count, best)


@loop
def canonicalize_rows(symmetry: SymmetryLayout, rows: WordMatrix, best: int) -> None:
    """Replace packed states, uint64[n, words], by the canonical states of their orbits; `best` as in `canonicalize`."""
    canonicalize(symmetry, integer(rows.ctypes.data), len(rows), best)


@loop
def permute_row(symmetry: SymmetryLayout, row: WordArray, images: WordMatrix) -> None:
    """Write the image of a packed state under each permutation into the rows of `images`."""
    for number in range(len(images)):
        permute(symmetry, number, integer(row.ctypes.data), integer(images[number].ctypes.data))


class SymmetryTable:
    """The effect of all permutations of a domain on packed states. Keep it alive as long as its address is used."""

    def __init__(self, renaming: Renaming, kernel: Kernel) -> None:
        self.renaming, self.kernel, self.permutations = renaming, kernel, renaming.permutations
        self._names: list[np.ndarray] = []
        changed = [place for place in renaming.places if self._changes(place) and kernel.widths[place.leaf]]
        head = [len(self.permutations), len(changed), *self._what_stays(changed)]
        moves = [self._move(place, permutation) for permutation in self.permutations for place in changed]
        self._table = np.concatenate([np.array(head, np.uint64), *moves])
        self.symmetry = SymmetryLayout(self._table.ctypes.data, kernel.words)

    def _changes(self, place: RenamedLeaf) -> bool:
        return place.holds or any(self.renaming.target(place, swap) != place.leaf for swap in self.renaming.swaps)

    def _what_stays(self, changed: list[RenamedLeaf]) -> list[int]:
        """Return a mask for each word of a packed state: the bits that no permutation changes."""
        masks = [(1 << 64) - 1] * self.kernel.words
        for place in changed:
            offset, width = int(self.kernel.offsets[place.leaf]), int(self.kernel.widths[place.leaf])
            masks[offset // 64] &= ~(((1 << width) - 1) << offset % 64)
        return masks

    def _move(self, place: RenamedLeaf, permutation: Permutation) -> np.ndarray:
        from kwalk.search.symmetry.permutations import packed_names  # other searches import this module, too

        kernel, target = self.kernel, self.renaming.target(place, permutation)
        move = np.zeros(MOVE_LENGTH, np.uint64)
        move[MOVE_SOURCE], move[MOVE_TARGET] = kernel.offsets[place.leaf], kernel.offsets[target]
        move[MOVE_WIDTH], move[MOVE_RENAMED] = kernel.widths[place.leaf], place.holds
        if place.holds:
            self._names.append(packed_names(permutation, int(kernel.lows[place.leaf])))
            move[MOVE_NAMES] = self._names[-1].ctypes.data
        if place.witness is not None:
            move[MOVE_WITNESS], move[MOVE_WITNESS_WIDTH] = kernel.offsets[place.witness], kernel.widths[place.witness]
            move[MOVE_WITNESS_LEAST] = place.above + 1
        return move

    def canonical(self, rows: np.ndarray) -> np.ndarray:
        """Return the canonical states of packed states, uint64[n, words]."""
        made = np.ascontiguousarray(rows, np.uint64).copy()
        best = np.zeros(2 * self.kernel.words, np.uint64)
        canonicalize_rows(self.symmetry, made, best.ctypes.data)
        return made

    def count_states(self, rows: np.ndarray) -> int:
        """Return the number of states in the orbits of packed states, uint64[n, words]."""
        made = np.zeros(self.kernel.words, np.uint64)
        return int(count_orbit_states(self.symmetry, np.ascontiguousarray(rows, np.uint64), made))

    def permuted(self, row: np.ndarray) -> np.ndarray:
        """Return the image of a packed state under each permutation, in their order."""
        made = np.zeros((len(self.permutations), self.kernel.words), np.uint64)
        permute_row(self.symmetry, np.ascontiguousarray(row, np.uint64), made)
        return made
