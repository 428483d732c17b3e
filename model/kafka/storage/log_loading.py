"""Log and LogManager: what is flushed and checkpointed, what a crash leaves, and how a log is loaded and recovered."""

from __future__ import annotations

from kwalk.model.kafka.storage.domains import (
    CLEANINGS,
    FAULT,
    FULL_DISKS,
    INDEX_INTERVAL_BYTES,
    LOG,
    LOSSES,
    OPERATOR,
    PREALLOCATES,
    SEGMENTS,
    Offset,
)
from kwalk.model.kafka.storage.indexes import append_offset, maybe_append_time
from kwalk.model.kafka.storage.log import active_segment, delete_files_later, is_running, next_base_offset
from kwalk.model.kafka.storage.log_cleaner import complete_swap, forget_cleaning
from kwalk.model.kafka.storage.log_segment import flush_segment, open_segment
from kwalk.model.kafka.storage.state import NO_TIMESTAMP, Batch, LogPhase, LogSegment, PartitionLog
from kwalk.model.kafka.storage.versions.recovery import (
    FAILED_STARTS_ARE_UNCLEAN,
    FILE_TIMES_SURVIVE_A_STOP,
    INDEXES_ARE_CHECKED,
    LOG_BEGINS_AT_ITS_START,
    RECOVERY_POINT_IS_FLUSHED,
    RECOVERY_POINT_STAYS,
    RECOVERY_READS_FORWARD,
    UNCLEAN_WHILE_LOADING,
)
from kwalk.model.kafka.storage.versions.segments import OFFSETS_FOLLOW_THE_START
from kwalk.model.language import action, require


@action(by=LOG, description="flushes the log up to {offset}", source="Log.flush, Log.roll")
def flush(log: PartitionLog, offset: Offset) -> None:
    """The log is flushed up to the active segment after a roll, and up to its end at intervals (log.flush.*).

    What is before the segment of the recovery point is taken for flushed.
    """
    require(is_running(log) and offset in (active_segment(log).base_offset, log.end_offset))
    require(log.recovery_point < offset)
    for slot in SEGMENTS:
        if slot < log.count and is_from_recovery_point(log, slot) and log.segments[slot].base_offset < offset:
            flush_segment(log.segments[slot])
    log.recovery_point = offset


def is_from_recovery_point(log: PartitionLog, slot: int) -> bool:
    """Whether the segment is that of the recovery point, or a later one (Kafka: Log.logSegments)."""
    return next_base_offset(log, slot) > log.recovery_point


@action(
    by=LOG,
    description="writes the recovery point to its checkpoint",
    source="LogManager.checkpointLogRecoveryOffsets",
)
def checkpoint_recovery_point(log: PartitionLog) -> None:
    """At intervals (log.flush.offset.checkpoint.interval.ms)."""
    require(log.phase is LogPhase.RUNNING and log.recovery_point_checkpoint != log.recovery_point)
    log.recovery_point_checkpoint = log.recovery_point


@action(
    by=LOG,
    description="writes the start offset to its checkpoint",
    source="LogManager.checkpointLogStartOffsets",
)
def checkpoint_start_offset(log: PartitionLog) -> None:
    """At intervals (log.flush.start.offset.checkpoint.interval.ms); only one above the first segment's base offset."""
    require(log.phase is LogPhase.RUNNING and log.start_offset_checkpoint != log.start_offset)
    log.start_offset_checkpoint = log.start_offset


@action(
    by=OPERATOR,
    description="stops the broker",
    source="LogManager.shutdown; Log.close; LogSegment.close",
)
def shut_down(log: PartitionLog) -> None:
    """Everything is flushed, trimmed and checkpointed; then the clean shutdown file is written."""
    require(is_running(log))
    log.stops += 1
    maybe_append_time(active_segment(log))
    log.recovery_point_checkpoint = log.end_offset
    log.start_offset_checkpoint = log.start_offset
    log.has_clean_shutdown_file = True
    for slot in SEGMENTS:
        if slot < log.count:
            flush_segment(log.segments[slot])
            if not FILE_TIMES_SURVIVE_A_STOP:
                log.segments[slot].last_modified = log.clock
    close(log)


def close(log: PartitionLog) -> None:
    """Forget what only the broker's memory has."""
    log.phase = LogPhase.STOPPED
    log.recovery_point = 0
    active_segment(log).unindexed = active_segment(log).created = 0
    if CLEANINGS > 0:
        forget_cleaning(log)


@action(
    by=FAULT,
    description="crashes; the disk has the log up to {offset}, and a part of the next batch: {torn}",
    source="Log.flush",
)
def crash(log: PartitionLog, offset: Offset, torn: bool) -> None:
    """The active segment's index files stay untrimmed; a crash of the machine loses batches, not their entries.

    Of what was not flushed, it loses all from one batch on.
    """
    require(log.phase is not LogPhase.STOPPED)
    require(offset == log.end_offset or (LOSSES > 0 and can_lose(log, offset)))
    require(not torn or offset < log.end_offset)
    log.crashes += 1
    for slot in SEGMENTS:
        segment = log.segments[slot]
        if torn and slot < log.count and segment.base_offset <= offset < next_base_offset(log, slot):
            log.torn = segment.base_offset
        if LOSSES > 0:
            segment.batches = [b for b in segment.batches if b.last_offset < offset or is_flushed(segment, b)]
    active_segment(log).is_padded = True
    close(log)


def is_flushed(segment: LogSegment, batch: Batch) -> bool:
    """Whether the disk has the segment up to the batch."""
    return batch.last_offset < segment.flushed


def can_lose(log: PartitionLog, offset: int) -> bool:
    """Whether a batch ends with that offset, and was not flushed."""
    return any(
        b.last_offset == offset and not is_flushed(segment, b) for segment in log.segments for b in segment.batches
    )


def recovers_before_the_start(log: PartitionLog) -> bool:
    """Whether a recovery fails at a segment which another one follows that begins at or below the start offset.

    It reads what producers sent from the start offset up to the segment: java.util.TreeMap throws an exception then.
    Kafka: Log.recoverSegment, Log.logSegments.
    """
    start, recovery_point = log.start_offset_checkpoint, log.recovery_point_checkpoint
    return not RECOVERY_READS_FORWARD and any(
        slot + 1 < log.count and recovery_point < log.segments[slot + 1].base_offset <= start
        for slot in range(len(SEGMENTS) - 1)
    )


@action(
    by=LOG,
    description="starts, and loads this log",
    source="LogManager.loadLogs, LogManager.loadLog; Log.loadSegments",
)
def load(log: PartitionLog) -> None:
    """The files are read; an interrupted swap is completed; after an unclean stop, segments are recovered."""
    require(log.phase is LogPhase.STOPPED)
    require(log.has_clean_shutdown_file or not recovers_before_the_start(log))
    had_clean_shutdown = log.has_clean_shutdown_file
    if UNCLEAN_WHILE_LOADING:
        log.has_clean_shutdown_file = False
    log.phase = LogPhase.LOADING
    log.recovery_point = log.recovery_point_checkpoint
    # What the task would have removed is removed now (Kafka: Log.removeTempFilesAndCollectSwapFiles).
    log.deleted.clear()
    if CLEANINGS > 0:
        complete_swap(log)
    for segment in log.segments:
        load_segment(segment)
    active_segment(log).created = log.clock
    if not had_clean_shutdown:
        recover_unflushed(log)
    recover_log(log, had_clean_shutdown=had_clean_shutdown)


@action(
    by=FAULT,
    description="starts, and ends again, as the disk is full while it recovers the log",
    source="LogManager.loadLogs, LogManager.shutdown; LeaderEpochCheckpointFile.write",
)
def fail_to_load(log: PartitionLog) -> None:
    """Until KAFKA-13773 a broker of 2.8 ended as in an orderly stop, so that the next start recovers nothing."""
    require(log.phase is LogPhase.STOPPED and not log.has_clean_shutdown_file and log.full_disks < FULL_DISKS)
    log.full_disks += 1
    log.has_clean_shutdown_file = not FAILED_STARTS_ARE_UNCLEAN


def first_timestamp(segment: LogSegment) -> int:
    """Return that of the time index's first entry, 0 if the file has only zeros (Kafka: TimeIndex.sanityCheck)."""
    return 0 if segment.time_index.is_empty else segment.time_index.head.timestamp


def load_segment(segment: LogSegment) -> None:
    """The largest timestamp is that of the time index's last entry, which is 0 if the file was not trimmed.

    Kafka: LogSegment.maxTimestampSoFar, TimeIndex.lastEntry.
    """
    segment.max_timestamp, segment.max_timestamp_offset = NO_TIMESTAMP, segment.base_offset
    for entry in segment.time_index:
        segment.max_timestamp, segment.max_timestamp_offset = entry.timestamp, entry.offset
    if segment.is_padded:
        segment.max_timestamp, segment.max_timestamp_offset = 0, segment.base_offset
    if segment.is_padded and INDEXES_ARE_CHECKED and first_timestamp(segment) > 0:
        recover_segment(segment)


def recover_unflushed(log: PartitionLog) -> None:
    """Recover the segments from the recovery point on; behind one that is cut off, delete all.

    Kafka: Log.recoverLog.
    """
    is_cut, kept = False, log.count
    for slot in SEGMENTS:
        if slot < log.count and is_from_recovery_point(log, slot):
            if is_cut:
                delete_files_later(log, log.segments[slot].base_offset)
                log.segments[slot].clear()
            else:
                recover_segment(log.segments[slot])
                is_cut = log.torn == log.segments[slot].base_offset
                if is_cut:
                    log.segments[slot].last_modified = log.clock
                    log.torn = None
                    kept = slot + 1
    log.count = kept


def recover_segment(segment: LogSegment) -> None:
    """Rebuild both indexes from the batches (Kafka: LogSegment.recover)."""
    segment.offset_index.clear()
    segment.time_index.clear()
    segment.max_timestamp, segment.max_timestamp_offset = NO_TIMESTAMP, segment.base_offset
    segment.is_padded = False
    if PREALLOCATES > 0:
        segment.has_zeros = False
    at, indexed = 0, 0
    for batch in segment.batches:
        if batch.timestamp > segment.max_timestamp:
            segment.max_timestamp, segment.max_timestamp_offset = batch.timestamp, batch.last_offset
        if at - indexed > INDEX_INTERVAL_BYTES:
            append_offset(segment, batch.last_offset, at)
            maybe_append_time(segment)
            indexed = at
        at = at + batch.size
    maybe_append_time(segment)


def recover_log(log: PartitionLog, *, had_clean_shutdown: bool) -> None:
    """Find the end offset and the start offset; a log that ends before its start offset begins there (KAFKA-8306).

    Kafka: Log.recoverLog, Log.updateLogStartOffset.
    """
    active = active_segment(log)
    end = active.base_offset if active.batches.is_empty else active.batches[-1].last_offset + 1
    if end < log.start_offset_checkpoint and LOG_BEGINS_AT_ITS_START:
        for slot in SEGMENTS:
            if slot < log.count:
                delete_files_later(log, log.segments[slot].base_offset)
            log.segments[slot].clear()
        log.count = 1
        end = log.start_offset_checkpoint
        open_segment(log.segments[0], end, log.clock)
    log.end_offset = end
    raised = had_clean_shutdown or not RECOVERY_POINT_IS_FLUSHED
    log.recovery_point = end if raised else min(log.recovery_point, end)
    log.start_offset = max(log.start_offset_checkpoint, log.segments[0].base_offset)
    if OFFSETS_FOLLOW_THE_START and not RECOVERY_POINT_STAYS:
        log.recovery_point = max(log.recovery_point, log.start_offset)
    log.high_watermark = min(max(min(log.high_watermark, end), log.start_offset), end)


@action(by=LOG, description="has loaded all logs", source="LogManager.loadLogs, LogManager.startup")
def finish_loading(log: PartitionLog) -> None:
    """The broker is up; it never runs with a clean shutdown file."""
    require(log.phase is LogPhase.LOADING)
    log.phase = LogPhase.RUNNING
    log.has_clean_shutdown_file = False
