"""Fetch requests, as consumers send them: by topic ids from Kafka 3.1 on, by names before.

Source: FetchRequest.json and FetchResponse.json in org.apache.kafka.common.message, versions 13 and 11.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from attrs import frozen

from kwalk.clusters.metadata import LOOPBACK, Api, BrokerConnection, Metadata
from kwalk.clusters.wire import (
    NO_TAGS,
    Reader,
    array,
    compact_array,
    compact_string,
    id_bytes,
    int8,
    int32,
    int64,
    string,
)

BY_ID, BY_NAME = 13, 11
"""The versions: the first that names topics by ids, and one with names that all brokers from 2.5 on know."""
NO_SESSION = int32(0) + int32(-1)
"""The id and the epoch of a request that neither uses nor makes a fetch session."""
BEYOND = 1 << 62
"""An offset that no log reaches."""
AT_ONCE = 2000
"""How many partitions a request names at most."""


@frozen
class FetchRequest:
    """What a consumer fetches of each partition.

    Args:
        offset: The first offset.
        leader_epoch: The leader epoch in the consumer's metadata; -1 for none.
        milliseconds: How long the broker may wait for a byte; it answers at once if it is 0.
        size: How many bytes there may be.
        rack: The `client.rack` of the consumer, who may be sent to a replica near to it (KIP-392).
        committed: Whether its isolation level is READ_COMMITTED.
    """

    offset: int = 0
    leader_epoch: int = -1
    milliseconds: int = 0
    size: int = 1 << 20
    rack: str = ""
    committed: bool = False


@frozen
class Fetched:
    """What a broker answers for one partition, with the replica that it sends the consumer to; -1 for none."""

    error: int
    high_watermark: int
    records: bytes
    preferred: int = -1


@frozen
class FetchAnswer:
    """An answer: the error of the whole request, and what there is of each partition, by topic id and number."""

    error: int
    partitions: Mapping[tuple[str | None, int], Fetched]


def fetch_by_id(
    connection: BrokerConnection, topics: Mapping[str, Sequence[int]], request: FetchRequest
) -> FetchAnswer:
    """Fetch from partitions as a consumer of 3.1 or later does, without a fetch session.

    Args:
        connection: The broker.
        topics: The partitions, by topic id.
        request: What is fetched of each.

    Raises:
        OSError: The broker does not answer, or does not know this version.
        Malformed: What answers is no broker.
    """
    rest = _start(request) + int32(-1) + int64(-1) + int32(request.size) + NO_TAGS
    named = (
        id_bytes(identity) + compact_array(int32(number) + rest for number in numbers) + NO_TAGS
        for identity, numbers in topics.items()
    )
    body = _head(request) + compact_array(named) + compact_array([]) + compact_string(request.rack) + NO_TAGS
    reader = connection.ask(Api.FETCH, BY_ID, body, flexible=True)
    reader.int32()
    error, _ = reader.numbers("hi")
    found = reader.compact_array(lambda: _read_topic(reader))
    return FetchAnswer(error, {(identity, number): one for identity, each in found for number, one in each})


def fetch_by_name(connection: BrokerConnection, topic: str, partition: int, request: FetchRequest) -> FetchAnswer:
    """Fetch from a partition as a consumer before 3.1 does; the answer has the partition without a topic id."""
    one = int32(partition) + _start(request) + int64(-1) + int32(request.size)
    body = _head(request) + array([string(topic) + array([one])]) + array([]) + string(request.rack)
    reader = connection.ask(Api.FETCH, BY_NAME, body)
    reader.int32()
    error, _ = reader.numbers("hi")
    found = reader.array(lambda: (reader.string(), reader.array(lambda: _read_named(reader)))[1])
    return FetchAnswer(error, {(None, number): one for each in found for number, one in each})


def _head(request: FetchRequest) -> bytes:
    """Return what is before the topics: of a consumer, which waits for a byte if it waits."""
    limits = int32(request.milliseconds) + int32(min(request.milliseconds, 1)) + int32(request.size)
    return int32(-1) + limits + int8(int(request.committed)) + NO_SESSION


def _start(request: FetchRequest) -> bytes:
    return int32(request.leader_epoch) + int64(request.offset)


def _read_topic(reader: Reader) -> tuple[str | None, list[tuple[int, Fetched]]]:
    identity = reader.topic_id()
    found = reader.compact_array(lambda: _read_partition(reader))
    reader.tags()
    return identity, found


def _read_partition(reader: Reader) -> tuple[int, Fetched]:
    number, error, high_watermark, _, _ = reader.numbers("ihqqq")
    reader.compact_array(lambda: _read_aborted(reader))
    preferred = reader.int32()
    records = reader.compact_bytes() or b""
    reader.tags()
    return number, Fetched(error, high_watermark, records, preferred)


def _read_aborted(reader: Reader) -> None:
    reader.numbers("qq")
    reader.tags()


def _read_named(reader: Reader) -> tuple[int, Fetched]:
    number, error, high_watermark, _, _ = reader.numbers("ihqqq")
    reader.array(lambda: reader.numbers("qq"))
    preferred = reader.int32()
    return number, Fetched(error, high_watermark, reader.buffer() or b"", preferred)


def errors_by_id(
    port: int, topics: Mapping[str, Sequence[int]], *, host: str = LOOPBACK, seconds: float = 5.0
) -> dict[tuple[str, int], int]:
    """Return how a broker answers fetches of its replicas by topic id, at an offset that no log reaches.

    A replica that holds another topic id in memory answers INCONSISTENT_TOPIC_ID, which is checked first; one that
    holds this id, or none, OFFSET_OUT_OF_RANGE: no record is read. A follower answers as a leader does. The broker
    keeps no fetch session, changes nothing, and logs nothing at INFO, except that an authorizer logs whom it denies.

    Source: ReplicaManager.readFromLog (before 3.6 readFromLocalLog) with hasConsistentTopicId, LocalLog.read,
    KafkaApis.handleFetchRequest, FetchManager.newContext with SessionlessFetchContext; in 3.1.0, 3.4.1 and 3.9.0.

    Args:
        port: The broker's port.
        topics: The partitions, by topic id.
        host: The broker's host.
        seconds: The patience for each answer.

    Returns:
        The errors by topic id and partition; without those for which there was no answer, as of a client that is
        throttled.

    Raises:
        OSError: The broker does not answer, or does not know this version.
        Malformed: What answers is no broker.
    """
    found: dict[tuple[str, int], int] = {}
    request = FetchRequest(offset=BEYOND, size=1)
    with BrokerConnection(port, host=host, seconds=seconds) as connection:
        for some in _parts(topics):
            answer = fetch_by_id(connection, some, request)
            for identity, numbers in some.items():
                known = ((number, answer.partitions.get((identity, number))) for number in numbers)
                found.update({(identity, number): one.error for number, one in known if one is not None})
    return found


def errors_of_replicas(
    port: int, broker: int, answer: Metadata, names: Iterable[str], *, host: str = LOOPBACK, seconds: float = 5.0
) -> dict[tuple[str, int], int]:
    """Return how a broker answers fetches by topic id of its replicas in the ISR; see `errors_by_id`.

    Args:
        port: The broker's port.
        broker: Its id.
        answer: Its Metadata response: which replicas are in the ISR, and the ids; one of two topics is no name.
        names: The topics that are looked at.
        host: The broker's host.
        seconds: The patience for each answer.

    Returns:
        The errors by topic and partition.
    """
    ids = Counter(topic.topic_id for topic in answer.topics.values())
    by_id = {identity: name for name in names if (identity := answer.topics[name].topic_id) and ids[identity] == 1}
    replicas = {
        identity: [n for n, one in answer.topics[name].partitions.items() if broker in (one.leader, *one.isr)]
        for identity, name in by_id.items()
    }
    found = errors_by_id(port, replicas, host=host, seconds=seconds)
    return {(by_id[identity], number): error for (identity, number), error in found.items()}


def _parts(topics: Mapping[str, Sequence[int]]) -> Iterator[dict[str, list[int]]]:
    each = [(identity, number) for identity, numbers in topics.items() for number in numbers]
    for start in range(0, len(each), AT_ONCE):
        part: dict[str, list[int]] = {}
        for identity, number in each[start : start + AT_ONCE]:
            part.setdefault(identity, []).append(number)
        yield part
