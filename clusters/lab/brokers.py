"""A client of Kafka brokers for experiments: admin requests, and probes that produce and consume.

It speaks the protocol itself, with versions that all brokers from 2.5 to 3.9 understand: each request goes to the
broker that the experiment names, at the moment it says, and an error is reported as it came. (AdminClient retries, and
chooses the broker and the moment.)

Source: the messages in org.apache.kafka.common.message; org.apache.kafka.common.protocol.Errors.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from attrs import frozen

from kwalk.clusters.fetch import Fetched, FetchRequest, fetch_by_id, fetch_by_name
from kwalk.clusters.metadata import Api, BrokerConnection
from kwalk.clusters.wire import (
    NO_TAGS,
    Malformed,
    Reader,
    array,
    buffer,
    compact_array,
    compact_string,
    int8,
    int16,
    int32,
    int64,
    signed_varint,
    string,
)

ERRORS = {
    -1: "UNKNOWN_SERVER_ERROR",
    0: "NONE",
    1: "OFFSET_OUT_OF_RANGE",
    3: "UNKNOWN_TOPIC_OR_PARTITION",
    5: "LEADER_NOT_AVAILABLE",
    6: "NOT_LEADER_OR_FOLLOWER",
    7: "REQUEST_TIMED_OUT",
    9: "REPLICA_NOT_AVAILABLE",
    12: "OFFSET_METADATA_TOO_LARGE",
    13: "NETWORK_EXCEPTION",
    14: "COORDINATOR_LOAD_IN_PROGRESS",
    15: "COORDINATOR_NOT_AVAILABLE",
    16: "NOT_COORDINATOR",
    17: "INVALID_TOPIC_EXCEPTION",
    19: "NOT_ENOUGH_REPLICAS",
    20: "NOT_ENOUGH_REPLICAS_AFTER_APPEND",
    22: "ILLEGAL_GENERATION",
    25: "UNKNOWN_MEMBER_ID",
    27: "REBALANCE_IN_PROGRESS",
    35: "UNSUPPORTED_VERSION",
    36: "TOPIC_ALREADY_EXISTS",
    37: "INVALID_PARTITIONS",
    38: "INVALID_REPLICATION_FACTOR",
    39: "INVALID_REPLICA_ASSIGNMENT",
    41: "NOT_CONTROLLER",
    42: "INVALID_REQUEST",
    45: "OUT_OF_ORDER_SEQUENCE_NUMBER",
    47: "INVALID_PRODUCER_EPOCH",
    48: "INVALID_TXN_STATE",
    51: "CONCURRENT_TRANSACTIONS",
    56: "KAFKA_STORAGE_ERROR",
    60: "REASSIGNMENT_IN_PROGRESS",
    68: "NON_EMPTY_GROUP",
    69: "GROUP_ID_NOT_FOUND",
    73: "TOPIC_DELETION_DISABLED",
    74: "FENCED_LEADER_EPOCH",
    75: "UNKNOWN_LEADER_EPOCH",
    79: "MEMBER_ID_REQUIRED",
    80: "PREFERRED_LEADER_NOT_AVAILABLE",
    82: "FENCED_INSTANCE_ID",
    84: "ELECTION_NOT_NEEDED",
    85: "NO_REASSIGNMENT_IN_PROGRESS",
    88: "UNSTABLE_OFFSET_COMMIT",
    100: "UNKNOWN_TOPIC_ID",
    103: "INCONSISTENT_TOPIC_ID",
}
TOPIC_CONFIGURATION, BROKER_CONFIGURATION = 2, 4
"""ConfigResource.Type; that of brokers is without a name that of all."""
SET_CONFIGURATION, DELETE_CONFIGURATION = 0, 1
"""AlterConfigOp.OpType."""
OK = "NONE"
NO_ANSWER = "NO_ANSWER"


def error_name(code: int) -> str:
    """Return the name of an error code."""
    return ERRORS.get(code, str(code))


@frozen
class AdminAnswer:
    """What a broker answered: the name of the error (NONE if there is none), its message, and the seconds it took."""

    error: str
    message: str = ""
    seconds: float = 0.0

    @property
    def ok(self) -> bool:
        """Whether the request was successful."""
        return self.error == OK

    def __str__(self) -> str:
        return self.error + (f" ({self.message})" if self.message else "")


Probe = dict[str, Any]
"""What a probe saw: "ok", the name of the "error", "ms", and what it got."""


Assignment = Mapping[int, Sequence[int]]
"""The replicas of partitions: broker ids by partition, the preferred leader first."""


class AdminRequests:
    """Admin requests to the broker with a port that `controller` returns; each has a connection of its own."""

    def __init__(self, controller: Callable[[], int], *, milliseconds: int = 5000) -> None:
        self.controller, self.milliseconds = controller, milliseconds

    def create_topic(
        self, topic: str, assignment: Assignment, configuration: Mapping[str, str] | None = None
    ) -> AdminAnswer:
        """Create a topic with these replicas, and a configuration of its own."""
        replicas = array(int32(p) + array(map(int32, brokers)) for p, brokers in sorted(assignment.items()))
        own = array(string(name) + string(value) for name, value in (configuration or {}).items())
        one = string(topic) + int32(-1) + int16(-1) + replicas + own
        return self._ask(Api.CREATE_TOPICS, 4, array([one]) + int32(self.milliseconds) + int8(0), _with_message)

    def delete_topic(self, topic: str) -> AdminAnswer:
        """Delete a topic; the answer comes when the deletion is complete, or after the timeout."""
        return self._ask(Api.DELETE_TOPICS, 3, array([string(topic)]) + int32(self.milliseconds), _without_message)

    def add_partitions(self, topic: str, count: int, added: Sequence[Sequence[int]]) -> AdminAnswer:
        """Raise a topic's number of partitions to `count`; `added` are the replicas of the new ones."""
        replicas = array(array(map(int32, brokers)) for brokers in added)
        body = array([string(topic) + int32(count) + replicas]) + int32(self.milliseconds) + int8(0)
        return self._ask(Api.CREATE_PARTITIONS, 1, body, _with_message)

    def reassign(self, topic: str, assignment: Mapping[int, Sequence[int] | None]) -> AdminAnswer:
        """Start reassignments of partitions to these replicas; None cancels a partition's."""
        each = (
            int32(partition) + compact_array(None if brokers is None else map(int32, brokers)) + NO_TAGS
            for partition, brokers in sorted(assignment.items())
        )
        topics = compact_array([compact_string(topic) + compact_array(each) + NO_TAGS])
        body = int32(self.milliseconds) + topics + NO_TAGS
        return self._ask(Api.ALTER_PARTITION_REASSIGNMENTS, 0, body, _reassigned, flexible=True)

    def cancel(self, topic: str, *partitions: int) -> AdminAnswer:
        """Cancel reassignments."""
        return self.reassign(topic, dict.fromkeys(partitions))

    def elect_preferred(self, topic: str, *partitions: int) -> AdminAnswer:
        """Make the preferred replicas leaders."""
        named = array([string(topic) + array(map(int32, partitions))])
        return self._ask(Api.ELECT_LEADERS, 1, int8(0) + named + int32(self.milliseconds), _elected)

    def elect_unclean(self, topic: str, *partitions: int) -> AdminAnswer:
        """Elect leaders that are not in the ISR, where no ISR member lives."""
        named = array([string(topic) + array(map(int32, partitions))])
        return self._ask(Api.ELECT_LEADERS, 1, int8(1) + named + int32(self.milliseconds), _elected)

    def move(self, topic: str, partition: int, directory: str) -> AdminAnswer:
        """Move the asked broker's replica of a partition to another log directory (AlterReplicaLogDirs)."""
        partitions = array([string(topic) + array([int32(partition)])])
        return self._ask(Api.ALTER_REPLICA_LOG_DIRS, 1, array([string(directory) + partitions]), _moved)

    def delete_records(self, topic: str, before: Mapping[int, int]) -> AdminAnswer:
        """Delete the records of the asked broker's partitions below these offsets; -1 is the high watermark."""
        partitions = array(int32(number) + int64(offset) for number, offset in before.items())
        body = array([string(topic) + partitions]) + int32(self.milliseconds)
        return self._ask(Api.DELETE_RECORDS, 1, body, _deleted)

    def configure_brokers(self, changes: Mapping[str, str | None], number: int | None = None) -> AdminAnswer:
        """Change the dynamic configuration of all brokers (`--entity-default`), or of the one that is asked."""
        return self._configure(BROKER_CONFIGURATION, "" if number is None else str(number), changes)

    def configure_topic(self, topic: str, changes: Mapping[str, str | None]) -> AdminAnswer:
        """Change the configuration of a topic; None deletes."""
        return self._configure(TOPIC_CONFIGURATION, topic, changes)

    def _configure(self, kind: int, name: str, changes: Mapping[str, str | None]) -> AdminAnswer:
        each = (
            string(key) + int8(DELETE_CONFIGURATION if value is None else SET_CONFIGURATION) + string(value)
            for key, value in changes.items()
        )
        resource = int8(kind) + string(name) + array(each)
        return self._ask(Api.INCREMENTAL_ALTER_CONFIGS, 0, array([resource]) + int8(0), _configured)

    def _ask(
        self, api: Api, version: int, body: bytes, read: Callable[[Reader], tuple[int, str]], *, flexible: bool = False
    ) -> AdminAnswer:
        start = time.monotonic()
        try:
            with BrokerConnection(self.controller(), seconds=self.milliseconds / 1000 + 10) as connection:
                code, message = read(connection.ask(api, version, body, flexible=flexible))
        except (OSError, Malformed) as error:
            return AdminAnswer(NO_ANSWER, str(error), time.monotonic() - start)
        return AdminAnswer(error_name(code), message, time.monotonic() - start)


def _with_message(reader: Reader) -> tuple[int, str]:
    reader.int32()
    return next(iter(reader.array(lambda: (reader.string(), (reader.int16(), reader.string() or ""))[1])))


def _without_message(reader: Reader) -> tuple[int, str]:
    reader.int32()
    return next(iter(reader.array(lambda: (reader.string(), (reader.int16(), ""))[1])))


def _reassigned(reader: Reader) -> tuple[int, str]:
    """Read the first error of a reassignment: of the request, else of a partition."""
    reader.int32()
    code, message = reader.int16(), reader.compact_string() or ""

    def partition() -> tuple[int, str]:
        reader.int32()
        found = reader.int16(), reader.compact_string() or ""
        reader.tags()
        return found

    def topic() -> list[tuple[int, str]]:
        reader.compact_string()
        found = reader.compact_array(partition)
        reader.tags()
        return found

    found = [each for one in reader.compact_array(topic) for each in one if each[0]]
    return (code, message) if code or not found else found[0]


def _elected(reader: Reader) -> tuple[int, str]:
    reader.int32()
    code = reader.int16()

    def partition() -> tuple[int, str]:
        reader.int32()
        return reader.int16(), reader.string() or ""

    def topic() -> list[tuple[int, str]]:
        reader.string()
        return reader.array(partition)

    found = [each for one in reader.array(topic) for each in one if each[0]]
    return (code, "") if code or not found else found[0]


def _moved(reader: Reader) -> tuple[int, str]:
    reader.int32()
    found = reader.array(lambda: (reader.string(), reader.array(lambda: (reader.int32(), reader.int16()))))
    return found[0][1][0][1], ""


def _deleted(reader: Reader) -> tuple[int, str]:
    reader.int32()
    found = reader.array(lambda: (reader.string(), reader.array(lambda: reader.numbers("iqh"))))
    return next((code for _, _, code in found[0][1] if code), 0), ""


def _configured(reader: Reader) -> tuple[int, str]:
    reader.int32()
    found = reader.array(lambda: (reader.int16(), reader.string() or "", reader.take(1), reader.string()))
    return found[0][:2]


# Records: one batch of format 2.


def _crc32c_table() -> tuple[int, ...]:
    table = []
    for number in range(256):
        for _ in range(8):
            number = number >> 1 ^ (0x82F63B78 if number & 1 else 0)
        table.append(number)
    return tuple(table)


_CRC32C = _crc32c_table()


TRANSACTIONAL, CONTROL = 0x10, 0x20
"""The attributes of a batch of a transaction, and of one with a marker that ends it."""


def crc32c(content: bytes) -> int:
    """Return the CRC-32C (Castagnoli) of some bytes."""
    crc = 0xFFFFFFFF
    for byte in content:
        crc = crc >> 8 ^ _CRC32C[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def record_batch(
    value: bytes,
    milliseconds: int,
    key: bytes | None = None,
    producer_id: int = -1,
    sequence: int = 0,
    *,
    transactional: bool = False,
) -> bytes:
    """Return a batch with one record, without headers (org.apache.kafka.common.record.DefaultRecordBatch).

    That of a producer with an id has epoch 0, and this sequence number.
    """
    fields = int8(0) + signed_varint(0) + signed_varint(0)
    fields += signed_varint(-1) if key is None else signed_varint(len(key)) + key
    fields += signed_varint(len(value)) + value + signed_varint(0)
    record = signed_varint(len(fields)) + fields
    checked = int16(TRANSACTIONAL if transactional else 0) + int32(0) + int64(milliseconds) + int64(milliseconds)
    epoch, number = (-1, -1) if producer_id < 0 else (0, sequence)
    checked += int64(producer_id) + int16(epoch) + int32(number) + int32(1) + record
    rest = int32(-1) + int8(2) + struct.pack(">I", crc32c(checked)) + checked
    return int64(0) + int32(len(rest)) + rest


def record_values(content: bytes) -> Iterable[bytes]:
    """Yield the values of the records in uncompressed batches; an incomplete batch at the end is skipped."""
    return (value for _, value in records_in(content))


def records_in(content: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the offsets and the values of the records in uncompressed batches, as `record_values` does.

    Markers of transactions are no records.
    """
    reader = Reader(content)
    while len(content) - reader.at >= 61:
        base = reader.int64()
        size = reader.int32()
        if size > len(content) - reader.at:
            return
        batch = Reader(reader.take(size))
        batch.take(4 + 1 + 4)
        is_marker = bool(batch.int16() & CONTROL)
        batch.take(4 + 8 + 8 + 8 + 2 + 4)
        for _ in range(0 if is_marker else batch.int32()):
            record = Reader(batch.take(_signed(batch)))
            record.take(1)
            _signed(record)
            offset = base + _signed(record)
            key = _signed(record)
            record.take(max(key, 0))
            yield offset, record.take(max(_signed(record), 0))


def _signed(reader: Reader) -> int:
    number = reader.varint()
    return number >> 1 ^ -(number & 1)


def produce(
    port: int,
    topic: str,
    partition: int,
    value: str,
    *,
    key: str | None = None,
    age: float | None = 0.0,
    producer_id: int = -1,
    sequence: int = 0,
    transaction: str | None = None,
    acks: int = -1,
    seconds: float = 6.0,
) -> Probe:
    """Produce one record to the broker that should lead the partition.

    Args:
        port: The broker's port.
        topic: The topic.
        partition: The partition.
        value: The record's value.
        key: Its key; None for none.
        age: How many seconds ago its timestamp is; None for none.
        producer_id: The id of an idempotent producer; -1 for none.
        sequence: How many records that producer has sent to the partition before.
        transaction: The transactional id, if the record is of a transaction.
        acks: -1 for all in-sync replicas, 1 for the leader.
        seconds: How long the broker may wait for them.

    Returns:
        The probe: "ok", "error", "offset" and "ms".
    """
    timestamp = -1 if age is None else int((time.time() - age) * 1000)
    own_key = None if key is None else key.encode()
    is_in_one = transaction is not None
    records = buffer(record_batch(value.encode(), timestamp, own_key, producer_id, sequence, transactional=is_in_one))
    body = string(transaction) + int16(acks) + int32(int(seconds * 1000))
    body += array([string(topic) + array([int32(partition) + records])])
    return _probe(lambda: _produce(port, body, seconds))


def _produce(port: int, body: bytes, seconds: float) -> Probe:
    with BrokerConnection(port, seconds=seconds + 5) as connection:
        reader = connection.ask(Api.PRODUCE, 7, body)
    reader.int32(), reader.string(), reader.int32(), reader.int32()
    code, offset = reader.int16(), reader.int64()
    return {"error": error_name(code), "offset": offset} if code == 0 else {"error": error_name(code)}


def new_producer_id(port: int) -> int:
    """Return the id that a broker gives a new idempotent producer: it has none while it asks for a block of ids."""
    end, number = time.monotonic() + 20, -1
    while number < 0 and time.monotonic() < end:
        with BrokerConnection(port, seconds=10) as connection:
            reader = connection.ask(Api.INIT_PRODUCER_ID, 0, string(None) + int32(0))
        reader.int32(), reader.int16()
        number = reader.int64()
    return number


def consume(
    port: int,
    topic: str,
    partition: int,
    *,
    leader_epoch: int = -1,
    topic_id: str | None = None,
    seconds: float = 3,
    offset: int = 0,
    rack: str = "",
    committed: bool = False,
) -> Probe:
    """Fetch from a partition, as a consumer does that has this leader epoch from its metadata.

    Args:
        port: The port of the broker that should lead the partition.
        topic: The topic.
        partition: The partition.
        leader_epoch: The leader epoch in the consumer's metadata; -1 for none.
        topic_id: The topic id in its metadata: a consumer of 3.1 or later fetches by it.
        seconds: How long the broker may wait for records.
        offset: The first offset; the beginning without one.
        rack: The rack of the consumer.
        committed: Whether it reads with `isolation.level=read_committed`, as far as no transaction is open.

    Returns:
        The probe: "ok", "error", "n" (records), "last" (the last value), "high_watermark", "ms", and "sent to", if the
        consumer is to fetch from another replica.
    """
    request = FetchRequest(offset, leader_epoch, int(seconds * 1000), rack=rack, committed=committed)
    return _probe(lambda: _consume(port, (topic, partition), topic_id, request))


def _consume(port: int, what: tuple[str, int], topic_id: str | None, request: FetchRequest) -> Probe:
    topic, partition = what
    with BrokerConnection(port, seconds=request.milliseconds / 1000 + 5) as connection:
        if topic_id is None:
            answer = fetch_by_name(connection, topic, partition, request)
        else:
            answer = fetch_by_id(connection, {topic_id: [partition]}, request)
    fetched = next(iter(answer.partitions.values()), Fetched(0, 0, b""))
    if answer.error or not answer.partitions:
        return {"error": error_name(answer.error)} if answer.error else {"error": OK, "n": 0}
    if fetched.error:
        return {"error": error_name(fetched.error)}
    values = [value.decode(errors="replace") for value in record_values(fetched.records)]
    last = values[-1] if values else None
    found = {"error": OK, "n": len(values), "last": last, "high_watermark": fetched.high_watermark}
    return found if fetched.preferred < 0 else {**found, "sent to": fetched.preferred}


def _probe(ask: Callable[[], Probe]) -> Probe:
    start = time.monotonic()
    try:
        found = ask()
    except (OSError, Malformed) as error:
        found = {"error": NO_ANSWER, "message": str(error)}
    return {"ok": found["error"] == OK, **found, "ms": round((time.monotonic() - start) * 1000)}
