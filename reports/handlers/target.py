"""What the options of a command select: a model with its properties; and the command that repeats it."""

from __future__ import annotations

import shlex
from argparse import Namespace
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from json import JSONDecodeError
from typing import Any

from attrs import evolve

from kwalk.model.language import Scenario, UsageError
from kwalk.model.language.registry import announced, find_scenario, full_reference
from kwalk.model.language.settings import setting_from
from kwalk.reports.escaping import visible
from kwalk.reports.program import program
from kwalk.reports.traces.trace_file import readable_text
from kwalk.search.base.option_table import rows, words_of
from kwalk.search.base.query import Query, model_of


def query_of(options: Namespace, accepts: type) -> Query:
    """Return what the options of a command ask for.

    Args:
        options: The parsed command line.
        accepts: The class of the table that declares the options.

    Raises:
        UsageError: Something does not exist.
    """
    reference, scenario = _scenario(options)
    snapshot = getattr(options, "snapshot", None)
    reading = None if snapshot is None else read_by(scenario, "read_snapshot", snapshot)
    values = {name: getattr(options, name) for name in rows(accepts)}
    if reading and options.properties:
        reading = evolve(reading, properties=())  # the user's choice has precedence over the snapshot's
    begun = scenario.starting_from(reading) if reading else scenario
    flags = dict(reading.flags) if reading else {}
    flags.update((name, setting_from(begun, name, text)) for name, text in options.flags)
    variant = options.variant or (reading.variant if reading else None)
    model = model_of(begun, {**values, "variant": variant, "flags": flags})
    properties = model.properties_named(options.properties)
    return Query(reference, model, properties, values, _command(options), reading)


HOOKS = {
    "read_snapshot": "read snapshots",
    "read_series": "read series of snapshots",
    "inspect_snapshot": "inspect snapshots",
    "recover_snapshot": "plan from snapshots",
}
"""The fields of `Scenario` that take snapshots, and what a scenario with each of them does."""


def scenario_with(hook: str, name: str | None = None) -> tuple[str, Scenario]:
    """Return the scenario of that name, or the first installed one, that has a hook for snapshots, with its name."""
    if name:
        found = find_scenario(name)
        if getattr(found, hook) is None:
            raise UsageError(f"Scenario {name!r} does not {HOOKS[hook]}. Name one that does, or leave it out.")
        return name, found
    for name, scenario in announced().items():
        if getattr(scenario, hook) is not None:
            return name, scenario
    raise UsageError(f"No installed scenario can {HOOKS[hook]}. Name your own scenario.")


def read_by(scenario: Scenario, hook: str, path: str) -> Any:
    """Return what a hook reads in a snapshot; a file that is unreadable or too large is refused here."""
    readable_text(path, "snapshot")
    with malformed_json(f"The snapshot {visible(path)!r}", path):
        return getattr(scenario, hook)(path)


def _scenario(options: Namespace) -> tuple[str, Scenario]:
    if options.scenario:
        options.scenario = full_reference(options.scenario)  # the command that repeats this one names it, too
    if getattr(options, "snapshot", None) is not None:
        return scenario_with("read_snapshot", options.scenario)
    if options.scenario:
        return options.scenario, find_scenario(options.scenario)
    raise UsageError("Name a scenario, or a snapshot with --from. `kwalk scenarios` lists the scenarios.")


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
    if hasattr(options, "snapshots"):
        return command_line(options, options.snapshots)
    source = [] if getattr(options, "snapshot", None) is None else ["--from", options.snapshot]
    return command_line(options, [*([options.scenario] if options.scenario else []), *source])


def command_line(options: Namespace, arguments: Iterable[str]) -> str:
    """Return the command line that repeats a command.

    Args:
        options: The parsed command line.
        arguments: What is given by its place.
    """
    return f"{program()} {shlex.join([options.command, *arguments, *words_of(vars(options), options.rows)])}"
