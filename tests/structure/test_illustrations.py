"""Counterexamples in documents: found once, then replayed; stale ones are distinguished from true ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from docs.counterexample_drawing import steps_of
from docs.illustrate import BLOCK, FOLDER, illustrated, main
from kwalk.model.language import UsageError
from tests.structure.documents import documents

BLANK = """# A page

Before.

![nothing_is_lost()]()

Shortest, ? steps: `kwalk exhaust lost-update --variant no-lock --property nothing_is_lost`.

After.
"""
FILE = "lost-update-no-lock-nothing-is-lost.svg"


def drawn(folder: Path, page: str = BLANK) -> tuple[str, str]:
    """Write a page and its drawing, and return both."""
    files = illustrated(folder / "page.md", page, folder)
    for file, text in files.items():
        file.write_text(text, encoding="utf-8")
    written, drawing = files.values()
    return written, drawing


def test_a_counterexample_without_a_drawing_is_searched_for_and_its_steps_are_kept(tmp_path):
    page, drawing = drawn(tmp_path)
    assert page.startswith("# A page\n\nBefore.\n") and page.endswith("`.\n\nAfter.\n")
    assert f"![nothing_is_lost()]({FILE})" in page
    assert "\nShortest, 4 steps: `kwalk exhaust lost-update --variant no-lock --property nothing_is_lost`.\n" in page
    assert len(steps_of(drawing)) == 4 and "4 thread 1: writes" in " ".join(drawing.split())


def test_with_a_drawing_nothing_is_searched_for(tmp_path, monkeypatch):
    page, drawing = drawn(tmp_path)
    monkeypatch.setattr("kwalk.search.exhaustive.search.exhaust", None)
    assert drawn(tmp_path, page) == (page, drawing)


def test_flags_are_set_as_on_the_command_line(tmp_path):
    page, _ = drawn(tmp_path, BLANK.replace("--variant no-lock", "--variant lock --flag lock=off"))
    assert "(lost-update-lock-lock-off-nothing-is-lost.svg)" in page


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("nothing_is_lost()", "nothing_is_won()", "has no property instance 'nothing_is_won"),
        ("--variant no-lock", "--variant lock", "no counterexample"),
        ("--variant no-lock", "--variant lock --flag lock=ajar", "Flag 'lock' cannot be 'ajar'"),
    ],
)
def test_what_is_no_counterexample_is_refused_with_what_to_do(old, new, said, tmp_path):
    with pytest.raises(UsageError, match=said):
        illustrated(tmp_path / "page.md", BLANK.replace(old, new), tmp_path)


def test_a_drawing_whose_steps_violate_nothing_is_refused(tmp_path):
    (tmp_path / FILE).write_text("<metadata>read(0)</metadata>", encoding="utf-8")
    with pytest.raises(UsageError, match="no longer lead to a violation"):
        illustrated(tmp_path / "page.md", BLANK, tmp_path)


def test_the_program_writes_checks_and_names_stale_files(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("docs.illustrate.FOLDER", tmp_path)
    page, drawing = tmp_path / "page.md", tmp_path / FILE
    page.write_text(BLANK, encoding="utf-8")
    assert main(["--check", str(page)]) == 1
    assert page.read_text(encoding="utf-8") == BLANK and not drawing.exists()
    assert main([str(page)]) == 0
    assert steps_of(drawing.read_text(encoding="utf-8"))
    assert main(["--check", str(page)]) == 0
    said = [f"{page} is out of date.", f"{drawing} is out of date.", f"{page} was updated.", f"{drawing} was updated."]
    assert capsys.readouterr().out.splitlines() == said


@pytest.mark.parametrize("page", documents(), ids=lambda page: page.stem)
def test_the_diagrams_of_the_documents_are_as_drawn(page):
    files = illustrated(page, page.read_text(encoding="utf-8"))
    assert {file: file.read_text(encoding="utf-8") for file in files} == files


def test_every_drawing_is_that_of_a_document():
    blocks = sum(len(BLOCK.findall(page.read_text(encoding="utf-8"))) for page in documents())
    linked = {file for file in FOLDER.iterdir() if any(file.name in page.read_text("utf-8") for page in documents())}
    assert linked == set(FOLDER.iterdir()) and len(linked) == blocks
