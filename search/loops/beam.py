"""Beam search along a behaviour: breadth-first, but of each level only the states most like the behaviour's own.

Words: the *trail* is the packed states of the behaviour. A state is as *far* as the bits in which it differs from that
one of the trail's next states that it is most like. Of each level the `width` nearest states are kept, earlier
discovered ones first among equals.
"""
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from search.loops.keys import Space, hash_of, key_at
from search.loops.native import bit_count, call, call_void, integer, loop, part, peek, peek16
from search.loops.replays import Quest, has_bit, shows
from search.loops.table import ABSENT, find_or_add, room

SIZE, DEPTH, LIMIT, WIDTH, LAST, STEP, DROPPED = range(7)
"""What the cursor (an array of int64) holds: how many states are stored, the depth of the present level, the depth to
stop at, how many states of a level are kept, what was met (the state before the last step, and that step), and how many
states were not kept, and steps not allowed: if none, the search was exhaustive."""
CURSOR_SIZE = 7

NOTHING, MET, FULL, FAILED = range(4)
"""Why a search came back: nothing is met within the limit, something is, no room is left, an action failed."""
OTHER_END = -1
"""The step to a state that shows what is looked for after another end: it goes no further."""
AHEAD = 16
"""With how many of the trail's next states a state is compared."""


class Beam(NamedTuple):
    """What the loop needs besides the cursor."""

    quest: Quest
    space: Space
    trail: np.ndarray
    """uint64[states, words]."""
    allowed: int
    """The address of a bit row: the instances that may be taken."""
    successors: int
    """The address of room for the successors of one state, and so on:"""
    taken: int
    row: int
    hits: int
    parents: np.ndarray
    steps: np.ndarray
    distances: np.ndarray
    """Per stored state."""
    kept: np.ndarray
    """The numbers of the states of a level that are expanded; as many as the width."""
    shares: np.ndarray
    """How many states of a level there are at each distance."""


@loop
def follow(beam: Beam, cursor: np.ndarray) -> int:
    """Search from the stored states for what the quest looks for, in fewer steps than the limit."""
    kept = cursor[SIZE]
    for number in range(kept):
        beam.kept[number] = number
    while cursor[DEPTH] < cursor[LIMIT] and kept > 0:
        first = cursor[SIZE]
        for place in range(kept):
            if room(beam.space, cursor[SIZE]) < beam.quest.machine.instances:
                return FULL
            became = _expand(beam, cursor, beam.kept[place])
            if became != NOTHING:
                return became
        cursor[DEPTH] += 1
        _measure(beam, cursor, first)
        kept = _keep(beam, cursor, first)
    return NOTHING


@part
def _expand(beam: Beam, cursor: np.ndarray, index: int) -> int:
    """Store the new successors of a state; MET if a step from it shows something."""
    state, words = key_at(beam.space, index), beam.quest.machine.words
    made = call(beam.quest.machine.expand, (state, beam.row, beam.successors, beam.taken, beam.hits))
    if made < 0:
        return FAILED
    for j in range(made):
        if not has_bit(beam.allowed, integer(peek16(beam.taken, j))):
            cursor[DROPPED] += 1
            continue
        key, size = beam.successors + 8 * words * j, cursor[SIZE]
        new = find_or_add(beam.space, key, hash_of(key, words), size) == ABSENT
        if new:
            beam.parents[size], beam.steps[size] = index, integer(peek16(beam.taken, j))
            cursor[SIZE] = size + 1
        if (new or beam.quest.machine.checks_steps != 0) and _shows(beam.quest, state, key):
            if has_bit(beam.quest.ends, integer(peek16(beam.taken, j))):
                cursor[LAST], cursor[STEP] = index, integer(peek16(beam.taken, j))
                return MET
            if new:
                beam.steps[size] = OTHER_END
    return NOTHING


@part
def _shows(quest: Quest, before: int, state: int) -> bool:
    if quest.dead != 0 or quest.needs_quiet != 0:
        call_void(quest.guards, (state, quest.row))
    return shows(quest, before, state)


@part
def _measure(beam: Beam, cursor: np.ndarray, first: int) -> None:
    """How far the states of the new level are, and how many are at each distance."""
    words, last = beam.quest.machine.words, min(cursor[DEPTH] + AHEAD, len(beam.trail))
    beam.shares[:] = 0
    for index in range(first, cursor[SIZE]):
        key, least = key_at(beam.space, index), len(beam.shares) - 1
        for place in range(cursor[DEPTH], last):
            far = integer(0)
            for word in range(words):
                far += bit_count(peek(key, word) ^ beam.trail[place, word])
            least = min(least, far)
        beam.distances[index] = least
        beam.shares[least] += integer(beam.steps[index] != OTHER_END)


@part
def _keep(beam: Beam, cursor: np.ndarray, first: int) -> int:
    """Choose the states of the new level that are kept; how many they are."""
    edge, left = integer(0), cursor[WIDTH]
    while edge < len(beam.shares) - 1 and beam.shares[edge] <= left:
        left -= beam.shares[edge]
        edge += 1
    kept = integer(0)
    for index in range(first, cursor[SIZE]):
        far = beam.distances[index]
        if beam.steps[index] != OTHER_END and (far < edge or (far == edge and left > 0)):
            left -= integer(far == edge)
            beam.kept[kept] = index
            kept += 1
    cursor[DROPPED] += cursor[SIZE] - first - kept
    return kept
