"""Strongly connected components of waiting states, and which of them a behaviour can stay in for ever.

Words: a *component* is a largest set of waiting states in which each leads to each other within it. It is *fair* if
every system instance is disabled in some state of it, or taken by some step within it: then a loop through all of it is
a behaviour that weak fairness allows, and that waits for ever. (A smaller set is never fairer, so components tell all.)
It is *stuck* if it would be fair were the steps that a bound prevents disabled. A state *leads astray* if a fair
component can be reached from it while waiting. A *mark* is what is known of a state: 0 nothing, below FINISHED the
least visit number that it is known to reach, from FINISHED on its fate: SOUND, ASTRAY, or FAIR and up, one for each
fair component.

Source: R. Tarjan, "Depth-first search and linear graph algorithms", SIAM Journal on Computing 1 (1972).
"""
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from search.loops.native import ONE, ZERO, Word, integer, loop, part, peek, peek16, peek32, poke, poke32
from search.loops.waiting import OUTSIDE, Region, edges_of, guards_of, is_in, number_of, uncover

FINISHED = 1 << 31
SOUND, ASTRAY, FAIR = FINISHED, FINISHED + 1, FINISHED + 2

ROOT, LENGTH, HELD, VISITS, EDGES, FAIRS, STUCK, STUCK_AT, BAD, FIRST_BAD, LIMIT, STOP, STORED = range(13)
"""What the cursor holds: the next stored state to begin from, the length of the path, the states on the stack, those
visited, the edges in use, the fair components, the stuck ones and a state of the first of them plus 1, the beginnings
that lead astray and the first of them plus 1, the visits at which to come back, whether to stop at the first such
beginning, and how many states are stored."""
CURSOR_SIZE = 13

GOING, DONE, FULL = range(3)
"""Why the loop came back: its limit is reached, all is known that was asked, there is no room for edges."""


class Stacks(NamedTuple):
    """The addresses of arrays of uint32 with an item per waiting state, and of four rows of instances."""

    marks: int
    path: int
    """The states on the path, from where the search began to where it is."""
    places: int
    """Per state on the path, how many of its edges were followed."""
    visits: int
    """Per state on the path, its visit number."""
    stack: int
    """States whose component is not complete."""
    rows: int
    """Disabled, blocked by a bound, taken, and one to work on."""


@loop
def find_components(region: Region, stacks: Stacks, cursor: np.ndarray) -> int:
    """Follow edges depth first from all beginnings, in order, until cursor[LIMIT] visits; returns why it ended."""
    while cursor[VISITS] < cursor[LIMIT]:
        if cursor[LENGTH] == 0:
            if not _next_root(region, stacks, cursor):
                return DONE
            state = number_of(region.waiting, cursor[ROOT])
        else:
            state = _follow(region, stacks, cursor)
        if state >= 0:
            if cursor[EDGES] + region.search.machine.instances + 1 > region.graph.room:
                return FULL
            _visit(region, stacks, cursor, state)
    return GOING


@part
def _next_root(region: Region, stacks: Stacks, cursor: np.ndarray) -> bool:
    """Go to the next beginning that was not visited, and count those on the way that lead astray."""
    while cursor[ROOT] < cursor[STORED]:
        if peek(region.waiting.begins, cursor[ROOT] // 64) == ZERO:
            cursor[ROOT] = 64 * (cursor[ROOT] // 64 + 1)
            continue
        if is_in(region.waiting.begins, cursor[ROOT]):
            mark = integer(peek32(stacks.marks, number_of(region.waiting, cursor[ROOT])))
            if mark == 0:
                return True
            if mark >= ASTRAY:
                cursor[FIRST_BAD] = cursor[ROOT] + 1 if cursor[BAD] == 0 else cursor[FIRST_BAD]
                cursor[BAD] += 1
                if cursor[STOP] != 0:
                    return False
        cursor[ROOT] += 1
    return False


@part
def _visit(region: Region, stacks: Stacks, cursor: np.ndarray, state: int) -> None:
    cursor[VISITS] += 1
    visit, length = np.uint64(cursor[VISITS]), cursor[LENGTH]
    poke32(stacks.marks, state, visit)
    poke32(stacks.path, length, np.uint64(state))
    poke32(stacks.places, length, ZERO)
    poke32(stacks.visits, length, visit)
    poke32(stacks.stack, cursor[HELD], np.uint64(state))
    cursor[LENGTH] += 1
    cursor[HELD] += 1
    cursor[EDGES] = uncover(region, state, cursor[EDGES])


@part
def _follow(region: Region, stacks: Stacks, cursor: np.ndarray) -> int:
    """Follow the edges of the last state on the path to a state that was not visited; if none is left, go back: -1."""
    top = cursor[LENGTH] - 1
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
    _go_back(region, stacks, cursor)
    return integer(-1)


@part
def _lower(stacks: Stacks, state: int, mark: int) -> None:
    """A state reaches what has this mark."""
    if mark < FINISHED and mark < integer(peek32(stacks.marks, state)):
        poke32(stacks.marks, state, np.uint64(mark))


@part
def _go_back(region: Region, stacks: Stacks, cursor: np.ndarray) -> None:
    cursor[LENGTH] -= 1
    top = cursor[LENGTH]
    state = integer(peek32(stacks.path, top))
    mark = integer(peek32(stacks.marks, state))
    if mark == integer(peek32(stacks.visits, top)):
        _complete(region, stacks, cursor, state)
    elif top > 0:
        _lower(stacks, integer(peek32(stacks.path, top - 1)), mark)


@part
def _complete(region: Region, stacks: Stacks, cursor: np.ndarray, state: int) -> None:
    """The states on the stack from this one on are a component: find out their fate."""
    bottom = cursor[HELD] - 1
    while integer(peek32(stacks.stack, bottom)) != state:
        bottom -= 1
    astray = _leads_astray(region, stacks, bottom, cursor[HELD])
    fate = integer(ASTRAY if astray else SOUND)
    if not (cursor[HELD] - bottom == 1 and _must_leave(region, state)):
        words = region.search.machine.row_words
        for word in range(3 * words):
            poke(stacks.rows, word, ZERO)
        for place in range(bottom, cursor[HELD]):
            _add_state(region, stacks, integer(peek32(stacks.stack, place)))
        fair, stuck = _is_fair(region, stacks)
        if fair:
            fate = FAIR + cursor[FAIRS]
            cursor[FAIRS] += 1
        elif stuck:
            if cursor[STUCK] == 0:
                cursor[STUCK_AT] = integer(peek32(region.waiting.stored, state)) + 1
            cursor[STUCK] += 1
    for place in range(bottom, cursor[HELD]):
        poke32(stacks.marks, integer(peek32(stacks.stack, place)), np.uint64(fate))
    cursor[HELD] = bottom


@part
def _leads_astray(region: Region, stacks: Stacks, bottom: int, top: int) -> bool:
    """Whether an edge leads from a component to a state that leads astray."""
    for place in range(bottom, top):
        begin, end = edges_of(region.graph, integer(peek32(stacks.stack, place)))
        for at in range(begin, end):
            target = integer(peek32(region.graph.targets, at))
            if target != OUTSIDE and integer(peek32(stacks.marks, target)) >= ASTRAY:
                return True
    return False


@part
def _must_leave(region: Region, state: int) -> bool:
    """Whether a system step leads from a state to another: alone it cannot be fair, nor stuck."""
    begin, end = edges_of(region.graph, state)
    for at in range(begin, end):
        instance = integer(peek16(region.graph.instances, at))
        is_system = (peek(region.search.machine.system_row, instance // 64) >> np.uint64(instance % 64)) & ONE
        if is_system != ZERO and integer(peek32(region.graph.targets, at)) != state:
            return True
    return False


@part
def _add_state(region: Region, stacks: Stacks, state: int) -> None:
    """Add to the rows what is disabled, blocked and taken in a state of the component; all of it is unfinished yet."""
    words, row = region.search.machine.row_words, guards_of(region, state)
    free = stacks.rows + 24 * words
    for word in range(words):
        _add(stacks.rows, word, ~peek(row, word))
        poke(free, word, ZERO)
    begin, end = edges_of(region.graph, state)
    for at in range(begin, end):
        instance, target = integer(peek16(region.graph.instances, at)), integer(peek32(region.graph.targets, at))
        bit = ONE << np.uint64(instance % 64)
        _add(free, instance // 64, bit)
        if target != OUTSIDE and integer(peek32(stacks.marks, target)) < FINISHED:
            _add(stacks.rows, 2 * words + instance // 64, bit)
    for word in range(words):
        _add(stacks.rows, words + word, peek(row, word) & ~peek(free, word))


@part
def _add(row: int, word: int, bits: Word) -> None:
    poke(row, word, peek(row, word) | bits)


@part
def _is_fair(region: Region, stacks: Stacks) -> tuple[bool, bool]:
    """Whether the component with these rows is fair; whether it is so if a blocked step counts as disabled."""
    words, missing, blocked = region.search.machine.row_words, ZERO, ZERO
    for word in range(words):
        left = peek(region.search.machine.system_row, word) & ~peek(stacks.rows, word)
        left &= ~peek(stacks.rows, 2 * words + word)
        missing |= left
        blocked |= left & ~peek(stacks.rows, words + word)
    return missing == ZERO, blocked == ZERO
