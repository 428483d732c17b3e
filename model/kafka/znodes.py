"""What ZooKeeper holds: the znodes that controllers, brokers and clients share, and who watches them.

Words: a *znode* is ZooKeeper's record; a topic's znode has its partitions and its topic id, a partition's *state znode*
has leader, ISR and leader epoch. A *watch* is one-shot: when it fires it is gone until a read arms it again.
"""
from __future__ import annotations

from model.kafka.domains import (
    BROKERS,
    CONTROLLER_EPOCHS,
    INCARNATIONS,
    LEADER_EPOCHS,
    PARTITION_COUNT,
    PARTITIONS,
    TOPIC_IDS,
    TOPICS,
)
from model.kafka.versions import DELETION, REASSIGNMENT
from model.language import Array, array, flag, number, optional, state, subset, value


@value
class Assignment:
    """A partition's replicas; `adding` and `removing` are those of a reassignment under way, among the replicas.

    The preferred replica is not the first of a list: it is the first of the set in the order of `assignment`.
    """

    replicas: frozenset[int] = subset(BROKERS, full=True)
    adding: frozenset[int] = subset(BROKERS)
    removing: frozenset[int] = subset(BROKERS)

    @property
    def origin(self) -> frozenset[int]:
        """The replicas before the reassignment."""
        return self.replicas - self.adding

    @property
    def target(self) -> frozenset[int]:
        """The replicas after the reassignment."""
        return self.replicas - self.removing

    @property
    def is_being_reassigned(self) -> bool:
        """ReplicaAssignment.isBeingReassigned."""
        return bool(self.adding) or bool(self.removing)


@state
class PartitionStateZnode:
    """/brokers/topics/T/partitions/P/state; there is none while the leader epoch is None."""

    leader: int | None = optional(BROKERS)
    isr: frozenset[int] = subset(BROKERS)
    leader_epoch: int | None = optional(number(0, LEADER_EPOCHS))

    @property
    def exists(self) -> bool:
        """Whether the znode is there."""
        return self.leader_epoch is not None


@state
class TopicZnode:
    """/brokers/topics/T, and facts of its history that no znode holds; there is none without partitions.

    `first_topic_id` is the first id that this incarnation was ever given, `accepted_partitions` the number of
    partitions that clients were told the topic has. Where topics are deleted, `has_config` says whether
    /config/topics/T exists, and two facts outlive the znode: whether it `was_created` ever, and whether somebody
    asked for the last incarnation's deletion.
    """

    partition_count: int = number(0, PARTITION_COUNT)
    topic_id: int | None = optional(TOPIC_IDS)
    states: Array[PartitionStateZnode] = array(PARTITIONS, PartitionStateZnode)
    assignments: Array[Assignment] = array(PARTITIONS, Assignment, when=REASSIGNMENT)
    first_topic_id: int | None = optional(TOPIC_IDS)
    accepted_partitions: int = number(0, PARTITION_COUNT)
    incarnation: int = number(0, INCARNATIONS)
    has_config: bool = flag(when=DELETION)
    was_created: bool = flag(when=DELETION)
    deletion_asked: bool = flag(when=DELETION)

    @property
    def exists(self) -> bool:
        """Whether the znode is there."""
        return self.partition_count > 0


@state
class Watches:
    """The armed watches of one broker's session."""

    controller: bool = flag()
    broker_ids: bool = flag()
    topics: bool = flag()
    topic: Array[bool] = array(TOPICS, flag())
    delete_topics: bool = flag(when=DELETION)


@state
class ZooKeeper:
    """All znodes. `broker_ids` are the children of /brokers/ids: registered brokers whose session lives.

    /controller_epoch is written by elections only, so the epoch is also the znode version by which writes are fenced.
    """

    controller: int | None = optional(BROKERS)
    controller_epoch: int = number(0, CONTROLLER_EPOCHS)
    broker_ids: frozenset[int] = subset(BROKERS, full=True)
    topics: Array[TopicZnode] = array(TOPICS, TopicZnode)
    delete_topics: frozenset[int] = subset(TOPICS, when=DELETION)
    watches: Array[Watches] = array(BROKERS, Watches)
