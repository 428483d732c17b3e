"""A distributed search in progress: its levels, budgets and checkpoints, and the way back to a state.

Words: a level is *done* when its states are expanded and the next level's are on the disk. Then that next level counts:
a file that is renamed into its folder says so, with all counts up to there. A search that was killed goes on from the
last level that counts and is whole. For everything else see `search.exploration`.
"""
from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from itertools import accumulate
from typing import Any

import numpy as np
from attrs import asdict, frozen

from model.language import Kind, Model
from search.confirm import EngineDisagreement, Path, applied, enabled_row, path_along
from search.distributed.expanding import Level
from search.distributed.jobs import Fleet, Outcome, at_home
from search.distributed.saving import Saving
from search.distributed.store import Store, by_place, places
from search.exploration import Ending, Wish
from search.explored import Explored
from search.interrupts import Interrupts
from search.kernel import Kernel
from search.loops.counts import Counts
from search.loops.frontier import (
    CURSOR_SIZE,
    DEADLOCKS,
    DEPTH,
    FIRST_DEADLOCK,
    GENERATED,
    LEVEL_END,
    NEXT,
    QUIET,
    SIZE,
)
from search.loops.levels import INSTANCE_BITS
from search.progress import Progress

FEW, NOT_MANY = 10_000, 2_000_000
"""A level with so few states, of a search with so few so far, is done sooner at home than a Spark job begins."""


@frozen
class LevelDone:
    """What a level came to: `states` is how many states have this `depth`, of `generated` successors they were new.

    `total` are all states so far; `seconds` is the time that the level took, and `bytes` the room of its states.
    """

    depth: int
    states: int
    generated: int
    total: int
    seconds: float
    bytes: int


@frozen
class Means:
    """With what a search is done: executors (started when they are first needed), signals, and who hears of levels."""

    fleet: Callable[[], Fleet]
    interrupts: Interrupts
    on_level: Callable[[LevelDone], None]
    few: int = FEW
    """Levels of up to so many states are done at home."""


class Exploration(Explored):
    """A search over the states of a model, level by level. `run` once, then read `ending`, `counts` and paths."""

    states: Store
    saving: Saving
    reduction = None

    def __init__(self, model: Model, kernel: Kernel, wish: Wish, buckets: int, means: Means) -> None:
        self.model, self.kernel, self.wish, self.means = model, kernel, wish, means
        assert wish.checkpoint is not None
        self.states = Store(wish.checkpoint.folder.absolute(), kernel.words)
        self.saving = Saving(self.states, wish, model, kernel)
        self.counts, self.cursor = Counts(kernel, 0), np.zeros(CURSOR_SIZE, np.int64)
        self.sizes: list[list[int]] = []
        self.seconds, self.ending = 0.0, Ending.COMPLETE
        try:
            if self.saving.found:
                self._restore(self.saving.found)
            else:
                self._begin(buckets)
        except BaseException:
            self.saving.close()
            raise
        self.initial = sum(self.sizes[0])
        self.started = time.monotonic()

    # Beginning, and going on.

    def _begin(self, buckets: int) -> None:
        """Write level 0, the initial states."""
        packed = self.kernel.pack(np.array(self.model.initial, np.int64).reshape(len(self.model.initial), -1))
        rows = np.unique(packed, axis=0)
        rows = rows[by_place(rows)]
        owners = _buckets_of(places(rows), buckets)
        size, sizes = 0, [0] * buckets
        for bucket in np.unique(owners).tolist():
            mine = rows[owners == bucket]
            sizes[bucket] = len(mine)
            size += self.states.write(0, bucket, mine, np.zeros(len(mine), np.uint64))
        self.cursor[SIZE] = self.cursor[LEVEL_END] = len(rows)
        self._add_level(sizes, LevelDone(0, len(rows), len(rows), len(rows), 0.0, size))

    def _restore(self, accounts: list[dict[str, Any]]) -> None:
        last = accounts[-1]
        self.cursor[:] = last["cursor"]
        self.counts.restore(last["counts"])
        self.sizes = [account["sizes"] for account in accounts]
        for account in accounts:
            self.means.on_level(LevelDone(**account["level"]))

    def _add_level(self, sizes: list[int], level: LevelDone) -> None:
        """Let a level count whose states are on the disk."""
        self.sizes.append(sizes)
        account = {
            "sizes": sizes, "level": asdict(level),
            "cursor": self.cursor.tolist(), "counts": self.counts.saved(), "seconds": self.seconds_in_all,
        }  # fmt: skip
        self.states.commit(level.depth, account)
        self.saving.saved = self.stored
        self.means.on_level(level)

    # What the verdict reads.

    def notes(self) -> Iterator[str]:
        """Sentences for people on how this search is special."""
        yield from self.saving.troubles
        if self.ending is Ending.MEMORY:
            yield (
                f"The new states of one of {len(self.sizes[0])} partitions do not fit into {self.wish.memory:,} bytes. "
                "Begin anew with more partitions, or resume with more memory for each."
            )

    # The search.

    def run(self) -> None:
        """Search until something ends it; Ctrl-C is one of the endings."""
        ending = None
        while ending is None:
            ending = self._already_over() or self._do_level()
        self.ending = ending
        self.seconds = time.monotonic() - self.started
        if ending is Ending.VIOLATION:
            self.cursor[DEPTH] = len(self.sizes) - 2  # the depth of the states that were expanded last

    def _already_over(self) -> Ending | None:
        """Why the search ends before the next level, if it does."""
        if not self.wish.keep_going and self._violated():
            return Ending.VIOLATION
        if not sum(self.sizes[-1]):
            return Ending.COMPLETE
        return self._out_of_patience()

    def _out_of_patience(self) -> Ending | None:
        """Whether somebody or a budget ends the search."""
        self.seconds = time.monotonic() - self.started
        if self.means.interrupts.noticed:
            return Ending.INTERRUPT
        if self.wish.seconds is not None and self.seconds >= self.wish.seconds:
            return Ending.TIME
        return None

    def _violated(self) -> bool:
        """Whether something that must hold was seen to fail."""
        asked = [claim.index for claim in self.wish.claims if claim.kind not in (Kind.REACHABLE, Kind.EVENTUALLY)]
        dead = self.model.scenario.deadlock_is_error and self.cursor[DEADLOCKS] > 0
        return bool(dead or self.counts.first_state[asked].any())

    def _do_level(self) -> Ending | None:
        """Do the next level; why the search ends with it, if it does."""
        began = time.monotonic()
        level = Level(
            self.states, tuple(map(tuple, self.sizes)), self.wish.checked,
            self.model.scenario.deadlock_is_error, self.wish.memory,
        )  # fmt: skip
        outcome = self._outcome(level)
        if outcome is None:
            return self._out_of_patience() or Ending.INTERRUPT
        if outcome.states is None:
            return Ending.MEMORY
        failed = [int(account.cursor[NEXT]) for account in outcome.accounts if account.failed]
        if failed:
            self.cursor[NEXT] = min(failed)
            return Ending.FAILURE
        self._include(outcome, began)
        return None

    def _outcome(self, level: Level) -> Outcome | None:
        """Do a level at home or on Spark; None if it was given up."""
        if sum(level.sizes[-1]) <= self.means.few and self.stored <= max(NOT_MANY, self.means.few):
            return at_home(self.kernel, level)
        return self.means.fleet().do(level, self._goes_on)

    def _goes_on(self) -> bool:
        """Tell how far the search is; whether it goes on."""
        over = self._out_of_patience()
        budget = self.wish.seconds
        left = None if budget is None else max(0.0, budget - self.seconds)
        note = f"depth {self.cursor[DEPTH]}, {self.stored - self.expanded:,} states wait"
        self.wish.report(Progress("spark", self.expanded, "states", self.seconds, left=left, note=note))
        return over is None

    def _include(self, outcome: Outcome, began: float) -> None:
        """Add up what a level counted, and let the next one count."""
        assert outcome.states is not None
        before = int(self.cursor[GENERATED])
        for account in outcome.accounts:
            self.counts.include(account.counts)
            if account.cursor[DEADLOCKS]:
                first = int(account.cursor[FIRST_DEADLOCK])
                known = self.cursor[FIRST_DEADLOCK] if self.cursor[DEADLOCKS] else first
                self.cursor[FIRST_DEADLOCK] = min(first, known)
            for count in (GENERATED, QUIET, DEADLOCKS):
                self.cursor[count] += account.cursor[count]
        new = sum(outcome.states)
        self.cursor[NEXT] = self.cursor[SIZE]
        self.cursor[SIZE] += new
        self.cursor[LEVEL_END] = self.cursor[SIZE]
        self.cursor[DEPTH] += new > 0
        generated, seconds = int(self.cursor[GENERATED]) - before, time.monotonic() - began
        level = LevelDone(len(self.sizes), new, generated, self.stored, seconds, outcome.bytes)
        self._add_level(list(outcome.states), level)

    # The way back.

    def path_to(self, index: int, last_step: int | None = None) -> Path:
        """A shortest path to the state of a number, and on by one more instance if `last_step` gives it."""
        depth, bucket, position = self._position(index)
        state, link = self.states.state(depth, bucket, position)
        states, instances = [state], []
        for before in range(depth - 1, -1, -1):
            instances.append(link & ((1 << INSTANCE_BITS) - 1))
            state, link = self._parent(before, link, state)
            states.append(state)
        path = Path(np.array(states[::-1]), tuple(instances[::-1]))
        if last_step is None:
            return path
        onward = path_along(self.kernel, path.states[-1], (last_step,))
        return Path(np.vstack([path.states, onward.states[1:]]), path.instances + onward.instances)

    def _position(self, index: int) -> tuple[int, int, int]:
        """The level and bucket of a state by its number, and which of its file's it is."""
        flat = np.array([0, *accumulate(count for level in self.sizes for count in level)])
        place = int(np.searchsorted(flat, index, side="right")) - 1
        return (*divmod(place, len(self.sizes[0])), index - int(flat[place]))

    def _parent(self, depth: int, link: int, child: np.ndarray) -> tuple[np.ndarray, int]:
        """The state of a level that a link speaks of, and its own link."""
        place, instance = link >> INSTANCE_BITS << INSTANCE_BITS, link & ((1 << INSTANCE_BITS) - 1)
        bucket = int(_buckets_of(np.array([place], np.uint64), len(self.sizes[0]))[0])
        for state, its_link in self.states.near(depth, bucket, place):
            after = np.zeros(self.kernel.words, np.uint64)
            enabled = int(enabled_row(self.kernel, state)[instance // 64]) >> (instance % 64) & 1
            if enabled and applied(self.kernel, instance, state, after) == 0 and np.array_equal(after, child):
                return state, its_link
        raise EngineDisagreement(f"No state of depth {depth} leads to {child.tolist()} as its link says.")


def _buckets_of(found: np.ndarray, buckets: int) -> np.ndarray:
    """The buckets of places."""
    bits = buckets.bit_length() - 1
    return (found >> np.uint64(64 - bits)).astype(np.int64) if bits else np.zeros(len(found), np.int64)
