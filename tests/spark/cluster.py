"""A standalone Spark cluster on loopback, from the installed pyspark: a master and some workers, each its own process.

Words: a *worker* is Spark's daemon on a machine; it starts *executors*, which run the tasks. Each daemon leads a
process group of its own, in which its executors are too. The system kills daemons when the process that started them
dies, and executors end themselves when their worker is gone, so that nothing outlives a test that is killed.
"""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pyspark

from kwalk.search.spark.java import java_home

SPARK = Path(pyspark.__file__).parent
ROOT = Path(__file__).parents[2]
PATIENCE = 60.0
"""Seconds to wait for a line in a daemon's log."""
QUICK_START = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""For every Java of a test, executors too: none lives long enough to win back what compiling well would cost."""
DEATH_SIGNAL = 1
"""Linux's PR_SET_PDEATHSIG: the signal that a process gets when its parent dies."""


class Cluster:
    """A master and workers that run; `master` is the URL for sessions."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.master = folder, ""
        self.daemons: list[subprocess.Popen[bytes]] = []

    def start(self, workers: int, cores: int, memory: str) -> None:
        """Start the daemons, and wait until the master knows all workers."""
        self._start("master", "--port", "0")
        self.master = self._said("master", r"Starting Spark master at (spark://\S+)")[0]
        for number in range(workers):
            place = self.folder / f"work-{number}"
            self._start("worker", "--cores", str(cores), "--memory", memory, "--work-dir", str(place), self.master)
        self._said("master", r"Registering worker (\S+) with", times=workers)

    def _start(self, kind: str, *arguments: str) -> None:
        """Start a daemon; its output goes to its log."""
        name = kind if kind == "master" else f"{kind}-{len(self.daemons) - 1}"
        with (self.folder / f"{name}.log").open("wb") as log:
            self.daemons.append(
                subprocess.Popen(
                    [
                        str(SPARK / "bin" / "spark-class"),
                        f"org.apache.spark.deploy.{kind}.{kind.capitalize()}",
                        "--host",
                        "127.0.0.1",
                        "--webui-port",
                        "0",
                        *arguments,
                    ],
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    env=self._environment(),
                    cwd=self.folder,
                    start_new_session=True,
                    preexec_fn=_die_with_parent,
                )
            )

    def _environment(self) -> dict[str, str]:
        """What daemons and, after them, executors see: this Python, and the modules that this process sees."""
        seen = [str(ROOT), *filter(None, sys.path)]
        ours = {name: value for name, value in os.environ.items() if not name.startswith(("SPARK_", "PYSPARK_"))}
        return ours | {
            "JAVA_HOME": str(java_home()),
            "SPARK_HOME": str(SPARK),
            "PYTHONPATH": os.pathsep.join(seen),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_NO_DAEMONIZE": "1",
            "JDK_JAVA_OPTIONS": QUICK_START,
            "SPARK_LOCAL_DIRS": str(self.folder),
        }

    def _said(self, name: str, pattern: str, times: int = 1) -> list[str]:
        """Wait until a daemon's log has a pattern that many times; return the matches, or raise AssertionError."""
        end, log = time.monotonic() + PATIENCE, self.folder / f"{name}.log"
        while time.monotonic() < end:
            found = re.findall(pattern, log.read_text(errors="replace"))
            if len(found) >= times:
                return found
            time.sleep(0.05)
        raise AssertionError(f"After {PATIENCE:g} s the {name} has not said {pattern!r}:\n{log.read_text()}")

    def kill_worker(self, number: int = 0) -> None:
        """Kill a worker and its executors, as if the plug of their machine was pulled."""
        _kill(self.daemons[1 + number])

    def close(self) -> None:
        """Kill all that is left."""
        for daemon in self.daemons:
            _kill(daemon)


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(DEATH_SIGNAL, signal.SIGKILL)


def _kill(daemon: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(daemon.pid, signal.SIGKILL)
    daemon.wait(timeout=PATIENCE)


@contextmanager
def cluster(*, workers: int = 2, cores: int = 1, memory: str = "1g") -> Iterator[Cluster]:
    """A cluster for as long as the block lasts, each of its workers with so many cores and so much memory."""
    folder = Path(tempfile.mkdtemp(prefix="kwalk-cluster-"))
    made = Cluster(folder)
    try:
        made.start(workers, cores, memory)
        yield made
    finally:
        made.close()
        shutil.rmtree(folder, ignore_errors=True)
