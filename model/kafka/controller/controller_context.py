"""The controller module of a broker: its event queue, and its context, which holds what it has read from ZooKeeper.

Words: the *state* of a partition or replica is its state in the controller's state machine.
ControllerContext.removeTopic removes a topic without these states: a *stale entry* is the state of a topic that is
gone. It is still there when a topic of the same name is created, and makes its transitions invalid.
"""

from __future__ import annotations

from enum import Enum

from kwalk.model.kafka.domains import (
    BROKER_PAIRS,
    BROKERS,
    CHOSEN_LISTS,
    CONTROLLER_EPOCHS,
    EVENTS,
    LEADER_EPOCHS,
    NOTIFICATIONS,
    PARTITION_COUNT,
    PARTITIONS,
    RECORDS,
    TOPIC_IDS,
    TOPICS,
)
from kwalk.model.kafka.versions.deletion import CLEAR_SM_ON_REMOVE, RESIGNATION_FORGETS_OFFLINE_LOGS
from kwalk.model.kafka.versions.grain import (
    DELETE_TOPIC_ENABLE,
    DELETION,
    LATE_BROKER_EPOCHS,
    LEFT_REASSIGNMENTS,
    OFFLINE_LOGS,
    REASSIGNMENT,
    SESSIONS,
    STEPWISE_SHUTDOWN,
    UNSENT_BATCH,
)
from kwalk.model.kafka.versions.reassignment import RESIGNATION_CLEARS_THE_CONTEXT
from kwalk.model.kafka.zookeeper.znodes import Assignment
from kwalk.model.language import (
    Array,
    Fifo,
    array,
    choice,
    fifo,
    flag,
    member,
    nested,
    number,
    optional,
    state,
    subset,
    value,
)


class EventKind(Enum):
    """The events in a controller's queue (Kafka: ControllerEvent).

    `REELECT` (Kafka: Reelect, Startup), `CONTROLLER_CHANGE` (Kafka: ControllerChange), `BROKER_CHANGE` (Kafka:
    BrokerChange), `TOPIC_CHANGE` (Kafka: TopicChange), `PARTITION_MODIFICATIONS` (Kafka: PartitionModifications),
    `TOPIC_DELETION` (Kafka: TopicDeletion), `STOP_REPLICA_RESPONSE` (Kafka: TopicDeletionStopReplicaResponseReceived),
    `STORAGE_ERROR` (Kafka: LeaderAndIsrResponseReceived), `REPLICA_LEADER_ELECTION` (Kafka: ReplicaLeaderElection, of
    /admin/preferred_replica_election).
    """

    REELECT = 0
    CONTROLLER_CHANGE = 1
    BROKER_CHANGE = 2
    TOPIC_CHANGE = 3
    PARTITION_MODIFICATIONS = 4
    TOPIC_DELETION = 5
    STOP_REPLICA_RESPONSE = 6
    STORAGE_ERROR = 7
    REPLICA_LEADER_ELECTION = 8


@value
class ControllerEvent:
    """An event in a controller's queue; only PartitionModifications and StopReplica responses are about a topic.

    A response is from broker `replica`, which deleted the `partitions`. STORAGE_ERROR is a response to StopReplica or
    LeaderAndIsr with KAFKA_STORAGE_ERROR for the `partitions`.
    """

    kind: EventKind = choice(EventKind)
    topic: int = member(TOPICS)
    replica: int = member(BROKERS, when=DELETION)
    partitions: frozenset[int] = subset(PARTITIONS, when=DELETION)

    def __str__(self) -> str:
        """Return the kind, with what an event of this kind is about."""
        fields = [f"kind {self.kind.name.lower()}"]
        is_response = self.kind in (EventKind.STOP_REPLICA_RESPONSE, EventKind.STORAGE_ERROR)
        if is_response or self.kind is EventKind.PARTITION_MODIFICATIONS:
            fields.append(f"topic {TOPICS.label(self.topic)}")
        if is_response:
            names = ", ".join(map(PARTITIONS.label, sorted(self.partitions)))
            fields += [f"replica {BROKERS.label(self.replica)}", f"partitions {{{names}}}"]
        return f"ControllerEvent({', '.join(fields)})"


class EventProgress(Enum):
    """The progress of the controller's event thread in an event that takes several steps."""

    IDLE = 0
    ELECTED = 1
    TOPICS_READ = 2
    TOPIC_IDS_SET = 3
    STATES_READ = 4
    NEW_TOPICS_READ = 5
    CONTROLLER_MOVED = 6
    PARTITIONS_READ = 7
    REPLICAS_DELETED = 8
    TOPIC_DELETED = 9
    CONFIG_DELETED = 10
    STATES_DELETED = 11
    ASSIGNMENT_WRITTEN = 12
    UNNEEDED_REPLICAS_STOPPED = 13
    TARGET_IS_LED = 14
    OLD_REPLICAS_STOPPED = 15
    FAILOVER_FAILED = 16


class BrokerRegistration(Enum):
    """What the context knows of a broker's registration (Kafka: ControllerContext.liveBrokers).

    STALE is a registration that has ended, or was replaced, unnoticed by this controller. A registration stays CURRENT
    while the process has not noticed that its session has expired.
    """

    GONE = 0
    CURRENT = 1
    STALE = 2


class PartitionState(Enum):
    """The state of a partition in the controller's state machine.

    `NON_EXISTENT` (Kafka: NonExistentPartition), `NEW` (Kafka: NewPartition), `ONLINE` (Kafka: OnlinePartition),
    `OFFLINE` (Kafka: OfflinePartition).
    """

    NON_EXISTENT = 0
    NEW = 1
    ONLINE = 2
    OFFLINE = 3


class ReplicaState(Enum):
    """The state of a replica in the controller's state machine.

    `NON_EXISTENT` (Kafka: NonExistentReplica), `NEW` (Kafka: NewReplica), `ONLINE` (Kafka: OnlineReplica), `OFFLINE`
    (Kafka: OfflineReplica), `DELETION_STARTED` (Kafka: ReplicaDeletionStarted), `DELETION_SUCCESSFUL` (Kafka:
    ReplicaDeletionSuccessful), `DELETION_INELIGIBLE` (Kafka: ReplicaDeletionIneligible).
    """

    NON_EXISTENT = 0
    NEW = 1
    ONLINE = 2
    OFFLINE = 3
    DELETION_STARTED = 4
    DELETION_SUCCESSFUL = 5
    DELETION_INELIGIBLE = 6


def partition_may_become(status: PartitionState, target: PartitionState) -> bool:
    """Whether the transition is valid (Kafka: PartitionState.validPreviousStates)."""
    if target is PartitionState.NEW:
        return status is PartitionState.NON_EXISTENT
    if target is PartitionState.NON_EXISTENT:
        return status is PartitionState.OFFLINE
    return status is not PartitionState.NON_EXISTENT


def replica_may_become(status: ReplicaState, target: ReplicaState) -> bool:
    """Whether the transition is valid (Kafka: ReplicaState.validPreviousStates)."""
    if target is ReplicaState.NEW:
        return status is ReplicaState.NON_EXISTENT
    if target is ReplicaState.DELETION_STARTED:
        return status is ReplicaState.OFFLINE
    if target is ReplicaState.DELETION_SUCCESSFUL:
        return status is ReplicaState.DELETION_STARTED
    if target is ReplicaState.DELETION_INELIGIBLE:
        return status in (ReplicaState.OFFLINE, ReplicaState.DELETION_STARTED)
    return status in (ReplicaState.NEW, ReplicaState.ONLINE, ReplicaState.OFFLINE, ReplicaState.DELETION_INELIGIBLE)


@state
class Leadership:
    """A partition's leader and leader epoch in the context (Kafka: ControllerContext.partitionLeadershipInfo).

    The epoch is None while the partition has none. The ISR is stored only where there are records: a leader gets it in
    a request, and waits for its members.
    """

    leader: int | None = optional(BROKERS)
    leader_epoch: int | None = optional(number(0, LEADER_EPOCHS))
    isr: frozenset[int] = subset(BROKERS, when=RECORDS)

    @property
    def is_known(self) -> bool:
        """Whether the context has leadership for the partition."""
        return self.leader_epoch is not None


@state
class TopicContext:
    """What the context knows of a topic; nothing while it has no partitions.

    The flags say whether the topic is in topicsToBeDeleted, topicsWithDeletionStarted and topicsIneligibleForDeletion
    (Kafka: ControllerContext). Before KAFKA-3175, without delete.topic.enable, the last one says that a failover found
    the topic marked. `offline` has the brokers of each partition in replicasOnOfflineDirs; removing the topic
    does not clear it. `left_reassignment` says that partitionsBeingReassigned has a partition that is gone.
    """

    partition_count: int = number(0, PARTITION_COUNT)
    topic_id: int | None = optional(TOPIC_IDS)
    leadership: Array[Leadership] = array(PARTITIONS, Leadership)
    assignments: Array[Assignment] = array(PARTITIONS, Assignment, when=REASSIGNMENT)
    orders: Array[frozenset[int]] = array(PARTITIONS, subset(BROKER_PAIRS), when=CHOSEN_LISTS)
    partition_states: Array[PartitionState] = array(PARTITIONS, choice(PartitionState), when=DELETION)
    replica_states: Array[Array[ReplicaState]] = array(PARTITIONS, array(BROKERS, choice(ReplicaState)), when=DELETION)
    to_be_deleted: bool = flag(when=DELETION)
    deletion_started: bool = flag(when=DELETION)
    ineligible_for_deletion: bool = flag(when=DELETION)
    offline: Array[frozenset[int]] = array(PARTITIONS, subset(BROKERS), when=OFFLINE_LOGS)
    left_reassignment: bool = flag(when=LEFT_REASSIGNMENTS)

    @property
    def is_hidden(self) -> bool:
        """Whether UpdateMetadata removes the topic from metadata caches (Kafka: partitionsToBeDeleted)."""
        return self.to_be_deleted or (not DELETE_TOPIC_ENABLE and self.ineligible_for_deletion)

    @property
    def partitions(self) -> frozenset[int]:
        """The partitions that the context has."""
        return frozenset({partition for partition in PARTITIONS if partition < self.partition_count})

    @property
    def is_being_reassigned(self) -> bool:
        """Whether a partition is being reassigned (Kafka: ControllerContext.partitionsBeingReassigned)."""
        return bool(REASSIGNMENT) and any(self.assignments[p].is_being_reassigned for p in sorted(self.partitions))

    def partitions_on(self, broker: int) -> frozenset[int]:
        """Return the partitions that have a replica on the broker (Kafka: ControllerContext.replicasOnBrokers)."""
        return frozenset({p for p in sorted(self.partitions) if broker in self.assignments[p].replicas})

    def has_replica_on(self, brokers: frozenset[int]) -> bool:
        """Whether any partition has a replica on one of the brokers."""
        return any(bool(brokers & self.assignments[p].replicas) for p in sorted(self.partitions))

    def partitions_in(self, state: ReplicaState, *, on: int) -> frozenset[int]:
        """Return the partitions whose replica is in the state (Kafka: ControllerContext.replicasInState)."""
        return frozenset({p for p in sorted(self.partitions_on(on)) if self.replica_states[p][on] is state})

    def move_partition(self, partition: int, target: PartitionState) -> None:
        """Change a partition's state if the transition is valid; otherwise Kafka logs an error.

        Kafka: PartitionStateMachine.handleStateChanges.
        """
        if partition_may_become(self.partition_states[partition], target):
            self.partition_states[partition] = target

    def move_replica(self, partition: int, replica: int, target: ReplicaState) -> None:
        """Change a replica's state if the transition is valid; otherwise Kafka logs an error.

        Kafka: ReplicaStateMachine.handleStateChanges.
        """
        if replica_may_become(self.replica_states[partition][replica], target):
            self.replica_states[partition][replica] = target

    def forget_offline(self, brokers: frozenset[int]) -> None:
        """Remove the brokers' replicas from replicasOnOfflineDirs: the brokers have started, or are lost."""
        for partition in PARTITIONS:
            self.offline[partition] = self.offline[partition] - brokers

    def remove(self, *, completed: bool) -> None:
        """Remove the topic, after a deletion or as its znode is gone (Kafka: ControllerContext.removeTopic).

        The states of partitions and replicas stay, and so does topicsIneligibleForDeletion. A completed deletion has
        moved all replicas to NonExistentReplica before.
        """
        self.to_be_deleted = self.deletion_started = False
        if completed:
            self.clear_replica_states()
        if CLEAR_SM_ON_REMOVE:
            self.clear_states()
        if LEFT_REASSIGNMENTS:
            self.left_reassignment = self.left_reassignment or self.is_being_reassigned
        self.partition_count = 0
        self.topic_id = None
        for leadership in self.leadership:
            leadership.leader = None
            leadership.leader_epoch = None
            leadership.isr = frozenset()
        for partition in PARTITIONS:
            self.assignments[partition] = Assignment()
            self.orders[partition] = frozenset()

    def clear(self) -> None:
        """Remove everything that is known of the topic (Kafka: ControllerContext.resetContext).

        Before KAFKA-6630 a process keeps which replicas are offline.
        """
        if RESIGNATION_FORGETS_OFFLINE_LOGS:
            self.forget_offline(frozenset(BROKERS))
        self.remove(completed=False)
        self.clear_states()
        if LEFT_REASSIGNMENTS:
            self.left_reassignment = False

    def clear_states(self) -> None:
        """Remove the states of partitions and replicas, and the progress of a deletion."""
        self.to_be_deleted = self.deletion_started = self.ineligible_for_deletion = False
        self.clear_replica_states()
        for partition in PARTITIONS:
            self.partition_states[partition] = PartitionState.NON_EXISTENT

    def clear_replica_states(self) -> None:
        """Move all replicas to NonExistentReplica."""
        for partition in PARTITIONS:
            for replica in BROKERS:
                self.replica_states[partition][replica] = ReplicaState.NON_EXISTENT


@state
class ReassignmentProgress:
    """The reassignment that the event thread is at, between two of its writes.

    `before` has the replicas that the context had before, `removing` those that are to be stopped once the target is
    led. `left` has the partitions whose reassignments are to be resumed next, in the same event. `in_failover` says
    that this event is a failover. Afterwards, in the same event, the deletions of topics that have a replica on the
    brokers of `then_deletes_on` are resumed, or after a failover all of them.
    """

    topic: int = member(TOPICS, when=REASSIGNMENT)
    partition: int = member(PARTITIONS, when=REASSIGNMENT)
    before: frozenset[int] = subset(BROKERS, when=REASSIGNMENT)
    removing: frozenset[int] = subset(BROKERS, when=REASSIGNMENT)
    left: Array[frozenset[int]] = array(TOPICS, subset(PARTITIONS), when=REASSIGNMENT)
    in_failover: bool = flag(when=REASSIGNMENT)
    then_deletes_on: frozenset[int] = subset(BROKERS, when=REASSIGNMENT)

    def end(self) -> None:
        """Forget a reassignment whose steps are done."""
        self.topic = self.partition = 0
        self.before = self.removing = frozenset()

    def clear(self) -> None:
        """Forget everything: the event ends early."""
        self.end()
        self.in_failover, self.then_deletes_on = False, frozenset()
        for topic in TOPICS:
            self.left[topic] = frozenset()


@state
class Controller:
    """A broker's controller module: its event queue and, while it considers itself active, its context.

    Requests of clients and brokers and the timer of preferred elections have no event here: ControlledShutdown,
    ApiPartitionReassignment, AlterIsrReceived, AutoPreferredReplicaLeaderElection. Kafka puts them into the same
    queue, which is FIFO (ControllerEventManager.put). Here they are put there and handled in one step, when they are
    handled. So what waits then was put there later, and the request was sent earlier; where it could not be sent so
    early, the step is more than Kafka has (docs/explanation/fidelity.md). An empty queue is not required: then no
    request would be handled by a context that is behind ZooKeeper, although a client may write a znode while the
    request waits.

    It considers itself active while its epoch is not 0, or while it is `uninitialized`: then an election found this
    broker in /controller, and there was no failover. `new_topics` are those that the TopicChange under way has found.
    `shutting_down` (Kafka: ControllerContext.shuttingDownBrokerIds) are brokers that get requests and do not lead.
    `is_registering` says that the broker is registered in a new session, and does not know its broker epoch yet.
    `has_unsent_batch` says that the batch of the replica state machine has requests that were not sent. The batch is
    the process's: it stays when the module resigns.
    """

    events: Fifo[ControllerEvent] = fifo(ControllerEvent, EVENTS)
    notifications: Fifo[ControllerEvent] = fifo(ControllerEvent, NOTIFICATIONS)
    epoch: int = number(0, CONTROLLER_EPOCHS)
    uninitialized: bool = flag(when=SESSIONS)
    step: EventProgress = choice(EventProgress)
    new_topics: frozenset[int] = subset(TOPICS)
    reassignment: ReassignmentProgress = nested(ReassignmentProgress)
    registrations: Array[BrokerRegistration] = array(BROKERS, choice(BrokerRegistration))
    shutting_down: frozenset[int] = subset(BROKERS, when=STEPWISE_SHUTDOWN)
    has_unsent_batch: bool = flag(when=UNSENT_BATCH)
    is_registering: bool = flag(when=LATE_BROKER_EPOCHS)
    topics: Array[TopicContext] = array(TOPICS, TopicContext)

    @property
    def is_active(self) -> bool:
        """Whether the module considers itself the active controller (Kafka: KafkaController.isActive)."""
        return self.epoch > 0 or self.uninitialized

    @property
    def live_brokers(self) -> frozenset[int]:
        """The brokers that are live in the context (Kafka: ControllerContext.liveBrokerIds)."""
        return self.live_or_shutting_down - self.shutting_down

    @property
    def live_or_shutting_down(self) -> frozenset[int]:
        """The brokers that get requests (Kafka: ControllerContext.liveOrShuttingDownBrokerIds)."""
        return frozenset({broker for broker in BROKERS if self.registrations[broker] is not BrokerRegistration.GONE})

    def is_at(self, kind: EventKind) -> bool:
        """Whether the event thread is free and the next event is of this kind."""
        is_free = self.step is EventProgress.IDLE and not self.is_registering
        return is_free and not self.events.is_empty and self.events.head.kind is kind

    def end_event(self) -> None:
        """End the event under way, wherever it is."""
        self.step = EventProgress.IDLE
        self.is_registering = False
        self.new_topics = frozenset()
        self.reassignment.clear()

    def clear(self) -> None:
        """Clear the context; the module is not active."""
        self.epoch = 0
        self.uninitialized = False
        self.end_event()
        self.shutting_down = frozenset()
        for broker in BROKERS:
            self.registrations[broker] = BrokerRegistration.GONE
        for topic in self.topics:
            kept = [topic.assignments[partition] for partition in PARTITIONS]
            topic.clear()
            for partition in PARTITIONS:
                if not RESIGNATION_CLEARS_THE_CONTEXT:
                    topic.assignments[partition] = kept[partition]
