"""PartitionRegistration: a partition in KRaft's image, as a forecast has it."""

from __future__ import annotations

from attrs import frozen


@frozen
class PartitionRegistration:
    """A partition in KRaft's image (Kafka: PartitionRegistration), with the topic's id."""

    topic_id: int
    replicas: frozenset[int]
    leader: int | None
    isr: frozenset[int]
    leader_epoch: int
