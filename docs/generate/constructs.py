"""The page `constructs.md`: expressions that lift, and statements that are refused, from `constructs.toml`."""

from __future__ import annotations

from docs.generate.tables import lines_of, tables

CONSTRUCTS = tables("constructs")
HEAD = """# Constructs

In terms of the [depot of the reference](language.md#sizes): `depot` is a Depot, `shelf` a member of SHELVES. The tests
run each of them. `make docs` writes this page from `docs/generate/constructs.toml`.

## Expressions that lift
"""
REFUSED = """
## What is refused

In an action with `depot: Depot` and `shelf: Shelf`:
"""


def page() -> str:
    """Return the text of the page."""
    lift = lines_of(CONSTRUCTS["expression"], {"code": "expression", "note": "note"}, code="code")
    refused = lines_of(CONSTRUCTS["refused"], {"code": "statement", "instead": "write instead"}, code="code")
    return "\n".join([HEAD, *lift, REFUSED, *refused]) + "\n"
