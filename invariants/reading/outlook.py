"""What awaits a captured cluster, and how to repair it: the claims of this package in the worlds of its damaged parts.

The diagnosis is that of `inspection`; what comes next and what helps is searched in small models of the damaged parts.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Sequence

from attrs import evolve

from kwalk.invariants import records
from kwalk.invariants.reading.carried_out_plans import carried_out
from kwalk.invariants.reading.claims import CLAIMS, HARMS, OF_DISKS, OF_STATES
from kwalk.invariants.reading.conditions import (
    joined,
    keeps_of,
    of_elections,
    of_lost_topics,
    of_marks,
    of_strangers,
    of_unseen,
    premise_of,
    taken_for_others,
    with_own_logs,
)
from kwalk.invariants.reading.finding_kinds import (
    CONTROLLER_EPOCH_BEHIND,
    CONTROLLER_IS_SILENT,
    DELETION_NOT_BEGUN,
    DELETION_PENDING,
    DELETION_WAITS,
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
    REASSIGNMENT_WAITS,
    REQUEST_WAITS,
    SHARED_ID,
    STATE_BEHIND_UNNOTICED,
    STATE_IS_LOST,
    STRAY_LOG,
    UNREGISTERED,
    WITHOUT_STATE_SERVED,
)
from kwalk.invariants.reading.inspection import inspect_capture
from kwalk.invariants.reading.losses import SHOWN_AGAIN, for_good, with_losses, without_steps
from kwalk.invariants.reading.migrating import is_led_by_kraft
from kwalk.invariants.reading.migrating_recovery import migrating_problem
from kwalk.invariants.reading.partition_groups import (
    LeftOut,
    PartitionGroup,
    alike_brokers,
    being_reassigned,
    groups_of,
    in_the_way,
    parts_of,
)
from kwalk.model.kafka.snapshots.at_rest import deletion_waits_for, garbled_at_start, isr_before_hand, obstacle_of
from kwalk.model.kafka.snapshots.capture import UNCLEAN_ELECTIONS, Capture, Topic, read_capture, topic_label
from kwalk.model.kafka.snapshots.diagnosis import (
    brokers,
    each,
    failing_failovers,
    listed,
    marks_refused_logs_offline,
    refused_at_start,
    unseen,
)
from kwalk.model.kafka.snapshots.initial_state import focus_on
from kwalk.model.kafka.snapshots.procedures import START_BROKER, START_IN_TURN, Catalogue
from kwalk.model.kafka.snapshots.snapshot import reading_of
from kwalk.model.kafka.snapshots.worlds import ClusterPart, world_of
from kwalk.model.language import Reading, UsageError
from kwalk.model.language.inspection import FindingKind, Inspection, Observation, Severity
from kwalk.model.language.recovery import Problem, World

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
    "replica_is_online": "an offline replica",
    "cluster_has_a_controller": "no controller",
    "controller_lives": "a controller that does not run",
    "state_has_the_latest_epoch": "a state in ZooKeeper that is older than the logs",
    "clients_take_the_leader": "a leader epoch below one that clients have seen",
}
"""What a partition has that violates a claim."""
SEEN_AS = ((frozenset({"partition_servable", "context_agrees"}), "leader_answers_fetches_by_id"),)
"""The leader has refused the controller's id, and its log has ZooKeeper's: at epoch 0 it seems to lead."""
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
        REASSIGNMENT_WAITS,
        STATE_IS_LOST,
        WITHOUT_STATE_SERVED,
    )
)
"""Kinds that worlds have, and a search from a snapshot lacks: no failed disks, no deletions, only replicas.

A reassignment that waits is a replica that a world wants online."""
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
    return problem_of(readable, inspection, joined(premise, moved))


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
    """Return the cluster of an operator who first forbids elections outside of the ISR, if a broker runs to ask.

    Where nothing shows whether there are any, plans are for clusters without.
    """
    damaged = [topic for name in damaged_topics(capture, inspection) if (topic := capture.topics.get(name)) is not None]
    unclean = [topic for topic in damaged if topic.elects_uncleanly]
    unknown = of_elections(capture, damaged)
    if not unclean or not capture.live:
        return capture, unknown
    clean = {topic.name: evolve(topic, elects_uncleanly=False) for topic in unclean}
    names = listed([topic_label(topic.name) for topic in unclean])
    premise = f"if {UNCLEAN_ELECTIONS} of {names} was set to false before"
    return evolve(capture, topics={**capture.topics, **clean}), joined(premise, unknown)


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
    parts = [with_own_logs(capture, part) for part in parts_of(groups)]
    acting = [*parts, *_with_one_member(capture, parts)]
    catalogue = Catalogue(capture, acting, [one.part for one in left])
    uncovered = tuple(kind.name for kind in found.by_kind() if not is_covered(kind) or _stays(capture, found, kind))
    common = joined(premise, of_lost_topics(found), of_marks(capture), of_strangers(capture))
    unlike = _unlike_worlds(found)
    first = Problem(
        inspection=found,
        worlds=tuple(_world(part) for part in acting),
        procedures=catalogue.procedures(),
        what_ifs=() if unlike else catalogue.what_ifs(),
        describe=describe,
        notes=(
            *in_the_way(left),
            *alike_brokers(parts),
            *being_reassigned(parts),
            *_still_served(capture, parts),
            *_uncovered(found, uncovered),
            *unseen(capture, taken_for_others(parts)),
            *_offline_logs(capture, parts),
        ),
        carried_out=carried_out(capture.version, found),
        premise=joined(common, premise_of(parts), of_unseen(capture, parts, ())),
        keeps=keeps_of(capture, parts),
        kept=frozenset({records.committed_records_are_kept.name}),
        although="though a broker crashes or the controller fails over",
        seen_as=SEEN_AS,
        left_out=(*(one.part.name for one in left), *(part.name for part in _with_refusals(capture, parts))),
        withheld=catalogue.withheld(),
        uncovered=uncovered,
    )
    later = tuple(_later(first, acting))
    alternatives = (
        *later,
        *for_good(capture, first, parts, common),
        *_other_choices(capture, first, groups, left, common),
        *with_losses(capture, first, [one.worlds for one in later if not one.is_for_later], parts, common),
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
        observed, isr = part.observed, part.observed.isr
        is_down = not any(one.in_isr and one.alive for one in observed.situation.brokers)
        if is_down and len(isr) > 1 and (capture.live or not capture.brokers.keys() <= {*observed.brokers}):
            for member in isr:
                known = zip(observed.brokers, observed.situation.brokers, strict=True)
                found = tuple(evolve(one, in_isr=b == member, leads=False) for b, one in known)
                yield evolve(part, observed=evolve(observed, situation=evolve(observed.situation, brokers=found)))


def _world(part: ClusterPart, *, deletion: bool = False) -> World:
    failed = {number for number, one in enumerate(part.observed.situation.brokers) if one.offline} | _waited_for(part)
    claims = (*CLAIMS, *(OF_STATES if part.is_behind or not part.has_state else ()), *(OF_DISKS if failed else ()))
    world = world_of(part, claims, HARMS, deletion=deletion)
    known = (one for one in world.claims if one.declaration.name != OF_DISKS[0].name or one.args[0] in failed)
    return evolve(world, claims=tuple(known))


def _waited_for(part: ClusterPart) -> set[int]:
    """Return the numbers of the brokers that are down, and that a partition is to have when its reassignment ends."""
    moves = ((part.topic.moving.get(n), part.topic.partitions.get(n, ())) for n in part.partitions)
    target = {broker for move, replicas in moves if move for broker in move.target(replicas)}
    known = enumerate(zip(part.observed.brokers, part.observed.situation.brokers, strict=True))
    return {number for number, (broker, one) in known if broker in target and not one.alive}


def _with_refusals(capture: Capture, parts: Iterable[ClusterPart]) -> list[ClusterPart]:
    """Return the parts with logs of other ids, on a release where a log that was refused once is offline."""
    if not marks_refused_logs_offline(capture.version):
        return []
    known = ((part, part.observed.situation) for part in parts)
    return [p for p, one in known if any(b.file not in (None, one.topic_id) for b in one.brokers)]


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


def _other_choices(
    capture: Capture, first: Problem, groups: Sequence[PartitionGroup], left: Iterable[LeftOut], common: str
) -> Iterator[Problem]:
    """Yield the problem for each further choice of what the logs are, or are to be."""
    for number in range(1, max((len(group.choices) for group in groups), default=1)):
        parts = [with_own_logs(capture, part) for part in parts_of(groups, number)]
        acting = [*parts, *_with_one_member(capture, parts)]
        yield evolve(
            first,
            worlds=tuple(_world(part) for part in acting),
            procedures=Catalogue(capture, acting, [one.part for one in left]).procedures(),
            what_ifs=(),
            notes=(),
            premise=joined(common, premise_of(parts), of_unseen(capture, parts, ())),
            keeps=keeps_of(capture, parts),
        )


def _later(first: Problem, parts: Iterable[ClusterPart]) -> Iterator[Problem]:
    """Yield the problem if nothing happens by itself any more, where the controller may not have noticed all.

    It may elect by itself where there is no state. Where it may not have noticed a crash, a broker that starts would
    not do: the leader may know another ISR than ZooKeeper has, which a failover makes equal.
    """
    is_short = any(one.in_isr and not one.alive for part in parts for one in part.observed.situation.brokers)
    if is_short or any(part.first_leader is not None for part in parts):
        worlds = tuple(_world(evolve(part, is_settled=True)) for part in parts)
        premise = joined(first.premise, SHOWN_AGAIN)
        procedures = without_steps(first, START_BROKER, START_IN_TURN) if is_short else first.procedures
        left = evolve(first, worlds=worlds, procedures=procedures, what_ifs=(), notes=())
        yield evolve(left, premise=premise, is_for_later=is_short, is_last_resort=not is_short)


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

    Logs of topics without znode, or of partitions that have other replicas, stay on brokers that are down, until an
    operator wants the name again, or the broker as a replica. And no claim is violated by a member that a hand wrote
    into an ISR: it is a replica, and may have all records.
    """
    places = inspection.by_kind()[kind]
    if kind.name in (ORPHANED_LOG.name, STRAY_LOG.name):
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
