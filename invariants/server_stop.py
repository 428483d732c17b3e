"""Properties of an orderly stop of a broker: it ends, and the next start recovers no log."""

from __future__ import annotations

from kwalk.model.kafka.server.server_stop import LogsState, StoppingServer
from kwalk.model.kafka.server.versions import COORDINATOR_ENDS_BEFORE_LOGS, SCHEDULER_ENDS_BEFORE_LOGS
from kwalk.model.language import always, premise, reachable, step, when_quiescent


@when_quiescent(
    symptom="a broker does not stop, until it is killed; its next start takes long",
    log="none: a thread dump shows kafka-delete-logs in LinkedBlockingQueue.take",
)
def stop_ends(server: StoppingServer) -> bool:
    """A broker that is to stop ends all of its parts, or halts."""
    premise(server.is_stopping and not server.halted)
    return server.scheduler_ended and server.coordinator_ended and server.logs is LogsState.CLOSED


@always(
    symptom="a start after an orderly stop takes long: it recovers all logs",
    log="none: the log directory lacks .kafka_cleanshutdown",
)
def stop_is_clean(server: StoppingServer) -> bool:
    """While a broker stops nothing fails that keeps it from writing the clean shutdown file."""
    return not server.is_offline and not server.halted


@step(symptom="records that were not flushed are taken for recovered", log="none")
def clean_file_comes_last(before: StoppingServer, after: StoppingServer) -> bool:
    """The clean shutdown file is written as the logs are closed, unless a log directory has failed."""
    premise(before.has_clean_file != after.has_clean_file or before.logs is not after.logs)
    if after.logs is LogsState.CLOSED:
        return before.logs is LogsState.CLOSING and after.has_clean_file != before.is_offline and not before.halted
    return before.logs is LogsState.OPEN and not after.has_clean_file and before.is_stopping and not before.halted


@step(symptom="a thread uses logs that are closed", log="none")
def parts_end_in_order(before: StoppingServer, after: StoppingServer) -> bool:
    """The scheduler and the coordinator end once, each on its side of the logs; the scheduler waits for its tasks."""
    has_ended = before.scheduler_ended != after.scheduler_ended
    premise(has_ended or before.coordinator_ended != after.coordinator_ended)
    before_logs = SCHEDULER_ENDS_BEFORE_LOGS if has_ended else COORDINATOR_ENDS_BEFORE_LOGS
    is_its_turn = before.logs is (LogsState.OPEN if before_logs else LogsState.CLOSED)
    is_done = after.scheduler_ended if has_ended else after.coordinator_ended
    return (
        is_done and is_its_turn and before.is_stopping and not before.halted and not (has_ended and before.is_deleting)
    )


@step(symptom="a broker stops, or deletes logs, unasked", log="none")
def tasks_run_in_the_scheduler(before: StoppingServer, after: StoppingServer) -> bool:
    """A task begins while the scheduler runs, and one that has begun ends; a stop is asked for once."""
    premise(before.is_deleting != after.is_deleting or before.is_stopping != after.is_stopping)
    return (after.is_stopping and not before.is_stopping) or (not before.scheduler_ended and not before.halted)


@reachable()
def broker_stops_cleanly(server: StoppingServer) -> bool:
    """A broker has stopped, and left a clean shutdown file."""
    return server.has_clean_file and server.scheduler_ended and server.coordinator_ended
