"""Properties that hold eventually, once faults end: partitions are served; deletions, failovers and events complete.

They are about infinite behaviours, and behaviours that stop; `when_quiescent` properties cover only the latter. Faults,
clients and operators may act or not; each story limits how often faults happen.
"""

from __future__ import annotations

from kwalk.invariants.partitions import is_served
from kwalk.model.kafka.controller.controller_context import EventProgress
from kwalk.model.kafka.domains import BROKERS, Broker, Partition, Topic
from kwalk.model.kafka.state import Cluster
from kwalk.model.language import eventually, premise


@eventually(
    symptom="a partition has no serving leader, and no restart or failover is under way",
    log="none: clients retry Metadata requests (LEADER_NOT_AVAILABLE, NOT_LEADER_OR_FOLLOWER)",
)
def partition_is_eventually_served(cluster: Cluster, topic: Topic, partition: Partition) -> bool:
    """A partition with a live ISR member is eventually served, or loses the member or its state znode."""
    state = cluster.zookeeper.state_of(topic, partition)
    can_be_served = state.exists and bool(state.isr & cluster.zookeeper.broker_ids)
    premise(can_be_served)
    return not can_be_served or is_served(cluster, topic, partition)


@eventually(
    symptom="the topic stays marked for deletion permanently, and cannot be used",
    log="Halted deletion of topics … due to offline replicas",
)
def deletion_eventually_ends(cluster: Cluster, topic: Topic) -> bool:
    """A requested deletion eventually ends, unless a broker is down, for which it has to wait."""
    premise(topic in cluster.zookeeper.delete_topics)
    return topic not in cluster.zookeeper.delete_topics or not cluster.all_up


@eventually(
    symptom="changes have no effect: dead brokers stay leaders, new topics get no leader",
    log="none: the controller's failover was never completed",
)
def failover_eventually_ends(cluster: Cluster) -> bool:
    """While a broker lives, eventually some live broker is the controller and has completed its failover."""
    premise(any(cluster.is_up(broker) for broker in BROKERS))
    return not any(cluster.is_up(broker) for broker in BROKERS) or any(
        cluster.zookeeper.controller == broker
        and cluster.is_up(broker)
        and cluster.controller_of(broker).is_active
        and cluster.controller_of(broker).step is EventProgress.IDLE
        for broker in BROKERS
    )


@eventually(
    symptom="changes after some event have no effect: topics get no leader, lost brokers stay unnoticed",
    log="none: the queue grows (kafka.controller:type=ControllerEventManager,name=EventQueueTimeMs)",
)
def events_are_eventually_handled(cluster: Cluster, broker: Broker) -> bool:
    """A controller's event queue is eventually empty, with its last event handled."""
    controller = cluster.controller_of(broker)
    premise(not controller.events.is_empty)
    return controller.events.is_empty and controller.step is EventProgress.IDLE
