"""The documentation builds without a warning, and its generated pages are current."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest

from tests.structure.rooms import ROOT


def test_the_documentation_builds_without_a_warning(tmp_path):
    command = [sys.executable, "-m", "sphinx", "--quiet", "--fail-on-warning", "--keep-going", "-b", "html", "docs"]
    built = subprocess.run([*command, tmp_path / "docs"], cwd=ROOT, capture_output=True, text=True)
    assert (built.returncode, built.stderr) == (0, "")
    reference = (tmp_path / "docs" / "reference" / "api.html").read_text(encoding="utf-8")
    assert "kwalk.exhaust" in reference and "memory_bytes" in reference


@pytest.mark.parametrize("name", ["log_lines", "broker_logs"])
def test_generated_pages_of_log_lines_are_current(name):
    sys.path.insert(0, str(ROOT / "docs"))
    try:
        module = import_module(name)
    finally:
        sys.path.remove(str(ROOT / "docs"))
    assert module.PAGE.read_text(encoding="utf-8") == module.page()
