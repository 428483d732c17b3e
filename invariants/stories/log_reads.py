"""The scenarios of a log that several threads read, of what a start reads, and of numbers that overflow."""

from __future__ import annotations

from kwalk.invariants import fetch_session as sessions
from kwalk.invariants import fetcher_endpoint as endpoints
from kwalk.invariants import lazy_index as indexes
from kwalk.invariants import log_readers as readers
from kwalk.invariants import log_sizes as sizes
from kwalk.invariants import read_replica as replicas
from kwalk.invariants import request_buffers as buffers
from kwalk.invariants import request_timer as timers
from kwalk.invariants import sequence_reset as resets
from kwalk.invariants import start_reads as starts
from kwalk.invariants import wrapped_sequences as sequences
from kwalk.model.kafka.storage import (
    fetch_session,
    fetcher_endpoint,
    lazy_index,
    log_readers,
    log_sizes,
    read_replica,
    request_buffers,
    request_timer,
    sequence_reset,
    start_reads,
    versions,
    wrapped_sequences,
)
from kwalk.model.kafka.storage.fetch_session import FetchSession
from kwalk.model.kafka.storage.fetcher_endpoint import FetcherEndpoint
from kwalk.model.kafka.storage.lazy_index import LazyIndex
from kwalk.model.kafka.storage.log_readers import ReadLog
from kwalk.model.kafka.storage.log_sizes import LogSizes
from kwalk.model.kafka.storage.read_replica import ReadReplica
from kwalk.model.kafka.storage.request_buffers import RequestBuffers
from kwalk.model.kafka.storage.request_timer import RequestTimer
from kwalk.model.kafka.storage.sequence_reset import ForgottenProducer
from kwalk.model.kafka.storage.start_reads import SegmentedLog
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
    actions=actions_of(lazy_index),
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
CONSUMER_OF_FOLLOWERS = Scenario(
    name="consumer-of-followers",
    story="A consumer is sent to a follower near to it, while followers leave the ISR and join it.",
    state=ReadReplica,
    actions=actions_of(read_replica),
    properties=(
        replicas.chosen_replica_is_in_sync,
        replicas.leader_chooses_the_replica,
        replicas.isr_changes_by_itself,
        replicas.consumer_reads_from_a_replica_that_lags,
    ),
    bounds={"followers": 2},
    variants=versions.FOLLOWER_FETCH_VARIANTS,
    source="KIP-392; KAFKA-13778, KAFKA-14372",
)
FETCH_OF_TWO_PARTITIONS = Scenario(
    name="fetch-of-two-partitions",
    story="A client fetches two partitions, while records are produced to both.",
    state=FetchSession,
    actions=(fetch_session.produce, fetch_session.fetch),
    properties=(
        sessions.partition_waits_for_one_response,
        sessions.fetch_gets_records_of_one,
        sessions.records_are_news,
        sessions.wait_is_for_records,
        sessions.partition_waits,
    ),
    bounds={"fetched": 2, "fetches": 4, "epochs": 0},
    variants=versions.VARIANTS,
    source="FetchSession; KIP-227, KAFKA-12330",
)
FETCH_WITH_AN_OLD_EPOCH = FETCH_OF_TWO_PARTITIONS.varied(
    name="fetch-with-an-old-epoch",
    story="A client fetches two partitions, whose leader is elected again.",
    actions=(fetch_session.produce, fetch_session.elect, fetch_session.fetch),
    properties=(
        sessions.old_epoch_is_fenced,
        sessions.fetch_gets_records_of_one,
        sessions.records_are_news,
        sessions.leader_is_elected_for_one_epoch,
    ),
    bounds={"fetched": 2, "fetches": 2, "epochs": 2},
    source="FetchSession; KIP-320, KAFKA-9338",
)
FETCH_OF_A_LOST_REPLICA = FETCH_OF_TWO_PARTITIONS.varied(
    name="fetch-of-a-lost-replica",
    story="A broker fetches two partitions, of one of which it is no replica any more.",
    actions=(fetch_session.produce, fetch_session.reassign, fetch_session.fetch),
    properties=(
        sessions.fetch_outlives_a_partition,
        sessions.fetch_gets_records_of_one,
        sessions.records_are_news,
        sessions.replica_is_taken_away_once,
    ),
    bounds={"fetched": 2, "fetches": 2, "epochs": 0},
    source="ReplicaManager.updateFollowerLogReadResults; KAFKA-5758",
)
APPEND_IN_ANOTHER_THREAD = Scenario(
    name="append-in-another-thread",
    story="An append waits until its transaction is verified, and goes on in another thread.",
    state=RequestBuffers,
    actions=actions_of(request_buffers),
    properties=(
        buffers.buffers_are_used_by_one_request,
        buffers.append_goes_on_when_it_is_verified,
        buffers.thread_handles_one_request,
        buffers.append_comes_to_a_thread_that_waits,
        buffers.append_goes_on_in_another_thread,
    ),
    bounds={"handlers": 2},
    variants=versions.BUFFER_VARIANTS,
    source="KafkaRequestHandler; KIP-890, KAFKA-15653",
)
FETCHER_OF_A_MOVED_LEADER = Scenario(
    name="fetcher-of-a-moved-leader",
    story="A leader starts again with another port.",
    state=FetcherEndpoint,
    actions=actions_of(fetcher_endpoint),
    properties=(
        endpoints.follower_has_a_fetcher,
        endpoints.fetcher_is_of_the_port,
        endpoints.leader_has_another_port,
    ),
    bounds={"ports": 2},
    variants=versions.VARIANTS,
    source="AbstractFetcherManager.addFetcherForPartitions; KAFKA-4811",
)
REQUEST_AND_A_CLOCK = Scenario(
    name="request-and-a-clock",
    story="A request waits for its timeout on a machine whose clock is set back.",
    state=RequestTimer,
    actions=actions_of(request_timer),
    properties=(
        timers.request_waits_for_its_time,
        timers.request_is_answered_in_time,
        timers.time_passes,
        timers.request_is_answered_after_all,
    ),
    bounds={"duration": 2, "set_backs": 1},
    variants=versions.VARIANTS,
    source="SystemTimer; KAFKA-4051",
)
FORGOTTEN_PRODUCER = Scenario(
    name="log-forgotten-producer",
    story="Records of a transactional producer are deleted before its transaction ends, and it goes on.",
    state=ForgottenProducer,
    actions=actions_of(sequence_reset),
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
SCENARIOS = (
    FETCH_AMID_AN_APPEND,
    LOOKUP_AMID_CHANGES,
    FETCH_FROM_A_NEW_LEADER,
    INDEX_OF_TWO_READERS,
    ABOVE_2_GIB,
    ABOVE_2_GIB_COMPACTED,
    WRAPPED_SEQUENCES,
    FORGOTTEN_PRODUCER,
    START_AFTER_A_CRASH,
    START_AMID_A_SWAP,
    START_AFTER_AN_UPGRADE,
    CONSUMER_OF_FOLLOWERS,
    FETCH_OF_TWO_PARTITIONS,
    FETCH_WITH_AN_OLD_EPOCH,
    FETCH_OF_A_LOST_REPLICA,
    APPEND_IN_ANOTHER_THREAD,
    FETCHER_OF_A_MOVED_LEADER,
    REQUEST_AND_A_CLOCK,
)
"""The scenarios, which `storage` adds to its own."""
