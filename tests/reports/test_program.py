"""Commands that are printed can be entered where kwalk was started, whether or not PATH has it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from kwalk.reports.program import program

INSTALLED = Path(sys.executable).parent / "kwalk"


def test_in_a_test_or_a_notebook_it_has_its_name() -> None:
    assert program() == "kwalk"


@pytest.mark.skipif(not INSTALLED.exists(), reason="the command kwalk is not beside this Python")
@pytest.mark.parametrize(("path", "name"), [("/usr/bin:/bin", str(INSTALLED)), (str(INSTALLED.parent), "kwalk")])
def test_it_has_its_path_where_no_other_way_leads_to_it(path: str, name: str, tmp_path: Path) -> None:
    command = [str(INSTALLED), "exhaust", "die-hard", "--property", "not_solved", "--out", str(tmp_path)]
    done = subprocess.run(
        command, cwd=tmp_path, env={"PATH": path, "XDG_CACHE_HOME": str(tmp_path)}, capture_output=True
    )
    printed = done.stdout.decode()
    assert f"Reproduce: {name} replay " in printed and f"Search again: {name} exhaust die-hard" in printed
