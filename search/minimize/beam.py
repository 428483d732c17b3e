"""Beam search along a behaviour: breadth-first, but each level keeps only the states most like the behaviour's own.

Words: the *guide* is the packed states of the behaviour to shorten. The *distance* of a state is the number of bits in
which it differs from the most similar of the guide's next LOOKAHEAD states. Each level keeps the `width` states of the
least distance, earlier discovered ones first among equals; so the search finds behaviours that take the same steps in
another order, or other steps, and need fewer. A search that discards nothing is exhaustive. The widest beam finds the
shortest behaviour in most cases.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from kwalk.search.kernel.interface import Kernel, bit_row
from kwalk.search.minimize.ddmin import MAX_STARTS, Shrinker
from kwalk.search.minimize.replay import Behaviour, ReplayTarget, is_shown
from kwalk.search.native.bits import has_bit
from kwalk.search.native.intrinsics import bit_count, call, call_void, integer, peek, peek32
from kwalk.search.native.loops import Int64Array, WordMatrix, loop, part
from kwalk.search.native.memory import reserve
from kwalk.search.visited.hash_table import ABSENT, find_or_add, room_for_keys
from kwalk.search.visited.key_store import KeyStore
from kwalk.search.visited.keys import KeySpace, hash_of, key_at

BRANCHING = 8
"""New states per expanded state for which memory is reserved, on average."""
MAX_STATES = 1 << 21
"""States for which memory is reserved, at most."""
LOOKAHEAD = 16
"""How many of the guide's next states a state is compared with."""

CURSOR_SIZE, CURSOR_DEPTH, CURSOR_LIMIT, CURSOR_WIDTH, CURSOR_LAST, CURSOR_STEP, CURSOR_DISCARDED = range(7)
"""Fields of the cursor, int64[7]: the number of stored states, the depth of the present level, the depth at which to
stop, how many states of a level are kept, the hit (the number of the state before its last step, and that step), and
the number of states and steps that were discarded: 0 iff the search was exhaustive."""
BEAM_EMPTY, BEAM_HIT, BEAM_FULL, BEAM_FAILED = range(4)
"""Why a search ended: no hit within the limit, a hit, no memory left, or an action failed."""
WRONG_FINAL_STEP = -1
"""The step to a state that shows the target after a step that is not final: the state is not expanded."""


class BeamSearch:
    """Beam searches of one width. Memory is reserved by the first one, and used again by the next."""

    def __init__(self, kernel: Kernel, width: int) -> None:
        self.kernel, self.width = kernel, width
        self.successors = np.zeros((kernel.instances + 1, kernel.words), np.uint64)
        self.successor_instances = np.zeros(kernel.instances + 1, np.uint32)
        self.row = np.zeros(kernel.instance_words, np.uint64)
        self.allowed = np.zeros(kernel.instance_words, np.uint64)
        self.hits = np.zeros(len(kernel.bounds) + 1, np.int64)
        self.histogram = np.zeros(64 * kernel.words + 1, np.int64)
        self.max_states = 0
        self.was_exhaustive = False

    def compile_loop(self, target: ReplayTarget, start: bytes) -> None:
        """Compile the loop (or load it from the cache), so that this takes no time of a later search."""
        self._allocate(BRANCHING * self.width)
        search_along(self._view(target, packed_rows([start], self.kernel.words)), self._cursor([start], 0))

    def _allocate(self, states: int) -> None:
        self.max_states = min(MAX_STATES, 1 << (states - 1).bit_length())
        bytes_per_state = 8 * self.kernel.words + 8
        self.states = KeyStore(self.kernel.words, self.max_states * bytes_per_state, widest_step=self.kernel.instances)
        while self.states.grow(0):
            pass
        self.parents, self.steps, self.distances = (reserve(self.states.most, np.int64) for _ in range(3))
        self.selected = np.zeros(max(self.width, self.states.most // BRANCHING), np.int64)

    def search(self, target: ReplayTarget, shrinker: Shrinker, best: Behaviour) -> Behaviour | None:
        """Return a shorter behaviour than the best one, from any start of the shrinker; None if the beam finds none."""
        if not best.steps:
            return None
        starts = list(dict.fromkeys((best.states[0], *shrinker.starts[:MAX_STARTS])))
        allowed = (step for step in range(self.kernel.instances) if shrinker.allows(step))
        self.allowed[:] = bit_row(allowed, self.kernel.instance_words)
        found = self._shorter(target, best, starts)
        if found is not None:
            return shrinker.replay(Behaviour((), (starts[found[0]],)), found[1], len(best))
        if self.was_exhaustive and set(shrinker.starts) <= set(starts):
            shrinker.is_proved = True
        return None

    def _shorter(
        self, target: ReplayTarget, best: Behaviour, starts: Sequence[bytes]
    ) -> tuple[int, tuple[int, ...]] | None:
        """Return the number of a start, and fewer steps from there that show the target; None without a hit."""
        wanted = len(starts) + BRANCHING * self.width * len(best)
        if self.max_states < min(MAX_STATES, wanted):
            self._allocate(wanted)
        guide = packed_rows(best.states, self.kernel.words)
        cursor = self._cursor(starts, len(best) - 1)
        result = search_along(self._view(target, guide), cursor)
        self.was_exhaustive = result == BEAM_EMPTY and cursor[CURSOR_DISCARDED] == 0
        if result != BEAM_HIT:
            return None
        return self._path(int(cursor[CURSOR_LAST]), int(cursor[CURSOR_STEP]), len(starts))

    def _cursor(self, starts: Sequence[bytes], limit: int) -> np.ndarray:
        """Empty the store, add the starts, and return the cursor of a new search."""
        self.states.table[:] = 0
        self.states.filled[:] = 0
        cursor = np.zeros(CURSOR_DISCARDED + 1, np.int64)
        cursor[CURSOR_SIZE] = self.states.add(packed_rows(starts, self.kernel.words), 0)
        cursor[CURSOR_LIMIT], cursor[CURSOR_WIDTH] = limit, self.width
        return cursor

    def _view(self, target: ReplayTarget, guide: np.ndarray) -> BeamView:
        return BeamView(
            target=target,
            space=self.states.space,
            guide=guide,
            allowed=self.allowed.ctypes.data,
            successors=self.successors.ctypes.data,
            successor_instances=self.successor_instances.ctypes.data,
            row=self.row.ctypes.data,
            hits=self.hits.ctypes.data,
            parents=self.parents,
            steps=self.steps,
            distances=self.distances,
            selected=self.selected,
            histogram=self.histogram,
        )

    def _path(self, index: int, last_step: int, starts: int) -> tuple[int, tuple[int, ...]]:
        """Return the number of the start, and the steps from there to the hit."""
        steps = [last_step]
        while index >= starts:
            steps.append(int(self.steps[index]))
            index = int(self.parents[index])
        return index, tuple(reversed(steps))


def packed_rows(states: Sequence[bytes], words: int) -> np.ndarray:
    """Return packed states as uint64[n, words]."""
    return np.frombuffer(bytearray().join(states), np.uint64).reshape(-1, words)


class BeamView(NamedTuple):
    """What the loop needs besides the cursor."""

    target: ReplayTarget
    space: KeySpace
    guide: WordMatrix
    """uint64[states, words]."""
    allowed: int
    """Address of a bit row: the instances that may be taken."""
    successors: int
    """Address of a buffer for the successors of one state; the same holds for the next three."""
    successor_instances: int
    row: int
    hits: int
    parents: Int64Array
    """int64 per stored state, as are the next two."""
    steps: Int64Array
    distances: Int64Array
    selected: Int64Array
    """int64[width]: the numbers of the states of a level that are expanded."""
    histogram: Int64Array
    """int64 per distance: how many states of the level have it."""


@loop
def search_along(beam: BeamView, cursor: Int64Array) -> int:
    """Search from the stored states for the target, in fewer steps than the limit; return why the search ended."""
    selected = cursor[CURSOR_SIZE]
    for number in range(selected):
        beam.selected[number] = number
    while cursor[CURSOR_DEPTH] < cursor[CURSOR_LIMIT] and selected > 0:
        first = cursor[CURSOR_SIZE]
        for place in range(selected):
            if room_for_keys(beam.space, cursor[CURSOR_SIZE]) < beam.target.kernel.instances:
                return BEAM_FULL
            result = _expand(beam, cursor, beam.selected[place])
            if result != BEAM_EMPTY:
                return result
        cursor[CURSOR_DEPTH] += 1
        _measure(beam, cursor, first)
        selected = _select(beam, cursor, first)
    return BEAM_EMPTY


@part
def _expand(beam: BeamView, cursor: Int64Array, index: int) -> int:
    """Store the new successors of a state; BEAM_HIT if a step from it shows the target."""
    state, words = key_at(beam.space, index), beam.target.kernel.words
    made = call(beam.target.kernel.expand, (state, beam.row, beam.successors, beam.successor_instances, beam.hits))
    if made < 0:
        return BEAM_FAILED
    for j in range(made):
        if not has_bit(beam.allowed, integer(peek32(beam.successor_instances, j))):
            cursor[CURSOR_DISCARDED] += 1
            continue
        key, size = beam.successors + 8 * words * j, cursor[CURSOR_SIZE]
        new = find_or_add(beam.space, key, hash_of(key, words), size) == ABSENT
        if new:
            beam.parents[size], beam.steps[size] = index, integer(peek32(beam.successor_instances, j))
            cursor[CURSOR_SIZE] = size + 1
        if (new or beam.target.kernel.checks_steps != 0) and _is_hit(beam.target, state, key):
            if has_bit(beam.target.final_row, integer(peek32(beam.successor_instances, j))):
                cursor[CURSOR_LAST], cursor[CURSOR_STEP] = index, integer(peek32(beam.successor_instances, j))
                return BEAM_HIT
            if new:
                beam.steps[size] = WRONG_FINAL_STEP
    return BEAM_EMPTY


@part
def _is_hit(target: ReplayTarget, before: int, state: int) -> bool:
    if target.is_deadlock != 0 or target.needs_quiescent != 0:
        call_void(target.guards, (state, target.row))
    return is_shown(target, before, state)


@part
def _measure(beam: BeamView, cursor: Int64Array, first: int) -> None:
    """Compute the distances of the states of the new level, and their histogram."""
    words, last = beam.target.kernel.words, min(cursor[CURSOR_DEPTH] + LOOKAHEAD, len(beam.guide))
    beam.histogram[:] = 0
    for index in range(first, cursor[CURSOR_SIZE]):
        key, least = key_at(beam.space, index), len(beam.histogram) - 1
        for place in range(cursor[CURSOR_DEPTH], last):
            distance = integer(0)
            for word in range(words):
                distance += bit_count(peek(key, word) ^ beam.guide[place, word])
            least = min(least, distance)
        beam.distances[index] = least
        beam.histogram[least] += integer(beam.steps[index] != WRONG_FINAL_STEP)


@part
def _select(beam: BeamView, cursor: Int64Array, first: int) -> int:
    """Select the states of the new level to expand; return their number."""
    edge, left = integer(0), cursor[CURSOR_WIDTH]
    while edge < len(beam.histogram) - 1 and beam.histogram[edge] <= left:
        left -= beam.histogram[edge]
        edge += 1
    selected = integer(0)
    for index in range(first, cursor[CURSOR_SIZE]):
        distance = beam.distances[index]
        if beam.steps[index] != WRONG_FINAL_STEP and (distance < edge or (distance == edge and left > 0)):
            left -= integer(distance == edge)
            beam.selected[selected] = index
            selected += 1
    cursor[CURSOR_DISCARDED] += cursor[CURSOR_SIZE] - first - selected
    return selected
