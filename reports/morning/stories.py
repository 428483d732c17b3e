"""The minimized traces of a run, told as stories: from their files, or where a task has not ended, from its tables."""
from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from attrs import frozen

from model.language import Claim, KwalkError, Model
from model.language.registry import find_scenario
from reports.morning.comparison import Comparison
from reports.morning.sentences import trace_file
from reports.replaying import Opened, open_trace, replay
from reports.story import Story, tell
from reports.trace_file import read_trace
from search.nightly.reading.results import RunResult, TaskResult
from search.nightly.tables import FindingRow
from search.trace import Trace, run, shows
from search.verdict import DEADLOCK

MOST_TOLD = 8
"""Clusters of a task whose stories are told; of the rest only the shape is."""


@frozen
class Told:
    """A cluster with its story, or with why there is none."""

    task: TaskResult
    cluster: FindingRow
    is_new: bool
    file: Path | None
    story: Story | None = None
    warning: str = ""

    @property
    def is_only_listed(self) -> bool:
        """Whether nobody has tried to tell it, as there are many."""
        return self.story is None and not self.warning


@frozen
class Chapter:
    """The clusters of a task that are new, or those that are known."""

    task: TaskResult
    is_new: bool
    told: tuple[Told, ...]

    @property
    def listed(self) -> tuple[Told, ...]:
        """Those that are not told."""
        return tuple(one for one in self.told if one.is_only_listed)


def chapters(result: RunResult, comparison: Comparison | None) -> Iterator[Chapter]:
    """All clusters of a run, those that are new first, then in the order of the tasks; the first ones with stories."""
    fresh = set() if comparison is None else {(task.number, cluster.cluster) for task, cluster in comparison.new}
    for new in (True, False):
        for task in result.tasks:
            chosen = [c for c in task.clusters if ((task.number, c.cluster) in fresh) == new]
            told = [_told(result, task, c, is_new=new, tell_it=n < MOST_TOLD) for n, c in enumerate(chosen)]
            if told:
                yield Chapter(task, new, tuple(told))


def _told(result: RunResult, task: TaskResult, cluster: FindingRow, *, is_new: bool, tell_it: bool) -> Told:
    file = trace_file(result.path, task, cluster)
    if not tell_it:
        return Told(task, cluster, is_new, file)
    try:
        opened = _opened_row(task, cluster) if file is None else open_trace(read_trace(file))
        fits = replay(opened.model, opened.trace)
        if fits.misfit:
            return Told(task, cluster, is_new, file, warning=f"The model has changed since: {fits.misfit}.")
        return Told(task, cluster, is_new, file, tell(opened.model, opened.trace), " ".join(opened.warnings))
    except KwalkError as error:
        return Told(task, cluster, is_new, file, warning=f"This trace cannot be told: {error}")


def _opened_row(task: TaskResult, cluster: FindingRow) -> Opened:
    """The trace that a cluster's row has, its states taken anew in plain Python; KwalkError if it cannot be taken."""
    model = Model(find_scenario(task.scenario), task.variant, dict(task.bounds), dict(task.flags))
    states = run(model, cluster.start, cluster.actions)
    claim = next((c for key in cluster.claims if (c := _claim(model, key)) and shows(model, c, states)), None)
    trace = Trace(
        scenario=task.scenario, variant=task.variant, bounds=dict(task.bounds), states=states, actions=cluster.actions,
        claim=None if claim is None else claim.key, flags=dict(task.flags), found_by=f"walk {cluster.first_walk}",
        shortest=None,
    )  # fmt: skip
    return Opened(model, trace)


def _claim(model: Model, key: str) -> Claim | None:
    return None if key == DEADLOCK else next((claim for claim in model.claims if claim.key == key), None)
