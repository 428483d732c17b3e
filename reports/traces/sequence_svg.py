"""A sequence diagram as SVG: one column for each lane, one row of a fixed height for each line of a story."""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape

from attrs import frozen

from kwalk.reports.traces.sequence import Lane, Message, SequenceDiagram
from kwalk.reports.traces.story import Fold, LoopStart, StoryStep

ROW, LANE, HEAD, LEFT = 30, 24, 96, 14
"""Pixels: the height of a row, the distance of lanes, the height of their names, and the first lane's distance.

The list beside the diagram has the same heights (trace.css)."""
LONGEST_TEXT = 400
"""Characters of a message's text; the rest is cut off."""


@frozen
class Row:
    """A line beside the diagram: a step, several that are folded, or the loop's start; `steps` are their numbers."""

    chapter: StoryStep | Fold | LoopStart | None
    steps: tuple[int, ...]


def rows_of(chapters: Iterable[StoryStep | Fold | LoopStart]) -> tuple[Row, ...]:
    """Return the rows: one for the initial state, then one for each chapter."""
    return (Row(None, (0,)), *map(_row, chapters))


def _row(chapter: StoryStep | Fold | LoopStart) -> Row:
    if isinstance(chapter, StoryStep):
        return Row(chapter, (chapter.number,))
    return Row(chapter, tuple(step.number for step in chapter.steps) if isinstance(chapter, Fold) else ())


def svg(diagram: SequenceDiagram, rows: Sequence[Row], hues: Mapping[str, int]) -> str:
    """Return the drawing; `hues` are the numbers of the lanes' colours by the actor's name."""
    place = {step: number for number, row in enumerate(rows) for step in row.steps}
    width, height = 2 * LEFT + LANE * max(0, len(diagram.lanes) - 1) + 44, HEAD + ROW * len(rows)
    parts = [
        f'<svg class="lanes" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="{len(diagram.lanes)} lanes and the messages between them">',
        '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" '
        'orient="auto-start-reverse"><path d="M0 0L8 4L0 8z"/></marker></defs>',
        *_lanes(diagram, hues, height),
        *(part for group in _arrows(diagram.messages, place) for part in _arrow(*group)),
        *_steps(diagram, rows, hues),
        "</svg>",
    ]
    return "\n".join(parts)


def _x(lane: int) -> int:
    return LEFT + LANE * lane


def _y(row: int) -> int:
    return HEAD + ROW * row + ROW // 2


def _lanes(diagram: SequenceDiagram, hues: Mapping[str, int], height: int) -> Iterator[str]:
    for number, lane in enumerate(diagram.lanes):
        kind = f"lane{hues[lane.name]}" if lane.name in hues else "shared"
        x = _x(number)
        yield f'<line class="lane {kind}" x1="{x}" y1="{HEAD - 6}" x2="{x}" y2="{height}"/>'
        yield f'<text class="name" transform="translate({x + 4} {HEAD - 12}) rotate(-55)">{escape(lane.name)}</text>'


Place = tuple[int | None, int, int, int]
"""The lane and row of the sender, and the lane and row of the receiver."""


def _arrows(messages: Iterable[Message], place: Mapping[int, int]) -> Iterator[tuple[Place, list[Message]]]:
    """Yield the messages that are drawn, those of the same steps together; one within a row or a lane is not drawn."""
    groups: dict[Place, list[Message]] = {}
    for message in messages:
        if message.receiver is None or message.received is None or message.sender == message.receiver:
            continue
        if message.sent in place and message.received in place and place[message.sent] != place[message.received]:
            key = (message.sender, place[message.sent], message.receiver, place[message.received])
            groups.setdefault(key, []).append(message)
    yield from groups.items()


def _arrow(where: Place, messages: list[Message]) -> Iterator[str]:
    sender, sent, receiver, received = where
    x1, y1, x2, y2 = _x(receiver if sender is None else sender), _y(sent), _x(receiver), _y(received)
    text = "; ".join(message.text for message in messages)[:LONGEST_TEXT]
    kind = " lost" if messages[0].lost else ""
    steps = f'data-from="{messages[0].sent}" data-to="{messages[0].received}"'
    inward = 7 if x2 < x1 else -7 if x2 > x1 else 0
    yield (
        f'<path class="message{kind}" {steps} d="M{x1} {y1}L{x2 + inward} {y2 - (3 if sent != received else 0)}" '
        f'marker-end="url(#head)"><title>{escape(text)}</title></path>'
    )


def _steps(diagram: SequenceDiagram, rows: Sequence[Row], hues: Mapping[str, int]) -> Iterator[str]:
    for number, row in enumerate(rows):
        y, steps = _y(number), [step for step in row.steps if step]
        writes = dict.fromkeys((diagram.actors[s - 1], other) for s in steps for other in diagram.writes[s - 1])
        for lane, other in writes:
            inward = 8 if other < lane else -8
            yield f'<path class="write" d="M{_x(lane)} {y}L{_x(other) + inward} {y}" marker-end="url(#head)"/>'
        for lane in dict.fromkeys(diagram.actors[step - 1] for step in steps):
            yield _mark(diagram.lanes[lane], _x(lane), y, hues, is_faint=not isinstance(row.chapter, StoryStep))


def _mark(lane: Lane, x: int, y: int, hues: Mapping[str, int], *, is_faint: bool) -> str:
    kind = f"act lane{hues.get(lane.name, 0)}{' faint' * is_faint}"
    if lane.system:
        return f'<circle class="{kind}" cx="{x}" cy="{y}" r="6"/>'
    return f'<path class="{kind}" d="M{x} {y - 8}l8 8l-8 8l-8 -8z"/>'

