"""Runs without Spark: rounds are done in this process, chunk by chunk, so that a test can afford many of them."""
from __future__ import annotations

import json
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq

from model.language import Model
from search.nightly import driver, rounds, run, walking
from search.nightly.config import config_from
from search.spark.work import chunks_of, walk_chunks
from search.trace import Trace
from tests.nightly.traces import trace_text

CONFIG = {
    "seed": 3,
    "tasks": [
        {"scenarios": ["lost-update", "die-hard"], "walks": 2500, "depth": 30, "swarm": False},
        {"scenarios": ["topic-id-core"], "walks": 2500, "depth": 30, "claims": ["disk_matches_znode"], "swarm": False},
        {"scenarios": ["topic-id-core"], "walks": 6000, "depth": 20},
    ],
}


class Hearing:
    """A watch that remembers what it is told."""

    def __init__(self, on_moment=lambda moment: None):
        self.moments, self.remarks, self.rows, self.on_moment = [], [], [], on_moment

    def moment(self, moment):
        self.moments.append(moment)
        self.on_moment(moment)

    def remark(self, text):
        self.remarks.append(text)

    def ended(self, row):
        self.rows.append(row)

    def trace_text(self, model: Model, trace: Trace, reference: str) -> str:
        return trace_text(model, trace, reference)


class LocalFleet:
    """What `Fleet` is, in this process."""

    def __init__(self, session, partitions, parcel, code_for=None):
        self.partitions, self.packed = partitions, parcel.pack()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def make_ready(self, interrupts):
        pass

    def do(self, work, interrupts, look=lambda: None):
        batches = list(walk_chunks(self.packed, work, range(work.chunks)))
        return chunks_of(pa.Table.from_batches(batches))


@contextmanager
def without_spark(patch, partitions=2, home_seconds=0.0, *, small=True):
    """In here runs are done in this process, in `small` blocks or not; `patch` is pytest's monkeypatch."""
    java = SimpleNamespace(java=SimpleNamespace(lang=SimpleNamespace(System=SimpleNamespace(getProperty=str))))
    context = SimpleNamespace(defaultParallelism=partitions, master="none", _jvm=java)
    session = SimpleNamespace(sparkContext=context)

    @contextmanager
    def fake_session(workers, master):
        yield session

    with patch.context() as patched:
        patched.setattr(driver, "Fleet", LocalFleet)
        patched.setattr(run, "spark_session", fake_session)
        patched.setattr(rounds, "BLOCK_STEPS", 1 << 11 if small else rounds.BLOCK_STEPS)
        patched.setattr(walking, "HOME_SECONDS", home_seconds)
        yield


def begin(out: Path, config=None, watch=None, **place):
    """Do a run."""
    return run.begin(config_from(config or CONFIG, "test"), "test", out, run.Place(**place), watch or Hearing())


def go_on(out: Path, watch=None):
    """Go on with a run."""
    return run.go_on(out, run.Place(), watch or Hearing())


def facts(out: Path) -> dict[str, object]:
    """All that a run has found and counted, but for times, places and how it was cut into rounds and chunks."""
    names = ("findings", "rules", "coverage", "chunks", "runs")
    tables = {name: pq.read_table(out / name).to_pylist() for name in names}
    clusters: dict[tuple[int, str], tuple[int, int, set[str]]] = {}
    for row in tables["findings"]:
        key = row["task"], row["cluster"]
        count, first, claims = clusters.get(key, (0, row["first_walk"], set()))
        clusters[key] = count + row["count"], min(first, row["first_walk"]), claims | set(row["claims"])
    return {
        "clusters": clusters,
        "rules": _sums(tables["rules"], "action", ("enabled", "taken", "changed")),
        "coverage": _sums(tables["coverage"], "claim", ("premise", "violated")),
        "walks": _sums(tables["chunks"], "task", ("walks", "steps", "visits", "dead_ends", "quiet")),
        "distinct": {row["task"]: row["distinct"] for row in sorted(tables["chunks"], key=lambda row: row["first"])},
        "runs": [{k: v for k, v in row.items() if "seconds" not in k} for row in tables["runs"]],
        "traces": {path.name: json.loads(path.read_text()) for path in sorted((out / "traces").iterdir())},
        "tasks": [(task["task"], task["state"]) for task in json.loads((out / "manifest.json").read_text())["tasks"]],
    }


def _sums(rows, name, columns):
    sums: dict[tuple[int, object], list[int]] = {}
    for row in rows:
        counts = sums.setdefault((row["task"], row[name]), [0] * len(columns))
        for place, column in enumerate(columns):
            counts[place] += row[column]
    return sums
