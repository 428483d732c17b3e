"""A sequence diagram as SVG: one column for each lane, one row of a fixed height for each line of a story."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape

from kwalk.model.language import Mark
from kwalk.reports.traces.sequence import Arrow, Lane, Row, SequenceDiagram, arrows_of, writes_of
from kwalk.reports.traces.story import StoryStep

ROW, LANE, HEAD, LEFT, SLANT = 30, 24, 96, 14, 44
"""Pixels: the height of a row, the distance of lanes, the height of their names, the first lane's distance, and how far
the last name leans to the right.

The list beside the diagram has the same heights (trace.css)."""
LONGEST_TEXT = 400
"""Characters of a message's text; the rest is cut off."""


def names_svg(diagram: SequenceDiagram) -> str:
    """Return the names of the lanes: what stays in sight above the drawing."""
    width = _width(diagram) + SLANT
    texts = (
        f'<text class="name" transform="translate({_x(number) + 4} {HEAD - 12}) rotate(-55)">{escape(lane.name)}</text>'
        for number, lane in enumerate(diagram.lanes)
    )
    head = f'<svg class="names" width="{width}" height="{HEAD}" viewBox="0 0 {width} {HEAD}" aria-hidden="true">'
    return "\n".join([head, *texts, "</svg>"])


def svg(diagram: SequenceDiagram, rows: Sequence[Row], hues: Mapping[str, int], name: str) -> str:
    """Return the drawing below the names.

    Args:
        diagram: What is drawn.
        rows: The lines beside it.
        hues: The numbers of the lanes' colours by the actor's name.
        name: What tells it from other drawings on the page.
    """
    width, height = _width(diagram), ROW * len(rows)
    lanes = escape(", ".join(lane.name for lane in diagram.lanes)[:LONGEST_TEXT])
    head = f"url(#head-{name})"
    parts = [
        f'<svg class="lanes" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="Lanes, from left to right: {lanes}. The list of steps says what they do.">',
        f'<defs><marker id="head-{name}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" '
        'orient="auto-start-reverse"><path d="M0 0L8 4L0 8z"/></marker></defs>',
        *_lanes(diagram, hues, height),
        *_absences(diagram, rows),
        *(_arrow(arrow, head) for arrow in arrows_of(diagram, rows)),
        *_steps(diagram, rows, hues, head),
        *_marks(diagram, rows),
        "</svg>",
    ]
    return "\n".join(parts)


def _width(diagram: SequenceDiagram) -> int:
    return 2 * LEFT + LANE * max(0, len(diagram.lanes) - 1)


def _x(lane: int) -> int:
    return LEFT + LANE * lane


def _y(row: int) -> int:
    return ROW * row + ROW // 2


def _lanes(diagram: SequenceDiagram, hues: Mapping[str, int], height: int) -> Iterator[str]:
    for number, lane in enumerate(diagram.lanes):
        kind = "shared" if lane.shared else f"lane{hues.get(lane.name, 0)}"
        x = _x(number)
        yield f'<line class="lane {kind}" x1="{x}" y1="0" x2="{x}" y2="{height}"/>'


def _arrow(arrow: Arrow, head: str) -> str:
    x1, y1 = _x(arrow.receiver if arrow.sender is None else arrow.sender), _y(arrow.sent)
    x2, y2 = _x(arrow.receiver), _y(arrow.received)
    text = "; ".join(message.text for message in arrow.messages)[:LONGEST_TEXT]
    first = arrow.messages[0]
    inward = 7 if x2 < x1 else -7 if x2 > x1 else 0
    return (
        f'<path class="message{" lost" * arrow.lost}" data-from="{first.sent}" data-to="{first.received}" '
        f'd="M{x1} {y1}L{x2 + inward} {y2 - 3}" marker-end="{head}"><title>{escape(text)}</title></path>'
    )


def _steps(diagram: SequenceDiagram, rows: Sequence[Row], hues: Mapping[str, int], head: str) -> Iterator[str]:
    for number, row in enumerate(rows):
        y, steps = _y(number), [step for step in row.steps if step]
        for lane, other in writes_of(diagram, row):
            inward = 8 if other < lane else -8
            yield f'<path class="write" d="M{_x(lane)} {y}L{_x(other) + inward} {y}" marker-end="{head}"/>'
        for lane in dict.fromkeys(diagram.actors[step - 1] for step in steps):
            yield _mark(diagram.lanes[lane], _x(lane), y, hues, is_faint=not isinstance(row.chapter, StoryStep))


def _mark(lane: Lane, x: int, y: int, hues: Mapping[str, int], *, is_faint: bool) -> str:
    kind = f"act lane{hues.get(lane.name, 0)}{' faint' * is_faint}"
    if lane.system:
        return f'<circle class="{kind}" cx="{x}" cy="{y}" r="6"/>'
    return f'<path class="{kind}" d="M{x} {y - 8}l8 8l-8 8l-8 -8z"/>'


# Processes and sessions.


def _places(diagram: SequenceDiagram, rows: Sequence[Row]) -> Iterator[tuple[int, Mark, int]]:
    """Yield row, mark and lane of each mark."""
    for number, row in enumerate(rows):
        for step in filter(None, row.steps):
            found = diagram.marks[step - 1] if diagram.marks else None
            for lane in found[1] if found else ():
                yield number, found[0], lane  # type: ignore[index]  # it is not None here


def _absences(diagram: SequenceDiagram, rows: Sequence[Row]) -> Iterator[str]:
    """Yield what covers the lanes of a process while it does not run: from where it ends to where it starts again."""
    ended: dict[int, int] = {}
    for number, mark, lane in _places(diagram, rows):
        if mark in (Mark.CRASH, Mark.STOP):
            ended.setdefault(lane, number)
        elif mark is Mark.START and lane in ended:
            yield _absence(lane, _y(ended.pop(lane)), _y(number))
    yield from (_absence(lane, _y(row), _y(len(rows) - 1) + ROW // 2) for lane, row in ended.items())


def _absence(lane: int, top: int, bottom: int) -> str:
    return f'<line class="absent" x1="{_x(lane)}" y1="{top}" x2="{_x(lane)}" y2="{bottom}"/>'


SHAPES = {
    Mark.CRASH: "M-6 -6L6 6M6 -6L-6 6",
    Mark.STOP: "M-5 -5h10v10h-10z",
    Mark.START: "M-4 -6L6 0L-4 6z",
    Mark.SESSION_EXPIRED: "M-6 0a6 6 0 1 0 12 0a6 6 0 1 0 -12 0M-4 4L4 -4",
    Mark.SESSION_ESTABLISHED: "M-6 0a6 6 0 1 0 12 0a6 6 0 1 0 -12 0",
}
"""The mark of each kind, as a path around its centre."""


def _marks(diagram: SequenceDiagram, rows: Sequence[Row]) -> Iterator[str]:
    for number, mark, lane in _places(diagram, rows):
        name = mark.name.lower().replace("_", "-")
        text = escape(f"{diagram.lanes[lane].name} {mark.value}")
        yield (
            f'<path class="mark {name}" d="{SHAPES[mark]}" transform="translate({_x(lane)} {_y(number)})">'
            f"<title>{text}</title></path>"
        )
