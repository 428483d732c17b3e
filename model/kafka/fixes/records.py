"""Fixes of what becomes of records: lost, different from replica to replica, or back under the name of a new topic."""
from __future__ import annotations

from model.kafka.versions import (
    ASYNC_METADATA_FLUSH,
    FETCH_BY_TOPIC_ID,
    FIRST_LEADER_AND_ISR_ASSIGNS_ID,
    ID_CHECK_BEFORE_EPOCH,
    TOPICS_HAVE_IDS,
    TRUNCATION,
)
from model.language.fix import Fix, Trial

FIXES = (
    Fix(
        flag=TOPICS_HAVE_IDS,
        claims="a log that was left behind is not taken for that of a later topic of the same name",
        source="KIP-516 (2.8.0)",
        trials=(
            Trial("stray-log", ("no_resurrection",), variant="3.9.0", about="with all that came after it"),
            Trial("stray-log", ("no_divergence",), variant="3.9.0", about="with all that came after it"),
            Trial("stray-log", ("no_resurrection",), variant="2.8.2", about="as it was at first"),
            Trial(
                "stray-log-without-id",
                ("no_resurrection",),
                variant="3.9.0",
                about="a log without partition.metadata is anybody's",
            ),
            Trial(
                "old-client-expansion",
                ("partition_servable",),
                bounds={"brokers": 2},
                about="with ids there is something that clients which know none can break",
            ),
        ),
    ),
    Fix(
        flag=FIRST_LEADER_AND_ISR_ASSIGNS_ID,
        claims="a log has a topic id before it has records, and the first request after a start is checked against it",
        source="KAFKA-12426 (3.0)",
        trials=(
            Trial("records-through-failover", ("records_have_a_topic_id",), bounds={"restarts": 1}),
            Trial("stray-log", ("no_resurrection",)),
            Trial("stray-log", ("no_divergence",)),
            Trial(
                "recreated-topic-records",
                ("no_resurrection",),
                bounds={"restarts": 1},
                about="a replica that goes on with the leader epoch of the earlier topic: nothing tells it otherwise",
            ),
        ),
    ),
    Fix(
        flag=FETCH_BY_TOPIC_ID,
        claims="who asks for a topic by its id gets no records of an earlier topic of that name",
        source="KIP-516 (3.1)",
        trials=(
            Trial("recreated-topic-records", ("no_resurrection",), variant="3.0", bounds={"restarts": 1}),
            Trial(
                "stray-log",
                ("no_resurrection",),
                about="2.8 with this alone: a stray log that has taken no id yet, or an early one, is served",
            ),
        ),
    ),
    Fix(
        flag=ID_CHECK_BEFORE_EPOCH,
        claims="a replica whose log has another topic id neither leads nor follows",
        source="KAFKA-12332 (2.8.0)",
        trials=(
            Trial("stray-log", ("no_resurrection",), variant="3.0"),
            Trial("stray-log", ("no_divergence",), variant="3.0"),
            Trial("stray-log", ("committed_survives",), variant="3.0"),
            Trial(
                "old-client-expansion",
                ("partition_servable",),
                bounds={"brokers": 2},
                about="the price: replicas that an old client has left with another id serve nobody",
            ),
        ),
    ),
    Fix(
        name="async_metadata_flush: at once",
        flag=ASYNC_METADATA_FLUSH,
        off=True,
        on=False,
        claims="partition.metadata is there before LeaderAndIsr is answered, and a crash takes no topic id away",
        source="2.8.0; given up by KAFKA-13092 (2.8.1) for the time that it takes, of which the model has none",
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
        claims="a follower that truncates loses no record that was committed",
        source="KIP-101 (0.11.0)",
        trials=(Trial("leaders-in-succession", ("committed_survives",), variant="3.9.0"),),
    ),
)
