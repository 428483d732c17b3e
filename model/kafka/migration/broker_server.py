"""KafkaServer and BrokerServer: brokers that restart to migrate, and in KRaft mode, where they read the image."""

from __future__ import annotations

from kwalk.model.kafka.actors import BROKER, OPERATOR
from kwalk.model.kafka.broker.kafka_server import end_process
from kwalk.model.kafka.broker.partition import advance_high_watermark, can_fetch
from kwalk.model.kafka.broker.replica_manager import become_leader_or_follower
from kwalk.model.kafka.clients.operator import close_logs, may_stop, stop_process
from kwalk.model.kafka.clients.runbook import is_at_rest
from kwalk.model.kafka.domains import (
    BROKERS,
    KRAFT_REASSIGNMENTS,
    PARTITIONS,
    RESTARTS,
    ROLLBACKS,
    TOPICS,
    Broker,
    Partition,
    Topic,
)
from kwalk.model.kafka.migration.migration_propagator import partition_state
from kwalk.model.kafka.migration.replication_control_manager import leave
from kwalk.model.kafka.migration.state import BrokerMode, DriverState
from kwalk.model.kafka.state import Cluster
from kwalk.model.kafka.versions.grain import MIGRATION, PATIENT_OPERATOR, REASSIGNMENT
from kwalk.model.language import Mark, action, require


def may_stop_next(cluster: Cluster) -> bool:
    """Whether the operator stops the next broker: all are up and, if the operator is patient, nothing is under way.

    The patient one waits until kafka-topics.sh --describe --under-replicated-partitions prints nothing new.
    """
    if not cluster.all_up or cluster.stops >= RESTARTS:
        return False
    return not PATIENT_OPERATOR or (
        is_at_rest(cluster)
        and not bool(cluster.migration.ended | cluster.migration.unwritten)
        and not any(
            joins_isr(cluster, broker, topic, partition)
            for broker in BROKERS
            for topic in TOPICS
            for partition in PARTITIONS
        )
    )


def joins_isr(cluster: Cluster, broker: int, topic: int, partition: int) -> bool:
    """Whether a replica is about to join the ISR, or to read the image first."""
    state, replica = cluster.zookeeper.state_of(topic, partition), cluster.replica_of(broker, topic, partition)
    if cluster.brokers[broker].mode is BrokerMode.KRAFT and replica.leader_epoch != state.leader_epoch:
        return state.exists
    return broker not in state.isr and can_fetch(cluster, broker, topic, partition)


@action(
    by=OPERATOR,
    group="migration",
    description="stops broker {broker}, for it to start with the migration enabled; controller {controller} moves its "
    "leaders first",
    source="docs/ops.html, Enter Migration Mode on the Brokers",
    mark=Mark.STOP,
)
def stop_to_migrate(cluster: Cluster, broker: Broker, controller: Broker) -> None:
    """m2: one broker at a time, while ZooKeeper has the controller."""
    migration = cluster.migration
    require(MIGRATION and broker not in migration.enabled and may_stop_next(cluster))
    require(may_stop(cluster, broker, controller))
    cluster.stops += 1
    stop_process(cluster, broker, controller)
    migration.enabled = migration.enabled | {broker}


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
    require(MIGRATION and may_stop_next(cluster) and state.mode is BrokerMode.ZOOKEEPER)
    require(migration.driver is DriverState.DUAL_WRITE or migration.is_finalized)
    stop_under_kraft(cluster, broker)
    state.mode = BrokerMode.KRAFT


@action(
    by=OPERATOR,
    group="migration",
    description="stops broker {broker}, for it to start in ZooKeeper mode again",
    source="docs/ops.html, Reverting to ZooKeeper mode During the Migration",
    mark=Mark.STOP,
)
def stop_for_zookeeper(cluster: Cluster, broker: Broker) -> None:
    """The first roll of a rollback: the migration stays enabled."""
    migration, state = cluster.migration, cluster.brokers[broker]
    require(MIGRATION and may_stop_next(cluster) and state.mode is BrokerMode.KRAFT)
    require(migration.driver is DriverState.DUAL_WRITE and ROLLBACKS > 0)
    stop_under_kraft(cluster, broker)
    state.mode = BrokerMode.ZOOKEEPER


def stop_under_kraft(cluster: Cluster, broker: int) -> None:
    """Stop a broker of a cluster that KRaft's controller leads, which moves its leaders first."""
    migration = cluster.migration
    require(migration.live >= cluster.zookeeper.broker_ids)
    cluster.stops += 1
    leave(cluster, broker)
    close_logs(cluster, broker)
    end_process(cluster, broker)


@action(
    by=BROKER,
    group="migration",
    description="reads the image of {topic}-{partition}",
    source="BrokerMetadataPublisher.onMetadataUpdate; ReplicaManager.applyDelta",
)
def apply_image(cluster: Cluster, broker: Broker, topic: Topic, partition: Partition) -> None:
    """A broker in KRaft mode becomes leader or follower under each new leader epoch; a leader takes its replicas."""
    replica, state = cluster.replica_of(broker, topic, partition), cluster.zookeeper.state_of(topic, partition)
    require(MIGRATION and cluster.brokers[broker].mode is BrokerMode.KRAFT and cluster.is_up(broker))
    require(cluster.migration.has_partition(topic, partition) and state.leader_epoch is not None)
    topic_id = cluster.migration.images[topic].topic_id
    require(replica.topic_id is None or replica.topic_id == topic_id)
    assert state.leader_epoch is not None
    is_behind = replica.leader_epoch is None or state.leader_epoch > replica.leader_epoch
    replicas = cluster.zookeeper.topics[topic].assignments[partition].replicas
    require(not REASSIGNMENT or broker in replicas)
    has_others = KRAFT_REASSIGNMENTS > 0 and replica.is_leader and replica.assigned != replicas
    require((is_behind and (state.leader is not None or not replica.log_open)) or has_others)
    wanted = partition_state(cluster, topic, partition, broker)
    if has_others:
        replica.assigned = replicas
    if wanted is not None:
        become_leader_or_follower(replica, topic_id, wanted, broker)
        advance_high_watermark(cluster, broker, topic, partition)
