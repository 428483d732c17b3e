"""The backward slice of a trace: the steps on which the end depends, by what each step read and wrote in its state.

Words: a step *defines* a leaf if its new value does not depend on the old one, or differs from it. It *keeps* a leaf
that it would have changed if another condition were true: a broker that refuses a request keeps its leadership as it
is. A step is in the slice if it defines a leaf that the property, or a step in the slice, depends on, or if it keeps a
leaf that the property depends on. A step in the slice also depends on why it keeps what later steps of it need. So the
steps of a slice alone lead to the same end, where no queue is in between.

A dependence is dynamic (H. Agrawal and J. R. Horgan, Dynamic program slicing, PLDI 1990): of a choice, only the
condition and the branch that is taken count; of a conjunction that is false, one false part does. What is kept is a
potential dependence of theirs (B. Korel and J. Laski, Dynamic program slicing, IPL 1988). Elements of a queue that only
move up depend on themselves, and the length of a queue on what is at its head.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property

from kwalk.model.language import Kind, Model, PropertyInstance, Vector
from kwalk.model.language.containers import ArrayShape, FifoShape
from kwalk.model.language.lift import LiftedAction, Term, Terms, in_order, lift_action, lift_properties
from kwalk.model.language.lift.terms import value_of
from kwalk.model.language.records import RecordShape, shapes_of
from kwalk.model.language.shapes import Shape
from kwalk.search.results.trace import Trace, ends_in_deadlock

NOTHING: frozenset[int] = frozenset()


class TermReads:
    """The values of terms in one state, and the leaves on which each value depends.

    Args:
        numbers: The state; of a step property, both states.
        every: Whether all false parts of a false conjunction count (and all true ones of a true disjunction), instead
            of one with the fewest leaves.
    """

    def __init__(self, numbers: Vector, *, every: bool = False) -> None:
        self.numbers, self.every = numbers, every
        self.values: dict[int, int] = {}
        self.reads: dict[int, frozenset[int]] = {}

    def of(self, root: Term) -> frozenset[int]:
        """Return the leaves on which the value of a term depends."""
        for term in in_order([root], lambda term: term.id in self.values):
            if term.id not in self.values:
                self.values[term.id] = value_of(term, [self.values[arg.id] for arg in term.args], self.numbers)
                self.reads[term.id] = self._reads(term)
        return self.reads[root.id]

    def value(self, root: Term) -> int:
        """Return the value of a term."""
        self.of(root)
        return self.values[root.id]

    def branch(self, root: Term) -> Term:
        """Return what a term is after the choices that are made in this state."""
        self.of(root)
        while root.op in ("ite", "within"):
            root = root.args[0] if root.op == "within" else self._branches(root)[0]
        return root

    def _branches(self, choice: Term) -> tuple[Term, Term]:
        """Return the branch that is taken, and the other one."""
        condition, then, other = choice.args
        return (then, other) if self.values[condition.id] else (other, then)

    def _reads(self, term: Term) -> frozenset[int]:
        if term.op in ("boolvar", "intvar"):
            return frozenset((term.payload,))
        of_args = [self.reads[arg.id] for arg in term.args]
        if term.op == "ite":
            branch, other = self._branches(term)
            found = self.reads[term.args[0].id] | self.reads[branch.id]
            both = self.reads[branch.id] | self.reads[other.id]
            equal = self.values[branch.id] == self.values[other.id]
            return both if equal and len(both) <= len(found) else found
        if term.op in ("and", "or"):
            deciding = [self.reads[arg.id] for arg in term.args if bool(self.values[arg.id]) == (term.op == "or")]
            if deciding and not self.every:
                return min(deciding, key=len)
            return NOTHING.union(*(deciding or of_args))
        return NOTHING.union(*of_args)


class TraceSlice:
    """What the steps of a trace, and the violation at its end, depend on. Lifts only the instances of the trace.

    Raises:
        LiftError: A function cannot be lifted.
    """

    def __init__(self, model: Model, trace: Trace, prop: PropertyInstance | None) -> None:
        self.model, self.trace, self.prop = model, trace, prop
        self._terms = Terms()
        self._actions: dict[str, LiftedAction] = {}
        self._reads = [TermReads(state) for state in trace.states]
        with model.active():
            self.queues = tuple(_queues(model.shape, 0))
        self._queue_of = {leaf: queue for queue in self.queues for leaf in queue}

    # The end.

    @cached_property
    def ends(self) -> tuple[tuple[int, int], ...]:
        """The leaves on which the violation depends, each with the number of its state."""
        last = self.trace.length
        if self.prop is None:
            return tuple((leaf, last) for leaf in sorted(self._disabled())) if self._is_deadlock else ()
        lifted = lift_properties(self.model, [self.prop]).properties[0]
        double = self.prop.kind is Kind.STEP and last > 0
        numbers = (*self.trace.states[-2], *self.trace.states[-1]) if double else self.trace.states[-1]
        reads, width = TermReads(numbers, every=True), len(self.model.leaves)
        leaves = [*sorted(reads.of(lifted.truth)), *sorted(reads.of(lifted.premise) - reads.of(lifted.truth))]
        return tuple((leaf % width, last - 1 if double and leaf < width else last) for leaf in leaves)

    @property
    def _is_deadlock(self) -> bool:
        return ends_in_deadlock(self.model, self.trace)

    def _disabled(self) -> frozenset[int]:
        """Return the leaves for which no instance is enabled in the last state."""
        reads = self._reads[-1]
        return NOTHING.union(*(reads.of(self._action(one.key).guard) for one in self.model.instances))

    # Steps.

    def _action(self, key: str) -> LiftedAction:
        if key not in self._actions:
            with self.model.active():
                self._actions[key] = lift_action(self.model, self._terms, self.model.instance(key))
        return self._actions[key]

    def guard(self, step: int) -> frozenset[int]:
        """Return the leaves for which a step, from 1, is enabled."""
        return self._heads(self._reads[step - 1].of(self._action(self.trace.actions[step - 1]).guard), step)

    def sources(self, step: int, leaf: int) -> frozenset[int]:
        """Return the leaves on which the value of a leaf after a step depends, beside the guard.

        Where an element of a queue is put depends on the length of the queue, but its value does not.
        """
        update = self._action(self.trace.actions[step - 1]).updates.get(leaf)
        if update is None:
            return frozenset((leaf,))
        queue = self._queue_of.get(leaf)
        own = frozenset() if queue is None else frozenset((queue.start,))
        return self._heads(self._reads[step - 1].of(update) - own, step)

    def origin(self, step: int, leaf: int) -> int | None:
        """Return the leaf whose value a step copies into a leaf; None if it computes or chooses the value."""
        update = self._action(self.trace.actions[step - 1]).updates.get(leaf)
        if update is None:
            return leaf
        found = self._reads[step - 1].branch(update)
        return found.payload if found.op in ("intvar", "boolvar") else None

    def keeps(self, step: int, leaf: int) -> bool:
        """Return whether a step keeps a leaf that it would have changed under another condition."""
        return leaf in self.sources(step, leaf) and not self._differs(step, leaf) and not self._passes(step, leaf)

    def defines(self, step: int, leaf: int) -> bool:
        """Return whether the value of a leaf is due to a step, which neither keeps it nor moves a queue up."""
        if leaf not in self._action(self.trace.actions[step - 1]).updates or self.moves_up(step, leaf):
            return False
        return self._differs(step, leaf) or leaf not in self.sources(step, leaf)

    def moves_up(self, step: int, leaf: int) -> bool:
        """Return whether a step only moves an element of a queue to a leaf of the same queue."""
        origin = self.origin(step, leaf)
        queue = self._queue_of.get(leaf)
        return queue is not None and origin is not None and origin != leaf and origin in queue

    def _differs(self, step: int, leaf: int) -> bool:
        return self.trace.states[step - 1][leaf] != self.trace.states[step][leaf]

    def _passes(self, step: int, leaf: int) -> bool:
        return self.sources(step, leaf) <= {leaf}

    def _heads(self, leaves: frozenset[int], step: int) -> frozenset[int]:
        """Replace the length of a queue by the element at its head, if there is one."""
        return frozenset(self._without_lengths(leaves, self.trace.states[step - 1]))

    def _without_lengths(self, leaves: Iterable[int], state: Vector) -> Iterator[int]:
        for leaf in leaves:
            queue = self._queue_of.get(leaf)
            if queue is None or leaf != queue.start:
                yield leaf
            elif state[leaf]:
                yield from range(leaf + 1, leaf + 1 + (len(queue) - 1) // self.model.leaves[leaf].high)

    # The slice.

    @cached_property
    def steps(self) -> frozenset[int]:
        """The numbers of the steps in the slice, from 1."""
        found = set()
        ends: set[int] = set()
        reads: set[int] = set()
        for step in range(self.trace.length, 0, -1):
            ends.update(leaf for leaf, state in self.ends if state == step)
            updates = self._action(self.trace.actions[step - 1]).updates
            after = {leaf for leaf in ends | reads if leaf in updates}
            up = {leaf for leaf in after if self.moves_up(step, leaf)}
            defined = {leaf for leaf in after if self.defines(step, leaf)}
            kept = {leaf for leaf in after & ends if self.keeps(step, leaf)}
            for leaves in (ends, reads):
                moved = {self.origin(step, leaf) for leaf in up & leaves}
                leaves -= defined | up
                leaves.update(leaf for leaf in moved if leaf is not None)
            if defined or kept:
                found.add(step)
                also = {leaf for leaf in after - up if self.keeps(step, leaf)}
                reads |= self.guard(step).union(*(self.sources(step, leaf) for leaf in defined | also))
        return frozenset(found)


def _queues(shape: Shape, start: int) -> Iterator[range]:
    """Yield the leaves of each queue in a value of this shape, its length first."""
    if isinstance(shape, FifoShape):
        yield range(start, start + shape.size())
    elif isinstance(shape, (RecordShape, ArrayShape)):
        if isinstance(shape, RecordShape):
            inner = [one for _, one in shapes_of(shape.cls)]
        else:
            inner = [shape.element] * len(shape.domain)
        for one in inner:
            yield from _queues(one, start)
            start += one.size()
