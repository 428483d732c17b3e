"""The process of a command: what it imports, and how it ends."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import EntryPoint

import pytest

from kwalk.model.language import registry
from kwalk.model.language.errors import UsageError

START = """
import atexit, sys, threading, time
from reports import command_line

def late():
    time.sleep(0.1)
    print("thread")

def main():
    atexit.register(print, "registered")
    threading.Thread(target=late).start()
    print("main", end=" ")
    {last}

command_line.main = main
command_line.start()
"""


def ended(last):
    return subprocess.run([sys.executable, "-c", START.format(last=last)], text=True, capture_output=True)


def test_a_process_ends_with_its_code_when_all_is_printed_and_threads_and_registered_work_are_done():
    end = ended("return 12")
    assert (end.returncode, end.stdout, end.stderr) == (12, "main thread\nregistered\n", "")


def test_an_unexpected_exception_is_shown():
    end = ended("raise ValueError('odd')")
    assert (end.returncode, end.stdout) == (1, "main thread\nregistered\n")
    assert end.stderr.startswith("Traceback") and end.stderr.endswith("ValueError: odd\n")


def test_a_process_whose_reader_has_gone_ends_all_the_same():
    end = ended("sys.stdout.close(); return 3")
    assert end.returncode == 3


INTERRUPTED = """
import os, runpy, signal, sys

class Interrupt:
    def find_spec(name, path, target=None):
        if name == "kwalk.model.language.errors":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupt)
runpy.run_module("kwalk", run_name="__main__")
"""


def test_an_interruption_while_the_process_starts_is_one_line():
    end = subprocess.run([sys.executable, "-c", INTERRUPTED], text=True, capture_output=True)
    assert (end.returncode, end.stdout, end.stderr) == (130, "", "kwalk: interrupted before the search started.\n")


def test_the_package_runs_as_the_command():
    end = subprocess.run([sys.executable, "-m", "kwalk", "--version"], text=True, capture_output=True)
    assert (end.returncode, end.stdout.split()[0]) == (0, "kwalk")


@pytest.mark.skipif(sys.platform != "linux", reason="counts threads as Linux shows them")
def test_the_process_of_a_command_has_no_threads_for_matrices():
    known = "known = {str(thread.native_id) for thread in threading.enumerate()}"
    end = ended(f"import numpy, os; {known}; return len({{*os.listdir('/proc/self/task')}} - known)")
    assert (end.returncode, end.stderr) == (0, "")
    assert ended("import os; return int(os.environ['OPENBLAS_NUM_THREADS'])").returncode == 1


@pytest.fixture
def packages(monkeypatch):
    """Two packages announce scenarios; the second cannot be loaded."""
    entries = [
        EntryPoint("b", "tests.no_such_module", registry.GROUP),
        EntryPoint("a", "kwalk.model.examples.scenarios", registry.GROUP),
    ]
    monkeypatch.setattr(registry, "entry_points", lambda group: entries)


def test_only_packages_up_to_the_one_that_has_the_name_are_loaded(packages):
    assert registry.find_scenario("die-hard").name == "die-hard"
    with pytest.raises(UsageError, match=r"'tests.no_such_module', and they cannot be loaded"):
        registry.find_scenario("die-harder")


def test_a_search_of_an_example_imports_no_other_package_of_scenarios(tmp_path):
    code = (
        "import sys; from kwalk.reports.command_line import main\n"
        f"print(main(['exhaust', 'die-hard', '--out', {str(tmp_path)!r}]), 'invariants' in sys.modules)"
    )
    shown = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True, check=True)
    assert shown.stdout.splitlines()[-1] == "12 False"
