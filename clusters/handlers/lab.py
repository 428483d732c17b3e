"""The command of the laboratory, which runs real clusters on this machine: `kwalk lab`."""

from __future__ import annotations

import json
import shutil
import sys
import time
from argparse import Namespace
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from itertools import product
from pathlib import Path
from posixpath import normpath
from tempfile import TemporaryDirectory
from typing import Any

from kwalk.clusters.lab import fuzz, log_fuzz
from kwalk.clusters.lab.cluster import Lab, LabOptions, capture_running
from kwalk.clusters.lab.experiments import EXPERIMENTS
from kwalk.clusters.lab.experiments.experiment import (
    Experiment,
    ExperimentResult,
    result_object,
    run_experiment,
    wilson,
)
from kwalk.clusters.lab.fuzz import FuzzOptions, FuzzResult, fuzz_lab, fuzz_lines, fuzz_object
from kwalk.clusters.lab.jars import jar_store
from kwalk.clusters.lab.log_fuzz import KINDS, RELEASES, fuzz_logs, log_fuzz_lines, log_fuzz_object
from kwalk.clusters.lab.replay import LabReplay, check_replayable, replay_object, replay_on_lab
from kwalk.model.language import UsageError
from kwalk.model.language.errors import one_of, unknown
from kwalk.reports.document import CodeBlock
from kwalk.reports.escaping import visible
from kwalk.reports.progress import shown_on_stderr
from kwalk.reports.reporter import announce, deliver
from kwalk.reports.traces.replay import open_trace
from kwalk.reports.traces.trace_file import read_trace
from kwalk.search.results.verdict import Answer

EVERY = "all"
"""The name that stands for all experiments."""
LOGS = "logs"
"""The name of what is fuzzed in place of clusters: one log."""
FOLDER = "lab"
"""The folder of a cluster, in the folder of the results."""


def run_lab(options: Namespace) -> int:
    """Do what the first word says; return its exit code."""
    options.general_releases = [release for broker, release in options.release if broker is None]
    options.releases_of_brokers = {broker: release for broker, release in options.release if broker is not None}
    return ACTIONS[options.action](options)


def _fetch(options: Namespace) -> int:
    """Download what releases need, without starting anything."""
    chosen = lab_options(options)
    releases = [*options.names, *({chosen.release, *chosen.releases.values()} if not options.names else ())]
    store = jar_store()
    with shown_on_stderr() as report:
        paths = store.class_path(releases, report)
    data = {"releases": list(paths), "folder": str(store.folder)}
    return deliver(options, lambda: data, [CodeBlock(tuple(f"{name}: complete in {store.folder}" for name in paths))])


def _start(options: Namespace) -> int:
    """Start a cluster, print where it is, and keep it until Ctrl-C or for a time."""
    _require_names(options, most=0)
    folder = Path(options.out) / FOLDER
    with shown_on_stderr() as report, Lab(folder, lab_options(options), report=report) as lab:
        code = deliver(options, lambda: _places(lab), [CodeBlock(tuple(_place_lines(_places(lab))))])
        sys.stdout.flush()
        with suppress(KeyboardInterrupt):
            _wait(lab, options.seconds)
    return code


def _places(lab: Lab) -> dict[str, Any]:
    """Return where a lab's folder is, and where its servers listen."""
    brokers = []
    for one in lab.brokers.values():
        process = None if one.process is None else one.process.pid
        brokers.append({"id": one.id, "port": one.port, "version": one.release, "process": process})
    return {"folder": str(lab.folder), "zookeeper": lab.zookeeper_port, "brokers": brokers}


def _place_lines(places: dict[str, Any]) -> Iterator[str]:
    yield from (f"Folder: {places['folder']}", f"ZooKeeper: 127.0.0.1:{places['zookeeper']}")
    for one in places["brokers"]:
        yield f"Broker {one['id']}: 127.0.0.1:{one['port']}, version {one['version']}, process {one['process']}"
    yield "Everything ends with this command (Ctrl-C)."


def _wait(lab: Lab, seconds: float | None) -> None:
    end = None if seconds is None else time.monotonic() + seconds
    while end is None or time.monotonic() < end:
        time.sleep(0.2 if end is None else max(0.0, min(0.2, end - time.monotonic())))


def _capture(options: Namespace) -> int:
    """Print a snapshot of the cluster in a folder."""
    _require_names(options, most=1)
    folder = Path(options.names[0]) if options.names else Path(options.out) / FOLDER
    print(json.dumps(capture_running(folder), indent=1))
    return 0


def _require_names(options: Namespace, *, most: int) -> None:
    if len(options.names) > most:
        raise UsageError(f"`kwalk lab {options.action}` does not take {options.names[most]!r}. See `kwalk lab --help`.")


def lab_options(options: Namespace) -> LabOptions:
    """Return what the options of the command say about the cluster."""
    general, single = options.general_releases, options.releases_of_brokers
    if len(general) > 1:
        raise UsageError(f"--release is given twice for all brokers: {general[0]} and {general[1]}. Give it once.")
    defaults = LabOptions()
    return LabOptions(
        release=general[0] if general else defaults.release,
        brokers=options.brokers or defaults.brokers,
        releases=single,
        proxied=options.proxied,
    )


def _list(options: Namespace) -> int:
    """List the experiments."""
    _require_names(options, most=0)
    blocks = []
    for experiment in EXPERIMENTS.values():
        how = "one round" if experiment.rounds == 1 else f"{experiment.rounds} rounds"
        forced = ", in a forced order" if experiment.is_ordered else ""
        facts = (
            experiment.name,
            f"  done      {experiment.about}",
            f"  expected  {experiment.expected}",
            f"  in        {how}{forced}; {_page(experiment)}",
        )
        blocks.append(CodeBlock(facts))
    return deliver(options, lambda: {"experiments": list(map(_experiment_object, EXPERIMENTS.values()))}, blocks)


def _experiment_object(experiment: Experiment) -> dict[str, Any]:
    facts = {name: getattr(experiment, name) for name in ("name", "about", "expected", "rounds")}
    return {**facts, "ordered": experiment.is_ordered, "page": _page(experiment)}


def _page(experiment: Experiment) -> str:
    return normpath(f"docs/stories/{experiment.story}")


def _reproduce(options: Namespace) -> int:
    """Run experiments, each with every release; 0 if all saw what is predicted, else 3."""
    if options.releases_of_brokers:
        raise UsageError("An experiment has brokers of one version: give --release VERSION without ID=.")
    chosen = list(EXPERIMENTS.values()) if options.names == [EVERY] else [_experiment(name) for name in options.names]
    if not chosen:
        raise UsageError(f"`kwalk lab reproduce` needs the name of an experiment. {one_of((*EXPERIMENTS, EVERY))}")
    results = []
    for experiment in chosen:
        for release in options.general_releases or experiment.releases:
            folder = Path(options.out) / experiment.name / release
            with shown_on_stderr() as report:
                results.append(run_experiment(experiment, release, folder, rounds=options.rounds, report=report))
            announce(options, _text(results[-1]))
    code = 0 if all(result.as_predicted for result in results) else Answer.UNDECIDED.exit_code
    return deliver(options, lambda: {"results": [*map(result_object, results)]}, (), code=code)


def _replay(options: Namespace) -> int:
    """Drive a real cluster along each trace; the exit code is that of the first one that is not reproduced."""
    if options.releases_of_brokers or options.general_releases:
        raise UsageError("A replay has brokers of the trace's own version: leave out --release.")
    if not options.names:
        raise UsageError("`kwalk lab replay` needs the file of a trace, as `kwalk exhaust` and `kwalk hunt` save it.")
    opened = [open_trace(read_trace(path)) for path in options.names]
    for each in opened:
        check_replayable(each.model, each.trace)
    results: list[tuple[LabReplay, Any]] = []
    say = partial(announce, options)
    for path, each in zip(options.names, opened, strict=True):
        folder = _evidence_folder(Path(options.out) / "replay" / Path(path).name.removesuffix(".itf.json"))
        for warning in each.warnings:
            say(visible(warning))
        say(f"{visible(path)}: {each.trace.length} steps; evidence {folder}")
        with shown_on_stderr() as report:
            result = replay_on_lab(each.model, each.trace, folder, report=report, announce=say)
        results.append((result, each.trace))
        say(f"{visible(result.headline)}\n  version   {result.release}\n  evidence  {result.folder}")
    code = next((result.answer.exit_code for result, _ in results if result.answer.exit_code), 0)
    return deliver(options, lambda: {"results": [replay_object(*each) for each in results]}, (), code=code)


def _fuzz(options: Namespace) -> int:
    """Run random histories with each release, and judge them; 12 if there is a misfit, 3 if one has no answer."""
    if options.names == [LOGS]:
        return _fuzz_logs(options)
    _require_names(options, most=0)
    if options.releases_of_brokers:
        raise UsageError("Random histories have brokers of one version: give --release VERSION without ID=.")
    results: list[FuzzResult] = []
    for release in options.general_releases or (lab_options(options).release,):
        wanted = FuzzOptions(
            release=LabOptions(release=release).release,
            rounds=options.rounds or fuzz.ROUNDS,
            seed=options.seed or 0,
            operations=options.operations or fuzz.LENGTH,
            seconds=options.seconds or fuzz.SECONDS,
            minimize=options.minimize,
        )
        folder = Path(options.out) / "fuzz" / f"{release}-seed-{wanted.seed}"
        say = partial(announce, options)
        say(f"version {release}: cases in {folder}")
        with shown_on_stderr() as report:
            results.append(fuzz_lab(wanted, folder, report=report, announce=say))
        for line in fuzz_lines(results[-1]):
            say(visible(line))
    codes = {result.exit_code for result in results}
    code = next(code for code in (12, 3, 0) if code in codes)
    return deliver(options, lambda: {"results": [*map(fuzz_object, results)]}, (), code=code)


def _fuzz_logs(options: Namespace) -> int:
    """Compare random histories of one log with the model, byte by byte; 12 if one differs."""
    results = []
    for release, kind in product(options.general_releases or RELEASES, KINDS):
        with TemporaryDirectory(prefix="kwalk-logs-") as folder:
            results.append(
                fuzz_logs(
                    release,
                    Path(folder),
                    kind,
                    rounds=options.rounds or log_fuzz.ROUNDS,
                    seed=options.seed or 0,
                    operations=options.operations or log_fuzz.LENGTH,
                )
            )
        for line in log_fuzz_lines(results[-1]):
            announce(options, visible(line))
    code = 12 if any(result.differences for result in results) else 0
    return deliver(options, lambda: {"results": [*map(log_fuzz_object, results)]}, (), code=code)


def _evidence_folder(folder: Path) -> Path:
    """Return an empty folder; one with the evidence of an earlier replay is emptied, any other is refused."""
    if folder.is_dir() and any(folder.iterdir()) and not (folder / "cluster").is_dir():
        raise UsageError(f"{str(folder)!r} is not empty, and holds no evidence. Name a new folder with --out.")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def _experiment(name: str) -> Experiment:
    if name not in EXPERIMENTS:
        raise unknown("experiment", name, EXPERIMENTS)
    return EXPERIMENTS[name]


def _text(result: ExperimentResult) -> str:
    """Return what an experiment saw, as text."""
    experiment, rounds = result.experiment, len(result.observations)
    low, high = wilson(result.occurrences, rounds)
    rate = "" if experiment.is_ordered or rounds < 2 else f" (95 % interval: {low:.0%} to {high:.0%})"
    predicted = "" if experiment.predicted(result.release) else "; it is not expected with this version"
    seen = f"seen in {result.occurrences} of {rounds} rounds"
    lines = [
        f"{experiment.name}, version {result.release}: {seen}{rate}{predicted}",
        f"  done      {experiment.about}",
        f"  expected  {experiment.expected}",
        *(f"  seen      {count} times: {visible(outcome)}" for outcome, count in result.outcomes.items()),
        f"  evidence  {result.folder}",
    ]
    return "\n".join(lines)


ACTIONS = {
    "fetch": _fetch,
    "start": _start,
    "capture": _capture,
    "list": _list,
    "reproduce": _reproduce,
    "replay": _replay,
    "fuzz": _fuzz,
}
