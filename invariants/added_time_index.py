"""Properties of time indexes that a start adds, and of records without timestamps."""

from __future__ import annotations

from kwalk.model.kafka.storage.added_time_index import UPGRADED, MixedSegment, UpgradedLog, UpgradedSegment
from kwalk.model.kafka.storage.domains import RETENTION_MS
from kwalk.model.language import always, premise, reachable, step, when_quiescent


@always(symptom="index files have 10 MiB for each segment, after an upgrade to 0.10.1", log="none")
def closed_segment_has_a_small_index(log: UpgradedLog, segment: UpgradedSegment) -> bool:
    """The time index of a segment that is not active is not larger than its entries."""
    premise(segment != log.active)
    return not log.is_large[segment]


@always(symptom="the active segment cannot be appended to", log="none")
def active_segment_has_room(log: UpgradedLog) -> bool:
    """The time index of the active segment has room while the broker runs, and then only."""
    return log.is_large[log.active] == log.runs


@always(symptom="timestamps are not found", log="none")
def segment_of_a_running_broker_has_an_index(log: UpgradedLog, segment: UpgradedSegment) -> bool:
    """A segment has a time index if its broker runs."""
    premise(log.runs)
    return log.has_index[segment]


@step(symptom="a start changes which segment is active", log="none")
def segments_stay(before: UpgradedLog, after: UpgradedLog) -> bool:
    """Indexes stay, and the active segment, too; a broker starts or stops."""
    is_same = all(before.has_index[each] <= after.has_index[each] for each in UPGRADED)
    return is_same and before.active == after.active and before.runs != after.runs


@step(
    symptom="records of old producers are gone before retention.ms has passed, where others send timestamps",
    log="Deleting segment … due to retention time …ms breach",
)
def young_record_without_time_is_kept(before: MixedSegment, after: MixedSegment) -> bool:
    """A segment goes when each record without a timestamp was appended longer ago than the retention time."""
    premise(after.is_deleted and not before.is_deleted and before.last_untimed is not None)
    return before.last_untimed is not None and before.now - before.last_untimed > RETENTION_MS


@step(symptom="records are gone before retention.ms has passed", log="none")
def young_record_with_time_is_kept(before: MixedSegment, after: MixedSegment) -> bool:
    """The same of records with a timestamp; a segment without records stays."""
    premise(after.is_deleted != before.is_deleted)
    return after.is_deleted and before.last_append is not None and before.now - (before.largest or 0) > RETENTION_MS


@when_quiescent(symptom="records are there long after retention.ms has passed", log="none")
def old_mixed_segment_goes(segment: MixedSegment) -> bool:
    """A segment goes at last, to which nothing was sent for as long."""
    premise(segment.last_append is not None and segment.now - segment.last_append > RETENTION_MS)
    return segment.is_deleted


@step(symptom="a record is appended to a segment that is gone, or with another time", log="none")
def record_is_appended_now(before: MixedSegment, after: MixedSegment) -> bool:
    """A record that is appended has the present time, or none; only time passes besides."""
    premise(before.last_append != after.last_append or before.now != after.now)
    if before.now != after.now:
        return after.now == before.now + 1 and before.last_append == after.last_append
    is_noted = before.now in (after.largest, after.last_untimed)
    return not before.is_deleted and after.last_append == before.now and is_noted


@reachable()
def untimed_segment_goes(segment: MixedSegment) -> bool:
    """A segment has gone whose records had no timestamp."""
    return segment.is_deleted and segment.largest is None
