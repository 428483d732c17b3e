"""ProducerStateManager: what a log knows of a producer, its snapshots of that, and transactions that nobody ends.

One producer, idempotent or transactional, sends one batch after another, each with the next sequence number; it sends
a batch again that was not answered. The log tells by the sequence number whether it has the batch. What it knows of
the producer is rebuilt from a snapshot and the batches behind it, when a broker starts or a log is truncated.

What the model leaves out, and why its stories lose nothing by it:

* A batch has one record, and one batch of the producer is on its way at a time. Records of others have no producer.
* A crash loses no batches: what the disk lacks is fetched from the leader again.
* Snapshots of old segments, which releases before 2.8 delete: a start then reads the log from an earlier offset on.
* The epoch of the coordinator in markers, and the check of it.
* A marker is replicated when the coordinator takes the transaction for ended: it writes it with acks=all.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from kwalk.model.kafka.storage.domains import (
    CONSUMER,
    CRASHES,
    FAULT,
    LOG,
    LOSSES,
    OFFSETS,
    OPERATOR,
    PRODUCER,
    REPLICAS,
    SEGMENTS,
    STOPS,
    TIME,
    TIMES,
    TRUNCATIONS,
    Offset,
)
from kwalk.model.kafka.storage.versions.producers import (
    EARLIEST_SEQUENCE_COUNTS,
    MARKERS_KEEP_PRODUCERS,
    PRODUCERS_OUTLIVE_RECORDS,
    RECOVERY_READS_ITS_OWN_STATE,
    REPLICATION_IS_NOT_VALIDATED,
    ROLLS_BEFORE_THE_BATCH,
    SNAPSHOTS_ARE_FLUSHED,
    SNAPSHOTS_ARE_RENAMED,
    TORN_SNAPSHOTS_ARE_LEFT_OUT,
    TRANSACTIONS_ARE_VERIFIED,
    TRUNCATES_TRANSACTIONS_FIRST,
    TRUNCATION_READS_BATCHES,
    UNKNOWN_PRODUCERS_CONTINUE,
)
from kwalk.model.kafka.storage.versions.reads import LOOKUPS_END_AT_THE_STABLE_OFFSET, STABLE_OFFSET_IS_OF_ONE_MOMENT
from kwalk.model.language import (
    Actor,
    Bound,
    Fifo,
    action,
    choice,
    evolve,
    fifo,
    flag,
    number,
    optional,
    require,
    state,
    value,
)

EXPIRATION_MS = Bound("expiration_ms", "transactional.id.expiration.ms; since 3.3 producer.id.expiration.ms", minimum=1)
FOLLOWS = Bound("follows", "1 if the broker follows: the batches come from the leader", default=0)
TRANSACTIONAL = Bound("transactional", "1 if the producer is transactional", default=0)
EPOCHS = Bound("epochs", "the highest epoch of the producer: 1 if the coordinator may fence it", default=0)
READS = Bound("reads", "how often a consumer fetches with read_committed", default=0)
COPIES = Bound("copies", "how often a copy of a batch is late, which was sent again and answered", default=0)
LOOKUPS = Bound("lookups", "how often a consumer looks up a timestamp with read_committed", default=0)
NEVER = -1
"""The time of a producer of which only a marker is known (Kafka: RecordBatch.NO_TIMESTAMP)."""

Epoch = Annotated[int, number(0, EPOCHS)]
COORDINATOR = Actor("transaction coordinator", system=False)


class BatchKind(Enum):
    """Whose batch it is."""

    OTHER = "of others"
    DATA = "of the producer"
    MARKER = "marker"


@value
class ProducerBatch:
    """A batch: of the producer, the sequence number of its record; a marker, the epoch of the producer.

    It `is_repeated` if the log has had that sequence number before, as history tells.
    """

    kind: BatchKind = choice(BatchKind)
    sequence: int = number(0, OFFSETS)
    epoch: int = number(0, EPOCHS)
    time: int = number(0, TIMES)
    is_repeated: bool = flag()


@value
class ProducerEntry:
    """What is known of the producer (Kafka: ProducerStateEntry): its last batch, and where its open transaction began.

    Without a batch of the epoch there is no `sequence`.
    """

    epoch: int = number(0, EPOCHS)
    sequence: int | None = optional(number(0, OFFSETS))
    offset: int = number(0, OFFSETS)
    time: int = number(NEVER, TIMES)
    transaction: int | None = optional(number(0, OFFSETS))


@value
class Snapshot:
    """A snapshot file: what was known before an offset. A crash of the machine tears one that is not flushed."""

    offset: int = number(0, OFFSETS)
    producer: ProducerEntry | None = optional(ProducerEntry)
    is_flushed: bool = flag()
    is_torn: bool = flag()


@state
class ProducerLog:
    """A log whose first batch is at `start_offset`, the base offsets of its segments, and its snapshots.

    `entry` is the broker's memory. `doomed` are base offsets of segments whose files a task deletes later. What was
    known up to `loaded_to` was read from the log, and not appended. `has_failed` means that a truncation has failed.

    Of the producer: `next_sequence` is that of the batch that it sends next, or again; a batch may be `in_flight`. It
    `is_fenced` once the coordinator has ended its transaction, which `is_ongoing`, on its own. History has
    how many of its batches were `appended` and not truncated.

    The `copy` of a batch with that sequence number is late. While a leader asks the coordinator, and also later if the
    answer was no, it remembers the `earliest` sequence number that it has asked about.

    A fetch with read_committed that `is_reading` has found that no open transaction begins below `read_limit`; the
    last one has read up to `read_to`. The last lookup of a timestamp has found the record at the offset `looked_up`.
    A broker `cannot_start` if it cannot read a snapshot. After a crash the log `recovers_last` its last segment only.
    """

    batches: Fifo[ProducerBatch] = fifo(ProducerBatch, OFFSETS)
    bases: Fifo[int] = fifo(number(0, OFFSETS), SEGMENTS.bound)
    start_offset: int = number(0, OFFSETS)
    high_watermark: int = number(0, OFFSETS)
    entry: ProducerEntry | None = optional(ProducerEntry)
    snapshots: Fifo[Snapshot] = fifo(Snapshot, OFFSETS + 1)
    doomed: Fifo[int] = fifo(number(0, OFFSETS), SEGMENTS.bound)
    loaded_to: int = number(0, OFFSETS)
    is_up: bool = flag(default=True)
    has_failed: bool = flag()
    clock: int = number(0, TIMES)
    next_sequence: int = number(0, OFFSETS)
    appended: int = number(0, OFFSETS)
    in_flight: bool = flag()
    is_ongoing: bool = flag()
    is_fenced: bool = flag()
    crashes: int = number(0, CRASHES)
    stops: int = number(0, STOPS)
    truncations: int = number(0, TRUNCATIONS)
    copy: int | None = optional(number(0, OFFSETS), when=COPIES)
    copies: int = number(0, COPIES)
    earliest: int | None = optional(number(0, OFFSETS), when=COPIES)
    is_reading: bool = flag(when=READS)
    read_limit: int = number(0, OFFSETS, when=READS)
    read_to: int = number(0, OFFSETS, when=READS)
    reads: int = number(0, READS)
    looked_up: int | None = optional(number(0, OFFSETS), when=LOOKUPS)
    lookups: int = number(0, LOOKUPS)
    cannot_start: bool = flag(when=LOSSES)
    recovers_last: bool = flag(when=TRANSACTIONAL)


def end_offset(log: ProducerLog) -> int:
    """Return the log end offset."""
    return log.start_offset + len(log.batches)


def update(entry: ProducerEntry | None, batch: ProducerBatch, offset: int) -> ProducerEntry | None:
    """Return what is known of the producer with one more batch (Kafka: ProducerAppendInfo.append, appendEndTxnMarker).

    From 1.0.0 to KAFKA-9144 a marker left the time as it was, and one of a new epoch none.
    """
    if batch.kind is BatchKind.OTHER:
        return entry
    is_new = entry is None or entry.epoch != batch.epoch
    if batch.kind is BatchKind.DATA:
        began = offset if is_new or entry is None or entry.transaction is None else entry.transaction
        return ProducerEntry(
            epoch=batch.epoch,
            sequence=batch.sequence,
            offset=offset,
            time=batch.time,
            transaction=began if TRANSACTIONAL > 0 else None,
        )
    last_time = NEVER if entry is None or is_new else entry.time
    return ProducerEntry(
        epoch=batch.epoch,
        sequence=None if entry is None or is_new else entry.sequence,
        offset=0 if entry is None or is_new else entry.offset,
        time=batch.time if MARKERS_KEEP_PRODUCERS else last_time,
        transaction=None,
    )


def take_snapshot(log: ProducerLog, entry: ProducerEntry | None) -> None:
    """Write a snapshot at the end of the log, unless there is one, or the log is empty (Kafka: takeSnapshot)."""
    end = end_offset(log)
    if end > (log.start_offset if log.snapshots.is_empty else log.snapshots[-1].offset):
        log.snapshots.push(Snapshot(offset=end, producer=entry, is_flushed=bool(SNAPSHOTS_ARE_FLUSHED), is_torn=False))


def append(log: ProducerLog, batch: ProducerBatch, *, rolls: bool) -> None:
    """Append a batch, to a new segment if the log rolls.

    In 1.0.0 the snapshot then had the batch already, as it was added to what was known of the producer, if anything.
    Kafka: Log.append, Log.roll, Log.analyzeAndValidateProducerState.
    """
    entry = update(log.entry, batch, end_offset(log))
    require(not rolls or log.bases[-1] < end_offset(log))
    if rolls:
        take_snapshot(log, log.entry if ROLLS_BEFORE_THE_BATCH or log.entry is None else entry)
        log.bases.push(end_offset(log))
    log.batches.push(batch)
    log.entry = entry
    if batch.kind is not BatchKind.OTHER:
        log.earliest = None


def is_duplicate(log: ProducerLog, sequence: int) -> bool:
    """Whether the log takes the batch for one that it has (Kafka: ProducerStateEntry.findDuplicateBatch)."""
    return log.entry is not None and log.entry.epoch == 0 and log.entry.sequence == sequence


def accepts(log: ProducerLog, sequence: int) -> bool:
    """Whether the log would append a batch of the producer, whose epoch is 0.

    Kafka: ProducerAppendInfo.checkProducerEpoch, ProducerAppendInfo.checkSequence.
    """
    if FOLLOWS > 0 and REPLICATION_IS_NOT_VALIDATED:
        return True
    if COPIES > 0 and log.earliest is not None and sequence > log.earliest:
        return False
    if log.entry is None:
        return sequence == 0 or bool(UNKNOWN_PRODUCERS_CONTINUE)
    expected = 0 if log.entry.sequence is None else log.entry.sequence + 1
    return log.entry.epoch == 0 and sequence == expected


def data(log: ProducerLog) -> ProducerBatch:
    """Return the producer's next batch."""
    return ProducerBatch(
        kind=BatchKind.DATA,
        sequence=log.next_sequence,
        epoch=0,
        time=log.clock,
        is_repeated=log.next_sequence < log.appended,
    )


@action(
    by=PRODUCER,
    description="sends its next batch, or the last one again; is answered: {answered}; the log rolls: {rolls}",
    source="Log.append; ProducerStateEntry.findDuplicateBatch",
)
def produce(log: ProducerLog, answered: bool, rolls: bool) -> None:
    """A batch that the log has is answered and not appended. On a follower it is the leader's next batch."""
    require(log.is_up and not log.in_flight and (log.is_ongoing or TRANSACTIONAL == 0) and not log.is_fenced)
    is_new = FOLLOWS > 0 or not is_duplicate(log, log.next_sequence)
    require(answered or (is_new and FOLLOWS == 0))
    if is_new:
        require(accepts(log, log.next_sequence))
        append(log, data(log), rolls=rolls)
        log.appended = max(log.appended, log.next_sequence + 1)
    else:
        require(not rolls)
    if answered:
        log.next_sequence += 1
        log.high_watermark = end_offset(log)


@action(
    by=PRODUCER,
    description="another producer appends a batch; it is replicated: {replicated}; the log rolls: {rolls}",
    source="Log.append",
)
def append_other(log: ProducerLog, replicated: bool, rolls: bool) -> None:
    """Batches of others make the log longer than the producer's are."""
    require(log.is_up)
    append(log, ProducerBatch(kind=BatchKind.OTHER, sequence=0, epoch=0, time=0, is_repeated=False), rolls=rolls)
    if replicated:
        log.high_watermark = end_offset(log)


@action(by=PRODUCER, description="begins a transaction with the partition", source="KafkaProducer.beginTransaction")
def begin(log: ProducerLog) -> None:
    """The coordinator knows that the partition belongs to the transaction."""
    require(not log.is_ongoing and not log.is_fenced and not log.in_flight)
    log.is_ongoing = True


@action(by=PRODUCER, description="sends a batch, which is delayed", source="Sender.sendProduceRequest")
def delay(log: ProducerLog) -> None:
    """The producer has waited for delivery.timeout.ms, and gives the batch up."""
    require(log.is_ongoing and not log.in_flight)
    log.in_flight = True


@action(
    by=LOG,
    description="gets the batch that was delayed",
    source="Log.append; UnifiedLog.analyzeAndValidateProducerState",
)
def arrive(log: ProducerLog) -> None:
    """Since KIP-890 the leader asks the coordinator, unless the log has an open transaction of the producer."""
    require(log.is_up and log.in_flight)
    has_open = log.entry is not None and log.entry.transaction is not None
    is_refused = bool(TRANSACTIONS_ARE_VERIFIED) and not has_open and not log.is_ongoing
    if not is_refused and not is_duplicate(log, log.next_sequence) and accepts(log, log.next_sequence):
        append(log, data(log), rolls=False)
        log.appended = max(log.appended, log.next_sequence + 1)
    log.in_flight = False


@action(by=PRODUCER, description="has sent a batch twice, as its answer was late", source="Sender.completeBatch")
def delay_copy(log: ProducerLog) -> None:
    """The log has got it, and has answered the second request; the first one is still on its way."""
    require(log.copy is None and log.next_sequence > 0)
    log.copies += 1
    log.copy = log.next_sequence - 1


@action(
    by=LOG,
    description="gets the copy that was late",
    source="UnifiedLog.maybeStartTransactionVerification; VerificationStateEntry.maybeUpdateLowestSequenceAndEpoch",
)
def arrive_copy(log: ProducerLog) -> None:
    """The log has the batch. Since KIP-890 the leader asks the coordinator first, unless it has an open transaction."""
    require(log.is_up and log.copy is not None)
    assert log.copy is not None
    has_open = log.entry is not None and log.entry.transaction is not None
    if TRANSACTIONS_ARE_VERIFIED and EARLIEST_SEQUENCE_COUNTS and not has_open:
        log.earliest = log.copy if log.earliest is None else min(log.earliest, log.copy)
    log.copy = None


@action(
    by=COORDINATOR,
    description="ends the transaction, with epoch {epoch} in the marker",
    source="TransactionMarkerChannelManager.addTxnMarkersToSend; ProducerAppendInfo.appendEndTxnMarker",
)
def end_transaction(log: ProducerLog, epoch: Epoch) -> None:
    """As the producer asks, or after transaction.timeout.ms with the next epoch, which fences the producer."""
    require(log.is_up and log.is_ongoing)
    marker = ProducerBatch(kind=BatchKind.MARKER, sequence=0, epoch=epoch, time=log.clock, is_repeated=False)
    append(log, marker, rolls=False)
    log.is_ongoing, log.is_fenced = False, epoch > 0
    log.high_watermark = end_offset(log)


def is_expired(entry: ProducerEntry, now: int) -> bool:
    """Whether the producer has appended nothing for long (Kafka: ProducerStateManager.isProducerExpired)."""
    return entry.transaction is None and now - entry.time >= EXPIRATION_MS


@action(
    by=LOG,
    description="forgets the producer, which has appended nothing for long",
    source="ProducerStateManager.removeExpiredProducers",
)
def expire(log: ProducerLog) -> None:
    """At intervals."""
    require(log.is_up and log.entry is not None)
    assert log.entry is not None
    require(is_expired(log.entry, log.clock))
    log.entry = None


@action(by=TIME, description="time passes")
def time_passes(log: ProducerLog) -> None:
    """More than a batch can be delayed."""
    require(log.clock < TIMES and not log.in_flight)
    log.clock += 1


@action(
    by=LOG,
    description="deletes the first segment",
    source="Log.deleteOldSegments; ProducerStateManager.truncateHead, ProducerStateManager.onLogStartOffsetIncremented",
)
def delete_first_segment(log: ProducerLog) -> None:
    """By retention, or as clients ask (DeleteRecords). Until KAFKA-7190 a producer went with its last batch."""
    require(log.is_up and len(log.bases) > 1 and log.bases[1] <= log.high_watermark)
    number = log.bases[1] - log.start_offset
    for turn in range(OFFSETS):
        if turn < number:
            log.batches.pop()
    log.start_offset = log.bases[1]
    log.bases.pop()
    log.snapshots = [snapshot for snapshot in log.snapshots if snapshot.offset >= log.start_offset]
    if log.entry is not None and not is_retained(log.entry, log.start_offset):
        log.entry = None


def is_retained(entry: ProducerEntry, start_offset: int) -> bool:
    """Whether the log has the producer's last batch, or need not have it (Kafka: isProducerRetained)."""
    return bool(PRODUCERS_OUTLIVE_RECORDS) or entry.offset >= start_offset


def load_producers(log: ProducerLog, *, was_known: bool = True, starts: bool = False) -> None:
    """Read the last snapshot within the log, and the batches behind it; then write a snapshot.

    A start writes one where each segment begins that it reads, too. A log that knew no producer before a truncation
    reads no batches. Before KAFKA-10832 a recovery of the last segment read each segment before it as if no
    transaction were open.
    Kafka: Log.loadProducerState, ProducerStateManager.truncateAndReload, ProducerStateManager.loadFromSnapshot.
    """
    end = end_offset(log)
    log.snapshots = [
        snapshot for snapshot in log.snapshots if log.start_offset < snapshot.offset <= end and not snapshot.is_torn
    ]
    entry: ProducerEntry | None = None
    begin_at = log.start_offset
    if not log.snapshots.is_empty:
        last = log.snapshots[-1]
        begin_at = last.offset
        producer = last.producer
        if producer is not None and is_retained(producer, log.start_offset) and not is_expired(producer, log.clock):
            entry = producer
    at, is_anew = log.start_offset, False
    for batch in log.batches:
        if starts and at > begin_at and any(base == at for base in log.bases):
            log.snapshots.push(
                Snapshot(offset=at, producer=entry, is_flushed=bool(SNAPSHOTS_ARE_FLUSHED), is_torn=False)
            )
        is_before = at < log.bases[-1] and TRANSACTIONAL > 0 and log.recovers_last
        is_anew = is_before and (is_anew or at == begin_at or any(base == at for base in log.bases))
        if at >= begin_at and was_known:
            if is_anew and batch.kind is not BatchKind.OTHER and not RECOVERY_READS_ITS_OWN_STATE:
                entry, is_anew = None if entry is None else evolve(entry, transaction=None), False
            entry = update(entry, batch, at)
        at = at + 1
    log.entry, log.loaded_to = entry, end
    take_snapshot(log, entry)


@action(
    by=REPLICAS,
    description="truncates the log to {offset}, as its leader asks",
    source="Log.truncateTo; Log.updateLogEndOffset, Log.maybeIncrementFirstUnstableOffset",
)
def truncate_to(log: ProducerLog, offset: Offset) -> None:
    """From 2.4.0 to KAFKA-12153 the high watermark followed before the transactions of the truncated part were gone."""
    require(log.is_up and log.high_watermark <= offset and log.start_offset <= offset < end_offset(log))
    log.truncations += 1
    if not TRUNCATES_TRANSACTIONS_FIRST and log.entry is not None and log.entry.transaction is not None:
        is_read = log.entry.transaction < log.loaded_to
        log.has_failed = is_read and log.high_watermark >= offset and log.entry.transaction > offset
    if not log.has_failed:
        at = log.start_offset
        for batch in log.batches:
            if at >= offset and batch.kind is BatchKind.DATA and not batch.is_repeated:
                log.appended = min(log.appended, batch.sequence)
            at = at + 1
        log.batches = [batch for place, batch in enumerate(log.batches) if log.start_offset + place < offset]
        if not SNAPSHOTS_ARE_RENAMED:
            log.doomed = [base for base in log.bases if base > offset]
        log.bases = [base for base in log.bases if base <= offset]
        load_producers(log, was_known=log.entry is not None or bool(TRUNCATION_READS_BATCHES))


@action(
    by=LOG,
    description="deletes the files of the segments that were truncated",
    source="Log.deleteSegmentFiles; ProducerStateManager.removeAndDeleteSnapshot",
)
def delete_files(log: ProducerLog) -> None:
    """After file.delete.delay.ms; in 2.8 also the snapshots of their names, whoever has written these since."""
    require(log.is_up and not log.doomed.is_empty)
    doomed = log.doomed.head
    log.doomed.pop()
    log.snapshots = [snapshot for snapshot in log.snapshots if snapshot.offset != doomed]


@action(
    by=CONSUMER,
    description="fetches with read_committed: the broker looks for an open transaction below the high watermark",
    source="Log.fetchLastStableOffsetMetadata; before 2.4 Replica.lastStableOffset",
)
def begin_read(log: ProducerLog) -> None:
    """Of a fetch that finds one, the end is known: such a fetch is no step."""
    require(log.is_up and not log.is_reading)
    require(log.entry is None or log.entry.transaction is None or log.entry.transaction >= log.high_watermark)
    log.reads += 1
    log.is_reading, log.read_limit = True, log.high_watermark


@action(by=CONSUMER, description="gets the records", source="Log.read; Log.fetchLastStableOffsetMetadata")
def end_read(log: ProducerLog) -> None:
    """Up to the high watermark; before KAFKA-9807 it is read again, and may be another one."""
    require(log.is_up and log.is_reading)
    log.is_reading = False
    log.read_to = log.read_limit if STABLE_OFFSET_IS_OF_ONE_MOMENT else log.high_watermark


@action(
    by=CONSUMER,
    description="looks up the timestamp of the record at {offset} with read_committed, and gets that offset",
    source="KafkaApis.handleListOffsetRequest; Log.fetchOffsetByTimestamp",
)
def look_up(log: ProducerLog, offset: Offset) -> None:
    """Until KAFKA-5522 the record may be of an open transaction, or that at the high watermark."""
    require(log.is_up and log.start_offset <= offset < end_offset(log))
    stable = log.high_watermark
    if log.entry is not None and log.entry.transaction is not None:
        stable = min(stable, log.entry.transaction)
    require(offset < stable or (not LOOKUPS_END_AT_THE_STABLE_OFFSET and offset <= log.high_watermark))
    log.lookups += 1
    log.looked_up = offset


@action(by=OPERATOR, description="stops the broker", source="Log.close; ProducerStateManager.takeSnapshot")
def stop(log: ProducerLog) -> None:
    """A snapshot has all that is known."""
    require(log.is_up)
    log.stops += 1
    take_snapshot(log, log.entry)
    shut(log)


@action(
    by=FAULT,
    description="crashes; the machine loses what was not flushed: {loses}; the next start recovers the log: {whole}",
    source="Log.recoverSegment; ProducerStateManager.truncateAndReload",
)
def crash(log: ProducerLog, loses: bool, whole: bool) -> None:
    """A snapshot that was not flushed is empty then.

    The next start recovers the last segment, or the whole log if the recovery point is old; it reads no snapshot from
    within or behind the first segment that it recovers.
    """
    require(log.is_up and (LOSSES > 0 or not loses) and (len(log.bases) > 1 or not whole))
    log.crashes += 1
    recovered = log.bases.head if whole else log.bases[-1]
    if TRANSACTIONAL > 0:
        log.recovers_last = not whole
    log.snapshots = [snapshot for snapshot in log.snapshots if snapshot.offset <= recovered]
    if loses:
        log.snapshots = [
            Snapshot(
                offset=snapshot.offset,
                producer=snapshot.producer,
                is_flushed=snapshot.is_flushed,
                is_torn=not snapshot.is_flushed,
            )
            for snapshot in log.snapshots
        ]
    shut(log)


def shut(log: ProducerLog) -> None:
    """Forget what only the broker's memory has."""
    log.is_up, log.entry, log.loaded_to, log.earliest = False, None, 0, None
    log.doomed.clear()


@action(by=LOG, description="starts, and loads what it knows of producers", source="LogLoader.load; Log.loadSegments")
def start(log: ProducerLog) -> None:
    """Snapshots at or below the start offset are not read, although a producer may be in them alone.

    Until KAFKA-5747 a part of a snapshot was an exception.
    """
    require(not log.is_up and (LOSSES == 0 or not log.cannot_start))
    if not TORN_SNAPSHOTS_ARE_LEFT_OUT and any(snapshot.is_torn for snapshot in log.snapshots):
        log.cannot_start = True
    else:
        log.is_up = True
        load_producers(log, starts=True)
        log.recovers_last = False
        # The state is read from a snapshot at the end of the log, which a stop has written, or a recovery.
        if log.entry is not None and is_expired(log.entry, log.clock):
            log.entry = None


def starts_empty(log: ProducerLog) -> None:
    """One empty segment."""
    log.bases.push(0)
