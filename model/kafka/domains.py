"""Domains and bounds of the Kafka model: how many brokers, topics, partitions and epochs, and how many faults.

A budget has the default 0, so that what it limits does not happen in a scenario which does not state it.
"""

from __future__ import annotations

from typing import Annotated

from kwalk.model.language import Bound, Domain

BROKERS = Domain("brokers", "brokers of the cluster; each is a replica of every partition", default=3)
TOPICS = Domain("topics", "topics that clients can create", label=lambda n: "tuvwxyz"[n], default=1)
PARTITIONS = Domain("partitions", "partitions that a topic has when it is fully expanded", default=2)
ADMINS = Domain("admins", "clients that add partitions in two steps, reading and writing", default=1)
TOPIC_IDS = Domain("topic_ids", "topic ids that can ever be minted", label=lambda n: "ABCDEFGHIJKLMNOP"[n], default=3)

PARTITION_COUNT = Bound("partitions")
CONTROLLER_EPOCHS = Bound("controller_epochs", "highest controller epoch", default=7)
LEADER_EPOCHS = Bound("leader_epochs", "highest leader epoch", default=6)
EVENTS = Bound("events", "events that wait at one controller module", minimum=1, default=5)
REQUESTS = Bound("requests", "LeaderAndIsr requests on their way to one broker", minimum=1, default=3)
NOTIFICATIONS = Bound("notifications", "fired watches on their way to one broker; 0: delivered at once", default=0)

RECORDS = Bound("records", "records that a log can hold; 0: there are none, and no logs to compare", default=0)
LATER_COMMITS = Bound(
    "later_commits",
    "records that leaders commit beyond as many as a log can hold: others at the same offsets",
    default=0,
)
BACKUPS = Bound("backups", "records that a directory can have which an operator has moved away", default=0)
STRAYS = Bound("strays", "records that logs can have which a broker sets aside in a migration to KRaft", default=0)
ORIGINALS = Bound(
    "originals", "records that disks had at the beginning, of which some copy is to remain; 0: not asked", default=0
)
INCARNATIONS = Bound("incarnations", "how often a topic can be created again under its name", default=0)

OLD_ADMINS = Bound("old_admins", "admins, the first ones, that know no topic id: old clients, scripts", default=0)
OLD_CREATIONS = Bound("old_creations", "1 if an old client may create the topic", default=0)
NEW_CREATIONS = Bound("new_creations", "1 if a new client may create the topic", default=0)
CREATED_PARTITIONS = Bound("created_partitions", "partitions that a topic is created with", minimum=1, default=1)
EXPANSIONS = Bound("expansions", "how often an old client adds partitions", default=0)
NEW_EXPANSIONS = Bound("new_expansions", "how often a new client adds partitions", default=0)
FAILOVERS = Bound("failovers", "how often an operator deletes /controller", default=0)
RESTARTS = Bound("restarts", "how often a broker stops or crashes", default=0)
OLD_PROTOCOL_BROKERS = Bound(
    "old_protocol_brokers", "brokers, the last ones, whose inter-broker protocol is below 2.8", default=0
)
EXPIRATIONS = Bound("expirations", "how often a broker's session expires while its process runs", default=0)
LATE_ZNODES = Bound(
    "late_znodes", "1 if the ephemeral znodes of an expired session may stay until its client has a new one", default=0
)
LOST_REGISTRATIONS = Bound(
    "lost_registrations",
    "how often a session ends as its broker registers, so that it does not know its znode",
    default=0,
)
SESSION_FAILURES = Bound(
    "session_failures", "how often a broker's ZooKeeper client gets no session when the last one has ended", default=0
)
DIRECTORY_FAILURES = Bound(
    "directory_failures", "how often a broker's log directory fails that has no logs yet", default=0
)
AUTH_FAILURES = Bound("auth_failures", "how often a broker's ZooKeeper client fails to authenticate", default=0)
REPAIRS = Bound("repairs", "how often an operator repairs something by hand", default=0)
ELECTION_REQUESTS = Bound(
    "election_requests", "how often an old client asks for a preferred leader through ZooKeeper", default=0
)
BIND_FAILURES = Bound("bind_failures", "how often a broker starts while its port is taken", default=0)
LISTINGS = Bound("listings", "how often a client asks a broker for all topics", default=0)
REASSIGNMENTS = Bound("reassignments", "how often a client moves a replica of a partition to another broker", default=0)
KRAFT_REASSIGNMENTS = Bound(
    "kraft_reassignments", "how often a client moves a replica while KRaft's controller leads", default=0
)
CANCELLATIONS = Bound("cancellations", "how often a client cancels a reassignment", default=0)
DELETIONS = Bound("deletions", "how often a client asks to delete a topic", default=0)
HAND_REMOVALS = Bound(
    "hand_removals", "how often an operator removes a topic's znodes, or its marker, by hand", default=0
)
RUNBOOK_TASKS = Bound("runbook_tasks", "tasks that an operator's runbook can have; 0: there is none", default=0)
QUORUM_FAILURES = Bound("quorum_failures", "how often KRaft's active controller fails", default=0)
ROLLBACKS = Bound("rollbacks", "how often an operator rolls a migration to KRaft back, and begins again", default=0)
LATE_COPIES = Bound(
    "late_copies", "how often a request arrives once more, as its connection broke on the way", default=0
)
REPLICATION_FACTOR = Bound(
    "replication_factor",
    "replicas that a partition is created with, if replicas can be reassigned; else all brokers",
    default=0,
)
REPLICA_ORDERS = Bound(
    "replica_orders", "the order of each partition's replicas, as `assignment.code_of` writes it", default=0
)
CHOSEN_LISTS = Bound("chosen_lists", "1 if clients choose the list of replicas of each partition", default=0)
BROKER_PAIRS = Domain(
    "broker_pairs",
    "pairs of brokers, of which a list has one first; one number is left over, as a domain has a member",
    size=CHOSEN_LISTS * (BROKERS.bound * (BROKERS.bound - 1) // 2) + 1,
)
PLANNED_LIVES = Domain(
    "planned_lives", "incarnations for which clients have lists", size=CHOSEN_LISTS * INCARNATIONS + 1
)
REPLICA_TARGETS = Domain("replica_targets", "lists of replicas that clients ask for in reassignments", default=1)

Admin = Annotated[int, ADMINS]
TopicId = Annotated[int, TOPIC_IDS]
Broker = Annotated[int, BROKERS]
Topic = Annotated[int, TOPICS]
Partition = Annotated[int, PARTITIONS]
ReplicaTarget = Annotated[int, REPLICA_TARGETS]
