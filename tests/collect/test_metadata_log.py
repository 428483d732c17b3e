"""KRaft's metadata log: the image of a real one, and of records that are made here."""

from __future__ import annotations

import struct
from base64 import urlsafe_b64decode
from pathlib import Path

import pytest

from kwalk.clusters.collect.log_files import HEADER
from kwalk.clusters.collect.metadata_log import (
    RegisteredBroker,
    RegisteredPartition,
    newest_image,
    read_image,
    records_in,
)
from kwalk.clusters.wire import Malformed, int8, int16, int32, int64, signed_varint, varint

REAL = Path(__file__).parent / "metadata-logs" / "pending-deletion-3.9.0.log"
SEGMENT = "00000000000000000000.log"
ID = "hbcto079Q-K_O7AoNlw-Ig"


def identity(text: str = ID) -> bytes:
    return urlsafe_b64decode(text + "==")


def text(value: str) -> bytes:
    return varint(len(value) + 1) + value.encode()


def numbers(*values: int) -> bytes:
    return varint(len(values) + 1) + b"".join(map(int32, values))


def record(kind: int, content: bytes = b"", version: int = 0, tags: bytes = b"\0") -> bytes:
    return varint(1) + varint(kind) + varint(version) + content + tags


def batch(base: int, *values: bytes, attributes: int = 0) -> bytes:
    records = b""
    for offset, value in enumerate(values):
        body = int8(0) + signed_varint(0) + signed_varint(offset) + signed_varint(-1)
        body += signed_varint(len(value)) + value + varint(0)
        records += signed_varint(len(body)) + body
    count = len(values)
    head = HEADER.pack(base, HEADER.size - 12 + len(records), 1, 2, 0, attributes, count - 1, 0, 0, -1, -1, -1, count)
    return head + records


TOPIC = record(2, text("t") + identity())
PARTITION = record(
    3, int32(0) + identity() + numbers(1, 2) + numbers(1) + numbers() + numbers(2) + int32(1) + int32(4) + int32(7)
)
EVERYTHING = RegisteredPartition((1, 2), (1,), 1, 4, adding=(2,))


def image_of(folder: Path, *batches: bytes):
    (folder / SEGMENT).write_bytes(b"".join(batches))
    return read_image(folder)


def test_the_image_of_a_real_controller(tmp_path: Path) -> None:
    """The lab's: a topic was pending for deletion, was left out of the copy, and created again in dual write."""
    image = image_of(tmp_path, REAL.read_bytes())
    assert (image.end, image.state, image.level, image.open_transaction) == (146, "MIGRATION", 21, False)
    assert image.brokers == {1: RegisteredBroker(False, False), 2: RegisteredBroker(False, False)}
    assert sorted(image.names.values()) == ["healthy", "t0"]
    assert {len(partitions) for partitions in image.partitions.values()} == {2}


def test_topics_partitions_and_their_changes(tmp_path: Path) -> None:
    isr = varint(0) + varint(len(numbers(1, 2))) + numbers(1, 2)
    leader = varint(1) + varint(4) + int32(2)
    change = record(5, int32(0) + identity(), tags=varint(2) + isr + leader)
    image = image_of(tmp_path, batch(0, TOPIC, PARTITION), batch(2, change))
    assert image.names == {ID: "t"}
    assert image.partitions == {ID: {0: RegisteredPartition((1, 2), (1, 2), 2, 5, adding=(2,))}}
    gone = image_of(tmp_path, batch(0, TOPIC, PARTITION), batch(2, record(9, identity())))
    assert (gone.names, gone.partitions, gone.end) == ({}, {}, 3)


def test_registrations_and_fences(tmp_path: Path) -> None:
    endpoint = text("PLAINTEXT") + text("host") + struct.pack(">H", 9092) + int16(0) + varint(0)
    feature = text("metadata.version") + int16(1) + int16(21) + varint(0)
    head = int32(1) + int8(1) + bytes(16) + int64(5) + varint(2) + endpoint + varint(2) + feature + varint(0)
    registration = record(0, head + int8(1) + int8(0), version=3)
    unfenced = record(17, int32(1) + int64(5), tags=varint(1) + varint(0) + varint(1) + int8(-1))
    image = image_of(tmp_path, batch(0, registration))
    assert image.brokers == {1: RegisteredBroker(migrating=True, fenced=True)}
    image = image_of(tmp_path, batch(0, registration, unfenced, record(7, int32(9) + int64(1))))
    assert image.brokers == {1: RegisteredBroker(migrating=True, fenced=False)}
    assert image_of(tmp_path, batch(0, registration, record(1, int32(1) + int64(5)))).brokers == {}


@pytest.mark.parametrize(("number", "state"), list(enumerate(["NONE", "MIGRATION", "PRE_MIGRATION", "POST_MIGRATION"])))
def test_the_state_of_the_migration(tmp_path: Path, number: int, state: str) -> None:
    assert image_of(tmp_path, batch(0, record(21, int8(number)))).state == state


def test_a_transaction_counts_when_it_ends_and_not_if_it_is_aborted(tmp_path: Path) -> None:
    begun = batch(0, record(23), TOPIC, PARTITION)
    image = image_of(tmp_path, begun)
    assert (image.names, image.open_transaction) == ({}, True)
    assert image_of(tmp_path, begun, batch(3, record(24))).partitions == {ID: {0: EVERYTHING}}
    aborted = image_of(tmp_path, begun, batch(3, record(25)))
    assert (aborted.names, aborted.open_transaction, aborted.end) == ({}, False, 4)


def test_a_checkpoint_is_followed_by_the_records_after_it(tmp_path: Path) -> None:
    (tmp_path / "00000000000000000002-0000000001.checkpoint").write_bytes(
        batch(0, b"header", attributes=0x20) + batch(1, TOPIC)
    )
    (tmp_path / "00000000000000000001-0000000001.checkpoint").write_bytes(b"older, and not read")
    image = image_of(tmp_path, batch(0, record(2, text("deleted") + bytes(15) + b"1")), batch(2, PARTITION))
    assert (image.names, image.partitions, image.end) == ({ID: "t"}, {ID: {0: EVERYTHING}}, 3)


def test_a_batch_that_is_cut_ends_the_log(tmp_path: Path) -> None:
    whole, cut = batch(0, TOPIC), batch(1, PARTITION)[:-3]
    assert image_of(tmp_path, whole, cut).end == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\0" * 100, "no batch of format 2 at byte 0"),
        (batch(0, TOPIC, attributes=1), "a compressed batch at byte 0"),
        (batch(0, varint(2) + varint(2)), "a record of an unknown frame"),
        (batch(0, record(21, int8(9))), "the state 9 of a migration"),
        (batch(0, record(5, int32(0) + identity())), "a change of partition 0 of a topic"),
        (batch(0, record(2, text("t"))), "bytes at"),
    ],
)
def test_bytes_in_another_format_are_refused(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(Malformed, match=message):
        image_of(tmp_path, content)


def test_unknown_records_are_skipped_and_control_batches_too() -> None:
    content = batch(0, record(99, b"whatever")) + batch(1, b"leader change", attributes=0x20) + batch(2, TOPIC)
    assert [offset for offset, _ in records_in(content)] == [0, 2]


def test_the_newest_image_wins_and_one_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    for name, batches in {"old": [TOPIC], "new": [TOPIC, PARTITION]}.items():
        log = tmp_path / name / "__cluster_metadata-0"
        log.mkdir(parents=True)
        (log / SEGMENT).write_bytes(batch(0, *batches))
    (tmp_path / "none").mkdir()
    bad = tmp_path / "bad" / "__cluster_metadata-0"
    bad.mkdir(parents=True)
    (bad / SEGMENT).write_bytes(b"\1" * 100)
    image, problems = newest_image(tmp_path / name for name in ("old", "new", "none", "bad"))
    assert image is not None and image.end == 2
    assert len(problems) == 1 and str(tmp_path / "bad") in problems[0]
