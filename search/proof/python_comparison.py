"""Comparison of proofs with plain Python: what Z3 is given, and what it concludes.

Words: the *hypothesis* of a proof is that the property and its supporting facts are true in a state. Three kinds of
states are compared: those on random behaviours of plain Python, random states of the domains that satisfy a hypothesis,
and states in which Z3 finds that hypothesis true. In each, plain Python is compared with the lifted terms and
with Z3's expressions (of a large model with a part of them), and each of its successors must satisfy what was proved.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator

from attrs import evolve, frozen

from kwalk.model.language import ActionInstance, Kind, PropertyInstance, Vector
from kwalk.model.language.lift import Lifted, LiftedAction, LiftedProperty, Term, in_order
from kwalk.search.kernel.compared import Compared
from kwalk.search.kernel.differential import EngineResult, TermExecution, Z3Execution
from kwalk.search.kernel.interpreter import Visit, VisitCache
from kwalk.search.kernel.python_comparison import (
    StepOrText,
    Truth,
    changes,
    disagreement,
    plain_step,
    plain_truth,
    step_text,
    step_truth,
    truth_text,
)
from kwalk.search.kernel.sampling import LEAST_WORK, SHARE
from kwalk.search.proof.certificate import cube_term
from kwalk.search.proof.cubes import Cube, fact_text
from kwalk.search.proof.effort import OutOfEffort, SolverEffort
from kwalk.search.proof.proof_graph import StepQueries
from kwalk.search.solver.terms import bad_state, has_number, state_variables

MOST_STATES = 400
"""States that are drawn for one attempt, at most."""
WALK_LENGTH = 40
DRAWS = 200
"""Random states that are drawn to find one that satisfies a hypothesis."""
HYPOTHESIS_QUESTIONS = 24
"""Queries to Z3 for states of one hypothesis."""
LEAST_Z3_SECONDS = 0.5
"""CPU seconds for these queries, at least."""
Z3_TERMS = 1_000
"""Terms whose Z3 expressions are evaluated."""
Z3_STRIDE = 4
"""Z3 expressions are evaluated in each state whose number leaves 1 when it is divided by this."""
VISITS = 100
FIXED_LEAVES = 3
"""Leaves to which a query gives random numbers, so that Z3 finds various states."""


@frozen(eq=False)
class ProvedProperty:
    """A property with the facts that support it; `k` steps of the proof look back, 0 if no induction was used."""

    lifted: LiftedProperty
    facts: tuple[Cube, ...] = ()
    k: int = 1
    leaves: tuple[int, ...] = ()
    """The leaves of the slice that was proved. The last k states differ from each other in these."""

    def projected(self, state: Vector) -> Vector:
        """Return a state without the leaves outside of the slice."""
        return tuple(state[leaf] for leaf in self.leaves)


class ProofComparison:
    """Compares one attempt with plain Python.

    Args:
        queries: The queries about the model.
        proved: What was proved by induction.
        refuted: By the number of a property, how many depths have no violation of it.
        longest: The length of the longest behaviour; None if that is not known.
    """

    def __init__(
        self,
        queries: StepQueries,
        proved: list[ProvedProperty],
        refuted: dict[int, float],
        longest: int | None = None,
    ) -> None:
        self.queries, self.lifted, self.model = queries, queries.lifted, queries.lifted.model
        self.proved, self.refuted, self.longest = proved, refuted, longest
        self.compared, self.seconds = Compared(), 0.0
        self._chance, self._visits = random.Random(0), VisitCache(self.model, VISITS)
        part = _part_for_z3(self.lifted, self._chance)
        self._executions: list[tuple[TermExecution, set[str]]] = [
            (TermExecution(self.lifted), _keys(self.lifted)),
            (Z3Execution(part), _keys(part)),
        ]
        self._seen: set[Vector] = set()
        self._deadline = 0.0

    def run(self, elapsed: float) -> None:
        """Compare states in turn from each source, within a share of the `elapsed` seconds of the attempt.

        Raises:
            EngineDisagreement: Plain Python has another result.
        """
        self._deadline = time.process_time() + max(LEAST_Z3_SECONDS, SHARE * elapsed)
        sources = [self._behaviours(), *map(self._states_of_z3, self.proved), self._random_states()]
        work_of_state = len(self.model.instances) + len(self.model.properties)
        for drawn in range(MOST_STATES):
            if not sources or (drawn * work_of_state >= LEAST_WORK and self.seconds >= SHARE * elapsed):
                return
            began = time.thread_time()
            source = sources.pop(0)
            state = next(source, None)
            if state is not None:
                sources.append(source)
                self._compare(state)
            self.seconds += time.thread_time() - began

    # Where states come from.

    def _behaviours(self) -> Iterator[Vector]:
        """Yield the states of random behaviours, where nothing may fail that is refuted; at most MOST_STATES."""
        for _ in range(MOST_STATES // WALK_LENGTH):
            state = self._chance.choice(self.model.initial)
            for depth in range(WALK_LENGTH):
                visit = self._visits.at(state)
                self._check_depth(visit, depth)
                yield state
                taken = sorted(_successors(visit))
                if not taken:
                    break
                instance = self.model.instances[self._chance.choice(taken)]
                self._check_step_properties(visit, instance, depth + 1)
                state = visit.after(instance) or state

    def _check_depth(self, visit: Visit, depth: int) -> None:
        """Check that a state after `depth` steps violates nothing that is refuted, and may be so far away."""
        if self.longest is not None and depth > self.longest:
            text = f"Z3 finds that every behaviour ends within {self.longest} steps, and one has {depth}, which ends"
            raise disagreement(self.model, visit.vector, text)
        for lifted in self.lifted.properties:
            if depth < self.refuted.get(lifted.prop.index, 0) and self._broken(ProvedProperty(lifted), visit):
                self._fail_refuted(visit, lifted.prop, depth)

    def _check_step_properties(self, visit: Visit, instance: ActionInstance, depth: int) -> None:
        for lifted in self.lifted.properties:
            is_refuted = lifted.prop.kind is Kind.STEP and depth < self.refuted.get(lifted.prop.index, 0)
            if is_refuted and step_truth(visit, lifted.prop, instance) in (False, "error"):
                self._fail_refuted(visit, lifted.prop, depth)

    def _fail_refuted(self, visit: Visit, prop: PropertyInstance, depth: int) -> None:
        text = f"Z3 refutes violations of {prop.key} within {self.refuted[prop.index] - 1} steps"
        raise disagreement(self.model, visit.vector, text, (f"violated after {depth} steps", "not violated"), what="Z3")

    def _random_states(self) -> Iterator[Vector]:
        """Yield random states of the domains that satisfy some hypothesis, or any if nothing was proved."""
        while True:
            for _ in range(DRAWS):
                drawn = [self._chance.randint(leaf.low, leaf.high) for leaf in self.model.leaves]
                state = self.model.canonical(drawn)
                if not self.proved or any(self._satisfies(proof, state) for proof in self.proved):
                    yield state
                    break
            else:
                return

    def _states_of_z3(self, proof: ProvedProperty) -> Iterator[Vector]:
        """Yield states in which Z3 finds the hypothesis true; its steps from there are compared."""
        t, now = self.lifted.terms, state_variables(self.lifted)
        effort = SolverEffort(HYPOTHESIS_QUESTIONS, cpu_deadline=self._deadline)
        false = [cube_term(self.queries.encoding.part, cube, now) for cube in proof.facts]
        if proof.lifted.prop.kind is not Kind.STEP:
            false.append(bad_state(self.lifted, proof.lifted))
        hypothesis = t.conjunction(map(t.negation, false))
        instances = list(self.queries.actions)
        try:
            while instances:
                instance = self._chance.choice(instances)
                fixed = t.conjunction((hypothesis, *self._fixed(now)))
                step = self.queries.step(instance, fixed, effort) or self.queries.step(instance, hypothesis, effort)
                if step is None:
                    instances.remove(instance)
                elif self.model.canonical(step[0]) == step[0]:
                    self._check_step_of_z3(proof, instance, *step)
                    yield step[0]
        except OutOfEffort:
            return

    def _fixed(self, now: list[Term]) -> Iterator[Term]:
        """Yield the condition that some random leaves have random numbers."""
        varying = self.queries.encoding.part.varying
        for n in self._chance.sample(varying, min(FIXED_LEAVES, len(varying))):
            number = self._chance.randint(self.model.leaves[n].low, self.model.leaves[n].high)
            yield has_number(self.lifted.terms, now[n], number)

    def _check_step_of_z3(self, proof: ProvedProperty, instance: int, before: Vector, after: Vector) -> None:
        """Check a step that Z3 found: the hypothesis is true before it, and plain Python takes it."""
        if not self._satisfies(proof, before):
            text = f"Z3 and plain Python disagree on whether the hypothesis of {proof.lifted.prop.key} is true"
            raise disagreement(self.model, before, text, ("false", "true"), what="Z3")
        visit = self._visits.at(before)
        self._compare_step(visit, self.model.instances[instance].key, plain_step(visit, instance), after, "Z3")

    # What is compared.

    def _satisfies(self, proof: ProvedProperty, state: Vector) -> bool:
        """Return whether the hypothesis is true in plain Python."""
        return self._broken(proof, self._visits.at(state)) is None

    def _broken(self, proof: ProvedProperty, visit: Visit) -> str | None:
        """Return what of a hypothesis is false in plain Python: a fact, or the property; None if nothing is."""
        for cube in proof.facts:
            if cube.contains_state(visit.vector):
                return fact_text(self.model, cube)
        prop = proof.lifted.prop
        if prop.kind is Kind.STEP:
            return None
        truth = plain_truth(visit, prop)
        if prop.kind is Kind.REACHABLE:
            return prop.key if truth is True else None
        fails = truth is False or truth == "error"
        if fails and prop.kind is Kind.WHEN_QUIESCENT:
            fails = all(plain_step(visit, i.index) == "disabled" for i in self.model.instances if i.action.by.system)
        return prop.key if fails else None

    def _compare(self, state: Vector) -> None:
        """Compare a state: the terms, and that its successors satisfy what was proved. A state is compared once."""
        if state in self._seen:
            return
        self._seen.add(state)
        visit = self._visits.at(state)
        successors = self._compare_steps(visit)
        evaluated = self._compare_properties(visit)
        for proof in self.proved:
            if proof.k and self._broken(proof, visit) is None:
                self._check_induction(proof, visit, successors)
        self.compared += Compared(1, len(successors), evaluated)

    def _compare_steps(self, visit: Visit) -> dict[int, Vector]:
        """Compare every action instance with its terms; return the successors in plain Python, by instance."""
        successors: dict[int, Vector] = {}
        for action in self.lifted.actions:
            plain, key = plain_step(visit, action.instance.index), action.instance.key
            if isinstance(plain, tuple):
                successors[action.instance.index] = plain
            for execution in self._executions_of(key):
                self._compare_step(visit, key, plain, execution.action(action, visit.vector), execution.name)
        return successors

    def _executions_of(self, key: str) -> list[TermExecution]:
        """Return what is compared for an action or property in the present state; Z3 takes longest."""
        executions = self._executions if len(self._seen) % Z3_STRIDE == 1 else self._executions[:1]
        return [execution for execution, keys in executions if key in keys]

    def _compare_step(self, visit: Visit, key: str, plain: StepOrText, other: EngineResult, what: str) -> None:
        if other == plain:
            return
        says, others = step_text(plain), str(other)
        if isinstance(other, tuple):
            others = step_text(other)
            if isinstance(plain, tuple):
                says, others = changes(self.model, plain, other), changes(self.model, other, plain)
        raise disagreement(
            self.model, visit.vector, f"Plain Python and {what} disagree on {key}", (says, others), what=what
        )

    def _compare_properties(self, visit: Visit) -> int:
        """Compare every property with its terms, step properties on each step; return the number of evaluations."""
        evaluated = 0
        for prop in self.lifted.properties:
            if prop.prop.kind is Kind.STEP:
                pairs: list[tuple[Truth, Vector, Vector | None]] = [
                    (step_truth(visit, prop.prop, self.model.instances[number]), after, visit.vector)
                    for number, after in _successors(visit).items()
                ]
            else:
                pairs = [(plain_truth(visit, prop.prop), visit.vector, None)]
            for plain, state, before in pairs:
                evaluated += 1
                for execution in self._executions_of(prop.prop.key):
                    other = execution.prop(prop, state, before)
                    if other != plain:
                        name, says = execution.name, (truth_text(plain), str(other))
                        text = f"Plain Python and {name} disagree on {prop.prop.key}"
                        raise disagreement(self.model, state, text, says, what=name)
        return evaluated

    def _check_induction(self, proof: ProvedProperty, visit: Visit, successors: dict[int, Vector]) -> None:
        """Check that no step breaks a hypothesis that was true in the last k states, which differ in the slice."""
        path = self._random_path(proof, visit) if proof.k > 1 else [visit]
        if path is None:
            return
        prop, last = proof.lifted.prop, path[-1]
        passed = {proof.projected(each.vector) for each in path}
        for number, after in (successors if len(path) == 1 else _successors(last)).items():
            instance = self.model.instances[number]
            broken = None
            if proof.k == 1 or proof.projected(after) not in passed:
                broken = self._broken(proof, self._visits.at(after))
            if prop.kind is Kind.STEP and broken is None and step_truth(last, prop, instance) in (False, "error"):
                broken = prop.key
            if broken is not None:
                text = f"The proof of {prop.key} needs that {instance.key} keeps its hypothesis: {broken} becomes false"
                raise disagreement(self.model, last.vector, text, ("not inductive", "inductive"), what="Z3")

    def _random_path(self, proof: ProvedProperty, visit: Visit) -> list[Visit] | None:
        """Return a path of k states from here that satisfy a hypothesis and differ in the slice; None if there is none.

        One random path is tried.

        Step properties look at steps, too; a path for these is not searched for.
        """
        path = [visit]
        while len(path) < proof.k and proof.lifted.prop.kind is not Kind.STEP:
            passed = {proof.projected(each.vector) for each in path}
            following = sorted(s for s in set(_successors(path[-1]).values()) if proof.projected(s) not in passed)
            if not following:
                return None
            path.append(self._visits.at(self._chance.choice(following)))
            if self._broken(proof, path[-1]) is not None:
                return None
        return path if len(path) == proof.k else None


def _successors(visit: Visit) -> dict[int, Vector]:
    """Return the states after each enabled instance in plain Python, by its number."""
    results = ((i.index, plain_step(visit, i.index)) for i in visit.model.instances)
    return {number: result for number, result in results if isinstance(result, tuple)}


def _keys(lifted: Lifted) -> set[str]:
    return {*(a.instance.key for a in lifted.actions), *(p.prop.key for p in lifted.properties)}


def _part_for_z3(lifted: Lifted, chance: random.Random) -> Lifted:
    """Return random actions and properties of a model that together have few enough terms, at least one."""
    things: list[LiftedAction | LiftedProperty] = [*lifted.actions, *lifted.properties]
    chance.shuffle(things)
    seen: set[int] = set()
    actions: list[LiftedAction] = []
    properties: list[LiftedProperty] = []
    for thing in things:
        seen.update(term.id for term in in_order(thing.roots))
        if len(seen) > Z3_TERMS and (actions or properties):
            break
        if isinstance(thing, LiftedAction):
            actions.append(thing)
        else:
            properties.append(thing)
    return evolve(lifted, actions=tuple(actions), properties=tuple(properties))
