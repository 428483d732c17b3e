"""What workers share in rounds: claims on one table, in whatever order they are made, and a barrier."""
from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from search.compile import kernel_for
from search.exploration import Ending, Exploration, Wish
from search.loops.keys import hash_of
from search.loops.native import loop, part
from search.loops.newcomers import CLAIMED, PRECEDED, TAKEN_OVER, Newcomers, find_or_claim, settle, withdraw
from search.loops.rounds import take_part
from search.loops.sharing import BARRIER_SIZE, LEFT, address_of_yield, meet
from search.loops.states import States
from search.loops.table import first_slot
from tests.search.post_office import post_office

STORED, CHUNK = 5, 8
OUSTED = -1
KEYS = st.lists(st.integers(0, 11), min_size=1, max_size=4 * CHUNK)
MEET = loop(lambda barrier, workers, give_way: meet(barrier, workers, give_way))
SETTLE = loop(lambda space, slot, index, key: settle(space, slot, index, key))
WITHDRAW = loop(lambda space, slot: withdraw(space, slot))


@part
def look_up(space, newcomers, key, position):
    hashed = hash_of(key, space.words)
    return find_or_claim(space, newcomers, (key, position), (hashed, first_slot(space, hashed)))


LOOK_UP = loop(lambda space, newcomers, key, position: look_up(space, newcomers, key, position))


class Claims:
    """A set of a few stored keys, and room for newcomers."""

    def __init__(self, words, entry_bytes):
        self.states = States(words, 1_000_000, widest_step=1, claims=100, entry_bytes=entry_bytes)
        self.states.add(self.rows(range(STORED)), 0)
        self.before = self.states.table.copy()
        self.kept, self.slots = np.zeros((100, words), np.uint64), np.full(100, OUSTED, np.int64)
        self.ousted = np.zeros(100 // CHUNK, np.int64)
        addresses = (array.ctypes.data for array in (self.kept, self.slots, self.ousted))
        self.newcomers = Newcomers(STORED, CHUNK, *addresses)

    def rows(self, numbers):
        return np.array([[number + 1] * self.states.words for number in numbers], np.uint64)

    def look_up(self, number, position):
        return LOOK_UP(self.states.space, self.newcomers, self.rows([number]).ctypes.data, position)


@pytest.mark.parametrize(("words", "entry_bytes"), [(1, 4), (2, 8), (3, 4)])
@settings(max_examples=60, deadline=None)
@given(keys=KEYS, order=st.randoms(use_true_random=False))
def test_of_equal_newcomers_the_first_discovered_has_the_claim_in_whatever_order_chunks_come(
    words, entry_bytes, keys, order
):
    claims, first, held = Claims(words, entry_bytes), {}, {}
    chunks = [range(start, min(start + CHUNK, len(keys))) for start in range(0, len(keys), CHUNK)]
    for position in (position for chunk in order.sample(chunks, len(chunks)) for position in chunk):
        number, found = keys[position], claims.look_up(keys[position], position)
        if number < STORED:
            assert found == number
        elif number not in held:
            assert found == CLAIMED
        else:
            assert found == (TAKEN_OVER if position < held[number] else PRECEDED)
        held[number] = min(position, held.get(number, position))
    for position, number in enumerate(keys):
        first.setdefault(number, position)
    owners = sorted(position for number, position in first.items() if number >= STORED)
    assert [p for p in range(len(keys)) if claims.slots[p] != OUSTED] == owners
    assert [keys[p] for p in owners] == (claims.kept[owners, 0] - np.uint64(1)).tolist()
    settled_or_withdrawn(claims, owners, settles=bool(order.getrandbits(1)))


def settled_or_withdrawn(claims, owners, *, settles):
    """Check what becomes of the claims in the end."""
    space = claims.states.space
    for index, position in enumerate(owners, STORED):
        if settles:
            SETTLE(space, int(claims.slots[position]), index, claims.kept[position].ctypes.data)
        else:
            WITHDRAW(space, int(claims.slots[position]))
    if settles:
        rows = [*claims.rows(range(STORED)).tolist(), *claims.kept[owners].tolist()]
        assert claims.states.rows(list(range(STORED + len(owners)))).tolist() == rows
        assert claims.states.add(np.array(rows, np.uint64), len(rows)) == len(rows)  # all are known
    else:
        assert (claims.states.table == claims.before).all()


def test_a_barrier_holds_all_until_the_last_has_come_and_can_be_given_up():
    barrier, yields = np.zeros(BARRIER_SIZE, np.int64), address_of_yield()
    with ThreadPoolExecutor(3) as pool:
        for _ in range(50):
            two = [pool.submit(MEET, barrier.ctypes.data, 3, yields) for _ in range(2)]
            assert not any(future.done() for future in two)
            assert MEET(barrier.ctypes.data, 3, yields) and all(future.result() for future in two)
        lonely = pool.submit(MEET, barrier.ctypes.data, 3, yields)
        barrier[LEFT] = 1
        assert lonely.result() is False


def test_workers_who_wait_for_one_that_was_interrupted_are_let_go(monkeypatch):
    model = post_office(streets=4, letters=7, bag=4)
    exploration = Exploration(model, kernel_for(model), Wish((), workers=3, memory=50_000_000))

    def interrupted(search, rounds, hand, cursor):
        if hand.number == 0:
            raise KeyboardInterrupt
        return take_part(search, rounds, hand, cursor)

    monkeypatch.setattr("search.crew.take_part", interrupted)
    exploration.run()
    assert exploration.ending is Ending.INTERRUPT
    assert (exploration.expanded, exploration.stored) == (2_791, 5_861)  # levels that are too small to share
