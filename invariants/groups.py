"""Properties of consumer groups: what users lose when one breaks, and what must be reachable."""

from __future__ import annotations

from kwalk.model.kafka.domains import BROKERS, Broker
from kwalk.model.kafka.groups.domains import (
    CLEANINGS,
    CONSUMER_STOPS,
    CONSUMERS,
    GROUP_MAX_SIZE,
    MEMBER_IDS,
    MOVES,
    OTHER_PROTOCOLS,
    PAUSES,
    REASSIGNMENTS,
    ConsumerId,
)
from kwalk.model.kafka.groups.state import (
    Consumer,
    ConsumerStatus,
    GroupCluster,
    GroupMetadata,
    GroupState,
    OffsetsRecord,
    Pace,
    RecordKey,
)
from kwalk.model.kafka.groups.versions import EMPTY_GROUPS_STAY, RETENTION_FROM_EMPTY
from kwalk.model.language import always, eventually, premise, reachable, step, when_quiescent

FENCED = (
    "given member.id … is identified as a known static member …, but not matching the expected member.id … (3.9: "
    "Request memberId=… for static member with groupInstanceId=… is fenced by current memberId=…)"
)


@always(
    symptom="consumers read again what they had committed, or skip it, as auto.offset.reset says",
    log="[Consumer clientId=…, groupId=…] Found no committed offset for partition …; or none: an older one is found",
)
def committed_offset_is_kept(cluster: GroupCluster, broker: Broker) -> bool:
    """The coordinator answers OffsetFetch with the last commit that was acknowledged."""
    premise(cluster.acknowledged is not None and cluster.serves(broker))
    acknowledged, offset = cluster.acknowledged, cluster.coordinators[broker].group.offset
    return acknowledged is None or (offset is not None and offset.commit >= acknowledged.commit)


@step(
    symptom="a group that consumes is reported as Dead, and its members have to join again",
    log="[GroupMetadataManager brokerId=…] Group … transitioned to Dead in generation …",
)
def live_group_is_not_removed(before: GroupCluster, after: GroupCluster, broker: Broker) -> bool:
    """A coordinator does not take a group out of its cache that has a member which is live and heard."""
    group = before.coordinators[broker].group
    premise(before.serves(broker) and after.coordinators[broker].owns)
    premise(any(c.is_running and c.coordinator == broker and c.member_id in group.members for c in before.consumers))
    return after.coordinators[broker].group.exists


@step(
    symptom="a consumer that was replaced long ago sets the group's offset back or forth",
    log="none: the commit is accepted as any other",
)
def only_the_last_generation_commits(before: GroupCluster, after: GroupCluster) -> bool:
    """A commit is accepted in the last generation whose assignment was stored, or in a later one."""
    premise(after.commits > before.commits)
    return after.commit_generation >= before.stored_generation


@step(
    symptom="a member that does not own the partition sets the group's offset back or forth",
    log="none: the commit is accepted as any other",
)
def owner_commits(before: GroupCluster, after: GroupCluster) -> bool:
    """A commit is of a member that owns the partition in the generation of the commit."""
    premise(after.commits > before.commits)
    return any(c.owns and c.generation == after.commit_generation for c in before.consumers)


@step(
    symptom="a commit is answered, and OffsetFetch answers with another one",
    log="none: the commit is answered as any other",
)
def acknowledged_commit_is_the_last(before: GroupCluster, after: GroupCluster) -> bool:
    """The commit that is acknowledged is the last that was accepted."""
    premise(after.acknowledged is not None and after.acknowledged != before.acknowledged)
    return after.acknowledged is None or after.acknowledged.commit == after.commits


@step(
    symptom="the assignment changes hands although its leader takes part in the rebalance",
    log="[GroupCoordinator …]: Assignment received from leader for group … for generation … (3.9: Assignment received "
    "from leader … for group … for generation …)",
)
def leader_stays_while_it_joins(before: GroupCluster, after: GroupCluster, broker: Broker) -> bool:
    """A leader that waits for the end of a rebalance leads the group while it is a member."""
    old, new = before.coordinators[broker].group, after.coordinators[broker].group
    premise(old.leader in old.awaiting_join and old.leader in new.members)
    return new.leader == old.leader


@step(
    symptom="a member that was removed, or is late, is taken for one of the present generation",
    log="[GroupCoordinator …]: Preparing to rebalance group … with old generation …",
)
def rebalance_raises_the_generation(before: GroupCluster, after: GroupCluster, broker: Broker) -> bool:
    """The end of a rebalance begins the next generation, also one without members."""
    old, new = before.coordinators[broker].group, after.coordinators[broker].group
    premise(old.state is GroupState.PREPARING_REBALANCE)
    premise(new.state in (GroupState.COMPLETING_REBALANCE, GroupState.EMPTY))
    return new.generation == old.generation + 1


@always(
    symptom="a consumer asks again for what it is about to be answered",
    log="none: kafka-consumer-groups.sh --describe --state shows the group in the same state",
)
def awaited_consumer_waits(cluster: GroupCluster, consumer: ConsumerId) -> bool:
    """A consumer whose request the coordinator is to answer waits for that answer."""
    asking = cluster.consumers[consumer]
    group = cluster.coordinators[asking.coordinator].group
    premise(asking.member_id in group.awaiting_join | group.awaiting_sync)
    is_joining = asking.status in (ConsumerStatus.JOINING_NEW, ConsumerStatus.JOINING)
    return is_joining if asking.member_id in group.awaiting_join else asking.status is ConsumerStatus.SYNCING


@step(
    symptom="a broker that does not lead the partition answers for its groups",
    log="[GroupCoordinator …]: Loading group metadata for … with generation …",
)
def follower_loads_nothing(before: GroupCluster, after: GroupCluster) -> bool:
    """A load that comes when the broker leads no more finds nothing."""
    loading = [
        after.coordinators[b].owns and not before.coordinators[b].owns and not after.coordinators[b].is_leader
        for b in BROKERS
    ]
    premise(any(loading))
    groups = [coordinator.group for coordinator in after.coordinators]
    return all(not loading[b] or (not groups[b].exists and groups[b].offset is None) for b in BROKERS)


@step(
    symptom="a static consumer that is started again causes a rebalance",
    log="[GroupCoordinator …]: Preparing to rebalance group … with old generation …",
)
def stopped_static_member_stays(before: GroupCluster, after: GroupCluster, consumer: ConsumerId) -> bool:
    """A static member that stops stays a member until its session ends."""
    old = before.consumers[consumer]
    group = before.coordinators[old.coordinator].group
    premise(old.member_id in group.members and after.consumers[consumer].status is ConsumerStatus.STOPPED)
    return old.member_id in after.coordinators[old.coordinator].group.members


@step(
    symptom="a consumer joins again although its group waits for no other one",
    log="[GroupCoordinator …]: Preparing to rebalance group … with old generation …",
)
def join_is_given_up_for_want_of_a_member(before: GroupCluster, after: GroupCluster, broker: Broker) -> bool:
    """A consumer waits no longer for the answer to JoinGroup only while a member has not joined."""
    premise(after.join_timeouts > before.join_timeouts)
    group = before.coordinators[broker].group
    return not group.members <= group.awaiting_join


@always(
    symptom="a partition is assigned to a consumer that did not join in time: it is not consumed until the session of "
    "that one ends, and the group rebalances again",
    log="Group leader [member.id: …, group.instance.id: Some(null)] failed to join before rebalance timeout, while new "
    "leader … was elected., where it was the leader (2.3 to 2.7)",
)
def late_member_gets_no_partition(cluster: GroupCluster, broker: Broker) -> bool:
    """The leader assigns the partition to a member of its generation, or to one whose process is gone since."""
    group = cluster.coordinators[broker].group
    premise(group.state is GroupState.COMPLETING_REBALANCE and group.owner is not None)
    return all(
        not c.is_live or c.member_id != group.owner or c.generation == group.generation for c in cluster.consumers
    )


@always(symptom="two members of a generation process the same records", log="none: both log the same assignment")
def one_owner_per_generation(cluster: GroupCluster, broker: Broker) -> bool:
    """Of the members that a coordinator has in its generation at most one owns the partition."""
    group = cluster.coordinators[broker].group
    premise(group.state is GroupState.STABLE)
    owners = [c.owns and c.member_id in group.members and c.generation == group.generation for c in cluster.consumers]
    return sum(owners) <= 1


@always(
    symptom="a consumer that has ended with an exception, or was replaced, still processes records",
    log="none: another member logs the same assignment",
)
def consumer_outside_the_group_owns_nothing(cluster: GroupCluster, consumer: ConsumerId) -> bool:
    """A consumer that takes no part, or is about to join for the first time, has neither partition nor membership."""
    asking = cluster.consumers[consumer]
    premise(not asking.is_live or (asking.status is ConsumerStatus.UNJOINED and asking.member_id is None))
    return not asking.owns and asking.generation == 0 and asking.member_id is None


@always(
    symptom="a rebalance waits for a member that the group does not have, or DescribeGroups shows such a member",
    log="java.lang.IllegalStateException, or none: kafka-consumer-groups.sh --describe --members shows it",
)
def cached_group_is_consistent(cluster: GroupCluster, broker: Broker) -> bool:
    """Who leads, owns or waits is a member, and waits for what the group's state is about.

    A Dead or Empty group has no members; one with members has a leader. There is an assignment from the leader's
    SyncGroup on, until the next rebalance.
    """
    group = cluster.coordinators[broker].group
    waiting = group.awaiting_join | group.awaiting_sync | group.pending_sync
    has_members = waiting <= group.members and (group.owner is None or group.owner in group.members)
    has_leader = group.leader in group.members if group.members else group.leader is None
    is_answered = not group.awaiting_join and not group.awaiting_sync
    if not (has_members and has_leader and (group.is_storing or not group.replaced)):
        return False
    if group.state is GroupState.DEAD:
        return not group.members and group.generation == 0 and group.time == 0 and not group.is_storing
    if group.state is GroupState.EMPTY:
        return not group.members and not group.is_storing
    if group.state is GroupState.PREPARING_REBALANCE:
        is_waiting = not group.awaiting_sync and not group.pending_sync
        return is_waiting and group.owner is None and not group.is_storing
    if group.state is GroupState.COMPLETING_REBALANCE:
        return bool(group.members) and not group.awaiting_join and (group.owner is None or group.is_storing)
    return bool(group.members) and not group.awaiting_sync and (group.is_storing or is_answered)


@always(
    symptom="members of a group support no common protocol, and their leader cannot make an assignment",
    log="org.apache.kafka.common.errors.InconsistentGroupProtocolException: The group member's supported protocols are "
    "incompatible with those of existing members …",
)
def members_have_one_protocol(cluster: GroupCluster, broker: Broker) -> bool:
    """All members of a group support the protocol that the group has."""
    group = cluster.coordinators[broker].group
    return all(
        cluster.consumers[c].member_id not in group.members or has_another_protocol(c) == group.other_protocol
        for c in CONSUMERS
    )


def has_another_protocol(consumer: int) -> bool:
    """Whether the consumer is one of the last ones, which support another protocol than the rest."""
    return consumer >= len(CONSUMERS) - OTHER_PROTOCOLS


@always(
    symptom="a request of a member is never answered, and its consumer waits until request.timeout.ms",
    log="none: kafka-consumer-groups.sh --describe --state shows the group in the same state",
)
def waiting_member_is_awaited(cluster: GroupCluster, consumer: ConsumerId) -> bool:
    """While a request of a member waits for its answer, the coordinator has it among those that it is to answer."""
    asking = cluster.consumers[consumer]
    group = cluster.coordinators[asking.coordinator].group
    premise(asking.status in (ConsumerStatus.JOINING_NEW, ConsumerStatus.JOINING, ConsumerStatus.SYNCING))
    awaited = group.awaiting_sync if asking.status is ConsumerStatus.SYNCING else group.awaiting_join
    return asking.member_id is not None and asking.member_id in awaited


@always(
    symptom="a consumer processes records without being a member, or sends requests without a generation",
    log="[Consumer clientId=…, groupId=…] Successfully joined group with generation …",
)
def consumer_knows_its_generation(cluster: GroupCluster, consumer: ConsumerId) -> bool:
    """A consumer has a generation once its JoinGroup is answered, and the partition once its SyncGroup is."""
    asking = cluster.consumers[consumer]
    has_joined = asking.status in (ConsumerStatus.JOINED, ConsumerStatus.SYNCING, ConsumerStatus.STABLE)
    is_member = asking.member_id is not None and asking.generation > 0
    knows_nothing = asking.generation == 0 and not asking.member_ids
    return (is_member if has_joined else knows_nothing) and (not asking.owns or asking.status is ConsumerStatus.STABLE)


@step(
    symptom="a consumer that polls in time has to join again, and its commits fail with CommitFailedException",
    log="[GroupCoordinator …]: Member … in group … has failed, removing it from the group",
)
def member_that_answers_is_not_removed(before: GroupCluster, after: GroupCluster, consumer: ConsumerId) -> bool:
    """While a consumer runs and stays a member in its own eyes, the coordinator that it asks does not remove it."""
    old, new = before.consumers[consumer], after.consumers[consumer]
    premise(old.is_running and new.is_live and new.member_id == old.member_id and new.coordinator == old.coordinator)
    premise(old.member_id in before.coordinators[old.coordinator].group.members)
    premise(after.coordinators[old.coordinator].owns)
    return old.member_id in after.coordinators[old.coordinator].group.members


@always(
    symptom="members are answered that a deposed coordinator has stored their assignment, or it accepts no commit",
    log="none: the produce to __consumer_offsets is still pending",
)
def appends_end_with_the_leadership(cluster: GroupCluster, broker: Broker) -> bool:
    """A broker that knows that it does not lead waits for no replica: its appends have failed."""
    premise(not cluster.coordinators[broker].is_leader)
    group = cluster.coordinators[broker].group
    return not group.is_storing and not group.is_committing


@always(
    symptom="OffsetFetch answers with an offset of a group that kafka-consumer-groups.sh --list does not show",
    log="none: the offset is in the cache",
)
def offset_belongs_to_a_group(cluster: GroupCluster, broker: Broker) -> bool:
    """A coordinator caches an offset in its group: where it has no group, it has no offset, and no commit waits."""
    group = cluster.coordinators[broker].group
    premise(bool(EMPTY_GROUPS_STAY) and not group.exists)
    return group.offset is None and not group.is_committing and not group.is_removing


@always(
    symptom="members get an assignment that another member than their leader has made",
    log="[GroupCoordinator …]: Assignment received from leader for group … for generation … (3.9: Assignment received "
    "from leader … for group … for generation …)",
)
def assignment_is_the_leaders(cluster: GroupCluster, broker: Broker) -> bool:
    """While the assignment of a rebalance is stored, the leader's SyncGroup is among those that wait."""
    group = cluster.coordinators[broker].group
    premise(group.state is GroupState.COMPLETING_REBALANCE and group.is_storing)
    return group.leader in group.awaiting_sync


@step(
    symptom="a new coordinator answers with another generation, assignment or offset than the last one",
    log="[GroupCoordinator …]: Loading group metadata for … with generation …",
)
def loaded_group_is_that_of_the_log(before: GroupCluster, after: GroupCluster) -> bool:
    """A coordinator that has loaded the partition caches what the last records of the log say."""
    loading = [
        after.coordinators[b].owns and after.coordinators[b].is_leader and not before.coordinators[b].owns
        for b in BROKERS
    ]
    premise(any(loading))
    return all(not loading[b] or caches_log_of(after, b) for b in BROKERS)


def caches_log_of(cluster: GroupCluster, broker: int) -> bool:
    """Whether a broker caches what the last records of its own log say."""
    last, offset = OffsetsRecord(is_tombstone=True), None
    for record in cluster.partition.log:
        if broker in record.removed_from:
            pass
        elif record.key is RecordKey.GROUP:
            last = record
        else:
            offset = None if record.is_tombstone else record.offset
    group = cluster.coordinators[broker].group
    is_there = not last.is_tombstone or (bool(EMPTY_GROUPS_STAY) and offset is not None)
    return group.exists == is_there and is_loaded(group, last) and group.offset == offset


def is_loaded(group: GroupMetadata, record: OffsetsRecord) -> bool:
    """Whether a cached group is as its record has it, unless it is to have fewer members."""
    if GROUP_MAX_SIZE > 0 and len(record.members) > GROUP_MAX_SIZE:
        return group.state is GroupState.PREPARING_REBALANCE and group.members == record.members
    is_same = group.generation == record.generation and group.members == record.members and group.time == record.time
    is_assigned = group.leader == record.leader and group.owner == record.owner
    return is_same and is_assigned and group.other_protocol == record.other_protocol


@step(
    symptom="after a compaction a new coordinator answers with an earlier generation or offset, or with none",
    log="Cleaner …: Cleaning log … (cleaning prior to …, discarding tombstones prior to …)",
)
def compaction_keeps_the_last_values(before: GroupCluster, after: GroupCluster, broker: Broker) -> bool:
    """A compaction leaves the last generation and the last commit that a replica has."""
    premise(after.cleanings > before.cleanings)
    is_same_group = last_generation(after, broker) == last_generation(before, broker)
    return is_same_group and last_commit(after, broker) == last_commit(before, broker)


@step(
    symptom="an offset that has expired, or a group that was removed, is back on a replica that was behind",
    log="Cleaner …: Cleaning log … (cleaning prior to …, discarding tombstones prior to …)",
)
def young_tombstone_stays(before: GroupCluster, after: GroupCluster, broker: Broker) -> bool:
    """The last tombstone of a group or an offset outlives the first cleaning that comes to it."""
    premise(after.cleanings > before.cleanings)
    loses_group, loses_offset, position = False, False, 0
    for record in after.partition.log:
        is_lost = record.is_tombstone and position >= before.partition.clean_ends[broker]
        is_lost = is_lost and broker in record.removed_from
        if record.key is RecordKey.OFFSET:
            loses_offset = is_lost
        elif not record.is_gone:
            loses_group = is_lost
        position = position + 1
    return not loses_group and not loses_offset


def last_generation(cluster: GroupCluster, broker: int) -> int:
    """Return the generation of the last record of the group in the replica of a broker; 0 for a tombstone, or none."""
    found, position = 0, 0
    for record in cluster.partition.log:
        is_there = position < end_of_replica(cluster, broker) and broker not in record.removed_from
        found = record.generation if is_there and record.key is RecordKey.GROUP else found
        position = position + 1
    return found


def last_commit(cluster: GroupCluster, broker: int) -> int:
    """Return the last commit in the replica of a broker; 0 for a tombstone, or none."""
    found, position = 0, 0
    for record in cluster.partition.log:
        is_there = position < end_of_replica(cluster, broker) and broker not in record.removed_from
        found = record.offset.commit if is_there and record.key is RecordKey.OFFSET else found
        position = position + 1
    return found


def end_of_replica(cluster: GroupCluster, broker: int) -> int:
    """Return how many records the replica of a broker has, with those that were compacted away."""
    partition = cluster.partition
    return len(partition.log) if partition.leader == broker else partition.replicated


@always(
    symptom="a new coordinator answers with an earlier generation, or with an assignment to a member that is gone",
    log="none: kafka-dump-log.sh --offsets-decoder shows the records",
)
def records_are_in_order(cluster: GroupCluster) -> bool:
    """Generations and commits rise, but after a tombstone, or a gap where one was; who leads or owns is a member."""
    generation = commit = 0
    is_ordered = True
    for record in cluster.partition.log:
        if record.is_gone:
            generation = 0
        elif record.key is RecordKey.GROUP:
            has_leader = record.leader in record.members if record.members else record.leader is None
            has_owner = record.owner is None or record.owner in record.members
            is_ordered = is_ordered and has_leader and has_owner
            is_ordered = is_ordered and (record.generation >= generation or record.is_tombstone)
            generation = record.generation
        else:
            is_ordered = is_ordered and (record.offset.commit > commit or record.is_tombstone)
            commit = max(commit, record.offset.commit)
    return is_ordered


@step(
    symptom="records that were acknowledged are truncated from a replica, or are not read by consumers for a while",
    log="none: kafka-get-offsets.sh shows an earlier end",
)
def high_watermark_does_not_go_back(before: GroupCluster, after: GroupCluster, broker: Broker) -> bool:
    """A leader's high watermark rises or stays; an election leaves that of each replica as it is.

    A follower takes its leader's, which may be lower.
    """
    leads = after.partition.leader == broker and before.partition.leader == broker
    premise(leads or before.partition.leader != after.partition.leader)
    old, new = watermark(before, broker), watermark(after, broker)
    return new >= old if leads else new == old


def watermark(cluster: GroupCluster, broker: int) -> int:
    """Return the high watermark that the replica of a broker knows."""
    partition = cluster.partition
    return partition.high_watermark if partition.leader == broker else partition.follower_high_watermark


@step(
    symptom="consumers lose their member ids when their coordinator moves: a rebalance waits until the sessions of the "
    "earlier ones end, and commits fail with CommitFailedException",
    log="UNKNOWN_MEMBER_ID in responses to Heartbeat",
)
def moved_member_keeps_its_id(before: GroupCluster, after: GroupCluster, consumer: ConsumerId) -> bool:
    """A consumer keeps its member id that is in the log, and in each cache that a coordinator has loaded."""
    old, new = before.consumers[consumer], after.consumers[consumer]
    premise(old.is_running and old.status is ConsumerStatus.STABLE and new.is_live)
    premise(all(not c.owns or is_member_of(c.group, old) for c in before.coordinators))
    is_stored = False
    for record in before.partition.log:
        if record.key is RecordKey.GROUP:
            is_stored = old.member_id in record.members and record.generation == old.generation
    premise(is_stored)
    return new.member_id == old.member_id


def is_member_of(group: GroupMetadata, consumer: Consumer) -> bool:
    """Whether a consumer is a member of the present generation of a group."""
    return consumer.member_id in group.members and consumer.generation == group.generation


@always(
    symptom="kafka-consumer-groups.sh --list shows a group twice for good, and old members are answered",
    log="none: Finished unloading … is logged",
)
def unloaded_group_is_not_cached(cluster: GroupCluster, broker: Broker) -> bool:
    """A broker that does not own the partition caches neither the group nor its offset."""
    premise(not cluster.coordinators[broker].owns)
    group = cluster.coordinators[broker].group
    return not group.exists and group.offset is None and not group.is_committing and not group.members


@always(
    symptom="the next coordinator does not know the group as its members do, and all of them join again",
    log="[GroupCoordinator …]: Loading group metadata for … with generation …",
)
def stable_group_is_stored(cluster: GroupCluster, broker: Broker) -> bool:
    """The last record of a Stable group has its generation, its members, its leader and its assignment.

    That of a group that has become Empty has its generation.
    """
    group = cluster.coordinators[broker].group
    premise(cluster.serves(broker) and group.state in (GroupState.STABLE, GroupState.EMPTY))
    premise(group.generation > 0 and not group.is_storing and not group.is_removing)
    is_stored = False
    for record in cluster.partition.log:
        if record.key is RecordKey.GROUP and broker not in record.removed_from:
            is_same = record.generation == group.generation and record.members == group.members
            is_assigned = record.leader == group.leader and record.owner == group.owner
            is_stored = is_same and is_assigned and not record.is_tombstone
    return is_stored


@always(
    symptom="a commit that was acknowledged is gone after an election",
    log="none: the high watermark of a replica is above the end offset of another one in sync",
)
def watermark_is_replicated(cluster: GroupCluster) -> bool:
    """Each replica's high watermark is at most what all replicas have, and that at most what the leader has."""
    partition = cluster.partition
    known = max(partition.high_watermark, partition.follower_high_watermark)
    return known <= partition.replicated <= len(partition.log)


@step(
    symptom="commits of the present members are refused, or those of earlier ones are accepted",
    log="[GroupCoordinator …]: Stabilized group … generation …, with a lower generation than before",
)
def generation_does_not_go_back(before: GroupCluster, after: GroupCluster, broker: Broker) -> bool:
    """While a coordinator caches a group, its generation rises or stays."""
    premise(before.coordinators[broker].group.exists and after.coordinators[broker].group.exists)
    return after.coordinators[broker].group.generation >= before.coordinators[broker].group.generation


@step(
    symptom="a consumer starts, stops, stalls, commits or joins again, or the coordinator moves, without an action of "
    "a client or an operator, and without a fault",
    log="none",
)
def events_are_counted(before: GroupCluster, after: GroupCluster) -> bool:
    """What the bounds count happens by the step that counts it: starts, stops, stalls, commits, moves and cleanings."""
    started = stopped = stalled = gave_up = committed = 0
    for consumer in CONSUMERS:
        old, new = before.consumers[consumer], after.consumers[consumer]
        was_stopped, is_stopped = old.status is ConsumerStatus.STOPPED, new.status is ConsumerStatus.STOPPED
        started = started + (was_stopped and not is_stopped)
        stopped = stopped + (is_stopped and not was_stopped)
        stalled = stalled + (old.pace is Pace.RUNNING and new.pace is not Pace.RUNNING)
        is_member = old.member_id in after.coordinators[old.coordinator].group.members
        is_unanswered = old.status is ConsumerStatus.JOINING_NEW and new.status is ConsumerStatus.UNJOINED
        gave_up = gave_up + (is_unanswered and is_member)
    for broker in BROKERS:
        was_committing = before.coordinators[broker].group.is_committing
        committed = committed + (after.coordinators[broker].group.is_committing and not was_committing)
    is_short = after.partition.is_short_of_replicas and not before.partition.is_short_of_replicas
    is_moved = before.partition.leader != after.partition.leader
    is_shorter = len(after.partition.log) < len(before.partition.log)
    is_cleaned = CLEANINGS > 0 and any(after.partition.clean_ends[b] > before.partition.clean_ends[b] for b in BROKERS)
    return (
        after.starts == before.starts + started
        and after.consumer_stops == before.consumer_stops + stopped
        and after.pauses == before.pauses + stalled
        and after.commits == before.commits + committed
        and after.long_metadata <= before.long_metadata + committed
        and after.join_timeouts == before.join_timeouts + gave_up
        and after.isr_shrinks == before.isr_shrinks + is_short
        and after.moves + after.reassignments == before.moves + before.reassignments + is_moved
        and after.partition.leader_epoch == before.partition.leader_epoch + is_moved
        and (is_moved or not is_shorter)
        and after.cleanings == before.cleanings + is_cleaned
    )


@step(
    symptom="consumers that were stopped for less than offsets.retention.minutes begin at auto.offset.reset",
    log="[GroupMetadataManager brokerId=…] Removed … expired offsets in … milliseconds.",
)
def young_offset_is_kept(before: GroupCluster, after: GroupCluster, broker: Broker) -> bool:
    """No offset is removed before the retention period has passed since its commit, unless somebody deletes it."""
    offset = before.coordinators[broker].group.offset
    premise(is_kept_by_clock(before, after, broker) and offset is not None)
    assert offset is not None
    new = after.coordinators[broker].group
    return (new.offset is not None and not new.is_removing) or offset.time < before.clock


@step(
    symptom="consumers that were stopped for less than offsets.retention.minutes begin at auto.offset.reset",
    log="[GroupMetadataManager brokerId=…] Removed … expired offsets in … milliseconds.",
)
def offset_is_kept_from_empty_on(before: GroupCluster, after: GroupCluster, broker: Broker) -> bool:
    """Since KIP-211 the offset of a group that has become Empty is kept for the retention period from then on."""
    group = before.coordinators[broker].group
    premise(bool(RETENTION_FROM_EMPTY) and group.state is GroupState.EMPTY and group.generation > 0)
    premise(is_kept_by_clock(before, after, broker) and group.offset is not None)
    since = 0
    for record in before.partition.log:
        if record.key is RecordKey.GROUP and not record.is_tombstone:
            since = record.time
    return after.coordinators[broker].group.offset is not None or since < before.clock


@step(
    symptom="an offset that has expired, or was deleted, is back after the coordinator has moved",
    log="[GroupCoordinator …]: Loading group metadata for … with generation …",
)
def removed_offset_has_a_tombstone(before: GroupCluster, after: GroupCluster, broker: Broker) -> bool:
    """Where a coordinator removes an offset, the last record about it in its log is a tombstone."""
    was, now = before.coordinators[broker].group.offset, after.coordinators[broker].group.offset
    premise(was is not None and now is None and after.coordinators[broker].owns and after.leads(broker))
    is_removed = True
    for record in after.partition.log:
        is_removed = record.is_tombstone if record.key is RecordKey.OFFSET else is_removed
    return is_removed


@always(
    symptom="a commit, or a member's SyncGroup, is not answered although all replicas have its record",
    log="none: the consumer's request times out",
)
def replicated_append_is_answered(cluster: GroupCluster, broker: Broker) -> bool:
    """A coordinator waits for replicas only while they do not have the end of its log."""
    premise(cluster.serves(broker) and cluster.partition.high_watermark == len(cluster.partition.log))
    group = cluster.coordinators[broker].group
    return not group.is_storing and not group.is_committing and not group.is_removing


def is_kept_by_clock(before: GroupCluster, after: GroupCluster, broker: int) -> bool:
    """Whether only the passing of time can remove an offset: the coordinator stays, and nobody deletes anything."""
    is_deleted = after.group_deletions > before.group_deletions or before.incarnation > 0
    is_deleted = is_deleted or before.coordinators[broker].group.is_removing
    return before.serves(broker) and after.coordinators[broker].owns and not is_deleted


@step(
    symptom="kafka-consumer-groups.sh --delete says that the deletion was successful, and the group is still there",
    log="none: kafka-consumer-groups.sh --list shows the group",
)
def deletion_removes_the_group(before: GroupCluster, after: GroupCluster) -> bool:
    """A group that an operator deletes is in no cache any more, or is being removed."""
    premise(after.group_deletions > before.group_deletions)
    groups = [coordinator.group for coordinator in after.coordinators if coordinator.owns]
    return any(not group.exists or group.is_removing for group in groups)


@step(
    symptom="a consumer that processes a batch for long loses its partitions, although its heartbeats arrive in time",
    log="[GroupCoordinator …]: Member … in group … has failed, removing it from the group",
)
def member_with_heartbeats_is_not_removed(before: GroupCluster, after: GroupCluster, consumer: ConsumerId) -> bool:
    """A member of a Stable group that has its assignment stays a member while its heartbeats arrive."""
    old, new = before.consumers[consumer], after.consumers[consumer]
    group = before.coordinators[old.coordinator].group
    premise(old.pace is Pace.STALLED and old.status is ConsumerStatus.STABLE and new.member_id == old.member_id)
    premise(group.state is GroupState.STABLE and old.member_id in group.members)
    premise(old.generation == group.generation and after.coordinators[old.coordinator].owns)
    return old.member_id in after.coordinators[old.coordinator].group.members


@always(
    symptom="kafka-consumer-groups.sh does not list a group that has committed, and its generations begin again at 1",
    log="[GroupMetadataManager brokerId=…] Group … transitioned to Dead in generation …",
)
def group_with_an_offset_is_listed(cluster: GroupCluster, broker: Broker) -> bool:
    """The coordinator has the group as long as it has a commit that was acknowledged."""
    premise(cluster.acknowledged is not None and cluster.serves(broker))
    return cluster.coordinators[broker].group.exists


@always(
    symptom="kafka-consumer-groups.sh --describe --members shows more members than there are consumers, and the next "
    "generation waits for those that are gone",
    log="[GroupCoordinator …]: Member … in group … has failed, removing it from the group",
)
def group_has_no_more_members_than_consumers(cluster: GroupCluster, broker: Broker) -> bool:
    """While no consumer stops, a group has no more members than there are consumers."""
    premise(cluster.consumer_stops == 0 and cluster.serves(broker))
    return len(cluster.coordinators[broker].group.members) <= sum(c.is_live for c in cluster.consumers)


@always(
    symptom="offsets of a partition are not answered to consumers with isolation.level=read_committed (2.5 and later), "
    "do not expire, and keep their group from being removed, until the coordinator moves",
    log="UNSTABLE_OFFSET_COMMIT in responses to OffsetFetch",
)
def pending_commit_is_on_its_way(cluster: GroupCluster, broker: Broker) -> bool:
    """A coordinator takes a commit for one that is not answered yet only while one waits for the replicas."""
    premise(cluster.commits > 0 and not cluster.coordinators[broker].group.is_committing)
    return not cluster.coordinators[broker].group.is_pending_elsewhere


@always(
    symptom="consumers end with an exception while __consumer_offsets has fewer in-sync replicas than "
    "min.insync.replicas",
    log="NOT_ENOUGH_REPLICAS in responses to SyncGroup",
)
def short_isr_ends_no_consumer(cluster: GroupCluster, consumer: ConsumerId) -> bool:
    """A consumer gets no error that it does not expect from a partition that is short of in-sync replicas."""
    premise(cluster.isr_shrinks > 0)
    return cluster.consumers[consumer].status is not ConsumerStatus.REFUSED


@step(
    symptom="a consumer that is slow to ask for its assignment has to join again, and the group rebalances again",
    log="[GroupCoordinator …]: Member … in group … has failed, removing it from the group",
)
def heartbeats_keep_a_member(before: GroupCluster, after: GroupCluster, consumer: ConsumerId) -> bool:
    """While a rebalance is completed, no member is removed that sends heartbeats."""
    old, new = before.consumers[consumer], after.consumers[consumer]
    group = before.coordinators[old.coordinator].group
    premise(old.is_live and new.is_live and old.pace is not Pace.PAUSED)
    premise(group.state is GroupState.COMPLETING_REBALANCE and old.member_id in group.members)
    premise(new.member_id == old.member_id and after.coordinators[old.coordinator].owns)
    return old.member_id in after.coordinators[old.coordinator].group.members


@always(
    symptom="a consumer that chooses its partitions itself ends with an exception as it commits",
    log="UNKNOWN_MEMBER_ID or INVALID_TIMESTAMP in responses to OffsetCommit",
)
def lone_commit_is_accepted(cluster: GroupCluster, consumer: ConsumerId) -> bool:
    """A consumer that has not joined may commit to a group without members."""
    return cluster.consumers[consumer].status is not ConsumerStatus.REFUSED


@step(
    symptom="a group without members has an offset that no consumer has committed, or one commit's answer is another's",
    log="none",
)
def consumer_commits_alone(before: GroupCluster, after: GroupCluster) -> bool:
    """A consumer that runs and has not joined commits, and not while another commit to the group is replicated."""
    premise(before.commits != after.commits)
    is_sent = any(one.is_running and one.status is ConsumerStatus.UNJOINED for one in before.consumers)
    is_free = not any(one.group.is_committing for one in before.coordinators)
    return is_sent and is_free and after.commits == before.commits + 1


@reachable()
def lone_commit_is_acknowledged(cluster: GroupCluster) -> bool:
    """A group without members has an offset."""
    return cluster.acknowledged is not None and cluster.stored_generation == 0


@always(
    symptom="consumers with isolation.level=read_committed wait for good for the offset of a partition (since 2.5), "
    "and __consumer_offsets is not compacted any more",
    log="none: kafka-transactions.sh find-hanging shows the transaction; UNSTABLE_OFFSET_COMMIT is in answers to "
    "OffsetFetch",
)
def pending_offset_is_of_a_transaction(cluster: GroupCluster) -> bool:
    """An offset that is pending is one of a transaction that is ongoing, and will end."""
    premise(cluster.partition.has_pending_commit)
    return cluster.transaction is not None


@step(
    symptom="a member that does not own the partition sets the group's offset back or forth, in a transaction",
    log="none: the commit is accepted as any other",
)
def owner_commits_in_a_transaction(before: GroupCluster, after: GroupCluster) -> bool:
    """A transactional commit is sent by a member that runs, and owns the partition in the generation of the commit."""
    premise(before.sent_member is None and after.sent_member is not None)
    return any(
        c.is_running and c.owns and (c.member_id, c.generation) == (after.sent_member, after.sent_generation)
        for c in before.consumers
    )


@reachable()
def member_is_replaced_before_its_commit_comes(cluster: GroupCluster) -> bool:
    """Another generation was stored while a transactional commit is on its way."""
    return cluster.sent_member is not None and cluster.sent_generation < cluster.stored_generation


@reachable()
def transaction_commits_its_offset(cluster: GroupCluster) -> bool:
    """A transaction has ended, and its offset is the group's."""
    is_over = cluster.transactional_commits > 0 and cluster.transaction is None
    return is_over and cluster.acknowledged is not None


@always(
    symptom="no consumer can join a group",
    log="INCONSISTENT_GROUP_PROTOCOL in responses to JoinGroup",
)
def named_protocol_is_accepted(cluster: GroupCluster, consumer: ConsumerId) -> bool:
    """A consumer that names a protocol is not refused for one that names none."""
    premise(not has_another_protocol(consumer))
    return cluster.consumers[consumer].status is not ConsumerStatus.REFUSED


@always(
    symptom="a group has more members than group.max.size",
    log="none: kafka-consumer-groups.sh --describe --members shows them",
)
def group_stays_within_its_maximum(cluster: GroupCluster, broker: Broker) -> bool:
    """Once a rebalance has begun to complete, a group has no more members than group.max.size."""
    group = cluster.coordinators[broker].group
    premise(GROUP_MAX_SIZE > 0 and group.state in (GroupState.COMPLETING_REBALANCE, GroupState.STABLE))
    return len(group.members) <= GROUP_MAX_SIZE


@step(
    symptom="after group.max.size was lowered more consumers end with GroupMaxSizeReachedException than there are too "
    "many, and partitions are not consumed",
    log="GROUP_MAX_SIZE_REACHED in responses to JoinGroup",
)
def group_keeps_its_maximum(before: GroupCluster, after: GroupCluster, consumer: ConsumerId) -> bool:
    """A member is removed for the size of its group only while more consumers are left than the group may have."""
    premise(GROUP_MAX_SIZE > 0 and before.consumers[consumer].member_id is not None)
    premise(before.consumers[consumer].is_live and after.consumers[consumer].status is ConsumerStatus.REFUSED)
    return sum(c.status is ConsumerStatus.REFUSED for c in after.consumers) <= len(CONSUMERS) - GROUP_MAX_SIZE


@step(
    symptom="after group.max.size was lowered a rebalance waits for consumers that have ended",
    log="[GroupCoordinator …]: Member … in group … has failed, removing it from the group",
)
def evicted_member_is_removed(before: GroupCluster, after: GroupCluster, consumer: ConsumerId) -> bool:
    """A consumer that is refused for the size of its group is no member."""
    old = before.consumers[consumer]
    premise(old.is_live and after.consumers[consumer].status is ConsumerStatus.REFUSED)
    return old.member_id not in after.coordinators[old.coordinator].group.members


@step(
    symptom="a consumer that starts takes the place of another one in a group of group.max.size members",
    log="GROUP_MAX_SIZE_REACHED in responses to JoinGroup",
)
def full_group_takes_no_member(before: GroupCluster, after: GroupCluster, broker: Broker) -> bool:
    """But in a rebalance, where those count that have joined, a group grows up to group.max.size only."""
    old, new = before.coordinators[broker].group, after.coordinators[broker].group
    premise(GROUP_MAX_SIZE > 0 and old.exists and old.state is not GroupState.PREPARING_REBALANCE)
    return len(new.members) <= max(len(old.members), GROUP_MAX_SIZE)


@always(
    symptom="a group that an operator has deleted is listed again, with its old offset",
    log="[GroupCoordinator …]: Loading group metadata for … with generation …",
)
def deleted_group_stays_deleted(cluster: GroupCluster, broker: Broker) -> bool:
    """After DeleteGroups was answered, the group does not come back before a consumer joins it."""
    premise(cluster.group_deletions > 0 and cluster.is_removed and cluster.serves(broker))
    return not cluster.coordinators[broker].group.exists


@always(
    symptom="a group that was removed is listed again; a consumer that joins waits for members that are gone",
    log="[GroupCoordinator …]: Loading group metadata for … with generation …",
)
def removed_group_stays_removed(cluster: GroupCluster, broker: Broker) -> bool:
    """A group that was removed does not come back before a consumer joins it."""
    premise(cluster.is_removed and cluster.serves(broker))
    return not cluster.coordinators[broker].group.exists


@always(
    symptom="a consumer of a topic that was created again begins at an offset of the topic that was deleted",
    log="[Consumer clientId=…, groupId=…] Fetch position … is out of range for partition …; or none: it is in range",
)
def recreated_topic_has_no_offset(cluster: GroupCluster, broker: Broker) -> bool:
    """Once every broker knows of a topic's deletion, the coordinator has no offset of the deleted topic."""
    premise(not any(coordinator.misses_deletion for coordinator in cluster.coordinators))
    premise(cluster.incarnation > 0 and cluster.serves(broker))
    offset = cluster.coordinators[broker].group.offset
    return offset is None or offset.incarnation == cluster.incarnation


@always(
    symptom="a consumer ends with FencedInstanceIdException although no other one has its group.instance.id",
    log=FENCED,
)
def static_member_is_not_fenced(cluster: GroupCluster, consumer: ConsumerId) -> bool:
    """A consumer whose group.instance.id no other consumer uses is not fenced."""
    premise(cluster.consumers[consumer].status is not ConsumerStatus.STOPPED)
    return cluster.consumers[consumer].status is not ConsumerStatus.FENCED


@always(
    symptom="after a move of its coordinator a static consumer that starts again ends with UNKNOWN_SERVER_ERROR, until "
    "its earlier session has ended",
    log="Error when handling request: clientId=…, correlationId=…, api=JOIN_GROUP, body=… (2.3)",
)
def static_member_can_join(cluster: GroupCluster, consumer: ConsumerId) -> bool:
    """A consumer is not refused whose protocol the members of its group support, or which is the only one."""
    premise(cluster.consumers[consumer].status is not ConsumerStatus.STOPPED)
    return cluster.consumers[consumer].status is not ConsumerStatus.REFUSED


@step(
    symptom="a consumer ends with FencedInstanceIdException after its group's coordinator has moved",
    log=FENCED,
)
def settled_static_member_is_not_fenced(before: GroupCluster, after: GroupCluster, consumer: ConsumerId) -> bool:
    """A consumer that has got its assignment, and whose group.instance.id no other consumer uses, is not fenced."""
    premise(before.consumers[consumer].status is ConsumerStatus.STABLE)
    return after.consumers[consumer].status is not ConsumerStatus.FENCED


@when_quiescent(
    symptom="a partition of the topic is not consumed, and its lag grows",
    log="none: kafka-consumer-groups.sh --describe shows the group as Stable, and no consumer of the partition",
)
def partition_is_consumed(cluster: GroupCluster) -> bool:
    """While all live consumers run, one of them owns the partition, in the generation that the coordinator has."""
    premise(any(c.is_live for c in cluster.consumers) and all(c.pace is Pace.RUNNING for c in cluster.consumers))
    return sum(c.owns for c in cluster.consumers) == 1 and all(is_settled(cluster, c) for c in CONSUMERS)


def is_settled(cluster: GroupCluster, consumer: int) -> bool:
    """Whether the consumer does not take part, or is a member of the coordinator's Stable group in its generation."""
    asking = cluster.consumers[consumer]
    return not asking.is_live or any(
        asking.coordinator == broker
        and cluster.serves(broker)
        and asking.status is ConsumerStatus.STABLE
        and cluster.coordinators[broker].group.state is GroupState.STABLE
        and asking.member_id in cluster.coordinators[broker].group.members
        and asking.generation == cluster.coordinators[broker].group.generation
        for broker in BROKERS
    )


@when_quiescent(
    symptom="a consumer that runs gets nothing, as the group waits for another one that only sends heartbeats",
    log="none: kafka-consumer-groups.sh --describe shows the group in CompletingRebalance",
)
def rebalance_ends(cluster: GroupCluster) -> bool:
    """While a consumer runs, the group does not wait for good in the middle of a rebalance."""
    premise(any(c.is_running for c in cluster.consumers))
    return all(is_settled(cluster, c) or not cluster.consumers[c].is_running for c in CONSUMERS)


@step(
    symptom="a group rebalances once more, a session timeout after a consumer did not join in time",
    log="[GroupCoordinator …]: Preparing to rebalance group … with old generation …",
)
def rebalance_has_a_reason(before: GroupCluster, after: GroupCluster, broker: Broker) -> bool:
    """A rebalance begins when a member comes or goes, or the leader joins again; a failed append is another reason."""
    old, new = before.coordinators[broker].group, after.coordinators[broker].group
    premise(old.state in (GroupState.STABLE, GroupState.COMPLETING_REBALANCE))
    premise(new.state is GroupState.PREPARING_REBALANCE and not old.is_storing)
    premise(before.coordinators[broker].is_leader and not before.partition.is_short_of_replicas)
    return new.members != old.members or old.leader in new.awaiting_join


@when_quiescent(
    symptom="partitions that are added to a topic are not consumed until the group rebalances for another reason",
    log="none: kafka-consumer-groups.sh --describe does not show the partitions",
)
def leader_knows_that_it_leads(cluster: GroupCluster, broker: Broker) -> bool:
    """Of the consumers of a Stable group of static members its leader watches the metadata of the topics."""
    group = cluster.coordinators[broker].group
    premise(cluster.serves(broker) and group.state is GroupState.STABLE)
    premise(all(c.is_live for c in cluster.consumers) and all(is_settled(cluster, c) for c in CONSUMERS))
    return any(c.member_id == group.leader and bool(c.member_ids) for c in cluster.consumers)


@when_quiescent(
    symptom="kafka-consumer-groups.sh --describe --members shows a member whose process is gone; the group is not "
    "Empty, so that it cannot be deleted",
    log="none: Member … in group … has failed, removing it from the group is missing",
)
def dead_member_is_removed(cluster: GroupCluster, broker: Broker) -> bool:
    """A coordinator removes a member whose process is gone, and the consumer's earlier member ids."""
    premise(cluster.serves(broker))
    known = cluster.coordinators[broker].group.members
    return all(m not in known or any(c.is_live and c.member_id == m for c in cluster.consumers) for m in MEMBER_IDS)


@eventually(
    symptom="a consumer joins again and again, or waits for good",
    log="[GroupCoordinator …]: Preparing to rebalance group … with old generation …",
)
def group_converges(cluster: GroupCluster) -> bool:
    """Once the faults are over, all live consumers become members of one generation, and one owns the partition."""
    premise(any(c.is_live for c in cluster.consumers) and all(c.pace is Pace.RUNNING for c in cluster.consumers))
    premise(cluster.consumer_stops == CONSUMER_STOPS and cluster.pauses == PAUSES and cluster.moves == MOVES)
    premise(cluster.reassignments == REASSIGNMENTS)
    stable = sum(c.owns for c in cluster.consumers) == 1 and all(is_settled(cluster, c) for c in CONSUMERS)
    return stable or not any(c.is_live for c in cluster.consumers)


@when_quiescent(
    symptom="kafka-consumer-groups.sh --list shows a group twice, or not at all",
    log="none: each broker lists what it caches",
)
def group_is_listed_once(cluster: GroupCluster) -> bool:
    """Of all brokers one lists the group, if it has a live member, and at most one otherwise (listAllGroups)."""
    listed = sum(coordinator.group.exists for coordinator in cluster.coordinators)
    return listed == 1 if any(c.is_running for c in cluster.consumers) else listed <= 1


@always(
    symptom="kafka-consumer-groups.sh --list shows a group twice while its coordinator moves",
    log="none: each broker lists what it caches",
)
def group_is_never_listed_twice(cluster: GroupCluster) -> bool:
    """At any moment at most one broker lists the group: the way to see that listing is no consistent snapshot."""
    return sum(coordinator.group.exists for coordinator in cluster.coordinators) <= 1


@reachable()
def both_consumers_are_members(cluster: GroupCluster) -> bool:
    """All consumers are settled in one generation."""
    return all(c.is_live for c in cluster.consumers) and all(is_settled(cluster, c) for c in CONSUMERS)


@reachable()
def members_survive_a_move(cluster: GroupCluster) -> bool:
    """After a move of the coordinator a member stays in its generation, with a commit that was acknowledged."""
    return (
        cluster.partition.leader != 0
        and cluster.acknowledged is not None
        and is_settled(cluster, 0)
        and (cluster.consumers[0].owns)
    )


@reachable()
def old_owner_is_unaware(cluster: GroupCluster) -> bool:
    """A consumer still takes itself for the owner while another one owns the partition in a later generation."""
    return sum(c.owns for c in cluster.consumers) > 1


@reachable()
def group_is_removed(cluster: GroupCluster) -> bool:
    """The group was removed, and all replicas have its tombstone."""
    return cluster.is_removed and cluster.partition.high_watermark == len(cluster.partition.log)


@reachable()
def operator_deletes_the_group(cluster: GroupCluster) -> bool:
    """An operator has deleted the group."""
    return cluster.group_deletions > 0 and cluster.is_removed


@reachable()
def offset_expires(cluster: GroupCluster) -> bool:
    """The offset was removed after a retention period, and no member is there."""
    return cluster.clock > 0 and cluster.commits > 0 and cluster.acknowledged is None


@reachable()
def static_member_returns(cluster: GroupCluster) -> bool:
    """A static member has started again and is to get the partition in the Stable group's generation."""
    return cluster.consumer_stops > 0 and any(
        consumer.status is ConsumerStatus.JOINED
        and consumer.coordinator == broker
        and consumer.generation == cluster.coordinators[broker].group.generation
        and cluster.coordinators[broker].group.state is GroupState.STABLE
        and cluster.coordinators[broker].group.owner == consumer.member_id
        for consumer in cluster.consumers
        for broker in BROKERS
    )


@reachable()
def log_is_compacted(cluster: GroupCluster) -> bool:
    """After a compaction that has removed a record the next coordinator has loaded the group with its offset."""
    is_compacted = any(bool(record.removed_from) for record in cluster.partition.log)
    return is_compacted and any(
        broker > 0 and cluster.serves(broker) and cluster.coordinators[broker].group.offset is not None
        for broker in BROKERS
    )


@reachable()
def tombstone_is_compacted_away(cluster: GroupCluster) -> bool:
    """A replica has lost the tombstone of an offset, and nothing has come in its place."""
    is_lost, is_replaced = False, False
    for record in cluster.partition.log:
        is_lost = is_lost or (record.key is RecordKey.OFFSET and record.is_tombstone and bool(record.removed_from))
        is_replaced = is_replaced or (record.key is RecordKey.OFFSET and not record.is_tombstone)
    return is_lost and not is_replaced
