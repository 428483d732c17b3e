"""Stories about leader epochs: which records leaders and followers agree on after elections and crashes."""

from __future__ import annotations

from kwalk.invariants import leader_epochs as epochs
from kwalk.model.kafka.storage import leader_epochs, versions
from kwalk.model.kafka.storage.leader_epochs import EpochPartition
from kwalk.model.language import Scenario

LEADER_EPOCHS = Scenario(
    name="leader-epochs",
    story="Replicas lead one after another, with or without a crash between; followers truncate by leader epochs.",
    state=EpochPartition,
    actions=(
        leader_epochs.elect,
        leader_epochs.produce,
        leader_epochs.truncate_follower,
        leader_epochs.raise_before_truncation,
        leader_epochs.fetch,
        leader_epochs.crash,
        leader_epochs.restart,
    ),
    initial=leader_epochs.starts_with_a_leader,
    properties=(
        epochs.committed_record_is_kept,
        epochs.logs_agree,
        epochs.truncation_ends,
        epochs.epochs_of_the_log_are_known,
        epochs.epochs_begin_where_their_records_do,
        epochs.start_removes_epochs_without_records,
        epochs.replicas_catch_up,
        epochs.partition_can_be_led,
        epochs.leader_is_live,
        epochs.dead_replica_leaves_the_isr,
        epochs.lone_leader_commits,
        epochs.high_watermark_goes_back_by_truncation,
        epochs.follower_knows_what_is_committed,
        epochs.follower_knows_no_later_epoch,
        epochs.follower_shows_what_is_committed,
        epochs.isr_is_whole_again,
        epochs.follower_is_truncated_and_fetches,
    ),
    bounds={
        "members": 2,
        "elections": 3,
        "offsets": 3,
        "crashes": 2,
        "losses": 0,
        "removals": 0,
        "late_answers": 0,
        "missed_elections": 0,
        "old_members": 0,
        "leader_deletions": 0,
        "end_lookups": 0,
        "tail_losses": 0,
        "log_moves": 0,
        "early_members": 0,
        "late_bytes": 0,
    },
    variants=versions.VARIANTS,
    source="LeaderEpochFileCache, AbstractFetcherThread.getOffsetTruncationState; KIP-101, KIP-279",
)
LEADER_EPOCHS_LOST = LEADER_EPOCHS.varied(
    name="leader-epochs-lost",
    story="As before; an operator removes leader-epoch-checkpoint of a broker that has crashed.",
    actions=(*LEADER_EPOCHS.actions, leader_epochs.remove_epochs),
    bounds={"removals": 1},
    source="LogSegment.recover; KAFKA-10432",
)
LEADER_EPOCHS_TORN = LEADER_EPOCHS.varied(
    name="leader-epochs-torn",
    story="As before; a broker's machine crashes, which loses what was not flushed of leader-epoch-checkpoint.",
    properties=(*LEADER_EPOCHS.properties, epochs.epoch_file_can_be_read),
    bounds={"losses": 1},
    source="LeaderEpochFileCache.truncateFromEnd; KAFKA-15046, KAFKA-16541",
)
LEADER_EPOCHS_LOST_TAIL = LEADER_EPOCHS.varied(
    name="leader-epochs-lost-tail",
    story=(
        "Unclean elections are off. A leader that is alone in the ISR loses the end of its log in a crash, and leads "
        "again; the broker of its follower, whose log is longer, exits."
    ),
    actions=(
        leader_epochs.elect,
        leader_epochs.produce,
        leader_epochs.truncate_follower,
        leader_epochs.fetch,
        leader_epochs.restart,
        leader_epochs.checkpoint_high_watermark,
        leader_epochs.lose_tail,
        leader_epochs.exit_at_a_shorter_leader,
    ),
    properties=(
        epochs.exit_spares_records,
        epochs.exit_has_a_reason,
        epochs.fetch_keeps_the_log,
        epochs.checkpoint_is_a_high_watermark,
        epochs.crash_takes_the_end,
        epochs.partition_can_be_led,
        epochs.leader_is_live,
        epochs.dead_replica_leaves_the_isr,
        epochs.lone_leader_commits,
        epochs.follower_knows_what_is_committed,
        epochs.exited_broker_is_back,
    ),
    bounds={"offsets": 2, "elections": 2, "crashes": 0, "tail_losses": 1},
    variants={release: versions.VARIANTS[release] for release in ("0.10.0", "0.10.1", "0.10.2")},
    source="ReplicaFetcherThread.handleOffsetOutOfRange; KAFKA-3410, KAFKA-3924, KAFKA-4039",
)
LEADER_EPOCHS_LAST_MEMBER = LEADER_EPOCHS.varied(
    name="leader-epochs-last-member",
    story=(
        "The machine of a leader that is alone in the ISR crashes, and has lost the end of its log; it leads again, "
        "whatever other replicas have."
    ),
    actions=(
        leader_epochs.elect,
        leader_epochs.produce,
        leader_epochs.truncate_follower,
        leader_epochs.fetch,
        leader_epochs.restart,
        leader_epochs.lose_tail,
    ),
    properties=(
        epochs.committed_record_is_kept,
        epochs.logs_agree,
        epochs.truncation_ends,
        epochs.replicas_catch_up,
        epochs.crash_takes_the_end,
        epochs.partition_can_be_led,
        epochs.leader_is_live,
        epochs.dead_replica_leaves_the_isr,
        epochs.follower_knows_what_is_committed,
    ),
    bounds={"offsets": 2, "elections": 2, "crashes": 0, "tail_losses": 1},
    variants={release: versions.VARIANTS[release] for release in ("2.8.2", "3.9.0")},
    source="ReplicaStateMachine.doRemoveReplicasFromIsr, LogLoader.recoverLog; KAFKA-15332 (KIP-966, for KRaft)",
)
LED_WITHOUT_CRASHES = tuple(
    prop
    for prop in LEADER_EPOCHS.properties
    if prop
    not in (
        epochs.partition_can_be_led,
        epochs.start_removes_epochs_without_records,
        epochs.dead_replica_leaves_the_isr,
        epochs.lone_leader_commits,
        epochs.isr_is_whole_again,
    )
)
"""What leaders and followers do that all run."""
LEADER_EPOCHS_LATE_ANSWER = LEADER_EPOCHS.varied(
    name="leader-epochs-late-answer",
    story="Replicas lead one after another; the fetcher of a follower is late, and may find it elected.",
    actions=(
        leader_epochs.elect,
        leader_epochs.produce,
        leader_epochs.truncate_follower,
        leader_epochs.fetch,
        leader_epochs.delay_answer,
        leader_epochs.handle_late_answer,
    ),
    properties=(
        *LED_WITHOUT_CRASHES,
        epochs.answer_is_where_the_epoch_ends,
        epochs.replica_leads_when_its_answer_comes,
    ),
    bounds={"crashes": 0, "elections": 2, "late_answers": 1},
    variants=versions.FETCH_VARIANTS,
    source="AbstractFetcherThread.truncateOnFetchResponse; KAFKA-13207",
)
LEADER_EPOCHS_STALE_ANSWER = LEADER_EPOCHS_LATE_ANSWER.varied(
    name="leader-epochs-stale-answer",
    story="Replicas lead one after another; an answer comes when the leader that gave it leads again.",
    properties=(*LEADER_EPOCHS_LATE_ANSWER.properties, epochs.asked_leader_leads_again),
    bounds={"elections": 4, "offsets": 2},
    variants=versions.ANSWER_VARIANTS,
    source="AbstractFetcherThread.processFetchRequest; KAFKA-7786, KAFKA-18991",
)
LEADER_EPOCHS_MISSED_ELECTION = LEADER_EPOCHS_LATE_ANSWER.varied(
    name="leader-epochs-missed-election",
    story="Replicas lead one after another; a follower does not hear of one election.",
    actions=(
        leader_epochs.elect,
        leader_epochs.elect_unnoticed,
        leader_epochs.hear_of_election,
        leader_epochs.produce,
        leader_epochs.truncate_follower,
        leader_epochs.fetch,
    ),
    properties=(
        *LED_WITHOUT_CRASHES,
        epochs.broker_outlives_its_leaders_log,
        epochs.unaware_replica_asks_another,
        epochs.missed_election_is_made_up_for,
    ),
    bounds={"members": 3, "elections": 3, "offsets": 2, "late_answers": 0, "missed_elections": 1},
    variants=versions.VARIANTS,
    source="Partition.makeFollower; KAFKA-7164, KAFKA-7414",
)
LEADER_EPOCHS_LATE_BYTES = LEADER_EPOCHS_MISSED_ELECTION.varied(
    name="leader-epochs-late-bytes",
    story="A leader is replaced; a follower that does not hear of it gets a response whose bytes are read by then.",
    actions=(*LEADER_EPOCHS_MISSED_ELECTION.actions, leader_epochs.delay_bytes, leader_epochs.receive_bytes),
    properties=(
        epochs.committed_record_is_kept,
        epochs.logs_agree,
        epochs.leader_is_live,
        epochs.response_is_of_a_leader,
        epochs.former_leader_has_other_bytes,
    ),
    bounds={"elections": 1, "late_bytes": 1},
    variants={release: versions.ANSWER_VARIANTS[release] for release in ("2.8.2", "3.9.0", "3.9.1")},
    source="FileRecords.writeTo, UnifiedLog.appendAsFollower; KAFKA-18723",
)
LEADER_EPOCHS_ZOMBIE_FOLLOWER = LEADER_EPOCHS_MISSED_ELECTION.varied(
    name="leader-epochs-zombie-follower",
    story="A follower hears neither that its leader does not lead any more nor that it leads again.",
    actions=(
        *LEADER_EPOCHS_MISSED_ELECTION.actions,
        leader_epochs.elect_again_unnoticed,
        leader_epochs.fetch_unaware,
    ),
    properties=(
        epochs.committed_record_is_kept,
        epochs.logs_agree,
        epochs.leader_is_live,
        epochs.former_leader_leads_again,
    ),
    bounds={"missed_elections": 2},
    variants={release: versions.FORMAT_VARIANTS[release] for release in ("2.0", "2.1.0", "2.2.0")},
    source="Partition.makeFollower, ReplicaFetcherThread.buildFetch; KAFKA-6880, KIP-320",
)
LEADER_EPOCHS_DELETED_RECORDS = LEADER_EPOCHS.varied(
    name="leader-epochs-deleted-records",
    story="Replicas lead in turn, one crashes, and the leader deletes records that the other does not have.",
    actions=(
        *LEADER_EPOCHS.actions,
        leader_epochs.delete_records,
        leader_epochs.start_afresh,
        leader_epochs.give_up,
    ),
    properties=(
        *LEADER_EPOCHS.properties,
        epochs.log_does_not_end_below_its_start,
        epochs.fetcher_does_not_give_up,
        epochs.log_is_begun_afresh,
    ),
    bounds={"offsets": 4, "elections": 2, "crashes": 1, "leader_deletions": 1},
    variants={release: versions.FETCH_VARIANTS[release] for release in ("2.8.2", "2.8.0", "3.9.0")},
    source="Partition.readRecords, AbstractFetcherThread.fetchOffsetAndTruncate; KAFKA-12996",
)
LEADER_EPOCHS_MOVED_LOG = LEADER_EPOCHS_DELETED_RECORDS.varied(
    name="leader-epochs-moved-log",
    story="Replicas lead in turn, and records are deleted; a log is moved to another log directory of its broker.",
    actions=(
        leader_epochs.elect,
        leader_epochs.produce,
        leader_epochs.truncate_follower,
        leader_epochs.fetch,
        leader_epochs.delete_records,
        leader_epochs.move_log,
        leader_epochs.truncate_to_the_leaders_end,
    ),
    properties=(
        *LED_WITHOUT_CRASHES,
        epochs.follower_is_answered,
        epochs.moved_log_leads,
    ),
    bounds={"offsets": 2, "crashes": 0, "log_moves": 1},
    variants={release: versions.FETCH_VARIANTS[release] for release in ("2.8.2", "3.9.0")},
    source="LogManager.replaceCurrentWithFutureLog, Partition.readRecords; KAFKA-15608, KAFKA-20961",
)
LEADER_EPOCHS_END_LOOKUPS = LEADER_EPOCHS_LATE_ANSWER.varied(
    name="leader-epochs-end-lookups",
    story="Another replica is elected while a consumer asks for the end of the partition.",
    actions=(
        leader_epochs.elect,
        leader_epochs.produce,
        leader_epochs.truncate_follower,
        leader_epochs.fetch,
        leader_epochs.ask_for_end,
    ),
    properties=(
        *LED_WITHOUT_CRASHES,
        epochs.told_end_does_not_go_back,
        epochs.new_leader_tells_the_end,
    ),
    bounds={"offsets": 2, "late_answers": 0, "end_lookups": 2},
    variants=versions.FORMAT_VARIANTS,
    source="Partition.fetchOffsetForTimestamp; KAFKA-2334, KIP-207",
)
LEADER_EPOCHS_OLD_FORMAT = LEADER_EPOCHS_LATE_ANSWER.varied(
    name="leader-epochs-old-format",
    story="Replicas lead one after another while records have a message format before 0.11, without leader epochs.",
    actions=(
        leader_epochs.elect,
        leader_epochs.produce,
        leader_epochs.truncate_follower,
        leader_epochs.fetch,
    ),
    properties=(
        *(
            prop
            for prop in LED_WITHOUT_CRASHES
            if prop not in (epochs.epochs_of_the_log_are_known, epochs.follower_shows_what_is_committed)
        ),
        epochs.truncation_spares_what_is_committed,
    ),
    bounds={"members": 3, "elections": 2, "offsets": 2, "late_answers": 0, "old_members": 3},
    variants={
        release: flags
        for release, flags in versions.FORMAT_VARIANTS.items()
        if not release.startswith("0.10") and not release.startswith("3.")
    },
    source="LeaderEpochFileCache.endOffsetFor; KAFKA-6857",
)
LEADER_EPOCHS_MIXED_FORMATS = LEADER_EPOCHS_OLD_FORMAT.varied(
    name="leader-epochs-mixed-formats",
    story="Replicas lead in turn while message formats are upgraded: one broker still appends without leader epochs.",
    properties=tuple(
        prop
        for prop in LEADER_EPOCHS_OLD_FORMAT.properties
        if prop not in (epochs.committed_record_is_kept, epochs.logs_agree, epochs.follower_is_truncated_and_fetches)
    ),
    bounds={"members": 3, "elections": 3, "offsets": 1, "old_members": 1},
    source="Log.append, Log.initializeLeaderEpochCache; KAFKA-7601, KAFKA-7897",
)
LEADER_EPOCHS_EARLY_LEADER = LEADER_EPOCHS_OLD_FORMAT.varied(
    name="leader-epochs-early-leader",
    story=(
        "Records have a message format before 0.11 while brokers are upgraded: the one that is elected is of a release "
        "up to 1.0.1."
    ),
    bounds={"members": 2, "old_members": 2, "early_members": 1, "elections": 1},
    variants={release: versions.FORMAT_VARIANTS[release] for release in ("2.0", "2.2.0")},
    source="ReplicaFetcherThread.fetchEpochsFromLeader, LeaderEpochFileCache.endOffsetFor; KAFKA-6859",
)
