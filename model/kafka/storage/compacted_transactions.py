"""Transactions in a compacted log: which records and markers a cleaning keeps, and what the transaction index has then.

One producer appends records in transactions or without one, and ends each transaction with a marker. A reader with
isolation.level=read_committed leaves out the records of aborted transactions, which it knows from the transaction
index, and waits at a transaction without a marker.

What the model leaves out, and why its stories lose nothing by it:

* A cleaning is one step, of one group of segments that are closed, or two: what it chooses is decided when it has built
  its map.
* Sizes: the cleaner's buffers have room for one batch, and the largest ones for two.
* delete.retention.ms: a cleaning removes the markers that it may remove, or none.
* The batch that keeps the sequence number of an active producer: it is empty.
"""

from __future__ import annotations

from enum import Enum

from kwalk.model.kafka.storage.domains import CLEANINGS, KEYS, LOG_CLEANER, MAP_KEYS, OFFSETS, PRODUCER, Key
from kwalk.model.kafka.storage.versions.compaction import (
    ABORTS_OF_THE_WHOLE_SEGMENT,
    CLEANER_CARRIES_TRANSACTIONS,
    DISCARDED_BATCHES_ARE_READ,
    MARKERS_HAVE_NO_KEY,
)
from kwalk.model.language import Bound, Fifo, action, choice, fifo, flag, number, optional, require, state, value

SECOND_GROUP = Bound(
    "second_group", "the base offset of the second group of segments that is cleaned; 0 for one group", default=0
)

COMMIT_KEY, ABORT_KEY = 0, 1
"""Keys of records that have the bytes of a marker's key (Kafka: ControlRecordType)."""


class EntryKind(Enum):
    """What a batch has: a record, or the marker of a transaction."""

    RECORD = "record"
    COMMIT = "commit marker"
    ABORT = "abort marker"


@value
class TransactionalEntry:
    """A record with a key, or a marker. A transactional record has the offset of its transaction's first record."""

    offset: int = number(0, OFFSETS)
    kind: EntryKind = choice(EntryKind)
    key: int = number(0, KEYS.bound)
    transaction: int | None = optional(number(0, OFFSETS))


@value
class AbortedTransaction:
    """An entry of the transaction index (Kafka: AbortedTxn): from the first record to the marker."""

    first_offset: int = number(0, OFFSETS)
    last_offset: int = number(0, OFFSETS)


@state
class TransactionalLog:
    """The records and markers of a log, and its transaction index.

    `ongoing` is the first offset of the transaction that has no marker yet. History has the transactions that were
    `aborted`, by the offset of their first record.
    """

    entries: Fifo[TransactionalEntry] = fifo(TransactionalEntry, OFFSETS)
    index: Fifo[AbortedTransaction] = fifo(AbortedTransaction, OFFSETS)
    end_offset: int = number(0, OFFSETS)
    ongoing: int | None = optional(number(0, OFFSETS))
    dirty_offset: int = number(0, OFFSETS)
    aborted: Fifo[int] = fifo(number(0, OFFSETS), OFFSETS)
    cleanings: int = number(0, CLEANINGS)
    is_cleaner_dead: bool = flag()


@action(
    by=PRODUCER,
    description="appends a record with key {key}, in a transaction: {in_transaction}",
    source="Log.append; ProducerStateManager.update",
)
def append_record(log: TransactionalLog, key: Key, in_transaction: bool) -> None:
    """A producer that has begun a transaction appends nothing else until that is ended."""
    require(in_transaction or log.ongoing is None)
    if in_transaction and log.ongoing is None:
        log.ongoing = log.end_offset
    log.entries.push(TransactionalEntry(offset=log.end_offset, kind=EntryKind.RECORD, key=key, transaction=log.ongoing))
    log.end_offset += 1


@action(
    by=PRODUCER,
    description="ends its transaction; commits: {commits}",
    source="Log.append; ProducerStateManager.completeTxn, TransactionIndex.append",
)
def end_transaction(log: TransactionalLog, commits: bool) -> None:
    """A marker is appended; an aborted transaction gets an entry in the transaction index."""
    require(log.ongoing is not None)
    assert log.ongoing is not None
    kind, key = (EntryKind.COMMIT, COMMIT_KEY) if commits else (EntryKind.ABORT, ABORT_KEY)
    log.entries.push(TransactionalEntry(offset=log.end_offset, kind=kind, key=key, transaction=log.ongoing))
    if not commits:
        log.index.push(AbortedTransaction(first_offset=log.ongoing, last_offset=log.end_offset))
        log.aborted.push(log.ongoing)
    log.ongoing = None
    log.end_offset += 1


def is_aborted(log: TransactionalLog, entry: TransactionalEntry, upper: int) -> bool:
    """Whether the index has an aborted transaction of the entry that begins below an offset.

    Kafka: Log.collectAbortedTransactions, CleanedTransactionMetadata.consumeAbortedTxnsUpTo.
    """
    return entry.transaction is not None and any(
        aborted.first_offset < upper and aborted.first_offset <= entry.offset <= aborted.last_offset
        for aborted in log.index
    )


def is_in_map(log: TransactionalLog, entry: TransactionalEntry, end: int) -> bool:
    """Whether the cleaner enters the record into its map, up to an offset (Kafka: Cleaner.buildOffsetMapForSegment)."""
    is_dirty = log.dirty_offset <= entry.offset < end
    return is_dirty and entry.kind is EntryKind.RECORD and not is_aborted(log, entry, OFFSETS + 1)


def end_of_cleaning(log: TransactionalLog, end: int) -> int:
    """Return the offset up to which the cleaner's map has room for the records (Kafka: Cleaner.buildOffsetMap)."""
    full = [
        entry.offset
        for entry in log.entries
        if is_in_map(log, entry, end) and MAP_KEYS > 0 and keys_before(log, entry.offset) >= MAP_KEYS
    ]
    unmapped = min(full, default=end)
    mapped = max((entry.offset + 1 for entry in log.entries if entry.offset < unmapped), default=unmapped)
    return mapped if unmapped < end else end


def keys_before(log: TransactionalLog, end: int) -> int:
    """Return how many keys the records of the map have before an offset."""
    return sum(any(entry.key == key and is_in_map(log, entry, end) for entry in log.entries) for key in KEYS)


def has_records(log: TransactionalLog, marker: TransactionalEntry) -> bool:
    """Whether the log has records of a marker's transaction; before KAFKA-8351, in the group of segments of the marker.

    Kafka: CleanedTransactionMetadata.onControlBatchRead, Cleaner.doClean.
    """
    return any(
        entry.kind is EntryKind.RECORD
        and entry.transaction == marker.transaction
        and (bool(CLEANER_CARRIES_TRANSACTIONS) or (entry.offset < SECOND_GROUP) == (marker.offset < SECOND_GROUP))
        for entry in log.entries
    )


def is_kept(log: TransactionalLog, entry: TransactionalEntry, to: int, upper: int, *, removes_markers: bool) -> bool:
    """Whether a cleaning keeps a record or a marker; before KAFKA-14055 a later record with its key removes a marker.

    Kafka: Cleaner.cleanInto, Cleaner.shouldDiscardBatch, Cleaner.shouldRetainRecord.
    """
    is_superseded = entry.offset < to and any(
        later.key == entry.key and later.offset > entry.offset and is_in_map(log, later, to) for later in log.entries
    )
    if entry.kind is EntryKind.RECORD:
        return not is_aborted(log, entry, upper) and not is_superseded
    is_known = entry.kind is EntryKind.COMMIT or is_aborted(log, entry, upper)
    if removes_markers and not (is_known and has_records(log, entry)):
        return False
    return bool(MARKERS_HAVE_NO_KEY) or not is_superseded


def outgrows_its_buffers(log: TransactionalLog, upper: int, *, removes_markers: bool) -> bool:
    """Whether the cleaner discards two batches of a group as a whole.

    Before KAFKA-6854 it took a buffer without a record that it had read for one that is too small.
    Kafka: Cleaner.cleanInto, Cleaner.growBuffers.
    """
    discarded = [
        entry.offset
        for entry in log.entries
        if (entry.kind is EntryKind.RECORD and is_aborted(log, entry, upper))
        or (entry.kind is not EntryKind.RECORD and removes_markers and not has_records(log, entry))
    ]
    is_first = sum(offset < SECOND_GROUP for offset in discarded) > 1
    return not DISCARDED_BATCHES_ARE_READ and (is_first or sum(offset >= SECOND_GROUP for offset in discarded) > 1)


@action(
    by=LOG_CLEANER,
    description="cleans the log; removes markers: {removes_markers}",
    source="Cleaner.doClean, Cleaner.cleanSegments; CleanedTransactionMetadata.onControlBatchRead",
)
def clean(log: TransactionalLog, removes_markers: bool) -> None:
    """The log is cleaned up to the transaction that has not ended, or to where the map is full.

    Aborted transactions behind that are not looked up before KAFKA-13727, and so are not in the new index.
    """
    end = log.end_offset if log.ongoing is None else log.ongoing
    to = end_of_cleaning(log, end)
    require(log.dirty_offset < to and not log.is_cleaner_dead)
    upper = log.end_offset if ABORTS_OF_THE_WHOLE_SEGMENT else to
    log.cleanings += 1
    if outgrows_its_buffers(log, upper, removes_markers=removes_markers):
        log.is_cleaner_dead = True
        return
    index = [
        aborted
        for aborted in log.index
        if aborted.first_offset < upper
        and any(
            entry.kind is EntryKind.RECORD and aborted.first_offset <= entry.offset < aborted.last_offset
            for entry in log.entries
        )
    ]
    log.entries = [entry for entry in log.entries if is_kept(log, entry, to, upper, removes_markers=removes_markers)]
    log.index = index
    log.dirty_offset = to
