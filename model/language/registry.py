"""Finding scenarios: by the short names that installed packages announce, or as `package.module:name`.

A package announces scenarios with an entry point in the group `kwalk.scenarios` that names a module; the module has a
tuple `SCENARIOS`.
"""
from __future__ import annotations

import importlib
import re
from importlib.metadata import EntryPoint, entry_points
from types import ModuleType

from model.language.errors import UsageError, one_of, told, unknown
from model.language.scenario import Scenario

GROUP = "kwalk.scenarios"
REFERENCE = re.compile(r"[^\s:.]+(\.[^\s:.]+)*:\w+")
"""package.module:name."""


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
        found = tuple(entry.load().SCENARIOS)
        wrong = next((type(thing).__name__ for thing in found if not isinstance(thing, Scenario)), None)
        if wrong is not None:
            raise TypeError(f"SCENARIOS has a {wrong} in it")
    except Exception as error:  # it is another's code; whatever goes wrong in it
        raise UsageError(
            f"An installed package announces scenarios in {entry.value!r}, and they cannot be loaded: {told(error)} "
            "Mend that package or uninstall it."
        ) from error
    return found


def find_scenario(reference: str) -> Scenario:
    """The scenario of that name, or at `package.module:name`; UsageError if there is none."""
    if ":" not in reference:
        known = announced()
        if reference not in known:
            raise unknown("scenario", reference, known)
        return known[reference]
    if not REFERENCE.fullmatch(reference):
        raise UsageError(f"{reference!r} names no scenario. A scenario of your own is named package.module:NAME.")
    module_name, _, attribute = reference.partition(":")
    module = _imported(module_name, reference)
    scenario = getattr(module, attribute, None)
    if isinstance(scenario, Scenario):
        return scenario
    names = [name for name, thing in vars(module).items() if isinstance(thing, Scenario)]
    if scenario is not None:
        raise UsageError(f"{reference!r} is no Scenario but of type {type(scenario).__name__!r}. {one_of(names)}")
    raise unknown(f"scenario in {module_name}", attribute, names)


def _imported(module_name: str, reference: str) -> ModuleType:
    try:
        return importlib.import_module(module_name)
    except (Exception, SystemExit) as error:  # it runs somebody's code; whatever goes wrong in it, we go on to say so
        missing = isinstance(error, ModuleNotFoundError) and f"{module_name}.".startswith(f"{error.name}.")
        why = f"{error}. Run kwalk in the folder that has it, or install it." if missing else f"{told(error)} Mend it."
        raise UsageError(f"Cannot import {module_name!r} for scenario {reference!r}: {why}") from error
