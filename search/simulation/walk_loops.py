"""The compiled loop of random walks: from an initial state, one enabled instance after another.

Words: a walk *visits* its states, the first one included. It ends after `depth` steps, at a *dead end* (nothing is
enabled), or it is *cut* (nothing that it may take is enabled). Its random numbers depend on the seed and the number of
the walk only. Without a swarm all enabled instances are equally likely. In a swarm, each walk draws a *grouping*, which
divides the instances into groups, and for each group up to which *level* it belongs; a step draws a level and takes an
enabled instance of that level, or of a lower one if none is enabled. Level 0 has all instances that walks may take. So
most steps leave out a group that is in level 0 only, and prefer one in the highest level. A walk may begin at a
*restart*, a state with a known path from an initial state; its steps are numbered from that initial state.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kwalk.search.exhaustive.layout import KernelView
from kwalk.search.native.bit_sliced_counters import add_rows
from kwalk.search.native.intrinsics import (
    HASH_FACTORS,
    ONE,
    ZERO,
    bit_count,
    call,
    call_void,
    count_up,
    folded_multiply,
    get,
    integer,
    lowest_bit,
    peek,
    poke,
    put,
    scale,
    select_bit,
)
from kwalk.search.native.loops import Word, loop, part
from kwalk.search.native.splitmix64 import GOLDEN, mix
from kwalk.search.native.structures import int64s, uint64s
from kwalk.search.simulation.hyperloglog import add_to_sketch
from kwalk.search.visited.keys import copy_words, finalize_hash, same_words

RING = 252
"""Visits whose bit rows are buffered before they are added to the counters."""
MAX_LEVEL = 3
"""The highest level of preference."""

(
    CURSOR_WALK,
    CURSOR_LAST,
    CURSOR_STEP,
    CURSOR_STEPS,
    CURSOR_DEAD_ENDS,
    CURSOR_QUIESCENT,
    CURSOR_FINDINGS,
    CURSOR_START,
    CURSOR_FAILURE,
    CURSOR_BUFFERED,
    CURSOR_VISITS,
    CURSOR_CUTS,
    CURSOR_LEVELS,
) = range(13)
"""Fields of the cursor, int64[13]: the next (or failed) walk, the end of the walks, the step in the walk, the steps of
all walks, dead ends, visits to quiescent states, findings, the number of the start of the walk, the result of `apply`
when it failed, the visits in the ring, the visits counted, the walks that were cut, and the levels of the walk."""
CURSOR_SIZE = 13

WALK_CONTINUES, WALK_DONE, WALK_FULL, WALK_VIOLATION, WALK_FAILED = range(5)
"""The status of a walk, or of several: it continues, all are done, there is no room for findings, a violation ends the
run, or an action left its domain."""

ROW_COUNT, ROW_LAST_WALK, ROW_LAST_STEP = range(3)
"""Columns of the table of row visits: the visits, and the walk (plus 1) and the step of the latest one."""
ROW_COLUMNS = 3
ROW_BITS = 14
ROW_PLACES = 1 << ROW_BITS
"""Places of the table of row visits: rows of enabled instances are hashed to one of them."""
ROW_SEED, _ROW_FACTOR, _ = HASH_FACTORS


class WalkView(NamedTuple):
    """What the loop works on: sizes, flags, and addresses of functions, bit rows, buffers and counts."""

    kernel: KernelView
    """A deadlock violates property number `properties`."""
    properties: int
    advance: int
    depth: int
    seed: int
    """Already mixed, as an int64."""
    starts: int
    """The packed states where walks begin: initial ones, then restarts."""
    start_count: int
    """The number of initial states."""
    restart_count: int
    restart_chance: int
    """How many of 2^16 walks begin at a restart."""
    start_steps: int
    """int64 per start: how many steps lead to it from an initial state."""
    groupings: int
    """The number of groupings; 0 without a swarm."""
    grouping_ends: int
    """int64[groupings + 1]: where the groups of each grouping begin."""
    group_rows: int
    """uint64[row words, groups]: the bit row of instances of each group."""
    group_thresholds: int
    """uint64[MAX_LEVEL, groups]: a group is in a level if its random word is below the threshold."""
    sketch: int
    """HyperLogLog registers; 0 for none."""
    row_visits: int
    """int64[ROW_PLACES, ROW_COLUMNS]: visits by the set of enabled instances; 0 for none."""
    max_findings: int
    start_rows: int = uint64s("(start_count + restart_count) * row_words")
    """The bit row of enabled instances of each start."""
    states: int = uint64s("2 * words")
    """Two packed states."""
    row: int = uint64s("2 * row_words")
    """The enabled instances, and these without the blocked ones."""
    false: int = uint64s("3 * property_words")
    """Properties: the false ones, those already violated in this walk, and premises."""
    ring_rows: int = uint64s("RING * row_words")
    """Bit rows of enabled instances."""
    ring_premises: int = uint64s("RING * property_words")
    """Bit rows of properties."""
    masks: int = uint64s("(1 + MAX_LEVEL) * row_words")
    """For each level, the instances that it prefers."""
    track: int = int64s("depth")
    """The instance of each step."""
    enabled: int = uint64s("row_words * PLANES")
    """Bit-sliced counters per instance: visits at which it was enabled."""
    premises: int = uint64s("property_words * PLANES")
    """Bit-sliced counters per property: visits (or steps) at which its premise held."""
    taken: int = int64s("instances")
    stuttered: int = int64s("instances")
    """Steps that led to the same state."""
    bound_hits: int = int64s("bounds")
    """Steps that each bound disabled."""
    property_hits: int = int64s("properties + 1")
    """Per property, then deadlock: walks in which it was violated (kind `reachable`: witnessed)."""
    first_walk: int = int64s("properties + 1")
    """Per property, then deadlock: the first such walk, plus 1; 0 for none."""
    first_step: int = int64s("properties + 1")
    findings: int = int64s("3 * max_findings")
    """Walk, step, property."""


@loop
def run_walks_of(view: WalkView, cursor: int) -> int:
    """Run the walks CURSOR_WALK … CURSOR_LAST - 1 of the cursor at an address; return the status."""
    status = WALK_DONE
    while get(cursor, CURSOR_WALK) < get(cursor, CURSOR_LAST):
        if get(cursor, CURSOR_FINDINGS) + view.properties + 1 > view.max_findings:
            status = WALK_FULL
            break
        result = _walk(view, cursor)
        if result == WALK_FAILED:
            status = WALK_FAILED
            break
        count_up(cursor, CURSOR_WALK, 1)
        if result == WALK_VIOLATION:
            status = WALK_VIOLATION
            break
    _flush_ring(view, cursor)
    return status


@part
def _walk(view: WalkView, cursor: int) -> int:
    """Run one walk; return its status."""
    random = mix(np.uint64(view.seed) + np.uint64(get(cursor, CURSOR_WALK)) * GOLDEN)
    here, there = view.states, view.states + 8 * view.kernel.words
    random = _begin(view, cursor, random)
    status = _visit(view, cursor, here)
    while status == WALK_CONTINUES and get(cursor, CURSOR_STEP) < view.depth:
        random += GOLDEN
        instance = _take(view, cursor, (here, there), mix(random))
        if instance < 0:
            return WALK_FAILED if get(cursor, CURSOR_FAILURE) < 0 else WALK_DONE
        here, there = there, here
        if view.kernel.checks_steps:
            status = _check_step(view, cursor, there, here)
        if status == WALK_CONTINUES:
            status = _visit(view, cursor, here)
    return status


@part
def _begin(view: WalkView, cursor: int, random: Word) -> Word:
    """Copy the start of the walk, and draw its preferences; return its random number after that."""
    random += GOLDEN
    start, levels = draw_start(view, view.masks, random)
    put(cursor, CURSOR_LEVELS, levels)
    put(cursor, CURSOR_START, start)
    put(cursor, CURSOR_STEP, get(view.start_steps, start))
    put(cursor, CURSOR_FAILURE, 0)
    copy_words(view.states, view.starts + 8 * view.kernel.words * start, view.kernel.words)
    copy_words(view.row, view.start_rows + 8 * view.kernel.row_words * start, view.kernel.row_words)
    for word in range(view.kernel.property_words):
        poke(view.false, view.kernel.property_words + word, ZERO)
    return random


@part
def draw_start(view: WalkView, masks: int, random: Word) -> tuple[int, int]:
    """Return the number of the start of a walk and its highest level; write the masks of its levels."""
    start, levels = integer(scale(mix(random), np.uint64(view.start_count))), integer(0)
    if view.groupings > 0:
        apart = mix(random + ONE)  # preferences have a stream of their own: that of the walk does not move
        if view.restart_count > 0 and integer(apart >> np.uint64(48)) < view.restart_chance:
            start = view.start_count + integer(scale(mix(apart + ONE), np.uint64(view.restart_count)))
        levels = _draw_preferences(view, masks, apart)
    return start, levels


@part
def _draw_preferences(view: WalkView, masks: int, random: Word) -> int:
    """Draw a grouping and the levels of its groups, and write their masks; return the highest level."""
    random = mix(random + GOLDEN)
    grouping = integer(scale(random, np.uint64(view.groupings)))
    group = get(view.grouping_ends, grouping)
    end = get(view.grouping_ends, grouping + 1)
    if group == end:
        return 0
    for word in range(view.kernel.row_words):
        _draw_masks(view, masks, word, (group, end), random)
    return MAX_LEVEL


@part
def _draw_masks(view: WalkView, masks: int, word: int, groups: tuple[int, int], random: Word) -> None:
    """Write one word of the masks: each group is in the levels whose thresholds are above its random word.

    There are no branches on random words, and nothing is written in the loop, so that LLVM makes vectors of it.
    """
    total = get(view.grouping_ends, view.groupings)
    rows, thresholds = view.group_rows + 8 * total * word, view.group_thresholds
    one = two = three = ZERO
    for group in range(groups[0], groups[1]):
        draw, row = mix(random + np.uint64(group - groups[0] + 1) * GOLDEN), peek(rows, group)
        one |= row if draw < peek(thresholds, group) else ZERO
        two |= row if draw < peek(thresholds, total + group) else ZERO
        three |= row if draw < peek(thresholds, 2 * total + group) else ZERO
    words = view.kernel.row_words
    poke(masks, words + word, one)
    poke(masks, 2 * words + word, two)
    poke(masks, MAX_LEVEL * words + word, three)


@part
def _take(view: WalkView, cursor: int, places: tuple[int, int], random: Word) -> int:
    """Take a random step from one place to the other; return its instance, or -1 at the end of the walk."""
    row = view.row
    while True:
        instance = choose(view, row, view.masks, get(cursor, CURSOR_LEVELS), random)
        if instance < 0:
            _count_end(view, cursor, row)
            return -1
        code = call(view.advance, (instance, places[0], places[1], view.row))
        if code == 0:
            break
        if code < 0:
            put(cursor, CURSOR_FAILURE, code)
            return -1
        count_up(view.bound_hits, code - 1, 1)
        row = _without(view, row, instance)
        random = mix(random + GOLDEN)
    poke(view.track, get(cursor, CURSOR_STEP), np.uint64(instance))
    count_up(cursor, CURSOR_STEP, 1)
    count_up(cursor, CURSOR_STEPS, 1)
    count_up(view.taken, instance, 1)
    if same_words(places[0], places[1], view.kernel.words):
        count_up(view.stuttered, instance, 1)
    return instance


@part
def choose(view: WalkView, row: int, masks: int, levels: int, random: Word) -> int:
    """Choose a random instance of a row at a random level, or at a lower one; -1 if the walk may take none."""
    words = view.kernel.row_words
    if view.groupings == 0:
        return _choose_within(row, masks, words, random)
    level = integer(scale(random << np.uint64(32), np.uint64(levels + 1)))  # from the low bits of the word
    if words == 1:
        return _choose_of_one(row, masks, level, random)
    if words == 2:
        return _choose_of_two(row, masks, level, random)
    while True:
        instance = _choose_within(row, masks + 8 * words * level, words, random)
        if instance >= 0 or level == 0:
            return instance
        level -= 1


@part
def _choose_of_one(row: int, masks: int, highest: int, random: Word) -> int:
    """Choose from a row of one word, without branches on the levels, as these are random."""
    one = peek(row, 0)
    bits = one & peek(masks, 0)
    for level in range(1, MAX_LEVEL + 1):
        more = one & peek(masks, level)
        bits = more if (level <= highest) & (more != ZERO) else bits
    if bits == ZERO:
        return -1
    return select_bit(bits, integer(scale(random, np.uint64(bit_count(bits)))))


@part
def _choose_of_two(row: int, masks: int, highest: int, random: Word) -> int:
    """Choose from a row of two words, without branches on the levels, as these are random."""
    one, two = peek(row, 0), peek(row, 1)
    low, high = one & peek(masks, 0), two & peek(masks, 1)
    for level in range(1, MAX_LEVEL + 1):
        more, above = one & peek(masks, 2 * level), two & peek(masks, 2 * level + 1)
        preferred = (level <= highest) & (more | above != ZERO)
        low, high = more if preferred else low, above if preferred else high
    return _select_of_two(low, high, random)


@part
def _select_of_two(low: Word, high: Word, random: Word) -> int:
    """Return the number of a random set bit of two words, without a branch on the word; -1 if there is none."""
    if low | high == ZERO:
        return -1
    below = bit_count(low)
    rank = integer(scale(random, np.uint64(below + bit_count(high))))
    is_high = rank >= below
    place = select_bit(high if is_high else low, rank - below if is_high else rank)
    return place + 64 if is_high else place


@part
def _choose_within(row: int, mask: int, words: int, random: Word) -> int:
    """Return the number of a random set bit of a row within a mask; -1 if there is none."""
    if words == 1:
        bits = peek(row, 0) & peek(mask, 0)
        if bits == ZERO:
            return -1
        return select_bit(bits, integer(scale(random, np.uint64(bit_count(bits)))))
    if words == 2:
        return _select_of_two(peek(row, 0) & peek(mask, 0), peek(row, 1) & peek(mask, 1), random)
    total = integer(0)
    for word in range(words):
        total += bit_count(peek(row, word) & peek(mask, word))
    rank = integer(scale(random, np.uint64(total)))
    for word in range(words):
        bits = peek(row, word) & peek(mask, word)
        if rank < bit_count(bits):
            return 64 * word + select_bit(bits, rank)
        rank -= bit_count(bits)
    return -1


@part
def _without(view: WalkView, row: int, instance: int) -> int:
    """Return a row without an instance that a bound disables; `view.row` stays as it is."""
    other = view.row + 8 * view.kernel.row_words
    if row != other:
        copy_words(other, row, view.kernel.row_words)
    bits = peek(other, instance // 64)
    poke(other, instance // 64, bits & ~(ONE << np.uint64(instance % 64)))
    return other


@part
def _count_end(view: WalkView, cursor: int, row: int) -> None:
    """Count the end of a walk: cut if an instance is left that it may not take, else at a dead end."""
    left = ZERO
    for word in range(view.kernel.row_words):
        left |= peek(row, word)
    count_up(cursor, CURSOR_DEAD_ENDS if left == ZERO else CURSOR_CUTS, 1)


@part
def _visit(view: WalkView, cursor: int, state: int) -> int:
    """Count the enabled instances of a state and check its properties; WALK_VIOLATION if that ends the run."""
    buffered, words = get(cursor, CURSOR_BUFFERED), view.kernel.row_words
    enabled = system = ZERO
    for word in range(words):
        row = peek(view.row, word)
        poke(view.ring_rows, buffered * words + word, row)
        enabled |= row
        system |= row & peek(view.kernel.system_row, word)
    quiescent = integer(system == ZERO)
    count_up(cursor, CURSOR_QUIESCENT, quiescent)
    if view.sketch != 0:
        add_to_sketch(view.sketch, state, view.kernel.words)
    if view.row_visits != 0:
        count_row(view.row_visits, view.row, words, get(cursor, CURSOR_WALK), get(cursor, CURSOR_STEP))
    status = WALK_CONTINUES
    if view.kernel.checks_states:
        premise = view.ring_premises + 8 * view.kernel.property_words * buffered
        call_void(view.kernel.check, (state, quiescent, view.false, premise))
        status = _note_violations(view, cursor, view.kernel.state_row)
    if view.kernel.deadlock and enabled == ZERO:
        _count_hit(view, cursor, view.properties)
        status = max(status, _add_finding(view, cursor, view.properties))
    put(cursor, CURSOR_BUFFERED, buffered + 1)
    if buffered + 1 == RING:
        _flush_ring(view, cursor)
    return status


@part
def hash_row_word(before: Word, word: Word) -> Word:
    """Return the hash of one more word of a row; `before` is that of the words before it, or ROW_SEED."""
    return folded_multiply(word ^ before, _ROW_FACTOR)


@part
def row_place(word: Word) -> int:
    """Return the place of a row in the table of row visits, by the hash of its words."""
    return place_of_hash(finalize_hash(word))


@part
def place_of_hash(word: Word) -> int:
    """Return the place of a row in the table of row visits, by its hash."""
    return integer(word >> np.uint64(64 - ROW_BITS))


@part
def count_row(visits: int, row: int, words: int, walk: int, step: int) -> None:
    """Count a visit in the table of row visits, by the row of enabled instances."""
    word = ROW_SEED
    for number in range(words):
        word = hash_row_word(word, peek(row, number))
    place = visits + 8 * ROW_COLUMNS * row_place(word)
    count_up(place, ROW_COUNT, 1)
    latest = get(place, ROW_LAST_WALK)
    if walk + 1 > latest or (walk + 1 == latest and step > get(place, ROW_LAST_STEP)):
        put(place, ROW_LAST_WALK, walk + 1)
        put(place, ROW_LAST_STEP, step)


@part
def _check_step(view: WalkView, cursor: int, before: int, after: int) -> int:
    """Check the step properties; WALK_VIOLATION if that ends the run."""
    premise = view.false + 16 * view.kernel.property_words
    call_void(view.kernel.check_step, (before, after, view.false, premise))
    add_rows(view.premises, premise, 1, view.kernel.property_words)
    return _note_violations(view, cursor, view.kernel.step_row)


@part
def _note_violations(view: WalkView, cursor: int, checked: int) -> int:
    """Note the checked properties that are false for the first time in this walk."""
    status = WALK_CONTINUES
    for word in range(view.kernel.property_words):
        known = view.kernel.property_words + word
        false = peek(view.false, word) & peek(checked, word) & ~peek(view.false, known)
        if false != ZERO:
            poke(view.false, known, peek(view.false, known) | false)
            status = max(status, _note_word(view, cursor, word, false))
    return status


@part
def _note_word(view: WalkView, cursor: int, word: int, false: Word) -> int:
    """Note the properties of one word of the row that are false; WALK_VIOLATION if one of them ends the run."""
    status = WALK_CONTINUES
    while false != ZERO:
        low = lowest_bit(false)
        _count_hit(view, cursor, 64 * word + low)
        if (peek(view.kernel.reachable_row, word) >> np.uint64(low)) & ONE == ZERO:
            status = max(status, _add_finding(view, cursor, 64 * word + low))
        false &= false - ONE
    return status


@part
def _count_hit(view: WalkView, cursor: int, prop: int) -> None:
    """Count the walk for a property, and note the first one."""
    count_up(view.property_hits, prop, 1)
    if peek(view.first_walk, prop) == ZERO:
        poke(view.first_walk, prop, np.uint64(get(cursor, CURSOR_WALK) + 1))
        poke(view.first_step, prop, np.uint64(get(cursor, CURSOR_STEP)))


@part
def _add_finding(view: WalkView, cursor: int, prop: int) -> int:
    """Write a finding; WALK_VIOLATION if the run stops at the first one."""
    place = 3 * get(cursor, CURSOR_FINDINGS)
    poke(view.findings, place, np.uint64(get(cursor, CURSOR_WALK)))
    poke(view.findings, place + 1, np.uint64(get(cursor, CURSOR_STEP)))
    poke(view.findings, place + 2, np.uint64(prop))
    count_up(cursor, CURSOR_FINDINGS, 1)
    return WALK_VIOLATION if view.kernel.stop else WALK_CONTINUES


@part
def _flush_ring(view: WalkView, cursor: int) -> None:
    """Add the bit rows in the ring to the bit-sliced counters."""
    add_rows(view.enabled, view.ring_rows, get(cursor, CURSOR_BUFFERED), view.kernel.row_words)
    if view.kernel.checks_states:
        add_rows(view.premises, view.ring_premises, get(cursor, CURSOR_BUFFERED), view.kernel.property_words)
    count_up(cursor, CURSOR_VISITS, get(cursor, CURSOR_BUFFERED))
    put(cursor, CURSOR_BUFFERED, 0)


@loop
def evaluate_guards(guards: int, states: tuple[int, int], rows: tuple[int, int], count: int) -> None:
    """Write the bit rows of the instances that are enabled in states: (address, words) of each."""
    for number in range(count):
        call_void(guards, (states[0] + 8 * states[1] * number, rows[0] + 8 * rows[1] * number))


@loop
def mixed_word(word: Word) -> Word:
    """Return `mix` of a word, for Python."""
    return mix(word)
