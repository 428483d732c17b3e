"""Log and FileRecords: threads that read a log without its lock look twice at what another thread changes in between.

A fetch of a consumer reads the file of a segment up to the high watermark. A lookup of offsets (ListOffsets of version
0), or a cleaner that chooses a log, makes a list of the segments. A fetch that waits for fetch.min.bytes is checked
against the position of the high watermark, which a replica looks up as it comes to lead. The task that writes the start
offsets of all logs of a directory looks at the first segment of each (`StartOffsets`).

What the model leaves out, and why its stories lose nothing by it:

* Offsets and positions in the file: a record stands for a batch, and for its bytes.
* Segments that are added: a list is as long as the log was when it was begun.
* Truncations, after which a fetch finds nothing, or what has been appended since; but for those in which a log begins
  again, and of which the start offsets know.
"""

from __future__ import annotations

from enum import Enum

from kwalk.model.kafka.storage.domains import CLIENT, CONSUMER, LOG, OFFSETS, PRODUCER, REPLICAS
from kwalk.model.kafka.storage.versions.reads import (
    LEADERS_KNOW_POSITIONS_FIRST,
    LOOKUPS_LOOK_ONCE,
    SEGMENTS_ARE_BUFFERED,
    SLICES_LOOK_ONCE,
)
from kwalk.model.kafka.storage.versions.segments import LOGS_HAVE_A_SEGMENT
from kwalk.model.language import Actor, Bound, action, choice, flag, number, require, state

OLD_SEGMENTS = Bound("old_segments", "segments before the active one", default=0)

HANDLER = Actor("request handler")
FETCHER = Actor("replica fetcher")


class Fetch(Enum):
    """How far a consumer's fetch is."""

    NONE = "not sent"
    LIMITED = "is to end at the high watermark"
    OPEN = "is to end where the file ends"
    ANSWERED = "answered"
    FAILED = "failed"


class Lookup(Enum):
    """How far a lookup of offsets is."""

    NONE = "not sent"
    COUNTED = "has room for the segments"
    COPIED = "has room for the offsets"
    ANSWERED = "answered"
    FAILED = "failed"


class LeaderPhase(Enum):
    """Whether the replica leads."""

    FOLLOWS = "follows"
    BEGINS = "begins to lead"
    LEADS = "leads"


@state
class ReadLog:
    """A log, whose active segment has `written` records in its file, and what readers have seen of it.

    A fetch has the high watermark of its begin as its `fetch_limit`, and gets records up to `read_to`. A lookup has
    `counted` segments; it `had_records` in the last one.
    """

    written: int = number(0, OFFSETS)
    high_watermark: int = number(0, OFFSETS)
    old_segments: int = number(0, OLD_SEGMENTS)
    leadership: LeaderPhase = choice(LeaderPhase)
    fetch: Fetch = choice(Fetch)
    fetch_limit: int = number(0, OFFSETS)
    read_to: int = number(0, OFFSETS)
    lookup: Lookup = choice(Lookup)
    counted: int = number(0, OLD_SEGMENTS)
    had_records: bool = flag()


@action(by=PRODUCER, description="produces a record", source="LogSegment.append; FileRecords.append")
def append(log: ReadLog) -> None:
    """Write the record to the file of the active segment."""
    log.written += 1


@action(by=REPLICAS, description="have all records", source="Partition.maybeIncrementLeaderHW")
def replicate(log: ReadLog) -> None:
    """Raise the high watermark to the end of the log."""
    log.high_watermark = log.written


@action(by=CONSUMER, description="fetches", source="Log.read: fetchHighWatermarkMetadata")
def begin_fetch(log: ReadLog) -> None:
    """Have the fetch end at the high watermark."""
    require(log.fetch is Fetch.NONE)
    log.fetch, log.fetch_limit = Fetch.LIMITED, log.high_watermark


@action(by=HANDLER, description="compares the end of the fetch with that of the file", source="FileRecords.slice")
def slice_file(log: ReadLog) -> None:
    """End the fetch at its limit. From 1.1 to 2.5.0 one that ends with the file looked for that end once more."""
    require(log.fetch is Fetch.LIMITED)
    if log.fetch_limit == log.written and not SLICES_LOOK_ONCE:
        log.fetch = Fetch.OPEN
    else:
        log.fetch, log.read_to = Fetch.ANSWERED, log.fetch_limit


@action(by=HANDLER, description="reads the file up to its end", source="FileRecords.slice: sizeInBytes")
def read_to_the_end(log: ReadLog) -> None:
    """Read what the file has by now."""
    require(log.fetch is Fetch.OPEN)
    log.fetch, log.read_to = Fetch.ANSWERED, log.written


@action(by=CLIENT, description="looks up offsets", source="KafkaApis.fetchOffsetsBefore: logSegments.toArray")
def begin_lookup(log: ReadLog) -> None:
    """Make room for as many segments as the log has."""
    require(log.lookup is Lookup.NONE)
    log.lookup, log.counted = Lookup.COUNTED, log.old_segments


@action(by=LOG, description="removes its first segment, by retention", source="Log.deleteOldSegments")
def remove_segment(log: ReadLog) -> None:
    """Shorten the list of segments, which is safe for concurrent use."""
    require(log.old_segments > 0)
    log.old_segments -= 1


@action(by=HANDLER, description="copies the list of segments", source="KafkaApis.fetchOffsetsBefore")
def copy_segments(log: ReadLog) -> None:
    """Make room for an offset of each, and of the end if the last one has records.

    Until KAFKA-4205 a segment that was removed since they were counted left a null, in lists of the cleaner, too.
    """
    require(log.lookup is Lookup.COUNTED)
    has_null = log.old_segments < log.counted and not SEGMENTS_ARE_BUFFERED
    log.lookup, log.had_records = Lookup.FAILED if has_null else Lookup.COPIED, log.written > 0


@action(by=HANDLER, description="answers the lookup", source="KafkaApis.fetchOffsetsBefore")
def answer_lookup(log: ReadLog) -> None:
    """Fill in the offsets. Until KAFKA-2236 it looked once more whether there is one of the end, and had no room."""
    require(log.lookup is Lookup.COPIED)
    has_room = log.had_records or log.written == 0 or bool(LOOKUPS_LOOK_ONCE)
    log.lookup = Lookup.ANSWERED if has_room else Lookup.FAILED


@action(by=HANDLER, description="begins to lead", source="Partition.makeLeader")
def begin_to_lead(log: ReadLog) -> None:
    """Take the first of two steps: it leads, or looks up the position of its high watermark (since KAFKA-5745)."""
    require(log.leadership is LeaderPhase.FOLLOWS)
    log.leadership = LeaderPhase.BEGINS


@action(by=HANDLER, description="leads", source="Partition.makeLeader: convertHWToLocalOffsetMetadata")
def lead(log: ReadLog) -> None:
    """Take the other step."""
    require(log.leadership is LeaderPhase.BEGINS)
    log.leadership = LeaderPhase.LEADS


@action(by=CONSUMER, description="fetches, and waits for fetch.min.bytes", source="DelayedFetch.tryComplete")
def fetch_and_wait(log: ReadLog) -> None:
    """Compare the position of the fetch with that of the high watermark; it fails if that is not known."""
    leads_early = log.leadership is LeaderPhase.BEGINS and not LEADERS_KNOW_POSITIONS_FIRST
    require(log.leadership is LeaderPhase.LEADS or leads_early)
    log.fetch = Fetch.FAILED if leads_early else Fetch.ANSWERED


@state
class StartOffsets:
    """A log directory with two logs: clients delete records of one, and the other one begins again.

    Attributes:
        is_raised: whether the start offset of the first log is above that of its first segment.
        is_written: whether log-start-offset-checkpoint has it; without it, the records are there again after a crash.
        is_empty: whether the second log has no segment.
        has_failed: whether the last round of the task has failed.
    """

    is_raised: bool = flag()
    is_written: bool = flag()
    is_empty: bool = flag()
    has_failed: bool = flag()


@action(by=CLIENT, description="deletes records of the first log", source="Log.maybeIncrementLogStartOffset")
def raise_start(starts: StartOffsets) -> None:
    """Raise its start offset."""
    require(not starts.is_raised)
    starts.is_raised = True


@action(by=REPLICAS, description="the second log loses its segments", source="Log.truncateFullyAndStartAt")
def remove_all_segments(starts: StartOffsets) -> None:
    """A follower whose leader begins behind its end begins again. Since KAFKA-12875 the new segment is added first."""
    require(not starts.is_empty and not LOGS_HAVE_A_SEGMENT)
    starts.is_empty = True


@action(by=FETCHER, description="gives the second log a segment", source="Log.truncateFullyAndStartAt: addSegment")
def add_first_segment(starts: StartOffsets) -> None:
    """It begins where the leader does."""
    require(starts.is_empty)
    starts.is_empty = False


@action(by=LOG, description="writes the start offsets", source="LogManager.checkpointLogStartOffsetsInDir")
def write_starts(starts: StartOffsets) -> None:
    """Look for the first segment of each log. Where there is none, the round ends.

    Later directories are left out, too.
    """
    require(starts.is_raised and not starts.is_written)
    starts.has_failed = starts.is_empty
    starts.is_written = not starts.is_empty


def starts_with_segments(log: ReadLog) -> None:
    """Have a log with old segments, whose active one is empty."""
    log.old_segments = OLD_SEGMENTS
