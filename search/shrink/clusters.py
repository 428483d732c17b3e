"""Clusters: many findings, minimized and grouped by shape, so that they can be read.

Words: a *cluster* is the findings of one shape; the shortest trace among them stands for it. Clusters of some findings
and clusters of others are *merged* into those of all: that is how many processes share the work. At most so many
findings are minimized as somebody asked for, and so many shapes kept as MOST says: nothing grows with the number of
findings. Minimizing keeps the action that leads to the violation, so that one bug does not disappear behind a shorter
one.
"""
from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from attrs import evolve, field, frozen

from model.language import Kind, Model
from search.confirm import EngineDisagreement, Origin, confirmed, path_along
from search.kernel import Kernel
from search.progress import Progress, Report, silent
from search.shrink import Aim, Minimizer
from search.shrink.behaviour import Behaviour
from search.shrink.cast import Cast
from search.shrink.shape import Shape, Shapes
from search.stepping import PlainStepper
from search.trace import Trace
from search.verdict import DEADLOCK, Cluster, Verdict

MOST = 200
"""Shapes that are kept, those of fewest steps; a finding of another one is only counted."""


@frozen
class Sample:
    """A finding in numbers, which mean the same to all who have the same model.

    `claim` is the number of what is violated (None: a deadlock), `start` the packed first state, `steps` the numbers of
    the instances from there, `origin` what is known of where it was found, and `walk` the walk of its seed that met it.
    """

    claim: int | None
    start: bytes
    steps: tuple[int, ...]
    origin: Origin
    walk: int | None = None

    @property
    def place(self) -> tuple[int, int]:
        """Where it was found: findings are in the order of their seeds, and then of their walks."""
        seed = self.origin.seed
        return -1 if seed is None else seed, -1 if self.walk is None else self.walk

    @property
    def rank(self) -> tuple[int, tuple[int, int], int, tuple[int, ...], bytes]:
        """Of two that tell the same, the lesser one is kept: the shorter, and among equals the one found first."""
        return len(self.steps), self.place, -1 if self.claim is None else self.claim, self.steps, self.start


@frozen
class Group:
    """What is kept of the findings of one shape: how many, of which claims, the first one and the best, minimized."""

    count: int
    claims: frozenset[int | None]
    first: Sample
    best: Sample

    def __add__(self, other: Group) -> Group:
        first = min(self.first, other.first, key=lambda sample: (sample.place, sample.rank))
        best = min(self.best, other.best, key=lambda sample: sample.rank)
        return Group(self.count + other.count, self.claims | other.claims, first, best)


@frozen
class Clusters:
    """Findings by their shapes, in bounded room; without the Model, so that it can be pickled and sent.

    `minimized` findings are counted, those of shapes that are not among the `most` of fewest steps included.
    """

    groups: Mapping[Shape, Group] = field(factory=dict)
    minimized: int = 0
    most: int = MOST

    @property
    def left_out(self) -> int:
        """How many findings have shapes that are not kept."""
        return self.minimized - sum(group.count for group in self.groups.values())

    @property
    def told(self) -> Iterator[str]:
        """What the clusters are made of, in sentences."""
        shapes = len(self.groups)
        yield f"{self.minimized:,} findings were minimized: {shapes:,} shape{'s' * (shapes != 1)}."
        if self.left_out:
            yield f"{self.left_out:,} of them have other shapes than the {self.most:,} of fewest steps that are kept."


def merge(one: Clusters, other: Clusters) -> Clusters:
    """The clusters of the findings of both, which must be of the same model, variant, bounds and flags.

    It does not matter in which order, and in how many parts, findings are merged. Which shapes are kept depends on the
    shapes alone, so that no finding of a kept one was forgotten earlier.
    """
    most = min(one.most, other.most)
    groups = dict(one.groups)
    for shape, group in other.groups.items():
        groups[shape] = groups[shape] + group if shape in groups else group
    if len(groups) > most:
        kept = sorted(groups, key=lambda shape: (len(shape.steps), shape))[:most]
        groups = {shape: groups[shape] for shape in kept}
    return Clusters(groups, one.minimized + other.minimized, most)


class Clustering:
    """Groups findings as they come: `clusters` are those of the findings that were added."""

    def __init__(self, model: Model | Cast, kernel: Kernel, most: int = MOST) -> None:
        self.model: Any = model  # a cast is enough to add findings, but not for the result
        self.kernel, self.minimizer = kernel, Minimizer(model, kernel, remembers=True)
        self.shapes = Shapes(self.minimizer)
        self.clusters = Clusters(most=most)

    def add(self, sample: Sample) -> None:
        """Minimize a finding and add it to the cluster of its shape; EngineDisagreement if replays do not show it."""
        shape, small = self.minimized(sample)
        group = Group(1, frozenset([small.claim]), small, small)
        self.clusters = merge(self.clusters, Clusters({shape: group}, 1, self.clusters.most))

    def minimized(self, sample: Sample) -> tuple[Shape, Sample]:
        """The shape of a finding, and the finding in as few steps; EngineDisagreement if replays do not show it."""
        claim = None if sample.claim is None else self.model.claims[sample.claim]
        # A walk that begins at a restart may have met the same before, on the way there: then that is where it ends.
        begun, given = Behaviour((), (sample.start,)), sample.steps
        first = self.minimizer.shrinker(Aim(() if claim is None else (claim,))).replay(begun, given, len(given) + 1)
        steps = given if first is None else first.steps
        aim = self.minimizer.aim(claim, steps)
        shrunk = self.minimizer.shrunk(aim, sample.start, steps)
        if shrunk is None:
            raise EngineDisagreement(f"A replay of a finding of {len(sample.steps)} steps does not show it.")
        taken = shrunk.behaviour
        proved = sample.origin.shortest if len(taken) == len(sample.steps) else None
        if shrunk.is_proved:
            proved = proved or f"exhaustive to depth {max(0, len(taken) - 1)}"
        how = f"{sample.origin.found_by or 'given'} in {len(sample.steps)} steps; locally minimal"
        origin = evolve(sample.origin, found_by=how, shortest=proved)
        small = Sample(sample.claim, taken.states[0], taken.steps, origin, sample.walk)
        return self.shapes.of(claim, taken, self.minimizer.shrinker(aim)), small

    def result(self) -> tuple[Cluster, ...]:
        """The clusters, those of most findings first, with traces."""
        return told_by(self.model, self.kernel, self.clusters)


def told_by(model: Model, kernel: Kernel, clusters: Clusters) -> tuple[Cluster, ...]:
    """What a verdict says of clusters, those of most findings first; the traces are confirmed by plain execution."""
    ordered = sorted(clusters.groups.items(), key=lambda pair: (-pair[1].count, len(pair[0].steps), pair[0]))
    return tuple(
        Cluster(
            claim=shape.claim, steps=shape.steps, count=group.count, seed=group.first.origin.seed,
            claims=tuple(sorted(DEADLOCK if n is None else model.claims[n].key for n in group.claims)),
            walk=group.first.walk, trace=trace_of(model, kernel, group.best),
        )
        for shape, group in ordered
    )  # fmt: skip


def trace_of(model: Model, kernel: Kernel, sample: Sample) -> Trace:
    """The trace of a finding; EngineDisagreement if plain execution does not show the same."""
    claim = None if sample.claim is None else model.claims[sample.claim]
    path = path_along(kernel, np.frombuffer(sample.start, np.uint64), sample.steps)
    trace = confirmed(model, kernel, path, claim=claim, origin=sample.origin)
    if claim is None and not PlainStepper(model, ()).shows(trace.states[-1], None):
        raise EngineDisagreement(f"Plain execution goes on after a deadlock of {trace.length} steps.")
    return trace


def clustered(
    model: Model, kernel: Kernel, samples: Iterable[Sample], total: int, report: Report = silent
) -> tuple[tuple[Cluster, ...], tuple[str, ...]]:
    """The clusters of some findings, and sentences about them; on Ctrl-C of those that were minimized by then."""
    clustering, began, notes = Clustering(model, kernel), time.monotonic(), []
    try:
        for sample in samples:
            clustering.add(sample)
            done = clustering.clusters.minimized
            report(Progress("shrink", done, "findings", time.monotonic() - began, total))
    except KeyboardInterrupt:
        done = clustering.clusters.minimized
        notes.append(f"Interrupted after {done:,} of {total:,} findings that were to be minimized.")
    return clustering.result(), (*notes, *clustering.clusters.told)


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
    steps = tuple(model.instance(key).index for key in trace.actions)
    origin = Origin(trace.found_by, trace.shortest, trace.seed, trace.command)
    return Sample(None if claim is None else claim.index, start, steps, origin)
