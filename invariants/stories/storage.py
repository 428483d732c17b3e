"""Stories about the log of one partition: its segments and indexes, retention, recovery, compaction, configuration."""

from __future__ import annotations

from kwalk.invariants import cleaner_buffers as buffers
from kwalk.invariants import compacted_transactions as transactions
from kwalk.invariants import empty_batches as empties
from kwalk.invariants import future_logs, managed_logs, partition_folders, storage
from kwalk.invariants import leader_epochs as epochs
from kwalk.invariants import log_creation as creations
from kwalk.invariants import producer_state as producers
from kwalk.invariants import uncleanable_logs as uncleanable
from kwalk.invariants import unreadable_checkpoints as unreadable
from kwalk.invariants import write_errors as failures
from kwalk.invariants.stories import log_reads
from kwalk.model.kafka.storage import (
    cleaner_buffers,
    compacted_transactions,
    disk_crashes,
    domains,
    empty_batches,
    failed_starts,
    future_log,
    last_batch,
    leader_epochs,
    leadership,
    log,
    log_cleaner,
    log_cleaner_manager,
    log_creation,
    log_deletion,
    log_loading,
    log_recreation,
    producer_state,
    topic_configs,
    uncleanable_logs,
    unreadable_checkpoints,
    versions,
    write_errors,
)
from kwalk.model.kafka.storage.cleaner_buffers import BufferedCleaning
from kwalk.model.kafka.storage.compacted_transactions import TransactionalLog
from kwalk.model.kafka.storage.empty_batches import CompactedBatches
from kwalk.model.kafka.storage.future_log import MovingReplica
from kwalk.model.kafka.storage.leader_epochs import EpochPartition
from kwalk.model.kafka.storage.log_cleaner_manager import ManagedLog
from kwalk.model.kafka.storage.log_creation import ConfiguredLog
from kwalk.model.kafka.storage.log_deletion import PartitionFolder
from kwalk.model.kafka.storage.producer_state import ProducerLog
from kwalk.model.kafka.storage.state import PartitionLog
from kwalk.model.kafka.storage.uncleanable_logs import CleanableTopic
from kwalk.model.kafka.storage.unreadable_checkpoints import CheckpointedLog
from kwalk.model.kafka.storage.write_errors import FailingLog
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
COMPACTED = (
    *SEGMENTS,
    storage.last_value_is_kept,
    storage.cleaned_part_has_one_record_of_a_key,
    storage.swap_is_in_order,
    storage.cleaning_goes_step_by_step,
    storage.cleaned_segment_has_the_time_of_its_last,
    storage.cleaner_lives,
    storage.cleaning_has_something_to_clean,
    storage.cleaning_covers_what_is_replicated,
    storage.log_is_compacted,
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
COMPACTION = LOOKUP.varied(
    name="log-compaction",
    story="Records with keys are appended; the cleaner compacts the log, and the broker may crash at any moment.",
    actions=(
        log.append_keyed,
        log.raise_high_watermark,
        *actions_of(log_cleaner),
        log_loading.crash,
        log_loading.load,
        log_loading.finish_loading,
    ),
    properties=(
        *COMPACTED,
        storage.closed_log_does_not_change,
        storage.stops_are_counted,
        storage.loaded_log_is_that_of_the_disk,
        storage.renamed_segments_do_not_return,
        storage.compacted_record_does_not_return,
        storage.swapped_record_is_kept,
        storage.segments_are_merged,
        storage.crash_leaves_a_swap,
    ),
    bounds={
        "offsets": 6,
        "times": 0,
        "truncations": 0,
        "batch_bytes": 1,
        "segment_bytes": 2,
        "segments": 4,
        "keys": 2,
        "crashes": 1,
        "cleanings": 2,
        "min_dirty_percent": 40,
    },
    source="LogCleaner, Log.replaceSegments; KAFKA-6264, KAFKA-13194",
)
TOMBSTONES = COMPACTION.varied(
    name="log-tombstones",
    story="Values and tombstones are appended with timestamps in any order, and compacted as time passes.",
    actions=(
        log.append_keyed,
        log.replicate,
        log.time_passes,
        *actions_of(log_cleaner),
    ),
    properties=(
        *COMPACTED,
        storage.tombstone_is_kept_after_compaction,
        storage.tombstone_is_kept_after_its_append,
        storage.due_tombstone_is_not_written,
        storage.tombstone_goes_after_its_time,
    ),
    bounds={
        "offsets": 4,
        "times": 1,
        "segment_bytes": 1,
        "batches": 1,
        "crashes": 0,
        "tombstones": 1,
        "delete_retention_ms": 1,
        "min_dirty_percent": 30,
    },
    source="Cleaner.shouldRetainRecord; KAFKA-4529, KAFKA-4545",
)
LAST_TOMBSTONE = TOMBSTONES.varied(
    name="log-last-tombstone",
    story="The active segment is empty, and before it are tombstones, whose time is over.",
    actions=(*TOMBSTONES.actions, *actions_of(last_batch)),
    properties=(
        *COMPACTED,
        storage.copy_ends_with_the_log,
        storage.empty_segment_stays,
        storage.lost_checkpoint_is_none,
        storage.clean_log_is_dirty_again,
        storage.log_ends_above_an_empty_segment,
    ),
    bounds={"keys": 1, "offsets": 3, "truncations": 1},
    source="Cleaner.cleanInto; KAFKA-17076",
)
COMPACTED_COPY = COMPACTION.varied(
    name="log-compacted-copy",
    story="The copy of a compacted log has gaps between its offsets, and is compacted itself.",
    actions=TOMBSTONES.actions,
    properties=(*COMPACTED, storage.empty_segment_is_merged),
    bounds={
        "offsets": 8,
        "gaps": 1,
        "crashes": 0,
        "index_interval_bytes": 1,
        "max_relative_offset": 2,
    },
    source="Cleaner.groupSegmentsBySize; KAFKA-5413",
)
DELETED_RECORDS = COMPACTION.varied(
    name="log-deleted-records",
    story="Clients delete records of a compacted log; the cleaner's thread compacts it, and deletes segments.",
    actions=(
        log.append_keyed,
        log.replicate,
        log.delete_records,
        log.delete_before_start,
        *actions_of(log_cleaner),
    ),
    properties=(
        *COMPACTED,
        storage.start_offset_is_not_above_the_high_watermark,
        storage.segment_before_the_start_is_deleted,
    ),
    bounds={"offsets": 5, "crashes": 0},
    source="LogCleanerManager.deletableLogs, LogCleanerManager.calculateCleanableBytes; KAFKA-7400, KAFKA-9826",
)
POLICY_CHANGE = COMPACTION.varied(
    name="log-policy-change",
    story="An admin changes cleanup.policy between compact and delete while the cleaner is at work, or not.",
    actions=(
        log.append_keyed,
        log.replicate,
        log.time_passes,
        log.delete_old,
        *actions_of(log_cleaner),
        topic_configs.change_policy,
        topic_configs.miss_old,
    ),
    properties=(
        *COMPACTED,
        storage.log_directory_stays_online,
        storage.cleaning_ends_with_its_policy,
        storage.retention_spares_compacted_logs,
        storage.retention_follows_compaction,
    ),
    bounds={"offsets": 5, "times": 1, "retention_ms": 0, "crashes": 0, "policy_changes": 2},
    source="LogManager.updateTopicConfig, LogCleanerManager.pauseCleaningForNonCompactedPartitions; KAFKA-7322",
)
PREALLOCATED = COMPACTION.varied(
    name="log-preallocated",
    story="Log files are preallocated; the cleaner compacts them, and the broker crashes once they are flushed.",
    actions=(*COMPACTION.actions, log_loading.flush, log_loading.checkpoint_recovery_point),
    properties=(*COMPACTION.properties, storage.segment_ends_with_its_last_record),
    bounds={"keys": 1, "preallocates": 1},
    source="Cleaner.cleanSegments, FileRecords.open; KAFKA-5431",
)
SMALL_MAP = COMPACTION.varied(
    name="log-small-map",
    story="The log cleaner's map has room for fewer keys than the dirty part of the log has.",
    actions=(log.append_keyed, log.replicate, *actions_of(log_cleaner)),
    properties=(
        *(prop for prop in COMPACTED if prop is not storage.cleaning_covers_what_is_replicated),
        storage.map_has_room,
        storage.cleaning_fills_its_map,
    ),
    bounds={"offsets": 5, "crashes": 0, "map_keys": 1, "cleanings": 3, "min_dirty_percent": 0},
    source="Cleaner.buildOffsetMap; KAFKA-3894",
)
LARGE_BATCHES = COMPACTION.varied(
    name="log-large-batches",
    story="Batches are larger than brokers allow, as their topic has a limit of its own, which is then lowered.",
    actions=(log.append_keyed, log.replicate, *actions_of(log_cleaner), topic_configs.lower_limit),
    properties=COMPACTED,
    bounds={"offsets": 5, "crashes": 0, "large_batches": 1, "limit_changes": 1},
    source="Cleaner.growBuffers; KAFKA-4019, KAFKA-6834",
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
LEADER_EPOCHS = Scenario(
    name="leader-epochs",
    story="Replicas lead one after another, with or without a crash between; followers truncate by leader epochs.",
    state=EpochPartition,
    actions=(
        leader_epochs.elect,
        leader_epochs.produce,
        leader_epochs.truncate_follower,
        leader_epochs.raise_before_truncation,
        leader_epochs.fetch,
        leader_epochs.crash,
        leader_epochs.restart,
    ),
    initial=leader_epochs.starts_with_a_leader,
    properties=(
        epochs.committed_record_is_kept,
        epochs.logs_agree,
        epochs.truncation_ends,
        epochs.epochs_of_the_log_are_known,
        epochs.epochs_begin_where_their_records_do,
        epochs.start_removes_epochs_without_records,
        epochs.replicas_catch_up,
        epochs.partition_can_be_led,
        epochs.leader_is_live,
        epochs.dead_replica_leaves_the_isr,
        epochs.lone_leader_commits,
        epochs.high_watermark_goes_back_by_truncation,
        epochs.follower_knows_what_is_committed,
        epochs.follower_knows_no_later_epoch,
        epochs.follower_shows_what_is_committed,
        epochs.isr_is_whole_again,
        epochs.follower_is_truncated_and_fetches,
    ),
    bounds={
        "members": 2,
        "elections": 3,
        "offsets": 3,
        "crashes": 2,
        "losses": 0,
        "removals": 0,
        "late_answers": 0,
        "missed_elections": 0,
        "old_members": 0,
        "leader_deletions": 0,
        "end_lookups": 0,
        "tail_losses": 0,
        "log_moves": 0,
        "early_members": 0,
        "late_bytes": 0,
    },
    variants=versions.VARIANTS,
    source="LeaderEpochFileCache, AbstractFetcherThread.getOffsetTruncationState; KIP-101, KIP-279",
)
LEADER_EPOCHS_LOST = LEADER_EPOCHS.varied(
    name="leader-epochs-lost",
    story="As before; an operator removes leader-epoch-checkpoint of a broker that has crashed.",
    actions=(*LEADER_EPOCHS.actions, leader_epochs.remove_epochs),
    bounds={"removals": 1},
    source="LogSegment.recover; KAFKA-10432",
)
LEADER_EPOCHS_TORN = LEADER_EPOCHS.varied(
    name="leader-epochs-torn",
    story="As before; a broker's machine crashes, which loses what was not flushed of leader-epoch-checkpoint.",
    properties=(*LEADER_EPOCHS.properties, epochs.epoch_file_can_be_read),
    bounds={"losses": 1},
    source="LeaderEpochFileCache.truncateFromEnd; KAFKA-15046, KAFKA-16541",
)
LEADER_EPOCHS_LOST_TAIL = LEADER_EPOCHS.varied(
    name="leader-epochs-lost-tail",
    story=(
        "Unclean elections are off. A leader that is alone in the ISR loses the end of its log in a crash, and leads "
        "again; the broker of its follower, whose log is longer, exits."
    ),
    actions=(
        leader_epochs.elect,
        leader_epochs.produce,
        leader_epochs.truncate_follower,
        leader_epochs.fetch,
        leader_epochs.restart,
        leader_epochs.checkpoint_high_watermark,
        leader_epochs.lose_tail,
        leader_epochs.exit_at_a_shorter_leader,
    ),
    properties=(
        epochs.exit_spares_records,
        epochs.exit_has_a_reason,
        epochs.fetch_keeps_the_log,
        epochs.checkpoint_is_a_high_watermark,
        epochs.crash_takes_the_end,
        epochs.partition_can_be_led,
        epochs.leader_is_live,
        epochs.dead_replica_leaves_the_isr,
        epochs.lone_leader_commits,
        epochs.follower_knows_what_is_committed,
        epochs.exited_broker_is_back,
    ),
    bounds={"offsets": 2, "elections": 2, "crashes": 0, "tail_losses": 1},
    variants={release: versions.VARIANTS[release] for release in ("0.10.0", "0.10.1", "0.10.2")},
    source="ReplicaFetcherThread.handleOffsetOutOfRange; KAFKA-3410, KAFKA-3924, KAFKA-4039",
)
LEADER_EPOCHS_LAST_MEMBER = LEADER_EPOCHS.varied(
    name="leader-epochs-last-member",
    story=(
        "The machine of a leader that is alone in the ISR crashes, and has lost the end of its log; it leads again, "
        "whatever other replicas have."
    ),
    actions=(
        leader_epochs.elect,
        leader_epochs.produce,
        leader_epochs.truncate_follower,
        leader_epochs.fetch,
        leader_epochs.restart,
        leader_epochs.lose_tail,
    ),
    properties=(
        epochs.committed_record_is_kept,
        epochs.logs_agree,
        epochs.truncation_ends,
        epochs.replicas_catch_up,
        epochs.crash_takes_the_end,
        epochs.partition_can_be_led,
        epochs.leader_is_live,
        epochs.dead_replica_leaves_the_isr,
        epochs.follower_knows_what_is_committed,
    ),
    bounds={"offsets": 2, "elections": 2, "crashes": 0, "tail_losses": 1},
    variants={release: versions.VARIANTS[release] for release in ("2.8.2", "3.9.0")},
    source="ReplicaStateMachine.doRemoveReplicasFromIsr, LogLoader.recoverLog; KAFKA-15332 (KIP-966, for KRaft)",
)
LED_WITHOUT_CRASHES = tuple(
    prop
    for prop in LEADER_EPOCHS.properties
    if prop
    not in (
        epochs.partition_can_be_led,
        epochs.start_removes_epochs_without_records,
        epochs.dead_replica_leaves_the_isr,
        epochs.lone_leader_commits,
        epochs.isr_is_whole_again,
    )
)
"""What leaders and followers do that all run."""
LEADER_EPOCHS_LATE_ANSWER = LEADER_EPOCHS.varied(
    name="leader-epochs-late-answer",
    story="Replicas lead one after another; the fetcher of a follower is late, and may find it elected.",
    actions=(
        leader_epochs.elect,
        leader_epochs.produce,
        leader_epochs.truncate_follower,
        leader_epochs.fetch,
        leader_epochs.delay_answer,
        leader_epochs.handle_late_answer,
    ),
    properties=(
        *LED_WITHOUT_CRASHES,
        epochs.answer_is_where_the_epoch_ends,
        epochs.replica_leads_when_its_answer_comes,
    ),
    bounds={"crashes": 0, "elections": 2, "late_answers": 1},
    variants=versions.FETCH_VARIANTS,
    source="AbstractFetcherThread.truncateOnFetchResponse; KAFKA-13207",
)
LEADER_EPOCHS_STALE_ANSWER = LEADER_EPOCHS_LATE_ANSWER.varied(
    name="leader-epochs-stale-answer",
    story="Replicas lead one after another; an answer comes when the leader that gave it leads again.",
    properties=(*LEADER_EPOCHS_LATE_ANSWER.properties, epochs.asked_leader_leads_again),
    bounds={"elections": 4, "offsets": 2},
    variants=versions.ANSWER_VARIANTS,
    source="AbstractFetcherThread.processFetchRequest; KAFKA-7786, KAFKA-18991",
)
LEADER_EPOCHS_MISSED_ELECTION = LEADER_EPOCHS_LATE_ANSWER.varied(
    name="leader-epochs-missed-election",
    story="Replicas lead one after another; a follower does not hear of one election.",
    actions=(
        leader_epochs.elect,
        leader_epochs.elect_unnoticed,
        leader_epochs.hear_of_election,
        leader_epochs.produce,
        leader_epochs.truncate_follower,
        leader_epochs.fetch,
    ),
    properties=(
        *LED_WITHOUT_CRASHES,
        epochs.broker_outlives_its_leaders_log,
        epochs.unaware_replica_asks_another,
        epochs.missed_election_is_made_up_for,
    ),
    bounds={"members": 3, "elections": 3, "offsets": 2, "late_answers": 0, "missed_elections": 1},
    variants=versions.VARIANTS,
    source="Partition.makeFollower; KAFKA-7164, KAFKA-7414",
)
LEADER_EPOCHS_LATE_BYTES = LEADER_EPOCHS_MISSED_ELECTION.varied(
    name="leader-epochs-late-bytes",
    story="A leader is replaced; a follower that does not hear of it gets a response whose bytes are read by then.",
    actions=(*LEADER_EPOCHS_MISSED_ELECTION.actions, leader_epochs.delay_bytes, leader_epochs.receive_bytes),
    properties=(
        epochs.committed_record_is_kept,
        epochs.logs_agree,
        epochs.leader_is_live,
        epochs.response_is_of_a_leader,
        epochs.former_leader_has_other_bytes,
    ),
    bounds={"elections": 1, "late_bytes": 1},
    variants={release: versions.ANSWER_VARIANTS[release] for release in ("2.8.2", "3.9.0", "3.9.1")},
    source="FileRecords.writeTo, UnifiedLog.appendAsFollower; KAFKA-18723",
)
LEADER_EPOCHS_ZOMBIE_FOLLOWER = LEADER_EPOCHS_MISSED_ELECTION.varied(
    name="leader-epochs-zombie-follower",
    story="A follower hears neither that its leader does not lead any more nor that it leads again.",
    actions=(
        *LEADER_EPOCHS_MISSED_ELECTION.actions,
        leader_epochs.elect_again_unnoticed,
        leader_epochs.fetch_unaware,
    ),
    properties=(
        epochs.committed_record_is_kept,
        epochs.logs_agree,
        epochs.leader_is_live,
        epochs.former_leader_leads_again,
    ),
    bounds={"missed_elections": 2},
    variants={release: versions.FORMAT_VARIANTS[release] for release in ("2.0", "2.1.0", "2.2.0")},
    source="Partition.makeFollower, ReplicaFetcherThread.buildFetch; KAFKA-6880, KIP-320",
)
LEADER_EPOCHS_DELETED_RECORDS = LEADER_EPOCHS.varied(
    name="leader-epochs-deleted-records",
    story="Replicas lead in turn, one crashes, and the leader deletes records that the other does not have.",
    actions=(
        *LEADER_EPOCHS.actions,
        leader_epochs.delete_records,
        leader_epochs.start_afresh,
        leader_epochs.give_up,
    ),
    properties=(
        *LEADER_EPOCHS.properties,
        epochs.log_does_not_end_below_its_start,
        epochs.fetcher_does_not_give_up,
        epochs.log_is_begun_afresh,
    ),
    bounds={"offsets": 4, "elections": 2, "crashes": 1, "leader_deletions": 1},
    variants={release: versions.FETCH_VARIANTS[release] for release in ("2.8.2", "2.8.0", "3.9.0")},
    source="Partition.readRecords, AbstractFetcherThread.fetchOffsetAndTruncate; KAFKA-12996",
)
LEADER_EPOCHS_MOVED_LOG = LEADER_EPOCHS_DELETED_RECORDS.varied(
    name="leader-epochs-moved-log",
    story="Replicas lead in turn, and records are deleted; a log is moved to another log directory of its broker.",
    actions=(
        leader_epochs.elect,
        leader_epochs.produce,
        leader_epochs.truncate_follower,
        leader_epochs.fetch,
        leader_epochs.delete_records,
        leader_epochs.move_log,
        leader_epochs.truncate_to_the_leaders_end,
    ),
    properties=(
        *LED_WITHOUT_CRASHES,
        epochs.follower_is_answered,
        epochs.moved_log_leads,
    ),
    bounds={"offsets": 2, "crashes": 0, "log_moves": 1},
    variants={release: versions.FETCH_VARIANTS[release] for release in ("2.8.2", "3.9.0")},
    source="LogManager.replaceCurrentWithFutureLog, Partition.readRecords; KAFKA-15608, KAFKA-20961",
)
LEADER_EPOCHS_END_LOOKUPS = LEADER_EPOCHS_LATE_ANSWER.varied(
    name="leader-epochs-end-lookups",
    story="Another replica is elected while a consumer asks for the end of the partition.",
    actions=(
        leader_epochs.elect,
        leader_epochs.produce,
        leader_epochs.truncate_follower,
        leader_epochs.fetch,
        leader_epochs.ask_for_end,
    ),
    properties=(
        *LED_WITHOUT_CRASHES,
        epochs.told_end_does_not_go_back,
        epochs.new_leader_tells_the_end,
    ),
    bounds={"offsets": 2, "late_answers": 0, "end_lookups": 2},
    variants=versions.FORMAT_VARIANTS,
    source="Partition.fetchOffsetForTimestamp; KAFKA-2334, KIP-207",
)
LEADER_EPOCHS_OLD_FORMAT = LEADER_EPOCHS_LATE_ANSWER.varied(
    name="leader-epochs-old-format",
    story="Replicas lead one after another while records have a message format before 0.11, without leader epochs.",
    actions=(
        leader_epochs.elect,
        leader_epochs.produce,
        leader_epochs.truncate_follower,
        leader_epochs.fetch,
    ),
    properties=(
        *(
            prop
            for prop in LED_WITHOUT_CRASHES
            if prop not in (epochs.epochs_of_the_log_are_known, epochs.follower_shows_what_is_committed)
        ),
        epochs.truncation_spares_what_is_committed,
    ),
    bounds={"members": 3, "elections": 2, "offsets": 2, "late_answers": 0, "old_members": 3},
    variants={
        release: flags
        for release, flags in versions.FORMAT_VARIANTS.items()
        if not release.startswith("0.10") and not release.startswith("3.")
    },
    source="LeaderEpochFileCache.endOffsetFor; KAFKA-6857",
)
LEADER_EPOCHS_MIXED_FORMATS = LEADER_EPOCHS_OLD_FORMAT.varied(
    name="leader-epochs-mixed-formats",
    story="Replicas lead in turn while message formats are upgraded: one broker still appends without leader epochs.",
    properties=tuple(
        prop
        for prop in LEADER_EPOCHS_OLD_FORMAT.properties
        if prop not in (epochs.committed_record_is_kept, epochs.logs_agree, epochs.follower_is_truncated_and_fetches)
    ),
    bounds={"members": 3, "elections": 3, "offsets": 1, "old_members": 1},
    source="Log.append, Log.initializeLeaderEpochCache; KAFKA-7601, KAFKA-7897",
)
LEADER_EPOCHS_EARLY_LEADER = LEADER_EPOCHS_OLD_FORMAT.varied(
    name="leader-epochs-early-leader",
    story=(
        "Records have a message format before 0.11 while brokers are upgraded: the one that is elected is of a release "
        "up to 1.0.1."
    ),
    bounds={"members": 2, "old_members": 2, "early_members": 1, "elections": 1},
    variants={release: versions.FORMAT_VARIANTS[release] for release in ("2.0", "2.2.0")},
    source="ReplicaFetcherThread.fetchEpochsFromLeader, LeaderEpochFileCache.endOffsetFor; KAFKA-6859",
)
COMPACTED_TRANSACTIONS = Scenario(
    name="log-compacted-transactions",
    story="A producer commits and aborts transactions in a compacted log; the cleaner's map has room for one key.",
    state=TransactionalLog,
    actions=actions_of(compacted_transactions),
    properties=(
        transactions.cleaner_outlives_transactions,
        transactions.aborted_record_is_left_out,
        transactions.transaction_has_its_marker,
        transactions.last_committed_record_is_kept,
        transactions.cleaned_part_has_the_last_records,
        transactions.marker_outlives_its_records,
        transactions.index_has_the_marker,
        transactions.needless_markers_go,
        transactions.appended_entry_ends_the_log,
        transactions.map_has_room,
        transactions.cleaning_fills_its_map,
        transactions.plain_records_are_cleaned,
        transactions.marker_is_removed,
    ),
    bounds={"offsets": 6, "keys": 2, "cleanings": 2, "map_keys": 1, "second_group": 0},
    variants={release: flags for release, flags in versions.VARIANTS.items() if not release.startswith("0.10")},
    source="Cleaner.cleanSegments, CleanedTransactionMetadata; KAFKA-13727, KAFKA-14055",
)
TRANSACTIONS_IN_GROUPS = COMPACTED_TRANSACTIONS.varied(
    name="log-transactions-in-groups",
    story="Transactions span segments that the cleaner does not clean into one.",
    properties=tuple(prop for prop in COMPACTED_TRANSACTIONS.properties if prop is not transactions.map_has_room),
    bounds={"map_keys": 0, "second_group": 2},
    source="Cleaner.doClean, CleanedTransactionMetadata; KAFKA-8351",
)
EMPTY_BATCHES = Scenario(
    name="log-empty-batches",
    story="A producer commits and aborts transactions in a compacted log; the cleaner leaves its last batch empty.",
    state=CompactedBatches,
    actions=tuple(one for one in actions_of(empty_batches) if one is not empty_batches.delete_key),
    properties=(
        empties.cleaner_outlives_empty_batches,
        empties.empty_marker_can_be_loaded,
        empties.one_batch_is_left_empty,
        empties.producer_is_known_from_the_log,
        empties.last_record_is_kept,
        empties.marker_outlives_its_transaction,
        empties.cleaned_log_has_one_record,
        empties.appended_batch_is_the_last,
        empties.sequence_numbers_are_in_order,
        empties.batch_is_emptied,
        empties.marker_is_emptied,
    ),
    bounds={"offsets": 6, "cleanings": 2, "epochs": 1, "reuses": 0},
    variants=COMPACTED_TRANSACTIONS.variants,
    source="Cleaner.cleanInto, MemoryRecords.filterTo; KAFKA-7385, KAFKA-7467, KAFKA-8335",
)
DELETED_KEY = EMPTY_BATCHES.varied(
    name="log-deleted-key",
    story="Another producer deletes the key of a producer's last record; the tombstone goes after its time.",
    actions=actions_of(empty_batches),
    properties=(
        empties.deleted_key_stays_deleted,
        empties.last_record_is_kept,
        empties.marker_outlives_its_transaction,
    ),
    bounds={"offsets": 4},
    source="Cleaner.cleanInto, MemoryRecords.filterTo; KAFKA-5490",
)
PRODUCERS = (
    producers.entry_is_that_of_the_last_batch,
    producers.producer_is_known_until_it_expires,
    producers.snapshots_are_within_the_log,
    producers.snapshot_has_what_came_before,
    producers.segments_are_within_the_log,
    producers.stop_and_start_write_a_snapshot,
    producers.closed_log_does_not_change,
    producers.process_takes_its_memory_along,
    producers.snapshots_change_with_segments,
    producers.history_counts_the_batches,
    producers.producer_is_forgotten,
    producers.broker_has_started_again,
)
SEGMENTS_OF_PRODUCERS = (
    *PRODUCERS,
    producers.segment_has_its_snapshot,
    producers.producer_outlives_its_records,
    producers.batches_are_in_sequence,
    producers.crash_leaves_earlier_snapshots,
    producers.crash_leaves_a_snapshot,
    producers.deletion_spares_later_snapshots,
)
PRODUCER_STATE = Scenario(
    name="log-producer-state",
    story="A producer sends batches, some of them again, while segments roll and go, and the broker stops or crashes.",
    state=ProducerLog,
    actions=(
        producer_state.produce,
        producer_state.append_other,
        producer_state.delete_first_segment,
        producer_state.truncate_to,
        producer_state.delete_files,
        producer_state.stop,
        producer_state.crash,
        producer_state.start,
    ),
    initial=producer_state.starts_empty,
    properties=(
        *SEGMENTS_OF_PRODUCERS,
        producers.batch_is_appended_once,
        producers.answered_batch_was_appended,
        producers.producer_can_continue,
        producers.snapshot_can_be_read,
        producers.broker_starts_after_a_crash,
        producers.file_deletion_spares_snapshots,
        producers.truncation_removes_the_end,
        producers.duplicate_is_answered,
    ),
    bounds={
        "offsets": 4,
        "times": 0,
        "segments": 3,
        "expiration_ms": 1,
        "follows": 0,
        "transactional": 0,
        "epochs": 0,
        "crashes": 1,
        "losses": 1,
        "stops": 1,
        "truncations": 1,
        "copies": 0,
        "reads": 0,
        "lookups": 0,
    },
    variants=COMPACTED_TRANSACTIONS.variants,
    source="ProducerStateManager, Log.append; KAFKA-6683, KAFKA-7190, KAFKA-9892, KAFKA-12964",
)
COPIED_PRODUCER = PRODUCER_STATE.varied(
    name="log-copied-producer",
    story="As before, on a follower: it copies what its leader has, and deletes segments on its own.",
    properties=(
        *SEGMENTS_OF_PRODUCERS,
        producers.replication_continues,
        producers.batch_is_appended_once,
    ),
    bounds={"follows": 1, "losses": 0, "truncations": 0},
    source="ProducerStateManager.prepareUpdate; KAFKA-6003",
)
LATE_BATCHES = PRODUCER_STATE.varied(
    name="log-late-batches",
    story="A batch of a transaction is delayed until the transaction has ended, or its log is truncated.",
    actions=(
        producer_state.begin,
        producer_state.produce,
        producer_state.delay,
        producer_state.arrive,
        producer_state.end_transaction,
        producer_state.append_other,
        producer_state.expire,
        producer_state.time_passes,
        producer_state.truncate_to,
        producer_state.stop,
        producer_state.start,
    ),
    properties=(
        producers.open_transaction_is_ongoing,
        producers.fenced_producer_appends_nothing,
        producers.truncation_does_not_fail,
        producers.truncation_removes_the_end,
        *PRODUCERS,
        producers.open_transaction_has_its_first_offset,
        producers.batches_are_in_sequence,
        producers.answered_batch_was_appended,
        producers.producer_sends_within_its_transaction,
        producers.batch_of_an_ongoing_transaction_is_appended,
        producers.next_transaction_is_ongoing,
    ),
    bounds={"times": 1, "segments": 1, "crashes": 0, "losses": 0, "transactional": 1, "epochs": 1},
    source="ProducerAppendInfo, UnifiedLog.analyzeAndValidateProducerState; KAFKA-9144, KAFKA-12153, KIP-890",
)
LATE_COPIES = LATE_BATCHES.varied(
    name="log-late-copies",
    story="A batch is sent twice, and the first request comes when its transaction has ended, or another one begun.",
    actions=(
        producer_state.begin,
        producer_state.produce,
        producer_state.delay_copy,
        producer_state.arrive_copy,
        producer_state.end_transaction,
    ),
    properties=(
        producers.producer_can_continue,
        producers.batch_is_appended_once,
        producers.open_transaction_is_ongoing,
        producers.late_copy_changes_nothing,
        producers.next_transaction_is_ongoing,
    ),
    bounds={"times": 0, "stops": 0, "truncations": 0, "epochs": 0, "offsets": 3, "copies": 1},
    variants={release: versions.VARIANTS[release] for release in ("2.8.2", "3.9.0")},
    source="UnifiedLog.maybeStartTransactionVerification, ProducerAppendInfo.checkSequence; KAFKA-14920",
)
RECOVERED_TRANSACTIONS = LATE_BATCHES.varied(
    name="log-recovered-transactions",
    story="A transaction is open while segments roll, and the broker crashes; the next start recovers the log.",
    actions=(
        producer_state.begin,
        producer_state.produce,
        producer_state.end_transaction,
        producer_state.crash,
        producer_state.start,
    ),
    properties=(
        producers.open_transaction_has_its_first_offset,
        *(
            prop
            for prop in PRODUCERS
            if prop not in (producers.producer_is_forgotten, producers.producer_is_known_until_it_expires)
        ),
        producers.batches_are_in_sequence,
        producers.next_transaction_is_ongoing,
    ),
    bounds={"times": 0, "segments": 3, "stops": 0, "truncations": 0, "epochs": 0, "crashes": 1, "losses": 1},
    source="Log.recoverSegment, Log.loadProducersFromLog; KAFKA-10832",
)
COMMITTED_READS = LATE_BATCHES.varied(
    name="log-committed-reads",
    story="A consumer reads committed records while a producer appends, in transactions, and others do.",
    actions=(
        producer_state.begin,
        producer_state.produce,
        producer_state.end_transaction,
        producer_state.append_other,
        producer_state.begin_read,
        producer_state.end_read,
    ),
    properties=(
        producers.open_transaction_is_not_read,
        producers.committed_records_are_read,
        producers.read_has_its_limit,
        producers.entry_is_that_of_the_last_batch,
        producers.history_counts_the_batches,
        producers.open_transaction_has_its_first_offset,
        producers.batches_are_in_sequence,
        producers.answered_batch_was_appended,
        producers.producer_sends_within_its_transaction,
        producers.next_transaction_is_ongoing,
    ),
    bounds={"times": 0, "stops": 0, "truncations": 0, "epochs": 0, "reads": 2},
    source="Log.fetchLastStableOffsetMetadata; KAFKA-9807",
)
COMMITTED_LOOKUPS = COMMITTED_READS.varied(
    name="log-committed-lookups",
    story="A consumer looks up timestamps of committed records while a producer, in transactions, and others append.",
    actions=(
        producer_state.begin,
        producer_state.produce,
        producer_state.end_transaction,
        producer_state.append_other,
        producer_state.look_up,
    ),
    properties=(
        producers.lookup_finds_what_can_be_read,
        *(
            prop
            for prop in COMMITTED_READS.properties
            if prop
            not in (
                producers.open_transaction_is_not_read,
                producers.committed_records_are_read,
                producers.read_has_its_limit,
            )
        ),
    ),
    bounds={"reads": 0, "lookups": 1, "offsets": 3},
    source="KafkaApis.handleListOffsetRequest; KAFKA-5522",
)
WRITE_ERRORS = Scenario(
    name="log-write-errors",
    story="A write to the disk fails; others append until the log directory is offline, and the broker starts again.",
    state=FailingLog,
    actions=actions_of(write_errors),
    properties=(
        failures.answered_batch_survives_a_failure,
        failures.offset_is_given_once,
        failures.failure_takes_the_directory_offline,
        failures.appended_batch_has_the_end_offset,
        failures.end_offset_is_that_of_the_file,
        failures.failure_is_noticed,
        failures.log_is_recovered,
    ),
    bounds={"offsets": 4, "write_failures": 2},
    variants=COMPACTED_TRANSACTIONS.variants,
    source="Log.maybeHandleIOException, LogDirFailureChannel; KAFKA-7866, KAFKA-10778",
)
SHARED_WITH_THE_CLEANER = Scenario(
    name="log-shared-with-the-cleaner",
    story="The cleaner cleans a log and deletes its old segments, a fetcher truncates it, and any of that may fail.",
    state=ManagedLog,
    actions=actions_of(log_cleaner_manager),
    properties=(
        managed_logs.cleaner_outlives_errors,
        managed_logs.cleaning_resumes,
        managed_logs.truncation_does_not_wait_for_good,
        managed_logs.truncation_has_the_log_for_itself,
        managed_logs.work_is_known,
        managed_logs.clean_part_grows_by_cleanings,
        managed_logs.old_segments_go_by_deletions,
        managed_logs.log_shrinks_by_truncations,
        managed_logs.log_with_an_error_is_left_out,
        managed_logs.dirty_log_is_cleaned,
        managed_logs.truncation_shortens_the_log,
        managed_logs.cleaning_is_aborted,
        managed_logs.log_is_clean_after_a_truncation,
    ),
    bounds={"offsets": 2, "truncations": 2, "expirations": 1, "log_errors": 1},
    variants={release: flags for release, flags in versions.VARIANTS.items() if release not in ("0.10.0", "0.10.1")},
    source="LogCleanerManager, LogManager.truncateTo; KAFKA-3123, KAFKA-6568, KAFKA-7215, KAFKA-8725",
)
GROWN_BATCHES = Scenario(
    name="log-grown-batches",
    story="Compressed batches are larger after a cleaning than before, and than the cleaner's buffer.",
    state=BufferedCleaning,
    actions=actions_of(cleaner_buffers),
    properties=(
        buffers.kept_batch_is_whole,
        buffers.cleaner_outlives_grown_batches,
        buffers.cleaner_stops_at_grown_batches_only,
        buffers.kept_batches_are_written,
        buffers.chunk_fits_the_buffer,
        buffers.segment_is_closed_while_it_is_cleaned,
        buffers.batch_outgrows_the_buffer,
    ),
    bounds={"offsets": 3, "batch_bytes": 2, "buffer_bytes": 4, "segment_room": 0},
    variants=versions.VARIANTS,
    source="Cleaner.cleanInto, MemoryRecords.filterTo; KAFKA-4497, KAFKA-5316",
)
UNCLEANABLE = Scenario(
    name="log-uncleanable",
    story=(
        "The cleaner's thread meets a batch that it cannot read, or an error of the disk; the topic is deleted, and "
        "created again."
    ),
    state=CleanableTopic,
    actions=actions_of(uncleanable_logs),
    properties=(
        uncleanable.topic_created_later_is_cleaned,
        uncleanable.topic_created_at_once_is_cleaned,
        uncleanable.failed_disk_is_offline,
        uncleanable.sound_topic_is_cleaned,
        uncleanable.errors_have_a_cause,
        uncleanable.mark_stays_with_its_log,
        uncleanable.history_tells_who_came_round,
        uncleanable.clean_logs_were_read,
        uncleanable.topic_is_created_empty,
        uncleanable.deleted_topic_has_nothing,
        uncleanable.unused_log_gets_nothing,
        uncleanable.topic_is_created_after_an_error,
    ),
    bounds={"recreations": 1},
    variants={r: flags for r, flags in versions.VARIANTS.items() if not r.startswith("0.")},
    source="LogCleanerManager.uncleanablePartitions, Cleaner.buildOffsetMapForSegment; KAFKA-13305",
)
UNREADABLE_CHECKPOINT = Scenario(
    name="log-unreadable-checkpoint",
    story="Clients delete records; a number in a checkpoint is damaged, and the broker starts again.",
    state=CheckpointedLog,
    actions=actions_of(unreadable_checkpoints),
    properties=(
        unreadable.deleted_records_stay_deleted,
        unreadable.cleaner_outlives_its_checkpoint,
        unreadable.start_offset_is_written,
        unreadable.offline_directory_has_a_bad_number,
        unreadable.log_begins_at_its_checkpoint,
        unreadable.checkpoint_has_the_start_offset,
        unreadable.stop_writes_the_start_offset,
        unreadable.bad_number_is_written_again,
        unreadable.cleaner_stops_at_a_bad_number,
        unreadable.cleaner_checkpoint_is_repaired,
        unreadable.start_passes_over_its_checkpoint,
        unreadable.directory_comes_back,
    ),
    bounds={"offsets": 2, "damages": 2},
    variants=UNCLEANABLE.variants,
    source="CheckpointFile.read, LogManager.loadLogs, LogCleanerManager.allCleanerCheckpoints",
)
FOLDER_STEPS = (
    log_deletion.create,
    log_deletion.delete_log,
    log_deletion.delete_files,
    log_deletion.delete_folder,
    log_deletion.crash,
    log_deletion.start,
)
FOLDER_PROPERTIES = (
    partition_folders.directory_outlives_a_deletion,
    partition_folders.broker_starts_amid_a_deletion,
    partition_folders.deleted_log_is_gone,
    partition_folders.deletion_goes_step_by_step,
    partition_folders.log_is_created_once,
    partition_folders.crashes_are_counted,
    partition_folders.log_is_created_again_amid_a_deletion,
)
DELETION = Scenario(
    name="log-deletion",
    story="A replica is deleted and created again while its broker flushes the log, deletes its files, or crashes.",
    state=PartitionFolder,
    actions=(
        log_deletion.create,
        log_deletion.delete_log,
        log_deletion.delete_files,
        log_deletion.delete_folder,
        log_deletion.begin_flush,
        log_deletion.flush_files,
        log_deletion.flush_folder,
        log_deletion.crash,
        log_deletion.start,
    ),
    properties=(
        partition_folders.directory_outlives_a_deletion,
        partition_folders.log_keeps_its_time_index,
        partition_folders.broker_starts_amid_a_deletion,
        partition_folders.deleted_log_is_gone,
        partition_folders.deletion_goes_step_by_step,
        partition_folders.flush_is_of_one_log,
        partition_folders.flushed_log_has_its_files,
        partition_folders.log_is_created_once,
        partition_folders.flush_begins_once,
        partition_folders.crashes_are_counted,
        partition_folders.log_is_created_again_amid_a_deletion,
        partition_folders.flush_outlives_its_log,
    ),
    bounds={
        "creations": 2,
        "flushes": 2,
        "segment_removals": 0,
        "folder_crashes": 1,
        "periods": 0,
        "long_names": 0,
        "disk_failures": 0,
        "move_requests": 0,
        "late_removals": 0,
        "long_flushes": 0,
        "snapshots": 0,
    },
    variants={r: flags for r, flags in versions.FOLDER_VARIANTS.items() if r not in ("0.10.0", "0.10.1")},
    source="LogManager.asyncDelete, Log.flush; KAFKA-5752, KAFKA-6624, KAFKA-8564, KAFKA-15391",
)
DELETION_OF_A_NAME_WITH_PERIODS = DELETION.varied(
    name="log-deletion-of-a-name-with-periods",
    story="A replica of a topic with a period in its name is deleted; its broker crashes meanwhile.",
    actions=FOLDER_STEPS,
    properties=FOLDER_PROPERTIES,
    bounds={"flushes": 0, "periods": 1},
    source="Log.parseTopicPartitionName; KAFKA-5232",
)
DELETION_OF_A_LONG_NAME = DELETION_OF_A_NAME_WITH_PERIODS.varied(
    name="log-deletion-of-a-long-name",
    story="A replica is deleted of a topic whose name leaves no room for what a deletion adds.",
    bounds={"periods": 0, "long_names": 1},
    variants=versions.MOVE_VARIANTS,
    source="Log.logDeleteDirName; KAFKA-4893",
)
DELETION_BESIDE_A_FAILED_DISK = DELETION_OF_A_NAME_WITH_PERIODS.varied(
    name="log-deletion-beside-a-failed-disk",
    story="A replica is deleted, or its broker starts, while another log directory of the broker has failed.",
    actions=(*FOLDER_STEPS, log_deletion.fail_other_disk),
    properties=(*FOLDER_PROPERTIES, partition_folders.deletion_is_not_refused),
    bounds={"periods": 0, "disk_failures": 1},
    variants=versions.MOVE_VARIANTS,
    source="KIP-112; KAFKA-6697, KAFKA-7313",
)
DELETION_AMID_RETENTION = DELETION_OF_A_NAME_WITH_PERIODS.varied(
    name="log-deletion-amid-retention",
    story="A replica is deleted while retention removes a segment of its log.",
    actions=(*FOLDER_STEPS, log_deletion.remove_late, log_deletion.list_folder, log_deletion.delete_late),
    properties=(
        *FOLDER_PROPERTIES,
        partition_folders.late_files_are_of_the_deleted_log,
        partition_folders.listed_file_is_gone,
    ),
    bounds={"periods": 0, "late_removals": 1},
    variants=versions.VARIANTS,
    source="Utils.delete, LogManager.cleanupLogs; KAFKA-13403",
)
DELETION_AMID_A_LONG_FLUSH = DELETION_OF_A_NAME_WITH_PERIODS.varied(
    name="log-deletion-amid-a-long-flush",
    story="A replica is deleted while a flush of its log waits for a thread, for longer than its files are kept.",
    actions=(*FOLDER_STEPS, log_deletion.begin_flush, log_deletion.flush_files, log_deletion.flush_folder),
    properties=(
        *(one for one in FOLDER_PROPERTIES if one is not partition_folders.log_is_created_again_amid_a_deletion),
        partition_folders.flush_begins_once,
        partition_folders.flush_outlives_its_log,
    ),
    bounds={"periods": 0, "creations": 1, "flushes": 1, "long_flushes": 1},
    variants={release: versions.VARIANTS[release] for release in ("2.8.2", "2.0", "3.7.0", "3.9.0")},
    source="Log.flush, LogSegment.flush; KAFKA-19571",
)
MOVE_ASKED_FOR_AGAIN = DELETION.varied(
    name="log-move-asked-for-again",
    story="An operator asks for a move of a replica between log directories once more, as the earlier one ends.",
    actions=(
        log_deletion.create_future,
        log_deletion.ask_again,
        log_deletion.replace_log,
        log_deletion.compare_directories,
    ),
    properties=(
        partition_folders.move_is_accepted,
        partition_folders.move_is_asked_for_again,
        partition_folders.future_log_replaces_another,
    ),
    bounds={"creations": 1, "flushes": 0, "folder_crashes": 0, "move_requests": 1},
    variants=versions.MOVE_VARIANTS,
    source="ReplicaManager.alterReplicaLogDirs; KAFKA-6949",
)
DELETION_AFTER_A_MOVE = DELETION.varied(
    name="log-deletion-after-a-move",
    story="A future log replaces the current one before the files of its removed segment are deleted.",
    actions=(
        log_deletion.create_future,
        log_deletion.replace_log,
        log_deletion.remove_segment,
        log_deletion.delete_removed,
        log_deletion.delete_log,
        log_deletion.delete_files,
        log_deletion.delete_folder,
        log_deletion.crash,
        log_deletion.start,
    ),
    properties=(
        *(
            prop
            for prop in DELETION.properties
            if prop
            not in (
                partition_folders.flush_is_of_one_log,
                partition_folders.flushed_log_has_its_files,
                partition_folders.flush_begins_once,
                partition_folders.flush_outlives_its_log,
            )
        ),
        partition_folders.removed_segment_leaves_no_files,
        partition_folders.future_log_replaces_another,
        partition_folders.segment_is_removed_once,
        partition_folders.start_and_deletion_leave_no_files,
        partition_folders.log_moves_with_a_removed_segment,
    ),
    bounds={"flushes": 0, "segment_removals": 1},
    variants={r: flags for r, flags in DELETION.variants.items() if not r.startswith("0.") and r != "1.0"},
    source="LogSegment.deleteTypeIfExists; KAFKA-16424",
)
SNAPSHOT_AFTER_A_MOVE = DELETION_AFTER_A_MOVE.varied(
    name="log-snapshot-after-a-move",
    story="As before; the removed segment has a snapshot of its producers.",
    properties=(*DELETION_AFTER_A_MOVE.properties, partition_folders.removed_segment_leaves_no_snapshot),
    bounds={"snapshots": 1},
    source="ProducerStateManager.removeAndMarkSnapshotForDeletion",
)
MOVE_AMID_A_FLUSH = MOVE_ASKED_FOR_AGAIN.varied(
    name="log-move-amid-a-flush",
    story="A future log replaces the current one while a flush of it is to flush its folder.",
    actions=(
        log_deletion.create_future,
        log_deletion.replace_log,
        log_deletion.begin_flush,
        log_deletion.flush_files,
        log_deletion.flush_folder,
    ),
    properties=(
        partition_folders.directory_outlives_a_move,
        partition_folders.log_is_moved_amid_a_flush,
        partition_folders.flush_begins_once,
        partition_folders.future_log_replaces_another,
    ),
    bounds={"move_requests": 0, "flushes": 1},
    variants={release: versions.FOLDER_VARIANTS[release] for release in ("2.8.2", "3.5.1", "3.9.0")},
    source="LocalLog.flush, LogManager.replaceCurrentWithFutureLog; KAFKA-15572",
)
MOVE = Scenario(
    name="log-move",
    story="A replica moves to another log directory; records are appended, leaders change, and the broker restarts.",
    state=MovingReplica,
    actions=(
        future_log.append_record,
        future_log.replicate,
        future_log.start_move,
        future_log.change_leader,
        future_log.restart,
        future_log.truncate_future,
        future_log.fetch,
        future_log.replace_log,
    ),
    properties=(
        future_logs.move_does_not_fail,
        future_logs.move_ends,
        future_logs.moved_log_has_all_records,
        future_logs.active_segment_is_within_its_log,
        future_logs.log_grows_record_by_record,
        future_logs.move_begins_again,
        future_logs.log_has_rolled,
        future_logs.replica_is_moved,
        future_logs.move_outlives_its_broker,
    ),
    bounds={
        "offsets": 4,
        "elections": 1,
        "stops": 1,
        "cleanings": 0,
        "truncations": 0,
        "late_updates": 0,
        "divergences": 0,
        "replaced_moves": 0,
        "repeats": 0,
    },
    variants={
        release: flags
        for release, flags in versions.VARIANTS.items()
        if not release.startswith("0.") and release != "1.0"
    },
    source="ReplicaAlterLogDirsThread; KAFKA-8002, KAFKA-9087, KAFKA-9654",
)
MOVE_LATE_UPDATE = MOVE.varied(
    name="log-move-late-update",
    story="A leader's replica moves to another log directory while a follower fetches, and its high watermark rises.",
    actions=(
        future_log.append_record,
        future_log.begin_update,
        future_log.end_update,
        future_log.start_move,
        future_log.truncate_future,
        future_log.fetch,
        future_log.replace_log,
    ),
    properties=(
        future_logs.replicated_record_is_committed,
        future_logs.update_follows_a_fetch,
        *(
            prop
            for prop in MOVE.properties
            if prop not in (future_logs.move_begins_again, future_logs.move_outlives_its_broker)
        ),
    ),
    bounds={"offsets": 3, "elections": 0, "stops": 0, "late_updates": 2},
    source="Partition.maybeReplaceCurrentWithFutureReplica, Partition.maybeIncrementLeaderHW; KAFKA-9263",
)
MOVE_DIVERGED = MOVE.varied(
    name="log-move-diverged",
    story="A follower's replica moves to another log directory; a leader is elected meanwhile that has other records.",
    actions=(
        future_log.append_record,
        future_log.replicate,
        future_log.start_move,
        future_log.diverge,
        future_log.truncate_future,
        future_log.fetch,
        future_log.replace_log,
    ),
    properties=(
        future_logs.move_does_not_fail,
        future_logs.move_ends,
        future_logs.moved_log_has_all_records,
        future_logs.moved_log_has_the_same_records,
        future_logs.logs_are_truncated_to_what_they_share,
        future_logs.diverged_replica_is_moved,
    ),
    bounds={"elections": 0, "stops": 0, "divergences": 1},
    variants=versions.MOVE_VARIANTS,
    source="ReplicaAlterLogDirsThread.buildLeaderEpochRequest; KAFKA-6795",
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
MOVE_COMPACTED = MOVE.varied(
    name="log-move-compacted",
    story="A replica of a compacted topic moves to another log directory, and is cleaned before and after that.",
    actions=(*MOVE.actions, future_log.clean, future_log.truncate),
    initial=future_log.starts_in_a_directory,
    properties=(
        *MOVE.properties,
        future_logs.cleaning_resumes_after_a_move,
        future_logs.cleaning_pauses_for_a_move,
        future_logs.cleaning_is_remembered,
        future_logs.truncation_keeps_what_is_replicated,
        future_logs.moved_log_is_cleaned,
    ),
    bounds={"cleanings": 2, "truncations": 1},
    source="LogManager.replaceCurrentWithFutureLog, LogCleanerManager.alterCheckpointDir; KAFKA-8362, KAFKA-16709",
)
MOVE_AMID_A_FAILOVER = MOVE_COMPACTED.varied(
    name="log-move-amid-a-failover",
    story="A replica of a compacted topic moves to another log directory, while the controller moves.",
    actions=(*MOVE.actions, future_log.clean, future_log.repeat_leader),
    properties=(
        *(
            prop
            for prop in MOVE_COMPACTED.properties
            if prop not in (future_logs.log_grows_record_by_record, future_logs.truncation_keeps_what_is_replicated)
        ),
        future_logs.known_epoch_changes_no_log,
    ),
    bounds={"offsets": 3, "cleanings": 2, "truncations": 0, "repeats": 1},
    source="ReplicaManager.becomeLeaderOrFollower; commit b02bdd322",
)
MOVE_REPLACED = MOVE_COMPACTED.varied(
    name="log-move-replaced",
    story="A replica of a compacted topic moves to another log directory, and is sent to a third one meanwhile.",
    actions=(*MOVE.actions, future_log.clean, future_log.replace_move),
    properties=(
        *(
            prop
            for prop in MOVE_COMPACTED.properties
            if prop not in (future_logs.log_grows_record_by_record, future_logs.truncation_keeps_what_is_replicated)
        ),
        future_logs.replaced_move_begins_again,
    ),
    bounds={"offsets": 3, "cleanings": 2, "truncations": 0, "replaced_moves": 1},
    source="ReplicaManager.alterReplicaLogDirs; KAFKA-19458",
)
ENDED_MOVES = tuple(
    prop
    for prop in MOVE_REPLACED.properties
    if prop
    not in (
        future_logs.replaced_move_begins_again,
        future_logs.move_does_not_fail,
        future_logs.move_ends,
        future_logs.cleaning_pauses_for_a_move,
    )
)
MOVE_CANCELLED = MOVE_REPLACED.varied(
    name="log-move-cancelled",
    story="A replica of a compacted topic moves to another log directory; the move is cancelled.",
    actions=(*MOVE.actions, future_log.clean, future_log.cancel_move),
    properties=(
        *ENDED_MOVES,
        future_logs.cleaning_pauses_for_a_copy,
        future_logs.move_is_ended_alone,
        future_logs.move_ends_early,
    ),
    source="ReplicaManager.alterReplicaLogDirs; KAFKA-16114",
)
MOVE_THAT_FAILS = MOVE_REPLACED.varied(
    name="log-move-that-fails",
    story="A replica of a compacted topic moves to another log directory, and the thread that copies it fails.",
    actions=(
        future_log.append_record,
        future_log.replicate,
        future_log.start_move,
        future_log.truncate_future,
        future_log.fetch,
        future_log.replace_log,
        future_log.clean,
        future_log.fail_move,
    ),
    properties=(
        future_logs.cleaning_outlives_a_failed_move,
        *(
            prop
            for prop in ENDED_MOVES
            if prop
            not in (
                future_logs.cleaning_resumes_after_a_move,
                future_logs.move_begins_again,
                future_logs.move_outlives_its_broker,
            )
        ),
        future_logs.cleaning_pauses_for_a_copy,
        future_logs.move_is_ended_alone,
        future_logs.move_ends_early,
    ),
    bounds={"replaced_moves": 0, "elections": 0, "stops": 0},
    source="AbstractFetcherThread.processFetchRequest; KAFKA-14824",
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
GROWN_SEGMENT = GROWN_BATCHES.varied(
    name="log-grown-segment",
    story="Compressed batches are larger after a cleaning than before, and than a segment may be.",
    properties=(
        buffers.grown_segment_is_cleaned,
        buffers.kept_batches_are_written,
        buffers.segment_is_closed_while_it_is_cleaned,
        buffers.cleaned_batches_outgrow_a_segment,
    ),
    bounds={"offsets": 2, "segment_room": 4, "buffer_bytes": 2},
    source="Cleaner.cleanSegments, FileRecords.append; KAFKA-20036",
)

SCENARIOS = (
    LOOKUP,
    FULL_TRUNCATION,
    ROLL,
    RETENTION,
    RECOVERY,
    COMPACTION,
    TOMBSTONES,
    LAST_TOMBSTONE,
    COMPACTED_COPY,
    DELETED_RECORDS,
    POLICY_CHANGE,
    PREALLOCATED,
    SMALL_MAP,
    LARGE_BATCHES,
    CREATED_AMID_A_CHANGE,
    LEADER_EPOCHS,
    LEADER_EPOCHS_LOST,
    LEADER_EPOCHS_TORN,
    COMPACTED_TRANSACTIONS,
    TRANSACTIONS_IN_GROUPS,
    PRODUCER_STATE,
    COPIED_PRODUCER,
    LATE_BATCHES,
    LATE_COPIES,
    RECOVERED_TRANSACTIONS,
    MOVE,
    MOVE_DIVERGED,
    LARGEST_TIMESTAMP,
    LARGEST_TIMESTAMP_UNCOMPRESSED,
    MOVE_COMPACTED,
    MOVE_AMID_A_FAILOVER,
    MOVE_REPLACED,
    MOVE_CANCELLED,
    MOVE_THAT_FAILS,
    COPY_ABOVE_SEGMENTS,
    COPY,
    COPY_DAMAGED,
    LEADER_EPOCHS_LATE_ANSWER,
    LEADER_EPOCHS_STALE_ANSWER,
    LEADER_EPOCHS_MISSED_ELECTION,
    LEADER_EPOCHS_LATE_BYTES,
    LEADER_EPOCHS_DELETED_RECORDS,
    LEADER_EPOCHS_END_LOOKUPS,
    LEADER_EPOCHS_LOST_TAIL,
    LEADER_EPOCHS_LAST_MEMBER,
    LEADER_EPOCHS_ZOMBIE_FOLLOWER,
    LEADER_EPOCHS_MOVED_LOG,
    FUTURE_TIMESTAMPS,
    EMPTY_BATCHES,
    DELETED_KEY,
    COMMITTED_READS,
    MOVE_LATE_UPDATE,
    WRITE_ERRORS,
    SHARED_WITH_THE_CLEANER,
    DELETION,
    DELETION_AFTER_A_MOVE,
    SNAPSHOT_AFTER_A_MOVE,
    MOVE_AMID_A_FLUSH,
    LEADER_EPOCHS_OLD_FORMAT,
    LEADER_EPOCHS_MIXED_FORMATS,
    LEADER_EPOCHS_EARLY_LEADER,
    FULL_TRUNCATION_ELECTED,
    SEGMENT_LIMITS,
    RECOVERY_FAILED_START,
    RECOVERY_FULL_DISK,
    RECOVERY_BELOW_THE_START,
    UNTRIMMED_INDEXES,
    LOST_NAMES,
    COMMITTED_LOOKUPS,
    DELETION_OF_A_NAME_WITH_PERIODS,
    DELETION_OF_A_LONG_NAME,
    DELETION_BESIDE_A_FAILED_DISK,
    DELETION_AMID_RETENTION,
    DELETION_AMID_A_LONG_FLUSH,
    MOVE_ASKED_FOR_AGAIN,
    CREATED_AGAIN,
    CREATED_AGAIN_UNFLUSHED,
    GROWN_BATCHES,
    GROWN_SEGMENT,
    UNCLEANABLE,
    UNREADABLE_CHECKPOINT,
    *log_reads.SCENARIOS,
)
