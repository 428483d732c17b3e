"""Properties of the epochs that followers tell their leaders."""

from __future__ import annotations

from kwalk.model.kafka.server.fetch_epochs import EpochOfFetches
from kwalk.model.language import always, premise, reachable, step


@always(symptom="a leader does not find out that a follower's log has diverged, but at its first fetch", log="none")
def fetch_has_the_last_epoch(fetches: EpochOfFetches) -> bool:
    """Each fetch of a follower has the epoch of its last record."""
    return fetches.is_told == fetches.follows


@step(symptom="a log has records of an epoch without a leader", log="none")
def records_are_of_the_leader(before: EpochOfFetches, after: EpochOfFetches) -> bool:
    """Records that are fetched are of the leader's epoch, and epochs follow each other."""
    premise(before.last != after.last or before.epoch != after.epoch)
    if before.epoch != after.epoch:
        return after.epoch == before.epoch + 1 and before.last == after.last and after.follows
    return after.last == after.epoch and before.follows


@reachable()
def records_are_of_an_earlier_leader(fetches: EpochOfFetches) -> bool:
    """The last record is of an earlier leader than the last one."""
    return 0 < fetches.last < fetches.epoch
