"""Groups: many findings, minimized and grouped by shape, so that they can be read.

Words: a *group* is the findings of one shape; the shortest trace among them represents it. Groups of some findings
and groups of others can be *merged* into the groups of all, so that processes can share the work. The number of
findings to minimize is limited by the caller and the number of shapes by MAX_SHAPES: memory does not grow with the
number of findings. Minimizing keeps the action that leads to the violation, so that one bug does not disappear behind
another one with a shorter trace.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from attrs import evolve, field, frozen

from kwalk.model.language import Model
from kwalk.search.base.progress import Progress, Report, silent
from kwalk.search.kernel.interface import Kernel
from kwalk.search.kernel.python_comparison import EngineDisagreement
from kwalk.search.kernel.stepping import PlainStepper
from kwalk.search.minimize.model_signature import ModelSignature
from kwalk.search.minimize.replay import Behaviour
from kwalk.search.minimize.shape import Shapes, TraceShape
from kwalk.search.minimize.shrink import SECONDS_AFTER_INTERRUPT, MinimizationTarget, Minimizer
from kwalk.search.results.confirmation import Origin, confirmed_trace, path_along
from kwalk.search.results.trace import Trace
from kwalk.search.results.verdict import DEADLOCK, FindingGroup, Verdict

MAX_SHAPES = 200
"""Shapes that are kept, those of fewest steps; findings of other shapes are only counted."""


@frozen
class FindingSample:
    """A finding in numbers, which mean the same in all processes that have the same model."""

    prop: int | None
    """The number of the violated property instance; None for a deadlock."""
    start: bytes
    """The packed first state."""
    steps: tuple[int, ...]
    """The numbers of the action instances taken from there."""
    origin: Origin
    walk: int | None = None
    """The number of the walk that found it."""

    @property
    def order(self) -> tuple[int, int]:
        """The sort key by seed, then by walk."""
        seed = self.origin.seed
        return -1 if seed is None else seed, -1 if self.walk is None else self.walk

    @property
    def rank(self) -> tuple[int, tuple[int, int], int, tuple[int, ...], bytes]:
        """The sort key by length, then by order; the least sample of a shape represents it."""
        return len(self.steps), self.order, -1 if self.prop is None else self.prop, self.steps, self.start


@frozen
class ShapeGroup:
    """The findings of one shape: their number, the properties violated (None: a deadlock), the first and the best."""

    count: int
    properties: frozenset[int | None]
    first: FindingSample
    best: FindingSample

    def __add__(self, other: ShapeGroup) -> ShapeGroup:
        first = min(self.first, other.first, key=lambda sample: (sample.order, sample.rank))
        best = min(self.best, other.best, key=lambda sample: sample.rank)
        return ShapeGroup(self.count + other.count, self.properties | other.properties, first, best)


@frozen
class FindingGroups:
    """Findings by shape, in bounded memory; without the model, so that they can be pickled and sent."""

    groups: Mapping[TraceShape, ShapeGroup] = field(factory=dict)
    minimized: int = 0
    """The number of findings, including those whose shapes are not kept."""
    most: int = MAX_SHAPES
    """Shapes that are kept: those of fewest steps."""

    @property
    def left_out(self) -> int:
        """The number of findings whose shapes are not kept."""
        return self.minimized - sum(group.count for group in self.groups.values())

    @property
    def notes(self) -> Iterator[str]:
        """How many findings and shapes there are, in sentences."""
        shapes = len(self.groups)
        yield f"{self.minimized:,} findings were minimized: {shapes:,} shape{'s' * (shapes != 1)}."
        if self.left_out:
            yield f"{self.left_out:,} of them have other shapes than the {self.most:,} of fewest steps that are kept."


def merge(one: FindingGroups, other: FindingGroups) -> FindingGroups:
    """Merge the groups of findings of the same model, variant, bounds and flags.

    The result does not depend on the order and the number of parts in which findings are merged. Which shapes are kept
    depends on the shapes alone, so that no finding of a kept shape was discarded earlier.
    """
    most = min(one.most, other.most)
    groups = dict(one.groups)
    for shape, group in other.groups.items():
        groups[shape] = groups[shape] + group if shape in groups else group
    if len(groups) > most:
        kept = sorted(groups, key=lambda shape: (len(shape.steps), shape))[:most]
        groups = {shape: groups[shape] for shape in kept}
    return FindingGroups(groups, one.minimized + other.minimized, most)


class Grouping:
    """Minimizes findings and groups them by shape: `groups` are those of the findings added so far."""

    def __init__(self, model: Model | ModelSignature, kernel: Kernel, most: int = MAX_SHAPES) -> None:
        self.model: Any = model  # a signature suffices to add findings, but not for the result
        self.kernel, self.minimizer = kernel, Minimizer(model, kernel, cached=True)
        self.shapes = Shapes(self.minimizer)
        self.groups = FindingGroups(most=most)

    def add(self, sample: FindingSample) -> None:
        """Minimize a finding and add it to the group of its shape; EngineDisagreement if replays do not show it."""
        shape, small = self.minimize(sample)
        group = ShapeGroup(1, frozenset([small.prop]), small, small)
        self.groups = merge(self.groups, FindingGroups({shape: group}, 1, self.groups.most))

    def minimize(self, sample: FindingSample) -> tuple[TraceShape, FindingSample]:
        """Return the shape of a finding, and the minimized finding; EngineDisagreement if replays do not show it."""
        prop = None if sample.prop is None else self.model.properties[sample.prop]
        # A walk that begins at a restart may have violated the property before, on the path to it: it is cut there.
        given, any_action = sample.steps, MinimizationTarget(() if prop is None else (prop,))
        start = Behaviour((), (sample.start,))
        first = self.minimizer.shrinker(any_action).replay(start, given, len(given) + 1)
        steps = given if first is None else first.steps
        target = self.minimizer.target(prop, steps)
        result = self.minimizer.minimize_steps(target, sample.start, steps)
        if result is None:
            raise EngineDisagreement(f"A replay of a finding of {len(given)} steps does not show it.")
        best = result.behaviour
        shortest = (sample.origin.shortest if len(best) == len(given) else None) or result.proof
        found_by = f"{sample.origin.found_by or 'given'} in {len(given)} steps; locally minimal"
        origin = evolve(sample.origin, found_by=found_by, shortest=shortest)
        small = FindingSample(sample.prop, best.states[0], best.steps, origin, sample.walk)
        return self.shapes.of(prop, best, self.minimizer.shrinker(target)), small

    def result(self) -> tuple[FindingGroup, ...]:
        """Return the groups with confirmed traces, those of most findings first."""
        return finding_groups(self.model, self.kernel, self.groups)


def finding_groups(model: Model, kernel: Kernel, groups: FindingGroups) -> tuple[FindingGroup, ...]:
    """Return groups for a verdict, those of most findings first; plain execution confirms the traces."""
    ordered = sorted(groups.groups.items(), key=lambda pair: (-pair[1].count, len(pair[0].steps), pair[0]))
    return tuple(
        FindingGroup(
            prop=shape.prop,
            steps=shape.steps,
            count=group.count,
            seed=group.first.origin.seed,
            properties=tuple(sorted(DEADLOCK if n is None else model.properties[n].key for n in group.properties)),
            walk=group.first.walk,
            trace=trace_of(model, kernel, group.best),
        )
        for shape, group in ordered
    )


def trace_of(model: Model, kernel: Kernel, sample: FindingSample) -> Trace:
    """Return the trace of a finding; EngineDisagreement if plain execution does not show it."""
    prop = None if sample.prop is None else model.properties[sample.prop]
    path = path_along(kernel, np.frombuffer(sample.start, np.uint64), sample.steps)
    trace = confirmed_trace(model, kernel, path, prop=prop, origin=sample.origin)
    if prop is None and not PlainStepper(model, ()).shows(trace.states[-1], None):
        raise EngineDisagreement(f"Plain execution can continue after a deadlock of {trace.length} steps.")
    return trace


def grouped(
    grouping: Grouping,
    samples: Iterable[FindingSample],
    total: int,
    report: Report = silent,
    *,
    interrupted: bool = False,
) -> tuple[tuple[FindingGroup, ...], tuple[str, ...]]:
    """Add findings to a grouping; return its groups, and notes on them.

    Ctrl-C ends this with the findings minimized so far. If it has `interrupted` the search before, so does
    SECONDS_AFTER_INTERRUPT.
    """
    began, notes = time.monotonic(), []
    try:
        for sample in samples:
            if interrupted and time.monotonic() - began > SECONDS_AFTER_INTERRUPT:
                raise KeyboardInterrupt
            grouping.add(sample)
            done = grouping.groups.minimized
            report(Progress("shrink", done, "findings", time.monotonic() - began, total))
    except KeyboardInterrupt:
        done = grouping.groups.minimized
        notes.append(f"Interrupted after {done:,} of {total:,} findings that were to be minimized.")
    return grouping.result(), (*notes, *grouping.groups.notes)


def with_groups(model: Model, kernel: Kernel, verdict: Verdict, report: Report = silent) -> Verdict:
    """Return the verdict with its findings grouped by shape, except for lassos and findings without a trace."""
    traces = [finding.trace for finding in verdict.findings if finding.trace is not None]
    samples = [sample for trace in traces if (sample := _sample(model, kernel, trace)) is not None]
    if not samples:
        return verdict
    grouping, interrupted = Grouping(model, kernel), verdict.is_interrupted
    groups, notes = grouped(grouping, samples, len(samples), report, interrupted=interrupted)
    return evolve(verdict, groups=groups, notes=(*verdict.notes, *notes))


def _sample(model: Model, kernel: Kernel, trace: Trace) -> FindingSample | None:
    prop = None if trace.prop is None else model.properties_of(trace.prop)[0]
    if prop is not None and prop.kind.is_liveness:
        return None
    start = kernel.pack(np.array([trace.states[0]], np.int64)).tobytes()
    steps = tuple(model.instance(key).index for key in trace.actions)
    origin = Origin(trace.found_by, trace.shortest, trace.seed, trace.command)
    return FindingSample(None if prop is None else prop.index, start, steps, origin)
