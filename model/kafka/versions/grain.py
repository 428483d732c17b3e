"""The grain: which steps a scenario distinguishes, and which optional behaviour it has."""

from __future__ import annotations

from kwalk.model.kafka.releases import ReleaseFlags

FLAGS = ReleaseFlags()
grain_flag = FLAGS.grain_flag

DELETION = grain_flag(
    "deletion", "clients and operators delete topics; controllers keep the states of partitions and replicas"
)
OLD_CLIENT_KEEPS_REASSIGNMENTS = grain_flag(
    "old_client_keeps_reassignments",
    "old clients are of 2.4 to 2.7, and write adding_replicas and removing_replicas back; older ones do not know them",
)
PIECEMEAL_REMOVAL = grain_flag(
    "piecemeal_removal",
    "a topic's znodes are removed from below, the partition states in a step before the topic's own; else all in one",
)
DELETE_TOPIC_ENABLE = grain_flag(
    "delete_topic_enable",
    "delete.topic.enable of all brokers; where it is off, controllers only remove markers",
    default=True,
)
OFFLINE_LOGS = grain_flag(
    "offline_logs",
    "brokers answer KAFKA_STORAGE_ERROR for logs that they have not opened, and controllers look for other leaders; it "
    "needs `deletion`",
)
FAILED_DIRECTORIES = grain_flag(
    "failed_directories",
    "brokers have log directories to spare, which can fail, and requests say which replicas are new; it needs "
    "`offline_logs`",
)
PATIENT_CREATION = grain_flag(
    "patient_creation", "clients create a topic only when no controller knows one of that name any more"
)
REASSIGNMENT = grain_flag(
    "reassignment",
    "a partition's replicas are some of the brokers, and clients reassign them; else they are all of them",
)
BROKER_CHECKS = grain_flag(
    "broker_checks",
    "brokers answer new clients only while there is an active controller, and by the topics in its broker's metadata "
    "cache; else new clients write what brokers would write, as clients of ZooKeeper do. Where it is on, every broker "
    "has a replica of every partition",
    excludes=(REASSIGNMENT,),
)
ISR_CHANGES = grain_flag(
    "isr_changes",
    "when leaders shrink and expand the ISR",
    settings=("never", "between requests", "any time"),
)
FETCH_SESSIONS_END = grain_flag(
    "fetch_sessions_end",
    "since 3.1: no fetch session outlives the topic id under which it began, so that a leader answers only followers "
    "with the id that the controller has sent to metadata caches; without, every session lasts",
)
REQUEST_PER_PARTITION = grain_flag(
    "request_per_partition", "a batch goes out as one request for each partition; real controllers send one for all"
)
TWO_STEP_ADMIN = grain_flag(
    "two_step_admin", "clients that add partitions read the topic's znode in one step and write it in another"
)
METADATA_FILE_REMOVAL = grain_flag(
    "metadata_file_removal", "operators remove partition.metadata, so that an id in memory without a file may be clean"
)
METADATA_FILE_EDITS = grain_flag(
    "metadata_file_edits", "operators write ZooKeeper's topic ids into existing partition.metadata files"
)
STOP_REPLICA = grain_flag("stop_replica", "controllers send StopReplica, and a log can be on disk without being hosted")
EPOCH_CHECKPOINT_REMOVAL = grain_flag(
    "epoch_checkpoint_removal", "operators who remove partition.metadata remove leader-epoch-checkpoint with it"
)
METADATA_CACHES = grain_flag(
    "metadata_caches",
    "controllers send UpdateMetadata as a request of its own, and brokers cache what they answer clients with; it "
    "needs `stop_replica`",
)
CACHE_CHECKS = grain_flag(
    "cache_checks",
    "as `broker_checks`, by the metadata cache that `metadata_caches` keeps, whatever replicas a broker has; it needs "
    "that flag",
)
LIVE_BROKER_CACHES = grain_flag(
    "live_broker_caches",
    "metadata caches have the live brokers, too, and a broker follows no leader that its cache lacks; it needs "
    "`metadata_caches`",
)
LATE_BROKER_EPOCHS = grain_flag(
    "late_broker_epochs",
    "a broker that registers in a new session learns its broker epoch in a step of its own; else with the registration",
)
STATE_VERSIONS = grain_flag(
    "state_versions",
    "a process may know a later version of a state znode than there is: the znode was created again, or restored",
)
UNCLEAN_ELECTION = grain_flag(
    "unclean_election", "unclean.leader.election.enable: without a live ISR member any live replica becomes leader"
)
SESSIONS = grain_flag(
    "sessions", "a broker's session can end while its process runs; history keeps writes of deposed controllers"
)
STEPWISE_SHUTDOWN = grain_flag(
    "stepwise_shutdown",
    "a controlled shutdown is a step of the controller, and the broker stops in a later one, with requests handled in "
    "between; else both are one step",
)
REPLICA_LISTS = grain_flag(
    "replica_lists",
    "clients choose the replicas of a reassignment, the preferred one first, and may replace one reassignment by "
    "another; else one replica moves at a time, and the preferred one is the first in a fixed order",
)
RUNBOOK = grain_flag(
    "runbook",
    "the tasks that an operator does by hand about a topic, in this order: `runbook.tasks` has them",
    settings=("none", "topic", "znodes", "delete_topics first", "znodes and controller", "logs", "stop all", "roll"),
)
PATIENT_OPERATOR = grain_flag(
    "patient_operator", "the operator begins a task of a runbook only while the cluster has nothing to do"
)
MIGRATION = grain_flag(
    "migration", "the cluster migrates to KRaft: there are KRaft controllers, with their image and migration driver"
)
ROLLBACK_REMOVES_MIGRATION = grain_flag(
    "rollback_removes_migration",
    "an operator who rolls a migration back deletes /migration, too; the documentation names /controller only",
)
LOST_REQUESTS = grain_flag(
    "lost_requests",
    "the request that is in flight to a broker when its controller resigns, or its process ends, may be lost; else it "
    "always arrives",
)
OVERTAKING_REQUESTS = grain_flag(
    "overtaking_requests",
    "in the stories of healthy clusters: requests of a deposed controller and of its successor reach a broker in any "
    "order, as each controller has connections of its own; else in the order in which they were sent",
)
UNSENT_BATCH = grain_flag(
    "unsent_batch",
    "the batch of the replica state machine keeps what a refused write has left in it, until the process ends, and "
    "every later change of replica states fails; else each change begins with an empty batch, which KAFKA-12315 "
    "proposes and no release does",
)
LEFT_REASSIGNMENTS = grain_flag(
    "left_reassignments",
    "a partition whose topic is deleted while it is reassigned stays among those that are, until the controller moves, "
    "if no topic of that name is created; else it leaves them, which KAFKA-8249 proposes and no release does",
)
PREFERRED_ELECTION = grain_flag(
    "preferred_election", "auto.leader.rebalance.enable: leaders move back to preferred replicas"
)
