"""Properties of leader epochs: what is lost, or never ends, when followers truncate after elections."""

from __future__ import annotations

from kwalk.model.kafka.storage.domains import Offset
from kwalk.model.kafka.storage.leader_epochs import (
    MEMBERS,
    EpochPartition,
    Member,
    follows,
    is_of_an_unknown_epoch,
    is_out_of_range,
    latest_epoch,
    start_of,
)
from kwalk.model.kafka.storage.versions.leader_epochs import RESPONSES_ARE_OF_THEIR_EPOCH
from kwalk.model.language import always, premise, reachable, step, when_quiescent


@always(
    symptom="records that were acknowledged with acks=all are gone after a failover, though no election was unclean",
    log="none: the leader has a smaller end offset, or other records",
)
def committed_record_is_kept(partition: EpochPartition, offset: Offset) -> bool:
    """The leader has every committed record, as far as its log is not deleted."""
    premise(partition.leader is not None and offset < len(partition.committed))
    assert partition.leader is not None
    log = partition.replicas[partition.leader]
    premise(offset >= start_of(log))
    return offset < len(log.records) and log.records[offset] == partition.committed[offset]


@always(
    symptom="consumers read other records at the same offsets after a failover",
    log="none: kafka-replica-verification.sh, or the dumps of two brokers, differ",
)
def logs_agree(partition: EpochPartition, member: Member, offset: Offset) -> bool:
    """A follower that has truncated its log has no other record than its leader at an offset that both have."""
    premise(follows(partition, member) and not partition.replicas[member].is_truncating)
    assert partition.leader is not None
    leader, follower = partition.replicas[partition.leader], partition.replicas[member]
    premise(offset < min(len(leader.records), len(follower.records)))
    premise(offset >= start_of(leader) and offset >= start_of(follower))
    return leader.records[offset] == follower.records[offset]


@when_quiescent(
    symptom="a partition stays under-replicated after failovers: its follower truncates again and again",
    log="none: the follower logs the same truncation again and again",
)
def truncation_ends(partition: EpochPartition, member: Member) -> bool:
    """A live follower of a live leader ends its truncation, and fetches."""
    premise(partition.leader is not None and partition.replicas[member].is_up)
    return partition.leader == member or not partition.replicas[member].is_truncating


@always(
    symptom="a follower that asks this leader truncates too much: committed records may be lost with the next failover",
    log="none: leader-epoch-checkpoint has no line for an epoch of the log",
)
def epochs_of_the_log_are_known(partition: EpochPartition, member: Member) -> bool:
    """The latest leader epoch that a live replica knows is at least that of its last record."""
    replica = partition.replicas[member]
    premise(replica.is_up and len(replica.records) > start_of(replica))
    return latest_epoch(replica) >= replica.records[-1]


@always(
    symptom="a follower begins its log afresh again and again, and never catches up",
    log="none: each time the log begins above its end",
)
def log_does_not_end_below_its_start(partition: EpochPartition, member: Member) -> bool:
    """A log that begins afresh ends where it begins."""
    replica = partition.replicas[member]
    return start_of(replica) <= len(replica.records)


@always(
    symptom="a follower that asks this leader truncates to a wrong offset",
    log="none: leader-epoch-checkpoint has a line that the records of the log contradict",
)
def epochs_begin_where_their_records_do(partition: EpochPartition, member: Member) -> bool:
    """Each leader epoch that a replica knows begins with a record of that epoch, or at the end of the log, in order."""
    replica = partition.replicas[member]
    end = len(replica.records)
    return all(
        entry.start_offset == end or (entry.start_offset < end and replica.records[entry.start_offset] == entry.epoch)
        for entry in replica.epochs
    ) and all(
        a.epoch < b.epoch and a.start_offset < b.start_offset
        for a, b in zip(replica.epochs, replica.epochs[1:], strict=False)
    )


@when_quiescent(
    symptom="a replica stays out of the ISR, or records are not committed, although all brokers run",
    log="none: UnderReplicatedPartitions stays above 0",
)
def replicas_catch_up(partition: EpochPartition, member: Member) -> bool:
    """A live replica of a live leader is in the ISR at last, with all records, and all of them are committed."""
    premise(partition.leader is not None and partition.replicas[member].is_up)
    assert partition.leader is not None
    replica, end = partition.replicas[member], len(partition.replicas[partition.leader].records)
    return replica.is_in_isr and len(replica.records) == end and replica.high_watermark == end


@always(
    symptom="a partition stays offline although all of its brokers run again, until an unclean election",
    log="none: kafka-topics.sh --describe --unavailable-partitions shows an empty ISR",
)
def partition_can_be_led(partition: EpochPartition) -> bool:
    """The ISR has a member, live or not."""
    return any(replica.is_in_isr for replica in partition.replicas)


@always(
    symptom="a partition has no leader that answers, although a replica in the ISR is live",
    log="none: kafka-topics.sh --describe shows a broker that is down as leader",
)
def leader_is_live(partition: EpochPartition) -> bool:
    """A leader is up."""
    premise(partition.leader is not None)
    assert partition.leader is not None
    return partition.replicas[partition.leader].is_up


@always(
    symptom="producers with acks=all get no answer while a broker is down",
    log="none: kafka-topics.sh --describe shows a broker that is down in the ISR",
)
def dead_replica_leaves_the_isr(partition: EpochPartition, member: Member) -> bool:
    """A replica that is down is in the ISR only as its last member."""
    premise(not partition.replicas[member].is_up and partition.replicas[member].is_in_isr)
    return not any(other != member and partition.replicas[other].is_in_isr for other in MEMBERS)


@step(
    symptom="producers with acks=all get no answer from a leader that is alone in the ISR",
    log="none: kafka-get-offsets.sh shows an end that does not rise",
)
def lone_leader_commits(before: EpochPartition, after: EpochPartition) -> bool:
    """A record that a leader appends is committed if the leader is alone in the ISR."""
    premise(before.leader is not None and before.leader == after.leader)
    assert before.leader is not None
    leader = after.replicas[before.leader]
    premise(len(leader.records) > len(before.replicas[before.leader].records))
    premise(not any(other != before.leader and after.replicas[other].is_in_isr for other in MEMBERS))
    return leader.high_watermark == len(leader.records)


@step(
    symptom="records that consumers have read cannot be read for a while",
    log="none: kafka-get-offsets.sh shows an earlier end",
)
def high_watermark_goes_back_by_truncation(before: EpochPartition, after: EpochPartition, member: Member) -> bool:
    """A leader's high watermark does not go back; that of a follower that truncates, only to the end of its log."""
    old, new = before.replicas[member], after.replicas[member]
    premise(before.leader == after.leader == member or len(new.records) < len(old.records))
    return new.high_watermark >= min(old.high_watermark, len(new.records))


@step(
    symptom="a broker that is elected tells followers an end of an epoch that its log does not have",
    log="none: leader-epoch-checkpoint has a line for an offset at or above the end of the log",
)
def start_removes_epochs_without_records(before: EpochPartition, after: EpochPartition, member: Member) -> bool:
    """After a start, each epoch that a replica knows begins below the end of its log."""
    replica = after.replicas[member]
    premise(replica.is_up and not before.replicas[member].is_up)
    return all(entry.start_offset < len(replica.records) for entry in replica.epochs)


@step(
    symptom="a follower copies again what was replicated; if its leader fails meanwhile, acknowledged records are gone",
    log="Truncating … to offset … below high watermark …",
)
def truncation_spares_what_is_committed(before: EpochPartition, after: EpochPartition, member: Member) -> bool:
    """A follower does not remove records that it knows to be committed, and that its leader has."""
    old, new = before.replicas[member], after.replicas[member]
    premise(before.leader is not None and before.leader != member and len(new.records) < len(old.records))
    assert before.leader is not None
    leader = before.replicas[before.leader]
    premise(len(leader.records) >= old.high_watermark)
    premise(all(epoch == leader.records[at] for at, epoch in enumerate(old.records) if at < old.high_watermark))
    return len(new.records) >= old.high_watermark


@always(
    symptom="a partition stays under-replicated after failovers: its follower truncates again and again",
    log="none: the follower logs the same truncation again and again",
)
def follower_knows_no_later_epoch(partition: EpochPartition, member: Member) -> bool:
    """A follower that has truncated its log knows no epoch that begins at its end."""
    replica = partition.replicas[member]
    premise(replica.is_up and not replica.is_truncating and partition.leader not in (None, member))
    premise(start_of(replica) == 0 or len(replica.records) > start_of(replica))
    return not any(entry.start_offset >= len(replica.records) for entry in replica.epochs)


@step(
    symptom="after a failover consumers cannot read for a while what they have read before",
    log="none: kafka-get-offsets.sh shows an earlier end",
)
def follower_knows_what_is_committed(before: EpochPartition, after: EpochPartition, member: Member) -> bool:
    """A follower that gets a record knows the high watermark of its leader, as far as its own log goes."""
    premise(before.leader is not None and before.leader == after.leader and before.leader != member)
    assert before.leader is not None
    replica = after.replicas[member]
    premise(len(replica.records) > len(before.replicas[member].records))
    return replica.high_watermark >= min(before.replicas[before.leader].high_watermark, len(replica.records))


@always(
    symptom="consumers that fetch from a follower read records which no leader has, and others at these offsets later",
    log="Truncating … to offset … below high watermark …",
)
def follower_shows_what_is_committed(partition: EpochPartition, member: Member, offset: Offset) -> bool:
    """A live follower has the committed records below its high watermark."""
    replica = partition.replicas[member]
    premise(replica.is_up and partition.leader != member and offset < replica.high_watermark)
    premise(offset >= start_of(replica))
    return offset < len(partition.committed) and replica.records[offset] == partition.committed[offset]


@always(
    symptom="brokers stop, one after another, once a leader has a shorter log than they have",
    log="Exiting because log truncation is not allowed for partition …",
)
def broker_outlives_its_leaders_log(partition: EpochPartition) -> bool:
    """No broker exits as its leader's log is shorter."""
    return not any(replica.has_exited for replica in partition.replicas)


@always(
    symptom="records that a leader has lost are gone from the last broker that had them: it had exited to keep them",
    log="Halting because log truncation is not allowed for topic …",
)
def exit_spares_records(partition: EpochPartition, member: Member) -> bool:
    """A replica whose broker has exited, as its leader's log was shorter, has what it then knew to be committed."""
    replica = partition.replicas[member]
    premise(replica.exited_at is not None)
    assert replica.exited_at is not None
    return len(replica.records) >= replica.exited_at


@step(
    symptom="a broker stops that could follow its leader",
    log="Halting because log truncation is not allowed for topic …",
)
def exit_has_a_reason(before: EpochPartition, after: EpochPartition, member: Member) -> bool:
    """A broker exits as its log, which it does not truncate any more, is longer than that of its leader."""
    old, new = before.replicas[member], after.replicas[member]
    premise(old.exited_at is None and new.exited_at is not None)
    if before.leader is None or old.is_truncating:
        return False
    is_longer = len(old.records) > len(before.replicas[before.leader].records)
    return is_longer and not new.is_up and new.exited_at == old.high_watermark


@step(
    symptom="unclean.leader.election.enable=false does not keep what a leader has lost",
    log="none: the follower logs a truncation",
)
def fetch_keeps_the_log(before: EpochPartition, after: EpochPartition, member: Member) -> bool:
    """A follower that fetches loses no record."""
    old = before.replicas[member]
    premise(before.leader not in (None, member) and old.is_up and not old.is_truncating)
    return len(after.replicas[member].records) >= len(old.records)


@step(
    symptom="after a start a follower truncates to another offset than the high watermark that it had",
    log="none: replication-offset-checkpoint has another number",
)
def checkpoint_is_a_high_watermark(before: EpochPartition, after: EpochPartition, member: Member) -> bool:
    """What a broker writes into its checkpoint is the high watermark that it has in memory."""
    old, new = before.replicas[member], after.replicas[member]
    premise(old.checkpointed != new.checkpointed)
    return old.is_up and new.checkpointed == old.high_watermark


@step(symptom="a crash leaves another log than the disk has", log="none")
def crash_takes_the_end(before: EpochPartition, after: EpochPartition) -> bool:
    """A leader that is alone in the ISR is down, and has lost the end of its log, and no more."""
    premise(before.tail_losses < after.tail_losses and before.leader is not None)
    assert before.leader is not None
    old, new = before.replicas[before.leader], after.replicas[before.leader]
    is_shorter = len(new.records) < len(old.records) and not new.is_up and new.is_in_isr
    return is_shorter and all(epoch == old.records[at] for at, epoch in enumerate(new.records))


@reachable()
def exited_broker_is_back(partition: EpochPartition, member: Member) -> bool:
    """A broker that has exited runs again, and has truncated its log to a high watermark."""
    replica = partition.replicas[member]
    return replica.exited_at is not None and replica.exited_at > 0 and replica.is_up and not replica.is_truncating


@always(
    symptom="a log directory is offline after a crash of the machine: its file leader-epoch-checkpoint has no numbers",
    log="Malformed line in checkpoint file (…): …",
)
def epoch_file_can_be_read(partition: EpochPartition) -> bool:
    """A crash of the machine leaves no file of leader epochs that was not flushed."""
    return not any(replica.is_torn for replica in partition.replicas)


@reachable()
def follower_is_truncated_and_fetches(partition: EpochPartition) -> bool:
    """A follower has the same records as its leader, of two epochs, the latest of which has just begun."""
    return any(
        partition.leader is not None
        and partition.leader != member
        and not partition.replicas[member].is_truncating
        and len(partition.replicas[member].records) > 1
        and partition.replicas[member].records[-1] == partition.leader_epoch
        and partition.replicas[member].records[0] < partition.leader_epoch
        for member in MEMBERS
    )


@reachable()
def isr_is_whole_again(partition: EpochPartition) -> bool:
    """After a crash all replicas are live, and in the ISR, with a record."""
    return partition.crashes > 0 and all(
        replica.is_up and replica.is_in_isr and not replica.records.is_empty for replica in partition.replicas
    )


@always(
    symptom="a replica asks a broker that does not lead, and follows nobody",
    log="NOT_LEADER_FOR_PARTITION in responses to Fetch",
)
def unaware_replica_asks_another(partition: EpochPartition, member: Member) -> bool:
    """A replica that has missed an election is live, does not lead, and takes another one for its leader."""
    replica = partition.replicas[member]
    premise(replica.former_leader is not None)
    return replica.is_up and partition.leader != member and replica.former_leader not in (partition.leader, member)


@reachable()
def missed_election_is_made_up_for(partition: EpochPartition, member: Member) -> bool:
    """A replica that has missed an election has fetched from the leader of the next one."""
    replica = partition.replicas[member]
    is_aware = replica.former_leader is None and not replica.is_truncating and partition.leader != member
    return is_aware and partition.missed_elections > 0 and replica.known_end > 0 and partition.leader_epoch > 1


@reachable()
def former_leader_leads_again(partition: EpochPartition, member: Member) -> bool:
    """A replica has missed that its leader did not lead for a while, and has a record."""
    replica = partition.replicas[member]
    is_zombie = replica.former_leader is not None and replica.former_leader == partition.leader
    return is_zombie and partition.missed_elections > 1 and not replica.records.is_empty


@always(
    symptom="a replica stays out of the ISR; neither a restart nor an election helps, until more records are deleted",
    log="Unexpected error occurred while processing data for partition … at offset …",
)
def fetcher_does_not_give_up(partition: EpochPartition) -> bool:
    """No fetcher has marked the partition as failed."""
    return not any(replica.has_failed for replica in partition.replicas)


@when_quiescent(
    symptom="a follower leaves the ISR, and stays out until a record is appended; min.insync.replicas may forbid it",
    log="OFFSET_OUT_OF_RANGE in responses to Fetch",
)
def follower_is_answered(partition: EpochPartition, member: Member) -> bool:
    """A live follower of a live leader does not get OFFSET_OUT_OF_RANGE again and again."""
    premise(follows(partition, member) and not is_out_of_range(partition, member))
    return not is_of_an_unknown_epoch(partition, member)


@reachable()
def moved_log_leads(partition: EpochPartition) -> bool:
    """A leader whose log was moved has several records, of different epochs, and its follower has them."""
    return (
        partition.log_moves > 0
        and partition.leader is not None
        and all(
            len(replica.records) > 1 and replica.records[0] < replica.records[1] and not replica.is_truncating
            for replica in partition.replicas
        )
    )


@reachable()
def log_is_begun_afresh(partition: EpochPartition) -> bool:
    """A replica in the ISR has a log without epochs, as it begins where the leader's does."""
    return any(
        replica.is_in_isr and replica.is_up and replica.start_offset > 0 and replica.epochs.is_empty
        for replica in partition.replicas
    )


@step(
    symptom="after a failover a consumer that seeks to the end gets an earlier offset, and reads records again",
    log="none: kafka-get-offsets.sh shows an earlier end",
)
def told_end_does_not_go_back(before: EpochPartition, after: EpochPartition) -> bool:
    """The end of a partition that a consumer is told is no earlier one than before."""
    premise(after.end_lookups > before.end_lookups)
    return after.told_end >= before.told_end


@reachable()
def new_leader_tells_the_end(partition: EpochPartition) -> bool:
    """A consumer asks again after an election, and is told that there are several records."""
    return partition.end_lookups > 1 and partition.leader_epoch > 0 and partition.told_end > 1


@step(
    symptom="a follower truncates to a wrong offset, and differs from its leader for good",
    log="none: the follower logs a truncation",
)
def answer_is_where_the_epoch_ends(before: EpochPartition, after: EpochPartition, member: Member) -> bool:
    """A follower gets the offset to truncate to: of the first record of a later epoch than the answer's, or the end.

    An answer is late only if the follower has records there.
    """
    follower, answer = before.replicas[member], after.replicas[member].late_answer
    premise(follower.late_answer is None and answer is not None)
    assert answer is not None
    if before.leader is None or before.leader == member or not follower.is_truncating:
        return False
    records = before.replicas[before.leader].records
    return answer.end_offset < len(follower.records) and all(
        (epoch <= answer.epoch) == (at < answer.end_offset) for at, epoch in enumerate(records)
    )


@reachable()
def replica_leads_when_its_answer_comes(partition: EpochPartition) -> bool:
    """A replica was elected while its fetcher has an answer of the former leader."""
    return partition.leader is not None and partition.replicas[partition.leader].late_answer is not None


@reachable()
def asked_leader_leads_again(partition: EpochPartition) -> bool:
    """A leader leads again whose answer of an earlier leader epoch has not come yet; what it asks for is committed."""
    return any(
        replica.late_answer is not None
        and replica.asked_leader == partition.leader
        and replica.late_answer.end_offset < replica.high_watermark
        for replica in partition.replicas
    )


@step(symptom="a follower has records that no leader has sent", log="none")
def response_is_of_a_leader(before: EpochPartition, after: EpochPartition, member: Member) -> bool:
    """A response comes from the leader of its epoch, to a follower that lacks records, and adds one record then.

    It adds none once the follower knows of another election, and since KAFKA-18723 none of a later epoch.
    """
    old, new = before.replicas[member], after.replicas[member]
    added = len(new.records) - len(old.records)
    premise(old.response_from != new.response_from or (old.response_from is not None and added > 0))
    if new.response_from is not None:
        is_short = len(old.records) < len(before.replicas[new.response_from].records)
        is_led = new.response_from == before.leader and new.response_epoch == before.leader_epoch
        is_first = old.response_from is None and not old.is_truncating and after.late_bytes == before.late_bytes + 1
        return is_led and is_short and is_first and added == 0
    assert old.response_from is not None
    source = before.replicas[old.response_from].records
    is_same = old.response_from == before.leader and old.response_epoch == before.leader_epoch
    is_taken = not old.is_truncating and (is_same or old.former_leader == old.response_from)
    is_sent = any(
        at == len(old.records) and (epoch <= old.response_epoch or not RESPONSES_ARE_OF_THEIR_EPOCH)
        for at, epoch in enumerate(source)
    )
    return added == (1 if is_taken and is_sent else 0) and (added == 0 or new.records[-1] == source[len(old.records)])


@reachable()
def former_leader_has_other_bytes(partition: EpochPartition) -> bool:
    """The log of a former leader has a record of the next one where a response is to be read."""
    return any(
        replica.response_from is not None
        and replica.former_leader == replica.response_from
        and partition.leader_epoch in partition.replicas[replica.response_from].records
        for replica in partition.replicas
    )
