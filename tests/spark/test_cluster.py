"""A standalone cluster on loopback: a worker that is killed changes nothing, and no process outlives its test."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kwalk.model.examples.two_phase_commit import TWO_PHASE_COMMIT
from kwalk.model.language import Model
from tests.distributed.compared import everything
from tests.queries import exhaust_on_spark
from tests.spark.losing_workers import SEARCH

HELD = """
import time
from tests.spark.cluster import cluster
if __name__ == "__main__":
    with cluster(workers=1) as made:
        print(*(daemon.pid for daemon in made.daemons), flush=True)
        time.sleep(600)
"""


def started(*arguments):
    path = os.pathsep.join(filter(None, sys.path))
    return subprocess.Popen(
        [sys.executable, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    )


@pytest.mark.thorough  # tests/distributed and tests/nightly lose workers in one Spark session
def test_a_worker_killed_in_mid_search_changes_nothing(tmp_path):
    output, complaints = started("-m", "tests.spark.losing_workers", tmp_path / "cluster").communicate(timeout=900)
    searched = exhaust_on_spark(Model(TWO_PHASE_COMMIT), folder=tmp_path / "alone", local_level=1 << 60, **SEARCH)
    assert output.splitlines() == ["True", everything(searched)], complaints


def test_daemons_die_with_the_process_that_started_them():
    holder = started("-c", HELD)
    daemons = [Path("/proc", pid) for pid in holder.stdout.readline().split()]
    assert len(daemons) == 2 and all(daemon.exists() for daemon in daemons)
    os.kill(holder.pid, signal.SIGKILL)
    holder.wait()
    end = time.monotonic() + 30
    while any(_runs(daemon) for daemon in daemons) and time.monotonic() < end:
        time.sleep(0.05)
    assert not any(_runs(daemon) for daemon in daemons)


def _runs(process):
    """Return whether a process is running, and not a zombie."""
    try:
        return process.joinpath("stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False
