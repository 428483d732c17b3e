"""A model in Z3, one instance at a time; what it does, and what that breaks, are terms over the state before.

Words: a *question* is whether a state is possible in which an instance can be taken (or none is asked for) and
something bad is true, while all *lemmas* hold that have been told. Its *reason* is what of such a state is enough for
the answer: whatever else the state is like, the same happens.
"""
from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import count

import z3

from model.language import Vector
from model.language.lift import Lifted, LiftedAction, Term, reads
from model.language.lift.solver import Solver
from search.prove.certificate import cube_term
from search.prove.cubes import Cube
from search.prove.slicing import whole
from search.prove.step import Effort
from search.prove.terms import state_variables, taken


class Encoding:
    """What the questions about one model share."""

    def __init__(self, lifted: Lifted) -> None:
        self.lifted, self.model, self.part = lifted, lifted.model, whole(lifted)
        self.now = state_variables(lifted)
        roots = [root for action in lifted.actions for root in action.roots]
        roots += [root for claim in lifted.claims for root in claim.roots]
        self.solver = Solver(Solver.width_for([*roots, *self.now]))
        self.leaves = [self.solver.expression(self.now[n]) for n in self.part.varying]
        bits = [z3.If(leaf, _BIT[1], _BIT[0]) if z3.is_bool(leaf) else leaf for leaf in self.leaves]
        self._all = z3.Concat(*bits, _BIT[0])
        self.packed = z3.BitVec("packed", self._all.size())
        self.base = [*self.solver.domain(), self.packed == self._all]
        self._names = count()

    def literal(self) -> z3.BoolRef:
        """A constant that nothing speaks of yet."""
        return z3.Bool(f"p{next(self._names)}")

    def state(self, answer: z3.ModelRef) -> Vector:
        """The state of an answer. One number is read from Z3 for all leaves: reading each costs more than solving."""
        number, state = answer[self.packed].as_long() >> 1, list(self.model.initial[0])
        for n in reversed(self.part.varying):
            width = 1 if self.now[n].is_bool else self.solver.width
            part = number & ((1 << width) - 1)
            state[n] = part - (1 << width) if width > 1 and part >> (width - 1) else part
            number >>= width
        return tuple(state)

    def cube(self, cube: Cube, state: Sequence[Term]) -> Term:
        """That a state given as terms is in a cube."""
        return cube_term(self.part, cube, state)


class Questions:
    """The questions about one instance, or about states alone (None), and the lemmas that were told for them."""

    def __init__(self, encoding: Encoding, action: LiftedAction | None, effort: Effort) -> None:
        self.encoding, self.action, self.effort = encoding, action, effort
        self.after = [(action.updates if action else {}).get(n, term) for n, term in enumerate(encoding.now)]
        self.writes = frozenset(n for n, term in enumerate(self.after) if term is not encoding.now[n])
        terms = encoding.lifted.terms
        self._taken = terms.true if action is None else taken(terms, action)
        self._reads = reads([self._taken])
        self._told: dict[Cube, z3.BoolRef] = {}
        self._values: dict[tuple[int, int], z3.BoolRef] = {}
        self._search, self._alone = z3.SolverFor("QF_FD"), z3.SolverFor("QF_FD")
        self._can = encoding.literal()
        can = encoding.solver.expression(self._taken)
        for solver in (self._search, self._alone):
            solver.add(*encoding.base, self._can == can)

    def tell(self, lemma: Cube) -> None:
        """From now on states in this cube are no answers, as long as the lemma is among those that are assumed."""
        if lemma not in self._told:
            name = self._told[lemma] = self.encoding.literal()
            inside = self.encoding.solver.expression(self.encoding.cube(lemma, self.encoding.now))
            self._search.add(z3.Or(z3.Not(name), z3.Not(inside)))

    def knows(self, lemma: Cube) -> bool:
        """Whether it was told."""
        return lemma in self._told

    def question(self, bad: Term) -> Question:
        """A question about something bad, in terms of the state before the step."""
        return Question(self, bad)

    def relevant(self, bad: Term) -> list[int]:
        """The leaves that decide whether the instance can be taken and leads to something bad."""
        found = self._reads | reads([bad])
        return [n for n in self.encoding.part.varying if n in found]

    def has_value(self, n: int, number: int) -> z3.BoolRef:
        """A literal that gives a leaf a value, where reasons are looked for."""
        if (n, number) not in self._values:
            leaf, name = self.encoding.solver.expression(self.encoding.now[n]), self.encoding.literal()
            value = (leaf if number else z3.Not(leaf)) if z3.is_bool(leaf) else leaf == number
            self._alone.add(z3.Or(z3.Not(name), value))
            self._values[n, number] = name
        return self._values[n, number]


class Question:
    """One question, asked again whenever more lemmas were told."""

    def __init__(self, owner: Questions, bad: Term) -> None:
        self._of, self._leaves = owner, owner.relevant(bad)
        self._bad, self._not = owner.encoding.literal(), owner.encoding.literal()
        expression = owner.encoding.solver.expression(bad)
        owner._search.add(z3.Or(z3.Not(self._bad), expression))
        self._opposite: z3.BoolRef | None = z3.Not(z3.And(owner._can, expression))

    def counterexample(self, lemmas: Collection[Cube]) -> Vector | None:
        """A state in which all of these that were told hold; None if there is none, then see `used`."""
        of = self._of
        self._assumed = {cube: name for cube, name in of._told.items() if cube in lemmas}
        if not _possible(of._search, [of._can, self._bad, *self._assumed.values()], of.effort):
            return None
        return of.encoding.state(of._search.model())

    def used(self) -> frozenset[Cube]:
        """The lemmas that the last answer "none" needed."""
        core = {literal.get_id() for literal in self._of._search.unsat_core()}
        return frozenset(cube for cube, name in self._assumed.items() if name.get_id() in core)

    def reason(self, state: Vector) -> list[int]:
        """The leaves whose numbers in this counterexample are enough to make it one."""
        of = self._of
        if self._opposite is not None:
            of._alone.add(z3.Or(z3.Not(self._not), self._opposite))
            self._opposite = None
        values = {n: of.has_value(n, state[n]) for n in self._leaves}
        if _possible(of._alone, [self._not, *values.values()], of.effort):
            raise AssertionError("Z3 finds that a step does not lead where it has just led; its answers contradict.")
        core = {literal.get_id() for literal in of._alone.unsat_core()}
        return [n for n, name in values.items() if name.get_id() in core]

    def close(self) -> None:
        """It will not be asked again."""
        self._of._search.add(z3.Not(self._bad))
        if self._opposite is None:
            self._of._alone.add(z3.Not(self._not))


_BIT = (z3.BitVecVal(0, 1), z3.BitVecVal(1, 1))


def _possible(solver: z3.Solver, literals: Sequence[z3.BoolRef], effort: Effort) -> bool:
    """Whether all literals can be true at once.

    Z3's own `check` spends more time on looking at each of hundreds of literals in Python than on the answer.
    """
    assumed = (z3.Ast * len(literals))(*(literal.as_ast() for literal in literals))

    def check() -> z3.CheckSatResult:
        return z3.CheckSatResult(
            z3.Z3_solver_check_assumptions(solver.ctx.ref(), solver.solver, len(literals), assumed)
        )

    return effort.answer(solver, check)
