"""Properties of the connection of a controller that resigns."""

from __future__ import annotations

from kwalk.model.kafka.controller.request_sender import RequestSender
from kwalk.model.language import always, premise, reachable, step


@always(
    symptom="the controller moves from broker to broker: each fails as it begins, with TLS between brokers",
    log="none: A metric named '…' already exists, can't register another one",
)
def controller_can_be_elected_again(sender: RequestSender) -> bool:
    """A broker that was controller can be elected again."""
    return not sender.has_failed


@step(symptom="a broker sends requests that is no controller", log="none")
def connection_is_used_by_a_controller(before: RequestSender, after: RequestSender) -> bool:
    """A connection is used while the broker is controller."""
    premise(before.is_sending != after.is_sending)
    return before.is_controller


@step(symptom="a broker is controller that was not elected", log="none")
def controller_changes_as_it_is_elected(before: RequestSender, after: RequestSender) -> bool:
    """A broker is controller from its election until it has resigned, as another one was elected."""
    premise(before.is_controller != after.is_controller or before.is_to_resign != after.is_to_resign)
    if after.is_to_resign:
        return before.is_controller and after.is_controller
    return not (after.is_controller or after.is_sending) if before.is_to_resign else after.is_controller


@reachable()
def controller_is_elected_again(sender: RequestSender) -> bool:
    """A broker that is controller was not elected any more."""
    return sender.is_controller and sender.is_to_resign and not sender.is_sending
