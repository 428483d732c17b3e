"""The Kafka scenarios, each with its actions and bounds; `kwalk.invariants.scenarios` adds their properties."""

from __future__ import annotations

from attrs import evolve

from kwalk.model.kafka import versions
from kwalk.model.kafka.broker import kafka_server, log_manager, metadata_cache, partition, replica_manager
from kwalk.model.kafka.clients import admin_clients, faults, operator
from kwalk.model.kafka.controller import kafka_controller
from kwalk.model.kafka.controller.controller_context import BrokerRegistration
from kwalk.model.kafka.domains import BROKERS, TOPICS
from kwalk.model.kafka.state import Cluster
from kwalk.model.kafka.versions import DELETION
from kwalk.model.kafka.zookeeper import kafka_zk_client
from kwalk.model.language import Scenario

ADMIN_CLIENTS = (
    admin_clients.old_client_creates_topic,
    admin_clients.new_client_creates_topic,
    admin_clients.old_client_adds_partitions,
    admin_clients.new_client_adds_partitions,
)
CONTROLLER = (
    kafka_controller.reelect,
    kafka_controller.controller_change,
    kafka_controller.controller_moved,
    kafka_controller.failover_reads_topics,
    kafka_controller.failover_sets_topic_ids,
    kafka_controller.failover_reads_states,
    kafka_controller.failover_sends_requests,
    kafka_controller.failover_fails,
    kafka_controller.topic_change,
    kafka_controller.topic_change_creates_partitions,
    kafka_controller.partition_modifications,
    kafka_controller.partition_modifications_restores_topic_id,
    kafka_controller.broker_startup,
    kafka_controller.broker_failure,
    kafka_controller.auto_preferred_election,
)
BROKER = (
    replica_manager.handle_leader_and_isr,
    replica_manager.handle_stop_replica,
    metadata_cache.handle_update_metadata,
    log_manager.flush_metadata,
    partition.shrink_isr,
    partition.expand_isr,
    kafka_server.restart,
)
REPAIRS = (operator.remove_metadata_files,)
"""What operators do to a broken cluster; no part of the stories that break it."""
FAULTS = (operator.delete_controller, operator.stop, operator.leave, faults.crash, faults.lose_request)


def running_cluster(cluster: Cluster) -> None:
    """All brokers are up, broker 0 is the controller, and there is no topic."""
    cluster.zookeeper.controller = 0
    cluster.zookeeper.controller_epoch = 1
    for number in BROKERS:
        cluster.zookeeper.watches[number].controller = True
        cluster.brokers[number].controller_epoch = 1
    serve_as_controller(cluster, 0)


def serve_as_controller(cluster: Cluster, number: int) -> None:
    """Make the broker the active controller of the present epoch, with all registrations and watches."""
    controller, watches = cluster.controller_of(number), cluster.zookeeper.watches[number]
    controller.epoch = cluster.zookeeper.controller_epoch
    for other in BROKERS:
        controller.registrations[other] = (
            BrokerRegistration.CURRENT if cluster.is_up(other) else BrokerRegistration.GONE
        )
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
    actions=(*ADMIN_CLIENTS, *FAULTS, *CONTROLLER, *BROKER, kafka_zk_client.deliver_notification),
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
