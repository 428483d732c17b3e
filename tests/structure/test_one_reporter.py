"""Results are printed in one place, options mean the same in all commands, and no old name of a command is used."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator

import pytest

from kwalk.reports.options.parser import commands
from kwalk.search.base.option_kinds import DIR, SECONDS
from tests.structure.rooms import ROOMS, ROOT, modules

REPORTER = "reports/reporter.py"
SAME = {"--json": "print one JSON object instead of text", "--html": "also write an HTML page into the folder of --out"}
"""What a switch means, in each command that has it."""
BEGINS = {"--out": "folder of", "--seconds": "time budget in seconds"}
KINDS = {"--out": DIR, "--seconds": SECONDS}
OLD = [old for command in commands().values() for old in command.replaces]
DECLARING = {
    "CHANGELOG.md",
    "tests/reports/test_old_names.py",
    *(f"{half}/commands" for half in ("reports", "clusters")),
}
"""Where old names are declared, and what becomes of them."""
SKIPPED = (".svg", ".png", ".json")


def uses_of_json() -> Iterator[tuple[str, int]]:
    """The modules and lines that look whether a script reads the result."""
    for path in modules(*ROOMS):
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if re.search(r"\.json\b|['\"]json['\"]", text) else ():
            is_option = isinstance(node, ast.Attribute) and node.attr == "json" and ast.unparse(node.value) == "options"
            is_looked_up = isinstance(node, ast.Call) and re.match(r"getattr\(.*'json'", ast.unparse(node))
            if is_option or is_looked_up:
                yield path.relative_to(ROOT).as_posix(), node.lineno


def test_one_reporter():
    found = list(uses_of_json())
    assert [where for where, _ in found] == [REPORTER], found


def test_only_the_reporter_prints_blocks():
    printing = {
        path.relative_to(ROOT).as_posix()
        for path in modules("reports/handlers", "reports/commands", "clusters/handlers", "clusters/commands")
        if "console()" in path.read_text(encoding="utf-8")
    }
    assert printing == set()


def test_options_that_write_and_limit_mean_the_same_in_all_commands():
    for name, command in commands().items():
        for word, settings in command.arguments:
            about = settings.get("help")
            if word in SAME:
                assert (about, settings["action"]) == (SAME[word], "store_true"), name
            if word in BEGINS:
                assert about.startswith(BEGINS[word]) and settings["type"] is KINDS[word], (name, about)


def places_of_old_names() -> Iterator[tuple[str, int, str]]:
    """The lines that use an old name as a command, in a text or in the words of a test."""
    names = "|".join(sorted((re.escape(old) for old in OLD), key=len, reverse=True))
    written = re.compile(rf"kwalk\s+({names})(?![\w-])|\b(?:kwalk|kwalk_here|main|process)\(\[?\"({names})\"[,)\]]")
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in tracked.splitlines():
        if name.endswith(SKIPPED) or name.startswith((*DECLARING, "bench/peers")) or not (ROOT / name).is_file():
            continue
        text = (ROOT / name).read_text(encoding="utf-8", errors="replace")
        yield from ((name, text.count("\n", 0, at.start()) + 1, at[0]) for at in written.finditer(text))


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="git lists the files")
def test_no_old_name_of_a_command_is_used():
    assert list(places_of_old_names()) == []
