"""Replays: execute a list of steps, skip those that are disabled, and stop at the first state that shows the target.

Words: a *step* is the number of an action instance. The *target* of a replay is a violated property (a true one for
kind `reachable`), or a deadlock. A *final step* is one that may lead to the target: restricting the final steps keeps
what is found of the same kind.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from attrs import frozen

from kwalk.model.language import Kind, PropertyInstance
from kwalk.search.exhaustive.layout import KernelView, RowBuffers
from kwalk.search.kernel.interface import Kernel, bit_row
from kwalk.search.kernel.stepping import Stepper
from kwalk.search.native.bits import has_bit
from kwalk.search.native.intrinsics import ONE, ZERO, call, call_void, integer, lowest_bit, peek
from kwalk.search.native.loops import Int64Array, Word, loop, part

NOT_SHOWN = -1
"""The result of a compiled replay that does not show its target."""


@frozen
class Behaviour:
    """Steps and the states that they lead through (one more than steps), not yet confirmed by plain execution.

    States are vectors with a plain stepper, and the bytes of packed rows with a kernel.
    """

    steps: tuple[int, ...]
    states: tuple[Any, ...]

    def __len__(self) -> int:
        return len(self.steps)


class Replayer(Protocol):
    """A way to replay steps."""

    def extend(self, behaviour: Behaviour, rest: Sequence[int], limit: int) -> Behaviour | None:
        """Take `rest` from the last state of a behaviour; return None unless that shows the target.

        The whole behaviour has fewer than `limit` steps, and its last one is a final step. If the target needs a
        quiescent state, the first enabled system instance is taken after `rest`, again and again.
        """


class StepwiseReplayer:
    """Replays step by step, with any stepper."""

    def __init__(self, stepper: Stepper, final_steps: Collection[int]) -> None:
        self.stepper, self.final_steps = stepper, final_steps

    def extend(self, behaviour: Behaviour, rest: Sequence[int], limit: int) -> Behaviour | None:
        steps, states = list(behaviour.steps), list(behaviour.states)
        for instance in rest:
            if len(steps) + 1 >= limit:
                return None
            if self._take(instance, steps, states):
                return self._result(steps, states)
        return self._settle(steps, states, limit) if self.stepper.needs_quiescent else None

    def _take(self, instance: int, steps: list[int], states: list[Any]) -> bool:
        """Take a step if it is enabled; return whether that shows the target."""
        after = self.stepper.step(instance, states[-1])
        if after is None:
            return False
        steps.append(instance)
        states.append(after)
        return self.stepper.shows(after, states[-2])

    def _settle(self, steps: list[int], states: list[Any], limit: int) -> Behaviour | None:
        """Take the first enabled system instance until that shows the target."""
        while len(steps) + 1 < limit:
            step = next(self.stepper.successors(states[-1], system=True), None)
            if step is None:
                return None
            if self._take(step[0], steps, states):
                return self._result(steps, states)
        return None

    def _result(self, steps: list[int], states: list[Any]) -> Behaviour | None:
        return Behaviour(tuple(steps), tuple(states)) if steps[-1] in self.final_steps else None


class KernelReplayer:
    """Replays by machine code, a few million steps per second. States are the bytes of packed rows."""

    def __init__(self, kernel: Kernel, properties: Sequence[PropertyInstance], final_steps: Collection[int]) -> None:
        self.kernel, self.rows = kernel, RowBuffers(kernel, (prop.index for prop in properties))
        self.final_row = bit_row(final_steps, kernel.instance_words)
        self.row = np.zeros(kernel.instance_words, np.uint64)
        self.property_rows = np.zeros(2 * kernel.property_words, np.uint64)
        self.target = ReplayTarget(
            kernel=self.rows.kernel_view(kernel, stop=True, deadlock=not properties),
            guards=kernel.guards,
            advance=kernel.advance,
            row=self.row.ctypes.data,
            property_rows=self.property_rows.ctypes.data,
            is_deadlock=int(not properties),
            needs_quiescent=int(any(prop.kind is Kind.WHEN_QUIESCENT for prop in properties)),
            final_row=self.final_row.ctypes.data,
        )
        self._allocate(128)

    def compile_loop(self, start: bytes) -> None:
        """Compile the loop (or load it from the cache), so that this takes no time of a later replay."""
        self._states[0] = np.frombuffer(start, np.uint64)
        replay(self.target, np.zeros(0, np.int64), self._steps, self._states.ctypes.data, 0)

    def _allocate(self, length: int) -> None:
        self._steps, self._states = np.zeros(length, np.int64), np.zeros((length + 1, self.kernel.words), np.uint64)

    def extend(self, behaviour: Behaviour, rest: Sequence[int], limit: int) -> Behaviour | None:
        if limit > len(self._steps):
            self._allocate(2 * limit)
        first, size = len(behaviour), 8 * self.kernel.words
        self._states[0] = np.frombuffer(behaviour.states[-1], np.uint64)
        wanted = np.array(rest, np.int64)
        taken = replay(self.target, wanted, self._steps, self._states.ctypes.data, limit - first)
        if taken == NOT_SHOWN:
            return None
        content = self._states[1 : taken + 1].tobytes()
        states = tuple(content[at : at + size] for at in range(0, len(content), size))
        return Behaviour((*behaviour.steps, *self._steps[:taken].tolist()), (*behaviour.states, *states))


class ReplayTarget(NamedTuple):
    """The target of compiled replays, and the kernel that runs them: addresses, except for the flags."""

    kernel: KernelView
    guards: int
    advance: int
    row: int
    """Buffer for a bit row of instances."""
    property_rows: int
    """Buffer for two bit rows of properties."""
    is_deadlock: int
    """Whether the target is a state without enabled instances."""
    needs_quiescent: int
    """Whether one of the properties holds in quiescent states only."""
    final_row: int
    """Bit row of the final steps."""


@loop
def replay(target: ReplayTarget, rest: Int64Array, steps: Int64Array, states: int, limit: int) -> int:
    """Take `rest` from a state; return how many steps show the target, or NOT_SHOWN.

    Args:
        target: what to show, and the kernel.
        rest: int64[n], the steps to try in this order.
        steps: int64[limit], filled with the steps taken: `steps[i]` leads from state i to state i + 1.
        states: address of uint64[limit + 1, words]; state 0 is the first state, the others are written.
        limit: the number of steps stays below it.
    """
    kernel, taken, size = target.kernel, integer(0), 8 * target.kernel.words
    call_void(target.guards, (states, target.row))
    for instance in rest:
        if taken + 1 >= limit:
            return NOT_SHOWN
        if _take(target, states + size * taken, instance):
            steps[taken] = instance
            taken += 1
            if is_shown(target, states + size * (taken - 1), states + size * taken):
                return taken if has_bit(target.final_row, instance) else NOT_SHOWN
    while target.needs_quiescent and taken + 1 < limit:
        instance = _take_first_system_step(target, kernel, states + size * taken)
        if instance < 0:
            return NOT_SHOWN
        steps[taken] = instance
        taken += 1
        if is_shown(target, states + size * (taken - 1), states + size * taken):
            return taken if has_bit(target.final_row, instance) else NOT_SHOWN
    return NOT_SHOWN


@part
def _take(target: ReplayTarget, state: int, instance: int) -> bool:
    """Write the successor behind a state if the instance is enabled, and update the row of guards."""
    if not has_bit(target.row, instance):
        return False
    return bool(call(target.advance, (instance, state, state + 8 * target.kernel.words, target.row)) == 0)


@part
def _take_first_system_step(target: ReplayTarget, kernel: KernelView, state: int) -> int:
    """Take the first enabled system instance; return its number, or NOT_SHOWN if there is none."""
    for word in range(kernel.row_words):
        bits = peek(target.row, word) & peek(kernel.system_row, word)
        while bits != ZERO:
            instance = 64 * word + lowest_bit(bits)
            if _take(target, state, instance):
                return instance
            bits &= bits - ONE
    return NOT_SHOWN


@part
def is_shown(target: ReplayTarget, before: int, state: int) -> bool:
    """Return whether a state, or the step to it, shows the target; `target.row` holds the guards of the state."""
    kernel, false = target.kernel, ZERO
    if target.is_deadlock != 0:
        return bool(_intersection(target.row, target.row, kernel.row_words) == ZERO)
    premise = target.property_rows + 8 * kernel.property_words
    if kernel.checks_states:
        quiescent = integer(
            target.needs_quiescent != 0 and _intersection(target.row, kernel.system_row, kernel.row_words) == ZERO
        )
        call_void(kernel.check, (state, quiescent, target.property_rows, premise))
        false |= _intersection(target.property_rows, kernel.state_row, kernel.property_words)
    if kernel.checks_steps:
        call_void(kernel.check_step, (before, state, target.property_rows, premise))
        false |= _intersection(target.property_rows, kernel.step_row, kernel.property_words)
    return bool(false != ZERO)


@part
def _intersection(one: int, other: int, words: int) -> Word:
    """Return a word that is 0 iff two bit rows have no bit in common."""
    found = ZERO
    for word in range(words):
        found |= peek(one, word) & peek(other, word)
    return found
