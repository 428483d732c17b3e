"""A story as one self-contained HTML page: no script, nothing from elsewhere; it prints well and fits a phone."""
from __future__ import annotations

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined

from reports.story import Fold, Story, Turn
from reports.text import shown_lines, why_sentences

HUES = 8
"""How many colours the lanes of actors take turns with."""


@cache
def environment() -> Environment:
    """The templates of all pages; what they print is escaped."""
    return Environment(
        loader=PackageLoader("reports", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def html_page(story: Story, *, unfold: bool = False) -> str:
    """The whole page. Everything that comes from a model or a snapshot is escaped by the template."""
    lanes = {actor: number % HUES for number, actor in enumerate(story.actors)}
    return environment().get_template("trace.html.j2").render(
        story=story,
        chapters=list(story.chapters(unfold=unfold)),
        lanes=lanes,
        is_fold=lambda chapter: isinstance(chapter, Fold),
        is_turn=lambda chapter: isinstance(chapter, Turn),
        shown_lines=shown_lines,
        why_sentences=why_sentences(story.why) if story.why else [],
        unfold=unfold,
    )
