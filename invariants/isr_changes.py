"""Properties of an ISR that its leader has the controller change: what waits for good, and what is committed."""

from __future__ import annotations

from kwalk.model.kafka.server.alter_partition_manager import IsrChange, IsrPartition, Outcome
from kwalk.model.language import always, premise, reachable, step, when_quiescent


@when_quiescent(
    symptom="a replica stays out of the ISR, or in it, whatever it does, until the leader is elected again",
    log="Failed to enqueue ISR change state … for partition …, or none",
)
def isr_follows_its_replica(partition: IsrPartition) -> bool:
    """At last the ISR has the follower if it has caught up, and not if it is behind."""
    return partition.znode.has_follower != partition.is_behind


@when_quiescent(
    symptom="producers with acks=all wait for their timeout after a replica has left the ISR",
    log="none: the leader's end offset is above its high watermark",
)
def lone_leader_has_committed_all(partition: IsrPartition) -> bool:
    """The high watermark of a leader that is alone in the ISR is at last the end of its log."""
    premise(partition.pending is IsrChange.NONE and not partition.committed.has_follower)
    return partition.high_watermark == partition.end


@when_quiescent(
    symptom="producers with acks=all wait for their timeout",
    log="none: the leader's end offset is above its high watermark",
)
def full_isr_has_committed_all(partition: IsrPartition) -> bool:
    """At last all is committed while the follower keeps up."""
    premise(not partition.is_behind)
    return partition.high_watermark == partition.end


@when_quiescent(
    symptom="a leader changes its ISR no more, as it asks with an earlier version than ZooKeeper has",
    log="Failed to update ISR to … due to invalid version. Giving up.",
)
def leader_knows_its_znode(partition: IsrPartition) -> bool:
    """A leader without a change under way knows at last what ZooKeeper has."""
    premise(partition.pending is IsrChange.NONE)
    return partition.committed == partition.znode


@always(
    symptom="records that were acknowledged with acks=all are gone after a failover",
    log="none: a member of the ISR has a smaller end offset than the leader's high watermark",
)
def isr_has_what_is_committed(partition: IsrPartition) -> bool:
    """A follower in the ISR of ZooKeeper may be elected, and has all that is committed."""
    premise(partition.znode.has_follower)
    return partition.follower_end >= partition.high_watermark


@step(
    symptom="two controllers, or a leader and a controller, change a partition at the same time",
    log="none: the version of the znode does not grow by one",
)
def znode_changes_by_versions(before: IsrPartition, after: IsrPartition) -> bool:
    """Each write of the znode has the next version, and a new leader epoch or another ISR."""
    premise(before.znode != after.znode)
    old, new = before.znode, after.znode
    is_next = new.version == old.version + 1 and new.epoch in (old.epoch, old.epoch + 1)
    return is_next and (new.epoch > old.epoch or new.has_follower != old.has_follower)


@step(
    symptom="a replica joins the ISR without the records of its leader, or the leader counts what it has not got",
    log="none",
)
def offsets_follow_fetches(before: IsrPartition, after: IsrPartition) -> bool:
    """A leader appends record by record; a follower that catches up has all of them; lags and errors are counted."""
    has_lagged = after.is_behind and not before.is_behind
    has_failed = before.answer is None and after.answer is not None and after.outcome is Outcome.FAILED
    is_counted = after.lags == before.lags + has_lagged and after.write_errors == before.write_errors + has_failed
    catches_up = not before.is_behind or after.is_behind or after.follower_end == before.end
    has_fetched = after.follower_end == before.follower_end or (
        after.follower_end == before.end and not after.is_behind
    )
    return is_counted and catches_up and has_fetched and after.end in (before.end, before.end + 1)


@step(
    symptom="a leader does not hear of an election, or the ISR loses a replica that follows",
    log="none",
)
def election_is_announced(before: IsrPartition, after: IsrPartition) -> bool:
    """An election takes nobody out of the ISR but a follower that is behind, and the leader gets what is written."""
    premise(after.znode.epoch != before.znode.epoch)
    is_kept = after.znode.has_follower == before.znode.has_follower
    is_removed = before.znode.has_follower and before.is_behind and not after.znode.has_follower
    return before.request is None and after.request == after.znode and (is_kept or is_removed)


@step(
    symptom="a leader takes a change of its ISR for done that is not",
    log="none",
)
def answer_says_what_was_done(before: IsrPartition, after: IsrPartition) -> bool:
    """A change is written if it is of the present epoch and version; the answer says so."""
    premise(before.answer is None and after.answer is not None and before.in_flight is not None)
    assert before.in_flight is not None
    wanted, old = before.in_flight, before.znode
    if wanted.epoch < old.epoch:
        return after.outcome is Outcome.FENCED and after.znode == old == after.answer
    if wanted.has_follower == old.has_follower:
        return after.outcome is Outcome.WRITTEN and after.znode == old == after.answer
    if after.outcome is Outcome.WRITTEN:
        return wanted.version == old.version and after.znode.has_follower == wanted.has_follower
    return after.znode == old and (after.outcome is Outcome.FAILED) == (wanted.version == old.version)


@step(
    symptom="a leader asks for a change of its ISR that is not due",
    log="none",
)
def change_is_due(before: IsrPartition, after: IsrPartition) -> bool:
    """A leader asks for one change at a time, as it takes its ISR for another one than its follower shows."""
    premise(before.pending is IsrChange.NONE and after.pending is not IsrChange.NONE)
    is_expansion = after.pending is IsrChange.EXPANSION
    is_right = before.committed.has_follower != is_expansion and before.is_behind != is_expansion
    return is_right and before.unsent is None and after.unsent is not None


@always(
    symptom="the controller gets two changes of one ISR at one time",
    log="none: two AlterPartition requests of one partition are in flight",
)
def request_is_what_is_unsent(partition: IsrPartition) -> bool:
    """What is in flight counts as unsent until it is answered, unless an election has made room for another change."""
    premise(partition.in_flight is not None and partition.unsent is not None)
    return partition.in_flight == partition.unsent


@reachable()
def follower_has_left_and_joined(partition: IsrPartition) -> bool:
    """The follower has left the ISR and joined it again, and all is committed."""
    is_settled = partition.pending is IsrChange.NONE and partition.committed == partition.znode
    is_back = partition.lags > 0 and partition.znode.has_follower and partition.znode.version > 1
    return is_settled and is_back and 0 < partition.end == partition.high_watermark


@reachable()
def change_is_fenced(partition: IsrPartition) -> bool:
    """An election comes before a change that is in flight."""
    return partition.in_flight is not None and partition.in_flight.epoch < partition.znode.epoch


@step(
    symptom="a replica joins the ISR without the records of its leader",
    log="none",
)
def emptied_replica_is_outside_the_isr(before: IsrPartition, after: IsrPartition) -> bool:
    """A replica whose disk is replaced is outside the ISR, and has to copy all; a request under way is from before."""
    premise(before.disks < after.disks or (before.follower_end > 0 and after.follower_end == 0))
    is_outside = not before.znode.has_follower and before.request is None and after.znode == before.znode
    is_lost = before.follower_end > 0 and after.follower_end == 0 and after.is_behind and after.disks > before.disks
    return is_outside and is_lost and after.is_replaced == (before.in_flight is not None)


@reachable()
def emptied_replica_joins_again(partition: IsrPartition) -> bool:
    """A replica whose disk was replaced has all records again, and is in the ISR."""
    is_full = partition.follower_end == partition.end > 0 and not partition.is_behind
    return partition.disks > 0 and partition.znode.has_follower and is_full
