"""What must be reachable: without these witnesses, a model in which nothing happens would pass."""

from __future__ import annotations

from kwalk.model.kafka.assignment import created_replicas
from kwalk.model.kafka.broker.log import diverging_offset
from kwalk.model.kafka.broker.replica_fetcher_thread import answers_fetch
from kwalk.model.kafka.controller.controller_context import EventProgress
from kwalk.model.kafka.domains import ADMINS, BROKERS, PARTITIONS, Broker, Partition, Topic
from kwalk.model.kafka.inter_broker_protocol import uses_topic_ids
from kwalk.model.kafka.state import Cluster
from kwalk.model.language import reachable


@reachable()
def expansion_is_registered(cluster: Cluster, topic: Topic) -> bool:
    """A controller has leadership for all partitions of a topic that was expanded."""
    return cluster.expansions + cluster.new_expansions > 0 and any(
        all(cluster.controller_of(broker).topics[topic].leadership[p].is_known for p in PARTITIONS)
        for broker in BROKERS
    )


@reachable()
def failover_completes(cluster: Cluster) -> bool:
    """A controller other than the first is idle, with a topic in its context."""
    return any(
        cluster.zookeeper.controller == broker
        and cluster.controller_of(broker).epoch > 1
        and cluster.controller_of(broker).step is EventProgress.IDLE
        and cluster.controller_of(broker).topics[0].leadership[0].is_known
        for broker in BROKERS
    )


@reachable()
def leader_epoch_rises(cluster: Cluster, broker: Broker, topic: Topic, partition: Partition) -> bool:
    """A replica has a leader epoch above the first."""
    epoch = cluster.replica_of(broker, topic, partition).leader_epoch
    return epoch is not None and epoch > 0


@reachable()
def replica_gets_its_file(cluster: Cluster, topic: Topic) -> bool:
    """Some replica has a partition.metadata."""
    return any(cluster.replica_of(broker, topic, p).file_topic_id is not None for broker in BROKERS for p in PARTITIONS)


@reachable()
def record_is_committed(cluster: Cluster, topic: Topic, partition: Partition) -> bool:
    """Some record was acknowledged."""
    return not cluster.commits[topic][partition].is_empty


@reachable()
def record_is_replicated(cluster: Cluster, topic: Topic, partition: Partition) -> bool:
    """All replicas have a record below their high watermark."""
    return all(cluster.replica_of(broker, topic, partition).log.high_watermark > 0 for broker in BROKERS)


@reachable()
def logs_diverge(cluster: Cluster, broker: Broker, topic: Topic, partition: Partition) -> bool:
    """A follower has to truncate: its log diverges from that of the leader from which it fetches."""
    follower = cluster.replica_of(broker, topic, partition)
    return not follower.log.records.is_empty and any(
        answers_fetch(cluster, leader, topic, partition, follower=broker)
        and diverging_offset(follower.log, cluster.replica_of(leader, topic, partition).log) < follower.log.end
        for leader in BROKERS
    )


@reachable()
def recreated_topic_has_a_record(cluster: Cluster, broker: Broker, topic: Topic, partition: Partition) -> bool:
    """A record was written to a topic that was created again."""
    log = cluster.replica_of(broker, topic, partition).log
    return any(record.incarnation > 0 for record in log.records)


@reachable()
def replica_is_moved(cluster: Cluster, topic: Topic, partition: Partition) -> bool:
    """A reassignment is complete: the replicas have changed, and all of them are in the ISR."""
    znode = cluster.zookeeper.topics[topic]
    assignment, first = znode.assignments[partition], created_replicas(partition)
    if not znode.exists or assignment.is_being_reassigned or assignment.replicas == first:
        return False
    return assignment.replicas == znode.states[partition].isr


@reachable()
def replica_is_moved_back(cluster: Cluster, topic: Topic, partition: Partition) -> bool:
    """After two reassignments the replicas are the first ones, and a late copy of a request about one may arrive."""
    assignment = cluster.zookeeper.topics[topic].assignments[partition]
    is_back = assignment.replicas == created_replicas(partition) and not assignment.is_being_reassigned
    return (
        is_back
        and cluster.reassignments > 1
        and any(cluster.brokers[broker].requests.late_partition_states[partition] is not None for broker in BROKERS)
    )


@reachable()
def reassignment_is_cancelled(cluster: Cluster, topic: Topic, partition: Partition) -> bool:
    """A reassignment was cancelled when a new replica already had a log."""
    assignment = cluster.zookeeper.topics[topic].assignments[partition]
    return cluster.cancellations > 0 and any(
        broker not in assignment.replicas and cluster.replica_of(broker, topic, partition).log_open
        for broker in BROKERS
    )


@reachable()
def admins_overlap(cluster: Cluster) -> bool:
    """All admins have read a topic's znode, and none has written it yet."""
    return all(cluster.admins[admin].partition_count > 0 for admin in ADMINS)


@reachable()
def old_protocol_controller_serves(cluster: Cluster, topic: Topic) -> bool:
    """A broker whose inter-broker protocol has no topic ids is the controller, with a topic that has an id."""
    return cluster.zookeeper.topics[topic].topic_id is not None and any(
        cluster.zookeeper.controller == broker
        and not uses_topic_ids(broker)
        and cluster.controller_of(broker).step is EventProgress.IDLE
        and cluster.controller_of(broker).topics[topic].leadership[0].is_known
        for broker in BROKERS
    )


@reachable()
def one_topic_id_everywhere(cluster: Cluster, topic: Topic, partition: Partition) -> bool:
    """After a repair all brokers are up, and each replica has ZooKeeper's topic id in memory and in its file."""
    topic_id = cluster.zookeeper.topics[topic].topic_id
    return cluster.repairs > 0 and all(
        cluster.is_up(broker)
        and cluster.replica_of(broker, topic, partition).topic_id == topic_id
        and cluster.replica_of(broker, topic, partition).file_topic_id == topic_id
        for broker in BROKERS
    )
