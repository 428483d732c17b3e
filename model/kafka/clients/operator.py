"""What an operator does to a running cluster, including a rolling restart.

In a rolling restart the operator restarts every broker once, one at a time and in the order of broker ids, by
controlled shutdown. The next broker is stopped as soon as the last one is registered again, even while replicas are out
of sync. Any broker can be the controller.
"""

from __future__ import annotations

from kwalk.model.kafka.actors import BROKER, OPERATOR
from kwalk.model.kafka.broker.kafka_server import end_process
from kwalk.model.kafka.broker.log_manager import close_log
from kwalk.model.kafka.controller.controller_channel_manager import send_leader_and_isr
from kwalk.model.kafka.controller.controller_context import BrokerRegistration, EventKind, EventProgress
from kwalk.model.kafka.controller.partition_state_machine import elect_for_controlled_shutdown
from kwalk.model.kafka.controller.replica_state_machine import take_replicas_offline
from kwalk.model.kafka.domains import (
    FAILOVERS,
    HAND_REMOVALS,
    PARTITIONS,
    REPAIRS,
    RESTARTS,
    TOPICS,
    Broker,
    Topic,
    TopicId,
)
from kwalk.model.kafka.state import Cluster
from kwalk.model.kafka.versions.grain import (
    DELETION,
    EPOCH_CHECKPOINT_REMOVAL,
    METADATA_FILE_EDITS,
    METADATA_FILE_REMOVAL,
    PIECEMEAL_REMOVAL,
    STEPWISE_SHUTDOWN,
)
from kwalk.model.kafka.versions.sessions import INFORMS_STOPPING_LEADERS
from kwalk.model.kafka.zookeeper.kafka_zk_client import (
    controller_changed,
    has_partition_states,
    remove_delete_topics_znode,
    remove_partition_states,
    remove_preferred_elections,
    remove_topic_znode,
    write_topic,
)
from kwalk.model.language import Mark, action, require


@action(by=OPERATOR, group="faults", description="deletes /controller")
def delete_controller(cluster: Cluster) -> None:
    """The owner's process and session continue; it does not know yet."""
    require(cluster.zookeeper.controller is not None and cluster.controller_deletions < FAILOVERS)
    cluster.controller_deletions += 1
    cluster.zookeeper.controller = None
    controller_changed(cluster, EventKind.REELECT)


@action(
    by=OPERATOR,
    group="faults",
    description="stops broker {broker}; controller {controller} moves its leaders first",
    source="KafkaServer.shutdown, controlledShutdown; KafkaController.processControlledShutdown",
    mark=Mark.STOP,
)
def stop(cluster: Cluster, broker: Broker, controller: Broker) -> None:
    """The active controller moves leaders; then the broker flushes and closes its logs and leaves ZooKeeper.

    Under the flag `stepwise_shutdown` the broker does that in a step of its own.
    """
    require(may_stop(cluster, broker, controller) and cluster.stops < RESTARTS)
    require(not cluster.brokers[broker].is_stopping)
    cluster.stops += 1
    if STEPWISE_SHUTDOWN:
        cluster.brokers[broker].is_stopping = True
        shut_down(cluster, broker, controller)
    else:
        stop_process(cluster, broker, controller)


@action(
    by=BROKER,
    group="faults",
    description="flushes and closes its logs, and leaves ZooKeeper",
    source="KafkaServer.shutdown, after controlledShutdown",
    mark=Mark.STOP,
)
def leave(cluster: Cluster, broker: Broker) -> None:
    """Until now it has handled requests: the LeaderAndIsr of its controlled shutdown may give a log its topic id."""
    require(bool(STEPWISE_SHUTDOWN) and cluster.brokers[broker].is_stopping)
    close_logs(cluster, broker)
    end_process(cluster, broker)


def may_stop(cluster: Cluster, broker: int, controller: int) -> bool:
    """Whether the broker runs, and the active controller is idle and has its registration."""
    active = cluster.controller_of(controller)
    is_free = cluster.zookeeper.controller == controller and active.step is EventProgress.IDLE
    is_known = (
        active.epoch == cluster.zookeeper.controller_epoch
        and active.registrations[broker] is BrokerRegistration.CURRENT
    )
    return cluster.is_up(broker) and is_free and is_known


def stop_process(cluster: Cluster, broker: int, controller: int) -> None:
    """Do the controlled shutdown, and end the process in the same step.

    Here the controller takes the broker for live until it handles BrokerChange, as after a crash: a topic that comes in
    between may get the stopped broker for its leader. Requests to the stopping broker are lost.
    """
    shut_down(cluster, broker, controller)
    close_logs(cluster, broker)
    end_process(cluster, broker)


def shut_down(cluster: Cluster, broker: int, controller: int) -> None:
    """Move the broker's leaders; topics that are queued for deletion are left as they are.

    From then on the controller does not take the broker for live, but sends it requests
    (Kafka: KafkaController.processControlledShutdown).
    """
    if STEPWISE_SHUTDOWN:
        active = cluster.controller_of(controller)
        active.shutting_down = active.shutting_down | {broker}
    for topic in TOPICS:
        if not cluster.controller_of(controller).topics[topic].to_be_deleted:
            controlled_shutdown(cluster, controller, topic, stopping=broker)


def close_logs(cluster: Cluster, broker: int) -> None:
    """Flush and close all logs of a broker."""
    for topic in TOPICS:
        for partition in PARTITIONS:
            close_log(cluster.replica_of(broker, topic, partition))


@action(
    by=OPERATOR,
    group="repairs",
    description="removes every partition.metadata of broker {broker}",
    source="the repair of an operator who met KAFKA-14190: find /data/kafka-data -name partition.metadata | xargs rm",
)
def remove_metadata_files(cluster: Cluster, broker: Broker) -> None:
    """The files are gone, whether the broker runs or not; the ids in memory stay.

    The operator of the source removes leader-epoch-checkpoint as well, although the repair does not need that: under
    the flag `epoch_checkpoint_removal`. A follower needs that file to find where its log leaves the leader's.
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
    group="repairs",
    description="writes the topic ids of ZooKeeper into every partition.metadata of broker {broker}",
    source="find /data/kafka-data -name partition.metadata | xargs sed -i 's/^topic_id: .*/topic_id: …/'",
)
def edit_metadata_files(cluster: Cluster, broker: Broker) -> None:
    """The files have other ids, whether the broker runs or not; the ids in memory stay.

    Nothing compares a log with the topic whose id it gets, so that one of an earlier topic of the name becomes its own.
    """
    replicas = cluster.brokers[broker].replicas
    require(METADATA_FILE_EDITS and cluster.repairs < REPAIRS)
    require(any(_has_another_id(cluster, broker, topic, p) for topic in TOPICS for p in PARTITIONS))
    cluster.repairs += 1
    for topic in TOPICS:
        for partition in PARTITIONS:
            if _has_another_id(cluster, broker, topic, partition):
                replicas[topic][partition].file_topic_id = cluster.zookeeper.topics[topic].topic_id


def _has_another_id(cluster: Cluster, broker: int, topic: int, partition: int) -> bool:
    """Whether a partition.metadata has another id than the topic's znode."""
    file = cluster.replica_of(broker, topic, partition).file_topic_id
    znode = cluster.zookeeper.topics[topic].topic_id
    return file is not None and znode is not None and file != znode


@action(
    by=OPERATOR,
    description="writes topic id {topic_id} into the znode of {topic}",
    source="zookeeper-shell: set /brokers/topics/T, with the partitions as they are",
)
def write_topic_id(cluster: Cluster, topic: Topic, topic_id: TopicId) -> None:
    """Any id that was ever minted, such as the one in the brokers' files; nothing checks which topic it belongs to."""
    znode = cluster.zookeeper.topics[topic]
    require(cluster.repairs < REPAIRS and znode.exists and topic_id < cluster.topic_ids.taken)
    require(znode.topic_id != topic_id)
    cluster.repairs += 1
    write_topic(cluster, topic, znode.partition_count, topic_id)


def controlled_shutdown(cluster: Cluster, controller: int, topic: int, *, stopping: int) -> None:
    """Elect other leaders for what the broker leads, and take it out of the ISR of the rest.

    The replicas of a new leader's partition get LeaderAndIsr, since 2.1 the stopping broker as well: it becomes a
    follower. What has one replica only is left as it is.

    Kafka: KafkaController.doControlledShutdown.
    """
    led: frozenset[int]
    followed: frozenset[int]
    led, followed = frozenset(), frozenset()
    for partition in PARTITIONS:
        leadership = cluster.controller_of(controller).topics[topic].leadership[partition]
        replicas = cluster.controller_of(controller).topics[topic].assignments[partition].replicas
        if stopping not in replicas or len(replicas) == 1:
            continue
        if leadership.is_known and leadership.leader == stopping:
            is_led = elect_for_controlled_shutdown(cluster, controller, topic, partition, stopping=stopping)
            if is_led:
                led = led | {partition}
        elif leadership.is_known:
            followed = followed | {partition}
    receivers = cluster.controller_of(controller).live_or_shutting_down
    if not STEPWISE_SHUTDOWN:
        receivers = receivers - {stopping}
    elif not INFORMS_STOPPING_LEADERS:
        receivers = cluster.controller_of(controller).live_brokers
    send_leader_and_isr(cluster, controller, topic, led, to=receivers)
    take_replicas_offline(cluster, controller, topic, followed, on=frozenset({stopping}))


@action(
    by=OPERATOR,
    group="removal by hand",
    description="begins to remove the znodes of topic {topic} by hand: those of its partitions are gone",
    source="zkCli deleteall, ZKUtil.deleteRecursive: what is below goes first",
)
def remove_partition_states_by_hand(cluster: Cluster, topic: Topic) -> None:
    """The topic's own znode follows later, or never if the operator is interrupted. No watch fires."""
    require(bool(DELETION) and bool(PIECEMEAL_REMOVAL) and cluster.hand_removals < HAND_REMOVALS)
    require(has_partition_states(cluster, topic))
    cluster.hand_removals += 1
    cluster.zookeeper.topics[topic].deletion_requested = True
    remove_partition_states(cluster, topic)


@action(
    by=OPERATOR,
    group="removal by hand",
    description="removes the znodes of topic {topic} by hand",
    source="the runbook of operators whose deletion hangs: zkCli deleteall /brokers/topics/T",
)
def remove_topic_by_hand(cluster: Cluster, topic: Topic) -> None:
    """Brokers are not informed, and no log is deleted. Under `piecemeal_removal` this is the last of several znodes.

    It stays, NOTEMPTY, if a controller has created a child meanwhile; then the operator has to begin again.
    """
    require(DELETION and cluster.zookeeper.topics[topic].exists and cluster.hand_removals < HAND_REMOVALS)
    require(not PIECEMEAL_REMOVAL or not has_partition_states(cluster, topic))
    cluster.hand_removals += 1
    cluster.zookeeper.topics[topic].deletion_requested = True
    remove_topic_znode(cluster, topic)


@action(
    by=OPERATOR,
    group="removal by hand",
    description="removes the delete_topics znode of {topic} by hand",
    source="the runbook of operators whose deletion hangs: zkCli delete /admin/delete_topics/T",
)
def remove_deletion_request_by_hand(cluster: Cluster, topic: Topic) -> None:
    """The controller continues what it has begun."""
    require(DELETION and topic in cluster.zookeeper.delete_topics and cluster.hand_removals < HAND_REMOVALS)
    cluster.hand_removals += 1
    remove_delete_topics_znode(cluster, topic)


@action(
    by=OPERATOR,
    description="removes /admin/preferred_replica_election by hand",
    source="zkCli delete /admin/preferred_replica_election",
)
def remove_election_request_by_hand(cluster: Cluster) -> None:
    """The controller's watch is gone with it, and nothing sets it again before the next failover."""
    require(cluster.zookeeper.has_preferred_elections and cluster.hand_removals < HAND_REMOVALS)
    cluster.hand_removals += 1
    remove_preferred_elections(cluster)


@action(
    by=OPERATOR,
    description="stops broker {broker} in turn; controller {controller} moves its leaders first",
    source="KafkaServer.shutdown, controlledShutdown; KafkaController.processControlledShutdown",
    mark=Mark.STOP,
)
def stop_in_turn(cluster: Cluster, broker: Broker, controller: Broker) -> None:
    """Broker 0 is the first; all brokers are up."""
    require(broker == cluster.stops and cluster.stops < RESTARTS and may_stop(cluster, broker, controller))
    require(cluster.all_up)
    cluster.stops += 1
    stop_process(cluster, broker, controller)
