"""AlterPartitionManager (before 3.2: AlterIsrManager): a leader asks the controller to change its ISR, and waits.

One partition, its leader, one follower, and the controller, which writes to ZooKeeper what leaders ask for
(AlterIsr, since 2.7; KIP-497). Request, write and answer are steps of their own. The leader has at most one change
under way, and its broker sends one request at a time.

What the model leaves out, and why its story loses nothing by it:

* Other partitions, with which a request is shared: they would make a change wait for longer.
* Requests that are lost: the broker sends them again until they are answered.
* Another leader: the leader of the story is elected again, as after a move there and back. Its log does not change.
"""

from __future__ import annotations

from enum import Enum

from kwalk.model.kafka.server.versions import (
    CHANGES_ARE_TRIED_AGAIN,
    ELECTIONS_KEEP_CHANGES,
    HIGH_WATERMARK_FOLLOWS_THE_ISR,
    ISR_CHANGES_NAME_BROKER_EPOCHS,
)
from kwalk.model.kafka.storage.domains import FAULT, OFFSETS, PRODUCER
from kwalk.model.kafka.storage.leader_epochs import BROKERS, CONTROLLER, ELECTIONS
from kwalk.model.language import (
    Actor,
    Bound,
    action,
    choice,
    evolve,
    flag,
    nested,
    number,
    optional,
    require,
    state,
    value,
)

FOLLOWER = Actor("follower", system=False)
LAGS = Bound("lags", "how often the follower falls behind")
WRITE_ERRORS = Bound("write_errors", "how often a write of the controller to ZooKeeper fails", default=0)
DISKS = Bound("disks", "how often the follower's broker starts again with an empty disk", default=0)
VERSIONS = Bound("versions", "the highest version of the znode: it is written by elections and changes of the ISR")


class IsrChange(Enum):
    """What a leader has asked for (Kafka: IsrState, since 3.0 PartitionState)."""

    NONE = "committed"
    EXPANSION = "pending expansion"
    SHRINK = "pending shrink"


class Outcome(Enum):
    """What a controller answers."""

    WRITTEN = "no error"
    FENCED = "FENCED_LEADER_EPOCH"
    STALE = "INVALID_UPDATE_VERSION"
    FAILED = "UNKNOWN_SERVER_ERROR"


@value
class VersionedIsr:
    """The state of the partition in ZooKeeper, in a request, or in an answer; the ISR has the leader in any case."""

    epoch: int = number(0, ELECTIONS)
    version: int = number(0, VERSIONS)
    has_follower: bool = flag(default=True)


@state
class IsrPartition:
    """What ZooKeeper has (`znode`), what the leader takes for `committed`, and the change that it has `pending`.

    A change waits in `unsent` until it is answered, also while it is `in_flight`; the controller has written an
    `answer` with an `outcome`. A `request` of the controller about an election is on its way. The follower `is_behind`
    for longer than replica.lag.time.max.ms; its disk `is_replaced` since its leader has asked to add it. Offsets are
    those of the leader, and what the leader knows of the follower.
    """

    znode: VersionedIsr = nested(VersionedIsr)
    committed: VersionedIsr = nested(VersionedIsr)
    pending: IsrChange = choice(IsrChange)
    unsent: VersionedIsr | None = optional(VersionedIsr)
    in_flight: VersionedIsr | None = optional(VersionedIsr)
    answer: VersionedIsr | None = optional(VersionedIsr)
    outcome: Outcome = choice(Outcome)
    request: VersionedIsr | None = optional(VersionedIsr)
    is_behind: bool = flag()
    end: int = number(0, OFFSETS)
    follower_end: int = number(0, OFFSETS)
    high_watermark: int = number(0, OFFSETS)
    is_replaced: bool = flag(when=DISKS)
    disks: int = number(0, DISKS)
    lags: int = number(0, LAGS)
    write_errors: int = number(0, WRITE_ERRORS)


def raise_high_watermark(partition: IsrPartition) -> None:
    """Raise the high watermark to the smallest end offset of the ISR, with a replica that is about to join it.

    Kafka: Partition.maybeIncrementLeaderHW, with the maximal ISR of KIP-497.
    """
    waits = partition.committed.has_follower or partition.pending is IsrChange.EXPANSION
    end = min(partition.end, partition.follower_end) if waits else partition.end
    partition.high_watermark = max(partition.high_watermark, end)


@action(by=PRODUCER, description="produces a record", source="Partition.appendRecordsToLeader")
def produce(partition: IsrPartition) -> None:
    """The leader appends it."""
    partition.end += 1
    raise_high_watermark(partition)


@action(
    by=BROKERS, description="the follower fetches all that the leader has", source="Partition.updateFollowerFetchState"
)
def fetch(partition: IsrPartition) -> None:
    """A fetch that changes nothing is no step."""
    require(not partition.is_behind and partition.follower_end < partition.end)
    partition.follower_end = partition.end
    raise_high_watermark(partition)


@action(by=FOLLOWER, description="fetches again, and catches up", source="Partition.updateFollowerFetchState")
def catch_up(partition: IsrPartition) -> None:
    """Its broker may also be down for good."""
    require(partition.is_behind)
    partition.is_behind = False
    partition.follower_end = partition.end
    raise_high_watermark(partition)


@action(by=FAULT, description="the follower falls behind", source="Partition.getOutOfSyncReplicas")
def fall_behind(partition: IsrPartition) -> None:
    """It has not fetched for replica.lag.time.max.ms."""
    require(not partition.is_behind)
    partition.lags += 1
    partition.is_behind = True


@action(
    by=FAULT,
    description="the follower's broker, which has crashed, starts again with an empty disk",
    source="KafkaController.onBrokerStartup",
)
def replace_disk(partition: IsrPartition) -> None:
    """The controller has noticed both; as the follower was not in the ISR, it writes nothing."""
    require(not partition.znode.has_follower and partition.request is None and partition.follower_end > 0)
    partition.disks += 1
    partition.follower_end = 0
    partition.is_behind = True
    partition.is_replaced = partition.in_flight is not None


def submit(partition: IsrPartition, change: IsrChange) -> None:
    """Enqueue a change, unless one is not answered yet; the request is sent if none is in flight.

    Kafka: Partition.submitAlterPartition, AlterPartitionManager.submit.
    """
    if partition.unsent is None:
        partition.pending = change
        partition.unsent = evolve(partition.committed, has_follower=change is IsrChange.EXPANSION)
        if partition.in_flight is None:
            partition.in_flight = partition.unsent


@action(
    by=BROKERS,
    description="the leader asks the controller to add the follower to the ISR",
    source="Partition.maybeExpandIsr",
)
def expand_isr(partition: IsrPartition) -> None:
    """The follower has caught up; no other change is pending."""
    require(partition.pending is IsrChange.NONE and not partition.committed.has_follower and not partition.is_behind)
    require(partition.unsent is None and partition.follower_end >= partition.high_watermark)
    submit(partition, IsrChange.EXPANSION)


@action(
    by=BROKERS,
    description="the leader asks the controller to take the follower out of the ISR",
    source="Partition.maybeShrinkIsr",
)
def shrink_isr(partition: IsrPartition) -> None:
    """The follower is behind; until the answer the high watermark waits for it."""
    require(partition.pending is IsrChange.NONE and partition.committed.has_follower and partition.is_behind)
    require(partition.unsent is None)
    submit(partition, IsrChange.SHRINK)


@action(
    by=CONTROLLER,
    description="begins another leader epoch with the same leader; takes the follower out of the ISR: {removes}",
    source="PartitionStateMachine.doElectLeaderForPartitions, ReplicaStateMachine.doRemoveReplicasFromIsr",
)
def elect(partition: IsrPartition, removes: bool) -> None:
    """The leader moves there and back, or the follower's broker ends its session."""
    require(partition.request is None and (not removes or (partition.znode.has_follower and partition.is_behind)))
    znode = partition.znode
    partition.znode = VersionedIsr(
        epoch=znode.epoch + 1, version=znode.version + 1, has_follower=znode.has_follower and not removes
    )
    partition.request = partition.znode


@action(
    by=BROKERS,
    description="the leader handles LeaderAndIsr",
    source="Partition.makeLeader; AlterIsrManager.clearPending",
)
def handle_leader_and_isr(partition: IsrPartition) -> None:
    """What was pending is given up; until KAFKA-12686 also what waits to be sent, though a request is in flight."""
    require(partition.request is not None)
    assert partition.request is not None
    partition.committed, partition.pending, partition.request = partition.request, IsrChange.NONE, None
    if not ELECTIONS_KEEP_CHANGES:
        partition.unsent = None
    raise_high_watermark(partition)


@action(
    by=BROKERS,
    description="the controller handles AlterIsr; its write to ZooKeeper fails: {fails}",
    source="KafkaController.processAlterIsr, processAlterPartition",
)
def handle_alter_isr(partition: IsrPartition, fails: bool) -> None:
    """A request of an earlier leader epoch is refused; what ZooKeeper has already is answered, and not written."""
    require(partition.in_flight is not None and partition.answer is None)
    assert partition.in_flight is not None
    wanted, znode = partition.in_flight, partition.znode
    is_done = wanted.epoch == znode.epoch and wanted.has_follower == znode.has_follower
    is_written = wanted.epoch == znode.epoch and not is_done and wanted.version == znode.version
    if DISKS > 0:
        is_written = is_written and not (ISR_CHANGES_NAME_BROKER_EPOCHS and partition.is_replaced)
    require(not fails or is_written)
    partition.write_errors += fails
    if is_written and not fails:
        partition.znode = evolve(wanted, version=znode.version + 1)
    if wanted.epoch < znode.epoch:
        partition.outcome = Outcome.FENCED
    elif is_done or (is_written and not fails):
        partition.outcome = Outcome.WRITTEN
    else:
        partition.outcome = Outcome.FAILED if fails else Outcome.STALE
    partition.answer = partition.znode


@action(
    by=BROKERS,
    description="the leader gets the answer to AlterIsr",
    source="AlterPartitionManager.handleAlterPartitionResponse; Partition.handleAlterPartitionResponse",
)
def handle_answer(partition: IsrPartition) -> None:
    """The change is not enqueued any more; before KAFKA-14010 only after a change that failed was tried again."""
    require(partition.in_flight is not None and partition.answer is not None)
    assert partition.in_flight is not None
    assert partition.answer is not None
    asked = IsrChange.EXPANSION if partition.in_flight.has_follower else IsrChange.SHRINK
    answer, outcome = partition.answer, partition.outcome
    if CHANGES_ARE_TRIED_AGAIN:
        partition.unsent = None
    if partition.pending is asked and outcome is Outcome.FAILED:
        submit(partition, asked)
    elif partition.pending is asked and outcome is Outcome.WRITTEN and is_news(partition, answer):
        partition.committed, partition.pending = answer, IsrChange.NONE
        if HIGH_WATERMARK_FOLLOWS_THE_ISR:
            raise_high_watermark(partition)
    if not CHANGES_ARE_TRIED_AGAIN:
        partition.unsent = None
    partition.in_flight, partition.answer, partition.outcome = partition.unsent, None, Outcome.WRITTEN
    if DISKS > 0:
        partition.is_replaced = False


def is_news(partition: IsrPartition, answer: VersionedIsr) -> bool:
    """Whether an answer is of the leader's epoch, and of no earlier version than it knows."""
    return answer.epoch == partition.committed.epoch and answer.version >= partition.committed.version
