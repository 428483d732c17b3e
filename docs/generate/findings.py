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

| kind | severity | what is wrong | what users notice now | what comes later | way out | property |
|---|---|---|---|---|---|---|"""


def page() -> str:
    """Return the text of the page."""
    return "\n".join([HEAD, *map(_row, KINDS)]) + "\n"


def _row(kind: FindingKind) -> str:
    properties = ", ".join(f"`{name}`" for name in kind.properties) or "none: a fact"
    texts = (cell(text) for text in (kind.title, kind.now, kind.later))
    way_out = f"{cell(kind.way_out)} ([page]({_link(kind.story)}))" if kind.story else cell(kind.way_out)
    return f"| `{kind.name}` | {kind.severity.value} | {' | '.join(texts)} | {way_out} | {properties} |"


def _link(page: str) -> str:
    """Return the link from a page of the reference to a page that code names, such as `docs/stories/NAME.md`."""
    return f"../{PurePosixPath(page).relative_to('docs')}"
