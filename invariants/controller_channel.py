"""Properties of the requests that brokers send to the controller."""

from __future__ import annotations

from kwalk.model.kafka.server.controller_channel import ControllerChannel
from kwalk.model.language import always, premise, reachable, step, when_quiescent


@always(
    symptom="a leader cannot change its ISR, as it asks a broker that is not the controller any more",
    log="none: server.log has Request … failed due to authentication error with controller, again and again",
)
def failed_sender_looks_again(channel: ControllerChannel) -> bool:
    """A sender that was not authenticated looks for the controller before it asks again."""
    premise(channel.has_failed)
    return channel.address is None


@when_quiescent(symptom="a leader cannot change its ISR", log="none")
def sender_is_answered_at_last(channel: ControllerChannel) -> bool:
    """A request is sent until the controller answers it."""
    return channel.is_answered


@step(symptom="a request is answered by a broker that is not the controller", log="none")
def controller_answers(before: ControllerChannel, after: ControllerChannel) -> bool:
    """A request is answered by the controller, which authenticates the sender; its address is kept."""
    premise(after.is_answered)
    is_known = after.address == before.controller and not before.refuses[before.controller]
    return is_known and not after.has_failed and before.controller == after.controller


@step(symptom="a sender looks for the controller at each request", log="none")
def address_changes_by_an_answer(before: ControllerChannel, after: ControllerChannel) -> bool:
    """An address is forgotten as it is wrong, and found with an answer."""
    premise(before.address != after.address and before.address is not None)
    return after.address is None and (before.address != before.controller or before.refuses[before.address])


@step(symptom="credentials change by themselves", log="none")
def faults_come_one_by_one(before: ControllerChannel, after: ControllerChannel) -> bool:
    """The controller moves, or one broker changes its mind; the sender does not notice."""
    premise(before.controller != after.controller or before.refuses != after.refuses)
    is_same = before.address == after.address and before.has_failed == after.has_failed and not after.is_answered
    changed = (before.refuses[0] != after.refuses[0]) + (before.refuses[1] != after.refuses[1])
    return is_same and changed == (1 if before.controller == after.controller else 0)


@reachable()
def stale_controller_refuses(channel: ControllerChannel) -> bool:
    """The sender has the address of a broker that is not the controller, and refuses it."""
    return channel.address == 0 and channel.controller == 1 and channel.refuses[0] and not channel.has_failed


@reachable()
def sender_has_failed(channel: ControllerChannel) -> bool:
    """A request has failed, as the controller refuses the sender."""
    return channel.has_failed and channel.controller == 1


@reachable()
def both_refuse(channel: ControllerChannel) -> bool:
    """No broker authenticates the sender."""
    return channel.refuses[0] and channel.refuses[1]
