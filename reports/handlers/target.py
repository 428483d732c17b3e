"""The target of a command: the model that its options select, with its properties; and the command that repeats it."""

from __future__ import annotations

import shlex
from argparse import Namespace
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from json import JSONDecodeError
from typing import Any

from attrs import evolve, frozen

from kwalk.model.language import Model, PropertyInstance, Reading, Scenario, UsageError
from kwalk.model.language.errors import unknown
from kwalk.model.language.registry import announced, find_scenario, full_reference
from kwalk.model.language.settings import setting_from
from kwalk.reports.escaping import visible
from kwalk.reports.options.values import MIGRATION
from kwalk.reports.program import program
from kwalk.reports.traces.trace_file import readable_text

OPTIONS = (
    "variant",
    "seconds",
    "seed",
    "memory",
    "walks",
    "depth",
    "induction",
    "workers",
    "most",
    "label",
    "minimize",
    "symmetry",
    "master",
    "partitions",
    "property",
    "bound",
    "flag",
    "constraint",
    "only",
    "without",
    "uniform",
    "no_support",
    "keep_going",
    "reduce",
    "symbolic",
    "interpreter",
    "spark",
    "strict",
)
"""The options of searches that the command line that repeats a search has, in this order."""


@frozen
class Target:
    """A model, the properties to check, and the reference by which the scenario is found again."""

    reference: str
    model: Model
    properties: tuple[PropertyInstance, ...]
    command: str
    reading: Reading | None = None


def target(options: Namespace) -> Target:
    """Return what the options select; UsageError if it does not exist."""
    reference, scenario = _scenario(options)
    reading = _reading(scenario, options)
    variant = options.variant or (reading.variant if reading else None)
    if reading and options.property:
        reading = evolve(reading, properties=())  # the user's choice has precedence over the snapshot's
    begun = scenario.starting_from(reading) if reading else scenario
    flags = dict(reading.flags) if reading else {}
    flags.update((name, setting_from(begun, name, text)) for name, text in options.flag)
    flags.update(_selected_constraints(begun, getattr(options, "constraint", None) or ()))
    model = Model(begun, variant, dict(options.bound), flags)
    return Target(reference, model, model.properties_named(options.property), _command(options), reading)


def _selected_constraints(scenario: Scenario, names: Iterable[str]) -> dict[str, bool]:
    """Return the flags that apply optional constraints; UsageError if the scenario has none of a name."""
    always = [each.name for each in scenario.constraints if not each.optional]
    for name in names:
        if name in always:
            raise UsageError(f"The constraint {name!r} of {scenario.name!r} always applies; leave out --constraint.")
        if name not in scenario.optional_constraints:
            raise unknown("optional constraint", name, scenario.optional_constraints)
    return dict.fromkeys(names, True)


def _scenario(options: Namespace) -> tuple[str, Scenario]:
    if options.scenario and getattr(options, "migrate", False):
        named = visible(options.scenario)
        raise UsageError(f"--migrate searches the scenario {MIGRATION!r}: leave out {named!r}, or --migrate.")
    if options.scenario:
        options.scenario = full_reference(options.scenario)  # the command that repeats this one names it, too
        return options.scenario, find_scenario(options.scenario)
    if getattr(options, "snapshot", None) is None:
        raise UsageError("Name a scenario, or a snapshot with --from. `kwalk scenarios` lists the scenarios.")
    if getattr(options, "migrate", False):
        return MIGRATION, find_scenario(MIGRATION)
    for name, scenario in announced().items():
        if scenario.read_snapshot is not None:
            return name, scenario
    raise UsageError("No installed scenario reads snapshots. Name your own: kwalk hunt SCENARIO --from SNAPSHOT.")


def _reading(scenario: Scenario, options: Namespace) -> Reading | None:
    """Read the snapshot, if one is named; a file that is unreadable or too large is refused here."""
    snapshot = getattr(options, "snapshot", None)
    if snapshot is None:
        return None
    if scenario.read_snapshot is None:
        raise UsageError(
            f"Scenario {scenario.name!r} does not read snapshots; name one that does, or leave out --from."
        )
    readable_text(snapshot, "snapshot")
    with malformed_json(f"The snapshot {visible(snapshot)!r}", snapshot):
        return scenario.read_snapshot(snapshot)


@contextmanager
def malformed_json(what: str, file: str = "") -> Iterator[None]:
    """Turn the errors of a reader of JSON into UsageError, and begin those that it raises itself with the file."""
    try:
        yield
    except UsageError as error:
        raise (UsageError(f"{visible(file)}: {error}") if file else error) from error
    except RecursionError as error:
        raise UsageError(f"{what} is nested too deeply.") from error
    except JSONDecodeError as error:
        raise UsageError(f"{what} is not JSON ({visible(str(error))}).") from error


def _command(options: Namespace) -> str:
    snapshot = getattr(options, "snapshot", None)
    source = [] if snapshot is None else ["--from", snapshot]
    migrates = ["--migrate"] if getattr(options, "migrate", False) else []
    return command_line(options, [*([options.scenario] if options.scenario else []), *source, *migrates], OPTIONS)


def command_line(options: Namespace, arguments: Iterable[str], names: Iterable[str]) -> str:
    """Return the command line that repeats a command: its arguments, and those of the named options that are set."""
    words = [options.command, *arguments]
    for name in names:
        words += _option(f"--{name.replace('_', '-')}", getattr(options, name, None))
    return f"{program()} {shlex.join(words)}"


def _option(name: str, value: Any) -> list[str]:
    if value is None or value is False:
        return []
    if value is True:
        return [name]
    if isinstance(value, list):
        return [word for each in value for word in (name, each if isinstance(each, str) else f"{each[0]}={each[1]}")]
    if isinstance(value, str) and value.startswith("-"):
        return [f"{name}={value}"]  # as a word of its own it would be an option
    return [name, f"{value:g}" if isinstance(value, float) else str(value)]
