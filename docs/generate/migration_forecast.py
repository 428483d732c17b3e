"""The page `migration-forecast.md`: what `kwalk diagnose` finds of a migration to KRaft, from a table."""

from __future__ import annotations

from docs.generate.tables import lines_of, tables

FORECAST = tables("migration_forecast")
HEAD = """# What an inspection finds of a migration to KRaft

[Before you migrate](../how-to/migrate-to-kraft.md) says how to ask. `make docs` writes this page from
`docs/generate/migration_forecast.toml`.

## Before it
"""
MEANWHILE = """
## While it migrates
"""


def page() -> str:
    """Return the text of the page."""
    before = {"name": "name", "what": "what happens", "releases": "releases", "known": "known from"}
    meanwhile = {"name": "name", "prognosis": "prognosis", "what": "what it means", "known": "known from"}
    parts = lines_of(FORECAST["before"], before, code="name"), lines_of(FORECAST["meanwhile"], meanwhile, code="name")
    return "\n".join([HEAD, *parts[0], MEANWHILE, *parts[1]]) + "\n"
