"""Queries about the states of a model without Z3: terms as gates, gates as clauses, and the search in plain Python.

Words: each gate of a query is a variable of its solver, with the clauses that make it the gate's function of its inputs
(G. Tseitin, On the complexity of derivation in propositional calculus, 1968). Gates are those of bit-sliced kernels.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kwalk.model.language import Vector
from kwalk.model.language.lift import Term
from kwalk.search.kernel.compile.gates import AND, FALSE, INPUT, TRUE, XOR, GateNetwork, TermGates, bits_of
from kwalk.search.kernel.compile.layout import WORD, layout_of
from kwalk.search.proof.clause_solver import ClauseSolver, Literal
from kwalk.search.proof.slicing import Slice

MOST_CONFLICTS = 50_000
"""Conflicts for each query."""


class StateGates:
    """The gates of a model's terms over one arbitrary state, which all queries share.

    Args:
        part: The model, or the slice whose leaves the terms have.
        held: What is true in the state of every query.
    """

    def __init__(self, part: Slice, held: Iterable[Term]) -> None:
        self.part, layout = part, layout_of(part.model.leaves)
        self.gates = TermGates(layout, layout.words * WORD)
        self.held = [self.gates.literal(term) for term in held]
        for n in part.varying:
            leaf, width = part.model.leaves[n], layout.widths[n]
            if leaf.high - leaf.low + 1 < 1 << width:
                most = bits_of(leaf.high - leaf.low, width)
                self.held.append(self.gates.network.less(most, self.gates.field(n)) ^ 1)

    def query(self, condition: Term) -> StateQuery:
        """Return queries about the states in which a condition is true."""
        return StateQuery(self, [*self.held, self.gates.literal(condition)])


class StateQuery:
    """Queries about the states in which some literals of the gates are true; what one learns serves the next.

    Args:
        states: The gates.
        roots: The literals.
    """

    def __init__(self, states: StateGates, roots: Iterable[Literal]) -> None:
        self._states, self.solver = states, ClauseSolver()
        self._clauses = GateClauses(states.gates.network, self.solver)
        for root in roots:
            self.solver.add([self._clauses.literal(root)])

    def state_with(self, condition: Term) -> Vector | None:
        """Return a state in which a condition is true; None if there is none.

        Raises:
            TimeoutError: It is not settled after `MOST_CONFLICTS` conflicts.
        """
        root = self._states.gates.literal(condition)
        if root == FALSE:
            return None
        assumed = [] if root == TRUE else [self._clauses.literal(root)]
        return self._state() if self.solver.possible(assumed, MOST_CONFLICTS) else None

    def _state(self) -> Vector:
        """Return the state of the last answer; leaves that no gate reads have their initial number."""
        part, gates = self._states.part, self._states.gates
        state = list(part.model.initial[0])
        for n in part.varying:
            bits = gates.field(n)
            if any(self._clauses.is_known(bit) for bit in bits):
                state[n] = part.model.leaves[n].low + sum(
                    1 << place for place, bit in enumerate(bits) if self._clauses.is_true(bit)
                )
        return tuple(state)


class GateClauses:
    """The gates of a network as clauses of a solver, each when it is first needed."""

    def __init__(self, network: GateNetwork, solver: ClauseSolver) -> None:
        self._gates, self._solver = network.gates, solver
        self._variables: dict[int, Literal] = {}

    def literal(self, root: Literal) -> Literal:
        """Return the solver's literal for a literal of the network."""
        pending = [root >> 1]
        while pending:
            number = pending[-1]
            inputs = [] if self._gates[number][0] == INPUT else [arg >> 1 for arg in self._gates[number][1:]]
            missing = [] if number in self._variables else [gate for gate in inputs if gate not in self._variables]
            pending += missing
            if not missing:
                pending.pop()
                if number not in self._variables:
                    self._variables[number] = self._solver.variable()
                    for clause in self._function(number):
                        self._solver.add(clause)
        return self._translated(root)

    def is_known(self, root: Literal) -> bool:
        """Return whether the solver has a gate."""
        return root >> 1 in self._variables

    def is_true(self, root: Literal) -> bool:
        """Return whether a literal is true in the last answer; a gate that the solver does not have is false."""
        return self.is_known(root) and self._solver.is_true(self._translated(root))

    def _translated(self, literal: Literal) -> Literal:
        return self._variables[literal >> 1] ^ (literal & 1)

    def _function(self, number: int) -> Sequence[Sequence[Literal]]:
        """Return the clauses that make a gate's variable the function of its inputs."""
        kind, *args = self._gates[number]
        out = self._variables[number]
        if kind == INPUT:
            return [[out ^ 1]] if number == FALSE else []
        a, b, *rest = map(self._translated, args)
        if kind == AND:
            return [[out ^ 1, a], [out ^ 1, b], [out, a ^ 1, b ^ 1]]
        if kind == XOR:
            return [[out ^ 1, a, b], [out ^ 1, a ^ 1, b ^ 1], [out, a ^ 1, b], [out, a, b ^ 1]]
        (c,) = rest  # b if a, else c; the last two follow from the others, and let more be implied
        return [
            [out ^ 1, a ^ 1, b],
            [out, a ^ 1, b ^ 1],
            [out ^ 1, a, c],
            [out, a, c ^ 1],
            [out ^ 1, b, c],
            [out, b ^ 1, c ^ 1],
        ]
