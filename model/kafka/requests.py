"""LeaderAndIsr requests on their way to a broker.

Words: a *channel* is the connection from one controller to one broker, with one request in flight and others waiting.
A broker's queue holds the requests of all channels to it in the order in which they were enqueued. UpdateMetadata is no
message of its own: what a broker needs of it, which leaders live, goes with LeaderAndIsr.
"""
from __future__ import annotations

from model.kafka.domains import BROKERS, CONTROLLER_EPOCHS, LEADER_EPOCHS, PARTITIONS, REQUESTS, TOPIC_IDS, TOPICS
from model.language import Array, Fifo, array, fifo, member, number, optional, state, value


@value
class LeaderAndIsr:
    """The part of a LeaderAndIsr request that is not about single partitions; a request is about one topic."""

    controller_epoch: int = number(0, CONTROLLER_EPOCHS)
    topic: int = member(TOPICS)
    topic_id: int | None = optional(TOPIC_IDS)


@value
class PartitionState:
    """What a request says of a partition; the leader is None when the controller takes it for dead."""

    leader: int | None = optional(BROKERS)
    leader_epoch: int = number(0, LEADER_EPOCHS)


@state
class RequestQueue:
    """The LeaderAndIsr requests on their way to one broker: for each a header, and an entry in every column.

    A column has None for a request that is not about its partition.
    """

    headers: Fifo[LeaderAndIsr] = fifo(LeaderAndIsr, REQUESTS)
    columns: Array[Fifo[PartitionState | None]] = array(PARTITIONS, fifo(optional(PartitionState), REQUESTS))

    def clear(self) -> None:
        """All of them are lost."""
        self.headers.clear()
        for column in self.columns:
            column.clear()

    def drop_waiting(self, controller_epoch: int) -> None:
        """Of one controller's requests only the first, which is in flight, still arrives."""
        length, in_flight = len(self.headers), False
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
