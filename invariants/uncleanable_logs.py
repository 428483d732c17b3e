"""Properties of the logs that the cleaner leaves out: which are cleaned at last, and what an error of the disk does."""

from __future__ import annotations

from kwalk.model.kafka.storage.uncleanable_logs import CleanableTopic, is_used
from kwalk.model.language import always, premise, reachable, step, when_quiescent


def is_sound(log: CleanableTopic) -> bool:
    """Whether the log is in use, can be read, and the cleaner's thread lives."""
    return is_used(log) and not log.has_bad_batch and not log.has_bad_sector and not log.is_cleaner_dead


@when_quiescent(
    symptom="disk space: a topic that was created again is not compacted, until its broker starts again",
    log="none: the metric uncleanable-partitions-count is above 0",
)
def topic_created_later_is_cleaned(log: CleanableTopic) -> bool:
    """A topic is cleaned that was created again, once the cleaner had come round after the deletion."""
    premise(is_sound(log) and log.recreations > 0 and log.has_come_round)
    return not log.is_dirty


@when_quiescent(
    symptom="disk space: a topic that was created again at once is not compacted, until its broker starts again",
    log="none: the metric uncleanable-partitions-count is above 0",
)
def topic_created_at_once_is_cleaned(log: CleanableTopic) -> bool:
    """A topic is cleaned that was created again, whatever its predecessor had."""
    premise(is_sound(log) and log.recreations > 0)
    return not log.is_dirty


@step(
    symptom="a log directory on a disk that fails stays in use, and one of its topics is not compacted any more",
    log="Failed to read from segment … of partition … while loading offset map",
)
def failed_disk_is_offline(before: CleanableTopic, after: CleanableTopic) -> bool:
    """A disk error that the cleaner meets takes the log directory offline, and does nothing else."""
    is_dead = after.is_cleaner_dead > before.is_cleaner_dead
    is_met = is_dead or after.is_uncleanable > before.is_uncleanable or after.is_offline > before.is_offline
    premise(before.has_bad_sector and is_met)
    return after.is_offline


@when_quiescent(
    symptom="disk space: a compacted topic is not cleaned although it never had an error",
    log="none",
)
def sound_topic_is_cleaned(log: CleanableTopic) -> bool:
    """A log that has no error, and never had one, is cleaned."""
    premise(is_sound(log) and log.recreations == 0)
    return not log.is_dirty


@step(
    symptom="a log is not cleaned, or a directory offline, although there was no error",
    log="Unexpected exception thrown when cleaning log …. Marking its partition (…) as uncleanable",
)
def errors_have_a_cause(before: CleanableTopic, after: CleanableTopic) -> bool:
    """What the cleaner leaves out, or stops at, has an error; a directory goes offline by one of the disk only.

    A cleaner that leaves a log out goes on; one that has ended does nothing more.
    """
    is_new = after.is_uncleanable > before.is_uncleanable or after.is_cleaner_dead != before.is_cleaner_dead
    premise(is_new or after.is_offline > before.is_offline)
    if after.is_offline > before.is_offline:
        return before.has_bad_sector and before.is_dirty and not is_new
    is_met = before.has_bad_batch or before.has_bad_sector
    is_one = after.is_uncleanable != after.is_cleaner_dead
    return is_met and is_one and before.is_dirty and not before.is_uncleanable


@step(
    symptom="the cleaner meets the same error again and again",
    log="none: the metric uncleanable-partitions-count falls",
)
def mark_stays_with_its_log(before: CleanableTopic, after: CleanableTopic) -> bool:
    """A log that is left out stays so as long as it is there."""
    premise(before.is_uncleanable and before.is_there and after.is_there)
    return after.is_uncleanable


@step(
    symptom="none: whether the cleaner has come round since the last deletion, as history tells",
    log="none: the cleaner logs nothing of it",
)
def history_tells_who_came_round(before: CleanableTopic, after: CleanableTopic) -> bool:
    """A cleaner that has not ended comes round while the topic is not there; the next deletion forgets that."""
    premise(before.has_come_round != after.has_come_round)
    is_alive = before.has_come_round or not before.is_cleaner_dead
    return is_alive and not after.is_there and before.is_there == before.has_come_round


@step(
    symptom="superseded records stay in what counts as clean",
    log="none",
)
def clean_logs_were_read(before: CleanableTopic, after: CleanableTopic) -> bool:
    """What was dirty is clean only after it was read as a whole, or with its topic deleted."""
    premise(before.is_dirty and not after.is_dirty)
    return not after.is_there or (is_sound(before) and is_sound(after) and not before.is_uncleanable)


@step(symptom="a topic is gone, or has records of a deleted one", log="none")
def topic_is_created_empty(before: CleanableTopic, after: CleanableTopic) -> bool:
    """A topic that is created again has an empty log without errors; recreations are counted."""
    premise(before.is_there != after.is_there or before.recreations != after.recreations)
    is_empty = not after.is_dirty and not after.has_bad_batch and not after.has_bad_sector
    return is_empty and after.recreations == before.recreations + after.is_there and before.is_there != after.is_there


@always(symptom="a deleted topic is cleaned", log="none")
def deleted_topic_has_nothing(log: CleanableTopic) -> bool:
    """A topic that is not there has no records, and its directory is in use."""
    premise(not log.is_there)
    return not log.is_dirty and not log.is_offline


@step(symptom="records are appended to a log that its broker does not use", log="none")
def unused_log_gets_nothing(before: CleanableTopic, after: CleanableTopic) -> bool:
    """A log that is deleted, or whose directory is offline, gets no records and no errors, and is not deleted again."""
    premise(not is_used(before))
    is_same = after.has_bad_batch == before.has_bad_batch and after.has_bad_sector == before.has_bad_sector
    return is_same and after.is_dirty == before.is_dirty and after.is_there >= before.is_there


@reachable()
def topic_is_created_after_an_error(log: CleanableTopic) -> bool:
    """A topic was created again whose predecessor had an error, and has new records."""
    had_error = log.is_uncleanable or log.is_cleaner_dead
    return log.recreations > 0 and had_error and log.is_dirty and not log.has_bad_batch
