"""A run of random walks, in this process or by executors: its limits, its progress, and its verdict."""

from __future__ import annotations

import time
from collections.abc import Iterator

from attrs import define, field, frozen

from kwalk.model.language import DomainError, Kind, Model, PropertyInstance
from kwalk.search.base.options import StopReason
from kwalk.search.base.progress import Progress
from kwalk.search.kernel.compared import Compared
from kwalk.search.kernel.interface import Kernel
from kwalk.search.minimize.groups import FindingSample, Grouping, grouped
from kwalk.search.results.confirmation import Origin, confirmed_trace, domain_error
from kwalk.search.results.vacuity import listed
from kwalk.search.results.verdict import Answer, Finding, FindingGroup, Strength, Verdict
from kwalk.search.results.verdict_builder import VerdictBuilder, answer_to, error_notes, steps_by_action
from kwalk.search.simulation.chunks import (
    SimulationPlan,
    SlicedComparison,
    WalkCounts,
    next_generation,
    path_of,
    run_chunk,
)
from kwalk.search.simulation.hyperloglog import STANDARD_ERROR, distinct
from kwalk.search.simulation.options import SimulationOptions
from kwalk.search.simulation.swarm import RESTART_SHARE, Swarm
from kwalk.search.simulation.visit_samples import VisitRecords, WalkSampler


@define(eq=False)
class SimulationRun:
    """A run of random walks, and what its walks have counted so far."""

    model: Model
    kernel: Kernel
    options: SimulationOptions
    plan: SimulationPlan
    """With the plans of all generations of a swarm so far."""
    counts: WalkCounts
    seconds: float = 0.0
    """The wall time of the walks."""
    interrupted: bool = False
    next: int = 0
    """The number of the first walk that has not been started."""
    started: float = 0.0
    sliced_walks: int = 0
    """How many walks ran on bit-sliced code."""
    sampler: WalkSampler = field(init=False)
    _sliced: SlicedComparison = field(factory=SlicedComparison)

    def __attrs_post_init__(self) -> None:
        self.sampler = WalkSampler(self.model, self.plan)

    @staticmethod
    def of(model: Model, kernel: Kernel, options: SimulationOptions) -> SimulationRun:
        """Return a run without walks; the loops are compiled by then. UsageError for unknown names."""
        plan = options.plan(model, kernel)
        return SimulationRun(model, kernel, options, plan, run_chunk(kernel, plan, range(0)))

    @property
    def properties(self) -> tuple[PropertyInstance, ...]:
        """The properties that are checked."""
        return self.options.checked(self.model)

    @property
    def compared(self) -> Compared | None:
        """How much was compared with plain Python."""
        return self.sampler.compared if self.options.compare else None

    @property
    def needs_plan(self) -> bool:
        """Whether the next walk is the first one of a generation that is not planned."""
        return self.next == self.plan.last and self.next != self.options.limit

    def plan_generation(self) -> None:
        """Plan the next generation; all walks before it must have been counted."""
        self.plan = next_generation(self.kernel, self.plan, self.counts)

    def last_of(self, count: int) -> int:
        """Return where a range of `count` walks from the next one ends, within the run and the generation."""
        limits = (limit for limit in (self.options.limit, self.plan.last) if limit is not None)
        return min([self.next + count, *limits])

    @property
    def time_left(self) -> float | None:
        """Seconds of the budget that are left; None without a budget."""
        budget = self.options.seconds
        return None if budget is None else budget - (time.monotonic() - self.started)

    def add(self, counts: WalkCounts, records: VisitRecords | None = None, *, sliced: int = 0) -> bool:
        """Add the counts of the walks that come next; return whether the run continues.

        Some of their visits are compared with plain Python. `records` are those that were made where the walks ran;
        `sliced` of the walks ran on bit-sliced code. If the run's kernel has such code, some are run again one by one,
        since those visits are found by the kernel.
        """
        numbers = range(self.counts.walks, self.counts.walks + counts.walks)
        self.sliced_walks += sliced
        self.counts = (self.counts + counts).with_findings(self.options.minimize)
        if self.options.compare:
            self.sampler.collect(records or {})
            elapsed = time.monotonic() - self.started
            self.sampler.compare(elapsed, self.kernel, self.plan, self.counts.walks, counts)
            self._sliced.compare(self.kernel, self.plan, numbers)
        return not counts.stopped and counts.failed is None

    def progress(self, engine: str, note: str) -> Progress:
        """Return how far the run is."""
        options, done = self.options, self.counts.walks
        self.seconds = time.monotonic() - self.started
        left = None if options.seconds is None else max(0.0, options.seconds - self.seconds)
        if options.limit is not None and done:
            rest = (options.limit - done) * self.seconds / done
            left = rest if left is None else min(left, rest)
        return Progress(
            engine,
            self.counts.steps,
            "steps",
            self.seconds,
            left=left,
            note=f"{done:,} walks{note}",
            count_steps=lambda: steps_by_action(self.model, self.counts.taken),
        )


@frozen
class SimulationVerdict:
    """Makes the verdict of a run of walks that has ended."""

    run: SimulationRun

    def verdict(self) -> Verdict:
        """Return the verdict, with confirmed traces; DomainError if all that was found is an error of the model."""
        run, counts = self.run, self.run.counts
        findings, error = self._findings(), self._error()
        if error is not None and not (findings and isinstance(error, DomainError)):
            raise error
        groups, notes = self._groups()
        builder = VerdictBuilder(run.model, run.properties, "walk", run.options.command)
        of_instances, left_out = (counts.enabled, counts.taken, counts.changed), self._left_out()
        return builder.verdict(
            self._answer(findings),
            Strength.SAMPLED,
            stopped=StopReason.INTERRUPT if run.interrupted else None,
            steps=counts.steps,
            walks=counts.walks,
            seconds=run.seconds,
            seed=run.plan.seed,
            bounds_hit=builder.bounds_hit(run.kernel.bounds, counts.bound_hits),
            action_counts=builder.action_counts(*of_instances, left_out),
            premises={prop.key: int(counts.premises[prop.index]) for prop in run.properties},
            findings=tuple(finding for _, finding in findings),
            notes=(*error_notes(error), *self._notes(), *notes),
            groups=groups,
            left_out=left_out,
            compared=run.compared,
            sliced_walks=run.sliced_walks,
            estimated_states=round(distinct(counts.sketch)) if len(counts.sketch) else None,
        )

    def _error(self) -> Exception | None:
        """Return the error of the model that ended a walk, if one did."""
        run, failed = self.run, self.run.counts.failed
        if failed is None:
            return None
        return domain_error(run.model, run.kernel, path_of(run.kernel, run.plan, failed), self._origin(failed))

    def _origin(self, number: int) -> Origin:
        return Origin(f"walk {number}", seed=self.run.plan.seed, command=self.run.options.command)

    def _findings(self) -> list[tuple[PropertyInstance | None, Finding]]:
        """Return what was violated, in the order of the first violations."""
        counts = self.run.counts
        numbered: list[tuple[int, PropertyInstance | None]] = [
            (prop.index, prop) for prop in self.run.properties if prop.kind is not Kind.REACHABLE
        ]
        numbered.append((self.run.kernel.properties, None))
        met = [(number, prop) for number, prop in numbered if counts.first_walk[number] >= 0]
        met.sort(key=lambda pair: (counts.first_walk[pair[0]], counts.first_step[pair[0]], pair[0]))
        return [(prop, self._finding(number, prop)) for number, prop in met]

    def _finding(self, number: int, prop: PropertyInstance | None) -> Finding:
        run, counts = self.run, self.run.counts
        first = int(counts.first_walk[number])
        path = path_of(run.kernel, run.plan, first, int(counts.first_step[number]))
        trace = confirmed_trace(run.model, run.kernel, path, prop=prop, origin=self._origin(first))
        return VerdictBuilder.finding(prop, int(counts.property_hits[number]), trace)

    def _groups(self) -> tuple[tuple[FindingGroup, ...], tuple[str, ...]]:
        """Return the collected findings by shape, and notes on them."""
        run, collected = self.run, self.run.counts.findings
        if not len(collected):
            return (), ()
        samples = (self._sample(*row) for row in collected.tolist())
        grouping, report = Grouping(run.model, run.kernel), run.options.report
        groups, notes = grouped(grouping, samples, len(collected), report, interrupted=run.interrupted)
        bad = [prop.index for prop in run.properties if prop.kind is not Kind.REACHABLE]
        met = int(run.counts.property_hits[[*bad, run.kernel.properties]].sum())
        return groups, (f"{met:,} findings in {run.counts.walks:,} walks.", *notes)

    def _sample(self, number: int, steps: int, index: int) -> FindingSample:
        path = path_of(self.run.kernel, self.run.plan, number, steps)
        prop = index if index < self.run.kernel.properties else None
        return FindingSample(prop, path.states[0].tobytes(), path.instances, self._origin(number), number)

    def _answer(self, findings: list[tuple[PropertyInstance | None, Finding]]) -> Answer:
        if not findings:
            sampled = self.run.counts.walks > 0 and not self.run.interrupted
            return Answer.HOLDS if sampled else Answer.UNDECIDED
        return answer_to(findings[0][0])

    def _left_out(self) -> tuple[str, ...]:
        allowed = self.run.plan.allowed
        return () if allowed is None else tuple(i.key for i in self.run.model.instances if i.index not in allowed)

    def _notes(self) -> Iterator[str]:
        counts, wanted = self.run.counts, self.run.options.limit
        if wanted is not None and counts.walks < wanted and not counts.stopped:
            yield f"Stopped after {counts.walks:,} of {wanted:,} walks."
        if counts.dead_ends:
            yield f"{counts.dead_ends:,} of {counts.walks:,} walks ended in a dead end."
        yield from self._choice_notes()
        for prop in self.run.properties:
            if prop.kind is Kind.REACHABLE:
                times = int(counts.property_hits[prop.index])
                yield f"{prop.key} was reached in {times:,} walks." if times else f"No walk reached {prop.key}."

    def _choice_notes(self) -> Iterator[str]:
        """Yield notes on how walks chose their steps."""
        model, plan, counts = self.run.model, self.run.plan, self.run.counts
        if plan.allowed is not None:
            total, names = len(model.instances), listed(_names_left_out(model, plan.allowed))
            yield f"Walks could not take {total - len(plan.allowed):,} of {total:,} action instances: {names}."
        if counts.cuts:
            yield f"{counts.cuts:,} of {counts.walks:,} walks were cut where no other action instance was enabled."
        if plan.swarm is not None:
            yield from _swarm_notes(plan.swarm)
        if len(counts.sketch):
            yield f"The distinct states are estimated, with a standard error of {100 * STANDARD_ERROR:.1f} %."


def _names_left_out(model: Model, allowed: tuple[int, ...]) -> list[str]:
    """Return the actions of which no instance may be taken, and the keys of other instances that may not."""
    partly = {model.instances[number].action.name for number in allowed}
    numbers = frozenset(allowed)
    left_out = (instance for instance in model.instances if instance.index not in numbers)
    return list(dict.fromkeys(i.key if i.action.name in partly else i.action.name for i in left_out))


def _swarm_notes(swarm: Swarm) -> Iterator[str]:
    last, number = swarm.generations[-1], len(swarm.generations)
    yield f"A swarm of {number} generation{'s' * (number != 1)}: each walk draws its own preferences."
    if last.favoured:
        yield f"The last generation favoured, rarest first: {listed(last.favoured)}."
    if last.restarts:
        steps = sorted(len(restart.track) for restart in last.restarts)
        yield (
            f"{100 * RESTART_SHARE:.0f} % of its walks began at one of {len(steps)} rarely visited states, "
            f"{steps[0]} to {steps[-1]} steps from an initial one."
        )
