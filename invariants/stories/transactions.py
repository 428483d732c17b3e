"""Stories about coordinators of transactions."""

from __future__ import annotations

from kwalk.invariants import transaction_coordinators as coordinators
from kwalk.invariants import transaction_managers as managers
from kwalk.model.kafka.clients import transaction_manager as manager
from kwalk.model.kafka.server import transaction_coordinator as coordinator
from kwalk.model.kafka.server import versions
from kwalk.model.kafka.server.transaction_coordinator import (
    FencedId,
    MovedTransactions,
    NewProducer,
    TimedOutTransaction,
    TransactionalId,
)
from kwalk.model.language import Scenario

VARIANTS = {release: flags for release, flags in versions.VARIANTS.items() if not release.startswith("0.10")}
"""Those that have transactions (KIP-98, 0.11)."""
ENDED_BY_SESSIONS = {release: flags for release, flags in VARIANTS.items() if not release.startswith(("0.11", "1.0"))}
"""Those whose requests to ZooKeeper fail as the session expires: ZkClient, up to 1.0, sends them again."""

TRANSACTIONAL_ID = Scenario(
    name="transactional-id",
    story="A producer starts, and has transactions; `__transaction_state` may have too few replicas meanwhile.",
    state=TransactionalId,
    actions=(
        coordinator.start_producer,
        coordinator.add_first_partition,
        coordinator.end_by_request,
        coordinator.leave_unused_id,
        coordinator.expire_id,
        coordinator.set_clock_back,
        coordinator.replicate_record,
        coordinator.replicate_beside_a_thread,
        coordinator.refuse_record,
        coordinator.send_marker,
        coordinator.write_marker,
        coordinator.answer_disk_error,
    ),
    properties=(
        coordinators.transactional_id_can_be_used,
        coordinators.prepared_transaction_is_completed,
        coordinators.other_ids_expire,
        coordinators.phase_follows_a_record,
        coordinators.record_is_appended_in_turn,
        coordinators.marker_moves_in_turn,
        coordinators.transition_ends_with_its_record,
        coordinators.epoch_goes_with_the_id,
        coordinators.clock_is_set_at_rest,
        coordinators.id_expires_or_the_task_fails,
        coordinators.id_expires,
        coordinators.id_starts_again,
        coordinators.id_is_unused,
        coordinators.transaction_begins_earlier,
        coordinators.marker_is_sent_again,
    ),
    variants=VARIANTS,
    source="TransactionStateManager.appendTransactionToLog; KAFKA-7519, KAFKA-6131, KAFKA-14880",
)
MANY_TRANSACTIONAL_IDS = TRANSACTIONAL_ID.varied(
    name="many-transactional-ids",
    story="A producer starts, and has transactions; more ids than fit into a batch are to expire at a time.",
    actions=(*TRANSACTIONAL_ID.actions, coordinator.expire_many_ids),
    properties=tuple(
        prop for prop in TRANSACTIONAL_ID.properties if prop is not coordinators.id_expires_or_the_task_fails
    ),
    source="TransactionStateManager.enableTransactionalIdExpiration; KAFKA-13099",
)
TRANSACTIONS_OF_A_MOVED_COORDINATOR = Scenario(
    name="transactions-of-a-moved-coordinator",
    story="A partition of `__transaction_state` moves to another broker and back, while a transaction ends.",
    state=MovedTransactions,
    actions=(
        coordinator.prepare_end,
        coordinator.move_transactions_away,
        coordinator.move_transactions_back,
        coordinator.answer_marker,
        coordinator.answer_old_marker,
    ),
    properties=(
        coordinators.coordinator_ends_to_load,
        coordinators.loaded_transaction_is_completed,
        coordinators.completion_follows_an_answer,
        coordinators.coordinator_moves_apart,
        coordinators.marker_is_answered_once,
        coordinators.failed_load_follows_a_move,
        coordinators.old_answer_comes_late,
        coordinators.moved_transaction_ends,
    ),
    variants=VARIANTS,
    source="TransactionCoordinator.onElection, onResignation; KAFKA-9307, KAFKA-16352",
)
TRANSACTIONS_LOADED_AMID_A_SESSION = TRANSACTIONS_OF_A_MOVED_COORDINATOR.varied(
    name="transactions-loaded-amid-a-session",
    story="The same, and the session of the coordinator may expire as it loads.",
    actions=(*TRANSACTIONS_OF_A_MOVED_COORDINATOR.actions, coordinator.load_amid_a_session),
    properties=tuple(
        prop
        for prop in TRANSACTIONS_OF_A_MOVED_COORDINATOR.properties
        if prop is not coordinators.coordinator_moves_apart
    ),
    variants=ENDED_BY_SESSIONS,
    source="TransactionStateManager.validateTransactionTopicPartitionCountIsStable",
)
FENCES_THAT_FAIL = Scenario(
    name="fences-that-fail",
    story="A producer is to be fenced, while `__transaction_state` has too few replicas.",
    state=FencedId,
    actions=(coordinator.fence_producer, coordinator.replicate_fence, coordinator.refuse_fence),
    properties=(
        coordinators.epoch_rises_once,
        coordinators.epoch_is_written_when_it_rises,
        coordinators.fence_has_one_end,
        coordinators.fence_is_tried_again,
        coordinators.producer_is_fenced,
    ),
    bounds={"fences": 2},
    variants=VARIANTS,
    source="TransactionMetadata.prepareFenceProducerEpoch; KAFKA-9666",
)
TRANSACTION_THAT_TIMES_OUT = Scenario(
    name="transaction-that-times-out",
    story="A coordinator aborts a transaction after its timeout, and its producer goes on.",
    state=TimedOutTransaction,
    actions=(coordinator.write_to_a_partition, coordinator.abort_after_timeout, coordinator.commit_open_transaction),
    properties=(
        coordinators.committed_transaction_is_whole,
        coordinators.open_transaction_ends,
        coordinators.transaction_begins_before_its_end,
        coordinators.transaction_is_aborted_after_its_timeout,
        coordinators.transaction_is_committed_in_time,
    ),
    variants=VARIANTS,
    source="TransactionCoordinator.abortTimedOutTransactions; KAFKA-6119",
)
PRODUCER_IDS_FROM_THE_CONTROLLER = Scenario(
    name="producer-ids-from-the-controller",
    story="A producer starts while there is no controller, or is one.",
    state=NewProducer,
    actions=(
        coordinator.change_controller,
        coordinator.ask_for_an_id,
        coordinator.give_an_id,
        coordinator.miss_the_ids,
    ),
    properties=(
        coordinators.new_producer_waits_for_its_id,
        coordinators.answer_follows_a_request,
        coordinators.producer_gets_an_id_at_last,
        coordinators.producer_is_answered_without_a_controller,
    ),
    variants={release: versions.PRODUCER_ID_VARIANTS[release] for release in ("3.9.0", "3.7.0", "3.3.1")},
    source="RPCProducerIdManager.generateProducerId; KAFKA-14417",
)
REFUSED_RECORD = Scenario(
    name="transaction-with-a-refused-record",
    story="A producer refuses a record of its transaction at once, and its application commits.",
    state=manager.SentTransaction,
    actions=(
        manager.refuse_record_at_once,
        manager.expire_sent_batch,
        manager.commit_sent_transaction,
        manager.abort_sent_transaction,
        manager.begin_next_transaction,
    ),
    properties=(
        managers.committed_transaction_has_all_records,
        managers.transaction_ends_in_turn,
        managers.failed_transaction_is_aborted,
        managers.whole_transaction_is_committed,
    ),
    variants=VARIANTS,
    source="KafkaProducer.doSend; KAFKA-9279",
)
REPEATED_CALL = Scenario(
    name="call-that-is-repeated",
    story="An application calls initTransactions or commitTransaction again after a timeout.",
    state=manager.RepeatedCall,
    actions=(
        manager.call_init,
        manager.begin_after_calls,
        manager.call_commit,
        manager.answer_call,
        manager.end_call_in_time,
        manager.repeat_call,
    ),
    properties=(
        managers.repeated_call_returns,
        managers.call_ends_in_turn,
        managers.manager_follows_calls,
        managers.commit_is_answered_late,
        managers.commit_times_out,
    ),
    variants={r: VARIANTS[r] for r in ("2.8.2", "2.3.1", "2.5", "2.7", "3.7.0", "3.9.0")},
    source="TransactionManager.handleCachedTransactionRequestResult; KAFKA-13412",
)
CLOSED_PRODUCER = Scenario(
    name="producer-that-closes",
    story="A producer is closed, perhaps while no broker answers, or with a transaction.",
    state=manager.ClosedProducer,
    actions=(
        manager.lose_or_find_brokers,
        manager.wait_for_an_id,
        manager.look_for_a_coordinator,
        manager.end_wait,
        manager.hold_transaction,
        manager.fail_held_transaction,
        manager.close_producer,
        manager.force_close,
        manager.look_at_a_forced_close,
        manager.end_by_force,
        manager.end_sender,
        manager.abort_at_a_close,
    ),
    properties=(
        managers.forced_close_is_heeded,
        managers.close_goes_on,
        managers.closed_producer_has_no_transaction,
        managers.closed_producer_has_no_connections,
        managers.close_goes_in_turn,
        managers.held_transaction_follows_its_producer,
        managers.sender_waits_for_brokers,
        managers.forced_close_leaves_a_transaction,
        managers.brokers_come_back,
        managers.commit_is_left_unanswered,
        managers.closed_producer_waited,
        managers.close_waits_for_an_id,
    ),
    variants=VARIANTS | {"3.5.2": versions.FLAGS.variant_of("3.5.2")},
    source="Sender.run; KAFKA-5503, KAFKA-6446, KAFKA-6635, KAFKA-16217",
)
OFFSETS_AMID_A_LOAD = Scenario(
    name="offsets-of-a-transaction-amid-a-load",
    story="A producer sends offsets of a group, whose coordinator is loading it.",
    state=manager.OffsetsOfATransaction,
    actions=(manager.move_group, manager.end_load, manager.send_offsets, manager.answer_offsets),
    properties=(
        managers.producer_outlives_a_load,
        managers.offsets_are_taken_by_an_answer,
        managers.load_is_a_step_of_its_own,
        managers.offsets_wait,
    ),
    variants=VARIANTS,
    source="TxnOffsetCommitHandler.handleResponse; KAFKA-7296",
)
ONE_REQUEST = Scenario(
    name="sender-with-one-request",
    story="A producer may have one request in flight, and knows one broker.",
    state=manager.SenderTurns,
    actions=(
        manager.queue_request,
        manager.ask_for_metadata,
        manager.answer_in_flight,
        manager.poll_for_answers,
        manager.look_for_a_node,
    ),
    properties=(
        managers.sender_reads_answers,
        managers.request_is_answered_first,
        managers.queued_request_waits,
        managers.request_is_queued_amid_another,
    ),
    variants=VARIANTS,
    source="Sender.maybeSendAndPollTransactionalRequest; KAFKA-10520",
)
NUMBERED_PARTITIONS = Scenario(
    name="partitions-of-an-idempotent-producer",
    story="An idempotent producer gives up a batch, and raises its epoch.",
    state=manager.NumberedPartitions,
    actions=(manager.send_numbered_batch, manager.raise_epoch),
    properties=(
        managers.first_batch_of_an_epoch_is_taken,
        managers.producer_outlives_its_numbers,
        managers.logged_epoch_is_the_producers,
        managers.numbers_go_on,
        managers.number_follows_the_highest,
        managers.numbers_rise,
        managers.both_partitions_have_the_epoch,
    ),
    bounds={"numbered_partitions": 2, "bumps": 2, "numbers": 2},
    variants={r: VARIANTS[r] for r in ("2.8.2", "2.0", "2.3.1", "2.5", "2.7", "3.7.0", "3.9.0")},
    source="TransactionManager.bumpIdempotentProducerEpoch (KIP-360); KAFKA-12152",
)
THROTTLED_PRODUCER = Scenario(
    name="throttled-producer",
    story="A transactional producer is throttled by a quota.",
    state=manager.ThrottledSender,
    actions=(
        manager.change_throttle,
        manager.queue_for_the_coordinator,
        manager.begin_to_send,
        manager.send_after_a_wait,
    ),
    properties=(
        managers.request_outlives_a_throttle,
        managers.request_is_sent_in_turn,
        managers.throttle_begins_amid_a_wait,
        managers.request_waits_for_a_throttle,
    ),
    variants=VARIANTS,
    source="Sender.maybeSendTransactionalRequest; KAFKA-8248",
)
RENUMBERED_BATCHES = Scenario(
    name="batches-that-are-renumbered",
    story="A log has forgotten an idempotent producer, which has three batches in flight.",
    state=manager.BatchesInFlight,
    actions=(manager.renumber_batches, manager.append_in_sequence),
    initial=manager.sent_in_turn,
    properties=(
        managers.batches_keep_their_order,
        managers.batch_is_appended_by_its_number,
        managers.all_batches_are_appended,
    ),
    bounds={"batches_in_flight": 3},
    variants={r: VARIANTS[r] for r in ("2.8.2", "1.0", "2.0", "2.3.1", "3.7.0", "3.9.0")},
    source="TransactionManager.startSequencesAtBeginning; KAFKA-8483",
)

SCENARIOS = (
    TRANSACTIONAL_ID,
    MANY_TRANSACTIONAL_IDS,
    TRANSACTIONS_OF_A_MOVED_COORDINATOR,
    TRANSACTIONS_LOADED_AMID_A_SESSION,
    FENCES_THAT_FAIL,
    TRANSACTION_THAT_TIMES_OUT,
    PRODUCER_IDS_FROM_THE_CONTROLLER,
    REFUSED_RECORD,
    REPEATED_CALL,
    CLOSED_PRODUCER,
    OFFSETS_AMID_A_LOAD,
    ONE_REQUEST,
    NUMBERED_PARTITIONS,
    THROTTLED_PRODUCER,
    RENUMBERED_BATCHES,
)
