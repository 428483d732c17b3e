"""Strongly connected components of waiting states, and in which parts of them a fair behaviour can stay.

Words: a *component* is a maximal set of waiting states that reach each other within it. A *part* is a component, or a
component of a subset of its states. A condition of fairness is *met* in a part if the part has a step that takes it;
or, for weak fairness, a state where it is disabled; or, for strong fairness, no state where it is enabled. A part is
*fair* if all conditions are met in it and its states are as the loop of a violation must be (`Loop`): then a loop
through all of it is a fair behaviour. Weak fairness that is not met in a part is met in no subset of it. Strong
fairness that is not met can be met in a subset without the states where it is enabled; so these states are removed, and
the components of the others are examined in the same way (a *pass*). Each pass removes a state, so that the search
ends. A component is *fair* if it has a fair part, and *stuck* if it would have one if the steps that a bound prevents
were disabled. A state *can starve* if a fair component is reachable from it through waiting states. The *mark* of a
state is 0 before its visit, then the least visit number that it is known to reach (below COMPONENT_DONE), and finally
MARK_FAIRLY_ENDS, MARK_CAN_STARVE, or a number from MARK_FAIR on, one for each fair part.

Sources: R. Tarjan, "Depth-first search and linear graph algorithms", SIAM Journal on Computing 1 (1972); E. A. Emerson
and C.-L. Lei, "Modalities for model checking: branching time logic strikes back", Science of Computer Programming 8
(1987), on fair components; O. Lichtenstein and A. Pnueli, POPL 1985, on their recursive refinement.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from kwalk.search.liveness.waiting import (
    COMPONENT_DONE,
    OUTSIDE,
    Loop,
    Region,
    SearchStacks,
    add_taken_conditions,
    edges_of,
    expand_waiting_state,
    find_enabled_conditions,
    is_unsatisfied,
    number_of,
)
from kwalk.search.native.bits import has_bit
from kwalk.search.native.intrinsics import ZERO, integer, peek, peek32, poke, poke32
from kwalk.search.native.loops import Int64Array, loop, part

MARK_FAIRLY_ENDS, MARK_CAN_STARVE = COMPONENT_DONE, COMPONENT_DONE + 1
MARK_RETRY = COMPONENT_DONE + 2
"""While a component is examined: the state takes part in the next pass."""
MARK_FAIR = COMPONENT_DONE + 3
LOOP_INSIDE, LOOP_THROUGH = int(Loop.INSIDE), int(Loop.THROUGH)


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
    """The fair parts."""
    STUCK = 6
    """The stuck components."""
    FIRST_STUCK = 7
    """A state of the first stuck one where a bound blocks a step, plus 1."""
    STARVING = 8
    """The starts that can starve."""
    FIRST_STARVING = 9
    """The first of them, plus 1."""
    LIMIT = 10
    """The amount of work at which to return."""
    STOP = 11
    """Whether to stop at the first start that can starve."""
    STORED = 12
    """The number of stored states."""
    WORK = 13
    """The visits of all searches."""
    IS_NESTED = 14
    """Whether the states stack[BOTTOM] … stack[STACK - 1] are examined in passes."""
    BOTTOM = 15
    """Where the component that is examined begins on the stack."""
    STARVES = 16
    """Whether a fair part was found in it, or an edge leads from it to a state that can starve."""
    IS_FAIR = 17
    """Whether a fair part was found in it."""
    BLOCKED = 18
    """A state of it where a bound blocks a step, plus 1; 0 if there is none."""
    IS_LENIENT = 19
    """Whether blocked steps count as disabled."""
    IS_STUCK = 20
    """Whether it has a part that is fair only if they do."""
    RETRIES = 21
    """The states of the next pass."""
    NESTED_ROOT = 22
    """In a pass: the next position on the stack to start from."""
    NESTED_PATH = 23
    """In a pass: the length of the path; it follows that of the whole search."""
    NESTED_STACK = 24
    """In a pass: the states on the nested stack."""
    NESTED_VISITS = 25
    """In a pass: the visited states."""


SCC_RUNNING, SCC_DONE, SCC_FULL = range(3)
"""Why the loop returned: its limit is reached, all components are known, there is no room for edges."""
PART_UNFAIR, PART_FAIR, PART_OPEN = range(3)
"""What is known of a part: no subset is fair; it is fair; some states are to be removed."""


@loop
def find_components(region: Region, stacks: SearchStacks, cursor: Int64Array) -> int:
    """Search depth first from all starts, in order, until cursor[SccCursor.LIMIT] units of work; return the status."""
    while cursor[SccCursor.WORK] < cursor[SccCursor.LIMIT]:
        if cursor[SccCursor.IS_NESTED] != 0:
            _advance_pass(region, stacks, cursor)
            continue
        state = integer(-1)
        if cursor[SccCursor.PATH] == 0:
            if not _next_start(region, stacks, cursor):
                return SCC_DONE
            state = number_of(region.waiting, cursor[SccCursor.ROOT])
        else:
            state = _follow(region, stacks, cursor[SccCursor.PATH] - 1)
            if state < 0:
                _backtrack(region, stacks, cursor)
        if state >= 0:
            if cursor[SccCursor.EDGES] + region.search.kernel.instances + 1 > region.graph.room:
                return SCC_FULL
            _visit(region, stacks, cursor, state)
    return SCC_RUNNING


@part
def _next_start(region: Region, stacks: SearchStacks, cursor: Int64Array) -> bool:
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
def _visit(region: Region, stacks: SearchStacks, cursor: Int64Array, state: int) -> None:
    cursor[SccCursor.VISITS] += 1
    _push(stacks, state, cursor[SccCursor.VISITS], cursor[SccCursor.PATH])
    poke32(stacks.stack, cursor[SccCursor.STACK], np.uint64(state))
    cursor[SccCursor.PATH] += 1
    cursor[SccCursor.STACK] += 1
    cursor[SccCursor.WORK] += 1
    cursor[SccCursor.EDGES] = expand_waiting_state(region, state, cursor[SccCursor.EDGES])


@part
def _push(stacks: SearchStacks, state: int, visit: int, length: int) -> None:
    """Add a state to a path of this length, with its visit number."""
    poke32(stacks.marks, state, np.uint64(visit))
    poke32(stacks.path, length, np.uint64(state))
    poke32(stacks.places, length, ZERO)
    poke32(stacks.visits, length, np.uint64(visit))


@part
def _follow(region: Region, stacks: SearchStacks, top: int) -> int:
    """Return the next unvisited target of an edge of the last state on the path, at `top`; -1 if there is none."""
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
    return integer(-1)


@part
def _lower(stacks: SearchStacks, state: int, mark: int) -> None:
    """Lower the mark of a state that reaches a state with this mark."""
    if mark < COMPONENT_DONE and mark < integer(peek32(stacks.marks, state)):
        poke32(stacks.marks, state, np.uint64(mark))


@part
def _leave(stacks: SearchStacks, top: int, bottom: int) -> bool:
    """Remove the last state, at `top`, from a path that begins at `bottom`; return whether a component ends with it."""
    state = integer(peek32(stacks.path, top))
    mark = integer(peek32(stacks.marks, state))
    if mark == integer(peek32(stacks.visits, top)):
        return True
    if top > bottom:
        _lower(stacks, integer(peek32(stacks.path, top - 1)), mark)
    return False


@part
def _backtrack(region: Region, stacks: SearchStacks, cursor: Int64Array) -> None:
    cursor[SccCursor.PATH] -= 1
    top = cursor[SccCursor.PATH]
    if _leave(stacks, top, integer(0)):
        _examine_component(region, stacks, cursor, integer(peek32(stacks.path, top)))


@part
def _examine_component(region: Region, stacks: SearchStacks, cursor: Int64Array, state: int) -> None:
    """Begin to examine the component that ends with a state."""
    bottom = _bottom_of(stacks.stack, cursor[SccCursor.STACK], state)
    cursor[SccCursor.BOTTOM] = bottom
    cursor[SccCursor.STARVES] = 1 if _can_starve(region, stacks, bottom, cursor[SccCursor.STACK]) else 0
    cursor[SccCursor.IS_FAIR] = cursor[SccCursor.BLOCKED] = cursor[SccCursor.IS_LENIENT] = 0
    cursor[SccCursor.IS_STUCK] = cursor[SccCursor.RETRIES] = 0
    if cursor[SccCursor.STACK] - bottom == 1 and _must_leave(region, state):
        _settle(region, stacks, cursor)
        return
    _judge(region, stacks, cursor, (stacks.stack, bottom, cursor[SccCursor.STACK]))
    _continue(region, stacks, cursor)


@part
def _bottom_of(stack: int, top: int, state: int) -> int:
    """Return the position of a state on a stack, not far below its top."""
    bottom = top - 1
    while integer(peek32(stack, bottom)) != state:
        bottom -= 1
    return bottom


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
    """Whether a step with a condition leads from the state to another one: on its own it is neither fair nor stuck."""
    begin, end = edges_of(region.graph, state)
    for at in range(begin, end):
        instance = integer(peek32(region.graph.instances, at))
        if has_bit(region.fairness.constrained, instance) and integer(peek32(region.graph.targets, at)) != state:
            return True
    return False


# Passes over the states of a component.


@part
def _continue(region: Region, stacks: SearchStacks, cursor: Int64Array) -> None:
    """Begin the next pass over the component, or, if none is left, settle it."""
    bottom, top = cursor[SccCursor.BOTTOM], cursor[SccCursor.STACK]
    may_be_stuck = cursor[SccCursor.IS_FAIR] == 0 and cursor[SccCursor.BLOCKED] != 0
    if cursor[SccCursor.RETRIES] == 0 and cursor[SccCursor.IS_LENIENT] == 0 and may_be_stuck:
        cursor[SccCursor.IS_LENIENT] = 1
        for place in range(bottom, top):
            poke32(stacks.marks, integer(peek32(stacks.stack, place)), np.uint64(1))
        _judge(region, stacks, cursor, (stacks.stack, bottom, top))
    if cursor[SccCursor.RETRIES] == 0 or cursor[SccCursor.IS_STUCK] != 0:
        _settle(region, stacks, cursor)
        return
    for place in range(bottom, top):
        state = integer(peek32(stacks.stack, place))
        if integer(peek32(stacks.marks, state)) == MARK_RETRY:
            poke32(stacks.marks, state, ZERO)
    cursor[SccCursor.IS_NESTED] = 1
    cursor[SccCursor.RETRIES] = 0
    cursor[SccCursor.NESTED_ROOT] = bottom
    cursor[SccCursor.NESTED_PATH] = cursor[SccCursor.NESTED_STACK] = cursor[SccCursor.NESTED_VISITS] = 0


@part
def _advance_pass(region: Region, stacks: SearchStacks, cursor: Int64Array) -> None:
    """Do the next step of the search for the components of the states of a pass, whose edges are known."""
    base = cursor[SccCursor.PATH]
    state = integer(-1)
    if cursor[SccCursor.NESTED_PATH] == 0:
        while cursor[SccCursor.NESTED_ROOT] < cursor[SccCursor.STACK]:
            root = integer(peek32(stacks.stack, cursor[SccCursor.NESTED_ROOT]))
            if integer(peek32(stacks.marks, root)) == 0:
                state = root
                break
            cursor[SccCursor.NESTED_ROOT] += 1
        if state < 0:
            _continue(region, stacks, cursor)
            return
    else:
        state = _follow(region, stacks, base + cursor[SccCursor.NESTED_PATH] - 1)
    if state >= 0:
        cursor[SccCursor.NESTED_VISITS] += 1
        _push(stacks, state, cursor[SccCursor.NESTED_VISITS], base + cursor[SccCursor.NESTED_PATH])
        poke32(stacks.nested, cursor[SccCursor.NESTED_STACK], np.uint64(state))
        cursor[SccCursor.NESTED_PATH] += 1
        cursor[SccCursor.NESTED_STACK] += 1
        cursor[SccCursor.WORK] += 1
        return
    cursor[SccCursor.NESTED_PATH] -= 1
    top = base + cursor[SccCursor.NESTED_PATH]
    if _leave(stacks, top, base):
        bottom = _bottom_of(stacks.nested, cursor[SccCursor.NESTED_STACK], integer(peek32(stacks.path, top)))
        _judge(region, stacks, cursor, (stacks.nested, bottom, cursor[SccCursor.NESTED_STACK]))
        cursor[SccCursor.NESTED_STACK] = bottom


@part
def _settle(region: Region, stacks: SearchStacks, cursor: Int64Array) -> None:
    """Mark the states of the component that was examined, and remove it from the stack."""
    bottom = cursor[SccCursor.BOTTOM]
    if cursor[SccCursor.IS_STUCK] != 0:
        if cursor[SccCursor.STUCK] == 0:
            blocked = cursor[SccCursor.BLOCKED] - 1
            cursor[SccCursor.FIRST_STUCK] = integer(peek32(region.waiting.stored, blocked)) + 1
        cursor[SccCursor.STUCK] += 1
    mark = np.uint64(MARK_FAIRLY_ENDS if cursor[SccCursor.STARVES] == 0 else MARK_CAN_STARVE)
    for place in range(bottom, cursor[SccCursor.STACK]):
        state = integer(peek32(stacks.stack, place))
        if integer(peek32(stacks.marks, state)) < MARK_FAIR:
            poke32(stacks.marks, state, mark)
    cursor[SccCursor.STACK] = bottom
    cursor[SccCursor.IS_NESTED] = 0


# Parts.


@part
def _judge(region: Region, stacks: SearchStacks, cursor: Int64Array, span: tuple[int, int, int]) -> None:
    """Mark the states of a part, which `span` gives as a stack with two positions, by what is known of the part."""
    stack, bottom, top = span
    known = _examine_part(region, stacks, cursor, span)
    mark = integer(MARK_FAIRLY_ENDS)
    if known == PART_FAIR:
        if cursor[SccCursor.IS_LENIENT] != 0:
            cursor[SccCursor.IS_STUCK] = 1
        else:
            mark = MARK_FAIR + cursor[SccCursor.FAIR]
            cursor[SccCursor.FAIR] += 1
            cursor[SccCursor.IS_FAIR] = cursor[SccCursor.STARVES] = 1
    for place in range(bottom, top):
        state = integer(peek32(stack, place))
        if known == PART_OPEN and _remains(region, stacks, cursor, state):
            poke32(stacks.marks, state, np.uint64(MARK_RETRY))
            cursor[SccCursor.RETRIES] += 1
        else:
            poke32(stacks.marks, state, np.uint64(mark))


@part
def _examine_part(region: Region, stacks: SearchStacks, cursor: Int64Array, span: tuple[int, int, int]) -> int:
    """Return what is known of a part; the row `_unmet` has its conditions of strong fairness that are not met."""
    stack, bottom, top = span
    words, enabled, unmet = region.fairness.words, stacks.rows, _unmet(region, stacks)
    disabled, ever, taken = enabled + 8 * words, enabled + 16 * words, enabled + 24 * words
    for word in range(words):
        poke(disabled, word, ZERO)
        poke(ever, word, ZERO)
        poke(taken, word, ZERO)
    all_inside, passes_through = True, region.loop != LOOP_THROUGH
    for place in range(bottom, top):
        state = integer(peek32(stack, place))
        if region.loop == LOOP_INSIDE:
            all_inside = all_inside and is_unsatisfied(region, state)
        if region.loop == LOOP_THROUGH:
            passes_through = passes_through or is_unsatisfied(region, state)
        rows = (enabled, stacks.instance_row)
        is_blocked = find_enabled_conditions(region, state, rows, 1 - cursor[SccCursor.IS_LENIENT])
        if is_blocked and cursor[SccCursor.IS_STUCK] == 0:
            cursor[SccCursor.BLOCKED] = state + 1
        for word in range(words):
            poke(disabled, word, peek(disabled, word) | ~peek(enabled, word))
            poke(ever, word, peek(ever, word) | peek(enabled, word))
        begin, end = edges_of(region.graph, state)
        for at in range(begin, end):
            target = integer(peek32(region.graph.targets, at))
            if target != OUTSIDE and integer(peek32(stacks.marks, target)) < COMPONENT_DONE:
                add_taken_conditions(region, state, at, taken)
    weak_unmet, strong_unmet = ZERO, ZERO
    for word in range(words):
        left = ~peek(taken, word)
        weak_unmet |= peek(region.fairness.weak, word) & left & ~peek(disabled, word)
        open_ones = peek(region.fairness.strong, word) & left & peek(ever, word)
        strong_unmet |= open_ones
        poke(unmet, word, open_ones)
    if weak_unmet != ZERO or not passes_through:
        return integer(PART_UNFAIR)
    return integer(PART_FAIR if strong_unmet == ZERO and all_inside else PART_OPEN)


@part
def _unmet(region: Region, stacks: SearchStacks) -> int:
    """Return the address of the row of the conditions of strong fairness that the last part does not meet."""
    return stacks.rows + 32 * region.fairness.words


@part
def _remains(region: Region, stacks: SearchStacks, cursor: Int64Array, state: int) -> bool:
    """Whether a state of the last part is in the next pass: it enables no unmet condition of strong fairness."""
    if region.loop == LOOP_INSIDE and not is_unsatisfied(region, state):
        return False
    enabled, unmet, found = stacks.rows, _unmet(region, stacks), ZERO
    find_enabled_conditions(region, state, (enabled, stacks.instance_row), 1 - cursor[SccCursor.IS_LENIENT])
    for word in range(region.fairness.words):
        found |= peek(enabled, word) & peek(unmet, word)
    return bool(found == ZERO)
