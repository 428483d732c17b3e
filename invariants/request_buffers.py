"""Properties of the buffers of threads that handle requests."""

from __future__ import annotations

from kwalk.model.kafka.server.request_buffers import Handler, RequestBuffers
from kwalk.model.language import always, premise, reachable, step


@always(
    symptom="appends of compressed batches fail with CORRUPT_MESSAGE or UNKNOWN_SERVER_ERROR",
    log="none: other producers of the broker are transactional",
)
def buffers_are_used_by_one_request(buffers: RequestBuffers, handler: Handler) -> bool:
    """A thread's buffers are used by one request at a time."""
    return buffers.uses != handler or not buffers.is_busy[handler]


@step(symptom="an append is answered that was not verified, or twice", log="none")
def append_goes_on_when_it_is_verified(before: RequestBuffers, after: RequestBuffers) -> bool:
    """An append comes, is verified, goes on in a thread that does nothing else, and ends."""
    premise(
        before.came_to != after.came_to or before.is_verified != after.is_verified or before.runs_in != after.runs_in
    )
    if after.came_to is None:
        return before.runs_in is not None and after.runs_in is None and after.uses is None and not after.is_verified
    if after.runs_in is not None:
        is_next = before.is_verified and before.runs_in is None
        return is_next and after.uses is not None and not before.is_busy[after.runs_in]
    return after.is_verified == (before.came_to is not None)


@step(symptom="a request is handled by a thread that handles another one", log="none")
def thread_handles_one_request(before: RequestBuffers, after: RequestBuffers, handler: Handler) -> bool:
    """A thread begins a request while it does not run the append."""
    premise(after.is_busy[handler] and not before.is_busy[handler])
    return before.runs_in != handler


@step(symptom="an append comes to a thread that handles another request", log="none")
def append_comes_to_a_thread_that_waits(before: RequestBuffers, after: RequestBuffers, handler: Handler) -> bool:
    """An append comes to a thread that does nothing else."""
    premise(after.came_to == handler and before.came_to is None)
    return not before.is_busy[handler]


@reachable()
def append_goes_on_in_another_thread(buffers: RequestBuffers) -> bool:
    """An append goes on in another thread than that to which it came, which handles a request."""
    return buffers.runs_in is not None and buffers.came_to != buffers.runs_in and any(buffers.is_busy)
