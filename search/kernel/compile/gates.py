"""Gates: terms as a network of Boolean operations on single bits, and its covering with three-input tables.

Words: a *gate* is an operation on one bit: and, exclusive or, or a choice (multiplexer). A *literal* is a gate or its
complement: gate n is literal 2n, its complement 2n + 1. Equal gates are the same gate (hash-consed), as terms are. A
number is a list of literals, lowest bit first; it is stored minus the least value of its term's interval, so it has as
many bits as the interval needs, and no sign. A *table* computes any function of up to three literals; a *cover* is
tables that compute given literals (technology mapping, as for the lookup tables of an FPGA). Complements cost nothing
inside a table.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from attrs import frozen

from kwalk.model.language.lift import Term, in_order
from kwalk.search.kernel.compile.layout import Layout

FALSE, TRUE = 0, 1
INPUT, AND, XOR, CHOICE = range(4)
"""What a gate does. An input is a bit of a packed state, or one that the caller adds; gate 0 is the constant."""
COLUMNS = (0xF0, 0xCC, 0xAA)
"""The columns of the three inputs of a table, over its eight rows."""

Literal = int
Bits = list[Literal]


class GateNetwork:
    """A table of gates, and the constructors of literals, which simplify while they build."""

    def __init__(self) -> None:
        self.gates: list[tuple[int, ...]] = [(INPUT, -1)]
        """(INPUT, number), (AND or XOR, literal, literal) or (CHOICE, condition, literal, literal)."""
        self._numbers: dict[tuple[int, ...], int] = {}

    def _gate(self, *gate: int) -> Literal:
        number = self._numbers.get(gate)
        if number is None:
            number = self._numbers[gate] = len(self.gates)
            self.gates.append(gate)
        return 2 * number

    def input(self, number: int) -> Literal:
        """Return the literal of an input bit."""
        return self._gate(INPUT, number)

    def conjunction(self, a: Literal, b: Literal) -> Literal:
        """Return a ∧ b."""
        if a > b:
            a, b = b, a
        if a == FALSE or a == b ^ 1:
            return FALSE
        if a in (TRUE, b):
            return b
        for one, other in ((a, b), (b, a)):
            gate = self.gates[other >> 1]
            if gate[0] == AND and (one in gate[1:] or one ^ 1 in gate[1:]):
                if other & 1 == 0:  # x ∧ (x ∧ y), x ∧ (¬x ∧ y)
                    return other if one in gate[1:] else FALSE
                if one ^ 1 in gate[1:]:  # x ∧ ¬(¬x ∧ y)
                    return one
                return self.conjunction(one, (gate[2] if gate[1] == one else gate[1]) ^ 1)  # x ∧ ¬(x ∧ y)
        return self._gate(AND, a, b)

    def disjunction(self, a: Literal, b: Literal) -> Literal:
        """Return a ∨ b."""
        return self.conjunction(a ^ 1, b ^ 1) ^ 1

    def difference(self, a: Literal, b: Literal) -> Literal:
        """Return whether a and b differ (exclusive or)."""
        flip = (a ^ b) & 1
        a, b = a & ~1, b & ~1
        if a > b:
            a, b = b, a
        if a == b:
            return flip
        return (b if a == FALSE else self._gate(XOR, a, b)) ^ flip

    def choice(self, condition: Literal, a: Literal, b: Literal) -> Literal:
        """Return `a` where the condition is true, else `b`."""
        if condition & 1:
            condition, a, b = condition ^ 1, b, a
        if condition == FALSE:
            return b
        if a == b:
            return a
        if a ^ 1 == b:
            return self.difference(condition, b)
        if a in (TRUE, condition):
            return self.disjunction(condition, b)
        if a in (FALSE, condition ^ 1):
            return self.conjunction(condition ^ 1, b)
        if b in (FALSE, condition):
            return self.conjunction(condition, a)
        if b in (TRUE, condition ^ 1):
            return self.disjunction(condition ^ 1, a)
        gate = self.gates[a >> 1]
        if gate[0] == CHOICE and gate[3] ^ (a & 1) == b:  # where one of two choices in a row keeps b
            return self.choice(self.conjunction(condition, gate[1]), gate[2] ^ (a & 1), b)
        if gate[0] == CHOICE and gate[2] ^ (a & 1) == b:
            return self.choice(self.conjunction(condition, gate[1] ^ 1), gate[3] ^ (a & 1), b)
        flip = a & 1
        return self._gate(CHOICE, condition, a ^ flip, b ^ flip) ^ flip

    # Numbers.

    def sum(self, a: Bits, b: Bits, width: int, carry: Literal = FALSE) -> Bits:
        """Return the low `width` bits of a + b + carry."""
        total = []
        for x, y in zip(padded(a, width), padded(b, width), strict=True):
            half = self.difference(x, y)
            total.append(self.difference(half, carry))
            carry = self.choice(half, carry, x)
        return total

    def minus(self, a: Bits, b: Bits, width: int) -> Bits:
        """Return the low `width` bits of a - b."""
        return self.sum(a, [bit ^ 1 for bit in padded(b, width)], width, TRUE)

    def equal(self, a: Bits, b: Bits) -> Literal:
        """Return a = b."""
        width, same = max(len(a), len(b)), TRUE
        for x, y in zip(padded(a, width), padded(b, width), strict=True):
            same = self.conjunction(same, self.difference(x, y) ^ 1)
        return same

    def less(self, a: Bits, b: Bits) -> Literal:
        """Return a < b."""
        width, less = max(len(a), len(b)), FALSE
        for x, y in zip(padded(a, width), padded(b, width), strict=True):
            less = self.choice(self.difference(x, y), y, less)
        return less

    def division(self, a: Bits, divisor: int) -> tuple[Bits, Bits]:
        """Return quotient and remainder of a number by a positive constant, by long division."""
        width = divisor.bit_length()
        rest: Bits = []
        quotient: Bits = []
        for bit in reversed(a):
            rest = [bit, *rest][: width + 1]
            fits = self.less(rest, bits_of(divisor, width)) ^ 1
            less = self.minus(rest, bits_of(divisor, width), len(rest))
            rest = [self.choice(fits, x, y) for x, y in zip(less, rest, strict=True)][:width]
            quotient.append(fits)
        return quotient[::-1], rest


def bits_of(number: int, width: int) -> Bits:
    """Return the low `width` bits of a number, which may be negative, as literals."""
    return [number >> place & 1 for place in range(width)]


def padded(bits: Bits, width: int) -> Bits:
    """Return the low `width` bits of a number."""
    return bits[:width] if len(bits) >= width else [*bits, *[FALSE] * (width - len(bits))]


def width_of(term: Term) -> int:
    """Return the number of bits of a term's values."""
    return 1 if term.is_bool else (term.high - term.low).bit_length()


class TermGates:
    """Translates terms into gates. Input n is bit n of the packed state before a step, `stride` + n the one after."""

    def __init__(self, layout: Layout, stride: int) -> None:
        self.network, self.layout, self.stride = GateNetwork(), layout, stride
        self._bits: dict[int, Bits] = {}

    def literal(self, term: Term) -> Literal:
        """Return the literal of a Boolean term."""
        return self.bits(term)[0]

    def bits(self, root: Term) -> Bits:
        """Return the bits of a term, minus the least value of its interval."""
        known = self._bits
        if root.id not in known:
            for term in in_order([root], leaves=lambda term: term.id in known):
                if term.id not in known:
                    known[term.id] = self._translated(term)
        return known[root.id]

    def field(self, variable: int) -> Bits:
        """Return the bits of a leaf."""
        state, leaf = divmod(variable, len(self.layout.offsets))
        first = state * self.stride + self.layout.offsets[leaf]
        return [self.network.input(first + place) for place in range(self.layout.widths[leaf])]

    def above(self, term: Term, low: int, width: int) -> Bits:
        """Return the low `width` bits of a term minus `low`."""
        bits, more = self.bits(term), term.low - low
        return padded(bits, width) if more == 0 else self.network.sum(bits, bits_of(more, width), width)

    def _translated(self, term: Term) -> Bits:
        if term.op in ("bool", "int"):
            return [term.payload] if term.is_bool else []
        if term.op in ("boolvar", "intvar"):
            return self.field(term.payload)
        return self._boolean(term) if term.is_bool else self._number(term)

    def _boolean(self, term: Term) -> Bits:
        net, args = self.network, term.args
        if term.op == "not":
            return [self.literal(args[0]) ^ 1]
        if term.op in ("and", "or"):
            join = net.conjunction if term.op == "and" else net.disjunction
            result = self.literal(args[0])
            for arg in args[1:]:
                result = join(result, self.literal(arg))
            return [result]
        if term.op == "ite":
            return [net.choice(*map(self.literal, args))]
        low = min(arg.low for arg in args)
        width = (max(arg.high for arg in args) - low).bit_length()
        a, b = (self.above(arg, low, width) for arg in args)
        return [net.equal(a, b) if term.op == "eq" else net.less(a, b)]

    def _number(self, term: Term) -> Bits:
        net, args, width = self.network, term.args, width_of(term)
        if term.op == "ite":
            arms = (self.above(arm, term.low, width) for arm in args[1:])
            condition = self.literal(args[0])
            return [net.choice(condition, x, y) for x, y in zip(*arms, strict=True)]
        if term.op == "add":
            return net.sum(self.bits(args[0]), self.bits(args[1]), width)
        if term.op == "sub":  # a - b, above a.low - b.high
            return net.sum(self.bits(args[0]), self._below(args[1]), width)
        if term.op == "within":
            return self.above(args[0], term.low, width)
        if term.op == "mul":
            return self._product(args[0], args[1].payload, width)
        return self._division(term)

    def _below(self, term: Term) -> Bits:
        """Return the bits of how much a term is below its greatest value."""
        width = width_of(term)
        return self.network.minus(bits_of(term.high - term.low, width), self.bits(term), width)

    def _product(self, term: Term, factor: int, width: int) -> Bits:
        bits, factor = (self.bits(term), factor) if factor > 0 else (self._below(term), -factor)
        total: Bits = [FALSE] * width
        for place in range(factor.bit_length()):
            if factor >> place & 1:
                total = self.network.sum(total, [*[FALSE] * place, *bits], width)
        return total

    def _division(self, term: Term) -> Bits:
        """Return a quotient or a remainder, rounded down as in Python; the divisor is a positive constant."""
        dividend, divisor = term.args[0], term.args[1].payload
        quotient, rest = divmod(dividend.low, divisor)  # dividend = quotient · divisor + (rest + its bits)
        most = (rest + dividend.high - dividend.low).bit_length()
        parts = self.network.division(self.network.sum(self.bits(dividend), bits_of(rest, most), most), divisor)
        if term.op == "mod":
            return padded(parts[1], width_of(term))
        assert quotient == term.low
        return padded(parts[0], width_of(term))


# Tables.


@frozen
class Table:
    """A function of up to three gates: row r of its eight gives bit r of `rows`, as `COLUMNS` numbers them."""

    gate: int
    inputs: tuple[int, ...]
    rows: int


def cover(network: GateNetwork, roots: Iterable[Literal]) -> list[Table]:
    """Return tables that compute the gates of some literals, inputs before their users.

    A gate that has one user becomes a part of that user's table as long as three inputs suffice.
    """
    gates = network.gates
    roots = [root >> 1 for root in roots if root > TRUE]
    uses = _uses(gates, roots)
    tables: list[Table] = []
    done: set[int] = {0}
    inputs: dict[int, tuple[int, ...]] = {}
    stack = [(root, False) for root in reversed(roots)]
    while stack:
        number, ready = stack.pop()
        if number in done:
            continue
        if ready:
            done.add(number)
            tables.append(Table(number, inputs[number], _rows(gates, number, inputs[number])))
        elif gates[number][0] != INPUT:
            inputs[number] = _inputs(gates, number, uses)
            stack.append((number, True))
            stack.extend((below, False) for below in reversed(inputs[number]))
    return tables


def _uses(gates: Sequence[tuple[int, ...]], roots: Iterable[int]) -> dict[int, int]:
    """Return how many gates below the roots use each; 2 or more for a root."""
    uses: dict[int, int] = {}
    stack = list(roots)
    seen = set(stack)
    for root in stack:
        uses[root] = 2
    while stack:
        gate = gates[stack.pop()]
        if gate[0] == INPUT:
            continue
        for below in {literal >> 1 for literal in gate[1:]}:
            uses[below] = uses.get(below, 0) + 1
            if below not in seen:
                seen.add(below)
                stack.append(below)
    return uses


def _inputs(gates: Sequence[tuple[int, ...]], number: int, uses: dict[int, int]) -> tuple[int, ...]:
    """Return up to three gates from which a table can compute a gate."""
    chosen = list(dict.fromkeys(literal >> 1 for literal in gates[number][1:] if literal > TRUE))
    absorbed = True
    while absorbed:
        absorbed = False
        for gate in sorted(chosen, reverse=True):
            if gates[gate][0] == INPUT or uses[gate] > 1:
                continue
            rest = [one for one in chosen if one != gate]
            rest += [below for below in dict.fromkeys(literal >> 1 for literal in gates[gate][1:]) if below not in rest]
            if len(rest) <= len(COLUMNS):
                chosen, absorbed = rest, True
                break
    return tuple(chosen)


def _rows(gates: Sequence[tuple[int, ...]], number: int, inputs: tuple[int, ...]) -> int:
    """Return the truth table of a gate over its inputs."""
    known = {0: 0, **dict(zip(inputs, COLUMNS, strict=False))}

    def rows(literal: Literal) -> int:
        gate = literal >> 1
        if gate not in known:
            known[gate] = _operation(gates[gate][0], [rows(below) for below in gates[gate][1:]])
        return known[gate] ^ (0xFF if literal & 1 else 0)

    return rows(2 * number)


def _operation(kind: int, args: Sequence[int]) -> int:
    if kind == AND:
        return args[0] & args[1]
    if kind == XOR:
        return args[0] ^ args[1]
    return (args[0] & args[1]) | (~args[0] & 0xFF & args[2])


__all__ = ["COLUMNS", "FALSE", "TRUE", "Bits", "GateNetwork", "Literal", "Table", "TermGates", "cover"]
