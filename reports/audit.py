"""An audit's table as text, and as one JSON object for scripts; fields of that are only ever added.

Words: a *row* is a trial of a fix, a *cell* that trial with the fix off or on (see `search.audit`). Files are by cell:
the trace of its counterexample, if it has one.
"""
from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich import box
from rich.table import Column, Table
from rich.text import Text

from model.language.settings import setting_text, variant_text
from reports.escaping import visible
from reports.scenario_reference import reference_to
from search.audit import Cell, Judgement, Known, Outcome, Row
from search.audit.cells import WALK_DEPTH, WALKS

Files = Mapping[str, Mapping[str, Path]]
"""The files of each saved trace by format, by the command that finds it."""
STYLES = {
    Judgement.CLOSES: "bold green", Judgement.CLOSES_AS_SAMPLED: "green", Judgement.HOLE: "bold red",
    Judgement.WORSE: "bold red", Judgement.UNDECIDED: "bold yellow", Judgement.NO_DIFFERENCE: "",
}  # fmt: skip
HEADINGS = ("fix", "scenario", "invariants", "off", "on", "judgement")


def reference_of(cell: Cell) -> str:
    """By which name the cell's scenario is found again."""
    return cell.trial.scenario if isinstance(cell.trial.scenario, str) else reference_to(cell.scenario)


def command_of(cell: Cell, outcome: Outcome) -> str:
    """The command that searches one cell again, with the engine that decided it."""
    words = ["kwalk", _engine(outcome), reference_of(cell)]
    words += ["--variant", cell.trial.variant] if cell.trial.variant else []
    words += ["--walks", str(WALKS), "--depth", str(WALK_DEPTH), "--uniform"] if _engine(outcome) == "walk" else []
    words += [word for name in cell.trial.invariants for word in ("--invariant", name)]
    words += [word for name, size in cell.trial.bounds.items() for word in ("--bound", f"{name}={size}")]
    flags = cell.model.asked_flags.items()
    words += [word for name, setting in flags for word in ("--flag", f"{name}={setting_text(setting)}")]
    return shlex.join(words)


def _engine(outcome: Outcome) -> str:
    walked = outcome.trace is not None and outcome.trace.found_by.startswith("walk")
    if walked or outcome.known is Known.SAMPLED:
        return "walk"
    return "prove" if outcome.known is Known.PROVED else "exhaust"


def where(row: Row) -> str:
    """The scenario of a row, its base variant, and what the trial sets otherwise."""
    bounds = "".join(f", {name} {size}" for name, size in row.trial.bounds.items())
    return f"{row.off.scenario.name}, {variant_text(row.off.model.variant, row.trial.flags)}{bounds}"


def invariants_of(row: Row) -> tuple[str, ...]:
    """The names of the invariants that a row looks at."""
    return row.trial.invariants or tuple(invariant.name for invariant in row.off.scenario.invariants)


def bounds_reached(row: Row) -> tuple[str, ...]:
    """The bounds that disabled a step in either cell; the row speaks only within them."""
    return tuple(dict.fromkeys((*row.without.bounds_hit, *row.with_it.bounds_hit)))


def counts(rows: Iterable[Row]) -> str:
    """How many rows came to which judgement, in a sentence."""
    counted = Counter(row.judgement for row in rows)
    each = [f"{judgement.value} {counted[judgement]}" for judgement in Judgement if counted[judgement]]
    total = counted.total()
    return f"{total} trial{'s' * (total != 1)}: {'; '.join(each)}."


# Text.


def audit_table(rows: Sequence[Row]) -> Table:
    """The table; long names go on in the next line. There is a column for bounds if one was reached."""
    reached = [", ".join(bounds_reached(row)) for row in rows]
    headings = (*HEADINGS, "bounds reached") if any(reached) else HEADINGS
    table = Table(*(Column(heading, overflow="fold") for heading in headings), box=box.SIMPLE_HEAD, pad_edge=False)
    for row, bounds in zip(rows, reached, strict=True):
        judgement = Text(row.judgement.value, style=STYLES[row.judgement])
        texts = [*(Text(visible(text)) for text in _texts(row)), judgement, Text(visible(bounds))]
        table.add_row(*texts[: len(headings)])
    return table


def audit_lines(rows: Sequence[Row], files: Files) -> Iterator[Text]:
    """For each cell the command that searches it again and the trace that it found, in lines that are not broken."""
    for row in rows:
        yield Text(visible(f"{row.fix.name} in {where(row)}: {row.judgement.value}"), style="bold")
        for cell, outcome in row.cells:
            command = command_of(cell, outcome)
            yield Text(visible(f"  {setting_text(cell.setting)}: {outcome.text}"))
            yield Text(visible(f"      Reproduce: {command}"))
            if command in files:
                yield Text(visible(f"      Trace: {files[command]['trace']}"))
    yield Text(f"\n{counts(rows)}")


def _texts(row: Row) -> tuple[str, ...]:
    return row.fix.name, where(row), ", ".join(invariants_of(row)), row.without.text, row.with_it.text


# JSON.


def audit_object(rows: Sequence[Row], files: Files) -> dict[str, Any]:
    """The fixes with their trials, each with both outcomes."""
    names = dict.fromkeys(row.fix.name for row in rows)
    return {
        "fixes": [_fix([row for row in rows if row.fix.name == name], files) for name in names],
        "judgements": {judgement.value: sum(row.judgement is judgement for row in rows) for judgement in Judgement},
        "decided": all(row.is_decided for row in rows),
    }


def _fix(rows: Sequence[Row], files: Files) -> dict[str, Any]:
    fix = rows[0].fix
    return {
        "fix": fix.name,
        "flag": fix.flag.name,
        "claims": fix.claims,
        "source": fix.source,
        "trials": [_trial(row, files) for row in rows],
    }


def _trial(row: Row, files: Files) -> dict[str, Any]:
    return {
        "scenario": reference_of(row.off),
        "variant": row.off.model.variant,
        "flags": dict(row.trial.flags),
        "bounds": dict(row.off.model.binding.bounds),
        "invariants": list(invariants_of(row)),
        "about": row.trial.about,
        "judgement": row.judgement.value,
        "off": _outcome(row.off, row.without, files),
        "on": _outcome(row.on, row.with_it, files),
    }


def _outcome(cell: Cell, outcome: Outcome, files: Files) -> dict[str, Any]:
    command = command_of(cell, outcome)
    trace = outcome.trace
    return {
        "setting": cell.setting,
        "how": outcome.known.value,
        "says": outcome.text,
        "claim": outcome.claim,
        "length": trace.length if trace else None,
        "shortest": trace.shortest if trace else None,
        "distinct_states": outcome.states,
        "depth": outcome.depth,
        "steps": outcome.steps,
        "bounds_hit": list(outcome.bounds_hit),
        "trace_file": str(files[command]["trace"]) if command in files else None,
        "command": command,
    }
