"""KafkaServer: what is lost when a broker's process ends, and what it has when it starts.

Words: a replica is *offline* while its broker's process answers KAFKA_STORAGE_ERROR to all requests about it, which is
until the process ends. The controller learns of it from a response, and clears it when the broker is lost or starts;
the response to the LeaderAndIsr that follows a start repeats it.
"""

from __future__ import annotations

from kwalk.model.kafka.actors import BROKER, FAULT
from kwalk.model.kafka.broker.log_manager import clear_memory, keep_or_delete_metadata_file, load_log
from kwalk.model.kafka.broker.metadata_cache import clear_metadata
from kwalk.model.kafka.controller.controller_context import BrokerRegistration, ControllerEvent, EventKind
from kwalk.model.kafka.controller.kafka_controller import resign
from kwalk.model.kafka.domains import BIND_FAILURES, BROKERS, PARTITIONS, TOPICS, Broker
from kwalk.model.kafka.migration.state import BrokerMode
from kwalk.model.kafka.migration.strays import remove_strays
from kwalk.model.kafka.state import Cluster, SessionState
from kwalk.model.kafka.versions.deletion import RESIGNATION_FORGETS_OFFLINE_LOGS
from kwalk.model.kafka.versions.grain import MIGRATION, OFFLINE_LOGS, SESSIONS
from kwalk.model.kafka.versions.reassignment import RESIGNATION_CLEARS_THE_CONTEXT
from kwalk.model.kafka.versions.sessions import BROKER_EPOCH, OPENS_PORTS_LATE
from kwalk.model.kafka.zookeeper.kafka_zk_client import broker_ids_changed, controller_changed
from kwalk.model.language import Mark, action, require


def end_process(cluster: Cluster, broker: int) -> None:
    """End the process and its session: memory and ephemeral znodes are gone.

    Requests on their way are lost as well. Before 2.2 they name no process, and reach the next one.
    """
    state, zookeeper = cluster.brokers[broker], cluster.zookeeper
    for topic in TOPICS:
        for partition in PARTITIONS:
            clear_memory(state.replicas[topic][partition])
    state.controller_epoch = 0
    state.is_stopping = False
    state.has_no_listener = False
    clear_metadata(state)
    state.requests.clear_late()
    if BROKER_EPOCH:
        state.requests.clear()
    resign(cluster, broker)
    state.controller.has_unsent_batch = state.controller.is_registering = False
    for context in state.controller.topics:
        if not RESIGNATION_CLEARS_THE_CONTEXT:
            context.clear()
        if not RESIGNATION_FORGETS_OFFLINE_LOGS:
            context.forget_offline(frozenset(BROKERS))
    zookeeper.watches[broker].controller = False
    state.controller.events.clear()
    state.controller.notifications.clear()
    make_registration_stale(cluster, broker)
    remove_ephemerals(cluster, broker)
    state.session = SessionState.LIVE
    state.gave_up = state.has_unknown_znode = state.lacks_client = False
    if MIGRATION and broker in cluster.migration.live:
        cluster.migration.ended = cluster.migration.ended | {broker}


def remove_ephemerals(cluster: Cluster, broker: int) -> None:
    """Remove the broker from /brokers/ids and /controller, as its session has ended."""
    zookeeper = cluster.zookeeper
    if not SESSIONS or cluster.is_registered(broker):
        zookeeper.broker_ids = zookeeper.broker_ids - {broker}
        broker_ids_changed(cluster)
    if zookeeper.controller == broker:
        zookeeper.controller = None
        controller_changed(cluster, EventKind.REELECT)


def make_registration_stale(cluster: Cluster, broker: int) -> None:
    """Make the broker's registration stale in every context that has it."""
    for other in BROKERS:
        registrations = cluster.controller_of(other).registrations
        if registrations[broker] is BrokerRegistration.CURRENT:
            registrations[broker] = BrokerRegistration.STALE


def register(cluster: Cluster, broker: int) -> None:
    """Add the broker to /brokers/ids under a new broker epoch (Kafka: KafkaZkClient.registerBroker).

    From now on a running process refuses requests that were sent under the previous epoch. Before 2.2 there is only the
    id, and a context that has it does not notice.
    """
    cluster.zookeeper.broker_ids = cluster.zookeeper.broker_ids | {broker}
    if not BROKER_EPOCH:
        for other in BROKERS:
            registrations = cluster.controller_of(other).registrations
            if registrations[broker] is BrokerRegistration.STALE:
                registrations[broker] = BrokerRegistration.CURRENT
    elif SESSIONS:
        make_registration_stale(cluster, broker)
        cluster.brokers[broker].requests.clear()
    broker_ids_changed(cluster)


@action(
    by=BROKER,
    group="broker",
    description="starts",
    source="KafkaServer.startup: LogManager.startup, registerBroker, KafkaController.startup",
    mark=Mark.START,
)
def restart(cluster: Cluster, broker: Broker) -> None:
    """All logs are loaded, also those of topics that are gone; the broker registers and tries to become controller."""
    require(not cluster.is_up(broker) and not cluster.runbook.keeps_down)
    for topic in TOPICS:
        for partition in PARTITIONS:
            keep_or_delete_metadata_file(cluster.replica_of(broker, topic, partition), broker)
            load_log(cluster.replica_of(broker, topic, partition))
    if MIGRATION and cluster.brokers[broker].mode is BrokerMode.KRAFT:
        remove_strays(cluster, broker)
    join(cluster, broker)


@action(
    by=FAULT,
    description="broker {broker} starts, and its port is taken",
    source="SocketServer.enableRequestProcessing; Acceptor.start: openServerSocket",
    mark=Mark.START,
)
def start_without_listener(cluster: Cluster, broker: Broker) -> None:
    """The process ends; from 3.5.0 to KAFKA-16369, as ports open later, it registers, and accepts no connection."""
    require(cluster.bind_failures < BIND_FAILURES and not cluster.is_up(broker))
    if OPENS_PORTS_LATE:
        restart(cluster, broker)
        cluster.brokers[broker].has_no_listener = True
    cluster.bind_failures += 1


def join(cluster: Cluster, broker: int) -> None:
    """Register a process that has started; its controller module then handles Startup.

    Kafka: KafkaController.startup.
    """
    register(cluster, broker)
    cluster.controller_of(broker).events.push(ControllerEvent(EventKind.REELECT))


@action(
    by=FAULT,
    group="deletion",
    description="broker {broker} starts, and the disk with its logs has failed",
    source="LogManager: offlineLogDirs; Partition.createLogIfNotExists: KafkaStorageException; markPartitionOffline",
    mark=Mark.START,
)
def start_with_offline_logs(cluster: Cluster, broker: Broker) -> None:
    """What is on the failed disk is back at a later start. New logs are created on a working disk.

    Kafka notices at the first LeaderAndIsr; a StopReplica that comes before is answered as if the broker had no log.
    """
    require(OFFLINE_LOGS and not cluster.is_up(broker) and not cluster.runbook.keeps_down)
    replicas = cluster.brokers[broker].replicas
    require(any(replicas[topic][partition].on_disk for topic in TOPICS for partition in PARTITIONS))
    for topic in TOPICS:
        for partition in PARTITIONS:
            replicas[topic][partition].offline = replicas[topic][partition].on_disk
    join(cluster, broker)
