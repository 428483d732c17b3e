"""The command that explains snapshots of a real system: `kwalk diagnose --explain`."""

from __future__ import annotations

import time
from argparse import Namespace
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from inspect import signature
from itertools import chain, repeat
from pathlib import Path

from attrs import evolve

from kwalk.model.language import Model, Scenario, UsageError
from kwalk.model.language.inspection import Inspection
from kwalk.model.language.registry import find_scenario
from kwalk.model.language.series import LogSource, Series
from kwalk.reports.document import CodeBlock
from kwalk.reports.document.text import Printable
from kwalk.reports.files import OutFolder, out_folder
from kwalk.reports.handlers.incident import inspection_of, planned_until, problem_of
from kwalk.reports.handlers.target import command_line, malformed_json, scenario_with
from kwalk.reports.pages.explanation import (
    ReportedExplanation,
    exit_code_of,
    explanation_text,
    explanations_object,
    history_of,
)
from kwalk.reports.pages.incident import Incident, cause_of, incident_object, since_of
from kwalk.reports.progress import shown_on_stderr
from kwalk.reports.reporter import LABELS, Written, deliver
from kwalk.reports.traces.replay import stamped
from kwalk.reports.traces.save import save
from kwalk.reports.traces.trace_file import readable_text
from kwalk.search.analyses.explain.explain import (
    ExplainOptions,
    Fit,
    events_along,
    explain,
    explain_along,
    explain_widening,
)
from kwalk.search.analyses.explain.kernels import CompilationQueue
from kwalk.search.analyses.recovery import Recovery
from kwalk.search.base.option_table import present

SECONDS = 60.0
"""The default of `--seconds`."""


def run_explain(options: Namespace) -> int:
    """Find a behaviour that passes through snapshots; 0 if there is one, 12 if none fits, 3 if that is undecided."""
    began = time.monotonic()
    reference, scenario = scenario_with("read_series", options.scenario)
    all_series = series_of(scenario, options.snapshots, log_source(options))
    models = [model_of(own_scenario(scenario, series), series, options.variant) for series in all_series]
    with out_folder(options.out) as out:
        reports = _explained(list(zip(models, all_series, strict=True)), options, began)
        return _deliver(reports, (reference, scenario), out, options, began)


def log_source(options: Namespace) -> LogSource | None:
    """Return the logs that the options name; None without any."""
    if options.logs is None:
        if options.log_tolerance is not None or options.log_zone is not None:
            raise UsageError("--log-tolerance and --log-zone are about the logs of --logs DIR. Name their folder.")
        return None
    source = LogSource(options.logs, zone=_zone_seconds(options.log_zone or "+00:00"))
    return source if options.log_tolerance is None else evolve(source, tolerance=options.log_tolerance)


def series_of(scenario: Scenario, paths: list[str], logs: LogSource | None = None) -> tuple[Series, ...]:
    """Read the snapshots as one series or several; a file that is unreadable or too large is refused here."""
    for path in paths:
        readable_text(path, "snapshot")
    assert scenario.read_series is not None
    if logs is not None and "logs" not in signature(scenario.read_series).parameters:
        raise UsageError(f"Scenario {scenario.name!r} does not read logs. Leave out --logs.")
    with malformed_json("One of the snapshots"):
        found = scenario.read_series(paths) if logs is None else scenario.read_series(paths, logs=logs)
    return (found,) if isinstance(found, Series) else found


def own_scenario(scenario: Scenario, series: Series) -> Scenario:
    """Return the scenario whose behaviours explain a series that another one has read."""
    return find_scenario(series.scenario) if series.scenario else scenario


def model_of(scenario: Scenario, series: Series, variant: str | None) -> Model:
    """Return the model that begins where the series does, without the actions that it never takes.

    Raises:
        UsageError: The series needs a variant to be named, or the variant cannot have produced the first snapshot.
    """
    if not (variant or series.variant):
        raise UsageError("No variant models the version of the snapshots. Name the nearest one with --variant.")
    labels = {**scenario.labels, **series.labels}
    taken = tuple(one for one in scenario.actions if series.never.isdisjoint((one.name, one.by.name)))
    begun = evolve(scenario, initial=series.initial, labels=labels, actions=taken)
    other = {name: setting for name, setting in series.flags.items() if scenario.flags.get(name) != setting}
    model = Model(begun, variant or series.variant, series.bounds, other)
    for required in series.requires:
        if model.binding.flags[required.flag] != required.setting:
            raise UsageError(f"{required.text} (got {model.variant}).")
    return model


def whole_model(model: Model, scenario: Scenario) -> Model:
    """Return the model with all actions of the scenario, as a command reads it that shows a saved trace."""
    whole = evolve(model.scenario, actions=scenario.actions)
    return Model(whole, model.variant, model.binding.bounds, model.flag_overrides)


def explained(
    pairs: Sequence[tuple[Model, Series]], options: ExplainOptions, began: float | None = None
) -> list[ReportedExplanation]:
    """Return the explanation of each series; they share the time budget.

    Of several series, each is searched for some seconds; those that are undecided then are searched again, with half of
    the time and with all of it, while and when their models are compiled, until no time is left.

    Args:
        pairs: The series, each with its model.
        options: The options.
        began: When the time of the budget began, in seconds of the monotonic clock; None for now.

    Raises:
        InternalError: An action of the model fails.
    """
    start = time.monotonic() if began is None else began
    reports: dict[int, ReportedExplanation] = {}
    is_alone = len(pairs) == 1 or options.seconds is None
    rounds: Iterable[Round] = [(1.0, None)] if is_alone else chain(ROUNDS, repeat(ROUNDS[-1]))
    with CompilationQueue() as queue:
        for part, most in rounds:
            left = [place for place in range(len(pairs)) if _is_unsettled(reports.get(place))]
            searched = 0
            for count, place in enumerate(left):
                now = time.monotonic() if reports else start
                share = options.seconds
                if share is not None:
                    share = (start + share * part - time.monotonic()) / (len(left) - count) + time.monotonic() - now
                    share = share if most is None else min(share, most)
                    if place in reports and share < LEAST_SECONDS:
                        continue
                model, series = pairs[place]
                wanted = evolve(options, began=now, seconds=share, queue=queue)
                found = _along_others(model, series, list(reports.values()), wanted) or _beside_snapshots_alone(
                    _climbed(model, series, wanted), model, series, wanted
                )
                reports[place] = _better(reports.get(place), found)
                searched += 1
            if not searched and part == 1.0:
                break
    return [reports[place] for place in range(len(pairs))]


Round = tuple[float, float | None]
ROUNDS: tuple[Round, ...] = ((0.5, 3.0), (0.5, None), (1.0, None))
"""For each round over several series the part of the time budget after which it ends, and the most seconds of one. The
last one is repeated while time is left: a model may have been compiled since the first series was searched there."""
LEAST_SECONDS = 2.0
"""The least time for which an undecided series is searched again."""


def _is_unsettled(report: ReportedExplanation | None) -> bool:
    return report is None or (report.fit is Fit.UNDECIDED and report.explanation.how.startswith("time"))


def _better(before: ReportedExplanation | None, now: ReportedExplanation) -> ReportedExplanation:
    """Return the later report, unless both are undecided and the earlier one came further, or nearer."""
    if before is None or now.fit is not Fit.UNDECIDED or now.explanation.mismatch is None:
        return now
    was = before.explanation.mismatch
    return before if was is not None and was.is_better_than(now.explanation.mismatch) else now


def _beside_snapshots_alone(
    report: ReportedExplanation, model: Model, series: Series, options: ExplainOptions
) -> ReportedExplanation:
    """Return the report; if no behaviour fits snapshots and logs, with the answer about the snapshots alone."""
    if report.fit is not Fit.REFUSED or not series.logs:
        return report
    return evolve(report, without_logs=_climbed(model, series.without_logs, options).fit)


def _along_others(
    model: Model, series: Series, others: Sequence[ReportedExplanation], options: ExplainOptions
) -> ReportedExplanation | None:
    """Return an explanation with the events of the whole system that explain other series; None if none is found."""
    explained = [other for other in others if other.fit is Fit.EXPLAINED and other.series.common]
    if not explained:
        return None
    happened: dict[str, frozenset[str]] = {}
    for other in explained:
        for name, events in events_along(other.model, other.series, other.explanation).items():
            happened[name] = happened.get(name, frozenset()) | events
    searched = [(model, series, "")]
    if any(other.tried for other in explained) and series.wider is not None:
        searched.append((*_widened(model, series, series.wider), series.wider.assumes))
    start, seconds = time.monotonic() if options.began is None else options.began, options.seconds
    for count, (one, shown, tried) in enumerate(searched, start=1):
        end = None if seconds is None else seconds * SHARE_ALONG * count / len(searched)
        found = explain_along(one, shown, happened, evolve(options, began=start, seconds=end))
        if found is not None:
            return ReportedExplanation(one, shown, found, options.command, tried=tried)
    return None


SHARE_ALONG = 0.3
"""The share of the time for a search with the events of other series."""


def _widened(model: Model, series: Series, wider: Series) -> tuple[Model, Series]:
    """Return the wider series with its model."""
    begun = evolve(model.scenario, initial=wider.initial)
    flags = {name: setting for name, setting in wider.flags.items() if begun.flags.get(name) != setting}
    named = evolve(wider, name=series.name, refused=series.refused)
    return Model(begun, model.variant, wider.bounds, flags), named


def _climbed(model: Model, series: Series, options: ExplainOptions) -> ReportedExplanation:
    """Return the explanation; if there is none, that of the wider series."""
    wider = series.wider
    if wider is None:
        return ReportedExplanation(model, series, explain(model, None, series, options), options.command)
    other, named = _widened(model, series, wider)
    is_wider, answer = explain_widening((model, series), (other, named), options)
    if is_wider:
        return ReportedExplanation(other, named, answer, options.command, tried=wider.assumes)
    left = wider.assumes if answer.fit is Fit.REFUSED else ""
    return ReportedExplanation(model, series, answer, options.command, left=left)


def _explained(pairs: Sequence[tuple[Model, Series]], options: Namespace, began: float) -> list[ReportedExplanation]:
    """Return the explanations; report progress on stderr."""
    seconds, command = options.seconds or SECONDS, command_line(options, options.snapshots)
    with shown_on_stderr() as report:
        wanted = ExplainOptions(seconds=seconds, report=report, command=command, **present(vars(options), "events"))
        return explained(pairs, wanted, began)


def _deliver(
    reports: Sequence[ReportedExplanation], of: tuple[str, Scenario], out: OutFolder, options: Namespace, began: float
) -> int:
    """Write the traces with their pages, print the answers; return the exit code of the worst."""
    files: list[dict[str, Path]] = []
    damage = _damage(of[1], options, began) if any(report.trace for report in reports) else None
    with Written() as written:
        for report in reports:
            trace, story = report.explanation.trace, report.story_with_snapshots
            if trace is None or story is None:
                files.append({})
                continue
            incident = _incident(report, damage, options)
            lead, about = (incident.lead(), incident_object(incident)) if incident else (None, None)
            whole = whole_model(report.model, own_scenario(of[1], report.series))
            full = stamped(trace, whole, report.series.scenario or of[0], lifts=False)
            files.append(save(report.model, full, out, story=story, lead=lead, about=about))
    explained = list(zip(reports, files, strict=True))
    blocks = (block for pair in explained for block in _text(*pair, unfold=options.unfold))
    data = partial(explanations_object, [(report, kept.get("trace")) for report, kept in explained])
    return deliver(options, data, blocks, written, code=exit_code_of(reports), command=reports[-1].command)


def _text(report: ReportedExplanation, files: Mapping[str, Path], *, unfold: bool) -> Iterator[Printable]:
    """Yield an explanation, then its files."""
    yield from explanation_text(report, unfold=unfold)
    yield CodeBlock(tuple(f"{LABELS[kind]}: {path}" for kind, path in files.items()), 2)


def _damage(scenario: Scenario, options: Namespace, began: float) -> tuple[Inspection, Recovery | None] | None:
    """Return what is wrong in the last snapshot, and a plan of repair if the time budget leaves time for one."""
    snapshot = options.snapshots[-1]
    inspection = inspection_of(scenario, snapshot)
    if inspection is None:
        return None
    deadline = began + (options.seconds or SECONDS)
    if deadline - time.monotonic() < 1:
        return inspection, None
    with shown_on_stderr() as progress:
        return inspection, planned_until(problem_of(scenario, snapshot, inspection), progress, deadline)


def _incident(
    report: ReportedExplanation, damage: tuple[Inspection, Recovery | None] | None, options: Namespace
) -> Incident | None:
    """Return what is wrong in the last snapshot, with the steps that led there; None if nothing inspects it."""
    trace, story = report.explanation.trace, report.story_with_snapshots
    if damage is None or trace is None or story is None:
        return None
    inspection, recovery = damage
    return Incident(
        options.snapshots[-1],
        inspection,
        recovery,
        since=since_of(inspection, report.model, trace, story),
        cause=cause_of(story),
        history=tuple(history_of(report)),
        facts=report.series.facts,
    )


def _zone_seconds(zone: str) -> float:
    """Return by how many seconds a time zone, +HH:MM or -HH:MM, is ahead of UTC."""
    ahead = 3600.0 * int(zone[1:3]) + 60.0 * int(zone[4:6])
    return -ahead if zone[0] == "-" else ahead
