"""Properties of reads of files, and of the cleaner's map."""

from __future__ import annotations

from kwalk.model.kafka.storage.file_reads import FILE_MAX, KNOWN_KEYS, SLOTS, CleanerMap, ReadFile
from kwalk.model.language import always, premise, reachable, step


@always(symptom="records of a segment are not read, and a fetch or a load of offsets ends before them", log="none")
def file_is_read_to_its_end(file: ReadFile) -> bool:
    """A reading that has ended has read all batches of the file."""
    premise(file.has_ended)
    return file.position == file.size


@always(symptom="a segment near 2 GiB cannot be read", log="none")
def reading_does_not_fail(file: ReadFile) -> bool:
    """A file of any size that a segment can have is read without an error."""
    return not file.has_failed


@step(symptom="a batch is read twice, or left out", log="none")
def batches_are_read_in_order(before: ReadFile, after: ReadFile) -> bool:
    """One batch is read at a time, which is there; nothing is written meanwhile."""
    premise(before.position != after.position or before.size != after.size)
    if before.size != after.size:
        return before.position == after.position == 0 and after.size == before.size + 1
    return after.position == before.position + 1 and after.position <= after.size


@reachable()
def largest_file_is_read(file: ReadFile) -> bool:
    """A file as large as it can be is read."""
    return file.has_ended and file.size == FILE_MAX


@reachable()
def empty_file_is_read(file: ReadFile) -> bool:
    """A file without batches is read."""
    return file.has_ended and file.size == 0


@always(
    symptom="the log cleaner stops at a full map, with log.cleaner.io.buffer.load.factor=1",
    log="[kafka-log-cleaner-thread-…], Error due to java.lang.ArrayIndexOutOfBoundsException",
)
def lookup_in_a_map_ends(map_: CleanerMap) -> bool:
    """A key that the map has not is not found, however many others it has."""
    return not map_.has_failed


@step(symptom="the cleaner's map has more keys than it may have", log="none")
def map_has_room(before: CleanerMap, after: CleanerMap) -> bool:
    """Keys are put into a map before they are looked up, as many as it may have."""
    premise(before.keys != after.keys)
    return after.keys == before.keys + 1 and after.keys <= KNOWN_KEYS and not before.is_answered


@step(symptom="the cleaner forgets what it has looked up", log="none")
def answer_stays(before: CleanerMap, after: CleanerMap) -> bool:
    """A map that has been asked answers again."""
    premise(before.is_answered)
    return after.is_answered


@reachable()
def full_map_is_asked(map_: CleanerMap) -> bool:
    """A full map is asked for a key."""
    return map_.keys == SLOTS and (map_.is_answered or map_.has_failed)


@reachable()
def empty_map_is_asked(map_: CleanerMap) -> bool:
    """An empty map is asked for a key."""
    return map_.keys == 0 and map_.is_answered
