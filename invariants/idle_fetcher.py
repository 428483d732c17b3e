"""Properties of a fetcher that is ended amid LeaderAndIsr."""

from __future__ import annotations

from kwalk.model.kafka.server.idle_fetcher import Handling, IdleFetcher
from kwalk.model.language import premise, step, when_quiescent


@when_quiescent(
    symptom="groups, or transactions, have no coordinator, until their partition has another leader",
    log="none: consumers get NOT_COORDINATOR from the broker that leads their partition of __consumer_offsets",
)
def coordinator_is_told(fetcher: IdleFetcher) -> bool:
    """A broker that leads a partition of __consumer_offsets loads its groups."""
    premise(fetcher.handling is not Handling.NONE)
    return fetcher.handling is Handling.TOLD


@step(symptom="a coordinator loads what its broker does not lead", log="none")
def request_is_handled_in_order(before: IdleFetcher, after: IdleFetcher) -> bool:
    """The replica leads, its fetcher is ended, and the coordinators are told; or an error ends it."""
    premise(before.handling is not after.handling)
    if after.handling is Handling.LEADS:
        return before.handling is Handling.NONE
    if after.handling is Handling.TOLD:
        return before.handling is Handling.ENDED
    return before.handling is Handling.LEADS and after.has_ended == (after.handling is Handling.ENDED)


@step(symptom="a fetcher fetches a partition that its broker leads", log="none")
def ended_fetcher_fetches_nothing(before: IdleFetcher, after: IdleFetcher) -> bool:
    """A fetch is sent while the broker follows, and is over when the fetcher has ended."""
    premise(before.is_fetching != after.is_fetching or before.has_ended != after.has_ended)
    if after.is_fetching:
        return after.handling is Handling.NONE and not after.has_ended
    return before.is_fetching or after.handling is Handling.ENDED
