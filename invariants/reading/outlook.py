"""What awaits a captured cluster, and how to repair it: the claims of this package in the worlds of its damaged parts.

The diagnosis is that of `inspection`; what comes next and what helps is searched in small models of the damaged parts.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from statistics import mode

from attrs import evolve, frozen

from kwalk.invariants import partitions, records, topic_ids
from kwalk.invariants.reading.carried_out_plans import MOVE, carried_out
from kwalk.invariants.reading.finding_kinds import (
    CONTROLLER_EPOCH_BEHIND,
    CONTROLLER_IS_SILENT,
    DELETION_NOT_BEGUN,
    DELETION_PENDING,
    DELETION_WAITS,
    DOWN_WITH_ANOTHER_ID,
    DOWN_WITH_ANOTHER_LOG,
    FAILOVER_FAILS,
    FOREIGN_ISR,
    ID_NOT_READ,
    IDS_NOT_READ,
    ISR_BY_HAND,
    KINDS,
    NO_BROKER_IS_CONTROLLER,
    NO_CONTROLLER,
    NO_REPLICAS,
    NOT_JUDGED,
    OFFLINE_LOG,
    OFFLINE_REPLICA,
    ORPHANED_LOG,
    PARTITION_LOST,
    REQUEST_WAITS,
    SHARED_ID,
    SOME_TOPICS_ARE_LOST,
    STATE_BEHIND_UNNOTICED,
    STATE_IS_LOST,
    STRAY_LOG,
    TOPICS_ARE_LOST,
    UNREGISTERED,
    WITHOUT_STATE_SERVED,
)
from kwalk.invariants.reading.findings import PROPERTIES
from kwalk.invariants.reading.inspection import inspect_capture
from kwalk.invariants.reading.migrating import is_led_by_kraft
from kwalk.invariants.reading.migrating_recovery import migrating_problem
from kwalk.model.kafka.snapshots.at_rest import (
    Observed,
    Situations,
    deletion_waits_for,
    garbled_at_start,
    is_in_order,
    isr_before_hand,
    obstacle_of,
    reassignment_of,
    replicas_without_log,
    without_alike,
    without_logs,
)
from kwalk.model.kafka.snapshots.capture import UNCLEAN_ELECTIONS, Capture, Topic, read_capture, topic_label
from kwalk.model.kafka.snapshots.diagnosis import (
    brokers,
    each,
    epochs_ahead,
    failing_failovers,
    has_own_logs,
    is_behind_logs,
    listed,
    marks_refused_logs_offline,
    refused_at_start,
    serves_marked,
    strangers,
    unseen,
)
from kwalk.model.kafka.snapshots.initial_state import focus_on
from kwalk.model.kafka.snapshots.lineage import (
    KEEPING,
    Choice,
    Lineages,
    keeps_difference,
    latest_logs,
    latest_members,
)
from kwalk.model.kafka.snapshots.misnamed import own_choices
from kwalk.model.kafka.snapshots.procedures import (
    ELECT,
    ELECT_AFTER,
    LOSSY,
    MOST_SINGLY,
    REPAIR_DISK,
    REPLACE_DISK,
    START_BROKER,
    START_EMPTY,
    START_IN_TURN,
    WITHOUT_FILES,
    Catalogue,
)
from kwalk.model.kafka.snapshots.snapshot import reading_of
from kwalk.model.kafka.snapshots.worlds import FEW_BROKERS, MOST_BROKERS, NAMED, ClusterPart, world_of
from kwalk.model.language import Reading, UsageError
from kwalk.model.language.inspection import FindingKind, Inspection, Observation, Severity
from kwalk.model.language.model import PropertyInstance
from kwalk.model.language.recovery import Problem, Procedure, World

OF_RECORDS = (
    records.isr_has_only_own_records,
    records.no_divergence,
    records.committed_records_are_kept,
    records.last_copies_are_kept,
)
"""What every plan keeps, whatever it repairs."""
CLAIMS = (
    *(prop for prop in PROPERTIES if prop.name != "metadata_converges"),
    topic_ids.down_replica_fits,
    *OF_RECORDS,
)
"""The properties of an inspection, and those of records; worlds have no metadata caches."""
OF_STATES = (records.state_has_the_latest_epoch,)
"""What plans also reach where ZooKeeper's state is older than all logs, or gone: a controller begins one at epoch 0."""
OF_DISKS = (partitions.replica_is_online,)
"""The properties that plans reach for replicas on failed disks."""
HARMS = (
    "partition_servable",
    "partition_has_a_live_isr_member",
    "leader_answers_fetches_by_id",
    "replicas_converge",
    "partition_gets_a_leader",
    "no_partition_lost",
    *(prop.name for prop in OF_RECORDS),
)
"""The claims whose violation users notice."""
PHRASES = {
    "partition_servable": "no working leader",
    "partition_has_a_live_isr_member": "no leader until a broker of the ISR starts",
    "leader_answers_fetches_by_id": "a leader that refuses fetches by topic id",
    "replicas_converge": "a replica that does not follow, or stays out of the ISR",
    "partition_gets_a_leader": "no leader yet",
    "no_partition_lost": "a lost partition",
    "isr_has_only_own_records": "records of an earlier topic in the ISR",
    "no_divergence": "replicas in the ISR with different records",
    "committed_records_are_kept": "acknowledged records that are lost",
    "last_copies_are_kept": "records whose last copy is gone",
    "down_replica_fits": "a broker that is down and has a log with another topic id",
    "replica_id_matches_zookeeper": "replicas with another topic id than ZooKeeper",
    "topic_has_an_id": "no topic id in ZooKeeper",
    "context_agrees": "a controller that sends another topic id than ZooKeeper has",
    "no_stray": "a stray log",
    "deletion_terminates": "a deletion that hangs",
    "running_broker_is_registered": "a broker that runs and is not in /brokers/ids",
    "isr_members_live": "an ISR with a broker that is down",
    "leader_in_assignment": "an ISR outside of the replicas",
    "replica_is_online": "a replica on a failed disk",
    "cluster_has_a_controller": "no controller",
    "controller_lives": "a controller that does not run",
    "state_has_the_latest_epoch": "a state in ZooKeeper that is older than the logs",
}
"""What a partition has that violates a claim."""
SEEN_AS = ((frozenset({"partition_servable", "context_agrees"}), "leader_answers_fetches_by_id"),)
"""The leader has refused the controller's id, and its log has ZooKeeper's: at epoch 0 it seems to lead."""
WITH_OWN_DISK = (START_IN_TURN, WITHOUT_FILES, MOVE, "put-back ", ELECT_AFTER)
"""How the names of steps begin that start brokers with their own disks, beside those that start one as it was."""
WITH_LOSSES = "acknowledged records may be lost"
"""How the condition of an answer ends that may lose records."""
KEEPS = "safe: no acknowledged record is lost, none of another topic comes in, and no last copy goes,"
"""What a plan keeps; records of a topic that is being deleted are not kept."""
AHEAD = (
    "its logs have a topic id that its znode lacks, and later leader epochs than ZooKeeper's state: that is older than "
    "the logs, or they are of an earlier topic"
)
"""Why nothing is planned that keeps such logs: with the id of the logs, the state would be older than they are."""
DELETED = "if all topics of the logs were deleted on purpose, and ZooKeeper is that of this cluster"
"""The condition of plans where ZooKeeper has none of the topics of the logs."""
MOST_PARTS = 1000
"""Of more parts nothing is planned: a step such as a failover would meet those that were left out."""


WITHOUT_A_WORLD = frozenset(
    kind.name for kind in (PARTITION_LOST, NO_CONTROLLER, NO_BROKER_IS_CONTROLLER, UNREGISTERED, NOT_JUDGED)
)
"""Kinds of findings that no world has, whatever their properties."""


NOT_SEARCHED = frozenset(
    kind.name
    for kind in (
        DELETION_NOT_BEGUN,
        DELETION_PENDING,
        DELETION_WAITS,
        FOREIGN_ISR,
        ISR_BY_HAND,
        OFFLINE_LOG,
        OFFLINE_REPLICA,
        STATE_IS_LOST,
        WITHOUT_STATE_SERVED,
    )
)
"""Kinds that worlds have, and a search from a snapshot lacks: no failed disks, no deletions, only replicas."""
HARMLESS = frozenset(kind.name for kind in (ID_NOT_READ, IDS_NOT_READ, STRAY_LOG))
"""Kinds that change nothing for the topic's partitions before it is created again, or before an upgrade."""
OF_FAILOVERS = frozenset(kind.name for kind in (FAILOVER_FAILS, NO_REPLICAS))
"""Kinds that are of one partition, and with which no broker can become controller."""
UNLIKE_MODELS = OF_FAILOVERS | {
    kind.name
    for kind in (
        CONTROLLER_EPOCH_BEHIND,
        CONTROLLER_IS_SILENT,
        NO_BROKER_IS_CONTROLLER,
        NO_CONTROLLER,
        REQUEST_WAITS,
        SHARED_ID,
        STATE_BEHIND_UNNOTICED,
    )
}
"""Kinds with which controllers do not what those of models do: none works, none is elected, or it has more to do."""


def describe(violated: Iterable[str]) -> str:
    """Return what a partition has that violates these claims; what follows from a worse one is left out."""
    found = set(violated)
    if "partition_servable" in found:
        found -= {"replicas_converge", "replica_id_matches_zookeeper", "leader_answers_fetches_by_id"}
    names = [name for name in (*PHRASES, *sorted(found)) if name in found]
    return listed([PHRASES.get(name, name) for name in dict.fromkeys(names)])


def recovery_problem(source: str | os.PathLike[str] | bytes) -> Problem:
    """Return the problem of repairing the cluster of a capture.

    Raises:
        UsageError: The capture cannot be read.
    """
    capture = read_capture(source)
    if is_led_by_kraft(capture):
        return migrating_problem(capture, inspect_capture(capture))
    requested = sorted(capture.elections & failing_failovers(capture).keys())
    if requested:
        names = listed([f"{topic_label(name)}-{number}" for name, number in requested])
        raise UsageError(
            f"No failover of the controller succeeds while /admin/preferred_replica_election names {names}, which "
            "never had a leader; plans do not look at requests. Delete the znode, and take another snapshot."
        )
    inspection = inspect_capture(capture)
    waiting = [
        one.subject for kind, seen in inspection.by_kind().items() if kind.name == REQUEST_WAITS.name for one in seen
    ]
    if waiting and damaged_topics(capture, inspection):
        raise UsageError(
            f"The next controller does what {listed(waiting)} requests, and plans do not look at requests. Delete the "
            "znode, or let a controller handle it, and take another snapshot."
        )
    clean, premise = _with_clean_elections(capture, inspection)
    readable, moved = _with_readable_checkpoints(clean)
    return problem_of(readable, inspection, _joined(premise, moved))


def _with_readable_checkpoints(capture: Capture) -> tuple[Capture, str]:
    """Return the cluster of an operator who first moves garbled checkpoints away, and that condition.

    Those of leader epochs stay: without them a log may be truncated in another place.
    """
    known, names = dict(capture.brokers), list[str]()
    for number, broker in capture.brokers.items():
        found = [(path, name) for path, name in garbled_at_start(broker) if "/" not in name]
        left = (tuple(one for one in root.garbled if (root.path, one) not in found) for root in broker.roots)
        roots = (evolve(root, garbled=garbled) for root, garbled in zip(broker.roots, left, strict=True))
        known[number] = evolve(broker, roots=tuple(roots))
        names += [f"{name} of broker {number}" for _, name in found]
    moved = f"if {listed(names)} {each(names, 'was', 'were')} moved away before" if names else ""
    return evolve(capture, brokers=known) if names else capture, moved


def _with_clean_elections(capture: Capture, inspection: Inspection) -> tuple[Capture, str]:
    """Return the cluster of an operator who first forbids elections outside of the ISR, if a broker runs to ask."""
    damaged = (capture.topics.get(name) for name in damaged_topics(capture, inspection))
    unclean = [topic for topic in damaged if topic is not None and topic.elects_uncleanly]
    if not unclean or not capture.live:
        return capture, ""
    clean = {topic.name: evolve(topic, elects_uncleanly=False) for topic in unclean}
    names = listed([topic_label(topic.name) for topic in unclean])
    premise = f"if {UNCLEAN_ELECTIONS} of {names} was set to false before"
    return evolve(capture, topics={**capture.topics, **clean}), premise


def read_snapshot(source: str | os.PathLike[str] | bytes) -> Reading:
    """Read a capture (a JSON file, or its bytes) as an initial state, with what an inspection finds.

    Raises:
        UsageError: It cannot be read or modelled, or KRaft's controller leads the cluster.
    """
    capture = read_capture(source)
    if is_led_by_kraft(capture):
        raise UsageError(
            "KRaft's controller leads the cluster, and a search begins with one that ZooKeeper's leads. Ask `kwalk "
            "diagnose --migration` what awaits it, and `kwalk diagnose --plan` what to do."
        )
    inspection = inspect_capture(capture)
    damaged = [name for name in damaged_topics(capture, inspection) if name in capture.topics]
    others = sorted(capture.topics, key=lambda name: (name.startswith("__"), name))
    topic, left = first_modelled(capture, (*damaged, *others))
    broken = [
        one
        for one in inspection.observations
        if one.kind.severity is Severity.BROKEN and topic is not None and one.fields.get("topic") == topic.name
    ]
    violated = {name for one in broken for name in one.kind.properties}
    beyond = _beyond(capture, inspection, topic)
    reading = reading_of(capture, topic, inspection.severity, violated, beyond)
    problems = (problem_of(capture, inspection), deletion_of(capture, inspection))
    deletions = _deletions(capture, inspection)
    events = [f"What events do to {listed(problems[0].left_out)} was not looked at."] if problems[0].left_out else []
    unlike = _unlike_worlds(inspection)
    if unlike:
        events = [f"What events do was not looked at: no model has {listed(unlike)}."]
    waiting = [f"If topic {topic_label(t.name)} is deleted, that waits for {w}." for t, w in deletions if w]
    facts = (*left, *events, *waiting, *reading.facts)
    is_elsewhere = bool(damaged) and (topic is None or topic.name not in damaged)
    lacks = list(beyond) if topic is None or is_elsewhere else _touching(inspection, beyond, topic)
    lacks += ["any topic of the snapshot"] if topic is None and left else []
    return evolve(reading, facts=facts, problems=problems, lacks=listed(lacks) if lacks else "")


def _touching(inspection: Inspection, beyond: Collection[str], about: Topic) -> list[str]:
    """Return the kinds of damage that change what happens to a topic, of those that its search is not about.

    They are of the topic, of brokers, or of failovers.
    """
    return [
        kind.name
        for kind, places in inspection.by_kind().items()
        if kind.name in NOT_SEARCHED or kind.name in {*beyond} - HARMLESS
        if kind.name in OF_FAILOVERS or any(one.fields.get("topic") in (None, about.name) for one in places)
    ]


def _beyond(capture: Capture, inspection: Inspection, about: Topic | None) -> tuple[str, ...]:
    """Return the kinds of damage that a search about a topic is not about: no model has them, or only others do."""
    focus = None if about is None else focus_on(capture, about)

    def is_searched(one: Observation) -> bool:
        topic, number = one.fields.get("topic"), one.fields.get("partition")
        if focus is None or topic is None:
            return topic is None
        brokers = {int(b) for b in one.fields.get("brokers", "").split()}
        is_about = topic == focus.topic.name and (number is None or int(number) in focus.partitions)
        return is_about and (not brokers or not brokers.isdisjoint(focus.brokers))

    damage = {kind: places for kind, places in inspection.by_kind().items() if kind.severity is not Severity.NOTE}
    return tuple(
        kind.name for kind, places in damage.items() if not (is_covered(kind) and any(map(is_searched, places)))
    )


def first_modelled(capture: Capture, names: Iterable[str]) -> tuple[Topic | None, list[str]]:
    """Return the first of some topics that a state of the model is, and sentences on those that none is."""
    topics = [capture.topics[name] for name in dict.fromkeys(names) if capture.topics[name].partitions]
    left = {one.name: why for one in topics for n in one.partitions if (why := obstacle_of(capture, one, n))}
    sentences = [f"Not searched: topic {topic_label(name)}: {why}." for name, why in left.items()]
    return next((one for one in topics if one.name not in left), None), sentences


def problem_of(capture: Capture, inspection: Inspection | None = None, premise: str = "") -> Problem:
    """Return the problem of repairing a captured cluster: its damaged topics, each kind of situation once.

    Args:
        capture: the capture.
        inspection: what was found in it; it is inspected if that is not given.
        premise: the condition under which the capture shows what is so.
    """
    found = inspection or inspect_capture(capture)
    groups, left = groups_of(capture, damaged_topics(capture, found))
    parts = parts_of(groups)
    acting = [*parts, *_with_one_member(capture, parts)]
    catalogue = Catalogue(capture, acting, [one.part for one in left])
    uncovered = tuple(kind.name for kind in found.by_kind() if not is_covered(kind) or _stays(capture, found, kind))
    common = _joined(premise, _of_lost_topics(found), _marked(capture), _of_strangers(capture))
    unlike = _unlike_worlds(found)
    first = Problem(
        inspection=found,
        worlds=tuple(_world(part) for part in acting),
        procedures=catalogue.procedures(),
        what_ifs=() if unlike else catalogue.what_ifs(),
        describe=describe,
        notes=(
            *_in_the_way(left),
            *_alike(parts),
            *_still_served(capture, parts),
            *_uncovered(found, uncovered),
            *unseen(capture, _taken_for_others(parts)),
            *_offline_logs(capture, parts),
        ),
        carried_out=carried_out(capture.version, found),
        premise=_joined(common, _premise(parts), _of_unseen(capture, parts, ())),
        keeps=_keeps(capture, parts),
        kept=frozenset({records.committed_records_are_kept.name}),
        although="though a broker crashes or the controller fails over",
        seen_as=SEEN_AS,
        left_out=(*(one.part.name for one in left), *(part.name for part in _with_refusals(capture, parts))),
        withheld=catalogue.withheld(),
        uncovered=uncovered,
    )
    alternatives = (
        *_later(first, acting),
        *_for_good(capture, first, parts, common),
        *_other_choices(capture, first, groups, left, common),
        *_with_losses(capture, first, parts, common),
    )
    return evolve(first, alternatives=alternatives)


def _with_one_member(capture: Capture, parts: Iterable[ClusterPart]) -> Iterator[ClusterPart]:
    """Yield parts with one member of an ISR each that is down: a controller on another broker leaves any one of them.

    It takes the members out of the ISR one after the other, and keeps the last one: which that is depends on a hash map
    of broker ids and the version of Scala. On 2.8.2 it was a broker that was gone for good, and the partition stayed
    without a leader. While no broker runs, the first that starts is the controller: where it may be one that takes no
    part in the partition.

    Kafka: KafkaController.onControllerFailover, ReplicaStateMachine.doRemoveReplicasFromIsr.
    """
    for part in parts:
        observed, isr = part.observed, _isr(part.observed)
        is_down = not any(one.in_isr and one.alive for one in observed.situation.brokers)
        if is_down and len(isr) > 1 and (capture.live or not capture.brokers.keys() <= {*observed.brokers}):
            for member in isr:
                known = zip(observed.brokers, observed.situation.brokers, strict=True)
                found = tuple(evolve(one, in_isr=b == member, leads=False) for b, one in known)
                yield evolve(part, observed=evolve(observed, situation=evolve(observed.situation, brokers=found)))


def _world(part: ClusterPart, *, deletion: bool = False) -> World:
    failed = {number for number, one in enumerate(part.observed.situation.brokers) if one.offline}
    claims = (*CLAIMS, *(OF_STATES if part.is_behind or not part.has_state else ()), *(OF_DISKS if failed else ()))
    world = world_of(part, claims, HARMS, deletion=deletion)
    known = (one for one in world.claims if one.declaration.name != OF_DISKS[0].name or one.args[0] in failed)
    return evolve(world, claims=tuple(known))


def _with_refusals(capture: Capture, parts: Iterable[ClusterPart]) -> list[ClusterPart]:
    """Return the parts with logs of other ids, on a release where a log that was refused once is offline."""
    if not marks_refused_logs_offline(capture.version):
        return []
    known = ((part, part.observed.situation) for part in parts)
    return [p for p, one in known if any(b.file not in (None, one.topic_id) for b in one.brokers)]


def _in_the_way(left: Iterable[LeftOut]) -> Iterator[str]:
    """Yield what was left out, and why."""
    reasons: dict[str, list[str]] = {}
    for one in left:
        reasons.setdefault(one.why, []).append(one.part.name)
    for why, names in reasons.items():
        yield f"No model has {listed(names)}, and no step of a plan touches it: {why}."


def _offline_logs(capture: Capture, parts: Iterable[ClusterPart]) -> Iterator[str]:
    """Yield what the search leaves out of brokers on which a log that was refused once is offline."""
    differing = _with_refusals(capture, parts)
    if differing:
        now = sorted({broker for part in differing for broker in refused_at_start(capture, part.topic)})
        restarts = f"{brokers(now)}, and " if now else ""
        yield (
            f"Not searched: on Kafka {capture.version} a log that has refused the first request of its process is "
            "offline until the process ends. The steps do not serve such a log again: after the plan restart "
            f"{restarts}each broker that starts before the ids agree."
        )


def _of_lost_topics(inspection: Inspection) -> str:
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


def _of_strangers(capture: Capture) -> str:
    """Return the condition that brokers with logs of other topics are of this cluster: plans move these away."""
    found = strangers(capture)
    return f"if {brokers(found)} {each(found, 'is', 'are')} not of another cluster" if found else ""


def _premise(parts: Iterable[ClusterPart]) -> str:
    known = tuple(parts)
    found = list(dict.fromkeys(part.choice.premise for part in known if part.choice.premise))
    bare = [part.name for part in known if _has_lost_its_logs(part)]
    return _joined(listed(found) if found else "", f"if the records of {listed(bare)} are given up" if bare else "")


def _has_lost_its_logs(part: ClusterPart) -> bool:
    """Whether a partition that has been led has no log on the disk of any broker, and no broker serves it.

    The first leader may have served it for long at leader epoch 0.
    """
    situation = part.observed.situation
    is_gone = not any(one.directory or one.offline for one in situation.brokers) and not situation.deleting
    return is_gone and situation.has_state and not any(one.in_isr and one.alive for one in situation.brokers)


def _marked(capture: Capture) -> str:
    """Return the condition that topics with logs were marked for deletion on purpose: a start or a failover ends it.

    A replica that the snapshot does not show may have a log.
    """
    logs = {name.rpartition("-")[0] for broker in capture.hosts for name in broker.directories}
    names = [topic_label(name) for name in capture.deleting if name in capture.topics and name in logs]
    return f"if {listed(names)} {each(names, 'was', 'were')} marked for deletion on purpose" if names else ""


def _taken_for_others(parts: Iterable[ClusterPart]) -> frozenset[int]:
    """Return the brokers whose disks are taken to be those of others."""
    return frozenset(broker for part in parts for broker in part.choice.without)


def _of_unseen(capture: Capture, parts: Sequence[ClusterPart], gone: Collection[int]) -> str:
    """Return the condition that what the snapshot lacks is in order: disks of replicas, and other topics.

    Nothing is to be so on the disks of brokers that are gone for good.
    """
    others = "if no topic that the snapshot lacks is damaged" if capture.patterns and parts else ""
    return _joined(_of_unseen_disks(capture, parts, gone), others)


def _of_unseen_disks(capture: Capture, parts: Iterable[ClusterPart], gone: Collection[int]) -> str:
    """Return the condition that replicas have logs of the topic on the disks that the snapshot lacks.

    While all members of an ISR are down, one that was not seen may have records that those which were have lost, or
    lack some.
    """
    found, rivals, known_parts = set[int](), set[int](), tuple(parts)
    others = _taken_for_others(known_parts)
    for part in known_parts:
        known = dict(zip(part.observed.brokers, part.observed.situation.brokers, strict=True))
        members = [b for b, one in known.items() if (one.replica or one.in_isr) and not one.offline]
        name, number = part.topic.name, part.partitions[0]
        unseen = {b for b in members if b not in others and not capture.shows(b, name, number)} - {*gone}
        isr = {b for b in members if known[b].in_isr} - {*gone}
        found |= unseen
        rivals |= unseen & isr if isr - unseen and not any(known[b].alive for b in isr) else set()
    if not found:
        return ""
    what = "have the logs that ZooKeeper assigns to them"
    ends = f"; of {brokers(sorted(rivals))} they end where the longest of other ISR members do" if rivals else ""
    return f"if the log directories of {brokers(sorted(found))}, which the snapshot lacks, {what}{ends}"


def _other_choices(
    capture: Capture, first: Problem, groups: Sequence[PartitionGroup], left: Iterable[LeftOut], common: str
) -> Iterator[Problem]:
    """Yield the problem for each further choice of what the logs are, or are to be."""
    for number in range(1, max((len(group.choices) for group in groups), default=1)):
        parts = parts_of(groups, number)
        acting = [*parts, *_with_one_member(capture, parts)]
        yield evolve(
            first,
            worlds=tuple(_world(part) for part in acting),
            procedures=Catalogue(capture, acting, [one.part for one in left]).procedures(),
            what_ifs=(),
            notes=(),
            premise=_joined(common, _premise(parts), _of_unseen(capture, parts, ())),
            keeps=_keeps(capture, parts),
        )


def _keeps(capture: Capture, parts: Sequence[ClusterPart]) -> str:
    """Return what plans keep: not the records of logs that the operator has not chosen."""
    given_up: dict[str, None] = {}
    for part in parts:
        others = sorted({b for group in part.lineages.groups for b in group} - {*part.choice.keeps})
        label = topic_label(part.topic.name)
        isr = _isr(part.observed)
        if _has_lost_its_logs(part):
            given_up[f"{part.name} had"] = None
        elif isr and not part.lineages.isr:
            given_up[f"only {brokers(isr)} had of {part.name}"] = None
        elif others and not part.choice.keeps:
            given_up[f"topic {label} has now"] = None
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
    return any(keeps_difference(logs[broker], logs[kept]) for kept in part.choice.keeps if kept in logs)


def _later(first: Problem, parts: Iterable[ClusterPart]) -> Iterator[Problem]:
    """Yield the problem if nothing happens by itself any more, where the controller may not have noticed all.

    It may elect by itself where there is no state. Where it may not have noticed a crash, a broker that starts would
    not do: the leader may know another ISR than ZooKeeper has, which a failover makes equal.
    """
    is_short = any(one.in_isr and not one.alive for part in parts for one in part.observed.situation.brokers)
    if is_short or any(part.first_leader is not None for part in parts):
        worlds = tuple(_world(evolve(part, is_settled=True)) for part in parts)
        premise = _joined(first.premise, "if another snapshot, a minute later, shows the same")
        procedures = _without(first, START_BROKER, START_IN_TURN) if is_short else first.procedures
        left = evolve(first, worlds=worlds, procedures=procedures, what_ifs=(), notes=())
        yield evolve(left, premise=premise, is_for_later=is_short, is_last_resort=not is_short)


def _with_losses(capture: Capture, first: Problem, parts: Sequence[ClusterPart], common: str) -> Iterator[Problem]:
    """Yield the problem of an operator who gives up what cannot be kept: acknowledged records may be lost.

    A broker that is down and has them would save them: then only the operator for whom it is gone for good asks, and
    only then an empty one takes its place.
    """
    if any(one.name.startswith(LOSSY) for one in first.procedures):
        members = {b for part in parts for b in _isr(part.observed)}
        saving = {f"{START_BROKER}{b}" for b in members}  # others may be elected, as what these have is given up
        unsaved = saving - {f"{START_BROKER}{b}" for b in members if _saves_all(parts, b)}
        empty = {name.replace(START_BROKER, START_EMPTY) for name in _named(first, START_BROKER)}
        worse = _outdone(capture, parts)
        kept = tuple(one for one in first.procedures if one.name not in empty and not _does(one, unsaved | worse))
        out = {f"{START_BROKER}{b}" for b in _kept_down(capture, parts)} - {one.name for one in kept}
        kept = tuple(one for one in kept if not _starts_gone(one, out))
        left = _losing(evolve(first, procedures=_starting_more(kept), what_ifs=(), notes=()), parts)
        premise = f"{_gone(out)}, and {WITH_LOSSES}" if out else f"if {WITH_LOSSES}"
        yield evolve(_without_bare_starts(left, parts), premise=_joined(first.premise, premise))
        for begin, given_up in _given_up(first, saving):
            gone = {int(name.removeprefix(begin)) for name in given_up}
            saved = {part.name for part in parts if {*part.lineages.isr} - gone}
            harmful = _outdone(capture, parts, gone, saved)
            procedures = tuple(one for one in _without_gone(first, begin, given_up) if not _does(one, harmful))
            left = evolve(first, procedures=_starting_more(procedures), what_ifs=(), notes=())
            left, missed = _losing(left, parts, saved), _gone_brokers(begin, given_up)
            unseen = _of_unseen(capture, parts, missed)
            premise = _joined(common, _premise(parts), unseen, f"{GONE[begin](given_up)}, and {WITH_LOSSES}")
            left = _without_bare_starts(_without_logs(left, parts, missed), parts)
            yield evolve(left, premise=premise, instead_of=given_up)


def _does(one: Procedure, names: Collection[str]) -> bool:
    """Whether a step is one of some that start a broker as it was, or starts several with such a one."""
    several = one.starts if one.name.startswith(START_IN_TURN) else ()
    return one.name in names or any(f"{START_BROKER}{b}" in names for b in several)


def _saves_all(parts: Sequence[ClusterPart], broker: int) -> bool:
    """Whether a broker has what was acknowledged in each part whose ISR it is in, and another part may lose records."""
    own = [part for part in parts if broker in _isr(part.observed)]
    return len(own) < len(parts) and all(broker in part.lineages.isr for part in own)


def _kept_down(capture: Capture, parts: Iterable[ClusterPart]) -> set[int]:
    """Return the brokers that are down, and would lead a partition without a live ISR member with all that was kept."""
    return {
        b
        for part in parts
        if not any(one.in_isr and one.alive for one in part.observed.situation.brokers)
        for b in _isr(part.observed)
        if b in part.lineages.isr and not capture.brokers[b].alive
    }


def _outdone(
    capture: Capture, parts: Iterable[ClusterPart], gone: Collection[int] = (), saved: Collection[str] | None = None
) -> set[str]:
    """Return the steps that start a replica which must not lead in the place of an ISR: another one's log ends later.

    Args:
        capture: The capture.
        parts: The parts of which records may be lost.
        gone: The brokers that are gone for good.
        saved: The names of the parts of which an ISR member is left; all, if None.
    """
    found = set[int]()
    for part in parts:
        known, number, isr = part.observed.situation.brokers, part.partitions[0], _isr(part.observed)
        if not any(one.in_isr and one.alive for one in known):
            left = {*part.topic.partitions.get(number, ()), *isr} - {*gone}
            left -= {*isr} if saved is None or part.name in saved else set()
            logs = {b: log for b in left if (log := capture.directory(b, part.topic.name, number))}
            found |= logs.keys() - {*latest_logs(logs, part.topic)}
    return {f"{START_BROKER}{b}" for b in found}


def _starting_more(procedures: Sequence[Procedure]) -> tuple[Procedure, ...]:
    """Return steps without elections that pass over a broker which is down, and has more records than the ISR."""
    topics = {one.name.split()[1] for one in procedures if one.name.startswith(ELECT_AFTER)}
    return tuple(one for one in procedures if not (one.name.startswith(ELECT) and one.name.split()[1] in topics))


def _losing(problem: Problem, parts: Iterable[ClusterPart], saved: Collection[str] = ()) -> Problem:
    """Return a problem whose plans may lose acknowledged records, and are asked for as a last resort.

    Those of the parts whose names are saved are kept: another broker has them than those that are gone. A broker with
    an empty disk would lead, and the others would lose all that they have: they are to lead before.
    """
    lost = {prop.name for prop in (records.committed_records_are_kept, records.last_copies_are_kept)}
    dropped = set[str]()
    procedures, uncovered = problem.procedures, problem.uncovered
    starting = {int(name.removeprefix(START_BROKER)) for name in _named(problem, START_BROKER)}
    electable = [p.observed for p in parts if p.name not in saved and _is_electable(p.observed, starting)]
    if any(one.offline and one.in_isr for observed in electable for one in observed.situation.brokers):
        procedures = _without(problem, REPLACE_DISK)
        if not _named(problem, REPAIR_DISK):
            dropped |= {prop.name for prop in OF_DISKS}
            uncovered = (*uncovered, OFFLINE_REPLICA.name)
    leading = {f"{START_EMPTY}{b}" for observed in electable for b in _isr(observed) or observed.brokers}
    bare = {str(b) for observed in electable for b in _bare_members(observed)}
    procedures = tuple(one for one in procedures if one.name not in leading and bare.isdisjoint(one.starts))
    waiting = [world for world in problem.worlds if leading and world.success]  # for the empty broker: let it wait
    uncovered = (*uncovered, *(DELETION_PENDING.name for _ in waiting[:1]))

    def claims(world: World) -> Iterator[PropertyInstance]:
        left = dropped | (set() if world.name in saved else lost)
        yield from (one for one in world.claims if world not in waiting and one.declaration.name not in left)

    worlds = tuple(evolve(world, claims=tuple(claims(world))) for world in problem.worlds)
    which = f" of {listed([part.name for part in parts if part.name not in saved])}" if saved else ""
    keeps = f"no record of another topic comes in, and acknowledged ones{which} may be lost,"
    left = evolve(problem, worlds=worlds, procedures=procedures, uncovered=uncovered)
    return evolve(left, is_last_resort=True, keeps=keeps)


def _is_electable(observed: Observed, starting: Collection[int]) -> bool:
    """Whether a replica that is live, or starts, has a log of a partition without a live ISR member."""
    known = list(zip(observed.brokers, observed.situation.brokers, strict=True))
    is_served = any(one.in_isr and one.alive for _, one in known)
    return not is_served and any(one.replica and one.directory and (one.alive or b in starting) for b, one in known)


def _bare_members(observed: Observed) -> list[int]:
    """Return the members of the ISR that are down and have no log."""
    known = zip(observed.brokers, observed.situation.brokers, strict=True)
    return [b for b, one in known if one.in_isr and not one.alive and not one.directory]


def _isr(observed: Observed) -> list[int]:
    return [b for b, one in zip(observed.brokers, observed.situation.brokers, strict=True) if one.in_isr]


def _named(problem: Problem, begin: str) -> frozenset[str]:
    """Return the names of the steps that begin so."""
    return frozenset(one.name for one in problem.procedures if one.name.startswith(begin))


def _without(problem: Problem, *begins: str) -> tuple[Procedure, ...]:
    return tuple(one for one in problem.procedures if not one.name.startswith(begins))


def _without_gone(problem: Problem, begin: str, given_up: Collection[str]) -> tuple[Procedure, ...]:
    """Return the steps without those that need what is gone, and without empty disks in the place of what is not.

    Args:
        problem: The problem.
        begin: How the names begin of the steps that bring a broker, or a disk, back.
        given_up: The names of those that cannot be done.
    """
    kept = {name.replace(begin, EMPTY[begin]) for name in _named(problem, begin) - {*given_up}}
    return tuple(
        one for one in problem.procedures if one.name not in {*given_up, *kept} and not _starts_gone(one, given_up)
    )


def _starts_gone(one: Procedure, given_up: Iterable[str]) -> bool:
    """Whether a step starts a broker that is gone for good with its own disk, beside its mere start."""
    return one.name.startswith(WITH_OWN_DISK) and any(f"{START_BROKER}{b}" in given_up for b in one.starts)


def _without_bare_starts(problem: Problem, parts: Iterable[ClusterPart]) -> Problem:
    """Return a problem that gives records up without the steps that start a replica without its log, which might lead.

    Another replica has a log, and no ISR member lives: an unclean election might take the empty one. Once another one
    leads, it follows.
    """
    starting = {int(name.removeprefix(START_BROKER)) for name in _named(problem, START_BROKER)}
    bare = dict[str, set[int]]()
    for part in parts:
        known = zip(part.observed.brokers, part.observed.situation.brokers, strict=True)
        if _is_electable(part.observed, starting):
            bare.setdefault(topic_label(part.topic.name), set()).update(
                b for b, one in known if one.replica and not one.alive
            )

    def is_bare(one: Procedure) -> bool:
        begin, *names = one.name.split()
        return begin.startswith(MOVE) and any(int(b) in bare.get(name, ()) for b in one.starts for name in names)

    procedures = tuple(one for one in problem.procedures if not is_bare(one))
    left = {int(b) for one in problem.procedures if one not in procedures for b in one.starts}
    return _without_logs(evolve(problem, procedures=procedures), parts, left)


def _joined(*conditions: str) -> str:
    """Return conditions that all hold: a plan is safe only under each of those that its worlds take for granted."""
    return ", and ".join(filter(None, conditions))


def _gone(starts: Iterable[str]) -> str:
    gone = sorted(int(name.removeprefix(START_BROKER)) for name in starts)
    return f"if {brokers(gone)} {'is' if len(gone) == 1 else 'are'} gone for good"


def _unreadable(repairs: Iterable[str]) -> str:
    owners = sorted(int(name.removeprefix(REPAIR_DISK)) for name in repairs)
    return f"if the failed disk{'s' * (len(owners) > 1)} of {brokers(owners)} cannot be read"


GONE: Mapping[str, Callable[[Iterable[str]], str]] = {START_BROKER: _gone, REPAIR_DISK: _unreadable}
"""The condition under which steps, by the beginning of their names, cannot be done."""
OF_DOWN_LOGS = (DOWN_WITH_ANOTHER_ID.name, DOWN_WITH_ANOTHER_LOG.name)
"""The kinds of damage of brokers that are down, and may not start with the log that they have."""
FITS = topic_ids.down_replica_fits.name
"""The claim that a broker which is down may start with the log that it has."""
EMPTY: Mapping[str, str] = {START_BROKER: START_EMPTY, REPAIR_DISK: REPLACE_DISK}
"""How the names of the steps begin that put an empty disk in the place of what is gone."""


def _for_good(capture: Capture, first: Problem, parts: Sequence[ClusterPart], common: str) -> Iterator[Problem]:
    """Yield the problem without a broker that starts again, or a disk that is repaired, as it is gone for good.

    Of several, one may be gone and the others not: the operator who misses one needs no empty brokers for the others.
    """
    for begin, given_up in _given_up(first):
        left = evolve(first, procedures=_without_gone(first, begin, given_up), what_ifs=(), notes=())
        gone = _gone_brokers(begin, given_up)
        premise = _joined(common, _premise(parts), _of_unseen(capture, parts, gone), GONE[begin](given_up))
        yield evolve(_without_logs(left, parts, gone), premise=premise, instead_of=given_up)


def _gone_brokers(begin: str, given_up: Iterable[str]) -> list[int]:
    """Return the brokers that are gone for good if steps cannot be done: of failed disks, none."""
    return [int(name.removeprefix(begin)) for name in given_up] if begin == START_BROKER else []


def _without_logs(problem: Problem, parts: Iterable[ClusterPart], gone: Collection[int]) -> Problem:
    """Return a problem in which the logs of brokers that are gone for good need not be the topic's.

    No process takes them up any more; an inspection finds them still, as it does not know that they are gone.
    """
    numbers = {part.name: {part.number(b) for b in gone} for part in parts}
    worlds = tuple(
        evolve(one, claims=tuple(c for c in one.claims if c.declaration.name != FITS or c.args[0] not in own))
        for one in problem.worlds
        for own in (numbers[one.name],)
    )
    left = [
        kind.name
        for kind, places in problem.inspection.by_kind().items()
        if kind.name in OF_DOWN_LOGS and any(int(one.fields["brokers"]) in gone for one in places)
    ]
    return evolve(problem, worlds=worlds, uncovered=(*problem.uncovered, *left))


def _given_up(first: Problem, together: Iterable[str] = ()) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield what may be gone: how the names of the steps begin that bring it back, and these names; fewer first.

    Args:
        first: The problem.
        together: The names of steps without all of which something is lost, though others can be done.
    """
    for begin in GONE:
        named = _named(first, begin)
        several = (frozenset(together) & named, named)
        ordered = sorted(named, key=lambda name: int(name.removeprefix(begin))) if len(named) <= MOST_SINGLY else []
        singly = (frozenset({name}) for name in ordered)  # of more, another snapshot shows which ones do not start
        for given_up in dict.fromkeys((*singly, *several)):
            if given_up:
                yield begin, given_up


def deletion_of(capture: Capture, inspection: Inspection) -> Problem:
    """Return the problem whose only what-if is the deletion of each damaged topic, but for those that wait."""
    ends = [topic.name for topic, waits in _deletions(capture, inspection) if not waits]
    groups, _ = groups_of(capture, ends)
    parts = parts_of(groups)
    worlds = tuple(_world(part, deletion=True) for part in parts)
    return Problem(inspection, worlds, what_ifs=(Catalogue(capture, parts).deletion(),), describe=describe)


def _deletions(capture: Capture, inspection: Inspection) -> Iterator[tuple[Topic, str]]:
    """Yield each damaged topic with what its deletion would wait for; empty if for nothing."""
    for name in damaged_topics(capture, inspection):
        topic = capture.topics.get(name)
        if topic is not None and name not in capture.deleting:
            down, failed = deletion_waits_for(capture, topic)
            waits = [brokers(down)] * bool(down) + [f"a failed disk of {brokers(failed)}"] * bool(failed)
            yield topic, listed([*waits, *["its reassignment"] * bool(topic.moving)]) if waits or topic.moving else ""


def damaged_topics(capture: Capture, inspection: Inspection) -> list[str]:
    """Return the names of the topics with a finding that is more than a note, the worst first.

    A topic without a znode that no broker which runs has a log of is none: no step takes its logs away.
    """
    order = {kind.name: number for number, kind in enumerate(KINDS)}
    seen = sorted(inspection.observations, key=lambda one: order[one.kind.name])
    damage = (one for one in seen if one.kind.severity is not Severity.NOTE and "topic" in one.fields)
    is_up = {str(number) for number in capture.live}
    return list(
        dict.fromkeys(
            one.fields["topic"]
            for one in damage
            if one.kind.name != ORPHANED_LOG.name or is_up & {*one.fields["brokers"].split()}
        )
    )


@frozen
class PartitionGroup:
    """Partitions of a topic in one situation, with the choices of what their logs are."""

    topic: Topic
    partitions: tuple[int, ...]
    observed: Observed
    lineages: Lineages
    choices: tuple[Choice, ...]
    latest: tuple[int, ...]

    @property
    def key(self) -> object:
        """What partitions have in common that are one group."""
        observed, alike = self.observed, frozenset(self.observed.alike.items())
        return observed.situation, observed.brokers, alike, observed.ids, self.choices, self.latest


@frozen
class LeftOut:
    """A partition that has no world, and what stands in the way; its part says which steps would change it."""

    part: ClusterPart
    why: str


def groups_of(
    capture: Capture, names: Iterable[str], most: int = MOST_PARTS
) -> tuple[list[PartitionGroup], list[LeftOut]]:
    """Return the groups of partitions of some topics, and the partitions that are left out.

    Partitions are one group if they are in the same situation on the same brokers in the same order.
    """
    situations = Situations(capture)
    orphaned = situations.orphaned()
    apart = set(_out_of_order(situations, names))
    groups: list[PartitionGroup] = []
    left: list[LeftOut] = []
    for name in names:
        topic = capture.topics.get(name) or Topic(name, {}, None, 3, 0)
        equal: dict[object, list[int]] = {}
        known: dict[int, PartitionGroup] = {}
        for partition in sorted({*topic.partitions, *topic.states, *orphaned.get(name, {})}):
            observed = _in_a_world(situations, topic, partition, apart)
            why = obstacle_of(capture, topic, partition, with_records=True)
            if observed.situation.is_lost or partition in topic.unassigned:
                why = f"the topic's znode {'gives it no replica' if partition in topic.unassigned else 'has lost it'}"
            elif partition in topic.moving:  # logs that it removes may be the last copies
                why = why or _moving(capture, topic, partition)
            elif by_hand := _by_hand(capture, topic, partition):
                why = why or by_hand
            elif len(observed.brokers) > MOST_BROKERS:
                why = why or f"{len(observed.brokers)} brokers take part, more than the {MOST_BROKERS} of a model"
            if why:
                left.append(LeftOut(_without_world(situations, topic, (partition,)), why))
                continue
            lineages = situations.lineages(topic, partition, observed.brokers)
            ahead = _ahead(capture, topic, partition, observed)
            choices = own_choices(capture, lineages, topic, partition)
            alike = {observed.brokers[number] for number in observed.alike.values()}
            possible = tuple(one for one in choices if ahead.isdisjoint(one.keeps) and alike <= {*one.keeps})
            if choices[:1] != possible[:1]:
                left.append(LeftOut(_without_world(situations, topic, (partition,)), AHEAD))
                continue
            latest = latest_members(capture, topic, partition)
            known[partition] = PartitionGroup(topic, (), observed, lineages, possible, latest)
            equal.setdefault(known[partition].key, []).append(partition)
        groups += [evolve(known[numbers[0]], partitions=tuple(numbers)) for numbers in equal.values()]
    if len(groups) > most:
        why = f"{len(groups)} groups of partitions are damaged, more than {most}"
        parts = (_without_world(situations, group.topic, group.partitions) for group in groups)
        return [], [*left, *(LeftOut(part, why) for part in parts)]
    ids = {one.part.topic.name: dict[str, None]() for one in left}
    for group in groups:
        ids.get(group.topic.name, {}).update(dict.fromkeys(group.observed.ids))
    return groups, [evolve(one, part=evolve(one.part, ids=(*one.part.ids, *ids[one.part.topic.name]))) for one in left]


def _moving(capture: Capture, topic: Topic, partition: int) -> str:
    """Return why a partition that is being reassigned is left alone."""
    if not topic.moving[partition].target(topic.partitions[partition]):
        return "a reassignment removes all its replicas: take it out of removing_replicas first"
    found, is_kept = reassignment_of(capture, topic, partition), topic.name not in capture.deleting
    if is_kept and not found.is_led:
        return "its replicas are being reassigned, and nothing is copied before an ISR member leads: start one first"
    may_cancel = found.may_be_cancelled and is_kept
    or_cancel = ", or cancel it" * may_cancel  # KafkaController.maybeTriggerPartitionReassignment refuses a deleted one
    return f"its replicas are being reassigned: let that end{or_cancel}"


def _by_hand(capture: Capture, topic: Topic, partition: int) -> str:
    """Return what was written by hand that brokers do not know, or no controller; empty if nothing shows it."""
    if serves_marked(capture, topic) and any(deletion_waits_for(capture, topic)):
        return "it is marked for deletion, and no controller has begun: decide whether it is wanted"
    replicas = topic.partitions.get(partition, ())
    if replicas and partition not in topic.states and not any(capture.brokers[b].alive for b in replicas):
        has = "has no state znode" if has_own_logs(capture, topic, partition) else "never had a leader"
        return f"it {has}, and all its replicas are down"
    without = replicas_without_log(capture, topic, partition)
    bare = [b for b in without if capture.directory(b, topic.name, partition) is None]
    return f"{brokers(bare)} {each(bare, 'has', 'have')} no log of it: reassign it to its replicas" if bare else ""


def _ahead(capture: Capture, topic: Topic, partition: int, observed: Observed) -> frozenset[int]:
    """Return the brokers whose logs have later leader epochs than ZooKeeper's state, if an id is another one.

    A topic that is being deleted keeps none.
    """
    if topic.name in capture.deleting or is_behind_logs(capture, topic, partition):
        return frozenset()
    return frozenset(epochs_ahead(capture, topic, partition, observed.brokers))


def _out_of_order(situations: Situations, names: Iterable[str]) -> Iterator[int]:
    """Yield the brokers to which a step may be done alone: with a replica of some topics, or a log, not in order.

    That is also one with another topic id than most replicas of a partition.
    """
    for topic in (situations.capture.topics[name] for name in names if name in situations.capture.topics):
        for partition in topic.partitions:
            observed = situations.whole(topic, partition)
            known = observed.situation.brokers
            files = [one.file for one in known if one.replica]
            usual = mode(files) if files else None
            for broker, one in zip(observed.brokers, known, strict=True):
                if (one.replica or one.directory) and (one.file != usual or not is_in_order(one)):
                    yield broker


def _in_a_world(situations: Situations, topic: Topic, partition: int, apart: Collection[int]) -> Observed:
    """Return the situation of a partition; if that has many brokers, without some that others are like.

    Their logs are of the lineage of a live leader's, whose term is ZooKeeper's: none has records that all others lack.
    No step of a plan is for one of them, or its like, alone. Those that are `apart` stay.
    """
    whole = situations.whole(topic, partition)
    if len(whole.brokers) <= FEW_BROKERS or is_behind_logs(situations.capture, topic, partition):
        return whole
    logs = situations.lineages(topic, partition, whole.brokers)
    leaders = (b for b, one in zip(whole.brokers, whole.situation.brokers, strict=True) if one.leads and one.alive)
    led = logs.group_of(next(leaders, -1))
    for most in (2, 1) if led is not None else ():
        found = without_alike(whole, most, apart)
        alike = {*found.alike, *(found.brokers[number] for number in found.alike.values())}
        is_like_leader = all(logs.group_of(broker) == led for broker in alike)
        if is_like_leader and len(found.brokers) <= (FEW_BROKERS if most > 1 else MOST_BROKERS):
            return found
    return whole


def _alike(parts: Iterable[ClusterPart]) -> Iterator[str]:
    """Yield which brokers plans are searched without, of the first partitions."""
    known = [
        (part.name, brokers([b for b, like in part.observed.alike.items() if like == n]), part.observed.brokers[n])
        for part in parts
        for n in dict.fromkeys(part.observed.alike.values())
    ]
    for name, left, like in known[:NAMED]:
        yield f"The search has {name} without {left}, there like broker {like}."
    if len(known) > NAMED:
        yield f"It has {len(known) - NAMED:,} more groups of partitions without such brokers."


def _without_world(situations: Situations, topic: Topic, partitions: tuple[int, ...]) -> ClusterPart:
    """Return partitions as a part that steps are tried on by name only.

    Without a controller each broker that starts may become it, and elect leaders.
    """
    observed = situations.whole(topic, partitions[0])
    capture, brokers, known = situations.capture, observed.brokers, observed.situation.brokers
    if capture.controller not in {*capture.live} & {*capture.registered}:
        others = tuple(b for b in capture.brokers if b not in brokers)
        brokers, known = (*brokers, *others), (*known, *(situations.of_broker(b).situation.brokers[0] for b in others))
    serving = evolve(observed.situation, brokers=tuple(evolve(one, offline=False) for one in known))
    lineages = Lineages(brokers, {}, ())
    return ClusterPart(
        topic, partitions, Observed(serving, brokers, observed.ids), observed.ids, Choice((), ()), lineages
    )


def parts_of(groups: Sequence[PartitionGroup], number: int = 0) -> list[ClusterPart]:
    """Return the parts of groups, with the choice of a number, or the last one where there are fewer."""
    parts = []
    for group in groups:
        known = [i for other in groups if other.topic.name == group.topic.name for i in other.observed.ids]
        choice = group.choices[min(number, len(group.choices) - 1)]
        ids = tuple(dict.fromkeys([*group.observed.ids, *known]))
        observed = without_logs(group.observed, choice.without)
        parts.append(
            ClusterPart(group.topic, group.partitions, observed, ids, choice, group.lineages, latest=group.latest)
        )
    return parts


def _still_served(capture: Capture, parts: Iterable[ClusterPart]) -> Iterator[str]:
    """Yield a warning for each topic that ZooKeeper does not have, and brokers answer clients for."""
    caches = [broker.cache for broker in capture.brokers.values() if broker.alive and broker.cache]
    for name in sorted({part.topic.name for part in parts} - capture.topics.keys()):
        if any(cache.partitions.get(name) for cache in caches):
            yield (
                f"Brokers still serve topic {topic_label(name)}, of which ZooKeeper has nothing. To keep its records, "
                "do not follow this plan: create the topic again with the same partitions and replicas, and recover "
                "from a new snapshot."
            )


def _stays(capture: Capture, inspection: Inspection, kind: FindingKind) -> bool:
    """Whether a kind has places that are no damage to plans.

    Logs of topics without znode stay on brokers that are down, until an operator wants the name again. And no claim is
    violated by a member that a hand wrote into an ISR: it is a replica, and may have all records.
    """
    places = inspection.by_kind()[kind]
    if kind.name == ORPHANED_LOG.name:
        is_up = {str(number) for number in capture.live}
        return any(not is_up >= {*one.fields["brokers"].split()} for one in places)
    named = ((capture.topics[one.fields["topic"]], int(one.fields["partition"])) for one in places)
    return kind.name == ISR_BY_HAND.name and any(
        not {*isr_before_hand(capture, topic, number)} >= {*topic.states[number].isr} for topic, number in named
    )


def _unlike_worlds(inspection: Inspection) -> list[str]:
    """Return the kinds of damage with which no model foresees anything: a broker that runs becomes its controller."""
    return [kind.name for kind in inspection.by_kind() if kind.name in UNLIKE_MODELS]


def _uncovered(inspection: Inspection, names: Collection[str]) -> Iterator[str]:
    kinds = [kind for kind in inspection.by_kind() if kind.name in names]
    if kinds:
        what = listed([f"{kind.title} ({kind.name})" for kind in kinds])
        yield f"Not covered by plans: {what}; `kwalk diagnose` says what to do about it."


def is_covered(kind: FindingKind) -> bool:
    """Whether plans look at what a kind of finding is about: a claim of the worlds is violated by it.

    A deletion that waits for a broker is none that hangs; in its world, where nothing starts by itself, it never ends.
    """
    names = {claim.name for claim in (*CLAIMS, *OF_STATES, *OF_DISKS)}
    is_claimed = kind.name == DELETION_PENDING.name or bool(names & set(kind.properties))
    return kind.severity is Severity.NOTE or (kind.name not in WITHOUT_A_WORLD and is_claimed)
