"""SystemTimer: when the time of a request that waits is over, on a machine whose clock is set back.

What the model leaves out, and why its story loses nothing by it: other requests, each of which has a time of its own;
and clocks that are set ahead, at which requests are answered early.
"""

from __future__ import annotations

from kwalk.model.kafka.server.versions import TIMERS_ARE_MONOTONIC
from kwalk.model.language import Actor, Bound, action, flag, number, require, state

DURATION = Bound("duration", "how long a request may wait, and the test goes on", minimum=1)
SET_BACKS = Bound("set_backs", "how often the clock of the machine is set back by 1")
TIMER = Actor("timer")
CLOCK = Actor("clock", system=False)


@state
class RequestTimer:
    """A request that has waited for `waited`, of which the clock of the machine has counted `counted`."""

    waited: int = number(0, 2 * DURATION)
    counted: int = number(-SET_BACKS, 2 * DURATION, default=0)
    set_backs: int = number(0, SET_BACKS)
    is_answered: bool = flag()


def is_over(request: RequestTimer) -> bool:
    """Whether the timer takes the time of the request for over; until KAFKA-4051 by the clock of the machine."""
    return (request.waited if TIMERS_ARE_MONOTONIC else request.counted) >= DURATION


@action(by=CLOCK, description="a moment passes", source="Time.hiResClockMs")
def wait(request: RequestTimer) -> None:
    """Let a timer that is due go first."""
    require(not request.is_answered and not is_over(request))
    request.waited += 1
    request.counted += 1


@action(by=CLOCK, description="the clock of the machine is set back", source="Time.milliseconds")
def set_back(request: RequestTimer) -> None:
    """Adjust the clock, as NTP or an operator does."""
    require(not request.is_answered)
    request.set_backs += 1
    request.counted -= 1


@action(by=TIMER, description="answers the request", source="SystemTimer.advanceClock; DelayedOperation.run")
def answer(request: RequestTimer) -> None:
    """Answer without waiting longer."""
    require(is_over(request))
    request.is_answered = True
