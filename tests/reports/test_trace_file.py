"""A trace file that is no trace of ours is refused with one message that says why, and does no harm."""

from __future__ import annotations

import json
import os

import pytest

from kwalk.model.language import UsageError
from kwalk.reports.traces.itf import itf
from kwalk.reports.traces.replay import open_trace, replay
from kwalk.reports.traces.trace_file import MOST_BYTES, read_trace
from tests.reports.traces import model, trace


def saved(tmp_path, **meta):
    """A sound trace file, with some fields of its #meta replaced; None leaves one out."""
    page = itf(model(), trace(), "0")
    page["#meta"] = {name: text for name, text in {**page["#meta"], **meta}.items() if text is not None}
    file = tmp_path / "trace.itf.json"
    file.write_text(json.dumps(page))
    return file


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("not json", "is not JSON"),
        ("", "is not JSON"),
        ("[" * 200_000, "nested too deeply"),
        ('{"a":' * 100_000, "nested too deeply"),
        ("[1, 2]", "not an ITF trace"),
        ("{}", "not an ITF trace"),
        ('{"vars": ["x"], "states": [{"x": 1}]}', "kwalk did not write"),
        ("1" * 100_000, "is not JSON"),
        ("\ufeff{}", "is not JSON"),
    ],
)
def test_a_file_of_another_kind_is_refused(text, why, tmp_path):
    file = tmp_path / "x.json"
    file.write_text(text)
    with pytest.raises(UsageError, match=why):
        read_trace(file)


def test_a_huge_file_is_refused_before_it_is_read(tmp_path):
    file = tmp_path / "huge.itf.json"
    with open(file, "wb") as stream:
        stream.truncate(MOST_BYTES + 1)
    with pytest.raises(UsageError, match=r"at most 64 MiB\. It is not read"):
        read_trace(file)


def test_bytes_that_are_no_text_are_refused(tmp_path):
    file = tmp_path / "x.itf.json"
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match="not UTF-8"):
        read_trace(file)


@pytest.mark.parametrize("name", ["absent.itf.json", ".", "pipe", "\0"])
def test_what_is_no_plain_file_is_refused_at_once(name, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UsageError, match="trace"):
        read_trace(f"{tmp_path}/{name}")


@pytest.mark.parametrize(
    ("meta", "why"),
    [
        ({"scenario": None}, "`scenario` is missing"),
        ({"scenario": "../x"}, "cannot be the name of a scenario"),
        ({"scenario": "antigravity:x"}, "cannot be the name of a scenario"),
        ({"scenario": "a:b:c"}, "cannot be the name of a scenario"),
        ({"scenario": "a b"}, "cannot be the name of a scenario"),
        ({"scenario": 7}, "`scenario` must be a string"),
        ({"actions": ["post(0, FIRST)"]}, "there must be one more state than actions"),
        ({"actions": "post"}, "`actions` must be a list"),
        ({"vectors": ["1 2 x"]}, "vector 0 is not a list of small numbers"),
        ({"vectors": [[1]]}, "`vectors` must be a list of strings"),
        ({"vectors": ["9" * 5000]}, "vector 0 is not"),
        ({"bounds": {"seals": "many"}}, "must be an integer"),
        ({"bounds": {"seals": {"#bigint": "9" * 5000}}}, "must be an integer"),
        ({"bounds": {"seals": True}}, "must be an integer"),
        ({"bounds": 3}, "`bounds` must be an object"),
        ({"labels": {"houses": [1]}}, "must be a list of strings"),
        ({"labels": {"\x1b[0m": 1}}, r"labels.\\x1b\[0m` must be"),
        ({"seed": "x"}, "`seed` must be an integer"),
    ],
)
def test_a_field_of_the_wrong_form_is_named(meta, why, tmp_path):
    with pytest.raises(UsageError, match=why):
        read_trace(saved(tmp_path, **meta))


def opened(tmp_path, **meta):
    return open_trace(read_trace(saved(tmp_path, **meta)))


@pytest.mark.parametrize(
    ("meta", "why"),
    [
        ({"scenario": "no-such-story"}, "No scenario named 'no-such-story'"),
        ({"scenario": "tests.reports.nowhere:X"}, "Cannot import"),
        ({"variant": "2.9.9"}, "No variant named"),
        ({"bounds": {"seals": -1}}, "must be an int of 0 or more"),
        ({"bounds": {"seals": 10**12}}, "at most 2,147,483,648"),
        ({"bounds": {"seals": 2**31}}, "state variables"),
        ({"bounds": {"houses": 0}}, "must be 1 or more"),
        ({"bounds": {"dragons": 1}}, "No bound named 'dragons'"),
    ],
)
def test_a_trace_of_what_does_not_exist_is_refused(meta, why, tmp_path):
    with pytest.raises(UsageError, match=why):
        opened(tmp_path, **meta)


def test_a_trace_of_a_changed_model_warns_and_is_tried(tmp_path):
    found = opened(tmp_path, fingerprint="0123456789abcdef")
    assert "has changed since" in found.warnings[0]
    assert replay(found.model, found.trace).mismatch is None


def test_a_trace_of_this_model_has_no_warning(tmp_path):
    assert opened(tmp_path).warnings == ()


def test_an_unknown_action_is_where_a_trace_stops_fitting(tmp_path):
    actions = [*trace().actions[:4], "let_cat_out(0)", *trace().actions[5:]]
    found = opened(tmp_path, actions=actions)
    result = replay(found.model, found.trace)
    assert (result.steps, result.answer) == (4, None)
    assert result.mismatch == "step 5, let_cat_out(0), is not an action instance of this model"


def test_a_step_that_is_not_enabled_is_where_a_trace_stops_fitting(tmp_path):
    found = opened(tmp_path, actions=["deliver()", *trace().actions[1:]])
    assert replay(found.model, found.trace).mismatch == "step 1, deliver(), cannot be executed: it is not enabled"


def test_a_step_past_a_bound_is_where_a_trace_stops_fitting(tmp_path):
    posts = ("post(0, FIRST)",) * 3
    vectors = [" ".join(map(str, state)) for state in trace(posts[:2], None).states]
    found = opened(tmp_path, actions=list(posts), vectors=[*vectors, vectors[-1]])
    assert replay(found.model, found.trace).mismatch == (
        "step 3, post(0, FIRST), cannot be executed: the bound queue is reached"
    )


def test_a_step_that_leads_elsewhere_is_where_a_trace_stops_fitting(tmp_path):
    vectors = [" ".join(map(str, state)) for state in trace().states]
    vectors[3] = vectors[2]
    found = opened(tmp_path, vectors=vectors)
    assert replay(found.model, found.trace).mismatch == "step 3, drive(), leads to another state than the saved one"


@pytest.mark.parametrize(
    ("vector", "why"),
    [("0 1", "has 2 numbers"), ("99" + " 0" * 24, "the model allows")],
)
def test_a_vector_that_is_no_state_is_named(vector, why, tmp_path):
    leaves = len(model().leaves)
    vector = vector if why.startswith("has 2") else "99" + " 0" * (leaves - 1)
    found = opened(tmp_path, actions=[], vectors=[vector])
    assert why in replay(found.model, found.trace).mismatch


def test_a_property_that_does_not_exist_is_refused(tmp_path):
    found = opened(tmp_path, property="nothing_burns(0)")
    with pytest.raises(UsageError, match="no such property"):
        replay(found.model, found.trace)


@pytest.mark.parametrize("key", ["claim", "invariant"])
def test_the_property_of_an_older_file_is_read(tmp_path, key):
    file = tmp_path / "older.itf.json"
    page = itf(model(), trace(), "0")
    page["#meta"][key] = page["#meta"].pop("property")
    file.write_text(json.dumps(page))
    assert read_trace(file).prop == "nothing_is_lost(0)"
