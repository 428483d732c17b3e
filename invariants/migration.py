"""Properties of a migration to KRaft: it gets on, the cluster keeps a controller, and topics keep what they have."""

from __future__ import annotations

from kwalk.model.kafka.domains import BROKERS, PARTITIONS, TOPICS, Broker, Partition, Topic
from kwalk.model.kafka.migration.kraft_migration_zk_writer import is_behind
from kwalk.model.kafka.migration.state import BrokerMode, DriverState
from kwalk.model.kafka.state import Cluster
from kwalk.model.language import always, eventually, premise, reachable, step, when_quiescent


@when_quiescent(
    symptom="topics are not created, and no leader is elected when a broker stops",
    log="controller.log of KRaft: KRaft controller indicates an active migration, but the ZK state does not.",
)
def migrating_cluster_has_a_controller(cluster: Cluster) -> bool:
    """ZooKeeper's controller has not been put away for one of KRaft that does not work."""
    premise(cluster.zookeeper.is_led_by_kraft)
    return cluster.migration.driver is DriverState.DUAL_WRITE or cluster.migration.is_finalized


@when_quiescent(
    symptom="the migration waits for good, and says so at INFO only",
    log="controller.log of KRaft: Still waiting for ZK brokers … found in metadata to register with KRaft.",
)
def migration_progresses(cluster: Cluster) -> bool:
    """The migration reaches dual write; ZooKeeper mode may go on meanwhile."""
    premise(not cluster.migration.is_deprovisioned)
    return cluster.migration.driver is DriverState.DUAL_WRITE or cluster.migration.is_finalized


@when_quiescent(
    symptom="brokers in ZooKeeper mode get no requests: no leader moves when a broker stops",
    log="controller.log of KRaft: Encountered ZooKeeper error during event … Will retry. (a topic without id: "
    "Encountered zk migration fault: Unhandled error in …)",
)
def comparison_ends(cluster: Cluster) -> bool:
    """The comparison of ZooKeeper with the image ends."""
    premise(cluster.migration.has_begun and cluster.migration.driver is not DriverState.INACTIVE)
    return cluster.migration.driver is not DriverState.SYNC_KRAFT_TO_ZK


@step(
    symptom="the migration does not begin, or brokers in ZooKeeper mode get no requests, and nobody is told why",
    log="controller.log of KRaft: The controller's ZkMigrationState is NONE which means this cluster should not be "
    "migrated from ZooKeeper. (or nothing)",
)
def active_controller_runs_the_migration(before: Cluster, after: Cluster) -> bool:
    """A controller of KRaft that becomes active goes on with the migration, unless ZooKeeper shows no copy."""
    premise(before.migration.driver is DriverState.INACTIVE and after.migration.driver is not DriverState.INACTIVE)
    is_unrecorded = before.migration.has_begun and not before.zookeeper.migration_is_recorded
    return is_unrecorded or after.migration.driver is not DriverState.GIVEN_UP


@step(
    symptom="a partition has no leader after the migration",
    log="none: kafka-topics.sh --describe shows no leader",
)
def copied_partition_has_an_isr(before: Cluster, after: Cluster, topic: Topic) -> bool:
    """What is copied of a partition has an ISR and a leader epoch, also if ZooKeeper has no state of it."""
    premise(topic not in before.migration.copied and topic in after.migration.copied)
    states = [after.zookeeper.state_of(topic, partition) for partition in PARTITIONS]
    return all(
        partition >= after.migration.images[topic].partition_count
        or (states[partition].leader_epoch is not None and bool(states[partition].isr))
        for partition in PARTITIONS
    )


@step(
    symptom="the metadata log has the copy of ZooKeeper twice",
    log="controller.log of KRaft: Starting ZK migration",
)
def copy_is_not_repeated(before: Cluster, after: Cluster) -> bool:
    """After a copy has ended, no other one begins."""
    premise(before.migration.has_begun and before.migration.driver is not after.migration.driver)
    return after.migration.driver is not DriverState.ZK_MIGRATION


@when_quiescent(
    symptom="brokers in ZooKeeper mode get no requests, and ZooKeeper no changes, until KRaft's controller fails over",
    log="controller.log of KRaft: Conditional update on KRaft Migration ZNode failed",
)
def zookeeper_accepts_krafts_writes(cluster: Cluster) -> bool:
    """In dual write ZooKeeper accepts what the driver writes."""
    premise(cluster.migration.driver is DriverState.DUAL_WRITE)
    return not cluster.migration.has_stale_version


@when_quiescent(
    symptom="a rollback loses what was done since: partitions that clients were promised",
    log="none: get /brokers/topics/T in ZooKeeper has other partitions than kafka-topics.sh --describe",
)
def zookeeper_catches_up(cluster: Cluster, topic: Topic) -> bool:
    """In dual write, with a driver whose writes are accepted, the topics in ZooKeeper are those of KRaft's image."""
    premise(cluster.migration.driver is DriverState.DUAL_WRITE and not cluster.migration.has_stale_version)
    return not is_behind(cluster, topic)


@when_quiescent(
    symptom="a partition that a client was promised never gets a leader: producers that choose it time out",
    log="none: kafka-topics.sh --describe lacks it, and get /brokers/topics/T in ZooKeeper has it",
)
def promised_partitions_are_in_the_image(cluster: Cluster, topic: Topic) -> bool:
    """In dual write KRaft has the partitions that clients were promised."""
    promised = cluster.zookeeper.topics[topic].accepted_partitions
    premise(cluster.migration.driver is DriverState.DUAL_WRITE and promised > 0)
    return cluster.migration.images[topic].partition_count == promised


@eventually(
    symptom="the migration never ends: KRaft's controller waits, or begins again, at INFO only",
    log="controller.log of KRaft, again and again: Still waiting for ZK brokers … found in metadata to register with "
    "KRaft.",
)
def migration_eventually_progresses(cluster: Cluster) -> bool:
    """A migration that has begun gets to dual write, unless its brokers are not all there."""
    migration = cluster.migration
    is_under_way = migration.driver is not DriverState.INACTIVE or cluster.zookeeper.is_led_by_kraft
    premise(is_under_way)
    is_there = cluster.all_up and migration.enabled == frozenset(BROKERS)
    return not is_under_way or not is_there or migration.driver is DriverState.DUAL_WRITE or migration.is_finalized


@eventually(
    symptom="a rollback loses what was done since",
    log="controller.log of KRaft, again and again: Encountered zk migration fault: Unhandled error in …",
)
def zookeeper_eventually_catches_up(cluster: Cluster, topic: Topic) -> bool:
    """What changes in KRaft's image gets to ZooKeeper."""
    is_due = cluster.migration.is_led and not cluster.migration.is_finalized
    premise(is_due and is_behind(cluster, topic))
    return not is_due or not is_behind(cluster, topic)


@always(
    symptom="KRaft serves a part of the topics",
    log="none: kafka-dump-log.sh --cluster-metadata-decoder lacks records of a topic",
)
def ended_copy_is_whole(cluster: Cluster, topic: Topic) -> bool:
    """When the copy ends, it has all topics of ZooKeeper."""
    premise(cluster.migration.driver is DriverState.RECORDING and cluster.zookeeper.topics[topic].exists)
    return cluster.migration.images[topic].exists


@step(
    symptom="brokers obey the deposed controller and that of KRaft",
    log="none: brokers refuse only controllers of older epochs",
)
def kraft_claims_a_new_epoch(before: Cluster, after: Cluster) -> bool:
    """KRaft's controller claims /controller under an epoch of its own."""
    premise(after.migration.driver is not before.migration.driver)
    premise(before.migration.driver is DriverState.BECOME_CONTROLLER)
    is_failed = after.migration.driver is DriverState.INACTIVE
    return is_failed or after.zookeeper.controller_epoch == before.zookeeper.controller_epoch + 1


@when_quiescent(
    symptom="every restart of KRaft's controller reads and copies everything again",
    log="controller.log of KRaft: Starting ZK migration",
)
def dual_write_is_recorded(cluster: Cluster) -> bool:
    """In dual write /migration says that there is a copy, and the log that the migration has begun."""
    premise(cluster.migration.driver is DriverState.DUAL_WRITE)
    return cluster.zookeeper.migration_is_recorded and cluster.migration.has_begun


@always(
    symptom="topics are gone: brokers that start in KRaft mode remove their logs",
    log="controller.log of KRaft: Made the following ZK writes when reconciling with KRaft state: …",
)
def topics_stay(cluster: Cluster, topic: Topic) -> bool:
    """A topic that was created is in ZooKeeper; none is deleted here."""
    premise(cluster.zookeeper.topics[topic].accepted_partitions > 0)
    return cluster.zookeeper.topics[topic].exists


@always(
    symptom="brokers take the logs of the topic for those of a deleted one: it is served, and empty",
    log="server.log: Log for partition … is marked as stray and renamed to …",
)
def image_has_the_topics_first_id(cluster: Cluster, topic: Topic) -> bool:
    """KRaft has the id that the topic got first, which is that of its logs."""
    image, first = cluster.migration.images[topic], cluster.zookeeper.topics[topic].first_topic_id
    premise(image.exists and first is not None)
    return image.topic_id == first


@always(
    symptom="topics that do not exist any more come back in KRaft",
    log="none: kafka-dump-log.sh --cluster-metadata-decoder shows the records before the end of the copy",
)
def copy_is_complete_or_absent(cluster: Cluster) -> bool:
    """Unless a copy is under way, the image is empty until a copy has ended."""
    migration = cluster.migration
    premise(not migration.has_begun and migration.driver is DriverState.WAIT_FOR_BROKERS)
    return not any(migration.images[topic].exists for topic in TOPICS)


@always(
    symptom="two controllers change partitions at the same time",
    log="server.log: Ignoring LeaderAndIsr request from controller … since its controller epoch … is old",
)
def kraft_has_no_rival(cluster: Cluster) -> bool:
    """While /controller is KRaft's, it names no broker."""
    return not (cluster.zookeeper.is_led_by_kraft and cluster.zookeeper.controller is not None)


@reachable()
def partition_is_added_in_dual_write(cluster: Cluster) -> bool:
    """A client adds a partition in dual write, and ZooKeeper gets it."""
    is_written = not cluster.migration.unwritten
    return cluster.new_expansions > 0 and is_written and cluster.migration.driver is DriverState.DUAL_WRITE


@when_quiescent(
    symptom="a topic is served, and empty: its records are in directories that end in -stray, or deleted",
    log="server.log: Log for partition … is marked as stray and renamed to …",
)
def acknowledged_record_survives_migration(cluster: Cluster, topic: Topic, partition: Partition) -> bool:
    """A live leader has every committed record."""
    state, commits = cluster.zookeeper.state_of(topic, partition), cluster.commits[topic][partition]
    premise(state.exists and not commits.is_empty)
    return any(
        state.leader == broker
        and all(commit.record in cluster.replica_of(broker, topic, partition).log.records for commit in commits)
        for broker in BROKERS
    )


@always(
    symptom="records of a topic are lost for good: no directory of any broker has them",
    log="server.log: Deleted log for partition …",
)
def acknowledged_record_is_on_a_disk(cluster: Cluster, topic: Topic, partition: Partition) -> bool:
    """Every committed record is in the log of a replica, or in one that a broker has set aside."""
    commits = cluster.commits[topic][partition]
    premise(not commits.is_empty)
    replicas = [cluster.replica_of(broker, topic, partition) for broker in BROKERS]
    return all(
        any(commit.record in replica.log.records or commit.record in replica.set_aside for replica in replicas)
        for commit in commits
    )


@always(
    symptom="a replica loses its log, and copies the leader's",
    log="server.log: Log for partition … is marked as stray and renamed to …",
)
def live_log_is_not_set_aside(cluster: Cluster, broker: Broker, topic: Topic, partition: Partition) -> bool:
    """No broker sets committed records aside."""
    commits = cluster.commits[topic][partition]
    premise(not commits.is_empty)
    return not any(commit.record in cluster.replica_of(broker, topic, partition).set_aside for commit in commits)


@reachable()
def all_brokers_reach_kraft_mode(cluster: Cluster) -> bool:
    """All brokers run in KRaft mode, and are live."""
    return cluster.all_up and all(cluster.brokers[broker].mode is BrokerMode.KRAFT for broker in BROKERS)


@when_quiescent(
    symptom="consumers miss records that producers were told are written; replicas truncate them",
    log="[UnifiedLog partition=…, dir=…] Truncating to offset …",
)
def acknowledged_record_survives_rollback(cluster: Cluster, topic: Topic, partition: Partition) -> bool:
    """After a rollback a live leader has every committed record."""
    state, commits = cluster.zookeeper.state_of(topic, partition), cluster.commits[topic][partition]
    premise(cluster.migration.rollbacks > 0 and not commits.is_empty and state.leader is not None)
    return any(
        state.leader == broker
        and all(commit.record in cluster.replica_of(broker, topic, partition).log.records for commit in commits)
        for broker in BROKERS
    )


@when_quiescent(
    symptom="a partition gets no leader when its broker stops, although a member of the ISR is alive",
    log="state-change.log of the controller: Aborted leader election for partition … since the LeaderAndIsr path was "
    "already written by another controller",
)
def leaders_move_after_rollback(cluster: Cluster, topic: Topic, partition: Partition) -> bool:
    """After a rollback a partition with a live ISR member has a live leader."""
    state = cluster.zookeeper.state_of(topic, partition)
    premise(cluster.migration.rollbacks > 0 and bool(state.isr & cluster.zookeeper.broker_ids))
    return state.leader is not None and state.leader in cluster.zookeeper.broker_ids


@when_quiescent(
    symptom="a partition gets no leader when its broker stops, although a member of the ISR is alive",
    log="state-change.log of the controller: Aborted leader election for partition … since the LeaderAndIsr path was "
    "already written by another controller",
)
def state_znode_has_no_later_epoch(cluster: Cluster, topic: Topic, partition: Partition) -> bool:
    """After a rollback no state znode has a higher controller epoch than /controller_epoch (KAFKA-20488)."""
    premise(cluster.migration.rollbacks > 0)
    return cluster.zookeeper.state_of(topic, partition).controller_epoch <= cluster.zookeeper.controller_epoch


@when_quiescent(
    symptom="brokers wait for KRaft's controllers, or the next migration copies nothing and deletes all topics",
    log="none: get /migration in ZooKeeper, and zookeeper.metadata.migration.enable in server.properties",
)
def migration_is_rolled_back(cluster: Cluster) -> bool:
    """ZooKeeper's controller leads, /migration is gone, and no broker has the migration enabled."""
    migration, zookeeper = cluster.migration, cluster.zookeeper
    is_back = migration.rollbacks > 0 and not zookeeper.is_led_by_kraft and zookeeper.controller is not None
    return is_back and not zookeeper.migration_is_recorded and not bool(migration.enabled)


@always(
    symptom="brokers in ZooKeeper mode get no requests any more: they keep leaders that are dead",
    log="none: kafka-metadata-quorum.sh and kafka-broker-api-versions.sh show brokers of both modes",
)
def finalization_leaves_no_zookeeper_broker(cluster: Cluster) -> bool:
    """A finalized migration leaves no broker in ZooKeeper mode."""
    premise(cluster.migration.is_finalized)
    return all(cluster.brokers[broker].mode is BrokerMode.KRAFT for broker in BROKERS)


@when_quiescent(
    symptom="a replica refuses its topic's requests, and is out of the ISR until its broker restarts",
    log="state-change.log: Topic ID in memory: … does not match the topic ID for partition … received: ….",
)
def replicas_have_the_images_id(cluster: Cluster, broker: Broker, topic: Topic, partition: Partition) -> bool:
    """In dual write each live broker has a replica of each partition in the image, under the image's id."""
    migration, replica = cluster.migration, cluster.replica_of(broker, topic, partition)
    premise(migration.driver is DriverState.DUAL_WRITE and broker in migration.live)
    premise(migration.has_partition(topic, partition))
    return replica.log_open and replica.topic_id == migration.images[topic].topic_id


@when_quiescent(
    symptom="a topic that was deleted is there again after a rollback, or after KRaft's controller has failed",
    log="none: ls /brokers/topics in ZooKeeper shows a topic that kafka-topics.sh --list does not",
)
def deleted_topic_stays_deleted(cluster: Cluster, topic: Topic) -> bool:
    """In dual write a topic that was deleted is not in ZooKeeper, and no live broker has a log of it."""
    migration = cluster.migration
    premise(migration.driver is DriverState.DUAL_WRITE and not migration.has_stale_version)
    premise(cluster.deletions > 0 and not migration.images[topic].exists)
    return not cluster.zookeeper.topics[topic].exists and not any(
        broker in migration.live and cluster.replica_of(broker, topic, partition).log_open
        for broker in BROKERS
        for partition in PARTITIONS
    )


@always(
    symptom="the controller's log is full of connections that brokers close",
    log="server.log of a broker in KRaft mode: Received request api key … with version … which is not enabled",
)
def kraft_brokers_get_no_requests(cluster: Cluster, broker: Broker) -> bool:
    """Brokers in KRaft mode get no requests of controllers."""
    premise(cluster.brokers[broker].mode is BrokerMode.KRAFT)
    return cluster.brokers[broker].requests.headers.is_empty


@when_quiescent(
    symptom="a reassignment hangs until the leader's broker restarts in KRaft mode",
    log="none: kafka-reassign-partitions.sh --list shows it",
)
def reassignment_completes_in_dual_write(cluster: Cluster, topic: Topic, partition: Partition) -> bool:
    """In dual write, with all brokers live, no reassignment is under way for good."""
    migration = cluster.migration
    premise(migration.driver is DriverState.DUAL_WRITE and migration.reassignments > 0)
    premise(migration.live == frozenset(BROKERS))
    return not cluster.zookeeper.topics[topic].assignments[partition].is_being_reassigned


@reachable()
def replica_is_moved_in_dual_write(cluster: Cluster, topic: Topic, partition: Partition) -> bool:
    """A replica is moved while all brokers run in ZooKeeper mode."""
    moved = cluster.migration.reassignments > 0
    is_done = not cluster.zookeeper.topics[topic].assignments[partition].is_being_reassigned
    return moved and is_done and all(cluster.brokers[broker].mode is BrokerMode.ZOOKEEPER for broker in BROKERS)


@when_quiescent(
    symptom="clients see a topic that was deleted, until the broker restarts",
    log="none: kafka-topics.sh --describe of one broker shows a topic that others do not",
)
def deleted_topic_leaves_caches(cluster: Cluster, broker: Broker, topic: Topic, partition: Partition) -> bool:
    """In dual write a broker in ZooKeeper mode answers clients with no partition that KRaft does not have."""
    migration = cluster.migration
    premise(migration.driver is DriverState.DUAL_WRITE and broker in migration.live)
    premise(not migration.has_partition(topic, partition) and not migration.has_stale_version)
    premise(cluster.deletions > 0)
    return cluster.brokers[broker].metadata[topic][partition].leader_epoch is None


@when_quiescent(
    symptom="clients are sent to a broker that does not lead",
    log="none: kafka-topics.sh --describe of one broker shows another leader than that of others",
)
def caches_have_leaders_of_the_image(cluster: Cluster, broker: Broker, topic: Topic, partition: Partition) -> bool:
    """In dual write a broker in ZooKeeper mode answers clients with the leaders that KRaft has."""
    migration, state = cluster.migration, cluster.zookeeper.state_of(topic, partition)
    premise(migration.driver is DriverState.DUAL_WRITE and broker in migration.live)
    premise(migration.has_partition(topic, partition) and not migration.has_stale_version)
    cached = cluster.brokers[broker].metadata[topic][partition]
    return cached.leader == state.leader and cached.leader_epoch == state.leader_epoch


@always(
    symptom="acks=all waits for a broker that is gone, and a partition has a leader that is",
    log="none: kafka-topics.sh --describe shows a broker in Isr that does not run",
)
def fenced_broker_leaves_isr(cluster: Cluster, topic: Topic, partition: Partition) -> bool:
    """While KRaft leads, a broker that is fenced is no leader, and in no ISR but as its last member."""
    migration, state = cluster.migration, cluster.zookeeper.state_of(topic, partition)
    premise(migration.is_led and migration.has_partition(topic, partition) and state.exists)
    is_left = len(state.isr) == 1 or state.isr <= migration.live
    return is_left and (state.leader is None or state.leader in migration.live)


@step(
    symptom="a replica loses its log, and copies the leader's",
    log="server.log: Log for partition … is renamed to … and is scheduled for deletion",
)
def log_of_the_image_is_kept(
    before: Cluster, after: Cluster, broker: Broker, topic: Topic, partition: Partition
) -> bool:
    """No broker removes the log of a partition that KRaft has, under its id, and of which it is a replica."""
    replica, image = before.replica_of(broker, topic, partition), before.migration.images[topic]
    is_replica = broker in before.zookeeper.topics[topic].assignments[partition].replicas
    premise(replica.on_disk and replica.file_topic_id == image.topic_id and image.topic_id is not None)
    premise(before.migration.has_partition(topic, partition) and is_replica)
    premise(after.migration.images[topic].topic_id == image.topic_id)
    return after.replica_of(broker, topic, partition).on_disk
