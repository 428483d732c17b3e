"""What a crash leaves of files that were flushed: index files with zeros behind their entries, or none of a name."""

from __future__ import annotations

from kwalk.model.kafka.storage.domains import FAULT, SEGMENTS, SegmentSlot
from kwalk.model.kafka.storage.log import active_segment
from kwalk.model.kafka.storage.log_loading import close
from kwalk.model.kafka.storage.state import LogPhase, PartitionLog
from kwalk.model.kafka.storage.versions.recovery import FOLDERS_ARE_FLUSHED
from kwalk.model.language import action, require


@action(
    by=FAULT,
    description="crashes; the disk has the index files of segment {slot} as they were before they were trimmed",
    source="AbstractIndex.trimToValidSize, AbstractIndex.flush",
)
def crash_untrimmed(log: PartitionLog, slot: SegmentSlot) -> None:
    """A roll trims the files of the segment that it closes; a flush writes what they have in memory, not their size.

    Records are not lost. KAFKA-10207 has seen such files, and does not know the cause.
    """
    require(log.phase is not LogPhase.STOPPED and slot < log.count - 1)
    log.crashes += 1
    log.segments[slot].is_padded = active_segment(log).is_padded = True
    close(log)


@action(
    by=FAULT,
    description="crashes with its machine; the folder on disk has no file of segment {slot}, nor of later ones",
    source="Log.flush, Log.roll",
)
def crash_unnamed(log: PartitionLog, slot: SegmentSlot) -> None:
    """A flush of a file need not write its name. Since KAFKA-3968 the folder of a new segment is flushed, too."""
    require(log.phase is not LogPhase.STOPPED and 0 < slot < log.count)
    require(not FOLDERS_ARE_FLUSHED or log.segments[slot].flushed == 0)
    log.crashes += 1
    for later in SEGMENTS:
        if later >= slot:
            log.segments[later].clear()
    log.count = slot
    close(log)
