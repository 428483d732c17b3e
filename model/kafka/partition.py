"""How a leader changes the ISR: Partition.maybeShrinkIsr and maybeExpandIsr; the controller's AlterIsr is no own step.

Before 2.7 a leader writes the state znode itself, whoever is controller; the znode's version then only says whether the
leader knows the latest leader epoch and ISR. The controller learns of it by a notification, which is no own step.

There is no time here: a follower that cannot fetch may fall out at any moment, one that can may catch up at any moment.
The flag `isr_changes` says whether that happens at all, and whether also while LeaderAndIsr requests are on their way.
"""
from __future__ import annotations

from model.kafka.actors import BROKER
from model.kafka.controller_context import Liveness, Step
from model.kafka.domains import BROKERS, RECORDS, Broker, Partition, Topic
from model.kafka.partition_state_machine import read_leadership
from model.kafka.reassignment import maybe_complete_reassignment
from model.kafka.replication import advance_high_watermark, has_consistent_topic_id, is_follower_in_sync
from model.kafka.state import Cluster, Session
from model.kafka.versions import ALTER_ISR, CTX_EPOCH_ON_BUMP, ISR_CHANGES, LIVE_ISR_ONLY, REASSIGNMENT
from model.language import action, require


def may_change_isr(cluster: Cluster) -> bool:
    """Whether the scenario lets leaders change the ISR now."""
    if ISR_CHANGES == "between requests":
        return all(cluster.brokers[broker].requests.headers.is_empty for broker in BROKERS)
    return ISR_CHANGES == "any time"


def leads(cluster: Cluster, broker: int, topic: int, partition: int) -> bool:
    """Whether the broker leads the partition in its own memory, under the leader, epoch and ISR of the state znode."""
    state = cluster.zookeeper.topics[topic].states[partition]
    replica = cluster.brokers[broker].replicas[topic][partition]
    if not replica.is_leader or state.leader != broker or replica.leader_epoch != state.leader_epoch:
        return False
    return RECORDS == 0 or replica.replication.isr == state.isr


def can_fetch(cluster: Cluster, follower: int, topic: int, partition: int) -> bool:
    """Whether the leader under the state znode's epoch answers the follower's fetch: the leader epochs are equal.

    Since 3.1 the topic ids have to agree as well.
    """
    state = cluster.zookeeper.topics[topic].states[partition]
    replica = cluster.brokers[follower].replicas[topic][partition]
    if not replica.log_open or replica.is_leader or replica.leader_epoch != state.leader_epoch:
        return False
    return all(
        state.leader != broker or has_consistent_topic_id(cluster.brokers[broker].replicas[topic][partition], replica)
        for broker in BROKERS
    )


def may_write_isr(cluster: Cluster, leader: int, topic: int, partition: int, isr: frozenset[int]) -> bool:
    """Whether an ISR that a broker, which leads, wants gets into the state znode."""
    if not ALTER_ISR:
        return cluster.brokers[leader].session is Session.LIVE
    return controller_accepts_alter_isr(cluster, leader, topic, partition, isr)


def controller_accepts_alter_isr(
    cluster: Cluster, leader: int, topic: int, partition: int, isr: frozenset[int]
) -> bool:
    """Whether the active controller writes an ISR that the leader proposes: it knows broker and leader epoch.

    Since 3.3 it has to take all of the ISR for live.
    """
    return any(
        cluster.zookeeper.controller == broker
        and cluster.brokers[broker].controller.step is Step.IDLE
        and cluster.brokers[broker].controller.epoch == cluster.zookeeper.controller_epoch
        and cluster.brokers[broker].controller.liveness[leader] is Liveness.CURRENT
        and knows_leader_epoch(cluster, broker, topic, partition)
        and (not LIVE_ISR_ONLY or isr <= cluster.brokers[broker].controller.live_brokers)
        for broker in BROKERS
    )


def knows_leader_epoch(cluster: Cluster, controller: int, topic: int, partition: int) -> bool:
    """Whether the leader's epoch is not lower than the context's, which is the state znode's but before KAFKA-9212."""
    leadership = cluster.brokers[controller].controller.topics[topic].leadership[partition]
    if not CTX_EPOCH_ON_BUMP:
        return leadership.is_known
    return leadership.leader_epoch == cluster.zookeeper.topics[topic].states[partition].leader_epoch


@action(
    by=BROKER,
    says="shrinks the ISR of {topic}-{partition} to the replicas that fetch",
    source="Partition.maybeShrinkIsr; KafkaController.processAlterIsr",
)
def shrink_isr(cluster: Cluster, broker: Broker, topic: Topic, partition: Partition) -> None:
    """The leader takes out every follower that cannot fetch."""
    require(may_change_isr(cluster) and leads(cluster, broker, topic, partition))
    state = cluster.zookeeper.topics[topic].states[partition]
    lagging = frozenset({b for b in BROKERS if b != broker and not can_fetch(cluster, b, topic, partition)})
    require(bool(state.isr & lagging) and may_write_isr(cluster, broker, topic, partition, state.isr - lagging))
    alter_isr(cluster, broker, topic, partition, state.isr - lagging)


@action(
    by=BROKER,
    says="catches up on {topic}-{partition} and joins the ISR",
    source="Partition.updateFollowerFetchState, maybeExpandIsr; KafkaController.processAlterIsr",
)
def expand_isr(cluster: Cluster, broker: Broker, topic: Topic, partition: Partition) -> None:
    """The follower's fetch reaches the high watermark: the leader takes it in."""
    require(may_change_isr(cluster))
    state = cluster.zookeeper.topics[topic].states[partition]
    require(broker not in state.isr and can_fetch(cluster, broker, topic, partition))
    require(any(takes_in(cluster, leader, topic, partition, follower=broker) for leader in BROKERS))
    for leader in BROKERS:
        if state.leader == leader:
            alter_isr(cluster, leader, topic, partition, state.isr | {broker})


def takes_in(cluster: Cluster, leader: int, topic: int, partition: int, *, follower: int) -> bool:
    """Whether a broker is the leader that can take the follower into the ISR: with records, one that is in sync."""
    if leader == follower or not leads(cluster, leader, topic, partition):
        return False
    replica = cluster.brokers[leader].replicas[topic][partition]
    log = cluster.brokers[follower].replicas[topic][partition].log
    in_sync = RECORDS == 0 or is_follower_in_sync(replica, log, follower)
    accepted = is_assigned(cluster, follower, topic, partition)
    isr = cluster.zookeeper.topics[topic].states[partition].isr | {follower}
    return in_sync and accepted and may_write_isr(cluster, leader, topic, partition, isr)


def is_assigned(cluster: Cluster, follower: int, topic: int, partition: int) -> bool:
    """Whether the leader knows the follower for a replica: it knows what the controller told with the leader epoch.

    Where replicas are not reassigned, every broker is one.
    """
    if not REASSIGNMENT:
        return True
    return any(
        cluster.zookeeper.controller == broker
        and follower in cluster.brokers[broker].controller.topics[topic].assignments[partition].replicas
        for broker in BROKERS
    )


def alter_isr(cluster: Cluster, leader: int, topic: int, partition: int, isr: frozenset[int]) -> None:
    """The controller writes the ISR, or learns of it, and the leader waits for nobody else any more.

    Since 2.7 the controller completes in the same event a reassignment whose target is all in the ISR.
    """
    cluster.zookeeper.topics[topic].states[partition].isr = isr
    if not CTX_EPOCH_ON_BUMP:
        for broker in BROKERS:
            if cluster.zookeeper.controller == broker:
                read_leadership(cluster, broker, topic, partition)
    if RECORDS > 0:
        for broker in BROKERS:
            if cluster.zookeeper.controller == broker:
                cluster.brokers[broker].controller.topics[topic].leadership[partition].isr = isr
        cluster.brokers[leader].replicas[topic][partition].replication.isr = isr
        advance_high_watermark(cluster, leader, topic, partition)
    if REASSIGNMENT and ALTER_ISR:
        for broker in BROKERS:
            if cluster.zookeeper.controller == broker:
                maybe_complete_reassignment(cluster, broker, topic, partition)
