"""The hunts of this project find what is known to be there, and say where the trace is."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def hunt(folder, *options):
    """A run of the hunts with two brokers, in a process of its own; its output."""
    command = [sys.executable, "-m", "pytest", "hunts", "-q", "-p", "no:cacheprovider", "--kwalk-bound", "brokers=2"]
    environment = {name: value for name, value in os.environ.items() if name != "CI"}  # there pytest says all twice
    done = subprocess.run(
        [*command, "--kwalk-out", str(folder), *options],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        env=environment,
    )
    return done.stdout + done.stderr


def test_a_hunt_fails_with_what_it_finds_by_every_engine(tmp_path):
    wanted = "zk_id_not_erased and old-client-expansion and not in-detail"
    output = hunt(tmp_path, "--kwalk-variant", "2.8.2", "--kwalk-seconds", "5", "--kwalk-profile", "ci", "-k", wanted)
    assert "3 failed" in output
    claims = re.findall(r"^(\S+\.html): VIOLATED  zk_id_not_erased\(.*\)  in 4 steps", output, re.MULTILINE)
    assert len(claims) == 3 and all(Path(page).parent == tmp_path for page in claims)


def test_one_search_serves_all_tests_of_a_scenario_and_each_failure_is_shown_once(tmp_path):
    wanted = "old-client-expansion and (exhaust or walk) and (zk_id_not_erased or topic_id_stable) and not in-detail"
    output = hunt(tmp_path, "--kwalk-variant", "2.8.2", "--kwalk-seconds", "2", "-k", wanted)
    assert "4 failed" in output
    assert "kwalk: 2 searches of at most 2 s, 0 min in all with one worker" in output
    assert len(re.findall(r"^search \d+: old-client-expansion 2\.8\.2, ", output, re.MULTILINE)) in (1, 2)
    # One search if it visits every state; else the walks have a search of their own.
    first = "hunts/test_stories.py::test_no_violation_is_found[old-client-expansion-exhaust-zk_id_not_erased]"
    assert f"the steps are those of {first}" in output


def test_tests_of_other_folders_run_beside_the_hunts(tmp_path):
    other = tmp_path / "test_other.py"
    lines = ["import pytest", "", "", "@pytest.mark.parametrize('prop', [1])", "def test_other(prop):", "    pass", ""]
    other.write_text("\n".join(lines), encoding="utf-8")
    output = hunt(tmp_path, str(other), "--collect-only", "-k", "test_other or (exhaust and zk_id_not_erased)")
    assert "test_other[1]" in output
    assert int(re.findall(r"^kwalk: (\d+) searches of at most", output, re.MULTILINE)[0]) > 10


def test_a_variant_that_no_story_has_is_refused(tmp_path):
    assert "No variant named '2.8'. Did you mean '2.8.2'?" in hunt(tmp_path, "--kwalk-variant", "2.8")
