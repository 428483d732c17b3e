"""What commands import: a search of a compiled model waits for no compiler, no solver, no Spark, and no other model."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from kwalk.model.examples.scenarios import PLACES, SCENARIOS, scenario_named

RUN = """
import contextlib, io, sys
from kwalk.reports.command_line import main
with contextlib.redirect_stdout(io.StringIO()):
    main(sys.argv[1:])
print(*sys.modules)
"""
COMPILERS = {"numba", "z3", "llvmlite.ir", "kwalk.search.native.loop_compiler", "kwalk.search.native.object_code"}
METADATA = {"importlib.metadata", "email", "socket"}
ENGINES = {"hypothesis", "pandas", "pyarrow", "pyspark", "pytest", "kwalk.search.spark", "kwalk.search.proof"}


def imported(folder: Path, *arguments: object) -> set[str]:
    """The modules that a command has imported at its end, when all that it needs is compiled."""
    words = [sys.executable, "-c", RUN, *map(str, arguments)]
    return set(subprocess.run(words, capture_output=True, text=True, check=True, cwd=folder).stdout.split())


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_what_is_said_of_all_commands_imports_no_lifter_and_no_writer_of_pages(option, tmp_path):
    found = imported(tmp_path, option)
    assert "kwalk.reports.commands.init" in found
    assert not found & {"kwalk.model.language.lift", "kwalk.reports.document.html", *COMPILERS}


@pytest.mark.parametrize("engine", ["exhaust", "walk"])
def test_a_search_from_the_cache_imports_no_compiler_and_no_other_model(engine, tmp_path):
    command = (engine, "lost-update", "--out", tmp_path)
    imported(tmp_path, *command)
    found = imported(tmp_path, *command)
    assert "kwalk.search.native.loops" in found and not found & (COMPILERS | METADATA | ENGINES)
    models = {name for name in found if name.startswith("kwalk.model.examples.")}
    assert models == {"kwalk.model.examples.scenarios", "kwalk.model.examples.lost_update"}


RARE = {
    "concurrent.futures",
    "difflib",
    "logging",
    "multiprocessing",
    "subprocess",
    "kwalk.model.language.inspection",
    "kwalk.model.language.series",
    "kwalk.search.base.worker_processes",
    "kwalk.search.exhaustive.block_expansion",
    "kwalk.search.exhaustive.checkpoint",
    "kwalk.search.liveness",
    "kwalk.search.exhaustive.parallel_expansion",
    "kwalk.search.symmetry.permutations",
    "kwalk.search.kernel.compile.slices",
    "kwalk.search.minimize",
    "kwalk.search.partial_order.reduction",
    "rich",
}
"""What only long searches, or searches with certain options, need."""
MOST_MODULES = 430
"""The modules of a short search, at most; 411 with Python 3.11.7 and 427 with 3.13.0, some of which lift its steps."""


def test_a_short_search_imports_only_what_it_needs(tmp_path):
    command = ("exhaust", "topic-id-core", "--json", "--property", "disk_matches_znode", "--out", tmp_path)
    imported(tmp_path, *command)
    found = imported(tmp_path, *command)
    assert "kwalk.search.exhaustive.expansion" in found and not found & (COMPILERS | METADATA | ENGINES | RARE)
    assert len(found) <= MOST_MODULES


def test_a_saved_trace_is_shown_and_replayed_without_pages_arrays_and_machine_code(tmp_path):
    imported(tmp_path, "exhaust", "lost-update", "--out", tmp_path)
    trace, *_ = tmp_path.glob("*.itf.json")
    for options in ((), ("--format", "text")):
        found = imported(tmp_path, "replay", trace, *options)
        assert "kwalk.reports.traces.story" in found
        assert not found & (COMPILERS | METADATA | ENGINES | {"jinja2", "llvmlite", "numpy", "kwalk.search.exhaustive"})


def test_every_example_is_found_by_its_name():
    assert [scenario.name for scenario in SCENARIOS] == [*PLACES]
    assert all(scenario_named(scenario.name) is scenario for scenario in SCENARIOS)
    assert scenario_named("unknown") is None
