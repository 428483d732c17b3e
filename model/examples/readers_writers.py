"""Readers and writers that are served in the order of their requests.

Words: an actor puts a *request* into a queue. The head of the queue may start when no writer is at work, a
writer only when no actor is. An actor may have one read and one write request in the queue at once.

Source: tlaplus/Examples, specifications/ReadersWriters/ReadersWriters.tla. Counts: 21,527 distinct states, 59,674
generated, TLC depth 13 for three actors (MC.cfg in manifest.json). The queue holds two requests per actor, so the
capacity of six is never reached.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from kwalk.model.language import (
    Actor,
    Bound,
    Domain,
    Fifo,
    Scenario,
    action,
    always,
    choice,
    fifo,
    member,
    premise,
    reachable,
    require,
    state,
    step,
    subset,
    value,
)

ACTORS = Domain("actors", "processes that read and write")
CAPACITY = Bound("requests", "requests that the queue holds")

Process = Annotated[int, ACTORS]

PROCESS = Actor("process", of=ACTORS)
LOCK = Actor("lock")


class Mode(Enum):
    """The kinds of access."""

    READ = "read"
    WRITE = "write"


@value
class Request:
    """An actor and the access that it requests."""

    mode: Mode = choice(Mode)
    actor: int = member(ACTORS)


@state
class Resource:
    """Who is at work, and who waits."""

    readers: frozenset[int] = subset(ACTORS)
    writers: frozenset[int] = subset(ACTORS)
    waiting: Fifo[Request] = fifo(Request, CAPACITY)


@action(by=PROCESS, description="requests to {mode}")
def ask(resource: Resource, actor: Process, mode: Mode) -> None:
    """An actor joins the queue, even while it is at work."""
    request = Request(mode=mode, actor=actor)
    require(request not in resource.waiting)
    resource.waiting.push(request)


@action(by=LOCK, description="lets the first request in")
def serve(resource: Resource) -> None:
    """The head of the queue starts, if it may."""
    require(not resource.waiting.is_empty and not resource.writers)
    require(resource.waiting.head.mode is Mode.READ or not resource.readers)
    request = resource.waiting.pop()
    if request.mode is Mode.READ:
        resource.readers = resource.readers | {request.actor}
    else:
        resource.writers = resource.writers | {request.actor}


@action(by=PROCESS, description="ends its work")
def stop(resource: Resource, actor: Process) -> None:
    """A reader or writer goes away."""
    require(actor in resource.readers | resource.writers)
    if actor in resource.readers:
        resource.readers = resource.readers - {actor}
    else:
        resource.writers = resource.writers - {actor}


@always(symptom="an actor reads what is half written")
def readers_exclude_writers(resource: Resource) -> bool:
    """No actor reads while another one writes."""
    return not resource.readers or not resource.writers


@always(symptom="two writers overwrite each other")
def one_writer(resource: Resource) -> bool:
    """At most one actor writes."""
    return len(resource.writers) <= 1


@step(symptom="a request waits while later ones are served")
def nobody_jumps_the_queue(before: Resource, after: Resource) -> bool:
    """While the head of the queue waits, no other request is served."""
    premise(not before.waiting.is_empty and not after.waiting.is_empty)
    premise(before.waiting.head == after.waiting.head and len(before.waiting) == len(after.waiting))
    return after.readers <= before.readers and after.writers <= before.writers


@reachable()
def all_read_at_once(resource: Resource) -> bool:
    """Readers share."""
    return resource.readers == frozenset(ACTORS)


READERS_WRITERS = Scenario(
    name="readers-writers",
    story="Three processes request to read and write; a queue serves them in order.",
    state=Resource,
    actions=(ask, serve, stop),
    properties=(readers_exclude_writers, one_writer, nobody_jumps_the_queue, all_read_at_once),
    bounds={"actors": 3, "requests": 6},
    source="tlaplus/Examples specifications/ReadersWriters/ReadersWriters.tla",
)
