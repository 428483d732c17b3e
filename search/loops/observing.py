"""Random walks that note what cases of actions have to do with each other in the states that they meet.

What is seen needs no proof: that two cases clash, that a case makes an atom true, or false. What is never seen has to
be refuted by other means. Words: see `search.reduction`.
"""
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from search.loops.keys import copy_words, same_words
from search.loops.native import (
    ONE,
    ZERO,
    Word,
    bit_count,
    call,
    call_void,
    integer,
    loop,
    part,
    peek,
    poke,
    scale,
    select_bit,
)

EVERY = 4
"""Of so many states one is kept."""


class Watch(NamedTuple):
    """What is watched, and where the notes go: sizes, addresses of functions, of room and of bit rows."""

    words: int
    cases: int
    case_words: int
    atom_words: int
    apply: int
    atoms: int
    instances: int
    """int64 per case: its instance."""
    clashes: int
    """Per case: the row of cases that were seen to clash with it."""
    raises: int
    """Per case: the row of atoms that it was seen to make true."""
    after: int
    """Room for a state per case."""
    rows: int
    """Room for a row of atoms and a row of cases per case, and one more."""
    spare: int
    """Room for two states."""
    kept: int
    """Room for a state in EVERY."""


@loop
def observe(w: Watch, starts: np.ndarray, state: np.ndarray, plan: tuple[int, int, int]) -> int:
    """Walk so many steps from one of the initial states (packed, row by row), anew after a while; how often it did.

    The plan: steps, steps of one walk, seed.
    """
    steps, longest, seed = plan
    random, left, begun = np.uint64(seed), integer(0), integer(0)
    at = state.ctypes.data
    for number in range(steps):
        if number % EVERY == 0:
            copy_words(w.kept + 8 * w.words * (number // EVERY), at, w.words)
        if left == 0:
            random = _next(random)
            copy_words(at, starts[integer(scale(random, np.uint64(len(starts))))].ctypes.data, w.words)
            left, begun = longest, begun + 1
        count = _look(w, at)
        random = _next(random)
        left -= 1
        if count == 0:
            left = integer(0)
        else:
            case = _pick(w, integer(scale(random, np.uint64(count))))
            copy_words(at, w.after + 8 * w.words * case, w.words)
    return begun


@loop
def meetings(w: Watch, states: np.ndarray, met: np.ndarray) -> int:
    """Write which pairs of cases are enabled together in packed states: the state, both cases, 1 if they clash there.

    How many there are; it ends where `met` (int32[most, 4]) is full.
    """
    count = integer(0)
    for number in range(len(states)):
        _look(w, states[number].ctypes.data)
        for one in range(w.cases):
            if _has(_enabled(w, 0), one):
                for other in range(one):
                    if _has(_enabled(w, 0), other):
                        if count == len(met):
                            return count
                        met[count, 0], met[count, 1], met[count, 2] = number, one, other
                        met[count, 3] = _clash(w, one, other)
                        count += 1
    return count


@part
def _next(random: Word) -> Word:
    random ^= random << np.uint64(13)
    random ^= random >> np.uint64(7)
    return random ^ (random << np.uint64(17))


@part
def _row(w: Watch, number: int) -> int:
    """The row of atoms after a case, with the row of cases behind it; that of the state itself is the first."""
    return w.rows + 8 * (w.atom_words + w.case_words) * number


@part
def _enabled(w: Watch, number: int) -> int:
    return _row(w, number) + 8 * w.atom_words


@part
def _pick(w: Watch, rank: int) -> int:
    """The enabled case that has so many before it."""
    for word in range(w.case_words):
        bits = peek(_enabled(w, 0), word)
        count = bit_count(bits)
        if rank < count:
            return 64 * word + select_bit(bits, rank)
        rank -= count
    return integer(-1)


@part
def _look(w: Watch, at: int) -> int:
    """Note all that a state shows; how many cases are enabled in it."""
    call_void(w.atoms, (at, w.rows))
    count = integer(0)
    for case in range(w.cases):
        if _has(_enabled(w, 0), case):
            count += 1
            after, row = w.after + 8 * w.words * case, _row(w, case + 1)
            call(w.apply, (integer(peek(w.instances, case)), at, after))
            call_void(w.atoms, (after, row))
            for word in range(w.atom_words):
                before, now = peek(w.rows, word), peek(row, word)
                _add(w.raises + 8 * w.atom_words * case, word, now & ~before)
    for one in range(w.cases):
        if _has(_enabled(w, 0), one):
            for other in range(one):
                if _has(_enabled(w, 0), other) and _clash(w, one, other):
                    _add(w.clashes + 8 * w.case_words * one, other // 64, ONE << np.uint64(other % 64))
                    _add(w.clashes + 8 * w.case_words * other, one // 64, ONE << np.uint64(one % 64))
    return count


@part
def _clash(w: Watch, one: int, other: int) -> bool:
    """Whether one of two enabled cases disables the other, or their order makes a difference."""
    if not _has(_enabled(w, one + 1), other) or not _has(_enabled(w, other + 1), one):
        return True
    second = w.spare + 8 * w.words
    call(w.apply, (integer(peek(w.instances, other)), w.after + 8 * w.words * one, w.spare))
    call(w.apply, (integer(peek(w.instances, one)), w.after + 8 * w.words * other, second))
    return not same_words(w.spare, second, w.words)


@part
def _has(row: int, number: int) -> bool:
    return (peek(row, number // 64) >> np.uint64(number % 64)) & ONE != ZERO


@part
def _add(row: int, word: int, bits: Word) -> None:
    if bits != ZERO:
        poke(row, word, peek(row, word) | bits)
