"""`kwalk replay`: execute the steps of a saved trace again, in plain Python; write it in a format, or minimize it."""

from __future__ import annotations

from kwalk.reports.options.declaration import (
    JSON,
    TRACE,
    UNFOLD,
    Command,
    Section,
    arguments,
    option,
    repeatable,
    switch,
)
from kwalk.search.base.option_kinds import DIR, FLAG, NAME, one_of
from kwalk.search.base.option_table import DEFAULT_OUT, Minute

COMMAND = Command(
    "execute the steps of a saved trace again, in plain Python; write it in a format, or minimize it",
    TRACE,
    option("--variant", NAME, "replay in another variant"),
    repeatable("--flag", FLAG, "change a flag of the trace", dest="flags"),
    option("--format", one_of("text", "markdown", "html", "itf"), "write it in this format instead, and exit with 0"),
    switch("--minimize", "make it as short as possible, and try to prove that none is shorter", repeats=True),
    *arguments(Minute),
    option("--out", DIR, f"folder of the minimized trace (default: {DEFAULT_OUT}), or of the file of --format"),
    UNFOLD,
    JSON,
    handler="kwalk.reports.handlers.traces:run_replay",
    section=Section.TRACE,
    replaces={"show": ("--format", "text"), "shrink": ("--minimize",)},
    page="../how-to/read-a-trace.md",
    examples="""
  kwalk replay kwalk-out/found.itf.json           does the model still do this?
  kwalk replay found.itf.json --variant 3.9.0     does another version still allow it?
  kwalk replay found.itf.json --flag lock=on      does this fix?
  kwalk replay found.itf.json --format markdown > found.md
  kwalk replay found.itf.json --minimize --seconds 600""",
)
