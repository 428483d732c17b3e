"""The state of a migration: KRaft's image, the migration driver of the active controller, and what ZooKeeper records.

KRaft's quorum is its log: what is committed is in the image, and outlives every controller. An active controller has a
driver, which begins anew when another one becomes active.
"""

from __future__ import annotations

from enum import Enum

from kwalk.model.kafka.domains import BROKERS, PARTITION_COUNT, QUORUM_FAILURES, ROLLBACKS, TOPIC_IDS, TOPICS
from kwalk.model.kafka.versions.grain import MIGRATION
from kwalk.model.language import Array, array, choice, flag, number, optional, state, subset


class DriverState(Enum):
    """What the migration driver is at (Kafka: MigrationDriverState).

    `INACTIVE` is also that of no active controller. `RECORDING` is the end of the copy: its transaction has ended, and
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


class BrokerMode(Enum):
    """The mode of a broker: that of ZooKeeper, with the migration enabled, or that of KRaft."""

    ZOOKEEPER = 0
    KRAFT = 1


@state
class TopicImage:
    """A topic in KRaft's image; it is not there while it has no partitions."""

    partition_count: int = number(0, PARTITION_COUNT, when=MIGRATION)
    topic_id: int | None = optional(TOPIC_IDS, when=MIGRATION)

    @property
    def exists(self) -> bool:
        """Whether the image has the topic."""
        return self.partition_count > 0

    def remove(self) -> None:
        """Remove the topic from the image."""
        self.partition_count = 0
        self.topic_id = None


@state
class MigrationState:
    """A migration to KRaft.

    `has_begun` says that the log has the state MIGRATION, which ends the copy. `copied` are the topics that the copy
    under way has read. `unwritten` are the topics whose image has changed since ZooKeeper was written: deltas that the
    driver has not handled. `live` are the brokers that are registered and not fenced, `ended` those of them whose
    process has ended since: no other process of the broker is registered before the first one is fenced. `enabled` are
    the brokers that run with zookeeper.metadata.migration.enable.

    Leaders and ISRs of the image are those of the state znodes: KRaft's writes to both are one step.
    """

    driver: DriverState = choice(DriverState, when=MIGRATION)
    has_begun: bool = flag(when=MIGRATION)
    images: Array[TopicImage] = array(TOPICS, TopicImage)
    copied: frozenset[int] = subset(TOPICS, when=MIGRATION)
    unwritten: frozenset[int] = subset(TOPICS, when=MIGRATION)
    live: frozenset[int] = subset(BROKERS, when=MIGRATION)
    ended: frozenset[int] = subset(BROKERS, when=MIGRATION)
    enabled: frozenset[int] = subset(BROKERS, when=MIGRATION)
    failures: int = number(0, QUORUM_FAILURES)
    rollbacks: int = number(0, ROLLBACKS)

    @property
    def is_led(self) -> bool:
        """Whether an active controller of KRaft has taken the cluster over."""
        return self.driver in (
            DriverState.SYNC_KRAFT_TO_ZK,
            DriverState.KRAFT_CONTROLLER_TO_BROKER_COMM,
            DriverState.DUAL_WRITE,
        )

    def has_partition(self, topic: int, partition: int) -> bool:
        """Whether the image has a partition."""
        return partition < self.images[topic].partition_count

    def clear_images(self) -> None:
        """Make the image empty."""
        for topic in TOPICS:
            self.images[topic].remove()
        self.copied = self.unwritten = frozenset()
