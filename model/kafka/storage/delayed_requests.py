"""DelayedOperation: a request that waits in a broker, what it waits for, and the threads that are to answer it then.

A produce request with `acks=all` waits until all replicas in sync have its records, a fetch until there are records, or
until the high watermark has passed them. Whoever brings that about also checks the requests that wait for it; a request
that nobody checks is answered when its time is over.

What the model leaves out, and why its stories lose nothing by it:

* How many records and replicas it takes: a request is due, or not yet.
* More than one request: each has a lock of its own, and is checked for itself.
* That its time is over: this is the answer that comes too late.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from kwalk.model.kafka.storage.domains import FETCHER
from kwalk.model.kafka.storage.versions import (
    CHECKS_ARE_NOT_LOST,
    FOLLOWERS_CHECK_FETCHES,
    REDIRECTS_ARE_ANSWERED,
    STOPS_CHECK_REQUESTS,
)
from kwalk.model.language import Actor, Array, Domain, action, array, choice, flag, require, state

CHECKERS = Domain("checkers", "threads of a broker that check requests which wait", default=2)

Checker = Annotated[int, CHECKERS]

THREAD = Actor("request handler", of=CHECKERS)
CLIENT = Actor("client", system=False)
REPLICAS = Actor("replicas", system=False)
CONTROLLER = Actor("controller", system=False)


class Request(Enum):
    """What became of the request."""

    NONE = "not sent"
    WAITS = "waits"
    ANSWERED = "answered"


class Check(Enum):
    """What a thread does with the request."""

    NONE = "nothing"
    DUE = "is to check it"
    LOOKED = "has found that it is not due, and still has its lock"


@state
class WaitingRequest:
    """The request, whether what it waits for has happened, and what the threads do."""

    request: Request = choice(Request)
    is_due: bool = flag()
    checks: Array[Check] = array(CHECKERS, choice(Check))


def begin_check(waiting: WaitingRequest, thread: int) -> None:
    """A thread that did nothing with the request is to check it."""
    require(waiting.request is Request.WAITS and waiting.checks[thread] is Check.NONE)
    waiting.checks[thread] = Check.DUE


@action(
    by=CLIENT,
    description="sends a request that is to wait",
    source="DelayedOperationPurgatory.tryCompleteElseWatch",
)
def send(waiting: WaitingRequest) -> None:
    """Records are appended and not replicated yet, or are fetched that are not there yet."""
    require(waiting.request is Request.NONE)
    waiting.request = Request.WAITS


@action(
    by=CLIENT,
    description="fetches from the leader, which names a follower to fetch from",
    source="ReplicaManager.fetchMessages, findPreferredReadReplica",
)
def fetch_from_leader(waiting: WaitingRequest) -> None:
    """Until KAFKA-13767 the answer waited, as it has no records; no check expects an answer without an offset."""
    require(waiting.request is Request.NONE)
    waiting.is_due = True
    waiting.request = Request.ANSWERED if REDIRECTS_ARE_ANSWERED else Request.WAITS


@action(
    by=REPLICAS,
    description="have not all records yet: {thread} is to look at the request",
    source="ReplicaManager.updateFollowerLogReadResults: tryCompleteDelayedProduce",
)
def fetch_some(waiting: WaitingRequest, thread: Checker) -> None:
    """One of two followers has fetched."""
    begin_check(waiting, thread)


@action(
    by=REPLICAS,
    description="have all records: {thread} is to answer the request",
    source="ReplicaManager.updateFollowerLogReadResults; Partition.maybeIncrementLeaderHW",
)
def fetch_all(waiting: WaitingRequest, thread: Checker) -> None:
    """The last follower has fetched."""
    require(not waiting.is_due)
    begin_check(waiting, thread)
    waiting.is_due = True


@action(
    by=CONTROLLER,
    description="has the replica deleted, as it was moved",
    source="ReplicaManager.stopReplica",
)
def stop_replica(waiting: WaitingRequest, thread: Checker) -> None:
    """The client is to ask another broker. Until KAFKA-9198 nobody checked what waits then."""
    require(not waiting.is_due)
    begin_check(waiting, thread)
    waiting.is_due = True
    if not STOPS_CHECK_REQUESTS:
        waiting.checks[thread] = Check.NONE


@action(
    by=FETCHER,
    description="appends to the follower from which a consumer fetches, and raises its high watermark",
    source="ReplicaFetcherThread.processPartitionData, doWork: completeDelayedFetchRequests",
)
def follow(waiting: WaitingRequest, thread: Checker) -> None:
    """Until KAFKA-14334 only handlers of requests checked what waits."""
    require(not waiting.is_due)
    begin_check(waiting, thread)
    waiting.is_due = True
    if not FOLLOWERS_CHECK_FETCHES:
        waiting.checks[thread] = Check.NONE


@action(
    by=THREAD,
    description="looks at the request, and answers it if it is due",
    source="DelayedOperation.maybeTryComplete, safeTryComplete",
)
def look(waiting: WaitingRequest, thread: Checker) -> None:
    """From 0.11.0.2 to 1.0 a thread gave up at a lock of another one; later, that one looks again, or it waits."""
    require(waiting.checks[thread] is Check.DUE)
    if any(waiting.checks[other] is Check.LOOKED for other in CHECKERS):
        require(not CHECKS_ARE_NOT_LOST)
        waiting.checks[thread] = Check.NONE
    elif waiting.is_due:
        waiting.request, waiting.checks[thread] = Request.ANSWERED, Check.NONE
    else:
        waiting.checks[thread] = Check.LOOKED


@action(by=THREAD, description="gives back the lock of the request", source="DelayedOperation.maybeTryComplete: unlock")
def unlock(waiting: WaitingRequest, thread: Checker) -> None:
    """What has happened since it looked is for others to see."""
    require(waiting.checks[thread] is Check.LOOKED)
    waiting.checks[thread] = Check.NONE
