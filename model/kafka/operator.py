"""What an operator does to a running cluster."""
from __future__ import annotations

from model.kafka.actors import OPERATOR
from model.kafka.broker import end_process
from model.kafka.controller_channels import send_leader_and_isr
from model.kafka.controller_context import EventKind, Liveness, Step
from model.kafka.domains import FAILOVERS, HAND_REMOVALS, PARTITIONS, REPAIRS, RESTARTS, TOPICS, Broker, Topic, TopicId
from model.kafka.log_directory import close_log
from model.kafka.partition_state_machine import elect_for_controlled_shutdown
from model.kafka.replica_state_machine import take_replicas_offline
from model.kafka.state import Cluster
from model.kafka.versions import DELETION, EPOCH_CHECKPOINT_REMOVAL, METADATA_FILE_REMOVAL, PIECEMEAL_REMOVAL
from model.kafka.zookeeper import (
    controller_changed,
    has_partition_states,
    remove_marker,
    remove_partition_states,
    remove_topic_znode,
    write_topic,
)
from model.language import action, require


@action(by=OPERATOR, says="deletes /controller")
def delete_controller(cluster: Cluster) -> None:
    """The owner's process and session live on; it does not know yet."""
    require(cluster.zookeeper.controller is not None and cluster.controller_deletions < FAILOVERS)
    cluster.controller_deletions += 1
    cluster.zookeeper.controller = None
    controller_changed(cluster, EventKind.REELECT)


@action(
    by=OPERATOR,
    says="stops broker {broker}; controller {controller} moves its leaders first",
    source="KafkaServer.shutdown, controlledShutdown; KafkaController.processControlledShutdown",
)
def stop(cluster: Cluster, broker: Broker, controller: Broker) -> None:
    """Controlled shutdown by the active controller, then the broker flushes, closes its logs and leaves ZooKeeper."""
    require(may_stop(cluster, broker, controller) and cluster.stops < RESTARTS)
    cluster.stops += 1
    stop_process(cluster, broker, controller)


def may_stop(cluster: Cluster, broker: int, controller: int) -> bool:
    """Whether the broker runs, and the active controller is free and knows it."""
    active = cluster.brokers[controller].controller
    is_free = cluster.zookeeper.controller == controller and active.step is Step.IDLE
    is_known = active.epoch == cluster.zookeeper.controller_epoch and active.liveness[broker] is Liveness.CURRENT
    return cluster.is_up(broker) and is_free and is_known


def stop_process(cluster: Cluster, broker: int, controller: int) -> None:
    """Topics that are queued for deletion are left as they are.

    In Kafka the controller does not take the broker for live from then on (shuttingDownBrokerIds); here it does until
    it handles BrokerChange, as after a crash: a topic that comes in between may get the stopped broker for its leader.
    """
    for topic in TOPICS:
        if not cluster.brokers[controller].controller.topics[topic].machines.to_be_deleted:
            controlled_shutdown(cluster, controller, topic, stopping=broker)
        for partition in PARTITIONS:
            close_log(cluster.brokers[broker].replicas[topic][partition])
    end_process(cluster, broker)


@action(
    by=OPERATOR,
    says="removes every partition.metadata of broker {broker}",
    source="the repair of an operator who met KAFKA-14190: find /data/kafka-data -name partition.metadata | xargs rm",
)
def remove_metadata_files(cluster: Cluster, broker: Broker) -> None:
    """The files are gone, whether the broker runs or not; what its logs have in memory stays.

    The operator of the source removes leader-epoch-checkpoint with them, though nothing of the repair needs that: under
    the flag `epoch_checkpoint_removal`. It is what tells a follower where its log leaves the leader's.
    """
    replicas = cluster.brokers[broker].replicas
    require(METADATA_FILE_REMOVAL and cluster.repairs < REPAIRS)
    require(any(replicas[topic][p].file_topic_id is not None for topic in TOPICS for p in PARTITIONS))
    cluster.repairs += 1
    for topic in TOPICS:
        for partition in PARTITIONS:
            replicas[topic][partition].file_topic_id = None
            if EPOCH_CHECKPOINT_REMOVAL:
                replicas[topic][partition].log.epochs_removed = True


@action(
    by=OPERATOR,
    says="writes topic id {topic_id} into the znode of {topic}",
    source="zookeeper-shell: set /brokers/topics/T, with the partitions as they are",
)
def write_topic_id(cluster: Cluster, topic: Topic, topic_id: TopicId) -> None:
    """Any id that was ever minted, such as the one in the brokers' files; nobody checks whose it is."""
    znode = cluster.zookeeper.topics[topic]
    require(cluster.repairs < REPAIRS and znode.exists and topic_id < cluster.topic_ids.taken)
    require(znode.topic_id != topic_id)
    cluster.repairs += 1
    write_topic(cluster, topic, znode.partition_count, topic_id)


def controlled_shutdown(cluster: Cluster, controller: int, topic: int, *, stopping: int) -> None:
    """doControlledShutdown: others lead what the broker led; it leaves the ISR of what it followed."""
    led, followed = frozenset(), frozenset()
    for partition in PARTITIONS:
        leadership = cluster.brokers[controller].controller.topics[topic].leadership[partition]
        if leadership.is_known and leadership.leader == stopping:
            is_led = elect_for_controlled_shutdown(cluster, controller, topic, partition, stopping=stopping)
            if is_led:
                led = led | {partition}
        elif leadership.is_known:
            followed = followed | {partition}
    others = cluster.brokers[controller].controller.live_brokers - {stopping}
    send_leader_and_isr(cluster, controller, topic, led, to=others)
    take_replicas_offline(cluster, controller, topic, followed, on=frozenset({stopping}))


@action(
    by=OPERATOR,
    says="removes the znodes of topic {topic} by hand",
    source="the runbook of operators whose deletion hangs: zkCli deleteall /brokers/topics/T",
)
def remove_topic_by_hand(cluster: Cluster, topic: Topic) -> None:
    """No broker is told, and no log is deleted. Under `piecemeal_removal` this is the last znode of several.

    It stays, NOTEMPTY, if a controller has created one below meanwhile; then the operator has to begin again.
    """
    require(DELETION and cluster.zookeeper.topics[topic].exists and cluster.hand_removals < HAND_REMOVALS)
    require(not PIECEMEAL_REMOVAL or not has_partition_states(cluster, topic))
    cluster.hand_removals += 1
    cluster.zookeeper.topics[topic].deletion_asked = True
    remove_topic_znode(cluster, topic)


@action(
    by=OPERATOR,
    says="begins to remove the znodes of topic {topic} by hand: those of its partitions are gone",
    source="zkCli deleteall, ZKUtil.deleteRecursive: what is below goes first",
)
def remove_partition_states_by_hand(cluster: Cluster, topic: Topic) -> None:
    """The topic's own znode comes later, or never if the operator is interrupted. Nobody watches what is gone now."""
    require(bool(DELETION) and bool(PIECEMEAL_REMOVAL) and cluster.hand_removals < HAND_REMOVALS)
    require(has_partition_states(cluster, topic))
    cluster.hand_removals += 1
    cluster.zookeeper.topics[topic].deletion_asked = True
    remove_partition_states(cluster, topic)


@action(
    by=OPERATOR,
    says="removes the marker of topic {topic} by hand",
    source="the runbook of operators whose deletion hangs: zkCli delete /admin/delete_topics/T",
)
def remove_marker_by_hand(cluster: Cluster, topic: Topic) -> None:
    """The controller goes on with what it has begun."""
    require(DELETION and topic in cluster.zookeeper.delete_topics and cluster.hand_removals < HAND_REMOVALS)
    cluster.hand_removals += 1
    remove_marker(cluster, topic)
