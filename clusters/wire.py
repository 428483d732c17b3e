"""Frames and primitive values of the two protocols: ZooKeeper's (jute) and Kafka's, both big-endian.

A *frame* is a length (int32) and that many bytes. Kafka's *compact* arrays and strings have a length plus one as an
unsigned varint; *flexible* versions of its messages have compact lengths and end each structure with tagged fields,
which are skipped.

Sources: zookeeper.jute; Apache Kafka, "Protocol guide" and KIP-482.
"""

from __future__ import annotations

import socket
import struct
import uuid
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")
LARGEST = 1 << 27
"""The largest frame that is read, in bytes; Kafka's own limit of a request is 100 MiB."""


class Malformed(Exception):
    """Bytes that are no frame of the protocol."""


def read_exactly(connection: socket.socket, size: int) -> bytes | None:
    """Return the next bytes of a connection; None if it ends before."""
    parts: list[bytes] = []
    while size > 0:
        part = connection.recv(min(size, 1 << 16))
        if not part:
            return None
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def read_frame(connection: socket.socket) -> bytes | None:
    """Return the content of the next frame of a connection; None if it ends before."""
    head = read_exactly(connection, 4)
    if head is None:
        return None
    (size,) = struct.unpack(">i", head)
    if not 0 <= size <= LARGEST:
        raise Malformed(f"a frame of {size} bytes")
    return read_exactly(connection, size)


def framed(content: bytes) -> bytes:
    """Return a frame with this content."""
    return struct.pack(">i", len(content)) + content


class Reader:
    """Reads values from the bytes of a message, one after another."""

    def __init__(self, content: bytes) -> None:
        self.content, self.at = content, 0

    def take(self, size: int) -> bytes:
        """Return the next bytes."""
        if size < 0 or self.at + size > len(self.content):
            raise Malformed(f"{size} bytes at {self.at} of a message of {len(self.content)}")
        self.at += size
        return self.content[self.at - size : self.at]

    def numbers(self, kinds: str) -> tuple[int, ...]:
        """Read several signed numbers at once: b, h, i and q for one of one, two, four and eight bytes."""
        found: tuple[int, ...] = struct.unpack(f">{kinds}", self.take(struct.calcsize(f">{kinds}")))
        return found

    def _number(self, kind: str) -> int:
        (number,) = struct.unpack(kind, self.take(struct.calcsize(kind)))
        return int(number)

    def int8(self) -> int:
        return self._number(">b")

    def int16(self) -> int:
        return self._number(">h")

    def int32(self) -> int:
        return self._number(">i")

    def int64(self) -> int:
        return self._number(">q")

    def boolean(self) -> bool:
        return self.int8() != 0

    def varint(self) -> int:
        """Read an unsigned varint."""
        number = shift = 0
        while True:
            (byte,) = self.take(1)
            number |= (byte & 0x7F) << shift
            if byte < 0x80:
                return number
            shift += 7
            if shift > 35:
                raise Malformed("a varint of more than five bytes")

    def buffer(self) -> bytes | None:
        """Read bytes with an int32 length; None for a negative one (ZooKeeper's buffers and strings, Kafka's bytes)."""
        size = self.int32()
        return None if size < 0 else self.take(size)

    def long_string(self) -> str:
        """Read a string with an int32 length (ZooKeeper)."""
        return (self.buffer() or b"").decode(errors="replace")

    def string(self) -> str | None:
        """Read a string with an int16 length; None for a negative one (Kafka)."""
        size = self.int16()
        return None if size < 0 else self.take(size).decode(errors="replace")

    def compact_bytes(self) -> bytes | None:
        size = self.varint() - 1
        return None if size < 0 else self.take(size)

    def compact_string(self) -> str | None:
        content = self.compact_bytes()
        return None if content is None else content.decode(errors="replace")

    def array(self, item: Callable[[], T]) -> list[T]:
        """Read an array with an int32 length; the null array is empty."""
        return [item() for _ in range(self.int32())]

    def compact_array(self, item: Callable[[], T]) -> list[T]:
        """Read a compact array; the null array is empty."""
        return [item() for _ in range(self.varint() - 1)]

    def compact_int32s(self) -> tuple[int, ...]:
        """Read a compact array of numbers of four bytes; the null array is empty."""
        return self.numbers(f"{max(self.varint() - 1, 0)}i")

    def topic_id(self) -> str | None:
        """Read a topic id as Kafka prints it; None for the zero id."""
        content = self.take(16)
        return urlsafe_b64encode(content).decode().rstrip("=") if any(content) else None

    def tags(self) -> None:
        """Skip tagged fields."""
        for _ in range(self.varint()):
            self.varint()
            self.take(self.varint())


def int8(number: int) -> bytes:
    """Return a signed number in one byte."""
    return struct.pack(">b", number)


def int16(number: int) -> bytes:
    """Return a signed number in two bytes."""
    return struct.pack(">h", number)


def int32(number: int) -> bytes:
    """Return a signed number in four bytes."""
    return struct.pack(">i", number)


def int64(number: int) -> bytes:
    """Return a signed number in eight bytes."""
    return struct.pack(">q", number)


def varint(number: int) -> bytes:
    """Return an unsigned varint."""
    parts = []
    while number >= 0x80:
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*parts, number])


def signed_varint(number: int) -> bytes:
    """Return a signed varint (zigzag), as records have them."""
    return varint(number << 1 if number >= 0 else (-number << 1) - 1)


def buffer(content: bytes | None) -> bytes:
    """Return bytes behind their int32 length, which is -1 for None."""
    return int32(-1) if content is None else int32(len(content)) + content


def long_string(text: str) -> bytes:
    """Return a string behind its int32 length (ZooKeeper)."""
    return buffer(text.encode())


def string(text: str | None) -> bytes:
    """Return a string behind its int16 length, which is -1 for None (Kafka)."""
    content = None if text is None else text.encode()
    return int16(-1) if content is None else int16(len(content)) + content


def compact_string(text: str | None) -> bytes:
    """Return a compact string."""
    content = None if text is None else text.encode()
    return varint(0) if content is None else varint(len(content) + 1) + content


def array(items: Iterable[bytes]) -> bytes:
    """Return an array behind its int32 length."""
    listed = list(items)
    return int32(len(listed)) + b"".join(listed)


def compact_array(items: Iterable[bytes] | None) -> bytes:
    """Return a compact array; None is the null array."""
    if items is None:
        return varint(0)
    listed = list(items)
    return varint(len(listed) + 1) + b"".join(listed)


def id_bytes(topic_id: str) -> bytes:
    """Return the 16 bytes of a topic id."""
    return urlsafe_b64decode(topic_id + "==")


def new_topic_id() -> str:
    """Return a random topic id, as Kafka prints it; never one that begins with a dash."""
    while True:
        text = urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        if not text.startswith("-"):
            return text


NO_TAGS = varint(0)
