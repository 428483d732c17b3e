"""The page `command-line.md`: every command, every option, and the examples of `--help`."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import dedent
from typing import Any

from kwalk.reports.options.declaration import Command
from kwalk.reports.options.parser import commands, parser

HEAD = """# The command line

`kwalk COMMAND --help` shows the arguments of a command, with examples. Exit codes, files and JSON objects are on
[a page for scripts](scripts.md). `make docs` writes this page from the table of commands.

A SCENARIO is a name that `kwalk scenarios` lists, or `package.module:NAME` of your own model; modules in the current
folder are found, too, after all installed packages. For `kwalk mutate` it can also be a tuple of `Trial`s, each with
its own bounds. A FIX is a name that an installed package announces, or `package.module:NAME` of your own `Fix` or tuple
of them; by default, all announced ones.

Commands that have `--profile` take defaults from the nearest `pyproject.toml`: options by their names, without dashes.
A profile, such as one for CI, adds to them, and what the command line says has precedence:

```toml
[tool.kwalk]
out = "build/kwalk"

[tool.kwalk.profiles.ci]
seconds = 300
strict = true
```

`kwalk --completion` prints a script for bash: `source <(kwalk --completion)` in `~/.bashrc`; in `~/.zshrc` after
`autoload -U bashcompinit && bashcompinit`.
"""
SEE = {
    "--constraint NAME": "language.md#constraints",
    "--spark": "../explanation/distributed-search.md",
    "--strict": "../explanation/verdicts.md#gaps",
    "--checkpoint DIR": "../how-to/search-for-hours.md",
    "--symmetry DOMAIN": "../explanation/symmetry.md",
    "--reduce": "../explanation/reduction.md",
    "--symbolic": "../explanation/symbolic.md",
    "--uniform": "../explanation/swarm.md",
    "--minimize N": "../explanation/shrinking.md",
    "--logs DIR": "../how-to/explain-a-cluster.md#logs-beside-the-snapshots",
    "--plan": "../how-to/recover-a-cluster.md",
    "--explain": "../how-to/explain-a-cluster.md",
    "--migration": "../how-to/migrate-to-kraft.md",
}
"""The page about an option, by the option with its value."""


def page() -> str:
    """Return the text of the page."""
    return "\n".join([HEAD, *_commands(), "", *_options(), "", *_examples()])


def _commands() -> Iterator[str]:
    """Yield the table of commands."""
    yield from ("| command | what it does |", "|---|---|")
    for name, command in commands().items():
        usage = " ".join([f"kwalk {name}", *map(_place, _positional(command))])
        more = f" ([more]({command.page}))" if command.page else ""
        yield f"| `{_cell(usage)}` | {_cell(command.about)}{more} |"


def _positional(command: Command) -> list[tuple[str, dict[str, Any]]]:
    return [argument for argument in command.arguments if not argument[0].startswith("-")]


def _place(argument: tuple[str, dict[str, Any]]) -> str:
    """Return an argument as a usage line has it: `NAME`, `[NAME]`, `NAME …` or `[NAME …]`."""
    metavar, count = argument[1].get("metavar") or argument[0].upper(), argument[1].get("nargs")
    return {"?": f"[{metavar}]", "+": f"{metavar} …", "*": f"[{metavar} …]"}.get(str(count), metavar)


def _options() -> Iterator[str]:
    """Yield the table of arguments with the commands that have them; those of one name are neighbours."""
    rows: dict[str, dict[tuple[str, str], list[str]]] = {}
    for name, command in commands().items():
        for argument, settings in command.arguments:
            about = _about(argument, settings)
            if about:
                by_text = rows.setdefault(argument, {})
                by_text.setdefault((_written(argument, settings), about), []).append(name)
    yield from ("## Options", "", "| option | commands | meaning |", "|---|---|---|")
    for argument in sorted(rows, key=lambda word: (not word.startswith("-"), word)):
        for (written, about), names in rows[argument].items():
            yield f"| `{_cell(written)}` | {', '.join(names)} | {_cell(about)} |"
    yield from (f"| `{word}` | `kwalk` itself | {_cell(_of_kwalk(word))} |" for word in ("--completion", "--version"))


def _about(argument: str, settings: dict[str, Any]) -> str:
    """Return the help of an argument, "" if it has none, with what it may be and the page about it."""
    about = str(settings.get("help") or "")
    if not about or about == "==SUPPRESS==":
        return ""
    choices = ", ".join(f"`{choice}`" for choice in settings.get("choices") or ())
    listed = f"; one of {choices}" if choices else ""
    written = _written(argument, settings)
    return f"{about}{listed}" + (f" ([more]({SEE[written]}))" if written in SEE else "")


def _written(argument: str, settings: dict[str, Any]) -> str:
    metavar = settings.get("metavar")
    if not argument.startswith("-"):
        return str(metavar or argument.upper())
    return f"{argument} {metavar}" if metavar else argument


def _of_kwalk(word: str) -> str:
    """Return the help of an option of `kwalk` itself."""
    return next(str(action.help) for action in parser()._actions if word in action.option_strings)


def _examples() -> Iterator[str]:
    """Yield the examples of each command."""
    yield from ("## Examples", "")
    for name, command in commands().items():
        yield from (f"### kwalk {name}", "", "```text", dedent(command.examples.strip("\n")), "```", "")


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")
