"""Random walks in this process: long behaviours, every step checked, tens of millions of steps a second.

Words: a *walk* starts in a random initial state and takes random enabled instances until its depth or a dead end. Its
number and the seed decide everything in it, so a run finds the same with any number of workers. In a *swarm* (see
`swarm`) walks prefer different steps, and later ones learn from what all earlier ones counted.
"""

from __future__ import annotations

import time
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from attrs import evolve

from kwalk.model.language import Model
from kwalk.search.base.pacing import next_pace
from kwalk.search.kernel.compile.compiler import kernel_for
from kwalk.search.kernel.compile.slices import has_cached_slices, slicing_seconds, with_slices
from kwalk.search.kernel.interface import Kernel
from kwalk.search.results.fairness import without_liveness
from kwalk.search.results.verdict import Verdict
from kwalk.search.simulation.chunks import SimulationPlan, WalkCounts, is_sliced, run_chunk
from kwalk.search.simulation.options import UNIFORM, SimulationOptions
from kwalk.search.simulation.run import SimulationRun, SimulationVerdict

FIRST_CHUNK, MAX_CHUNK = 64, 1 << 24
"""Walks of the first chunk, and of the largest one."""
LEAST_SLICED_SECONDS = 1.0
"""The rest of a run that gains by bit-sliced functions, at least; loading them and their loop takes some of it."""


def walk(
    model: Model, options: SimulationOptions = UNIFORM, *, kernel: Kernel | None = None, **changes: Any
) -> Verdict:
    """Take random walks until the number of walks, the time, or a violation ends them.

    Args:
        model: the model.
        options: see `SimulationOptions`.
        kernel: the compiled model, if the caller has it.
        changes: fields of `options` with other values, as in `walk(model, seed=7, walks=100)`.

    Returns:
        A verdict of strength `SAMPLED`; it holds if nothing was violated, and is undecided if no walk was completed.

    Raises:
        DomainError: an action leaves its domain.
        UsageError: an option names an unknown action or actor.
    """
    options = evolve(options, **changes)
    run = SimulationRun.of(model, kernel or kernel_for(model), options)
    _LocalWalks(run).run_all()
    properties = model.properties if options.properties is None else options.properties
    return without_liveness(SimulationVerdict(run).verdict(), properties, "a random walk")


class SlicingChoice:
    """When a run of walks takes the bit-sliced functions of its model: once, and only if its kernel fits them."""

    def __init__(self, model: Model, kernel: Kernel) -> None:
        self.model, self.kernel = model, kernel
        self._is_made = kernel.sliced is not None or not kernel.can_be_sliced
        self._is_cached: bool | None = None

    def is_worth(self, left: float | None) -> bool:
        """Return whether a rest of so many seconds gains by them: making them takes less than half. True once only."""
        if self._is_made or left is None or left < LEAST_SLICED_SECONDS:
            return False
        if self._is_cached is None:
            self._is_cached = has_cached_slices(self.kernel)
        self._is_made = self._is_cached or left > 2 * slicing_seconds(self.kernel)
        return self._is_made


class _LocalWalks:
    """Runs the walks in chunks, one after another or by several threads, and adds them up in their order."""

    def __init__(self, run: SimulationRun) -> None:
        self.run, self.options, self.pace = run, run.options, FIRST_CHUNK
        self._slicing = SlicingChoice(run.model, run.kernel)

    def run_all(self) -> None:
        """Run all walks; Ctrl-C ends the run with what was counted so far."""
        self.run.started = time.monotonic()
        try:
            if self.options.workers == 1:
                while (numbers := self._next_numbers()) is not None and self._add(self._timed(self.run.plan, numbers)):
                    pass
            else:
                self._run_threads()
        except KeyboardInterrupt:
            self.run.interrupted = True
        self.run.seconds = time.monotonic() - self.run.started

    def _run_threads(self) -> None:
        """Keep all workers busy; results are added in order, and those after a violation are dropped."""
        waiting: deque[Future[tuple[WalkCounts, float, int]]] = deque()
        pool = ThreadPoolExecutor(self.options.workers)
        try:
            continues = True
            while continues:
                while len(waiting) <= self.options.workers and (numbers := self._next_numbers()) is not None:
                    waiting.append(pool.submit(self._timed, self.run.plan, numbers))
                continues = bool(waiting) and self._add(waiting.popleft().result())
        finally:
            pool.shutdown(cancel_futures=True)

    def _timed(self, plan: SimulationPlan, numbers: range) -> tuple[WalkCounts, float, int]:
        """Return the counts of a chunk, its seconds, and how many of its walks ran on bit-sliced code."""
        began, kernel = time.monotonic(), self.run.kernel
        most = self.options.minimize - len(self.run.counts.findings)  # to write more costs as much as the walks
        counts = run_chunk(kernel, plan, numbers, collect=most > 0).with_findings(most)
        return counts, time.monotonic() - began, counts.walks if is_sliced(kernel, numbers) else 0

    def _next_numbers(self) -> range | None:
        """Return the numbers of the next chunk; None at the end, or if earlier chunks must be counted first."""
        run = self.run
        if run.needs_plan:
            if run.counts.walks < run.next:
                return None
            run.plan_generation()
        left = run.time_left
        if left is not None and left <= 0:
            return None
        numbers = range(run.next, run.last_of(self.pace))
        run.next = numbers.stop
        return numbers if numbers else None

    def _add(self, chunk: tuple[WalkCounts, float, int]) -> bool:
        """Add a chunk; return whether the run continues."""
        (counts, spent, sliced), run = chunk, self.run
        continues = run.add(counts, sliced=sliced)
        self.pace = next_pace(counts.walks, spent, least=1, most=MAX_CHUNK)
        self.options.report(run.progress("walk", ""))
        left = run.progress("walk", "").left
        if continues and self._slicing.is_worth(left):
            self._take_sliced_kernel(left or 0.0)
        elif run.kernel.is_worth_replacing(run.seconds, self.options.seconds):
            self._take_faster_kernel()
        return continues

    def _take_sliced_kernel(self, left: float) -> None:
        """Continue with bit-sliced functions. Compiling them does not count as time of the walks."""
        run, began = self.run, time.monotonic()
        self.options.report(evolve(run.progress("walk", ""), note="bit-sliced code is compiled"))
        run.kernel = with_slices(run.model, run.kernel, left / 2)
        run.started += time.monotonic() - began

    def _take_faster_kernel(self) -> None:
        """Continue with a faster kernel. Compiling it does not count as time of the walks."""
        run, began = self.run, time.monotonic()
        assert run.kernel.faster is not None
        self.options.report(evolve(run.progress("walk", ""), note="faster code is compiled"))
        run.kernel = run.kernel.faster()
        run.started += time.monotonic() - began
