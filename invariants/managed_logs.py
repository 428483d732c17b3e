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
    symptom="the cleaner compacts a log that its manager does not list as being cleaned",
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
    """Old segments are deleted by a task for that, which ends then; they become old once, which is counted."""
    premise(before.has_expired != after.has_expired or after.expirations != before.expirations)
    if after.has_expired:
        return not before.has_expired and after.expirations == before.expirations + 1
    is_over = before.cleaner is CleanerTask.DELETING and after.cleaner is CleanerTask.IDLE
    return is_over and after.dirty_offset == before.dirty_offset


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


@step(
    symptom="disk space: a compacted log is not cleaned although it had no error, or is tried again and again",
    log="Unexpected exception thrown when cleaning log …. Marking its partition (…) as uncleanable",
)
def log_with_an_error_is_left_out(before: ManagedLog, after: ManagedLog) -> bool:
    """An error of a cleaning, or of a choice, leaves the log as it was, and the log is not chosen any more."""
    is_chosen = before.cleaner is CleanerTask.IDLE and after.cleaner is not CleanerTask.IDLE
    has_failed = after.log_errors != before.log_errors and before.fetcher is not FetcherTask.TRUNCATING
    premise(has_failed or before.is_uncleanable != after.is_uncleanable or (before.is_uncleanable and is_chosen))
    is_dirty = before.cleaner is CleanerTask.IDLE and before.dirty_offset < before.end_offset
    is_at_work = before.cleaner is CleanerTask.CLEANING or is_dirty
    is_over = after.cleaner is CleanerTask.IDLE and after.dirty_offset == before.dirty_offset
    is_left_out = after.is_uncleanable or after.is_cleaner_dead
    return is_at_work and is_over and is_left_out and after.log_errors == before.log_errors + 1


@step(
    symptom="the cleaner's thread cleans what is clean",
    log="Cleaner …: Cleaning log … (cleaning prior to …, discarding tombstones prior to …)",
)
def dirty_log_is_cleaned(before: ManagedLog, after: ManagedLog) -> bool:
    """A cleaning begins of a log that is dirty, and goes up to its end."""
    premise(before.cleaner is not CleanerTask.CLEANING and after.cleaner is CleanerTask.CLEANING)
    return before.dirty_offset < before.end_offset == after.cleaning_to


@step(
    symptom="a follower has records that its leader lacks, and fetches nothing",
    log="none",
)
def truncation_shortens_the_log(before: ManagedLog, after: ManagedLog) -> bool:
    """A fetcher that begins to truncate has waited or begun to; at the end the log is shorter, or there is an error."""
    premise(before.fetcher is not after.fetcher or before.truncations != after.truncations)
    if before.fetcher is FetcherTask.IDLE:
        return after.fetcher is not FetcherTask.IDLE and after.truncations == before.truncations + 1
    if before.fetcher is FetcherTask.WAITING:
        return after.fetcher is FetcherTask.TRUNCATING and after.truncations == before.truncations
    if after.end_offset == before.end_offset:
        return after.log_errors == before.log_errors + 1
    is_shorter = after.end_offset < before.end_offset
    return is_shorter and after.dirty_offset == min(before.dirty_offset, after.end_offset)


@reachable()
def cleaning_is_aborted(log: ManagedLog) -> bool:
    """A fetcher waits for the thread that cleans."""
    return log.fetcher is FetcherTask.WAITING and log.cleaner is CleanerTask.CLEANING


@reachable()
def log_is_clean_after_a_truncation(log: ManagedLog) -> bool:
    """A log that was truncated is clean."""
    return log.truncations > 0 and log.cleaning is CleaningState.NONE and 0 < log.dirty_offset == log.end_offset
