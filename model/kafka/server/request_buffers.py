"""KafkaRequestHandler: the buffers of a thread that handles requests, and an append that goes on in another thread.

An append of a transactional producer waits until the coordinator has verified the transaction (KIP-890), and then goes
on in any thread that handles requests. Each of these has buffers of its own, in which it decompresses batches.

What the model leaves out, and why its story loses nothing by it: a second append that waits.
"""

from __future__ import annotations

from typing import Annotated

from kwalk.model.kafka.server.versions import APPENDS_USE_THEIR_THREADS_BUFFERS
from kwalk.model.kafka.storage.domains import PRODUCER
from kwalk.model.language import Actor, Array, Domain, action, array, flag, optional, require, state

HANDLERS = Domain("handlers", "threads that handle requests", default=2)
Handler = Annotated[int, HANDLERS]
HANDLER = Actor("request handler", of=HANDLERS)
COORDINATOR = Actor("transaction coordinator", system=False)


@state
class RequestBuffers:
    """Threads, of which some use their buffers for a request, and an append.

    The append has come to the thread `came_to`; it `is_verified`, and goes on in `runs_in` with the buffers of `uses`.
    """

    is_busy: Array[bool] = array(HANDLERS, flag())
    came_to: int | None = optional(HANDLERS)
    is_verified: bool = flag()
    runs_in: int | None = optional(HANDLERS)
    uses: int | None = optional(HANDLERS)


@action(by=PRODUCER, description="appends in a transaction, by {handler}", source="ReplicaManager.appendRecords")
def begin_append(buffers: RequestBuffers, handler: Handler) -> None:
    """Have the transaction verified; the thread handles other requests meanwhile."""
    require(buffers.came_to is None and not buffers.is_busy[handler])
    buffers.came_to = handler


@action(by=COORDINATOR, description="verifies the transaction", source="AddPartitionsToTxnManager")
def verify(buffers: RequestBuffers) -> None:
    """Have the append go on."""
    require(buffers.came_to is not None)
    buffers.is_verified = True


@action(by=HANDLER, description="goes on with the append", source="KafkaRequestHandler.wrap; CallbackRequest")
def go_on(buffers: RequestBuffers, handler: Handler) -> None:
    """Decompress the batch. In 3.6.0 that was in the buffers of the thread to which the append had come."""
    require(buffers.is_verified and buffers.runs_in is None and not buffers.is_busy[handler])
    buffers.runs_in = handler
    buffers.uses = handler if APPENDS_USE_THEIR_THREADS_BUFFERS else buffers.came_to


@action(by=HANDLER, description="has appended", source="ReplicaManager.appendToLocalLog")
def end_append(buffers: RequestBuffers, handler: Handler) -> None:
    """Answer the producer."""
    require(buffers.runs_in == handler)
    buffers.came_to = buffers.runs_in = buffers.uses = None
    buffers.is_verified = False


@action(by=PRODUCER, description="appends without a transaction, by {handler}", source="ReplicaManager.appendRecords")
def begin_request(buffers: RequestBuffers, handler: Handler) -> None:
    """Decompress its batch in the buffers of the thread."""
    require(buffers.runs_in != handler)
    buffers.is_busy[handler] = True


@action(by=HANDLER, description="has handled the request", source="KafkaRequestHandler.run")
def end_request(buffers: RequestBuffers, handler: Handler) -> None:
    """Leave the buffers to the next request."""
    buffers.is_busy[handler] = False
