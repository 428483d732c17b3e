"""The loops of a search between two waypoints: closures under free steps, and the assumed events that begin layers.

Words: a *program* is a set of clauses over packed states; it holds where every clause has a literal that does, and a
literal is a leaf with the numbers that it may have. *Limits* are the program that every state on the way satisfies, the
*goal* that of the waypoint. An instance's *kind* says when it is taken; a state is *at rest* when no instance of kind
ROUTINE or PROMPT is enabled, and *idle* when none of kind IDLE_TIME is either. A *layer* is all states that can be
reached with the same number of assumed events. A search is calm or hasty, and a calm one perhaps patient.
"""
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from search.loops.keys import Space, hash_of, key_at
from search.loops.native import ZERO, call, count_up, integer, loop, part, peek, peek16, poke
from search.loops.table import ABSENT, find_or_add, room

NEVER, ROUTINE, PROMPT, IDLE_TIME, EVENT, RARE = range(6)
"""Kinds of instances: left out; taken at any moment; the same, and at once where a search is calm; taken at any moment,
and only at rest where a search is calm; an assumed event, at rest where a search is calm, and only in idle states where
it is patient; an event that counts as two."""

HASTY, CALM, PATIENT = range(3)
"""The manners of a search."""

SEEDS, OTHERS, SEEDS_END, SIZE, MATCHES, GENERATED, PRUNED, FAILED_AT, LIMIT, DONE, ASKED = range(11)
"""What the cursor (an array of int64) holds: the next seed of the layer to expand, the next other state of it, where
the seeds end, the number of states, of matches, of successors generated, of those outside of the limits, the state in
which an action left its domain, the number of expanded states at which to come back, the number of expanded states, and
the place in their order of the next one that is asked for events."""
CURSOR_SIZE = 11

GOING, CLOSED, FULL, FAILED = range(4)
"""Why a loop came back: its limit is reached, the layer is complete, there is no room, an action left its domain."""


class Program(NamedTuple):
    """Clauses over packed states. Literal k reads a field of a word, and looks its number up in `allowed`."""

    words: np.ndarray
    """int64 per literal: which word of the packed state."""
    shifts: np.ndarray
    """uint64 per literal."""
    masks: np.ndarray
    """uint64 per literal."""
    bases: np.ndarray
    """int64 per literal: where its part of `allowed` begins."""
    ends: np.ndarray
    """int64 per clause: where its literals end."""
    allowed: np.ndarray
    """uint8: 1 for each number that makes the literal true."""


class Gap(NamedTuple):
    """A search between two waypoints: the kernel, the states, and per state its parent, last step, depth and layer."""

    expand: int
    row_words: int
    instances: int
    space: Space
    successors: int
    """The address of room for the successors of one state, and so on:"""
    taken: int
    row: int
    hits: int
    bounds: int
    """How many bounds there are; `hits` has room for twice as many: those of the last state, then all that count."""
    kinds: np.ndarray
    """uint8 per instance."""
    busy_row: np.ndarray
    """Bit row of the instances that a state at rest has not enabled."""
    restless_row: np.ndarray
    """Bit row of those that an idle state has not enabled."""
    limits: Program
    goal: Program
    manner: int
    parents: np.ndarray
    steps: np.ndarray
    depths: np.ndarray
    order: np.ndarray
    """The states in the order in which they were expanded."""
    matches: np.ndarray


@part
def holds(program: Program, key: int) -> bool:
    """Whether a program holds in the packed state at an address."""
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
def holding(program: Program, keys: int, words: int, found: np.ndarray) -> None:
    """Set found[n] to whether the program holds in packed state n at an address."""
    for number in range(len(found)):
        found[number] = holds(program, keys + 8 * words * number)


@loop
def close(gap: Gap, cursor: np.ndarray) -> int:
    """Expand states of the layer, nearest first, until the limit or until nothing new is found."""
    while cursor[DONE] < cursor[LIMIT]:
        if room(gap.space, cursor[SIZE]) < gap.instances:
            return FULL
        index = _next(gap, cursor)
        if index == ABSENT:
            return CLOSED
        made = call(gap.expand, (key_at(gap.space, index), gap.row, gap.successors, gap.taken, gap.hits))
        if made < 0:
            cursor[FAILED_AT] = index
            return FAILED
        cursor[GENERATED] += made
        rest = _is_off(gap, gap.busy_row)
        if (rest or gap.manner == HASTY) and holds(gap.goal, key_at(gap.space, index)):
            gap.matches[cursor[MATCHES]] = index
            cursor[MATCHES] += 1
        _keep(gap, cursor, index, (made, integer(rest)))
        gap.order[cursor[DONE]] = index
        cursor[DONE] += 1
    return GOING


@part
def _next(gap: Gap, cursor: np.ndarray) -> int:
    """Take the nearest state that waits, a seed or another; ABSENT if none does."""
    seeds, others = cursor[SEEDS] < cursor[SEEDS_END], cursor[OTHERS] < cursor[SIZE]
    if seeds and others:
        seeds = gap.depths[cursor[SEEDS]] <= gap.depths[cursor[OTHERS]]
    if seeds:
        cursor[SEEDS] += 1
        return cursor[SEEDS] - 1
    if others:
        cursor[OTHERS] += 1
        return cursor[OTHERS] - 1
    return ABSENT


@part
def _is_off(gap: Gap, row: np.ndarray) -> bool:
    """Whether none of a row's instances is enabled in the state that was expanded last."""
    enabled = ZERO
    for word in range(gap.row_words):
        enabled |= peek(gap.row, word) & row[word]
    return enabled == ZERO


@part
def _keep(gap: Gap, cursor: np.ndarray, index: int, made: tuple[int, int]) -> None:
    """Store the free successors of a state; a calm search takes a prompt one alone, and lets idle time be at rest."""
    if gap.manner != HASTY:
        for j in range(made[0]):
            if gap.kinds[integer(peek16(gap.taken, j))] == PROMPT:
                _store(gap, cursor, index, j)
                _count_hits(gap, 0)
                return
    _count_hits(gap, 1)
    for j in range(made[0]):
        kind = gap.kinds[integer(peek16(gap.taken, j))]
        idle = kind == IDLE_TIME and (made[1] != 0 or gap.manner == HASTY)
        if idle or kind in (ROUTINE, PROMPT):
            _store(gap, cursor, index, j)


@part
def _count_hits(gap: Gap, times: int) -> None:
    """Add the bounds hit in the last state to the others, or forget them where a prompt step goes first."""
    for bound in range(gap.bounds):
        count_up(gap.hits, gap.bounds + bound, times * integer(peek(gap.hits, bound)))
        poke(gap.hits, bound, ZERO)


@part
def _store(gap: Gap, cursor: np.ndarray, index: int, j: int) -> None:
    """Store successor j of a state if it is within the limits and new."""
    key = gap.successors + 8 * gap.space.words * j
    if not holds(gap.limits, key):
        cursor[PRUNED] += 1
        return
    size = cursor[SIZE]
    if find_or_add(gap.space, key, hash_of(key, gap.space.words), size) == ABSENT:
        gap.parents[size] = index
        gap.steps[size] = integer(peek16(gap.taken, j))
        gap.depths[size] = gap.depths[index] + 1
        cursor[SIZE] = size + 1


@loop
def seed(gap: Gap, cursor: np.ndarray, kind: int) -> int:
    """Let events of a kind happen in expanded states, from the one asked next to the limit, in their order."""
    while cursor[ASKED] < cursor[LIMIT]:
        if room(gap.space, cursor[SIZE]) < gap.instances:
            return FULL
        index = gap.order[cursor[ASKED]]
        made = call(gap.expand, (key_at(gap.space, index), gap.row, gap.successors, gap.taken, gap.hits))
        if gap.manner == HASTY or _is_off(gap, gap.restless_row if gap.manner == PATIENT else gap.busy_row):
            for j in range(made):
                if gap.kinds[integer(peek16(gap.taken, j))] == kind:
                    _store(gap, cursor, index, j)
        _count_hits(gap, 0)
        cursor[ASKED] += 1
    return CLOSED


@loop
def resting(gap: Gap, found: np.ndarray) -> None:
    """Set found[n] to whether state n is at rest."""
    for index in range(len(found)):
        call(gap.expand, (key_at(gap.space, index), gap.row, gap.successors, gap.taken, gap.hits))
        _count_hits(gap, 0)
        found[index] = _is_off(gap, gap.busy_row)
