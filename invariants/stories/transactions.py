"""Stories about coordinators of transactions."""

from __future__ import annotations

from kwalk.invariants import transaction_coordinators as coordinators
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

SCENARIOS = (
    TRANSACTIONAL_ID,
    MANY_TRANSACTIONAL_IDS,
    TRANSACTIONS_OF_A_MOVED_COORDINATOR,
    TRANSACTIONS_LOADED_AMID_A_SESSION,
    FENCES_THAT_FAIL,
    TRANSACTION_THAT_TIMES_OUT,
    PRODUCER_IDS_FROM_THE_CONTROLLER,
)
