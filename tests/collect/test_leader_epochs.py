"""What a broker has in memory of replicas, found by asking for leader epochs as consumers do."""

from __future__ import annotations

import socket
import struct
import threading
from contextlib import contextmanager

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kwalk.clusters import leader_epochs
from kwalk.clusters.leader_epochs import likely_epochs, replicas_in_memory
from kwalk.clusters.metadata import Metadata, PartitionMetadata, TopicMetadata
from kwalk.clusters.wire import Malformed, Reader, array, framed, int16, int32, int64, read_frame, string
from kwalk.model.kafka.snapshots.capture import CapturedReplica

STORAGE_ERROR, AUTHORIZATION_FAILED = 56, 29
HOSTED = st.builds(CapturedReplica, st.integers(0, 2**31 - 2), st.booleans())


def answer_of(found, epoch):
    """The error of a partition, as Partition.getLocalLog has it; a number is an error whatever the epoch is."""
    if not isinstance(found, CapturedReplica):
        return found
    if epoch != found.leader_epoch:
        return 74 if epoch < found.leader_epoch else 75
    return 0 if found.leads else 6


@contextmanager
def broker(memory, *, garbled=False):
    """A broker with these replicas in memory; yields its port and the requests that it gets."""
    server, requests = socket.create_server(("127.0.0.1", 0)), []

    def answer(content):
        reader = Reader(content)
        reader.numbers("hhi"), reader.string(), reader.int32()
        topics = reader.array(lambda: (reader.string(), reader.array(lambda: reader.numbers("iii"))))
        requests.append({(name, number): epoch for name, asked in topics for number, epoch, _ in asked})
        return int32(0) + array(string(name) + array(one(name, *each) for each in asked) for name, asked in topics)

    def one(name, number, epoch, _):
        return int16(answer_of(memory[name, number], epoch)) + int32(number) + int32(-1) + int64(-1)

    def serve():
        connection, _ = server.accept()
        with connection:
            while (content := read_frame(connection)) is not None:
                assert struct.unpack(">hh", content[:4]) == (23, 3)
                connection.sendall(framed(content[4:8] + (b"" if garbled else answer(content))))

    threading.Thread(target=serve, daemon=True).start()
    with server:
        yield server.getsockname()[1], requests


@settings(max_examples=40, deadline=None)
@given(st.dictionaries(st.tuples(st.sampled_from("tu"), st.integers(0, 3)), HOSTED, min_size=1), st.data())
def test_any_epoch_is_found_from_any_guess(memory, drawn):
    guesses = {place: drawn.draw(st.integers(-1, 2**31 - 1)) for place in memory}
    with broker(memory) as (port, requests):
        assert replicas_in_memory(port, guesses) == memory
    assert len(requests) < leader_epochs.MOST_ROUNDS


def test_the_epoch_in_zookeeper_takes_two_requests_for_all_partitions():
    memory = {("t", number): CapturedReplica(5, leads=number == 1) for number in range(9)}
    with broker(memory) as (port, requests):
        assert replicas_in_memory(port, dict.fromkeys(memory, 5)) == memory
    assert len(requests) == 2


def test_a_request_names_only_so_many_partitions(monkeypatch):
    monkeypatch.setattr(leader_epochs, "AT_ONCE", 2)
    memory = {("t", number): CapturedReplica(0, leads=False) for number in range(3)}
    with broker(memory) as (port, requests):
        assert replicas_in_memory(port, dict.fromkeys(memory, 0)) == memory
    assert [len(asked) for asked in requests] == [2, 1, 2, 1]


def test_a_replica_that_no_controller_has_told_of_is_none_and_others_are_left_out():
    memory = {("t", 0): 6, ("t", 1): 3, ("t", 2): STORAGE_ERROR, ("t", 3): AUTHORIZATION_FAILED}
    with broker(memory) as (port, _):
        assert replicas_in_memory(port, dict.fromkeys(memory, 2)) == {("t", 0): None, ("t", 1): None}


def test_a_replica_before_its_first_request_has_no_epoch():
    memory = {("t", 0): CapturedReplica(-1, leads=False)}
    with broker(memory) as (port, _):
        assert replicas_in_memory(port, {("t", 0): 4}) == memory


def test_an_answer_of_what_is_no_broker_is_malformed():
    with broker({("t", 0): 6}, garbled=True) as (port, _), pytest.raises(Malformed):
        replicas_in_memory(port, {("t", 0): 0})


def test_a_broker_is_asked_about_what_zookeeper_assigns_to_it_and_what_it_believes():
    def topic(*leaders):
        return TopicMetadata(0, None, {n: PartitionMetadata(0, b, 7, (b,), ()) for n, b in enumerate(leaders)})

    metadata = Metadata((1, 2), 1, {"t": topic(1, 2), "u": topic(1), "left out": topic(1)})
    assert likely_epochs(1, {("t", 0): 5, ("v", 3): 0}, metadata, ["t", "u"]) == {
        ("t", 0): 5,
        ("u", 0): 7,
        ("v", 3): 0,
    }
