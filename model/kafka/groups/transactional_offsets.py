"""GroupMetadata.pendingTransactionalOffsetCommits: offsets of transactions, which a coordinator keeps until they end.

A producer commits an offset in one transaction after another. The coordinator of its group notes the offset as pending,
has it appended, and takes it over when the marker of the transaction is written. Since KAFKA-6917 another thread does
the last, which may be late.

While an offset is pending, an earlier one of the same partition may expire. Its tombstone comes behind the record of
the transaction, and has the same key: the log cleaner keeps the tombstone (`ExpiringCommit`). Between the choice of
what has expired and its tombstone, a commit without a transaction may come, too (`OvertakenCommit`).

What the models leave out, and why their stories lose nothing by it: partitions, each of which has an offset of its own;
other producers, whose offsets are noted apart; transactions that are aborted, of which a log keeps nothing; and, in
the first one, a move of the coordinator, by which all is read from the log again.
"""

from __future__ import annotations

from enum import Enum

from kwalk.model.kafka.groups.versions import (
    CLEANUP_APPENDS_WITHOUT_LOCK,
    ENDS_OF_TRANSACTIONS_ARE_WAITED_FOR,
    PENDING_OFFSETS_DO_NOT_EXPIRE,
)
from kwalk.model.language import Actor, Bound, action, choice, flag, number, optional, require, state

TRANSACTIONS = Bound("transactions", "how many transactions the producer commits offsets in")

PRODUCER = Actor("producer", system=False)
COORDINATOR = Actor("coordinator")
CLEANER = Actor("log cleaner")
CONSUMER = Actor("consumer", system=False)
CONTROLLER = Actor("controller", system=False)


class CommitProgress(Enum):
    """How far the producer's last commit is."""

    NONE = "not sent"
    SENT = "sent, and not appended"
    APPENDED = "appended, and answered"
    ENDED = "its transaction has ended, and the producer is not told"


class Ending(Enum):
    """Which end of a transaction a thread is to take over."""

    NONE = "none"
    COMMIT = "a commit"
    ABORT = "an abort"


@state
class TransactionalOffsets:
    """The offset of a group that one producer commits: that of its n-th transaction is n.

    Attributes:
        sent: the offset of the last commit.
        commit: how far it is.
        in_log: the offset that is committed by the log, with the marker behind it.
        cache: the offset that the coordinator tells consumers.
        pending: the offset of the producer that the coordinator has noted.
        is_appended: whether the coordinator knows that this offset is in the log.
        ending: which end of a transaction a thread is to take over.
    """

    sent: int = number(0, TRANSACTIONS)
    commit: CommitProgress = choice(CommitProgress)
    in_log: int = number(0, TRANSACTIONS)
    cache: int = number(0, TRANSACTIONS)
    pending: int | None = optional(number(0, TRANSACTIONS))
    is_appended: bool = flag()
    ending: Ending = choice(Ending)


@action(
    by=PRODUCER,
    description="commits an offset in the next transaction",
    source="GroupCoordinator.handleTxnCommitOffsets; GroupMetadata.prepareTxnOffsetCommit",
)
def commit_next(group: TransactionalOffsets) -> None:
    """The coordinator notes the offset, in place of another one of the producer."""
    require(group.commit is CommitProgress.NONE and group.sent < TRANSACTIONS)
    group.sent += 1
    group.commit = CommitProgress.SENT
    group.pending, group.is_appended = group.sent, False


@action(by=COORDINATOR, description="has the offset appended", source="GroupMetadata.onTxnOffsetCommitAppend")
def append_next(group: TransactionalOffsets) -> None:
    """An offset that is not noted any more stays in the log only."""
    require(group.commit is CommitProgress.SENT)
    group.commit = CommitProgress.APPENDED
    group.is_appended = group.pending == group.sent


@action(
    by=PRODUCER,
    description="ends the transaction; commits: {commits}",
    source="KafkaApis.handleWriteTxnMarkersRequest; GroupMetadataManager.scheduleHandleTxnCompletion",
)
def end_next(group: TransactionalOffsets, commits: bool) -> None:
    """The marker is written. Since KAFKA-17507 the producer is told once the coordinator has taken the offset over."""
    require(group.commit is CommitProgress.APPENDED and group.ending is Ending.NONE)
    if commits:
        group.in_log = group.sent
    group.ending = Ending.COMMIT if commits else Ending.ABORT
    group.commit = CommitProgress.ENDED if ENDS_OF_TRANSACTIONS_ARE_WAITED_FOR else CommitProgress.NONE


@action(
    by=COORDINATOR,
    description="takes over what is pending, as a transaction has ended",
    source="GroupMetadata.completePendingTxnOffsetCommit",
)
def take_over(group: TransactionalOffsets) -> None:
    """Whatever is pending of the producer. An offset that is not appended is an exception, and is forgotten."""
    require(group.ending is not Ending.NONE)
    if group.ending is Ending.COMMIT and group.pending is not None and group.is_appended:
        group.cache = group.pending
    group.pending, group.is_appended, group.ending = None, False, Ending.NONE
    if group.commit is CommitProgress.ENDED:
        group.commit = CommitProgress.NONE


class KnownOffset(Enum):
    """What a coordinator tells consumers."""

    OLD = "an old offset"
    NONE = "no offset"
    NEW = "the offset of the transaction"


@state
class ExpiringCommit:
    """An old offset of a group, which may expire, and that of a transaction, as a coordinator and a log have them.

    Attributes:
        cache: what the coordinator tells consumers.
        is_pending: whether the transaction is open.
        is_committed: whether it has been committed.
        is_removed: whether the log has a tombstone.
        is_removed_last: whether that is behind the record of the transaction.
        is_cleaned: whether the log keeps the last record of the key only.
    """

    cache: KnownOffset = choice(KnownOffset)
    is_pending: bool = flag()
    is_committed: bool = flag()
    is_removed: bool = flag()
    is_removed_last: bool = flag()
    is_cleaned: bool = flag()


@action(by=PRODUCER, description="commits an offset in a transaction", source="GroupCoordinator.handleTxnCommitOffsets")
def commit_beside_an_old_one(group: ExpiringCommit) -> None:
    """Its record is appended, and pending."""
    require(not group.is_pending and not group.is_committed)
    group.is_pending = True


@action(by=COORDINATOR, description="removes the old offset, which is due", source="GroupMetadata.removeExpiredOffsets")
def expire_old_offset(group: ExpiringCommit) -> None:
    """Append a tombstone. Up to 3.9 an offset expires beside one that is pending in a transaction."""
    require(group.cache is KnownOffset.OLD and not (group.is_pending and PENDING_OFFSETS_DO_NOT_EXPIRE))
    group.cache = KnownOffset.NONE
    group.is_removed, group.is_removed_last = True, group.is_pending


@action(by=PRODUCER, description="commits the transaction", source="GroupMetadata.completePendingTxnOffsetCommit")
def end_with_a_commit(group: ExpiringCommit) -> None:
    """The coordinator takes the offset over."""
    require(group.is_pending)
    group.is_pending, group.is_committed = False, True
    group.cache = KnownOffset.NEW


@action(by=CLEANER, description="cleans __consumer_offsets", source="Cleaner.buildOffsetMapForSegment")
def clean_offsets(group: ExpiringCommit) -> None:
    """Below the last stable offset, keep the last record of each key, be it of a transaction or not."""
    require(group.is_committed and not group.is_cleaned)
    group.is_cleaned = True


@action(
    by=CONTROLLER, description="has another broker load the group", source="GroupMetadataManager.loadGroupsAndOffsets"
)
def load_offsets(group: ExpiringCommit) -> None:
    """Read the log: the marker of a transaction brings its records, also those before a tombstone."""
    is_there = group.is_committed and not (group.is_cleaned and group.is_removed_last)
    old = KnownOffset.NONE if group.is_removed else KnownOffset.OLD
    group.cache = KnownOffset.NEW if is_there else old


@state
class OvertakenCommit:
    """An offset that expires as a consumer commits a new one, as a coordinator and its log have it.

    The group has other offsets: it is not Dead by this one.

    Attributes:
        cache: what the coordinator tells consumers.
        last: what the last record of the key says.
        is_chosen: whether the old offset is to get a tombstone.
    """

    cache: KnownOffset = choice(KnownOffset)
    last: KnownOffset = choice(KnownOffset)
    is_chosen: bool = flag()


@action(by=COORDINATOR, description="chooses the old offset, which is due", source="GroupMetadata.removeExpiredOffsets")
def choose_expired(group: OvertakenCommit) -> None:
    """It is not in memory any more. The lock of the group is given back then, since KAFKA-4399."""
    require(group.cache is KnownOffset.OLD and not group.is_chosen)
    group.cache, group.is_chosen = KnownOffset.NONE, True


@action(by=COORDINATOR, description="appends the tombstone", source="GroupMetadataManager.cleanupGroupMetadata")
def append_tombstone(group: OvertakenCommit) -> None:
    """It does not look whether there is an offset by now."""
    require(group.is_chosen)
    group.last, group.is_chosen = KnownOffset.NONE, False


@action(by=CONSUMER, description="commits an offset", source="GroupCoordinator.handleCommitOffsets")
def commit_new(group: OvertakenCommit) -> None:
    """Append it, and tell it from then on; the lock of the group is needed."""
    require(not group.is_chosen or bool(CLEANUP_APPENDS_WITHOUT_LOCK))
    group.cache = group.last = KnownOffset.NEW
