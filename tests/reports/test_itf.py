"""A saved trace is ITF as Apalache and Quint write it, and comes back as it was."""

from __future__ import annotations

import json

import pytest

from kwalk.reports.traces.itf import itf, itf_text
from kwalk.reports.traces.trace_file import read_trace
from tests.reports.traces import LOST, model, trace

PAGE = itf(model(), trace(), "1.2")


def integers(thing):
    """All bare integers in a JSON value; truth values are none."""
    if isinstance(thing, dict):
        return [n for inner in thing.values() for n in integers(inner)]
    if isinstance(thing, list):
        return [n for inner in thing for n in integers(inner)]
    return [thing] if isinstance(thing, int) and not isinstance(thing, bool) else []


def test_every_variable_named_is_in_every_state():
    assert PAGE["vars"] == ["queue", "van", "doors", "lost", "seals", "mbt::actionTaken", "mbt::nondetPicks"]
    assert all(set(state) == {*PAGE["vars"], "#meta"} for state in PAGE["states"])


def test_every_integer_is_a_bigint():
    assert all(integers({**state, "#meta": {}}) == [] for state in PAGE["states"])
    assert PAGE["states"][2]["van"]["miles"] == {"#bigint": "1"}
    assert PAGE["#meta"]["bounds"]["seals"] == {"#bigint": "3"}
    assert PAGE["#meta"]["seed"] == {"#bigint": "7"}


def test_states_name_the_action_that_led_to_them_and_its_arguments():
    taken = [state["mbt::actionTaken"] for state in PAGE["states"]]
    assert taken == ["init", *(key.partition("(")[0] for key in LOST)]
    assert PAGE["states"][1]["mbt::nondetPicks"] == {
        "house": {"tag": "Some", "value": {"#bigint": "0"}},
        "speed": {"tag": "Some", "value": "FIRST"},
    }
    assert PAGE["states"][2]["mbt::nondetPicks"]["house"] == {"tag": "None", "value": {"#tup": []}}


def test_values_are_written_as_the_format_has_them():
    first, last = PAGE["states"][1], PAGE["states"][-1]
    none = {"tag": "None", "value": {"#tup": []}}
    letter = {"to_house": {"#bigint": "0"}, "speed": "FIRST", "seal": {"#bigint": "0"}, "answers": none}
    assert first["queue"] == [letter]
    assert last["lost"] == {"#set": [{"#bigint": "0"}]}
    assert last["doors"]["#map"][1][0] == {"#bigint": "1"}
    assert last["doors"]["#map"][0][1]["card"] == {"tag": "Some", "value": {"seal": {"#bigint": "0"}}}


def test_the_meta_object_holds_what_a_replay_needs():
    needed = {
        "format",
        "kwalk",
        "scenario",
        "variant",
        "bounds",
        "labels",
        "seed",
        "property",
        "actions",
        "vectors",
        "fingerprint",
        "command",
    }
    assert needed <= set(PAGE["#meta"])
    assert PAGE["#meta"]["format"] == "ITF"


@pytest.mark.parametrize("labels", [{}, {"houses": ("Rose cottage", "The Mill")}])
def test_a_trace_comes_back_as_it_was_saved(labels, tmp_path):
    street = model(labels)
    file = tmp_path / "t.itf.json"
    file.write_text(itf_text(street, trace(of=street), "1.2"))
    assert read_trace(file) == trace(of=street)


def test_no_line_of_the_file_is_enormous():
    assert max(map(len, json.dumps(PAGE, indent=1).splitlines())) < 500
