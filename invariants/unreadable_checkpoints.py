"""Properties of a log directory in whose checkpoints a number cannot be read."""

from __future__ import annotations

from kwalk.model.kafka.storage.unreadable_checkpoints import CheckpointedLog, is_used
from kwalk.model.kafka.storage.versions.compaction import BAD_NUMBERS_ARE_OF_THE_DISK
from kwalk.model.language import always, premise, reachable, step, when_quiescent


@step(
    symptom="records that clients have deleted can be read again, after a restart",
    log="Error occurred while reading log-start-offset-checkpoint file of directory …, resetting to the base offset of "
    "the first segment",
)
def deleted_records_stay_deleted(before: CheckpointedLog, after: CheckpointedLog) -> bool:
    """A log that is served after a start begins where clients had deleted to, by the checkpoint."""
    premise(not before.is_up and is_used(after))
    return after.start_offset >= before.checkpoint


@always(
    symptom="disk space: no compacted log of the broker is cleaned any more, nor after it starts again",
    log="[kafka-log-cleaner-thread-…]: Error due to java.lang.NumberFormatException: For input string: …",
)
def cleaner_outlives_its_checkpoint(log: CheckpointedLog) -> bool:
    """A checkpoint that cannot be read does not end the cleaner's thread."""
    return not log.is_cleaner_dead


@when_quiescent(
    symptom="records that clients have deleted can be read again after two restarts",
    log="none: log-start-offset-checkpoint has the offset",
)
def start_offset_is_written(log: CheckpointedLog) -> bool:
    """A directory in use has the start offset in its checkpoint at last."""
    premise(is_used(log))
    return log.checkpoint == log.start_offset and not log.has_bad_start


@step(
    symptom="a log directory is offline although its files can be read",
    log="Error while reading checkpoint file …",
)
def offline_directory_has_a_bad_number(before: CheckpointedLog, after: CheckpointedLog) -> bool:
    """A directory goes offline by a number that cannot be read, and comes back by a restart of its broker."""
    premise(before.is_offline != after.is_offline)
    if after.is_offline:
        is_start = not before.is_up and after.is_up
        is_bad = before.has_bad_start if is_start else before.is_up and before.has_bad_dirty
        return bool(BAD_NUMBERS_ARE_OF_THE_DISK) and is_bad
    return not after.is_up


@step(
    symptom="records are deleted that no client has deleted",
    log="none: kafka-get-offsets.sh shows the beginning",
)
def log_begins_at_its_checkpoint(before: CheckpointedLog, after: CheckpointedLog) -> bool:
    """A start offset rises as clients delete records, and else is that of the checkpoint, if that can be read."""
    premise(before.start_offset != after.start_offset or after.is_up > before.is_up)
    if before.is_up:
        return is_used(before) and before.start_offset < after.start_offset
    return after.is_up and after.start_offset == (0 if before.has_bad_start else before.checkpoint)


@step(
    symptom="a checkpoint changes by itself",
    log="none: the file has the offset",
)
def checkpoint_has_the_start_offset(before: CheckpointedLog, after: CheckpointedLog) -> bool:
    """A checkpoint that is written has the start offset; damages are counted."""
    is_damaged = after.has_bad_start > before.has_bad_start or after.has_bad_dirty > before.has_bad_dirty
    premise(before.checkpoint != after.checkpoint or before.damages != after.damages or is_damaged)
    if is_damaged:
        return after.damages == before.damages + 1 and before.checkpoint == after.checkpoint
    is_written = after.checkpoint == before.start_offset and not after.has_bad_start
    return is_used(before) and is_written and after.damages == before.damages


@step(
    symptom="records that clients have deleted can be read again, after an orderly restart",
    log="none: log-start-offset-checkpoint has the offset",
)
def stop_writes_the_start_offset(before: CheckpointedLog, after: CheckpointedLog) -> bool:
    """A stop writes the start offsets of a directory in use; an offline one, and a cleaner, are tried again."""
    premise(before.is_up and not after.is_up)
    is_written = after.checkpoint == before.start_offset and not after.has_bad_start
    return (is_written or not is_used(before)) and not after.is_offline and not after.is_cleaner_dead


@step(
    symptom="a number that cannot be read is read all the same",
    log="none: the file has the number",
)
def bad_number_is_written_again(before: CheckpointedLog, after: CheckpointedLog) -> bool:
    """A bad number is written again by a broker that has the start offset, or by hand while the broker is down."""
    premise(before.has_bad_start > after.has_bad_start or before.has_bad_dirty > after.has_bad_dirty)
    if before.is_up:
        is_kept = after.has_bad_dirty == before.has_bad_dirty
        return is_used(before) and is_kept and after.checkpoint == before.start_offset
    return not after.is_up and not after.has_bad_start and not after.has_bad_dirty


@step(
    symptom="disk space: no compacted log of the broker is cleaned any more, although its checkpoint can be read",
    log="[kafka-log-cleaner-thread-…]: Error due to java.lang.NumberFormatException: For input string: …",
)
def cleaner_stops_at_a_bad_number(before: CheckpointedLog, after: CheckpointedLog) -> bool:
    """The cleaner's thread ends by a number that cannot be read, in a directory in use, and comes back by a restart."""
    premise(before.is_cleaner_dead != after.is_cleaner_dead)
    return is_used(before) and before.has_bad_dirty if after.is_cleaner_dead else not after.is_up


@reachable()
def cleaner_checkpoint_is_repaired(log: CheckpointedLog) -> bool:
    """A number in the checkpoint of the cleaner was bad, and nothing else, and the broker has started again."""
    return is_used(log) and log.damages == 1 and log.checkpoint == 0 and not log.has_bad_dirty


@reachable()
def start_passes_over_its_checkpoint(log: CheckpointedLog) -> bool:
    """The broker has started while the start offset in the checkpoint could not be read."""
    return log.is_up and log.has_bad_start and log.start_offset == 0 < log.checkpoint


@reachable()
def directory_comes_back(log: CheckpointedLog) -> bool:
    """After a damage the broker has started again, with the right start offset."""
    return is_used(log) and log.damages > 0 and log.start_offset == log.checkpoint > 0 and not log.has_bad_start
