"""Running a tool once: its process in an empty folder, under a limit of time, with what it printed and cost."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from attrs import frozen

from bench.reference import ROOT

ENVIRONMENT = {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
FROM_A_SHELL = ("sh", "-c", '"$@" &', "sh")
"""The start of a command that ends at once, and leaves the tool to this process. A process begins with the peak of the
one that started it, `exec` or not, and a shell's is small."""
ADOPTS = 36
"""PR_SET_CHILD_SUBREAPER of Linux: what a child of this process leaves is its child."""


class NotFinished(Exception):
    """A run that was ended because its time was over."""


class Failed(Exception):
    """A tool that ended with an error."""


@frozen
class Run:
    """A process that has ended well: what it printed, seconds by the clock and of CPUs, and the most memory it held."""

    output: str
    wall: float
    cpu: float
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
        start = FROM_A_SHELL if stack.enter_context(_adopting()) else ()
        began = time.perf_counter()
        process = subprocess.Popen(
            [*start, *command],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=printed,
            stderr=complaints,
            env={**os.environ, **ENVIRONMENT},
            start_new_session=True,
        )
        code, cpu, peak, late = _awaited(process, seconds, is_shell=bool(start))
        wall = time.perf_counter() - began
        printed.seek(0)
        complaints.seek(0)
        output, complaint = printed.read(), complaints.read()
    if late:
        raise NotFinished(f"not finished in {seconds:g} s")
    if code not in good:
        raise Failed(f"ended with {code}: {last_line(complaint or output)}")
    return Run(output, wall, cpu, peak)


@contextmanager
def _adopting() -> Iterator[bool]:
    """Have this process adopt what its children leave; False where it cannot, and peaks are at least its own."""
    adopt = ctypes.CDLL(None).prctl if sys.platform == "linux" else lambda *_: -1
    try:
        yield adopt(ADOPTS, 1, 0, 0, 0) == 0
    finally:
        adopt(ADOPTS, 0, 0, 0, 0)


def _awaited(process: subprocess.Popen[bytes], seconds: float, *, is_shell: bool) -> tuple[int, float, int, bool]:
    """The exit code, seconds of CPUs, the peak of memory in bytes, and whether the tool had to be ended."""
    late = threading.Event()

    def end() -> None:
        late.set()
        with suppress(ProcessLookupError):  # it may have ended at this very moment
            os.killpg(process.pid, signal.SIGKILL)

    timer = threading.Timer(seconds, end)
    timer.start()
    try:
        ended, status, usage = os.wait4(-process.pid, 0)
        if is_shell and ended == process.pid:
            _, status, usage = os.wait4(-process.pid, 0)
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        raise
    finally:
        timer.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    unit = 1 if sys.platform == "darwin" else 1024
    return process.returncode, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * unit, late.is_set()
