"""The Kafka versions as sets of flags, and the switches that choose the grain of the model.

Words: a *variant* is a release of Kafka; its *version flags* name the changes that distinguish releases, and each
declares here, and only here, since when it is on. A *candidate* is a fix that no release has: off in every variant. The
other flags are a scenario's *grain*: which steps it distinguishes, and which optional behaviour it has.
"""

from __future__ import annotations

from kwalk.model.kafka.releases import ReleaseFlags
from kwalk.model.language import Flag

RELEASES = ("2.8.2", "2.5.0", "2.8.0", "3.0", "3.4.1", "3.9.0")
"""Those that have a variant; the first one is the default of a scenario."""

_FLAGS = ReleaseFlags()
version_flag, candidate = _FLAGS.version_flag, _FLAGS.candidate


# What releases differ in.

TOPICS_HAVE_IDS = version_flag(
    "topic_ids", "KIP-516 (2.8.0): topics have ids; before, none is minted, sent or checked", {"2.8.0": True}
)
KEEP_IDS_BELOW_IBP = version_flag(
    "keep_ids_below_ibp",
    "KAFKA-12835 (2.8.1): a controller whose inter-broker protocol is below 2.8 remembers the topic ids that it finds "
    "in ZooKeeper, and a log under such a protocol takes no id",
    {"2.8.1": True},
)
FIRST_LEADER_AND_ISR_ASSIGNS_ID = version_flag(
    "first_leader_and_isr_assigns_id",
    "KAFKA-12426 (3.0): a log takes its topic id when it is created, and the first LeaderAndIsr that a process handles "
    "is checked against the id of the loaded log; before, the first one was neither checked nor used",
    {"3.0": True},
)
ASYNC_METADATA_FLUSH = version_flag(
    "async_metadata_flush",
    "KAFKA-13092 (2.8.1): partition.metadata is written later, by the log's scheduler, in a step of its own; since "
    "then the scenario chooses whether that is a step of its own",
    {"2.8.1": None},
)

ZK_FENCING = version_flag(
    "zk_fencing",
    "KAFKA-6082 (2.1): a controller's write succeeds only under the controller epoch that it was elected with; before, "
    "a controller that was deposed and does not know it yet still writes",
    {"2.1.0": True},
)
BROKER_EPOCH = version_flag(
    "broker_epoch",
    "KIP-380, KAFKA-7235 (2.2): each registration of a broker has an epoch of its own, so that controllers notice a "
    "bounce and brokers refuse requests for an earlier process; before, only broker ids were compared",
    {"2.2.0": True},
)
SESSION_BOUND = version_flag(
    "session_bound",
    "KAFKA-5642 (1.1.0): a controller whose ZooKeeper session has expired fails in whatever it still begins; before, "
    "its client repeated over the next session what the expired one had refused",
    {"1.1.0": True},
)
AUTH_REINIT_GUARD = version_flag(
    "auth_reinit_guard",
    "KAFKA-13461 (3.0.1): a ZooKeeper client that fails to authenticate while its session lives does nothing; before, "
    "it went through the motions of a session's expiry",
    {"3.0.1": True},
)
STOP_REPLICA_EPOCH = version_flag(
    "stop_replica_epoch",
    "which leader epochs of a StopReplica request a broker accepts: all; only one greater than its own (KAFKA-9539, "
    "2.6); also one that is equal (KAFKA-13972, 3.4.1)",
    {"2.6.0": "gt", "3.4.1": "ge"},
    before="none",
)

ALTER_ISR = version_flag(
    "alter_isr",
    "KIP-497 (2.7.0): a leader asks the controller to change the ISR; before, it writes the state znode itself, under "
    "the version that it knows, and no controller is needed",
    {"2.7.0": True},
)
LIVE_ISR_ONLY = version_flag(
    "live_isr_only",
    "KIP-841 (3.3): the controller refuses an ISR with a broker that it does not take for live",
    {"3.3": True},
)
FETCH_BY_TOPIC_ID = version_flag(
    "fetch_by_topic_id",
    "KIP-516 (3.1): a fetch names the topic by its id, and a leader whose log has another id refuses it",
    {"3.1": True},
)
ALTER_PARTITION_BY_TOPIC_ID = version_flag(
    "alter_partition_by_topic_id",
    "KAFKA-13916 (3.3): a leader asks for an ISR by the topic id of its log, and the controller refuses it "
    "(UNKNOWN_TOPIC_ID) if its context has another one",
    {"3.3": True},
)
UNOPENED_LOG_IS_OFFLINE = version_flag(
    "unopened_log_is_offline",
    "up to 3.0 a broker marks a partition offline, as if its disk had failed, whose log is not open after a "
    "LeaderAndIsr request: in 3.0 one whose first request has another topic id; since 3.1 it leaves it as it is",
    {"3.1": False},
    before=True,
)
CTX_EPOCH_ON_BUMP = version_flag(
    "ctx_epoch_on_bump",
    "KAFKA-9212 (2.4.0): the leader epoch that a reassignment raises in the state znode is also the context's; before, "
    "UpdateMetadata and later LeaderAndIsr requests went out with the epoch before",
    {"2.4.0": True},
)
ID_CHECK_BEFORE_EPOCH = version_flag(
    "id_check_before_epoch",
    "KAFKA-12332 (2.8.0): a LeaderAndIsr request with another topic id than the log's is refused before its leader "
    "epoch is looked at; without, the mismatch is only logged and the request applied",
    {"2.8.0": True},
)
TRUNCATION = version_flag(
    "truncation",
    "KIP-101 (0.11.0): a follower truncates to where its log leaves the leader's by leader epochs; before, to its own "
    "high watermark",
    {"0.11.0": "leader epoch"},
    before="high watermark",
)

ELECTION_DURING_REASSIGNMENT = version_flag(
    "election_during_reassignment",
    "KAFKA-10149 (3.4): leaders move back to preferred replicas also while partitions are reassigned; before, only "
    "while none is",
    {"3.4.0": True},
)
RESTORE_ON_DELETE = version_flag(
    "restore_on_delete",
    "KAFKA-6612 (2.0): partitions that a client adds to a topic which is being deleted are taken out of its znode",
    {"2.0.0": True},
)
OFFLINE_WITHOUT_LEADERSHIP = version_flag(
    "offline_without_leadership",
    "KAFKA-6650 (2.0): a replica of a partition without leadership can go offline, and so be deleted",
    {"2.0.0": True},
)
CREATE_CHECKS_DELETE_TOPICS = version_flag(
    "create_checks_delete_topics",
    "KAFKA-13175 (3.1): a topic cannot be created while /admin/delete_topics has a marker of that name",
    {"3.1": True},
)

# Fixes that were proposed.

RESTORE_FROM_CACHE = candidate(
    "restore_from_cache",
    "apache/kafka PR 13111: a controller that adds partitions writes its own topic id back if the znode has lost it",
)
OLD_CLIENT_REFUSES = candidate(
    "old_client_refuses",
    "Confluent 5.4 to 6.1: an old client refuses to write a topic's znode that has a field which it does not know",
)
CAS_TOPIC_WRITE = candidate(
    "cas_topic_write", "every write of a topic's znode compares it with what was read; a controller then reads again"
)

CLEAR_SM_ON_REMOVE = candidate(
    "clear_sm_on_remove", "a controller that removes a topic also removes the states of its partitions and replicas"
)
DELETION_WAITS = candidate(
    "deletion_waits",
    "a controller queues a topic for deletion before it marks it as ineligible because a partition is being "
    "reassigned, as it is meant to do: the deletion waits until the reassignment ends",
)

# The grain.

DELETION = Flag(
    "deletion", "clients and operators delete topics; controllers keep the states of partitions and replicas"
)
OLD_UPSERT = Flag(
    "old_upsert", "clients 1.0.x and older, which create the znode that they write if it is gone meanwhile"
)
OLD_CLIENT_KEEPS_REASSIGNMENTS = Flag(
    "old_client_keeps_reassignments",
    "old clients are of 2.4 to 2.7, and write adding_replicas and removing_replicas back; older ones do not know them",
)
PIECEMEAL_REMOVAL = Flag(
    "piecemeal_removal",
    "a topic's znodes are removed from below, the partition states in a step before the topic's own; else all in one",
)
DELETE_TOPIC_ENABLE = Flag(
    "delete_topic_enable", "delete.topic.enable of all brokers; where it is off, controllers only remove markers"
)
OFFLINE_LOGS = Flag(
    "offline_logs",
    "brokers answer KAFKA_STORAGE_ERROR for logs that they have not opened, and controllers look for other leaders; it "
    "needs `deletion`",
)
PATIENT_CREATION = Flag(
    "patient_creation", "clients create a topic only when no controller knows one of that name any more"
)

REASSIGNMENT = Flag(
    "reassignment",
    "a partition's replicas are some of the brokers, and clients reassign them; else they are all of them",
)
BROKER_CHECKS = Flag(
    "broker_checks",
    "brokers answer new clients only while there is an active controller, and by the topics in its broker's metadata "
    "cache; else new clients write what brokers would write, as clients of ZooKeeper do. Where it is on, every broker "
    "has a replica of every partition",
    excludes=(REASSIGNMENT,),
)
ISR_CHANGES = Flag(
    "isr_changes",
    "when leaders shrink and expand the ISR",
    settings=("never", "between requests", "any time"),
)
FETCH_SESSIONS_END = Flag(
    "fetch_sessions_end",
    "since 3.1: no fetch session outlives the topic id under which it began, so that a leader answers only followers "
    "with the id that the controller has sent to metadata caches; without, every session lasts",
)
REQUEST_PER_PARTITION = Flag(
    "request_per_partition", "a batch goes out as one request for each partition; real controllers send one for all"
)
TWO_STEP_ADMIN = Flag(
    "two_step_admin", "clients that add partitions read the topic's znode in one step and write it in another"
)
METADATA_FILE_REMOVAL = Flag(
    "metadata_file_removal", "operators remove partition.metadata, so that an id in memory without a file may be clean"
)
STOP_REPLICA = Flag("stop_replica", "controllers send StopReplica, and a log can be on disk without being hosted")
EPOCH_CHECKPOINT_REMOVAL = Flag(
    "epoch_checkpoint_removal", "operators who remove partition.metadata remove leader-epoch-checkpoint with it"
)
METADATA_CACHES = Flag(
    "metadata_caches",
    "controllers send UpdateMetadata as a request of its own, and brokers cache what they answer clients with; it "
    "needs `stop_replica`",
)
UNCLEAN_ELECTION = Flag(
    "unclean_election", "unclean.leader.election.enable: without a live ISR member any live replica becomes leader"
)
SESSIONS = Flag(
    "sessions", "a broker's session can end while its process runs; history keeps writes of deposed controllers"
)
STEPWISE_SHUTDOWN = Flag(
    "stepwise_shutdown",
    "a controlled shutdown is a step of the controller, and the broker stops in a later one, with requests handled in "
    "between; else both are one step",
)
REPLICA_LISTS = Flag(
    "replica_lists",
    "clients choose the replicas of a reassignment, the preferred one first, and may replace one reassignment by "
    "another; else one replica moves at a time, and the preferred one is the first in a fixed order",
)
RUNBOOK = Flag(
    "runbook",
    "the tasks that an operator does by hand about a topic, in this order: `runbook.tasks` has them",
    settings=("none", "topic", "znodes", "delete_topics first", "znodes and controller", "logs", "stop all", "roll"),
)
PATIENT_OPERATOR = Flag(
    "patient_operator", "the operator begins a task of a runbook only while the cluster has nothing to do"
)
LOST_REQUESTS = Flag(
    "lost_requests",
    "the request that is in flight to a broker when its controller resigns, or its process ends, may be lost; else it "
    "always arrives",
)
OVERTAKING_REQUESTS = Flag(
    "overtaking_requests",
    "in the stories of healthy clusters: requests of a deposed controller and of its successor reach a broker in any "
    "order, as each controller has connections of its own; else in the order in which they were sent",
)
UNSENT_BATCH = Flag(
    "unsent_batch",
    "the batch of the replica state machine keeps what a refused write has left in it, until the process ends, and "
    "every later change of replica states fails; else each change begins with an empty batch, which KAFKA-12315 "
    "proposes and no release does",
)
PREFERRED_ELECTION = Flag("preferred_election", "auto.leader.rebalance.enable: leaders move back to preferred replicas")

VARIANTS = {release: _FLAGS.variant_of(release) for release in RELEASES}
COARSE = {
    "async_metadata_flush": False,
    "metadata_file_removal": False,
    "epoch_checkpoint_removal": False,
    "two_step_admin": False,
    "isr_changes": "never",
    "request_per_partition": False,
    "stop_replica": False,
    "metadata_caches": False,
    "broker_checks": False,
    "unclean_election": False,
    "sessions": False,
    "stepwise_shutdown": False,
    "reassignment": False,
    "replica_lists": False,
    "deletion": False,
    "runbook": "none",
    "patient_operator": False,
    "old_upsert": False,
    "old_client_keeps_reassignments": False,
    "piecemeal_removal": False,
    "delete_topic_enable": True,
    "offline_logs": False,
    "patient_creation": False,
    "preferred_election": False,
    "lost_requests": False,
    "overtaking_requests": False,
    "fetch_sessions_end": False,
    "unsent_batch": False,
}
"""The grain for exhaustive search: quiescent states are the same but for unflushed data that a crash loses."""
FINE = {
    **COARSE,
    "async_metadata_flush": True,
    "isr_changes": "any time",
    "preferred_election": True,
    "lost_requests": True,
    "unsent_batch": True,
}
"""Everything that the model can tell apart and that real clusters do, but for requests that overtake others."""
