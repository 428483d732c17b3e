"""The flags of a scenario's model, and the settings that a user may give them.

Words: an *override* is a setting that takes precedence over the variant's. A setting is written `on` or `off`, or as
its name. A flag is *declared* where a module makes the `Flag`; a scenario only gives values to names, so the
declarations are searched in the modules that its functions can see.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from reprlib import repr as brief
from types import ModuleType
from typing import TYPE_CHECKING, Any

from kwalk.model.language.binding import Bound, Flag, declared_names
from kwalk.model.language.errors import UsageError, one_of, unknown

if TYPE_CHECKING:
    from kwalk.model.language.scenario import Scenario

Setting = bool | str


def declared_flags(scenario: Scenario) -> dict[str, Flag]:
    """Return the flags that the scenario's functions can see, by name; flags of one name are the same flag."""
    of_properties = (function for prop in scenario.properties for function in prop.functions)
    declared = (*scenario.actions, *scenario.constraints)
    parts = [scenario.initial, *(each.function for each in declared), *of_properties]
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
    """Yield the modules that the things are, or come from, within some packages."""
    modules = [thing for thing in things if isinstance(thing, ModuleType)]
    homes = {str(getattr(thing, "__module__", "")): None for thing in things if not isinstance(thing, ModuleType)}
    for module in (*modules, *map(sys.modules.get, homes)):
        if module is not None and module.__name__.partition(".")[0] in packages:
            yield module


def setting_text(setting: Any) -> str:
    """Return a setting as a user writes it."""
    return {True: "on", False: "off"}[setting] if isinstance(setting, bool) else str(setting)


def setting_texts(settings: Mapping[str, Any]) -> dict[str, str]:
    """Return settings as the command line has them, by the name of the flag."""
    return {name: setting_text(setting) for name, setting in settings.items()}


def variant_text(variant: str, overrides: Mapping[str, Any]) -> str:
    """Return the name of a variant, with the settings that override its own."""
    changes = ", ".join(f"{name} {setting_text(setting)}" for name, setting in overrides.items())
    return f"{variant} with {changes}" if changes else variant


def allowed_settings(scenario: Scenario, name: str, declared: Mapping[str, Flag] | None = None) -> tuple[Setting, ...]:
    """Return the settings that a flag of the scenario can have.

    Args:
        scenario: The scenario.
        name: The name of the flag.
        declared: The flags that the scenario declares, where they are known already.

    Raises:
        UsageError: the scenario has no such flag.
    """
    given = [table[name] for table in _tables(scenario) if name in table]
    if not given:
        raise unknown("flag", name, _names(scenario))
    flag = (declared_flags(scenario) if declared is None else declared).get(name)
    if flag is not None:
        return flag.settings or (False, True)
    return (False, True) if all(isinstance(value, bool) for value in given) else tuple(dict.fromkeys(given))


def _names(scenario: Scenario) -> list[str]:
    return list(dict.fromkeys(name for table in _tables(scenario) for name in table))


def _tables(scenario: Scenario) -> tuple[Mapping[str, Any], ...]:
    """Return all tables that give settings to flags; an optional constraint is a flag that is off."""
    return (dict.fromkeys(scenario.optional_constraints, False), scenario.flags, *scenario.all_variants.values())


def checked(scenario: Scenario, settings: Mapping[str, Any]) -> dict[str, Setting]:
    """Return settings of flags after a check.

    Raises:
        UsageError: the scenario has no such flag, or the flag no such setting.
    """
    declared = declared_flags(scenario) if settings else {}
    for name, setting in settings.items():
        allowed = allowed_settings(scenario, name, declared)
        if not any(type(setting) is type(one) and setting == one for one in allowed):
            raise UsageError(f"Flag {name!r} cannot be {brief(setting)}. {one_of(map(repr, allowed))}")
    return dict(settings)


def refuse_undeclared(scenario: Scenario) -> None:
    """Refuse a bound or flag of the scenario that no module declares: nothing reads it, so it is a typing error.

    Raises:
        UsageError: there is one.
    """
    for kind, what, given in (
        (Flag, "flag", set().union(scenario.flags, *scenario.all_variants.values())),
        (Bound, "bound", set(scenario.bounds)),
    ):
        for name in sorted(given - declared_names(kind)):
            error = unknown(what, name, declared_names(kind))
            raise UsageError(f"Scenario {scenario.name!r} gives a value to what is not declared. {error}")


def setting_from(scenario: Scenario, name: str, text: str) -> Setting:
    """Return the setting with that text, as `setting_text` writes it.

    Raises:
        UsageError: the flag has no such setting.
    """
    allowed = {setting_text(setting): setting for setting in allowed_settings(scenario, name)}
    if text not in allowed:
        raise UsageError(f"Flag {name!r} cannot be {brief(text)}. {one_of(allowed)}")
    return allowed[text]
