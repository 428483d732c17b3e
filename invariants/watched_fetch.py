"""Properties of a fetch that waits for a replica which goes."""

from __future__ import annotations

from kwalk.model.kafka.server.watched_fetch import WatchedFetch
from kwalk.model.language import always, premise, reachable, step, when_quiescent


@always(
    symptom="requests of others fail, as a tool fetches from a replica that is gone",
    log="none",
)
def request_outlives_a_fetch(fetch: WatchedFetch) -> bool:
    """A request does not fail by a fetch that it finds."""
    return not fetch.has_failed


@when_quiescent(symptom="a fetch is not answered", log="none")
def fetch_of_a_lost_replica_ends(fetch: WatchedFetch) -> bool:
    """A fetch whose replica is gone is answered."""
    premise(not fetch.has_replica)
    return not fetch.waits


@step(symptom="a replica comes back by itself", log="none")
def replica_goes_once(before: WatchedFetch, after: WatchedFetch) -> bool:
    """A replica goes; a fetch waits while there is one, and is answered when it has gone."""
    is_kept = before.waits == after.waits or before.has_replica == after.waits
    return after.has_replica <= before.has_replica and is_kept


@reachable()
def fetch_waits_for_a_lost_replica(fetch: WatchedFetch) -> bool:
    """A fetch waits, and its replica is gone."""
    return fetch.waits and not fetch.has_replica
