"""Fetcher, SubscriptionState: from where a consumer reads on, and what its application gets of what was fetched.

The application's thread polls, and sends fetches; since 0.10.1 its heartbeat thread handles answers, too. Releases are
those of the consumers' library (`kafka-clients`), with brokers of the same release.

What the model leaves out, and why its stories lose nothing by it: max.poll.records, as a poll returns what it has; and
the group, which has other partitions for its other members.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from kwalk.model.kafka.clients.transaction_manager import APPLICATION, BROKER
from kwalk.model.kafka.groups.heartbeat_thread import HEARTBEATS
from kwalk.model.kafka.groups.versions import CALLBACKS_NAME_WHAT_WAS_ASSIGNED, WOKEN_CALLBACKS_ARE_REPEATED
from kwalk.model.kafka.server.versions import (
    ERRORS_OF_FETCHES_ARE_RAISED,
    ERRORS_WAIT_FOR_RECORDS,
    FAILED_RECORDS_ARE_READ_ONCE,
    FETCHES_ARE_NOTED_FIRST,
    LOOKUPS_FOLLOW_LEADERS,
    OFFLINE_PARTITIONS_ARE_TOLD,
    PAUSED_POSITIONS_ARE_KEPT,
    POLLS_WAIT_FOR_NO_POSITION,
    RECORDS_ARE_READ_ONE_BY_ONE,
    RESETS_ARE_CHECKED_AT_ONCE,
)
from kwalk.model.kafka.storage.domains import FAULT
from kwalk.model.language import Array, Domain, action, array, choice, flag, number, require, state

POLLED = Domain("polled_partitions", "partitions that a consumer reads", default=2)
Polled = Annotated[int, POLLED]
ALL_READ = 2
"""How many records a partition has."""


@state
class PolledPartitions:
    """Two partitions with two records each; the last record of the second one cannot be deserialized for a while.

    Attributes:
        positions: from where the consumer reads on.
        returned: how many records the application has got.
        is_unreadable: whether that record cannot be deserialized, as where a registry of schemas does not answer.
        has_failed: whether the poll before has met it then.
        is_silent: whether a poll that met it has ended without an exception, and without the records before it.
        is_repeated: whether a record was returned once more.
    """

    positions: Array[int] = array(POLLED, number(0, ALL_READ))
    returned: Array[int] = array(POLLED, number(0, ALL_READ))
    is_unreadable: bool = flag()
    has_failed: bool = flag()
    is_silent: bool = flag()
    is_repeated: bool = flag()


@action(by=FAULT, description="ends, or begins: the last record can be deserialized", source="Deserializer.deserialize")
def change_deserializer(polled: PolledPartitions) -> None:
    """Such as a service that knows the schema."""
    require(polled.positions[1] < ALL_READ)
    polled.is_unreadable = not polled.is_unreadable


def read_up_to(polled: PolledPartitions, partition: int, offset: int) -> None:
    """Return the records of a partition before an offset."""
    if polled.positions[partition] < offset:
        polled.positions[partition] = polled.returned[partition] = offset


def poll_whole_fetches(polled: PolledPartitions) -> None:
    """Read all records of a fetch before one is returned. Source: Fetcher.parseCompletedFetch up to 0.10.2."""
    if not polled.is_unreadable:
        read_up_to(polled, 1, ALL_READ)
    if polled.is_unreadable and not ERRORS_WAIT_FOR_RECORDS:
        polled.positions[0] = ALL_READ
    else:
        read_up_to(polled, 0, ALL_READ)
    polled.is_silent = polled.is_unreadable and not ERRORS_OF_FETCHES_ARE_RAISED


def poll_one_by_one(polled: PolledPartitions) -> None:
    """Read a record as it is returned. Source: PartitionRecords.fetchRecords since 0.11."""
    polled.is_repeated = polled.has_failed and not (polled.is_unreadable or FAILED_RECORDS_ARE_READ_ONCE)
    read_up_to(polled, 0, ALL_READ)
    read_up_to(polled, 1, ALL_READ - 1 if polled.is_unreadable else ALL_READ)


@action(
    by=APPLICATION,
    description="polls; what was fetched of the second partition is second",
    source="Fetcher.fetchedRecords; PartitionRecords.nextFetchedRecord",
)
def poll_partitions(polled: PolledPartitions) -> None:
    """In 0.10.0.0 an error was an entry of the log; until KAFKA-5075 the records that were read before it were lost.

    In 0.11.0.0 (KAFKA-5630) a record that could be read at last was returned without an end.
    """
    if RECORDS_ARE_READ_ONE_BY_ONE:
        poll_one_by_one(polled)
    else:
        poll_whole_fetches(polled)
    polled.has_failed = polled.is_unreadable


class ReadingPosition(Enum):
    """Where a consumer reads on."""

    COMMITTED = "at the committed offset"
    UNKNOWN = "not known"
    BEGINNING = "at the beginning"
    END = "at the end"


@state
class SoughtPosition:
    """A position that is reset to the beginning at first, as there is no committed offset.

    Attributes:
        question: what is asked for.
        last: what was asked for last.
        looked_at: of which reset the heartbeat thread has the answer.
    """

    position: ReadingPosition = choice(ReadingPosition, default=ReadingPosition.UNKNOWN)
    question: ReadingPosition = choice(ReadingPosition, default=ReadingPosition.BEGINNING)
    last: ReadingPosition = choice(ReadingPosition, default=ReadingPosition.BEGINNING)
    looked_at: ReadingPosition = choice(ReadingPosition, default=ReadingPosition.UNKNOWN)


@action(by=APPLICATION, description="seeks to the end", source="KafkaConsumer.seekToEnd")
def seek_to_end(sought: SoughtPosition) -> None:
    """The next poll, or call of position, asks for the offset."""
    sought.last = sought.question = ReadingPosition.END
    sought.position = ReadingPosition.UNKNOWN


@action(
    by=HEARTBEATS,
    description="has the answer to what is asked for",
    source="Fetcher.resetOffsetIfNeeded: isOffsetResetNeeded",
)
def look_at_reset(sought: SoughtPosition) -> None:
    """It handles answers, as the application's thread does."""
    sought.looked_at = sought.question


@action(
    by=HEARTBEATS,
    description="sets the position",
    source="Fetcher.resetOffsetIfNeeded: subscriptions.seek; SubscriptionState.maybeSeek",
)
def set_looked_at(sought: SoughtPosition) -> None:
    """Until KAFKA-7703 whatever was asked for meanwhile, which was then no longer."""
    require(sought.looked_at is not ReadingPosition.UNKNOWN)
    if not RESETS_ARE_CHECKED_AT_ONCE or sought.question is sought.looked_at:
        sought.position, sought.question = sought.looked_at, ReadingPosition.UNKNOWN
    sought.looked_at = ReadingPosition.UNKNOWN


@state
class PausedPosition:
    """A partition that may be paused, and whether another one of the consumer has no position yet."""

    position: ReadingPosition = choice(ReadingPosition)
    is_sought: bool = flag()
    is_paused: bool = flag()
    is_other_unknown: bool = flag()


@action(by=APPLICATION, description="pauses the partition, or resumes it", source="KafkaConsumer.pause, resume")
def pause_or_resume(paused: PausedPosition) -> None:
    """A paused partition keeps its position."""
    paused.is_paused = not paused.is_paused


@action(by=APPLICATION, description="assigns itself another partition", source="KafkaConsumer.assign")
def assign_another(paused: PausedPosition) -> None:
    """It has no position yet."""
    paused.is_other_unknown = True


@action(by=APPLICATION, description="seeks to the end of the partition", source="KafkaConsumer.seekToEnd")
def seek_paused(paused: PausedPosition) -> None:
    """Its position is not known until it is asked for."""
    paused.position, paused.is_sought = ReadingPosition.UNKNOWN, True


@action(by=APPLICATION, description="asks for the position", source="KafkaConsumer.position: updateFetchPositions")
def ask_for_position(paused: PausedPosition) -> None:
    """In 0.10.1 (KAFKA-4547) a paused partition was then set to the committed offset, if another had no position."""
    require(paused.position is ReadingPosition.UNKNOWN)
    is_reset = paused.is_paused and paused.is_other_unknown and not PAUSED_POSITIONS_ARE_KEPT
    paused.position = ReadingPosition.COMMITTED if is_reset else ReadingPosition.END


@state
class PendingFetch:
    """What a consumer knows of its fetch from a broker.

    Attributes:
        is_in_flight: whether the fetch is in flight.
        is_noted: whether the consumer has noted that it is.
        is_sending: whether the application's thread has sent it, and not added its listener yet.
    """

    is_in_flight: bool = flag()
    is_noted: bool = flag()
    is_sending: bool = flag()


@action(by=APPLICATION, description="sends a fetch", source="Fetcher.sendFetches: client.send")
def send_fetch(fetch: PendingFetch) -> None:
    """One at a time to a broker. Since KAFKA-8950 it is noted first."""
    require(not (fetch.is_noted or fetch.is_sending))
    fetch.is_in_flight = fetch.is_sending = True
    fetch.is_noted = bool(FETCHES_ARE_NOTED_FIRST)


@action(
    by=APPLICATION,
    description="adds the listener of the fetch",
    source="Fetcher.sendFetches: addListener; nodesWithPendingFetchRequests.add",
)
def add_listener(fetch: PendingFetch) -> None:
    """It is called at once for a fetch that has ended. In 2.3.0 the fetch was noted after that."""
    require(fetch.is_sending)
    fetch.is_sending = False
    fetch.is_noted = fetch.is_in_flight or not FETCHES_ARE_NOTED_FIRST


@action(
    by=HEARTBEATS,
    description="handles the answer, or learns that the connection is lost",
    source="ConsumerNetworkClient.poll, checkDisconnects",
)
def end_fetch(fetch: PendingFetch) -> None:
    """As it polls. The listener takes the note away."""
    require(fetch.is_in_flight)
    fetch.is_in_flight = False
    fetch.is_noted = fetch.is_noted and fetch.is_sending


@state
class SoughtPartitions:
    """Partitions that a consumer is to read, of which some may have no leader.

    Attributes:
        has_position: of which partitions the consumer has a position.
        waits: whether a poll waits for positions.
        is_short: whether partitionsFor has left a partition out.
    """

    has_leader: Array[bool] = array(POLLED, flag(default=True))
    has_position: Array[bool] = array(POLLED, flag())
    waits: bool = flag()
    is_short: bool = flag()


@action(by=FAULT, description="partition {partition} loses its leader, or gets one", source="PartitionStateMachine")
def change_leader(sought: SoughtPartitions, partition: Polled) -> None:
    """As where the broker of its only replica is down."""
    sought.has_leader[partition] = not sought.has_leader[partition]


def has_all_positions(sought: SoughtPartitions) -> bool:
    """Return whether each partition has a position, or a leader that knows it."""
    return all(sought.has_position[p] or sought.has_leader[p] for p in POLLED)


@action(by=APPLICATION, description="polls", source="KafkaConsumer.updateFetchPositions; Fetcher.resetOffsetsIfNeeded")
def poll_for_positions(sought: SoughtPartitions) -> None:
    """Until KAFKA-6397 it waited until each partition had a position."""
    sought.waits = not (has_all_positions(sought) or POLLS_WAIT_FOR_NO_POSITION)
    if not sought.waits:
        for p in POLLED:
            sought.has_position[p] = sought.has_position[p] or sought.has_leader[p]


@action(by=APPLICATION, description="asks for the partitions of the topic", source="Fetcher.getTopicMetadata")
def ask_for_partitions(sought: SoughtPartitions) -> None:
    """Until KAFKA-6648 it was told of those with a leader."""
    sought.is_short = not (OFFLINE_PARTITIONS_ARE_TOLD or all(sought.has_leader[p] for p in POLLED))


@state
class LookedUpOffsets:
    """A consumer that asks for the offsets of a partition.

    Attributes:
        has_moved: whether the leader is another broker than the consumer knows.
        asks: whether the call waits.
        is_vain: whether it asks the former leader again and again.
    """

    has_moved: bool = flag()
    asks: bool = flag()
    is_vain: bool = flag()


@action(by=FAULT, description="elects another leader", source="KafkaController.elect")
def move_leader(offsets: LookedUpOffsets) -> None:
    """The former one goes on as a follower."""
    offsets.has_moved = True


@action(by=APPLICATION, description="asks for offsets", source="KafkaConsumer.endOffsets, offsetsForTimes")
def ask_for_offsets(offsets: LookedUpOffsets) -> None:
    """The request goes to the leader that the consumer knows."""
    offsets.asks = True


@action(by=BROKER, description="answers", source="Fetcher.fetchOffsetsByTimes, handleListOffsetResponse")
def answer_offsets_of_leader(offsets: LookedUpOffsets) -> None:
    """A former leader answers NOT_LEADER_FOR_PARTITION. From 1.1 to KAFKA-9159 and 9535 it was asked again."""
    require(offsets.asks)
    if not offsets.has_moved:
        offsets.asks = False
    elif LOOKUPS_FOLLOW_LEADERS:
        offsets.has_moved = False
    else:
        offsets.is_vain = True


@state
class WokenCallback:
    """A consumer that joins, and whose application seeks in onPartitionsAssigned.

    Attributes:
        is_assigned: whether the consumer has the partition.
        has_joined: whether its join is complete.
        is_sought: whether the application has sought where it reads on.
    """

    is_assigned: bool = flag()
    has_joined: bool = flag()
    is_sought: bool = flag()


@action(
    by=APPLICATION,
    description="polls, and is woken in onPartitionsAssigned: WakeupException",
    source="ConsumerCoordinator.onJoinComplete: invokePartitionsAssigned",
)
def wake_callback(consumer: WokenCallback) -> None:
    """As its callback asks a broker, before it seeks. Up to 0.11.0.0 the join was complete with that (KAFKA-5611)."""
    require(not consumer.has_joined)
    consumer.is_assigned, consumer.has_joined = True, not WOKEN_CALLBACKS_ARE_REPEATED


@action(
    by=APPLICATION,
    description="polls; onPartitionsAssigned is called to its end",
    source="AbstractCoordinator.joinGroupIfNeeded; ConsumerCoordinator.onJoinComplete: addedPartitions",
)
def end_callback(consumer: WokenCallback) -> None:
    """It seeks in the partitions that it is called with; from 0.11.0.1 to 1.1 that may fail (KAFKA-7194)."""
    require(not consumer.has_joined)
    consumer.is_sought = CALLBACKS_NAME_WHAT_WAS_ASSIGNED or not consumer.is_assigned
    consumer.is_assigned = consumer.has_joined = True
