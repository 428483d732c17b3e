"""Which loops there are, which of them `make setup` compiles, and which wait for an option."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import kwalk.search
from kwalk.search.native.compile_all import OF_HUNT, ON_REQUEST, by_component, loop_names, loops_of_hunt, loops_of_setup
from tests.structure.rooms import ROOT

(PACKAGE,) = map(Path, kwalk.search.__path__)

HUNT = """
import sys
from kwalk.reports.command_line import main
from kwalk.search.native.loops import CompiledLoop
loaded, load = set(), CompiledLoop.load
CompiledLoop.load = lambda loop: loaded.add(loop) or load(loop)
main(sys.argv[1:])
print("loaded", *sorted(f"{loop.__module__}:{loop.__name__}" for loop in loaded))
"""
"""Runs a command in one process and prints the loops that it used."""


def decorated_with_loop() -> set[tuple[str, str]]:
    found = set()
    for path in PACKAGE.rglob("*.py"):
        module = ".".join(("kwalk.search", *path.relative_to(PACKAGE).with_suffix("").parts))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and any(ast.unparse(each) == "loop" for each in node.decorator_list):
                found.add((module, node.name))
    return found


def test_every_loop_of_the_package_is_known():
    names = loop_names()
    assert len(names) == len(set(names)) > 30
    assert set(names) == decorated_with_loop()


def test_set_up_compiles_every_loop_but_those_of_options():
    later = set(loop_names()) - set(loops_of_setup())
    assert {module.split(".")[2] for module, _ in later} == {*ON_REQUEST}
    assert not any(module.split(".")[2] in ON_REQUEST for module, _ in loops_of_setup())


def test_each_loop_is_compiled_once_beside_those_of_its_component():
    groups = by_component(loop_names())
    assert sorted(name for group in groups for name in group) == sorted(loop_names())
    components = [{module.split(".")[2] for module, _ in group} for group in groups]
    assert all(len(each) == 1 for each in components) and len({*map(frozenset, components)}) == len(groups)


def test_each_part_of_a_hunt_has_loops():
    found = [module.removeprefix("kwalk.search.") for module, _ in loops_of_hunt()]
    assert all(any(f"{name}.".startswith(f"{part}.") for name in found) for part in OF_HUNT)
    assert len(found) < len(loops_of_setup()) / 2


@pytest.mark.thorough
def test_a_hunt_waits_for_no_loop_but_those_that_are_compiled_for_it(tmp_path):
    snapshot = ROOT / "tests/captures/scenario-01-05-produce-consume.json"
    command = [sys.executable, "-c", HUNT, "diagnose", snapshot, "--forecast", "--seconds", "80", "--out", tmp_path]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    word, *loaded = ran.stdout.splitlines()[-1].split()
    assert word == "loaded" and loaded
    assert set(loaded) <= {f"{module}:{name}" for module, name in loops_of_hunt()}
