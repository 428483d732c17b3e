"""What must hold of partitions (P8 to P11, P21, P24): somebody leads them, everybody follows, and none gets lost."""
from __future__ import annotations

from model.kafka.assignment import first_assigned
from model.kafka.domains import BROKERS, Broker, Partition, Topic
from model.kafka.state import Cluster
from model.kafka.versions import ISR_CHANGES, PREFERRED_ELECTION
from model.language import always, premise, when_quiet


@when_quiet(
    symptom="producers get NOT_LEADER_OR_FOLLOWER or LEADER_NOT_AVAILABLE for ever; consumers UNKNOWN_LEADER_EPOCH",
    log="DEBUG of kafka.cluster.Partition: Failed to update ISR to … since we sent an old leader epoch. Giving up. "
    "(3.9: Failed to alter partition to … since the leader epoch is old.)",
)
def partition_servable(cluster: Cluster, topic: Topic, partition: Partition) -> bool:
    """P8 PartitionServable: with a live ISR member, the state znode's leader is alive and knows that it leads."""
    state = cluster.zookeeper.topics[topic].states[partition]
    premise(state.exists and bool(state.isr & cluster.zookeeper.broker_ids))
    return is_served(cluster, topic, partition)


def is_served(cluster: Cluster, topic: Topic, partition: Partition) -> bool:
    """Whether the state znode's leader is alive and knows that it leads."""
    state = cluster.zookeeper.topics[topic].states[partition]
    return any(
        state.leader == broker
        and cluster.is_up(broker)
        and cluster.brokers[broker].replicas[topic][partition].is_leader
        and cluster.brokers[broker].replicas[topic][partition].leader_epoch == state.leader_epoch
        for broker in BROKERS
    )


@when_quiet(
    symptom="the partition stays under-replicated: acks=all times out",
    log="[Broker id=…] Topic Id in memory: … does not match the topic Id for partition … provided in the request: …. "
    "(3.0 and later: Topic ID in memory: … does not match the topic ID for partition … received: ….)",
)
def replicas_converge(cluster: Cluster, broker: Broker, topic: Topic, partition: Partition) -> bool:
    """P9 ReplicasConverge: a live replica is open, in its role under the present leader epoch, and in the ISR.

    The ISR is looked at only where the scenario lets leaders expand it.
    """
    state = cluster.zookeeper.topics[topic].states[partition]
    replica = cluster.brokers[broker].replicas[topic][partition]
    premise(state.exists and cluster.is_up(broker))
    premise(broker in cluster.zookeeper.topics[topic].assignments[partition].replicas)
    if ISR_CHANGES != "never" and broker not in state.isr:
        return False
    follows = replica.is_leader == (state.leader == broker)
    return replica.log_open and follows and replica.leader_epoch == state.leader_epoch


@always(
    symptom="a partition that stays under-replicated whatever is done (KAFKA-12493)",
    log="none: kafka-topics.sh --describe shows a broker under Isr that is not under Replicas",
)
def leader_in_assignment(cluster: Cluster, topic: Topic, partition: Partition) -> bool:
    """P10 LeaderInAssignment: the ISR is never empty, all in it are replicas of the partition, a leader is in it."""
    replicas = cluster.zookeeper.topics[topic].assignments[partition].replicas
    state = cluster.zookeeper.topics[topic].states[partition]
    premise(state.exists)
    return bool(state.isr) and state.isr <= replicas and (state.leader is None or state.leader in state.isr)


@always(
    symptom="the partition count drops, and what was written to the lost partitions is out of reach",
    log="none: PartitionModifications looks for partitions that are new, and for nothing else",
)
def no_partition_lost(cluster: Cluster, topic: Topic) -> bool:
    """P11 NoPartitionLost: the partitions that a client was told of stay in the topic's znode until it is deleted."""
    znode = cluster.zookeeper.topics[topic]
    premise(znode.exists and not znode.deletion_asked)
    return znode.partition_count >= znode.accepted_partitions


@always(
    symptom="a broker answers clients for a partition whose log it has deleted",
    log="none: kafka.server:type=ReplicaManager,name=LeaderCount counts a partition that the broker does not host",
)
def leader_has_a_log(cluster: Cluster, broker: Broker, topic: Topic, partition: Partition) -> bool:
    """Who leads has opened the log, and has a leader epoch."""
    replica = cluster.brokers[broker].replicas[topic][partition]
    premise(replica.is_leader)
    return replica.log_open and replica.leader_epoch is not None


@when_quiet(
    symptom="consumers ask with a leader epoch that is over and are fenced for ever (KAFKA-9212); clients see a "
    "deleted topic",
    log="FENCED_LEADER_EPOCH in the answers to ListOffsets and Fetch",
)
def metadata_converges(cluster: Cluster, broker: Broker, topic: Topic, partition: Partition) -> bool:
    """P21 MetadataConverges: a live broker tells clients the state znode's leader and epoch; nothing if there is none.

    Only where the scenario has metadata caches.
    """
    premise(cluster.is_up(broker))
    state = cluster.zookeeper.topics[topic].states[partition]
    cached = cluster.brokers[broker].metadata[topic][partition]
    return cached.leader == state.leader and cached.leader_epoch == state.leader_epoch


@when_quiet(
    symptom="some brokers lead more than their share, and have more to do than others",
    log="none: kafka-topics.sh --describe shows a Leader that is not the first of Replicas",
)
def preferred_replica_leads(cluster: Cluster, topic: Topic, partition: Partition) -> bool:
    """P24 PreferredReplicaLeads: the first replica leads if it is alive and in the ISR, under auto.leader.rebalance."""
    state, replicas = cluster.zookeeper.topics[topic].states[partition], cluster.zookeeper.topics[topic].assignments
    preferred = first_assigned(partition, replicas[partition].replicas)
    premise(bool(PREFERRED_ELECTION) and state.exists and preferred is not None)
    premise(preferred in state.isr & cluster.zookeeper.broker_ids)
    return state.leader == preferred
