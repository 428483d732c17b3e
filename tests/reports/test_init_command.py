"""`kwalk init` writes a model with a bug, a test that finds it, and no file over another."""

from __future__ import annotations

import subprocess
import sys
import tomllib

import pytest

from tests.structure.documents import blocks
from tests.structure.rooms import ROOT

TUTORIAL = ROOT / "docs" / "tutorial" / "your-first-model.md"


def test_it_writes_what_the_tutorial_has(kwalk, tmp_path):
    assert kwalk("init").code == 0
    parts = [block.code for block in blocks(TUTORIAL, "python")]
    for name in ("leases.py", "test_leases.py"):
        (part,) = [
            part
            for part in parts
            if part.startswith(f"# {name}\nfrom") and "FENCED" not in part and "evolve" not in part
        ]
        assert (tmp_path / name).read_text(encoding="utf-8").rstrip() == part.rstrip()
    assert tomllib.loads((tmp_path / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["pytest"]


def test_the_test_finds_the_bug_and_the_command_does_too(kwalk, tmp_path):
    said = kwalk("init", "orders").out
    assert "kwalk exhaust orders" in said and sorted(path.name for path in tmp_path.iterdir()) == [
        "orders.py",
        "pyproject.toml",
        "test_orders.py",
    ]
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "test_orders.py"], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 1 and "an old version of the file comes back" in ran.stdout
    assert kwalk("exhaust", "orders").code == 12


def test_nothing_is_replaced_and_nothing_half_written(kwalk, tmp_path):
    (tmp_path / "test_leases.py").write_text("mine")
    ran = kwalk("init")
    assert ran.code == 2 and "test_leases.py is there already" in ran.err
    assert [path.name for path in tmp_path.iterdir()] == ["test_leases.py"]


def test_settings_that_are_there_stay(kwalk, tmp_path):
    (tmp_path / "pyproject.toml").write_text("[project]\n")
    assert 'needs pythonpath = ["."]' in kwalk("init").out
    assert (tmp_path / "pyproject.toml").read_text() == "[project]\n"


@pytest.mark.parametrize("name", ["my-model", "class", "../x", "3d"])
def test_a_name_that_cannot_be_imported_is_refused(kwalk, tmp_path, name):
    ran = kwalk("init", name)
    assert (ran.code, list(tmp_path.iterdir())) == (2, []) and "cannot be imported" in ran.err
