"""The lines of a hash table: a cache line of entries is searched at once.

Words: a table is an array of entries of 4 or 8 bytes, 0 where a slot is free, and begins at a cache line; its slots are
a multiple of those of a *line*, and a line is known by its first slot. Probing begins at the line of the slot that the
hash selects; if it is full, it continues at the next line. It *stops* at entries that are likely to be the wanted one,
and at the first free slot. Entries are written once and never removed, so the entries of a line come before its free
slots.

Other threads may write entries at the same time. What is found here is a suggestion, therefore: the entry at a stop is
read again, atomically.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kwalk.search.native.intrinsics import ONE
from kwalk.search.native.loops import Intrinsic, LateModule, Word, part

if TYPE_CHECKING:
    from llvmlite import ir
else:
    ir = LateModule("llvmlite.ir")

LINE_BYTES = 64
LINE_SLOTS = 16
"""The slots of a line of entries of 4 bytes. The slots of any table are a multiple of this."""


def _line_reader(bits: int, about: str) -> Any:
    size = 8 * LINE_BYTES // bits

    def read(builder: ir.IRBuilder, address: Any, tag: Any, most: Any) -> Any:
        item, word = ir.IntType(bits), ir.IntType(64)
        vector, indices = ir.VectorType(item, size), ir.VectorType(ir.IntType(32), size)

        def everywhere(number: Any) -> Any:
            first = builder.insert_element(vector(ir.Undefined), builder.trunc(number, item), word(0))
            return builder.shuffle_vector(first, vector(ir.Undefined), indices([0] * size))

        entries = builder.load(builder.inttoptr(address, vector.as_pointer()), align=LINE_BYTES)
        free = builder.icmp_unsigned("==", entries, vector([0] * size))
        busy = builder.icmp_unsigned("==", entries, vector([(1 << bits) - 1] * size))
        likely = builder.icmp_unsigned("<=", builder.xor(entries, everywhere(tag)), everywhere(most))
        likely = builder.or_(likely, busy)
        low, high = (builder.zext(builder.bitcast(each, ir.IntType(size)), word) for each in (likely, free))
        return builder.or_(low, builder.shl(high, word(size)))

    return Intrinsic(read, Word, (int, Word, Word), about)


_read_line32 = _line_reader(
    32,
    "Compare the 16 entries of the line at an address with a tag. Bits 0 to 15: entries that differ from it in a "
    "number up to `most`, or whose bits are all set, and perhaps free slots; the next 16: free slots.",
)
_read_line64 = _line_reader(64, "The same for the 8 entries of 8 bytes, in bits 0 to 7 and the next 8.")


@part
def stops_in_line(table: int, entry_bytes: int, line: int, likely: tuple[Word, Word]) -> tuple[Word, Word]:
    """Return where probing stops in a line, and where the line is free.

    Bit k of both belongs to the slot k places after the first one of the line.

    Args:
        table: The address of the table.
        entry_bytes: The bytes of an entry.
        line: The line.
        likely: The tag of a likely entry, and the largest number in its place.
    """
    tag, most = likely
    if entry_bytes == 4:
        found = _read_line32(table + 4 * line, tag, most)
        return _up_to_free(found & np.uint64(0xFFFF), found >> np.uint64(16))
    found = _read_line64(table + 8 * line, tag, most)
    return _up_to_free(found & np.uint64(0xFF), found >> np.uint64(8))


@part
def _up_to_free(likely: Word, free: Word) -> tuple[Word, Word]:
    """Return the bits of likely entries up to the first free slot, with that slot; and those of free slots."""
    return (likely | free) & (free ^ (free - ONE)), free


@part
def line_of(entry_bytes: int, slot: int) -> int:
    """Return the line of a slot."""
    return slot & -16 if entry_bytes == 4 else slot & -8


@part
def next_line(entry_bytes: int, line: int, begin: int, end: int) -> int:
    """Return the line after a line, in a table from slot `begin` to slot `end`."""
    after = line + (16 if entry_bytes == 4 else 8)
    return after if after < end else begin


def in_whole_lines(slots: int) -> int:
    """Return the most slots of whole lines that are no more than a number of slots."""
    return slots - slots % LINE_SLOTS
