"""FileLogInputStream, SkimpyOffsetMap: how batches are read from a file, and keys are looked up by the cleaner.

A file is read header by header, each of which says where the next one is. The cleaner keeps the last offset of each key
in a map with as many slots as it has memory for.

What the model leaves out, and why its stories lose nothing by it: sizes, which are one for all batches; and the hashes
of keys, whose search ends at a free slot.
"""

from __future__ import annotations

from kwalk.model.kafka.storage.domains import LOG, LOG_CLEANER
from kwalk.model.kafka.storage.versions.compaction import FULL_MAPS_ARE_SEARCHED_ONCE
from kwalk.model.kafka.storage.versions.reads import HEADERS_ARE_READ_WHOLE, POSITIONS_DO_NOT_OVERFLOW
from kwalk.model.language import Bound, action, flag, number, require, state

FILE_BATCHES = Bound("file_batches", "batches of the file", minimum=1)
FILE_MAX = Bound(
    "file_max", "batches of a file that is as large as it can be: a header behind them is beyond 2 GiB", minimum=1
)
SLOTS = Bound("slots", "slots of the map", minimum=1)
KNOWN_KEYS = Bound("known_keys", "keys that the map may have, by log.cleaner.io.buffer.load.factor", minimum=1)


@state
class ReadFile:
    """A file with `size` batches, of which `position` are read, and how the reading has ended, if it has."""

    size: int = number(0, FILE_MAX)
    position: int = number(0, FILE_MAX)
    has_ended: bool = flag()
    has_failed: bool = flag()


@action(by=LOG, description="writes a batch", source="FileRecords.append")
def write_batch(file: ReadFile) -> None:
    """Before it is read."""
    require(file.size < FILE_BATCHES and file.position == 0 and not file.has_ended)
    file.size += 1


@action(by=LOG, description="reads the next batch", source="FileLogInputStream.nextBatch")
def read_batch(file: ReadFile, is_short: bool) -> None:
    """A read may give a part of a header: up to 0.10.1 that was taken for the end of the file.

    Up to 1.1.0 the end of the next header was counted with 32 bits, so that one beyond 2 GiB was before the end.
    """
    require(not file.has_ended)
    if file.position < file.size and not (is_short and not HEADERS_ARE_READ_WHOLE):
        file.position += 1
    else:
        file.has_ended = True
        file.has_failed = file.position == FILE_MAX and not POSITIONS_DO_NOT_OVERFLOW


@state
class CleanerMap:
    """A map with `keys`, and whether a lookup was `answered`, or `has_failed`."""

    keys: int = number(0, SLOTS)
    is_answered: bool = flag()
    has_failed: bool = flag()


@action(by=LOG_CLEANER, description="puts a key into the map", source="SkimpyOffsetMap.put")
def put_key(map_: CleanerMap) -> None:
    """The cleaner ends its round when the map has as many keys as it may have."""
    require(map_.keys < min(int(SLOTS), int(KNOWN_KEYS)) and not map_.is_answered)
    map_.keys += 1


@action(by=LOG_CLEANER, description="looks up a key that the map has not", source="SkimpyOffsetMap.get")
def look_up_absent(map_: CleanerMap) -> None:
    """The search ends at a free slot; up to 0.10.0 there was no other end."""
    require(not map_.has_failed)
    map_.has_failed = map_.keys == SLOTS and not FULL_MAPS_ARE_SEARCHED_ONCE
    map_.is_answered = not map_.has_failed
