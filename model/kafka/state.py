"""The state of a cluster: ZooKeeper, the brokers with their replicas, and how much of each budget is spent.

ZooKeeper's part is in `zookeeper.znodes`, a broker's controller module in `controller.controller_context`. A replica
has its topic id twice: in its log's memory and in the file *partition.metadata*. What no action can observe is reset to
its default, so that equivalent clusters are equal states.
"""

from __future__ import annotations

from enum import Enum

from kwalk.model.kafka.broker.log import Commit, Log, Record, Replication
from kwalk.model.kafka.controller.controller_context import Controller
from kwalk.model.kafka.domains import (
    ADMINS,
    AUTH_FAILURES,
    BACKUPS,
    BIND_FAILURES,
    BROKER_PAIRS,
    BROKERS,
    CANCELLATIONS,
    CHOSEN_LISTS,
    CONTROLLER_EPOCHS,
    DELETIONS,
    DIRECTORY_FAILURES,
    ELECTION_REQUESTS,
    EXPANSIONS,
    EXPIRATIONS,
    FAILOVERS,
    HAND_REMOVALS,
    LATE_COPIES,
    LATE_ZNODES,
    LATER_COMMITS,
    LEADER_EPOCHS,
    LISTINGS,
    LOST_REGISTRATIONS,
    NEW_EXPANSIONS,
    ORIGINALS,
    PARTITION_COUNT,
    PARTITIONS,
    PLANNED_LIVES,
    REASSIGNMENTS,
    RECORDS,
    REPAIRS,
    REPLICA_TARGETS,
    RESTARTS,
    RUNBOOK_TASKS,
    SESSION_FAILURES,
    STRAYS,
    TOPIC_IDS,
    TOPICS,
)
from kwalk.model.kafka.migration.state import BrokerMode, MigrationState
from kwalk.model.kafka.requests import ControlRequest, RequestQueue, UpdateMetadataPartitionState
from kwalk.model.kafka.versions.grain import (
    BROKER_CHECKS,
    FAILED_DIRECTORIES,
    LIVE_BROKER_CACHES,
    METADATA_CACHES,
    METADATA_FILE_REMOVAL,
    MIGRATION,
    OFFLINE_LOGS,
    REASSIGNMENT,
    SESSIONS,
    STATE_VERSIONS,
    STEPWISE_SHUTDOWN,
    STOP_REPLICA,
    TWO_STEP_ADMIN,
)
from kwalk.model.kafka.zookeeper.znodes import Assignment, ReplicaOrder, ZooKeeper
from kwalk.model.language import (
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
)


@state
class Replica:
    """A broker's replica of a partition (Kafka: Partition, HostedPartition).

    `topic_id` is the id of its log in memory, `file_topic_id` the one in partition.metadata. `log_open`, `leader_epoch`
    and `is_leader` belong to its Partition object, which a process starts without. `dirty` exists only where files can
    be removed: the id in memory is still to be written; elsewhere `log_manager.is_dirty` derives it. `on_disk` exists
    only where StopReplica is sent: the log has a directory, and a process that starts loads it. `offline` is
    HostedPartition.Offline: this process refuses all requests about it. `assigned` has the replicas that a leader got
    with its leader epoch, where replicas can be reassigned (Kafka: Partition.remoteReplicasMap). `lacks_fetcher` is a
    follower's that got its leader epoch when its process was stopping already: it does not fetch. `has_later_version`
    says that its process has seen a later version of the state znode than there is (Kafka: Partition.partitionEpoch),
    as long as the process lives: versions only rise, and by how much is not known. `backup` has the records of
    directories that an operator has moved away; `set_aside` those of logs that a broker took for strays.
    """

    log_open: bool = flag()
    leader_epoch: int | None = optional(number(0, LEADER_EPOCHS))
    is_leader: bool = flag()
    lacks_fetcher: bool = flag(when=STEPWISE_SHUTDOWN)
    has_later_version: bool = flag(when=STATE_VERSIONS)
    assigned: frozenset[int] = subset(BROKERS, when=REASSIGNMENT)
    topic_id: int | None = optional(TOPIC_IDS)
    file_topic_id: int | None = optional(TOPIC_IDS)
    dirty: bool = flag(when=METADATA_FILE_REMOVAL)
    on_disk: bool = flag(when=STOP_REPLICA)
    offline: bool = flag(when=OFFLINE_LOGS)
    log: Log = nested(Log)
    replication: Replication = nested(Replication)
    backup: Fifo[Record] = fifo(Record, BACKUPS)
    set_aside: Fifo[Record] = fifo(Record, STRAYS)


class LogDirectoryState(Enum):
    """A broker's log directory without logs, in which it creates the next one: it works, fails, or is known to fail."""

    WORKS = 0
    FAILS = 1
    OFFLINE = 2


class SessionState(Enum):
    """A process's session: live; expired, unnoticed by the process; or replaced by its successor."""

    LIVE = 0
    EXPIRED = 1
    RENEWED = 2


@state
class BrokerState:
    """A broker: its controller module, the requests on their way to it, and its replicas.

    `controller_epoch` is the highest that its replica manager has seen. Without a process the session counts as live;
    with one, the broker is in /brokers/ids iff it is live, unless the znodes of an earlier session are still there:
    `gave_up` says that it found them, and does not try to register again; `has_unknown_znode`, that it does not know
    that session, in which it was not answered; `lacks_client`, that the process has no
    client of ZooKeeper any more that would make a session. `is_stopping` says that the process has begun
    a controlled shutdown. `metadata` is its metadata cache; `cached_topics` (Kafka: MetadataCache.contains) are the
    topics in it, where only they matter, and `cached_brokers` (Kafka: MetadataCache.getAliveBrokers) the live brokers.
    `listed_topics` are those whose names a Metadata request for all topics has read, and not yet what they are. No
    request arrives at a broker that `has_no_listener`.
    `spare_directory` is the log directory with the fewest logs (Kafka: LogManager.nextLogDirs): none.
    """

    session: SessionState = choice(SessionState, when=SESSIONS)
    gave_up: bool = flag(when=LATE_ZNODES)
    has_unknown_znode: bool = flag(when=LOST_REGISTRATIONS)
    lacks_client: bool = flag(when=SESSION_FAILURES)
    is_stopping: bool = flag(when=STEPWISE_SHUTDOWN)
    mode: BrokerMode = choice(BrokerMode, when=MIGRATION)
    controller: Controller = nested(Controller)
    controller_epoch: int = number(0, CONTROLLER_EPOCHS)
    requests: RequestQueue = nested(RequestQueue)
    replicas: Array[Array[Replica]] = array(TOPICS, array(PARTITIONS, Replica))
    metadata: Array[Array[UpdateMetadataPartitionState]] = array(
        TOPICS, array(PARTITIONS, UpdateMetadataPartitionState), when=METADATA_CACHES
    )
    cached_topics: frozenset[int] = subset(TOPICS, when=BROKER_CHECKS)
    cached_brokers: frozenset[int] = subset(BROKERS, when=LIVE_BROKER_CACHES)
    listed_topics: frozenset[int] = subset(TOPICS, when=LISTINGS)
    has_no_listener: bool = flag(when=BIND_FAILURES)
    spare_directory: LogDirectoryState = choice(LogDirectoryState, when=FAILED_DIRECTORIES)

    def cache_topic(self, request: ControlRequest) -> None:
        """Add the topic to the metadata cache or remove it, as the UpdateMetadata of the same batch does."""
        if BROKER_CHECKS:
            others = self.cached_topics - {request.topic}
            self.cached_topics = others | {request.topic} if request.is_cached else others


@state
class Admin:
    """A client that adds partitions in two steps, and what it has read of a topic's znode; no partitions if nothing.

    `assignments` and `orders` exist only where replicas are reassigned: elsewhere nobody changes them.
    """

    topic: int = member(TOPICS, when=TWO_STEP_ADMIN)
    partition_count: int = number(0, PARTITION_COUNT, when=TWO_STEP_ADMIN)
    topic_id: int | None = optional(TOPIC_IDS, when=TWO_STEP_ADMIN)
    assignments: Array[Assignment] = array(PARTITIONS, Assignment, when=REASSIGNMENT)
    orders: Array[frozenset[int]] = array(PARTITIONS, subset(BROKER_PAIRS), when=CHOSEN_LISTS)

    def forget(self) -> None:
        """Clear what was read: the client has finished, or has given up."""
        self.topic = self.partition_count = 0
        self.topic_id = None
        for partition in PARTITIONS:
            self.assignments[partition] = Assignment()
            self.orders[partition] = frozenset()


@state
class Runbook:
    """An operator's progress in a runbook: tasks that are done, and the brokers on which the present one is done.

    While the operator `keeps_down` brokers, none of them starts.
    """

    tasks_done: int = number(0, RUNBOOK_TASKS)
    done_on: frozenset[int] = subset(BROKERS, when=RUNBOOK_TASKS)
    keeps_down: bool = flag(when=RUNBOOK_TASKS)

    def finish_task(self) -> None:
        """Make the next task due."""
        self.tasks_done += 1
        self.done_on = frozenset()

    def finish_on(self, broker: int) -> None:
        """Mark the task as done on one broker; when it is done on all, the next one is due."""
        self.done_on = self.done_on | {broker}
        if self.done_on == frozenset(BROKERS):
            self.finish_task()


@state
class Cluster:
    """ZooKeeper, the brokers, and how much of each budget is spent.

    `deposed_write` is history: whether a controller ever wrote after another one had been elected. So is `commits`: the
    committed records of each topic's present incarnation, and `originals`: records that disks had at the beginning.
    `planned` has the list of replicas that clients give each partition in each incarnation of a topic, and `targets`
    those that they ask for in reassignments: both never change.
    """

    zookeeper: ZooKeeper = nested(ZooKeeper)
    brokers: Array[BrokerState] = array(BROKERS, BrokerState)
    commits: Array[Array[Fifo[Commit]]] = array(TOPICS, array(PARTITIONS, fifo(Commit, RECORDS + LATER_COMMITS)))
    originals: Array[Array[Fifo[Record]]] = array(TOPICS, array(PARTITIONS, fifo(Record, ORIGINALS)))
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
    lost_registrations: int = number(0, LOST_REGISTRATIONS)
    session_failures: int = number(0, SESSION_FAILURES)
    directory_failures: int = number(0, DIRECTORY_FAILURES)
    deposed_write: bool = flag(when=SESSIONS)
    repairs: int = number(0, REPAIRS)
    election_requests: int = number(0, ELECTION_REQUESTS)
    listings: int = number(0, LISTINGS)
    bind_failures: int = number(0, BIND_FAILURES)
    reassignments: int = number(0, REASSIGNMENTS)
    cancellations: int = number(0, CANCELLATIONS)
    late_copies: int = number(0, LATE_COPIES)
    planned: Array[Array[ReplicaOrder]] = array(PLANNED_LIVES, array(PARTITIONS, ReplicaOrder), when=CHOSEN_LISTS)
    targets: Array[ReplicaOrder] = array(REPLICA_TARGETS, ReplicaOrder, when=CHOSEN_LISTS)
    migration: MigrationState = nested(MigrationState)

    def is_up(self, broker: int) -> bool:
        """Whether the broker's process runs."""
        return self.is_registered(broker) or self.brokers[broker].session is not SessionState.LIVE

    def is_registered(self, broker: int) -> bool:
        """Whether /brokers/ids has the broker."""
        return broker in self.zookeeper.broker_ids

    @property
    def all_up(self) -> bool:
        """Whether the processes of all brokers run."""
        return all(self.is_up(broker) for broker in BROKERS)

    def controller_of(self, broker: int) -> Controller:
        """Return the broker's controller module, whether it is active or not."""
        return self.brokers[broker].controller

    def replica_of(self, broker: int, topic: int, partition: int) -> Replica:
        """Return the broker's replica of a partition."""
        return self.brokers[broker].replicas[topic][partition]
