"""The state of a migration: KRaft's image, the migration driver of the active controller, and what ZooKeeper records.

KRaft's quorum is its log: what is committed is in the image, and outlives every controller. An active controller has a
driver, which begins anew when another one becomes active.
"""

from __future__ import annotations

from enum import Enum

from kwalk.model.kafka.domains import (
    BROKERS,
    CONTROLLER_EPOCHS,
    KRAFT_REASSIGNMENTS,
    LEADER_EPOCHS,
    PARTITION_COUNT,
    PARTITIONS,
    QUORUM_FAILURES,
    ROLLBACKS,
    TOPIC_IDS,
    TOPICS,
)
from kwalk.model.kafka.versions.grain import MIGRATION
from kwalk.model.language import Array, array, choice, flag, number, optional, state, subset


class DriverState(Enum):
    """What the migration driver is at (Kafka: MigrationDriverState).

    `INACTIVE` is that of no active controller; `GIVEN_UP` is INACTIVE in Kafka, too: the log says that the migration
    has begun, and /migration does not; or the driver has missed its leadership. `UNCLAIMED` goes on without
    /controller; what it does then is left out. `RECORDING` is the end of the copy: its transaction has ended, and
    /migration is still to be written.
    """

    INACTIVE = 0
    WAIT_FOR_BROKERS = 1
    BECOME_CONTROLLER = 2
    ZK_MIGRATION = 3
    RECORDING = 4
    SYNC_KRAFT_TO_ZK = 5
    KRAFT_CONTROLLER_TO_BROKER_COMM = 6
    DUAL_WRITE = 7
    GIVEN_UP = 8
    UNCLAIMED = 9


class BrokerMode(Enum):
    """The mode of a broker: that of ZooKeeper, with the migration enabled, or that of KRaft."""

    ZOOKEEPER = 0
    KRAFT = 1


@state
class WrittenPartitionState:
    """A state znode in ZooKeeper while KRaft's controller leads: what its driver has written last.

    `handled_replicas` are those of the assignment in the last change that the driver has handled.
    """

    leader: int | None = optional(BROKERS, when=MIGRATION)
    isr: frozenset[int] = subset(BROKERS, when=MIGRATION)
    leader_epoch: int | None = optional(number(0, LEADER_EPOCHS), when=MIGRATION)
    controller_epoch: int = number(0, CONTROLLER_EPOCHS, when=MIGRATION)
    handled_replicas: frozenset[int] = subset(BROKERS, when=KRAFT_REASSIGNMENTS)

    def remove(self) -> None:
        """Remove the state znode."""
        self.leader, self.leader_epoch, self.isr = None, None, frozenset()
        self.controller_epoch = 0


@state
class TopicImage:
    """A topic in KRaft's image; it is not there while it has no partitions.

    Its partitions' leaders and ISRs are `states` of the topic while KRaft's controller leads; `znodes` are then the
    state znodes in ZooKeeper, which the driver writes later. The first `copied_partitions` are from ZooKeeper. A delta
    that the driver has not handled has the partitions that are `changed`, and whether the topic `is_new`.
    """

    partition_count: int = number(0, PARTITION_COUNT, when=MIGRATION)
    topic_id: int | None = optional(TOPIC_IDS, when=MIGRATION)
    copied_partitions: int = number(0, PARTITION_COUNT, when=MIGRATION)
    changed: frozenset[int] = subset(PARTITIONS, when=MIGRATION)
    is_new: bool = flag(when=MIGRATION)
    znodes: Array[WrittenPartitionState] = array(PARTITIONS, WrittenPartitionState)

    @property
    def exists(self) -> bool:
        """Whether the image has the topic."""
        return self.partition_count > 0

    def remove(self) -> None:
        """Remove the topic from the image."""
        self.partition_count = self.copied_partitions = 0
        self.topic_id, self.changed, self.is_new = None, frozenset(), False


@state
class MigrationState:
    """A migration to KRaft.

    `epoch` is that of the quorum, which each election raises. `read_controller_epoch` is that of ZooKeeper when the
    driver was about to claim /controller, in releases that do not look whether they succeed. `has_begun` says that
    the log has the state MIGRATION, which ends the copy. `copied` are the topics that the copy under way has read,
    `compared` those that were written since KRaft's controller has claimed /controller. `unwritten` are the topics
    with a delta that the driver has not handled; it `has_stale_version` of /migration when ZooKeeper refuses all
    that it writes. In 3.4 it `has_read_copy` if its process has started since the copy. KRaft's controller
    `is_announced` from its first requests on: until then brokers forward nothing to it. `live` are the brokers that
    are registered and not fenced, `ended` those of them whose process has ended since: no other process of the
    broker is registered before the first one is fenced. `changed_brokers` have been unfenced by a delta that the driver
    has not handled. `enabled` are the brokers that run with
    zookeeper.metadata.migration.enable. A migration `is_finalized` when the controllers run without it: nothing is
    written to ZooKeeper any more, and brokers in its mode get no requests. The quorum `is_deprovisioned` after a
    rollback: its controllers and their logs are gone.
    """

    epoch: int = number(0, CONTROLLER_EPOCHS, when=MIGRATION)
    read_controller_epoch: int = number(0, CONTROLLER_EPOCHS, when=MIGRATION)
    driver: DriverState = choice(DriverState, when=MIGRATION)
    has_begun: bool = flag(when=MIGRATION)
    images: Array[TopicImage] = array(TOPICS, TopicImage)
    copied: frozenset[int] = subset(TOPICS, when=MIGRATION)
    compared: frozenset[int] = subset(TOPICS, when=MIGRATION)
    has_stale_version: bool = flag(when=MIGRATION)
    has_read_copy: bool = flag(when=MIGRATION)
    is_announced: bool = flag(when=MIGRATION)
    unwritten: frozenset[int] = subset(TOPICS, when=MIGRATION)
    live: frozenset[int] = subset(BROKERS, when=MIGRATION)
    ended: frozenset[int] = subset(BROKERS, when=MIGRATION)
    changed_brokers: frozenset[int] = subset(BROKERS, when=MIGRATION)
    enabled: frozenset[int] = subset(BROKERS, when=MIGRATION)
    is_finalized: bool = flag(when=MIGRATION)
    is_deprovisioned: bool = flag(when=MIGRATION)
    failures: int = number(0, QUORUM_FAILURES)
    rollbacks: int = number(0, ROLLBACKS)
    reassignments: int = number(0, KRAFT_REASSIGNMENTS)

    @property
    def is_led(self) -> bool:
        """Whether an active controller of KRaft has taken the cluster over."""
        return self.is_finalized or self.driver in (
            DriverState.SYNC_KRAFT_TO_ZK,
            DriverState.KRAFT_CONTROLLER_TO_BROKER_COMM,
            DriverState.DUAL_WRITE,
        )

    @property
    def handles_deltas(self) -> bool:
        """Whether the driver handles changes of the image (Kafka: MigrationDriverState.allowDualWrite)."""
        return self.driver in (DriverState.KRAFT_CONTROLLER_TO_BROKER_COMM, DriverState.DUAL_WRITE)

    def has_partition(self, topic: int, partition: int) -> bool:
        """Whether the image has a partition."""
        return partition < self.images[topic].partition_count

    def clear_images(self) -> None:
        """Make the image empty."""
        for topic in TOPICS:
            self.images[topic].remove()
        self.copied = self.compared = self.unwritten = frozenset()
        self.is_announced = False

    @property
    def serves_clients(self) -> bool:
        """Whether requests of clients reach KRaft's controller."""
        return self.is_led and self.is_announced

    def change(self, topic: int, partition: int) -> None:
        """Add a partition to the delta."""
        self.unwritten = self.unwritten | {topic}
        self.images[topic].changed = self.images[topic].changed | {partition}
