"""Properties of a log of which a part is in a remote store."""

from __future__ import annotations

from kwalk.model.kafka.storage.tiered_log import TieredLog
from kwalk.model.language import always, premise, reachable, step, when_quiescent


@step(
    symptom="records that clients have deleted are read again, after a restart of their leader",
    log="none: kafka-get-offsets.sh --time earliest shows an earlier offset",
)
def start_of_a_tiered_log_stays(before: TieredLog, after: TieredLog) -> bool:
    """The start offset does not move back."""
    return after.start >= before.start


@when_quiescent(
    symptom="disk space: segments of deleted records stay, until more is written",
    log="none: the folder has segments below the start offset",
)
def deleted_segment_goes(tiered: TieredLog) -> bool:
    """Segments before the start offset are deleted at last, but for the active one."""
    return tiered.local_start >= min(tiered.start, tiered.active)


@when_quiescent(
    symptom="records stay that are older than retention.ms, until more is written",
    log="none: the active segment has them",
)
def old_record_goes(tiered: TieredLog) -> bool:
    """Old records are deleted at last."""
    return tiered.start >= tiered.old_end


@always(symptom="consumers get OFFSET_OUT_OF_RANGE, or a gap, though records are in order", log="none")
def record_is_somewhere(tiered: TieredLog) -> bool:
    """Each record from the start offset on is here or in the remote store."""
    is_here = (
        tiered.local_start <= min(tiered.active, max(tiered.start, tiered.copied))
        and tiered.copied <= tiered.active <= tiered.end
    )
    return is_here and tiered.remote_start <= tiered.copied


@step(symptom="a segment is copied twice, or not at all", log="none")
def segments_are_copied_in_order(before: TieredLog, after: TieredLog) -> bool:
    """One segment is copied at a time: the next, or that of the start offset, if the first ones have gone."""
    premise(before.copied != after.copied)
    is_next = after.copied == max(before.copied, before.start) + 1 and after.copied <= before.active
    is_first = before.remote_start == before.copied
    begins = after.copied - 1 if is_first else before.remote_start
    return is_next and after.remote_start == begins and before.start == after.start


@step(symptom="the local disk, or the remote store, lacks a segment", log="none")
def segments_go_one_by_one(before: TieredLog, after: TieredLog) -> bool:
    """A segment goes that is old or before the start, from here or from the remote store."""
    premise(before.local_start != after.local_start or before.remote_start != after.remote_start)
    premise(before.copied == after.copied)
    first = before.local_start if before.local_start != after.local_start else before.remote_start
    is_one = after.local_start + after.remote_start == before.local_start + before.remote_start + 1
    return is_one and (first < before.old_end or first < before.start) and before.end == after.end


@step(symptom="records are not old, or not there", log="none")
def records_are_appended_and_age(before: TieredLog, after: TieredLog) -> bool:
    """A record is appended at the end; records become old where they are; the active segment is closed at the end."""
    premise(before.end != after.end or before.old_end != after.old_end or before.active != after.active)
    is_appended = after.end == before.end + 1 and (before.active, before.old_end) == (after.active, after.old_end)
    is_old = after.old_end == before.end == after.end and before.active == after.active
    is_rolled = after.active == before.end == after.end == before.active + 1 and before.old_end == after.old_end
    return (is_appended or is_old or is_rolled) and before.start == after.start


@step(symptom="a deletion of records is not done, or of too many", log="none")
def start_moves_alone(before: TieredLog, after: TieredLog) -> bool:
    """The start offset follows the remote store, or moves while nothing else does, up to the end."""
    premise(before.start != after.start)
    is_same = (before.local_start, before.copied, before.end) == (after.local_start, after.copied, after.end)
    follows = after.start == after.remote_start == before.remote_start + 1
    return is_same and after.start <= after.end and (follows or before.remote_start == after.remote_start)


@reachable()
def log_is_remote_only(tiered: TieredLog) -> bool:
    """Records are in the remote store that are not here."""
    return tiered.remote_start == tiered.start < tiered.local_start == tiered.copied
