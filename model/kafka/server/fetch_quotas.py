"""DelayedFetch, ClientQuotaManager: fetches under a quota, of a follower and of a consumer.

A quota of replication holds for followers that are not in sync, of topics whose replicas are throttled. A quota of a
client counts what it gets in a window of time; what is above it is answered later, and since KIP-219 without records.

What the model leaves out, and why its stories lose nothing by it:

* The time that a fetch may wait: it is answered then, with what there is, and so later.
* Other partitions, and other traffic under the quotas.
* What the window has of before: a consumer fetches again when it is empty.
"""

from __future__ import annotations

from typing import Annotated

from kwalk.model.kafka.server.versions import FETCHES_FIT_THE_QUOTA, THROTTLED_FETCHES_ARE_OF_LAGGARDS
from kwalk.model.kafka.storage.domains import CONSUMER, FETCHER, PRODUCER
from kwalk.model.language import Actor, Bound, action, flag, number, require, state

UNREAD = Bound("unread", "records that a consumer has not read, and can fetch at once", minimum=1)
WINDOW = Bound("window", "records that the quota allows in its window of time", minimum=1)
Unread = Annotated[int, number(1, UNREAD)]
LEADER = Actor("leader")
OTHERS = Actor("other followers", system=False)
CONTROLLER = Actor("controller", system=False)


@state
class FollowerQuota:
    """A follower of a partition whose replicas are throttled.

    It is `in_sync`, its fetch `waits`, there are `records` for it, and the quota `is_exceeded`.
    """

    in_sync: bool = flag(default=True)
    is_exceeded: bool = flag()
    waits: bool = flag()
    records: bool = flag()


@action(by=OTHERS, description="exceed the quota", source="ReplicationQuotaManager.record")
def exceed_quota(follower: FollowerQuota) -> None:
    """They are not in sync."""
    require(not follower.is_exceeded)
    follower.is_exceeded = True


@action(by=OTHERS, description="are below the quota", source="ReplicationQuotaManager.isQuotaExceeded")
def fall_below_quota(follower: FollowerQuota) -> None:
    """Time has passed."""
    require(follower.is_exceeded)
    follower.is_exceeded = False


@action(by=CONTROLLER, description="changes the ISR", source="Partition.maybeShrinkIsr, maybeExpandIsr")
def change_isr(follower: FollowerQuota) -> None:
    """The follower leaves it, or joins it."""
    follower.in_sync = not follower.in_sync


@action(by=FETCHER, description="fetches, and finds nothing", source="ReplicaManager.fetchMessages")
def begin_to_wait(follower: FollowerQuota) -> None:
    """The fetch waits for records."""
    require(not follower.waits and not follower.records)
    follower.waits = True


@action(by=PRODUCER, description="produces", source="Partition.appendRecordsToLeader")
def produce_for_follower(follower: FollowerQuota) -> None:
    """There are records for the fetch."""
    require(not follower.records)
    follower.records = True


@action(by=LEADER, description="answers the fetch", source="DelayedFetch.tryComplete")
def complete_fetch(follower: FollowerQuota) -> None:
    """Up to 1.1.0 no fetch of a throttled replica was answered while the quota was exceeded."""
    is_throttled = follower.is_exceeded and not (follower.in_sync and bool(THROTTLED_FETCHES_ARE_OF_LAGGARDS))
    require(follower.waits and follower.records and not is_throttled)
    follower.waits = follower.records = False


@state
class ConsumerQuota:
    """A consumer with `unread` records in a log, and whether its last fetch `got_nothing`."""

    unread: int = number(0, UNREAD)
    got_nothing: bool = flag()


@action(by=PRODUCER, description="produces {records} records", source="Partition.appendRecordsToLeader")
def produce_for_consumer(consumer: ConsumerQuota, records: Unread) -> None:
    """As many as can be fetched at once, or fewer."""
    require(consumer.unread == 0)
    consumer.unread = records
    consumer.got_nothing = False


@action(by=CONSUMER, description="fetches", source="KafkaApis.handleFetchRequest; ClientQuotaManager.throttle")
def fetch_under_quota(consumer: ConsumerQuota) -> None:
    """A fetch of more than the window allows is throttled; since KAFKA-9677 none has more."""
    size = min(consumer.unread, WINDOW) if FETCHES_FIT_THE_QUOTA else consumer.unread
    if size > WINDOW:
        consumer.got_nothing = True
    else:
        consumer.unread -= size
