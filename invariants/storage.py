"""Properties of a partition's log: what users lose when one breaks, and what must be reachable."""

from __future__ import annotations

from kwalk.model.kafka.server.dynamic_broker_config import BrokerConfiguration, effective, first, log_retention
from kwalk.model.kafka.storage.domains import (
    DELETE_RETENTION_MS,
    FILE_DELETE_DELAY_MS,
    INDEX_INTERVAL_BYTES,
    KEYS,
    MAP_KEYS,
    MAX_RELATIVE_OFFSET,
    OFFSETS,
    RETENTION_BYTES,
    RETENTION_MS,
    SEGMENT_BYTES,
    SEGMENT_MS,
    SEGMENTS,
    TOMBSTONES,
    UNALIGNED_STARTS,
    Key,
    Offset,
    SegmentSlot,
    Timestamp,
)
from kwalk.model.kafka.storage.log import (
    active_segment,
    fetch_largest_timestamp,
    fetch_offset_by_timestamp,
    is_running,
    next_base_offset,
    offset_of_largest_timestamp,
    read_from_log,
)
from kwalk.model.kafka.storage.log_loading import is_flushed
from kwalk.model.kafka.storage.state import Batch, LogPhase, LogSegment, PartitionLog, Suffix
from kwalk.model.kafka.storage.versions.compaction import (
    CLEANS_PARTS_OF_SEGMENTS,
    DIRTY_PART,
    GAPS_ARE_PASSED,
    TOMBSTONES_BY_FILE_TIME,
    TOMBSTONES_HAVE_A_HORIZON,
)
from kwalk.model.kafka.storage.versions.segments import EMPTY_SEGMENT_IS_REPLACED, ROLLS_BEFORE_OVERFLOW, TIME_INDEX
from kwalk.model.language import always, eventually, premise, reachable, step, when_quiescent

SKIPPING = (
    "Skipping recovery for all logs in … since clean shutdown file was found (3.9: Skipping recovery of … logs from … "
    "since clean shutdown file was found)"
)


def first_batch(log: PartitionLog, offset: int, timestamp: int) -> Batch | None:
    """Return the first batch of the whole log at or above an offset that has a timestamp at or above the given one."""
    found: Batch | None = None
    for segment in log.segments:
        for batch in segment.batches:
            if found is None and batch.last_offset >= offset and batch.timestamp >= timestamp:
                found = batch
    return found


@always(
    symptom="a consumer skips records, or reads some again, although the log has what it asks for",
    log="none: the fetch is answered from another position",
)
def offset_lookup_finds_the_first_record(log: PartitionLog, offset: Offset) -> bool:
    """A fetch from an offset begins with the first batch at or above it, if the log has one."""
    premise(is_running(log) and log.start_offset <= offset < log.end_offset)
    return read_from_log(log, offset) == first_batch(log, offset, -1)


@always(
    symptom="offsetsForTimes, or a reset of a group's offsets to a time, finds nothing, or skips records",
    log="none: the lookup is answered with offset -1, or with a later one",
)
def timestamp_lookup_finds_the_first_record(log: PartitionLog, timestamp: Timestamp) -> bool:
    """A lookup by timestamp finds the first batch with that timestamp or a later one, if the log has one."""
    wanted = first_batch(log, log.start_offset, timestamp)
    premise(bool(TIME_INDEX) and is_running(log) and wanted is not None)
    return fetch_offset_by_timestamp(log, timestamp) == wanted


@always(
    symptom="a lookup of the largest timestamp (OffsetSpec.maxTimestamp) is answered with another record's offset",
    log="none: kafka-get-offsets.sh --time -3 shows it, kafka-dump-log.sh --deep-iteration the records",
)
def largest_timestamp_has_its_offset(log: PartitionLog) -> bool:
    """A lookup of the largest timestamp finds the first record that has it."""
    largest = max((batch.timestamp for segment in log.segments for batch in segment.batches), default=-1)
    wanted = -1
    for segment in log.segments:
        for batch in segment.batches:
            if wanted < 0 and batch.timestamp == largest:
                wanted = offset_of_largest_timestamp(batch)
    premise(is_running(log) and wanted >= 0)
    return fetch_largest_timestamp(log) == wanted


@always(
    symptom="a lookup of the largest timestamp is answered with the offset of a deleted record",
    log="none: kafka-get-offsets.sh --time -3 shows an offset below that of --time -2",
)
def largest_timestamp_is_of_a_record(log: PartitionLog) -> bool:
    """A lookup of the largest timestamp finds no record below the start offset."""
    found = fetch_largest_timestamp(log)
    premise(is_running(log) and found >= 0)
    return found >= log.start_offset


@always(
    symptom="a lookup scans the wrong part of a segment",
    log="Attempt to append an offset (…) to position … no larger than the last offset appended (…) to …",
)
def indexes_grow(log: PartitionLog, slot: SegmentSlot) -> bool:
    """Of two neighbours in an index, the later one has the larger offset and position, or timestamp and offset."""
    premise(is_running(log))
    segment = log.segments[slot]
    return all(
        a.offset < b.offset and a.position < b.position
        for a, b in zip(segment.offset_index, segment.offset_index[1:], strict=False)
    ) and all(
        a.timestamp < b.timestamp and a.offset < b.offset
        for a, b in zip(segment.time_index, segment.time_index[1:], strict=False)
    )


@always(
    symptom="a lookup begins in the middle of a batch, or behind the end of a file",
    log="Found invalid messages in log segment … at byte offset …",
)
def indexes_point_to_batches(log: PartitionLog, slot: SegmentSlot) -> bool:
    """An entry of an offset index has the position of its batch; one of a time index, the largest timestamp so far."""
    premise(is_running(log) and is_read(log, slot))
    segment = log.segments[slot]
    return all(points_to_a_batch(segment, entry.offset, entry.position) for entry in segment.offset_index) and all(
        entry.timestamp == largest_up_to(segment, entry.offset) for entry in segment.time_index
    )


def points_to_a_batch(segment: LogSegment, offset: int, position: int) -> bool:
    """Whether the batch with that last offset begins at that position."""
    at, found = 0, False
    for batch in segment.batches:
        if batch.last_offset == offset and at == position:
            found = True
        at = at + batch.size
    return found


def largest_up_to(segment: LogSegment, offset: int) -> int:
    """Return the largest timestamp of the batches up to an offset."""
    return max((batch.timestamp for batch in segment.batches if batch.last_offset <= offset), default=-1)


@always(
    symptom="two segments have the same offsets, or a segment cannot be indexed",
    log="Trying to roll a new log segment for topic partition … with start offset … while it already exists",
)
def segments_do_not_overlap(log: PartitionLog, slot: SegmentSlot) -> bool:
    """A segment has offsets from its base offset up to the next one's, and none that is relatively too high."""
    premise(is_running(log) and slot < log.count)
    segment = log.segments[slot]
    upper = min(next_base_offset(log, slot), log.end_offset)
    return segment.base_offset <= log.end_offset and all(
        segment.base_offset <= batch.first_offset
        and batch.last_offset < upper
        and batch.last_offset - segment.base_offset <= MAX_RELATIVE_OFFSET
        for batch in segment.batches
    )


@always(symptom="a segment file is larger than log.segment.bytes", log="none")
def segments_are_not_larger_than_allowed(log: PartitionLog, slot: SegmentSlot) -> bool:
    """No segment has more than log.segment.bytes, as no batch is larger than that."""
    return log.segments[slot].size <= SEGMENT_BYTES


@always(
    symptom="followers that fetch records which are not replicated yet, or clients of a leader that was elected after "
    "its log had begun again, get OFFSET_OUT_OF_RANGE",
    log="Cannot increment the log start offset to … of partition … since it is larger than the high watermark …",
)
def start_offset_is_not_above_the_high_watermark(log: PartitionLog) -> bool:
    """Retention deletes no record that is not replicated, and a log that begins again is replicated up to there."""
    return log.start_offset <= log.high_watermark


@step(symptom="records that were deleted can be read again", log="none")
def start_offset_does_not_move_back(before: PartitionLog, after: PartitionLog) -> bool:
    """The start offset only rises."""
    return after.start_offset >= before.start_offset


@always(symptom="appends fail: the partition has no segment", log="none")
def active_segment_is_there(log: PartitionLog) -> bool:
    """There is an active segment, and what is appended next belongs to it."""
    premise(is_running(log))
    return log.count >= 1 and log.segments[log.count - 1].base_offset <= log.end_offset


def batch_at(log: PartitionLog, offset: int) -> Batch | None:
    """Return the batch that ends with an offset."""
    found: Batch | None = None
    for segment in log.segments:
        for batch in segment.batches:
            if batch.last_offset == offset:
                found = batch
    return found


def size_of(log: PartitionLog) -> int:
    """Return the bytes of all segments."""
    return sum(segment.size for segment in log.segments)


@step(
    symptom="segment.bytes or segment.ms of a topic was lowered, and old records stay, or are not compacted, as before",
    log="none: the active segment grows beyond its topic's segment.bytes",
)
def changed_limit_holds(before: PartitionLog, after: PartitionLog) -> bool:
    """An append rolls a segment that has a batch, once segment.bytes has room for one only."""
    premise(before.segment_limits > 0 and after.end_offset > before.end_offset)
    premise(not active_segment(before).batches.is_empty)
    return after.count > before.count


@reachable()
def small_segment_has_rolled(log: PartitionLog) -> bool:
    """A segment with one batch was closed that was opened after the change."""
    return log.count > 2 and log.segments[1].is_small and len(log.segments[0].batches) > 1


@always(
    symptom="partitions have no leader after a failover, as the broker that was elected handles no part of the request",
    log="Error while processing LeaderAndIsr request correlationId … received from controller … epoch …",
)
def elected_replica_leads(log: PartitionLog) -> bool:
    """A replica that is elected begins to lead."""
    return not log.has_failed_to_lead


@when_quiescent(
    symptom="a broker does not start after a crash, again and again",
    log="There was an error in one of the threads during logs loading: … inconsistent range",
)
def crashed_broker_starts(log: PartitionLog) -> bool:
    """A broker that has crashed runs at last."""
    return log.phase is LogPhase.RUNNING


@step(
    symptom="records vanish before their retention time is over",
    log="Deleting segment … due to retention time …ms breach (3.9: due to log retention time …ms breach)",
)
def young_record_is_kept(before: PartitionLog, after: PartitionLog, offset: Offset) -> bool:
    """Retention keeps a record that is neither too old nor more than the log may have, nor before the start offset."""
    batch = batch_at(before, offset)
    premise(batch is not None and before.clock - batch.timestamp <= RETENTION_MS)
    premise(is_running(before) and is_running(after) and size_of(before) <= RETENTION_BYTES)
    premise(before.start_offset <= offset < after.end_offset)
    return batch_at(after, offset) == batch


@when_quiescent(
    symptom="a topic has records that are far older than retention.ms, for instance after a move of its replicas",
    log="none: no segment is found deletable",
)
def expired_segment_is_deleted(log: PartitionLog) -> bool:
    """The first segment is deleted once all of its records are replicated, and older than the retention time.

    A later one waits until those before it are deleted.
    """
    first = log.segments[0]
    premise(not first.batches.is_empty and log.high_watermark >= min(next_base_offset(log, 0), log.end_offset))
    return any(log.clock - batch.timestamp <= RETENTION_MS for batch in first.batches)


@when_quiescent(
    symptom="a topic has records that were appended far longer ago than retention.ms, before one from the future",
    log="none: no segment is found deletable",
)
def old_appends_are_deleted(log: PartitionLog) -> bool:
    """The first segment is deleted once it is replicated, and was appended to for longer ago than the retention time.

    The modification time of its file is that of the last append, unless somebody has touched it since.
    """
    first = log.segments[0]
    premise(not first.batches.is_empty and log.high_watermark >= min(next_base_offset(log, 0), log.end_offset))
    return log.clock - first.last_modified <= RETENTION_MS


@when_quiescent(symptom="a partition has far more bytes than retention.bytes", log="none")
def excess_is_deleted(log: PartitionLog) -> bool:
    """While the first segment is replicated and not the active one, the log would be too small without it."""
    premise(log.count > 1 and log.high_watermark >= log.segments[1].base_offset)
    return size_of(log) - log.segments[0].size < RETENTION_BYTES


@step(
    symptom="a partition has fewer bytes than retention.bytes, although none of its records is old",
    log="Deleting segment … due to retention size … breach (3.9: due to log retention size … breach)",
)
def size_retention_leaves_enough(before: PartitionLog, after: PartitionLog) -> bool:
    """Retention by size deletes no segment without which the log would have fewer bytes than retention.bytes."""
    premise(before.clock <= RETENTION_MS and after.start_offset > before.start_offset)
    premise(before.start_offset == before.segments[0].base_offset and size_of(after) < size_of(before))
    return size_of(after) >= RETENTION_BYTES


@when_quiescent(symptom="records that a client has deleted stay on disk", log="none")
def segment_before_the_start_is_deleted(log: PartitionLog) -> bool:
    """No segment ends at or below the start offset, but the active one."""
    premise(log.count > 1)
    return log.segments[1].base_offset > log.start_offset


@step(
    symptom="records that were acknowledged are gone from this replica after a crash, although they were on its disk",
    log="Corruption found in segment …, truncating to offset …",
)
def flushed_records_survive(before: PartitionLog, after: PartitionLog, offset: Offset) -> bool:
    """A record that was flushed stays, unless the start offset passes it."""
    premise(was_flushed(before, offset) and offset >= after.start_offset)
    return batch_at(after, offset) is not None


def was_flushed(log: PartitionLog, offset: int) -> bool:
    """Whether the batch that ends with an offset was flushed."""
    return any(b.last_offset == offset and is_flushed(segment, b) for segment in log.segments for b in segment.batches)


def flushed_end(log: PartitionLog) -> int:
    """Return the offset behind the last record that was flushed, 0 if there is none."""
    return max(segment.flushed for segment in log.segments)


@always(
    symptom="a fetch fails: the log has a part of a batch in its middle",
    log="Record is corrupt (stored crc = …, computed crc = …)",
)
def no_batch_is_torn(log: PartitionLog) -> bool:
    """A log that was loaded has no part of a batch that was cut off by a crash, but before its start offset."""
    premise(is_running(log) and log.crashes > 0)
    return not any(
        slot < log.count and log.torn == log.segments[slot].base_offset and is_read(log, slot) for slot in SEGMENTS
    )


def is_read(log: PartitionLog, slot: int) -> bool:
    """Whether clients may read from the segment: it does not end before the start offset."""
    return next_base_offset(log, slot) > log.start_offset


@step(symptom="records that were deleted before an orderly stop can be read again", log="none")
def start_offset_survives_a_stop(before: PartitionLog, after: PartitionLog) -> bool:
    """The start offset does not move back while the broker stops and starts in an orderly way."""
    premise(before.phase is LogPhase.STOPPED and before.has_clean_shutdown_file)
    return after.start_offset >= before.start_offset


@always(
    symptom="the current value of a key is gone from a compacted topic",
    log="Cleaner …: Swapping in cleaned segment … for segment(s) … in log …",
)
def last_value_is_kept(log: PartitionLog, key: Key) -> bool:
    """The last record of a key below the high watermark is kept, unless it is a tombstone, or a client deleted it."""
    premise(is_running(log) and log.committed[key] is not None)
    return any(batch.last_offset == log.committed[key] for segment in log.segments for batch in segment.batches)


@step(
    symptom="a consumer that reads within delete.retention.ms does not learn that a key was deleted",
    log="Cleaner …: Cleaning log … (cleaning prior to …, discarding tombstones prior to …)",
)
def tombstone_is_kept_after_compaction(before: PartitionLog, after: PartitionLog, offset: Offset) -> bool:
    """A tombstone that is its key's last record lives delete.retention.ms from the first compaction that sees it."""
    batch = batch_at(before, offset)
    premise(batch is not None and batch.is_tombstone and is_last_of_key(before, batch))
    assert batch is not None
    is_due = batch.cleaned is not None and before.clock - batch.cleaned >= DELETE_RETENTION_MS
    return is_due or is_on_disk(after, batch)


@step(
    symptom="a consumer that reads within delete.retention.ms does not learn that a key was deleted",
    log="Cleaner …: Cleaning log … (cleaning prior to …, discarding tombstones prior to …)",
)
def tombstone_is_kept_after_its_append(before: PartitionLog, after: PartitionLog, offset: Offset) -> bool:
    """A tombstone that is its key's last record lives at least delete.retention.ms from its append."""
    batch = batch_at(before, offset)
    premise(batch is not None and batch.is_tombstone and is_last_of_key(before, batch))
    assert batch is not None
    return before.clock - batch.appended >= DELETE_RETENTION_MS or is_on_disk(after, batch)


@step(
    symptom="compacted topics keep tombstones for good",
    log="Cleaner …: Cleaning log … (cleaning prior to …, discarding tombstones prior to …)",
)
def tombstone_goes_after_its_time(before: PartitionLog, after: PartitionLog) -> bool:
    """A compaction writes no tombstone that an earlier one saw delete.retention.ms before it began."""
    premise(before.suffix is Suffix.NONE and after.suffix is Suffix.CLEANED)
    return all(
        batch is None
        or not batch.is_tombstone
        or batch.cleaned is None
        or batch.cleaned == cleaning_time(after)
        or cleaning_time(after) - batch.cleaned < DELETE_RETENTION_MS
        for batch in after.cleaned
    )


def cleaning_time(log: PartitionLog) -> int:
    """Return the moment by which a compaction decides: that of its beginning, or before KIP-534 the present one."""
    return log.horizon if TOMBSTONES_HAVE_A_HORIZON else log.clock


@step(
    symptom="compacted topics keep tombstones for good",
    log="Cleaner …: Cleaning log … (cleaning prior to …, discarding tombstones prior to …)",
)
def due_tombstone_is_not_written(before: PartitionLog, after: PartitionLog) -> bool:
    """A compaction writes only tombstones that an earlier one saw less than delete.retention.ms ago, or none has.

    Before KIP-534, only those whose segment was modified after the last clean one, or less than that before it.
    """
    premise(bool(TOMBSTONES_BY_FILE_TIME) and before.suffix is Suffix.NONE and after.suffix is Suffix.CLEANED)
    return all(batch is None or not batch.is_tombstone or is_within_retention(after, batch) for batch in after.cleaned)


def is_within_retention(log: PartitionLog, tombstone: Batch) -> bool:
    """Whether delete.retention.ms have not passed for a tombstone that a compaction writes."""
    if TOMBSTONES_HAVE_A_HORIZON:
        first_seen, now = tombstone.cleaned, cleaning_time(log)
        return first_seen is not None and (first_seen == now or now - first_seen < DELETE_RETENTION_MS)
    modified = clean = -1
    for slot in SEGMENTS:
        segment = log.segments[slot]
        if slot < log.count and segment.base_offset < log.dirty_offset:
            clean = segment.last_modified
        if any(batch.last_offset == tombstone.last_offset for batch in segment.batches):
            modified = segment.last_modified
    return modified > clean - DELETE_RETENTION_MS


def is_last_of_key(log: PartitionLog, batch: Batch) -> bool:
    """Whether no later record has the key."""
    return all(
        other.key != batch.key or other.last_offset <= batch.last_offset
        for segment in log.segments
        for other in segment.batches
    )


def is_on_disk(log: PartitionLog, batch: Batch) -> bool:
    """Whether the log has the record; while segments are swapped, their old ones are still counted."""
    return batch_at(log, batch.last_offset) is not None


@always(
    symptom="a replica that is added does not join the ISR until the next record; elected uncleanly, it gives "
    "offsets again",
    log="none: kafka-dump-log.sh shows no batch below the base offset of the last segment",
)
def copy_ends_with_the_log(log: PartitionLog) -> bool:
    """A follower that copies all batches of a compacted log gets to its high watermark."""
    premise(log.start_offset < log.high_watermark and log.suffix is Suffix.NONE)
    ends = [batch.last_offset + 1 for segment in log.segments for batch in segment.batches]
    return max(ends, default=log.start_offset) >= log.high_watermark


@always(
    symptom="compacted topics grow without bound: the log cleaner does nothing any more",
    log="[kafka-log-cleaner-thread-…]: Error due to … requirement failed: largest offset in message set can not be "
    "safely converted to relative offset. (1.0), Unable to build the offset map for segment …/…. You can increase "
    "log.cleaner.dedupe.buffer.size or decrease log.cleaner.threads (0.10.0), or This log contains a message larger "
    "than maximum allowable size of …. (1.0)",
)
def cleaner_lives(log: PartitionLog) -> bool:
    """The thread of the cleaner does not die of a segment."""
    return not log.is_cleaner_dead


@step(
    symptom="compacted topics grow, as the log cleaner cleans one log again and again, and no other",
    log="Log cleaner thread … cleaned log … (dirty section = […, …])",
)
def cleaning_has_something_to_clean(before: PartitionLog, after: PartitionLog) -> bool:
    """A cleaning begins only if there is a record to clean: at or above the checkpoint, in a segment that is closed."""
    premise(after.cleanings > before.cleanings)
    return any(
        slot < before.count - 1 and batch.last_offset >= before.dirty_offset
        for slot in SEGMENTS
        for batch in before.segments[slot].batches
    )


@always(
    symptom="a follower's fetcher ends with an exception, so that none of its partitions is replicated; or a producer "
    "gets an unexpected server error",
    log="Trying to roll a new log segment for topic partition … with start offset … while it already exists",
)
def append_does_not_fail(log: PartitionLog) -> bool:
    """An empty active segment has room in its indexes, so that it need not roll; or a roll would replace it."""
    premise(is_running(log))
    active = log.segments[log.count - 1]
    is_empty = active.batches.is_empty and active.base_offset == log.end_offset
    return bool(EMPTY_SEGMENT_IS_REPLACED) or not (is_empty and (active.is_padded or active.is_trimmed))


def is_append(before: PartitionLog, after: PartitionLog) -> bool:
    """Whether the step appends a batch: the log is longer, and was not truncated to begin at another offset."""
    is_same = UNALIGNED_STARTS == 0 or before.begins_within == after.begins_within
    return after.end_offset > before.end_offset and after.truncations == before.truncations and is_same


@when_quiescent(
    symptom="a replica does not follow its leader any more; before 2.3, none that its broker fetches with it does",
    log="Unexpected error occurred while processing data for partition … at offset …",
)
def follower_catches_up(log: PartitionLog) -> bool:
    """A follower copies all batches of its leader, whatever the topic allows by now, and wherever its log begins."""
    return log.end_offset == OFFSETS


@step(
    symptom="a record is not at the offset that its producer was answered",
    log="none: kafka-dump-log.sh shows the record at another offset",
)
def appended_batch_ends_the_log(before: PartitionLog, after: PartitionLog) -> bool:
    """A batch that is appended is the last one, above all offsets before, of this moment, and seen by no compaction."""
    premise(is_running(before) and is_running(after) and is_append(before, after))
    batch = after.segments[after.count - 1].batches[-1]
    has_its_time = batch.appended == (after.clock if TOMBSTONES > 0 else 0) and batch.cleaned is None
    return before.end_offset <= batch.first_offset and batch.last_offset == after.end_offset - 1 and has_its_time


@step(
    symptom="offsets of a topic without compaction or transactions are missing, or there twice",
    log="none: kafka-dump-log.sh shows a gap between offsets",
)
def leader_gives_each_offset(before: PartitionLog, after: PartitionLog) -> bool:
    """A batch that a leader appends begins at the end offset, and its records have one offset each."""
    premise(is_running(before) and is_running(after) and is_append(before, after))
    batch = after.segments[after.count - 1].batches[-1]
    return batch.first_offset == before.end_offset and batch.last_offset == after.end_offset - 1


@step(
    symptom="a batch behind a large gap, as in the copy of a compacted log, cannot be indexed in the segment that is "
    "rolled for it",
    log="none: ls shows a segment whose name is below the offset of its first record",
)
def new_segment_begins_with_its_first_batch(before: PartitionLog, after: PartitionLog) -> bool:
    """The base offset of a segment that is rolled for a batch is the first offset of the batch."""
    active = after.segments[after.count - 1]
    premise(bool(ROLLS_BEFORE_OVERFLOW) and is_running(before) and is_running(after))
    premise(is_append(before, after) and active.base_offset > before.segments[before.count - 1].base_offset)
    return active.base_offset == active.batches.head.first_offset


@step(
    symptom="a topic keeps records for longer than retention.ms, as its segments do not roll after segment.ms",
    log="none: ls shows that the newest segment grows",
)
def old_segment_rolls(before: PartitionLog, after: PartitionLog) -> bool:
    """A batch does not go to a segment that is older than segment.ms.

    That age is from the timestamp of the segment's first batch to that of the new one; before KIP-33, or without
    timestamps, from the moment at which the segment was made.
    """
    old, new = before.segments[before.count - 1], after.segments[after.count - 1]
    premise(is_running(before) and is_append(before, after) and not old.batches.is_empty)
    first, last = old.batches.head.timestamp, new.batches[-1].timestamp
    age = last - first if TIME_INDEX and first >= 0 else before.clock - old.created
    return age <= SEGMENT_MS or new.base_offset > old.base_offset


@step(
    symptom="after a restart a topic keeps all of its records for retention.ms more, and disks fill",
    log="none: ls shows the time of the restart",
)
def stop_keeps_file_times(before: PartitionLog, after: PartitionLog) -> bool:
    """The files of a log have the same modification times after a stop as before it."""
    premise(after.phase is LogPhase.STOPPED and before.phase is not LogPhase.STOPPED)
    return all(after.segments[slot].last_modified == before.segments[slot].last_modified for slot in SEGMENTS)


@step(
    symptom="a fetch that began before a segment was deleted fails",
    log="Deleting segment files …",
)
def deleted_files_are_kept_for_the_delay(before: PartitionLog, after: PartitionLog) -> bool:
    """Files with the suffix `.deleted` are removed file.delete.delay.ms after they were renamed, and not before."""
    premise(len(after.deleted) < len(before.deleted))
    return before.clock - before.deleted.head.since >= FILE_DELETE_DELAY_MS


@always(
    symptom="retention and lookups by timestamp take a segment for older or younger than it is",
    log="none: kafka-dump-log.sh shows the records with their timestamps",
)
def largest_timestamp_is_known(log: PartitionLog, slot: SegmentSlot) -> bool:
    """A segment knows the largest timestamp of its batches, and the first batch that has it."""
    premise(is_running(log) and slot < log.count and is_read(log, slot))
    segment = log.segments[slot]
    largest = largest_up_to(segment, log.end_offset)
    has_largest = any(
        batch.last_offset == segment.max_timestamp_offset and batch.timestamp == largest for batch in segment.batches
    )
    return segment.max_timestamp == largest and (largest < 0 or has_largest)


@always(
    symptom="a lookup by timestamp begins far before the record, or retention takes a segment for older than it is",
    log="none: kafka-dump-log.sh --files ….timeindex shows the entries",
)
def closed_time_index_ends_with_the_largest_timestamp(log: PartitionLog, slot: SegmentSlot) -> bool:
    """The time index of a segment that is not active any more ends with the segment's largest timestamp."""
    premise(is_running(log) and slot < log.count - 1 and is_read(log, slot))
    segment = log.segments[slot]
    largest = largest_up_to(segment, log.end_offset)
    return largest < 0 or any(entry.timestamp == largest for entry in segment.time_index)


@always(
    symptom="fetches read much more of a segment than index.interval.bytes before they find their offset",
    log="none: kafka-dump-log.sh --files ….index shows the entries",
)
def index_has_an_entry_for_each_interval(log: PartitionLog, slot: SegmentSlot) -> bool:
    """A batch has an entry only if it begins more than index.interval.bytes after the last one that has.

    Each of these has, unless the log was truncated or loaded, as the broker then counts from there; but for what has
    just been recovered.
    """
    premise(slot < log.count and is_read(log, slot) and log.suffix is not Suffix.SWAP)
    loads = log.crashes + log.stops
    is_complete = log.truncations == 0 and loads == (log.phase is LogPhase.LOADING)
    at, indexed, is_right = 0, 0, True
    for batch in log.segments[slot].batches:
        has_entry = any(entry.offset == batch.last_offset for entry in log.segments[slot].offset_index)
        is_due = at - indexed > INDEX_INTERVAL_BYTES
        is_right = is_right and (has_entry == is_due if is_complete else is_due or not has_entry)
        indexed = at if has_entry else indexed
        at = at + batch.size
    return is_right or log.phase is LogPhase.STOPPED


@always(
    symptom="appends or retention find files of a segment that was deleted",
    log="none: ls shows the files",
)
def removed_segment_leaves_nothing(log: PartitionLog, slot: SegmentSlot) -> bool:
    """Behind the active segment nothing is left of earlier ones."""
    premise(slot >= log.count)
    segment = log.segments[slot]
    has_files = not segment.batches.is_empty or not segment.offset_index.is_empty or not segment.time_index.is_empty
    has_times = segment.created > 0 or segment.last_modified > 0 or segment.max_timestamp >= 0
    has_numbers = segment.base_offset > 0 or segment.unindexed > 0 or segment.max_timestamp_offset > 0
    return not has_files and not has_times and not has_numbers and not segment.is_padded and not segment.is_trimmed


@always(
    symptom="consumers and followers are answered that an offset is out of range, or read what is not replicated",
    log="Cannot increment the log start offset to … of partition … since it is larger than the high watermark …",
)
def offsets_are_in_order(log: PartitionLog) -> bool:
    """The first segment, the start offset and the end offset are in this order; the high watermark is below the end."""
    premise(log.phase is not LogPhase.STOPPED)
    last = max((batch.last_offset for segment in log.segments for batch in segment.batches), default=-1)
    return (
        log.segments[0].base_offset <= log.start_offset <= log.end_offset
        and last < log.end_offset
        and (max(log.high_watermark, log.recovery_point) <= log.end_offset)
    )


@step(
    symptom="records that consumers have read are gone, or cannot be read for a while",
    log="none: kafka-get-offsets.sh shows an earlier end",
)
def high_watermark_does_not_go_back(before: PartitionLog, after: PartitionLog) -> bool:
    """While the log is open, its high watermark rises or stays."""
    premise(is_running(before) and is_running(after))
    return after.high_watermark >= before.high_watermark


@step(
    symptom="records that were not deleted, nor truncated, are gone",
    log="none: the offsets are missing from kafka-dump-log.sh",
)
def record_is_kept(before: PartitionLog, after: PartitionLog, offset: Offset) -> bool:
    """A record stays between the start offset and the end offset of the log."""
    batch = batch_at(before, offset)
    premise(batch is not None and after.start_offset <= offset < after.end_offset)
    return batch_at(after, offset) == batch


@step(
    symptom="records vanish that are neither old, nor more than the log may have, nor deleted by a client",
    log="none: the line that names the start offset as the reason names a segment above it",
)
def record_from_the_start_on_is_kept(before: PartitionLog, after: PartitionLog, offset: Offset) -> bool:
    """Where only the rule of the start offset deletes segments, a record at or above it stays, unless truncated."""
    batch = batch_at(before, offset)
    premise(batch is not None and before.start_offset <= offset and after.truncations == before.truncations)
    return batch_at(after, offset) == batch


@step(
    symptom="a follower has records that its leader does not have, or fetches from an offset that it has already",
    log="[Log partition=…, dir=…] Truncating to offset … (3.9: UnifiedLog)",
)
def truncation_ends_the_log(before: PartitionLog, after: PartitionLog) -> bool:
    """The end offset moves back by a truncation, and by a truncation only."""
    premise(is_running(before) and is_running(after))
    is_truncated = after.truncations > before.truncations
    return is_truncated == (after.end_offset < before.end_offset)


@step(
    symptom="retention by time keeps or deletes a segment, as another tool has set the time of its file",
    log="none: ls shows the time",
)
def file_times_change_by_appends(before: PartitionLog, after: PartitionLog) -> bool:
    """The modification time of a segment is that of its last append; else it changes only if it is set."""
    set_now = other = 0
    for slot in SEGMENTS:
        old, new = before.segments[slot], after.segments[slot]
        is_longer = len(new.batches) > len(old.batches) and old.base_offset == new.base_offset
        other = other + (is_longer and before.count == after.count and new.last_modified != after.clock)
        is_same = old.batches == new.batches and old.base_offset == new.base_offset and before.count == after.count
        is_set = is_same and old.last_modified != new.last_modified
        set_now = set_now + (is_set and new.last_modified == after.clock)
        other = other + (is_set and new.last_modified != after.clock)
    return other == 0 and after.touches == before.touches + set_now


@step(
    symptom="disks fill with files of segments that the log does not have any more",
    log="none: ls shows segments before the log start offset",
)
def removed_segments_leave_no_files(before: PartitionLog, after: PartitionLog) -> bool:
    """The files of each segment that goes wait to be removed, and no others with them."""
    removed = [
        before.segments[slot].base_offset
        for slot in SEGMENTS
        if slot < before.count and not has_base_offset(after, before.segments[slot].base_offset)
    ]
    premise(FILE_DELETE_DELAY_MS > 0 and len(removed) > 0)
    is_all = all(any(files.base_offset == base_offset for files in after.deleted) for base_offset in removed)
    return is_all and len(after.deleted) == len(before.deleted) + len(removed)


def has_base_offset(log: PartitionLog, base_offset: int) -> bool:
    """Whether the log has a segment with a base offset."""
    return any(slot < log.count and log.segments[slot].base_offset == base_offset for slot in SEGMENTS)


@always(
    symptom="the files of a segment that the log still has are removed",
    log="Deleting segment files …",
)
def deleted_files_are_before_the_log(log: PartitionLog) -> bool:
    """The files that wait to be removed are those of segments before the first one."""
    return all(files.base_offset < log.segments[0].base_offset for files in log.deleted)


@step(
    symptom="a log changes before the broker has loaded it",
    log="none: the log's files have later times than the start of the broker",
)
def closed_log_does_not_change(before: PartitionLog, after: PartitionLog) -> bool:
    """While the broker is down, and until it has loaded all logs, nothing is appended, deleted or cleaned."""
    premise(before.phase is not LogPhase.RUNNING and after.phase is before.phase)
    return (
        after.start_offset == before.start_offset
        and after.end_offset == before.end_offset
        and after.high_watermark == before.high_watermark
        and after.recovery_point == before.recovery_point
        and flushed_end(after) == flushed_end(before)
        and after.recovery_point_checkpoint == before.recovery_point_checkpoint
        and after.start_offset_checkpoint == before.start_offset_checkpoint
        and after.suffix is before.suffix
        and after.renamed == before.renamed
        and after.cleaned_to == before.cleaned_to
    )


@step(symptom="the broker stops without a request and without a crash", log="none")
def stops_are_counted(before: PartitionLog, after: PartitionLog) -> bool:
    """A broker that runs stops by an orderly stop or a crash; it is loaded after each, and then runs."""
    stopped = after.phase is LogPhase.STOPPED and before.phase is not LogPhase.STOPPED
    starts = before.phase is LogPhase.STOPPED and after.phase is LogPhase.LOADING
    is_up = before.phase is LogPhase.LOADING and after.phase is LogPhase.RUNNING
    is_next = after.phase is before.phase or stopped or starts or is_up
    return is_next and after.stops + after.crashes == before.stops + before.crashes + stopped


@always(
    symptom="a broker that was stopped in an orderly way recovers its logs, or loses records at its next start",
    log=SKIPPING,
)
def orderly_stop_writes_everything(log: PartitionLog) -> bool:
    """With a clean shutdown file on disk, and no broker, the log is flushed, and both checkpoints have its offsets."""
    premise(log.phase is LogPhase.STOPPED and log.has_clean_shutdown_file and log.crashes == 0)
    has_all = all(is_flushed(segment, batch) for segment in log.segments for batch in segment.batches)
    is_recovered = log.recovery_point_checkpoint == log.end_offset
    return has_all and is_recovered and log.start_offset_checkpoint == log.start_offset


@always(
    symptom="after its next crash the broker does not recover its logs, and serves records that were cut off",
    log=SKIPPING,
)
def running_broker_has_no_clean_shutdown_file(log: PartitionLog) -> bool:
    """A broker never runs with a clean shutdown file; a stopped one has nothing in memory."""
    if log.phase is LogPhase.STOPPED:
        active = log.segments[log.count - 1]
        return log.recovery_point == 0 and active.unindexed == active.created == 0
    return log.phase is LogPhase.LOADING or not log.has_clean_shutdown_file


@step(
    symptom="after a crash the broker recovers less of the log than was not flushed, or deleted records are back",
    log="none: the files recovery-point-offset-checkpoint and log-start-offset-checkpoint have the offsets",
)
def checkpoints_have_what_they_are_of(before: PartitionLog, after: PartitionLog) -> bool:
    """A checkpoint that changes has the recovery point, or the start offset, of the log; a flush sets the former."""
    premise(before.recreations == after.recreations)
    is_stop = after.phase is LogPhase.STOPPED
    is_flush = is_running(after) and flushed_end(after) > flushed_end(before)
    ends = (active_segment(after).base_offset, after.end_offset)
    is_recovery = after.recovery_point_checkpoint in (before.recovery_point_checkpoint, before.recovery_point)
    is_start = after.start_offset_checkpoint in (before.start_offset_checkpoint, before.start_offset)
    return is_start and (is_recovery or is_stop) and (not is_flush or after.recovery_point in ends)


@always(
    symptom="after a crash the broker does not recover what was not flushed",
    log="Corruption found in segment …, truncating to offset …",
)
def recovery_point_is_on_disk(log: PartitionLog, offset: Offset) -> bool:
    """Nothing before the recovery point, or its checkpoint, is missing on disk, but before the start offset."""
    premise(log.phase is LogPhase.RUNNING and batch_at(log, offset) is not None)
    premise(log.start_offset <= offset < max(log.recovery_point, log.recovery_point_checkpoint))
    return was_flushed(log, offset)


@when_quiescent(
    symptom="a start after a crash takes long, as segments are recovered that were flushed long before; or deleted "
    "records are back",
    log="none: the files recovery-point-offset-checkpoint and log-start-offset-checkpoint have the offsets",
)
def checkpoints_are_written(log: PartitionLog) -> bool:
    """A running broker writes the recovery point and the start offset to their checkpoints at last."""
    premise(log.phase is LogPhase.RUNNING)
    is_flushed = log.recovery_point_checkpoint == log.recovery_point
    return is_flushed and log.start_offset_checkpoint == log.start_offset


@step(
    symptom="a crash takes records that were flushed",
    log="Corruption found in segment …, truncating to offset …",
)
def crash_loses_what_was_not_flushed(before: PartitionLog, after: PartitionLog, offset: Offset) -> bool:
    """A crash leaves what was flushed, and the index files of the active segment as they were allocated."""
    premise(after.crashes > before.crashes)
    is_gone = batch_at(before, offset) is not None and batch_at(after, offset) is None
    return active_segment(after).is_padded and not (is_gone and was_flushed(before, offset))


@step(
    symptom="recovery cuts off records that are whole on disk",
    log="Corruption found in segment …, truncating to offset …",
)
def torn_batch_is_lost(before: PartitionLog, after: PartitionLog) -> bool:
    """A part of a batch is on disk only after a crash in which the rest of the batch was lost."""
    premise(before.torn is None and after.torn is not None)
    return after.crashes > before.crashes and size_of(after) < size_of(before)


@step(
    symptom="a crash takes records of segments that were rolled long before",
    log="Corruption found in segment …, truncating to offset …",
)
def flush_covers_closed_segments(before: PartitionLog, after: PartitionLog) -> bool:
    """After a flush the disk has all closed segments, but what is before the start offset."""
    premise(is_running(before) and is_running(after) and flushed_end(after) > flushed_end(before))
    return all(
        slot >= after.count - 1 or batch.last_offset < after.start_offset or is_flushed(after.segments[slot], batch)
        for slot in SEGMENTS
        for batch in after.segments[slot].batches
    )


@step(
    symptom="after a restart consumers cannot read records that they have read before, until followers have fetched",
    log="none: kafka-get-offsets.sh shows an earlier end",
)
def high_watermark_survives_a_stop(before: PartitionLog, after: PartitionLog) -> bool:
    """After an orderly stop the high watermark is what it was."""
    premise(before.phase is LogPhase.STOPPED and after.phase is LogPhase.LOADING and before.has_clean_shutdown_file)
    return after.high_watermark >= min(before.high_watermark, after.end_offset)


@step(
    symptom="a broker that starts serves records that were deleted, or misses some that are on its disk",
    log="Loading producer state till offset … with message format version …; Completed load of … with … segments",
)
def loaded_log_is_that_of_the_disk(before: PartitionLog, after: PartitionLog) -> bool:
    """A log that was loaded begins at the checkpoint, or at its first segment, and ends with its last batch."""
    premise(before.phase is LogPhase.STOPPED and after.phase is LogPhase.LOADING)
    active = after.segments[after.count - 1]
    end = active.base_offset if active.batches.is_empty else active.batches[-1].last_offset + 1
    start = max(before.start_offset_checkpoint, after.segments[0].base_offset)
    is_same = after.recovery_point_checkpoint == before.recovery_point_checkpoint
    return after.end_offset == end and after.start_offset == start and is_same and not active.is_padded


@always(
    symptom="a compacted topic grows as if it were not compacted",
    log="Log cleaner thread … cleaned log … (dirty section = […, …])",
)
def cleaned_part_has_one_record_of_a_key(log: PartitionLog, key: Key) -> bool:
    """Before the cleaner's checkpoint a key has one record at most."""
    premise(is_running(log) and log.start_offset == 0)
    of_key = [
        batch.key == key and batch.last_offset < log.dirty_offset
        for segment in log.segments
        for batch in segment.batches
    ]
    return sum(of_key) <= 1


@always(
    symptom="a broker that starts finds .cleaned, .swap and .deleted files that do not belong together",
    log="Found log file … from interrupted swap operation, repairing. (3.9: from interrupted swap operation, which is "
    "recoverable from .swap files by renaming.)",
)
def swap_is_in_order(log: PartitionLog) -> bool:
    """Old segments are renamed while there is a .swap file, and no more of them than are replaced.

    A stop ends what has no .swap file yet.
    """
    is_within = log.renamed <= log.replaced and log.renamed <= log.count and log.cleaned_to <= log.end_offset
    is_ended = log.phase is LogPhase.RUNNING or (log.cleaned_to == 0 and log.suffix is Suffix.NONE)
    if log.suffix is not Suffix.SWAP and not is_ended:
        return False
    if log.suffix is Suffix.NONE:
        return log.replaced == log.renamed == 0 and all(batch is None for batch in log.cleaned)
    return is_within and log.replaced > 0 and (log.suffix is Suffix.SWAP or log.renamed == 0)


@step(
    symptom="records that were compacted away are read again after a crash",
    log="Found log file … from interrupted swap operation, repairing.",
)
def renamed_segments_do_not_return(before: PartitionLog, after: PartitionLog) -> bool:
    """Segments that were renamed to .deleted in a swap are gone at the next start; one segment takes their place."""
    premise(before.phase is LogPhase.STOPPED and after.phase is LogPhase.LOADING and before.renamed > 0)
    return after.suffix is Suffix.NONE and after.count <= before.count - before.renamed + 1


@step(
    symptom="values of a key that were compacted away are read again after a crash",
    log="Found log file … from interrupted swap operation, repairing.",
)
def compacted_record_does_not_return(before: PartitionLog, after: PartitionLog, offset: Offset) -> bool:
    """Of a segment that was renamed to .deleted in a swap, the next start has only what the .swap file has."""
    premise(before.phase is LogPhase.STOPPED and after.phase is LogPhase.LOADING and before.suffix is Suffix.SWAP)
    first = next((slot for slot in SEGMENTS if before.segments[slot].base_offset >= before.cleaned_to), 0)
    renamed = [
        slot < before.count
        and first <= slot < first + before.renamed
        and any(batch.last_offset == offset for batch in before.segments[slot].batches)
        for slot in SEGMENTS
    ]
    premise(any(renamed))
    is_kept = any(batch is not None and batch.last_offset == offset for batch in before.cleaned)
    return is_kept or batch_at(after, offset) is None


@step(
    symptom="values of keys are gone after a crash during a compaction",
    log="Found log file … from interrupted swap operation, repairing.",
)
def swapped_record_is_kept(before: PartitionLog, after: PartitionLog) -> bool:
    """After a crash the log has every record of the .swap file, which takes the place of the old segments."""
    premise(before.phase is LogPhase.STOPPED and after.phase is LogPhase.LOADING and before.suffix is Suffix.SWAP)
    return all(batch is None or batch_at(after, batch.last_offset) == batch for batch in before.cleaned)


@step(
    symptom="old values of keys stay in closed segments, although the log cleaner runs",
    log="Cleaner …: Cleaning log … (cleaning prior to …, discarding tombstones prior to …)",
)
def cleaning_covers_what_is_replicated(before: PartitionLog, after: PartitionLog) -> bool:
    """A cleaning goes at least as far as segments are closed and all of their records are replicated."""
    premise(bool(GAPS_ARE_PASSED) and after.cleanings > before.cleanings)
    return covers_what_is_replicated(before, after)


def covers_what_is_replicated(before: PartitionLog, after: PartitionLog) -> bool:
    """Whether a cleaning that begins ends at or behind all closed segments whose records are replicated."""
    return all(
        slot >= before.count - 1
        or before.segments[slot + 1].base_offset > before.high_watermark
        or before.segments[slot + 1].base_offset <= after.cleaning_to
        for slot in range(len(SEGMENTS) - 1)
    )


@step(
    symptom="two cleanings of a log overlap, or one ends before it has renamed its segments",
    log="Cleaner …: Swapping in cleaned segment … for segment(s) … in log …",
)
def cleaning_goes_step_by_step(before: PartitionLog, after: PartitionLog) -> bool:
    """A cleaning has one end offset; the swap begins with the .cleaned file, and ends when all old ones are renamed.

    One without segments, of which only the active one was chosen (KAFKA-9826), ends as it begins.
    """
    premise(before.phase is LogPhase.RUNNING and after.phase is LogPhase.RUNNING)
    premise(after.policy_changes == before.policy_changes and not after.is_offline)
    is_one = before.cleaning_to == 0 or after.cleaning_to in (before.cleaning_to, 0)
    begins = before.suffix is not Suffix.CLEANED and after.suffix is Suffix.CLEANED
    swaps = before.suffix is not Suffix.SWAP and after.suffix is Suffix.SWAP
    ends = before.suffix is not Suffix.NONE and after.suffix is Suffix.NONE
    return (
        is_one
        and (not begins or before.suffix is Suffix.NONE)
        and (not swaps or before.suffix is Suffix.CLEANED)
        and (not ends or (before.suffix is Suffix.SWAP and before.renamed == before.replaced))
        and after.renamed in (before.renamed, before.renamed + 1, 0)
        and (
            after.cleanings == before.cleanings + (before.cleaning_to == 0 and after.cleaning_to > 0)
            or (DIRTY_PART == "from the start offset" and before.cleaning_to == 0)
            or after.is_cleaner_dead
        )
    )


@step(
    symptom="tombstones of a cleaned segment are removed too early or too late, or retention takes it for younger",
    log="none: ls shows the time",
)
def cleaned_segment_has_the_time_of_its_last(before: PartitionLog, after: PartitionLog) -> bool:
    """After a swap each segment has a base offset and a modification time that one of the old segments had.

    The new one has the time of the last segment that it replaces.
    """
    premise(before.phase is LogPhase.RUNNING and after.phase is LogPhase.RUNNING)
    premise(before.suffix is Suffix.SWAP and after.suffix is Suffix.NONE)
    first = next(
        (slot for slot in SEGMENTS if slot < before.count and before.segments[slot].base_offset >= before.cleaned_to), 0
    )
    last = first + before.replaced - 1
    return (
        after.segments[first].last_modified == before.segments[last].last_modified
        and all(
            slot >= after.count
            or any(
                older < before.count and before.segments[older].last_modified == after.segments[slot].last_modified
                for older in SEGMENTS
            )
            for slot in SEGMENTS
        )
        and all(
            slot >= after.count
            or any(before.segments[older].base_offset == after.segments[slot].base_offset for older in SEGMENTS)
            for slot in SEGMENTS
        )
    )


@always(
    symptom="all partitions of a log directory are offline after compact was removed from a topic's cleanup.policy",
    log="Failed to clean up log for … in dir … due to IOException",
)
def log_directory_stays_online(log: PartitionLog) -> bool:
    """The cleaner finds the segments that it is to replace."""
    return not log.is_offline


@always(
    symptom="fetches fail, and the log cleaner stops, at a compacted segment with preallocate=true after a crash",
    log="Record size is smaller than minimum record overhead (…).",
)
def segment_ends_with_its_last_record(log: PartitionLog, slot: SegmentSlot) -> bool:
    """A segment that has just been loaded has no zeros behind its records."""
    premise(log.phase is LogPhase.LOADING and slot < log.count)
    return not log.segments[slot].has_zeros


@step(
    symptom="records that were acknowledged after a crash cannot be read: they are below the start offset",
    log="none: kafka-get-offsets.sh shows an end below the beginning",
)
def appended_record_can_be_read(before: PartitionLog, after: PartitionLog) -> bool:
    """A batch that is appended is not below the start offset."""
    premise(is_running(before) and is_running(after) and is_append(before, after))
    return after.end_offset > after.start_offset


@step(
    symptom="after a crash a broker has lost records of a topic that was created again; clients begin behind them",
    log="Deleting all segments because logEndOffset (…) is smaller than logStartOffset (…).",
)
def created_log_keeps_its_records(before: PartitionLog, after: PartitionLog, offset: Offset) -> bool:
    """A start finds each record that is on disk, and that no client has deleted."""
    batch = batch_at(before, offset)
    premise(before.phase is LogPhase.STOPPED and after.phase is LogPhase.LOADING and before.torn is None)
    premise(batch is not None and before.start_offset <= offset)
    return after.start_offset <= offset and batch_at(after, offset) == batch


@step(
    symptom="a topic that was created again has records of the deleted one",
    log="none: kafka-dump-log.sh shows them",
)
def created_log_is_empty(before: PartitionLog, after: PartitionLog) -> bool:
    """A topic that is created again has an empty log, which begins at 0, and whose checkpoints are those of before."""
    premise(before.recreations != after.recreations)
    is_empty = after.count == 1 and size_of(after) == 0 and after.torn is None
    is_at_start = after.start_offset == after.end_offset == after.high_watermark == after.recovery_point == 0
    is_known = after.recovery_point_checkpoint in (0, before.recovery_point_checkpoint)
    is_known = is_known and after.start_offset_checkpoint in (0, before.start_offset_checkpoint)
    return is_empty and is_at_start and is_known and is_running(before) and is_running(after)


@step(
    symptom="a compacted log has empty segments, which each cleaning writes again",
    log="Cleaner …: Swapping in cleaned segment … for segment(s) … in log …",
)
def empty_segment_is_merged(before: PartitionLog, after: PartitionLog) -> bool:
    """A group of segments that are cleaned into one does not end before an empty segment that is cleaned, too."""
    premise(before.suffix is Suffix.NONE and after.suffix is Suffix.CLEANED)
    first = next((slot for slot in SEGMENTS if after.segments[slot].base_offset >= after.cleaned_to), 0)
    return not any(
        slot == first + after.replaced
        and slot < after.count - 1
        and after.segments[slot].base_offset < after.cleaning_to
        and after.segments[slot].batches.is_empty
        for slot in SEGMENTS
    )


@step(
    symptom="earlier values of keys are gone, although compact was removed from cleanup.policy before",
    log="Cleaner …: Swapping in cleaned segment … for segment(s) … in log …",
)
def cleaning_ends_with_its_policy(before: PartitionLog, after: PartitionLog) -> bool:
    """The cleaner puts no segment into a log whose policy is delete."""
    premise(before.suffix is Suffix.CLEANED and after.suffix is Suffix.SWAP)
    return before.is_compacted


@step(
    symptom="current values of keys are gone from a compacted topic: retention.ms has deleted them",
    log="Deleting segment … due to retention time …ms breach (3.9: due to log retention time …ms breach)",
)
def retention_spares_compacted_logs(before: PartitionLog, after: PartitionLog) -> bool:
    """Where no client deletes records, those of a log whose policy is compact stay, however old they are."""
    premise(before.is_compacted)
    return after.start_offset == before.start_offset


@step(
    symptom="compacted topics grow without bound: the log cleaner does nothing any more",
    log="Attempt to add a new entry to a full offset map.",
)
def map_has_room(before: PartitionLog, after: PartitionLog) -> bool:
    """A cleaning covers no more keys than the cleaner's map has room for."""
    premise(before.cleaning_to == 0 and after.cleaning_to > 0)
    return dirty_keys(after) <= MAP_KEYS


@step(
    symptom="old values of keys stay in closed segments, although the log cleaner runs",
    log="Cleaner …: Cleaning log … (cleaning prior to …, discarding tombstones prior to …)",
)
def cleaning_fills_its_map(before: PartitionLog, after: PartitionLog) -> bool:
    """A cleaning ends at the first segment that is active or not replicated, or where the cleaner's map is full.

    Before KAFKA-3894 it ended with a segment.
    """
    premise(bool(CLEANS_PARTS_OF_SEGMENTS) and before.cleaning_to == 0 and after.cleaning_to > 0)
    return covers_what_is_replicated(before, after) or dirty_keys(after) >= MAP_KEYS


def dirty_keys(log: PartitionLog) -> int:
    """Return how many keys the records have that a cleaning covers."""
    return sum(
        any(
            batch.key == key and log.dirty_offset <= batch.last_offset < log.cleaning_to
            for segment in log.segments
            for batch in segment.batches
        )
        for key in KEYS
    )


@reachable()
def retention_follows_compaction(log: PartitionLog) -> bool:
    """A log that was compacted has lost a segment by retention."""
    return not log.is_compacted and log.cleanings > 0 and log.start_offset > 0


@reachable()
def crash_tears_a_batch(log: PartitionLog) -> bool:
    """A crash has left a part of a batch."""
    return log.phase is LogPhase.STOPPED and log.torn is not None


@reachable()
def failed_start_is_made_up_for(log: PartitionLog) -> bool:
    """The broker runs with a record, after a crash and a start that has failed."""
    return log.full_disks > 0 and is_running(log) and log.end_offset > 0


@reachable()
def start_after_a_failure_recovers(log: PartitionLog) -> bool:
    """The broker runs with a record, after a crash and a start that ended before it had loaded its logs."""
    return log.failed_starts > 0 and is_running(log) and log.end_offset > 0


@reachable()
def log_has_rolled(log: PartitionLog) -> bool:
    """All segments are in use, and each has a batch."""
    return log.count == len(SEGMENTS) and all(not segment.batches.is_empty for segment in log.segments)


@reachable()
def lookup_begins_at_an_entry(log: PartitionLog) -> bool:
    """A segment has an entry in each index that is not at its beginning."""
    return any(
        any(entry.position > 0 for entry in segment.offset_index) and not segment.time_index.is_empty
        for segment in log.segments
    )


@reachable()
def copy_begins_within_a_batch(log: PartitionLog) -> bool:
    """A follower's log has its start offset within its first batch, and more than that."""
    first = log.segments[0].batches
    return log.count > 1 and not first.is_empty and first.head.first_offset < log.start_offset


@reachable()
def active_segment_is_deleted(log: PartitionLog) -> bool:
    """Retention has deleted all records: the log has a new active segment only."""
    return log.count == 1 and log.start_offset > 0 and log.segments[0].batches.is_empty


@reachable()
def crashed_log_is_recovered(log: PartitionLog) -> bool:
    """After a crash the log runs, and has a segment that was rolled and what was flushed."""
    return log.crashes > 0 and is_running(log) and log.count > 1 and flushed_end(log) > 1


@step(symptom="a crash leaves other files than the disk has", log="none")
def crash_leaves_an_index_untrimmed(before: PartitionLog, after: PartitionLog) -> bool:
    """A crash leaves zeros behind the indexes of the active segment, and of one that was closed."""
    premise(before.crashes < after.crashes)
    padded = sum(1 for segment in after.segments if segment.is_padded)
    return padded > 1 and active_segment(after).is_padded


@reachable()
def elected_log_had_begun_again(log: PartitionLog) -> bool:
    """A replica was elected, and leads, whose log begins behind its first offset."""
    return log.leaderships > 0 and log.start_offset > 0 and not log.has_failed_to_lead


@reachable()
def crashed_log_runs(log: PartitionLog) -> bool:
    """After a crash the log runs, and has a segment that was rolled, and records that were deleted or are due."""
    is_due = log.start_offset > 0 or log.clock > 0
    return log.crashes > 0 and is_running(log) and log.count > 1 and is_due


@reachable()
def created_log_is_recovered(log: PartitionLog) -> bool:
    """A log with records, which was created again, was loaded after a crash."""
    return log.recreations > 0 and log.crashes > 0 and is_running(log) and log.end_offset > log.start_offset


@step(symptom="a follower loses records that are committed", log="none")
def empty_segment_stays(before: PartitionLog, after: PartitionLog) -> bool:
    """A truncation of the active segment leaves it empty at the end of the log, which has all that is committed."""
    premise(before.truncations != after.truncations)
    is_counted = after.truncations == before.truncations + 1 and before.count == after.count
    is_empty = active_segment(after).batches.is_empty and not active_segment(before).batches.is_empty
    is_committed = before.high_watermark <= after.end_offset == active_segment(before).base_offset
    return is_counted and is_empty and is_committed and before.cleaning_to == 0 == after.cleaning_to


@step(symptom="the cleaner cleans a part of a log again and again", log="none")
def lost_checkpoint_is_none(before: PartitionLog, after: PartitionLog) -> bool:
    """A checkpoint that is lost while the cleaner rests leaves all dirty, and nothing else changes."""
    premise(before.dirty_offset > after.dirty_offset)
    is_idle = before.cleaning_to == 0 == after.cleaning_to and before.phase is LogPhase.RUNNING
    return after.dirty_offset == 0 and is_idle and before.end_offset == after.end_offset


@reachable()
def clean_log_is_dirty_again(log: PartitionLog) -> bool:
    """The cleaner has cleaned a log, and has no checkpoint."""
    return log.cleanings > 0 and log.dirty_offset == 0 and log.cleaning_to == 0 and log.high_watermark > 0


@reachable()
def log_ends_above_an_empty_segment(log: PartitionLog) -> bool:
    """The active segment is empty, and what is before it was cleaned twice."""
    return log.cleanings > 1 and log.cleaning_to == 0 and log.count > 1 and active_segment(log).batches.is_empty


@reachable()
def log_is_compacted(log: PartitionLog) -> bool:
    """Two cleanings have ended, and a segment has fewer records than offsets."""
    first = log.segments[0]
    return (
        log.cleanings > 1
        and log.cleaning_to == 0
        and log.count > 1
        and (len(first.batches) < log.segments[1].base_offset - first.base_offset)
    )


@reachable()
def segments_are_merged(log: PartitionLog) -> bool:
    """Several segments, of which earlier cleanings have left little, are cleaned into one."""
    return log.suffix is Suffix.CLEANED and log.replaced > 1


@reachable()
def crash_leaves_a_swap(log: PartitionLog) -> bool:
    """The broker has crashed when the old segments were renamed, and the new one was not."""
    return log.phase is LogPhase.STOPPED and log.suffix is Suffix.SWAP and 0 < log.renamed == log.replaced


@reachable()
def truncated_log_is_indexed(log: PartitionLog) -> bool:
    """After a truncation a segment has entries in its index."""
    return log.truncations > 0 and any(not segment.offset_index.is_empty for segment in log.segments)


@when_quiescent(
    symptom="retention.ms, or another configuration of a topic, is not what kafka-configs.sh --describe shows",
    log="none: Processing override for entityPath: … is followed by no error",
)
def configuration_follows_precedence(config: BrokerConfiguration) -> bool:
    """Once all changes are handled, the log has the value of the topic, the broker, all brokers, the file, or none."""
    premise(config.is_up)
    return log_retention(config) == effective(config)


@when_quiescent(
    symptom="a topic's own configuration is lost when a broker's is changed: a compacted topic is deleted from",
    log="none: Processing override for entityPath: brokers/… is followed by no error",
)
def topic_configuration_is_kept(config: BrokerConfiguration) -> bool:
    """The topic's own value holds, whatever changes at other levels."""
    premise(config.is_up and config.topic is not None)
    return log_retention(config) == config.topic


@when_quiescent(
    symptom="retention.ms stays at a value that was deleted, until the broker is restarted",
    log="none: Processing override for entityPath: brokers/… is followed by no error",
)
def deleted_configuration_does_not_hold(config: BrokerConfiguration) -> bool:
    """Without any dynamic value, the log has the value of the file, or Kafka's default."""
    premise(config.is_up and config.topic is None and config.broker is None and config.cluster is None)
    premise(config.file_ms is None and config.file_hours is None)
    return log_retention(config) == effective(config)


@always(
    symptom="a running broker uses another value than kafka-configs.sh --describe shows, although it has handled all",
    log="none: Processing override for entityPath: … is followed by no error",
)
def handled_change_is_known(config: BrokerConfiguration) -> bool:
    """A running broker has the dynamic values that are in ZooKeeper, but for those whose notification is on its way."""
    premise(config.is_up)
    has_broker = config.known_broker == config.broker
    has_cluster = config.known_cluster == config.cluster and config.known_other == config.other
    return (has_broker or config.broker_changed) and (has_cluster or config.cluster_changed)


@always(symptom="a value of server.properties does not hold after a restart", log="none")
def running_broker_has_read_its_file(config: BrokerConfiguration) -> bool:
    """A running broker has the values of its file, which is edited while the broker is stopped."""
    premise(config.is_up)
    return config.known_ms == config.file_ms and config.known_hours == config.file_hours


@always(symptom="a restart does not help against a value that a broker has computed wrongly", log="none")
def configuration_ends_with_its_process(config: BrokerConfiguration) -> bool:
    """A stopped broker has nothing of what it had read and computed: its next process begins with file and znodes."""
    premise(not config.is_up)
    has_dynamic = config.known_broker is not None or config.known_cluster is not None or config.known_other
    has_file = config.known_ms is not None or config.known_hours is not None
    has_computed = config.log_default is not None or config.log_value is not None or config.is_overridden
    return not (has_dynamic or has_file or has_computed)


@step(symptom="a value that no client has set is in server.properties or in the list of kafka-configs.sh", log="none")
def values_change_by_request(before: BrokerConfiguration, after: BrokerConfiguration) -> bool:
    """Only an admin changes values in ZooKeeper and in the file, and stops the broker; each time is counted as one."""
    is_dynamic_same = before.topic == after.topic and before.broker == after.broker and before.cluster == after.cluster
    is_changed = not is_dynamic_same or before.other != after.other
    is_edited = before.file_ms != after.file_ms or before.file_hours != after.file_hours
    is_stopped = before.is_up and not after.is_up
    return (
        after.changes == before.changes + is_changed
        and after.edits == before.edits + is_edited
        and after.restarts == before.restarts + is_stopped
    )


@when_quiescent(
    symptom="a dynamic configuration of a broker has no effect",
    log="none: Processing override for entityPath: brokers/… is followed by no error",
)
def dynamic_configuration_holds(config: BrokerConfiguration) -> bool:
    """For a topic without a value of its own, a dynamic value holds: the broker's, or else that of all brokers."""
    premise(config.is_up and config.topic is None)
    dynamic = first(config.broker, config.cluster)
    premise(dynamic is not None)
    return log_retention(config) == dynamic


@eventually(
    symptom="a change of a configuration never takes effect, or a broker does nothing but handle changes",
    log="Processing override for entityPath: … is logged again and again, or never",
)
def changes_are_handled(config: BrokerConfiguration) -> bool:
    """Once admins are done, the broker runs and no notification is on its way."""
    return config.is_up and not (config.topic_changed or config.broker_changed or config.cluster_changed)


@reachable()
def all_levels_are_set(config: BrokerConfiguration) -> bool:
    """After a restart the topic's value holds, over three others."""
    is_set = config.topic is not None and config.broker is not None and config.cluster is not None
    return is_set and config.restarts > 0 and config.is_up and log_retention(config) == config.topic


@reachable()
def other_key_is_read(config: BrokerConfiguration) -> bool:
    """The broker has read the change of another key."""
    return config.is_up and config.known_other
