"""Properties of sessions, fencing and watches (P5 to P7, P19): one controller works, and misses no change."""

from __future__ import annotations

from kwalk.model.kafka.controller.controller_context import (
    BrokerRegistration,
    ControllerEvent,
    EventKind,
    EventProgress,
    PartitionState,
    ReplicaState,
    TopicContext,
)
from kwalk.model.kafka.domains import BROKERS, PARTITIONS, TOPICS, Broker, Partition, Topic
from kwalk.model.kafka.state import Cluster, SessionState
from kwalk.model.kafka.versions.grain import DELETION
from kwalk.model.kafka.zookeeper.znodes import Assignment
from kwalk.model.language import always, premise, reachable, step, when_quiescent


@always(
    symptom="two controllers change partitions at the same time: split brain",
    log="Ignoring LeaderAndIsr request from controller … since its controller epoch … is old",
)
def one_effective_controller(cluster: Cluster) -> bool:
    """P5 OneEffectiveController: no two controllers have the same epoch, and no deposed controller ever wrote."""
    return not cluster.deposed_write and all(
        cluster.controller_of(a).epoch == 0 or cluster.controller_of(a).epoch != cluster.controller_of(b).epoch
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


@when_quiescent(
    symptom="topics are not created, and no leader is elected when a broker stops",
    log="none: get /controller in ZooKeeper finds no znode",
)
def cluster_has_a_controller(cluster: Cluster) -> bool:
    """While a broker is registered, there is a controller."""
    premise(bool(cluster.zookeeper.broker_ids))
    return cluster.zookeeper.controller is not None


@when_quiescent(
    symptom="a broker runs, and the cluster takes it for dead",
    log="none: ls /brokers/ids in ZooKeeper does not list the broker",
)
def running_broker_is_registered(cluster: Cluster, broker: Broker) -> bool:
    """A broker whose process runs is in /brokers/ids."""
    premise(cluster.is_up(broker))
    return cluster.is_registered(broker)


@when_quiescent(
    symptom="the sum of ActiveControllerCount over all brokers is not 1: two active controllers, or none",
    log="none: kafka.controller:type=KafkaController,name=ActiveControllerCount",
)
def one_active_controller(cluster: Cluster, broker: Broker) -> bool:
    """The broker in /controller considers itself controller, and no other broker does."""
    premise(cluster.zookeeper.controller is not None)
    return cluster.controller_of(broker).is_active == (cluster.zookeeper.controller == broker)


@step(
    symptom="topics are not created and no leader is elected; the controller epoch rises all the time",
    log="Error while electing or becoming controller on broker … Trigger controller movement immediately",
)
def controller_does_not_give_up(before: Cluster, after: Cluster, broker: Broker) -> bool:
    """Only an operator, or the end of its session or process, takes /controller from the broker that it names."""
    premise(before.zookeeper.controller == broker)
    is_there = after.is_registered(broker) and after.controller_deletions == before.controller_deletions
    return after.zookeeper.controller == broker or not is_there


@when_quiescent(
    symptom="kafka-preferred-replica-election.sh --zookeeper: Preferred replica leader election currently in progress "
    "for …. Aborting operation; the preferred leaders are not elected",
    log="Error processing event … (of ReplicaLeaderElection), with java.util.NoSuchElementException",
)
def preferred_election_request_ends(cluster: Cluster) -> bool:
    """Under a controller, /admin/preferred_replica_election is removed once its elections are held or refused."""
    premise(cluster.zookeeper.controller is not None)
    return not cluster.zookeeper.has_preferred_elections


@always(
    symptom="a broker's next failover begins with its old context: topics that are gone exist again",
    log="none: the log has [Controller id=…] Resigned, but the context was not cleared",
)
def resigned_controller_has_no_context(cluster: Cluster, broker: Broker, topic: Topic) -> bool:
    """A module that is not active has an empty context and no event under way."""
    controller = cluster.controller_of(broker)
    premise(not controller.is_active)
    is_idle = controller.step is EventProgress.IDLE and not controller.new_topics and not controller.live_brokers
    return is_idle and is_forgotten(controller.topics[topic])


def is_forgotten(context: TopicContext) -> bool:
    """Whether nothing is left of a topic in a controller's context."""
    if context.partition_count > 0 or context.topic_id is not None or context.to_be_deleted:
        return False
    return all(
        context.partition_states[p] is PartitionState.NON_EXISTENT
        and context.assignments[p] == Assignment()
        and not context.leadership[p].is_known
        and context.leadership[p].leader is None
        and not context.leadership[p].isr
        and all(context.replica_states[p][broker] is ReplicaState.NON_EXISTENT for broker in BROKERS)
        for p in PARTITIONS
    )


@when_quiescent(
    symptom="ActiveControllerCount is 1, but topics are not created and leaders not elected (KAFKA-13461)",
    log="[Controller id=…] Broker … has been elected as the controller, so stopping the election process.",
)
def controller_serves(cluster: Cluster, broker: Broker) -> bool:
    """P6 ControllerServes: the broker in /controller has failed over under the present epoch and has its watches."""
    premise(cluster.zookeeper.controller == broker)
    controller, watches = cluster.controller_of(broker), cluster.zookeeper.watches[broker]
    return controller.epoch == cluster.zookeeper.controller_epoch and watches.broker_ids and watches.topics


@step(
    symptom="a replica follows a deposed leader: its records are truncated",
    log="[Log partition=…, dir=…] Truncating to offset … (3.9: UnifiedLog)",
)
def replica_leader_epoch_monotone(
    before: Cluster, after: Cluster, broker: Broker, topic: Topic, partition: Partition
) -> bool:
    """P7 EpochMonotone: the leader epoch of a replica never falls while its process hosts it."""
    old = before.replica_of(broker, topic, partition).leader_epoch
    new = after.replica_of(broker, topic, partition).leader_epoch
    premise(old is not None and new is not None and after.is_up(broker))
    assert old is not None and new is not None
    return old <= new


def is_pending(cluster: Cluster, broker: int, event: ControllerEvent) -> bool:
    """Whether a watch has fired, and its event is not handled yet."""
    controller = cluster.controller_of(broker)
    return event in controller.events or event in controller.notifications


def is_ready(cluster: Cluster, broker: int) -> bool:
    """Whether the broker is the controller of the present epoch, is idle, and its session lives."""
    controller = cluster.controller_of(broker)
    serves = cluster.zookeeper.controller == broker and controller.epoch == cluster.zookeeper.controller_epoch
    return serves and controller.step is EventProgress.IDLE and cluster.brokers[broker].session is SessionState.LIVE


@always(
    symptom="a broker's failure or start, or a new topic, goes unnoticed until the next failover",
    log="none: the controller logs nothing about a change that it misses",
)
def watch_covered(cluster: Cluster, broker: Broker) -> bool:
    """P19 WatchCovered: a ready controller watches /brokers/ids, /brokers/topics and /controller, or has their event.

    Where topics are deleted, the same holds for /admin/delete_topics.
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
    log="missing: New partitions to be added …",
)
def topic_watch_covered(cluster: Cluster, broker: Broker, topic: Topic) -> bool:
    """P19 WatchCovered: a ready controller watches each existing topic of its context, or has its event."""
    premise(is_ready(cluster, broker) and cluster.zookeeper.topics[topic].exists)
    premise(cluster.controller_of(broker).topics[topic].partition_count > 0)
    event = ControllerEvent(EventKind.PARTITION_MODIFICATIONS, topic)
    return cluster.zookeeper.watches[broker].topic[topic] or is_pending(cluster, broker, event)


def has_seen_all(cluster: Cluster, broker: int) -> bool:
    """Whether the broker is a ready controller that has handled every BrokerChange."""
    return is_ready(cluster, broker) and not is_pending(cluster, broker, ControllerEvent(EventKind.BROKER_CHANGE))


def can_be_led(cluster: Cluster, broker: int, topic: int, partition: int) -> bool:
    """Whether a controller has a partition that is not to be deleted and has a live ISR member."""
    context, state = cluster.controller_of(broker).topics[topic], cluster.zookeeper.state_of(topic, partition)
    is_kept = context.leadership[partition].is_known and not context.to_be_deleted
    return is_kept and bool(state.isr & cluster.zookeeper.broker_ids)


@always(
    symptom="the controller elects brokers that are gone, or ignores those that are back",
    log="[Controller id=…] Newly added brokers: …, deleted brokers: …, bounced brokers: …, all live brokers: …",
)
def ready_controller_has_live_brokers(cluster: Cluster, broker: Broker) -> bool:
    """After every BrokerChange is handled, exactly the brokers of /brokers/ids are live in the context."""
    premise(has_seen_all(cluster, broker))
    registrations = cluster.controller_of(broker).registrations
    return all(
        (registrations[b] is BrokerRegistration.CURRENT) == cluster.is_registered(b)
        and registrations[b] is not BrokerRegistration.STALE
        for b in BROKERS
    )


@always(
    symptom="a partition has no leader although an in-sync replica lives, until some broker starts",
    log="none: kafka-topics.sh --describe shows Leader: none and a live broker under Isr",
)
def ready_controller_replaces_leaders(cluster: Cluster, broker: Broker, topic: Topic, partition: Partition) -> bool:
    """After every BrokerChange is handled, each partition with a live ISR member has a live leader."""
    premise(has_seen_all(cluster, broker) and can_be_led(cluster, broker, topic, partition))
    state = cluster.zookeeper.state_of(topic, partition)
    return state.leader is not None and cluster.is_registered(state.leader)


@always(
    symptom="acks=all and min.insync.replicas count a replica that is gone",
    log="none: kafka-topics.sh --describe shows a dead broker under Isr",
)
def ready_controller_takes_lost_brokers_out(
    cluster: Cluster, broker: Broker, topic: Topic, partition: Partition
) -> bool:
    """After every BrokerChange is handled, lost brokers are not in the ISR, unless all are lost.

    Before 3.3 a leader may add one whose session has expired again (KIP-841).
    """
    premise(has_seen_all(cluster, broker) and can_be_led(cluster, broker, topic, partition))
    state = cluster.zookeeper.state_of(topic, partition)
    return state.isr <= cluster.zookeeper.broker_ids


@reachable()
def election_is_requested(cluster: Cluster) -> bool:
    """The request of a client is in /admin/preferred_replica_election."""
    return cluster.zookeeper.has_preferred_elections


@reachable()
def requested_election_is_over(cluster: Cluster) -> bool:
    """A client has asked for a preferred leader, and the controller has handled that."""
    return cluster.election_requests > 0 and not cluster.zookeeper.has_preferred_elections


@reachable()
def deposed_controller_is_unaware(cluster: Cluster) -> bool:
    """A controller has a topic in its context while another one serves under a later epoch."""
    return any(
        0 < cluster.controller_of(broker).epoch < cluster.zookeeper.controller_epoch
        and cluster.controller_of(broker).step is EventProgress.IDLE
        and any(cluster.controller_of(broker).topics[topic].partition_count > 0 for topic in TOPICS)
        for broker in BROKERS
    )


@reachable()
def deposed_controller_writes(cluster: Cluster) -> bool:
    """A controller tries to write after another one was elected: it is stopped, or it succeeds."""
    return cluster.deposed_write or any(
        cluster.controller_of(broker).step is EventProgress.CONTROLLER_MOVED for broker in BROKERS
    )


@reachable()
def fired_watch_is_pending(cluster: Cluster) -> bool:
    """A ready controller has no watch on /brokers/ids or /brokers/topics, as it fired and its event is not handled."""
    return any(
        is_ready(cluster, broker)
        and not (cluster.zookeeper.watches[broker].broker_ids and cluster.zookeeper.watches[broker].topics)
        for broker in BROKERS
    )


@reachable()
def fired_topic_watch_is_pending(cluster: Cluster, topic: Topic) -> bool:
    """A ready controller has no watch on a topic of its context, as it fired and its event is not handled."""
    return any(
        is_ready(cluster, broker)
        and cluster.zookeeper.topics[topic].exists
        and cluster.controller_of(broker).topics[topic].partition_count > 0
        and not cluster.zookeeper.watches[broker].topic[topic]
        for broker in BROKERS
    )


@reachable()
def broker_is_bounced(cluster: Cluster) -> bool:
    """A broker is back before the controller has read /brokers/ids: the context still has its old registration."""
    return cluster.stops > 0 and any(
        is_ready(cluster, controller)
        and cluster.is_registered(broker)
        and ControllerEvent(EventKind.REELECT) in cluster.controller_of(broker).events
        and broker in cluster.controller_of(controller).live_brokers
        and ControllerEvent(EventKind.BROKER_CHANGE) in cluster.controller_of(controller).events
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
        cluster.is_registered(broker) and cluster.brokers[broker].session is SessionState.LIVE for broker in BROKERS
    )
