"""Strongly connected components of waiting states, and which of them a behaviour can stay in.

Words: a *component* is a maximal set of waiting states that reach each other within it. It is *fair* if every system
instance is disabled in some state of it, or taken by some step within it: then a loop through all of it is a behaviour
that satisfies weak fairness and waits in every state. (No subset is fair unless its component is.) It is *stuck* if it
would be fair if the steps that a bound prevents were disabled. A state *can starve* if a fair component is reachable
from it through waiting states. The *mark* of a state is 0 before its visit, then the least visit number that it is
known to reach (below COMPONENT_DONE), and finally FAIRLY_ENDS, CAN_STARVE, or a number from FAIR on, one for each fair
component.

Source: R. Tarjan, "Depth-first search and linear graph algorithms", SIAM Journal on Computing 1 (1972).
"""
from __future__ import annotations

from enum import IntEnum

import numpy as np

from kwalk.search.exhaustive.liveness.waiting import (
    COMPONENT_DONE,
    OUTSIDE,
    Region,
    SearchStacks,
    edges_of,
    expand_waiting_state,
    guards_of,
    number_of,
)
from kwalk.search.native.bits import add_bits, has_bit
from kwalk.search.native.intrinsics import ONE, ZERO, integer, loop, part, peek, peek16, peek32, poke, poke32

MARK_FAIRLY_ENDS, MARK_CAN_STARVE, MARK_FAIR = COMPONENT_DONE, COMPONENT_DONE + 1, COMPONENT_DONE + 2

class SccCursor(IntEnum):
    """The fields of the cursor, int64[len(SccCursor)]."""

    ROOT = 0
    """The next stored state to start from."""
    PATH = 1
    """The length of the path."""
    STACK = 2
    """The states on the stack."""
    VISITS = 3
    """The visited states."""
    EDGES = 4
    """The edges in use."""
    FAIR = 5
    """The fair components."""
    STUCK = 6
    """The stuck ones."""
    FIRST_STUCK = 7
    """A state of the first stuck one, plus 1."""
    STARVING = 8
    """The starts that can starve."""
    FIRST_STARVING = 9
    """The first of them, plus 1."""
    LIMIT = 10
    """The number of visits at which to return."""
    STOP = 11
    """Whether to stop at the first start that can starve."""
    STORED = 12
    """The number of stored states."""


SCC_RUNNING, SCC_DONE, SCC_FULL = range(3)
"""Why the loop returned: its limit is reached, all components are known, there is no room for edges."""


@loop
def find_components(region: Region, stacks: SearchStacks, cursor: np.ndarray) -> int:
    """Search depth first from all starts, in order, until cursor[SccCursor.LIMIT] visits; return the status."""
    while cursor[SccCursor.VISITS] < cursor[SccCursor.LIMIT]:
        if cursor[SccCursor.PATH] == 0:
            if not _next_start(region, stacks, cursor):
                return SCC_DONE
            state = number_of(region.waiting, cursor[SccCursor.ROOT])
        else:
            state = _follow(region, stacks, cursor)
        if state >= 0:
            if cursor[SccCursor.EDGES] + region.search.kernel.instances + 1 > region.graph.room:
                return SCC_FULL
            _visit(region, stacks, cursor, state)
    return SCC_RUNNING


@part
def _next_start(region: Region, stacks: SearchStacks, cursor: np.ndarray) -> bool:
    """Advance to the next start that is not visited, and count the starts that can starve."""
    while cursor[SccCursor.ROOT] < cursor[SccCursor.STORED]:
        if peek(region.waiting.starts, cursor[SccCursor.ROOT] // 64) == ZERO:
            cursor[SccCursor.ROOT] = 64 * (cursor[SccCursor.ROOT] // 64 + 1)
            continue
        if has_bit(region.waiting.starts, cursor[SccCursor.ROOT]):
            mark = integer(peek32(stacks.marks, number_of(region.waiting, cursor[SccCursor.ROOT])))
            if mark == 0:
                return True
            if mark >= MARK_CAN_STARVE:
                cursor[SccCursor.FIRST_STARVING] = (
                    cursor[SccCursor.ROOT] + 1 if cursor[SccCursor.STARVING] == 0 else cursor[SccCursor.FIRST_STARVING]
                )
                cursor[SccCursor.STARVING] += 1
                if cursor[SccCursor.STOP] != 0:
                    return False
        cursor[SccCursor.ROOT] += 1
    return False


@part
def _visit(region: Region, stacks: SearchStacks, cursor: np.ndarray, state: int) -> None:
    cursor[SccCursor.VISITS] += 1
    visit, length = np.uint64(cursor[SccCursor.VISITS]), cursor[SccCursor.PATH]
    poke32(stacks.marks, state, visit)
    poke32(stacks.path, length, np.uint64(state))
    poke32(stacks.places, length, ZERO)
    poke32(stacks.visits, length, visit)
    poke32(stacks.stack, cursor[SccCursor.STACK], np.uint64(state))
    cursor[SccCursor.PATH] += 1
    cursor[SccCursor.STACK] += 1
    cursor[SccCursor.EDGES] = expand_waiting_state(region, state, cursor[SccCursor.EDGES])


@part
def _follow(region: Region, stacks: SearchStacks, cursor: np.ndarray) -> int:
    """Return the next unvisited target of an edge of the last state on the path; if there is none, backtrack: -1."""
    top = cursor[SccCursor.PATH] - 1
    state = integer(peek32(stacks.path, top))
    begin, end = edges_of(region.graph, state)
    place = begin + integer(peek32(stacks.places, top))
    while place < end:
        target = integer(peek32(region.graph.targets, place))
        place += 1
        if target != OUTSIDE:
            mark = integer(peek32(stacks.marks, target))
            if mark == 0:
                poke32(stacks.places, top, np.uint64(place - begin))
                return target
            _lower(stacks, state, mark)
    _backtrack(region, stacks, cursor)
    return integer(-1)


@part
def _lower(stacks: SearchStacks, state: int, mark: int) -> None:
    """Lower the mark of a state that reaches a state with this mark."""
    if mark < COMPONENT_DONE and mark < integer(peek32(stacks.marks, state)):
        poke32(stacks.marks, state, np.uint64(mark))


@part
def _backtrack(region: Region, stacks: SearchStacks, cursor: np.ndarray) -> None:
    cursor[SccCursor.PATH] -= 1
    top = cursor[SccCursor.PATH]
    state = integer(peek32(stacks.path, top))
    mark = integer(peek32(stacks.marks, state))
    if mark == integer(peek32(stacks.visits, top)):
        _finish_component(region, stacks, cursor, state)
    elif top > 0:
        _lower(stacks, integer(peek32(stacks.path, top - 1)), mark)


@part
def _finish_component(region: Region, stacks: SearchStacks, cursor: np.ndarray, state: int) -> None:
    """Pop the component that ends with a state from the stack, and mark its states."""
    bottom = cursor[SccCursor.STACK] - 1
    while integer(peek32(stacks.stack, bottom)) != state:
        bottom -= 1
    starves = _can_starve(region, stacks, bottom, cursor[SccCursor.STACK])
    mark = integer(MARK_CAN_STARVE if starves else MARK_FAIRLY_ENDS)
    if not (cursor[SccCursor.STACK] - bottom == 1 and _must_leave(region, state)):
        words = region.search.kernel.row_words
        for word in range(3 * words):
            poke(stacks.rows, word, ZERO)
        for place in range(bottom, cursor[SccCursor.STACK]):
            _add_state(region, stacks, integer(peek32(stacks.stack, place)))
        fair, stuck = _is_fair(region, stacks)
        if fair:
            mark = MARK_FAIR + cursor[SccCursor.FAIR]
            cursor[SccCursor.FAIR] += 1
        elif stuck:
            if cursor[SccCursor.STUCK] == 0:
                cursor[SccCursor.FIRST_STUCK] = integer(peek32(region.waiting.stored, state)) + 1
            cursor[SccCursor.STUCK] += 1
    for place in range(bottom, cursor[SccCursor.STACK]):
        poke32(stacks.marks, integer(peek32(stacks.stack, place)), np.uint64(mark))
    cursor[SccCursor.STACK] = bottom


@part
def _can_starve(region: Region, stacks: SearchStacks, bottom: int, top: int) -> bool:
    """Whether an edge leads from the component to a state that can starve."""
    for place in range(bottom, top):
        begin, end = edges_of(region.graph, integer(peek32(stacks.stack, place)))
        for at in range(begin, end):
            target = integer(peek32(region.graph.targets, at))
            if target != OUTSIDE and integer(peek32(stacks.marks, target)) >= MARK_CAN_STARVE:
                return True
    return False


@part
def _must_leave(region: Region, state: int) -> bool:
    """Whether a system step leads from the state to another one, so that it is neither fair nor stuck on its own."""
    begin, end = edges_of(region.graph, state)
    for at in range(begin, end):
        instance = integer(peek16(region.graph.instances, at))
        is_system = has_bit(region.search.kernel.system_row, instance)
        if is_system and integer(peek32(region.graph.targets, at)) != state:
            return True
    return False


@part
def _add_state(region: Region, stacks: SearchStacks, state: int) -> None:
    """Add what is disabled, blocked by a bound, and taken in a state of the component to the rows."""
    words, row = region.search.kernel.row_words, guards_of(region, state)
    free = stacks.rows + 24 * words
    for word in range(words):
        add_bits(stacks.rows, word, ~peek(row, word))
        poke(free, word, ZERO)
    begin, end = edges_of(region.graph, state)
    for at in range(begin, end):
        instance, target = integer(peek16(region.graph.instances, at)), integer(peek32(region.graph.targets, at))
        bit = ONE << np.uint64(instance % 64)
        add_bits(free, instance // 64, bit)
        if target != OUTSIDE and integer(peek32(stacks.marks, target)) < COMPONENT_DONE:
            add_bits(stacks.rows, 2 * words + instance // 64, bit)
    for word in range(words):
        add_bits(stacks.rows, words + word, peek(row, word) & ~peek(free, word))


@part
def _is_fair(region: Region, stacks: SearchStacks) -> tuple[bool, bool]:
    """Whether the component with these rows is fair, and whether it is if blocked steps count as disabled."""
    words, missing, blocked = region.search.kernel.row_words, ZERO, ZERO
    for word in range(words):
        left = peek(region.search.kernel.system_row, word) & ~peek(stacks.rows, word)
        left &= ~peek(stacks.rows, 2 * words + word)
        missing |= left
        blocked |= left & ~peek(stacks.rows, words + word)
    return missing == ZERO, blocked == ZERO
