"""What releases and fixes change about deletions: of segments, of records by clients, and of whole logs."""

from __future__ import annotations

from kwalk.model.kafka.releases import ReleaseFlags
from kwalk.model.language import Trial

FLAGS = ReleaseFlags()
version_flag = FLAGS.version_flag

DELETE_BELOW_HIGH_WATERMARK = version_flag(
    "delete_below_high_watermark",
    "KAFKA-5634 (0.11.0.1, 1.0.0): retention deletes no segment that has offsets above the high watermark",
    {"0.11.0.1": True},
    closes="retention deletes no record that is not replicated yet",
    source="KAFKA-5634 (0.11.0.1)",
    trials=(Trial("log-retention", ("start_offset_is_not_above_the_high_watermark",)),),
)
DELETE_RECORDS = version_flag(
    "delete_records",
    "KIP-107, KAFKA-4586 (0.11.0.0): clients can delete the records before an offset, which becomes the start offset",
    {"0.11.0.0": True},
    closes="clients can delete the records before an offset",
    source="KAFKA-4586, KIP-107 (0.11.0.0)",
    trials=(
        Trial(
            "log-lookup",
            ("timestamp_lookup_finds_the_first_record",),
            about="the price: a lookup by timestamp stops at a segment that ends below the start offset",
        ),
    ),
)
START_OFFSET_IN_COMPACTED_LOGS = version_flag(
    "start_offset_in_compacted_logs",
    "KAFKA-7400 (2.1.0): segments before the start offset are deleted whatever cleanup.policy is; before, only with "
    "delete in it",
    {"2.1.0": True},
    closes="segments that clients have deleted go, in a compacted log too",
    source="KAFKA-7400 (2.1.0)",
    trials=(Trial("log-deleted-records", ("segment_before_the_start_is_deleted",), variant="2.0"),),
)
LAST_DELETIONS_ARE_CHECKPOINTED = version_flag(
    "last_deletions_are_checkpointed",
    "KAFKA-10002 (2.7.0): the checkpoints of a log directory are also written when its last log is deleted; before, a "
    "log that was created there had the offsets of the deleted one after a crash",
    {"2.7.0": True},
    closes="a topic that is created again has nothing of the deleted one after a crash",
    source="KAFKA-10002 (2.7.0)",
    trials=(
        Trial("log-created-again", ("created_log_keeps_its_records",), variant="2.5"),
        Trial("log-created-again-unflushed", ("no_batch_is_torn",), variant="2.5"),
    ),
)
INDEXES_FOLLOW_THEIR_FOLDER = version_flag(
    "indexes_follow_their_folder",
    "KAFKA-5752 (0.11.0.1, 1.0.0): the indexes of a log that is deleted know its new folder; before, its time indexes "
    "did not, and what was deleted was the file of the log that had been created since",
    {"0.11.0.1": True},
    closes="a deletion deletes no file of a topic that was created again",
    source="KAFKA-5752 (0.11.0.1, 1.0.0)",
    trials=(Trial("log-deletion", ("log_keeps_its_time_index",), variant="0.11.0.0"),),
)
DELETION_WAITS_FOR_FLUSHES = version_flag(
    "deletion_waits_for_flushes",
    "KAFKA-6624 (1.1.0): the files of a deleted log stay open for file.delete.delay.ms; in 1.0, which takes a log "
    "directory offline at an error, they were closed at once, under a flush",
    {"1.0.0": False, "1.1.0": True},
    before=True,
    closes="a deletion during a flush takes no log directory offline",
    source="KAFKA-6624 (1.1.0)",
    trials=(Trial("log-deletion", ("directory_outlives_a_deletion",), variant="1.0"),),
)
EMPTY_FOLDERS_ARE_LOADED = version_flag(
    "empty_folders_are_loaded",
    "KAFKA-8564 (2.2.2, 2.3.0): a folder that is being deleted, and has no segment any more, can be loaded; before, "
    "the start of the broker failed",
    {"2.2.2": True},
    closes="a broker starts that has crashed during a deletion",
    source="KAFKA-8564 (2.2.2, 2.3.0)",
    trials=(Trial("log-deletion", ("broker_starts_amid_a_deletion",), variant="2.0"),),
)
GONE_FILES_ARE_PASSED_OVER = version_flag(
    "gone_files_are_passed_over",
    "KAFKA-13403 (3.9.0): the deletion of a log's folder passes over a file that another thread has deleted meanwhile; "
    "from 1.0 on that took the log directory offline",
    {"1.0.0": False, "3.9.0": True},
    before=True,
    closes="a deletion beside the removal of a segment takes no log directory offline",
    source="KAFKA-13403 (3.9.0): Utils.delete",
    trials=(Trial("log-deletion-amid-retention", ("directory_outlives_a_deletion",), variant="3.7.0"),),
)
PERIODS_ARE_OF_TOPICS = version_flag(
    "periods_are_of_topics",
    "KAFKA-5232 (0.10.2.2): the folder of a deleted log has the topic's name up to its last period; in 0.10.2.0, "
    "which brought such folders, up to the first one",
    {"0.10.2.0": False, "0.10.2.2": True},
    before=True,
    closes="a broker starts amid the deletion of a topic with a period in its name",
    source="KAFKA-5232 (0.10.2.2): Log.parseTopicPartitionName",
    trials=(Trial("log-deletion-of-a-name-with-periods", ("broker_starts_amid_a_deletion",), variant="0.10.2"),),
)
LONG_NAMES_ARE_CUT = version_flag(
    "long_names_are_cut",
    "KAFKA-4893 (2.2.2): the folder of a deleted log has a part of a topic's name that is too long; before, the folder "
    "was not renamed, which takes the log directory offline",
    {"2.2.2": True},
    closes="a topic with a long name is deleted",
    source="KAFKA-4893 (2.2.2): Log.logDeleteDirName",
    trials=(Trial("log-deletion-of-a-long-name", ("directory_outlives_a_deletion",), variant="2.0"),),
)
FUTURE_LOGS_ARE_LOOKED_FOR = version_flag(
    "future_logs_are_looked_for",
    "KAFKA-7313 (2.1.0): a deletion deletes a log that is moved if there is one; since 1.1.0 it was an error if there "
    "is none, while a log directory is offline",
    {"1.1.0": False, "2.1.0": True},
    before=True,
    closes="a topic is deleted while a broker has a failed log directory",
    source="KAFKA-7313 (2.1.0): Partition.delete",
    trials=(Trial("log-deletion-beside-a-failed-disk", ("deletion_is_not_refused",), variant="2.0"),),
)
DELETED_LOGS_HAVE_NO_TASK = version_flag(
    "deleted_logs_have_no_task",
    "KAFKA-8448, KAFKA-9265 (2.4.0): a log that is deleted ends its task; since 0.11, and until then, the "
    "scheduler kept it, and so the log in memory",
    {"0.11.0.0": False, "2.4.0": True},
    before=True,
    closes="a log that is deleted is forgotten",
    source="KAFKA-8448, KAFKA-9265 (2.4.0): Log.delete",
    trials=(Trial("log-and-its-task", ("deleted_log_has_no_task",), variant="2.3.1"),),
)
REMOTE_STARTS_ARE_CHECKPOINTED = version_flag(
    "remote_starts_are_checkpointed",
    "KAFKA-16146 (3.8.0): the start offset of a log with a remote part is in a checkpoint",
    {"3.8.0": True},
    closes="the start offset of a log with a remote part stays where it is",
    source="KAFKA-16146 (3.8.0): LogManager.checkpointLogStartOffsetsInDir",
    trials=(Trial("log-tiered", ("start_of_a_tiered_log_stays",), variant="3.7.0"),),
)
START_OFFSETS_FREE_SEGMENTS = version_flag(
    "start_offsets_free_segments",
    "PR-14905 (3.7.0): a segment before the start offset is deleted, though it was not copied to the remote store",
    {"3.7.0": True},
    closes="segments of deleted records go",
    source="PR-14905 (3.7.0): UnifiedLog.deletableSegments",
    trials=(Trial("log-tiered", ("deleted_segment_goes",), variant="3.6.0"),),
)
OLD_ACTIVE_SEGMENTS_ROLL = version_flag(
    "old_active_segments_roll",
    "KAFKA-15047 (3.7.0): an active segment that is old is closed, so that it is copied, and deleted",
    {"3.7.0": True},
    closes="old records of a log with a remote part go",
    source="KAFKA-15047 (3.7.0): UnifiedLog.deletableSegments",
    trials=(Trial("log-tiered", ("old_record_goes",), variant="3.6.0", flags={"start_offsets_free_segments": True}),),
)
