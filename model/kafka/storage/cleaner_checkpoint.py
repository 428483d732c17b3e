"""LogCleanerManager.grabFilthiestCompactedLog: a checkpoint of the cleaner that is before the start of its log.

What the model leaves out, and why its story loses nothing by it: other logs, for whose sake one is not cleaned for
long; and what a cleaning does.
"""

from __future__ import annotations

from kwalk.model.kafka.storage.domains import CLIENT, LOG_CLEANER
from kwalk.model.kafka.storage.versions.compaction import CHECKPOINTS_FOLLOW_THE_START
from kwalk.model.language import Bound, action, number, require, state

DELETED_RECORDS = Bound("deleted_records", "records that clients delete at the start of the log", minimum=1)


@state
class CheckedLog:
    """The start offset of a compacted log, that which the cleaner's checkpoint has, and how often it complained."""

    start: int = number(0, DELETED_RECORDS)
    checkpoint: int = number(0, DELETED_RECORDS)
    complaints: int = number(0, 2)


@action(by=CLIENT, description="deletes records", source="UnifiedLog.maybeIncrementLogStartOffset")
def delete_first(checked: CheckedLog) -> None:
    """The checkpoint is before the start then."""
    require(checked.start < DELETED_RECORDS)
    checked.start += 1


@action(by=LOG_CLEANER, description="looks at the log", source="LogCleanerManager.cleanableOffsets")
def look_at_log(checked: CheckedLog, is_cleaned: bool) -> None:
    """It complains of a checkpoint that is wrong. Up to 2.5 it corrected that of a log that it cleaned, only."""
    is_wrong = checked.checkpoint < checked.start
    checked.complaints = min(checked.complaints + 1, 2) if is_wrong else 0
    if is_cleaned or (is_wrong and CHECKPOINTS_FOLLOW_THE_START):
        checked.checkpoint = checked.start
