"""Stories about consumer groups: one group, its partition of __consumer_offsets, and two brokers that can lead that."""

from __future__ import annotations

from attrs import evolve

from kwalk.model.kafka.groups import (
    consumer,
    group_coordinator,
    group_metadata_manager,
    offsets_partition,
    versions,
)
from kwalk.model.kafka.groups.state import ConsumerStatus, GroupCluster, GroupState, OffsetsRecord, RecordKey
from kwalk.model.language import Scenario

MEMBERS = (
    consumer.start,
    consumer.crash,
    consumer.leave_group,
    consumer.commit,
    group_coordinator.join_group,
    group_coordinator.sync_group,
    group_coordinator.heartbeat,
    group_coordinator.find_coordinator,
)
COORDINATORS = (
    group_coordinator.complete_join,
    group_coordinator.expire_heartbeat,
    group_coordinator.expire_pending_sync,
    group_metadata_manager.handle_leader_and_isr,
    group_metadata_manager.run_task,
    group_metadata_manager.clean_up,
    offsets_partition.replicate,
)


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


CONSUMER_GROUP = Scenario(
    name="consumer-group",
    story="Two consumers join a group, commit, crash or leave, while the group's coordinator moves to another broker.",
    state=GroupCluster,
    initial=no_group_yet,
    actions=(*MEMBERS, *COORDINATORS, offsets_partition.elect),
    bounds={
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
        "consumer_stops": 0,
        "commits": 1,
        "moves": 1,
        "reassignments": 0,
        "pauses": 0,
        "retentions": 0,
        "incarnations": 0,
        "cleanings": 0,
        "group_deletions": 0,
        "other_protocols": 0,
    },
    flags=versions.COARSE,
    variants=versions.VARIANTS,
    source="GroupCoordinator and GroupMetadataManager of 0.10.0.0 to 3.9",
)

GROUP_THERE_AND_BACK = evolve(
    CONSUMER_GROUP,
    name="consumer-group-there-and-back",
    story="The coordinator moves to another broker and back, and two LeaderAndIsr requests may be handled at a time.",
    bounds={**CONSUMER_GROUP.bounds, "consumers": 1, "moves": 2},
    flags={**CONSUMER_GROUP.flags, "concurrent_requests": True},
    source="KAFKA-10614",
)
SLOW_UNLOAD = evolve(
    CONSUMER_GROUP,
    name="consumer-group-slow-unload",
    story=(
        "A group has a member, and another consumer starts; the coordinator moves to another broker and back before "
        "the first one has unloaded what it has cached."
    ),
    initial=group_with_a_member,
    bounds={**CONSUMER_GROUP.bounds, "starts": 1, "moves": 2, "generations": 2, "member_ids": 2, "log": 4},
    source="GroupMetadataManager has one scheduler thread for the loads and unloads of all partitions",
)
GROUP_RETENTION = evolve(
    CONSUMER_GROUP,
    name="consumer-group-retention",
    story="Consumers commit, stop and start, and the retention period of offsets passes; the coordinator stays.",
    actions=(*CONSUMER_GROUP.actions, consumer.retention_passes),
    bounds={
        **CONSUMER_GROUP.bounds,
        "brokers": 1,
        "moves": 0,
        "leader_epochs": 0,
        "retentions": 2,
        "consumer_stops": 1,
    },
    source="KIP-211, KAFKA-4682, KAFKA-13636",
)
RETENTION_AFTER_A_MOVE = evolve(
    GROUP_RETENTION,
    name="consumer-group-retention-after-a-move",
    story="The only consumer commits and stops, the retention period passes, and the coordinator moves.",
    bounds={**CONSUMER_GROUP.bounds, "consumers": 1, "retentions": 1, "consumer_stops": 1},
    source="KAFKA-8069, KAFKA-10401",
)
GROUP_OF_REASSIGNED_PARTITION = evolve(
    CONSUMER_GROUP,
    name="consumer-group-reassigned-partition",
    story="The partition of __consumer_offsets is reassigned from its leader to other brokers.",
    actions=(*MEMBERS, *COORDINATORS, offsets_partition.reassign, group_metadata_manager.handle_stop_replica),
    bounds={**CONSUMER_GROUP.bounds, "consumers": 1, "moves": 0, "reassignments": 1},
    source="KAFKA-4362",
)
GROUP_REMOVAL = evolve(
    CONSUMER_GROUP,
    name="consumer-group-removal",
    story="The last consumer leaves, the group is removed or an operator deletes it, and the coordinator moves.",
    actions=(*CONSUMER_GROUP.actions, consumer.delete_group),
    bounds={**CONSUMER_GROUP.bounds, "consumers": 1, "consumer_stops": 1, "group_deletions": 1},
    source="KAFKA-2720; KIP-229",
)
STALLED_CONSUMER = evolve(
    CONSUMER_GROUP,
    name="consumer-group-stalled-member",
    story="A consumer stalls: its application does nothing, and it sends heartbeats or not; later it may run again.",
    actions=(*CONSUMER_GROUP.actions, consumer.stall, consumer.resume),
    bounds={**CONSUMER_GROUP.bounds, "brokers": 1, "moves": 0, "leader_epochs": 0, "pauses": 1},
    source="KAFKA-10134, KAFKA-12890",
)
STATIC_MEMBER = evolve(
    CONSUMER_GROUP,
    name="consumer-group-static-member",
    story="Consumers have a group.instance.id; one crashes and starts again, and the coordinator moves.",
    bounds={**CONSUMER_GROUP.bounds, "consumers": 1, "consumer_stops": 1, "commits": 0},
    flags={**CONSUMER_GROUP.flags, "static_members": True},
    source="KIP-345, KAFKA-8715, KAFKA-9801, KAFKA-10284",
)
GROUP_OF_RECREATED_TOPIC = evolve(
    CONSUMER_GROUP,
    name="consumer-group-recreated-topic",
    story="The topic that a group consumes is deleted and created again, while the coordinator moves.",
    actions=(*CONSUMER_GROUP.actions, consumer.recreate_topic, group_metadata_manager.handle_deleted_partitions),
    bounds={**CONSUMER_GROUP.bounds, "consumers": 1, "incarnations": 1},
    source="KAFKA-2000",
)
COMPACTED_OFFSETS = evolve(
    CONSUMER_GROUP,
    name="consumer-group-compaction",
    story="The log cleaner compacts the partition while consumers come, commit and go, and the coordinator moves.",
    actions=(*CONSUMER_GROUP.actions, offsets_partition.clean),
    bounds={**CONSUMER_GROUP.bounds, "consumers": 1, "consumer_stops": 1, "cleanings": 1, "commits": 2},
    source="cleanup.policy=compact of __consumer_offsets; Cleaner.shouldRetainRecord; KAFKA-9065",
)
