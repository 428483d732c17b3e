"""The command that explains snapshots of a real system: `kwalk explain`."""
from __future__ import annotations

import time
from argparse import Namespace
from pathlib import Path

from attrs import evolve

from kwalk.model.language import Model, Scenario, UsageError
from kwalk.model.language.registry import announced, find_scenario
from kwalk.model.language.series import Series
from kwalk.reports.commands.incident import inspection_of, planned, problem_of
from kwalk.reports.commands.output import LABELS, Written, print_ending, print_json
from kwalk.reports.commands.target import command_line, malformed_json
from kwalk.reports.files import OutFolder, out_folder
from kwalk.reports.pages.explanation import ReportedExplanation, explanation_object, history_of, print_explanation
from kwalk.reports.pages.incident import Incident, cause_of, incident_object, since_of
from kwalk.reports.progress import shown_on_stderr
from kwalk.reports.terminal import console
from kwalk.reports.traces.replay import stamped
from kwalk.reports.traces.save import save
from kwalk.reports.traces.trace_file import readable_text
from kwalk.search.analyses.explain.explain import EVENTS, ExplainOptions

SECONDS = 60.0
"""The default of `--seconds`."""


def run_explain(options: Namespace) -> int:
    """Find a behaviour that passes through snapshots; 0 if there is one, 12 if none fits, 3 if that is undecided."""
    reference, scenario = scenario_for(options.scenario)
    series = series_of(scenario, options.snapshots)
    model = model_of(scenario, series, options.variant)
    with out_folder(options.out) as out:
        return _deliver(_explained(model, series, options), reference, scenario, out, options)


def scenario_for(name: str | None) -> tuple[str, Scenario]:
    """Return the scenario of that name that reads series of snapshots, or the first installed one, with its name."""
    if name:
        found = find_scenario(name)
        if found.read_series is None:
            raise UsageError(
                f"Scenario {name!r} does not read series of snapshots; name one that does, or leave out --scenario."
            )
        return name, found
    for name, scenario in announced().items():
        if scenario.read_series is not None:
            return name, scenario
    raise UsageError("No installed scenario reads series of snapshots. Name your own with --scenario.")


def series_of(scenario: Scenario, paths: list[str]) -> Series:
    """Read the snapshots; a file that is unreadable or too large is refused here."""
    for path in paths:
        readable_text(path, "snapshot")
    with malformed_json("One of the snapshots"):
        return scenario.read_series(paths)  # type: ignore[misc]  # _scenario has seen that there is one


def model_of(scenario: Scenario, series: Series, variant: str | None) -> Model:
    """Return the model that begins where the series does; UsageError if the series needs a variant to be named."""
    if not (variant or series.variant):
        raise UsageError("No variant models the version of the snapshots. Name the nearest one with --variant.")
    labels = {**scenario.labels, **series.labels}
    begun = evolve(scenario, initial=series.initial, labels=labels)
    other = {name: setting for name, setting in series.flags.items() if scenario.flags.get(name) != setting}
    return Model(begun, variant or series.variant, series.bounds, other)


def explained(model: Model, series: Series, options: ExplainOptions) -> ReportedExplanation:
    """Return the explanation, with the time that compiling the model took."""
    from kwalk.search.analyses.explain.explain import explain
    from kwalk.search.kernel.compile.compiler import kernel_for

    started = time.monotonic()
    kernel = kernel_for(model)
    compiling = time.monotonic() - started
    return ReportedExplanation(model, series, explain(model, kernel, series, options), compiling, options.command)


def _explained(model: Model, series: Series, options: Namespace) -> ReportedExplanation:
    """Return the explanation; report progress on stderr."""
    events = EVENTS if options.events is None else options.events
    with shown_on_stderr() as report:
        return explained(
            model, series,
            ExplainOptions(events=events, seconds=options.seconds or SECONDS, report=report, command=_command(options)),
        )  # fmt: skip


def _deliver(
    report: ReportedExplanation, reference: str, scenario: Scenario, out: OutFolder, options: Namespace
) -> int:
    """Write the trace, print the answer; return its exit code."""
    files: dict[str, Path] = {}
    trace, story = report.explanation.trace, report.story_with_snapshots
    with Written() as written:
        if trace is not None and story is not None:
            incident = _incident(report, scenario, options)
            lead, about = (incident.lead(), incident_object(incident)) if incident else (None, None)
            full = stamped(trace, report.model, reference)
            files = save(report.model, full, out, story=story, lead=lead, about=about)
    if options.json:
        print_json(explanation_object(report, files.get("trace")))
    else:
        print_explanation(report, console(), unfold=options.unfold)
        print_ending({LABELS[kind]: str(path) for kind, path in files.items()}, report.command, console())
    return written.checked(report.explanation.fit.exit_code)


def _incident(report: ReportedExplanation, scenario: Scenario, options: Namespace) -> Incident | None:
    """Return what is wrong in the last snapshot, with the steps that led there; None if nothing inspects it."""
    trace, story, snapshot = report.explanation.trace, report.story_with_snapshots, options.snapshots[-1]
    inspection = inspection_of(scenario, snapshot)
    if inspection is None or trace is None or story is None:
        return None
    with shown_on_stderr() as progress:
        recovery = planned(problem_of(scenario, snapshot, inspection), progress)
    return Incident(
        snapshot, inspection, recovery, since=since_of(inspection, report.model, trace, story), cause=cause_of(story),
        history=tuple(history_of(report)), facts=report.series.facts,
    )  # fmt: skip


def _command(options: Namespace) -> str:
    return command_line(options, options.snapshots, ("scenario", "variant", "events", "seconds"))
