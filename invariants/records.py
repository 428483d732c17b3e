"""Properties of records (P12 to P14, P20, P22): none is lost, differs or returns, and all get committed."""

from __future__ import annotations

from kwalk.model.kafka.broker.log import Log
from kwalk.model.kafka.broker.partition import leads
from kwalk.model.kafka.broker.replica_fetcher_thread import answers_fetch
from kwalk.model.kafka.domains import BROKERS, Broker, Partition, Topic
from kwalk.model.kafka.state import Cluster
from kwalk.model.kafka.versions.records import FETCH_BY_TOPIC_ID
from kwalk.model.language import always, eventually, premise, step, when_quiescent


@always(symptom="acknowledged data is lost", log="[Log partition=…, dir=…] Truncating to offset … (3.9: UnifiedLog)")
def committed_survives(cluster: Cluster, broker: Broker, topic: Topic, partition: Partition) -> bool:
    """P12 CommittedSurvives: a leader under the leader epoch of a commit, or a later one, has that record."""
    replica, commits = cluster.replica_of(broker, topic, partition), cluster.commits[topic][partition]
    premise(replica.is_leader and replica.leader_epoch is not None and not commits.is_empty)
    assert replica.leader_epoch is not None
    return all(commit.leader_epoch > replica.leader_epoch or commit.record in replica.log.records for commit in commits)


@when_quiescent(
    symptom="consumers read other data after a change of leader; replicas of a partition differ permanently",
    log="none: kafka-replica-verification.sh would find it",
)
def no_divergence(cluster: Cluster, broker: Broker, topic: Topic, partition: Partition) -> bool:
    """P13 NoDivergence: below the leader's high watermark, an ISR member has the leader's records."""
    state = cluster.zookeeper.state_of(topic, partition)
    log = cluster.replica_of(broker, topic, partition).log
    premise(state.exists and broker in state.isr and cluster.is_up(broker))
    return all(
        agree(log, cluster.replica_of(leader, topic, partition).log)
        for leader in BROKERS
        if leads(cluster, leader, topic, partition)
    )


def agree(follower: Log, leader: Log) -> bool:
    """Whether a follower has every record that the leader lets consumers read."""
    return all(record.offset >= leader.high_watermark or record in follower.records for record in leader.records)


@always(symptom="data of a deleted topic returns under its name", log="none: a log of that name is found and opened")
def no_resurrection(cluster: Cluster, broker: Broker, topic: Topic, partition: Partition) -> bool:
    """P14 NoResurrection: consumers of a topic read no record of an earlier topic of the same name.

    A broker answers them if it leads in its own memory, whatever the state znode says, and if there is none.
    """
    premise(cluster.zookeeper.topics[topic].exists and cluster.is_up(broker))
    premise(cluster.replica_of(broker, topic, partition).is_leader and serves(cluster, broker, topic, partition))
    return has_only_own_records(cluster, broker, topic, partition)


@always(
    symptom="data of a deleted topic returns under its name, and stays: the partition's leader has it",
    log="none: a log of that name is found and opened",
)
def elected_log_is_of_its_topic(cluster: Cluster, broker: Broker, topic: Topic, partition: Partition) -> bool:
    """P14 NoResurrection, of the leader in the state znode: a broker of an earlier topic alone does not violate it."""
    premise(cluster.zookeeper.topics[topic].exists and leads(cluster, broker, topic, partition))
    premise(serves(cluster, broker, topic, partition))
    return has_only_own_records(cluster, broker, topic, partition)


@when_quiescent(
    symptom="records of an earlier topic of the name are in the log of an ISR member",
    log="none: kafka-dump-log.sh shows other records at the same offsets of two replicas",
)
def isr_has_only_own_records(cluster: Cluster, broker: Broker, topic: Topic, partition: Partition) -> bool:
    """An ISR member that has opened its log has no record of an earlier topic of the name."""
    replica, state = cluster.replica_of(broker, topic, partition), cluster.zookeeper.state_of(topic, partition)
    premise(state.exists and broker in state.isr and cluster.is_up(broker) and replica.log_open)
    incarnation = cluster.zookeeper.topics[topic].incarnation
    return all(record.incarnation == incarnation for record in replica.log.records)


@when_quiescent(
    symptom="acknowledged records are on no replica that can lead",
    log="[Log partition=…, dir=…] Truncating to offset … (3.9: UnifiedLog)",
)
def committed_records_are_kept(cluster: Cluster, topic: Topic, partition: Partition) -> bool:
    """A live leader has every committed record; without one, an ISR member has, or any broker if the ISR is empty."""
    state, commits = cluster.zookeeper.state_of(topic, partition), cluster.commits[topic][partition]
    premise(state.exists and not commits.is_empty and not cluster.zookeeper.topics[topic].deletion_requested)
    is_led = any(leads(cluster, broker, topic, partition) for broker in BROKERS)
    return any(
        all(commit.record in cluster.replica_of(broker, topic, partition).log.records for commit in commits)
        for broker in BROKERS
        if leads(cluster, broker, topic, partition) or (not is_led and (not bool(state.isr) or broker in state.isr))
    )


@when_quiescent(
    symptom="the last copy of records is gone from all disks",
    log="[Log partition=…, dir=…] Truncating to offset … (3.9: UnifiedLog)",
)
def last_copies_are_kept(cluster: Cluster, topic: Topic, partition: Partition) -> bool:
    """Every record that disks had at the beginning is on a disk, set aside, or in a directory that was moved away."""
    premise(not cluster.originals[topic][partition].is_empty and not cluster.zookeeper.topics[topic].deletion_requested)
    return all(
        any(
            record in cluster.replica_of(broker, topic, partition).log.records
            or record in cluster.replica_of(broker, topic, partition).backup
            or record in cluster.replica_of(broker, topic, partition).set_aside
            for broker in BROKERS
        )
        for record in cluster.originals[topic][partition]
    )


@when_quiescent(
    symptom="brokers refuse the controller's requests, or take up a leader epoch that is smaller than that of records",
    log="state-change.log, WARN: Ignoring LeaderAndIsr request from controller … with correlation id … epoch … for "
    "partition … since its associated leader epoch … is smaller than the current leader epoch …",
)
def state_has_the_latest_epoch(cluster: Cluster, broker: Broker, topic: Topic, partition: Partition) -> bool:
    """No log has a record of a leader epoch that the state znode has not reached: ZooKeeper was not restored."""
    state, log = cluster.zookeeper.state_of(topic, partition), cluster.replica_of(broker, topic, partition).log
    premise(state.exists and not log.records.is_empty)
    return state.leader_epoch is not None and log.latest_epoch <= state.leader_epoch


@when_quiescent(
    symptom="clients since 2.4 that have seen a later leader epoch keep to an earlier leader until they start again",
    log="of the client, Metadata, at DEBUG: Got metadata for an older epoch … (current is …) for partition …, not "
    "updating",
)
def clients_take_the_leader(cluster: Cluster, topic: Topic, partition: Partition) -> bool:
    """The state has no earlier leader epoch than a record that a disk had at the beginning: clients have seen that one.

    Kafka: Metadata.updateLatestMetadata (KIP-320).
    """
    state, records = cluster.zookeeper.state_of(topic, partition), cluster.originals[topic][partition]
    premise(state.exists and not records.is_empty and not cluster.zookeeper.topics[topic].deletion_requested)
    incarnation = cluster.zookeeper.topics[topic].incarnation
    epochs = (record.leader_epoch for record in records if record.incarnation == incarnation)
    return state.leader_epoch is not None and all(epoch <= state.leader_epoch for epoch in epochs)


def has_only_own_records(cluster: Cluster, broker: int, topic: int, partition: int) -> bool:
    """Whether all that consumers can read at a broker was written to the present topic of that name."""
    log, incarnation = cluster.replica_of(broker, topic, partition).log, cluster.zookeeper.topics[topic].incarnation
    return all(record.offset >= log.high_watermark or record.incarnation == incarnation for record in log.records)


def serves(cluster: Cluster, broker: int, topic: int, partition: int) -> bool:
    """Whether a leader answers consumers: since 3.1 they name a topic by ZooKeeper's id, which must be its log's.

    A log without id answers all. Consumers older than 3.1 are not covered: they fetch by name from any broker, and are
    answered as if the flag were off (ReplicaManager.hasConsistentTopicId).
    """
    log_id = cluster.replica_of(broker, topic, partition).topic_id
    topic_id = cluster.zookeeper.topics[topic].topic_id
    return not FETCH_BY_TOPIC_ID or log_id is None or topic_id is None or log_id == topic_id


@always(
    symptom="after a crash the log cannot be assigned to its topic: a topic of the same name adopts it",
    log="none: the partition's directory has no partition.metadata",
)
def records_have_a_topic_id(cluster: Cluster, broker: Broker, topic: Topic, partition: Partition) -> bool:
    """P20 DataImpliesMeta: a log with records has a partition.metadata, or an id that is still to be written to it."""
    replica = cluster.replica_of(broker, topic, partition)
    premise(not replica.log.records.is_empty)
    return replica.topic_id is not None or replica.file_topic_id is not None


@step(
    symptom="none yet: the log is empty, and takes an id again when its broker starts",
    log="none: the log's directory has no partition.metadata",
)
def log_keeps_its_topic_id(before: Cluster, after: Cluster, broker: Broker, topic: Topic, partition: Partition) -> bool:
    """P20 DataImpliesMeta, more strictly: a log that has taken a topic id has a partition.metadata after a crash."""
    was, now = before.replica_of(broker, topic, partition), after.replica_of(broker, topic, partition)
    premise(was.topic_id is not None and before.is_up(broker) and not after.is_up(broker))
    return now.file_topic_id is not None


@when_quiescent(
    symptom="producers with acks=all time out, and consumers do not see what was written",
    log="none: kafka-topics.sh --describe shows all replicas under Isr",
)
def records_are_committed(cluster: Cluster, broker: Broker, topic: Topic, partition: Partition) -> bool:
    """P22 RecordsAreCommitted: while all of the ISR lives, the leader's high watermark is its log end offset."""
    state = cluster.zookeeper.state_of(topic, partition)
    log = cluster.replica_of(broker, topic, partition).log
    premise(leads(cluster, broker, topic, partition) and not log.records.is_empty)
    premise(state.isr <= cluster.zookeeper.broker_ids)
    return log.high_watermark == log.end


@eventually(
    symptom="the partition stays under-replicated: a replica whose broker is up never joins the ISR again",
    log="none: kafka-topics.sh --describe --under-replicated-partitions shows it permanently",
)
def followers_catch_up(cluster: Cluster, broker: Broker, topic: Topic, partition: Partition) -> bool:
    """A follower whose leader answers its fetches eventually has the leader's records and high watermark."""
    replica = cluster.replica_of(broker, topic, partition)
    is_answered = any(answers_fetch(cluster, leader, topic, partition, follower=broker) for leader in BROKERS)
    premise(is_answered)
    return not is_answered or all(
        replica.replication.leader != leader or is_copy(replica.log, cluster.replica_of(leader, topic, partition).log)
        for leader in BROKERS
    )


def is_copy(follower: Log, leader: Log) -> bool:
    """Whether a follower has the leader's records and high watermark."""
    if follower.end != leader.end or follower.high_watermark != leader.high_watermark:
        return False
    return all(record in follower.records for record in leader.records)


@step(
    symptom="a follower copies records again; if its leader fails meanwhile, they are lost",
    log="[UnifiedLog partition=…, dir=…] Truncating to offset …",
)
def common_records_are_kept(
    before: Cluster, after: Cluster, broker: Broker, topic: Topic, partition: Partition
) -> bool:
    """A follower that truncates keeps every record that its leader has."""
    was, now = before.replica_of(broker, topic, partition), after.replica_of(broker, topic, partition)
    premise(was.log_open and now.log_open and now.log.end < was.log.end)
    return all(
        now.replication.leader != leader
        or all(
            record not in was.log.records or record in now.log.records
            for record in after.replica_of(leader, topic, partition).log.records
        )
        for leader in BROKERS
    )


@step(
    symptom="a broker leads or follows with the log of a deleted topic of that name",
    log="[Broker id=…] Topic ID in memory: … does not match the topic ID for partition … received: … (missing)",
)
def request_for_another_log_is_refused(
    before: Cluster, after: Cluster, broker: Broker, topic: Topic, partition: Partition
) -> bool:
    """A LeaderAndIsr with another topic id than the log's neither opens the log nor gives it a leader epoch."""
    was, now = before.replica_of(broker, topic, partition), after.replica_of(broker, topic, partition)
    headers = before.brokers[broker].requests.headers
    premise(was.topic_id is not None and not headers.is_empty)
    is_new_leader_epoch = now.leader_epoch is not None and now.leader_epoch != was.leader_epoch
    premise(is_new_leader_epoch or (now.log_open and not was.log_open))
    return headers.head.topic_id is None or headers.head.topic_id == was.topic_id


@always(
    symptom="after a restart the log has another topic id than before",
    log="none: cat partition.metadata shows another topic_id than kafka-topics.sh --describe",
)
def open_log_has_the_id_of_its_file(cluster: Cluster, broker: Broker, topic: Topic, partition: Partition) -> bool:
    """While a log is open, its topic id in memory is that of partition.metadata."""
    replica = cluster.replica_of(broker, topic, partition)
    premise(cluster.is_up(broker) and replica.log_open and replica.file_topic_id is not None)
    return replica.topic_id == replica.file_topic_id
