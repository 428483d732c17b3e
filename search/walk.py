"""Random walks: long behaviours, every step checked, tens of millions of steps a second.

Words: a *walk* starts in a random initial state and takes random enabled instances until its depth or a dead end. Its
number and the seed decide everything in it, so a run finds the same whatever the number of workers.
"""
from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Protocol

import numpy as np
from attrs import define, evolve, field, frozen

from model.language import Claim, Kind, Model
from search.confirm import Origin, confirmed, domain_error
from search.fairness import safety, without_liveness
from search.kernel import Kernel
from search.progress import Progress, Report, silent
from search.shrink.clusters import Sample, clustered
from search.trace import Trace
from search.verdict import DEADLOCK, Answer, Cluster, Finding, RuleCount, Verdict
from search.walk_chunks import Course, Walks, path_of, run_chunk, run_walks

__all__ = ["Conclusion", "Course", "Outing", "Walks", "path_of", "run_walks", "walk"]

DEFAULT_WALKS = 10_000
SLICE = 0.2
"""Seconds that a chunk of walks should take, between looks at signals, budgets and progress."""
FIRST_CHUNK, MOST_IN_CHUNK = 64, 1 << 24


@frozen(eq=False)
class Outing:
    """A run of walks: what to do, how many (None: until the time is up), and who is told."""

    model: Model
    kernel: Kernel
    course: Course
    claims: tuple[Claim, ...]
    walks: int | None
    seconds: float | None
    workers: int
    report: Report = field(repr=False)
    minimize: int = 0
    """How many findings to keep, in the order of the walks, and to group by shape."""


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
    report: Report = silent,
    kernel: Kernel | None = None,
    command: str = "",
) -> Verdict:
    """Walk until `walks` are done, `seconds` are over (by default 10,000 walks) or, unless `keep_going`, a violation.

    The first `minimize` findings are grouped by shape. DomainError if an action leaves its domain. Without a violation
    the answer is HOLDS, "sampled".
    """
    kernel = kernel or _compiled(model)
    wanted = model.claims if claims is None else claims
    asked = safety(wanted)
    course = Course(
        kernel.pack(np.array(model.initial, np.int64).reshape(len(model.initial), -1)),
        tuple(claim.index for claim in asked), seed, depth,
        stop=not keep_going, deadlock=model.scenario.deadlock_is_error,
    )  # fmt: skip
    if walks is None and seconds is None:
        walks = DEFAULT_WALKS
    outing = Outing(model, kernel, course, asked, walks, seconds, workers, report, minimize)
    return without_liveness(Conclusion(outing, _Run(outing), command).verdict(), wanted, "random walks")


def _compiled(model: Model) -> Kernel:
    from search.compile import kernel_for

    return kernel_for(model)


class _Run:
    """The chunks of an outing, one after another or some at a time, added up in the order of their numbers."""

    def __init__(self, outing: Outing) -> None:
        self.outing, self.kernel, self.interrupted = outing, outing.kernel, False
        self.next, self.pace = 0, FIRST_CHUNK
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
        walks = run_chunk(self.kernel, outing.course, numbers, collect=outing.minimize > 0)
        return walks.with_findings(outing.minimize), time.monotonic() - began

    def _next_numbers(self) -> range | None:
        """The numbers of the next chunk; None if there is none."""
        outing = self.outing
        if outing.seconds is not None and time.monotonic() - self.started >= outing.seconds:
            return None
        last = self.next + self.pace
        if outing.walks is not None:
            last = min(last, outing.walks)
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


class Ran(Protocol):
    """A run that has ended: what its walks counted, how many seconds it took, and whether it was interrupted."""

    total: Walks
    seconds: float
    interrupted: bool


@define
class Conclusion:
    """The verdict of a run of walks."""

    outing: Outing
    run: Ran
    command: str

    def verdict(self) -> Verdict:
        """The verdict, with confirmed traces; DomainError if that is how the run ended."""
        outing, run = self.outing, self.run
        model, total = outing.model, run.total
        if total.failed is not None:
            path = path_of(outing.kernel, outing.course, total.failed)
            raise domain_error(model, outing.kernel, path, self._origin(total.failed))
        findings = self._findings()
        clusters, told = self._clusters()
        return Verdict(
            answer=self._answer(findings), how="interrupted" if run.interrupted else "sampled", engine="walk",
            scenario=model.scenario.name, variant=model.variant, bounds=model.binding.bounds, flags=model.asked_flags,
            invariants=tuple(dict.fromkeys(claim.invariant.name for claim in outing.claims)), steps=total.steps,
            walks=total.walks, seconds=run.seconds, seed=outing.course.seed, bounds_hit=self._bounds_hit(),
            rules=self._rules(), premises={c.key: int(total.premises[c.index]) for c in outing.claims},
            findings=tuple(finding for _, finding in findings), notes=(*self._notes(), *told), command=self.command,
            clusters=clusters,
        )  # fmt: skip

    def _origin(self, number: int) -> Origin:
        return Origin(f"walk {number}", seed=self.outing.course.seed, command=self.command)

    def _findings(self) -> list[tuple[Claim | None, Finding]]:
        """What was violated, in the order in which the walks came to it."""
        total = self.run.total
        bad: list[tuple[int, Claim | None]] = [
            (claim.index, claim) for claim in self.outing.claims if claim.kind is not Kind.REACHABLE
        ]
        bad.append((self.outing.kernel.claims, None))
        met = [(number, claim) for number, claim in bad if total.first_walk[number] >= 0]
        met.sort(key=lambda place: (total.first_walk[place[0]], total.first_step[place[0]], place[0]))
        return [(claim, self._finding(number, claim)) for number, claim in met]

    def _finding(self, number: int, claim: Claim | None) -> Finding:
        total, outing = self.run.total, self.outing
        first = int(total.first_walk[number])
        path = path_of(outing.kernel, outing.course, first, int(total.first_step[number]))
        trace = confirmed(outing.model, outing.kernel, path, claim=claim, origin=self._origin(first))
        return Finding(DEADLOCK if claim is None else claim.key, int(total.seen[number]), trace)

    def _clusters(self) -> tuple[tuple[Cluster, ...], tuple[str, ...]]:
        """The findings that were kept, by shape, and what is to be said of them."""
        kept = self.run.total.findings
        if not len(kept):
            return (), ()
        outing = self.outing
        samples = (self._sample(*row) for row in kept.tolist())
        clusters, told = clustered(outing.model, outing.kernel, samples, len(kept), outing.report)
        bad = [claim.index for claim in outing.claims if claim.kind is not Kind.REACHABLE]
        met = int(self.run.total.seen[[*bad, outing.kernel.claims]].sum())
        return clusters, (f"{met:,} findings in {self.run.total.walks:,} walks.", *told)

    def _sample(self, number: int, steps: int, index: int) -> Sample:
        outing, seed = self.outing, self.outing.course.seed
        path = path_of(outing.kernel, outing.course, number, steps)
        claim = outing.model.claims[index] if index < outing.kernel.claims else None

        def trace() -> Trace:
            return confirmed(outing.model, outing.kernel, path, claim=claim, origin=self._origin(number))

        return Sample(claim, path.states[0].tobytes(), path.instances, trace, seed, number)

    def _answer(self, findings: list[tuple[Claim | None, Finding]]) -> Answer:
        if not findings:
            sampled = self.run.total.walks > 0 and not self.run.interrupted
            return Answer.HOLDS if sampled else Answer.UNDECIDED
        claim = findings[0][0]
        if claim is None:
            return Answer.DEADLOCK
        return Answer.BAD_STABLE_STATE if claim.kind is Kind.WHEN_QUIET else Answer.VIOLATED

    def _notes(self) -> Iterator[str]:
        total, wanted = self.run.total, self.outing.walks
        if wanted is not None and total.walks < wanted and not total.stopped:
            yield f"Stopped after {total.walks:,} of {wanted:,} walks."
        if total.dead_ends:
            yield f"{total.dead_ends:,} of {total.walks:,} walks came to a dead end."
        for claim in self.outing.claims:
            if claim.kind is Kind.REACHABLE:
                times = int(total.seen[claim.index])
                yield f"{claim.key} was reached in {times:,} walks." if times else f"No walk reached {claim.key}."

    def _bounds_hit(self) -> dict[str, int]:
        hits = self.run.total.hits.tolist()
        return {name: count for name, count in zip(self.outing.kernel.bounds, hits, strict=False) if count}

    def _rules(self) -> dict[str, RuleCount]:
        total = self.run.total
        counts = zip(total.enabled.tolist(), total.taken.tolist(), total.changed.tolist(), strict=True)
        return {i.key: RuleCount(*three) for i, three in zip(self.outing.model.instances, counts, strict=True)}
