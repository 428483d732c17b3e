"""Properties of a fetcher's thread with several partitions: one of them does not end it."""

from __future__ import annotations

from kwalk.model.kafka.server.fetcher_thread import FETCHED, FetchedPartition, FetcherPartitions, FetchState
from kwalk.model.language import always, premise, reachable, step, when_quiescent


@when_quiescent(
    symptom="replicas leave the ISR, and come back when their broker starts again: those that one thread fetches",
    log="[ReplicaFetcher replicaId=…, leaderId=…, fetcherId=…] Error due to …",
)
def other_partitions_are_fetched(thread: FetcherPartitions, partition: FetchedPartition) -> bool:
    """A partition that the broker follows, and that has not failed itself, is fetched, whatever happens to others."""
    premise(thread.partitions[partition] not in (FetchState.NONE, FetchState.FAILED))
    return thread.partitions[partition] is FetchState.FETCHING and not thread.has_ended


@always(symptom="a follower does not follow, though nothing has failed", log="none")
def partition_fails_by_an_error(thread: FetcherPartitions, partition: FetchedPartition) -> bool:
    """A partition has failed only if there was an error."""
    premise(thread.partitions[partition] is FetchState.FAILED)
    return thread.fetch_errors > 0


@step(symptom="a replica is fetched that the broker leads, or is not truncated before", log="none")
def partition_is_truncated_first(
    before: FetcherPartitions, after: FetcherPartitions, partition: FetchedPartition
) -> bool:
    """A partition is added, truncated if it was listed, and fetched; errors and removals are counted."""
    then = after.partitions[partition]
    premise(before.partitions[partition] is not then)
    if then is FetchState.FETCHING:
        return before.partitions[partition] is FetchState.TRUNCATING and partition in before.listed
    if then is FetchState.FAILED:
        is_fetched = before.partitions[partition] is FetchState.FETCHING
        return is_fetched and not before.listed and after.fetch_errors == before.fetch_errors + 1
    return after.leadership_changes == before.leadership_changes + 1


@step(symptom="a partition is truncated without need", log="none")
def thread_works_in_rounds(before: FetcherPartitions, after: FetcherPartitions) -> bool:
    """A round lists all that is to be truncated, and truncates all of that which is still there; then it is over."""
    premise(before.listed != after.listed)
    if after.listed:
        is_right = all((p in after.listed) == (before.partitions[p] is FetchState.TRUNCATING) for p in FETCHED)
        return not before.listed and is_right and not before.has_ended
    truncated = (p for p in FETCHED if p in before.listed and before.partitions[p] is FetchState.TRUNCATING)
    is_done = all(after.partitions[p] is FetchState.FETCHING for p in truncated)
    return not before.has_ended and (after.has_ended or is_done)


@step(symptom="leaders and followers change without a request", log="none")
def changes_are_counted(before: FetcherPartitions, after: FetcherPartitions) -> bool:
    """Each change of leadership changes one partition; an error fails one."""
    is_changed = before.leadership_changes != after.leadership_changes
    premise(is_changed or before.fetch_errors != after.fetch_errors)
    changed = sum(before.partitions[p] is not after.partitions[p] for p in FETCHED)
    if is_changed:
        return after.leadership_changes == before.leadership_changes + 1 and changed == 1
    return not before.has_ended and changed == 1


@reachable()
def removed_partition_was_listed(thread: FetcherPartitions) -> bool:
    """A partition is removed between the two steps of its truncation."""
    return any(p in thread.listed and thread.partitions[p] is FetchState.NONE for p in FETCHED)
