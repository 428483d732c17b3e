"""`kwalk check-certificate`: check proofs that `kwalk prove --json` printed again, without Z3."""

from __future__ import annotations

from kwalk.reports.options.declaration import JSON, Command, Section, argument, option
from kwalk.search.base.option_kinds import NAME

COMMAND = Command(
    "check proofs that `kwalk prove --json` printed again, without Z3",
    argument("proof", "PROOF", "a JSON file"),
    option("--scenario", NAME, "the scenario of the proof (default: the one that the file names)"),
    JSON,
    handler="kwalk.reports.handlers.certificate:run_check_certificate",
    section=Section.MODEL,
    page="../explanation/proof.md#the-check-without-z3",
    examples="""
  kwalk prove two-phase-commit --json > proof.json; kwalk check-certificate proof.json
  kwalk check-certificate proof.json --json""",
    codes="0 confirmed, 2 usage error, 3 undecided, 12 refused, 70 internal error",
)
