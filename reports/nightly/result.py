"""What came of a run: a table of verdicts, what each of them should be read with, files, and what to do next."""
from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from typing import Any

from attrs import asdict
from rich import box
from rich.console import RenderableType
from rich.table import Column, Table
from rich.text import Text

from reports.escaping import visible
from reports.progress import duration
from reports.summary import STYLES, indented
from search.nightly.folder import MANIFEST, PAGE, TRACES
from search.nightly.run import Result
from search.nightly.tables import RunRow
from search.verdict import Answer

INTERNAL = 70
"""The exit code where engines contradicted each other."""


def exit_code(result: Result) -> int:
    """That of the most serious verdict; INTERNAL before all."""
    return INTERNAL if result.internal else result.answer.exit_code


def printed(result: Result) -> Iterator[RenderableType]:
    """The result for people."""
    style = STYLES.get(result.answer, "bold red")
    ended = f"{len(result.rows):,} of {result.tasks:,} tasks"
    yield Text.assemble((result.answer.value.upper(), style), f"  {result.state}; {ended} have a verdict")
    yield _table(result.rows)
    for row in result.rows:
        yield Text.assemble((visible(row.name), "bold"), f"  {visible(row.answer)}")
        yield from (indented(note) for note in _facts(row))
    yield from (Text(visible(text), style="bold red") for text in result.internal)
    yield from (Text(f"  {visible(ending)}") for ending in endings(result))


def _table(rows: tuple[RunRow, ...]) -> Table:
    table = Table(
        Column("task", ratio=1), "verdict", Column("walks", justify="right"), Column("steps", justify="right"),
        Column("time", justify="right"), box=box.SIMPLE_HEAD, pad_edge=False, expand=True,
    )  # fmt: skip
    for row in rows:
        style = STYLES.get(Answer(row.answer), "bold red")
        table.add_row(
            visible(row.name), Text(row.answer, style=style), f"{row.walks:,}" if row.walks else "–", f"{row.steps:,}",
            duration(row.seconds),
        )  # fmt: skip
    return table


def _facts(row: RunRow) -> Iterator[str]:
    if row.why:
        yield row.why
    yield f"{row.how}; {work_done(row)}, seed {row.seed}"
    for bound, hits in json.loads(row.bounds_hit).items():
        yield f"bound reached: {bound}, {hits:,} times; the verdict speaks only within it"
    yield from row.notes
    yield f"Reproduce: {row.command}"


def work_done(row: RunRow) -> str:
    """What a task has done, in the words of its engine."""
    if row.engine == "exhaust":
        return f"{row.visits:,} distinct states, {row.steps:,} generated"
    return f"{row.walks:,} walks, {row.steps:,} steps, {row.visits:,} visits"


def endings(result: Result) -> Iterator[str]:
    """Where all of it is, and what can be done with it."""
    place = shlex.quote(str(result.folder))
    yield f"Run: {result.folder}"
    yield f"Manifest: {result.folder / MANIFEST}"
    if (result.folder / PAGE).exists():
        yield f"Read: {result.folder / PAGE}"
    traces = sorted((result.folder / TRACES).glob("*.itf.json"))
    yield from (f"Trace: {path}" for path in traces)
    if result.state != "complete":
        yield f"Go on: kwalk nightly --resume {place}"


def result_object(result: Result) -> dict[str, Any]:
    """The result for scripts."""
    return {
        "run": str(result.folder), "state": result.state, "verdict": result.answer.value,
        "exit_code": exit_code(result), "tasks": result.tasks, "internal": list(result.internal),
        "runs": [
            asdict(row) | {name: json.loads(getattr(row, name)) for name in ("bounds", "flags", "bounds_hit")}
            for row in result.rows
        ],
    }  # fmt: skip
