"""The znodes that controllers, brokers and clients share, and the watches on them.

Words: a *znode* is ZooKeeper's record; a topic's znode has its partitions and its topic id, a partition's *state znode*
has leader, ISR and leader epoch. A *watch* is one-shot: once it has fired, a read has to arm it again.
"""

from __future__ import annotations

from kwalk.model.kafka.domains import (
    BROKER_PAIRS,
    BROKERS,
    CHOSEN_LISTS,
    CONTROLLER_EPOCHS,
    ELECTION_REQUESTS,
    INCARNATIONS,
    LEADER_EPOCHS,
    PARTITION_COUNT,
    PARTITIONS,
    TOPIC_IDS,
    TOPICS,
)
from kwalk.model.kafka.versions.grain import DELETION, MIGRATION, REASSIGNMENT, REPLICA_LISTS
from kwalk.model.language import Array, array, flag, number, optional, state, subset, value


@value
class Assignment:
    """A partition's replicas (Kafka: ReplicaAssignment); `adding` and `removing` are subsets during a reassignment.

    Kafka's is a list. Here `preferred` is the first of it where clients choose it; elsewhere the first is that of the
    fixed order of `assignment`.
    """

    replicas: frozenset[int] = subset(BROKERS, full=True)
    adding: frozenset[int] = subset(BROKERS)
    removing: frozenset[int] = subset(BROKERS)
    preferred: int | None = optional(BROKERS, when=REPLICA_LISTS)

    @property
    def origin(self) -> frozenset[int]:
        """The replicas before the reassignment (Kafka: ReplicaAssignment.originReplicas)."""
        return self.replicas - self.adding

    @property
    def target(self) -> frozenset[int]:
        """The replicas after the reassignment (Kafka: ReplicaAssignment.targetReplicas)."""
        return self.replicas - self.removing

    @property
    def is_being_reassigned(self) -> bool:
        """Whether a reassignment is under way (Kafka: ReplicaAssignment.isBeingReassigned)."""
        return bool(self.adding) or bool(self.removing)


@value
class ReplicaOrder:
    """A list of replicas that a client chooses: which they are, and their order as in `TopicZnode.orders`."""

    replicas: frozenset[int] = subset(BROKERS)
    order: frozenset[int] = subset(BROKER_PAIRS)


@state
class PartitionStateZnode:
    """A partition's leader and ISR; no znode while the leader epoch is None.

    `controller_epoch` is that of the controller that wrote it, in migrations, where it may be KRaft's.

    Kafka: /brokers/topics/T/partitions/P/state.
    """

    leader: int | None = optional(BROKERS)
    isr: frozenset[int] = subset(BROKERS)
    leader_epoch: int | None = optional(number(0, LEADER_EPOCHS))
    controller_epoch: int = number(0, CONTROLLER_EPOCHS, when=MIGRATION)

    @property
    def exists(self) -> bool:
        """Whether the znode exists."""
        return self.leader_epoch is not None


@state
class TopicZnode:
    """A topic's partitions and id (Kafka: /brokers/topics/T), with its history; no znode while it has no partitions.

    `first_topic_id` is the first id of this incarnation, `accepted_partitions` the number of partitions that clients
    were promised. Where topics are deleted, `has_config` (Kafka: /config/topics/T) says whether the configuration
    exists, and two facts outlive the znode: `was_created` ever, and `deletion_requested` for the last incarnation.
    While KRaft's controller leads, `states` are the registrations in its image, and `migration.images[…].znodes` what
    ZooKeeper has.
    Where clients choose whole lists of replicas, `orders` has for each partition the pairs of brokers, as
    `assignment.pair` numbers them, of which the later one comes first in the list, also during a reassignment.
    """

    partition_count: int = number(0, PARTITION_COUNT)
    topic_id: int | None = optional(TOPIC_IDS)
    states: Array[PartitionStateZnode] = array(PARTITIONS, PartitionStateZnode)
    assignments: Array[Assignment] = array(PARTITIONS, Assignment, when=REASSIGNMENT)
    orders: Array[frozenset[int]] = array(PARTITIONS, subset(BROKER_PAIRS), when=CHOSEN_LISTS)
    first_topic_id: int | None = optional(TOPIC_IDS)
    accepted_partitions: int = number(0, PARTITION_COUNT)
    incarnation: int = number(0, INCARNATIONS)
    has_config: bool = flag(when=DELETION)
    was_created: bool = flag(when=DELETION)
    deletion_requested: bool = flag(when=DELETION)

    @property
    def exists(self) -> bool:
        """Whether the znode exists."""
        return self.partition_count > 0


@state
class Watches:
    """The armed watches of one broker's session (Kafka: ZNodeChangeHandler, ZNodeChildChangeHandler)."""

    controller: bool = flag()
    broker_ids: bool = flag()
    topics: bool = flag()
    topic: Array[bool] = array(TOPICS, flag())
    delete_topics: bool = flag(when=DELETION)
    preferred_elections: bool = flag(when=ELECTION_REQUESTS)


@state
class ZooKeeper:
    """The znodes.

    `controller` (Kafka: /controller), `controller_epoch` (Kafka: /controller_epoch), `broker_ids` (Kafka:
    /brokers/ids), `topics` (Kafka: /brokers/topics), `delete_topics` (Kafka: /admin/delete_topics),
    `preferred_elections` (Kafka: /admin/preferred_replica_election): the partitions of each topic that it names; no
    znode if it names none. Brokers are registered while their session lives. The controller epoch is written by
    elections only, so that it stands for the znode version that fences writes. During a migration, `is_led_by_kraft`
    says that /controller is that of a KRaft controller, `migration_is_recorded` that /migration (Kafka: MigrationZNode)
    has the offset of a copy, and `migration_is_empty` that it has no content.
    """

    controller: int | None = optional(BROKERS)
    controller_epoch: int = number(0, CONTROLLER_EPOCHS)
    broker_ids: frozenset[int] = subset(BROKERS, full=True)
    topics: Array[TopicZnode] = array(TOPICS, TopicZnode)
    delete_topics: frozenset[int] = subset(TOPICS, when=DELETION)
    preferred_elections: Array[frozenset[int]] = array(TOPICS, subset(PARTITIONS), when=ELECTION_REQUESTS)
    is_led_by_kraft: bool = flag(when=MIGRATION)
    migration_is_recorded: bool = flag(when=MIGRATION)
    migration_is_empty: bool = flag(when=MIGRATION)
    watches: Array[Watches] = array(BROKERS, Watches)

    @property
    def has_preferred_elections(self) -> bool:
        """Whether elections of preferred leaders are requested, and so the znode exists."""
        return any(bool(partitions) for partitions in self.preferred_elections)

    def state_of(self, topic: int, partition: int) -> PartitionStateZnode:
        """Return the state znode of a partition."""
        return self.topics[topic].states[partition]
