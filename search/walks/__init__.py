"""Random walks: long behaviours, every step checked, tens of millions of steps a second.

Words: a *walk* starts in a random initial state and takes random enabled instances until its depth or a dead end. Its
number and the seed decide everything in it, so a run finds the same whatever the number of workers. In a *swarm* (see
`swarm`) walks prefer different things, and later ones learn from what all earlier ones counted.
"""
from __future__ import annotations

import time
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor

from attrs import evolve

from model.language import Claim, Model
from search.fairness import without_liveness
from search.kernel import Kernel
from search.progress import Progress, Report, silent
from search.verdict import Verdict
from search.walks.chunks import Walks, run_chunk
from search.walks.conclusion import Conclusion
from search.walks.generations import next_generation
from search.walks.manner import UNIFORM, Manner
from search.walks.outing import Outing, outing_for

SLICE = 0.2
"""Seconds that a chunk of walks should take, between looks at signals, budgets and progress."""
FIRST_CHUNK, MOST_IN_CHUNK = 64, 1 << 24


def walk(
    model: Model,
    *,
    claims: tuple[Claim, ...] | None = None,
    seed: int = 0,
    walks: int | None = None,
    depth: int = 100,
    seconds: float | None = None,
    keep_going: bool = False,
    minimize: int = 0,
    workers: int = 1,
    manner: Manner = UNIFORM,
    report: Report = silent,
    kernel: Kernel | None = None,
    command: str = "",
) -> Verdict:
    """Walk until `walks` are done, `seconds` are over (by default 10,000 walks) or, unless `keep_going`, a violation.

    The first `minimize` findings are grouped by shape; `manner` says how walks choose. DomainError if an action leaves
    its domain. Without a violation the answer is HOLDS, "sampled".
    """
    kernel = kernel or _compiled(model)
    wanted = model.claims if claims is None else claims
    outing = outing_for(
        model, kernel, wanted, manner, seed=seed, depth=depth, walks=walks, seconds=seconds, keep_going=keep_going,
        workers=workers, report=report, minimize=minimize,
    )  # fmt: skip
    run = _Run(outing)
    conclusion = Conclusion(evolve(outing, course=run.course), run, command)
    return without_liveness(conclusion.verdict(), wanted, "random walks")


def _compiled(model: Model) -> Kernel:
    from search.compile import kernel_for

    return kernel_for(model)


class _Run:
    """The chunks of an outing, one after another or some at a time, added up in the order of their numbers."""

    def __init__(self, outing: Outing) -> None:
        self.outing, self.kernel, self.interrupted = outing, outing.kernel, False
        self.next, self.pace, self.course = 0, FIRST_CHUNK, outing.course
        self.total = run_chunk(outing.kernel, outing.course, range(0))  # the first call ever compiles the loops
        self.started, self.seconds = time.monotonic(), 0.0
        try:
            self._go()
        except KeyboardInterrupt:
            self.interrupted = True
        self.seconds = time.monotonic() - self.started

    def _go(self) -> None:
        if self.outing.workers == 1:
            going = True
            while going and (numbers := self._next_numbers()) is not None:
                going = self._add(self._timed(numbers))
            return
        with ThreadPoolExecutor(self.outing.workers) as pool:
            self._go_in(pool)

    def _go_in(self, pool: ThreadPoolExecutor) -> None:
        """Keep all workers busy; results are taken in order, and what comes after a violation is dropped."""
        waiting: deque[Future[tuple[Walks, float]]] = deque()
        going = True
        while going:
            while len(waiting) < self.outing.workers + 1 and (numbers := self._next_numbers()) is not None:
                waiting.append(pool.submit(self._timed, numbers))
            going = bool(waiting) and self._add(waiting.popleft().result())
        pool.shutdown(cancel_futures=True)

    def _timed(self, numbers: range) -> tuple[Walks, float]:
        began, outing = time.monotonic(), self.outing
        walks = run_chunk(self.kernel, self.course, numbers, collect=outing.minimize > 0)
        return walks.with_findings(outing.minimize), time.monotonic() - began

    def _next_numbers(self) -> range | None:
        """The numbers of the next chunk; None if there is none, or none before chunks that are on their way come in."""
        outing = self.outing
        if self.next == self.course.last and self.next != outing.walks:
            if self.total.walks < self.next:
                return None
            self.course = next_generation(self.kernel, self.course, self.total)
        if outing.seconds is not None and time.monotonic() - self.started >= outing.seconds:
            return None
        last = self.next + self.pace
        if outing.walks is not None:
            last = min(last, outing.walks)
        if self.course.last is not None:
            last = min(last, self.course.last)
        numbers = range(self.next, last)
        self.next = last
        return numbers if numbers else None

    def _add(self, chunk: tuple[Walks, float]) -> bool:
        """Add a chunk to the total; whether to go on."""
        walks, spent = chunk
        self.total = (self.total + walks).with_findings(self.outing.minimize)
        wanted = 2 * walks.walks if spent < SLICE / 2 else int(walks.walks * SLICE / spent)
        self.pace = max(1, min(wanted, MOST_IN_CHUNK))
        self.seconds = time.monotonic() - self.started
        self.outing.report(self._progress())
        if self.kernel.is_worth_replacing(self.seconds, self.outing.seconds):
            self._take_faster_kernel()
        return not walks.stopped and walks.failed is None

    def _take_faster_kernel(self) -> None:
        """Go on with a faster kernel. The time that it takes to make is not time of the walks."""
        began = time.monotonic()
        assert self.kernel.faster is not None
        self.outing.report(evolve(self._progress(), note="faster code is compiled"))
        self.kernel = self.kernel.faster()
        self.started += time.monotonic() - began

    def _progress(self) -> Progress:
        outing, done = self.outing, self.total.walks
        left = None if outing.seconds is None else max(0.0, outing.seconds - self.seconds)
        if outing.walks is not None and done:
            rest = (outing.walks - done) * self.seconds / done
            left = rest if left is None else min(left, rest)
        return Progress("walk", self.total.steps, "steps", self.seconds, left=left, note=f"{done:,} walks")
