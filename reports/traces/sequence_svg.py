"""A sequence diagram as SVG: one column for each lane, one row of a fixed height for each line of a story.

Columns are parts of the width, which the style sheet of the page gives (trace.css).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape

from kwalk.model.language import Mark
from kwalk.reports.traces.sequence import Arrow, Row, SequenceDiagram, arrows_of, writes_of
from kwalk.reports.traces.story import StoryStep

ROW, HEAD = 30, 96
"""Pixels: the height of a row and of the names of lanes.

The list beside the diagram has the same heights (trace.css)."""
LONGEST_LABEL = 48
"""Characters of a label beside an arrow; the rest is cut off."""
LONGEST_TEXT = 400
"""Characters of a message's text; the rest is cut off."""


def names_svg(diagram: SequenceDiagram) -> str:
    """Return the names of the lanes: what stays in sight above the drawing."""
    texts = (
        _placed(diagram, lane, HEAD - 12, f'<text class="name" x="4" transform="rotate(-55)">{escape(one.name)}</text>')
        for lane, one in enumerate(diagram.lanes)
    )
    head = f'<svg class="names" height="{HEAD}" aria-hidden="true">'
    return "\n".join([head, *texts, "</svg>"])


def svg(diagram: SequenceDiagram, rows: Sequence[Row], hues: Mapping[str, int], name: str) -> str:
    """Return the drawing below the names.

    Args:
        diagram: What is drawn.
        rows: The lines beside it.
        hues: The numbers of the lanes' colours by the actor's name.
        name: What tells it from other drawings on the page.
    """
    height = ROW * len(rows)
    lanes = escape(", ".join(lane.name for lane in diagram.lanes)[:LONGEST_TEXT])
    head = f"url(#head-{name})"
    parts = [
        f'<svg class="lanes" height="{height}" role="img" '
        f'aria-label="Lanes, from left to right: {lanes}. The list of steps says what they do.">',
        f'<defs><marker id="head-{name}" viewBox="0 0 8 8" refX="15" refY="4" markerWidth="8" markerHeight="8" '
        'markerUnits="userSpaceOnUse" orient="auto-start-reverse"><path d="M0 0L8 4L0 8z"/></marker></defs>',
        *_lanes(diagram, hues, height),
        *_absences(diagram, rows),
        *(_arrow(diagram, arrow, head) for arrow in arrows_of(diagram, rows)),
        *_steps(diagram, rows, hues, head),
        *_marks(diagram, rows),
        *_labels(diagram, rows),
        "</svg>",
    ]
    return "\n".join(parts)


def _x(diagram: SequenceDiagram, lane: int) -> str:
    return f"{100 * (lane + 0.5) / max(1, len(diagram.lanes)):.2f}%"


def _placed(diagram: SequenceDiagram, lane: int, y: int, content: str) -> str:
    """Return a drawing around the point 0, 0 at a place of a lane."""
    return f'<svg x="{_x(diagram, lane)}" y="{y}" overflow="visible">{content}</svg>'


def _y(row: int) -> int:
    return ROW * row + ROW // 2


def _line(diagram: SequenceDiagram, kind: str, start: tuple[int, int], end: tuple[int, int]) -> str:
    """Return the attributes of a line between two places, each a lane and a height."""
    (x1, y1), (x2, y2) = start, end
    ends = f'x1="{_x(diagram, x1)}" y1="{y1}" x2="{_x(diagram, x2)}" y2="{y2}"'
    return f'<line class="{kind}" {ends}'


def _lanes(diagram: SequenceDiagram, hues: Mapping[str, int], height: int) -> Iterator[str]:
    for number, lane in enumerate(diagram.lanes):
        kind = "shared" if lane.shared else f"lane{hues.get(lane.name, 0)}"
        yield _line(diagram, f"lane {kind}", (number, 0), (number, height)) + "/>"


def _arrow(diagram: SequenceDiagram, arrow: Arrow, head: str) -> str:
    start = (arrow.receiver if arrow.sender is None else arrow.sender), _y(arrow.sent)
    text = "; ".join(message.text for message in arrow.messages)[:LONGEST_TEXT]
    first = arrow.messages[0]
    kind = "message" + " lost" * arrow.lost
    return (
        f"{_line(diagram, kind, start, (arrow.receiver, _y(arrow.received)))} "
        f'data-from="{first.sent}" data-to="{first.received}" marker-end="{head}"><title>{escape(text)}</title></line>'
    )


def _labels(diagram: SequenceDiagram, rows: Sequence[Row]) -> Iterator[str]:
    """Yield what arrows carry: of those that end at one place, the first one; a lost one is not received."""
    ends: set[tuple[int, int]] = set()
    for arrow in arrows_of(diagram, rows):
        end = arrow.receiver, arrow.received
        if not arrow.lost and end not in ends:
            yield _label(diagram, arrow)
        ends.add(end)


def _label(diagram: SequenceDiagram, arrow: Arrow) -> str:
    """Return what an arrow carries, beside its end, on the side from which it comes."""
    from_left = arrow.sender is not None and arrow.sender < arrow.receiver
    anchor = 'x="-14" text-anchor="end"' if from_left else 'x="14"'
    text = arrow.text[: LONGEST_LABEL - 1] + "…" if len(arrow.text) > LONGEST_LABEL else arrow.text
    label = f'<text class="sent" {anchor} y="4" aria-hidden="true">{escape(text)}</text>'
    return _placed(diagram, arrow.receiver, _y(arrow.received), label)


def _steps(diagram: SequenceDiagram, rows: Sequence[Row], hues: Mapping[str, int], head: str) -> Iterator[str]:
    for number, row in enumerate(rows):
        y, steps = _y(number), [step for step in row.steps if step]
        for lane, other in writes_of(diagram, row):
            yield f'{_line(diagram, "write", (lane, y), (other, y))} marker-end="{head}"/>'
        for lane in dict.fromkeys(diagram.actors[step - 1] for step in steps):
            yield _mark(diagram, lane, y, hues, is_faint=not isinstance(row.chapter, StoryStep))


def _mark(diagram: SequenceDiagram, number: int, y: int, hues: Mapping[str, int], *, is_faint: bool) -> str:
    lane = diagram.lanes[number]
    kind = f"act lane{hues.get(lane.name, 0)}{' faint' * is_faint}"
    if lane.system:
        return f'<circle class="{kind}" cx="{_x(diagram, number)}" cy="{y}" r="6"/>'
    return _placed(diagram, number, y, f'<path class="{kind}" d="M0 -8l8 8l-8 8l-8 -8z"/>')


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
            yield _absence(diagram, lane, _y(ended.pop(lane)), _y(number))
    yield from (_absence(diagram, lane, _y(row), _y(len(rows) - 1) + ROW // 2) for lane, row in ended.items())


def _absence(diagram: SequenceDiagram, lane: int, top: int, bottom: int) -> str:
    return _line(diagram, "absent", (lane, top), (lane, bottom)) + "/>"


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
        mark_path = f'<path class="mark {name}" d="{SHAPES[mark]}"><title>{text}</title></path>'
        yield _placed(diagram, lane, _y(number), mark_path)
