"""FetchSession: what a fetch of two partitions is answered with, request after request.

The request that begins a session (KIP-227) has the partitions, and what the leader epoch of each is; later ones have
what has changed. A response has room for the records of one of them; those that were answered come last in the next.

What the model leaves out, and why its stories lose nothing by it: sessions that are evicted, whose next request begins
another one; offsets; and that a response may have room for more.
"""

from __future__ import annotations

from typing import Annotated

from kwalk.model.kafka.server.versions import (
    FOREIGN_REPLICAS_GET_NO_RECORDS,
    RECORDS_COUNT_AS_ANSWERS,
    SESSIONS_KEEP_EPOCHS,
)
from kwalk.model.kafka.storage.domains import FETCHER, PRODUCER
from kwalk.model.language import Actor, Array, Bound, Domain, action, array, flag, number, require, state

FETCHED = Domain("fetched", "partitions of a fetch", default=2)
Fetched = Annotated[int, FETCHED]
FETCHES = Bound("fetches", "how often the client fetches")
EPOCHS = Bound("epochs", "how often the leader is elected again", default=0)
CONTROLLER = Actor("controller", system=False)


@state
class FetchSession:
    """A session, in which the partition `first` is before the other one.

    A partition `has_records` that the client has not got, and `has_news`, such as another high watermark. It has waited
    for `waits` responses. Both have the leader epoch `epoch`, of which the client knows `known_epoch`. The client is a
    follower that `follows` a partition, or a consumer. A fetch `has_failed`.
    """

    first: int = number(0, 1)
    has_records: Array[bool] = array(FETCHED, flag())
    has_news: Array[bool] = array(FETCHED, flag())
    waits: Array[int] = array(FETCHED, number(0, FETCHES))
    fetches: int = number(0, FETCHES)
    epoch: int = number(0, EPOCHS)
    known_epoch: int = number(0, EPOCHS)
    follows: Array[bool] = array(FETCHED, flag(default=True))
    has_failed: bool = flag()


@action(by=PRODUCER, description="produces to partition {partition}", source="Partition.appendRecordsToLeader")
def produce(session: FetchSession, partition: Fetched) -> None:
    """Append records, and raise the high watermark."""
    session.has_records[partition] = session.has_news[partition] = True


@action(by=CONTROLLER, description="has the leader lead on with another epoch", source="Partition.makeLeader")
def elect(session: FetchSession) -> None:
    """Elect the same leader."""
    session.epoch += 1


@action(by=CONTROLLER, description="takes the replica of partition {partition} away", source="Partition.makeLeader")
def reassign(session: FetchSession, partition: Fetched) -> None:
    """Have another broker follow; the one of before fetches on, until it is told."""
    require(session.follows[1 - partition])
    session.follows[partition] = False


@action(by=FETCHER, description="fetches", source="IncrementalFetchContext.updateAndGenerateResponseData")
def fetch(session: FetchSession) -> None:
    """Answer with the records of one partition, and with the news of both.

    Up to 2.8 news counted as an answer, so that both came last, in the order of before (KAFKA-12330). Up to 2.4 the
    session had no leader epochs (KAFKA-9338). Up to 0.11 a fetch failed with one of its partitions (KAFKA-5758).
    """
    session.fetches += 1
    if session.known_epoch < session.epoch and SESSIONS_KEEP_EPOCHS:
        session.known_epoch = session.epoch
        return
    session.has_failed = not (all(session.follows) or bool(FOREIGN_REPLICAS_GET_NO_RECORDS))
    if session.has_failed:
        return
    first, other = session.first, 1 - session.first
    has_first = session.has_records[first]
    has_other = session.has_records[other] and not has_first
    is_first_last = has_first or (session.has_news[first] and not RECORDS_COUNT_AS_ANSWERS)
    is_other_last = has_other or (session.has_news[other] and not RECORDS_COUNT_AS_ANSWERS)
    session.waits[first] = 0
    session.waits[other] = session.waits[other] + 1 if session.has_records[other] and has_first else 0
    session.has_records[first] = False
    session.has_records[other] = session.has_records[other] and has_first
    session.has_news[first] = session.has_news[other] = False
    session.first = other if is_first_last and not is_other_last else first
