"""A broker's life: what is lost when its process ends, and what it has when it starts."""
from __future__ import annotations

from model.kafka.actors import BROKER
from model.kafka.controller_election import resign
from model.kafka.domains import BROKERS, PARTITIONS, TOPICS, Broker
from model.kafka.log_directory import keep_or_delete_metadata_file, load_log, lose_memory
from model.kafka.state import Cluster, ControllerEvent, EventKind, Liveness
from model.kafka.zookeeper import broker_ids_changed, controller_changed
from model.language import action, require


def end_process(cluster: Cluster, broker: int) -> None:
    """The process and its session end: memory, requests on their way to it and all its ephemeral znodes are gone."""
    state, zookeeper = cluster.brokers[broker], cluster.zookeeper
    for topic in TOPICS:
        for partition in PARTITIONS:
            lose_memory(state.replicas[topic][partition])
    state.controller_epoch = 0
    state.requests.clear()
    resign(cluster, broker)
    zookeeper.watches[broker].controller = False
    state.controller.events.clear()
    state.controller.notifications.clear()
    end_session(cluster, broker)


def end_session(cluster: Cluster, broker: int) -> None:
    """/brokers/ids and /controller lose the broker; every context that had its registration has a stale one now."""
    zookeeper = cluster.zookeeper
    zookeeper.broker_ids = zookeeper.broker_ids - {broker}
    for other in BROKERS:
        liveness = cluster.brokers[other].controller.liveness
        if liveness[broker] is Liveness.CURRENT:
            liveness[broker] = Liveness.STALE
    broker_ids_changed(cluster)
    if zookeeper.controller == broker:
        zookeeper.controller = None
        controller_changed(cluster, EventKind.REELECT)


@action(
    by=BROKER,
    says="starts",
    source="KafkaServer.startup: LogManager.startup, registerBroker, KafkaController.startup",
)
def restart(cluster: Cluster, broker: Broker) -> None:
    """All logs are loaded, whatever topics there are by now; the broker registers, then tries to be controller."""
    require(not cluster.is_up(broker))
    for topic in TOPICS:
        for partition in PARTITIONS:
            keep_or_delete_metadata_file(cluster.brokers[broker].replicas[topic][partition], broker)
            load_log(cluster.brokers[broker].replicas[topic][partition])
    cluster.zookeeper.broker_ids = cluster.zookeeper.broker_ids | {broker}
    broker_ids_changed(cluster)
    cluster.brokers[broker].controller.events.push(ControllerEvent(EventKind.REELECT))
