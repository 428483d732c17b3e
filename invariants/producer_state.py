"""Properties of what a log knows of producers: what idempotent and transactional producers, and their readers, lose."""

from __future__ import annotations

from kwalk.model.kafka.storage.producer_state import (
    EPOCHS,
    EXPIRATION_MS,
    FOLLOWS,
    TRANSACTIONAL,
    BatchKind,
    ProducerBatch,
    ProducerLog,
    accepts,
    end_offset,
    is_duplicate,
)
from kwalk.model.language import always, premise, reachable, step


def has_appended_data(before: ProducerLog, after: ProducerLog) -> bool:
    """Whether the step has appended a batch of the producer."""
    return end_offset(after) > end_offset(before) and after.batches[-1].kind is BatchKind.DATA


@step(
    symptom="an idempotent producer's record is in the topic twice",
    log="none: kafka-dump-log.sh shows two batches with one producerId and baseSequence",
)
def batch_is_appended_once(before: ProducerLog, after: ProducerLog) -> bool:
    """A batch that is sent again is not appended again."""
    premise(has_appended_data(before, after))
    return not after.batches[-1].is_repeated


@always(
    symptom="a record is lost that a producer has an answer for",
    log="none: kafka-dump-log.sh --files ….snapshot shows a lastSequence that the log does not have",
)
def answered_batch_was_appended(log: ProducerLog) -> bool:
    """A batch that is answered is one that the log has got."""
    return log.next_sequence <= log.appended


@always(
    symptom="an idempotent producer ends with OutOfOrderSequenceException or UNKNOWN_PRODUCER_ID",
    log="Found no record of producerId=… on the broker at offset …",
)
def producer_can_continue(log: ProducerLog) -> bool:
    """The leader takes the producer's next batch for one that it has, or appends it."""
    premise(log.is_up and FOLLOWS == 0 and (TRANSACTIONAL == 0 or (log.is_ongoing and not log.is_fenced)))
    return is_duplicate(log, log.next_sequence) or accepts(log, log.next_sequence)


@step(
    symptom="a record of a transactional producer is in the topic twice",
    log="none: kafka-dump-log.sh shows the sequence number twice",
)
def late_copy_changes_nothing(before: ProducerLog, after: ProducerLog) -> bool:
    """A late copy of a batch is not appended, and changes nothing of what is known of the producer."""
    premise(before.copy is not None and after.copy is None)
    return after.batches == before.batches and after.entry == before.entry


@always(
    symptom="a replica does not follow its leader any more, although its broker is up",
    log="Invalid sequence number for new epoch: … (request epoch), … (seq. number)",
)
def replication_continues(log: ProducerLog) -> bool:
    """A follower appends the leader's next batch."""
    premise(log.is_up and FOLLOWS > 0)
    return accepts(log, log.next_sequence)


@always(
    symptom="a broker has forgotten producers after a crash of its machine, or reads much of its logs as it starts",
    log="Failed to load producer snapshot from '…': …",
)
def snapshot_can_be_read(log: ProducerLog) -> bool:
    """A crash of the machine leaves no snapshot empty."""
    return not any(snapshot.is_torn for snapshot in log.snapshots)


@step(
    symptom="a broker has forgotten producers after a restart, or reads much of its logs as it starts",
    log="Loading producer state from snapshot file '…'",
)
def file_deletion_spares_snapshots(before: ProducerLog, after: ProducerLog) -> bool:
    """The task that deletes the files of truncated segments deletes no snapshot of a segment that the log has."""
    premise(len(after.doomed) < len(before.doomed) and after.is_up and after.truncations == before.truncations)
    return len(after.snapshots) == len(before.snapshots)


@always(
    symptom="a replica does not follow its leader any more, after it was to truncate its log",
    log="Partition … marked as failed",
)
def truncation_does_not_fail(log: ProducerLog) -> bool:
    """A truncation ends, whatever transactions the log has open."""
    return not log.has_failed


@step(
    symptom="a record appears of a transaction that the coordinator has aborted after its timeout",
    log="none: kafka-dump-log.sh shows a batch behind a marker of a later producerEpoch",
)
def fenced_producer_appends_nothing(before: ProducerLog, after: ProducerLog) -> bool:
    """Once a marker has fenced the producer, no batch of it is appended."""
    premise(before.is_fenced)
    return not has_appended_data(before, after)


@always(
    symptom="consumers with isolation.level=read_committed stop for good",
    log="none: kafka-transactions.sh find-hanging shows the transaction",
)
def open_transaction_is_ongoing(log: ProducerLog) -> bool:
    """A transaction that is open in the log is one that the coordinator will end."""
    premise(log.is_up and log.entry is not None)
    return log.entry is None or log.entry.transaction is None or log.is_ongoing


@always(
    symptom="an idempotent producer's record is in the topic twice, or its next one is refused",
    log="Out of order sequence number for producer … at offset … in partition …: … (incoming seq. number), …",
)
def entry_is_that_of_the_last_batch(log: ProducerLog) -> bool:
    """What is known of the producer ends with its last batch in the log, or the last marker.

    Once the producer has expired, a marker may be all that is known.
    """
    last: ProducerBatch | None = None
    at, offset, sequence, time = log.start_offset, 0, -1, 0
    for batch in log.batches:
        if batch.kind is not BatchKind.OTHER:
            is_new = last is not None and last.epoch != batch.epoch
            sequence = batch.sequence if batch.kind is BatchKind.DATA else -1 if is_new else sequence
            if batch.kind is BatchKind.DATA:
                offset, time = at, batch.time
            last = batch
        at = at + 1
    premise(log.is_up and last is not None and log.entry is not None)
    if log.entry is None or last is None or log.entry.sequence is None:
        return sequence == -1 or log.clock - time >= EXPIRATION_MS
    is_same = log.entry.epoch == last.epoch and log.entry.time == last.time
    return is_same and log.entry.sequence == sequence and log.entry.offset == offset


@always(
    symptom="consumers with isolation.level=read_committed stop early, or read what is not committed yet",
    log="none: kafka-transactions.sh describe-producers shows CurrentTransactionStartOffset",
)
def open_transaction_has_its_first_offset(log: ProducerLog) -> bool:
    """A transaction is open from its first batch up to its marker."""
    first, at = -1, log.start_offset
    for batch in log.batches:
        if batch.kind is BatchKind.MARKER:
            first = -1
        elif batch.kind is BatchKind.DATA and first < 0:
            first = at
        at = at + 1
    premise(log.is_up and log.entry is not None)
    return log.entry is None or (-1 if log.entry.transaction is None else log.entry.transaction) == first


@always(
    symptom="an idempotent producer's record is in the topic twice, or its next one is refused",
    log="none: kafka-transactions.sh describe-producers does not show the producer",
)
def producer_is_known_until_it_expires(log: ProducerLog) -> bool:
    """A producer that is not known has no batch in the log but such as are old."""
    premise(log.is_up and log.entry is None)
    return all(batch.kind is BatchKind.OTHER or log.clock - batch.time >= EXPIRATION_MS for batch in log.batches)


@step(
    symptom="an idempotent producer ends with UNKNOWN_PRODUCER_ID, or its record is in the topic twice",
    log="Found no record of producerId=… on the broker at offset …",
)
def producer_outlives_its_records(before: ProducerLog, after: ProducerLog) -> bool:
    """A deletion of records leaves what is known of producers as it was."""
    premise(before.start_offset < after.start_offset)
    return after.entry == before.entry


@step(
    symptom="records of an idempotent producer are missing, or in another order",
    log="none: kafka-dump-log.sh shows the sequence numbers",
)
def batches_are_in_sequence(before: ProducerLog, after: ProducerLog) -> bool:
    """A batch of a producer that is known is the next one, of its epoch."""
    premise(has_appended_data(before, after) and before.entry is not None)
    if before.entry is None:
        return False
    expected = 0 if before.entry.sequence is None else before.entry.sequence + 1
    return before.entry.epoch == after.batches[-1].epoch and after.batches[-1].sequence == expected


@always(
    symptom="a broker has forgotten producers after a restart, or knows what its log does not have",
    log="Loading producer state from snapshot file '…'",
)
def snapshot_has_what_came_before(log: ProducerLog) -> bool:
    """A snapshot knows the last batch of the producer before it, and none behind."""
    premise(log.is_up and not log.snapshots.is_empty)
    return all(
        (snapshot.producer is None or snapshot.producer.offset < snapshot.offset)
        and all(
            batch.kind is not BatchKind.DATA
            or log.start_offset + place >= snapshot.offset
            or (snapshot.producer is not None and snapshot.producer.offset >= log.start_offset + place)
            or log.clock > batch.time
            or EPOCHS > 0
            for place, batch in enumerate(log.batches)
        )
        for snapshot in log.snapshots
    )


@always(
    symptom="a broker reads much of its logs as it starts",
    log="Loading producer state from snapshot file '…'",
)
def segment_has_its_snapshot(log: ProducerLog) -> bool:
    """Where a later segment begins there is a snapshot."""
    premise(log.is_up and len(log.bases) > 1)
    return all(base == log.start_offset or any(s.offset == base for s in log.snapshots) for base in log.bases)


@step(
    symptom="a broker reads much of its logs as it starts",
    log="Loading producer state from snapshot file '…'",
)
def stop_and_start_write_a_snapshot(before: ProducerLog, after: ProducerLog) -> bool:
    """A stop and a start end with a snapshot at the end of the log."""
    premise(before.is_up != after.is_up and after.crashes == before.crashes)
    is_counted = after.is_up or after.stops == before.stops + 1
    is_written = any(snapshot.offset == end_offset(after) for snapshot in after.snapshots)
    return is_counted and (is_written or after.batches.is_empty)


@step(
    symptom="a broker that is down changes its log",
    log="none: the files change",
)
def closed_log_does_not_change(before: ProducerLog, after: ProducerLog) -> bool:
    """While the broker is down, nothing happens to the log."""
    is_same = after.batches == before.batches and after.bases == before.bases and after.crashes == before.crashes
    return before.is_up or after.is_up or (is_same and after.snapshots == before.snapshots)


@always(
    symptom="none: what a broker knew before it stopped is not on its disk",
    log="none",
)
def process_takes_its_memory_along(log: ProducerLog) -> bool:
    """Of a broker that is down, only the files are left."""
    premise(not log.is_up)
    return log.entry is None and log.loaded_to == 0 and log.doomed.is_empty


@step(
    symptom="a broker has forgotten producers after a crash, or knows what its log does not have",
    log="Loading producer state from snapshot file '…'",
)
def crash_leaves_earlier_snapshots(before: ProducerLog, after: ProducerLog) -> bool:
    """A crash leaves the snapshots up to a segment that the next start recovers, as they were written."""
    premise(after.crashes > before.crashes)
    is_kept = any(
        len(after.snapshots) == sum(snapshot.offset <= base for snapshot in before.snapshots)
        for base in (before.bases.head, before.bases[-1])
    )
    return is_kept and all(
        any(
            one.offset == snapshot.offset
            and one.producer == snapshot.producer
            and one.is_flushed == snapshot.is_flushed
            for one in before.snapshots
        )
        for snapshot in after.snapshots
    )


@step(
    symptom="a broker writes snapshots without end, or has forgotten producers after a restart",
    log="Loading producer state from snapshot file '…'",
)
def snapshots_change_with_segments(before: ProducerLog, after: ProducerLog) -> bool:
    """While a broker is up, snapshots are written or removed as segments are, and as it truncates the log."""
    is_same = after.start_offset == before.start_offset and len(after.bases) == len(before.bases)
    premise(before.is_up and after.is_up and is_same and len(after.doomed) == len(before.doomed))
    return after.truncations > before.truncations or after.snapshots == before.snapshots


@step(
    symptom="a broker reads much of its logs as it starts",
    log="Loading producer state from snapshot file '…'",
)
def deletion_spares_later_snapshots(before: ProducerLog, after: ProducerLog) -> bool:
    """With records, only the snapshots before the start offset are deleted."""
    premise(before.start_offset < after.start_offset)
    return len(after.snapshots) == sum(snapshot.offset >= after.start_offset for snapshot in before.snapshots)


@step(
    symptom="a replica has other records than its leader",
    log="Truncating to offset …",
)
def truncation_removes_the_end(before: ProducerLog, after: ProducerLog) -> bool:
    """A truncation removes records at the end of the log, or fails; nothing else removes them."""
    premise(after.truncations > before.truncations or end_offset(after) < end_offset(before))
    is_shorter = before.high_watermark <= end_offset(after) < end_offset(before)
    return after.truncations == before.truncations + 1 and is_shorter != after.has_failed


@always(
    symptom="records are deleted before they are replicated, or segments stay that a truncation removes",
    log="none: the files of the segments show their base offsets",
)
def segments_are_within_the_log(log: ProducerLog) -> bool:
    """The first segment begins at the start offset, no segment behind the end of the log, and no two at one offset."""
    is_replicated = log.bases.head == log.start_offset <= log.high_watermark <= end_offset(log)
    return is_replicated and log.bases[-1] <= end_offset(log) and len(set(log.bases)) == len(log.bases)


@always(
    symptom="none: how many batches of the producer the log has got, as history counts them",
    log="none: kafka-dump-log.sh shows the batches",
)
def history_counts_the_batches(log: ProducerLog) -> bool:
    """The last batch of the producer that a log has is the last that history has counted."""
    premise(log.start_offset == 0 or any(batch.kind is BatchKind.DATA for batch in log.batches))
    in_log = max((batch.sequence + 1 for batch in log.batches if batch.kind is BatchKind.DATA), default=0)
    return in_log == log.appended


@step(
    symptom="a producer sends records outside its transactions",
    log="none: the producer raises IllegalStateException",
)
def producer_sends_within_its_transaction(before: ProducerLog, after: ProducerLog) -> bool:
    """A transactional producer sends a batch while its transaction is ongoing, and one at a time."""
    premise(after.in_flight or has_appended_data(before, after))
    if before.in_flight:
        return not (after.in_flight and has_appended_data(before, after))
    return before.is_ongoing and not before.is_fenced


@step(
    symptom="a transactional producer ends, or its transaction is incomplete",
    log="none: the producer raises InvalidTxnStateException",
)
def batch_of_an_ongoing_transaction_is_appended(before: ProducerLog, after: ProducerLog) -> bool:
    """A batch that comes while its transaction is ongoing is appended, or the log has it.

    One with a sequence number above 0 is refused if only a marker is known of the producer, as it had expired: the
    producer then aborts.
    """
    is_refused = before.entry is not None and before.entry.sequence is None and before.next_sequence > 0
    premise(before.in_flight and not after.in_flight and before.is_ongoing and before.is_up and not is_refused)
    return has_appended_data(before, after) or is_duplicate(before, before.next_sequence)


@always(
    symptom="a broker has forgotten producers after a restart",
    log="Loading producer state from snapshot file '…'",
)
def snapshots_are_within_the_log(log: ProducerLog) -> bool:
    """The last snapshot is that of the highest offset, none is behind the end of the log, and each has its offset."""
    premise(log.is_up and not log.snapshots.is_empty)
    highest = max((snapshot.offset for snapshot in log.snapshots), default=0)
    is_last = log.snapshots[-1].offset == highest <= end_offset(log)
    return is_last and len({snapshot.offset for snapshot in log.snapshots}) == len(log.snapshots)


@always(
    symptom="consumers with isolation.level=read_committed get records of a transaction that is aborted later",
    log="none",
)
def open_transaction_is_not_read(log: ProducerLog) -> bool:
    """A fetch with read_committed ends where an open transaction begins, or before."""
    premise(log.entry is not None and log.entry.transaction is not None)
    assert log.entry is not None
    assert log.entry.transaction is not None
    return log.read_to <= log.entry.transaction


@always(
    symptom="a broker does not start after a crash of its machine",
    log="Error reading field '…': …",
)
def broker_starts_after_a_crash(log: ProducerLog) -> bool:
    """A start reads what a crash has left of the snapshots."""
    return not log.cannot_start


@step(
    symptom="consumers that seek by timestamp, with isolation.level=read_committed, wait at an open transaction, or "
    "skip what is written there if it is aborted",
    log="none",
)
def lookup_finds_what_can_be_read(before: ProducerLog, after: ProducerLog) -> bool:
    """A lookup with read_committed finds a record that is replicated, and before any open transaction."""
    premise(after.lookups > before.lookups and after.looked_up is not None)
    assert after.looked_up is not None
    is_stable = after.entry is None or after.entry.transaction is None or after.looked_up < after.entry.transaction
    return after.lookups == before.lookups + 1 and is_stable and after.looked_up < after.high_watermark


@step(
    symptom="consumers with isolation.level=read_committed get records again, or others than they have asked for",
    log="none",
)
def read_has_its_limit(before: ProducerLog, after: ProducerLog) -> bool:
    """A fetch begins with the high watermark of that moment, and ends once; nothing else is read."""
    begins = after.is_reading and not before.is_reading
    ends = before.is_reading and not after.is_reading
    is_limited = not begins or after.read_limit == before.high_watermark
    return after.reads == before.reads + begins and is_limited and (ends or after.read_to == before.read_to)


@step(
    symptom="consumers with isolation.level=read_committed do not get records, although no transaction is open",
    log="none",
)
def committed_records_are_read(before: ProducerLog, after: ProducerLog) -> bool:
    """A fetch gets all below the high watermark that it has seen, and nothing above the present one."""
    premise(before.is_reading and not after.is_reading)
    return before.read_limit <= after.read_to <= after.high_watermark


@reachable()
def producer_is_forgotten(log: ProducerLog) -> bool:
    """A producer that has appended, and was not fenced, is not known."""
    return log.is_up and log.entry is None and log.appended > 0 and not log.is_fenced


@reachable()
def duplicate_is_answered(log: ProducerLog) -> bool:
    """The log has a batch that the producer sends again."""
    return log.is_up and is_duplicate(log, log.next_sequence)


@reachable()
def next_transaction_is_ongoing(log: ProducerLog) -> bool:
    """The producer has begun a transaction after another one."""
    return log.is_ongoing and any(batch.kind is BatchKind.MARKER for batch in log.batches)


@reachable()
def broker_has_started_again(log: ProducerLog) -> bool:
    """A broker is up that was stopped, or has crashed."""
    return log.is_up and log.stops + log.crashes > 0


@reachable()
def crash_leaves_a_snapshot(log: ProducerLog) -> bool:
    """After a crash, which no stop follows, there is a snapshot where the last of several segments begins."""
    is_left = any(snapshot.offset == log.bases[-1] for snapshot in log.snapshots)
    return not log.is_up and log.stops < log.crashes and is_left and log.bases.head < log.bases[-1]
