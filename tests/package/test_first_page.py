"""The wheel with its bitcode where there is no Numba: the first page of the documentation is true, all loops load."""

from __future__ import annotations

import platform
import sys
import zipfile
from pathlib import Path

import pytest

from kwalk.search.native.compile_all import loop_names, loops_of_setup
from kwalk.search.native.processor import LEVELS
from tests.package.first_page import follow
from tests.package.installation import Environment, build_wheel, install

pytestmark = [
    pytest.mark.thorough,  # to make the bitcode of all loops takes minutes
    pytest.mark.skipif((sys.platform, platform.machine()) != ("linux", "x86_64"), reason="no bitcode is made here"),
]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    return build_wheel(tmp_path_factory.mktemp("wheel"), bitcode=True)


@pytest.fixture(scope="module")
def environment(wheel, tmp_path_factory) -> Environment:
    made = install(wheel, tmp_path_factory.mktemp("environment") / "venv", numba=False)
    assert made.run(made.folder, "python", "-c", "import numba").returncode != 0
    return made


def test_the_first_page_is_true(environment, tmp_path):
    steps = [*follow(environment.binaries, tmp_path)]
    assert [step for step in steps if step[3] or "Traceback" in step[2]] == []
    assert len(steps) >= 5


def test_the_bitcode_of_each_loop_is_in_the_wheel_for_each_level(wheel, environment, tmp_path):
    with zipfile.ZipFile(wheel) as archive:
        for name in LEVELS:
            with archive.open(f"kwalk/search/native/levels/{name}.zip") as level, zipfile.ZipFile(level) as loops:
                assert len(loops.namelist()) == len(loop_names())
    compiled = environment.run(tmp_path, "python", "-m", "kwalk.search.native.compile_all")
    assert (compiled.returncode, compiled.stderr) == (0, "")
    assert len([*environment.folder.rglob("*.loop")]) == len(loops_of_setup())
