"""Log.loadSegments: time indexes that a start adds to segments of before 0.10.1.

An index file of the active segment has room for all entries that it may get; others have what they need.

What the model leaves out, and why its story loses nothing by it: entries, which a segment of before 0.10.1 has none of;
and crashes, after which indexes are written again.
"""

from __future__ import annotations

from typing import Annotated

from kwalk.model.kafka.storage.domains import LOG
from kwalk.model.kafka.storage.versions import ADDED_INDEXES_ARE_TRIMMED
from kwalk.model.language import Actor, Array, Domain, action, array, flag, member, require, state

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
