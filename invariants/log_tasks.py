"""Properties of the tasks of a log."""

from __future__ import annotations

from kwalk.model.kafka.storage.log_tasks import ScheduledLog
from kwalk.model.language import always, reachable


@always(symptom="a broker runs out of memory, as topics are created and deleted", log="none")
def deleted_log_has_no_task(log: ScheduledLog) -> bool:
    """The scheduler has no task of a log that was deleted."""
    return not log.has_old_task


@always(symptom="producers of a log do not expire", log="none")
def loaded_log_has_its_task(log: ScheduledLog) -> bool:
    """The scheduler has the task of a log that is there, and no other one."""
    return log.has_task == log.is_loaded


@reachable()
def log_is_scheduled(log: ScheduledLog) -> bool:
    """A log has its task."""
    return log.has_task
