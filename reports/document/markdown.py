"""Documents and stories as Markdown that GitHub shows, a story with a Mermaid sequence diagram."""
from __future__ import annotations

from collections.abc import Iterable, Iterator

from kwalk.reports.document import Block, Bullets, Card, CodeBlock, DataTable, Heading, Line, Paragraph, Span, spans
from kwalk.reports.document.text import shown_lines, why_sentences
from kwalk.reports.escaping import code_span, markdown, mermaid, visible
from kwalk.reports.traces.story import Fold, LoopStart, Story, StoryStep

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
    elif isinstance(block, CodeBlock):
        yield from ("```sh", *("".join(visible(span.text) for span in spans(line)) for line in block.lines), "```")
    elif isinstance(block, Card):
        yield "\n\n".join([_line(block.title), *("\n".join(_block(inner)) for inner in block.blocks)])
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
    return f"{mark}{text}{mark}"


# Stories.


def markdown_page(story: Story, *, unfold: bool = False) -> str:
    """Return the whole page of a story, which ends with a line break."""
    middle = [*diagram(story, unfold=unfold), *_table(story, unfold=unfold)]
    return "\n".join([*_heading(story), *middle, *_end(story)])


def _heading(story: Story) -> Iterator[str]:
    yield f"# {markdown(story.headline)} {code_span(story.prop) if story.prop else ''}".rstrip()
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


def diagram(story: Story, *, unfold: bool = False) -> Iterator[str]:
    """Yield the lines of a Mermaid sequence diagram, and an empty one; nothing for a story without steps."""
    lanes = {actor: f"a{number}" for number, actor in enumerate(story.actors)}
    if not lanes:
        return
    yield from ("```mermaid", "sequenceDiagram")
    yield from (f"    participant {lane} as {mermaid(actor)}" for actor, lane in lanes.items())
    for chapter in story.chapters(unfold=unfold):
        if isinstance(chapter, Fold):
            yield f"    Note over {_span_of(chapter.actors, lanes)}: … {mermaid(chapter.text)}"
        elif isinstance(chapter, LoopStart):
            begin = "loop" if chapter.steps else f"Note over {_span_of(story.actors, lanes)}:"
            yield f"    {begin} {mermaid(chapter.text)}"
        else:
            yield from _arrow(chapter, lanes[chapter.actor])
    if story.loop is not None and story.loop < story.length:
        yield "    end"
    yield from ("```", "")


def _span_of(actors: Iterable[str], lanes: dict[str, str]) -> str:
    """Return the outermost lanes that a note spans: Mermaid takes one or two."""
    touched = {lanes[actor] for actor in actors}
    order = [lane for lane in lanes.values() if lane in touched]
    return order[0] if len(order) == 1 else f"{order[0]},{order[-1]}"


def _arrow(step: StoryStep, lane: str) -> Iterator[str]:
    yield f"    {lane}->>{lane}: {step.number} {mermaid(step.text)}"
    read = [line for line in step.changes if line.matters]
    if read:
        yield f"    Note over {lane}: {'<br/>'.join(mermaid(str(line)) for line in read)}"


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
            yield f"| {chapter.number} | {markdown(chapter.actor)} | {markdown(chapter.text)}{source} | {changed} |"
    yield ""


def _end(story: Story) -> Iterator[str]:
    if story.why:
        yield from (f"**Why**: {markdown(story.why.text)}", "")
        yield from (f"- {markdown(sentence)}" for sentence in why_sentences(story.why))
        yield ""
    for label, command in (("Reproduce", story.reproduce), ("Search again", story.command)):
        if command:
            yield from (f"{label}: {code_span(command)}", "")
