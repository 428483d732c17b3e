"""Clusters: many findings, minimized and grouped by shape, so that they can be read.

Words: a *cluster* is the findings of one shape; the shortest trace among them stands for it. Findings are taken in the
order of their walks, so that the same ones are minimized whatever the number of workers and executors. At most so many
are minimized as somebody asked for, and so many shapes kept as MOST says: nothing grows with the number of findings.
Minimizing keeps the action that leads to the violation, so that one bug does not disappear behind a shorter one.
"""
from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator

import numpy as np
from attrs import define, evolve, field, frozen

from model.language import Claim, Kind, Model
from search.confirm import EngineDisagreement
from search.kernel import Kernel
from search.progress import Progress, Report, silent
from search.shrink import Minimizer
from search.shrink.shape import Shape, Shapes
from search.trace import Trace
from search.verdict import DEADLOCK, Cluster, Verdict

MOST = 200
"""Shapes that are kept; a finding of a further one is only counted."""
WIDTHS = (100, 1000, 3000)
"""How wide the searches for a shorter trace are here, where there are many traces."""


@frozen(eq=False)
class Sample:
    """A finding to minimize: what is violated (None: a deadlock), the packed first state, and the steps from there.

    `trace` makes its trace, which only those that stand for a cluster need; `walk` is the walk of `seed` that met it.
    """

    claim: Claim | None
    start: bytes
    steps: tuple[int, ...]
    trace: Callable[[], Trace]
    seed: int | None = None
    walk: int | None = None


@define
class Group:
    """A cluster that grows: the finding with the shortest trace stands for it, the first one among equals."""

    first: Sample
    best: Sample
    length: int
    count: int = 0
    claims: dict[str, None] = field(factory=dict)

    def add(self, sample: Sample, length: int) -> None:
        """Count a finding whose minimized trace has so many steps."""
        self.count += 1
        self.claims[DEADLOCK if sample.claim is None else sample.claim.key] = None
        if length < self.length:
            self.best, self.length = sample, length


class Clusters:
    """Groups findings as they come."""

    def __init__(self, model: Model, kernel: Kernel, most: int = MOST) -> None:
        self.model, self.minimizer, self.most = model, Minimizer(model, kernel, WIDTHS), most
        self.shapes = Shapes(self.minimizer)
        self.groups: dict[Shape, Group] = {}
        self.minimized = self.left_out = 0

    def add(self, sample: Sample) -> None:
        """Minimize a finding and add it to the cluster of its shape; EngineDisagreement if replays do not show it."""
        end = self.minimizer.end_of(sample.claim, sample.steps)
        shrinker = self.minimizer.shrinker(() if sample.claim is None else (sample.claim,), end)
        taken = shrinker.shrink(sample.start, sample.steps)
        if taken is None:
            raise EngineDisagreement(f"A replay of a finding of {len(sample.steps)} steps does not show it.")
        self.minimized += 1
        shape = self.shapes.of(sample.claim, taken, shrinker)
        if shape not in self.groups:
            if len(self.groups) >= self.most:
                self.left_out += 1
                return
            self.groups[shape] = Group(sample, sample, len(taken))
        self.groups[shape].add(sample, len(taken))

    def result(self) -> tuple[Cluster, ...]:
        """The clusters, those of most findings first."""
        ordered = sorted(self.groups.items(), key=lambda pair: (-pair[1].count, len(pair[0].steps), pair[0]))
        return tuple(self._cluster(shape, group) for shape, group in ordered)

    def _cluster(self, shape: Shape, group: Group) -> Cluster:
        return Cluster(
            claim=shape.claim, steps=shape.steps, count=group.count, claims=tuple(sorted(group.claims)),
            seed=group.first.seed, walk=group.first.walk,
            trace=self.minimizer.minimized(group.best.trace(), same="end"),
        )  # fmt: skip

    def told(self) -> Iterator[str]:
        """What the clusters are made of, in sentences."""
        clusters = len(self.groups)
        yield f"The first {self.minimized:,} findings were minimized: {clusters:,} shape{'s' * (clusters != 1)}."
        if self.left_out:
            yield f"{self.left_out:,} of them have other shapes than the {self.most:,} that are kept."


def clustered(
    model: Model, kernel: Kernel, samples: Iterable[Sample], total: int, report: Report = silent
) -> tuple[tuple[Cluster, ...], tuple[str, ...]]:
    """The clusters of some findings, and sentences about them; on Ctrl-C of those that were minimized by then."""
    clusters, began, notes = Clusters(model, kernel), time.monotonic(), []
    try:
        for sample in samples:
            clusters.add(sample)
            report(Progress("shrink", clusters.minimized, "findings", time.monotonic() - began, total))
    except KeyboardInterrupt:
        notes.append(f"Interrupted after {clusters.minimized:,} of {total:,} findings that were to be minimized.")
    return clusters.result(), (*notes, *clusters.told())


def with_clusters(model: Model, kernel: Kernel, verdict: Verdict, report: Report = silent) -> Verdict:
    """The verdict with its findings grouped by shape; those that never end, and those without a trace, are not."""
    traces = [finding.trace for finding in verdict.findings if finding.trace is not None]
    samples = [sample for trace in traces if (sample := _sample(model, kernel, trace)) is not None]
    if not samples:
        return verdict
    clusters, told = clustered(model, kernel, samples, len(samples), report)
    return evolve(verdict, clusters=clusters, notes=(*verdict.notes, *told))


def _sample(model: Model, kernel: Kernel, trace: Trace) -> Sample | None:
    claim = None if trace.claim is None else model.claims_of(trace.claim)[0]
    if claim is not None and claim.kind is Kind.EVENTUALLY:
        return None
    start = kernel.pack(np.array([trace.states[0]], np.int64)).tobytes()
    return Sample(claim, start, tuple(model.instance(key).index for key in trace.actions), lambda: trace, trace.seed)
