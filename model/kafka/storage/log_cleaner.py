"""LogCleaner and LogCleanerManager: compaction of a log, from the choice of what is dirty to the swap of segments.

One cleaning goes through groups of segments, each in these steps: the records to keep are written to a segment with
the suffix `.cleaned`; it is renamed to `.swap`; the old segments are renamed to `.deleted`, in order; the suffix is
removed. A chunk that the cleaner appends at a time is one batch here.
"""

from __future__ import annotations

from kwalk.model.kafka.storage.domains import (
    CLEANED_BATCHES,
    DELETE_RETENTION_MS,
    INDEX_ENTRIES,
    KEYS,
    LARGE_BATCHES,
    LIMIT_CHANGES,
    LOG_CLEANER,
    MAP_KEYS,
    MAX_RELATIVE_OFFSET,
    MIN_DIRTY_PERCENT,
    POLICY_CHANGES,
    PREALLOCATES,
    SEGMENT_BYTES,
    SEGMENTS,
    TIME_INDEX_ENTRIES,
)
from kwalk.model.kafka.storage.log import active_segment, next_base_offset
from kwalk.model.kafka.storage.log_segment import append_batch, on_become_inactive, open_segment
from kwalk.model.kafka.storage.state import Batch, LogPhase, LogSegment, PartitionLog, Suffix
from kwalk.model.kafka.storage.versions.compaction import (
    BUFFERS_GROW_TO_THE_BATCH,
    BUFFERS_GROW_TO_THE_LIMIT,
    CLEAN_BELOW_HIGH_WATERMARK,
    CLEANED_SEGMENTS_ARE_TRIMMED,
    CLEANS_PARTS_OF_SEGMENTS,
    DIRTY_PART,
    EMPTY_SEGMENTS_ARE_MERGED,
    GAPS_ARE_PASSED,
    GROUPS_BY_LAST_OFFSET,
    LAST_BATCHES_OF_ROUNDS_ARE_KEPT,
    SWAP_REPLACES_ITS_OWN,
    TOMBSTONES_BY_FILE_TIME,
    TOMBSTONES_HAVE_A_HORIZON,
)
from kwalk.model.language import action, evolve, require

NO_MAP = -1
"""No end of the cleaner's map: it has no room for one segment."""


def first_dirty_offset(log: PartitionLog) -> int:
    """Return the cleaner's checkpoint, or the start offset where that is no offset of the log any more.

    Kafka: LogCleanerManager.cleanableOffsets.
    """
    if DIRTY_PART == "from the first segment":
        return max(log.dirty_offset, log.segments[0].base_offset)
    is_valid = log.start_offset <= log.dirty_offset <= log.end_offset
    return log.dirty_offset if is_valid else log.start_offset


def first_uncleanable_offset(log: PartitionLog) -> int:
    """Return the base offset of the first segment that is not cleaned: the active one, or that of the high watermark.

    Kafka: LogCleanerManager.calculateCleanableBytes.
    """
    found = active_segment(log).base_offset
    for slot in reversed(range(len(SEGMENTS))):
        if slot < log.count - 1 and CLEAN_BELOW_HIGH_WATERMARK and next_base_offset(log, slot) > log.high_watermark:
            found = log.segments[slot].base_offset
    return found


def bytes_between(log: PartitionLog, start: int, end: int) -> int:
    """Return the bytes of the segments from the one that has the start up to, and without, the one with the end.

    Where start and end are one offset within a segment, that segment counts (Kafka: Log.logSegments before 2.5.1).
    """
    return sum(
        log.segments[slot].size
        for slot in SEGMENTS
        if slot < log.count and next_base_offset(log, slot) > start and log.segments[slot].base_offset < end
    )


def cleanable_bytes(log: PartitionLog, dirty: int, end: int) -> int:
    """Return the bytes of the dirty part; before KAFKA-9826, of the active segment if the part begins within that.

    Kafka: LogCleanerManager.calculateCleanableBytes.
    """
    if DIRTY_PART == "in closed segments":
        return bytes_between(log, dirty, end) if dirty < end else 0
    return bytes_between(log, dirty, max(dirty, end))


def is_idle(log: PartitionLog) -> bool:
    """Whether the cleaner lives, and does not clean this log, which has compact in its policy."""
    return (
        (POLICY_CHANGES == 0 or log.is_compacted)
        and log.phase is LogPhase.RUNNING
        and not log.is_cleaner_dead
        and log.cleaning_to == 0
    )


@action(
    by=LOG_CLEANER,
    description="begins to clean the log",
    source="LogCleanerManager.grabFilthiestCompactedLog, LogCleanerManager.cleanableOffsets; Cleaner.clean",
)
def begin_cleaning(log: PartitionLog) -> None:
    """The log is cleaned if enough of it is dirty; tombstones are kept since the last modification of what is clean.

    Before KAFKA-8764 the cleaning of a dirty part without records ends at once, with checkpoint 0. So does one without
    segments, of which only the active one was chosen; its checkpoint is where that begins (KAFKA-9826).
    """
    dirty, end = first_dirty_offset(log), first_uncleanable_offset(log)
    clean_bytes = bytes_between(log, 0, dirty)
    dirty_bytes = cleanable_bytes(log, dirty, end)
    require(is_idle(log) and 100 * dirty_bytes > MIN_DIRTY_PERCENT * (dirty_bytes + clean_bytes))
    log.cleanings += 1
    to = end_of_map(log, dirty, end)
    is_refused = DIRTY_PART == "in closed segments only" and dirty > active_segment(log).base_offset
    log.is_cleaner_dead = is_refused or to == NO_MAP or not has_buffers(log)
    has_segments = log.segments[0].base_offset < to and not log.is_cleaner_dead
    log.cleaning_to, log.cleaned_to = to if has_segments else 0, 0
    log.dirty_offset = dirty if has_segments or log.is_cleaner_dead else to
    log.horizon = log.clock if TOMBSTONES_HAVE_A_HORIZON and log.cleaning_to > 0 else -1
    for slot in SEGMENTS:
        segment = log.segments[slot]
        is_clean = slot < log.count and segment.base_offset < dirty and log.cleaning_to > 0
        if is_clean and not TOMBSTONES_HAVE_A_HORIZON:
            log.horizon = max(file_time(segment) - DELETE_RETENTION_MS, -1)


def has_buffers(log: PartitionLog) -> bool:
    """Whether the cleaner's buffers can grow to the size of the batches (Kafka: Cleaner.growBuffers)."""
    if LARGE_BATCHES == 0 or BUFFERS_GROW_TO_THE_BATCH:
        return True
    return bool(BUFFERS_GROW_TO_THE_LIMIT) and (LIMIT_CHANGES == 0 or log.limit_changes == 0)


def end_of_map(log: PartitionLog, dirty: int, end: int) -> int:
    """Return up to where the cleaner's map has the dirty part, or that it cannot have a segment of it.

    Kafka: Cleaner.buildOffsetMap, Cleaner.buildOffsetMapForSegment.
    """
    if MAP_KEYS > 0 and first_unmapped(log, dirty, end) < end:
        unmapped = first_unmapped(log, dirty, end)
        base_offset = max(segment.base_offset for segment in log.segments if segment.base_offset <= unmapped)
        if CLEANS_PARTS_OF_SEGMENTS:
            # A gap before a segment of which the map has nothing is passed, too.
            passed = base_offset if GAPS_ARE_PASSED and base_offset > dirty else 0
            return max(end_of_records(log, dirty, unmapped), passed)
        return end_of_records(log, dirty, base_offset) if base_offset > dirty else NO_MAP
    return end if GAPS_ARE_PASSED else end_of_records(log, dirty, end)


def first_unmapped(log: PartitionLog, dirty: int, end: int) -> int:
    """Return the offset of the first dirty record behind the one that fills the map, or the end of the dirty part."""
    offsets = [
        batch.last_offset
        for segment in log.segments
        for batch in segment.batches
        if dirty <= batch.last_offset < end and keys_between(log, dirty, batch.last_offset) >= MAP_KEYS
    ]
    filled = min(offsets, default=end)
    return min((offset for offset in offsets if offset > filled), default=end)


def keys_between(log: PartitionLog, start: int, last: int) -> int:
    """Return how many keys records have from an offset up to a last one."""
    return sum(
        any(
            batch.key == key and start <= batch.last_offset <= last
            for segment in log.segments
            for batch in segment.batches
        )
        for key in KEYS
    )


def end_of_records(log: PartitionLog, start: int, end: int) -> int:
    """Return the offset behind the last record of the dirty part, or 0 if there is none.

    Kafka: Cleaner.buildOffsetMap, OffsetMap.latestOffset.
    """
    return max(
        (
            batch.last_offset + 1
            for segment in log.segments
            for batch in segment.batches
            if start <= batch.last_offset < end
        ),
        default=0,
    )


def file_time(segment: LogSegment) -> int:
    """Return the time by which tombstones of a segment are kept (Kafka: LogSegment.lastModified)."""
    return segment.last_modified if TOMBSTONES_BY_FILE_TIME else segment.max_timestamp


@action(
    by=LOG_CLEANER,
    description="writes the records to keep of the next segments to a .cleaned segment",
    source="Cleaner.cleanSegments, Cleaner.cleanInto, Cleaner.groupSegmentsBySize, Cleaner.buildOffsetMap",
)
def write_cleaned(log: PartitionLog) -> None:
    """The next group of segments is cleaned into a new one; the old ones stay as they are."""
    require(log.phase is LogPhase.RUNNING and log.suffix is Suffix.NONE and not log.is_cleaner_dead)
    require(log.cleaned_to < log.cleaning_to and (POLICY_CHANGES == 0 or not log.lacks_old))
    first = first_slot(log)
    log.replaced = group_size(log, first)
    log.suffix, log.renamed = Suffix.CLEANED, 0
    at = 0
    base_offset = log.segments[first].base_offset
    for slot in SEGMENTS:
        segment = log.segments[slot]
        if first <= slot < first + log.replaced:
            for batch in segment.batches:
                if is_retained(log, segment, batch):
                    if batch.last_offset - base_offset > MAX_RELATIVE_OFFSET:
                        log.is_cleaner_dead = True
                    log.cleaned[at] = cleaned_batch(log, batch)
                    at = at + 1
    if log.is_cleaner_dead:
        forget_cleaning(log)


def first_slot(log: PartitionLog) -> int:
    """Return the slot of the first segment that this cleaning has not cleaned yet."""
    return next((slot for slot in SEGMENTS if slot < log.count and log.segments[slot].base_offset >= log.cleaned_to), 0)


def group_size(log: PartitionLog, first: int) -> int:
    """Return how many segments are cleaned into one: as many as fit, by bytes, by entries and by relative offset.

    Kafka: Cleaner.groupSegmentsBySize, Cleaner.lastOffsetForFirstSegment.
    """
    size, number, is_open = 0, 0, True
    offsets, times = 0, 0
    for slot in SEGMENTS:
        segment = log.segments[slot]
        if slot >= first and is_open:
            fits = (
                size + segment.size <= SEGMENT_BYTES
                and offsets + len(segment.offset_index) <= INDEX_ENTRIES
                and times + len(segment.time_index) <= TIME_INDEX_ENTRIES
            )
            is_within = last_offset(log, slot) - log.segments[first].base_offset <= MAX_RELATIVE_OFFSET
            is_dirty = slot < log.count and segment.base_offset < log.cleaning_to
            is_within = is_within or (bool(EMPTY_SEGMENTS_ARE_MERGED) and segment.batches.is_empty)
            is_open = slot == first or (is_dirty and fits and is_within)
            if is_open:
                size, number = size + segment.size, number + 1
                offsets, times = offsets + len(segment.offset_index), times + len(segment.time_index)
    return number


def last_offset(log: PartitionLog, slot: int) -> int:
    """Return the offset up to which a segment may go; before KAFKA-5413, the last offset of its index."""
    if GROUPS_BY_LAST_OFFSET:
        return min(next_base_offset(log, slot), log.cleaning_to) - 1
    index = log.segments[slot].offset_index
    return log.segments[slot].base_offset if index.is_empty else index[-1].offset


def is_retained(log: PartitionLog, segment: LogSegment, batch: Batch) -> bool:
    """Whether a record is kept: the last one of its key up to where the log is cleaned, and no tombstone that is due.

    Behind that, which may be within a segment, all are. KAFKA-17076 keeps the last batch, without its record.
    Kafka: Cleaner.shouldRetainRecord, Cleaner.buildOffsetMap.
    """
    if batch.last_offset >= log.cleaning_to:
        return True
    if LAST_BATCHES_OF_ROUNDS_ARE_KEPT and batch.last_offset == log.cleaning_to - 1:
        return True
    is_last = all(
        other.key != batch.key or other.last_offset <= batch.last_offset or not is_mapped(log, other)
        for later in log.segments
        for other in later.batches
    )
    return is_last and (not batch.is_tombstone or retains_deletes(log, segment, batch))


def is_mapped(log: PartitionLog, batch: Batch) -> bool:
    """Whether the record is in the dirty part, of which the cleaner knows the last offset of each key."""
    return log.dirty_offset <= batch.last_offset < log.cleaning_to


def retains_deletes(log: PartitionLog, segment: LogSegment, batch: Batch) -> bool:
    """Whether a tombstone is kept: by its own horizon, or before KIP-534 by that of its segment."""
    if TOMBSTONES_HAVE_A_HORIZON:
        return batch.cleaned is None or log.horizon < batch.cleaned + DELETE_RETENTION_MS
    return file_time(segment) > log.horizon


def cleaned_batch(log: PartitionLog, batch: Batch) -> Batch:
    """Return the batch as it is written: a tombstone remembers when a compaction has first seen it."""
    if not batch.is_tombstone or batch.cleaned is not None:
        return batch
    return evolve(batch, cleaned=log.horizon if TOMBSTONES_HAVE_A_HORIZON else log.clock)


@action(
    by=LOG_CLEANER,
    description="renames the .cleaned segment to .swap",
    source="Log.replaceSegments; LogSegment.changeFileSuffixes",
)
def rename_to_swap(log: PartitionLog) -> None:
    """It has been flushed: from here on, the swap is completed whatever happens."""
    require(log.phase is LogPhase.RUNNING and log.suffix is Suffix.CLEANED)
    require(POLICY_CHANGES == 0 or not log.lacks_old)
    log.suffix = Suffix.SWAP


@action(
    by=LOG_CLEANER,
    description="renames the next old segment to .deleted",
    source="Log.replaceSegments, Log.deleteSegmentFiles",
)
def rename_old(log: PartitionLog) -> None:
    """The old segments go in the order of their offsets."""
    require(log.phase is LogPhase.RUNNING and log.suffix is Suffix.SWAP and log.renamed < log.replaced)
    log.renamed += 1


@action(
    by=LOG_CLEANER,
    description="removes the suffix .swap",
    source="Log.replaceSegments; LogSegment.changeFileSuffixes",
)
def finish_swap(log: PartitionLog) -> None:
    """The new segment has the place of the old ones; after the last group the cleaner writes its checkpoint."""
    require(log.phase is LogPhase.RUNNING and log.suffix is Suffix.SWAP and log.renamed == log.replaced)
    first = first_slot(log)
    upper = min(next_base_offset(log, first + log.replaced - 1), log.cleaning_to)
    replace(log, first, log.replaced, log.segments[first + log.replaced - 1].last_modified)
    log.cleaned_to = upper
    end_replacement(log)
    if log.cleaned_to >= log.cleaning_to:
        log.dirty_offset = log.cleaning_to
        forget_cleaning(log)


def replace(log: PartitionLog, first: int, number: int, last_modified: int) -> None:
    """Put the cleaned segment into the place of some old ones; it has the modification time of the last one."""
    base_offset = log.segments[first].base_offset
    for turn in range(1, len(SEGMENTS)):
        if turn < number:
            remove_slot(log, first + 1)
    segment = log.segments[first]
    open_segment(segment, base_offset, last_modified)
    if PREALLOCATES > 0:
        segment.has_zeros = not CLEANED_SEGMENTS_ARE_TRIMMED
    for batch in log.cleaned:
        if batch is not None:
            append_batch(segment, batch, last_modified)
    on_become_inactive(segment)


def remove_slot(log: PartitionLog, removed: int) -> None:
    """Remove a segment; the later ones move up."""
    for slot in range(len(SEGMENTS) - 1):
        if slot >= removed:
            log.segments[slot] = log.segments[slot + 1]
    log.segments[len(SEGMENTS) - 1].clear()
    log.count -= 1


def end_replacement(log: PartitionLog) -> None:
    """Forget the segment that the cleaner has written."""
    log.suffix, log.replaced, log.renamed = Suffix.NONE, 0, 0
    for at in CLEANED_BATCHES:
        log.cleaned[at] = None


def forget_cleaning(log: PartitionLog) -> None:
    """The cleaner does not clean this log any more; files with a suffix are left for the next start."""
    log.cleaning_to, log.horizon = 0, -1
    if log.suffix is not Suffix.SWAP:
        log.cleaned_to = 0
        end_replacement(log)


def complete_swap(log: PartitionLog) -> None:
    """Complete a swap that was interrupted: the swapped segment is recovered, and replaces those that reach into it.

    Kafka: Log.removeTempFilesAndCollectSwapFiles, Log.completeSwapOperations.
    """
    if log.suffix is not Suffix.SWAP:
        return
    first = first_slot(log)
    end = max((batch.last_offset + 1 for batch in log.cleaned if batch is not None), default=0)
    takes_earlier = not SWAP_REPLACES_ITS_OWN and log.renamed > 0 and first > 0
    number = max(log.renamed, 1)
    for slot in SEGMENTS:
        if first + number <= slot < first + log.replaced and log.segments[slot].base_offset < end:
            number = number + 1
    replace(log, first, number, log.segments[first + log.replaced - 1].last_modified)
    if PREALLOCATES > 0:
        log.segments[first].has_zeros = False
    if takes_earlier:
        remove_slot(log, first - 1)
    log.cleaned_to = 0
    end_replacement(log)
