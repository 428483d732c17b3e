"""The page on explaining snapshots is true: its commands print what it shows, with the exit codes that it names."""

from __future__ import annotations

from kwalk.reports.command_line import main
from kwalk.search.analyses.explain.explain import Fit
from tests.examples.reading import parts_of, squeezed
from tests.snapshots.test_incident_page import text_of
from tests.structure.rooms import ROOT

PAGE = ROOT / "docs" / "how-to" / "explain-a-cluster.md"
REFERENCE = ROOT / "docs" / "reference" / "scripts.md"


def test_following_the_page_prints_what_it_shows(capsys, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tests").symlink_to(ROOT / "tests")
    codes, compared = [], 0
    for part in parts_of(PAGE):
        codes.append(main(part.code.split()[1:]))
        printed = squeezed(capsys.readouterr().out)
        for line in filter(None, map(squeezed, part.shown)):
            assert line in printed
            compared += 1
    assert (codes, compared) == ([0, 12], 7)
    assert len(list((tmp_path / "found").glob("*.itf.json"))) == 1
    (page,) = (tmp_path / "found").glob("*.html")
    text = text_of(page.read_text(encoding="utf-8").partition("<body>")[2])
    assert text.startswith("CONSISTENT Topic ids agree") and "Root cause" not in text
    assert "old client creates topic t through ZooKeeper" in text and "operator deletes /controller" in text
    assert "EXPLAINED 2 snapshots, 2 assumed events, 19 steps" in text


def test_every_verdict_is_listed_with_its_exit_code() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for fit in Fit:
        line = next(line for line in page.splitlines() if line.startswith(f"| `{fit.value.upper()}` |"))
        assert line.endswith(f"| {fit.exit_code} |")


def test_every_field_of_the_json_object_is_named(capsys, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    capture = ROOT / "tests" / "captures" / "scenario-01-01-old-create.json"
    assert main(["diagnose", "--explain", str(capture), "--variant", "3.9.0", "--json"]) == 12
    import json

    found = json.loads(capsys.readouterr().out)
    after = REFERENCE.read_text(encoding="utf-8").split("The object of `kwalk diagnose --explain`:")[1]
    page = after.split("The object of")[0]
    fields = {*found, *found["mismatch"], *found["mismatch"]["differences"][0], *found["efforts"][0]}
    assert [field for field in fields if f"`{field}`" not in page] == []
