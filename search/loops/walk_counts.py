"""The arrays that walks read and write, and their addresses: whoever owns a `Gear` keeps them alive."""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from attrs import define, field, frozen

from search.kernel import Kernel, bit_row
from search.loops.counts import Rows
from search.loops.sketching import PLACE_SIZE, PLACES, REGISTERS
from search.loops.tally import PLANES
from search.loops.tastes import MOST_LEVELS
from search.loops.walker import CURSOR_SIZE, RING, Walker
from search.loops.walking import evaluate_guards, mixed

_ADDRESSES = (
    "starts", "start_rows", "start_steps", "states", "row", "false", "ring_rows", "ring_premises", "masks",
    "taste_ends", "group_rows", "group_chances", "track", "enabled", "premises", "taken", "idle", "hits", "seen",
    "first_walk", "first_step", "findings",
)  # fmt: skip


@frozen(eq=False)
class Leaning:
    """What walks lean towards: tastes (see `tastes`), and restarts with the steps that lead to each.

    `ends` int64[tastes + 1] says where the groups of each taste begin; `rows` uint64[groups, row words] which instances
    they have; `chances` uint64[groups, MOST_LEVELS] below which random word each level admits them. `restart_chance` is
    out of 2^16.
    """

    ends: np.ndarray
    rows: np.ndarray
    chances: np.ndarray
    restarts: np.ndarray
    """Packed states, uint64[n, words]."""
    restart_steps: np.ndarray
    """int64[n]"""
    restart_chance: int = 0


@define(eq=False, slots=False)
class Gear:
    """Everything that one thread needs to walk: rooms, counts, and the cursor.

    `initial` are packed initial states, uint64[n, words]; `claims` the numbers of the claims to check; `allowed` those
    of the instances that walks may take, all if None. `sketching` keeps a sketch of the states that are visited.
    """

    kernel: Kernel
    initial: np.ndarray
    claims: Iterable[int]
    depth: int
    allowed: Sequence[int] | None = None
    leaning: Leaning | None = None
    sketching: bool = field(default=False, kw_only=True)

    def __attrs_post_init__(self) -> None:
        self.rows = Rows(self.kernel, self.claims)
        self._make_starts()
        self._make_preferences()
        self._make_rooms()
        self._make_counts()

    def _make_starts(self) -> None:
        kernel, leaning = self.kernel, self.leaning
        initial = np.ascontiguousarray(self.initial, np.uint64)
        self.start_count = len(initial)
        self.starts = initial if leaning is None else np.concatenate([initial, leaning.restarts])
        self.start_steps = np.zeros(len(self.starts), np.int64)
        if leaning is not None:
            self.start_steps[len(initial) :] = leaning.restart_steps
        self.start_rows = np.zeros((len(self.starts), kernel.instance_words), np.uint64)
        for state, row in zip(self.starts, self.start_rows, strict=True):
            evaluate_guards(kernel.guards, state.ctypes.data, row.ctypes.data)

    def _make_preferences(self) -> None:
        words, leaning = self.kernel.instance_words, self.leaning
        allowed = range(self.kernel.instances) if self.allowed is None else self.allowed
        self.masks = np.zeros((1 + MOST_LEVELS, words), np.uint64)
        self.masks[0] = bit_row(allowed, words)
        none = np.zeros(1, np.uint64)
        self.taste_ends = none if leaning is None else np.ascontiguousarray(leaning.ends, np.int64)
        self.group_rows = none if leaning is None else leaning.rows & self.masks[0]
        self.group_chances = none if leaning is None else np.ascontiguousarray(leaning.chances, np.uint64)

    def _make_rooms(self) -> None:
        kernel = self.kernel
        self.states = np.zeros(2 * kernel.words, np.uint64)
        self.row = np.zeros(2 * kernel.instance_words, np.uint64)
        self.false = np.zeros(3 * kernel.claim_words, np.uint64)
        self.ring_rows = np.zeros(RING * kernel.instance_words, np.uint64)
        self.ring_premises = np.zeros(RING * kernel.claim_words, np.uint64)
        self.track = np.zeros(max(1, self.depth), np.int64)
        self.findings = np.zeros((max(4096, 2 * kernel.claims + 2), 3), np.int64)
        self.cursor = np.zeros(CURSOR_SIZE, np.int64)

    def _make_counts(self) -> None:
        kernel = self.kernel
        self.enabled = np.zeros((kernel.instance_words, PLANES), np.uint64)
        self.premises = np.zeros((kernel.claim_words, PLANES), np.uint64)
        self.taken = np.zeros(kernel.instances, np.int64)
        self.idle = np.zeros(kernel.instances, np.int64)
        self.hits = np.zeros(max(1, len(kernel.bounds)), np.int64)
        self.seen = np.zeros(kernel.claims + 1, np.int64)
        self.first_walk = np.zeros(kernel.claims + 1, np.int64)
        self.first_step = np.zeros(kernel.claims + 1, np.int64)
        self.sketch = np.zeros(REGISTERS if self.sketching else 0, np.int8)
        self.rare = np.zeros((PLACES if self.leaning is not None else 0, PLACE_SIZE), np.int64)

    def walker(self, seed: int, **flags: bool) -> Walker:
        """The argument of the loops; `flags` are `stop` and `deadlock`."""
        kernel, rows, leaning = self.kernel, self.rows, self.leaning
        addresses: dict[str, Any] = {name: getattr(self, name).ctypes.data for name in _ADDRESSES}
        return Walker(
            words=kernel.words, row_words=kernel.instance_words, claim_words=kernel.claim_words, claims=kernel.claims,
            advance=kernel.advance, check=kernel.check, check_step=kernel.check_step,
            system_row=rows.system_row.ctypes.data, state_row=rows.state_row.ctypes.data,
            step_row=rows.step_row.ctypes.data, reachable_row=rows.reachable_row.ctypes.data,
            checks_states=int(rows.state_row.any()), checks_steps=int(rows.step_row.any()),
            depth=self.depth, seed=mixed_seed(seed), most_findings=len(self.findings),
            start_count=self.start_count, restart_count=len(self.starts) - self.start_count,
            restart_chance=leaning.restart_chance if leaning else 0, tastes=len(leaning.ends) - 1 if leaning else 0,
            sketch=self.sketch.ctypes.data if len(self.sketch) else 0,
            rare=self.rare.ctypes.data if len(self.rare) else 0,
            **addresses, **{name: int(flag) for name, flag in flags.items()},
        )  # fmt: skip


def mixed_seed(seed: int) -> int:
    """The seed of a run, as the loops want it: spread over 64 bits, and signed."""
    spread = int(mixed(np.uint64(seed % 2**64)))
    return spread - 2**64 if spread >= 2**63 else spread
