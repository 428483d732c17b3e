"""Properties of logs whose sizes are sums."""

from __future__ import annotations

from kwalk.model.kafka.storage.log_sizes import RETAINED, LogSizes
from kwalk.model.language import premise, reachable, step, when_quiescent


@when_quiescent(
    symptom="disk space: a log above 2 GiB keeps segments that retention.bytes does not allow",
    log="none: du shows more bytes than retention.bytes and a segment",
)
def large_log_is_shortened(log: LogSizes) -> bool:
    """A log above retention.bytes loses its oldest segments."""
    return log.dirty <= RETAINED


@when_quiescent(
    symptom="disk space: a compacted log above 2 GiB is not cleaned any more",
    log="none: cleaner-offset-checkpoint has an old offset for the log",
)
def dirty_log_is_cleaned(log: LogSizes) -> bool:
    """A log is cleaned of which more than a half is dirty."""
    premise(log.dirty > 0)
    return log.dirty <= log.clean


@step(symptom="records are deleted that are to be kept", log="none")
def kept_segments_stay(before: LogSizes, after: LogSizes) -> bool:
    """A log below retention.bytes keeps its segments; a cleaning moves them, and one is added at a time."""
    size, then = before.clean + before.dirty, after.clean + after.dirty
    return then in (size, size + 1) or (RETAINED > 0 and size > RETAINED and then == size - 1)


@step(symptom="a log is cleaned that is clean", log="none")
def clean_log_is_not_cleaned(before: LogSizes, after: LogSizes) -> bool:
    """A cleaning is of a log of which more than a half is dirty, and leaves nothing dirty."""
    premise(before.clean != after.clean)
    return after.clean == before.clean + before.dirty and before.dirty > before.clean and after.dirty == 0


@reachable()
def log_is_as_large_as_it_can_be(log: LogSizes) -> bool:
    """A log has segments that are clean, and some that are dirty."""
    return log.clean > 0 and log.dirty > 0
