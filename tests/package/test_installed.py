"""An installed kwalk beside projects whose modules have the names of kwalk's own folders."""

from __future__ import annotations

import json
import subprocess
import zipfile

import pytest

from kwalk.reports.options.parser import commands as all_commands
from tests.package.installation import Environment, build_wheel, install
from tests.package.projects import project_with_a_module, project_with_packages
from tests.structure.rooms import ROOMS, ROOT

VIOLATED, HOLDS, REFUSED = 12, 0, 2


@pytest.fixture(scope="session")
def wheel(tmp_path_factory):
    return build_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="session")
def environment(wheel, tmp_path_factory) -> Environment:
    return install(wheel, tmp_path_factory.mktemp("environment") / "venv")


@pytest.fixture(
    scope="session",
    params=[project_with_packages, pytest.param(project_with_a_module, marks=pytest.mark.thorough)],
    ids=lambda make: make.__name__,
)
def project(request, environment, tmp_path_factory):
    """A project's folder, the reference of its scenario, and the environment."""
    folder = tmp_path_factory.mktemp("project")
    return folder, request.param(folder), environment


def test_the_version_has_the_commit_that_the_wheel_was_built_from(wheel, environment, tmp_path):
    built = wheel.parents[1]
    ran = subprocess.run(["git", "rev-parse", "HEAD"], cwd=built, capture_output=True, text=True, check=True)
    assert environment.run(tmp_path, "kwalk", "--version").stdout.endswith(f"(commit {ran.stdout[:12]})\n")


def commands(reference):
    """For every question that kwalk answers: what to run, the exit code, and words of its output."""
    snapshots = ("one.json", "two.json")
    return {
        "scenarios": ((reference,), HOLDS, "lights"),
        "scenarios --properties": ((reference,), HOLDS, "not_too_many"),
        "exhaust": ((reference,), VIOLATED, "not_too_many()  in 4 steps"),
        "walk": ((reference, "--seed", "1"), VIOLATED, "not_too_many()"),
        "prove": ((reference,), VIOLATED, "not_too_many()"),
        "prove missing.json": ((), REFUSED, ""),
        "check": ((reference, "--variant", "fuse", "--seconds", "20"), HOLDS, "HOLDS"),
        "hunt": ((reference,), VIOLATED, "not_too_many()  in 4 steps"),
        "audit": ((reference.replace(":LIGHTS", ":FUSE_FIX"),), HOLDS, "closes"),
        "mutate": ((reference, "--variant", "fuse"), None, "killed"),
        "collect": (("--script",), HOLDS, "kwalk log directories 2"),
        "diagnose": (
            ("one.json", "--scenario", reference),
            REFUSED,
            "",
        ),  # it says that the scenario reads no snapshots
        "diagnose --plan": (("one.json", "--scenario", reference), REFUSED, ""),  # likewise
        "diagnose --explain": ((*snapshots, "--scenario", reference), HOLDS, ""),
        "explore --graph": ((reference,), HOLDS, "GRAPH"),
        "explore": ((reference, "missing.itf.json"), REFUSED, ""),  # otherwise it waits for a browser
        "lab": (("list",), HOLDS, "topic-id"),
        "replay": (("TRACE",), VIOLATED, "not_too_many()"),
        "replay --minimize": (("TRACE", "--seconds", "5"), VIOLATED, "not_too_many()"),
        "replay --format text": (("TRACE",), HOLDS, "not_too_many()"),
    }


NEEDS_SPARK = {"nightly"}
"""It has tests of their own in `test_a_night_in_a_project_with_packages`."""


OTHERS = all_commands().keys() - {words.split()[0] for words in commands("x")} - NEEDS_SPARK
"""Commands that need no more to be tried than their help."""


PROCESSES = ("scenarios", "exhaust", "prove")
ONE_AFTER_ANOTHER = """#!{python}
import contextlib, io, json, sys
from kwalk.reports.command_line import main
for words in json.load(sys.stdin):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(words)
    print(json.dumps([code, out.getvalue(), err.getvalue()]))
"""


@pytest.fixture(scope="session")
def results(project):
    """What every command does in the project, with a trace that it has found: its code and its two outputs.

    In the project with packages those in `PROCESSES` are processes of their own. One process runs all others, because
    most of the time of a process is its start.
    """
    folder, reference, environment = project
    for number, name in enumerate(("one.json", "two.json")):
        (folder / name).write_text(json.dumps({"on": number}))
    environment.run(folder, "kwalk", "exhaust", reference, "--out", "traces")
    trace = str(next((folder / "traces").glob("*.itf.json")))
    words = {other: [other, "--help"] for other in OTHERS} | {
        command: [*command.split(), *(trace if word == "TRACE" else word for word in given)]
        for command, (given, _, _) in commands(reference).items()
    }
    script = environment.binaries / "one_after_another"
    script.write_text(ONE_AFTER_ANOTHER.format(python=environment.binaries / "python"))
    script.chmod(0o755)
    own = PROCESSES if reference.startswith("model.") else ()
    others = [command for command in words if command not in own]
    ran = environment.run(folder, "one_after_another", stdin=json.dumps([words[command] for command in others]))
    found = dict(zip(others, map(json.loads, ran.stdout.splitlines()), strict=True))
    for command in own:
        alone = environment.run(folder, "kwalk", *words[command])
        found[command] = (alone.returncode, alone.stdout, alone.stderr)
    return found


@pytest.mark.parametrize("command", commands("x"))
def test_a_command_works_on_a_scenario_of_the_project(project, results, command):
    _, expected, shown = commands(project[1])[command]
    code, out, err = results[command]
    assert "Traceback" not in err
    assert code == expected or (expected is None and code in (0, 3, 12)), err
    assert shown in out


def test_a_night_in_a_project_with_packages(environment, spark, tmp_path):
    folder = tmp_path
    project_with_packages(folder)
    for out in ("night-1", "night-2"):
        ran = environment.run(folder, "kwalk", "nightly", "night.toml", "--out", out)
        assert ran.returncode == VIOLATED, ran.stderr
    assert environment.run(folder, "kwalk", "nightly", "night-2", "--before", "night-1").returncode in (HOLDS, VIOLATED)
    assert environment.run(folder, "kwalk", "nightly", "night-2").returncode == HOLDS


@pytest.mark.parametrize("words", [("pytest",), ("python", "-m", "pytest")], ids=" ".join)
def test_the_tests_of_the_project_pass(project, words):
    folder, _, environment = project
    ran = environment.run(folder, *words, "-q", "-p", "no:cacheprovider")
    assert "3 passed" in ran.stdout, ran.stdout + ran.stderr


def test_a_script_of_the_project_imports_its_scenario(project):
    folder, _, environment = project
    ran = environment.run(folder, "python", "script.py")
    assert ran.stdout == "violated 4\n", ran.stderr


def test_a_project_that_does_not_use_kwalk_loads_nothing_heavy(environment, tmp_path):
    (tmp_path / "reports").mkdir()
    (tmp_path / "reports" / "__init__.py").write_text("")
    (tmp_path / "test_nothing.py").write_text(
        "import sys\n\n\ndef test_nothing():\n"
        "    heavy = {'attr', 'numpy', 'numba', 'z3', 'hypothesis.strategies', 'pyspark', 'pandas', 'rich', 'jinja2'}\n"
        "    assert not heavy & set(sys.modules)\n"
        "    assert sum(name.startswith('kwalk') for name in sys.modules) <= 8\n"
    )
    ran = environment.run(tmp_path, "python", "-m", "pytest", "-q", "-p", "no:hypothesispytest")
    assert "1 passed" in ran.stdout, ran.stdout


# What the wheel consists of.


def test_every_source_file_and_template_is_in_the_wheel(wheel):
    written = {
        f"kwalk/{path.relative_to(ROOT).as_posix()}"
        for room in ROOMS
        for path in (ROOT / room).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and path.suffix != ".pyc"
    }
    packed = set(zipfile.ZipFile(wheel).namelist())
    assert written - packed == set()
    assert {"kwalk/__init__.py", "kwalk/engines.py", "kwalk/py.typed"} <= packed
    assert any("templates" in name for name in written)


def test_nothing_but_one_package_is_in_the_wheel(wheel):
    packed = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in packed if ".dist-info/" not in name} == {"kwalk"}


def test_the_command_the_scenarios_and_the_pytest_plugin_are_announced(wheel):
    archive = zipfile.ZipFile(wheel)
    announced = archive.read(next(n for n in archive.namelist() if n.endswith("entry_points.txt"))).decode()
    assert "kwalk = kwalk.__main__:start" in announced
    for group in ("[kwalk.scenarios]", "[kwalk.display]", "[pytest11]"):
        assert group in announced


def test_the_licence_is_in_the_wheel(wheel):
    archive = zipfile.ZipFile(wheel)
    (name,) = (name for name in archive.namelist() if name.endswith("/LICENSE"))
    assert b"Apache License" in archive.read(name)
