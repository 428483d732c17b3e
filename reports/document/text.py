"""Documents and stories as text: what the commands print."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich import box
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Column, Table
from rich.text import Text

from kwalk.reports.document import (
    BarChart,
    Block,
    Bullets,
    Card,
    CodeBlock,
    DataTable,
    Details,
    Heading,
    Line,
    Paragraph,
    Span,
    spans,
)
from kwalk.reports.escaping import visible
from kwalk.reports.terminal import put
from kwalk.reports.traces.changes import Change, ChangeLine
from kwalk.reports.traces.story import Fold, LoopStart, Story, StoryStep, Why, shown_lines, why_sentences

TONES = {
    "strong": "bold",
    "good": "green",
    "bad": "red",
    "open": "yellow",
    "hollow": "magenta",
    "notable": "cyan",
    "faint": "dim",
}
"""The styles of a terminal for those of a document; others are printed as plain text."""
HEADLINES = {"EXPLAINED": "bold green", "REACHED": "bold green", "NOT VIOLATED": "bold green", "SAMPLE": "bold"}
"""Styles of headlines that are no bad news; all others are red."""


Printable = Block | RenderableType
"""A block, or what only a console shows, such as the steps of a story."""
Renderables = Iterator[RenderableType]


# Documents.


def print_blocks(blocks: Iterable[Printable], out: Console) -> None:
    """Print blocks below each other; lines of code blocks are not wrapped."""
    for block in blocks:
        if isinstance(block, CodeBlock):
            for line in block.lines:
                out.print(Text(" " * block.indent).append_text(text_of(line)), soft_wrap=True)
        elif isinstance(block, Card):
            put(out, Text())
            print_blocks((Paragraph(block.title, 2), *block.blocks), out)
        elif isinstance(block, Details):
            summary = Paragraph([Span(f"… {block.summary}: --json has them", "faint")], 4)
            print_blocks([summary] if block.is_closed else block.blocks, out)
        else:
            put(out, *_renderables(block))


def _renderables(block: Heading | Paragraph | Bullets | DataTable | BarChart | RenderableType) -> Renderables:
    if isinstance(block, Heading):
        yield from (Text(), Text("").append_text(text_of(block.line)))
    elif isinstance(block, Paragraph):
        yield _indented(text_of(block.line), block.indent)
    elif isinstance(block, Bullets):
        yield from (_indented(Text("• ").append_text(text_of(item)), 2) for item in block.items)
    elif isinstance(block, (DataTable, BarChart)):
        table = block.table if isinstance(block, BarChart) else block
        yield _indented(_table(table), table.indent)
    else:
        yield block


def _indented(content: RenderableType, indent: int) -> RenderableType:
    """Return text or a table with all of its lines indented."""
    return Padding(content, (0, 0, 0, indent)) if indent else content


def text_of(line: Line) -> Text:
    """Return a line with its styles, its names made visible."""
    text = Text()
    for span in spans(line):
        text.append(visible(span.text), " ".join(TONES[word] for word in span.style.split() if word in TONES))
    return text


def _table(block: DataTable) -> Table:
    columns = [
        Column(
            title,
            justify="right" if number in block.numeric else "left",
            overflow="fold",
            ratio=1 if number == block.wide else None,
        )
        for number, title in enumerate(block.columns)
    ]
    table = Table(*columns, box=box.SIMPLE_HEAD, pad_edge=False, expand=block.wide is not None)
    for row in block.rows:
        table.add_row(*map(text_of, row))
    return table


# Stories.


def story_text(story: Story, *, unfold: bool = False) -> Iterator[RenderableType]:
    """Yield the parts of a story, its routine steps folded unless asked."""
    yield from _heading(story)
    if story.steps or story.loop is not None:
        yield from (Text(), steps_table(story, unfold=unfold))
    if story.why:
        yield from (Text(), *_why(story.why))
    if story.causes:
        yield from (Text(), *_causes(story.causes))


def _heading(story: Story) -> Iterator[RenderableType]:
    style = HEADLINES.get(story.headline, "bold red")
    yield Text.assemble((story.headline, style), "  ", (story.prop, "bold"), f"  in {story.length_text}")
    facts = {"symptom: ": (story.symptom, ""), "log line: ": (story.log, ""), "": (story.model_text, "dim")}
    facts["found by "] = (story.origin, "dim")
    for label, (text, tone) in facts.items():
        if text:
            yield Padding(Text(f"{label}{text}", style=tone), (0, 0, 0, 10))


def steps_table(story: Story, *, unfold: bool) -> Table:
    """Return the steps of a story, one below the other, with what each step changed."""
    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False, header_style="dim")
    table.add_column("", justify="right", no_wrap=True, min_width=5)
    table.add_column("actor", overflow="fold", max_width=22)
    table.add_column("step", overflow="fold", max_width=48)
    table.add_column("what changed", overflow="fold")
    if story.asides:
        table.add_row("", "", Text("the first state", style="dim"), Text("\n".join(story.asides), style="italic"))
    for chapter in story.chapters(unfold=unfold):
        if isinstance(chapter, Fold):
            table.add_row("…", "", Text(chapter.text, style="dim"), Text(chapter.summary, style="dim"))
        elif isinstance(chapter, LoopStart):
            table.add_row("↻", "", Text(chapter.text, style="bold"), "")
        else:
            _add_step(table, chapter, every=unfold)
    return table


def _add_step(table: Table, step: StoryStep, *, every: bool) -> None:
    style = "dim" if step.routine else ("" if step.system else "cyan")
    shown, more = shown_lines(step, every=every)
    changed = [change_text(line) for line in shown]
    if more:
        changed.append(Text(f"and {more} more", style="dim"))
    changed += [Text(aside, style="dim" if step.routine else "italic") for aside in step.asides]
    text = Text(step.text, style=style)
    if step.outcome:
        text.append(f": {step.outcome}", style="bold")
    if step.source and not step.routine:
        text.append(f"\n{step.source}", style="dim")
    table.add_row(Text(str(step.number), style=style), Text(step.actor, style=style), text, Text("\n").join(changed))


def change_text(line: ChangeLine) -> Text:
    """Return a changed line: removed values in red, new ones in green, bold where the property reads them."""
    text = Text(f"{line.where} ", style="" if line.matters else "dim")
    for index, (name, change) in enumerate(line.changes):
        text.append(", " * (index > 0) + f"{name} " * bool(name))
        text.append_text(_transition(change))
    return text


def _transition(change: Change) -> Text:
    strong = "bold " if change.matters else ""
    old, new = (change.old or "", f"{strong}red"), (change.new or "", f"{strong}green")
    if change.old is None:
        return Text.assemble("+ ", new)
    return Text.assemble("− ", old) if change.new is None else Text.assemble(old, " → ", new)


def _why(why: Why) -> Iterator[RenderableType]:
    text = why.text or "the property has no description."
    yield Padding(Text.assemble(("Why: ", "bold"), text), (0, 0, 0, 2))
    yield from (Padding(Text(sentence), (0, 0, 0, 7)) for sentence in why_sentences(why))


def _causes(causes: Sequence[str]) -> Iterator[RenderableType]:
    yield Padding(Text("How it came to this, from the end:", style="bold"), (0, 0, 0, 2))
    yield from (Padding(Text(f"{number}. {text}"), (0, 0, 0, 4)) for number, text in enumerate(causes, start=1))
