"""AbstractFetcherManager: a fetcher that has lost its last partition is ended, in the midst of LeaderAndIsr.

A broker handles LeaderAndIsr in this order: it becomes leader, ends the fetchers without partitions, and tells the
coordinators of groups and transactions what they are responsible for. Here the partition is one of __consumer_offsets.

What the model leaves out, and why its story loses nothing by it: other partitions of the request, whose coordinators
are told in the same step; and that the same can happen as a broker stops, which then ends without the last checkpoint
of its high watermarks.
"""

from __future__ import annotations

from enum import Enum

from kwalk.model.kafka.server.versions import FETCHERS_END_AMID_FETCHES
from kwalk.model.kafka.storage.domains import FETCHER
from kwalk.model.language import Actor, action, choice, flag, require, state

CONTROLLER = Actor("controller", system=False)
HANDLER = Actor("request handler")


class Handling(Enum):
    """How far the request is handled."""

    NONE = "not sent"
    LEADS = "the replica leads"
    ENDED = "idle fetchers are ended"
    TOLD = "coordinators are told"
    FAILED = "it has failed"


@state
class IdleFetcher:
    """A fetcher of one partition, and the request by which its broker comes to lead this."""

    handling: Handling = choice(Handling)
    is_fetching: bool = flag()
    has_ended: bool = flag()


@action(by=FETCHER, description="sends a fetch", source="ReplicaFetcherBlockingSend.sendRequest")
def send(fetcher: IdleFetcher) -> None:
    """Wait for records of the partition, which the broker follows."""
    require(fetcher.handling is Handling.NONE)
    fetcher.is_fetching = True


@action(by=FETCHER, description="has the answer", source="ReplicaFetcherBlockingSend.sendRequest")
def receive(fetcher: IdleFetcher) -> None:
    """Have the answer, or the connection closed."""
    require(fetcher.is_fetching)
    fetcher.is_fetching = False


@action(
    by=CONTROLLER,
    description="has the broker lead the partition",
    source="ReplicaManager.becomeLeaderOrFollower: makeLeaders, removeFetcherForPartitions",
)
def lead(fetcher: IdleFetcher) -> None:
    """Leave the fetcher without a partition."""
    require(fetcher.handling is Handling.NONE)
    fetcher.handling = Handling.LEADS


@action(
    by=HANDLER,
    description="ends the idle fetcher",
    source="AbstractFetcherManager.shutdownIdleFetcherThreads; ReplicaFetcherThread.initiateShutdown",
)
def end_idle(fetcher: IdleFetcher) -> None:
    """End the fetcher, and since 1.1 its connection. Until KAFKA-7464 that failed if the fetcher closed it, too."""
    require(fetcher.handling is Handling.LEADS)
    if fetcher.is_fetching and not FETCHERS_END_AMID_FETCHES:
        fetcher.handling = Handling.FAILED
    else:
        fetcher.handling, fetcher.has_ended, fetcher.is_fetching = Handling.ENDED, True, False


@action(
    by=HANDLER,
    description="tells the coordinators",
    source="ReplicaManager.becomeLeaderOrFollower: onLeadershipChange; GroupCoordinator.handleGroupImmigration",
)
def tell(fetcher: IdleFetcher) -> None:
    """Have them load what the partition has."""
    require(fetcher.handling is Handling.ENDED)
    fetcher.handling = Handling.TOLD
