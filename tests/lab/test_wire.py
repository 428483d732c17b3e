"""The two protocols: values come back as they were written, and known bytes are as the protocols define them."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kwalk.clusters import wire
from kwalk.clusters.lab.brokers import crc32c, record_batch, record_values
from kwalk.clusters.lab.zookeeper import (
    ZooKeeperError,
    connect_request,
    create,
    delete,
    read_connect_response,
    read_transaction,
    transaction,
)
from kwalk.clusters.wire import Malformed, Reader


@given(st.integers(0, 2**32 - 1))
def test_a_varint_is_read_as_it_was_written(number):
    assert Reader(wire.varint(number)).varint() == number


@given(st.text(max_size=300))
def test_strings_are_read_as_they_were_written(text):
    assert Reader(wire.long_string(text)).long_string() == text
    assert Reader(wire.string(text)).string() == text
    assert Reader(wire.compact_string(text)).compact_string() == text


def test_null_strings_are_read_as_none():
    assert Reader(wire.string(None)).string() is None
    assert Reader(wire.compact_string(None)).compact_string() is None


def test_known_varints_have_their_bytes():
    assert wire.varint(300) == b"\xac\x02"
    assert [wire.signed_varint(n) for n in (0, -1, 1, -65)] == [b"\x00", b"\x01", b"\x02", b"\x81\x01"]


@pytest.mark.parametrize("content", [b"", b"\x00\x00", b"\x00\x00\x00\x05abc"])
def test_a_message_that_ends_early_is_malformed(content):
    with pytest.raises(Malformed):
        Reader(content).buffer() or Reader(content).take(1)


def test_a_varint_without_an_end_is_malformed():
    with pytest.raises(Malformed):
        Reader(b"\xff" * 9).varint()


def test_crc32c_is_that_of_the_standard():
    assert crc32c(b"123456789") == 0xE3069283  # the check value of CRC-32C (RFC 3720, B.4)


@given(st.binary(max_size=200), st.binary(max_size=200), st.none() | st.binary(max_size=100))
def test_the_values_of_records_are_read_as_they_were_written(first, second, key):
    content = record_batch(first, 1, key) + record_batch(second, 2)
    assert list(record_values(content)) == [first, second]
    assert list(record_values(content[:-1])) == [first]


def test_a_batch_of_records_has_the_checksum_of_what_follows_it():
    batch = record_batch(b"v", 7)
    assert struct.unpack(">I", batch[17:21]) == (crc32c(batch[21:]),)


def test_the_first_batch_of_an_idempotent_producer_has_its_id_and_sequence_0():
    assert struct.unpack(">qhi", record_batch(b"v", 7, producer_id=5)[43:57]) == (5, 0, 0)
    assert struct.unpack(">qhi", record_batch(b"v", 7)[43:57]) == (-1, -1, -1)


def test_a_topic_id_is_printed_as_kafka_prints_it():
    assert Reader(bytes(16)).topic_id() is None
    assert Reader(bytes(range(16))).topic_id() == "AAECAwQFBgcICQoLDA0ODw"


def test_a_session_that_has_expired_has_a_timeout_of_zero():
    alive = struct.pack(">iiqi", 0, 6000, 77, 2) + b"pw"
    expired = struct.pack(">iiqi", 0, 0, 0, 2) + b"pw"
    assert (read_connect_response(alive).id, read_connect_response(alive).password) == (77, b"pw")
    assert read_connect_response(expired) is None
    assert Reader(connect_request(read_connect_response(alive))).take(24)[-8:] == struct.pack(">q", 77)


def results(*codes):
    parts = [struct.pack(">ibii", -1, 0, code, code) for code in codes]
    return Reader(b"".join([*parts, struct.pack(">ibi", -1, 1, -1)]))


def test_a_transaction_fails_with_the_code_of_the_operation_to_blame():
    with pytest.raises(ZooKeeperError) as failure:
        read_transaction(results(0, -110, -2))
    assert failure.value.code == "NODEEXISTS"


def test_a_transaction_ends_with_a_header_that_says_so():
    fields = transaction([create("/a", b"x"), delete("/b")])
    assert fields.endswith(struct.pack(">ibi", -1, 1, -1))
    assert fields.startswith(struct.pack(">ibi", 1, 0, -1))
