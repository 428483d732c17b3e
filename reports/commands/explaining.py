"""The command that explains snapshots of a real system: `kwalk explain`."""
from __future__ import annotations

import json
import shlex
import time
from argparse import Namespace
from json import JSONDecodeError
from pathlib import Path

from attrs import evolve
from rich.text import Text

from model.language import Model, Scenario, UsageError
from model.language.registry import announced, find_scenario
from model.language.series import Series
from reports.escaping import visible
from reports.explanation import Told, explanation_object, print_explanation
from reports.files import CannotWrite, OutFolder, out_folder
from reports.progress import shown_on_stderr
from reports.replaying import stamped
from reports.saving import save
from reports.terminal import console
from reports.trace_file import readable_text
from search.waypoints import EVENTS, Wish

SECONDS = 60.0
"""The time budget if nobody gives one."""


def run_explain(options: Namespace) -> int:
    """Find a behaviour that passes through snapshots; 0 if there is one, 12 if none fits, 3 if that is undecided."""
    reference, scenario = _scenario(options.scenario)
    series = _series(scenario, options.snapshots)
    model = _model(scenario, series, options.variant)
    with out_folder(options.out) as out:
        return _deliver(_told(model, series, options), reference, out, options)


def _scenario(name: str | None) -> tuple[str, Scenario]:
    if name:
        found = find_scenario(name)
        if found.read_series is None:
            raise UsageError(f"Scenario {name!r} reads no series of snapshots; name one that does, or none.")
        return name, found
    for name, scenario in announced().items():
        if scenario.read_series is not None:
            return name, scenario
    raise UsageError("No installed scenario reads series of snapshots. Name your own with --scenario.")


def _series(scenario: Scenario, paths: list[str]) -> Series:
    """What the snapshots say; a file that is no use is refused before the scenario sees it."""
    for path in paths:
        readable_text(path, "snapshot")
    try:
        return scenario.read_series(paths)  # type: ignore[misc]  # _scenario has seen that there is one
    except RecursionError as error:
        raise UsageError("One of the snapshots is nested too deeply.") from error
    except JSONDecodeError as error:
        raise UsageError(f"One of the snapshots is not JSON ({visible(str(error))}).") from error


def _model(scenario: Scenario, series: Series, variant: str | None) -> Model:
    if not (variant or series.variant):
        raise UsageError("The snapshots are of no version that is modelled. Name the nearest one with --variant.")
    labels = {**scenario.labels, **series.labels}
    begun = evolve(scenario, initial=series.initial, labels=labels)
    other = {name: setting for name, setting in series.flags.items() if scenario.flags.get(name) != setting}
    return Model(begun, variant or series.variant, series.bounds, other)


def _told(model: Model, series: Series, options: Namespace) -> Told:
    """The explanation, with the time that it took to compile the model beside it."""
    from search.compile import kernel_for
    from search.waypoints import explain

    with shown_on_stderr() as report:
        started = time.monotonic()
        kernel = kernel_for(model)
        compiling = time.monotonic() - started
        seconds = options.seconds or SECONDS
        events = EVENTS if options.events is None else options.events
        wish = Wish(events=events, seconds=seconds, report=report, command=_command(options))
        return Told(model, series, explain(model, kernel, series, wish), compiling, _command(options))


def _deliver(told: Told, reference: str, out: OutFolder, options: Namespace) -> int:
    """Write the trace, print the answer; its exit code. What cannot be written is told after the answer."""
    files: dict[str, Path] = {}
    failure: CannotWrite | None = None
    trace = told.explanation.trace
    try:
        files = save(told.model, stamped(trace, told.model, reference), out) if trace else {}
    except CannotWrite as error:
        failure = error
    if options.json:
        print(json.dumps(explanation_object(told, files.get("trace")), indent=2))
    else:
        _print(told, files, options)
    if failure:
        raise failure
    return told.explanation.fit.exit_code


def _print(told: Told, files: dict[str, Path], options: Namespace) -> None:
    out = console()
    print_explanation(told, out, unfold=options.unfold)
    for kind, path in files.items():
        out.print(Text(f"  {kind.capitalize()}: {visible(str(path))}"), soft_wrap=True)
    out.print(Text(f"  Reproduce: {visible(told.command)}"), soft_wrap=True)


def _command(options: Namespace) -> str:
    """The command line that asks for the same again."""
    words = ["kwalk", "explain", *options.snapshots]
    for name in ("scenario", "variant", "events", "seconds"):
        value = getattr(options, name)
        if value is not None:
            words += [f"--{name}", f"{value:g}" if isinstance(value, float) else str(value)]
    return shlex.join(words)
