"""DelayedFetch: a fetch of a replica that does not lead, as tools for debugging ask for, which waits while that goes.

Another request looks at the fetch as it finds it in its way: that is an append of its partition, or a change of it.

What the model leaves out, and why its story loses nothing by it: fetches of leaders, which `delayed_requests` has.
"""

from __future__ import annotations

from kwalk.model.kafka.server.versions import LOST_REPLICAS_END_FETCHES
from kwalk.model.kafka.storage.domains import CONSUMER
from kwalk.model.language import Actor, action, flag, require, state

BROKER = Actor("broker")
CONTROLLER = Actor("controller", system=False)


@state
class WatchedFetch:
    """Whether the broker has the replica, whether a fetch of it waits, and whether another request has failed by it."""

    has_replica: bool = flag(default=True)
    waits: bool = flag()
    has_failed: bool = flag()


@action(by=CONSUMER, description="fetches from the replica, to debug it", source="ReplicaManager.fetchMessages")
def fetch_to_debug(fetch: WatchedFetch) -> None:
    """There is nothing yet."""
    require(fetch.has_replica and not fetch.waits and not fetch.has_failed)
    fetch.waits = True


@action(by=CONTROLLER, description="takes the replica away", source="ReplicaManager.stopReplica")
def take_replica(fetch: WatchedFetch) -> None:
    """The fetch waits on."""
    require(fetch.has_replica)
    fetch.has_replica = False


@action(by=BROKER, description="looks at the fetch, with another request", source="DelayedFetch.tryComplete")
def look_at_fetch(fetch: WatchedFetch) -> None:
    """ReplicaNotAvailableException: up to 2.3 the fetch did not expect it, and the other request got it."""
    require(fetch.waits and not fetch.has_failed and not fetch.has_replica)
    fetch.has_failed = not LOST_REPLICAS_END_FETCHES
    fetch.waits = fetch.has_failed
