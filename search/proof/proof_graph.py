"""Proof graphs: a goal, the lemmas that it needs, the lemmas that these need, and so on, until nothing is missing.

Words: a *lemma* is a fact that is guessed from examples of reachable states, and still to be proved. A *query* is
whether there is a state in which an instance can be taken and something bad is true, while all known lemmas hold; its
*reason* is the leaves whose numbers are enough to make it so. The *support* of a goal or lemma consists of the lemmas
that keep each instance from breaking it. A goal is proved when everything in its support, directly or not, has a
support itself: these lemmas are inductive together, even if they support each other in a circle. If a counterexample is
reachable, the lemma was wrong, and what it supported is queried again, with more examples.

A *counterexample to induction* (CTI) is a step, or a state, that breaks a goal where no lemma is assumed. It shows a
violation only if that state is reachable.

Only what a goal needs is queried, one instance at a time (inductive proof graphs: W. Schultz, E. Ashton, H. Howard and
S. Tripakis, "Scalable, Interpretable Distributed Protocol Verification by Inductive Proof Slicing", 2024). Lemmas are
guessed from examples as in Houdini, but only where one is missing.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from itertools import count

import z3
from attrs import define, field, frozen

from kwalk.model.language import Kind, Model, Vector
from kwalk.model.language.lift import Lifted, LiftedAction, LiftedProperty, Term, reads, substitute
from kwalk.model.language.lift.solver import Solver, number_in
from kwalk.search.proof.certificate import NO_STEP, cube_term, is_certificate
from kwalk.search.proof.cubes import Cube, cube_text
from kwalk.search.proof.effort import SolverEffort
from kwalk.search.proof.lemma_guesses import Examples
from kwalk.search.proof.sampling import Origins, PackedStepper, ReachableSample
from kwalk.search.proof.slicing import whole_model
from kwalk.search.solver.restarted import RestartedSolver
from kwalk.search.solver.terms import (
    bad_state,
    can_be_taken,
    leaves_domain,
    state_after,
    state_variables,
    step_violation,
)

WALKS, WALK_LENGTH = 4, 25
"""Walks from a state that contradicts a lemma, and their steps: the states on them are further examples."""


# Goals.


@frozen(eq=False)
class ProofGoal:
    """What to exclude."""

    name: str
    bad: Mapping[int, Term]
    """By the number of an instance, what must not be true before it is taken; for `NO_STEP`, in any state."""
    action: str = ""
    """The instance whose domain it is about."""


@frozen
class GoalReached:
    """The goal fails after these instances from an initial state; the last one is the bad step."""

    start: Vector
    instances: tuple[int, ...]


@frozen
class Cti:
    """An instance breaks a goal in each state of a cube; `NO_STEP`: the state itself does."""

    cube: Cube
    instance: int

    def text(self, model: Model) -> str:
        """Return the action instance, and what holds in the states of the cube."""
        where = cube_text(model, self.cube) or "any state"
        return f"{'a state' if self.instance == NO_STEP else model.instances[self.instance].key} where {where}"


def property_goal(lifted: Lifted, prop: LiftedProperty) -> ProofGoal:
    """Return the goal that nothing violates a property which holds initially.

    A property of quiescent states must follow from facts; a property of all states is assumed before each step.
    """
    if prop.prop.kind is Kind.WHEN_QUIESCENT:
        return ProofGoal(prop.prop.key, {NO_STEP: bad_state(lifted, prop)})
    bad: dict[int, Term] = {}
    now, terms = state_variables(lifted), lifted.terms
    for action in lifted.actions:
        after = state_after(action, now)
        if prop.prop.kind is Kind.STEP:
            broken = step_violation(lifted, prop, now, after)
        else:
            fails = bad_state(lifted, prop)
            broken = terms.conjunction((terms.negation(fails), *substitute(terms, [fails], after)))
        if broken is not terms.false and action.guard is not terms.false:
            bad[action.instance.index] = broken
    return ProofGoal(prop.prop.key, bad)


def state_goal(lifted: Lifted, cube: Cube) -> ProofGoal:
    """Return the goal that no reachable state is in a cube; the initial states are not."""
    return ProofGoal(str(dict(cube)), {NO_STEP: cube_term(whole_model(lifted), cube, state_variables(lifted))})


def domain_goals(lifted: Lifted) -> Iterator[ProofGoal]:
    """Return for each instance that could leave its domain the goal that it does not."""
    for action in lifted.actions:
        bad = leaves_domain(lifted.terms, action)
        if bad is not lifted.terms.false:
            key = action.instance.key
            yield ProofGoal(f"the domains are closed under {key}", {NO_STEP: bad}, action=key)


# Queries.


class _Encoding:
    """What the queries about one model share: its state before a step, in Z3."""

    def __init__(self, lifted: Lifted) -> None:
        self.lifted, self.model, self.part = lifted, lifted.model, whole_model(lifted)
        self.now = state_variables(lifted)
        roots = [root for action in lifted.actions for root in action.roots]
        roots += [root for prop in lifted.properties for root in prop.roots]
        self.solver = Solver(Solver.width_for([*roots, *self.now]))
        leaves = [self.solver.expression(self.now[n]) for n in self.part.varying]
        bits = [z3.If(leaf, _BIT[1], _BIT[0]) if z3.is_bool(leaf) else leaf for leaf in leaves]
        concatenated = z3.Concat(*bits, _BIT[0]) if bits else _BIT[0]  # no action may change anything
        self._packed = z3.BitVec("packed", concatenated.size())
        self.base = [*self.solver.domain(), self._packed == concatenated]
        self._names = count()

    def literal(self) -> z3.BoolRef:
        """Return a new constant without any constraint."""
        return z3.Bool(f"p{next(self._names)}")

    def state(self, answer: z3.ModelRef) -> Vector:
        """Return the state of an answer.

        All leaves are read from Z3 as one number: reading each by itself takes longer than solving.
        """
        number, state = answer[self._packed].as_long() >> 1, list(self.model.initial[0])
        for n in reversed(self.part.varying):
            width = 1 if self.now[n].is_bool else self.solver.width
            part = number & ((1 << width) - 1)
            state[n] = part - (1 << width) if width > 1 and part >> (width - 1) else part
            number >>= width
        return tuple(state)

    def cube(self, cube: Cube, state: Sequence[Term]) -> Term:
        """Return the condition that a state given as terms is in a cube."""
        return cube_term(self.part, cube, state)


class _InstanceQueries:
    """The queries about one instance, or about states alone (None), and the lemmas that they have."""

    def __init__(self, encoding: _Encoding, action: LiftedAction | None, effort: SolverEffort) -> None:
        self.encoding, self.action, self.effort = encoding, action, effort
        self.after = encoding.now if action is None else state_after(action, encoding.now)
        self.writes = frozenset(n for n, term in enumerate(self.after) if term is not encoding.now[n])
        terms = encoding.lifted.terms
        taken = terms.true if action is None else can_be_taken(terms, action)
        self._reads = reads([taken])
        self.lemmas: dict[Cube, z3.BoolRef] = {}
        self._values: dict[tuple[int, int], z3.BoolRef] = {}
        self.search, self.alone = RestartedSolver("QF_FD"), RestartedSolver("QF_FD")
        """A solver with the lemmas, and one without, for reasons."""
        self.taken = encoding.literal()
        expression = encoding.solver.expression(taken)
        for solver in (self.search, self.alone):
            solver.add(*encoding.base, self.taken == expression)

    def add(self, lemma: Cube) -> None:
        """Exclude the states in this cube wherever the lemma is among those that are assumed."""
        if lemma not in self.lemmas:
            name = self.lemmas[lemma] = self.encoding.literal()
            inside = self.encoding.solver.expression(self.encoding.cube(lemma, self.encoding.now))
            self.search.add(z3.Or(z3.Not(name), z3.Not(inside)))

    def relevant(self, bad: Term) -> list[int]:
        """Return the leaves that decide whether the instance can be taken and leads to something bad."""
        found = self._reads | reads([bad])
        return [n for n in self.encoding.part.varying if n in found]

    def has_value(self, n: int, number: int) -> z3.BoolRef:
        """Return a literal that gives a leaf a number in the solver for reasons."""
        if (n, number) not in self._values:
            leaf, name = self.encoding.solver.expression(self.encoding.now[n]), self.encoding.literal()
            value = (leaf if number else z3.Not(leaf)) if z3.is_bool(leaf) else leaf == number
            self.alone.add(z3.Or(z3.Not(name), value))
            self._values[n, number] = name
        return self._values[n, number]


class _Query:
    """One query, repeated whenever there are more lemmas."""

    def __init__(self, queries: _InstanceQueries, bad: Term) -> None:
        self._queries, self._leaves = queries, queries.relevant(bad)
        self._bad, self._not_bad = queries.encoding.literal(), queries.encoding.literal()
        expression = queries.encoding.solver.expression(bad)
        queries.search.add(z3.Or(z3.Not(self._bad), expression))
        self._opposite: z3.BoolRef | None = z3.Not(z3.And(queries.taken, expression))

    def counterexample(self, lemmas: Collection[Cube]) -> Vector | None:
        """Return a state in which all of the lemmas that the queries have hold; None if there is none, see `used`."""
        queries = self._queries
        self._assumed = {cube: name for cube, name in queries.lemmas.items() if cube in lemmas}
        if not queries.effort.answer(queries.search, [queries.taken, self._bad, *self._assumed.values()]):
            return None
        return queries.encoding.state(queries.search.model())

    def used(self) -> frozenset[Cube]:
        """Return the lemmas that the last answer None needed."""
        core = {literal.get_id() for literal in self._queries.search.unsat_core()}
        return frozenset(cube for cube, name in self._assumed.items() if name.get_id() in core)

    def reason(self, state: Vector) -> list[int]:
        """Return the leaves whose numbers in this counterexample are enough to make it one."""
        queries = self._queries
        if self._opposite is not None:
            queries.alone.add(z3.Or(z3.Not(self._not_bad), self._opposite))
            self._opposite = None
        values = {n: queries.has_value(n, state[n]) for n in self._leaves}
        if queries.effort.answer(queries.alone, [self._not_bad, *values.values()]):
            raise AssertionError("Z3 contradicts itself: a step that it found does not lead where it led before.")
        core = {literal.get_id() for literal in queries.alone.unsat_core()}
        return [n for n, name in values.items() if name.get_id() in core]

    def close(self) -> None:
        """Retire the query."""
        self._queries.search.add(z3.Not(self._bad))
        if self._opposite is None:
            self._queries.alone.add(z3.Not(self._not_bad))


class StepQueries:
    """The queries about all instances of a model, which all proofs share."""

    def __init__(self, lifted: Lifted) -> None:
        self.lifted, self.encoding = lifted, _Encoding(lifted)
        possible = [action for action in lifted.actions if action.guard is not lifted.terms.false]
        self.actions = {action.instance.index: action for action in possible}
        self._queries: dict[int, _InstanceQueries] = {}

    def of(self, instance: int, effort: SolverEffort) -> _InstanceQueries:
        """Return the queries about an instance, which may cost so much."""
        if instance not in self._queries:
            self._queries[instance] = _InstanceQueries(self.encoding, self.actions.get(instance), effort)
        self._queries[instance].effort = effort
        return self._queries[instance]

    def cti(self, goal: ProofGoal, effort: SolverEffort) -> Cti | None:
        """Return a counterexample to the induction of a goal; None if it is inductive by itself.

        Raises:
            OutOfEffort: The effort is spent.
        """
        for instance, bad in goal.bad.items():
            query = _Query(self.of(instance, effort), bad)
            state = query.counterexample(())
            if state is not None:
                return Cti(Cube({n: (state[n], state[n]) for n in query.reason(state)}), instance)
            query.close()
        return None

    def step(self, instance: int, condition: Term, effort: SolverEffort) -> tuple[Vector, Vector] | None:
        """Return the states before and after a step of an instance from where a condition is true; None if none is.

        Raises:
            OutOfEffort: The effort is spent.
        """
        queries = self.of(instance, effort)
        query = _Query(queries, condition)
        before = query.counterexample(())
        if before is None:
            query.close()
            return None
        answer, after = queries.search.model(), list(before)
        for n in queries.writes:
            after[n] = number_in(answer, self.encoding.solver.expression(queries.after[n]))
        query.close()
        return before, tuple(after)


_BIT = (z3.BitVecVal(0, 1), z3.BitVecVal(1, 1))


# The graph.


@define(eq=False)
class Support:
    """The lemmas that keep each instance from breaking a goal or a lemma."""

    pending: list[int]
    """The instances that are still to be queried."""
    by_instance: dict[int, frozenset[Cube]] = field(factory=dict)

    def lemmas(self) -> frozenset[Cube]:
        """Return all of them."""
        return frozenset[Cube]().union(*self.by_instance.values())


class ProofGraph:
    """The lemmas of one model, which all of its goals share.

    Args:
        queries: The queries about the model.
        stepper: Takes the steps of walks from states that contradict a lemma.
        sample: Reachable states, the first examples; grows.
    """

    def __init__(self, queries: StepQueries, stepper: PackedStepper, sample: ReachableSample) -> None:
        self.queries, self.model, self.stepper, self.sample = queries, queries.lifted.model, stepper, sample
        self.examples = Examples(self.model, sample.vectors)
        self.effort = SolverEffort()
        self.lemmas: dict[Cube, Support] = {}
        self.wrong = 0
        """How many lemmas turned out to be wrong."""
        self._users: dict[Cube, list[tuple[Hashable, int]]] = {}
        self._goals: dict[str, tuple[ProofGoal, Support]] = {}
        self._chance = random.Random(0)

    def prove(self, goal: ProofGoal) -> frozenset[Cube] | GoalReached:
        """Return facts that are inductive together and exclude what is bad, or a behaviour that ends in it.

        Raises:
            OutOfEffort: `effort` is spent. The lemmas so far are not lost.
        """
        support = self._goals.setdefault(goal.name, (goal, Support(list(goal.bad))))[1]
        while True:
            while support.pending:
                instance = support.pending[-1]
                reachable = self._find_support(goal.name, support, instance, goal.bad[instance])
                if reachable is not None:
                    return self._reached(reachable, instance)
            needed = self._needed(support)
            pending = [lemma for lemma in needed if self.lemmas[lemma].pending]
            if not pending:
                return frozenset(needed)
            for lemma in reversed(pending):
                self._examine(lemma)

    def is_certificate(self, goal: ProofGoal, facts: Collection[Cube]) -> bool:
        """Return whether an independent check confirms that facts prove a goal; see `certificate.is_certificate`."""
        return is_certificate(self.queries.encoding.part, facts, goal.bad)

    def _reached(self, state: Vector, instance: int) -> GoalReached:
        start, instances = self.sample.path_to(self.stepper.pack(state))
        vector = tuple(self.stepper.unpack([start])[0].tolist())
        return GoalReached(vector, instances if instance == NO_STEP else (*instances, instance))

    def _needed(self, support: Support) -> list[Cube]:
        """Return the lemmas of a support, directly or not, in the order in which they are found."""
        found: dict[Cube, None] = {}
        stack = list(support.lemmas())
        while stack:
            lemma = stack.pop()
            if lemma not in found:
                found[lemma] = None
                stack += self.lemmas[lemma].lemmas()
        return list(found)

    def _examine(self, lemma: Cube) -> None:
        """Find the support of a lemma, for each instance that could break it; or drop it if it is wrong."""
        while lemma in self.lemmas and (support := self.lemmas[lemma]).pending:
            instance = support.pending[-1]
            queries = self._instance_queries(instance)
            queries.add(lemma)
            reachable = self._find_support(lemma, support, instance, self.queries.encoding.cube(lemma, queries.after))
            if reachable is not None:
                self._correct(reachable, instance)

    def _find_support(self, user: Hashable, support: Support, instance: int, bad: Term) -> Vector | None:
        """Find lemmas that exclude something bad before an instance, or return a reachable state that has it."""
        queries = self._instance_queries(instance)
        query = _Query(queries, bad)
        while (state := query.counterexample(self.lemmas.keys())) is not None:
            lemmas = [cube for cube in self.lemmas if cube not in queries.lemmas and cube.contains_state(state)]
            if not lemmas:
                reason = query.reason(state)
                example = self.examples.agreeing(state, reason)
                if example is not None:
                    query.close()
                    return example
                lemmas = [self._guess(state, reason)]
            for lemma in lemmas:
                queries.add(lemma)
        support.by_instance[instance] = query.used()
        support.pending.remove(instance)
        query.close()
        for lemma in support.by_instance[instance]:
            self._users.setdefault(lemma, []).append((user, instance))
        return None

    def _guess(self, state: Vector, reason: list[int]) -> Cube:
        """Add a new lemma that excludes a state, and return it."""
        lemma = self.examples.guess(state, reason)
        writers = [n for n in self.queries.actions if self._instance_queries(n).writes & lemma.keys()]
        self.lemmas[lemma] = Support(writers)
        return lemma

    def _instance_queries(self, instance: int) -> _InstanceQueries:
        return self.queries.of(instance, self.effort)

    # Wrong lemmas.

    def _correct(self, example: Vector, instance: int) -> None:
        """Drop the lemmas that are wrong about the state to which an instance leads, and about states after it."""
        before = self.stepper.pack(example)
        first = self.stepper.stepper.step(instance, before)
        if first is None:
            raise AssertionError("Z3 takes a step from a reachable state that machine code does not take.")
        found: Origins = {first: (before, instance)}
        for _ in range(WALKS):
            self._walk(first, found)
        new = self.sample.add(found, self.stepper)
        self.examples.add(new)
        new_examples = Examples(self.model, new)
        for lemma in [lemma for lemma in self.lemmas if new_examples.intersect(lemma)]:
            self._drop(lemma)

    def _walk(self, state: bytes, origins: Origins) -> None:
        """Walk from a state, and add all successors of the states on the walk."""
        for _ in range(WALK_LENGTH):
            following = self.stepper.steps(state)
            if not following:
                return
            for instance, after in following:
                origins.setdefault(after, (state, instance))
            state = self._chance.choice(following)[1]

    def _drop(self, lemma: Cube) -> None:
        """Drop a wrong lemma; the instances for which it was a support are queried again."""
        self.wrong += 1
        del self.lemmas[lemma]
        for user, instance in self._users.pop(lemma, ()):
            support = self.lemmas.get(user) if isinstance(user, Cube) else self._goals[str(user)][1]
            if support is not None and lemma in support.by_instance.get(instance, ()):
                del support.by_instance[instance]
                support.pending.append(instance)
