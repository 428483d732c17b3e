"""What the documents say is true: their code runs, their links lead somewhere, their commands exist."""

from __future__ import annotations

import itertools
import re
import shlex
import tomllib

import pytest

from kwalk.reports.options.parser import parser
from tests.structure.documents import FENCE, blocks, documents, missing_links
from tests.structure.rooms import ROOT

WITH_TESTS_OF_THEIR_OWN = (
    "docs/tutorial",
    "docs/reference/language.md",
    "docs/how-to/audit-fixes.md",
    "docs/how-to/check-recovery.md",
    "docs/how-to/mutate-a-model.md",
    "docs/how-to/test-an-implementation.md",
)
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def name_of(path):
    return path.relative_to(ROOT).as_posix()


RUN_HERE = [document for document in documents() if not name_of(document).startswith(WITH_TESTS_OF_THEIR_OWN)]


@pytest.mark.parametrize("document", RUN_HERE, ids=name_of)
def test_the_python_of_a_document_runs_from_top_to_bottom(document, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "document"}
    for block in blocks(document, "python"):
        code = "\n" * (block.line - 1) + block.code  # errors then show the document's own lines
        exec(compile(code, str(document), "exec", dont_inherit=True), names)


@pytest.mark.parametrize("document", documents(), ids=name_of)
def test_the_links_of_a_document_lead_to_files_of_the_project(document):
    assert missing_links(document.read_text(encoding="utf-8"), document.parent) == []


@pytest.mark.parametrize("document", documents(), ids=name_of)
def test_the_make_targets_that_a_document_names_exist(document):
    known = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    text = document.read_text(encoding="utf-8")
    blocks_of_code = "".join(found[2] for found in FENCE.finditer(text))
    named = {*re.findall(r"^make ([a-z-]+)", blocks_of_code, re.MULTILINE), *re.findall(r"`make ([a-z-]+)", text)}
    assert named <= known


def test_the_index_names_every_page_beside_those_that_it_takes_whole():
    text = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    pages = [*(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "how-to").glob("*.md")]
    named = {path.relative_to(ROOT / "docs").with_suffix("").as_posix() for path in pages} - {"index"}
    assert [name for name in sorted(named) if f"\n{name}\n" not in text] == []


def test_the_readme_shows_the_two_commands():
    shown = "".join(block.code for block in blocks(ROOT / "README.md", "sh"))
    assert "make hunt" in shown
    assert "make test" in shown


def packages(requirements):
    return {re.match(r"[A-Za-z0-9-]+", requirement)[0].lower() for requirement in requirements}


def test_every_dependency_has_one_line_of_reason():
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    table = text[text.index("## Dependencies") :]
    reasoned = [
        name.strip().lower()
        for row in re.findall(r"^\| ([\w, -]+) \| .{10,} \|$", table, re.MULTILINE)
        for name in row.split(",")
    ]
    project = PYPROJECT["project"]
    wanted = set(packages(project["dependencies"]))
    for extra in ("certificates", "spark"):
        wanted |= set(packages(project["optional-dependencies"][extra]))
    for group in PYPROJECT["dependency-groups"].values():
        wanted |= {*packages(group)} - {"setuptools"}
    assert sorted(set(reasoned) - {"package"}) == sorted(wanted)


def commands(document):
    """The `kwalk` commands in a document's shell blocks, without comments and what a pipe does with them."""
    for block in blocks(document, "sh"):
        for line in block.code.replace("\\\n", " ").splitlines():
            words = shlex.split(line, comments=True)
            if words and words[0].endswith("kwalk"):
                yield list(itertools.takewhile(lambda word: word not in ("|", ">", "&&", ";"), words[1:]))


@pytest.mark.parametrize("document", documents(), ids=name_of)
def test_the_kwalk_commands_of_a_document_are_understood(document):
    for words in commands(document):
        if not {"--help", "--version"} & set(words):
            parser().parse_args(words)  # SystemExit with 2, and a message, if it is not


def test_the_commands_of_some_document_are_seen():
    assert any(words[0] == "diagnose" for document in documents() for words in commands(document))


def test_a_command_that_does_not_exist_would_be_noticed():
    with pytest.raises(SystemExit):
        parser().parse_args(["hunt", "--no-such-option"])
