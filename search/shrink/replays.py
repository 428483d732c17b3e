"""Replays: a list of steps is taken anew, without those that are disabled, until it shows what is looked for."""
from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Protocol

import numpy as np

from model.language import Claim, Kind
from search.kernel import Kernel, bit_row
from search.loops import replays as loops
from search.loops.counts import Rows
from search.loops.replays import MISSED, Quest
from search.shrink.behaviour import Behaviour
from search.stepping import Stepper


class Replays(Protocol):
    """One way to replay."""

    def go_on(self, behaviour: Behaviour, rest: Sequence[int], limit: int) -> Behaviour | None:
        """Go on from a behaviour; None unless that shows what is looked for in fewer than `limit` steps.

        One of the ends must lead to that. What shows only in quiet states is given steps of the system after the rest,
        the first that can be taken.
        """


class SteppedReplays:
    """Replays step by step, with any stepper."""

    def __init__(self, stepper: Stepper, ends: Collection[int]) -> None:
        self.stepper, self.ends = stepper, ends

    def go_on(self, behaviour: Behaviour, rest: Sequence[int], limit: int) -> Behaviour | None:
        steps, states = list(behaviour.steps), list(behaviour.states)
        for instance in rest:
            if len(steps) + 1 >= limit:
                return None
            if self._take(instance, steps, states):
                return self._ended(steps, states)
        return self._settle(steps, states, limit) if self.stepper.needs_quiet else None

    def _take(self, instance: int, steps: list[int], states: list[Any]) -> bool:
        """Take a step if it is enabled; whether that shows what is looked for."""
        after = self.stepper.step(instance, states[-1])
        if after is None:
            return False
        steps.append(instance)
        states.append(after)
        return self.stepper.shows(after, states[-2])

    def _settle(self, steps: list[int], states: list[Any], limit: int) -> Behaviour | None:
        """Let the system act, the first enabled instance each time, until that shows what is looked for."""
        while len(steps) + 1 < limit:
            step = next(self.stepper.successors(states[-1], system=True), None)
            if step is None:
                return None
            if self._take(step[0], steps, states):
                return self._ended(steps, states)
        return None

    def _ended(self, steps: list[int], states: list[Any]) -> Behaviour | None:
        return Behaviour(tuple(steps), tuple(states)) if steps[-1] in self.ends else None


class KernelReplays:
    """Replays by a kernel, a few million steps a second. A state is the bytes of its packed row."""

    def __init__(self, kernel: Kernel, claims: Sequence[Claim], ends: Collection[int]) -> None:
        self.kernel, self.rows = kernel, Rows(kernel, (claim.index for claim in claims))
        self.ends = bit_row(ends, kernel.instance_words)
        self.row = np.zeros(kernel.instance_words, np.uint64)
        self.claim_rows = np.zeros(2 * kernel.claim_words, np.uint64)
        self.quest = Quest(
            machine=self.rows.machine(kernel, stop=True, deadlock=not claims), guards=kernel.guards,
            advance=kernel.advance, row=self.row.ctypes.data, claim_rows=self.claim_rows.ctypes.data,
            dead=int(not claims),
            needs_quiet=int(any(claim.kind is Kind.WHEN_QUIET for claim in claims)),
            ends=self.ends.ctypes.data,
        )  # fmt: skip
        self._make_room(128)

    def _make_room(self, length: int) -> None:
        self._steps, self._states = np.zeros(length, np.int64), np.zeros((length + 1, self.kernel.words), np.uint64)

    def go_on(self, behaviour: Behaviour, rest: Sequence[int], limit: int) -> Behaviour | None:
        if limit > len(self._steps):
            self._make_room(2 * limit)
        begun, size = len(behaviour), 8 * self.kernel.words
        self._states[0] = np.frombuffer(behaviour.states[-1], np.uint64)
        wanted = np.array(rest, np.int64)
        taken = loops.replay(self.quest, wanted, self._steps, self._states.ctypes.data, limit - begun)
        if taken == MISSED:
            return None
        room = self._states[1 : taken + 1].tobytes()
        states = tuple(room[place : place + size] for place in range(0, len(room), size))
        return Behaviour((*behaviour.steps, *self._steps[:taken].tolist()), (*behaviour.states, *states))
