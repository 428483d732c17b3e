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
from kwalk.search.kernel.compile.planes import attributes, vector

STEPS = (32, 16, 8, 4, 2, 1)
"""Each step exchanges blocks of so many rows and columns (Warren, Hacker's Delight, 7-3)."""
MASKS = {step: sum(1 << bit for bit in range(WORD) if not bit & step) for step in STEPS}


def fixed_text(lanes: int) -> str:
    """Return `slice.transpose` and `slice.count` for planes of so many lanes."""
    return "\n".join([_transpose(lanes), _count(lanes)])


def _transpose(lanes: int) -> str:
    """Return `slice.transpose`: two passes of three steps, each over eight vectors, which the CPU's registers hold."""
    kind = vector(lanes)
    first = _Pass(lanes, "first", "%source", STEPS[:3], [[low + 8 * n for n in range(8)] for low in range(8)])
    second = _Pass(lanes, "second", "%target", STEPS[3:], [[8 * high + n for n in range(8)] for high in range(8)])
    return "\n".join(
        [
            f"define void @slice.transpose(ptr %from, ptr %to, i64 %n) {attributes(lanes)} {{",
            "entry:",
            "  %some = icmp sgt i64 %n, 0",
            "  br i1 %some, label %again, label %end",
            "again:",
            "  %k = phi i64 [ 0, %entry ], [ %more, %again ]",
            f"  %row = mul i64 %k, {WORD}",
            f"  %source = getelementptr {kind}, ptr %from, i64 %row",
            f"  %target = getelementptr {kind}, ptr %to, i64 %row",
            *first.lines,
            *second.lines,
            "  %more = add i64 %k, 1",
            "  %left = icmp slt i64 %more, %n",
            "  br i1 %left, label %again, label %end",
            "end:",
            "  ret void",
            "}",
            "",
        ]
    )


class _Pass:
    """The instructions of some steps, for groups of eight rows that these steps do not connect."""

    def __init__(self, lanes: int, name: str, source: str, steps: tuple[int, ...], groups: list[list[int]]) -> None:
        self.lines: list[str] = []
        self._name, self._count = name, 0
        self._words, self._kind = lanes // WORD, vector(lanes)
        for group in groups:
            self._group(source, steps, group)

    def _op(self, text: str) -> str:
        self._count += 1
        self.lines.append(f"  %{self._name}{self._count} = {text}")
        return f"%{self._name}{self._count}"

    def _all(self, number: int) -> str:
        """Return the constant vector of a word."""
        return "<" + ", ".join([f"i64 {number if number < 1 << 63 else number - (1 << 64)}"] * self._words) + ">"

    def _group(self, source: str, steps: tuple[int, ...], group: list[int]) -> None:
        rows = {}
        for row in group:
            at = self._op(f"getelementptr {self._kind}, ptr {source}, i64 {row}")
            rows[row] = self._op(f"load {self._kind}, ptr {at}, align 8")
        for step in steps:
            for row in group:
                if not row & step:
                    rows[row], rows[row + step] = self._exchanged(rows[row], rows[row + step], step)
        for row in group:
            at = self._op(f"getelementptr {self._kind}, ptr %target, i64 {row}")
            self.lines.append(f"  store {self._kind} {rows[row]}, ptr {at}, align 8")

    def _exchanged(self, low: str, high: str, step: int) -> tuple[str, str]:
        """Exchange the upper bits of one row with the lower bits of the other."""
        kind, distance = self._kind, self._all(step)
        moved = self._op(f"lshr {kind} {low}, {distance}")
        differ = self._op(f"xor {kind} {moved}, {high}")
        differ = self._op(f"and {kind} {differ}, {self._all(MASKS[step])}")
        back = self._op(f"shl {kind} {differ}, {distance}")
        return self._op(f"xor {kind} {low}, {back}"), self._op(f"xor {kind} {high}, {differ}")


def _count(lanes: int) -> str:
    kind, name = vector(lanes), f"v{lanes // WORD}i64"
    return "\n".join(
        [
            f"declare {kind} @llvm.ctpop.{name}({kind})",
            f"declare i64 @llvm.vector.reduce.add.{name}({kind})",
            "define void @slice.count(ptr noalias %planes, i64 %n, ptr noalias %mask, ptr noalias %totals)",
            f"{attributes(lanes)} {{",
            "entry:",
            f"  %which = load {kind}, ptr %mask, align 8",
            "  %some = icmp sgt i64 %n, 0",
            "  br i1 %some, label %again, label %end",
            "again:",
            "  %k = phi i64 [ 0, %entry ], [ %more, %again ]",
            f"  %at = getelementptr {kind}, ptr %planes, i64 %k",
            f"  %plane = load {kind}, ptr %at, align 8",
            f"  %both = and {kind} %plane, %which",
            f"  %bits = call {kind} @llvm.ctpop.{name}({kind} %both)",
            f"  %sum = call i64 @llvm.vector.reduce.add.{name}({kind} %bits)",
            "  %place = getelementptr i64, ptr %totals, i64 %k",
            "  %old = load i64, ptr %place, align 8",
            "  %new = add i64 %old, %sum",
            "  store i64 %new, ptr %place, align 8",
            "  %more = add i64 %k, 1",
            "  %left = icmp slt i64 %more, %n",
            "  br i1 %left, label %again, label %end",
            "end:",
            "  ret void",
            "}",
            "",
        ]
    )
