"""Fixes for consumer groups: offsets that are lost, groups that do not converge, and coordinators that are stale."""

from __future__ import annotations

from kwalk.model.kafka.groups.versions import (
    COORDINATOR_EPOCH,
    DELETE_GROUPS,
    DELETED_TOPICS_LOSE_OFFSETS,
    EMPTY_GROUPS_STAY,
    EXPIRE_STABLE_ONLY,
    HEARTBEAT_WHILE_COMPLETING,
    LOAD_ENDS_AT_GAP,
    LOAD_TO_LOG_END,
    LOAD_WHOLE_LOG,
    NEW_MEMBERS_EXPIRE,
    PENDING_SYNC_EXPIRES,
    REMOVAL_WAITS,
    RETENTION_FROM_EMPTY,
    STALE_CACHE_IS_FENCED,
    STATE_TIME_IS_LOADED,
    STATIC_IDS_ARE_RANDOM,
    STATIC_MEMBERSHIP,
    STATIC_REJOIN_IS_STORED,
    STATIC_REJOIN_REBALANCES,
    STOP_REPLICA_UNLOADS,
    UNSET_EXPIRY_IS_NONE,
)
from kwalk.model.language.fix import Fix, Trial

FIXES = (
    Fix(
        flag=EMPTY_GROUPS_STAY,
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
    ),
    Fix(
        flag=STOP_REPLICA_UNLOADS,
        closes="consumers find the new coordinator after the partition of their group was reassigned",
        source="KAFKA-4362 (0.10.1.1)",
        trials=(Trial("consumer-group-reassigned-partition", ("partition_is_consumed",), variant="0.10.1"),),
    ),
    Fix(
        flag=DELETED_TOPICS_LOSE_OFFSETS,
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
    ),
    Fix(
        flag=LOAD_TO_LOG_END,
        closes="a new coordinator loads every commit that was acknowledged",
        source="KAFKA-5059 (0.11.0.0)",
        trials=(Trial("consumer-group", ("committed_offset_is_kept",), variant="1.0", bounds={"consumers": 1}),),
    ),
    Fix(
        flag=LOAD_WHOLE_LOG,
        closes="what is cached after a load is the last that the log has",
        source="KAFKA-5600 (0.11.0.1); the mistake came with KAFKA-4816 (0.11.0.0)",
        trials=(Trial("consumer-group", ("committed_offset_is_kept",), variant="0.11.0.0", bounds={"consumers": 1}),),
    ),
    Fix(
        flag=DELETE_GROUPS,
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
    ),
    Fix(
        flag=RETENTION_FROM_EMPTY,
        closes="an offset does not expire while the group has members",
        source="KIP-211 (2.1.0)",
        trials=(Trial("consumer-group-retention", ("committed_offset_is_kept",)),),
    ),
    Fix(
        flag=EXPIRE_STABLE_ONLY,
        closes="an offset does not expire while the first member of an Empty group joins",
        source="KAFKA-13636 (2.8.2, 3.0.1, 3.1.1)",
        trials=(Trial("consumer-group-retention", ("committed_offset_is_kept",)),),
    ),
    Fix(
        flag=UNSET_EXPIRY_IS_NONE,
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
    ),
    Fix(
        flag=STATE_TIME_IS_LOADED,
        closes="after a move of the coordinator, an offset is kept for the retention period since the group is Empty",
        source="KAFKA-10401 (2.6.1)",
        trials=(Trial("consumer-group-retention-after-a-move", ("offset_is_kept_from_empty_on",)),),
    ),
    Fix(
        flag=LOAD_ENDS_AT_GAP,
        closes="a new coordinator loads a log whose last records were compacted away",
        source="KAFKA-9065 (2.4.1)",
        trials=(Trial("consumer-group-compaction", ("partition_is_consumed",)),),
    ),
    Fix(
        flag=NEW_MEMBERS_EXPIRE,
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
    ),
    Fix(
        flag=STATIC_MEMBERSHIP,
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
    ),
    Fix(
        flag=STATIC_IDS_ARE_RANDOM,
        closes="a static member that starts again is accepted by a coordinator that has loaded its group",
        source="KAFKA-8715 (2.3.1)",
        trials=(Trial("consumer-group-static-member", ("static_member_can_join",), variant="2.3"),),
    ),
    Fix(
        flag=STATIC_REJOIN_REBALANCES,
        closes="a static member that starts again during a rebalance gets its part of the assignment",
        source="KAFKA-9801 (2.5.0)",
        trials=(Trial("consumer-group-static-member", ("partition_is_consumed",)),),
    ),
    Fix(
        flag=STATIC_REJOIN_IS_STORED,
        closes="the next coordinator knows the member id of a static member that has started again",
        source="KAFKA-10284 (2.6.1)",
        trials=(Trial("consumer-group-static-member", ("settled_static_member_is_not_fenced",)),),
    ),
    Fix(
        flag=HEARTBEAT_WHILE_COMPLETING,
        closes="a member whose SyncGroup is late is not removed while it sends heartbeats",
        source="KAFKA-10134 (2.6.1)",
        trials=(
            Trial(
                "consumer-group-stalled-member",
                ("rebalance_ends",),
                variant="2.3",
                about="the price: a member that never sends SyncGroup is not removed either",
            ),
        ),
    ),
    Fix(
        flag=PENDING_SYNC_EXPIRES,
        closes="a rebalance ends although a member sends heartbeats and no SyncGroup",
        source="KAFKA-12890 (2.8.1)",
        trials=(Trial("consumer-group-stalled-member", ("rebalance_ends",)),),
    ),
    Fix(
        flag=COORDINATOR_EPOCH,
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
    ),
    Fix(
        flag=STALE_CACHE_IS_FENCED,
        closes="a coordinator that leads again does not answer from what it cached when it led before",
        source="no release",
        trials=(
            Trial("consumer-group-slow-unload", ("only_the_last_generation_commits",)),
            Trial("consumer-group-there-and-back", ("committed_offset_is_kept",)),
        ),
    ),
    Fix(
        flag=REMOVAL_WAITS,
        closes="a group that was removed does not come back",
        source="no release",
        trials=(
            Trial("consumer-group-removal", ("deleted_group_stays_deleted",)),
            Trial("consumer-group-removal", ("removed_group_stays_removed",)),
        ),
    ),
)
"""All fixes for groups, in the order of the audit."""
