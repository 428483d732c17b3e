"""`kwalk replay`: execute the steps of a saved trace again, in plain Python."""

from __future__ import annotations

from kwalk.reports.options import values
from kwalk.reports.options.declaration import ONLY_JSON, TRACE, UNFOLD, Command, Section, option, repeatable
from kwalk.reports.options.values import nonempty

COMMAND = Command(
    "execute the steps of a saved trace again, in plain Python",
    TRACE,
    option("--variant", nonempty, "NAME", "replay in another variant"),
    repeatable("--flag", values.flag, "NAME=SETTING", "change a flag of the trace"),
    UNFOLD,
    ONLY_JSON,
    handler="kwalk.reports.handlers.traces:run_replay",
    section=Section.TRACES,
    examples="""
  kwalk replay kwalk-out/found.itf.json
  kwalk replay found.itf.json --variant 3.9.0     does another version still allow it?
  kwalk replay found.itf.json --flag lock=on      does this fix?""",
)
