"""A counterexample as an SVG file of its own: lanes and messages, and each step in words beside them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape, unescape

from kwalk.reports.document.html import lanes_of
from kwalk.reports.traces.sequence import Row, SequenceDiagram, legend_of, rows_of
from kwalk.reports.traces.sequence_svg import HEAD, ROW, names_svg, svg
from kwalk.reports.traces.story import Story, StoryStep

TEXT = 860
"""Pixels for the words of a step."""
LANE, SLANT = 28, 44
"""Pixels of a lane, and by how far the slanting name of the last one goes beyond it."""
LONGEST_LINE = 130
"""Characters of a line of words; the rest is cut off."""
STEPS = re.compile(r"<metadata>(.*?)</metadata>", re.DOTALL)
STYLE = """<style>
text { font: 13px system-ui, sans-serif; fill: #1c1e21 } .name { font-size: 12px }
.sent { display: none } .changed { font-size: 11px; fill: #b3261e }
.routine, .legend { fill: #667 } .legend { font-size: 11px }
.lane { stroke: hsl(var(--hue) 45% 55%); stroke-width: 2; opacity: .55 } .shared { stroke: #667; stroke-width: 5 }
.act { fill: hsl(var(--hue) 60% 48%); stroke: #fff; stroke-width: 2 } .faint { opacity: .55 }
.message { stroke: #1c1e21; stroke-width: 1.2; fill: none; opacity: .55 }
.lost { stroke-dasharray: 4 4; stroke: #b3261e }
.write { stroke: #667; stroke-width: 2; opacity: .55 } .absent { stroke: #fff; stroke-width: 4; stroke-dasharray: 5 4 }
.mark { fill: #fff; stroke: #1c1e21; stroke-width: 2 } .crash, .session-expired { stroke: #b3261e }
.start, .session-established { stroke: #1d6f42 }
.lane0 { --hue: 210 } .lane1 { --hue: 25 } .lane2 { --hue: 140 } .lane3 { --hue: 285 }
.lane4 { --hue: 50 } .lane5 { --hue: 180 } .lane6 { --hue: 340 } .lane7 { --hue: 100 }
</style>"""
"""The colours of `trace.css` on white."""


def drawing(story: Story, sequence: SequenceDiagram, steps: Sequence[str]) -> str:
    """Return the SVG of a story; its metadata are the keys of the steps.

    Args:
        story: What happens, in words.
        sequence: Lanes, messages and marks.
        steps: The keys of the actions, from which the trace is replayed.
    """
    rows = rows_of(story.chapters())
    names, lanes = names_svg(sequence), svg(sequence, rows, lanes_of(story), "a")
    width = LANE * len(sequence.lanes)
    left, place = width + SLANT, f'width="{width}" overflow="visible"'
    legend = legend_of(sequence)
    height = HEAD + ROW * len(rows) + (ROW if legend else 0)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + TEXT}" height="{height}" '
        f'viewBox="0 0 {left + TEXT} {height}">',
        f"<metadata>{escape('; '.join(steps), quote=False)}</metadata>",
        STYLE,
        '<rect width="100%" height="100%" fill="#fff"/>',
        names.replace("<svg ", f"<svg {place} ", 1),
        lanes.replace("<svg ", f'<svg y="{HEAD}" {place} ', 1),
        *(line for number, row in enumerate(rows) for line in _words(row, left, HEAD + ROW * number)),
    ]
    if legend:
        parts.append(f'<text class="legend" x="{left}" y="{height - ROW // 3}">{escape(legend)}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def steps_of(written: str) -> tuple[str, ...]:
    """Return the keys of the steps of a drawing."""
    found = STEPS.search(written)
    return tuple(unescape(found[1]).split("; ")) if found else ()


def _words(row: Row, x: int, top: int) -> Iterator[str]:
    """Yield what a row says: a step with what it changes that matters, routine steps, or the start of a loop."""
    chapter = row.chapter
    if chapter is None:
        yield _text("routine", x, top + 19, "the first state")
        return
    if not isinstance(chapter, StoryStep):
        yield _text("routine", x, top + 19, f"… {chapter.text}" if row.steps else f"↻ {chapter.text}")
        return
    changed = "; ".join(str(line) for line in chapter.changes if line.matters)
    yield _text("step", x, top + (13 if changed else 19), f"{chapter.number}  {chapter.actor}: {chapter.full_text}")
    if changed:
        yield _text("changed", x + 18, top + 26, changed)


def _text(kind: str, x: int, y: int, words: str) -> str:
    cut = words if len(words) <= LONGEST_LINE else f"{words[: LONGEST_LINE - 1]}…"
    return f'<text class="{kind}" x="{x}" y="{y}">{escape(cut, quote=False)}</text>'
