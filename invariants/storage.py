"""Properties of a partition's log: what users lose when one breaks, and what must be reachable."""
from __future__ import annotations

from kwalk.model.kafka.storage.domains import (
    DELETE_RETENTION_MS,
    FILE_DELETE_DELAY_MS,
    MAX_RELATIVE_OFFSET,
    RETENTION_BYTES,
    RETENTION_MS,
    SEGMENT_BYTES,
    SEGMENTS,
    Key,
    Offset,
    SegmentSlot,
    Timestamp,
)
from kwalk.model.kafka.storage.dynamic_broker_config import BrokerConfiguration, effective, first, log_retention
from kwalk.model.kafka.storage.log import (
    fetch_offset_by_timestamp,
    is_running,
    next_base_offset,
    read_from_log,
)
from kwalk.model.kafka.storage.state import Batch, LogPhase, LogSegment, PartitionLog, Suffix
from kwalk.model.kafka.storage.versions import TIME_INDEX
from kwalk.model.language import always, eventually, premise, reachable, step, when_quiescent


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
    symptom="followers that fetch records which are not replicated yet are told that their offset is out of range",
    log="Cannot increment the log start offset to … of partition … since it is larger than the high watermark …",
)
def start_offset_is_not_above_the_high_watermark(log: PartitionLog) -> bool:
    """Retention deletes no record that is not replicated."""
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
    symptom="records vanish before their retention time is over",
    log="Found deletable segments with base offsets […] due to retention time …ms breach",
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


@when_quiescent(symptom="a partition has far more bytes than retention.bytes", log="none")
def excess_is_deleted(log: PartitionLog) -> bool:
    """While the first segment is replicated and not the active one, the log would be too small without it."""
    premise(log.count > 1 and log.high_watermark >= log.segments[1].base_offset)
    return size_of(log) - log.segments[0].size < RETENTION_BYTES


@when_quiescent(symptom="records that a client has deleted stay on disk", log="none")
def segment_before_the_start_is_deleted(log: PartitionLog) -> bool:
    """No segment ends at or below the start offset, but the active one."""
    premise(log.count > 1)
    return log.segments[1].base_offset > log.start_offset


@always(
    symptom="records that were acknowledged are gone from this replica after a crash, although they were on its disk",
    log="Corruption found in segment …, truncating to offset …",
)
def flushed_records_survive(log: PartitionLog, offset: Offset) -> bool:
    """A log that was loaded has every record that was flushed, and that is not before the start offset."""
    premise(is_running(log) and log.start_offset <= offset < log.flushed)
    premise(not log.lost_from <= offset < log.lost_to)
    return batch_at(log, offset) is not None


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
    """The last record of a key below the high watermark is kept, unless it is a tombstone."""
    premise(is_running(log) and log.committed[key] is not None)
    return any(
        batch.last_offset == log.committed[key] for segment in log.segments for batch in segment.batches
    )


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
    symptom="compacted topics grow without bound: the log cleaner does nothing any more",
    log="Uncaught exception in thread 'kafka-log-cleaner-thread-0': largest offset in message set …",
)
def cleaner_lives(log: PartitionLog) -> bool:
    """The thread of the cleaner does not die of a segment."""
    return not log.is_cleaner_dead


@step(
    symptom="a fetch that began before a segment was deleted fails",
    log="Deleting segment files …",
)
def deleted_files_are_kept_for_the_delay(before: PartitionLog, after: PartitionLog) -> bool:
    """Files with the suffix `.deleted` are removed file.delete.delay.ms after they were renamed, and not before."""
    premise(len(after.deleted) < len(before.deleted))
    return before.clock - before.deleted.head.since >= FILE_DELETE_DELAY_MS


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
def active_segment_is_deleted(log: PartitionLog) -> bool:
    """Retention has deleted all records: the log has a new active segment only."""
    return log.count == 1 and log.start_offset > 0 and log.segments[0].batches.is_empty


@reachable()
def crashed_log_is_recovered(log: PartitionLog) -> bool:
    """After a crash the log runs, and has a segment that was rolled and what was flushed."""
    return log.crashes > 0 and is_running(log) and log.count > 1 and log.flushed > 1


@reachable()
def log_is_compacted(log: PartitionLog) -> bool:
    """Two cleanings have ended, and a segment has fewer records than offsets."""
    first = log.segments[0]
    return log.cleanings > 1 and log.cleaning_to == 0 and log.count > 1 and (
        len(first.batches) < log.segments[1].base_offset - first.base_offset
    )


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


@step(symptom="kafka-configs.sh --describe, or server.properties, shows a value that nobody has set", log="none")
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
