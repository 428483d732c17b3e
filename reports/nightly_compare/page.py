"""A nightly run as one HTML page: what is new first, then findings, growth, coverage, bounds and cost.

No script and no external resource; readable in dark mode, on paper and on phones. The page is `index.html` in the
folder of the run, so that links to traces are short.
"""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path

from jinja2 import Environment

from kwalk.reports.document import Bullets
from kwalk.reports.document.html import html_blocks, lanes_of
from kwalk.reports.document.templates import environment
from kwalk.reports.escaping import visible
from kwalk.reports.nightly_compare import phrases
from kwalk.reports.nightly_compare.charts import HEIGHT, LEVELS, WIDTH, curve, heatmap_rows
from kwalk.reports.nightly_compare.comparison import compare, property_of
from kwalk.reports.nightly_compare.environment import brief
from kwalk.reports.nightly_compare.output import differences, summary_of
from kwalk.reports.nightly_compare.stories import chapters
from kwalk.reports.nightly_compare.trends import History, history_of, trends
from kwalk.reports.progress import duration
from kwalk.reports.traces.story import Fold, LoopStart, shown_lines, why_sentences
from kwalk.search.base.atomic_files import save
from kwalk.search.night.folder import PAGE
from kwalk.search.night.results import RunResult, TaskResult, read_run
from kwalk.search.night.tables import FindingRow

FACTS = {
    "seed": "seed",
    "commit": "commit",
    "kwalk": "kwalk",
    "python": "Python",
    "spark": "Spark",
    "java": "Java",
    "platform": "platform",
    "cpu": "CPU",
    "master": "master",
    "cores": "cores",
    "started": "started",
    "ended": "ended",
    "config_sha256": "configuration",
}
"""Fields of the manifest that the page shows, with their labels."""
UNCHANGED = "Nothing: the groups, the verdicts and the coverage are the same."


def write_page(run: Path, before: Path | None = None, history: Path | None = None) -> Path:
    """Write the page of a run, compared with an earlier one if given; return its path.

    Args:
        run: The folder of the run.
        before: That of an earlier run.
        history: A folder of runs, for trends; None for no trends.

    Raises:
        UsageError: A folder is not that of a run.
    """
    path = run / PAGE
    shown = read_run(run)
    past = None if history is None else history_of(shown, history)
    save(path, nightly_page(shown, None if before is None else read_run(before), past).encode())
    return path


def nightly_page(run: RunResult, before: RunResult | None = None, history: History | None = None) -> str:
    """Return the page of a run. Names from a model or a folder are escaped by the template."""
    comparison = None if before is None else compare(before, run)
    earlier = {} if comparison is None else {pair.after.number: pair.before for pair in comparison.pairs}
    news = [] if comparison is None else differences(comparison, lambda task, group: f"#{_anchor(task, group)}")
    steps = [] if comparison is None else [Bullets(tuple(phrases.actions_to_take(comparison)))]
    return (
        _environment()
        .get_template("nightly.html.j2")
        .render(
            history=history,
            trends=[] if history is None else list(trends(history, _short)),
            first_seen=lambda one: "" if history is None else history.first_seen(one.task, one.group),
            steps=html_blocks(steps) if steps and steps[0].items else "",
            claim_of=lambda one: phrases.claim_of(one.task.scenario, property_of(one.group)),
            run=run,
            comparison=comparison,
            chapters=list(chapters(run, comparison)),
            news=html_blocks(news),
            curves=[drawn for task in run.tasks if (drawn := curve(task, earlier.get(task.number)))],
            heatmap=heatmap_rows(run.tasks),
            levels=range(1, LEVELS + 1),
            width=WIDTH,
            height=HEIGHT,
            facts=FACTS,
            most_seconds=max((task.spent for task in run.tasks), default=0.0) or 1.0,
            began=_began(run),
            earlier_began="" if before is None else _began(before),
            at=lambda path: os.path.relpath(path, run.path),
            phrases=phrases,
            brief=brief,
            summary_of=summary_of,
            tone=phrases.tone_of_task,
            tone_of=phrases.tone_of_group,
            duration=duration,
            short=_short,
            lanes_of=lanes_of,
            shown_lines=shown_lines,
            why_sentences=why_sentences,
            unfold=False,
            anchor=_anchor,
            unchanged=UNCHANGED,
            is_fold=lambda chapter: isinstance(chapter, Fold),
            is_loop_start=lambda chapter: isinstance(chapter, LoopStart),
        )
    )


def _environment() -> Environment:
    """Return the templates, with printed texts made visible."""
    return environment().overlay(finalize=lambda thing: visible(thing) if type(thing) is str else thing)


def _anchor(task: TaskResult, group: FindingRow) -> str:
    """Return the anchor of a group in the page."""
    return f"t{task.number}-{group.group}"


def _began(run: RunResult) -> str:
    """Return the start of a run as a date and time in words."""
    started = run.text_of("started")
    try:
        return datetime.fromisoformat(started).strftime("%A %d %B %Y, %H:%M %Z").replace(" 0", " ")
    except ValueError:
        return started


def _short(number: float | None) -> str:
    """Return a number in few characters: 843, 12.3 k, 4.56 M."""
    if number is None:
        return "–"
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if abs(number) >= size:
            scaled = number / min(size, 1e3 if letter == "k" else size)
            return f"{scaled:.3g} {letter}"
    return f"{number:,.0f}" if abs(number) >= 10 else f"{number:.3g}"
