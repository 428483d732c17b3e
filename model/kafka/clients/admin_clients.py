"""What admin clients do to topics.

Words: an *old client* is one before 2.8: it has no topic ids and writes the whole znode without one. (A later client
with --zookeeper also creates topics without an id, but keeps the id when it expands one.) A *new client* asks a broker,
which keeps the id. Each reads and writes in one step, as if only controllers wrote topics at the same time. An *admin*
is a client of either kind that reads in one step and writes in another, so that two of them can overwrite each other.

A new client's steps are also those of a client that writes ZooKeeper and knows topic ids, such as kafka-topics.sh with
--zookeeper (2.8) or a tool that is built on AdminZkClient: nothing but ZooKeeper is looked at. Brokers are stricter,
under the flags `broker_checks` and `cache_checks`: without an active controller they answer NOT_CONTROLLER; the
controller's broker creates only topics that its metadata cache lacks (since 2.3.1), and deletes only topics that it
has; queued topics get no partitions.
"""

from __future__ import annotations

from kwalk.model.kafka.actors import ADMIN, NEW_CLIENT, OLD_CLIENT
from kwalk.model.kafka.assignment import created_assignment, first_replicas
from kwalk.model.kafka.domains import (
    BROKERS,
    CHOSEN_LISTS,
    CREATED_PARTITIONS,
    DELETIONS,
    ELECTION_REQUESTS,
    EXPANSIONS,
    INCARNATIONS,
    LISTINGS,
    NEW_CREATIONS,
    NEW_EXPANSIONS,
    OLD_ADMINS,
    OLD_CREATIONS,
    PARTITIONS,
    TOPICS,
    Admin,
    Broker,
    Partition,
    Topic,
)
from kwalk.model.kafka.inter_broker_protocol import uses_topic_ids
from kwalk.model.kafka.state import BrokerState, Cluster
from kwalk.model.kafka.versions.deletion import (
    CREATE_CHECKS_CACHE,
    CREATE_CHECKS_DELETE_TOPICS,
    LISTED_TOPICS_ARE_NOT_CREATED,
    OLD_UPSERT,
)
from kwalk.model.kafka.versions.grain import (
    BROKER_CHECKS,
    CACHE_CHECKS,
    DELETION,
    OLD_CLIENT_KEEPS_REASSIGNMENTS,
    PATIENT_CREATION,
    REASSIGNMENT,
    TWO_STEP_ADMIN,
)
from kwalk.model.kafka.versions.records import TOPICS_HAVE_IDS
from kwalk.model.kafka.versions.topic_ids import CAS_TOPIC_WRITE, OLD_CLIENT_REFUSES
from kwalk.model.kafka.zookeeper.kafka_zk_client import (
    create_delete_topics_znode,
    create_topic,
    preferred_elections_changed,
    write_topic,
)
from kwalk.model.kafka.zookeeper.znodes import Assignment, TopicZnode
from kwalk.model.language import action, require


@action(
    by=OLD_CLIENT,
    group="admin clients",
    description="creates topic {topic} through ZooKeeper",
    source="kafka.admin.AdminUtils.createOrUpdateTopicPartitionAssignmentPathInZK (1.0.0)",
)
def old_client_creates_topic(cluster: Cluster, topic: Topic) -> None:
    """The znode has partitions and no topic_id."""
    require(OLD_CREATIONS > 0 and may_create(cluster, topic))
    create_topic(cluster, topic, int(CREATED_PARTITIONS), None)


@action(
    by=NEW_CLIENT,
    group="admin clients",
    description="creates topic {topic}",
    source="KafkaApis.handleCreateTopicsRequest; ZkAdminManager.createTopics; AdminZkClient.validateTopicCreate, "
    "createTopicWithAssignment",
)
def new_client_creates_topic(cluster: Cluster, topic: Topic) -> None:
    """The znode has an id from the start, unless the controller's broker, which creates it, has none to give yet."""
    require(NEW_CREATIONS > 0 and may_create(cluster, topic) and brokers_create(cluster, topic))
    create_with_topic_id(cluster, topic, int(CREATED_PARTITIONS))


def brokers_create(cluster: Cluster, topic: int) -> bool:
    """Whether a client finds a broker that creates the topic."""
    if CREATE_CHECKS_DELETE_TOPICS and DELETION and topic in cluster.zookeeper.delete_topics:
        return False
    if not CREATE_CHECKS_CACHE:
        return answers(cluster, topic, is_cached=False) or answers(cluster, topic, is_cached=True)
    return answers(cluster, topic, is_cached=False)


def create_with_topic_id(cluster: Cluster, topic: int, partition_count: int) -> None:
    """Create a topic through the brokers, with an id if they give it one."""
    if creates_with_topic_id(cluster):
        create_topic(cluster, topic, partition_count, cluster.topic_ids.take())
    else:
        create_topic(cluster, topic, partition_count, None)


def may_create(cluster: Cluster, topic: int) -> bool:
    """Whether a topic can be created now; also while a controller has one of that name, or deletes it."""
    znode = cluster.zookeeper.topics[topic]
    if PATIENT_CREATION and any(state.controller.topics[topic].partition_count > 0 for state in cluster.brokers):
        return False
    return not znode.exists and (not znode.was_created or znode.incarnation < INCARNATIONS)


@action(
    by=NEW_CLIENT,
    group="deletion",
    description="asks to delete topic {topic}",
    source="KafkaApis.handleDeleteTopicsRequest; ZkAdminManager.deleteTopics; AdminZkClient.deleteTopic",
)
def client_deletes_topic(cluster: Cluster, topic: Topic) -> None:
    """The client creates the delete_topics znode, and does nothing else."""
    zookeeper = cluster.zookeeper
    require(DELETION and zookeeper.topics[topic].exists and topic not in zookeeper.delete_topics)
    require(cluster.deletions < DELETIONS and answers(cluster, topic, is_cached=True))
    cluster.deletions += 1
    create_delete_topics_znode(cluster, topic)


@action(
    by=OLD_CLIENT,
    description="asks for the preferred leader of {topic}-{partition} through ZooKeeper",
    source="kafka.admin.PreferredReplicaLeaderElectionCommand.moveLeaderToPreferredReplica (1.0.0, 2.4.1 with "
    "--zookeeper); kafka-preferred-replica-election.sh --path-to-json-file",
)
def old_client_requests_election(cluster: Cluster, topic: Topic, partition: Partition) -> None:
    """The client looks for the partition in the topic's znode only; NODEEXISTS while another request is there.

    A file may name several partitions; here it names one.
    """
    zookeeper = cluster.zookeeper
    require(ELECTION_REQUESTS > 0 and cluster.election_requests < ELECTION_REQUESTS)
    require(partition < zookeeper.topics[topic].partition_count and not zookeeper.has_preferred_elections)
    cluster.election_requests += 1
    zookeeper.preferred_elections[topic] = frozenset({partition})
    preferred_elections_changed(cluster, created=True)


@action(
    by=NEW_CLIENT,
    description="asks broker {broker} for all topics, which reads their names",
    source="KafkaApis.handleTopicMetadataRequest: metadataCache.getAllTopics",
)
def list_topics(cluster: Cluster, broker: Broker) -> None:
    """A Metadata request reads the cache twice: this is the first time."""
    state = cluster.brokers[broker]
    require(cluster.listings < LISTINGS and cluster.is_registered(broker) and not state.listed_topics)
    cluster.listings += 1
    state.listed_topics = frozenset(topic for topic in TOPICS if has_cached(state, topic))
    require(bool(state.listed_topics))


@action(
    by=NEW_CLIENT,
    description="is answered by broker {broker}, which reads what the topics are that it has listed",
    source="KafkaApis.getTopicMetadata, createTopic",
)
def describe_listed_topics(cluster: Cluster, broker: Broker) -> None:
    """Before KAFKA-10606 one that is gone by then is created (auto.create.topics.enable, which is on by default)."""
    state = cluster.brokers[broker]
    require(bool(state.listed_topics))
    for topic in TOPICS:
        is_gone = topic in state.listed_topics and not has_cached(state, topic)
        if is_gone and not LISTED_TOPICS_ARE_NOT_CREATED and may_create(cluster, topic):
            create_with_topic_id(cluster, topic, int(CREATED_PARTITIONS))
            cluster.zookeeper.topics[topic].deletion_requested = True
    state.listed_topics = frozenset()


def answers(cluster: Cluster, topic: int, *, is_cached: bool) -> bool:
    """Whether an active controller's broker has the topic in its metadata cache, or lacks it; else clients do not ask.

    Before it has failed over, a controller is active, too.
    """
    if not (BROKER_CHECKS or CACHE_CHECKS):
        return True
    return any(
        cluster.is_registered(broker)
        and cluster.controller_of(broker).is_active
        and has_cached(cluster.brokers[broker], topic) == is_cached
        for broker in BROKERS
    )


def has_cached(state: BrokerState, topic: int) -> bool:
    """Whether a broker's metadata cache has a topic (Kafka: MetadataCache.contains)."""
    if CACHE_CHECKS:
        return any(cached.leader_epoch is not None for cached in state.metadata[topic])
    return topic in state.cached_topics


def creates_with_topic_id(cluster: Cluster) -> bool:
    """Whether a topic that is created through the brokers gets an id."""
    if not TOPICS_HAVE_IDS:
        return False
    return all(uses_topic_ids(broker) or cluster.zookeeper.controller != broker for broker in BROKERS)


@action(
    by=OLD_CLIENT,
    group="admin clients",
    description="adds partitions to {topic} through ZooKeeper: topic_id is gone",
    source="kafka.admin.AdminUtils.addPartitions, writeTopicPartitionAssignment (1.0.0)",
)
def old_client_adds_partitions(cluster: Cluster, topic: Topic) -> None:
    """The znode is written without what the client does not know: the id, and up to 2.3 a reassignment."""
    znode = cluster.zookeeper.topics[topic]
    require(old_client_may_write(znode))
    require(znode.exists and znode.partition_count < len(PARTITIONS) and cluster.expansions < EXPANSIONS)
    cluster.expansions += 1
    znode.accepted_partitions = len(PARTITIONS)
    write_topic(cluster, topic, len(PARTITIONS), None)
    drop_reassignments(znode)


def drop_reassignments(znode: TopicZnode) -> None:
    """Leave out of a znode what an old client does not know of a reassignment: the replicas stay as they are."""
    if REASSIGNMENT and not OLD_CLIENT_KEEPS_REASSIGNMENTS:
        for partition in PARTITIONS:
            known = znode.assignments[partition]
            znode.assignments[partition] = Assignment(known.replicas, preferred=known.preferred)


@action(
    by=NEW_CLIENT,
    group="admin clients",
    description="adds partitions to {topic}",
    source="KafkaApis.handleCreatePartitionsRequest; ZkAdminManager.createPartitions; "
    "AdminZkClient.createPartitionsWithAssignment",
)
def new_client_adds_partitions(cluster: Cluster, topic: Topic) -> None:
    """The znode is written as a whole, with its id; not while a partition is being reassigned."""
    znode = cluster.zookeeper.topics[topic]
    require(not any(assignment.is_being_reassigned for assignment in znode.assignments))
    require(znode.exists and znode.partition_count < len(PARTITIONS) and cluster.new_expansions < NEW_EXPANSIONS)
    require(
        not (BROKER_CHECKS or CACHE_CHECKS)
        or any(
            cluster.is_registered(broker)
            and cluster.controller_of(broker).is_active
            and not cluster.controller_of(broker).topics[topic].to_be_deleted
            for broker in BROKERS
        )
    )
    cluster.new_expansions += 1
    znode.accepted_partitions = len(PARTITIONS)
    write_topic(cluster, topic, len(PARTITIONS), znode.topic_id)


def old_client_may_write(znode: TopicZnode) -> bool:
    """Whether a client without topic ids overwrites the znode; those of Confluent 5.4 to 6.1 check the field."""
    return not OLD_CLIENT_REFUSES or znode.topic_id is None


@action(
    by=ADMIN,
    group="two-step admins",
    description="begins to add partitions to {topic}: reads its znode",
    source="kafka.admin.AdminUtils.addPartitions (1.0.0); AdminZkClient.addPartitions",
)
def admin_reads_topic(cluster: Cluster, admin: Admin, topic: Topic) -> None:
    """The client will write back what it reads, with more partitions, whatever the znode holds by then."""
    client, znode = cluster.admins[admin], cluster.zookeeper.topics[topic]
    require(TWO_STEP_ADMIN and znode.exists and client.partition_count == 0 and cluster.expansions < EXPANSIONS)
    require(admin >= OLD_ADMINS or old_client_may_write(znode))
    cluster.expansions += 1
    client.topic, client.partition_count, client.topic_id = topic, znode.partition_count, znode.topic_id
    client.assignments = znode.assignments
    client.orders = znode.orders


@action(
    by=ADMIN,
    group="two-step admins",
    description="writes the topic's znode with partitions up to {last}",
    source="kafka.admin.AdminUtils.writeTopicPartitionAssignment (1.0.0); AdminZkClient.writeTopicPartitionAssignment",
)
def admin_writes_topic(cluster: Cluster, admin: Admin, last: Partition) -> None:
    """The client gets the new number of partitions as confirmed, or an error if znodes are compared."""
    client = cluster.admins[admin]
    require(TWO_STEP_ADMIN and 0 < client.partition_count <= last)
    if may_overwrite(cluster, admin):
        _write_partitions(cluster, admin, client.topic, last, client.topic_id)
        if REASSIGNMENT:
            write_assignments_back(cluster, admin, last)
    client.forget()


def write_assignments_back(cluster: Cluster, admin: int, last: int) -> None:
    """Give each partition that the client has read the replicas that it had then, also if they have moved since.

    What the client adds gets as many replicas as it has read of partition 0, also if another client has added it since.

    Kafka: AdminZkClient.addPartitions: existingAssignment ++ proposedAssignmentForNewPartitions.
    """
    client = cluster.admins[admin]
    znode, count = cluster.zookeeper.topics[client.topic], len(client.assignments[0].replicas)
    for partition in PARTITIONS:
        if partition < client.partition_count:
            znode.assignments[partition] = client.assignments[partition]
            znode.orders[partition] = client.orders[partition]
        elif partition <= last and CHOSEN_LISTS == 0:
            znode.assignments[partition] = created_assignment(partition, first_replicas(partition, count))
    if admin < OLD_ADMINS:
        drop_reassignments(znode)


@action(
    by=ADMIN,
    description="adds partitions up to {last} to {topic}",
    source="kafka.admin.AdminUtils.addPartitions (1.0.0); AdminZkClient.addPartitions",
)
def admin_adds_partitions(cluster: Cluster, admin: Admin, topic: Topic, last: Partition) -> None:
    """The client reads and writes before anyone else writes the znode."""
    client, znode = cluster.admins[admin], cluster.zookeeper.topics[topic]
    require(TWO_STEP_ADMIN and 0 < znode.partition_count <= last and client.partition_count == 0)
    require(cluster.expansions < EXPANSIONS and (admin >= OLD_ADMINS or old_client_may_write(znode)))
    cluster.expansions += 1
    _write_partitions(cluster, admin, topic, last, znode.topic_id)


@action(
    by=ADMIN,
    description="creates topic {topic} with partitions up to {last}",
    source="kafka.admin.AdminUtils.createOrUpdateTopicPartitionAssignmentPathInZK (1.0.0); "
    "AdminZkClient.createTopicWithAssignment",
)
def admin_creates_topic(cluster: Cluster, admin: Admin, topic: Topic, last: Partition) -> None:
    """A topic need not be created with as many partitions each time."""
    require(TWO_STEP_ADMIN and may_create(cluster, topic) and (admin < OLD_ADMINS or brokers_create(cluster, topic)))
    if admin < OLD_ADMINS:
        create_topic(cluster, topic, last + 1, None)
    else:
        create_with_topic_id(cluster, topic, last + 1)


def _write_partitions(cluster: Cluster, admin: int, topic: int, last: int, read_id: int | None) -> None:
    """Write the topic's znode with the id that the client has read, or without one."""
    znode = cluster.zookeeper.topics[topic]
    znode.accepted_partitions = max(znode.accepted_partitions, last + 1)
    write_topic(cluster, topic, last + 1, None if admin < OLD_ADMINS else read_id)
    if admin < OLD_ADMINS:
        drop_reassignments(znode)


def may_overwrite(cluster: Cluster, admin: int) -> bool:
    """Whether the znode exists and, if it is compared, holds what the client read, so that no write is lost.

    ZkUtils.updatePersistentPath of clients 1.0.x creates a znode that is gone; since 1.1 clients get NONODE.
    """
    client = cluster.admins[admin]
    znode = cluster.zookeeper.topics[client.topic]
    if CAS_TOPIC_WRITE:
        is_same = all(znode.assignments[p] == client.assignments[p] for p in PARTITIONS)
        return is_same and znode.partition_count == client.partition_count and znode.topic_id == client.topic_id
    return znode.exists or (bool(OLD_UPSERT) and admin < OLD_ADMINS)
