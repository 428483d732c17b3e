"""Trace files that are no traces, of another model, edited, enormous, or full of names that would do harm."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.bad_input.harmless import assert_harmless
from tests.bad_input.refusals import assert_refused, kwalk, left_in, process

__all__ = ["kwalk", "process"]
PINNED = Path(__file__).parent.parent / "traces"
LOST = PINNED / "lost-update-no-lock-nothing_is_lost.itf.json"
HOSTILE = ("<script>alert(1)</script>", "\x1b[31m../x")


def page(**meta: Any) -> dict[str, Any]:
    """A sound trace with some entries of its `#meta` changed."""
    found = json.loads(LOST.read_text())
    found["#meta"] |= meta
    return found


def meta(name: str) -> Any:
    return json.loads(LOST.read_text())["#meta"][name]


@pytest.fixture
def refused(kwalk, tmp_path) -> Callable[..., None]:
    """Show and replay a file with this content; both must refuse it, name it, and say this."""

    def check(content: dict[str, Any] | bytes, *expected: str) -> None:
        file = tmp_path / "some.itf.json"
        file.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
        for options in ((), ("--format", "text")):
            assert_refused(kwalk("replay", file.name, *options), "'some.itf.json'", *expected)
        assert left_in(tmp_path) == {file.name}

    return check


def test_the_trace_that_these_tests_change_is_sound(kwalk):
    assert kwalk("replay", LOST).code == 13


@pytest.mark.parametrize(
    "changed, expected",
    [
        ({"scenario": "die-hard"}, "belongs to another model, or to another version of it. No variant named 'no-lock'"),
        ({"scenario": "lost-updates"}, "Did you mean 'lost-update'?"),
        ({"scenario": "no_such_package.models:LOST"}, "Cannot import 'no_such_package.models'"),
        ({"scenario": "os:path"}, "'os:path' cannot be the name of a scenario"),
        ({"scenario": "../x"}, "'../x' cannot be the name of a scenario"),
        ({"scenario": "<script>alert(1)</script>"}, "cannot be the name of a scenario"),
        ({"variant": "2.8.2"}, "No variant named '2.8.2'. Allowed: lock, no-lock."),
        ({"bounds": {"brokers": 3}}, "No bound named 'brokers'"),
        ({"bounds": {"threads": 0}}, "Bound 'threads' must be 1 or more (got 0)"),
        ({"bounds": {"threads": "two"}}, "`bounds.threads` must be an integer"),
        ({"bounds": {"threads": 2**31 - 1}}, "Give smaller bounds"),
    ],
)
def test_a_trace_of_another_model_variant_or_bound_is_refused(refused, changed, expected):
    refused(page(**changed), expected)


def test_a_trace_of_another_version_of_the_model_is_tried_with_a_warning(kwalk, tmp_path):
    (tmp_path / "old.itf.json").write_text(json.dumps(page(fingerprint="0123456789abcdef")))
    ran = kwalk("replay", "old.itf.json")
    assert ran.code == 13 and "Replayed 4 steps" in ran.out
    assert ran.err.startswith("kwalk: 'old.itf.json': The model has changed since this trace was saved")


def test_a_trace_whose_states_have_other_fields_is_taken_again_or_refused(kwalk, refused, tmp_path):
    (tmp_path / "other.itf.json").write_text(json.dumps(page(bounds={"threads": 3})))
    ran = kwalk("replay", "other.itf.json")
    assert ran.code == 0 and "its steps are executed again" in ran.err and "NOT VIOLATED" in ran.out
    (tmp_path / "other.itf.json").unlink()
    refused(page(bounds={"threads": 1}), "state 0 has 5 numbers, and a state of this model has 3")


def test_a_trace_about_an_invariant_that_is_gone_says_which_there_are(kwalk, tmp_path):
    (tmp_path / "gone.itf.json").write_text(json.dumps(page(property="\x1b[31mgone()")))
    assert_refused(kwalk("replay", "gone.itf.json"), "gone()", "no such property. Allowed: counts_every_increment")


def edited(change: Callable[[list[str], list[str]], None]) -> dict[str, Any]:
    actions, vectors = meta("actions"), meta("vectors")
    change(actions, vectors)
    return page(actions=actions, vectors=vectors)


@pytest.mark.parametrize(
    "change, expected",
    [
        (lambda actions, _: actions.reverse(), "no step fits; step 1, write("),
        (lambda actions, _: actions.pop(), "it has 3 actions and 5 states; there must be one more state"),
        (lambda actions, _: actions.__setitem__(2, "fly(0)"), "2 of its 4 steps fit; step 3, fly(0), is not an action"),
        (lambda actions, _: actions.__setitem__(2, HOSTILE[1]), r"step 3, \x1b[31m../x, is not an action instance of"),
        (lambda actions, _: actions.__setitem__(1, actions[0]), "cannot be executed: it is not enabled"),
        (lambda _, vectors: vectors.__setitem__(2, vectors[1]), "leads to another state than the saved one"),
        (lambda _, vectors: vectors.__setitem__(2, "9 9 9 9 9"), "and the model allows 0 … 2"),
        (lambda _, vectors: vectors.__setitem__(2, "many"), "vector 2 is not a list of small numbers"),
        (lambda _, vectors: vectors.__setitem__(2, 7), "`vectors` must be a list of strings"),
        (lambda _, vectors: vectors.__setitem__(2, "9" * 10**6), "vector 2 is not a list of small numbers"),
    ],
)
def test_a_trace_whose_steps_were_edited_is_refused_with_the_step(refused, change, expected):
    refused(edited(change), expected)


@pytest.mark.parametrize(
    "content, expected",
    [
        (b"", "is not JSON"),
        (b"PK\x03\x04\xff", "it is not UTF-8 text"),
        (LOST.read_bytes()[:300], "is not JSON"),
        (b"[1]", "no list `states`"),
        (b'{"states": [], "#meta": 3}', "an ITF trace that kwalk did not write"),
        (b'{"states": [], "#meta": {"vectors": []}}', "`actions` must be a list of strings"),
        (b"[" * 3_000_000, "is nested too deeply for a trace"),
        (b'{"#meta":' * 100_000 + b"1" + b"}" * 100_000, "is nested too deeply for a trace"),
        (b'{"states": [], "#meta": {"vectors": ["' + b"1 " * 10**6 + b'"]}}', "vector 0 is not a list"),
    ],
    ids=["empty", "binary", "cut short", "a list", "no meta", "no actions", "brackets", "braces", "a long line"],
)
def test_a_file_that_is_no_trace_is_refused(refused, content, expected):
    refused(content, expected)


def test_a_trace_of_a_gigabyte_is_refused_before_it_is_read(process, tmp_path):
    (tmp_path / "huge.itf.json").touch()
    os.truncate(tmp_path / "huge.itf.json", 2**30)
    assert_refused(process("replay", "huge.itf.json"), "has 1,024 MiB; a trace file has at most 64 MiB")


@pytest.mark.parametrize("name", ["nowhere.itf.json", ".", "/dev/null", "a\nb", "\x1b[2J", "x" * 300])
def test_what_is_no_file_is_refused(kwalk, name):
    assert_refused(kwalk("replay", name))


def test_names_in_a_trace_are_harmless_in_every_format_and_in_the_names_of_files(kwalk, tmp_path):
    trace = tmp_path / "hostile.itf.json"
    trace.write_text(json.dumps(page(labels={"threads": HOSTILE, HOSTILE[0]: HOSTILE}, command=HOSTILE[1])))
    for form in ("text", "markdown", "html", "itf"):
        ran = kwalk("replay", trace, "--format", form, "--unfold")
        assert ran.code == 0
        assert_harmless(form, ran.out)
        assert kwalk("replay", trace, "--format", form, "--out", "shown").code == 0
    assert_harmless("text", kwalk("replay", trace).out)
    assert {file.parent for file in (tmp_path / "shown").rglob("*")} == {tmp_path / "shown"}
    assert all(re.fullmatch(r"[a-z0-9.-]+", file.name) for file in (tmp_path / "shown").iterdir())
