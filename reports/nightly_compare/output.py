"""A comparison of two nightly runs: as blocks for text and HTML, and as the object that `--json` prints."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from attrs import asdict

from kwalk.reports.document import Block, Card, CodeBlock, Details, Paragraph, Span, code, strong
from kwalk.reports.nightly_compare.comparison import REACHABLE, Comparison, Loss, Pair, property_of
from kwalk.reports.nightly_compare.environment import environment_notes, is_repeatable
from kwalk.reports.nightly_compare.phrases import (
    claim_of,
    evidence,
    headline,
    pair_sentences,
    shape_of,
    suspect_commits,
    tone_of_group,
    tone_of_task,
    trace_file,
)
from kwalk.search.night.results import RunResult, TaskResult
from kwalk.search.night.tables import FindingRow

Link = Callable[[TaskResult, FindingRow], str | None]
"""The address of a group's story on a page, None without one."""
TONES = {"NEW SHAPE": "open", "ACCEPTED": "faint", "GONE": "good"}
"""The tones of groups of properties that are not newly violated."""
OPEN = {"NEW": 10, "NEW SHAPE": 10, "ACCEPTED": 0, "GONE": 3}
"""The number of groups that a page shows without a click."""


def summary_of(comparison: Comparison) -> tuple[str, str]:
    """Return the first words of a comparison, and their tone."""
    if comparison.is_broken:
        return "NEWLY VIOLATED", "bad"
    if comparison.has_new_shapes:
        return "NEW SHAPES", "open"
    return ("LESS IS KNOWN", "open") if comparison.has_lost else ("NOTHING WORSE", "good")


def comparison_text(comparison: Comparison) -> Iterator[Block]:
    """Yield the summary, then all differences."""
    word, tone = summary_of(comparison)
    yield Paragraph([strong(word, tone), f"  {headline(comparison)}"])
    yield Paragraph([Span(f"{comparison.before.path} → {comparison.after.path}", "faint")], 2)
    yield from differences(comparison)


def differences(comparison: Comparison, link: Link | None = None) -> Iterator[Block]:
    """Yield what is new, then what else differs in each task, what is gone, and how the runs themselves differ.

    With `link`, new groups link to their stories; without, they have the command that shows their trace.
    """
    yield from _groups(comparison, "NEW", comparison.new, link)
    yield from _groups(comparison, "NEW SHAPE", comparison.new_shapes, link)
    for pair in comparison.pairs:
        tone = tone_of_task(pair.after) if pair.verdict_changed else ""
        yield from _card(pair.after.name, pair_sentences(pair), tone)
    for which, tasks in (("later", comparison.only_after), ("earlier", comparison.only_before)):
        for task in tasks:
            text = f"in the {which} run only: {task.answer} ({task.how})"
            yield from _card(task.name, [text], tone_of_task(task))
    yield from _groups(comparison, "ACCEPTED", comparison.accepted, link)
    yield from _groups(comparison, "GONE", comparison.gone, link)
    yield from _card("How the runs differ", environment_notes(comparison.before, comparison.after))


def _card(title: str, sentences: Iterable[str], tone: str = "") -> Iterator[Block]:
    paragraphs = tuple(Paragraph(sentence, 4) for sentence in sentences)
    if paragraphs:
        yield Card([strong(title)], paragraphs, tone)


def _groups(
    comparison: Comparison, word: str, groups: Iterable[tuple[TaskResult, FindingRow]], link: Link | None
) -> Iterator[Block]:
    cards = tuple(_group_card(comparison, word, *each, link) for each in groups)
    shown, folded = cards[: OPEN[word]], cards[OPEN[word] :]
    yield from shown
    if folded:
        more = " more" if shown else ""
        yield Details(f"{len(folded):,}{more} {'is' if len(folded) == 1 else 'are'} {word.lower()}", folded)


def _group_card(comparison: Comparison, word: str, task: TaskResult, group: FindingRow, link: Link | None) -> Card:
    is_new = word.startswith("NEW")
    tone = TONES.get(word, "bad") if group.kind != REACHABLE else tone_of_group(group)
    title = [strong(word, tone), strong(f"  {task.name}: {group.property}")]
    claim = claim_of(task.scenario, property_of(group))
    blocks: list[Paragraph | CodeBlock] = [Paragraph(claim, 7)] if claim else []
    blocks.append(Paragraph(evidence(task, group), 7))
    suspects = suspect_commits(comparison.before, comparison.after)
    if group.accepted:
        blocks.append(Paragraph(f"accepted: {group.accepted}", 7))
    if is_new and comparison.is_beyond(task, group):
        blocks.append(Paragraph("the earlier run ended before this walk: it may have missed this for want of time", 7))
    if is_new and suspects:
        blocks.append(Paragraph(["first seen in this run; suspect commits ", code(suspects)], 7))
    if link is not None and is_new and (address := link(task, group)):
        blocks.append(Paragraph([Span("its trace", href=address)]))
    blocks.append(Paragraph([Span(shape_of(group), "faint")], 7))
    trace = trace_file(comparison.after.path, task, group) if is_new and link is None else None
    if trace is not None:
        blocks.append(CodeBlock((f"kwalk replay {shlex.quote(str(trace))}",), 7))
    return Card(title, tuple(blocks), tone)


# JSON.

MANIFEST_FIELDS = ("state", "seed", "commit", "config_sha256", "kwalk", "started", "wall_seconds")
"""Fields of a manifest that the object repeats."""


def comparison_object(comparison: Comparison) -> dict[str, Any]:
    """Return the object."""
    before, after = comparison.before, comparison.after
    return {
        "before": _run(before),
        "after": _run(after),
        "repeatable": is_repeatable(before, after),
        "notes": list(environment_notes(before, after)),
        "new": [_group(after, *each) for each in comparison.new],
        "gone": [_group(before, *each) for each in comparison.gone],
        "new_shapes": [_group(after, *each) for each in comparison.new_shapes],
        "accepted": [_group(after, *each) for each in comparison.accepted],
        "known": comparison.known_groups,
        "tasks": [_pair(pair) for pair in comparison.pairs],
        "only_before": [_task(task) for task in comparison.only_before],
        "only_after": [_task(task) for task in comparison.only_after],
    }


def _run(run: RunResult) -> dict[str, Any]:
    return {
        "run": str(run.path),
        **{name: run.manifest.get(name) for name in MANIFEST_FIELDS},
        "missing": list(run.missing),
    }


def _task(task: TaskResult) -> dict[str, Any]:
    return {
        "task": task.number,
        "name": task.name,
        "scenario": task.scenario,
        "variant": task.variant,
        "bounds": dict(task.bounds),
        "flags": dict(task.flags),
        "engine": task.engine,
        "verdict": task.answer,
        "how": task.how,
        "accepted": list(task.accepted),
    }


def _group(run: RunResult, task: TaskResult, group: FindingRow) -> dict[str, Any]:
    trace = trace_file(run.path, task, group)
    return {
        "task": task.number,
        "name": task.name,
        "group": group.group,
        "kind": group.kind,
        "property": group.property,
        "steps": list(group.steps),
        "count": group.count,
        "properties": list(group.properties),
        "first_walk": group.first_walk,
        "length": group.length,
        "actions": list(group.actions),
        "accepted": group.accepted,
        "trace_file": None if trace is None else str(trace),
    }


def _pair(pair: Pair) -> dict[str, Any]:
    before, after = pair.before, pair.after
    return {
        **_task(after),
        "verdict_before": before.answer,
        "how_before": before.how,
        "new": [group.group for group in pair.new],
        "new_shapes": [group.group for group in pair.new_shapes],
        "gone": [group.group for group in pair.gone],
        "shorter": [now.group for _, now in pair.shorter],
        "untested": _losses(pair.untested),
        "stopped": _losses(pair.stopped),
        "bounds_newly_hit": dict(pair.bounds_newly_hit),
        "rate_before": before.rate,
        "rate": after.rate,
    }


def _losses(losses: Iterable[Loss]) -> list[dict[str, Any]]:
    return [asdict(loss) for loss in losses]
