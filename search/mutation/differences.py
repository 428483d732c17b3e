"""Where a mutant does something else than the model: as a term, over many states at once, and as a question to Z3."""
from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from model.language import Model
from model.language.lift import LiftedAction, Obligation, Owed, Term, Terms, in_order
from search.compile.layout import WORD, Layout
from search.prove.induction import satisfying

FAILED = -1
"""What becomes of a step that meets an error, whichever it is; bounds have their numbers from 1."""
FIRST_LOOK, MOST_AT_ONCE = 1 << 10, 1 << 16
"""States that are looked at together: few at first, as a difference often shows early."""


def is_same(one: LiftedAction, other: LiftedAction) -> bool:
    """Whether two liftings of an action instance are the same terms of one table."""
    if one.guard is not other.guard or one.updates.keys() != other.updates.keys():
        return False
    if len(one.obligations) != len(other.obligations):
        return False
    owed = zip(one.obligations, other.obligations, strict=True)
    return all(a.owed is b.owed and a.condition is b.condition and a.name == b.name for a, b in owed) and all(
        term is other.updates[leaf] for leaf, term in one.updates.items()
    )


class Difference:
    """What tells two liftings of an action instance apart, the model's and a mutant's.

    `enabled`: either guard holds. `there`: what they do differs. `beyond`: the mutant takes a step that is not the
    model's.
    """

    def __init__(self, model: Model, terms: Terms, one: LiftedAction, other: LiftedAction) -> None:
        t = self.terms = terms
        self.model = model
        self.enabled = t.disjunction((one.guard, other.guard))
        bounds: dict[str, int] = {}
        codes = [self._code(action.obligations, bounds) for action in (one, other)]
        changed = t.disjunction(t.negation(t.equal(*pair)) for pair in self._after(one, other))
        done = t.equal(codes[0], t.integer(0))
        otherwise = t.disjunction((t.negation(t.equal(*codes)), t.conjunction((done, changed))))
        guards = t.negation(t.equal(one.guard, other.guard))
        self.beyond = t.conjunction((other.guard, t.disjunction((t.negation(one.guard), otherwise))))
        self.there = t.disjunction((guards, t.conjunction((one.guard, other.guard, otherwise))))

    def _code(self, obligations: Sequence[Obligation], bounds: dict[str, int]) -> Term:
        """What becomes of the step: 0 if it is done, the number of the first bound that it meets, or FAILED."""
        code = self.terms.integer(0)
        for owed in reversed(obligations):
            number = FAILED if owed.owed is Owed.ERROR else bounds.setdefault(owed.name, len(bounds) + 1)
            code = self.terms.choose(owed.condition, self.terms.integer(number), code)
        return code

    def _after(self, one: LiftedAction, other: LiftedAction) -> Iterable[tuple[Term, Term]]:
        for leaf in {**one.updates, **other.updates}:
            before = self._variable(leaf)
            yield one.updates.get(leaf, before), other.updates.get(leaf, before)

    def _variable(self, number: int) -> Term:
        leaf = self.model.leaves[number]
        t = self.terms
        return t.bool_variable(number) if leaf.is_truth_value else t.int_variable(number, leaf.low, leaf.high)

    def first_in(self, states: np.ndarray, layout: Layout, *, beyond: bool = False) -> int | None:
        """The number of the first packed state, uint64[n, words], where there is one; None if there is none."""
        return first_true(self.beyond if beyond else self.there, states, layout, where=self.enabled)

    def is_ruled_out(self, milliseconds: int) -> bool:
        """Whether Z3 proves that there is none in any in-domain state; False if it cannot tell."""
        try:
            return satisfying(self.model, self.there, milliseconds) is None
        except TimeoutError:
            return False


def first_true(wanted: Term, states: np.ndarray, layout: Layout, *, where: Term | None = None) -> int | None:
    """The number of the first packed state in which a term is true, None if there is none; `where` must be true too."""
    begin, size = 0, FIRST_LOOK
    while begin < len(states):
        block = states[begin : begin + size]
        rows = np.arange(len(block)) if where is None else np.flatnonzero(evaluated(where, block, layout))
        there = rows[evaluated(wanted, block[rows], layout)] if len(rows) else rows
        if len(there):
            return begin + int(there[0])
        begin, size = begin + size, MOST_AT_ONCE
    return None


def evaluated(root: Term, states: np.ndarray, layout: Layout) -> np.ndarray:
    """The truth of a term in each of some packed states, bool[n]."""
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
        return (np.logical_and if term.op == "and" else np.logical_or).reduce(np.broadcast_arrays(*args))
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
