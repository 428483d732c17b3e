"""Experiments: what is done to a real cluster, what is expected, and how often it was seen.

Words: a *round* is one try with a topic of its own. An experiment is *fresh* if each round needs a new cluster. What a
round saw is its *outcome*, a short text, and whether the effect that the experiment is about was among it. The
*evidence* is a folder: for each round its events, captures and log lines, and `result.json` for all of them.
"""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from typing import Any

from attrs import evolve, field, frozen

from kwalk.clusters.lab.cluster import Lab, LabOptions, LogLine
from kwalk.model.language import KwalkError, UsageError
from kwalk.search.base.atomic_files import save
from kwalk.search.base.progress import Progress, Report, silent

RESULT = "result.json"
MARK = "experiment.json"
"""The file that shows that a folder holds the evidence of an experiment, and may be replaced by that of a later run."""


@frozen
class RoundOutcome:
    """What a round saw: a short text that outcomes are counted by, whether the effect was there, and details."""

    outcome: str
    seen: bool
    details: Mapping[str, Any] = field(factory=dict)


class ExperimentRound:
    """One try: its topic, and what it leaves as evidence."""

    def __init__(self, number: int, lab: Lab, folder: Path) -> None:
        self.number, self.lab, self.folder = number, lab, folder
        self.topic = f"t{number}"
        self.files: dict[str, str] = {}
        self.captures = 0
        self.first_event = len(lab.events)
        self.marks = lab.marks()

    def capture(self, label: str, extra: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Take a snapshot and keep it as a file that is named after its number and label."""
        taken = self.lab.capture(label, extra)
        self.keep_snapshot(label, json.dumps(taken, indent=1))
        return taken

    def keep_snapshot(self, label: str, text: str) -> None:
        """Keep a snapshot as a file that is named after its number and label."""
        self.files[f"{self.captures:02}-{re.sub('[^a-z0-9]+', '-', label.lower())}.json"] = text
        self.captures += 1

    def lines(self, log: str, pattern: str, *, broker: int | None = None) -> list[LogLine]:
        """Return the lines of a log since the round began that contain a pattern."""
        return self.lab.lines(log, pattern, broker=broker, since=self.marks)

    def keep_lines(self, pattern: str, logs: Iterable[str] = ("controller", "state-change", "server")) -> None:
        """Keep the lines of all brokers' logs that contain a pattern, by their times."""
        found = sorted((line for log in logs for line in self.lines(log, pattern)), key=lambda line: line.time)
        self.files["lines.txt"] = "".join(f"{line}\n" for line in found)

    def save(self, observation: RoundOutcome) -> None:
        """Write the evidence of the round."""
        self.files["events.txt"] = "".join(f"{event}\n" for event in self.lab.events[self.first_event :])
        self.files["observation.json"] = json.dumps(_observed(self.number, observation), indent=1)
        for name, text in self.files.items():
            save(self.folder / name, text.encode())


@frozen
class Experiment:
    """A claim about real brokers, and how to try it.

    Args:
        name: Its name.
        about: What is done, in one sentence.
        expected: What is expected, in one sentence.
        story: The page that makes the claim, from `docs/stories`.
        run: Does one round.
        predicted: Whether the effect is expected with a release.
        options: The cluster.
        releases: The releases that it is for.
        rounds: How many rounds by default.
        fresh: Whether each round has a cluster of its own.
        is_ordered: Whether proxies or signals force the order of events; then how often it is seen says nothing about
            clusters in which nothing is forced.
    """

    name: str
    about: str
    expected: str
    story: str
    run: Callable[[Lab, ExperimentRound], RoundOutcome]
    predicted: Callable[[str], bool] = lambda release: True
    options: LabOptions = field(factory=LabOptions)
    releases: tuple[str, ...] = ("2.8.2", "3.9.0")
    rounds: int = 1
    fresh: bool = True
    is_ordered: bool = False


@frozen
class ExperimentResult:
    """What an experiment saw with a release."""

    experiment: Experiment
    release: str
    observations: tuple[RoundOutcome, ...]
    seconds: float
    folder: Path

    @property
    def occurrences(self) -> int:
        """In how many rounds the effect was seen."""
        return sum(observation.seen for observation in self.observations)

    @property
    def as_predicted(self) -> bool:
        """Whether it was seen at least once, or never if it is not expected with this release."""
        return (self.occurrences > 0) == self.experiment.predicted(self.release)

    @property
    def outcomes(self) -> dict[str, int]:
        """How often each outcome was seen, the most frequent first."""
        return dict(Counter(observation.outcome for observation in self.observations).most_common())


def wilson(successes: int, rounds: int) -> tuple[float, float]:
    """Return the 95 % confidence interval of a rate (E. B. Wilson, 1927)."""
    if not rounds:
        return 0.0, 1.0
    z, rate = 1.96, successes / rounds
    middle = rate + z * z / (2 * rounds)
    width = z * math.sqrt(rate * (1 - rate) / rounds + z * z / (4 * rounds * rounds))
    scale = 1 + z * z / rounds
    return max(0.0, (middle - width) / scale), min(1.0, (middle + width) / scale)


def run_experiment(
    experiment: Experiment, release: str, folder: Path, *, rounds: int | None = None, report: Report = silent
) -> ExperimentResult:
    """Run an experiment, and keep its evidence.

    Args:
        experiment: The experiment.
        release: The version of the brokers.
        folder: The folder of the evidence; that of an earlier run of an experiment is replaced.
        rounds: How many rounds.
        report: Called with the progress, in rounds.

    Raises:
        UsageError: The folder has other files.
        KwalkError: The cluster does not start, or a step of the experiment is not possible.
    """
    total, start = rounds or experiment.rounds, time.monotonic()
    _prepare(folder, experiment, release)
    observations: list[RoundOutcome] = []
    for observation in _observations(experiment, release, folder, total, report):
        observations.append(observation)
        spent = time.monotonic() - start
        left = spent / len(observations) * (total - len(observations))
        report(Progress(experiment.name, len(observations), "rounds", spent, total, left, observation.outcome))
        result = ExperimentResult(experiment, release, tuple(observations), spent, folder)
        save(folder / RESULT, (json.dumps(result_object(result), indent=1) + "\n").encode())
    return result


def _prepare(folder: Path, experiment: Experiment, release: str) -> None:
    if folder.is_dir() and any(folder.iterdir()) and not (folder / MARK).exists():
        raise UsageError(f"{str(folder)!r} is not empty, and holds no evidence. Name a new folder with --out.")
    shutil.rmtree(folder, ignore_errors=True)
    save(folder / MARK, json.dumps({"experiment": experiment.name, "release": release}).encode())


def _observations(
    experiment: Experiment, release: str, folder: Path, total: int, report: Report
) -> Iterator[RoundOutcome]:
    options = evolve(experiment.options, release=release)
    with ExitStack() as stack:
        lab: Lab | None = None
        for number in range(total):
            if experiment.fresh or lab is None:
                cluster = folder / (f"cluster-{number}" if experiment.fresh else "cluster")
                lab = stack.enter_context(Lab(cluster, options, report=report))
            yield _observe(experiment, lab, ExperimentRound(number, lab, folder / f"round-{number}"))
            if experiment.fresh or number + 1 == total:
                stack.close()
                _drop_data(lab)


def _observe(experiment: Experiment, lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Do one round; an error of the lab in it is written to its evidence, too."""
    try:
        observation = experiment.run(lab, this)
    except KwalkError as error:
        this.save(RoundOutcome(f"error: {error}", seen=False))
        raise
    this.save(observation)
    return observation


def _drop_data(lab: Lab) -> None:
    """Remove the records and ZooKeeper's files of a lab that has ended; logs and configurations stay."""
    controllers = lab.folder.glob("*controller*/data")
    for folder in (lab.folder / "zookeeper", *controllers, *(root for b in lab.brokers.values() for root in b.roots)):
        shutil.rmtree(folder, ignore_errors=True)


def result_object(result: ExperimentResult) -> dict[str, Any]:
    """Return the result as a JSON object."""
    experiment = result.experiment
    return {
        "experiment": experiment.name,
        "release": result.release,
        "about": experiment.about,
        "expected": experiment.expected,
        "story": experiment.story,
        "is_ordered": experiment.is_ordered,
        "predicted": experiment.predicted(result.release),
        "as_predicted": result.as_predicted,
        "rounds": len(result.observations),
        "seen": result.occurrences,
        "interval": [round(bound, 3) for bound in wilson(result.occurrences, len(result.observations))],
        "outcomes": result.outcomes,
        "seconds": round(result.seconds, 1),
        "machine": {"cores": os.cpu_count(), "load": [round(load, 1) for load in os.getloadavg()]},
        "ended": datetime.now().isoformat(timespec="seconds"),
        "observations": [_observed(number, one) for number, one in enumerate(result.observations)],
    }


def _observed(number: int, observation: RoundOutcome) -> dict[str, Any]:
    return {"round": number, "outcome": observation.outcome, "seen": observation.seen, **observation.details}
