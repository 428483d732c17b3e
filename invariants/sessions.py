"""What must hold of sessions, fencing and watches (P5 to P7, P19): one controller that works, and misses nothing."""
from __future__ import annotations

from model.kafka.controller_context import ControllerEvent, EventKind, Liveness, Step, TopicContext
from model.kafka.domains import BROKERS, PARTITIONS, TOPICS, Broker, Partition, Topic
from model.kafka.state import Cluster, Session
from model.kafka.state_machines import PartitionStatus, ReplicaStatus
from model.kafka.versions import DELETION
from model.kafka.znodes import Assignment
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


@always(
    symptom="the cluster has a controller that does nothing: topics are not created and leaders not elected",
    log="none: get /controller in ZooKeeper shows a brokerid that /brokers/ids does not have",
)
def controller_lives(cluster: Cluster, broker: Broker) -> bool:
    """/controller never names a broker whose process has ended."""
    premise(cluster.zookeeper.controller == broker)
    return cluster.is_up(broker)


@when_quiet(
    symptom="the sum of ActiveControllerCount over all brokers is not 1: two take themselves for controller, or nobody",
    log="none: kafka.controller:type=KafkaController,name=ActiveControllerCount",
)
def one_active_controller(cluster: Cluster, broker: Broker) -> bool:
    """The broker that /controller names takes itself for controller, and no other does."""
    premise(cluster.zookeeper.controller is not None)
    return cluster.brokers[broker].controller.is_active == (cluster.zookeeper.controller == broker)


@always(
    symptom="a broker's next failover begins with what it knew when it resigned: topics that are gone are there again",
    log="none: [Controller id=…] Resigned is there, but the context was not cleared",
)
def resigned_controller_knows_nothing(cluster: Cluster, broker: Broker, topic: Topic) -> bool:
    """A module that is not active has an empty context, and is in the midst of nothing."""
    controller = cluster.brokers[broker].controller
    premise(not controller.is_active)
    is_idle = controller.step is Step.IDLE and not controller.new_topics and not controller.live_brokers
    return is_idle and is_forgotten(controller.topics[topic])


def is_forgotten(context: TopicContext) -> bool:
    """Whether nothing is left of a topic in a controller's context."""
    if context.partition_count > 0 or context.topic_id is not None or context.machines.to_be_deleted:
        return False
    return all(
        context.machines.partitions[p] is PartitionStatus.NON_EXISTENT
        and context.assignments[p] == Assignment()
        and not context.leadership[p].is_known
        and context.leadership[p].leader is None
        and not context.leadership[p].isr
        and all(context.machines.replicas[p][broker] is ReplicaStatus.NON_EXISTENT for broker in BROKERS)
        for p in PARTITIONS
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


def has_seen_all(cluster: Cluster, broker: int) -> bool:
    """Whether the broker is a ready controller that has handled every change of the live brokers."""
    return is_ready(cluster, broker) and not is_pending(cluster, broker, ControllerEvent(EventKind.BROKER_CHANGE))


def can_be_led(cluster: Cluster, broker: int, topic: int, partition: int) -> bool:
    """Whether a controller has a partition, which is not to be deleted, and an ISR member of it lives."""
    context, state = cluster.brokers[broker].controller.topics[topic], cluster.zookeeper.topics[topic].states[partition]
    is_kept = context.leadership[partition].is_known and not context.machines.to_be_deleted
    return is_kept and bool(state.isr & cluster.zookeeper.broker_ids)


@always(
    symptom="the controller elects brokers that are gone, or leaves out those that are back",
    log="[Controller id=…] Newly added brokers: …, deleted brokers: …, bounced brokers: …, all live brokers: …",
)
def ready_controller_knows_who_lives(cluster: Cluster, broker: Broker) -> bool:
    """A controller that has handled every BrokerChange takes just the brokers of /brokers/ids for live."""
    premise(has_seen_all(cluster, broker))
    liveness = cluster.brokers[broker].controller.liveness
    return all(
        (liveness[b] is Liveness.CURRENT) == cluster.is_registered(b) and liveness[b] is not Liveness.STALE
        for b in BROKERS
    )


@always(
    symptom="a partition has no leader though a replica in sync lives, until some broker starts",
    log="none: kafka-topics.sh --describe shows Leader: none and a live broker under Isr",
)
def ready_controller_replaces_leaders(cluster: Cluster, broker: Broker, topic: Topic, partition: Partition) -> bool:
    """A controller that has handled every BrokerChange has given a partition with a live ISR member a live leader."""
    premise(has_seen_all(cluster, broker) and can_be_led(cluster, broker, topic, partition))
    state = cluster.zookeeper.topics[topic].states[partition]
    return state.leader is not None and cluster.is_registered(state.leader)


@always(
    symptom="producers with acks=all, and min.insync.replicas, count on a replica that is gone",
    log="none: kafka-topics.sh --describe shows a dead broker under Isr",
)
def ready_controller_takes_lost_brokers_out(
    cluster: Cluster, broker: Broker, topic: Topic, partition: Partition
) -> bool:
    """A controller that has handled every BrokerChange has taken lost brokers out of the ISR, if one is left.

    Before 3.3 a leader may take one whose session has expired in again (KIP-841).
    """
    premise(has_seen_all(cluster, broker) and can_be_led(cluster, broker, topic, partition))
    state = cluster.zookeeper.topics[topic].states[partition]
    return state.isr <= cluster.zookeeper.broker_ids


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
