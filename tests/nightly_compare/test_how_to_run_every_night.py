"""The page on running every night: its script does what it says, its units are sound, its commands exist."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from datetime import UTC, datetime

import pytest

from kwalk.reports.options.parser import parser
from tests.structure.documents import blocks
from tests.structure.rooms import ROOT

PAGE = ROOT / "docs" / "how-to" / "run-every-night.md"
STUB = """#!/bin/sh
echo "$@" >> calls
test "$3" != --before || exit ${COMPARED:-0}
test "$2" = --resume && run=$3 || run=$4
mkdir -p "$run" && echo '  "state": "'${STATE:-complete}'",' > "$run/manifest.json"
exit ${NIGHT:-0}
"""


def block(language: str, begins: str) -> str:
    return next(block.code for block in blocks(PAGE, language) if begins in block.code)


@pytest.fixture
def night(tmp_path):
    """The page's script beside a command that only notes how it is called; the code that a night ends with."""
    for name, text in (("night.sh", block("bash", "# night.sh")), ("kwalk", STUB)):
        (tmp_path / name).write_text(text, encoding="utf-8")
        (tmp_path / name).chmod(0o755)

    def run(**codes: str) -> int:
        found = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", **codes}
        return subprocess.run(["./night.sh", "night.toml", "runs"], cwd=tmp_path, env=found).returncode

    run.folder = tmp_path
    run.calls = lambda: (tmp_path / "calls").read_text().splitlines()
    return run


def tonight() -> str:
    return f"runs/{datetime.now(UTC):%Y-%m-%d}"


def test_a_first_night_has_nothing_to_compare_with(night):
    assert night(NIGHT="12") == 0
    assert night.calls() == [f"nightly night.toml --out {tonight()}"]
    assert (night.folder / "runs" / "last").read_text() == f"{tonight()}\n"


@pytest.mark.parametrize("compared", [0, 3, 12])
def test_a_later_night_ends_with_what_is_new_in_it(night, compared):
    (night.folder / "runs").mkdir()
    (night.folder / "runs" / "last").write_text("runs/before\n")
    assert night(NIGHT="13", COMPARED=str(compared)) == compared
    assert night.calls() == [
        f"nightly night.toml --out {tonight()} --before runs/before",
        f"nightly {tonight()} --before runs/before",
    ]
    assert night() == 0  # this night is done
    assert len(night.calls()) == 2


def test_a_run_that_was_killed_is_resumed(night):
    assert night(NIGHT="137") == 137
    assert not (night.folder / "runs" / "last").exists()
    assert night() == 0
    assert night.calls()[-1] == f"nightly --resume {tonight()}"


def test_a_run_that_was_stopped_ends_with_3_and_is_resumed(night):
    assert night(NIGHT="3", STATE="interrupted") == 3
    assert night() == 0
    assert night.calls()[-1] == f"nightly --resume {tonight()}"


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd-analyze to verify units with")
def test_the_units_are_sound(tmp_path):
    for text in (block.code for block in blocks(PAGE, "ini")):
        name = re.match(r"# /etc/systemd/system/(\S+)\n", text)[1]
        here = text.replace("/srv/kwalk/night.sh", shutil.which("true")).replace("User=kwalk\n", "")
        (tmp_path / name).write_text(here)
    units = sorted(map(str, tmp_path.iterdir()))
    ran = subprocess.run(["systemd-analyze", "verify", "--man=no", *units], capture_output=True, text=True)
    assert len(units) == 3
    assert [line for line in ran.stderr.splitlines() if str(tmp_path) in line or "kwalk" in line] == []
    assert ran.returncode == 0


def test_the_shell_of_the_cron_line_the_workflow_and_the_submission_is_shell():
    cron = block("text", "15 1 * * *").split(None, 5)[5]
    steps = re.findall(r"run: (?:\|\n((?: {10}.*\n)+)|(.+)\n)", block("yaml", "name: night"))
    scripts = [cron, *(many or one for many, one in steps), *(one.code for one in blocks(PAGE, "bash"))]
    assert len(scripts) == 1 + 4 + 3
    for script in scripts:
        assert subprocess.run(["sh", "-n"], input=script, text=True, capture_output=True).stderr == ""


def test_the_commands_of_kwalk_in_it_exist():
    texts = [block("yaml", "name: night"), *(one.code for one in blocks(PAGE, "bash"))]
    called = re.findall(r"(?:kwalk|application\.py) ((?:nightly|compare|night\.toml) [^>|&;\n]*)", "\n".join(texts))
    assert len(called) == 5
    for words in called:
        given = shlex.split(words.replace('${last:+--before "$last"}', '--before "$last"'))
        parser().parse_args(given if given[0] != "night.toml" else ["nightly", *given])
