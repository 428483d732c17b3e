"""Terms of truth values: a table of nodes, and what `and`, `or` and `not` make of them (see `terms`)."""
from __future__ import annotations

from collections.abc import Iterable


class Term:
    """A node. `op` names the operation, `payload` the constant or the variable's number, `low … high` the interval."""

    __slots__ = ("args", "high", "id", "is_bool", "low", "op", "payload")

    op: str
    args: tuple[Term, ...]
    payload: int
    low: int
    high: int
    is_bool: bool
    id: int

    def __repr__(self) -> str:
        inside = ", ".join(map(repr, self.args)) if self.args else str(self.payload)
        return f"{self.op}({inside})"


class Truths:
    """A table of terms; leaves, and the constructors of truth values, which simplify while they build."""

    def __init__(self) -> None:
        self._table: dict[tuple[object, ...], Term] = {}
        self._negations: dict[int, Term] = {}
        self._junctions: dict[tuple[object, ...], Term] = {}
        self.true = self._make("bool", (), 1, 0, 1, is_bool=True)
        self.false = self._make("bool", (), 0, 0, 1, is_bool=True)

    def __len__(self) -> int:
        return len(self._table)

    def _make(self, op: str, args: tuple[Term, ...], payload: int, low: int, high: int, *, is_bool: bool) -> Term:
        key = (op, payload, low, high, *[a.id for a in args])
        known = self._table.get(key)
        if known is not None:
            return known
        term = Term()
        term.op, term.args, term.payload, term.low, term.high, term.is_bool = op, args, payload, low, high, is_bool
        term.id = len(self._table)
        self._table[key] = term
        return term

    # Leaves.

    def boolean(self, value: object) -> Term:
        """The constant true or false."""
        return self.true if value else self.false

    def integer(self, value: int) -> Term:
        """An int constant."""
        return self._make("int", (), value, value, value, is_bool=False)

    def bool_variable(self, number: int) -> Term:
        """The truth value of leaf `number`."""
        return self._make("boolvar", (), number, 0, 1, is_bool=True)

    def int_variable(self, number: int, low: int, high: int) -> Term:
        """The int in leaf `number`; a constant if there is only one possible value."""
        return self.integer(low) if low == high else self._make("intvar", (), number, low, high, is_bool=False)

    # Truth values.

    def negation(self, a: Term) -> Term:
        """Not a, with the negation pushed down to comparisons and variables, so that equal conditions look equal."""
        if a.op == "bool":
            return self.boolean(not a.payload)
        if a.op == "not":
            return a.args[0]
        known = self._negations.get(a.id)
        if known is None:
            known = self._negations[a.id] = self._negate(a)
            self._negations[known.id] = a
        return known

    def _negate(self, a: Term) -> Term:
        if a.op == "and":
            return self.disjunction(self.negation(part) for part in a.args)
        if a.op == "or":
            return self.conjunction(self.negation(part) for part in a.args)
        if a.op == "ite":
            return self._make("ite", (a.args[0], *map(self.negation, a.args[1:])), 0, 0, 1, is_bool=True)
        return self._make("not", (a,), 0, 0, 1, is_bool=True)

    def conjunction(self, parts: Iterable[Term]) -> Term:
        """All of them."""
        return self._junction("and", parts, neutral=self.true, zero=self.false)

    def disjunction(self, parts: Iterable[Term]) -> Term:
        """Any of them."""
        return self._junction("or", parts, neutral=self.false, zero=self.true)

    def _junction(self, op: str, parts: Iterable[Term], *, neutral: Term, zero: Term) -> Term:
        parts = tuple(parts)
        key = (op, *[part.id for part in parts])
        known = self._junctions.get(key)
        if known is None:
            known = self._junctions[key] = self._simplified_junction(op, parts, neutral=neutral, zero=zero)
        return known

    def _simplified_junction(self, op: str, parts: Iterable[Term], *, neutral: Term, zero: Term) -> Term:
        kept: dict[int, Term] = {}
        for part in parts:
            for piece in part.args if part.op == op else (part,):
                if piece is zero:
                    return zero
                if piece is not neutral:
                    kept[piece.id] = piece
        for piece in kept.values():
            if piece.op == "not" and piece.args[0].id in kept:
                return zero
        reduced = self._absorb(kept, "or" if op == "and" else "and")
        if reduced is not None:
            return self._junction(op, reduced, neutral=neutral, zero=zero)
        if not kept:
            return neutral
        if len(kept) == 1:
            return next(iter(kept.values()))
        if self._contradicts(kept.values(), op):
            return zero
        return self._make(op, tuple(kept[k] for k in sorted(kept)), 0, 0, 1, is_bool=True)

    def _absorb(self, kept: dict[int, Term], dual: str) -> list[Term] | None:
        """a ∧ (a ∨ b) = a, and a ∧ (¬a ∨ b) = a ∧ b; the same with ∧ and ∨ exchanged. None if nothing changes."""
        changed, result = False, []
        for piece in kept.values():
            if piece.op == dual:
                if any(arg.id in kept for arg in piece.args):
                    changed = True
                    continue
                rest = [arg for arg in piece.args if self.negation(arg).id not in kept]
                if len(rest) < len(piece.args):
                    changed = True
                    piece = self.disjunction(rest) if dual == "or" else self.conjunction(rest)
            result.append(piece)
        return result if changed else None

    def _contradicts(self, pieces: Iterable[Term], op: str) -> bool:
        """x = 1 ∧ x = 2 is false (and dually x ≠ 1 ∨ x ≠ 2 is true)."""
        seen: dict[int, int] = {}
        for piece in pieces:
            literal = piece if op == "and" else self.negation(piece)
            if literal.op == "eq" and literal.args[1].op == "int":
                subject, constant = literal.args[0].id, literal.args[1].payload
                if seen.setdefault(subject, constant) != constant:
                    return True
        return False
