"""What a broker answers to a DescribeLogDirs request: the bytes that are asked and read."""

from __future__ import annotations

import socket
import struct
import threading

import pytest

from kwalk.clusters.metadata import STORAGE_ERROR, describe_log_dirs, describe_settings
from kwalk.clusters.wire import Malformed, array, framed, int8, int16, int32, int64, read_frame, string
from kwalk.model.kafka.snapshots.capture import SETTINGS


@pytest.fixture
def broker():
    """A function that starts a broker with one answer, behind the correlation id; it returns the port and requests."""
    servers = []

    def start(answer):
        server, requests = socket.create_server(("127.0.0.1", 0)), []
        servers.append(server)

        def serve():
            connection, _ = server.accept()
            with connection:
                requests.append(read_frame(connection))
                if answer is not None:
                    connection.sendall(framed(requests[0][4:8] + answer))

        threading.Thread(target=serve, daemon=True).start()
        return server.getsockname()[1], requests

    yield start
    for server in servers:
        server.close()


def test_a_broker_names_its_log_directories_with_their_errors(broker):
    partition = int32(0) + int64(77) + int64(0) + int8(0)
    online = int16(0) + string("/data/a") + array([string("t") + array([partition, partition])])
    offline = int16(STORAGE_ERROR) + string("/data/b") + array([])
    port, requests = broker(int32(0) + array([online, offline]))
    assert describe_log_dirs(port) == {"/data/a": 0, "/data/b": STORAGE_ERROR}
    key, version, _ = struct.unpack(">hhi", requests[0][:8])
    assert (key, version, requests[0][8:]) == (35, 1, string("kwalk") + int32(0))


@pytest.mark.parametrize("answer", [int32(0) + int32(1) + int16(0) + string(None) + int32(0), int32(0) + int32(1), b""])
def test_an_answer_of_what_is_no_broker_is_malformed(broker, answer):
    with pytest.raises(Malformed):
        describe_log_dirs(broker(answer)[0])


def test_a_broker_that_does_not_know_the_request_closes_the_connection(broker):
    with pytest.raises(ConnectionError):
        describe_log_dirs(broker(None)[0])


def setting(name: str, value: str | None) -> bytes:
    synonym = string(name) + string(value) + int8(4)
    return string(name) + string(value) + int8(0) + int8(4) + int8(0) + array([synonym])


def test_a_broker_says_which_settings_it_uses(broker):
    found = [setting("min.insync.replicas", "2"), setting("unclean.leader.election.enable", None)]
    port, requests = broker(int32(0) + array([int16(0) + string(None) + int8(4) + string("7") + array(found)]))
    assert describe_settings(port, 7, SETTINGS) == {"min.insync.replicas": "2"}
    resource = int8(4) + string("7") + array(map(string, SETTINGS))
    key, version, _ = struct.unpack(">hhi", requests[0][:8])
    assert (key, version, requests[0][8:]) == (32, 1, string("kwalk") + array([resource]) + int8(0))


def test_a_broker_that_does_not_let_a_client_ask_leaves_its_settings_unknown(broker):
    refused = int16(31) + string("Cluster authorization failed.") + int8(4) + string("7") + array([])
    assert describe_settings(broker(int32(0) + array([refused]))[0], 7, SETTINGS) is None
    with pytest.raises(Malformed):
        describe_settings(broker(int32(0) + array([]))[0], 7, SETTINGS)
