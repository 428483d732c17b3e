"""Fixtures that all tests share."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections import Counter
from multiprocessing import get_context
from pathlib import Path

import pytest
from _pytest.assertion import rewrite  # pytest has no public way to fill its cache; requirements/test.lock pins it

from kwalk.reports.command_line import GARBAGE
from tests.reports.commands import kwalk as kwalk
from tests.resumption import PassedTests, left

SLOW = (
    "agreement",
    "bad_input/test_snapshots.py",
    "bench/test_swarm.py",
    "check",
    "constraints",
    "distributed",
    "edits",
    "examples/test_how_to_check_recovery.py",
    "examples/test_language_reference.py",
    "examples/test_large_published_counts.py",
    "examples/test_published_counts.py",
    "examples/test_types.py",
    "hypothesis",
    "kafka",
    "liveness/test_engines.py",
    "liveness/test_errors.py",
    "liveness/test_fairness_in_random_graphs.py",
    "minimize",
    "mutation",
    "nightly",
    "package",
    "plugin/test_hunts.py",
    "prove",
    "reduction",
    "refinement",
    "reports/test_audit_command.py",
    "reports/test_graph_command.py",
    "reports/test_trace_commands.py",
    "search/exhaustive/test_blocks.py",
    "search/exhaustive/test_interpreted.py",
    "search/exhaustive/test_sizes.py",
    "search/test_checkpoints.py",
    "search/test_sliced_walks.py",
    "search/test_swarm.py",
    "search/test_waypoints.py",
    "fuzz",
    "snapshots",
    "spark",
    "structure/test_documentation.py",
    "structure/test_illustrations.py",
    "symmetry",
    "traces",
)
"""Folders and files whose tests compile large models, start processes or search for seconds: marked `slow`."""

LINES = [
    line
    for line in (Path(__file__).parent / "thorough.txt").read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
]
FRACTIONS = {line.split(" ")[3]: int(line.split(" ")[2]) for line in LINES if line.startswith("1 of ")}
"""Of the cases of a test function, `make test` runs the first of each so many."""
THOROUGH = tuple(line for line in LINES if not line.startswith("1 of "))
"""Beginnings of ids of tests that only `make test-all` runs, beside those that are marked where they are written."""

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in the background of a shell: tests press Ctrl-C
    signal.signal(signal.SIGINT, signal.default_int_handler)
gc.set_threshold(*GARBAGE)  # as the command does: a tenth of the time of tests that lift models
os.environ.pop("KWALK_CACHE", None)  # tests give XDG_CACHE_HOME where they need a cache of their own


@pytest.fixture(scope="session")
def spark():
    """One Spark session on two cores for the whole run: starting one takes seconds."""
    from kwalk.search.spark.session import spark_session

    with spark_session(2) as session:
        yield session


def write_rewritten(config: pytest.Config, paths: list[Path]) -> None:
    """Write the bytecode of test files, with assertions as pytest rewrites them, to where pytest looks for it."""
    for path in paths:
        pyc = rewrite.get_cache_dir(path) / (path.name.removesuffix(".py") + rewrite.PYC_TAIL)
        if rewrite._read_pyc(path, pyc) is None:
            pyc.parent.mkdir(parents=True, exist_ok=True)
            digest, code = rewrite._rewrite_test(path, config)
            rewrite._write_pyc(config.stash[rewrite.assertstate_key], code, digest, pyc)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option with which `make test-all` goes on where it was killed."""
    parser.addoption("--resume-in", type=Path, metavar="FOLDER", help="leave out what has passed on these sources")


def pytest_configure(config: pytest.Config) -> None:
    """Rewrite the assertions of all test files once, on all cores, before each worker does it for itself."""
    if config.getoption("resume_in") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(PassedTests(config.getoption("resume_in")), "passed-tests")
    if not config.getoption("numprocesses", None) or hasattr(config, "workerinput") or sys.dont_write_bytecode:
        return
    paths, cores = sorted(Path(__file__).parent.rglob("test_*.py")), os.cpu_count() or 1
    fork = get_context("fork").Process  # the configuration cannot be sent to another process
    processes = [fork(target=write_rewritten, args=(config, paths[first::cores])) for first in range(cores)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()


def pytest_collection_finish() -> None:
    """Keep what collection has made out of Python's garbage collections: each of them would look at all of it."""
    gc.collect()
    gc.freeze()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark slow and thorough tests, and those on Spark; run these and those of the lab first, on one worker.

    Those of the lab start real brokers, which takes minutes: they run where KWALK_LAB is set.

    Workers begin with runs of neighbours and take over from the ends of each other's, so that these stay together.
    """
    cases = Counter[str]()
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.spark)
        if item.get_closest_marker("lab") and not os.environ.get("KWALK_LAB"):
            item.add_marker(pytest.mark.skip(reason="starts real brokers; `make lab` runs it"))
        name = item.nodeid.removeprefix("tests/")
        if name.startswith(SLOW):
            item.add_marker(pytest.mark.slow)
        function = name.partition("[")[0]
        if name.startswith(THOROUGH) or cases[function] % FRACTIONS.get(function, 1):
            item.add_marker(pytest.mark.thorough)
        cases[function] += 1
    items[:] = left(config, items)
    items.sort(key=lambda item: (item.get_closest_marker("spark") is None, item.get_closest_marker("lab") is None))
