"""What the proofs of several properties share: slices, sampled states, queries, and facts found so far."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import cached_property

from attrs import define, field, frozen

from kwalk.model.language import Model
from kwalk.model.language.lift import Lifted, LiftedProperty, in_order
from kwalk.search.proof.clause_solver import SolverMissing
from kwalk.search.proof.cubes import Cube
from kwalk.search.proof.effort import OutOfEffort, SolverEffort
from kwalk.search.proof.proof_graph import GoalReached, ProofGoal, ProofGraph, StepQueries, property_goal
from kwalk.search.proof.sampling import PackedStepper, ReachableSample, sample_states
from kwalk.search.proof.slicing import Slice, slice_of

GRAPH_CPU_SECONDS = 60.0
"""CPU time for the lemmas of one property, or of all domains, if there is no time budget."""
LARGE_MODEL_TERMS = 1_000
"""A model with more terms is walked before it is unrolled: its depths may take too long."""


@frozen
class Supported:
    """The facts that a property needs to be inductive; an independent check has confirmed them."""

    facts: tuple[Cube, ...]


@frozen
class Unsupported:
    """Why no facts were found."""

    reason: str


@define(eq=False, slots=False)
class ProofContext:
    """The slices of a model, and what they share; each part is made when it is used first.

    Args:
        model: The model.
        lifted: The model as terms.
        deadline: A time of `time.monotonic`; None: no limit. May be changed between two proofs.
        on_query: Called with the number of queries for the current goal before each.
    """

    model: Model
    lifted: Lifted
    deadline: float | None = None
    on_query: Callable[[int], None] | None = None
    _goals: dict[int, ProofGoal] = field(factory=dict)

    @cached_property
    def stepper(self) -> PackedStepper:
        """The steps of the model's kernel."""
        return PackedStepper(self.model)

    @cached_property
    def sample(self) -> ReachableSample:
        """Reachable states."""
        return sample_states(self.stepper)

    @cached_property
    def is_large(self) -> bool:
        """Whether the model is walked before it is unrolled."""
        terms = in_order([root for action in self.lifted.actions for root in action.roots])
        return sum(1 for _ in terms) > LARGE_MODEL_TERMS

    @cached_property
    def queries(self) -> StepQueries:
        """The queries about each instance."""
        return StepQueries(self.lifted)

    @cached_property
    def graph(self) -> ProofGraph:
        """The proof graph of the whole model."""
        return ProofGraph(self.queries, self.stepper, self.sample)

    def part(self, properties: Sequence[LiftedProperty]) -> Slice:
        """Return the slice of some properties."""
        return slice_of(self.lifted, properties)

    def goal(self, prop: LiftedProperty) -> ProofGoal:
        """Return the goal that nothing violates a property."""
        if prop.prop.index not in self._goals:
            self._goals[prop.prop.index] = property_goal(self.lifted, prop)
        return self._goals[prop.prop.index]

    def support(self, prop: LiftedProperty) -> Supported | GoalReached | Unsupported:
        """Return facts that support a property, a behaviour that violates it, or the reason why neither was found."""
        return self.graph_facts(self.goal(prop), self.graph_effort())

    def graph_effort(self) -> SolverEffort:
        """Return the effort for a goal of the proof graph, from now on."""
        limit = time.process_time() + GRAPH_CPU_SECONDS if self.deadline is None else None
        return SolverEffort(deadline=self.deadline, cpu_deadline=limit, on_query=self.on_query)

    def graph_facts(self, goal: ProofGoal, effort: SolverEffort) -> Supported | GoalReached | Unsupported:
        """Return the facts that prove a goal of the proof graph; the goal must hold initially."""
        self.graph.effort = effort
        try:
            outcome = self.graph.prove(goal)
        except OutOfEffort as end:
            return Unsupported(f"{end} ({len(self.graph.lemmas):,} lemmas, {self.graph.wrong:,} were wrong)")
        if isinstance(outcome, GoalReached):
            return outcome
        facts = sorted(outcome, key=lambda cube: (len(cube), tuple(cube.items())))
        return _checked(goal.name, facts, lambda: self.graph.is_certificate(goal, outcome))


def _checked(name: str, facts: Sequence[Cube], check: Callable[[], bool]) -> Supported | Unsupported:
    """Return the facts if an independent check confirms them."""
    try:
        if not check():
            raise AssertionError(f"{name}: the independent check refutes a proof.")
    except (TimeoutError, SolverMissing) as end:
        return Unsupported(f"a proof was found, and it could not be checked again ({end})")
    return Supported(tuple(facts))
