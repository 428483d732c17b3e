"""Elections of preferred leaders that a client requests in /admin/preferred_replica_election.

The znode names partitions. Its creation is an event of the controller, and a controller that fails over reads it, too.
Both compare each partition's leader in the context with its first replica. A partition that never had a leader has none
in the context: up to 3.9 that is an exception. The event then ends, and the znode stays; a failover fails.

Left out: ElectLeaders requests, which end with the same exception and leave nothing behind; requests where topics are
deleted or replicas are reassigned.
"""

from __future__ import annotations

from kwalk.model.kafka.actors import CONTROLLER
from kwalk.model.kafka.controller.controller_channel_manager import send_leader_and_isr
from kwalk.model.kafka.controller.controller_context import ControllerEvent, EventKind, EventProgress
from kwalk.model.kafka.controller.partition_state_machine import elect_preferred, first_of, replicas_of
from kwalk.model.kafka.domains import PARTITIONS, TOPICS, Broker
from kwalk.model.kafka.state import Cluster
from kwalk.model.kafka.versions.reassignment import SKIPS_PARTITIONS_WITHOUT_LEADERSHIP
from kwalk.model.kafka.zookeeper.kafka_zk_client import check_controller_epoch, remove_preferred_elections
from kwalk.model.language import action, require


@action(
    by=CONTROLLER,
    description="handles ReplicaLeaderElection: holds the elections that are requested in ZooKeeper",
    source="KafkaController.processReplicaLeaderElection, onReplicaElection",
)
def replica_leader_election(cluster: Cluster, broker: Broker) -> None:
    """Whether the znode exists is asked with a watch. Partitions that the context lacks are skipped."""
    controller, zookeeper = cluster.controller_of(broker), cluster.zookeeper
    require(controller.is_at(EventKind.REPLICA_LEADER_ELECTION))
    controller.events.pop()
    if not controller.is_active:
        return
    zookeeper.watches[broker].preferred_elections = True
    if zookeeper.has_preferred_elections and not lacks_leadership(cluster, broker):
        hold_preferred_elections(cluster, broker)


def resume_preferred_elections(cluster: Cluster, broker: int) -> None:
    """Hold the requested elections at the end of a failover, which fails without the leadership of a partition.

    Kafka: KafkaController.fetchPendingPreferredReplicaElections, onReplicaElection.
    """
    if lacks_leadership(cluster, broker):
        cluster.controller_of(broker).step = EventProgress.FAILOVER_FAILED
    else:
        hold_preferred_elections(cluster, broker)


def lacks_leadership(cluster: Cluster, broker: int) -> bool:
    """Whether the controller looks for the leader of a requested partition that the context has without one.

    Kafka: ControllerContext.partitionLeadershipInfo: NoSuchElementException, of a map up to 2.6, of None later.
    """
    topics = cluster.controller_of(broker).topics
    return not SKIPS_PARTITIONS_WITHOUT_LEADERSHIP and any(
        partition in cluster.zookeeper.preferred_elections[topic]
        and partition < topics[topic].partition_count
        and not topics[topic].leadership[partition].is_known
        for topic in TOPICS
        for partition in PARTITIONS
    )


def hold_preferred_elections(cluster: Cluster, broker: int) -> None:
    """Elect preferred replicas, delete the znode, and look again for one, which arms the watch.

    Kafka: KafkaController.onReplicaElection, removePartitionsFromPreferredReplicaElection.
    """
    controller = cluster.controller_of(broker)
    for topic in TOPICS:
        changed: frozenset[int] = frozenset()
        for partition in PARTITIONS:
            is_requested = partition in cluster.zookeeper.preferred_elections[topic]
            if is_requested and has_another_leader(cluster, broker, topic, partition):
                is_led = elect_preferred(cluster, broker, topic, partition)
                if is_led:
                    changed = changed | {partition}
        send_leader_and_isr(cluster, broker, topic, changed, to=controller.live_or_shutting_down)
    check_controller_epoch(cluster, broker)
    remove_preferred_elections(cluster)
    controller.events.push(ControllerEvent(EventKind.REPLICA_LEADER_ELECTION))


def has_another_leader(cluster: Cluster, broker: int, topic: int, partition: int) -> bool:
    """Whether the context has a partition's leadership, and the leader is not the first replica."""
    context, replicas = cluster.controller_of(broker).topics[topic], replicas_of(cluster, broker, topic, partition)
    leadership = context.leadership[partition]
    return leadership.is_known and leadership.leader != first_of(cluster, broker, topic, partition, replicas)
