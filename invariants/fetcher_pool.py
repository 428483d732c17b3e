"""Properties of the threads that fetch from a leader."""

from __future__ import annotations

from kwalk.model.kafka.server.fetcher_pool import HASHES, POOL, FetcherPool, PoolThread
from kwalk.model.language import always, premise, reachable


@always(symptom="one fetcher has most of the partitions, after num.replica.fetchers was changed", log="none")
def partitions_are_divided(pool: FetcherPool) -> bool:
    """Two partitions have one thread only if there are fewer threads than partitions, and no thread is without one."""
    is_outside = any(pool.threads[partition] > pool.last for partition in HASHES)
    is_idle = any(thread <= pool.last and thread not in [pool.threads[p] for p in HASHES] for thread in POOL)
    return not is_outside and not is_idle


@always(symptom="a broker has more and more open connections, as num.replica.fetchers is changed", log="none")
def ended_thread_has_no_connection(pool: FetcherPool, thread: PoolThread) -> bool:
    """A thread that has no partitions has ended, and its connection, too."""
    premise(not any(pool.threads[partition] == thread for partition in HASHES))
    return not pool.is_connected[thread]


@always(symptom="partitions are not fetched", log="none")
def thread_with_partitions_is_connected(pool: FetcherPool, thread: PoolThread) -> bool:
    """A thread that has partitions fetches them."""
    premise(any(pool.threads[partition] == thread for partition in HASHES))
    return pool.is_connected[thread]


@reachable()
def two_threads_fetch(pool: FetcherPool) -> bool:
    """There are two threads for three partitions."""
    return pool.last == 1


@reachable()
def three_threads_fetch(pool: FetcherPool) -> bool:
    """Each partition has a thread of its own."""
    return pool.last == 2
