"""The page `snapshot-format.md`: the fields of a snapshot, from `snapshot_format.toml`."""

from __future__ import annotations

from docs.generate.tables import lines_of, tables

FORMAT = tables("snapshot_format")
HEAD = """# The fields of a snapshot

A [snapshot](snapshots.md) of format 3. `make docs` writes this page from `docs/generate/snapshot_format.toml`.
"""
IMAGE = """
## KRaft's image
"""


def page() -> str:
    """Return the text of the page."""
    fields = lines_of(FORMAT["field"], {"name": "field", "meaning": "meaning, and where it comes from"})
    image = lines_of(FORMAT["image"], {"name": "field", "meaning": "meaning"})
    return "\n".join([HEAD, *fields, IMAGE, *image]) + "\n"
