"""Properties of deleted topics (P15 to P18): only what was requested is deleted, completely and permanently."""

from __future__ import annotations

from kwalk.model.kafka.clients.admin_clients import brokers_create
from kwalk.model.kafka.controller.controller_context import EventProgress, ReplicaState
from kwalk.model.kafka.domains import BROKERS, CREATED_PARTITIONS, Broker, Partition, Topic
from kwalk.model.kafka.requests import RequestKind
from kwalk.model.kafka.state import Cluster
from kwalk.model.language import always, premise, reachable, step, when_quiescent


@step(
    symptom="a topic that was just created vanishes, or loses its configuration",
    log="Deletion of topic … successfully completed",
)
def deletion_targets_intent(before: Cluster, after: Cluster, topic: Topic) -> bool:
    """P15 DeletionTargetsIntent: a topic's znode and its configuration are deleted only if a deletion was requested."""
    old, new = before.zookeeper.topics[topic], after.zookeeper.topics[topic]
    premise((old.exists and not new.exists) or (old.has_config and not new.has_config))
    return new.deletion_requested


@step(symptom="records of a topic whose deletion was not requested are gone", log="Deleted log for partition …")
def deleted_logs_were_unused(
    before: Cluster, after: Cluster, broker: Broker, topic: Topic, partition: Partition
) -> bool:
    """P15 DeletionTargetsIntent: no log that a topic uses is deleted without a request, unless its replica moves.

    A topic uses a log whose Partition has had a leader since the topic was created. A log that an earlier topic of the
    name left open is not the topic's, and may be deleted when the name is used again: it has no leader epoch, a higher
    one than the topic's partition, or another topic id. Before 2.8, without ids, one with no higher leader epoch is
    taken for the topic's, as brokers take it, unless the broker has not handled the topic's first LeaderAndIsr yet: a
    topic's leader epochs rise, so that one which is sent with no higher epoch than the log has is of a later topic.
    """
    was, now = before.replica_of(broker, topic, partition), after.replica_of(broker, topic, partition)
    premise(was.on_disk and not now.on_disk)
    premise(was.topic_id is not None or not is_of_earlier_topic(after, broker, topic, partition, was.leader_epoch))
    znode = after.zookeeper.topics[topic]
    state, is_of_topic = znode.states[partition], was.topic_id in (None, znode.topic_id, znode.first_topic_id)
    premise(was.leader_epoch is not None and state.leader_epoch is not None and was.leader_epoch <= state.leader_epoch)
    is_used = znode.exists and is_of_topic
    return not is_used or znode.deletion_requested or broker not in znode.assignments[partition].target


@step(
    symptom="records are lost that were acknowledged while the replicas of before a reassignment were not in sync",
    log="server.log: Log for partition … is renamed to … and is scheduled for deletion",
)
def isr_member_keeps_its_log(
    before: Cluster, after: Cluster, broker: Broker, topic: Topic, partition: Partition
) -> bool:
    """The log of the only member of the ISR is not deleted, unless the topic is."""
    was, now = before.replica_of(broker, topic, partition), after.replica_of(broker, topic, partition)
    premise(was.on_disk and not now.on_disk and not after.zookeeper.topics[topic].deletion_requested)
    return after.zookeeper.state_of(topic, partition).isr != {broker}


def is_of_earlier_topic(cluster: Cluster, broker: int, topic: int, partition: int, leader_epoch: int | None) -> bool:
    """Whether a LeaderAndIsr on its way to the broker has no higher leader epoch than its log of the partition."""
    requests = cluster.brokers[broker].requests
    return leader_epoch is not None and any(
        header.topic == topic
        and header.kind is RequestKind.LEADER_AND_ISR
        and wanted is not None
        and wanted.leader_epoch <= leader_epoch
        for header, wanted in zip(requests.headers, requests.partition_states[partition], strict=False)
    )


@when_quiescent(
    symptom="the topic stays marked for deletion permanently, and cannot be used",
    log="Halted deletion of topics … due to offline replicas",
)
def deletion_terminates(cluster: Cluster, topic: Topic) -> bool:
    """P16 DeletionTerminates: no delete_topics znode is left while all brokers live."""
    premise(cluster.deletions > 0 and cluster.all_up)
    return topic not in cluster.zookeeper.delete_topics


@when_quiescent(
    symptom="a disk keeps logs that are not used; a later topic of that name finds them",
    log="none: the broker loads the log at each start like any other",
)
def no_stray(cluster: Cluster, broker: Broker, topic: Topic, partition: Partition) -> bool:
    """P17 NoStray: a live broker has a log only of a partition in ZooKeeper of which it is a replica."""
    premise(cluster.is_up(broker) and cluster.replica_of(broker, topic, partition).on_disk)
    znode = cluster.zookeeper.topics[topic]
    return partition < znode.partition_count and broker in znode.assignments[partition].replicas


@always(
    symptom="a topic is gone, and a broker keeps logs of it; a later topic of that name finds them",
    log="none: the broker loads the log at each start like any other",
)
def deleted_replica_has_no_log(cluster: Cluster, broker: Broker, topic: Topic, partition: Partition) -> bool:
    """A live broker has no log of a replica that the controller takes for deleted."""
    premise(cluster.is_up(broker) and cluster.zookeeper.controller is not None)
    deleted = [
        cluster.zookeeper.controller == other
        and cluster.controller_of(other).topics[topic].replica_states[partition][broker]
        is ReplicaState.DELETION_SUCCESSFUL
        for other in BROKERS
    ]
    premise(any(deleted))
    return not cluster.replica_of(broker, topic, partition).on_disk


@step(symptom="a topic that was deleted exists again", log="New topics: […], deleted topics: […]")
def no_unrequested_topic(before: Cluster, after: Cluster, topic: Topic) -> bool:
    """P18 NoUnrequestedTopic: a topic's znode appears only by a creation."""
    premise(not before.zookeeper.topics[topic].exists and after.zookeeper.topics[topic].exists)
    return not after.zookeeper.topics[topic].deletion_requested


@when_quiescent(
    symptom="a topic without a leader until the next failover: LEADER_NOT_AVAILABLE",
    log="… should be in one of NonExistentPartition states before moving to NewPartition state",
)
def partition_gets_a_leader(cluster: Cluster, topic: Topic, partition: Partition) -> bool:
    """P8 PartitionServable: every partition of a topic with a live replica has had a first leader."""
    znode = cluster.zookeeper.topics[topic]
    premise(partition < znode.partition_count and topic not in cluster.zookeeper.delete_topics)
    replicas = znode.assignments[partition].replicas
    return znode.states[partition].exists or not any(b in replicas and cluster.is_registered(b) for b in BROKERS)


@step(
    symptom="kafka-topics.sh --delete has succeeded, but the topic still exists, and no deletion is pending",
    log="[Controller id=…] Ignoring request to delete non-existing topics …",
)
def deletion_is_not_dropped(before: Cluster, after: Cluster, topic: Topic) -> bool:
    """P16 DeletionTerminates: a delete_topics znode is deleted only once its topic is gone."""
    premise(topic in before.zookeeper.delete_topics and topic not in after.zookeeper.delete_topics)
    znode = after.zookeeper.topics[topic]
    return not (znode.exists and znode.deletion_requested)


@always(
    symptom="TopicsIneligibleToDeleteCount is 0 although a deletion waits for a broker: every event retries it",
    log="missing: Halted deletion of topics … due to offline replicas",
)
def waiting_deletion_is_ineligible(cluster: Cluster, broker: Broker, topic: Topic) -> bool:
    """A controller that has a broker as down marks queued topics as ineligible."""
    controller = cluster.controller_of(broker)
    context = controller.topics[topic]
    premise(
        controller.step in (EventProgress.IDLE, EventProgress.STATES_READ)
        and controller.live_brokers != frozenset(BROKERS)
    )
    premise(context.to_be_deleted and context.partition_count > 0)
    return context.ineligible_for_deletion


@always(
    symptom="a new topic's overrides have no effect: retention and min.insync.replicas are the brokers' defaults",
    log="none: kafka-configs.sh --describe --entity-type topics lists nothing for it",
)
def topic_has_its_configuration(cluster: Cluster, topic: Topic) -> bool:
    """A topic that was created, and whose deletion was not requested, has its configuration."""
    znode = cluster.zookeeper.topics[topic]
    premise(znode.exists and znode.was_created and not znode.deletion_requested)
    return znode.has_config


@when_quiescent(
    symptom="a topic that is not there cannot be created until the controller's broker restarts: TOPIC_ALREADY_EXISTS",
    log="none: kafka-topics.sh --describe of the controller's broker shows a topic that ZooKeeper lacks",
)
def free_name_can_be_created(cluster: Cluster, topic: Topic) -> bool:
    """Where there is a controller, a client can create a topic that is neither in ZooKeeper nor to be deleted."""
    premise(not cluster.zookeeper.topics[topic].exists and topic not in cluster.zookeeper.delete_topics)
    premise(cluster.zookeeper.controller is not None)
    return brokers_create(cluster, topic)


@reachable()
def topic_is_deleted(cluster: Cluster, topic: Topic) -> bool:
    """A topic is gone, and so are its configuration, its delete_topics znode and all its logs."""
    znode = cluster.zookeeper.topics[topic]
    return (
        znode.was_created
        and not (znode.exists or znode.has_config or topic in cluster.zookeeper.delete_topics)
        and not any(replica.on_disk for broker in BROKERS for replica in cluster.brokers[broker].replicas[topic])
    )


@reachable()
def topic_is_created_again(cluster: Cluster, topic: Topic) -> bool:
    """A topic has a leader under a name that was used before."""
    znode = cluster.zookeeper.topics[topic]
    return znode.incarnation > 0 and any(state.leader is not None for state in znode.states)


@reachable()
def expansion_meets_a_deletion(cluster: Cluster, topic: Topic) -> bool:
    """A topic whose deletion is requested gets partitions."""
    znode = cluster.zookeeper.topics[topic]
    return topic in cluster.zookeeper.delete_topics and znode.accepted_partitions > int(CREATED_PARTITIONS)
