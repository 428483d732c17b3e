"""Properties of transactions in a compacted log: what readers with isolation.level=read_committed lose."""

from __future__ import annotations

from kwalk.model.kafka.storage.compacted_transactions import EntryKind, TransactionalEntry, TransactionalLog
from kwalk.model.kafka.storage.domains import Key
from kwalk.model.language import always, premise, reachable, step


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


@reachable()
def marker_is_removed(log: TransactionalLog) -> bool:
    """A transaction was ended, and its marker is gone."""
    return not log.aborted.is_empty and log.cleanings > 0 and log.index.is_empty
