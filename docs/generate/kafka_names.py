"""The page `kafka-names.md`: where each name of Kafka is in the model, read from the model's sources.

An action has its names in `source=`, before the first colon of each part. A function or class has them in its
docstring, as `(Kafka: Class.method, Class.other)` or as a paragraph `Kafka: Class.method.`; after a member's name in
backticks they belong to the member. A module has its class at the start of its docstring. A name that begins with a
slash is a znode.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from attrs import frozen

import kwalk.model.kafka

ROOT = Path(kwalk.model.kafka.__file__).parent
IN_DOCSTRING = re.compile(r"(?:`(\w+)`\s)?\(Kafka:\s([^)]*)\)|^Kafka:\s(.+(?:\n.+)*)\.$", re.MULTILINE)
MODULE = re.compile(r"([A-Z]\w+)(?: and ([A-Z]\w+))?: ")
METHOD = re.compile(r"[A-Z]\w*(?:\.\w+)+")
ZNODE = re.compile(r"/[\w/]+")
CLASS = re.compile(r"[A-Z]\w+")
INTRODUCTION = """# Kafka's names, and the model's

`make docs` writes this page from the sources of the model.

Where to find a method, class, znode or request of Kafka in the model: the function, action or record, and its file
below `model/kafka`. Classes are those of Kafka 2.8 in ZooKeeper mode. An *action* is a step of the
model; a *function* is a part of steps; a *record* is a part of the state.
"""


@frozen(order=True)
class Entry:
    """One line of the page: a name of Kafka's, and what has it in the model."""

    kafka: str
    model: str
    kind: str
    file: str


def entries() -> list[Entry]:
    """Return all pairs of names in the model's sources, sorted by Kafka's name."""
    files = (file for file in sorted(ROOT.rglob("*.py")) if "snapshots" not in file.parts)
    return sorted({entry for file in files for entry in _entries_in(file)})


def _entries_in(file: Path) -> Iterator[Entry]:
    path, module = file.relative_to(ROOT).as_posix(), ast.parse(file.read_text(encoding="utf-8"))
    for names in MODULE.findall((ast.get_docstring(module) or "").partition("\n")[0]):
        yield from (Entry(name, file.stem, "module", path) for name in names if name)
    for name, node in _definitions(module.body, ""):
        source = _source_of(node)
        kind = "action" if source else "record" if isinstance(node, ast.ClassDef) else "function"
        for kafka in _methods(source):
            yield Entry(kafka, name, kind, path)
        documented = _documented(ast.get_docstring(node) or "")
        for kafka, member in documented:
            yield Entry(kafka, f"{name}.{member}" if member else name, kind, path)


def _definitions(body: list[ast.stmt], prefix: str) -> Iterator[tuple[str, ast.FunctionDef | ast.ClassDef]]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield prefix + node.name, node
        if isinstance(node, ast.ClassDef):
            yield from _definitions(node.body, f"{node.name}.")


def _source_of(node: ast.FunctionDef | ast.ClassDef) -> str:
    """Return the text of `source=` in the decorator `@action`, or an empty text."""
    calls = (decorator for decorator in node.decorator_list if isinstance(decorator, ast.Call))
    given = [keyword.value for call in calls for keyword in call.keywords if keyword.arg == "source"]
    return str(ast.literal_eval(given[0])) if given else ""


def _methods(source: str) -> Iterator[str]:
    """Yield `Class.method` for each name in a source; a name without a class has that of the name before it."""
    owner = ""
    listed = re.sub(r" \([\d.]+\)|\bkafka\.admin\.", "", source)
    for name in (name.strip() for part in listed.split(";") for name in part.partition(":")[0].split(",")):
        if METHOD.fullmatch(name):
            owner = name.rpartition(".")[0]
            yield name
        elif owner and re.fullmatch(r"[a-z]\w+", name):
            yield f"{owner}.{name}"


def _documented(docstring: str) -> Iterator[tuple[str, str]]:
    """Yield each name of Kafka's in a docstring, with the member that it belongs to or an empty text."""
    for found in IN_DOCSTRING.finditer(docstring):
        for name in (found[2] or found[3]).split(","):
            if any(form.fullmatch(name.strip()) for form in (METHOD, ZNODE, CLASS)):
                yield name.strip(), found[1] or ""


def page() -> str:
    """Return the page as Markdown."""
    known = entries()
    sections = {
        "Methods": [entry for entry in known if METHOD.fullmatch(entry.kafka)],
        "Classes, states and requests": [entry for entry in known if CLASS.fullmatch(entry.kafka)],
        "Znodes": [entry for entry in known if entry.kafka.startswith("/")],
    }
    return INTRODUCTION + "".join(_section(title, rows) for title, rows in sections.items())


def _section(title: str, rows: list[Entry]) -> str:
    lines = [f"| `{e.kafka}` | `{e.model}` | {e.kind} | [{e.file}](../../model/kafka/{e.file}) |" for e in rows]
    return "\n".join([f"\n## {title}\n", "| Kafka | model | kind | file |", "|---|---|---|---|", *lines, ""])
