"""Under which conditions a plan is one: what the snapshot does not show, and what an operator wants."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import chain, combinations

from attrs import evolve

from kwalk.invariants.reading.finding_kinds import ORPHANED_LOG, SOME_TOPICS_ARE_LOST, TOPICS_ARE_LOST
from kwalk.model.kafka.snapshots.capture import UNCLEAN_ELECTIONS, Capture, Topic, topic_label
from kwalk.model.kafka.snapshots.diagnosis import brokers, each, has_topic_ids, listed, strangers
from kwalk.model.kafka.snapshots.in_sync import elects_outsiders
from kwalk.model.kafka.snapshots.lineage import (
    BY_POLICY,
    KEEPING,
    differ_unless_cleaned,
    is_displaced,
    is_of_another_leader,
    last_copies_aside,
)
from kwalk.model.kafka.snapshots.untrusted_json import printable
from kwalk.model.kafka.snapshots.worlds import ClusterPart
from kwalk.model.language.inspection import Inspection

KEEPS = "safe: no acknowledged record is lost, none of another topic comes in, and no last copy goes,"
"""What a plan keeps; records of a topic that is being deleted are not kept."""
ON_NO_DISK = "on no other disk"
"""How the condition ends that logs of ISR members are lost, which no disk that was read has."""
DELETED = "if all topics of the logs were deleted on purpose, and ZooKeeper is that of this cluster"
"""The condition of plans where ZooKeeper has none of the topics of the logs."""


def of_lost_topics(inspection: Inspection) -> str:
    """Return the condition of plans where ZooKeeper has not, and may have lost, topics of logs."""
    names: list[str] = []
    for one in inspection.observations:
        if one.kind.name == TOPICS_ARE_LOST.name:
            return DELETED
        if one.kind.name == SOME_TOPICS_ARE_LOST.name:
            names += one.fields["topics"].split()
        if one.kind.name == ORPHANED_LOG.name:
            names.append(one.fields["topic"])
    labels = [topic_label(name) for name in dict.fromkeys(names)]
    was = f"{listed(labels)} {each(labels, 'was', 'were')}"
    return f"if {was} deleted on purpose, and ZooKeeper's earlier data does not come back" if labels else ""


def of_elections(capture: Capture, topics: Iterable[Topic]) -> str:
    """Return the condition that no replica outside of the ISR is elected, where nothing shows whether one may be.

    It is about partitions with no live ISR member, or one, of which a replica is not in the ISR. Where a topic leaves
    it to the brokers, these were not asked.
    """
    own, left = list[str](), False
    for topic in topics:
        known = evolve(topic, elects_uncleanly=True)
        is_open = topic.elects_uncleanly is None and topic.name not in capture.deleting
        if is_open and any(elects_outsiders(capture, known, number) for number in topic.states):
            own += [topic_label(topic.name)] * (topic.settings is None)
            left |= topic.settings is not None
    where = [*[f"of {listed(own)}"] * bool(own), *["of the brokers"] * left]
    return f"if {UNCLEAN_ELECTIONS} {' and '.join(where)} is false" if where else ""


def of_strangers(capture: Capture) -> str:
    """Return the condition that brokers with logs of other topics are of this cluster: plans move these away."""
    found = strangers(capture)
    return f"if {brokers(found)} {each(found, 'is', 'are')} not of another cluster" if found else ""


def premise_of(parts: Iterable[ClusterPart]) -> str:
    """Return the conditions under which the logs of parts are what is assumed of them."""
    known = tuple(parts)
    found = list(dict.fromkeys(part.choice.premise for part in known if part.choice.premise))
    bare = [part.name for part in known if _has_lost_its_logs(part)]
    return joined(listed(found) if found else "", f"if the records of {listed(bare)} are given up" if bare else "")


def _has_lost_its_logs(part: ClusterPart) -> bool:
    """Whether a partition that has been led has no log on the disk of any broker, and no broker serves it.

    The first leader may have served it for long at leader epoch 0.
    """
    situation = part.observed.situation
    is_gone = not any(one.directory or one.offline for one in situation.brokers) and not situation.deleting
    is_gone = is_gone and not part.lineages.logs  # none that was not read is taken to be there
    return is_gone and situation.has_state and not any(one.in_isr and one.alive for one in situation.brokers)


def of_marks(capture: Capture) -> str:
    """Return the condition that topics with logs were marked for deletion on purpose: a start or a failover ends it.

    A replica that the snapshot does not show may have a log.
    """
    logs = {name.rpartition("-")[0] for broker in capture.hosts for name in broker.directories}
    names = [topic_label(name) for name in capture.deleting if name in capture.topics and name in logs]
    return f"if {listed(names)} {each(names, 'was', 'were')} marked for deletion on purpose" if names else ""


def taken_for_others(parts: Iterable[ClusterPart]) -> frozenset[int]:
    """Return the brokers whose disks are taken to be those of others."""
    return frozenset(broker for part in parts for broker in part.choice.without)


def of_unseen(capture: Capture, parts: Sequence[ClusterPart], gone: Collection[int]) -> str:
    """Return the condition that what the snapshot lacks is in order: disks of replicas, and other topics.

    Nothing is to be so on the disks of brokers that are gone for good.
    """
    others = "if no topic that the snapshot lacks is damaged" if capture.patterns and parts else ""
    ends, lost = _of_lost_ends(capture, parts, gone), _of_lost_logs(capture, parts, gone)
    own = joined(_of_own_logs(capture, parts, gone), _of_ids_on_failed_disks(parts), _of_strays(capture, parts, gone))
    silent = joined(_of_unmeasured_logs(capture, parts, gone), _of_unasked_brokers(capture, parts, gone))
    silent = joined(silent, _of_beginnings(capture, parts, gone), _of_copies_aside(capture, parts, gone))
    silent = joined(silent, _of_cleanings(capture, parts))
    return joined(_of_unseen_disks(capture, parts, gone), ends, own, lost, silent, others)


def _of_beginnings(capture: Capture, parts: Iterable[ClusterPart], gone: Collection[int]) -> str:
    """Return the condition that retention has removed what ISR members lack before their first segments.

    Replicas delete what is before the beginning of their leader's log: it may be the last copy. Those that follow a
    leader have done so.

    Kafka: ReplicaFetcherThread.processPartitionData (maybeIncrementLogStartOffset).
    """
    found = dict[str, None]()
    for part in parts:
        name, number = part.topic.name, part.partitions[0]
        known = zip(part.observed.brokers, part.observed.situation.brokers, strict=True)
        is_served = any(one.in_isr and one.alive for _, one in known)
        logs = capture.logs_of({*part.choice.keeps} - {*gone}, name, number) if name not in capture.deleting else {}
        starts = [log.start or 0 for b, log in logs.items() if b in part.lineages.isr]
        begin = {b: log.start or 0 for b, log in logs.items() if log.is_empty is False}
        idle = {b for b in begin if not is_served or not capture.brokers[b].alive}
        earlier = [b for b, start in begin.items() if b in idle and start < min(starts, default=0)]
        if earlier:
            found[f"the beginning of {part.name}, which {brokers(earlier)} {each(earlier, 'has', 'have')}"] = None
    lacks = f"if what ISR members lack of {listed(list(found))}, was deleted by retention or on purpose"
    return lacks if found else ""


def _of_cleanings(capture: Capture, parts: Iterable[ClusterPart]) -> str:
    """Return the condition that no cleaner has made the differences by which logs are told from one another.

    They show which logs have the records that a plan keeps.
    """
    found = dict[str, None]()
    for part in parts:
        name, number = part.topic.name, part.partitions[0]
        known = capture.logs_of({*part.topic.partitions.get(number, ()), *part.observed.isr}, name, number)
        pairs = [pair for pair in combinations(known, 2) if {*pair} & {*part.choice.keeps}]
        if name not in capture.deleting and any(differ_unless_cleaned(known[a], known[b]) for a, b in pairs):
            found[part.name] = None
    return f"if no cleaner has rewritten the logs of {listed(list(found))} ({BY_POLICY})" if found else ""


def _of_copies_aside(capture: Capture, parts: Iterable[ClusterPart], gone: Collection[int]) -> str:
    """Return the condition that copies were saved which brokers delete in a while, where who had them is gone."""
    found = [
        f"{printable(name, 300)} of broker {b}"
        for part in (parts if gone else ())
        for b, name in last_copies_aside(capture, part.topic, part.partitions[0], gone)
    ]
    return f"if {listed(found)} {each(found, 'was', 'were')} copied to another place before" if found else ""


def _of_unmeasured_logs(capture: Capture, parts: Iterable[ClusterPart], gone: Collection[int]) -> str:
    """Return the condition of logs whose sizes or leader epochs are not shown, while no ISR member runs.

    Any of them may have lost its end with the power, be an old copy, or have later records than ZooKeeper's state.
    """
    members, others = set[int](), set[int]()
    for part in parts:
        name, number = part.topic.name, part.partitions[0]
        known = zip(part.observed.brokers, part.observed.situation.brokers, strict=True)
        is_served = any(one.in_isr and one.alive for _, one in known) and not part.is_behind
        isr, left = {*part.observed.isr, *part.lineages.isr}, part.lineages.logs.keys() - {*gone, *part.choice.without}
        if is_served or name in capture.deleting or len(left) < 2:
            continue
        bare = {b for b, log in capture.logs_of(left, name, number).items() if not log.is_measured}
        members |= bare & isr
        others |= bare - isr if isr & left else set[int]()
    have = "have no leader epoch above ZooKeeper's, and"
    found = [f"those of {brokers(sorted(members))} {have} lack nothing that others have"] * bool(members)
    found += [f"those of {brokers(sorted(others))} {have} nothing that ISR members lack"] * bool(others)
    return f"if of the logs whose sizes or leader epochs the snapshot lacks, {listed(found)}" if found else ""


def _of_unasked_brokers(capture: Capture, parts: Iterable[ClusterPart], gone: Collection[int]) -> str:
    """Return the condition that no broker serves a partition without a state, of those that were not asked.

    One that has served it has a later version of the state in memory than one that is written.
    """
    names, unasked = list[str](), set[int]()
    for part in parts:
        known = zip(part.observed.brokers, part.observed.situation.brokers, strict=True)
        is_lost = part.first_leader is not None and part.versions_may_be_lower and not part.lineages.later
        silent = {b for b, one in known if one.replica and one.alive and capture.brokers[b].cache is None} - {*gone}
        names += [part.name] * bool(is_lost and silent)
        unasked |= silent if is_lost else set()
    none = f"{brokers(sorted(unasked))}, which the snapshot has no answer of,"
    return f"if {none} {each(unasked, 'does', 'do')} not serve {listed(names)}" if names else ""


def _of_ids_on_failed_disks(parts: Iterable[ClusterPart]) -> str:
    """Return the condition that logs on failed disks have the topic id of others, where ZooKeeper has another one."""
    found = dict[str, None]()
    for part in parts:
        for b, one in zip(part.observed.brokers, part.observed.situation.brokers, strict=True):
            identity = part.lineages.logs[b].topic_id if one.offline and b in part.lineages.logs else None
            if identity not in (None, part.topic.topic_id):
                found[f"{part.name} on the failed disk of broker {b} has the topic id {identity}"] = None
    return f"if {listed(list(found))}" if found else ""


def _of_strays(capture: Capture, parts: Iterable[ClusterPart], gone: Collection[int]) -> str:
    """Return the condition that replicas have what logs of brokers that are none have, where not all were read."""
    found = dict[str, None]()
    for part in parts:
        known = zip(part.observed.brokers, part.observed.situation.brokers, strict=True)
        others = [b for b, one in known if one.directory and not one.replica and not one.in_isr]
        name, number = part.topic.name, part.partitions[0]
        logs = capture.logs_of(others, name, number)
        strays = [b for b, log in logs.items() if log.topic_id in (None, part.topic.topic_id) and not log.is_empty]
        unread = {b for b in part.observed.isr if not capture.shows(b, name, number)} - {*gone, *part.choice.without}
        if strays and unread and name not in capture.deleting:
            found[f"{part.name} of {brokers(sorted(unread))} has what it has on {brokers(sorted(strays))}"] = None
    return f"if {listed(list(found))}" if found else ""


def _of_lost_logs(capture: Capture, parts: Iterable[ClusterPart], gone: Collection[int]) -> str:
    """Return the condition that no other disk has the logs of ISR members, where no replica has all records.

    Of a broker that is down nothing shows which log directories it has: one that failed may not have been read.
    """
    found: dict[int, list[str]] = {}
    for part in parts:
        name, number = part.topic.name, part.partitions[0]
        known = dict(zip(part.observed.brokers, part.observed.situation.brokers, strict=True))
        is_served = part.lineages.isr or any(one.in_isr and one.alive for one in known.values())
        is_served = is_served or name in capture.deleting or not part.choice.keeps
        for b in () if is_served else {*part.observed.isr} - {*gone, *part.choice.without}:
            is_lost = capture.lacks(b, name, number) or is_displaced(capture, part.topic, number, b)
            if is_lost and not known[b].alive:
                found.setdefault(b, []).append(part.name)
    logs = [f"the log{'s' * (len(names) > 1)} that broker {b} had of {listed(names)}" for b, names in found.items()]
    return f"if {listed(logs)} {each(list(chain(*found.values())), 'is', 'are')} {ON_NO_DISK}" if found else ""


def _of_lost_ends(capture: Capture, parts: Iterable[ClusterPart], gone: Collection[int]) -> str:
    """Return the condition that ISR members have what one had that is gone with its disk, while all are down."""
    found = set[int]()
    for part in parts:
        isr = {*part.observed.isr}
        name, number = part.topic.name, part.partitions[0]
        unmeasured = {b for b, log in capture.logs_of(isr, name, number).items() if not log.is_measured}
        shown = {b for b in isr if capture.shows(b, name, number)} - (unmeasured & {*gone})
        is_missed = bool((isr & {*gone}) - shown) and not any(capture.brokers[b].alive for b in isr)
        found |= shown - {*gone} if is_missed else set()
    return f"if the logs of {brokers(sorted(found))} have lost no end with the power" if found else ""


def with_own_logs(capture: Capture, part: ClusterPart) -> ClusterPart:
    """Return a part whose replicas have logs of the topic where the snapshot lacks them.

    They may be of an earlier topic: but then a plan would move the log of a replica away that nobody has looked at.
    """
    unseen = _unread(capture, part)
    own = [case for case in part.choice.cases if all(case.has_own_log(part.number(b)) for b in unseen)]
    return evolve(part, choice=evolve(part.choice, cases=tuple(own) or part.choice.cases))


def _unread(capture: Capture, part: ClusterPart) -> set[int]:
    """Return the replicas whose logs are not in the snapshot, neither known to be missing nor on failed disks."""
    name, number = part.topic.name, part.partitions[0]
    known = zip(part.observed.brokers, part.observed.situation.brokers, strict=True)
    replicas = {b for b, one in known if one.replica and not one.offline} - {*part.choice.without}
    return {b for b in replicas & part.lineages.logs.keys() if not capture.shows(b, name, number)}


def _of_own_logs(capture: Capture, parts: Iterable[ClusterPart], gone: Collection[int]) -> str:
    """Return the condition that logs outside of the ISR, which the snapshot lacks, are not of an earlier topic."""
    unread = sorted({b for part in parts for b in _unread(capture, part) - {*gone, *part.lineages.isr}})
    shown = " (partition.metadata has the id)" * has_topic_ids(capture.version)
    return f"if those of {brokers(unread)} are not of an earlier topic of the name{shown}" if unread else ""


def _of_unseen_disks(capture: Capture, parts: Iterable[ClusterPart], gone: Collection[int]) -> str:
    """Return the condition that replicas have logs of the topic on the disks that the snapshot lacks.

    While all members of an ISR are down, one that was not seen may have records that those which were have lost, or
    lack some; where none is known to have all, any other replica may. With later leader epochs than ZooKeeper, which
    was restored from a backup then, any of them may truncate the others' logs. While no log of the ISR was read, those
    that were may be of an earlier topic, and have its id from a start without partition.metadata.
    """
    found, members_down, rivals, later, unlike = set[int](), set[int](), set[int](), set[int](), set[int]()
    known_parts = tuple(parts)
    others = taken_for_others(known_parts)
    for part in known_parts:
        known = dict(zip(part.observed.brokers, part.observed.situation.brokers, strict=True))
        members = [b for b, one in known.items() if (one.replica or one.in_isr) and not one.offline]
        name, number = part.topic.name, part.partitions[0]
        unseen = {b for b in members if b not in others and not capture.shows(b, name, number)} - {*gone}
        isr = {b for b in members if known[b].in_isr} - {*gone}
        found |= unseen | {b for b, one in known.items() if one.offline and not capture.brokers[b].seen}
        others_read = {b for b in part.lineages.logs if known[b].replica} - {*part.observed.isr} - unseen
        unlike |= unseen & isr if others_read and isr <= unseen else set()
        if not any(known[b].alive for b in isr):
            members_down |= unseen & isr
            rivals |= unseen & isr if len(part.observed.isr) > 1 else set()
            later |= unseen - isr if part.observed.isr and not part.lineages.isr else set()
    if not found:
        return ""
    what = "have the logs that ZooKeeper assigns to them"
    what += f"; those of {brokers(sorted(members_down))} have no leader epoch above ZooKeeper's" if members_down else ""
    ends = f"; of {brokers(sorted(rivals))} they end where the longest of other ISR members do" if rivals else ""
    ends += f"; of {brokers(sorted(later))} they end no later than those that were read" if later else ""
    ends += f"; of {brokers(sorted(unlike))} they began as those that were read" if unlike else ""
    return f"if the log directories of {brokers(sorted(found))}, which the snapshot lacks, {what}{ends}"


def keeps_of(capture: Capture, parts: Sequence[ClusterPart]) -> str:
    """Return what plans keep: not the records of logs that the operator has not chosen."""
    given_up: dict[str, None] = {}
    for part in parts:
        others = sorted({b for group in part.lineages.groups for b in group} - {*part.choice.keeps})
        label = topic_label(part.topic.name)
        isr = part.observed.isr
        if _has_lost_its_logs(part):
            given_up[f"{part.name} had"] = None
        elif others and not part.choice.keeps:
            given_up[f"topic {label} has now"] = None
        elif isr and not part.lineages.isr:
            given_up[f"only {brokers(isr)} had of {part.name}"] = None
        elif others and part.choice.premise.startswith(KEEPING):
            given_up[f"only {brokers(others)} {each(others, 'has', 'have')} of topic {label}"] = None
        elif own := [b for b in others if _is_of_another_leader(part, b)]:
            given_up[f"only {brokers(own)} {each(own, 'has', 'have')} of {part.name}"] = None
    if all(part.topic.name in capture.deleting for part in parts):
        return "safe"
    if not given_up:
        return KEEPS
    return f"it gives up the records that {listed(list(given_up))}; no other is lost, none of another topic comes in,"


def _is_of_another_leader(part: ClusterPart, broker: int) -> bool:
    """Whether a log that is not kept has records of the topic, of another leader in an epoch that was given twice."""
    logs = part.lineages.logs
    return any(is_of_another_leader(logs[broker], logs[kept]) for kept in part.choice.keeps if kept in logs)


def joined(*conditions: str) -> str:
    """Return conditions that all hold: a plan is safe only under each of those that its worlds take for granted."""
    return ", and ".join(filter(None, conditions))
