"""A file with a buffer that does what a file does: each of its steps is a step of the file, or changes nothing there.

The buffer holds the bytes from `low` on. A write changes the buffer only; it is flushed before the buffer moves. What a
file has beyond what was ever written is arbitrary, and so is a byte of the buffer beyond the file's length: None.

Words: *content* is what the file on disk has. The *logical* content is that with the buffer on top of it. The position
is *covered* if it is in the buffer; reading and writing one byte after the other can leave the buffer, until a seek.

Source: C. Loncaric's BufferedRandomAccessFile.tla in tlaplus/Examples (braf), with the constants of its .cfg. Counts:
3,316 distinct states and 128,581 generated with the symmetry of symbols (manifest.json). Without it, TLC prints 6,376
and 248,698 and a depth of 10; for a greatest offset of 2, it prints 1,302 and 28,329 and a depth of 7. The bytes that
were read are no part of the state, so a read has only their number here.
"""

from __future__ import annotations

from typing import Annotated

from kwalk.model.language import (
    Actor,
    Array,
    Bound,
    Domain,
    Fifo,
    Scenario,
    action,
    always,
    array,
    fifo,
    flag,
    member,
    nested,
    optional,
    premise,
    reachable,
    refines,
    require,
    state,
)

MOST = Bound("most", "the greatest offset")
OFFSETS = Domain("offsets", "offsets in a file", size=MOST + 1)
PLACES = Domain("places", "bytes that fit in the buffer")
SYMBOLS = Domain("symbols", "values of a byte", label=lambda n: "AB"[n] if n < 2 else str(n))

Offset = Annotated[int, OFFSETS]
Byte = Annotated[int | None, optional(SYMBOLS)]
Data = Annotated[tuple[int | None, ...], fifo(optional(SYMBOLS), MOST)]

USER = Actor("user")


@state
class File:
    """What is on disk, and the position of the next read or write."""

    content: Fifo[int | None] = fifo(optional(SYMBOLS), MOST)
    position: int = member(OFFSETS)

    def write_at(self, offset: int, data: list[int | None]) -> None:
        """Overwrite the content from an offset on; a gap before it has arbitrary bytes."""
        self.resize(max(len(self.content), offset))
        self.content = self.content[:offset] + data + self.content[offset + len(data) :]

    def resize(self, length: int) -> None:
        """Truncate the content, or extend it by arbitrary bytes."""
        self.content = [self.content[n] if n < len(self.content) else None for n in range(length)]

    def can_move_to(self, position: int, length: int) -> bool:
        """Whether a change of the length may move the position so: to the end, if it were beyond it."""
        return position == length or len(self.content) <= length or self.position <= length


@action(by=USER, description="seeks {offset}", source="RandomAccessFile, Seek")
def seek_file(file: File, offset: Offset) -> None:
    """The position is set."""
    file.position = offset


@action(by=USER, description="sets the length to {length}", source="RandomAccessFile, SetLength")
def resize_file(file: File, length: Offset, position: Offset) -> None:
    """The file is truncated or extended; where the position then is, is not specified."""
    require(file.can_move_to(position, length))
    file.resize(length)
    file.position = position


@action(by=USER, description="reads {count} bytes", source="RandomAccessFile, Read")
def read_file(file: File, count: Offset) -> None:
    """Some bytes are read."""
    require(count > 0 and file.position + count <= len(file.content))
    file.position += count


@action(by=USER, description="writes {data}", source="RandomAccessFile, Write")
def write_file(file: File, data: Data) -> None:
    """Some bytes are written."""
    require(data and file.position + len(data) <= MOST)
    file.write_at(file.position, list(data))
    file.position += len(data)


@reachable()
def can_be_full(file: File) -> bool:
    """A file can have the greatest length."""
    return len(file.content) == MOST


RANDOM_ACCESS_FILE = Scenario(
    name="random-access-file",
    story="A file is read and written at any position.",
    state=File,
    actions=(seek_file, resize_file, read_file, write_file),
    properties=(can_be_full,),
    bounds={"most": 3, "symbols": 2},
)


@state
class BufferedFile:
    """The fields of the Java class, and the file below."""

    is_dirty: bool = flag()
    length: int = member(OFFSETS)
    position: int = member(OFFSETS)
    low: int = member(OFFSETS)
    buffer: Array[int | None] = array(PLACES, optional(SYMBOLS))
    disk_position: int = member(OFFSETS)
    file: File = nested(File)

    @property
    def end(self) -> int:
        """The offset after the buffer."""
        return self.low + len(PLACES)

    @property
    def is_covered(self) -> bool:
        """Inv2, on which reads and writes depend: whether the position is in the buffer."""
        return self.low <= self.position < self.end

    @property
    def buffered(self) -> list[int | None]:
        """The bytes of the buffer that belong to the file."""
        return list(self.buffer)[: max(self.length - self.low, 0)]

    def move_on_disk(self, position: int) -> None:
        """The position of the file below changes, and what is known of it."""
        self.file.position = self.disk_position = position

    def write(self, data: list[int | None]) -> None:
        """Change the buffer at the position."""
        start = self.position - self.low
        self.buffer = [data[n - start] if start <= n < start + len(data) else self.buffer[n] for n in PLACES]
        self.is_dirty = True
        self.position += len(data)
        self.length = max(self.length, self.position)


@action(by=USER, description="the buffer is flushed", source="FlushBuffer")
def flush(buffered: BufferedFile) -> None:
    """What has changed is written to disk."""
    require(buffered.is_dirty)
    data = buffered.buffered
    if data:
        buffered.file.write_at(buffered.low, data)
        buffered.move_on_disk(buffered.low + len(data))
    buffered.is_dirty = False


@action(by=USER, description="seeks {offset}", source="Seek")
def seek(buffered: BufferedFile, offset: Offset) -> None:
    """The position is set; if it leaves the buffer, which must be clean, the buffer moves and is filled."""
    moves = not buffered.low <= offset < buffered.end
    require(not moves or not buffered.is_dirty)
    buffered.position = offset
    if moves:
        buffered.low = offset // len(PLACES) * len(PLACES)
        found = buffered.file.content[buffered.low : buffered.end]
        buffered.buffer = [found[n] if n < len(found) else None for n in PLACES]
        buffered.move_on_disk(min(buffered.end, len(buffered.file.content)))


@action(by=USER, description="sets the length to {length}", source="SetLength")
def resize(buffered: BufferedFile, length: Offset, position: Offset) -> None:
    """The file below is truncated or extended, and moves its position; bytes beyond the end become arbitrary."""
    require(buffered.file.can_move_to(position, length))
    buffered.file.resize(length)
    buffered.move_on_disk(position)
    buffered.length, buffered.position = length, min(buffered.position, length)
    buffered.buffer = [buffered.buffer[n] if buffered.low + n < length else None for n in PLACES]


@action(by=USER, description="reads a byte", source="Read1")
def read_byte(buffered: BufferedFile) -> None:
    """One byte is read."""
    require(buffered.is_covered and buffered.position < buffered.length)
    buffered.position += 1


@action(by=USER, description="writes a byte", source="Write1")
def write_byte(buffered: BufferedFile, byte: Byte) -> None:
    """One byte is written."""
    require(buffered.is_covered and buffered.position < MOST)
    buffered.write([byte])


@action(by=USER, description="reads {count} bytes", source="Read")
def read(buffered: BufferedFile, count: Offset) -> None:
    """As many bytes are read as the buffer has."""
    require(count > 0 and buffered.is_covered)
    require(buffered.position + count <= min(buffered.end, buffered.length))
    buffered.position += count


@action(by=USER, description="writes of {data} what fits", source="WriteAtMost")
def write_at_most(buffered: BufferedFile, data: Data) -> None:
    """As many bytes are written as the buffer has room for."""
    some = data[: max(buffered.end - buffered.position, 0)]
    require(data and buffered.is_covered and buffered.position + len(some) <= MOST)
    buffered.write(list(some))


def file_of(buffered: BufferedFile, file: File) -> None:
    """The file that a user of the buffered one sees: the logical content, at the position of the user."""
    file.content = buffered.file.content
    if buffered.buffered:
        file.write_at(buffered.low, buffered.buffered)
    file.position = buffered.position


def logical(buffered: BufferedFile) -> list[int | None]:
    """The content on disk with the buffer on top."""
    disk, data = buffered.file.content, buffered.buffered
    start, size = buffered.low, len(data)
    return [
        data[n - start] if start <= n < start + size else disk[n] if n < len(disk) else None
        for n in range(max(len(disk), start + size) if data else len(disk))
    ]


@always()
def lengths_agree(buffered: BufferedFile) -> bool:
    """Inv1: the length and the position of the file below are those that the buffered file knows."""
    return len(logical(buffered)) == buffered.length and buffered.file.position == buffered.disk_position


@always(cannot_fail="it says what the logical content is defined to be, as Inv3 of the source does")
def buffer_is_on_top(buffered: BufferedFile, place: Annotated[int, PLACES]) -> bool:
    """Inv3: the logical content has what the buffer has."""
    premise(place < len(buffered.buffered))
    return logical(buffered)[buffered.low + place] == buffered.buffer[place]


@always()
def a_clean_buffer_is_on_disk(buffered: BufferedFile) -> bool:
    """Inv5: unless the buffer is dirty, the disk has what it has."""
    premise(not buffered.is_dirty)
    disk = buffered.file.content
    return all(
        byte == (disk[buffered.low + n] if buffered.low + n < len(disk) else None)
        for n, byte in enumerate(buffered.buffered)
    )


BUFFERED_FILE = Scenario(
    name="buffered-file",
    story="A file is read and written through a buffer.",
    state=BufferedFile,
    actions=(flush, seek, resize, read_byte, write_byte, read, write_at_most),
    properties=(
        lengths_agree,
        buffer_is_on_top,
        a_clean_buffer_is_on_disk,
        refines(RANDOM_ACCESS_FILE, file_of),
    ),
    bounds={"most": 3, "places": 2, "symbols": 2},
)
