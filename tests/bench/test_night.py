"""The benchmark of nights counts the CPU time of all processes, and that of the last steps only."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from bench.night import rate, tree_seconds

BUSY = """
import time
while time.process_time() < 0.5:
    pass
print("done", flush=True)
input()
"""


def test_cpu_seconds_are_those_of_all_descendants():
    before = tree_seconds()
    # the shell stays between this process and the one that works, as Java is between the driver and its workers
    command = ["sh", "-c", '"$0" -c "$1"; true', sys.executable, BUSY]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as shell:
        assert shell.stdout.readline() == "done\n"
        assert tree_seconds() - before >= 0.45
        assert tree_seconds() >= time.process_time() + 0.4
        shell.communicate("\n")


def test_a_rate_is_that_of_the_steps_after_the_first_ones():
    readings = [(1_000_000, 5.0), (3_000_000, 7.0), (9_000_000, 8.0)]
    assert rate(readings, 3_000_000) == pytest.approx(6.0)
    assert rate(readings, 2_000_000) == pytest.approx(3.5)
