"""Running a tool once: its process in an empty folder, under a limit of time, with what it printed and cost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Collection, Sequence
from contextlib import ExitStack, suppress
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


def run(command: Sequence[str], seconds: float, good: Collection[int] = (0,)) -> Run:
    """Run a command; NotFinished if it takes longer, Failed if it ends with a code that is not among the good ones."""
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        printed, complaints = (
            stack.enter_context(open(Path(folder) / name, "w+", encoding="utf-8")) for name in ("printed", "complaints")
        )
        began = time.perf_counter()
        process = subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=printed,
            stderr=complaints,
            env={**os.environ, **ENVIRONMENT},
            start_new_session=True,
        )
        code, peak, late = _awaited(process, seconds)
        wall = time.perf_counter() - began
        printed.seek(0)
        complaints.seek(0)
        output, complaint = printed.read(), complaints.read()
    if late:
        raise NotFinished(f"not finished in {seconds:g} s")
    if code not in good:
        raise Failed(f"ended with {code}: {last_line(complaint or output)}")
    return Run(output, wall, peak)


def _awaited(process: subprocess.Popen[bytes], seconds: float) -> tuple[int, int, bool]:
    """The exit code, the peak of memory in bytes, and whether the process had to be ended."""
    late = threading.Event()

    def end() -> None:
        late.set()
        with suppress(ProcessLookupError):  # it may have ended at this very moment
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
