"""Properties of time indexes that a start adds."""

from __future__ import annotations

from kwalk.model.kafka.storage.added_time_index import UPGRADED, UpgradedLog, UpgradedSegment
from kwalk.model.language import always, premise, step


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
