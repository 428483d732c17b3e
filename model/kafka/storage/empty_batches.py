"""Empty batches: what a cleaning leaves of the last batch of a producer, so that a broker still knows the producer.

One producer appends records of one key in transactions, as a coordinator does to __consumer_offsets. A cleaning removes
records that a later one supersedes, and of batches without records all but the producer's last one, which stays empty;
in 0.11.0.0 it stayed as it was. Another producer, which is not idempotent, deletes the key.

What the model leaves out, and why its story loses nothing by it:

* Batches of others: they have the rules of `compacted_transactions`.
* Segments and buffers: a cleaning reads the whole log, up to an open transaction, into one buffer.
* delete.retention.ms: a cleaning removes the markers, and the tombstones, that it may remove, or none.
"""

from __future__ import annotations

from kwalk.model.kafka.storage.domains import CLEANINGS, LOG, LOG_CLEANER, OFFSETS, PRODUCER
from kwalk.model.kafka.storage.producer_state import COORDINATOR, EPOCHS, Epoch
from kwalk.model.kafka.storage.versions.compaction import (
    EMPTY_BATCHES_ALONE_ARE_WRITTEN,
    EMPTY_MARKERS_ARE_READ,
    LAST_BATCH_IS_KNOWN_BY_ITS_OFFSET,
    LAST_BATCHES_ARE_EMPTIED,
)
from kwalk.model.language import Bound, Fifo, action, evolve, fifo, flag, number, optional, require, state, value

REUSES = Bound("reuses", "1 if each batch has sequence number 0, as those of a group coordinator have", default=0)


@value
class CompactedBatch:
    """A batch with a record, a marker without a `sequence`, or what is left of either: nothing but its header.

    `transaction` is the offset of the transaction's first batch; a tombstone, of the other producer, is in none.
    """

    offset: int = number(0, OFFSETS)
    sequence: int | None = optional(number(0, OFFSETS))
    epoch: int = number(0, EPOCHS)
    transaction: int = number(0, OFFSETS)
    aborts: bool = flag()
    is_empty: bool = flag()
    is_tombstone: bool = flag()

    @property
    def is_marker(self) -> bool:
        """Whether it is a control batch."""
        return self.sequence is None


@state
class CompactedBatches:
    """The batches of a log, and what its broker knows of the producer: its epoch, and the last batch of that epoch.

    `ongoing` is the offset where the open transaction begins. `load_fails` is set by a load of the log that has failed.
    """

    batches: Fifo[CompactedBatch] = fifo(CompactedBatch, OFFSETS)
    end_offset: int = number(0, OFFSETS)
    ongoing: int | None = optional(number(0, OFFSETS))
    epoch: int = number(0, EPOCHS)
    last_sequence: int | None = optional(number(0, OFFSETS))
    last_offset: int = number(0, OFFSETS)
    cleanings: int = number(0, CLEANINGS)
    is_cleaner_dead: bool = flag()
    load_fails: bool = flag()


def append(log: CompactedBatches, batch: CompactedBatch) -> None:
    """Append a batch at the end of the log."""
    log.batches.push(batch)
    log.end_offset += 1


@action(by=PRODUCER, description="appends a record, in a transaction", source="Log.append; ProducerStateManager.update")
def append_record(log: CompactedBatches) -> None:
    """The next sequence number, or always 0 (GroupMetadataManager.storeOffsets)."""
    begun = log.end_offset if log.ongoing is None else log.ongoing
    sequence = 0 if REUSES > 0 or log.last_sequence is None else log.last_sequence + 1
    log.ongoing, log.last_sequence, log.last_offset = begun, sequence, log.end_offset
    end, epoch = log.end_offset, log.epoch
    append(log, CompactedBatch(end, sequence, epoch, begun, aborts=False, is_empty=False, is_tombstone=False))


@action(by=PRODUCER, description="deletes the key, with another producer", source="Log.append")
def delete_key(log: CompactedBatches) -> None:
    """The tombstone is in no transaction, and its batch has no producer id."""
    end = log.end_offset
    append(log, CompactedBatch(end, 0, 0, end, aborts=False, is_empty=False, is_tombstone=True))


@action(
    by=COORDINATOR,
    description="ends the transaction, with epoch {epoch} in the marker; aborts: {aborts}",
    source="ProducerAppendInfo.appendEndTxnMarker; ProducerStateEntry.maybeUpdateEpoch",
)
def end_transaction(log: CompactedBatches, epoch: Epoch, aborts: bool) -> None:
    """An abort after a timeout has a new epoch, which leaves nothing of the producer's batches to know."""
    require(log.ongoing is not None and (epoch == log.epoch or (epoch == log.epoch + 1 and aborts)))
    assert log.ongoing is not None
    end = log.end_offset
    append(log, CompactedBatch(end, None, epoch, log.ongoing, aborts=aborts, is_empty=False, is_tombstone=False))
    if epoch > log.epoch:
        log.epoch, log.last_sequence = epoch, None
    log.ongoing = None


def is_last_of_producer(log: CompactedBatches, batch: CompactedBatch) -> bool:
    """Whether the broker knows the producer by this batch.

    Before KAFKA-8335 any batch counted that has the last sequence number; of markers, which have none, any.
    Kafka: Log.lastRecordsOfActiveProducers, Cleaner.cleanInto.
    """
    if batch.is_tombstone:
        return False
    if not LAST_BATCH_IS_KNOWN_BY_ITS_OFFSET:
        return batch.sequence == log.last_sequence
    if log.last_sequence is None:
        return batch.is_marker and batch.epoch == log.epoch
    return batch.offset == log.last_offset


def has_records(log: CompactedBatches, marker: CompactedBatch) -> bool:
    """Whether the log has a record of a marker's transaction."""
    return any(
        not batch.is_marker and not batch.is_empty and batch.transaction == marker.transaction for batch in log.batches
    )


def is_aborted(log: CompactedBatches, batch: CompactedBatch) -> bool:
    """Whether the transaction of a record was aborted."""
    return any(other.aborts and other.transaction == batch.transaction for other in log.batches)


def keeps_record(log: CompactedBatches, batch: CompactedBatch, end: int, *, removes_markers: bool) -> bool:
    """Whether a cleaning keeps the record of a batch, or its marker.

    In 0.11.0.0 it keeps the last batch of the producer, whatever is later.
    Kafka: Cleaner.shouldRetainRecord, Cleaner.cleanInto.
    """
    if batch.is_empty:
        return False
    if not LAST_BATCHES_ARE_EMPTIED and is_last_of_producer(log, batch):
        return True
    if batch.is_marker:
        return not removes_markers or has_records(log, batch)
    is_superseded = any(
        batch.offset < later.offset < end and not later.is_marker and not later.is_empty and not is_aborted(log, later)
        for later in log.batches
    )
    return not is_superseded and not is_aborted(log, batch) and not (batch.is_tombstone and removes_markers)


@action(
    by=LOG_CLEANER,
    description="cleans the log; removes markers and tombstones: {removes_markers}",
    source="Cleaner.cleanInto; MemoryRecords.filterTo; CleanedTransactionMetadata.onControlBatchRead",
)
def clean(log: CompactedBatches, removes_markers: bool) -> None:
    """Before KAFKA-7467 an empty marker ends it, and before KAFKA-7385 a buffer with nothing but empty batches."""
    end = log.end_offset if log.ongoing is None else log.ongoing
    require(not log.is_cleaner_dead and any(batch.offset < end for batch in log.batches))
    log.cleanings += 1
    kept = [
        batch.offset
        for batch in log.batches
        if batch.offset < end and keeps_record(log, batch, end, removes_markers=removes_markers)
    ]
    emptied = [
        batch.offset
        for batch in log.batches
        if batch.offset < end and batch.offset not in kept and is_last_of_producer(log, batch)
    ]
    has_empty_marker = any(batch.is_marker and batch.is_empty for batch in log.batches)
    stops_at_marker = has_empty_marker and not EMPTY_MARKERS_ARE_READ
    if stops_at_marker or (len(kept) == 0 < len(emptied) and not EMPTY_BATCHES_ALONE_ARE_WRITTEN):
        log.is_cleaner_dead = True
    else:
        log.batches = [
            evolve(batch, is_empty=batch.is_empty or batch.offset in emptied)
            for batch in log.batches
            if batch.offset >= end or batch.offset in kept or batch.offset in emptied
        ]


@action(
    by=LOG,
    description="reads the log, as a broker does that takes over its groups",
    source="GroupMetadataManager.doLoadGroupsAndOffsets; ProducerAppendInfo.append",
)
def load(log: CompactedBatches) -> None:
    """Before KAFKA-7467 an empty marker is an exception. A load that changes nothing is no step."""
    require(not log.load_fails and not EMPTY_MARKERS_ARE_READ)
    require(any(batch.is_marker and batch.is_empty for batch in log.batches))
    log.load_fails = True
