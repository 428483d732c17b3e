"""What must hold of records (P12 to P14, P20, P22): none is lost or differs or returns, and all get committed."""
from __future__ import annotations

from model.kafka.domains import BROKERS, Broker, Partition, Topic
from model.kafka.log import Log
from model.kafka.partition import leads
from model.kafka.state import Cluster
from model.kafka.versions import FETCH_BY_TOPIC_ID
from model.language import always, premise, step, when_quiet


@always(symptom="acknowledged data is lost", log="[Log partition=…, dir=…] Truncating to offset … (3.9: UnifiedLog)")
def committed_survives(cluster: Cluster, broker: Broker, topic: Topic, partition: Partition) -> bool:
    """P12 CommittedSurvives: whoever leads under the leader epoch of a commit or a later one has that record."""
    replica, commits = cluster.brokers[broker].replicas[topic][partition], cluster.commits[topic][partition]
    premise(replica.is_leader and replica.leader_epoch is not None and not commits.is_empty)
    return all(commit.leader_epoch > replica.leader_epoch or commit.record in replica.log.records for commit in commits)


@when_quiet(
    symptom="consumers read other data after a change of leader; replicas of a partition differ for ever",
    log="none: kafka-replica-verification.sh would find it",
)
def no_divergence(cluster: Cluster, broker: Broker, topic: Topic, partition: Partition) -> bool:
    """P13 NoDivergence: below the leader's high watermark, an ISR member has the leader's records."""
    state = cluster.zookeeper.topics[topic].states[partition]
    log = cluster.brokers[broker].replicas[topic][partition].log
    premise(state.exists and broker in state.isr and cluster.is_up(broker))
    return all(
        agree(log, cluster.brokers[leader].replicas[topic][partition].log)
        for leader in BROKERS
        if leads(cluster, leader, topic, partition)
    )


def agree(follower: Log, leader: Log) -> bool:
    """Whether a follower has every record that the leader lets consumers read."""
    return all(record.offset >= leader.high_watermark or record in follower.records for record in leader.records)


@always(symptom="data of a deleted topic is back under its name", log="none: a log of that name was found and opened")
def no_resurrection(cluster: Cluster, broker: Broker, topic: Topic, partition: Partition) -> bool:
    """P14 NoResurrection: consumers of a topic read no record that was written to an earlier topic of the same name."""
    znode, log = cluster.zookeeper.topics[topic], cluster.brokers[broker].replicas[topic][partition].log
    premise(znode.exists and leads(cluster, broker, topic, partition) and serves(cluster, broker, topic, partition))
    return all(record.offset >= log.high_watermark or record.incarnation == znode.incarnation for record in log.records)


def serves(cluster: Cluster, broker: int, topic: int, partition: int) -> bool:
    """Whether a leader answers consumers: since 3.1 they name a topic by ZooKeeper's id, which is to be its log's.

    A log without id answers all. Consumers older than 3.1 are not meant: they fetch by name whatever the brokers are,
    and are answered as if the flag were off (ReplicaManager.hasConsistentTopicId).
    """
    log_id = cluster.brokers[broker].replicas[topic][partition].topic_id
    topic_id = cluster.zookeeper.topics[topic].topic_id
    return not FETCH_BY_TOPIC_ID or log_id is None or topic_id is None or log_id == topic_id


@always(
    symptom="after a crash nobody can tell which topic the log belongs to: a topic of the same name adopts it",
    log="none: the partition's directory has no partition.metadata",
)
def records_have_a_topic_id(cluster: Cluster, broker: Broker, topic: Topic, partition: Partition) -> bool:
    """P20 DataImpliesMeta: a log with records has a partition.metadata, or an id that is still to be written to it."""
    replica = cluster.brokers[broker].replicas[topic][partition]
    premise(not replica.log.records.is_empty)
    return replica.topic_id is not None or replica.file_topic_id is not None


@step(
    symptom="none yet: nothing was written to the log, and it takes an id again when its broker is back",
    log="none: the file partition.metadata is missing beside the log",
)
def log_keeps_its_topic_id(
    before: Cluster, after: Cluster, broker: Broker, topic: Topic, partition: Partition
) -> bool:
    """P20 DataImpliesMeta, more strictly: a log that has taken a topic id has a partition.metadata after a crash."""
    was, now = before.brokers[broker].replicas[topic][partition], after.brokers[broker].replicas[topic][partition]
    premise(was.topic_id is not None and before.is_up(broker) and not after.is_up(broker))
    return now.file_topic_id is not None


@when_quiet(
    symptom="producers with acks=all time out, and consumers do not see what was written",
    log="none: kafka-topics.sh --describe shows all replicas under Isr",
)
def records_are_committed(cluster: Cluster, broker: Broker, topic: Topic, partition: Partition) -> bool:
    """P22 RecordsAreCommitted: while all of the ISR lives, the leader's high watermark is its log end offset."""
    state = cluster.zookeeper.topics[topic].states[partition]
    log = cluster.brokers[broker].replicas[topic][partition].log
    premise(leads(cluster, broker, topic, partition) and not log.records.is_empty)
    premise(state.isr <= cluster.zookeeper.broker_ids)
    return log.high_watermark == log.end
