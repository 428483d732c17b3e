"""The loop of random walks on a bit-sliced kernel: hundreds of walks at each call, and the same walks as one by one.

A walk is the same as in `walk_loops`: its random numbers are a stream of its own. Small models have a faster loop, in
`resident_walks`. Here many walks are in progress, each in a *record*, and wait in lists. A walk that is *ready* has
arrived in a state; `_visit_some` takes a block of them, counts and checks the visits, and chooses the next steps. A
walk that has chosen an instance waits in the *queue* of that instance; `_step_some` takes a block of these and takes
their steps. A step that a bound disables is chosen *again*. What is counted does not depend on the order: sums, the
first walk of a violation, the latest visit of a row.

See `kwalk.search.kernel.compile.planes` and `transpose` for *lanes*, *planes* and *columns*.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kwalk.search.kernel.interface import FIRST_BOUND, Kernel, SliceView
from kwalk.search.native.bits import clear_lane, count_common_lanes, has_lane, set_first_lanes
from kwalk.search.native.intrinsics import (
    ONE,
    ZERO,
    call_void,
    count_up,
    get,
    integer,
    lowest_bit,
    peek,
    peek32,
    poke,
    poke32,
    prefetch,
    put,
)
from kwalk.search.native.loops import loop, part
from kwalk.search.native.splitmix64 import GOLDEN, mix
from kwalk.search.native.structures import Layout, Structure, int64s, isolated_zeros, uint32s, uint64s
from kwalk.search.simulation.hyperloglog import add_to_sketch
from kwalk.search.simulation.walk_loops import (
    MAX_LEVEL,
    ROW_COLUMNS,
    ROW_COUNT,
    ROW_LAST_STEP,
    ROW_LAST_WALK,
    ROW_PLACES,
    ROW_SEED,
    WALK_DONE,
    WALK_FULL,
    WalkView,
    choose,
    draw_start,
    hash_row_word,
    row_place,
)
from kwalk.search.visited.keys import copy_words

(
    NEXT_WALK,
    LAST_WALK,
    READY,
    FINDINGS,
    RETRIES,
    BAD_WALK,
    STEPS,
    VISITS,
    DEAD_ENDS,
    CUTS,
    FIRST_WALK,
) = range(11)
"""Fields of the cursor, int64[11]: the next walk to begin, the end of the walks, the walks that are ready, the
findings, the walks that choose again, the first walk that ends the run, counts as in `walk_loops`, and the first
walk."""
CURSOR_SIZE = 11

STREAM, CURRENT, WALK, STEP, LEVELS, AGAIN, KNOWN = range(7)
"""Words of a record: the state of its stream of random numbers, the number that the last choice was made with, the
number of the walk, the step, its highest level, whether the step is chosen again, and from here on the row of
properties violated in this walk. A record is a line of the cache, or several: what else a walk has is in other arrays,
its packed state, the masks of its levels in a swarm, and the row of instances that bounds have disabled."""
LINE_WORDS = 8
VISIT_STEPS = 1 << 20
"""More than the steps of a walk."""
NO_WALK = 2**62
"""A walk above all."""


class SlicedView(NamedTuple):
    """What the loop works on; `count` walks are in progress at most."""

    walk: WalkView
    """Its buffers for one walk are used for one walk at a time."""
    slices: SliceView
    collect: int
    """Whether findings are written."""
    bounds: int
    """The number of bounds."""
    record_words: int
    row_counts: int
    """int64[ROW_PLACES, 2]: visits by the set of enabled instances, see `_count_rows`."""
    records: int = uint64s("count * record_words")
    states: int = uint64s("count * words")
    """A packed state for each record."""
    masks: int = uint64s("count * swarm * (1 + MAX_LEVEL) * row_words")
    """The masks of the levels for each record."""
    excluded: int = uint64s("count * row_words")
    """The row of instances that bounds have disabled for each record."""
    ready: int = uint32s("count")
    """The records of walks that are ready."""
    queues: int = uint32s("instances * 2 * lanes")
    """For each instance the records of walks that have chosen it."""
    queued: int = int64s("instances")
    """The lengths of the queues."""
    columns: int = uint64s("words * lanes")
    planes: int = uint64s("words * lanes")
    saved: int = uint64s("words * lanes")
    enabled_planes: int = uint64s("(64 * row_words + 1) * plane")
    property_planes: int = uint64s("2 * 64 * property_words * plane")
    results: int = uint64s("(FIRST_BOUND + bounds) * plane")
    """The planes that `slice.apply` writes."""
    valid: int = uint64s("plane")
    """A plane: the lanes in use."""
    fresh: int = uint64s("plane")
    """A plane: the lanes whose visit is counted."""
    rows: int = uint64s("row_words * lanes")
    """Columns of bit rows of instances."""
    row_places: int = int64s("lanes")
    """An address in `row_counts` for each lane."""
    false: int = uint64s("property_words * lanes")
    """Columns of bit rows of properties."""
    enabled: int = int64s("instances + 1")
    """Visits at which each instance was enabled; the last number is for quiescence."""
    premises: int = int64s("properties")


@loop
def run_sliced_walks(view: SlicedView, cursor: int) -> int:
    """Continue until all walks have ended (WALK_DONE), or there is no room for findings (WALK_FULL)."""
    room = view.walk.max_findings - view.slices.lanes * (view.walk.properties + 1)
    while True:
        if get(cursor, FINDINGS) > room:
            return WALK_FULL
        ready, longest = get(cursor, READY), _longest_queue(view)
        waiting = get(view.queued, longest)
        # A queue has room for two blocks: one that is full is emptied before others can join.
        if waiting >= view.slices.lanes or (waiting > 0 and ready < view.slices.lanes):
            _step_some(view, cursor, longest, min(waiting, view.slices.lanes))
        elif ready > 0:
            _visit_some(view, cursor, min(ready, view.slices.lanes))
        else:
            return WALK_DONE


@loop
def begin_sliced_walks(view: SlicedView, cursor: int, records: int) -> None:
    """Begin as many walks as there are records, or walks."""
    for record in range(records):
        if _begin(view, cursor, record):
            _add_ready(view, cursor, record)


@part
def _longest_queue(view: SlicedView) -> int:
    longest = integer(0)
    for instance in range(view.walk.kernel.instances):
        if get(view.queued, instance) > get(view.queued, longest):
            longest = instance
    return longest


@part
def _record(view: SlicedView, number: int) -> int:
    return view.records + 8 * view.record_words * number


@part
def _state(view: SlicedView, number: int) -> int:
    return view.states + 8 * view.walk.kernel.words * number


@part
def _excluded(view: SlicedView, number: int) -> int:
    return view.excluded + 8 * view.walk.kernel.row_words * number


@part
def _masks(view: SlicedView, number: int) -> int:
    """Return the address of the masks of a walk: its own in a swarm."""
    if view.walk.groupings == 0:
        return view.walk.masks
    return view.masks + 8 * (1 + MAX_LEVEL) * view.walk.kernel.row_words * number


@part
def _add_ready(view: SlicedView, cursor: int, number: int) -> None:
    poke32(view.ready, get(cursor, READY), np.uint64(number))
    count_up(cursor, READY, 1)


@part
def _begin(view: SlicedView, cursor: int, number: int) -> bool:
    """Begin the next walk in a record; return whether there is one."""
    walk = get(cursor, NEXT_WALK)
    if walk >= get(cursor, LAST_WALK):
        return False
    put(cursor, NEXT_WALK, walk + 1)
    kernel, record = view.walk.kernel, _record(view, number)
    random = mix(np.uint64(view.walk.seed) + np.uint64(walk) * GOLDEN) + GOLDEN
    masks = _masks(view, number)
    if view.walk.groupings > 0:
        copy_words(masks, view.walk.masks, kernel.row_words)
    start, levels = draw_start(view.walk, masks, random)
    poke(record, STREAM, random)
    put(record, WALK, walk)
    put(record, STEP, get(view.walk.start_steps, start))
    put(record, LEVELS, levels)
    put(record, AGAIN, 0)
    for word in range(kernel.property_words):
        poke(record, KNOWN + word, ZERO)
    copy_words(_state(view, number), view.walk.starts + 8 * kernel.words * start, kernel.words)
    return True


# Planes.


@part
def _load(view: SlicedView, ids: int, count: int, word: int) -> None:
    """Copy a word of the states of some walks into the column of that word."""
    column, words, base = view.columns + 8 * view.slices.lanes * word, view.walk.kernel.words, view.states + 8 * word
    for lane in range(count):
        poke(column, lane, peek(base + 8 * words * integer(peek32(ids, lane)), 0))


@part
def _store(view: SlicedView, ids: int, count: int, word: int) -> None:
    column, words, base = view.columns + 8 * view.slices.lanes * word, view.walk.kernel.words, view.states + 8 * word
    for lane in range(count):
        poke(base + 8 * words * integer(peek32(ids, lane)), 0, peek(column, lane))


@part
def _planes_of(view: SlicedView, word: int) -> int:
    return view.planes + 64 * view.slices.plane * word


@part
def _false_columns(view: SlicedView, checked: int, mask: int) -> bool:
    """Write the columns of checked properties that are false in the lanes of a mask; return whether there is one."""
    words, wanted = view.slices.plane // 8, view.walk.properties
    found = ZERO
    for prop in range(wanted):
        plane = view.property_planes + view.slices.plane * prop
        if (peek(checked, prop // 64) >> np.uint64(prop % 64)) & ONE != ZERO:
            for word in range(words):
                bits = peek(plane, word) & peek(mask, word)
                poke(plane, word, bits)
                found |= bits
        else:
            for word in range(words):
                poke(plane, word, ZERO)
    if found == ZERO:
        return False
    call_void(view.slices.transpose, (view.property_planes, view.false, view.walk.kernel.property_words))
    return True


# Visits.


@part
def _visit_some(view: SlicedView, cursor: int, count: int) -> None:
    """Visit the states of the last ready walks, and choose their next steps."""
    kernel, words = view.walk.kernel, view.slices.plane // 8
    first = get(cursor, READY) - count
    ids = view.ready + 4 * first
    put(cursor, READY, first)
    for word in range(kernel.words):
        _load(view, ids, count, word)
    call_void(view.slices.transpose, (view.columns, view.planes, kernel.words))
    set_first_lanes(view.fresh, count, words)
    if get(cursor, RETRIES) > 0:
        for lane in range(count):
            if get(_record(view, integer(peek32(ids, lane))), AGAIN) != 0:
                clear_lane(view.fresh, lane, words)
    has_false = _judge(view, cursor)
    call_void(view.slices.transpose, (view.enabled_planes, view.rows, kernel.row_words))
    if view.walk.row_visits != 0:
        _count_rows(view, cursor, ids, count)
    for lane in range(count):
        number = integer(peek32(ids, lane))
        if _continue_walk(view, cursor, lane, number, has_false):
            continue
        if _begin(view, cursor, number):
            _add_ready(view, cursor, number)


@part
def _judge(view: SlicedView, cursor: int) -> bool:
    """Evaluate guards and properties, and count them; return whether a checked property is false in a fresh lane."""
    kernel, words = view.walk.kernel, view.slices.plane // 8
    quiescent = view.enabled_planes + view.slices.plane * kernel.instances
    call_void(view.slices.guards, (view.planes, view.enabled_planes))
    call_void(view.slices.count_bits, (view.enabled_planes, kernel.instances + 1, view.fresh, view.enabled))
    count_up(cursor, VISITS, count_common_lanes(view.fresh, view.fresh, words))
    has_false = False
    if kernel.checks_states:
        call_void(view.slices.check, (view.planes, quiescent, view.property_planes))
        premises = view.property_planes + 64 * view.slices.plane * kernel.property_words
        call_void(view.slices.count_bits, (premises, view.walk.properties, view.fresh, view.premises))
        has_false = _false_columns(view, kernel.state_row, view.fresh)
    for word in range(words):
        poke(quiescent, word, ZERO)  # it is behind the last instance, where the rows must be empty
    return has_false


@part
def _continue_walk(view: SlicedView, cursor: int, lane: int, number: int, has_false: bool) -> bool:
    """Note a visit and choose the next step; return False if the walk has ended."""
    kernel, row = view.walk.kernel, view.walk.row
    record = _record(view, number)
    for word in range(kernel.row_words):
        poke(row, word, peek(view.rows, view.slices.lanes * word + lane))
    if get(record, AGAIN) != 0:
        random = mix(peek(record, CURRENT) + GOLDEN)
        for word in range(kernel.row_words):
            poke(row, word, peek(row, word) & ~peek(_excluded(view, number), word))
    else:
        _note_visit(view, cursor, lane, number, has_false)
        if get(record, STEP) >= view.walk.depth or get(record, WALK) >= get(cursor, BAD_WALK):
            return False
        stream = peek(record, STREAM) + GOLDEN
        poke(record, STREAM, stream)
        random = mix(stream)
    poke(record, CURRENT, random)
    instance = choose(view.walk, row, _masks(view, number), get(record, LEVELS), random)
    if instance < 0:
        count_up(cursor, DEAD_ENDS if _is_empty(row, kernel.row_words) else CUTS, 1)
        if get(record, AGAIN) != 0:
            count_up(cursor, RETRIES, -1)
        return False
    length = get(view.queued, instance)
    poke32(view.queues + 8 * view.slices.lanes * instance, length, np.uint64(number))
    put(view.queued, instance, length + 1)
    return True


@part
def _count_rows(view: SlicedView, cursor: int, ids: int, count: int) -> None:
    """Count the visits of fresh lanes by their rows of enabled instances, without branches: the latest visit is random.

    The entries of the table are words: the visits, and the latest one as `VISIT_STEPS` · (walk - first + 1) + step.
    """
    words, table, first = view.walk.kernel.row_words, view.row_counts, get(cursor, FIRST_WALK) - 1
    for lane in range(count):
        word = ROW_SEED
        for number in range(words):
            word = hash_row_word(word, peek(view.rows, view.slices.lanes * number + lane))
        place = table + 16 * row_place(word)
        prefetch(place)
        poke(view.row_places, lane, np.uint64(place))
    for lane in range(count):
        place, record = get(view.row_places, lane), _record(view, integer(peek32(ids, lane)))
        if get(record, AGAIN) == 0:
            visit = VISIT_STEPS * (get(record, WALK) - first) + get(record, STEP)
            count_up(place, 0, 1)
            put(place, 1, max(get(place, 1), visit))


@part
def _is_empty(row: int, words: int) -> bool:
    bits = ZERO
    for word in range(words):
        bits |= peek(row, word)
    return bool(bits == ZERO)


@part
def _note_visit(view: SlicedView, cursor: int, lane: int, number: int, has_false: bool) -> None:
    """Count a visit where rows and states are counted, and note what is violated."""
    kernel, record = view.walk.kernel, _record(view, number)
    if view.walk.sketch != 0:
        add_to_sketch(view.walk.sketch, _state(view, number), kernel.words)
    if has_false:
        _note_false(view, cursor, lane, number, 1)
    if kernel.deadlock and _is_empty(view.walk.row, kernel.row_words):
        _note_violation(view, cursor, record, view.walk.properties, 1)


@part
def _note_false(view: SlicedView, cursor: int, lane: int, number: int, order: int) -> None:
    """Note the properties that are false in a lane for the first time in its walk."""
    record = _record(view, number)
    for word in range(view.walk.kernel.property_words):
        known = peek(record, KNOWN + word)
        false = peek(view.false, view.slices.lanes * word + lane) & ~known
        if false != ZERO:
            poke(record, KNOWN + word, known | false)
        while false != ZERO:
            _note_violation(view, cursor, record, 64 * word + lowest_bit(false), order)
            false &= false - ONE


@part
def _note_violation(view: SlicedView, cursor: int, record: int, prop: int, order: int) -> None:
    """Count a walk for a property, which it violates (kind `reachable`: shows) first in this state or step."""
    count_up(view.walk.property_hits, prop, 1)
    note_violation(view.walk, cursor, (get(record, WALK), get(record, STEP), order), prop, view.collect)


@part
def note_violation(view: WalkView, cursor: int, visit: tuple[int, int, int], prop: int, collect: int) -> None:
    """Note a walk that violates a property (kind `reachable`: shows it) first at a visit: (walk, step, order)."""
    walk, step, order = visit
    earliest = get(view.first_walk, prop)
    if earliest == 0 or walk + 1 < earliest:
        put(view.first_walk, prop, walk + 1)
        put(view.first_step, prop, step)
    is_deadlock = prop == view.properties
    if not is_deadlock and (peek(view.kernel.reachable_row, prop // 64) >> np.uint64(prop % 64)) & ONE != ZERO:
        return
    if view.kernel.stop:
        end_run_at(cursor, walk)
    if collect:
        place = view.findings + 32 * get(cursor, FINDINGS)
        put(place, 0, walk)
        put(place, 1, step)
        put(place, 2, order)
        put(place, 3, prop)
        count_up(cursor, FINDINGS, 1)


@part
def end_run_at(cursor: int, walk: int) -> None:
    """Begin no walk after this one, which ends the run."""
    if walk < get(cursor, BAD_WALK):
        put(cursor, BAD_WALK, walk)
        put(cursor, LAST_WALK, min(get(cursor, LAST_WALK), walk))


# Steps.


@part
def _step_some(view: SlicedView, cursor: int, instance: int, count: int) -> None:
    """Take the steps of the last walks in the queue of an instance."""
    kernel, words = view.walk.kernel, view.slices.plane // 8
    left = get(view.queued, instance) - count
    put(view.queued, instance, left)
    ids = view.queues + 8 * view.slices.lanes * instance + 4 * left
    loads = view.slices.loads + 8 * (kernel.words + 1) * instance
    stores = view.slices.stores + 8 * (kernel.words + 1) * instance
    for place in range(get(loads, 0)):
        word = get(loads, place + 1)
        _load(view, ids, count, word)
        call_void(view.slices.transpose, (view.columns + 8 * view.slices.lanes * word, _planes_of(view, word), 1))
    set_first_lanes(view.valid, count, words)
    if kernel.checks_steps:
        call_void(view.slices.save, (view.planes, view.saved))
    call_void(view.slices.apply, (instance, view.planes, view.valid, view.results))
    has_false = _judge_steps(view, cursor, instance)
    for place in range(get(stores, 0)):
        word = get(stores, place + 1)
        call_void(view.slices.transpose, (_planes_of(view, word), view.columns + 8 * view.slices.lanes * word, 1))
        _store(view, ids, count, word)
    all_taken = count_common_lanes(view.results, view.valid, words) == count
    for lane in range(count):
        number = integer(peek32(ids, lane))
        record = _record(view, number)
        if all_taken or has_lane(view.results, lane, words):
            _arrive(view, cursor, record)
            if has_false:
                _note_false(view, cursor, lane, number, 0)
            _add_ready(view, cursor, number)
        elif has_lane(view.results + view.slices.plane, lane, words):
            end_run_at(cursor, get(record, WALK))
        else:
            _exclude(view, cursor, number, instance)
            _add_ready(view, cursor, number)


@part
def _judge_steps(view: SlicedView, cursor: int, instance: int) -> bool:
    """Count the steps that were taken; return whether a checked step property is false in one of them."""
    kernel, words, taken = view.walk.kernel, view.slices.plane // 8, view.results
    number = count_common_lanes(taken, view.valid, words)
    count_up(view.walk.taken, instance, number)
    count_up(view.walk.stuttered, instance, number - count_common_lanes(taken, taken + 2 * view.slices.plane, words))
    count_up(cursor, STEPS, number)
    call_void(view.slices.count_bits, (taken + 3 * view.slices.plane, view.bounds, view.valid, view.walk.bound_hits))
    if not kernel.checks_steps:
        return False
    call_void(view.slices.check_step, (view.saved, view.planes, view.property_planes))
    premises = view.property_planes + 64 * view.slices.plane * kernel.property_words
    call_void(view.slices.count_bits, (premises, view.walk.properties, taken, view.premises))
    return _false_columns(view, kernel.step_row, taken)


@part
def _arrive(view: SlicedView, cursor: int, record: int) -> None:
    count_up(record, STEP, 1)
    if get(record, AGAIN) != 0:
        put(record, AGAIN, 0)
        count_up(cursor, RETRIES, -1)


@part
def _exclude(view: SlicedView, cursor: int, number: int, instance: int) -> None:
    """Choose again, without an instance that a bound disables."""
    record, excluded = _record(view, number), _excluded(view, number)
    if get(record, AGAIN) == 0:
        for word in range(view.walk.kernel.row_words):
            poke(excluded, word, ZERO)
        put(record, AGAIN, 1)
        count_up(cursor, RETRIES, 1)
    poke(excluded, instance // 64, peek(excluded, instance // 64) | (ONE << np.uint64(instance % 64)))


# Buffers.

MOST_RECORDS = 8192
"""Walks in progress, at most: more would leave the cache of a core; fewer fill their queues more slowly."""


class BlockBuffers:
    """What walks in blocks keep, wherever these are: findings, the cursor, and visits by rows of enabled instances.

    Args:
        kernel: A kernel with bit-sliced functions.
        view: The view of the walks.
        collect: Whether findings are written.
    """

    def __init__(self, kernel: Kernel, view: WalkView, *, collect: bool) -> None:
        assert kernel.sliced is not None
        self.kernel, self.sliced, self._collect = kernel, kernel.sliced, collect
        most = 2 * self.sliced.lanes * (kernel.properties + 1)
        self.findings = np.zeros((most if collect else 0, 4), np.int64)
        self.walk = view._replace(findings=self.findings.ctypes.data, max_findings=most)
        self.cursor = np.zeros(CURSOR_SIZE, np.int64)
        self.row_counts = isolated_zeros(2 * ROW_PLACES if view.row_visits else 1)

    def structure(self, kind: type[Layout], sizes: dict[str, int], **fields: Any) -> Structure[Layout]:
        """Return the arrays of a layout."""
        sizes = self.kernel.sizes | {"collect": int(self._collect), "FIRST_BOUND": FIRST_BOUND} | sizes
        fields |= {"walk": self.walk, "slices": self.sliced.view, "row_counts": self.row_counts.ctypes.data}
        return Structure(kind, sizes, **fields)

    def begin(self) -> None:
        """Begin the first walks."""
        raise NotImplementedError

    def advance(self) -> int:
        """Continue until all walks have ended, or there is no room for findings; return the status."""
        raise NotImplementedError

    def counts(self) -> dict[str, Any]:
        """Return the fields of `WalkCounts` that are counted here and not in the buffers of the walks."""
        raise NotImplementedError

    def run(self, first: int, last: int) -> tuple[int | None, np.ndarray]:
        """Run walks.

        Returns:
            The number of the first walk that ends the run, None if there is none; int64[n, 3], the findings in the
            order of the walks, then of the steps.
        """
        cursor, found = self.cursor, []
        cursor[NEXT_WALK], cursor[FIRST_WALK], cursor[LAST_WALK], cursor[BAD_WALK] = first, first, last, NO_WALK
        self.begin()
        status = WALK_FULL
        while status == WALK_FULL:
            cursor[FINDINGS] = 0
            status = self.advance()
            found.append(self.findings[: cursor[FINDINGS]].copy())
        findings = np.concatenate(found)
        in_order = findings[np.lexsort(findings.T[::-1])]
        bad = int(cursor[BAD_WALK])
        return (bad if bad < NO_WALK else None), in_order[:, [0, 1, 3]]

    def row_visits(self) -> dict[str, np.ndarray]:
        """Return the table of row visits as `walk_loops` has it, if there is one."""
        if not self.walk.row_visits:
            return {}
        counts, latest = self.row_counts.view(np.int64).reshape(ROW_PLACES, 2).T
        visits = np.zeros((ROW_PLACES, ROW_COLUMNS), np.int64)
        walks, steps = np.divmod(latest, VISIT_STEPS)
        visits[:, ROW_COUNT] = counts
        visits[:, ROW_LAST_WALK] = np.where(counts > 0, walks + int(self.cursor[FIRST_WALK]), 0)
        visits[:, ROW_LAST_STEP] = np.where(counts > 0, steps, 0)
        return {"row_visits": visits}


class SlicedBuffers(BlockBuffers):
    """The arrays of a `SlicedView`, for the walks of one chunk.

    Args:
        kernel: A kernel with bit-sliced functions.
        view: The view of the walks, whose counts are used.
        walks: The number of walks.
        collect: Whether findings are written.
    """

    def __init__(self, kernel: Kernel, view: WalkView, walks: int, *, collect: bool) -> None:
        super().__init__(kernel, view, collect=collect)
        self.records = min(MOST_RECORDS, walks)
        record_words = -(-(KNOWN + kernel.property_words) // LINE_WORDS) * LINE_WORDS
        sizes = {"count": self.records, "record_words": record_words, "swarm": int(view.groupings > 0)}
        self.arrays = self.structure(SlicedView, sizes | {"MAX_LEVEL": MAX_LEVEL})

    def begin(self) -> None:
        """Begin as many walks as there are records."""
        begin_sliced_walks(self.arrays.layout, self.cursor.ctypes.data, self.records)

    def advance(self) -> int:
        """Continue; see `run_sliced_walks`."""
        return int(run_sliced_walks(self.arrays.layout, self.cursor.ctypes.data))

    def counts(self) -> dict[str, Any]:
        """Return the fields of `WalkCounts` that are counted here and not in the buffers of the walks."""
        cursor, arrays = self.cursor, self.arrays
        return {
            "steps": int(cursor[STEPS]),
            "visits": int(cursor[VISITS]),
            "dead_ends": int(cursor[DEAD_ENDS]),
            "cuts": int(cursor[CUTS]),
            "quiescent": int(arrays.enabled[-1]),
            "enabled": arrays.enabled[:-1],
            "premises": arrays.premises[: self.kernel.properties],
            **self.row_visits(),
        }
