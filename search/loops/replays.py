"""Replays by machine code: take a list of steps, skip what is disabled, end where something shows.

Words: a *quest* is what is looked for: violated claims (`reachable` ones: true ones), or a state where nothing is
enabled. A state or a step *shows* it; a quest can ask that certain instances lead there, so that what is found stays
the same in kind.
"""
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from search.loops.frontier import Machine
from search.loops.native import ONE, ZERO, Word, call, call_void, integer, loop, lowest_bit, part, peek

MISSED = -1
"""What a replay returns that shows nothing."""


class Quest(NamedTuple):
    """What is looked for, and a kernel to look with; addresses, but for the flags."""

    machine: Machine
    guards: int
    advance: int
    row: int
    """Room for a bit row of instances."""
    claim_rows: int
    """Room for two bit rows of claims."""
    dead: int
    """Whether a state where nothing is enabled is looked for."""
    needs_quiet: int
    """Whether a claim counts in quiet states only."""
    ends: int
    """Bit row of the instances that may lead to what is looked for."""


@loop
def replay(quest: Quest, rest: np.ndarray, steps: np.ndarray, begin: int, limit: int) -> int:
    """Take `rest` from the state at address `begin`; how many steps it took to show something, or MISSED.

    What shows first must be what an instance of the quest's ends led to.

    steps[n] becomes the step that leads from state n to state n + 1, which follow each other from `begin` on. No step
    is taken that would be number `limit`. A quest for quiet states goes on with steps of the system, the first that can
    be taken each time.
    """
    machine, taken, size = quest.machine, integer(0), 8 * quest.machine.words
    call_void(quest.guards, (begin, quest.row))
    for instance in rest:
        if taken + 1 >= limit:
            return MISSED
        if _take(quest, begin + size * taken, instance):
            steps[taken] = instance
            taken += 1
            if shows(quest, begin + size * (taken - 1), begin + size * taken):
                return taken if has_bit(quest.ends, instance) else MISSED
    while quest.needs_quiet and taken + 1 < limit:
        instance = _first_of_the_system(quest, machine, begin + size * taken)
        if instance < 0:
            return MISSED
        steps[taken] = instance
        taken += 1
        if shows(quest, begin + size * (taken - 1), begin + size * taken):
            return taken if has_bit(quest.ends, instance) else MISSED
    return MISSED


@part
def _take(quest: Quest, here: int, instance: int) -> bool:
    """Take a step to the next place if it is enabled, and keep the row of guards up to date."""
    if not has_bit(quest.row, instance):
        return False
    return call(quest.advance, (instance, here, here + 8 * quest.machine.words, quest.row)) == 0


@part
def _first_of_the_system(quest: Quest, machine: Machine, here: int) -> int:
    """Take the first step of the system that can be taken; its instance, or MISSED."""
    for word in range(machine.row_words):
        bits = peek(quest.row, word) & peek(machine.system_row, word)
        while bits != ZERO:
            instance = 64 * word + lowest_bit(bits)
            if _take(quest, here, instance):
                return instance
            bits &= bits - ONE
    return MISSED


@part
def has_bit(row: int, number: int) -> bool:
    """Whether a bit of a row is set."""
    return (peek(row, number // 64) >> np.uint64(number % 64)) & ONE != ZERO


@part
def shows(quest: Quest, before: int, state: int) -> bool:
    """Whether a state, or the step to it, shows what is looked for; the guards of the state must be in the row."""
    machine, false = quest.machine, ZERO
    if quest.dead != 0:
        return _common(quest.row, quest.row, machine.row_words) == ZERO
    premise = quest.claim_rows + 8 * machine.claim_words
    if machine.checks_states:
        quiet = integer(quest.needs_quiet != 0 and _common(quest.row, machine.system_row, machine.row_words) == ZERO)
        call_void(machine.check, (state, quiet, quest.claim_rows, premise))
        false |= _common(quest.claim_rows, machine.state_row, machine.claim_words)
    if machine.checks_steps:
        call_void(machine.check_step, (before, state, quest.claim_rows, premise))
        false |= _common(quest.claim_rows, machine.step_row, machine.claim_words)
    return false != ZERO


@part
def _common(one: int, other: int, words: int) -> Word:
    """Not 0 if two bit rows have a bit in common."""
    found = ZERO
    for word in range(words):
        found |= peek(one, word) & peek(other, word)
    return found
