"""How records reach a leader and then its followers: Partition's and the replica fetcher's side of the data plane.

Words: to *fetch* is also to acknowledge: a follower that asks from an offset on has everything before it. A follower's
high watermark comes with the answer, and so is one fetch behind the leader's. Producers use acks=all.
"""
from __future__ import annotations

from model.kafka.actors import BROKER, PRODUCER
from model.kafka.domains import BROKERS, RECORDS, Broker, Partition, Topic
from model.kafka.log import Commit, Log, Record, diverging_offset
from model.kafka.log_directory import flush_metadata_file
from model.kafka.requests import PartitionState
from model.kafka.state import Cluster, Replica
from model.kafka.versions import EPOCH_CHECKPOINT_REMOVAL, FETCH_BY_TOPIC_ID, TRUNCATION
from model.language import action, require


@action(
    by=PRODUCER,
    says="produces a record to {topic}-{partition} at broker {broker}",
    source="ReplicaManager.appendRecords, Partition.appendRecordsToLeader",
)
def produce(cluster: Cluster, broker: Broker, topic: Topic, partition: Partition) -> None:
    """A broker that leads in its own memory appends under its own leader epoch; it asks nobody whether that is over."""
    replica, znode = cluster.brokers[broker].replicas[topic][partition], cluster.zookeeper.topics[topic]
    require(RECORDS > 0 and replica.is_leader and replica.leader_epoch is not None)
    require(partition < znode.partition_count)
    append(replica, Record(replica.log.end, replica.leader_epoch, znode.incarnation))
    advance_high_watermark(cluster, broker, topic, partition)


def append(replica: Replica, record: Record) -> None:
    """Log.append: a dirty topic id is written to partition.metadata first."""
    flush_metadata_file(replica)
    log = replica.log
    if EPOCH_CHECKPOINT_REMOVAL and (not log.knows_its_epochs or record.leader_epoch > log.latest_epoch):
        log.write_epochs()
    log.records.push(record)


@action(
    by=BROKER,
    says="fetches {topic}-{partition} from its leader",
    source="AbstractFetcherThread.doWork; ReplicaManager.fetchMessages, Partition.updateFollowerFetchState",
)
def fetch(cluster: Cluster, broker: Broker, topic: Topic, partition: Partition) -> None:
    """Truncate if the logs diverge; else tell the leader how far the log goes, and take one record and the watermark.

    A fetch that would change nothing is no step.
    """
    follower = cluster.brokers[broker].replicas[topic][partition]
    require(RECORDS > 0 and any(answers_fetch(cluster, b, topic, partition, follower=broker) for b in BROKERS))
    for number in BROKERS:
        leader = cluster.brokers[number].replicas[topic][partition]
        if follower.replication.leader == number:
            require(brings_news(leader, follower, broker))
            common = diverging_offset(follower.log, leader.log)
            if common < follower.log.end:
                follower.log.truncate_to(common)
                return
            leader.replication.remote_ends[broker] = follower.log.end
            advance_high_watermark(cluster, number, topic, partition)
            take_next_record(leader, follower)
            return


def answers_fetch(cluster: Cluster, number: int, topic: int, partition: int, *, follower: int) -> bool:
    """Whether a broker is the follower's leader and would not refuse its fetch.

    Else it answers NOT_LEADER_OR_FOLLOWER, FENCED_LEADER_EPOCH or UNKNOWN_LEADER_EPOCH; since 3.1 a fetch names the
    topic by its id, and INCONSISTENT_TOPIC_ID is one more answer.
    """
    leader = cluster.brokers[number].replicas[topic][partition]
    fetcher = cluster.brokers[follower].replicas[topic][partition]
    if fetcher.replication.leader != number or not leader.is_leader or leader.leader_epoch != fetcher.leader_epoch:
        return False
    return has_consistent_topic_id(leader, fetcher)


def has_consistent_topic_id(leader: Replica, follower: Replica) -> bool:
    """ReplicaManager.hasConsistentTopicId: the leader has no other topic id than the fetch names, or one has none."""
    if not FETCH_BY_TOPIC_ID or leader.topic_id is None or follower.topic_id is None:
        return True
    return leader.topic_id == follower.topic_id


def brings_news(leader: Replica, follower: Replica, number: int) -> bool:
    """Whether a fetch changes anything at the leader or at the follower, which is the broker of that number."""
    return (
        leader.log.end != follower.log.end
        or diverging_offset(follower.log, leader.log) < follower.log.end
        or leader.replication.remote_ends[number] != follower.log.end
        or follower.log.high_watermark != min(leader.log.high_watermark, follower.log.end)
    )


def take_next_record(leader: Replica, follower: Replica) -> None:
    """ReplicaFetcherThread.processPartitionData: the leader's next record, then the high watermark of the answer."""
    end = follower.log.end
    for record in leader.log.records:
        if record.offset == end:
            append(follower, record)
    follower.log.high_watermark = min(leader.log.high_watermark, follower.log.end)


def begin_leader_epoch(replica: Replica, wanted: PartitionState, broker: int) -> None:
    """Partition.makeLeader and makeFollower: a new leader knows nothing of its followers, a follower where to fetch.

    A leader that goes on under a higher leader epoch keeps what it knows of them.
    """
    if RECORDS > 0:
        if wanted.leader != broker or not replica.is_leader:
            replica.replication.forget()
        if wanted.leader == broker:
            replica.replication.isr = wanted.isr
            replica.replication.epoch_start = replica.log.end
            replica.log.write_epochs()
        else:
            replica.replication.leader = wanted.leader
            if TRUNCATION == "high watermark":
                replica.log.truncate_to(replica.log.high_watermark)


def is_follower_in_sync(leader: Replica, log: Log, follower: int) -> bool:
    """Partition.isFollowerInSync: the follower has reached the high watermark and the start of the leader's epoch.

    It is asked when a fetch comes in: the follower's log has been truncated, and its end is what the leader knows.
    """
    end = leader.replication.remote_ends[follower]
    if end is None or end != log.end or diverging_offset(log, leader.log) < end:
        return False
    return end >= max(leader.log.high_watermark, leader.replication.epoch_start)


def advance_high_watermark(cluster: Cluster, broker: int, topic: int, partition: int) -> None:
    """Partition.maybeIncrementLeaderHW: a leader's watermark is the least log end offset in the ISR; it never falls."""
    replica = cluster.brokers[broker].replicas[topic][partition]
    if RECORDS > 0 and replica.is_leader:
        reached = replica.log.end
        for other in BROKERS:
            end = replica.replication.remote_ends[other]
            if other != broker and other in replica.replication.isr:
                reached = min(reached, 0 if end is None else end)
        if reached > replica.log.high_watermark:
            replica.log.high_watermark = reached
            keep_commits(cluster, broker, topic, partition)


def keep_commits(cluster: Cluster, broker: int, topic: int, partition: int) -> None:
    """What the leader has just committed is history: records of the topic's present incarnation are to survive."""
    replica, history = cluster.brokers[broker].replicas[topic][partition], cluster.commits[topic][partition]
    for record in replica.log.records:
        is_readable = record.offset < replica.log.high_watermark
        is_known = any(commit.record == record for commit in history)
        if is_readable and not is_known and record.incarnation == cluster.zookeeper.topics[topic].incarnation:
            history.push(Commit(record, replica.leader_epoch))
