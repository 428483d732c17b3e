"""Properties of fetches of two partitions."""

from __future__ import annotations

from kwalk.model.kafka.server.fetch_session import FETCHED, Fetched, FetchSession
from kwalk.model.language import always, premise, reachable, step


@always(symptom="a consumer gets nothing of a partition, while another one is busy", log="none")
def partition_waits_for_one_response(session: FetchSession, partition: Fetched) -> bool:
    """A partition whose records have no room in a response is the first one in the next."""
    return session.waits[partition] <= 1


@step(
    symptom="a client fetches on with the leader epoch of before, and does not notice that its records are gone",
    log="FENCED_LEADER_EPOCH in responses to Fetch",
)
def old_epoch_is_fenced(before: FetchSession, after: FetchSession) -> bool:
    """A client that fetches with an earlier leader epoch gets an error."""
    premise(before.fetches != after.fetches and before.known_epoch != before.epoch)
    return after.known_epoch == after.epoch and after.has_records == before.has_records


@always(
    symptom="all partitions of a leader are under-replicated at a broker, as it has lost one of its replicas",
    log="Error when handling request …",
)
def fetch_outlives_a_partition(session: FetchSession) -> bool:
    """A fetch is answered, whatever has become of one of its partitions."""
    return not session.has_failed


@step(symptom="a client gets records twice, or never", log="none")
def fetch_gets_records_of_one(before: FetchSession, after: FetchSession) -> bool:
    """A fetch that is answered gets the records of a partition, the first one if that has any, and all news."""
    premise(before.fetches != after.fetches and before.known_epoch == after.known_epoch and not after.has_failed)
    taken = before.first if before.has_records[before.first] else 1 - before.first
    is_rest = after.has_records[1 - taken] == (before.has_records[1 - taken] and before.has_records[before.first])
    is_one = after.fetches == before.fetches + 1 and after.epoch == before.epoch
    return is_one and not after.has_records[taken] and is_rest and not any(after.has_news)


@step(symptom="a fetch that waits is not answered", log="none")
def records_are_news(before: FetchSession, after: FetchSession, partition: Fetched) -> bool:
    """Records raise the high watermark; and partitions without news keep their turn."""
    is_produced = after.has_records[partition] and not before.has_records[partition]
    premise(is_produced or before.first != after.first)
    return after.has_news[partition] if is_produced else before.has_records[before.first] or any(before.has_news)


@step(symptom="a client waits for records that it has", log="none")
def wait_is_for_records(before: FetchSession, after: FetchSession, partition: Fetched) -> bool:
    """A partition waits one response more if it has records, and that one has those of the other partition."""
    premise(before.waits[partition] != after.waits[partition])
    is_longer = after.waits[partition] == before.waits[partition] + 1 and after.has_records[partition]
    return is_longer or (after.waits[partition] == 0 and not after.has_records[partition])


@step(symptom="a leader epoch is skipped, or goes back", log="none")
def leader_is_elected_for_one_epoch(before: FetchSession, after: FetchSession) -> bool:
    """An epoch is one more than the last one; a client learns it by a fetch."""
    premise(before.epoch != after.epoch or before.known_epoch != after.known_epoch)
    is_next = after.epoch == before.epoch + 1 and after.known_epoch == before.known_epoch
    return is_next or (after.fetches != before.fetches and after.known_epoch == after.epoch)


@step(symptom="a replica is taken away twice", log="none")
def replica_is_taken_away_once(before: FetchSession, after: FetchSession) -> bool:
    """One replica of the two is taken away."""
    premise(before.follows != after.follows)
    return all(before.follows) and any(after.follows)


@reachable()
def partition_waits(session: FetchSession) -> bool:
    """A partition has records for which a response had no room, and comes first."""
    return any(session.waits[partition] > 0 and session.first == partition for partition in FETCHED)
