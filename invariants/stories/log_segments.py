"""Stories about the segments and indexes of a log: appends, lookups, retention, stops and crashes, copies."""

from __future__ import annotations

from kwalk.invariants import log_creation as creations
from kwalk.invariants import storage
from kwalk.model.kafka.storage import (
    disk_crashes,
    domains,
    failed_starts,
    leadership,
    log,
    log_creation,
    log_loading,
    log_recreation,
    topic_configs,
    versions,
)
from kwalk.model.kafka.storage.log_creation import ConfiguredLog
from kwalk.model.kafka.storage.state import PartitionLog
from kwalk.model.language import Scenario, actions_of, default_bounds

SEGMENTS = (
    storage.offset_lookup_finds_the_first_record,
    storage.indexes_grow,
    storage.indexes_point_to_batches,
    storage.segments_do_not_overlap,
    storage.segments_are_not_larger_than_allowed,
    storage.active_segment_is_there,
    storage.start_offset_does_not_move_back,
    storage.largest_timestamp_is_known,
    storage.closed_time_index_ends_with_the_largest_timestamp,
    storage.index_has_an_entry_for_each_interval,
    storage.removed_segment_leaves_nothing,
    storage.offsets_are_in_order,
    storage.high_watermark_does_not_go_back,
    storage.append_does_not_fail,
    storage.old_segment_rolls,
    storage.appended_batch_ends_the_log,
    storage.new_segment_begins_with_its_first_batch,
)
LOOKUP = Scenario(
    name="log-lookup",
    story=(
        "Batches of several sizes are appended with timestamps in any order; segments roll, the log is truncated, and "
        "clients delete records."
    ),
    state=PartitionLog,
    actions=(log.append, log.raise_high_watermark, log.truncate_to, log.delete_records, log.delete_before_start),
    properties=(
        *SEGMENTS,
        storage.timestamp_lookup_finds_the_first_record,
        storage.start_offset_is_not_above_the_high_watermark,
        storage.segment_before_the_start_is_deleted,
        storage.record_is_kept,
        storage.record_from_the_start_on_is_kept,
        storage.truncation_ends_the_log,
        storage.log_has_rolled,
        storage.lookup_begins_at_an_entry,
        storage.truncated_log_is_indexed,
    ),
    bounds={
        **default_bounds(domains),
        "offsets": 4,
        "times": 1,
        "segments": 3,
        "batches": 3,
        "batch_bytes": 2,
        "truncations": 1,
        "segment_bytes": 3,
        "segment_ms": 3,
        "index_entries": 3,
        "time_index_entries": 3,
        "max_relative_offset": 9,
        "retention_ms": 9,
        "retention_bytes": 99,
    },
    variants=versions.VARIANTS,
    source="Log, LogSegment, OffsetIndex and TimeIndex of 0.10.0.0 to 3.9",
)
LARGEST_TIMESTAMP = LOOKUP.varied(
    name="log-largest-timestamp",
    story="Clients look up the largest timestamp of a log whose batches are compressed, and delete records.",
    actions=(
        log.append_compressed,
        log.raise_high_watermark,
        log.truncate_to,
        log.delete_records,
        log.delete_before_start,
    ),
    properties=(
        storage.largest_timestamp_is_known,
        storage.largest_timestamp_has_its_offset,
        storage.largest_timestamp_is_of_a_record,
        storage.leader_gives_each_offset,
        storage.log_has_rolled,
    ),
    bounds={
        "offsets": 8,
        "segments": 2,
        "batches": 2,
        "segment_bytes": 2,
        "batch_records": 2,
        "batch_bytes": 1,
        "record_times": 1,
    },
    variants={release: versions.VARIANTS[release] for release in ("3.7.0", "3.9.0")},
    source="ListOffsetsRequest.MAX_TIMESTAMP, Log.fetchOffsetByTimestamp; KIP-734, KAFKA-16310, KAFKA-16342",
)
LARGEST_TIMESTAMP_UNCOMPRESSED = LARGEST_TIMESTAMP.varied(
    name="log-largest-timestamp-uncompressed",
    story="As before, of batches that are not compressed, on the leader that appends them.",
    actions=(log.append_uncompressed,),
    properties=(
        storage.largest_timestamp_has_its_offset,
        storage.leader_gives_each_offset,
        storage.segments_do_not_overlap,
        storage.log_has_rolled,
    ),
    bounds={"offsets": 6},
    source="LogValidator.assignOffsetsNonCompressed; KAFKA-16341",
)
FULL_TRUNCATION = LOOKUP.varied(
    name="log-full-truncation",
    story="A follower is away until its leader begins at a later offset; it begins again there, and fetches.",
    actions=(log.append, log.raise_high_watermark, log.time_passes, log.truncate_fully, log.delete_files),
    properties=(
        *SEGMENTS,
        storage.timestamp_lookup_finds_the_first_record,
        storage.start_offset_is_not_above_the_high_watermark,
        storage.deleted_files_are_kept_for_the_delay,
        storage.deleted_files_are_before_the_log,
        storage.removed_segments_leave_no_files,
        storage.record_is_kept,
        storage.log_has_rolled,
        storage.active_segment_is_deleted,
    ),
    bounds={"offsets": 6, "batch_bytes": 1, "segment_bytes": 2, "file_delete_delay_ms": 1},
    source="AbstractFetcherThread.fetchOffsetAndTruncate, Log.truncateFullyAndStartAt; KAFKA-9491",
)
FULL_TRUNCATION_ELECTED = FULL_TRUNCATION.varied(
    name="log-full-truncation-elected",
    story="As before; the follower is elected, also before it has fetched.",
    actions=(log.append, log.raise_high_watermark, log.truncate_fully, leadership.begin_to_lead),
    properties=(
        storage.elected_replica_leads,
        storage.segments_do_not_overlap,
        storage.active_segment_is_there,
        storage.start_offset_does_not_move_back,
        storage.offsets_are_in_order,
        storage.elected_log_had_begun_again,
    ),
    bounds={"offsets": 4, "times": 0, "file_delete_delay_ms": 0, "leaderships": 1},
    source="Partition.makeLeader, Replica.convertHWToLocalOffsetMetadata; KAFKA-3978",
)
SEGMENT_LIMITS = LOOKUP.varied(
    name="log-segment-limits",
    story="The segment.bytes of a topic is lowered while records are appended.",
    actions=(log.append, topic_configs.lower_segment_bytes),
    properties=(*SEGMENTS, storage.changed_limit_holds, storage.small_segment_has_rolled),
    bounds={"offsets": 5, "times": 0, "segments": 5, "batches": 4, "truncations": 0, "batch_bytes": 1}
    | {"segment_limits": 1},
    source="LogSegment.shouldRoll; KAFKA-7366",
)
ROLL = LOOKUP.varied(
    name="log-roll",
    story="Batches are appended after gaps, as in the copy of a compacted log, while time passes: every rule rolls.",
    actions=(log.append, log.time_passes),
    properties=(
        *SEGMENTS,
        storage.timestamp_lookup_finds_the_first_record,
        storage.record_is_kept,
        storage.log_has_rolled,
        storage.lookup_begins_at_an_entry,
    ),
    bounds={
        "offsets": 7,
        "gaps": 2,
        "batch_records": 2,
        "batch_bytes": 1,
        "truncations": 0,
        "segment_ms": 0,
        "index_entries": 2,
        "time_index_entries": 2,
        "max_relative_offset": 3,
        "segments": 4,
        "batches": 5,
        "segment_bytes": 4,
    },
)
RETENTION = LOOKUP.varied(
    name="log-retention",
    story="Time passes and the log grows; retention deletes segments by time, by size and by start offset.",
    actions=(
        log.append,
        log.raise_high_watermark,
        log.time_passes,
        log.touch,
        log.delete_records,
        log.delete_old,
        log.delete_excess,
        log.delete_before_start,
        log.delete_files,
    ),
    properties=(
        *SEGMENTS,
        storage.start_offset_is_not_above_the_high_watermark,
        storage.young_record_is_kept,
        storage.expired_segment_is_deleted,
        storage.excess_is_deleted,
        storage.size_retention_leaves_enough,
        storage.deleted_files_are_kept_for_the_delay,
        storage.deleted_files_are_before_the_log,
        storage.removed_segments_leave_no_files,
        storage.file_times_change_by_appends,
        storage.record_is_kept,
        storage.segment_before_the_start_is_deleted,
        storage.active_segment_is_deleted,
    ),
    bounds={
        "times": 2,
        "truncations": 0,
        "touches": 1,
        "batch_bytes": 1,
        "segment_bytes": 2,
        "retention_ms": 0,
        "retention_bytes": 2,
        "file_delete_delay_ms": 1,
    },
    source="Log.deleteOldSegments; KAFKA-3163, KAFKA-5634",
)
FUTURE_TIMESTAMPS = RETENTION.varied(
    name="log-future-timestamps",
    story="As before; producers may have clocks that are ahead.",
    properties=(*RETENTION.properties, storage.old_appends_are_deleted),
    bounds={"offsets": 3},
    source="Log.deleteRetentionMsBreachedSegments; KAFKA-14991, KIP-937",
)
RECOVERY = LOOKUP.varied(
    name="log-recovery",
    story=(
        "The log is flushed and checkpointed at intervals; the broker stops in an orderly way, or its machine crashes, "
        "also while it loads its logs; the next start recovers what was not flushed."
    ),
    actions=(
        log.append,
        log.raise_high_watermark,
        log.time_passes,
        log.delete_records,
        log.delete_old,
        *actions_of(log_loading),
    ),
    properties=(
        *SEGMENTS,
        storage.start_offset_survives_a_stop,
        storage.start_offset_is_not_above_the_high_watermark,
        storage.young_record_is_kept,
        storage.flushed_records_survive,
        storage.no_batch_is_torn,
        storage.closed_log_does_not_change,
        storage.stops_are_counted,
        storage.orderly_stop_writes_everything,
        storage.running_broker_has_no_clean_shutdown_file,
        storage.checkpoints_have_what_they_are_of,
        storage.checkpoints_are_written,
        storage.recovery_point_is_on_disk,
        storage.stop_keeps_file_times,
        storage.crash_loses_what_was_not_flushed,
        storage.torn_batch_is_lost,
        storage.flush_covers_closed_segments,
        storage.high_watermark_survives_a_stop,
        storage.loaded_log_is_that_of_the_disk,
        storage.appended_record_can_be_read,
        storage.crash_tears_a_batch,
        storage.crashed_log_is_recovered,
    ),
    bounds={
        "offsets": 3,
        "truncations": 0,
        "batch_bytes": 1,
        "segment_bytes": 2,
        "retention_ms": 0,
        "crashes": 2,
        "losses": 1,
        "stops": 1,
    },
    source="Log.loadSegments, Log.recoverLog, LogManager.loadLogs; KAFKA-10101, KAFKA-10471",
)
RECOVERY_FULL_DISK = RECOVERY.varied(
    name="log-recovery-full-disk",
    story="The broker's machine crashes; its disk is full while the next start recovers the log; it starts again.",
    actions=(log.append, log_loading.crash, log_loading.load, log_loading.fail_to_load, log_loading.finish_loading),
    properties=(
        *SEGMENTS,
        storage.no_batch_is_torn,
        storage.closed_log_does_not_change,
        storage.stops_are_counted,
        storage.running_broker_has_no_clean_shutdown_file,
        storage.torn_batch_is_lost,
        storage.loaded_log_is_that_of_the_disk,
        storage.crash_tears_a_batch,
        storage.failed_start_is_made_up_for,
    ),
    bounds={"crashes": 1, "stops": 0, "full_disks": 1},
    source="LogManager.loadLogs; KAFKA-13773",
)
RECOVERY_FAILED_START = RECOVERY_FULL_DISK.varied(
    name="log-recovery-failed-start",
    story="The machine of a broker in KRaft mode crashes; its next start fails before the log is loaded.",
    actions=(
        log.append,
        log_loading.crash,
        log_loading.load,
        failed_starts.fail_before_loading,
        log_loading.finish_loading,
    ),
    properties=(
        *(prop for prop in RECOVERY_FULL_DISK.properties if prop is not storage.failed_start_is_made_up_for),
        storage.start_after_a_failure_recovers,
    ),
    bounds={"full_disks": 0, "failed_starts": 1},
    variants={release: versions.FOLDER_VARIANTS[release] for release in ("3.9.0", "3.5.1")},
    source="LogManager.shutdown; KAFKA-15375",
)
RECOVERY_BELOW_THE_START = RECOVERY.varied(
    name="log-recovery-below-the-start",
    story="Clients delete records that were not flushed; the broker crashes, and recovers their segments.",
    actions=(
        log.append,
        log.replicate,
        log.delete_records,
        log_loading.checkpoint_start_offset,
        log_loading.crash,
        log_loading.load,
        log_loading.finish_loading,
    ),
    properties=(
        *SEGMENTS,
        storage.crashed_broker_starts,
        storage.start_offset_is_not_above_the_high_watermark,
        storage.closed_log_does_not_change,
        storage.stops_are_counted,
        storage.running_broker_has_no_clean_shutdown_file,
        storage.checkpoints_have_what_they_are_of,
        storage.loaded_log_is_that_of_the_disk,
        storage.crashed_log_runs,
    ),
    bounds={"times": 0, "losses": 0, "crashes": 1, "stops": 0, "segment_bytes": 1, "batches": 1},
    source="Log.recoverSegment, ProducerStateManager.truncateAndReload; KAFKA-7401",
)
UNTRIMMED_INDEXES = RECOVERY.varied(
    name="log-untrimmed-indexes",
    story="A crash leaves index files of a segment with zeros behind their entries, though the segment was flushed.",
    actions=(
        log.append,
        log.replicate,
        log.time_passes,
        log.delete_old,
        log_loading.flush,
        log_loading.checkpoint_recovery_point,
        disk_crashes.crash_untrimmed,
        log_loading.load,
        log_loading.finish_loading,
    ),
    properties=(
        storage.young_record_is_kept,
        storage.crash_leaves_an_index_untrimmed,
        storage.start_offset_is_not_above_the_high_watermark,
        storage.segments_do_not_overlap,
        storage.active_segment_is_there,
        storage.start_offset_does_not_move_back,
        storage.offsets_are_in_order,
        storage.closed_log_does_not_change,
        storage.stops_are_counted,
        storage.checkpoints_have_what_they_are_of,
        storage.loaded_log_is_that_of_the_disk,
        storage.crashed_log_runs,
    ),
    bounds={"losses": 0, "crashes": 1, "stops": 0, "segment_bytes": 1, "batches": 1},
    source="TimeIndex.lastEntry, LogSegment.sanityCheck; KAFKA-10207, KIP-263",
)
LOST_NAMES = RECOVERY.varied(
    name="log-lost-names",
    story="A log is flushed as it rolls; the machine crashes, and its file system has lost the names of new files.",
    actions=(
        log.append,
        log_loading.flush,
        log_loading.checkpoint_recovery_point,
        disk_crashes.crash_unnamed,
        log_loading.load,
        log_loading.finish_loading,
    ),
    properties=(
        *SEGMENTS,
        storage.flushed_records_survive,
        storage.closed_log_does_not_change,
        storage.stops_are_counted,
        storage.crashed_log_is_recovered,
    ),
    bounds={"offsets": 4, "times": 0, "crashes": 1, "stops": 0, "segment_bytes": 1, "batches": 1, "segments": 4},
    source="Log.flush; KAFKA-3968",
)
CREATED_AGAIN = RECOVERY.varied(
    name="log-created-again",
    story=(
        "A topic that has a log directory for itself is deleted and created again, while clients delete records; the "
        "broker crashes, and recovers the log."
    ),
    actions=(
        log.append,
        log.raise_high_watermark,
        log.delete_records,
        log_recreation.create_again,
        log_loading.checkpoint_start_offset,
        log_loading.crash,
        log_loading.load,
        log_loading.finish_loading,
    ),
    properties=(
        storage.created_log_keeps_its_records,
        storage.created_log_is_empty,
        storage.stops_are_counted,
        storage.running_broker_has_no_clean_shutdown_file,
        storage.checkpoints_have_what_they_are_of,
        storage.appended_batch_ends_the_log,
        storage.created_log_is_recovered,
    ),
    bounds={"offsets": 2, "segments": 2, "segment_bytes": 1, "batches": 1, "losses": 0, "crashes": 1, "stops": 0}
    | {"recreations": 1},
    source="LogManager.checkpointRecoveryOffsetsInDir, LogManager.checkpointLogStartOffsetsInDir; KAFKA-10002",
)
CREATED_AGAIN_UNFLUSHED = CREATED_AGAIN.varied(
    name="log-created-again-unflushed",
    story="As before, without deletions of records; the machine crashes, which loses what was not flushed.",
    actions=(
        log.append,
        log_recreation.create_again,
        log_loading.flush,
        log_loading.checkpoint_recovery_point,
        log_loading.crash,
        log_loading.load,
        log_loading.finish_loading,
    ),
    properties=(
        *CREATED_AGAIN.properties,
        storage.no_batch_is_torn,
        storage.torn_batch_is_lost,
        storage.crash_loses_what_was_not_flushed,
        storage.crash_tears_a_batch,
    ),
    bounds={"losses": 1},
)
CREATED_AMID_A_CHANGE = Scenario(
    name="log-created-amid-a-change",
    story="A broker creates the log of a topic whose configuration changes, deletes it, and creates it again.",
    state=ConfiguredLog,
    actions=actions_of(log_creation),
    properties=(
        creations.log_has_the_topics_configuration,
        creations.configuration_of_a_log_is_the_topics,
        creations.creation_goes_step_by_step,
        creations.log_is_created_amid_a_change,
    ),
    bounds={"changes": 3, "creations": 2},
    variants={release: versions.VARIANTS[release] for release in ("2.8.2", "1.0", "2.3.1", "2.5", "3.9.0")},
    source="Partition.createLog, TopicConfigHandler; KAFKA-8813",
)
COPY = LOOKUP.varied(
    name="log-copy",
    story=(
        "A follower copies the log of its leader, which deletes records as clients ask, also within a batch; meanwhile "
        "max.message.bytes is lowered."
    ),
    actions=(
        log.copy,
        log.copy_from_within,
        log.raise_high_watermark,
        log.truncate_fully,
        log.truncate_within_a_batch,
        log.delete_of_leader,
        topic_configs.lower_limit,
    ),
    properties=(
        *SEGMENTS,
        storage.timestamp_lookup_finds_the_first_record,
        storage.start_offset_is_not_above_the_high_watermark,
        storage.record_is_kept,
        storage.log_has_rolled,
        storage.follower_catches_up,
        storage.copy_begins_within_a_batch,
    ),
    bounds={
        "offsets": 5,
        "batch_bytes": 1,
        "batch_records": 2,
        "segment_bytes": 2,
        "unaligned_starts": 1,
        "leader_deletions": 1,
        "large_batches": 1,
        "limit_changes": 1,
    },
    source="AbstractFetcherThread.processFetchRequest, Partition.appendRecordsToFollowerOrFutureReplica; KAFKA-9617",
)
COPY_DAMAGED = COPY.varied(
    name="log-copy-damaged",
    story="A follower copies the log of its leader; a batch is damaged on its way.",
    actions=(log.copy, log.raise_high_watermark, log.damage_response),
    properties=(
        storage.segments_do_not_overlap,
        storage.record_is_kept,
        storage.log_has_rolled,
        storage.follower_catches_up,
    ),
    bounds={"unaligned_starts": 0, "large_batches": 0, "limit_changes": 0, "damages": 1},
    source="AbstractFetcherThread.processFetchRequest; KAFKA-4384",
)
COPY_ABOVE_SEGMENTS = COPY.varied(
    name="log-copy-above-segments",
    story="A follower copies the log of its leader; meanwhile segment.bytes is lowered to less than a batch has.",
    actions=(log.copy, log.raise_high_watermark, topic_configs.lower_segments),
    properties=(
        storage.segments_do_not_overlap,
        storage.record_is_kept,
        storage.log_has_rolled,
        storage.follower_catches_up,
    ),
    bounds={"unaligned_starts": 0, "leader_deletions": 0, "lowered_segments": 1},
    source="UnifiedLog.append; KAFKA-17375",
)
