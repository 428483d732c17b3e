"""The lost update: threads increment a shared counter without a lock, and an increment disappears.

Words: a thread first *reads* the counter into its own copy, then *writes* the copy plus one; then it is done.

Source: stateright, examples/increment.rs. Counts: 13 distinct states for two threads; its documentation lists them, and
the shortest wrong run: read, read, write, write. With the lock of examples/increment_lock.rs nothing is lost.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from kwalk.model.language import (
    Actor,
    Array,
    Bound,
    Domain,
    Flag,
    Scenario,
    action,
    always,
    array,
    choice,
    number,
    require,
    state,
    when_quiescent,
)

THREADS = Domain("threads", "threads that increment once each")
THREAD_COUNT = Bound("threads")
LOCK = Flag("lock", "whether a thread takes a lock before it reads and gives it back after it has written")

Thread = Annotated[int, THREADS]

THREAD = Actor("thread", of=THREADS)


class Next(Enum):
    """What a thread does next."""

    READ = "read"
    WRITE = "write"
    NOTHING = "nothing"


@state
class Worker:
    """One thread: what it does next, and its copy of the counter."""

    next: Next = choice(Next)
    copy: int = number(0, THREAD_COUNT)


@state
class Memory:
    """The shared counter and the threads."""

    counter: int = number(0, THREAD_COUNT)
    workers: Array[Worker] = array(THREADS, Worker)


def is_locked(memory: Memory) -> bool:
    """Whether some thread has read and not yet written; the lock needs no variable of its own."""
    return any(worker.next is Next.WRITE for worker in memory.workers)


@action(by=THREAD, description="reads the counter")
def read(memory: Memory, thread: Thread) -> None:
    """The first instruction of an increment."""
    worker = memory.workers[thread]
    require(worker.next is Next.READ)
    require(not LOCK or not is_locked(memory))
    worker.copy = memory.counter
    worker.next = Next.WRITE


def lost_increments(before: Memory, after: Memory, thread: int) -> str:
    """Return how many increments of others a write undoes, if any."""
    others = before.counter - before.workers[thread].copy
    return f"writes {after.counter} over {before.counter}: its copy is too old" if others else ""


@action(by=THREAD, description="writes its copy plus one", outcome=lost_increments)
def write(memory: Memory, thread: Thread) -> None:
    """The second instruction of an increment."""
    worker = memory.workers[thread]
    require(worker.next is Next.WRITE)
    memory.counter = worker.copy + 1
    worker.next = Next.NOTHING


@always(symptom="the counter shows fewer visits than there were")
def counts_every_increment(memory: Memory) -> bool:
    """The counter is the number of threads that are done."""
    return memory.counter == sum(worker.next is Next.NOTHING for worker in memory.workers)


@when_quiescent(symptom="the counter shows fewer visits than there were")
def nothing_is_lost(memory: Memory) -> bool:
    """When all threads have ended, every increment has been counted."""
    return memory.counter == THREAD_COUNT


LOST_UPDATE = Scenario(
    name="lost-update",
    story="Two threads increment a counter at once.",
    state=Memory,
    actions=(read, write),
    properties=(counts_every_increment, nothing_is_lost),
    bounds={"threads": 2},
    variants={"no-lock": {"lock": False}, "lock": {"lock": True}},
    source="stateright examples/increment.rs, examples/increment_lock.rs",
)
