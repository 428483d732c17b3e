"""The lab's requests about groups: what is sent to a broker, and how its answers are read."""
from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from kwalk.clusters.lab.group_requests import GroupMember, GroupRequests
from kwalk.clusters.metadata import Api
from kwalk.clusters.wire import Reader, array, buffer, framed, int16, int32, int64, read_frame, string

NO_THROTTLE = int32(0)


@contextmanager
def broker(*answers: bytes) -> Iterator[tuple[GroupRequests, list[Reader]]]:
    """A broker that answers one request per connection, in this order; and what it was sent."""
    sent: list[Reader] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            for answer in answers:
                connection, _ = server.accept()
                with connection:
                    sent.append(Reader(read_frame(connection) or b""))
                    connection.sendall(framed(int32(1) + answer))

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield GroupRequests(server.getsockname()[1], seconds=5), sent
        thread.join(5)


def head(reader: Reader) -> tuple[int, int]:
    """The kind and version of a request; its correlation id and client are skipped."""
    kind, version = reader.int16(), reader.int16()
    reader.int32(), reader.string()
    return kind, version


def joined(error: int, generation: int, leader: str, member: str) -> bytes:
    names = string("range") + string(leader) + string(member)
    return NO_THROTTLE + int16(error) + int32(generation) + names + array([])


def test_a_consumer_joins_again_with_the_member_id_that_the_coordinator_demands():
    with broker(joined(79, -1, "", "m"), joined(0, 4, "m", "m")) as (requests, sent):
        error, member = requests.join(GroupMember("g", session_ms=6000))
    assert (error, member.id, member.generation, member.leader) == ("NONE", "m", 4, "m")
    for request, identity in zip(sent, ("", "m"), strict=True):
        assert head(request) == (Api.JOIN_GROUP, 5)
        assert (request.string(), request.int32(), request.int32(), request.string()) == ("g", 6000, 30_000, identity)


def test_the_leader_of_a_generation_sends_the_assignments():
    with broker(NO_THROTTLE + int16(82) + buffer(b"")) as (requests, sent):
        assert requests.sync(GroupMember("g", "m", "i", 3), {"m": b"x"}) == "FENCED_INSTANCE_ID"
    assert head(sent[0]) == (Api.SYNC_GROUP, 3)
    assert (sent[0].string(), sent[0].int32(), sent[0].string(), sent[0].string()) == ("g", 3, "m", "i")
    assert sent[0].array(lambda: (sent[0].string(), sent[0].buffer())) == [("m", b"x")]


def test_the_error_of_a_partition_is_that_of_a_commit_and_of_a_read():
    commit = NO_THROTTLE + array([string("t") + array([int32(0) + int16(22)])])
    read = array([string("t") + array([int32(0) + int64(7) + int32(-1) + string("") + int16(0)])])
    with broker(commit, NO_THROTTLE + read + int16(0), NO_THROTTLE + array([]) + int16(16)) as (requests, _):
        assert requests.commit(GroupMember("g", "m", generation=1), "t", 7) == "ILLEGAL_GENERATION"
        assert requests.committed("g", "t") == ("NONE", 7)
        assert requests.committed("g", "t") == ("NOT_COORDINATOR", -1)


def test_groups_are_listed_described_and_deleted():
    listed = NO_THROTTLE + int16(0) + array([string("g") + string("consumer"), string("h") + string("")])
    described = NO_THROTTLE + array([int16(0) + string("g") + string("Empty")])
    deleted = NO_THROTTLE + array([string("g") + int16(68)])
    with broker(listed, described, deleted) as (requests, sent):
        assert requests.listed() == ["g", "h"]
        assert requests.state("g") == "Empty"
        assert requests.delete("g") == "NON_EMPTY_GROUP"
    assert [head(request)[0] for request in sent] == [Api.LIST_GROUPS, Api.DESCRIBE_GROUPS, Api.DELETE_GROUPS]
