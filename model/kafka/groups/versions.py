"""What releases of Kafka differ in about consumer groups, and the switches that choose the grain of the group model.

Each flag was dated by comparing the sources of the releases on both sides of the change.
"""

from __future__ import annotations

from kwalk.model.kafka.releases import ReleaseFlags
from kwalk.model.language import Trial

RELEASES = ("2.8.2", "0.10.0", "0.10.1", "0.10.2", "0.11.0.0", "1.0", "2.0", "2.1.0", "2.3", "2.4.1", "2.8.0", "3.9.0")
"""Those that have a variant; the first one is the default of a scenario."""

FLAGS = ReleaseFlags()
version_flag, candidate, grain_flag = FLAGS.version_flag, FLAGS.candidate, FLAGS.grain_flag
FIXES = FLAGS.fixes


# What releases differ in.

EMPTY_GROUPS_STAY = version_flag(
    "empty_groups_stay",
    "KAFKA-2720 (0.10.1.0): a group that loses its last member becomes Empty, and is removed when its last offset is; "
    "before, it was removed at once, and its next generation was the first again",
    {"0.10.1": True},
    closes="a group that loses its last member keeps its generation, and is not removed with its offsets in place",
    source="KAFKA-2720 (0.10.1.0)",
    trials=(
        Trial(
            "consumer-group-removal",
            ("group_with_an_offset_is_listed",),
            variant="0.10.0",
            bounds={"moves": 0},
        ),
        Trial(
            "consumer-group-removal",
            ("removed_group_stays_removed",),
            variant="0.10.0",
            about="tombstones are still not waited for",
        ),
    ),
)
STOP_REPLICA_UNLOADS = version_flag(
    "stop_replica_unloads",
    "KAFKA-4362 (0.10.1.1): a broker unloads a partition of __consumer_offsets whose replica it loses by a "
    "reassignment; it gets StopReplica, and no LeaderAndIsr",
    {"0.10.1.1": True},
    closes="consumers find the new coordinator after the partition of their group was reassigned",
    source="KAFKA-4362 (0.10.1.1)",
    trials=(Trial("consumer-group-reassigned-partition", ("partition_is_consumed",), variant="0.10.1"),),
)
DELETED_TOPICS_LOSE_OFFSETS = version_flag(
    "deleted_topics_lose_offsets",
    "KAFKA-2000 (0.10.2.0): a coordinator removes the offsets of a topic that is deleted",
    {"0.10.2": True},
    closes="a topic that is created again has no offset of the topic that was deleted",
    source="KAFKA-2000 (0.10.2.0)",
    trials=(
        Trial(
            "consumer-group-recreated-topic",
            ("recreated_topic_has_no_offset",),
            variant="0.10.2",
            bounds={"moves": 0},
        ),
        Trial(
            "consumer-group-recreated-topic",
            ("recreated_topic_has_no_offset",),
            about="a broker that is informed of the deletion before it has loaded the partition removes nothing",
        ),
    ),
)
LOAD_TO_LOG_END = version_flag(
    "load_to_log_end",
    "KAFKA-5059 (0.11.0.0): a coordinator loads its partition up to the log end offset; before, up to the high "
    "watermark, which a new leader learns late",
    {"0.11.0.0": True},
    closes="a new coordinator loads every commit that was acknowledged",
    source="KAFKA-5059 (0.11.0.0)",
    trials=(Trial("consumer-group", ("committed_offset_is_kept",), variant="1.0", bounds={"consumers": 1}),),
)
LOAD_WHOLE_LOG = version_flag(
    "load_whole_log",
    "KAFKA-5600 (0.11.0.1): the log is read to its end before groups are cached; in 0.11.0.0 what the first buffer has "
    "of a group is cached, and later records are ignored (since KAFKA-4816)",
    {"0.11.0.0": False, "0.11.0.1": True},
    before=True,
    closes="what is cached after a load is the last that the log has",
    source="KAFKA-5600 (0.11.0.1); the mistake came with KAFKA-4816 (0.11.0.0)",
    trials=(Trial("consumer-group", ("committed_offset_is_kept",), variant="0.11.0.0", bounds={"consumers": 1}),),
)
DELETE_GROUPS = version_flag(
    "delete_groups",
    "KIP-229, KAFKA-6275 (1.1.0): an operator can delete an Empty group",
    {"1.1.0": True},
    closes="an operator can delete a group",
    source="KIP-229 (1.1.0)",
    trials=(
        Trial("consumer-group-removal", ("operator_deletes_the_group",)),
        Trial(
            "consumer-group-removal",
            ("deleted_group_stays_deleted",),
            about="a group that was deleted comes back if the coordinator moves at once",
        ),
    ),
)
RETENTION_FROM_EMPTY = version_flag(
    "retention_from_empty",
    "KIP-211, KAFKA-4682 (2.1.0): offsets expire when their group has been Empty for the retention period; before, "
    "each offset when its own commit was that old, whatever members the group had",
    {"2.1.0": True},
    closes="an offset does not expire while the group has members",
    source="KIP-211 (2.1.0)",
    trials=(Trial("consumer-group-retention", ("committed_offset_is_kept",)),),
)
EXPIRE_STABLE_ONLY = version_flag(
    "expire_stable_only",
    "KAFKA-13636 (2.8.2, 3.0.1, 3.1.1): while members join, no offset expires for want of a subscription",
    {"2.8.2": True, "3.0.0": False, "3.0.1": True, "3.1.0": False, "3.1.1": True},
    closes="an offset does not expire while the first member of an Empty group joins",
    source="KAFKA-13636 (2.8.2, 3.0.1, 3.1.1)",
    trials=(Trial("consumer-group-retention", ("committed_offset_is_kept",)),),
)
UNSET_EXPIRY_IS_NONE = version_flag(
    "unset_expiry_is_none",
    "KAFKA-8069 (2.2.0): an offset that was written below inter.broker.protocol.version 2.1 without an expiry has none "
    "after a load; in 2.1 it had expired",
    {"2.1.0": False, "2.2.0": True},
    before=True,
    closes="while brokers are upgraded to 2.1, a new coordinator does not take each offset for expired",
    source="KAFKA-8069 (2.2.0)",
    trials=(
        Trial(
            "consumer-group-retention-after-a-move",
            ("young_offset_is_kept",),
            variant="2.1.0",
            flags={"old_records": True},
        ),
    ),
)
STATE_TIME_IS_LOADED = version_flag(
    "state_time_is_loaded",
    "KAFKA-10401 (2.6.1): a load has the time since which a group is Empty; since 2.3.0, and until then, each offset "
    "of a loaded group expired by the time of its own commit",
    {"2.3.0": False, "2.6.1": True},
    before=True,
    closes="after a move of the coordinator, an offset is kept for the retention period since the group is Empty",
    source="KAFKA-10401 (2.6.1)",
    trials=(Trial("consumer-group-retention-after-a-move", ("offset_is_kept_from_empty_on",)),),
)
LOAD_ENDS_AT_GAP = version_flag(
    "load_ends_at_gap",
    "KAFKA-9065 (2.4.1): a load ends where nothing more is read; before, it never ended if the records before the end "
    "of the log were compacted away, and those after them truncated",
    {"2.4.1": True},
    closes="a new coordinator loads a log whose last records were compacted away",
    source="KAFKA-9065 (2.4.1)",
    trials=(Trial("consumer-group-compaction-there-and-back", ("partition_is_consumed",)),),
)
COMPACT_BELOW_HIGH_WATERMARK = version_flag(
    "compact_below_high_watermark",
    "KAFKA-13194 (3.1.0): the log cleaner does not clean above the last stable offset; before, it cleaned all but the "
    "active segment, and a commit could go for a later one that was then truncated",
    {"3.1.0": True},
    closes="a coordinator that leads again has every commit that was acknowledged",
    source="KAFKA-13194 (3.1.0)",
    trials=(Trial("consumer-group-compaction-there-and-back", ("committed_offset_is_kept",)),),
)
BUFFER_GROWS = version_flag(
    "buffer_grows",
    "KAFKA-7286 (2.0.1): the buffer of a load grows to the size of a record; before, a load never ended at a record "
    "that is larger than offsets.load.buffer.size",
    {"2.0.1": True},
    closes="a new coordinator loads a record that is larger than offsets.load.buffer.size",
    source="KAFKA-7286 (2.0.1)",
    trials=(Trial("consumer-group", ("partition_is_consumed",), bounds={"consumers": 1, "large_group": 1}),),
)
SHORT_ISR_IS_RETRIABLE = version_flag(
    "short_isr_is_retriable",
    "KAFKA-3590 (0.10.1.0): while fewer replicas are in sync than min.insync.replicas, a coordinator answers with "
    "COORDINATOR_NOT_AVAILABLE, and members ask again; before, with NOT_ENOUGH_REPLICAS, which they did not expect",
    {"0.10.1": True},
    closes="consumers live on while __consumer_offsets has too few in-sync replicas",
    source="KAFKA-3590 (0.10.1.0)",
    trials=(Trial("consumer-group-short-of-replicas", ("short_isr_ends_no_consumer",)),),
)
EMPTY_PROTOCOLS_ARE_REFUSED = version_flag(
    "empty_protocols_are_refused",
    "KAFKA-6005 (1.0.0): a group without members refuses a member that names no protocol; before, it took the member, "
    "and refused all others",
    {"1.0.0": True},
    closes="a client that names no protocol keeps no others out of its group",
    source="KAFKA-6005 (1.0.0)",
    trials=(Trial("consumer-group-without-protocol", ("named_protocol_is_accepted",)),),
)
RETENTION_IS_A_LONG = version_flag(
    "retention_is_a_long",
    "KAFKA-4472 (0.10.1.1): the retention of offsets is computed with 64-bit integers; before, one of more than 68 "
    "years was negative",
    {"0.10.1.1": True},
    closes="offsets do not expire that are to be kept for good",
    source="KAFKA-4472 (0.10.1.1): GroupCoordinator.offsetConfig",
    trials=(Trial("consumer-group-retention-for-good", ("committed_offset_is_kept",), variant="0.10.1"),),
)
LONG_METADATA_IS_NOT_PENDING = version_flag(
    "long_metadata_is_not_pending",
    "KAFKA-16371 (3.7.1): a commit that is refused for its metadata is not pending; before, it was until the "
    "coordinator moved, if the same request had another one that was accepted",
    {"3.7.1": True},
    closes="a commit that was refused does not hold up the fetches and the expiry of its partition",
    source="KAFKA-16371 (3.7.1)",
    trials=(Trial("consumer-group-long-metadata", ("pending_commit_is_on_its_way",), variant="3.9.0"),),
)
APPEND_TIME_IS_SET_BY_LEADERS = version_flag(
    "append_time_is_set_by_leaders",
    "KAFKA-4861 (0.10.2.1): a coordinator appends with CreateTime, which a leader converts; in 0.10.2.0 with "
    "LogAppendTime if __consumer_offsets has it, which the leader refused",
    {"0.10.2": False, "0.10.2.1": True},
    before=True,
    closes="consumers can commit while __consumer_offsets has message.timestamp.type=LogAppendTime",
    source="KAFKA-4861 (0.10.2.1)",
    trials=(Trial("consumer-group-append-time", ("lone_commit_is_accepted",), variant="0.10.2"),),
)
LONE_COMMITS_ARE_ACCEPTED = version_flag(
    "lone_commits_are_accepted",
    "KAFKA-14201 (3.3.0): a consumer with a group.instance.id may commit without having joined the group, as any other "
    "may; since 3.0.0, and before, it was not known",
    {"3.0.0": False, "3.3.0": True},
    before=True,
    closes="a consumer that chooses its partitions itself can commit, also with a group.instance.id",
    source="KAFKA-14201 (3.3.0)",
    trials=(Trial("consumer-group-without-members", ("lone_commit_is_accepted",), variant="3.2.3"),),
)
TRANSACTIONAL_COMMITS_ARE_VERIFIED = version_flag(
    "transactional_commits_are_verified",
    "KIP-890, KAFKA-15449 (3.7.0): a coordinator accepts a transactional commit of an ongoing transaction only; since "
    "0.11.0, and before, one that came after the end of its transaction was pending for good",
    {"3.7.0": True},
    closes="an offset of a transaction that has ended can be read, and the log cleaner passes it",
    source="KAFKA-15449 (3.7.0)",
    trials=(Trial("consumer-group-transactional-commit", ("pending_offset_is_of_a_transaction",)),),
)
MEMBER_ID_IS_REQUIRED = version_flag(
    "member_id_is_required",
    "KIP-394, KAFKA-7824 (2.2.0): a consumer is told its member id before it may join; before, one that joined again "
    "as it had no answer was another member, until the end of the rebalance (KAFKA-7610: since 2.1.1 for five minutes)",
    {"2.2.0": True},
    closes="a consumer that joins again and again is one member",
    source="KIP-394 (2.2.0)",
    trials=(Trial("consumer-group-join-timeout", ("group_has_no_more_members_than_consumers",)),),
)
MAX_SIZE_IS_ENFORCED = version_flag(
    "max_size_is_enforced",
    "KAFKA-7641 (2.2.0): a group has no more members than group.max.size",
    {"2.2.0": True},
    closes="an operator can limit the size of groups",
    source="KAFKA-7641 (2.2.0)",
    trials=(Trial("consumer-group-maximum-size", ("group_stays_within_its_maximum",)),),
)
JOIN_CREATES_OR_CHECKS = version_flag(
    "join_creates_or_checks",
    "KAFKA-9844 (2.6.0): a JoinGroup creates a group or looks at its size at one time; before, one that found no group "
    "did not look at the size of a group that another one had created meanwhile",
    {"2.6.0": True},
    closes="two consumers that create a group at a time do not exceed group.max.size",
    source="KAFKA-9844 (2.6.0)",
    trials=(Trial("consumer-group-maximum-size", ("group_stays_within_its_maximum",)),),
)
LAST_MEMBERS_ARE_EVICTED = version_flag(
    "last_members_are_evicted",
    "KAFKA-9885 (2.6.0): of a group that is larger than group.max.size the last members that join again are removed; "
    "before, the first ones, and others again by the next coordinator",
    {"2.6.0": True},
    closes="a group that is larger than group.max.size keeps that many members while its coordinator moves",
    source="KAFKA-9885 (2.6.0)",
    trials=(Trial("consumer-group-over-its-maximum", ("group_keeps_its_maximum",)),),
)
NEW_MEMBERS_EXPIRE = version_flag(
    "new_members_expire",
    "KAFKA-9752 (2.5.0): a member's session is watched from the end of its first rebalance on; in 2.4.1, from its next "
    "request on, so that one that died while it joined stayed for good",
    {"2.4.1": False, "2.5.0": True},
    before=True,
    closes="a consumer that dies while it joins is removed from its group",
    source="KAFKA-9752 (2.5.0); the mistake came with KAFKA-9232 (2.4.1)",
    trials=(
        Trial(
            "consumer-group-stalled-member",
            ("rebalance_ends",),
            variant="2.4.1",
            bounds={"pauses": 0, "consumer_stops": 1},
        ),
        Trial("consumer-group-removal", ("dead_member_is_removed",), variant="2.4.1"),
    ),
)
STATIC_MEMBERSHIP = version_flag(
    "static_membership",
    "KIP-345 (2.3.0): a member with a group.instance.id that starts again takes the place of its earlier member id",
    {"2.3.0": True},
    closes="a consumer that starts again within its session timeout causes no rebalance",
    source="KIP-345 (2.3.0)",
    trials=(
        Trial("consumer-group-static-member", ("static_member_returns",)),
        Trial(
            "consumer-group-static-member",
            ("static_member_is_not_fenced",),
            about="the price: a member id that is not in the log yet is fenced by the next coordinator",
        ),
    ),
)
LOADED_MEMBERS_ARE_STATIC = version_flag(
    "loaded_members_are_static",
    "from 2.3.0 on a load took each member for a static one; until KAFKA-10497 (2.8.0), which rewrote how records are "
    "read",
    {"2.3.0": True, "2.8.0": False},
)
FLAGS.fix(
    LOADED_MEMBERS_ARE_STATIC,
    name="loaded_members_are_dynamic",
    off=True,
    on=False,
    closes="a member that does not join in time leaves its group, also after a move of the coordinator",
    source="KAFKA-10497 (2.8.0); the mistake came with KIP-345 (2.3.0)",
    trials=(Trial("consumer-group-late-join", ("late_member_gets_no_partition",), variant="2.4.1"),),
)
OLD_CONSUMERS_GET_THEIR_SESSION = version_flag(
    "old_consumers_get_their_session",
    "KAFKA-8653 (2.3.1): a rebalance waits for a consumer of 0.9 or 0.10.0, which sends no rebalance timeout, as long "
    "as its session; in 2.3.0 it did not wait at all",
    {"2.3.0": False, "2.3.1": True},
    before=True,
    closes="consumers of 0.9 and 0.10.0 have time to join again",
    source="KAFKA-8653 (2.3.1); the mistake came with KAFKA-7858 (2.3.0)",
    trials=(Trial("consumer-group-without-rebalance-timeout", ("member_that_answers_is_not_removed",), variant="2.3"),),
)
STATIC_IDS_ARE_RANDOM = version_flag(
    "static_ids_are_random",
    "KAFKA-8715 (2.3.1): the member id of a static member has a random part; in 2.3.0, the time since which its group "
    "is in its state, without which, as after a load, its JoinGroup failed",
    {"2.3.0": False, "2.3.1": True},
    before=True,
    closes="a static member that starts again is accepted by a coordinator that has loaded its group",
    source="KAFKA-8715 (2.3.1)",
    trials=(Trial("consumer-group-static-member", ("static_member_can_join",), variant="2.3"),),
)
STATIC_REJOIN_REBALANCES = version_flag(
    "static_rejoin_rebalances",
    "KAFKA-9801 (2.5.0): a static member that starts again while the group is completing a rebalance causes another "
    "one; before, its new member id was not in the assignment that the leader was making",
    {"2.5.0": True},
    closes="a static member that starts again during a rebalance gets its part of the assignment",
    source="KAFKA-9801 (2.5.0)",
    trials=(Trial("consumer-group-static-member", ("partition_is_consumed",)),),
)
STATIC_REJOIN_IS_STORED = version_flag(
    "static_rejoin_is_stored",
    "KAFKA-10284 (2.6.1): the new member id of a static member that starts again is written to the log",
    {"2.6.1": True},
    closes="the next coordinator knows the member id of a static member that has started again",
    source="KAFKA-10284 (2.6.1)",
    trials=(Trial("consumer-group-static-member", ("settled_static_member_is_not_fenced",)),),
)
OLD_LEADERS_ARE_ANSWERED = version_flag(
    "old_leaders_are_answered",
    "KAFKA-14422 (3.3.2, 3.4.0): the answer to a leader of a release before 2.3 leaves out which members are static; "
    "since 2.3 and until then, it could not be written, and the rebalance did not end",
    {"2.3.0": False, "3.3.2": True},
    before=True,
    closes="a group whose leader does not know static members gets one",
    source="KAFKA-14422 (3.3.2, 3.4.0)",
    trials=(Trial("consumer-group-old-leader", ("rebalance_ends",)),),
)
LEADER_SKIPS_ASSIGNMENT = version_flag(
    "leader_skips_assignment",
    "KIP-814, KAFKA-13435 (3.2.0): a static leader that starts again reads that it leads, and that it is to make no "
    "assignment; before, it read its earlier member id as leader's",
    {"3.2.0": True},
    closes="a static leader that has started again notices partitions that are added to its topics",
    source="KIP-814 (3.2.0)",
    trials=(Trial("consumer-group-static-member", ("leader_knows_that_it_leads",)),),
)
REMOVED_MEMBERS_ARE_NOT_WATCHED = version_flag(
    "removed_members_are_not_watched",
    "KAFKA-7196 (2.0.1): the heartbeat of a member that did not join in time is not awaited any more; before, the "
    "group rebalanced again when it did not come",
    {"2.0.1": True},
    closes="a group does not rebalance once more for a member that it has removed",
    source="KAFKA-7196 (2.0.1)",
    trials=(Trial("consumer-group-late-expiration", ("rebalance_has_a_reason",)),),
)
HEARTBEAT_WHILE_COMPLETING = version_flag(
    "heartbeat_while_completing",
    "KAFKA-10134 (2.6.1): heartbeats keep a member alive while the group is completing a rebalance",
    {"2.6.1": True},
    closes="a member whose SyncGroup is late is not removed while it sends heartbeats",
    source="KAFKA-10134 (2.6.1)",
    trials=(
        Trial("consumer-group-late-sync", ("heartbeats_keep_a_member",), variant="2.3"),
        Trial(
            "consumer-group-stalled-member",
            ("rebalance_ends",),
            variant="2.3",
            about="the price: a member that never sends SyncGroup is not removed either",
        ),
    ),
)
PENDING_SYNC_EXPIRES = version_flag(
    "pending_sync_expires",
    "KAFKA-12890 (2.8.1): a member that does not send SyncGroup within the rebalance timeout is removed",
    {"2.8.1": True},
    closes="a rebalance ends although a member sends heartbeats and no SyncGroup",
    source="KAFKA-12890 (2.8.1)",
    trials=(Trial("consumer-group-stalled-member", ("rebalance_ends",)),),
)
DEAD_GROUPS_ARE_RETRIABLE = version_flag(
    "dead_groups_are_retriable",
    "KAFKA-8386 (2.3.0): a request that finds its group Dead, as it is unloaded, is answered with "
    "COORDINATOR_NOT_AVAILABLE; before, with UNKNOWN_MEMBER_ID",
    {"2.3.0": True},
    closes="a member keeps its member id while its coordinator moves",
    source="KAFKA-8386 (2.3.0)",
    trials=(Trial("consumer-group-waiting-heartbeat", ("moved_member_keeps_its_id",)),),
)
COMPLETIONS_WAIT_FOR_LOCKS = version_flag(
    "completions_wait_for_locks",
    "KAFKA-8334 (2.7.0): the thread that has replicated what a group has appended waits for the lock of the group; "
    "since 1.0.0, and until then, it gave up if a request held the lock, and nobody answered before the time was up",
    {"1.0.0": False, "2.7.0": True},
    before=True,
    closes="a commit, and an assignment, is answered when all replicas have its record",
    source="KAFKA-8334 (2.7.0); the mistake came with KAFKA-5970 and KAFKA-5758 (1.0.0)",
    trials=(Trial("consumer-group-busy-lock", ("replicated_append_is_answered",)),),
)
CLEANUP_APPENDS_WITHOUT_LOCK = version_flag(
    "cleanup_appends_without_lock",
    "KAFKA-4399 (0.10.1.1): tombstones of expired offsets are appended after the lock of their group is given back",
    {"0.10.1.1": True},
    closes="offsets that expire, and commits that are answered meanwhile, do not wait for each other",
    source="KAFKA-4399 (0.10.1.1)",
    trials=(Trial("consumer-group-expiration-amid-a-commit", ("requests_are_answered",), variant="0.10.1"),),
)
WATCHERS_HAVE_NO_LOCK = version_flag(
    "watchers_have_no_lock",
    "KAFKA-3994 (0.10.1.1): a thread that completes what waits for replicas does not lock the list of that meanwhile",
    {"0.10.1.1": True},
    closes="a group that loses its last member, and commits that are answered meanwhile, do not wait for each other",
    source="KAFKA-3994 (0.10.1.1)",
    trials=(Trial("consumer-group-empty-amid-a-commit", ("requests_are_answered",), variant="0.10.1"),),
)
OPERATION_LOCK = version_flag(
    "operation_lock",
    "the lock of a commit that waits for its replicas: its own; that of its group (0.11.0.0), under which offsets and "
    "assignments are appended since then; the same, and a thread that does not get it goes on (KAFKA-5970, KAFKA-6042: "
    "0.11.0.2, 1.0.0); the same, which is waited for, but never under the lock of another group (KAFKA-8334: 2.7.0)",
    {
        "0.11.0.0": "the group's",
        "0.11.0.2": "the group's, if free",
        "2.7.0": "the group's, after the append",
    },
    before="its own",
    closes="threads that append for groups, and complete what waits, do not wait for each other",
    source="KAFKA-5970, KAFKA-6042 (0.11.0.2, 1.0.0), KAFKA-8334 (2.7.0)",
    trials=(Trial("consumer-groups-of-one-partition", ("requests_are_answered",), variant="0.11.0.0"),),
)
TRANSACTIONS_COMPLETE_LATER = version_flag(
    "transactions_complete_later",
    "KAFKA-6917 (1.0.2, 1.1.1, 2.0.0): what a marker's operation does under the group's lock is left to another thread",
    {"1.0.2": True, "1.1.0": False, "1.1.1": True},
    closes="threads that append for a group, and end transactions of another, do not wait for each other",
    source="KAFKA-6917 (1.0.2, 1.1.1, 2.0.0)",
    trials=(Trial("consumer-groups-of-ended-transactions", ("requests_are_answered",), variant="1.0"),),
)
UNKNOWN_RECORDS_ARE_SKIPPED = version_flag(
    "unknown_records_are_skipped",
    "KIP-915, KAFKA-14869 (3.4.1): a load leaves out records of a type that it does not know; before, it failed at the "
    "first one, and the coordinator went on without any group of the partition",
    {"3.4.1": True},
    closes="after a downgrade a coordinator has the groups and offsets of its partition",
    source="KIP-915 (3.4.1, 3.5.0)",
    trials=(Trial("consumer-group-downgrade", ("committed_offset_is_kept",)),),
)
COORDINATOR_EPOCH = version_flag(
    "coordinator_epoch",
    "KAFKA-10614 (2.8.1): loading and unloading are refused if one of a higher leader epoch has been done",
    {"2.8.1": True},
    closes="a load and an unload that are scheduled in the other order leave the leader with the partition loaded",
    source="KAFKA-10614 (2.8.1)",
    trials=(
        Trial("consumer-group-there-and-back", ("partition_is_consumed",)),
        Trial(
            "consumer-group-there-and-back",
            ("committed_offset_is_kept",),
            about="the load is skipped where the partition is still owned, and the unload is refused as an old one",
        ),
    ),
)
ONE_CLAIM_IS_KEPT = version_flag(
    "one_claim_is_kept",
    "KAFKA-12984 (2.8.1, 3.0.0): a partition that two members claim is assigned to one of them at most; since 2.5.1 "
    "(KAFKA-9987), and until then, to both, if all members have equal subscriptions",
    {"2.5.1": False, "2.8.1": True},
    before=True,
    closes="a settled partition has one consumer",
    source="KAFKA-12984 (2.8.1, 3.0.0): AbstractStickyAssignor.constrainedAssign",
    trials=(Trial("consumer-group-cooperative", ("settled_partition_has_one_consumer",), variant="2.8.0"),),
)
JOINS_ARE_PREPARED_AGAIN = version_flag(
    "joins_are_prepared_again",
    "KAFKA-12983 (2.7.2, 2.8.1, 3.0.0): a consumer that learns from JoinGroup or SyncGroup that it was removed loses "
    "its partitions before it joins again; before, it claimed them",
    {"2.7.2": True, "2.8.0": False, "2.8.1": True},
    closes="a settled partition has one consumer",
    source="KAFKA-12983 (2.7.2, 2.8.1, 3.0.0): AbstractCoordinator.resetStateAndRejoin",
    trials=(Trial("consumer-group-cooperative", ("settled_partition_has_one_consumer",), variant="2.8.0"),),
)
CLAIMS_HAVE_GENERATIONS = version_flag(
    "claims_have_generations",
    "KAFKA-12984 (2.8.1, 3.0.0): the cooperative sticky assignor heeds what members of the last generation claim; "
    "before, what any member claimed",
    {"2.8.1": True},
    closes="of two members that claim a partition the one of the later generation keeps it",
    source="KAFKA-12984 (2.8.1, 3.0.0): CooperativeStickyAssignor.memberData",
    trials=(Trial("consumer-group-cooperative", ("last_consumer_keeps_its_partition",), variant="2.4.1"),),
)
STICKY_ASSIGNMENTS_ARE_TRUSTED = version_flag(
    "sticky_assignments_are_trusted",
    "KAFKA-13406 (2.8.2, 3.0.1, 3.1.0): a leader does not look whether the cooperative sticky assignor has moved what "
    "members claim, whose claims that may not heed; before, it ended with IllegalStateException",
    {"2.8.2": True, "3.0.0": False, "3.0.1": True},
    closes="an assignment of the cooperative sticky assignor is not refused",
    source="KAFKA-13406 (2.8.2, 3.0.1, 3.1.0): ConsumerCoordinator.performAssignment",
    trials=(Trial("consumer-group-cooperative", ("assignment_is_accepted",), variant="2.8.1"),),
)
OLDER_CLAIMS_COUNT = version_flag(
    "older_claims_count",
    "KAFKA-14639 (3.4.1, 3.5.0): the assignor heeds the claim of an earlier generation if nobody claims the partition "
    "in a later one; before, another member got it before it was revoked",
    {"3.4.1": True},
    closes="a partition is revoked before another member of the group consumes it",
    source="KAFKA-14639 (3.4.1, 3.5.0): AbstractStickyAssignor.allSubscriptionsEqual",
    trials=(Trial("consumer-group-cooperative", ("partition_is_revoked_first",), variant="3.4.0"),),
)
FAILED_SYNCS_KEEP_GENERATIONS = version_flag(
    "failed_syncs_keep_generations",
    "KAFKA-13891, taken back (3.3.2, 3.4.0): a consumer keeps its partitions, if another rebalance begins before it "
    "has its assignment; in 3.3.0 and 3.3.1 it lost them",
    {"3.3.0": False, "3.3.2": True},
    before=True,
    closes="a consumer that is in the group keeps its partition until that is assigned to another",
    source="PR-12794 (3.3.2, 3.4.0): SyncGroupResponseHandler",
    trials=(Trial("consumer-group-cooperative", ("partition_is_kept_for_its_consumer",), variant="3.3.1"),),
)
REVOCATIONS_END_FETCHES = version_flag(
    "revocations_end_fetches",
    "KAFKA-14196 (3.2.3, 3.3.0): a consumer gets no records of a partition while the commit before its revocation is "
    "on its way; since 3.2.0 (KAFKA-13310), and until then, it did",
    {"3.2.0": False, "3.2.3": True},
    before=True,
    closes="what a consumer with enable.auto.commit has processed is committed before it revokes",
    source="KAFKA-14196 (3.2.3, 3.3.0): ConsumerCoordinator.maybeMarkPartitionsPendingRevocation",
    trials=(Trial("consumer-that-revokes", ("processed_records_are_committed",), variant="3.2.2"),),
)
RACKS_LEAVE_TIME_TO_REVOKE = version_flag(
    "racks_leave_time_to_revoke",
    "KAFKA-15170 (3.7.1, 3.8.0): a partition that its consumer does not keep, as its replicas are in another rack, is "
    "revoked before another one gets it; since 3.5.0 and until then, both had it for a while",
    {"3.5.0": False, "3.7.1": True},
    before=True,
    closes="a partition is revoked before another member of the group consumes it",
    source="KAFKA-15170 (3.7.1, 3.8.0): ConstrainedAssignmentBuilder.assignOwnedPartitions",
    trials=(Trial("consumer-group-cooperative-racks", ("partition_is_revoked_first",), variant="3.6.2"),),
)
JOINS_LOOK_AT_GENERATIONS = version_flag(
    "joins_look_at_generations",
    "KAFKA-8104 (2.4.0): a consumer whose heartbeat thread has left the group, or was told that it is no member, "
    "before its join was complete joins again; before, each poll ended with IllegalStateException",
    {"2.4.0": True},
    closes="a join that is answered is completed with a generation",
    source="KAFKA-8104 (2.4.0): AbstractCoordinator.joinGroupIfNeeded",
    trials=(Trial("consumer-with-two-threads", ("join_is_completed",), variant="2.3"),),
)
CONNECTIONS_ARE_SHARED_IN_TURN = version_flag(
    "connections_are_shared_in_turn",
    "KAFKA-6593 (1.0.2, 1.1.0): the threads of a consumer have its connections in turn; before, the application's "
    "thread could have them again and again, while the heartbeat thread waited",
    {"1.0.2": True},
    closes="a consumer that waits for an answer sends heartbeats",
    source="KAFKA-6593 (1.0.2, 1.1.0): ConsumerNetworkClient.lock",
    trials=(Trial("consumer-that-waits", ("waiting_consumer_stays",), variant="1.0"),),
)
POLLS_END_FOR_HEARTBEATS = version_flag(
    "polls_end_for_heartbeats",
    "KAFKA-5212 (1.1.0): a consumer that waits for an answer has its connections no longer than "
    "heartbeat.interval.ms; before, for five seconds",
    {"1.1.0": True},
    closes="a consumer that waits for an answer sends heartbeats",
    source="KAFKA-5212 (1.1.0): ConsumerNetworkClient.maxPollTimeoutMs",
    trials=(
        Trial(
            "consumer-that-waits",
            ("waiting_consumer_stays",),
            variant="1.0.2",
            bounds={"session_seconds": 6, "interval_seconds": 2},
        ),
    ),
)
DELETED_TOPICS_ARE_LEFT_OUT = version_flag(
    "deleted_topics_are_left_out",
    "KAFKA-7962 (2.3.0): StickyAssignor leaves out topics that are deleted; before, it ended with "
    "NullPointerException while a member had subscribed to one",
    {"2.3": True},
    closes="a group is assigned what there is",
    source="KAFKA-7962 (2.3.0): StickyAssignor.assign",
    trials=(Trial("sticky-assignor-and-a-deleted-topic", ("other_topics_are_assigned",), variant="2.1.0"),),
)
OWNED_PARTITIONS_ARE_SORTED = version_flag(
    "owned_partitions_are_sorted",
    "KAFKA-16277 (3.7.1, 3.8.0): a consumer keeps partitions of all topics alike, as another one joins; before, the "
    "first ones in the order of a hash table, which may be of one topic",
    {"3.7.1": True},
    closes="each of two consumers has partitions of each topic",
    source="KAFKA-16277 (3.7.1, 3.8.0): ConstrainedAssignmentBuilder.assignOwnedPartitions",
    trials=(Trial("sticky-assignor-and-two-topics", ("topics_are_spread",), variant="3.6.2"),),
)
RACKS_LEAVE_PLACES = version_flag(
    "racks_leave_places",
    "KAFKA-15170 (3.7.1, 3.8.0): consumers that get one partition more than others, in their rack, are counted; since "
    "3.5.0 and until then, so many got one that others had none, and the assignment ended with IllegalStateException",
    {"3.5.0": False, "3.7.1": True},
    before=True,
    closes="each consumer has its partitions",
    source="KAFKA-15170 (3.7.1, 3.8.0): ConstrainedAssignmentBuilder.assignRackAwareRoundRobin",
    trials=(Trial("sticky-assignor-and-racks", ("every_consumer_has_a_partition",), variant="3.6.2"),),
)


# Fixes that no release has.

STALE_CACHE_IS_FENCED = candidate(
    "stale_cache_is_fenced",
    "a coordinator answers only from what it loaded in its present leader epoch, as if it had unloaded the rest",
    closes="a coordinator that leads again does not answer from what it cached when it led before",
    source="no release",
    trials=(
        Trial("consumer-group-slow-unload", ("only_the_last_generation_commits",)),
        Trial("consumer-group-there-and-back", ("committed_offset_is_kept",)),
    ),
)
STATIC_MEMBERS_CHANGE_TIMEOUTS = version_flag(
    "static_members_change_timeouts",
    "KAFKA-14009 (3.3.2): a static member that starts again gets the session and rebalance timeouts that it sends; "
    "before, those of its first JoinGroup stayed",
    {"3.3.2": True},
    closes="a static member is waited for as long as it asks for",
    source="KAFKA-14009 (3.3.2): GroupMetadata.updateMember",
    trials=(
        Trial("consumer-group-changed-timeouts", ("static_member_is_kept_for_its_session",), variant="2.8.2"),
        Trial("consumer-group-changed-timeouts", ("static_member_goes_after_its_session",), variant="2.8.2"),
    ),
)
OFFSETS_WAIT_FOR_BROKERS = version_flag(
    "offsets_wait_for_brokers",
    "KAFKA-3959, KIP-115 (0.11.0.0): __consumer_offsets is created when there are brokers enough for its "
    "replicas; before, with as many as there were",
    {"0.11.0.0": True},
    closes="committed offsets have the replicas that are configured",
    source="KAFKA-3959 (0.11.0.0): KafkaApis.createGroupMetadataTopic",
    trials=(Trial("consumer-group-first-of-a-cluster", ("offsets_have_their_replicas",), variant="0.10.2"),),
)
OFFSETS_HAVE_THEIR_CONFIGURATION = version_flag(
    "offsets_have_their_configuration",
    "KAFKA-3718 (0.10.0.1): __consumer_offsets is created with offsets.topic.segment.bytes and the other values "
    "of the broker; before, with their defaults",
    {"0.10.0.1": True},
    closes="__consumer_offsets has what is configured",
    source="KAFKA-3718 (0.10.0.1): GroupCoordinator.offsetsTopicConfigs",
    trials=(Trial("consumer-group-first-of-a-cluster", ("offsets_have_their_configuration",), variant="0.10.0"),),
)
MEMBERS_HAVE_THEIR_METADATA = version_flag(
    "members_have_their_metadata",
    "KAFKA-9150 (2.4.0): DescribeGroups has the subscription of a member as its metadata; in 2.3, its assignment",
    {"2.3.0": False, "2.4.0": True},
    before=True,
    closes="who describes a group sees what its members subscribe to",
    source="KAFKA-9150 (2.4.0): KafkaApis.handleDescribeGroupRequest",
    trials=(Trial("consumer-group-and-its-clients", ("described_member_has_its_subscription",), variant="2.3"),),
)
LOST_VERIFICATIONS_ARE_REPEATED = version_flag(
    "lost_verifications_are_repeated",
    "KAFKA-16386 (3.7.1): a transactional commit whose verification is lost with a connection gets "
    "COORDINATOR_LOAD_IN_PROGRESS; in 3.7.0, the first release that verifies commits, NETWORK_EXCEPTION, which "
    "producers of earlier releases do not expect",
    {"3.7.0": False, "3.7.1": True},
    before=True,
    closes="a transactional producer outlives a lost connection between brokers",
    source="KAFKA-16386 (3.7.1): GroupMetadataManager.maybeConvertOffsetCommitError",
    trials=(Trial("consumer-group-and-its-clients", ("commit_can_be_sent_again",), variant="3.7.0"),),
)
OFFSETS_HAVE_ONE_PATH = version_flag(
    "offsets_have_one_path",
    "PR-5060 (1.1.1): offsets in ZooKeeper are at /consumers/…/offsets; in 1.1.0, at /consumers/…/offset",
    {"1.1.0": False, "1.1.1": True},
    before=True,
    closes="consumers of 0.8 find what they have committed",
    source="https://github.com/apache/kafka/pull/5060 (1.1.1): ConsumerOffset.path",
    trials=(Trial("consumer-group-in-zookeeper", ("offset_in_zookeeper_is_found",), variant="1.1.0"),),
)
PENDING_OFFSETS_DO_NOT_EXPIRE = candidate(
    "pending_offsets_do_not_expire",
    "no offset of a partition expires while one is pending in a transaction; in all releases to 3.9 it does, and its "
    "tombstone may outlive the offset of the transaction",
    closes="an offset that a transaction has committed is kept",
    source="none; OffsetMetadataManager.cleanupExpiredOffsets of KIP-848 looks for pending ones",
    trials=(
        Trial(
            "consumer-group-expiration-amid-a-transaction",
            ("committed_offset_outlives_a_cleaning",),
            variant="3.9.0",
        ),
    ),
)
REMOVAL_WAITS = candidate(
    "removal_waits",
    "a group's removal waits until its tombstones are in all in-sync replicas, as commits do",
    closes="a group that was removed does not come back",
    source="no release",
    trials=(
        Trial("consumer-group-removal", ("deleted_group_stays_deleted",)),
        Trial("consumer-group-removal", ("removed_group_stays_removed",)),
    ),
)

# The grain.

STATIC_MEMBERS = grain_flag("static_members", "consumers have a group.instance.id, and send no LeaveGroup")
CONCURRENT_REQUESTS = grain_flag(
    "concurrent_requests",
    "two LeaderAndIsr requests, of two controllers, are handled at a time, so that loading and unloading may be "
    "scheduled in the other order",
)
OLD_RECORDS = grain_flag(
    "old_records",
    "inter.broker.protocol.version is below 2.1: the records of groups have no time of their state, and those of "
    "offsets have a field for their expiry",
)

DEAD_GROUPS_END_TIMERS = version_flag(
    "dead_groups_end_timers",
    "KAFKA-8896 (2.2.2, 2.3.1): a timer whose copy of the group is Dead ends at the next heartbeat, and removes nobody",
    {"2.2.2": True, "2.3.0": False, "2.3.1": True},
    closes="a heartbeat is answered after the coordinator has moved there and back",
    source="KAFKA-8896 (2.2.2, 2.3.1): GroupCoordinator.tryCompleteHeartbeat",
    trials=(Trial("consumer-group-leftover-timers", ("heartbeat_is_answered",), variant="2.3"),),
)
ENDS_OF_TRANSACTIONS_ARE_WAITED_FOR = version_flag(
    "ends_of_transactions_are_waited_for",
    "KAFKA-17507 (3.9.1): a transactional producer is told of the end of its transaction once the "
    "coordinator of its group has taken the offsets over; since KAFKA-6917 (1.0.2, 1.1.1, 2.0.0), before another "
    "thread does so",
    {"1.0.2": False, "1.1.0": True, "1.1.1": False, "3.9.1": True},
    before=True,
    closes="an offset that was committed in a transaction is told",
    source="KAFKA-17507 (3.9.1): KafkaApis.handleWriteTxnMarkersRequest",
    trials=(
        Trial(
            "consumer-group-of-consecutive-transactions", ("offset_of_an_ended_transaction_is_known",), variant="3.9.0"
        ),
    ),
)
JOINS_END_TIMERS = version_flag(
    "joins_end_timers",
    "KAFKA-9232 (2.4.1): the timer of a new member ends with its first join, also if that is of a version up to 3",
    {"2.4.1": True},
    closes="a heartbeat is answered after the coordinator has moved there and back",
    source="KAFKA-9232 (2.4.1): MemberMetadata.shouldKeepAlive",
    trials=(Trial("consumer-group-leftover-timers", ("heartbeat_is_answered",), variant="2.3"),),
)
FAILED_LOOKUPS_ARE_CLEARED = version_flag(
    "failed_lookups_are_cleared",
    "KAFKA-10793 (2.6.2, 2.7.1, 2.8.0): a consumer forgets a request for its coordinator that has failed; before, not "
    "one that had failed as the heartbeat thread sent it, for which both threads then waited for good",
    {"2.6.2": True, "2.7.0": False, "2.7.1": True},
    closes="a consumer finds its coordinator again",
    source="KAFKA-10793 (2.6.2, 2.7.1, 2.8.0): AbstractCoordinator.ensureCoordinatorReady",
    trials=(Trial("consumer-that-seeks-its-coordinator", ("failed_lookup_is_repeated",), variant="2.4.1"),),
)
COMMITS_SEEK_THEIR_COORDINATOR = version_flag(
    "commits_seek_their_coordinator",
    "KAFKA-6362 (1.1.0): a consumer that assigns partitions to itself, and commits with enable.auto.commit, looks for "
    "its coordinator when it does not know it; before, it did not, and committed no more",
    {"1.1.0": True},
    closes="a consumer that assigns partitions to itself commits after its coordinator has moved",
    source="KAFKA-6362 (1.1.0): ConsumerCoordinator.maybeAutoCommitOffsetsAsync",
    trials=(Trial("consumer-that-commits-by-itself", ("commit_finds_its_coordinator",), variant="1.0"),),
)
ANSWERED_LOOKUPS_ARE_CLEARED = version_flag(
    "answered_lookups_are_cleared",
    "KAFKA-13563 (3.1.1, 3.2.0): such a consumer asks again for its coordinator after that has moved once more; since "
    "KAFKA-10793 (2.6.2, 2.7.1, 2.8.0), and until then, it took the earlier answer, and committed no more",
    {"2.6.2": False, "2.7.0": True, "2.7.1": False, "3.1.1": True},
    before=True,
    closes="a consumer that assigns partitions to itself commits after its coordinator has moved",
    source="KAFKA-13563 (3.1.1, 3.2.0): ConsumerCoordinator.poll: coordinatorUnknownAndUnready",
    trials=(Trial("consumer-that-commits-by-itself", ("commit_finds_its_coordinator",)),),
)
POLLS_SEEK_NO_COORDINATOR = version_flag(
    "polls_seek_no_coordinator",
    "PR-12244 (3.1.2, 3.2.1): a consumer that assigns partitions to itself polls without a coordinator; since "
    "KAFKA-13563 (3.1.1, 3.2.0), and until then, each poll waited for one, for its whole timeout",
    {"3.1.1": False, "3.1.2": True, "3.2.0": False, "3.2.1": True},
    before=True,
    closes="a consumer that needs no coordinator polls without one",
    source="PR-12244 (3.1.2, 3.2.1): ConsumerCoordinator.poll, commitOffsetsAsync",
    trials=(Trial("consumer-that-commits-by-itself", ("poll_waits_for_no_coordinator",), variant="3.2.0"),),
)
CHANGED_SUBSCRIPTIONS_JOIN_AGAIN = version_flag(
    "changed_subscriptions_join_again",
    "KAFKA-7961 (2.3.0): a consumer whose application has subscribed to other topics before its JoinGroup is answered "
    "joins again; before, that poll ended with IllegalArgumentException",
    {"2.3.0": True},
    closes="a consumer outlives a change of its subscription",
    source="KAFKA-7961 (2.3.0): SubscriptionState.assignFromSubscribed",
    trials=(Trial("consumer-that-joins-again", ("poll_outlives_its_join",), variant="2.2"),),
)
WOKEN_CALLBACKS_HAVE_THEIR_ASSIGNMENT = version_flag(
    "woken_callbacks_have_their_assignment",
    "KAFKA-7194 (2.0.0): onPartitionsAssigned that was woken is called again with the assignment; since 0.11.0.1 "
    "(KAFKA-5611), and until then, the poll ended with BufferUnderflowException",
    {"0.11.0.1": False, "2.0.0": True},
    before=True,
    closes="a consumer outlives a callback that is woken",
    source="KAFKA-7194 (2.0.0): AbstractCoordinator.joinGroupIfNeeded: duplicate",
    trials=(
        Trial(
            "consumer-that-joins-again",
            ("poll_outlives_its_join",),
            variant="1.0",
            flags={"changed_subscriptions_join_again": True},
        ),
    ),
)
JOINS_FOLLOW_A_COMMIT = version_flag(
    "joins_follow_a_commit",
    "KAFKA-14024 (3.2.1): a consumer with enable.auto.commit and a cooperative assignor joins again when the commit "
    "before that is answered; in 3.2.0 it sent another commit then, again and again",
    {"3.2.0": False, "3.2.1": True},
    before=True,
    closes="a consumer joins a rebalance",
    source="KAFKA-14024 (3.2.1, 3.3.0): ConsumerCoordinator.onJoinPrepare: autoCommitOffsetRequestFuture",
    trials=(Trial("consumer-that-joins-again", ("commit_is_followed_by_the_join",), variant="3.2.0"),),
)
RETRIABLE_ERRORS_KEEP_IDS = version_flag(
    "retriable_errors_keep_ids",
    "KAFKA-13214 (2.7.2, 2.8.1, 3.0.0): a consumer whose connection ends as it joins again sends the same member id; "
    "since 2.7.0, and until then, none, and its member stayed in the group until its session ended",
    {"2.7.0": False, "2.7.2": True, "2.8.0": False, "2.8.1": True},
    before=True,
    closes="a group has one member of a consumer",
    source="KAFKA-13214 (2.7.2, 2.8.1, 3.0.0): AbstractCoordinator.joinGroupIfNeeded",
    trials=(Trial("consumer-that-joins-again", ("group_has_no_leftover_member",), variant="2.8.0"),),
)
SUBSCRIPTIONS_ARE_SORTED = version_flag(
    "subscriptions_are_sorted",
    "KAFKA-12898 (2.8.1, 3.0.0): a consumer that sends JoinGroup again names what it owns in the same order; since "
    "2.4.0 (KIP-429), and until then, the coordinator could take it for another subscription",
    {"2.4.0": False, "2.8.1": True},
    before=True,
    closes="a group does not rebalance as a consumer sends the same JoinGroup again",
    source="KAFKA-12898 (2.8.1, 3.0.0): ConsumerProtocol.serializeSubscription",
    trials=(Trial("consumer-that-joins-again", ("same_subscription_is_known",), variant="2.4.1"),),
)
WOKEN_CALLBACKS_ARE_REPEATED = version_flag(
    "woken_callbacks_are_repeated",
    "KAFKA-5611 (0.11.0.1, 1.0.0): onPartitionsAssigned that is woken (KafkaConsumer.wakeup) is called again by the "
    "next poll; before, it was not",
    {"0.11.0.1": True},
    closes="the callback for an assignment is called to its end",
    source="KAFKA-5611 (0.11.0.1, 1.0.0): AbstractCoordinator.joinGroupIfNeeded",
    trials=(Trial("consumer-that-joins-again", ("callback_is_called_to_its_end",), variant="0.11.0.0"),),
)
CALLBACKS_NAME_WHAT_WAS_ASSIGNED = version_flag(
    "callbacks_name_what_was_assigned",
    "onPartitionsAssigned that was woken is called again with what is assigned; since 2.4.0 (KIP-429) with what the "
    "consumer has not got yet, which is nothing, as it got that before the callback; no release repairs it",
    {"2.4.0": False},
    before=True,
    closes="an application learns what it is assigned",
    source="no release repairs it (2.4.0): ConsumerCoordinator.onJoinComplete: addedPartitions",
    trials=(Trial("callback-that-is-woken", ("assigned_partition_is_named",)),),
)
ASSIGNMENTS_ASK_FOR_OFFSETS = version_flag(
    "assignments_ask_for_offsets",
    "KAFKA-3960 (0.10.0.1): each assignment by hand has the consumer fetch committed offsets; before, only the first",
    {"0.10.0.1": True},
    closes="a consumer begins at the committed offset",
    source="KAFKA-3960 (0.10.0.1): SubscriptionState.assignFromUser",
    trials=(Trial("consumer-that-assigns-itself", ("partition_begins_at_its_commit",), variant="0.10.0"),),
)
SUBSCRIPTIONS_ARE_COMPARED = version_flag(
    "subscriptions_are_compared",
    "KAFKA-3949 (0.10.1.0): a consumer compares its subscription with that of its last JoinGroup; before, a change "
    "while it joined was forgotten",
    {"0.10.1": True},
    closes="a topic that appears while a consumer joins is consumed",
    source="KAFKA-3949 (0.10.1.0): ConsumerCoordinator.needRejoin: joinedSubscription",
    trials=(Trial("consumer-that-subscribes-again", ("subscription_is_assigned",), variant="0.10.0"),),
)
JOINS_END_WITH_THEIR_SYNC = version_flag(
    "joins_end_with_their_sync",
    "KAFKA-5154 (0.11.0.0): a consumer is to join until SyncGroup is answered; since 0.10.1.0, and until then, until "
    "JoinGroup was",
    {"0.10.1": False, "0.11.0.0": True},
    before=True,
    closes="a consumer joins whose connection ends while it waits for its assignment",
    source="KAFKA-5154 (0.11.0.0): AbstractCoordinator.initiateJoinGroup: rejoinNeeded",
    trials=(
        Trial(
            "consumer-that-subscribes-again",
            ("consumer_outside_its_group_joins",),
            variant="0.10.1",
            flags={"changes_ask_for_joins": True},
        ),
    ),
)
CHANGES_ASK_FOR_JOINS = version_flag(
    "changes_ask_for_joins",
    "KAFKA-9815 (2.5.0): a consumer whose subscription has changed is to join until it has; since 0.10.1.0, and until "
    "then, it sent JoinGroup once",
    {"0.10.1": False, "2.5.0": True},
    before=True,
    closes="a consumer joins whose subscription has changed, and whose JoinGroup fails",
    source="KAFKA-9815 (2.5.0): ConsumerCoordinator.rejoinNeededOrPending",
    trials=(Trial("consumer-that-subscribes-again", ("consumer_outside_its_group_joins",), variant="2.4.1"),),
)
METADATA_ARE_OF_THE_SUBSCRIPTION = version_flag(
    "metadata_are_of_the_subscription",
    "KAFKA-10056 (2.5.1): the leader of a group asks for metadata of the topics that it subscribes to, and of those of "
    "its group; in 2.4.1 and 2.5.0, since KAFKA-9181, of the latter only",
    {"2.4.1": False, "2.5.1": True},
    before=True,
    closes="a topic is assigned to which the leader of a group has just subscribed",
    source="KAFKA-10056 (2.5.1): SubscriptionState.metadataTopics",
    trials=(Trial("leader-that-subscribes-again", ("subscribed_topic_is_assigned",), variant="2.4.1"),),
)
SLOW_WRITES_ARE_RETRIED = version_flag(
    "slow_writes_are_retried",
    "KAFKA-10870 (2.8.0): a consumer joins again if its group could not be written in time; before, its poll failed "
    "(with brokers since 2.6.1)",
    {"2.8.0": True},
    closes="a consumer with a group.instance.id is restarted while replicas are slow",
    source="KAFKA-10870 (2.8.0): JoinGroupResponseHandler: REBALANCE_IN_PROGRESS",
    trials=(Trial("static-consumer-that-is-restarted", ("restarted_consumer_joins",), variant="2.7.0"),),
)
UNKNOWN_TOPICS_ARE_RETRIED = version_flag(
    "unknown_topics_are_retried",
    "KAFKA-6829 (2.0.0): a commit with a topic that the coordinator does not know is sent again; before, it failed",
    {"2.0": True},
    closes="a commit outlives the start of its coordinator's broker, which does not know of topics yet",
    source="KAFKA-6829 (2.0.0): OffsetCommitResponseHandler",
    trials=(Trial("consumer-of-a-deleted-topic", ("commit_of_a_topic_is_kept",), variant="1.0"),),
)
POLLS_ADVANCE_AND_RETURN = version_flag(
    "polls_advance_and_return",
    "KAFKA-8677 (2.4.0): a poll that has got records returns them, whatever its next request meets; before, an error "
    "took them",
    {"2.4.0": True},
    closes="records are returned before an error of the next request",
    source="KAFKA-8677 (2.4.0): ConsumerNetworkClient.transmitSends",
    trials=(Trial("consumer-that-polls", ("record_is_returned",), variant="2.3"),),
)
CLAIMS_OF_STICKY_ASSIGNORS_HAVE_A_GENERATION = version_flag(
    "claims_of_sticky_assignors_have_a_generation",
    "KIP-341, KAFKA-7026 (2.3.0): the sticky assignor heeds the last one of two claims; before, both",
    {"2.3": True},
    closes="no partition is assigned to two consumers, as one of them comes back",
    source="KIP-341 (2.3.0): StickyAssignor.prepopulateCurrentAssignments",
    trials=(Trial("sticky-assignor-and-a-late-consumer", ("assigned_partition_has_one_consumer",), variant="2.2"),),
)

VARIANTS = {release: FLAGS.variant_of(release) for release in RELEASES}
CLIENT_VARIANTS = VARIANTS | {"3.7.0": FLAGS.variant_of("3.7.0")}
"""With a release that verifies transactions (KIP-890), before KAFKA-16386."""
PATH_VARIANTS = VARIANTS | {"1.1.0": FLAGS.variant_of("1.1.0")}
"""With the release that has another path for offsets in ZooKeeper (PR-5060)."""
COMMIT_VARIANTS = {release: FLAGS.variant_of(release) for release in ("2.8.2", "3.2.3", "3.9.0")}
"""With the one that refuses commits by mistake (KAFKA-14201)."""
COARSE = FLAGS.defaults
"""Dynamic members, one controller, and the protocol of the release."""
