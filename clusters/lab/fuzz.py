"""Random histories of real clusters: has the model a behaviour for them, and are the diagnoses of snapshots right?

Words: the *judge* of a history (see `histories`) is `kwalk diagnose --explain`. A *misfit* is one that no behaviour
fits, or that it refuses: a mistake of the model or of the reader of snapshots. A *case* is the folder of a
history: its operations, its snapshots with their probes (see `probes`), what the brokers have logged, its verdict.

One cluster serves several histories. Between two of them all brokers are started, the topics are deleted, and another
controller is elected. If the cluster does not reach rest then, or znodes were removed by hand, or something followed
that the model does not have, or a controller has left requests in its batch, the next history has a new cluster.
"""

from __future__ import annotations

import json
import shutil
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from enum import Enum
from pathlib import Path
from typing import Any

from attrs import frozen

from kwalk.clusters.lab.cluster import Lab, LabOptions
from kwalk.clusters.lab.forecasts import forecast_verdicts
from kwalk.clusters.lab.histories import (
    BROKER_LOGS,
    OPERATIONS,
    ROLLED,
    SEQUEL,
    FuzzOperation,
    draw_history,
    reset,
    run_history,
)
from kwalk.clusters.lab.probes import ProbeClass, ProbeVerdict, probe_lines, probe_object, probe_verdicts
from kwalk.clusters.lab.processes import ProcessGroup
from kwalk.model.language import KwalkError, UsageError
from kwalk.search.base.atomic_files import save
from kwalk.search.base.progress import Progress, Report, silent

MARK, VERDICT = "fuzz.json", "verdict.json"
ROUNDS, LENGTH, SECONDS = 10, 12, 60.0
"""The defaults: histories, operations of each, and seconds to explain one."""


class HistoryClass(Enum):
    """What became of a history; the value is its name in tables."""

    EXPLAINED = "explained"
    MISFIT = "no behaviour fits"
    REFUSED = "refused"
    FAILED = "explain failed"
    OUT_OF_TIME = "out of time"
    EMPTY = "no topic"
    LAB_FAILED = "lab failed"

    @property
    def is_misfit(self) -> bool:
        """Whether it is kept as a mistake of the model or of the reader of snapshots."""
        return self in (HistoryClass.MISFIT, HistoryClass.REFUSED, HistoryClass.FAILED)


COMPILING = 300
"""Seconds that `kwalk diagnose --explain` has to compile a model, which its own budget does not count."""
CODES = {0: HistoryClass.EXPLAINED, 12: HistoryClass.MISFIT, 2: HistoryClass.REFUSED, 3: HistoryClass.OUT_OF_TIME}
"""By the exit code of `kwalk diagnose --explain`."""


@frozen
class HistoryVerdict:
    """The class of a history, what `kwalk diagnose --explain` printed first, and its seconds."""

    kind: HistoryClass
    headline: str
    seconds: float


Announce = Callable[[str], None]
"""What receives a line of text, to print it or not."""
Judge = Callable[[Sequence[Path], float], HistoryVerdict]


def explained_by_command(snapshots: Sequence[Path], seconds: float) -> HistoryVerdict:
    """Run `kwalk diagnose --explain` in a process of its own: its memory ends with it, and it ends with this process.

    The process runs in the folder of the snapshots, so that their paths must not depend on the present folder.
    """
    if not any(json.loads(path.read_text())["topics"] for path in snapshots):
        return HistoryVerdict(HistoryClass.EMPTY, "no snapshot shows a topic, so there is nothing to explain", 0.0)
    snapshots = [path.absolute() for path in snapshots]
    case, begun = snapshots[0].parent, time.monotonic()
    command = [
        sys.executable,
        "-m",
        "kwalk.reports.command_line",
        "diagnose",
        "--explain",
        "--json",
        "--seconds",
        f"{seconds:g}",
        "--out",
        str(case / "explained"),
        *map(str, snapshots),
    ]
    answer = case / "explained.json"
    (case / "explain.out").unlink(missing_ok=True)
    with ProcessGroup() as processes:
        process = processes.start("explain", ["/bin/sh", "-c", 'exec "$@" > "$0"', str(answer), *command], case)
        has_ended = process.wait(COMPILING + 4 * seconds)
    spent = time.monotonic() - begun
    if not has_ended:
        return HistoryVerdict(HistoryClass.OUT_OF_TIME, "ended from outside, before it was done", spent)
    kind = CODES.get(process.process.returncode, HistoryClass.FAILED)
    if kind in (HistoryClass.REFUSED, HistoryClass.FAILED):
        return HistoryVerdict(kind, process.last_lines(1), spent)
    return HistoryVerdict(kind, json.loads(answer.read_text())["headline"], spent)


# Many histories.


@frozen
class FuzzOptions:
    """What is done.

    Args:
        release: The version of the brokers.
        rounds: The number of histories.
        seed: The seed; histories are numbered from 0.
        operations: The number of operations of a history.
        seconds: The time budget of `kwalk diagnose --explain` for one history.
        minimize: Whether operations are left out of misfits while they still misfit.
    """

    release: str
    rounds: int = ROUNDS
    seed: int = 0
    operations: int = LENGTH
    seconds: float = SECONDS
    minimize: bool = False


@frozen
class JudgedHistory:
    """A history with its verdict, and those on the diagnoses; `kept` is the number of operations after minimization."""

    number: int
    folder: Path
    verdict: HistoryVerdict
    operations: int
    kept: int | None = None
    probes: tuple[ProbeVerdict, ...] = ()


@frozen
class FuzzResult:
    """What many histories gave. `clusters` were started; `spent` are the seconds of this run, for `ran` histories."""

    options: FuzzOptions
    histories: tuple[JudgedHistory, ...]
    folder: Path
    spent: float
    ran: int
    clusters: int

    @property
    def counts(self) -> dict[str, int]:
        """How many histories each class has."""
        found = Counter(each.verdict.kind for each in self.histories)
        return {kind.value: found[kind] for kind in HistoryClass}

    @property
    def misfits(self) -> tuple[JudgedHistory, ...]:
        """The histories that the model, or the reader of snapshots, gets wrong."""
        return tuple(each for each in self.histories if each.verdict.kind.is_misfit)

    @property
    def probes(self) -> tuple[ProbeVerdict, ...]:
        """What became of each comparison of a diagnosis with a probe."""
        return tuple(probe for each in self.histories for probe in each.probes)

    @property
    def per_minute(self) -> float:
        """Histories for each minute of this run."""
        return 60 * self.ran / self.spent if self.spent else 0.0

    @property
    def exit_code(self) -> int:
        """12 if there is a misfit or a wrong diagnosis, 3 if a history has no answer, else 0."""
        if self.misfits or any(probe.kind is ProbeClass.WRONG for probe in self.probes):
            return 12
        return 0 if all(each.verdict.kind is HistoryClass.EXPLAINED for each in self.histories) else 3


class Fuzz:
    """A run of histories on clusters that serve one after another."""

    def __init__(self, options: FuzzOptions, folder: Path, report: Report, announce: Announce, judge: Judge):
        self.options, self.folder, self.report, self.announce, self.judge = options, folder, report, announce, judge
        self.lab: Lab | None = None
        self.clusters, self.ran, self.begun = 0, 0, time.monotonic()

    def run(self) -> FuzzResult:
        """Run what is not there yet, judge what is not judged, minimize misfits; the folder has all of it."""
        self._claim()
        pending: list[tuple[int, Future[HistoryVerdict]]] = []
        with ThreadPoolExecutor(1) as pool:
            try:
                for number in range(self.options.rounds):
                    if not (self._case(number) / VERDICT).exists():
                        self._run_one(number)
                        pending.append((number, pool.submit(self._judged, number)))
                    self._progress(number + 1)
                self._end_cluster()
                for _, future in pending:
                    future.result()
                kept = self._minimized()
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
            finally:
                self._end_cluster()
        histories = tuple(self._read(number, kept) for number in range(self.options.rounds))
        spent = time.monotonic() - self.begun
        return FuzzResult(self.options, histories, self.folder, spent, self.ran, self.clusters)

    def _claim(self) -> None:
        """Take the folder for this run, or continue the same run in it."""
        wanted = {"release": self.options.release, "seed": self.options.seed, "operations": self.options.operations}
        mark = self.folder / MARK
        if mark.exists() and json.loads(mark.read_text()) != wanted:
            raise UsageError(
                f"{str(self.folder)!r} has histories of another seed, version or length. Name a new folder with --out."
            )
        if not mark.exists() and self.folder.is_dir() and any(self.folder.iterdir()):
            raise UsageError(f"{str(self.folder)!r} is not empty, and has no histories. Name a new folder with --out.")
        save(mark, json.dumps(wanted).encode())

    def _case(self, number: int) -> Path:
        return self.folder / f"history-{number:04}"

    def _operations(self, number: int) -> list[FuzzOperation]:
        return draw_history(f"{self.options.release}/{self.options.seed}/{number}", self.options.operations)

    def _progress(self, count: int) -> None:
        spent = time.monotonic() - self.begun
        left = spent / self.ran * (self.options.rounds - count) if self.ran else None
        self.report(Progress("fuzz", count, "histories", spent, self.options.rounds, left, f"{self.clusters} clusters"))

    def _run_one(self, number: int) -> None:
        """Run one history, unless its snapshots are there already."""
        if not (self._case(number) / OPERATIONS).exists():
            self._perform(self._operations(number), self._case(number), f"h{number}")
            self.ran += 1

    def _perform(self, operations: Sequence[FuzzOperation], case: Path, topic: str) -> None:
        """Do operations on a cluster, and prepare it for the next history or end it."""
        shutil.rmtree(case, ignore_errors=True)
        try:
            hands = run_history(self._cluster(), topic, operations, case)
            if not reset(hands):
                self._end_cluster()
        except (KwalkError, OSError, ValueError) as error:
            self._end_cluster()
            _save_verdict(case, HistoryVerdict(HistoryClass.LAB_FAILED, str(error), 0.0))

    def _cluster(self) -> Lab:
        if self.lab is None:
            self.clusters += 1
            settings = {
                "controlled.shutdown.max.retries": 1,
                "auto.leader.rebalance.enable": "true",
                "leader.imbalance.check.interval.seconds": 300,
            }
            options = LabOptions(
                release=self.options.release, brokers=3, proxied=True, settings=settings, directories=2
            )
            lab = Lab(self.folder / "cluster", options, report=self.report)
            self.lab = lab.__enter__()
        return self.lab

    def _end_cluster(self) -> None:
        if self.lab is not None:
            self.lab.close()
            self.lab = None

    def _judged(self, number: int) -> HistoryVerdict:
        """Return the verdict of a history, and save it."""
        case = self._case(number)
        verdict = _verdict(case) or self.judge(_snapshots(case), self.options.seconds)
        _save_verdict(case, verdict)
        self.announce(f"history {number}: {verdict.kind.value} ({verdict.seconds:.0f} s)  {verdict.headline}")
        return verdict

    def _minimized(self) -> dict[int, int]:
        """Leave operations out of misfits while they still misfit; return how many are left, by history."""
        kept = {}
        for number in range(self.options.rounds if self.options.minimize else 0):
            verdict = _verdict(self._case(number))
            if verdict is not None and verdict.kind.is_misfit:
                kept[number] = self._minimize(number, verdict.kind)
        return kept

    def _minimize(self, number: int, kind: HistoryClass) -> int:
        """Find fewer snapshots, and then fewer operations, of the same class; return the number of operations."""
        done = self._case(number) / "minimized" / MARK
        if done.exists():
            return int(json.loads(done.read_text())["operations"])
        last = self._fewest_snapshots(number, kind)
        least = self._fewest_operations(number, kind, last)
        shutil.rmtree(self._case(number) / "trial", ignore_errors=True)
        save(done, json.dumps({"operations": len(least)}).encode())
        return len(least)

    def _fewest_snapshots(self, number: int, kind: HistoryClass) -> str:
        """Leave snapshots out while the rest still misfits, without a cluster; return the name of the last one.

        The folder `fewest-snapshots` has them, unless all are needed.
        """
        shown = _snapshots(self._case(number))
        least = next((shown[:end] for end in range(1, len(shown)) if self._is_same(number, shown[:end], kind)), shown)
        for each in list(least):
            fewer = [snapshot for snapshot in least if snapshot != each]
            if fewer and self._is_same(number, fewer, kind):
                least = fewer
        self.announce(f"history {number}: still {kind.value} with {len(least)} of {len(shown)} snapshots")
        return least[-1].name

    def _is_same(self, number: int, snapshots: Sequence[Path], kind: HistoryClass) -> bool:
        """Judge some snapshots of a history in a folder of their own, and keep the folder if the class is this one."""
        trial, fewest = self._case(number) / "trial", self._case(number) / "fewest-snapshots"
        shutil.rmtree(trial, ignore_errors=True)
        trial.mkdir()
        for snapshot in snapshots:
            shutil.copy(snapshot, trial)
        found = self.judge(_snapshots(trial), self.options.seconds)
        _save_verdict(trial, found)
        if found.kind is kind:
            shutil.rmtree(fewest, ignore_errors=True)
            trial.rename(fewest)
        return found.kind is kind

    def _fewest_operations(self, number: int, kind: HistoryClass, last: str) -> Sequence[FuzzOperation]:
        """Leave operations out, beginning with the last ones; each trial is a history of its own on a cluster.

        What comes after the last snapshot that is needed goes first. If that does not misfit, the misfit depends on
        moments that a cluster does not repeat: then all operations are returned.
        """
        everything = self._operations(number)
        noted = json.loads((self._case(number) / OPERATIONS).read_text()).get("operations", [])
        ends = (place for place, operation in enumerate(noted, start=1) if operation.get("snapshot") == last)
        end = next(ends, len(everything))
        least = everything[:end]
        if not self._misfits(number, least, kind, "m"):
            self.announce(f"history {number}: {kind.value} does not come again with the same operations")
            return everything
        for place in reversed(range(len(least))):
            fewer = [*least[:place], *least[place + 1 :]]
            if fewer and self._misfits(number, fewer, kind, f"m{place}"):
                least = fewer
                self.announce(f"history {number}: still {kind.value} with {len(least)} operations")
        return least

    def _misfits(self, number: int, operations: Sequence[FuzzOperation], kind: HistoryClass, suffix: str) -> bool:
        """Do operations on a cluster; return whether the class is this one, and keep the folder if so."""
        trial, case = self._case(number) / "trial", self._case(number) / "minimized"
        self._perform(operations, trial, f"h{number}{suffix}")
        found = _verdict(trial) or self.judge(_snapshots(trial), self.options.seconds)
        if found.kind is kind:
            _save_verdict(trial, found)
            shutil.rmtree(case, ignore_errors=True)
            trial.rename(case)
        return found.kind is kind

    def _read(self, number: int, kept: Mapping[int, int]) -> JudgedHistory:
        case = self._case(number)
        verdict = _verdict(case)
        assert verdict is not None
        rolled = [case / ROLLED] if (case / ROLLED).exists() else []
        probes = probe_verdicts([*_snapshots(case), *rolled, *sorted(case.glob(f"{SEQUEL}-*.json"))])
        compared = (*probes, *forecast_verdicts(case))
        return JudgedHistory(number, case, verdict, self.options.operations, kept.get(number), compared)


def _snapshots(case: Path) -> list[Path]:
    return sorted(case.glob("[0-9]*.json"))


def _verdict(case: Path) -> HistoryVerdict | None:
    if not (case / VERDICT).exists():
        return None
    found = json.loads((case / VERDICT).read_text())
    return HistoryVerdict(HistoryClass(found["class"]), found["headline"], found["seconds"])


def _save_verdict(case: Path, verdict: HistoryVerdict) -> None:
    found = {"class": verdict.kind.value, "headline": verdict.headline, "seconds": round(verdict.seconds, 1)}
    save(case / VERDICT, (json.dumps(found, indent=1) + "\n").encode())


def fuzz_lab(
    options: FuzzOptions,
    folder: Path,
    *,
    report: Report = silent,
    announce: Announce = lambda _: None,
    judge: Judge = explained_by_command,
) -> FuzzResult:
    """Run random histories on real clusters, and judge them.

    Args:
        options: What is done.
        folder: The folder of the cases. A run that was interrupted continues there.
        report: Receives the progress.
        announce: Receives a line for each verdict.
        judge: What judges the snapshots of a history.

    Raises:
        UsageError: The folder has something else.
    """
    return Fuzz(options, folder, report, announce, judge).run()


def fuzz_lines(result: FuzzResult) -> Iterator[str]:
    """Yield the table of a run."""
    total, seconds = len(result.histories), [each.verdict.seconds for each in result.histories]
    options = result.options
    yield f"version {options.release}, seed {options.seed}: {total} histories of {options.operations} operations"
    for name, count in result.counts.items():
        yield f"  {count:>4}  {name}"
    if seconds:
        yield f"  explain: {statistics.median(seconds):.0f} s in the median, {max(seconds):.0f} s at most"
    if result.ran:
        yield f"  {result.ran} histories run now, {result.per_minute:.1f} a minute, on {result.clusters} clusters"
        case = result.folder / "history-NNNN"
        yield f"  with the brokers' logs: kwalk diagnose --explain --logs {case / BROKER_LOGS} {case}/[0-9]*.json"
    for each in result.misfits:
        kept = "" if each.kept is None else f", minimized to {each.kept} operations"
        yield f"  misfit: {each.folder}{kept}"
        yield f"          {each.verdict.headline}"
    yield from probe_lines(result.probes)


def fuzz_object(result: FuzzResult) -> dict[str, Any]:
    """Return the result as a JSON object."""
    return {
        "release": result.options.release,
        "seed": result.options.seed,
        "rounds": result.options.rounds,
        "operations": result.options.operations,
        "counts": result.counts,
        "clusters": result.clusters,
        "ran": result.ran,
        "seconds": round(result.spent, 1),
        "per_minute": round(result.per_minute, 2),
        "folder": str(result.folder),
        "probes": probe_object(result.probes),
        "histories": [
            {
                "history": each.number,
                "class": each.verdict.kind.value,
                "headline": each.verdict.headline,
                "explain_seconds": each.verdict.seconds,
                "case": str(each.folder),
                "minimized": each.kept,
                "logs": str(each.folder / BROKER_LOGS) if (each.folder / BROKER_LOGS).is_dir() else None,
            }
            for each in result.histories
        ],
    }
