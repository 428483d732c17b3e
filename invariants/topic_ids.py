"""Properties of topic ids (P1 to P3, P23): a topic has one id for life, and every replica has the same."""

from __future__ import annotations

from kwalk.model.kafka.domains import BROKERS, OLD_CREATIONS, Broker, Partition, Topic
from kwalk.model.kafka.inter_broker_protocol import uses_topic_ids
from kwalk.model.kafka.state import Cluster
from kwalk.model.language import always, premise, step, when_quiescent


@step(
    symptom="none yet: the next controller mints another id for the topic (KAFKA-14190)",
    log="[Controller id=…] New partitions to be added Map(…): the znode has lost its topic_id",
)
def zk_id_not_erased(before: Cluster, after: Cluster, topic: Topic) -> bool:
    """P1 ZkIdNotErased: once a topic's znode has an id, it keeps one."""
    premise(before.zookeeper.topics[topic].topic_id is not None and after.zookeeper.topics[topic].exists)
    return after.zookeeper.topics[topic].topic_id is not None


@always(
    symptom="brokers that kept the first id refuse the controller's requests at the next leader epoch",
    log="[Broker id=…] Topic Id in memory: … does not match the topic Id for partition … provided in the request: …. "
    "(3.0 and later: Topic ID in memory: … does not match the topic ID for partition … received: ….)",
)
def topic_id_stable(cluster: Cluster, topic: Topic) -> bool:
    """P2 TopicIdStable: neither ZooKeeper nor any controller's context ever has a second id for a topic."""
    first = cluster.zookeeper.topics[topic].first_topic_id
    premise(first is not None)
    return cluster.zookeeper.topics[topic].topic_id in (None, first) and all(
        cluster.controller_of(broker).topics[topic].topic_id in (None, first) for broker in BROKERS
    )


@when_quiescent(
    symptom="the replica refuses the controller at the next leader epoch: under-replicated, then NOT_LEADER",
    log="[Broker id=…] Topic Id in memory: … does not match the topic Id for partition … provided in the request: …. "
    "(3.0 and later: Topic ID in memory: … does not match the topic ID for partition … received: ….)",
)
def replica_id_matches_zookeeper(cluster: Cluster, broker: Broker, topic: Topic, partition: Partition) -> bool:
    """P3 ReplicaIdAgrees: a live replica has ZooKeeper's topic id, or none, in memory and in partition.metadata."""
    replica, topic_id = cluster.replica_of(broker, topic, partition), cluster.zookeeper.topics[topic].topic_id
    premise(cluster.is_up(broker) and topic_id is not None)
    premise(broker in cluster.zookeeper.topics[topic].assignments[partition].replicas)
    return replica.topic_id in (None, topic_id) and replica.file_topic_id in (None, topic_id)


@when_quiescent(
    symptom="none while the broker is down: when it starts, it refuses the controller, or takes the log for its own",
    log="[Broker id=…] Topic Id in memory: … does not match the topic Id for partition … provided in the request: …. "
    "(3.0 and later: Topic ID in memory: … does not match the topic ID for partition … received: ….)",
)
def down_replica_fits(cluster: Cluster, broker: Broker, topic: Topic, partition: Partition) -> bool:
    """The log of a replica on a broker that is down is of the topic: by its id, and by its records."""
    znode, replica = cluster.zookeeper.topics[topic], cluster.replica_of(broker, topic, partition)
    premise(partition < znode.partition_count and not cluster.is_up(broker) and not znode.deletion_requested)
    premise(broker in znode.assignments[partition].replicas)
    if znode.topic_id is not None and replica.file_topic_id not in (None, znode.topic_id):
        return False
    return all(record.incarnation == znode.incarnation for record in replica.log.records)


@when_quiescent(
    symptom="none yet: brokers get no topic id, and the next controller mints one",
    log="none: get /brokers/topics/… in ZooKeeper shows no topic_id",
)
def topic_has_an_id(cluster: Cluster, broker: Broker, topic: Topic) -> bool:
    """P23 TopicHasAnId: where the controller's inter-broker protocol is 2.8 or later, a topic's znode has an id."""
    znode = cluster.zookeeper.topics[topic]
    premise(uses_topic_ids(broker) and cluster.zookeeper.controller == broker and znode.exists)
    return znode.topic_id is not None


@step(
    symptom="a topic without an id in an upgraded cluster, or with one under the older protocol",
    log="none: get /brokers/topics/… in ZooKeeper shows the topic_id, or none",
)
def ids_follow_the_protocol(before: Cluster, after: Cluster, topic: Topic) -> bool:
    """A topic gets no id under a controller whose inter-broker protocol is below 2.8.

    Under one of 2.8 or later a new client's topic has its id from the start.
    """
    old, new, controller = before.zookeeper.topics[topic], after.zookeeper.topics[topic], before.zookeeper.controller
    premise(controller is not None and controller == after.zookeeper.controller)
    premise(new.exists and old.topic_id is None)
    if any(controller == broker and not uses_topic_ids(broker) for broker in BROKERS):
        return new.topic_id is None
    return old.exists or OLD_CREATIONS > 0 or new.topic_id is not None


@always(
    symptom="producers and consumers of a topic that was created again get UNKNOWN_TOPIC_ID or INCONSISTENT_TOPIC_ID",
    log="[Broker id=…] Topic ID in memory: … does not match the topic ID for partition … received: ….",
)
def incarnation_keeps_its_id(cluster: Cluster, topic: Topic) -> bool:
    """A topic's znode never gets a second id, nor that of an earlier topic of the same name."""
    znode = cluster.zookeeper.topics[topic]
    premise(znode.exists and znode.topic_id is not None)
    return znode.topic_id == znode.first_topic_id


@when_quiescent(symptom="after the repair a partition has no leader, or stays under-replicated")
def repaired_partition_serves(cluster: Cluster, topic: Topic, partition: Partition) -> bool:
    """P8 and P9 after a repair: once no live replica has another id than ZooKeeper, all lead or follow.

    The ISR is not checked.
    """
    topic_id, state = cluster.zookeeper.topics[topic].topic_id, cluster.zookeeper.state_of(topic, partition)
    premise(cluster.all_up and cluster.repairs > 0)
    replicas = [cluster.replica_of(broker, topic, partition) for broker in BROKERS]
    premise(all(r.topic_id in (None, topic_id) and r.file_topic_id in (None, topic_id) for r in replicas))
    return all(
        replica.leader_epoch == state.leader_epoch and replica.is_leader == (state.leader == broker)
        for broker, replica in enumerate(replicas)
    )
