"""A broker's life: what is lost when its process ends, and what it has when it starts."""
from __future__ import annotations

from model.kafka.actors import BROKER
from model.kafka.controller_context import ControllerEvent, EventKind, Liveness
from model.kafka.controller_election import resign
from model.kafka.domains import BROKERS, PARTITIONS, TOPICS, Broker
from model.kafka.log_directory import keep_or_delete_metadata_file, load_log, lose_memory
from model.kafka.metadata_cache import forget_metadata
from model.kafka.state import Cluster, Session
from model.kafka.versions import BROKER_EPOCH, SESSIONS
from model.kafka.zookeeper import broker_ids_changed, controller_changed
from model.language import action, require


def end_process(cluster: Cluster, broker: int) -> None:
    """The process and its session end: memory and all its ephemeral znodes are gone.

    So are the requests on their way to it. Before 2.2 they name no process, and reach the next one.
    """
    state, zookeeper = cluster.brokers[broker], cluster.zookeeper
    for topic in TOPICS:
        for partition in PARTITIONS:
            lose_memory(state.replicas[topic][partition])
    state.controller_epoch = 0
    forget_metadata(state)
    state.requests.forget_late()
    if BROKER_EPOCH:
        state.requests.clear()
    resign(cluster, broker)
    zookeeper.watches[broker].controller = False
    state.controller.events.clear()
    state.controller.notifications.clear()
    make_registration_stale(cluster, broker)
    remove_ephemerals(cluster, broker)
    state.session = Session.LIVE


def remove_ephemerals(cluster: Cluster, broker: int) -> None:
    """The broker's session is over for ZooKeeper: /brokers/ids and /controller lose it."""
    zookeeper = cluster.zookeeper
    if not SESSIONS or cluster.is_registered(broker):
        zookeeper.broker_ids = zookeeper.broker_ids - {broker}
        broker_ids_changed(cluster)
    if zookeeper.controller == broker:
        zookeeper.controller = None
        controller_changed(cluster, EventKind.REELECT)


def make_registration_stale(cluster: Cluster, broker: int) -> None:
    """Nobody goes by the broker's last registration any more: every context that has it has a stale one now."""
    for other in BROKERS:
        liveness = cluster.brokers[other].controller.liveness
        if liveness[broker] is Liveness.CURRENT:
            liveness[broker] = Liveness.STALE


def register(cluster: Cluster, broker: int) -> None:
    """KafkaZkClient.registerBroker: /brokers/ids has the broker, under a new broker epoch.

    From now on a running process refuses the requests that were sent to it under the old one. Before 2.2 there is only
    the id, and a context that has it is none the wiser.
    """
    cluster.zookeeper.broker_ids = cluster.zookeeper.broker_ids | {broker}
    if not BROKER_EPOCH:
        for other in BROKERS:
            liveness = cluster.brokers[other].controller.liveness
            if liveness[broker] is Liveness.STALE:
                liveness[broker] = Liveness.CURRENT
    elif SESSIONS:
        make_registration_stale(cluster, broker)
        cluster.brokers[broker].requests.clear()
    broker_ids_changed(cluster)


@action(
    by=BROKER,
    says="starts",
    source="KafkaServer.startup: LogManager.startup, registerBroker, KafkaController.startup",
)
def restart(cluster: Cluster, broker: Broker) -> None:
    """All logs are loaded, whatever topics there are by now; the broker registers, then tries to be controller."""
    require(not cluster.is_up(broker) and not cluster.runbook.keeps_down)
    for topic in TOPICS:
        for partition in PARTITIONS:
            keep_or_delete_metadata_file(cluster.brokers[broker].replicas[topic][partition], broker)
            load_log(cluster.brokers[broker].replicas[topic][partition])
    join(cluster, broker)


def join(cluster: Cluster, broker: int) -> None:
    """A process that has started registers; then its controller module handles Startup."""
    register(cluster, broker)
    cluster.brokers[broker].controller.events.push(ControllerEvent(EventKind.REELECT))
