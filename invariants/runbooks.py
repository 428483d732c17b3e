"""Properties after an operator has removed a topic by hand: nothing is left of it, and its name can be used."""

from __future__ import annotations

from kwalk.model.kafka.clients.runbook import is_finished
from kwalk.model.kafka.domains import BROKERS, Broker, Partition, Topic
from kwalk.model.kafka.state import Cluster
from kwalk.model.language import premise, reachable, when_quiescent


@when_quiescent(
    symptom="producers and consumers continue to use a topic that kafka-topics.sh --zookeeper does not list",
    log="none: the leader serves until its broker restarts",
)
def removed_topic_is_not_served(cluster: Cluster, broker: Broker, topic: Topic, partition: Partition) -> bool:
    """P21 MetadataConverges: no broker leads a partition of a topic that is gone from ZooKeeper."""
    premise(cluster.is_up(broker) and not cluster.zookeeper.topics[topic].exists)
    return not cluster.replica_of(broker, topic, partition).is_leader


@when_quiescent(
    symptom="overrides of a topic that is gone remain; creating it again overwrites them",
    log="none: kafka-configs.sh --describe --entity-type topics lists it",
)
def config_goes_with_topic(cluster: Cluster, topic: Topic) -> bool:
    """P17 NoStray: a topic that is gone has no configuration left."""
    znode = cluster.zookeeper.topics[topic]
    premise(znode.was_created and not znode.exists)
    return not znode.has_config


@reachable()
def runbook_is_finished(cluster: Cluster) -> bool:
    """The operator has done all tasks, and all brokers run."""
    return is_finished(cluster) and cluster.all_up


@reachable()
def topic_serves_after_the_runbook(cluster: Cluster, topic: Topic) -> bool:
    """The topic was created again, and its leader serves."""
    znode = cluster.zookeeper.topics[topic]
    return is_finished(cluster) and any(
        znode.incarnation > 0
        and znode.states[0].leader == broker
        and cluster.replica_of(broker, topic, 0).is_leader
        and cluster.replica_of(broker, topic, 0).leader_epoch == znode.states[0].leader_epoch
        for broker in BROKERS
    )
