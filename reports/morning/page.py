"""A nightly run as one HTML page: what is new first, then everything else that somebody wants to see over coffee.

No script, nothing from elsewhere; it fits a phone, the dark and paper. The page lies in the run's folder as
`index.html`, so that links to traces are short.
"""
from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path
from typing import Any

from jinja2 import Environment

from reports.escaping import visible
from reports.morning import sentences
from reports.morning.circumstances import brief, circumstances
from reports.morning.comparison import BROKEN, REACHABLE, Comparison, compare
from reports.morning.growth import HEIGHT, WIDTH, curve
from reports.morning.heat import HEATS, heat_rows
from reports.morning.stories import chapters
from reports.page import HUES, environment
from reports.progress import duration
from reports.story import Fold, Story, Turn
from reports.text import shown_lines, why_sentences
from search.nightly.files import save
from search.nightly.folder import PAGE
from search.nightly.reading import read_run
from search.nightly.reading.results import RunResult, TaskResult
from search.nightly.tables import FindingRow

FACTS = {
    "seed": "seed", "commit": "commit", "kwalk": "kwalk", "python": "Python", "spark": "Spark", "java": "Java",
    "platform": "platform", "cpu": "CPU", "master": "master", "cores": "cores", "started": "started", "ended": "ended",
    "config_sha256": "configuration",
}  # fmt: skip
"""Fields of the manifest that the page shows, and what it calls them."""


def write_page(run: Path, before: Path | None = None) -> Path:
    """Write the page of a run, against an earlier one if it is given; its path. UsageError if a folder is no run."""
    path = run / PAGE
    save(path, night_page(read_run(run), None if before is None else read_run(before)).encode())
    return path


def night_page(run: RunResult, before: RunResult | None = None) -> str:
    """The page of a run. Everything that comes from a model or a folder is escaped by the template."""
    comparison = None if before is None else compare(before, run)
    earlier = {} if comparison is None else {pair.after.number: pair.before for pair in comparison.pairs}
    return _environment().get_template("night.html.j2").render(
        run=run, comparison=comparison, chapters=list(chapters(run, comparison)),
        curves=[drawn for task in run.tasks if (drawn := curve(task, earlier.get(task.number)))],
        heat=heat_rows(run.tasks), heats=range(1, HEATS + 1), width=WIDTH, height=HEIGHT, facts=FACTS,
        most_seconds=max((task.spent for task in run.tasks), default=0.0) or 1.0, began=_began(run),
        earlier_began="" if before is None else _began(before), at=lambda path: os.path.relpath(path, run.path),
        link=lambda task, cluster: f"#{_anchor(task, cluster)}", **_common(),
    )  # fmt: skip


def comparison_page(comparison: Comparison, folder: Path) -> str:
    """The page of a comparison, to lie in this folder."""
    return _environment().get_template("comparison.html.j2").render(
        comparison=comparison, began=_began, link=lambda task, cluster: _page_link(comparison, folder, (task, cluster)),
        **_common(),
    )  # fmt: skip


def _page_link(comparison: Comparison, folder: Path, found: tuple[TaskResult, FindingRow]) -> str | None:
    """Where the page of the later run tells a cluster, None if there is no such page."""
    page = comparison.after.path / PAGE
    return f"{os.path.relpath(page, folder)}#{_anchor(*found)}" if page.exists() else None


def _environment() -> Environment:
    """The templates, with texts made visible on their way out."""
    return environment().overlay(finalize=lambda thing: visible(thing) if type(thing) is str else thing)


def _common() -> dict[str, Any]:
    """What both pages print with."""
    return {
        "sentences": sentences, "circumstances": circumstances, "brief": brief, "tone": _tone, "tone_of": _tone_of,
        "duration": duration, "short": _short, "lanes_of": _lanes, "shown_lines": shown_lines,
        "why_sentences": why_sentences, "unfold": False,
        "is_fold": lambda chapter: isinstance(chapter, Fold), "is_turn": lambda chapter: isinstance(chapter, Turn),
        "anchor": _anchor,
    }  # fmt: skip


def _lanes(story: Story) -> dict[str, int]:
    return {actor: number % HUES for number, actor in enumerate(story.actors)}


def _tone(answer: str) -> str:
    """How an answer looks."""
    return "bad" if answer in BROKEN else {"holds": "good"}.get(answer, "open")


def _tone_of(cluster: FindingRow) -> str:
    return "good" if cluster.kind == REACHABLE else "bad"


def _anchor(task: TaskResult, cluster: FindingRow) -> str:
    """The name of a cluster's place in the page."""
    return f"t{task.number}-{cluster.cluster}"


def _began(run: RunResult) -> str:
    """When a run began, as people write it."""
    told = run.told("started")
    try:
        return datetime.fromisoformat(told).strftime("%A %d %B %Y, %H:%M %Z").replace(" 0", " ")
    except ValueError:
        return told


def _short(number: float | None) -> str:
    """A number in few characters: 843, 12.3 k, 4.56 M."""
    if number is None:
        return "–"
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if abs(number) >= size:
            scaled = number / min(size, 1e3 if letter == "k" else size)
            return f"{scaled:.3g} {letter}"
    return f"{number:,.0f}" if abs(number) >= 10 else f"{number:.3g}"


