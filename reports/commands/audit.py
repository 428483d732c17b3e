"""`kwalk audit`: search each trial of a fix with the fix off and on."""

from __future__ import annotations

from kwalk.reports.options.declaration import (
    HTML,
    JSON,
    MARKDOWN,
    PROFILE,
    Command,
    Section,
    argument,
    arguments,
    out,
    repeating,
    switch,
)
from kwalk.search.base.option_table import AuditKeywords

COMMAND = Command(
    "search each trial of a fix with the fix off and on",
    argument("fixes", "FIX", "a fix's name, or package.module:FIXES of your own", nargs="*"),
    *arguments(AuditKeywords),
    switch("--fresh", "ignore saved outcomes of an earlier audit"),
    out("folder of traces and of saved outcomes"),
    repeating(MARKDOWN),
    repeating(HTML),
    JSON,
    PROFILE,
    handler="kwalk.reports.handlers.audit:run_audit",
    section=Section.FIXES,
    codes="0 all cells are decided, 2 usage error, 3 a cell is undecided",
    page="../how-to/audit-fixes.md",
    examples="""
  kwalk audit                          every announced fix
  kwalk audit my_package.my_fixes:FIXES --workers 2 --html
  kwalk audit fencing --seconds 300 --markdown docs/fixes.md""",
)
