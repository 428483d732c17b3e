"""The command about snapshots of a real system: `kwalk diagnose`; here it says what is wrong in them."""

from __future__ import annotations

import csv
import io
import re
import shlex
from argparse import Namespace
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from attrs import frozen

from kwalk.model.language import Scenario, UsageError
from kwalk.model.language.inspection import Condition, FindingKind, Inspection, Observation, Prognosis, Severity
from kwalk.reports.document import Block, Card, CodeBlock, DataTable, Line, Paragraph, Span, strong
from kwalk.reports.handlers.incident import can_plan, planned, problem_of, write_incident_pages
from kwalk.reports.handlers.target import command_line, read_by, scenario_with
from kwalk.reports.pages.incident import TONES, Incident, conclusion, word_of
from kwalk.reports.pages.prospect import blocks_of_prospect, prospect_object
from kwalk.reports.program import program
from kwalk.reports.progress import shown_on_stderr
from kwalk.reports.reporter import Written, deliver, folder_of
from kwalk.search.base.option_table import HuntKeywords, Properties, rows

MIGRATION = "migration-with-records"
"""The scenario of `--forecast --migration`."""
SEARCHED = {*rows(HuntKeywords), *rows(Properties), "watch", "migration"}
ONLY: Mapping[str, Collection[str]] = {
    "": ("most", "csv", "parquet", "prometheus", "migration"),
    "plan": ("seconds",),
    "forecast": SEARCHED - {"out"},
    "explain": ("variant", "seconds", "events", "logs", "log_tolerance", "log_zone"),
}
"""The questions, "" for what is wrong, with the options that not all of them have."""
MOST_PLACES = 5
"""How many places of a kind are shown unless `--most` says otherwise."""
COLUMNS = ("snapshot", "severity", "kind", "subject", "topic", "partition", "brokers", "certain", "detail")
"""The columns of a table of findings, as CSV and Parquet have it."""


@frozen
class Inspected:
    """A snapshot and what was found in it."""

    path: str
    inspection: Inspection


def run_diagnose(options: Namespace) -> int:
    """Answer the question that the options ask; by default what is wrong, and return the exit code of the worst."""
    asked = [question for question in ONLY if question and getattr(options, question)]
    if len(asked) > 1:
        raise UsageError(f"--{asked[0]} and --{asked[1]} are two questions. Ask one at a time.")
    question = asked[0] if asked else ""
    _refuse_options_of_others(options, question)
    if question != "forecast":
        options.seed = None  # the command that repeats the others has none
    if question in ("plan", "forecast"):
        if len(options.snapshots) > 1:
            raise UsageError(f"--{question} is about one snapshot (got {len(options.snapshots)}). Name one.")
        options.snapshot = options.snapshots[0]
    if question == "plan":
        from kwalk.clusters.handlers.recover import run_recover

        return run_recover(options)
    if question == "forecast":
        from kwalk.reports.handlers.search import search

        options.scenario = options.scenario or (MIGRATION if options.migration else None)
        return search(options, "hunt")
    if question == "explain":
        from kwalk.reports.handlers.explain import run_explain

        return run_explain(options)
    return _inspected(options)


def _refuse_options_of_others(options: Namespace, question: str) -> None:
    """Raise UsageError for an option that another question has."""
    given = [name for name, row in options.rows.items() if getattr(options, name) not in (row.default, None, [])]
    for name in given:
        askers = [each for each, names in ONLY.items() if name in names]
        if askers and question not in askers:
            needed = " or ".join(f"--{each}" for each in askers if each)
            word = options.rows[name].name_on_command_line(name)
            about = f"goes with {needed}" if needed else "is about what is wrong: it goes with no other question"
            raise UsageError(f"{word} {about}. Leave it out, or ask that.")


def _inspected(options: Namespace) -> int:
    """Inspect snapshots; the exit code is that of the worst condition."""
    _, scenario = scenario_with("inspect_snapshot", options.scenario)
    snapshots = [Inspected(path, read_by(scenario, "inspect_snapshot", path)) for path in options.snapshots]
    command = command_line(options, options.snapshots)
    with Written() as written:
        written.names |= _write_tables(snapshots, options)
        _write_pages(snapshots, scenario, options, written)
    most = options.most or MOST_PLACES
    if options.migration:
        blocks, code = _migrations(snapshots, most)
    else:
        worst = min((one.inspection for one in snapshots), key=lambda one: one.condition.rank)
        blocks, code = blocks_of(snapshots, most), worst.exit_code
        written.names |= _next_commands(snapshots, scenario)
    return deliver(options, partial(inspections_object, snapshots), blocks, written, code=code, command=command)


def _migrations(snapshots: Sequence[Inspected], most: int) -> tuple[Iterator[Block], int]:
    """Return what a migration would do to the clusters of snapshots, and the exit code of the worst."""
    found = {one.path: one.inspection.prospects for one in snapshots}
    if not all(found.values()):
        raise UsageError("The scenario that inspects the snapshots forecasts no migration. Leave out --migration.")
    blocks = (
        block
        for path, prospects in found.items()
        for block in (Paragraph(""), Paragraph(f"{path}:"), *blocks_of_prospect(prospects[0], most, whole=True))
    )
    return blocks, min((prospects[0].prognosis for prospects in found.values()), key=lambda p: p.rank).exit_code


def _next_commands(snapshots: Sequence[Inspected], scenario: Scenario) -> dict[str, str]:
    """Return the command that plans the repair of a single damaged snapshot, with its label."""
    if len(snapshots) > 1 or not snapshots[0].inspection.is_damaged or not can_plan(scenario):
        return {}
    return {"Plan of repair": f"{program()} diagnose {shlex.quote(snapshots[0].path)} --plan"}


# Text.


def blocks_of(snapshots: Sequence[Inspected], most: int) -> Iterator[Block]:
    """Yield what is printed: of several snapshots a table, of one its findings, the worst first."""
    if len(snapshots) > 1:
        yield Paragraph(_fleet_headline(snapshots))
        yield _fleet(snapshots)
        yield Paragraph("`kwalk diagnose SNAPSHOT` of a single one shows its findings and the way out.", 2)
    else:
        yield from _snapshot(snapshots[0], most)


def _fleet_headline(snapshots: Sequence[Inspected]) -> Line:
    counts = Counter(one.inspection.condition for one in snapshots)
    parts = [f"{counts[condition]} {condition.value}" for condition in Condition if counts[condition]]
    return f"{len(snapshots)} snapshots: {', '.join(parts)}."


def _fleet(snapshots: Sequence[Inspected]) -> DataTable:
    ordered = sorted(snapshots, key=lambda one: one.inspection.condition.rank)
    rows = []
    for one in ordered:
        kinds = [
            f"{kind.name} {len(observations)}"
            for kind, observations in one.inspection.by_kind().items()
            if kind.severity is not Severity.NOTE
        ]
        rows.append(([word_of(one.inspection.condition)], one.path, ", ".join(kinds)))
    return DataTable(("", "snapshot", "findings"), tuple(rows), wide=2, indent=2)


def _snapshot(one: Inspected, most: int) -> Iterator[Block]:
    inspection = one.inspection
    yield Paragraph("")
    yield Paragraph([word_of(inspection.condition), f"  {conclusion(inspection)}"])
    totals = ", ".join(_counted(inspection.totals[what], what) for what in ("topic", "partition", "broker"))
    yield Paragraph(f"{one.path}: {inspection.headline}; {totals}.", 2)
    by_kind = inspection.by_kind()
    if by_kind:
        rows = tuple(
            ([Span(kind.severity.value, TONES[kind.severity])], kind.name, f"{len(observations):,}", kind.title)
            for kind, observations in by_kind.items()
        )
        yield DataTable(("severity", "kind", "places", "what is wrong"), rows, frozenset({2}), wide=3, indent=2)
    for kind, observations in by_kind.items():
        yield _card(kind, observations, most)
    for prospect in inspection.prospects:
        yield Paragraph("")
        yield from blocks_of_prospect(prospect, most, whole=False)
        if prospect.consequences:
            yield Paragraph(
                f"`{program()} diagnose --{prospect.name} {shlex.quote(one.path)}` says what that means.", 4
            )
    if inspection.notes:
        yield Paragraph("")
    for note in inspection.notes:
        yield Paragraph(note, 2)


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'s' * (count != 1)}"


def _card(kind: FindingKind, observations: Sequence[Observation], most: int) -> Card:
    lines: list[Line] = [
        f"{one.subject}: {one.detail}{'' if one.certain else ' (or not)'}" for one in observations[:most]
    ]
    if len(observations) > most:
        lines.append(f"… and {len(observations) - most:,} more; --most {len(observations)} shows them all")
    blocks: list[Paragraph | CodeBlock] = [CodeBlock(tuple(lines), 4)]
    texts = {
        "Now": kind.now,
        "Later": kind.later,
        "Usual cause": kind.cause,
        "Way out": kind.way_out,
        "Log": kind.log,
    }
    blocks += [Paragraph([Span(f"{label}: ", "faint"), text], 4) for label, text in texts.items() if text]
    if kind.grep:
        blocks.append(CodeBlock(kind.grep, 4))
    if kind.story:
        blocks.append(Paragraph([Span("Read: ", "faint"), kind.story], 4))
    title: list[str | Span] = [
        strong(kind.severity.value, TONES[kind.severity]),
        f"  {kind.title} ({len(observations):,})",
    ]
    return Card(title, tuple(blocks), TONES[kind.severity])


# For machines.


def inspections_object(snapshots: Sequence[Inspected]) -> dict[str, Any]:
    """Return the JSON object of an inspection."""
    return {
        "snapshots": [
            {
                "snapshot": one.path,
                "condition": one.inspection.condition.value,
                "exit_code": one.inspection.exit_code,
                "headline": one.inspection.headline,
                "totals": dict(one.inspection.totals),
                "kinds": [_kind_object(kind, observations) for kind, observations in one.inspection.by_kind().items()],
                "notes": list(one.inspection.notes),
                "prospects": {prospect.name: prospect_object(prospect) for prospect in one.inspection.prospects},
            }
            for one in snapshots
        ],
    }


def _kind_object(kind: FindingKind, observations: Sequence[Observation]) -> dict[str, Any]:
    return {
        "kind": kind.name,
        "severity": kind.severity.value,
        "title": kind.title,
        "properties": list(kind.properties),
        "now": kind.now,
        "later": kind.later,
        "cause": kind.cause,
        "way_out": kind.way_out,
        "log": kind.log,
        "grep": list(kind.grep),
        "story": kind.story,
        "findings": [
            {"subject": one.subject, "detail": one.detail, "certain": one.certain, **one.fields} for one in observations
        ],
    }


def rows_of(snapshots: Iterable[Inspected]) -> Iterator[dict[str, str]]:
    """Yield a row for each finding, with the columns of `COLUMNS`."""
    for one in snapshots:
        for observation in one.inspection.observations:
            row = {
                "snapshot": one.path,
                "severity": observation.kind.severity.value,
                "kind": observation.kind.name,
                "subject": observation.subject,
                "certain": "yes" if observation.certain else "no",
                "detail": observation.detail,
            }
            row.update({name: observation.fields.get(name, "") for name in ("topic", "partition", "brokers")})
            yield row


def _write_tables(snapshots: Sequence[Inspected], options: Namespace) -> dict[str, str]:
    """Write the tables that options name; return their paths by what they are."""
    written: dict[str, str] = {}
    texts = {"csv": ("CSV", _csv), "prometheus": ("Prometheus", prometheus)}
    for option, (label, text_of) in texts.items():
        path = getattr(options, option)
        with folder_of(path, f"--{option}") as folder:
            if folder is not None:
                folder.write({Path(path).name: text_of(snapshots)})
                written[label] = path
    with folder_of(options.parquet, "--parquet") as folder:
        if folder is not None:
            from kwalk.search.base.parquet import write_texts

            write_texts(Path(options.parquet), COLUMNS, list(rows_of(snapshots)))
            written["Parquet"] = options.parquet
    return written


def _write_pages(snapshots: Sequence[Inspected], scenario: Scenario, options: Namespace, written: Written) -> None:
    """Write the page of an incident, with a plan of repair, if options ask for it; UsageError for several snapshots."""
    if not options.html and options.markdown is None:
        return
    if len(snapshots) > 1:
        raise UsageError("--html and --markdown write the page of one snapshot. Name one, or use --csv.")
    one = snapshots[0]
    with shown_on_stderr() as report:
        recovery = planned(problem_of(scenario, one.path, one.inspection), report)
    write_incident_pages(Incident(one.path, one.inspection, recovery), options, written)


def _csv(snapshots: Sequence[Inspected]) -> str:
    """Return the findings as CSV; a cell that a spreadsheet would take for a formula gets an apostrophe."""
    text = io.StringIO()
    table = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    table.writeheader()
    for row in rows_of(snapshots):
        table.writerow({name: f"'{cell}" if cell[:1] in ("=", "+", "-", "@") else cell for name, cell in row.items()})
    return text.getvalue()


def prometheus(snapshots: Sequence[Inspected]) -> str:
    """Return gauges in Prometheus' text format, for its node exporter's text file collector.

    Source: Prometheus, Exposition formats, version 0.0.4.
    """
    lines = [
        "# HELP kwalk_inspect_findings Places with a finding, by kind.",
        "# TYPE kwalk_inspect_findings gauge",
    ]
    for one in snapshots:
        for kind, observations in one.inspection.by_kind().items():
            labels = _labels({"snapshot": one.path, "kind": kind.name, "severity": kind.severity.value})
            lines.append(f"kwalk_inspect_findings{labels} {len(observations)}")
    lines += [
        "# HELP kwalk_inspect_condition 0 consistent, 1 latent damage, 2 broken now, 3 not judged.",
        "# TYPE kwalk_inspect_condition gauge",
    ]
    codes = {Condition.CONSISTENT: 0, Condition.LATENT: 1, Condition.BROKEN: 2, Condition.NOT_JUDGED: 3}
    for one in snapshots:
        lines.append(f"kwalk_inspect_condition{_labels({'snapshot': one.path})} {codes[one.inspection.condition]}")
    lines += [
        "# HELP kwalk_inspect_prospect A planned change: 0 ready, 1 not judged, 2 waits, 3 is stuck, 4 loses records.",
        "# TYPE kwalk_inspect_prospect gauge",
    ]
    for one in snapshots:
        for prospect in one.inspection.prospects:
            labels = _labels({"snapshot": one.path, "change": prospect.name})
            lines.append(f"kwalk_inspect_prospect{labels} {Prognosis.READY.rank - prospect.prognosis.rank}")
    return "\n".join(lines) + "\n"


def _labels(pairs: Mapping[str, str]) -> str:
    escaped = (f'{name}="{_escaped(value)}"' for name, value in pairs.items())
    return "{" + ",".join(escaped) + "}"


def _escaped(value: str) -> str:
    return re.sub(r'[\\"\n]', lambda match: {"\\": r"\\", '"': r"\"", "\n": r"\n"}[match[0]], value)
