"""The tutorial is true: its files are written, its Python runs, its commands print what it shows, its tests behave."""

from __future__ import annotations

import importlib

import pytest

from tests.examples.reading import Reader, parts_of, squeezed
from tests.structure.rooms import ROOT

PARTS = parts_of(ROOT / "docs" / "tutorial" / "your-first-model.md")


def test_following_the_tutorial_prints_what_it_shows(reader: Reader) -> None:
    compared = 0
    for part in PARTS:
        printed = squeezed(reader.do(part))
        for line in filter(None, map(squeezed, part.shown)):
            assert line in printed
            compared += 1
    assert compared >= 20


def test_the_tutorials_commands_end_with_the_exit_codes_of_a_violation_and_of_a_verdict(reader: Reader) -> None:
    codes = []
    for part in PARTS:
        if part.language == "sh":
            codes.append(reader.command(part))
        elif part.module is not None:
            reader.do(part)
    assert codes == [12, 0, 0]


def test_the_tutorials_test_fails_with_the_trace_until_the_fence_is_there(reader: Reader) -> None:
    for part in PARTS:
        if part.module is not None:
            reader.do(part)
    tests = importlib.import_module("test_leases")
    with pytest.raises(AssertionError, match="writes_go_forward"):
        tests.test_an_old_version_of_the_file_never_comes_back()
    tests.test_with_fencing_an_old_version_of_the_file_never_comes_back()
