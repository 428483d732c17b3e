"""How a command is declared, and the arguments that several commands have."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from typing import Any

from kwalk.search.base.option_kinds import DIR, FILE, NAME, OptionKind
from kwalk.search.base.option_table import DEFAULT_OUT, Option, Properties, rows

CODES = """0 holds, 2 usage error, 3 undecided, 11 deadlock, 12 violated, 13 bad stable state,
14 not reachable, 15 cannot fail, 16 holds with gaps (--strict), 70 internal error"""
Argument = tuple[str, dict[str, Any]]
"""An argument of a command: its name, and the keywords of `add_argument`."""
Replacement = Sequence[str] | Callable[[Sequence[str]], Sequence[str]]
"""The words of a command that stand for an old name; or a function of what follows the old name."""


class Section(Enum):
    """A group of commands by who uses them, in the order in which `kwalk --help` lists them."""

    MODEL = "your model"
    TRACE = "a saved trace"
    CLUSTER = "your cluster"
    NIGHTS = "your nights"
    FIXES = "your fixes and properties"


class Command:
    """A command.

    Args:
        about: What it does.
        *arguments: Its arguments.
        section: The group that it is listed in.
        examples: Lines of examples for its help.
        handler: `package.module:function`, which gets the parsed arguments and returns the exit code. The module is
            imported when the command runs, so that `kwalk --help` is fast.
        replaces: Old names of what it does, which work until the next release; one may have an option: `hunt --from`.
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
        replaces: Mapping[str, Replacement] | None = None,
        codes: str = CODES,
        page: str = "",
    ) -> None:
        self.about, self.arguments, self.section, self.examples = about, arguments, section, examples
        self.handler, self.replaces, self.codes, self.page = handler, replaces or {}, codes, page


def arguments(accepts: type, without: type | None = None, **after: Sequence[Argument]) -> tuple[Argument, ...]:
    """Return the arguments of the options that a class of the table declares, in their order.

    Args:
        accepts: The class.
        without: A class whose options are left out.
        **after: By the name of an option, arguments of the command line only, which follow it.
    """
    left_out = rows(without) if without else {}
    listed = ((name, row) for name, row in rows(accepts).items() if row.about and name not in left_out)
    return tuple(each for name, row in listed for each in (*_of_row(name, row), *after.get(name, ())))


def _of_row(name: str, row: Option) -> Iterator[Argument]:
    yield _argument(row.name_on_command_line(name), row, **({"dest": name} if row.word else {}))
    if row.alias:
        yield row.alias, {"action": "append", "dest": name, "help": argparse.SUPPRESS}


def _argument(word: str, row: Option, **settings: Any) -> Argument:
    """Return the argument of a row; `row` is for `parser`, the other settings are argparse's."""
    if row.kind is None:
        return word, {"action": f"store_{str(not row.default).lower()}", "help": row.about, "row": row, **settings}
    values: dict[str, Any] = {"type": row.kind, "metavar": row.kind.metavar}
    if row.kind.choices:
        values = {"choices": row.kind.choices}
    if row.many:
        values |= {"action": "append"}
    about, default = (f"{row.about} (repeatable)", []) if row.many else (row.about, row.default)
    return word, {**values, "help": about, "default": default, "row": row, **settings}


def argument(name: str, metavar: str, about: str | None = None, **settings: Any) -> Argument:
    """Return an argument that is given by its place, or an option with a text."""
    return name, {"metavar": metavar, "help": about, **settings}


def option(
    word: str, kind: OptionKind, about: str, default: Any = None, *, repeats: bool = True, **settings: Any
) -> Argument:
    """Return an option with a value; `repeats` says whether the command that repeats a run has it."""
    return _argument(word, Option(kind, about, default, repeats=repeats), **settings)


def repeatable(word: str, kind: OptionKind, about: str, **settings: Any) -> Argument:
    """Return an option whose values are collected in a list."""
    return _argument(word, Option(kind, about, many=True), **settings)


def switch(word: str, about: str, *, repeats: bool = False) -> Argument:
    """Return an option without a value."""
    return _argument(word, Option(None, about, default=False, repeats=repeats))


def repeating(one: Argument) -> Argument:
    """Return an argument that the command that repeats a run has."""
    word, settings = one
    return word, {**settings, "row": settings["row"]._replace(repeats=True)}


def grouped(title: str, *of: Argument) -> tuple[Argument, ...]:
    """Return arguments that the help lists under a title of their own."""
    return tuple((word, {**settings, "group": title}) for word, settings in of)


def out(what: str) -> Argument:
    """Return the option `--out`."""
    return option("--out", DIR, f"{what} (default: {DEFAULT_OUT})", default=DEFAULT_OUT, repeats=False)


# Arguments of several commands that are not options of an engine.

SCENARIO = argument("scenario", "SCENARIO")
ANY_SCENARIO = argument("scenario", "SCENARIO", nargs="?")
TRACE = argument("trace", "TRACE")
JSON = switch("--json", "print one JSON object instead of text")
UNFOLD = switch("--unfold", "also show routine steps")
MARKDOWN = option("--markdown", FILE, "also write a Markdown document", repeats=False)
PROPERTIES = arguments(Properties)
HTML = switch("--html", "also write an HTML page into the folder of --out")
WATCH = switch(
    "--watch",
    "while the search runs, write watch.html into the folder of --out: progress and charts, every two seconds",
)
PROFILE = option(
    "--profile", NAME, "also the options of [tool.kwalk.profiles.NAME] in pyproject.toml, as defaults", repeats=False
)
"""A command that has it takes the options of a project as defaults."""
RESULTS = (out("folder of traces and pages"), UNFOLD, HTML, WATCH, JSON, PROFILE)
