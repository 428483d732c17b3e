"""The trials of the Kafka model's mutants: stories with few states that together cover most of its lines.

Most are healthy runs of 3.9.0, of whose properties all or nearly all hold; others add what healthy clusters do not
have, and one what releases before 2.7 did. The explanations of surviving mutants are in `mutants.toml`.
"""
from __future__ import annotations

from kwalk.model.language import Trial

LATEST = "3.9.0"

TRIALS = (
    Trial(
        "healthy-cluster",
        variant=LATEST,
        bounds={"partitions": 1, "new_expansions": 0},
        about="Creation, a failover, a stop or crash, the ISR at any time, preferred leaders.",
    ),
    Trial(
        "healthy-cluster", variant=LATEST, bounds={"restarts": 0}, about="A client adds partitions during a failover."
    ),
    Trial(
        "healthy-sessions",
        variant=LATEST,
        bounds={"partitions": 1, "new_expansions": 0},
        about="Sessions that expire, and clients that fail to authenticate.",
    ),
    Trial(
        "healthy-sessions",
        variant=LATEST,
        bounds={
            "partitions": 1,
            "new_expansions": 0,
            "new_creations": 0,
            "failovers": 0,
            "auth_failures": 0,
            "restarts": 1,
        },
        about="Sessions that expire and brokers that stop, with no topic at all.",
    ),
    Trial("records-through-failover", variant=LATEST, about="Records and their replicas."),
    Trial(
        "leaders-in-succession",
        variant=LATEST,
        bounds={"brokers": 2, "records": 2},
        about="Logs with two records, of different leader epochs.",
    ),
    Trial("stray-log", variant=LATEST, about="A stray log is found again."),
    Trial(
        "topic-deletion",
        variant=LATEST,
        bounds={"failovers": 1, "deletions": 0},
        about="The states of partitions and replicas, when a leader fails that is not the controller.",
    ),
    Trial("topic-deletion", variant=LATEST, about="A deletion ends, whichever broker fails meanwhile."),
    Trial("delete-and-recreate", variant=LATEST, about="A topic is deleted and created again."),
    Trial(
        "reassignment",
        variant=LATEST,
        bounds={"brokers": 2, "replication_factor": 1, "failovers": 1},
        about="A replica moves to another broker, and the controller moves.",
    ),
    Trial(
        "reassignment",
        variant="2.5.0",
        bounds={"brokers": 2, "replication_factor": 1, "failovers": 1},
        about="Before 2.7 leaders write the ISR, and a reassignment completes in an event of its own.",
    ),
    Trial(
        "reassignment-as-clients-see-it", variant=LATEST, about="UpdateMetadata and metadata caches."
    ),
    Trial(
        "old-client-expansion",
        variant=LATEST,
        bounds={"brokers": 2, "restarts": 0},
        flags={"restore_from_cache": True},
        about="An old client erases the topic id, and the controller writes it back.",
    ),
    Trial(
        "old-client-expansion",
        variant=LATEST,
        bounds={"brokers": 2, "restarts": 0, "old_creations": 0, "new_creations": 1},
        flags={"restore_from_cache": True},
        about="A new client creates the topic, and an old one erases its id before the controller has read it.",
    ),
    Trial(
        "mixed-inter-broker-protocol",
        variant=LATEST,
        bounds={"brokers": 2, "restarts": 0, "old_creations": 1},
        about="A broker has an older protocol, and an old client creates the topic, or a new one.",
    ),
    Trial(
        "mixed-inter-broker-protocol",
        variant=LATEST,
        bounds={"brokers": 2, "restarts": 0, "new_expansions": 0},
        about="A broker has an older protocol, and a new client creates the topic.",
    ),
    Trial("rolling-restart", variant=LATEST, bounds={"brokers": 2}, about="Controlled shutdown of every broker."),
)
