"""Snapshots that are none, lack something, are enormous, or name a topic so that it would do harm."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any

import pytest

from tests.bad_input.harmless import assert_harmless
from tests.bad_input.refusals import assert_refused, kwalk, left_in, process
from tests.snapshots.captured import changed

__all__ = ["kwalk", "process"]
LATENT = "scenario-06-07-produce-consume"
"""A cluster with latent damage; the search finds how it shows within a second."""
HOSTILE = "<script>alert(1)</script>\x1b[31m../x"


@pytest.fixture
def refused(kwalk, tmp_path) -> Callable[..., None]:
    """Hunt from a snapshot with this content; it must be refused and say this."""

    def check(content: bytes, *expected: str) -> None:
        (tmp_path / "cluster.json").write_bytes(content)
        assert_refused(kwalk("diagnose", "cluster.json", "--forecast"), *expected)
        assert left_in(tmp_path) == {"cluster.json"}

    return check


def topic_without_partitions(document: dict[str, Any]) -> None:
    document["topics"]["t"]["znode"]["partitions"] = {}


def cut_checkpoint(document: dict[str, Any]) -> None:
    document["brokers"]["1"]["dirs"]["t-0"]["leader_epoch_checkpoint"] = "0\n1\n0"


@pytest.mark.parametrize(
    "change, expected",
    [
        (cut_checkpoint, ["brokers.1.dirs.t-0.leader_epoch_checkpoint is truncated or garbled", "Allowed: "]),
        (lambda document: document.pop("brokers"), ["lacks the field 'brokers'"]),
        (lambda document: document["topics"]["t"].pop("znode"), ["topics.t lacks the field 'znode'"]),
        (lambda document: document.update(controller="9"), ["controller must be a whole number"]),
        (lambda document: document.update(version="9.9.9"), ["Kafka 9.9.9", "has no ZooKeeper mode", "Allowed: "]),
    ],
)
def test_a_snapshot_with_something_missing_or_wrong_is_refused_with_its_place(refused, change, expected):
    refused(changed(change), *expected)


def test_a_topic_without_partitions_cannot_be_explained(kwalk, tmp_path):
    (tmp_path / "cluster.json").write_bytes(changed(topic_without_partitions))
    ran = kwalk("diagnose", "--explain", "cluster.json")
    assert_refused(ran, "t without partitions; a topic has at least partition 0")


@pytest.mark.parametrize(
    "content, expected",
    [
        (b"", "is not JSON"),
        (b'{"brokers": ', "is not JSON"),
        (b"\xff\xfe", "it is not UTF-8 text"),
        (b"[1]", "must be an object"),
        (b"{}", "lacks the field"),
        (b"[" * 3_000_000, "nested too deeply"),
        (b'{"a":' * 200 + b"1" + b"}" * 200, "nested too deeply"),
    ],
    ids=["empty", "cut short", "binary", "a list", "an empty object", "brackets", "braces"],
)
def test_what_is_no_snapshot_is_refused(refused, content, expected):
    refused(content, expected)


def test_a_trace_is_no_snapshot_and_a_snapshot_no_trace_and_the_command_that_reads_it_is_named(kwalk, tmp_path):
    (tmp_path / "cluster.json").write_bytes(changed(lambda document: None))
    (tmp_path / "trace.itf.json").write_text('{"#meta": {}, "states": []}')
    assert_refused(kwalk("diagnose", "cluster.json", "trace.itf.json"), "trace.itf.json: ", "`kwalk replay`")
    assert_refused(kwalk("replay", "cluster.json"), "`kwalk diagnose cluster.json --forecast`")


def test_the_command_itself_refuses_a_gigabyte_before_it_reads_it(process, tmp_path):
    (tmp_path / "huge.json").touch()
    os.truncate(tmp_path / "huge.json", 2**30)
    assert_refused(process("diagnose", "huge.json", "--forecast"), "has 1,024 MiB; a snapshot file has at most 64 MiB")


@pytest.mark.parametrize("name", ["nowhere.json", ".", "/dev/zero"])
def test_what_is_no_file_is_refused(kwalk, name):
    assert_refused(kwalk("diagnose", name, "--forecast"), repr(name))


def renamed(document: dict[str, Any]) -> None:
    """Give the topic a hostile name everywhere."""
    document["topics"][HOSTILE] = document["topics"].pop("t")
    for broker in document["brokers"].values():
        broker["dirs"] = {name.replace("t-", f"{HOSTILE}-", 1): kept for name, kept in broker["dirs"].items()}
        topics = (broker.get("metadata_cache") or {}).get("topics", {})
        if "t" in topics:
            topics[HOSTILE] = topics.pop("t")


def test_the_name_of_a_topic_is_harmless_in_every_output_and_in_the_names_of_files(kwalk, tmp_path):
    (tmp_path / "cluster.json").write_bytes(changed(renamed, LATENT))
    ran = kwalk("diagnose", "cluster.json", "--forecast", "--out", "found")
    assert ran.code == 12 and "script" in ran.out
    assert_harmless("text", ran.out + ran.err)
    endings = {".html": "html", ".md": "markdown", ".itf.json": "itf"}
    files = {ending: next((tmp_path / "found").glob(f"*{ending}")) for ending in endings}
    assert left_in(tmp_path) == {"cluster.json", "found", *(f"found/{file.name}" for file in files.values())}
    for ending, form in endings.items():
        text = files[ending].read_text()
        assert "script" in text
        assert_harmless(form, text)
    assert json.loads(files[".itf.json"].read_text())["#meta"]["scenario"] == "old-client-expansion"
