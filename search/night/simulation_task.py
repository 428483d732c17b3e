"""One task of random walks: its rounds, each saved when it is done, and its verdict.

Words: walks are cut into blocks and generations by the configuration alone. A *generation* is a number of blocks that
are walked by the same plan, twice as many as all before it. A *round* ends where a generation ends, at the latest; its
length depends on the speed of the machines, and no finding depends on it. The *totals* of a task are the counts of all
of its rounds, its *groups* the minimized findings. Both are computed from what the folder holds.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from statistics import median
from typing import Any

from attrs import evolve, frozen

from kwalk.model.language import DomainError, Kind, PropertyInstance
from kwalk.search.base.options import StopReason
from kwalk.search.examination.examination import examined
from kwalk.search.executors.chunks import Chunk
from kwalk.search.executors.work import MinimizationChoice, Round
from kwalk.search.kernel.interface import Kernel
from kwalk.search.minimize.groups import FindingGroups, finding_groups, merge
from kwalk.search.night.folder import RunFolder
from kwalk.search.night.plan import NightlyTask
from kwalk.search.night.rows import (
    GroupReader,
    TaskTotals,
    action_rows,
    chunk_rows,
    coverage_rows,
    row_of_run,
    rows_of_groups,
    unpack_totals,
)
from kwalk.search.night.tables import FindingRow, RunRow, TaskRecord
from kwalk.search.results.fairness import safety_properties, without_liveness
from kwalk.search.results.vacuity import listed, vacuity_notes
from kwalk.search.results.verdict import DEADLOCK, Answer, Finding, FindingGroup, Strength, Verdict
from kwalk.search.results.verdict_builder import VerdictBuilder
from kwalk.search.simulation.chunks import WalkCounts, next_generation, run_chunk
from kwalk.search.simulation.hyperloglog import STANDARD_ERROR, distinct
from kwalk.search.simulation.options import SimulationOptions
from kwalk.search.simulation.run import SimulationRun, SimulationVerdict
from kwalk.search.simulation.visit_samples import WalkSampler

BLOCK_STEPS = 1 << 20
"""The most steps of a block: some tenths of a second, as long as minimizing one finding can take."""
FIRST_BLOCKS = 1
"""The number of blocks of the first generation."""
SAMPLED_BLOCKS = 2
"""In how many blocks of a generation findings of properties with known groups are minimized too."""


@frozen
class Generation:
    """The blocks `first` … `last` - 1."""

    first: int
    last: int

    @property
    def stride(self) -> int:
        """In every block whose number this divides, findings of all properties are minimized."""
        return max(1, (self.last - self.first) // SAMPLED_BLOCKS)


def block_of(depth: int) -> int:
    """Return the number of walks of a block, a power of two."""
    return 1 << max(0, BLOCK_STEPS.bit_length() - depth.bit_length())


def generation_of(block: int) -> Generation:
    """Return the generation of a block."""
    if block < FIRST_BLOCKS:
        return Generation(0, FIRST_BLOCKS)
    first = FIRST_BLOCKS << ((block // FIRST_BLOCKS).bit_length() - 1)
    return Generation(first, 2 * first)


ROUND_SECONDS = 20.0
"""The most time of a round, in seconds."""
LEAST_ROUNDS = 20
"""The least number of rounds in a time budget."""
GROWTH = 8
"""The most blocks of a round, relative to the round before."""


class SimulationTask:
    """The state of a task of walks."""

    def __init__(self, task: NightlyTask, folder: RunFolder, kernel: Kernel) -> None:
        self.task, self.folder, self.kernel = task, folder, kernel
        model = task.model
        self.properties = safety_properties(task.properties)
        entry = task.entry
        self.options = SimulationOptions(
            properties=self.properties,
            seed=task.seed,
            depth=task.depth,
            walks=entry.walks,
            seconds=task.seconds,
            keep_going=True,
            only=entry.only,
            without=entry.without,
            swarm=entry.swarm,
            count_states=True,
        )
        self.plan = self.options.plan(model, kernel)
        self.block = block_of(task.depth)
        self.reader = GroupReader(model, kernel, task.seed)
        self.totals, self.groups, self.rounds = TaskTotals(run_chunk(kernel, self.plan, range(0))), FindingGroups(), 0
        self.known_properties: frozenset[int] = frozenset()
        names = [prop.declaration.name for prop in model.properties]
        self.declarations = (*(names.index(name) for name in names), len(names))
        self.pace: float | None = None
        """Seconds that one core takes for a block."""
        self.last_blocks = 0
        self.sampler = WalkSampler(model, self.plan)

    # Where it stands.

    @property
    def fraction(self) -> float:
        """The part of the task that is done, by its walks or its time, whichever is larger."""
        task, done = self.task, [0.0]
        if task.entry.walks:
            done.append(self.totals.walks.walks / task.entry.walks)
        if task.seconds:
            done.append(self.totals.seconds / task.seconds)
        return max(done)

    @property
    def is_over(self) -> bool:
        """Whether the task is finished."""
        return self.fraction >= 1 or self.totals.walks.failed is not None

    @property
    def generation(self) -> Generation:
        """The generation of the next walk."""
        return generation_of(self.totals.walks.walks // self.block)

    # Rounds.

    def next_round(self, partitions: int) -> Round:
        """Return the next round, for that many cores."""
        first, task = self.totals.walks.walks, self.task
        blocks = self._blocks_wanted(partitions)
        last = self.block * min(first // self.block + blocks, self.generation.last)
        last = min([last, *(limit for limit in (task.entry.walks, self.plan.last) if limit is not None)])
        blocks = -(-(last - first) // self.block)
        size = self.block * -(-blocks // partitions)
        choice = MinimizationChoice(
            self.block, self.generation.stride, self.known_properties, declarations=self.declarations
        )
        return Round(first, last, size, choice=choice, plan=self.plan.present)

    def _blocks_wanted(self, partitions: int) -> int:
        """Return how many blocks fill the time of a round, or of the task."""
        if self.pace is None:
            return 1
        seconds = ROUND_SECONDS
        if self.task.seconds is not None:
            left = self.task.seconds - self.totals.seconds
            seconds = min(seconds, left, max(1.0, self.task.seconds / LEAST_ROUNDS))
        return max(1, min(int(seconds * partitions / self.pace), GROWTH * self.last_blocks))

    def save(self, chunks: Sequence[Chunk], seconds: float) -> None:
        """Save a round that took `seconds`, and count it.

        Raises:
            CannotSave: The file cannot be written.
        """
        chunks = _until_failure(chunks)
        round_walks = reduce(lambda a, b: a + b, (chunk.counts for chunk in chunks))
        found: Iterable[FindingGroups] = (pickle.loads(chunk.minimized) for chunk in chunks if chunk.minimized)
        groups = reduce(merge, found, FindingGroups())
        done = TaskTotals(
            self.totals.walks + round_walks,
            self.totals.seconds + seconds,
            self.totals.cpu + sum(chunk.cpu for chunk in chunks),
            self.totals.minimized + groups.minimized,
            self.totals.sliced + sum(chunk.sliced for chunk in chunks),
        )
        model, hits = self.task.model, round_walks.property_hits.tolist()
        taken = zip(*(getattr(round_walks, name).tolist() for name in ("enabled", "taken", "changed")), strict=True)
        premises = {prop.key: int(round_walks.premises[prop.index]) for prop in self.properties}
        violated = {prop.key: hits[prop.index] for prop in model.properties} | {DEADLOCK: hits[-1]}
        record = TaskRecord(
            round=self.rounds,
            chunks=tuple(chunk_rows(chunks, self.totals.walks.sketch)),
            findings=rows_of_groups(self.task, self.kernel, groups),
            actions=action_rows(model, dict(zip((one.key for one in model.instances), taken, strict=True))),
            coverage=coverage_rows(model, premises, violated, round_walks.visits),
            totals=done.pack(),
        )
        self.folder.journal(self.task.number).append(record)
        self._set_pace(chunks)
        for chunk in chunks:
            self.sampler.collect(chunk.visit_records)
        self.sampler.compare(done.seconds, self.kernel, self.plan, done.walks.walks, round_walks)
        self._count(done, record.findings)

    def _set_pace(self, chunks: Sequence[Chunk]) -> None:
        paces = [chunk.seconds * self.block / chunk.counts.walks for chunk in chunks if chunk.counts.walks]
        self.pace = max(median(paces), 1e-6) if paces else self.pace
        self.last_blocks = -(-sum(chunk.counts.walks for chunk in chunks) // self.block)

    def _count(self, totals: TaskTotals, rows: Sequence[FindingRow]) -> None:
        """Count a round that is saved."""
        before, minimized = self.generation, totals.minimized - self.totals.minimized
        self.totals, self.rounds = totals, self.rounds + 1
        self.groups = merge(self.groups, self.reader.groups(rows, minimized))
        if self.generation != before:
            self.known_properties = self._properties_with_findings()
        if self.totals.walks.walks == self.plan.last and self.totals.walks.failed is None:
            self.plan = next_generation(self.kernel, self.plan, self.totals.walks)

    def _properties_with_findings(self) -> frozenset[int]:
        """Return the indices of the properties with minimized findings; deadlock has the index after the last one."""
        met = {prop for group in self.groups.groups.values() for prop in group.properties}
        invariants = {self.task.model.properties[prop].declaration for prop in met if prop is not None}
        minimized = [prop.index for prop in self.properties if prop.declaration in invariants]
        return frozenset([*minimized, *([self.kernel.properties] if None in met else [])])

    def resume(self) -> str:
        """Continue from the saved rounds that count; return why the next one does not, "" if there is none."""
        records, why = self.folder.records(self.task.number)
        for record in records:
            if record.outcome is None:
                self._count(unpack_totals(record.totals), record.findings)
        self.folder.journal(self.task.number).cut(self.rounds)
        return why

    # What came of it.

    @property
    def violations(self) -> int:
        """The number of violations: pairs of a walk and a property instance that it violates."""
        hits = self.totals.walks.property_hits
        bad = [prop.index for prop in self.properties if prop.kind is not Kind.REACHABLE]
        return int(hits[[*bad, self.kernel.properties]].sum())

    @property
    def untraced(self) -> tuple[str, ...]:
        """The violated property instances without a minimized finding of the same property."""
        hits, known = self.totals.walks.property_hits, self._properties_with_findings()
        return tuple(
            prop.key
            for prop in self.properties
            if hits[prop.index] and prop.kind is not Kind.REACHABLE and prop.index not in known
        )


def _until_failure(chunks: Sequence[Chunk]) -> Sequence[Chunk]:
    """Return the chunks up to the first one in which an action left its domain."""
    failed = next((n for n, chunk in enumerate(chunks) if chunk.counts.failed is not None), len(chunks))
    return chunks[: failed + 1]


def _ended(simulation: SimulationTask, counts: WalkCounts, walks: int, *, interrupted: bool = False) -> SimulationRun:
    """Return the run of a task that has ended; its command repeats that many walks."""
    options = evolve(simulation.options, command=simulation.task.command(walks))
    return SimulationRun(
        simulation.task.model,
        simulation.kernel,
        options,
        simulation.plan,
        counts,
        simulation.totals.seconds,
        interrupted,
    )


class _CountedVerdict(SimulationVerdict):
    """Builds a verdict whose findings have no traces: the groups have them."""

    def _finding(self, number: int, prop: PropertyInstance | None) -> Finding:
        return Finding(DEADLOCK if prop is None else prop.key, int(self.run.counts.property_hits[number]))

    def _groups(self) -> tuple[tuple[FindingGroup, ...], tuple[str, ...]]:
        return (), ()


def task_verdict(simulation: SimulationTask, why: str) -> Verdict:
    """Return the verdict of a task, with its groups; `why` is the reason if it was cut short.

    EngineDisagreement if plain execution does not show what is in a group, or differs in a state.
    """
    task, total = simulation.task, simulation.totals.walks
    run = _ended(simulation, evolve(total, failed=None), total.walks, interrupted=bool(why))
    verdict = _CountedVerdict(run).verdict()
    verdict = without_liveness(verdict, task.properties, "a random walk")
    simulation.sampler.compare(simulation.totals.seconds, simulation.kernel, simulation.plan, total.walks)
    verdict = evolve(verdict, compared=simulation.sampler.compared, sliced_walks=simulation.totals.sliced)
    groups = finding_groups(task.model, simulation.kernel, simulation.groups)
    verdict = evolve(verdict, groups=groups, notes=(*verdict.notes, *_notes(simulation)))
    verdict = evolve(verdict, notes=(*verdict.notes, *vacuity_notes(verdict, task.model)))
    return examined(task.model, task.properties, verdict)


def _notes(simulation: SimulationTask) -> Iterator[str]:
    if simulation.violations:
        yield f"{simulation.violations:,} findings in {simulation.totals.walks.walks:,} walks."
        yield from simulation.groups.notes
    if simulation.untraced:
        yield f"Violated, and not minimized so far: {listed(simulation.untraced)}."


def error_of(simulation: SimulationTask) -> str:
    """Return in which walk an action left its domain, and how; "" if none did."""
    counts = simulation.totals.walks
    if counts.failed is None:
        return ""
    try:
        SimulationVerdict(_ended(simulation, counts, counts.failed + 1)).verdict()
    except DomainError as error:
        return str(error)
    return ""


def run_row(simulation: SimulationTask, verdict: Verdict, why: str) -> RunRow:
    """Return the row of a task that has ended."""
    totals, walks = simulation.totals, simulation.totals.walks
    return row_of_run(
        simulation.task,
        verdict,
        walks=walks.walks,
        steps=walks.steps,
        visits=walks.visits,
        distinct=distinct(walks.sketch),
        distinct_error=STANDARD_ERROR,
        seconds=totals.seconds,
        cpu_seconds=totals.cpu,
        why=why,
    )


def with_error(row: RunRow, error: str) -> RunRow:
    """Return the row of a task that an error ended: findings count, and "holds" becomes "undecided"."""
    answer = Answer.UNDECIDED.value if row.answer == Answer.HOLDS.value else row.answer
    return evolve(row, answer=answer, how="failed", why=error)


def failed_row(task: NightlyTask, totals: TaskTotals | None, why: str) -> RunRow:
    """Return the row of a task that failed, with what it had done."""
    command = task.command(totals.walks.walks if totals else None)
    verdict = VerdictBuilder(task.model, task.properties, task.entry.engine, command).verdict(
        Answer.UNDECIDED, Strength.SAMPLED, stopped=StopReason.ERROR
    )
    done: dict[str, Any] = {}
    if totals is not None:
        walks = totals.walks
        done = {"walks": walks.walks, "steps": walks.steps, "visits": walks.visits}
        done |= {"seconds": totals.seconds, "cpu_seconds": totals.cpu}
    return row_of_run(task, verdict, why=why, **done)
