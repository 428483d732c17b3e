"""The stories about Kafka, each with its actions and bounds; `invariants.scenarios` adds what must hold in them."""
from __future__ import annotations

from attrs import evolve

from model.kafka import (
    admin_clients,
    broker,
    controller_election,
    controller_events,
    controller_failover,
    faults,
    log_directory,
    metadata_cache,
    operator,
    partition,
    replica_manager,
    versions,
    zookeeper,
)
from model.kafka.controller_context import Liveness
from model.kafka.domains import BROKERS, TOPICS
from model.kafka.state import Cluster
from model.kafka.versions import DELETION
from model.language import Scenario

ADMIN_CLIENTS = (
    admin_clients.old_client_creates_topic,
    admin_clients.new_client_creates_topic,
    admin_clients.old_client_adds_partitions,
    admin_clients.new_client_adds_partitions,
)
CONTROLLER = (
    controller_election.reelect,
    controller_election.controller_change,
    controller_election.controller_moved,
    controller_failover.failover_reads_topics,
    controller_failover.failover_sets_topic_ids,
    controller_failover.failover_reads_states,
    controller_failover.failover_sends_requests,
    controller_events.topic_change,
    controller_events.topic_change_creates_partitions,
    controller_events.partition_modifications,
    controller_events.partition_modifications_restores_topic_id,
    controller_events.broker_startup,
    controller_events.broker_failure,
    controller_events.auto_preferred_election,
)
BROKER = (
    replica_manager.handle_leader_and_isr,
    replica_manager.handle_stop_replica,
    metadata_cache.handle_update_metadata,
    log_directory.flush_metadata,
    partition.shrink_isr,
    partition.expand_isr,
    broker.restart,
)
REPAIRS = (operator.remove_metadata_files,)
"""What operators do to a broken cluster; no part of the stories that break it."""
FAULTS = (operator.delete_controller, operator.stop, faults.crash)


def running_cluster(cluster: Cluster) -> None:
    """All brokers are up, broker 0 has been elected controller, and there is no topic."""
    cluster.zookeeper.controller = 0
    cluster.zookeeper.controller_epoch = 1
    for number in BROKERS:
        cluster.zookeeper.watches[number].controller = True
        cluster.brokers[number].controller_epoch = 1
    serve_as_controller(cluster, 0)


def serve_as_controller(cluster: Cluster, number: int) -> None:
    """The broker is the active controller under the present epoch, knows who is up, and watches everything it needs."""
    controller, watches = cluster.brokers[number].controller, cluster.zookeeper.watches[number]
    controller.epoch = cluster.zookeeper.controller_epoch
    for other in BROKERS:
        controller.liveness[other] = Liveness.CURRENT if cluster.is_up(other) else Liveness.GONE
    watches.broker_ids = watches.topics = True
    if DELETION:
        watches.delete_topics = True
    for topic in TOPICS:
        watches.topic[topic] = cluster.zookeeper.topics[topic].exists


OLD_CLIENT_EXPANSION = Scenario(
    name="old-client-expansion",
    story=(
        "A client older than 2.8 creates a topic and adds partitions through ZooKeeper, which drops the topic id; "
        "later the controller moves and mints another id; later a broker stops and leader epochs rise."
    ),
    state=Cluster,
    initial=running_cluster,
    actions=(*ADMIN_CLIENTS, *FAULTS, *CONTROLLER, *BROKER, zookeeper.deliver_notification),
    bounds={
        "brokers": 3,
        "topics": 1,
        "partitions": 2,
        "created_partitions": 1,
        "replica_orders": 0,
        "topic_ids": 3,
        "old_creations": 1,
        "new_creations": 0,
        "expansions": 1,
        "new_expansions": 0,
        "failovers": 1,
        "restarts": 1,
        "repairs": 0,
        "reassignments": 0,
        "cancellations": 0,
        "late_copies": 0,
        "replication_factor": 0,
        "records": 0,
        "incarnations": 0,
        "deletions": 0,
        "hand_removals": 0,
        "runbook_tasks": 0,
        "admins": 1,
        "old_admins": 0,
        "expirations": 0,
        "auth_failures": 0,
        "old_protocol_brokers": 0,
        "controller_epochs": 7,
        "leader_epochs": 6,
        "events": 5,
        "requests": 3,
        "notifications": 0,
    },
    flags=versions.COARSE,
    variants=versions.VARIANTS,
    source="KAFKA-14190; the reproduction in eight steps by an operator who met it",
)

OLD_CLIENT_EXPANSION_IN_DETAIL = evolve(
    OLD_CLIENT_EXPANSION,
    name="old-client-expansion-in-detail",
    story=(
        "The same with every step that the model can tell apart, with new clients as well as old ones, and with more "
        "faults: too large to exhaust, made for walks."
    ),
    bounds={
        **OLD_CLIENT_EXPANSION.bounds,
        "new_creations": 1,
        "new_expansions": 1,
        "failovers": 2,
        "restarts": 2,
        "events": 6,
        "requests": 4,
        "notifications": 5,
    },
    flags=versions.FINE,
)
