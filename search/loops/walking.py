"""Random walks: from an initial state, one enabled instance after another.

Without preferences each is as likely as the others. Words: a walk's *stream* of random numbers depends on the seed and
the walk's number only. For the others see `walker` and `tastes`.
"""
from __future__ import annotations

import numpy as np

from search.loops.choosing import choose, without
from search.loops.keys import copy_words, same_words
from search.loops.native import (
    ONE,
    ZERO,
    Word,
    call,
    call_void,
    count_up,
    get,
    integer,
    loop,
    lowest_bit,
    part,
    peek,
    poke,
    put,
    scale,
)
from search.loops.randomness import GOLDEN, mix
from search.loops.sketching import note_row, note_state
from search.loops.tally import add_rows
from search.loops.tastes import draw_taste
from search.loops.walker import (
    CUTS,
    DEAD_ENDS,
    DONE,
    FAILED,
    FAILURE,
    FINDINGS,
    FOUND,
    FULL,
    GOING,
    KEPT,
    LAST,
    LEVELS,
    QUIET,
    RING,
    START,
    STEP,
    STEPS,
    VISITS,
    WALK,
    Walker,
)


@loop
def run_through(walker: Walker, cursor: int) -> int:
    """Do the walks WALK … LAST - 1 of the cursor, given by its address; returns why it came back."""
    status = DONE
    while get(cursor, WALK) < get(cursor, LAST):
        if get(cursor, FINDINGS) + walker.claims + 1 > walker.most_findings:
            status = FULL
            break
        became = _walk(walker, cursor)
        if became == FAILED:
            status = FAILED
            break
        count_up(cursor, WALK, 1)
        if became == FOUND:
            status = FOUND
            break
    _count(walker, cursor)
    return status


@part
def _walk(walker: Walker, cursor: int) -> int:
    """Do one walk."""
    random = mix(np.uint64(walker.seed) + np.uint64(get(cursor, WALK)) * GOLDEN)
    here, there = walker.states, walker.states + 8 * walker.words
    random = _begin(walker, cursor, random)
    status = _visit(walker, cursor, here)
    while status == GOING and get(cursor, STEP) < walker.depth:
        random += GOLDEN
        instance = _take(walker, cursor, (here, there), mix(random))
        if instance < 0:
            return FAILED if get(cursor, FAILURE) < 0 else DONE
        here, there = there, here
        if walker.checks_steps:
            status = _check_step(walker, cursor, there, here)
        if status == GOING:
            status = _visit(walker, cursor, here)
    return status


@part
def _begin(walker: Walker, cursor: int, random: Word) -> Word:
    """Put the walk at an initial state; the walk's random number after that choice."""
    random += GOLDEN
    start = integer(scale(mix(random), np.uint64(walker.start_count)))
    if walker.tastes > 0:
        apart = mix(random + ONE)  # what follows has a stream of its own, so that the walk's is not moved
        if walker.restart_count > 0 and integer(apart >> np.uint64(48)) < walker.restart_chance:
            start = walker.start_count + integer(scale(mix(apart + ONE), np.uint64(walker.restart_count)))
        put(cursor, LEVELS, draw_taste(walker, apart))
    put(cursor, START, start)
    put(cursor, STEP, get(walker.start_steps, start))
    put(cursor, FAILURE, 0)
    copy_words(walker.states, walker.starts + 8 * walker.words * start, walker.words)
    copy_words(walker.row, walker.start_rows + 8 * walker.row_words * start, walker.row_words)
    for word in range(walker.claim_words):
        poke(walker.false, walker.claim_words + word, ZERO)
    return random


@part
def _take(walker: Walker, cursor: int, places: tuple[int, int], random: Word) -> int:
    """Take a random step from one place to the other; its instance, or -1 at a dead end or a failure."""
    row = walker.row
    while True:
        instance = choose(walker, row, get(cursor, LEVELS), random)
        if instance < 0:
            _end(walker, cursor, row)
            return -1
        code = call(walker.advance, (instance, places[0], places[1], walker.row))
        if code == 0:
            break
        if code < 0:
            put(cursor, FAILURE, code)
            return -1
        count_up(walker.hits, code - 1, 1)
        row = without(walker, row, instance)
        random = mix(random + GOLDEN)
    poke(walker.track, get(cursor, STEP), np.uint64(instance))
    count_up(cursor, STEP, 1)
    count_up(cursor, STEPS, 1)
    count_up(walker.taken, instance, 1)
    if same_words(places[0], places[1], walker.words):
        count_up(walker.idle, instance, 1)
    return instance


@part
def _end(walker: Walker, cursor: int, row: int) -> None:
    """Count a walk that nothing is left for: cut if something is left that is not allowed, else at a dead end."""
    left = ZERO
    for word in range(walker.row_words):
        left |= peek(row, word)
    count_up(cursor, DEAD_ENDS if left == ZERO else CUTS, 1)


@part
def _visit(walker: Walker, cursor: int, state: int) -> int:
    """Count what is enabled in a state and check its claims; FOUND if that ends the run."""
    kept, words = get(cursor, KEPT), walker.row_words
    enabled = system = ZERO
    for word in range(words):
        row = peek(walker.row, word)
        poke(walker.ring_rows, kept * words + word, row)
        enabled |= row
        system |= row & peek(walker.system_row, word)
    quiet = integer(system == ZERO)
    count_up(cursor, QUIET, quiet)
    if walker.sketch != 0:
        note_state(walker, state)
    if walker.rare != 0:
        note_row(walker, get(cursor, WALK), get(cursor, STEP))
    status = GOING
    if walker.checks_states:
        premise = walker.ring_premises + 8 * walker.claim_words * kept
        call_void(walker.check, (state, quiet, walker.false, premise))
        status = _judge(walker, cursor, walker.state_row)
    if walker.deadlock and enabled == ZERO:
        _remember(walker, cursor, walker.claims)
        status = max(status, _find(walker, cursor, walker.claims))
    put(cursor, KEPT, kept + 1)
    if kept + 1 == RING:
        _count(walker, cursor)
    return status


@part
def _check_step(walker: Walker, cursor: int, before: int, after: int) -> int:
    """Check the step claims; FOUND if that ends the run."""
    premise = walker.false + 16 * walker.claim_words
    call_void(walker.check_step, (before, after, walker.false, premise))
    add_rows(walker.premises, premise, 1, walker.claim_words)
    return _judge(walker, cursor, walker.step_row)


@part
def _judge(walker: Walker, cursor: int, asked: int) -> int:
    """Note the claims that are false for the first time in this walk."""
    status = GOING
    for word in range(walker.claim_words):
        known = walker.claim_words + word
        false = peek(walker.false, word) & peek(asked, word) & ~peek(walker.false, known)
        if false != ZERO:
            poke(walker.false, known, peek(walker.false, known) | false)
            status = max(status, _note(walker, cursor, word, false))
    return status


@part
def _note(walker: Walker, cursor: int, word: int, false: Word) -> int:
    """Remember claims that are false; FOUND if one of them ends the run."""
    status = GOING
    while false != ZERO:
        low = lowest_bit(false)
        _remember(walker, cursor, 64 * word + low)
        if (peek(walker.reachable_row, word) >> np.uint64(low)) & ONE == ZERO:
            status = max(status, _find(walker, cursor, 64 * word + low))
        false &= false - ONE
    return status


@part
def _remember(walker: Walker, cursor: int, claim: int) -> None:
    """Count the walk for a claim, and keep the first one."""
    count_up(walker.seen, claim, 1)
    if peek(walker.first_walk, claim) == ZERO:
        poke(walker.first_walk, claim, np.uint64(get(cursor, WALK) + 1))
        poke(walker.first_step, claim, np.uint64(get(cursor, STEP)))


@part
def _find(walker: Walker, cursor: int, claim: int) -> int:
    """Write down a finding; FOUND if the run stops at the first one."""
    place = 3 * get(cursor, FINDINGS)
    poke(walker.findings, place, np.uint64(get(cursor, WALK)))
    poke(walker.findings, place + 1, np.uint64(get(cursor, STEP)))
    poke(walker.findings, place + 2, np.uint64(claim))
    count_up(cursor, FINDINGS, 1)
    return FOUND if walker.stop else GOING


@part
def _count(walker: Walker, cursor: int) -> None:
    """Add the bit rows in the ring to the vertical counters."""
    add_rows(walker.enabled, walker.ring_rows, get(cursor, KEPT), walker.row_words)
    if walker.checks_states:
        add_rows(walker.premises, walker.ring_premises, get(cursor, KEPT), walker.claim_words)
    count_up(cursor, VISITS, get(cursor, KEPT))
    put(cursor, KEPT, 0)


@loop
def evaluate_guards(guards: int, state: int, row: int) -> None:
    """Write the bit row of the instances that are enabled in a state."""
    call_void(guards, (state, row))


@loop
def mixed(word: Word) -> Word:
    """`mix`, for Python."""
    return mix(word)
