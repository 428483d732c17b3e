"""Finding scenarios and fixes: by the names that installed packages register, or as `package.module:NAME`.

A package registers with an entry point in the group `kwalk.scenarios` that names a module; the module has a tuple
`SCENARIOS` and, if there are any, a tuple `FIXES`. A function `scenario_named`, which returns the scenario of a name or
None, saves a command the import of all others.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path, PurePath
from types import ModuleType
from typing import TypeVar

from kwalk.model.language.distributions import EntryPoint, entry_points
from kwalk.model.language.errors import UsageError, error_text, one_of, unknown
from kwalk.model.language.fix import Fix, Trial
from kwalk.model.language.scenario import Scenario

GROUP = "kwalk.scenarios"
REFERENCE = re.compile(r"[^\s:.]+(\.[^\s:.]+)*:\w+")
"""package.module:name."""
MODULE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")
"""package.module."""
Thing = TypeVar("Thing")


def announced() -> dict[str, Scenario]:
    """Return all registered scenarios by name, in the order of their packages."""
    found: dict[str, Scenario] = {}
    for entry in sorted(entry_points(GROUP), key=lambda e: e.name):
        for scenario in _announced_by(entry, "SCENARIOS", Scenario):
            if scenario.name in found:
                raise UsageError(f"Two installed scenarios are named {scenario.name!r}; rename one of them.")
            found[scenario.name] = scenario
    return found


def announced_fixes() -> dict[str, Fix]:
    """Return all registered fixes by name, in the order of their packages."""
    found: dict[str, Fix] = {}
    for entry in sorted(entry_points(GROUP), key=lambda e: e.name):
        _add(found, _announced_by(entry, "FIXES", Fix))
    return found


def _announced_by(entry: EntryPoint, table: str, kind: type[Thing]) -> tuple[Thing, ...]:
    """Return what a package registers in a table of its module; FIXES may be missing."""
    try:
        module = entry.load()
        found = tuple(getattr(module, table, ()) if kind is Fix else getattr(module, table))
        wrong = next((type(thing).__name__ for thing in found if not isinstance(thing, kind)), None)
        if wrong is not None:
            raise TypeError(f"{table} has a {wrong} in it")
    except Exception as error:  # the code of another package can fail in any way
        raise UsageError(
            f"An installed package registers {table.lower()} in {entry.value!r}, and they cannot be loaded: "
            f"{error_text(error)} Repair that package or uninstall it."
        ) from error
    return found


def _add(by_name: dict[str, Fix], fixes: Iterable[Fix]) -> None:
    for fix in fixes:
        if by_name.get(fix.name, fix) is not fix:
            raise UsageError(f"Two fixes are named {fix.name!r}; rename one of them.")
        by_name[fix.name] = fix


def announced_as(name: str) -> Scenario | None:
    """Return the registered scenario of that name, or None. Packages after the first that has it are not imported."""
    for entry in sorted(entry_points(GROUP), key=lambda e: e.name):
        found = _announced_as(entry, name)
        if found is not None:
            return found
    return None


def _announced_as(entry: EntryPoint, name: str) -> Scenario | None:
    """Return the scenario of that name of a package: by its function, if it has one that works, else from its table."""
    with suppress(Exception):
        found = entry.load().scenario_named(name)
        if found is None or (isinstance(found, Scenario) and found.name == name):
            return found
    return next((each for each in _announced_by(entry, "SCENARIOS", Scenario) if each.name == name), None)


def full_reference(reference: str) -> str:
    """Return a reference under which a scenario is found from any folder: for the name of a module, `module:NAME`.

    Args:
        reference: the name of a scenario, `package.module:NAME`, or the name of a module in the present folder.

    Raises:
        UsageError: the module cannot be imported, or has not one scenario.
    """
    is_module = MODULE.fullmatch(reference) and Path(*reference.split(".")).with_suffix(".py").is_file()
    if not is_module or announced_as(reference) is not None:
        return reference
    module = _imported(reference, "scenario", reference)
    names = [name for name, thing in vars(module).items() if isinstance(thing, Scenario)]
    if len(names) != 1:
        has = f"the scenarios {', '.join(sorted(names))}: name one" if names else "no Scenario at its top level"
        example = f", as in `{reference}:{min(names)}`" if names else ""
        raise UsageError(f"The module {reference!r} has {has}{example}.")
    return f"{reference}:{names[0]}"


def find_scenario(reference: str) -> Scenario:
    """Return the scenario of that name, at `package.module:NAME`, or the only one of a module in the present folder.

    Raises:
        UsageError: there is none, or its module cannot be imported.
    """
    if ":" not in reference:
        scenario = announced_as(reference)
        if scenario is not None:
            return scenario
        _refuse_file_name(reference, "scenario", reference)
        reference = full_reference(reference)
        if ":" not in reference:
            raise UsageError(f"{unknown('scenario', reference, announced())} {_of_your_own('scenario')}")
    module, attribute = _module_and_name(reference, "scenario")
    named = getattr(module, attribute, None)
    if isinstance(named, Scenario):
        return named
    names = [name for name, thing in vars(module).items() if isinstance(thing, Scenario)]
    if named is not None:
        raise UsageError(f"{reference!r} is no Scenario but of type {type(named).__name__!r}. {one_of(names)}")
    raise unknown(f"scenario in {module.__name__}", attribute, names)


def find_fixes(references: Iterable[str] = ()) -> dict[str, Fix]:
    """Return the fixes of those names, or at `package.module:NAME` (a Fix or several); all registered ones if none.

    Raises:
        UsageError: there is no such fix, or none at all.
    """
    found: dict[str, Fix] = {}
    for reference in references:
        _add(found, _fixes_at(reference))
    found = found or announced_fixes()
    if not found:
        raise UsageError("No installed package registers a fix. Name your own as package.module:FIXES.")
    return found


def _fixes_at(reference: str) -> tuple[Fix, ...]:
    if ":" not in reference:
        known = announced_fixes()
        if reference not in known:
            raise unknown("fix", reference, known)
        return (known[reference],)
    module, attribute = _module_and_name(reference, "fix")
    if attribute in vars(module):
        found = _as_fixes(vars(module)[attribute])
        if found:
            return found
        raise UsageError(f"{reference!r} is no Fix, nor a tuple of them. {one_of(_names_of_fixes(module))}")
    raise unknown(f"fix in {module.__name__}", attribute, _names_of_fixes(module))


def find_trials(reference: str) -> tuple[Trial, ...]:
    """Return the tuple of trials at `package.module:NAME`, or a trial of the scenario of that name."""
    if REFERENCE.fullmatch(reference):
        module_name, _, attribute = reference.partition(":")
        things = vars(_imported(module_name, "scenario", reference)).get(attribute)
        if isinstance(things, tuple) and things and all(isinstance(thing, Trial) for thing in things):
            return things
    return (Trial(find_scenario(reference)),)


def _as_fixes(thing: object) -> tuple[Fix, ...]:
    """Return a Fix, or a tuple or list of them, as a tuple; an empty tuple for anything else."""
    things = tuple(thing) if isinstance(thing, tuple | list) else (thing,)
    return things if all(isinstance(one, Fix) for one in things) else ()


def _names_of_fixes(module: ModuleType) -> list[str]:
    return [name for name, thing in vars(module).items() if _as_fixes(thing)]


def _of_your_own(kind: str) -> str:
    return f"A {kind} of your own is named package.module:NAME."


def _module_and_name(reference: str, kind: str) -> tuple[ModuleType, str]:
    """Return the module of a reference such as `package.module:NAME`, imported, and the name."""
    module_name, _, name = reference.partition(":")
    if not REFERENCE.fullmatch(reference):
        _refuse_file_name(module_name, kind, reference)
        raise UsageError(f"{reference!r} names no {kind}. {_of_your_own(kind)}")
    return _imported(module_name, kind, reference), name


def _refuse_file_name(module_name: str, kind: str, reference: str) -> None:
    """Raise UsageError with the module's name if a reference names a file, such as `my_model.py:SCENARIO`."""
    if module_name.endswith(".py"):
        path = PurePath(module_name).with_suffix("")
        module = path.name if path.is_absolute() or ".." in path.parts else ".".join(path.parts)
        suggestion = f"{module}:{reference.partition(':')[2] or 'NAME'}"
        raise UsageError(
            f"{reference!r} names a file, and a {kind} is named by its module. Did you mean {suggestion!r}? "
            "Run kwalk in the folder from which Python imports it."
        )


def _imported(module_name: str, kind: str, reference: str) -> ModuleType:
    try:
        return importlib.import_module(module_name)
    except (Exception, SystemExit) as error:  # the user's code can fail in any way
        _refuse_file_name(module_name, kind, reference)
        missing = isinstance(error, ModuleNotFoundError) and f"{module_name}.".startswith(f"{error.name}.")
        advice = f"{error}. Run kwalk in the folder that has it, or install it."
        why = advice if missing else f"{error_text(error)} Correct it."
        raise UsageError(f"Cannot import {module_name!r} for {kind} {reference!r}: {why}") from error
