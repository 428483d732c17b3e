"""Properties of offsets that a producer commits in one transaction after another."""

from __future__ import annotations

from kwalk.model.kafka.groups.transactional_offsets import (
    CommitProgress,
    Ending,
    ExpiringCommit,
    KnownOffset,
    OvertakenCommit,
    TransactionalOffsets,
)
from kwalk.model.language import always, premise, reachable, step, when_quiescent


@always(
    symptom="consumers of a transactional producer read records again, or wait: the last offset of their group is gone",
    log="Trying to complete a transactional offset commit for producerId … and groupId … even though the offset commit "
    "record itself hasn't been appended to the log.",
)
def offset_of_an_ended_transaction_is_known(group: TransactionalOffsets) -> bool:
    """Once the end of a transaction is taken over, the coordinator tells the offset that the log has."""
    premise(group.ending is Ending.NONE)
    return group.cache == group.in_log


@step(symptom="a group has an offset of a transaction that was aborted, or goes back", log="none")
def known_offset_was_committed(before: TransactionalOffsets, after: TransactionalOffsets) -> bool:
    """An offset that consumers are told is that of the last transaction which was committed, and ends by then."""
    premise(before.cache != after.cache)
    return before.cache < after.cache == after.in_log and before.ending is Ending.COMMIT and after.ending is Ending.NONE


@step(symptom="an offset is committed without a marker", log="none")
def transaction_ends_once(before: TransactionalOffsets, after: TransactionalOffsets) -> bool:
    """A transaction ends once its offset is appended; it is committed or leaves the log's offset as it was."""
    is_ended = before.commit is CommitProgress.APPENDED and after.commit is not CommitProgress.APPENDED
    premise(is_ended or (before.ending is Ending.NONE and after.ending is not Ending.NONE))
    if before.ending is not Ending.NONE or after.ending is Ending.NONE:
        return False
    is_same = after.in_log == (before.sent if after.ending is Ending.COMMIT else before.in_log)
    return (
        before.commit is CommitProgress.APPENDED
        and is_same
        and before.pending == after.pending
        and before.sent == after.sent
    )


@step(symptom="offsets are pending for good, and fetches of them fail", log="none")
def nothing_is_pending_after_an_end(before: TransactionalOffsets, after: TransactionalOffsets) -> bool:
    """Once the end of a transaction is taken over, nothing of the producer is pending."""
    premise(before.ending is not Ending.NONE and after.ending is Ending.NONE)
    return after.pending is None and not after.is_appended


@step(symptom="a producer commits in two transactions at a time", log="none")
def commit_follows_another(before: TransactionalOffsets, after: TransactionalOffsets) -> bool:
    """A commit is the next one, of a producer that was told of the last; it is noted, and not appended yet."""
    premise(before.sent != after.sent)
    is_noted = after.pending == after.sent == before.sent + 1 and not after.is_appended
    return before.commit is CommitProgress.NONE and after.commit is CommitProgress.SENT and is_noted


@always(symptom="an offset is taken over that is not in the log", log="none")
def appended_offset_is_noted(group: TransactionalOffsets) -> bool:
    """What the coordinator knows to be appended is the last commit, which was answered."""
    premise(group.is_appended)
    return group.pending == group.sent and group.commit is not CommitProgress.SENT


@reachable()
def offset_is_appended_after_an_end(group: TransactionalOffsets) -> bool:
    """The offset of a second transaction is appended, and none is to be taken over."""
    return group.sent > 1 and group.commit is CommitProgress.APPENDED and group.ending is Ending.NONE


@always(
    symptom="the offset that a transaction committed is gone once the coordinator has moved: auto.offset.reset applies",
    log="none: the log of __consumer_offsets has a tombstone in place of the offset",
)
def committed_offset_outlives_a_cleaning(group: ExpiringCommit) -> bool:
    """Once a transaction is committed, consumers are told its offset."""
    premise(group.is_committed)
    return group.cache is KnownOffset.NEW


@step(symptom="an offset is committed that is not in the log", log="none")
def transaction_is_committed_once(before: ExpiringCommit, after: ExpiringCommit) -> bool:
    """A transaction is open, and then committed; the log has the same tombstones."""
    premise(before.is_pending != after.is_pending or before.is_committed != after.is_committed)
    is_same = before.is_removed == after.is_removed and before.is_removed_last == after.is_removed_last
    if after.is_pending:
        return is_same and not before.is_committed and not after.is_committed and before.cache is after.cache
    return is_same and before.is_pending and after.is_committed and after.cache is KnownOffset.NEW


@step(symptom="an offset expires before its time, or twice", log="none")
def tombstone_is_of_the_old_offset(before: ExpiringCommit, after: ExpiringCommit) -> bool:
    """The old offset expires once; the tombstone is behind the record of a transaction that is open."""
    premise(before.is_removed != after.is_removed or before.is_removed_last != after.is_removed_last)
    is_old = before.cache is KnownOffset.OLD and after.cache is KnownOffset.NONE
    return is_old and after.is_removed and after.is_removed_last == before.is_pending


@step(symptom="an open transaction is cleaned away", log="none")
def cleaning_follows_a_commit(before: ExpiringCommit, after: ExpiringCommit) -> bool:
    """The log is cleaned once the transaction has ended, and no consumer is told another offset by that."""
    premise(before.is_cleaned != after.is_cleaned)
    return before.is_committed and after.is_cleaned and before.cache is after.cache


@step(symptom="a coordinator that loads a group has an offset that its log has not", log="none")
def loaded_offset_is_in_the_log(before: ExpiringCommit, after: ExpiringCommit) -> bool:
    """Without a commit, or a removal, a coordinator has what it had, or what is behind a tombstone."""
    premise(before.cache is not after.cache and before.is_removed == after.is_removed)
    premise(before.is_committed == after.is_committed)
    return after.cache is KnownOffset.NONE and after.is_cleaned and after.is_removed_last


@reachable()
def cleaned_offset_is_known(group: ExpiringCommit) -> bool:
    """The offset of a transaction is known after a cleaning, which has removed an earlier tombstone."""
    return group.is_cleaned and group.is_removed and not group.is_removed_last and group.cache is KnownOffset.NEW


@when_quiescent(
    symptom="an offset that was committed is gone once the coordinator has moved: auto.offset.reset applies",
    log="none: the log of __consumer_offsets has a tombstone behind the offset",
)
def committed_offset_is_the_last_record(group: OvertakenCommit) -> bool:
    """At last the log has what the coordinator tells consumers, for the next one to load."""
    return group.cache is group.last


@step(symptom="an offset expires before its time, or twice", log="none")
def expired_offset_is_chosen_once(before: OvertakenCommit, after: OvertakenCommit) -> bool:
    """What is chosen is the old offset, which is in the log still; its tombstone is the last record then."""
    premise(before.is_chosen != after.is_chosen)
    if after.is_chosen:
        is_old = before.cache is KnownOffset.OLD and after.cache is KnownOffset.NONE
        return is_old and before.last is after.last is KnownOffset.OLD
    return after.last is KnownOffset.NONE and before.cache is after.cache


@step(symptom="a commit is answered that is not in the log", log="none")
def commit_is_appended(before: OvertakenCommit, after: OvertakenCommit) -> bool:
    """An offset that consumers are told is new, and in the log; a commit leaves what is chosen as it is."""
    premise(before.cache is not after.cache and after.cache is not KnownOffset.NONE)
    return after.cache is after.last is KnownOffset.NEW and before.is_chosen == after.is_chosen


@reachable()
def old_offset_is_removed(group: OvertakenCommit) -> bool:
    """An old offset is removed, and nothing else is to be."""
    return group.last is KnownOffset.NONE and group.cache is KnownOffset.NONE and not group.is_chosen
