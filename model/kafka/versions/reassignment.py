"""What releases and fixes change about reassignments and their leader epochs, and about elections meanwhile."""

from __future__ import annotations

from kwalk.model.kafka.releases import ReleaseFlags
from kwalk.model.language import Trial

FLAGS = ReleaseFlags()
version_flag, candidate, fix = FLAGS.version_flag, FLAGS.candidate, FLAGS.fix
FIXES = FLAGS.fixes

ONE_REPLICA = {"brokers": 2, "replication_factor": 1}

STOP_REPLICA_EPOCH = version_flag(
    "stop_replica_epoch",
    "which leader epochs of a StopReplica request a broker accepts: all; only one greater than its own (KAFKA-9539, "
    "2.6); also one that is equal (KAFKA-13972, 3.4.1)",
    {"2.6.0": "gt", "3.4.1": "ge"},
    before="none",
)
fix(
    STOP_REPLICA_EPOCH,
    name="stop_replica_epoch: greater",
    off="none",
    on="gt",
    closes="a late StopReplica request does not delete a replica that was assigned to the broker again",
    source="KAFKA-9539 (2.6.0)",
    trials=(
        Trial("reassignment-there-and-back", ("replicas_converge",), variant="3.9.0"),
        Trial(
            "reassignment",
            ("no_stray",),
            variant="3.9.0",
            bounds=ONE_REPLICA,
            about="a cancelled reassignment sends StopReplica with the leader epoch that the replica has already",
        ),
    ),
)
fix(
    STOP_REPLICA_EPOCH,
    name="stop_replica_epoch: greater or equal",
    off="gt",
    on="ge",
    closes="a cancelled reassignment leaves no log on the broker that was to get the replica",
    source="KAFKA-13972 (3.4.1)",
    trials=(
        Trial("reassignment", ("no_stray",), bounds=ONE_REPLICA),
        Trial(
            "reassignment-there-and-back",
            ("replicas_converge",),
            variant="3.9.0",
            about="a late StopReplica is still refused",
        ),
        Trial(
            "reassignment-there-and-back",
            ("no_stray",),
            variant="3.9.0",
            about="a LeaderAndIsr that arrives late opens a log where the replica was deleted meanwhile",
        ),
    ),
)
CTX_EPOCH_ON_BUMP = version_flag(
    "ctx_epoch_on_bump",
    "KAFKA-9212 (2.4.0): the leader epoch that a reassignment raises in the state znode is also the context's; before, "
    "UpdateMetadata and later LeaderAndIsr requests went out with the epoch before",
    {"2.4.0": True},
    closes="clients and the controller's context get the leader epoch that a reassignment has raised",
    source="KAFKA-9212 (2.4.0)",
    trials=(
        Trial("reassignment-as-clients-see-it", ("metadata_converges",)),
        Trial("reassignment", ("context_agrees",), bounds=ONE_REPLICA),
    ),
)
RESUMES_TO_DEAD_BROKERS = version_flag(
    "resumes_to_dead_brokers",
    "KAFKA-4214 (0.10.1.0): a controller that fails over goes on with a reassignment whose target has a broker that is "
    "down; before, it gave it up",
    {"0.10.1.0": True},
    closes="a reassignment goes on when its target and the controller are down at one time",
    source="KAFKA-4214 (0.10.1.0): KafkaController.initiateReassignReplicasForTopicPartition: aliveNewReplicas",
    trials=(
        Trial(
            "reassignment-across-failovers",
            ("reassignment_reaches_its_target",),
            bounds={"failovers": 1, "restarts": 1, "cancellations": 0},
            about="the broker that gets the replica crashes, and the controller moves",
        ),
    ),
)
RESIGNATION_CLEARS_THE_CONTEXT = version_flag(
    "resignation_clears_the_context",
    "KAFKA-5310 (0.11.0.0): a controller that resigns forgets its reassignments; before, it went on with them when it "
    "was elected again",
    {"0.11.0.0": True},
    closes="a controller that is elected again does not go on with a reassignment that a client has cancelled",
    source="KAFKA-5310 (0.11.0.0): KafkaController.resetControllerContext: partitionsBeingReassigned",
    trials=(Trial("reassignment-across-failovers", ("reassignment_is_requested",)),),
)
ADDED_REPLICAS_ARE_NEW = version_flag(
    "added_replicas_are_new",
    "KAFKA-10314 (2.7.0): the request that raises the leader epoch for a reassignment says which replicas are new; "
    "before, a broker with a failed log directory took them for replicas that may be there, and refused them",
    {"2.7.0": True},
    closes="a reassignment to a broker with a failed log directory ends",
    source="KAFKA-10314 (2.7.0): KafkaController.updateLeaderEpochAndSendRequest: isNew",
    trials=(Trial("reassignment-with-a-failed-directory", ("reassignment_ends",)),),
)
TRIES_OTHER_DIRECTORIES = version_flag(
    "tries_other_directories",
    "KAFKA-8526 (2.4.0): a broker that cannot create a log in a directory tries its others; before, the replica was "
    "offline",
    {"2.4.0": True},
    closes="a replica is created on a broker of which one log directory fails",
    source="KAFKA-8526 (2.4.0): LogManager.getOrCreateLog: nextLogDirs",
    trials=(Trial("reassignment-with-a-failed-directory", ("reassignment_ends",)),),
)
ELECTION_DURING_REASSIGNMENT = version_flag(
    "election_during_reassignment",
    "KAFKA-10149 (3.4): leaders move back to preferred replicas also while partitions are reassigned; before, only "
    "while none is",
    {"3.4.0": True},
    closes="leaders move back to preferred replicas while a reassignment of any partition goes on",
    source="KAFKA-10149 (3.4.0): KafkaController.checkAndTriggerAutoLeaderRebalance",
    trials=(
        Trial("preferred-leaders-during-reassignment", ("preferred_replica_leads",)),
        Trial("preferred-leaders-after-a-deletion", ("preferred_replica_leads_at_rest",)),
    ),
)
SKIPS_PARTITIONS_WITHOUT_LEADERSHIP = candidate(
    "skips_partitions_without_leadership",
    "a controller skips a partition without leadership in /admin/preferred_replica_election, as it skips one that does "
    "not exist",
    closes="a requested election of a partition that never had a leader ends, and no failover fails with it",
    source="no release has it: KafkaController.fetchPendingPreferredReplicaElections and processReplicaLeaderElection "
    "read partitionLeadershipInfo unchecked, in 3.9 too",
    trials=(
        Trial("requested-elections", ("preferred_election_request_ends",)),
        Trial("requested-elections", ("controller_does_not_give_up",), variant="3.9.0"),
    ),
)
CANCELLATIONS_NEED_THE_ISR = candidate(
    "cancellations_need_the_isr",
    "a reassignment is cancelled only while a replica of before is in the ISR; in all releases also while none is, and "
    "then the only members of the ISR are removed (KAFKA-14424)",
    closes="a cancelled reassignment leaves a partition that has a leader, and the log of the last ISR member",
    source="no release; KAFKA-14424: KafkaController.processApiPartitionReassignment looks at the target of a "
    "reassignment only",
    trials=(
        Trial("reassignment-cancelled-without-its-replicas", ("isr_member_keeps_its_log",), variant="3.9.0"),
        Trial("reassignment-cancelled-without-its-replicas", ("partition_servable",), variant="3.9.0"),
    ),
)
