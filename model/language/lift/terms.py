"""Terms: what a model means to machines, as a graph of operations on Boolean values and small ints.

Words: a *term* is a node; equal terms are the same object (hash-consed), so they are shared. Every int term has the
interval of its values, which folds comparisons and proves that no operation ever overflows: ints are mathematical ints
here, and an engine may use any width that holds the intervals. The operations are a subset of Z3's bit-vector theory,
one to one. This graph is separate from Z3's own because building a node takes 1 µs here and 14 µs there, reading one
0.3 µs and 28 µs (measured), and because a cached kernel then never imports Z3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any


class Term:
    """A node. `op` names the operation, `payload` the constant or the variable's number, `low … high` the interval."""

    __slots__ = ("args", "high", "id", "is_bool", "low", "negated", "op", "payload")

    op: str
    args: tuple[Term, ...]
    payload: int
    low: int
    high: int
    is_bool: bool
    id: int
    negated: Term | None

    def __repr__(self) -> str:
        inside = ", ".join(map(repr, self.args)) if self.args else str(self.payload)
        return f"{self.op}({inside})"


class BooleanTerms:
    """A table of terms; leaves, and the constructors of Boolean terms, which simplify while they build."""

    def __init__(self) -> None:
        self._table: dict[tuple[object, ...], Term] = {}
        self._integers: dict[int, Term] = {}
        self._junctions: dict[str, dict[tuple[Term, ...], Term]] = {"and": {}, "or": {}}
        self.lifted: dict[tuple[object, ...], Any] = {}
        """What lifting has made of these terms and uses again, by a key of its own."""
        self.true = self._make("bool", (), 1, 0, 1, is_bool=True)
        self.false = self._make("bool", (), 0, 0, 1, is_bool=True)

    def __len__(self) -> int:
        return len(self._table)

    def _make(self, op: str, args: tuple[Term, ...], payload: int, low: int, high: int, *, is_bool: bool) -> Term:
        key = (op, args, payload, low, high)  # terms are equal only to themselves
        known = self._table.get(key)
        if known is not None:
            return known
        term = Term()
        term.op, term.args, term.payload, term.low, term.high, term.is_bool = op, args, payload, low, high, is_bool
        term.id, term.negated = len(self._table), None
        self._table[key] = term
        return term

    # Leaves.

    def boolean(self, value: object) -> Term:
        """Return the constant true or false."""
        return self.true if value else self.false

    def integer(self, value: int) -> Term:
        """Return an int constant."""
        known = self._integers.get(value)
        if known is None:
            known = self._integers[value] = self._make("int", (), value, value, value, is_bool=False)
        return known

    def bool_variable(self, number: int) -> Term:
        """Return the Boolean in leaf `number`."""
        return self._make("boolvar", (), number, 0, 1, is_bool=True)

    def int_variable(self, number: int, low: int, high: int) -> Term:
        """Return the int in leaf `number`; a constant if only one value is possible."""
        return self.integer(low) if low == high else self._make("intvar", (), number, low, high, is_bool=False)

    # Truth values.

    def negation(self, a: Term) -> Term:
        """Return not a, with the negation at comparisons and variables, so that equal conditions are identical."""
        if a.negated is None:
            a.negated = self._negate(a)
            a.negated.negated = a
        return a.negated

    def _negate(self, a: Term) -> Term:
        if a.op == "bool":
            return self.boolean(not a.payload)
        if a.op == "and":
            return self.disjunction(self.negation(part) for part in a.args)
        if a.op == "or":
            return self.conjunction(self.negation(part) for part in a.args)
        if a.op == "ite":
            return self._make("ite", (a.args[0], *map(self.negation, a.args[1:])), 0, 0, 1, is_bool=True)
        return self._make("not", (a,), 0, 0, 1, is_bool=True)

    def conjunction(self, parts: Iterable[Term]) -> Term:
        """Return the conjunction of the parts."""
        return self._junction("and", parts, neutral=self.true, zero=self.false)

    def disjunction(self, parts: Iterable[Term]) -> Term:
        """Return the disjunction of the parts."""
        return self._junction("or", parts, neutral=self.false, zero=self.true)

    def _junction(self, op: str, parts: Iterable[Term], *, neutral: Term, zero: Term) -> Term:
        parts = tuple(parts)
        known = self._junctions[op].get(parts)
        if known is None:
            known = self._junctions[op][parts] = self._simplified_junction(op, parts, neutral=neutral, zero=zero)
        return known

    def _simplified_junction(self, op: str, parts: Iterable[Term], *, neutral: Term, zero: Term) -> Term:
        distinct: dict[int, Term] = {}
        for part in parts:
            for piece in part.args if part.op == op else (part,):
                if piece is zero:
                    return zero
                if piece is not neutral:
                    distinct[piece.id] = piece
        for piece in distinct.values():
            if piece.op == "not" and piece.args[0].id in distinct:
                return zero
        reduced = self._absorb(distinct, "or" if op == "and" else "and")
        if reduced is not None:
            return self._junction(op, reduced, neutral=neutral, zero=zero)
        if not distinct:
            return neutral
        if len(distinct) == 1:
            return next(iter(distinct.values()))
        if self._contradicts(distinct.values(), op):
            return zero
        return self._make(op, tuple(distinct[k] for k in sorted(distinct)), 0, 0, 1, is_bool=True)

    def _absorb(self, distinct: dict[int, Term], dual: str) -> list[Term] | None:
        """Return the terms after a ∧ (a ∨ b) = a and a ∧ (¬a ∨ b) = a ∧ b, or the duals; None if nothing changes."""
        changed, result = False, []
        for piece in distinct.values():
            if piece.op == dual:
                if any(arg.id in distinct for arg in piece.args):
                    changed = True
                    continue
                rest = [arg for arg in piece.args if self.negation(arg).id not in distinct]
                if len(rest) < len(piece.args):
                    changed = True
                    piece = self.disjunction(rest) if dual == "or" else self.conjunction(rest)
            result.append(piece)
        return result if changed else None

    def _contradicts(self, pieces: Iterable[Term], op: str) -> bool:
        """Return whether the terms contradict each other: x = 1 ∧ x = 2, or dually x ≠ 1 ∨ x ≠ 2."""
        seen: dict[int, int] = {}
        for piece in pieces:
            literal = piece if op == "and" else self.negation(piece)
            if literal.op == "eq" and literal.args[1].op == "int":
                subject, constant = literal.args[0].id, literal.args[1].payload
                if seen.setdefault(subject, constant) != constant:
                    return True
        return False


__all__ = ["Term", "TermRow", "Terms", "in_order", "rebuild", "rows_of", "substitute", "terms_of"]


class Terms(BooleanTerms):
    """The constructors of choices, comparisons and arithmetic, in addition to those of Boolean terms."""

    def choose(self, condition: Term, a: Term, b: Term) -> Term:
        """Return `a` where the condition is true, else `b`; both Boolean or both ints."""
        if condition.op == "bool":
            return a if condition.payload else b
        if a is b:
            return a
        if condition.op == "not":
            return self.choose(condition.args[0], b, a)
        if a.op == "ite" and a.args[0] is condition:
            a = a.args[1]
        if b.op == "ite" and b.args[0] is condition:
            b = b.args[2]
        if a is b:
            return a
        merged = self._merge(condition, a, b)
        if merged is not None:
            return merged
        if a.is_bool:
            return self._choose_bool(condition, a, b)
        return self._make("ite", (condition, a, b), 0, min(a.low, b.low), max(a.high, b.high), is_bool=False)

    def _merge(self, c: Term, a: Term, b: Term) -> Term | None:
        """One choice where two in a row have an outcome in common: what an `if` inside an `if` leaves in a variable.

        The joint condition is the same for all variables that the two branches change, and is shared.
        """
        if a.op == "ite":
            inner, then, other = a.args
            if other is b:
                return self.choose(self.conjunction((c, inner)), then, b)
            if then is b:
                return self.choose(self.conjunction((c, self.negation(inner))), other, b)
        if b.op == "ite":
            inner, then, other = b.args
            if then is a:
                return self.choose(self.disjunction((c, inner)), a, other)
            if other is a:
                return self.choose(self.disjunction((c, self.negation(inner))), a, then)
        return None

    def _choose_bool(self, c: Term, a: Term, b: Term) -> Term:
        if a is self.true or a is c:
            return self.disjunction((c, b))
        if a is self.false:
            return self.conjunction((self.negation(c), b))
        if b is self.true:
            return self.disjunction((self.negation(c), a))
        if b is self.false or b is c:
            return self.conjunction((c, a))
        return self._make("ite", (c, a, b), 0, 0, 1, is_bool=True)

    # Comparisons.

    def equal(self, a: Term, b: Term) -> Term:
        """Return a = b, of two Booleans or two ints."""
        if a is b:
            return self.true
        if a.is_bool:
            return self._iff(a, b)
        if a.high < b.low or b.high < a.low:
            return self.false
        if a.op == "int":
            a, b = b, a
        if b.op == "int":
            return self._equals_constant(a, b)
        for x, y in ((a, b), (b, a)):
            if x.op == "ite" and (x.args[1] is y or x.args[2] is y):
                same = self.true
                return self.choose(
                    x.args[0],
                    same if x.args[1] is y else self.equal(x.args[1], y),
                    same if x.args[2] is y else self.equal(x.args[2], y),
                )
        if a.id > b.id:
            a, b = b, a
        return self._make("eq", (a, b), 0, 0, 1, is_bool=True)

    def _iff(self, a: Term, b: Term) -> Term:
        for x, y in ((a, b), (b, a)):
            if x.op == "bool":
                return y if x.payload else self.negation(y)
        if a is self.negation(b):
            return self.false
        return self.choose(a, b, self.negation(b))

    def _equals_constant(self, a: Term, b: Term) -> Term:
        """Push the comparison into a choice as long as that decides one side."""
        if a.low == a.high == b.low:
            return self.true
        if a.op == "ite" and ("int" in (a.args[1].op, a.args[2].op) or self._apart(a, b)):
            return self.choose(a.args[0], self.equal(a.args[1], b), self.equal(a.args[2], b))
        if a.op == "within":
            return self.equal(a.args[0], b)
        if a.op == "add" and a.args[1].op == "int":
            return self.equal(a.args[0], self.integer(b.payload - a.args[1].payload))
        return self._make("eq", (a, b), 0, 0, 1, is_bool=True)

    @staticmethod
    def _apart(a: Term, b: Term) -> bool:
        return any(not x.low <= b.low <= x.high for x in a.args[1:])

    def less(self, a: Term, b: Term) -> Term:
        """Return a < b, of ints."""
        if a.high < b.low:
            return self.true
        if a.low >= b.high:
            return self.false
        for x in (a, b):
            if x.op == "ite" and x.args[1].op == "int" and x.args[2].op == "int":
                arms = [self.less(arm, b) if x is a else self.less(a, arm) for arm in x.args[1:]]
                return self.choose(x.args[0], arms[0], arms[1])
        if b.op == "int":
            if a.op == "add" and a.args[1].op == "int":
                return self.less(a.args[0], self.integer(b.payload - a.args[1].payload))
            if a.high == b.payload:
                return self.negation(self.equal(a, b))
            if a.low == b.payload - 1:
                return self.equal(a, self.integer(a.low))
        if a.op == "int":
            if a.payload == b.low:
                return self.negation(self.equal(b, a))
            if b.high == a.payload + 1:
                return self.equal(b, self.integer(b.high))
        return self._make("lt", (a, b), 0, 0, 1, is_bool=True)

    # Arithmetic.

    def add(self, a: Term, b: Term) -> Term:
        """Return a + b."""
        if a.op == "int":
            a, b = b, a
        if b.op == "int":
            if b.payload == 0:
                return a
            if a.op == "int":
                return self.integer(a.payload + b.payload)
            if a.op == "add" and a.args[1].op == "int":
                return self.add(a.args[0], self.integer(a.args[1].payload + b.payload))
        elif a.id > b.id:
            a, b = b, a
        return self._make("add", (a, b), 0, a.low + b.low, a.high + b.high, is_bool=False)

    def subtract(self, a: Term, b: Term) -> Term:
        """Return a - b."""
        if b.op == "int":
            return self.add(a, self.integer(-b.payload))
        if a is b:
            return self.integer(0)
        return self._make("sub", (a, b), 0, a.low - b.high, a.high - b.low, is_bool=False)

    def times(self, a: Term, factor: int) -> Term:
        """Return a · factor."""
        if factor == 1 or a.op == "int":
            return a if factor == 1 else self.integer(a.payload * factor)
        if factor == 0:
            return self.integer(0)
        ends = sorted((a.low * factor, a.high * factor))
        return self._make("mul", (a, self.integer(factor)), 0, ends[0], ends[1], is_bool=False)

    def quotient(self, a: Term, divisor: int) -> Term:
        """Return a // divisor, rounded down as in Python; `divisor` > 0."""
        low, high = a.low // divisor, a.high // divisor
        if low == high:
            return self.integer(low)
        return self._make("div", (a, self.integer(divisor)), 0, low, high, is_bool=False)

    def remainder(self, a: Term, divisor: int) -> Term:
        """Return a % divisor, never negative; `divisor` > 0."""
        if a.low >= 0 and a.high < divisor:
            return a
        if a.op == "int":
            return self.integer(a.payload % divisor)
        return self._make("mod", (a, self.integer(divisor)), 0, 0, divisor - 1, is_bool=False)

    def within(self, a: Term, low: int, high: int) -> Term:
        """Return `a`, known to be in `low … high` wherever it matters (side conditions exclude other values)."""
        if low <= a.low and a.high <= high:
            return a
        low, high = max(low, a.low), min(high, a.high)
        if low == high:
            return self.integer(low)
        return self._make("within", (a,), 0, low, high, is_bool=False)


def in_order(roots: Iterable[Term], leaves: Callable[[Term], bool] | None = None) -> Iterator[Term]:
    """Yield every term below the roots once, arguments before their users, without the terms below `leaves`."""
    seen: set[int] = set()
    stack: list[Term | None] = [*roots]
    while stack:
        term = stack.pop()
        if term is None:  # the arguments of the term below it have been yielded
            yield stack.pop()  # type: ignore[misc]
        elif term.id not in seen:
            seen.add(term.id)
            if term.args and (leaves is None or not leaves(term)):
                stack.append(term)
                stack.append(None)
                stack.extend(term.args)
            else:
                yield term


def evaluate_terms(roots: Sequence[Term], numbers: Sequence[int]) -> list[int]:
    """Return the values of some terms (Booleans as 0 and 1) for a vector."""
    known = values_of(list(in_order(roots)), numbers)
    return [known[root.id] for root in roots]


def values_of(order: Sequence[Term], numbers: Sequence[int]) -> dict[int, int]:
    """Return the values of all terms of a list, in which arguments precede their users, by the terms' ids."""
    value: dict[int, int] = {}
    for term in order:
        value[term.id] = value_of(term, [value[a.id] for a in term.args], numbers)
    return value


def value_of(term: Term, args: list[int], numbers: Sequence[int]) -> int:
    if term.op in ("bool", "int"):
        return term.payload
    if term.op in ("boolvar", "intvar"):
        return numbers[term.payload]
    return OPERATIONS[term.op](args)


OPERATIONS: dict[str, Callable[[Sequence[int]], int]] = {
    "not": lambda a: 1 - a[0],
    "and": lambda a: int(all(a)),
    "or": lambda a: int(any(a)),
    "ite": lambda a: a[1] if a[0] else a[2],
    "eq": lambda a: int(a[0] == a[1]),
    "lt": lambda a: int(a[0] < a[1]),
    "add": lambda a: a[0] + a[1],
    "sub": lambda a: a[0] - a[1],
    "mul": lambda a: a[0] * a[1],
    "div": lambda a: a[0] // a[1],
    "mod": lambda a: a[0] % a[1],
    "within": lambda a: a[0],
}


def substitute(terms: Terms, roots: Sequence[Term], numbers: Sequence[Term]) -> list[Term]:
    """Return the terms with variable n replaced by `numbers[n]`, simplified."""
    new: dict[int, Term] = {}
    for term in in_order(roots):
        new[term.id] = rebuild(terms, term, [new[a.id] for a in term.args], numbers)
    return [new[root.id] for root in roots]


def rebuild(terms: Terms, term: Term, args: list[Term], numbers: Sequence[Term]) -> Term:
    """Return the term with other arguments, simplified; a variable n becomes `numbers[n]`."""
    if term.op in ("bool", "int"):
        return term
    if term.op in ("boolvar", "intvar"):
        return numbers[term.payload]
    return _REBUILD[term.op](terms, term, args)


TermRow = tuple[str, tuple[int, ...], int, int, int]
"""A term outside of its table: its operation, the rows of its arguments, its payload, its interval."""


def rows_of(roots: Iterable[Term]) -> tuple[list[TermRow], list[int]]:
    """Return some terms for another process: rows, arguments before their users, and the row of each root."""
    roots = list(roots)
    rows: list[TermRow] = []
    places: dict[int, int] = {}
    for term in in_order(roots):
        places[term.id] = len(rows)
        rows.append((term.op, tuple(places[a.id] for a in term.args), term.payload, term.low, term.high))
    return rows, [places[root.id] for root in roots]


def terms_of(terms: Terms, rows: Iterable[TermRow]) -> list[Term]:
    """Return the term of each row in another table."""
    found: list[Term] = []
    for op, args, payload, low, high in rows:
        term = Term()
        term.op, term.payload, term.low, term.high = op, payload, low, high
        if op in ("boolvar", "intvar"):
            found.append(terms.bool_variable(payload) if op == "boolvar" else terms.int_variable(payload, low, high))
        elif op in ("bool", "int"):
            found.append(terms.boolean(payload) if op == "bool" else terms.integer(payload))
        else:
            found.append(rebuild(terms, term, [found[place] for place in args], ()))
    return found


_REBUILD: dict[str, Callable[[Terms, Term, list[Term]], Term]] = {
    "not": lambda terms, _, args: terms.negation(args[0]),
    "and": lambda terms, _, args: terms.conjunction(args),
    "or": lambda terms, _, args: terms.disjunction(args),
    "ite": lambda terms, _, args: terms.choose(*args),
    "eq": lambda terms, _, args: terms.equal(*args),
    "lt": lambda terms, _, args: terms.less(*args),
    "add": lambda terms, _, args: terms.add(*args),
    "sub": lambda terms, _, args: terms.subtract(*args),
    "mul": lambda terms, _, args: terms.times(args[0], args[1].payload),
    "div": lambda terms, _, args: terms.quotient(args[0], args[1].payload),
    "mod": lambda terms, _, args: terms.remainder(args[0], args[1].payload),
    "within": lambda terms, term, args: terms.within(args[0], term.low, term.high),
}
