"""The compiled loops of a segment search: closures under free steps, and the assumed events that begin layers.

Words: a *program* is a conjunction of clauses over packed states; a clause is a disjunction of literals, and a literal
is a leaf with its allowed numbers. The *limits* are the program that every state of the segment satisfies, the *goal*
that of the waypoint. The *kind* of an action instance states when it is taken. A state is *at rest* if no instance of
kind ROUTINE or PROMPT is enabled, and *idle* if none of kind IDLE_TIME is enabled either. A *layer* is the set of all
states that are reached with the same number of assumed events. The *timing* of a search is hasty, eager, calm or
patient. The key of a state is the packed state and, if there are logs, behind it its *position* in each log: how many
of the logged steps have been taken. A step that fits the next logged steps advances the position as far as it can: that
is never worse than to wait for another step that fits.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np

from kwalk.search.native.intrinsics import (
    ONE,
    ZERO,
    call,
    call_void,
    count_up,
    integer,
    lowest_bit,
    peek,
    peek32,
    poke,
    poke32,
)
from kwalk.search.native.loops import BoolArray, ByteArray, Int64Array, Uint32Array, WordArray, loop, part
from kwalk.search.visited.hash_table import ABSENT, find_or_add, room_for_keys
from kwalk.search.visited.keys import KeySpace, hash_of, key_at


class StepKind(IntEnum):
    """When an action instance is taken."""

    NEVER = 0
    ROUTINE = 1
    """At any time."""
    PROMPT = 2
    """At any time; in a calm search at once, before all others."""
    IDLE_TIME = 3
    """At any time; in a calm search only at rest."""
    EVENT = 4
    """An assumed event; in a calm search only at rest, in a patient one only in idle states."""
    RARE = 5
    """An event that counts as two."""


TIMING_HASTY = 0
TIMING_CALM = 1
TIMING_PATIENT = 2
TIMING_EAGER = 3
"""When a search takes events and idle time. An eager one takes events as a hasty one, and all else as a calm one."""


class SegmentCursor(IntEnum):
    """The fields of the cursor, int64[len(SegmentCursor)]."""

    SEEDS = 0
    """The next seed of the layer to expand."""
    OTHERS = 1
    """The next other state of the layer."""
    SEEDS_END = 2
    """Where the seeds end."""
    STATES = 3
    """The number of states."""
    MATCHES = 4
    """The number of matches."""
    FAILED_AT = 5
    """The state in which an action left its domain."""
    LIMIT = 6
    """The number of expanded states at which the loop returns."""
    DONE = 7
    """The number of expanded states."""
    ASKED = 8
    """The place, in the order of expansion, of the next state whose events are taken."""


class SegmentStatus(IntEnum):
    """Why a loop returned."""

    RUNNING = 0
    """The limit is reached."""
    COMPLETE = 1
    """The layer is complete."""
    FULL = 2
    """There is no room for more states."""
    FAILED = 3
    """An action left its domain."""


class ClauseProgram(NamedTuple):
    """Clauses over packed states. Literal k reads a field of a word and looks its number up in `allowed`."""

    words: Int64Array
    """int64 per literal: the index of the word of the packed state."""
    shifts: WordArray
    """uint64 per literal."""
    masks: WordArray
    """uint64 per literal."""
    bases: Int64Array
    """int64 per literal: the start of its part of `allowed`."""
    ends: Int64Array
    """int64 per clause: the end of its literals."""
    allowed: ByteArray
    """uint8: 1 for each number for which the literal is true."""


class LogProgram(NamedTuple):
    """The logged steps of a segment, log after log; a position is a field of `POSITION_BITS` bits."""

    first_word: int
    """The word of a key in which the positions begin: the words of a packed state."""
    begins: Int64Array
    """int64 per log: where its steps begin."""
    ends: Int64Array
    """int64 per log: how many of its steps may be taken before the waypoint."""
    due: Int64Array
    """int64 per log: how many of its steps have been taken at the waypoint."""
    rows: WordArray
    """uint64[steps * row_words]: bit rows of the action instances of which one is the step."""
    distinct: ByteArray
    """uint8 per step: whether it is another step than the one before."""
    clauses: Int64Array
    """int64 per step: the end of its clauses in `after`."""
    after: ClauseProgram
    """The conditions on the states after the steps, one after another."""
    clauses_before: Int64Array
    before: ClauseProgram
    """The same for the states before the steps."""


POSITION_BITS = 16
POSITIONS_PER_WORD = 64 // POSITION_BITS
MOST_LOGGED = (1 << POSITION_BITS) - 1
"""The most steps of a log."""
_POSITION_MASK = np.uint64(MOST_LOGGED)


class Segment(NamedTuple):
    """The arrays of a segment search: the kernel, the states, and for each state its parent, last step and depth."""

    expand: int
    """The address of plain Python's function; 0 for compiled code: loops evaluate guards, and apply what they need."""
    guards: int
    apply: int
    row_words: int
    instances: int
    space: KeySpace
    successors: int
    """The address of the buffer for the successors of one state; the next three are addresses, too."""
    successor_instances: int
    row: int
    hits: int
    bounds: int
    """The number of bounds; `hits` has twice as many entries: those of the last state, then the totals."""
    prompt_row: WordArray
    """Bit row of the instances of kind PROMPT."""
    free_row: WordArray
    """Bit row of those of kind ROUTINE or PROMPT."""
    idle_row: WordArray
    """Bit row of those of kind IDLE_TIME."""
    event_row: WordArray
    """Bit row of the assumed events that are taken."""
    busy_row: WordArray
    """Bit row of the instances that are disabled in a state at rest."""
    restless_row: WordArray
    """Bit row of the instances that are disabled in an idle state."""
    limits: ClauseProgram
    goal: ClauseProgram
    logs: LogProgram
    key: int
    """The address of a buffer for one key."""
    timing: int
    parents: Int64Array
    steps: Uint32Array
    depths: Int64Array
    order: Int64Array
    """The states in the order of expansion."""
    matches: Int64Array


@part
def holds(program: ClauseProgram, key: int) -> bool:
    """Return whether a program holds in the packed state at an address."""
    return holds_part(program, 0, len(program.ends), key)


@part
def holds_part(program: ClauseProgram, first: int, end: int, key: int) -> bool:
    """Return whether the clauses from the first one up to an end hold in the packed state at an address."""
    begin = 0 if first == 0 else program.ends[first - 1]
    for clause in range(first, end):
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
def holding(program: ClauseProgram, keys: int, words: int, results: BoolArray) -> None:
    """Set results[n] to whether the program holds in the n-th packed state at an address."""
    for number in range(len(results)):
        results[number] = holds(program, keys + 8 * words * number)


@part
def _expand(segment: Segment, index: int) -> int:
    """Let plain Python write the successors of a state into the buffers; return how many, negative if one failed."""
    key = key_at(segment.space, index)
    return call(segment.expand, (key, segment.row, segment.successors, segment.successor_instances, segment.hits))


@part
def _apply(segment: Segment, index: int, row: WordArray, counts: tuple[int, int]) -> int:
    """Write the successors of a state by the enabled instances of a row into the buffers, in their order.

    The counts are how many successors there are already, and at how many this ends. Return how many there are then,
    negative if an instance failed.
    """
    key, made = key_at(segment.space, index), counts[0]
    for word in range(segment.row_words):
        left = peek(segment.row, word) & row[word]
        while left != ZERO and made < counts[1]:
            instance = 64 * word + lowest_bit(left)
            left &= left - ONE
            after = segment.successors + 8 * segment.logs.first_word * made
            result = call(segment.apply, (instance, key, after))
            if result < 0:
                return result
            if result > 0:
                count_up(segment.hits, result - 1, 1)
            else:
                poke32(segment.successor_instances, made, instance)
                made += 1
    return made


@part
def _free_steps(segment: Segment, index: int) -> int:
    """Write the free successors of a state into the buffers: if a calm search has a prompt step, only the first.

    Return how many there are, negative if an instance failed.
    """
    if segment.expand:
        return _expand(segment, index)
    call_void(segment.guards, (key_at(segment.space, index), segment.row))
    if segment.timing != TIMING_HASTY:
        made = _apply(segment, index, segment.prompt_row, (0, 1))
        if made != 0:
            return made
    made = _apply(segment, index, segment.free_row, (0, segment.instances))
    if made >= 0 and (segment.timing == TIMING_HASTY or _is_off(segment, segment.busy_row)):
        return _apply(segment, index, segment.idle_row, (made, segment.instances))
    return made


@part
def _events(segment: Segment, index: int) -> int:
    """Write the successors of a state by assumed events, if they may happen there; return as `_free_steps`."""
    if segment.expand:
        return _expand(segment, index)
    call_void(segment.guards, (key_at(segment.space, index), segment.row))
    if segment.timing not in (TIMING_HASTY, TIMING_EAGER):
        row = segment.restless_row if segment.timing == TIMING_PATIENT else segment.busy_row
        if not _is_off(segment, row):
            return 0
    return _apply(segment, index, segment.event_row, (0, segment.instances))


@loop
def close(segment: Segment, cursor: Int64Array) -> int:
    """Expand states of the layer, nearest first, until the limit or a fixpoint; return a status."""
    while cursor[SegmentCursor.DONE] < cursor[SegmentCursor.LIMIT]:
        if room_for_keys(segment.space, cursor[SegmentCursor.STATES]) < segment.instances:
            return SegmentStatus.FULL
        index = _next(segment, cursor)
        if index == ABSENT:
            return SegmentStatus.COMPLETE
        made = _free_steps(segment, index)
        if made < 0:
            cursor[SegmentCursor.FAILED_AT] = index
            return SegmentStatus.FAILED
        rest = _is_off(segment, segment.busy_row)
        if (rest or segment.timing == TIMING_HASTY) and _is_match(segment, key_at(segment.space, index)):
            segment.matches[cursor[SegmentCursor.MATCHES]] = index
            cursor[SegmentCursor.MATCHES] += 1
        _store_successors(segment, cursor, index, made)
        segment.order[cursor[SegmentCursor.DONE]] = index
        cursor[SegmentCursor.DONE] += 1
    return SegmentStatus.RUNNING


@part
def _is_match(segment: Segment, key: int) -> bool:
    """Return whether a state matches the waypoint, and has taken the logged steps that come before it."""
    logs = segment.logs
    for log in range(len(logs.due)):
        if _position(logs, key, log) < logs.due[log]:
            return False
    return holds(segment.goal, key)


@part
def _position(logs: LogProgram, key: int, log: int) -> int:
    """Return the position of a state in a log."""
    shift = np.uint64(POSITION_BITS * (log % POSITIONS_PER_WORD))
    return integer((peek(key, logs.first_word + log // POSITIONS_PER_WORD) >> shift) & _POSITION_MASK)


@part
def _next(segment: Segment, cursor: Int64Array) -> int:
    """Take the nearest state that is not expanded, a seed or another; ABSENT if there is none."""
    seeds = cursor[SegmentCursor.SEEDS] < cursor[SegmentCursor.SEEDS_END]
    others = cursor[SegmentCursor.OTHERS] < cursor[SegmentCursor.STATES]
    if seeds and others:
        seeds = segment.depths[cursor[SegmentCursor.SEEDS]] <= segment.depths[cursor[SegmentCursor.OTHERS]]
    if seeds:
        cursor[SegmentCursor.SEEDS] += 1
        return integer(cursor[SegmentCursor.SEEDS]) - 1
    if others:
        cursor[SegmentCursor.OTHERS] += 1
        return integer(cursor[SegmentCursor.OTHERS]) - 1
    return ABSENT


@part
def _is_off(segment: Segment, row: WordArray) -> bool:
    """Return whether no instance of a row is enabled in the state that was expanded last."""
    enabled = ZERO
    for word in range(segment.row_words):
        enabled |= peek(segment.row, word) & row[word]
    return bool(enabled == ZERO)


@part
def _store_successors(segment: Segment, cursor: Int64Array, index: int, count: int) -> None:
    """Store the successors in the buffers, and add the bounds that were hit to the totals."""
    for j in range(count):
        _store(segment, cursor, index, j)
    for bound in range(segment.bounds):
        count_up(segment.hits, segment.bounds + bound, integer(peek(segment.hits, bound)))
        poke(segment.hits, bound, ZERO)


@part
def _store(segment: Segment, cursor: Int64Array, index: int, j: int) -> None:
    """Store successor j of a state if it is within the limits and new."""
    key = segment.successors + 8 * segment.logs.first_word * j
    if not holds(segment.limits, key):
        return
    if len(segment.logs.begins):
        key = _with_positions(segment, key, index, integer(peek32(segment.successor_instances, j)))
    size = cursor[SegmentCursor.STATES]
    if find_or_add(segment.space, key, hash_of(key, segment.space.words), size) == ABSENT:
        segment.parents[size] = index
        segment.steps[size] = integer(peek32(segment.successor_instances, j))
        segment.depths[size] = segment.depths[index] + 1
        cursor[SegmentCursor.STATES] = size + 1


@part
def _with_positions(segment: Segment, state: int, before: int, instance: int) -> int:
    """Return the address of the key of a successor: its packed state, and how far its last step gets in each log."""
    logs, parent = segment.logs, key_at(segment.space, before)
    for word in range(logs.first_word):
        poke(segment.key, word, peek(state, word))
    for word in range(logs.first_word, segment.space.words):
        poke(segment.key, word, ZERO)
    for log in range(len(logs.begins)):
        position = _advanced(segment, (log, _position(logs, parent, log)), parent, instance)
        word = logs.first_word + log // POSITIONS_PER_WORD
        shifted = np.uint64(position) << np.uint64(POSITION_BITS * (log % POSITIONS_PER_WORD))
        poke(segment.key, word, peek(segment.key, word) | shifted)
    return segment.key


@part
def _advanced(segment: Segment, at: tuple[int, int], parent: int, instance: int) -> int:
    """Return the position in a log after a step from the state at an address to the one in the buffer."""
    logs, (log, position) = segment.logs, at
    while position < logs.ends[log]:
        number = logs.begins[log] + position
        if position > at[1] and logs.distinct[number]:
            return position
        if not _is_step(segment, number, parent, instance):
            return position
        position += 1
    return position


@part
def _is_step(segment: Segment, number: int, parent: int, instance: int) -> bool:
    """Return whether a step is the logged one of this number."""
    logs = segment.logs
    row = logs.rows[number * segment.row_words + instance // 64]
    if (row >> np.uint64(instance % 64)) & np.uint64(1) == ZERO:
        return False
    first = 0 if number == 0 else logs.clauses[number - 1]
    if not holds_part(logs.after, first, logs.clauses[number], segment.key):
        return False
    first = 0 if number == 0 else logs.clauses_before[number - 1]
    return holds_part(logs.before, first, logs.clauses_before[number], parent)


@loop
def seed(segment: Segment, cursor: Int64Array) -> int:
    """Take the events in expanded states, in their order, until the limit; return a status."""
    while cursor[SegmentCursor.ASKED] < cursor[SegmentCursor.LIMIT]:
        if room_for_keys(segment.space, cursor[SegmentCursor.STATES]) < segment.instances:
            return SegmentStatus.FULL
        index = segment.order[cursor[SegmentCursor.ASKED]]
        made = _events(segment, index)
        if made < 0:
            cursor[SegmentCursor.FAILED_AT] = index
            return SegmentStatus.FAILED
        _store_successors(segment, cursor, index, made)
        cursor[SegmentCursor.ASKED] += 1
    return SegmentStatus.COMPLETE


@loop
def at_rest(segment: Segment, results: BoolArray) -> None:
    """Set results[n] to whether state n is at rest."""
    for index in range(len(results)):
        if segment.expand:
            _expand(segment, index)
        else:
            call_void(segment.guards, (key_at(segment.space, index), segment.row))
        results[index] = _is_off(segment, segment.busy_row)
