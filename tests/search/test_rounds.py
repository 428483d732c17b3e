"""What workers share: a table that all of them fill, and a barrier; and blocks that come to nothing."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from kwalk.search.base.options import SearchOptions, StopReason
from kwalk.search.exhaustive.explorer import Explorer
from kwalk.search.exhaustive.parallel_expansion import run_worker
from kwalk.search.kernel.compile.compiler import kernel_for
from kwalk.search.native.atomics import BARRIER_CLOSED, BARRIER_SIZE, address_of_yield, wait_at_barrier
from kwalk.search.native.loops import loop
from kwalk.search.visited.hash_table import REFILL_WORDS, REGIONS, clear_table, refill_table
from kwalk.search.visited.key_store import KeyStore
from tests.search.post_office import post_office


@loop
def meet(barrier: int, workers: int, give_way: int) -> bool:
    """Meet the other workers at a barrier."""
    return wait_at_barrier(barrier, workers, give_way)


@pytest.mark.parametrize(("words", "entry_bytes"), [(1, 4), (2, 8), (3, 4)])
def test_several_workers_fill_one_table_at_once(words, entry_bytes):
    states = KeyStore(words, 50_000_000, widest_step=1, entry_bytes=entry_bytes)
    rows = np.random.default_rng(7).integers(1, 1 << 60, (200_000, words), np.uint64)
    size = 0
    while size < len(rows):
        more = min(len(rows), size + 20_000)
        while not states.has_room(more - size):
            assert states.grow(size, filled_by_three)
        size = states.add(rows[size:more], size)
    assert size == len(rows) and states.filled.sum() == (states.table != 0).sum() == size
    assert states.add(rows, size) == size  # all are known
    assert (states.rows(list(range(size))) == rows).all()


def filled_by_three(space, size):
    """Enter all keys into a new table, in three shares at once."""
    rooms = np.zeros((3, REFILL_WORDS), np.uint64)
    with ThreadPoolExecutor(3) as pool:
        for done in [pool.submit(clear_table, space, *part) for part in ((0, 21), (21, 42), (42, REGIONS))]:
            done.result()
        shares = [(space, room.ctypes.data, (size * n // 3, size * (n + 1) // 3), 3) for n, room in enumerate(rooms)]
        for done in [pool.submit(refill_table, *share) for share in shares]:
            done.result()


def test_a_barrier_holds_all_until_the_last_has_come_and_can_be_given_up():
    barrier, yields = np.zeros(BARRIER_SIZE, np.int64), address_of_yield()
    with ThreadPoolExecutor(3) as pool:
        for _ in range(50):
            two = [pool.submit(meet, barrier.ctypes.data, 3, yields) for _ in range(2)]
            assert not any(future.done() for future in two)
            assert meet(barrier.ctypes.data, 3, yields) and all(future.result() for future in two)
        lonely = pool.submit(meet, barrier.ctypes.data, 3, yields)
        barrier[BARRIER_CLOSED] = 1
        assert lonely.result() is False


def test_workers_who_wait_for_one_that_was_interrupted_are_let_go(monkeypatch):
    model = post_office(streets=4, letters=7, bag=4)
    exploration = Explorer(model, kernel_for(model), SearchOptions((), workers=3, memory=50_000_000))

    def interrupted(search, view, rounds, worker, cursor):
        if worker.number == 0:
            raise KeyboardInterrupt
        return run_worker(search, view, rounds, worker, cursor)

    monkeypatch.setattr("kwalk.search.exhaustive.parallel_expansion.run_worker", interrupted)
    exploration.run()
    assert exploration.stop_reason is StopReason.INTERRUPT
    assert (exploration.expanded, exploration.stored) == (482, 1_965)  # levels that are too small to share
