"""Log: the segments of a partition: appending and rolling, finding records, retention and truncation."""

from __future__ import annotations

from kwalk.model.kafka.storage.domains import (
    CLEANINGS,
    CLIENT,
    CRASHES,
    FAULT,
    FETCHER,
    FILE_DELETE_DELAY_MS,
    KEYS,
    LEADER_DELETIONS,
    LIMIT_CHANGES,
    LOG,
    LOWERED_SEGMENTS,
    OFFSETS,
    OPERATOR,
    POLICY_CHANGES,
    PRODUCER,
    REPLICAS,
    RETENTION_BYTES,
    RETENTION_MS,
    SEGMENT_LIMITS,
    SEGMENTS,
    TIME,
    TIMES,
    TOMBSTONES,
    TRUNCATIONS,
    UNALIGNED_STARTS,
    Gap,
    Key,
    Offset,
    Records,
    SegmentSlot,
    Size,
    Timestamp,
)
from kwalk.model.kafka.storage.log_segment import (
    append_batch,
    find_offset_by_timestamp,
    largest_timestamp,
    on_become_inactive,
    open_segment,
    read,
    should_roll,
    truncate_segment,
)
from kwalk.model.kafka.storage.state import Batch, DeletedFiles, LogPhase, LogSegment, PartitionLog, Suffix
from kwalk.model.kafka.storage.versions.batches import (
    DAMAGED_BATCHES_ARE_FETCHED_AGAIN,
    FOLLOWERS_TAKE_LARGE_BATCHES,
    FOLLOWERS_TAKE_LARGER_THAN_SEGMENTS,
    FUTURE_TIMESTAMPS_ARE_REFUSED,
)
from kwalk.model.kafka.storage.versions.compaction import RETENTION_WAITS_FOR_THE_CLEANER
from kwalk.model.kafka.storage.versions.reads import (
    COPIES_BEGIN_WITHIN_A_BATCH,
    LARGEST_TIMESTAMP_IS_READ,
    LATER_SEGMENTS_ARE_SEARCHED,
    RESPONSES_ARE_OF_ONE_MOMENT,
    UNCOMPRESSED_OFFSETS_ARE_KNOWN,
)
from kwalk.model.kafka.storage.versions.recovery import RECOVERY_POINT_IS_FLUSHED, RECOVERY_POINT_STAYS
from kwalk.model.kafka.storage.versions.retention import (
    DELETE_BELOW_HIGH_WATERMARK,
    DELETE_RECORDS,
    START_OFFSET_IN_COMPACTED_LOGS,
)
from kwalk.model.kafka.storage.versions.segments import (
    EMPTY_SEGMENT_IS_REPLACED,
    LIMITS_HOLD_AT_ONCE,
    OFFSETS_FOLLOW_THE_START,
    ROLLS_BEFORE_OVERFLOW,
)
from kwalk.model.language import action, require


def file_name(base_offset: int, suffix: str) -> str:
    """Return the name of a segment's file: its base offset in 20 digits (Kafka: Log.filenamePrefixFromOffset)."""
    return f"{base_offset:020d}{suffix}"


def is_running(log: PartitionLog) -> bool:
    """Whether the log is open, and no segment is just being replaced."""
    is_online = POLICY_CHANGES == 0 or not log.is_offline
    return is_online and log.phase is LogPhase.RUNNING and log.suffix is not Suffix.SWAP


def active_segment(log: PartitionLog) -> LogSegment:
    """Return the last segment (Kafka: Log.activeSegment)."""
    return log.segments[log.count - 1]


@action(
    by=PRODUCER,
    description="appends {records} records of {size} bytes with timestamp {timestamp}, after {gap} offsets",
    source="Log.append, Log.maybeRoll; LogSegment.append",
)
def append(log: PartitionLog, size: Size, timestamp: Timestamp, records: Records, gap: Gap) -> None:
    """A batch gets the next offsets; its timestamp is the producer's, in any order (CreateTime), also a later one."""
    require(is_running(log) and (not FUTURE_TIMESTAMPS_ARE_REFUSED or timestamp <= log.clock))
    last_offset = log.end_offset + gap + records - 1
    append_to_log(log, Batch(last_offset=last_offset, records=records, timestamp=timestamp, size=size))


@action(
    by=PRODUCER,
    description="appends a compressed batch of two records, with the larger timestamp, {timestamp}, first: {first}",
    source="Log.append; LogValidator.validateMessagesAndAssignOffsetsCompressed",
)
def append_compressed(log: PartitionLog, timestamp: Timestamp, first: bool) -> None:
    """The records have timestamps of their own; a follower appends what its leader has."""
    require(is_running(log))
    last_offset = log.end_offset + 1
    append_to_log(log, Batch(last_offset=last_offset, records=2, timestamp=timestamp, size=1, largest_is_first=first))


@action(
    by=PRODUCER,
    description="appends two records, not compressed, with the larger timestamp, {timestamp}, first: {first}",
    source="LogValidator.assignOffsetsNonCompressed; LogSegment.append",
)
def append_uncompressed(log: PartitionLog, timestamp: Timestamp, first: bool) -> None:
    """The leader knows which record has the largest timestamp; in 3.7 it took the last one."""
    require(is_running(log))
    batch = Batch(last_offset=log.end_offset + 1, records=2, timestamp=timestamp, size=1, largest_is_first=first)
    is_larger = should_roll(active_segment(log), batch, log.clock) or timestamp > active_segment(log).max_timestamp
    append_to_log(log, batch)
    if is_larger and UNCOMPRESSED_OFFSETS_ARE_KNOWN:
        active_segment(log).max_timestamp_offset = offset_of_largest_timestamp(batch)


@action(
    by=FETCHER,
    description="copies the leader's next batch, of {records} records with timestamp {timestamp}",
    source="AbstractFetcherThread.processFetchRequest; Partition.appendRecordsToFollowerOrFutureReplica; Log.append",
)
def copy(log: PartitionLog, timestamp: Timestamp, records: Records) -> None:
    """The leader's log ends at the highest offset. A batch may be larger than the topic allows by now (KAFKA-9617)."""
    require(is_fetching(log) and takes_large_batches(log) and (UNALIGNED_STARTS == 0 or not log.begins_within))
    last_offset = log.end_offset + records - 1
    require(last_offset < OFFSETS)
    append_to_log(log, Batch(last_offset=last_offset, records=records, timestamp=timestamp, size=1))


def is_fetching(log: PartitionLog) -> bool:
    """Whether the log has a fetcher."""
    return is_running(log) and (LEADER_DELETIONS == 0 or not log.has_ended)


@action(
    by=REPLICAS,
    description="delete the records before {offset} of the leader, while it answers a fetch",
    source="ReplicaManager.updateFollowerLogReadResults; Replica.maybeIncrementLogStartOffset",
)
def delete_of_leader(log: PartitionLog, offset: Offset) -> None:
    """Before KAFKA-7104 the response has the new start offset, and no record up to there: the follower cannot take it.

    Since then it gets it with a later response.
    """
    require(bool(DELETE_RECORDS) and is_fetching(log) and log.end_offset < offset < OFFSETS)
    require(UNALIGNED_STARTS == 0 or not log.begins_within)
    log.leader_deletions += 1
    log.has_ended = not RESPONSES_ARE_OF_ONE_MOMENT


@action(
    by=FAULT,
    description="damages the batch that the follower gets: its checksum is wrong",
    source="AbstractFetcherThread.processFetchRequest; Log.analyzeAndValidateRecords",
)
def damage_response(log: PartitionLog) -> None:
    """It is fetched again. Before KAFKA-4384 the fetcher skipped it, and ended at the next one, as that left a gap."""
    require(is_fetching(log) and log.end_offset < OFFSETS)
    log.damages += 1
    log.has_ended = not DAMAGED_BATCHES_ARE_FETCHED_AGAIN


def takes_large_batches(log: PartitionLog) -> bool:
    """Whether a follower takes the next batch, also if its topic has a lower limit by now (Kafka: ignoreRecordSize)."""
    is_taken = FOLLOWERS_TAKE_LARGER_THAN_SEGMENTS if LOWERED_SEGMENTS > 0 else FOLLOWERS_TAKE_LARGE_BATCHES
    return LIMIT_CHANGES == 0 or log.limit_changes == 0 or bool(is_taken)


@action(
    by=FETCHER,
    description="copies the batch of two records within which its log begins, with timestamp {timestamp}",
    source="Partition.appendRecordsToFollowerOrFutureReplica; Log.truncateFullyAndStartAt",
)
def copy_from_within(log: PartitionLog, timestamp: Timestamp) -> None:
    """Since KAFKA-6975 the log begins again where the batch does; the start offset stays that of the leader."""
    require(bool(COPIES_BEGIN_WITHIN_A_BATCH) and is_fetching(log) and log.begins_within and takes_large_batches(log))
    log.begins_within = False
    batch = Batch(last_offset=log.end_offset, records=2, timestamp=timestamp, size=1)
    open_segment(active_segment(log), batch.first_offset, log.clock)
    append_batch(active_segment(log), batch, log.clock)
    log.end_offset += 1


def append_to_log(log: PartitionLog, batch: Batch) -> None:
    """Append a batch to the active segment, or to a new one (Kafka: Log.maybeRoll).

    A roll that fails changes nothing: the client or the fetcher gets an exception.
    """
    next_offset = batch.first_offset if ROLLS_BEFORE_OVERFLOW else log.end_offset
    rolls = should_roll(active_segment(log), batch, log.clock)
    if SEGMENT_LIMITS > 0 and is_too_large(log):
        rolls = True
    is_new = active_segment(log).base_offset < max(next_offset, log.end_offset)
    require(not rolls or is_new or bool(EMPTY_SEGMENT_IS_REPLACED))
    if rolls:
        roll(log, next_offset)
    append_batch(active_segment(log), batch, log.clock)
    log.end_offset = batch.last_offset + 1


def is_too_large(log: PartitionLog) -> bool:
    """Whether the active segment has no room by the segment.bytes that its topic was given meanwhile.

    Before KAFKA-7366 a segment keeps the limit with which it was opened. Kafka: LogSegment.shouldRoll.
    """
    segment = active_segment(log)
    is_limited = segment.is_small or (log.segment_limits > 0 and LIMITS_HOLD_AT_ONCE)
    return is_limited and not segment.batches.is_empty


def roll(log: PartitionLog, next_offset: int) -> None:
    """Begin a new active segment; an empty one of the same base offset is replaced (Kafka: Log.roll)."""
    base_offset = max(next_offset, log.end_offset)
    if active_segment(log).base_offset < base_offset:
        on_become_inactive(active_segment(log))
        log.count += 1
    open_segment(active_segment(log), base_offset, log.clock)
    if SEGMENT_LIMITS > 0:
        active_segment(log).is_small = log.segment_limits > 0


@action(
    by=PRODUCER,
    description="appends a record with key {key} and timestamp {timestamp}; it is a tombstone: {is_tombstone}",
    source="Log.append",
)
def append_keyed(log: PartitionLog, key: Key, timestamp: Timestamp, is_tombstone: bool, gap: Gap) -> None:
    """A record of a compacted topic; a tombstone has a key, and no value."""
    require(is_running(log) and (TOMBSTONES > 0 or not is_tombstone))
    batch = Batch(
        last_offset=log.end_offset + gap,
        records=1,
        timestamp=timestamp,
        size=1,
        key=key,
        is_tombstone=is_tombstone,
        appended=log.clock if TOMBSTONES > 0 else 0,
    )
    append_to_log(log, batch)


@action(by=REPLICAS, description="replicate the log up to {offset}", source="Log.maybeIncrementHighWatermark")
def raise_high_watermark(log: PartitionLog, offset: Offset) -> None:
    """The high watermark rises to any offset up to the end offset."""
    require(is_running(log) and log.high_watermark < offset <= log.end_offset)
    set_high_watermark(log, offset)


@action(by=REPLICAS, description="replicate the whole log", source="Log.maybeIncrementHighWatermark")
def replicate(log: PartitionLog) -> None:
    """The high watermark rises to the end offset."""
    require(is_running(log) and log.high_watermark < log.end_offset)
    set_high_watermark(log, log.end_offset)


def set_high_watermark(log: PartitionLog, offset: int) -> None:
    """Raise the high watermark; history remembers the last committed record of each key."""
    for segment in log.segments:
        for batch in segment.batches:
            if CLEANINGS > 0 and log.high_watermark <= batch.last_offset < offset:
                log.committed[batch.key] = None if batch.is_tombstone else batch.last_offset
    log.high_watermark = offset


@action(by=TIME, description="a moment passes")
def time_passes(log: PartitionLog) -> None:
    """The clock moves on."""
    require(log.clock < TIMES)
    log.clock += 1


@action(
    by=CLIENT,
    description="deletes the records before {offset}",
    source="Log.maybeIncrementLogStartOffset",
)
def delete_records(log: PartitionLog, offset: Offset) -> None:
    """DeleteRecords raises the start offset, up to the high watermark; segments go with the next retention check."""
    require(bool(DELETE_RECORDS) and is_running(log) and log.start_offset < offset <= log.high_watermark)
    raise_start_offset(log, offset)
    forget_committed_before(log, offset)


def raise_start_offset(log: PartitionLog, offset: int) -> None:
    """Raise the start offset, and since KAFKA-9491 the recovery point with it (Kafka: Log.updateLogStartOffset)."""
    log.start_offset = offset
    if CRASHES > 0 and OFFSETS_FOLLOW_THE_START and not RECOVERY_POINT_STAYS:
        log.recovery_point = max(log.recovery_point, offset)


def forget_committed_before(log: PartitionLog, offset: int) -> None:
    """History forgets committed records that a client has deleted, or retention."""
    for key in KEYS:
        committed = log.committed[key]
        if CLEANINGS > 0 and committed is not None and committed < offset:
            log.committed[key] = None


@action(by=OPERATOR, description="sets the modification time of segment {slot} to now")
def touch(log: PartitionLog, slot: SegmentSlot) -> None:
    """The files of a log are copied or moved, or another tool writes their times."""
    require(slot < log.count and log.segments[slot].last_modified < log.clock)
    log.touches += 1
    log.segments[slot].last_modified = log.clock


@action(
    by=REPLICAS,
    description="truncate the log to {offset}",
    source="Log.truncateTo; LogSegment.truncateTo",
)
def truncate_to(log: PartitionLog, offset: Offset) -> None:
    """A follower removes what its leader does not have: whole segments, and a part of the one before."""
    require(is_running(log) and log.truncations < TRUNCATIONS)
    require(max(log.high_watermark, log.start_offset) <= offset < log.end_offset)
    log.truncations += 1
    was_closed = active_segment(log).base_offset > offset
    for slot in reversed(range(1, len(SEGMENTS))):
        if slot == log.count - 1 and log.segments[slot].base_offset > offset:
            delete_files_later(log, log.segments[slot].base_offset)
            log.segments[slot].clear()
            log.count -= 1
    truncate_segment(active_segment(log), offset, log.clock, was_closed=was_closed)
    log.end_offset = offset
    if CRASHES > 0:
        log.recovery_point = min(log.recovery_point, offset)


@action(
    by=REPLICAS,
    description="truncate the whole log, which begins again at {offset}",
    source="AbstractFetcherThread.fetchOffsetAndTruncate; Log.truncateFullyAndStartAt",
)
def truncate_fully(log: PartitionLog, offset: Offset) -> None:
    """A follower that ends before the start offset of its leader begins again there.

    Before KAFKA-9491 its high watermark stays until the next fetch. What the cleaner does meanwhile is not modelled.
    """
    require(is_running(log) and log.truncations < TRUNCATIONS and log.end_offset < offset)
    begin_again(log, offset)


@action(
    by=REPLICAS,
    description="truncate the whole log, which begins again at {offset}, within a batch of the leader's",
    source="AbstractFetcherThread.fetchOffsetAndTruncate; Log.truncateFullyAndStartAt",
)
def truncate_within_a_batch(log: PartitionLog, offset: Offset) -> None:
    """Clients have deleted the first records of the batch, so that the leader's start offset is that of another one."""
    require(bool(DELETE_RECORDS) and is_running(log) and log.truncations < TRUNCATIONS and log.end_offset < offset)
    require(offset < OFFSETS)
    begin_again(log, offset)
    log.begins_within = True


def begin_again(log: PartitionLog, offset: int) -> None:
    """Delete all segments, and begin a new one (Kafka: Log.truncateFullyAndStartAt)."""
    log.truncations += 1
    for slot in SEGMENTS:
        if slot < log.count:
            delete_files_later(log, log.segments[slot].base_offset)
        log.segments[slot].clear()
    log.count = 1
    open_segment(log.segments[0], offset, log.clock)
    log.start_offset = log.end_offset = offset
    if OFFSETS_FOLLOW_THE_START:
        log.high_watermark = offset
        # The recovery point stays since KAFKA-12153, which is of the same release as KAFKA-10101.
        if CRASHES > 0 and not RECOVERY_POINT_IS_FLUSHED:
            log.recovery_point = offset


def read_from_log(log: PartitionLog, offset: int) -> Batch | None:
    """Return the first batch with an offset at or above the given one: of its segment, or of a later one.

    Kafka: Log.read.
    """
    found: Batch | None = None
    for slot in SEGMENTS:
        if slot < log.count and found is None and next_base_offset(log, slot) > offset:
            found = read(log.segments[slot], offset)
    return found


def fetch_offset_by_timestamp(log: PartitionLog, timestamp: int) -> Batch | None:
    """Return the first batch with a timestamp at or above the given one, of the first segment that may have one.

    Kafka: Log.fetchOffsetByTimestamp.
    """
    found: Batch | None = None
    is_searched = False
    for slot in SEGMENTS:
        segment = log.segments[slot]
        if slot < log.count and not is_searched and largest_timestamp(segment) >= timestamp:
            found = find_offset_by_timestamp(segment, timestamp, log.start_offset)
            is_searched = found is not None or not LATER_SEGMENTS_ARE_SEARCHED
    return found


def offset_of_largest_timestamp(batch: Batch) -> int:
    """Return the offset of the batch's first record with its largest timestamp (Kafka: offsetOfMaxTimestamp)."""
    return batch.first_offset if batch.largest_is_first else batch.last_offset


def fetch_largest_timestamp(log: PartitionLog) -> int:
    """Return the offset that a lookup of the largest timestamp finds, -1 if there is none.

    Until KAFKA-16310 it is the last one of the batch that has it, without a look at its records.
    Kafka: Log.fetchOffsetByTimestamp (ListOffsetsRequest.MAX_TIMESTAMP), LogSegment.maxTimestampAndOffsetSoFar.
    """
    largest = max(segment.max_timestamp for segment in log.segments)
    found = -1
    for slot in SEGMENTS:
        segment = log.segments[slot]
        if slot < log.count and found < 0 and largest >= 0 and segment.max_timestamp == largest:
            batch = read(segment, segment.max_timestamp_offset)
            found = segment.max_timestamp_offset
            if LARGEST_TIMESTAMP_IS_READ and batch is not None:
                found = offset_of_largest_timestamp(batch)
    return found


def next_base_offset(log: PartitionLog, slot: int) -> int:
    """Return the base offset of the next segment; of the active one, an offset above all others."""
    return log.segments[slot + 1].base_offset if slot + 1 < len(SEGMENTS) and slot < log.count - 1 else OFFSETS + 1


def is_below_high_watermark(log: PartitionLog, slot: int) -> bool:
    """Whether retention may delete the segment: it is not empty and active, nor above the high watermark.

    Kafka: Log.deletableSegments.
    """
    is_last_and_empty = slot == log.count - 1 and log.segments[slot].batches.is_empty
    upper = min(next_base_offset(log, slot), log.end_offset)
    is_below = log.high_watermark >= upper or not DELETE_BELOW_HIGH_WATERMARK
    return slot < log.count and is_below and not is_last_and_empty


def retention_ms_breached(log: PartitionLog) -> int:
    """Return how many segments have been there for too long (Kafka: Log.deleteRetentionMsBreachedSegments)."""
    count, is_open = 0, True
    for slot in SEGMENTS:
        is_old = log.clock - largest_timestamp(log.segments[slot]) > RETENTION_MS
        is_open = is_open and is_below_high_watermark(log, slot) and is_old
        count += is_open
    return count


def retention_size_breached(log: PartitionLog) -> int:
    """Return how many segments are more than the log may have (Kafka: Log.deleteRetentionSizeBreachedSegments)."""
    excess = sum(segment.size for segment in log.segments) - RETENTION_BYTES
    count, is_open = 0, True
    for slot in SEGMENTS:
        is_open = is_open and is_below_high_watermark(log, slot) and excess - log.segments[slot].size >= 0
        if is_open:
            excess -= log.segments[slot].size
        count += is_open
    return count


def start_offset_breached(log: PartitionLog) -> int:
    """Return how many segments end at or below the start offset (Kafka: Log.deleteLogStartOffsetBreachedSegments)."""
    count, is_open = 0, True
    for slot in SEGMENTS:
        is_open = is_open and is_below_high_watermark(log, slot) and next_base_offset(log, slot) <= log.start_offset
        count += is_open
    return count


@action(
    by=LOG,
    description="deletes the segments whose largest timestamp is too old",
    source="Log.deleteOldSegments, Log.deleteRetentionMsBreachedSegments",
)
def delete_old(log: PartitionLog) -> None:
    """Retention by time; of a log whose policy was compact, also while the cleaner is at work (before KAFKA-7322)."""
    breached = retention_ms_breached(log)
    require(is_running(log) and breached > 0)
    if POLICY_CHANGES > 0:
        require(not log.is_compacted and (log.cleaning_to == 0 or not RETENTION_WAITS_FOR_THE_CLEANER))
        log.lacks_old = log.cleaning_to > 0 and log.segments[breached - 1].base_offset >= log.cleaned_to
    delete_segments(log, breached)
    if POLICY_CHANGES > 0:
        forget_committed_before(log, log.start_offset)


@action(
    by=LOG,
    description="deletes the segments that are more than the log may have",
    source="Log.deleteOldSegments, Log.deleteRetentionSizeBreachedSegments",
)
def delete_excess(log: PartitionLog) -> None:
    """Retention by size."""
    breached = retention_size_breached(log)
    require(is_running(log) and breached > 0)
    delete_segments(log, breached)


@action(
    by=LOG,
    description="deletes the segments before the start offset",
    source="Log.deleteOldSegments, Log.deleteLogStartOffsetBreachedSegments",
)
def delete_before_start(log: PartitionLog) -> None:
    """Retention by start offset; of a compacted log, by the cleaner's thread, which does nothing else meanwhile."""
    breached = start_offset_breached(log)
    require(is_running(log) and breached > 0)
    require(CLEANINGS == 0 or (bool(START_OFFSET_IN_COMPACTED_LOGS) and is_left_to_retention(log)))
    delete_segments(log, breached)


def is_left_to_retention(log: PartitionLog) -> bool:
    """Whether the cleaner's thread may delete segments: it lives, and does not clean this log.

    Kafka: LogCleanerManager.deletableLogs, LogCleaner.CleanerThread.cleanFilthiestLog.
    """
    return not log.is_cleaner_dead and log.cleaning_to == 0


def delete_segments(log: PartitionLog, number: int) -> None:
    """Delete the first segments; if that is all of them, roll first. The start offset follows.

    Kafka: Log.deleteSegments, Log.removeAndDeleteSegments.
    """
    if number == log.count:
        roll(log, log.end_offset)
    for turn in SEGMENTS:
        if turn < number:
            delete_files_later(log, log.segments[0].base_offset)
            for slot in range(len(SEGMENTS) - 1):
                log.segments[slot] = log.segments[slot + 1]
            log.segments[len(SEGMENTS) - 1].clear()
            log.count -= 1
    raise_start_offset(log, max(log.start_offset, log.segments[0].base_offset))


def delete_files_later(log: PartitionLog, base_offset: int) -> None:
    """Rename the files of a segment to `.deleted`, for a task that removes them (Kafka: Log.deleteSegmentFiles)."""
    if FILE_DELETE_DELAY_MS > 0:
        log.deleted.push(DeletedFiles(base_offset=base_offset, since=log.clock))


def is_delay_over(log: PartitionLog) -> bool:
    """Whether the files that were renamed first have waited for file.delete.delay.ms."""
    return log.clock - log.deleted.head.since >= FILE_DELETE_DELAY_MS


@action(
    by=LOG,
    description="removes the files that were renamed to .deleted",
    source="Log.deleteSegmentFiles; LogSegment.deleteIfExists",
)
def delete_files(log: PartitionLog) -> None:
    """The task delete-file runs file.delete.delay.ms after the files were renamed."""
    require(not log.deleted.is_empty and is_delay_over(log))
    log.deleted.pop()
