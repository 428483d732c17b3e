"""Log.loadProducerState and recoverSegment: what a start reads of a log, to know its producers.

A log has a snapshot of its producers where a segment begins, so that a start reads what is behind the last one. A
recovery of a segment reads from the last snapshot before it on, and deletes those behind.

What the model leaves out, and why its stories lose nothing by it:

* What the producers are, which `producer_state` has: here a start reads segments, and each takes its time.
* Records of the active segment, which is empty, and segments that are deleted.
"""

from __future__ import annotations

from kwalk.model.kafka.storage.domains import FAULT, LOG, LOG_CLEANER, OPERATOR, PRODUCER
from kwalk.model.kafka.storage.versions.producers import OLD_FORMATS_HAVE_NO_PRODUCERS, SNAPSHOTS_ARE_KEPT_FOR_RECOVERY
from kwalk.model.kafka.storage.versions.recovery import SWAPS_KEEP_SNAPSHOTS
from kwalk.model.language import Array, Bound, Domain, action, array, flag, number, require, state

LAST_PLACE = Bound("last_place", "where the last segment can begin; the first one begins at 0")
PLACES = Domain("places", "where segments can begin", size=LAST_PLACE + 1)
OLD_FORMAT = Bound("old_format", "1 if the topic has a message format before 0.11", default=0)
SWAPS = Bound("swaps", "how often the cleaner is stopped as it replaces the first segment", default=0)


@state
class SegmentedLog:
    """A log whose active segment begins at `end`, with a snapshot at the places that `have_snapshots`.

    It is flushed up to `flushed`, as it has in memory; `checkpoint` is on disk. The cleaner has left a `swap` of the
    first segment. After a stop the log `is_clean`. The last start has read `reads` segments, and had to read `needs`.
    """

    end: int = number(0, LAST_PLACE)
    have_snapshots: Array[bool] = array(PLACES, flag())
    flushed: int = number(0, LAST_PLACE)
    checkpoint: int = number(0, LAST_PLACE)
    has_swap: bool = flag(when=SWAPS)
    swaps: int = number(0, SWAPS)
    is_up: bool = flag(default=True)
    is_clean: bool = flag()
    reads: int = number(0, 2 * LAST_PLACE + 2)
    needs: int = number(0, 2 * LAST_PLACE + 2)


def delete_snapshots(log: SegmentedLog, flushed: int) -> None:
    """Delete the snapshots before a recovery point, but that of the segment before it (Kafka: deleteSnapshotsBefore).

    So those of the last two segments stay, too.
    """
    for each in PLACES:
        log.have_snapshots[each] = log.have_snapshots[each] and each + 1 >= flushed


@action(by=PRODUCER, description="fills a segment", source="Log.roll: takeSnapshot")
def roll(log: SegmentedLog) -> None:
    """Begin another segment, with a snapshot."""
    require(log.is_up and log.end < LAST_PLACE)
    log.end += 1
    log.have_snapshots[log.end] = True


@action(by=LOG, description="is flushed", source="Log.flush: deleteSnapshotsBefore")
def flush(log: SegmentedLog) -> None:
    """Flush the segments that are full. Until KAFKA-5829 that deleted the snapshots before the end."""
    require(log.is_up)
    log.flushed = log.end
    if not SNAPSHOTS_ARE_KEPT_FOR_RECOVERY:
        delete_snapshots(log, log.flushed)


@action(by=LOG, description="has its recovery point written", source="LogManager.checkpointLogRecoveryOffsetsInDir")
def write_checkpoint(log: SegmentedLog) -> None:
    """Write up to where the log is flushed; and delete the snapshots that no recovery needs any more."""
    require(log.is_up)
    log.checkpoint = log.flushed
    if SNAPSHOTS_ARE_KEPT_FOR_RECOVERY:
        delete_snapshots(log, log.checkpoint)


@action(by=OPERATOR, description="stops the broker", source="Log.close; LogManager.shutdown")
def stop(log: SegmentedLog) -> None:
    """Write the clean shutdown file; there is a snapshot where the active segment begins, which is empty."""
    require(log.is_up)
    log.is_up, log.is_clean = False, True
    log.flushed = log.checkpoint = log.end


@action(by=FAULT, description="crashes")
def crash(log: SegmentedLog) -> None:
    """Leave the log as it is."""
    require(log.is_up)
    log.is_up, log.is_clean = False, False


@action(by=LOG_CLEANER, description="is stopped before it has renamed a `.swap`", source="Log.replaceSegments")
def leave_swap(log: SegmentedLog) -> None:
    """Leave the first segment to be replaced by the next start."""
    require(SWAPS > 0 and not log.is_up and log.end > 0)
    log.swaps += 1
    log.has_swap = True


def last_snapshot(log: SegmentedLog, place: int) -> int:
    """Return the last place with a snapshot, at or before a place; or 0, where the log begins."""
    found = 0
    for each in PLACES:
        found = each if log.have_snapshots[each] and each <= place else found
    return found


def load_from(log: SegmentedLog, place: int) -> None:
    """Read from the last snapshot at or before a place up to it (Kafka: rebuildProducerState).

    Since KAFKA-7076 nothing is read in a log whose message format has no producers.
    """
    if OLD_FORMAT == 0 or not OLD_FORMATS_HAVE_NO_PRODUCERS:
        log.reads = log.reads + place - last_snapshot(log, place)


def recover(log: SegmentedLog, place: int, end: int) -> None:
    """Recover the segments from one place to another one (Kafka: recoverSegment).

    What the first one needs is read; then snapshots behind its begin are written anew, as far as it goes.
    """
    load_from(log, place)
    for each in PLACES:
        log.have_snapshots[each] = each == end or (each < end and (log.have_snapshots[each] or each > place))
    log.reads = log.reads + end - place


@action(by=LOG, description="starts", source="Log.loadSegments: completeSwapOperations, recoverLog; loadProducerState")
def start(log: SegmentedLog) -> None:
    """Read what the log has of producers. Until KAFKA-12520 a `.swap` was recovered, as if it was not flushed."""
    require(not log.is_up)
    log.reads, log.needs = 0, 0
    if SWAPS > 0 and log.has_swap:
        log.has_swap = False
        if not SWAPS_KEEP_SNAPSHOTS:
            log.needs = 1
            recover(log, 0, 1)
    if not log.is_clean:
        log.needs = log.needs + log.end - log.checkpoint
        recover(log, log.checkpoint, log.end)
    load_from(log, log.end)
    log.have_snapshots[log.end] = True
    log.is_up, log.is_clean = True, False


def was_upgraded_amid_a_crash(log: SegmentedLog) -> None:
    """Have a log of a release without snapshots, whose broker has crashed."""
    log.end = log.flushed = log.checkpoint = LAST_PLACE - 1
    log.is_up = False
