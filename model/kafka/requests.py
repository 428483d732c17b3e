"""LeaderAndIsr, StopReplica and UpdateMetadata requests on their way to a broker.

Words: a *channel* is the connection from one controller to one broker, with one request in flight and others waiting. A
broker's queue holds the requests of all channels to it in the order in which they were enqueued. UpdateMetadata is a
request of its own only under the flag `metadata_caches`; what a broker needs of it, which leaders are live, is always
part of LeaderAndIsr. A *late copy* is a request that was in flight when its connection broke: the controller sends it
again over another connection, and the first copy still arrives, after others.
"""

from __future__ import annotations

from enum import Enum

from kwalk.model.kafka.domains import (
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
from kwalk.model.kafka.versions.grain import (
    BROKER_CHECKS,
    FAILED_DIRECTORIES,
    LIVE_BROKER_CACHES,
    MIGRATION,
    REASSIGNMENT,
    STOP_REPLICA,
)
from kwalk.model.language import Array, Fifo, array, choice, fifo, flag, member, number, optional, state, subset, value


class RequestKind(Enum):
    """The requests that a controller sends to brokers.

    `LEADER_AND_ISR` (Kafka: LeaderAndIsrRequest), `STOP_REPLICA` (Kafka: StopReplicaRequest), `UPDATE_METADATA` (Kafka:
    UpdateMetadataRequest).
    """

    LEADER_AND_ISR = 0
    STOP_REPLICA = 1
    UPDATE_METADATA = 2


class EpochKind(Enum):
    """What a StopReplica request has as leader epoch.

    `LEADER_EPOCH` is an epoch, `NO_EPOCH` (Kafka: LeaderAndIsr.NoEpoch) is none, and `DURING_DELETE` (Kafka:
    LeaderAndIsr.EpochDuringDelete, LeaderAndIsr.LeaderDuringDelete) says that the topic is to be deleted. In
    UpdateMetadata the last one removes a partition from metadata caches.
    """

    LEADER_EPOCH = 0
    NO_EPOCH = 1
    DURING_DELETE = 2


@value
class ControlRequest:
    """The header of a request about one topic (Kafka: AbstractControlRequest).

    StopReplica has no topic id; UpdateMetadata's is left out. `is_cached` says that the UpdateMetadata request of the
    same batch keeps the topic in metadata caches; otherwise it removes it. `is_full` is a LeaderAndIsr of type FULL
    (Kafka: AbstractControlRequest.Type): partitions of the topic that it does not name are not there. `live_brokers`
    are those of UpdateMetadata.
    """

    controller_epoch: int = number(0, CONTROLLER_EPOCHS)
    topic: int = member(TOPICS)
    topic_id: int | None = optional(TOPIC_IDS)
    kind: RequestKind = choice(RequestKind, when=STOP_REPLICA)
    is_cached: bool = flag(when=BROKER_CHECKS)
    is_full: bool = flag(when=MIGRATION)
    live_brokers: frozenset[int] = subset(BROKERS, when=LIVE_BROKER_CACHES)


@value
class LeaderAndIsrPartitionState:
    """A partition's entry in a request; the leader is None when the controller considers it dead.

    The record is also StopReplica's (Kafka: StopReplicaPartitionState), which `delete` and `epoch_kind` belong to;
    unless the latter is LEADER_EPOCH, the leader epoch is 0. `isr` and `replicas` are LeaderAndIsr's; the ISR is stored
    only where there are records, the replicas only in the leader's request, where they can be reassigned. `is_new` says
    that the receiver's replica is new, where log directories can fail.
    """

    leader: int | None = optional(BROKERS)
    leader_epoch: int = number(0, LEADER_EPOCHS)
    delete: bool = flag(when=STOP_REPLICA)
    epoch_kind: EpochKind = choice(EpochKind, when=STOP_REPLICA)
    isr: frozenset[int] = subset(BROKERS, when=RECORDS)
    replicas: frozenset[int] = subset(BROKERS, when=REASSIGNMENT)
    is_new: bool = flag(when=FAILED_DIRECTORIES)


@value
class UpdateMetadataPartitionState:
    """A partition in a broker's metadata cache; it is not cached while the leader epoch is None."""

    leader: int | None = optional(BROKERS)
    leader_epoch: int | None = optional(number(0, LEADER_EPOCHS))


@state
class RequestQueue:
    """The requests on their way to one broker: headers, and for each partition a queue of the same length.

    The queue of a partition has None for a request that is not about it. `late` is a late copy that has not arrived
    yet, with its entries in `late_partition_states`.
    """

    headers: Fifo[ControlRequest] = fifo(ControlRequest, REQUESTS)
    partition_states: Array[Fifo[LeaderAndIsrPartitionState | None]] = array(
        PARTITIONS, fifo(optional(LeaderAndIsrPartitionState), REQUESTS)
    )
    late: ControlRequest | None = optional(ControlRequest, when=LATE_COPIES)
    late_partition_states: Array[LeaderAndIsrPartitionState | None] = array(
        PARTITIONS, optional(LeaderAndIsrPartitionState), when=LATE_COPIES
    )

    def clear(self) -> None:
        """Drop all requests."""
        self.headers.clear()
        for column in self.partition_states:
            column.clear()
        self.clear_late()

    def clear_late(self) -> None:
        """Drop the late copy."""
        self.late = None
        for partition in PARTITIONS:
            self.late_partition_states[partition] = None

    def bring_forward(self, position: int) -> None:
        """Put a request before the others."""
        self.headers = [self.headers[position]] + self.headers[:position] + self.headers[position + 1 :]
        for partition in PARTITIONS:
            column = self.partition_states[partition]
            self.partition_states[partition] = [column[position]] + column[:position] + column[position + 1 :]

    def drop_waiting(self, controller_epoch: int, *, in_flight_arrives: bool = True) -> None:
        """Drop one controller's requests, except the first, which is in flight."""
        length, in_flight = len(self.headers), not in_flight_arrives
        for slot in range(REQUESTS):
            if slot < length:
                request = self.headers.pop()
                keep = request.controller_epoch != controller_epoch or not in_flight
                in_flight = in_flight or request.controller_epoch == controller_epoch
                if keep:
                    self.headers.push(request)
                for column in self.partition_states:
                    partition_state = column.pop()
                    if keep:
                        column.push(partition_state)
