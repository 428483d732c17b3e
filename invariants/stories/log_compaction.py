"""Stories about the cleaner: what a compacted log keeps, and what stops a cleaning."""

from __future__ import annotations

from kwalk.invariants import cleaner_buffers as buffers
from kwalk.invariants import compacted_transactions as transactions
from kwalk.invariants import empty_batches as empties
from kwalk.invariants import managed_logs, storage
from kwalk.invariants import uncleanable_logs as uncleanable
from kwalk.invariants import unreadable_checkpoints as unreadable
from kwalk.invariants.stories.log_segments import LOOKUP, SEGMENTS
from kwalk.model.kafka.storage import (
    cleaner_buffers,
    compacted_transactions,
    empty_batches,
    last_batch,
    log,
    log_cleaner,
    log_cleaner_manager,
    log_loading,
    topic_configs,
    uncleanable_logs,
    unreadable_checkpoints,
    versions,
)
from kwalk.model.kafka.storage.cleaner_buffers import BufferedCleaning
from kwalk.model.kafka.storage.compacted_transactions import TransactionalLog
from kwalk.model.kafka.storage.empty_batches import CompactedBatches
from kwalk.model.kafka.storage.log_cleaner_manager import ManagedLog
from kwalk.model.kafka.storage.uncleanable_logs import CleanableTopic
from kwalk.model.kafka.storage.unreadable_checkpoints import CheckpointedLog
from kwalk.model.language import Scenario, actions_of

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
