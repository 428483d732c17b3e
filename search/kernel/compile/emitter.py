"""From terms to LLVM instructions, as text: straight-line code for one function over packed states.

Truth values are i1, ints are i64. Intervals guarantee that every intermediate result fits into 64 bits, so that machine
arithmetic computes the values of the terms. Fields are compared with constants in place, and copied without being
unpacked: LLVM would do most of this, and that would take most of the time to compile.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kwalk.model.language import LiftError
from kwalk.model.language.lift import Term, in_order
from kwalk.search.kernel.compile.layout import WORD, Layout

LIMIT = 2**62
BLOCK = 300
"""The instructions of a basic block, at most: LLVM's selection of instructions takes the square of that in time."""


class Emitter:
    """Collects the instructions of one function.

    Args:
        layout: The layout of packed states.
        states: The names of the pointers to packed states.
        unoptimized: Whether the text is compiled without optimization: LLVM's FastISel does not support `select` of
            truth values, and would leave all instructions before one to the slow SelectionDAG.
    """

    def __init__(self, layout: Layout, states: Sequence[str], *, unoptimized: bool = False) -> None:
        self.layout, self.states, self.unoptimized = layout, tuple(states), unoptimized
        self.lines: list[str] = []
        self._names = 0
        self._room = BLOCK
        self._values: dict[int, str] = {}
        self._words: dict[tuple[int, int], str] = {}

    # Text.

    def new(self) -> str:
        """Return a new name for a value."""
        self._names += 1
        return f"%t{self._names}"

    def op(self, text: str) -> str:
        """Add an instruction and return the name of its result."""
        self._room -= 1
        if self._room < 0:
            self._begin_another_block()
        name = self.new()
        self.lines.append(f"  {name} = {text}")
        return name

    def do(self, text: str) -> None:
        """Add an instruction without a result."""
        self.lines.append(f"  {text}")

    def label(self, name: str) -> None:
        """Begin a basic block."""
        self._room = BLOCK
        self.lines.append(f"{name}:")

    def _begin_another_block(self) -> None:
        """End a long basic block.

        The branch depends on a pointer that is never null: LLVM merges blocks that an unconditional branch connects.
        """
        name = self.new()[1:]
        self.do(f"%{name} = icmp eq ptr {self.states[0]}, null")
        self.do(f"br i1 %{name}, label %never.{name}, label %{name}.next")
        self.label(f"never.{name}")
        self.do("unreachable")
        self.label(f"{name}.next")

    # Packed states.

    def word(self, state: int, index: int) -> str:
        """Return a word of a packed state, loaded once. Words that later blocks need must be loaded before a branch."""
        key = (state, index)
        if key not in self._words:
            at = self.op(f"getelementptr i64, ptr {self.states[state]}, i64 {index}")
            self._words[key] = self.op(f"load i64, ptr {at}")
        return self._words[key]

    def load_all(self) -> None:
        """Load every word of every state, so that later blocks can use them."""
        for state in range(len(self.states)):
            for index in range(self.layout.words):
                self.word(state, index)

    def _place(self, variable: int) -> tuple[str, int, int]:
        """Return the word that holds a leaf, the mask of the leaf in it, and the number of its lowest bit."""
        state, leaf = divmod(variable, len(self.layout.offsets))
        offset, width = self.layout.offsets[leaf], self.layout.widths[leaf]
        return self.word(state, offset // WORD), ((1 << width) - 1) << (offset % WORD), offset % WORD

    def _field(self, variable: int) -> str:
        """Return the bits of a leaf at their position in the word."""
        word, mask, _ = self._place(variable)
        return self.op(f"and i64 {word}, {signed_word(mask)}")

    # Terms.

    def value(self, root: Term) -> str:
        """Return the name (or constant) of the value of a term, i1 or i64."""
        return self.values([root])[0]

    def values(self, roots: Iterable[Term]) -> list[str]:
        """Return the names of the values of several terms; shared subterms are computed once."""
        roots, values = list(roots), self._values
        for term in in_order(roots, leaves=lambda term: term.id in values or _is_field_test(term)):
            if term.id not in values:
                values[term.id] = self._emit(term)
        return [values[root.id] for root in roots]

    def _emit(self, term: Term) -> str:
        if max(-term.low, term.high) > LIMIT:
            raise LiftError(f"A number can reach {term.high}, more than 62 bits hold; give the fields smaller ranges.")
        if term.op == "bool":
            return "true" if term.payload else "false"
        if term.op == "int":
            return str(term.payload)
        if term.op == "boolvar":
            return self.op(f"icmp ne i64 {self._field(term.payload)}, 0")
        if term.op == "intvar":
            return self._number(term.payload)
        if _is_field_test(term):
            return self._equals_constant(term.args[0].payload, term.args[1].payload)
        return self._operation(term, [self._values[arg.id] for arg in term.args])

    def _number(self, variable: int) -> str:
        word, mask, bit = self._place(variable)
        shifted = self.op(f"lshr i64 {word}, {bit}") if bit else word
        raw = self.op(f"and i64 {shifted}, {mask >> bit}")
        low = self.layout.lows[variable % len(self.layout.lows)]
        return self.op(f"add nsw i64 {raw}, {low}") if low else raw

    def _equals_constant(self, variable: int, constant: int) -> str:
        """Return the comparison of a leaf with a number, in place."""
        _, _, bit = self._place(variable)
        raw = constant - self.layout.lows[variable % len(self.layout.lows)]
        return self.op(f"icmp eq i64 {self._field(variable)}, {signed_word(raw << bit)}")

    def _operation(self, term: Term, args: list[str]) -> str:
        kind = "i1" if term.is_bool else "i64"
        of = "i1" if term.args[0].is_bool else "i64"
        if term.op == "within":
            return args[0]
        if term.op == "not":
            return self.op(f"xor i1 {args[0]}, true")
        if term.op in ("and", "or"):
            result = args[0]
            for arg in args[1:]:
                result = self.op(f"{term.op} i1 {result}, {arg}")
            return result
        if term.op == "ite":
            if self.unoptimized and term.is_bool:
                condition, one, other = args
                unlike = self.op(f"and i1 {condition}, {self.op(f'xor i1 {one}, {other}')}")
                return self.op(f"xor i1 {other}, {unlike}")
            return self.op(f"select i1 {args[0]}, {kind} {args[1]}, {kind} {args[2]}")
        if term.op in ("eq", "lt"):
            return self.op(f"icmp {'eq' if term.op == 'eq' else 'slt'} {of} {args[0]}, {args[1]}")
        if term.op in ("add", "sub", "mul"):
            return self.op(f"{term.op} nsw i64 {args[0]}, {args[1]}")
        return self._division(term, args)

    def _division(self, term: Term, args: list[str]) -> str:
        """Return a quotient or remainder, rounded down as in Python; the divisor is a positive constant."""
        wanted, sign = ("div" if term.op == "div" else "rem"), ("u" if term.args[0].low >= 0 else "s")
        result = self.op(f"{sign}{wanted} i64 {args[0]}, {args[1]}")
        if sign == "u":
            return result
        remainder = result if wanted == "rem" else self.op(f"srem i64 {args[0]}, {args[1]}")
        negative = self.op(f"icmp slt i64 {remainder}, 0")
        corrected = self.op(f"add i64 {result}, {args[1] if wanted == 'rem' else -1}")
        return self.op(f"select i1 {negative}, i64 {corrected}, i64 {result}")

    # Writing.

    def bits(self, leaf: int, term: Term, value: str) -> str:
        """Return a new value of a leaf as i64, shifted to its position in the word."""
        low, offset = self.layout.lows[leaf], self.layout.offsets[leaf] % WORD
        if term.is_bool:
            return self.op(f"select i1 {value}, i64 {signed_word(1 << offset)}, i64 0")
        if term.op == "int":
            return str(signed_word((term.payload - low) << offset))
        raw = self.op(f"sub nsw i64 {value}, {low}") if low else value
        return self.op(f"shl i64 {raw}, {offset}") if offset else raw

    def store_updates(self, updates: dict[int, Term], into: str) -> None:
        """Write a packed state: the first state with new values of some leaves."""
        names = dict(zip(updates, self.values(updates.values()), strict=True))
        for index in range(self.layout.words):
            word, mask = self.word(0, index), 0
            fresh = []
            for leaf, term in updates.items():
                if self.layout.widths[leaf] and self.layout.offsets[leaf] // WORD == index:
                    mask |= ((1 << self.layout.widths[leaf]) - 1) << (self.layout.offsets[leaf] % WORD)
                    fresh.append(self.bits(leaf, term, names[leaf]))
            if mask:
                word = self.op(f"and i64 {word}, {signed_word(~mask)}")
            for part in fresh:
                word = self.op(f"or i64 {word}, {part}")
            at = self.op(f"getelementptr i64, ptr {into}, i64 {index}")
            self.do(f"store i64 {word}, ptr {at}")


def _is_field_test(term: Term) -> bool:
    return term.op == "eq" and term.args[0].op == "intvar" and term.args[1].op == "int"


def signed_word(number: int) -> int:
    """Return a 64-bit pattern as LLVM writes it."""
    number &= (1 << WORD) - 1
    return number - (1 << WORD) if number >> (WORD - 1) else number
