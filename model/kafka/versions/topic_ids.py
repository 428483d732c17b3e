"""What releases and fixes change about topic ids, and about partitions that are lost with a topic's znode."""

from __future__ import annotations

from kwalk.model.kafka.releases import ReleaseFlags
from kwalk.model.language import Trial

FLAGS = ReleaseFlags()
version_flag, candidate = FLAGS.version_flag, FLAGS.candidate
FIXES = FLAGS.fixes

NO_STOP = {"brokers": 2, "restarts": 0}
UNDISTURBED = {"brokers": 2, "restarts": 0, "failovers": 0}

RESTORE_FROM_CACHE = candidate(
    "restore_from_cache",
    "apache/kafka PR 13111: a controller that adds partitions writes its own topic id back if the znode has lost it",
    closes="the id that an old client erased is restored before it is needed",
    source="apache/kafka pull request 13111 (KAFKA-14190), never merged",
    trials=(
        Trial(
            "old-client-expansion",
            ("context_agrees",),
            bounds=UNDISTURBED,
            about="the expansion is handled before the controller moves",
        ),
        Trial(
            "old-client-expansion",
            ("topic_id_stable",),
            bounds=NO_STOP,
            about="the controller may move before it has handled the expansion: the next one has no id to restore",
        ),
        Trial(
            "full-isr",
            ("isr_members_fetch",),
            variant="3.9.0",
            about="the same, without restarts: replicas that do not fetch stay in the ISR",
        ),
    ),
)
OLD_CLIENT_REFUSES = candidate(
    "old_client_refuses",
    "Confluent 5.4 to 6.1: an old client refuses to write a topic's znode that has a field which it does not know",
    closes="no id is ever erased, as old clients do not write a topic that has one",
    source="confluentinc/kafka pull requests 851 to 854, clients of Confluent Platform 5.4 to 6.1",
    trials=(
        Trial("old-client-expansion", ("zk_id_not_erased", "topic_id_stable"), bounds=NO_STOP),
        Trial(
            "old-client-expansion",
            ("no_partition_lost",),
            bounds=NO_STOP,
            about="before the topic has an id, no write is refused, and minting may overwrite the expansion",
        ),
        Trial("full-isr", ("isr_members_fetch",), variant="3.9.0", about="replicas in the ISR fetch"),
    ),
)
CAS_TOPIC_WRITE = candidate(
    "cas_topic_write",
    "every write of a topic's znode compares it with what was read; a controller then reads again",
    closes="no write to a topic's znode overwrites another write made in the meantime",
    source="the znode's version, as for partition states",
    trials=(
        Trial("two-admins", ("no_partition_lost",), about="two clients"),
        Trial("old-client-expansion", ("no_partition_lost",), bounds=NO_STOP, about="a client and a controller"),
        Trial(
            "old-client-expansion",
            ("zk_id_not_erased",),
            bounds=NO_STOP,
            about="a client that read the id and does not know the field drops it nevertheless",
        ),
        Trial(
            "expansion-during-reassignment",
            ("leader_in_assignment",),
            variant="3.9.0",
            about="a client, and a reassignment that ends before it writes",
        ),
        Trial(
            "reassignment-with-expansion",
            ("no_partition_lost",),
            variant="3.9.0",
            about="a client, and a reassignment that begins before the controller has read what it wrote",
        ),
    ),
)
KEEP_IDS_BELOW_IBP = version_flag(
    "keep_ids_below_ibp",
    "KAFKA-12835 (2.8.1): a controller whose inter-broker protocol is below 2.8 remembers the topic ids that it finds "
    "in ZooKeeper, and a log under such a protocol takes no id",
    {"2.8.1": True},
    closes="a controller with an older inter-broker protocol neither drops nor erases the topic ids that it reads",
    source="KAFKA-12835 (2.8.1)",
    trials=(
        Trial("mixed-inter-broker-protocol", ("context_agrees",), bounds=NO_STOP),
        Trial(
            "reassignment",
            ("zk_id_not_erased", "topic_id_stable"),
            bounds={
                "brokers": 2,
                "replication_factor": 1,
                "old_protocol_brokers": 1,
                "failovers": 1,
                "cancellations": 0,
                "topic_ids": 2,
            },
            about="it writes the topic's znode from its context, and the next controller mints another id",
        ),
    ),
)
ALTER_PARTITION_BY_TOPIC_ID = version_flag(
    "alter_partition_by_topic_id",
    "KAFKA-13916 (3.3): a leader asks for an ISR by the topic id of its log, and the controller refuses it "
    "(UNKNOWN_TOPIC_ID) if its context has another one",
    {"3.3": True},
    no_fix="another check, and no answer to a defect",
)
CREATED_CONFIGURATIONS_ARE_SET = version_flag(
    "created_configurations_are_set",
    "KAFKA-7082 (1.1.1): of two creations of a topic at a time, the later one sets the configuration that the other "
    "has created; in 1.1.0 it failed",
    {"1.1.0": False, "1.1.1": True},
    before=True,
    closes="a creation that meets another one of the same topic is accepted, or refused",
    source="KAFKA-7082 (1.1.1): KafkaZkClient.setOrCreateEntityConfigs",
    trials=(Trial("two-creations", ("creation_is_accepted_or_refused",)),),
)
NAMES_DO_NOT_MEET_THEMSELVES = version_flag(
    "names_do_not_meet_themselves",
    "KAFKA-4687 (0.10.2.0): a creation looks once more for its topic before it compares names that differ in periods "
    "and underscores; before, the topic of another creation was such a name",
    {"0.10.2.0": True},
    closes="a creation that meets another one of the same topic is accepted, or refused",
    source="KAFKA-4687 (0.10.2.0): AdminUtils.createOrUpdateTopicPartitionAssignmentPathInZK",
    trials=(Trial("two-creations-with-a-period", ("creation_is_accepted_or_refused",)),),
)
