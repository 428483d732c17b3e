"""The shortest way on from a waiting state, while waiting: to where a behaviour can stay, or around within that.

Words: see `components`. A *need* is a system instance that a loop has neither taken nor met disabled so far.
"""
from __future__ import annotations

import numpy as np

from search.loops.components import FAIR, Stacks
from search.loops.native import ZERO, integer, loop, part, peek, peek16, peek32, poke32
from search.loops.waiting import OUTSIDE, Region, edges_of, guards_of, has_instance

START, GOAL, HOME, FOUND, LENGTH = range(5)
"""What the errand holds: where to begin, what for, where to go if that is home; then where it ended, and in how many
steps (-1 if there is no way). Their instances are in `stacks.path`, the last one first."""
ERRAND_SIZE = 5

TO_A_FAIR_ONE, TO_REST, TO_A_NEED, TO_HOME = range(4)
"""Goals: a state of a fair component; a state where none of the needs is enabled; within the component, a step that is
needed or a state where one of the needs is disabled; within the component, a certain state."""


@loop
def find_way(region: Region, stacks: Stacks, asked: np.ndarray, needs: int) -> None:
    """Run an errand breadth first; needs are at an address, as a bit row. `stacks.visits` must be zeros.

    They are again when it is done. `stacks.path`, `places` and `stack` are overwritten.
    """
    asked[FOUND], asked[LENGTH] = asked[START], integer(-1)
    poke32(stacks.stack, 0, np.uint64(asked[START]))
    poke32(stacks.visits, asked[START], np.uint64(asked[START] + 1))
    mark, seen, reached = peek32(stacks.marks, asked[START]), integer(1), integer(0)
    if asked[GOAL] <= TO_REST and _is_goal(region, stacks, (asked[GOAL], asked[HOME], asked[START], needs)):
        asked[LENGTH] = 0
    while reached < seen and asked[LENGTH] < 0:
        state = integer(peek32(stacks.stack, reached))
        reached += 1
        begin, end = edges_of(region.graph, state)
        for at in range(begin, end):
            target = integer(peek32(region.graph.targets, at))
            if target == OUTSIDE or (asked[GOAL] >= TO_A_NEED and peek32(stacks.marks, target) != mark):
                continue
            fresh = peek32(stacks.visits, target) == ZERO
            if fresh:
                poke32(stacks.visits, target, np.uint64(state + 1))
                poke32(stacks.places, target, np.uint64(at - begin))
                poke32(stacks.stack, seen, np.uint64(target))
                seen += 1
            instance = integer(peek16(region.graph.instances, at))
            needed = asked[GOAL] == TO_A_NEED and has_instance(needs, instance) != ZERO
            if needed or (fresh and _is_goal(region, stacks, (asked[GOAL], asked[HOME], target, needs))):
                _retrace(region, stacks, asked, (state, at))
                break
    for place in range(seen):
        poke32(stacks.visits, integer(peek32(stacks.stack, place)), ZERO)


@part
def _is_goal(region: Region, stacks: Stacks, asked: tuple[int, int, int, int]) -> bool:
    """Whether the errand ends in a state; asked: the goal, home, the state, the needs."""
    goal, home, state, needs = asked
    if goal == TO_A_FAIR_ONE:
        return integer(peek32(stacks.marks, state)) >= FAIR
    if goal == TO_HOME:
        return state == home
    row, met, left = guards_of(region, state), ZERO, ZERO
    for word in range(region.search.machine.row_words):
        met |= peek(needs, word) & ~peek(row, word)
        left |= peek(needs, word) & peek(row, word)
    return left == ZERO if goal == TO_REST else met != ZERO


@part
def _retrace(region: Region, stacks: Stacks, asked: np.ndarray, last: tuple[int, int]) -> None:
    """Write the instances of the way that ends with the step at an edge of a state."""
    state, at = last
    asked[FOUND] = integer(peek32(region.graph.targets, at))
    poke32(stacks.path, 0, peek16(region.graph.instances, at))
    length = integer(1)
    while state != asked[START]:
        parent = integer(peek32(stacks.visits, state)) - 1
        begin, _ = edges_of(region.graph, parent)
        poke32(stacks.path, length, peek16(region.graph.instances, begin + integer(peek32(stacks.places, state))))
        length += 1
        state = parent
    asked[LENGTH] = length
