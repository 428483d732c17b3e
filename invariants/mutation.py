"""The trials of mutants, by part of the model: stories with few states that together cover most of its lines.

Most are runs of the latest release, of whose properties all or nearly all hold; others add what healthy clusters do not
have, or what earlier releases did. The explanations of surviving mutants are in the files `mutants….toml`.
"""
from __future__ import annotations

from kwalk.model.language import Trial

LATEST = "3.9.0"
LATEST_ENSEMBLE = "3.5.9"
THREE_SERVERS = {"servers": 3, "first_size": 3, "last_size": 3, "writes": 2}

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
"""The trials of the controller's model: docs/reference/mutants.md."""

ENSEMBLE_TRIALS = (
    Trial(
        "ensemble-growth",
        variant=LATEST_ENSEMBLE,
        bounds={**THREE_SERVERS, "crashes": 2},
        about="Three servers elect leaders and write, and two crash or one twice; nothing is changed.",
    ),
    Trial(
        "ensemble-growth",
        variant=LATEST_ENSEMBLE,
        bounds={**THREE_SERVERS, "crashes": 1, "disconnections": 1},
        about="A follower loses its leader, and a server crashes.",
    ),
    Trial(
        "ensemble-two-servers-stopped",
        variant=LATEST_ENSEMBLE,
        bounds={"servers": 3, "first_size": 3, "last_size": 2},
        about="A server is stopped for good.",
    ),
    Trial(
        "ensemble-two-servers-stopped",
        variant=LATEST_ENSEMBLE,
        bounds={"servers": 4, "first_size": 4, "last_size": 4},
        about="A majority of four is three: one follower alone makes no leader active.",
    ),
    Trial(
        "ensemble-growth-one-at-a-time",
        variant=LATEST_ENSEMBLE,
        bounds={"servers": 3, "first_size": 2, "last_size": 3},
        about="A third server joins two, and a server crashes.",
    ),
    Trial(
        "ensemble-growth-one-at-a-time",
        variant=LATEST_ENSEMBLE,
        bounds={"servers": 4, "first_size": 3, "last_size": 4},
        about="A fourth server joins three, and a server crashes.",
    ),
    Trial(
        "ensemble-retirement-one-at-a-time",
        variant=LATEST_ENSEMBLE,
        bounds={"servers": 3, "first_size": 3, "last_size": 2},
        about="A server leaves, and the others list it no more.",
    ),
    Trial(
        "ensemble-growth-one-at-a-time",
        variant="3.4.9",
        bounds={"servers": 3, "first_size": 2, "last_size": 3, "crashes": 0},
        about="Before 3.5 a leader counts all followers.",
    ),
)
"""The trials of ZooKeeper's ensemble: docs/reference/mutants-of-ensembles.md."""

CONFIGURATION_TRIALS = (
    Trial(
        "dynamic-configuration",
        variant=LATEST,
        bounds={"values": 2},
        about="Three changes at any level, a restart, and another server.properties.",
    ),
    Trial(
        "dynamic-configuration",
        variant="2.8.2",
        bounds={"values": 2},
        about="Before 3.9 a dynamic change drops the hours of the file.",
    ),
    Trial(
        "dynamic-configuration",
        variant="2.5",
        bounds={"values": 2},
        about="Before 2.6 a value that is deleted holds until a restart.",
    ),
)
"""The trials of dynamic configurations: docs/reference/mutants-of-configurations.md."""


GROUP_TRIALS = (
    Trial(
        "consumer-group-stalled-member",
        variant=LATEST,
        bounds={"member_ids": 3, "generations": 4},
        about="Two consumers, of which one stalls.",
    ),
    Trial(
        "consumer-group-retention",
        variant=LATEST,
        bounds={"retentions": 1},
        about="Two consumers, of which one crashes or leaves; offsets expire, and groups are removed.",
    ),
    Trial(
        "consumer-group-removal",
        variant=LATEST,
        bounds={"starts": 1},
        about="A group is removed, or an operator deletes it, and the coordinator moves.",
    ),
    Trial(
        "consumer-group-removal",
        variant="0.10.0",
        bounds={"starts": 1},
        about="Before 0.10.1 a group without members is removed at once.",
    ),
    Trial(
        "consumer-group-compaction",
        variant=LATEST,
        bounds={"commits": 1, "starts": 1},
        about="The log cleaner compacts the partition.",
    ),
    Trial("consumer-group-recreated-topic", variant=LATEST, about="The consumed topic is deleted and created again."),
    Trial(
        "consumer-group-static-member",
        variant=LATEST,
        bounds={"member_ids": 3},
        about="A static member starts again.",
    ),
    Trial(
        "consumer-group-slow-unload",
        variant=LATEST,
        bounds={"consumers": 1},
        about="The coordinator moves to another broker and back, with two requests to handle.",
    ),
)
"""The trials of consumer groups. No page has their mutants yet."""
