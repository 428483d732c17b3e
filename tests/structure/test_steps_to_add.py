"""What CONTRIBUTING says about adding a flag, an action, a command or an option is true: four patches do it.

Each is applied to a copy of the tree. There the tests run that the text names, those that the patch brings, and what
shows that the addition works. Whoever adds something needs to edit no other file.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess

import pytest
from attrs import frozen

from tests.structure.patched_copies import CONTEXT, PATCHES, PatchedCopy
from tests.structure.rooms import ROOT

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git applies the patches")
NUMBERS = {"Two": 2, "Three": 3, "Four": 4, "Five": 5}
PROGRAM = "-m", "kwalk.reports.command_line"


@frozen
class Addition:
    """One kind of addition.

    Attributes:
        heading: The section of CONTRIBUTING about it.
        files: The number of files that are edited by hand.
        tried: What is run in the copy to see that it works.
        shown: What that prints.
        hidden: What that does not print.
    """

    heading: str
    files: int
    tried: tuple[str, ...]
    shown: str
    hidden: str = ""


ADDITIONS = {
    "flag": Addition(
        "How to add a flag",
        4,
        (*PROGRAM, "audit", "elected_by_own_znode", "--seconds", "60"),
        "2 trials: closes 2.",
    ),
    "action": Addition(
        "How to add an action",
        5,
        (*PROGRAM, "scenarios", "old-client-expansion-in-detail", "--variants"),
        "preferred_elections 1",
    ),
    "command": Addition("How to add a command", 4, (*PROGRAM, "--help"), "  cache "),
    "option": Addition(
        "How to add an option",
        2,
        (*PROGRAM, "scenarios", "--property", "isr_members_fetch"),
        "full-isr",
        hidden="die-hard",
    ),
}
KINDS = pytest.mark.parametrize("kind", ADDITIONS)


@KINDS
def test_the_patch_of_an_addition_applies(kind):
    words = ["git", "apply", "--check", f"-C{CONTEXT}", str(PATCHES / f"{kind}.patch")]
    ran = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, f"Edit the tree as the patch says, and write it again by git diff:\n{ran.stderr}"


def section(kind: str) -> str:
    """The section of CONTRIBUTING about a kind of addition."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    return text.partition(f"\n### {ADDITIONS[kind].heading}\n")[2].partition("\n##")[0]


def targets(kind: str) -> dict[str, list[str]]:
    """The words of ARGS of each make target that the section names."""
    return {
        target: shlex.split(words) for target, words in re.findall(r'^make (\w+) ARGS="(.*)"$', section(kind), re.M)
    }


def test_there_is_a_patch_for_each_kind():
    assert {path.stem for path in PATCHES.glob("*.patch")} == ADDITIONS.keys()


@KINDS
def test_the_text_lists_as_many_files_as_it_says_and_refers_to_the_patch(kind):
    said = re.findall(r"\b(Two|Three|Four|Five) files\b", section(kind))
    listed = re.findall(r"^\d\. ", section(kind), re.MULTILINE)
    assert ([NUMBERS[word] for word in said], len(listed)) == ([ADDITIONS[kind].files], ADDITIONS[kind].files)
    assert f"(tests/structure/patches/{kind}.patch)" in section(kind)


@pytest.mark.slow
@KINDS
def test_an_addition_takes_as_many_files_as_the_text_says_and_passes_the_tests_that_it_names(kind, tmp_path):
    addition, named = ADDITIONS[kind], targets(kind)
    copy = PatchedCopy(tmp_path, kind)
    assert len(copy.files) == addition.files
    assert str(copy.folder) in copy.run("-c", "import kwalk.reports as reports; print(reports.__file__)")
    if "pins" in named:
        copy.run("-m", "tests.kafka.pins", *(word.replace("FLAG", addition.tried[3]) for word in named["pins"]))
    found = copy.run(*addition.tried)
    assert addition.shown in found and (not addition.hidden or addition.hidden not in found)
    own = [name for name in copy.files if name.startswith("tests/")]
    for words in filter(None, (own, named["test"])):
        passed = copy.test(*words)
        assert " passed" in passed and "skipped" not in passed
