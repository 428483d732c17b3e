"""Domains and bounds of the Kafka model: how many brokers, topics, partitions and epochs, and how many faults."""

from __future__ import annotations

from typing import Annotated

from kwalk.model.language import Bound, Domain

BROKERS = Domain("brokers", "brokers of the cluster; each is a replica of every partition")
TOPICS = Domain("topics", "topics that clients can create", label=lambda n: "tuvwxyz"[n])
PARTITIONS = Domain("partitions", "partitions that a topic has when it is fully expanded")
ADMINS = Domain("admins", "clients that add partitions in two steps, reading and writing")
TOPIC_IDS = Domain("topic_ids", "topic ids that can ever be minted", label=lambda n: "ABCDEFGHIJKLMNOP"[n])

PARTITION_COUNT = Bound("partitions")
CONTROLLER_EPOCHS = Bound("controller_epochs", "highest controller epoch")
LEADER_EPOCHS = Bound("leader_epochs", "highest leader epoch")
EVENTS = Bound("events", "events that wait at one controller module", minimum=1)
REQUESTS = Bound("requests", "LeaderAndIsr requests on their way to one broker", minimum=1)
NOTIFICATIONS = Bound("notifications", "fired watches on their way to one broker; 0: delivered at once")

RECORDS = Bound("records", "records that a log can hold; 0: there are none, and no logs to compare")
INCARNATIONS = Bound("incarnations", "how often a topic can be created again under its name")

OLD_ADMINS = Bound("old_admins", "admins, the first ones, that know no topic id: old clients, scripts")
OLD_CREATIONS = Bound("old_creations", "1 if an old client may create the topic")
NEW_CREATIONS = Bound("new_creations", "1 if a new client may create the topic")
CREATED_PARTITIONS = Bound("created_partitions", "partitions that a topic is created with", minimum=1)
EXPANSIONS = Bound("expansions", "how often an old client adds partitions")
NEW_EXPANSIONS = Bound("new_expansions", "how often a new client adds partitions")
FAILOVERS = Bound("failovers", "how often an operator deletes /controller")
RESTARTS = Bound("restarts", "how often a broker stops or crashes")
OLD_PROTOCOL_BROKERS = Bound("old_protocol_brokers", "brokers, the last ones, whose inter-broker protocol is below 2.8")
EXPIRATIONS = Bound("expirations", "how often a broker's session expires while its process runs")
AUTH_FAILURES = Bound("auth_failures", "how often a broker's ZooKeeper client fails to authenticate")
REPAIRS = Bound("repairs", "how often an operator repairs something by hand")
REASSIGNMENTS = Bound("reassignments", "how often a client moves a replica of a partition to another broker")
CANCELLATIONS = Bound("cancellations", "how often a client cancels a reassignment")
DELETIONS = Bound("deletions", "how often a client asks to delete a topic")
HAND_REMOVALS = Bound("hand_removals", "how often an operator removes a topic's znodes, or its marker, by hand")
RUNBOOK_TASKS = Bound("runbook_tasks", "tasks that an operator's runbook can have; 0: there is none")
LATE_COPIES = Bound("late_copies", "how often a request arrives once more, as its connection broke on the way")
REPLICATION_FACTOR = Bound(
    "replication_factor", "replicas that a partition is created with, if replicas can be reassigned; else all brokers"
)
REPLICA_ORDERS = Bound("replica_orders", "the order of each partition's replicas, as `assignment.code_of` writes it")

Admin = Annotated[int, ADMINS]
TopicId = Annotated[int, TOPIC_IDS]
Broker = Annotated[int, BROKERS]
Topic = Annotated[int, TOPICS]
Partition = Annotated[int, PARTITIONS]
