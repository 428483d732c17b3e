"""Who is controller: elections, resignations, and the two events about /controller.

Every broker's controller module watches /controller, and whoever reaches it first after a deletion wins, the old
controller included. An old controller goes on until it handles its own event, or until a fenced write of its fails.
"""
from __future__ import annotations

from model.kafka.actors import CONTROLLER
from model.kafka.controller_channels import drop_channels
from model.kafka.controller_context import EventKind, Step
from model.kafka.domains import TOPICS, Broker
from model.kafka.state import Cluster, Session
from model.kafka.versions import SESSIONS
from model.kafka.zookeeper import controller_changed
from model.language import action, require


@action(
    by=CONTROLLER,
    says="handles Reelect: becomes controller if there is none",
    source="KafkaController.processReelect, elect; KafkaZkClient.registerControllerAndIncrementControllerEpoch",
)
def reelect(cluster: Cluster, broker: Broker) -> None:
    """/controller was deleted, or the broker starts: resign if deposed, then try to be the next controller."""
    controller = cluster.brokers[broker].controller
    require(controller.is_at(EventKind.REELECT))
    controller.events.pop()
    maybe_resign(cluster, broker)
    elect(cluster, broker)


def elect(cluster: Cluster, broker: int) -> None:
    """Create /controller and raise the epoch, unless somebody is controller.

    A broker that finds itself there believes that it is active, and does not fail over (KAFKA-13461).
    """
    controller, zookeeper = cluster.brokers[broker].controller, cluster.zookeeper
    if zookeeper.controller is None and cluster.brokers[broker].session is Session.LIVE:
        zookeeper.controller = broker
        zookeeper.controller_epoch += 1
        controller.epoch = zookeeper.controller_epoch
        controller.step = Step.ELECTED
        controller_changed(cluster, EventKind.CONTROLLER_CHANGE)
    elif SESSIONS and zookeeper.controller == broker and not controller.is_active:
        controller.uninitialized = True


@action(
    by=CONTROLLER,
    says="handles ControllerChange: resigns if it was controller and is not any more",
    source="KafkaController.processControllerChange",
)
def controller_change(cluster: Cluster, broker: Broker) -> None:
    """/controller was created."""
    controller = cluster.brokers[broker].controller
    require(controller.is_at(EventKind.CONTROLLER_CHANGE))
    controller.events.pop()
    maybe_resign(cluster, broker)


@action(
    by=CONTROLLER,
    says="resigns, as a write showed that another controller was elected",
    source="KafkaController.process: case e: ControllerMovedException => maybeResign()",
)
def controller_moved(cluster: Cluster, broker: Broker) -> None:
    """The event under way was left half done."""
    require(cluster.brokers[broker].controller.step is Step.CONTROLLER_MOVED)
    maybe_resign(cluster, broker)


def maybe_resign(cluster: Cluster, broker: int) -> None:
    """Arm the watch on /controller again, read it, and resign if it names another or nobody."""
    cluster.zookeeper.watches[broker].controller = True
    if cluster.brokers[broker].controller.is_active and cluster.zookeeper.controller != broker:
        resign(cluster, broker)


def trigger_controller_move(cluster: Cluster, broker: int) -> None:
    """triggerControllerMove: a failover has met something that it cannot go on with; it resigns, deletes /controller.

    The next controller meets the same, unless somebody has mended it.
    """
    epoch = cluster.brokers[broker].controller.epoch
    resign(cluster, broker)
    if cluster.zookeeper.controller == broker and cluster.zookeeper.controller_epoch == epoch:
        cluster.zookeeper.controller = None
        controller_changed(cluster, EventKind.REELECT)


def resign(cluster: Cluster, broker: int) -> None:
    """onControllerResignation: handlers are unregistered, channels closed, the context forgotten."""
    drop_channels(cluster, broker)
    watches = cluster.zookeeper.watches[broker]
    watches.broker_ids = watches.topics = watches.delete_topics = False
    for topic in TOPICS:
        watches.topic[topic] = False
    cluster.brokers[broker].controller.forget()
