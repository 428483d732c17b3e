"""What releases and fixes change about topics that are deleted, created again, or come back."""

from __future__ import annotations

from kwalk.model.kafka.releases import ReleaseFlags
from kwalk.model.language import Trial

FLAGS = ReleaseFlags()
version_flag, candidate, grain_flag, fix = FLAGS.version_flag, FLAGS.candidate, FLAGS.grain_flag, FLAGS.fix
FIXES = FLAGS.fixes

UNMOVED = {"failovers": 0}
BEFORE_6650 = {"offline_without_leadership": False}

OFFLINE_WITHOUT_LEADERSHIP = version_flag(
    "offline_without_leadership",
    "KAFKA-6650 (2.0): a replica of a partition without leadership can go offline, and so be deleted",
    {"2.0.0": True},
    closes="a topic with a partition that never had a leader can be deleted",
    source="KAFKA-6650 (2.0): ReplicaStateMachine.doHandleStateChanges",
    trials=(
        Trial("topic-deletion", ("deletion_terminates",)),
        Trial(
            "expansion-during-deletion",
            ("deletion_terminates",),
            variant="2.5.0",
            flags={"restore_on_delete": False},
            about="an expansion added the partition without a leader, and KAFKA-6612 has not removed it",
        ),
    ),
)
RESTORE_ON_DELETE = version_flag(
    "restore_on_delete",
    "KAFKA-6612 (2.0): partitions that a client adds to a topic which is being deleted are taken out of its znode",
    {"2.0.0": True},
    closes="a topic that is being deleted gets no partitions that its deletion does not cover",
    source="KAFKA-6612 (2.0): KafkaController.processPartitionModifications, restorePartitionReplicaAssignment",
    trials=(
        Trial(
            "expansion-during-halted-deletion",
            ("context_agrees",),
            variant="2.5.0",
            about="the controller that deletes the topic handles the expansion",
        ),
        Trial(
            "expansion-during-deletion",
            ("deletion_terminates",),
            variant="2.5.0",
            flags=BEFORE_6650,
            about="the controller moves before it has handled the expansion: the next one deletes what it finds",
        ),
        Trial(
            "expansion-during-deletion",
            ("deletion_terminates",),
            variant="2.5.0",
            about="with KAFKA-6650 the next controller can delete the partition that was added: nothing is stuck",
        ),
    ),
)
MARKS_ARE_REMOVED = version_flag(
    "marks_are_removed",
    "KAFKA-3175 (0.10.2.0): a controller without delete.topic.enable removes what is in /admin/delete_topics; before, "
    "it did not watch it, and told clients after a failover that these topics are being deleted",
    {"0.10.2.0": True},
    closes="clients find a topic that was marked for deletion while delete.topic.enable is off",
    source="KAFKA-3175 (0.10.2.0): PartitionStateMachine.registerListeners; TopicDeletionManager.topicsToBeDeleted",
    trials=(Trial("deletion-disabled-as-clients-see-it", ("metadata_converges",), variant="2.5.0"),),
)
OLD_UPSERT = grain_flag(
    "old_upsert", "clients 1.0.x and older, which create the znode that they write if it is gone meanwhile"
)
fix(
    OLD_UPSERT,
    name="no_upsert",
    off=True,
    on=False,
    closes="a client that writes the znode of a topic deleted in the meantime does not create it again",
    source="KAFKA-5646 (1.1.0): AdminZkClient.writeTopicPartitionAssignment, before ZkUtils.updatePersistentPath",
    trials=(Trial("expansion-during-deletion", ("no_unrequested_topic",), bounds=UNMOVED),),
)
LISTED_TOPICS_ARE_NOT_CREATED = version_flag(
    "listed_topics_are_not_created",
    "KAFKA-10606 (2.8.0): a request for the metadata of all topics creates none; before, it created one again that was "
    "deleted while it was answered",
    {"2.8.0": True},
    closes="a topic that is deleted is not created again by a client that lists topics",
    source="KAFKA-10606 (2.8.0): KafkaApis.getTopicMetadata",
    trials=(Trial("deletion-amid-a-listing", ("no_unrequested_topic",), variant="2.5.0"),),
)
CREATE_CHECKS_DELETE_TOPICS = version_flag(
    "create_checks_delete_topics",
    "KAFKA-13175 (3.1): a topic cannot be created while /admin/delete_topics has a marker of that name",
    {"3.1": True},
    closes="a topic that is created again is not confused with the one whose deletion is incomplete",
    source="KAFKA-13175 (3.1.0): AdminZkClient.validateTopicCreate; brokers answer TOPIC_ALREADY_EXISTS",
    trials=(
        Trial("delete-and-recreate", ("deletion_targets_intent",)),
        Trial(
            "delete-by-hand",
            ("deletion_targets_intent",),
            about="after the delete_topics znode is removed by hand, a topic can be created that the controller "
            "still deletes",
        ),
    ),
)
CREATE_CHECKS_CACHE = version_flag(
    "create_checks_cache",
    "KAFKA-8875 (2.3.1): the controller's broker refuses to create a topic that its metadata cache has; before, "
    "ZooKeeper decided alone",
    {"2.3.1": True},
)
fix(
    CREATE_CHECKS_CACHE,
    name="create_asks_zookeeper",
    off=True,
    on=False,
    closes="a topic that does not exist can be created, whatever the controller's broker has cached",
    source="AdminManager.createTopics (2.3.0): AdminZkClient.validateTopicCreate only",
    trials=(
        Trial("deletion-as-clients-see-it", ("free_name_can_be_created",), variant="3.9.0"),
        Trial(
            "deletion-as-clients-see-it",
            ("metadata_converges",),
            variant="3.9.0",
            about="clients still see the topic until it is created again",
        ),
    ),
)
UNNAMED_TOPICS_LEAVE_CACHES = candidate(
    "unnamed_topics_leave_caches",
    "a broker removes from its metadata cache what a controller does not name when it sends all that there is, in its "
    "failover and when a broker has registered; KAFKA-15799 (3.6.1) does so for KRaft's controllers only",
    closes="a broker that missed a deletion does not answer clients with the deleted topic",
    source="no release has it: ZkMetadataCache.updateMetadata drops what has LeaderDuringDelete only, in 3.9 too",
    trials=(
        Trial("deletion-as-clients-see-it", ("metadata_converges",), variant="3.9.0"),
        Trial("deletion-as-clients-see-it", ("free_name_can_be_created",), variant="3.9.0"),
    ),
)
CLEAR_SM_ON_REMOVE = candidate(
    "clear_sm_on_remove",
    "a controller that removes a topic also removes the states of its partitions and replicas",
    closes="a topic that is created after one of its name was removed by hand gets a leader at once",
    source="no release has it: ControllerContext.removeTopic keeps partitionStates and replicaStates, in 3.9 too",
    trials=(
        Trial(
            "delete-by-hand",
            ("partition_gets_a_leader",),
            flags={"patient_creation": True},
            bounds={"requests": 8},
            about="the topic is created again after the controller has removed the first one from its context",
        ),
        Trial(
            "delete-by-hand",
            ("partition_gets_a_leader",),
            about="a topic that is removed and created again before the controller reads is not new to it",
        ),
        Trial(
            "delete-and-recreate",
            ("deletion_terminates",),
            variant="3.9.0",
            bounds={"deletions": 2, "failovers": 0, "restarts": 1},
            about="a deletion has left the name in topicsIneligibleForDeletion",
        ),
    ),
)
DELETION_WAITS = candidate(
    "deletion_waits",
    "a controller queues a topic for deletion before it marks it as ineligible because a partition is being "
    "reassigned, as it is meant to do: the deletion waits until the reassignment ends",
    closes="a topic that is deleted while it is reassigned leaves no log, and its deletion ends",
    source="no release has it: KafkaController.processTopicDeletion marks topics before it queues them, in 3.9 too",
    trials=(
        Trial("deletion-during-reassignment", ("deleted_replica_has_no_log",)),
        Trial("deletion-during-reassignment", ("deletion_terminates",)),
    ),
)
STARTED_BROKERS_HEAR_OF_DELETIONS = version_flag(
    "started_brokers_hear_of_deletions",
    "up to 2.6 the first metadata that a broker gets which starts has topics that are being deleted; since KAFKA-10040 "
    "(2.7.0) only others",
    {"2.7.0": False},
    before=True,
    no_fix="a side effect of counting leaders that are not preferred: a broker with replicas of the topic hears of its "
    "deletion all the same",
)
RESIGNATION_FORGETS_OFFLINE_LOGS = version_flag(
    "resignation_forgets_offline_logs",
    "KAFKA-6630 (2.0.0): a controller that resigns forgets which replicas are on failed disks; before, since 1.0, it "
    "took them for failed when it was elected again",
    {"2.0.0": True},
    closes="a replica whose disk was replaced is served after its controller is elected again",
    source="KAFKA-6630 (2.0.0): ControllerContext.clearTopicsState: replicasOnOfflineDirs",
    trials=(Trial("replaced-disk", ("replica_on_a_working_disk_is_hosted",)),),
)
UNOPENED_LOG_IS_OFFLINE = version_flag(
    "unopened_log_is_offline",
    "up to 3.0 a broker marks a partition offline, as if its disk had failed, whose log is not open after a "
    "LeaderAndIsr request: in 3.0 one whose first request has another topic id; since 3.1 it leaves it as it is",
    {"3.1": False},
    before=True,
)
fix(
    UNOPENED_LOG_IS_OFFLINE,
    name="unopened_log_is_refused",
    off=True,
    on=False,
    closes="a topic can be deleted whose replica found a log of another topic id and never opened it",
    source="ReplicaManager.becomeLeaderOrFollower (3.1.0): markPartitionOffline only after a KafkaStorageException",
    trials=(
        Trial(
            "topic-deletion-with-stray-log",
            ("deletion_terminates",),
            variant="3.0",
            about="the broker answers StopReplica as if its disk had failed, and so the deletion fails",
        ),
        Trial(
            "topic-deletion-with-stray-log",
            ("deletion_terminates",),
            variant="2.8.2",
            about="before 3.0 the first request is not checked and opens any log: no replica is offline",
        ),
    ),
)
