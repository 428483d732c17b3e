"""What planned changes would do to the system of a snapshot: blocks for people, objects and gauges for machines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kwalk.model.language.inspection import Consequence, Prognosis, Prospect
from kwalk.reports.document import Block, Card, CodeBlock, Line, Paragraph, Span, strong

TONES = {
    Prognosis.LOSES: "bad",
    Prognosis.STUCK: "bad",
    Prognosis.WAITS: "open",
    Prognosis.UNKNOWN: "open",
    Prognosis.READY: "good",
}


def blocks_of_prospect(prospect: Prospect, most: int, *, whole: bool) -> Iterator[Block]:
    """Yield what is printed of a prospect.

    Args:
        prospect: the prospect.
        most: how many places of a consequence are shown.
        whole: whether everything is said of each consequence, or its title only.
    """
    verdict = prospect.prognosis
    title: list[str | Span] = [f"{prospect.title}: ", strong(verdict.value.upper(), TONES[verdict])]
    if not prospect.consequences:
        title.append(f"  {prospect.ready}")
    yield Paragraph(title, 2)
    for one in prospect.consequences:
        if whole:
            yield _card(one, most)
        else:
            yield Paragraph([Span(one.prognosis.value, TONES[one.prognosis]), f"  {one.title} ({one.name})"], 4)
    for note in prospect.notes if whole else ():
        yield Paragraph(note, 2)


def _card(one: Consequence, most: int) -> Card:
    lines: list[Line] = list(one.places[:most])
    if len(one.places) > most:
        lines.append(f"… and {len(one.places) - most:,} more; --most {len(one.places)} shows them all")
    blocks: list[Paragraph | CodeBlock] = [CodeBlock(tuple(lines), 4), Paragraph(one.text, 4)]
    texts = {"Before": one.way_out, "Known": one.basis, "Log": one.log}
    blocks += [Paragraph([Span(f"{label}: ", "faint"), text], 4) for label, text in texts.items() if text]
    if one.commands:
        blocks.append(CodeBlock(one.commands, 4))
    title: list[str | Span] = [strong(one.prognosis.value, TONES[one.prognosis]), f"  {one.title} ({one.name})"]
    return Card(title, tuple(blocks), TONES[one.prognosis])


def prospect_object(prospect: Prospect) -> dict[str, Any]:
    """Return the JSON object of a prospect."""
    return {
        "prognosis": prospect.prognosis.value,
        "exit_code": prospect.prognosis.exit_code,
        "consequences": [
            {
                "name": one.name,
                "prognosis": one.prognosis.value,
                "title": one.title,
                "places": list(one.places),
                "text": one.text,
                "way_out": one.way_out,
                "commands": list(one.commands),
                "basis": one.basis,
                "log": one.log,
            }
            for one in prospect.consequences
        ],
        "notes": list(prospect.notes),
        "story": prospect.story,
    }
