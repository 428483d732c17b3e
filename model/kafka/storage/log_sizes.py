"""Log and LogCleaner: sums of sizes that overflow, where the bytes of a log's segments are added as 32-bit integers.

A log above retention.bytes loses its oldest segments. A cleaner cleans a log whose part that is dirty is larger than
min.cleanable.dirty.ratio, here a half. The largest integer, 2,147,483,647, is a few segments here.

What the model leaves out, and why its stories lose nothing by it: records, and that a cleaning makes a log smaller.
"""

from __future__ import annotations

from kwalk.model.kafka.storage.domains import LOG, LOG_CLEANER, PRODUCER
from kwalk.model.kafka.storage.versions.segments import RATIOS_ARE_OF_LONGS, SIZES_ARE_LONGS
from kwalk.model.language import Bound, action, number, require, state

SEGMENTS_HELD = Bound("segments_held", "segments that a log can have")
MAX_INT = Bound("max_int", "segments whose bytes an integer can count: Integer.MAX_VALUE, scaled")
RETAINED = Bound("retained", "retention.bytes, in segments; 0 for cleanup.policy=compact", default=0)


@state
class LogSizes:
    """A log with `clean` and `dirty` segments; a log that is not compacted is dirty."""

    clean: int = number(0, SEGMENTS_HELD)
    dirty: int = number(0, SEGMENTS_HELD)


def wrapped(size: int, *, is_long: bool) -> int:
    """Return the sum of the sizes of segments.

    Args:
        size: The sum, in segments.
        is_long: True if it is added as a 64-bit integer.

    Returns:
        The sum, or what a 32-bit integer has of it.
    """
    return size if is_long or size <= MAX_INT else size - 2 * (MAX_INT + 1)


def is_above_retention(log: LogSizes) -> bool:
    """Whether retention deletes the oldest segment (Kafka: Log.deleteRetentionSizeBreachedSegments, Log.size)."""
    return wrapped(log.dirty, is_long=bool(SIZES_ARE_LONGS)) > RETAINED


def is_cleanable(log: LogSizes) -> bool:
    """Whether a cleaner cleans the log (Kafka: LogToClean.cleanableRatio)."""
    is_long = bool(RATIOS_ARE_OF_LONGS)
    dirty = wrapped(log.dirty, is_long=is_long)
    total = wrapped(wrapped(log.clean, is_long=is_long) + dirty, is_long=is_long)
    return 2 * dirty > total if total >= 0 else 2 * dirty < total


@action(by=PRODUCER, description="fills a segment", source="Log.append, Log.roll")
def fill(log: LogSizes) -> None:
    """Add a segment behind the others."""
    require(log.clean + log.dirty < SEGMENTS_HELD)
    log.dirty += 1


@action(by=LOG, description="deletes its oldest segment, by its size", source="Log.deleteRetentionSizeBreachedSegments")
def delete_oldest(log: LogSizes) -> None:
    """Keep retention.bytes."""
    require(RETAINED > 0 and is_above_retention(log))
    log.dirty -= 1


@action(by=LOG_CLEANER, description="cleans the log", source="LogCleanerManager.grabFilthiestCompactedLog")
def clean(log: LogSizes) -> None:
    """Clean what is dirty."""
    require(RETAINED == 0 and is_cleanable(log))
    log.clean, log.dirty = log.clean + log.dirty, 0
