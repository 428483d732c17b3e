"""By which name a scenario object is found again, so that a trace of it can be replayed in another process."""
from __future__ import annotations

import sys
from collections.abc import Iterator
from reprlib import repr as brief

from model.language import Scenario, UsageError
from model.language.registry import announced_as, find_scenario


def scenario_at(scenario: Scenario | str) -> Scenario:
    """The scenario itself, or the one of that name or reference; UsageError if there is none."""
    if isinstance(scenario, str):
        return find_scenario(scenario)
    if not isinstance(scenario, Scenario):
        raise UsageError(f"A scenario is a Scenario, or the name of one (got {brief(scenario)}).")
    return scenario


def reference_to(scenario: Scenario) -> str:
    """The name it is announced by, or `package.module:NAME` where a loaded module has it; else its own name."""
    if _is_announced(scenario):
        return scenario.name
    return min(_places(scenario), key=lambda place: place[0], default=(0, scenario.name))[1]


def _is_announced(scenario: Scenario) -> bool:
    try:
        return announced_as(scenario.name) is scenario
    except Exception:  # another package announces what cannot be loaded; that is no reason to fail this one's tests
        return False


def _places(scenario: Scenario) -> Iterator[tuple[int, str]]:
    """The modules' names for it, with 0 for the module that also has its state class, which tests only import."""
    for module_name, module in list(sys.modules.items()):
        for name, thing in list(getattr(module, "__dict__", {}).items()):
            if thing is scenario and module_name != "__main__":
                yield int(module_name != scenario.state.__module__), f"{module_name}:{name}"
