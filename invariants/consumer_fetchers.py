"""Properties of what a consumer fetches, and of where it reads on."""

from __future__ import annotations

from kwalk.model.kafka.clients.fetcher import (
    ALL_READ,
    POLLED,
    LookedUpOffsets,
    PausedPosition,
    PendingFetch,
    PolledPartitions,
    ReadingPosition,
    SoughtPartitions,
    SoughtPosition,
    WokenCallback,
)
from kwalk.model.kafka.server.versions import FETCHES_ARE_NOTED_FIRST, RECORDS_ARE_READ_ONE_BY_ONE
from kwalk.model.language import always, premise, reachable, step


@always(
    symptom="a consumer skips records of a partition, as a record of another one cannot be read",
    log="none: the consumer: Error deserializing key/value for partition … at offset …",
)
def no_record_is_skipped(polled: PolledPartitions) -> bool:
    """The position of a partition is not after a record that the application has not got."""
    return all(polled.positions[p] <= polled.returned[p] for p in POLLED)


@always(
    symptom="a consumer gets no record of a partition, and no exception",
    log="none: the consumer: Uncaught error in request completion",
)
def unreadable_record_is_told(polled: PolledPartitions) -> bool:
    """A poll that meets a record that cannot be read throws, or returns those before it."""
    return not polled.is_silent


@always(symptom="a consumer gets the same record again and again", log="none")
def record_is_returned_once(polled: PolledPartitions) -> bool:
    """A poll returns a record once."""
    return not polled.is_repeated


@step(symptom="a consumer passes records", log="none")
def poll_reads_what_is_readable(before: PolledPartitions, after: PolledPartitions) -> bool:
    """A poll returns all records of the first partition, and of the second one none that cannot be read."""
    premise(before.returned[0] != after.returned[0] or before.returned[1] != after.returned[1])
    is_whole = after.returned[0] in (before.returned[0], ALL_READ) and after.returned[1] >= before.returned[1]
    is_readable = after.returned[1] in (before.returned[1], ALL_READ - 1 if before.is_unreadable else ALL_READ)
    return is_whole and is_readable and after.has_failed == before.is_unreadable == after.is_unreadable


@step(symptom="a record can be read as it is polled", log="none")
def deserializer_changes_by_itself(before: PolledPartitions, after: PolledPartitions) -> bool:
    """Whether the record can be read changes before it is read, and nothing else does."""
    premise(before.is_unreadable != after.is_unreadable)
    return all(before.positions[p] == after.positions[p] for p in POLLED) and before.positions[1] < ALL_READ


@step(symptom="a poll fails without a record that cannot be read", log="none")
def poll_fails_at_the_record(before: PolledPartitions, after: PolledPartitions) -> bool:
    """A poll fails while the record cannot be read, and the one after that succeeds."""
    premise(before.has_failed != after.has_failed)
    offset = ALL_READ - 1 if after.has_failed and RECORDS_ARE_READ_ONE_BY_ONE else 0
    is_at_it = after.positions[1] == (offset if after.has_failed else ALL_READ)
    return is_at_it and after.has_failed == after.is_unreadable == before.is_unreadable


@reachable()
def poll_fails_beside_records(polled: PolledPartitions) -> bool:
    """All records of the first partition are read, and the second one cannot be."""
    return polled.positions[0] == ALL_READ and polled.has_failed


@reachable()
def all_records_are_returned(polled: PolledPartitions) -> bool:
    """The record could be read at last."""
    return all(polled.returned[p] == ALL_READ for p in POLLED)


@always(
    symptom="a consumer that was put to the end of a partition reads it from the beginning",
    log="none: the consumer: Resetting offset for partition … to offset …",
)
def position_is_where_it_was_sought(sought: SoughtPosition) -> bool:
    """A position that is known is the one that was asked for last."""
    return sought.position in (ReadingPosition.UNKNOWN, sought.last)


@step(symptom="a position changes by itself", log="none")
def position_is_found_once(before: SoughtPosition, after: SoughtPosition) -> bool:
    """A position is unknown from a seek on, until it is found with an answer, which is used once."""
    premise(before.position is not after.position or before.question is not after.question)
    if after.position is ReadingPosition.UNKNOWN:
        return after.question is after.last is ReadingPosition.END
    return after.question is after.looked_at is ReadingPosition.UNKNOWN and before.looked_at is after.position


@step(symptom="an application seeks without a position that is sought", log="none")
def seek_asks_for_a_position(before: SoughtPosition, after: SoughtPosition) -> bool:
    """What was sought last changes with what is asked for."""
    premise(before.last is not after.last)
    return after.question is after.last and after.position is ReadingPosition.UNKNOWN


@step(symptom="a consumer has the answer to a question that is no longer asked", log="none")
def answer_is_to_what_is_asked_for(before: SoughtPosition, after: SoughtPosition) -> bool:
    """A consumer asks for no position that it has found already."""
    premise(before.looked_at is not after.looked_at and after.looked_at is not ReadingPosition.UNKNOWN)
    return after.looked_at is before.question and before.position is ReadingPosition.UNKNOWN


@reachable()
def position_is_found_at_the_end(sought: SoughtPosition) -> bool:
    """A position is at the end."""
    return sought.position is ReadingPosition.END


@reachable()
def position_is_found_at_the_beginning(sought: SoughtPosition) -> bool:
    """A position is at the beginning."""
    return sought.position is ReadingPosition.BEGINNING


@always(
    symptom="a paused partition that was put to its end, or beginning, is read from the committed offset",
    log="none: the consumer, at DEBUG: Resetting offset for partition … to the committed offset …",
)
def paused_position_is_kept(paused: PausedPosition) -> bool:
    """A position that was sought is not the committed one."""
    return not (paused.is_sought and paused.position is ReadingPosition.COMMITTED)


@step(symptom="a position changes by itself", log="none")
def paused_position_is_asked_for(before: PausedPosition, after: PausedPosition) -> bool:
    """A seek leaves the position unknown, and one that is asked for is found, of a paused partition, too."""
    premise(before.position is not after.position or before.is_sought != after.is_sought)
    is_the_same = before.is_paused == after.is_paused and before.is_other_unknown == after.is_other_unknown
    is_next = before.position is ReadingPosition.UNKNOWN or after.position is ReadingPosition.UNKNOWN
    return is_the_same and is_next and after.is_sought


@reachable()
def paused_partition_has_a_position(paused: PausedPosition) -> bool:
    """A paused partition is at its end, beside one without a position."""
    return paused.position is ReadingPosition.END and paused.is_paused and paused.is_other_unknown


@reachable()
def resumed_partition_has_a_position(paused: PausedPosition) -> bool:
    """A partition that is not paused is at its end."""
    return paused.position is ReadingPosition.END and not paused.is_paused


@always(
    symptom="a consumer gets no more records of the partitions of a broker, until it is restarted",
    log="none: the consumer, at TRACE: Skipping fetch for partition … because previous request to … has not been "
    "processed",
)
def fetch_is_sent_again(fetch: PendingFetch) -> bool:
    """A consumer waits only for a fetch that is in flight."""
    return fetch.is_in_flight or fetch.is_sending or not fetch.is_noted


@step(symptom="a consumer sends a second fetch before the first one has ended", log="none")
def one_fetch_is_in_flight(before: PendingFetch, after: PendingFetch) -> bool:
    """A fetch is in flight once, from its send on; the listener of one that ends takes its note away."""
    premise(before.is_in_flight != after.is_in_flight)
    if after.is_in_flight:
        is_noted = after.is_noted == bool(FETCHES_ARE_NOTED_FIRST)
        return is_noted and not before.is_noted and not before.is_sending and after.is_sending
    return before.is_sending == after.is_sending and after.is_noted == (before.is_noted and before.is_sending)


@step(symptom="a fetch gets two listeners", log="none")
def listener_is_added_once(before: PendingFetch, after: PendingFetch) -> bool:
    """A fetch gets its listener after it was sent, and is noted then if it has not ended."""
    premise(before.is_sending != after.is_sending)
    if after.is_sending:
        return not before.is_in_flight and after.is_in_flight
    return before.is_in_flight == after.is_in_flight and (after.is_noted or not after.is_in_flight)


@reachable()
def fetch_waits_for_its_answer(fetch: PendingFetch) -> bool:
    """A fetch is in flight, noted, and has its listener."""
    return fetch.is_in_flight and fetch.is_noted and not fetch.is_sending


@always(
    symptom="a consumer gets no records, as one of its partitions has no leader",
    log="none",
)
def poll_reads_what_it_can(sought: SoughtPartitions) -> bool:
    """A poll does not wait while a partition has a leader."""
    return not sought.waits or not any(sought.has_leader[p] for p in POLLED)


@always(symptom="partitionsFor returns fewer partitions than the topic has", log="none")
def all_partitions_are_told(sought: SoughtPartitions) -> bool:
    """An application is told of all partitions."""
    return not sought.is_short


@step(symptom="a consumer has a position that no leader has told", log="none")
def leader_tells_a_position(before: SoughtPartitions, after: SoughtPartitions) -> bool:
    """A position that a consumer finds is that of a partition with a leader, and stays known."""
    found = [p for p in POLLED if before.has_position[p] != after.has_position[p]]
    premise(len(found) > 0)
    is_asked = all(after.has_position[p] or not before.has_leader[p] for p in POLLED)
    return is_asked and all(after.has_position[p] and before.has_leader[p] for p in found) and not after.waits


@step(symptom="two partitions change at once", log="none")
def leader_changes_by_itself(before: SoughtPartitions, after: SoughtPartitions) -> bool:
    """A partition loses its leader, or gets one, and nothing else changes."""
    changed = [p for p in POLLED if before.has_leader[p] != after.has_leader[p]]
    premise(len(changed) > 0)
    is_the_same = all(before.has_position[p] == after.has_position[p] for p in POLLED)
    return len(changed) == 1 and is_the_same and before.waits == after.waits


@reachable()
def positions_outlive_leaders(sought: SoughtPartitions) -> bool:
    """All positions are known, of partitions that have lost their leaders."""
    return all(sought.has_position[p] and not sought.has_leader[p] for p in POLLED)


@always(
    symptom="endOffsets, beginningOffsets and offsetsForTimes of a consumer end with TimeoutException after a leader "
    "has changed, for metadata.max.age.ms",
    log="none: the consumer: Failed to get offsets by times in …ms",
)
def call_finds_the_leader(offsets: LookedUpOffsets) -> bool:
    """A call that a former leader refuses looks for the new one."""
    return not offsets.is_vain


@step(symptom="a call ends without an answer of the leader", log="none")
def leader_answers_a_call(before: LookedUpOffsets, after: LookedUpOffsets) -> bool:
    """A call ends with the answer of the leader that the consumer knows."""
    premise(before.asks and not after.asks)
    return not before.has_moved and not after.has_moved and not before.is_vain


@step(symptom="a consumer knows a leader by itself", log="none")
def new_leader_is_learned(before: LookedUpOffsets, after: LookedUpOffsets) -> bool:
    """A leader is elected, or learned as a call asks for it, which goes on."""
    premise(before.has_moved != after.has_moved)
    return before.asks == after.asks and (before.asks or after.has_moved)


@reachable()
def call_waits_for_a_new_leader(offsets: LookedUpOffsets) -> bool:
    """A call is under way as the leader has changed."""
    return offsets.asks and offsets.has_moved and not offsets.is_vain


@always(
    symptom="a consumer reads a partition from the committed offset, or from where auto.offset.reset says, not from "
    "where its application seeks in onPartitionsAssigned",
    log="none: the consumer: Adding newly assigned partitions: (none)",
)
def assigned_partition_is_named(consumer: WokenCallback) -> bool:
    """When a consumer has joined, its callback was called to its end with the partition that it has."""
    return consumer.is_sought or not consumer.has_joined


@step(symptom="a callback seeks in a partition that the consumer does not get", log="none")
def callback_ends_with_the_join(before: WokenCallback, after: WokenCallback) -> bool:
    """A callback comes to its end as the consumer has joined, once, and with its partition."""
    premise(before.is_sought != after.is_sought or before.has_joined != after.has_joined)
    return after.has_joined and not before.has_joined and after.is_assigned


@reachable()
def callback_was_woken(consumer: WokenCallback) -> bool:
    """The consumer has the partition, and its callback was not called to its end; or a release has joined then."""
    return consumer.is_assigned and not consumer.is_sought
