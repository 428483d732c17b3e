"""Properties of what a start reads of its logs."""

from __future__ import annotations

from kwalk.model.kafka.storage.start_reads import LAST_PLACE, OLD_FORMAT, PLACES, SWAPS, SegmentedLog, last_snapshot
from kwalk.model.kafka.storage.versions.producers import SNAPSHOTS_ARE_KEPT_FOR_RECOVERY
from kwalk.model.kafka.storage.versions.recovery import SWAPS_KEEP_SNAPSHOTS
from kwalk.model.language import always, premise, reachable, step


@step(
    symptom="a broker takes hours to start, and reads all of its logs",
    log="none: many minutes pass from the first line on a log to the last one",
)
def start_reads_what_was_not_flushed(before: SegmentedLog, after: SegmentedLog) -> bool:
    """A start reads what was not flushed, and a segment that the cleaner was to replace."""
    premise(not before.is_up and after.is_up)
    return after.reads == after.needs


@step(symptom="a recovery leaves out a segment", log="none")
def start_needs_what_was_not_flushed(before: SegmentedLog, after: SegmentedLog) -> bool:
    """What a start needs to read is behind the checkpoint of a log that was not stopped in order, or is a swap."""
    premise(not before.is_up and after.is_up)
    unflushed = 0 if before.is_clean else before.end - before.checkpoint
    is_recovered = SWAPS > 0 and before.has_swap and not SWAPS_KEEP_SNAPSHOTS
    has_all = after.end == before.end and after.have_snapshots[after.end] and not (SWAPS > 0 and after.has_swap)
    return after.needs == unflushed + is_recovered and has_all


@always(symptom="a recovery point is ahead of what is flushed", log="none")
def checkpoint_is_of_what_is_flushed(log: SegmentedLog) -> bool:
    """What the checkpoint has is flushed, and in the log."""
    return log.checkpoint <= log.flushed <= log.end


@step(symptom="a log loses segments", log="none")
def log_grows_as_it_is_filled(before: SegmentedLog, after: SegmentedLog) -> bool:
    """A segment is added while the broker runs, with a snapshot."""
    premise(before.end != after.end)
    return before.is_up and after.have_snapshots[after.end] and after.end == before.end + 1


@step(symptom="a broker recovers logs after an orderly stop", log="none")
def stopped_log_is_flushed(before: SegmentedLog, after: SegmentedLog) -> bool:
    """A log is clean after a stop, with all that it has on disk; a start ends that."""
    premise(before.is_clean != after.is_clean)
    return after.checkpoint == after.end if after.is_clean else after.is_up


@step(symptom="a broker writes that a log is flushed which is not", log="none")
def log_is_flushed_while_it_is_up(before: SegmentedLog, after: SegmentedLog) -> bool:
    """A log is flushed, and its checkpoint written, while its broker runs."""
    premise(before.flushed != after.flushed or before.checkpoint != after.checkpoint)
    return before.is_up and (after.flushed == after.end or after.checkpoint == after.flushed)


@step(symptom="disk space: snapshots of producers stay", log="none: a folder has many files that end with .snapshot")
def old_snapshots_go(before: SegmentedLog, after: SegmentedLog) -> bool:
    """What is before the recovery point needs no snapshot, but for one segment, and the last two."""
    is_kept = bool(SNAPSHOTS_ARE_KEPT_FOR_RECOVERY)
    premise(after.is_up and (before.checkpoint != after.checkpoint if is_kept else before.flushed != after.flushed))
    least = (after.checkpoint if is_kept else after.flushed) - 1
    return all(after.have_snapshots[place] == (before.have_snapshots[place] and place >= least) for place in PLACES)


@step(symptom="a start reads more of a log than it needs", log="none")
def start_reads_from_the_last_snapshot(before: SegmentedLog, after: SegmentedLog) -> bool:
    """A start reads from the last snapshot before what it recovers; a recovered swap has the first one behind it."""
    premise(
        OLD_FORMAT == 0 and (before.reads != after.reads or before.needs != after.needs or before.is_up != after.is_up)
    )
    if before.is_up or not after.is_up:
        return before.reads == after.reads and before.needs == after.needs
    place = before.end if before.is_clean else before.checkpoint
    if SWAPS > 0 and before.has_swap and not SWAPS_KEEP_SNAPSHOTS:
        return after.reads == before.end + (not before.is_clean and before.checkpoint == 0)
    return after.reads == after.needs + place - last_snapshot(before, place)


@step(symptom="a start reads more of a log than it needs, after another crash", log="none")
def recovery_writes_snapshots(before: SegmentedLog, after: SegmentedLog) -> bool:
    """After a recovery there is a snapshot for each segment that was recovered, and those before are as they were."""
    has_swap = SWAPS > 0 and before.has_swap and not SWAPS_KEEP_SNAPSHOTS
    premise(after.is_up and not before.is_up and not before.is_clean and not has_swap)
    return all(
        after.have_snapshots[place]
        == (before.have_snapshots[place] or before.checkpoint < place <= after.end or place == after.end)
        for place in PLACES
    )


@step(symptom="a cleaning is lost, or done twice", log="none")
def swap_is_of_a_stopped_broker(before: SegmentedLog, after: SegmentedLog) -> bool:
    """A swap is left by a broker that is down, of a log with a segment to clean; a start ends that."""
    premise(SWAPS > 0 and (before.has_swap != after.has_swap or before.swaps != after.swaps))
    if after.has_swap:
        return not before.is_up and before.end > 0 and not before.has_swap and after.swaps == before.swaps + 1
    return after.is_up and not before.is_up


@reachable()
def log_is_full(log: SegmentedLog) -> bool:
    """A log has as many segments as there can be, and was started."""
    return log.is_up and log.end == LAST_PLACE and log.needs > 0
