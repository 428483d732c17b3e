"""KafkaController: an election of a replica out of the ISR, which is allowed once the partition has no leader.

The controller elects when a broker fails or starts, and when a new one takes office; since KAFKA-6526 and KAFKA-6835
also when unclean.leader.election.enable is set, for all topics or for this one.

A replica whose broker fails leaves the ISR. Its last member stays there, and can lead again; up to 1.0 it left, too,
where unclean elections were allowed, so that nothing told who had led last (KAFKA-5083).

What the model leaves out, and why its story loses nothing by it: records, which an unclean election loses; and that the
configuration of all topics is taken back, which needs a restart up to 1.0.
"""

from __future__ import annotations

from typing import Annotated

from kwalk.model.kafka.versions.records import (
    DEFAULTS_HOLD_BEFORE_ELECTIONS,
    DEFAULTS_START_ELECTIONS,
    LAST_MEMBER_STAYS,
    TOPICS_START_ELECTIONS,
)
from kwalk.model.language import Actor, Array, Domain, action, array, flag, number, require, state

REPLICAS = Domain("replicas", "replicas of the partition", default=2)
Replica = Annotated[int, REPLICAS]
CONTROLLER = Actor("controller")
OPERATOR = Actor("operator", system=False)
FAULT = Actor("fault", system=False)


@state
class UncleanPartition:
    """A partition whose ISR is one replica, `last`, which leads or was the last to do so; and which replicas are live.

    The ISR `is_empty` if that replica has left it. An unclean election `is_allowed` for the topic, or `is_default` for
    all topics. The controller `is_told` of it. What is the default `is_late` while the controller is told, and its
    configuration does not have it yet.
    """

    is_live: Array[bool] = array(REPLICAS, flag(default=True))
    last: int = number(0, 1)
    has_leader: bool = flag(default=True)
    is_empty: bool = flag()
    is_allowed: bool = flag()
    is_default: bool = flag()
    is_told: bool = flag()
    is_late: bool = flag()


def elect(partition: UncleanPartition) -> None:
    """Elect the replica in the ISR, or the first live one if allowed (Kafka: offlinePartitionLeaderElection)."""
    is_clean = partition.is_live[partition.last] and not partition.is_empty
    is_unclean = any(partition.is_live) and (partition.is_allowed or partition.is_default)
    if not is_clean and is_unclean:
        partition.last = 0 if partition.is_live[0] else 1
    partition.has_leader = is_clean or is_unclean
    partition.is_empty = partition.is_empty and not partition.has_leader


@action(by=FAULT, description="broker {replica} fails", source="KafkaController.onBrokerFailure")
def fail(partition: UncleanPartition, replica: Replica) -> None:
    """Have the controller elect another leader, and take the replica out of the ISR.

    Kafka: onReplicasBecomeOffline, ReplicaStateMachine.doRemoveReplicasFromIsr; up to 1.0 removeReplicaFromIsr.
    """
    require(partition.is_live[replica])
    partition.is_live[replica] = False
    elect(partition)
    if not LAST_MEMBER_STAYS and not partition.has_leader:
        partition.is_empty = partition.is_empty or partition.is_allowed or partition.is_default


@action(by=FAULT, description="broker {replica} starts", source="KafkaController.onBrokerStartup")
def start(partition: UncleanPartition, replica: Replica) -> None:
    """Have the controller elect a leader for partitions without one."""
    require(not partition.is_live[replica])
    partition.is_live[replica] = True
    elect(partition)


@action(by=FAULT, description="another controller takes office", source="KafkaController.onControllerFailover")
def move_controller(partition: UncleanPartition) -> None:
    """Have it elect a leader for partitions without one."""
    elect(partition)


@action(by=OPERATOR, description="allows unclean elections of the topic", source="TopicConfigHandler")
def allow(partition: UncleanPartition) -> None:
    """Set the topic's configuration. Until KAFKA-6835 the controller was not told."""
    require(not partition.is_allowed)
    partition.is_allowed = True
    partition.is_told = partition.is_told or bool(TOPICS_START_ELECTIONS)


@action(by=OPERATOR, description="allows no unclean elections of the topic any more", source="TopicConfigHandler")
def forbid(partition: UncleanPartition) -> None:
    """Set the topic's configuration. A leader stays."""
    require(partition.is_allowed)
    partition.is_allowed = False


@action(by=OPERATOR, description="allows unclean elections of all topics", source="DynamicLogConfig.reconfigure")
def allow_by_default(partition: UncleanPartition) -> None:
    """Set the brokers' configuration. In 1.1, the first release with dynamic ones, the controller was not told."""
    require(not partition.is_default and not partition.is_late)
    partition.is_late = not DEFAULTS_HOLD_BEFORE_ELECTIONS
    partition.is_default = not partition.is_late
    partition.is_told = partition.is_told or bool(DEFAULTS_START_ELECTIONS)


@action(by=CONTROLLER, description="has the new default", source="DynamicBrokerConfig.updateCurrentConfig")
def update_default(partition: UncleanPartition) -> None:
    """Up to 2.1 a broker's configuration was updated after its parts were told of the change."""
    require(partition.is_late)
    partition.is_late = False
    partition.is_default = True


@action(by=CONTROLLER, description="handles the change", source="KafkaController.processUncleanLeaderElectionEnable")
def handle(partition: UncleanPartition) -> None:
    """Elect a leader for partitions without one."""
    require(partition.is_told)
    partition.is_told = False
    elect(partition)
