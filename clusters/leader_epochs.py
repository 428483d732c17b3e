"""What a broker has in memory of replicas: its leader epoch, and whether it leads.

A broker compares the leader epoch in an OffsetForLeaderEpoch request with the one that it has, before it says whether
it leads: answers tell the epoch. Consumers send this request after a change of leaders; it needs the right to describe
the topics, reads no record, changes nothing, and brokers log nothing at INFO.

Source: OffsetForLeaderEpochRequest.json and OffsetForLeaderEpochResponse.json, version 3 (2.3 to 3.9), in
org.apache.kafka.common.message; ReplicaManager.lastOffsetForLeaderEpoch, Partition.getLocalLog and
checkCurrentLeaderEpoch, KafkaApis.handleOffsetForLeaderEpochRequest in 2.5.0, 2.8.2 and 3.9.0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice

from attrs import define

from kwalk.clusters.metadata import LOOPBACK, Api, BrokerConnection, Metadata
from kwalk.clusters.wire import Reader, array, int32, string
from kwalk.model.kafka.snapshots.capture import INT32, CapturedReplica

Place = tuple[str, int]
"""A topic, and the number of one of its partitions."""

VERSION = 3
AT_ONCE = 2000
"""How many partitions a request names at most."""
MOST_ROUNDS = 80
"""After so many requests about one partition its epoch still changes: it is not known."""
NONE, UNKNOWN_TOPIC_OR_PARTITION, NOT_LEADER_OR_FOLLOWER = 0, 3, 6
FENCED_LEADER_EPOCH, UNKNOWN_LEADER_EPOCH = 74, 75


@define
class _Search:
    """Finds the leader epoch of a replica, which is above `low` and below `high`, from a guess on; -1 is below all."""

    guess: int
    low: int = -1
    high: int = INT32
    distance: int = 1

    def learn(self, error: int) -> None:
        """Take an answer to the guess into account: the epoch is higher, or lower."""
        if error == FENCED_LEADER_EPOCH:
            self.low = self.guess
            self.guess = min(self.guess + self.distance, self.high - 1)
        else:
            self.high = self.guess
            self.guess = max(self.guess - self.distance, self.low + 1) if self.high > 0 else -1
        self.distance *= 2
        if self.high < INT32 and self.low >= 0:
            self.guess = (self.low + self.high) // 2


def replicas_in_memory(
    port: int, epochs: Mapping[Place, int], *, host: str = LOOPBACK, seconds: float = 5.0
) -> dict[Place, CapturedReplica | None]:
    """Return what a broker has in memory of partitions.

    Args:
        port: The broker's port.
        epochs: The partitions, each with the leader epoch that it is likely to have.
        host: The broker's host.
        seconds: The patience for each answer.

    Returns:
        The replicas; None for one that the broker does not host, as no controller has told it to. Without those on
        failed disks, of topics that the client may not describe, and of which there was no answer.

    Raises:
        OSError: The broker does not answer, or does not know this version.
        Malformed: What answers is no broker.
    """
    found: dict[Place, CapturedReplica | None] = {}
    with BrokerConnection(port, host=host, seconds=seconds) as connection:
        open_ = dict[Place, _Search]()
        for place, error in _ask(connection, dict.fromkeys(epochs, INT32)).items():
            if error == UNKNOWN_LEADER_EPOCH:
                open_[place] = _Search(max(epochs[place], 0))
            elif error in (NOT_LEADER_OR_FOLLOWER, UNKNOWN_TOPIC_OR_PARTITION):
                found[place] = None
        for _ in range(MOST_ROUNDS):
            answers = _ask(connection, {place: one.guess for place, one in open_.items()})
            open_ = {place: one for place, one in open_.items() if place in answers}
            for place, search in list(open_.items()):
                error = answers[place]
                if error in (FENCED_LEADER_EPOCH, UNKNOWN_LEADER_EPOCH):
                    search.learn(error)
                    if search.guess >= 0:
                        continue
                    found[place] = CapturedReplica(search.guess, leads=False)
                elif error in (NONE, NOT_LEADER_OR_FOLLOWER):
                    found[place] = CapturedReplica(search.guess, leads=error == NONE)
                del open_[place]
            if not open_:
                break
    return found


def likely_epochs(
    broker: int, assigned: Mapping[Place, int], answer: Metadata, names: Iterable[str]
) -> dict[Place, int]:
    """Return which partitions a broker is asked about, with the leader epochs that it is likely to have.

    Args:
        broker: Its id.
        assigned: The partitions that ZooKeeper assigns to it, with their leader epochs.
        answer: Its Metadata response: of further ones it is the leader, or in the ISR.
        names: The topics that are looked at.
    """
    cached = {
        (name, number): one.leader_epoch
        for name in names
        for number, one in answer.topics[name].partitions.items()
        if broker in (one.leader, *one.isr)
    }
    return cached | dict(assigned)


def _ask(connection: BrokerConnection, epochs: Mapping[Place, int]) -> dict[Place, int]:
    """Return the errors of partitions of which a broker is asked whether they have a leader epoch."""
    found: dict[Place, int] = {}
    left = iter(epochs.items())
    while part := dict(islice(left, AT_ONCE)):
        topics: dict[str, list[bytes]] = {}
        for (name, number), epoch in part.items():
            topics.setdefault(name, []).append(int32(number) + int32(epoch) + int32(epoch))
        body = int32(-1) + array(string(name) + array(each) for name, each in topics.items())
        answers = _read(connection.ask(Api.OFFSET_FOR_LEADER_EPOCH, VERSION, body))
        found.update((place, error) for place, error in answers if place in part)
    return found


def _read(reader: Reader) -> list[tuple[Place, int]]:
    reader.int32()
    return [one for topic in reader.array(lambda: _read_topic(reader)) for one in topic]


def _read_topic(reader: Reader) -> list[tuple[Place, int]]:
    name = reader.string() or ""
    return reader.array(lambda: _read_partition(reader, name))


def _read_partition(reader: Reader, topic: str) -> tuple[Place, int]:
    error, number, _, _ = reader.numbers("hiiq")
    return (topic, number), error
