"""A small run, made by hand: two tasks, one of two rounds that found something, one that did not."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from attrs import evolve

from kwalk.search.night.folder import FORMAT, RunFolder
from kwalk.search.night.tables import ActionRow, ChunkRow, CoverageRow, FindingRow, RunRow, TaskRecord

SHAPE = "83b1f0c2a7de"


def manifest(**other: Any) -> dict[str, Any]:
    """The manifest of the small run, with some of it otherwise."""
    config = {"seed": 1, "tasks": [{"scenarios": ["die-hard", "lost-update"], "walks": 200}]}
    tasks = [
        {
            "task": n,
            "name": f"{name} default",
            "scenario": name,
            "variant": "default",
            "bounds": {},
            "flags": {},
            "engine": "walk",
            "fingerprint": f"{n:032}",
            "state": "complete",
            "why": "",
        }
        for n, name in enumerate(config["tasks"][0]["scenarios"])
    ]
    return {
        "format": FORMAT,
        "kwalk": "0.1.0",
        "python": "3.11.7",
        "spark": "4.3.0",
        "java": "17.0.15",
        "platform": "Linux",
        "cpu": "generic",
        "commit": None,
        "dirty": None,
        "config": config,
        "config_sha256": "0" * 64,
        "seed": 1,
        "master": "local[2]",
        "cores": 2,
        "started": "2026-11-21T01:00:00+00:00",
        "ended": "2026-11-21T01:01:00+00:00",
        "wall_seconds": 60.0,
        "state": "complete",
        "resumed": [],
        "tasks": tasks,
        **other,
    }


def chunk(first: int, **other: Any) -> ChunkRow:
    """A chunk of 50 walks."""
    counts = {"walks": 50, "steps": 500, "visits": 550, "dead_ends": 1, "quiescent": 2, "seconds": 0.5, "host": "one"}
    return ChunkRow(first=first, **(counts | {"distinct": 16.0} | other))


def finding(round: int, **other: Any) -> FindingRow:
    """What a round found of the one shape."""
    row = {
        "group": SHAPE,
        "kind": "always",
        "property": "not_solved()",
        "steps": ("fill_big()", "big_to_small()"),
        "count": 3,
        "properties": ("not_solved()",),
        "first_walk": 7 + 100 * round,
        "start": (0, 0),
        "actions": ("fill_big()", "big_to_small()"),
        "length": 2,
        "shortest": True,
    }
    return FindingRow(**(row | other))


def write_small_run(path: Path, **other: Any) -> RunFolder:
    """Write the run, its manifest with some of it otherwise; the folder."""
    folder = RunFolder(path)
    folder.save_manifest(manifest(**other))
    for task, rounds in ((0, 2), (1, 1)):
        rewrite(folder, task, [*(round_of(task, round) for round in range(rounds)), TaskRecord(outcome=run_row(task))])
    folder.append_progress(
        {"time": "2026-11-21T01:00:30+00:00", "task": 0, "rate": 1000.0, "left": 30.0, "findings": 3}
    )
    folder.save_trace(0, SHAPE, "{}")
    return folder


def round_of(task: int, round: int, **other: Any) -> TaskRecord:
    """A round, with some of it otherwise."""
    record = TaskRecord(
        round=round,
        chunks=(chunk(100 * round), chunk(100 * round + 50)),
        findings=(finding(round),) if task == 0 else (),
        actions=(
            ActionRow("fill_big()", "fill_big", "player", 100, 50, 50),
            ActionRow("empty_big()", "empty_big", "player", 100, 0, 0),
        ),
        coverage=(CoverageRow("not_solved()", "not_solved", 550, 3 if task == 0 else 0),),
    )
    return evolve(record, **{name: tuple(rows) for name, rows in other.items()})


def rewrite(folder: RunFolder, task: int, records: Iterable[TaskRecord]) -> None:
    """Let a task have these records."""
    journal, kept = folder.journal(task), list(records)
    journal.cut(0)
    for record in kept:
        journal.append(record)


def again(folder: RunFolder, task: int, number: int = 0, **other: Any) -> None:
    """Write a round of a task otherwise; number -1 is how it ended."""
    records, _ = folder.records(task)
    records[number] = round_of(task, number, **other) if number >= 0 else TaskRecord(**other)
    rewrite(folder, task, records)


def run_row(task: int) -> RunRow:
    """What came of a task."""
    name = ("die-hard", "lost-update")[task]
    rounds = 2 - task
    return RunRow(
        task=task,
        name=f"{name} default",
        scenario=name,
        variant="default",
        bounds={},
        flags={},
        engine="walk",
        seed=1,
        answer=("violated", "holds")[task],
        how="sampled",
        walks=100 * rounds,
        steps=1000 * rounds,
        visits=1100 * rounds,
        distinct=16.0,
        distinct_exact=None,
        distinct_error=0.01,
        depth=None,
        seconds=30.0,
        cpu_seconds=1.0 * rounds,
        why="",
        bounds_hit={},
        notes=("A note.",),
        command=f"kwalk walk {name} --walks {100 * rounds} --seed 1 --keep-going",
    )
