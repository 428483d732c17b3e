"""Properties of a log after a write has failed: what is lost, and which offsets are given twice."""

from __future__ import annotations

from kwalk.model.kafka.storage.versions.recovery import END_OFFSET_BEFORE_THE_INDEX, FAILED_WRITES_FENCE
from kwalk.model.kafka.storage.write_errors import DirectoryState, FailingLog
from kwalk.model.language import always, premise, reachable, step, when_quiescent


@always(
    symptom="records that were acknowledged are gone after a disk was full, once its broker has started again",
    log="Found invalid messages in log segment … at byte offset …",
)
def answered_batch_survives_a_failure(log: FailingLog) -> bool:
    """A start recovers all batches whose producers have an answer."""
    return log.lost == 0


@always(
    symptom="two records have one offset: consumers skip one of them, and followers cannot append either",
    log="Out of order offsets found in append to …",
)
def offset_is_given_once(log: FailingLog) -> bool:
    """No two whole batches of the file have the same offset."""
    whole = [batch for batch in log.batches if not batch.is_torn]
    return all(sum(other.offset == batch.offset for other in whole) == 1 for batch in whole)


@when_quiescent(
    symptom="a log directory stays in use after an error of its disk",
    log="none: kafka-log-dirs.sh shows no error of the directory",
)
def failure_takes_the_directory_offline(log: FailingLog) -> bool:
    """A directory that has failed is used again only after a start."""
    return log.directory is DirectoryState.ONLINE


@step(
    symptom="the lag of consumers counts records that are not there",
    log="none: kafka-dump-log.sh shows the offsets",
)
def appended_batch_has_the_end_offset(before: FailingLog, after: FailingLog) -> bool:
    """A batch that is appended has the end offset of before; a start keeps the batches before the first torn one."""
    premise(before.batches != after.batches)
    if len(after.batches) > len(before.batches):
        last = after.batches[-1]
        return last.offset == before.end_offset and (not last.is_answered or after.end_offset == before.end_offset + 1)
    is_start = before.directory is DirectoryState.OFFLINE and after.directory is DirectoryState.ONLINE
    return is_start and before.batches[len(after.batches)].is_torn and not any(b.is_torn for b in after.batches)


@always(
    symptom="the lag of consumers counts records that are not there, or leaves out some that are",
    log="none: kafka-dump-log.sh shows the offsets",
)
def end_offset_is_that_of_the_file(log: FailingLog) -> bool:
    """The end offset is the number of whole batches; a directory in use has no other ones."""
    premise(bool(END_OFFSET_BEFORE_THE_INDEX) and bool(FAILED_WRITES_FENCE))
    whole = sum(not batch.is_torn for batch in log.batches)
    return whole == log.end_offset and (whole == len(log.batches) or log.directory is not DirectoryState.ONLINE)


@step(
    symptom="a log directory stays in use after an error of its disk",
    log="none: kafka-log-dirs.sh shows no error of the directory",
)
def failure_is_noticed(before: FailingLog, after: FailingLog) -> bool:
    """A write fails where there was none before, and the directory is known to have failed."""
    has_failed = before.directory is DirectoryState.ONLINE and after.directory is DirectoryState.FAILING
    premise(has_failed or before.write_failures != after.write_failures)
    is_written = len(after.batches) == len(before.batches) + 1
    return has_failed and is_written and after.write_failures == before.write_failures + 1


@reachable()
def log_is_recovered(log: FailingLog) -> bool:
    """A log with records was recovered, and has got another one."""
    return log.write_failures > 0 and log.directory is DirectoryState.ONLINE and log.end_offset > 1
