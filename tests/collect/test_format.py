"""The format of snapshots: its number, log directories that were not read, metadata caches written as differences."""

from __future__ import annotations

import pytest

from docs.generate import snapshot_format
from kwalk.invariants.reading.inspection import inspect_snapshot
from kwalk.model.kafka.snapshots.capture import FORMAT, read_capture
from kwalk.model.kafka.snapshots.series import read_series
from kwalk.model.language import UsageError
from tests.snapshots.captured import FILES, changed, document
from tests.structure.rooms import ROOT


def without_directories(*brokers):
    def change(shown):
        for broker in brokers:
            shown["brokers"][broker]["dirs"] = None

    return change


def test_the_present_format_and_files_without_a_number_are_read():
    assert read_capture(changed(lambda shown: shown.update(format=FORMAT))) == read_capture(changed(lambda shown: None))


@pytest.mark.parametrize(
    ("number", "message"),
    [
        (FORMAT + 1, rf"The capture has the format {FORMAT + 1}, which is newer than this kwalk reads\. Allowed: 1 to"),
        (0, "format must be a whole number"),
        ("2", "format must be a whole number"),
    ],
)
def test_a_format_that_is_not_known_is_refused(number, message):
    with pytest.raises(UsageError, match=message):
        read_capture(changed(lambda shown: shown.update(format=number)))


def test_directories_that_were_not_read_are_taken_to_agree_with_zookeeper():
    capture = read_capture(changed(without_directories("1")))
    assert not capture.brokers[1].seen
    assert sorted(capture.brokers[1].directories) == ["t-0", "t-1"]
    assert {d.topic_id for d in capture.brokers[1].directories.values()} == {capture.topics["t"].topic_id}


@pytest.mark.parametrize("name", [name for name in FILES if "produce-consume" in name])
def test_without_the_directories_of_a_broker_the_others_show_what_they_show(name):
    """What is found without a broker's directories is found with them, or is a difference to this broker."""
    whole = inspect_snapshot(changed(lambda shown: None, name))
    for broker in ("1", "2", "3"):
        part = inspect_snapshot(changed(without_directories(broker), name))
        assert {one.kind.name for one in part.observations} <= {one.kind.name for one in whole.observations} | {
            "topic-ids-mixed",
            "leader-refuses-mixed-topic-ids",
            "fetch-by-id-refused-mixed-topic-ids",
        }
        assert any(note.startswith(f"No log directories of broker {broker} ") for note in part.notes)


def test_a_series_with_directories_that_were_not_read_is_refused():
    with pytest.raises(UsageError, match="lacks the log directories of broker 2, which a behaviour must match"):
        read_series([changed(lambda shown: None), changed(without_directories("2"))])


@pytest.mark.parametrize("like", [7, 2, -1, "1", None])
def test_a_cache_that_is_like_one_that_is_not_whole_is_refused(like):
    def change(shown):
        shown["brokers"]["1"]["metadata_cache"] |= {"like": 3 if like is None else like}
        shown["brokers"]["2"]["metadata_cache"] |= {"like": 1}
        shown["brokers"]["3"]["metadata_cache"] = None

    with pytest.raises(UsageError, match="like"):
        read_capture(changed(change))


def test_what_is_found_in_a_topic_that_changed_meanwhile_is_not_certain():
    name = "scenario-06-08c-broker1-restarted-14s"
    settled, moving = (
        inspect_snapshot(changed(lambda shown, t=topics: shown.update(unsettled=t), name)) for topics in ([], ["t"])
    )
    assert [one.kind for one in moving.observations] == [one.kind for one in settled.observations]
    assert {one.certain for one in settled.observations} == {True}
    assert {one.certain for one in moving.observations} == {False}


def test_problems_are_printable_in_the_notes_of_an_inspection():
    found = inspect_snapshot(changed(lambda shown: shown.update(problems=["a\x1b[31m"], unsettled=["t\n"])))
    assert "When the snapshot was taken: a\\x1b[31m" in found.notes
    assert "Changed while the snapshot was taken, so that it may mix two moments: t\\x0a." in found.notes


def test_the_reference_names_every_field_that_is_read():
    page = snapshot_format.page() + (ROOT / "docs" / "reference" / "snapshots.md").read_text("utf-8")
    fields = {*document(), "format", "problems", "unsettled", "like"} - {"controller_raw"}
    assert {
        name
        for name in fields
        if f"`{name}`" not in page and f".{name}`" not in page and name != "topics" and name != "brokers"
    } == set()
