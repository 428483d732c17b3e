"""Tables of variants: what each of them sets, once for all scenarios that share them, and what flags mean.

Words: scenarios are of one *family* if their variants have the same settings. A scenario's *own* flags are those that
it sets for all of its variants; the first setting of a flag, off or the first named one, is its *plain* setting.
"""
from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from rich import box
from rich.console import RenderableType
from rich.table import Column, Table
from rich.text import Text

from model.language import Scenario
from model.language.settings import allowed_settings, declared_flags, setting_text
from reports.escaping import visible

SETTING = 9
"""Columns that a setting may take before it goes on in the next line."""


def variants_of(scenario: Scenario) -> dict[str, dict[str, Any]]:
    """What each variant sets, by its name; a scenario without variants has one, "default"."""
    return {name: dict(flags) for name, flags in (scenario.variants or {"default": {}}).items()}


def meanings(scenario: Scenario) -> dict[str, str]:
    """What each flag of the scenario means, as far as a module declares it."""
    declared = declared_flags(scenario)
    names = dict.fromkeys((*scenario.flags, *(name for flags in variants_of(scenario).values() for name in flags)))
    return {name: declared[name].about if name in declared else "" for name in names}


def own_flags(scenario: Scenario) -> str:
    """The flags that the scenario sets to something else than their plain setting, as people write them."""
    chosen = {name: setting for name, setting in scenario.flags.items() if not _varies(scenario, name)}
    return ", ".join(
        f"{name} {setting_text(setting)}"
        for name, setting in chosen.items()
        if setting != allowed_settings(scenario, name)[0]
    )


def tables(scenarios: Mapping[str, Scenario]) -> Iterator[RenderableType]:
    """For each family what its variants set, then what the scenarios' own flags mean; nothing without flags."""
    for names in _families(scenarios):
        yield from _differences({name: scenarios[name] for name in names})
    rows = dict(row for scenario in scenarios.values() for row in _own_rows(scenario))
    if rows:
        table = _table("What a scenario's own flags mean", "settings")
        for name, (meaning, settings) in rows.items():
            table.add_row(*_texts(name, meaning, settings))
        yield table


def _families(scenarios: Mapping[str, Scenario]) -> Iterable[list[str]]:
    families: dict[str, list[str]] = {}
    for name, scenario in scenarios.items():
        families.setdefault(json.dumps(_settings(scenario), default=str), []).append(name)
    return families.values()


def _differences(family: Mapping[str, Scenario]) -> Iterator[RenderableType]:
    """A row for each flag that the family's variants set."""
    scenario = next(iter(family.values()))
    variants, about = _settings(scenario), meanings(scenario)
    rows = [name for name in about if _varies(scenario, name)]
    if rows:
        table = _table(f"Variants of {', '.join(map(visible, family))}", *map(visible, variants))
        for name in rows:
            settings = [setting_text(flags.get(name, "")) for flags in variants.values()]
            table.add_row(*_texts(name, about[name], *settings))
        yield table


def _settings(scenario: Scenario) -> dict[str, dict[str, Any]]:
    """Each variant's setting of every flag that some variant sets, its own or the scenario's."""
    variants = variants_of(scenario)
    shared = {name: setting for name, setting in scenario.flags.items() if _varies(scenario, name)}
    return {name: {**shared, **flags} for name, flags in variants.items()}


def _varies(scenario: Scenario, name: str) -> bool:
    return any(name in flags for flags in variants_of(scenario).values())


def _own_rows(scenario: Scenario) -> Iterator[tuple[str, tuple[str, str]]]:
    about = meanings(scenario)
    for name in scenario.flags:
        if not _varies(scenario, name):
            yield name, (about[name], ", ".join(map(setting_text, allowed_settings(scenario, name))))


def _table(title: str, *columns: str) -> Table:
    settings = [Column(name, overflow="fold", max_width=max(SETTING, len(name))) for name in columns]
    first = [Column("flag", no_wrap=True), Column("meaning", overflow="fold")]
    return Table(*first, *settings, title=Text(title), title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)


def _texts(*cells: str) -> list[Text]:
    return [Text(visible(cell)) for cell in cells]
