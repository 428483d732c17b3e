"""Runbooks: what operators do by hand, task by task, to get rid of a topic whose deletion hangs.

Words: a *runbook* is a sequence of *tasks*, which the operator does in this order and whenever they like; a *patient*
operator begins one only while the cluster has nothing to do. A task that is about brokers is done on each of them, in
any order. What is not there any more is no trouble: zkCli says "Node does not exist", and the operator goes on. Who
has begun does not leave it at that, so that a cluster is quiet only when the runbook is finished or cannot begin.

Logs that are removed under a running broker stay with its process, which has their files open, and are gone with it.
Left out: that such a broker gives up the whole log directory when it next opens a file there.
"""
from __future__ import annotations

from enum import Enum

from model.kafka.actors import RUNBOOK_OPERATOR
from model.kafka.controller_context import EventKind, Step
from model.kafka.domains import BROKERS, DELETIONS, PARTITIONS, RUNBOOK_TASKS, TOPICS, Broker, Topic
from model.kafka.log_directory import delete_log
from model.kafka.operator import may_stop, stop_process
from model.kafka.state import Cluster, Replica
from model.kafka.versions import METADATA_FILE_REMOVAL, PATIENT_OPERATOR, RUNBOOK
from model.kafka.zookeeper import controller_changed, create_marker, remove_marker, remove_topic_znode
from model.language import action, require


class Task(Enum):
    """What a runbook is made of."""

    ASK = 0
    REMOVE_TOPIC = 1
    REMOVE_MARKER = 2
    REMOVE_CONTROLLER = 3
    REMOVE_LOGS = 4
    STOP = 5
    START = 6
    ROLL = 7


ZNODES = (Task.ASK, Task.REMOVE_TOPIC, Task.REMOVE_MARKER)
ZNODES_AND_CONTROLLER = (*ZNODES, Task.REMOVE_CONTROLLER)
LOGS = (*ZNODES, Task.REMOVE_LOGS, Task.REMOVE_CONTROLLER)
STOP_ALL = (Task.STOP, Task.REMOVE_LOGS, Task.REMOVE_TOPIC, Task.REMOVE_MARKER, Task.START)
ROLLING = (*ZNODES, Task.ROLL)


def tasks() -> tuple[Task, ...]:
    """The tasks of the runbook, in their order."""
    if RUNBOOK == "topic":
        return (Task.REMOVE_TOPIC,)
    if RUNBOOK == "znodes":
        return ZNODES
    if RUNBOOK == "marker first":
        return (Task.ASK, Task.REMOVE_MARKER, Task.REMOVE_TOPIC)
    if RUNBOOK == "znodes and controller":
        return ZNODES_AND_CONTROLLER
    if RUNBOOK == "logs":
        return LOGS
    if RUNBOOK == "stop all":
        return STOP_ALL
    if RUNBOOK == "roll":
        return ROLLING
    return ()


def is_due(cluster: Cluster, task: Task) -> bool:
    """Whether the operator may do the task now."""
    if not RUNBOOK_TASKS or (bool(PATIENT_OPERATOR) and not is_at_rest(cluster)):
        return False
    return any(cluster.runbook.tasks_done == place and due is task for place, due in enumerate(tasks()))


def is_finished(cluster: Cluster) -> bool:
    """Whether there is a runbook, and all its tasks are done."""
    return RUNBOOK != "none" and cluster.runbook.tasks_done == len(tasks())


def is_at_rest(cluster: Cluster) -> bool:
    """Whether no request is on its way, and no controller has an event or is at one; brokers may be down."""
    return all(
        broker.requests.headers.is_empty
        and broker.controller.events.is_empty
        and broker.controller.notifications.is_empty
        and broker.controller.step is Step.IDLE
        for broker in cluster.brokers
    )


@action(by=RUNBOOK_OPERATOR, says="asks to delete topic {topic}", source="kafka-topics.sh --delete")
def runbook_asks(cluster: Cluster, topic: Topic) -> None:
    """The topic gets a marker, as when any client asks."""
    zookeeper = cluster.zookeeper
    require(is_due(cluster, Task.ASK) and cluster.deletions < DELETIONS)
    require(zookeeper.topics[topic].exists and topic not in zookeeper.delete_topics)
    cluster.runbook.finish_task()
    cluster.deletions += 1
    create_marker(cluster, topic)


@action(
    by=RUNBOOK_OPERATOR, says="removes the znodes of topic {topic}", source="zkCli: deleteall /brokers/topics/T"
)
def runbook_removes_topic(cluster: Cluster, topic: Topic) -> None:
    """It is removed whatever it is by now."""
    znode = cluster.zookeeper.topics[topic]
    require(is_due(cluster, Task.REMOVE_TOPIC) and znode.was_created)
    cluster.runbook.finish_task()
    mean_first_topic(cluster, topic)
    remove_topic_znode(cluster, topic)


def mean_first_topic(cluster: Cluster, topic: int) -> None:
    """If somebody has created the topic again meanwhile, the operator does not know, and means the one before."""
    znode = cluster.zookeeper.topics[topic]
    if znode.incarnation == 0:
        znode.deletion_asked = True


@action(
    by=RUNBOOK_OPERATOR,
    says="removes the marker of topic {topic}",
    source="zkCli: deleteall /admin/delete_topics/T",
)
def runbook_removes_marker(cluster: Cluster, topic: Topic) -> None:
    """The controller goes on with what it has begun."""
    require(is_due(cluster, Task.REMOVE_MARKER))
    cluster.runbook.finish_task()
    remove_marker(cluster, topic)


@action(by=RUNBOOK_OPERATOR, says="deletes /controller", source="zkCli: delete /controller")
def runbook_removes_controller(cluster: Cluster) -> None:
    """The next controller begins with what is in ZooKeeper."""
    require(is_due(cluster, Task.REMOVE_CONTROLLER) and cluster.zookeeper.controller is not None)
    cluster.runbook.finish_task()
    cluster.zookeeper.controller = None
    controller_changed(cluster, EventKind.REELECT)


@action(by=RUNBOOK_OPERATOR, says="removes the logs of broker {broker}", source="rm -rf LOG_DIR/T-*")
def runbook_removes_logs(cluster: Cluster, broker: Broker) -> None:
    """The broker runs or not."""
    require(is_due(cluster, Task.REMOVE_LOGS) and broker not in cluster.runbook.done_on)
    cluster.runbook.finish_on(broker)
    remove_logs(cluster, broker)


@action(
    by=RUNBOOK_OPERATOR,
    says="stops broker {broker} and leaves it so; controller {controller} moves its leaders first",
    source="KafkaServer.shutdown",
)
def runbook_stops(cluster: Cluster, broker: Broker, controller: Broker) -> None:
    """The task is done when no broker runs."""
    require(is_due(cluster, Task.STOP) and may_stop(cluster, broker, controller))
    cluster.runbook.keeps_down = True
    stop_process(cluster, broker, controller)
    if not any(cluster.is_up(other) for other in BROKERS):
        cluster.runbook.finish_task()


@action(by=RUNBOOK_OPERATOR, says="lets all brokers start", source="kafka-server-start.sh")
def runbook_starts(cluster: Cluster) -> None:
    """They start in any order."""
    require(is_due(cluster, Task.START))
    cluster.runbook.finish_task()
    cluster.runbook.keeps_down = False


@action(
    by=RUNBOOK_OPERATOR,
    says="stops broker {broker} and removes its logs; controller {controller} moves its leaders first",
    source="KafkaServer.shutdown; rm -rf LOG_DIR/T-*",
)
def runbook_rolls(cluster: Cluster, broker: Broker, controller: Broker) -> None:
    """One broker at a time: the others are up."""
    require(is_due(cluster, Task.ROLL) and broker not in cluster.runbook.done_on)
    require(all(cluster.is_up(other) for other in BROKERS) and may_stop(cluster, broker, controller))
    cluster.runbook.finish_on(broker)
    stop_process(cluster, broker, controller)
    remove_logs(cluster, broker)


def remove_logs(cluster: Cluster, broker: int) -> None:
    """The directories of all topics that clients can create; a running process keeps what it has in memory."""
    for topic in TOPICS:
        mean_first_topic(cluster, topic)
        for partition in PARTITIONS:
            replica = cluster.brokers[broker].replicas[topic][partition]
            if cluster.is_up(broker):
                unlink_log(replica)
            else:
                delete_log(replica)


def unlink_log(replica: Replica) -> None:
    """The directory is gone, and the file with the topic id; the process reads and writes on in what it has open."""
    replica.on_disk = False
    replica.file_topic_id = None
    if METADATA_FILE_REMOVAL:
        replica.dirty = False
