"""An audit as a Markdown document that can be committed: the same text for the same outcomes, whatever they took."""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from model.language.settings import setting_text
from reports.audit import bounds_reached, command_of, counts, invariants_of, where
from reports.escaping import code_span, markdown
from search.audit import Judgement, Row

READING = (
    "Each row of the table is a *trial*: a scenario in some variant is searched twice within the same bounds, with",
    "the fix *off* and with it *on*, for a behaviour that violates one of the invariants. A trial shows what a fix",
    "does, not what somebody hopes: a fix that closes one trial may leave a hole in another. Below the table is for",
    "each fix what it claims and where it comes from, and for each trial what it adds, and the commands that find the",
    "same again.",
)
"""How to read the document."""


def audit_document(rows: Sequence[Row], command: str) -> str:
    """The whole document, ending with a line break."""
    return "\n".join([*_heading(rows, command), *_table(rows), *_meanings(rows), *_fixes(rows)]) + "\n"


def _heading(rows: Sequence[Row], command: str) -> Iterator[str]:
    yield "# Fixes: what each closes, and what it does not"
    yield ""
    yield f"Written by {code_span(command)}; do not edit."
    yield ""
    yield from READING
    yield ""
    yield markdown(counts(rows))
    yield from _unshown(rows)
    yield ""


def _unshown(rows: Sequence[Row]) -> Iterator[str]:
    """The fixes that close no trial, decided or sampled."""
    closing = {row.fix.name for row in rows if row.judgement in (Judgement.CLOSES, Judgement.CLOSES_AS_SAMPLED)}
    names = [name for name in dict.fromkeys(row.fix.name for row in rows) if name not in closing]
    if names:
        yield f"No trial here shows that these close anything: {', '.join(map(code_span, names))}."


def _table(rows: Sequence[Row]) -> Iterator[str]:
    yield "| fix | scenario, variant | invariants | off | on | judgement |"
    yield "|---|---|---|---|---|---|"
    for row in rows:
        invariants = ", ".join(map(code_span, invariants_of(row)))
        cells = (markdown(where(row)), invariants, markdown(row.without.text), markdown(row.with_it.text))
        yield f"| {' | '.join((code_span(row.fix.name), *cells, f'**{row.judgement.value}**'))} |"
    yield ""


def _meanings(rows: Iterable[Row]) -> Iterator[str]:
    """What the judgements mean that occur."""
    used = {row.judgement for row in rows}
    for judgement in Judgement:
        if judgement in used:
            yield f"* **{judgement.value}**: {judgement.meaning}."
    yield ""
    yield "*Exhaustive* is every state within the bounds, *sampled* is random walks only. A *shortest trace* has no"
    yield "shorter one within the bounds."


def _fixes(rows: Sequence[Row]) -> Iterator[str]:
    for name, group in groupby(rows, key=lambda row: row.fix.name):
        mine = list(group)
        fix = mine[0].fix
        yield from ("", f"## {markdown(name)}", "", f"It claims: {markdown(fix.claims)}")
        yield from ("", f"Source: {markdown(fix.source)}") if fix.source else ()
        for row in mine:
            yield from _trial(row)


def _trial(row: Row) -> Iterator[str]:
    yield from ("", f"**{markdown(where(row))}**: {row.judgement.value}.")
    yield from ("", markdown(row.trial.about)) if row.trial.about else ()
    if reached := bounds_reached(row):
        yield from ("", f"Bounds reached, so that it speaks only within them: {', '.join(map(code_span, reached))}.")
    yield from ("", "```sh")
    for cell, outcome in row.cells:
        yield f"{command_of(cell, outcome)}   # {setting_text(cell.setting)}: {outcome.text}"
    yield "```"
