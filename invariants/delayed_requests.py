"""Properties of requests that wait in a broker: they are answered as soon as they can be."""

from __future__ import annotations

from kwalk.model.kafka.server.delayed_requests import CHECKERS, Check, Checker, Request, WaitingRequest
from kwalk.model.language import always, premise, reachable, step, when_quiescent


@when_quiescent(
    symptom="requests with acks=all, or fetches, are answered when request.timeout.ms or fetch.max.wait.ms is over",
    log="none: the latency of requests has the timeout as its maximum",
)
def due_request_is_answered(waiting: WaitingRequest) -> bool:
    """A request is answered once what it waits for has happened."""
    premise(waiting.is_due)
    return waiting.request in (Request.ANSWERED, Request.REDIRECTED)


@step(symptom="a request is answered before its records are replicated, or twice", log="none")
def request_is_answered_when_it_is_due(before: WaitingRequest, after: WaitingRequest) -> bool:
    """A request is sent once, waits or names a follower, and is answered if it is due, while no thread has its lock."""
    premise(before.request is not after.request)
    if after.request is Request.ANSWERED:
        return before.is_due and not any(before.checks[t] is Check.LOOKED for t in CHECKERS)
    return before.request is Request.NONE and (after.is_due or after.request is Request.WAITS)


@always(symptom="two threads answer one request", log="none")
def request_has_one_thread(waiting: WaitingRequest, thread: Checker, other: Checker) -> bool:
    """The lock of a request has one thread at most."""
    premise(thread < other)
    return waiting.checks[thread] is not Check.LOOKED or waiting.checks[other] is not Check.LOOKED


@step(symptom="a thread answers a request too early, or keeps its lock", log="none")
def thread_looks_before_it_keeps_the_lock(before: WaitingRequest, after: WaitingRequest, thread: Checker) -> bool:
    """A thread is to check a request that waits; it keeps the lock for a while if that is not due."""
    now, then = before.checks[thread], after.checks[thread]
    premise(now is not then)
    if then is Check.DUE:
        return now is Check.NONE and before.request is Request.WAITS
    return then is Check.NONE or (now is Check.DUE and not before.is_due)


@when_quiescent(symptom="a request waits although its time is over, as a thread has its lock", log="none")
def lock_is_given_back(waiting: WaitingRequest, thread: Checker) -> bool:
    """A thread that has looked at a request gives back its lock."""
    return waiting.checks[thread] is Check.NONE


@step(symptom="a request is due for no reason, or is not any more", log="none")
def request_becomes_due_once(before: WaitingRequest, after: WaitingRequest) -> bool:
    """What a request waits for happens while it waits, or as it is sent, and is not taken back."""
    premise(before.is_due != after.is_due)
    is_sent = before.request is Request.NONE and after.request is not Request.NONE
    return after.is_due and (before.request is Request.WAITS or is_sent)


@reachable()
def two_threads_are_at_a_request(waiting: WaitingRequest) -> bool:
    """A thread is to look at a request of which another one has the lock."""
    return any(c is Check.LOOKED for c in waiting.checks) and any(c is Check.DUE for c in waiting.checks)
