"""What must be possible: without these, a model in which nothing happens would pass."""
from __future__ import annotations

from model.kafka.domains import BROKERS, PARTITIONS, Topic
from model.kafka.state import Cluster, Step
from model.language import reachable


@reachable()
def expansion_is_registered(cluster: Cluster, topic: Topic) -> bool:
    """A controller knows leadership of all partitions of a topic that was expanded."""
    return cluster.expansions + cluster.new_expansions > 0 and any(
        all(cluster.brokers[broker].controller.topics[topic].leadership[p].is_known for p in PARTITIONS)
        for broker in BROKERS
    )


@reachable()
def failover_completes(cluster: Cluster) -> bool:
    """A controller other than the first serves, with a topic in its context."""
    return any(
        cluster.zookeeper.controller == broker
        and cluster.brokers[broker].controller.epoch > 1
        and cluster.brokers[broker].controller.step is Step.IDLE
        and cluster.brokers[broker].controller.topics[0].leadership[0].is_known
        for broker in BROKERS
    )


@reachable()
def replica_gets_its_file(cluster: Cluster, topic: Topic) -> bool:
    """Some replica has a partition.metadata."""
    return any(
        cluster.brokers[broker].replicas[topic][p].file_topic_id is not None for broker in BROKERS for p in PARTITIONS
    )
