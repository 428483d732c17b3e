"""What the options of a command select: a model with its properties; and the command that repeats it."""

from __future__ import annotations

import shlex
from argparse import Namespace
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from json import JSONDecodeError

from attrs import evolve

from kwalk.model.language import Reading, Scenario, UsageError
from kwalk.model.language.registry import announced, find_scenario, full_reference
from kwalk.model.language.settings import setting_from
from kwalk.reports.escaping import visible
from kwalk.reports.options.declaration import MIGRATION
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
    reading = _reading(scenario, options)
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
    return command_line(options, [*([options.scenario] if options.scenario else []), *source, *migrates])


def command_line(options: Namespace, arguments: Iterable[str]) -> str:
    """Return the command line that repeats a command.

    Args:
        options: The parsed command line.
        arguments: What is given by its place.
    """
    return f"{program()} {shlex.join([options.command, *arguments, *words_of(vars(options), options.rows)])}"
