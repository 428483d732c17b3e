"""Log, KafkaScheduler: the task of a log that looks for producers which have expired (PeriodicProducerExpirationCheck).

What the model leaves out, and why its story loses nothing by it: what the task does, which `producer_state` has; and
other tasks of a log, each of which runs once.
"""

from __future__ import annotations

from kwalk.model.kafka.storage.domains import CLIENT, LOG
from kwalk.model.kafka.storage.versions.retention import DELETED_LOGS_HAVE_NO_TASK
from kwalk.model.language import action, flag, require, state


@state
class ScheduledLog:
    """A log that is loaded or not, whether the scheduler has its task, and whether it has one of a deleted log."""

    is_loaded: bool = flag()
    has_task: bool = flag()
    has_old_task: bool = flag()


@action(by=LOG, description="loads or creates a log", source="Log: scheduler.schedule")
def schedule_log(log: ScheduledLog) -> None:
    """Its task begins."""
    require(not log.is_loaded)
    log.is_loaded = log.has_task = True


@action(by=CLIENT, description="has the log deleted", source="Log.delete; KafkaScheduler: setRemoveOnCancelPolicy")
def delete_scheduled(log: ScheduledLog) -> None:
    """The topic is deleted, or the replica moved. Up to 2.3 the scheduler kept the task, and so the log in memory."""
    require(log.is_loaded)
    log.is_loaded = log.has_task = False
    log.has_old_task = log.has_old_task or not DELETED_LOGS_HAVE_NO_TASK
