"""The arrays that walks read and write, and their addresses: whoever owns a `Gear` keeps them alive."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from search.kernel import Kernel
from search.loops.counts import Rows
from search.loops.tally import PLANES
from search.loops.walker import CURSOR_SIZE, RING, Walker
from search.loops.walking import evaluate_guards, mixed

_ADDRESSES = (
    "starts", "start_rows", "states", "row", "false", "ring_rows", "ring_premises", "track", "enabled", "premises",
    "taken", "idle", "hits", "seen", "first_walk", "first_step", "findings",
)  # fmt: skip


class Gear:
    """Everything that one thread needs to walk: rooms, counts, and the cursor.

    `starts` are packed initial states, uint64[n, words]; `claims` the numbers of the claims to check.
    """

    def __init__(self, kernel: Kernel, starts: np.ndarray, claims: Iterable[int], depth: int) -> None:
        self.kernel, self.rows, self.depth = kernel, Rows(kernel, claims), depth
        instance_words, claim_words = kernel.instance_words, kernel.claim_words
        self.starts = np.ascontiguousarray(starts, np.uint64)
        self.start_rows = np.zeros((len(starts), instance_words), np.uint64)
        for state, row in zip(self.starts, self.start_rows, strict=True):
            evaluate_guards(kernel.guards, state.ctypes.data, row.ctypes.data)
        self.states = np.zeros(2 * kernel.words, np.uint64)
        self.row = np.zeros(2 * instance_words, np.uint64)
        self.false = np.zeros(3 * claim_words, np.uint64)
        self.ring_rows = np.zeros(RING * instance_words, np.uint64)
        self.ring_premises = np.zeros(RING * claim_words, np.uint64)
        self.track = np.zeros(max(1, depth), np.int64)
        self.enabled = np.zeros((instance_words, PLANES), np.uint64)
        self.premises = np.zeros((claim_words, PLANES), np.uint64)
        self.taken = np.zeros(kernel.instances, np.int64)
        self.idle = np.zeros(kernel.instances, np.int64)
        self.hits = np.zeros(max(1, len(kernel.bounds)), np.int64)
        self.seen = np.zeros(kernel.claims + 1, np.int64)
        self.first_walk = np.zeros(kernel.claims + 1, np.int64)
        self.first_step = np.zeros(kernel.claims + 1, np.int64)
        self.findings = np.zeros((max(4096, 2 * kernel.claims + 2), 3), np.int64)
        self.cursor = np.zeros(CURSOR_SIZE, np.int64)

    def walker(self, seed: int, **flags: bool) -> Walker:
        """The argument of the loops; `flags` are `stop` and `deadlock`."""
        kernel, rows = self.kernel, self.rows
        addresses: dict[str, Any] = {name: getattr(self, name).ctypes.data for name in _ADDRESSES}
        return Walker(
            words=kernel.words, row_words=kernel.instance_words, claim_words=kernel.claim_words, claims=kernel.claims,
            advance=kernel.advance, check=kernel.check, check_step=kernel.check_step,
            system_row=rows.system_row.ctypes.data, state_row=rows.state_row.ctypes.data,
            step_row=rows.step_row.ctypes.data, reachable_row=rows.reachable_row.ctypes.data,
            checks_states=int(rows.state_row.any()), checks_steps=int(rows.step_row.any()),
            depth=self.depth, seed=mixed_seed(seed), start_count=len(self.starts), most_findings=len(self.findings),
            **addresses, **{name: int(flag) for name, flag in flags.items()},
        )  # fmt: skip


def mixed_seed(seed: int) -> int:
    """The seed of a run, as the loops want it: spread over 64 bits, and signed."""
    spread = int(mixed(np.uint64(seed % 2**64)))
    return spread - 2**64 if spread >= 2**63 else spread

