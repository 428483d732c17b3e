"""Runs without executors: rounds are done in this process, chunk by chunk, so that a test can afford many of them."""

from __future__ import annotations

import json
from contextlib import contextmanager, nullcontext
from itertools import pairwise
from pathlib import Path
from typing import ClassVar

from attrs import evolve

from kwalk.model.language import Model
from kwalk.reports.contradiction_bundle import bundle_of
from kwalk.search.executors.work import check_agreement, do_chunks
from kwalk.search.native.processor import cpu
from kwalk.search.night import run, simulation_task
from kwalk.search.night.config import config_from
from kwalk.search.results.trace import Trace
from tests.nightly.traces import trace_text

CONFIG = {
    "seed": 3,
    "tasks": [
        {"scenarios": ["lost-update", "die-hard"], "walks": 1200, "depth": 30, "swarm": False},
        {
            "scenarios": ["topic-id-core"],
            "walks": 1200,
            "depth": 30,
            "properties": ["disk_matches_znode"],
            "swarm": False,
        },
        {"scenarios": ["lost-update"], "bounds": {"threads": 3}, "walks": 2000, "depth": 20},
    ],
}


class Hearing:
    """A watch that records its calls."""

    def __init__(self, on_event=lambda event: None):
        self.events, self.remarks, self.rows, self.on_event = [], [], [], on_event

    def progress(self, event):
        self.events.append(event)
        self.on_event(event)

    def note(self, text):
        self.remarks.append(text)

    def task_ended(self, row):
        self.rows.append(row)

    def bundle(self, error, folder, command):
        return bundle_of(error, folder, command)

    def trace_text(self, model: Model, trace: Trace, reference: str) -> str:
        return trace_text(model, trace, reference)


class LocalFleet:
    """Executors in this process."""

    def __init__(self, partitions, payload):
        self.partitions, self.payload, self.packed = partitions, payload, payload.pack()

    def make_ready(self, interrupts):
        pass

    def take_slices(self, code):
        self.packed = evolve(self.payload, slices={cpu(): code}).pack()

    def do(self, work, interrupts, look=lambda: None):
        cuts = [work.chunks * number // self.partitions for number in range(self.partitions + 1)]
        shares = (range(*pair) for pair in pairwise(cuts))
        chunks = [done[1] for share in shares if (done := do_chunks(self.packed, work, share)) is not None]
        check_agreement(chunks)
        return chunks


class LocalPlace:
    """This process, as if it had so many executors."""

    facts: ClassVar[dict[str, str | None]] = {"master": "none", "spark": None, "java": None}

    def __init__(self, cores):
        self.cores = cores

    def executors(self, model, payload):
        return nullcontext(LocalFleet(self.cores, payload))


@contextmanager
def without_spark(patch, partitions=2, *, small=True):
    """In here runs are done in this process, in `small` blocks or not; `patch` is pytest's monkeypatch."""
    with patch.context() as patched:
        patched.setattr(run, "place_of", lambda workers, master: nullcontext(LocalPlace(partitions)))
        patched.setattr(simulation_task, "BLOCK_STEPS", 1 << 11 if small else simulation_task.BLOCK_STEPS)
        yield


def begin_run(out: Path, config=None, watch=None, **place):
    """Do a run."""
    return run.begin_run(
        config_from(config or CONFIG, "test"), "test", out, run.ExecutionTarget(**place), watch or Hearing()
    )


def resume_run(out: Path, watch=None):
    """Go on with a run."""
    return run.resume_run(out, run.ExecutionTarget(), watch or Hearing())


def facts(out: Path) -> dict[str, object]:
    """All that a run has found and counted, but for times, places and how it was cut into rounds and chunks."""
    tables = {name: table_of(out, name) for name in ("findings", "actions", "coverage", "chunks")}
    outcomes = table_of(out, "outcome")
    groups: dict[tuple[int, str], tuple[int, int, set[str]]] = {}
    for row in tables["findings"]:
        key = row["task"], row["group"]
        count, first, properties = groups.get(key, (0, row["first_walk"], set()))
        groups[key] = count + row["count"], min(first, row["first_walk"]), properties | set(row["properties"])
    return {
        "groups": groups,
        "actions": _sums(tables["actions"], "instance", ("enabled", "taken", "changed")),
        "coverage": _sums(tables["coverage"], "property", ("premise", "violated")),
        "walks": _sums(tables["chunks"], "task", ("walks", "steps", "visits", "dead_ends", "quiescent")),
        "distinct": {row["task"]: row["distinct"] for row in sorted(tables["chunks"], key=lambda row: row["first"])},
        "runs": [_without_times(row) for row in outcomes],
        "traces": {path.name: json.loads(path.read_text()) for path in sorted((out / "traces").iterdir())},
        "tasks": [(task["task"], task["state"]) for task in json.loads((out / "manifest.json").read_text())["tasks"]],
    }


def table_of(out: Path, name: str) -> list[dict[str, object]]:
    """The rows of a table of all tasks, as other programs read them."""
    rows = []
    for task, path in enumerate(sorted((out / "tasks").glob("*.jsonl"))):
        for line in map(json.loads, path.read_text().splitlines()):
            listed = line[name] if isinstance(line[name], list) else [line[name]] * (line[name] is not None)
            rows += [{"task": task, **row} for row in listed]
    return rows


def _without_times(row):
    """The row without its times, and without how many states were compared and walks bit-sliced in them."""
    notes = [note for note in row["notes"] if not note.startswith(("Compared with plain Python: ", "Bit-sliced code "))]
    assert len(notes) in (len(row["notes"]) - 1, len(row["notes"]) - 2)
    return {k: v for k, v in row.items() if "seconds" not in k} | {"notes": notes}


def _sums(rows, name, columns):
    sums: dict[tuple[int, object], list[int]] = {}
    for row in rows:
        counts = sums.setdefault((row["task"], row[name]), [0] * len(columns))
        for place, column in enumerate(columns):
            counts[place] += row[column]
    return sums
