"""Fixes of lost topic ids and lost partitions; but for one no Kafka release has them."""
from __future__ import annotations

from model.kafka.versions import CAS_TOPIC_WRITE, KEEP_IDS_BELOW_IBP, OLD_CLIENT_REFUSES, RESTORE_FROM_CACHE
from model.language.fix import Fix, Trial

NO_STOP = {"brokers": 2, "restarts": 0}
UNDISTURBED = {"brokers": 2, "restarts": 0, "failovers": 0}

FIXES = (
    Fix(
        flag=RESTORE_FROM_CACHE,
        claims="the id that an old client erased is back before anybody needs it",
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
        ),
    ),
    Fix(
        flag=OLD_CLIENT_REFUSES,
        claims="no id is ever erased, as old clients do not touch a topic that has one",
        source="confluentinc/kafka pull requests 851 to 854, clients of Confluent Platform 5.4 to 6.1",
        trials=(
            Trial("old-client-expansion", ("zk_id_not_erased", "topic_id_stable"), bounds=NO_STOP),
            Trial(
                "old-client-expansion",
                ("no_partition_lost",),
                bounds=NO_STOP,
                about="before the topic has an id nothing is refused, and minting may overwrite the expansion",
            ),
        ),
    ),
    Fix(
        flag=CAS_TOPIC_WRITE,
        claims="nobody overwrites what somebody else wrote to a topic's znode in the meantime",
        source="a znode's version, as partition states are written with",
        trials=(
            Trial("two-admins", ("no_partition_lost",), about="two clients"),
            Trial("old-client-expansion", ("no_partition_lost",), bounds=NO_STOP, about="a client and a controller"),
            Trial(
                "old-client-expansion",
                ("zk_id_not_erased",),
                bounds=NO_STOP,
                about="a client that read the id and does not know the field drops it all the same",
            ),
        ),
    ),
    Fix(
        flag=KEEP_IDS_BELOW_IBP,
        claims="a controller of an older inter-broker protocol neither forgets nor erases the topic ids that it finds",
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
                about="it writes the topic's znode from its memory, and the next controller mints another id",
            ),
        ),
    ),
)
