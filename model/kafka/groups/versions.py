"""What releases of Kafka differ in about consumer groups, and the switches that choose the grain of the group model.

Each flag was dated by comparing the sources of the releases on both sides of the change.
"""

from __future__ import annotations

from kwalk.model.kafka.releases import ReleaseFlags
from kwalk.model.language import Flag

RELEASES = ("2.8.2", "0.10.0", "0.10.1", "0.10.2", "0.11.0.0", "1.0", "2.0", "2.1.0", "2.3", "2.4.1", "2.8.0", "3.9.0")
"""Those that have a variant; the first one is the default of a scenario."""

_FLAGS = ReleaseFlags()
version_flag, candidate = _FLAGS.version_flag, _FLAGS.candidate


# What releases differ in.

EMPTY_GROUPS_STAY = version_flag(
    "empty_groups_stay",
    "KAFKA-2720 (0.10.1.0): a group that loses its last member becomes Empty, and is removed when its last offset is; "
    "before, it was removed at once, and its next generation was the first again",
    {"0.10.1": True},
)
STOP_REPLICA_UNLOADS = version_flag(
    "stop_replica_unloads",
    "KAFKA-4362 (0.10.1.1): a broker unloads a partition of __consumer_offsets whose replica it loses by a "
    "reassignment; it gets StopReplica, and no LeaderAndIsr",
    {"0.10.1.1": True},
)
DELETED_TOPICS_LOSE_OFFSETS = version_flag(
    "deleted_topics_lose_offsets",
    "KAFKA-2000 (0.10.2.0): a coordinator removes the offsets of a topic that is deleted",
    {"0.10.2": True},
)
LOAD_TO_LOG_END = version_flag(
    "load_to_log_end",
    "KAFKA-5059 (0.11.0.0): a coordinator loads its partition up to the log end offset; before, up to the high "
    "watermark, which a new leader learns late",
    {"0.11.0.0": True},
)
LOAD_WHOLE_LOG = version_flag(
    "load_whole_log",
    "KAFKA-5600 (0.11.0.1): the log is read to its end before groups are cached; in 0.11.0.0 what the first buffer has "
    "of a group is cached, and later records are ignored (since KAFKA-4816)",
    {"0.11.0.0": False, "0.11.0.1": True},
    before=True,
)
DELETE_GROUPS = version_flag(
    "delete_groups", "KIP-229, KAFKA-6275 (1.1.0): an operator can delete an Empty group", {"1.1.0": True}
)
RETENTION_FROM_EMPTY = version_flag(
    "retention_from_empty",
    "KIP-211, KAFKA-4682 (2.1.0): offsets expire when their group has been Empty for the retention period; before, "
    "each offset when its own commit was that old, whatever members the group had",
    {"2.1.0": True},
)
UNSET_EXPIRY_IS_NONE = version_flag(
    "unset_expiry_is_none",
    "KAFKA-8069 (2.2.0): an offset that was written below inter.broker.protocol.version 2.1 without an expiry has none "
    "after a load; in 2.1 it had expired",
    {"2.1.0": False, "2.2.0": True},
    before=True,
)
STATIC_MEMBERSHIP = version_flag(
    "static_membership",
    "KIP-345 (2.3.0): a member with a group.instance.id that starts again takes the place of its earlier member id",
    {"2.3.0": True},
)
STATIC_IDS_ARE_RANDOM = version_flag(
    "static_ids_are_random",
    "KAFKA-8715 (2.3.1): the member id of a static member has a random part; in 2.3.0, the time since which its group "
    "is in its state, without which, as after a load, its JoinGroup failed",
    {"2.3.0": False, "2.3.1": True},
    before=True,
)
STATE_TIME_IS_LOADED = version_flag(
    "state_time_is_loaded",
    "KAFKA-10401 (2.6.1): a load has the time since which a group is Empty; since 2.3.0, and until then, each offset "
    "of a loaded group expired by the time of its own commit",
    {"2.3.0": False, "2.6.1": True},
    before=True,
)
LOAD_ENDS_AT_GAP = version_flag(
    "load_ends_at_gap",
    "KAFKA-9065 (2.4.1): a load ends where nothing more is read; before, it never ended if the last records of the log "
    "were compacted away",
    {"2.4.1": True},
)
NEW_MEMBERS_EXPIRE = version_flag(
    "new_members_expire",
    "KAFKA-9752 (2.5.0): a member's session is watched from the end of its first rebalance on; in 2.4.1, from its next "
    "request on, so that one that died while it joined stayed for good",
    {"2.4.1": False, "2.5.0": True},
    before=True,
)
STATIC_REJOIN_REBALANCES = version_flag(
    "static_rejoin_rebalances",
    "KAFKA-9801 (2.5.0): a static member that starts again while the group is completing a rebalance causes another "
    "one; before, its new member id was not in the assignment that the leader was making",
    {"2.5.0": True},
)
STATIC_REJOIN_IS_STORED = version_flag(
    "static_rejoin_is_stored",
    "KAFKA-10284 (2.6.1): the new member id of a static member that starts again is written to the log",
    {"2.6.1": True},
)
HEARTBEAT_WHILE_COMPLETING = version_flag(
    "heartbeat_while_completing",
    "KAFKA-10134 (2.6.1): heartbeats keep a member alive while the group is completing a rebalance",
    {"2.6.1": True},
)
PENDING_SYNC_EXPIRES = version_flag(
    "pending_sync_expires",
    "KAFKA-12890 (2.8.1): a member that does not send SyncGroup within the rebalance timeout is removed",
    {"2.8.1": True},
)
COORDINATOR_EPOCH = version_flag(
    "coordinator_epoch",
    "KAFKA-10614 (2.8.1): loading and unloading are refused if one of a higher leader epoch has been done",
    {"2.8.1": True},
)
EXPIRE_STABLE_ONLY = version_flag(
    "expire_stable_only",
    "KAFKA-13636 (2.8.2, 3.0.1, 3.1.1): while members join, no offset expires for want of a subscription",
    {"2.8.2": True, "3.0.0": False, "3.0.1": True, "3.1.0": False, "3.1.1": True},
)

# Fixes that no release has.

STALE_CACHE_IS_FENCED = candidate(
    "stale_cache_is_fenced",
    "a coordinator answers only from what it loaded in its present leader epoch, as if it had unloaded the rest",
)
REMOVAL_WAITS = candidate(
    "removal_waits", "a group's removal waits until its tombstones are in all in-sync replicas, as commits do"
)

# The grain.

STATIC_MEMBERS = Flag("static_members", "consumers have a group.instance.id, and send no LeaveGroup")
CONCURRENT_REQUESTS = Flag(
    "concurrent_requests",
    "two LeaderAndIsr requests, of two controllers, are handled at a time, so that loading and unloading may be "
    "scheduled in the other order",
)

OLD_RECORDS = Flag(
    "old_records",
    "inter.broker.protocol.version is below 2.1: the records of groups have no time of their state, and those of "
    "offsets have a field for their expiry",
)

VARIANTS = {release: _FLAGS.variant_of(release) for release in RELEASES}
COARSE = {"static_members": False, "concurrent_requests": False, "old_records": False}
"""Dynamic members, one controller, and the protocol of the release."""
