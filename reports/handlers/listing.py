"""The command that lists: `kwalk scenarios`, with tables of variants, or with properties.

Words: scenarios are of one *family* if their variants have the same settings. A scenario's *own* flags are those that
it sets for all of its variants; the first setting of a flag, off or the first named one, is its *plain* setting.
"""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from kwalk.model.language import Property, Scenario
from kwalk.model.language.registry import announced, find_scenario
from kwalk.model.language.settings import allowed_settings, declared_flags, setting_text
from kwalk.reports.document import Block, CodeBlock, DataTable, Paragraph, Span, strong
from kwalk.reports.reporter import deliver


def scenarios(options: Namespace) -> int:
    """List all scenarios, or one, or their properties; 0."""
    by_name = {options.scenario: find_scenario(options.scenario)} if options.scenario else announced()
    if options.properties:
        listed = {name: [*map(_property_object, scenario.declared_properties)] for name, scenario in by_name.items()}
        return deliver(options, lambda: {"properties": listed}, _listed_properties(by_name))
    data = {"scenarios": [_scenario_object(scenario) for scenario in by_name.values()]}
    return deliver(options, lambda: data, _listed(by_name, with_variants=options.variants))


def _listed(by_name: Mapping[str, Scenario], *, with_variants: bool) -> Iterator[Block]:
    for name, scenario in by_name.items():
        yield _line(name, scenario.story, "strong")
        for label, text in _details(scenario) if with_variants else ():
            yield _line(f"  {label}", text)
    if with_variants:
        yield from tables(by_name)
    if not by_name:
        yield _line("No installed package announces a scenario.", "Name your own as package.module:NAME.")


def _listed_properties(by_name: Mapping[str, Scenario]) -> Iterator[Block]:
    for name, scenario in by_name.items():
        yield _line(name, "", "strong")
        for declaration in scenario.declared_properties:
            yield _line(f"  {_signature(declaration)}", f"{declaration.kind.value}: {_sentence(declaration.about)}")
            if declaration.symptom:
                yield _line("", f"symptom: {declaration.symptom}", text_style="faint")
            if declaration.log:
                yield _line("", f"log line: {declaration.log}", text_style="faint")


def _line(name: str, text: str, style: str = "", text_style: str = "") -> CodeBlock:
    """Return a name, and a text beside it or below it."""
    beside = Span(text, text_style)
    if len(name) < COLUMN:
        return CodeBlock(([Span(f"{name:<{COLUMN}}", style), beside],))
    return CodeBlock(([Span(name, style)], [" " * COLUMN, beside]))


def _details(scenario: Scenario) -> Iterator[tuple[str, str]]:
    further = list(scenario.unlisted_variants)
    more = f", and {len(further)} more, from {further[0]} to {further[-1]}" if further else ""
    yield "variants", ", ".join(variants_of(scenario)) + more
    if own_flags(scenario):
        yield "flags", own_flags(scenario)
    used = [f"{name} {size}" for name, size in scenario.bounds.items() if size]
    unused = [name for name, size in scenario.bounds.items() if not size]
    yield "bounds", ", ".join(used) + (f"; 0 by default: {', '.join(unused)}" if unused else "")
    if scenario.read_snapshot is not None:
        yield "snapshots", "kwalk diagnose FILE starts from the state of a real system"
    if scenario.source:
        yield "source", scenario.source


def _signature(declaration: Property) -> str:
    return f"{declaration.name}({', '.join(parameter.name for parameter in declaration.parameters)})"


def _sentence(about: str) -> str:
    return " ".join(about.partition("\n\n")[0].split())


def _scenario_object(scenario: Scenario) -> dict[str, Any]:
    return {
        "name": scenario.name,
        "story": scenario.story,
        "variants": variants_of(scenario),
        "bounds": dict(scenario.bounds),
        "flags": dict(scenario.flags),
        "meanings": meanings(scenario),
        "properties": [declaration.name for declaration in scenario.declared_properties],
        "reads_snapshots": scenario.read_snapshot is not None,
        "source": scenario.source,
    }


def _property_object(declaration: Property) -> dict[str, Any]:
    return {
        "name": declaration.name,
        "kind": declaration.kind.value,
        "parameters": [parameter.name for parameter in declaration.parameters],
        "about": declaration.about,
        "symptom": declaration.symptom,
        "log": declaration.log,
    }


COLUMN = 24
"""The width of a name before its text is below it."""


def variants_of(scenario: Scenario) -> dict[str, dict[str, Any]]:
    """Return the flags of each variant, by name; a scenario without variants has one, "default"."""
    return {name: dict(flags) for name, flags in (scenario.variants or {"default": {}}).items()}


def meanings(scenario: Scenario) -> dict[str, str]:
    """Return the meaning of each flag of the scenario, as far as a module declares it."""
    declared = declared_flags(scenario)
    names = dict.fromkeys((*scenario.flags, *(name for flags in variants_of(scenario).values() for name in flags)))
    return {name: declared[name].about if name in declared else "" for name in names}


def own_flags(scenario: Scenario) -> str:
    """Return the flags that the scenario sets to another than their plain setting, as text."""
    chosen = {name: setting for name, setting in scenario.flags.items() if not _varies(scenario, name)}
    return ", ".join(
        f"{name} {setting_text(setting)}"
        for name, setting in chosen.items()
        if setting != allowed_settings(scenario, name)[0]
    )


def tables(scenarios: Mapping[str, Scenario]) -> Iterator[Block]:
    """Yield for each family a table of its variants, then one of the scenarios' own flags; nothing without flags."""
    for names in _families(scenarios):
        yield from _differences({name: scenarios[name] for name in names})
    rows = dict(row for scenario in scenarios.values() for row in _own_rows(scenario))
    yield from _table("Flags of single scenarios", ["settings"], [(name, *row) for name, row in rows.items()])


def _families(scenarios: Mapping[str, Scenario]) -> Iterable[list[str]]:
    families: dict[str, list[str]] = {}
    for name, scenario in scenarios.items():
        families.setdefault(json.dumps(_settings(scenario), default=str), []).append(name)
    return families.values()


def _differences(family: Mapping[str, Scenario]) -> Iterator[Block]:
    """Yield a table with a row for each flag that the family's variants set."""
    scenario = next(iter(family.values()))
    variants, about = _settings(scenario), meanings(scenario)
    rows = [
        (name, about[name], *(setting_text(flags.get(name, "")) for flags in variants.values()))
        for name in about
        if _varies(scenario, name)
    ]
    yield from _table(f"Variants of {', '.join(family)}", list(variants), rows)


def _settings(scenario: Scenario) -> dict[str, dict[str, Any]]:
    """Return each variant's setting of every flag that some variant sets."""
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


def _table(title: str, columns: Sequence[str], rows: Sequence[tuple[str, ...]]) -> Iterator[Block]:
    """Yield a table of flags under its title; nothing without rows."""
    if rows:
        yield from (Paragraph([strong(title)]), DataTable(("flag", "meaning", *columns), tuple(rows), wide=1, indent=2))
