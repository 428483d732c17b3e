"""Partition and Replica: a leader takes a follower out of the ISR that has not caught up for too long.

One partition, its leader and one follower in the ISR. Time is counted in rounds: in each the follower fetches once,
unless it stands still or is throttled. replica.lag.time.max.ms is two rounds. The leader's task that looks for
followers to take out begins with a list of partitions, and may come to this one later. A fetch that gets records is
followed by the next one at once: those of a round are one.

A follower that has left joins again as soon as it has the high watermark (`JoiningFollower`). Since 3.7 that stays
where it was while the ISR is smaller than min.insync.replicas, and so far behind the end of the log.
"""

from __future__ import annotations

from kwalk.model.kafka.server.versions import (
    EQUAL_END_IS_IN_SYNC,
    FAILED_READS_SAY_NOTHING,
    FETCHES_ONE_BATCH_AT_LEAST,
    FOREIGN_MEMBERS_LAG,
    HIGH_WATERMARK_WAITS_FOR_MIN_ISR,
    IDLE_FOLLOWERS_ARE_IN_SYNC,
    LAGGARDS_STAY_OUT,
    LAST_FETCH_COUNTS,
    OFFLINE_LEADERS_SHRINK_NOTHING,
    THROTTLES_LAGGARDS_ONLY,
    WAITING_FOLLOWERS_ARE_IN_SYNC,
)
from kwalk.model.kafka.storage.domains import FAULT, OFFSETS, PRODUCER
from kwalk.model.kafka.storage.leader_epochs import BROKERS
from kwalk.model.language import Bound, action, flag, number, optional, require, state

ROUNDS = Bound("rounds", "rounds of fetches", minimum=1)
STALLS = Bound("stalls", "how often the follower stands still", default=0)
THROTTLES = Bound("throttles", "how often the quota of replication is used up by other partitions", default=0)
DISK_FAILURES = Bound("disk_failures", "how often the leader's log directory fails", default=0)
FOREIGN_MEMBERS = Bound(
    "foreign_members", "how often the ISR of another partition has a broker that is no replica of it", default=0
)
READ_ERRORS = Bound("read_errors", "how often the leader cannot read its log for the follower", default=0)
SLOW_READS = Bound("slow_reads", "how often a read of the leader for the follower lasts", default=0)
OVERSIZED = Bound("oversized", "1 if a batch may be larger than replica.fetch.max.bytes", default=0)
MAX_LAG = 2
"""replica.lag.time.max.ms, in rounds."""


@state
class FollowerLag:
    """What the leader knows of its follower, and what is the case.

    The follower's log ends at `follower_end`, of which the leader knows `known_end`, the offset of the last fetch. That
    was in round `last_fetch`, when the leader's log ended at `last_fetch_end`. In round `caught_up` (Kafka:
    lastCaughtUpTimeMs) the follower had all that the leader had. `is_due` says that the task has the partition on its
    list. At `oversized` is a batch that is larger than a fetch. The leader also leads another partition, whose ISR
    `has_foreign_member`. After a read that has failed the leader may have `forgotten_end`. It `is_reading` while the
    follower waits for what it has asked for.
    """

    now: int = number(0, ROUNDS)
    end: int = number(0, OFFSETS)
    follower_end: int = number(0, OFFSETS)
    known_end: int = number(0, OFFSETS)
    last_fetch: int = number(0, ROUNDS)
    last_fetch_end: int = number(0, OFFSETS)
    caught_up: int = number(0, ROUNDS)
    has_fetched: bool = flag()
    in_isr: bool = flag(default=True)
    is_due: bool = flag()
    is_stalled: bool = flag()
    is_throttled: bool = flag()
    is_offline: bool = flag()
    stalls: int = number(0, STALLS)
    throttles: int = number(0, THROTTLES)
    disk_failures: int = number(0, DISK_FAILURES)
    oversized: int | None = optional(number(0, OFFSETS), when=OVERSIZED)
    has_foreign_member: bool = flag(when=FOREIGN_MEMBERS)
    foreign_members: int = number(0, FOREIGN_MEMBERS)
    read_errors: int = number(0, READ_ERRORS)
    forgotten_end: bool = flag(when=READ_ERRORS)
    slow_reads: int = number(0, SLOW_READS)
    is_reading: bool = flag(when=SLOW_READS)


def may_fetch(lag: FollowerLag) -> bool:
    """Whether the follower's fetch of the partition is answered: since KAFKA-4313 no ISR member is throttled.

    Since 2.5 and until KAFKA-15080, one that has got no record yet throttles itself.
    """
    is_refused = lag.is_throttled and not (bool(THROTTLES_LAGGARDS_ONLY) and lag.in_isr)
    is_idle = lag.is_throttled and lag.follower_end == 0 and not IDLE_FOLLOWERS_ARE_IN_SYNC
    is_waiting = SLOW_READS > 0 and lag.is_reading
    return not lag.is_stalled and not lag.is_offline and not is_refused and not is_idle and not is_waiting


@action(by=PRODUCER, description="produces a record", source="Partition.appendRecordsToLeader")
def produce(lag: FollowerLag) -> None:
    """The leader appends it, unless its disk has failed."""
    require(not lag.is_offline)
    lag.end += 1


@action(
    by=PRODUCER,
    description="produces a batch that is larger than replica.fetch.max.bytes",
    source="Partition.appendRecordsToLeader; max.message.bytes of the topic",
)
def produce_oversized(lag: FollowerLag) -> None:
    """The topic allows it: as __consumer_offsets, for groups with many members or topics."""
    require(OVERSIZED > 0 and lag.oversized is None and not lag.is_offline)
    lag.oversized = lag.end
    lag.end += 1


def end_of_fetches(lag: FollowerLag) -> int:
    """Return how far the follower gets in a round: up to 0.10.0 not beyond a batch that is larger than a fetch.

    Kafka: ReplicaManager.readFromLocalLog: minOneMessage.
    """
    if FETCHES_ONE_BATCH_AT_LEAST or OVERSIZED == 0 or lag.oversized is None or lag.oversized < lag.follower_end:
        return lag.end
    return lag.oversized


@action(by=BROKERS, description="the follower fetches", source="Replica.updateLogReadResult")
def fetch(lag: FollowerLag) -> None:
    """It asks from the end of its log on, and gets all that the leader has.

    Up to 0.10.1 it has caught up if there is nothing to get. Since then also if it had got, by this fetch, all that the
    leader had at the fetch before: then it had caught up at that time.
    """
    require(may_fetch(lag) and not lag.has_fetched)
    if lag.follower_end >= lag.end:
        lag.caught_up = lag.now
    elif LAST_FETCH_COUNTS and lag.follower_end >= lag.last_fetch_end:
        lag.caught_up = max(lag.caught_up, lag.last_fetch)
    lag.known_end, lag.last_fetch, lag.last_fetch_end = lag.follower_end, lag.now, lag.end
    lag.follower_end = end_of_fetches(lag)
    lag.has_fetched = True
    if READ_ERRORS > 0:
        lag.forgotten_end = False


@action(
    by=FAULT,
    description="the leader cannot read its log for the follower",
    source="ReplicaManager.updateFollowerLogReadResults; Replica.updateLogReadResult",
)
def fail_read(lag: FollowerLag) -> None:
    """Answer with an error. Until KAFKA-8400 the leader took the offset of the error, -1, for the follower's end."""
    require(may_fetch(lag) and not lag.has_fetched)
    lag.read_errors += 1
    lag.has_fetched = True
    lag.forgotten_end = not FAILED_READS_SAY_NOTHING


@action(
    by=FAULT,
    description="the leader reads for the follower, from a slow disk",
    source="ReplicaManager.readFromLocalLog",
)
def begin_slow_read(lag: FollowerLag) -> None:
    """The leader knows of the fetch when it has read: until then it counts for nothing (KAFKA-8733)."""
    require(may_fetch(lag) and not lag.has_fetched)
    lag.slow_reads += 1
    lag.is_reading = True


@action(
    by=BROKERS, description="the leader has read for the follower", source="ReplicaManager.updateFollowerFetchState"
)
def end_slow_read(lag: FollowerLag) -> None:
    """It may also read for good. The fetch is answered next."""
    require(SLOW_READS > 0 and lag.is_reading)
    lag.is_reading = False


@action(by=BROKERS, description="a round ends", source="replica.fetch.wait.max.ms, replica.lag.time.max.ms")
def end_round(lag: FollowerLag) -> None:
    """A follower that may fetch has fetched."""
    require(lag.now < ROUNDS and (lag.has_fetched or not may_fetch(lag)))
    lag.now += 1
    lag.has_fetched = False


@action(
    by=BROKERS, description="the leader begins to look for followers that lag", source="ReplicaManager.maybeShrinkIsr"
)
def begin_to_shrink(lag: FollowerLag) -> None:
    """Its list has the partitions whose directories work. In 2.4 to 2.8 it failed at a foreign member in another one.

    Kafka: Partition.isFollowerOutOfSync: getReplicaOrException.
    """
    require(not lag.is_due and not lag.is_offline and lag.in_isr)
    require(FOREIGN_MEMBERS == 0 or bool(FOREIGN_MEMBERS_LAG) or not lag.has_foreign_member)
    lag.is_due = True


@action(
    by=BROKERS,
    description="the leader takes the follower out of the ISR",
    source="Partition.maybeShrinkIsr, getOutOfSyncReplicas",
)
def shrink_isr(lag: FollowerLag) -> None:
    """The follower has not caught up for too long. Until 2.1 that is so where nothing is produced, too."""
    require(lag.is_due and lag.now - lag.caught_up > MAX_LAG)
    is_unknown = READ_ERRORS > 0 and lag.forgotten_end
    require(not EQUAL_END_IS_IN_SYNC or is_unknown or lag.known_end != lag.end)
    require(not OFFLINE_LEADERS_SHRINK_NOTHING or not lag.is_offline)
    require(SLOW_READS == 0 or not (lag.is_reading and WAITING_FOLLOWERS_ARE_IN_SYNC))
    lag.in_isr, lag.is_due = False, False


@action(by=BROKERS, description="the leader leaves the ISR as it is", source="Partition.maybeShrinkIsr")
def keep_isr(lag: FollowerLag) -> None:
    """The task is done with this partition."""
    require(lag.is_due)
    lag.is_due = False


@action(by=FAULT, description="the follower stands still", source="a long garbage collection, or a slow disk")
def stall(lag: FollowerLag) -> None:
    """It does not fetch."""
    require(not lag.is_stalled)
    lag.stalls += 1
    lag.is_stalled = True


@action(by=FAULT, description="the follower goes on", source="ReplicaFetcherThread.doWork")
def go_on(lag: FollowerLag) -> None:
    """It may also stand still for good."""
    require(lag.is_stalled)
    lag.is_stalled = False


@action(
    by=FAULT,
    description="replicas that are moved use up the quota of replication",
    source="ReplicationQuotaManager.isQuotaExceeded",
)
def exceed_quota(lag: FollowerLag) -> None:
    """The partition is throttled, too, as the quota is set for its topic."""
    require(not lag.is_throttled)
    lag.throttles += 1
    lag.is_throttled = True


@action(by=FAULT, description="there is quota again", source="ReplicationQuotaManager.isQuotaExceeded")
def free_quota(lag: FollowerLag) -> None:
    """It may also stay used up."""
    require(lag.is_throttled)
    lag.is_throttled = False


@action(
    by=FAULT,
    description="a reassignment of another partition names its new replicas, beside the ISR of before",
    source="KafkaController.onPartitionReassignment (B3)",
)
def reassign_other_partition(lag: FollowerLag) -> None:
    """The leader is to add no other broker to the ISR; the next request takes those out that are in it."""
    require(FOREIGN_MEMBERS > 0 and not lag.has_foreign_member)
    lag.foreign_members += 1
    lag.has_foreign_member = True


@action(
    by=FAULT,
    description="the ISR of the other partition has replicas only",
    source="KafkaController.onPartitionReassignment (B4)",
)
def remove_foreign_member(lag: FollowerLag) -> None:
    """If the controller fails before it, this is left to the next one."""
    require(FOREIGN_MEMBERS > 0 and lag.has_foreign_member)
    lag.has_foreign_member = False


@action(by=FAULT, description="the leader's log directory fails", source="ReplicaManager.handleLogDirFailure")
def fail_disk(lag: FollowerLag) -> None:
    """The partition is offline at this broker; the controller has not elected another leader yet."""
    require(not lag.is_offline)
    lag.disk_failures += 1
    lag.is_offline = True


@state
class JoiningFollower:
    """A leader and its only follower, with min.insync.replicas=2. The follower lags if it has not caught up for long.

    Producers with acks=1 make the log longer. A fetch gets one record, as a response has a largest size.
    """

    end: int = number(0, OFFSETS)
    follower_end: int = number(0, OFFSETS)
    high_watermark: int = number(0, OFFSETS)
    in_isr: bool = flag(default=True)
    lags: bool = flag()


def raise_high_watermark(partition: JoiningFollower) -> None:
    """Raise the high watermark to what all members of the ISR have (Kafka: Partition.maybeIncrementLeaderHW)."""
    if partition.in_isr:
        partition.high_watermark = max(partition.high_watermark, partition.follower_end)
    elif not HIGH_WATERMARK_WAITS_FOR_MIN_ISR:
        partition.high_watermark = partition.end


@action(by=PRODUCER, description="produces a record, with acks=1", source="Partition.appendRecordsToLeader")
def produce_to_one(partition: JoiningFollower) -> None:
    """The leader appends it, however small the ISR is."""
    partition.end += 1
    raise_high_watermark(partition)


@action(by=BROKERS, description="the follower fetches a record", source="Partition.updateFollowerFetchState")
def fetch_one(partition: JoiningFollower) -> None:
    """It has caught up if that is all."""
    require(partition.follower_end < partition.end)
    partition.follower_end += 1
    partition.lags = partition.lags and partition.follower_end < partition.end
    raise_high_watermark(partition)


@action(by=FAULT, description="replica.lag.time.max.ms passes", source="Replica.isCaughtUp")
def pass_lag_time(partition: JoiningFollower) -> None:
    """The follower has not had all records for as long."""
    require(partition.follower_end < partition.end and not partition.lags)
    partition.lags = True


@action(by=BROKERS, description="the leader takes the follower out of the ISR", source="Partition.maybeShrinkIsr")
def take_out(partition: JoiningFollower) -> None:
    """It does so with any follower that lags."""
    require(partition.in_isr and partition.lags)
    partition.in_isr = False
    raise_high_watermark(partition)


@action(by=BROKERS, description="the follower joins the ISR", source="Partition.maybeExpandIsr, isFollowerInSync")
def join_isr(partition: JoiningFollower) -> None:
    """It has what is committed."""
    require(not partition.in_isr and partition.follower_end >= partition.high_watermark)
    require(not (partition.lags and LAGGARDS_STAY_OUT))
    partition.in_isr = True
    raise_high_watermark(partition)
