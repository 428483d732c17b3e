"""What operators do to a broken cluster beside the repairs of stories: to directories, disks, and elections."""

from __future__ import annotations

from kwalk.model.kafka.actors import OPERATOR
from kwalk.model.kafka.broker.log_manager import delete_log
from kwalk.model.kafka.controller.controller_channel_manager import send_leader_and_isr
from kwalk.model.kafka.controller.controller_context import EventProgress, PartitionState
from kwalk.model.kafka.controller.partition_state_machine import elect_offline
from kwalk.model.kafka.domains import BACKUPS, BROKERS, PARTITIONS, TOPICS, Broker, Partition, Topic
from kwalk.model.kafka.state import Cluster
from kwalk.model.kafka.versions.grain import DELETION, STOP_REPLICA
from kwalk.model.language import action, require


@action(
    by=OPERATOR,
    description="moves the directory of {topic}-{partition} on broker {broker}, which is stopped, away",
    source="mv LOG_DIR/T-P BACKUP",
)
def move_directory_away(cluster: Cluster, broker: Broker, topic: Topic, partition: Partition) -> None:
    """Records and partition.metadata are gone with it; the backup has them."""
    replica = cluster.replica_of(broker, topic, partition)
    require(not cluster.is_up(broker) and (not STOP_REPLICA or replica.on_disk))
    if BACKUPS > 0:
        for record in replica.log.records:
            replica.backup.push(record)
    delete_log(replica)


@action(
    by=OPERATOR,
    description="gives broker {broker}, which is stopped, an empty disk",
    source="a new machine with the broker.id of one that is gone",
)
def replace_disk(cluster: Cluster, broker: Broker) -> None:
    """What was on the disk is gone."""
    require(not cluster.is_up(broker))
    for topic in TOPICS:
        for partition in PARTITIONS:
            delete_log(cluster.replica_of(broker, topic, partition))


@action(
    by=OPERATOR,
    description="sets the id of the stopped broker {broker} to {identity}, whose disk it has: no process has that id",
    source="broker.id in server.properties, and in meta.properties of each log directory",
)
def set_broker_id(cluster: Cluster, broker: Broker, identity: Broker) -> None:
    """The other id's own disk, if there is one, is not used any more, and so counts as lost."""
    require(broker != identity and not cluster.is_up(broker) and not cluster.is_up(identity))
    for topic in TOPICS:
        for partition in PARTITIONS:
            source, target = (
                cluster.replica_of(broker, topic, partition),
                cluster.replica_of(identity, topic, partition),
            )
            delete_log(target)
            target.on_disk, target.file_topic_id = source.on_disk, source.file_topic_id
            for record in source.log.records:
                target.log.records.push(record)
            target.log.checkpoint = source.log.checkpoint
            delete_log(source)


@action(
    by=OPERATOR,
    description="asks for an unclean election of {topic}-{partition}, which controller {broker} holds",
    source="kafka-leader-election.sh --election-type UNCLEAN; KafkaController.processReplicaLeaderElection",
)
def elect_unclean(cluster: Cluster, broker: Broker, topic: Topic, partition: Partition) -> None:
    """Only a partition without a live leader gets one: the first live replica, if no ISR member lives."""
    controller = cluster.controller_of(broker)
    context = controller.topics[topic]
    require(cluster.zookeeper.controller == broker and controller.is_active and controller.step is EventProgress.IDLE)
    require(partition in context.partitions and context.leadership[partition].is_known and not context.to_be_deleted)
    require(context.leadership[partition].leader not in controller.live_brokers)
    is_led = elect_offline(cluster, broker, topic, partition, unclean=True)
    if is_led:
        if DELETION:
            context.partition_states[partition] = PartitionState.ONLINE
        send_leader_and_isr(cluster, broker, topic, frozenset({partition}), to=controller.live_brokers)


@action(
    by=OPERATOR,
    description="writes the state of {topic}-{partition}: broker {leader} is leader and ISR, above all leader epochs",
    source="set or create /brokers/topics/T/partitions/P/state, where ZooKeeper was restored from a backup",
)
def write_state(cluster: Cluster, topic: Topic, partition: Partition, leader: Broker) -> None:
    """Brokers take up the leader epoch whatever they have in memory, and whatever epochs their logs have."""
    state = cluster.zookeeper.state_of(topic, partition)
    replicas = [cluster.replica_of(broker, topic, partition) for broker in BROKERS]
    require(partition < cluster.zookeeper.topics[topic].partition_count)
    highest = max(
        max(0 if replica.leader_epoch is None else replica.leader_epoch for replica in replicas),
        max(replica.log.latest_epoch for replica in replicas),
        0 if state.leader_epoch is None else state.leader_epoch,
    )
    state.leader, state.isr, state.leader_epoch = leader, frozenset({leader}), highest + 1
