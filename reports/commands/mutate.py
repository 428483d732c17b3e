"""`kwalk mutate`: try small mistakes in a model, and report those that its properties do not detect."""

from __future__ import annotations

from kwalk.reports.options import values
from kwalk.reports.options.declaration import (
    HTML,
    JSON,
    MARKDOWN,
    SUBJECT,
    Command,
    Section,
    argument,
    option,
    out,
    repeatable,
    switch,
)
from kwalk.reports.options.values import nonempty, positive, seconds, seed, workers

COMMAND = Command(
    "try small mistakes in a model, and report those that its properties do not detect",
    argument("scenarios", "SCENARIO", "scenarios to try mutants on, or package.module:TRIALS of your own", nargs="+"),
    *SUBJECT,
    repeatable(
        "--operator", str, "NAME", "only mutants of this operator, such as dropped-guard", choices=values.OPERATORS
    ),
    repeatable("--function", nonempty, "NAME", "only mutants of this function, class or module"),
    option("--sample", positive, "N", "only a random sample of N mutants; a larger one has them all"),
    option("--seed", seed, "N", "the seed of the sample (default: 0)", default=0),
    switch("--list", "list the mutants without trying any"),
    option("--show", nonempty, "ID", "try this mutant only, and show the trace that decides it"),
    option("--seconds", seconds, "N", "time budget of each mutant, in seconds (default: 10)"),
    option("--workers", workers, "N", "number of mutants in parallel (default: 1)"),
    option("--explained", nonempty, "FILE", "a TOML file with reasons why no property needs to detect a survivor"),
    switch("--fresh", "ignore saved outcomes of an earlier run"),
    out("folder of saved outcomes"),
    MARKDOWN,
    HTML,
    JSON,
    handler="kwalk.reports.handlers.mutate:run_mutate",
    section=Section.FIXES,
    page="../how-to/mutate-a-model.md",
    examples="""
  kwalk mutate two-phase-commit            do its properties detect small mistakes?
  kwalk mutate two-phase-commit --operator dropped-guard --list
  kwalk mutate my_package.my_model:STORY --explained survivors.toml --workers 2""",
)
