"""The flags that a scenario's model asks for, and the settings that people may give them.

Words: an *override* is a setting asked for in place of the variant's own. People write settings as `on` and `off`, or
by their names. A flag is *declared* where a module makes the `Flag`; a scenario only gives values to names, so the
declarations are looked for in the modules that its functions can see.
"""
from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from reprlib import repr as brief
from types import ModuleType
from typing import TYPE_CHECKING, Any

from model.language.binding import Flag
from model.language.errors import UsageError, one_of, unknown

if TYPE_CHECKING:
    from model.language.scenario import Scenario

Setting = bool | str


def declared_flags(scenario: Scenario) -> dict[str, Flag]:
    """The flags that the scenario's functions can see, by name; flags of one name are the same flag."""
    parts = [scenario.initial, *(a.function for a in scenario.actions), *(i.function for i in scenario.invariants)]
    waiting = [getattr(part, "__globals__", {}) for part in parts]
    packages = {str(names.get("__name__", "")).partition(".")[0] for names in waiting}
    found: dict[str, Flag] = {}
    seen: set[int] = set()
    while waiting:
        names = waiting.pop(0)
        if id(names) not in seen:
            seen.add(id(names))
            things = list(names.values())
            found = {**{thing.name: thing for thing in things if isinstance(thing, Flag)}, **found}
            waiting += [vars(module) for module in _modules_of(things, packages)]
    return found


def _modules_of(things: list[Any], packages: set[str]) -> Iterator[ModuleType]:
    """The modules that things are, or come from, within some packages."""
    for thing in things:
        module = thing if isinstance(thing, ModuleType) else sys.modules.get(str(getattr(thing, "__module__", "")))
        if module is not None and module.__name__.partition(".")[0] in packages:
            yield module


def setting_text(setting: Any) -> str:
    """A setting as people write it."""
    return {True: "on", False: "off"}[setting] if isinstance(setting, bool) else str(setting)


def variant_text(variant: str, overrides: Mapping[str, Any]) -> str:
    """The name of a variant and what was asked for in place of its own settings."""
    changes = ", ".join(f"{name} {setting_text(setting)}" for name, setting in overrides.items())
    return f"{variant} with {changes}" if changes else variant


def allowed_settings(scenario: Scenario, name: str) -> tuple[Setting, ...]:
    """What a flag of the scenario can be; UsageError if it has no such flag."""
    given = [table[name] for table in (scenario.flags, *scenario.variants.values()) if name in table]
    if not given:
        raise unknown("flag", name, _names(scenario))
    flag = declared_flags(scenario).get(name)
    if flag is not None:
        return flag.settings or (False, True)
    return (False, True) if all(isinstance(value, bool) for value in given) else tuple(dict.fromkeys(given))


def _names(scenario: Scenario) -> list[str]:
    return list(dict.fromkeys(name for table in (scenario.flags, *scenario.variants.values()) for name in table))


def checked(scenario: Scenario, overrides: Mapping[str, Any]) -> dict[str, Setting]:
    """The overrides, if the scenario has such flags and they can be set so; else UsageError."""
    for name, setting in overrides.items():
        allowed = allowed_settings(scenario, name)
        if not any(type(setting) is type(one) and setting == one for one in allowed):
            raise UsageError(f"Flag {name!r} cannot be {brief(setting)}. {one_of(map(repr, allowed))}")
    return dict(overrides)


def setting_from(scenario: Scenario, name: str, text: str) -> Setting:
    """The setting that somebody wrote as `setting_text` does; UsageError if the flag has none such."""
    allowed = {setting_text(setting): setting for setting in allowed_settings(scenario, name)}
    if text not in allowed:
        raise UsageError(f"Flag {name!r} cannot be {brief(text)}. {one_of(allowed)}")
    return allowed[text]
