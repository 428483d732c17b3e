"""AbstractFetcherManager.resizeThreadPool: which thread fetches a partition, after num.replica.fetchers was changed.

Partitions of a leader are divided among threads by their hash. When their number changes, all are removed from their
threads and added to those of the new number; threads above it end, with their connections.

What the model leaves out, and why its story loses nothing by it: leaders, of which each has threads of its own; and
what is fetched, which goes on in any thread.
"""

from __future__ import annotations

from typing import Annotated

from kwalk.model.kafka.server.versions import CONNECTIONS_END_WITH_THEIR_THREAD, POOL_IS_EMPTIED_FIRST
from kwalk.model.language import Actor, Array, Domain, action, array, flag, member, require, state

POOL = Domain("pool", "threads that there can be", default=3)
HASHES = Domain("hashes", "partitions, of which each has its number as its hash", default=3)
PoolThread = Annotated[int, POOL]
OPERATOR = Actor("operator", system=False)


@state
class FetcherPool:
    """The threads up to `last` fetch; and with which one each partition is.

    Attributes:
        is_connected: whether a thread, or one that has ended, has a connection to the leader.
    """

    last: int = member(POOL)
    threads: Array[int] = array(HASHES, member(POOL))
    is_connected: Array[bool] = array(POOL, flag())


def has_one_thread(pool: FetcherPool) -> None:
    """One thread fetches all partitions."""
    pool.is_connected[0] = True


def thread_for(partition: int, last: int) -> int:
    """Return the thread of a partition (Kafka: AbstractFetcherManager.getFetcherId)."""
    return partition % (last + 1)


@action(by=OPERATOR, description="sets num.replica.fetchers", source="AbstractFetcherManager.resizeThreadPool")
def resize(pool: FetcherPool, last: PoolThread, missed: PoolThread, is_polling: bool) -> None:
    """Threads begin and end while others are emptied: up to 3.1 one that is there may be missed.

    Up to 2.1.0 the connection of a thread that ends was closed by another thread: that fails while it polls.
    """
    require(last != pool.last and missed <= pool.last)
    is_missed = missed > 0 and not POOL_IS_EMPTIED_FIRST
    for partition in HASHES:
        if not is_missed or pool.threads[partition] != missed:
            pool.threads[partition] = thread_for(partition, last)
    for thread in POOL:
        is_used = any(pool.threads[partition] == thread for partition in HASHES)
        is_left = pool.is_connected[thread] and is_polling and not CONNECTIONS_END_WITH_THEIR_THREAD
        pool.is_connected[thread] = is_used or is_left
    pool.last = last
