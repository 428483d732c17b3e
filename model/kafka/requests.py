"""LeaderAndIsr, StopReplica and UpdateMetadata requests on their way to a broker.

Words: a *channel* is the connection from one controller to one broker, with one request in flight and others waiting.
A broker's queue holds the requests of all channels to it in the order in which they were enqueued. UpdateMetadata is a
request of its own only under the flag `metadata_caches`; what a broker needs of it, which leaders live, goes with
LeaderAndIsr always. A *late copy* is a request that was in flight when its connection broke: the controller sends it
again over another connection, and the first copy still arrives, after others.
"""
from __future__ import annotations

from enum import Enum

from model.kafka.domains import (
    BROKERS,
    CONTROLLER_EPOCHS,
    LATE_COPIES,
    LEADER_EPOCHS,
    PARTITIONS,
    RECORDS,
    REQUESTS,
    TOPIC_IDS,
    TOPICS,
)
from model.kafka.versions import STOP_REPLICA
from model.language import Array, Fifo, array, choice, fifo, flag, member, number, optional, state, subset, value


class RequestKind(Enum):
    """The requests that a controller sends to brokers."""

    LEADER_AND_ISR = 0
    STOP_REPLICA = 1
    UPDATE_METADATA = 2


class EpochKind(Enum):
    """What a StopReplica request has as leader epoch: a real one, LeaderAndIsr.NoEpoch, or EpochDuringDelete.

    DURING_DELETE is also UpdateMetadata's LeaderDuringDelete, which takes a partition out of metadata caches.
    """

    LEADER_EPOCH = 0
    NO_EPOCH = 1
    DURING_DELETE = 2


@value
class LeaderAndIsr:
    """The part of a request that is not about single partitions; a request is about one topic.

    StopReplica has no topic id; UpdateMetadata's is left out.
    """

    controller_epoch: int = number(0, CONTROLLER_EPOCHS)
    topic: int = member(TOPICS)
    topic_id: int | None = optional(TOPIC_IDS)
    kind: RequestKind = choice(RequestKind, when=STOP_REPLICA)


@value
class PartitionState:
    """What a request says of a partition; the leader is None when the controller takes it for dead.

    `delete` and `epoch_kind` are StopReplica's; unless the latter is LEADER_EPOCH, the leader epoch is 0.
    `isr` is LeaderAndIsr's, and kept only where there are records.
    """

    leader: int | None = optional(BROKERS)
    leader_epoch: int = number(0, LEADER_EPOCHS)
    delete: bool = flag(when=STOP_REPLICA)
    epoch_kind: EpochKind = choice(EpochKind, when=STOP_REPLICA)
    isr: frozenset[int] = subset(BROKERS, when=RECORDS)


@value
class CachedPartition:
    """What a broker tells clients about a partition; nothing while the leader epoch is None."""

    leader: int | None = optional(BROKERS)
    leader_epoch: int | None = optional(number(0, LEADER_EPOCHS))


@state
class RequestQueue:
    """The requests on their way to one broker: for each a header, and an entry in every column.

    A column has None for a request that is not about its partition. `late` is a late copy that has not arrived yet,
    and `late_columns` are its entries.
    """

    headers: Fifo[LeaderAndIsr] = fifo(LeaderAndIsr, REQUESTS)
    columns: Array[Fifo[PartitionState | None]] = array(PARTITIONS, fifo(optional(PartitionState), REQUESTS))
    late: LeaderAndIsr | None = optional(LeaderAndIsr, when=LATE_COPIES)
    late_columns: Array[PartitionState | None] = array(PARTITIONS, optional(PartitionState), when=LATE_COPIES)

    def clear(self) -> None:
        """All of them are lost."""
        self.headers.clear()
        for column in self.columns:
            column.clear()
        self.forget_late()

    def forget_late(self) -> None:
        """There is no late copy any more."""
        self.late = None
        for partition in PARTITIONS:
            self.late_columns[partition] = None

    def drop_waiting(self, controller_epoch: int, *, in_flight_arrives: bool = True) -> None:
        """Of one controller's requests at most the first, which is in flight, still arrives."""
        length, in_flight = len(self.headers), not in_flight_arrives
        for slot in range(REQUESTS):
            if slot < length:
                request = self.headers.pop()
                keep = request.controller_epoch != controller_epoch or not in_flight
                in_flight = in_flight or request.controller_epoch == controller_epoch
                if keep:
                    self.headers.push(request)
                for column in self.columns:
                    partition_state = column.pop()
                    if keep:
                        column.push(partition_state)
