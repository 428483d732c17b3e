"""KRaftMigrationZkWriter: what the driver writes to ZooKeeper, all that differs at first, and each change afterwards.

Words: a *delta* is what has changed in the image since the last one. A batch of writes is sent in one pipeline: each is
a multi of its own, which checks the version of /migration, and the last one raises it. A batch that fails in the middle
leaves the driver with a *stale version*: all its later writes are refused, until another controller is active. A
partition that the topic's znode names may have no state znode; who compares reads what it would have been created with.

Requests follow the writes of a delta: when one of these fails, the brokers never hear of the delta.

Source: org.apache.kafka.metadata.migration.KRaftMigrationZkWriter; kafka.zk.migration.ZkTopicMigrationClient;
KafkaZkClient.retryMigrationRequestsUntilConnected.
"""

from __future__ import annotations

from kwalk.model.kafka.actors import FAULT, KRAFT
from kwalk.model.kafka.domains import KRAFT_REASSIGNMENTS, PARTITIONS, QUORUM_FAILURES, TOPICS, Topic
from kwalk.model.kafka.migration.migration_propagator import (
    send,
    send_stop_replica,
    send_to_changed_brokers,
    send_update_metadata,
    stop_removed_replicas,
)
from kwalk.model.kafka.migration.state import DriverState
from kwalk.model.kafka.migration.versions import (
    COMPARES_DIRECTORIES,
    REQUESTS_FOR_NEW_PARTITIONS,
    WRITES_TOPIC_CHANGES,
)
from kwalk.model.kafka.migration.zk_topic_migration_client import first_leader, replicas_of
from kwalk.model.kafka.state import Cluster
from kwalk.model.kafka.versions.grain import MIGRATION
from kwalk.model.kafka.zookeeper.kafka_zk_client import topic_changed, topics_changed
from kwalk.model.language import action, require

# What ZooKeeper lacks.


def is_every_topic_identified(cluster: Cluster) -> bool:
    """Whether every topic in ZooKeeper has an id."""
    return all(
        not cluster.zookeeper.topics[topic].exists or cluster.zookeeper.topics[topic].topic_id is not None
        for topic in TOPICS
    )


def is_behind(cluster: Cluster, topic: int) -> bool:
    """Whether ZooKeeper does not have a topic as the image has it."""
    znode, image = cluster.zookeeper.topics[topic], cluster.migration.images[topic]
    is_other = znode.partition_count != image.partition_count or znode.topic_id != image.topic_id
    return is_other or any(
        partition < image.partition_count and is_state_behind(cluster, topic, partition) for partition in PARTITIONS
    )


def is_state_behind(cluster: Cluster, topic: int, partition: int) -> bool:
    """Whether a state znode does not have the leader, the leader epoch and the ISR of the image."""
    state, znode = cluster.zookeeper.state_of(topic, partition), cluster.migration.images[topic].znodes[partition]
    return znode.leader_epoch != state.leader_epoch or znode.leader != state.leader or znode.isr != state.isr


def differs(cluster: Cluster, topic: int) -> bool:
    """Whether a comparison finds the topic in ZooKeeper other than in the image."""
    znode, image = cluster.zookeeper.topics[topic], cluster.migration.images[topic]
    is_other = znode.partition_count != image.partition_count or znode.topic_id != image.topic_id
    return is_other or any(
        partition < image.partition_count and is_state_other(cluster, topic, partition) for partition in PARTITIONS
    )


def is_state_other(cluster: Cluster, topic: int, partition: int) -> bool:
    """Whether a comparison finds a partition other than in the image.

    Since 3.7 it compares log directories, too, of which ZooKeeper has none: a partition that KRaft has created differs
    from one without state znode.

    Kafka: PartitionRegistration.equals; ZkTopicMigrationClient.iterateTopics: DirectoryId.MIGRATING.
    """
    state, image = cluster.zookeeper.state_of(topic, partition), cluster.migration.images[topic]
    if image.znodes[partition].leader_epoch is not None:
        return is_state_behind(cluster, topic, partition)
    is_created_here = bool(COMPARES_DIRECTORIES) and partition >= image.copied_partitions
    is_first = state.leader_epoch == 0 and state.leader == first_leader(cluster, topic, partition)
    return is_created_here or not is_first or state.isr != replicas_of(cluster, topic, partition)


# The comparison.


@action(
    by=KRAFT,
    group="migration",
    description="compares {topic} in ZooKeeper with the image, and writes what differs",
    source="KRaftMigrationDriver.SyncKRaftMetadataEvent; KRaftMigrationZkWriter.handleTopicsSnapshot",
)
def sync_topic(cluster: Cluster, topic: Topic) -> None:
    """m6: all topics are read first, so that one without id lets every attempt fail.

    Topics are compared by id. One that has another id in ZooKeeper is created, which does nothing, as its znode exists,
    and then deleted by its name. New partitions get into the topic's znode; their state znodes are set and not created,
    so that the attempt fails; the next one finds them in the topic's znode, without states.
    """
    migration, znode, image = cluster.migration, cluster.zookeeper.topics[topic], cluster.migration.images[topic]
    require(MIGRATION and migration.driver is DriverState.SYNC_KRAFT_TO_ZK and topic not in migration.compared)
    require(is_every_topic_identified(cluster) and differs(cluster, topic) and not migration.has_stale_version)
    if znode.exists and image.exists and znode.topic_id == image.topic_id:
        if znode.partition_count < image.partition_count:
            topic_changed(cluster, topic)
            znode.partition_count = image.partition_count
        else:
            require(not lacks_state_znode(cluster, topic))
            update_topic(cluster, topic)
            finish(cluster, topic)
    elif znode.exists:
        remove_topic(cluster, topic)
        finish(cluster, topic)
    else:
        create_topic(cluster, topic, len(PARTITIONS))
        finish(cluster, topic)


def finish(cluster: Cluster, topic: int) -> None:
    """Take a topic as compared: its deltas have been written with it."""
    migration, image = cluster.migration, cluster.migration.images[topic]
    migration.compared = migration.compared | {topic}
    migration.unwritten = migration.unwritten - {topic}
    image.changed, image.is_new = frozenset(), False
    remember_replicas(cluster, topic)


def remember_replicas(cluster: Cluster, topic: int) -> None:
    """Keep the assignment that is handled, for later changes of it."""
    if KRAFT_REASSIGNMENTS > 0:
        for partition in PARTITIONS:
            znode = cluster.migration.images[topic].znodes[partition]
            znode.handled_replicas = cluster.zookeeper.topics[topic].assignments[partition].replicas


def lacks_state_znode(cluster: Cluster, topic: int) -> bool:
    """Whether a state znode that does not exist is to be set."""
    image = cluster.migration.images[topic]
    return any(
        partition < image.partition_count
        and image.znodes[partition].leader_epoch is None
        and is_state_other(cluster, topic, partition)
        for partition in PARTITIONS
    )


@action(
    by=KRAFT,
    group="migration",
    description="has written its image to ZooKeeper",
    source="KRaftMigrationDriver.SyncKRaftMetadataEvent: transitionTo(KRAFT_CONTROLLER_TO_BROKER_COMM)",
)
def end_sync(cluster: Cluster) -> None:
    """m6: each topic is compared once; what has changed since comes as a delta."""
    migration = cluster.migration
    require(MIGRATION and migration.driver is DriverState.SYNC_KRAFT_TO_ZK and is_every_topic_identified(cluster))
    require(not any(differs(cluster, topic) and topic not in migration.compared for topic in TOPICS))
    migration.compared = frozenset()
    migration.driver = DriverState.KRAFT_CONTROLLER_TO_BROKER_COMM


# Deltas.


@action(
    by=KRAFT,
    group="migration",
    description="writes the change of {topic} to ZooKeeper, and sends it to brokers in ZooKeeper mode",
    source="KRaftMigrationDriver.MetadataChangeEvent; KRaftMigrationZkWriter.handleTopicsDelta",
)
def write_delta(cluster: Cluster, topic: Topic) -> None:
    """m8: only what a delta names is written; other differences stay until the next controller compares everything.

    Deltas are handled from the end of the comparison on, before the first requests, too.
    """
    migration = cluster.migration
    require(MIGRATION and migration.handles_deltas and topic in migration.unwritten)
    changed, is_new_leadership = migration.images[topic].changed, new_leadership(cluster, topic)
    is_recreated = cluster.zookeeper.topics[topic].exists and migration.images[topic].is_new
    others = migration.live - migration.changed_brokers
    if write(cluster, topic, len(PARTITIONS)):
        if migration.images[topic].exists:
            is_named = changed if KRAFT_REASSIGNMENTS > 0 else changed & is_new_leadership
            send(cluster, topic, to=others, partitions=is_named)
            stop_removed_replicas(cluster, topic, changed)
        else:
            send_update_metadata(cluster, topic, changed, to=others)
        if is_recreated or not migration.images[topic].exists:
            send_stop_replica(cluster, topic, changed, to=others)
    forget_delta(cluster, topic)
    send_to_changed_brokers(cluster)


def new_leadership(cluster: Cluster, topic: int) -> frozenset[int]:
    """Return the partitions whose leader epoch is not that of ZooKeeper: brokers ignore the others of a request.

    In 3.5.0 no request names partitions that are new (KAFKA-15149).
    """
    znodes, count = cluster.migration.images[topic].znodes, cluster.zookeeper.topics[topic].partition_count
    is_new_topic = cluster.migration.images[topic].is_new
    return frozenset(
        {
            partition
            for partition in PARTITIONS
            if znodes[partition].leader_epoch != cluster.zookeeper.state_of(topic, partition).leader_epoch
            and (bool(REQUESTS_FOR_NEW_PARTITIONS) or is_new_topic or partition < count)
        }
    )


def forget_delta(cluster: Cluster, topic: int) -> None:
    """Take a delta as handled, whether it was written or not: it is not repeated."""
    image = cluster.migration.images[topic]
    cluster.migration.unwritten = cluster.migration.unwritten - {topic}
    image.changed, image.is_new = frozenset(), False
    remember_replicas(cluster, topic)


def lose_driver(cluster: Cluster) -> None:
    """End the active controller's driver, with the deltas that it has not handled: the next one has the image."""
    migration = cluster.migration
    migration.driver, migration.compared = DriverState.INACTIVE, frozenset()
    migration.changed_brokers = frozenset()
    for topic in TOPICS:
        forget_delta(cluster, topic)


def write(cluster: Cluster, topic: int, until: int) -> bool:
    """Write a delta, and return whether nothing failed; of states, those of the partitions before `until`."""
    migration, znode, image = cluster.migration, cluster.zookeeper.topics[topic], cluster.migration.images[topic]
    if migration.has_stale_version:
        return False
    if image.is_new or not image.exists:
        if not WRITES_TOPIC_CHANGES and znode.exists:
            return not image.exists
        was_there = znode.exists
        if was_there:
            remove_topic(cluster, topic)
        if image.exists:
            create_topic(cluster, topic, until)
        return was_there or image.exists
    if not znode.exists:
        return False
    return write_partitions(cluster, topic, until)


def write_partitions(cluster: Cluster, topic: int, until: int) -> bool:
    """Write partitions of a topic that is in ZooKeeper: new ones are created, others set; return whether all exist."""
    znode, image = cluster.zookeeper.topics[topic], cluster.migration.images[topic]
    is_failed, is_last_failed, count = False, False, znode.partition_count
    if bool(WRITES_TOPIC_CHANGES) and count < image.partition_count:
        topic_changed(cluster, topic)
        znode.partition_count = image.partition_count
    for partition in PARTITIONS:
        if partition in image.changed and partition < image.partition_count and partition < until:
            is_created = bool(WRITES_TOPIC_CHANGES) and partition >= count
            if is_created or image.znodes[partition].leader_epoch is not None:
                write_state(cluster, topic, partition)
                is_last_failed = False
            else:
                is_failed = is_last_failed = True
    if is_failed and not is_last_failed:
        cluster.migration.has_stale_version = True
    return not is_failed


def create_topic(cluster: Cluster, topic: int, until: int) -> None:
    """Create a topic's znode, and then the state znodes of its partitions before `until`.

    Kafka: ZkTopicMigrationClient.createTopic.
    """
    znode, image = cluster.zookeeper.topics[topic], cluster.migration.images[topic]
    topics_changed(cluster)
    topic_changed(cluster, topic)
    znode.partition_count, znode.topic_id = image.partition_count, image.topic_id
    for partition in PARTITIONS:
        if partition < image.partition_count and partition < until:
            write_state(cluster, topic, partition)


def update_topic(cluster: Cluster, topic: int) -> None:
    """Write the topic's znode, set states that differ, and remove what the image does not have.

    Kafka: KRaftMigrationZkWriter.handleTopicsSnapshot: updateTopic, changedPartitions, extraneousPartitionsInZk.
    """
    znode, image = cluster.zookeeper.topics[topic], cluster.migration.images[topic]
    topic_changed(cluster, topic)
    znode.partition_count = image.partition_count
    for partition in PARTITIONS:
        if partition >= image.partition_count:
            image.znodes[partition].remove()
        elif is_state_other(cluster, topic, partition):
            write_state(cluster, topic, partition)


def write_state(cluster: Cluster, topic: int, partition: int) -> None:
    """Write a state znode; it has the epoch of the quorum (Kafka: ZkTopicMigrationClient.updateTopicPartitionState)."""
    state, znode = cluster.zookeeper.state_of(topic, partition), cluster.migration.images[topic].znodes[partition]
    znode.leader, znode.leader_epoch, znode.isr = state.leader, state.leader_epoch, state.isr
    znode.controller_epoch = cluster.migration.epoch


def remove_topic(cluster: Cluster, topic: int) -> None:
    """Remove a topic's znodes by its name (Kafka: ZkTopicMigrationClient.deleteTopic)."""
    znode = cluster.zookeeper.topics[topic]
    topics_changed(cluster)
    topic_changed(cluster, topic)
    znode.partition_count, znode.topic_id = 0, None
    for partition in PARTITIONS:
        cluster.migration.images[topic].znodes[partition].remove()


@action(
    by=FAULT,
    group="migration",
    description="KRaft's controller loses its connection to ZooKeeper after the change of {topic} was written",
    source="KafkaZkClient.retryMigrationRequestsUntilConnected: CONNECTIONLOSS; MigrationClientException, BADVERSION",
)
def lose_connection(cluster: Cluster, topic: Topic) -> None:
    """The write is sent again, and refused: it has raised the version of /migration that it checks."""
    migration = cluster.migration
    require(MIGRATION and migration.handles_deltas and topic in migration.unwritten)
    require(migration.failures < QUORUM_FAILURES and not migration.has_stale_version)
    migration.failures += 1
    if write(cluster, topic, len(PARTITIONS)):
        migration.has_stale_version = True
    forget_delta(cluster, topic)
