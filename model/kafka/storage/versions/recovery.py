"""What releases and fixes change about stops and starts, crashes, and errors of disks."""

from __future__ import annotations

from kwalk.model.kafka.releases import ReleaseFlags
from kwalk.model.language import Trial

FLAGS = ReleaseFlags()
version_flag, candidate = FLAGS.version_flag, FLAGS.candidate

FILE_TIMES_SURVIVE_A_STOP = version_flag(
    "file_times_survive_a_stop",
    "KAFKA-3802 (0.10.0.1): an orderly stop leaves the modification times of files as they are; before, with some "
    "releases of Java, it set all of them to the present",
    {"0.10.0.1": True},
    closes="a restart does not make files look as if they had just been written",
    source="KAFKA-3802 (0.10.0.1)",
    trials=(Trial("log-recovery", ("stop_keeps_file_times",), variant="0.10.0", bounds={"offsets": 2, "crashes": 1}),),
)
UNCLEAN_WHILE_LOADING = version_flag(
    "unclean_while_loading",
    "KAFKA-10471 (2.8.0): the clean shutdown file is deleted before the logs are loaded; before, after that, so that a "
    "crash in between was taken for an orderly stop",
    {"2.8.0": True},
    closes="a crash while logs are loaded is followed by a recovery",
    source="KAFKA-10471 (2.8.0)",
    trials=(Trial("log-recovery", ("young_record_is_kept",)),),
)
FAILED_STARTS_ARE_UNCLEAN = version_flag(
    "failed_starts_are_unclean",
    "KAFKA-13773 (3.2.1): a broker whose disk is full while it recovers a log takes the directory offline; since "
    "2.8.0, and before, it ended with a clean shutdown file",
    {"2.8.0": False, "3.2.1": True},
    before=True,
    closes="a recovery that fails is made up for at the next start",
    source="KAFKA-13773 (3.2.1)",
    trials=(Trial("log-recovery-full-disk", ("no_batch_is_torn",), bounds={"offsets": 2}),),
)
UNLOADED_LOGS_ARE_UNCLEAN = version_flag(
    "unloaded_logs_are_unclean",
    "KAFKA-15375 (3.5.2, 3.6.0): a broker in KRaft mode (since 3.0) that ends before it has loaded its logs writes no "
    "clean shutdown file; before, it did",
    {"3.0.0": False, "3.5.2": True},
    before=True,
    closes="a log is recovered, also if a start has failed before that",
    source="KAFKA-15375 (3.5.2, 3.6.0)",
    trials=(Trial("log-recovery-failed-start", ("no_batch_is_torn",), variant="3.5.1", bounds={"offsets": 2}),),
)
INDEXES_ARE_CHECKED = version_flag(
    "indexes_are_checked",
    "KAFKA-7283, KIP-263 (2.3.0): a start checks no index of a segment that was flushed; until then, one whose last "
    "timestamp was below the first one was written again",
    {"2.3.0": False},
    before=True,
    closes="a segment is kept by its timestamps, also if a crash has left zeros behind its index",
    source="no release since 2.3; KAFKA-10207",
    trials=(Trial("log-untrimmed-indexes", ("young_record_is_kept",), variant="3.9.0"),),
)
RECOVERY_READS_FORWARD = version_flag(
    "recovery_reads_forward",
    "KAFKA-7401 (2.0.0; of 1.1 only on its branch): a recovery reads what producers sent before a segment only if the "
    "start offset is below it; before, the start failed if another segment followed that began at or below it",
    {"0.11.0.0": False, "2.0.0": True},
    before=True,
    closes="a broker starts after a crash, also if clients have deleted records that were not flushed",
    source="KAFKA-7401 (2.0.0)",
    trials=(Trial("log-recovery-below-the-start", ("crashed_broker_starts",), variant="1.0"),),
)
LOG_BEGINS_AT_ITS_START = version_flag(
    "log_begins_at_its_start",
    "KAFKA-8306 (2.2.1, 2.3.0): a log that ends before its checkpointed start offset, as after a crash, begins again "
    "there; before, it ended below, and what was appended next could not be read",
    {"2.2.1": True},
    closes="what is appended after a crash can be read",
    source="KAFKA-8306 (2.2.1, 2.3.0)",
    trials=(Trial("log-recovery", ("appended_record_can_be_read",), variant="2.0", bounds={"crashes": 1}),),
)
RECOVERY_POINT_IS_FLUSHED = version_flag(
    "recovery_point_is_flushed",
    "KAFKA-10101 (2.8.0): recovery after a crash leaves the recovery point where it is; before, it was raised to the "
    "end offset, although what was recovered had not been flushed",
    {"2.8.0": True},
    closes="what a recovery has kept is recovered again after another crash",
    source="KAFKA-10101 (2.8.0)",
    trials=(Trial("log-recovery", ("no_batch_is_torn",), variant="2.3.1"),),
)
END_OFFSET_BEFORE_THE_INDEX = version_flag(
    "end_offset_before_the_index",
    "KAFKA-7866 (2.2.1, 2.3.0): the end offset is raised before the transaction index is written; before, after that, "
    "so that the next batch got the same offset if the index could not be written",
    {"2.2.1": True},
    closes="an offset is given once, also after an error of the transaction index",
    source="KAFKA-7866 (2.2.1, 2.3.0)",
    trials=(Trial("log-write-errors", ("offset_is_given_once",), variant="2.0"),),
)
FAILED_WRITES_FENCE = version_flag(
    "failed_writes_fence",
    "KAFKA-10778 (2.8.0): a log whose write has failed takes no appends; before, until its directory was offline",
    {"2.8.0": True},
    closes="nothing is acknowledged behind a part of a batch",
    source="KAFKA-10778 (2.8.0)",
    trials=(Trial("log-write-errors", ("answered_batch_survives_a_failure",), variant="2.7"),),
)
FOLDERS_ARE_FLUSHED = version_flag(
    "folders_are_flushed",
    "KAFKA-3968 (3.0.0): a flush of a new segment also flushes its folder",
    {"3.0.0": True},
    closes="what was flushed is there after a crash, also on file systems that lose the names of files",
    source="KAFKA-3968 (3.0.0)",
    trials=(Trial("log-lost-names", ("flushed_records_survive",)),),
)
FLUSHES_OUTLIVE_THEIR_FOLDER = version_flag(
    "flushes_outlive_their_folder",
    "KAFKA-15391, KAFKA-15572 (3.5.2, 3.6.0): a flush whose folder was renamed, for a deletion or at the end of a "
    "move, is no error; since 3.0, and before, it took the log directory offline",
    {"3.5.2": True},
    closes="a deletion, or a move, during a flush of the folder takes no log directory offline",
    source="KAFKA-15391, KAFKA-15572 (3.5.2, 3.6.0)",
    trials=(
        Trial("log-deletion", ("directory_outlives_a_deletion",), variant="3.5.1"),
        Trial("log-move-amid-a-flush", ("directory_outlives_a_move",), variant="3.5.1"),
    ),
)
CLOSED_FILES_MAY_BE_GONE = candidate(
    "closed_files_may_be_gone",
    "KAFKA-19571, of a release after 3.9: the flush of a segment passes over files that are closed and gone",
    closes="a deletion amid a flush that waits for a thread takes no log directory offline",
    source="KAFKA-19571 (after 3.9): LogSegment.flush",
    trials=(Trial("log-deletion-amid-a-long-flush", ("directory_outlives_a_deletion",), variant="3.9.0"),),
)
SWAPS_KEEP_SNAPSHOTS = version_flag(
    "swaps_keep_snapshots",
    "KAFKA-12520 (3.0.0): a start renames a file that the cleaner has left as a `.swap`; since 0.11.0.0 it recovered "
    "it, which deleted the snapshots of producers behind it",
    {"0.11.0.0": False, "3.0.0": True},
    before=True,
    closes="a start after a cleaning that was interrupted reads what was not flushed",
    source="KAFKA-12520 (3.0.0): LogLoader.load",
    trials=(Trial("log-start-amid-a-swap", ("start_reads_what_was_not_flushed",), variant="2.7"),),
)
PATHS_MAY_BE_UNREADABLE = version_flag(
    "paths_may_be_unreadable",
    "KAFKA-6697 (2.0.0): a log directory whose path cannot be read is offline; since 1.0.0, in which a broker starts "
    "with some of its directories, it did not start",
    {"1.0.0": False, "2.0.0": True},
    before=True,
    closes="a broker starts one of whose disks has failed",
    source="KAFKA-6697 (2.0.0): LogManager.createAndValidateLogDirs",
    trials=(Trial("log-deletion-beside-a-failed-disk", ("broker_starts_amid_a_deletion",), variant="1.1"),),
)
DIRECTORIES_STOP_EACH = version_flag(
    "directories_stop_each",
    "KAFKA-10723 (2.8.0): a stop finishes each log directory, whatever has become of others; before, it ended at "
    "the first error",
    {"2.8.0": True},
    closes="a start does not recover logs that were closed",
    source="KAFKA-10723 (2.8.0): LogManager.shutdown",
    trials=(Trial("log-stop-of-two-directories", ("closed_directory_is_clean",), variant="2.7"),),
)
CLOSING_ERRORS_ARE_SEEN = candidate(
    "closing_errors_are_seen",
    "KAFKA-19221, of a release after 3.9: a log directory is not clean if an index could not be closed; in all "
    "releases up to then, the error is a warning",
    closes="a start recovers logs whose indexes were not closed",
    source="KAFKA-19221 (after 3.9): LogSegment.close",
    trials=(Trial("log-stop-with-a-full-disk", ("untrimmed_index_is_recovered",), variant="3.9.0"),),
)
RECOVERY_POINT_STAYS = candidate(
    "recovery_point_stays",
    "a start offset that rises, or is above it when a log is loaded, leaves the recovery point where it is",
    closes="what is before a start offset that a crash takes back was flushed, or is recovered",
    source="no release",
    trials=(
        Trial(
            "log-recovery",
            (
                "flushed_records_survive",
                "no_batch_is_torn",
                "recovery_point_is_on_disk",
                "indexes_point_to_batches",
                "largest_timestamp_is_known",
                "closed_time_index_ends_with_the_largest_timestamp",
                "flush_covers_closed_segments",
            ),
        ),
    ),
)
