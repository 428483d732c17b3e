"""Stories about healthy clusters: new clients only, no manual edits in ZooKeeper, and few faults at a time.

Each adds one more load while the controller moves and brokers stop, crash and start. A property that does not hold here
shows a defect of Kafka, or of this model.
"""

from __future__ import annotations

from kwalk.invariants import controllers, deletion, partitions, records, recovery, sessions, witnesses
from kwalk.invariants.stories.deletion import REQUESTED_DELETION
from kwalk.invariants.stories.expansion import WITNESSES
from kwalk.invariants.stories.records import RECORDS
from kwalk.invariants.stories.sessions import SESSIONS, WATCHES
from kwalk.model.kafka import actions
from kwalk.model.kafka.base import RUNNING_CLUSTER
from kwalk.model.kafka.broker import kafka_server, metadata_cache, replica_manager
from kwalk.model.kafka.clients import admin_clients, faults, operator
from kwalk.model.kafka.controller import kafka_controller
from kwalk.model.kafka.domains import BROKERS, Broker
from kwalk.model.kafka.initial_states import cluster_with_topic, serve_as_controller
from kwalk.model.kafka.state import Cluster
from kwalk.model.language import Property

HEALTH = (
    *SESSIONS,
    sessions.controller_lives,
    sessions.one_active_controller,
    sessions.resigned_controller_has_no_context,
    sessions.ready_controller_has_live_brokers,
    sessions.ready_controller_replaces_leaders,
    sessions.ready_controller_takes_lost_brokers_out,
    partitions.leader_has_a_log,
)
AFTER_FAULTS = (
    recovery.partition_is_eventually_served,
    recovery.failover_eventually_ends,
    recovery.events_are_eventually_handled,
)
NEW_CLIENTS = (admin_clients.new_client_creates_topic, admin_clients.new_client_adds_partitions)


def healthy(*others: Property) -> tuple[Property, ...]:
    """Return what must hold in a healthy cluster, and others, each once."""
    return tuple(dict.fromkeys((*HEALTH, *others)))


def cluster_with_any_controller(cluster: Cluster, controller: Broker) -> None:
    """All brokers are up, any of them is the controller, and there is no topic."""
    cluster.zookeeper.controller = controller
    cluster.zookeeper.controller_epoch = 1
    for number in BROKERS:
        cluster.zookeeper.watches[number].controller = True
        cluster.brokers[number].controller_epoch = 1
    serve_as_controller(cluster, controller)


HEALTHY_CLUSTER = RUNNING_CLUSTER.varied(
    name="healthy-cluster",
    story=(
        "A new client creates a topic and adds partitions while the controller moves, a broker stops or crashes and "
        "starts again, the ISR shrinks and expands, and leaders move back to preferred replicas."
    ),
    actions=(
        *NEW_CLIENTS,
        *actions.FAULTS,
        *actions.CONTROLLER,
        *actions.BROKER,
        faults.overtake_older,
        faults.overtake_newer,
    ),
    properties=healthy(
        *AFTER_FAULTS,
        deletion.partition_gets_a_leader,
        partitions.preferred_replica_leads,
        *WATCHES,
        *WITNESSES,
        witnesses.leader_epoch_rises,
    ),
    bounds={
        "brokers": 2,
        "topic_ids": 2,
        "new_creations": 1,
        "new_expansions": 1,
        "failovers": 1,
        "restarts": 1,
        "leader_epochs": 9,
        "requests": 6,
    },
    flags={"lost_requests": True, "isr_changes": "any time", "preferred_election": True},
    source="what every release is meant to do",
)

BROKER_WITHOUT_A_LISTENER = RUNNING_CLUSTER.varied(
    name="broker-without-a-listener",
    story="A broker crashes, and starts while another process has its port; a client creates a topic.",
    actions=(
        admin_clients.new_client_creates_topic,
        faults.crash,
        kafka_server.start_without_listener,
        *actions.CONTROLLER,
        *(one for one in actions.BROKER if one is not kafka_server.restart),
    ),
    properties=(partitions.partition_servable, witnesses.failover_completes),
    bounds={"brokers": 2, "partitions": 1, "topic_ids": 2, "new_creations": 1, "restarts": 1, "bind_failures": 1},
    source="SocketServer.enableRequestProcessing, KafkaServer.startup; KAFKA-16369",
)

HEALTHY_SESSIONS = HEALTHY_CLUSTER.varied(
    name="healthy-sessions",
    story=(
        "The same with a ZooKeeper session that expires under a running broker and a client that fails to "
        "authenticate, so that controllers are deposed and do not notice."
    ),
    actions=(*HEALTHY_CLUSTER.actions, *actions.SESSIONS),
    properties=healthy(
        *AFTER_FAULTS, *WATCHES, sessions.deposed_controller_is_unaware, sessions.broker_registers_again
    ),
    bounds={"restarts": 0, "expirations": 1, "auth_failures": 1},
    flags={"preferred_election": False, "sessions": True},
    source="KAFKA-6082, KAFKA-13461",
)

SMALL_CLUSTER = HEALTHY_CLUSTER.varied(
    bounds={"partitions": 1, "new_expansions": 0}, flags={"preferred_election": False}
)
"""The same with one partition, whose leader does not move back: what the others add a load to."""

HEALTHY_RECORDS = SMALL_CLUSTER.varied(
    name="healthy-records",
    story="Producers write with acks=all while the controller moves and a broker stops or crashes and starts again.",
    actions=(*SMALL_CLUSTER.actions, *actions.RECORDS),
    properties=healthy(*RECORDS, records.open_log_has_the_id_of_its_file, records.followers_catch_up),
    bounds={"records": 1},
    source="KIP-101, KIP-279",
)

HEALTHY_METADATA = SMALL_CLUSTER.varied(
    name="healthy-metadata",
    story=(
        "Brokers answer Metadata requests from what UpdateMetadata has brought, while the controller moves and a "
        "broker stops or crashes and starts again."
    ),
    properties=healthy(partitions.metadata_converges, witnesses.failover_completes),
    bounds={"requests": 12},
    flags={"isr_changes": "never", "metadata_caches": True, "stop_replica": True},
    source="ControllerBrokerRequestBatch.sendUpdateMetadataRequests; ZkMetadataCache",
)

LIVE_BROKERS_IN_METADATA = HEALTHY_METADATA.varied(
    name="live-brokers-in-metadata",
    story=(
        "Controllers send brokers which brokers are live, and a broker follows no leader that it has not heard of; the "
        "controller moves, and a broker crashes and starts again."
    ),
    initial=cluster_with_topic,
    actions=(faults.crash, operator.delete_controller, *actions.CONTROLLER, *actions.BROKER),
    properties=(
        partitions.metadata_has_the_live_brokers,
        partitions.metadata_converges,
        partitions.replicas_converge,
        partitions.partition_servable,
        witnesses.failover_completes,
    ),
    bounds={"new_creations": 0, "replication_factor": 2},
    flags={"live_broker_caches": True, "reassignment": True, "lost_requests": False},
    source="ReplicaManager.makeFollowers; KafkaController.onReplicasBecomeOffline; KAFKA-4443, KAFKA-13225",
)

BROKERS_LOST_IN_SUCCESSION = LIVE_BROKERS_IN_METADATA.varied(
    name="brokers-lost-in-succession",
    story=(
        "Two of three brokers crash one after the other, of which one may have the only replica of a partition; the "
        "controller tells the others."
    ),
    actions=(
        faults.crash,
        kafka_controller.broker_failure,
        replica_manager.handle_leader_and_isr,
        metadata_cache.handle_update_metadata,
    ),
    properties=(
        partitions.metadata_has_the_live_brokers,
        partitions.metadata_converges,
        sessions.ready_controller_has_live_brokers,
    ),
    bounds={"brokers": 3, "replication_factor": 1, "replica_orders": 2, "failovers": 0, "restarts": 2},
    source="KafkaController.onReplicasBecomeOffline; KAFKA-13225",
)

HEALTHY_DELETION = SMALL_CLUSTER.varied(
    name="healthy-deletion",
    story="A client deletes a topic while the controller moves and a broker stops or crashes and starts again.",
    actions=(*SMALL_CLUSTER.actions, *actions.DELETION),
    properties=healthy(*REQUESTED_DELETION),
    bounds={"deletions": 1, "requests": 9, "events": 7, "leader_epochs": 12},
    flags={"isr_changes": "never", "deletion": True, "stop_replica": True},
    source="TopicDeletionManager",
)

HEALTHY_REASSIGNMENT = SMALL_CLUSTER.varied(
    name="healthy-reassignment",
    story="A client moves a replica of a partition to another broker while a broker stops or crashes and starts again.",
    actions=(*SMALL_CLUSTER.actions, *actions.REASSIGNMENT),
    properties=healthy(deletion.no_stray, deletion.deleted_logs_were_unused, witnesses.replica_is_moved),
    bounds={"brokers": 3, "failovers": 0, "replication_factor": 2, "reassignments": 1},
    flags={"isr_changes": "between requests", "reassignment": True, "stop_replica": True},
    source="KIP-455",
)

ROLLING_RESTART = SMALL_CLUSTER.varied(
    name="rolling-restart",
    story=(
        "An operator stops and starts every broker, one at a time and in turn, by controlled shutdown; the controller "
        "moves when its broker is stopped, and perhaps again. Meanwhile a client creates a topic."
    ),
    initial=cluster_with_any_controller,
    actions=(
        *(action for action in SMALL_CLUSTER.actions if action not in actions.FAULTS),
        faults.lose_request,
        operator.stop_in_turn,
    ),
    properties=healthy(
        controllers.stopped_broker_hands_over,
        controllers.new_leader_is_sent_leader_and_isr,
        deletion.partition_gets_a_leader,
        witnesses.failover_completes,
    ),
    bounds={"brokers": 3, "failovers": 0, "restarts": 3, "leader_epochs": 12},
    flags={"isr_changes": "between requests"},
    source="KafkaServer.controlledShutdown; KafkaController.processControlledShutdown",
)

CONTROLLED_SHUTDOWN = SMALL_CLUSTER.varied(
    name="controlled-shutdown",
    story=(
        "A broker is shut down: the controller moves its leaders, and until it stops the broker handles requests; a "
        "new client creates a topic before, meanwhile or afterwards."
    ),
    properties=healthy(
        *AFTER_FAULTS,
        deletion.partition_gets_a_leader,
        controllers.replaced_leader_is_sent_leader_and_isr,
        *WITNESSES[1:],
        witnesses.leader_epoch_rises,
    ),
    bounds={"failovers": 0},
    flags={"isr_changes": "between requests", "stepwise_shutdown": True},
    source="KafkaController.doControlledShutdown; ControllerContext.shuttingDownBrokerIds",
)

LEADERS_SHUT_DOWN_IN_SUCCESSION = CONTROLLED_SHUTDOWN.varied(
    name="leaders-shut-down-in-succession",
    story="Two of three brokers are shut down one after the other, and the controller moves their leaders.",
    initial=cluster_with_topic,
    actions=(
        operator.stop,
        operator.leave,
        kafka_controller.broker_failure,
        replica_manager.handle_leader_and_isr,
    ),
    properties=(
        controllers.next_leader_is_the_first_replica,
        controllers.replaced_leader_is_sent_leader_and_isr,
        controllers.new_leader_is_sent_leader_and_isr,
    ),
    bounds={"brokers": 3, "new_creations": 0, "restarts": 2},
    flags={"isr_changes": "never"},
    source="ControlledShutdownLeaderSelector; KAFKA-3670",
)

HEALTHY = (
    HEALTHY_CLUSTER,
    HEALTHY_SESSIONS,
    HEALTHY_RECORDS,
    HEALTHY_METADATA,
    HEALTHY_DELETION,
    HEALTHY_REASSIGNMENT,
    ROLLING_RESTART,
    CONTROLLED_SHUTDOWN,
)
