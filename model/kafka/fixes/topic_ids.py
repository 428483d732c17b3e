"""Fixes of lost topic ids and lost partitions; only one of them is in a Kafka release."""

from __future__ import annotations

from kwalk.model.kafka.versions import CAS_TOPIC_WRITE, KEEP_IDS_BELOW_IBP, OLD_CLIENT_REFUSES, RESTORE_FROM_CACHE
from kwalk.model.language.fix import Fix, Trial

NO_STOP = {"brokers": 2, "restarts": 0}
UNDISTURBED = {"brokers": 2, "restarts": 0, "failovers": 0}

FIXES = (
    Fix(
        flag=RESTORE_FROM_CACHE,
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
    ),
    Fix(
        flag=OLD_CLIENT_REFUSES,
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
    ),
    Fix(
        flag=CAS_TOPIC_WRITE,
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
        ),
    ),
    Fix(
        flag=KEEP_IDS_BELOW_IBP,
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
    ),
)
