"""Properties of a log that the cleaner and a fetcher share: errors and truncations leave both at work."""

from __future__ import annotations

from kwalk.model.kafka.storage.log_cleaner_manager import CleanerTask, CleaningState, FetcherTask, ManagedLog
from kwalk.model.language import always, premise, reachable, step, when_quiescent


@always(
    symptom="disk space: no compacted log of the broker is cleaned any more, until it starts again",
    log="[kafka-log-cleaner-thread-…]: Error due to …",
)
def cleaner_outlives_errors(log: ManagedLog) -> bool:
    """An error of one log does not end the thread that cleans all of them."""
    return not log.is_cleaner_dead


@when_quiescent(
    symptom="disk space: a compacted log is not cleaned any more, until its broker starts again",
    log="Compaction for partition … cannot be aborted and paused since it is in … state.",
)
def cleaning_resumes(log: ManagedLog) -> bool:
    """A log is cleaned at last, and its old segments are deleted, unless it had an error itself."""
    premise(not log.is_uncleanable and not log.is_cleaner_dead)
    return log.dirty_offset == log.end_offset and not log.has_expired


@when_quiescent(
    symptom="a follower stays out of sync: its fetcher does not truncate, nor fetch any of its partitions",
    log="none: a thread dump shows it in LogCleanerManager.abortAndPauseCleaning",
)
def truncation_does_not_wait_for_good(log: ManagedLog) -> bool:
    """A fetcher that waits for the cleaner gets its turn."""
    return log.fetcher is not FetcherTask.WAITING


@always(
    symptom="records of a log that is truncated while it is cleaned come back, or others vanish",
    log="none",
)
def truncation_has_the_log_for_itself(log: ManagedLog) -> bool:
    """While a fetcher truncates, the cleaner's thread does not work on the log."""
    premise(log.fetcher is FetcherTask.TRUNCATING)
    return log.cleaner is CleanerTask.IDLE and log.cleaning is CleaningState.PAUSED


@always(
    symptom="the cleaner works on a log of which nobody knows it",
    log="java.lang.IllegalStateException: In-progress partition … cannot be in … state.",
)
def work_is_known(log: ManagedLog) -> bool:
    """A log on which the thread works is in progress, or aborted; no other one is; what is cleaned is in the log."""
    is_known = log.cleaning in (CleaningState.IN_PROGRESS, CleaningState.ABORTED)
    is_in_log = log.dirty_offset <= log.end_offset and log.cleaning_to <= log.end_offset
    return is_known == (log.cleaner is not CleanerTask.IDLE) and is_in_log


@step(
    symptom="disk space: values that are superseded stay in the clean part of a log",
    log="none: cleaner-offset-checkpoint has an offset that was not reached",
)
def clean_part_grows_by_cleanings(before: ManagedLog, after: ManagedLog) -> bool:
    """What is clean was cleaned: the checkpoint rises with a cleaning that was not aborted, to where it went."""
    premise(after.dirty_offset > before.dirty_offset)
    has_cleaned = before.cleaner is CleanerTask.CLEANING and before.cleaning is CleaningState.IN_PROGRESS
    return has_cleaned and after.dirty_offset == before.cleaning_to


@step(
    symptom="disk space: old segments of a compacted log stay",
    log="none: the files of the segments show their ages",
)
def old_segments_go_by_deletions(before: ManagedLog, after: ManagedLog) -> bool:
    """Old segments are deleted by a task for that, and errors and truncations are counted."""
    premise(before.has_expired and not after.has_expired)
    return before.cleaner is CleanerTask.DELETING and after.log_errors == before.log_errors


@step(
    symptom="a log has other records than its leader after a truncation",
    log="none: the dumps of two brokers differ",
)
def log_shrinks_by_truncations(before: ManagedLog, after: ManagedLog) -> bool:
    """The log ends earlier only after a fetcher has truncated it, and else one record later, or where it did."""
    is_truncated = after.end_offset < before.end_offset
    if is_truncated:
        return before.fetcher is FetcherTask.TRUNCATING and after.fetcher is FetcherTask.IDLE
    return after.end_offset - before.end_offset <= 1


@reachable()
def cleaning_is_aborted(log: ManagedLog) -> bool:
    """A fetcher waits for the thread that cleans."""
    return log.fetcher is FetcherTask.WAITING and log.cleaner is CleanerTask.CLEANING


@reachable()
def log_is_clean_after_a_truncation(log: ManagedLog) -> bool:
    """A log that was truncated is clean."""
    return log.truncations > 0 and log.cleaning is CleaningState.NONE and 0 < log.dirty_offset == log.end_offset
