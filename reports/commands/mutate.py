"""`kwalk mutate`: try small mistakes in a model, and report those that its properties do not detect."""

from __future__ import annotations

from kwalk.reports.options.declaration import (
    HTML,
    JSON,
    MARKDOWN,
    PROFILE,
    PROPERTIES,
    Command,
    Section,
    argument,
    arguments,
    option,
    out,
    repeatable,
    repeating,
    switch,
)
from kwalk.search.base.option_kinds import FILE, NAME, text
from kwalk.search.base.option_table import MutateKeywords

OPERATORS = (
    "dropped-guard",
    "dropped-effect",
    "negated-condition",
    "swapped-connective",
    "off-by-one",
    "swapped-field",
)
"""The names of the mutation operators, so that parsing a command line does not import the operators."""
CHOICE = (
    repeatable("--operator", NAME, "only mutants of this operator, such as dropped-guard", choices=OPERATORS),
    repeatable("--function", NAME, "only mutants of this function, class or module"),
)
LISTING = (
    switch("--list", "list the mutants without trying any"),
    option("--show", text("ID"), "try this mutant only, and show the trace that decides it"),
)
COMMAND = Command(
    "try small mistakes in a model, and report those that its properties do not detect",
    argument("scenarios", "SCENARIO", "scenarios to try mutants on, or package.module:TRIALS of your own", nargs="+"),
    *arguments(MutateKeywords, variant=PROPERTIES, constraints=CHOICE, seed=LISTING),
    option("--explained", FILE, "a TOML file with reasons why no property needs to detect a survivor"),
    switch("--fresh", "ignore saved outcomes of an earlier run"),
    out("folder of saved outcomes"),
    repeating(MARKDOWN),
    repeating(HTML),
    JSON,
    PROFILE,
    handler="kwalk.reports.handlers.mutate:run_mutate",
    section=Section.FIXES,
    codes="0 survivors are explained, 2 usage error, 3 undecided, 12 one is not, or a reason is stale",
    page="../how-to/mutate-a-model.md",
    examples="""
  kwalk mutate two-phase-commit            do its properties detect small mistakes?
  kwalk mutate two-phase-commit --operator dropped-guard --list
  kwalk mutate my_package.my_model:STORY --explained survivors.toml --workers 2""",
)
