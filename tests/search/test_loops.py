"""The parts of the loops: the table of states, vertical counters, and choosing bits."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kwalk.search.native.bit_sliced_counters import PLANES, add_rows, totals
from kwalk.search.native.intrinsics import select_bit
from kwalk.search.native.loops import Word, loop
from kwalk.search.native.memory import available_memory, reserve
from kwalk.search.visited import key_store, visited_set
from kwalk.search.visited.hash_table import REGIONS
from kwalk.search.visited.key_store import KeyStore
from kwalk.search.visited.tree_compression import NODES_SLOTS, TreeTables
from kwalk.search.visited.visited_set import VisitedSet

WORDS = st.integers(0, 2**64 - 1)


@loop
def added(planes: int, rows: int, count: int, words: int) -> None:
    """Add rows to bit-sliced counters."""
    add_rows(planes, rows, count, words)


@loop
def selected(word: Word, rank: int) -> int:
    """The set bit of a word with that many below it."""
    return select_bit(word, rank)


def states(words, **more):
    return KeyStore(words, 4_000_000, widest_step=1, **more)


@pytest.mark.parametrize("entry_bytes", [4, 8])
@pytest.mark.parametrize("words", [1, 2, 3, 6])
def test_a_set_of_states_keeps_each_key_once_in_order_of_discovery_while_its_table_grows(words, entry_bytes):
    random = np.random.default_rng(7)
    known, size, order = states(words, entry_bytes=entry_bytes), 0, {}
    for _ in range(40):
        keys = random.integers(0, 12, (5000, words)).astype(np.uint64) * np.uint64(2**60 + 1)
        while known.space.region_limit * REGIONS < 2 * (size + len(keys)) and known.grow(size):
            pass
        size = known.add(keys, size)
        order |= dict.fromkeys(map(tuple, keys.tolist()))
        if size > 40_000:
            break
    assert known.rows(list(range(size))).tolist() == [list(key) for key in order]
    assert int(known.filled.sum()) == size == len(order)


FIRST_FACTOR = 0x9E3779B97F4A7C15
"""A word that makes the hash forget its neighbour."""


def random_rows(random, bits):
    """A few thousand rows of that many bits, of 5000 beginnings and 40 ends, so that some come twice."""
    words = -(-bits // 64)
    pool = np.random.default_rng(1).integers(0, 2**64, (5000, words), np.uint64)
    rows = pool[random.integers(0, 5000, 3000)]
    rows[:, words // 2 :] = pool[random.integers(0, 40, 3000), words // 2 :] if words > 1 else rows // np.uint64(3)
    rows[:, -1] &= np.uint64(2 ** (bits - 64 * (words - 1)) - 1)
    return rows


@pytest.mark.parametrize("bits", [1, 7, 33, 63, 64, 65, 66, 100, 127, 128, 129, 250, 320, 421, 547, 640, 641, 1300])
def test_visited_states_of_any_length_are_kept_exactly_while_all_their_tables_grow(bits, monkeypatch):
    monkeypatch.setattr(key_store, "FIRST_REGION", key_store.LEAST_REGION)
    random, order, size = np.random.default_rng(bits), {}, 0
    visited = VisitedSet(-(-bits // 64), bits, 20_000_000, widest_step=1)
    tables = visited.states.table_bytes, visited.tree_tables and visited.tree_tables.rows[:, NODES_SLOTS].tolist()
    for _ in range(30):
        rows = random_rows(random, bits)
        size = visited.add(rows, size)
        order |= dict.fromkeys(map(tuple, rows.tolist()))
        assert size == len(order)
    assert visited.rows(list(range(size))).tolist() == [list(row) for row in order]
    assert visited.add(random.permutation(np.array(list(order), np.uint64)), size) == size
    if bits > 70:
        assert 50_000 < size < 90_000 and visited.states.table_bytes > tables[0]
    if visited.tree_tables:
        assert visited.tree_tables.rows[-2, NODES_SLOTS] > tables[1][-2]


@pytest.mark.parametrize("bits", [129, 421, 1300])
def test_visited_states_stay_the_same_when_their_roots_are_widened(bits, monkeypatch):
    monkeypatch.setattr(visited_set, "TreeTables", partial(TreeTables, root_bits=13))
    random, order, size = np.random.default_rng(bits), {}, 0
    visited = VisitedSet(-(-bits // 64), bits, 20_000_000, widest_step=1)
    met, strides = set(), set()
    for _ in range(20):
        rows = random_rows(random, bits)
        size = visited.add(rows, size)
        order |= dict.fromkeys(map(tuple, rows.tolist()))
        assert size == len(order)
        assert visited.rows(list(range(size))).tolist() == [list(row) for row in order]
        met.add(visited.root_bits)
        strides.add(visited.states.stride)
    assert met == {13, 32} and strides == {4, 8}
    assert visited.add(random.permutation(np.array(list(order), np.uint64)), size) == size


@pytest.mark.parametrize("words", [4, 7, 9, 12])
def test_states_have_the_same_roots_after_leaves_are_split(words):
    count = 20_000
    random, pool = np.random.default_rng(words), np.random.default_rng(2).integers(0, 2**64, (words, 150), np.uint64)
    rows = np.stack([random.choice(column, count) for column in pool], axis=1)
    tables, (roots, again) = TreeTables(words, 10_000_000, widest_step=1), np.zeros((2, count), np.uint64)
    halves = 0, words // tables.leaves - 1  # of the first leaf
    others = [word for word in range(words) if word not in halves]
    rows[:, others] = np.where(random.random((count, 1)) < 0.99, pool[others, 0], rows[:, others])
    while tables.compress(rows, roots) < count:
        assert tables.grow(10_000_000)
    before, leaves, used = tables.rows.copy(), tables.leaves, tables.used_bytes
    assert tables.can_split and not tables.split_leaves(1000)
    assert (tables.rows == before).all() and tables.leaves == leaves
    assert tables.split_leaves(10_000_000) and not tables.can_split
    assert tables.used_bytes < 0.95 * used and tables.leaves == 2 * leaves
    assert (tables.decompress(roots) == rows).all()
    assert tables.compress(rows, again) == count and (again == roots).all()
    more = rows[::-1].copy()
    more[:, -1] ^= np.uint64(1)
    while tables.compress(more, again) < count:
        assert tables.grow(10_000_000)
    assert (tables.decompress(again) == more).all() and (tables.decompress(roots) == rows).all()


def test_leaves_are_not_split_where_that_saves_nothing():
    rows = np.random.default_rng(1).integers(0, 2**64, (20_000, 4), np.uint64)
    tables = TreeTables(4, 10_000_000, widest_step=1)
    done = 0
    while (done := done + tables.compress(rows[done:], np.zeros(20_000, np.uint64))) < 20_000:
        assert tables.grow(10_000_000)
    before = tables.rows.copy()
    assert tables.can_split and not tables.split_leaves(10_000_000)
    assert tables.can_split and (tables.rows == before).all()


@pytest.mark.parametrize("words", [2, 4, 5, 8, 9, 12])
def test_visited_states_whose_hashes_collide_are_distinguished(words):
    rows = np.zeros((2000, words), np.uint64)
    rows[:, 0] = FIRST_FACTOR
    rows[:, 1] = np.arange(2000) if words == 2 else FIRST_FACTOR
    if words > 2:
        rows[:, 0] = np.arange(2000)
    visited = VisitedSet(words, 64 * words, 20_000_000, widest_step=1)
    assert visited.add(np.vstack([rows, rows[::-1]]), 0) == 2000
    assert visited.rows(list(range(2000))).tolist() == rows.tolist()


def test_keys_that_differ_in_one_bit_only_are_distinguished():
    known = states(2)
    keys = np.zeros((129, 2), np.uint64)
    for bit in range(128):
        keys[bit, bit // 64] = np.uint64(1) << np.uint64(bit % 64)
    assert known.add(keys, 0) == 129
    assert known.add(keys, 129) == 129


def test_a_table_stays_within_its_budget_and_says_when_it_is_full():
    known, random = states(1), np.random.default_rng(1)
    size = 0
    while known.grow(size):
        size = known.add(random.integers(0, 2**63, (1000, 1)).astype(np.uint64), size)
    assert known.table_bytes + 8 * known.most <= 4_000_000


@pytest.mark.parametrize("entry_bytes", [4, 8])
def test_keys_are_found_again_in_a_table_that_is_as_full_as_it_can_be(entry_bytes):
    known, random, size = KeyStore(2, 2_500_000, widest_step=1, entry_bytes=entry_bytes), np.random.default_rng(3), 0
    while known.grow(size):
        pass
    while known.has_room(20):
        size = known.add(random.integers(0, 2**63, (20, 2)).astype(np.uint64), size)
    assert known.table.size * 0.8 < size < known.table.size * 0.9
    assert known.add(random.permutation(known.rows(list(range(size)))), size) == size == int(known.filled.sum())


def test_regions_fill_evenly_also_for_keys_that_hardly_differ():
    known = KeyStore(2, 50_000_000, widest_step=1)
    while known.space.region_limit * REGIONS < 250_000:
        known.grow(0)
    keys = np.zeros((100_000, 2), np.uint64)
    keys[:, 0] = np.arange(100_000) % 1000
    keys[:, 1] = np.arange(100_000) // 1000
    assert known.add(keys, 0) == 100_000
    assert known.filled.max() < 1.15 * 100_000 / REGIONS


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(WORDS, WORDS), max_size=600))
def test_vertical_counters_count_each_bit(rows):
    array = np.array(rows, np.uint64).reshape(-1, 2)
    planes = np.zeros(2 * PLANES, np.uint64)
    for _ in range(3):
        added(planes.ctypes.data, array.ctypes.data, len(array), 2)
    bits = [sum(row[b // 64] >> (b % 64) & 1 for row in rows) for b in range(128)]
    assert totals(planes).tolist() == [3 * count for count in bits]


@settings(deadline=None)
@given(WORDS.filter(bool), st.integers(0, 63))
def test_a_bit_is_selected_by_the_number_of_set_bits_below_it(word, rank):
    set_bits = [bit for bit in range(64) if word >> bit & 1]
    rank %= len(set_bits)
    assert selected(np.uint64(word), rank) == set_bits[rank]


def test_reserved_memory_is_zero_and_takes_nothing_until_written():
    room = reserve(1 << 34, np.uint8)
    assert room[[0, 1 << 33, (1 << 34) - 1]].tolist() == [0, 0, 0]
    assert available_memory() > 0
