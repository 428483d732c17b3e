"""The rollback of a migration to KRaft, as small models: one for each situation of partitions.

All brokers of a world are up, and have the partition; its ISR has a record. What a snapshot does not show is whether
ZooKeeper refuses what KRaft's driver writes. Controller epochs are those of the snapshot, less what they have in
common: it counts by how much the quorum's is above that of /controller_epoch.

A fault is the crash of a broker, which then starts again by itself, the failure of KRaft's active controller, or a
write whose answer is lost, so that ZooKeeper refuses the next ones.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from attrs import evolve, field, frozen

from kwalk.model.kafka import actions
from kwalk.model.kafka.base import RUNNING_CLUSTER
from kwalk.model.kafka.broker import replica_fetcher_thread
from kwalk.model.kafka.broker.log import Commit, Record
from kwalk.model.kafka.clients import faults
from kwalk.model.kafka.domains import BROKERS, PARTITIONS, TOPICS
from kwalk.model.kafka.migration import broker_server, kraft_migration_driver, kraft_migration_zk_writer, repair
from kwalk.model.kafka.migration.versions import UNLISTED_VARIANTS, VARIANTS
from kwalk.model.kafka.snapshots.at_rest import arrange_replication
from kwalk.model.kafka.snapshots.capture import Capture, topic_label
from kwalk.model.kafka.snapshots.former_logs import MOST_BROKERS, MOST_PARTS, arrange_cluster, have_modes
from kwalk.model.kafka.snapshots.migrating import AMPLE, CONTROLLER
from kwalk.model.kafka.snapshots.migration import migrating_release
from kwalk.model.kafka.state import Cluster
from kwalk.model.language import Model, Property
from kwalk.model.language.recovery import World

MOST_AHEAD = 40
"""By how much KRaft's epochs are above /controller_epoch at most: no plan has so many failovers of its controller."""
OPERATORS = (
    broker_server.stop_for_zookeeper,
    kraft_migration_driver.roll_back,
    repair.restart_controller,
    repair.stop_without_migration,
    repair.raise_controller_epoch,
)


@frozen
class PartitionRollback:
    """Partitions in one situation; brokers are in the order of the replicas.

    Attributes:
        brokers: the replicas.
        modes: the modes of their brokers.
        leader: the leader's number among them.
        isr: the numbers of the ISR.
        epochs: /controller_epoch, the epoch of the quorum, and the controller epoch of the state znode.
        names: the partitions.
    """

    brokers: tuple[int, ...]
    modes: tuple[str | None, ...]
    leader: int | None
    isr: frozenset[int]
    epochs: tuple[int, int, int]
    names: tuple[str, ...] = field(eq=False)


def elections_due(capture: Capture) -> int:
    """Return how often ZooKeeper's controller is to be elected, for its epoch to be above all epochs of KRaft."""
    states = (state for topic in capture.topics.values() for state in topic.states.values())
    highest = max((state.controller_epoch for state in states), default=0)
    return max(highest, capture.quorum_epoch or 0) - capture.controller_epoch


def parts_of_rollback(capture: Capture) -> tuple[list[PartitionRollback], list[str]]:
    """Return the situations of partitions, and the partitions that are left out.

    Args:
        capture: the capture, of a cluster in dual write whose ZooKeeper has what KRaft's image has.
    """
    assert capture.image is not None
    found: dict[PartitionRollback, list[str]] = {}
    left = []
    for name, topic in capture.image.topics.items():
        for number, known in sorted(topic.partitions.items()):
            label, count = f"{topic_label(name)}-{number}", len(known.replicas)
            is_shown = have_modes(capture, known.replicas) and known.leader in known.replicas
            if not is_shown or count > MOST_BROKERS or known.moving or known.leader is None:
                left.append(label)
                continue
            epochs = _epochs(capture, capture.topics[name].states[number].controller_epoch)
            isr = frozenset(known.replicas.index(b) for b in known.isr if b in known.replicas)
            leader = known.replicas.index(known.leader)
            modes = tuple(capture.brokers[b].mode for b in known.replicas)
            one = PartitionRollback(known.replicas, modes, leader, isr, epochs, (label,))
            found.setdefault(one, []).append(label)
    parts = [evolve(one, names=tuple(names)) for one, names in found.items()]
    left += [name for one in parts[MOST_PARTS:] for name in one.names]
    return parts[:MOST_PARTS], left


def _epochs(capture: Capture, written: int) -> tuple[int, int, int]:
    """Return three controller epochs, less what they have in common."""
    ours, quorum = capture.controller_epoch, capture.quorum_epoch or 0
    ours = max(min(ours, max(quorum, written) + 1), max(quorum, written) - MOST_AHEAD)
    quorum, written = (max(epoch, ours - 1) for epoch in (quorum, written))
    least = min(ours, quorum, written) - 1
    return ours - least, quorum - least, written - least


def world_of_rollback(
    capture: Capture, one: PartitionRollback, properties: Iterable[Property], harms: Iterable[str]
) -> World:
    """Return the world of partitions of a cluster whose migration is rolled back.

    Args:
        capture: the capture.
        one: the partitions.
        properties: the claims.
        harms: the names of the claims whose violation users notice.
    """
    count = len(one.brokers)
    model = Model(_scenario(one, properties), migrating_release(capture.version))
    return World(
        name=", ".join(one.names[:3]) + f" (and {len(one.names) - 3:,} alike)" * (len(one.names) > 3),
        model=model,
        initial=model.initial,
        claims=model.properties,
        harms=frozenset(harms),
        faults=(*(f"crash({number})" for number in range(count)), "fail_quorum()", "lose_connection(0)"),
        shared=frozenset({CONTROLLER, *map(str, one.brokers)}),
        counters=(
            "migration.failures",
            "stops",
        ),
    )


def _scenario(one: PartitionRollback, properties: Iterable[Property]) -> Any:
    steps = [*actions.CONTROLLER, *actions.BROKER, *(step for step in actions.MIGRATION if step.by.system)]
    steps += [replica_fetcher_thread.fetch, faults.crash, kraft_migration_driver.fail_quorum]
    steps += [kraft_migration_zk_writer.lose_connection, *OPERATORS]

    def snapshot(cluster: Cluster, refuses: bool) -> None:
        _arrange(cluster, one)
        cluster.migration.has_stale_version = refuses

    return RUNNING_CLUSTER.varied(
        name="rollback",
        story="A migration is rolled back, as the documentation says.",
        initial=snapshot,
        actions=tuple(dict.fromkeys(steps)),
        properties=tuple(properties),
        bounds={
            "brokers": len(one.brokers),
            "partitions": 1,
            "topic_ids": 2,
            "quorum_failures": AMPLE,
            "rollbacks": 1,
            "restarts": 2 * AMPLE,
            "controller_epochs": 8 * AMPLE,
            "leader_epochs": 8 * AMPLE,
            "events": 8,
            "requests": 8,
            "records": 1,
            "incarnations": 1,
        },
        flags={
            "migration": True,
            "stop_replica": True,
            "isr_changes": "between requests",
            "patient_operator": True,
            "rollback_removes_migration": True,
        },
        labels={
            BROKERS.name: tuple(str(broker) for broker in one.brokers),
            TOPICS.name: (one.names[0].rpartition("-")[0],),
            PARTITIONS.name: (one.names[0].rpartition("-")[2],),
        },
        variants=VARIANTS,
        unlisted_variants=UNLISTED_VARIANTS,
    )


def _arrange(cluster: Cluster, one: PartitionRollback) -> None:
    arrange_cluster(cluster, one.modes, one.leader, one.isr, 1)
    zookeeper, migration = cluster.zookeeper, cluster.migration
    zookeeper.controller_epoch, migration.epoch, migration.images[0].znodes[0].controller_epoch = one.epochs
    record = Record(0, 0, 1)
    cluster.commits[0][0].push(Commit(record, 0))
    for number, broker in enumerate(cluster.brokers):
        replica = cluster.replica_of(number, 0, 0)
        zookeeper.watches[number].controller = one.modes[number] != "kraft"
        broker.controller_epoch = zookeeper.controller_epoch
        replica.on_disk = replica.log_open = True
        replica.topic_id = replica.file_topic_id = 0
        replica.leader_epoch, replica.is_leader = 1, number == one.leader
        if number in one.isr:
            replica.log.records.push(record)
            replica.log.high_watermark = replica.log.checkpoint = 1
    for number in range(len(one.brokers)):
        arrange_replication(cluster, number, zookeeper.state_of(0, 0))
