"""Each documented command of the lab runs once on real brokers, from a folder of its own, with relative paths.

The commands are those of the page and of `kwalk lab --help`, with fewer rounds. A story of the page is one test: what
its commands write, later ones read.
"""

from __future__ import annotations

import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kwalk.clusters.commands.lab import COMMAND

pytestmark = [pytest.mark.lab, pytest.mark.slow]

PAGE = Path(__file__).parents[2] / "docs/how-to/run-a-lab.md"
SHORTER = {
    "--rounds 100": "--rounds 2",
    "--rounds 20": "--rounds 1 --operations 3",
    "--rounds 500": "--rounds 10",
    "reproduce all": "reproduce recover-stopped-isr",
}
"""What is replaced in a command, so that it ends soon."""


def documented() -> list[str]:
    """The commands of the page, then those of the help, without comments, shortened, and each once."""
    blocks = re.findall(r"```sh\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    lines = [line.strip() for text in (*blocks, COMMAND.examples) for line in text.splitlines()]
    commands = [re.split(r"\s{2,}", line.partition("#")[0].strip())[0] for line in lines if line.startswith("kwalk")]
    for text, shorter in SHORTER.items():
        assert any(text in command for command in commands), text
        commands = [command.replace(text, shorter) for command in commands]
    return list(dict.fromkeys(commands))


def ran(command: str, folder: Path, *expected: int) -> str:
    """Run a command in a folder as a shell does, and return its output; its exit code is an expected one, or 0."""
    words = command.replace("kwalk ", f"{shlex.quote(sys.executable)} -m kwalk.reports.command_line ", 1)
    done = subprocess.run(["/bin/sh", "-c", words], cwd=folder, capture_output=True, text=True, timeout=600)
    assert done.returncode in (expected or (0,)), f"{command}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def of_action(action: str) -> list[str]:
    found = [command for command in documented() if command.startswith(f"kwalk lab {action}")]
    assert found
    return found


def test_every_documented_command_is_run_here():
    known = ("fetch", "start", "capture", "list", "reproduce", "replay", "fuzz")
    others = [command for command in documented() if not command.startswith(tuple(f"kwalk lab {a}" for a in known))]
    assert [command.split()[1] for command in others] == ["diagnose", "exhaust"]


@pytest.mark.parametrize("command", [*of_action("fetch"), *of_action("list"), *of_action("reproduce")])
def test_a_command_that_stands_alone_succeeds(command, tmp_path):
    by_chance = "lost-deletion" in command  # 3 where so few rounds do not show it
    out = ran(command, tmp_path, *((0, 3) if by_chance else (0,)))
    assert "seen in" in out or "complete in" in out or "expected" in out


@pytest.mark.parametrize("command", of_action("start"))
def test_a_cluster_is_captured_where_it_says_it_is(command, tmp_path):
    words = [sys.executable, "-m", "kwalk.reports.command_line", *shlex.split(command)[1:]]
    with subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as lab:
        assert lab.stdout is not None
        assert lab.stdout.readline() == f"Folder: {tmp_path.resolve() / 'kwalk-out/lab'}\n"
        for capture in of_action("capture"):
            ran(capture.partition(";")[0], tmp_path)
        lab.send_signal(signal.SIGINT)
        assert lab.wait(60) == 0
    hunt = next(command for command in documented() if command.startswith("kwalk diagnose") and "--forecast" in command)
    ran(f"{hunt} --seconds 5", tmp_path)


def test_the_trace_of_a_counterexample_is_replayed(tmp_path):
    exhaust = next(command for command in documented() if command.startswith("kwalk exhaust"))
    ran(exhaust, tmp_path, 12)
    traces = sorted((tmp_path / "kwalk-out").glob("*.itf.json"))
    for command in of_action("replay"):
        written = traces[0].relative_to(tmp_path)
        ran(re.sub(r"kwalk-out/\S+", str(written), command), tmp_path)


def test_random_histories_are_explained_and_continued(tmp_path):
    begun = time.monotonic()
    for command in of_action("fuzz"):
        out = ran(command, tmp_path)
        agrees = r": 10 histories of one \w+; 0 differ$" if "logs" in command else r"^ +1  explained$"
        assert re.search(agrees, out, re.MULTILINE), out
    assert (tmp_path / "kwalk-out/fuzz/2.8.2-seed-1/history-0000/verdict.json").exists()
    assert time.monotonic() - begun < 600
