"""Stories about producers' batches, what consumers fetch, and which leaders clients know."""

from __future__ import annotations

from kwalk.invariants import client_metadata
from kwalk.invariants import consumer_fetchers as fetchers
from kwalk.invariants import record_accumulators as accumulators
from kwalk.model.kafka.clients import fetcher, metadata, record_accumulator
from kwalk.model.kafka.groups import versions as group_versions
from kwalk.model.kafka.server.versions import FLAGS, METADATA_VARIANTS, VARIANTS
from kwalk.model.language import Scenario

SEND_AMID_A_CLOSE = Scenario(
    name="send-amid-a-close",
    story="One thread of an application closes its producer while another one sends a record.",
    state=record_accumulator.SendAmidAClose,
    actions=(
        record_accumulator.begin_send,
        record_accumulator.get_metadata,
        record_accumulator.get_memory,
        record_accumulator.append_to_batch,
        record_accumulator.complete_send,
        record_accumulator.begin_to_close,
        record_accumulator.go_on_to_close,
        record_accumulator.end_of_sender,
    ),
    properties=(
        accumulators.sent_record_is_answered,
        accumulators.send_ends_with_its_producer,
        accumulators.send_goes_in_turn,
        accumulators.producer_closes_in_turn,
        accumulators.sender_ends_at_rest,
        accumulators.record_is_sent_amid_a_close,
        accumulators.send_is_refused,
        accumulators.closed_producer_has_ended,
    ),
    variants=VARIANTS,
    source="Sender.initiateClose; KAFKA-4235, KAFKA-6897, KAFKA-9449",
)
SPLIT_BATCH = Scenario(
    name="batch-that-is-split",
    story="A compressed batch is larger than its producer had estimated, and an application waits for a record of it.",
    state=record_accumulator.SplitBatch,
    actions=(
        record_accumulator.send_batch,
        record_accumulator.split_batch,
        record_accumulator.append_batch,
        record_accumulator.get_future,
        record_accumulator.pass_timeout,
    ),
    properties=(
        accumulators.split_records_keep_their_headers,
        accumulators.get_waits_its_time,
        accumulators.batch_goes_in_turn,
        accumulators.get_returns_with_the_record,
        accumulators.split_batch_is_waited_for,
        accumulators.get_ends_before_the_batch_is_written,
    ),
    variants={r: VARIANTS[r] for r in ("2.8.2", "0.11.0.0", "1.0", "2.0", "2.3.1", "3.9.0")},
    source="ProducerBatch.split (KIP-126); KAFKA-5700, KAFKA-7518",
)
ONE_REQUEST_OF_TWO = Scenario(
    name="partitions-of-one-request",
    story="A request has room for a batch of one of two partitions, and both have full batches all the time.",
    state=record_accumulator.DrainedPartitions,
    actions=(record_accumulator.drain_two_partitions, record_accumulator.drain_one_partition),
    properties=(
        accumulators.partition_has_its_turn,
        accumulators.request_has_a_batch,
        accumulators.second_partition_waits,
    ),
    bounds={"drained_partitions": 2},
    variants=VARIANTS | {"3.3.1": FLAGS.variant_of("3.3.1")},
    source="RecordAccumulator.drainBatchesForOneNode; KAFKA-13834",
)
UNREADABLE_RECORD = Scenario(
    name="poll-at-an-unreadable-record",
    story="A consumer reads two partitions, and cannot deserialize a record of one of them for a while.",
    state=fetcher.PolledPartitions,
    actions=(fetcher.change_deserializer, fetcher.poll_partitions),
    properties=(
        fetchers.no_record_is_skipped,
        fetchers.unreadable_record_is_told,
        fetchers.record_is_returned_once,
        fetchers.poll_reads_what_is_readable,
        fetchers.deserializer_changes_by_itself,
        fetchers.poll_fails_at_the_record,
        fetchers.poll_fails_beside_records,
        fetchers.all_records_are_returned,
    ),
    bounds={"polled_partitions": 2},
    variants=VARIANTS | {r: FLAGS.variant_of(r) for r in ("0.10.0.0", "0.10.0.1", "0.10.2.1")},
    source="Fetcher.fetchedRecords; KAFKA-3977, KAFKA-5075, KAFKA-5630",
)
SEEK_AMID_A_RESET = Scenario(
    name="seek-amid-a-reset",
    story="A consumer seeks to the end of a partition while its heartbeat thread handles an earlier answer.",
    state=fetcher.SoughtPosition,
    actions=(fetcher.seek_to_end, fetcher.look_at_reset, fetcher.set_looked_at),
    properties=(
        fetchers.position_is_where_it_was_sought,
        fetchers.position_is_found_once,
        fetchers.seek_asks_for_a_position,
        fetchers.answer_is_to_what_is_asked_for,
        fetchers.position_is_found_at_the_end,
        fetchers.position_is_found_at_the_beginning,
    ),
    variants=VARIANTS,
    source="Fetcher.resetOffsetIfNeeded; KAFKA-7703",
)
PAUSED_PARTITION = Scenario(
    name="position-of-a-paused-partition",
    story="A consumer seeks to the end of a paused partition, beside one whose position it does not know.",
    state=fetcher.PausedPosition,
    actions=(fetcher.pause_or_resume, fetcher.assign_another, fetcher.seek_paused, fetcher.ask_for_position),
    properties=(
        fetchers.paused_position_is_kept,
        fetchers.paused_position_is_asked_for,
        fetchers.paused_partition_has_a_position,
        fetchers.resumed_partition_has_a_position,
    ),
    variants=VARIANTS,
    source="Fetcher.updateFetchPositions; KAFKA-4547",
)
LOST_CONNECTION = Scenario(
    name="fetch-of-a-lost-connection",
    story="The heartbeat thread of a consumer learns that a connection is lost as the other thread sends a fetch.",
    state=fetcher.PendingFetch,
    actions=(fetcher.send_fetch, fetcher.add_listener, fetcher.end_fetch),
    properties=(
        fetchers.fetch_is_sent_again,
        fetchers.one_fetch_is_in_flight,
        fetchers.listener_is_added_once,
        fetchers.fetch_waits_for_its_answer,
    ),
    variants=VARIANTS | {"2.3.0": FLAGS.variant_of("2.3.0")},
    source="Fetcher.sendFetches; KAFKA-8950",
)
WITHOUT_A_LEADER = Scenario(
    name="poll-without-a-leader",
    story="A consumer begins to read two partitions, which may have no leader.",
    state=fetcher.SoughtPartitions,
    actions=(fetcher.change_leader, fetcher.poll_for_positions, fetcher.ask_for_partitions),
    properties=(
        fetchers.poll_reads_what_it_can,
        fetchers.all_partitions_are_told,
        fetchers.leader_tells_a_position,
        fetchers.leader_changes_by_itself,
        fetchers.positions_outlive_leaders,
    ),
    bounds={"polled_partitions": 2},
    variants=VARIANTS,
    source="KafkaConsumer.updateFetchPositions, partitionsFor; KAFKA-6397, KAFKA-6648",
)
NEW_LEADER = Scenario(
    name="offsets-of-a-new-leader",
    story="A consumer asks for the end of a partition whose leader has changed.",
    state=fetcher.LookedUpOffsets,
    actions=(fetcher.move_leader, fetcher.ask_for_offsets, fetcher.answer_offsets_of_leader),
    properties=(
        fetchers.call_finds_the_leader,
        fetchers.leader_answers_a_call,
        fetchers.new_leader_is_learned,
        fetchers.call_waits_for_a_new_leader,
    ),
    variants=VARIANTS,
    source="Fetcher.fetchOffsetsByTimes; KAFKA-9159, KAFKA-9535",
)
RECREATED_TOPIC = Scenario(
    name="client-of-a-recreated-topic",
    story="A topic is deleted and created again while a client uses it, or the state of its partition is removed.",
    state=metadata.ClientMetadata,
    actions=(
        metadata.create_client_topic,
        metadata.delete_client_topic,
        metadata.elect_leader_for_clients,
        metadata.remove_state_from_clients,
        metadata.ask_for_metadata_of_topic,
    ),
    properties=(
        client_metadata.client_knows_the_leader,
        client_metadata.client_knows_the_topic,
        client_metadata.answer_is_of_the_present,
        client_metadata.leader_epoch_rises_or_begins_again,
        client_metadata.later_epoch_was_seen_of_an_earlier_topic,
        client_metadata.later_broker_is_the_first_leader,
        client_metadata.client_knows_that_the_topic_is_gone,
    ),
    bounds={"possible_leaders": 2, "creations_of_a_topic": 2, "state_removals": 0, "last_leader_epoch": 2},
    variants=METADATA_VARIANTS,
    source="Metadata.updateLatestMetadata (KIP-320); KAFKA-12257, KAFKA-13488",
)
WOKEN_CALLBACK = Scenario(
    name="callback-that-is-woken",
    story="A consumer is woken in onPartitionsAssigned, in which its application seeks.",
    state=fetcher.WokenCallback,
    actions=(fetcher.wake_callback, fetcher.end_callback),
    properties=(
        fetchers.assigned_partition_is_named,
        fetchers.callback_ends_with_the_join,
        fetchers.callback_was_woken,
    ),
    variants={r: group_versions.VARIANTS[r] for r in ("2.8.2", "0.11.0.0", "2.0", "2.3", "2.4.1", "3.9.0")},
    source="ConsumerCoordinator.onJoinComplete (KIP-429)",
)

SCENARIOS = (
    SEND_AMID_A_CLOSE,
    SPLIT_BATCH,
    ONE_REQUEST_OF_TWO,
    UNREADABLE_RECORD,
    SEEK_AMID_A_RESET,
    PAUSED_PARTITION,
    LOST_CONNECTION,
    WITHOUT_A_LEADER,
    NEW_LEADER,
    RECREATED_TOPIC,
    WOKEN_CALLBACK,
)
