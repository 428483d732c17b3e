"""The processes of a lab end with it, whatever ends it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from kwalk.clusters.lab.processes import ProcessGroup, wait_until

START = """
import signal, sys, time
from pathlib import Path
from kwalk.clusters.lab.processes import ProcessGroup
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job of a shell ignores it
group = ProcessGroup()
for name in ("one", "two"):
    print(group.start(name, ["sleep", "600"], Path(sys.argv[1])).pid, flush=True)
time.sleep(600)
"""


def runs(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    with open(f"/proc/{pid}/stat") as file:
        return file.read().rpartition(")")[2].split()[0] != "Z"


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="there is no /proc to see processes in")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_killed_lab_leaves_no_process_not_even_a_stopped_one(tmp_path, number):
    lab = subprocess.Popen(
        [sys.executable, "-c", START, str(tmp_path)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    pids = [int(lab.stdout.readline()) for _ in range(2)]
    assert all(map(runs, pids))
    os.kill(pids[1], signal.SIGSTOP)
    lab.send_signal(number)
    lab.wait(60)
    assert wait_until(lambda: not any(map(runs, pids)), 10)


def test_leaving_the_block_ends_every_process(tmp_path):
    with ProcessGroup() as group:
        process = group.start("one", ["sleep", "600"], tmp_path)
        assert process.runs
    assert process.process.returncode == -signal.SIGKILL


def test_output_is_kept_in_a_file_and_its_last_lines_are_shown(tmp_path):
    with ProcessGroup() as group:
        process = group.start("tool", ["sh", "-c", "seq 20; echo trouble >&2"], tmp_path)
        assert process.wait(30)
        assert process.last_lines(2) == "20\ntrouble"
        assert (tmp_path / "tool.out").exists()


def test_a_stopped_process_runs_and_does_not_end_by_waiting(tmp_path):
    with ProcessGroup() as group:
        process = group.start("one", ["sleep", "600"], tmp_path)
        process.send(signal.SIGSTOP)
        assert not process.wait(0.01) and process.runs


def test_waiting_ends_when_the_condition_is_true_or_the_time_is_over():
    calls = []
    assert wait_until(lambda: calls.append(1) or len(calls) == 3, 10, every=0)
    start = time.monotonic()
    assert not wait_until(lambda: False, 0.02, every=0.01)
    assert time.monotonic() - start >= 0.02
