"""ReplicationControlManager: how KRaft's controller moves leaders when brokers fail, stop and start."""

from __future__ import annotations

from kwalk.model.kafka.actors import KRAFT
from kwalk.model.kafka.assignment import first_replica
from kwalk.model.kafka.domains import PARTITIONS, TOPICS, Broker
from kwalk.model.kafka.migration.migration_propagator import send
from kwalk.model.kafka.migration.state import DriverState
from kwalk.model.kafka.state import Cluster
from kwalk.model.kafka.versions.grain import MIGRATION
from kwalk.model.language import action, require


@action(
    by=KRAFT,
    group="migration",
    description="fences broker {broker}, and moves its leaders",
    source="ReplicationControlManager.handleBrokerFenced, generateLeaderAndIsrUpdates",
)
def fence_broker(cluster: Cluster, broker: Broker) -> None:
    """The broker's process has ended. Brokers in ZooKeeper mode hear of it when the driver writes it."""
    migration = cluster.migration
    require(MIGRATION and migration.is_led and broker in migration.ended)
    migration.live, migration.ended = migration.live - {broker}, migration.ended - {broker}
    leave(cluster, broker)


def leave(cluster: Cluster, broker: int) -> None:
    """Remove a broker from ISRs, and elect other leaders; the last member of an ISR stays in it.

    Each change has a new leader epoch, also that of an ISR only, as brokers in ZooKeeper mode need one.

    Kafka: PartitionChangeBuilder.triggerLeaderEpochBumpForIsrShrinkIfNeeded.
    """
    for topic in TOPICS:
        is_changed = False
        for partition in PARTITIONS:
            state = cluster.zookeeper.state_of(topic, partition)
            is_there = cluster.migration.has_partition(topic, partition) and state.leader_epoch is not None
            if is_there and (state.leader == broker or (broker in state.isr and len(state.isr) > 1)):
                is_changed = True
                assert state.leader_epoch is not None
                state.leader_epoch += 1
                if len(state.isr) > 1:
                    state.isr = state.isr - {broker}
                if state.leader == broker:
                    elect(cluster, topic, partition)
        if is_changed:
            cluster.migration.unwritten = cluster.migration.unwritten | {topic}


def elect(cluster: Cluster, topic: int, partition: int) -> None:
    """Make the first live ISR member leader; without one there is none."""
    state = cluster.zookeeper.state_of(topic, partition)
    assignment = cluster.zookeeper.topics[topic].assignments[partition]
    state.leader = first_replica(partition, assignment, state.isr & cluster.migration.live)


@action(
    by=KRAFT,
    group="migration",
    description="unfences broker {broker}, and elects it where there is no leader",
    source="ReplicationControlManager.handleBrokerUnfenced; MigrationPropagator.sendRPCsToBrokersFromMetadataDelta",
)
def unfence_broker(cluster: Cluster, broker: Broker) -> None:
    """The broker has started, and read the image."""
    migration = cluster.migration
    require(MIGRATION and migration.is_led and broker not in migration.live and cluster.is_up(broker))
    migration.live = migration.live | {broker}
    for topic in TOPICS:
        is_elected = False
        for partition in PARTITIONS:
            state = cluster.zookeeper.state_of(topic, partition)
            is_there = migration.has_partition(topic, partition) and state.leader_epoch is not None
            if is_there and state.leader is None and broker in state.isr:
                is_elected = True
                assert state.leader_epoch is not None
                state.leader, state.leader_epoch = broker, state.leader_epoch + 1
        if is_elected:
            migration.unwritten = migration.unwritten | {topic}
        elif migration.driver is DriverState.DUAL_WRITE:
            send(cluster, topic, to=frozenset({broker}))
