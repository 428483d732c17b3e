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

from kwalk.model.kafka.server.versions import (
    CHECKS_ARE_NOT_LOST,
    CHECKS_OUTLIVE_ERRORS,
    FOLLOWERS_CHECK_FETCHES,
    REDIRECTS_ARE_ANSWERED,
    STOPS_CHECK_REQUESTS,
)
from kwalk.model.kafka.storage.domains import FETCHER
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
    REDIRECTED = "answered: it names a follower to fetch from"


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


def begin_check(waiting: WaitingRequest, thread: int, *, is_due: bool, is_checked: bool = True) -> None:
    """Have an idle thread change what a waiting request waits for, and check the request then.

    Args:
        waiting: A request that waits.
        thread: A thread that does nothing with it.
        is_due: True if the request can be answered from now on.
        is_checked: False in a release that forgets to check it.
    """
    require(waiting.request is Request.WAITS and waiting.checks[thread] is Check.NONE)
    waiting.is_due = waiting.is_due or is_due
    if is_checked:
        waiting.checks[thread] = Check.DUE


@action(
    by=CLIENT,
    description="sends a request that is to wait",
    source="DelayedOperationPurgatory.tryCompleteElseWatch",
)
def send(waiting: WaitingRequest) -> None:
    """Have records appended that are not replicated yet, or fetch some that are not there yet."""
    require(waiting.request is Request.NONE)
    waiting.request = Request.WAITS


@action(
    by=CLIENT,
    description="fetches from the leader, which names a follower to fetch from",
    source="ReplicaManager.fetchMessages, findPreferredReadReplica",
)
def fetch_from_leader(waiting: WaitingRequest) -> None:
    """Have the leader name a follower.

    Until KAFKA-13767 the answer waited, as it has no records; no check expects an answer without an offset.
    """
    require(waiting.request is Request.NONE)
    waiting.is_due = True
    waiting.request = Request.REDIRECTED if REDIRECTS_ARE_ANSWERED else Request.WAITS


@action(
    by=REPLICAS,
    description="have not all records yet: {thread} is to look at the request",
    source="ReplicaManager.updateFollowerLogReadResults: tryCompleteDelayedProduce",
)
def fetch_some(waiting: WaitingRequest, thread: Checker) -> None:
    """Have one of two followers fetch."""
    begin_check(waiting, thread, is_due=False)


@action(
    by=REPLICAS,
    description="have all records: {thread} is to answer the request",
    source="ReplicaManager.updateFollowerLogReadResults; Partition.maybeIncrementLeaderHW",
)
def fetch_all(waiting: WaitingRequest, thread: Checker) -> None:
    """Have the last follower fetch."""
    begin_check(waiting, thread, is_due=True)


@action(
    by=REPLICAS,
    description="have all records: {thread} is to answer a fetch, which fails, and the request",
    source="Partition.tryCompleteDelayedRequests; DelayedOperations.checkAndCompleteAll",
)
def fetch_all_beside_a_failure(waiting: WaitingRequest, thread: Checker) -> None:
    """Have a fetch of a client wait for the same. Until KAFKA-17240 an exception there ended the check."""
    begin_check(waiting, thread, is_due=True, is_checked=bool(CHECKS_OUTLIVE_ERRORS))


@action(
    by=CONTROLLER,
    description="has the replica deleted, as it was moved",
    source="ReplicaManager.stopReplica",
)
def stop_replica(waiting: WaitingRequest, thread: Checker) -> None:
    """Have the client ask another broker. Until KAFKA-9198 nobody checked what waits then."""
    begin_check(waiting, thread, is_due=True, is_checked=STOPS_CHECK_REQUESTS)


@action(
    by=FETCHER,
    description="appends to the follower from which a consumer fetches, and raises its high watermark",
    source="ReplicaFetcherThread.processPartitionData, doWork: completeDelayedFetchRequests",
)
def follow(waiting: WaitingRequest, thread: Checker) -> None:
    """Have the follower get what the consumer waits for. Until KAFKA-14334 only request handlers checked fetches."""
    require(not waiting.is_due)
    begin_check(waiting, thread, is_due=True, is_checked=FOLLOWERS_CHECK_FETCHES)


@action(
    by=THREAD,
    description="looks at the request, and answers it if it is due",
    source="DelayedOperation.maybeTryComplete, safeTryComplete",
)
def look(waiting: WaitingRequest, thread: Checker) -> None:
    """Answer the request if it is due, and keep its lock for a while if it is not.

    From 0.11.0.2 to 1.0 a thread gave up at a lock of another one; later, that one looks again, or it waits.
    """
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
    """Leave what has happened since the thread looked for others to see."""
    require(waiting.checks[thread] is Check.LOOKED)
    waiting.checks[thread] = Check.NONE
