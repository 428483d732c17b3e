"""`kwalk exhaust --checkpoint`: the page on long searches is true, and what makes no sense is refused."""

from __future__ import annotations

import shlex

import pytest

from tests.structure.documents import blocks
from tests.structure.rooms import ROOT

PAGE = ROOT / "docs/how-to/search-for-hours.md"


def commands():
    """The two commands of the page that are for trying, which come first."""
    lines = [line for block in blocks(PAGE, "sh") for line in block.code.splitlines()]
    return [shlex.split(line)[1:] for line in lines if "topic-id-core" in line][:2]


def test_following_the_page_saves_a_checkpoint_and_resumes_it(kwalk, tmp_path):
    begin, go_on = commands()
    first = kwalk(*begin)
    printed = " ".join(first.out.split())
    shown = next(block.code for block in blocks(PAGE, "text") if "Checkpoint saved" in block.code).strip()
    before, after = shown.split("…")
    assert before in printed and after in printed
    assert (tmp_path / "saved" / "manifest.json").exists()
    last = kwalk(*go_on, "--workers", "2", "--json").object
    assert (last["distinct_states"], last["generated_states"], last["depth"]) == (805_904, 4_390_996, 20)
    assert {finding["property"]: (finding["count"], finding["length"]) for finding in last["findings"]} == {
        "disk_matches_znode()": (782_248, 3),
        "leaders_when_settled()": (1_578, 9),
    }
    assert not (tmp_path / "saved").exists()


def test_a_checkpoint_of_another_search_is_refused_with_2_and_what_differs(kwalk):
    begin, go_on = commands()
    kwalk(*begin)
    other = kwalk(*go_on, "--bound", "restarts=1")
    assert other.code == 2 and "of another search: bounds: restarts was 2, and is 1" in other.err
    fresh = kwalk(*begin)
    assert fresh.code == 2 and "Resume it with --resume, or name another folder." in fresh.err


@pytest.mark.parametrize("words", [("--resume",), ("--every", "5")])
def test_options_of_checkpoints_need_a_folder_for_them(kwalk, words):
    ran = kwalk("exhaust", "die-hard", *words)
    assert ran.code == 2 and f"{words[0]} needs a folder of checkpoints" in ran.err


def test_where_there_is_nothing_to_resume_the_message_says_so(kwalk):
    ran = kwalk("exhaust", "die-hard", "--checkpoint", "saved", "--resume")
    assert (
        ran.code == 2
        and "There is no checkpoint in 'saved' to resume from. Leave out --resume to start a search." in ran.err
    )
