"""A story as Markdown, with a Mermaid sequence diagram that GitHub draws."""
from __future__ import annotations

from collections.abc import Iterator

from reports.escaping import code_span, markdown, mermaid
from reports.story import Fold, Step, Story, Turn
from reports.text import shown_lines, why_sentences


def markdown_page(story: Story, *, unfold: bool = False) -> str:
    """The whole page, ending with a line break."""
    middle = [*diagram(story, unfold=unfold), *_table(story, unfold=unfold)]
    return "\n".join([*_heading(story), *middle, *_end(story)])


def _heading(story: Story) -> Iterator[str]:
    yield f"# {markdown(story.headline)} {code_span(story.claim) if story.claim else ''}".rstrip()
    yield ""
    yield f"{markdown(story.about)}"
    yield ""
    sizes = ", ".join(f"{name} {size}" for name, size in story.bounds)
    seed = "" if story.seed is None else f", seed {story.seed}"
    facts = {
        "Length": story.how_short,
        "Symptom": story.symptom,
        "Log line": story.log,
        "Scenario": f"{story.scenario}, variant {story.variant}",
        "Bounds": sizes,
        "Found by": f"{story.found_by}{seed}",
    }
    yield from (f"- **{name}**: {markdown(text)}" for name, text in facts.items() if text)
    yield ""


def diagram(story: Story, *, unfold: bool = False) -> Iterator[str]:
    """The lines of a Mermaid sequence diagram, and an empty one; nothing if nobody acts."""
    lanes = {actor: f"a{number}" for number, actor in enumerate(story.actors)}
    if not lanes:
        return
    yield "```mermaid"
    yield "sequenceDiagram"
    for actor, lane in lanes.items():
        yield f"    participant {lane} as {mermaid(actor)}"
    for chapter in story.chapters(unfold=unfold):
        if isinstance(chapter, Fold):
            touched = [lanes[actor] for actor in chapter.actors]
            yield f"    Note over {_span(touched, lanes)}: … {mermaid(chapter.says)}"
        elif isinstance(chapter, Turn):
            yield from _turn(chapter, lanes)
        else:
            yield from _arrow(chapter, lanes[chapter.actor])
    if story.loop is not None and story.loop < story.length:
        yield "    end"
    yield "```"
    yield ""


def _turn(turn: Turn, lanes: dict[str, str]) -> Iterator[str]:
    """The beginning of a loop in a diagram, or a note where nothing happens any more."""
    everybody = _span(list(lanes.values()), lanes)
    yield f"    loop {mermaid(turn.says)}" if turn.steps else f"    Note over {everybody}: {mermaid(turn.says)}"


def _span(touched: list[str], lanes: dict[str, str]) -> str:
    """The outermost lanes that a note spans: Mermaid takes one or two."""
    order = [lane for lane in lanes.values() if lane in touched]
    return order[0] if len(order) == 1 else f"{order[0]},{order[-1]}"


def _arrow(step: Step, lane: str) -> Iterator[str]:
    yield f"    {lane}->>{lane}: {step.number} {mermaid(step.says)}"
    matter = [line for line in step.changes if line.matters]
    if matter:
        yield f"    Note over {lane}: {'<br/>'.join(mermaid(str(line)) for line in matter)}"


def _table(story: Story, *, unfold: bool) -> Iterator[str]:
    yield "| | actor | step | what changed |"
    yield "|--:|---|---|---|"
    for chapter in story.chapters(unfold=unfold):
        if isinstance(chapter, Fold):
            yield f"| … | | *{markdown(chapter.says)}* | *{markdown(chapter.does)}* |"
        elif isinstance(chapter, Turn):
            yield f"| ↻ | | **{markdown(chapter.says)}** | |"
        else:
            shown, more = shown_lines(chapter, every=unfold)
            cells = [f"**{markdown(str(line))}**" if line.matters else markdown(str(line)) for line in shown]
            changed = "<br>".join(cells + [f"and {more} more"] * bool(more))
            source = f"<br>{code_span(chapter.source)}" if chapter.source else ""
            yield f"| {chapter.number} | {markdown(chapter.actor)} | {markdown(chapter.says)}{source} | {changed} |"
    yield ""


def _end(story: Story) -> Iterator[str]:
    if story.why:
        yield f"**Why**: {markdown(story.why.text)}"
        yield ""
        yield from (f"- {markdown(sentence)}" for sentence in why_sentences(story.why))
        yield ""
    for label, command in (("Reproduce", story.reproduce), ("Search again", story.command)):
        if command:
            yield f"{label}: {code_span(command)}"
            yield ""
