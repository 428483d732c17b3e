"""Properties of a replica that moves to another log directory."""

from __future__ import annotations

from kwalk.model.kafka.storage.future_log import MovePhase, MovingReplica
from kwalk.model.language import always, premise, reachable, when_quiescent


@always(
    symptom="a replica does not move to another log directory until its broker starts again",
    log="Partition … marked as failed",
)
def move_does_not_fail(replica: MovingReplica) -> bool:
    """The thread that copies a log does not drop it."""
    return replica.phase is not MovePhase.FAILED


@when_quiescent(
    symptom="a replica does not move to another log directory, although all is copied",
    log="none: kafka-reassign-partitions.sh --verify says that the move is still in progress",
)
def move_ends(replica: MovingReplica) -> bool:
    """A log that is copied is replaced by its copy."""
    premise(replica.phase is not MovePhase.ABSENT)
    return replica.phase in (MovePhase.DONE, MovePhase.FAILED)


@always(
    symptom="records are missing after a move to another log directory",
    log="none: the log ends below the high watermark",
)
def moved_log_has_all_records(replica: MovingReplica) -> bool:
    """The copy that replaces a log has its records, and a copy has no others."""
    return replica.future_end <= replica.end and replica.high_watermark <= replica.end


@reachable()
def replica_is_moved(replica: MovingReplica) -> bool:
    """A log with records has moved."""
    return replica.phase is MovePhase.DONE and replica.future_end > 0
