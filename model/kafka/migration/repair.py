"""What an operator does to ZooKeeper while KRaft's controller leads: to znodes of topics and states, and /migration."""

from __future__ import annotations

from kwalk.model.kafka.actors import OPERATOR
from kwalk.model.kafka.domains import Partition, Topic
from kwalk.model.kafka.migration.kraft_migration_zk_writer import lose_driver, write_state
from kwalk.model.kafka.state import Cluster
from kwalk.model.kafka.zookeeper.kafka_zk_client import topic_changed
from kwalk.model.language import action, require


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
