"""What attempts on several claims share: slices, sampled states, steps in Z3, and facts that were found on the way."""
from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cached_property

from attrs import define, field

from model.language import Kind, Model
from model.language.lift import Lifted, LiftedClaim, in_order
from search.prove.certificate import needed_facts, supports
from search.prove.cubes import Cube, Rows
from search.prove.frames import Aim, Frames, Proved, Reached
from search.prove.lemmas import Confirmation, Goal, Met, ProofGraph, of_claim
from search.prove.sampling import Sample, Stepping, sample
from search.prove.slicing import Slice, slice_of
from search.prove.step import Effort, OutOfEffort, Step
from search.prove.support import Fixpoint, never_seen, never_together

TEMPLATE_QUESTIONS = 400
"""So many questions to Z3 may be spent on facts from the template, for each slice."""
QUESTIONS = 20_000
"""So many may be spent on facts for one claim."""
GRAPH_SECONDS = 60.0
"""CPU time that may be spent on lemmas for one claim, or for all domains, where no time budget is given."""
LARGE = 1_000
"""Models with more terms than this are left to proof graphs: one question about a step as a whole takes too long."""
MINIMIZING = 3_000
"""So many may be spent on leaving out the facts that a proof does not need."""


@define(eq=False, slots=False)
class Bench:
    """One slice: the step in Z3, the sampled states as it sees them, and its facts."""

    part: Slice
    step: Step
    sampled: Callable[[], Sample]
    facts: list[Cube] | None = None

    @cached_property
    def rows(self) -> Rows:
        """The sampled states."""
        return self.sampled().rows(self.part)


@define(eq=False, slots=False)
class Workshop:
    """The benches of a model, one for each slice, made when they are asked for."""

    model: Model
    lifted: Lifted
    deadline: float | None = None
    told: Callable[[int], None] | None = None
    """Is called with the number of questions that were asked for one thing."""
    _benches: dict[object, Bench] = field(factory=dict)

    @cached_property
    def stepping(self) -> Stepping:
        """The model's steps by its kernel."""
        return Stepping(self.model)

    @cached_property
    def sample(self) -> Sample:
        """Reachable states."""
        return sample(self.stepping)

    @cached_property
    def is_large(self) -> bool:
        """Whether it is left to proof graphs."""
        terms = in_order([root for action in self.lifted.actions for root in action.roots])
        return sum(1 for _ in terms) > LARGE

    @cached_property
    def graph(self) -> ProofGraph:
        """The lemmas of the model as a whole."""
        return ProofGraph(self.lifted, self.stepping, self.sample)

    def part(self, claims: Sequence[LiftedClaim]) -> Slice:
        """The slice of some claims."""
        return slice_of(self.lifted, claims)

    def bench(self, claim: LiftedClaim) -> Bench:
        """The bench of a claim's slice; claims with the same slice share it."""
        part = self.part([claim])
        quiet = claim.claim.kind is Kind.WHEN_QUIET
        key = (part.leaves, part.idle, quiet)
        if key not in self._benches:
            safe = [other for other in self.lifted.claims if other.claim.kind is not Kind.EVENTUALLY]
            alike = [other for other in safe if (other.claim.kind is Kind.WHEN_QUIET) == quiet]
            same = [other for other in alike if other is claim or self._key(other) == key[:2]]
            part = slice_of(self.lifted, same)
            self._benches[key] = Bench(part, Step(part), lambda: self.sample)
        return self._benches[key]

    def _key(self, claim: LiftedClaim) -> tuple[object, ...]:
        part = self.part([claim])
        return part.leaves, part.idle

    def effort(self, bench: Bench, questions: int) -> None:
        """Let a bench spend so many questions from now on."""
        bench.step.effort = Effort(questions, self.deadline, told=self.told)

    def template_facts(self, bench: Bench) -> list[Cube]:
        """The inductive facts of one and two leaves, as far as the effort suffices to find them."""
        if bench.facts is None:
            bench.facts = []
            for template in (never_seen, never_together):
                self.effort(bench, TEMPLATE_QUESTIONS)
                found = Fixpoint(bench.step, template(bench.step, bench.rows), self.stepping, bench.facts)
                with suppress(OutOfEffort):
                    bench.facts = [*bench.facts, *found.run()]
        return bench.facts

    def support(self, claim: LiftedClaim) -> Supported | Reached | Met | Unsupported:
        """Facts that support the claim, a behaviour that violates it, or why neither was found."""
        if claim.claim.kind is Kind.REACHABLE or not self.is_large:
            return self._by_frames(claim)
        return self.facts_for(of_claim(self.lifted, claim), self.lemma_effort())

    def _by_frames(self, claim: LiftedClaim) -> Supported | Reached | Unsupported:
        """Facts from the template, then by property-directed reachability, about the claim's slice."""
        bench = self.bench(claim)
        background = self.template_facts(bench)
        self.effort(bench, QUESTIONS)
        frames = Frames(bench.step, Aim.of_claim(bench.step, claim.claim.index), bench.rows, background)
        try:
            outcome = frames.run()
        except OutOfEffort as end:
            return Unsupported(str(end), frames.refuted)
        if isinstance(outcome, Reached):
            return outcome
        return self._certified(bench, claim, outcome)

    def lemma_effort(self) -> Effort:
        """What may be spent on lemmas from now on."""
        limit = time.process_time() + GRAPH_SECONDS if self.deadline is None else None
        return Effort(deadline=self.deadline, cpu_deadline=limit, told=self.told)

    def facts_for(self, goal: Goal, effort: Effort) -> Supported | Met | Unsupported:
        """The same by a proof graph, instance by instance, for a claim or another goal that holds initially."""
        self.graph.effort = effort
        try:
            outcome = self.graph.prove(goal)
        except OutOfEffort as end:
            return Unsupported(f"{end} ({len(self.graph.lemmas):,} lemmas, {self.graph.wrong:,} were wrong)", 0)
        if isinstance(outcome, Met):
            return outcome
        try:
            if not Confirmation(self.lifted, outcome).stands(goal):
                raise AssertionError(f"{goal.name}: a proof does not stand when it is checked again.")
        except TimeoutError as end:
            return Unsupported(f"a proof was found, and Z3 could not check it again ({end})", 0)
        return Supported(tuple(sorted(outcome, key=lambda cube: (len(cube), tuple(cube.items())))))

    def _certified(self, bench: Bench, claim: LiftedClaim, proof: Proved) -> Supported | Unsupported:
        self.effort(bench, MINIMIZING)
        facts = needed_facts(bench.step, claim.claim.index, proof.facts)
        try:
            if not supports(bench.part, claim, facts):
                raise AssertionError(f"{claim.claim.key}: a proof does not stand when it is checked again.")
        except TimeoutError as end:
            return Unsupported(f"a proof was found, and Z3 could not check it again ({end})", 0)
        return Supported(tuple(facts))


@define
class Supported:
    """The facts that a claim needs to be inductive; checked."""

    facts: tuple[Cube, ...]


@define
class Unsupported:
    """Why no facts were found, and how many depths are free of violations all the same."""

    reason: str
    refuted: int
