"""Properties of the folder of a log that is deleted, created again, flushed or moved: what stays, and what fails."""

from __future__ import annotations

from kwalk.model.kafka.storage.log_deletion import DeletedFolder, FlushPhase, LateFiles, PartitionFolder
from kwalk.model.language import always, premise, reachable, step, when_quiescent


@always(
    symptom="a log directory goes offline as a topic is deleted; a broker without another one exits",
    log="Error while flushing log for … in dir … with offset …",
)
def directory_outlives_a_deletion(folder: PartitionFolder) -> bool:
    """Nothing that is done to a log takes the directory of all logs offline."""
    return not folder.is_offline


@always(
    symptom="a log directory goes offline as a replica is moved to another one; a broker without another one exits",
    log="Error while flushing log for … in dir … with offset …",
)
def directory_outlives_a_move(folder: PartitionFolder) -> bool:
    """A future log that replaces another one amid a flush takes no directory offline."""
    return not folder.is_offline


@always(
    symptom="a log directory goes offline as a replica is elected that has moved to another one",
    log="Error while writing to checkpoint file …",
)
def directory_outlives_an_election(folder: PartitionFolder) -> bool:
    """A replica that has moved is elected, and takes no directory offline."""
    premise(folder.is_elected)
    return not folder.is_offline


@reachable()
def moved_replica_is_elected(folder: PartitionFolder) -> bool:
    """A replica leads that has moved."""
    return folder.is_elected


@reachable()
def log_is_moved_amid_a_flush(folder: PartitionFolder) -> bool:
    """A flush is to flush the folder of a log that was a future log before."""
    return folder.of_the_deleted and folder.is_there


@always(
    symptom="lookups by timestamp fail, or find other records, in a topic that was created again",
    log="none: the time index is not in the folder of the log",
)
def log_keeps_its_time_index(folder: PartitionFolder) -> bool:
    """A deletion deletes no file of a log that was created since."""
    return not folder.lacks_its_time_index


@always(
    symptom="a broker does not start after a crash during the deletion of a topic",
    log="There was an error in one of the threads during logs loading: …",
)
def broker_starts_amid_a_deletion(folder: PartitionFolder) -> bool:
    """A start loads what a deletion has left."""
    return not folder.cannot_start


@always(
    symptom="the deletion of a topic does not end while a broker has a failed log directory, up to its next start",
    log="Failed to delete log for … because it may be in one of the offline directories …",
)
def deletion_is_not_refused(folder: PartitionFolder) -> bool:
    """A replica is deleted in a directory that works, whatever has become of another one."""
    return not folder.refused


@always(
    symptom="kafka-reassign-partitions.sh fails with UNKNOWN_SERVER_ERROR, as an earlier move to a log directory ends",
    log="none: java.util.NoSuchElementException: None.get",
)
def move_is_accepted(folder: PartitionFolder) -> bool:
    """A move is accepted that is asked for once more."""
    return not folder.move_failed


@step(symptom="a log moves without a request for it", log="none")
def move_is_asked_for_again(before: PartitionFolder, after: PartitionFolder) -> bool:
    """A request finds the future log, which is of a move that has not ended."""
    premise(after.looks_for_future and not before.looks_for_future)
    return before.is_future and before.is_there and before.is_up and after.is_future


@when_quiescent(
    symptom="disk space: files of removed segments stay after a move, until the broker starts again",
    log="Failed to delete … because it does not exist.",
)
def removed_segment_leaves_no_files(folder: PartitionFolder) -> bool:
    """The files of a removed segment go at last."""
    return not folder.left_over and not (folder.is_removed and folder.is_up and not folder.is_offline)


@when_quiescent(
    symptom="disk space: snapshots of producers stay after a move, until the broker starts again",
    log="none: the files end with .snapshot.deleted",
)
def removed_segment_leaves_no_snapshot(folder: PartitionFolder) -> bool:
    """The snapshot of a removed segment goes at last."""
    return not folder.snapshot_is_left_over


@when_quiescent(
    symptom="disk space: the folder of a deleted log stays",
    log="none: the folder ends with -delete",
)
def deleted_log_is_gone(folder: PartitionFolder) -> bool:
    """A running broker deletes the folder at last, and every flush ends."""
    premise(folder.is_up and not folder.is_offline)
    return folder.deleted is DeletedFolder.NONE and folder.flush is FlushPhase.NONE


@step(symptom="files of a log that is there go, or those of a removed segment stay", log="none")
def late_files_are_of_the_deleted_log(before: PartitionFolder, after: PartitionFolder) -> bool:
    """Retention removes a segment of the deleted log; its files go by themselves, or with the folder."""
    premise(before.late is not after.late)
    if not before.is_up or before.is_offline:
        return False
    if after.late is LateFiles.IN_THE_FOLDER:
        return before.late is LateFiles.NONE and before.deleted is DeletedFolder.WHOLE
    if after.late is LateFiles.LISTED:
        return before.late is LateFiles.IN_THE_FOLDER and before.deleted is DeletedFolder.WITHOUT_SEGMENTS
    if after.late is LateFiles.GONE:
        return before.late is LateFiles.LISTED and before.deleted is after.deleted
    return before.late is LateFiles.IN_THE_FOLDER or after.deleted is DeletedFolder.NONE or not after.is_up


@reachable()
def listed_file_is_gone(folder: PartitionFolder) -> bool:
    """Another thread has deleted a file that the deletion of the folder has listed."""
    return folder.late is LateFiles.GONE


@step(
    symptom="files of a log are deleted although no client has asked for that",
    log="none",
)
def deletion_goes_step_by_step(before: PartitionFolder, after: PartitionFolder) -> bool:
    """First the folder is renamed, which leaves its files; then these go, and the folder at last: the broker runs."""
    order = (DeletedFolder.WHOLE, DeletedFolder.WITHOUT_SEGMENTS, DeletedFolder.NONE)
    premise(before.deleted is not after.deleted)
    if not before.is_up or before.is_offline:
        return False
    if before.deleted is DeletedFolder.NONE:
        return after.deleted is order[0] and before.is_there and not after.is_there
    is_next = after.deleted is (order[1] if before.deleted is order[0] else order[2])
    return is_next and before.is_there == after.is_there


@step(
    symptom="a log directory goes offline as a topic is deleted",
    log="none",
)
def flush_is_of_one_log(before: PartitionFolder, after: PartitionFolder) -> bool:
    """A flush of a log that is deleted meanwhile is one of the deleted log, until it ends."""
    premise(before.flush is not FlushPhase.NONE and after.flush is not FlushPhase.NONE)
    is_deleted_now = before.is_there and not after.is_there
    return after.of_the_deleted == (before.of_the_deleted or is_deleted_now)


@always(
    symptom="a log directory goes offline as a topic is deleted",
    log="Error while flushing log for … in dir … with offset …",
)
def flushed_log_has_its_files(folder: PartitionFolder) -> bool:
    """The files of a deleted log are there until a flush of it has ended."""
    premise(folder.of_the_deleted)
    return folder.deleted is DeletedFolder.WHOLE


@step(
    symptom="a log is there twice, or in a directory that is offline",
    log="none",
)
def log_is_created_once(before: PartitionFolder, after: PartitionFolder) -> bool:
    """A log is created where there is none, by a broker that runs; what is left of an earlier one stays as it is."""
    premise(before.creations != after.creations or (after.is_there and not before.is_there))
    is_new = not before.is_there and after.is_there and after.creations == before.creations + 1
    return is_new and before.is_up and not before.is_offline


@step(
    symptom="a broker flushes a log that it does not have, or again and again",
    log="none",
)
def flush_begins_once(before: PartitionFolder, after: PartitionFolder) -> bool:
    """A flush begins after the last one, of a log that the broker has."""
    begins = before.flush is FlushPhase.NONE and after.flush is not FlushPhase.NONE
    premise(before.flushes != after.flushes or begins)
    is_next = begins and after.flushes == before.flushes + 1
    return is_next and before.is_there and before.is_up and not before.is_offline


@step(
    symptom="a replica leads in a log directory to which it is still moving, or in one that is offline",
    log="none",
)
def elected_replica_has_moved(before: PartitionFolder, after: PartitionFolder) -> bool:
    """A replica is elected after its move, in a directory that works."""
    premise(after.is_elected and not before.is_elected)
    return before.is_there and not before.is_future and not before.is_offline


@step(
    symptom="a broker ends without a crash",
    log="none",
)
def crashes_are_counted(before: PartitionFolder, after: PartitionFolder) -> bool:
    """A broker that runs ends by a crash, and one that has crashed runs after a start."""
    premise(before.is_up != after.is_up)
    return after.folder_crashes == before.folder_crashes + before.is_up


@step(
    symptom="a move between log directories ends, and the replica is still in the other one",
    log="none: the folder ends with -future",
)
def future_log_replaces_another(before: PartitionFolder, after: PartitionFolder) -> bool:
    """A folder is that of a future log from its creation to the end of the move, and is not deleted in between."""
    premise(before.is_future or after.is_future)
    if not before.is_future:
        return not before.is_there and after.is_there
    has_same_files = after.is_removed == before.is_removed or after.is_there
    is_replaced = before.is_up and not before.is_offline and after.is_renamed == before.is_removed
    return after.is_there and has_same_files and (after.is_future or is_replaced)


@step(
    symptom="disk space: files of removed segments stay, or those of another segment go",
    log="none",
)
def segment_is_removed_once(before: PartitionFolder, after: PartitionFolder) -> bool:
    """A segment of a log in use is removed, which is counted; its files go while it is in use, or at a start."""
    premise(before.is_removed != after.is_removed or before.segment_removals != after.segment_removals)
    is_used = before.is_there and before.is_up and not before.is_offline
    if after.is_removed:
        return is_used and not before.is_removed and after.segment_removals == before.segment_removals + 1
    return not after.is_renamed and (is_used or (after.is_up and not before.is_up))


@step(
    symptom="disk space: files of removed segments stay, also after a start",
    log="none: the files end with .deleted",
)
def start_and_deletion_leave_no_files(before: PartitionFolder, after: PartitionFolder) -> bool:
    """No removed segment has files after a start, or where a log was deleted."""
    premise((after.is_up and not before.is_up) or (before.is_there and not after.is_there))
    is_clean = not after.is_removed and not after.is_renamed and not after.left_over
    return is_clean and (after.is_there or not after.is_future)


@reachable()
def log_is_created_again_amid_a_deletion(folder: PartitionFolder) -> bool:
    """A partition has a log while its earlier one is deleted."""
    return folder.is_there and folder.deleted is not DeletedFolder.NONE


@reachable()
def flush_outlives_its_log(folder: PartitionFolder) -> bool:
    """A flush is at work on a deleted log."""
    return folder.of_the_deleted


@reachable()
def log_moves_with_a_removed_segment(folder: PartitionFolder) -> bool:
    """A future log has replaced another one before the files of its removed segment are deleted."""
    return folder.is_there and folder.is_renamed
