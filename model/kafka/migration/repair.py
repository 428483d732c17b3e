"""What an operator does while KRaft's controller leads: to znodes, and to logs with another topic id than KRaft."""

from __future__ import annotations

from kwalk.model.kafka.actors import OPERATOR
from kwalk.model.kafka.broker.log_manager import delete_log
from kwalk.model.kafka.clients.operator import may_stop, stop_process
from kwalk.model.kafka.controller.controller_context import EventKind
from kwalk.model.kafka.domains import PARTITIONS, TOPICS, Broker, Partition, Topic
from kwalk.model.kafka.migration.broker_server import stop_under_kraft
from kwalk.model.kafka.migration.kraft_migration_zk_writer import lose_driver, write_state
from kwalk.model.kafka.state import Cluster
from kwalk.model.kafka.zookeeper.kafka_zk_client import controller_changed, topic_changed
from kwalk.model.language import Mark, action, require


@action(by=OPERATOR, description="writes the content of {topic} as KRaft has it", source="set /brokers/topics/T")
def write_content(cluster: Cluster, topic: Topic) -> None:
    """Its partitions and its id; state znodes stay as they are."""
    znode, image = cluster.zookeeper.topics[topic], cluster.migration.images[topic]
    require(cluster.zookeeper.is_led_by_kraft and znode.exists and image.exists)
    topic_changed(cluster, topic)
    znode.partition_count, znode.topic_id = image.partition_count, image.topic_id


@action(
    by=OPERATOR,
    description="creates the state znode of {topic}-{partition}",
    source="create /brokers/topics/T/partitions/P/state",
)
def create_state_znode(cluster: Cluster, topic: Topic, partition: Partition) -> None:
    """Its content is what KRaft has."""
    image, znode = cluster.migration.images[topic], cluster.zookeeper.topics[topic]
    require(cluster.zookeeper.is_led_by_kraft and partition < image.partition_count and znode.exists)
    require(image.znodes[partition].leader_epoch is None)
    write_state(cluster, topic, partition)


@action(by=OPERATOR, description="writes to /migration that there is a copy", source="set /migration")
def record_by_hand(cluster: Cluster) -> None:
    """KRaft's controller reads it when it becomes active."""
    require(cluster.zookeeper.is_led_by_kraft and not cluster.zookeeper.migration_is_recorded)
    cluster.zookeeper.migration_is_recorded = True


@action(
    by=OPERATOR,
    description="restarts KRaft's active controller; another one becomes active",
    source="bin/kafka-server-stop.sh, bin/kafka-server-start.sh",
)
def restart_controller(cluster: Cluster) -> None:
    """What is committed stays; the next active controller begins with the comparison."""
    require(cluster.zookeeper.is_led_by_kraft)
    lose_driver(cluster)


@action(by=OPERATOR, description="stops broker {broker}", source="bin/kafka-server-stop.sh", mark=Mark.STOP)
def stop_broker(cluster: Cluster, broker: Broker) -> None:
    """KRaft's controller moves its leaders first."""
    require(cluster.migration.is_led and cluster.is_up(broker))
    stop_under_kraft(cluster, broker)


@action(
    by=OPERATOR,
    description="gives the log of {topic}-{partition} that broker {broker} has set aside its place, and KRaft's id",
    source="mv T-P BACKUP; mv T-P.X-stray T-P; T-P/partition.metadata",
)
def put_log_back(cluster: Cluster, broker: Broker, topic: Topic, partition: Partition) -> None:
    """The broker is stopped; the log that has the place is moved away."""
    replica, image = cluster.replica_of(broker, topic, partition), cluster.migration.images[topic]
    require(not cluster.is_up(broker) and not replica.set_aside.is_empty)
    for record in replica.log.records:
        replica.backup.push(record)
    delete_log(replica)
    for record in replica.set_aside:
        replica.log.records.push(record)
    replica.set_aside.clear()
    replica.on_disk, replica.file_topic_id = True, image.topic_id


@action(
    by=OPERATOR,
    description="writes KRaft's id into partition.metadata of {topic}-{partition} on broker {broker}",
    source="T-P/partition.metadata",
)
def write_log_id(cluster: Cluster, broker: Broker, topic: Topic, partition: Partition) -> None:
    """The broker is stopped."""
    replica = cluster.replica_of(broker, topic, partition)
    require(not cluster.is_up(broker) and replica.on_disk)
    replica.file_topic_id = cluster.migration.images[topic].topic_id


@action(
    by=OPERATOR,
    description="deletes /controller again and again, until no state znode has a higher epoch than /controller_epoch",
    source="delete /controller; KAFKA-20488",
)
def raise_controller_epoch(cluster: Cluster) -> None:
    """Each deletion raises it by one. Those before the last are alike, and no step of their own here."""
    zookeeper = cluster.zookeeper
    require(not zookeeper.is_led_by_kraft and zookeeper.controller is not None)
    for topic in TOPICS:
        for partition in PARTITIONS:
            written = zookeeper.state_of(topic, partition).controller_epoch
            zookeeper.controller_epoch = max(zookeeper.controller_epoch, written)
    zookeeper.controller = None
    controller_changed(cluster, EventKind.REELECT)


@action(
    by=OPERATOR,
    description="stops broker {broker}, for it to start without the migration; controller {controller} moves its "
    "leaders first",
    source="docs/ops.html, Reverting to ZooKeeper mode During the Migration",
    mark=Mark.STOP,
)
def stop_without_migration(cluster: Cluster, broker: Broker, controller: Broker) -> None:
    """The second roll of a rollback, when no election would be aborted (KAFKA-20488).

    An ISR that shrinks and grows meanwhile lowers the epoch in a state znode; a broker that is back soon causes none.
    """
    zookeeper = cluster.zookeeper
    require(not zookeeper.is_led_by_kraft and may_stop(cluster, broker, controller))
    require(
        all(
            zookeeper.state_of(topic, partition).controller_epoch <= zookeeper.controller_epoch
            for topic in TOPICS
            for partition in PARTITIONS
        )
    )
    cluster.stops += 1
    stop_process(cluster, broker, controller)
    cluster.migration.enabled = cluster.migration.enabled - {broker}
