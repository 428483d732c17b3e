"""Stories about healthy clusters: new clients only, no manual edits in ZooKeeper, and few faults at a time.

Each adds one more load while the controller moves and brokers stop, crash and start. A property that does not hold here
shows a defect of Kafka, or of this model.
"""

from __future__ import annotations

from attrs import evolve

from kwalk.model.kafka.clients import admin_clients, faults, operator
from kwalk.model.kafka.domains import BROKERS, Broker
from kwalk.model.kafka.scenarios import BROKER, CONTROLLER, FAULTS, OLD_CLIENT_EXPANSION, serve_as_controller
from kwalk.model.kafka.state import Cluster
from kwalk.model.kafka.stories.deletion import DELETION
from kwalk.model.kafka.stories.reassignment import REASSIGNMENT_ACTIONS
from kwalk.model.kafka.stories.records import RECORDS
from kwalk.model.kafka.stories.sessions import SESSIONS

NEW_CLIENTS = (admin_clients.new_client_creates_topic, admin_clients.new_client_adds_partitions)

RESIGNATIONS = {**OLD_CLIENT_EXPANSION.flags, "lost_requests": True}
"""What a controller leaves behind: the request in flight to a broker may be lost."""


def cluster_with_any_controller(cluster: Cluster, controller: Broker) -> None:
    """All brokers are up, any of them is the controller, and there is no topic."""
    cluster.zookeeper.controller = controller
    cluster.zookeeper.controller_epoch = 1
    for number in BROKERS:
        cluster.zookeeper.watches[number].controller = True
        cluster.brokers[number].controller_epoch = 1
    serve_as_controller(cluster, controller)


HEALTHY_CLUSTER = evolve(
    OLD_CLIENT_EXPANSION,
    name="healthy-cluster",
    story=(
        "A new client creates a topic and adds partitions while the controller moves, a broker stops or crashes and "
        "starts again, the ISR shrinks and expands, and leaders move back to preferred replicas."
    ),
    actions=(*NEW_CLIENTS, *FAULTS, *CONTROLLER, *BROKER, faults.overtake_older, faults.overtake_newer),
    bounds={
        **OLD_CLIENT_EXPANSION.bounds,
        "brokers": 2,
        "topic_ids": 2,
        "old_creations": 0,
        "new_creations": 1,
        "expansions": 0,
        "new_expansions": 1,
        "failovers": 1,
        "restarts": 1,
        "leader_epochs": 9,
        "requests": 6,
    },
    flags={**RESIGNATIONS, "isr_changes": "any time", "preferred_election": True},
    source="what every release is meant to do",
)

HEALTHY_SESSIONS = evolve(
    HEALTHY_CLUSTER,
    name="healthy-sessions",
    story=(
        "The same with a ZooKeeper session that expires under a running broker and a client that fails to "
        "authenticate, so that controllers are deposed and do not notice."
    ),
    actions=(*HEALTHY_CLUSTER.actions, *SESSIONS),
    bounds={**HEALTHY_CLUSTER.bounds, "restarts": 0, "expirations": 1, "auth_failures": 1},
    flags={**RESIGNATIONS, "isr_changes": "any time", "sessions": True},
    source="KAFKA-6082, KAFKA-13461",
)

HEALTHY_RECORDS = evolve(
    HEALTHY_CLUSTER,
    name="healthy-records",
    story="Producers write with acks=all while the controller moves and a broker stops or crashes and starts again.",
    actions=(*HEALTHY_CLUSTER.actions, *RECORDS),
    bounds={**HEALTHY_CLUSTER.bounds, "partitions": 1, "new_expansions": 0, "records": 1},
    flags={**RESIGNATIONS, "isr_changes": "any time"},
    source="KIP-101, KIP-279",
)

HEALTHY_METADATA = evolve(
    HEALTHY_CLUSTER,
    name="healthy-metadata",
    story=(
        "Brokers answer Metadata requests from what UpdateMetadata has brought, while the controller moves and a "
        "broker stops or crashes and starts again."
    ),
    bounds={**HEALTHY_CLUSTER.bounds, "partitions": 1, "new_expansions": 0, "requests": 12},
    flags={**RESIGNATIONS, "metadata_caches": True, "stop_replica": True},
    source="ControllerBrokerRequestBatch.sendUpdateMetadataRequests; ZkMetadataCache",
)

HEALTHY_DELETION = evolve(
    HEALTHY_CLUSTER,
    name="healthy-deletion",
    story="A client deletes a topic while the controller moves and a broker stops or crashes and starts again.",
    actions=(*HEALTHY_CLUSTER.actions, *DELETION),
    bounds={
        **HEALTHY_CLUSTER.bounds,
        "partitions": 1,
        "new_expansions": 0,
        "deletions": 1,
        "requests": 9,
        "events": 7,
        "leader_epochs": 12,
    },
    flags={**RESIGNATIONS, "deletion": True, "stop_replica": True},
    source="TopicDeletionManager",
)

HEALTHY_REASSIGNMENT = evolve(
    HEALTHY_CLUSTER,
    name="healthy-reassignment",
    story="A client moves a replica of a partition to another broker while a broker stops or crashes and starts again.",
    actions=(*HEALTHY_CLUSTER.actions, *REASSIGNMENT_ACTIONS),
    bounds={
        **HEALTHY_CLUSTER.bounds,
        "brokers": 3,
        "partitions": 1,
        "new_expansions": 0,
        "failovers": 0,
        "replication_factor": 2,
        "reassignments": 1,
    },
    flags={
        **RESIGNATIONS,
        "isr_changes": "between requests",
        "reassignment": True,
        "stop_replica": True,
    },
    source="KIP-455",
)

ROLLING_RESTART = evolve(
    HEALTHY_CLUSTER,
    name="rolling-restart",
    story=(
        "An operator stops and starts every broker, one at a time and in turn, by controlled shutdown; the controller "
        "moves when its broker is stopped, and perhaps again. Meanwhile a client creates a topic."
    ),
    initial=cluster_with_any_controller,
    actions=(
        *(action for action in HEALTHY_CLUSTER.actions if action not in FAULTS),
        faults.lose_request,
        operator.stop_in_turn,
    ),
    bounds={
        **HEALTHY_CLUSTER.bounds,
        "brokers": 3,
        "partitions": 1,
        "new_expansions": 0,
        "failovers": 0,
        "restarts": 3,
        "leader_epochs": 12,
    },
    flags={**RESIGNATIONS, "isr_changes": "between requests"},
    source="KafkaServer.controlledShutdown; KafkaController.processControlledShutdown",
)

CONTROLLED_SHUTDOWN = evolve(
    HEALTHY_CLUSTER,
    name="controlled-shutdown",
    story=(
        "A broker is shut down: the controller moves its leaders, and until it stops the broker handles requests; a "
        "new client creates a topic before, meanwhile or afterwards."
    ),
    bounds={**HEALTHY_CLUSTER.bounds, "partitions": 1, "new_expansions": 0, "failovers": 0},
    flags={**RESIGNATIONS, "isr_changes": "between requests", "stepwise_shutdown": True},
    source="KafkaController.doControlledShutdown; ControllerContext.shuttingDownBrokerIds",
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
