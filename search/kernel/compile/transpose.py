"""Between packed states and bit planes: transposition of bits, and counting of planes, as text of LLVM vectors.

Words: see `planes`. A *column* is an array with one 64-bit word of each lane, in the order of the lanes: a word of
their packed states, or of their bit rows. The 64 vectors of a column become 64 planes by transposing a matrix of
64 × 64 bits in each word of a vector, all at once, and planes become a column in the same way.

* `slice.transpose(from, to, n)` transposes n columns, or n times 64 planes; both may be in the same place.
* `slice.count(planes, n, mask, totals)` adds to each of n totals (i64) the number of bits that a plane and the plane
  `mask` have in common.
"""

from __future__ import annotations

from kwalk.search.kernel.compile.layout import WORD
from kwalk.search.kernel.compile.vectors import VectorWriter

STEPS = (32, 16, 8, 4, 2, 1)
MASKS = {step: sum(1 << bit for bit in range(WORD) if not bit & step) for step in STEPS}


def fixed_text(lanes: int) -> str:
    """Return `slice.transpose` and `slice.count` for planes of so many lanes."""
    writer = VectorWriter(lanes)
    kind, name = writer.kind, f"v{writer.words}i64"
    declared = f"declare {kind} @llvm.ctpop.{name}({kind})\ndeclare i64 @llvm.vector.reduce.add.{name}({kind})\n"
    return declared + _transpose(writer) + _count(VectorWriter(lanes))


def _transpose(w: VectorWriter) -> str:
    """Two passes of three steps, each over groups of eight vectors, which the CPU's registers hold."""
    with w.loop("%n") as column:
        first_row = w.op(f"mul i64 {column}, {WORD}")
        source, target = w.at("%from", first_row), w.at("%to", first_row)
        passes = [(source, STEPS[:3], range(8), 8), (target, STEPS[3:], range(0, WORD, 8), 1)]
        for place, steps, firsts, distance in passes:
            for first in firsts:
                rows = {row: w.load(place, row) for row in range(first, first + 8 * distance, distance)}
                w.exchange(rows, [(step, MASKS[step]) for step in steps])
                for row, value in rows.items():
                    w.store(value, target, row)
    return w.function("transpose(ptr %from, ptr %to, i64 %n)")


def _count(w: VectorWriter) -> str:
    mask = w.load("%mask")
    with w.loop("%n") as place:
        bits = w.ones_in(w.binary("and", w.load("%planes", place), mask))
        more = w.op(f"call i64 @llvm.vector.reduce.add.v{w.words}i64({w.kind} {bits})")
        w.store(w.op(f"add i64 {w.load('%totals', place, 'i64')}, {more}"), "%totals", place, "i64")
    return w.function("count(ptr noalias %planes, i64 %n, ptr noalias %mask, ptr noalias %totals)")
