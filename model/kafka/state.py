"""The state of a cluster: what ZooKeeper, each broker's controller module, each replica and each log directory hold.

Words: a *znode* is ZooKeeper's record; a topic's znode has its partitions and its topic id, a partition's *state znode*
has leader, ISR and leader epoch. The *context* is the active controller's memory of them. A *watch* is one-shot: when
it fires it is gone until a read arms it again. A replica's topic id lives twice: in its log's memory and in the file
*partition.metadata*. What nobody can see is reset to its default, so that equal clusters are equal states.
"""
from __future__ import annotations

from enum import Enum

from model.kafka.domains import (
    ADMINS,
    AUTH_FAILURES,
    BROKERS,
    CANCELLATIONS,
    CONTROLLER_EPOCHS,
    DELETIONS,
    EVENTS,
    EXPANSIONS,
    EXPIRATIONS,
    FAILOVERS,
    HAND_REMOVALS,
    INCARNATIONS,
    LATE_COPIES,
    LEADER_EPOCHS,
    NEW_EXPANSIONS,
    NOTIFICATIONS,
    PARTITION_COUNT,
    PARTITIONS,
    REASSIGNMENTS,
    RECORDS,
    REPAIRS,
    RESTARTS,
    RUNBOOK_TASKS,
    TOPIC_IDS,
    TOPICS,
)
from model.kafka.log import Commit, Log, Replication
from model.kafka.requests import CachedPartition, RequestQueue
from model.kafka.state_machines import StateMachines
from model.kafka.versions import (
    DELETION,
    METADATA_CACHES,
    METADATA_FILE_REMOVAL,
    OFFLINE_LOGS,
    REASSIGNMENT,
    SESSIONS,
    STOP_REPLICA,
    TWO_STEP_ADMIN,
)
from model.language import (
    Array,
    Fifo,
    Fresh,
    array,
    choice,
    fifo,
    flag,
    fresh,
    member,
    nested,
    number,
    optional,
    state,
    subset,
    value,
)

# Assignments.


@value
class Assignment:
    """A partition's replicas; `adding` and `removing` are those of a reassignment under way, among the replicas.

    The preferred replica is not the first of a list: it is the first of the set in the order of `assignment`.
    """

    replicas: frozenset[int] = subset(BROKERS, full=True)
    adding: frozenset[int] = subset(BROKERS)
    removing: frozenset[int] = subset(BROKERS)

    @property
    def origin(self) -> frozenset[int]:
        """The replicas before the reassignment."""
        return self.replicas - self.adding

    @property
    def target(self) -> frozenset[int]:
        """The replicas after the reassignment."""
        return self.replicas - self.removing

    @property
    def is_being_reassigned(self) -> bool:
        """ReplicaAssignment.isBeingReassigned."""
        return bool(self.adding) or bool(self.removing)


# ZooKeeper.


@state
class PartitionStateZnode:
    """/brokers/topics/T/partitions/P/state; there is none while the leader epoch is None."""

    leader: int | None = optional(BROKERS)
    isr: frozenset[int] = subset(BROKERS)
    leader_epoch: int | None = optional(number(0, LEADER_EPOCHS))

    @property
    def exists(self) -> bool:
        """Whether the znode is there."""
        return self.leader_epoch is not None


@state
class TopicZnode:
    """/brokers/topics/T, and facts of its history that no znode holds; there is none without partitions.

    `first_topic_id` is the first id that this incarnation was ever given, `accepted_partitions` the number of
    partitions that clients were told the topic has. Where topics are deleted, `has_config` says whether
    /config/topics/T exists, and two facts outlive the znode: whether it `was_created` ever, and whether somebody
    asked for the last incarnation's deletion.
    """

    partition_count: int = number(0, PARTITION_COUNT)
    topic_id: int | None = optional(TOPIC_IDS)
    states: Array[PartitionStateZnode] = array(PARTITIONS, PartitionStateZnode)
    assignments: Array[Assignment] = array(PARTITIONS, Assignment, when=REASSIGNMENT)
    first_topic_id: int | None = optional(TOPIC_IDS)
    accepted_partitions: int = number(0, PARTITION_COUNT)
    incarnation: int = number(0, INCARNATIONS)
    has_config: bool = flag(when=DELETION)
    was_created: bool = flag(when=DELETION)
    deletion_asked: bool = flag(when=DELETION)

    @property
    def exists(self) -> bool:
        """Whether the znode is there."""
        return self.partition_count > 0


@state
class Watches:
    """The armed watches of one broker's session."""

    controller: bool = flag()
    broker_ids: bool = flag()
    topics: bool = flag()
    topic: Array[bool] = array(TOPICS, flag())
    delete_topics: bool = flag(when=DELETION)


@state
class ZooKeeper:
    """All znodes. `broker_ids` are the children of /brokers/ids: registered brokers whose session lives.

    /controller_epoch is written by elections only, so the epoch is also the znode version by which writes are fenced.
    """

    controller: int | None = optional(BROKERS)
    controller_epoch: int = number(0, CONTROLLER_EPOCHS)
    broker_ids: frozenset[int] = subset(BROKERS, full=True)
    topics: Array[TopicZnode] = array(TOPICS, TopicZnode)
    delete_topics: frozenset[int] = subset(TOPICS, when=DELETION)
    watches: Array[Watches] = array(BROKERS, Watches)


# The controller module of a broker.


class EventKind(Enum):
    """The controller events of this model; Startup is handled as Reelect is."""

    REELECT = 0
    CONTROLLER_CHANGE = 1
    BROKER_CHANGE = 2
    TOPIC_CHANGE = 3
    PARTITION_MODIFICATIONS = 4
    TOPIC_DELETION = 5
    STOP_REPLICA_RESPONSE = 6
    STORAGE_ERROR = 7


@value
class ControllerEvent:
    """An event in a controller's queue; only PartitionModifications and a StopReplica response are about a topic.

    The response, TopicDeletionStopReplicaResponseReceived, is of broker `replica`, which deleted the `partitions`.
    STORAGE_ERROR is a response to StopReplica or LeaderAndIsr that says KAFKA_STORAGE_ERROR for the `partitions`.
    """

    kind: EventKind = choice(EventKind)
    topic: int = member(TOPICS)
    replica: int = member(BROKERS, when=DELETION)
    partitions: frozenset[int] = subset(PARTITIONS, when=DELETION)


class Step(Enum):
    """How far the controller's event thread is with an event that takes several steps."""

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


class Liveness(Enum):
    """What the context thinks of a broker; STALE is one whose registration it knows has ended unnoticed.

    While a process has not noticed that its session expired, it goes by that registration itself: it is CURRENT.
    """

    GONE = 0
    CURRENT = 1
    STALE = 2


@state
class Leadership:
    """A partition's leader and leader epoch in the context; the epoch is None while the partition has none.

    The ISR is kept only where there are records: requests tell it to the leader, which waits for it.
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
    """What the context knows of a topic: nothing while it has no partitions.

    `offline` are the replicas in replicasOnOfflineDirs; a topic that is removed does not take them along.
    """

    partition_count: int = number(0, PARTITION_COUNT)
    topic_id: int | None = optional(TOPIC_IDS)
    leadership: Array[Leadership] = array(PARTITIONS, Leadership)
    assignments: Array[Assignment] = array(PARTITIONS, Assignment, when=REASSIGNMENT)
    machines: StateMachines = nested(StateMachines)
    offline: Array[frozenset[int]] = array(PARTITIONS, subset(BROKERS), when=OFFLINE_LOGS)

    def forget(self) -> None:
        """Nothing is known any more."""
        self.forget_offline(frozenset(BROKERS))
        self.remove(completed=False)
        self.machines.clear()

    def forget_offline(self, brokers: frozenset[int]) -> None:
        """A broker that starts or is lost is not known to have offline replicas."""
        for partition in PARTITIONS:
            self.offline[partition] = self.offline[partition] - brokers

    def remove(self, *, completed: bool) -> None:
        """ControllerContext.removeTopic, after a deletion or because the znode is gone; dead entries stay."""
        self.machines.remove_topic(completed=completed)
        self.partition_count = 0
        self.topic_id = None
        for leadership in self.leadership:
            leadership.leader = None
            leadership.leader_epoch = None
            leadership.isr = frozenset()
        for partition in PARTITIONS:
            self.assignments[partition] = Assignment()


@state
class Controller:
    """A broker's controller module: its event queue and, while it thinks that it is active, its context.

    It thinks so while its epoch is not 0; also if it is `uninitialized`: then an election found it in /controller
    already, and there was no failover. `new_topics` are those that the TopicChange under way has found.
    """

    events: Fifo[ControllerEvent] = fifo(ControllerEvent, EVENTS)
    notifications: Fifo[ControllerEvent] = fifo(ControllerEvent, NOTIFICATIONS)
    epoch: int = number(0, CONTROLLER_EPOCHS)
    uninitialized: bool = flag(when=SESSIONS)
    step: Step = choice(Step)
    new_topics: frozenset[int] = subset(TOPICS)
    liveness: Array[Liveness] = array(BROKERS, choice(Liveness))
    topics: Array[TopicContext] = array(TOPICS, TopicContext)

    @property
    def is_active(self) -> bool:
        """Whether the module thinks that it is the active controller."""
        return self.epoch > 0 or self.uninitialized

    @property
    def live_brokers(self) -> frozenset[int]:
        """The brokers that the context takes for live."""
        return frozenset({broker for broker in BROKERS if self.liveness[broker] is not Liveness.GONE})

    def is_at(self, kind: EventKind) -> bool:
        """Whether the event thread is free and the next event is of this kind."""
        return self.step is Step.IDLE and not self.events.is_empty and self.events.head.kind is kind

    def forget(self) -> None:
        """The context is empty and the module is not active."""
        self.epoch = 0
        self.uninitialized = False
        self.step = Step.IDLE
        self.new_topics = frozenset()
        for broker in BROKERS:
            self.liveness[broker] = Liveness.GONE
        for topic in self.topics:
            topic.forget()


# Brokers.


@state
class Replica:
    """A broker's replica of a partition.

    `topic_id` is the id of its log in memory, `file_topic_id` the one in partition.metadata. `log_open`, `leader_epoch`
    and `is_leader` are of its Partition object, which a process starts without. `dirty` is kept only where files can
    be removed: the id in memory is still to be written; elsewhere `log_directory.is_dirty` derives it. `on_disk` is
    kept only where StopReplica is sent: the log has a directory, and a process that starts loads it. `offline` is
    HostedPartition.Offline: this process refuses all that is about it.
    """

    log_open: bool = flag()
    leader_epoch: int | None = optional(number(0, LEADER_EPOCHS))
    is_leader: bool = flag()
    topic_id: int | None = optional(TOPIC_IDS)
    file_topic_id: int | None = optional(TOPIC_IDS)
    dirty: bool = flag(when=METADATA_FILE_REMOVAL)
    on_disk: bool = flag(when=STOP_REPLICA)
    offline: bool = flag(when=OFFLINE_LOGS)
    log: Log = nested(Log)
    replication: Replication = nested(Replication)


class Session(Enum):
    """A process's session: it lives; it has expired, and the process does not know; or its successor has begun."""

    LIVE = 0
    EXPIRED = 1
    RENEWED = 2


@state
class BrokerState:
    """A broker: its controller module, the requests on their way to it, and its replicas.

    `controller_epoch` is the highest that its replica manager has seen. Without a process the session counts as live;
    with one, the broker is in /brokers/ids just while it is. `metadata` is its metadata cache.
    """

    session: Session = choice(Session, when=SESSIONS)
    controller: Controller = nested(Controller)
    controller_epoch: int = number(0, CONTROLLER_EPOCHS)
    requests: RequestQueue = nested(RequestQueue)
    replicas: Array[Array[Replica]] = array(TOPICS, array(PARTITIONS, Replica))
    metadata: Array[Array[CachedPartition]] = array(TOPICS, array(PARTITIONS, CachedPartition), when=METADATA_CACHES)


@state
class Admin:
    """A client that adds partitions in two steps: what it has read of a topic's znode; no partitions if nothing."""

    topic: int = member(TOPICS, when=TWO_STEP_ADMIN)
    partition_count: int = number(0, PARTITION_COUNT, when=TWO_STEP_ADMIN)
    topic_id: int | None = optional(TOPIC_IDS, when=TWO_STEP_ADMIN)

    def forget(self) -> None:
        """It has done its work, or has given up."""
        self.topic = self.partition_count = 0
        self.topic_id = None


@state
class Runbook:
    """How far an operator is with a runbook: tasks that are done, and the brokers on which the present one is.

    While the operator `keeps_down` brokers, none that stops starts again.
    """

    tasks_done: int = number(0, RUNBOOK_TASKS)
    done_on: frozenset[int] = subset(BROKERS, when=RUNBOOK_TASKS)
    keeps_down: bool = flag(when=RUNBOOK_TASKS)

    def finish_task(self) -> None:
        """The next task is due."""
        self.tasks_done += 1
        self.done_on = frozenset()

    def finish_on(self, broker: int) -> None:
        """The task is done on one broker; when it is on all, the next one is due."""
        self.done_on = self.done_on | {broker}
        if self.done_on == frozenset(BROKERS):
            self.finish_task()


@state
class Cluster:
    """ZooKeeper, the brokers, and how much of each budget is spent.

    `deposed_write` is history: whether ever a controller wrote after another one had been elected. So is
    `commits`: which records of each topic's present incarnation were acknowledged.
    """

    zookeeper: ZooKeeper = nested(ZooKeeper)
    brokers: Array[BrokerState] = array(BROKERS, BrokerState)
    commits: Array[Array[Fifo[Commit]]] = array(TOPICS, array(PARTITIONS, fifo(Commit, RECORDS)))
    admins: Array[Admin] = array(ADMINS, Admin)
    topic_ids: Fresh = fresh(TOPIC_IDS)
    expansions: int = number(0, EXPANSIONS)
    new_expansions: int = number(0, NEW_EXPANSIONS)
    controller_deletions: int = number(0, FAILOVERS)
    deletions: int = number(0, DELETIONS)
    hand_removals: int = number(0, HAND_REMOVALS)
    runbook: Runbook = nested(Runbook)
    stops: int = number(0, RESTARTS)
    expirations: int = number(0, EXPIRATIONS)
    auth_failures: int = number(0, AUTH_FAILURES)
    deposed_write: bool = flag(when=SESSIONS)
    repairs: int = number(0, REPAIRS)
    reassignments: int = number(0, REASSIGNMENTS)
    cancellations: int = number(0, CANCELLATIONS)
    late_copies: int = number(0, LATE_COPIES)

    def is_up(self, broker: int) -> bool:
        """Whether the broker's process runs."""
        return self.is_registered(broker) or self.brokers[broker].session is not Session.LIVE

    def is_registered(self, broker: int) -> bool:
        """Whether /brokers/ids has the broker."""
        return broker in self.zookeeper.broker_ids
