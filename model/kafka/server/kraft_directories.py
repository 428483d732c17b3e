"""BrokerMetadataPublisher, ReplicaManager and LogManager: a broker in KRaft mode, its directories, and the image.

A topic has one partition, whose only replica is on this broker. The image, which the broker reads as it starts and
after each change, has the topic's id and the log directory that is *assigned* to the replica (KIP-858); the controller
lets the broker lead while that directory is online. A log is *current*, or a *future* one, to which it moves. Its id is
in partition.metadata, which is written after the log is created, and before its first record.

What the model leaves out, and why its stories lose nothing by it:

* Other replicas: a broker that has lost a log of a topic with others copies it again.
* Which directory gets a new log: here the first one that is online.
* What the thread of a move truncates: a future log that is longer than the current one stays.
* Assignments that arrive in another order: a correction comes before the copy has taken over, or not at all.
* When the controller elects: a replica whose directory has changed at a start may lead only after the next start.
* Changes of the partition after a start, at which a broker before 3.7 creates a replica that it lacks.
* Brokers of other topics, and the metadata log: its directory does not fail.
"""

from __future__ import annotations

from typing import Annotated

from kwalk.model.kafka.server.versions import (
    FUTURE_LOGS_ARE_RECOVERED,
    OFFLINE_REPLICAS_KEEP_IDS,
    STRAYS_GO_FIRST,
    UNIDENTIFIED_LOGS_ARE_STRAYS,
)
from kwalk.model.kafka.storage.domains import CLIENT, FAULT, OPERATOR, PRODUCER
from kwalk.model.language import Actor, Array, Bound, Domain, action, array, flag, number, optional, require, state

DIRECTORIES = Domain("directories", "log directories of the broker", default=2)
WRITES = Bound("writes", "the most records of a topic")
STARTS = Bound("starts", "how often the broker starts again")
TOPIC_CREATIONS = Bound("topic_creations", "how often the topic is deleted and created again", default=0)
DISK_FAILURES = Bound("disk_failures", "how often a log directory fails", default=0)
DIRECTORY_MOVES = Bound("directory_moves", "how often a client moves the replica to the other directory", default=0)

Directory = Annotated[int, DIRECTORIES]
BROKER = Actor("broker")
MOVER = Actor("log directory thread")


@state
class KraftDirectory:
    """A log directory: whether its disk works, whether the broker uses it, and the logs of the partition in it."""

    is_broken: bool = flag()
    is_online: bool = flag(default=True)
    has_log: bool = flag()
    log_id: int | None = optional(number(0, TOPIC_CREATIONS))
    is_flushed: bool = flag()
    records: int = number(0, WRITES)
    has_future: bool = flag()
    future_records: int = number(0, WRITES)

    def remove_log(self) -> None:
        """Delete the current log, or set it aside."""
        self.has_log, self.is_flushed, self.log_id, self.records = False, False, None, 0


@state
class KraftReplica:
    """The image, and the broker: where its Partition object has the log, and whether it knows that one is offline.

    Attributes:
        topic_id: the id of the topic in the image; a topic that is created again has the next one.
        assigned: the directory that the image has for the replica.
        hosted: the directory of the log that the broker serves.
        is_offline: whether the Partition object is one of a directory that has failed.
        written: how many records of the topic were acknowledged.
    """

    directories: Array[KraftDirectory] = array(DIRECTORIES, KraftDirectory)
    topic_id: int = number(0, TOPIC_CREATIONS)
    assigned: int | None = optional(DIRECTORIES)
    hosted: int | None = optional(DIRECTORIES)
    is_offline: bool = flag()
    is_up: bool = flag(default=True)
    has_failed_to_start: bool = flag()
    written: int = number(0, WRITES)
    starts: int = number(0, STARTS)
    disk_failures: int = number(0, DISK_FAILURES)
    moves: int = number(0, DIRECTORY_MOVES)


def has_its_log(replica: KraftReplica) -> None:
    """The broker runs, and has created the log in its first directory."""
    create_log(replica, 0)
    replica.assigned = 0


def is_led(replica: KraftReplica) -> bool:
    """Whether the controller has the broker lead: it runs, and the assigned directory is not known to be offline."""
    return replica.is_up and any(replica.assigned == d and replica.directories[d].is_online for d in DIRECTORIES)


def create_log(replica: KraftReplica, directory: int) -> None:
    """Create an empty log of the image's topic in a directory, and serve it."""
    there = replica.directories[directory]
    there.has_log, there.is_flushed, there.log_id, there.records = True, False, replica.topic_id, 0
    replica.hosted, replica.is_offline = directory, False


def create_anywhere(replica: KraftReplica) -> None:
    """Create the log in the first directory that is online (Kafka: LogManager.nextLogDirs)."""
    for directory in DIRECTORIES:
        if replica.hosted is None and replica.directories[directory].is_online:
            create_log(replica, directory)


@action(by=PRODUCER, description="writes a record", source="ReplicaManager.appendRecords; UnifiedLog.append")
def write_record(replica: KraftReplica) -> None:
    """The topic id is on the disk before the record."""
    require(is_led(replica) and replica.hosted is not None and replica.written < WRITES)
    replica.written += 1
    for directory in DIRECTORIES:
        there = replica.directories[directory]
        if replica.hosted == directory:
            there.records += 1
            there.is_flushed = True


@action(by=BROKER, description="writes partition.metadata", source="UnifiedLog.maybeFlushMetadataFile")
def flush_topic_id(replica: KraftReplica) -> None:
    """A task of the scheduler."""
    require(replica.is_up)
    require(any(replica.hosted == d and not replica.directories[d].is_flushed for d in DIRECTORIES))
    for directory in DIRECTORIES:
        if replica.hosted == directory:
            replica.directories[directory].is_flushed = True


@action(by=CLIENT, description="deletes the topic, and creates it again", source="ReplicaManager.applyDelta")
def create_topic_again(replica: KraftReplica) -> None:
    """A running broker deletes its log, if it is online, and creates the new one.

    A replica whose directory has failed could not be created again before 3.7 (KAFKA-16157).
    """
    require(replica.topic_id < TOPIC_CREATIONS)
    replica.topic_id += 1
    replica.written, replica.assigned = 0, None
    if replica.is_up:
        for directory in DIRECTORIES:
            if replica.hosted == directory:
                replica.directories[directory].remove_log()
            replica.directories[directory].has_future = False
            replica.directories[directory].future_records = 0
        replica.hosted = None
        if not replica.is_offline or STRAYS_GO_FIRST:
            create_anywhere(replica)
            replica.assigned = replica.hosted


# Moves between directories.


@action(by=CLIENT, description="asks to move the replica", source="ReplicaManager.alterReplicaLogDirs")
def move_replica(replica: KraftReplica, directory: Directory) -> None:
    """The future log is created in the other directory."""
    there = replica.directories[directory]
    require(replica.is_up and replica.moves < DIRECTORY_MOVES and replica.hosted is not None)
    require(replica.hosted != directory and there.is_online and not there.has_future)
    replica.moves += 1
    there.has_future = True


def is_caught_up(replica: KraftReplica, directory: int) -> bool:
    """Whether the future log in a directory has all that the current log has."""
    there = replica.directories[directory]
    return there.has_future and any(
        replica.hosted == d and there.future_records >= replica.directories[d].records for d in DIRECTORIES
    )


@action(by=MOVER, description="copies to the future log", source="ReplicaAlterLogDirsThread.processPartitionData")
def copy_to_future_log(replica: KraftReplica, directory: Directory) -> None:
    """All records that are missing are copied at a time."""
    there = replica.directories[directory]
    require(replica.is_up and there.is_online and there.has_future and replica.hosted is not None)
    require(not is_caught_up(replica, directory))
    for current in DIRECTORIES:
        if replica.hosted == current:
            there.future_records = replica.directories[current].records


@action(
    by=MOVER,
    description="has the controller assign the directory of the future log",
    source="ReplicaAlterLogDirsThread.maybePromoteFutureReplica; AssignmentsManager",
)
def assign_directory(replica: KraftReplica, directory: Directory) -> None:
    """Before the future log takes over, the image has its directory (KIP-858)."""
    require(replica.is_up and replica.directories[directory].is_online and is_caught_up(replica, directory))
    require(replica.assigned != directory)
    replica.assigned = directory


@action(
    by=BROKER,
    description="has the controller assign the directory again where the log is",
    source="ReplicaManager.maybeUpdateTopicAssignment; AssignmentsManager",
)
def correct_assignment(replica: KraftReplica) -> None:
    """A broker that applies an image assigns the directory in which it has the log, if the image has another one."""
    require(replica.is_up and replica.assigned is not None)
    require(replica.hosted is not None and replica.assigned != replica.hosted)
    replica.assigned = replica.hosted


@action(
    by=MOVER,
    description="lets the future log take over",
    source="Partition.maybeReplaceCurrentWithFutureReplica; LogManager.replaceCurrentWithFutureLog",
)
def promote_future_log(replica: KraftReplica, directory: Directory) -> None:
    """Its folder gets the name of the current log; if there is one of that name, the directory goes offline."""
    there = replica.directories[directory]
    require(replica.is_up and there.is_online and is_caught_up(replica, directory) and replica.assigned == directory)
    if there.has_log:
        go_offline(replica, directory)
    else:
        take_over(replica, directory)


def take_over(replica: KraftReplica, directory: int) -> None:
    """Rename the future log of a directory; the former current log is deleted, if its directory is online."""
    there = replica.directories[directory]
    for other in DIRECTORIES:
        if other != directory and replica.directories[other].is_online:
            replica.directories[other].remove_log()
    there.has_log, there.is_flushed, there.log_id, there.records = True, True, replica.topic_id, there.future_records
    there.has_future, there.future_records = False, 0
    replica.hosted, replica.is_offline = directory, False


# Directories that fail.


def go_offline(replica: KraftReplica, directory: int) -> None:
    """Use a directory no more (Kafka: ReplicaManager.handleLogDirFailure)."""
    replica.directories[directory].is_online = False
    if replica.hosted == directory:
        replica.hosted, replica.is_offline = None, True


@action(by=FAULT, description="breaks the disk of directory {directory}", source="ReplicaManager.handleLogDirFailure")
def break_disk(replica: KraftReplica, directory: Directory) -> None:
    """The broker notices at once if it runs, and the controller hears of it. Another directory works."""
    require(replica.disk_failures < DISK_FAILURES and not replica.has_failed_to_start)
    require(not any(replica.directories[d].is_broken or not replica.directories[d].is_online for d in DIRECTORIES))
    replica.disk_failures += 1
    replica.directories[directory].is_broken = True
    if replica.is_up:
        go_offline(replica, directory)


@action(by=OPERATOR, description="makes the disk work again", source="an operator, with the broker stopped")
def repair_disk(replica: KraftReplica, directory: Directory) -> None:
    """All files are as they were."""
    require(not replica.is_up and not replica.has_failed_to_start and replica.directories[directory].is_broken)
    replica.directories[directory].is_broken = False


@action(
    by=BROKER,
    description="reads that the replica has no leader, as its directory has failed",
    source="ReplicaManager.applyDelta: getOrCreatePartition; Partition.createLogIfNotExists",
)
def read_that_there_is_no_leader(replica: KraftReplica) -> None:
    """In 3.7.0 the Partition object has lost its topic id with its log, and is taken for that of an earlier topic."""
    require(replica.is_up and replica.is_offline and not is_led(replica) and replica.assigned is not None)
    require(not OFFLINE_REPLICAS_KEEP_IDS and any(replica.directories[d].is_online for d in DIRECTORIES))
    create_anywhere(replica)


# Stops and starts.


@action(by=FAULT, description="crashes", source="a crash of the broker")
def crash(replica: KraftReplica) -> None:
    """A topic id that was not flushed is lost."""
    require(replica.is_up and replica.starts < STARTS)
    replica.is_up = False
    replica.hosted, replica.is_offline = None, False
    for directory in DIRECTORIES:
        there = replica.directories[directory]
        if there.has_log and not there.is_flushed and not there.is_broken:
            there.log_id = None


@action(
    by=OPERATOR,
    description="starts the broker",
    source="BrokerMetadataPublisher.initializeManagers; LogManager.startup; ReplicaManager.applyDelta",
)
def start_broker(replica: KraftReplica) -> None:
    """Logs are loaded, strays removed, and the first image is applied: before 3.7 in another order."""
    require(not replica.is_up and not replica.has_failed_to_start)
    replica.starts += 1
    for directory in DIRECTORIES:
        replica.directories[directory].is_online = not replica.directories[directory].is_broken
    if not STRAYS_GO_FIRST:
        start_with_strays(replica)
    else:
        start_without_strays(replica)


def is_loaded(replica: KraftReplica, directory: int) -> bool:
    """Whether the broker loads a current log from a directory."""
    return replica.directories[directory].is_online and replica.directories[directory].has_log


def has_duplicates(replica: KraftReplica) -> bool:
    """Whether the partition has current logs in two directories, with which a broker does not start.

    Kafka: LogManager.loadLog: Duplicate log directories … are found.
    """
    return any(is_loaded(replica, d) and is_loaded(replica, e) for d in DIRECTORIES for e in DIRECTORIES if d < e)


def start_with_strays(replica: KraftReplica) -> None:
    """Apply the first image beside logs of earlier topics, which are deleted then (before KAFKA-14616).

    A log without id takes that of the image. One with another id refuses it, and is the partition's still.

    Kafka: BrokerMetadataPublisher.finishInitializingReplicaManager: findStrayPartitions.
    """
    if has_duplicates(replica):
        replica.has_failed_to_start = True
        return
    replica.is_up = True
    is_refused = False
    for directory in DIRECTORIES:
        there = replica.directories[directory]
        if is_loaded(replica, directory) and there.log_id is None:
            there.log_id = replica.topic_id
        if is_loaded(replica, directory) and there.log_id == replica.topic_id:
            replica.hosted = directory
        elif is_loaded(replica, directory):
            is_refused = True
            there.remove_log()
    if not is_refused:
        create_where_assigned(replica)
    replica.assigned = replica.hosted


def start_without_strays(replica: KraftReplica) -> None:
    """Set strays aside, and apply the first image then (since KAFKA-14616).

    Since KAFKA-16234 a stray is set aside as it is loaded, so that it is no duplicate.
    """
    is_unidentified = any(is_loaded(replica, d) and replica.directories[d].log_id is None for d in DIRECTORIES)
    had_duplicates = has_duplicates(replica)
    for directory in DIRECTORIES:
        if is_loaded(replica, directory) and replica.directories[directory].log_id != replica.topic_id:
            replica.directories[directory].remove_log()
    is_duplicate = had_duplicates if not OFFLINE_REPLICAS_KEEP_IDS else has_duplicates(replica)
    if is_duplicate or (is_unidentified and not UNIDENTIFIED_LOGS_ARE_STRAYS):
        replica.has_failed_to_start = True
        return
    replica.is_up = True
    for directory in DIRECTORIES:
        there = replica.directories[directory]
        if there.is_online and there.has_future and replica.assigned == directory and FUTURE_LOGS_ARE_RECOVERED:
            take_over(replica, directory)
    for directory in DIRECTORIES:
        if is_loaded(replica, directory):
            replica.hosted = directory
    create_where_assigned(replica)
    if replica.hosted is not None:
        replica.assigned = replica.hosted


def create_where_assigned(replica: KraftReplica) -> None:
    """Create the log if there is none: nowhere, if it may be in a directory that is offline.

    Kafka: Partition.createLogInAssignedDirectoryId.
    """
    if replica.assigned is None:
        create_anywhere(replica)
    for directory in DIRECTORIES:
        if replica.assigned == directory and replica.hosted is None and replica.directories[directory].is_online:
            create_log(replica, directory)
