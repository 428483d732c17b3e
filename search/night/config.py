"""The configuration of a run: a small TOML file, validated strictly.

Words: an *entry* is one `[[tasks]]` table; its scenarios, variants and bounds multiply into tasks. Unknown settings are
refused with the nearest known name, and every value is checked before anything starts.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import asdict, field, fields, frozen

from kwalk.model.language import UsageError
from kwalk.model.language.errors import one_of, unknown
from kwalk.search.base.option_kinds import MINUTES, POSITIVE, SECONDS, SEED, OptionKind, above_zero

ENGINES = ("walk", "exhaust")
UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
DEPTH = 200
"""The default depth of walks."""
SHARE = above_zero("", "shares")
Text = tuple[str, ...]


@frozen
class TaskTable:
    """A `[[tasks]]` table: what multiplies into tasks, and how they are searched."""

    scenarios: Text
    variants: Text = ()
    """Empty for the scenario's first variant."""
    bounds: Mapping[str, tuple[int, ...]] = field(factory=dict)
    flags: Mapping[str, bool | str] = field(factory=dict)
    engine: str = "walk"
    properties: Text = ()
    """Empty for all properties."""
    depth: int | None = None
    """None for DEPTH; for walks only."""
    walks: int | None = None
    seconds: float | None = None
    share: float = 1.0
    """The share of the run's minutes, relative to the other tasks."""
    swarm: bool = True
    """Whether walks have different preferences; otherwise all steps are equally likely."""
    only: Text = ()
    without: Text = ()
    memory: str | None = None


@frozen
class Acceptance:
    """An `[[accepted]]` table: a violation that is known and not to be corrected, and why.

    Args:
        properties: Names of properties, keys of instances, or "deadlock".
        reason: Why their violation is accepted.
        scenarios: The scenarios in which it is; empty for all.
        group: The id of the only accepted shape; empty for all shapes of the properties.
    """

    properties: Text
    reason: str
    scenarios: Text = ()
    group: str = ""

    def covers(self, scenario: str, prop: str, group: str = "") -> bool:
        """Return whether a violation of a property instance, in a shape with that id, is accepted."""
        is_place = not self.scenarios or scenario in self.scenarios
        is_property = not {prop, prop.partition("(")[0]}.isdisjoint(self.properties)
        return is_place and is_property and self.group in ("", group)


@frozen
class Config:
    """The configuration of a run."""

    tasks: tuple[TaskTable, ...]
    seed: int = 0
    minutes: float | None = None
    accepted: tuple[Acceptance, ...] = ()

    @property
    def content(self) -> dict[str, Any]:
        """The configuration as a JSON object, which `config_from` reads."""
        found: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return found

    @property
    def digest(self) -> str:
        """The SHA-256 of what decides the findings: of `content` without what is accepted."""
        found = {name: value for name, value in self.content.items() if name != "accepted"}
        return hashlib.sha256(json.dumps(found, sort_keys=True).encode()).hexdigest()


def read_config(path: Path) -> Config:
    """Read the configuration in a TOML file.

    Raises:
        UsageError: The file cannot be read, or has an error; the message names it and what is allowed.
    """
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"Cannot read {str(path)!r}: {(error.strerror or str(error)).lower()}.") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{str(path)!r} is no TOML: {error}. See docs/reference/nightly.md for an example.") from error
    return config_from(content, str(path))


def config_from(content: Mapping[str, Any], place: str) -> Config:
    """Return the configuration of a TOML or JSON object; `place` names it in errors.

    Raises:
        UsageError: A setting is unknown, missing, or has a wrong value.
    """
    top = _Table(content, place, ("tasks", "seed", "minutes", "accepted"))
    tables = top.value("tasks", list, "tables [[tasks]]")
    if not tables:
        raise UsageError(f"{place}: no [[tasks]]. Name at least one scenario to explore.")
    entries = tuple(_entry(table, f"{place}, task entry {number}") for number, table in enumerate(tables, start=1))
    listed = top.value("accepted", list, "tables [[accepted]]") or ()
    accepted = tuple(_acceptance(table, f"{place}, accepted entry {n}") for n, table in enumerate(listed, start=1))
    config = Config(entries, top.one("seed", SEED, 0), top.one("minutes", MINUTES), accepted)
    for number, entry in enumerate(entries, start=1):
        if entry.engine == "walk" and not (config.minutes or entry.walks or entry.seconds):
            raise UsageError(
                f"{place}, task entry {number}: it would never end. Give walks or seconds there, or minutes on top."
            )
    return config


def _acceptance(content: Any, place: str) -> Acceptance:
    if not isinstance(content, Mapping):
        raise UsageError(f"{place}: {content!r} is no table. Write [[accepted]].")
    table = _Table(content, place, tuple(known.name for known in fields(Acceptance)))
    properties, reason = table.texts("properties"), (table.text("reason", "") or "").strip()
    if not properties or not reason:
        raise UsageError(f'{place}: it needs properties and a reason: properties = ["NAME"], reason = "WHY".')
    group = table.text("group", "") or ""
    if group and not re.fullmatch("[0-9a-f]{12}", group):
        raise UsageError(f"{place}: group = {group!r} is no id of a group: `kwalk nightly RUN --before RUN` has them.")
    return Acceptance(properties, reason, table.texts("scenarios"), group)


def _entry(content: Any, place: str) -> TaskTable:
    if not isinstance(content, Mapping):
        raise UsageError(f"{place}: {content!r} is no table. Write [[tasks]].")
    table = _Table(content, place, tuple(known.name for known in fields(TaskTable)))
    entry = TaskTable(
        scenarios=table.texts("scenarios"),
        variants=table.texts("variants"),
        bounds=table.bounds(),
        flags=table.flags(),
        engine=table.text("engine", "walk", ENGINES) or "walk",
        properties=table.texts("properties"),
        depth=table.one("depth", POSITIVE),
        walks=table.one("walks", POSITIVE),
        seconds=table.one("seconds", SECONDS),
        share=table.one("share", SHARE, 1.0),
        swarm=table.value("swarm", bool, "true or false") is not False,
        only=table.texts("only"),
        without=table.texts("without"),
        memory=table.text("memory", None),
    )
    if not entry.scenarios:
        raise UsageError(f'{place}: no scenarios. Name them: scenarios = ["NAME"]; `kwalk scenarios` lists them.')
    if entry.memory is not None:
        memory_bytes(entry.memory, place)
    _check_engine(entry, place)
    return entry


def _check_engine(entry: TaskTable, place: str) -> None:
    """Raise UsageError if a setting is not for the engine of the entry."""
    walks = {"walks": entry.walks, "depth": entry.depth, "only": entry.only}
    foreign = {"memory": entry.memory} if entry.engine == "walk" else {**walks, "without": entry.without}
    for name, value in foreign.items():
        if value:
            other = "exhaust" if entry.engine == "walk" else "walk"
            raise UsageError(f'{place}: {name} is for engine = "{other}", and this is {entry.engine!r}.')


def memory_bytes(text: str, place: str) -> int:
    """Return the bytes of a text such as "512MiB" or "2GiB".

    Raises:
        UsageError: It is not such a text.
    """
    found = re.fullmatch(r"([0-9]{1,9}(?:\.[0-9]+)?) ?([KMG])iB", text)
    if not found or float(found[1]) <= 0:
        raise UsageError(f'{place}: memory = {text!r} is not an amount. Write it as "512MiB" or "2GiB".')
    return int(float(found[1]) * UNITS[found[2]])


class _Table:
    """A table of the configuration; its methods raise UsageError for a value of a wrong type."""

    def __init__(self, content: Mapping[str, Any], place: str, settings: tuple[str, ...]) -> None:
        self.content, self.place = content, place
        for name in content:
            if name not in settings:
                raise UsageError(f"{place}: {unknown('setting', str(name), settings)}")

    def value(self, name: str, kind: type, what: str) -> Any:
        """Return a value of that type; None if it is missing."""
        value = self.content.get(name)
        if value is not None and not isinstance(value, kind):
            raise self.refused(name, value, what)
        return value

    def refused(self, name: str, value: Any, what: str) -> UsageError:
        """Return the error for a wrong value."""
        return UsageError(f"{self.place}: {name} = {value!r} is not {what}.")

    def one(self, name: str, kind: OptionKind, default: Any = None) -> Any:
        """Return a value of a kind of options; the default if it is missing."""
        value = self.content.get(name)
        if value is not None and not kind.holds(value):
            raise self.refused(name, value, kind.allowed)
        return default if value is None else value

    def text(self, name: str, default: str | None, allowed: tuple[str, ...] = ()) -> str | None:
        value: str | None = self.value(name, str, "a text in quotes")
        if value is not None and allowed and value not in allowed:
            raise UsageError(f"{self.place}: {name} = {value!r} is not known. {one_of(allowed)}")
        return default if value is None else value

    def texts(self, name: str) -> Text:
        value = self.value(name, list, "a list of texts in quotes")
        if value is None:
            return ()
        if not all(isinstance(text, str) and text for text in value):
            raise self.refused(name, value, "a list of texts in quotes")
        return tuple(dict.fromkeys(value))

    def bounds(self) -> dict[str, tuple[int, ...]]:
        """Return the sizes by name; a single size is a list of one."""
        table = self.value("bounds", Mapping, "a table of sizes, such as { restarts = [0, 1] }") or {}
        return {str(name): self._sizes(f"bounds.{name}", sizes) for name, sizes in table.items()}

    def _sizes(self, name: str, sizes: Any) -> tuple[int, ...]:
        listed = sizes if isinstance(sizes, list) else [sizes]
        right = all(isinstance(n, int) and not isinstance(n, bool) and 0 <= n <= 2**31 for n in listed)
        if not listed or not right:
            raise self.refused(name, sizes, "a size, or a list of sizes, whole numbers from 0")
        return tuple(dict.fromkeys(listed))

    def flags(self) -> dict[str, bool | str]:
        table = self.value("flags", Mapping, "a table of settings, such as { lock = true }") or {}
        for name, value in table.items():
            if not isinstance(value, bool | str):
                raise self.refused(f"flags.{name}", value, "true, false, or the name of a setting in quotes")
        return dict(table)
