"""Documents and stories as Markdown that GitHub shows, a story with a Mermaid sequence diagram."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from urllib.parse import quote

from kwalk.reports.document import (
    BarChart,
    Block,
    Bullets,
    Card,
    CodeBlock,
    DataTable,
    Heading,
    Lead,
    Line,
    Paragraph,
    Span,
    spans,
)
from kwalk.reports.escaping import code_span, markdown, mermaid, visible
from kwalk.reports.traces.sequence import SYMBOLS, Arrow, Row, SequenceDiagram, arrows_of, rows_of, writes_of
from kwalk.reports.traces.story import Fold, LoopStart, Story, StoryStep, shown_lines, why_sentences

# Documents.


def markdown_document(blocks: Iterable[Block]) -> str:
    """Return the whole document, which ends with a line break."""
    return "\n\n".join("\n".join(_block(block)) for block in blocks) + "\n"


def _block(block: Block) -> Iterator[str]:
    if isinstance(block, Heading):
        yield f"{'#' * block.level} {_line(block.line)}"
    elif isinstance(block, Paragraph):
        yield _line(block.line)
    elif isinstance(block, Bullets):
        yield from (f"* {_line(item)}" for item in block.items)
    elif isinstance(block, DataTable):
        yield f"| {' | '.join(map(markdown, block.columns))} |"
        yield f"|{'|'.join('---:' if n in block.numeric else '---' for n in range(len(block.columns)))}|"
        yield from (f"| {' | '.join(map(_line, row))} |" for row in block.rows)
    elif isinstance(block, BarChart):
        yield from _block(block.table)
    elif isinstance(block, CodeBlock):
        yield from ("```sh", *("".join(visible(span.text) for span in spans(line)) for line in block.lines), "```")
    elif isinstance(block, Card):
        yield "\n\n".join([_line(block.title), *("\n".join(_block(inner)) for inner in block.blocks)])
    elif block.is_closed:
        yield f"… {markdown(block.summary)}: `--json` has them."
    else:
        yield "\n\n".join("\n".join(_block(inner)) for inner in block.blocks)


def _line(line: Line) -> str:
    return "".join(_span(span, first=number == 0) for number, span in enumerate(spans(line)))


def _span(span: Span, *, first: bool) -> str:
    """Return a span; only the first one of a line needs the escapes for the start of a line."""
    styles = span.style.split()
    if "code" in styles:
        return code_span(span.text)
    mark = "**" if "strong" in styles else "*" if "emphasis" in styles else ""
    text = markdown(span.text) if first else markdown(f".{span.text}")[1:]
    if "://" not in span.href:  # a document is read elsewhere than the page beside it
        return f"{mark}{text}{mark}"
    return f"[{mark}{text}{mark}]({quote(span.href, safe=':/#?&=%~')})"


# Stories.


def markdown_page(
    story: Story, *, sequence: SequenceDiagram | None = None, lead: Lead | None = None, unfold: bool = False
) -> str:
    """Return the whole page of a story, which ends with a line break.

    Args:
        story: The story.
        sequence: Its lanes, messages and marks; None draws each step on the lane of its actor.
        lead: What the page says before the story, under a title of its own; None for nothing.
        unfold: Whether routine steps are shown one by one.
    """
    middle = [*diagram(story, sequence, unfold=unfold), *_table(story, unfold=unfold)]
    first = [markdown_document(lead.blocks)] if lead else []
    return "\n".join([*first, *_heading(story, level=2 if lead else 1), *middle, *_end(story)])


def _heading(story: Story, level: int = 1) -> Iterator[str]:
    yield f"{'#' * level} {markdown(story.headline)} {code_span(story.prop) if story.prop else ''}".rstrip()
    yield from ("", markdown(story.about), "")
    facts = {
        "Length": story.length_text,
        "Symptom": story.symptom,
        "Log line": story.log,
        "Scenario": story.model_text,
        "Found by": story.origin,
        "Checks": story.compared,
    }
    yield from (f"- **{name}**: {markdown(text)}" for name, text in facts.items() if text)
    yield ""


def diagram(story: Story, sequence: SequenceDiagram | None = None, *, unfold: bool = False) -> Iterator[str]:
    """Yield the lines of a Mermaid sequence diagram, and an empty one; nothing for a story without steps."""
    if not story.actors:
        return
    names = story.actors if sequence is None else tuple(lane.name for lane in sequence.lanes)
    lanes = {name: f"a{number}" for number, name in enumerate(names)}
    yield from ("```mermaid", "sequenceDiagram")
    yield from (f"    participant {lane} as {mermaid(name)}" for name, lane in lanes.items())
    rows = rows_of(story.chapters(unfold=unfold))
    arriving: dict[int, list[Arrow]] = {}
    for arrow in arrows_of(sequence, rows) if sequence else ():
        arriving.setdefault(arrow.received, []).append(arrow)
    for number, row in enumerate(rows):
        yield from (_message(arrow, rows) for arrow in arriving.get(number, ()))
        if isinstance(row.chapter, StoryStep):
            yield from _step(row, row.chapter, lanes, sequence)
        elif isinstance(row.chapter, Fold):
            yield f"    Note over {_span_of(row.chapter.actors, lanes)}: … {mermaid(row.chapter.text)}"
            for (lane, other), steps in (writes_of(sequence, row) if sequence else {}).items():
                yield f"    a{lane}->>a{other}: {mermaid(', '.join(map(str, steps)))}"
        elif row.chapter is not None:
            begin = "loop" if row.chapter.steps else f"Note over {_span_of(story.actors, lanes)}:"
            yield f"    {begin} {mermaid(row.chapter.text)}"
    if story.loop is not None and story.loop < story.length:
        yield "    end"
    yield from ("```", "")


def _span_of(actors: Iterable[str], lanes: Mapping[str, str]) -> str:
    """Return the outermost lanes that a note spans: Mermaid takes one or two."""
    touched = {lanes[actor] for actor in actors}
    order = [lane for lane in lanes.values() if lane in touched]
    return order[0] if len(order) == 1 else f"{order[0]},{order[-1]}"


def _message(arrow: Arrow, rows: Sequence[Row]) -> str:
    """Return an arrow of messages, at the step that takes them."""
    steps = [step for step in rows[arrow.sent].steps if step]
    since = f" (from {steps[0] if len(steps) == 1 else f'{steps[0]} to {steps[-1]}'})" if steps else ""
    sender = arrow.receiver if arrow.sender is None else arrow.sender
    return (
        f"    a{sender}{'--x' if arrow.lost else '-)'}a{arrow.receiver}: {mermaid(arrow.text[:LONGEST_LABEL] + since)}"
    )


def _step(row: Row, step: StoryStep, lanes: Mapping[str, str], sequence: SequenceDiagram | None) -> Iterator[str]:
    """Yield a step: an arrow to what it writes, or to itself, its mark, and what it changes that matters."""
    lane = lanes[step.actor]
    written = [f"a{other}" for _, other in writes_of(sequence, row)] if sequence else []
    first, *more = written or [lane]
    yield f"    {lane}->>{first}: {step.number} {mermaid(step.full_text)}"
    yield from (f"    {lane}->>{other}: {step.number}" for other in more)
    mark = sequence.marks[step.number - 1] if sequence and sequence.marks else None
    if mark:
        low, high = mark[1][0], mark[1][-1]
        where = [f"a{low},a{high}"] if high == low + len(mark[1]) - 1 > low else [f"a{each}" for each in mark[1]]
        yield from (f"    Note over {each}: {SYMBOLS[mark[0]]} {mermaid(mark[0].value)}" for each in where)
    read = [line for line in step.changes if line.matters]
    if read:
        yield f"    Note over {lane}: {'<br/>'.join(mermaid(str(line)) for line in read)}"


LONGEST_LABEL = 60
"""Characters of an arrow's label; the rest is cut off."""


def _table(story: Story, *, unfold: bool) -> Iterator[str]:
    yield "| | actor | step | what changed |"
    yield "|--:|---|---|---|"
    if story.asides:
        yield f"| | | the first state | {'<br>'.join(f'*{markdown(aside)}*' for aside in story.asides)} |"
    for chapter in story.chapters(unfold=unfold):
        if isinstance(chapter, Fold):
            yield f"| … | | *{markdown(chapter.text)}* | *{markdown(chapter.summary)}* |"
        elif isinstance(chapter, LoopStart):
            yield f"| ↻ | | **{markdown(chapter.text)}** | |"
        else:
            shown, more = shown_lines(chapter, every=unfold)
            cells = [f"**{markdown(str(line))}**" if line.matters else markdown(str(line)) for line in shown]
            aside = [f"*{markdown(text)}*" for text in chapter.asides]
            changed = "<br>".join(cells + [f"and {more} more"] * bool(more) + aside)
            source = f"<br>{code_span(chapter.source)}" if chapter.source else ""
            text = markdown(chapter.full_text) + source
            yield f"| {chapter.number} | {markdown(chapter.actor)} | {text} | {changed} |"
    yield ""


def _end(story: Story) -> Iterator[str]:
    if story.why:
        yield from (f"**Why**: {markdown(story.why.text)}", "")
        yield from (f"- {markdown(sentence)}" for sentence in why_sentences(story.why))
        yield ""
    if story.causes:
        yield from ("**How it came to this**, from the end:", "")
        yield from (f"{number}. {markdown(sentence)}" for number, sentence in enumerate(story.causes, start=1))
        yield ""
    for label, command in (("Reproduce", story.reproduce), ("Search again", story.command)):
        if command:
            yield from (f"{label}: {code_span(command)}", "")
