"""The reference of a scenario: the name by which another process finds it again to replay a trace."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from reprlib import repr as brief

from kwalk.model.language import Scenario, UsageError
from kwalk.model.language.registry import announced_as, find_scenario


def scenario_at(scenario: Scenario | str) -> Scenario:
    """Return the scenario itself, or the one of that name or reference; UsageError if there is none."""
    if isinstance(scenario, str):
        return find_scenario(scenario)
    if not isinstance(scenario, Scenario):
        raise UsageError(f"A scenario is a Scenario, or the name of one (got {brief(scenario)}).")
    return scenario


def reference_to(scenario: Scenario) -> str:
    """Return the announced name, or `package.module:NAME` if a loaded module has it; otherwise its own name."""
    if _is_announced(scenario):
        return scenario.name
    return min(_places(scenario), key=lambda place: place[0], default=(0, scenario.name))[1]


def _is_announced(scenario: Scenario) -> bool:
    try:
        return announced_as(scenario.name) is scenario
    except Exception:  # an announced scenario of another package cannot be loaded
        return False


def _places(scenario: Scenario) -> Iterator[tuple[int, str]]:
    """Yield its names in loaded modules, with 0 for the module that defines its state class, otherwise 1."""
    for module_name, module in list(sys.modules.items()):
        for name, thing in list(getattr(module, "__dict__", {}).items()):
            if thing is scenario and module_name != "__main__":
                yield int(module_name != scenario.state.__module__), f"{module_name}:{name}"
