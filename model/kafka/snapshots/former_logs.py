"""Logs that a migration to KRaft took from a topic, as small models: brokers, their logs, and those set aside.

Words: the *former* logs of a partition have another topic id than KRaft, or none: brokers set them aside, or will. Its
*present* logs have KRaft's id. Why is not in a snapshot: an erased id looks like a deletion and a creation.
Two things show the latter: a topic whose znode never had another id, and leader epochs, which only rise while a topic
lives. Where neither does, an operator knows. A znode that KRaft's comparison has created again never had another id,
either: its former logs are taken for those of an earlier topic, and stay where they are.

The former logs of a partition are copies of one another, so that the longest has whatever was acknowledged. Where sizes
do not say which one that is, each may be.

A fault is the crash of a broker, which then starts again by itself, or the failure of KRaft's active controller.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from functools import partial
from itertools import combinations
from typing import Any

from attrs import evolve, field, frozen

from kwalk.model.kafka import actions
from kwalk.model.kafka.base import RUNNING_CLUSTER
from kwalk.model.kafka.broker import replica_fetcher_thread
from kwalk.model.kafka.broker.log import Commit, Record
from kwalk.model.kafka.clients import faults
from kwalk.model.kafka.clients.repair import move_directory_away
from kwalk.model.kafka.domains import BROKERS, PARTITIONS, TOPICS
from kwalk.model.kafka.migration import kraft_migration_driver, repair
from kwalk.model.kafka.migration.state import BrokerMode, DriverState
from kwalk.model.kafka.migration.versions import UNLISTED_VARIANTS, VARIANTS
from kwalk.model.kafka.snapshots.at_rest import arrange_replication
from kwalk.model.kafka.snapshots.capture import Capture, CapturedImagePartition, Directory, Topic, topic_label
from kwalk.model.kafka.snapshots.diagnosis import is_of_an_earlier_topic
from kwalk.model.kafka.snapshots.lineage import (
    MOST_RECORDS,
    OTHER,
    OWN,
    Relation,
    begin_apart,
    compare,
    epoch_bounds,
    epochs_of,
    may_be_cleaned,
    ranks_of,
)
from kwalk.model.kafka.snapshots.migrating import AMPLE, CONTROLLER, EPOCHS, REPAIRS, in_one_of
from kwalk.model.kafka.snapshots.migration import migrating_release
from kwalk.model.kafka.state import Cluster
from kwalk.model.kafka.zookeeper.znodes import Assignment
from kwalk.model.language import Model, Property
from kwalk.model.language.recovery import World

MOST_BROKERS = 4
"""The most brokers of a world; more make it too large to look at every interleaving."""
MOST_PARTS = 12
"""The most situations that are looked at."""
RECORDS = MOST_RECORDS + 2
"""The records that a log has room for."""


class LogOrigin(Enum):
    """What a snapshot shows of a log that was set aside."""

    EARLIER_TOPIC = "it is of an earlier topic of the name"
    COPIED = "the leader has what it has"
    OPEN = "its records are not served"


@frozen
class SetAsideLog:
    """A log with records that a broker has set aside; `fact` is what shows its origin."""

    broker: int
    topic: str
    partition: int
    name: str
    directory: Directory
    origin: LogOrigin = LogOrigin.OPEN
    fact: str = ""

    @property
    def is_deleted(self) -> bool:
        """Whether it is about to be deleted."""
        return self.name.endswith("-delete")


def set_aside_logs(capture: Capture) -> Iterator[SetAsideLog]:
    """Yield the logs with records that brokers have set aside, with what shows where they are from."""
    found = [
        SetAsideLog(broker.id, topic, int(number), name, directory)
        for broker in capture.brokers.values()
        for name, directory in sorted(broker.set_aside.items())
        for topic, _, number in [name.rpartition(".")[0].rpartition("-")]
        if directory.is_empty is not True and not name.endswith("-future")
    ]
    earlier = {
        (one.topic, one.directory.topic_id): fact for one in found if (fact := _fact_of_earlier_topic(capture, one))
    }
    for one in found:
        shown = earlier.get((one.topic, one.directory.topic_id), "")
        origin = LogOrigin.COPIED if _is_copied(capture, one) else LogOrigin.OPEN
        yield evolve(one, origin=LogOrigin.EARLIER_TOPIC if shown else origin, fact=shown)


def _image_partition(capture: Capture, topic: str, number: int) -> CapturedImagePartition | None:
    known = None if capture.image is None else capture.image.topics.get(topic)
    return None if known is None else known.partitions.get(number)


def _present(capture: Capture, topic: str, number: int) -> dict[int, Directory]:
    """Return the logs of a partition that have KRaft's id, by broker."""
    known = None if capture.image is None else capture.image.topics.get(topic)
    logs = {b: capture.directory(b, topic, number) for b in capture.brokers}
    return {b: log for b, log in logs.items() if log is not None and known and log.topic_id == known.topic_id}


def _fact_of_earlier_topic(capture: Capture, one: SetAsideLog) -> str:
    """Return the fact that shows a log to be of an earlier topic of the name; empty if none does.

    A topic's leader epochs only rise: what began after this log was set aside has none that is lower.
    """
    topic, known = capture.topics.get(one.topic), _image_partition(capture, one.topic, one.partition)
    if topic is not None and is_of_an_earlier_topic(capture, topic, one.directory):
        return f"the topic never had another id than {topic.topic_id}: its znode has the data version {topic.version}"
    last = max((epoch for epoch, _ in one.directory.leader_epochs or ()), default=0)
    if known is not None and known.leader_epoch < last:
        return f"it has the leader epoch {last}, and the partition only {known.leader_epoch}"
    for broker, log in sorted(_present(capture, one.topic, one.partition).items()):
        first = log.first_batch
        is_other = begin_apart(one.directory, log)
        if first is not None and is_other and first.leader_epoch < last:
            return f"it has the leader epoch {last}, and the log on broker {broker} begins with {first.leader_epoch}"
    return ""


def _is_copied(capture: Capture, one: SetAsideLog) -> bool:
    """Whether the leader's log has the same records, and is not shorter."""
    known = _image_partition(capture, one.topic, one.partition)
    log = None if known is None else _present(capture, one.topic, one.partition).get(known.leader or -1)
    if log is None or log.first_batch is None or log.first_batch != one.directory.first_batch:
        return False
    topic = capture.topics.get(one.topic)
    sizes = _sizes((log, one.directory), topic)
    return compare(log, one.directory).relation is not Relation.DIVERGED and bool(sizes) and sizes[0] >= sizes[1]


def _sizes(logs: Sequence[Directory], topic: Topic | None) -> list[int]:
    """Return the bytes of copies of a log, if these say which one is longer; else nothing."""
    is_unknown = may_be_cleaned(*logs) or any(log.segments is None for log in logs)
    if is_unknown or len({log.start for log in logs}) > 1:
        return []
    return [sum((log.segments or {}).values()) for log in logs]


# What can be brought back.


Content = tuple[int, ...] | None
"""The leader epochs of a log's records, as ranks; None without a log."""


@frozen
class FormerCase:
    """A possibility of what the logs of a partition have, in the order of its replicas."""

    former: tuple[Content, ...]
    present: tuple[Content, ...]
    leader_epoch: int


def longest(contents: Iterable[Content]) -> tuple[int, ...]:
    """Return what the longest of some logs has."""
    return max((content for content in contents if content), key=len, default=())


@frozen
class FormerLogs:
    """Partitions of a topic in one situation, whose former logs may be brought back.

    Attributes:
        topic: the topic's name.
        brokers: the replicas, in their order.
        modes: the modes of their brokers.
        leader: the leader's number among them.
        isr: the numbers of the ISR.
        in_place: the numbers of brokers whose former log has its place.
        cases: the possibilities of what the logs have.
        partitions: the partitions.
        topic_id: KRaft's id of the topic.
        identity: the id of the former logs.
        names: the directories of logs that were set aside, by partition and broker.
    """

    topic: str
    brokers: tuple[int, ...]
    modes: tuple[str | None, ...]
    leader: int | None
    isr: frozenset[int]
    in_place: frozenset[int]
    cases: tuple[FormerCase, ...]
    partitions: tuple[int, ...] = field(eq=False)
    topic_id: str = field(eq=False)
    identity: str | None = field(eq=False)
    names: Mapping[tuple[int, int], str] = field(eq=False)

    @property
    def has_present_records(self) -> bool:
        """Whether the present logs have records."""
        return any(content for case in self.cases for content in case.present)

    def has_present_log(self, broker: int) -> bool:
        """Whether the broker has a log with KRaft's id."""
        return any(case.present[self.brokers.index(broker)] is not None for case in self.cases)

    def how(self, broker: int) -> str:
        """Return the name of the action on the broker, once it is stopped."""
        number = self.brokers.index(broker) if broker in self.brokers else None
        if number in self.in_place:
            return repair.write_log_id.name
        is_aside = any((partition, broker) in self.names for partition in self.partitions)
        return repair.put_log_back.name if is_aside else move_directory_away.name


def former_logs(capture: Capture) -> tuple[list[FormerLogs], list[str]]:
    """Return the logs that may be brought back, partitions in one situation once, and the topics with others.

    Left out are topics whose former logs have several ids or are no copies of one another, with brokers that are down
    or not seen, with former logs of brokers that are no replicas, and with present logs that do not begin at offset 0:
    their entry in log-start-offset-checkpoint would be that of the former log (Kafka: LogLoader.load truncates it).

    Args:
        capture: the capture, with KRaft's image.
    """
    found: dict[FormerLogs, list[FormerLogs]] = {}
    left: dict[str, None] = {}
    aside = [one for one in set_aside_logs(capture) if one.origin is LogOrigin.OPEN and not one.is_deleted]
    for name, known in capture.image.topics.items() if capture.image is not None else ():
        own = [one for one in aside if one.topic == name]
        ids = {one.directory.topic_id for one in own}
        ids |= {log.topic_id for n, p in known.partitions.items() for log in _foreign(capture, name, n, p.isr).values()}
        for number in known.partitions if ids else ():
            one = _of_partition(capture, name, number, own, ids)
            if one is None:
                left[topic_label(name)] = None
            elif any(content for case in one.cases for content in case.former):
                found.setdefault(one, []).append(one)
    groups = [
        evolve(
            one,
            partitions=tuple(n for other in alike for n in other.partitions),
            names={key: value for other in alike for key, value in other.names.items()},
        )
        for one, alike in found.items()
        if topic_label(one.topic) not in left
    ]
    left |= dict.fromkeys(topic_label(one.topic) for one in groups[MOST_PARTS:])
    return groups[:MOST_PARTS], list(left)


def have_modes(capture: Capture, brokers: Iterable[int]) -> bool:
    """Whether brokers run, and the capture shows that each migrates or is in KRaft mode."""
    known = [capture.brokers.get(b) for b in brokers]
    return all(b is not None and b.alive and b.mode in ("migrating", "kraft") for b in known)


def _foreign(capture: Capture, topic: str, number: int, brokers: Iterable[int]) -> dict[int, Directory]:
    """Return the logs with records of a partition that have their place and another id than KRaft, by broker."""
    assert capture.image is not None
    logs = {b: capture.directory(b, topic, number) for b in brokers}
    znode, wanted = capture.topics.get(topic), capture.image.topics[topic].topic_id
    return {
        b: log
        for b, log in logs.items()
        if log is not None and log.topic_id not in (None, wanted) and log.is_empty is not True
        if znode is None or not is_of_an_earlier_topic(capture, znode, log)
    }


def _of_partition(
    capture: Capture, topic: str, number: int, aside: Iterable[SetAsideLog], ids: set[str | None]
) -> FormerLogs | None:
    assert capture.image is not None
    image = capture.image.topics[topic]
    known, own = image.partitions[number], [one for one in aside if one.partition == number]
    in_place, present = _foreign(capture, topic, number, known.replicas), _present(capture, topic, number)
    former = {one.broker: one.directory for one in own} | in_place
    is_shown = have_modes(capture, known.replicas) and all(capture.brokers[b].seen for b in known.replicas)
    if len(former) < len(own) + len(in_place) or not former.keys() <= set(known.replicas) or not is_shown:
        return None
    if len(ids) > 1 or {log.topic_id for log in former.values()} - ids or len(known.replicas) > MOST_BROKERS:
        return None
    if any(log.start for log in present.values()) or not _are_copies(former.values(), present.values()):
        return None
    return FormerLogs(
        topic,
        known.replicas,
        tuple(capture.brokers[b].mode for b in known.replicas),
        known.replicas.index(known.leader) if known.leader in known.replicas else None,
        frozenset(known.replicas.index(b) for b in known.isr if b in known.replicas),
        frozenset(known.replicas.index(b) for b in in_place),
        tuple(_cases(known, former, present, capture.topics.get(topic))),
        (number,),
        image.topic_id,
        next(iter(ids)),
        {(number, one.broker): one.name for one in own},
    )


def _are_copies(former: Iterable[Directory], present: Iterable[Directory]) -> bool:
    """Whether former logs are copies of one another, and no present log is one of theirs."""
    known = list(former)
    related = (compare(a, b).relation in (Relation.SAME, Relation.PREFIX) for a, b in combinations(known, 2))
    firsts = {log.first_batch for log in known} - {None}
    return all(related) and not any(log.first_batch in firsts for log in present)


def _cases(
    image: CapturedImagePartition,
    former: Mapping[int, Directory],
    present: Mapping[int, Directory],
    topic: Topic | None,
) -> Iterator[FormerCase]:
    """Yield what the logs may have: the longest ones have one record more than is shown."""
    logs = [*former.values(), *present.values()]
    bounds = epoch_bounds(logs)
    ranks = ranks_of(logs, bounds, image.leader_epoch)

    held = {b: present.get(b) for b in image.replicas}
    contents = {b: epochs_of(log, bounds, ranks, {}) for b, log in former.items()}
    own = {b: None if log is None else epochs_of(log, bounds, ranks, {}) for b, log in held.items()}
    members = {b: own[b] for b in image.isr if own.get(b) is not None}
    shown = own | dict.fromkeys(members, _with_one_more(members.values()))
    sizes = dict(zip(former, _sizes(tuple(former.values()), topic), strict=False))
    holding = [{b for b in former if sizes[b] == max(sizes.values())}] if sizes else [{b} for b in former]
    for holders in holding or [set()]:
        most = contents | dict.fromkeys(holders, _with_one_more(contents.values()))
        yield FormerCase(tuple(map(most.get, image.replicas)), tuple(shown.values()), ranks[image.leader_epoch])


def _with_one_more(contents: Iterable[Content]) -> tuple[int, ...]:
    """Return the longest content with one record more, if it has any."""
    most = longest(contents)
    return (*most, *most[-1:])


def is_over(capture: Capture) -> bool:
    """Whether KRaft's controller has ended the migration."""
    return capture.image is not None and capture.image.state == "POST_MIGRATION"


# The world.


def world_of_logs(capture: Capture, one: FormerLogs, properties: Iterable[Property], harms: Iterable[str]) -> World:
    """Return the world of partitions whose former logs are to be the topic's, and not the present ones.

    Args:
        capture: the capture, of a cluster that KRaft's controller leads.
        one: the partitions.
        properties: the claims.
        harms: the names of the claims whose violation users notice.
    """
    label, count = topic_label(one.topic), len(one.brokers)
    model = Model(_scenario(capture, one, properties), migrating_release(capture.version))
    return World(
        name=", ".join(f"{label}-{number}" for number in one.partitions),
        model=model,
        initial=model.initial,
        claims=model.properties,
        harms=frozenset(harms),
        faults=(*(f"crash({number})" for number in range(count)), "fail_quorum()"),
        shared=frozenset({CONTROLLER, *map(str, one.brokers)}),
        counters=("migration.failures", "stops"),
        ranked=(tuple(leaf.path for leaf in model.leaves if leaf.path.endswith((*EPOCHS, "controller_epoch"))),),
    )


def _scenario(capture: Capture, one: FormerLogs, properties: Iterable[Property]) -> Any:
    steps = [*actions.CONTROLLER, *actions.BROKER, *(step for step in actions.MIGRATION if step.by.system)]
    steps += [replica_fetcher_thread.fetch, faults.crash, *REPAIRS, move_directory_away]
    steps += [repair.stop_broker, repair.put_log_back, repair.write_log_id, kraft_migration_driver.fail_quorum]
    return RUNNING_CLUSTER.varied(
        name="former-logs",
        story="Brokers of a cluster that KRaft's controller leads, and what an operator does to logs set aside.",
        initial=_initial(one, is_over=is_over(capture)),
        actions=tuple(dict.fromkeys(steps)),
        properties=tuple(properties),
        bounds={
            "brokers": len(one.brokers),
            "partitions": 1,
            "topic_ids": 2,
            "quorum_failures": AMPLE,
            "restarts": 2 * AMPLE,
            "controller_epochs": 2 * AMPLE,
            "leader_epochs": 2 * AMPLE,
            "requests": 8,
            "records": RECORDS,
            "strays": RECORDS,
            "backups": RECORDS,
            "originals": 2 * RECORDS,
            "incarnations": 2,
        },
        flags={"migration": True, "stop_replica": True, "isr_changes": "between requests"},
        labels={
            BROKERS.name: tuple(str(broker) for broker in one.brokers),
            TOPICS.name: (topic_label(one.topic),),
            PARTITIONS.name: (str(one.partitions[0]),),
        },
        variants=VARIANTS,
        unlisted_variants=UNLISTED_VARIANTS,
    )


def _initial(one: FormerLogs, *, is_over: bool) -> Callable[..., None]:
    return in_one_of([partial(_arrange, one=one, case=case, is_over=is_over) for case in one.cases])


def _arrange(cluster: Cluster, one: FormerLogs, case: FormerCase, *, is_over: bool) -> None:
    arrange_cluster(cluster, one.modes, one.leader, one.isr, case.leader_epoch)
    if is_over:
        cluster.migration.driver, cluster.migration.is_finalized = DriverState.INACTIVE, True
    for number in range(len(one.brokers)):
        _arrange_logs(cluster, one, case, number)
        arrange_replication(cluster, number, cluster.zookeeper.state_of(0, 0))


def arrange_cluster(
    cluster: Cluster, modes: Sequence[str | None], leader: int | None, isr: frozenset[int], leader_epoch: int
) -> None:
    """Arrange a cluster in dual write with a partition that all brokers replicate; all are up, and have no logs.

    Args:
        cluster: the cluster, as it is created.
        modes: the modes of its brokers.
        leader: the number of the partition's leader.
        isr: the numbers of its ISR.
        leader_epoch: its leader epoch.
    """
    migration, zookeeper, everyone = cluster.migration, cluster.zookeeper, frozenset(range(len(modes)))
    zookeeper.controller_epoch, zookeeper.is_led_by_kraft, zookeeper.migration_is_recorded = 1, True, True
    zookeeper.broker_ids = migration.live = migration.enabled = everyone
    migration.epoch, migration.has_begun, migration.is_announced = 1, True, True
    migration.driver = DriverState.DUAL_WRITE
    znode, image = zookeeper.topics[0], migration.images[0]
    znode.partition_count = znode.accepted_partitions = image.partition_count = image.copied_partitions = 1
    znode.topic_id, image.topic_id, znode.incarnation = 0, 0, OWN
    znode.assignments[0] = Assignment(everyone)
    for state in (znode.states[0], image.znodes[0]):
        state.leader, state.isr, state.leader_epoch = leader, isr, leader_epoch
    for number, mode in enumerate(modes):
        cluster.brokers[number].mode = BrokerMode.KRAFT if mode == "kraft" else BrokerMode.ZOOKEEPER
        cluster.brokers[number].controller_epoch = 1


def _arrange_logs(cluster: Cluster, one: FormerLogs, case: FormerCase, number: int) -> None:
    """Give a broker its former and present logs, and the history what is not to be lost."""
    replica, former, present = cluster.replica_of(number, 0, 0), case.former[number], case.present[number]
    is_in_place = number in one.in_place
    if present is not None or is_in_place:
        replica.on_disk, replica.topic_id = True, int(is_in_place)
        replica.file_topic_id = replica.topic_id
        replica.log_open = not is_in_place
        replica.leader_epoch = case.leader_epoch if replica.log_open else None
        replica.is_leader = replica.log_open and number == one.leader
    originals, commits, acknowledged = cluster.originals[0][0], cluster.commits[0][0], longest(case.former)
    aside = replica.log.records if is_in_place else replica.set_aside
    for lineage, content, records in ((OWN, former, aside), (OTHER, present, replica.log.records)):
        for offset, epoch in enumerate(content or ()):
            record = Record(offset, epoch, lineage)
            records.push(record)
            if record not in originals:
                originals.push(record)
                if lineage == OWN and offset < len(acknowledged) and epoch == acknowledged[offset]:
                    commits.push(Commit(record, epoch))
    replica.log.checkpoint = replica.log.end
    replica.log.high_watermark = replica.log.end if replica.log_open else 0
