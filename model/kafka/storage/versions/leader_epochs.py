"""What releases and fixes change about leader epochs and truncation, and what leaders tell followers."""

from __future__ import annotations

from kwalk.model.kafka.releases import ReleaseFlags
from kwalk.model.language import Trial

FLAGS = ReleaseFlags()
version_flag = FLAGS.version_flag

HIGH_WATERMARK_IS_IN_THE_LOG = version_flag(
    "high_watermark_is_in_the_log",
    "KAFKA-3978 (1.0.2, 1.1.0): a replica that is elected takes the beginning of its log for a high watermark that its "
    "log does not have; before, -1, at which it did not begin to lead",
    {"1.0.2": True},
    closes="a replica leads also if its log has begun again",
    source="KAFKA-3978 (1.0.2, 1.1.0)",
    trials=(Trial("log-full-truncation-elected", ("elected_replica_leads",), variant="1.0"),),
)
RESPONSES_ARE_OF_THEIR_EPOCH = version_flag(
    "responses_are_of_their_epoch",
    "KAFKA-18723 (3.9.1): a follower appends no batch of a later leader epoch than that of its fetch; before, a "
    "response whose bytes are read from the file late may have what its leader got from the next one",
    {"3.9.1": True},
    closes="a follower that has missed an election appends nothing of the next leader",
    source="KAFKA-18723 (3.9.1): UnifiedLog.appendAsFollower",
    trials=(Trial("leader-epochs-late-bytes", ("logs_agree",), variant="3.9.0"),),
)
TRUNCATES_BY_EPOCH = version_flag(
    "truncates_by_epoch",
    "KIP-101 (0.11.0.0): a follower asks its leader where its latest leader epoch ends, and truncates to there; "
    "before, to its own high watermark",
    {"0.11.0.0": True},
    closes="a follower that truncates keeps what is committed",
    source="KIP-101 (0.11.0.0)",
    trials=(Trial("leader-epochs", ("committed_record_is_kept",), variant="3.9.0"),),
)
LEADER_ANSWERS_WITH_ITS_EPOCH = version_flag(
    "leader_answers_with_its_epoch",
    "KAFKA-6361, KIP-279 (2.0.0): the leader answers also with the epoch that it knows up to the requested one; "
    "before, with an offset only, which may be of an epoch that the follower does not have",
    {"2.0.0": True},
    closes="after fast failovers a follower truncates to where the logs are equal",
    source="KAFKA-6361, KIP-279 (2.0.0)",
    trials=(Trial("leader-epochs", ("logs_agree",), variant="1.0", flags={"leader_knows_its_epoch": True}),),
)
LEADER_KNOWS_ITS_EPOCH = version_flag(
    "leader_knows_its_epoch",
    "KAFKA-7415 (2.0.1, 2.1.0): a leader enters its epoch when it is elected; before, with its first record, so that "
    "it did not know where later epochs of followers end",
    {"2.0.1": True},
    closes="a leader knows where all epochs of its followers end",
    source="KAFKA-7415 (2.0.1, 2.1.0)",
    trials=(Trial("leader-epochs", ("committed_record_is_kept",), variant="2.0"),),
)
ISR_NEEDS_THE_EPOCH = version_flag(
    "isr_needs_the_epoch",
    "KAFKA-7128 (2.0.1, 2.1.0): a follower joins the ISR when it has reached the offset at which the leader was "
    "elected; before, the leader's high watermark, which may be behind that of the leader before",
    {"2.0.1": True},
    closes="a replica that joins the ISR has all that is committed",
    source="KAFKA-7128 (2.0.1, 2.1.0)",
    trials=(
        Trial(
            "leader-epochs",
            ("committed_record_is_kept",),
            variant="2.5",
            bounds={"members": 3, "elections": 2, "offsets": 2, "crashes": 1},
        ),
    ),
)
END_NEEDS_THE_EPOCH = version_flag(
    "end_needs_the_epoch",
    "KAFKA-2334, KIP-207 (2.2.0): a leader tells clients the end of its log once its high watermark has reached the "
    "offset at which it was elected; before, at once",
    {"2.2.0": True},
    closes="the end that consumers are told does not go back",
    source="KAFKA-2334, KIP-207 (2.2.0)",
    trials=(Trial("leader-epochs-end-lookups", ("told_end_does_not_go_back",), variant="2.1.0"),),
)
MISSED_EPOCHS_TRUNCATE = version_flag(
    "missed_epochs_truncate",
    "KAFKA-7164 (2.0.1, 2.1.0): a follower truncates after each leader epoch that it has missed; before, if its leader "
    "was the one that it knew, it went on to fetch",
    {"2.0.1": True},
    closes="a follower that has missed an election truncates what its leader does not have any more",
    source="KAFKA-7164 (2.0.1, 2.1.0)",
    trials=(
        Trial(
            "leader-epochs-missed-election",
            ("logs_agree", "committed_record_is_kept"),
            variant="2.0",
            flags={"leader_knows_its_epoch": True, "isr_needs_the_epoch": True},
        ),
    ),
)
FETCHES_HAVE_AN_EPOCH = version_flag(
    "fetches_have_an_epoch",
    "KAFKA-6880, KAFKA-7395, KIP-320 (2.1.0): the fetch of a follower has the leader epoch that it knows, and a leader "
    "refuses one of an earlier epoch; before, a follower that had missed all elections went on to fetch",
    {"2.1.0": True},
    closes="a replica that has missed elections copies nothing before it truncates",
    source="KAFKA-6880, KAFKA-7395, KIP-320 (2.1.0)",
    trials=(
        Trial(
            "leader-epochs-zombie-follower",
            ("committed_record_is_kept",),
            variant="2.0",
            flags={"leader_knows_its_epoch": True, "isr_needs_the_epoch": True, "missed_epochs_truncate": True},
        ),
    ),
)
SHORTER_LEADERS_ARE_FOLLOWED = version_flag(
    "shorter_leaders_are_followed",
    "KAFKA-7414 (2.0.1, 2.1.0): a follower whose log is longer than its leader's truncates it; before, with "
    "unclean.leader.election.enable=false, which is the default since 0.11.0.0, its broker exited",
    {"0.11.0.0": False, "2.0.1": True},
    before=True,
    closes="no broker exits as its leader's log is shorter",
    source="KAFKA-7414 (2.0.1, 2.1.0)",
    trials=(Trial("leader-epochs-missed-election", ("broker_outlives_its_leaders_log",), variant="2.0"),),
)
EXITS_WRITE_CHECKPOINTS = version_flag(
    "exits_write_checkpoints",
    "KAFKA-3924 (0.10.0.1) with KAFKA-4039 (0.11.0.0): a broker that exits, as its leader's log is shorter, writes its "
    "high watermarks; 0.10.0.0 halts, and up to 0.10.2 the shutdown waits for the thread that has asked for it",
    {"0.11.0.0": True},
    closes="a broker that exits rather than truncate does not truncate more at its next start",
    source="KAFKA-3924 (0.10.0.1), KAFKA-4039 (0.11.0.0)",
    trials=(Trial("leader-epochs-lost-tail", ("exit_spares_records",), variant="0.10.0"),),
)
TRUNCATES_BEFORE_THE_HIGH_WATERMARK = version_flag(
    "truncates_before_the_high_watermark",
    "KAFKA-14704 (3.4.1, 3.5.0): a follower truncates by the diverging epoch of a response, and takes the high "
    "watermark from the next one; since 2.8.0 (KAFKA-10554) and until then, it raised its high watermark first",
    {"2.8.0": False, "3.4.1": True},
    before=True,
    closes="a follower shows consumers no record that it is about to truncate",
    source="KAFKA-14704 (3.4.1, 3.5.0)",
    trials=(Trial("leader-epochs", ("follower_shows_what_is_committed",)),),
)
REMOVED_PARTITIONS_STAY = version_flag(
    "removed_partitions_stay",
    "KAFKA-13207 (2.8.1, 3.0.0): a fetcher truncates only partitions that it still has, by the diverging epochs of a "
    "response; in 2.8.0 (KAFKA-10554), also one that its broker leads by now",
    {"2.8.0": False, "2.8.1": True},
    before=True,
    closes="a leader's log is not truncated by an answer to what it asked as a follower",
    source="KAFKA-13207 (2.8.1, 3.0.0)",
    trials=(Trial("leader-epochs-late-answer", ("committed_record_is_kept",), variant="2.8.0"),),
)
ANSWERS_MATCH_THE_EPOCH = version_flag(
    "answers_match_the_epoch",
    "KAFKA-7786 (2.1.1, 2.2.0), KAFKA-18991 (3.9.1): a fetcher leaves an answer out that its leader gave in an earlier "
    "leader epoch; before 2.1.1 it truncated by it, and again since 2.8.0 (KAFKA-10554), if the partition is fetched "
    "from the same offset as then",
    {"2.1.1": True, "2.8.0": False, "3.9.1": True},
    closes="a follower's log is not truncated by an answer from an earlier leader epoch",
    source="KAFKA-7786 (2.1.1, 2.2.0), KAFKA-18991 (3.9.1)",
    trials=tuple(
        Trial("leader-epochs-stale-answer", ("committed_record_is_kept",), variant=release)
        for release in ("2.1.0", "3.9.0")
    ),
)
OUT_OF_RANGE_COMES_FIRST = version_flag(
    "out_of_range_comes_first",
    "KAFKA-12996 (2.8.1, 3.0.0): a leader answers a fetch below its start offset with OFFSET_OUT_OF_RANGE also where "
    "the epochs diverge; in 2.8.0 with the diverging epoch and its start offset, at which the fetcher gave up",
    {"2.8.0": False, "2.8.1": True},
    before=True,
    closes="a follower below the start offset of its leader begins its log afresh",
    source="KAFKA-12996 (2.8.1, 3.0.0)",
    trials=(Trial("leader-epochs-deleted-records", ("fetcher_does_not_give_up",), variant="2.8.0"),),
)
EPOCHS_ARE_TRUNCATED_AT_THE_END = version_flag(
    "epochs_are_truncated_at_the_end",
    "KAFKA-10706 (2.6.1, 2.7.0): a truncation to the end of the log removes an epoch without records that begins there",
    {"2.6.1": True},
    closes="a truncation ends",
    source="KAFKA-10706 (2.6.1, 2.7.0)",
    trials=(Trial("leader-epochs", ("truncation_ends",), variant="2.5"),),
)
UNDEFINED_EPOCHS_HAVE_NO_END = version_flag(
    "undefined_epochs_have_no_end",
    "KAFKA-6857 (1.0.2, 1.1.1, 2.0.0): a leader without leader epochs, as with a message format before 0.11, answers "
    "that it does not know where none ends, so that its follower truncates to the high watermark; before, with the end "
    "of its log",
    {"1.0.2": True, "1.1.0": False, "1.1.1": True},
    closes="followers truncate to the high watermark if records have no leader epochs",
    source="KAFKA-6857 (1.0.2, 1.1.1, 2.0.0)",
    trials=(
        Trial(
            "leader-epochs-old-format",
            ("logs_agree",),
            variant="1.0",
            bounds={"members": 2, "old_members": 2, "elections": 1},
        ),
    ),
)
UNDEFINED_EPOCHS_ARE_NOT_ASKED = version_flag(
    "undefined_epochs_are_not_asked",
    "KAFKA-6859 (2.1.0): a follower without leader epochs asks for the end of none, and truncates to its high "
    "watermark; before, to what its leader answers, which may be of a release before KAFKA-6857",
    {"2.1.0": True},
    closes="followers truncate to the high watermark if records have no leader epochs, below any leader",
    source="KAFKA-6859 (2.1.0)",
    trials=(Trial("leader-epochs-early-leader", ("logs_agree",), variant="2.0"),),
)
OLD_FORMATS_HAVE_NO_EPOCHS = version_flag(
    "old_formats_have_no_epochs",
    "KAFKA-7897 (2.1.1, 2.2.0): a log whose message format is before 0.11 has no leader epochs; since 2.0.1, and "
    "before, its leaders knew theirs, and followers truncated by the few that they knew",
    {"2.1.1": True},
    closes="followers do not truncate below the high watermark if records have no leader epochs",
    source="KAFKA-7897 (2.1.1, 2.2.0)",
    trials=(
        Trial(
            "leader-epochs-mixed-formats",
            ("truncation_spares_what_is_committed",),
            variant="2.1.0",
            bounds={"members": 2, "old_members": 2, "elections": 2},
        ),
    ),
)
OLD_RECORDS_CLEAR_EPOCHS = version_flag(
    "old_records_clear_epochs",
    "KAFKA-7601 (2.2.1, 2.3.0): a record of a message format before 0.11 clears the leader epochs of a log, as brokers "
    "with both formats may lead in turn during an upgrade",
    {"2.2.1": True},
    closes="followers do not truncate below the high watermark while message formats are upgraded",
    source="KAFKA-7601 (2.2.1, 2.3.0)",
    trials=(Trial("leader-epochs-mixed-formats", ("truncation_spares_what_is_committed",), variant="2.2.0"),),
)
EPOCH_ZERO_IS_RECOVERED = version_flag(
    "epoch_zero_is_recovered",
    "KAFKA-10432 (2.6.1, 2.7.0): the recovery of a log enters also leader epoch 0 into its epochs",
    {"2.6.1": True},
    closes="a recovered log has all leader epochs of its records",
    source="KAFKA-10432 (2.6.1, 2.7.0)",
    trials=(Trial("leader-epochs-lost", ("epochs_of_the_log_are_known",), variant="2.5"),),
)
EPOCH_FILE_IS_FLUSHED = version_flag(
    "epoch_file_is_flushed",
    "KAFKA-16541 (3.8.0): leader-epoch-checkpoint is flushed whenever it is written; in 3.7 (KAFKA-15046) not after a "
    "truncation",
    {"3.7.0": False, "3.8.0": True},
    before=True,
    closes="a crash of the machine leaves a file of leader epochs that can be read",
    source="KAFKA-16541 (3.8.0)",
    trials=(Trial("leader-epochs-torn", ("epoch_file_can_be_read",), variant="3.7.0"),),
)
