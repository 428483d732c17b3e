"""Stories about the folder of a log: its deletion, and its move to another log directory."""

from __future__ import annotations

from kwalk.invariants import future_logs, partition_folders
from kwalk.model.kafka.storage import future_log, log_deletion, versions
from kwalk.model.kafka.storage.future_log import MovingReplica
from kwalk.model.kafka.storage.log_deletion import PartitionFolder
from kwalk.model.language import Scenario

FOLDER_STEPS = (
    log_deletion.create,
    log_deletion.delete_log,
    log_deletion.delete_files,
    log_deletion.delete_folder,
    log_deletion.crash,
    log_deletion.start,
)
FOLDER_PROPERTIES = (
    partition_folders.directory_outlives_a_deletion,
    partition_folders.broker_starts_amid_a_deletion,
    partition_folders.deleted_log_is_gone,
    partition_folders.deletion_goes_step_by_step,
    partition_folders.log_is_created_once,
    partition_folders.crashes_are_counted,
    partition_folders.log_is_created_again_amid_a_deletion,
)
DELETION = Scenario(
    name="log-deletion",
    story="A replica is deleted and created again while its broker flushes the log, deletes its files, or crashes.",
    state=PartitionFolder,
    actions=(
        log_deletion.create,
        log_deletion.delete_log,
        log_deletion.delete_files,
        log_deletion.delete_folder,
        log_deletion.begin_flush,
        log_deletion.flush_files,
        log_deletion.flush_folder,
        log_deletion.crash,
        log_deletion.start,
    ),
    properties=(
        partition_folders.directory_outlives_a_deletion,
        partition_folders.log_keeps_its_time_index,
        partition_folders.broker_starts_amid_a_deletion,
        partition_folders.deleted_log_is_gone,
        partition_folders.deletion_goes_step_by_step,
        partition_folders.flush_is_of_one_log,
        partition_folders.flushed_log_has_its_files,
        partition_folders.log_is_created_once,
        partition_folders.flush_begins_once,
        partition_folders.crashes_are_counted,
        partition_folders.log_is_created_again_amid_a_deletion,
        partition_folders.flush_outlives_its_log,
    ),
    bounds={
        "creations": 2,
        "flushes": 2,
        "segment_removals": 0,
        "folder_crashes": 1,
        "periods": 0,
        "long_names": 0,
        "disk_failures": 0,
        "move_requests": 0,
        "late_removals": 0,
        "long_flushes": 0,
        "snapshots": 0,
        "moved_leaders": 0,
    },
    variants={r: flags for r, flags in versions.FOLDER_VARIANTS.items() if r not in ("0.10.0", "0.10.1")},
    source="LogManager.asyncDelete, Log.flush; KAFKA-5752, KAFKA-6624, KAFKA-8564, KAFKA-15391",
)
DELETION_OF_A_NAME_WITH_PERIODS = DELETION.varied(
    name="log-deletion-of-a-name-with-periods",
    story="A replica of a topic with a period in its name is deleted; its broker crashes meanwhile.",
    actions=FOLDER_STEPS,
    properties=FOLDER_PROPERTIES,
    bounds={"flushes": 0, "periods": 1},
    source="Log.parseTopicPartitionName; KAFKA-5232",
)
DELETION_OF_A_LONG_NAME = DELETION_OF_A_NAME_WITH_PERIODS.varied(
    name="log-deletion-of-a-long-name",
    story="A replica is deleted of a topic whose name leaves no room for what a deletion adds.",
    bounds={"periods": 0, "long_names": 1},
    variants=versions.MOVE_VARIANTS,
    source="Log.logDeleteDirName; KAFKA-4893",
)
DELETION_BESIDE_A_FAILED_DISK = DELETION_OF_A_NAME_WITH_PERIODS.varied(
    name="log-deletion-beside-a-failed-disk",
    story="A replica is deleted, or its broker starts, while another log directory of the broker has failed.",
    actions=(*FOLDER_STEPS, log_deletion.fail_other_disk),
    properties=(*FOLDER_PROPERTIES, partition_folders.deletion_is_not_refused),
    bounds={"periods": 0, "disk_failures": 1},
    variants=versions.MOVE_VARIANTS,
    source="KIP-112; KAFKA-6697, KAFKA-7313",
)
DELETION_AMID_RETENTION = DELETION_OF_A_NAME_WITH_PERIODS.varied(
    name="log-deletion-amid-retention",
    story="A replica is deleted while retention removes a segment of its log.",
    actions=(*FOLDER_STEPS, log_deletion.remove_late, log_deletion.list_folder, log_deletion.delete_late),
    properties=(
        *FOLDER_PROPERTIES,
        partition_folders.late_files_are_of_the_deleted_log,
        partition_folders.listed_file_is_gone,
    ),
    bounds={"periods": 0, "late_removals": 1},
    variants=versions.VARIANTS,
    source="Utils.delete, LogManager.cleanupLogs; KAFKA-13403",
)
DELETION_AMID_A_LONG_FLUSH = DELETION_OF_A_NAME_WITH_PERIODS.varied(
    name="log-deletion-amid-a-long-flush",
    story="A replica is deleted while a flush of its log waits for a thread, for longer than its files are kept.",
    actions=(*FOLDER_STEPS, log_deletion.begin_flush, log_deletion.flush_files, log_deletion.flush_folder),
    properties=(
        *(one for one in FOLDER_PROPERTIES if one is not partition_folders.log_is_created_again_amid_a_deletion),
        partition_folders.flush_begins_once,
        partition_folders.flush_outlives_its_log,
    ),
    bounds={"periods": 0, "creations": 1, "flushes": 1, "long_flushes": 1},
    variants={release: versions.VARIANTS[release] for release in ("2.8.2", "2.0", "3.7.0", "3.9.0")},
    source="Log.flush, LogSegment.flush; KAFKA-19571",
)
MOVE_ASKED_FOR_AGAIN = DELETION.varied(
    name="log-move-asked-for-again",
    story="An operator asks for a move of a replica between log directories once more, as the earlier one ends.",
    actions=(
        log_deletion.create_future,
        log_deletion.ask_again,
        log_deletion.replace_log,
        log_deletion.compare_directories,
    ),
    properties=(
        partition_folders.move_is_accepted,
        partition_folders.move_is_asked_for_again,
        partition_folders.future_log_replaces_another,
    ),
    bounds={"creations": 1, "flushes": 0, "folder_crashes": 0, "move_requests": 1},
    variants=versions.MOVE_VARIANTS,
    source="ReplicaManager.alterReplicaLogDirs; KAFKA-6949",
)
DELETION_AFTER_A_MOVE = DELETION.varied(
    name="log-deletion-after-a-move",
    story="A future log replaces the current one before the files of its removed segment are deleted.",
    actions=(
        log_deletion.create_future,
        log_deletion.replace_log,
        log_deletion.remove_segment,
        log_deletion.delete_removed,
        log_deletion.delete_log,
        log_deletion.delete_files,
        log_deletion.delete_folder,
        log_deletion.crash,
        log_deletion.start,
    ),
    properties=(
        *(
            prop
            for prop in DELETION.properties
            if prop
            not in (
                partition_folders.flush_is_of_one_log,
                partition_folders.flushed_log_has_its_files,
                partition_folders.flush_begins_once,
                partition_folders.flush_outlives_its_log,
            )
        ),
        partition_folders.removed_segment_leaves_no_files,
        partition_folders.future_log_replaces_another,
        partition_folders.segment_is_removed_once,
        partition_folders.start_and_deletion_leave_no_files,
        partition_folders.log_moves_with_a_removed_segment,
    ),
    bounds={"flushes": 0, "segment_removals": 1},
    variants={r: flags for r, flags in DELETION.variants.items() if not r.startswith("0.") and r != "1.0"},
    source="LogSegment.deleteTypeIfExists; KAFKA-16424",
)
SNAPSHOT_AFTER_A_MOVE = DELETION_AFTER_A_MOVE.varied(
    name="log-snapshot-after-a-move",
    story="As before; the removed segment has a snapshot of its producers.",
    properties=(*DELETION_AFTER_A_MOVE.properties, partition_folders.removed_segment_leaves_no_snapshot),
    bounds={"snapshots": 1},
    source="ProducerStateManager.removeAndMarkSnapshotForDeletion",
)
MOVE_AMID_A_FLUSH = MOVE_ASKED_FOR_AGAIN.varied(
    name="log-move-amid-a-flush",
    story="A future log replaces the current one while a flush of it is to flush its folder.",
    actions=(
        log_deletion.create_future,
        log_deletion.replace_log,
        log_deletion.begin_flush,
        log_deletion.flush_files,
        log_deletion.flush_folder,
    ),
    properties=(
        partition_folders.directory_outlives_a_move,
        partition_folders.log_is_moved_amid_a_flush,
        partition_folders.flush_begins_once,
        partition_folders.future_log_replaces_another,
    ),
    bounds={"move_requests": 0, "flushes": 1},
    variants={release: versions.FOLDER_VARIANTS[release] for release in ("2.8.2", "3.5.1", "3.9.0")},
    source="LocalLog.flush, LogManager.replaceCurrentWithFutureLog; KAFKA-15572",
)
MOVE_BEFORE_AN_ELECTION = MOVE_ASKED_FOR_AGAIN.varied(
    name="log-move-before-an-election",
    story="A replica is elected that has moved to another log directory.",
    actions=(log_deletion.create_future, log_deletion.replace_log, log_deletion.elect_moved),
    properties=(
        partition_folders.directory_outlives_an_election,
        partition_folders.moved_replica_is_elected,
        partition_folders.elected_replica_has_moved,
        partition_folders.future_log_replaces_another,
    ),
    bounds={"move_requests": 0, "moved_leaders": 1},
    variants=versions.MOVE_VARIANTS | {"2.1.0": versions.flags_of("2.1.0")},
    source="Partition.makeLeader; KAFKA-8036",
)
MOVE = Scenario(
    name="log-move",
    story="A replica moves to another log directory; records are appended, leaders change, and the broker restarts.",
    state=MovingReplica,
    actions=(
        future_log.append_record,
        future_log.replicate,
        future_log.start_move,
        future_log.change_leader,
        future_log.restart,
        future_log.truncate_future,
        future_log.fetch,
        future_log.replace_log,
    ),
    properties=(
        future_logs.move_does_not_fail,
        future_logs.move_ends,
        future_logs.moved_log_has_all_records,
        future_logs.active_segment_is_within_its_log,
        future_logs.log_grows_record_by_record,
        future_logs.move_begins_again,
        future_logs.log_has_rolled,
        future_logs.replica_is_moved,
        future_logs.move_outlives_its_broker,
    ),
    bounds={
        "offsets": 4,
        "elections": 1,
        "stops": 1,
        "cleanings": 0,
        "truncations": 0,
        "late_updates": 0,
        "divergences": 0,
        "replaced_moves": 0,
        "repeats": 0,
    },
    variants={
        release: flags
        for release, flags in versions.VARIANTS.items()
        if not release.startswith("0.") and release != "1.0"
    },
    source="ReplicaAlterLogDirsThread; KAFKA-8002, KAFKA-9087, KAFKA-9654",
)
MOVE_LATE_UPDATE = MOVE.varied(
    name="log-move-late-update",
    story="A leader's replica moves to another log directory while a follower fetches, and its high watermark rises.",
    actions=(
        future_log.append_record,
        future_log.begin_update,
        future_log.end_update,
        future_log.start_move,
        future_log.truncate_future,
        future_log.fetch,
        future_log.replace_log,
    ),
    properties=(
        future_logs.replicated_record_is_committed,
        future_logs.update_follows_a_fetch,
        *(
            prop
            for prop in MOVE.properties
            if prop not in (future_logs.move_begins_again, future_logs.move_outlives_its_broker)
        ),
    ),
    bounds={"offsets": 3, "elections": 0, "stops": 0, "late_updates": 2},
    source="Partition.maybeReplaceCurrentWithFutureReplica, Partition.maybeIncrementLeaderHW; KAFKA-9263",
)
MOVE_DIVERGED = MOVE.varied(
    name="log-move-diverged",
    story="A follower's replica moves to another log directory; a leader is elected meanwhile that has other records.",
    actions=(
        future_log.append_record,
        future_log.replicate,
        future_log.start_move,
        future_log.diverge,
        future_log.truncate_future,
        future_log.fetch,
        future_log.replace_log,
    ),
    properties=(
        future_logs.move_does_not_fail,
        future_logs.move_ends,
        future_logs.moved_log_has_all_records,
        future_logs.moved_log_has_the_same_records,
        future_logs.logs_are_truncated_to_what_they_share,
        future_logs.diverged_replica_is_moved,
    ),
    bounds={"elections": 0, "stops": 0, "divergences": 1},
    variants=versions.MOVE_VARIANTS,
    source="ReplicaAlterLogDirsThread.buildLeaderEpochRequest; KAFKA-6795",
)
MOVE_COMPACTED = MOVE.varied(
    name="log-move-compacted",
    story="A replica of a compacted topic moves to another log directory, and is cleaned before and after that.",
    actions=(*MOVE.actions, future_log.clean, future_log.truncate),
    initial=future_log.starts_in_a_directory,
    properties=(
        *MOVE.properties,
        future_logs.cleaning_resumes_after_a_move,
        future_logs.cleaning_pauses_for_a_move,
        future_logs.cleaning_is_remembered,
        future_logs.truncation_keeps_what_is_replicated,
        future_logs.moved_log_is_cleaned,
    ),
    bounds={"cleanings": 2, "truncations": 1},
    source="LogManager.replaceCurrentWithFutureLog, LogCleanerManager.alterCheckpointDir; KAFKA-8362, KAFKA-16709",
)
MOVE_AMID_A_FAILOVER = MOVE_COMPACTED.varied(
    name="log-move-amid-a-failover",
    story="A replica of a compacted topic moves to another log directory, while the controller moves.",
    actions=(*MOVE.actions, future_log.clean, future_log.repeat_leader),
    properties=(
        *(
            prop
            for prop in MOVE_COMPACTED.properties
            if prop not in (future_logs.log_grows_record_by_record, future_logs.truncation_keeps_what_is_replicated)
        ),
        future_logs.known_epoch_changes_no_log,
    ),
    bounds={"offsets": 3, "cleanings": 2, "truncations": 0, "repeats": 1},
    source="ReplicaManager.becomeLeaderOrFollower; commit b02bdd322",
)
MOVE_REPLACED = MOVE_COMPACTED.varied(
    name="log-move-replaced",
    story="A replica of a compacted topic moves to another log directory, and is sent to a third one meanwhile.",
    actions=(*MOVE.actions, future_log.clean, future_log.replace_move),
    properties=(
        *(
            prop
            for prop in MOVE_COMPACTED.properties
            if prop not in (future_logs.log_grows_record_by_record, future_logs.truncation_keeps_what_is_replicated)
        ),
        future_logs.replaced_move_begins_again,
    ),
    bounds={"offsets": 3, "cleanings": 2, "truncations": 0, "replaced_moves": 1},
    source="ReplicaManager.alterReplicaLogDirs; KAFKA-19458",
)
ENDED_MOVES = tuple(
    prop
    for prop in MOVE_REPLACED.properties
    if prop
    not in (
        future_logs.replaced_move_begins_again,
        future_logs.move_does_not_fail,
        future_logs.move_ends,
        future_logs.cleaning_pauses_for_a_move,
    )
)
MOVE_CANCELLED = MOVE_REPLACED.varied(
    name="log-move-cancelled",
    story="A replica of a compacted topic moves to another log directory; the move is cancelled.",
    actions=(*MOVE.actions, future_log.clean, future_log.cancel_move),
    properties=(
        *ENDED_MOVES,
        future_logs.cleaning_pauses_for_a_copy,
        future_logs.move_is_ended_alone,
        future_logs.move_ends_early,
    ),
    source="ReplicaManager.alterReplicaLogDirs; KAFKA-16114",
)
MOVE_THAT_FAILS = MOVE_REPLACED.varied(
    name="log-move-that-fails",
    story="A replica of a compacted topic moves to another log directory, and the thread that copies it fails.",
    actions=(
        future_log.append_record,
        future_log.replicate,
        future_log.start_move,
        future_log.truncate_future,
        future_log.fetch,
        future_log.replace_log,
        future_log.clean,
        future_log.fail_move,
    ),
    properties=(
        future_logs.cleaning_outlives_a_failed_move,
        *(
            prop
            for prop in ENDED_MOVES
            if prop
            not in (
                future_logs.cleaning_resumes_after_a_move,
                future_logs.move_begins_again,
                future_logs.move_outlives_its_broker,
            )
        ),
        future_logs.cleaning_pauses_for_a_copy,
        future_logs.move_is_ended_alone,
        future_logs.move_ends_early,
    ),
    bounds={"replaced_moves": 0, "elections": 0, "stops": 0},
    source="AbstractFetcherThread.processFetchRequest; KAFKA-14824",
)
