"""Partition: a leader's records and high watermark, and how it shrinks and expands the ISR.

The controller's part of AlterIsr has no step of its own. Before 2.7 a leader writes the state znode itself, whichever
broker is controller; the znode's version then only says whether the leader has the latest leader epoch and ISR. The
controller learns of it by a notification, which has no step of its own.

There is no time in the model: a follower that cannot fetch may be removed at any moment, and one that can may catch up
at any moment. The flag `isr_changes` says whether that happens at all, and whether also while LeaderAndIsr requests are
on their way. Producers use acks=all.
"""

from __future__ import annotations

from kwalk.model.kafka.actors import BROKER, FAULT, PRODUCER
from kwalk.model.kafka.broker.log import Commit, Log, Record, diverging_offset
from kwalk.model.kafka.broker.log_manager import append
from kwalk.model.kafka.controller.controller_context import BrokerRegistration, EventProgress
from kwalk.model.kafka.controller.partition_state_machine import read_leadership
from kwalk.model.kafka.controller.reassignment import maybe_complete_reassignment
from kwalk.model.kafka.domains import BROKERS, KRAFT_REASSIGNMENTS, RECORDS, Broker, Partition, Topic
from kwalk.model.kafka.migration.replication_control_manager import complete_reassignment
from kwalk.model.kafka.requests import LeaderAndIsrPartitionState
from kwalk.model.kafka.state import Cluster, Replica, SessionState
from kwalk.model.kafka.versions.grain import FETCH_SESSIONS_END, ISR_CHANGES, MIGRATION, REASSIGNMENT, STEPWISE_SHUTDOWN
from kwalk.model.kafka.versions.reassignment import CTX_EPOCH_ON_BUMP
from kwalk.model.kafka.versions.records import (
    DIVERGING_FETCH_IS_NO_ACK,
    FETCH_BY_TOPIC_ID,
    ISR_NEEDS_EPOCH_START,
    TRUNCATION,
)
from kwalk.model.kafka.versions.sessions import ALTER_ISR, LIVE_ISR_ONLY
from kwalk.model.kafka.versions.topic_ids import ALTER_PARTITION_BY_TOPIC_ID
from kwalk.model.language import action, require


def may_change_isr(cluster: Cluster) -> bool:
    """Whether the scenario lets leaders change the ISR now."""
    if ISR_CHANGES == "between requests":
        return all(cluster.brokers[broker].requests.headers.is_empty for broker in BROKERS)
    return ISR_CHANGES == "any time"


def leads(cluster: Cluster, broker: int, topic: int, partition: int) -> bool:
    """Whether the broker leads the partition in its own memory, with the leader, epoch and ISR of the state znode."""
    state = cluster.zookeeper.state_of(topic, partition)
    replica = cluster.replica_of(broker, topic, partition)
    if not replica.is_leader or state.leader != broker or replica.leader_epoch != state.leader_epoch:
        return False
    return RECORDS == 0 or replica.replication.isr == state.isr


def can_fetch(cluster: Cluster, follower: int, topic: int, partition: int) -> bool:
    """Whether the leader in the state znode accepts the follower's fetch, as their leader epochs are equal.

    Since 3.1 the topic ids have to agree as well.
    """
    state = cluster.zookeeper.state_of(topic, partition)
    replica = cluster.replica_of(follower, topic, partition)
    if not replica.log_open or replica.is_leader or replica.leader_epoch != state.leader_epoch:
        return False
    if replica.lacks_fetcher or not is_fetch_resolved(cluster, replica, topic):
        return False
    return all(
        state.leader != broker or has_consistent_topic_id(cluster.replica_of(broker, topic, partition), replica)
        for broker in BROKERS
    )


def is_fetch_resolved(cluster: Cluster, follower: Replica, topic: int) -> bool:
    """Whether leaders resolve the topic id of the follower's fetch; a session that lasts has been resolved before.

    Metadata caches are taken to have the id of the controller's context, which it sends in UpdateMetadata.

    Kafka: KafkaApis.handleFetchRequest: metadataCache.topicIdsToNames; FetchSession.maybeResolveUnknownName.
    """
    if not FETCH_SESSIONS_END or not FETCH_BY_TOPIC_ID or follower.topic_id is None:
        return True
    return all(
        cluster.zookeeper.controller != broker
        or cluster.controller_of(broker).topics[topic].topic_id == follower.topic_id
        for broker in BROKERS
    )


def may_write_isr(cluster: Cluster, leader: int, topic: int, partition: int, isr: frozenset[int]) -> bool:
    """Whether the ISR that a leading broker wants can be written to the state znode."""
    if not ALTER_ISR:
        return cluster.brokers[leader].session is SessionState.LIVE
    return controller_accepts_alter_isr(cluster, leader, topic, partition, isr)


def controller_accepts_alter_isr(
    cluster: Cluster, leader: int, topic: int, partition: int, isr: frozenset[int]
) -> bool:
    """Whether an active controller accepts the ISR (Kafka: KafkaController.processAlterIsr)."""
    if MIGRATION and cluster.zookeeper.is_led_by_kraft:
        return kraft_accepts_alter_partition(cluster, leader, topic, partition, isr)
    return any(
        cluster.zookeeper.controller == broker
        and cluster.controller_of(broker).step is EventProgress.IDLE
        and cluster.controller_of(broker).epoch == cluster.zookeeper.controller_epoch
        and cluster.controller_of(broker).registrations[leader] is BrokerRegistration.CURRENT
        and knows_leader_epoch(cluster, broker, topic, partition)
        and knows_topic_id(cluster, broker, leader, topic, partition)
        and (not LIVE_ISR_ONLY or isr <= cluster.controller_of(broker).live_brokers)
        for broker in BROKERS
    )


def kraft_accepts_alter_partition(
    cluster: Cluster, leader: int, topic: int, partition: int, isr: frozenset[int]
) -> bool:
    """Whether KRaft's controller accepts the ISR (Kafka: ReplicationControlManager.validateAlterPartitionData)."""
    migration, topic_id = cluster.migration, cluster.replica_of(leader, topic, partition).topic_id
    is_known = migration.has_partition(topic, partition) and topic_id == migration.images[topic].topic_id
    return migration.is_led and is_known and isr <= migration.live


def knows_topic_id(cluster: Cluster, controller: int, leader: int, topic: int, partition: int) -> bool:
    """Whether the controller knows the topic by the id of the leader's log; without an id, the request has the name.

    Kafka: KafkaController.tryProcessAlterPartition; DefaultAlterPartitionManager.buildRequest.
    """
    topic_id = cluster.replica_of(leader, topic, partition).topic_id
    return (
        not ALTER_PARTITION_BY_TOPIC_ID
        or topic_id is None
        or cluster.controller_of(controller).topics[topic].topic_id == topic_id
    )


def knows_leader_epoch(cluster: Cluster, controller: int, topic: int, partition: int) -> bool:
    """Whether the leader's epoch is at least the context's, which before KAFKA-9212 can lag behind the znode's."""
    leadership = cluster.controller_of(controller).topics[topic].leadership[partition]
    if not CTX_EPOCH_ON_BUMP:
        return leadership.is_known
    return leadership.leader_epoch == cluster.zookeeper.state_of(topic, partition).leader_epoch


@action(
    by=BROKER,
    group="broker",
    description="shrinks the ISR of {topic}-{partition} to the replicas that fetch",
    source="Partition.maybeShrinkIsr; KafkaController.processAlterIsr",
)
def shrink_isr(cluster: Cluster, broker: Broker, topic: Topic, partition: Partition) -> None:
    """The leader removes every follower that cannot fetch."""
    require(may_change_isr(cluster) and leads(cluster, broker, topic, partition))
    state = cluster.zookeeper.state_of(topic, partition)
    lagging = frozenset({b for b in BROKERS if b != broker and not can_fetch(cluster, b, topic, partition)})
    require(bool(state.isr & lagging) and may_write_isr(cluster, broker, topic, partition, state.isr - lagging))
    alter_isr(cluster, broker, topic, partition, state.isr - lagging)


@action(
    by=FAULT,
    description="the follower on broker {broker} lags on {topic}-{partition}: its leader removes it from the ISR",
    source="Partition.maybeShrinkIsr, getOutOfSyncReplicas; KafkaController.processAlterIsr",
)
def follower_lags(cluster: Cluster, broker: Broker, topic: Topic, partition: Partition) -> None:
    """A follower that fetches has not reached the end of the leader's log for replica.lag.time.max.ms."""
    require(may_change_isr(cluster))
    isr = cluster.zookeeper.state_of(topic, partition).isr
    require(broker in isr)
    wanted = isr - {broker}
    require(any(may_remove_from_isr(cluster, b, topic, partition, follower=broker) for b in BROKERS))
    for leader in BROKERS:
        if cluster.zookeeper.state_of(topic, partition).leader == leader:
            alter_isr(cluster, leader, topic, partition, wanted)


def may_remove_from_isr(cluster: Cluster, leader: int, topic: int, partition: int, *, follower: int) -> bool:
    """Whether a broker is the leader that can remove the follower from the ISR."""
    isr = cluster.zookeeper.state_of(topic, partition).isr - {follower}
    is_leader = leader != follower and leads(cluster, leader, topic, partition)
    return is_leader and may_write_isr(cluster, leader, topic, partition, isr)


@action(
    by=BROKER,
    group="broker",
    description="catches up on {topic}-{partition} and joins the ISR",
    source="Partition.updateFollowerFetchState, maybeExpandIsr; KafkaController.processAlterIsr",
)
def expand_isr(cluster: Cluster, broker: Broker, topic: Topic, partition: Partition) -> None:
    """The follower's fetch reaches the high watermark, and the leader adds it."""
    require(may_change_isr(cluster))
    state = cluster.zookeeper.state_of(topic, partition)
    require(broker not in state.isr and can_fetch(cluster, broker, topic, partition))
    require(any(may_add_to_isr(cluster, leader, topic, partition, follower=broker) for leader in BROKERS))
    for leader in BROKERS:
        if state.leader == leader:
            alter_isr(cluster, leader, topic, partition, state.isr | {broker})


def may_add_to_isr(cluster: Cluster, leader: int, topic: int, partition: int, *, follower: int) -> bool:
    """Whether a broker is the leader that can add the follower to the ISR; with records, only one that is in sync.

    Where replicas are reassigned, the follower is one of those that the leader got with its leader epoch: nothing
    compares them with the present assignment.
    """
    if leader == follower or not leads(cluster, leader, topic, partition):
        return False
    replica = cluster.replica_of(leader, topic, partition)
    log = cluster.replica_of(follower, topic, partition).log
    in_sync = RECORDS == 0 or is_follower_in_sync(replica, log, follower)
    accepted = not REASSIGNMENT or follower in replica.assigned
    isr = cluster.zookeeper.state_of(topic, partition).isr | {follower}
    return in_sync and accepted and may_write_isr(cluster, leader, topic, partition, isr)


def alter_isr(cluster: Cluster, leader: int, topic: int, partition: int, isr: frozenset[int]) -> None:
    """Write the ISR; the controller knows it, and the leader waits only for its members.

    Since 2.7 the controller completes in the same event a reassignment whose target is in the ISR.

    Kafka: KafkaController.processAlterIsr.
    """
    cluster.zookeeper.state_of(topic, partition).isr = isr
    if MIGRATION and cluster.zookeeper.is_led_by_kraft:
        cluster.migration.change(topic, partition)
        if KRAFT_REASSIGNMENTS > 0:
            complete_reassignment(cluster, topic, partition)
    controller = cluster.zookeeper.controller
    if not CTX_EPOCH_ON_BUMP and controller is not None:
        read_leadership(cluster, controller, topic, partition)
    if RECORDS > 0:
        if controller is not None:
            cluster.controller_of(controller).topics[topic].leadership[partition].isr = isr
        cluster.replica_of(leader, topic, partition).replication.isr = isr
        advance_high_watermark(cluster, leader, topic, partition)
    if REASSIGNMENT and ALTER_ISR and controller is not None:
        maybe_complete_reassignment(cluster, controller, topic, partition)


@action(
    by=PRODUCER,
    group="records",
    description="produces a record to {topic}-{partition} at broker {broker}",
    source="ReplicaManager.appendRecords, Partition.appendRecordsToLeader",
)
def produce(cluster: Cluster, broker: Broker, topic: Topic, partition: Partition) -> None:
    """A broker that leads in its own memory appends under its own leader epoch, whether that has ended or not."""
    replica, znode = cluster.replica_of(broker, topic, partition), cluster.zookeeper.topics[topic]
    require(RECORDS > 0 and replica.is_leader and replica.leader_epoch is not None)
    require(partition < znode.partition_count)
    assert replica.leader_epoch is not None
    append(replica, Record(replica.log.end, replica.leader_epoch, znode.incarnation))
    advance_high_watermark(cluster, broker, topic, partition)


def has_consistent_topic_id(leader: Replica, follower: Replica) -> bool:
    """Whether the leader's topic id and that of the fetch are equal, or one of them is absent.

    Kafka: ReplicaManager.hasConsistentTopicId.
    """
    if not FETCH_BY_TOPIC_ID or leader.topic_id is None or follower.topic_id is None:
        return True
    return leader.topic_id == follower.topic_id


def begin_leader_epoch(
    replica: Replica, partition_state: LeaderAndIsrPartitionState, broker: int, *, is_stopping: bool = False
) -> None:
    """Become leader or follower under a new leader epoch (Kafka: Partition.makeLeader, Partition.makeFollower).

    A new leader knows nothing of its followers; a leader that continues under a higher leader epoch keeps what it
    knows. A broker whose controlled shutdown has begun adds no fetcher (Kafka: ReplicaManager.makeFollowers).
    """
    if STEPWISE_SHUTDOWN and (ISR_CHANGES != "never" or RECORDS > 0):
        replica.lacks_fetcher = is_stopping and partition_state.leader != broker
    if REASSIGNMENT:
        replica.assigned = partition_state.replicas if partition_state.leader == broker else frozenset()
    if RECORDS > 0:
        if partition_state.leader != broker or not replica.is_leader:
            replica.replication.forget()
        if partition_state.leader == broker:
            replica.replication.isr = partition_state.isr
            replica.replication.epoch_start = replica.log.end
            replica.log.write_epochs()
        else:
            replica.replication.leader = partition_state.leader
            if TRUNCATION == "high watermark":
                replica.log.truncate_to(replica.log.high_watermark)


def is_follower_in_sync(leader: Replica, log: Log, follower: int) -> bool:
    """Whether the follower has reached the high watermark and, since KAFKA-7128, the start of the leader's epoch.

    This is checked during a fetch, of which the follower may have taken the answer since: its log is truncated, and has
    what the leader has stored as its end. In 2.8.0 that may be the end of a log that diverges (KAFKA-13141).

    Kafka: Partition.isFollowerInSync.
    """
    end = leader.replication.remote_ends[follower]
    if end is None:
        return False
    if DIVERGING_FETCH_IS_NO_ACK and (end > log.end or diverging_offset(log, leader.log) < end):
        return False
    return end >= leader.log.high_watermark and (not ISR_NEEDS_EPOCH_START or end >= leader.replication.epoch_start)


def advance_high_watermark(cluster: Cluster, broker: int, topic: int, partition: int) -> None:
    """Raise the leader's high watermark to the least log end offset in the ISR.

    Kafka: Partition.maybeIncrementLeaderHW.
    """
    replica = cluster.replica_of(broker, topic, partition)
    if RECORDS > 0 and replica.is_leader:
        reached = replica.log.end
        for other in BROKERS:
            end = replica.replication.remote_ends[other]
            if other != broker and other in replica.replication.isr:
                reached = min(reached, 0 if end is None else end)
        if reached > replica.log.high_watermark:
            replica.log.high_watermark = reached
            record_commits(cluster, broker, topic, partition)


def record_commits(cluster: Cluster, broker: int, topic: int, partition: int) -> None:
    """Store newly committed records of the topic's present incarnation as history: they must survive."""
    replica, history = cluster.replica_of(broker, topic, partition), cluster.commits[topic][partition]
    for record in replica.log.records:
        is_readable = record.offset < replica.log.high_watermark
        is_known = any(commit.record == record for commit in history)
        if is_readable and not is_known and record.incarnation == cluster.zookeeper.topics[topic].incarnation:
            assert replica.leader_epoch is not None
            history.push(Commit(record, replica.leader_epoch))
