"""All commands, and the parser of a command line.

The entry points of the group `kwalk.commands` name packages, each with a module for every command (`Command`).
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from itertools import groupby, pairwise
from pkgutil import iter_modules
from textwrap import wrap
from typing import Any, NoReturn

from kwalk.model.language.distributions import entry_points
from kwalk.model.language.errors import UsageError, close_to
from kwalk.reports.escaping import visible
from kwalk.reports.options.declaration import CODES, Command, Section
from kwalk.reports.options.settings import with_settings
from kwalk.search.base.option_table import Option

GROUP = "kwalk.commands"
OWN = "kwalk.reports.commands"
"""The package of commands that are about any model; others are looked for only if it has none of the name."""
NO_COMMAND = re.compile("argument COMMAND: invalid choice: '([^']*)'")
NO_OPTION = re.compile(r"unrecognized arguments: (--[^\s=]+)")
COMPLETION = "print a script that completes command lines; in ~/.bashrc: source <(kwalk --completion)"
WIDTH, INDENT = 100, 13
"""Columns of the list of commands, and where it says what each does."""
ENDING = """exit codes: {codes}.
A scenario is a name that `kwalk scenarios` lists, or package.module:NAME for your own model."""


def commands() -> Mapping[str, Command]:
    """Return all commands by name, in the order of `kwalk --help`: by section, and then by name."""
    packages = dict.fromkeys([OWN, *(point.value for point in entry_points(GROUP))])
    found = dict(command for package in packages for command in _of_package(package))
    order = list(Section)
    return dict(sorted(found.items(), key=lambda item: (order.index(item[1].section), item[0])))


def _of_package(package: str) -> Iterator[tuple[str, Command]]:
    for module in iter_modules(import_module(package).__path__):
        yield module.name.replace("_", "-"), import_module(f"{package}.{module.name}").COMMAND


def completed(words: Sequence[str]) -> Sequence[str]:
    """Return a command line with the options that the project gives to its command as defaults."""
    command = _chosen(words[0]).get(words[0]) if words else None
    return words if command is None else with_settings(words, command, commands)


def _module(word: str) -> str:
    return f"{OWN}.{word.replace('-', '_')}"


def _chosen(word: str) -> Mapping[str, Command]:
    """Return the command of a name; all commands, if there is none."""
    if word.replace("-", "").isalpha() and find_spec(_module(word)) is not None:
        return {word: import_module(_module(word)).COMMAND}
    every = commands()
    return {word: every[word]} if word in every else every


def renamed(words: Sequence[str]) -> tuple[Sequence[str], str]:
    """Return a command line with the name of today, and what that name is; "" if it had no old one.

    Raises:
        UsageError: The old command had an option that the one of today has not.
    """
    if not words or (
        not any(word.startswith("--from") for word in words)
        and not words[0].startswith("-")
        and find_spec(_module(words[0]))
    ):
        return words, ""
    for name, command in commands().items():
        for old, replacement in command.replaces.items():
            first, *options = old.split()
            if words[0] == first and all(any(w.startswith(option) for w in words) for option in options):
                _refuse_file_of_html(words, name)
                given = replacement(words[1:]) if callable(replacement) else [*replacement, *words[1:]]
                new = (
                    replacement if not callable(replacement) else [w for w in given if w[:2] == "--" and w not in words]
                )
                return [name, *given], f"`kwalk {old}` is `{' '.join(['kwalk', name, *new])}`"
    return words, ""


def _refuse_file_of_html(words: Sequence[str], name: str) -> None:
    """Raise UsageError for a file after --html: old commands had it, and with the one of today it is an argument."""
    for option, file in pairwise(words):
        if option == "--html" and file.endswith(".html"):
            raise UsageError(
                f"--html takes no file any more, in any command: `kwalk {name} --html` writes the page into the folder "
                f"of --out, and prints its name. Leave out {visible(file)}."
            )


class Parser(argparse.ArgumentParser):
    """A parser that prints errors in one line, and exits with 2."""

    def error(self, message: str) -> NoReturn:
        """Print the error, the nearest name and the command that shows the help, and exit."""
        names = list(self._commands())
        command = f"{self.prog} {names[0]}" if len(names) == 1 else self.prog
        self.exit(2, f"kwalk: {visible(self._suggested(message))} See `{command} --help`.\n")

    def _suggested(self, message: str) -> str:
        """Return the message of argparse with the command or option that was probably meant."""
        command = NO_COMMAND.match(message)
        if command is not None:
            named = {old.split()[0]: name for name, each in commands().items() for old in each.replaces}
            return _instead(f"No command named {command[1]!r}", command[1], named | {name: name for name in commands()})
        option = NO_OPTION.match(message)
        return (
            f"{message}." if option is None else _instead(message, option[1], {name: name for name in self._options()})
        )

    def _commands(self) -> Mapping[str, argparse.ArgumentParser]:
        """Return the parsers of the commands that it has, by name."""
        return next((each.choices for each in self._actions if isinstance(each, argparse._SubParsersAction)), {})

    def _options(self) -> Iterator[str]:
        """Yield the long options of the commands that it has."""
        for command in self._commands().values():
            yield from (name for name in command._option_string_actions if name.startswith("--"))

    def print_help(self, file: Any = None) -> None:
        """Print the help; unlike argparse's own method, raise an error if it cannot be written."""
        print(self.format_help(), end="", file=file)


def _instead(problem: str, name: str, named: Mapping[str, str]) -> str:
    near = close_to(name, named)
    return f"{problem}. Did you mean {named[near]}?" if near else f"{problem}."


class _Completion(argparse.Action):
    """Print a script that completes command lines."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        from kwalk.reports.options.completion import completion

        print(completion(commands()), end="")
        parser.exit(0)


class _Version(argparse.Action):
    """Print the version and the commit; they are looked up only here."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        from kwalk.model.language.distributions import commit, kwalk_version

        print(f"kwalk {kwalk_version()}", *([f"(commit {known[:12]})"] if (known := commit()) else []))
        parser.exit(0)


def _listed(chosen: Mapping[str, Command]) -> Iterator[str]:
    """Yield the lines of a list of commands, under a heading for each section."""
    for section, group in groupby(chosen.items(), key=lambda item: item[1].section):
        yield f"\n{section.value}:"
        for name, command in group:
            first, *more = wrap(command.about, WIDTH - INDENT)
            yield f"  {name:<{INDENT - 3}} {first}"
            yield from (f"{' ' * INDENT}{line}" for line in more)


def parser(words: Sequence[str] = ()) -> Parser:
    """Return the parser of commands; it sets `handler` to that of the chosen one, and `rows` to its options.

    If the command line begins with the name of a command, the parser has that command only: all others take some 10 ms.
    """
    raw = argparse.RawDescriptionHelpFormatter
    about = "Model checker: find the shortest behaviour of a model that violates a property."
    usage, ending = "kwalk [-h] [--version] [--completion] COMMAND ...", ENDING.format(codes=CODES)
    top = Parser(prog="kwalk", usage=usage, description=about, epilog=ending, formatter_class=raw)
    top.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    top.add_argument("--completion", action=_Completion, nargs=0, help=COMPLETION)
    made_of = top.add_subparsers(prog="kwalk", dest="command", metavar="COMMAND", required=True, help=argparse.SUPPRESS)
    chosen = _chosen(words[0]) if words else commands()
    if not words or words[0] not in chosen:
        top.description = "\n".join([about, *_listed(chosen)])
    for name, command in chosen.items():
        made = made_of.add_parser(
            name,
            formatter_class=raw,
            allow_abbrev=False,
            description=f"{command.about[0].upper()}{command.about[1:]}.",
            epilog=f"examples:{command.examples}\n\n{ENDING.format(codes=command.codes)}",
        )
        table: dict[str, Option] = {}
        groups: dict[str, Any] = {"": made}
        for argument, settings in command.arguments:
            given = {name: each for name, each in settings.items() if name not in ("row", "group")}
            title = settings.get("group", "")
            if title not in groups:
                groups[title] = made.add_argument_group(title)
            action = groups[title].add_argument(argument, **given)
            if "row" in settings:
                table[action.dest] = settings["row"]._replace(word=argument.removeprefix("--"))
        made.set_defaults(handler=command.handler, rows=table)
    return top
