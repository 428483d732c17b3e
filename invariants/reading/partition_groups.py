"""Which partitions of a damaged cluster plans look at, each kind of situation once, and which they leave out."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from statistics import mode

from attrs import evolve, frozen

from kwalk.model.kafka.snapshots.at_rest import (
    BrokerSituation,
    Observed,
    Situations,
    deletion_waits_for,
    is_in_order,
    obstacle_of,
    reassignment_of,
    replicas_without_log,
    without_alike,
    without_logs,
)
from kwalk.model.kafka.snapshots.capture import Capture, Topic, topic_label
from kwalk.model.kafka.snapshots.diagnosis import (
    brokers,
    each,
    epochs_ahead,
    has_own_logs,
    is_behind_logs,
    listed,
    serves_marked,
)
from kwalk.model.kafka.snapshots.lineage import Choice, Lineages, latest_members
from kwalk.model.kafka.snapshots.misnamed import own_choices
from kwalk.model.kafka.snapshots.worlds import FEW_BROKERS, MOST_BROKERS, NAMED, ClusterPart

AHEAD = (
    "its logs have a topic id that its znode lacks, and later leader epochs than ZooKeeper's state: that is older than "
    "the logs, or they are of an earlier topic"
)
"""Why nothing is planned that keeps such logs: with the id of the logs, the state would be older than they are."""
MOST_PARTS = 1000
"""Of more parts nothing is planned: a step such as a failover would meet those that were left out."""


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
    capture: Capture, names: Collection[str], most: int = MOST_PARTS
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
            elif partition in topic.moving and not _ends_with_all_records(situations, topic, partition):
                why = why or _moving(capture, topic, partition)  # logs that it removes may be the last copies
            elif by_hand := _by_hand(capture, topic, partition):
                why = why or by_hand
            elif len(observed.brokers) > MOST_BROKERS:
                too_many = f"{len(observed.brokers)} brokers take part, more than the {MOST_BROKERS} of a model"
                why = why or (_moving(capture, topic, partition) if partition in topic.moving else too_many)
            if why:
                left.append(LeftOut(_without_world(situations, topic, (partition,)), why))
                continue
            lineages = situations.lineages(topic, partition, observed.brokers)
            ahead = _ahead(capture, topic, partition, observed)
            choices = own_choices(capture, lineages, topic, partition)
            if not ahead.isdisjoint(choices[0].keeps):
                left.append(LeftOut(_without_world(situations, topic, (partition,)), AHEAD))
                continue
            choices = tuple(one for one in choices if ahead.isdisjoint(one.keeps))
            latest = latest_members(capture, topic, partition)
            known[partition] = PartitionGroup(topic, (), observed, lineages, choices, latest)
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


def _ends_with_all_records(situations: Situations, topic: Topic, partition: int) -> bool:
    """Whether a reassignment, whenever it ends, leaves several replicas with all records that its logs have.

    Then no step does anything to the partition that it does not do to one with the replicas of both assignments, which
    worlds have. All logs are of the lineage of a live leader in the ISR, or of the ISR if all of it is down: nothing is
    copied before a member leads. The controller ends the reassignment when the replicas that the partition is to have
    are in the ISR, and others have nothing that these lack.

    Kafka: KafkaController.onPartitionReassignment, isReassignmentComplete.
    """
    capture, observed = situations.capture, situations.whole(topic, partition)
    target = topic.moving[partition].target(topic.partitions[partition])
    is_idle = reassignment_of(capture, topic, partition).is_idle
    known = dict(zip(observed.brokers, observed.situation.brokers, strict=True))
    logs, identity = situations.lineages(topic, partition, observed.brokers), observed.situation.topic_id
    is_led = any(one.leads and is_in_order(one) and one.file == identity for one in known.values())
    waits = _waits_for_isr([one for one in known.values() if one.in_isr])
    if len(target) < 2 or not (is_led or waits) or is_idle or len(logs.groups) > 1 or logs.later:
        return False
    return topic.name not in capture.deleting and all(
        not (one.earlier or one.offline or one.may_hold_another_id or one.holds_another_id)
        and one.file in (None, identity)
        and (is_in_order(one) or (waits and one.in_isr) or not (one.in_isr or (one.directory and not one.replica)))
        for one in known.values()
    )


def _waits_for_isr(members: Sequence[BrokerSituation]) -> bool:
    """Whether all members of an ISR are replicas with a log whose brokers are down."""
    return bool(members) and all(one.replica and one.directory and not one.alive for one in members)


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

    Their logs are of the lineage of a live leader's, whose term is ZooKeeper's: none has records that all others lack,
    and whichever logs are kept, theirs are. No step of a plan is for one of them, or its like, alone. Those that are
    `apart` stay.
    """
    capture, whole = situations.capture, situations.whole(topic, partition)
    if len(whole.brokers) <= FEW_BROKERS or is_behind_logs(capture, topic, partition):
        return whole
    if _ahead(capture, topic, partition, whole):
        return whole
    logs = situations.lineages(topic, partition, whole.brokers)
    leaders = (b for b, one in zip(whole.brokers, whole.situation.brokers, strict=True) if one.leads and one.alive)
    led = logs.group_of(next(leaders, -1))
    for most in (2, 1) if led is not None else ():
        found = without_alike(whole, most, apart)
        alike = {*found.alike, *(found.brokers[number] for number in found.alike.values())}
        if len(found.brokers) > (FEW_BROKERS if most > 1 else MOST_BROKERS):
            continue
        kept = (choice.keeps for choice in own_choices(capture, logs, topic, partition))
        if all(logs.group_of(broker) == led for broker in alike) and all(alike <= {*keeps} for keeps in kept):
            return found
    return whole


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


def being_reassigned(parts: Iterable[ClusterPart]) -> Iterator[str]:
    """Yield which partitions are looked at amid a reassignment."""
    moving = [
        f"{topic_label(part.topic.name)}-{n}" for part in parts for n in part.partitions if n in part.topic.moving
    ]
    if moving:
        yield (
            f"{listed(moving)} {each(moving, 'is', 'are')} being reassigned, and {each(moving, 'has', 'have')} the "
            "replicas of both assignments in the search: a reassignment ends by itself when the replicas that a "
            "partition is to have are in its ISR, and leaves the log of a replica that it removes on a broker which is "
            "down then. No step writes into the znode of a topic that is being reassigned."
        )


def in_the_way(left: Iterable[LeftOut]) -> Iterator[str]:
    """Yield what was left out, and why."""
    reasons: dict[str, list[str]] = {}
    for one in left:
        reasons.setdefault(one.why, []).append(one.part.name)
    for why, names in reasons.items():
        yield f"No model has {listed(names)}, and no step of a plan touches it: {why}."


def alike_brokers(parts: Iterable[ClusterPart]) -> Iterator[str]:
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
