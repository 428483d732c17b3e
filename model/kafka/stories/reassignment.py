"""Stories about reassignment: three brokers, two replicas of each partition, and one replica that moves."""
from __future__ import annotations

from attrs import evolve

from model.kafka import reassignment
from model.kafka.scenarios import OLD_CLIENT_EXPANSION

REASSIGNMENT_ACTIONS = (
    reassignment.alter_partition_reassignments,
    reassignment.cancel_partition_reassignment,
    reassignment.complete_reassignment,
)

REASSIGNMENT = evolve(
    OLD_CLIENT_EXPANSION,
    name="reassignment",
    story=(
        "A client moves a replica of a partition to another broker, and may cancel that while it is under way; "
        "the controller may move meanwhile."
    ),
    actions=(*OLD_CLIENT_EXPANSION.actions, *REASSIGNMENT_ACTIONS),
    bounds={
        **OLD_CLIENT_EXPANSION.bounds,
        "partitions": 1,
        "topic_ids": 1,
        "old_creations": 0,
        "new_creations": 1,
        "expansions": 0,
        "failovers": 0,
        "restarts": 0,
        "replication_factor": 2,
        "reassignments": 1,
        "cancellations": 1,
        "requests": 4,
    },
    flags={
        **OLD_CLIENT_EXPANSION.flags,
        "reassignment": True,
        "stop_replica": True,
        "isr_changes": "between requests",
    },
    source="KIP-455; KafkaController.onPartitionReassignment; KAFKA-13972, KAFKA-9212",
)

REASSIGNMENT_WITH_EXPANSION = evolve(
    REASSIGNMENT,
    name="reassignment-with-expansion",
    story=(
        "A client adds partitions in ZooKeeper, and before the controller reads them a step of a reassignment writes "
        "the topic back from the controller's memory."
    ),
    bounds={
        **REASSIGNMENT.bounds,
        "partitions": 2,
        "topic_ids": 2,
        "expansions": 1,
        "cancellations": 0,
        "requests": 3,
    },
    flags={**REASSIGNMENT.flags, "isr_changes": "never"},
    source="KafkaController.updateReplicaAssignmentForPartition; KAFKA-14190",
)
