"""Random walks that observe relations between transition groups, before Z3 decides the rest.

What is observed needs no proof: that two groups do not accord, or that a group makes an atom true. What is never
observed has to be refuted by other means.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from kwalk.model.language import Model
from kwalk.search.kernel.interface import Kernel
from kwalk.search.native.bits import add_bits, has_bit, set_bit
from kwalk.search.native.intrinsics import ZERO, bit_count, call, call_void, integer, peek, scale, select_bit
from kwalk.search.native.loops import Int32Matrix, Word, WordArray, WordMatrix, loop, part
from kwalk.search.partial_order.atom_code import FUNCTION, load_atom_code, words_for
from kwalk.search.partial_order.dependency_analysis import ObservedRelations
from kwalk.search.partial_order.transition_groups import TransitionGroup
from kwalk.search.visited.keys import copy_words, same_words

STEPS = 100_000
"""Steps of all walks."""
WALK_LENGTH = 150
SAMPLE_INTERVAL = 4
"""One of this many states is kept."""
MAX_PAIRS = 300_000
"""Pairs of enabled groups that are recorded."""
SEED = 88_172_645_463_325_252


def observe_relations(
    model: Model, kernel: Kernel, groups: Sequence[TransitionGroup], atoms: int, code: Sequence[bytes]
) -> ObservedRelations:
    """Return what walks of STEPS steps observe; the same for every run.

    Args:
        model: The model.
        kernel: Its kernel.
        groups: Its transition groups.
        atoms: The number of atoms.
        code: See `atom_code`.
    """
    machine, count = load_atom_code(code), len(groups)
    words, group_words, atom_words = kernel.words, words_for(count), words_for(atoms)
    instances = np.array([group.instance for group in groups], np.int64)
    do_not_accord = np.zeros((count, group_words), np.uint64)
    raised_atoms = np.zeros((count, atom_words), np.uint64)
    after, spare = np.zeros(words * count, np.uint64), np.zeros(2 * words, np.uint64)
    rows = np.zeros((count + 1) * (atom_words + group_words), np.uint64)
    sampled = np.zeros((-(-STEPS // SAMPLE_INTERVAL), words), np.uint64)
    arrays = (instances, do_not_accord, raised_atoms, after, rows, spare, sampled)
    layout = ObservationLayout(
        words,
        count,
        group_words,
        atom_words,
        kernel.apply,
        machine.addresses[FUNCTION],
        *(array.ctypes.data for array in arrays),
    )
    starts = kernel.pack(np.array(model.initial, np.int64).reshape(len(model.initial), -1))
    observe(layout, starts, starts[0].copy(), (STEPS, WALK_LENGTH, SEED))
    pairs = np.zeros((MAX_PAIRS, 4), np.int32)
    count = co_enabled_pairs(layout, sampled, pairs)
    pairs[:, 0] += len(starts)
    states = np.vstack([starts, sampled])
    return ObservedRelations(_masks(do_not_accord), _masks(raised_atoms), states, pairs[:count].copy())


def _masks(rows: np.ndarray) -> list[int]:
    return [int.from_bytes(row.tobytes(), "little") for row in rows]


class ObservationLayout(NamedTuple):
    """Sizes, and addresses of functions, of buffers and of results."""

    words: int
    groups: int
    group_words: int
    atom_words: int
    apply: int
    atoms: int
    instances: int
    """int64 per group: its instance."""
    do_not_accord: int
    """Result, per group: the row of groups that were observed not to accord with it."""
    raised_atoms: int
    """Result, per group: the row of atoms that it was observed to make true."""
    after: int
    """Per group, a state."""
    rows: int
    """A row of atoms with a row of groups behind it, for the state and for the state after each group."""
    spare: int
    """Two states."""
    sampled: int
    """Result: one of SAMPLE_INTERVAL states."""


@loop
def observe(o: ObservationLayout, starts: WordMatrix, state: WordArray, plan: tuple[int, int, int]) -> int:
    """Walk from random initial states, and return the number of walks.

    Args:
        o: The layout.
        starts: The packed initial states: uint64[n, words].
        state: A buffer for one state.
        plan: Steps, steps of one walk, seed.
    """
    steps, longest, seed = plan
    random, left, begun = np.uint64(seed), integer(0), integer(0)
    at = state.ctypes.data
    for number in range(steps):
        if number % SAMPLE_INTERVAL == 0:
            copy_words(o.sampled + 8 * o.words * (number // SAMPLE_INTERVAL), at, o.words)
        if left == 0:
            random = _next(random)
            copy_words(at, starts[integer(scale(random, np.uint64(len(starts))))].ctypes.data, o.words)
            left, begun = longest, begun + 1
        count = _observe_state(o, at)
        random = _next(random)
        left -= 1
        if count == 0:
            left = integer(0)
        else:
            group = _enabled_group(o, integer(scale(random, np.uint64(count))))
            copy_words(at, o.after + 8 * o.words * group, o.words)
    return begun


@loop
def co_enabled_pairs(o: ObservationLayout, states: WordMatrix, pairs: Int32Matrix) -> int:
    """Write which pairs of groups are enabled together in packed states, and return how many there are.

    Args:
        o: The layout.
        states: uint64[n, words].
        pairs: int32[most, 4]: the state's number, both groups, 1 if they do not accord there. No more are written.
    """
    count = integer(0)
    for number in range(len(states)):
        _observe_state(o, states[number].ctypes.data)
        for one in range(o.groups):
            if has_bit(_enabled(o, 0), one):
                for other in range(one):
                    if has_bit(_enabled(o, 0), other):
                        if count == len(pairs):
                            return count
                        pairs[count, 0], pairs[count, 1], pairs[count, 2] = number, one, other
                        pairs[count, 3] = _conflict(o, one, other)
                        count += 1
    return count


@part
def _next(random: Word) -> Word:
    """Return the next number of a xorshift generator (G. Marsaglia, "Xorshift RNGs", 2003)."""
    random ^= random << np.uint64(13)
    random ^= random >> np.uint64(7)
    return random ^ (random << np.uint64(17))


@part
def _row(o: ObservationLayout, number: int) -> int:
    """Return the row of atoms after group `number` - 1, with the row of groups behind it; 0: of the state itself."""
    return o.rows + 8 * (o.atom_words + o.group_words) * number


@part
def _enabled(o: ObservationLayout, number: int) -> int:
    return _row(o, number) + 8 * o.atom_words


@part
def _enabled_group(o: ObservationLayout, rank: int) -> int:
    """Return the enabled group that has `rank` others before it."""
    for word in range(o.group_words):
        bits = peek(_enabled(o, 0), word)
        count = bit_count(bits)
        if rank < count:
            return 64 * word + select_bit(bits, rank)
        rank -= count
    return integer(-1)


@part
def _observe_state(o: ObservationLayout, at: int) -> int:
    """Record what a state shows, and return how many groups are enabled in it."""
    call_void(o.atoms, (at, o.rows))
    count = integer(0)
    for group in range(o.groups):
        if has_bit(_enabled(o, 0), group):
            count += 1
            after, row = o.after + 8 * o.words * group, _row(o, group + 1)
            call(o.apply, (integer(peek(o.instances, group)), at, after))
            call_void(o.atoms, (after, row))
            for word in range(o.atom_words):
                before, now = peek(o.rows, word), peek(row, word)
                if now & ~before != ZERO:
                    add_bits(o.raised_atoms + 8 * o.atom_words * group, word, now & ~before)
    for one in range(o.groups):
        if has_bit(_enabled(o, 0), one):
            for other in range(one):
                if has_bit(_enabled(o, 0), other) and _conflict(o, one, other):
                    set_bit(o.do_not_accord + 8 * o.group_words * one, other)
                    set_bit(o.do_not_accord + 8 * o.group_words * other, one)
    return count


@part
def _conflict(o: ObservationLayout, one: int, other: int) -> bool:
    """Whether one of two enabled groups disables the other, or their order makes a difference."""
    if not has_bit(_enabled(o, one + 1), other) or not has_bit(_enabled(o, other + 1), one):
        return True
    second = o.spare + 8 * o.words
    call(o.apply, (integer(peek(o.instances, other)), o.after + 8 * o.words * one, o.spare))
    call(o.apply, (integer(peek(o.instances, one)), o.after + 8 * o.words * other, second))
    return not same_words(o.spare, second, o.words)
