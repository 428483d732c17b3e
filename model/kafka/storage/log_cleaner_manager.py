"""LogCleanerManager: who may change a log, the cleaner's thread or a fetcher that truncates; what errors leave of that.

One log with cleanup.policy=compact,delete. The cleaner's thread chooses it, and cleans it or deletes its old segments.
A fetcher that truncates the log aborts that, waits until the thread has noticed it, and resumes the log at the end.

What the model leaves out, and why its story loses nothing by it:

* Other logs: a thread that has died cleans none of them, and one that lives cleans them as this one.
* What a cleaning keeps and how it ends in a crash, which `log_cleaner` has.
* Pauses for other reasons, as for a move to another directory, which `future_log` has.
"""

from __future__ import annotations

from enum import Enum

from kwalk.model.kafka.storage.domains import FAULT, FETCHER, LOG_CLEANER, OFFSETS, PRODUCER, TIME, TRUNCATIONS, Offset
from kwalk.model.kafka.storage.versions.compaction import (
    CHOICES_OUTLIVE_ERRORS,
    CLEANERS_OUTLIVE_ERRORS,
    DELETIONS_CAN_BE_ABORTED,
    FAILED_TRUNCATIONS_RESUME,
)
from kwalk.model.language import Bound, action, choice, flag, number, require, state

LOG_ERRORS = Bound("log_errors", "how often a cleaning, the choice of a log, or a truncation fails")
EXPIRATIONS = Bound("expirations", "how often a segment of the log becomes older than retention.ms")


class CleaningState(Enum):
    """Whether the log may be chosen, is worked on, or must not be worked on (Kafka: LogCleaningState)."""

    NONE = "none"
    IN_PROGRESS = "in progress"
    ABORTED = "aborted"
    PAUSED = "paused"


class CleanerTask(Enum):
    """What the cleaner's thread does with the log."""

    IDLE = "nothing"
    CLEANING = "cleans it"
    DELETING = "deletes its old segments"


class FetcherTask(Enum):
    """Whether a fetcher waits for the cleaner's thread, or truncates."""

    IDLE = "nothing"
    WAITING = "waits"
    TRUNCATING = "truncates"


@state
class ManagedLog:
    """A log, of which the part from `dirty_offset` on is not clean; what the thread and the fetcher do with it.

    The cleaning goes up to `cleaning_to`. The log `has_expired` if it has old segments, and `is_uncleanable` after an
    error that the thread has outlived.
    """

    end_offset: int = number(0, OFFSETS)
    dirty_offset: int = number(0, OFFSETS)
    cleaning_to: int = number(0, OFFSETS)
    has_expired: bool = flag()
    cleaning: CleaningState = choice(CleaningState)
    cleaner: CleanerTask = choice(CleanerTask)
    fetcher: FetcherTask = choice(FetcherTask)
    is_uncleanable: bool = flag()
    is_cleaner_dead: bool = flag()
    expirations: int = number(0, EXPIRATIONS)
    truncations: int = number(0, TRUNCATIONS)
    log_errors: int = number(0, LOG_ERRORS)


@action(by=PRODUCER, description="appends a record", source="Log.append")
def append_record(log: ManagedLog) -> None:
    """Appends do not wait for the cleaner."""
    log.end_offset += 1


@action(by=TIME, description="a segment becomes older than retention.ms")
def expire(log: ManagedLog) -> None:
    """It is to be deleted."""
    require(not log.has_expired)
    log.expirations += 1
    log.has_expired = True


def may_choose(log: ManagedLog) -> bool:
    """Whether the cleaner's thread looks at the log (Kafka: LogCleanerManager.inProgress, uncleanablePartitions)."""
    is_free = log.cleaner is CleanerTask.IDLE and log.cleaning is CleaningState.NONE
    return is_free and not log.is_uncleanable and not log.is_cleaner_dead


def may_clean(log: ManagedLog) -> bool:
    """Whether the log is chosen for a cleaning."""
    return may_choose(log) and log.dirty_offset < log.end_offset


@action(by=LOG_CLEANER, description="chooses the log", source="LogCleanerManager.grabFilthiestCompactedLog")
def begin_cleaning(log: ManagedLog) -> None:
    """It is cleaned up to its present end: whether that is in an active segment makes no difference here."""
    require(may_clean(log))
    log.cleaning, log.cleaner, log.cleaning_to = CleaningState.IN_PROGRESS, CleanerTask.CLEANING, log.end_offset


def release(log: ManagedLog, dirty_offset: int) -> None:
    """Give the log back: it is clean up to an offset, unless the work was aborted (Kafka: doneCleaning)."""
    if log.cleaning is CleaningState.IN_PROGRESS:
        log.cleaning, log.dirty_offset = CleaningState.NONE, dirty_offset
    else:
        log.cleaning = CleaningState.PAUSED
    log.cleaner, log.cleaning_to = CleanerTask.IDLE, 0


@action(by=LOG_CLEANER, description="has cleaned the log", source="Cleaner.clean; LogCleanerManager.doneCleaning")
def end_cleaning(log: ManagedLog) -> None:
    """Or it has noticed that it is to abort (LogCleaningAbortedException)."""
    require(log.cleaner is CleanerTask.CLEANING)
    release(log, log.cleaning_to)


@action(by=LOG_CLEANER, description="chooses the log, to delete segments", source="LogCleanerManager.deletableLogs")
def begin_deletion(log: ManagedLog) -> None:
    """Of a compacted log the cleaner's thread deletes the old segments."""
    require(may_choose(log) and log.has_expired)
    log.cleaning, log.cleaner = CleaningState.IN_PROGRESS, CleanerTask.DELETING


@action(
    by=LOG_CLEANER,
    description="has deleted the old segments",
    source="Log.deleteOldSegments; LogCleanerManager.doneDeleting",
)
def end_deletion(log: ManagedLog) -> None:
    """Until KAFKA-6568 the state of the log was removed, whatever it was."""
    require(log.cleaner is CleanerTask.DELETING)
    log.has_expired = False
    if not DELETIONS_CAN_BE_ABORTED:
        log.cleaning = CleaningState.IN_PROGRESS
    release(log, log.dirty_offset)


@action(
    by=FAULT,
    description="a cleaning ends with an error that is not of the disk",
    source="LogCleaner.cleanOrSleep; LogCleaner.cleanFilthiestLog",
)
def fail_to_clean(log: ManagedLog) -> None:
    """As a batch that cannot be read has; since KAFKA-7215 the thread leaves that log out, and lives."""
    require(log.cleaner is CleanerTask.CLEANING)
    log.log_errors += 1
    release(log, log.dirty_offset)
    log.is_uncleanable, log.is_cleaner_dead = bool(CLEANERS_OUTLIVE_ERRORS), not CLEANERS_OUTLIVE_ERRORS


@action(
    by=FAULT,
    description="the choice of a log ends with an error of this one",
    source="LogCleanerManager.cleanableOffsets; LogCleaner.tryCleanFilthiestLog",
)
def fail_to_choose(log: ManagedLog) -> None:
    """As a segment has that was deleted meanwhile; since KAFKA-8725 the thread leaves that log out, and lives."""
    require(may_clean(log))
    log.log_errors += 1
    log.is_uncleanable, log.is_cleaner_dead = bool(CHOICES_OUTLIVE_ERRORS), not CHOICES_OUTLIVE_ERRORS


@action(
    by=FETCHER,
    description="is to truncate the log, and pauses the cleaner",
    source="LogManager.truncateTo; LogCleanerManager.abortAndPauseCleaning",
)
def begin_truncation(log: ManagedLog) -> None:
    """It waits for a thread that is at work. After a truncation that was never ended it fails."""
    require(log.fetcher is FetcherTask.IDLE and log.cleaning in (CleaningState.NONE, CleaningState.IN_PROGRESS))
    require(log.end_offset > 0)
    log.truncations += 1
    if log.cleaning is CleaningState.NONE:
        log.cleaning, log.fetcher = CleaningState.PAUSED, FetcherTask.TRUNCATING
    else:
        log.cleaning, log.fetcher = CleaningState.ABORTED, FetcherTask.WAITING


@action(by=FETCHER, description="sees that the cleaner has paused", source="LogCleanerManager.abortAndPauseCleaning")
def end_wait(log: ManagedLog) -> None:
    """The thread of the cleaner has given the log back."""
    require(log.fetcher is FetcherTask.WAITING and log.cleaning is CleaningState.PAUSED)
    log.fetcher = FetcherTask.TRUNCATING


@action(
    by=FETCHER,
    description="truncates the log to {offset}, and resumes the cleaner",
    source="Log.truncateTo; LogCleanerManager.maybeTruncateCheckpoint, LogCleanerManager.resumeCleaning",
)
def truncate(log: ManagedLog, offset: Offset) -> None:
    """The clean part ends with the log."""
    require(log.fetcher is FetcherTask.TRUNCATING and offset < log.end_offset)
    log.end_offset, log.dirty_offset = offset, min(log.dirty_offset, offset)
    log.fetcher, log.cleaning = FetcherTask.IDLE, CleaningState.NONE


@action(by=FAULT, description="the truncation fails", source="LogManager.truncateTo")
def fail_to_truncate(log: ManagedLog) -> None:
    """As one to an offset that is none; until KAFKA-3123 the cleaner was not resumed."""
    require(log.fetcher is FetcherTask.TRUNCATING)
    log.log_errors += 1
    log.fetcher = FetcherTask.IDLE
    if FAILED_TRUNCATIONS_RESUME:
        log.cleaning = CleaningState.NONE
