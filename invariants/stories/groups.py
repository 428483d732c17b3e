"""Stories about consumer groups: one group, its partition of __consumer_offsets, and two brokers that can lead that."""

from __future__ import annotations

from kwalk.invariants import delayed_operations as operations
from kwalk.invariants import group_answers as answers
from kwalk.invariants import groups
from kwalk.invariants import leftover_timers as leftovers
from kwalk.invariants import member_timeouts as timeouts
from kwalk.invariants import offsets_topic as creations
from kwalk.invariants import transactional_offsets as transactions
from kwalk.invariants import zookeeper_offsets as paths
from kwalk.invariants.stories import consumers
from kwalk.model.kafka.groups import (
    consumer,
    delayed_operations,
    domains,
    group_answers,
    group_coordinator,
    group_metadata_manager,
    leftover_timers,
    member_timeouts,
    offsets_partition,
    offsets_topic,
    transactional_offsets,
    versions,
    zookeeper_offsets,
)
from kwalk.model.kafka.groups.domains import CONSUMERS
from kwalk.model.kafka.groups.state import (
    CommittedOffset,
    ConsumerStatus,
    GroupCluster,
    GroupState,
    OffsetsRecord,
    RecordKey,
    Task,
)
from kwalk.model.language import Scenario, actions_of, default_bounds

MODULES = (consumer, group_coordinator, group_metadata_manager, offsets_partition)
MEMBERS = actions_of(*MODULES, group="members")
COORDINATORS = actions_of(*MODULES, group="coordinators")

GROUP = (
    groups.committed_offset_is_kept,
    groups.live_group_is_not_removed,
    groups.only_the_last_generation_commits,
    groups.owner_commits,
    groups.acknowledged_commit_is_the_last,
    groups.leader_stays_while_it_joins,
    groups.rebalance_raises_the_generation,
    groups.awaited_consumer_waits,
    groups.one_owner_per_generation,
    groups.consumer_outside_the_group_owns_nothing,
    groups.cached_group_is_consistent,
    groups.members_have_one_protocol,
    groups.waiting_member_is_awaited,
    groups.consumer_knows_its_generation,
    groups.member_that_answers_is_not_removed,
    groups.assignment_is_the_leaders,
    groups.offset_belongs_to_a_group,
    groups.records_are_in_order,
    groups.loaded_group_is_that_of_the_log,
    groups.appends_end_with_the_leadership,
    groups.high_watermark_does_not_go_back,
    groups.unloaded_group_is_not_cached,
    groups.stable_group_is_stored,
    groups.watermark_is_replicated,
    groups.generation_does_not_go_back,
    groups.events_are_counted,
    groups.young_offset_is_kept,
    groups.replicated_append_is_answered,
    groups.dead_member_is_removed,
    groups.partition_is_consumed,
    groups.rebalance_ends,
    groups.group_is_listed_once,
    groups.group_converges,
)
MOVED_GROUP = (*GROUP, groups.members_survive_a_move)
OF_SEVERAL_BROKERS = (
    groups.unloaded_group_is_not_cached,
    groups.loaded_group_is_that_of_the_log,
    groups.appends_end_with_the_leadership,
)
OF_COMMITS = (
    groups.committed_offset_is_kept,
    groups.young_offset_is_kept,
    groups.only_the_last_generation_commits,
    groups.owner_commits,
    groups.acknowledged_commit_is_the_last,
)
OF_DYNAMIC_MEMBERS = (*OF_COMMITS, groups.assignment_is_the_leaders)
GROUP_OF_ONE_BROKER = tuple(prop for prop in GROUP if prop not in OF_SEVERAL_BROKERS)
MEMBERS_OF_ONE_BROKER = tuple(prop for prop in GROUP_OF_ONE_BROKER if prop not in OF_COMMITS)


def no_group_yet(cluster: GroupCluster) -> None:
    """Broker 0 leads the partition and has loaded it; no consumer runs."""
    cluster.coordinators[0].is_leader = cluster.coordinators[0].owns = True


def group_with_a_member(cluster: GroupCluster) -> None:
    """The same, and consumer 0 is the only member of the first generation, which is in the log of both brokers."""
    no_group_yet(cluster)
    member_id = cluster.member_ids.take()
    group, partition, member = cluster.coordinators[0].group, cluster.partition, cluster.consumers[0]
    group.state, group.generation, group.members = GroupState.STABLE, 1, frozenset({member_id})
    group.leader = group.owner = member_id
    member.status, member.generation, member.member_id, member.owns = ConsumerStatus.STABLE, 1, member_id, True
    partition.log.push(
        OffsetsRecord(
            key=RecordKey.GROUP, generation=1, members=frozenset({member_id}), leader=member_id, owner=member_id
        )
    )
    partition.replicated = partition.high_watermark = partition.follower_high_watermark = 1
    cluster.stored_generation = 1


def group_to_load(cluster: GroupCluster) -> None:
    """The same, but broker 0 has just become the leader, and is to load it."""
    group_with_a_member(cluster)
    cluster.coordinators[0].group.forget()
    cluster.coordinators[0].owns = False
    cluster.coordinators[0].tasks.push(Task(is_load=True))


def group_was_removed(cluster: GroupCluster) -> None:
    """No consumer runs, and the log of both brokers ends with the tombstones of the group's offset and of itself."""
    no_group_yet(cluster)
    partition = cluster.partition
    partition.log.push(OffsetsRecord(key=RecordKey.OFFSET, is_tombstone=True))
    partition.log.push(OffsetsRecord(key=RecordKey.GROUP, is_tombstone=True))
    partition.replicated = partition.high_watermark = partition.follower_high_watermark = 2


def group_after_a_downgrade(cluster: GroupCluster) -> None:
    """A group with a member and a commit, and a record of a later release; broker 0 has started and is to load them."""
    group_to_load(cluster)
    partition = cluster.partition
    offset = CommittedOffset(commit=1)
    partition.log.push(OffsetsRecord(key=RecordKey.OFFSET, offset=offset))
    partition.replicated = partition.high_watermark = partition.follower_high_watermark = 2
    partition.has_later_records = True
    cluster.commits, cluster.commit_generation, cluster.acknowledged = 1, 1, offset


def group_of_two_to_load(cluster: GroupCluster) -> None:
    """Two consumers are the members of the first generation; broker 0, which leads, has started and is to load it."""
    partition, members = cluster.partition, frozenset({cluster.member_ids.take(), cluster.member_ids.take()})
    for number in CONSUMERS:
        member = cluster.consumers[number]
        member.status, member.generation, member.member_id = ConsumerStatus.STABLE, 1, number
        member.owns = number == 0
    partition.log.push(OffsetsRecord(key=RecordKey.GROUP, generation=1, members=members, leader=0, owner=0))
    partition.replicated = partition.high_watermark = partition.follower_high_watermark = 1
    cluster.stored_generation = 1
    cluster.coordinators[0].is_leader = True
    cluster.coordinators[0].tasks.push(Task(is_load=True))


CONSUMER_GROUP = Scenario(
    name="consumer-group",
    story="Two consumers join a group, commit, crash or leave, while the group's coordinator moves to another broker.",
    state=GroupCluster,
    initial=no_group_yet,
    actions=(*MEMBERS, *COORDINATORS, offsets_partition.elect),
    properties=(
        *MOVED_GROUP,
        groups.rebalance_has_a_reason,
        groups.both_consumers_are_members,
        groups.old_owner_is_unaware,
    ),
    bounds={
        **default_bounds(domains),
        "brokers": 2,
        "consumers": 2,
        "member_ids": 4,
        "buffers": 1,
        "log": 8,
        "generations": 6,
        "leader_epochs": 2,
        "requests": 2,
        "tasks": 2,
        "starts": 2,
        "commits": 1,
        "moves": 1,
        "incarnations": 0,
    },
    flags=versions.COARSE,
    variants=versions.VARIANTS,
    source="GroupCoordinator and GroupMetadataManager of 0.10.0.0 to 3.9",
)

GROUP_THERE_AND_BACK = CONSUMER_GROUP.varied(
    name="consumer-group-there-and-back",
    story="The coordinator moves to another broker and back, and two LeaderAndIsr requests may be handled at a time.",
    properties=(*MOVED_GROUP, groups.follower_loads_nothing),
    bounds={"consumers": 1, "moves": 2},
    flags={"concurrent_requests": True},
    source="KAFKA-10614",
)
SLOW_UNLOAD = CONSUMER_GROUP.varied(
    name="consumer-group-slow-unload",
    story=(
        "A group has a member, and another consumer starts; the coordinator moves to another broker and back before "
        "the first one has unloaded what it has cached."
    ),
    initial=group_with_a_member,
    properties=(*GROUP, groups.follower_loads_nothing, groups.old_owner_is_unaware),
    bounds={"starts": 1, "moves": 2, "generations": 2, "member_ids": 2, "log": 4},
    source="GroupMetadataManager has one scheduler thread for the loads and unloads of all partitions",
)
GROUP_RETENTION = CONSUMER_GROUP.varied(
    name="consumer-group-retention",
    story="Consumers commit, stop and start, and the retention period of offsets passes; the coordinator stays.",
    actions=(*CONSUMER_GROUP.actions, consumer.retention_passes),
    properties=(
        *GROUP_OF_ONE_BROKER,
        groups.rebalance_has_a_reason,
        groups.offset_is_kept_from_empty_on,
        groups.removed_offset_has_a_tombstone,
        groups.both_consumers_are_members,
        groups.offset_expires,
    ),
    bounds={"brokers": 1, "moves": 0, "leader_epochs": 0, "retentions": 2, "consumer_stops": 1},
    source="KIP-211, KAFKA-4682, KAFKA-13636",
)
RETENTION_AFTER_A_MOVE = CONSUMER_GROUP.varied(
    name="consumer-group-retention-after-a-move",
    story="The only consumer commits and stops, the retention period passes, and the coordinator moves.",
    actions=GROUP_RETENTION.actions,
    properties=(
        *MOVED_GROUP,
        groups.offset_is_kept_from_empty_on,
        groups.removed_offset_has_a_tombstone,
        groups.offset_expires,
    ),
    bounds={"consumers": 1, "retentions": 1, "consumer_stops": 1},
    source="KAFKA-8069, KAFKA-10401",
)
GROUP_OF_REASSIGNED_PARTITION = CONSUMER_GROUP.varied(
    name="consumer-group-reassigned-partition",
    story="The partition of __consumer_offsets is reassigned from its leader to other brokers.",
    actions=(*MEMBERS, *COORDINATORS, offsets_partition.reassign, group_metadata_manager.handle_stop_replica),
    properties=MOVED_GROUP,
    bounds={"consumers": 1, "moves": 0, "reassignments": 1},
    source="KAFKA-4362",
)
GROUP_REMOVAL = CONSUMER_GROUP.varied(
    name="consumer-group-removal",
    story="The last consumer leaves, the group is removed or an operator deletes it, and the coordinator moves.",
    actions=(*CONSUMER_GROUP.actions, consumer.delete_group),
    properties=(
        *MOVED_GROUP,
        groups.group_with_an_offset_is_listed,
        groups.deleted_group_stays_deleted,
        groups.deletion_removes_the_group,
        groups.removed_offset_has_a_tombstone,
        groups.removed_group_stays_removed,
        groups.group_is_never_listed_twice,
        groups.group_is_removed,
        groups.operator_deletes_the_group,
    ),
    bounds={"consumers": 1, "consumer_stops": 1, "group_deletions": 1},
    source="KAFKA-2720; KIP-229",
)
STALLED_CONSUMER = CONSUMER_GROUP.varied(
    name="consumer-group-stalled-member",
    story="A consumer stalls: its application does nothing, and it sends heartbeats or not; later it may run again.",
    actions=(*CONSUMER_GROUP.actions, consumer.stall, consumer.resume),
    properties=(
        *GROUP_OF_ONE_BROKER,
        groups.rebalance_has_a_reason,
        groups.member_with_heartbeats_is_not_removed,
        groups.old_owner_is_unaware,
    ),
    bounds={"brokers": 1, "moves": 0, "leader_epochs": 0, "pauses": 1},
    source="KAFKA-10134, KAFKA-12890",
)
LATE_SYNC = STALLED_CONSUMER.varied(
    name="consumer-group-late-sync",
    story="A consumer that has joined is late to ask for its assignment, and sends heartbeats meanwhile.",
    properties=(
        groups.heartbeats_keep_a_member,
        groups.one_owner_per_generation,
        groups.cached_group_is_consistent,
        groups.waiting_member_is_awaited,
        groups.consumer_knows_its_generation,
        groups.member_that_answers_is_not_removed,
        groups.records_are_in_order,
    ),
    bounds={"commits": 0, "generations": 3, "member_ids": 3},
    variants={release: versions.VARIANTS[release] for release in ("2.8.0", "2.4.1", "2.3", "2.1.0", "2.0", "1.0")},
    source="GroupCoordinator.handleHeartbeat; KAFKA-10134",
)
LATE_JOIN = STALLED_CONSUMER.varied(
    name="consumer-group-late-join",
    story="A coordinator has just become the leader of a group with a member, which stalls while another one joins.",
    initial=group_to_load,
    properties=(
        *MEMBERS_OF_ONE_BROKER,
        groups.loaded_group_is_that_of_the_log,
        groups.rebalance_has_a_reason,
        groups.member_with_heartbeats_is_not_removed,
        groups.late_member_gets_no_partition,
        groups.both_consumers_are_members,
    ),
    bounds={"commits": 0, "starts": 1, "member_ids": 3, "generations": 4},
    source="GroupCoordinator.onCompleteJoin; GroupMetadataManager.readGroupMessageValue",
)
WITHOUT_REBALANCE_TIMEOUT = CONSUMER_GROUP.varied(
    name="consumer-group-without-rebalance-timeout",
    story="A group has a consumer of 0.9 or 0.10.0, whose JoinGroup has no rebalance timeout; another one starts.",
    initial=group_with_a_member,
    properties=(*MEMBERS_OF_ONE_BROKER, groups.rebalance_has_a_reason, groups.both_consumers_are_members),
    bounds={
        "brokers": 1,
        "moves": 0,
        "leader_epochs": 0,
        "commits": 0,
        "consumer_stops": 1,
        "generations": 4,
        "join_group_v0": 1,
    },
    source="DelayedJoin, JoinGroupRequest; KAFKA-8653",
)
STATIC_MEMBER = CONSUMER_GROUP.varied(
    name="consumer-group-static-member",
    story="Consumers have a group.instance.id; one crashes and starts again, and the coordinator moves.",
    properties=(
        *(prop for prop in GROUP if prop not in OF_DYNAMIC_MEMBERS),
        groups.stopped_static_member_stays,
        groups.static_member_is_not_fenced,
        groups.static_member_can_join,
        groups.settled_static_member_is_not_fenced,
        groups.leader_knows_that_it_leads,
        groups.static_member_returns,
    ),
    bounds={"consumers": 1, "consumer_stops": 1, "commits": 0},
    flags={"static_members": True},
    source="KIP-345, KAFKA-8715, KAFKA-9801, KAFKA-10284",
)
GROUP_OF_RECREATED_TOPIC = CONSUMER_GROUP.varied(
    name="consumer-group-recreated-topic",
    story="The topic that a group consumes is deleted and created again, while the coordinator moves.",
    actions=(*CONSUMER_GROUP.actions, consumer.recreate_topic, group_metadata_manager.handle_deleted_partitions),
    properties=(*GROUP, groups.recreated_topic_has_no_offset, groups.removed_offset_has_a_tombstone),
    bounds={"consumers": 1, "incarnations": 1},
    source="KAFKA-2000",
)
COMPACTED_OFFSETS = CONSUMER_GROUP.varied(
    name="consumer-group-compaction",
    story="The log cleaner compacts the partition while consumers come, commit and go, and the coordinator moves.",
    actions=(*CONSUMER_GROUP.actions, offsets_partition.clean),
    properties=(
        *MOVED_GROUP,
        groups.compaction_keeps_the_last_values,
        groups.young_tombstone_stays,
        groups.log_is_compacted,
    ),
    bounds={"consumers": 1, "consumer_stops": 1, "cleanings": 1, "commits": 2},
    source="cleanup.policy=compact of __consumer_offsets; Cleaner.shouldRetainRecord; KAFKA-9065",
)
COMPACTED_OFFSETS_THERE_AND_BACK = COMPACTED_OFFSETS.varied(
    name="consumer-group-compaction-there-and-back",
    story="A group was removed; its log is compacted, while the coordinator moves to another broker and back.",
    initial=group_was_removed,
    properties=(
        *MOVED_GROUP,
        groups.compaction_keeps_the_last_values,
        groups.young_tombstone_stays,
        groups.tombstone_is_compacted_away,
    ),
    bounds={"starts": 1, "consumer_stops": 0, "moves": 2, "cleanings": 2, "generations": 2, "member_ids": 2, "log": 6},
    source="KAFKA-9065, KAFKA-13194",
)
LATE_EXPIRATION = STALLED_CONSUMER.varied(
    name="consumer-group-late-expiration",
    story="A consumer stalls and does not join in time; later its session ends.",
    actions=(*STALLED_CONSUMER.actions, group_coordinator.expire_removed_member),
    properties=(*MEMBERS_OF_ONE_BROKER, groups.rebalance_has_a_reason),
    bounds={"commits": 0, "late_expirations": 1, "member_ids": 3, "generations": 4},
    source="KAFKA-7196",
)
JOIN_TIMEOUT = CONSUMER_GROUP.varied(
    name="consumer-group-join-timeout",
    story="A rebalance waits for a member, and another consumer, which joins, does not wait for the answer as long.",
    actions=(*CONSUMER_GROUP.actions, consumer.give_up_join),
    properties=(
        *(prop for prop in GROUP_OF_ONE_BROKER if prop is not groups.awaited_consumer_waits),
        groups.rebalance_has_a_reason,
        groups.join_is_given_up_for_want_of_a_member,
        groups.group_has_no_more_members_than_consumers,
        groups.both_consumers_are_members,
    ),
    bounds={"brokers": 1, "moves": 0, "leader_epochs": 0, "join_timeouts": 1},
    source="KAFKA-7610, KIP-394",
)
RETENTION_FOR_GOOD = CONSUMER_GROUP.varied(
    name="consumer-group-retention-for-good",
    story="A consumer commits, while offsets are to be kept for good: offsets.retention.minutes is as large as can be.",
    properties=GROUP_OF_ONE_BROKER,
    bounds={"brokers": 1, "moves": 0, "leader_epochs": 0, "consumers": 1, "consumer_stops": 1, "long_retention": 1},
    source="KAFKA-4472",
)
LONG_METADATA = CONSUMER_GROUP.varied(
    name="consumer-group-long-metadata",
    story="A consumer commits two partitions, one of them with longer metadata than is allowed.",
    actions=(*CONSUMER_GROUP.actions, consumer.commit_with_long_metadata),
    properties=(*GROUP_OF_ONE_BROKER, groups.pending_commit_is_on_its_way),
    bounds={"brokers": 1, "moves": 0, "leader_epochs": 0, "consumers": 1, "consumer_stops": 1, "long_metadata": 1},
    source="KAFKA-16371",
)
WITHOUT_PROTOCOL = CONSUMER_GROUP.varied(
    name="consumer-group-without-protocol",
    story="A client that names no protocol joins the group of a consumer, which may join first.",
    properties=(*MEMBERS_OF_ONE_BROKER, groups.named_protocol_is_accepted),
    bounds={
        "brokers": 1,
        "moves": 0,
        "leader_epochs": 0,
        "commits": 0,
        "consumer_stops": 1,
        "other_protocols": 1,
        "empty_protocols": 1,
    },
    source="GroupCoordinator.doJoinGroup; KAFKA-6005",
)
WITHOUT_MEMBERS = CONSUMER_GROUP.varied(
    name="consumer-group-without-members",
    story="Consumers choose their partitions themselves, and commit to a group without members.",
    actions=(consumer.start, consumer.commit_alone, consumer.crash, offsets_partition.replicate),
    properties=(
        groups.lone_commit_is_accepted,
        groups.consumer_commits_alone,
        groups.committed_offset_is_kept,
        groups.consumer_outside_the_group_owns_nothing,
        groups.cached_group_is_consistent,
        groups.offset_belongs_to_a_group,
        groups.records_are_in_order,
        groups.replicated_append_is_answered,
        groups.lone_commit_is_acknowledged,
    ),
    bounds={"brokers": 1, "moves": 0, "leader_epochs": 0, "consumer_stops": 1, "commits": 2},
    flags={"static_members": True},
    variants=versions.COMMIT_VARIANTS,
    source="GroupCoordinator.validateOffsetCommit; KAFKA-14201",
)
APPEND_TIME = CONSUMER_GROUP.varied(
    name="consumer-group-append-time",
    story="Consumers that join no group commit while __consumer_offsets has message.timestamp.type=LogAppendTime.",
    actions=(consumer.start, consumer.commit_by_append_time, consumer.crash, offsets_partition.replicate),
    properties=WITHOUT_MEMBERS.properties,
    bounds=WITHOUT_MEMBERS.bounds,
    variants={release: versions.VARIANTS[release] for release in ("2.8.2", "0.10.2", "0.11.0.0", "3.9.0")},
    source="GroupMetadataManager.getMagicAndTimestamp; KAFKA-4861",
)
TRANSACTIONAL_COMMIT = CONSUMER_GROUP.varied(
    name="consumer-group-transactional-commit",
    story=(
        "A consumer commits in a transaction, and not otherwise; meanwhile that is aborted, or the consumer stalls and "
        "is replaced."
    ),
    actions=(
        *(one for one in CONSUMER_GROUP.actions if one is not consumer.commit),
        consumer.stall,
        consumer.commit_in_transaction,
        consumer.handle_transactional_commit,
        consumer.end_transaction,
    ),
    initial=group_with_a_member,
    properties=(
        groups.pending_offset_is_of_a_transaction,
        groups.owner_commits_in_a_transaction,
        groups.only_the_last_generation_commits,
        groups.one_owner_per_generation,
        groups.cached_group_is_consistent,
        groups.records_are_in_order,
        groups.member_is_replaced_before_its_commit_comes,
        groups.transaction_commits_its_offset,
    ),
    bounds={
        "brokers": 1,
        "moves": 0,
        "leader_epochs": 0,
        "starts": 1,
        "pauses": 1,
        "commits": 1,
        "transactional_commits": 1,
    },
    variants=versions.COMMIT_VARIANTS,
    source="GroupCoordinator.handleTxnCommitOffsets; KIP-890, KAFKA-15449",
)
SHORT_OF_REPLICAS = CONSUMER_GROUP.varied(
    name="consumer-group-short-of-replicas",
    story="While consumers join, the partition of their group has too few in-sync replicas for a time.",
    actions=(*CONSUMER_GROUP.actions, offsets_partition.shrink_isr, offsets_partition.expand_isr),
    properties=(*MEMBERS_OF_ONE_BROKER, groups.short_isr_ends_no_consumer),
    bounds={"brokers": 1, "moves": 0, "leader_epochs": 0, "commits": 0, "isr_shrinks": 1},
    source="KAFKA-3590",
)
MAXIMUM_SIZE = CONSUMER_GROUP.varied(
    name="consumer-group-maximum-size",
    story="Two consumers join at a time a group of which group.max.size allows one member.",
    actions=(*CONSUMER_GROUP.actions, group_coordinator.look_up_group),
    properties=(
        *MEMBERS_OF_ONE_BROKER,
        groups.evicted_member_is_removed,
        groups.full_group_takes_no_member,
        groups.group_stays_within_its_maximum,
    ),
    bounds={"brokers": 1, "moves": 0, "leader_epochs": 0, "commits": 0, "group_max_size": 1},
    source="KAFKA-7641, KAFKA-9844",
)
OVER_ITS_MAXIMUM = CONSUMER_GROUP.varied(
    name="consumer-group-over-its-maximum",
    story="A coordinator loads a group of two members of which group.max.size allows one by now, and moves.",
    initial=group_of_two_to_load,
    properties=(
        *(prop for prop in GROUP if prop not in OF_COMMITS),
        groups.evicted_member_is_removed,
        groups.full_group_takes_no_member,
        groups.group_stays_within_its_maximum,
        groups.group_keeps_its_maximum,
    ),
    bounds={"starts": 0, "commits": 0, "group_max_size": 1},
    source="KAFKA-9885",
)
WAITING_HEARTBEAT = CONSUMER_GROUP.varied(
    name="consumer-group-waiting-heartbeat",
    story="The coordinator of a group moves, while heartbeats wait for the lock of the group that is unloaded.",
    initial=group_with_a_member,
    actions=(*CONSUMER_GROUP.actions, group_coordinator.wait_for_group),
    properties=(*GROUP, groups.moved_member_keeps_its_id, groups.both_consumers_are_members),
    bounds={"starts": 1, "member_ids": 3, "generations": 4, "log": 6, "waiting_heartbeats": 1},
    source="GroupCoordinator.handleHeartbeat; KAFKA-8386",
)
BUSY_LOCK = CONSUMER_GROUP.varied(
    name="consumer-group-busy-lock",
    story="Requests hold the lock of the group while replicas get what the group has appended.",
    actions=(
        *CONSUMER_GROUP.actions,
        offsets_partition.replicate_while_locked,
        group_metadata_manager.time_out_append,
    ),
    properties=(*GROUP_OF_ONE_BROKER, groups.both_consumers_are_members),
    bounds={"brokers": 1, "moves": 0, "leader_epochs": 0, "consumer_stops": 1, "busy_locks": 1},
    source="DelayedOperation.maybeTryComplete; KAFKA-8334",
)
DOWNGRADE = CONSUMER_GROUP.varied(
    name="consumer-group-downgrade",
    story="Brokers are downgraded: the log has a record of a later release; a coordinator loads its group, and moves.",
    initial=group_after_a_downgrade,
    properties=(*GROUP, groups.members_survive_a_move),
    bounds={
        "consumers": 1,
        "starts": 1,
        "consumer_stops": 1,
        "commits": 2,
        "log": 6,
        "member_ids": 2,
        "later_records": 1,
    },
    source="GroupMetadataManager.readMessageKey; KIP-915",
)
OLD_LEADER = STATIC_MEMBER.varied(
    name="consumer-group-old-leader",
    story="A consumer of an old release leads a group, as consumers are upgraded; another one has a group.instance.id.",
    properties=tuple(prop for prop in MEMBERS_OF_ONE_BROKER if prop is not groups.assignment_is_the_leaders),
    bounds={
        "brokers": 1,
        "moves": 0,
        "leader_epochs": 0,
        "consumers": 2,
        "consumer_stops": 0,
        "old_consumers": 1,
        "member_ids": 2,
        "generations": 4,
    },
    source="GroupMetadata.currentMemberMetadata, JoinGroupResponse.json; KAFKA-14422",
)
EXPIRATION_AMID_A_COMMIT = Scenario(
    name="consumer-group-expiration-amid-a-commit",
    story="Offsets of a group expire, as its commits are answered.",
    state=delayed_operations.OffsetsLeader,
    actions=(
        delayed_operations.commit,
        delayed_operations.clean_up,
        delayed_operations.handle_fetch,
        *delayed_operations.COMPLETIONS,
    ),
    properties=(
        operations.requests_are_answered,
        operations.group_has_one_thread,
        operations.list_has_one_thread,
        operations.idle_thread_has_no_lock,
        operations.operation_is_completed_by_a_thread,
        operations.waiting_thread_waits,
        operations.thread_does_one_thing_after_the_other,
    ),
    bounds=default_bounds(delayed_operations),
    variants=versions.VARIANTS,
    source="GroupMetadataManager.cleanupGroupMetadata; KAFKA-4399",
)
EMPTY_AMID_A_COMMIT = EXPIRATION_AMID_A_COMMIT.varied(
    name="consumer-group-empty-amid-a-commit",
    story="Groups lose their last members, as their commits are answered.",
    actions=(
        delayed_operations.commit,
        delayed_operations.append_and_wait,
        delayed_operations.add,
        delayed_operations.handle_fetch,
        *delayed_operations.COMPLETIONS,
    ),
    source="GroupCoordinator.onCompleteJoin; KAFKA-3994",
)
GROUPS_OF_ONE_PARTITION = EXPIRATION_AMID_A_COMMIT.varied(
    name="consumer-groups-of-one-partition",
    story="Two groups append to one partition of __consumer_offsets, as their commits are answered.",
    actions=(
        delayed_operations.commit,
        delayed_operations.append,
        delayed_operations.handle_fetch,
        *delayed_operations.COMPLETIONS,
    ),
    source="DelayedOperation; KAFKA-5970, KAFKA-6042",
)
ENDED_TRANSACTIONS = EXPIRATION_AMID_A_COMMIT.varied(
    name="consumer-groups-of-ended-transactions",
    story="Two groups append to one partition of __consumer_offsets, as transactions with their offsets end.",
    actions=(delayed_operations.end_transaction, *GROUPS_OF_ONE_PARTITION.actions),
    variants={r: flags for r, flags in versions.VARIANTS.items() if not r.startswith("0.10")},
    source="GroupMetadataManager.handleTxnCompletion; KAFKA-6917",
)
CHANGED_TIMEOUTS = Scenario(
    name="consumer-group-changed-timeouts",
    story="A static member stops, and starts again with another session timeout.",
    state=member_timeouts.StaticMember,
    actions=actions_of(member_timeouts),
    initial=member_timeouts.has_joined_briefly,
    properties=(
        timeouts.static_member_is_kept_for_its_session,
        timeouts.static_member_goes_after_its_session,
        timeouts.start_makes_a_member,
        timeouts.stop_leaves_the_member,
        timeouts.time_passes_for_a_consumer_that_is_down,
        timeouts.former_member_has_no_session,
        timeouts.removed_member_joins_again,
    ),
    bounds={"session": 2, "consumer_starts": 2},
    variants={release: versions.VARIANTS[release] for release in ("2.8.2", "2.3", "3.9.0")},
    source="GroupMetadata.updateMember; KAFKA-14009",
)
LEFTOVER_TIMERS = Scenario(
    name="consumer-group-leftover-timers",
    story="A consumer joins a group, whose coordinator moves there and back.",
    state=leftover_timers.WatchedMember,
    actions=actions_of(leftover_timers),
    properties=(
        leftovers.heartbeat_is_answered,
        leftovers.member_joins_once,
        leftovers.coordinator_moves_with_its_timers,
        leftovers.timers_of_a_copy_end,
        leftovers.long_timer_ends_with_its_group,
        leftovers.timers_end,
        leftovers.copy_lacks_the_member,
    ),
    bounds={"moves": 2},
    variants={release: versions.VARIANTS[release] for release in ("2.8.2", "2.3", "2.4.1", "3.9.0")},
    source="DelayedHeartbeat; KAFKA-8896, KAFKA-9232",
)
CONSECUTIVE_TRANSACTIONS = Scenario(
    name="consumer-group-of-consecutive-transactions",
    story="A producer commits an offset in one transaction, and in the next one at once.",
    state=transactional_offsets.TransactionalOffsets,
    actions=(
        transactional_offsets.commit_next,
        transactional_offsets.append_next,
        transactional_offsets.end_next,
        transactional_offsets.take_over,
    ),
    properties=(
        transactions.offset_of_an_ended_transaction_is_known,
        transactions.known_offset_was_committed,
        transactions.transaction_ends_once,
        transactions.nothing_is_pending_after_an_end,
        transactions.commit_follows_another,
        transactions.appended_offset_is_noted,
        transactions.offset_is_appended_after_an_end,
    ),
    bounds={"transactions": 3},
    variants={release: versions.VARIANTS[release] for release in ("2.8.2", "1.0", "2.0", "3.9.0")},
    source="GroupMetadata.completePendingTxnOffsetCommit; KAFKA-17507",
)
EXPIRATION_AMID_A_TRANSACTION = Scenario(
    name="consumer-group-expiration-amid-a-transaction",
    story="An old offset expires while a transaction commits a new one; the log is cleaned, and loaded again.",
    state=transactional_offsets.ExpiringCommit,
    actions=(
        transactional_offsets.commit_beside_an_old_one,
        transactional_offsets.expire_old_offset,
        transactional_offsets.end_with_a_commit,
        transactional_offsets.clean_offsets,
        transactional_offsets.load_offsets,
    ),
    properties=(
        transactions.committed_offset_outlives_a_cleaning,
        transactions.transaction_is_committed_once,
        transactions.tombstone_is_of_the_old_offset,
        transactions.cleaning_follows_a_commit,
        transactions.loaded_offset_is_in_the_log,
        transactions.cleaned_offset_is_known,
    ),
    bounds={},
    variants={release: versions.VARIANTS[release] for release in ("2.8.2", "1.0", "2.0", "3.9.0")},
    source="GroupMetadata.removeExpiredOffsets, GroupMetadataManager.doLoadGroupsAndOffsets",
)
COMMIT_BEFORE_A_TOMBSTONE = Scenario(
    name="consumer-group-commit-before-a-tombstone",
    story="An old offset expires, and a consumer commits before its tombstone is appended.",
    state=transactional_offsets.OvertakenCommit,
    actions=(
        transactional_offsets.choose_expired,
        transactional_offsets.append_tombstone,
        transactional_offsets.commit_new,
    ),
    properties=(
        transactions.committed_offset_is_the_last_record,
        transactions.expired_offset_is_chosen_once,
        transactions.commit_is_appended,
        transactions.old_offset_is_removed,
    ),
    bounds={},
    variants={release: versions.VARIANTS[release] for release in ("2.8.2", "0.10.0", "0.10.2", "3.9.0")},
    source="GroupMetadataManager.cleanupGroupMetadata; KAFKA-4399",
)
FIRST_OF_A_CLUSTER = Scenario(
    name="consumer-group-first-of-a-cluster",
    story="Brokers of a new cluster start one after another, as the first consumer looks for its coordinator.",
    state=offsets_topic.OffsetsTopic,
    actions=actions_of(offsets_topic),
    properties=(
        creations.offsets_have_their_replicas,
        creations.offsets_have_their_configuration,
        creations.brokers_start_one_by_one,
        creations.offsets_are_created,
    ),
    bounds={"offsets_factor": 3},
    variants=versions.VARIANTS,
    source="KafkaApis.createGroupMetadataTopic; KAFKA-3718, KAFKA-3959",
)
GROUP_AND_ITS_CLIENTS = Scenario(
    name="consumer-group-and-its-clients",
    story="A group is described, and gets transactional commits.",
    state=group_answers.AnsweredGroup,
    actions=actions_of(group_answers),
    properties=(
        answers.described_member_has_its_subscription,
        answers.commit_can_be_sent_again,
        answers.commit_is_verified,
        answers.member_is_described,
    ),
    variants=versions.CLIENT_VARIANTS,
    source="KafkaApis, GroupMetadataManager; KAFKA-9150, KAFKA-16386",
)
OFFSETS_IN_ZOOKEEPER = Scenario(
    name="consumer-group-in-zookeeper",
    story="A consumer of 0.8 commits to ZooKeeper through a broker that is upgraded.",
    state=zookeeper_offsets.ZookeeperOffset,
    actions=actions_of(zookeeper_offsets),
    properties=(
        paths.offset_in_zookeeper_is_found,
        paths.offset_in_zookeeper_stays,
        paths.upgraded_broker_has_an_offset,
        paths.broker_is_upgraded_first,
    ),
    variants=versions.PATH_VARIANTS,
    source="ConsumerOffset.path; PR-5060",
)

SCENARIOS = (
    CONSUMER_GROUP,
    GROUP_THERE_AND_BACK,
    SLOW_UNLOAD,
    GROUP_RETENTION,
    RETENTION_AFTER_A_MOVE,
    GROUP_OF_REASSIGNED_PARTITION,
    GROUP_REMOVAL,
    STALLED_CONSUMER,
    LATE_SYNC,
    LATE_JOIN,
    WITHOUT_REBALANCE_TIMEOUT,
    STATIC_MEMBER,
    GROUP_OF_RECREATED_TOPIC,
    COMPACTED_OFFSETS,
    COMPACTED_OFFSETS_THERE_AND_BACK,
    LATE_EXPIRATION,
    JOIN_TIMEOUT,
    RETENTION_FOR_GOOD,
    LONG_METADATA,
    WITHOUT_PROTOCOL,
    WITHOUT_MEMBERS,
    APPEND_TIME,
    TRANSACTIONAL_COMMIT,
    SHORT_OF_REPLICAS,
    MAXIMUM_SIZE,
    OVER_ITS_MAXIMUM,
    WAITING_HEARTBEAT,
    BUSY_LOCK,
    DOWNGRADE,
    OLD_LEADER,
    EXPIRATION_AMID_A_COMMIT,
    EMPTY_AMID_A_COMMIT,
    GROUPS_OF_ONE_PARTITION,
    ENDED_TRANSACTIONS,
    CHANGED_TIMEOUTS,
    LEFTOVER_TIMERS,
    CONSECUTIVE_TRANSACTIONS,
    EXPIRATION_AMID_A_TRANSACTION,
    COMMIT_BEFORE_A_TOMBSTONE,
    FIRST_OF_A_CLUSTER,
    GROUP_AND_ITS_CLIENTS,
    OFFSETS_IN_ZOOKEEPER,
    *consumers.SCENARIOS,
)
