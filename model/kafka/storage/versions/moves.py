"""What releases and fixes change about moves of logs between the log directories of a broker."""

from __future__ import annotations

from kwalk.model.kafka.releases import ReleaseFlags
from kwalk.model.language import Trial

FLAGS = ReleaseFlags()
version_flag, candidate = FLAGS.version_flag, FLAGS.candidate

MOVED_SNAPSHOTS_ARE_FOUND = version_flag(
    "moved_snapshots_are_found",
    "a snapshot of producers that is to be deleted goes, also if a future log replaces the current one before; since "
    "3.0.0 (KAFKA-12964), by which a log forgets it first, it stays until the next start",
    {"3.0.0": False},
    before=True,
    closes="removed segments leave no snapshots after a move",
    source="no release since 3.0.0; ProducerStateManager.removeAndMarkSnapshotForDeletion",
    trials=(Trial("log-snapshot-after-a-move", ("removed_segment_leaves_no_snapshot",), variant="3.9.0"),),
)
MOVED_FILES_ARE_FOUND = version_flag(
    "moved_files_are_found",
    "KAFKA-16424 (3.8.0): files that were to be deleted before a future log replaced the current one are deleted where "
    "they are now; before, they stayed until the next start",
    {"3.8.0": True},
    closes="removed segments leave no files after a move",
    source="KAFKA-16424 (3.8.0)",
    trials=(Trial("log-deletion-after-a-move", ("removed_segment_leaves_no_files",)),),
)
MOVED_LOGS_KNOW_THEIR_EPOCHS = version_flag(
    "moved_logs_know_their_epochs",
    "KAFKA-8036 (2.1.1, with KAFKA-7897): a leader enters its epoch in the file of its log; since 2.0.1 (KAFKA-7415) "
    "and until then, in that of the log directory from which its replica has moved, which is gone",
    {"2.0.1": False, "2.1.1": True},
    before=True,
    closes="a replica that has moved can be elected",
    source="KAFKA-7897 (2.1.1): Replica.epochs",
    trials=(Trial("log-move-before-an-election", ("directory_outlives_an_election",), variant="2.1.0"),),
)
MOVE_COMPARES_OFFSETS = version_flag(
    "move_compares_offsets",
    "KAFKA-8002 (2.2.0): a future log replaces the current one when both end at the same offset; before, their active "
    "segments had to begin at the same offset, too",
    {"2.2.0": True},
    closes="a move between log directories ends",
    source="KAFKA-8002 (2.2.0)",
    trials=(Trial("log-move", ("move_ends",), variant="2.0"),),
)
EPOCH_REACHES_THE_MOVE = version_flag(
    "epoch_reaches_the_move",
    "KAFKA-9654 (2.5.0): the thread that copies a log to another directory learns of a new leader epoch; before, its "
    "fetches were refused, as they have an epoch since 2.1",
    {"2.5.0": True},
    closes="a move between log directories goes on after an election",
    source="KAFKA-9654 (2.5.0)",
    trials=(Trial("log-move", ("move_does_not_fail",), variant="2.3.1", flags={"move_resumes_at_its_log": True}),),
)
MOVES_HAVE_AN_EPOCH = version_flag(
    "moves_have_an_epoch",
    "KIP-320 (2.1.0): the thread that copies a log to another directory fetches with a leader epoch, as followers do",
    {"2.1.0": True},
    no_fix="what the epoch of a fetch is for, no move between log directories shows",
)
MOVE_RESUMES_AT_ITS_LOG = version_flag(
    "move_resumes_at_its_log",
    "KAFKA-9087 (3.5.0): a move that goes on begins at the future log's high watermark; before, at the current log's, "
    "which an empty future log has not got",
    {"3.5.0": True},
    closes="a move between log directories goes on after an election or a restart, before anything is copied",
    source="KAFKA-9087 (3.5.0)",
    trials=(Trial("log-move", ("move_does_not_fail",)),),
)
MOVE_ASKS_BY_ITS_EPOCH = version_flag(
    "move_asks_by_its_epoch",
    "KAFKA-6795 (2.0.0): a move asks where the latest leader epoch of the future log ends in the current log; before, "
    "where that of the current log ends, which is at its end",
    {"2.0.0": True},
    closes="the future log is truncated to what the current log has, also when that has other records by then",
    source="KAFKA-6795 (2.0.0)",
    trials=(Trial("log-move-diverged", ("moved_log_has_the_same_records",), variant="1.1"),),
)
LOG_IS_LOCKED_WHILE_IT_IS_UPDATED = version_flag(
    "log_is_locked_while_it_is_updated",
    "KAFKA-9263 (2.8.0): a leader's log is not replaced at the end of a move while its high watermark is raised; since "
    "2.4.0 and until then, the high watermark of the log that was replaced could be raised instead",
    {"2.4.0": False, "2.8.0": True},
    before=True,
    closes="a record that is in all replicas is committed, also when a move ends",
    source="KAFKA-9263 (2.8.0)",
    trials=(Trial("log-move-late-update", ("replicated_record_is_committed",), variant="2.7"),),
)
PAUSES_ARE_COUNTED = version_flag(
    "pauses_are_counted",
    "KAFKA-7441 (2.1.0): cleaning is resumed when it was resumed as often as it was paused; before, a truncation "
    "during a move between log directories resumed it, and the end of the move failed, as it had nothing to resume",
    {"2.1.0": True},
    closes="a truncation during a move between log directories does not resume the cleaner",
    source="KAFKA-7441 (2.1.0)",
    trials=(
        Trial(
            "log-move-compacted",
            ("cleaning_pauses_for_a_move", "move_does_not_fail"),
            variant="2.0",
            flags={"move_resumes_at_its_log": True},
        ),
    ),
)
MOVES_PAUSE_ONCE = version_flag(
    "moves_pause_once",
    "KAFKA-16709 (3.8.0): cleaning pauses once for a move; since 2.5.0 (KAFKA-9654) and until then, also with each "
    "leader epoch during a move, whose end resumes it once",
    {"2.5.0": False, "3.8.0": True},
    before=True,
    closes="a log is cleaned again after a move",
    source="KAFKA-16709 (3.8.0)",
    trials=(Trial("log-move-compacted", ("cleaning_resumes_after_a_move",)),),
)
OLD_REQUESTS_LEAVE_MOVES = version_flag(
    "old_requests_leave_moves",
    "PR-8460 (2.6.0): a LeaderAndIsr request with a leader epoch that the broker knows changes no move; in 2.5, since "
    "KAFKA-9654, it pauses cleaning once more, which the end of the move resumes once",
    {"2.5.0": False, "2.6.0": True},
    before=True,
    closes="a log is cleaned again after a move amid which the controller moved",
    source="commit b02bdd322 (2.6.0): ReplicaManager.maybeAddLogDirFetchers",
    trials=(
        Trial(
            "log-move-amid-a-failover",
            ("cleaning_resumes_after_a_move",),
            variant="2.5",
            flags={"moves_pause_once": True},
        ),
    ),
)
REPLACED_MOVES_RESUME = candidate(
    "replaced_moves_resume",
    "KAFKA-19458, of a release after 3.9: cleaning resumes as a move is replaced by one to another log directory, or "
    "cancelled (KAFKA-16114); since 2.1, which counts pauses, it does not; before, not as it is cancelled",
    closes="a log is cleaned again after a move that replaces another one",
    source="KAFKA-19458 (after 3.9): ReplicaManager.alterReplicaLogDirs",
    trials=(
        Trial("log-move-replaced", ("cleaning_resumes_after_a_move",), variant="3.9.0"),
        Trial("log-move-cancelled", ("cleaning_resumes_after_a_move",), variant="3.9.0"),
    ),
)
FAILED_MOVES_RESUME = candidate(
    "failed_moves_resume",
    "KAFKA-14824: cleaning resumes as the thread that moves a log fails, and drops it",
    closes="a log is cleaned whose move has failed",
    source="no release; KAFKA-14824",
    trials=(Trial("log-move-that-fails", ("cleaning_outlives_a_failed_move",), variant="3.9.0"),),
)
CHECKPOINT_MOVES = version_flag(
    "checkpoint_moves",
    "KAFKA-8362 (2.7.0): with a log, the cleaner's checkpoint of it leaves its directory; before, both directories had "
    "one, of which the last that is read was taken",
    {"2.7.0": True},
    closes="the cleaner knows what it has cleaned after a move",
    source="KAFKA-8362 (2.7.0)",
    trials=(Trial("log-move-compacted", ("cleaning_is_remembered",), variant="2.5"),),
)
FUTURE_LOGS_ARE_LOCKED = version_flag(
    "future_logs_are_locked",
    "KAFKA-6949 (2.0.0): a request to move a replica looks at its future log with the partition's lock; in 1.1 it "
    "failed if that log replaced the current one meanwhile",
    {"1.1.0": False, "2.0.0": True},
    before=True,
    closes="a replica can be asked to move as an earlier move ends",
    source="KAFKA-6949 (2.0.0): Partition.futureReplicaDirChanged",
    trials=(Trial("log-move-asked-for-again", ("move_is_accepted",), variant="1.1"),),
)
MOVES_CARRY_EPOCHS = candidate(
    "moves_carry_epochs",
    "a log that replaces another one, at the end of a move, gets its leader epochs; without it, and in all releases, "
    "it has those of its records",
    closes="a leader whose log is moved answers the fetches of its followers",
    source="no release; KAFKA-15608, KAFKA-20961",
    trials=(Trial("leader-epochs-moved-log", ("follower_is_answered",), variant="3.9.0"),),
)
