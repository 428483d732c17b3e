"""What must come eventually, once faults are over: partitions are served; deletions, failovers and events are done.

These are about behaviours that never end, where the system acts for ever or not at all; `when_quiet` invariants see
only the latter. Faults, clients and operators may act or not; each story limits how often faults happen.
"""
from __future__ import annotations

from invariants.partitions import is_served
from model.kafka.controller_context import Step
from model.kafka.domains import BROKERS, Broker, Partition, Topic
from model.kafka.state import Cluster
from model.language import eventually, premise


@eventually(
    symptom="a partition is without a leader that serves, and no restart or failover is under way",
    log="none: clients go on asking for metadata (LEADER_NOT_AVAILABLE, NOT_LEADER_OR_FOLLOWER)",
)
def partition_comes_to_be_served(cluster: Cluster, topic: Topic, partition: Partition) -> bool:
    """A partition with a live ISR member comes to have a leader that serves, or loses the member or its state again."""
    state = cluster.zookeeper.topics[topic].states[partition]
    can_be_served = state.exists and bool(state.isr & cluster.zookeeper.broker_ids)
    premise(can_be_served)
    return not can_be_served or is_served(cluster, topic, partition)


@eventually(
    symptom="the topic stays marked for deletion for ever, and cannot be used",
    log="Halted deletion of topics … due to offline replicas",
)
def deletion_comes_to_an_end(cluster: Cluster, topic: Topic) -> bool:
    """A deletion that was asked for is done, or a broker is down, which it has to wait for."""
    premise(topic in cluster.zookeeper.delete_topics)
    return topic not in cluster.zookeeper.delete_topics or not all(cluster.is_up(broker) for broker in BROKERS)


@eventually(
    symptom="nobody acts on what happens: leaders of dead brokers stay, new topics get no leader",
    log="none: the controller's failover was never completed",
)
def failover_comes_to_an_end(cluster: Cluster) -> bool:
    """While a broker lives, some live broker comes to be the controller, and has taken over."""
    premise(any(cluster.is_up(broker) for broker in BROKERS))
    return not any(cluster.is_up(broker) for broker in BROKERS) or any(
        cluster.zookeeper.controller == broker
        and cluster.is_up(broker)
        and cluster.brokers[broker].controller.is_active
        and cluster.brokers[broker].controller.step is Step.IDLE
        for broker in BROKERS
    )


@eventually(
    symptom="what happens after some event has no effect: topics get no leader, brokers are not missed",
    log="none: the queue grows (kafka.controller:type=ControllerEventManager,name=EventQueueTimeMs)",
)
def events_come_to_be_handled(cluster: Cluster, broker: Broker) -> bool:
    """A controller's queue of events comes to be empty, with the last of them done."""
    controller = cluster.brokers[broker].controller
    premise(not controller.events.is_empty)
    return controller.events.is_empty and controller.step is Step.IDLE
