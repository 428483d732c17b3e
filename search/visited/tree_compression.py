"""Tree compression: long states as trees of shared parts, so that a state takes hardly more memory than its root.

Words: a *part* of a state is a *leaf*, a run of its words, or a *pair*, the numbers of two parts with 32 bits each. A
state has 2, 4, 8 … leaves; pair k joins parts 2k and 2k + 1 (leaves come first), until two parts are left. A *node
table* stores each value of a part once, under its *number*; its hash table finds the number of a value. A state is
*compressed* to its *root*, the pair of the last two parts, which is stored as its key, and *decompressed* from there.
The two numbers in a root have 24 bits each, until one of these parts has too many values: then all roots are *widened*
to 32. Roots are equal if and only if states are. Where several workers insert values at once, the numbers depend on
their order; no count depends on the numbers. A successor takes over the numbers of its parent for leaves that the step
did not change.

If memory is tight, each leaf can be *split*: it becomes a pair of two shorter leaves, and its values keep their
numbers. So roots stay the same, values take less memory, and numbering one takes longer.

Source: Laarman, van de Pol, Weber, "Parallel recursive state compression for free" (SPIN 2011).
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from kwalk.search.native.atomics import atomic_load32, atomic_store32, compare_and_swap32, take_ticket
from kwalk.search.native.intrinsics import ONE, ZERO, integer, lowest_bit, peek, poke, poke32, prefetch, scale
from kwalk.search.native.loops import Word, loop, part
from kwalk.search.native.memory import release, reserve
from kwalk.search.visited.keys import KeySpace, copy_words, hash_of, last_word, put_last_word, same_words
from kwalk.search.visited.table_lines import in_whole_lines, line_of, next_line, stops_in_line

NO_NUMBER = np.uint64(0xFFFFFFFFFFFFFFFF)
"""The number, or root, where no room is left for another value."""
BUSY = np.uint64(0xFFFFFFFF)
"""The entry of a value that a worker is writing."""

NODES_COUNT, NODES_LIMIT, NODES_WORDS, NODES_FIRST, NODES_VALUES, NODES_TABLE, NODES_SLOTS, NODES_NUMBER_BITS = range(8)
"""A node table as a row of int64: its values, the limit of their number (workers that insert at once may exceed it a
little), the words of a value, the first of them in a state, the addresses of the values and of the hash table (uint32
per slot: 0 if it is free, else the number plus 1, below a tag), the slots, and the bits of the number in an entry."""
NODES_LENGTH = 8
SLOT_BYTES = 4
REFILL_AHEAD = 16
"""How many values ahead slots are prefetched while a table is filled again."""

_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)


class Tree(NamedTuple):
    """The compression of states: sizes, and the address of the node tables, one for each part."""

    words: int
    """Words of a state; 0 if states are not compressed."""
    leaves: int
    node_tables: int
    root_bits: int
    """The bits of each of the two numbers in a root."""


@part
def _node_table(tree: Tree, place: int) -> int:
    """Return the address of the node table of a part."""
    return tree.node_tables + 8 * NODES_LENGTH * place


@part
def room_for_values(tree: Tree) -> int:
    """Return how many values can be added to each part for sure."""
    least = integer(peek(tree.node_tables, NODES_LIMIT)) - integer(peek(tree.node_tables, NODES_COUNT))
    for place in range(1, 2 * tree.leaves - 2):
        nodes = _node_table(tree, place)
        least = min(least, integer(peek(nodes, NODES_LIMIT)) - integer(peek(nodes, NODES_COUNT)))
    return least


@part
def _value_at(nodes: int, number: int) -> int:
    """Return the address of a value."""
    return integer(peek(nodes, NODES_VALUES)) + 8 * integer(peek(nodes, NODES_WORDS)) * number


@part
def _hash_of_value(value: int, words: int) -> Word:
    """Return the hash of a value; it is never 0."""
    return hash_of(value, words) | ONE


@part
def _slot(nodes: int, hashed: Word) -> int:
    """Return the first slot of a hash, which is the first one of a line."""
    return line_of(SLOT_BYTES, integer(scale(hashed, peek(nodes, NODES_SLOTS))))


@part
def _tag(nodes: int, hashed: Word) -> Word:
    """Return the tag of a hash, in its place in an entry."""
    return (hashed << peek(nodes, NODES_NUMBER_BITS)) & _LOW


@part
def _stops(nodes: int, hashed: Word, line: int) -> tuple[Word, Word]:
    """Return where probing stops in a line, and where the line is free."""
    likely = _tag(nodes, hashed), (ONE << peek(nodes, NODES_NUMBER_BITS)) - ONE
    return stops_in_line(integer(peek(nodes, NODES_TABLE)), SLOT_BYTES, line, likely)


@part
def _next_line(nodes: int, line: int) -> int:
    """Return the line where probing continues after a full line."""
    return next_line(SLOT_BYTES, line, integer(0), integer(peek(nodes, NODES_SLOTS)))


@part
def _number_of(nodes: int, value: int, start: tuple[Word, int]) -> Word:
    """Return the number of the value at an address, and insert it if it is new; NO_NUMBER if there is no room.

    `start` is its hash, and a slot, from whose line probing begins: the first one of the hash, or one that
    `_likely_slot` returned. Any number of workers may call this at once.
    """
    table, bits, words = (
        integer(peek(nodes, NODES_TABLE)),
        peek(nodes, NODES_NUMBER_BITS),
        integer(peek(nodes, NODES_WORDS)),
    )
    hashed, slot = start
    tag, line = _tag(nodes, hashed), line_of(SLOT_BYTES, slot)
    while True:
        stops, free = _stops(nodes, hashed, line)
        while stops != ZERO:
            place = line + lowest_bit(stops)
            entry = atomic_load32(table, place)
            if entry == ZERO:
                if peek(nodes, NODES_COUNT) >= peek(nodes, NODES_LIMIT):
                    return NO_NUMBER
                if compare_and_swap32(table, place, ZERO, BUSY):
                    number = take_ticket(nodes + 8 * NODES_COUNT)
                    copy_words(_value_at(nodes, number), value, words)
                    atomic_store32(table, place, tag | np.uint64(number + 1))
                    return np.uint64(number)
            elif entry != BUSY:
                if (entry ^ tag) >> bits == ZERO:
                    number = integer(entry ^ tag) - 1
                    if same_words(_value_at(nodes, number), value, words):
                        return np.uint64(number)
                stops &= stops - ONE
        if free == ZERO:
            line = _next_line(nodes, line)


@part
def _likely_slot(nodes: int, hashed: Word, slot: int) -> int:
    """Probe from the first slot of a hash to the first entry with its tag, or a free slot; prefetch the value there."""
    line = slot
    stops, _ = _stops(nodes, hashed, line)
    while stops == ZERO:
        line = _next_line(nodes, line)
        stops, _ = _stops(nodes, hashed, line)
    slot = line + lowest_bit(stops)
    entry = atomic_load32(integer(peek(nodes, NODES_TABLE)), slot)
    number = entry & ((ONE << peek(nodes, NODES_NUMBER_BITS)) - ONE)
    prefetch(_value_at(nodes, integer(number) - 1))  # of value -1, or of none, if it is free or busy: that does no harm
    return slot


@part
def hash_leaves(tree: Tree, key: int, before: int, probes: int) -> None:
    """Write the hashes of the leaves of the state at `key` that differ from the state at `before`; 0 for the others.

    `probes` has two words for each leaf: its hash, and the slot to probe from.
    """
    for place in range(tree.leaves):
        nodes, hashed = _node_table(tree, place), ZERO
        first, words = 8 * integer(peek(nodes, NODES_FIRST)), integer(peek(nodes, NODES_WORDS))
        if not same_words(key + first, before + first, words):
            hashed = _hash_of_value(key + first, words)
        poke(probes, 2 * place, hashed)


@part
def find_slots(tree: Tree, probes: int) -> None:
    """Write the first slots of leaves, and prefetch them."""
    for place in range(tree.leaves):
        hashed, nodes = peek(probes, 2 * place), _node_table(tree, place)
        if hashed != ZERO:
            slot = _slot(nodes, hashed)
            poke(probes, 2 * place + 1, np.uint64(slot))
            prefetch(integer(peek(nodes, NODES_TABLE)) + 4 * slot)


@part
def find_likely_slots(tree: Tree, probes: int) -> None:
    """Probe to the first entries with the tags of leaves, or to empty ones; prefetch the values of these entries."""
    for place in range(tree.leaves):
        hashed, nodes = peek(probes, 2 * place), _node_table(tree, place)
        if hashed != ZERO:
            slot = _likely_slot(nodes, hashed, integer(peek(probes, 2 * place + 1)))
            poke(probes, 2 * place + 1, np.uint64(slot))


@part
def compress_state(tree: Tree, key: int, reference: int, numbers: int, probes: int) -> Word:
    """Return the root of the state at `key`; NO_NUMBER if there is no room for its parts.

    Args:
        tree: The compression.
        key: The address of the state.
        reference: The address of the numbers of another state's parts; equal parts have equal numbers.
        numbers: The address where the numbers of this state's parts are written, with one more word of scratch memory.
        probes: The address of what `hash_leaves` and `find_slots` wrote.
    """
    leaves, parts = tree.leaves, 2 * tree.leaves - 2
    for place in range(leaves):
        number, hashed = peek(reference, place), peek(probes, 2 * place)
        if hashed != ZERO:
            nodes, start = _node_table(tree, place), (hashed, integer(peek(probes, 2 * place + 1)))
            number = _number_of(nodes, key + 8 * integer(peek(nodes, NODES_FIRST)), start)
            if number == NO_NUMBER:
                return NO_NUMBER
        poke(numbers, place, number)
    for place in range(leaves, parts):
        number, left, nodes = peek(reference, place), 2 * (place - leaves), _node_table(tree, place)
        if not same_words(numbers + 8 * left, reference + 8 * left, 2):
            value = numbers + 8 * parts
            poke(value, 0, peek(numbers, left) << _HALF | peek(numbers, left + 1))
            hashed = _hash_of_value(value, 1)
            number = _number_of(nodes, value, (hashed, _slot(nodes, hashed)))
            if number == NO_NUMBER:
                return NO_NUMBER
        poke(numbers, place, number)
    return root_of(tree, numbers)


@part
def root_of(tree: Tree, numbers: int) -> Word:
    """Return the root of the state whose parts have these numbers."""
    parts = 2 * tree.leaves - 2
    return peek(numbers, parts - 2) << np.uint64(tree.root_bits) | peek(numbers, parts - 1)


@part
def _parts_of(tree: Tree, root: Word) -> tuple[Word, Word]:
    """Return the numbers of the two parts that a root joins."""
    bits = np.uint64(tree.root_bits)
    return root >> bits, root & ((ONE << bits) - ONE)


@part
def leaf_words(tree: Tree, place: int) -> tuple[int, int]:
    """Return the first word of a leaf in a state, and the number of its words."""
    nodes = _node_table(tree, place)
    return integer(peek(nodes, NODES_FIRST)), integer(peek(nodes, NODES_WORDS))


@part
def hash_of_changed(value: int, before: int, words: int) -> Word:
    """Return the hash of a value if it differs from the one at `before`, else 0."""
    return ZERO if same_words(value, before, words) else _hash_of_value(value, words)


@part
def pair_of(numbers: int, left: int) -> Word:
    """Return the value of the pair of parts `left` and `left` + 1."""
    return peek(numbers, left) << _HALF | peek(numbers, left + 1)


@part
def number_values(tree: Tree, place: int, count: int, arrays: tuple[int, int, int]) -> bool:
    """Write the numbers of consecutive values of one part, and insert those that are new; False without room.

    Args:
        tree: The compression.
        place: The part.
        count: The number of values.
        arrays: The addresses of the values; of two words for each: its hash, 0 where the number is there already, and
            one of scratch memory; and of the numbers: two words for each leaf of each state.
    """
    (values, probes, numbers), nodes = arrays, _node_table(tree, place)
    table, bits, words = integer(peek(nodes, NODES_TABLE)), peek(nodes, NODES_NUMBER_BITS), peek(nodes, NODES_WORDS)
    slots, stored, length = peek(nodes, NODES_SLOTS), integer(peek(nodes, NODES_VALUES)), 8 * integer(words)
    for j in range(count):
        hashed = peek(probes, 2 * j)
        if hashed != ZERO:
            slot = line_of(SLOT_BYTES, integer(scale(hashed, slots)))
            poke(probes, 2 * j + 1, np.uint64(slot))
            prefetch(table + 4 * slot)
    for j in range(count):
        hashed = peek(probes, 2 * j)
        if hashed != ZERO:
            poke(probes, 2 * j + 1, np.uint64(_likely_slot(nodes, hashed, integer(peek(probes, 2 * j + 1)))))
    for j in range(count):
        hashed, slot = peek(probes, 2 * j), integer(peek(probes, 2 * j + 1))
        if hashed != ZERO:
            entry, value = atomic_load32(table, slot), values + length * j
            number = (entry ^ ((hashed << bits) & _LOW)) - ONE
            is_likely = entry != ZERO and entry != BUSY and (number + ONE) >> bits == ZERO
            if not (is_likely and same_words(stored + length * integer(number), value, integer(words))):
                number = _number_of(nodes, value, (hashed, slot))
                if number == NO_NUMBER:
                    return False
            poke(numbers, 2 * tree.leaves * j + place, number)
    return True


@part
def decompress_state(tree: Tree, root: Word, target: int, numbers: int) -> None:
    """Write the state of a root to `target`, and the numbers of its parts to `numbers`."""
    leaves, parts = tree.leaves, 2 * tree.leaves - 2
    left, right = _parts_of(tree, root)
    poke(numbers, parts - 2, left)
    poke(numbers, parts - 1, right)
    for place in range(parts - 1, leaves - 1, -1):
        value, first = peek(_value_at(_node_table(tree, place), integer(peek(numbers, place))), 0), 2 * (place - leaves)
        poke(numbers, first, value >> _HALF)
        poke(numbers, first + 1, value & _LOW)
    for place in range(leaves):
        nodes = _node_table(tree, place)
        value = _value_at(nodes, integer(peek(numbers, place)))
        copy_words(target + 8 * integer(peek(nodes, NODES_FIRST)), value, integer(peek(nodes, NODES_WORDS)))


@part
def prefetch_parts(tree: Tree, root: Word) -> None:
    """Prefetch the values that decompressing a root reads first."""
    parts, (left, right) = 2 * tree.leaves - 2, _parts_of(tree, root)
    prefetch(_value_at(_node_table(tree, parts - 2), integer(left)))
    prefetch(_value_at(_node_table(tree, parts - 1), integer(right)))


@loop
def compress_rows(tree: Tree, rows: int, count: int, room: tuple[int, int]) -> int:
    """Compress `count` consecutive states; return how many, which is fewer if there is no room.

    The roots are written to room[0]; room[1] has scratch memory for a state and 6 more words for each leaf.
    """
    roots, before = room
    known = before + 8 * tree.words
    numbers, probes = known + 16 * tree.leaves, known + 32 * tree.leaves
    for number in range(count):
        row = rows + 8 * tree.words * number
        for word in range(tree.words):
            poke(before, word, ~peek(row, word))
        for place in range(2 * tree.leaves - 2):
            poke(known, place, NO_NUMBER)
        hash_leaves(tree, row, before, probes)
        find_slots(tree, probes)
        root = compress_state(tree, row, known, numbers, probes)
        if root == NO_NUMBER:
            return number
        poke(roots, number, root)
    return count


@loop
def decompress_roots(tree: Tree, roots: int, count: int, room: tuple[int, int]) -> None:
    """Decompress `count` consecutive roots to states at room[0]; room[1] has 2 words for each leaf."""
    for number in range(count):
        decompress_state(tree, peek(roots, number), room[0] + 8 * tree.words * number, room[1])


@loop
def widen_roots(before: KeySpace, after: KeySpace, count: int, bits: tuple[int, int]) -> None:
    """Rewrite the `count` roots in a store for numbers of bits[1] bits in place of bits[0].

    A root has at least as many bytes as before. The last one is rewritten first, so that none is overwritten unread.
    """
    narrow, wide = np.uint64(bits[0]), np.uint64(bits[1])
    for index in range(count - 1, -1, -1):
        root = last_word(before, index)
        put_last_word(after, index, root >> narrow << wide | (root & ((ONE << narrow) - ONE)))


@loop
def refill_node_table(nodes: int) -> None:
    """Insert all values of a node table into its hash table, which is empty."""
    table, count = integer(peek(nodes, NODES_TABLE)), integer(peek(nodes, NODES_COUNT))
    words = integer(peek(nodes, NODES_WORDS))
    for number in range(count):
        ahead = _hash_of_value(_value_at(nodes, min(number + REFILL_AHEAD, count - 1)), words)
        prefetch(table + SLOT_BYTES * _slot(nodes, ahead))
        hashed = _hash_of_value(_value_at(nodes, number), words)
        line = _slot(nodes, hashed)
        _, free = _stops(nodes, hashed, line)
        while free == ZERO:
            line = _next_line(nodes, line)
            _, free = _stops(nodes, hashed, line)
        poke32(table, line + lowest_bit(free), _tag(nodes, hashed) | np.uint64(number + 1))


@part
def _halves(nodes: int, halves: tuple[int, int], number: int) -> tuple[Word, Word]:
    """Return the numbers of the two halves of a value, NO_NUMBER for one that has no room."""
    left, right = halves
    value = _value_at(nodes, number)
    words = integer(peek(left, NODES_WORDS))
    return _number_anywhere(left, value, words), _number_anywhere(
        right, value + 8 * words, integer(peek(right, NODES_WORDS))
    )


@part
def _number_anywhere(nodes: int, value: int, words: int) -> Word:
    """Return the number of a value, and insert it if it is new; NO_NUMBER if there is no room."""
    hashed = _hash_of_value(value, words)
    return _number_of(nodes, value, (hashed, _slot(nodes, hashed)))


@loop
def number_halves(nodes: int, halves: tuple[int, int], first: int) -> int:
    """Insert both halves of the values of a node table, from number `first` on, into the node tables of two leaves.

    Returns:
        The first number that has no room; the number of values if there is none.
    """
    count = integer(peek(nodes, NODES_COUNT))
    for number in range(first, count):
        left, right = _halves(nodes, halves, number)
        if left == NO_NUMBER or right == NO_NUMBER:
            return number
    return count


@loop
def replace_by_pairs(nodes: int, halves: tuple[int, int]) -> None:
    """Replace each value of a node table by the pair of the numbers of its halves, which are inserted already.

    A pair is written where no value is that is still to be read.
    """
    values = integer(peek(nodes, NODES_VALUES))
    for number in range(integer(peek(nodes, NODES_COUNT))):
        left, right = _halves(nodes, halves, number)
        poke(values, number, left << _HALF | right)


LEAST_WORDS = 3
"""Words of the shortest states that are compressed."""
MOST_LEAF_WORDS = 5
"""Leaves are at most so long: with few long leaves a search is faster, with many short ones it needs less memory."""
FIRST_SLOTS = 1 << 11
LOAD, FULL_LOAD = 0.75, 0.9
"""The load factor of a table: usually, and when the budget allows no larger one."""
GROWTH = 2
WORKERS = 1 << 12
"""The most workers that may insert at once when there is room for one more value."""
MOST_VALUES = int(BUSY) - 1 - WORKERS
"""A number plus 1 must stay below BUSY."""
SPLIT_GROWTH = 1.5
"""How many times as many values the tables of new leaves have room for when they are enlarged."""
LEAST_SAVED = 0.05
"""The least share of the memory of all values that splitting leaves must save."""
ROOT_BITS, WIDE_ROOT_BITS = 24, 32
"""The bits of each of the two numbers in a root: at first, and from the moment on when these are too few."""

NO_TREE = Tree(words=0, leaves=0, node_tables=0, root_bits=0)


def leaves_of(words: int) -> int:
    """Return the number of leaves of a state of `words` words: 0, or a power of two."""
    if words < LEAST_WORDS:
        return 0
    leaves = 2
    while words > MOST_LEAF_WORDS * leaves:
        leaves *= 2
    return leaves


def most_leaves_of(words: int) -> int:
    """Return the number of leaves of a state of `words` words after they are split, if they can be."""
    leaves = leaves_of(words)
    return 2 * leaves if words >= 2 * leaves else leaves


class NodeTable:
    """The values of one part, and their hash table.

    Args:
        row: The table as the loops see it, int64[NODES_LENGTH].
        words: Words of a value.
        budget: The bytes that values and table may use.
        widest_step: The number of values that must fit at once.
        most: The largest number of values.
    """

    def __init__(self, row: np.ndarray, words: int, budget: int, *, widest_step: int, most: int) -> None:
        self.row, self.words, self.widest_step = row, words, widest_step
        self.most, self.numbers = most, most
        self.values = reserve(words * (min(most, int(budget / (8 * words + SLOT_BYTES / FULL_LOAD))) + WORKERS))
        row[NODES_WORDS], row[NODES_VALUES] = words, self.values.ctypes.data
        self.table = reserve(0, np.uint32)
        self._make_table(max(FIRST_SLOTS, int(2 * widest_step / LOAD)), LOAD)

    def _make_table(self, slots: int, load: float) -> None:
        self.load, slots = load, in_whole_lines(slots)
        row, limit = self.row, min(int(slots * load), self.numbers)
        del self.table
        self.table = reserve(slots, np.uint32)
        row[NODES_TABLE], row[NODES_SLOTS], row[NODES_LIMIT] = self.table.ctypes.data, slots, limit
        row[NODES_NUMBER_BITS] = (int(slots * FULL_LOAD) + WORKERS + 1).bit_length()
        refill_node_table(row.ctypes.data)

    @property
    def size(self) -> int:
        """The number of values."""
        return int(self.row[NODES_COUNT])

    @property
    def has_room(self) -> bool:
        """Whether `widest_step` more values fit."""
        return self.size + self.widest_step <= int(self.row[NODES_LIMIT])

    @property
    def needed(self) -> float:
        """The bytes of the values with a table of the usual load factor, or the present one if that is larger."""
        return max(self.used_bytes, self.size * (8 * self.words + SLOT_BYTES / FULL_LOAD))

    @property
    def used_bytes(self) -> int:
        """The bytes that values and table use."""
        return 8 * self.words * self.size + self.table.nbytes

    @property
    def full_bytes(self) -> int:
        """The bytes that are used when the table reaches its load factor."""
        return 8 * self.words * int(self.row[NODES_LIMIT]) + self.table.nbytes

    def stored_bytes(self, count: int) -> np.ndarray:
        """Return the bytes of the first `count` values."""
        return self.values[: self.words * count].view(np.uint8)

    def resume(self, count: int) -> None:
        """Fill the table for `count` values that were read into `stored_bytes`."""
        self.row[NODES_COUNT] = count
        self._make_table(max(int(self.row[NODES_SLOTS]), int(1.2 * (count + self.widest_step) / LOAD)), LOAD)

    def has_space(self, count: int) -> bool:
        """Whether `count` values and `widest_step` more fit at all."""
        return self.words * (count + self.widest_step) <= len(self.values)

    @property
    def is_exhausted(self) -> bool:
        """Whether the 32-bit numbers are used up, so that more memory would not help."""
        return self.size + self.widest_step > self.most

    @property
    def needs_more_numbers(self) -> bool:
        """Whether there are too few numbers for `widest_step` more values."""
        return self.size + self.widest_step > self.numbers

    def set_numbers(self, numbers: int) -> None:
        """Have at most so many values, and at most `most`."""
        self.numbers = min(numbers, self.most)
        self._make_table(int(self.row[NODES_SLOTS]), self.load)

    def grow(self, more: int) -> bool:
        """Make the table GROWTH times as large; False if that and its values take more than `more` bytes more."""
        before, slots = self.full_bytes, int(GROWTH * int(self.row[NODES_SLOTS]))
        limit = min(int(slots * LOAD), self.numbers)
        if limit <= 1.02 * int(self.row[NODES_LIMIT]) or 8 * self.words * limit + SLOT_BYTES * slots > before + more:
            return False
        self._make_table(slots, LOAD)
        return True

    def set_share(self, factor: float) -> None:
        """Have room for `factor` times as many values, and no more."""
        wanted = min(max(int(factor * self.size), self.size + 2 * self.widest_step), self.numbers)
        if wanted > FULL_LOAD * int(self.row[NODES_SLOTS]):
            self._make_table(int(wanted / FULL_LOAD) + 1, FULL_LOAD)
        self.row[NODES_LIMIT] = min(wanted, int(FULL_LOAD * int(self.row[NODES_SLOTS])))

    def become_pairs(self, row: np.ndarray, halves: tuple[NodeTable, NodeTable]) -> None:
        """Replace the values by pairs of the numbers of their halves; `row` is the table from now on."""
        if self.size:
            replace_by_pairs(self.row.ctypes.data, tuple(half.row.ctypes.data for half in halves))
        release(self.values, self.size)
        self.words, row[:] = 1, self.row
        self.row, row[NODES_WORDS], row[NODES_FIRST] = row, 1, 0
        self._make_table(int(row[NODES_SLOTS]), self.load)


class TreeTables:
    """The node tables of states of `words` words, with at most `most` values each; `widest_step` must fit at once.

    The numbers in a root have `root_bits` bits until it is widened.
    """

    tree: Tree

    def __init__(
        self, words: int, budget: int, *, widest_step: int, most: int = MOST_VALUES, root_bits: int = ROOT_BITS
    ) -> None:
        self.words, self.leaves = words, leaves_of(words)
        self._node_table = partial(NodeTable, budget=budget, widest_step=widest_step, most=most)
        self.rows = np.zeros((2 * self.leaves - 2, NODES_LENGTH), np.int64)
        lengths = [*self._cut(self.rows, self.leaves), *[1] * (self.leaves - 2)]
        self.node_tables = list(map(self._node_table, self.rows, lengths))
        self.set_root_bits(root_bits)

    def _cut(self, rows: np.ndarray, leaves: int) -> list[int]:
        """Write the first words of so many leaves to `rows`; return how many words each has."""
        cuts = [self.words * leaf // leaves for leaf in range(leaves + 1)]
        rows[:leaves, NODES_FIRST] = cuts[:-1]
        return [int(length) for length in np.diff(cuts)]

    @property
    def has_values(self) -> bool:
        """Whether any value is stored."""
        return any(nodes.size for nodes in self.node_tables)

    @property
    def can_split(self) -> bool:
        """Whether leaves can be split."""
        return self.leaves < most_leaves_of(self.words)

    def split_leaves(self, room: int) -> bool:
        """Split each leaf, where new tables take at most `room` bytes.

        Returns:
            False, and nothing is changed, unless that saves a share of LEAST_SAVED of the bytes that are used.
        """
        before, rows = self.node_tables[: self.leaves], np.zeros((4 * self.leaves - 2, NODES_LENGTH), np.int64)
        leaves = list(map(self._node_table, rows, self._cut(rows, 2 * self.leaves)))
        for nodes, left, right in zip(before, leaves[::2], leaves[1::2], strict=True):
            assert nodes.words == left.words + right.words
            addresses, done = (left.row.ctypes.data, right.row.ctypes.data), 0
            while (done := int(number_halves(nodes.row.ctypes.data, addresses, done))) < nodes.size:
                for half in (left, right):
                    if not half.has_room:
                        half.set_share(SPLIT_GROWTH)
                if sum(leaf.used_bytes for leaf in leaves) > room:
                    return False
        used = sum(leaf.used_bytes for leaf in leaves)
        saved = sum(8 * (nodes.words - 1) * nodes.size for nodes in before) - used
        if used > room or (self.has_values and saved < LEAST_SAVED * self.used_bytes):
            return False
        later = rows[2 * self.leaves :]
        for nodes, row, left, right in zip(before, later, leaves[::2], leaves[1::2], strict=False):
            nodes.become_pairs(row, (left, right))
        for nodes, row in zip(self.node_tables[self.leaves :], later[self.leaves :], strict=True):
            row[:], nodes.row = nodes.row, row
        self.node_tables, self.rows, self.leaves = [*leaves, *self.node_tables], rows, 2 * self.leaves
        self.tree = self.tree._replace(leaves=self.leaves, node_tables=rows.ctypes.data)
        return True

    def set_root_bits(self, bits: int) -> None:
        """Have roots whose numbers have so many bits."""
        self.tree = Tree(words=self.words, leaves=self.leaves, node_tables=self.rows.ctypes.data, root_bits=bits)
        for nodes in self.node_tables[-2:]:
            nodes.set_numbers((1 << bits) - 1 - WORKERS)

    @property
    def root_bytes(self) -> int:
        """The bytes of a root."""
        return -(-2 * self.tree.root_bits // 8)

    @property
    def needs_wider_roots(self) -> bool:
        """Whether there is no room for values, and there can only be some if roots are widened."""
        return self.tree.root_bits < WIDE_ROOT_BITS and any(
            nodes.needs_more_numbers and not nodes.is_exhausted for nodes in self.node_tables[-2:]
        )

    @property
    def has_room(self) -> bool:
        """Whether the successors of any state fit."""
        return all(nodes.has_room for nodes in self.node_tables)

    @property
    def needed(self) -> float:
        """The bytes of all values with tables of the usual load factor."""
        return sum(nodes.needed for nodes in self.node_tables)

    @property
    def used_bytes(self) -> int:
        """The bytes that all values and tables use."""
        return sum(nodes.used_bytes for nodes in self.node_tables)

    @property
    def full_bytes(self) -> int:
        """The bytes that are used when all tables reach their load factors."""
        return sum(nodes.full_bytes for nodes in self.node_tables)

    def grow(self, budget: int) -> bool:
        """Enlarge the tables that have no room; False if all of them could then exceed a budget in bytes."""
        return all(nodes.grow(budget - self.full_bytes) for nodes in self.node_tables if not nodes.has_room)

    def set_share(self, factor: float) -> None:
        """Have room for `factor` times as many values of each part, and no more."""
        for nodes in self.node_tables:
            nodes.set_share(factor)

    def compress(self, rows: np.ndarray, roots: np.ndarray) -> int:
        """Write the roots of packed states, uint64[n, words]; return how many: fewer than n if there is no room."""
        hand = np.zeros(self.words + 6 * self.leaves, np.uint64)
        return int(compress_rows(self.tree, rows.ctypes.data, len(rows), (roots.ctypes.data, hand.ctypes.data)))

    def decompress(self, roots: np.ndarray) -> np.ndarray:
        """Return the packed states of roots, uint64[n, words]."""
        rows, roots = np.zeros((len(roots), self.words), np.uint64), np.ascontiguousarray(roots)
        hand = np.zeros(2 * self.leaves, np.uint64)
        decompress_roots(self.tree, roots.ctypes.data, len(roots), (rows.ctypes.data, hand.ctypes.data))
        return rows
