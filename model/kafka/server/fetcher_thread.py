"""AbstractFetcherThread: a fetcher's thread with several partitions, of which one is removed, or fails.

In each round the thread lists the partitions that are to be truncated, truncates them, and fetches. Another thread of
the broker, which handles LeaderAndIsr, adds partitions and removes them between these steps.

What the model leaves out, and why its story loses nothing by it: what is truncated and fetched, which `leader_epochs`
has, and moves between log directories, whose threads are of the same class. A partition that has failed is fetched
again after the next LeaderAndIsr, which is one more addition.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from kwalk.model.kafka.server.versions import FAILURES_ARE_OF_ONE_PARTITION, TRUNCATIONS_EXPECT_REMOVALS
from kwalk.model.kafka.storage.domains import FAULT, FETCHER
from kwalk.model.language import (
    Actor,
    Array,
    Bound,
    Domain,
    action,
    array,
    choice,
    flag,
    number,
    require,
    state,
    subset,
)

FETCHED = Domain("fetched", "partitions that the thread may fetch", default=2)
LEADERSHIP_CHANGES = Bound("leadership_changes", "how often the broker begins or ceases to follow a partition")
FETCH_ERRORS = Bound("fetch_errors", "how often an error of one partition is met that nobody expects", default=0)

FetchedPartition = Annotated[int, FETCHED]
BROKER = Actor("broker", system=False)


class FetchState(Enum):
    """What the thread has to do for a partition (Kafka: PartitionFetchState)."""

    NONE = "nothing"
    TRUNCATING = "truncate it"
    FETCHING = "fetch it"
    FAILED = "nothing: it has failed"


@state
class FetcherPartitions:
    """The partitions of the thread, those that it has listed for a truncation, and whether it has ended."""

    partitions: Array[FetchState] = array(FETCHED, choice(FetchState))
    listed: frozenset[int] = subset(FETCHED)
    has_ended: bool = flag()
    leadership_changes: int = number(0, LEADERSHIP_CHANGES)
    fetch_errors: int = number(0, FETCH_ERRORS)


@action(
    by=BROKER,
    description="begins to follow partition {partition}",
    source="AbstractFetcherManager.addFetcherForPartitions",
)
def add(thread: FetcherPartitions, partition: FetchedPartition) -> None:
    """It is truncated first."""
    require(thread.partitions[partition] in (FetchState.NONE, FetchState.FAILED))
    require(thread.leadership_changes < LEADERSHIP_CHANGES)
    thread.leadership_changes += 1
    thread.partitions[partition] = FetchState.TRUNCATING


@action(
    by=BROKER,
    description="ceases to follow partition {partition}",
    source="AbstractFetcherManager.removeFetcherForPartitions",
)
def remove(thread: FetcherPartitions, partition: FetchedPartition) -> None:
    """It leads the partition, or loses its replica; the thread may have listed it."""
    require(thread.partitions[partition] in (FetchState.TRUNCATING, FetchState.FETCHING))
    require(thread.leadership_changes < LEADERSHIP_CHANGES)
    thread.leadership_changes += 1
    thread.partitions[partition] = FetchState.NONE


@action(
    by=FETCHER, description="lists what is to be truncated", source="AbstractFetcherThread.fetchTruncatingPartitions"
)
def list_truncating(thread: FetcherPartitions) -> None:
    """The lock of the partitions is given back then."""
    found = frozenset(p for p in FETCHED if thread.partitions[p] is FetchState.TRUNCATING)
    require(not thread.has_ended and not thread.listed and found)
    thread.listed = found


@action(by=FETCHER, description="truncates what it has listed", source="AbstractFetcherThread.truncateToHighWatermark")
def truncate(thread: FetcherPartitions) -> None:
    """In 2.1.1 a partition that was removed meanwhile, and whose log has no leader epoch, ended the thread."""
    require(not thread.has_ended and thread.listed)
    is_removed = any(p in thread.listed and thread.partitions[p] is FetchState.NONE for p in FETCHED)
    if is_removed and not TRUNCATIONS_EXPECT_REMOVALS:
        thread.has_ended = True
    else:
        for p in FETCHED:
            if p in thread.listed and thread.partitions[p] is FetchState.TRUNCATING:
                thread.partitions[p] = FetchState.FETCHING
    thread.listed = frozenset()


@action(
    by=FAULT,
    description="has an error in what is fetched of partition {partition}, which nobody expects",
    source="AbstractFetcherThread.processFetchRequest, markPartitionFailed",
)
def fail(thread: FetcherPartitions, partition: FetchedPartition) -> None:
    """Until KIP-461 it ended the thread."""
    require(not thread.has_ended and not thread.listed and thread.partitions[partition] is FetchState.FETCHING)
    require(thread.fetch_errors < FETCH_ERRORS)
    thread.fetch_errors += 1
    thread.partitions[partition] = FetchState.FAILED
    thread.has_ended = not FAILURES_ARE_OF_ONE_PARTITION
