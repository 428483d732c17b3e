"""What releases and fixes change about what a log knows of producers and their transactions."""

from __future__ import annotations

from kwalk.model.kafka.releases import ReleaseFlags
from kwalk.model.language import Trial

FLAGS = ReleaseFlags()
version_flag, candidate = FLAGS.version_flag, FLAGS.candidate

ROLLS_BEFORE_THE_BATCH = version_flag(
    "rolls_before_the_batch",
    "KAFKA-6683 (1.0.2, 1.1.0): the snapshot of a roll has what was known before the batch that rolls; in 1.0.0, "
    "1.0.1 it had that batch already",
    {"1.0.0": False, "1.0.2": True},
    before=True,
    closes="a batch is not taken for one that the log has, after a truncation to where a segment begins",
    source="KAFKA-6683 (1.0.2, 1.1.0)",
    trials=(Trial("log-producer-state", ("answered_batch_was_appended",), variant="1.0"),),
)
REPLICATION_IS_NOT_VALIDATED = version_flag(
    "replication_is_not_validated",
    "KAFKA-6003 (0.11.0.2, 1.0.0): a follower appends what its leader has; before, it compared sequence numbers",
    {"0.11.0.2": True},
    closes="a follower that has deleted the batches of a producer appends its next one",
    source="KAFKA-6003 (0.11.0.2, 1.0.0)",
    trials=(Trial("log-copied-producer", ("replication_continues",), variant="0.11.0.0"),),
)
PRODUCERS_OUTLIVE_RECORDS = version_flag(
    "producers_outlive_records",
    "KAFKA-7190 (2.4.0): a log knows a producer until it expires; before, until its last batch was deleted",
    {"2.4.0": True},
    closes="a producer whose batches were deleted is known, and can continue",
    source="KAFKA-7190 (2.4.0)",
    trials=(
        Trial(
            "log-producer-state",
            ("producer_can_continue", "batch_is_appended_once"),
            variant="2.3.1",
            bounds={"crashes": 0, "stops": 0, "truncations": 0},
        ),
    ),
)
TORN_SNAPSHOTS_ARE_LEFT_OUT = version_flag(
    "torn_snapshots_are_left_out",
    "KAFKA-5747 (0.11.0.1, 1.0.0): a snapshot of producers that is empty or cut off is deleted, and an earlier one is "
    "read; before, the broker did not start",
    {"0.11.0.1": True},
    closes="a broker starts after a crash that has torn a snapshot",
    source="KAFKA-5747 (0.11.0.1, 1.0.0)",
    trials=(Trial("log-producer-state", ("broker_starts_after_a_crash",), variant="0.11.0.0"),),
)
UNKNOWN_PRODUCERS_CONTINUE = version_flag(
    "unknown_producers_continue",
    "KAFKA-8710, KIP-360 (2.5.0): a log appends a batch of a producer that it does not know, whatever its sequence "
    "number; before, it refused all but the first one",
    {"2.5.0": True},
    closes="a producer that a broker has forgotten with a restart can continue",
    source="KAFKA-8710, KIP-360 (2.5.0)",
    trials=(
        Trial(
            "log-producer-state",
            ("producer_can_continue",),
            variant="2.3.1",
            flags={"producers_outlive_records": True},
        ),
    ),
)
MARKERS_KEEP_PRODUCERS = version_flag(
    "markers_keep_producers",
    "KAFKA-9144 (2.4.1): the marker of a transaction counts for the expiration of its producer; since 1.0.0 and until "
    "then, one with a new epoch left no time at all, so that the producer expired at once",
    {"1.0.0": False, "2.4.1": True},
    before=True,
    closes="a producer that the coordinator has fenced stays so",
    source="KAFKA-9144 (2.4.1)",
    trials=(Trial("log-late-batches", ("fenced_producer_appends_nothing",), variant="2.3.1"),),
)
TRUNCATES_TRANSACTIONS_FIRST = version_flag(
    "truncates_transactions_first",
    "KAFKA-12153 (2.7.1, 2.8.0): a truncation forgets transactions before the high watermark follows; since 2.4.0 and "
    "until then, it failed at the first offset of a transaction that was read from the log",
    {"2.4.0": False, "2.7.1": True},
    before=True,
    closes="a truncation does not fail at an open transaction",
    source="KAFKA-12153 (2.7.1, 2.8.0)",
    trials=(Trial("log-late-batches", ("truncation_does_not_fail",), variant="2.5"),),
)
SNAPSHOTS_ARE_FLUSHED = version_flag(
    "snapshots_are_flushed",
    "KAFKA-9892 (2.8.0): a snapshot of producers is flushed when it is written",
    {"2.8.0": True},
    closes="a crash of the machine leaves snapshots of producers that can be read",
    source="KAFKA-9892 (2.8.0)",
    trials=(Trial("log-producer-state", ("snapshot_can_be_read",), variant="2.7"),),
)
SNAPSHOTS_ARE_RENAMED = version_flag(
    "snapshots_are_renamed",
    "KAFKA-12964 (3.0.0): a truncation renames the snapshots of the segments that it deletes; in 2.8 a task deleted "
    "snapshots of that name later, also those written since",
    {"2.8.0": False, "3.0.0": True},
    before=True,
    closes="the task that deletes files spares snapshots of new segments",
    source="KAFKA-12964 (3.0.0)",
    trials=(Trial("log-producer-state", ("file_deletion_spares_snapshots",)),),
)
TRANSACTIONS_ARE_VERIFIED = version_flag(
    "transactions_are_verified",
    "KAFKA-14561, KAFKA-14884, KIP-890 (3.6.0): before a leader begins a transaction in its log, it asks the "
    "coordinator whether the producer has one (transaction.partition.verification.enable)",
    {"3.6.0": True},
    closes="a batch that comes after its transaction has ended begins none that nobody ends",
    source="KAFKA-14561, KAFKA-14884, KIP-890 (3.6.0)",
    trials=(Trial("log-late-batches", ("open_transaction_is_ongoing",), bounds={"truncations": 0}),),
)
TRUNCATION_READS_BATCHES = candidate(
    "truncation_reads_batches",
    "a truncation reads the batches behind its snapshot, also if the log knew no producer before",
    closes="a transaction that has ended is not open again after a truncation",
    source="no release",
    trials=(Trial("log-late-batches", ("open_transaction_is_ongoing",), variant="3.9.0"),),
)
RECOVERY_READS_ITS_OWN_STATE = version_flag(
    "recovery_reads_its_own_state",
    "KAFKA-10832 (2.8.0): a recovery that reads earlier segments knows the transactions that were open before each; "
    "until then, it took the first batch in a segment for the beginning of a transaction that went on there",
    {"2.8.0": True},
    closes="a log that was recovered knows where its open transactions begin",
    source="KAFKA-10832 (2.8.0)",
    trials=(Trial("log-recovered-transactions", ("open_transaction_has_its_first_offset",), variant="2.7"),),
)
EARLIEST_SEQUENCE_COUNTS = version_flag(
    "earliest_sequence_counts",
    "KAFKA-14920 (3.6.0): a leader appends no batch behind the earliest one that it has asked the coordinator about, "
    "which it remembers also after a refusal",
    {"3.6.0": True},
    closes="a batch does not overtake one about which the coordinator is asked again",
    source="KAFKA-14920 (3.6.0)",
    trials=(
        Trial(
            "log-late-copies",
            ("producer_can_continue",),
            variant="3.9.0",
            about="the price: after a late copy of a batch the next transaction is refused",
        ),
    ),
)
TRANSACTIONS_BEGIN_AT_OFFSETS = version_flag(
    "transactions_begin_at_offsets",
    "KAFKA-7692 (2.1.1): a transaction begins at the first offset of its first batch; before, that offset was counted "
    "by sequence numbers, which can begin again amid a batch",
    {"2.1.1": True},
    closes="no record of an open transaction is read whose producer has sent 2,147,483,647 records",
    source="KAFKA-7692 (2.1.1): ProducerAppendInfo.append",
    trials=(Trial("log-wrapped-sequences", ("transaction_is_read_when_it_has_ended",), variant="2.0"),),
)
SNAPSHOTS_ARE_KEPT_FOR_RECOVERY = version_flag(
    "snapshots_are_kept_for_recovery",
    "KAFKA-5829 (1.0.0): snapshots of producers are deleted that are before the recovery point on disk; before, those "
    "before what is flushed, so that a start after a crash read the log from its begin on",
    {"0.11.0.0": False, "1.0.0": True},
    before=True,
    closes="a start after a crash reads what was not flushed",
    source="KAFKA-5829 (1.0.0): Log.deleteSnapshotsAfterRecoveryPointCheckpoint",
    trials=(Trial("log-start-after-a-crash", ("start_reads_what_was_not_flushed",), variant="0.11.0.0"),),
)
OLD_FORMATS_HAVE_NO_PRODUCERS = version_flag(
    "old_formats_have_no_producers",
    "KAFKA-7076 (2.0.0): no producers are looked for in a log with a message format before 0.11; since 0.11.0.0, in "
    "all of it, where it had no snapshots",
    {"0.11.0.0": False, "2.0.0": True},
    before=True,
    closes="the first start after an upgrade reads what was not flushed",
    source="KAFKA-7076 (2.0.0): Log.rebuildProducerState",
    trials=(Trial("log-start-after-an-upgrade", ("start_reads_what_was_not_flushed",), variant="1.0"),),
)
UNKNOWN_SEQUENCES_ARE_RESET = version_flag(
    "unknown_sequences_are_reset",
    "KAFKA-7298 (2.0.1): a log that knows a marker of a producer only answers UNKNOWN_PRODUCER_ID, at which the "
    "producer begins again; before, OUT_OF_ORDER_SEQUENCE_NUMBER, at which it ends",
    {"2.0.1": True},
    closes="a transactional producer goes on whose records were deleted",
    source="KAFKA-7298 (2.0.1): ProducerAppendInfo.checkSequence",
    trials=(Trial("log-forgotten-producer", ("producer_outlives_a_deletion",), variant="2.0"),),
)
NEW_LOGS_BEGIN_WITH_THE_FIRST = version_flag(
    "new_logs_begin_with_the_first",
    "KAFKA-15591, of a release after 3.9: a log that never had a record appends no batch but the first one of a "
    "producer; since 2.5.0 (KIP-360) any, after which it refuses those before",
    {"2.5.0": False},
    before=True,
    closes="a producer's batches are appended, in whichever order requests meet a new partition",
    source="KAFKA-15591 (after 3.9): ProducerAppendInfo.checkSequence",
    trials=(Trial("log-of-a-new-partition", ("no_batch_is_passed",), variant="3.9.0"),),
)
