"""BrokerServer: a broker that restarts in KRaft mode, and reads the image instead of requests."""

from __future__ import annotations

from kwalk.model.kafka.actors import BROKER, OPERATOR
from kwalk.model.kafka.broker.kafka_server import end_process
from kwalk.model.kafka.broker.partition import advance_high_watermark
from kwalk.model.kafka.broker.replica_manager import become_leader_or_follower
from kwalk.model.kafka.clients.operator import close_logs
from kwalk.model.kafka.domains import RESTARTS, Broker, Partition, Topic
from kwalk.model.kafka.migration.migration_propagator import partition_state
from kwalk.model.kafka.migration.replication_control_manager import leave
from kwalk.model.kafka.migration.state import BrokerMode, DriverState
from kwalk.model.kafka.state import Cluster
from kwalk.model.kafka.versions.grain import MIGRATION
from kwalk.model.language import Mark, action, require


@action(
    by=OPERATOR,
    group="migration",
    description="stops broker {broker}, for it to start in KRaft mode",
    source="docs/ops.html, Migrating brokers to KRaft; ControllerServer: BrokerHeartbeatManager, controlled shutdown",
    mark=Mark.STOP,
)
def stop_for_kraft(cluster: Cluster, broker: Broker) -> None:
    """One broker at a time: KRaft's controller moves its leaders first."""
    migration, state = cluster.migration, cluster.brokers[broker]
    require(MIGRATION and migration.driver is DriverState.DUAL_WRITE and cluster.all_up and cluster.stops < RESTARTS)
    require(state.mode is BrokerMode.ZOOKEEPER and migration.live >= cluster.zookeeper.broker_ids)
    cluster.stops += 1
    migration.live = migration.live - {broker}
    leave(cluster, broker)
    close_logs(cluster, broker)
    end_process(cluster, broker)
    state.mode = BrokerMode.KRAFT


@action(
    by=BROKER,
    group="migration",
    description="reads the image of {topic}-{partition}",
    source="BrokerMetadataPublisher.onMetadataUpdate; ReplicaManager.applyDelta",
)
def apply_image(cluster: Cluster, broker: Broker, topic: Topic, partition: Partition) -> None:
    """A broker in KRaft mode becomes leader or follower under each new leader epoch."""
    replica, state = cluster.replica_of(broker, topic, partition), cluster.zookeeper.state_of(topic, partition)
    require(MIGRATION and cluster.brokers[broker].mode is BrokerMode.KRAFT and cluster.is_up(broker))
    require(cluster.migration.has_partition(topic, partition) and state.leader_epoch is not None)
    topic_id = cluster.migration.images[topic].topic_id
    require(replica.topic_id is None or replica.topic_id == topic_id)
    assert state.leader_epoch is not None
    is_behind = replica.leader_epoch is None or state.leader_epoch > replica.leader_epoch
    require(is_behind and (state.leader is not None or not replica.log_open))
    wanted = partition_state(cluster, topic, partition, broker)
    if wanted is not None:
        become_leader_or_follower(replica, topic_id, wanted, broker)
        advance_high_watermark(cluster, broker, topic, partition)
