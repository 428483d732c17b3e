"""Type checkers accept the examples and the tutorial's model in their strict mode, without an ignore."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.examples.reading import parts_of
from tests.structure.rooms import ROOMS, ROOT

TUTORIAL = ROOT / "docs" / "tutorial" / "your-first-model.md"
MODELS = sorted((ROOT / "model" / "examples").glob("*.py"))
WRONG = """
from kwalk.model.language import array, Array, Domain, number, optional, state

POTS = Domain("pots")

@state
class Pot:
    level: str = number(0, 3)
    spice: int = optional(POTS)
    lids: Array[bool] = array(POTS, number(0, 1))

def fill(pot: Pot) -> None:
    pot.level = 3
"""

STORED = """
from collections.abc import Set

from kwalk.model.language import array, Array, Bound, Domain, Fifo, fifo, number, state, subset

POTS = Domain("pots")
ROOM = Bound("room")

@state
class Shelf:
    queue: Fifo[int] = fifo(POTS, ROOM)
    levels: Array[int] = array(POTS, number(0, 2))
    some: Set[int] = subset(POTS)

def fill(shelf: Shelf) -> None:
    shelf.queue = [1, 2]
    shelf.queue = (1, *shelf.queue[1:])
    shelf.queue += [2]
    shelf.levels = [0 for _ in POTS]
    shelf.some = {1} | shelf.some
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with the tutorial's model, in which `kwalk` can be found as it is installed."""
    package = tmp_path / "types" / "kwalk"
    package.mkdir(parents=True)
    for room in ROOMS:
        (package / room).symlink_to(ROOT / room)
    for file in (*(ROOT / "kwalk").glob("*.py"), ROOT / "kwalk" / "py.typed"):
        (package / file.name).symlink_to(file)
    for part in parts_of(TUTORIAL):
        if part.module == "leases":
            with open(tmp_path / "leases.py", "a", encoding="utf-8") as end:
                end.write(part.code + "\n\n")
    return tmp_path


def mypy(project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `mypy --strict` in a project; kwalk's own modules are read, and not checked."""
    options = ["--follow-imports", "silent", "--cache-dir", str(project / "cache"), "--config-file", os.devnull]
    command = [sys.executable, "-m", "mypy", "--strict", *options, *arguments]
    return subprocess.run(
        command,
        cwd=project,
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"MYPYPATH": os.pathsep.join((str(project), str(project / "types")))},
    )


def test_mypy_strict_accepts_the_examples_and_the_tutorials_model_and_finds_a_wrong_annotation(project: Path) -> None:
    (project / "stored.py").write_text(STORED)
    ran = mypy(project, "-m", "leases", "-m", "stored", "-p", "kwalk.model.examples")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    (project / "wrong.py").write_text(WRONG)
    ran = mypy(project, "wrong.py")
    assert [f"wrong.py:{line}:" in ran.stdout for line in (8, 9, 10, 13)] == [True] * 4, ran.stdout + ran.stderr


def test_no_example_has_a_comment_that_silences_a_type_checker() -> None:
    texts = [*(path.read_text(encoding="utf-8") for path in MODELS), TUTORIAL.read_text(encoding="utf-8")]
    assert not [text for text in texts if "type: ignore" in text or "pyright:" in text]


@pytest.mark.skipif(shutil.which("pyright") is None, reason="pyright is not installed")
def test_pyright_accepts_the_examples_and_the_tutorials_model(project: Path) -> None:
    for path in MODELS:
        shutil.copy(path, project / f"example_{path.name}")
    (project / "pyrightconfig.json").write_text('{"include": ["*.py"], "extraPaths": ["types"]}')
    command = ["pyright", "-p", ".", "--pythonpath", sys.executable]
    ran = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
