"""A run as an application of Spark, on a cluster that loses a worker on the way."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import kwalk.reports.nightly.application as application
from kwalk.search.night.folder import RunFolder
from kwalk.search.spark.java import java_home
from tests.nightly.local import begin_run, facts, without_spark
from tests.spark.cluster import QUICK_START, SPARK, cluster

WALKS = 400_000
CONFIG = {"seed": 5, "tasks": [{"scenarios": ["topic-id-core"], "walks": WALKS, "depth": 60, "swarm": False}]}
TOML = f'seed = 5\n[[tasks]]\nscenarios = ["topic-id-core"]\nwalks = {WALKS}\ndepth = 60\nswarm = false\n'


def submitted(master: str, folder: Path) -> subprocess.Popen[str]:
    """The run, as `spark-submit` starts it."""
    (folder / "night.toml").write_text(TOML)
    home = java_home()
    variables = {
        "JAVA_HOME": str(home),
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "JDK_JAVA_OPTIONS": QUICK_START,
    }
    return subprocess.Popen(
        [
            SPARK / "bin" / "spark-submit",
            "--master",
            master,
            application.__file__,
            folder / "night.toml",
            "--out",
            folder / "run",
        ],
        env={**os.environ, **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.thorough  # that a worker is lost is also tested by tests/nightly/test_on_spark.py
def test_a_submitted_run_that_loses_a_worker_finds_what_one_process_finds(tmp_path, monkeypatch):
    with cluster() as made:
        running = submitted(made.master, tmp_path)
        progress = tmp_path / "run" / "progress.jsonl"
        while running.poll() is None and not (progress.exists() and progress.read_text().count("\n") >= 2):
            time.sleep(0.05)
        made.kill_worker()
        was_running = running.poll() is None
        said, complaints = running.communicate(timeout=300)
    assert was_running and running.returncode == 12, complaints[-3000:]
    assert "VIOLATED  complete; 1 of 1 tasks have a verdict" in said  # beside what spark-submit has to say
    assert RunFolder(tmp_path / "run").manifest()["master"] == made.master
    with without_spark(monkeypatch, small=False):
        begin_run(tmp_path / "alone", CONFIG)
    assert facts(tmp_path / "run") == facts(tmp_path / "alone")
