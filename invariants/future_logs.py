"""Properties of a replica that moves to another log directory."""

from __future__ import annotations

from kwalk.model.kafka.storage.future_log import MovePhase, MovingReplica, first_dirty_offset, is_moving
from kwalk.model.language import always, premise, reachable, step, when_quiescent


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


@step(
    symptom="records are missing after a move to another log directory",
    log="none: the log ends below the high watermark",
)
def moved_log_has_all_records(before: MovingReplica, after: MovingReplica) -> bool:
    """The copy that replaces a log has all its records, and its segments."""
    premise(before.phase is not MovePhase.DONE and after.phase is MovePhase.DONE)
    is_copied = before.phase is MovePhase.FETCHING and before.future_end == before.end == after.end
    return is_copied and after.base == before.future_base


@step(
    symptom="a replica has other records than its leader after a move to another log directory",
    log="none: kafka-dump-log.sh shows records of an earlier leader epoch",
)
def moved_log_has_the_same_records(before: MovingReplica, after: MovingReplica) -> bool:
    """The copy that replaces a log has no record that the log has not."""
    premise(before.phase is not MovePhase.DONE and after.phase is MovePhase.DONE)
    return before.agreed_end == before.end


@step(
    symptom="a replica has other records than its leader after a move to another log directory",
    log="none: kafka-dump-log.sh shows records of an earlier leader epoch",
)
def logs_are_truncated_to_what_they_share(before: MovingReplica, after: MovingReplica) -> bool:
    """A log that gets another leader keeps what is replicated; its copy is then truncated to what both logs have."""
    is_cut = before.divergences < after.divergences
    premise(is_cut or (before.phase is MovePhase.TRUNCATING and after.phase is not MovePhase.TRUNCATING))
    if is_cut:
        phase = MovePhase.TRUNCATING if before.phase is MovePhase.FETCHING else before.phase
        is_log = after.end == before.high_watermark < before.end and (after.base < after.end or after.base == 0)
        shares = after.agreed_end == min(before.agreed_end, after.end) and after.future_end == before.future_end
        return is_log and shares and after.phase is phase and after.fetch_offset <= before.fetch_offset
    is_base = after.future_base == before.future_base if before.future_base < after.future_end else True
    is_within = after.future_base < after.future_end or after.future_base == 0
    return after.fetch_offset == after.future_end == after.agreed_end == before.agreed_end and is_base and is_within


@reachable()
def diverged_replica_is_moved(replica: MovingReplica) -> bool:
    """A log that was truncated during its move is replaced by a copy with as many records as before."""
    return replica.phase is MovePhase.DONE and replica.divergences > 0 and replica.end > replica.high_watermark


@when_quiescent(
    symptom="producers with acks=all wait for their timeout after a move to another log directory",
    log="none: the leader's end offset is above its high watermark",
)
def replicated_record_is_committed(replica: MovingReplica) -> bool:
    """What the leader knows to be in all replicas is at last below its high watermark."""
    return replica.high_watermark >= replica.known_end


@step(
    symptom="records are acknowledged with acks=all that a follower has not got",
    log="none",
)
def update_follows_a_fetch(before: MovingReplica, after: MovingReplica) -> bool:
    """A fetch of the last record is followed by one update, to the end that it has told, and by no other."""
    premise(before.late_end != after.late_end or before.late_updates != after.late_updates)
    if after.late_end is None:
        assert before.late_end is not None
        raised = before.high_watermark if before.is_replaced else max(before.high_watermark, before.late_end)
        return after.high_watermark == raised and after.late_updates == before.late_updates
    is_told = after.late_end == after.known_end == before.end > before.known_end
    return before.late_end is None and is_told and after.late_updates == before.late_updates + 1


@always(
    symptom="a log cannot be loaded: a segment begins behind its end",
    log="none: the files of the segments show their base offsets",
)
def active_segment_is_within_its_log(replica: MovingReplica) -> bool:
    """The active segment has a record, or the log has none; a copy has no more than its log."""
    is_within = replica.base < replica.end or replica.end == 0
    is_copy = replica.future_base < replica.future_end or replica.future_end == 0
    return is_within and is_copy and replica.future_end <= replica.end and replica.high_watermark <= replica.end


@step(
    symptom="a log has gaps, or its high watermark falls",
    log="none: kafka-dump-log.sh shows a gap between offsets",
)
def log_grows_record_by_record(before: MovingReplica, after: MovingReplica) -> bool:
    """A log and its copy grow by one record at a time, of the old segment or of a new one; none grows otherwise.

    A truncation keeps what is replicated.
    """
    premise(before.truncations == after.truncations)
    grows = after.end == before.end + 1 and after.base in (before.base, before.end)
    copies = after.future_end == before.future_end + 1 and after.future_base in (before.future_base, before.future_end)
    is_same = after.end == before.end and (after.base == before.base or after.phase is MovePhase.DONE)
    is_copy = after.future_end == before.future_end and after.future_base == before.future_base
    return (grows or is_same) and (copies or is_copy) and before.high_watermark <= after.high_watermark


@step(
    symptom="a replica does not move to another log directory until it is asked for again",
    log="none: kafka-reassign-partitions.sh --verify says that the move is still in progress",
)
def move_begins_again(before: MovingReplica, after: MovingReplica) -> bool:
    """After a restart or a new leader epoch the copy goes on with the epoch; a log without a copy does not change."""
    premise(before.epoch < after.epoch or before.stops < after.stops)
    is_begun = after.phase is MovePhase.TRUNCATING and after.thread_epoch == after.epoch
    return is_begun if is_moving(before) else after.phase is before.phase


@always(
    symptom="a compacted log grows after a move to another log directory, until its broker starts again",
    log="none: cleaner-offset-checkpoint keeps the offset that it has of the partition",
)
def cleaning_resumes_after_a_move(replica: MovingReplica) -> bool:
    """The cleaner pauses for a move, and not longer."""
    premise(replica.phase in (MovePhase.ABSENT, MovePhase.DONE))
    return replica.pauses == 0


@always(
    symptom="disk space: a log grows, by retention and by the cleaner left alone, after its move has failed",
    log="none: kafka-log-dirs.sh shows a future log that does not grow",
)
def cleaning_outlives_a_failed_move(replica: MovingReplica) -> bool:
    """The cleaner does not leave a log out whose move has failed."""
    premise(replica.phase is MovePhase.FAILED)
    return replica.pauses == 0


@step(symptom="a request with a leader epoch that the broker knows changes a log", log="none")
def known_epoch_changes_no_log(before: MovingReplica, after: MovingReplica) -> bool:
    """A leader epoch that comes again changes neither log; a copy that goes on stays as it is."""
    premise(before.repeats != after.repeats)
    is_same = before.end == after.end and before.future_end == after.future_end and before.epoch == after.epoch
    goes_on = before.phase is after.phase or before.phase is MovePhase.FAILED
    return is_moving(before) and is_same and goes_on and before.pauses <= after.pauses


@always(
    symptom="the log cleaner removes segments of a log that is moved to another log directory, while it is copied",
    log="Cleaner …: Swapping in cleaned segment … for segment(s) … in log …",
)
def cleaning_pauses_for_a_copy(replica: MovingReplica) -> bool:
    """While a thread copies a log, the cleaner leaves it out."""
    premise(replica.phase in (MovePhase.TRUNCATING, MovePhase.FETCHING))
    return replica.pauses > 0


@step(symptom="a log is lost, or another one moves, as a move ends early", log="none")
def move_is_ended_alone(before: MovingReplica, after: MovingReplica) -> bool:
    """A move that is cancelled leaves no future log, one that fails leaves it; the log stays as it is."""
    is_counted = before.replaced_moves != after.replaced_moves
    premise(is_counted or (before.phase is not after.phase and after.phase in (MovePhase.ABSENT, MovePhase.FAILED)))
    is_same = before.end == after.end and before.base == after.base and before.high_watermark == after.high_watermark
    if after.phase is MovePhase.FAILED:
        return is_same and before.phase is MovePhase.FETCHING and before.future_end == after.future_end
    is_gone = after.phase is MovePhase.ABSENT and after.future_end == after.future_base == 0
    return is_same and is_moving(before) and is_gone and after.replaced_moves == before.replaced_moves + 1


@reachable()
def move_ends_early(replica: MovingReplica) -> bool:
    """A move was cancelled, or its thread has failed, with a part of the log copied before."""
    return replica.phase in (MovePhase.ABSENT, MovePhase.FAILED) and replica.end > 0 < replica.cleanings


@step(symptom="a move goes on to a directory that is not asked for any more", log="none")
def replaced_move_begins_again(before: MovingReplica, after: MovingReplica) -> bool:
    """A move that is replaced begins again with an empty future log; the log stays as it is."""
    premise(before.replaced_moves != after.replaced_moves)
    is_new = after.phase is MovePhase.TRUNCATING and after.future_end == after.fetch_offset == 0
    return is_moving(before) and is_new and before.end == after.end and before.base == after.base


@always(
    symptom="the log cleaner removes segments of a log that is moved to another log directory, while it is copied",
    log="Cleaner …: Swapping in cleaned segment … for segment(s) … in log …",
)
def cleaning_pauses_for_a_move(replica: MovingReplica) -> bool:
    """While a log is copied, the cleaner leaves it out."""
    premise(is_moving(replica))
    return replica.pauses > 0


@step(
    symptom="the log cleaner cleans one part of a log again and again, and others wait",
    log="Cleaner …: Cleaning log … (cleaning prior to …, discarding tombstones prior to …)",
)
def cleaning_is_remembered(before: MovingReplica, after: MovingReplica) -> bool:
    """The next cleaning begins where the last one ended; there is none while it is paused, or without a dirty part."""
    premise(before.cleanings != after.cleanings)
    is_due = before.pauses == 0 and first_dirty_offset(before) < before.base
    return is_due and after.cleanings == before.cleanings + 1 and first_dirty_offset(after) == after.base


@step(
    symptom="replicated records are missing from a follower, or its copy has more than the follower",
    log="[Log partition=…, dir=…] Truncating to offset …",
)
def truncation_keeps_what_is_replicated(before: MovingReplica, after: MovingReplica) -> bool:
    """A truncation that takes segments ends at the high watermark, of the log and of its copy; no more is clean."""
    premise(before.truncations != after.truncations)
    is_rest = after.base == after.checkpoint == 0 and after.future_end == min(before.future_end, after.end)
    return after.end == before.high_watermark < before.base and is_rest


@reachable()
def moved_log_is_cleaned(replica: MovingReplica) -> bool:
    """A log is cleaned, moves, and is cleaned again."""
    return replica.phase is MovePhase.DONE and replica.cleanings > 1 and replica.checkpoint == replica.base


@reachable()
def log_has_rolled(replica: MovingReplica) -> bool:
    """A log and its copy have rolled at different offsets."""
    return 0 < replica.base < replica.future_base


@reachable()
def replica_is_moved(replica: MovingReplica) -> bool:
    """A log with records has moved."""
    return replica.phase is MovePhase.DONE and replica.future_end > 0


@reachable()
def move_outlives_its_broker(replica: MovingReplica) -> bool:
    """A log has moved, although the leader epoch has changed and the broker was started again."""
    return replica.phase is MovePhase.DONE and replica.epoch > 0 and replica.stops > 0
