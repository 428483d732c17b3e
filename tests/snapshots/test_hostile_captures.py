"""A capture comes from outside: whatever is wrong with it is one clear UsageError, never a traceback."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from kwalk.model.kafka.snapshots.capture import read_capture, topic_label
from kwalk.model.kafka.snapshots.untrusted_json import MIB, JsonNode
from kwalk.model.language import UsageError
from tests.snapshots.captured import changed


def refusal(source: bytes | str | Path) -> str:
    with pytest.raises(UsageError) as error:
        read_capture(source)
    return str(error.value)


def topic(document: dict) -> dict:
    return document["topics"]["t"]


def state(document: dict) -> dict:
    return topic(document)["partition_state"]["0"]


def directory(document: dict) -> dict:
    return document["brokers"]["1"]["dirs"]["t-0"]


CHANGES = {
    "no controller field": (lambda d: d.pop("controller"), "lacks the field 'controller'"),
    "no brokers": (lambda d: d.update(brokers={}), "brokers names no broker"),
    "brokers as a list": (lambda d: d.update(brokers=[1, 2, 3]), "brokers must be an object (got an array of 3)"),
    "a broker called two": (
        lambda d: d["brokers"].update(two=d["brokers"]["2"]),
        'is named like no broker id (got "two")',
    ),
    "a broker called 01": (
        lambda d: d["brokers"].update({"01": d["brokers"]["1"]}),
        'is named like no broker id (got "01")',
    ),
    "alive as a word": (
        lambda d: d["brokers"]["1"].update(alive="yes"),
        'brokers.1.alive must be true or false (got "yes")',
    ),
    "a controller as text": (lambda d: d.update(controller="1"), 'controller must be a whole number (got "1")'),
    "a negative epoch": (lambda d: d.update(controller_epoch=-1), "controller_epoch must be a whole number (got -1)"),
    "an epoch of true": (
        lambda d: d.update(controller_epoch=True),
        "controller_epoch must be a whole number (got true)",
    ),
    "an enormous epoch": (
        lambda d: state(d).update(leader_epoch=10**400),
        "leader_epoch must be a whole number (got 1000",
    ),
    "a replica as text": (
        lambda d: topic(d)["znode"]["partitions"].update({"0": [3, "1"]}),
        'topics.t.znode.partitions.0[1] must be a whole number (got "1")',
    ),
    "a segment of no size": (
        lambda d: directory(d).update(files={"0" * 20 + ".log": -1}),
        "files.00000000000000000000.log must be a whole number (got -1)",
    ),
    "a batch without a checksum": (
        lambda d: directory(d).update(first_batch={"base_offset": 0, "leader_epoch": 0, "timestamp": 0}),
        "first_batch lacks the field 'crc'",
    ),
    "no version of the znode": (lambda d: topic(d)["znode"].pop("version"), "topics.t.znode lacks the field 'version'"),
    "a short topic id": (
        lambda d: topic(d)["znode"].update(topic_id="abc"),
        'topics.t.znode.topic_id is no topic id (got "abc")',
    ),
    "two topic ids": (
        lambda d: topic(d).update(topic_id="B" * 22),
        "topics.t.topic_id differs from the topic_id in its znode",
    ),
    "two topics of one id": (lambda d: d["topics"].update(u=topic(d)), "Topics t, u have one topic_id"),
    "a partition.metadata that is no text": (
        lambda d: directory(d).update(partition_metadata=7),
        "brokers.1.dirs.t-0.partition_metadata must be",
    ),
    "a file that names another id": (
        lambda d: directory(d).update(topic_id="B" * 22),
        "brokers.1.dirs.t-0.topic_id differs from its partition_metadata",
    ),
    "answers to fetches that name no partitions": (
        lambda d: d["brokers"]["1"].update(fetch_errors={"103": {"t": [0, "1"]}}),
        "brokers.1.fetch_errors.103.t",
    ),
    "a replica in memory at no leader epoch": (
        lambda d: d["brokers"]["1"].update(replicas={"t": {"0": {"leader_epoch": -2, "leads": True}}}),
        "brokers.1.replicas.t.0.leader_epoch",
    ),
    "a replica in memory with a role that is no flag": (
        lambda d: d["brokers"]["1"].update(replicas={"t": {"0": {"leader_epoch": 1, "leads": 1}}}),
        "brokers.1.replicas.t.0.leads",
    ),
    "answers to fetches without errors": (
        lambda d: d["brokers"]["1"].update(fetch_errors=[103]),
        "brokers.1.fetch_errors",
    ),
    "a truncated checkpoint": (
        lambda d: directory(d).update(leader_epoch_checkpoint="0\n2\n0 0\n"),
        "truncated or garbled",
    ),
    "a garbled checkpoint": (
        lambda d: directory(d).update(leader_epoch_checkpoint="0\n1\nx y\n"),
        "truncated or garbled",
    ),
    "a version that is none": (
        lambda d: d.update(version="<b>new</b>"),
        'version is no version of Kafka (got "<b>new</b>")',
    ),
}


CONTRADICTIONS = {
    "a replica that nothing describes": (
        lambda d: topic(d)["znode"]["partitions"].update({"0": [3, 1, 9]}),
        "Broker 9 is named in ZooKeeper, and the snapshot has nothing of it: it is taken to be down.",
    ),
    "an ISR member that nothing describes": (lambda d: state(d).update(isr=[1, 9]), "Broker 9 is named in ZooKeeper"),
    "a leader that nothing describes": (lambda d: state(d).update(leader=9), "Broker 9 is named in ZooKeeper"),
    "a replica twice": (
        lambda d: topic(d)["znode"]["partitions"].update({"0": [1, 2, 1]}),
        "The replicas of t-0 name 1 more than once.",
    ),
}
"""What one damaged partition may have: the rest of the cluster can be inspected."""


@pytest.mark.parametrize("change, expected", CONTRADICTIONS.values(), ids=CONTRADICTIONS)
def test_one_damaged_partition_leaves_the_cluster_readable_and_is_named(change, expected) -> None:
    assert any(problem.startswith(expected) for problem in read_capture(changed(change)).problems)


@pytest.mark.parametrize("change, expected", CHANGES.values(), ids=CHANGES)
def test_a_wrong_piece_is_named_with_its_place_its_value_and_what_is_allowed(change, expected) -> None:
    message = refusal(changed(change))
    assert expected in message
    assert "Allowed: " in message
    assert message.isprintable() and len(message) < 500


@pytest.mark.parametrize(
    "content, expected",
    [
        (b"", "is not JSON"),
        (b"\xff\xfe\x00", "is not JSON"),
        (b"PK\x03\x04\x1b[2J", r'it begins "PK\x03\x04\x1b[2J"'),
        (b"[1, 2]", "must be an object"),
        (b'{"brokers": NaN}', "NaN is no JSON number"),
        (b'{"controller": ' + b"9" * 5000 + b"}", "is not JSON"),
        (b'{"brokers": {"1": {}, "1": {}}}', 'two fields of the same name (got "1" twice)'),
        (b'{"topics": ' + b'{"t":' * 100 + b"0" + b"}" * 101, "nested too deeply"),
        (b"[" * 3_000_000, "nested too deeply"),
        (b'{"a":' * 1_000_000, "nested too deeply"),
    ],
    ids=[
        "empty",
        "not UTF-8",
        "a zip file",
        "a list",
        "NaN",
        "5,000 digits",
        "one name twice",
        "100 levels",
        "3 million brackets",
        "a million braces",
    ],
)
def test_what_is_no_capture_at_all_is_refused(content: bytes, expected: str) -> None:
    message = refusal(content)
    assert expected in message
    assert message.isprintable() and len(message) < 500


def test_a_file_of_a_gigabyte_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "huge.json"
    path.touch()
    os.truncate(path, 1024 * MIB)
    assert "too large (got 1,024 MiB). Allowed: at most 64 MiB" in refusal(path)


def test_a_folder_a_pipe_and_a_missing_file_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert "is not a regular file" in refusal(tmp_path)
    assert "is not a regular file" in refusal(tmp_path / "pipe")
    assert "No such file" in refusal(tmp_path / "missing.json")
    assert "Cannot read" in refusal("a\x00b")


def test_the_name_of_a_missing_file_cannot_reach_the_terminal_raw(tmp_path: Path) -> None:
    assert r"\x1b[2J" in refusal(tmp_path / "\x1b[2J.json")


@pytest.mark.parametrize(
    "name, label",
    [
        ("t", "t"),
        ("<script>", r"\x3cscript\x3e"),
        ("\x1b[31mred", r"\x1b\x5b31mred"),
        ("../x", r"..\x2fx"),
        ("\u202egnp", r"\u202egnp"),
        ("\ud800", r"\ud800"),
        ("a|b`c", r"a\x7cb\x60c"),
        ("n" * 300, "n" * 57 + "..."),
    ],
)
def test_a_topic_may_have_any_name_and_its_label_is_harmless(name: str, label: str) -> None:
    def rename(document: dict) -> None:
        document["topics"][name] = document["topics"].pop("t")

    capture = read_capture(changed(rename))
    assert list(capture.topics) == [name]
    assert topic_label(name) == label


def test_an_error_about_a_topic_with_an_escape_sequence_in_its_name_is_printable() -> None:
    def rename(document: dict) -> None:
        document["topics"]["\x1b[2J<b>"] = {**document["topics"]["t"], "version": None}

    assert r"topics.\x1b[2J<b>.version" in refusal(changed(rename))


def test_unknown_fields_are_ignored() -> None:
    extended = changed(lambda d: d.update(remark=[{"any": "thing"}]))
    assert read_capture(extended) == read_capture(changed(lambda d: None))


def test_no_path_is_made_for_a_capture_without_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """A capture of 36,000 partitions has a million nodes; errors alone need their paths."""
    monkeypatch.setattr(JsonNode, "path", property(lambda node: pytest.fail("a path was made")))
    read_capture(changed(lambda d: None))


def test_a_capture_of_the_largest_size_that_is_allowed_is_read(tmp_path: Path) -> None:
    path = tmp_path / "padded.json"
    content = changed(lambda d: None)
    path.write_bytes(content + b" " * (64 * MIB - len(content)))
    assert read_capture(path) == read_capture(content)


def test_errors_do_not_quote_more_than_a_little_of_a_long_value() -> None:
    assert len(refusal(changed(lambda d: d.update(controller="9" * 10_000)))) < 300
    assert len(refusal(json.dumps({"x" * 10_000: 1}).encode())) < 400
