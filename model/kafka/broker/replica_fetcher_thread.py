"""ReplicaFetcherThread: how a follower copies the records of its leader.

Words: a *fetch* is also an acknowledgement: a follower that fetches from an offset has everything before it. A
follower's high watermark comes with the response, and so is one fetch behind the leader's.
"""

from __future__ import annotations

from kwalk.model.kafka.actors import BROKER
from kwalk.model.kafka.broker.log import diverging_offset
from kwalk.model.kafka.broker.log_manager import append
from kwalk.model.kafka.broker.partition import (
    advance_high_watermark,
    has_consistent_topic_id,
)
from kwalk.model.kafka.domains import BROKERS, RECORDS, Broker, Partition, Topic
from kwalk.model.kafka.state import Cluster, Replica
from kwalk.model.kafka.versions.records import DIVERGING_FETCH_IS_NO_ACK
from kwalk.model.language import action, require


@action(
    by=BROKER,
    group="records",
    description="fetches {topic}-{partition} from its leader",
    source="AbstractFetcherThread.doWork; ReplicaManager.fetchMessages, Partition.updateFollowerFetchState",
)
def fetch(cluster: Cluster, broker: Broker, topic: Topic, partition: Partition) -> None:
    """Truncate if the logs diverge; otherwise send the log end offset, and take one record and the high watermark.

    A fetch that changes nothing is no step. One that leads to a truncation acknowledges nothing, but in 2.8.0, whose
    leaders store its offset. An answer with a record has the high watermark of before the fetch; without records the
    leader answers later, with that of then.

    Kafka: ReplicaManager.fetchMessages: readFromLog, updateFollowerFetchState; DelayedFetch.onComplete.
    """
    follower = cluster.replica_of(broker, topic, partition)
    require(not follower.lacks_fetcher)
    require(RECORDS > 0 and any(answers_fetch(cluster, b, topic, partition, follower=broker) for b in BROKERS))
    for number in BROKERS:
        leader = cluster.replica_of(number, topic, partition)
        if follower.replication.leader == number:
            require(fetch_has_effect(leader, follower, broker))
            common = diverging_offset(follower.log, leader.log)
            if common < follower.log.end:
                if not DIVERGING_FETCH_IS_NO_ACK:
                    leader.replication.remote_ends[broker] = follower.log.end
                    advance_high_watermark(cluster, number, topic, partition)
                follower.log.truncate_to(common)
                return
            sent = leader.log.high_watermark
            leader.replication.remote_ends[broker] = follower.log.end
            advance_high_watermark(cluster, number, topic, partition)
            if leader.log.end == follower.log.end:
                sent = leader.log.high_watermark
            take_next_record(leader, follower, sent)
            return


def answers_fetch(cluster: Cluster, number: int, topic: int, partition: int, *, follower: int) -> bool:
    """Whether a broker is the follower's leader and accepts its fetch.

    Otherwise it answers NOT_LEADER_OR_FOLLOWER, FENCED_LEADER_EPOCH or UNKNOWN_LEADER_EPOCH. Since 3.1 a fetch names
    the topic by its id, and INCONSISTENT_TOPIC_ID is another possible answer.
    """
    leader = cluster.replica_of(number, topic, partition)
    fetcher = cluster.replica_of(follower, topic, partition)
    if fetcher.replication.leader != number or not leader.is_leader or leader.leader_epoch != fetcher.leader_epoch:
        return False
    return has_consistent_topic_id(leader, fetcher)


def fetch_has_effect(leader: Replica, follower: Replica, number: int) -> bool:
    """Whether a fetch changes anything at the leader, or at the follower, which is broker `number`."""
    return (
        leader.log.end != follower.log.end
        or diverging_offset(follower.log, leader.log) < follower.log.end
        or leader.replication.remote_ends[number] != follower.log.end
        or follower.log.high_watermark != min(leader.log.high_watermark, follower.log.end)
    )


def take_next_record(leader: Replica, follower: Replica, sent: int) -> None:
    """Append the leader's next record, and take the high watermark that the leader has sent.

    Kafka: ReplicaFetcherThread.processPartitionData.
    """
    end = follower.log.end
    for record in leader.log.records:
        if record.offset == end:
            append(follower, record)
    follower.log.high_watermark = min(sent, follower.log.end)
