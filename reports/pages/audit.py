"""The results of an audit of fixes: as blocks for text, Markdown and HTML, and as the object that `--json` prints.

Words: a *row* is a trial of a fix, a *cell* is that trial with the fix off or on (see `kwalk.search.analyses.audit`).
`Files` has the saved trace of each counterexample, by the command that finds it.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from kwalk.model.language.settings import setting_text, setting_texts, variant_text
from kwalk.reports.document import (
    Block,
    Bullets,
    CodeBlock,
    DataTable,
    Heading,
    Line,
    Paragraph,
    Span,
    code,
    listed_code,
    strong,
)
from kwalk.reports.scenario_reference import reference_to
from kwalk.search.analyses.audit.audit import AuditCell, AuditRow, CellOutcome, CellStatus, Judgement
from kwalk.search.analyses.audit.cells import WALK_DEPTH, WALKS
from kwalk.search.base.option_table import Properties, WalkKeywords, rows, words_of

PAGE = "audit.html"
Files = Mapping[str, Mapping[str, Path]]
"""The files of each saved trace by format, by the command that finds it."""
TONES = {
    Judgement.CLOSES: "good",
    Judgement.CLOSES_AS_SAMPLED: "good",
    Judgement.HOLE: "bad",
    Judgement.WORSE: "bad",
    Judgement.UNDECIDED: "open",
    Judgement.NO_DIFFERENCE: "",
}
TITLE = "Fixes: what each closes, and what it does not"
READING: Line = (
    "Each row of the table is a ",
    Span("trial", "emphasis"),
    ": a scenario in one variant is searched twice within "
    "the same bounds, with the fix off and with the fix on, for a behaviour that violates one of the properties. A fix "
    "that closes one trial may leave a hole in another. Below the table, each fix has a section with what it is meant "
    "to close and its source; each of its trials has what the trial adds, and the commands that repeat the searches.",
)
"""How to read the document."""


def reference_of(cell: AuditCell) -> str:
    """Return the name by which the cell's scenario is found again."""
    return cell.trial.scenario if isinstance(cell.trial.scenario, str) else reference_to(cell.scenario)


def command_of(cell: AuditCell, outcome: CellOutcome) -> str:
    """Return the command that searches one cell again, with the engine that decided it."""
    engine = _engine(outcome)
    trial, flags = cell.trial, setting_texts(cell.model.flag_overrides)
    walks = {"walks": WALKS, "depth": WALK_DEPTH, "uniform": True} if engine == "walk" else {}
    values = {"variant": trial.variant, "properties": trial.properties, "bounds": trial.bounds, "flags": flags, **walks}
    return shlex.join(["kwalk", engine, reference_of(cell), *words_of(values, rows(Properties, WalkKeywords))])


def _engine(outcome: CellOutcome) -> str:
    walked = outcome.trace is not None and outcome.trace.found_by.startswith("walk")
    if walked or outcome.status is CellStatus.SAMPLED:
        return "walk"
    return "prove" if outcome.status is CellStatus.PROVED else "exhaust"


def trial_text(row: AuditRow) -> str:
    """Return the scenario of a row, its base variant, and the bounds of the trial."""
    bounds = "".join(f", {name} {size}" for name, size in row.trial.bounds.items())
    return f"{row.off.scenario.name}, {variant_text(row.off.model.variant, row.trial.flags)}{bounds}"


def properties_of(row: AuditRow) -> tuple[str, ...]:
    """Return the names of the properties that a row checks."""
    return row.trial.properties or tuple(declaration.name for declaration in row.off.scenario.declared_properties)


def bounds_reached(row: AuditRow) -> tuple[str, ...]:
    """Return the bounds that disabled a step in either cell."""
    return tuple(dict.fromkeys((*row.without.bounds_hit, *row.with_it.bounds_hit)))


def counts(rows: Iterable[AuditRow]) -> str:
    """Return a sentence with the number of rows of each judgement."""
    counted = Counter(row.judgement for row in rows)
    each = [f"{judgement.value} {counted[judgement]}" for judgement in Judgement if counted[judgement]]
    total = counted.total()
    return f"{total} trial{'s' * (total != 1)}: {'; '.join(each)}."


# Text.


def audit_text(rows: Sequence[AuditRow], files: Files) -> Iterator[Block]:
    """Yield the table, for each cell its command and trace, and the number of rows of each judgement."""
    yield _table(rows, with_bounds=any(map(bounds_reached, rows)))
    for row in rows:
        yield CodeBlock(([strong(f"{row.fix.name} in {trial_text(row)}: {row.judgement.value}")],))
        for cell, outcome in row.cells:
            command = command_of(cell, outcome)
            yield CodeBlock((f"{setting_text(cell.setting)}: {outcome.text}",), 2)
            trace = (f"Trace: {files[command]['trace']}",) if command in files else ()
            compared = () if outcome.compared is None else (str(outcome.compared),)
            yield CodeBlock((*_fairness((outcome,)), *compared, f"Reproduce: {command}", *trace), 6)
    yield CodeBlock(("", counts(rows)))


def _fairness(outcomes: Iterable[CellOutcome]) -> tuple[str, ...]:
    """Return the fairness under which properties about behaviours were checked."""
    found = dict.fromkeys(outcome.fairness for outcome in outcomes if outcome.fairness)
    return tuple(f"Fairness: {text}." for text in found)


def _table(rows: Sequence[AuditRow], *, with_bounds: bool = False) -> DataTable:
    """Return a table with a row for each trial."""
    columns = ("fix", "scenario, variant", "properties", "off", "on", "judgement", *("bounds reached",) * with_bounds)
    return DataTable(columns, tuple(_cells(row)[: len(columns)] for row in rows))


def _cells(row: AuditRow) -> tuple[Line, ...]:
    judgement = [strong(row.judgement.value, TONES[row.judgement])]
    properties = listed_code(properties_of(row))
    return (
        [code(row.fix.name)],
        trial_text(row),
        properties,
        row.without.text,
        row.with_it.text,
        judgement,
        ", ".join(bounds_reached(row)),
    )


# Markdown and HTML.


def audit_document(rows: Sequence[AuditRow], command: str, files: Files | None = None) -> Iterator[Block]:
    """Yield a document on all trials, the same for the same outcomes; with `files`, it links to the traces' pages."""
    yield Heading(1, TITLE)
    yield Paragraph(["Written by ", code(command), "; do not edit."])
    yield Paragraph(READING)
    yield Paragraph(counts(rows))
    closing = {row.fix.name for row in rows if row.judgement in (Judgement.CLOSES, Judgement.CLOSES_AS_SAMPLED)}
    others = [name for name in dict.fromkeys(row.fix.name for row in rows) if name not in closing]
    if others:
        yield Paragraph(["No trial here shows that these close anything: ", *listed_code(others), "."])
    yield _table(rows)
    used = [judgement for judgement in Judgement if any(row.judgement is judgement for row in rows)]
    yield Bullets(tuple([strong(judgement.value, TONES[judgement]), f": {judgement.meaning}."] for judgement in used))
    yield Paragraph(
        [
            Span("Exhaustive", "emphasis"),
            " is every state within the bounds, ",
            Span("sampled", "emphasis"),
            " is random walks only. A ",
            Span("shortest trace", "emphasis"),
            " has no shorter one within the bounds.",
        ]
    )
    for name, group in groupby(rows, key=lambda row: row.fix.name):
        yield from _section(name, list(group), files or {})


def _section(name: str, rows: Sequence[AuditRow], files: Files) -> Iterator[Block]:
    fix = rows[0].fix
    yield Heading(2, name)
    yield Paragraph(f"It is meant to close: {fix.closes}")
    if fix.source:
        yield Paragraph(f"Source: {fix.source}")
    for row in rows:
        yield Paragraph([strong(trial_text(row)), f": {row.judgement.value}."])
        if row.trial.about:
            yield Paragraph(row.trial.about)
        if reached := bounds_reached(row):
            yield Paragraph(["Bounds reached (the trial is valid only within them): ", *listed_code(reached), "."])
        yield from map(Paragraph, _fairness((row.without, row.with_it)))
        commands = [(cell, outcome, command_of(cell, outcome)) for cell, outcome in row.cells]
        yield CodeBlock(tuple(f"{c}   # {setting_text(cell.setting)}: {o.text}" for cell, o, c in commands))
        for cell, _, c in commands:
            if c in files:
                link = Span(f"the trace with the fix {setting_text(cell.setting)}", href=files[c]["page"].name)
                yield Paragraph([link])


# JSON.


def audit_object(rows: Sequence[AuditRow], files: Files) -> dict[str, Any]:
    """Return the fixes with their trials, each with both outcomes, for scripts."""
    names = dict.fromkeys(row.fix.name for row in rows)
    return {
        "fixes": [_fix([row for row in rows if row.fix.name == name], files) for name in names],
        "judgements": {judgement.value: sum(row.judgement is judgement for row in rows) for judgement in Judgement},
        "decided": all(row.is_decided for row in rows),
    }


def _fix(rows: Sequence[AuditRow], files: Files) -> dict[str, Any]:
    fix = rows[0].fix
    trials = [_trial(row, files) for row in rows]
    return {"fix": fix.name, "flag": fix.flag.name, "closes": fix.closes, "source": fix.source, "trials": trials}


def _trial(row: AuditRow, files: Files) -> dict[str, Any]:
    return {
        "scenario": reference_of(row.off),
        "variant": row.off.model.variant,
        "flags": dict(row.trial.flags),
        "bounds": dict(row.off.model.binding.bounds),
        "properties": list(properties_of(row)),
        "about": row.trial.about,
        "judgement": row.judgement.value,
        "off": _outcome(row.off, row.without, files),
        "on": _outcome(row.on, row.with_it, files),
    }


def _outcome(cell: AuditCell, outcome: CellOutcome, files: Files) -> dict[str, Any]:
    command = command_of(cell, outcome)
    trace = outcome.trace
    return {
        "setting": cell.setting,
        "status": outcome.status.value,
        "text": outcome.text,
        "property": outcome.prop,
        "length": trace.length if trace else None,
        "shortest": trace.shortest if trace else None,
        "distinct_states": outcome.states,
        "depth": outcome.depth,
        "steps": outcome.steps,
        "bounds_hit": list(outcome.bounds_hit),
        "fairness": outcome.fairness or None,
        "compared": None if outcome.compared is None else outcome.compared.counts,
        "trace_file": str(files[command]["trace"]) if command in files else None,
        "command": command,
    }
