"""ReplicaManager.findPreferredReadReplica: which replica a consumer is told to fetch from (KIP-392).

A consumer fetches from the leader, which names a follower near to it. After metadata.max.age.ms it asks the leader
again.

What the model leaves out, and why its story loses nothing by it: racks, as all followers are as near; and offsets: a
consumer that follows a replica needs none that this lacks; and which followers have led, and know of others.
"""

from __future__ import annotations

from typing import Annotated

from kwalk.model.kafka.server.versions import LEADERS_CHOOSE_IN_THE_ISR, LEADERS_CHOOSE_REPLICAS
from kwalk.model.kafka.storage.domains import CONSUMER, FAULT
from kwalk.model.language import Actor, Array, Domain, action, array, flag, optional, require, state

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
