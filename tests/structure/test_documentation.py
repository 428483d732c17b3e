"""The documentation builds without a warning, with the pages that are generated."""

from __future__ import annotations

import subprocess
import sys

from tests.structure.rooms import ROOT


def test_the_documentation_builds_without_a_warning(tmp_path):
    command = [sys.executable, "-m", "sphinx", "--quiet", "--fail-on-warning", "--keep-going", "-b", "html", "docs"]
    built = subprocess.run([*command, tmp_path / "docs"], cwd=ROOT, capture_output=True, text=True)
    assert (built.returncode, built.stderr) == (0, "")
    reference = (tmp_path / "docs" / "reference" / "api.html").read_text(encoding="utf-8")
    assert "kwalk.exhaust" in reference and "memory_bytes" in reference
