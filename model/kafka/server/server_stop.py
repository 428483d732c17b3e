"""KafkaServer.shutdown: an orderly stop of a broker, part by part, beside the threads that still run.

Requests are no longer handled. The stop ends the scheduler, whose tasks are retention and the deletion of logs; the
group coordinator, which writes to a log of its own as members and offsets expire; and the logs, which are flushed and
closed one by one. At the end it writes the clean shutdown file, without which the next start recovers all logs.

What the model leaves out, and why its story loses nothing by it:

* The parts that touch no log, or wait for nobody: fetchers end before logs are closed, in all releases.
* More than one log of each kind: what a thread does to a log that is closed is the same for each.
"""

from __future__ import annotations

from enum import Enum

from kwalk.model.kafka.server.versions import (
    COORDINATOR_ENDS_BEFORE_LOGS,
    DELETIONS_END_WITHOUT_DELAY,
    SCHEDULER_ENDS_BEFORE_LOGS,
)
from kwalk.model.kafka.storage.domains import LOG, OPERATOR, TIME
from kwalk.model.language import Actor, Bound, action, choice, flag, require, state

NO_DELETE_DELAY = Bound("no_delete_delay", "1 if file.delete.delay.ms (log.segment.delete.delay.ms) is 0", default=0)

SHUTDOWN = Actor("shutdown")


class LogsState(Enum):
    """How far the logs are closed."""

    OPEN = "open"
    CLOSING = "being closed"
    CLOSED = "closed"


@state
class StoppingServer:
    """A broker from the request to stop on: which parts have ended, and what became of its logs.

    `is_deleting` while the deletion of logs is at work, or waits for one; the log directory `is_offline` after an
    error. A broker that is `halted` has ended without the rest of the stop.
    """

    is_stopping: bool = flag()
    scheduler_ended: bool = flag()
    coordinator_ended: bool = flag()
    logs: LogsState = choice(LogsState)
    is_deleting: bool = flag()
    is_offline: bool = flag()
    halted: bool = flag()
    has_clean_file: bool = flag()


@action(by=OPERATOR, description="stops the broker", source="KafkaServer.shutdown")
def request_stop(server: StoppingServer) -> None:
    """SIGTERM."""
    require(not server.is_stopping)
    server.is_stopping = True


@action(by=TIME, description="has the task begin that deletes logs", source="LogManager.deleteLogs")
def begin_deletion(server: StoppingServer) -> None:
    """It runs in the scheduler, periodically."""
    require(not server.scheduler_ended and not server.is_deleting and not server.halted)
    server.is_deleting = True


@action(by=LOG, description="ends the task that deletes logs", source="LogManager.deleteLogs: nextDeleteDelayMs")
def end_deletion(server: StoppingServer) -> None:
    """Until KAFKA-16588 it waited for a log to delete, if the delay was 0 and there was none."""
    require(server.is_deleting and (DELETIONS_END_WITHOUT_DELAY or NO_DELETE_DELAY == 0))
    server.is_deleting = False


@action(by=TIME, description="has a segment deleted that is older than retention.ms", source="LogManager.cleanupLogs")
def retain(server: StoppingServer) -> None:
    """A task of the scheduler; a log that is closed takes the log directory offline."""
    require(not server.scheduler_ended and not server.halted and server.logs is LogsState.CLOSING)
    server.is_offline = True


@action(
    by=TIME,
    description="has a member or an offset expire, which the coordinator writes",
    source="GroupCoordinator.onExpireHeartbeat; GroupMetadataManager.store; ReplicaManager.appendToLocalLog",
)
def expire_member(server: StoppingServer) -> None:
    """The coordinator has threads of its own; up to 0.11 a broker that cannot write to a log halts."""
    require(not server.coordinator_ended and not server.halted and server.logs is LogsState.CLOSING)
    server.halted = True


@action(by=SHUTDOWN, description="ends the scheduler", source="KafkaScheduler.shutdown: awaitTermination")
def end_scheduler(server: StoppingServer) -> None:
    """It waits for tasks that run, for up to a day."""
    require(server.is_stopping and not server.halted and not server.scheduler_ended and not server.is_deleting)
    require(SCHEDULER_ENDS_BEFORE_LOGS or server.logs is LogsState.CLOSED)
    server.scheduler_ended = True


@action(by=SHUTDOWN, description="ends the group coordinator", source="GroupCoordinator.shutdown")
def end_coordinator(server: StoppingServer) -> None:
    """Up to 0.10.1 after the logs."""
    require(server.is_stopping and not server.halted and not server.coordinator_ended)
    require(COORDINATOR_ENDS_BEFORE_LOGS or server.logs is LogsState.CLOSED)
    server.coordinator_ended = True


@action(by=SHUTDOWN, description="begins to flush and close the logs", source="LogManager.shutdown")
def begin_to_close(server: StoppingServer) -> None:
    """What ends before the logs has ended."""
    require(server.is_stopping and not server.halted and server.logs is LogsState.OPEN)
    require(server.scheduler_ended or not SCHEDULER_ENDS_BEFORE_LOGS)
    require(server.coordinator_ended or not COORDINATOR_ENDS_BEFORE_LOGS)
    server.logs = LogsState.CLOSING


@action(by=SHUTDOWN, description="has closed the logs", source="LogManager.shutdown: CleanShutdownFile")
def close(server: StoppingServer) -> None:
    """A directory that is offline gets no clean shutdown file."""
    require(server.logs is LogsState.CLOSING and not server.halted)
    server.logs, server.has_clean_file = LogsState.CLOSED, not server.is_offline
