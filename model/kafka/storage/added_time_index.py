"""Log.loadSegments: time indexes that a start adds to segments of before 0.10.1.

An index file of the active segment has room for all entries that it may get; others have what they need.

A segment whose records have no timestamps has no entries, either: the modification time of its file tells how old it
is. If one record has a timestamp, that tells it for all of them (`MixedSegment`).

What the model leaves out, and why its stories lose nothing by it: entries, which a segment of before 0.10.1 has none
of; and crashes, after which indexes are written again.
"""

from __future__ import annotations

from typing import Annotated

from kwalk.model.kafka.storage.domains import LOG, PRODUCER, RETENTION_MS, TIME, TIMES
from kwalk.model.kafka.storage.versions.segments import ADDED_INDEXES_ARE_TRIMMED, TIME_INDEX
from kwalk.model.language import Actor, Array, Domain, action, array, flag, member, number, optional, require, state

UPGRADED = Domain("upgraded", "segments of the log", default=2)
UpgradedSegment = Annotated[int, UPGRADED]
OPERATOR = Actor("operator", system=False)


@state
class UpgradedLog:
    """Whether the broker runs, which segment is active, and which ones have a time index, and a large one."""

    runs: bool = flag()
    active: int = member(UPGRADED)
    has_index: Array[bool] = array(UPGRADED, flag())
    is_large: Array[bool] = array(UPGRADED, flag())


def ends_with_the_last(log: UpgradedLog) -> None:
    """The last segment is active, and there are no time indexes."""
    log.active = 1


@action(by=LOG, description="starts, with time indexes", source="Log.loadSegments: timeIndexFileExists")
def add_time_indexes(log: UpgradedLog) -> None:
    """A file that is not there is created, as large as it may be; up to 0.10.1 it stayed so."""
    require(not log.runs)
    log.runs = True
    for segment in UPGRADED:
        is_new = not log.has_index[segment]
        is_kept = is_new and not ADDED_INDEXES_ARE_TRIMMED
        log.is_large[segment] = segment == log.active or is_kept or (log.is_large[segment] and not is_new)
        log.has_index[segment] = True


@action(by=OPERATOR, description="stops the broker", source="Log.close: trimToValidSize of the active segment")
def stop_upgraded(log: UpgradedLog) -> None:
    """The index of the active segment is trimmed."""
    require(log.runs)
    log.runs = False
    log.is_large[log.active] = False


@state
class MixedSegment:
    """A segment to which producers of before 0.10 send, too, whose records have no timestamp.

    Attributes:
        now: the time.
        largest: the largest timestamp of its records, if one has any.
        last_append: when a record was appended last, which is the modification time of the file.
        last_untimed: when the last record without a timestamp was.
        is_deleted: whether retention has deleted the segment.
    """

    now: int = number(0, TIMES)
    largest: int | None = optional(number(0, TIMES))
    last_append: int | None = optional(number(0, TIMES))
    last_untimed: int | None = optional(number(0, TIMES))
    is_deleted: bool = flag()


@action(by=PRODUCER, description="sends a record with the present time", source="LogSegment.append")
def send_timed(segment: MixedSegment) -> None:
    """Append it."""
    require(not segment.is_deleted)
    segment.largest = segment.last_append = segment.now


@action(by=PRODUCER, description="sends a record without a timestamp", source="LogValidator.validateTimestamp")
def send_untimed(segment: MixedSegment) -> None:
    """Append it as it is, with message.timestamp.type=CreateTime."""
    require(not segment.is_deleted)
    segment.last_untimed = segment.last_append = segment.now


@action(by=TIME, description="passes", source="Time.milliseconds")
def pass_time(segment: MixedSegment) -> None:
    """Let records get older."""
    segment.now += 1


@action(by=LOG, description="deletes the segment, which is old", source="LogSegment.largestTimestamp")
def delete_mixed(segment: MixedSegment) -> None:
    """Look at the largest timestamp; where there is none, and before KIP-33, at the modification time of the file."""
    written = segment.largest if TIME_INDEX and segment.largest is not None else segment.last_append
    require(not segment.is_deleted and written is not None and segment.now - written > RETENTION_MS)
    segment.is_deleted = True
