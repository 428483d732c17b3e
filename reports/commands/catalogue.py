"""The commands that list: `kwalk scenarios` and `kwalk invariants`."""
from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Iterator
from typing import Any

from rich.text import Text

from model.language import Invariant, Scenario
from model.language.registry import announced, find_scenario
from reports.commands.variant_tables import meanings, own_flags, tables, variants_of
from reports.terminal import console, put


def scenarios(options: Namespace) -> int:
    """List what can be explored, or one scenario of it; 0."""
    found = {options.scenario: find_scenario(options.scenario)} if options.scenario else announced()
    if options.json:
        print(json.dumps({"scenarios": [_scenario_object(scenario) for scenario in found.values()]}, indent=2))
        return 0
    for name, scenario in found.items():
        _line(name, scenario.story, style="bold")
        if options.variants:
            for label, text in _details(scenario):
                _line(f"  {label}", text)
    if options.variants:
        put(console(), *tables(found))
    if not found:
        _line("No installed package announces a scenario.", "Name one of your own as package.module:NAME.")
    return 0


def invariants(options: Namespace) -> int:
    """List what must hold, in one scenario or all; 0."""
    found = {options.scenario: find_scenario(options.scenario)} if options.scenario else announced()
    if options.json:
        listed = {name: [_invariant_object(i) for i in scenario.invariants] for name, scenario in found.items()}
        print(json.dumps({"invariants": listed}, indent=2))
        return 0
    for name, scenario in found.items():
        _line(name, "", style="bold")
        for invariant in scenario.invariants:
            _line(f"  {_signature(invariant)}", f"{invariant.kind.value}: {_sentence(invariant.about)}")
            if invariant.symptom:
                _line("", f"symptom: {invariant.symptom}", style="dim")
            if invariant.log:
                _line("", f"log line: {invariant.log}", style="dim")
    return 0


def _line(name: str, text: str, style: str = "") -> None:
    """A name, and beside it or under it what there is to say about it."""
    out = console()
    gap = f"{name:<24}" if len(name) < 24 else f"{name}\n{'':<24}"
    out.print(Text(gap, style=style).append(text, style="" if style != "dim" else style), soft_wrap=True)


def _details(scenario: Scenario) -> Iterator[tuple[str, str]]:
    yield "variants", ", ".join(variants_of(scenario))
    if own_flags(scenario):
        yield "flags", own_flags(scenario)
    used = [f"{name} {size}" for name, size in scenario.bounds.items() if size]
    unused = [name for name, size in scenario.bounds.items() if not size]
    yield "bounds", ", ".join(used) + (f"; 0 unless asked for: {', '.join(unused)}" if unused else "")
    if scenario.read_snapshot is not None:
        yield "snapshots", "kwalk hunt --from FILE begins where a real system stands"
    if scenario.source:
        yield "source", scenario.source


def _signature(invariant: Invariant) -> str:
    return f"{invariant.name}({', '.join(parameter.name for parameter in invariant.parameters)})"


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
        "invariants": [invariant.name for invariant in scenario.invariants],
        "reads_snapshots": scenario.read_snapshot is not None,
        "source": scenario.source,
    }


def _invariant_object(invariant: Invariant) -> dict[str, Any]:
    return {
        "name": invariant.name,
        "kind": invariant.kind.value,
        "parameters": [parameter.name for parameter in invariant.parameters],
        "about": invariant.about,
        "symptom": invariant.symptom,
        "log": invariant.log,
    }
