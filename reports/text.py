"""A story as text: what `kwalk hunt`, `kwalk replay` and `kwalk show` print."""
from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from reports.changes import Change, ChangeLine
from reports.story import SHOWN, Fold, Step, Story, Turn, Why
from reports.terminal import put

HEADLINES = {"REACHED": "bold green", "NOT VIOLATED": "bold green", "SAMPLE": "bold"}
"""Styles of headlines that are no bad news; all others are red."""


def print_story(story: Story, console: Console, *, unfold: bool = False) -> None:
    """Print a story, its routine steps folded unless asked."""
    put(console, *_heading(story))
    if story.steps or story.loop is not None:
        put(console, Text(), steps_table(story, unfold=unfold))
    if story.why:
        put(console, Text(), *_why(story.why))


def _heading(story: Story) -> Iterator[RenderableType]:
    style = HEADLINES.get(story.headline, "bold red")
    yield Text.assemble((story.headline, style), "  ", (story.claim, "bold"), f"  in {story.how_short}")
    for label, text in (("symptom", story.symptom), ("log line", story.log)):
        if text:
            yield _indented(f"{label}: {text}")
    sizes = ", ".join(f"{name} {size}" for name, size in story.bounds)
    yield _indented(f"{story.scenario}, variant {story.variant}; {sizes or 'no bounds'}", "dim")
    if story.found_by:
        seed = "" if story.seed is None else f" (seed {story.seed})"
        yield _indented(f"found by {story.found_by}{seed}", "dim")


def _indented(text: str, style: str = "") -> RenderableType:
    return Padding(Text(text, style=style), (0, 0, 0, 10))


def steps_table(story: Story, *, unfold: bool) -> Table:
    """The steps of a story below each other, with what each changed."""
    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False, header_style="dim")
    table.add_column("", justify="right", no_wrap=True, min_width=5)
    table.add_column("actor", overflow="fold", max_width=22)
    table.add_column("step", overflow="fold", max_width=48)
    table.add_column("what changed", overflow="fold")
    for chapter in story.chapters(unfold=unfold):
        if isinstance(chapter, Fold):
            table.add_row("…", "", Text(chapter.says, style="dim"), Text(chapter.does, style="dim"))
        elif isinstance(chapter, Turn):
            table.add_row("↻", "", Text(chapter.says, style="bold"), "")
        else:
            _add_step(table, chapter, every=unfold)
    return table


def _add_step(table: Table, step: Step, *, every: bool) -> None:
    style = "dim" if step.routine else ("" if step.system else "cyan")
    shown, more = shown_lines(step, every=every)
    changed = [change_text(line) for line in shown]
    if more:
        changed.append(Text(f"and {more} more", style="dim"))
    says = Text(step.says, style=style)
    if step.source and not step.routine:
        says.append(f"\n{step.source}", style="dim")
    table.add_row(Text(str(step.number), style=style), Text(step.actor, style=style), says, Text("\n").join(changed))


def shown_lines(step: Step, *, every: bool = False) -> tuple[tuple[ChangeLine, ...], int]:
    """The changed lines of a step that are shown, and how many are not.

    Those that the claim reads are never hidden; those of queues only are, unless there is nothing else.
    """
    if every:
        return step.changes, 0
    telling = sum(line.rank < 2 for line in step.changes) or 1
    wanted = 1 if step.routine else SHOWN
    shown = telling if telling == wanted + 1 else min(telling, wanted)
    shown = max(shown, sum(line.matters for line in step.changes))
    return step.changes[:shown], max(0, len(step.changes) - shown)


def change_text(line: ChangeLine) -> Text:
    """One changed line: what is gone in red, what has come in green, bold where the claim reads it."""
    text = Text(f"{line.where} ", style="" if line.matters else "dim")
    for index, (name, change) in enumerate(line.changes):
        text.append(", " * (index > 0) + f"{name} " * bool(name))
        text.append_text(_transition(change))
    return text


def _transition(change: Change) -> Text:
    strong = "bold " if change.matters else ""
    gone, come = (change.gone or "", f"{strong}red"), (change.come or "", f"{strong}green")
    if change.gone is None:
        return Text.assemble("+ ", come)
    return Text.assemble("− ", gone) if change.come is None else Text.assemble(gone, " → ", come)


def _why(why: Why) -> Iterator[RenderableType]:
    yield Padding(Text.assemble(("Why: ", "bold"), why.text or "the claim has no sentence of its own."), (0, 0, 0, 2))
    yield from (Padding(Text(sentence), (0, 0, 0, 7)) for sentence in why_sentences(why))


def why_sentences(why: Why) -> list[str]:
    """What the claim read in the last state, decisive parts first."""
    told = []
    if why.decisive:
        good = "what it awaits would be there" if why.endless else "the claim would hold"
        either = f"were it otherwise, {good}" if len(why.decisive) == 1 else f"any one of these otherwise, and {good}"
        told.append(f"In the end {_listed(why.decisive)}: {either}.")
    if why.also:
        more = f", and {why.more} more" if why.more else ""
        told.append(f"It {'also ' * bool(why.decisive)}reads {_listed(why.also)}{more}.")
    if why.stable:
        told.append("No system action is enabled here: nothing will mend it by itself.")
    elif why.endless:
        told.append("The loop neglects nobody: every system action that stays enabled in it is taken in it.")
    return told


def _listed(values: Iterable[tuple[str, str]]) -> str:
    return ", ".join(f"{where} is {what}" for where, what in values)
