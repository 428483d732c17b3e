"""What operators do by hand, task by task of a runbook, to remove a topic whose deletion hangs.

Words: a *runbook* is a sequence of *tasks*, which the operator does in this order and at any time; a *patient* operator
begins one only while the cluster is idle. A task about brokers is done on each of them, in any order. A znode that is
already gone is no error: zkCli prints "Node does not exist", and the operator continues. An operator who has begun does
not stop before the end, so that a state is quiescent only when the runbook is finished or cannot begin.

Logs that are removed under a running broker stay with its process, which has their files open, and are gone with it.
Left out: that such a broker gives up the whole log directory when it next opens a file there.
"""

from __future__ import annotations

from enum import Enum

from kwalk.model.kafka.actors import RUNBOOK_OPERATOR
from kwalk.model.kafka.broker.log_manager import delete_log
from kwalk.model.kafka.clients.operator import may_stop, stop_process
from kwalk.model.kafka.controller.controller_context import EventKind, EventProgress
from kwalk.model.kafka.domains import BROKERS, DELETIONS, PARTITIONS, RUNBOOK_TASKS, TOPICS, Broker, Topic
from kwalk.model.kafka.state import Cluster, Replica
from kwalk.model.kafka.versions.grain import METADATA_FILE_REMOVAL, PATIENT_OPERATOR, RUNBOOK
from kwalk.model.kafka.zookeeper.kafka_zk_client import (
    controller_changed,
    create_delete_topics_znode,
    remove_delete_topics_znode,
    remove_topic_znode,
)
from kwalk.model.language import action, require


class RunbookTask(Enum):
    """The tasks of runbooks."""

    DELETE = 0
    REMOVE_TOPIC = 1
    REMOVE_DELETION_REQUEST = 2
    REMOVE_CONTROLLER = 3
    REMOVE_LOGS = 4
    STOP = 5
    START = 6
    ROLL = 7


ZNODES = (RunbookTask.DELETE, RunbookTask.REMOVE_TOPIC, RunbookTask.REMOVE_DELETION_REQUEST)
ZNODES_AND_CONTROLLER = (*ZNODES, RunbookTask.REMOVE_CONTROLLER)
LOGS = (*ZNODES, RunbookTask.REMOVE_LOGS, RunbookTask.REMOVE_CONTROLLER)
STOP_ALL = (
    RunbookTask.STOP,
    RunbookTask.REMOVE_LOGS,
    RunbookTask.REMOVE_TOPIC,
    RunbookTask.REMOVE_DELETION_REQUEST,
    RunbookTask.START,
)
ROLLING = (*ZNODES, RunbookTask.ROLL)


def tasks() -> tuple[RunbookTask, ...]:
    """Return the tasks of the runbook, in their order."""
    if RUNBOOK == "topic":
        return (RunbookTask.REMOVE_TOPIC,)
    if RUNBOOK == "znodes":
        return ZNODES
    if RUNBOOK == "delete_topics first":
        return (RunbookTask.DELETE, RunbookTask.REMOVE_DELETION_REQUEST, RunbookTask.REMOVE_TOPIC)
    if RUNBOOK == "znodes and controller":
        return ZNODES_AND_CONTROLLER
    if RUNBOOK == "logs":
        return LOGS
    if RUNBOOK == "stop all":
        return STOP_ALL
    if RUNBOOK == "roll":
        return ROLLING
    return ()


def is_due(cluster: Cluster, task: RunbookTask) -> bool:
    """Whether the operator may do the task now."""
    if not RUNBOOK_TASKS or (bool(PATIENT_OPERATOR) and not is_at_rest(cluster)):
        return False
    return any(cluster.runbook.tasks_done == place and due is task for place, due in enumerate(tasks()))


def is_finished(cluster: Cluster) -> bool:
    """Whether there is a runbook, and all its tasks are done."""
    return RUNBOOK != "none" and cluster.runbook.tasks_done == len(tasks())


def is_at_rest(cluster: Cluster) -> bool:
    """Whether no request is on its way, and no controller has an event; brokers may be down."""
    return all(
        broker.requests.headers.is_empty
        and broker.controller.events.is_empty
        and broker.controller.notifications.is_empty
        and broker.controller.step is EventProgress.IDLE
        for broker in cluster.brokers
    )


@action(
    by=RUNBOOK_OPERATOR, group="runbook", description="asks to delete topic {topic}", source="kafka-topics.sh --delete"
)
def runbook_deletes_topic(cluster: Cluster, topic: Topic) -> None:
    """The topic gets a delete_topics znode, as after any client's request."""
    zookeeper = cluster.zookeeper
    require(is_due(cluster, RunbookTask.DELETE) and cluster.deletions < DELETIONS)
    require(zookeeper.topics[topic].exists and topic not in zookeeper.delete_topics)
    cluster.runbook.finish_task()
    cluster.deletions += 1
    create_delete_topics_znode(cluster, topic)


@action(
    by=RUNBOOK_OPERATOR,
    group="runbook",
    description="removes the znodes of topic {topic}",
    source="zkCli: deleteall /brokers/topics/T",
)
def runbook_removes_topic(cluster: Cluster, topic: Topic) -> None:
    """It is removed, whichever incarnation it is by now."""
    znode = cluster.zookeeper.topics[topic]
    require(is_due(cluster, RunbookTask.REMOVE_TOPIC) and znode.was_created)
    cluster.runbook.finish_task()
    request_deletion_of_first_incarnation(cluster, topic)
    remove_topic_znode(cluster, topic)


def request_deletion_of_first_incarnation(cluster: Cluster, topic: int) -> None:
    """Mark the deletion as requested if the topic was not created again: the operator means the first one."""
    znode = cluster.zookeeper.topics[topic]
    if znode.incarnation == 0:
        znode.deletion_requested = True


@action(
    by=RUNBOOK_OPERATOR,
    group="runbook",
    description="removes the delete_topics znode of {topic}",
    source="zkCli: deleteall /admin/delete_topics/T",
)
def runbook_removes_deletion_request(cluster: Cluster, topic: Topic) -> None:
    """The controller continues what it has begun."""
    require(is_due(cluster, RunbookTask.REMOVE_DELETION_REQUEST))
    cluster.runbook.finish_task()
    remove_delete_topics_znode(cluster, topic)


@action(by=RUNBOOK_OPERATOR, group="runbook", description="deletes /controller", source="zkCli: delete /controller")
def runbook_removes_controller(cluster: Cluster) -> None:
    """The next controller begins with the content of ZooKeeper."""
    require(is_due(cluster, RunbookTask.REMOVE_CONTROLLER) and cluster.zookeeper.controller is not None)
    cluster.runbook.finish_task()
    cluster.zookeeper.controller = None
    controller_changed(cluster, EventKind.REELECT)


@action(
    by=RUNBOOK_OPERATOR, group="runbook", description="removes the logs of broker {broker}", source="rm -rf LOG_DIR/T-*"
)
def runbook_removes_logs(cluster: Cluster, broker: Broker) -> None:
    """The broker may run or not."""
    require(is_due(cluster, RunbookTask.REMOVE_LOGS) and broker not in cluster.runbook.done_on)
    cluster.runbook.finish_on(broker)
    remove_logs(cluster, broker)


@action(
    by=RUNBOOK_OPERATOR,
    group="runbook",
    description="stops broker {broker} and keeps it down; controller {controller} moves its leaders first",
    source="KafkaServer.shutdown",
)
def runbook_stops(cluster: Cluster, broker: Broker, controller: Broker) -> None:
    """The task is done when no broker runs."""
    require(is_due(cluster, RunbookTask.STOP) and may_stop(cluster, broker, controller))
    cluster.runbook.keeps_down = True
    stop_process(cluster, broker, controller)
    if not any(cluster.is_up(other) for other in BROKERS):
        cluster.runbook.finish_task()


@action(by=RUNBOOK_OPERATOR, group="runbook", description="starts all brokers", source="kafka-server-start.sh")
def runbook_starts(cluster: Cluster) -> None:
    """They start in any order."""
    require(is_due(cluster, RunbookTask.START))
    cluster.runbook.finish_task()
    cluster.runbook.keeps_down = False


@action(
    by=RUNBOOK_OPERATOR,
    group="runbook",
    description="stops broker {broker} and removes its logs; controller {controller} moves its leaders first",
    source="KafkaServer.shutdown; rm -rf LOG_DIR/T-*",
)
def runbook_rolls(cluster: Cluster, broker: Broker, controller: Broker) -> None:
    """One broker at a time: the others are up."""
    require(is_due(cluster, RunbookTask.ROLL) and broker not in cluster.runbook.done_on)
    require(cluster.all_up and may_stop(cluster, broker, controller))
    cluster.runbook.finish_on(broker)
    stop_process(cluster, broker, controller)
    remove_logs(cluster, broker)


def remove_logs(cluster: Cluster, broker: int) -> None:
    """Remove the directories of all topics that clients can create; a running process keeps what it has in memory."""
    for topic in TOPICS:
        request_deletion_of_first_incarnation(cluster, topic)
        for partition in PARTITIONS:
            replica = cluster.replica_of(broker, topic, partition)
            if cluster.is_up(broker):
                unlink_log(replica)
            else:
                delete_log(replica)


def unlink_log(replica: Replica) -> None:
    """Remove the directory with partition.metadata; the process continues with the files that it has open."""
    replica.on_disk = False
    replica.file_topic_id = None
    if METADATA_FILE_REMOVAL:
        replica.dirty = False
