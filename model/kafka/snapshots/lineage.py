"""The lineage of logs: which of a partition's logs are copies of one another, and which are of another topic.

Words: two logs are *related* if they began as one log: they are the same, one is a prefix of the other, or they have
*diverged* at an offset. Otherwise they are *unrelated*, as the logs of two topics that had one name. A *lineage* is a
set of related logs. Logs of one topic id are related, unless their first batches differ, or they have diverged and are
both in the ISR: then nothing truncates one of them. Logs of different ids are unrelated, or an old client has erased
the id of one topic and a controller has minted another: what shows neither leaves both possible.

What is compared is in a capture without records: topic ids, leader-epoch checkpoints, the header of the first batch.

Source: kafka.server.epoch.LeaderEpochFileCache: an epoch has one leader, and so one start offset in all logs that have
it, unless their beginning has been deleted.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from itertools import accumulate, combinations, pairwise, product

from attrs import evolve, field, frozen

from kwalk.model.kafka.snapshots.capture import (
    Broker,
    Capture,
    Cleaning,
    Directory,
    Topic,
    kept_by_capture,
    topic_label,
)
from kwalk.model.kafka.snapshots.diagnosis import (
    epochs_ahead,
    followers_of_epoch,
    has_logs_of_one_topic,
    is_behind_logs,
    is_of_an_earlier_topic,
    listed,
    lost_state,
    served_without_state,
)


class Relation(Enum):
    """What two logs are to each other."""

    SAME = "the same, as far as is shown"
    PREFIX = "a prefix of the other"
    DIVERGED = "diverged"
    UNRELATED = "unrelated"
    UNKNOWN = "not shown"


@frozen
class LogComparison:
    """What two logs are to each other, and the fact that shows it."""

    relation: Relation
    fact: str = ""


BY_POLICY = "log.cleanup.policy of brokers, or an earlier one of the topic"
"""Why a cleaner may have rewritten a log whose topic is not compacted."""
UNLESS_CLEANED = f"unless a cleaner has rewritten them ({BY_POLICY})"
"""What bytes show nothing of where the cleaner's checkpoint was not read: a topic's own policy is that of now."""


def may_be_cleaned(*logs: Directory) -> bool:
    """Whether a cleaner may have rewritten batches, so that equal records have other headers and other sizes."""
    return any(log.cleaning >= Cleaning.POSSIBLE for log in logs)


def unless_cleaned(*logs: Directory) -> str:
    """Return the condition under which bytes or headers show that logs differ, behind a comma; empty if they do."""
    return f", {UNLESS_CLEANED}" if max(log.cleaning for log in logs) is Cleaning.NOT_SHOWN else ""


def _unless_rewritten(one: Directory, other: Directory) -> str:
    """Return the condition under which first batches at one offset show that two logs differ.

    A cleaner keeps their leader epochs.
    """
    first, second = one.first_batch, other.first_batch
    is_shown = first is not None and second is not None and first.leader_epoch != second.leader_epoch
    return "" if is_shown else unless_cleaned(one, other)


def epoch_at(log: Directory, offset: int) -> int | None:
    """Return the leader epoch of the record at an offset, by the checkpoint; None if it does not say."""
    return max(((start, epoch) for epoch, start in log.leader_epochs or () if start <= offset), default=(0, None))[1]


def differing_offset(one: Directory, other: Directory) -> int | None:
    """Return the first offset at which both logs have a record, of different leader epochs; None if there is none."""
    if one.is_compacted or other.is_compacted:
        return _differing_order(one, other)
    begin, end = max(one.start or 0, other.start or 0), min(one.least_end, other.least_end)
    bounds = sorted({begin, *(start for log in (one, other) for _, start in log.leader_epochs or ())})
    for offset in bounds:
        epochs = epoch_at(one, offset), epoch_at(other, offset)
        if begin <= offset < end and None not in epochs and epochs[0] != epochs[1]:
            return offset
    return None


def _differing_order(one: Directory, other: Directory) -> int | None:
    """Return the first offset from which on one log has a later leader epoch than the other one after it, or None.

    A cleaner removes batches, so that of two copies of one log either may lack leader epochs, or have the first record
    of one later. None of these epochs begins after a later one has begun. What retention has cut begins with an epoch
    whose records are not shown.
    """
    points = [
        [(epoch, start) for epoch, start in log.leader_epochs or () if start != log.start or not start]
        for log in (one, other)
    ]
    for log, known in zip((one, other), points, strict=True):
        known += [(epoch, max(start, log.least_end - 1)) for epoch, start in known[-1:]]
    found = [
        start
        for earlier, later in (points, points[::-1])
        for epoch, offset in earlier
        for other_epoch, start in later
        if epoch < other_epoch and offset >= start
    ]
    return min(found, default=None)


def compare(one: Directory, other: Directory) -> LogComparison:
    """Compare two logs of one partition.

    Args:
        one: A log.
        other: Another one.

    Returns:
        What they are to each other.
    """
    differs, first = differing_offset(one, other), one.first_batch
    if first is not None and first == other.first_batch:
        fact = f"the first batch at offset {first.base_offset} is the same"
        return _of_related(one, other, differs, fact)
    if first is not None and begin_apart(one, other):
        fact = f"the first batches at offset {first.base_offset} differ{_unless_rewritten(one, other)}"
        is_one = one.topic_id is not None and one.topic_id == other.topic_id
        return LogComparison(Relation.DIVERGED if is_one else Relation.UNRELATED, fact)
    if one.topic_id is not None and one.topic_id == other.topic_id:
        return _of_related(one, other, differs, "both have the same topic id")
    if differs is not None:
        return LogComparison(Relation.UNRELATED, f"the records at offset {differs} have different leader epochs")
    return LogComparison(Relation.UNKNOWN)


def next_leader(capture: Capture, topic: Topic, partition: int) -> int | None:
    """Return the leader that is live, or else the ISR member that a controller elects; None if there is none.

    Source: PartitionLeaderElectionAlgorithms.offlinePartitionLeaderElection.
    """
    state = topic.states.get(partition)
    if state is None or (state.leader is not None and capture.brokers[state.leader].alive):
        return state.leader if state else None
    return next((b for b in topic.partitions.get(partition, ()) if b in state.isr and capture.brokers[b].alive), None)


@frozen(order=True)
class LostRecords:
    """Records of a replica that the leader's log lacks.

    Attributes:
        offset: where they begin.
        condition: what must be so for it, behind a comma; empty if the leader epochs of both logs show it.
    """

    offset: int
    condition: str = ""


@kept_by_capture
def lost_records(capture: Capture, topic: Topic, partition: int) -> dict[int, LostRecords]:
    """Return the replicas with committed records that the leader's log lacks, and from which offset on.

    What is below a high watermark was in all logs of the ISR; where none is shown, what differs may be committed. What
    a follower has of the leader's own epoch, the leader's log had, too. A replica truncates what differs from the
    leader's log, also that of a leader that is only going to be elected, unless an epoch was given twice.

    Source: kafka.server.AbstractFetcherThread.truncateToEpochEndOffsets.
    """
    state, chosen = topic.states.get(partition), next_leader(capture, topic, partition)
    leader = None if chosen is None else capture.directory(chosen, topic.name, partition)
    if state is None or leader is None:
        return {}
    followers = followers_of_epoch(capture, topic, partition) if chosen == state.leader else {}
    found = {b: LostRecords(offset) for b, offset in followers.items()}
    for broker in topic.partitions.get(partition, ()):
        log = capture.directory(broker, topic.name, partition)
        if broker in {chosen, *found} or log is None or not capture.brokers[broker].seen:
            continue
        log = _without_lost_end(log, [leader])
        if keeps_difference(log, leader):
            continue
        later = _committed_after(log, leader, state.leader_epoch)
        if later is not None:
            found[broker] = LostRecords(later)
        elif chosen == state.leader and not capture.brokers[broker].alive:
            end = _end_in_own_epoch(log, leader)
            found |= {} if end is None else {broker: LostRecords(end, unless_cleaned(log, leader))}
        if broker in state.isr:
            continue
        missed = _missed(log, leader) if chosen == state.leader else _removed_beginning(log, leader)
        if missed is not None and not (missed.condition and broker in found):
            found[broker] = missed
    return found


def _missed(log: Directory, leader: Directory) -> LostRecords | None:
    """Return the committed records of a log that a leader's log lacks, or has others in their place."""
    differs, watermark = differing_offset(log, leader), log.high_watermark
    relation = compare(log, leader).relation
    if differs is None and relation in (Relation.SAME, Relation.PREFIX):
        end, watermark = end_of_last_epoch(log, leader), log.least_end if watermark is None else watermark
        if end is not None and watermark > end:
            return LostRecords(end)
    elif relation is Relation.DIVERGED and differs is not None and (watermark is None or watermark > differs):
        return LostRecords(differs)
    if not may_be_cleaned(log, leader) and not begin_apart(log, leader):
        sizes = _differing_sizes(leader, log)
        missing = sizes[0] if sizes and sizes[2] < sizes[3] else _missing_from(log, leader)
        if missing is not None:
            return LostRecords(missing, unless_cleaned(log, leader))
    return _removed_beginning(log, leader)


def _missing_from(one: Directory, leader: Directory) -> int | None:
    """Return an offset at which both logs begin a segment, if the leader's has too few bytes from there to a later one.

    The other log has as many before a segment that begins earlier, and has records in that: brokers roll segments at
    offsets of their own.
    """
    mine, its = _bytes_before(one), _bytes_before(leader)
    for base in sorted({*mine} & {*its}):
        for end in (at for at in its if at > base):
            last = max(at for at in mine if at < end)
            if (one.segments or {})[last] and its[end] - its[base] <= mine[last] - mine[base]:
                return base
    return None


def differ_unless_cleaned(one: Directory, other: Directory) -> bool:
    """Whether bytes or headers show a difference between copies that a cleaner makes, and none is known to have."""
    if not unless_cleaned(one, other) or not _may_be_one(one, other):
        return False
    missing = _missing_from(one, other), _missing_from(other, one)
    has_other_header = begin_apart(one, other) and bool(_unless_rewritten(one, other))
    return has_other_header or bool(_differing_sizes(one, other)) or missing != (None, None)


def _removed_beginning(log: Directory, leader: Directory) -> LostRecords | None:
    """Return the records of a log that were removed by hand from the beginning of a leader's log."""
    is_earlier = leader.is_cut_by_hand and log.is_empty is False and (log.start or 0) < (leader.start or 0)
    return LostRecords(log.start or 0) if is_earlier and _may_be_one(log, leader) else None


@kept_by_capture
def missed_by_members(capture: Capture, topic: Topic, partition: int) -> dict[int, dict[int, LostRecords]]:
    """Return the ISR members that lack committed records of replicas outside the ISR, while all are down.

    A member that starts leads; replicas outside the ISR then truncate their logs to its log, and delete what is before
    its beginning. So it is where segments were lost with a disk, and it has perhaps led since. For each member these
    replicas, with what it lacks of each.

    Kafka: AbstractFetcherThread.truncateToEpochEndOffsets; ReplicaFetcherThread.processPartitionData.
    """
    state = topic.states.get(partition)
    if state is None or topic.name in capture.deleting or any(capture.brokers[b].alive for b in state.isr):
        return {}
    logs = capture.logs_of({*topic.partitions.get(partition, ()), *state.isr}, topic.name, partition)
    found: dict[int, dict[int, LostRecords]] = {}
    for b in logs.keys() & {*state.isr}:
        others = {o: log for o, log in logs.items() if o not in state.isr and not keeps_difference(log, logs[b])}
        missed = {o: _missed(log, logs[b]) for o, log in others.items()}
        missed = {o: at for o, at in missed.items() if not is_of_an_earlier_topic(capture, topic, others[o])}
        if known := {o: at for o, at in missed.items() if at is not None}:
            found[b] = known
    return found


def _end_in_own_epoch(log: Directory, leader: Directory) -> int | None:
    """Return the least end of a leader's log, where that of a broker which is down has more of its leader epoch.

    The leader has lost its end, or there were two leaders: what a follower has of the leader's own epoch, it had.
    """
    mine, its = max(log.leader_epochs or ((-1, 0),)), max(leader.leader_epochs or ((-1, 0),))
    is_own = mine == its and its[0] >= 0 and _have_same_epochs(log, leader)
    return leader.least_end if is_own and _continues_longer(leader, log) else None


def _committed_after(log: Directory, leader: Directory, epoch: int) -> int | None:
    """Return where a log has committed records of a leader epoch after the last one of the leader's log.

    An ISR member has all committed records, and so their leader epochs; a log whose relation is not shown is not asked.
    Where no high watermark is shown, all records may be committed. Earlier leader epochs may be gone by a cleaning.
    """
    same_id = log.topic_id is not None and log.topic_id == leader.topic_id
    if not (same_id or _begin_alike(log, leader)) or not leader.last_epochs:
        return None
    committed = log.least_end if log.high_watermark is None else log.high_watermark
    last = leader.last_epochs[-1 if leader.is_compacted or log.is_compacted else 0]
    has = {known for known, _ in leader.leader_epochs or ()}
    starts = [start for known, start in log.leader_epochs or () if last < known <= epoch and known not in has]
    return min((start for start in starts if start < committed), default=None)


def records_elsewhere(capture: Capture, topic: Topic, partition: int) -> dict[int, str]:
    """Return the brokers that are no replicas, and have records that no replica has, with what shows it.

    So it is where disks were attached to other brokers, or ZooKeeper is older than a reassignment, or replicas were
    written by hand, perhaps without a state. A log that is left over from an earlier assignment has nothing but what
    the leader has, or has deleted: no leader epoch of the topic above ZooKeeper's, whatever the replicas have that were
    not seen.
    """
    state, replicas = topic.states.get(partition), topic.partitions.get(partition, ())
    if topic.name in capture.deleting or not replicas:
        return {}
    epoch = NO_LATER_EPOCH if state is None else state.leader_epoch
    members = dict.fromkeys([*replicas, *(state.isr if state else ())])  # of which the ISR may name others
    are_shown = all(capture.shows(b, topic.name, partition) for b in members)
    held = [log for b in members if (log := capture.directory(b, topic.name, partition)) is not None]
    logs = [log for log in held if not is_of_an_earlier_topic(capture, topic, log)]
    leader = None if state is None else state.leader
    others = [b for b in capture.brokers.values() if b.id not in {*members, leader} and b.seen]
    same, found = same_disks(capture, topic, partition), dict[int, str]()
    for broker in others:
        log = capture.directory(broker.id, topic.name, partition)
        is_other = log is not None and None not in (log.topic_id, topic.topic_id) and log.topic_id != topic.topic_id
        if log is None or is_other or log.is_empty is not False or broker.id in same:
            continue
        if state is None and not logs and log.topic_id is None:
            continue  # the topic may have been created just now
        fact = _lacking(log, logs, epoch, topic) if are_shown else ""
        last = max((known for known, _ in log.leader_epochs or ()), default=-1)
        if not are_shown and log.topic_id is not None and log.topic_id == topic.topic_id and last > epoch:
            fact = f"its log has leader epoch {last}, and ZooKeeper {epoch}"
        if fact:
            found[broker.id] = fact
    return found


def _lacking(log: Directory, replicas: Sequence[Directory], epoch: int, topic: Topic) -> str:
    """Return what shows that no replica has all that a log of none has; empty if nothing does."""
    if all(one.is_empty for one in replicas):
        begins = max((one.start or 0 for one in replicas), default=0)
        return f"no replica has a record, and its log has some before offset {log.least_end}" * (log.least_end > begins)
    last = max((known for known, _ in log.leader_epochs or ()), default=-1)
    relations = [compare(log, one).relation for one in replicas]
    if last > epoch:
        is_related = not {Relation.UNKNOWN, Relation.UNRELATED} & {*relations}
        ahead = [one for one in replicas if max((known for known, _ in one.leader_epochs or ()), default=-1) >= last]
        is_related = is_related and all(ends_after(log, one) for one in ahead)  # the state may be behind all
        return f"its log has leader epoch {last}, and ZooKeeper {epoch}" * is_related
    lacks, conditions = [], set[str]()
    for one, relation in zip(replicas, relations, strict=True):
        differs, end = differing_offset(log, one), end_of_last_epoch(log, one)
        if differs is None and relation is Relation.DIVERGED and log.first_batch and begin_apart(log, one):
            differs = log.first_batch.base_offset
            conditions.add(_unless_rewritten(log, one))
        known = {Relation.DIVERGED: differs, Relation.SAME: end, Relation.PREFIX: end}.get(relation)
        sizes = _differing_sizes(one, log) if relation is Relation.DIVERGED else None
        if known is None and sizes and sizes[2] < sizes[3]:
            known = sizes[0]
            conditions.add(unless_cleaned(log, one))
        known = _committed_after(log, one, epoch) if known is None else known
        committed = log.least_end if log.high_watermark is None else log.high_watermark
        lacks += [known] if known is not None and known < committed else []
    if len(lacks) < len(replicas):
        return ""
    condition = max(conditions, default="")
    return f"it has committed records from offset {min(lacks)} on, which the replicas lack{condition}"


def end_of_last_epoch(log: Directory, leader: Directory) -> int | None:
    """Return where the leader's records of a log's last epoch end, as a later epoch begins there; None if none does.

    A follower truncates its log to this offset, though the leader may have no record after it.
    """
    last = max((epoch for epoch, _ in log.leader_epochs or ()), default=None)
    if last is None:
        return None
    return min((start for epoch, start in leader.leader_epochs or () if epoch > last), default=None)


def epochs_given_twice(one: Directory, other: Directory) -> dict[int, list[str]]:
    """Return the leader epochs that two logs have with different start offsets, with these: each had two leaders.

    So it is where ZooKeeper was restored from a backup, or a machine was cloned. Of the first epoch of a checkpoint
    nothing is known: a deletion of records moves its start. A cleaner moves them all.
    """
    if one.is_compacted or other.is_compacted:
        return {}
    mine, its = (dict((log.leader_epochs or ())[1:]) for log in (one, other))
    shared = sorted(mine.keys() & its.keys())
    return {e: [str(start) for start in sorted((mine[e], its[e]))] for e in shared if mine[e] != its[e]}


def truncation_offset(log: Directory, leader: Directory) -> int | None:
    """Return the offset to which a follower truncates its log, by leader epochs; None if they do not decide.

    It asks where the leader's records of its own last epoch end, and again after each truncation to an epoch that only
    the leader has. Where the leader has no later epoch, its log is taken to end after the follower's.

    Kafka: AbstractFetcherThread.getOffsetTruncationState; LeaderEpochFileCache.endOffsetFor.
    """
    own, has, end = dict(log.leader_epochs or ()), dict(leader.leader_epochs or ()), log.least_end
    while own:
        asked = max(own)
        later = [start for epoch, start in has.items() if epoch > asked]
        if not later and asked not in has:
            return None  # a leader epoch that the leader never had: OFFSET_OUT_OF_RANGE
        answered = asked if asked in has else max((epoch for epoch in has if epoch < asked), default=asked)
        end = min([end, *(start for epoch, start in own.items() if epoch > answered)])
        if answered in own:
            return min([end, *later, *([] if leader.end is None else [leader.end])])
        own = {epoch: start for epoch, start in own.items() if epoch < answered}
    return None


def keeps_difference(log: Directory, leader: Directory) -> bool:
    """Whether a follower may keep records that differ from the leader's, as an epoch was given twice.

    It joins the ISR with them: seen on 2.5.0, 2.8.2 and 3.9.0.
    """
    starts = [int(starts[0]) for starts in epochs_given_twice(log, leader).values()]
    kept = truncation_offset(log, leader)
    return bool(starts) and kept is not None and min(starts) < kept


def is_of_another_leader(log: Directory, leader: Directory) -> bool:
    """Whether a log has records of the topic that another leader wrote, in a leader epoch that was given twice.

    The first epoch was, too, where logs with one topic id begin apart: so it is if a state was removed by hand.
    """
    is_one = log.topic_id is not None and log.topic_id == leader.topic_id
    return keeps_difference(log, leader) or (is_one and begin_apart(log, leader))


def begin_apart(one: Directory, other: Directory) -> bool:
    """Whether the first batches of two logs show that they are not copies: at one offset they have different headers.

    A cleaner rewrites batches, on each broker at another time, and keeps their offsets and leader epochs.
    """
    first, second = one.first_batch, other.first_batch
    if first is None or second is None or first.base_offset != second.base_offset:
        return False
    return first.leader_epoch != second.leader_epoch or (not may_be_cleaned(one, other) and first != second)


def _of_related(one: Directory, other: Directory, differs: int | None, fact: str) -> LogComparison:
    if differs is not None:
        return LogComparison(Relation.DIVERGED, f"the records at offset {differs} have different leader epochs")
    for epoch, starts in epochs_given_twice(one, other).items():
        return LogComparison(Relation.DIVERGED, f"leader epoch {epoch} begins at offset {listed(starts)}")
    if sizes := _differing_sizes(one, other):
        base, after, mine, its = sizes
        text = (
            f"between the offsets {base} and {after} they have {mine:,} and {its:,} bytes{unless_cleaned(one, other)}"
        )
        return LogComparison(Relation.DIVERGED, text)
    ends = one.segments, other.segments
    is_longer = one.leader_epochs != other.leader_epochs or (None not in ends and ends[0] != ends[1])
    return LogComparison(Relation.PREFIX if is_longer else Relation.SAME, fact)


# The lineages of a partition.

OWN, OTHER = 1, 2
"""The lineage that a partition is to have: the incarnation of the topic in the model. Others are 0 and 2."""
MOST_LINEAGES = 3
MOST_RECORDS = 4
"""The most records of a log in the model: one for each range of offsets between changes of the leader epoch."""


NO_LATER_EPOCH = 2**31 - 1
"""A leader epoch that no log is above: of partitions without a state."""
KEEPING = "to keep the records that"
"""How the premise of a choice between logs begins that keeps some of them."""
EPOCH_DISTANCE = 8
"""By how much leader epochs differ where ZooKeeper's is an older one: elections before a rest do not make it up."""


@frozen
class LogContent:
    """What a log has in the model: the leader epochs of its records, and the lineage of each record."""

    epochs: tuple[int, ...]
    lineages: tuple[int, ...]


@frozen
class LaterState:
    """A state of a partition that running brokers have in memory, and that is later than ZooKeeper's, or lost there.

    Attributes:
        leader: the broker that leads; None if none does.
        leader_epoch: the leader epoch.
        isr: the ISR.
        restarted: replicas that run, and have taken up ZooKeeper's state since: they follow its leader. Without a state
            in ZooKeeper they have nothing open.
        is_known: whether the controller has it in memory, too; else it has read ZooKeeper's.
    """

    leader: int | None
    leader_epoch: int
    isr: frozenset[int]
    restarted: frozenset[int] = frozenset()
    is_known: bool = False

    def numbered(self, brokers: Sequence[int], ranks: Mapping[int, int]) -> LaterState:
        """Return it in the numbers of brokers, and of leader epochs, that a case has."""
        return evolve(
            self,
            leader=None if self.leader not in brokers else brokers.index(self.leader),
            leader_epoch=ranks[self.leader_epoch],
            isr=frozenset(brokers.index(b) for b in self.isr if b in brokers),
            restarted=frozenset(brokers.index(b) for b in self.restarted),
        )


@frozen
class LineageCase:
    """One possibility of what the logs of a partition are, with the records that show it in the model.

    Attributes:
        logs: for each broker of a situation what its log has; None without a directory.
        leader_epoch: the leader epoch in ZooKeeper, in the numbers of this case.
        committed: the numbers of the brokers whose logs have all that was acknowledged; empty if no log has anything.
        later: what brokers have in memory, where ZooKeeper's state is older than the logs.
    """

    logs: tuple[LogContent | None, ...]
    leader_epoch: int
    committed: frozenset[int] = frozenset()
    later: LaterState | None = None

    def has_own_log(self, number: int | None) -> bool:
        """Whether all that the log of a broker has, by its number in the situation, is of the kept lineage."""
        content = None if number is None else self.logs[number]
        return content is None or {*content.lineages} <= {OWN}


@frozen
class Choice:
    """Which lineage a partition is to have, and the cases of what its logs are.

    Attributes:
        keeps: the brokers whose logs have it; none if it is an empty log that the topic begins with.
        cases: the cases.
        premise: a clause that says what is wanted, or what must be true; empty if there is no other choice.
        without: brokers whose assumed logs do not exist: their disks are those of others.
    """

    keeps: tuple[int, ...]
    cases: tuple[LineageCase, ...]
    premise: str = ""
    without: frozenset[int] = frozenset()


@frozen
class Lineages:
    """The logs of a partition: which are related for sure, and which are not.

    Attributes:
        brokers: the brokers, in the order of the situation.
        logs: their directories.
        groups: brokers whose logs are related.
        unrelated: pairs of groups, by their numbers, whose logs are not related, with the fact that shows it.
        earlier: groups of earlier topics of the name, with the fact that shows it.
        isr: the brokers in the ISR, without those whose logs lack records, but with those that have them; those with
            the newest logs, if ZooKeeper's state is older than all logs, or gone.
        later: what brokers may have in memory in place of such a state.
        is_spaced: whether leader epochs differ by EPOCH_DISTANCE in the model: a log's is later than ZooKeeper's.
    """

    brokers: tuple[int, ...]
    logs: Mapping[int, Directory]
    groups: tuple[tuple[int, ...], ...]
    unrelated: Mapping[frozenset[int], str] = field(factory=dict)
    earlier: Mapping[int, str] = field(factory=dict)
    isr: tuple[int, ...] = ()
    later: tuple[LaterState, ...] = ()
    is_spaced: bool = False

    def group_of(self, broker: int) -> int | None:
        """Return the number of the group with a broker's log; None if it has none."""
        return next((number for number, group in enumerate(self.groups) if broker in group), None)

    def partitions(self) -> Iterator[tuple[tuple[int, ...], ...]]:
        """Yield the ways in which groups may form lineages, each as tuples of groups."""
        for parts in _set_partitions(tuple(range(len(self.groups)))):
            together = (frozenset(pair) for part in parts for pair in combinations(part, 2))
            if not any(pair in self.unrelated for pair in together):
                yield parts

    def without(self, brokers: Iterable[int]) -> Lineages:
        """Return the lineages if some logs do not exist."""
        gone = set(brokers)
        left = {number: tuple(b for b in group if b not in gone) for number, group in enumerate(self.groups)}
        places = {number: place for place, number in enumerate(n for n, group in left.items() if group)}
        return evolve(
            self,
            logs={b: log for b, log in self.logs.items() if b not in gone},
            groups=tuple(group for group in left.values() if group),
            unrelated={
                frozenset(places[n] for n in pair): fact
                for pair, fact in self.unrelated.items()
                if pair <= places.keys()
            },
            earlier={places[n]: fact for n, fact in self.earlier.items() if n in places},
        )


def lineages_of(
    capture: Capture,
    topic: Topic,
    partition: int,
    brokers: Sequence[int],
    *,
    earlier: Mapping[int, str],
    unseen: Collection[int] = (),
    failed: Collection[int] = (),
) -> Lineages:
    """Return the lineages of a partition's logs.

    A log that was not seen is the partition's if its broker is in the ISR, or its disk has failed; else of any topic.

    Args:
        capture: The capture.
        topic: The topic.
        partition: The partition.
        brokers: The brokers of the situation.
        earlier: The brokers whose logs are of an earlier topic of the name, with the fact that shows it.
        unseen: The replicas whose logs were not seen.
        failed: The replicas whose logs are on disks that have failed.

    Returns: Which logs are related, and which are not.
    """
    isr, newest = set(in_sync(capture, topic, partition)), newest_logs(capture, topic, partition)
    on_failed = dict.fromkeys(failed, Directory(id_on_failed_disks(capture, topic, partition)))
    assumed = {b: Directory(topic.topic_id if b in isr else None) for b in unseen} | on_failed
    logs = _logs_of(capture, topic, partition, brokers, assumed)
    outdated = [b for b in isr - assumed.keys() if is_outdated(capture, topic, partition, b, logs.get(b))]
    isr = set(newest) or (set() if outdated else _with_records(capture, topic, partition, isr))
    compared = {(a, b): compare(logs[a], logs[b]) for a, b in combinations(logs, 2)}
    apart = {
        (a, b): one.fact for (a, b), one in compared.items() if _stay_apart(one, logs[a], logs[b], in_isr={a, b} <= isr)
    }
    related = [pair for pair, one in compared.items() if one.relation is not Relation.UNKNOWN and pair not in apart]
    unknown = (pair for pair, one in compared.items() if one.relation is Relation.UNKNOWN)
    related += [pair for pair in unknown if _is_taken_for_related(*pair, logs, {*isr, *failed}, assumed)]
    groups = _groups(tuple(logs), related, apart, next_leader(capture, topic, partition))
    numbers = {b: number for number, group in enumerate(groups) for b in group}
    unrelated = {frozenset((numbers[a], numbers[b])): fact for (a, b), fact in apart.items()}
    foreign = {numbers[b]: fact for b, fact in earlier.items() if b in numbers}
    for number, other in product(foreign, set(range(len(groups))) - foreign.keys()):
        unrelated.setdefault(frozenset((number, other)), foreign[number])
    found = Lineages(tuple(brokers), logs, groups, unrelated, foreign, newest or tuple(isr))
    ahead = partition not in topic.states or bool(epochs_ahead(capture, topic, partition, logs))
    return evolve(found, later=(*later_states(capture, topic, partition, newest),), is_spaced=ahead)


def _logs_of(
    capture: Capture, topic: Topic, partition: int, brokers: Iterable[int], assumed: Mapping[int, Directory]
) -> dict[int, Directory]:
    """Return the logs of brokers, that of an only ISR member which has lost its end without what checkpoints say."""
    logs = {b: log for b in brokers if (log := assumed.get(b) or capture.directory(b, topic.name, partition))}
    cut = [b for b in logs if has_lost_its_end(capture, topic, partition, b)]
    return {**logs, **{b: _without_lost_end(logs[b], logs.values()) for b in cut}}


def _with_records(capture: Capture, topic: Topic, partition: int, isr: Collection[int]) -> set[int]:
    """Return the ISR without members whose logs lack records, but with the replicas that have these."""
    short = members_lacking_records(capture, topic, partition)
    having = {b for others in short.values() for b in ({*others} & {*isr} or {*others})}
    return ({*isr} | having) - {*lagging_members(capture, topic, partition), *short}


def _stay_apart(compared: LogComparison, one: Directory, other: Directory, *, in_isr: bool) -> bool:
    """Whether two logs are of different lineages; of diverged ones, no ISR member truncates its own."""
    if compared.relation is Relation.DIVERGED:
        in_isr = in_isr or keeps_difference(one, other) or keeps_difference(other, one)
        return in_isr or begin_apart(one, other)
    return compared.relation is Relation.UNRELATED


def _is_taken_for_related(
    a: int, b: int, logs: Mapping[int, Directory], isr: Collection[int], unseen: Collection[int]
) -> bool:
    """Whether two logs of which nothing shows a difference are taken for copies of one another.

    So are two ISR members of which one was not seen, and logs without ids that are both in the ISR or both outside.
    """
    if a in unseen or b in unseen:
        return a in isr and b in isr
    return logs[a].topic_id is None and logs[b].topic_id is None and (a in isr) == (b in isr)


def is_outdated(capture: Capture, topic: Topic, partition: int, owner: int, log: Directory | None) -> bool:
    """Whether a log may not be that of the only ISR member: others may have records that it lacks.

    A broker that begins a leader epoch writes it to its checkpoint; the controller that found it gone has raised it
    once, and each controller that was elected since has, too. So a log without the last leader epochs is outdated only
    if a replica has more, or was not seen.

    Kafka: Partition.makeLeader: maybeAssignEpochStartOffset; ReplicaStateMachine.startup, doRemoveReplicasFromIsr.

    Args:
        capture: The capture.
        topic: The topic.
        partition: The partition.
        owner: The replica that has the log.
        log: The log; None if it is gone.
    """
    if has_lost_its_end(capture, topic, partition, owner):
        return True
    state, having = topic.states.get(partition), members_lacking_records(capture, topic, partition).get(owner)
    if state is not None and having and not {*having} & {*state.isr}:
        return True
    if log is None and state is not None and all(capture.lacks(b, topic.name, partition) for b in state.isr):
        return True
    if state is not None and state.isr == (owner,) and is_displaced(capture, topic, partition, owner):
        return True
    log = log or Directory(leader_epochs=())
    others = [b for b in topic.partitions.get(partition, ()) if b != owner]
    known = (other for b in others if (other := capture.directory(b, topic.name, partition)) is not None)
    if state is not None and (state.leader, state.isr) == (owner, (owner,)) and not capture.brokers[owner].alive:
        led = [epoch for epoch, _ in log.leader_epochs or () if epoch >= state.leader_epoch]
        return not led and any(_has_more(other, log) and ends_after(other, log) for other in known)
    if not lacks_last_epochs(topic, partition, log):
        return False
    return (
        not log.leader_epochs
        or not all(capture.shows(b, topic.name, partition) for b in others)
        or any(_has_more(other, log) for other in known)
    )


def is_displaced(capture: Capture, topic: Topic, partition: int, owner: int) -> bool:
    """Whether a broker has the log of another topic, unlike a replica, in the place of the log that it had."""
    known = capture.logs_of({owner, *topic.partitions.get(partition, ())}, topic.name, partition)
    log = known.get(owner)
    if log is None or not is_of_an_earlier_topic(capture, topic, log):
        return False
    own = (one for one in known.values() if one.topic_id == topic.topic_id)
    return any(compare(one, log).relation is Relation.UNRELATED for one in own)


def has_lost_its_end(capture: Capture, topic: Topic, partition: int, owner: int) -> bool:
    """Whether the log of the only ISR member is shorter than one that copied it, as after a loss of power.

    Followers append the batches of the leader: in one leader epoch none has more than the leader had, or records of its
    own leader epoch that it lacks.

    Kafka: Log.appendAsFollower; a crash loses what was not flushed, and recovery cuts what is damaged.
    """
    state, log = topic.states.get(partition), capture.directory(owner, topic.name, partition)
    if state is None or state.isr != (owner,) or capture.brokers[owner].alive:
        return False
    if state.leader == owner and followers_of_epoch(capture, topic, partition):
        return True
    if log is None or not log.leader_epochs or not log.segments:
        return False
    others = [*capture.logs_of({*topic.partitions.get(partition, ())} - {owner}, topic.name, partition).values()]
    left = _without_lost_end(log, others)
    are_comparable = (other for other in others if left is not log or _have_same_epochs(log, other))
    return any(_continues_longer(left, other) for other in are_comparable)


def _without_lost_end(log: Directory, others: Iterable[Directory]) -> Directory:
    """Return a log without leader epochs that begin after its end, and checkpoints, if the bytes of copies show these.

    It has lost segments since: a leader begins an epoch at the end of its log. Of a cleaned one, bytes show nothing.
    """
    kept = epochs = log.leader_epochs or ()
    for other in others:
        if may_be_cleaned(log, other):
            continue
        base = _comparable_from(log, other)
        is_copy = _may_be_one(log, other) and not begin_apart(log, other)
        if is_copy and base is not None and other.segments:
            size, before = _bytes_from(log, base), _bytes_before(other)
            ends = [at for at, found in before.items() if at > base and found - before[base] >= size]
            kept = tuple(one for one in kept if one[1] <= min(ends, default=one[1]))
    return log if kept == epochs else evolve(log, leader_epochs=kept, recovery_point=None, high_watermark=None)


@kept_by_capture
def members_lacking_records(capture: Capture, topic: Topic, partition: int) -> dict[int, tuple[int, ...]]:
    """Return the ISR members whose logs lack records of other replicas, with the brokers that have these.

    So is the log of a broker whose disk was replaced, and which was back before the controller noticed that it had
    stopped. The end of a log is shown where its last segment is empty. What a replica outside the ISR has may not have
    been committed, unless its high watermark says so, or the member has nothing; nor are records that all members
    are about to copy.

    Kafka: an ISR member may be elected, and the others truncate their logs to the leader's
    (AbstractFetcherThread.truncateToEpochEndOffsets, fetchOffsetAndTruncate).
    """
    state = topic.states.get(partition)
    if state is None or topic.name in capture.deleting:
        return {}
    hosts = dict.fromkeys([*topic.partitions.get(partition, ()), *state.isr])
    logs = dict(capture.logs_of(hosts, topic.name, partition))
    logs |= dict.fromkeys(emptied_brokers(capture, topic, partition), Directory(topic.topic_id, (), segments={0: 0}))
    found: dict[int, tuple[int, ...]] = {}
    leader = next_leader(capture, topic, partition)
    for b, log in logs.items():
        if b not in state.isr or log.end is None:
            continue
        more = (
            other
            for other, one in logs.items()
            if one.least_end > log.end
            and _may_be_one(log, one)
            and (other in state.isr or log.end == 0 or (one.high_watermark or 0) > log.end)
            and (b == leader or not _are_in_flight(one, log.end))
        )
        if having := tuple(more):
            found[b] = having
    members = {b: log for b, log in logs.items() if b in state.isr}
    for b, others in _outdated_members(members, state.leader_epoch, leader).items():
        found[b] = tuple(dict.fromkeys((*found.get(b, ()), *others)))
    for b, missed in missed_by_members(capture, topic, partition).items():
        found[b] = tuple(dict.fromkeys((*found.get(b, ()), *missed)))
    return {b: having for b, others in found.items() if (having := tuple(o for o in others if o not in found))}


def emptied_brokers(capture: Capture, topic: Topic, partition: int) -> frozenset[int]:
    """Return the brokers with no log of a partition on disk, and none in memory: the next that they make is empty.

    They have renamed the one that they had, to delete it; or say that no controller has told them of a replica.

    Kafka: LogManager.asyncDelete; LogManager.getOrCreateLog.
    """
    renamed = re.compile(re.escape(f"{topic.name}-{partition}.") + r"[0-9a-f]+-delete")
    return frozenset(
        b
        for b, broker in capture.brokers.items()
        if capture.lacks(b, topic.name, partition)
        and (broker.replicas.get((topic.name, partition), ()) is None or any(map(renamed.fullmatch, broker.set_aside)))
    )


def _are_in_flight(log: Directory, end: int) -> bool:
    """Whether what a log has from an offset on is shown not to be committed yet, as the first records of a topic are.

    Kafka: ReplicaManager.checkpointHighWatermarks, each 5 s; a log is flushed as a segment ends, or its broker stops.
    """
    return log.high_watermark is not None and max(log.high_watermark, log.recovery_point or 0) <= end


def _outdated_members(members: Mapping[int, Directory], epoch: int, leader: int | None) -> dict[int, tuple[int, ...]]:
    """Return the members whose logs lack leader epochs of records that others have committed, with these others.

    A follower that fetches has them in a moment; so a snapshot may show two moments, or the log is an old copy. What
    the leader lacks is a loss (`lost_records`); of logs that diverged, none is an old copy of another.

    Kafka: Partition.maybeIncrementLeaderHW: no high watermark is above the end of an ISR member's log.

    Args:
        members: the logs of the ISR.
        epoch: the partition's leader epoch.
        leader: the broker that leads, or is elected next.
    """
    pairs = combinations(members.values(), 2)
    compared = (compare(one, other) for one, other in pairs)
    if any(one.relation is Relation.DIVERGED for one in compared):
        return {}
    followers = {b: log for b, log in members.items() if b != leader}
    found = {
        b: tuple(o for o, one in members.items() if _committed_after(one, log, epoch) is not None)
        for b, log in followers.items()
    }
    return {b: having for b, having in found.items() if having}


def last_copies_aside(
    capture: Capture, topic: Topic, partition: int, gone: Collection[int] = ()
) -> dict[tuple[int, str], Directory]:
    """Return the copies that brokers move between log directories, or delete, whose records no log in use has.

    These are the directories that end in -future and -delete, by broker and name. What has the id of an earlier topic
    is none of its records. Logs in use are those of ISR members, and that of the broker itself; where nothing shows
    that they end before, or lack committed records, they have the records.

    Kafka: LogManager.loadLog: a broker that starts deletes what ends in -delete, after file.delete.delay.ms.

    Args:
        capture: The capture.
        topic: The topic.
        partition: The partition.
        gone: Brokers that are gone for good.
    """
    if topic.name in capture.deleting:
        return {}
    state, found = topic.states.get(partition), dict[tuple[int, str], Directory]()
    for broker in (one for one in capture.brokers.values() if one.id not in gone):
        members = {broker.id, *(state.isr if state else ())} - {*gone}
        used = [capture.directory(b, topic.name, partition) for b in members]
        for name, aside in broker.set_aside.items():
            if name.rpartition(".")[0] != f"{topic.name}-{partition}" or not name.endswith(("-future", "-delete")):
                continue
            is_other = None not in (aside.topic_id, topic.topic_id) and aside.topic_id != topic.topic_id
            epoch = NO_LATER_EPOCH if state is None else state.leader_epoch
            lacking = (log is None or _has_more_committed(aside, log, epoch) for log in used)
            is_copied = not all(lacking)
            if not is_other and not is_copied and aside.is_empty is not True:
                found[broker.id, name] = aside
    return found


def _has_more_committed(aside: Directory, used: Directory, epoch: int) -> bool:
    """Whether a copy that was set aside has records that a log in use is shown to lack."""
    if used.end is not None:
        return used.end < aside.least_end
    later = _committed_after(aside, used, epoch)
    return later is not None or _missed(aside, used) is not None


def lagging_members(capture: Capture, topic: Topic, partition: int) -> dict[int, int]:
    """Return the ISR members whose logs lack records of another one while all are down, with the one that has most.

    The first that starts leads, and the others truncate their logs. So are old copies that were brought back, without
    the last leader epoch (seen on 2.8.2 and 3.9.0); and logs that lost their end with the power, where one was not
    closed, or that ended before what was committed. A member may also lack what was not committed: then the other one
    is as good. None are returned if nothing shows which one has most (`unordered_members`).
    """
    state = topic.states.get(partition)
    if (
        state is None
        or any(capture.brokers[b].alive for b in state.isr)
        or unordered_members(capture, topic, partition)
    ):
        return {}
    lacking = members_lacking_records(capture, topic, partition)
    found = {b: capture.directory(b, topic.name, partition) for b in state.isr if b not in lacking}
    lagging = {b: having[0] for b, others in lacking.items() if (having := [o for o in others if o in found])}
    filled = [b for b, log in found.items() if log is not None and log.is_empty is not True]
    gone = [b for b, log in found.items() if log is None and capture.shows(b, topic.name, partition)]
    lagging |= dict.fromkeys(gone, filled[0]) if filled else {}
    logs = {b: log for b, log in found.items() if log is not None and log.leader_epochs}
    best, are_closed = latest_logs(logs), all(map(was_closed, logs.values()))
    for b, log in logs.items():
        later = [other for other in best if ends_after(logs[other], log)]
        is_older = later and not _have_same_epochs(logs[later[0]], log)
        if later and (is_older or not are_closed or (logs[later[0]].high_watermark or 0) > (log.recovery_point or 0)):
            lagging[b] = later[0]
    return {b: best[0] if best and other not in filled else lagging.get(other, other) for b, other in lagging.items()}


def latest_members(capture: Capture, topic: Topic, partition: int) -> tuple[int, ...]:
    """Return the ISR members whose logs end last, while all are down; first one that has records which others lack.

    Each is known to have all that those after it have.
    """
    best = {*lagging_members(capture, topic, partition).values()}
    if len(best) != 1:
        return ()
    members = {b: capture.directory(b, topic.name, partition) for b in topic.states[partition].isr if b not in best}
    logs, found = {b: log for b, log in members.items() if log is not None and log.leader_epochs}, [*best]
    while left := {b: log for b, log in logs.items() if b not in found}:
        first, *others = latest_logs(left)
        if not all(are_alike(left[first], left[other]) for other in others):
            break
        found += [first, *others]
    return tuple(found)


def shorter_members(capture: Capture, topic: Topic, partition: int) -> dict[int, int]:
    """Return the ISR members whose logs are known to end before another one's, where no broker runs, with that one.

    What they lack may not have been committed: producers with acks=1 have an acknowledgement for it. A controller that
    runs has left one member in the ISR, or is about to, whichever it is.
    """
    state = topic.states.get(partition)
    if state is None or capture.live:
        return {}
    found = {b: capture.directory(b, topic.name, partition) for b in state.isr}
    logs = {b: log for b, log in found.items() if log is not None and log.leader_epochs}
    best = latest_logs(logs)[:1]
    return {b: one for one in best for b, log in logs.items() if ends_after(logs[one], log)}


def unordered_members(capture: Capture, topic: Topic, partition: int) -> tuple[int, ...]:
    """Return the ISR members of which one has the last records, where all are down and nothing shows which one.

    One of them has a leader epoch that another one lacks, and perhaps no record of it.
    """
    state = topic.states.get(partition)
    if state is None or any(capture.brokers[b].alive for b in state.isr):
        return ()
    lacking = members_lacking_records(capture, topic, partition)
    found = {b: capture.directory(b, topic.name, partition) for b in state.isr if b not in lacking}
    logs = {b: log for b, log in found.items() if log is not None and log.leader_epochs}
    best = latest_logs({b: log for b, log in logs.items() if log.topic_id in (None, topic.topic_id)})
    pairs = [(logs[a], logs[b]) for a, b in combinations(best, 2)]
    return best if any(a.last_epochs != b.last_epochs and not are_alike(a, b) for a, b in pairs) else ()


def latest_logs(logs: Mapping[int, Directory]) -> tuple[int, ...]:
    """Return the brokers whose logs no other one is known to end after, first the one with the last leader epoch.

    Several are alike, or nothing shows which of them ends last.
    """
    last = [b for b, log in logs.items() if not any(ends_after(other, log) for other in logs.values())]
    return tuple(sorted(last, key=lambda b: end_of(logs[b]), reverse=True))


def end_of(log: Directory | None) -> tuple[int, int]:
    """Return the last leader epoch of which a log may have a record, and its bytes; -1 and 0 if nothing shows them."""
    return (-1, 0) if log is None else ((log.last_epochs or (-1,))[-1], sum((log.segments or {}).values()))


def ends_after(one: Directory, other: Directory) -> bool:
    """Whether a log's last record is known to have a later leader epoch than another one's, or to follow it.

    Between replicas the later leader epoch decides whose records are kept, then the longer log. Where nothing shows
    whether there is a record of the log's last epoch, it has all that the other one has, if it is longer.
    """
    mine, its = one.last_epochs, other.last_epochs
    if not mine or its is None or not _may_be_one(one, other):
        return False
    return mine[0] > max(its, default=-1) or _continues_longer(other, one)


def _begin_alike(one: Directory, other: Directory) -> bool:
    """Whether two logs are known to be copies, also under two ids, as those of a topic whose id was minted again."""
    return one.first_batch is not None and one.first_batch == other.first_batch


def _may_be_one(one: Directory, other: Directory) -> bool:
    """Whether two logs may be copies: they have no different ids, or begin alike."""
    return None in (one.topic_id, other.topic_id) or one.topic_id == other.topic_id or _begin_alike(one, other)


def are_alike(one: Directory, other: Directory) -> bool:
    """Whether two logs are the same, but for a leader epoch without a record."""
    is_one = _is_continued(one, other) or _is_continued(other, one)
    base = _comparable_from(one, other)
    is_as_long = base is not None and _bytes_from(one, base) == _bytes_from(other, base)
    return is_one and (is_as_long or one.segments == other.segments)


def was_closed(log: Directory) -> bool:
    """Whether all that a log's broker knew as committed was flushed when it ended; not if nothing shows it.

    A broker that stops flushes all logs, and writes their ends as recovery points. A log without one is recovered from
    its beginning: it is newer than the last checkpoint, or the file was lost or not read.

    Kafka: LogManager.shutdown, checkpointRecoveryOffsetsInDir, loadLog (recoveryPoints.getOrElse); so from 2.5 to 3.9.
    """
    point, watermark = log.recovery_point, log.high_watermark
    return point is not None and watermark is not None and watermark <= point


def _is_continued(one: Directory, other: Directory) -> bool:
    """Whether a log is another one, as far as is shown, but for its end, and for later leader epochs of that one.

    Retention may have deleted the beginning of either, or a cleaner: then a topic id shows that they are one.
    """
    if not (one.topic_id == other.topic_id or _begin_alike(one, other)) or not one.segments or not other.segments:
        return False
    is_cut = min(one.segments) != min(other.segments) or may_be_cleaned(one, other)
    mine, its = (
        [e for e in epochs if log.end is None or e[1] < log.end]
        for log, epochs in zip((one, other), _epochs_of_both(one, other), strict=True)
    )
    is_cut = is_cut and one.topic_id is not None and one.topic_id == other.topic_id
    is_one = is_cut or (one.start, one.first_batch) == (other.start, other.first_batch)
    return is_one and mine == its[: len(mine)]


def _epochs_of_both(one: Directory, other: Directory) -> list[list[tuple[int, int]]]:
    """Return the leader epochs of two logs from where both have records on.

    Source: LeaderEpochFileCache.truncateFromStart: the first epoch that is left begins where the log does.
    """
    begin = max(one.start or 0, other.start or 0)
    known = ({max(start, begin): epoch for epoch, start in sorted(log.leader_epochs or ())} for log in (one, other))
    return [[(epoch, start) for start, epoch in starts.items()] for starts in known]


def _have_same_epochs(one: Directory, other: Directory) -> bool:
    mine, its = _epochs_of_both(one, other)
    return mine == its


def _differing_sizes(one: Directory, other: Directory) -> tuple[int, int, int, int] | None:
    """Return two offsets at which both logs begin a segment, and their bytes between these, if they differ; else None.

    A segment was removed or cut by hand, or with a disk: a follower appends the leader's batches as they are, and never
    copies what is before its end. Of logs that a cleaner may have rewritten, none are returned.
    """
    if one.segments == other.segments or may_be_cleaned(one, other):
        return None
    mine, its = (_bytes_before(log) for log in (one, other))
    for base, after in pairwise(sorted({*mine} & {*its})):
        sizes = mine[after] - mine[base], its[after] - its[base]
        if sizes[0] != sizes[1]:
            return base, after, *sizes
    return None


def _bytes_before(log: Directory) -> dict[int, int]:
    """Return the bytes of a log before each of its segments, by their base offsets."""
    known = sorted((log.segments or {}).items())
    return dict(zip((base for base, _ in known), accumulate((size for _, size in known), initial=0), strict=False))


def _comparable_from(one: Directory, other: Directory) -> int | None:
    """Return an offset from which on copies have the same bytes: the last one at which segments of both begin.

    A cleaner may have rewritten all segments but the last one.

    Source: followers append the batches of the leader; LogCleanerManager.cleanableOffsets (activeSegment).
    """
    mine, its = one.segments or {}, other.segments or {}
    base = max({*mine} & {*its}, default=None)
    is_last = bool(mine and its) and base == max(mine) == max(its)
    return base if is_last or not may_be_cleaned(one, other) else None


def _bytes_from(log: Directory, base: int) -> int:
    return sum(size for at, size in (log.segments or {}).items() if at >= base)


def _continues_longer(one: Directory, other: Directory) -> bool:
    """Whether a log is continued by another one that is longer, as far as bytes show it.

    Of the other one's later leader epoch there are records then, if the log has one of its own from there on: what it
    may have of that was not committed, or it has no record of it.
    """
    base = _comparable_from(one, other)
    last = max((epoch for epoch, _ in one.leader_epochs or ()), default=-1)
    later = min((start for epoch, start in other.leader_epochs or () if epoch > last), default=None)
    kept = tuple(known for known in one.leader_epochs or () if later is None or known[1] < later)
    if base is None or not _is_continued(evolve(one, leader_epochs=kept) if kept else one, other):
        return False
    return _bytes_from(other, base) > _bytes_from(one, base)


def lacks_last_epochs(topic: Topic, partition: int, log: Directory) -> bool:
    """Whether the only ISR member had led in a leader epoch that a log lacks, if no controller was elected since."""
    state = topic.states.get(partition)
    if state is None or state.leader is not None or len(state.isr) != 1 or log.leader_epochs is None:
        return False
    return all(epoch < state.leader_epoch - 1 for epoch, _ in log.leader_epochs)


def _has_more(one: Directory, other: Directory) -> bool:
    """Whether a log may have later records of the topic than another one; where no sizes are shown, it may."""
    if not _may_be_one(one, other):
        return False
    return not ends_after(other, one) and not are_alike(one, other)


def newest_logs(capture: Capture, topic: Topic, partition: int) -> tuple[int, ...]:
    """Return the replicas whose logs have all that was acknowledged, where ZooKeeper's state is older than all logs.

    So it is where there is no state, though all logs have one id, or none. The first one is the best leader: it
    may lead now, and runs if one of them does. If brokers answer clients with a later state, it is that of its ISR.
    Else the last leader epoch had one leader, whose log no other one ends after. None are returned if a log was not
    seen, or if nothing shows which one ends last.
    """
    replicas, state = topic.partitions.get(partition, ()), topic.states.get(partition)
    is_shown = all(capture.shows(b, topic.name, partition) for b in replicas)
    if not is_shown or not (is_behind_logs if state else has_logs_of_one_topic)(capture, topic, partition):
        return ()
    logs = {b: log for b in replicas if (log := capture.directory(b, topic.name, partition)) is not None}
    latest = {b: max((epoch for epoch, _ in log.leader_epochs or ()), default=-1) for b, log in logs.items()}
    served = capture.cached(topic.name, partition)
    known = [one.leader_epoch for one in capture.all_cached(topic.name, partition)]
    is_answered = capture.controller is not None and capture.brokers[capture.controller].cache is not None
    is_unread = is_answered and min(known, default=-1) >= max(latest.values())
    if state is not None and state.leader_epoch in latest.values() and not is_unread:
        return ()  # its leader may have taken it up again, and may have acknowledged records since
    if served is not None and served.leader_epoch >= max(latest.values()):
        leader, members = served.leader, [b for b in served.isr if b in logs]
        if len(members) < len(served.isr) or (leader is not None and latest.get(leader) != max(latest.values())):
            return ()
    else:
        leader, last = None if state is None else state.leader, latest_logs(logs)
        members = [b for b in last if latest[b] == max(latest.values())]
        if not members or not all(are_alike(logs[b], logs[members[0]]) for b in last if b != members[0]):
            return ()
    return tuple(sorted(members, key=lambda b: (not capture.brokers[b].alive, b != leader, replicas.index(b))))


def _restarted_without_state(capture: Capture, topic: Topic, partition: int) -> Iterator[int]:
    """Yield the replicas that know nothing of a partition which others serve: they run since its state was removed."""
    for b in topic.partitions.get(partition, ()):
        cache = capture.brokers[b].cache
        if cache is not None and partition not in cache.partitions.get(topic.name, {}):
            yield b


def later_states(capture: Capture, topic: Topic, partition: int, newest: Collection[int]) -> Iterator[LaterState]:
    """Yield what brokers may have in memory of a partition whose state is lost, or is older than all logs.

    If nothing shows who leads, it may be each broker with a newest log, and each other one may have restarted: the
    leader in ZooKeeper has not, as a log with later epochs loses them when its broker takes up an earlier one.

    Kafka: LeaderEpochFileCache.assign.
    """
    lost = served_without_state(capture, topic, partition)
    if lost is not None and has_logs_of_one_topic(capture, topic, partition):
        is_known = lost_state(capture, topic, partition) is not None
        without = () if is_known else _restarted_without_state(capture, topic, partition)
        yield LaterState(lost.leader, lost.leader_epoch, frozenset(lost.isr), frozenset(without), is_known)
    if not newest or partition not in topic.states:
        return
    replicas, state = topic.partitions[partition], topic.states[partition]
    live = [b for b in replicas if capture.brokers[b].alive]
    last = max(epochs_ahead(capture, topic, partition, replicas).values())
    served = capture.cached(topic.name, partition)
    if served is not None and served.leader_epoch >= last:
        yield LaterState(served.leader, served.leader_epoch, frozenset(served.isr), is_known=True)
        return
    found: dict[LaterState, None] = {}
    others = [b for b in live if b != state.leader]
    leaders: list[int | None] = [b for b in newest if b in live]
    for leader in leaders or [None]:
        for restarted in (frozenset(some) for size in range(len(others) + 1) for some in combinations(others, size)):
            leads = None if leader in restarted else leader
            found[LaterState(leads, last, frozenset(newest), restarted)] = None
    fitting = [one for one in found if all(_fits_memory(capture, topic, partition, b, one) for b in live)]
    yield from fitting or found


def _fits_memory(capture: Capture, topic: Topic, partition: int, broker: int, later: LaterState) -> bool:
    """Whether a broker that runs has in memory what a later state says of it, as far as it is shown."""
    place, epoch = (topic.name, partition), topic.states[partition].leader_epoch
    if place not in capture.brokers[broker].replicas:
        return True
    replica = capture.brokers[broker].replicas[place]
    is_later = replica is not None and replica.leader_epoch > epoch
    leads = replica is not None and replica.leads and is_later
    return is_later is (broker not in later.restarted) and leads is (broker == later.leader)


def id_on_failed_disks(capture: Capture, topic: Topic, partition: int) -> str | None:
    """Return the topic id that logs on failed disks are taken to have: that of the others, else ZooKeeper's.

    ZooKeeper's may have been minted since the disk failed. Logs of an earlier topic do not count.
    """
    logs = capture.logs_of(topic.partitions.get(partition, ()), topic.name, partition).values()
    found = {log.topic_id for log in logs if not is_of_an_earlier_topic(capture, topic, log)}
    return found.pop() if len(found) == 1 else topic.topic_id


def in_sync(capture: Capture, topic: Topic, partition: int) -> tuple[int, ...]:
    """Return the ISR of a partition; without a state, that of the earlier topic which brokers still answer for."""
    state = topic.states.get(partition)
    if state is not None:
        return state.isr
    served = capture.cached(topic.name, partition)
    return () if served is None else served.isr


def _groups(
    members: tuple[int, ...],
    related: Iterable[tuple[int, int]],
    apart: Collection[tuple[int, int]],
    leader: int | None,
) -> tuple[tuple[int, ...], ...]:
    """Join members that are related, but no groups of which two members are apart.

    What may be a copy of several logs is one of the leader's.
    """
    group_of: dict[int, tuple[int, ...]] = {member: (member,) for member in members}
    for a, b in sorted(related, key=lambda pair: leader not in pair):
        first, second = group_of[a], group_of[b]
        if first != second and not any((c, d) in apart or (d, c) in apart for c in first for d in second):
            joined = tuple(member for member in members if member in (*first, *second))
            group_of |= dict.fromkeys(joined, joined)
    return tuple(dict.fromkeys(group_of.values()))


def _set_partitions(items: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], ...]]:
    if not items:
        yield ()
        return
    first, rest = items[0], items[1:]
    for parts in _set_partitions(rest):
        yield ((first,), *parts)
        for place, part in enumerate(parts):
            yield (*parts[:place], (first, *part), *parts[place + 1 :])


def choices_of(capture: Capture, lineages: Lineages, topic: Topic, partition: int) -> tuple[Choice, ...]:
    """Return which lineages the partition may be meant to have, and which disks may be whose.

    The lineage is that of the logs of ISR members; without such a log, that of each group of logs. Where all logs of
    ISR members are of an earlier topic of the name, the operator has the choice: to keep them, or to begin with an
    empty log. A running broker that is no replica and has a log may have the disk of a replica that is gone.

    Args:
        capture: The capture.
        lineages: The logs of the partition.
        topic: The topic.
        partition: The partition.

    Returns:
        The choices, one at least: first that the disk is the same, then what the logs have.
    """
    same = same_disks(capture, topic, partition)
    if same:
        owners = {old: broker for broker, old in same.items()}
        left = evolve(lineages.without(owners), isr=tuple(owners.get(b, b) for b in lineages.isr))
        if not any(capture.brokers[b].alive for b in lineages.isr):  # power may have been lost: the longest has all
            ends = {b: log for b in left.isr if (log := left.logs.get(b)) is not None}
            left = evolve(left, isr=latest_logs(ends) or left.isr)
        own = tuple({group for broker in same if (group := left.group_of(broker)) is not None})
        which = listed([f"broker {broker} is that of broker {old}" for broker, old in same.items()])
        first = _choice(left, topic, partition, own[:1], f"if the disk of {which}, which has got another id")
        given = _choices(lineages, topic, partition)
        others = [evolve(one, premise=one.premise or "if the replicas have disks of their own") for one in given]
        return (evolve(first, without=frozenset(same.values())), *others)
    return _choices(lineages, topic, partition)


def _choices(lineages: Lineages, topic: Topic, partition: int) -> tuple[Choice, ...]:
    in_isr = {g for b in lineages.isr if (g := lineages.group_of(b)) is not None}
    wanted = sorted(in_isr) or list(range(len(lineages.groups)))
    leader = topic.states[partition].leader if partition in topic.states else None
    wanted.sort(key=lambda n: (-len(lineages.groups[n]), leader not in lineages.groups[n], min(lineages.groups[n])))
    wanted += _outvoting(lineages, topic.partitions.get(partition, ()), in_isr)
    wanted += [n for n in _of_the_topic(lineages, topic, in_isr) if n not in wanted]
    ids = {n: {lineages.logs[b].topic_id for b in lineages.groups[n]} for n in wanted}
    filled = [n for n in wanted if not all(lineages.logs[b].is_empty for b in lineages.groups[n])] or wanted
    seen = [n for n in filled if n in in_isr or any(is_seen(lineages.logs[b]) for b in lineages.groups[n])]
    filled = seen or filled
    if topic.topic_id is not None and not any(ids[n] & {None, topic.topic_id} for n in filled):
        filled = [n for n in wanted if n in filled or topic.topic_id in ids[n]]  # an empty log may be the topic's
    kept = [group for group in filled if group not in lineages.earlier] or filled
    if not kept:
        return (_choice(lineages, topic, partition, ()),)
    if topic.partitions and partition not in {*topic.partitions, *topic.states}:  # left over: the topic has no such one
        return (_choice(lineages, topic, partition, tuple(kept[:1])),)
    can_be_empty = all(group in lineages.earlier for group in kept)
    named = len(kept) + can_be_empty > 1
    label = topic_label(topic.name)
    if lineages.later and partition in topic.states:
        which = f"if the logs of topic {label} are not of an earlier topic of the name"
        return (_choice(lineages, topic, partition, tuple(kept[:1]), which),)
    found = []
    for group in kept:
        held = listed([str(b) for b in sorted(lineages.groups[group])])
        which = f"{KEEPING} topic {label} has on broker {held}" if named else ""
        found.append(_choice(lineages, topic, partition, (group,), which))
    if can_be_empty:
        found.append(_choice(lineages, topic, partition, (), f"to begin topic {label} with empty logs"))
    return tuple(found)


def _outvoting(lineages: Lineages, replicas: Collection[int], in_isr: Collection[int]) -> list[int]:
    """Return the groups of logs of which more replicas have copies than of those of ISR members.

    They may be what the topic had before its id was erased, or a disk was replaced, if nothing shows an earlier topic.
    """
    copies = {n: sum(b in replicas and not lineages.logs[b].is_empty for b in g) for n, g in enumerate(lineages.groups)}
    most = max((copies[n] for n in in_isr), default=len(replicas))
    return [n for n, count in copies.items() if count > most and n not in (*in_isr, *lineages.earlier)]


def _of_the_topic(lineages: Lineages, topic: Topic, in_isr: Collection[int]) -> list[int]:
    """Return the groups of logs with records of the topic, by its id, where all ISR members have others.

    They have earlier logs, or logs under another id: from before another one was minted, or of an earlier topic.
    """
    members = {lineages.logs[b].topic_id for group in in_isr for b in lineages.groups[group]}
    is_other = lineages.earlier.keys() >= {*in_isr} or members.isdisjoint({None, topic.topic_id})
    if not in_isr or not is_other or topic.topic_id is None:
        return []
    logs = {n: [lineages.logs[b] for b in group] for n, group in enumerate(lineages.groups) if n not in in_isr}
    own = [n for n, found in logs.items() if any(g.topic_id == topic.topic_id and g.is_empty is False for g in found)]
    return [n for n in own if n not in lineages.earlier]


def is_in_use(capture: Capture, broker: int) -> bool:
    """Whether a broker is a replica of some partition."""
    return any(broker in replicas for one in capture.topics.values() for replicas in one.partitions.values())


def same_disks(capture: Capture, topic: Topic, partition: int) -> dict[int, int]:
    """Return the running brokers whose disk may be that of a replica that is gone, which they name.

    A broker that has got another id finds the logs of its old id on its disk. Of the old id neither a registration nor
    a disk is seen. A replica has the log as its own. A log of an id that the topic never had is no such log, nor one
    that lacks the leader epoch under which the old id led last, if another replica may have more: failovers raise the
    epoch, too. It has all directories of the old id, whose ISR members come first. A broker that has replicas of its
    own may have kept a log from an earlier assignment, unless the log has that epoch, and the old id was the only ISR
    member.
    """
    found: dict[int, int] = {}
    state, replicas = topic.states.get(partition), topic.partitions.get(partition, ())
    others = [broker for broker in capture.brokers.values() if broker.id not in replicas]
    for old in sorted(replicas, key=lambda b: state is not None and b not in state.isr):
        gone = capture.brokers[old]
        for broker in others if not gone.alive and not gone.seen else ():
            log = capture.directory(broker.id, topic.name, partition)
            is_foreign = is_of_an_earlier_topic(capture, topic, log)
            led_last = state is not None and state.leader is None and state.isr == (old,)
            has_led = log is not None and bool(log.leader_epochs) and not lacks_last_epochs(topic, partition, log)
            is_shown = led_last and has_led
            is_stray = broker.alive and broker.seen and (is_shown or not is_in_use(capture, broker.id))
            is_stray = is_stray and log is not None and not is_outdated(capture, topic, partition, old, log)
            if broker.id in found or old in found.values() or is_foreign or not is_stray:
                continue
            if is_shown or _has_all_directories(capture, broker, old):
                found[broker.id] = old
    return found


def _has_all_directories(capture: Capture, host: Broker, old: int) -> bool:
    """Whether a broker has a directory of each partition that is assigned to another one, as if its disk were that."""
    assigned = (
        f"{topic.name}-{number}"
        for topic in capture.topics.values()
        for number, replicas in topic.partitions.items()
        if old in replicas and number in topic.states
    )
    return all(name in host.directories for name in assigned)


def _choice(lineages: Lineages, topic: Topic, partition: int, own: tuple[int, ...], premise: str = "") -> Choice:
    keeps = tuple(b for group in own for b in lineages.groups[group])
    cases: dict[LineageCase, None] = {}
    for parts in lineages.partitions():
        together = next((set(part) for part in parts if set(own) & set(part)), set())
        others = [part for part in parts if not set(part) & together]
        numbers = dict.fromkeys(together, OWN)
        numbers |= {group: (0, OTHER)[min(place, 1)] for place, part in enumerate(others) for group in part}
        cases.update(dict.fromkeys(_cases(lineages, topic, partition, numbers)))
    return Choice(keeps, tuple(cases), premise)


def _cases(lineages: Lineages, topic: Topic, partition: int, numbers: Mapping[int, int]) -> Iterator[LineageCase]:
    """Yield the cases of one way in which logs are related; they differ in who has the last records."""
    state, logs = topic.states.get(partition), lineages.logs
    epoch = 0 if state is None else state.leader_epoch
    number_of = {b: numbers[group] for group, members in enumerate(lineages.groups) for b in members}
    bounds = epoch_bounds(logs.values())
    ranks = ranks_of(logs.values(), bounds, epoch, *(one.leader_epoch for one in lineages.later))
    if lineages.is_spaced:
        ranks = {number: EPOCH_DISTANCE * rank for number, rank in ranks.items()}
    own = [b for b in logs if number_of[b] == OWN]
    isr = [b for b in own if b in lineages.isr]
    # A leader may have an epoch without a record in its checkpoint, and its followers not: the longest log is compared.
    order = sorted(isr or own, key=lambda b: (-_length(logs[b], bounds), state is None or b != state.leader))
    shown = {b: logs[b] for b in own if is_seen(logs[b]) and not logs[b].is_empty}
    if isr and order[0] not in shown:  # what was not seen of the ISR has all that others have, and more
        order = [*latest_logs(shown), *order]
    holders: list[tuple[int | None, list[int]]] = [(order[0], isr)] if isr else [(b, [b]) for b in own]
    for reference, among in holders or [(None, [])]:
        agrees = {b: reference is None or _agrees(logs[reference], log) for b, log in logs.items()}
        before = _first_known([logs[b] for b in own if agrees[b]], bounds)
        common = epochs_of(logs[reference], bounds, ranks, before) if reference is not None else ()
        same = {b for b in among if agrees[b]}
        contents: list[LogContent | None] = []
        for b in lineages.brokers:
            if b not in logs:
                contents.append(None)
            elif b in same:
                contents.append(LogContent((*common, *common[-1:]), (OWN,) * (len(common) + bool(common))))
            else:
                lineage = number_of[b]
                epochs = epochs_of(logs[b], bounds, ranks, before if lineage == OWN and agrees[b] else {})
                if lineage == OWN and logs[b].is_compacted and agrees[b]:
                    epochs = (*common[: len(epochs)], *epochs[len(common) :])  # what a cleaning has removed, it had
                began_apart = lineage == OWN and reference is not None and begin_apart(logs[reference], logs[b])
                contents.append(LogContent(epochs, (OTHER if began_apart else lineage,) * len(epochs)))
        committed = frozenset(lineages.brokers.index(b) for b in same) if common else frozenset()
        case = LineageCase(tuple(contents), ranks[epoch], committed)
        numbered = [one.numbered(lineages.brokers, ranks) for one in lineages.later]
        yield from [evolve(case, later=one) for one in numbered] or [case]


def is_seen(log: Directory) -> bool:
    """Whether more is known of a log than that there may be one: its disk has been read."""
    return log != Directory(log.topic_id)


def _agrees(reference: Directory, log: Directory) -> bool:
    """Whether a log has nothing that differs from another one of its lineage."""
    return compare(reference, log).relation is not Relation.DIVERGED


def _first_known(logs: Sequence[Directory], bounds: Iterable[int]) -> dict[int, int]:
    """Return the leader epoch of the record at each offset, by one of several copies of a log that has it."""
    known = ((bound, [e for log in logs if (e := epoch_at(log, bound)) is not None]) for bound in bounds)
    return {bound: epochs[0] for bound, epochs in known if epochs}


def epochs_of(
    log: Directory, bounds: Sequence[int], ranks: Mapping[int, int], before: Mapping[int, int]
) -> tuple[int, ...]:
    """Return the leader epochs of a log's records, in the numbers of a case.

    Args:
        log: the log.
        bounds: the offsets at which records are looked at.
        ranks: the numbers of leader epochs.
        before: the epochs of what retention has deleted of it, by offset, as copies have them.
    """
    known = ((bound, epoch_at(log, bound)) for bound in bounds[: _length(log, bounds)])
    return tuple(ranks[before.get(bound, 0) if epoch is None else epoch] for bound, epoch in known)


def epoch_bounds(logs: Iterable[Directory]) -> list[int]:
    """Return the offsets at which some log begins another leader epoch; with many of them, the first and the last."""
    found = sorted({0, *(start for log in logs for _, start in log.leader_epochs or ())})
    most = MOST_RECORDS - 1
    return found if len(found) <= most else [0, *found[len(found) - most + 1 :]]


def _length(log: Directory, bounds: Sequence[int]) -> int:
    """Return how many of the ranges of offsets a log has records in, as far as is shown."""
    if log.is_empty:
        return 0
    return max(1, sum(bound < log.least_end or bound == 0 for bound in bounds) + _has_last(log, bounds))


def _has_last(log: Directory, bounds: Sequence[int]) -> bool:
    """Whether a log ends, as far as is shown, where an epoch begins: it is taken to have a record of that epoch."""
    return log.least_end in bounds and log.least_end > 0 and bool(log.leader_epochs)


def ranks_of(logs: Iterable[Directory], bounds: Sequence[int], *epochs: int) -> dict[int, int]:
    """Return the rank of each leader epoch of logs' records, and of other epochs."""
    used = {0, *epochs, *(epoch_at(log, bound) or 0 for log in logs for bound in bounds)}
    return {number: rank for rank, number in enumerate(sorted(used))}
