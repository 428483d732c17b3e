"""The controller module of a broker: its queue of events, and the *context*, its memory of what ZooKeeper holds."""
from __future__ import annotations

from enum import Enum

from model.kafka.domains import (
    BROKERS,
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
from model.kafka.state_machines import StateMachines
from model.kafka.versions import DELETION, OFFLINE_LOGS, REASSIGNMENT, SESSIONS
from model.kafka.znodes import Assignment
from model.language import (
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
