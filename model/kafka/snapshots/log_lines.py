"""The log lines of a broker that a behaviour must pass through: what Kafka logs, and which steps of the model that is.

Words: a *template* is the text of a line with a field in braces for each value; `{}` stands for any text. A *thread* of
a broker logs its lines in the order of what it does: the controller's event thread into controller.log and into
state-change.log (two files, whose lines are not ordered with each other to the millisecond), the thread that starts and
stops the broker, and those that handle requests of the controller, one at a time.

A line is used only in what every history that writes it has in common. Many lines constrain nothing: what they say
follows from others (*implied*). Others are not in the table: what they say depends on what the model joins into one
step or leaves out, such as "Shutting down broker", after which a broker may take minutes to stop.

Source: the functions that are named with each line, of 2.8.2 and 3.9.0.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from enum import Enum

from attrs import field, frozen

from kwalk.model.kafka.broker.kafka_server import restart, start_with_offline_logs
from kwalk.model.kafka.broker.replica_manager import handle_leader_and_isr, handle_stop_replica
from kwalk.model.kafka.controller.controller_context import BrokerRegistration
from kwalk.model.kafka.controller.kafka_controller import (
    broker_failure,
    broker_startup,
    failover_sends_requests,
    partition_modifications,
    topic_change,
)
from kwalk.model.kafka.controller.topic_deletion_manager import complete_deletion_deletes_request, topic_deletion
from kwalk.model.kafka.migration.broker_server import (
    apply_image,
    stop_for_kraft,
    stop_for_zookeeper,
    stop_to_migrate,
)
from kwalk.model.kafka.migration.kraft_migration_driver import fail_quorum, provision_again
from kwalk.model.kafka.migration.state import DriverState
from kwalk.model.kafka.snapshots.capture import ZERO_ID
from kwalk.model.kafka.snapshots.limits import ENDS
from kwalk.model.kafka.snapshots.projection import NONE, TOPIC, Numbering
from kwalk.model.kafka.state import SessionState
from kwalk.model.language import Action
from kwalk.model.language.series import Clause, Event, where


class LogThread(Enum):
    """Who logs a line, of one broker; the lines of each are in the order of what it does."""

    CONTROLLER = "controller.log, event thread of the controller"
    STATE_MACHINES = "state-change.log, event thread of the controller"
    REPLICA_MANAGER = "state-change.log, requests of the controller"
    SERVER = "server.log, start and stop"
    SESSION = "server.log, ZooKeeper client"
    ISR = "server.log, ISR of each partition"
    LOGS = "server.log, logs of partitions"
    DRIVER = "controller.log of a KRaft controller, migration driver"


class Unused(Enum):
    """Why a line that is understood constrains no behaviour."""

    IMPLIED = "that say what others say"
    LIMIT = "that say which broker is the controller of an epoch, which holds in all states"
    OTHER_TOPIC = "about other topics"
    OTHER_BROKER = "about brokers that are left out"
    OUTSIDE = "from before the first snapshot or after the last one, for certain or perhaps"
    UNSEEN = "that say what no snapshot shows (a topic id, a partition, a leader epoch, a deletion)"
    COPY = "that are copies, or of no known broker"
    UNORDERED = "of logs whose times go back"


@frozen
class Drawn:
    """What a line shows of a step: conditions on the states around it, and arguments of its action."""

    clauses: tuple[Clause, ...] = ()
    before: tuple[Clause, ...] = ()
    arguments: Mapping[str, int] = field(factory=dict)
    actions: tuple[Action, ...] = ()
    """The actions, where they depend on the line."""
    events: frozenset[Event] = frozenset()
    """The assumed events of which one happens before the step, or is it."""


Fields = Mapping[str, str]
Draw = Callable[[Fields, Numbering], Drawn | Unused]


@frozen
class LineKind:
    """A line that brokers log.

    Attributes:
        texts: its templates, by the first release with it.
        thread: who logs it.
        level: at which level.
        source: the functions of Kafka that log it.
        shows: what a behaviour must have, in words; or why it constrains nothing.
        actions: the actions of which one is the step; any if there is none.
        draw: what it shows, in the terms of the model; or why it constrains nothing.
        distinct: whether each line is another step.
        opens: whether the steps of later lines of the thread, up to the next one that opens, are taken after it.
        slack: seconds after which the step may still be taken.
        precedes: whether it is logged before the writes of its step, which are done before the next line of the thread.
    """

    texts: Mapping[str, str]
    thread: LogThread
    level: str
    source: str
    shows: str
    actions: tuple[Action, ...] = ()
    draw: Draw | Unused = Unused.IMPLIED
    distinct: bool = False
    opens: bool = False
    slack: float = 0.0
    precedes: bool = False
    patterns: tuple[re.Pattern[str], ...] = field(init=False, repr=False)

    @patterns.default
    def _compiled(self) -> tuple[re.Pattern[str], ...]:
        return tuple(re.compile(pattern_of(text)) for text in self.texts.values())

    def match(self, message: str) -> Fields | None:
        """Return the fields of a message; None if it is another line."""
        for pattern in self.patterns:
            if found := pattern.fullmatch(message):
                return found.groupdict()
        return None

    @property
    def is_used(self) -> bool:
        """Whether it can constrain a behaviour."""
        return not isinstance(self.draw, Unused)

    @property
    def is_about_topics(self) -> bool:
        """Whether it is about topics."""
        names = ("partition", "topics", "read", "added")
        return any(f"{{{name}}}" in text for text in self.texts.values() for name in names)


FIELDS = {
    "broker": r"\d+",
    "epoch": r"\d+",
    "leader_epoch": r"\d+",
    "leader": r"-?\d+",
    "partition": r"[\w.-]+-\d+",
    "isr": r"\d+(?:,\d+)*",
    "sender": r"\d+",
    "memory": r"[\w-]{22}",
    "request": r"[\w-]{22}",
    "was": r"[A-Z_]+",
    "state": r"[A-Z_]+",
    "same": r"(?P=broker)",
}
_FIELD = re.compile(r"\{(\w*)\}")


def pattern_of(template: str) -> str:
    """Return the regular expression of a template."""
    parts, end = [], 0
    for found in _FIELD.finditer(template):
        parts.append(re.escape(template[end : found.start()]))
        name = found[1]
        parts.append(FIELDS["same"] if name == "same" else f"(?P<{name}>{FIELDS.get(name, '.*?')})" if name else ".*")
        end = found.end()
    return "".join(parts) + re.escape(template[end:])


# What lines show.


def _broker(fields: Fields, numbering: Numbering, name: str = "broker") -> int | None:
    """Return the number of a broker in the model; None for one that is left out."""
    real = int(fields[name])
    return numbering.brokers.index(real) if real in numbering.brokers else None


def _partition(fields: Fields, numbering: Numbering) -> int | Unused:
    topic, _, number = fields["partition"].rpartition("-")
    if topic != numbering.topic:
        return Unused.OTHER_TOPIC
    return int(number) if int(number) < numbering.partitions else Unused.UNSEEN


def _epoch(fields: Fields, numbering: Numbering) -> int | Unused:
    """Return the controller epoch in the model."""
    epoch = int(fields["epoch"]) - numbering.earlier_epochs
    return epoch if epoch > 0 else Unused.OUTSIDE


def _elected(fields: Fields, numbering: Numbering) -> Drawn | Unused:
    broker, epoch = _broker(fields, numbering), _epoch(fields, numbering)
    if broker is None:
        return Unused.OTHER_BROKER
    if isinstance(epoch, Unused):
        return epoch
    return Drawn((where("zookeeper.controller", broker), where("zookeeper.controller_epoch", epoch)))


def _by_broker(fields: Fields, numbering: Numbering) -> Drawn | Unused:
    broker = _broker(fields, numbering)
    return Unused.OTHER_BROKER if broker is None else Drawn(arguments={"broker": broker})


ROLLS = (stop_to_migrate.name, stop_for_kraft.name, stop_for_zookeeper.name)
"""Stops of a migration's rolls."""
SESSION_SECONDS = 120.0
"""After so many seconds a session is expired that could not be closed: more than any usual session timeout."""
EVENT_SECONDS = 10.0
"""After so many seconds an event of the controller is done, unless the controller was suspended."""


def _gone(fields: Fields, numbering: Numbering) -> Drawn | Unused:
    broker = _broker(fields, numbering)
    if broker is None:
        return Unused.OTHER_BROKER
    events = frozenset((name, broker) for name in (*ENDS, *ROLLS))
    return Drawn((where(f"zookeeper.broker_ids{{{broker}}}", 0),), events=events)


def _started(fields: Fields, numbering: Numbering) -> Drawn | Unused:
    broker = _broker(fields, numbering)
    if broker is None:
        return Unused.OTHER_BROKER
    return Drawn(arguments={"broker": broker}, events=frozenset({(restart.name, broker)}))


def _expired(fields: Fields, numbering: Numbering) -> Drawn | Unused:
    broker = _broker(fields, numbering)
    if broker is None:
        return Unused.OTHER_BROKER
    expired = (number for number, state in enumerate(SessionState) if state is not SessionState.LIVE)
    events = frozenset({("expire_session", broker), ("auth_failure_reinitializes", broker)})
    return Drawn((where(f"brokers[{broker}].session", *expired),), events=events)


def _names(text: str) -> list[str]:
    """Return the names in a set as Scala prints it, such as HashSet(a, b)."""
    inside = text[text.find("(") + 1 : text.rfind(")")]
    return [name for name in inside.split(", ") if name]


def _new_topics(fields: Fields, numbering: Numbering) -> Drawn | Unused:
    """The new topic is read with its id: only then are missing ones minted."""
    drawn = _by_broker(fields, numbering)
    if isinstance(drawn, Unused):
        return drawn
    if numbering.topic not in _names(fields["new"]):
        return drawn if numbering.topic in _names(fields["gone"]) else Unused.OTHER_TOPIC
    context = f"brokers[{drawn.arguments['broker']}].controller"
    clauses = [where(f"{context}.new_topics{{0}}", 1)]
    if f"{numbering.topic}-0 -> " not in fields["read"]:
        return drawn  # it was gone again when it was read
    identity = rf"TopicIdReplicaAssignment\({re.escape(numbering.topic)},(None|Some\(([\w-]{{22}})\))"
    found = re.search(identity, fields["read"])
    if found and found[1] == "None":
        clauses.append(where(f"{context}.topics[0].topic_id", NONE))
    elif found and found[2] in numbering.ids:
        clauses.append(where(f"{context}.topics[0].topic_id", numbering.identity(found[2])))
    return Drawn(tuple(clauses), arguments=drawn.arguments)


def _new_partitions(fields: Fields, numbering: Numbering) -> Drawn | Unused:
    drawn = _by_broker(fields, numbering)
    if isinstance(drawn, Unused):
        return drawn
    added = re.findall(rf"(?<![\w.-]){re.escape(numbering.topic)}-(\d+) -> ", fields["added"])
    if not added:
        return Unused.OTHER_TOPIC
    most = max(map(int, added)) + 1
    if most > numbering.partitions:
        return Unused.UNSEEN
    count = f"brokers[{drawn.arguments['broker']}].controller.topics[0].partition_count"
    return Drawn((where(count, *range(most, numbering.partitions + 1)),), arguments={**drawn.arguments, "topic": 0})


def _broker_change(fields: Fields, numbering: Numbering) -> Drawn | Unused:
    """One event of Kafka is several steps of the model: those that a line certainly has, in any order, are one."""
    drawn = _by_broker(fields, numbering)
    if isinstance(drawn, Unused):
        return drawn
    new, gone, bounced = (
        [numbering.brokers.index(int(b)) for b in fields[name].split(",") if b and int(b) in numbering.brokers]
        for name in ("new", "gone", "bounced")
    )
    registrations = f"brokers[{drawn.arguments['broker']}].controller.registrations"
    states = list(BrokerRegistration)
    if new or bounced:
        shown, action, state = new or bounced, broker_startup, BrokerRegistration.CURRENT
    elif gone:
        shown, action, state = gone, broker_failure, BrokerRegistration.GONE
    else:
        return Unused.OTHER_BROKER
    clauses = tuple(where(f"{registrations}[{other}]", states.index(state)) for other in shown)
    return Drawn(clauses, arguments=drawn.arguments, actions=(action,))


def _deletion(is_done: bool) -> Draw:
    def draw(fields: Fields, numbering: Numbering) -> Drawn | Unused:
        drawn = _by_broker(fields, numbering)
        if isinstance(drawn, Unused):
            return drawn
        if numbering.topic not in fields["topics"].split(","):
            return Unused.OTHER_TOPIC
        if not numbering.scope.deletion:
            return Unused.UNSEEN
        queued = where(f"brokers[{drawn.arguments['broker']}].controller.topics[0].to_be_deleted", 1)
        return Drawn((where("zookeeper.delete_topics{0}", 0) if is_done else queued,), arguments=drawn.arguments)

    return draw


def _leader_epoch(fields: Fields, numbering: Numbering) -> Drawn | Unused:
    """The epoch is in ZooKeeper, or a later one of the same step."""
    partition = _partition(fields, numbering)
    if isinstance(partition, Unused):
        return partition
    epoch = int(fields["leader_epoch"])
    if epoch > numbering.most:
        return Unused.UNSEEN
    return Drawn((where(f"{TOPIC}.states[{partition}].leader_epoch", *range(epoch, numbering.most + 1)),))


def _elected_leader(fields: Fields, numbering: Numbering) -> Drawn | Unused:
    """Every write of a controller is refused after the next one is elected."""
    drawn, epoch = _leader_epoch(fields, numbering), _epoch(fields, numbering)
    if isinstance(drawn, Unused):
        return drawn
    if isinstance(epoch, Unused):
        return epoch
    return Drawn((*drawn.clauses, where("zookeeper.controller_epoch", epoch)))


def _starts(is_leader: bool) -> Draw:
    def draw(fields: Fields, numbering: Numbering) -> Drawn | Unused:
        broker, partition = _broker(fields, numbering), _partition(fields, numbering)
        if isinstance(partition, Unused):
            return partition
        if broker is None:
            return Unused.OTHER_BROKER
        epoch, path = int(fields["leader_epoch"]), f"brokers[{broker}].replicas[0][{partition}]"
        if epoch > numbering.most:
            return Unused.UNSEEN
        at_least, later = range(epoch, numbering.most + 1), range(epoch + 1, numbering.most + 1)
        handles = (handle_leader_and_isr, *([apply_image] if numbering.scope.migrates else []))
        role = (f"{path}.is_leader", frozenset({int(is_leader)}))
        clauses: tuple[Clause, ...] = (
            where(f"{path}.leader_epoch", *at_least),
            (role, (f"{path}.leader_epoch", frozenset(later))),
        )
        return Drawn(clauses, arguments={"broker": broker}, actions=handles)

    return draw


def _refused_id(fields: Fields, numbering: Numbering) -> Drawn | Unused:
    broker, partition = _broker(fields, numbering), _partition(fields, numbering)
    if isinstance(partition, Unused):
        return partition
    if broker is None:
        return Unused.OTHER_BROKER
    if fields["memory"] not in numbering.ids or fields["request"] not in (*numbering.ids, ZERO_ID):
        return Unused.UNSEEN
    held = where(f"brokers[{broker}].replicas[0][{partition}].topic_id", numbering.identity(fields["memory"]))
    asked = where(f"brokers[{broker}].requests.headers[0].topic_id", numbering.identity(fields["request"]))
    return Drawn((held,), before=(asked, held), arguments={"broker": broker})


def _isr(fields: Fields, numbering: Numbering) -> Drawn | Unused:
    """The controller's answer to the leader: the ISR was this one after the answer before.

    A leader may remove followers one by one that the model removes at once, so that only the others are certain.
    """
    partition, shown = _partition(fields, numbering), {int(broker) for broker in fields["isr"].split(",")}
    if isinstance(partition, Unused):
        return partition
    if not shown <= set(numbering.brokers):
        return Unused.OTHER_BROKER
    others = [number for number, real in enumerate(numbering.brokers) if real not in shown]
    clauses = tuple(where(f"{TOPIC}.states[{partition}].isr{{{number}}}", 0) for number in others)
    return Drawn(clauses) if clauses else Unused.IMPLIED


def _log(is_there: bool) -> Draw:
    def draw(fields: Fields, numbering: Numbering) -> Drawn | Unused:
        broker, partition = _broker(fields, numbering), _partition(fields, numbering)
        if isinstance(partition, Unused):
            return partition
        if broker is None:
            return Unused.OTHER_BROKER
        replica, keeps = f"brokers[{broker}].replicas[0][{partition}]", not numbering.scope.removes_logs
        if keeps and not is_there:
            return Unused.UNSEEN
        if keeps:
            return Drawn((where(f"{replica}.log_open", 1),), arguments={"broker": broker})
        before, after = where(f"{replica}.on_disk", int(not is_there)), where(f"{replica}.on_disk", int(is_there))
        if not numbering.scope.migrates:
            return Drawn((after,), before=(before,), arguments={"broker": broker})
        if is_there:  # the one before it may have been set aside in the same step
            return Drawn((after,), arguments={"broker": broker}, actions=(handle_leader_and_isr, apply_image))
        return Drawn((after,), before=(before,), arguments={"broker": broker}, actions=(handle_stop_replica, restart))

    return draw


def _stray(fields: Fields, numbering: Numbering) -> Drawn | Unused:
    """A full LeaderAndIsr does not name the log, or names it with another id; or the broker starts in KRaft mode."""
    broker, partition = _broker(fields, numbering), _partition(fields, numbering)
    if isinstance(partition, Unused):
        return partition
    if broker is None:
        return Unused.OTHER_BROKER
    if not numbering.scope.migrates:
        return Unused.UNSEEN
    there = where(f"brokers[{broker}].replicas[0][{partition}].on_disk", 1)
    return Drawn(before=(there,), arguments={"broker": broker})


DRIVEN = (
    DriverState.BECOME_CONTROLLER,
    DriverState.ZK_MIGRATION,
    DriverState.SYNC_KRAFT_TO_ZK,
    DriverState.KRAFT_CONTROLLER_TO_BROKER_COMM,
    DriverState.DUAL_WRITE,
)
"""The states of the driver that lines are used of: in the others it does nothing to the cluster."""


def _transition(fields: Fields, numbering: Numbering) -> Drawn | Unused:
    """A controller of KRaft that finds a migration in progress does not wait for brokers."""
    if not numbering.scope.migrates:
        return Unused.UNSEEN
    state = next((one for one in DRIVEN if one.name == fields["state"]), None)
    if state is None:
        return Unused.IMPLIED
    continues = fields["was"] == "WAIT_FOR_CONTROLLER_QUORUM"
    events = frozenset({(fail_quorum.name, None), (provision_again.name, None)}) if continues else frozenset()
    return Drawn((where("migration.driver", list(DriverState).index(state)),), events=events)


def _copied(_: Fields, numbering: Numbering) -> Drawn | Unused:
    return Drawn((where("migration.has_begun", 1),)) if numbering.scope.migrates else Unused.UNSEEN


CONTROLLER, MACHINES, REPLICAS, SERVER, SESSION, ISR, LOGS, DRIVER = LogThread
_CONTROLLER, _DELETION = "[Controller id={broker}] ", "[Topic Deletion Manager {broker}] "
_STATES, _BROKER = "[Controller id={broker} epoch={epoch}] ", "[Broker id={broker}] "
_SERVER, _DRIVER = "[KafkaServer id={broker}] ", "[KRaftMigrationDriver id={broker}] "

ELECTED = LineKind(
    {
        "2.8.2": _CONTROLLER + "{same} successfully elected as the controller. Epoch incremented to {epoch} "
        "and epoch zk version is now {}"
    },
    CONTROLLER,
    "INFO",
    "KafkaController.elect",
    "/controller names the broker, and the controller epoch is this one",
    draw=_elected,
)
EXPIRED = LineKind(
    {"2.8.2": "[ZooKeeperClient Kafka server] Session expired."},
    SESSION,
    "INFO",
    "ZooKeeperClient.scheduleReinitialize",
    "the session of the broker has expired, and it runs; its broker is that of other lines of its file",
    draw=_expired,
)
UPDATED = LineKind(
    {
        "2.8.2": _BROKER + "Add {} partitions and deleted {} partitions from metadata cache in response to "
        "UpdateMetadata request sent by controller {sender} epoch {epoch} with correlation id {}"
    },
    REPLICAS,
    "INFO",
    "MetadataCache.updateMetadata (2.8.2), ZkMetadataCache.updateMetadata (3.9.0)",
    "in all states: the controller epoch belongs to this controller",
    draw=Unused.LIMIT,
)
KINDS: tuple[LineKind, ...] = (
    ELECTED,
    UPDATED,
    LineKind(
        {"2.8.2": _CONTROLLER + "Ready to serve as the new controller with epoch {epoch}"},
        CONTROLLER,
        "INFO",
        "KafkaController.onControllerFailover",
        "the broker has elected leaders in its failover",
        (failover_sends_requests,),
        _by_broker,
    ),
    LineKind(
        {"2.8.2": _CONTROLLER + "Resigned"},
        CONTROLLER,
        "INFO",
        "KafkaController.onControllerResignation",
        "implied: it is also logged by a broker that stops and by one whose session has expired, controller or not",
    ),
    LineKind(
        {
            "2.8.2": _CONTROLLER + "New topics: [{new}], deleted topics: [{gone}], new partition replica assignment "
            "[{read}]"
        },
        CONTROLLER,
        "INFO",
        "KafkaController.processTopicChange",
        "the controller reads the topic for the first time, with this id or without one",
        (topic_change,),
        _new_topics,
    ),
    LineKind(
        {"2.8.2": _CONTROLLER + "New partitions to be added {added}"},
        CONTROLLER,
        "INFO",
        "KafkaController.processPartitionModifications",
        "the controller knows the partitions",
        (partition_modifications,),
        _new_partitions,
        slack=EVENT_SECONDS,
        precedes=True,
    ),
    LineKind(
        {
            "2.8.2": _CONTROLLER + "Newly added brokers: {new}, deleted brokers: {gone}, bounced brokers: {bounced}, "
            "all live brokers: {}"
        },
        CONTROLLER,
        "INFO",
        "KafkaController.processBrokerChange",
        "the controller takes up the new and bounced brokers; or if there are none, drops the deleted ones",
        (broker_startup, broker_failure),
        _broker_change,
        slack=EVENT_SECONDS,
        precedes=True,
    ),
    LineKind(
        {"2.8.2": _CONTROLLER + "Starting topic deletion for topics {topics}"},
        CONTROLLER,
        "INFO",
        "KafkaController.processTopicDeletion",
        "the controller queues the topic for deletion",
        (topic_deletion,),
        _deletion(is_done=False),
        slack=EVENT_SECONDS,
        precedes=True,
    ),
    LineKind(
        {"2.8.2": _DELETION + "Deletion of topic {topics} successfully completed"},
        CONTROLLER,
        "INFO",
        "TopicDeletionManager.resumeDeletions",
        "the controller has deleted the delete_topics znode",
        (complete_deletion_deletes_request,),
        _deletion(is_done=True),
        distinct=True,
    ),
    LineKind(
        {"2.8.2": _CONTROLLER + "Updated leader epoch for partition {partition} to {leader_epoch}, zkVersion={}"},
        CONTROLLER,
        "INFO",
        "KafkaController.UpdateLeaderEpoch",
        "the partition has the leader epoch",
        draw=_leader_epoch,
    ),
    LineKind(
        {
            "2.8.2": _STATES + "Changed partition {partition} from {} to OnlinePartition with state "
            "LeaderAndIsr(leader={leader}, leaderEpoch={leader_epoch}, {}"
        },
        MACHINES,
        "INFO",
        "ZkPartitionStateMachine.doHandleStateChanges",
        "the partition has the leader epoch, under this controller epoch",
        draw=_elected_leader,
    ),
    LineKind(
        {
            "2.8.2": _STATES
            + "Partition {partition} state changed to (Leader:{leader},ISR:{},LeaderEpoch:{leader_epoch},"
            "{}) after removing replica {} from the ISR as part of transition to OfflineReplica"
        },
        MACHINES,
        "INFO",
        "ZkReplicaStateMachine.doHandleStateChanges",
        "the partition has the leader epoch",
        draw=_leader_epoch,
    ),
    LineKind(
        {
            "2.8.2": _BROKER + "Leader {partition} starts at leader epoch {leader_epoch} from offset {}",
            "3.9.0": _BROKER
            + "Leader {partition} with topic id {} starts at leader epoch {leader_epoch} from offset {}",
        },
        REPLICAS,
        "INFO",
        "Partition.makeLeader",
        "the broker handles LeaderAndIsr, and leads with this leader epoch",
        (handle_leader_and_isr,),
        _starts(True),
    ),
    LineKind(
        {"2.8.2": _BROKER + "Follower {partition} starts at leader epoch {leader_epoch} from offset {}"},
        REPLICAS,
        "INFO",
        "Partition.makeFollower",
        "the broker handles LeaderAndIsr, and follows with this leader epoch",
        (handle_leader_and_isr,),
        _starts(False),
    ),
    LineKind(
        {
            "2.8.2": _BROKER + "Topic Id in memory: {memory} does not match the topic Id for partition {partition} "
            "provided in the request: {request}.",
            "3.9.0": _BROKER + "Topic ID in memory: {memory} does not match the topic ID for partition {partition} "
            "received: {request}.",
        },
        REPLICAS,
        "ERROR",
        "Partition.checkOrSetTopicId (2.8.2), ReplicaManager.becomeLeaderOrFollower (3.9.0)",
        "the broker handles LeaderAndIsr with the one topic id, and has the other one before and after",
        (handle_leader_and_isr,),
        _refused_id,
    ),
    *(
        LineKind(
            {"2.8.2": _BROKER + text},
            REPLICAS,
            "INFO",
            source,
            "implied: it says when the broker begins to handle the request",
            opens=True,
        )
        for text, source in (
            (
                "Handling LeaderAndIsr request correlationId {} from controller {} for {} partitions",
                "ReplicaManager.becomeLeaderOrFollower",
            ),
            (
                "Handling StopReplica request correlationId {} from controller {} for {} partitions",
                "ReplicaManager.stopReplicas",
            ),
        )
    ),
    LineKind(
        {"2.8.2": "starting"},
        SERVER,
        "INFO",
        "KafkaServer.startup",
        "implied: it says when the broker begins to start; its broker is that of other lines of its file",
    ),
    LineKind(
        {"2.8.2": _SERVER + "started"},
        SERVER,
        "INFO",
        "KafkaServer.startup",
        "the broker starts",
        (restart, start_with_offline_logs),
        _started,
        distinct=True,
    ),
    LineKind(
        {"2.8.2": _SERVER + "shut down completed"},
        SERVER,
        "INFO",
        "KafkaServer.shutdown",
        "the broker is not in /brokers/ids",
        draw=_gone,
        slack=SESSION_SECONDS,
    ),
    EXPIRED,
    LineKind(
        {
            "2.8.2": "[Partition {partition} broker={broker}] ISR updated to {isr} and version updated to [{}]",
            "3.9.0": "[Partition {partition} broker={broker}] ISR updated to {isr} {} and version updated to {}",
        },
        ISR,
        "INFO",
        "Partition.handleAlterIsrResponse (2.8.2), handleAlterPartitionUpdate (3.9.0)",
        "the ISR of the partition has no other brokers",
        draw=_isr,
    ),
    LineKind(
        {"2.8.2": "Created log for partition {partition} in {} with properties {}"},
        LOGS,
        "INFO",
        "LogManager.getOrCreateLog",
        "the broker handles LeaderAndIsr, and has the log then, and no log before",
        (handle_leader_and_isr,),
        _log(is_there=True),
    ),
    LineKind(
        {"2.8.2": "Log for partition {partition} is renamed to {renamed} and is scheduled for deletion"},
        LOGS,
        "INFO",
        "LogManager.asyncDelete",
        "the broker handles StopReplica, and has no log then, and the log before",
        (handle_stop_replica,),
        _log(is_there=False),
    ),
    LineKind(
        {"3.6.1": "Log for partition {partition} is marked as stray and renamed to {renamed}"},
        LOGS,
        "WARN",
        "LogManager.asyncDelete: isStray",
        "the broker handles a full LeaderAndIsr in dual write, or starts in KRaft mode, and has the log before",
        (handle_leader_and_isr, restart),
        _stray,
    ),
    LineKind(
        {
            "3.4.0": "{broker} transitioning from {was} to {state} state",
            "3.5.0": _DRIVER + "{same} transitioning from {was} to {state} state",
        },
        DRIVER,
        "INFO (DEBUG up to 3.5)",
        "KRaftMigrationDriver.transitionTo",
        "the driver is in this state, if it is BECOME_CONTROLLER or one after it",
        draw=_transition,
    ),
    LineKind(
        {
            "3.4.0": "Completed migration of metadata from Zoo{} to KRaft.{}",
            "3.5.0": _DRIVER + "Completed migration of metadata from Zoo{} to KRaft.{}",
        },
        DRIVER,
        "INFO",
        "KRaftMigrationDriver.MigrateMetadataEvent",
        "the copy has ended",
        draw=_copied,
    ),
    *(
        LineKind({"3.4.0": text, "3.5.0": _DRIVER + text}, DRIVER, level, source, f"implied: {why}")
        for text, level, source, why in (
            (
                "Still waiting for ZK brokers {} to register with KRaft.",
                "INFO",
                "KRaftMigrationDriver.areZkBrokersReadyForMigration",
                "the driver stays in WAIT_FOR_BROKERS",
            ),
            (
                "Starting ZK migration",
                "INFO",
                "KRaftMigrationDriver.MigrateMetadataEvent",
                "the driver is in ZK_MIGRATION",
            ),
            (
                "Made the following ZK writes when {}",
                "DEBUG",
                "KRaftMigrationDriver.MetadataChangeEvent, SyncKRaftMetadataEvent",
                "it counts what was written of all topics together",
            ),
        )
    ),
    LineKind(
        {"3.4.0": "Encountered zk migration fault: {}"},
        DRIVER,
        "ERROR",
        "LoggingFaultHandler.handleFault",
        "implied: the driver stays in its state, and tries again",
    ),
)
