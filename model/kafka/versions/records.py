"""What releases and fixes change about records that are lost, differ between replicas, or return in a new topic."""

from __future__ import annotations

from kwalk.model.kafka.releases import ReleaseFlags
from kwalk.model.language import Trial

FLAGS = ReleaseFlags()
version_flag, fix = FLAGS.version_flag, FLAGS.fix
FIXES = FLAGS.fixes

DEFAULTS_START_ELECTIONS = version_flag(
    "defaults_start_elections",
    "KAFKA-6526 (2.0.0): the controller elects as unclean elections are allowed for all topics; in 1.1, the first "
    "release in which that can be set without a restart, it did not hear of it",
    {"1.1.0": False, "2.0.0": True},
    before=True,
    closes="a partition without a leader gets one as unclean elections are allowed",
    source="KAFKA-6526 (2.0.0): DynamicLogConfig.reconfigure",
    trials=(Trial("unclean-elections-allowed", ("allowed_election_is_held",)),),
)
DEFAULTS_HOLD_BEFORE_ELECTIONS = version_flag(
    "defaults_hold_before_elections",
    "KAFKA-7976 (2.2.0): a broker has its new configuration before the controller in it is told that unclean elections "
    "are allowed for all topics; in 2.0 and 2.1, after that, so that it could elect by the one of before",
    {"2.0.0": False, "2.2.0": True},
    before=True,
    closes="a partition without a leader gets one as unclean elections are allowed",
    source="KAFKA-7976 (2.2.0): DynamicBrokerConfig.addReconfigurables",
    trials=(Trial("unclean-elections-allowed", ("allowed_election_is_held",)),),
)
TOPICS_START_ELECTIONS = version_flag(
    "topics_start_elections",
    "KAFKA-6835 (2.1.0): the controller elects as unclean elections are allowed for a topic; before, it did not hear "
    "of it",
    {"2.1.0": True},
    closes="a partition without a leader gets one as unclean elections are allowed for its topic",
    source="KAFKA-6835 (2.1.0): TopicConfigHandler.processConfigChanges",
    trials=(Trial("unclean-elections-allowed", ("allowed_election_is_held",)),),
)
LAST_MEMBER_STAYS = version_flag(
    "last_member_stays",
    "KAFKA-5083 (1.1.0): the last member of an ISR stays in it when its broker fails; before, not where unclean "
    "elections are allowed",
    {"1.1.0": True},
    closes="the replica that led last leads again, also if unclean elections were allowed as it failed",
    source="KAFKA-5083 (1.1.0, in the commit for KAFKA-5642): ReplicaStateMachine.doRemoveReplicasFromIsr",
    trials=(Trial("unclean-elections-allowed", ("last_leader_leads",)),),
)
TOPICS_HAVE_IDS = version_flag(
    "topic_ids",
    "KIP-516 (2.8.0): topics have ids; before, none is minted, sent or checked",
    {"2.8.0": True},
    closes="a stray log is not used for a later topic of the same name",
    source="KIP-516 (2.8.0)",
    trials=(
        Trial("stray-log", ("no_resurrection",), variant="3.9.0", about="with all later fixes"),
        Trial("stray-log", ("no_divergence",), variant="3.9.0", about="with all later fixes"),
        Trial("stray-log", ("no_resurrection",), variant="2.8.2", about="in its first release"),
        Trial(
            "stray-log-without-id",
            ("no_resurrection",),
            variant="3.9.0",
            about="a log without partition.metadata is accepted for any topic",
        ),
        Trial(
            "old-client-expansion",
            ("partition_servable",),
            bounds={"brokers": 2},
            about="clients without topic ids can break what depends on ids",
        ),
    ),
)
FIRST_LEADER_AND_ISR_ASSIGNS_ID = version_flag(
    "first_leader_and_isr_assigns_id",
    "KAFKA-12426 (3.0): a log takes its topic id when it is created, and the first LeaderAndIsr that a process handles "
    "is checked against the id of the loaded log; before, the first one was neither checked nor used",
    {"3.0": True},
    closes="a log has a topic id before it has records, and the first request after a start is checked against it",
    source="KAFKA-12426 (3.0)",
    trials=(
        Trial("records-through-failover", ("records_have_a_topic_id",), bounds={"restarts": 1}),
        Trial("stray-log", ("no_resurrection",)),
        Trial("stray-log", ("no_divergence",)),
        Trial(
            "recreated-topic-records",
            ("no_resurrection",),
            bounds={"restarts": 1},
            about="a replica continues with the leader epoch of the earlier topic: no request corrects it",
        ),
    ),
)
FETCH_BY_TOPIC_ID = version_flag(
    "fetch_by_topic_id",
    "KIP-516 (3.1): a fetch names the topic by its id, and a leader whose log has another id refuses it",
    {"3.1": True},
    closes="a fetch by topic id returns no records of an earlier topic of that name",
    source="KIP-516 (3.1)",
    trials=(
        Trial("recreated-topic-records", ("no_resurrection",), variant="3.0", bounds={"restarts": 1}),
        Trial(
            "stray-log",
            ("no_resurrection",),
            about="2.8 with this fix alone: a stray log without an id, or with an early one, is served",
        ),
    ),
)
ID_CHECK_BEFORE_EPOCH = version_flag(
    "id_check_before_epoch",
    "KAFKA-12332 (2.8.0): a LeaderAndIsr request with another topic id than the log's is refused before its leader "
    "epoch is looked at; without, the mismatch is only logged and the request applied",
    {"2.8.0": True},
    closes="a replica whose log has another topic id neither leads nor follows",
    source="KAFKA-12332 (2.8.0)",
    trials=(
        Trial("stray-log", ("no_resurrection",), variant="3.0"),
        Trial("stray-log", ("no_divergence",), variant="3.0"),
        Trial("stray-log", ("committed_survives",), variant="3.0"),
        Trial(
            "old-client-expansion",
            ("partition_servable",),
            bounds={"brokers": 2},
            about="the price: replicas that an old client has left with another id do not serve",
        ),
    ),
)
ASYNC_METADATA_FLUSH = version_flag(
    "async_metadata_flush",
    "KAFKA-13092 (2.8.1): partition.metadata is written later, by the log's scheduler, in a step of its own; since "
    "then the scenario chooses whether that is a step of its own",
    {"2.8.1": None},
)
fix(
    ASYNC_METADATA_FLUSH,
    name="async_metadata_flush: at once",
    off=True,
    on=False,
    closes="partition.metadata exists before LeaderAndIsr is answered, and a crash loses no topic id",
    source="2.8.0; given up by KAFKA-13092 (2.8.1) because of the time it takes, which is not modelled",
    trials=(
        Trial("records-through-failover", ("log_keeps_its_topic_id",), variant="3.9.0", bounds={"restarts": 1}),
        Trial(
            "records-through-failover",
            ("records_have_a_topic_id",),
            variant="3.9.0",
            bounds={"restarts": 1},
            about="only an empty log can be left without its id, as the first append writes the file",
        ),
    ),
)
TRUNCATION = version_flag(
    "truncation",
    "KIP-101 (0.11.0): a follower truncates to where its log leaves the leader's by leader epochs; before, to its own "
    "high watermark",
    {"0.11.0": "leader epoch"},
    before="high watermark",
    closes="a follower that truncates loses no record that was committed",
    source="KIP-101 (0.11.0)",
    trials=(Trial("leaders-in-succession", ("committed_survives",), variant="3.9.0"),),
)
DIVERGING_FETCH_IS_NO_ACK = version_flag(
    "diverging_fetch_is_no_ack",
    "KAFKA-13141 (2.7.2, 2.8.1): a fetch of a follower whose log diverges from the leader's does not count as an "
    "acknowledgement; in 2.8.0, the first release whose followers truncate by what a fetch answers, it does, and so it "
    "does at leaders of 2.7.0 and 2.7.1 with such followers",
    {"2.8.0": False, "2.8.1": True},
    before=True,
    closes="a record is committed only once every ISR member has it",
    source="KAFKA-13141 (2.7.2, 2.8.1, 3.0.0): ReplicaManager.updateFollowerFetchState: divergingEpoch.nonEmpty",
    trials=(Trial("records-through-failover", ("committed_survives",), variant="2.8.0"),),
)
SKIPS_OLDER_PARTITION_EPOCHS = version_flag(
    "skips_older_partition_epochs",
    "KAFKA-13790 (3.3): a replica stays as it is at a LeaderAndIsr with a lower version of the state znode than its "
    "process has seen, whatever the leader epoch",
    {"3.3": True},
    no_fix="another check, and no answer to a defect",
    source="Partition.makeLeader, makeFollower: partitionState.partitionEpoch < partitionEpoch",
)
ISR_NEEDS_EPOCH_START = version_flag(
    "isr_needs_epoch_start",
    "KAFKA-7128 (2.0.1, 2.1.0): a follower joins the ISR when it has reached the offset at which the leader was "
    "elected; before, the leader's high watermark, which may be behind that of the leader before",
    {"2.0.1": True},
    closes="a replica that joins the ISR has all that is committed",
    source="KAFKA-7128 (2.0.1, 2.1.0): Partition.isFollowerInSync: leaderEpochStartOffset",
    trials=(Trial("replica-joins-new-leader", ("committed_survives",), variant="2.5.0"),),
)
