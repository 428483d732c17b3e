"""The page `log-lines.md`: an index of error names and log lines.

The texts are the symptoms and log lines that the properties of the Kafka model declare, and those of
`quoted_lines.toml`, which people search for and no property declares. A page of a story is linked to an entry if it
names a scenario in which the property is checked.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from kwalk.invariants.stories import SCENARIOS
from kwalk.model.language import Property

STORIES = Path(__file__).parents[1] / "stories"
ERROR = re.compile(r"\b[A-Z]{3,}(?:_[A-Z]+)+\b")
"""A name of Kafka's protocol errors."""
NO_ERRORS = ("JOIN_GROUP",)
"""Names of requests that look like errors."""
SHORT_NAMES = {"NOT_LEADER": "NOT_LEADER_OR_FOLLOWER"}
EXCEPTIONS = {
    "KAFKA_STORAGE_ERROR": "KafkaStorageException",
    "FETCH_SESSION_TOPIC_ID_ERROR": "FetchSessionTopicIdException",
    "TOPIC_ALREADY_EXISTS": "TopicExistsException",
    "UNKNOWN_SERVER_ERROR": "UnknownServerException",
}
"""The exceptions of clients that are not named after their error."""
NO_LINE = "none: "
QUOTED: Mapping[str, list[dict[str, Any]]] = tomllib.loads(
    Path(__file__).with_name("quoted_lines.toml").read_text(encoding="utf-8")
)
"""Errors and lines that no property declares, under "error" and "line"."""
HEAD = """# Log lines and error names

Type a word of what you see: an error of a client, a line of a broker's or a controller's log, a number of
`kafka-topics.sh` or JMX. Each entry has first the stories that show how a cluster gets there and how it gets out, then
what is wrong, with the property of the model that is violated, or the kind of finding of `kwalk diagnose`. `…` stands
for names and numbers. Under a line that no property declares is the method of Kafka that writes it; without releases,
in all from 2.5 to 3.9.

```{raw} html
<p><label>Filter: <input id="filter" type="search" autocomplete="off"></label> <output id="entries"></output></p>
<script>
document.addEventListener("DOMContentLoaded", () => {
  const rows = [...document.querySelectorAll("article tbody tr")];
  const show = () => {
    const words = document.getElementById("filter").value.toLowerCase().split(/\\s+/).filter(Boolean);
    for (const row of rows) row.hidden = !words.every((word) => row.textContent.toLowerCase().includes(word));
    document.getElementById("entries").value = rows.filter((row) => !row.hidden).length + " entries";
  };
  document.getElementById("filter").addEventListener("input", show);
  show();
});
</script>
```

`make docs` writes this page from the properties of the model and `docs/generate/quoted_lines.toml`.
"""


def page() -> str:
    """Return the text of the page."""
    every = (prop for scenario in SCENARIOS for prop in scenario.properties)
    declared = {prop.name: prop for prop in every if prop.symptom or prop.log}.values()
    return "\n".join([HEAD, *_errors(declared), "", *_lines(declared), "", *_silent(declared)]) + "\n"


def _errors(properties: Iterable[Property]) -> Iterator[str]:
    """Yield the table of error names."""
    by_error: dict[str, list[Property]] = {}
    for prop in properties:
        names = (SHORT_NAMES.get(name, name) for name in ERROR.findall(f"{prop.symptom} {prop.log}"))
        for name in dict.fromkeys(names):
            if name not in NO_ERRORS:
                by_error.setdefault(name, []).append(prop)
    quoted = {each["name"]: each for each in QUOTED["error"]}
    yield from ("## Errors of clients", "", "| error | stories | what is wrong |", "|---|---|---|")
    for name in sorted(by_error.keys() | quoted.keys()):
        found, one = by_error.get(name, []), quoted.get(name)
        symptoms = [f"{_sentence(prop.symptom)} (`{prop.name}`)" for prop in found]
        if one is not None:
            symptoms.insert(0, f"*{cell(one['text'])}* {_meaning(one)}")
        named = f"`{name}`<br>{_exception_of(name)}"
        yield f"| {named} | {_stories(found, *([one] if one else []))} | {'<br>'.join(symptoms)} |"


def _exception_of(error: str) -> str:
    """Return the class of the exception that clients raise for an error."""
    return EXCEPTIONS.get(error, f"{''.join(word.capitalize() for word in error.split('_'))}Exception")


def _lines(properties: Iterable[Property]) -> Iterator[str]:
    """Yield the table of log lines."""
    yield from ("## Log lines", "", "| line | stories | what is wrong |", "|---|---|---|")
    by_line: dict[str, list[Property]] = {}
    for prop in properties:
        if prop.log and not prop.log.startswith(NO_LINE):
            by_line.setdefault(prop.log, []).append(prop)
    rows = {cell(one["text"]): (f"<br>{cell(one['by'])}", _meaning(one), _stories([], one)) for one in QUOTED["line"]}
    for line, found in by_line.items():
        symptoms = "<br>".join(f"{_sentence(prop.symptom)} (`{prop.name}`)" for prop in found)
        rows[cell(line)] = "", symptoms, _stories(found)
    for line, (by, means, stories) in sorted(rows.items(), key=lambda row: row[0].lstrip("\\[").casefold()):
        yield f"| {line}{by} | {stories} | {means} |"


def _meaning(quoted: Mapping[str, Any]) -> str:
    """Return what a quoted error or line says, with the properties and kinds of findings that it belongs to."""
    names = [f"`{name}`" for name in quoted["see"] if not name.endswith(".md")]
    return _sentence(quoted["means"]) + (f" ({', '.join(names)})" if names else "")


def _silent(properties: Iterable[Property]) -> Iterator[str]:
    """Yield the table of what no log shows."""
    yield from ("## What no log shows", "", "| where to look | stories | what is wrong |", "|---|---|---|")
    for prop in sorted((p for p in properties if p.log.startswith(NO_LINE)), key=lambda prop: prop.name):
        where = _sentence(prop.log.removeprefix(NO_LINE))
        yield f"| {where} | {_stories([prop])} | {_sentence(prop.symptom)} (`{prop.name}`) |"


def _stories(properties: Iterable[Property], *quoted: Mapping[str, Any]) -> str:
    """Return links to at most three stories: named pages, pages that show a violation, pages of checked scenarios."""
    found, named = tuple(properties), [STORIES / name for one in quoted for name in one["see"] if name.endswith(".md")]
    scenarios = {scenario.name for scenario in SCENARIOS for prop in found if prop in scenario.properties}
    pages = [path for path in sorted(STORIES.glob("*.md")) if path.stem not in ("README", "not-reported")]
    texts = {path: _text(path) for path in pages}
    shown = [path for path in pages if any(prop.name in texts[path] for prop in found)]
    chosen = dict.fromkeys([*named, *shown, *(path for path in pages if path.stem in scenarios)])
    titles = ((path.name, texts[path].splitlines()[0].removeprefix("# ")) for path in list(chosen)[:3])
    return ", ".join(f"[{title}](../stories/{name})" for name, title in titles) or "[all](../stories/README.md)"


@cache
def _text(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def _sentence(text: str) -> str:
    return cell(text[:1].upper() + text[1:])


def cell(text: str) -> str:
    """Return a text as a cell of a table, without Markdown."""
    return text.replace("|", "\\|").replace("<", "&lt;").replace("[", "\\[").replace("*", "\\*").replace("_", "\\_")
