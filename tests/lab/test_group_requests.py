"""The lab's requests about groups and configurations: what is sent to a broker, and how its answers are read."""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from kwalk.clusters.lab.brokers import AdminRequests, consume, produce
from kwalk.clusters.lab.group_requests import GroupMember, GroupRequests
from kwalk.clusters.metadata import Api
from kwalk.clusters.wire import (
    NO_TAGS,
    Reader,
    array,
    buffer,
    compact_array,
    compact_string,
    framed,
    int8,
    int16,
    int32,
    int64,
    read_frame,
    string,
)

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


def test_errors_of_a_commit_are_by_partition_in_whatever_order_they_come():
    answer = NO_THROTTLE + array([string("t") + array([int32(1) + int16(0), int32(0) + int16(12)])])
    with broker(answer) as (requests, sent):
        answers = requests.commit_each(GroupMember("g"), "t", {0: 2, 1: 3}, {0: "m"})
    assert answers == {0: "OFFSET_METADATA_TOO_LARGE", 1: "NONE"}
    assert head(sent[0]) == (Api.OFFSET_COMMIT, 7)
    assert (sent[0].string(), sent[0].int32(), sent[0].string(), sent[0].string()) == ("g", -1, "", None)

    def partition() -> tuple[int, int, int, str | None]:
        return sent[0].int32(), sent[0].int64(), sent[0].int32(), sent[0].string()

    assert sent[0].array(lambda: (sent[0].string(), sent[0].array(partition))) == [
        ("t", [(0, 2, -1, "m"), (1, 3, -1, "")])
    ]


def test_a_stable_offset_is_asked_for():
    partition = int32(0) + int64(-1) + int32(-1) + compact_string("") + int16(88) + NO_TAGS
    topics = compact_array([compact_string("t") + compact_array([partition]) + NO_TAGS])
    with broker(NO_TAGS + NO_THROTTLE + topics + int16(0) + NO_TAGS) as (requests, sent):
        assert requests.stable("g", "t") == ("UNSTABLE_OFFSET_COMMIT", -1)
    assert head(sent[0]) == (Api.OFFSET_FETCH, 7)
    sent[0].tags()
    assert sent[0].compact_string() == "g"
    assert sent[0].compact_array(
        lambda: (sent[0].compact_string(), sent[0].compact_array(sent[0].int32), sent[0].tags())
    )
    assert sent[0].take(1) == b"\1"


def test_a_replica_is_moved_to_a_directory():
    with broker(NO_THROTTLE + array([string("t") + array([int32(2) + int16(56)])])) as (requests, sent):
        assert AdminRequests(lambda: requests.port).move("t", 2, "/data").error == "KAFKA_STORAGE_ERROR"
    assert head(sent[0]) == (Api.ALTER_REPLICA_LOG_DIRS, 1)

    def directory() -> tuple[str | None, list[tuple[str | None, list[int]]]]:
        path = sent[0].string()
        return path, sent[0].array(lambda: (sent[0].string(), sent[0].array(sent[0].int32)))

    assert sent[0].array(directory) == [("/data", [("t", [2])])]


def test_records_are_deleted_and_the_first_error_of_a_partition_is_that_of_the_request():
    partitions = array([int32(0) + int64(7) + int16(0), int32(1) + int64(-1) + int16(7)])
    with broker(NO_THROTTLE + array([string("t") + partitions])) as (requests, sent):
        deleted = AdminRequests(lambda: requests.port, milliseconds=200).delete_records("t", {0: 7, 1: -1})
    assert deleted.error == "REQUEST_TIMED_OUT"
    assert head(sent[0]) == (Api.DELETE_RECORDS, 1)

    def topic() -> tuple[str | None, list[tuple[int, int]]]:
        return sent[0].string(), sent[0].array(lambda: (sent[0].int32(), sent[0].int64()))

    assert (sent[0].array(topic), sent[0].int32()) == ([("t", [(0, 7), (1, -1)])], 200)


def test_a_consumer_names_its_rack_and_is_sent_to_another_replica():
    partition = int32(0) + int16(0) + int64(5) + int64(5) + int64(0) + array([]) + int32(2) + buffer(b"")
    answer = NO_THROTTLE + int16(0) + int32(0) + array([string("t") + array([partition])])
    with broker(answer, answer.replace(int32(2) + buffer(b""), int32(-1) + buffer(b""))) as (requests, sent):
        assert consume(requests.port, "t", 0, offset=4, rack="near")["sent to"] == 2
        assert "sent to" not in consume(requests.port, "t", 0, offset=4)
    assert sent[0].content.endswith(string("near")) and sent[1].content.endswith(string(""))


def test_a_member_names_the_topics_that_it_subscribes_to():
    with broker(joined(0, 1, "m", "m")) as (requests, sent):
        requests.join(GroupMember("g", topics=("t", "u")))
    head(sent[0])
    sent[0].string(), sent[0].int32(), sent[0].int32(), sent[0].string(), sent[0].string(), sent[0].string()
    ((protocol, content),) = sent[0].array(lambda: (sent[0].string(), sent[0].buffer()))
    subscription = Reader(content or b"")
    assert (protocol, subscription.int16(), subscription.array(subscription.string)) == ("range", 0, ["t", "u"])
    assert subscription.buffer() is None and subscription.at == len(content or b"")


def test_a_value_of_all_brokers_is_set_and_one_without_a_value_is_deleted():
    answer = NO_THROTTLE + array([int16(42) + string("no") + int8(4) + string("")])
    with broker(answer) as (requests, sent):
        admin = AdminRequests(lambda: requests.port)
        assert str(admin.configure_brokers({"log.retention.ms": "1", "log.roll.ms": None})) == "INVALID_REQUEST (no)"
    assert head(sent[0]) == (Api.INCREMENTAL_ALTER_CONFIGS, 0)

    def resource() -> tuple[bytes, str | None, list[tuple[str | None, bytes, str | None]]]:
        kind, name = sent[0].take(1), sent[0].string()
        return kind, name, sent[0].array(lambda: (sent[0].string(), sent[0].take(1), sent[0].string()))

    changes = [("log.retention.ms", b"\0", "1"), ("log.roll.ms", b"\1", None)]
    assert sent[0].array(resource) == [(b"\x04", "", changes)]


def test_a_topic_is_created_with_a_configuration_of_its_own():
    with broker(NO_THROTTLE + array([string("t") + int16(0) + string(None)])) as (requests, sent):
        AdminRequests(lambda: requests.port).create_topic("t", {0: [2, 1]}, {"cleanup.policy": "compact"})
    assert head(sent[0]) == (Api.CREATE_TOPICS, 4)

    def topic() -> tuple[object, ...]:
        name, count, factor = sent[0].string(), sent[0].int32(), sent[0].int16()
        replicas = sent[0].array(lambda: (sent[0].int32(), sent[0].array(sent[0].int32)))
        return name, count, factor, replicas, sent[0].array(lambda: (sent[0].string(), sent[0].string()))

    assert sent[0].array(topic) == [("t", -1, -1, [(0, [2, 1])], [("cleanup.policy", "compact")])]


def test_a_record_has_the_age_that_it_is_to_have():
    answer = array([string("t") + array([int32(0) + int16(0) + int64(5) + int64(-1) + int64(0)])]) + NO_THROTTLE
    with broker(answer) as (requests, sent):
        before = time.time()
        assert produce(requests.port, "t", 0, "v", key="k", age=1000)["offset"] == 5
    head(sent[0])
    sent[0].string(), sent[0].int16(), sent[0].int32()
    ((_, ((_, batch),)),) = sent[0].array(
        lambda: (sent[0].string(), sent[0].array(lambda: (sent[0].int32(), sent[0].buffer())))
    )
    (timestamp,) = struct.unpack(">q", (batch or b"")[27:35])
    assert 999 < before - timestamp / 1000 < 1001 and b"\x02k\x02v" in (batch or b"")


def test_groups_are_listed_described_and_deleted():
    listed = NO_THROTTLE + int16(0) + array([string("g") + string("consumer"), string("h") + string("")])
    described = NO_THROTTLE + array([int16(0) + string("g") + string("Empty")])
    deleted = NO_THROTTLE + array([string("g") + int16(68)])
    with broker(listed, described, deleted) as (requests, sent):
        assert requests.listed() == ["g", "h"]
        assert requests.state("g") == "Empty"
        assert requests.delete("g") == "NON_EMPTY_GROUP"
    assert [head(request)[0] for request in sent] == [Api.LIST_GROUPS, Api.DESCRIBE_GROUPS, Api.DELETE_GROUPS]
