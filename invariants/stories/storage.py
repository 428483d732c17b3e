"""Stories about the log of one partition: its segments and indexes, retention, recovery, compaction, configuration."""

from __future__ import annotations

from kwalk.invariants import compacted_transactions as transactions
from kwalk.invariants import leader_epochs as epochs
from kwalk.invariants import storage
from kwalk.model.kafka.storage import (
    compacted_transactions,
    domains,
    dynamic_broker_config,
    leader_epochs,
    log,
    log_cleaner,
    log_loading,
    topic_configs,
    versions,
)
from kwalk.model.kafka.storage.compacted_transactions import TransactionalLog
from kwalk.model.kafka.storage.dynamic_broker_config import BrokerConfiguration
from kwalk.model.kafka.storage.leader_epochs import EpochPartition
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
        storage.record_is_kept,
        storage.log_has_rolled,
        storage.active_segment_is_deleted,
    ),
    bounds={"offsets": 6, "batch_bytes": 1, "segment_bytes": 2, "file_delete_delay_ms": 1},
    source="AbstractFetcherThread.fetchOffsetAndTruncate, Log.truncateFullyAndStartAt; KAFKA-9491",
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
    properties=tuple(prop for prop in COMPACTED if prop is not storage.cleaning_covers_what_is_replicated),
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
CONFIGURATION = Scenario(
    name="dynamic-configuration",
    story=(
        "A key is changed for a topic, a broker and all brokers, and another key too; the broker is restarted, with "
        "another server.properties or the same."
    ),
    state=BrokerConfiguration,
    actions=actions_of(dynamic_broker_config),
    initial=dynamic_broker_config.starts_with_a_file,
    properties=(
        storage.configuration_follows_precedence,
        storage.topic_configuration_is_kept,
        storage.deleted_configuration_does_not_hold,
        storage.handled_change_is_known,
        storage.running_broker_has_read_its_file,
        storage.configuration_ends_with_its_process,
        storage.values_change_by_request,
        storage.dynamic_configuration_holds,
        storage.changes_are_handled,
        storage.all_levels_are_set,
        storage.other_key_is_read,
    ),
    bounds={"values": 3, "changes": 3, "restarts": 1, "edits": 1},
    variants=versions.VARIANTS,
    source="DynamicBrokerConfig, DynamicLogConfig; KAFKA-9254, KAFKA-10268, KAFKA-17584",
)
LEADER_EPOCHS = Scenario(
    name="leader-epochs",
    story="Replicas lead one after another, with or without a crash between; followers truncate by leader epochs.",
    state=EpochPartition,
    actions=(
        leader_epochs.elect,
        leader_epochs.produce,
        leader_epochs.truncate_follower,
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
        epochs.replicas_catch_up,
        epochs.follower_is_truncated_and_fetches,
    ),
    bounds={"members": 2, "elections": 3, "offsets": 3, "crashes": 2, "losses": 0, "removals": 0},
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
COMPACTED_TRANSACTIONS = Scenario(
    name="log-compacted-transactions",
    story="A producer commits and aborts transactions in a compacted log; the cleaner's map has room for one key.",
    state=TransactionalLog,
    actions=actions_of(compacted_transactions),
    properties=(
        transactions.aborted_record_is_left_out,
        transactions.transaction_has_its_marker,
        transactions.last_committed_record_is_kept,
        transactions.cleaned_part_has_the_last_records,
        transactions.marker_is_removed,
    ),
    bounds={"offsets": 6, "keys": 2, "cleanings": 2, "map_keys": 1, "second_group": 0},
    variants={release: flags for release, flags in versions.VARIANTS.items() if not release.startswith("0.10")},
    source="Cleaner.cleanSegments, CleanedTransactionMetadata; KAFKA-13727, KAFKA-14055",
)
TRANSACTIONS_IN_GROUPS = COMPACTED_TRANSACTIONS.varied(
    name="log-transactions-in-groups",
    story="Transactions span segments that the cleaner does not clean into one.",
    bounds={"map_keys": 0, "second_group": 2},
    source="Cleaner.doClean, CleanedTransactionMetadata; KAFKA-8351",
)

SCENARIOS = (
    LOOKUP,
    FULL_TRUNCATION,
    ROLL,
    RETENTION,
    RECOVERY,
    COMPACTION,
    TOMBSTONES,
    COMPACTED_COPY,
    DELETED_RECORDS,
    POLICY_CHANGE,
    PREALLOCATED,
    SMALL_MAP,
    LARGE_BATCHES,
    CONFIGURATION,
    LEADER_EPOCHS,
    LEADER_EPOCHS_LOST,
    LEADER_EPOCHS_TORN,
    COMPACTED_TRANSACTIONS,
    TRANSACTIONS_IN_GROUPS,
)
