"""Properties of the threads of a broker whose sessions with ZooKeeper end."""

from __future__ import annotations

from kwalk.model.kafka.controller.session_threads import (
    AdminRequest,
    ElectedBroker,
    Holder,
    ListenerCall,
    RebalancingTask,
    SessionClient,
)
from kwalk.model.kafka.versions.sessions import KEEPS_ITS_OFFICE
from kwalk.model.language import always, premise, step, when_quiescent


@when_quiescent(
    symptom="the cluster has a controller, which does nothing: topics are not created, and leaders that fail stay",
    log="ZK expired; shut down all controller components and try to re-elect",
)
def elected_controller_acts(broker: ElectedBroker) -> bool:
    """The broker whose /controller is acts as controller."""
    premise(broker.holder is Holder.OWN and not broker.is_resigning)
    return broker.acts


@when_quiescent(
    symptom="a broker takes part in no election, and handles no end of a session, for up to a day",
    log="ZK expired; shut down all controller components and try to re-elect",
)
def resignation_ends(broker: ElectedBroker) -> bool:
    """A broker that resigns does not wait for the task that waits for it."""
    return not broker.is_resigning and broker.calls.is_empty


@always(
    symptom="partitions get states by a broker that is not the controller, which the controller does not know",
    log="none",
)
def former_controller_writes_nothing(broker: ElectedBroker) -> bool:
    """A broker that has resigned does not handle changes of znodes as a controller does."""
    return not broker.wrote_unelected


@step(symptom="two brokers act as controller, or none", log="none")
def broker_acts_once_it_is_elected(before: ElectedBroker, after: ElectedBroker) -> bool:
    """A broker that has resigned acts if /controller was nobody's, which is its own then; else it does not."""
    is_own = after.holder is Holder.OWN and before.holder is not Holder.OWN
    is_resigned = before.is_resigning and not after.is_resigning
    premise(before.acts != after.acts or is_own or is_resigned)
    is_elected = before.holder is Holder.NOBODY
    return is_resigned and after.acts == is_elected and (after.holder is Holder.OWN or not is_elected)


@step(symptom="the controller moves leaders beside other changes, or after it has resigned", log="none")
def task_goes_in_order(before: ElectedBroker, after: ElectedBroker) -> bool:
    """The task begins on a broker that acts, takes the lock if it is free, and ends; a resignation waits for it."""
    premise(before.task is not after.task)
    if after.task is RebalancingTask.BEGUN:
        return before.task is RebalancingTask.IDLE and before.acts and not before.is_resigning
    if after.task is RebalancingTask.LOCKED:
        return before.task is RebalancingTask.BEGUN and not before.is_locked
    return before.task is RebalancingTask.LOCKED


@always(symptom="the controller moves leaders after it has resigned", log="none")
def task_ends_with_the_office(broker: ElectedBroker) -> bool:
    """A broker that does not act has no task."""
    premise(not broker.acts)
    return broker.task is RebalancingTask.IDLE


@step(symptom="the controller handles an earlier change after a later one, or two at a time", log="none")
def listeners_are_called_in_turn(before: ElectedBroker, after: ElectedBroker) -> bool:
    """Calls are made in order, one at a time, under the lock; that of a new session makes the broker resign."""
    premise(before.calls != after.calls or (after.is_resigning and not before.is_resigning))
    if len(after.calls) > len(before.calls):
        is_session = after.ended_sessions > before.ended_sessions
        return is_session or (before.acts and ListenerCall.CHANGE not in before.calls)
    if before.calls.starts_with(ListenerCall.CHANGE):
        return not before.is_resigning and before.task is not RebalancingTask.LOCKED and not after.is_resigning
    is_to_resign = not (KEEPS_ITS_OFFICE and before.holder is Holder.OWN)
    return len(after.calls) < len(before.calls) and not before.is_resigning and after.is_resigning == is_to_resign


@step(symptom="a session ends without a reason", log="none")
def session_ends_are_counted(before: ElectedBroker, after: ElectedBroker) -> bool:
    """Each end of a session has the listener called once; /controller is lost by that alone."""
    premise(
        before.ended_sessions != after.ended_sessions or (before.holder is Holder.OWN) > (after.holder is Holder.OWN)
    )
    is_called = len(after.calls) == len(before.calls) + 1
    return after.ended_sessions == before.ended_sessions + 1 and after.holder is not Holder.OWN and is_called


@when_quiescent(
    symptom="a broker: it runs, and is not registered, after its session has expired, and the controller hangs",
    log="none: a thread dump shows the controller's thread in ZooKeeperClient.handleRequests",
)
def ended_session_is_replaced(client: SessionClient) -> bool:
    """A broker whose session has ended makes another one."""
    return client.has_session


@when_quiescent(
    symptom="the controller does nothing more: topics are not created, and leaders that fail stay",
    log="none: a thread dump shows the controller's thread in ZooKeeperClient.handleRequests",
)
def event_of_the_controller_ends(client: SessionClient) -> bool:
    """An event whose request waits is handled at last."""
    return not client.is_handling


@always(
    symptom="kafka-reassign-partitions.sh waits until its request times out",
    log="none: the controller has resigned meanwhile",
)
def client_of_the_controller_is_answered(client: SessionClient) -> bool:
    """A request that the controller does not handle, as its session has ended, is answered."""
    return client.request is not AdminRequest.DROPPED


@step(symptom="a request is answered in another session", log="none")
def requests_are_answered_as_controller(before: SessionClient, after: SessionClient) -> bool:
    """The controller's thread answers a request between events; none waits once the session has ended."""
    is_told = after.is_expiring and not before.is_expiring
    premise(before.request is not after.request or is_told)
    if is_told:
        return after.request is not AdminRequest.QUEUED
    if before.request is AdminRequest.NONE:
        return after.request is AdminRequest.QUEUED and after.handled == before.handled + 1 and not before.is_expiring
    return before.request is AdminRequest.QUEUED and not before.is_handling and not before.is_expire_queued


@step(symptom="the controller writes in a session that it does not know to be another one", log="none")
def controller_knows_before_a_session_is_made(before: SessionClient, after: SessionClient) -> bool:
    """A session is made once the controller has handled the end of the last one; ends are counted."""
    premise(before.has_session != after.has_session or before.ended_sessions != after.ended_sessions)
    if after.has_session:
        return before.is_expiring and not before.is_expire_queued and not after.is_expiring
    return before.has_session and after.ended_sessions == before.ended_sessions + 1


@step(symptom="events of the controller are handled at a time", log="none")
def events_are_handled_in_turn(before: SessionClient, after: SessionClient) -> bool:
    """The end of a session is handled between other events, and once; none of them begins while it waits."""
    is_asked = after.request is not before.request
    premise(before.is_handling != after.is_handling or (before.handled != after.handled and not is_asked))
    if not after.is_handling:
        return before.is_handling
    return not before.is_expire_queued and not before.is_handling and after.handled == before.handled + 1


@step(symptom="the controller does not know that its session has ended, or takes another one for ended", log="none")
def end_of_a_session_is_told_once(before: SessionClient, after: SessionClient) -> bool:
    """The controller is told while there is no session, and handles that between events."""
    premise(before.is_expiring != after.is_expiring or before.is_expire_queued != after.is_expire_queued)
    if not before.is_expiring:
        return not before.has_session and after.is_expire_queued
    return after.has_session or (before.is_expire_queued and not before.is_handling and after.is_expiring)
