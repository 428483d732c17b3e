"""Properties of a checkpoint of the cleaner."""

from __future__ import annotations

from kwalk.model.kafka.storage.cleaner_checkpoint import DELETED_RECORDS, CheckedLog
from kwalk.model.language import always, premise, reachable, step


@step(
    symptom="the log of the cleaner grows, and its checkpoint stays wrong",
    log="none: Resetting first dirty offset of … to log start offset …, again and again",
)
def wrong_checkpoint_is_corrected(before: CheckedLog, after: CheckedLog) -> bool:
    """The cleaner complains of a checkpoint once, and corrects it."""
    premise(before.complaints < after.complaints)
    return after.checkpoint == after.start


@always(symptom="the cleaner leaves out records", log="none")
def checkpoint_is_within_the_log(checked: CheckedLog) -> bool:
    """A checkpoint is not above what the log has."""
    return checked.checkpoint <= checked.start


@step(symptom="the cleaner complains of nothing", log="none")
def complaint_is_of_a_wrong_checkpoint(before: CheckedLog, after: CheckedLog) -> bool:
    """The cleaner complains of a checkpoint that is before the start, and of no other one; nothing else changes."""
    premise(before.complaints != after.complaints or before.checkpoint != after.checkpoint)
    is_wrong = before.checkpoint < before.start
    is_one = after.complaints <= before.complaints + 1
    return before.start == after.start and is_one and (after.complaints > 0) == is_wrong


@step(symptom="deleted records come back", log="none")
def start_of_the_log_rises(before: CheckedLog, after: CheckedLog) -> bool:
    """A client deletes records one by one."""
    premise(before.start != after.start)
    return after.start == before.start + 1 and before.checkpoint == after.checkpoint


@reachable()
def cleaner_complains_again(checked: CheckedLog) -> bool:
    """The start has risen twice, and the cleaner has complained each time."""
    return checked.complaints == 2 and checked.start == DELETED_RECORDS
