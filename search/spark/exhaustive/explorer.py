"""A distributed search in progress: its levels, budgets and checkpoints, and the paths to its states.

Words: a level is *done* when its states are expanded and the next level's states are on the disk. The next level is
*committed* by renaming its manifest, with all counts so far, into its folder. A killed search resumes from the last
level that is committed and intact. Other words: see `kwalk.search.exhaustive.explorer`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import accumulate
from typing import Any

import numpy as np
from attrs import asdict, frozen

from kwalk.model.language import Kind, Model
from kwalk.search.base.atomic_files import cannot_save
from kwalk.search.base.options import SearchOptions, StopReason
from kwalk.search.base.progress import Progress
from kwalk.search.base.signals import Interrupts
from kwalk.search.exhaustive.checkpoint import CheckpointFolder, check_compatible, identity, resumed_note, saved_note
from kwalk.search.exhaustive.explorer import MOST_DEPTHS, ExplorationResult
from kwalk.search.exhaustive.interfaces import LevelDone
from kwalk.search.exhaustive.layout import CounterBuffers, Cursor, add_cursor
from kwalk.search.exhaustive.same_length import PropertyHit, hits_of, is_error_of_state, together
from kwalk.search.kernel.calls import KernelCalls
from kwalk.search.kernel.interface import Kernel
from kwalk.search.kernel.python_comparison import CompiledRecord, EngineDisagreement
from kwalk.search.kernel.sampling import StateSampler
from kwalk.search.results.confirmation import PackedPath
from kwalk.search.results.fairness import safety_properties
from kwalk.search.spark.exhaustive.jobs import LevelExecutors, LevelOutcome, run_locally
from kwalk.search.spark.exhaustive.level import Expander, Level
from kwalk.search.spark.exhaustive.level_loops import INSTANCE_BITS
from kwalk.search.spark.exhaustive.store import Store, by_place, places


class DistributedCheckpoint:
    """The folder of one search. UsageError if it, or its checkpoint, cannot be used."""

    def __init__(self, store: Store, options: SearchOptions, model: Model, kernel: Kernel) -> None:
        assert options.checkpoint is not None
        self.store, self.place = store, str(options.checkpoint.folder)
        self.folder = CheckpointFolder(options.checkpoint.folder)
        self.troubles: list[str] = []
        self.saved_levels: list[dict[str, Any]] = []
        try:
            manifest, wanted = self.folder.manifest(), {"engine": "spark", **identity(model, kernel, options)}
            if manifest is not None:
                self.saved_levels, damage = store.committed()
                if damage:
                    self.troubles.append(f"{damage}: the search resumed from the level before, which is intact.")
            stored = int(self.saved_levels[-1]["cursor"][Cursor.STORED]) if self.saved_levels else 0
            saved = None if manifest is None else manifest["identity"]
            check_compatible(options.checkpoint, saved, wanted, f"{stored:,} states")
            store.forget_from(len(self.saved_levels))
            self.folder.save({}, {"identity": wanted})
        except OSError as error:
            self.folder.close()
            raise cannot_save(store.folder, error) from error
        except BaseException:
            self.folder.close()
            raise
        self.resumed = self.saved = stored
        self.before = float(self.saved_levels[-1]["seconds"]) if self.saved_levels else 0.0

    def discard(self) -> None:
        """Remove the content of the folder."""
        with suppress(OSError):
            self.store.forget_from(0)
        self.folder.discard()

    def close(self) -> None:
        """Release the folder for other searches. Call it once."""
        self.folder.close()

    def notes(self, command: str, *, over: bool) -> Iterator[str]:
        """Yield notes on the checkpoint; `command` started the search, which may be `over`."""
        if self.saved_levels:
            yield resumed_note(self.place, f"{self.resumed:,} states")
        if not over:
            yield saved_note(self.place, f"{self.saved:,} states", command)


LOCAL_LEVEL, LOCAL_TOTAL = 10_000, 2_000_000
"""Levels of at most LOCAL_LEVEL states, in a search with at most LOCAL_TOTAL states so far, are done in this
process, which takes less time than to start a Spark job."""


@frozen
class DistributedEnvironment:
    """What a search runs with: executors (started when they are first needed), signals, and the receiver of levels."""

    executors: Callable[[], LevelExecutors]
    interrupts: Interrupts
    on_level: Callable[[LevelDone], None]
    local_level: int = LOCAL_LEVEL
    """The largest level that is done in this process, in states."""


class DistributedExplorer(ExplorationResult):
    """A search over the states of a model, level by level.

    Call `run` once, then read `stop_reason`, `counts` and paths.
    """

    states: Store
    saving: DistributedCheckpoint
    reduction = None

    def __init__(
        self, model: Model, kernel: Kernel, options: SearchOptions, buckets: int, environment: DistributedEnvironment
    ) -> None:
        self.model, self.kernel, self.options, self.environment = model, kernel, options, environment
        assert options.checkpoint is not None
        self.states = Store(options.checkpoint.folder.absolute(), kernel.words)
        self.saving = DistributedCheckpoint(self.states, options, model, kernel)
        self.counts, self.cursor = CounterBuffers(kernel, 0), np.zeros(len(Cursor), np.int64)
        self.sizes: list[list[int]] = []
        self.seconds, self.stop_reason = 0.0, StopReason.COMPLETE
        self.sampler, self._records = StateSampler(model), dict[int, CompiledRecord]()
        try:
            if self.saving.saved_levels:
                self._restore(self.saving.saved_levels)
            else:
                self._begin(buckets)
        except BaseException:
            self.saving.close()
            raise
        self.initial = sum(self.sizes[0])
        self.started = time.monotonic()

    # Begin, and continue.

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
        self.cursor[Cursor.STORED] = self.cursor[Cursor.LEVEL_END] = len(rows)
        self._add_level(sizes, LevelDone(0, len(rows), len(rows), len(rows), 0.0, size))

    def _restore(self, manifests: list[dict[str, Any]]) -> None:
        last = manifests[-1]
        self.cursor[:] = last["cursor"]
        self.counts.restore(last["counts"])
        self.sizes = [manifest["sizes"] for manifest in manifests]
        for manifest in manifests:
            self.environment.on_level(LevelDone(**manifest["level"]))

    def _add_level(self, sizes: list[int], level: LevelDone) -> None:
        """Commit a level whose states are on the disk."""
        self.sizes.append(sizes)
        manifest = {
            "sizes": sizes,
            "level": asdict(level),
            "cursor": self.cursor.tolist(),
            "counts": self.counts.saved(),
            "seconds": self.total_seconds,
        }
        self.states.commit(level.depth, manifest)
        self.saving.saved = self.stored
        self.environment.on_level(level)

    # What the verdict reads.

    @property
    def states_by_depth(self) -> tuple[int, ...]:
        """The number of states of each depth whose states are all known, of at most MOST_DEPTHS depths."""
        known = min(int(self.cursor[Cursor.DEPTH]) + 1, MOST_DEPTHS)
        return tuple(filter(None, map(sum, self.sizes[:known])))

    def notes(self) -> Iterator[str]:
        """Yield notes for the verdict."""
        yield from self.saving.troubles
        if self.stop_reason is StopReason.MEMORY:
            yield (
                f"The new states of one of {len(self.sizes[0])} partitions do not fit into "
                f"{self.options.memory / 2**30:.3g} GiB. Start again with more partitions, or resume with more memory."
            )

    # The search.

    def run(self) -> None:
        """Search until there is a reason to stop. Ctrl-C is one."""
        stop_reason = None
        while stop_reason is None:
            stop_reason = self._stop_before_level() or self._do_level()
        self.stop_reason = stop_reason
        self.seconds = time.monotonic() - self.started
        if stop_reason is StopReason.VIOLATION and self.failed_state is None:
            self.cursor[Cursor.DEPTH] = len(self.sizes) - 2  # the depth of the states that were expanded last

    def _stop_before_level(self) -> StopReason | None:
        """Return the reason to stop before the next level, None if there is none."""
        if not self.options.keep_going and self._violated():
            return StopReason.VIOLATION
        if not sum(self.sizes[-1]):
            return StopReason.COMPLETE
        return self._early_stop()

    def _early_stop(self) -> StopReason | None:
        """Return the reason to stop if Ctrl-C was pressed or the time budget is spent."""
        self.seconds = time.monotonic() - self.started
        if self.environment.interrupts.noticed:
            return StopReason.INTERRUPT
        if self.options.seconds is not None and self.seconds >= self.options.seconds:
            return StopReason.TIME
        return None

    def _violated(self) -> bool:
        """Whether a property that must hold was violated."""
        safety = safety_properties(self.options.properties)
        checked = [prop.index for prop in safety if prop.kind is not Kind.REACHABLE]
        dead = self.model.scenario.deadlock_is_error and self.cursor[Cursor.DEADLOCKS] > 0
        return bool(dead or self.counts.first_state[checked].any())

    def _do_level(self) -> StopReason | None:
        """Do the next level; return the reason to stop, None if there is none."""
        began = time.monotonic()
        level = Level(
            self.states,
            tuple(map(tuple, self.sizes)),
            self.options.checked,
            self.model.scenario.deadlock_is_error,
            self.options.memory,
        )
        outcome = self._outcome(level)
        if outcome is None:
            return self._early_stop() or StopReason.INTERRUPT
        if outcome.states is None:
            return StopReason.MEMORY
        self._compare_with_python(outcome)
        failed = [int(counts.cursor[Cursor.NEXT]) for counts in outcome.counts if counts.failed]
        if failed:
            self.failed_state = self.cursor[Cursor.NEXT] = min(failed)
            return self._look_ahead(level)
        self._include(outcome, began)
        return None

    def _look_ahead(self, level: Level) -> StopReason:
        """Check a level with an error, here, and the states after it: a violation there goes before the error."""
        expanders = [Expander(self.kernel, level, bucket) for bucket in range(level.buckets)]
        found, checked = list[PropertyHit](), self.options.properties
        assert self.failed_state is not None
        failed = self.path_to(self.failed_state).states[-1]
        for after in (False, True):
            if after and is_error_of_state(self.kernel, failed, expanders[0].rows.state_row):
                break
            if self.options.keep_going or not (found or self._violated()):
                searches = (search for expander in expanders for search in expander.searches())
                found += hits_of(self.kernel, searches, checked, after=after)
        self.found_ahead = together(found)
        return StopReason.VIOLATION if found or self._violated() else StopReason.FAILURE

    def _compare_with_python(self, outcome: LevelOutcome) -> None:
        """Compare the records that came from where the states were expanded."""
        records = {number: record for counts in outcome.counts for number, record in counts.records.items()}
        self._records.update(records)
        self.sampler.offer(sorted(records))
        self.sampler.compare(time.monotonic() - self.started, self.kernel, self._records.pop)

    def _outcome(self, level: Level) -> LevelOutcome | None:
        """Do a level in this process or on Spark; None if it was cancelled."""
        most = self.environment.local_level
        if sum(level.sizes[-1]) <= most and self.stored <= max(LOCAL_TOTAL, most):
            return run_locally(self.kernel, level)
        return self.environment.executors().do(level, self._report_progress)

    def _report_progress(self) -> bool:
        """Report progress; whether the search continues."""
        over = self._early_stop()
        budget = self.options.seconds
        left = None if budget is None else max(0.0, budget - self.seconds)
        note = f"depth {self.cursor[Cursor.DEPTH]}, {self.stored - self.expanded:,} states in the frontier"
        self.options.report(Progress("spark", self.expanded, "states", self.seconds, left=left, note=note))
        return over is None

    def _include(self, outcome: LevelOutcome, began: float) -> None:
        """Add the counts of a level, and commit the next one."""
        assert outcome.states is not None
        before = int(self.cursor[Cursor.GENERATED])
        for bucket in outcome.counts:
            self.counts.include(bucket.counts)
            add_cursor(self.cursor, bucket.cursor)
        new = sum(outcome.states)
        self.cursor[Cursor.NEXT] = self.cursor[Cursor.STORED]
        self.cursor[Cursor.STORED] += new
        self.cursor[Cursor.LEVEL_END] = self.cursor[Cursor.STORED]
        self.cursor[Cursor.DEPTH] += new > 0
        generated, seconds = int(self.cursor[Cursor.GENERATED]) - before, time.monotonic() - began
        level = LevelDone(len(self.sizes), new, generated, self.stored, seconds, outcome.bytes)
        self._add_level(list(outcome.states), level)

    # The way back.

    def shortest_path(self, index: int) -> PackedPath:
        """Return a shortest path to a state."""
        depth, bucket, position = self._position(index)
        state, link = self.states.state(depth, bucket, position)
        states, instances = [state], []
        for before in range(depth - 1, -1, -1):
            instances.append(link & ((1 << INSTANCE_BITS) - 1))
            state, link = self._parent(before, link, state)
            states.append(state)
        return PackedPath(np.array(states[::-1]), tuple(instances[::-1]))

    def _position(self, index: int) -> tuple[int, int, int]:
        """Return the level and bucket of a state, and its position in its file."""
        flat = np.array([0, *accumulate(count for level in self.sizes for count in level)])
        place = int(np.searchsorted(flat, index, side="right")) - 1
        return (*divmod(place, len(self.sizes[0])), index - int(flat[place]))

    def _parent(self, depth: int, link: int, child: np.ndarray) -> tuple[np.ndarray, int]:
        """Return the state that a link points to, and its own link."""
        place, instance = link >> INSTANCE_BITS << INSTANCE_BITS, link & ((1 << INSTANCE_BITS) - 1)
        bucket, calls = int(_buckets_of(np.array([place], np.uint64), len(self.sizes[0]))[0]), KernelCalls(self.kernel)
        for state, its_link in self.states.near(depth, bucket, place):
            after = np.zeros(self.kernel.words, np.uint64)
            enabled = int(calls.guards(state)[instance // 64]) >> (instance % 64) & 1
            if enabled and calls.apply(instance, state, after) == 0 and np.array_equal(after, child):
                return state, its_link
        raise EngineDisagreement(f"No state of depth {depth} leads to {child.tolist()}, contrary to its link.")


def _buckets_of(places: np.ndarray, buckets: int) -> np.ndarray:
    """Return the buckets of places."""
    bits = buckets.bit_length() - 1
    return (places >> np.uint64(64 - bits)).astype(np.int64) if bits else np.zeros(len(places), np.int64)
