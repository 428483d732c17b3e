"""A run of tests that ends early goes on with what has not passed, as long as the sources are the same."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests import resumption
from tests.resumption import digest_of_sources

TESTS = """
import os

import pytest


@pytest.mark.parametrize("n", range(4))
def test_it(n):
    assert n != 2 or "FIXED" in os.environ
"""
PLUGIN = """
from pathlib import Path
from tests.resumption import PassedTests, left

def pytest_configure(config):
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(PassedTests(Path("passed")), "passed-tests")

def pytest_collection_modifyitems(config, items):
    items[:] = left(config, items)
"""


def outcome(folder: Path, **environment: str) -> str:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "xdist", "--numprocesses", "2", "test_it.py"]
    environment = {**os.environ, "PYTHONPATH": str(resumption.ROOT), **environment}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)
    assert done.stdout, done.stderr
    return done.stdout.splitlines()[-1].partition(" in ")[0]


def test_a_run_goes_on_with_what_has_not_passed_and_then_begins_anew(tmp_path):
    (tmp_path / "test_it.py").write_text(TESTS, encoding="utf-8")
    (tmp_path / "conftest.py").write_text(PLUGIN, encoding="utf-8")
    assert outcome(tmp_path) == "1 failed, 3 passed"
    assert outcome(tmp_path, FIXED="1") == "1 passed"
    assert outcome(tmp_path, FIXED="1") == "4 passed"


def test_other_sources_have_another_digest(tmp_path, monkeypatch):
    monkeypatch.setattr(resumption, "ROOT", tmp_path)
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org"]
    (tmp_path / "file").write_text("1", encoding="utf-8")
    for words in (["init", "-q"], ["add", "file"], ["commit", "-q", "-m", "1"]):
        subprocess.run([*git, *words], cwd=tmp_path, check=True)
    first = digest_of_sources()
    (tmp_path / "file").write_text("2", encoding="utf-8")
    second = digest_of_sources()
    (tmp_path / "other").write_text("3", encoding="utf-8")
    third = digest_of_sources()
    (tmp_path / "other").write_text("4", encoding="utf-8")
    assert len({first, second, third, digest_of_sources()}) == 4
