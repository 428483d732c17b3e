"""Properties of the fetcher of a leader that has started again."""

from __future__ import annotations

from kwalk.model.kafka.server.fetcher_endpoint import FetcherEndpoint
from kwalk.model.language import premise, reachable, step, when_quiescent


@when_quiescent(
    symptom="a replica follows its leader no more, which has started again with another port",
    log="none: A metric named '…' already exists, can't register another one",
)
def follower_has_a_fetcher(endpoint: FetcherEndpoint) -> bool:
    """A follower fetches from its leader, at the port that this has."""
    return endpoint.follows and endpoint.fetcher == endpoint.port


@step(symptom="a replica follows a broker that is not its leader", log="none")
def fetcher_is_of_the_port(before: FetcherEndpoint, after: FetcherEndpoint) -> bool:
    """A follower that is told begins to fetch from the leader, or has failed; it is told as the leader starts."""
    premise(before.is_told != after.is_told)
    if after.is_told:
        return after.fetcher == before.fetcher and after.follows == before.follows
    return after.port == before.port and after.follows != after.has_failed


@reachable()
def leader_has_another_port(endpoint: FetcherEndpoint) -> bool:
    """A follower fetches from another port than at first."""
    return endpoint.follows and endpoint.fetcher == 1 and not endpoint.is_told
