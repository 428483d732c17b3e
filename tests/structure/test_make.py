"""The targets of the Makefile: what becomes of an old Python, of what a hunt finds, of a folder that was moved."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys

import pytest

from tests.structure.rooms import ROOT

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")


def make(folder, *arguments):
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    return subprocess.run(["make", *arguments], cwd=folder, capture_output=True, text=True, env=environment)


def script(path, *lines):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(["#!/bin/sh", *lines]) + "\n")
    path.chmod(0o755)


@pytest.fixture
def clone(tmp_path):
    """A folder with a space in its name, with what `make` needs, and nothing set up."""
    folder = tmp_path / "a clone"
    folder.mkdir()
    for name in ("Makefile", "pyproject.toml", "setup.py"):
        shutil.copy(ROOT / name, folder)
    shutil.copytree(ROOT / "requirements", folder / "requirements")
    return folder


def set_up(folder, code):
    """Make the folder look as if it was set up, with a command that ends with this exit code."""
    script(folder / ".venv" / "bin" / "python", "exit 0")
    script(folder / ".venv" / "bin" / "kwalk", f"exit {code}")
    (folder / ".venv" / ".kwalk-is-set-up").write_text(str(folder))
    (folder / ".venv" / ".loops-are-compiled").touch()


@pytest.mark.parametrize("target", ["hunt", "nightly-demo"])
@pytest.mark.parametrize("code", [0, 3, 11, 12, 13])
def test_a_search_that_ran_is_a_success_whatever_it_found(clone, target, code):
    set_up(clone, code)
    assert make(clone, target).returncode == 0


@pytest.mark.parametrize("target", ["hunt", "nightly-demo"])
@pytest.mark.parametrize("code", [1, 2, 130])
def test_a_search_that_did_not_run_is_a_failure(clone, target, code):
    set_up(clone, code)
    assert make(clone, target).returncode != 0


def test_a_second_set_up_does_nothing(clone):
    set_up(clone, 0)
    assert (make(clone, "setup").stdout, make(clone, "setup").returncode) == ("", 0)


def test_an_old_python_is_refused_with_what_to_do(clone):
    pretend = "import sys; sys.version_info, sys.version = (3, 10, 13), '3.10.13 (old)'; exec(sys.argv[1])"
    script(clone / "python3.10", f'exec {shlex.quote(sys.executable)} -c "{pretend}" "$2"')
    ran = make(clone, "setup", "PYTHON=./python3.10")
    assert ran.returncode != 0
    assert "kwalk needs Python 3.11 or newer; ./python3.10 is 3.10.13." in ran.stderr
    assert not (clone / ".venv").exists()


def test_no_python_at_all_is_refused_with_what_to_do(clone):
    ran = make(clone, "setup", "PYTHON=")
    assert ran.returncode != 0
    assert "kwalk needs Python 3.11 or newer" in ran.stderr


def test_a_folder_that_was_moved_is_set_up_again(clone):
    set_up(clone, 0)
    moved = clone.rename(clone.with_name("moved"))
    ran = make(moved, "setup", "PYTHON=")
    assert "kwalk needs Python" in ran.stderr  # it did not take the old set-up for its own


def test_help_lists_every_target_that_others_may_use(clone):
    listed = make(clone).stdout
    assert all(f"make {target}" in listed for target in ("setup", "hunt", "nightly-demo", "test", "lint", "bench"))
