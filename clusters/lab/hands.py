"""How each action of the Kafka model is done, or let happen, on a real cluster.

Words: a *way* is a kind of request that a broker's controller sends to ZooKeeper, such as the read of a topic's znode;
in a replay all ways of all brokers are closed by the proxies, and a step opens those that it needs. A *hand* says what
is done for one action: something from outside (a client's write, a signal), ways that are opened, or one request that
is let through to a broker. `HANDS` is the table of all of them; `NOT_FORCED` names actions that cannot have one, and
why. An action that is in neither table cannot be forced yet.
"""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from enum import Enum
from typing import Any

from attrs import field, frozen

from kwalk.clusters.lab.brokers import AdminAnswer
from kwalk.clusters.lab.cluster import Lab
from kwalk.clusters.lab.processes import wait_until
from kwalk.clusters.lab.proxy import Direction, Match, ProxiedFrame
from kwalk.clusters.lab.zookeeper import Op, Write, ZooKeeperError, create, delete, set_data
from kwalk.clusters.metadata import Api
from kwalk.clusters.wire import Reader, new_topic_id

ANY = float("inf")
OLD_CLIENT = "1.0.0"
LISTS = (Op.GET_CHILDREN.name, Op.GET_CHILDREN2.name)
TOPICS = "/brokers/topics"
TOPIC = "t"
"""The topic of a replay: what controllers do with others is never held."""


class Way(Enum):
    """A kind of request from a broker to ZooKeeper; the value is its name for reports."""

    LOOK_AT_CONTROLLER = "looks whether there is a /controller"
    CONTROLLER = "reads or creates /controller"
    LIST_BROKERS = "lists /brokers/ids"
    LIST_TOPICS = "lists /brokers/topics"
    READ_TOPIC = "reads the topic's znode"
    WRITE_TOPIC = "writes the topic's znode"
    READ_STATES = "reads partition states"
    WRITE_STATES = "writes partition states"
    LIST_DELETIONS = "lists /admin/delete_topics"
    REMOVE_STATES = "removes the znodes of partitions"
    REMOVE_TOPIC = "removes the topic's znode"
    REMOVE_CONFIG = "removes the topic's configuration"
    REMOVE_REQUEST = "removes the delete_topics znode"
    CONNECT = "connects to ZooKeeper"


def way_of(frame: ProxiedFrame) -> Way | None:
    """Return the way of a request to ZooKeeper; None for what is never held."""
    if frame.kind == "CONNECT":
        return Way.CONNECT
    found = [way for op, path in zip(frame.ops, frame.paths, strict=True) if (way := _way(op, path)) is not None]
    return found[0] if found else None


def _way(op: str, path: str) -> Way | None:
    parts = path.strip("/").split("/")
    if path == "/controller":
        return Way.LOOK_AT_CONTROLLER if op == Op.EXISTS.name else Way.CONTROLLER
    if path == "/controller_epoch":
        return Way.CONTROLLER if op == Op.GET_DATA.name else None
    lists = {"/brokers/ids": Way.LIST_BROKERS, TOPICS: Way.LIST_TOPICS, "/admin/delete_topics": Way.LIST_DELETIONS}
    if op in LISTS and path in lists:
        return lists[path]
    if op == Op.DELETE.name:
        return _removal(parts)
    if not f"{path}/".startswith(f"{TOPICS}/{TOPIC}/"):
        return None
    if len(parts) == 3:
        return {Op.GET_DATA.name: Way.READ_TOPIC, Op.SET_DATA.name: Way.WRITE_TOPIC}.get(
            op, Way.REMOVE_STATES if op in LISTS else None
        )
    if op in LISTS:
        return Way.REMOVE_STATES
    return Way.READ_STATES if op == Op.GET_DATA.name else Way.WRITE_STATES if op != Op.CHECK.name else None


def _removal(parts: list[str]) -> Way | None:
    head = "/".join(parts[:2])
    if head == "brokers/topics":
        return Way.REMOVE_TOPIC if len(parts) == 3 else Way.REMOVE_STATES
    return {"config/topics": Way.REMOVE_CONFIG, "admin/delete_topics": Way.REMOVE_REQUEST}.get(head)


def controller_epoch_of(frame: ProxiedFrame) -> int | None:
    """Return the controller epoch in a controller's request to a broker; None for any other frame.

    Source: LeaderAndIsrRequest.json, StopReplicaRequest.json, UpdateMetadataRequest.json.
    """
    if frame.direction is not Direction.REQUEST or frame.kind not in FIRST_VERSIONS:
        return None
    flexible, kraft = FIRST_VERSIONS[frame.kind]
    reader = Reader(frame.content)
    reader.int16()
    version = reader.int16()
    reader.int32(), reader.string()
    if version >= flexible:
        reader.tags()
    reader.int32()
    if version >= kraft:
        reader.boolean()
    return reader.int32()


FIRST_VERSIONS = {
    Api.LEADER_AND_ISR.name: (4, 7),
    Api.STOP_REPLICA.name: (2, 4),
    Api.UPDATE_METADATA.name: (6, 8),
}
"""Of controllers' requests, the first version with tagged fields, and the first with isKRaftController."""


def on_way(way: Way, broker: int) -> Match:
    """Return the match of a broker's requests to ZooKeeper of one kind."""
    return lambda frame: frame.broker == broker and frame.direction is Direction.REQUEST and way_of(frame) is way


@frozen
class Doing:
    """What a hand has to work with: the lab, the step's arguments, and the states of the model around it.

    Brokers in `args` are the model's numbers; `broker` turns them into real ids.
    """

    lab: Lab
    args: Mapping[str, int]
    before: Any
    after: Any
    replicas: Callable[[Any, int], list[int]]
    """The real replicas of a partition in a state of the model, the preferred one first."""
    old_admins: int
    through_brokers: bool
    id_of: Callable[[int | None], str | None]
    """The real topic id of a model's number."""
    answers: list[str] = field(factory=list)
    """What brokers answered to admin requests, as text."""

    def broker(self, name: str = "broker") -> int:
        """Return the real id of the broker in an argument."""
        return self.args[name] + 1

    @property
    def path(self) -> str:
        """The topic's znode."""
        return f"{TOPICS}/{TOPIC}"


# Clients.


def _assignment(doing: Doing) -> dict[str, list[int]]:
    count = doing.after.zookeeper.topics[0].partition_count
    return {str(partition): doing.replicas(doing.after, partition) for partition in range(count)}


def _znode(partitions: Mapping[str, list[int]], topic_id: str | None) -> bytes:
    content: dict[str, Any] = {"version": 2, "partitions": partitions, "adding_replicas": {}, "removing_replicas": {}}
    if topic_id is not None:
        content |= {"version": 3, "topic_id": topic_id}
    return json.dumps(content).encode()


def _old_tool(doing: Doing, *words: str) -> None:
    lists = ",".join(":".join(map(str, replicas)) for replicas in _assignment(doing).values())
    doing.lab.tool(OLD_CLIENT, *words, "--topic", TOPIC, "--replica-assignment", lists)


def _old_client_creates(doing: Doing) -> None:
    _old_tool(doing, "--create")


def _old_client_expands(doing: Doing) -> None:
    _old_tool(doing, "--alter", "--partitions", str(doing.after.zookeeper.topics[0].partition_count))


def _new_client_creates(doing: Doing) -> None:
    if doing.through_brokers:
        assignment = {int(number): replicas for number, replicas in _assignment(doing).items()}
        _ask(doing, lambda: doing.lab.admin().create_topic(TOPIC, assignment))
        return
    has_id = doing.after.zookeeper.topics[0].topic_id is not None
    with suppress(ZooKeeperError):  # the configuration of an earlier topic may still be there
        doing.lab.zk.do(create(f"/config/topics/{TOPIC}", b'{"version":1,"config":{}}'))
    _write(doing, create(doing.path, _znode(_assignment(doing), new_topic_id() if has_id else None)))


def _new_client_expands(doing: Doing) -> None:
    known = doing.lab.topic(TOPIC) or {}
    _write(doing, set_data(doing.path, _znode(_assignment(doing), known.get("topic_id"))))


def _client_deletes(doing: Doing) -> None:
    if doing.through_brokers:
        _ask(doing, lambda: doing.lab.admin(milliseconds=100).delete_topic(TOPIC))
    else:
        _write(doing, create(f"/admin/delete_topics/{TOPIC}"))


def _admin_writes(doing: Doing) -> None:
    """The znode that the admin has read is written with more partitions; a client of 1.0 creates it if it is gone."""
    admin = doing.args["admin"]
    read = doing.before.admins[admin]
    if doing.after.zookeeper.topics[0].partition_count != doing.args["last"] + 1:
        return  # the write is refused, as the znode is gone
    identity = None if admin < doing.old_admins else doing.id_of(read.topic_id)
    content = _znode(_assignment(doing), identity)
    exists = doing.lab.zk.exists(doing.path)
    _write(doing, set_data(doing.path, content) if exists else create(doing.path, content))


def _write(doing: Doing, *writes: Write) -> None:
    """Write to ZooKeeper; what it refuses is among the answers."""
    try:
        doing.lab.zk.do(*writes)
    except ZooKeeperError as error:
        doing.answers.append(str(error))


def _ask(doing: Doing, request: Callable[[], AdminAnswer]) -> None:
    """Send an admin request, and do not wait for its answer."""
    threading.Thread(target=lambda: doing.answers.append(str(request())), daemon=True).start()


def _reassign(doing: Doing) -> None:
    partition = doing.args["partition"]
    target = doing.after.zookeeper.topics[0].assignments[partition].target
    wanted = [broker for broker in doing.replicas(doing.after, partition) if broker - 1 in target]
    _ask(doing, lambda: doing.lab.admin(milliseconds=20_000).reassign(TOPIC, {partition: wanted}))


def _cancel(doing: Doing) -> None:
    _ask(doing, lambda: doing.lab.admin(milliseconds=20_000).cancel(TOPIC, doing.args["partition"]))


# Operators and faults.


def _delete_controller(doing: Doing) -> None:
    _write(doing, delete("/controller"))


def _crash(doing: Doing) -> None:
    doing.lab.kill(doing.broker())
    doing.lab.expire_session(doing.broker())


def _start(doing: Doing) -> None:
    """Start the process, and wait until it is registered: what follows may be held."""
    number = doing.broker()
    wait_until(lambda: str(number) not in doing.lab.zk.children("/brokers/ids"), 30)
    doing.lab.launch(number)
    wait_until(lambda: str(number) in doing.lab.zk.children("/brokers/ids"), 60)


def _expire(doing: Doing) -> None:
    doing.lab.expire_session(doing.broker())


def _remove_files(doing: Doing) -> None:
    for path in doing.lab.metadata_files(doing.broker(), TOPIC):
        path.unlink()


def _edit_files(doing: Doing) -> None:
    doing.lab.edit_metadata_files(doing.broker(), TOPIC)


def _write_id(doing: Doing) -> None:
    _write(doing, doing.lab.topic_id_write(TOPIC, doing.id_of(doing.args["topic_id"])))


def _remove_topic(doing: Doing) -> None:
    doing.lab.zk.delete_tree(doing.path)


def _remove_states(doing: Doing) -> None:
    doing.lab.zk.delete_tree(f"{doing.path}/partitions")


def _remove_request(doing: Doing) -> None:
    _write(doing, delete(f"/admin/delete_topics/{TOPIC}"))


def _remove_logs(doing: Doing) -> None:
    """Remove the directories, as `rm -rf` does."""
    for path in doing.lab.brokers[doing.broker()].data.glob(f"{TOPIC}-*"):
        shutil.rmtree(path)


def _move_log(doing: Doing) -> None:
    broker = doing.lab.brokers[doing.broker()]
    log = broker.directory(f"{TOPIC}-{doing.args['partition']}")
    if log is not None:
        shutil.move(log, broker.folder / f"{log.name}.moved")


def _elect_preferred(doing: Doing) -> None:
    count = doing.before.zookeeper.topics[0].partition_count
    _ask(doing, lambda: doing.lab.admin().elect_preferred(TOPIC, *range(count)))


# The table.


@frozen
class Hand:
    """What is done for an action.

    Args:
        how: What happens on the real cluster, in a few words.
        do: What is done from outside.
        opens: The ways to ZooKeeper that are opened for the step, each with the number of requests that pass.
        at: The argument with the broker whose ways are opened; "" for the active controller.
        needs: A request without which the step has not happened.
        only_if: The leaf of the state below which something must change, or else the step needs no request.
        lets: The request that the broker of the step is given, from the controller that the model says.
        alters: Whether a leader's request for another ISR is given to the controller.
        ends: Whether the process is stopped by SIGTERM, under control. If it ends in a step of its own, the answer to
            its ControlledShutdown is held until then.
        leaves: Whether a process that was stopped gets that answer, and ends.
        starts: Whether the process starts, and needs ways to ZooKeeper until it is registered.
        waits: Whether it is a request that waits in the controller's queue: the model handles it when it puts it there.
        through: Whether a broker takes part only where clients ask brokers, and not ZooKeeper.
        instead: How it differs from what the model says.
    """

    how: str
    do: Callable[[Doing], None] | None = None
    opens: Mapping[Way, float] = field(factory=dict)
    at: str = "broker"
    needs: Way | None = None
    only_if: str = ""
    lets: Api | None = None
    alters: bool = False
    ends: bool = False
    leaves: bool = False
    starts: bool = False
    waits: bool = False
    through: bool = False
    instead: str = ""


def _outside(how: str, do: Callable[[Doing], None], **more: Any) -> Hand:
    return Hand(how, do, **more)


ELECTION = {Way.LOOK_AT_CONTROLLER: 1, Way.CONTROLLER: ANY}
STATES = {Way.READ_STATES: ANY, Way.WRITE_STATES: ANY}

HANDS: Mapping[str, Hand] = {
    # Clients.
    "old_client_creates_topic": _outside("1.0.0's TopicCommand --create", _old_client_creates),
    "old_client_adds_partitions": _outside("1.0.0's TopicCommand --alter", _old_client_expands),
    "new_client_creates_topic": _outside(
        "writes of a client that knows topic ids, or CreateTopics",
        _new_client_creates,
        at="",
        through=True,
        opens={Way.READ_TOPIC: 1},
    ),
    "new_client_adds_partitions": _outside("a write of a client that keeps the topic id", _new_client_expands),
    "client_deletes_topic": _outside(
        "the delete_topics znode is created, or DeleteTopics is sent", _client_deletes, at="", through=True
    ),
    "admin_reads_topic": Hand("nothing: what the model's admin has read is written later"),
    "admin_writes_topic": _outside("a write of what was read before, with more partitions", _admin_writes),
    "alter_partition_reassignments": _outside(
        "AlterPartitionReassignments", _reassign, opens={Way.WRITE_TOPIC: 1}, needs=Way.WRITE_TOPIC, waits=True
    ),
    "alter_partition_reassignments_to": _outside(
        "AlterPartitionReassignments", _reassign, opens={Way.WRITE_TOPIC: 1}, needs=Way.WRITE_TOPIC, waits=True
    ),
    "cancel_partition_reassignment": _outside(
        "AlterPartitionReassignments without replicas",
        _cancel,
        opens={Way.WRITE_TOPIC: 1},
        needs=Way.WRITE_TOPIC,
        waits=True,
    ),
    # Operators and faults.
    "delete_controller": _outside("/controller is deleted", _delete_controller),
    "runbook_removes_controller": _outside("/controller is deleted", _delete_controller),
    "stop": Hand("SIGTERM", opens=STATES, at="controller", ends=True, waits=True),
    "leave": Hand("the answer to its ControlledShutdown arrives", at="", leaves=True),
    "stop_in_turn": Hand("SIGTERM", opens=STATES, at="controller", ends=True, waits=True),
    "runbook_stops": Hand("SIGTERM", opens=STATES, at="controller", ends=True, waits=True),
    "crash": _outside("SIGKILL, and the end of the session", _crash),
    "restart": _outside("the process starts", _start, starts=True),
    "expire_session": _outside("the session is ended by a client that has its password", _expire),
    "remove_metadata_files": _outside("partition.metadata is removed", _remove_files),
    "edit_metadata_files": _outside("partition.metadata gets ZooKeeper's topic id", _edit_files),
    "move_directory_away": _outside("the partition's log directory is moved away", _move_log),
    "write_topic_id": _outside("the topic's znode is written with an id", _write_id),
    "remove_topic_by_hand": _outside("deleteall of the topic's znode", _remove_topic),
    "runbook_removes_topic": _outside("deleteall of the topic's znode", _remove_topic),
    "remove_partition_states_by_hand": _outside("deleteall of the partitions' znodes", _remove_states),
    "remove_deletion_request_by_hand": _outside("the delete_topics znode is deleted", _remove_request),
    "runbook_removes_deletion_request": _outside("the delete_topics znode is deleted", _remove_request),
    "runbook_deletes_topic": _outside("the delete_topics znode is created", _client_deletes),
    "runbook_removes_logs": _outside("the topic's log directories are removed", _remove_logs),
    "runbook_starts": Hand("nothing: brokers may start from now on"),
    # The controller's events.
    "reelect": Hand("Startup or Reelect", opens=ELECTION, needs=Way.LOOK_AT_CONTROLLER),
    "controller_change": Hand("ControllerChange", opens=ELECTION, needs=Way.LOOK_AT_CONTROLLER),
    "controller_moved": Hand("ControllerMovedException", opens=ELECTION, needs=Way.LOOK_AT_CONTROLLER),
    "notice_expiry": Hand(
        "the client connects, and is answered that the session has expired", opens={Way.CONNECT: 1}, needs=Way.CONNECT
    ),
    "register_broker_and_reelect": Hand(
        "the client connects once more, and registers", opens={Way.CONNECT: 1, **ELECTION}, needs=Way.LOOK_AT_CONTROLLER
    ),
    "failover_reads_topics": Hand(
        "F1 to F4", opens={Way.LIST_BROKERS: 1, Way.LIST_TOPICS: 1, Way.READ_TOPIC: 1}, needs=Way.LIST_TOPICS
    ),
    "failover_sets_topic_ids": Hand(
        "F5", opens={Way.WRITE_TOPIC: 1}, needs=Way.WRITE_TOPIC, only_if="zookeeper.topics[0].topic_id"
    ),
    "failover_reads_states": Hand(
        "F6 to F9", opens={Way.READ_STATES: ANY, Way.LIST_DELETIONS: 1}, needs=Way.LIST_DELETIONS
    ),
    "failover_sends_requests": Hand("F10 to F15", opens=STATES),
    "failover_fails": Hand("triggerControllerMove", opens=ELECTION),
    "topic_change": Hand("TopicChange", opens={Way.LIST_TOPICS: 1, Way.READ_TOPIC: 1}, needs=Way.LIST_TOPICS),
    "topic_change_creates_partitions": Hand(
        "TopicChange: ids, then partitions",
        needs=Way.WRITE_TOPIC,
        opens={Way.WRITE_TOPIC: 1, Way.WRITE_STATES: ANY},
        only_if="zookeeper.topics[0].topic_id",
    ),
    "partition_modifications": Hand(
        "PartitionModifications",
        needs=Way.READ_TOPIC,
        opens={Way.READ_TOPIC: 1, Way.WRITE_TOPIC: 1, Way.WRITE_STATES: ANY},
    ),
    "broker_startup": Hand("BrokerChange: new brokers", opens={Way.LIST_BROKERS: 1, **STATES}, needs=Way.LIST_BROKERS),
    "broker_failure": Hand("BrokerChange: lost brokers", opens={Way.LIST_BROKERS: 1, **STATES}, needs=Way.LIST_BROKERS),
    "auto_preferred_election": _outside(
        "ElectLeaders", _elect_preferred, opens=STATES, instead="asked for, as its time cannot be chosen"
    ),
    "topic_deletion": Hand(
        "TopicDeletion", needs=Way.LIST_DELETIONS, opens={Way.LIST_DELETIONS: 1, Way.REMOVE_REQUEST: ANY, **STATES}
    ),
    "stop_replica_response": Hand("TopicDeletionStopReplicaResponseReceived", opens=STATES),
    "complete_deletion_deletes_states": Hand(
        "completeDeleteTopic: partitions", needs=Way.REMOVE_STATES, opens={Way.REMOVE_STATES: ANY}
    ),
    "complete_deletion_deletes_topic": Hand(
        "completeDeleteTopic: topic", needs=Way.REMOVE_TOPIC, opens={Way.REMOVE_STATES: ANY, Way.REMOVE_TOPIC: ANY}
    ),
    "complete_deletion_deletes_config": Hand(
        "completeDeleteTopic: configuration", needs=Way.REMOVE_CONFIG, opens={Way.REMOVE_CONFIG: 1}
    ),
    "complete_deletion_deletes_request": Hand(
        "completeDeleteTopic: delete_topics", needs=Way.REMOVE_REQUEST, opens={Way.REMOVE_REQUEST: 1}
    ),
    "complete_reassignment": Hand("the controller notices the ISR", opens={Way.WRITE_TOPIC: ANY, **STATES}),
    "reassignment_stops_unneeded_replicas": Hand("U3", opens=STATES),
    "reassignment_changes_leadership": Hand("A1, or B1 to B3", opens=STATES),
    "reassignment_stops_old_replicas": Hand("B4 and B5", opens=STATES),
    "reassignment_writes_target": Hand("B6 to B8", opens={Way.WRITE_TOPIC: 1}, needs=Way.WRITE_TOPIC),
    # Brokers.
    "handle_leader_and_isr": Hand("LeaderAndIsr arrives", lets=Api.LEADER_AND_ISR),
    "handle_stop_replica": Hand("StopReplica arrives", lets=Api.STOP_REPLICA),
    "handle_update_metadata": Hand("UpdateMetadata arrives with the other requests of its batch"),
    "flush_metadata": Hand("the log's scheduler writes partition.metadata"),
    "shrink_isr": Hand("the leader asks for a smaller ISR", opens=STATES, at="", alters=True),
    "expand_isr": Hand("the leader asks for a larger ISR", opens=STATES, at="", alters=True),
    "deliver_notification": Hand("ZooKeeper's notifications are never held"),
}

TAKES_EVENT = frozenset(
    {
        "reelect",
        "controller_change",
        "topic_change",
        "partition_modifications",
        "topic_deletion",
        "stop_replica_response",
        "storage_error",
    }
)
"""The actions that take the first event from the queue of their controller; a BrokerChange may stay there."""

NOT_FORCED: Mapping[str, str] = {
    "auth_failure_reinitializes": "ZooKeeper has no authentication in the lab",
    "start_with_offline_logs": "the lab has one disk, which does not fail",
    "storage_error": "the lab has one disk, which does not fail",
    "runbook_rolls": "a stop and the removal of files are one step of the model",
    "partition_modifications_restores_topic_id": "no release does it: a fix that was proposed",
    "admin_adds_partitions": "it is in series of snapshots only, which are not replayed",
    "admin_creates_topic": "it is in series of snapshots only, which are not replayed",
    "follower_lags": "it is in series of snapshots only, which are not replayed",
    "reassign_to_list": "it is in series of snapshots only, which are not replayed",
    "old_client_requests_election": "the lab does not start the tool that was removed in 3.0",
    "list_topics": "the lab does not halt a request between two reads of a cache",
    "describe_listed_topics": "the lab does not halt a request between two reads of a cache",
    "start_without_listener": "the lab gives each broker a free port",
    "replica_leader_election": "its request is not forced",
    "break_connection": "the proxies do not send a request twice",
    "receive_late_copy": "the proxies do not send a request twice",
    "overtake_older": "the proxies release the requests to a broker in the order of the model's queue",
    "overtake_newer": "the proxies release the requests to a broker in the order of the model's queue",
    "lose_request": "the lab does not choose whether a request was sent when its controller resigned",
    "produce": "records are not compared",
    "fetch": "records are not compared",
}
"""The actions that the lab cannot make happen, or not at the moment that a trace says, and why."""
