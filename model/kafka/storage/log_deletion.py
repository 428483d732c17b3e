"""LogManager: how the folder of a log is deleted file by file, while its broker flushes, stops, or creates it again.

A log whose replica is deleted gets another folder name, which ends with `-delete`; a thread deletes its files later. A
segment that is removed from a log gets the suffix `.deleted`, and its files go after file.delete.delay.ms. Meanwhile a
flush of the log may be at work, which knows the folder that the log had. The broker may have another log directory.

What the model leaves out, and why its stories lose nothing by it:

* A log has one segment with a log file and a time index; the files of all its segments are deleted in one step.
* Flushes are shorter than file.delete.delay.ms, but for one story.
* Records: a log that is created again begins at the same offset, so that its files have the same names.
"""

from __future__ import annotations

from enum import Enum

from kwalk.model.kafka.storage.domains import FAULT, LOG, OPERATOR
from kwalk.model.kafka.storage.versions.moves import (
    FUTURE_LOGS_ARE_LOCKED,
    MOVED_FILES_ARE_FOUND,
    MOVED_LOGS_KNOW_THEIR_EPOCHS,
    MOVED_SNAPSHOTS_ARE_FOUND,
)
from kwalk.model.kafka.storage.versions.recovery import (
    CLOSED_FILES_MAY_BE_GONE,
    FLUSHES_OUTLIVE_THEIR_FOLDER,
    FOLDERS_ARE_FLUSHED,
    PATHS_MAY_BE_UNREADABLE,
)
from kwalk.model.kafka.storage.versions.retention import (
    DELETION_WAITS_FOR_FLUSHES,
    EMPTY_FOLDERS_ARE_LOADED,
    FUTURE_LOGS_ARE_LOOKED_FOR,
    GONE_FILES_ARE_PASSED_OVER,
    INDEXES_FOLLOW_THEIR_FOLDER,
    LONG_NAMES_ARE_CUT,
    PERIODS_ARE_OF_TOPICS,
)
from kwalk.model.language import Actor, Bound, action, choice, flag, number, require, state

CREATIONS = Bound("creations", "how often the partition gets a log")
FLUSHES = Bound("flushes", "how often the log is flushed", default=0)
SEGMENT_REMOVALS = Bound("segment_removals", "how often a segment is removed from the log", default=0)
FOLDER_CRASHES = Bound("folder_crashes", "how often the broker crashes", default=0)
PERIODS = Bound("periods", "1 if the topic has a period in its name", default=0)
LONG_NAMES = Bound("long_names", "1 if the topic's name leaves no room for what a deletion adds", default=0)
DISK_FAILURES = Bound("disk_failures", "how often the broker's other log directory fails", default=0)
MOVE_REQUESTS = Bound("move_requests", "how often a move is asked for again", default=0)
LONG_FLUSHES = Bound("long_flushes", "1 if a flush may last longer than file.delete.delay.ms", default=0)
SNAPSHOTS = Bound("snapshots", "1 if a removed segment has a snapshot of its producers", default=0)
LATE_REMOVALS = Bound("late_removals", "1 if retention may remove a segment of the deleted log", default=0)
MOVED_LEADERS = Bound("moved_leaders", "1 if a replica that has moved may be elected", default=0)
CONTROLLER = Actor("controller", system=False)


class DeletedFolder(Enum):
    """What is left of a deleted log's folder."""

    NONE = "nothing"
    WHOLE = "all files"
    WITHOUT_SEGMENTS = "a folder without segments"


class FlushPhase(Enum):
    """What a flush does next."""

    NONE = "nothing"
    FILES = "flushes the files"
    FOLDER = "flushes the folder"


class LateFiles(Enum):
    """Where the files are of a segment that retention has removed from the deleted log."""

    NONE = "there are none"
    IN_THE_FOLDER = "in the folder"
    LISTED = "in the folder, which is listed"
    GONE = "they are listed, and gone"


@state
class PartitionFolder:
    """The folder of a partition, and the folder of its earlier log that is being deleted.

    The log `is_there`; it `is_future` while it is the copy of one in another log directory. It `lacks_its_time_index`
    once that file was deleted. A segment `is_removed` whose files are to be deleted; the folder `is_renamed` since
    then. Files that nobody deletes are `left_over`; so may be a snapshot of producers (`snapshot_is_left_over`).

    A flush may be `of_the_deleted` log, or of a future log whose folder has another name since. The log directory
    `is_offline` after an error; a broker `cannot_start`. The broker's other directory is offline after
    `disk_failures`; then a deletion may be `refused`. A request for a move that `looks_for_future` log of an earlier
    one may fail (`move_failed`). Retention may remove a segment of the deleted log, whose files are `late`. A replica
    that has moved `is_elected` at some time.
    """

    is_there: bool = flag()
    is_future: bool = flag()
    lacks_its_time_index: bool = flag()
    is_removed: bool = flag()
    is_renamed: bool = flag()
    left_over: bool = flag()
    snapshot_is_left_over: bool = flag(when=SNAPSHOTS)
    deleted: DeletedFolder = choice(DeletedFolder)
    flush: FlushPhase = choice(FlushPhase)
    of_the_deleted: bool = flag()
    is_up: bool = flag(default=True)
    is_offline: bool = flag()
    cannot_start: bool = flag()
    creations: int = number(0, CREATIONS)
    flushes: int = number(0, FLUSHES)
    segment_removals: int = number(0, SEGMENT_REMOVALS)
    folder_crashes: int = number(0, FOLDER_CRASHES)
    disk_failures: int = number(0, DISK_FAILURES)
    refused: bool = flag(when=DISK_FAILURES)
    looks_for_future: bool = flag(when=MOVE_REQUESTS)
    move_failed: bool = flag(when=MOVE_REQUESTS)
    late: LateFiles = choice(LateFiles, when=LATE_REMOVALS)
    is_elected: bool = flag(when=MOVED_LEADERS)


def is_used(folder: PartitionFolder) -> bool:
    """Whether the broker runs, and uses the log directory."""
    return folder.is_up and not folder.is_offline


def has_log(folder: PartitionFolder) -> bool:
    """Whether the broker uses the log."""
    return is_used(folder) and folder.is_there


@action(by=CONTROLLER, description="has a replica created", source="LogManager.getOrCreateLog")
def create(folder: PartitionFolder) -> None:
    """The folder of a deleted log has another name by then."""
    require(is_used(folder) and not folder.is_there)
    folder.creations += 1
    folder.is_there = True


@action(by=OPERATOR, description="asks for a move of the replica to this log directory", source="AlterReplicaLogDirs")
def create_future(folder: PartitionFolder) -> None:
    """The future log has a folder of its own, which ends with `-future`."""
    require(is_used(folder) and not folder.is_there)
    folder.creations += 1
    folder.is_there = folder.is_future = True


@action(
    by=LOG, description="replaces the current log by the future log", source="LogManager.replaceCurrentWithFutureLog"
)
def replace_log(folder: PartitionFolder) -> None:
    """The folder gets the name that the current log had. A flush that was to flush it finds none of its name."""
    require(has_log(folder) and folder.is_future)
    require(MOVE_REQUESTS == 0 or not (folder.looks_for_future and FUTURE_LOGS_ARE_LOCKED))
    folder.is_future, folder.is_renamed = False, folder.is_removed
    folder.of_the_deleted = folder.flush is FlushPhase.FOLDER


@action(by=CONTROLLER, description="elects the replica", source="Partition.makeLeader: Replica.epochs, assign")
def elect_moved(folder: PartitionFolder) -> None:
    """It enters its leader epoch; in 2.0.1 and 2.1.0 in the folder from which it has moved, which is gone."""
    require(MOVED_LEADERS > 0 and has_log(folder) and not folder.is_future)
    folder.is_elected, folder.is_offline = True, not MOVED_LOGS_KNOW_THEIR_EPOCHS


@action(by=OPERATOR, description="asks for a move once more", source="ReplicaManager.alterReplicaLogDirs: getReplica")
def ask_again(folder: PartitionFolder) -> None:
    """Find the future log of the earlier move. Since KAFKA-6949 it is not renamed meanwhile."""
    require(has_log(folder) and folder.is_future and MOVE_REQUESTS > 0)
    folder.looks_for_future = True


@action(by=LOG, description="compares the directories of both moves", source="ReplicaManager.alterReplicaLogDirs")
def compare_directories(folder: PartitionFolder) -> None:
    """Answer the request, which fails if the future log has gone."""
    require(MOVE_REQUESTS > 0 and folder.looks_for_future)
    folder.looks_for_future, folder.move_failed = False, not folder.is_future


@action(by=LOG, description="removes a segment, by retention or a truncation", source="Log.asyncDeleteSegment")
def remove_segment(folder: PartitionFolder) -> None:
    """Its files are deleted after a delay."""
    require(has_log(folder) and not folder.is_removed and folder.segment_removals < SEGMENT_REMOVALS)
    folder.segment_removals += 1
    folder.is_removed = True


@action(by=LOG, description="deletes the files of the removed segment", source="LogSegment.deleteTypeIfExists")
def delete_removed(folder: PartitionFolder) -> None:
    """Of a future log that has replaced another one they are in another folder; KAFKA-16424 looks for them there.

    A snapshot of producers is looked for where it was, as the log has forgotten it since 3.0.0.
    """
    require(has_log(folder) and folder.is_removed)
    if SNAPSHOTS > 0:
        folder.snapshot_is_left_over = folder.is_renamed and not MOVED_SNAPSHOTS_ARE_FOUND
    folder.left_over = folder.left_over or (folder.is_renamed and not MOVED_FILES_ARE_FOUND)
    folder.is_removed = folder.is_renamed = False


@action(by=CONTROLLER, description="has the replica deleted", source="LogManager.asyncDelete")
def delete_log(folder: PartitionFolder) -> None:
    """The folder is renamed, with all that is in it; a flush goes on.

    Until KAFKA-4893 the new name could be longer than a file system allows. In 1.1 and 2.0 a log that is moved was
    looked for, too, which is an error while another directory is offline (KAFKA-7313).
    """
    require(has_log(folder) and not folder.is_future and folder.deleted is DeletedFolder.NONE)
    if DISK_FAILURES > 0:
        folder.refused = folder.disk_failures > 0 and not FUTURE_LOGS_ARE_LOOKED_FOR
    if LONG_NAMES > 0 and not LONG_NAMES_ARE_CUT:
        folder.is_offline = True
        return
    folder.is_there = folder.is_removed = folder.is_renamed = folder.left_over = folder.lacks_its_time_index = False
    if SNAPSHOTS > 0:
        folder.snapshot_is_left_over = False
    folder.deleted = DeletedFolder.WHOLE
    folder.of_the_deleted = folder.flush is not FlushPhase.NONE


@action(by=LOG, description="deletes the files of the deleted log", source="LogManager.deleteLogs; LogSegment.delete")
def delete_files(folder: PartitionFolder) -> None:
    """Until KAFKA-5752 time indexes did not know their new folder: the file of that name went which a new log has."""
    require(is_used(folder) and folder.deleted is DeletedFolder.WHOLE)
    require(not folder.of_the_deleted or not DELETION_WAITS_FOR_FLUSHES or LONG_FLUSHES > 0)
    folder.deleted = DeletedFolder.WITHOUT_SEGMENTS
    folder.lacks_its_time_index = folder.is_there and not INDEXES_FOLLOW_THEIR_FOLDER


@action(by=LOG, description="removes a segment of the deleted log", source="LogManager.cleanupLogs: deleteOldSegments")
def remove_late(folder: PartitionFolder) -> None:
    """Retention has the log on its list; the files are deleted after a delay, as those of the log."""
    require(LATE_REMOVALS > 0 and is_used(folder) and folder.deleted is DeletedFolder.WHOLE)
    require(folder.late is LateFiles.NONE)
    folder.late = LateFiles.IN_THE_FOLDER


@action(by=LOG, description="lists the files in the folder of the deleted log", source="Utils.delete: walkFileTree")
def list_folder(folder: PartitionFolder) -> None:
    """What is left is the files of a segment that retention has removed."""
    require(LATE_REMOVALS > 0 and is_used(folder) and folder.deleted is DeletedFolder.WITHOUT_SEGMENTS)
    require(folder.late is LateFiles.IN_THE_FOLDER)
    folder.late = LateFiles.LISTED


@action(by=LOG, description="deletes the files of a segment of the deleted log", source="LogSegment.deleteIfExists")
def delete_late(folder: PartitionFolder) -> None:
    """Another thread than the one that deletes the log."""
    require(LATE_REMOVALS > 0 and is_used(folder))
    require(folder.late is LateFiles.IN_THE_FOLDER or folder.late is LateFiles.LISTED)
    folder.late = LateFiles.GONE if folder.late is LateFiles.LISTED else LateFiles.NONE


@action(by=LOG, description="deletes the folder of the deleted log", source="Log.delete; Utils.delete")
def delete_folder(folder: PartitionFolder) -> None:
    """Nothing is left of it. From 1.0 to 3.8 a listed file that is gone took its directory offline (KAFKA-13403)."""
    require(is_used(folder) and folder.deleted is DeletedFolder.WITHOUT_SEGMENTS)
    if LATE_REMOVALS > 0:
        require(folder.late is not LateFiles.IN_THE_FOLDER)
        if folder.late is LateFiles.GONE and not GONE_FILES_ARE_PASSED_OVER:
            folder.is_offline = True
            return
        folder.late = LateFiles.NONE
    folder.deleted = DeletedFolder.NONE


@action(by=LOG, description="is to flush the log", source="LogManager.flushDirtyLogs; Log.roll")
def begin_flush(folder: PartitionFolder) -> None:
    """A task of the scheduler."""
    require(has_log(folder) and folder.flush is FlushPhase.NONE and folder.flushes < FLUSHES)
    folder.flushes += 1
    folder.flush = FlushPhase.FILES


@action(by=LOG, description="flushes the files of the log", source="Log.flush; LogSegment.flush")
def flush_files(folder: PartitionFolder) -> None:
    """In 1.0 the files of a deleted log were closed at once, which takes the log directory offline (KAFKA-6624).

    So do files that were closed after file.delete.delay.ms, while many flushes wait for a thread (KAFKA-19571).
    """
    require(is_used(folder) and folder.flush is FlushPhase.FILES)
    is_late = LONG_FLUSHES > 0 and folder.deleted is not DeletedFolder.WHOLE and not CLOSED_FILES_MAY_BE_GONE
    folder.is_offline = folder.of_the_deleted and (not DELETION_WAITS_FOR_FLUSHES or is_late)
    folder.flush = FlushPhase.FOLDER if FOLDERS_ARE_FLUSHED and not folder.is_offline else FlushPhase.NONE
    folder.of_the_deleted = folder.of_the_deleted and folder.flush is FlushPhase.FOLDER


@action(by=LOG, description="flushes the folder of the log", source="LocalLog.flush; Utils.flushDirIfExists")
def flush_folder(folder: PartitionFolder) -> None:
    """Since KAFKA-3968; until KAFKA-15391 a folder that is not there took the log directory offline."""
    require(is_used(folder) and folder.flush is FlushPhase.FOLDER)
    folder.is_offline = folder.of_the_deleted and not FLUSHES_OUTLIVE_THEIR_FOLDER
    folder.flush, folder.of_the_deleted = FlushPhase.NONE, False


@action(by=FAULT, description="has the disk of the other log directory fail", source="LogManager.handleLogDirFailure")
def fail_other_disk(folder: PartitionFolder) -> None:
    """That directory is offline, and its path cannot be read."""
    require(folder.disk_failures < DISK_FAILURES)
    folder.disk_failures += 1


@action(by=FAULT, description="crashes")
def crash(folder: PartitionFolder) -> None:
    """The files stay as they are; the next start deletes those of removed segments."""
    require(is_used(folder) and folder.folder_crashes < FOLDER_CRASHES)
    folder.folder_crashes += 1
    folder.is_up = False
    folder.flush, folder.of_the_deleted = FlushPhase.NONE, False
    if LATE_REMOVALS > 0:
        folder.late = LateFiles.NONE


@action(by=LOG, description="starts, and loads all folders", source="LogManager.loadLogs; Log.loadSegments")
def start(folder: PartitionFolder) -> None:
    """Files that end with `.deleted` go, and indexes that are not there are built again.

    A log has a segment, but in a folder that ends with `-delete`: until KAFKA-8564 that was an exception. In 0.10.2.0
    such a folder's name was that of the topic up to the first period (KAFKA-5232). In 1.0 and 1.1 a start ended at a
    directory whose path cannot be read, as a disk has failed (KAFKA-6697).
    """
    require(not folder.is_up and not folder.cannot_start)
    is_empty = folder.deleted is DeletedFolder.WITHOUT_SEGMENTS and not EMPTY_FOLDERS_ARE_LOADED
    is_misread = folder.deleted is not DeletedFolder.NONE and PERIODS > 0 and not PERIODS_ARE_OF_TOPICS
    is_unreadable = folder.disk_failures > 0 and not PATHS_MAY_BE_UNREADABLE
    if is_empty or is_misread or is_unreadable:
        folder.cannot_start = True
    else:
        folder.is_up = True
        folder.is_removed = folder.is_renamed = folder.left_over = folder.lacks_its_time_index = False
        if SNAPSHOTS > 0:
            folder.snapshot_is_left_over = False
