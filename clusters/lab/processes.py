"""Processes that end with the lab, however it ends.

Words: the *watchdog* is a small process in a session of its own. It reads the ids of process groups from a pipe; when
the pipe ends, because the lab closed it or was killed, it kills every group that is still listed, also stopped ones.
(Linux's PR_SET_PDEATHSIG is bound to the thread that started a process, and does not exist elsewhere.)
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType

WATCHDOG = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
signal.signal(signal.SIGHUP, signal.SIG_IGN)
groups = set()
for line in sys.stdin:
    sign, group = line[0], int(line[1:])
    (groups.add if sign == "+" else groups.discard)(group)
for group in groups:
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        pass
"""


class LabProcess:
    """A process of the lab, in a process group of its own; its output is in a file."""

    def __init__(self, name: str, process: subprocess.Popen[bytes], output: Path) -> None:
        self.name, self.process, self.output = name, process, output

    @property
    def pid(self) -> int:
        """The process id, which is also that of its group."""
        return self.process.pid

    @property
    def runs(self) -> bool:
        """Whether the process has not ended; one that is stopped by SIGSTOP runs."""
        return self.process.poll() is None

    def send(self, number: signal.Signals) -> None:
        """Send a signal; nothing happens if the process has ended."""
        if self.runs:
            with suppress(ProcessLookupError):
                os.killpg(self.pid, number)

    def wait(self, seconds: float) -> bool:
        """Wait until the process ends, for at most some seconds; return whether it has."""
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def last_lines(self, number: int = 12) -> str:
        """Return the last lines of its output."""
        try:
            text = self.output.read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""
        return "\n".join(text.splitlines()[-number:])


class ProcessGroup:
    """The processes of a lab; leaving the `with` block kills them all."""

    def __init__(self) -> None:
        self.processes: list[LabProcess] = []
        self.watchdog = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", WATCHDOG],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def __enter__(self) -> ProcessGroup:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.close()

    def start(
        self, name: str, command: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None
    ) -> LabProcess:
        """Start a process in a folder; its output is appended to the file NAME.out there."""
        output = folder / f"{name}.out"
        with open(output, "ab") as file:
            process = subprocess.Popen(
                list(command),
                cwd=folder,
                env=None if environment is None else dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                start_new_session=True,
                preexec_fn=self._enlist,
            )
        started = LabProcess(name, process, output)
        self.processes.append(started)
        return started

    def _enlist(self) -> None:
        """Report the new process to the watchdog, from that process, before it becomes another program.

        Until then it has the pipe open itself, so that the watchdog cannot miss it if the lab is killed meanwhile.
        """
        assert self.watchdog.stdin is not None
        os.write(self.watchdog.stdin.fileno(), f"+{os.getpid()}\n".encode())

    def forget(self, process: LabProcess) -> None:
        """Remove a process that has ended: its id may soon be that of another one."""
        self.processes.remove(process)
        assert self.watchdog.stdin is not None
        with suppress(BrokenPipeError):
            self.watchdog.stdin.write(f"-{process.pid}\n".encode())
            self.watchdog.stdin.flush()

    def close(self) -> None:
        """Kill every process and wait for its end."""
        for process in self.processes:
            process.send(signal.SIGKILL)
        for process in list(self.processes):
            process.process.wait()
            self.forget(process)
        if self.watchdog.stdin is not None:
            with suppress(BrokenPipeError):
                self.watchdog.stdin.close()
        self.watchdog.wait()


def wait_until(condition: Callable[[], object], seconds: float, *, every: float = 0.05) -> bool:
    """Call a condition until it is true; return False if it is not within some seconds."""
    end = time.monotonic() + seconds
    while True:
        if condition():
            return True
        if time.monotonic() > end:
            return False
        time.sleep(every)
