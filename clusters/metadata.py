"""A connection to one broker, and what it answers: Metadata, the state of its log directories, and its settings.

The first is what the broker believes, and answers to clients. This module speaks the protocol itself: a client library
asks any broker that it has found, and shows neither leader epochs nor which broker answered, which a snapshot is about.

Source: the messages in org.apache.kafka.common.message.
"""

from __future__ import annotations

import socket
from collections.abc import Collection, Mapping
from contextlib import suppress
from enum import IntEnum
from types import TracebackType

from attrs import field, frozen

from kwalk.clusters.wire import (
    NO_TAGS,
    Malformed,
    Reader,
    array,
    compact_array,
    framed,
    int8,
    int16,
    int32,
    read_frame,
    string,
)

CLIENT = "kwalk"
LOOPBACK = "127.0.0.1"
PATIENCE = 30.0
"""Seconds to wait for an answer, if the request has no timeout of its own."""
BROKER_RESOURCE = 4
"""The type of a resource whose configuration is that of a broker (ConfigResource.Type)."""
STORAGE_ERROR = 56
"""Of a log directory: its disk has failed (KAFKA_STORAGE_ERROR)."""


class Api(IntEnum):
    """The requests of Kafka that are sent, or that the proxies of the lab name."""

    PRODUCE = 0
    FETCH = 1
    LIST_OFFSETS = 2
    METADATA = 3
    LEADER_AND_ISR = 4
    STOP_REPLICA = 5
    UPDATE_METADATA = 6
    CONTROLLED_SHUTDOWN = 7
    OFFSET_COMMIT = 8
    OFFSET_FETCH = 9
    FIND_COORDINATOR = 10
    JOIN_GROUP = 11
    HEARTBEAT = 12
    LEAVE_GROUP = 13
    SYNC_GROUP = 14
    DESCRIBE_GROUPS = 15
    LIST_GROUPS = 16
    API_VERSIONS = 18
    CREATE_TOPICS = 19
    DELETE_TOPICS = 20
    DELETE_RECORDS = 21
    INIT_PRODUCER_ID = 22
    OFFSET_FOR_LEADER_EPOCH = 23
    ADD_PARTITIONS_TO_TXN = 24
    ADD_OFFSETS_TO_TXN = 25
    END_TXN = 26
    WRITE_TXN_MARKERS = 27
    TXN_OFFSET_COMMIT = 28
    DESCRIBE_CONFIGS = 32
    ALTER_REPLICA_LOG_DIRS = 34
    DESCRIBE_LOG_DIRS = 35
    CREATE_PARTITIONS = 37
    DELETE_GROUPS = 42
    ELECT_LEADERS = 43
    INCREMENTAL_ALTER_CONFIGS = 44
    ALTER_PARTITION_REASSIGNMENTS = 45
    LIST_PARTITION_REASSIGNMENTS = 46
    ALTER_PARTITION = 56
    ALLOCATE_PRODUCER_IDS = 67
    ASSIGN_REPLICAS_TO_DIRS = 73


@frozen
class PartitionMetadata:
    """A partition in a Metadata response; the leader is -1 where there is none."""

    error: int
    leader: int
    leader_epoch: int
    isr: tuple[int, ...]
    offline: tuple[int, ...]


@frozen
class TopicMetadata:
    """A topic in a Metadata response."""

    error: int
    topic_id: str | None
    partitions: Mapping[int, PartitionMetadata]


@frozen
class Metadata:
    """A Metadata response: what a broker believes."""

    brokers: tuple[int, ...]
    controller: int
    topics: Mapping[str, TopicMetadata] = field(factory=dict)


class BrokerConnection:
    """A connection to one broker."""

    def __init__(self, port: int, *, host: str = LOOPBACK, seconds: float = PATIENCE) -> None:
        self.socket = socket.create_connection((host, port), timeout=seconds)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.correlation = 0

    def __enter__(self) -> BrokerConnection:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        with suppress(OSError):
            self.socket.close()

    def ask(self, api: Api, version: int, body: bytes, *, flexible: bool = False) -> Reader:
        """Send a request; return a reader of its answer's body.

        Raises:
            OSError: The connection failed, or there was no answer in time.
        """
        self.send(api, version, body, flexible=flexible)
        return self.receive(flexible=flexible)

    def send(self, api: Api, version: int, body: bytes, *, flexible: bool = False) -> None:
        """Send a request, and leave its answer to `receive`."""
        self.correlation += 1
        head = int16(api) + int16(version) + int32(self.correlation) + string(CLIENT)
        self.socket.sendall(framed(head + (NO_TAGS if flexible else b"") + body))

    def receive(self, *, flexible: bool = False) -> Reader:
        """Return a reader of the next answer's body."""
        content = read_frame(self.socket)
        if content is None:
            raise ConnectionError("the broker closed the connection: it is down, or does not know this version")
        reader = Reader(content)
        reader.int32()
        if flexible:
            reader.tags()
        return reader


def metadata(port: int, *, host: str = LOOPBACK, with_ids: bool, seconds: float = 5.0) -> Metadata:
    """Return a broker's metadata of all topics. The request creates no topic.

    Args:
        port: The broker's port.
        host: The broker's host.
        with_ids: Whether the broker knows version 10 of the request, which has topic ids (from 2.8 on).
        seconds: The patience.

    Raises:
        OSError: The broker does not answer.
        Malformed: What answers is no broker.
    """
    body = compact_array(None) + int8(0) + int8(0) + int8(0) + NO_TAGS
    with BrokerConnection(port, host=host, seconds=seconds) as connection:
        return _read_metadata(connection.ask(Api.METADATA, 10 if with_ids else 9, body, flexible=True), with_ids)


def _read_metadata(reader: Reader, with_ids: bool) -> Metadata:
    reader.int32()
    brokers = reader.compact_array(lambda: _read_broker(reader))
    reader.compact_string()
    controller = reader.int32()
    topics = reader.compact_array(lambda: _read_topic(reader, with_ids))
    return Metadata(tuple(sorted(brokers)), controller, dict(topics))


def _read_broker(reader: Reader) -> int:
    number = reader.int32()
    reader.compact_string()
    reader.int32()
    reader.compact_string()
    reader.tags()
    return number


def _read_topic(reader: Reader, with_ids: bool) -> tuple[str, TopicMetadata]:
    error, name = reader.int16(), reader.compact_string() or ""
    identity = reader.topic_id() if with_ids else None
    reader.boolean()
    partitions = reader.compact_array(lambda: _read_partition(reader))
    reader.int32()
    reader.tags()
    return name, TopicMetadata(error, identity, dict(sorted(partitions)))


def _read_partition(reader: Reader) -> tuple[int, PartitionMetadata]:
    error, index, leader, epoch = reader.numbers("hiii")
    _, isr, offline = reader.compact_int32s(), reader.compact_int32s(), reader.compact_int32s()
    reader.tags()
    return index, PartitionMetadata(error, leader, epoch, isr, offline)


def describe_log_dirs(port: int, *, host: str = LOOPBACK, seconds: float = 5.0) -> dict[str, int]:
    """Return the paths of a broker's log directories, each with its error, which is 0 if there is none.

    The request names no partition, so that the response does not describe logs. Version 1 is the last in which lengths
    are not compact; brokers of 2.0 to 4.x know it. A broker that does not let the client ask answers with no path.

    Args:
        port: The broker's port.
        host: The broker's host.
        seconds: The patience.

    Raises:
        OSError: The broker does not answer.
        Malformed: What answers is no broker.
    """
    with BrokerConnection(port, host=host, seconds=seconds) as connection:
        reader = connection.ask(Api.DESCRIBE_LOG_DIRS, 1, array(()))
    reader.int32()
    return dict(reader.array(lambda: _read_log_dir(reader)))


def _read_log_dir(reader: Reader) -> tuple[str, int]:
    error, path = reader.int16(), reader.string()
    reader.array(lambda: (reader.string(), reader.array(lambda: reader.numbers("iqqb"))))
    if not path:
        raise Malformed("a log directory without a path")
    return path, error


def describe_settings(
    port: int, broker: int, names: Collection[str], *, host: str = LOOPBACK, seconds: float = 5.0
) -> dict[str, str] | None:
    """Return the values that a broker has of some settings, wherever they come from; None if the client may not ask.

    Version 1 is the first that brokers of 4.x know, and has no compact lengths.

    Args:
        port: The broker's port.
        broker: Its id: a broker answers for itself only.
        names: The names of the settings.
        host: The broker's host.
        seconds: The patience.

    Raises:
        OSError: The broker does not answer.
        Malformed: What answers is no broker.
    """
    resource = int8(BROKER_RESOURCE) + string(str(broker)) + array(map(string, names))
    with BrokerConnection(port, host=host, seconds=seconds) as connection:
        reader = connection.ask(Api.DESCRIBE_CONFIGS, 1, array([resource]) + int8(0))
    reader.int32()
    answers = reader.array(lambda: _read_settings(reader))
    if len(answers) != 1:
        raise Malformed(f"{len(answers)} answers to one question")
    return answers[0]


def _read_settings(reader: Reader) -> dict[str, str] | None:
    error = reader.int16()
    reader.string(), reader.int8(), reader.string()
    found = dict(reader.array(lambda: _read_setting(reader)))
    return None if error else {name: value for name, value in found.items() if value is not None}


def _read_setting(reader: Reader) -> tuple[str, str | None]:
    name, value = reader.string() or "", reader.string()
    reader.numbers("bbb")
    reader.array(lambda: (reader.string(), reader.string(), reader.int8()))
    return name, value
