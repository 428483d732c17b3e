"""A writer of LLVM text over vectors: one function at a time, in which each operation is on all words of a vector.

Words: a *plane* is a vector with one bit of each lane (see `planes`); it is as wide as the CPU's vector registers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from kwalk.search.kernel.compile.emitter import signed_word
from kwalk.search.kernel.compile.layout import WORD


def vector(lanes: int) -> str:
    """Return LLVM's type of a plane."""
    return f"<{lanes // WORD} x i64>"


def attributes(lanes: int) -> str:
    """Return LLVM's attributes of a function over planes; LLVM would avoid the widest registers of some CPUs."""
    return f'nounwind "min-legal-vector-width"="{lanes}" "prefer-vector-width"="{lanes}"'


class VectorWriter:
    """Collects the instructions of one function. Its variables are in memory until LLVM finds registers for them."""

    def __init__(self, lanes: int) -> None:
        self.words, self.kind = lanes // WORD, vector(lanes)
        self.ones = self.all(2**WORD - 1)
        self.lines: list[str] = []
        self._variables: list[str] = []
        self._count = 0

    def op(self, text: str) -> str:
        """Add an instruction and return the name of its result."""
        name = self._name()
        self.lines.append(f"  {name} = {text}")
        return name

    def binary(self, name: str, a: str, b: str) -> str:
        """Add an operation on two vectors."""
        return self.op(f"{name} {self.kind} {a}, {b}")

    def all(self, number: int) -> str:
        """Return the constant vector of a word."""
        return "<" + ", ".join([f"i64 {signed_word(number)}"] * self.words) + ">"

    def spread(self, word: str) -> str:
        """Return the vector of a word that is known only when the function runs."""
        one = self.op(f"insertelement {self.kind} poison, i64 {word}, i64 0")
        return self.op(f"shufflevector {self.kind} {one}, {self.kind} poison, <{self.words} x i32> zeroinitializer")

    def without(self, a: str, b: str) -> str:
        """Return the bits of `a` that `b` has not."""
        return self.binary("and", a, self.binary("xor", b, self.ones))

    def select(self, lanes: str, a: str, b: str) -> str:
        """Return `a` in some lanes, else `b`, bit by bit."""
        return self.binary("xor", b, self.binary("and", self.binary("xor", a, b), lanes))

    def at(self, pointer: str, index: str | int, kind: str = "") -> str:
        """Return the pointer to an item of an array."""
        return self.op(f"getelementptr {kind or self.kind}, ptr {pointer}, i64 {index}")

    def load(self, pointer: str, index: str | int = 0, kind: str = "") -> str:
        """Return an item of an array."""
        return self.op(f"load {kind or self.kind}, ptr {self.at(pointer, index, kind)}, align 8")

    def store(self, value: str, pointer: str, index: str | int = 0, kind: str = "") -> None:
        """Set an item of an array."""
        self.lines.append(f"  store {kind or self.kind} {value}, ptr {self.at(pointer, index, kind)}, align 8")

    def ones_in(self, plane: str) -> str:
        """Return the vector of the numbers of bits in each word of a plane."""
        return self.op(f"call {self.kind} @llvm.ctpop.v{self.words}i64({self.kind} {plane})")

    def count(self, totals: str, index: str, plane: str) -> None:
        """Count the bits of a plane."""
        self.store(self.binary("add", self.load(totals, index), self.ones_in(plane)), totals, index)

    def variable(self, value: str = "zeroinitializer", kind: str = "") -> str:
        """Return a pointer to a variable with an initial value."""
        name = self._name()
        self._variables.append(f"  {name} = alloca {kind or self.kind}")
        self.lines.append(f"  store {kind or self.kind} {value}, ptr {name}, align 8")
        return name

    @contextmanager
    def loop(self, count: str) -> Iterator[str]:
        """Repeat what is written in this context; its value is the number of the turn."""
        counter, label = self.variable("0", "i64"), self._name()[1:]
        self.lines += [f"  br label %{label}.head", f"{label}.head:"]
        turn = self.op(f"load i64, ptr {counter}")
        more = self.op(f"icmp slt i64 {turn}, {count}")
        self.lines += [f"  br i1 {more}, label %{label}.body, label %{label}.end", f"{label}.body:"]
        yield turn
        following = self.op(f"add i64 {turn}, 1")
        self.lines += [f"  store i64 {following}, ptr {counter}", f"  br label %{label}.head", f"{label}.end:"]

    @contextmanager
    def where_any(self, plane: str) -> Iterator[None]:
        """Do what is written in this context only if a plane has a lane."""
        label, bits = self._name()[1:], WORD * self.words
        number = self.op(f"bitcast {self.kind} {plane} to i{bits}")
        some = self.op(f"icmp ne i{bits} {number}, 0")
        self.lines += [f"  br i1 {some}, label %{label}.some, label %{label}.none", f"{label}.some:"]
        yield
        self.lines += [f"  br label %{label}.none", f"{label}.none:"]

    def add_bit(self, number: list[str], bit: str, *, down: bool = False) -> str:
        """Add a bit to variables that are the bits of a number, or subtract it; return what is carried out."""
        for variable in number:
            before = self.load(variable)
            self.store(self.binary("xor", before, bit), variable)
            bit = self.without(bit, before) if down else self.binary("and", bit, before)
        return bit

    def exchange(self, rows: dict[int, str], steps: Sequence[tuple[int, int]]) -> None:
        """Transpose blocks of the matrix of bits that is in the same word of each row.

        Each step exchanges the upper bits of a row with the lower ones of the row `step` further on; its mask has the
        lower ones (H. S. Warren, Hacker's Delight, 7-3).
        """
        for step, mask in steps:
            for row in rows:
                if not row & step:
                    low, high = rows[row], rows[row + step]
                    differ = self.binary("xor", self.binary("lshr", low, self.all(step)), high)
                    differ = self.binary("and", differ, self.all(mask))
                    rows[row] = self.binary("xor", low, self.binary("shl", differ, self.all(step)))
                    rows[row + step] = self.binary("xor", high, differ)

    def function(self, head: str) -> str:
        """Return the function."""
        lines = [*self._variables, *self.lines, "  ret void", "}", ""]
        return f"define void @slice.{head} {attributes(WORD * self.words)} {{\nentry:\n" + "\n".join(lines)

    def _name(self) -> str:
        self._count += 1
        return f"%t{self._count}"
