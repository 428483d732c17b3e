"""Default options of a project: `[tool.kwalk]` in the nearest `pyproject.toml`, and its profiles.

They become words after the name of the command: what the user writes comes later, and has precedence.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from kwalk.model.language.errors import UsageError, unknown
from kwalk.reports.escaping import visible
from kwalk.reports.options.declaration import PROFILE, Command

FILE, TABLE, PROFILES = "pyproject.toml", "tool.kwalk", "profiles"


def with_settings(words: Sequence[str], command: Command, commands: Callable[[], Mapping[str, Command]]) -> list[str]:
    """Return a command line with the options that the project gives to its command.

    Args:
        words: The command line, from the name of the command on.
        command: The command.
        commands: Returns all commands, whose options may be named.

    Raises:
        UsageError: There is no profile of the name, or no option of a name; or the file is no TOML.
    """
    settings = _settings(_profile(words)) if PROFILE in command.arguments else {}
    if not settings:
        return list(words)
    taking = [each for each in commands().values() if PROFILE in each.arguments]
    options = {word[2:] for each in taking for word, _ in each.arguments if word.startswith("--")} - {"profile"}
    for name in settings.keys() - options:
        raise unknown(f"option in [{TABLE}]", name, options)
    own = {word[2:]: str(about.get("action")).startswith("store_") for word, about in command.arguments}
    given = [word for name, value in settings.items() if name in own for word in _words(name, value, own[name])]
    return [words[0], *given, *words[1:]]


def _profile(words: Sequence[str]) -> str | None:
    """Return the profile that a command line names."""
    for number, word in enumerate(words):
        if word.partition("=")[0] == "--profile":
            return word.partition("=")[2] or "".join(words[number + 1 : number + 2])
    return None


def _settings(named: str | None) -> Mapping[str, Any]:
    """Return the options of the nearest file, with those of a profile."""
    path = _nearest()
    text = "" if path is None else path.read_text(encoding="utf-8")
    if named is None and TABLE not in text:
        return {}
    import tomllib

    try:
        table = tomllib.loads(text).get("tool", {}).get("kwalk", {})
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{visible(str(path))} is no TOML: {error}.") from error
    profiles = table.pop(PROFILES, {})
    if named is not None and named not in profiles:
        raise unknown(f"profile in [{TABLE}.{PROFILES}] of {FILE}", named, profiles)
    return {**table, **(profiles[named] if named is not None else {})}


def _nearest() -> Path | None:
    """Return the nearest file, in the present folder or in one above it."""
    try:
        here = Path(os.getcwd())
        return next((path for folder in (here, *here.parents) if (path := folder / FILE).is_file()), None)
    except OSError:  # the folder was removed, or may not be read
        return None


def _words(name: str, value: Any, is_switch: bool) -> Iterator[str]:
    """Yield the words of a command line that give an option its value."""
    if is_switch != isinstance(value, bool):
        allowed = "true or false" if is_switch else "a value, or a list of values"
        raise UsageError(f"[{TABLE}] in {FILE} has {name} = {value!r}. Allowed: {allowed}.")
    if is_switch:
        yield from [f"--{name}"] if value else []
    else:
        yield from (f"--{name}={each}" for each in (value if isinstance(value, list) else [value]))
