"""What applications, operators and time do to a group: consumers start, stop, stall and commit."""

from __future__ import annotations

from kwalk.model.kafka.actors import OPERATOR
from kwalk.model.kafka.domains import INCARNATIONS, Broker
from kwalk.model.kafka.groups.domains import (
    APPLICATION,
    CLOCK,
    COMMITS,
    CONSUMER_STOPS,
    COORDINATOR,
    GROUP_DELETIONS,
    JOIN_TIMEOUTS,
    LONG_METADATA,
    MEMBER_IDS,
    PAUSES,
    RETENTIONS,
    STARTS,
    TRANSACTIONAL_COMMITS,
    ConsumerId,
)
from kwalk.model.kafka.groups.group_coordinator import (
    Errors,
    is_asked,
    remove_member_and_update_group,
    sync_error,
)
from kwalk.model.kafka.groups.group_metadata_manager import may_delete_group, remove_offset, store_offset
from kwalk.model.kafka.groups.state import Consumer, ConsumerStatus, GroupCluster, GroupState, Pace
from kwalk.model.kafka.groups.versions import (
    APPEND_TIME_IS_SET_BY_LEADERS,
    DELETE_GROUPS,
    EMPTY_GROUPS_STAY,
    LONE_COMMITS_ARE_ACCEPTED,
    LONG_METADATA_IS_NOT_PENDING,
    MEMBER_ID_IS_REQUIRED,
    STATIC_MEMBERS,
    STATIC_MEMBERSHIP,
    TRANSACTIONAL_COMMITS_ARE_VERIFIED,
)
from kwalk.model.language import Mark, action, require


@action(by=APPLICATION, group="members", description="starts a consumer", source="KafkaConsumer.subscribe, poll")
def start(cluster: GroupCluster, consumer: ConsumerId) -> None:
    """The process finds the coordinator, and has no member id."""
    require(cluster.consumers[consumer].status is ConsumerStatus.STOPPED and cluster.starts < STARTS)
    cluster.starts += 1
    cluster.consumers[consumer].status = ConsumerStatus.UNJOINED
    cluster.consumers[consumer].coordinator = cluster.partition.leader


def end_process(consumer: Consumer) -> None:
    """The process is gone, and what it stored."""
    consumer.reset()
    consumer.status, consumer.pace, consumer.coordinator = ConsumerStatus.STOPPED, Pace.RUNNING, 0


@action(by=APPLICATION, group="members", description="crashes", source="no LeaveGroup is sent", mark=Mark.CRASH)
def crash(cluster: GroupCluster, consumer: ConsumerId) -> None:
    """The process dies; the coordinator waits for its session timeout."""
    require(cluster.consumers[consumer].status is not ConsumerStatus.STOPPED)
    require(cluster.consumer_stops < CONSUMER_STOPS)
    cluster.consumer_stops += 1
    end_process(cluster.consumers[consumer])


@action(
    by=APPLICATION,
    group="members",
    description="closes its consumer, which sends LeaveGroup to broker {broker}",
    source="KafkaConsumer.close; GroupCoordinator.handleLeaveGroup",
)
def leave_group(cluster: GroupCluster, consumer: ConsumerId, broker: Broker) -> None:
    """The member is removed at once. A static member that closes sends no LeaveGroup, which is `crash`."""
    require(is_asked(cluster, consumer, broker) and cluster.consumer_stops < CONSUMER_STOPS)
    require(cluster.consumers[consumer].status is ConsumerStatus.STABLE and not (STATIC_MEMBERS and STATIC_MEMBERSHIP))
    member_id = cluster.consumers[consumer].member_id
    assert member_id is not None
    cluster.consumer_stops += 1
    if member_id in cluster.coordinators[broker].group.members:
        remove_member_and_update_group(cluster, broker, member_id)
    end_process(cluster.consumers[consumer])


@action(
    by=APPLICATION,
    description="waits for the answer to JoinGroup no longer, and closes the connection",
    source="NetworkClient.handleTimedOutRequests; GroupCoordinator.doUnknownJoinGroup: MEMBER_ID_REQUIRED",
)
def give_up_join(cluster: GroupCluster, consumer: ConsumerId) -> None:
    """A rebalance waits for a member for longer than a consumer that joins waits: it joins again.

    It has no member id before its first JoinGroup is answered; since KIP-394 the coordinator answers with one at once.
    """
    joining = cluster.consumers[consumer]
    group = cluster.coordinators[joining.coordinator].group
    require(joining.is_running and joining.status is ConsumerStatus.JOINING_NEW)
    require(cluster.join_timeouts < JOIN_TIMEOUTS)
    require(any(m in group.members and m not in group.awaiting_join for m in MEMBER_IDS))
    cluster.join_timeouts += 1
    if MEMBER_ID_IS_REQUIRED:
        joining.rejoin()
    else:
        joining.reset()


@action(by=APPLICATION, description="stalls; still sends heartbeats: {sends_heartbeats}")
def stall(cluster: GroupCluster, consumer: ConsumerId, sends_heartbeats: bool) -> None:
    """A long garbage collection stops all threads of a consumer; a slow application all but the heartbeat thread."""
    require(cluster.consumers[consumer].is_running and cluster.pauses < PAUSES)
    cluster.pauses += 1
    cluster.consumers[consumer].pace = Pace.STALLED if sends_heartbeats else Pace.PAUSED


@action(by=APPLICATION, description="runs again")
def resume(cluster: GroupCluster, consumer: ConsumerId) -> None:
    """All threads run again, and know nothing of what has happened meanwhile."""
    require(cluster.consumers[consumer].pace is not Pace.RUNNING)
    cluster.consumers[consumer].pace = Pace.RUNNING


@action(
    by=APPLICATION,
    group="members",
    description="commits its offset to broker {broker}",
    source="GroupCoordinator.handleCommitOffsets, doCommitOffsets",
)
def commit(cluster: GroupCluster, consumer: ConsumerId, broker: Broker) -> None:
    """The owner of the partition commits further than anyone before; this step is taken only if it is accepted.

    A refused commit changes nothing that a refused heartbeat does not change.
    """
    accept_commit(cluster, consumer, broker)


@action(
    by=APPLICATION,
    description="commits to broker {broker} its offset, and that of another partition with too long metadata",
    source="GroupMetadataManager.storeOffsets, validateOffsetMetadataLength; GroupMetadata.prepareOffsetCommit",
)
def commit_with_long_metadata(cluster: GroupCluster, consumer: ConsumerId, broker: Broker) -> None:
    """The other partition is answered OFFSET_METADATA_TOO_LARGE, and nothing is appended for it."""
    require(cluster.long_metadata < LONG_METADATA)
    accept_commit(cluster, consumer, broker)
    cluster.long_metadata += 1
    if EMPTY_GROUPS_STAY and not LONG_METADATA_IS_NOT_PENDING:
        cluster.coordinators[broker].group.is_pending_elsewhere = True


@action(
    by=APPLICATION,
    description="commits its offset to broker {broker}, without having joined the group",
    source="KafkaConsumer.assign, commitSync; GroupCoordinator.validateOffsetCommit",
)
def commit_alone(cluster: GroupCluster, consumer: ConsumerId, broker: Broker) -> None:
    """A consumer that chooses its partitions itself commits without a generation; the group has no members.

    From 3.0 to KAFKA-14201 one with a group.instance.id was refused: UNKNOWN_MEMBER_ID.
    """
    committing, group = cluster.consumers[consumer], cluster.coordinators[broker].group
    require(is_asked(cluster, consumer, broker) and committing.status is ConsumerStatus.UNJOINED)
    require(cluster.commits < COMMITS and cluster.leads(broker) and not group.members and not group.is_committing)
    if STATIC_MEMBERS and not LONE_COMMITS_ARE_ACCEPTED:
        committing.status = ConsumerStatus.REFUSED
    else:
        group.state = GroupState.EMPTY
        cluster.commits += 1
        store_offset(cluster, broker)


@action(
    by=APPLICATION,
    description="commits its offset to broker {broker}, without having joined; __consumer_offsets has LogAppendTime",
    source="GroupMetadataManager.prepareStoreOffsets, getMagicAndTimestamp; LogValidator.validateTimestamp",
)
def commit_by_append_time(cluster: GroupCluster, consumer: ConsumerId, broker: Broker) -> None:
    """In 0.10.2.0 the coordinator gives its record this type of timestamp, which a leader accepts from nobody."""
    committing, group = cluster.consumers[consumer], cluster.coordinators[broker].group
    require(is_asked(cluster, consumer, broker) and committing.status is ConsumerStatus.UNJOINED)
    require(cluster.commits < COMMITS and cluster.leads(broker) and not group.members and not group.is_committing)
    if APPEND_TIME_IS_SET_BY_LEADERS:
        group.state = GroupState.EMPTY
        cluster.commits += 1
        store_offset(cluster, broker)
    else:
        committing.status = ConsumerStatus.REFUSED


@action(
    by=APPLICATION,
    description="sends the offset of its transaction to broker {broker}",
    source="KafkaProducer.sendOffsetsToTransaction; TransactionManager.TxnOffsetCommitHandler",
)
def commit_in_transaction(cluster: GroupCluster, consumer: ConsumerId, broker: Broker) -> None:
    """The transaction has the partition of the group by now (AddOffsetsToTxn); TxnOffsetCommit is on its way."""
    committing = cluster.consumers[consumer]
    require(is_asked(cluster, consumer, broker) and committing.status is ConsumerStatus.STABLE and committing.owns)
    require(cluster.transactional_commits < TRANSACTIONAL_COMMITS)
    require(cluster.transaction is None and cluster.sent_member is None)
    cluster.transactional_commits += 1
    cluster.transaction = consumer
    cluster.sent_member, cluster.sent_generation = committing.member_id, committing.generation


@action(
    by=COORDINATOR,
    description="handles TxnOffsetCommit",
    source="GroupCoordinator.handleTxnCommitOffsets, doTxnCommitOffsets; GroupMetadata.prepareTxnOffsetCommit",
)
def handle_transactional_commit(cluster: GroupCluster, broker: Broker) -> None:
    """A member of this generation has its offset appended, which is pending until the transaction ends.

    Since KAFKA-15449 (KIP-890) the coordinator of the transaction is asked before whether that is ongoing.
    """
    group, member_id = cluster.coordinators[broker].group, cluster.sent_member
    require(member_id is not None and cluster.coordinators[broker].owns and cluster.leads(broker))
    require(cluster.commits < COMMITS)
    is_verified = cluster.transaction is not None or not TRANSACTIONAL_COMMITS_ARE_VERIFIED
    if member_id in group.members and cluster.sent_generation == group.generation and is_verified:
        cluster.commits += 1
        cluster.commit_generation = cluster.sent_generation
        cluster.partition.has_pending_commit = True
    cluster.sent_member, cluster.sent_generation = None, 0


@action(
    by=APPLICATION,
    description="ends its transaction; commits it: {commits}",
    source="KafkaProducer.commitTransaction, abortTransaction; GroupMetadata.completePendingTxnOffsetCommit",
)
def end_transaction(cluster: GroupCluster, consumer: ConsumerId, commits: bool) -> None:
    """A producer commits what was answered, or aborts, as it may have no answer: its request can still be on its way.

    Transactions that time out are left out: their end raises the producer's epoch, and what comes later is fenced.
    """
    partition = cluster.partition
    require(cluster.transaction == consumer and cluster.consumers[consumer].is_running)
    require(
        not commits or (partition.has_pending_commit and not cluster.coordinators[partition.leader].group.is_committing)
    )
    cluster.transaction, partition.has_pending_commit = None, False
    if commits:
        store_offset(cluster, partition.leader)


def accept_commit(cluster: GroupCluster, consumer: int, broker: int) -> None:
    """Accept a commit of the owner of the partition."""
    coordinator, committing = cluster.coordinators[broker], cluster.consumers[consumer]
    require(is_asked(cluster, consumer, broker) and committing.status is ConsumerStatus.STABLE and committing.owns)
    require(cluster.commits < COMMITS and cluster.leads(broker) and not coordinator.group.is_committing)
    require(is_commit_accepted(cluster, consumer, broker))
    cluster.commits += 1
    cluster.commit_generation = committing.generation
    store_offset(cluster, broker)


def is_commit_accepted(cluster: GroupCluster, consumer: int, broker: int) -> bool:
    """Whether the coordinator knows the member, and in this generation; while members join it still accepts.

    While they wait for the assignment it does not: REBALANCE_IN_PROGRESS.
    """
    group = cluster.coordinators[broker].group
    error = sync_error(cluster, group, consumer)
    is_stopped = group.state is GroupState.COMPLETING_REBALANCE
    return error in (Errors.NONE, Errors.REBALANCE_IN_PROGRESS) and not is_stopped


@action(by=CLOCK, description="offsets.retention.minutes pass")
def retention_passes(cluster: GroupCluster) -> None:
    """Everything that there is becomes older than the retention period."""
    require(cluster.clock < RETENTIONS)
    cluster.clock += 1


@action(
    by=OPERATOR,
    description="deletes the group by a request to broker {broker}",
    source="ConsumerGroupCommand.deleteGroups, GroupCoordinator.handleDeleteGroups",
)
def delete_group(cluster: GroupCluster, broker: Broker) -> None:
    """kafka-consumer-groups.sh --delete: the group is Empty, its offset and itself are removed."""
    require(bool(DELETE_GROUPS) and may_delete_group(cluster, broker) and cluster.leads(broker))
    require(cluster.group_deletions < GROUP_DELETIONS and not cluster.coordinators[broker].group.is_committing)
    cluster.group_deletions += 1
    remove_offset(cluster, broker)


@action(
    by=OPERATOR,
    description="deletes the topic and creates it again",
    source="TopicDeletionManager.onDeleteTopics: UpdateMetadata with LeaderDuringDelete",
)
def recreate_topic(cluster: GroupCluster) -> None:
    """Offsets of the deleted topic mean nothing for the new one; each broker hears of the deletion in its own time."""
    require(cluster.incarnation < INCARNATIONS)
    cluster.incarnation += 1
    cluster.acknowledged = None
    for coordinator in cluster.coordinators:
        coordinator.misses_deletion = True
