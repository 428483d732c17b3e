"""Running a tool once: its process in an empty folder, under a limit of time, with what it printed and cost."""
from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from attrs import frozen

from bench.reference import ROOT

ENVIRONMENT = {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}


class NotFinished(Exception):
    """A run that was ended because its time was over."""


class Failed(Exception):
    """A tool that ended with an error."""


@frozen
class Run:
    """A process that has ended well: what it printed, seconds of wall time, and the most memory that it held."""

    output: str
    wall: float
    peak_bytes: int

    @property
    def last_line(self) -> str:
        """The end of what it printed."""
        return last_line(self.output)


def last_line(text: str) -> str:
    """The last line with anything in it."""
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "(nothing)")


def run(command: Sequence[str], seconds: float) -> Run:
    """Run a command; NotFinished if it takes longer, Failed if it ends with an error."""
    with tempfile.TemporaryDirectory() as folder, open(Path(folder) / "printed", "w+", encoding="utf-8") as printed:
        began = time.perf_counter()
        process = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.DEVNULL, stdout=printed, stderr=subprocess.STDOUT,
            env={**os.environ, **ENVIRONMENT}, start_new_session=True,
        )  # fmt: skip
        code, peak, late = _awaited(process, seconds)
        wall = time.perf_counter() - began
        printed.seek(0)
        output = printed.read()
    if late:
        raise NotFinished(f"not finished in {seconds:g} s")
    if code:
        raise Failed(f"ended with {code}: {last_line(output)}")
    return Run(output, wall, peak)


def _awaited(process: subprocess.Popen[bytes], seconds: float) -> tuple[int, int, bool]:
    """The exit code, the peak of memory in bytes, and whether the process had to be ended."""
    late = threading.Event()

    def end() -> None:
        late.set()
        os.killpg(process.pid, signal.SIGKILL)

    timer = threading.Timer(seconds, end)
    timer.start()
    try:
        _, status, usage = os.wait4(process.pid, 0)
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        raise
    finally:
        timer.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    unit = 1 if sys.platform == "darwin" else 1024
    return process.returncode, usage.ru_maxrss * unit, late.is_set()
