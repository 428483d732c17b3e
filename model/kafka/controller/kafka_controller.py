"""KafkaController: elections and resignations, the failover, and the events about topics and brokers.

The controller module of every broker watches /controller, and the first one to create it after a deletion wins, even if
it is the old controller. A deposed controller continues until it handles its own event, or until a fenced write fails.

Words: F1 to F15 number the steps of onControllerFailover in order. F1 to F4 list and read the topics, F5 mints missing
topic ids, F6 to F9 read the partition states, F10 to F15 inform the brokers. The failover is modelled in the four steps
between which others can interfere.

A module that is not active removes each event from its queue and does nothing. A read in a handler arms the watch that
brought the event.
"""

from __future__ import annotations

from kwalk.model.kafka.actors import CONTROLLER
from kwalk.model.kafka.controller.controller_channel_manager import (
    drop_channels,
    remove_channels,
    send_leader_and_isr,
    send_live_brokers,
    send_removals,
    send_update_metadata,
)
from kwalk.model.kafka.controller.controller_context import (
    BrokerRegistration,
    ControllerEvent,
    EventKind,
    EventProgress,
    PartitionState,
    ReplicaState,
    TopicContext,
)
from kwalk.model.kafka.controller.partition_state_machine import (
    bring_online,
    elect_preferred,
    first_of,
    initialize_partition_states,
    online_brokers,
    read_leadership,
    replicas_of,
    take_partitions_offline,
    trigger_online_partition_state_change,
)
from kwalk.model.kafka.controller.preferred_election import resume_preferred_elections
from kwalk.model.kafka.controller.reassignment import remembered, resume_reassignments
from kwalk.model.kafka.controller.replica_state_machine import (
    bring_replicas_online,
    initialize_replica_states,
    led_partitions,
    make_online,
    may_change_replicas,
    take_replicas_offline,
)
from kwalk.model.kafka.controller.topic_deletion_manager import (
    fail_deletion,
    fail_replica_deletion,
    read_delete_topics,
    resume_deletion_for_topics,
    resume_deletions,
)
from kwalk.model.kafka.domains import BROKERS, ELECTION_REQUESTS, PARTITIONS, RECORDS, TOPIC_IDS, TOPICS, Broker, Topic
from kwalk.model.kafka.inter_broker_protocol import topic_id_from_znode, uses_topic_ids
from kwalk.model.kafka.state import Cluster, SessionState
from kwalk.model.kafka.versions.deletion import RESTORE_ON_DELETE, STARTED_BROKERS_HEAR_OF_DELETIONS
from kwalk.model.kafka.versions.grain import (
    DELETION,
    LIVE_BROKER_CACHES,
    OFFLINE_LOGS,
    PREFERRED_ELECTION,
    REASSIGNMENT,
    SESSIONS,
)
from kwalk.model.kafka.versions.reassignment import ELECTION_DURING_REASSIGNMENT
from kwalk.model.kafka.versions.sessions import (
    FAILOVER_SENDS_METADATA_FIRST,
    FAILOVER_TAKES_REPLICAS_OFFLINE,
    INFORMS_OF_ALL_LOST_BROKERS,
)
from kwalk.model.kafka.versions.topic_ids import CAS_TOPIC_WRITE, RESTORE_FROM_CACHE
from kwalk.model.kafka.zookeeper.kafka_zk_client import (
    check_controller_epoch,
    controller_changed,
    write_topic_from_context,
)
from kwalk.model.language import action, require


@action(
    by=CONTROLLER,
    group="controller",
    description="handles Reelect: becomes controller if there is none",
    source="KafkaController.processReelect, elect; KafkaZkClient.registerControllerAndIncrementControllerEpoch",
)
def reelect(cluster: Cluster, broker: Broker) -> None:
    """/controller was deleted, or the broker starts: resign if deposed, then try to become the next controller."""
    controller = cluster.controller_of(broker)
    require(controller.is_at(EventKind.REELECT))
    controller.events.pop()
    maybe_resign(cluster, broker)
    elect(cluster, broker)


def elect(cluster: Cluster, broker: int) -> None:
    """Create /controller and raise the controller epoch, unless there is a controller (Kafka: KafkaController.elect).

    A broker that finds itself in /controller considers itself active, and does not fail over (KAFKA-13461). The
    /controller of a KRaft controller is nobody's session: it stays.
    """
    controller, zookeeper = cluster.controller_of(broker), cluster.zookeeper
    is_free = zookeeper.controller is None and not zookeeper.is_led_by_kraft
    if is_free and cluster.brokers[broker].session is SessionState.LIVE:
        zookeeper.controller = broker
        zookeeper.controller_epoch += 1
        controller.epoch = zookeeper.controller_epoch
        controller.step = EventProgress.ELECTED
        controller_changed(cluster, EventKind.CONTROLLER_CHANGE)
    elif SESSIONS and zookeeper.controller == broker and not controller.is_active:
        controller.uninitialized = True


@action(
    by=CONTROLLER,
    group="controller",
    description="handles ControllerChange: resigns if it is no longer the controller",
    source="KafkaController.processControllerChange",
)
def controller_change(cluster: Cluster, broker: Broker) -> None:
    """/controller was created."""
    controller = cluster.controller_of(broker)
    require(controller.is_at(EventKind.CONTROLLER_CHANGE))
    controller.events.pop()
    maybe_resign(cluster, broker)


@action(
    by=CONTROLLER,
    group="controller",
    description="resigns, as a write showed that another controller was elected",
    source="KafkaController.process: case e: ControllerMovedException => maybeResign()",
)
def controller_moved(cluster: Cluster, broker: Broker) -> None:
    """The event under way was left incomplete."""
    require(cluster.controller_of(broker).step is EventProgress.CONTROLLER_MOVED)
    maybe_resign(cluster, broker)


def maybe_resign(cluster: Cluster, broker: int) -> None:
    """Arm the watch on /controller, read it, and resign if it does not name this broker.

    Kafka: KafkaController.maybeResign.
    """
    cluster.zookeeper.watches[broker].controller = True
    if cluster.controller_of(broker).is_active and cluster.zookeeper.controller != broker:
        resign(cluster, broker)


def trigger_controller_move(cluster: Cluster, broker: int) -> None:
    """Resign and delete /controller, as the failover cannot continue (Kafka: KafkaController.triggerControllerMove).

    The next controller fails in the same way, unless the cause is repaired. If there is one already, Kafka does not
    resign: the module is not active any more, and its channels stay open. Kafka's keeps its context as well, and its
    next failover adds to that; here the context is cleared.
    """
    if cluster.zookeeper.controller == broker:
        resign(cluster, broker)
        cluster.zookeeper.controller = None
        controller_changed(cluster, EventKind.REELECT)
    else:
        cluster.controller_of(broker).clear()


def resign(cluster: Cluster, broker: int) -> None:
    """Remove watches, close channels, clear the context (Kafka: KafkaController.onControllerResignation)."""
    drop_channels(cluster, broker)
    watches = cluster.zookeeper.watches[broker]
    watches.broker_ids = watches.topics = watches.delete_topics = False
    watches.preferred_elections = False
    for topic in TOPICS:
        watches.topic[topic] = False
    cluster.controller_of(broker).clear()


@action(
    by=CONTROLLER,
    group="controller",
    description="fails over: lists brokers and topics and reads the topic znodes",
    source="KafkaController.initializeControllerContext: getAllBrokerAndEpochsInCluster, getAllTopicsInCluster, "
    "getReplicaAssignmentAndTopicIdForTopics",
)
def failover_reads_topics(cluster: Cluster, broker: Broker) -> None:
    """F1 to F4: each read arms its watch."""
    controller, zookeeper = cluster.controller_of(broker), cluster.zookeeper
    require(controller.step is EventProgress.ELECTED)
    controller.step = EventProgress.TOPICS_READ
    zookeeper.watches[broker].broker_ids = zookeeper.watches[broker].topics = True
    zookeeper.watches[broker].preferred_elections = ELECTION_REQUESTS > 0
    for other in BROKERS:
        controller.registrations[other] = (
            BrokerRegistration.CURRENT if cluster.is_registered(other) else BrokerRegistration.GONE
        )
    for topic in TOPICS:
        if zookeeper.topics[topic].exists:
            zookeeper.watches[broker].topic[topic] = True
            controller.topics[topic].partition_count = zookeeper.topics[topic].partition_count
            for partition in PARTITIONS:
                controller.topics[topic].assignments[partition] = remembered(
                    controller.topics[topic].assignments[partition], zookeeper.topics[topic].assignments[partition]
                )
            controller.topics[topic].orders = zookeeper.topics[topic].orders
            controller.topics[topic].topic_id = topic_id_from_znode(broker, zookeeper.topics[topic].topic_id)


def new_topic_ids(before: Cluster, after: Cluster, broker: int) -> str:
    """Return which topics get a new id in a controller's context; "" if none does."""
    contexts = before.controller_of(broker).topics, after.controller_of(broker).topics
    ids = {topic: (contexts[0][topic].topic_id, contexts[1][topic].topic_id) for topic in TOPICS}
    minted = [
        f"{TOPICS.label(topic)} gets {TOPIC_IDS.label(new)}"
        for topic, (old, new) in ids.items()
        if new not in (None, old)
    ]
    return ", ".join(minted)


@action(
    by=CONTROLLER,
    group="controller",
    description="fails over: mints an id for each topic that has none",
    source="KafkaController.processTopicIds; KafkaZkClient.setTopicIds",
    outcome=new_topic_ids,
)
def failover_sets_topic_ids(cluster: Cluster, broker: Broker) -> None:
    """F5: a blind write of the assignment that was read one step before, with the new id.

    Two topics with one id, which only a manual edit can cause, end every failover here.
    """
    controller = cluster.controller_of(broker)
    require(controller.step is EventProgress.TOPICS_READ)
    controller.step = EventProgress.TOPIC_IDS_SET
    for topic in TOPICS:
        set_missing_topic_id(cluster, broker, topic)
    if is_any_topic_id_shared(cluster, broker):
        trigger_controller_move(cluster, broker)


@action(
    by=CONTROLLER,
    group="controller",
    description="fails over: reads the partition states",
    source="KafkaController.initializeControllerContext: updateLeaderAndIsrCache",
)
def failover_reads_states(cluster: Cluster, broker: Broker) -> None:
    """F6 to F9: the context gets leadership for the partitions that have a state znode."""
    controller = cluster.controller_of(broker)
    require(controller.step is EventProgress.TOPIC_IDS_SET)
    controller.step = EventProgress.STATES_READ
    for topic in TOPICS:
        for partition in sorted(controller.topics[topic].partitions):
            read_leadership(cluster, broker, topic, partition)
    if DELETION:
        read_delete_topics(cluster, broker)


@action(
    by=CONTROLLER,
    group="controller",
    description="fails over: sends LeaderAndIsr for everything, elects leaders for what has none",
    source="ReplicaStateMachine.startup, PartitionStateMachine.startup",
)
def failover_sends_requests(cluster: Cluster, broker: Broker) -> None:
    """F10 to F15: live replicas get the current state, dead ones leave the ISR (since 2.3), then elections are held."""
    controller = cluster.controller_of(broker)
    require(controller.step is EventProgress.STATES_READ)
    controller.step = EventProgress.IDLE
    live = controller.live_brokers
    if FAILOVER_SENDS_METADATA_FIRST:
        send_live_brokers(cluster, broker, to=live)
    send_removals(cluster, broker, to=live)
    for topic in TOPICS:
        if DELETION:
            initialize_replica_states(cluster, broker, topic)
        bring_replicas_online(cluster, broker, topic, on=live)
        if FAILOVER_TAKES_REPLICAS_OFFLINE:
            led = led_partitions(controller.topics[topic]) if not DELETION else controller.topics[topic].partitions
            take_replicas_offline(cluster, broker, topic, led, on=frozenset(BROKERS) - live)
        if DELETION:
            initialize_partition_states(cluster, broker, topic)
        trigger_online_partition_state_change(cluster, broker, topic)
    if not FAILOVER_SENDS_METADATA_FIRST:
        send_live_brokers(cluster, broker, to=live)
    if REASSIGNMENT:
        resume_reassignments(cluster, broker, to=frozenset(BROKERS), in_failover=True)
    if DELETION and controller.step is EventProgress.IDLE:
        resume_deletions(cluster, broker)
    if ELECTION_REQUESTS > 0 and controller.step is EventProgress.IDLE:
        resume_preferred_elections(cluster, broker)


@action(
    by=CONTROLLER,
    group="controller",
    description="gives up, as its failover has failed: resigns and deletes /controller",
    source="KafkaController.elect: case t: Throwable => triggerControllerMove()",
)
def failover_fails(cluster: Cluster, broker: Broker) -> None:
    """A reassignment could not be resumed, or an election that was requested has met a partition without leadership."""
    require(cluster.controller_of(broker).step is EventProgress.FAILOVER_FAILED)
    trigger_controller_move(cluster, broker)


@action(
    by=CONTROLLER,
    group="controller",
    description="handles TopicChange: lists the topics and reads the new ones",
    source="KafkaController.processTopicChange: getAllTopicsInCluster, getReplicaAssignmentAndTopicIdForTopics",
)
def topic_change(cluster: Cluster, broker: Broker) -> None:
    """New topics are those that the context lacks."""
    controller, zookeeper = cluster.controller_of(broker), cluster.zookeeper
    require(controller.is_at(EventKind.TOPIC_CHANGE))
    controller.events.pop()
    if not controller.is_active:
        return
    zookeeper.watches[broker].topics = True
    if DELETION:
        remove_missing_topics(cluster, broker)
    for topic in TOPICS:
        if zookeeper.topics[topic].exists and controller.topics[topic].partition_count == 0:
            zookeeper.watches[broker].topic[topic] = True
            controller.new_topics = controller.new_topics | {topic}
            controller.topics[topic].partition_count = zookeeper.topics[topic].partition_count
            controller.topics[topic].assignments = zookeeper.topics[topic].assignments
            controller.topics[topic].orders = zookeeper.topics[topic].orders
            controller.topics[topic].topic_id = topic_id_from_znode(broker, zookeeper.topics[topic].topic_id)
    if controller.new_topics:
        controller.step = EventProgress.NEW_TOPICS_READ


@action(
    by=CONTROLLER,
    group="controller",
    description="continues TopicChange: mints ids for new topics that have none, creates their partitions",
    source="KafkaController.processTopicIds, onNewPartitionCreation; KafkaZkClient.setTopicIds",
    outcome=new_topic_ids,
)
def topic_change_creates_partitions(cluster: Cluster, broker: Broker) -> None:
    """The id overwrites what the znode holds by now, then every new partition gets its first leader.

    If a new topic has the id of another, the event fails: no partition is created. Kafka's context then keeps the
    names, and reads those topics again when their znodes change; here also at the next TopicChange.
    """
    controller = cluster.controller_of(broker)
    require(controller.step is EventProgress.NEW_TOPICS_READ)
    found = controller.new_topics
    controller.step, controller.new_topics = EventProgress.IDLE, frozenset()
    for topic in sorted(found):
        set_missing_topic_id(cluster, broker, topic)
    is_refused = is_any_topic_id_shared(cluster, broker)
    for topic in sorted(found):
        if is_refused:
            controller.topics[topic].remove(completed=False)
        else:
            create_new_partitions(cluster, broker, topic)


def create_new_partitions(cluster: Cluster, broker: int, topic: int) -> None:
    """Create all partitions of a topic that is new to the context."""
    on_new_partition_creation(cluster, broker, topic, cluster.controller_of(broker).topics[topic].partitions)


def remove_missing_topics(cluster: Cluster, broker: int) -> None:
    """Remove topics from the context that are gone from ZooKeeper; brokers are not informed."""
    for topic in TOPICS:
        context = cluster.controller_of(broker).topics[topic]
        if context.partition_count > 0 and not cluster.zookeeper.topics[topic].exists:
            context.remove(completed=False)


@action(
    by=CONTROLLER,
    group="controller",
    description="handles PartitionModifications of {topic}: creates partitions that its context lacks",
    source="KafkaController.processPartitionModifications, onNewPartitionCreation",
)
def partition_modifications(cluster: Cluster, broker: Broker, topic: Topic) -> None:
    """The handler adds partitions that the context lacks. It never reads topic_id."""
    controller, znode = cluster.controller_of(broker), cluster.zookeeper.topics[topic]
    require(controller.step is EventProgress.IDLE)
    require(controller.events.starts_with(ControllerEvent(EventKind.PARTITION_MODIFICATIONS, topic)))
    controller.events.pop()
    if not controller.is_active:
        return
    cluster.zookeeper.watches[broker].topic[topic] = znode.exists
    known = controller.topics[topic].partition_count
    added = frozenset({p for p in PARTITIONS if known <= p < znode.partition_count})
    if bool(added) and controller.topics[topic].to_be_deleted:
        restore_assignment(cluster, broker, topic)
    elif added:
        controller.topics[topic].partition_count = znode.partition_count
        for partition in sorted(added):
            controller.topics[topic].assignments[partition] = znode.assignments[partition]
            controller.topics[topic].orders[partition] = znode.orders[partition]
        if RESTORE_FROM_CACHE and znode.topic_id is None and controller.topics[topic].topic_id is not None:
            controller.step, controller.new_topics = EventProgress.PARTITIONS_READ, frozenset({topic})
        else:
            on_new_partition_creation(cluster, broker, topic, added)


@action(
    by=CONTROLLER,
    group="controller",
    description="continues PartitionModifications: writes its topic id back, creates the partitions",
    source="apache/kafka PR 13111: KafkaController.processPartitionModifications",
)
def partition_modifications_restores_topic_id(cluster: Cluster, broker: Broker) -> None:
    """A fix that no release has: the znode that was read has no id, and the context has one."""
    controller = cluster.controller_of(broker)
    require(RESTORE_FROM_CACHE and controller.step is EventProgress.PARTITIONS_READ)
    found = controller.new_topics
    controller.step, controller.new_topics = EventProgress.IDLE, frozenset()
    for topic in sorted(found):
        restore_topic_id(cluster, broker, topic)
        trigger_online_partition_state_change(cluster, broker, topic)


def restore_assignment(cluster: Cluster, broker: int, topic: int) -> None:
    """Write the context's assignment back to the znode of a topic to be deleted.

    Kafka takes of the context only partitions that have znodes below the topic's; here those without are written too.

    Kafka: KafkaController.restorePartitionReplicaAssignment.
    """
    if RESTORE_ON_DELETE:
        check_controller_epoch(cluster, broker)
        write_topic_from_context(cluster, broker, topic)


def unseen_brokers(cluster: Cluster, broker: int) -> frozenset[int]:
    """Return the brokers of /brokers/ids that the context does not have."""
    registrations = cluster.controller_of(broker).registrations
    return frozenset({b for b in BROKERS if cluster.is_registered(b) and registrations[b] is BrokerRegistration.GONE})


def lost_brokers(cluster: Cluster, broker: int) -> frozenset[int]:
    """Return the brokers of the context whose registration is no longer in /brokers/ids."""
    registrations = cluster.controller_of(broker).registrations
    expired = frozenset(
        {b for b in BROKERS if registrations[b] is BrokerRegistration.CURRENT and not cluster.is_registered(b)}
    )
    stale = frozenset({b for b in BROKERS if registrations[b] is BrokerRegistration.STALE})
    return stale | expired if SESSIONS else stale


@action(
    by=CONTROLLER,
    group="controller",
    description="handles BrokerChange: new brokers get LeaderAndIsr for all their partitions",
    source="KafkaController.processBrokerChange, onBrokerStartup",
)
def broker_startup(cluster: Cluster, broker: Broker) -> None:
    """New brokers come first. The event stays at the head of the queue while there are lost brokers."""
    controller = cluster.controller_of(broker)
    require(controller.is_at(EventKind.BROKER_CHANGE))
    new = unseen_brokers(cluster, broker)
    require(not controller.is_active or bool(new) or not lost_brokers(cluster, broker))
    if not controller.is_active:
        controller.events.pop()
        return
    cluster.zookeeper.watches[broker].broker_ids = True
    if not lost_brokers(cluster, broker):
        controller.events.pop()
    if new:
        for other in sorted(new):
            controller.registrations[other] = BrokerRegistration.CURRENT
        for topic in TOPICS:
            controller.topics[topic].forget_offline(new)
        send_live_brokers(cluster, broker, to=controller.live_or_shutting_down)
        send_removals(cluster, broker, to=new)
        for topic in TOPICS:
            send_update_metadata(cluster, broker, topic, partitions_with_leaders(controller.topics[topic]), to=new)
            bring_replicas_online(cluster, broker, topic, on=new)
            trigger_online_partition_state_change(cluster, broker, topic)
        if REASSIGNMENT:
            resume_reassignments(cluster, broker, to=new)
        if DELETION and controller.step is EventProgress.IDLE:
            resume_deletion_for_topics(cluster, broker, on=new)
        elif DELETION:
            controller.reassignment.then_deletes_on = new


def partitions_with_leaders(context: TopicContext) -> frozenset[int]:
    """Return the partitions with leadership of which a broker that starts is told.

    Kafka: ControllerContext.partitionsWithLeaders (2.7.0), before: partitionLeadershipInfo.keySet.
    """
    is_left_out = context.to_be_deleted and not STARTED_BROKERS_HEAR_OF_DELETIONS
    return led_partitions(context) if not is_left_out else frozenset()


@action(
    by=CONTROLLER,
    group="controller",
    description="handles BrokerChange: lost brokers leave the ISR, their partitions get other leaders",
    source="KafkaController.processBrokerChange, onBrokerFailure",
)
def broker_failure(cluster: Cluster, broker: Broker) -> None:
    """A bounced broker, back under another epoch, is lost first and new next: the event then stays at the head."""
    controller = cluster.controller_of(broker)
    require(controller.is_at(EventKind.BROKER_CHANGE) and controller.is_active)
    lost = lost_brokers(cluster, broker)
    require(bool(lost) and not unseen_brokers(cluster, broker))
    cluster.zookeeper.watches[broker].broker_ids = True
    remove_channels(cluster, broker, to=lost)
    for other in sorted(lost):
        controller.registrations[other] = BrokerRegistration.GONE
    controller.shutting_down = controller.shutting_down - lost
    for topic in TOPICS:
        controller.topics[topic].forget_offline(lost)
    if not unseen_brokers(cluster, broker):
        controller.events.pop()
    is_sent = sends_metadata_of_lost_brokers(cluster, broker, lost)
    for topic in TOPICS:
        if DELETION:
            take_partitions_offline(cluster, broker, topic)
        trigger_online_partition_state_change(cluster, broker, topic)
        led = led_partitions(controller.topics[topic]) if not DELETION else partitions_to_keep(controller.topics[topic])
        take_replicas_offline(cluster, broker, topic, led, on=lost)
    if DELETION:
        fail_replica_deletion(cluster, broker, on=lost)
    if is_sent:
        send_live_brokers(cluster, broker, to=controller.live_or_shutting_down)


def sends_metadata_of_lost_brokers(cluster: Cluster, broker: int, lost: frozenset[int]) -> bool:
    """Whether an UpdateMetadata of its own informs live brokers, as no election and no change of an ISR does.

    Up to 3.0 there is none while any partition is without a live leader, whether that changes or not.

    Kafka: KafkaController.onReplicasBecomeOffline.
    """
    controller = cluster.controller_of(broker)
    if not LIVE_BROKER_CACHES:
        return False
    live = controller.live_brokers
    contexts = [(topic, partition) for topic in TOPICS for partition in PARTITIONS]
    led = [controller.topics[topic].leadership[partition] for topic, partition in contexts]
    has_unled = any(leadership.is_known and leadership.leader not in live for leadership in led)
    is_changed = any(
        controller.topics[topic].leadership[partition].is_known
        and bool(lost & replicas_of(cluster, broker, topic, partition))
        for topic, partition in contexts
    ) or any(
        controller.topics[topic].leadership[partition].leader not in live
        and bool(cluster.zookeeper.state_of(topic, partition).isr & live)
        for topic, partition in contexts
    )
    return not (is_changed if INFORMS_OF_ALL_LOST_BROKERS else has_unled)


def partitions_to_keep(context: TopicContext) -> frozenset[int]:
    """Return the partitions of a topic, or none if it is queued for deletion."""
    return context.partitions if not context.to_be_deleted else frozenset()


@action(
    by=CONTROLLER,
    group="controller",
    description="moves leaders back to preferred replicas",
    source="KafkaController.processAutoPreferredReplicaLeaderElection, checkAndTriggerAutoLeaderRebalance",
)
def auto_preferred_election(cluster: Cluster, broker: Broker) -> None:
    """Some time after a failover, then periodically: more than 10 % of a broker's partitions have another leader."""
    require(PREFERRED_ELECTION)
    controller = cluster.controller_of(broker)
    require(controller.is_active and controller.step is EventProgress.IDLE)
    require(any(imbalanced(cluster, broker, t, p) for t in TOPICS for p in PARTITIONS))
    require(
        ELECTION_DURING_REASSIGNMENT
        or not any(context.is_being_reassigned or context.left_reassignment for context in controller.topics)
    )
    for topic in TOPICS:
        changed: frozenset[int] = frozenset()
        for partition in PARTITIONS:
            if imbalanced(cluster, broker, topic, partition):
                is_led = elect_preferred(cluster, broker, topic, partition)
                if is_led:
                    changed = changed | {partition}
        send_leader_and_isr(cluster, broker, topic, changed, to=controller.live_or_shutting_down)


def imbalanced(cluster: Cluster, broker: int, topic: int, partition: int) -> bool:
    """Whether a partition is not led by its preferred replica, although that one is live and in the ISR.

    The ISR is that of the context (Kafka: canPreferredReplicaBeLeader), which is stored only where there are records.
    """
    controller, replicas = cluster.controller_of(broker), replicas_of(cluster, broker, topic, partition)
    leadership = controller.topics[topic].leadership[partition]
    preferred = first_of(cluster, broker, topic, partition, replicas)
    if preferred is None or controller.topics[topic].to_be_deleted:
        return False
    if not leadership.is_known or leadership.leader == preferred:
        return False
    isr = leadership.isr if RECORDS > 0 else cluster.zookeeper.state_of(topic, partition).isr
    return preferred in isr & online_brokers(cluster, broker, topic, partition)


def on_new_partition_creation(cluster: Cluster, broker: int, topic: int, partitions: frozenset[int]) -> None:
    """Create partitions and replicas, and elect first leaders (Kafka: KafkaController.onNewPartitionCreation).

    Stale entries cannot become New: the election then expects a state znode that does not exist.
    """
    if DELETION:
        make_new(cluster, broker, topic, partitions)
    bring_online(cluster, broker, topic, partitions)
    if DELETION:
        make_online(cluster, broker, topic, partitions, on=frozenset(BROKERS))


def make_new(cluster: Cluster, broker: int, topic: int, partitions: frozenset[int]) -> None:
    """Make partitions NewPartition and their replicas NewReplica."""
    context, may_change = cluster.controller_of(broker).topics[topic], may_change_replicas(cluster, broker)
    for partition in sorted(partitions):
        context.move_partition(partition, PartitionState.NEW)
        for replica in BROKERS:
            if may_change and replica in context.assignments[partition].replicas:
                context.move_replica(partition, replica, ReplicaState.NEW)


def set_missing_topic_id(cluster: Cluster, broker: int, topic: int) -> None:
    """Mint an id for a topic of the context that has none (Kafka: KafkaZkClient.setTopicIds).

    The write is fenced by the controller epoch only and sets the partitions that the context has read: what a client
    wrote in between is lost, unless topic znodes are compared before they are written.
    """
    context = cluster.controller_of(broker).topics[topic]
    if uses_topic_ids(broker) and context.partition_count > 0 and context.topic_id is None:
        check_controller_epoch(cluster, broker)
        if CAS_TOPIC_WRITE:
            read_topic_again(cluster, broker, topic)
        if context.partition_count > 0 and context.topic_id is None:
            context.topic_id = cluster.topic_ids.take()
            write_topic_from_context(cluster, broker, topic)


def is_any_topic_id_shared(cluster: Cluster, broker: int) -> bool:
    """Whether two topics of the context have one id: addTopicId throws then (Kafka: ControllerContext.addTopicId)."""
    topics = cluster.controller_of(broker).topics
    return any(
        a < b and topics[a].topic_id is not None and topics[a].topic_id == topics[b].topic_id
        for a in TOPICS
        for b in TOPICS
    )


def restore_topic_id(cluster: Cluster, broker: int, topic: int) -> None:
    """Write the context's id back to a znode that has lost it, blindly, as apache/kafka PR 13111 does."""
    context = cluster.controller_of(broker).topics[topic]
    check_controller_epoch(cluster, broker)
    topic_id = context.topic_id
    if CAS_TOPIC_WRITE:
        read_topic_again(cluster, broker, topic)
    if context.partition_count > 0:
        context.topic_id = topic_id
        write_topic_from_context(cluster, broker, topic)


def read_topic_again(cluster: Cluster, broker: int, topic: int) -> None:
    """Read a topic's znode again after a refused write, to write what it holds now.

    The read arms the watch. Reading and writing are one step here, as a lost race is retried.
    """
    context, znode = cluster.controller_of(broker).topics[topic], cluster.zookeeper.topics[topic]
    cluster.zookeeper.watches[broker].topic[topic] = True
    context.partition_count = znode.partition_count
    context.assignments = znode.assignments
    context.orders = znode.orders
    context.topic_id = znode.topic_id


@action(
    by=CONTROLLER,
    group="deletion",
    description="handles a response with KAFKA_STORAGE_ERROR: replicas are offline",
    source="KafkaController.processLeaderAndIsrResponseReceived, onReplicasBecomeOffline; "
    "processTopicDeletionStopReplicaResponseReceived, TopicDeletionManager.failReplicaDeletion",
)
def storage_error(cluster: Cluster, broker: Broker) -> None:
    """The replicas cannot lead and are not deleted. After StopReplica Kafka only fails the deletion, and may retry."""
    require(OFFLINE_LOGS)
    controller = cluster.controller_of(broker)
    require(controller.is_at(EventKind.STORAGE_ERROR))
    event = controller.events.pop()
    if not controller.is_active:
        return
    for topic in TOPICS:
        if topic == event.topic:
            replicas_become_offline(cluster, broker, topic, event.partitions, replica=event.replica)


def replicas_become_offline(
    cluster: Cluster, broker: int, topic: int, partitions: frozenset[int], *, replica: int
) -> None:
    """Elect other leaders, take the replicas out of the ISR, or fail their deletion.

    Kafka: KafkaController.onReplicasBecomeOffline.
    """
    context = cluster.controller_of(broker).topics[topic]
    known = partitions & context.partitions
    new = frozenset({p for p in PARTITIONS if p in known and replica not in context.offline[p]})
    for partition in sorted(new):
        context.offline[partition] = context.offline[partition] | {replica}
    if context.to_be_deleted:
        fail_deletion(cluster, broker, topic, known, replica=replica)
    elif new:
        take_partitions_offline(cluster, broker, topic)
        trigger_online_partition_state_change(cluster, broker, topic)
        take_replicas_offline(cluster, broker, topic, new, on=frozenset({replica}))
