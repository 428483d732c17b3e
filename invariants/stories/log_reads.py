"""The scenarios of a log that several threads read, of what a start reads, and of numbers that overflow."""

from __future__ import annotations

from kwalk.invariants import added_time_index as added
from kwalk.invariants import cleaner_checkpoint as checkpoints
from kwalk.invariants import cleaner_formats as formats
from kwalk.invariants import directories_stop as stops
from kwalk.invariants import down_conversion as conversions
from kwalk.invariants import file_reads as reads
from kwalk.invariants import lazy_index as indexes
from kwalk.invariants import log_readers as readers
from kwalk.invariants import log_sizes as sizes
from kwalk.invariants import log_tasks as tasks
from kwalk.invariants import received_batches as batches
from kwalk.invariants import sequence_reset as resets
from kwalk.invariants import start_reads as starts
from kwalk.invariants import tiered_log as tiers
from kwalk.invariants import wrapped_sequences as sequences
from kwalk.model.kafka.storage import (
    added_time_index,
    cleaner_checkpoint,
    cleaner_formats,
    directories_stop,
    down_conversion,
    file_reads,
    lazy_index,
    log_readers,
    log_sizes,
    log_tasks,
    received_batches,
    sequence_reset,
    start_reads,
    tiered_log,
    versions,
    wrapped_sequences,
)
from kwalk.model.kafka.storage.added_time_index import MixedSegment, UpgradedLog
from kwalk.model.kafka.storage.cleaner_checkpoint import CheckedLog
from kwalk.model.kafka.storage.cleaner_formats import FormattedSet
from kwalk.model.kafka.storage.directories_stop import StoppingDirectories
from kwalk.model.kafka.storage.down_conversion import ConvertedLog
from kwalk.model.kafka.storage.file_reads import CleanerMap, ReadFile
from kwalk.model.kafka.storage.lazy_index import LargestTime, LazyIndex
from kwalk.model.kafka.storage.log_readers import ReadLog, StartOffsets
from kwalk.model.kafka.storage.log_sizes import LogSizes
from kwalk.model.kafka.storage.log_tasks import ScheduledLog
from kwalk.model.kafka.storage.received_batches import ReceivingLog
from kwalk.model.kafka.storage.sequence_reset import ForgottenProducer, NewPartition
from kwalk.model.kafka.storage.start_reads import SegmentedLog
from kwalk.model.kafka.storage.tiered_log import TieredLog
from kwalk.model.kafka.storage.wrapped_sequences import SequencedLog
from kwalk.model.language import Scenario, actions_of

FETCH_AMID_AN_APPEND = Scenario(
    name="log-fetch-amid-an-append",
    story="A consumer fetches up to the end of a log, while a record is appended that is not replicated yet.",
    state=ReadLog,
    actions=(
        log_readers.append,
        log_readers.replicate,
        log_readers.begin_fetch,
        log_readers.slice_file,
        log_readers.read_to_the_end,
    ),
    properties=(
        readers.fetch_ends_at_the_high_watermark,
        readers.fetch_is_answered,
        readers.fetch_is_read_once,
        readers.high_watermark_is_the_end_of_the_log,
        readers.record_is_written_amid_a_fetch,
    ),
    bounds={"offsets": 2, "old_segments": 0},
    variants=versions.VARIANTS,
    source="FileRecords.slice; KAFKA-9835",
)
LOOKUP_AMID_CHANGES = FETCH_AMID_AN_APPEND.varied(
    name="log-lookup-amid-changes",
    story="A client looks up offsets while a segment gets its first record, and another one is removed.",
    actions=(
        log_readers.append,
        log_readers.begin_lookup,
        log_readers.remove_segment,
        log_readers.copy_segments,
        log_readers.answer_lookup,
    ),
    properties=(
        readers.lookup_is_answered,
        readers.lookup_is_made_in_order,
        readers.segment_is_removed_amid_a_lookup,
    ),
    bounds={"offsets": 1, "old_segments": 1},
    initial=log_readers.starts_with_segments,
    source="KafkaApis.fetchOffsetsBefore; KAFKA-2236, KAFKA-4205",
)
STARTS_AMID_A_TRUNCATION = Scenario(
    name="log-starts-amid-a-truncation",
    story="Start offsets are written, while a follower's log begins again.",
    state=StartOffsets,
    actions=(
        log_readers.raise_start,
        log_readers.remove_all_segments,
        log_readers.add_first_segment,
        log_readers.write_starts,
    ),
    properties=(
        readers.start_offsets_are_written,
        readers.raised_start_is_written,
        readers.round_fails_without_a_segment,
        readers.log_begins_again,
        readers.log_has_a_segment_at_rest,
        readers.start_offset_is_written,
    ),
    bounds={},
    variants={release: flags for release, flags in versions.VARIANTS.items() if not release.startswith("0.10")},
    source="LogManager.checkpointLogStartOffsetsInDir; KAFKA-12763, KAFKA-12875",
)
FETCH_FROM_A_NEW_LEADER = FETCH_AMID_AN_APPEND.varied(
    name="log-fetch-from-a-new-leader",
    story="A consumer fetches from a replica that begins to lead.",
    actions=(log_readers.begin_to_lead, log_readers.lead, log_readers.fetch_and_wait),
    properties=(
        readers.fetch_is_answered,
        readers.fetch_is_read_once,
        readers.replica_begins_to_lead_once,
        readers.replica_leads,
    ),
    bounds={"offsets": 1, "old_segments": 0},
    source="Partition.makeLeader, DelayedFetch.tryComplete; KAFKA-5745",
)
INDEX_OF_TWO_READERS = Scenario(
    name="log-index-of-two-readers",
    story="Two threads need the index of a new segment, which nobody has opened yet.",
    state=LazyIndex,
    actions=(lazy_index.look, lazy_index.open_file, lazy_index.append),
    properties=(
        indexes.append_to_a_new_segment_succeeds,
        indexes.index_is_opened_for_a_thread,
        indexes.thread_opens_what_is_not_open,
        indexes.batch_is_appended_with_an_index,
    ),
    bounds={"readers": 2},
    variants=versions.VARIANTS,
    source="LazyIndex; KAFKA-7283, KAFKA-9156",
)
LARGEST_TIME_OF_TWO_READERS = Scenario(
    name="log-largest-time-of-two-readers",
    story="A client looks up a timestamp in a new segment, to which batches are appended.",
    state=LargestTime,
    actions=(lazy_index.read_last_entry, lazy_index.keep_last_entry, lazy_index.append_with_time),
    properties=(
        indexes.append_to_a_time_index_succeeds,
        indexes.time_index_grows,
        indexes.lookup_reads_the_index,
        indexes.largest_time_is_set_by_one,
        indexes.append_passes_a_lookup,
    ),
    bounds={"times": 2},
    variants=versions.VARIANTS,
    source="LogSegment.readMaxTimestampAndOffsetSoFar; KAFKA-7283, KAFKA-19407",
)
ABOVE_2_GIB = Scenario(
    name="log-above-two-gib",
    story="A log with retention.bytes grows above what a 32-bit integer counts.",
    state=LogSizes,
    actions=(log_sizes.fill, log_sizes.delete_oldest),
    properties=(sizes.large_log_is_shortened, sizes.kept_segments_stay),
    bounds={"segments_held": 7, "max_int": 3, "retained": 2},
    variants=versions.VARIANTS,
    source="Log.deleteRetentionSizeBreachedSegments; KAFKA-5584",
)
ABOVE_2_GIB_COMPACTED = ABOVE_2_GIB.varied(
    name="log-above-two-gib-compacted",
    story="A compacted log grows above what a 32-bit integer counts.",
    actions=(log_sizes.fill, log_sizes.clean),
    properties=(
        sizes.dirty_log_is_cleaned,
        sizes.kept_segments_stay,
        sizes.clean_log_is_not_cleaned,
        sizes.log_is_as_large_as_it_can_be,
    ),
    bounds={"segments_held": 7, "max_int": 3, "retained": 0},
    source="LogToClean.cleanableRatio; KAFKA-6030",
)
WRAPPED_SEQUENCES = Scenario(
    name="log-wrapped-sequences",
    story="A producer sends so many records that its sequence numbers begin again.",
    state=SequencedLog,
    actions=actions_of(wrapped_sequences),
    properties=(
        sequences.transaction_is_read_when_it_has_ended,
        sequences.sequence_numbers_follow_each_other,
        sequences.transaction_begins_at_its_first_record,
        sequences.replicas_have_all_records,
        sequences.number_begins_again_amid_a_batch,
    ),
    bounds={"offsets": 9, "max_sequence": 2},
    variants=versions.VARIANTS,
    source="ProducerAppendInfo.append; KAFKA-7692",
)
START_AFTER_A_CRASH = Scenario(
    name="log-start-after-a-crash",
    story="A broker stops, or crashes, and starts again; it reads a log to know its producers.",
    state=SegmentedLog,
    actions=(
        start_reads.roll,
        start_reads.flush,
        start_reads.write_checkpoint,
        start_reads.stop,
        start_reads.crash,
        start_reads.start,
    ),
    properties=(
        starts.start_reads_what_was_not_flushed,
        starts.start_needs_what_was_not_flushed,
        starts.checkpoint_is_of_what_is_flushed,
        starts.log_grows_as_it_is_filled,
        starts.stopped_log_is_flushed,
        starts.log_is_flushed_while_it_is_up,
        starts.old_snapshots_go,
        starts.start_reads_from_the_last_snapshot,
        starts.recovery_writes_snapshots,
        starts.log_is_full,
    ),
    bounds={"last_place": 3, "swaps": 0, "old_format": 0},
    variants=versions.VARIANTS,
    source="Log.loadProducerState; KAFKA-5829",
)
START_AMID_A_SWAP = START_AFTER_A_CRASH.varied(
    name="log-start-amid-a-swap",
    story="The same, after the cleaner was stopped as it replaced the first segment.",
    actions=actions_of(start_reads),
    properties=(*START_AFTER_A_CRASH.properties, starts.swap_is_of_a_stopped_broker),
    bounds={"last_place": 3, "swaps": 1, "old_format": 0},
    source="LogLoader.load; KAFKA-12520",
)
START_AFTER_AN_UPGRADE = START_AFTER_A_CRASH.varied(
    name="log-start-after-an-upgrade",
    story="A broker starts with a release that knows producers; its topic has the message format of before.",
    properties=(
        starts.start_reads_what_was_not_flushed,
        starts.start_needs_what_was_not_flushed,
        starts.checkpoint_is_of_what_is_flushed,
        starts.log_grows_as_it_is_filled,
        starts.stopped_log_is_flushed,
    ),
    initial=start_reads.was_upgraded_amid_a_crash,
    bounds={"last_place": 3, "swaps": 0, "old_format": 1},
    source="Log.rebuildProducerState; KAFKA-7076",
)
FORGOTTEN_PRODUCER = Scenario(
    name="log-forgotten-producer",
    story="Records of a transactional producer are deleted before its transaction ends, and it goes on.",
    state=ForgottenProducer,
    actions=(sequence_reset.produce, sequence_reset.delete_records, sequence_reset.end_transaction),
    properties=(
        resets.producer_outlives_a_deletion,
        resets.batch_is_appended_in_a_transaction,
        resets.deletion_is_of_what_a_log_keeps,
        resets.marker_ends_a_transaction,
        resets.producer_is_known_by_what_it_sent,
        resets.transaction_ends_without_records,
    ),
    bounds={},
    variants={r: flags for r, flags in versions.VARIANTS.items() if not r.startswith("0.")},
    source="ProducerAppendInfo.checkSequence; KAFKA-7298",
)
NEW_PARTITION = FORGOTTEN_PRODUCER.varied(
    name="log-of-a-new-partition",
    story="An idempotent producer sends several requests to a partition that is being created.",
    state=NewPartition,
    actions=(
        sequence_reset.host_partition,
        sequence_reset.send_first,
        sequence_reset.send_second,
        sequence_reset.handle_first,
        sequence_reset.handle_second,
    ),
    properties=(
        resets.no_batch_is_passed,
        resets.answered_batch_was_sent,
        resets.second_batch_was_sent,
        resets.partition_is_hosted_by_itself,
        resets.both_batches_are_appended,
        resets.both_batches_are_on_their_way,
    ),
    source="ProducerAppendInfo.checkSequence; KAFKA-15591",
)
CLEANED_FORMATS = Scenario(
    name="log-cleaned-formats",
    story="A compacted topic gets another message format, and sets of the earlier one are cleaned.",
    state=FormattedSet,
    actions=actions_of(cleaner_formats),
    properties=(
        formats.cleaner_has_room_for_a_set,
        formats.set_has_one_format,
        formats.cleaning_keeps_the_format,
        formats.set_begins_with_the_topics_format,
        formats.old_message_is_alone_in_a_new_topic,
    ),
    bounds={"messages": 2},
    variants={release: versions.VARIANTS[release] for release in ("0.10.2", "0.10.0", "0.10.1")},
    source="Cleaner.cleanInto; KAFKA-3915, KAFKA-4298",
)
STOP_OF_TWO_DIRECTORIES = Scenario(
    name="log-stop-of-two-directories",
    story="A broker is stopped, and the logs of one of its directories cannot be closed.",
    state=StoppingDirectories,
    actions=(directories_stop.close_logs, directories_stop.fail_to_close, directories_stop.finish_directory),
    properties=(
        stops.closed_directory_is_clean,
        stops.stop_of_directories_ends,
        stops.directory_becomes_clean_in_turn,
        stops.logs_are_closed_once,
        stops.second_directory_fails,
    ),
    bounds={"directories": 2},
    variants=versions.VARIANTS,
    source="LogManager.shutdown; KAFKA-10723",
)
STOP_WITH_A_FULL_DISK = STOP_OF_TWO_DIRECTORIES.varied(
    name="log-stop-with-a-full-disk",
    story="A broker is stopped, and the disk of one of its directories has no room for an index that is closed.",
    actions=(directories_stop.close_logs, directories_stop.fail_to_trim, directories_stop.finish_directory),
    properties=(
        stops.untrimmed_index_is_recovered,
        stops.stop_of_directories_ends,
        stops.directory_becomes_clean_in_turn,
        stops.logs_are_closed_once,
    ),
    source="LogSegment.close; KAFKA-19221",
)
LOG_AND_ITS_TASK = Scenario(
    name="log-and-its-task",
    story="A log is created, and deleted.",
    state=ScheduledLog,
    actions=actions_of(log_tasks),
    properties=(tasks.deleted_log_has_no_task, tasks.loaded_log_has_its_task, tasks.log_is_scheduled),
    variants=versions.VARIANTS,
    source="Log.delete; KAFKA-8448, KAFKA-9265",
)
RECEIVED_BATCHES = Scenario(
    name="log-received-batches",
    story="Producers send batches with faults, of earlier formats, and in zstd amid an upgrade.",
    state=ReceivingLog,
    actions=tuple(one for one in actions_of(received_batches) if one is not received_batches.send_damaged),
    properties=(
        batches.batch_has_a_record_for_each_offset,
        batches.earlier_batch_is_accepted,
        batches.followers_know_the_compression,
        batches.refused_producer_is_answered,
        batches.sound_batch_is_appended,
        batches.appended_batch_is_there,
        batches.protocol_is_raised,
        batches.forgotten_batches_are_gone,
        batches.zstd_is_appended,
        batches.zstd_is_forgotten,
        batches.zstd_is_early,
        batches.wrong_count_is_sent,
        batches.gaps_are_sent,
    ),
    variants=versions.BATCH_VARIANTS,
    source="LogValidator; KAFKA-6554, KAFKA-7549, KAFKA-7920, KAFKA-9669",
)
DAMAGED_MESSAGE = RECEIVED_BATCHES.varied(
    name="log-damaged-message",
    story="A producer sends what another log had, with a damaged message.",
    actions=(received_batches.send_sound, received_batches.send_damaged),
    properties=(
        batches.appended_messages_are_sound,
        batches.sound_batch_is_appended,
        batches.damaged_message_is_sent,
    ),
    variants=versions.VARIANTS,
    source="LogValidator; KAFKA-8722",
)
FILE_THAT_IS_READ = Scenario(
    name="log-file-that-is-read",
    story="A file of any size is read, of which a read may give a part.",
    state=ReadFile,
    actions=(file_reads.write_batch, file_reads.read_batch),
    properties=(
        reads.file_is_read_to_its_end,
        reads.reading_does_not_fail,
        reads.batches_are_read_in_order,
        reads.largest_file_is_read,
        reads.empty_file_is_read,
    ),
    bounds={"file_batches": 2, "file_max": 2},
    variants=versions.VARIANTS,
    source="FileLogInputStream; KAFKA-4576, KAFKA-6292",
)
FULL_MAP = Scenario(
    name="log-full-map",
    story="The cleaner fills its map, and looks up keys that it has not.",
    state=CleanerMap,
    actions=(file_reads.put_key, file_reads.look_up_absent),
    properties=(
        reads.lookup_in_a_map_ends,
        reads.map_has_room,
        reads.answer_stays,
        reads.full_map_is_asked,
        reads.empty_map_is_asked,
    ),
    bounds={"slots": 2, "known_keys": 2},
    variants=versions.VARIANTS,
    source="SkimpyOffsetMap; KAFKA-3682",
)
CONVERTED_BATCHES = Scenario(
    name="log-converted-batches",
    story="Batches of two message formats are converted for a consumer of before 0.11.",
    state=ConvertedLog,
    actions=actions_of(down_conversion),
    properties=(
        conversions.headers_are_left_out,
        conversions.converted_batches_have_room,
        conversions.batches_are_written_in_order,
        conversions.fetch_has_an_end,
        conversions.headers_are_read,
        conversions.log_has_no_headers,
        conversions.formats_are_mixed,
    ),
    variants={r: flags for r, flags in versions.VARIANTS.items() if not r.startswith("0.10")},
    source="RecordsUtil.downConvert; KAFKA-6739, KAFKA-8570",
)
CLEANER_CHECKPOINT = Scenario(
    name="log-cleaner-checkpoint",
    story="Clients delete records of a compacted log, at which the cleaner looks, and which it cleans or not.",
    state=CheckedLog,
    actions=actions_of(cleaner_checkpoint),
    properties=(
        checkpoints.wrong_checkpoint_is_corrected,
        checkpoints.checkpoint_is_within_the_log,
        checkpoints.complaint_is_of_a_wrong_checkpoint,
        checkpoints.start_of_the_log_rises,
        checkpoints.cleaner_complains_again,
    ),
    bounds={"deleted_records": 2},
    variants=versions.VARIANTS,
    source="LogCleanerManager.cleanableOffsets; KAFKA-6266",
)
ADDED_TIME_INDEXES = Scenario(
    name="log-added-time-indexes",
    story="A broker starts with a log of before 0.10.1, and stops.",
    state=UpgradedLog,
    actions=(added_time_index.add_time_indexes, added_time_index.stop_upgraded),
    initial=added_time_index.ends_with_the_last,
    properties=(
        added.closed_segment_has_a_small_index,
        added.active_segment_has_room,
        added.segment_of_a_running_broker_has_an_index,
        added.segments_stay,
    ),
    bounds={"upgraded": 2},
    variants={r: flags for r, flags in versions.VARIANTS.items() if r != "0.10.0"},
    source="Log.loadSegments; KAFKA-4734",
)
RECORDS_WITHOUT_TIME = Scenario(
    name="log-records-without-time",
    story="Producers of before 0.10 and later ones send to one topic, whose records get old.",
    state=MixedSegment,
    actions=(
        added_time_index.send_timed,
        added_time_index.send_untimed,
        added_time_index.pass_time,
        added_time_index.delete_mixed,
    ),
    properties=(
        added.young_record_without_time_is_kept,
        added.young_record_with_time_is_kept,
        added.old_mixed_segment_goes,
        added.record_is_appended_now,
        added.untimed_segment_goes,
    ),
    bounds={"times": 3, "retention_ms": 1},
    variants=versions.VARIANTS,
    source="LogSegment.largestTimestamp; KIP-33, KAFKA-5155",
)
TIERED = Scenario(
    name="log-tiered",
    story="A part of a log is in a remote store; clients delete records, records get old, and the broker restarts.",
    state=TieredLog,
    actions=actions_of(tiered_log),
    properties=(
        tiers.start_of_a_tiered_log_stays,
        tiers.deleted_segment_goes,
        tiers.old_record_goes,
        tiers.record_is_somewhere,
        tiers.segments_are_copied_in_order,
        tiers.segments_go_one_by_one,
        tiers.records_are_appended_and_age,
        tiers.start_moves_alone,
        tiers.log_is_remote_only,
    ),
    bounds={"offsets": 3},
    variants=versions.TIERED_VARIANTS,
    source="KIP-405; KAFKA-15047, KAFKA-16146, PR-14905",
)
SCENARIOS = (
    TIERED,
    CLEANER_CHECKPOINT,
    ADDED_TIME_INDEXES,
    RECORDS_WITHOUT_TIME,
    CONVERTED_BATCHES,
    STOP_OF_TWO_DIRECTORIES,
    STOP_WITH_A_FULL_DISK,
    LOG_AND_ITS_TASK,
    RECEIVED_BATCHES,
    DAMAGED_MESSAGE,
    FILE_THAT_IS_READ,
    FULL_MAP,
    CLEANED_FORMATS,
    FETCH_AMID_AN_APPEND,
    LOOKUP_AMID_CHANGES,
    STARTS_AMID_A_TRUNCATION,
    FETCH_FROM_A_NEW_LEADER,
    INDEX_OF_TWO_READERS,
    LARGEST_TIME_OF_TWO_READERS,
    ABOVE_2_GIB,
    ABOVE_2_GIB_COMPACTED,
    WRAPPED_SEQUENCES,
    FORGOTTEN_PRODUCER,
    NEW_PARTITION,
    START_AFTER_A_CRASH,
    START_AMID_A_SWAP,
    START_AFTER_AN_UPGRADE,
)
"""The scenarios, which `storage` adds to its own."""
