"""Tables that people write as data: `NAME.toml` beside this module."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any


def tables(name: str) -> dict[str, list[dict[str, Any]]]:
    """Return the tables of a file, by name."""
    return tomllib.loads(Path(__file__).with_name(f"{name}.toml").read_text(encoding="utf-8"))


def lines_of(rows: Iterable[Mapping[str, str]], columns: Mapping[str, str], *, code: str = "") -> Iterator[str]:
    """Yield a table in Markdown.

    Args:
        rows: Its rows; cells are Markdown.
        columns: The heads of the columns, by the keys of the rows.
        code: The key of a column that is code.
    """
    yield f"| {' | '.join(columns.values())} |"
    yield f"|{'---|' * len(columns)}"
    for row in rows:
        cells = (_code(row[key]) if key == code else row[key] for key in columns)
        yield f"| {' | '.join(cells)} |"


def _code(text: str) -> str:
    return f"`{text.replace('|', chr(92) + '|')}`"
