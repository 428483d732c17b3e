"""Differences between a mutant and the model: as a term, over many states at once, and as a query to Z3."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

import numpy as np

from kwalk.model.language import Model
from kwalk.model.language.lift import LiftedAction, Term, Terms, in_order, step_code
from kwalk.search.kernel.compile.layout import WORD, Layout
from kwalk.search.solver.terms import satisfying_state

FIRST_LOOK, MOST_AT_ONCE = 1 << 10, 1 << 16
"""Sizes of the first and of later blocks of states: a difference often shows early."""


def is_same(one: LiftedAction, other: LiftedAction) -> bool:
    """Return whether two liftings of an action instance are the same terms of one table."""
    if one.guard is not other.guard or one.updates.keys() != other.updates.keys():
        return False
    if len(one.side_conditions) != len(other.side_conditions):
        return False
    pairs = zip(one.side_conditions, other.side_conditions, strict=True)
    return all(a.kind is b.kind and a.condition is b.condition and a.name == b.name for a, b in pairs) and all(
        term is other.updates[leaf] for leaf, term in one.updates.items()
    )


class LiftedDifference:
    """The difference between two liftings of an action instance, the model's and a mutant's.

    Attributes:
        enabled: The term: either guard is true.
        differs: The term: the results differ.
        beyond: The term: the mutant takes a step that the model does not take.
    """

    def __init__(self, model: Model, terms: Terms, one: LiftedAction, other: LiftedAction) -> None:
        t = self.terms = terms
        self.model = model
        self.enabled = t.disjunction((one.guard, other.guard))
        bounds: dict[str, int] = {}
        codes = [step_code(t, action.side_conditions, bounds) for action in (one, other)]
        changed = t.disjunction(t.negation(t.equal(*pair)) for pair in self._after(one, other))
        done = t.equal(codes[0], t.integer(0))
        otherwise = t.disjunction((t.negation(t.equal(*codes)), t.conjunction((done, changed))))
        guards = t.negation(t.equal(one.guard, other.guard))
        self.beyond = t.conjunction((other.guard, t.disjunction((t.negation(one.guard), otherwise))))
        self.differs = t.disjunction((guards, t.conjunction((one.guard, other.guard, otherwise))))

    def _after(self, one: LiftedAction, other: LiftedAction) -> Iterable[tuple[Term, Term]]:
        for leaf in {**one.updates, **other.updates}:
            before = self._variable(leaf)
            yield one.updates.get(leaf, before), other.updates.get(leaf, before)

    def _variable(self, number: int) -> Term:
        leaf = self.model.leaves[number]
        t = self.terms
        return t.bool_variable(number) if leaf.is_truth_value else t.int_variable(number, leaf.low, leaf.high)

    def first_in(self, states: np.ndarray, layout: Layout, *, beyond: bool = False) -> int | None:
        """Return the index of the first packed state, uint64[n, words], where the term is true; None if none."""
        return first_state_where(self.beyond if beyond else self.differs, states, layout, where=self.enabled)

    def is_refuted(self, milliseconds: int) -> bool:
        """Return whether Z3 proves within the time limit that no state in the domain differs."""
        try:
            return satisfying_state(self.model, self.differs, milliseconds) is None
        except TimeoutError:
            return False


def first_state_where(term: Term, states: np.ndarray, layout: Layout, *, where: Term | None = None) -> int | None:
    """Return the index of the first packed state in which a term, and `where`, is true; None if there is none."""
    begin, size = 0, FIRST_LOOK
    while begin < len(states):
        block = states[begin : begin + size]
        rows = np.arange(len(block)) if where is None else np.flatnonzero(truth_in(where, block, layout))
        found = rows[truth_in(term, block[rows], layout)] if len(rows) else rows
        if len(found):
            return begin + int(found[0])
        begin, size = begin + size, MOST_AT_ONCE
    return None


def truth_in(root: Term, states: np.ndarray, layout: Layout) -> np.ndarray:
    """Return the value of a boolean term in each of the packed states, uint64[n, words], as bool[n]."""
    order = list(in_order([root]))
    uses = Counter(arg.id for term in order for arg in term.args)
    known: dict[int, np.ndarray] = {}
    for term in order:
        known[term.id] = _value(term, [known[arg.id] for arg in term.args], states, layout)
        for arg in term.args:
            uses[arg.id] -= 1
            if not uses[arg.id]:
                known.pop(arg.id, None)
    return np.broadcast_to(known[root.id], len(states))


def _value(term: Term, args: list[np.ndarray], states: np.ndarray, layout: Layout) -> np.ndarray:
    if term.op in ("bool", "int"):
        return np.array(bool(term.payload) if term.is_bool else term.payload)
    if term.op in ("boolvar", "intvar"):
        return _leaf(term, states, layout)
    if term.op in ("and", "or"):
        joined: np.ndarray = (np.logical_and if term.op == "and" else np.logical_or).reduce(np.broadcast_arrays(*args))
        return joined
    return _OPERATIONS[term.op](*args)


def _leaf(term: Term, states: np.ndarray, layout: Layout) -> np.ndarray:
    word, bit = divmod(layout.offsets[term.payload], WORD)
    mask = np.uint64((1 << layout.widths[term.payload]) - 1)
    raw = (states[:, word] >> np.uint64(bit)) & mask
    return raw.astype(bool) if term.is_bool else raw.astype(np.int64) + layout.lows[term.payload]


_OPERATIONS: dict[str, Callable[..., np.ndarray]] = {
    "not": np.logical_not,
    "ite": np.where,
    "eq": np.equal,
    "lt": np.less,
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.floor_divide,
    "mod": np.mod,
    "within": lambda a: a,
}
