"""What an executor does: load a kernel that the driver compiled, walk, minimize findings, send back counts.

Words: a *payload* is all that an executor needs; it has no model. A *chunk* is a range of consecutive walks; a *batch*
is those of a chunk that are run at once. What a walk does depends on the seed and its number only, so any executor can
do any chunk. A *block* is a fixed number of consecutive walks: which findings are minimized depends on their block, and
on what was known when its generation began, so the result does not depend on how the work is shared either. A property
is *known* once a finding of any of its instances has been minimized.
"""

from __future__ import annotations

import pickle
import platform
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
from attrs import evolve, field, frozen

from kwalk.model.language import KwalkError
from kwalk.search.base.pacing import next_pace
from kwalk.search.base.signals import Interrupts
from kwalk.search.executors.chunks import Chunk, merged
from kwalk.search.kernel.compile.cache import Compiled
from kwalk.search.kernel.compile.slices import CompiledSlices, load_slices
from kwalk.search.kernel.interface import Kernel, bit_numbers
from kwalk.search.kernel.python_comparison import EngineDisagreement
from kwalk.search.minimize.groups import FindingGroups, FindingSample, Grouping
from kwalk.search.minimize.model_signature import ModelSignature
from kwalk.search.native.machine_code import FUNCTIONS, LoadedCode
from kwalk.search.native.processor import cpu
from kwalk.search.results.confirmation import Origin
from kwalk.search.simulation.chunks import (
    SimulationPlan,
    SlicedComparison,
    WalkCounts,
    is_sliced,
    path_of,
    run_chunk,
)
from kwalk.search.simulation.sliced_walks import MOST_RECORDS
from kwalk.search.simulation.visit_samples import visit_records

LEAST_WALKS, MOST_WALKS = MOST_RECORDS, 1 << 20
"""Walks of a batch: on bit-sliced code as many as can be in progress at once, at least, and at most."""
COLLECTED_WALKS = 1 << 16
"""About how many walks a batch has whose findings are all written: they take memory."""


class ExecutorFailure(KwalkError):
    """Executors did not do a round: one of them died, or cannot run the driver's machine code."""


class Executors(Protocol):
    """What does the rounds of walks that have one payload."""

    partitions: int
    """How many chunks are done at a time."""

    def make_ready(self, interrupts: Interrupts) -> None:
        """Let all executors load the kernel and the loops before the first round."""

    def take_slices(self, code: CompiledSlices) -> None:
        """Let executors walk on bit-sliced functions from the next round on; `code` is for the driver's CPU."""

    def do(self, work: Round, interrupts: Interrupts) -> list[Chunk] | None:
        """Do a round; return its merged chunks in the order of their walks, or None if interrupted.

        Raises:
            EngineDisagreement: The two kernels of an executor do not count the same.
            ExecutorFailure: The round was not done.
        """


def check_agreement(chunks: Iterable[Chunk]) -> None:
    """Raise the EngineDisagreement that an executor found, if there is one."""
    for chunk in chunks:
        if chunk.disagreement:
            raise EngineDisagreement(chunk.disagreement)


class CpuMismatch(Exception):
    """An executor has no machine code that it can run; the message names its CPU to the driver."""

    PATTERN = re.compile(r"executor: \[(.*?)\]", re.DOTALL)

    def __init__(self, cpu_name: str, why: str) -> None:
        super().__init__(
            f"An executor cannot run the driver's machine code ({why}). The executor: [{cpu_name}]. "
            "Start the driver on a machine of the executors' kind."
        )


@frozen(eq=False)
class TaskPayload:
    """What executors need: a kernel with its object code, the plan of the walks, and what minimizing needs."""

    kernel: Kernel
    """Its addresses are those of the driver, and invalid in an executor."""
    code: Compiled
    cpu: str
    """The CPU that the code is for."""
    plan: SimulationPlan
    signature: ModelSignature | None = None
    """None if executors do not minimize."""
    other_code: Mapping[str, Compiled] = field(factory=dict)
    """Object code for other CPUs, by their names."""
    slices: Mapping[str, CompiledSlices] = field(factory=dict)
    """Bit-sliced functions for each CPU, by its name; empty as long as there are none."""

    def pack(self) -> bytes:
        """Return the payload as bytes."""
        return pickle.dumps(evolve(self, kernel=evolve(self.kernel, keep_alive=None, sliced=None)))


@frozen
class MinimizationChoice:
    """Which findings of a block are minimized: the first of each property not known, and now and then of others."""

    block: int
    """Walks in a block."""
    stride: int = 1
    """Findings of known properties are minimized too in each block whose number this divides."""
    known_properties: frozenset[int] = frozenset()
    """The numbers of the known properties."""
    most: int = 2
    """Findings of a block, at most."""
    declarations: tuple[int, ...] = ()
    """The number of the declaration of each property instance, by index, and of deadlock last. If they are given, the
    first block minimizes a finding of each violated declaration, so that a short run shows each of them."""

    def is_sampled(self, number: int) -> bool:
        """Return whether findings of known properties are minimized too in block `number`."""
        return number % self.stride == 0

    def batch(self, numbers: range, blocks: int) -> range:
        """Return the first walks of `numbers` that are run together: at most `blocks` blocks, a sampled one alone."""
        first = numbers.start // self.block
        sampled = first + self.stride - first % self.stride  # the next one
        last = first + 1 if self.is_sampled(first) else min(first + blocks, sampled)
        return range(numbers.start, min(last * self.block, numbers.stop))

    def batches(self, numbers: range, blocks: int) -> Iterator[range]:
        """Yield walks cut into ranges that are run together, see `batch`."""
        while numbers:
            first = self.batch(numbers, blocks)
            yield first
            numbers = range(first.stop, numbers.stop)

    def has_new(self, kernel: Kernel, counts: WalkCounts) -> bool:
        """Return whether a property that is not known was violated."""
        hits = counts.property_hits.copy()
        hits[[*self.known_properties, *bit_numbers(kernel.reachable_row)]] = 0
        return bool(hits.any())

    def by_block(self, findings: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
        """Yield the findings (walk, step, property) block by block, each with the number of the block."""
        blocks = findings[:, 0] // self.block
        wanted = (blocks % self.stride == 0) | ~np.isin(findings[:, 2], [*self.known_properties])
        for number in np.unique(blocks[wanted]).tolist():
            begin, end = np.searchsorted(blocks, [number, number + 1])
            yield number, findings[begin:end]

    def of(self, findings: np.ndarray, number: int) -> list[tuple[int, int, int]]:
        """Return the findings (walk, step, property) of block `number` to minimize; each block begins elsewhere."""
        properties, places = np.unique(findings[:, 2], return_index=True)
        first = {int(prop): findings[place] for prop, place in zip(properties, places, strict=True)}
        if number == 0 and self.declarations:
            firsts = {self.declarations[prop]: prop for prop in sorted(first, reverse=True)}
            return [(int(walk), int(step), int(prop)) for walk, step, prop in (first[p] for p in firsts.values())]
        wanted = [prop for prop in first if prop not in self.known_properties or number % self.stride == 0]
        modulus = max(first, default=0) + 1
        wanted.sort(key=lambda prop: (prop in self.known_properties, (prop - number) % modulus))
        return [(int(walk), int(step), int(prop)) for walk, step, prop in (first[p] for p in wanted[: self.most])]


@frozen
class Round:
    """Chunks to do: chunk i is the walks first + i * size … up to `last`."""

    first: int
    last: int
    size: int
    deadline: float | None = None
    """No chunk is begun after it; seconds since the epoch, which mean the same on all machines."""
    choice: MinimizationChoice | None = None
    """Which findings the executor minimizes, if any; then chunks end where blocks do."""
    plan: SimulationPlan | None = None
    """What the walks do; None for the plan of the payload."""
    most: int = 0
    """Findings that are sent back, the first ones."""
    groups: int = 1
    """How many groups the chunks are in, so that those of a group can be merged."""

    @property
    def origin(self) -> int:
        """The walk from which chunks are counted: the beginning of the first block."""
        return self.first if self.choice is None else self.first - self.first % self.choice.block

    @property
    def chunks(self) -> int:
        """The number of chunks."""
        return -(-(self.last - self.origin) // self.size)

    def numbers(self, chunk: int) -> range:
        """Return the numbers of the walks of a chunk."""
        begin = self.origin + chunk * self.size
        return range(max(begin, self.first), min(begin + self.size, self.last))

    def group(self, chunk: int) -> int:
        """Return the number of the group of a chunk; a group has consecutive chunks."""
        return chunk * self.groups // self.chunks

    @property
    def is_over(self) -> bool:
        """Whether the deadline has passed."""
        return self.deadline is not None and time.time() >= self.deadline


def do_chunks(packed: bytes, work: Round, chunks: Iterable[int]) -> tuple[int, Chunk] | None:
    """Do chunks in increasing order; return the number of the first and all of them merged, None for none.

    What ends the run skips the rest.
    """
    kernel, payload = unpacked(packed)
    run_chunk(kernel, payload.plan, range(0))  # compiles the loops, if this process has not yet
    done: tuple[int, Chunk] | None = None
    for number in chunks:  # all of them, because Spark ends a worker that leaves some of its input unread
        if work.is_over or (done is not None and done[1].ends_run):
            continue
        chunk = _do_chunk(packed, work, number)
        done = (number, chunk) if done is None else (done[0], merged([done[1], chunk], work.most))
    return done


def _do_chunk(packed: bytes, work: Round, number: int) -> Chunk:
    kernel, payload = unpacked(packed)
    plan, numbers = work.plan or payload.plan, work.numbers(number)
    try:
        _comparison(packed).compare(kernel, plan, numbers)
    except EngineDisagreement as error:
        nothing = run_chunk(kernel, plan, range(numbers.start, numbers.start))
        return Chunk(numbers.start, 0.0, nothing, disagreement=str(error))
    if work.choice is not None:
        return done_in_blocks((kernel, plan), numbers, work.choice, _grouping(packed))
    began, cpu_began = time.monotonic(), time.process_time()
    counts = run_chunk(kernel, plan, numbers, collect=work.most != 0).with_findings(work.most)
    records = pickle.dumps(visit_records(kernel, plan, range(numbers.start, numbers.start + counts.walks)))
    spent, cpu_spent = time.monotonic() - began, time.process_time() - cpu_began
    sliced = counts.walks if is_sliced(kernel, numbers) else 0
    return Chunk(numbers.start, spent, counts, cpu_spent, (platform.node(),), records=records, sliced=sliced)


def done_in_blocks(
    walker: tuple[Kernel, SimulationPlan], numbers: range, choice: MinimizationChoice, grouping: Grouping
) -> Chunk:
    """Do a chunk of walks, and minimize the chosen findings of each block; the counts are those of all walks."""
    kernel, plan = walker
    began, cpu_began = time.monotonic(), time.process_time()
    total, sliced = run_chunk(kernel, plan, range(numbers.start, numbers.start)), 0
    grouping.groups = FindingGroups(most=grouping.groups.most)
    for batch, counts in batched_counts(kernel, plan, numbers, choice):
        for number, findings in choice.by_block(counts.findings):
            grouping.minimizer.clear_cache()  # the results of a block must not depend on who has done which others
            for walk, step, prop in choice.of(findings, number):
                path = path_of(kernel, plan, walk, step)
                grouping.add(
                    FindingSample(
                        prop if prop < kernel.properties else None,
                        path.states[0].tobytes(),
                        path.instances,
                        Origin(f"walk {walk}", seed=plan.seed),
                        walk,
                    )
                )
        total += counts.with_findings(0)
        sliced += counts.walks if is_sliced(kernel, batch) else 0
    records = pickle.dumps(visit_records(kernel, plan, range(numbers.start, numbers.start + total.walks)))
    spent, cpu_spent = time.monotonic() - began, time.process_time() - cpu_began
    groups = pickle.dumps(grouping.groups)
    return Chunk(numbers.start, spent, total, cpu_spent, (platform.node(),), groups, records, sliced)


def batched_counts(
    kernel: Kernel, plan: SimulationPlan, numbers: range, choice: MinimizationChoice
) -> Iterator[tuple[range, WalkCounts]]:
    """Run walks in batches, and yield their counts with the findings that may be chosen.

    Many blocks are run at once if they take little time, since short runs cost more for each walk. To write every
    finding costs more than the walks themselves if most walks have one, so it is done only where one can be chosen.
    """
    least = 1 if kernel.sliced is None else -(-LEAST_WALKS // choice.block)
    blocks, collects, begin = least, False, numbers.start
    while begin < numbers.stop:
        batch, began = choice.batch(range(begin, numbers.stop), blocks), time.monotonic()
        is_sampled = choice.is_sampled(begin // choice.block)
        runs: Iterable[tuple[range, WalkCounts]] = ()
        if not (collects or is_sampled):
            runs = [(batch, run_chunk(kernel, plan, batch))]
        if not runs or any(choice.has_new(kernel, counts) for _, counts in runs):
            pieces = choice.batches(batch, max(least, COLLECTED_WALKS // choice.block))
            runs = ((piece, run_chunk(kernel, plan, piece, collect=True)) for piece in pieces)
        has_new = False
        for piece, counts in runs:
            yield piece, counts
            if counts.failed is not None:
                return
            has_new |= choice.has_new(kernel, counts)
        begin = batch.stop
        if not is_sampled:
            collects, done = has_new, -(-len(batch) // choice.block)
            most = max(least, MOST_WALKS // choice.block)
            blocks = next_pace(done, time.monotonic() - began, least=least, most=most)


@lru_cache(maxsize=1)
def _grouping(packed: bytes) -> Grouping:
    """Return the grouping of this process, which keeps its buffers."""
    kernel, payload = unpacked(packed)
    assert payload.signature is not None
    return Grouping(payload.signature, kernel)


@lru_cache(maxsize=1)
def _comparison(packed: bytes) -> SlicedComparison:
    """Return what compares the two kernels of a payload in this process."""
    return SlicedComparison()


@lru_cache(maxsize=1)
def unpacked(packed: bytes) -> tuple[Kernel, TaskPayload]:
    """Return a payload, and its kernel loaded into this process; CpuMismatch if it cannot be loaded."""
    payload: TaskPayload = pickle.loads(packed)
    code = {payload.cpu: payload.code, **payload.other_code}.get(cpu())
    if code is None:
        raise CpuMismatch(cpu(), "its CPU or its llvmlite is another")
    slices = payload.slices.get(cpu())
    try:
        loaded = LoadedCode(code.objects)
        sliced = None if slices is None else load_slices(slices, payload.kernel.words)
    except RuntimeError as error:
        raise CpuMismatch(cpu(), f"it does not load: {error}") from error
    addresses: dict[str, Any] = {name: loaded.addresses[name] for name in FUNCTIONS}
    return evolve(payload.kernel, **addresses, sliced=sliced, keep_alive=loaded), payload
