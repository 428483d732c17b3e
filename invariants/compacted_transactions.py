"""Properties of transactions in a compacted log: what readers with isolation.level=read_committed lose."""

from __future__ import annotations

from kwalk.model.kafka.storage.compacted_transactions import EntryKind, TransactionalLog
from kwalk.model.language import always, reachable


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


@reachable()
def marker_is_removed(log: TransactionalLog) -> bool:
    """A transaction was ended, and its marker is gone."""
    return not log.aborted.is_empty and log.cleanings > 0 and log.index.is_empty
