"""Properties of a consumer whose two threads join a group, and share its connections."""

from __future__ import annotations

from kwalk.model.kafka.groups.heartbeat_thread import (
    INTERVAL_SECONDS,
    LONGEST_POLL,
    SESSION_SECONDS,
    JoiningConsumer,
    JoinStep,
    LookupIs,
    SoughtCoordinator,
    WaitingConsumer,
)
from kwalk.model.language import always, premise, reachable, step


@always(
    symptom="each poll of a consumer ends with IllegalStateException: Coordinator selected invalid assignment "
    "protocol: null",
    log="none",
)
def join_is_completed(consumer: JoiningConsumer) -> bool:
    """A join that is answered is completed with the generation of the answer."""
    return not consumer.has_failed


@step(symptom="a member that answers gives up its place", log="none")
def member_keeps_its_place(before: JoiningConsumer, after: JoiningConsumer) -> bool:
    """A consumer gives up its id as its coordinator has removed it, or as it leaves the group."""
    premise(before.own_id != 0 and after.own_id == 0)
    return not before.is_known or not after.is_known


@step(symptom="a consumer has the id of another member", log="none")
def id_is_the_last_one(before: JoiningConsumer, after: JoiningConsumer) -> bool:
    """A consumer that gets an id gets another one, as it has none, and is about to complete its join."""
    premise(before.own_id != after.own_id and after.own_id != 0)
    is_next = after.own_id == after.given_ids == before.given_ids + 1
    return is_next and before.join is JoinStep.UNJOINED and after.join is JoinStep.ANSWERED and after.is_known


@step(symptom="a consumer is in the group without a join", log="none")
def join_ends_in_turn(before: JoiningConsumer, after: JoiningConsumer) -> bool:
    """A consumer is in the group after its join, and has an id; one that leaves it has none, or is unknown."""
    premise(before.join is not after.join)
    if after.join is JoinStep.STABLE:
        return before.join is JoinStep.ANSWERED and after.own_id != 0
    if after.join is JoinStep.UNJOINED:
        return after.own_id == 0
    return before.join is JoinStep.UNJOINED


@always(symptom="a consumer takes part in a group without an id", log="none")
def consumer_in_the_group_has_an_id(consumer: JoiningConsumer) -> bool:
    """A consumer that has no id is about to join, or to complete a join."""
    return consumer.join is not JoinStep.STABLE or consumer.own_id != 0


@step(symptom="a member goes that answers", log="none")
def member_is_removed_or_leaves(before: JoiningConsumer, after: JoiningConsumer) -> bool:
    """A member is removed while it has joined, and keeps its id, or it leaves, and has none."""
    premise(before.is_known and not after.is_known)
    has_left = after.own_id == 0 and before.own_id != 0
    was_removed = before.own_id == after.own_id != 0 and before.join is after.join is JoinStep.STABLE
    return has_left or was_removed


@reachable()
def consumer_joins_again(consumer: JoiningConsumer) -> bool:
    """A consumer is in the group with another id."""
    return consumer.join is JoinStep.STABLE and consumer.own_id > 1


@reachable()
def consumer_leaves_amid_its_join(consumer: JoiningConsumer) -> bool:
    """A join is answered, and the consumer has no id any more."""
    return consumer.join is JoinStep.ANSWERED and consumer.own_id == 0


@always(
    symptom="a group rebalances, as a consumer waits for a slow broker: to beginningOffsets, endOffsets, "
    "offsetsForTimes, position or commitSync",
    log="Member … in group … has failed, removing it from the group",
)
def waiting_consumer_stays(consumer: WaitingConsumer) -> bool:
    """A consumer whose heartbeat thread runs is not removed."""
    return not consumer.is_removed


@step(symptom="time does not pass by seconds", log="none")
def seconds_pass_one_by_one(before: WaitingConsumer, after: WaitingConsumer) -> bool:
    """The time without a heartbeat grows by a second, as that of a poll ends, or ends with a heartbeat."""
    premise(before.silent != after.silent)
    if after.silent == 0:
        return before.poll_left == 0 and after.poll_left == 0 and before.silent >= INTERVAL_SECONDS
    is_shorter = after.poll_left == (before.poll_left - 1 if before.poll_left > 0 else 0)
    is_idle = before.poll_left == 0 and before.silent >= INTERVAL_SECONDS
    is_over = after.is_removed == (after.silent >= SESSION_SECONDS)
    return after.silent == before.silent + 1 and is_shorter and not is_idle and is_over


@step(symptom="a thread takes connections that another one has", log="none")
def poll_begins_alone(before: WaitingConsumer, after: WaitingConsumer) -> bool:
    """A poll begins when none is under way, and is no longer than five seconds."""
    premise(after.poll_left > before.poll_left)
    is_long = after.poll_left in (INTERVAL_SECONDS, LONGEST_POLL)
    return before.poll_left == 0 and is_long and before.silent == after.silent and not before.is_removed


@reachable()
def heartbeat_waits_for_a_poll(consumer: WaitingConsumer) -> bool:
    """A heartbeat is late."""
    return consumer.silent > INTERVAL_SECONDS and consumer.poll_left > 0


@always(
    symptom="a consumer gets no records any more, and commits nothing, until it is restarted",
    log="none",
)
def failed_lookup_is_repeated(consumer: SoughtCoordinator) -> bool:
    """A consumer whose request for its coordinator has failed sends another one."""
    return not consumer.is_stuck


@step(symptom="a consumer knows its coordinator without an answer", log="none")
def coordinator_is_found_by_a_lookup(before: SoughtCoordinator, after: SoughtCoordinator) -> bool:
    """A coordinator is known by the answer to a request; one that is known is not sought."""
    premise(before.is_known != after.is_known or before.is_sending < after.is_sending)
    if after.is_sending and not before.is_sending:
        return before.lookup is LookupIs.NONE and not before.is_known
    return not after.is_known or (before.lookup is LookupIs.SENT and after.lookup is LookupIs.NONE)


@step(symptom="a request for a coordinator is noted that was not sent", log="none")
def lookup_is_noted_as_it_is(before: SoughtCoordinator, after: SoughtCoordinator) -> bool:
    """A request is noted once, as failed if it has; one that has failed is forgotten, and one that is answered."""
    premise(before.lookup is not after.lookup)
    if after.lookup is LookupIs.NONE:
        return before.lookup is LookupIs.FAILED or not before.is_sending
    is_failed = after.lookup is LookupIs.FAILED
    return (
        before.lookup is LookupIs.NONE and before.is_sending > after.is_sending and before.has_failed_early == is_failed
    )


@always(symptom="a request for a coordinator has failed that was not sent", log="none")
def early_failure_is_of_a_request(consumer: SoughtCoordinator) -> bool:
    """Only a request that is being sent has failed early."""
    return consumer.is_sending or not consumer.has_failed_early


@reachable()
def lookup_fails_early(consumer: SoughtCoordinator) -> bool:
    """A request has failed before it is noted."""
    return consumer.lookup is LookupIs.FAILED


@reachable()
def coordinator_is_known(consumer: SoughtCoordinator) -> bool:
    """A consumer knows its coordinator."""
    return consumer.is_known
