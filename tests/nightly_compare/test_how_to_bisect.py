"""The script of the page on bisecting answers git with what the exit codes of a run and of a comparison mean."""

from __future__ import annotations

import os
import subprocess
import tomllib

import pytest

from kwalk.search.night.config import config_from
from tests.structure.documents import blocks
from tests.structure.rooms import ROOT

PAGE = ROOT / "docs" / "how-to" / "bisect-a-finding.md"


@pytest.mark.parametrize(
    ("nightly", "compare", "code"),
    [
        (0, 0, 0),
        (12, 0, 0),
        (13, 12, 1),
        (11, 12, 1),
        (3, 3, 125),
        (0, 2, 125),
        (2, 0, 125),
        (70, 0, 125),
        (130, 0, 125),
    ],
)
def test_the_script_answers_good_bad_or_skip(tmp_path, nightly, compare, code):
    script, command = tmp_path / "bisect.sh", tmp_path / "kwalk"
    script.write_text(next(block.code for block in blocks(PAGE, "bash") if block.code.startswith("#!")))
    command.write_text(f"#!/bin/sh\ncase $3 in --out) exit {nightly} ;; --before) exit {compare} ;; esac\n")
    for file in (script, command):
        file.chmod(0o755)
    found = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "TMPDIR": str(tmp_path)}
    assert subprocess.run([script, "bisect.toml", "good"], env=found).returncode == code


def test_its_configuration_is_understood_and_has_no_time():
    content = tomllib.loads(next(blocks(PAGE, "toml")).code)
    config = config_from(content, "bisect.toml")
    assert (config.minutes, config.tasks[0].seconds, config.tasks[0].walks) == (None, None, 2000)
