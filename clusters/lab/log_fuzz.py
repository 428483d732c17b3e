"""Comparisons of many random histories of one log, of several kinds, with what Kafka's own classes do."""

from __future__ import annotations

import random
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

from attrs import field, mutable

from kwalk.clusters.lab.cleaner_histories import CleanerHistory
from kwalk.clusters.lab.log_histories import LogHistory, LogSettings
from kwalk.clusters.lab.producer_histories import ProducerHistory
from kwalk.clusters.lab.segment_files import RealLog
from kwalk.model.language import UsageError

LENGTH = 40
"""Operations of a history."""
ROUNDS = 100
"""Histories of a run."""
RELEASES = ("2.8.2", "3.9.0")
"""Those whose class Log can be driven, and has a variant of the model."""
KINDS = (LogHistory, CleanerHistory, ProducerHistory)
"""The kinds of histories; each is compared on its own."""


@mutable
class LogDifference:
    """Where the model and the real log differ after the last of some operations."""

    seed: int
    settings: LogSettings
    operations: tuple[str, ...]
    details: tuple[str, ...]

    def lines(self) -> tuple[str, ...]:
        """Return it as text: the shortest prefix, and what the model has in place of what the real log has."""
        return (
            f"seed {self.seed}: {self.settings}",
            *(f"  {number}. {operation}" for number, operation in enumerate(self.operations, 1)),
            *(f"  model: {text}" for text in self.details),
        )


@mutable
class LogFuzz:
    """What some histories with one release have shown."""

    release: str
    kind: str
    histories: int = 0
    counts: Counter[str] = field(factory=Counter)
    differences: list[LogDifference] = field(factory=list)


def fuzz_logs(
    release: str,
    folder: Path,
    kind: type[LogHistory] = LogHistory,
    *,
    rounds: int,
    seed: int,
    operations: int = LENGTH,
    most: int = 5,
) -> LogFuzz:
    """Compare random histories, of which each has its own seed, until some differ.

    Args:
        release: The version of Kafka, which is a variant of the model.
        folder: Where logs are written; that of a history without a difference is removed.
        kind: One of `KINDS`.
        rounds: The number of histories.
        seed: That of the first history; the next one has the next seed.
        operations: The operations of a history.
        most: How many differences end the comparison.

    Raises:
        UsageError: the release is not one of `RELEASES`; the jars or Java are not there, or Java fails.
    """
    if release not in RELEASES:
        raise UsageError(f"Histories of logs run with version {' or '.join(RELEASES)}, not with {release}.")
    result = LogFuzz(release, kind.kind)
    with RealLog(release) as real:
        for one in range(seed, seed + rounds):
            source = random.Random(one)
            settings = kind.settings_class.of(source)
            path = folder / f"history-{one}" / "log-0"
            shutil.rmtree(path.parent, ignore_errors=True)
            path.mkdir(parents=True)
            with settings.binding(release, operations).active():
                history = kind(real, release, path, settings, source, kind.state(), result.counts)
                history.begin()
                found: list[str] = []
                while len(history.operations) < operations and not found and not history.is_over:
                    found = history.step()
            result.histories += 1
            if found:
                result.differences.append(LogDifference(one, settings, tuple(history.operations), tuple(found)))
                if len(result.differences) >= most:
                    break
            else:
                shutil.rmtree(path.parent)
    return result


def log_fuzz_lines(result: LogFuzz) -> list[str]:
    """Return what some histories have shown, as text."""
    counts = ", ".join(f"{name} {number:,}" for name, number in sorted(result.counts.items()))
    number = f"{result.histories:,} histories of one {result.kind}"
    head = f"version {result.release}: {number}; {len(result.differences)} differ"
    return [head, f"  {counts}", *(line for one in result.differences for line in one.lines())]


def log_fuzz_object(result: LogFuzz) -> dict[str, Any]:
    """Return what some histories have shown, as an object for `--json`."""
    return {
        "release": result.release,
        "kind": result.kind,
        "histories": result.histories,
        "counts": dict(sorted(result.counts.items())),
        "differences": [
            {
                "seed": one.seed,
                "settings": one.settings.line(),
                "operations": one.operations,
                "details": one.details,
            }
            for one in result.differences
        ],
    }
