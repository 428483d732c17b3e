"""The compiled loops of a segment search: closures under free steps, and the assumed events that begin layers.

Words: a *program* is a conjunction of clauses over packed states; a clause is a disjunction of literals, and a literal
is a leaf with its allowed numbers. The *limits* are the program that every state of the segment satisfies, the *goal*
that of the waypoint. The *kind* of an action instance states when it is taken. A state is *at rest* if no instance of
kind ROUTINE or PROMPT is enabled, and *idle* if none of kind IDLE_TIME is enabled either. A *layer* is the set of all
states that are reached with the same number of assumed events. The *timing* of a search is hasty, calm or patient.
"""
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kwalk.search.native.intrinsics import ZERO, call, count_up, integer, loop, part, peek, peek16, poke
from kwalk.search.visited.hash_table import ABSENT, find_or_add, room_for_keys
from kwalk.search.visited.keys import KeySpace, hash_of, key_at

KIND_NEVER = 0
"""Never taken."""
KIND_ROUTINE = 1
"""Taken at any time."""
KIND_PROMPT = 2
"""Taken at any time; in a calm search at once, before all others."""
KIND_IDLE_TIME = 3
"""Taken at any time; in a calm search only at rest."""
KIND_EVENT = 4
"""An assumed event; in a calm search only at rest, in a patient one only in idle states."""
KIND_RARE = 5
"""An event that counts as two."""

TIMING_HASTY = 0
TIMING_CALM = 1
TIMING_PATIENT = 2
"""When a search takes events and idle time."""

CURSOR_SEEDS = 0
"""Index in the cursor, int64[CURSOR_SIZE]: the next seed of the layer to expand."""
CURSOR_OTHERS = 1
"""The next other state of the layer."""
CURSOR_SEEDS_END = 2
"""Where the seeds end."""
CURSOR_STATES = 3
"""The number of states."""
CURSOR_MATCHES = 4
"""The number of matches."""
CURSOR_GENERATED = 5
"""The number of generated successors."""
CURSOR_PRUNED = 6
"""The number of successors outside of the limits."""
CURSOR_FAILED_AT = 7
"""The state in which an action left its domain."""
CURSOR_LIMIT = 8
"""The number of expanded states at which the loop returns."""
CURSOR_DONE = 9
"""The number of expanded states."""
CURSOR_ASKED = 10
"""The place, in the order of expansion, of the next state whose events are taken."""
CURSOR_SIZE = 11

STATUS_RUNNING = 0
"""The limit is reached."""
STATUS_COMPLETE = 1
"""The layer is complete."""
STATUS_FULL = 2
"""There is no room for more states."""
STATUS_FAILED = 3
"""An action left its domain."""


class ClauseProgram(NamedTuple):
    """Clauses over packed states. Literal k reads a field of a word and looks its number up in `allowed`."""

    words: np.ndarray
    """int64 per literal: the index of the word of the packed state."""
    shifts: np.ndarray
    """uint64 per literal."""
    masks: np.ndarray
    """uint64 per literal."""
    bases: np.ndarray
    """int64 per literal: the start of its part of `allowed`."""
    ends: np.ndarray
    """int64 per clause: the end of its literals."""
    allowed: np.ndarray
    """uint8: 1 for each number for which the literal is true."""


class Segment(NamedTuple):
    """The arrays of a segment search: the kernel, the states, and for each state its parent, last step and depth."""

    expand: int
    row_words: int
    instances: int
    space: KeySpace
    successors: int
    """The address of the buffer for the successors of one state; the next three are addresses, too."""
    taken: int
    row: int
    hits: int
    bounds: int
    """The number of bounds; `hits` has twice as many entries: those of the last state, then the totals."""
    kinds: np.ndarray
    """uint8 per instance."""
    busy_row: np.ndarray
    """Bit row of the instances that are disabled in a state at rest."""
    restless_row: np.ndarray
    """Bit row of the instances that are disabled in an idle state."""
    limits: ClauseProgram
    goal: ClauseProgram
    timing: int
    parents: np.ndarray
    steps: np.ndarray
    depths: np.ndarray
    order: np.ndarray
    """The states in the order of expansion."""
    matches: np.ndarray


@part
def holds(program: ClauseProgram, key: int) -> bool:
    """Return whether a program holds in the packed state at an address."""
    begin = 0
    for clause in range(len(program.ends)):
        found = False
        for literal in range(begin, program.ends[clause]):
            number = (peek(key, program.words[literal]) >> program.shifts[literal]) & program.masks[literal]
            if program.allowed[program.bases[literal] + integer(number)]:
                found = True
                break
        if not found:
            return False
        begin = program.ends[clause]
    return True


@loop
def holding(program: ClauseProgram, keys: int, words: int, found: np.ndarray) -> None:
    """Set found[n] to whether the program holds in the n-th packed state at an address."""
    for number in range(len(found)):
        found[number] = holds(program, keys + 8 * words * number)


@part
def _expand(segment: Segment, index: int) -> int:
    """Write the successors of a state into the buffers; return their number, negative if an action failed."""
    key = key_at(segment.space, index)
    return call(segment.expand, (key, segment.row, segment.successors, segment.taken, segment.hits))


@loop
def close(segment: Segment, cursor: np.ndarray) -> int:
    """Expand states of the layer, nearest first, until the limit or a fixpoint; return a status."""
    while cursor[CURSOR_DONE] < cursor[CURSOR_LIMIT]:
        if room_for_keys(segment.space, cursor[CURSOR_STATES]) < segment.instances:
            return STATUS_FULL
        index = _next(segment, cursor)
        if index == ABSENT:
            return STATUS_COMPLETE
        made = _expand(segment, index)
        if made < 0:
            cursor[CURSOR_FAILED_AT] = index
            return STATUS_FAILED
        cursor[CURSOR_GENERATED] += made
        rest = _is_off(segment, segment.busy_row)
        if (rest or segment.timing == TIMING_HASTY) and holds(segment.goal, key_at(segment.space, index)):
            segment.matches[cursor[CURSOR_MATCHES]] = index
            cursor[CURSOR_MATCHES] += 1
        _store_successors(segment, cursor, index, (made, integer(rest)))
        segment.order[cursor[CURSOR_DONE]] = index
        cursor[CURSOR_DONE] += 1
    return STATUS_RUNNING


@part
def _next(segment: Segment, cursor: np.ndarray) -> int:
    """Take the nearest state that is not expanded, a seed or another; ABSENT if there is none."""
    seeds, others = cursor[CURSOR_SEEDS] < cursor[CURSOR_SEEDS_END], cursor[CURSOR_OTHERS] < cursor[CURSOR_STATES]
    if seeds and others:
        seeds = segment.depths[cursor[CURSOR_SEEDS]] <= segment.depths[cursor[CURSOR_OTHERS]]
    if seeds:
        cursor[CURSOR_SEEDS] += 1
        return cursor[CURSOR_SEEDS] - 1
    if others:
        cursor[CURSOR_OTHERS] += 1
        return cursor[CURSOR_OTHERS] - 1
    return ABSENT


@part
def _is_off(segment: Segment, row: np.ndarray) -> bool:
    """Return whether no instance of a row is enabled in the state that was expanded last."""
    enabled = ZERO
    for word in range(segment.row_words):
        enabled |= peek(segment.row, word) & row[word]
    return enabled == ZERO


@part
def _store_successors(segment: Segment, cursor: np.ndarray, index: int, made: tuple[int, int]) -> None:
    """Store the free successors of a state; if a calm search has a prompt step, only the first of these."""
    if segment.timing != TIMING_HASTY:
        for j in range(made[0]):
            if segment.kinds[integer(peek16(segment.taken, j))] == KIND_PROMPT:
                _store(segment, cursor, index, j)
                _count_hits(segment, 0)
                return
    _count_hits(segment, 1)
    for j in range(made[0]):
        kind = segment.kinds[integer(peek16(segment.taken, j))]
        idle = kind == KIND_IDLE_TIME and (made[1] != 0 or segment.timing == TIMING_HASTY)
        if idle or kind in (KIND_ROUTINE, KIND_PROMPT):
            _store(segment, cursor, index, j)


@part
def _count_hits(segment: Segment, times: int) -> None:
    """Add the bounds hit in the last state, `times` 0 or 1, to the totals, and clear them."""
    for bound in range(segment.bounds):
        count_up(segment.hits, segment.bounds + bound, times * integer(peek(segment.hits, bound)))
        poke(segment.hits, bound, ZERO)


@part
def _store(segment: Segment, cursor: np.ndarray, index: int, j: int) -> None:
    """Store successor j of a state if it is within the limits and new."""
    key = segment.successors + 8 * segment.space.words * j
    if not holds(segment.limits, key):
        cursor[CURSOR_PRUNED] += 1
        return
    size = cursor[CURSOR_STATES]
    if find_or_add(segment.space, key, hash_of(key, segment.space.words), size) == ABSENT:
        segment.parents[size] = index
        segment.steps[size] = integer(peek16(segment.taken, j))
        segment.depths[size] = segment.depths[index] + 1
        cursor[CURSOR_STATES] = size + 1


@loop
def seed(segment: Segment, cursor: np.ndarray, kind: int) -> int:
    """Take the events of a kind in expanded states, in their order, until the limit; return a status."""
    while cursor[CURSOR_ASKED] < cursor[CURSOR_LIMIT]:
        if room_for_keys(segment.space, cursor[CURSOR_STATES]) < segment.instances:
            return STATUS_FULL
        index = segment.order[cursor[CURSOR_ASKED]]
        made = _expand(segment, index)
        row = segment.restless_row if segment.timing == TIMING_PATIENT else segment.busy_row
        if segment.timing == TIMING_HASTY or _is_off(segment, row):
            for j in range(made):
                if segment.kinds[integer(peek16(segment.taken, j))] == kind:
                    _store(segment, cursor, index, j)
        _count_hits(segment, 0)
        cursor[CURSOR_ASKED] += 1
    return STATUS_COMPLETE


@loop
def at_rest(segment: Segment, found: np.ndarray) -> None:
    """Set found[n] to whether state n is at rest."""
    for index in range(len(found)):
        _expand(segment, index)
        _count_hits(segment, 0)
        found[index] = _is_off(segment, segment.busy_row)
