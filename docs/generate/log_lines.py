"""The page `log-lines.md`: an index of error names and log lines.

The texts are the symptoms and log lines that the properties of the Kafka model declare; a page of a story is linked to
an entry if it names a scenario in which the property is checked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from kwalk.invariants.stories import SCENARIOS
from kwalk.model.language import Property

STORIES = Path(__file__).parents[1] / "stories"
ERROR = re.compile(r"\b[A-Z]{3,}(?:_[A-Z]+)+\b")
"""A name of Kafka's protocol errors."""
NO_LINE = "none: "
HEAD = """# Log lines and error names

Search this page for what you see: an error of a client, a line of a broker's or a controller's log, a number of
`kafka-topics.sh` or JMX. Each entry names the property of the model that is violated then, and the stories that show
how a cluster gets there and how it gets out. `…` stands for names and numbers.

`make docs` writes this page from the properties of the model.
"""


def page() -> str:
    """Return the text of the page."""
    every = (prop for scenario in SCENARIOS for prop in scenario.properties)
    declared = {prop.name: prop for prop in every if prop.symptom or prop.log}.values()
    return "\n".join([HEAD, *_errors(declared), "", *_lines(declared), "", *_silent(declared)]) + "\n"


def _errors(properties: Iterable[Property]) -> Iterable[str]:
    """Yield the table of error names."""
    by_error: dict[str, list[Property]] = {}
    for prop in properties:
        for name in dict.fromkeys(ERROR.findall(f"{prop.symptom} {prop.log}")):
            by_error.setdefault(name, []).append(prop)
    yield from ("## Errors of clients", "", "| error | what is wrong | stories |", "|---|---|---|")
    for name, found in sorted(by_error.items()):
        symptoms = "<br>".join(f"{_sentence(prop.symptom)} (`{prop.name}`)" for prop in found)
        yield f"| `{name}` | {symptoms} | {_stories(found)} |"


def _lines(properties: Iterable[Property]) -> Iterable[str]:
    """Yield the table of log lines."""
    yield from ("## Log lines", "", "| line | what is wrong | stories |", "|---|---|---|")
    by_line: dict[str, list[Property]] = {}
    for prop in properties:
        if prop.log and not prop.log.startswith(NO_LINE):
            by_line.setdefault(prop.log, []).append(prop)
    for line, found in sorted(by_line.items()):
        symptoms = "<br>".join(f"{_sentence(prop.symptom)} (`{prop.name}`)" for prop in found)
        yield f"| {_cell(line)} | {symptoms} | {_stories(found)} |"


def _silent(properties: Iterable[Property]) -> Iterable[str]:
    """Yield the table of what no log shows."""
    yield from ("## What no log shows", "", "| where to look | what is wrong | stories |", "|---|---|---|")
    for prop in sorted((p for p in properties if p.log.startswith(NO_LINE)), key=lambda prop: prop.name):
        where = _sentence(prop.log.removeprefix(NO_LINE))
        yield f"| {where} | {_sentence(prop.symptom)} (`{prop.name}`) | {_stories([prop])} |"


def _stories(properties: Iterable[Property]) -> str:
    """Return links to at most three stories: pages that show a violation first, then pages of checked scenarios."""
    found = tuple(properties)
    scenarios = {scenario.name for scenario in SCENARIOS for prop in found if prop in scenario.properties}
    pages = [path for path in sorted(STORIES.glob("*.md")) if path.stem not in ("README", "not-reported")]
    texts = {path: path.read_text(encoding="utf-8") for path in pages}
    shown = [path for path in pages if any(prop.name in texts[path] for prop in found)]
    chosen = dict.fromkeys([*shown, *(path for path in pages if path.stem in scenarios)])
    titles = ((path.name, texts[path].splitlines()[0].removeprefix("# ")) for path in list(chosen)[:3])
    return ", ".join(f"[{title}](../stories/{name})" for name, title in titles) or "[all](../stories/README.md)"


def _sentence(text: str) -> str:
    return _cell(text[:1].upper() + text[1:])


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("[", "\\[").replace("*", "\\*").replace("_", "\\_")
