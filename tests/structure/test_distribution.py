"""What an installed kwalk consists of: all modules and templates, the command, the scenarios, the pytest plugin."""
from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile

import pytest

from tests.structure.rooms import ROOMS, ROOT

SIDE_PRODUCTS = ("__pycache__", "*.egg-info", ".*_cache")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel, built in a copy so that nothing is left in the project."""
    copy = tmp_path_factory.mktemp("copy")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    for room in ROOMS:
        shutil.copytree(ROOT / room, copy / room, ignore=shutil.ignore_patterns(*SIDE_PRODUCTS))
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", "out", "."]
    subprocess.run(command, cwd=copy, check=True, capture_output=True)
    with zipfile.ZipFile(next((copy / "out").glob("kwalk-*.whl"))) as archive:
        yield archive


def test_every_source_file_and_template_is_installed(wheel):
    written = {
        path.relative_to(ROOT).as_posix()
        for room in ROOMS
        for path in (ROOT / room).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and path.suffix != ".pyc"
    }
    assert written - set(wheel.namelist()) == set()
    assert any("templates" in name for name in written)


def test_nothing_but_the_rooms_is_installed(wheel):
    assert {name.split("/")[0] for name in wheel.namelist() if ".dist-info/" not in name} == set(ROOMS)


def test_the_command_the_scenarios_and_the_pytest_plugin_are_announced(wheel):
    announced = wheel.read(next(name for name in wheel.namelist() if name.endswith("entry_points.txt"))).decode()
    assert "kwalk = reports.command_line:start" in announced
    assert "[kwalk.scenarios]" in announced
    assert "[pytest11]" in announced


def test_the_licence_is_installed(wheel):
    (name,) = (name for name in wheel.namelist() if name.endswith("/LICENSE"))
    assert b"Apache License" in wheel.read(name)
