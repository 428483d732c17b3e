"""The page `findings.md`: what `kwalk diagnose` can find, from the declarations of the kinds."""

from __future__ import annotations

from pathlib import PurePosixPath

from docs.generate.log_lines import cell
from kwalk.invariants.reading.finding_kinds import KINDS
from kwalk.model.language.inspection import FindingKind

HEAD = """# Findings

What [`kwalk diagnose`](../how-to/diagnose-a-cluster.md) can find, the worst first. A finding is the violation of a
property in the state that a snapshot shows, or a fact. `make docs` writes this page from
`invariants/reading/finding_kinds.py`.
"""


def page() -> str:
    """Return the text of the page."""
    return "\n".join([HEAD, *map(_section, KINDS)])


def _section(kind: FindingKind) -> str:
    properties = ", ".join(f"`{name}`" for name in kind.properties) or "none: a fact"
    rows = {
        "Now": cell(kind.now),
        "Later": cell(kind.later),
        "Way out": cell(kind.way_out) or "by the facts of the snapshot",
        "Property": properties,
        "More": f"[{PurePosixPath(kind.story).stem}]({_link(kind.story)})" if kind.story else "",
    }
    items = "".join(f"* **{name}**: {text}\n" for name, text in rows.items() if text)
    return f"## `{kind.name}`\n\n{kind.severity.value.capitalize()}: {cell(kind.title)}.\n\n{items}"


def _link(page: str) -> str:
    """Return the link from a page of the reference to a page that code names, such as `docs/stories/NAME.md`."""
    return f"../{PurePosixPath(page).relative_to('docs')}"
