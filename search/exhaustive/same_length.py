"""What a search that ends within a level has not looked at: violations as short as what ended it, or shorter.

A search ends at the first state where something is wrong. Of a step that violates a property, or of an error of the
model, that need not be the shortest: a later state of the same level may violate a property by itself. So the rest of
the level is checked; after an error of a step, also the steps from the level and the states after them, where the steps
that raise errors are left out.

Words: see `layout`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from attrs import frozen

from kwalk.model.language import Kind, PropertyInstance
from kwalk.search.exhaustive.expansion import check_state, check_step, load_state
from kwalk.search.exhaustive.layout import CounterBuffers, SearchLayout
from kwalk.search.kernel.calls import KernelCalls
from kwalk.search.kernel.interface import Kernel
from kwalk.search.native.intrinsics import ONE, ZERO, call, call_void, count_up, get, integer, lowest_bit, peek, put
from kwalk.search.native.loops import loop, part

MOST_STATES = 1 << 16
"""The states that the loop checks at once: between them Ctrl-C is noticed."""


@frozen
class PropertyHit:
    """The first violation or witness of a property (None: a deadlock): in a state, or in a step from it or after it."""

    state: int
    step: int | None
    prop: PropertyInstance | None
    count: int


class CheckedSpan(NamedTuple):
    """What the loop checks."""

    first: int
    last: int
    after: int
    """Whether to check the steps from these states and the states after them, in place of the states."""
    guards: int
    apply: int
    deadlocks: int
    """int64[3]: how many deadlocks were found; the state of the first one, and the step after which it is."""


@loop
def check_span(search: SearchLayout, span: CheckedSpan) -> None:
    """Check states, or the steps from them and the states after them, and count what is violated."""
    kernel, batch = search.kernel, search.batch
    for index in range(span.first, span.last):
        state = load_state(search, index, 0)
        if span.after == 0:
            _check_at(search, span, state, (index, integer(-1)))
            continue
        call_void(span.guards, (state, batch.enabled))
        for word in range(kernel.row_words):
            left = peek(batch.enabled, word)
            while left != ZERO:
                instance = 64 * word + lowest_bit(left)
                left &= left - ONE
                if call(span.apply, (instance, state, batch.rows)) == 0:
                    if kernel.checks_steps:
                        check_step(search, (index, instance), batch.rows, batch.step_premises)
                    _check_at(search, span, batch.rows, (index, instance))


@part
def _check_at(search: SearchLayout, span: CheckedSpan, state: int, where: tuple[int, int]) -> None:
    """Check the state at an address: a stored one, or the one after a step from it."""
    kernel, row = search.kernel, search.batch.enabled + 8 * search.kernel.row_words
    call_void(span.guards, (state, row))
    enabled, system = ZERO, ZERO
    for word in range(kernel.row_words):
        enabled |= peek(row, word)
        system |= peek(row, word) & peek(kernel.system_row, word)
    if kernel.deadlock and enabled == ZERO:
        if get(span.deadlocks, 0) == 0:
            put(span.deadlocks, 1, where[0])
            put(span.deadlocks, 2, where[1])
        count_up(span.deadlocks, 0, 1)
    if kernel.checks_states:
        check_state(search, state, where, (search.batch.premises, integer(system == ZERO)))


def hits_of(
    kernel: Kernel,
    searches: Iterable[tuple[SearchLayout, int, int]],
    properties: tuple[PropertyInstance, ...],
    *,
    after: bool = False,
) -> list[PropertyHit]:
    """Return the first violation of each property in states first … last - 1 of some searches.

    Args:
        kernel: The kernel.
        searches: The argument of the loops, the first state, and the end of the states.
        properties: The properties that are checked.
        after: Check the steps from these states and the states after them, in place of the states.
    """
    counts, deadlocks = CounterBuffers(kernel, 0), np.zeros(3, np.int64)
    for search, first, last in searches:
        counted = search._replace(counters=counts.layout)
        for begin in range(first, last, MOST_STATES):
            end = min(begin + MOST_STATES, last)
            span = CheckedSpan(begin, end, int(after), kernel.guards, kernel.apply, deadlocks.ctypes.data)
            check_span(counted, span)
            kernel.raise_pending()
    return list(_hits(counts, deadlocks, properties))


def is_error_of_state(kernel: Kernel, packed: np.ndarray, checked: np.ndarray) -> bool:
    """Whether a property in a bit row raises an error in a packed state, so that no step is needed to meet it."""
    calls, state = KernelCalls(kernel), np.ascontiguousarray(packed, np.uint64)
    quiescent = not (calls.guards(state)[: len(kernel.system_row)] & kernel.system_row).any()
    false, premise = calls.check(state, quiescent=quiescent)
    return bool((false & ~premise & checked).any())


def together(hits: Iterable[PropertyHit]) -> tuple[PropertyHit, ...]:
    """Return the first hit of each property."""
    found: dict[PropertyInstance | None, PropertyHit] = {}
    for hit in hits:
        found.setdefault(hit.prop, hit)
    return tuple(found.values())


def _hits(
    counts: CounterBuffers, deadlocks: np.ndarray, properties: tuple[PropertyInstance, ...]
) -> Iterator[PropertyHit]:
    for prop in properties:
        state, step = int(counts.first_state[prop.index]), int(counts.first_instance[prop.index])
        if state and prop.kind is not Kind.REACHABLE:
            yield PropertyHit(state - 1, None if step < 0 else step, prop, int(counts.seen[prop.index]))
    if deadlocks[0]:
        count, state, step = deadlocks.tolist()
        yield PropertyHit(state, None if step < 0 else step, None, count)
