"""The loop of random walks that stay in their lanes: each round advances all walks of a block by one step.

The walks are the same as one by one (`walk_loops`) and as in queues (`sliced_walks`). Here the planes of a block stay
where they are, and a lane keeps its walk until that ends. In a *round*, all walks are visited, and each chooses an
instance; then the instances take their steps one after another, each in the lanes that chose it. Nothing is sorted or
copied, but an instance that one lane chose is evaluated for all lanes. That pays where steps are cheap, see
`SlicedKernel.is_resident`. Lanes whose walks have ended begin others, some lanes at a time.

See `kwalk.search.kernel.compile.planes` and `lane_functions` for *lanes*, *planes*, *columns* and *totals*.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kwalk.search.kernel.interface import Kernel, LaneFunctions, SliceView
from kwalk.search.native.bits import has_bit
from kwalk.search.native.intrinsics import (
    ONE,
    ZERO,
    bit_count,
    call_void,
    count_up,
    get,
    integer,
    lowest_bit,
    peek,
    poke,
    put,
)
from kwalk.search.native.loops import Word, loop, part
from kwalk.search.native.splitmix64 import GOLDEN, mix
from kwalk.search.native.structures import int64s, uint64s
from kwalk.search.simulation.hyperloglog import add_hash_to_sketch
from kwalk.search.simulation.sliced_walks import (
    BAD_WALK,
    CUTS,
    DEAD_ENDS,
    FINDINGS,
    FIRST_WALK,
    LAST_WALK,
    NEXT_WALK,
    NO_WALK,
    VISIT_STEPS,
    BlockBuffers,
    end_run_at,
    note_violation,
)
from kwalk.search.simulation.walk_loops import (
    MAX_LEVEL,
    WALK_DONE,
    WALK_FULL,
    WalkView,
    draw_start,
    place_of_hash,
)

TAKEN, FAILED, BLOCKED = range(3)
"""The planes that `slice.step` writes of its lanes."""
ANY_LEFT, ANY_ALLOWED = range(2)
"""The planes that `slice.candidates` writes of its lanes."""
BEGIN_SHARE = 16
"""Lanes begin walks once one of so many has none: beginning in few lanes costs as much as in many."""


class ResidentView(NamedTuple):
    """What the loop works on."""

    walk: WalkView
    slices: SliceView
    functions: LaneFunctions
    plane: int
    """The 64-bit words of a plane."""
    bits: int
    """The bits of a packed state."""
    left_bits: int
    """The bits of the number of steps that are left to a walk."""
    starts: int
    """The number of starts."""
    bounds: int
    collect: int
    """Whether findings are written."""
    row_counts: int
    planes: int = uint64s("64 * words * plane")
    left: int = uint64s("left_bits * plane")
    """The steps that are left."""
    saved: int = uint64s("64 * words * plane")
    enabled: int = uint64s("(64 * row_words + 1) * plane")
    chosen: int = uint64s("instances * plane")
    excluded: int = uint64s("instances * plane")
    """A plane for each instance: the lanes in which a bound disabled it."""
    properties: int = uint64s("2 * 64 * property_words * plane")
    results: int = uint64s("(FIRST_BOUND + bounds) * plane")
    active: int = uint64s("plane")
    """The lanes that have a walk."""
    fresh: int = uint64s("plane")
    """The lanes whose visit is counted."""
    again: int = uint64s("plane")
    """The lanes that choose again, since a bound disabled what they chose."""
    going: int = uint64s("plane")
    """The lanes that have steps left."""
    over: int = uint64s("plane")
    begun: int = uint64s("plane")
    selected: int = uint64s("plane")
    any: int = uint64s("2 * plane")
    ends: int = uint64s("3 * plane")
    violated: int = uint64s("64 * property_words * plane")
    """A plane for each property: the lanes whose walk has violated it."""
    open: int = uint64s("(properties + 1) * plane")
    """A plane for each property and for deadlock: the lanes in which a violation must be looked at, see `_note`."""
    levels: int = uint64s("plane")
    """The lanes whose walk has levels."""
    masks: int = uint64s("swarm * MAX_LEVEL * 64 * row_words * plane")
    """Planes of the masks of the levels from 1 on."""
    start_planes: int = uint64s("64 * (words + 1) * plane")
    """The planes of the starts of lanes, and of the steps that are left to them."""
    allowed: int = int64s("instances")
    """0 or -1, as in the following two."""
    state_checked: int = int64s("64 * property_words")
    step_checked: int = int64s("64 * property_words")
    streams: int = uint64s("lanes")
    randoms: int = uint64s("lanes")
    walks: int = int64s("lanes")
    """The number of the walk."""
    last_steps: int = int64s("lanes")
    """The step at which the walk ends."""
    visits: int = int64s("lanes")
    """The number of the visit, as in the table of row visits."""
    start_columns: int = uint64s("(words + 1) * lanes")
    mask_columns: int = uint64s("swarm * MAX_LEVEL * row_words * lanes")
    rows: int = uint64s("row_words * lanes")
    hashes: int = uint64s("lanes")
    states: int = uint64s("sketch * words * lanes")
    """Columns of packed states."""
    enabled_totals: int = int64s("(instances + 1) * plane")
    step_totals: int = int64s("2 * instances * plane")
    bound_totals: int = int64s("max(1, bounds) * plane")
    premise_totals: int = int64s("(properties + 1) * plane")
    hit_totals: int = int64s("(properties + 1) * plane")
    visit_totals: int = int64s("plane")


@loop
def begin_resident_walks(view: ResidentView, cursor: int) -> None:
    """Begin a walk in each lane, as long as there are walks."""
    kernel = view.walk.kernel
    _spread_bits(view.walk.masks, view.allowed, kernel.instances)
    _spread_bits(kernel.state_row, view.state_checked, view.walk.properties)
    _spread_bits(kernel.step_row, view.step_checked, view.walk.properties)
    for lane in range(view.slices.lanes):
        _copy_start(view, lane, 0)
    call_void(view.slices.transpose, (view.start_columns, view.start_planes, kernel.words + 1))
    _begin_walks(view, cursor)


@loop
def run_resident_walks(view: ResidentView, cursor: int) -> int:
    """Continue until all walks have ended (WALK_DONE), or there is no room for findings (WALK_FULL)."""
    room = view.walk.max_findings - view.slices.lanes * (view.walk.properties + 1)
    while _count_lanes(view, view.active) > 0:
        if get(cursor, FINDINGS) > room:
            return WALK_FULL
        _visit(view, cursor)
        _choose(view, cursor)
        _step(view, cursor)
        _settle(view, cursor)
    return WALK_DONE


@part
def _spread_bits(row: int, words: int, count: int) -> None:
    """Write a word for each of some bits of a row: 0 or -1."""
    for place in range(count):
        put(words, place, -1 if has_bit(row, place) else 0)


@part
def _count_lanes(view: ResidentView, plane: int) -> int:
    count = integer(0)
    for word in range(view.plane):
        count += bit_count(peek(plane, word))
    return count


@part
def _plane(view: ResidentView, first: int, number: int) -> int:
    return first + 8 * view.plane * number


@part
def _column(view: ResidentView, first: int, number: int) -> int:
    return first + 8 * view.slices.lanes * number


# Beginnings.


@part
def _begin_walks(view: ResidentView, cursor: int) -> None:
    """Begin walks in the lanes that have none."""
    kernel = view.walk.kernel
    for word in range(view.plane):
        idle, begun = ~peek(view.active, word), ZERO
        while idle != ZERO and get(cursor, NEXT_WALK) < get(cursor, LAST_WALK):
            bit = lowest_bit(idle)
            _begin(view, cursor, view.plane * bit + word)
            begun |= ONE << np.uint64(bit)
            idle &= idle - ONE
        poke(view.begun, word, begun)
        poke(view.active, word, peek(view.active, word) | begun)
        poke(view.over, word, ~begun)
    if view.starts > 1:
        call_void(view.slices.transpose, (view.start_columns, view.start_planes, kernel.words + 1))
    if view.walk.groupings > 0:
        call_void(view.slices.transpose, (view.mask_columns, view.masks, MAX_LEVEL * kernel.row_words))
    call_void(view.functions.blend, (view.planes, view.bits, view.start_planes, view.begun))
    left = _plane(view, view.start_planes, 64 * kernel.words)
    call_void(view.functions.blend, (view.left, view.left_bits, left, view.begun))
    call_void(view.functions.keep, (view.violated, view.walk.properties, view.over))
    for prop in range(view.walk.properties + 1):
        # Walks begin in their order: what violates a property already is earlier than these.
        if get(view.walk.first_walk, prop) != 0 and not _is_always_open(view, prop):
            for word in range(view.plane):
                plane = _plane(view, view.open, prop)
                poke(plane, word, peek(plane, word) & peek(view.over, word))


@part
def _begin(view: ResidentView, cursor: int, lane: int) -> None:
    """Begin the next walk in a lane."""
    walk = get(cursor, NEXT_WALK)
    put(cursor, NEXT_WALK, walk + 1)
    random = mix(np.uint64(view.walk.seed) + np.uint64(walk) * GOLDEN) + GOLDEN
    poke(view.streams, lane, random)
    put(view.walks, lane, walk)
    start, levels = draw_start(view.walk, view.walk.masks, random)
    if view.starts > 1:
        _copy_start(view, lane, start)
    if view.walk.groupings > 0:
        _note_preferences(view, lane, levels)
        step = get(view.walk.start_steps, start)
        put(view.visits, lane, VISIT_STEPS * (walk - get(cursor, FIRST_WALK) + 1) + step)


@part
def _copy_start(view: ResidentView, lane: int, start: int) -> None:
    """Write a start, and the steps that are left from there, to the columns of a lane."""
    words, step = view.walk.kernel.words, get(view.walk.start_steps, start)
    for word in range(words):
        poke(_column(view, view.start_columns, word), lane, peek(view.walk.starts, words * start + word))
    left = max(integer(0), view.walk.depth - step)
    put(_column(view, view.start_columns, words), lane, left)
    put(view.last_steps, lane, step + left)


@part
def _note_preferences(view: ResidentView, lane: int, levels: int) -> None:
    """Write the masks of a walk to the columns of its lane."""
    words = view.walk.kernel.row_words
    for word in range(MAX_LEVEL * words):
        poke(_column(view, view.mask_columns, word), lane, peek(view.walk.masks, words + word))
    place, bit = lane % view.plane, ONE << np.uint64(lane // view.plane)
    others = peek(view.levels, place) & ~bit
    poke(view.levels, place, others | bit if levels > 0 else others)


# Visits.


@part
def _visit(view: ResidentView, cursor: int) -> None:
    """Evaluate guards and properties in all lanes, count them, and note what is violated."""
    kernel, properties = view.walk.kernel, view.walk.properties
    for word in range(view.plane):
        poke(view.fresh, word, peek(view.active, word) & ~peek(view.again, word))
    quiescent = _plane(view, view.enabled, kernel.instances)
    call_void(view.slices.guards, (view.planes, view.enabled))
    call_void(view.functions.total, (view.enabled, kernel.instances + 1, view.fresh, view.enabled_totals))
    call_void(view.functions.total, (view.fresh, 1, view.fresh, view.visit_totals))
    if kernel.checks_states:
        call_void(view.slices.check, (view.planes, quiescent, view.properties))
        premises = _plane(view, view.properties, 64 * kernel.property_words)
        call_void(view.functions.total, (premises, properties, view.fresh, view.premise_totals))
        _note(view, cursor, view.state_checked, view.fresh, 1)
    if view.walk.row_visits != 0:
        for word in range(view.plane):
            poke(quiescent, word, ZERO)  # it is behind the last instance, where the rows must be empty
        call_void(view.slices.transpose, (view.enabled, view.rows, kernel.row_words))
        call_void(view.functions.hash_rows, (view.rows, kernel.row_words, view.hashes))
        _count_rows(view)
    if view.walk.sketch != 0:
        call_void(view.slices.transpose, (view.planes, view.states, kernel.words))
        call_void(view.functions.hash_states, (view.states, view.hashes))
        _add_states(view)


@part
def _count_rows(view: ResidentView) -> None:
    """Count the visits of fresh lanes by their rows of enabled instances, as `sliced_walks` does."""
    for word in range(view.plane):
        fresh = peek(view.fresh, word)
        while fresh != ZERO:
            lane = view.plane * lowest_bit(fresh) + word
            place, visit = view.row_counts + 16 * place_of_hash(peek(view.hashes, lane)), get(view.visits, lane)
            put(view.visits, lane, visit + 1)
            count_up(place, 0, 1)
            put(place, 1, max(get(place, 1), visit))
            fresh &= fresh - ONE


@part
def _add_states(view: ResidentView) -> None:
    """Add the states of fresh lanes to the sketch."""
    for word in range(view.plane):
        fresh = peek(view.fresh, word)
        while fresh != ZERO:
            lane = view.plane * lowest_bit(fresh) + word
            add_hash_to_sketch(view.walk.sketch, peek(view.hashes, lane))
            fresh &= fresh - ONE


# Violations.


@part
def _is_always_open(view: ResidentView, prop: int) -> bool:
    """Return whether every walk that violates a property must be looked at: it ends the run, or is a finding."""
    if (view.walk.kernel.stop | view.collect) == 0:
        return False
    if prop == view.walk.properties:
        return True
    return bool((peek(view.walk.kernel.reachable_row, prop // 64) >> np.uint64(prop % 64)) & ONE == ZERO)


@part
def _note(view: ResidentView, cursor: int, checked: int, lanes: int, order: int) -> None:
    """Count the properties that are false in some lanes for the first time in their walks, and note the walks.

    Only *open* lanes are handled one by one: those of walks that can be the first ones that violate the property, or
    all if each is a finding or ends the run.
    """
    properties = view.walk.properties
    call_void(
        view.functions.note,
        (view.properties, properties, checked, lanes, view.violated, view.open, view.hit_totals, view.selected),
    )
    if _count_lanes(view, view.selected) > 0:
        for prop in range(properties):
            _note_lanes(view, cursor, _plane(view, view.properties, prop), prop, order)


@part
def _note_lanes(view: ResidentView, cursor: int, plane: int, prop: int, order: int) -> None:
    """Note the walks that violate a property, in the open lanes of a plane."""
    is_open = _plane(view, view.open, prop)
    before = get(view.walk.first_walk, prop)
    for word in range(view.plane):
        bits = peek(plane, word) & peek(is_open, word)
        while bits != ZERO:
            lane = view.plane * lowest_bit(bits) + word
            visit = (get(view.walks, lane), get(view.last_steps, lane) - _left(view, lane), order)
            note_violation(view.walk, cursor, visit, prop, view.collect)
            bits &= bits - ONE
    first = get(view.walk.first_walk, prop)
    if first != before and not _is_always_open(view, prop):
        for word in range(view.plane):
            poke(is_open, word, _earlier(view, word, first))


@part
def _earlier(view: ResidentView, word: int, first: int) -> Word:
    """Return a word of the plane of the lanes whose walks come before one, which is given plus 1."""
    bits = ZERO
    for bit in range(64):
        if get(view.walks, view.plane * bit + word) + 1 < first:
            bits |= ONE << np.uint64(bit)
    return bits


@part
def _left(view: ResidentView, lane: int) -> int:
    """Return the steps that are left to the walk of a lane."""
    number, place, bit = ZERO, lane % view.plane, np.uint64(lane // view.plane)
    for power in range(view.left_bits):
        number |= ((peek(_plane(view, view.left, power), place) >> bit) & ONE) << np.uint64(power)
    return integer(number)


# Steps.


@part
def _choose(view: ResidentView, cursor: int) -> None:
    """Choose an instance in each lane whose walk has steps left, and count the ends of walks that have none."""
    kernel = view.walk.kernel
    call_void(view.functions.draw, (view.streams, view.again, view.randoms))
    call_void(view.functions.is_zero, (view.left, view.left_bits, view.over))
    for word in range(view.plane):
        poke(view.going, word, peek(view.active, word) & ~peek(view.over, word))
    call_void(
        view.functions.candidates,
        (view.enabled, kernel.instances, view.excluded, view.allowed, view.going, view.chosen, view.any),
    )
    if view.walk.groupings > 0:
        call_void(
            view.functions.prefer,
            (view.chosen, kernel.instances, view.masks, 64 * kernel.row_words, view.levels, view.randoms),
        )
    call_void(view.functions.choose, (view.chosen, kernel.instances, view.randoms))
    dead = deadlocked = ZERO
    dead_ends, cuts = integer(0), integer(0)
    for word in range(view.plane):
        going, left = peek(view.going, word), peek(view.any, word)
        dead_ends += bit_count(going & ~left)
        cuts += bit_count(going & left & ~peek(_plane(view, view.any, ANY_ALLOWED), word))
        dead = peek(view.fresh, word) & ~left
        poke(view.selected, word, dead)
        deadlocked |= dead
    count_up(cursor, DEAD_ENDS, dead_ends)
    count_up(cursor, CUTS, cuts)
    if kernel.deadlock and deadlocked != ZERO:
        totals = view.hit_totals + 8 * view.plane * view.walk.properties
        call_void(view.functions.total, (view.selected, 1, view.selected, totals))
        _note_lanes(view, cursor, view.selected, view.walk.properties, 1)


@part
def _step(view: ResidentView, cursor: int) -> None:
    """Take the steps, count them, and note the step properties that are violated."""
    kernel = view.walk.kernel
    if kernel.checks_steps:
        call_void(view.slices.save, (view.planes, view.saved))
    call_void(
        view.functions.step,
        (
            kernel.instances,
            view.planes,
            view.chosen,
            view.results,
            view.bounds,
            view.excluded,
            view.step_totals,
            kernel.instances,
            view.bound_totals,
            view.ends,
        ),
    )
    taken = _plane(view, view.ends, TAKEN)
    call_void(view.functions.count_down, (view.left, view.left_bits, taken))
    if kernel.checks_steps:
        call_void(view.slices.check_step, (view.saved, view.planes, view.properties))
        premises = _plane(view, view.properties, 64 * kernel.property_words)
        call_void(view.functions.total, (premises, view.walk.properties, taken, view.premise_totals))
        _note(view, cursor, view.step_checked, taken, 0)


@part
def _settle(view: ResidentView, cursor: int) -> None:
    """End the walks that took no step and choose no other one, and begin others."""
    failed, blocked = _plane(view, view.ends, FAILED), _plane(view, view.ends, BLOCKED)
    retries, active = ZERO, integer(0)
    bad = get(cursor, BAD_WALK)
    for word in range(view.plane):
        _end_failed(view, cursor, word, peek(failed, word))
        again = peek(blocked, word)
        retries |= again | peek(view.again, word)
        poke(view.again, word, again)
        stays = again | peek(_plane(view, view.ends, TAKEN), word)
        if bad < NO_WALK:
            stays &= _earlier(view, word, bad + 1)
        poke(view.active, word, stays)
        active += bit_count(stays)
    if retries != ZERO:
        call_void(view.functions.keep, (view.excluded, view.walk.kernel.instances, view.again))
    idle = view.slices.lanes - active
    if get(cursor, NEXT_WALK) < get(cursor, LAST_WALK) and (active == 0 or idle * BEGIN_SHARE >= view.slices.lanes):
        _begin_walks(view, cursor)


@part
def _end_failed(view: ResidentView, cursor: int, word: int, failed: Word) -> None:
    """Note the walks whose step left its domain: the first one ends the run."""
    while failed != ZERO:
        end_run_at(cursor, get(view.walks, view.plane * lowest_bit(failed) + word))
        failed &= failed - ONE


# Buffers.


class ResidentBuffers(BlockBuffers):
    """The arrays of a `ResidentView`, for the walks of one chunk.

    Args:
        kernel: A kernel with bit-sliced functions.
        view: The view of the walks.
        collect: Whether findings are written.
    """

    def __init__(self, kernel: Kernel, view: WalkView, *, collect: bool) -> None:
        super().__init__(kernel, view, collect=collect)
        functions = self.sliced.lane_functions
        assert functions is not None
        sizes = {"bits": kernel.bits, "left_bits": view.depth.bit_length(), "MAX_LEVEL": MAX_LEVEL}
        flags = {"swarm": int(view.groupings > 0), "sketch": int(view.sketch != 0)}
        starts = {"starts": view.start_count + view.restart_count}
        self.arrays = self.structure(ResidentView, sizes | flags | starts, functions=functions)
        self.arrays.open[:] = ~np.uint64(0)

    def begin(self) -> None:
        """Begin a walk in each lane."""
        begin_resident_walks(self.arrays.layout, self.cursor.ctypes.data)

    def advance(self) -> int:
        """Continue; see `run_resident_walks`."""
        return int(run_resident_walks(self.arrays.layout, self.cursor.ctypes.data))

    def _sums(self, name: str) -> np.ndarray:
        """Return what totals add up to."""
        counts: np.ndarray = getattr(self.arrays, name).reshape(-1, self.arrays.layout.plane).sum(axis=1)
        return counts

    def counts(self) -> dict[str, Any]:
        """Return the fields of `WalkCounts` that are counted here and not in the buffers of the walks."""
        kernel, cursor = self.kernel, self.cursor
        enabled, (taken, changed) = self._sums("enabled_totals"), np.split(self._sums("step_totals"), 2)
        return {
            "steps": int(taken.sum()),
            "visits": int(self._sums("visit_totals")[0]),
            "dead_ends": int(cursor[DEAD_ENDS]),
            "cuts": int(cursor[CUTS]),
            "quiescent": int(enabled[-1]),
            "enabled": enabled[:-1],
            "taken": taken,
            "changed": changed,
            "bound_hits": self._sums("bound_totals"),
            "premises": self._sums("premise_totals")[: kernel.properties],
            "property_hits": self._sums("hit_totals"),
            **self.row_visits(),
        }
