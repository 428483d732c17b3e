"""A nightly run ends with its page, which names what is new if an earlier run is given; a page is no reason to fail."""

from __future__ import annotations

from pathlib import Path

import pytest

from kwalk.search.night.run import NightlyResult
from tests.nightly.small_run import again, finding, run_row, write_small_run


@pytest.fixture
def ended(tmp_path, monkeypatch):
    """A run that ends at once, with what the small run found and one group more; and an earlier one."""
    monkeypatch.chdir(tmp_path)
    write_small_run(Path("before"))
    folder = write_small_run(Path("after"))
    again(folder, 1, findings=[finding(0, group="0123456789ab", property="worse()")])
    result = NightlyResult(folder.path, (run_row(0), run_row(1)), 2, "complete")
    monkeypatch.setattr("kwalk.search.night.run.begin_run", lambda *_: result)
    Path("night.toml").write_text('[[tasks]]\nscenarios = ["die-hard"]\nwalks = 1\n')
    return folder.path


def test_the_page_is_written_and_named(ended, kwalk_here):
    ran = kwalk_here("nightly", "night.toml", "--out", "after", "--before", "before")
    assert ran.code == 12
    assert "  Read: after/index.html" in ran.out
    assert "1 new group; 1 known group" in (ended / "index.html").read_text(encoding="utf-8")


def test_without_an_earlier_run_there_is_nothing_to_compare_with(ended, kwalk_here):
    kwalk_here("nightly", "night.toml", "--out", "after")
    assert "No earlier run was named" in (ended / "index.html").read_text(encoding="utf-8")


def test_an_earlier_run_that_is_none_is_refused_before_anything_starts(ended, kwalk_here):
    ran = kwalk_here("nightly", "night.toml", "--out", "after", "--before", "nothing")
    assert (ran.code, ran.out) == (2, "")
    assert not (ended / "index.html").exists()


def test_a_page_that_cannot_be_written_changes_no_verdict(ended, kwalk_here):
    (ended / "index.html").mkdir()
    ran = kwalk_here("nightly", "night.toml", "--out", "after")
    assert ran.code == 12
    assert "the page of this run was not written: Cannot write 'after/index.html'" in ran.err
