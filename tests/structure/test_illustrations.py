"""Counterexamples in documents: found once, then replayed; stale ones are distinguished from true ones."""

from __future__ import annotations

import pytest

from docs.illustrate import illustrated, main
from kwalk.model.language import UsageError
from tests.structure.documents import documents

BLANK = """# A page

Before.

<!-- counterexample
scenario: lost-update
variant: no-lock
property: nothing_is_lost()
-->
<!-- end of counterexample -->

After.
"""


def test_a_counterexample_without_steps_is_searched_for_and_its_steps_are_kept():
    page = illustrated(BLANK)
    assert page.startswith("# A page\n\nBefore.\n") and page.endswith("-->\n\nAfter.\n")
    assert "steps: " in page and "sequenceDiagram" in page
    assert "4 steps, the shortest that `kwalk exhaust lost-update --variant no-lock --property" in page


def test_with_steps_nothing_is_searched_for(monkeypatch):
    page = illustrated(BLANK)
    monkeypatch.setattr("kwalk.search.exhaustive.search.exhaust", None)
    assert illustrated(page) == page


def test_flags_are_set_as_on_the_command_line():
    page = illustrated(BLANK.replace("variant: no-lock", "variant: lock").replace("-->", "flags: lock=off\n-->", 1))
    assert "`kwalk exhaust lost-update --variant lock --flag lock=off --property nothing_is_lost`" in page
    assert "flags: lock=off\nsteps: " in page and illustrated(page) == page


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("nothing_is_lost()", "nothing_is_won()", "has no property instance 'nothing_is_won"),
        ("variant: no-lock\n", "", "needs 'variant'"),
        ("variant: no-lock", "variant: lock", "no counterexample"),
        ("property:", "properties:", "knows no 'properties'"),
        ("-->\n<!-- end", "flags: lock=ajar\n-->\n<!-- end", "Flag 'lock' cannot be 'ajar'"),
        ("-->\n<!-- end", "steps: read(0)\n-->\n<!-- end", "no longer lead to a violation"),
    ],
)
def test_what_is_no_counterexample_is_refused_with_what_to_do(old, new, said):
    with pytest.raises(UsageError, match=said):
        illustrated(BLANK.replace(old, new))


def test_the_program_writes_checks_and_names_stale_pages(tmp_path, capsys):
    page = tmp_path / "page.md"
    page.write_text(BLANK, encoding="utf-8")
    assert main(["--check", str(page)]) == 1
    assert page.read_text(encoding="utf-8") == BLANK
    assert main([str(page)]) == 0
    assert "steps: " in page.read_text(encoding="utf-8")
    assert main(["--check", str(page)]) == 0
    assert capsys.readouterr().out == f"{page} is out of date.\n{page} was updated.\n"


@pytest.mark.parametrize("page", documents(), ids=lambda page: page.stem)
def test_the_diagrams_of_the_documents_are_as_drawn(page):
    text = page.read_text(encoding="utf-8")
    assert illustrated(text) == text
