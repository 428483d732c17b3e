"""Domains, bounds and actors of the group model: how many consumers and member ids, and how many faults."""

from __future__ import annotations

from typing import Annotated

from kwalk.model.kafka.domains import BROKERS
from kwalk.model.language import Actor, Bound, Domain

CONSUMERS = Domain("consumers", "consumers of the group; each is a process that may be started again")
MEMBER_IDS = Domain("member_ids", "member ids that can ever be generated", label=lambda n: f"m{n}")
BUFFERS = Domain("buffers", "records that the first buffer of a load has, less one: it matters in 0.11.0.0 only")

LOG = Bound("log", "records that the __consumer_offsets partition can hold", minimum=1)
GENERATIONS = Bound("generations", "highest generation of the group")
TASKS = Bound("tasks", "loads and unloads that wait in a coordinator's scheduler", minimum=1)
COMMITS = Bound("commits", "how often consumers commit")
RETENTIONS = Bound("retentions", "how often offsets.retention.minutes pass", default=0)
STARTS = Bound("starts", "how often a consumer starts")
CONSUMER_STOPS = Bound("consumer_stops", "how often a consumer stops or crashes", default=0)
PAUSES = Bound("pauses", "how often a consumer, or its application, stalls", default=0)
MOVES = Bound("moves", "how often the partition gets another leader")
REASSIGNMENTS = Bound(
    "reassignments", "how often the leader's replica of the partition is moved to another broker", default=0
)
CLEANINGS = Bound("cleanings", "how often the log cleaner compacts the partition", default=0)
GROUP_DELETIONS = Bound("group_deletions", "how often an operator deletes the group", default=0)
OTHER_PROTOCOLS = Bound(
    "other_protocols", "consumers, the last ones, that support another protocol than the rest", default=0
)
EMPTY_PROTOCOLS = Bound("empty_protocols", "1 if those consumers name no protocol at all", default=0)
OLD_CONSUMERS = Bound(
    "old_consumers", "consumers, the first ones, of a release before 2.3: they have no group.instance.id", default=0
)
JOIN_GROUP_V0 = Bound(
    "join_group_v0", "1 if consumers are of 0.9 or 0.10.0: their JoinGroup has no rebalance timeout", default=0
)

LARGE_GROUP = Bound(
    "large_group", "members with whom a group's record is larger than offsets.load.buffer.size; 0: none is", default=0
)
JOIN_TIMEOUTS = Bound("join_timeouts", "how often a consumer waits for the answer to JoinGroup no longer", default=0)
LONG_RETENTION = Bound("long_retention", "1 if offsets.retention.minutes is above 35,791,394, or 68 years", default=0)
LONG_METADATA = Bound(
    "long_metadata", "how often a commit has another partition, with longer metadata than is allowed", default=0
)
TRANSACTIONAL_COMMITS = Bound("transactional_commits", "how often a member commits in a transaction", default=0)
ISR_SHRINKS = Bound("isr_shrinks", "how often the partition has too few in-sync replicas for its commits", default=0)
LATE_EXPIRATIONS = Bound(
    "late_expirations", "how often the session ends of a member that was removed before", default=0
)
WAITING_HEARTBEATS = Bound(
    "waiting_heartbeats", "1 if a heartbeat can wait for the lock of its group while that is unloaded", default=0
)
BUSY_LOCKS = Bound(
    "busy_locks", "how often a request holds the lock of the group as replicas get what that has appended", default=0
)
LATER_RECORDS = Bound("later_records", "1 if a later release has written records of a type of its own", default=0)
GROUP_MAX_SIZE = Bound("group_max_size", "group.max.size, which 2.2 brought; 0: no limit", default=0)

ConsumerId = Annotated[int, CONSUMERS]
MemberId = Annotated[int, MEMBER_IDS]
Buffer = Annotated[int, BUFFERS]

COORDINATOR = Actor("coordinator", of=BROKERS)
CONSUMER = Actor("consumer", of=CONSUMERS)
APPLICATION = Actor("application", of=CONSUMERS, system=False)
FOLLOWER = Actor("follower")
LOG_CLEANER = Actor("log cleaner", system=False)
CLOCK = Actor("clock", system=False)
ELECTION = Actor("controller's election", system=False)
