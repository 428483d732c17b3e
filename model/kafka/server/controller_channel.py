"""BrokerToControllerChannelManager (NodeToControllerChannelManager): to which broker the controller's requests go.

Since 2.7 a leader asks the controller to change its ISR. It keeps the address of the controller until an answer says
that this is another broker.

What the model leaves out, and why its story loses nothing by it: what is asked; and connections that break, after which
the broker looks for the controller, too.
"""

from __future__ import annotations

from typing import Annotated

from kwalk.model.kafka.server.versions import FAILED_AUTHENTICATIONS_LOOK_AGAIN
from kwalk.model.language import Actor, Array, Domain, action, array, flag, member, optional, require, state

CONTROLLERS = Domain("controllers", "brokers that may be the controller", default=2)
Controller = Annotated[int, CONTROLLERS]
SENDER = Actor("sender of a broker")
FAULT = Actor("fault", system=False)


@state
class ControllerChannel:
    """Which broker is the controller, the address that the sender has, and which broker cannot authenticate it.

    Attributes:
        has_failed: whether the last request has failed for that.
        is_answered: whether it was answered.
    """

    controller: int = member(CONTROLLERS)
    address: int | None = optional(CONTROLLERS)
    refuses: Array[bool] = array(CONTROLLERS, flag())
    has_failed: bool = flag()
    is_answered: bool = flag()


@action(by=FAULT, description="moves the controller", source="KafkaController.elect")
def move_channel(channel: ControllerChannel) -> None:
    """The sender does not hear of it."""
    channel.controller = 1 - channel.controller
    channel.is_answered = False


@action(by=FAULT, description="changes whether {broker} authenticates others", source="SaslServerAuthenticator")
def change_refusal(channel: ControllerChannel, broker: Controller) -> None:
    """As its credentials are changed, or another broker has its address."""
    channel.refuses[broker] = not channel.refuses[broker]
    channel.is_answered = False


@action(by=SENDER, description="sends a request", source="BrokerToControllerRequestThread.handleResponse")
def send_to_controller(channel: ControllerChannel) -> None:
    """A broker that is not the controller says so. Up to 3.7 one that does not authenticate was asked again."""
    require(not channel.is_answered)
    asked = channel.controller if channel.address is None else channel.address
    channel.has_failed = channel.refuses[asked]
    channel.is_answered = not channel.refuses[asked] and asked == channel.controller
    is_kept = channel.is_answered or (channel.has_failed and not FAILED_AUTHENTICATIONS_LOOK_AGAIN)
    channel.address = asked if is_kept else None
