"""`kwalk show`: print a saved trace."""

from __future__ import annotations

from kwalk.reports.options.declaration import TRACE, UNFOLD, Command, Section, option
from kwalk.search.base.option_kinds import DIR

COMMAND = Command(
    "print a saved trace",
    TRACE,
    UNFOLD,
    (
        "--format",
        {
            "choices": ("text", "markdown", "html", "itf"),
            "default": "text",
            "help": "default: text",
        },
    ),
    option("--out", DIR, "write a file there instead of printing"),
    handler="kwalk.reports.handlers.traces:show",
    section=Section.TRACE,
    examples="""
  kwalk show found.itf.json --unfold
  kwalk show found.itf.json --format markdown > found.md""",
)
