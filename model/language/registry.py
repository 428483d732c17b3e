"""Finding scenarios: by the short names that installed packages announce, or as `package.module:name`.

A package announces scenarios with an entry point in the group `kwalk.scenarios` that names a module; the module has a
tuple `SCENARIOS`.
"""
from __future__ import annotations

import importlib
from importlib.metadata import EntryPoint, entry_points

from model.language.errors import UsageError, unknown
from model.language.scenario import Scenario

GROUP = "kwalk.scenarios"


def announced() -> dict[str, Scenario]:
    """All announced scenarios by name, in the order of their packages."""
    found: dict[str, Scenario] = {}
    for entry in sorted(entry_points(group=GROUP), key=lambda e: e.name):
        for scenario in _announced_by(entry):
            if scenario.name in found:
                raise UsageError(f"Two installed scenarios are named {scenario.name!r}; rename one of them.")
            found[scenario.name] = scenario
    return found


def _announced_by(entry: EntryPoint) -> tuple[Scenario, ...]:
    try:
        return tuple(entry.load().SCENARIOS)
    except (ImportError, AttributeError) as error:
        raise UsageError(
            f"An installed package announces scenarios in {entry.value!r}, and they cannot be loaded: {error}. "
            "Mend that package or uninstall it."
        ) from error


def find_scenario(reference: str) -> Scenario:
    """The scenario of that name, or at `package.module:name`; UsageError if there is none."""
    if ":" not in reference:
        known = announced()
        if reference not in known:
            raise unknown("scenario", reference, known)
        return known[reference]
    module_name, _, attribute = reference.partition(":")
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        raise UsageError(f"Cannot import {module_name!r} for scenario {reference!r}: {error}.") from error
    scenario = getattr(module, attribute, None)
    if not isinstance(scenario, Scenario):
        names = [name for name, thing in vars(module).items() if isinstance(thing, Scenario)]
        raise unknown(f"scenario in {module_name}", attribute, names)
    return scenario
