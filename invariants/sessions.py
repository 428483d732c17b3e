"""What must hold of sessions, fencing and watches (P5 to P7, P19): one controller that works, and misses nothing."""
from __future__ import annotations

from model.kafka.controller_context import ControllerEvent, EventKind, Step
from model.kafka.domains import BROKERS, TOPICS, Broker, Partition, Topic
from model.kafka.state import Cluster, Session
from model.kafka.versions import DELETION
from model.language import always, premise, reachable, step, when_quiet


@always(
    symptom="two controllers change partitions at the same time: split brain",
    log="Ignoring LeaderAndIsr request from controller … since its controller epoch … is old",
)
def one_effective_controller(cluster: Cluster) -> bool:
    """P5 OneEffectiveController: no two controllers have the same epoch, and none that was deposed ever wrote."""
    return not cluster.deposed_write and all(
        cluster.brokers[a].controller.epoch == 0
        or cluster.brokers[a].controller.epoch != cluster.brokers[b].controller.epoch
        for a in BROKERS
        for b in BROKERS
        if a < b
    )


@when_quiet(
    symptom="ActiveControllerCount is 1, but topics are not created and leaders not elected (KAFKA-13461)",
    log="[Controller id=…] Broker … has been elected as the controller, so stopping the election process.",
)
def controller_serves(cluster: Cluster, broker: Broker) -> bool:
    """P6 ControllerServes: the broker that /controller names has failed over under the present epoch and watches."""
    premise(cluster.zookeeper.controller == broker)
    controller, watches = cluster.brokers[broker].controller, cluster.zookeeper.watches[broker]
    return controller.epoch == cluster.zookeeper.controller_epoch and watches.broker_ids and watches.topics


@step(
    symptom="a replica follows a leader that was deposed: what it had is truncated",
    log="[Log partition=…, dir=…] Truncating to offset … (3.9: UnifiedLog)",
)
def replica_leader_epoch_monotone(
    before: Cluster, after: Cluster, broker: Broker, topic: Topic, partition: Partition
) -> bool:
    """P7 EpochMonotone: the leader epoch of a replica never falls while its process hosts it."""
    old = before.brokers[broker].replicas[topic][partition].leader_epoch
    new = after.brokers[broker].replicas[topic][partition].leader_epoch
    premise(old is not None and new is not None and after.is_up(broker))
    return old <= new


def is_pending(cluster: Cluster, broker: int, event: ControllerEvent) -> bool:
    """Whether a watch has fired, and its event is not handled yet."""
    controller = cluster.brokers[broker].controller
    return event in controller.events or event in controller.notifications


def is_ready(cluster: Cluster, broker: int) -> bool:
    """Whether the broker is the controller, knows of no successor, is between two events, and its session lives."""
    controller = cluster.brokers[broker].controller
    serves = cluster.zookeeper.controller == broker and controller.epoch == cluster.zookeeper.controller_epoch
    return serves and controller.step is Step.IDLE and cluster.brokers[broker].session is Session.LIVE


@always(
    symptom="a broker's failure or start, or a new topic, goes unnoticed until the next failover",
    log="none: the controller logs nothing of a change that it is not told of",
)
def watch_covered(cluster: Cluster, broker: Broker) -> bool:
    """P19 WatchCovered: a ready controller watches /brokers/ids, /brokers/topics and /controller, or will be told.

    So it does /admin/delete_topics, where topics are deleted.
    """
    premise(is_ready(cluster, broker))
    watches = cluster.zookeeper.watches[broker]
    return (
        (watches.broker_ids or is_pending(cluster, broker, ControllerEvent(EventKind.BROKER_CHANGE)))
        and (watches.topics or is_pending(cluster, broker, ControllerEvent(EventKind.TOPIC_CHANGE)))
        and (
            not DELETION
            or watches.delete_topics
            or is_pending(cluster, broker, ControllerEvent(EventKind.TOPIC_DELETION))
        )
        and (
            watches.controller
            or is_pending(cluster, broker, ControllerEvent(EventKind.REELECT))
            or is_pending(cluster, broker, ControllerEvent(EventKind.CONTROLLER_CHANGE))
        )
    )


@always(
    symptom="an expansion goes unnoticed until the next failover",
    log="none: New partitions to be added … is what is missing",
)
def topic_watch_covered(cluster: Cluster, broker: Broker, topic: Topic) -> bool:
    """P19 WatchCovered: a ready controller watches each topic that it knows and that exists, or will be told."""
    premise(is_ready(cluster, broker) and cluster.zookeeper.topics[topic].exists)
    premise(cluster.brokers[broker].controller.topics[topic].partition_count > 0)
    event = ControllerEvent(EventKind.PARTITION_MODIFICATIONS, topic)
    return cluster.zookeeper.watches[broker].topic[topic] or is_pending(cluster, broker, event)


@reachable()
def deposed_controller_knows_nothing(cluster: Cluster) -> bool:
    """A controller goes on with a topic in its context while another one serves under a later epoch."""
    return any(
        0 < cluster.brokers[broker].controller.epoch < cluster.zookeeper.controller_epoch
        and cluster.brokers[broker].controller.step is Step.IDLE
        and any(cluster.brokers[broker].controller.topics[topic].partition_count > 0 for topic in TOPICS)
        for broker in BROKERS
    )


@reachable()
def deposed_controller_writes(cluster: Cluster) -> bool:
    """A controller tries to write after another one was elected: it is stopped, or it succeeds."""
    return cluster.deposed_write or any(
        cluster.brokers[broker].controller.step is Step.CONTROLLER_MOVED for broker in BROKERS
    )


@reachable()
def ready_controller_will_be_told(cluster: Cluster) -> bool:
    """A ready controller has no watch on /brokers/ids or /brokers/topics, as it fired and its event is not handled."""
    return any(
        is_ready(cluster, broker)
        and not (cluster.zookeeper.watches[broker].broker_ids and cluster.zookeeper.watches[broker].topics)
        for broker in BROKERS
    )


@reachable()
def ready_controller_will_be_told_of_an_expansion(cluster: Cluster, topic: Topic) -> bool:
    """A ready controller has no watch on a topic that it knows, as it fired and its event is not handled."""
    return any(
        is_ready(cluster, broker)
        and cluster.zookeeper.topics[topic].exists
        and cluster.brokers[broker].controller.topics[topic].partition_count > 0
        and not cluster.zookeeper.watches[broker].topic[topic]
        for broker in BROKERS
    )


@reachable()
def broker_is_bounced(cluster: Cluster) -> bool:
    """A broker is back before the controller has looked: it still counts the broker among the live ones."""
    return cluster.stops > 0 and any(
        is_ready(cluster, controller)
        and cluster.is_registered(broker)
        and ControllerEvent(EventKind.REELECT) in cluster.brokers[broker].controller.events
        and broker in cluster.brokers[controller].controller.live_brokers
        and ControllerEvent(EventKind.BROKER_CHANGE) in cluster.brokers[controller].controller.events
        for controller in BROKERS
        for broker in BROKERS
        if controller != broker
    )


@reachable()
def topic_serves_after_a_failed_authentication(cluster: Cluster, topic: Topic) -> bool:
    """A broker's ZooKeeper client has failed to authenticate, and a topic has a leader."""
    return cluster.auth_failures > 0 and any(state.exists for state in cluster.zookeeper.topics[topic].states)


@reachable()
def broker_registers_again(cluster: Cluster) -> bool:
    """A broker is in /brokers/ids in a later session of the same process."""
    return cluster.expirations > 0 and all(
        cluster.is_registered(broker) and cluster.brokers[broker].session is Session.LIVE for broker in BROKERS
    )
