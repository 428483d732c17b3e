"""The state of a migration: KRaft's image, the migration driver of the active controller, and what ZooKeeper records.

KRaft's quorum is its log: what is committed is in the image, and outlives every controller. An active controller has a
driver, which begins anew when another one becomes active.
"""

from __future__ import annotations

from enum import Enum

from kwalk.model.kafka.domains import PARTITION_COUNT, QUORUM_FAILURES, ROLLBACKS, TOPIC_IDS, TOPICS
from kwalk.model.kafka.versions.grain import MIGRATION
from kwalk.model.language import Array, array, choice, flag, number, optional, state, subset


class DriverState(Enum):
    """What the migration driver is at (Kafka: MigrationDriverState).

    `INACTIVE` is also that of no active controller. `RECORDING` is the end of the copy: its transaction has ended, and
    /migration is still to be written. What the driver does between the last two in Kafka, full requests to brokers
    (KRAFT_CONTROLLER_TO_BROKER_COMM), is left out.
    """

    INACTIVE = 0
    WAIT_FOR_BROKERS = 1
    BECOME_CONTROLLER = 2
    ZK_MIGRATION = 3
    RECORDING = 4
    SYNC_KRAFT_TO_ZK = 5
    DUAL_WRITE = 6


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
class Migration:
    """A migration to KRaft.

    `has_begun` says that the log has the state MIGRATION, which ends the copy. `copied` are the topics that the copy
    under way has read. `unwritten` are the topics whose image has changed since ZooKeeper was written: deltas that the
    driver has not handled.
    """

    driver: DriverState = choice(DriverState, when=MIGRATION)
    has_begun: bool = flag(when=MIGRATION)
    images: Array[TopicImage] = array(TOPICS, TopicImage)
    copied: frozenset[int] = subset(TOPICS, when=MIGRATION)
    unwritten: frozenset[int] = subset(TOPICS, when=MIGRATION)
    failures: int = number(0, QUORUM_FAILURES)
    rollbacks: int = number(0, ROLLBACKS)

    def clear_images(self) -> None:
        """Make the image empty."""
        for topic in TOPICS:
            self.images[topic].remove()
        self.copied = self.unwritten = frozenset()
