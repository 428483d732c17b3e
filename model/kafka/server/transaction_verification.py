"""AddPartitionsToTxnManager: a leader has a transaction verified by its coordinator, before it appends (KIP-890).

Brokers are upgraded one after another. A leader of a later release asks in a version of the request that the
coordinator may not know. It does not ask while its log has the transaction open, which may end before the append.

A producer keeps its epoch from one transaction to the next: a coordinator does not know of which one a request is that
comes late (`NextTransaction`).

What the model leaves out, and why its stories lose nothing by it: what the coordinator finds, which is that the
transaction goes on; and brokers that are downgraded.
"""

from __future__ import annotations

from enum import Enum

from kwalk.model.kafka.server.versions import (
    EPOCHS_ARE_CHECKED_FIRST,
    TRANSACTIONS_HAVE_EPOCHS,
    VERIFICATIONS_ARE_IN_A_KNOWN_VERSION,
)
from kwalk.model.kafka.storage.domains import LOG, OPERATOR, PRODUCER
from kwalk.model.kafka.storage.producer_state import COORDINATOR
from kwalk.model.language import action, choice, flag, require, state


@state
class VerifiedAppend:
    """Which of both brokers are upgraded, and whether the last append in a transaction was done, or refused."""

    is_leader_new: bool = flag()
    is_coordinator_new: bool = flag()
    is_appended: bool = flag()
    is_refused: bool = flag()


@action(by=OPERATOR, description="upgrades the leader", source="a rolling upgrade")
def upgrade_leader(verified: VerifiedAppend) -> None:
    """It verifies transactions by a later version of the request."""
    require(not verified.is_leader_new)
    verified.is_leader_new = True
    verified.is_appended = verified.is_refused = False


@action(by=OPERATOR, description="upgrades the coordinator", source="a rolling upgrade")
def upgrade_coordinator(verified: VerifiedAppend) -> None:
    """It knows that version."""
    require(not verified.is_coordinator_new)
    verified.is_coordinator_new = True
    verified.is_appended = verified.is_refused = False


@action(by=PRODUCER, description="writes in a transaction", source="NetworkUtils.buildNetworkClient")
def append_verified(verified: VerifiedAppend) -> None:
    """From 3.6 to 3.7.0 the leader did not ask which versions the coordinator knows."""
    is_unknown = verified.is_leader_new and not verified.is_coordinator_new
    verified.is_refused = is_unknown and not VERIFICATIONS_ARE_IN_A_KNOWN_VERSION
    verified.is_appended = not verified.is_refused


class LastBatch(Enum):
    """What became of the producer's last batch."""

    NONE = "not sent"
    SENT = "sent, and not verified, as its transaction is open"
    APPENDED = "appended"
    FENCED = "refused: INVALID_PRODUCER_EPOCH, after which a producer can abort and go on"
    FATAL = "refused: INVALID_TXN_STATE, which ends the producer"


@state
class FencedTransaction:
    """Whether the log has an open transaction of the producer, whether that is fenced, and its last batch."""

    is_open: bool = flag()
    is_fenced: bool = flag()
    batch: LastBatch = choice(LastBatch)


@action(by=PRODUCER, description="begins a transaction", source="TransactionManager.beginTransaction")
def begin_verified(producer: FencedTransaction) -> None:
    """The first batch was verified, and is in the log."""
    require(not producer.is_open and not producer.is_fenced)
    producer.is_open = True


@action(by=PRODUCER, description="sends a batch", source="ReplicaManager.maybeStartTransactionVerificationForPartition")
def send_within(producer: FencedTransaction) -> None:
    """The leader has the transaction open, and does not ask the coordinator."""
    require(producer.is_open and producer.batch is not LastBatch.SENT)
    producer.batch = LastBatch.SENT


@action(
    by=COORDINATOR,
    description="aborts the transaction after its timeout",
    source="TransactionCoordinator.abortTimedOutTransactions",
)
def abort_and_fence(producer: FencedTransaction) -> None:
    """The marker has the next epoch of the producer."""
    require(producer.is_open)
    producer.is_open, producer.is_fenced = False, True


@action(by=LOG, description="appends the batch, or refuses it", source="UnifiedLog.analyzeAndValidateProducerState")
def append_within(producer: FencedTransaction) -> None:
    """From 3.6 to KAFKA-19690 the log looked for a transaction before it compared the epoch."""
    require(producer.batch is LastBatch.SENT)
    if producer.is_open:
        producer.batch = LastBatch.APPENDED
    else:
        producer.batch = LastBatch.FENCED if EPOCHS_ARE_CHECKED_FIRST else LastBatch.FATAL


@state
class NextTransaction:
    """The transactions of a producer, one after another.

    Attributes:
        is_open: whether its coordinator has one open.
        is_second: whether the producer has committed the first one.
        has_late_copy: whether a request to commit the first one is late, which was sent again, and answered.
        is_read_early: whether records of the second one can be read, though the producer has not committed it.
    """

    is_open: bool = flag()
    is_second: bool = flag()
    has_late_copy: bool = flag()
    is_read_early: bool = flag()


@action(
    by=PRODUCER, description="sends a record in its transaction", source="TransactionCoordinator.handleAddPartitions"
)
def write_next(producer: NextTransaction) -> None:
    """The coordinator opens it with its first partition."""
    require(not producer.is_open)
    producer.is_open = True


@action(
    by=PRODUCER,
    description="commits the first transaction; a copy of the request is late: {late}",
    source="TransactionCoordinator.endTransaction",
)
def commit_first(producer: NextTransaction, late: bool) -> None:
    """A request that is not answered in time is sent again, over another connection."""
    require(producer.is_open and not producer.is_second)
    producer.is_open, producer.is_second, producer.has_late_copy = False, True, late


@action(by=COORDINATOR, description="gets the late copy", source="TransactionCoordinator.endTransaction: Ongoing")
def get_late_copy(producer: NextTransaction) -> None:
    """It ends a transaction that is open. Since KIP-890, with transactions of version 2, each one has its own epoch."""
    require(producer.has_late_copy)
    producer.has_late_copy = False
    if not TRANSACTIONS_HAVE_EPOCHS:
        producer.is_read_early = producer.is_open
        producer.is_open = False


@action(by=PRODUCER, description="aborts its transaction", source="TransactionCoordinator.endTransaction")
def abort_next(producer: NextTransaction) -> None:
    """Its records are not read, unless they were before."""
    require(producer.is_open)
    producer.is_open = False
