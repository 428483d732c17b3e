"""ReplicaManager.findPreferredReadReplica: which replica a consumer is told to fetch from (KIP-392).

A consumer fetches from the leader, which names a follower near to it. After metadata.max.age.ms it asks the leader
again. A follower answers any consumer whose request may be of one that was sent to it: it has version 11 or later. One
without leader epochs, which some clients leave out, may be there by old metadata, in which the follower leads.

What the model leaves out, and why its stories lose nothing by it: racks, as all followers are as near; offsets of a
consumer that was sent to a replica, which it reads on from there; and which followers have led, and know of others.
"""

from __future__ import annotations

from typing import Annotated

from kwalk.model.kafka.server.versions import (
    FOLLOWERS_REFUSE_STRANGERS,
    LEADERS_CHOOSE_IN_THE_ISR,
    LEADERS_CHOOSE_REPLICAS,
)
from kwalk.model.kafka.storage.domains import CONSUMER, FAULT, OFFSETS, PRODUCER
from kwalk.model.language import Actor, Array, Domain, action, array, flag, number, optional, require, state

FOLLOWERS = Domain("followers", "followers that are near to the consumer", default=2)
Follower = Annotated[int, FOLLOWERS]
HANDLER = Actor("request handler")
BROKERS = Actor("replicas", system=False)


@state
class ReadReplica:
    """The followers in the ISR, and the one that the consumer fetches from, if it is not the leader."""

    in_isr: Array[bool] = array(FOLLOWERS, flag(default=True))
    reads_from: int | None = optional(FOLLOWERS)


@action(by=FAULT, description="follower {follower} falls behind, and leaves the ISR", source="Partition.maybeShrinkIsr")
def leave_isr(choice: ReadReplica, follower: Follower) -> None:
    """Take the follower out of the ISR."""
    choice.in_isr[follower] = False


@action(by=BROKERS, description="follower {follower} joins the ISR", source="Partition.maybeExpandIsr")
def join_isr(choice: ReadReplica, follower: Follower) -> None:
    """Have the follower catch up."""
    choice.in_isr[follower] = True


@action(
    by=HANDLER,
    description="the leader names follower {follower} to the consumer",
    source="ReplicaManager.findPreferredReadReplica",
)
def choose(choice: ReadReplica, follower: Follower) -> None:
    """Name a follower with the records that the consumer fetches. Until KAFKA-14372 it could be out of the ISR."""
    require(choice.reads_from is None)
    require(choice.in_isr[follower] or not LEADERS_CHOOSE_IN_THE_ISR)
    choice.reads_from = follower


@action(
    by=HANDLER,
    description="the follower names follower {follower} to the consumer",
    source="ReplicaManager.findPreferredReadReplica: leaderReplicaIdOpt",
)
def send_on(choice: ReadReplica, follower: Follower) -> None:
    """Name another follower, of which the replica knows from when it led. Since KAFKA-13778 the leader alone does."""
    require(choice.reads_from is not None and choice.reads_from != follower and not LEADERS_CHOOSE_REPLICAS)
    choice.reads_from = follower


@action(by=CONSUMER, description="asks the leader again", source="Fetcher.selectReadReplica: metadata.max.age.ms")
def refresh(choice: ReadReplica) -> None:
    """Fetch from the leader."""
    choice.reads_from = None


@state
class MisledConsumer:
    """A consumer without leader epochs, which fetches from `position` on; its metadata may say that a follower leads.

    The leader's log ends at `end`, the follower's at `follower_end`. A consumer that `was_reset` is told that its
    offset is out of range.
    """

    end: int = number(0, OFFSETS)
    follower_end: int = number(0, OFFSETS)
    position: int = number(0, OFFSETS)
    is_misled: bool = flag()
    was_reset: bool = flag()


@action(by=PRODUCER, description="produces a record", source="Partition.appendRecordsToLeader")
def produce_to_leader(consumer: MisledConsumer) -> None:
    """The follower is out of the ISR: the record is committed without it."""
    consumer.end += 1


@action(by=BROKERS, description="the follower fetches a record", source="ReplicaFetcherThread.processPartitionData")
def copy_record(consumer: MisledConsumer) -> None:
    """It catches up."""
    require(consumer.follower_end < consumer.end)
    consumer.follower_end += 1


@action(
    by=FAULT, description="the consumer gets old metadata", source="ZkMetadataCache.updateMetadata; Metadata.update"
)
def read_old_metadata(consumer: MisledConsumer) -> None:
    """A broker that has not got the last UpdateMetadata says that the follower leads; without epochs it is believed."""
    require(not consumer.is_misled)
    consumer.is_misled = True


@action(by=CONSUMER, description="gets new metadata", source="Metadata.update: metadata.max.age.ms")
def read_new_metadata(consumer: MisledConsumer) -> None:
    """It fetches from the leader again."""
    require(consumer.is_misled)
    consumer.is_misled = False


@action(by=CONSUMER, description="fetches from the leader", source="KafkaApis.handleFetchRequest")
def fetch_from_leader(consumer: MisledConsumer) -> None:
    """It gets all records."""
    require(not consumer.is_misled and not consumer.was_reset)
    consumer.position = consumer.end


@action(by=CONSUMER, description="fetches from the follower", source="LocalLog.read; FetchParams.fetchOnlyLeader")
def fetch_from_follower(consumer: MisledConsumer) -> None:
    """Up to 2.3 followers refuse consumers. Since then they read for them, and refuse an offset that they lack."""
    require(consumer.is_misled and not consumer.was_reset and not FOLLOWERS_REFUSE_STRANGERS)
    consumer.was_reset = consumer.position > consumer.follower_end
    consumer.position = max(consumer.position, consumer.follower_end)
