"""The pages that `make docs` generates: git ignores them, each has a title and rows, and their links lead somewhere."""

from __future__ import annotations

import re

import pytest

from docs.generate.pages import FOLDER, PAGES
from tests.structure.documents import documents, missing_links
from tests.structure.rooms import ROOT


def test_git_ignores_the_generated_pages_and_no_other_file_of_the_reference():
    ignored = [line for line in (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines() if "reference" in line]
    assert sorted(ignored) == sorted(f"/docs/reference/{name}" for name in PAGES)


@pytest.mark.parametrize("name", PAGES)
def test_a_generated_page_has_a_title_rows_and_no_broken_link(name):
    text = PAGES[name]()
    assert text.startswith("# ") and text.endswith("\n") and "`make docs`" in text
    assert missing_links(text, FOLDER) == []


def test_the_list_of_reference_pages_names_each_page_once():
    listed = re.findall(r"^\| \[[^\]]+\]\(([^)]+)\) \|", (FOLDER / "README.md").read_text("utf-8"), re.MULTILINE)
    tracked = {page.name for page in documents() if page.parent == FOLDER} - {"README.md"}
    assert sorted(listed) == sorted(tracked | set(PAGES))
