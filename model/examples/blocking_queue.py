"""A bounded buffer between threads, with a planted bug: `notify` may wake a thread that cannot continue.

Producers and consumers wait in one set, as in a Java monitor; in the end all of them may wait, which is a deadlock.

Words: the threads are the producers followed by the consumers. A producer *puts* into the buffer or, if it is full,
waits; a consumer *gets* or, if it is empty, waits. A thread that succeeds *wakes* one waiting thread: in the variant
`one-wait-set` any, in `two-wait-sets` one of the other kind.

Source: M. A. Kuppe's tutorial lemmy/BlockingQueue, BlockingQueue.tla at v05 (the bug) and v13 (the fix); the bug is
"Extreme Programming Challenge 14" of wiki.c2.com. Counts: the steps to a deadlock for many configurations of p
producers, c consumers and a buffer of b (R/TraceLength.csv), among them 7 for p1c2b1, 8 for p2c1b1 and 46 for p4c3b3;
4 distinct states for p1c1b1 and 14 for p1c2b1 (p1c1b1.dot, p1c2b1.dot); two deadlocked states for p2c1b1 (README.md,
v04); 1,600 distinct and 12,313 generated for p4c3b3 with the fix (v27). Deadlocks exist where 2 b < p + c (v08).
"""

from __future__ import annotations

from typing import Annotated

from kwalk.model.language import (
    Actor,
    Bound,
    Domain,
    Fifo,
    Flag,
    Scenario,
    action,
    always,
    fifo,
    reachable,
    require,
    state,
    subset,
)

THREADS = Domain("threads", "producers and consumers together")
PRODUCERS = Bound("producers", "how many of the threads are producers", minimum=1)
CAPACITY = Bound("capacity", "elements that fit into the buffer", minimum=1)
WAIT_SETS = Flag("wait_sets", "who may be woken by whom", settings=("one", "two"))

Thread = Annotated[int, THREADS]

THREAD = Actor("thread", of=THREADS)


@state
class Queue:
    """The buffer, which holds who put each element, and the threads that wait."""

    buffer: Fifo[int] = fifo(THREADS, CAPACITY)
    waiting: frozenset[int] = subset(THREADS)

    @property
    def is_full(self) -> bool:
        """Whether a producer must wait."""
        return len(self.buffer) == CAPACITY


def is_producer(thread: int) -> bool:
    """Whether a thread puts; the others get."""
    return thread < PRODUCERS


def may_wake(waker: int, sleeper: int) -> bool:
    """Whether a notification by one thread can reach another."""
    return WAIT_SETS == "one" or is_producer(waker) != is_producer(sleeper)


def nobody_to_wake(queue: Queue, waker: int) -> bool:
    """Whether a notification would be lost."""
    return not any(thread in queue.waiting and may_wake(waker, thread) for thread in THREADS)


def move_element(queue: Queue, thread: int) -> None:
    """The running thread does what it is for."""
    if is_producer(thread):
        queue.buffer.push(thread)
    else:
        queue.buffer.pop()


def can_move(queue: Queue, thread: int) -> bool:
    """Whether the thread runs and the buffer lets it continue."""
    if thread in queue.waiting:
        return False
    return not queue.is_full if is_producer(thread) else not queue.buffer.is_empty


@action(by=THREAD, description="puts or gets, and wakes no thread")
def move(queue: Queue, thread: Thread) -> None:
    """There is no thread that could be woken."""
    require(can_move(queue, thread) and nobody_to_wake(queue, thread))
    move_element(queue, thread)


@action(by=THREAD, description="puts or gets, and wakes thread {sleeper}")
def move_and_wake(queue: Queue, thread: Thread, sleeper: Thread) -> None:
    """The scheduler chooses which of the waiting threads is notified."""
    require(can_move(queue, thread) and sleeper in queue.waiting and may_wake(thread, sleeper))
    move_element(queue, thread)
    queue.waiting = queue.waiting - {sleeper}


def reason_to_wait(before: Queue, _: Queue, thread: int) -> str:
    """Return what a thread waits for, and whether others do not wait."""
    return "the buffer is full" if is_producer(thread) else "the buffer is empty"


@action(by=THREAD, description="waits", outcome=reason_to_wait)
def wait(queue: Queue, thread: Thread) -> None:
    """A producer before a full buffer, or a consumer before an empty one."""
    require(thread not in queue.waiting and not can_move(queue, thread))
    queue.waiting = queue.waiting | {thread}


@always(symptom="the application hangs without a message")
def somebody_runs(queue: Queue) -> bool:
    """Not all threads wait."""
    return queue.waiting != frozenset(THREADS)


@reachable()
def buffer_fills(queue: Queue) -> bool:
    """The buffer can be full."""
    return queue.is_full


BLOCKING_QUEUE = Scenario(
    name="blocking-queue",
    story="One producer and two consumers share a buffer for one element; a notification wakes the wrong thread.",
    state=Queue,
    actions=(move, move_and_wake, wait),
    properties=(somebody_runs, buffer_fills),
    bounds={"threads": 3, "producers": 1, "capacity": 1},
    variants={"one-wait-set": {"wait_sets": "one"}, "two-wait-sets": {"wait_sets": "two"}},
    deadlock_is_error=True,
    source="lemmy/BlockingQueue BlockingQueue.tla, v05 and v13",
)
