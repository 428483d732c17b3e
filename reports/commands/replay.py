"""`kwalk replay`: execute the steps of a saved trace again, in plain Python."""

from __future__ import annotations

from kwalk.reports.options.declaration import ONLY_JSON, TRACE, UNFOLD, Command, Section, option, repeatable
from kwalk.search.base.option_kinds import FLAG, NAME

COMMAND = Command(
    "execute the steps of a saved trace again, in plain Python",
    TRACE,
    option("--variant", NAME, "replay in another variant"),
    repeatable("--flag", FLAG, "change a flag of the trace", dest="flags"),
    UNFOLD,
    ONLY_JSON,
    handler="kwalk.reports.handlers.traces:run_replay",
    section=Section.TRACE,
    examples="""
  kwalk replay kwalk-out/found.itf.json
  kwalk replay found.itf.json --variant 3.9.0     does another version still allow it?
  kwalk replay found.itf.json --flag lock=on      does this fix?""",
)
