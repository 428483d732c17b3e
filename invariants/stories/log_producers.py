"""Stories about what a log knows of producers and their transactions."""

from __future__ import annotations

from kwalk.invariants import producer_state as producers
from kwalk.invariants import write_errors as failures
from kwalk.invariants.stories.log_compaction import COMPACTED_TRANSACTIONS
from kwalk.model.kafka.storage import producer_state, versions, write_errors
from kwalk.model.kafka.storage.producer_state import ProducerLog
from kwalk.model.kafka.storage.write_errors import FailingLog
from kwalk.model.language import Scenario, actions_of

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
