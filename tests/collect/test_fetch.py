"""Fetch requests by topic id: the bytes that are asked and read, and how many partitions a request names."""

from __future__ import annotations

import socket
import struct
import threading

import pytest

from kwalk.clusters import fetch
from kwalk.clusters.fetch import errors_by_id
from kwalk.clusters.wire import (
    NO_TAGS,
    Malformed,
    compact_array,
    compact_string,
    framed,
    id_bytes,
    int8,
    int16,
    int32,
    int64,
    read_frame,
    varint,
)

ONE, OTHER = "hbcto0-PQOGJJCeLJ4z5Hw", "dG8RwOaQRsuJ4sz5w1m_bA"


@pytest.fixture
def broker():
    """A function that starts a broker with these answers, behind the header; it returns the port and requests."""
    servers = []

    def start(*answers):
        server, requests = socket.create_server(("127.0.0.1", 0)), []
        servers.append(server)

        def serve():
            connection, _ = server.accept()
            with connection:
                for answer in answers:
                    requests.append(read_frame(connection))
                    connection.sendall(framed(requests[-1][4:8] + NO_TAGS + answer))

        threading.Thread(target=serve, daemon=True).start()
        return server.getsockname()[1], requests

    yield start
    for server in servers:
        server.close()


def answer(errors, error=0):
    """An answer with these errors, by topic id and partition."""
    nothing = int64(-1) * 3 + compact_array([]) + int32(-1) + varint(1) + NO_TAGS
    topics = (
        id_bytes(identity) + compact_array(int32(p) + int16(code) + nothing for p, code in known.items()) + NO_TAGS
        for identity, known in errors.items()
    )
    return int32(0) + int16(error) + int32(0) + compact_array(topics) + NO_TAGS


def test_a_broker_is_asked_without_a_session_or_a_wait_beyond_all_logs(broker):
    port, requests = broker(answer({ONE: {0: 1, 2: 103}, OTHER: {1: 6}}))
    assert errors_by_id(port, {ONE: [0, 2], OTHER: [1]}) == {(ONE, 0): 1, (ONE, 2): 103, (OTHER, 1): 6}
    key, version, _ = struct.unpack(">hhi", requests[0][:8])
    assert (key, version) == (1, 13)
    consumer_and_limits, session = int32(-1) + int32(0) + int32(0) + int32(1) + int8(0), int32(0) + int32(-1)
    rest = int32(-1) + int64(2**62) + int32(-1) + int64(-1) + int32(1) + NO_TAGS
    topics = [
        id_bytes(ONE) + compact_array([int32(0) + rest, int32(2) + rest]) + NO_TAGS,
        id_bytes(OTHER) + compact_array([int32(1) + rest]) + NO_TAGS,
    ]
    end = compact_array(topics) + compact_array([]) + compact_string("") + NO_TAGS
    assert requests[0].endswith(NO_TAGS + consumer_and_limits + session + end)


def test_a_request_names_only_so_many_partitions(broker, monkeypatch):
    monkeypatch.setattr(fetch, "AT_ONCE", 2)
    port, requests = broker(answer({ONE: {0: 1, 1: 1}}), answer({ONE: {2: 1}, OTHER: {0: 1}}))
    assert errors_by_id(port, {ONE: [0, 1, 2], OTHER: [0]}) == dict.fromkeys(
        [(ONE, 0), (ONE, 1), (ONE, 2), (OTHER, 0)], 1
    )
    assert len(requests) == 2


@pytest.mark.parametrize("found", [answer({}), answer({}, error=89), answer({OTHER: {0: 103}, ONE: {7: 103}})])
def test_what_is_not_answered_is_not_known(broker, found):
    """The broker has delayed the answer for a quota, refuses the request, or answers what it was not asked."""
    assert errors_by_id(broker(found)[0], {ONE: [0]}) == {}


@pytest.mark.parametrize("found", [b"", int32(0) + int16(0) + int32(0) + varint(9), answer({ONE: {0: 1}})[:-4]])
def test_an_answer_of_what_is_no_broker_is_malformed(broker, found):
    with pytest.raises(Malformed):
        errors_by_id(broker(found)[0], {ONE: [0]})


def test_a_broker_that_does_not_know_the_version_closes_the_connection(broker):
    with pytest.raises(ConnectionError):
        errors_by_id(broker()[0], {ONE: [0]})
