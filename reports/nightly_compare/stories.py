"""The minimized traces of a run as stories: from their files or, if a task has not ended, from its tables."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from attrs import evolve, frozen

from kwalk.model.language import KwalkError, Model, PropertyInstance
from kwalk.model.language.registry import find_scenario
from kwalk.reports.nightly_compare.comparison import Comparison
from kwalk.reports.nightly_compare.phrases import trace_file
from kwalk.reports.traces.replay import OpenedTrace, open_trace, replay
from kwalk.reports.traces.story import Story, story_of
from kwalk.reports.traces.trace_file import read_trace
from kwalk.search.night.results import RunResult, TaskResult
from kwalk.search.night.tables import FindingRow
from kwalk.search.results.trace import Trace, is_violated_at_end, run
from kwalk.search.results.verdict import DEADLOCK

MOST_STORIES = 8
"""The number of groups of a task that are shown with their stories; the others are listed."""


@frozen
class GroupStory:
    """A group with its story, or with a warning why there is none."""

    task: TaskResult
    group: FindingRow
    file: Path | None
    story: Story | None = None
    warning: str = ""

    @property
    def is_only_listed(self) -> bool:
        """Whether it is listed without a story, because there are many."""
        return self.story is None and not self.warning


@frozen
class GroupChapter:
    """The groups of a task that are new, those that are new shapes, or the others; `news` says which of the three."""

    task: TaskResult
    news: str
    stories: tuple[GroupStory, ...]

    @property
    def listed(self) -> tuple[GroupStory, ...]:
        """Those that are listed without a story."""
        return tuple(one for one in self.stories if one.is_only_listed)


def chapters(result: RunResult, comparison: Comparison | None) -> Iterator[GroupChapter]:
    """Yield all groups of a run, new ones first, then in the order of the tasks; the first ones with stories."""
    news = {} if comparison is None else _news(comparison)
    for word in ("new", "new shape", ""):
        for task in result.tasks:
            chosen = [c for c in task.groups if news.get((task.number, c.group), "") == word]
            stories = [_group_story(result, task, c, with_story=n < MOST_STORIES) for n, c in enumerate(chosen)]
            if stories:
                yield GroupChapter(task, word, tuple(stories))


def _news(comparison: Comparison) -> dict[tuple[int, str], str]:
    """Return what is new of the groups of the later run, by task and id."""
    shapes = {(task.number, group.group): "new shape" for task, group in comparison.new_shapes}
    return shapes | {(task.number, group.group): "new" for task, group in comparison.new}


def _group_story(result: RunResult, task: TaskResult, group: FindingRow, *, with_story: bool) -> GroupStory:
    file = trace_file(result.path, task, group)
    listed = GroupStory(task, group, file)
    if not with_story:
        return listed
    try:
        opened = _opened_row(task, group) if file is None else open_trace(read_trace(file))
        fits = replay(opened.model, opened.trace)
        if fits.mismatch:
            return evolve(listed, warning=f"The model has changed since the run: {fits.mismatch}.")
        return evolve(listed, story=story_of(opened.model, opened.trace), warning=" ".join(opened.warnings))
    except KwalkError as error:
        return evolve(listed, warning=f"This trace cannot be shown: {error}")


def _opened_row(task: TaskResult, group: FindingRow) -> OpenedTrace:
    """Return the trace of a group's row, executed again in plain Python; KwalkError if that fails."""
    model = Model(find_scenario(task.scenario), task.variant, dict(task.bounds), dict(task.flags))
    states = run(model, group.start, group.actions)
    prop = next(
        (c for key in group.properties if (c := _property(model, key)) and is_violated_at_end(model, c, states)), None
    )
    trace = Trace(
        scenario=task.scenario,
        variant=task.variant,
        bounds=dict(task.bounds),
        states=states,
        actions=group.actions,
        prop=None if prop is None else prop.key,
        flags=dict(task.flags),
        found_by=f"walk {group.first_walk}",
        shortest=None,
    )
    return OpenedTrace(model, trace)


def _property(model: Model, key: str) -> PropertyInstance | None:
    return None if key == DEADLOCK else next((prop for prop in model.properties if prop.key == key), None)
