"""What every refusal has in common, and running the command inside the test or as a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.reports.commands import Ran, runner

COMMAND = Path(sys.executable).with_name("kwalk")
DIE_HARD = "kwalk.model.examples.die_hard:DIE_HARD"
LOST_UPDATE = "kwalk.model.examples.lost_update:LOST_UPDATE"


def assert_refused(ran: Ran, *expected: str, printed: bool = False) -> None:
    """One harmless message on standard error that says all this, exit code 2, and (unless `printed`) nothing else."""
    assert (ran.code, ran.out if not printed else "") == (2, ""), ran
    assert ran.err.startswith("kwalk: ") and ran.err.count("\n") == 1, ran.err
    assert ran.err.removesuffix("\n").isprintable() and len(ran.err) < 1000
    for words in expected:
        assert words in ran.err


def left_in(folder: Path) -> set[str]:
    """The files and folders that a command left, hidden ones too."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if "__pycache__" not in path.parts}


@pytest.fixture
def kwalk(capsys, tmp_path, monkeypatch) -> Callable[..., Ran]:
    """Run the command inside the test, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    return runner(capsys)


@pytest.fixture
def process(tmp_path) -> Callable[..., Ran]:
    """Run the installed command as a process of its own, in an empty folder; `without` names variables to leave out."""

    def run(*words: object, without: tuple[str, ...] = (), **variables: object) -> Ran:
        kept = {name: value for name, value in os.environ.items() if name not in without}
        done = subprocess.run(
            [COMMAND, *map(str, words)],
            cwd=tmp_path,
            env=kept | {k: str(v) for k, v in variables.items()},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def tiny_disk(tmp_path) -> Iterator[Path]:
    """A disk of 4 KiB: real where this user may mount one, else the test is skipped."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4k", "tmpfs", disk], capture_output=True, check=False)
    if mounted.returncode:
        pytest.skip("this user may not mount a disk")
    yield disk
    subprocess.run(["umount", disk], check=True)
