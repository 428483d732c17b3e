"""Properties of followers that lag: which of them leave the ISR, and what a leader does whose disk has failed."""

from __future__ import annotations

from kwalk.model.kafka.server.replica_lag import MAX_LAG, FollowerLag, JoiningFollower
from kwalk.model.language import always, premise, reachable, step, when_quiescent


def leaves(before: FollowerLag, after: FollowerLag) -> bool:
    """Whether the follower leaves the ISR in this step."""
    return before.in_isr and not after.in_isr


@step(
    symptom="followers leave the ISR and join it again, all the time, though they fetch: acks=all and "
    "min.insync.replicas fail now and then",
    log="none: the leader logs that the ISR shrinks and expands",
)
def follower_that_fetches_stays(before: FollowerLag, after: FollowerLag) -> bool:
    """A follower that has never stood still does not leave the ISR."""
    premise(leaves(before, after) and not before.is_offline)
    return before.stalls > 0


@step(
    symptom="partitions have no leader, once a broker whose disk was slow is down: the ISR had no other",
    log="none: the leader logs that the ISR shrinks to itself",
)
def follower_that_waits_stays(before: FollowerLag, after: FollowerLag) -> bool:
    """A follower does not leave the ISR while the leader reads for it."""
    premise(leaves(before, after))
    return not before.is_reading


@step(symptom="a leader counts a record as replicated that its follower did not get", log="none")
def slow_read_answers_nothing(before: FollowerLag, after: FollowerLag) -> bool:
    """A read that lasts is of a follower that may fetch and has not; it is counted, and changes nothing else."""
    premise(before.is_reading != after.is_reading or before.slow_reads != after.slow_reads)
    is_same = before.known_end == after.known_end and before.follower_end == after.follower_end
    is_counted = after.slow_reads == before.slow_reads + after.is_reading
    is_of_a_fetch = not before.is_stalled and not before.has_fetched
    return is_same and is_counted and before.is_reading != after.is_reading and (is_of_a_fetch or before.is_reading)


@step(
    symptom="partitions without new records are under-replicated, whenever a follower pauses",
    log="none: the leader logs that the ISR shrinks and expands",
)
def follower_with_all_records_stays(before: FollowerLag, after: FollowerLag) -> bool:
    """A follower that has all of the leader's records, as the leader knows, does not leave the ISR."""
    premise(leaves(before, after))
    return before.known_end < before.end


@step(
    symptom="a partition has no leader though a replica in sync is alive, after a disk of the leader has failed",
    log="none: the ISR is that broker alone, and its log directory has failed",
)
def failed_leader_keeps_the_isr(before: FollowerLag, after: FollowerLag) -> bool:
    """A leader whose disk has failed takes no follower out of the ISR, which is to lead next."""
    premise(leaves(before, after))
    return not before.is_offline


@step(
    symptom="a replica stays at one offset, out of the ISR, for good: records have one copy less",
    log="Replication is failing due to a message that is greater than replica.fetch.max.bytes",
)
def oversized_batch_is_fetched(before: FollowerLag, after: FollowerLag) -> bool:
    """A follower that lacks records has more of them after it has fetched."""
    premise(after.has_fetched and not before.has_fetched and before.follower_end < before.end)
    return after.follower_end > before.follower_end


@when_quiescent(
    symptom="producers with acks=all wait for their timeout, as the ISR has a replica that does not fetch",
    log="Uncaught exception in scheduled task 'isr-expiration'",
)
def follower_that_stands_still_leaves(lag: FollowerLag) -> bool:
    """At last the ISR has no follower that lacks records and has not caught up for too long."""
    premise(not lag.is_offline and lag.known_end != lag.end and lag.now - lag.caught_up > MAX_LAG)
    return not lag.in_isr


@step(
    symptom="acks=all counts a follower that has not got the records",
    log="none",
)
def fetch_is_noted(before: FollowerLag, after: FollowerLag) -> bool:
    """A fetch is answered with all records, and the leader knows where the follower is, and when it had caught up.

    That is now if it has nothing to get, and else not after the last fetch.
    """
    has_fetched = after.has_fetched and not before.has_fetched
    premise(has_fetched)
    is_read = after.follower_end == before.end and after.known_end == before.follower_end
    if before.follower_end == before.end:
        return is_read and after.last_fetch == after.caught_up == before.now
    return is_read and after.last_fetch == before.now and after.caught_up in (before.caught_up, before.last_fetch)


@step(
    symptom="replication takes more of the network than its throttle allows, and clients get less",
    log="none: kafka-configs.sh --describe shows the throttle",
)
def follower_fetches_as_it_may(before: FollowerLag, after: FollowerLag) -> bool:
    """A follower that fetches runs, its leader's disk works, and it is in the ISR or the quota is not used up."""
    premise(after.has_fetched and not before.has_fetched)
    return not before.is_stalled and not before.is_offline and (before.in_isr or not before.is_throttled)


@step(symptom="producers get acknowledgements of a leader whose disk has failed, and the records are gone", log="none")
def failed_disk_takes_no_record(before: FollowerLag, after: FollowerLag) -> bool:
    """Records are appended one by one, while the leader's disk works."""
    premise(before.end != after.end)
    return after.end == before.end + 1 and not before.is_offline


@step(symptom="a follower stops at a batch that the topic allows", log="none")
def oversized_batch_is_appended(before: FollowerLag, after: FollowerLag) -> bool:
    """One batch is oversized, and it is appended to the log as others."""
    premise(before.oversized != after.oversized)
    return before.oversized is None and after.oversized == before.end and after.end == before.end + 1


@step(symptom="a leader counts a record as replicated that its follower did not get", log="none")
def failed_read_gives_nothing(before: FollowerLag, after: FollowerLag) -> bool:
    """A read that fails is the follower's fetch of its round, and gives it nothing."""
    premise(before.read_errors != after.read_errors)
    is_fetch = after.has_fetched and not before.has_fetched and not before.is_stalled
    is_counted = after.read_errors == before.read_errors + 1
    return is_fetch and is_counted and after.follower_end == before.follower_end and after.known_end == before.known_end


@step(symptom="a follower that fetches leaves the ISR", log="none")
def fetch_is_counted_once(before: FollowerLag, after: FollowerLag) -> bool:
    """The follower fetches once in a round, or its leader's read fails."""
    premise(before.has_fetched != after.has_fetched)
    return after.has_fetched or after.now == before.now + 1


@reachable()
def follower_leaves(lag: FollowerLag) -> bool:
    """A follower that stands still has left the ISR as soon as it had not caught up for too long."""
    return not lag.in_isr and lag.stalls > 0 and lag.now - lag.caught_up == MAX_LAG + 1


@reachable()
def oversized_batch_is_copied(lag: FollowerLag) -> bool:
    """A follower has the oversized batch."""
    return lag.oversized is not None and lag.follower_end > lag.oversized


@reachable()
def follower_leaves_beside_a_foreign_member(lag: FollowerLag) -> bool:
    """A follower has left the ISR, while that of another partition has a foreign member."""
    return not lag.in_isr and lag.has_foreign_member


@step(
    symptom="an ISR of min.insync.replicas grows and shrinks all the time; acks=all waits for a follower far behind",
    log="none: the leader logs that the ISR shrinks and expands",
)
def follower_that_joins_has_caught_up(before: JoiningFollower, after: JoiningFollower) -> bool:
    """A follower that joins the ISR is not one that the leader is to take out."""
    premise(after.in_isr and not before.in_isr)
    return not after.lags


@always(symptom="a record counts as committed that an ISR member lacks, or does not that all have", log="none")
def isr_has_what_is_committed(partition: JoiningFollower) -> bool:
    """What both members of an ISR have is committed, and no more."""
    premise(partition.in_isr)
    return partition.high_watermark == partition.follower_end


@step(symptom="a record does not count as committed any more", log="none")
def high_watermark_rises(before: JoiningFollower, after: JoiningFollower) -> bool:
    """The high watermark rises, not above the end of the log."""
    premise(before.high_watermark != after.high_watermark)
    return before.high_watermark < after.high_watermark <= after.end


@step(symptom="a follower leaves the ISR that has all records", log="none")
def laggard_is_behind(before: JoiningFollower, after: JoiningFollower) -> bool:
    """A follower leaves that lags; it lags from when it is behind until it has caught up."""
    premise(before.lags != after.lags or (before.in_isr and not after.in_isr))
    if before.lags == after.lags:
        return after.lags
    return after.lags == (after.follower_end < after.end) and before.in_isr == after.in_isr


@step(symptom="a follower has records that its leader has not", log="none")
def logs_grow_by_one(before: JoiningFollower, after: JoiningFollower) -> bool:
    """A record is produced, or copied, and changes no ISR."""
    premise(before.end != after.end or before.follower_end != after.follower_end)
    is_one = after.end - before.end + after.follower_end - before.follower_end == 1
    return is_one and after.follower_end <= after.end and before.in_isr == after.in_isr


@reachable()
def follower_joins_again(partition: JoiningFollower) -> bool:
    """A follower is in the ISR with a record that was committed without it, or lags in it."""
    return partition.in_isr and partition.follower_end > 0 and partition.high_watermark > 0
