"""Fixes for records that are lost, differ between replicas, or return under the name of a new topic."""

from __future__ import annotations

from kwalk.model.kafka.versions import (
    ASYNC_METADATA_FLUSH,
    FETCH_BY_TOPIC_ID,
    FIRST_LEADER_AND_ISR_ASSIGNS_ID,
    ID_CHECK_BEFORE_EPOCH,
    TOPICS_HAVE_IDS,
    TRUNCATION,
)
from kwalk.model.language.fix import Fix, Trial

FIXES = (
    Fix(
        flag=TOPICS_HAVE_IDS,
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
    ),
    Fix(
        flag=FIRST_LEADER_AND_ISR_ASSIGNS_ID,
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
    ),
    Fix(
        flag=FETCH_BY_TOPIC_ID,
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
    ),
    Fix(
        flag=ID_CHECK_BEFORE_EPOCH,
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
    ),
    Fix(
        name="async_metadata_flush: at once",
        flag=ASYNC_METADATA_FLUSH,
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
    ),
    Fix(
        flag=TRUNCATION,
        off="high watermark",
        on="leader epoch",
        closes="a follower that truncates loses no record that was committed",
        source="KIP-101 (0.11.0)",
        trials=(Trial("leaders-in-succession", ("committed_survives",), variant="3.9.0"),),
    ),
)
