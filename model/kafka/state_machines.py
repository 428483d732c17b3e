"""What the context keeps of a topic's partitions and replicas beside assignment and leadership: their states.

Words: the *status* of a partition or replica is its state in the controller's state machine (PartitionState and
ReplicaState in Kafka). `ControllerContext.removeTopic` forgets a topic without them: a *dead entry* is a status of a
topic that is gone. It is there still when a topic of the same name is created, and refuses its transitions.
"""
from __future__ import annotations

from enum import Enum

from model.kafka.domains import BROKERS, PARTITIONS
from model.kafka.versions import CLEAR_SM_ON_REMOVE, DELETION
from model.language import Array, array, choice, flag, state


class PartitionStatus(Enum):
    """PartitionState: NonExistentPartition, NewPartition, OnlinePartition, OfflinePartition."""

    NON_EXISTENT = 0
    NEW = 1
    ONLINE = 2
    OFFLINE = 3


class ReplicaStatus(Enum):
    """ReplicaState; the last three are ReplicaDeletionStarted, ReplicaDeletionSuccessful, ReplicaDeletionIneligible."""

    NON_EXISTENT = 0
    NEW = 1
    ONLINE = 2
    OFFLINE = 3
    STARTED = 4
    SUCCESSFUL = 5
    INELIGIBLE = 6


def partition_may_become(status: PartitionStatus, wanted: PartitionStatus) -> bool:
    """PartitionState.validPreviousStates."""
    if wanted is PartitionStatus.NEW:
        return status is PartitionStatus.NON_EXISTENT
    if wanted is PartitionStatus.NON_EXISTENT:
        return status is PartitionStatus.OFFLINE
    return status is not PartitionStatus.NON_EXISTENT


def replica_may_become(status: ReplicaStatus, wanted: ReplicaStatus) -> bool:
    """ReplicaState.validPreviousStates."""
    if wanted is ReplicaStatus.NEW:
        return status is ReplicaStatus.NON_EXISTENT
    if wanted is ReplicaStatus.STARTED:
        return status is ReplicaStatus.OFFLINE
    if wanted is ReplicaStatus.SUCCESSFUL:
        return status is ReplicaStatus.STARTED
    if wanted is ReplicaStatus.INELIGIBLE:
        return status in (ReplicaStatus.OFFLINE, ReplicaStatus.STARTED)
    return status in (ReplicaStatus.NEW, ReplicaStatus.ONLINE, ReplicaStatus.OFFLINE, ReplicaStatus.INELIGIBLE)


@state
class StateMachines:
    """The statuses of a topic's partitions and replicas, and how far its deletion is.

    `to_be_deleted`, `deletion_started` and `ineligible` say whether the topic is in topicsToBeDeleted,
    topicsWithDeletionStarted and topicsIneligibleForDeletion.
    """

    partitions: Array[PartitionStatus] = array(PARTITIONS, choice(PartitionStatus), when=DELETION)
    replicas: Array[Array[ReplicaStatus]] = array(PARTITIONS, array(BROKERS, choice(ReplicaStatus)), when=DELETION)
    to_be_deleted: bool = flag(when=DELETION)
    deletion_started: bool = flag(when=DELETION)
    ineligible: bool = flag(when=DELETION)

    def move_partition(self, partition: int, wanted: PartitionStatus) -> None:
        """handleStateChanges of one partition, where the transition is valid; else it is logged and nothing is done."""
        if partition_may_become(self.partitions[partition], wanted):
            self.partitions[partition] = wanted

    def move_replica(self, partition: int, replica: int, wanted: ReplicaStatus) -> None:
        """handleStateChanges of one replica, where the transition is valid; else it is logged and nothing is done."""
        if replica_may_become(self.replicas[partition][replica], wanted):
            self.replicas[partition][replica] = wanted

    def remove_topic(self, *, completed: bool) -> None:
        """removeTopic forgets what is to be deleted, and neither the statuses nor that a topic is ineligible.

        A completed deletion has moved all replicas to NonExistentReplica before.
        """
        self.to_be_deleted = self.deletion_started = False
        if completed:
            self.clear_replicas()
        if CLEAR_SM_ON_REMOVE:
            self.clear()

    def clear_replicas(self) -> None:
        """All replicas are NonExistentReplica."""
        for partition in PARTITIONS:
            for replica in BROKERS:
                self.replicas[partition][replica] = ReplicaStatus.NON_EXISTENT

    def clear(self) -> None:
        """Nothing is known any more."""
        self.to_be_deleted = self.deletion_started = self.ineligible = False
        self.clear_replicas()
        for partition in PARTITIONS:
            self.partitions[partition] = PartitionStatus.NON_EXISTENT
