"""Topics of a captured cluster that KRaft's controller leads, as small models: the driver, ZooKeeper, and the image.

A world has one topic, with the partitions in which ZooKeeper and the image differ, and one in which they do not. Its
brokers get no requests: what counts is what the driver writes, and whether it goes on. What a snapshot does not show is
left open: what the driver is at, whether a difference is a delta that is still to be written, whether ZooKeeper refuses
its writes, and whether KRaft has created a partition or copied it.

A fault is the failure of KRaft's active controller; another one becomes active.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import Enum
from functools import partial
from itertools import product
from typing import Any

from attrs import frozen

from kwalk.model.kafka import actions
from kwalk.model.kafka.base import RUNNING_CLUSTER
from kwalk.model.kafka.domains import BROKERS, PARTITIONS, TOPICS
from kwalk.model.kafka.migration import kraft_migration_driver, repair
from kwalk.model.kafka.migration.state import DriverState
from kwalk.model.kafka.migration.versions import UNLISTED_VARIANTS, VARIANTS, variant_of
from kwalk.model.kafka.snapshots.capture import Capture, CapturedImageTopic, Topic, is_written, topic_label
from kwalk.model.kafka.snapshots.migration import migrating_release
from kwalk.model.kafka.state import Cluster
from kwalk.model.kafka.zookeeper.znodes import Assignment
from kwalk.model.language import Model, Property, Vector
from kwalk.model.language.recovery import World

MOST_BROKERS = 6
"""The most brokers of a world."""
MOST_PARTITIONS = 5
"""The most partitions of a world."""
AMPLE = 15
"""A bound that nothing reaches."""
CONTROLLER = "KRaft's controller"
EPOCHS = ("controller_epoch", "migration.epoch")
"""How the paths of controller epochs end: they are only compared, and raised by one."""
DRIVER_STEPS = tuple(
    one
    for one in actions.MIGRATION
    if one.by.system and one.function.__module__.endswith(("kraft_migration_driver", "kraft_migration_zk_writer"))
)
REPAIRS = (repair.write_content, repair.create_state_znode, repair.record_by_hand, repair.restart_controller)


@frozen
class MigratingTopic:
    """A topic of a cluster that KRaft's controller leads.

    Attributes:
        topic: it in ZooKeeper; None if it is not there.
        image: it in KRaft's image; None if it is not there.
        partitions: the numbers of the partitions that its world has.
        brokers: the brokers of these partitions.
    """

    name: str
    topic: Topic | None
    image: CapturedImageTopic | None
    partitions: tuple[int, ...]
    brokers: tuple[int, ...]

    @property
    def without_state(self) -> tuple[int, ...]:
        """The partitions of the image that have no state znode in ZooKeeper, where the topic's znode is there."""
        if self.topic is None or self.image is None:
            return ()
        return tuple(number for number in sorted(self.image.partitions) if number not in self.topic.states)

    @property
    def differs(self) -> bool:
        """Whether ZooKeeper does not have what the image has."""
        if self.topic is None or self.image is None or self.topic.topic_id != self.image.topic_id:
            return True
        is_other = self.topic.partitions.keys() != self.image.partitions.keys()
        return is_other or any(_differs(self.topic, self.image, number) for number in self.image.partitions)


def _differs(topic: Topic, image: CapturedImageTopic, number: int) -> bool:
    known = image.partitions.get(number)
    return known is None or number not in topic.partitions or not is_written(topic.states.get(number), known)


def topics_of(capture: Capture) -> Iterator[MigratingTopic]:
    """Yield the topics of ZooKeeper and of the image, by name."""
    images = {} if capture.image is None else capture.image.topics
    for name in sorted({*capture.topics, *images}):
        topic, image = capture.topics.get(name), images.get(name)
        numbers = sorted({*(topic.partitions if topic else ()), *(image.partitions if image else ())})
        other = [n for n in numbers if topic is None or image is None or _differs(topic, image, n)]
        same = [number for number in numbers if number not in other][:1]
        kept = tuple(sorted([*same, *other]))
        found = {b for n in kept for one in (topic, image) if one is not None for b in _replicas(one, n)}
        yield MigratingTopic(name, topic, image, kept, tuple(sorted(found)))


def _replicas(one: Topic | CapturedImageTopic, number: int) -> tuple[int, ...]:
    if isinstance(one, Topic):
        return tuple(one.partitions.get(number, ()))
    return one.partitions[number].replicas if number in one.partitions else ()


def fits(one: MigratingTopic) -> bool:
    """Whether a topic fits into a world."""
    return 0 < len(one.partitions) <= MOST_PARTITIONS and 0 < len(one.brokers) <= MOST_BROKERS


@frozen
class Possibility:
    """What a snapshot leaves open.

    Attributes:
        driver: what the driver is at.
        is_pending: whether a difference is a delta that the driver has not handled.
        is_stale: whether ZooKeeper refuses what the driver writes.
        is_copied: whether KRaft has copied the partitions that have no state znode, and has not created them.
    """

    driver: DriverState
    is_pending: bool = False
    is_stale: bool = False
    is_copied: bool = False


def possibilities(capture: Capture, one: MigratingTopic) -> tuple[Possibility, ...]:
    """Return what a topic's world may be in."""
    copied = (False, True) if one.without_state else (False,)
    if capture.lacks_copy_record:
        drivers = (DriverState.GIVEN_UP, DriverState.RECORDING)
        return tuple(Possibility(driver, is_copied=each) for driver, each in product(drivers, copied))
    pending = (False, True) if one.differs else (False,)
    dual = (Possibility(DriverState.DUAL_WRITE, *each) for each in product(pending, (False, True), copied))
    return (*dual, *(Possibility(DriverState.SYNC_KRAFT_TO_ZK, is_copied=each) for each in copied))


def world_of(capture: Capture, one: MigratingTopic, properties: Iterable[Property], harms: Iterable[str]) -> World:
    """Return the world of a topic.

    Args:
        capture: the capture, of a cluster that KRaft's controller leads.
        one: the topic, which fits into a world.
        properties: the claims.
        harms: the names of the claims whose violation users notice.
    """
    model = Model(_scenario(capture, one, properties), migrating_release(capture.version))
    return World(
        name=topic_label(one.name),
        model=model,
        initial=model.initial,
        claims=model.properties,
        harms=frozenset(harms),
        faults=("fail_quorum()",),
        shared=frozenset({CONTROLLER}),
        counters=("migration.failures",),
        ranked=(tuple(leaf.path for leaf in model.leaves if leaf.path.endswith(EPOCHS)),),
        plain=True,
    )


def compares(release: str) -> bool:
    """Whether KRaft's controllers compare ZooKeeper with their image; in 3.4 they copy it again, and never rest."""
    return bool(variant_of(migrating_release(release))["compares_after_claim"])


def after_a_failure(capture: Capture, one: MigratingTopic, properties: Iterable[Property]) -> frozenset[str]:
    """Return which properties are violated at rest when another controller of KRaft has become active.

    One order of the system's steps is looked at: they are those of one thread.

    Args:
        capture: the capture, of a cluster that KRaft's controller leads, in a release that compares.
        one: the topic, which fits into a world.
        properties: the properties that may be violated.
    """
    model = Model(_scenario(capture, one, properties), migrating_release(capture.version))
    violated: set[str] = set()
    for vector in model.initial:
        end = model.attempt(model.instance(f"{repair.restart_controller.name}()"), vector).after
        while end is not None:
            state, end = end, _next(model, end)
        with model.active():
            cluster = model.state(state)
            claims = [each for each in model.properties if each.declaration.truth(cluster, *each.args) is False]
        violated |= {each.declaration.name for each in claims}
    return frozenset(violated)


def _next(model: Model, state: Vector) -> Vector | None:
    """Return the state after what the system does next; None at rest."""
    steps = (model.attempt(one, state).after for one in model.instances if one.action.by.system)
    return next((after for after in steps if after is not None and after != state), None)


def _scenario(capture: Capture, one: MigratingTopic, properties: Iterable[Property]) -> Any:
    ids = _ids(one)
    return RUNNING_CLUSTER.varied(
        name="migrating-topic",
        story="A topic of a cluster that KRaft's controller leads, and what an operator does to ZooKeeper.",
        initial=_initial(capture, one),
        actions=(*DRIVER_STEPS, kraft_migration_driver.fail_quorum, *REPAIRS),
        properties=tuple(properties),
        bounds={
            "brokers": len(one.brokers),
            "partitions": len(one.partitions),
            "topic_ids": max(1, len(ids)),
            "quorum_failures": AMPLE,
            "controller_epochs": 2 * AMPLE,
            "leader_epochs": AMPLE,
        },
        flags={"migration": True, "stop_replica": True, "reassignment": True, "replica_lists": True},
        labels={
            BROKERS.name: tuple(str(broker) for broker in one.brokers),
            TOPICS.name: (topic_label(one.name),),
            PARTITIONS.name: tuple(str(number) for number in one.partitions),
        },
        variants=VARIANTS,
        unlisted_variants=UNLISTED_VARIANTS,
    )


def _ids(one: MigratingTopic) -> list[str]:
    known = [one.image.topic_id if one.image else None, one.topic.topic_id if one.topic else None]
    return list(dict.fromkeys(identity for identity in known if identity is not None))


def _initial(capture: Capture, one: MigratingTopic) -> Callable[..., None]:
    possible = possibilities(capture, one)
    return in_one_of([partial(_arrange, capture=capture, one=one, possibility=each) for each in possible])


def in_one_of(arranged: Sequence[Callable[[Cluster], None]]) -> Callable[..., None]:
    """Return an initial function with a state for each way in which a cluster may be arranged."""
    choice = Enum("Possibility", {f"possibility_{n}": n for n in range(len(arranged))})  # type: ignore[misc]

    def snapshot(cluster: Cluster, possibility: Any) -> None:
        arranged[possibility.value](cluster)

    snapshot.__annotations__ = {"cluster": Cluster, "possibility": choice, "return": None}
    return snapshot


def _arrange(cluster: Cluster, capture: Capture, one: MigratingTopic, possibility: Possibility) -> None:
    migration, zookeeper = cluster.migration, cluster.zookeeper
    zookeeper.controller_epoch, zookeeper.is_led_by_kraft = 1, True
    zookeeper.migration_is_recorded = not capture.lacks_copy_record
    migration.epoch, migration.driver, migration.has_begun = 1, possibility.driver, True
    migration.enabled, migration.is_announced = frozenset(BROKERS), True
    migration.has_stale_version = possibility.is_stale
    _arrange_topic(cluster, one, possibility)


def _arrange_topic(cluster: Cluster, one: MigratingTopic, possibility: Possibility) -> None:
    znode, image, ids, ranks = cluster.zookeeper.topics[0], cluster.migration.images[0], _ids(one), _ranks(one)
    if one.topic is not None:
        znode.partition_count = sum(number in one.topic.partitions for number in one.partitions)
        znode.topic_id = None if one.topic.topic_id is None else ids.index(one.topic.topic_id)
    if one.image is not None:
        image.partition_count = znode.accepted_partitions = sum(n in one.image.partitions for n in one.partitions)
        image.topic_id, image.copied_partitions = ids.index(one.image.topic_id), image.partition_count
        if not possibility.is_copied:
            image.copied_partitions = sum(n not in one.without_state for n in one.partitions)
    for slot, number in enumerate(one.partitions):
        shown = one.image if one.image is not None else one.topic
        replicas = () if shown is None else _replicas(shown, number)
        first = one.brokers.index(replicas[0]) if replicas else None
        znode.assignments[slot] = Assignment(_numbers(one, replicas), preferred=first)
        known = one.image.partitions.get(number) if one.image else None
        written = one.topic.states.get(number) if one.topic else None
        if known is not None:
            state = znode.states[slot]
            state.leader, state.isr = _number(one, known.leader), _numbers(one, known.isr)
            state.leader_epoch = ranks[known.leader_epoch]
        if written is not None:
            place = image.znodes[slot]
            place.leader, place.isr = _number(one, written.leader), _numbers(one, written.isr)
            place.leader_epoch = ranks[written.leader_epoch]
        if possibility.is_pending and (
            one.topic is None or one.image is None or _differs(one.topic, one.image, number)
        ):
            cluster.migration.change(0, slot)
    image.is_new = possibility.is_pending and one.topic is None


def _ranks(one: MigratingTopic) -> dict[int, int]:
    """Return the rank of each leader epoch; 0, which new partitions have, is 0."""
    found = {0}
    for number in one.partitions:
        if one.image is not None and number in one.image.partitions:
            found.add(one.image.partitions[number].leader_epoch)
        if one.topic is not None and number in one.topic.states:
            found.add(one.topic.states[number].leader_epoch)
    return {epoch: rank for rank, epoch in enumerate(sorted(found))}


def _number(one: MigratingTopic, broker: int | None) -> int | None:
    return one.brokers.index(broker) if broker in one.brokers else None


def _numbers(one: MigratingTopic, brokers: Iterable[int]) -> frozenset[int]:
    return frozenset(one.brokers.index(broker) for broker in brokers if broker in one.brokers)
