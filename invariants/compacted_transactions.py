"""Properties of transactions in a compacted log: what readers with isolation.level=read_committed lose."""

from __future__ import annotations

from kwalk.model.kafka.storage.compacted_transactions import EntryKind, TransactionalEntry, TransactionalLog
from kwalk.model.kafka.storage.domains import KEYS, MAP_KEYS, Key
from kwalk.model.kafka.storage.versions.compaction import MARKERS_HAVE_NO_KEY
from kwalk.model.language import always, premise, reachable, step


@always(
    symptom="compacted topics grow without bound: the log cleaner does nothing any more",
    log="This log contains a message larger than maximum allowable size of ….",
)
def cleaner_outlives_transactions(log: TransactionalLog) -> bool:
    """The cleaner lives, however many batches it discards as a whole."""
    return not log.is_cleaner_dead


@always(
    symptom="consumers with isolation.level=read_committed get records of a transaction that was aborted",
    log="none: kafka-dump-log.sh --files ….txnindex lacks the transaction",
)
def aborted_record_is_left_out(log: TransactionalLog) -> bool:
    """The transaction index has each aborted transaction of which there are records."""
    return all(
        entry.kind is not EntryKind.RECORD
        or not any(entry.transaction == first for first in log.aborted)
        or any(aborted.first_offset <= entry.offset <= aborted.last_offset for aborted in log.index)
        for entry in log.entries
    )


@always(
    symptom="after a restart consumers with isolation.level=read_committed stop at a transaction that was ended",
    log="none: kafka-transactions.sh find-hanging shows the transaction",
)
def transaction_has_its_marker(log: TransactionalLog) -> bool:
    """A transaction of which there are records has its marker, once it is ended."""
    return all(
        entry.transaction is None
        or entry.transaction == log.ongoing
        or any(
            marker.kind is not EntryKind.RECORD and marker.transaction == entry.transaction for marker in log.entries
        )
        for entry in log.entries
    )


@step(
    symptom="the current value of a key is gone from a compacted topic",
    log="Cleaner …: Swapping in cleaned segment … for segment(s) … in log …",
)
def last_committed_record_is_kept(before: TransactionalLog, after: TransactionalLog, key: Key) -> bool:
    """A cleaning keeps the last record of a key that is not of an aborted transaction, nor of one that is open."""
    premise(after.cleanings > before.cleanings)
    last = max(
        (entry.offset for entry in before.entries if entry.key == key and is_committed(before, entry)), default=-1
    )
    premise(last >= 0)
    return any(entry.offset == last for entry in after.entries)


def is_committed(log: TransactionalLog, entry: TransactionalEntry) -> bool:
    """Whether an entry is a record without a transaction, or of one that was committed."""
    is_decided = entry.transaction is None or entry.transaction != log.ongoing
    return (
        entry.kind is EntryKind.RECORD and is_decided and not any(entry.transaction == first for first in log.aborted)
    )


@always(
    symptom="a compacted topic grows as if it were not compacted",
    log="Log cleaner thread … cleaned log … (dirty section = […, …])",
)
def cleaned_part_has_the_last_records(log: TransactionalLog, key: Key) -> bool:
    """Before the cleaner's checkpoint a key has one record at most, and none of an aborted transaction."""
    return (
        sum(
            entry.kind is EntryKind.RECORD and entry.key == key and entry.offset < log.dirty_offset
            for entry in log.entries
        )
        <= 1
    )


@step(
    symptom="consumers with isolation.level=read_committed leave out records of a committed transaction, as they "
    "have not got the marker of an aborted one",
    log="none: kafka-dump-log.sh shows no marker behind the records that were read",
)
def marker_outlives_its_records(before: TransactionalLog, after: TransactionalLog) -> bool:
    """A cleaning removes no marker of a transaction of which it finds records: a consumer may have read these."""
    return all(
        entry.kind is EntryKind.RECORD or has_entry(after, entry) or not has_record_of(before, entry)
        for entry in before.entries
    )


@always(
    symptom="consumers with isolation.level=read_committed leave out records of committed transactions: they "
    "take them for those of an aborted one",
    log="none: kafka-dump-log.sh --files ….txnindex shows a transaction without a marker",
)
def index_has_the_marker(log: TransactionalLog) -> bool:
    """An aborted transaction that the transaction index has also has its marker, behind which consumers forget it."""
    return all(
        any(entry.kind is EntryKind.ABORT and entry.offset == aborted.last_offset for entry in log.entries)
        for aborted in log.index
    )


@step(
    symptom="markers fill a compacted topic, such as __consumer_offsets, whose transactions have no record any more",
    log="none: kafka-dump-log.sh shows the markers",
)
def needless_markers_go(before: TransactionalLog, after: TransactionalLog) -> bool:
    """A cleaning that removes a marker removes all whose transactions have no record."""
    premise(
        bool(MARKERS_HAVE_NO_KEY)
        and any(entry.kind is not EntryKind.RECORD and not has_entry(after, entry) for entry in before.entries)
    )
    return not any(entry.kind is not EntryKind.RECORD and not has_record_of(before, entry) for entry in after.entries)


def has_entry(log: TransactionalLog, entry: TransactionalEntry) -> bool:
    """Whether the log has an entry at the offset of another log's."""
    return any(kept.offset == entry.offset for kept in log.entries)


def has_record_of(log: TransactionalLog, marker: TransactionalEntry) -> bool:
    """Whether the log has a record of a marker's transaction."""
    return any(entry.kind is EntryKind.RECORD and entry.transaction == marker.transaction for entry in log.entries)


@step(
    symptom="the lag of consumers counts records that are not there, or a producer is answered another offset",
    log="none: kafka-dump-log.sh shows the offsets",
)
def appended_entry_ends_the_log(before: TransactionalLog, after: TransactionalLog) -> bool:
    """A record or a marker that is appended gets the next offset."""
    premise(after.end_offset > before.end_offset)
    return after.end_offset == before.end_offset + 1 and after.entries[-1].offset == before.end_offset


def mapped_keys(log: TransactionalLog, start: int, end: int) -> int:
    """Return how many keys the records from an offset up to another one have, but for those of aborted transactions."""
    return sum(
        any(
            entry.kind is EntryKind.RECORD
            and entry.key == key
            and start <= entry.offset < end
            and not any(entry.transaction == first for first in log.aborted)
            for entry in log.entries
        )
        for key in KEYS
    )


@step(
    symptom="compacted topics grow without bound: the log cleaner does nothing any more",
    log="Attempt to add a new entry to a full offset map.",
)
def map_has_room(before: TransactionalLog, after: TransactionalLog) -> bool:
    """A cleaning covers no more keys than the cleaner's map has room for."""
    premise(MAP_KEYS > 0 and after.cleanings > before.cleanings)
    return mapped_keys(before, before.dirty_offset, after.dirty_offset) <= MAP_KEYS


@step(
    symptom="old values of keys stay in closed segments, although the log cleaner runs",
    log="Log cleaner thread … cleaned log … (dirty section = […, …])",
)
def cleaning_fills_its_map(before: TransactionalLog, after: TransactionalLog) -> bool:
    """A cleaning covers something, and goes to the open transaction, or to where the cleaner's map is full."""
    premise(after.cleanings > before.cleanings)
    end = before.end_offset if before.ongoing is None else before.ongoing
    is_full = 0 < MAP_KEYS <= mapped_keys(before, before.dirty_offset, after.dirty_offset)
    return before.dirty_offset < after.dirty_offset <= end and (after.dirty_offset == end or is_full)


@reachable()
def plain_records_are_cleaned(log: TransactionalLog) -> bool:
    """A log with a record of a transaction and one without is cleaned up to its end."""
    records = [entry for entry in log.entries if entry.kind is EntryKind.RECORD]
    has_both = any(entry.transaction is None for entry in records) and any(
        entry.transaction is not None for entry in records
    )
    return has_both and log.dirty_offset == log.end_offset


@reachable()
def marker_is_removed(log: TransactionalLog) -> bool:
    """A transaction was aborted, and its marker is gone."""
    return not log.aborted.is_empty and not any(entry.kind is EntryKind.ABORT for entry in log.entries)
