"""The trials of mutants, by part of the model: stories with few states that together cover most of its lines.

Most are runs of the latest release, of whose properties all or nearly all hold; others add what healthy clusters do not
have, or what earlier releases did. The explanations of surviving mutants are in `survivors/`.
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
    Trial("reassignment-as-clients-see-it", variant=LATEST, about="UpdateMetadata and metadata caches."),
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

REQUEST_TRIALS = (
    Trial(
        "requested-elections",
        variant=LATEST,
        bounds={"election_requests": 2},
        flags={"skips_partitions_without_leadership": True},
        about="A client asks for preferred leaders through ZooKeeper.",
    ),
    Trial("deletion-amid-a-listing", variant=LATEST, about="A topic is deleted while a broker lists it."),
    Trial("broker-without-a-listener", variant=LATEST, about="A broker starts while its port is taken."),
    Trial(
        "consumer-group-transactional-commit", variant=LATEST, about="A consumer commits its offset in a transaction."
    ),
    Trial("late-ephemeral-znode", variant=LATEST, about="A session ends before its znodes go."),
    Trial(
        "late-znode-of-an-unknown-session",
        variant=LATEST,
        flags={"waits_for_unknown_znodes": True},
        about="The same, of a session that the broker does not know.",
    ),
    Trial("session-that-cannot-be-made", variant=LATEST, about="A client of ZooKeeper cannot be made."),
    Trial("session-with-a-late-epoch", variant=LATEST, about="A broker learns its epoch late."),
    Trial("session-that-ends-amid-a-request", variant=LATEST, about="A session ends while a broker handles a request."),
    Trial("two-admins", variant=LATEST, about="Two clients read and write a topic's znode."),
    Trial("repair-by-writing-the-id-back", variant=LATEST, about="An operator writes a topic id."),
)
"""The trials of single steps that those above lack, and of no other: docs/reference/mutants-of-requests.md."""
OF_REQUESTS = (
    "preferred_election",
    "old_client_requests_election",
    "preferred_elections_changed",
    "remove_preferred_elections",
    "list_topics",
    "describe_listed_topics",
    "start_without_listener",
    "commit_in_transaction",
    "handle_transactional_commit",
    "end_transaction",
    "expire_session_amid_a_registration",
    "expire_session_before_its_znodes",
    "remove_late_znodes",
    "fail_to_resolve_name",
    "fail_to_authenticate",
    "learn_broker_epoch",
    "expire_session_amid_request",
    "admin_reads_topic",
    "admin_writes_topic",
    "write_topic_id",
)
"""These functions."""

OPERATOR_TRIALS = (
    Trial("runbook-remove-topic", variant=LATEST, about="An operator removes a topic's znodes."),
    Trial("runbook-stop-all", variant=LATEST, about="The operator stops all brokers before that, and removes logs."),
    Trial(
        "runbook-remove-znodes",
        variant=LATEST,
        flags={"patient_operator": True},
        about="The operator waits, asks for a deletion, and removes what is left in ZooKeeper.",
    ),
    Trial(
        "runbook-remove-znodes-and-controller",
        variant=LATEST,
        flags={"patient_operator": True},
        about="The same, and /controller.",
    ),
    Trial(
        "runbook-remove-logs",
        variant=LATEST,
        flags={"patient_operator": True},
        about="The same, and logs under running brokers.",
    ),
    Trial(
        "runbook-roll",
        variant=LATEST,
        flags={"patient_operator": True},
        about="Logs are removed in a rolling restart.",
    ),
    Trial(
        "delete-by-hand",
        variant=LATEST,
        bounds={"restarts": 0},
        flags={"patient_creation": True},
        about="A topic's znodes are removed by hand.",
    ),
    Trial(
        "delete-by-hand",
        variant=LATEST,
        bounds={"restarts": 0},
        flags={"patient_creation": True, "piecemeal_removal": True},
        about="The znodes of partitions go before that of the topic.",
    ),
    Trial("recreated-topic-records", variant=LATEST, bounds={"restarts": 1}, about="Records of a topic created again."),
    Trial("repair-by-removing-files", variant=LATEST, about="All partition.metadata of a broker are removed."),
    Trial(
        "repair-by-removing-files",
        variant=LATEST,
        flags={"metadata_file_removal": False, "metadata_file_edits": True},
        about="All partition.metadata of a broker get ZooKeeper's topic ids.",
    ),
    Trial("reassignment-there-and-back", variant=LATEST, about="A connection breaks, and a request comes twice."),
    Trial("reassignment-with-a-failed-directory", variant=LATEST, about="A log directory without logs fails."),
)
"""The trials of what operators do by hand, and of faults that those of the controller lack.

The page: docs/reference/mutants-of-operators.md.
"""
OF_OPERATORS = (
    "runbook",
    "break_connection",
    "edit_metadata_files",
    "fail_spare_directory",
    "notice_failed_directory",
    "receive_late_copy",
    "remove_deletion_request_by_hand",
    "remove_metadata_files",
    "remove_partition_states_by_hand",
    "remove_topic_by_hand",
)
"""These functions."""

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


CONFIGURATION_MIGRATION_TRIALS = (
    Trial(
        "migration-of-configurations",
        variant=LATEST,
        flags={"deleted_quotas_are_written": True, "late_requests_are_refused": True},
        about="A configuration, a quota, ACLs and producer ids migrate, with fixes for what each release loses.",
    ),
)
"""The trials of what migrates beside topics: docs/reference/mutants-of-migrating-configurations.md."""

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
        "consumer-group-retention",
        variant="2.0",
        bounds={"retentions": 1},
        about="Before 2.1 an offset expires although its group has members.",
    ),
    Trial(
        "consumer-group-retention",
        variant=LATEST,
        bounds={"retentions": 1, "other_protocols": 1},
        about="The second consumer supports another protocol.",
    ),
    Trial(
        "consumer-group-retention-after-a-move",
        variant=LATEST,
        bounds={"starts": 1},
        about="The only consumer stops, offsets expire, and the coordinator moves.",
    ),
    Trial("consumer-group-reassigned-partition", variant=LATEST, about="The partition is reassigned from its leader."),
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
        "consumer-group-removal",
        variant=LATEST,
        bounds={"starts": 1},
        flags={"removal_waits": True},
        about="A group that was removed does not come back.",
    ),
    Trial(
        "consumer-group",
        variant="0.11.0.0",
        bounds={"consumers": 1},
        about="In 0.11.0.0 a group is cached before the log is read to its end.",
    ),
    Trial(
        "consumer-group-compaction",
        variant=LATEST,
        bounds={"starts": 1},
        about="The log cleaner compacts the partition.",
    ),
    Trial(
        "consumer-group-compaction-there-and-back",
        variant=LATEST,
        bounds={"moves": 1, "commits": 1},
        about="The log cleaner compacts the log of a group that was removed.",
    ),
    Trial("consumer-group-join-timeout", variant=LATEST, about="A consumer gives up its JoinGroup, and joins again."),
    Trial("consumer-group-late-expiration", variant=LATEST, about="A member is removed, and later its session ends."),
    Trial("consumer-group-long-metadata", variant=LATEST, about="A commit has another partition with long metadata."),
    Trial("consumer-group-maximum-size", variant=LATEST, about="A group may have one member."),
    Trial("consumer-group-over-its-maximum", variant=LATEST, about="A group of two members may have one by now."),
    Trial("consumer-group-short-of-replicas", variant=LATEST, about="The partition has too few in-sync replicas."),
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
    Trial(
        "consumer-group-slow-unload",
        variant=LATEST,
        bounds={"consumers": 1},
        flags={"concurrent_requests": True},
        about="Two requests are handled at a time.",
    ),
    Trial(
        "consumer-group-slow-unload",
        variant=LATEST,
        bounds={"consumers": 1},
        flags={"stale_cache_is_fenced": True},
        about="A coordinator does not answer from what it cached when it led before.",
    ),
    Trial("consumer-group-late-join", variant=LATEST, about="A group was loaded, and a member does not join in time."),
    Trial(
        "consumer-group-without-rebalance-timeout",
        variant="2.3",
        about="In 2.3.0 a rebalance of old consumers does not wait for them.",
    ),
    Trial("consumer-group-late-sync", variant="2.8.0", about="A member sends heartbeats, and no SyncGroup."),
    Trial(
        "consumer-group-waiting-heartbeat",
        variant=LATEST,
        bounds={"consumers": 1},
        about="A heartbeat waits for the lock of a group that is unloaded.",
    ),
    Trial(
        "consumer-group-busy-lock",
        variant="2.3",
        bounds={"consumers": 1},
        about="A request holds the lock of the group while its append is replicated.",
    ),
    Trial("consumer-group-downgrade", variant=LATEST, about="The log has a record of a later release."),
)
"""The trials of consumer groups: docs/reference/mutants-of-groups.md."""

LOG_TRIALS = (
    Trial(
        "log-lookup",
        variant=LATEST,
        bounds={"offsets": 3},
        flags={"later_segments_are_searched": True},
        about="Lookups, truncations and deleted records.",
    ),
    Trial(
        "log-lookup",
        variant=LATEST,
        bounds={"offsets": 4, "segments": 2, "batch_bytes": 3},
        flags={"later_segments_are_searched": True},
        about="Segments of three records are truncated.",
    ),
    Trial(
        "log-roll",
        variant=LATEST,
        bounds={"offsets": 5, "segments": 3, "index_entries": 3},
        about="Every rule rolls, in a log with gaps.",
    ),
    Trial(
        "log-roll",
        variant="0.10.0",
        bounds={"offsets": 5, "segments": 3},
        about="Before 0.10.1 there is no time index.",
    ),
    Trial(
        "log-retention",
        variant=LATEST,
        bounds={"offsets": 3, "retention_bytes": 1},
        about="Retention by time, by size and by start offset.",
    ),
    Trial(
        "log-recovery",
        variant=LATEST,
        bounds={"crashes": 1, "stops": 0, "times": 0},
        flags={"recovery_point_stays": True},
        about="A crash that loses several batches.",
    ),
    Trial(
        "log-recovery",
        variant=LATEST,
        bounds={"offsets": 2, "crashes": 1},
        flags={"recovery_point_stays": True},
        about="An orderly stop and a crash, while time passes.",
    ),
    Trial("log-compaction", variant=LATEST, bounds={"offsets": 4}, about="Compactions, and a crash."),
    Trial(
        "log-compaction",
        variant=LATEST,
        bounds={"offsets": 5, "segments": 3, "cleanings": 1},
        about="A crash while the second segment is replaced.",
    ),
    Trial(
        "log-compaction",
        variant=LATEST,
        bounds={"offsets": 5, "segments": 3, "keys": 3, "crashes": 0, "cleanings": 1},
        about="Segments that do not fit into one are cleaned one by one.",
    ),
    Trial(
        "log-compaction",
        variant="1.0",
        bounds={"offsets": 4},
        about="Before 2.0 an interrupted swap may take the segment before.",
    ),
    Trial(
        "log-tombstones",
        variant=LATEST,
        bounds={"offsets": 3, "keys": 1},
        about="Tombstones have a horizon of their own.",
    ),
    Trial(
        "log-tombstones",
        variant="2.8.2",
        bounds={"offsets": 3},
        about="Before 3.1 a tombstone is kept by the time of its segment's file.",
    ),
    Trial(
        "log-tombstones",
        variant="2.8.2",
        bounds={"offsets": 3, "delete_retention_ms": 0},
        about="Tombstones are removed by the next cleaning.",
    ),
    Trial(
        "log-compacted-copy",
        variant=LATEST,
        bounds={"offsets": 6},
        about="A compacted log with gaps is compacted.",
    ),
    Trial("log-full-truncation", variant=LATEST, about="A log that is truncated as a whole begins again."),
    Trial("log-deleted-records", variant=LATEST, about="Clients delete records of a compacted log."),
    Trial(
        "log-policy-change",
        variant=LATEST,
        bounds={"offsets": 3},
        about="The policy changes between compact and delete.",
    ),
    Trial(
        "log-preallocated",
        variant=LATEST,
        bounds={"offsets": 5},
        about="Log files are preallocated.",
    ),
    Trial("log-small-map", variant=LATEST, about="The cleaner's map is full before the dirty part ends."),
    Trial("log-large-batches", variant=LATEST, about="Batches are larger than their topic allows."),
    Trial("log-compacted-transactions", variant=LATEST, about="Transactions in a log that is cleaned in parts."),
    Trial("log-transactions-in-groups", variant=LATEST, about="Transactions that span two groups of segments."),
    Trial("leader-epochs", variant=LATEST, about="Two replicas lead in turn, and crash."),
    Trial(
        "leader-epochs",
        variant=LATEST,
        bounds={"members": 3, "elections": 2, "offsets": 2, "crashes": 1},
        about="Three replicas: the ISR has a follower that is elected later, or none.",
    ),
    Trial(
        "leader-epochs-lost",
        variant=LATEST,
        bounds={"elections": 2, "crashes": 1},
        about="The epochs of a log are recovered from its records.",
    ),
    Trial("leader-epochs-torn", variant=LATEST, bounds={"elections": 2}, about="The file of the epochs is flushed."),
    Trial("log-copy", variant=LATEST, bounds={"offsets": 4}, about="A follower copies the log of its leader."),
)
"""The trials of logs: docs/reference/mutants-of-logs.md."""

REPLICATION_TRIALS = (
    Trial("replica-lag", variant=LATEST, bounds={"offsets": 3}, about="A follower lags, and a disk fails."),
    Trial(
        "replica-lag-oversized", variant=LATEST, bounds={"offsets": 3}, about="A batch is larger than a fetch may be."
    ),
    Trial(
        "replica-lag-beside-a-reassignment",
        variant=LATEST,
        bounds={"offsets": 3},
        about="The ISR of another partition has a broker too many.",
    ),
    Trial(
        "replica-lag-with-slow-reads",
        variant=LATEST,
        bounds={"offsets": 3},
        flags={"waiting_followers_are_in_sync": True},
        about="The leader reads from a slow disk.",
    ),
    Trial("leader-epochs-late-answer", variant=LATEST, about="A follower is elected before its fetcher truncates."),
    Trial("leader-epochs-late-bytes", variant="3.9.1", about="A response has bytes of the next leader, or none."),
    Trial("leader-epochs-stale-answer", variant="3.9.1", about="An answer comes in a later leader epoch."),
    Trial("leader-epochs-end-lookups", variant=LATEST, about="A consumer asks for the end."),
    Trial("leader-epochs-deleted-records", variant=LATEST, about="Records are deleted, and a fetcher truncates."),
    Trial(
        "leader-epochs-deleted-records",
        variant="2.8.0",
        about="The same, where a diverging epoch comes before the leader's start.",
    ),
    Trial("leader-epochs-missed-election", variant=LATEST, about="A broker hears late of an election."),
    Trial("consumer-group-without-members", variant=LATEST, about="Consumers commit to a group without members."),
    Trial(
        "dynamic-cleaner-rate",
        variant=LATEST,
        bounds={"restarts": 2},
        about="The rate of the log cleaner changes, and the broker restarts.",
    ),
)
"""The trials of replication, for functions that those of logs lack: docs/reference/mutants-of-replication.md."""
OF_REPLICATION = (
    "replica_lag",
    "cleaner_rate",
    "delay_answer",
    "delay_bytes",
    "handle_late_answer",
    "is_asked_again",
    "ask_for_end",
    "commit_alone",
    "delete_records",
    "elect_unnoticed",
    "give_up",
    "hear_of_election",
    "receive_bytes",
    "start_afresh",
)
"""These functions."""

PRODUCER_TRIALS = (
    Trial("log-producer-state", variant=LATEST, bounds={"offsets": 3}, about="A producer sends batches again."),
    Trial("log-copied-producer", variant=LATEST, bounds={"offsets": 3}, about="A follower copies its leader's log."),
    Trial(
        "log-late-batches",
        variant=LATEST,
        flags={"truncation_reads_batches": True},
        about="A batch comes after its transaction.",
    ),
    Trial("log-late-copies", variant="2.8.2", about="A copy of a batch comes after its transaction."),
)
"""The trials of what logs know of producers: docs/reference/mutants-of-producers.md."""

MOVE_TRIALS = (
    Trial("log-move", variant=LATEST, about="A replica moves to another log directory."),
    Trial("log-move-compacted", variant=LATEST, bounds={"offsets": 3}, about="The same, of a compacted topic."),
    Trial(
        "log-move-replaced",
        variant=LATEST,
        bounds={"offsets": 2},
        flags={"replaced_moves_resume": True},
        about="A move is replaced by another one.",
    ),
    Trial(
        "log-move-cancelled",
        variant=LATEST,
        bounds={"offsets": 2},
        flags={"replaced_moves_resume": True},
        about="A move is cancelled.",
    ),
    Trial(
        "log-move-that-fails",
        variant=LATEST,
        flags={"failed_moves_resume": True},
        about="The thread of a move fails.",
    ),
    Trial("log-move-diverged", variant=LATEST, bounds={"offsets": 3}, about="The same, of a log that diverges."),
)
"""The trials of moves between log directories: docs/reference/mutants-of-moves.md."""

LOG_FILE_TRIALS = (
    Trial(
        "log-uncleanable",
        variant=LATEST,
        bounds={"recreations": 2},
        about="The cleaner leaves out a log that it cannot read.",
    ),
    Trial(
        "log-uncleanable",
        variant=LATEST,
        bounds={"recreations": 2},
        flags={"marks_go_with_their_log": True, "read_errors_are_of_the_disk": True},
        about="An error of the disk takes its directory offline, and a deletion forgets an error.",
    ),
    Trial(
        "log-uncleanable",
        variant="2.0",
        bounds={"recreations": 2},
        about="Before 2.1 an error ends the cleaner's thread.",
    ),
    Trial("log-unreadable-checkpoint", variant=LATEST, about="Since 3.1 a checkpoint with a bad number is ignored."),
    Trial(
        "log-unreadable-checkpoint",
        variant=LATEST,
        flags={"bad_numbers_are_of_the_disk": True},
        about="A checkpoint with a bad number takes its directory offline.",
    ),
    Trial("log-grown-batches", variant=LATEST, about="Batches outgrow the cleaner's buffer."),
    Trial(
        "log-grown-segment",
        variant=LATEST,
        flags={"cleaned_segments_roll": True},
        about="Batches outgrow a segment.",
    ),
    Trial("log-grown-batches", variant="0.10.1", about="Up to 0.10.1 such a batch ends the cleaner's thread."),
    Trial("log-committed-reads", variant=LATEST, about="A consumer reads committed records."),
    Trial("log-committed-lookups", variant=LATEST, about="A consumer looks up committed records by timestamp."),
    Trial("log-move-late-update", variant=LATEST, about="A high watermark rises late, while a log moves."),
    Trial("log-created-again", variant=LATEST, about="A topic with a log directory for itself is created again."),
    Trial("log-created-again-unflushed", variant=LATEST, about="The same, and the machine crashes."),
    Trial("log-copy-damaged", variant=LATEST, about="A batch is damaged on its way to a follower."),
    Trial("log-copy-above-segments", variant=LATEST, about="A batch is larger than a follower's segments."),
    Trial(
        "log-copy-above-segments",
        variant=LATEST,
        flags={"followers_take_larger_than_segments": True},
        about="The same, where the follower takes it.",
    ),
    Trial(
        "log-largest-timestamp", variant=LATEST, bounds={"offsets": 6}, about="Records with timestamps of their own."
    ),
)
"""The trials of single files, directories and lookups, for functions that those above lack.

The page: docs/reference/mutants-of-log-files.md.
"""
OF_LOG_FILES = (
    "uncleanable_logs",
    "unreadable_checkpoints",
    "cleaner_buffers",
    "begin_read",
    "end_read",
    "look_up",
    "begin_update",
    "end_update",
    "create_again",
    "append_compressed",
    "damage_response",
    "lower_segments",
)
"""These functions."""

RARE_STEP_TRIALS = (
    Trial(
        "leader-epochs-lost-tail",
        variant="0.10.0",
        flags={"exits_write_checkpoints": True},
        about="A leader has lost the end of its log.",
    ),
    Trial(
        "leader-epochs-moved-log",
        variant=LATEST,
        flags={"moves_carry_epochs": True},
        about="A leader's log is moved.",
    ),
    Trial("leader-epochs-moved-log", variant=LATEST, about="The same, where it loses leader epochs."),
    Trial("leader-epochs-zombie-follower", variant="2.1.0", about="A follower misses two elections."),
    Trial("log-untrimmed-indexes", variant="2.0", about="A crash leaves an index with zeros."),
    Trial("log-lost-names", variant=LATEST, about="A crash loses the names of files."),
    Trial("log-full-truncation-elected", variant="2.0", about="A replica is elected whose log has begun again."),
    Trial(
        "log-largest-timestamp-uncompressed",
        variant="3.7.0",
        flags={"uncompressed_offsets_are_known": True},
        about="Batches that are not compressed.",
    ),
    Trial("log-segment-limits", variant=LATEST, about="The limit of segments is lowered."),
    Trial("log-recovery-failed-start", variant=LATEST, about="A start fails before it has loaded a log."),
    Trial("log-recovery-failed-start", variant="3.5.1", about="The same, where that leaves a clean shutdown file."),
    Trial("consumer-group-append-time", variant=LATEST, about="Commits while offsets have LogAppendTime."),
    Trial(
        "consumer-group-expiration-amid-a-commit",
        variant="0.10.2",
        about="Offsets expire as a commit is answered, whose operation has a lock of its own.",
    ),
    Trial("consumer-group-empty-amid-a-commit", variant="1.0", about="Groups lose their last members."),
    Trial("consumer-groups-of-one-partition", variant="1.0", about="Two groups append under their locks."),
    Trial("consumer-groups-of-ended-transactions", variant="2.0", about="The same, as transactions end."),
    Trial("consumer-groups-of-ended-transactions", variant=LATEST, about="The same, where appends come first."),
    Trial("fetcher-of-two-partitions", variant=LATEST, about="A fetcher's partitions are removed, or fail."),
    Trial("appends-amid-changes", variant=LATEST, about="Appends answer fetches, and ISRs change."),
    Trial("requests-that-wait", variant=LATEST, about="Requests wait for replicas."),
    Trial("requests-that-wait", variant="1.0", about="The same, where threads give up at a lock."),
    Trial("fetches-from-a-follower", variant=LATEST, about="The same, of consumers that fetch from followers."),
    Trial("log-fetch-amid-an-append", variant=LATEST, about="Consumers fetch while records are appended."),
    Trial("log-lookup-amid-changes", variant=LATEST, about="Lookups while segments change."),
    Trial("log-fetch-from-a-new-leader", variant=LATEST, about="Fetches as a replica begins to lead."),
    Trial("log-fetch-from-a-new-leader", variant="0.11.0.0", about="The same, of one that leads too early."),
    Trial("log-index-of-two-readers", variant=LATEST, about="Two threads need an index."),
    Trial(
        "log-largest-time-of-two-readers",
        variant=LATEST,
        flags={"largest_times_are_read_once": True},
        about="A lookup reads a largest timestamp.",
    ),
    Trial("log-above-two-gib", variant=LATEST, about="Logs with a largest size."),
    Trial("log-above-two-gib-compacted", variant=LATEST, about="The same, of logs that are cleaned."),
    Trial("log-above-two-gib-compacted", variant="0.11.0.0", about="The same, counted with 32 bits."),
    Trial("log-wrapped-sequences", variant=LATEST, about="Sequence numbers begin again."),
    Trial("log-forgotten-producer", variant="2.3.1", about="Records of a producer are deleted."),
    Trial("log-start-after-a-crash", variant=LATEST, about="Starts read what they need of a log."),
    Trial("log-start-amid-a-swap", variant=LATEST, about="The same, with a swap."),
    Trial("log-start-amid-a-swap", variant="2.7", about="The same, which is recovered."),
    Trial("log-start-after-a-crash", variant="0.11.0.0", about="The same, without snapshots that it needs."),
    Trial("log-start-after-an-upgrade", variant=LATEST, about="The same, of a log of an earlier release."),
    Trial("log-deletion-beside-a-failed-disk", variant=LATEST, about="Deletions beside a failed disk."),
    Trial("replica-lag-with-failing-reads", variant=LATEST, about="Reads of a leader fail."),
    Trial("stop-that-asks-the-controller", variant=LATEST, about="A broker stops while others are away."),
    Trial("stop-that-asks-the-controller", variant="2.5", about="The same, where acceptors start first."),
    Trial("fetcher-without-partitions", variant=LATEST, about="A fetcher is ended amid a fetch."),
    Trial("two-creations", variant=LATEST, about="Two clients create a topic."),
    Trial("consumer-of-followers", variant=LATEST, about="Consumers are sent to followers."),
    Trial("fetch-of-two-partitions", variant=LATEST, about="Partitions of a fetch take turns."),
    Trial("fetch-with-an-old-epoch", variant=LATEST, about="The same, with epochs."),
    Trial("fetch-of-a-lost-replica", variant=LATEST, about="The same, of a broker that loses a replica."),
    Trial("append-in-another-thread", variant=LATEST, about="An append goes on in another thread."),
    Trial("fetcher-of-a-moved-leader", variant=LATEST, about="A leader with another port."),
    Trial("request-and-a-clock", variant=LATEST, about="A timer, and a clock that is set back."),
    Trial("log-move-asked-for-again", variant=LATEST, about="A move is asked for again."),
    Trial("two-creations-with-a-period", variant=LATEST, about="The same, whose name has a period."),
    Trial("resignation-amid-a-request", variant=LATEST, about="A controller resigns amid a request."),
    Trial("unclean-elections-allowed", variant=LATEST, about="Unclean elections are allowed."),
    Trial("orderly-stop", variant=LATEST, about="A broker stops in order."),
    Trial("orderly-stop", variant="0.10.1", about="The same, where a group writes to a closed log."),
    Trial("orderly-stop", variant="3.0.0", about="The same, where retention deletes a closed segment."),
    Trial("orderly-stop-without-a-delete-delay", variant=LATEST, about="Logs are deleted without a delay."),
    Trial("consumer-group-changed-timeouts", variant=LATEST, about="Timeouts of a static member."),
    Trial("log-cleaned-formats", variant="0.10.2", about="A cleaning meets an earlier message format."),
    Trial("partition-and-its-clients", variant=LATEST, about="Clients ask about a partition."),
    Trial("requests-about-a-topic", variant=LATEST, about="Clients create, configure and delete a topic."),
    Trial("fetch-of-a-throttled-follower", variant=LATEST, about="A follower of a throttled partition."),
    Trial("consumer-under-a-quota", variant=LATEST, about="A consumer with a small quota."),
    Trial("cache-of-fetch-sessions", variant=LATEST, about="Sessions of fetches go."),
    Trial("fetchers-of-another-number", variant=LATEST, about="The number of fetchers changes."),
    Trial("features-amid-a-session", variant=LATEST, about="Features change as sessions end."),
    Trial("start-that-fails", variant=LATEST, about="A start fails."),
    Trial("dynamic-producer-expiration", variant=LATEST, about="The expiration of producers changes."),
    Trial("log-stop-of-two-directories", variant=LATEST, about="Directories are closed."),
    Trial(
        "log-stop-with-a-full-disk",
        variant=LATEST,
        flags={"closing_errors_are_seen": True},
        about="The same, on a full disk.",
    ),
    Trial("log-damaged-message", variant=LATEST, about="A producer sends a damaged message."),
    Trial("transaction-aborted-amid-an-append", variant="2.8.2", about="A batch is late for its transaction."),
    Trial(
        "requests-beside-a-failed-fetch",
        variant=LATEST,
        flags={"checks_outlive_errors": True},
        about="A request beside one that fails.",
    ),
    Trial("consumer-group-of-consecutive-transactions", variant="1.0", about="Offsets of transactions."),
    Trial(
        "consumer-group-of-consecutive-transactions",
        ("commit_follows_another", "transaction_ends_once", "known_offset_was_committed", "appended_offset_is_noted"),
        variant=LATEST,
        about="The same, taken over late.",
    ),
    Trial("log-and-its-task", variant=LATEST, about="A log is deleted with its task."),
    Trial("log-received-batches", variant=LATEST, about="Batches of producers."),
    Trial("log-file-that-is-read", variant=LATEST, about="A file is read."),
    Trial("log-converted-batches", variant=LATEST, about="Batches are converted."),
    Trial("channel-to-the-controller", variant=LATEST, about="Requests to a controller that moves."),
    Trial("quota-that-changes", variant=LATEST, about="A quota changes, and a request is counted."),
    Trial("epochs-of-fetches", variant=LATEST, about="Epochs that followers tell."),
    Trial("consumer-group-in-zookeeper", variant=LATEST, about="Offsets in ZooKeeper."),
    Trial("tools-and-the-controller", variant=LATEST, about="Tools write into ZooKeeper."),
    Trial("reassignments-added", variant="1.0", about="A tool adds a partition to a list."),
    Trial(
        "reassignments-added",
        (
            "controller_begins_what_is_written",
            "list_is_read_by_each_controller",
            "list_stays_for_what_was_added",
            "controller_is_elected_alone",
            "reassignment_is_written_and_done",
        ),
        variant=LATEST,
        about="The same, which the controller does not notice.",
    ),
    Trial(
        "consumer-group-leftover-timers",
        variant="2.3",
        flags={"dead_groups_end_timers": True},
        about="Timers of a copy of a group.",
    ),
    Trial(
        "log-last-tombstone",
        variant=LATEST,
        flags={"last_batches_of_rounds_are_kept": True},
        about="The active segment is empty.",
    ),
    Trial("log-tiered", variant=LATEST, about="A part of a log is in a remote store."),
    Trial("log-cleaner-checkpoint", variant=LATEST, about="A checkpoint of the cleaner."),
    Trial("log-added-time-indexes", variant=LATEST, about="Time indexes are added."),
    Trial("transactions-amid-an-upgrade", variant=LATEST, about="Transactions are verified amid an upgrade."),
    Trial("fetch-to-debug-a-replica", variant=LATEST, about="A fetch of a replica that goes."),
    Trial("log-full-map", variant=LATEST, about="The map of the cleaner is full."),
    Trial("consumer-group-first-of-a-cluster", variant=LATEST, about="The first consumer of a cluster."),
    Trial("consumer-group-and-its-clients", variant=LATEST, about="A group is described."),
    Trial("generated-broker-ids", variant=LATEST, about="Ids of brokers are generated, or given."),
    Trial("generated-ids-in-a-migration", variant=LATEST, about="The same, in a migration."),
    Trial("full-requests-of-kraft", variant=LATEST, about="Full requests of KRaft's controller."),
    Trial("kraft-topic-created-again", variant=LATEST, about="A topic is created again while its broker is down."),
    Trial("kraft-topic-created-again", variant="3.6.0", about="The same, where strays go last."),
    Trial("kraft-failed-directory", variant=LATEST, about="A directory fails."),
    Trial("kraft-failed-directory", variant="3.7.0", about="The same, where a replica is created again."),
    Trial("kraft-move-from-a-failed-directory", variant=LATEST, about="The same, as a replica moves."),
    Trial("kraft-move-from-a-failed-directory", variant="3.7.0", about="The same, where the move is forgotten."),
    Trial("sessions-of-an-old-controller", variant=LATEST, about="Sessions of a controller of 0.10 end."),
    Trial("end-of-a-session-amid-an-event", variant=LATEST, about="The same, of a later one."),
)
"""The trials of steps that only one story has: docs/reference/mutants-of-rare-steps.md."""
OF_RARE_STEPS = (
    "cleaner_formats",
    "delayed_operations",
    "delayed_requests",
    "disk_crashes",
    "failed_starts",
    "leadership",
    "append_uncompressed",
    "ask_again",
    "checkpoint_high_watermark",
    "commit_by_append_time",
    "compare_directories",
    "elect_again_unnoticed",
    "exit_at_a_shorter_leader",
    "fetch_unaware",
    "fetcher_thread",
    "fail_other_disk",
    "fail_read",
    "fetch_session",
    "fetcher_endpoint",
    "full_requests",
    "generated_ids",
    "idle_fetcher",
    "kraft_directories",
    "last_batch",
    "lazy_index",
    "leftover_timers",
    "log_readers",
    "log_sizes",
    "lose_tail",
    "lower_segment_bytes",
    "member_timeouts",
    "move_log",
    "network_stop",
    "partition_answers",
    "partition_locks",
    "read_replica",
    "request_buffers",
    "request_sender",
    "request_timer",
    "sequence_reset",
    "server_stop",
    "session_threads",
    "start_reads",
    "tiered_log",
    "transactional_offsets",
    "topic_creation",
    "topic_requests",
    "truncate_to_the_leaders_end",
    "unclean_elections",
    "wrapped_sequences",
    "directories_stop",
    "feature_listener",
    "fetch_quotas",
    "fetcher_pool",
    "added_time_index",
    "cleaner_checkpoint",
    "controller_channel",
    "down_conversion",
    "fetch_epochs",
    "quota_locks",
    "transaction_verification",
    "watched_fetch",
    "written_by_tools",
    "zookeeper_offsets",
    "file_reads",
    "group_answers",
    "log_tasks",
    "offsets_topic",
    "producer_expiration",
    "received_batches",
    "server_start",
    "session_cache",
)
"""These functions."""

PARTITION_TRIALS = (
    Trial("isr-changes", variant=LATEST, about="A leader has the controller change its ISR."),
    Trial(
        "isr-changes-replaced-disk",
        variant=LATEST,
        flags={"isr_changes_name_broker_epochs": True},
        about="The same, where the follower loses its log.",
    ),
    Trial("log-empty-batches", variant=LATEST, about="A cleaning leaves empty batches."),
    Trial("log-empty-batches", variant=LATEST, bounds={"reuses": 1}, about="The same, of a group coordinator."),
    Trial("log-deleted-key", variant=LATEST, about="A key is deleted behind a producer's last record."),
    Trial("log-write-errors", variant=LATEST, about="Writes to the disk fail."),
    Trial("log-shared-with-the-cleaner", variant=LATEST, about="The cleaner and a fetcher share a log."),
    Trial("log-deletion", variant=LATEST, about="A log is deleted while it is flushed, or created again."),
    Trial("log-deletion-after-a-move", variant=LATEST, about="A future log has a removed segment."),
    Trial(
        "log-snapshot-after-a-move",
        variant=LATEST,
        flags={"moved_snapshots_are_found": True},
        about="The same, with a snapshot of producers.",
    ),
    Trial("log-move-amid-a-flush", variant=LATEST, about="A future log is moved amid a flush."),
    Trial("log-deletion-amid-retention", variant=LATEST, about="Retention removes a segment of a deleted log."),
    Trial(
        "log-deletion-amid-a-long-flush",
        variant=LATEST,
        flags={"closed_files_may_be_gone": True},
        about="A flush lasts longer than files are kept.",
    ),
    Trial(
        "log-created-amid-a-change", variant=LATEST, about="A log is created while its topic's configuration changes."
    ),
)
"""The trials of ISR changes, empty batches, failing writes, and of logs that are created, cleaned or deleted.

The page: docs/reference/mutants-of-partitions.md.
"""


MIGRATION_TRIALS = (
    Trial(
        "migration",
        variant=LATEST,
        bounds={"expansions": 0, "quorum_failures": 0},
        about="Nobody interferes, but a client that adds a partition.",
    ),
    Trial("races-of-a-migration", variant=LATEST, about="KRaft's controller fails once, at any moment."),
    Trial("migration", variant="3.4.1", bounds={"expansions": 0}, about="Without a comparison with ZooKeeper."),
    Trial(
        "migration-after-a-rollback",
        variant=LATEST,
        flags={"rollback_removes_migration": True},
        about="A second attempt, after a rollback that removes /migration.",
    ),
    Trial(
        "migration-after-a-rollback",
        variant=LATEST,
        bounds={"brokers": 2, "partitions": 1, "new_expansions": 0, "restarts": 1},
        flags={"rollback_removes_migration": True},
        about="The same, and a broker stops; KRaft's controller was elected once.",
    ),
    Trial("deletion-in-dual-write", variant=LATEST, about="A topic is deleted, and created again; brokers crash."),
    Trial(
        "deletion-in-dual-write",
        variant=LATEST,
        bounds={"quorum_failures": 1, "restarts": 0},
        about="The same, while KRaft's controller fails.",
    ),
    Trial("deletion-in-dual-write", variant=LATEST, bounds={"deletions": 0}, about="Brokers crash, and change modes."),
    Trial(
        "deletion-in-dual-write",
        variant=LATEST,
        bounds={"deletions": 0, "new_expansions": 1, "partitions": 2, "restarts": 0},
        about="A partition is added.",
    ),
    Trial("reassignment-in-dual-write", variant=LATEST, about="A replica is moved."),
    Trial("metadata-caches-in-dual-write", variant=LATEST, about="A deletion, and the caches of brokers."),
    Trial(
        "migration-with-records",
        variant=LATEST,
        bounds={"expansions": 0},
        flags={"patient_operator": True},
        about="A record, and the restarts in KRaft mode.",
    ),
    Trial(
        "migration-with-records",
        variant=LATEST,
        bounds={"restarts": 1},
        flags={"patient_operator": True},
        about="The same, after an old client has erased the topic's id: logs are set aside.",
    ),
    Trial(
        "finalization-of-a-migration",
        variant=LATEST,
        flags={"patient_operator": True},
        about="The end of a migration; brokers crash.",
    ),
    Trial(
        "rollback-of-a-migration",
        variant=LATEST,
        flags={"patient_operator": True},
        about="A record, a rollback, and a crash.",
    ),
)
"""The trials of migrations to KRaft: docs/reference/mutants-of-migrations.md."""
