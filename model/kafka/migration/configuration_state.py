"""The state of a migration for what is no topic: one entity with its value, and the blocks of producer ids.

ZooKeeper, KRaft's image, and one broker each have a value of the entity; a value is abstract. One broker stands for
all, and for ZooKeeper's controller too: it `knows_kraft` as soon as it has heard that KRaft's controller leads.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from kwalk.model.language import Bound, Domain, choice, flag, nested, number, optional, state, subset

VALUES = Domain("values", "values of the configuration; of ACLs value n stands for n + 1 ACLs of a resource")
BLOCKS = Domain("blocks", "blocks of producer ids; the first one was given before the migration")
CHANGES = Bound("changes", "how often the configuration is changed")
LATE_REQUESTS = Bound(
    "late_requests", "requests that a broker handles in ZooKeeper after KRaft's controller has claimed it"
)
FAILURES = Bound("quorum_failures", "how often KRaft's active controller fails")
ROLLBACKS = Bound("rollbacks", "how often the migration is rolled back")

Value = Annotated[int | None, optional(VALUES)]


class Entity(Enum):
    """What is configured.

    `SECRET` is a password of a broker, which is in ZooKeeper as cipher text. `CLIENT_QUOTA` is that of a client id,
    `USER_QUOTA` that of a user whose name has a slash, as names of certificates may, and `DEFAULT_QUOTA` that of all
    users. `ACLS` are those of one resource.
    """

    TOPIC = 0
    DEFAULT_BROKER = 1
    SECRET = 2
    CLIENT_QUOTA = 3
    USER_QUOTA = 4
    DEFAULT_QUOTA = 5
    ACLS = 6


class DriverPhase(Enum):
    """How far the migration is: ZooKeeper's controller leads, states of the driver, and two ends.

    In `FAILED` the copy has failed and the controller has ended, as each one after it will. After a rollback
    ZooKeeper's controller leads again.
    """

    ZOOKEEPER = 0
    ZK_MIGRATION = 1
    SYNC_KRAFT_TO_ZK = 2
    DUAL_WRITE = 3
    FAILED = 4
    ROLLED_BACK = 5


class Delta(Enum):
    """What has changed in the image and is not written to ZooKeeper yet; `FEWER_ACLS` if some were deleted."""

    NONE = 0
    CHANGED = 1
    FEWER_ACLS = 2


@state
class ProducerIdBlocks:
    """Blocks of producer ids: the last one in ZooKeeper, the next one in the image, and those that brokers have got.

    `is_unwritten` says that ZooKeeper does not have the image's next block yet.
    """

    in_zookeeper: int = number(0, BLOCKS.bound)
    next_in_kraft: int = number(0, BLOCKS.bound)
    held: frozenset[int] = subset(BLOCKS)
    is_given_twice: bool = flag()
    is_unwritten: bool = flag()


@state
class ConfiguredCluster:
    """A cluster that migrates, and the entity that is configured in it.

    `zookeeper`, `kraft` and `applied` are its values in ZooKeeper, in the image and on the broker; `accepted` is what
    a client was told last. `misnamed` is the value that the copy gave to a name in the image that no client has.
    `…_is_encrypted` says that a password is cipher text there. A broker in ZooKeeper mode reads the value when it is
    `notified`. `has_begun` says that a copy has ended.
    """

    entity: Entity = choice(Entity)
    phase: DriverPhase = choice(DriverPhase)
    has_begun: bool = flag()
    zookeeper: int | None = optional(VALUES)
    zookeeper_is_encrypted: bool = flag()
    kraft: int | None = optional(VALUES)
    kraft_is_encrypted: bool = flag()
    misnamed: int | None = optional(VALUES)
    accepted: int | None = optional(VALUES)
    applied: int | None = optional(VALUES)
    delta: Delta = choice(Delta)
    notified: bool = flag()
    knows_kraft: bool = flag()
    is_in_kraft_mode: bool = flag()
    blocks: ProducerIdBlocks = nested(ProducerIdBlocks)
    changes: int = number(0, CHANGES)
    late_requests: int = number(0, LATE_REQUESTS)
    failures: int = number(0, FAILURES)
    rollbacks: int = number(0, ROLLBACKS)

    @property
    def is_quota(self) -> bool:
        """Whether the entity is a client quota."""
        return self.entity in (Entity.CLIENT_QUOTA, Entity.USER_QUOTA, Entity.DEFAULT_QUOTA)

    @property
    def is_claimed(self) -> bool:
        """Whether KRaft's controller has claimed /controller."""
        return self.phase not in (DriverPhase.ZOOKEEPER, DriverPhase.ROLLED_BACK)

    @property
    def is_led_by_kraft(self) -> bool:
        """Whether a controller of KRaft has an image to lead by."""
        return self.has_begun and self.is_claimed
