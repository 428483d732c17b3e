"""Properties of fetches under a quota."""

from __future__ import annotations

from kwalk.model.kafka.server.fetch_quotas import WINDOW, ConsumerQuota, FollowerQuota
from kwalk.model.language import always, premise, reachable, step, when_quiescent


@when_quiescent(
    symptom="producers with acks=all wait for replica.fetch.wait.max.ms, while other replicas are throttled",
    log="none",
)
def follower_in_sync_is_answered(follower: FollowerQuota) -> bool:
    """A fetch of a follower in sync is answered when there are records."""
    premise(follower.in_sync and follower.waits)
    return not follower.records


@step(symptom="a replica that is not in sync is not throttled", log="none")
def laggard_is_throttled(before: FollowerQuota, after: FollowerQuota) -> bool:
    """A fetch is answered with records, to a follower in sync, or below the quota."""
    premise(before.waits and not after.waits)
    return before.records and not after.records and (before.in_sync or not before.is_exceeded)


@step(symptom="a fetch is forgotten, or answered with what is not there", log="none")
def follower_changes_by_one_thing(before: FollowerQuota, after: FollowerQuota) -> bool:
    """Records, the quota and the ISR change one at a time, and a fetch waits where there are no records."""
    changes = [
        before.records != after.records,
        before.is_exceeded != after.is_exceeded,
        before.in_sync != after.in_sync,
    ]
    is_answer = before.waits and not after.waits
    is_new = after.waits and not before.waits
    return (
        sum(changes) == (0 if is_new else 1)
        and (not is_new or not after.records)
        and (not (before.records and not after.records) or is_answer)
    )


@when_quiescent(symptom="a replica never catches up", log="none")
def laggard_is_answered_below_the_quota(follower: FollowerQuota) -> bool:
    """A fetch is answered when there are records, below the quota."""
    premise(follower.waits and not follower.is_exceeded)
    return not follower.records


@reachable()
def laggard_waits(follower: FollowerQuota) -> bool:
    """A fetch waits, as its follower is not in sync."""
    return follower.waits and follower.records and not follower.in_sync and follower.is_exceeded


@reachable()
def follower_is_in_sync_again(follower: FollowerQuota) -> bool:
    """A fetch of a follower in sync waits without records, above the quota."""
    return follower.waits and not follower.records and follower.in_sync and follower.is_exceeded


@always(symptom="a consumer with a small quota gets nothing, whatever it waits", log="none")
def consumer_gets_on(consumer: ConsumerQuota) -> bool:
    """A fetch that begins in an empty window gets records."""
    return not consumer.got_nothing


@step(symptom="a consumer gets more than its quota", log="none")
def fetch_is_within_the_window(before: ConsumerQuota, after: ConsumerQuota) -> bool:
    """A fetch gets as many records as there are, or as the window allows."""
    premise(after.unread < before.unread)
    return before.unread - after.unread == min(before.unread, WINDOW)


@step(symptom="records come from nowhere", log="none")
def records_are_produced(before: ConsumerQuota, after: ConsumerQuota) -> bool:
    """More records are there only where all were read."""
    premise(after.unread > before.unread)
    return before.unread == 0


@reachable()
def consumer_has_more_to_read(consumer: ConsumerQuota) -> bool:
    """There is more than a window allows."""
    return consumer.unread > WINDOW


@reachable()
def consumer_has_one_to_read(consumer: ConsumerQuota) -> bool:
    """There is one record."""
    return consumer.unread == 1
