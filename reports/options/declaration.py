"""How a command is declared, and the arguments that several commands have."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any

from kwalk.reports.options import values
from kwalk.reports.options.values import natural, nonempty, seconds, seed, workers

DEFAULT_OUT = "kwalk-out"
CODES = """0 holds, 2 usage error, 3 undecided, 11 deadlock, 12 violated, 13 bad stable state,
14 not reachable, 15 cannot fail, 16 holds with gaps (--strict), 70 internal error"""


Argument = tuple[str, dict[str, Any]]
"""An argument of a command: its name, and the keywords of `add_argument`."""


class Section(Enum):
    """A group of commands, in the order in which `kwalk --help` lists them."""

    MODELS = "models"
    SEARCHES = "searches"
    FIXES = "fixes"
    CLUSTERS = "clusters"
    TRACES = "traces"


class Command:
    """A command.

    Args:
        about: What it does.
        *arguments: Its arguments.
        section: The group that it is listed in.
        examples: Lines of examples for its help.
        handler: `package.module:function`, which gets the parsed arguments and returns the exit code. The module is
            imported when the command runs, so that `kwalk --help` is fast.
        aliases: Other names.
        codes: The exit codes.
        page: The page about it, from the folder of the reference.
    """

    def __init__(
        self,
        about: str,
        *arguments: Argument,
        section: Section,
        examples: str,
        handler: str,
        aliases: Sequence[str] = (),
        codes: str = CODES,
        page: str = "",
    ) -> None:
        self.about, self.arguments, self.section, self.examples = about, arguments, section, examples
        self.handler, self.aliases, self.codes, self.page = handler, aliases, codes, page


def argument(name: str, metavar: str, about: str | None = None, **settings: Any) -> Argument:
    """Return an argument that is given by its place, or an option with a text."""
    return name, {"metavar": metavar, "help": about, **settings}


def option(name: str, kind: Callable[[str], Any], metavar: str, about: str, **settings: Any) -> Argument:
    """Return an option with a value."""
    return name, {"type": kind, "metavar": metavar, "help": about, **settings}


def repeatable(name: str, kind: Callable[[str], Any], metavar: str, about: str, **settings: Any) -> Argument:
    """Return an option whose values are collected in a list."""
    return option(name, kind, metavar, f"{about} (repeatable)", action="append", default=[], **settings)


def switch(name: str, about: str) -> Argument:
    """Return an option without a value."""
    return name, {"action": "store_true", "help": about}


def out(what: str) -> Argument:
    """Return the option `--out`."""
    return option("--out", nonempty, "DIR", f"{what} (default: {DEFAULT_OUT})", default=DEFAULT_OUT)


# Arguments of several commands.

SCENARIO = argument("scenario", "SCENARIO")
ANY_SCENARIO = argument("scenario", "SCENARIO", nargs="?")
TRACE = argument("trace", "TRACE")
JSON = switch("--json", "print one JSON object instead of text")
ONLY_JSON = switch("--json", "print one JSON object")
UNFOLD = switch("--unfold", "also show routine steps")
MARKDOWN = option("--markdown", nonempty, "FILE", "also write a Markdown document")
SECONDS = option("--seconds", seconds, "N", "time budget in seconds")
SIXTY_SECONDS = option("--seconds", seconds, "N", "time budget in seconds (default: 60)")
SEED = option("--seed", seed, "N", "seed of all random choices (default: 0)", default=0)
WORKERS = option("--workers", workers, "N", "number of cores")
SUBJECT = (
    option("--variant", nonempty, "NAME", "the variant (default: the first one)"),
    repeatable("--property", str, "NAME", "check only this property, or this instance of one; --invariant is an alias"),
    ("--invariant", {"action": "append", "dest": "property", "help": argparse.SUPPRESS}),
    repeatable("--bound", values.bound, "NAME=N", "change a bound"),
    repeatable(
        "--flag", values.flag, "NAME=SETTING", "change a flag of the variant: on, off, or the name of a setting"
    ),
    repeatable("--constraint", nonempty, "NAME", "apply this optional constraint of the scenario"),
)
"""The model, and the properties to check."""
KEEP_GOING = (
    switch(
        "--keep-going", "do not stop at the first violation: count all, and save a trace for each violated instance"
    ),
    option(
        "--minimize",
        natural,
        "N",
        "with --keep-going, minimize the first N findings and group them by shape (default: 100; 0 for none)",
    ),
)
HTML = switch(
    "--html", "also write an HTML page into the folder of --out, with charts, and links to the pages of traces"
)
WATCH = switch(
    "--watch",
    "while the search runs, write watch.html into the folder of --out: progress and charts, every two seconds",
)
STRICT = switch("--strict", "end with 16 if nothing is violated and not all was tested, as a bound cuts off steps")
RESULTS = (STRICT, out("folder of traces and pages"), UNFOLD, HTML, WATCH, JSON)
STEPS = (
    repeatable(
        "--only",
        nonempty,
        "NAME",
        "walks take only actions of this actor (fault, broker 2) or this action (crash); an exhaustive part takes all",
    ),
    repeatable(
        "--without",
        nonempty,
        "NAME",
        "walks take no action of this actor, or not this action; quiescent states are judged by all actions",
    ),
    switch("--uniform", "choose all enabled steps with equal probability, instead of a swarm that prefers rare ones"),
)
"""The steps that walks choose."""
