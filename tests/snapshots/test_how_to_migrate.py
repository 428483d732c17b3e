"""The page on migrating to KRaft is true: its command prints what it shows, and it lists every consequence."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from docs.generate.migration_forecast import FORECAST
from kwalk.invariants.reading import migrating, migration
from kwalk.model.language.inspection import Prognosis
from kwalk.reports.command_line import main
from tests.examples.reading import parts_of, squeezed
from tests.structure.rooms import ROOT

PAGE = ROOT / "docs" / "how-to" / "migrate-to-kraft.md"


def test_following_the_page_prints_what_it_shows(capsys, monkeypatch, tmp_path) -> None:
    monkeypatch.chdir(ROOT)
    for part, count in zip(parts_of(PAGE), (5, 2), strict=True):
        more = ["--out", str(tmp_path)] if "--forecast" in part.code else []
        assert main([*part.code.split()[1:], *more]) == 12
        printed = squeezed(capsys.readouterr().out)
        lines = [line for line in map(squeezed, part.shown) if line]
        assert len(lines) == count and all(line in printed for line in lines)


def test_the_page_lists_every_consequence() -> None:
    trees = [ast.parse(Path(module.__file__).read_text("utf-8")) for module in (migration, migrating)]
    calls = [
        node
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "Consequence"
    ]
    names = {call.args[0].value for call in calls if isinstance(call.args[0], ast.Constant)}
    listed = {row["name"] for rows in FORECAST.values() for row in rows}
    assert len(names) > 20 and listed == names


def test_the_page_has_the_exit_code_of_every_prognosis() -> None:
    page = PAGE.read_text("utf-8")
    for prognosis in Prognosis:
        (row,) = re.findall(rf"^\| `{prognosis.value.upper()}` \| .* \| ([0-9]+) \|$", page, re.MULTILINE)
        assert int(row) == prognosis.exit_code
