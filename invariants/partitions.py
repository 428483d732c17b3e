"""Properties of partitions (P8 to P11, P21, P24): each has a leader and followers, and none is lost."""

from __future__ import annotations

from kwalk.model.kafka.assignment import first_replica
from kwalk.model.kafka.broker.partition import can_fetch
from kwalk.model.kafka.controller.controller_context import EventProgress
from kwalk.model.kafka.domains import BROKERS, Broker, Partition, Topic
from kwalk.model.kafka.state import Cluster
from kwalk.model.kafka.versions.grain import ISR_CHANGES, LIVE_BROKER_CACHES, PREFERRED_ELECTION, REASSIGNMENT
from kwalk.model.kafka.versions.records import FETCH_BY_TOPIC_ID
from kwalk.model.language import always, premise, when_quiescent


@when_quiescent(
    symptom="producers get NOT_LEADER_OR_FOLLOWER or LEADER_NOT_AVAILABLE permanently; consumers UNKNOWN_LEADER_EPOCH",
    log="state-change.log, ERROR, if the leader refuses a topic id: [Broker id=…] Topic Id in memory: … does not match "
    "the topic Id for partition … provided in the request: …. (3.0 and later: Topic ID in memory: … does not match the "
    "topic ID for partition … received: ….) Otherwise, only at DEBUG of kafka.cluster.Partition: Failed to update ISR "
    "to … since we sent an old leader epoch. Giving up. (3.9: Failed to alter partition to … since the leader epoch is "
    "old.)",
)
def partition_servable(cluster: Cluster, topic: Topic, partition: Partition) -> bool:
    """P8 PartitionServable: with a live ISR member, the state znode's leader is alive and leads in its own memory."""
    state = cluster.zookeeper.state_of(topic, partition)
    premise(state.exists and bool(state.isr & cluster.zookeeper.broker_ids))
    return is_served(cluster, topic, partition)


def is_served(cluster: Cluster, topic: Topic, partition: Partition) -> bool:
    """Whether the state znode's leader is alive and leads in its own memory."""
    state = cluster.zookeeper.state_of(topic, partition)
    return any(
        state.leader == broker
        and cluster.is_up(broker)
        and cluster.replica_of(broker, topic, partition).is_leader
        and cluster.replica_of(broker, topic, partition).leader_epoch == state.leader_epoch
        for broker in BROKERS
    )


@when_quiescent(
    symptom="clients get LEADER_NOT_AVAILABLE until a broker of the ISR starts",
    log="none: kafka-topics.sh --describe shows Leader: none, and under Isr brokers that are down",
)
def partition_has_a_live_isr_member(cluster: Cluster, topic: Topic, partition: Partition) -> bool:
    """A partition with a state has a live ISR member."""
    state = cluster.zookeeper.state_of(topic, partition)
    premise(state.exists)
    return bool(state.isr & cluster.zookeeper.broker_ids)


@when_quiescent(
    symptom="kafka-topics.sh --describe shows a replica on a broker that is gone: one more failure loses the partition",
    log="none: kafka-topics.sh --describe --under-replicated-partitions shows the partition permanently",
)
def replicas_are_live(cluster: Cluster, topic: Topic, partition: Partition) -> bool:
    """Every replica of a partition is on a live broker, and in the ISR; no reassignment is left over."""
    state, znode = cluster.zookeeper.state_of(topic, partition), cluster.zookeeper.topics[topic]
    premise(state.exists and bool(REASSIGNMENT))
    replicas = znode.assignments[partition].replicas
    return replicas <= cluster.zookeeper.broker_ids and replicas == state.isr


@when_quiescent(
    symptom="acks=all waits for a broker that is down",
    log="none: kafka-topics.sh --describe shows a broker under Isr that is down",
)
def isr_members_live(cluster: Cluster, broker: Broker, topic: Topic, partition: Partition) -> bool:
    """While a partition has a live leader, every ISR member lives."""
    state = cluster.zookeeper.state_of(topic, partition)
    premise(state.exists and broker in state.isr and bool(state.isr & cluster.zookeeper.broker_ids))
    return cluster.is_up(broker)


@when_quiescent(
    symptom="consumers of Kafka 3.1 and later read nothing",
    log="INCONSISTENT_TOPIC_ID or UNKNOWN_TOPIC_ID in responses to Fetch",
)
def leader_answers_fetches_by_id(cluster: Cluster, broker: Broker, topic: Topic, partition: Partition) -> bool:
    """Since 3.1 (KIP-516): a leader's log has the topic id by which consumers ask for it.

    They get it from metadata caches, which have what the controller has sent last, whatever ZooKeeper has by now.
    """
    replica = cluster.replica_of(broker, topic, partition)
    premise(bool(FETCH_BY_TOPIC_ID) and cluster.is_up(broker) and replica.is_leader and replica.topic_id is not None)
    premise(cluster.zookeeper.topics[topic].exists)
    return all(
        cluster.zookeeper.controller != other
        or cluster.controller_of(other).topics[topic].topic_id in (None, replica.topic_id)
        for other in BROKERS
    )


@when_quiescent(
    symptom="the partition stays under-replicated: acks=all times out",
    log="[Broker id=…] Topic Id in memory: … does not match the topic Id for partition … provided in the request: …. "
    "(3.0 and later: Topic ID in memory: … does not match the topic ID for partition … received: ….)",
)
def replicas_converge(cluster: Cluster, broker: Broker, topic: Topic, partition: Partition) -> bool:
    """P9 ReplicasConverge: a live replica is open, in its role under the present leader epoch, and in the ISR.

    The ISR is checked only where the scenario lets leaders expand it.
    """
    state = cluster.zookeeper.state_of(topic, partition)
    replica = cluster.replica_of(broker, topic, partition)
    premise(state.exists and cluster.is_up(broker))
    premise(broker in cluster.zookeeper.topics[topic].assignments[partition].replicas)
    if ISR_CHANGES != "never" and broker not in state.isr:
        return False
    follows = replica.is_leader == (state.leader == broker)
    return replica.log_open and follows and replica.leader_epoch == state.leader_epoch


@when_quiescent(
    symptom="under-replicated: acks=all fails where min.insync.replicas needs the replica",
    log="server.log: Stopping serving logs in dir …",
)
def replica_is_online(cluster: Cluster, broker: Broker, topic: Topic, partition: Partition) -> bool:
    """A replica's broker serves it: of a log on a failed disk the broker counts as down.

    Source: LogManager.offlineLogDirs; ReplicaManager.handleLogDirFailure.
    """
    premise(broker in cluster.zookeeper.topics[topic].assignments[partition].replicas)
    return cluster.is_up(broker)


@when_quiescent(
    symptom="under-replicated after a disk was replaced: acks=all fails where min.insync.replicas needs the replica",
    log="none: state-change.log of the broker has no LeaderAndIsr request for the replica since it started",
)
def replica_on_a_working_disk_is_hosted(cluster: Cluster, broker: Broker, topic: Topic, partition: Partition) -> bool:
    """A broker hosts a replica whose disk works, under the present leader epoch; every broker has a replica."""
    state, replica = cluster.zookeeper.state_of(topic, partition), cluster.replica_of(broker, topic, partition)
    premise(state.exists and cluster.is_up(broker) and not replica.offline)
    return replica.log_open and replica.leader_epoch == state.leader_epoch


@when_quiescent(
    symptom="acks=all times out though the ISR looks full; records with acks=1 are on the leader alone",
    log="server.log of the follower, again and again: Received UNKNOWN_TOPIC_ID from the leader for partition …",
)
def isr_members_fetch(cluster: Cluster, broker: Broker, topic: Topic, partition: Partition) -> bool:
    """A live ISR member fetches from the leader, which otherwise removes it.

    Only where the scenario lets leaders change the ISR.
    """
    state = cluster.zookeeper.state_of(topic, partition)
    premise(ISR_CHANGES != "never" and state.exists and broker in state.isr and broker != state.leader)
    premise(cluster.is_up(broker) and is_served(cluster, topic, partition))
    return can_fetch(cluster, broker, topic, partition)


@always(
    symptom="a partition stays under-replicated after any action (KAFKA-12493)",
    log="none: kafka-topics.sh --describe shows a broker under Isr that is not under Replicas",
)
def leader_in_assignment(cluster: Cluster, topic: Topic, partition: Partition) -> bool:
    """P10 LeaderInAssignment: the ISR is not empty, has only replicas of the partition, and contains the leader.

    A controller that cancels or replaces a reassignment writes the assignment first and the ISR next: in between the
    property is not tested, unless another controller has been elected.
    """
    replicas = cluster.zookeeper.topics[topic].assignments[partition].replicas
    state = cluster.zookeeper.state_of(topic, partition)
    premise(state.exists)
    premise(
        not REASSIGNMENT  # so that stories without reassignments do not read the controllers' steps
        or not any(
            cluster.controller_of(broker).step is EventProgress.ASSIGNMENT_WRITTEN
            and cluster.controller_of(broker).epoch == cluster.zookeeper.controller_epoch
            for broker in BROKERS
        )
    )
    return bool(state.isr) and state.isr <= replicas and (state.leader is None or state.leader in state.isr)


@always(
    symptom="the partition count drops, and records in the lost partitions are unreachable",
    log="none: PartitionModifications handles new partitions only",
)
def no_partition_lost(cluster: Cluster, topic: Topic) -> bool:
    """P11 NoPartitionLost: partitions that a client was promised stay in the topic's znode until it is deleted."""
    znode = cluster.zookeeper.topics[topic]
    premise(znode.exists and not znode.deletion_requested)
    return znode.partition_count >= znode.accepted_partitions


@always(
    symptom="a broker serves clients for a partition whose log it has deleted",
    log="none: kafka.server:type=ReplicaManager,name=LeaderCount counts a partition that the broker does not host",
)
def leader_has_a_log(cluster: Cluster, broker: Broker, topic: Topic, partition: Partition) -> bool:
    """A leader has an open log and a leader epoch."""
    replica = cluster.replica_of(broker, topic, partition)
    premise(replica.is_leader)
    return replica.log_open and replica.leader_epoch is not None


@when_quiescent(
    symptom="consumers use an outdated leader epoch and stay fenced (KAFKA-9212); clients see a deleted topic",
    log="FENCED_LEADER_EPOCH in responses to ListOffsets and Fetch",
)
def metadata_converges(cluster: Cluster, broker: Broker, topic: Topic, partition: Partition) -> bool:
    """P21 MetadataConverges: a live broker answers clients with the state znode's leader and epoch, or with none.

    Only where the scenario has metadata caches.
    """
    premise(cluster.is_up(broker))
    state = cluster.zookeeper.state_of(topic, partition)
    cached = cluster.brokers[broker].metadata[topic][partition]
    return cached.leader == state.leader and cached.leader_epoch == state.leader_epoch


@when_quiescent(
    symptom="clients connect to a broker that is gone, or do not find one that is there",
    log="none: Metadata responses list other brokers than ls /brokers/ids in ZooKeeper",
)
def metadata_has_the_live_brokers(cluster: Cluster, broker: Broker) -> bool:
    """A live broker answers clients with the brokers of /brokers/ids.

    Only where metadata caches have them, and while there is a controller.
    """
    premise(bool(LIVE_BROKER_CACHES) and cluster.is_up(broker) and cluster.zookeeper.controller is not None)
    return cluster.brokers[broker].cached_brokers == cluster.zookeeper.broker_ids


@when_quiescent(
    symptom="some brokers lead more partitions than others, and have a higher load",
    log="none: kafka-topics.sh --describe shows a Leader that is not the first of Replicas",
)
def preferred_replica_leads(cluster: Cluster, topic: Topic, partition: Partition) -> bool:
    """P24 PreferredReplicaLeads: the first replica leads if it is alive and in the ISR, under auto.leader.rebalance."""
    state = cluster.zookeeper.state_of(topic, partition)
    assignment = cluster.zookeeper.topics[topic].assignments[partition]
    preferred = first_replica(partition, assignment, assignment.replicas)
    premise(bool(PREFERRED_ELECTION) and state.exists and preferred is not None)
    premise(preferred in state.isr & cluster.zookeeper.broker_ids)
    return state.leader == preferred


@when_quiescent(
    symptom="leaders do not move back to preferred replicas any more, though no partition is reassigned",
    log="none: kafka-topics.sh --describe shows a Leader that is not the first of Replicas",
)
def preferred_replica_leads_at_rest(cluster: Cluster, topic: Topic, partition: Partition) -> bool:
    """P24, where clients see no reassignment: the first replica leads if it is alive and in the ISR."""
    premise(not any(a.is_being_reassigned for znode in cluster.zookeeper.topics for a in znode.assignments))
    return bool(preferred_replica_leads(cluster, topic, partition))
