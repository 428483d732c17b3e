"""Properties of the time that a request waits."""

from __future__ import annotations

from kwalk.model.kafka.server.request_timer import DURATION, RequestTimer
from kwalk.model.language import always, premise, reachable, step


@always(
    symptom="requests wait longer than their timeouts, after the clock of a machine was set back",
    log="none: the clock of the machine was changed",
)
def request_waits_for_its_time(request: RequestTimer) -> bool:
    """A request waits no longer than it is to."""
    return request.waited <= DURATION


@step(symptom="a request is answered before its time", log="none")
def request_is_answered_in_time(before: RequestTimer, after: RequestTimer) -> bool:
    """A request is answered when its time is over, once."""
    premise(before.is_answered != after.is_answered)
    return after.is_answered and before.waited >= DURATION


@step(symptom="the time of a request goes back", log="none")
def time_passes(before: RequestTimer, after: RequestTimer) -> bool:
    """Time passes while a request waits, and the clock of the machine is set back apart from it."""
    premise(before.waited != after.waited or before.counted != after.counted)
    is_back = after.set_backs == before.set_backs + 1 and after.counted == before.counted - 1
    is_passing = after.waited == before.waited + 1 and after.counted == before.counted + 1
    return not before.is_answered and (is_passing or (is_back and after.waited == before.waited))


@reachable()
def request_is_answered_after_all(request: RequestTimer) -> bool:
    """A request is answered whose time the clock of the machine has not counted."""
    return request.is_answered and request.counted < DURATION
